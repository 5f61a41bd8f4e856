/**
 * The hook over IndexedDB, and the only indexedDB. One database for all pages of an origin.
 *
 * A write is one transaction over everything it touches, strict, and done when that is complete: record and total
 * change together, so the budget holds across pages. Bytes lie apart from the index, which is read without them.
 */

import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from "idb";
import { CavemanError } from "./errors.js";
import { within, type IndexRow, type PersistenceHook, type StoredRecord } from "./hook.js";

const NAME = "caveman-wasm";
const SCHEMA = 1;
/** ms. Opening waits for pages that hold an older schema, or a deletion; reading and writing do not wait long. */
const OPEN_LIMIT = 5_000;
const TRANSACTION_LIMIT = 20_000;

type Details = Pick<StoredRecord, "id" | "fields" | "metadata">;
type Counts = Pick<StoredRecord, "id" | "bytes" | "tokensBefore" | "tokensAfter" | "sessionId" | "createdAt">;

interface Schema extends DBSchema {
  index: { key: string; value: Counts };
  details: { key: string; value: Details };
  data: { key: string; value: Uint8Array };
  tombstones: { key: string; value: string };
  notes: { key: "epoch" | "total"; value: string | number };
}
type Database = IDBPDatabase<Schema>;
const STORES = ["index", "details", "data", "tombstones", "notes"] as const;
type Mode = "readonly" | "readwrite";
type Transaction<M extends IDBTransactionMode> = IDBPTransaction<Schema, typeof STORES, M>;

export class IndexedDBHook implements PersistenceHook {
  #database: Promise<Database> | undefined;
  #maxBytes = 0;
  #epoch: string | undefined;
  #channel: BroadcastChannel | undefined;

  async open({ maxBytes }: { readonly maxBytes: number }): Promise<{ epoch: string; index: IndexRow[] }> {
    this.#maxBytes = maxBytes;
    this.#epoch = undefined; // whichever it is now
    return this.#transact("readonly", async (stores) => {
      // Not this.#epoch: another open may be under way, which has just forgotten it.
      const epoch = (await stores.objectStore("notes").get("epoch")) as string;
      const rows = await stores.objectStore("index").getAll();
      return { epoch, index: rows.map(indexRow) };
    });
  }

  put(record: StoredRecord): Promise<void> {
    return this.#transact("readwrite", async (stores) => {
      const old = await stores.objectStore("index").get(record.id);
      await this.#count(stores, record.bytes - (old?.bytes ?? 0), record.id);
      await (old ? update(stores, record, old.createdAt) : insert(stores, record));
    });
  }

  get(id: string): Promise<StoredRecord | undefined> {
    return this.#transact("readonly", async (stores) => {
      const [counts, details, data, deleted] = await Promise.all([
        stores.objectStore("index").get(id),
        stores.objectStore("details").get(id),
        stores.objectStore("data").get(id),
        stores.objectStore("tombstones").get(id),
      ]);
      if (counts && details && data) return { ...counts, ...details, data };
      if (deleted) throw forgotten(id, deleted);
      return undefined;
    });
  }

  async delete(ids: string[] | "all"): Promise<void> {
    await this.#transact("readwrite", async (stores) => {
      const index = stores.objectStore("index");
      const rows = ids === "all" ? await index.getAll() : await Promise.all(ids.map((id) => index.get(id)));
      const found = new Map(rows.flatMap((row) => (row ? [[row.id, row.bytes] as const] : [])));
      const at = new Date().toISOString();
      for (const id of found.keys()) {
        for (const store of ["index", "details", "data"] as const) void stores.objectStore(store).delete(id);
        void stores.objectStore("tombstones").put(at, id);
      }
      await this.#count(stores, -[...found.values()].reduce((sum, bytes) => sum + bytes, 0), null);
    });
    this.#channel?.postMessage(ids);
  }

  watch(deleted: (ids: string[] | "all") => void): void {
    this.#channel = new BroadcastChannel(NAME);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<string[] | "all">) => deleted(data));
  }

  close(): void {
    this.#channel?.close();
    void this.#database?.then((database) => database.close());
    this.#database = undefined;
  }

  /** The total is read and written in the transaction of what it counts: no other page comes between. */
  async #count(stores: Transaction<"readwrite">, change: number, id: string | null): Promise<void> {
    const notes = stores.objectStore("notes");
    const used = (await notes.get("total")) as number;
    if (change > 0 && used + change > this.#maxBytes) {
      const free = Math.max(0, this.#maxBytes - used);
      throw new CavemanError(
        "cave_ccr_budget_exceeded",
        `${id} needs ${change} bytes and ${free} of ${this.#maxBytes} are free; nothing was stored and nothing deleted`,
        id,
      );
    }
    if (change !== 0) await notes.put(used + change, "total");
  }

  /** One transaction. A lost connection (a background page's may be closed at any time) is opened again, once. */
  async #transact<T, M extends Mode>(mode: M, work: (stores: Transaction<M>) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt(mode, work);
    } catch (thrown) {
      if (!isLost(thrown)) throw thrown;
      this.#database = undefined;
      return this.#attempt(mode, work);
    }
  }

  async #attempt<T, M extends Mode>(mode: M, work: (stores: Transaction<M>) => Promise<T>): Promise<T> {
    const stores = (await this.#connected()).transaction(STORES, mode, { durability: "strict" });
    stores.done.catch(() => {}); // awaited below; here only so that it is never unhandled
    const timer = setTimeout(() => abort(stores), TRANSACTION_LIMIT);
    try {
      await this.#checkEpoch(stores);
      const result = await work(stores);
      await stores.done; // with strict durability a failed commit fires nothing but abort, which this rejects by
      return result;
    } catch (thrown) {
      abort(stores);
      throw stores.error ?? thrown; // the commit's own error says more than "aborted"
    } finally {
      clearTimeout(timer);
    }
  }

  /** A database that the browser dropped has been made anew by whoever came next, with another epoch. */
  async #checkEpoch(stores: Transaction<Mode>): Promise<void> {
    const epoch = (await stores.objectStore("notes").get("epoch")) as string;
    this.#epoch ??= epoch;
    if (epoch !== this.#epoch) {
      throw new CavemanError("cave_store_reset", "the browser dropped the database; this is a new one");
    }
  }

  #connected(): Promise<Database> {
    if (!this.#database) {
      const connecting = this.#connect();
      this.#database = connecting;
      connecting.catch(() => this.#lose(connecting));
    }
    return this.#database;
  }

  /** Only this connection: another may have been opened since. */
  #lose(connection: Promise<Database>): void {
    if (this.#database === connection) this.#database = undefined;
  }

  #connect(): Promise<Database> {
    const lose = (): void => this.#lose(connected);
    const opening = openDB<Schema>(NAME, SCHEMA, {
      upgrade: (database) => create(database),
      blocking: (_current, _wanted, event) => {
        (event.target as unknown as IDBDatabase).close(); // a newer page or a deletion: never in its way
        lose();
      },
      terminated: lose,
    });
    const tooLate = (): void => void opening.then((database) => database.close()).catch(() => {});
    const what = "IndexedDB did not open (another tab holds an older version: close it and try again)";
    const connected = within(OPEN_LIMIT, opening, what, tooLate);
    return connected;
  }
}

