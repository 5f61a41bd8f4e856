// Makes the memory snapshot that pages start from: node web/snapshot.mjs OUT/pyodide
// A Pyodide of that folder with the whole package imported, its memory gzipped, and what it is good for. It is named
// .bin, since a server may unzip what is named .gz. Its memory is written as the difference from the memory that the
// WebAssembly begins with, which a page has anyway: a fifth less to send.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const folder = resolve(process.argv[2]);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const { loadPyodide, version } = await import(pathToFileURL(join(folder, "pyodide.mjs")).href);
const lock = readFileSync(join(folder, "pyodide-lock.json"));
const wheel = JSON.parse(lock).packages["caveman-wasm"].file_name;
const script = await import(pathToFileURL(join(folder, "pyodide.asm.mjs")).href);
let first; // the memory that the WebAssembly begins with
const pyodide = await loadPyodide({
  indexURL: folder,
  _makeSnapshot: true,
  stdout: () => {},
  createPyodideModule: (settings) => {
    const { instantiateWasm } = settings;
    settings.instantiateWasm = (imports, receive) =>
      instantiateWasm(imports, (instance, module) => {
        first = new Uint8Array(instance.exports.memory.buffer).slice();
        receive(instance, module);
      });
    return script.default(settings);
  },
});
pyodide.unpackArchive(new Uint8Array(readFileSync(join(folder, wheel))), "wheel"); // loadPackage would leave a JavaScript object behind

// A snapshot holds no files: everything that a call may import is imported now. SQLite and the command line are native.
pyodide.runPython(`
import gc, importlib, pkgutil
import _strptime, calendar, csv, datetime, decimal, fractions, random, unicodedata
import caveman_wasm, caveman_wasm.doors.browser, pyodide.webloop
for module in pkgutil.walk_packages(caveman_wasm.__path__, "caveman_wasm."):
    if not module.name.startswith(("caveman_wasm.__main__", "caveman_wasm.store.sqlite", "caveman_wasm.doors.")):
        importlib.import_module(module.name)
del module
gc.collect()
`);
const snapshot = pyodide.makeMemorySnapshot();
const header = new Uint32Array(snapshot.buffer, 0, 2)[1]; // bytes before the memory
for (let at = 0; at < first.length; at++) snapshot[header + at] ^= first[at];
const memory = gzipSync(snapshot, { level: 9 });
writeFileSync(join(folder, "snapshot.bin"), memory);
writeFileSync(
  join(folder, "snapshot.json"),
  JSON.stringify({ pyodide: version, lock: sha256(lock), sha256: sha256(memory), bytes: snapshot.length }),
);
