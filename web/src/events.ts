/** What happens besides answers: told to the functions of the option `on`, from the first start on. */

import { CavemanError, type ErrorData } from "./errors.js";

export interface Events {
  /** Python runs: at the start, and when a worker that was lost has been replaced. */
  readonly ready: { readonly pyodide: string; readonly epoch: string | null };
  /** Bytes of the memory snapshot that have arrived; a plain start tells nothing. */
  readonly progress: { readonly loaded: number; readonly total: number };
  /** The persistent store failed; a compress call that met it gives its input back. */
  readonly persisterror: CavemanError;
  /** Handles of before are lost: the database is another one (`epoch`), or null: the worker that held them died. */
  readonly reset: { readonly epoch: string | null };
}
export type Listeners = { readonly [E in keyof Events]?: (event: Events[E]) => void };
export const EVENTS = ["ready", "progress", "persisterror", "reset"] as const satisfies readonly (keyof Events)[];

/** The same as it travels: an error is data. */
export type Told = Omit<Events, "persisterror"> & { readonly persisterror: ErrorData };
export type Tell = <E extends keyof Told>(event: E, detail: Told[E]) => void;

/** Calls the listener a little later: what it throws is the page's, not the engine's. */
export const teller =
  (on: Listeners = {}): Tell =>
  (event, detail) => {
    const listener = on[event] as ((detail: unknown) => void) | undefined;
    const given = event === "persisterror" ? CavemanError.from(detail as ErrorData) : detail;
    if (listener) queueMicrotask(() => listener(given));
  };
