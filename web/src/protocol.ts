/**
 * Every message between the page and the worker, both ends of it, and the only postMessage.
 *
 * A call is one message each way with one id; bytes are transferred. A worker that dies (terminated, out of
 * memory, crashed) says nothing, so its death is read off a Web Lock that it holds as long as it lives.
 */

import { untilAborted } from "./abort.js";
import { CavemanError, type ErrorData } from "./errors.js";
import type { Tell, Told } from "./events.js";
import { hookError, type HookMethod, type PersistenceHook } from "./hook.js";
import { Queue } from "./queue.js";
import type { Snapshot } from "./snapshot.js";

export interface CompressOptions {
  /** "record" only counts: nothing is stored and nothing changes. */
  readonly mode?: "compress" | "record";
  /** Forces a format; by default it is detected. */
  readonly contentType?: string;
  /** What the reader is after: what matches it stays. */
  readonly query?: string;
  /** A ceiling for the text, never a target. */
  readonly maxTokens?: number;
}

/** What is stored of a typed object, less its data. The README names the types and what the fields are for. */
export interface ObjectInfo {
  readonly objectId: string;
  readonly type: string;
  readonly sessionId: string;
  readonly source: string;
  readonly repositoryState: string;
  /** `sha256:` and the hex digest of the data. */
  readonly contentHash: string;
  readonly createdAt: string;
  readonly transformVersion: string;
  readonly currentness: string;
  readonly lifecycle: string;
  readonly dependencies: readonly string[];
  /** Bytes, before and after whatever the caller did to its data. */
  readonly originalByteLength: number;
  readonly storedByteLength: number;
}
/** An object to put: what is left out is computed or takes its default; what is given is checked. */
export type ObjectFields = Partial<ObjectInfo> & Pick<ObjectInfo, "type" | "sessionId">;
/** What of an object changes after it was put. */
export type ObjectState = Partial<Pick<ObjectInfo, "currentness" | "lifecycle">>;

export interface Marker {
  /** Where the marker stands in `output`, in bytes. */
  readonly start: number;
  readonly stop: number;
  /** What it stands for: spans of the payload, in bytes (of the decoded string at `within`, if that is set). */
  readonly spans: readonly (readonly [number, number])[];
  readonly count: number;
  readonly noun: string;
  readonly facts: readonly string[];
  readonly within: readonly [number, number] | null;
}

/** `Result` of the engine, less its output. */
export interface Report {
  readonly contentType: string;
  readonly method: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly tokenCountBasis: string;
  readonly ratio: number;
  readonly basis: "inferred";
  readonly recoveryHandle: string | null;
  readonly losslessToModel: boolean;
  readonly reason: string | null;
  readonly error: string | null;
  readonly persisted: boolean;
  readonly markers: readonly Marker[];
}

export interface Stats {
  readonly records: number;
  readonly objects: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly ratio: number;
  readonly basis: "inferred";
  readonly storageBytes: number;
  readonly maxStorageBytes: number;
  readonly storageFull: boolean;
  readonly refused: number;
  readonly refusedAt: string;
}

export type Persistence = "none" | "indexeddb" | "hook";

/** What is known about where records are, and how the engine started. */
export interface Health {
  readonly persistence: Persistence;
  /** "strict": what compress resolved with has survived a crash already. Null: records live as long as the worker. */
  readonly durability: "strict" | "hook" | null;
  /** The database's name: another one later means that the browser dropped it. Null without persistence. */
  readonly epoch: string | null;
  /** Bytes that the browser grants the origin and that it uses, all of its storage together; null if it does not say. */
  readonly quota: number | null;
  readonly usage: number | null;
  /** What `navigator.storage.persist()` answered; null: not asked, or no answer yet. */
  readonly persistGranted: boolean | null;
  /** Whether the engine started from its memory snapshot. */
  readonly snapshot: boolean;
  readonly pyodide: string;
}

