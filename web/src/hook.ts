/**
 * What an embedder implements to make records durable, and how it is asked. IndexedDB (persistence.ts) is the
 * implementation that comes with the package.
 */

import type { PyProxy } from "pyodide/ffi";
import { CavemanError, type ErrorData } from "./errors.js";
import type { Tell } from "./events.js";

/** Everything that is kept of one record or typed object. */
export interface StoredRecord {
  /** `ccr_…` or `ccr_obj_…`. */
  readonly id: string;
  /** RFC 3339. Where the id is there already, the first one's stands. */
  readonly createdAt: string;
  /** What it takes of the budget. */
  readonly bytes: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Of a typed object, else null. */
  readonly sessionId: string | null;
  /** What else is known of it: plain JSON, to be kept as it is. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array | null;
}

/**
 * What a listing knows of a record without reading its bytes. The counts are for `stats()` (0 without them), the rest
 * is for `listObjects()` and need not be told of a record.
 */
export type IndexRow = readonly [
  id: string,
  bytes: number,
  tokensBefore?: number,
  tokensAfter?: number,
  sessionId?: string | null,
  createdAt?: string,
];

/**
 * Where records outlive the page. All methods may be called at the same time, also for one id.
 *
 * A method that cannot do its work rejects, and has then changed nothing. What it rejects with becomes the caller's
 * code: an error whose `code` is one of ours as it is, a QuotaExceededError `cave_ccr_budget_exceeded`, anything
 * else `cave_ccr_unavailable`. With `cave_store_reset` it says that the database is another one than `open` found:
 * then `open` is called again. `get` may reject with `cave_forgotten` for what was deleted.
 */
export interface PersistenceHook {
  /**
   * The epoch (a name that a new database has and no other) and all that is held. It may be called again. `maxBytes`
   * is the budget: a put after which the sum of `bytes` would be larger rejects with `cave_ccr_budget_exceeded`.
   */
  open(limits: { readonly maxBytes: number }): Promise<{ epoch: string; index: IndexRow[] }>;
  /**
   * Resolves only when the record would survive a crash. Where the id is there already the counts, `fields` and
   * `metadata` change; `createdAt` and `data` stay.
   */
  put(record: StoredRecord): Promise<void>;
  get(id: string): Promise<StoredRecord | undefined>;
  /** Ids that are not there count nothing. */
  delete(ids: string[] | "all"): Promise<void>;
  /** Tells of what other pages delete, from now on. */
  watch?(deleted: (ids: string[] | "all") => void): void;
  /** Lets go of what `open` took hold of. */
  close?(): void;
}

export type HookMethod = "open" | "put" | "get" | "delete";

/** No call waits longer than this for a hook, in ms: a 64 MiB record takes well under a second. */
const LIMIT = 30_000;

/** Rejects with `cave_ccr_unavailable` and calls `late` if it takes longer than `limit` ms. */
export async function within<T>(limit: number, work: Promise<T>, what: string, late = (): void => {}): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(new CavemanError("cave_ccr_unavailable", `${what} within ${limit} ms`));
    }, limit);
  });
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}

/** What a hook rejected with, as data. */
export function hookError(thrown: unknown): ErrorData {
  const { code, name, message, reference = null } = Object(thrown) as Record<string, unknown>;
  const text = typeof message === "string" ? message : "";
  if (typeof code === "string" && code.startsWith("cave_")) {
    return { code, message: text, reference: typeof reference === "string" ? reference : null };
  }
  const known: Record<string, string> = {
    QuotaExceededError: "cave_ccr_budget_exceeded",
    VersionError: "cave_unsupported_version",
  };
  const kind = typeof name === "string" ? name : typeof thrown;
  return { code: known[kind] ?? "cave_ccr_unavailable", message: `the persistent store failed: ${kind} ${text}`, reference: null };
}

type Answer = [json: string, data?: Uint8Array, metadata?: Uint8Array];
type Head = Omit<StoredRecord, "data" | "metadata">;

/** What a call in Python waits for: an object, since Pyodide makes a promise its event loop's. */
export class Asked {
  constructor(readonly answer: Promise<Answer>) {}
}

const value = (of: unknown): string => JSON.stringify({ value: of ?? null });
const copy = (bytes: PyProxy): Uint8Array => bytes.toJs() as Uint8Array;

/** What is no failure of the store, or is told as a reset. */
const EXPECTED = ["cave_forgotten", "cave_store_reset"];

/**
 * The hook as `doors/durable.py` asks it: by JSON and bytes, and every answer is data. `epoch` is the one that was known
 * before. What `get` gives may go on to the caller as it is if it is `fresh`; an embedder may keep hold of it.
 */
export function forPython(hook: PersistenceHook, tell: Tell, epoch: string | undefined, fresh: boolean): object {
  let known = epoch;
  const asked = (method: HookMethod, work: () => Promise<Answer>): Asked => {
    const failed = (thrown: unknown): Answer => {
      const error = hookError(thrown);
      if (!EXPECTED.includes(error.code)) tell("persisterror", error);
      return [JSON.stringify({ error })];
    };
    return new Asked(within(LIMIT, work(), `the persistence hook's ${method} did not answer`).catch(failed));
  };
  return {
    open: (maxBytes: number) =>
      asked("open", async () => {
        const opened = await hook.open({ maxBytes });
        if (known !== undefined && known !== opened.epoch) tell("reset", { epoch: opened.epoch });
        known = opened.epoch;
        return [value(opened)];
      }),
    put: (head: string, data: PyProxy, metadata: PyProxy | undefined) => {
      const bytes = { data: copy(data), metadata: metadata ? copy(metadata) : null }; // before anything is awaited
      return asked("put", async () => [value(await hook.put({ ...(JSON.parse(head) as Head), ...bytes }))]);
    },
    get: (id: string) =>
      asked("get", async () => {
        const record = await hook.get(id);
        if (!record) return [value(null)];
        const { data: given, metadata, ...head } = record;
        const data = fresh ? given : given.slice();
        return metadata ? [value(head), data, metadata] : [value(head), data];
      }),
    delete: (ids: string) => asked("delete", async () => [value(await hook.delete(JSON.parse(ids) as string[] | "all"))]),
  };
}
