"""The extension's storage as JavaScript for a page, over a fake of `vscode.workspace.fs`."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"

# A fake of `vscode.workspace.fs`: files in one map. `files.before(operation, name)` may throw, as a disk does, and
# what it threw for may be done by halves: a rename is three steps, as in VS Code's own over IndexedDB.
FAKE_FS = """
const missing = (name) => Object.assign(new Error(name), { code: "FileNotFound" });
const fakeFs = (files = new Map(), before = () => {}) => {
  const step = (what, name, work) => { before(what, name); return work(); };
  const read = (name) => { if (!files.has(name)) throw missing(name); return files.get(name); };
  return {
    files,
    createDirectory: async () => step("createDirectory", ".", () => {}),
    readDirectory: async () => step("readDirectory", ".", () => [...files.keys()].map((name) => [name, 1])),
    readFile: async ({ name }) => step("readFile", name, () => read(name)),
    writeFile: async ({ name }, bytes) => step("writeFile", name, () => files.set(name, bytes.slice())),
    delete: async ({ name }) => step("delete", name, () => { read(name); files.delete(name); }),
    rename: async (from, to) => {
      const bytes = read(from.name);
      if (files.has(to.name)) step("rename away", to.name, () => files.delete(to.name));
      step("rename", to.name, () => files.set(to.name, bytes));
      step("rename from", from.name, () => files.delete(from.name));
    },
  };
};
"""

# A fake of it that outlives the page: the files lie in the Origin Private File System.
OPFS_FS = """
const folder = (async () => {
  const root = await (await navigator.storage.getDirectory()).getDirectoryHandle("workspace", { create: true });
  const found = async (work) => {
    try { return await work(); } catch (e) { throw e.name === "NotFoundError" ? Object.assign(new Error(e.message), { code: "FileNotFound" }) : e; }
  };
  const fs = {
    createDirectory: async () => {},
    readDirectory: async () => { const names = []; for await (const name of root.keys()) names.push([name, 1]); return names; },
    readFile: ({ name }) => found(async () =>
      new Uint8Array(await (await (await root.getFileHandle(name)).getFile()).arrayBuffer())),
    writeFile: async ({ name }, bytes) => {
      const out = await (await root.getFileHandle(name, { create: true })).createWritable();
      await out.write(bytes);
      await out.close();
    },
    delete: ({ name }) => found(() => root.removeEntry(name)),
    rename: async (from, to) => {
      const bytes = await fs.readFile(from);
      await fs.delete(to).catch(() => {});
      await fs.writeFile(to, bytes);
      await fs.delete(from);
    },
  };
  return new vscodeParts.FolderHook(new vscodeParts.Folder(fs, (name) => ({ name })));
})();
"""


@cache
def parts() -> str:
    """JavaScript that defines `vscodeParts`: Folder and FolderHook as they are in the extension."""
    return subprocess.run(
        [
            WEB / "node_modules/.bin/esbuild",
            "--bundle",
            "--format=iife",
            "--global-name=vscodeParts",
            "--target=es2022",
        ],
        cwd=WEB / "vscode/src",
        input='export * from "./folder.js"; export * from "./storage.js";',
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
