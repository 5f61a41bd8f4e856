/** What callers may say, and the checks of it. */

import { invalidArguments } from "./errors.js";
import { EVENTS, type Listeners } from "./events.js";
import type { PersistenceHook } from "./hook.js";
import type { CompressOptions, ObjectState } from "./protocol.js";
import type { Counter } from "./tokens.js";

export interface CavemanOptions {
  /** The folder that holds worker.js and pyodide/; by default the one this module came from. */
  readonly baseURL?: string | URL;
  /** "none": records live as long as the worker. Else the originals are durable before compress resolves. */
  readonly persistence?: "none" | "indexeddb" | PersistenceHook;
  /** `health().epoch` of earlier: in another database what is not found answers `cave_store_reset`. */
  readonly epoch?: string;
  /** Budget of the store in bytes; 512 MiB by default. Nothing is ever evicted. */
  readonly maxBytes?: number;
  /**
   * Bytes that Python's memory may grow to; the platform's limit by default. What needs more gives the input back with
   * `cave_ccr_budget_exceeded`. WebAssembly never gives memory back before `close()`.
   */
  readonly maxMemory?: number;
  /** Run Python on this thread, for places that are a worker already, and for Node. */
  readonly inline?: boolean;
  /** A Pyodide that the page runs already, used on this thread; the package is loaded into it unless it is there. */
  readonly pyodide?: object;
  /** Counts tokens in place of o200k_base; a function cannot travel to a worker, so only with `inline`. */
  readonly counter?: Counter;
  /** Milliseconds until a start is given up with `cave_start_failed`; 60,000 by default. */
  readonly startTimeout?: number;
  /** Functions that are told what happens: `ready`, `progress` of the start, `persisterror`, `reset`. */
  readonly on?: Listeners;
  /** Gives the start up with an AbortError. */
  readonly signal?: AbortSignal;
}

/** Of a call that may be given up. */
export interface Abortable {
  /**
   * When it aborts the promise rejects at once with its reason. A call that waits for its turn never begins; what one that
   * runs comes to is thrown away, but for a record that it may have stored by then (a worker of a cross-origin isolated
   * page is interrupted before, where it can be).
   */
  readonly signal?: AbortSignal | undefined;
}

type Check = readonly [accepts: (value: unknown) => boolean, expected: string];

const isString: Check = [(value) => typeof value === "string", "a string"];
const isBoolean: Check = [(value) => typeof value === "boolean", "a boolean"];
const isPositive: Check = [(value) => Number.isSafeInteger(value) && (value as number) > 0, "a positive whole number"];

const isSignal: Check = [(value) => value instanceof AbortSignal, "an AbortSignal"];

const HOOK_METHODS = ["open", "put", "get", "delete"] as const;
const isHook = (value: unknown): boolean =>
  HOOK_METHODS.every((name) => typeof (Object(value) as PersistenceHook)[name] === "function");

const isListeners = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.entries(value as Listeners).every(
    ([name, listener]) => (EVENTS as readonly string[]).includes(name) && typeof listener === "function",
  );

export const START_OPTIONS: Record<keyof CavemanOptions, Check> = {
  baseURL: [(value) => typeof value === "string" || value instanceof URL, "a URL"],
  persistence: [
    (value) => value === "none" || value === "indexeddb" || isHook(value),
    '"none", "indexeddb" or an object with open, put, get and delete',
  ],
  epoch: isString,
  maxBytes: isPositive,
  maxMemory: isPositive,
  inline: isBoolean,
  pyodide: [(value) => typeof (value as { pyimport?: unknown } | null)?.pyimport === "function", "a running Pyodide"],
  counter: [(value) => typeof (value as Counter)?.count === "function", "an object with name and count(utf8)"],
  startTimeout: [(value) => typeof value === "number" && value > 0, "a number of milliseconds above 0"],
  on: [isListeners, `an object of functions by the names ${EVENTS.join(", ")}`],
  signal: isSignal,
};
const SHORTENING = { contentType: isString, query: isString, maxTokens: isPositive, signal: isSignal };
export const SIMULATE_OPTIONS = SHORTENING;
export const COMPRESS_OPTIONS: Record<keyof CompressOptions | keyof Abortable | "transfer", Check> = {
  ...SHORTENING,
  mode: isString, // an unknown mode behaves as "record": the engine's rule
  transfer: isBoolean,
};
export const ABORT_OPTIONS: Record<keyof Abortable, Check> = { signal: isSignal };
export const RETRIEVE_OPTIONS = { ...ABORT_OPTIONS, query: isString };
export const LIST_OPTIONS = { limit: isPositive };
export const STATE_OPTIONS: Record<keyof ObjectState, Check> = { currentness: isString, lifecycle: isString };

/** Unknown options are errors: one that has no effect would be found out too late. Undefined is not given. */
export function check(options: object, known: Record<string, Check>): void {
  if (typeof options !== "object" || options === null) throw invalidArguments("Options are an object.");
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!rule) throw invalidArguments(`Unknown option "${name}". Known are: ${Object.keys(known).join(", ")}.`);
    if (value !== undefined && !rule[0](value)) throw invalidArguments(`The option "${name}" must be ${rule[1]}.`);
  }
}