/** What is known of a record or typed object (whose token counts are 0) without reading its bytes. */
export interface RecordInfo {
  readonly id: string;
  /** What it takes of the budget. */
  readonly bytes: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}
export type Row = readonly [id: string, bytes: number, tokensBefore: number, tokensAfter: number];

/** What an import put. */
export interface BundleCounts {
  readonly records: number;
  readonly objects: number;
  /** Of payload. */
  readonly bytes: number;
  /** Of the items, those that were here before. */
  readonly known: number;
}

/** A row of the tool table (tools.py). `audience`: "model" reads shortened texts, "host" hands them to one. */
export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of the arguments: always an object's. */
  readonly inputSchema: ToolSchema;
  readonly annotations: Readonly<Record<"readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint", boolean>>;
  readonly audience: "model" | "host";
}
export interface ToolSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, { readonly type: "string" | "integer"; readonly description: string; readonly minimum?: number }>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** What a tool says of its answer, in the tools' own snake_case, less the answer itself. */
export interface ToolReport {
  /** Words of ours about the answer, never mixed into it. */
  readonly notes: readonly string[];
  readonly report: Readonly<Record<string, unknown>> | null;
  readonly error: string | null;
  readonly reference: string | null;
  /** What stands before and after it where all of it must be one text. */
  readonly frame: readonly [before: string, after: string];
}

/** A text in a tool result that was judged: where it stands, and what takes its place (null: nothing does). */
export interface JudgedText {
  readonly path: readonly (string | number)[];
  readonly tool: string;
  /** The type of the output that replaces one of JSON (AI SDK), else "". */
  readonly kind: string;
  readonly text: string | null;
  readonly report: Report;
}

export interface StartArguments {
  /** Absolute URL of the folder that holds `pyodide/`. Ends in a slash. */
  readonly baseURL: string;
  readonly maxBytes: number | undefined;
  /** "hook": the page's own, asked by messages. */
  readonly persistence: Persistence;
  /** The epoch that the host remembers of the persistent store. */
  readonly epoch: string | undefined;
  /** A worker before this one was lost: what only it held answers `cave_store_reset`. */
  readonly afterLoss: boolean;
  /** Bytes that Python's memory may grow to. */
  readonly maxMemory: number | undefined;
  /** Where the page asks that a running call be interrupted; undefined inline, and where memory cannot be shared. */
  readonly interrupts: SharedArrayBuffer | undefined;
  /** The lock that a worker holds as long as it lives; undefined inline. */
  readonly lifeLock: string | undefined;
}

/** Method → what goes in, what comes back. */
export interface Calls {
  start: {
    args: StartArguments;
    value: { readonly pyodide: string; readonly epoch: string | null; readonly tools: readonly ToolInfo[] };
  };
  compress: {
    args: { readonly payload: Uint8Array; readonly options: CompressOptions };
    value: { readonly output: Uint8Array; readonly report: Report };
  };
  simulate: { args: { readonly payload: Uint8Array; readonly options: CompressOptions }; value: Report };
  retrieve: {
    args: { readonly reference: string; readonly query?: string; readonly selector?: string };
    value: { readonly output: Uint8Array };
  };
  detect: { args: { readonly payload: Uint8Array }; value: { readonly contentType: string } };
  stats: { args: Record<string, never>; value: Stats };
  health: { args: Record<string, never>; value: Omit<Health, "persistGranted"> };
  clear: { args: Record<string, never>; value: Record<string, never> };
  records: { args: Record<string, never>; value: { readonly rows: readonly Row[] } };
  forget: { args: { readonly references: readonly string[] }; value: { readonly forgotten: number } };
  exportBundle: { args: { readonly references?: readonly string[] }; value: { readonly bundle: Blob } };
  importBundle: { args: { readonly payload: Uint8Array }; value: BundleCounts };
  compressMessages: { args: { readonly given: Uint8Array }; value: { readonly judged: readonly JudgedText[] } };
  callTool: {
    args: { readonly name: string; readonly given: Uint8Array; readonly session: string };
    value: { readonly output: Uint8Array; readonly said: ToolReport };
  };
  putObject: { args: { readonly fields: ObjectFields; readonly payload: Uint8Array }; value: ObjectInfo };
  getObject: { args: { readonly reference: string }; value: { readonly info: ObjectInfo; readonly output: Uint8Array } };
  listObjects: { args: { readonly sessionId: string; readonly limit?: number }; value: { readonly objects: readonly ObjectInfo[] } };
  setObject: { args: { readonly reference: string; readonly state: ObjectState }; value: ObjectInfo };
  /** Lets go of all that the host holds; of a worker nothing is asked, it is ended. */
  close: { args: Record<string, never>; value: Record<string, never> };
}