function create(database: Database): void {
  database.createObjectStore("index", { keyPath: "id" });
  database.createObjectStore("details", { keyPath: "id" });
  database.createObjectStore("data");
  database.createObjectStore("tombstones");
  const notes = database.createObjectStore("notes");
  void notes.put(`${new Date().toISOString()} ${crypto.randomUUID()}`, "epoch");
  void notes.put(0, "total");
}

const indexRow = (row: Counts): IndexRow => [
  row.id,
  row.bytes,
  row.tokensBefore,
  row.tokensAfter,
  row.sessionId,
  row.createdAt,
];

async function insert(stores: Transaction<"readwrite">, record: StoredRecord): Promise<void> {
  const { id, fields, data, metadata, ...counts } = record;
  await Promise.all([
    stores.objectStore("index").put({ id, ...counts }),
    stores.objectStore("details").put({ id, fields, metadata }),
    stores.objectStore("data").put(data, id),
    stores.objectStore("tombstones").delete(id),
  ]);
}

/** The same payload again: its accounting changes where it differs, its bytes and first time stay. */
async function update(stores: Transaction<"readwrite">, record: StoredRecord, createdAt: string): Promise<void> {
  const { id, fields, data, metadata, ...counts } = record;
  const held = await stores.objectStore("data").get(id);
  if (!held || !same(held, data)) {
    throw new CavemanError("cave_conflict", `${id} is taken by other bytes; the first stay`, id);
  }
  await stores.objectStore("index").put({ id, ...counts, createdAt });
  await stores.objectStore("details").put({ id, fields, metadata });
}

const same = (one: Uint8Array, other: Uint8Array): boolean => indexedDB.cmp(one, other) === 0;

const forgotten = (id: string, at: string): CavemanError =>
  new CavemanError("cave_forgotten", `${id} was deleted by the operator on ${at.slice(0, 10)}; do not retry, run the tool again`, id);

function abort(stores: Transaction<Mode>): void {
  try {
    stores.abort();
  } catch {
    // it has ended already
  }
}

/** A closed connection shows as InvalidStateError before a transaction begins, as AbortError within one. */
const isLost = (thrown: unknown): boolean =>
  thrown instanceof DOMException && ["InvalidStateError", "AbortError"].includes(thrown.name);
