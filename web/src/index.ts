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

import { decodeText, payloadBytes, type Payload } from "./bytes.js";
import { CavemanError, invalidArguments } from "./errors.js";
import type { PersistenceHook } from "./hook.js";
import {
  InlineLink,
  newLifeLock,
  WorkerLink,
  type BundleCounts,
  type CompressOptions,
  type Health,
  type Link,
  type RecordInfo,
  type Report,
  type Stats,
} from "./protocol.js";
import type { Counter } from "./tokens.js";
import { messagesOver, type Messages } from "./messages.js";
import { toolList, type Tool } from "./tools.js";

export { CavemanError, type CompressOptions, type Counter, type Payload, type Stats };
export type { IndexRow, PersistenceHook, StoredRecord } from "./hook.js";
export type { BundleCounts, Health, Marker, RecordInfo, ToolInfo, ToolSchema } from "./protocol.js";
export type { Messages, MessagesOptions, Wrappable, WrapOptions } from "./messages.js";
export { hasWebMCP, registerWebMCP, type WebMCPOptions } from "./adapters/webmcp.js";
export type { AdapterOptions, HasTools, Tool, ToolAnswer, ToolCallOptions } from "./tools.js";

export interface CavemanOptions {
  /** The folder that holds worker.js and pyodide/; by default the one this module came from. */
  readonly baseURL?: string | URL;
  /** "none": records live as long as the worker. Else the originals are durable before compress resolves. */
  readonly persistence?: "none" | "indexeddb" | PersistenceHook;
  /** `health().epoch` of earlier: in another database what is not found answers `cave_store_reset`. */
  readonly epoch?: string;
  /** Budget of the store in bytes; 512 MiB by default. Nothing is ever evicted. */
  readonly maxBytes?: number;
  /** Run Python on this thread, for places that are a worker already, and for Node. */
  readonly inline?: boolean;
  /** Counts tokens in place of o200k_base; a function cannot travel to a worker, so only with `inline`. */
  readonly counter?: Counter;
  /** Milliseconds until a start is given up with `cave_start_failed`; 60,000 by default. */
  readonly startTimeout?: number;
  /** Gives the start up with an AbortError. */
  readonly signal?: AbortSignal;
}

/** What compress gives. A pass-through is a normal result: the same bytes, no handle, and a `reason`. */
export interface CompressResult extends Report {
  /** What to hand on, in bytes. */
  readonly output: Uint8Array;
  /** The same as a string; bytes that are no UTF-8 read as U+FFFD, lone surrogates of a string stay. */
  readonly text: string;
}

/** Every promise rejects with a `CavemanError`, whose `code` tells why. */
export interface Caveman extends Messages {
  /** The version of Pyodide that runs the engine. */
  readonly pyodideVersion: string;
  /** What an agent or its host may call, ready for any protocol; the adapters are made from it. */
  readonly tools: readonly Tool[];
  /** A shorter text that says what was left out; the exact bytes stay behind `recoveryHandle`. */
  compress(payload: Payload, options?: CompressOptions): Promise<CompressResult>;
  /** The exact bytes behind a reference. */
  retrieve(reference: string): Promise<Uint8Array>;
  /** The original as a string, or the view of it that answers `query`. */
  retrieveText(reference: string, options?: { readonly query?: string }): Promise<string>;
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
  /** Ends the worker and its store; what is pending rejects with `cave_worker_lost`. */
  close(): void;
}

type Check = readonly [accepts: (value: unknown) => boolean, expected: string];

const isString: Check = [(value) => typeof value === "string", "a string"];
const isPositive: Check = [(value) => Number.isSafeInteger(value) && (value as number) > 0, "a positive whole number"];

const HOOK_METHODS = ["open", "put", "get", "delete"] as const;
const isHook = (value: unknown): boolean =>
  HOOK_METHODS.every((name) => typeof (Object(value) as PersistenceHook)[name] === "function");

const START_OPTIONS: Record<keyof CavemanOptions, Check> = {
  baseURL: [(value) => typeof value === "string" || value instanceof URL, "a URL"],
  persistence: [
    (value) => value === "none" || value === "indexeddb" || isHook(value),
    '"none", "indexeddb" or an object with open, put, get and delete',
  ],
  epoch: isString,
  maxBytes: isPositive,
  inline: [(value) => typeof value === "boolean", "a boolean"],
  counter: [(value) => typeof (value as Counter)?.count === "function", "an object with name and count(utf8)"],
  startTimeout: [(value) => typeof value === "number" && value > 0, "a number of milliseconds above 0"],
  signal: [(value) => value instanceof AbortSignal, "an AbortSignal"],
};
const COMPRESS_OPTIONS: Record<keyof CompressOptions, Check> = {
  mode: isString, // an unknown mode behaves as "record": the engine's rule
  contentType: isString,
  query: isString,
  maxTokens: isPositive,
};
const RETRIEVE_OPTIONS = { query: isString };

/** Unknown options are errors: one that has no effect would be found out too late. Undefined is not given. */
function check(options: object, known: Record<string, Check>): void {
  if (typeof options !== "object" || options === null) throw invalidArguments("Options are an object.");
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!rule) throw invalidArguments(`Unknown option "${name}". Known are: ${Object.keys(known).join(", ")}.`);
    if (value !== undefined && !rule[0](value)) throw invalidArguments(`The option "${name}" must be ${rule[1]}.`);
  }
}