export type Method = keyof Calls;
export type Args<M extends Method> = Calls[M]["args"];
export type Value<M extends Method> = Calls[M]["value"];
export type Handlers = { readonly [M in Method]: (args: Args<M>) => Promise<Value<M>> };

type Request = { [M in Method]: { readonly id: number; readonly method: M; readonly args: Args<M> } }[Method];
/** What is asked under this id is not wanted any more: it is not answered. */
interface Cancel {
  readonly cancel: number;
}
type Reply =
  | { readonly id: number; readonly value: Value<Method> }
  | { readonly id: number; readonly error: ErrorData };

/** The worker asks a hook that lives on the page, and the page's answer: calls the other way round. */
interface HookRequest {
  readonly ask: number;
  readonly method: HookMethod;
  readonly argument: unknown;
}
type HookReply =
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly error: ErrorData };

/** What the page fetched for the worker's start; undefined: nothing, so that the worker has to. */
interface Handed {
  readonly snapshot: Snapshot | undefined;
}

/** The worker tells what happens. */
type News = { [E in keyof Told]: { readonly event: E; readonly detail: Told[E] } }[keyof Told];

/** The buffers of a message's own bytes: they change hands instead of being copied. */
function buffers(message: unknown): Transferable[] {
  return Object.values(Object(message) as object).flatMap((field: unknown) =>
    field instanceof Uint8Array && field.buffer instanceof ArrayBuffer ? [field.buffer] : [],
  );
}

/** An id has 23 bits: it shares a word with a byte. */
const MOST_IDS = (1 << 23) - 1;

/** Bytes of payload in a call. */
const size = (args: object): number =>
  Object.values(args).reduce((sum: number, field: unknown) => sum + (field instanceof Uint8Array ? field.length : 0), 0);

/** Where calls go: a worker, or the host on this very thread. */
export interface Link {
  /** Rejects as soon as `signal` aborts; what waits for its turn then never begins. */
  call<M extends Method>(method: M, args: Args<M>, signal?: AbortSignal): Promise<Value<M>>;
  /** Why it answers no more. */
  readonly ended: CavemanError | undefined;
  /** Rejects what is pending and all that follows with this error, and frees what it can. */
  close(reason: CavemanError): void;
}

/** After this error the runtime cannot be trusted any more. */
const isFatal = (error: CavemanError): boolean => error.code === "cave_worker_lost";

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: CavemanError) => void;
}

/**
 * One word between page and worker in a cross-origin isolated page: the running call's id above a byte that Pyodide looks at. So
 * no other call than the one meant can be interrupted, however late the page is.
 */
class Interrupts {
  readonly shared = new SharedArrayBuffer(4);
  readonly #word = new Int32Array(this.shared);

