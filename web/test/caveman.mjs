// One caveman on this thread for a test file, some real-looking tool output, and the library's own name for things.
import { createCaveman } from "caveman-wasm";

export const caveman = await createCaveman({ inline: true });

export const LOG = Array.from(
  { length: 400 },
  (_, i) => `2026-03-01 04:${String(10 + (i % 50)).padStart(2, "0")}:00 INFO [worker-${i % 3}] payment: order ${4000 + i} was verified in ${90 + (i % 40)} ms\n`,
).join("");

/** Shortens LOG and gives its handle. */
export const stored = async () => (await caveman.compress(LOG)).recoveryHandle;

export const UNKNOWN = "ccr_" + "0".repeat(32);
