/**
 * Answers calls by one table over `caveman_wasm.doors.browser`, in a worker or on the page.
 *
 * One call is one Python call. Bytes go in as a Uint8Array and come out as one; every proxy is destroyed.
 */

import type { PyodideAPI } from "pyodide";
import type { PyCallable, PyProxy } from "pyodide/ffi";
import { boot, limitMemory } from "./boot.js";
import { CavemanError, type ErrorData } from "./errors.js";
import type { Tell } from "./events.js";
import { Asked, forPython, type PersistenceHook } from "./hook.js";
import {
  holdLife,
  type BundleCounts,
  type Handlers,
  type Health,
  type JudgedText,
  type ObjectInfo,
  type Report,
  type Row,
  type StartArguments,
  type Stats,
  type ToolInfo,
  type ToolReport,
} from "./protocol.js";
import type { Snapshot } from "./snapshot.js";
import type { Counter } from "./tokens.js";

/** `BrowserDoor.begin`, a proxy that lives as long as the host. */
type Door = PyCallable;

const DOOR = "caveman_wasm.doors.browser";
type PyModule = ReturnType<PyodideAPI["pyimport"]>;

/** What a door's method answers: JSON (ASCII: any other string crosses fifty times slower), and bytes or none. */
type Answer = [json: string, output: Uint8Array | undefined];

interface Given {
  /** The embedder's own, asked if the start says so. */
  readonly hook?: PersistenceHook | undefined;
  /** A Pyodide to use instead of starting one. */
  readonly running?: object | undefined;
  /** The snapshot to start from, where the page fetches it. */
  readonly sent?: Promise<Snapshot | undefined>;
}

/**
 * A host that waits for its `start` call. `counting` gives the counter, once the start has asked for all it needs; `tell` is
 * told what happens.
 */
export function createHost(counting: () => Counter | Promise<Counter>, tell: Tell, { hook, running, sent }: Given): Handlers {
  let door: Door;
  let used: PersistenceHook | undefined;
  let started: Pick<Health, "persistence" | "durability" | "snapshot" | "pyodide">;
  return {
    start: async (args) => {
      if (args.lifeLock) await holdLife(args.lifeLock);
      const booting = boot(args.baseURL, tell, running as PyodideAPI | undefined, sent);
      const loading = Promise.resolve(counting());
      const prepare = (counter: Counter): unknown => setTimeout(() => counter.prepare?.()); // while what was asked for arrives
      loading.then(prepare, () => {}); // it is awaited later
      const { pyodide, snapshot } = await booting;
      const store = args.persistence === "indexeddb" ? await indexedDBHook() : hook;
      used = args.persistence === "none" ? undefined : store;
      if (args.maxMemory) limitMemory(pyodide, args.maxMemory);
      door = newDoor(pyodide.pyimport(DOOR), await loading, tell, used, args);
      if (args.interrupts) interruptible(pyodide, args.interrupts);
      const [epoch] = await ask<string | null>(door, "open");
      used?.watch?.((ids) => void ask<null>(door, "deleted", JSON.stringify(ids)));
      const durability = { none: null, indexeddb: "strict", hook: "hook" } as const;
      started = {
        persistence: args.persistence,
        durability: durability[args.persistence],
        snapshot,
        pyodide: pyodide.version,
      };
      const [tools] = await ask<ToolInfo[]>(door, "tools");
      return { pyodide: pyodide.version, epoch, tools };
    },
    compress: async ({ payload, options: { mode, contentType, query, maxTokens } }) => {
      const [report, output] = await ask<Report>(door, "compress", payload, mode, contentType, query, maxTokens);
      return { report, output: output ?? payload };
    },
    simulate: async ({ payload, options: { contentType, query, maxTokens } }) => {
      const [report] = await ask<Report>(door, "simulate", payload, contentType, query, maxTokens);
      return report;
    },
    retrieve: async ({ reference, query, selector }) => {
      const [, output] = await ask<null>(door, "retrieve", reference, query, false, selector);
      return { output: output! };
    },
    detect: async ({ payload }) => {
      const [contentType] = await ask<string>(door, "detect", payload);
      return { contentType };
    },
    stats: async () => {
      const [stats] = await ask<Stats>(door, "stats");
      return stats;
    },
    health: async () => {
      const [epoch] = await ask<string | null>(door, "epoch");
      const { quota = null, usage = null } = (await globalThis.navigator?.storage?.estimate?.().catch(() => {})) ?? {};
      return { ...started, epoch, quota, usage };
    },
    clear: async () => {
      await ask<null>(door, "clear");
      return {};
    },
    records: async () => {
      const [rows] = await ask<Row[]>(door, "records");
      return { rows };
    },
    forget: async ({ references }) => {
      const [forgotten] = await ask<number>(door, "forget", JSON.stringify(references));
      return { forgotten };
    },
    exportBundle: async ({ references }) => {
      const pieces: Blob[] = []; // which the browser may keep on disk
      const write = (piece: PyProxy): void => void pieces.push(new Blob([piece.toJs() as Uint8Array<ArrayBuffer>]));
      await ask<BundleCounts>(door, "export", write, references && JSON.stringify(references));
      return { bundle: new Blob(pieces) };
    },
    importBundle: async ({ payload }) => {
      const [counts] = await ask<BundleCounts>(door, "import", payload);
      return counts;
    },
    compressMessages: async ({ given }) => {
      const [judged] = await ask<JudgedText[]>(door, "compress_messages", given);
      return { judged };
    },
    callTool: async ({ name, given, session }) => {
      const [said, output] = await ask<ToolReport>(door, "call_tool", name, given, session);
      return { said, output: output! };
    },
    putObject: async ({ fields, payload }) => {
      const [info] = await ask<ObjectInfo>(door, "put_object", JSON.stringify(fields), payload);
      return info;
    },
    getObject: async ({ reference }) => {
      const [info, output] = await ask<ObjectInfo>(door, "get_object", reference);
      return { info, output: output! };
    },
    listObjects: async ({ sessionId, limit }) => {
      const [objects] = await ask<ObjectInfo[]>(door, "list_objects", sessionId, limit);
      return { objects };
    },
    setObject: async ({ reference, state }) => {
      const [info] = await ask<ObjectInfo>(door, "set_object", reference, JSON.stringify(state));
      return info;
    },
    close: async () => {
      used?.close?.();
      door?.destroy();
      return {};
    },
  };
}