  /** Asks until the call has ended: Pyodide may overlook it, and nothing is interrupted in the store. */
  ask(id: number): void {
    const running = id << 8;
    const again = (): void => void setTimeout(() => this.ask(id), 20);
    if (Atomics.compareExchange(this.#word, 0, running, running | 2) >> 8 === id) again();
  }
}

/** The page's end. */
export class WorkerLink implements Link {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #watch = new AbortController();
  readonly #hook: PersistenceHook | undefined;
  readonly #interrupts = globalThis.crossOriginIsolated ? new Interrupts() : undefined;
  #nextId = 1;
  ended: CavemanError | undefined;

  constructor(worker: Worker, lost: (detail: string) => CavemanError, tell: Tell, hook: PersistenceHook | undefined) {
    this.#worker = worker;
    this.#hook = hook;
    worker.addEventListener("message", ({ data }: MessageEvent<Reply | HookRequest | News>) => {
      if ("ask" in data) void this.#askHook(hook!, data);
      else if ("event" in data) tell(data.event, data.detail);
      else this.#settle(data);
    });
    worker.addEventListener("error", (event) => this.close(lost(event.message || "it could not be loaded")));
    worker.addEventListener("messageerror", () => this.close(lost("a message could not be read")));
  }

  /** Closes with this error once the worker is gone. The worker must hold the lock by now. */
  watchLife(lifeLock: string, lost: CavemanError): void {
    const ended = (): void => {}; // by our own abort
    navigator.locks.request(lifeLock, { signal: this.#watch.signal }, () => this.close(lost)).catch(ended);
  }

  call<M extends Method>(method: M, args: Args<M>, signal?: AbortSignal): Promise<Value<M>> {
    if (this.ended) return Promise.reject(this.ended);
    const id = this.#nextId;
    this.#nextId = (id % MOST_IDS) + 1;
    const ask = (): Promise<Value<M>> =>
      new Promise<Value<M>>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        this.#worker.postMessage({ id, method, args }, buffers(args));
      });
    return untilAborted(signal, ask, () => {
      this.#pending.delete(id);
      this.#worker.postMessage({ cancel: id });
      this.#interrupts?.ask(id);
    });
  }

  hand(snapshot: Snapshot | undefined): void {
    this.#worker.postMessage({ snapshot } satisfies Handed, snapshot?.pieces.map(({ buffer }) => buffer) ?? []);
  }

  /** What a worker is started with, so that calls can be interrupted. */
  get interrupts(): SharedArrayBuffer | undefined {
    return this.#interrupts?.shared;
  }

  close(reason: CavemanError): void {
    if (this.ended) return;
    this.ended = reason;
    this.#watch.abort();
    this.#worker.terminate();
    this.#hook?.close?.();
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }

  /** What the hook gives is copied, not transferred: its bytes are the embedder's. */
  async #askHook(hook: PersistenceHook, { ask, method, argument }: HookRequest): Promise<void> {
    let reply: HookReply;
    try {
      reply = { answer: ask, value: await (hook[method] as (argument: unknown) => Promise<unknown>).call(hook, argument) };
    } catch (thrown) {
      reply = { answer: ask, error: hookError(thrown) };
    }
    this.#worker.postMessage(reply);
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (!("error" in reply)) return pending?.resolve(reply.value as never);
    const error = CavemanError.from(reply.error);
    pending?.reject(error);
    if (isFatal(error)) this.close(error);
  }
}

/** The host on this thread: no messages at all. */
export class InlineLink implements Link {
  readonly #handlers: Handlers;
  readonly #queue = new Queue();
  readonly #pending = new Set<(reason: CavemanError) => void>();
  ended: CavemanError | undefined;

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
  }