/**
 * Starts Python in a worker and resolves when it is ready.
 *
 * Rejects with `cave_start_failed` (with the likely cause) when it does not start within `startTimeout`, with
 * `cave_invalid_arguments` for an unknown option, with an AbortError when `signal` aborts.
 */
export async function createCaveman(options: CavemanOptions = {}): Promise<Caveman> {
  check(options, START_OPTIONS);
  if (options.counter && !options.inline) {
    throw invalidArguments('A counter is a function, which no worker can be sent: pass "inline: true" with it.');
  }
  options.signal?.throwIfAborted();
  const baseURL = new URL(options.baseURL ?? "./", options.baseURL ? globalThis.location?.href : import.meta.url).href;
  const { maxBytes, epoch, inline, counter, persistence: wanted = "none" } = options;
  const hook = typeof wanted === "object" ? wanted : undefined;
  const persistence = typeof wanted === "object" ? "hook" : wanted;
  const link = inline ? await inlineLink(counter, hook) : workerLink(baseURL, hook);
  const lifeLock = inline ? undefined : newLifeLock();
  const started = link.call("start", { baseURL, maxBytes, persistence, epoch, lifeLock });
  const { pyodide, tools } = await withinLimits(started, link, options, baseURL);
  if (lifeLock) (link as WorkerLink).watchLife(lifeLock, lost("it was ended"));
  const persistGranted = persistence === "indexeddb" ? askToPersist() : () => null;
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

const lost = (detail: string): CavemanError =>
  new CavemanError(
    "cave_worker_lost",
    `The worker died (${detail}) and its store with it. Do not retry; create a new caveman and run the tools again.`,
  );

async function inlineLink(counter: Counter | undefined, hook: PersistenceHook | undefined): Promise<Link> {
  const { createHost } = await import("./host.js");
  return new InlineLink(createHost(counter ?? (await import("./tokens.js")).o200k, hook));
}

function workerLink(baseURL: string, hook: PersistenceHook | undefined): Link {
  const url = new URL("worker.js", baseURL).href;
  try {
    return new WorkerLink(new Worker(trusted(url), { type: "module" }), lost, hook);
  } catch (thrown) {
    throw startFailed(`The worker ${url} could not be started (${String(thrown)}).`);
  }
}

interface ScriptURLPolicy {
  createScriptURL(url: string): string;
}
interface TrustedTypes {
  createPolicy(name: string, rules: ScriptURLPolicy): ScriptURLPolicy;
}
let policy: ScriptURLPolicy | undefined;

/** A page that requires Trusted Types takes a worker's URL from a named policy only; ours knows one file name. */
function trusted(url: string): string {
  const factory = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  policy ??= factory?.createPolicy("caveman-wasm", {
    createScriptURL: (candidate) => {
      if (new URL(candidate).pathname.endsWith("/worker.js")) return candidate;
      throw new TypeError("not the worker of caveman-wasm");
    },
  });
  return policy ? policy.createScriptURL(url) : url;
}

const startFailed = (what: string): CavemanError =>
  new CavemanError(
    "cave_start_failed",
    `${what} Check that the folder is served whole, and that the Content-Security-Policy of the page and of ` +
      "worker.js allows script-src 'self' 'wasm-unsafe-eval' and, with Trusted Types, the policy caveman-wasm.",
  );

/** Python may never answer (a forbidden compile does not even fail): the start races the clock and the caller. */
async function withinLimits<T>(started: Promise<T>, link: Link, options: CavemanOptions, baseURL: string): Promise<T> {
  const { signal, startTimeout = 60_000 } = options;
  let stop!: () => void;
  const limits = new Promise<never>((_, reject) => {
    const late = (): void => reject(startFailed(`Python from ${baseURL} was not ready within ${startTimeout} ms.`));
    const timer = setTimeout(late, startTimeout);
    const aborted = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", aborted, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
  });
  try {
    return await Promise.race([started, limits]);
  } catch (thrown) {
    link.close(lost("it did not start"));
    const died = thrown instanceof CavemanError && thrown.code === "cave_worker_lost";
    throw died ? startFailed(`The worker from ${baseURL} did not start: ${thrown.message}`) : thrown;
  } finally {
    stop();
  }
}

function strings(references: readonly string[]): readonly string[] {
  if (Array.isArray(references) && references.every((reference) => typeof reference === "string")) return references;
  throw invalidArguments("References are a list of strings such as ccr_….");
}

type Calling = Omit<Caveman, "pyodideVersion" | "tools" | keyof Messages>;

function openCaveman(link: Link, persistGranted: () => boolean | null): Calling {
  const retrieve = async (reference: string, query?: string): Promise<Uint8Array> => {
    if (typeof reference !== "string") {
      throw invalidArguments("A reference is a string such as ccr_… (a result without a handle needs none: its text is whole).");
    }
    return (await link.call("retrieve", query === undefined ? { reference } : { reference, query })).output;
  };
  return {
    async compress(payload, options = {}) {
      check(options, COMPRESS_OPTIONS);
      const { output, report } = await link.call("compress", { payload: await payloadBytes(payload), options });
      return { ...report, output, text: decodeText(output, typeof payload === "string") };
    },
    retrieve: async (reference) => retrieve(reference),
    async retrieveText(reference, options = {}) {
      check(options, RETRIEVE_OPTIONS);
      return decodeText(await retrieve(reference, options.query), true);
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
    close: () => link.close(new CavemanError("cave_worker_lost", "This caveman was closed. Create a new one.")),
  };
}
