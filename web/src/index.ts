/**
 * caveman-wasm for pages: shortens tool output and gives the exact original back.
 *
 *     const caveman = await createCaveman();
 *     const r = await caveman.compress(toolOutput, { query });
 *     const bytes = await caveman.retrieve(r.recoveryHandle);
 *
 * Records live as long as the page's worker does, or, with `persistence`, as long as the browser keeps them: then
 * what compress resolved with (`persisted` is true) is on disk already.
 */

import { untilAborted } from "./abort.js";
import { decodeText, payloadBytes, type Payload } from "./bytes.js";
import { CavemanError, invalidArguments } from "./errors.js";
import {
  ABORT_OPTIONS,
  check,
  COMPRESS_OPTIONS,
  LIST_OPTIONS,
  RETRIEVE_OPTIONS,
  SIMULATE_OPTIONS,
  START_OPTIONS,
  STATE_OPTIONS,
  type Abortable,
  type CavemanOptions,
} from "./options.js";
import type {
  Args,
  BundleCounts,
  CompressOptions,
  Health,
  Link,
  ObjectFields,
  ObjectInfo,
  ObjectState,
  RecordInfo,
  Report,
  Stats,
} from "./protocol.js";
import { messagesOver, type Messages } from "./messages.js";
import { startLasting } from "./start.js";
import { toolList, type Tool } from "./tools.js";

export { CavemanError };
export { keepOffline } from "./start.js";
export type { Payload } from "./bytes.js";
export type { IndexRow, PersistenceHook, StoredRecord } from "./hook.js";
export type { Messages, MessagesOptions, Wrappable, WrapOptions } from "./messages.js";
export { hasWebMCP, registerWebMCP, type WebMCPOptions } from "./adapters/webmcp.js";
export type { Events, Listeners } from "./events.js";
export type { Abortable, CavemanOptions } from "./options.js";
export type {
  BundleCounts,
  CompressOptions,
  Health,
  Marker,
  ObjectFields,
  ObjectInfo,
  ObjectState,
  RecordInfo,
  Report,
  Stats,
  ToolInfo,
  ToolSchema,
} from "./protocol.js";
export type { Counter } from "./tokens.js";
export type { AdapterOptions, HasTools, Tool, ToolAnswer, ToolCallOptions } from "./tools.js";

/** What compress gives. A pass-through is a normal result: the same bytes, no handle, and a `reason`. */
export interface CompressResult extends Report {
  /** What to hand on, in bytes. */
  readonly output: Uint8Array;
  /** The same as a string; bytes that are no UTF-8 read as U+FFFD, lone surrogates of a string stay. */
  readonly text: string;
}

/** A typed object, exact. */
export interface TypedObject extends ObjectInfo {
  readonly data: Uint8Array;
}

/** Every promise rejects with a `CavemanError`, whose `code` tells why. */
export interface Caveman extends Messages {
  /** The version of Pyodide that runs the engine. */
  readonly pyodideVersion: string;
  /** What an agent or its host may call, ready for any protocol; the adapters are made from it. */
  readonly tools: readonly Tool[];
  /**
   * A shorter text that says what was left out; the exact bytes stay behind `recoveryHandle`. With `transfer` the
   * payload's buffer changes hands instead of being copied: it is empty afterwards, and lost with a worker that dies.
   */
  compress(payload: Payload, options?: CompressOptions & Abortable & { readonly transfer?: boolean }): Promise<CompressResult>;
  /** What compress would give, less the text; nothing is stored. */
  simulate(payload: Payload, options?: Omit<CompressOptions, "mode"> & Abortable): Promise<Report>;
  /** The exact bytes behind a reference. */
  retrieve(reference: string, options?: Abortable): Promise<Uint8Array>;
  /** The original as a string, or the view of it that answers `query`. */
  retrieveText(reference: string, options?: Abortable & { readonly query?: string }): Promise<string>;
  /**
   * The slice of a record or object that a selector names, as it is spelled there: `/orders/3/total` (JSON Pointer),
   * `line=10,20`, `row=5-7`, `cell=2,3`, all that may stand behind the `#` of a reference.
   */
  select(reference: string, selector: string, options?: Abortable): Promise<Uint8Array>;
  /** The name of the format that compress would take the payload for. */
  detect(payload: Payload): Promise<string>;
  stats(): Promise<Stats>;
  /** Where records are, and how the engine started. */
  health(): Promise<Health>;
  /** Deletes everything that the store holds, for all pages; only ever on the operator's word. */
  clear(): Promise<void>;
  /** All that is held, by id. */
  records(): Promise<RecordInfo[]>;
  /** Deletes these, by the operator's word; how many there were. */
  forget(references: readonly string[]): Promise<number>;
  /** Records and objects, these or all, as one file that any store of this package imports. */
  exportBundle(references?: readonly string[]): Promise<Blob>;
  /** Puts what a bundle holds; every item is checked, and durable before the next where the store is. */
  importBundle(bundle: Payload): Promise<BundleCounts>;
  /** Stores a typed object, durable where the store is; the same one again changes nothing. */
  putObject(fields: ObjectFields, data: Payload): Promise<ObjectInfo>;
  getObject(reference: string): Promise<TypedObject>;
  /** A session's objects, the newest first, 100 unless `limit` says otherwise. */
  listObjects(sessionId: string, options?: { readonly limit?: number }): Promise<readonly ObjectInfo[]>;
  /** Changes what of an object may change. */
  setObjectState(reference: string, state: ObjectState): Promise<ObjectInfo>;
  /**
   * Ends the worker and frees all of it; what is pending rejects with `cave_worker_lost`. With `inline` Python's memory
   * stays until its thread ends.
   */
  close(): void;
}