  call<M extends Method>(method: M, args: Args<M>, signal?: AbortSignal): Promise<Value<M>> {
    return new Promise<Value<M>>((resolve, reject) => {
      if (this.ended) return reject(this.ended);
      this.#pending.add(reject);
      this.#queue
        .run(size(args), () => this.#answer(method, args), signal)
        .then(resolve, reject)
        .finally(() => this.#pending.delete(reject));
    });
  }

  async #answer<M extends Method>(method: M, args: Args<M>): Promise<Value<M>> {
    try {
      return await this.#handlers[method](args);
    } catch (thrown) {
      const error = CavemanError.from(CavemanError.toData(thrown));
      if (isFatal(error)) this.close(error);
      throw error;
    }
  }

  close(reason: CavemanError): void {
    if (this.ended) return;
    this.ended = reason;
    this.#queue.clear();
    for (const reject of this.#pending) reject(reason);
    this.#pending.clear();
    this.#handlers.close({}).catch(() => {}); // the runtime may be what has failed
  }
}

/** What both ends need of a worker's global scope. */
export interface Port {
  addEventListener(type: "message", listener: (event: MessageEvent<Request | Cancel | HookReply | Handed>) => void): void;
  postMessage(message: Reply | HookRequest | News, transfer: Transferable[]): void;
}

/** In the worker: tells the page. */
export const remoteTell =
  (port: Port): Tell =>
  (event, detail) =>
    port.postMessage({ event, detail } as News, []);

/** In the worker: what the page hands over. */
export function remoteSnapshot(port: Port): Promise<Snapshot | undefined> {
  return new Promise((resolve) => {
    port.addEventListener("message", ({ data }) => {
      if ("snapshot" in data) resolve(data.snapshot);
    });
  });
}

/** In the worker: the hook that lives on the page. */
export function remoteHook(port: Port): PersistenceHook {
  const pending = new Map<number, Pending>();
  let nextId = 1;
  port.addEventListener("message", ({ data }) => {
    if (!("answer" in data)) return;
    const asked = pending.get(data.answer);
    pending.delete(data.answer);
    if ("error" in data) asked?.reject(CavemanError.from(data.error));
    else asked?.resolve(data.value as never);
  });
  const ask = <T>(method: HookMethod, argument: unknown): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const id = nextId++;
      pending.set(id, { resolve, reject });
      port.postMessage({ ask: id, method, argument }, buffers(argument));
    });
  return {
    open: (limits) => ask("open", limits),
    put: (record) => ask("put", record),
    get: (id) => ask("get", id),
    delete: (ids) => ask("delete", ids),
  };
}

/** The worker's end: answers every message that is not cancelled, whatever happens. */
export function serve(port: Port, handlers: Handlers): void {
  const queue = new Queue();
  let running: Int32Array | undefined;
  const wanted = new Map<number, AbortController>();
  const answer = async ({ id, method, args }: Request, signal: AbortSignal): Promise<void> => {
    const work = (): Promise<Value<Method>> => {
      if (running) Atomics.store(running, 0, id << 8);
      const made = (handlers[method] as (args: unknown) => Promise<Value<Method>>)(args); // Python up to where it waits
      if (running) Atomics.store(running, 0, 0);
      return made;
    };
    try {
      const value = await queue.run(size(args), work, signal);
      port.postMessage({ id, value }, buffers(value));
    } catch (thrown) {
      if (!signal.aborted) port.postMessage({ id, error: CavemanError.toData(thrown) }, []);
    }
    wanted.delete(id);
  };
  port.addEventListener("message", ({ data }) => {
    if ("answer" in data || "snapshot" in data) return; // remoteHook's and remoteSnapshot's
    if ("cancel" in data) return wanted.get(data.cancel)?.abort();
    const controller = new AbortController();
    if (data.method === "start" && data.args.interrupts) running = new Int32Array(data.args.interrupts);
    wanted.set(data.id, controller);
    void answer(data, controller.signal);
  });
}

/**
 * A name for the lock that a worker will hold, or undefined where there are none (an insecure context): there
 * a death is noticed only when the browser tells.
 */
export function newLifeLock(): string | undefined {
  return globalThis.isSecureContext && navigator.locks ? `caveman-wasm ${crypto.randomUUID()}` : undefined;
}

/** Resolves when this worker holds the lock; it is given back by the worker's death alone. */
export function holdLife(lifeLock: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const forever = (): Promise<never> => {
      resolve();
      return new Promise(() => {});
    };
    navigator.locks.request(lifeLock, forever).catch(reject);
  });
}