/** Python's signals come from the page's word; where they raise nothing is Python's to say. */
function interruptible(pyodide: PyodideAPI, word: SharedArrayBuffer): void {
  const module = pyodide.pyimport(DOOR);
  module.interruptible();
  module.destroy();
  pyodide.setInterruptBuffer(new Uint8Array(word));
}

/** Loaded only where it is asked for. */
const indexedDBHook = async (): Promise<PersistenceHook> => new (await import("./persistence.js")).IndexedDBHook();

/** The Python door, to be opened: that may fail (a bad budget, no database). */
function newDoor(
  module: PyModule,
  counter: Counter,
  tell: Tell,
  hook: PersistenceHook | undefined,
  { maxBytes, epoch, afterLoss, persistence }: StartArguments,
): Door {
  const count = (utf8: PyProxy): number => counter.count(utf8.toJs() as Uint8Array);
  const store = hook && (module.PageHook(forPython(hook, tell, epoch, persistence === "indexeddb")) as PyProxy);
  const counts = { name: counter.name, count };
  const object = module.BrowserDoor(counts, maxBytes, store, epoch, afterLoss) as PyProxy & { begin: Door };
  const door = object.begin.copy() as Door; // what an attribute gives dies with the object's proxy
  store?.destroy();
  object.destroy();
  module.destroy();
  return door;
}

/** Runs Python at once up to where the call waits, and goes on in the very task in which that ends. */
async function ask<Value>(door: Door, method: string, ...args: unknown[]): Promise<[Value, Uint8Array | undefined]> {
  const goOn = door(method, ...args) as PyCallable;
  let answer: unknown;
  try {
    answer = goOn();
    while (answer instanceof Asked) answer = goOn(await answer.answer);
  } finally {
    goOn.destroy();
  }
  const [json, output] = (answer as PyProxy).toJs() as Answer;
  (answer as PyProxy).destroy();
  const { error, value } = JSON.parse(json) as { error?: ErrorData; value: Value };
  if (error) throw CavemanError.from(error);
  return [value, output];
}