/**
 * Starts Python in a worker and resolves when it is ready.
 *
 * Rejects with `cave_start_failed` (with the likely cause) when it does not start within `startTimeout`, with
 * `cave_invalid_arguments` for an unknown option, with an AbortError when `signal` aborts.
 */
export async function createCaveman(options: CavemanOptions = {}): Promise<Caveman> {
  check(options, START_OPTIONS);
  if (options.counter && !options.inline && !options.pyodide) {
    throw invalidArguments('A counter is a function, which no worker can be sent: pass "inline: true" with it.');
  }
  if (options.pyodide && options.inline === false) {
    throw invalidArguments("A Pyodide that runs on this thread cannot be used from a worker: leave inline out.");
  }
  options.signal?.throwIfAborted();
  const { link, pyodide, tools } = await startLasting(options);
  const persistGranted = options.persistence === "indexeddb" ? askToPersist() : () => null;
  const made = { tools: toolList(link, tools), ...messagesOver(link), ...openCaveman(link, persistGranted) };
  return { pyodideVersion: pyodide, ...made };
}

/** Asks the browser not to evict the origin's data. A person may have to answer: nobody waits for it. */
function askToPersist(): () => boolean | null {
  let granted: boolean | null = null;
  globalThis.navigator?.storage?.persist?.().then(
    (answer) => (granted = answer),
    () => {},
  );
  return () => granted;
}

function strings(references: readonly string[]): readonly string[] {
  if (Array.isArray(references) && references.every((reference) => typeof reference === "string")) return references;
  throw invalidArguments("References are a list of strings such as ccr_….");
}

function requireString(value: string, what = "A reference"): string {
  if (typeof value === "string") return value;
  throw invalidArguments(`${what} is a string (a result without a handle needs no reference: its text is whole).`);
}

type Calling = Omit<Caveman, "pyodideVersion" | "tools" | keyof Messages>;

function openCaveman(link: Link, persistGranted: () => boolean | null): Calling {
  const retrieve = async (args: Args<"retrieve">, signal?: AbortSignal): Promise<Uint8Array> => {
    requireString(args.reference);
    return (await untilAborted(signal, () => link.call("retrieve", args, signal))).output;
  };
  return {
    async compress(payload, options = {}) {
      check(options, COMPRESS_OPTIONS);
      const { transfer, signal, ...others } = options;
      return untilAborted(signal, async () => {
        const bytes = await payloadBytes(payload, transfer);
        const { output, report } = await link.call("compress", { payload: bytes, options: others }, signal);
        return { ...report, output, text: decodeText(output, typeof payload === "string") };
      });
    },
    async simulate(payload, options = {}) {
      check(options, SIMULATE_OPTIONS);
      const { signal, ...others } = options;
      return untilAborted(signal, async () =>
        link.call("simulate", { payload: await payloadBytes(payload), options: others }, signal),
      );
    },
    async retrieve(reference, options = {}) {
      check(options, ABORT_OPTIONS);
      return retrieve({ reference }, options.signal);
    },
    async retrieveText(reference, options = {}) {
      check(options, RETRIEVE_OPTIONS);
      const { query, signal } = options;
      return decodeText(await retrieve(query === undefined ? { reference } : { reference, query }, signal), true);
    },
    async select(reference, selector, options = {}) {
      check(options, ABORT_OPTIONS);
      return retrieve({ reference, selector: requireString(selector, "A selector") }, options.signal);
    },
    detect: async (payload) => (await link.call("detect", { payload: await payloadBytes(payload) })).contentType,
    stats: () => link.call("stats", {}),
    health: async () => ({ ...(await link.call("health", {})), persistGranted: persistGranted() }),
    clear: async () => void (await link.call("clear", {})),
    async records() {
      const { rows } = await link.call("records", {});
      return rows.map(([id, bytes, tokensBefore, tokensAfter]) => ({ id, bytes, tokensBefore, tokensAfter }));
    },
    forget: async (references) => (await link.call("forget", { references: strings(references) })).forgotten,
    exportBundle: async (references) =>
      (await link.call("exportBundle", references ? { references: strings(references) } : {})).bundle,
    importBundle: async (bundle) => link.call("importBundle", { payload: await payloadBytes(bundle) }),
    async putObject(fields, data) {
      if (typeof fields !== "object" || fields === null) throw invalidArguments("An object's fields are an object.");
      return link.call("putObject", { fields, payload: await payloadBytes(data) });
    },
    async getObject(reference) {
      const { info, output } = await link.call("getObject", { reference: requireString(reference) });
      return { ...info, data: output };
    },
    async listObjects(sessionId, options = {}) {
      check(options, LIST_OPTIONS);
      return (await link.call("listObjects", { sessionId: requireString(sessionId, "A session"), ...options })).objects;
    },
    async setObjectState(reference, state) {
      check(state, STATE_OPTIONS);
      return link.call("setObject", { reference: requireString(reference), state });
    },
    close: () => link.close(new CavemanError("cave_worker_lost", "This caveman was closed. Create a new one.")),
  };
}
