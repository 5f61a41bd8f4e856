// Bundles web/ into one folder that any static server can serve: node web/build.mjs OUT
// (pyodide_folder.py puts OUT/pyodide beside it; build_wasm.sh calls both.)
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { packVocabulary } from "./vocabulary.mjs";

const web = dirname(fileURLToPath(import.meta.url));
const dist = process.argv[2] ?? join(web, "dist");

const manifest = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
const adapters = readdirSync(join(web, "src/adapters")).map((file) => basename(file, ".ts"));

mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist)) {
  if (name !== "pyodide" && name !== "samples") rmSync(join(dist, name), { recursive: true });
}

const lock = JSON.parse(readFileSync(join(dist, "pyodide/pyodide-lock.json")));
packVocabulary(join(web, "build/o200k_base.txt"));
const shared = { bundle: true, format: "esm", target: "es2022", minify: true, sourcemap: true, sourcesContent: false, outdir: dist };

const { metafile } = await build({
  ...shared,
  define: {
    WHEEL: JSON.stringify(lock.packages["caveman-wasm"].file_name),
    __VERSION__: JSON.stringify(manifest.version),
  },
  entryPoints: {
    caveman: join(web, "src/index.ts"),
    worker: join(web, "src/worker.ts"),
    demo: join(web, "demo/demo.ts"),
    agent: join(web, "demo/agent.ts"),
    ...Object.fromEntries(adapters.map((name) => [`adapters/${name}`, join(web, `src/adapters/${name}.ts`)])),
  },
  external: Object.keys(manifest.peerDependencies), // whoever imports an adapter has its library
  splitting: true, // page and worker share what both need; the counter and the host load only where they run
  chunkNames: "[name]-[hash]", // beside their entries: index.ts finds the folder by its own address
  charset: "utf8", // the vocabulary is nearly as long again in escapes
  legalComments: "linked",
  metafile: true,
  logLevel: "warning",
});

for (const name of ["index.html", "agent.html", "demo.css", "icon.svg"]) cpSync(join(web, "demo", name), join(dist, name));

// What a page needs to start from the snapshot; the files of a plain start are kept once they are asked for.
const spare = /\.map$|\.LEGAL\.txt$|\.whl$|^pyodide\/(pyodide\.js|python_stdlib\.zip)$|^types\//;
const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(dist, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
  .filter((name) => !spare.test(name))
  .sort();
const hash = createHash("sha256");
for (const name of files) hash.update(name).update(readFileSync(join(dist, name)));
await build({
  ...shared,
  define: { FILES: JSON.stringify(files), BUILD: JSON.stringify(hash.digest("hex").slice(0, 16)) },
  entryPoints: { offline: join(web, "src/offline.ts") },
  format: "iife",
});

// What each entry is with all that it imports, but for what it loads when it needs it; and the largest files beside them.
const sizes = (name, files) => {
  const read = files.map((file) => readFileSync(file));
  const sum = (of) => read.reduce((total, bytes) => total + of(bytes).length, 0).toLocaleString("en").padStart(11);
  console.log(`${name.padEnd(30)}${sum((bytes) => bytes)} bytes${sum((bytes) => gzipSync(bytes))} gzip`);
};
const loaded = (file, seen = new Set()) => {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { kind, path, external } of metafile.outputs[file].imports) if (kind === "import-statement" && !external) loaded(path, seen);
  return seen;
};
for (const [file, { entryPoint }] of Object.entries(metafile.outputs)) {
  if (entryPoint?.startsWith("src/") || entryPoint?.includes("/src/")) sizes(`${relative(dist, resolve(file))} (all)`, [...loaded(file)]);
}
for (const name of files.filter((name) => /^pyodide\/.*(wasm|bin|asm\.mjs)$/.test(name))) sizes(name, [join(dist, name)]);

const tsc = join(web, "node_modules/.bin/tsc");
const types = spawnSync(tsc, ["-p", join(web, "tsconfig.types.json"), "--outDir", join(dist, "types")], { stdio: "inherit" });
process.exit(types.status ?? 1);
