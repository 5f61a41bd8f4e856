/** Files of one folder of `vscode.workspace.fs`, each of them whole or not there, whatever breaks in between. */

import type { FileSystem, Uri } from "vscode";

/** What of `vscode.workspace.fs` is used. */
export type Files = Pick<
  FileSystem,
  "createDirectory" | "readDirectory" | "readFile" | "writeFile" | "rename" | "delete"
>;

const UNFINISHED = ".new";

export class Folder {
  readonly #fs: Files;
  readonly #at: (name: string) => Uri;

  /** `at` is the address of a name in the folder; that of "." the folder's own. */
  constructor(fs: Files, at: (name: string) => Uri) {
    this.#fs = fs;
    this.#at = at;
  }

  async make(): Promise<void> {
    await this.#fs.createDirectory(this.#at("."));
  }

  /** Names of the files that `read` finds. */
  async names(): Promise<Set<string>> {
    const entries = await this.#fs.readDirectory(this.#at("."));
    return new Set(entries.map(([name]) => (name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name)));
  }

  /** Undefined if there is no such file. */
  async read(name: string): Promise<Uint8Array | undefined> {
    return (await this.#file(name)) ?? this.#file(name + UNFINISHED);
  }

  /**
   * By a rename, since a file system may be stopped within a write. Where a rename is itself several steps, as in
   * VS Code's own over IndexedDB, the old file goes first: then the unfinished one is there, complete, and is read.
   * A rejection leaves what was there.
   */
  async write(name: string, bytes: Uint8Array): Promise<void> {
    const old = await this.read(name);
    const unfinished = this.#at(name + UNFINISHED);
    try {
      await this.#fs.writeFile(unfinished, bytes);
      await this.#fs.rename(unfinished, this.#at(name), { overwrite: true });
    } catch (thrown) {
      const now = await this.#file(name);
      if (now && same(now, bytes)) return; // another window wrote the same and was quicker
      if (now || !old) await this.#remove(name + UNFINISHED).catch(() => {});
      throw thrown;
    }
  }

  /** A file that is not there is no error. */
  async remove(name: string): Promise<void> {
    await this.#remove(name + UNFINISHED); // first: it would stand in for the other
    await this.#remove(name);
  }

  async #file(name: string): Promise<Uint8Array | undefined> {
    try {
      return await this.#fs.readFile(this.#at(name));
    } catch (thrown) {
      if (isMissing(thrown)) return undefined;
      throw thrown;
    }
  }

  async #remove(name: string): Promise<void> {
    try {
      await this.#fs.delete(this.#at(name));
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
  }
}

/** `vscode.FileSystemError`, told by its code: the class lives in the host. */
const isMissing = (thrown: unknown): boolean => (Object(thrown) as { code?: unknown }).code === "FileNotFound";

export const same = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
