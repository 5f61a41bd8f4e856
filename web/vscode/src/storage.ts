/**
 * The persistence hook over a folder of `vscode.workspace.fs`.
 *
 * A record is two files: ID.data never changes, ID.json is all the rest, small, written after it and deleted before
 * it, so that it alone says whether there is a record. ID.forgotten tells what was deleted, and when.
 *
 * On the web VS Code looks into this storage once a window: what other windows write later shows after a reload. The
 * budget is kept by each window over what it knows of.
 */

import { CavemanError } from "../../src/errors.js";
import type { IndexRow, PersistenceHook, StoredRecord } from "../../src/hook.js";
import { same, type Folder } from "./folder.js";

type Head = Omit<StoredRecord, "data" | "metadata"> & { readonly metadata: string | null };

const HEAD = ".json";

export class FolderHook implements PersistenceHook {
  readonly #folder: Folder;
  /** What is known to be held. A running sum of its bytes is kept beside it. */
  readonly #index = new Map<string, IndexRow>();
  #total = 0;
  #maxBytes = Infinity;
  #epoch: string | undefined;
  #writes: Promise<unknown> = Promise.resolve();

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  /** How many records are held, as far as this window knows. */
  get count(): number {
    return this.#index.size;
  }

  open({ maxBytes }: { readonly maxBytes: number }): Promise<{ epoch: string; index: IndexRow[] }> {
    return this.#inTurn(async () => {
      this.#maxBytes = maxBytes;
      await this.#folder.make();
      this.#epoch = await this.#readEpoch();
      if (this.#epoch === undefined) {
        this.#epoch = `${new Date().toISOString()} ${crypto.randomUUID()}`;
        await this.#folder.write("epoch", encode(this.#epoch));
      }
      const ids = [...(await this.#folder.names())].filter((name) => name.endsWith(HEAD)).map(idOf);
      // A damaged one blocks none of the others.
      const heads = await Promise.all(ids.map((id) => this.#head(id).catch(() => undefined)));
      this.#index.clear();
      this.#total = 0;
      for (const head of heads) if (head) this.#hold(head);
      return { epoch: this.#epoch, index: [...this.#index.values()] };
    });
  }

  put(record: StoredRecord): Promise<void> {
    return this.#inTurn(async () => {
      await this.#requireEpoch(record.id);
      const { id, data, metadata, ...rest } = record;
      const old = await this.#head(id);
      if (this.#total - (this.#index.get(id)?.[1] ?? 0) + record.bytes > this.#maxBytes) {
        const message = `${id} does not fit into the budget of ${this.#maxBytes} bytes`;
        throw new CavemanError("cave_ccr_budget_exceeded", message, id);
      }
      const held = old && (await this.#folder.read(`${id}.data`));
      if (held && !same(held, data)) {
        throw new CavemanError("cave_conflict", `${id} is taken by other bytes; the first stay`, id);
      }
      const createdAt = old?.createdAt ?? rest.createdAt;
      const head: Head = { ...rest, id, createdAt, metadata: metadata && toBase64(metadata) };
      try {
        if (!held) await this.#folder.write(`${id}.data`, data);
        await this.#folder.write(id + HEAD, encode(JSON.stringify(head)));
      } catch (thrown) {
        if (!old) await this.#folder.remove(`${id}.data`).catch(() => {});
        throw thrown;
      }
      this.#hold(head);
      await this.#folder.remove(`${id}.forgotten`).catch(() => {}); // a record outweighs it
    });
  }

  async get(id: string): Promise<StoredRecord | undefined> {
    const head = await this.#head(id);
    const data = head && (await this.#folder.read(`${id}.data`));
    if (head && data) {
      this.#hold(head);
      return { ...head, data, metadata: head.metadata === null ? null : fromBase64(head.metadata) };
    }
    await this.#requireEpoch(id);
    const deleted = await this.#folder.read(`${id}.forgotten`);
    if (!deleted) return undefined;
    const day = decode(deleted).slice(0, 10);
    const message = `${id} was deleted by the operator on ${day}; do not retry, run the tool again`;
    throw new CavemanError("cave_forgotten", message, id);
  }

  delete(ids: string[] | "all"): Promise<void> {
    return this.#inTurn(async () => {
      const names = await this.#folder.names();
      const known = [...names].filter((name) => /\.(json|data)$/.test(name)).map(idOf);
      const at = encode(new Date().toISOString());
      for (const id of new Set(ids === "all" ? known : ids)) {
        if (await this.#head(id).catch(() => true)) await this.#folder.write(`${id}.forgotten`, at);
        await this.#folder.remove(id + HEAD);
        await this.#folder.remove(`${id}.data`);
        this.#drop(id);
      }
    });
  }

  #hold({ id, bytes, tokensBefore, tokensAfter, sessionId, createdAt }: Head): void {
    this.#drop(id);
    this.#index.set(id, [id, bytes, tokensBefore, tokensAfter, sessionId, createdAt]);
    this.#total += bytes;
  }

  #drop(id: string): void {
    this.#total -= this.#index.get(id)?.[1] ?? 0;
    this.#index.delete(id);
  }

  async #head(id: string): Promise<Head | undefined> {
    const json = await this.#folder.read(id + HEAD);
    if (!json) return undefined;
    try {
      return JSON.parse(decode(json)) as Head;
    } catch {
      const message = `The record of ${id} is damaged; do not retry, run the tool again`;
      throw new CavemanError("cave_ccr_corrupt", message, id);
    }
  }

  async #readEpoch(): Promise<string | undefined> {
    const epoch = await this.#folder.read("epoch");
    return epoch && decode(epoch);
  }

  async #requireEpoch(id: string): Promise<void> {
    if ((await this.#readEpoch()) !== this.#epoch) {
      throw new CavemanError("cave_store_reset", `${id} belongs to a folder that is gone`, id);
    }
  }

  /** One write after the other, whether or not the one before succeeded. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#writes.then(work, work);
    this.#writes = turn.catch(() => {});
    return turn;
  }
}

const idOf = (name: string): string => name.slice(0, name.lastIndexOf("."));
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64 = (text: string): Uint8Array => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
