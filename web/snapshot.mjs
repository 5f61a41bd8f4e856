// Makes the memory snapshot that pages start from: node web/snapshot.mjs OUT/pyodide OUT/samples
// A Pyodide of that folder with the whole package imported and tried out, its memory gzipped, and what it is good for. It is named
// .bin, since a server may unzip what is named .gz. Its memory is written as the difference from the memory that the
// WebAssembly begins with, which a page has anyway: a fifth less to send; and only those pages of it in which there is
// one: half as much to unpack. So it is Pyodide's own header, a byte for each page (whether it differs), and those pages.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, samples] = process.argv.slice(2).map((path) => resolve(path));
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

// A snapshot holds no files: everything that a call may import is imported now.
pyodide.FS.writeFile("warm_up.py", readFileSync(fileURLToPath(new URL("warm_up.py", import.meta.url))));
pyodide.mountNodeFS("/samples", samples);
pyodide.runPython("import warm_up; warm_up.import_all(); warm_up.try_out('/samples')");
pyodide._module.memory.grow = () => {
  throw new RangeError("only what is there may be wiped");
};
pyodide.runPython("warm_up.wipe(); del warm_up, __import__('sys').modules['warm_up']");
const snapshot = pyodide.makeMemorySnapshot();
const head = new Uint32Array(snapshot.buffer, 0, 2)[1]; // bytes before the memory
const memory = snapshot.subarray(head);
for (let at = 0; at < first.length; at++) memory[at] ^= first[at];
const PAGE = 1024; // bytes
const pages = Array.from({ length: memory.length / PAGE }, (_, page) => memory.subarray(page * PAGE, (page + 1) * PAGE));
const differs = pages.map((page) => page.some((byte) => byte !== 0));
const sent = Buffer.concat([snapshot.subarray(0, head), Uint8Array.from(differs), ...pages.filter((_, page) => differs[page])]);
const packed = gzipSync(sent, { level: 9 });
writeFileSync(join(folder, "snapshot.bin"), packed);
const data = Math.ceil((first.findLastIndex((byte) => byte !== 0) + 1) / PAGE) * PAGE;
writeFileSync(
  join(folder, "snapshot.json"),
  JSON.stringify({
    pyodide: version,
    lock: sha256(lock),
    sha256: sha256(packed),
    packed: packed.length,
    head,
    memory: memory.length,
    data,
  }),
);
