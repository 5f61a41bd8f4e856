/**
 * Starts Pyodide with this package in it: from a memory snapshot where there is a right one, else plainly.
 *
 * Snapshot, WebAssembly and script are fetched, checked, unpacked and compiled side by side. What does that is
 * private to Pyodide in part, so it is done for exactly the version that made the snapshot, and whatever goes wrong, a plain
 * start follows.
 */

import type { PyodideAPI } from "pyodide";
import type { PyCallable, PyProxy } from "pyodide/ffi";
import { CavemanError, invalidArguments } from "./errors.js";

export interface Booted {
  readonly pyodide: PyodideAPI;
  readonly snapshot: boolean;
}

type Runtime = typeof import("pyodide");

/** What web/snapshot.mjs wrote beside the snapshot: what it was made with, and its own hash. */
interface Made {
  readonly pyodide: string;
  /** SHA-256 of pyodide-lock.json, which names the wheel by its hash. */
  readonly lock: string;
  readonly sha256: string;
}

const quiet = (): void => {};

/** The wheel's file name, put in by build.mjs. */
declare const WHEEL: string;

/** Pyodide from `baseURL`'s folder pyodide/, or `running` with the package in it. Rejects with `cave_start_failed`. */
export async function boot(baseURL: string, running?: PyodideAPI): Promise<Booted> {
  requireWebAssembly();
  const folder = new URL("pyodide/", baseURL);
  try {
    if (running) return { pyodide: await equipped(running, folder), snapshot: false };
    const runtime = (await import(/* @vite-ignore */ new URL("pyodide.mjs", folder).href)) as Runtime;
    const compiled = folder.protocol === "file:" ? undefined : compile(new URL("pyodide.asm.wasm", folder));
    const restored = compiled && (await fromSnapshot(runtime, folder, compiled).catch(quiet));
    if (restored) return { pyodide: restored, snapshot: true };
    return { pyodide: await plain(runtime, folder, compiled), snapshot: false };
  } catch (thrown) {
    const cause = String(thrown).trim().split("\n").at(-1); // of a Python traceback the line that tells
    throw new CavemanError("cave_start_failed", `Pyodide did not start from ${folder.href}: ${cause}`);
  }
}

/** Where Pyodide, which in Node reads files by their paths, finds it. */
const place = (url: URL): string => (url.protocol === "file:" ? decodeURIComponent(url.pathname) : url.href);

/** The host's own, into which the wheel is loaded if the host has not installed the package itself. */
async function equipped(pyodide: PyodideAPI, folder: URL): Promise<PyodideAPI> {
  const find = pyodide.pyimport("importlib.util.find_spec") as PyCallable;
  const found = find("caveman_wasm") as PyProxy | undefined;
  if (!found) await pyodide.loadPackage(place(new URL(WHEEL, folder)), { messageCallback: quiet });
  found?.destroy();
  find.destroy();
  return pyodide;
}

/** Python's own allocations fail beyond `most` bytes, as they would at the platform's limit. */
export function limitMemory(pyodide: PyodideAPI, most: number): void {
  const { memory } = (pyodide as unknown as { _module: { memory: WebAssembly.Memory } })._module;
  const used = memory.buffer.byteLength;
  if (used > most) throw invalidArguments(`maxMemory is ${most} and the engine alone takes ${used} bytes.`);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65_536 > most) throw new RangeError("beyond maxMemory");
    return WebAssembly.Memory.prototype.grow.call(memory, pages);
  };
}

/** Pyodide's WebAssembly. Whoever holds the module while Pyodide compiles the same bytes spares it that. */
function compile(wasm: URL): Promise<WebAssembly.Module> {
  const compiled = WebAssembly.compileStreaming(fetch(wasm)).catch((thrown: unknown) => {
    throw new Error(`${wasm.href}: ${String(thrown)}`);
  });
  compiled.catch(quiet); // it is awaited later
  return compiled;
}

/**
 * With the wheel from the same folder, checked against the lock file. Pyodide waits for ever when its WebAssembly
 * fails: `compiled` tells.
 */
function plain(runtime: Runtime, folder: URL, compiled?: Promise<unknown>): Promise<PyodideAPI> {
  const started = runtime.loadPyodide({ indexURL: place(folder), packages: ["caveman-wasm"], stdout: quiet });
  return compiled ? Promise.race([started, compiled.then(() => started)]) : started;
}

async function fromSnapshot(runtime: Runtime, folder: URL, compiled: Promise<WebAssembly.Module>): Promise<PyodideAPI> {
  const script = import(/* @vite-ignore */ new URL("pyodide.asm.mjs", folder).href);
  script.catch(quiet); // it is awaited later
  const [made, lock, packed] = await Promise.all([
    bytes(new URL("snapshot.json", folder)),
    bytes(new URL("pyodide-lock.json", folder)),
    bytes(new URL("snapshot.bin", folder)),
  ]);
  const memory = unpacked(packed); // while it is hashed; nothing uses it before it is checked
  memory.catch(quiet);
  await requireMatch(JSON.parse(text(made)) as Made, runtime.version, lock, packed);
  await script; // a failure shows here rather than as a start that never ends
  const module = await compiled; // an engine that still has it does not compile the same bytes again for Pyodide
  const pyodide = await runtime.loadPyodide({
    indexURL: folder.href,
    lockFileContents: text(lock),
    stdout: quiet,
    _loadSnapshot: await memory,
  });
  void module;
  pyodide.runPython("import random\nrandom.seed()"); // it would be the same in every page
  return pyodide;
}

async function requireMatch(made: Made, version: string, lock: Uint8Array, packed: Uint8Array): Promise<void> {
  const right = made.pyodide === version && made.lock === (await sha256(lock)) && made.sha256 === (await sha256(packed));
  if (!right) throw new Error("the snapshot is of another build");
}

async function bytes(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const text = (utf8: Uint8Array): string => new TextDecoder().decode(utf8);

const unpacked = (gzip: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> =>
  new Response(new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

async function sha256(data: Uint8Array<ArrayBufferLike>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Without 'wasm-unsafe-eval' Pyodide would never settle: ask the browser with the smallest module there is. */
function requireWebAssembly(): void {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  } catch {
    throw new CavemanError(
      "cave_start_failed",
      "The Content-Security-Policy forbids WebAssembly. Add 'wasm-unsafe-eval' to script-src, in the response of " +
        "the page and of worker.js.",
    );
  }
}
