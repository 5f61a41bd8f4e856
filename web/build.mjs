// Bundles web/ into one folder that any static server can serve: node web/build.mjs OUT
// (pyodide_folder.py puts OUT/pyodide beside it; build_wasm.sh calls both.)
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = dirname(fileURLToPath(import.meta.url));
const dist = process.argv[2] ?? join(web, "dist");

const manifest = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
const adapters = readdirSync(join(web, "src/adapters")).map((file) => basename(file, ".ts"));

mkdirSync(dist, { recursive: true });
for (const name of readdirSync(dist)) {
  if (name !== "pyodide") rmSync(join(dist, name), { recursive: true });
}

await build({
  entryPoints: {
    caveman: join(web, "src/index.ts"),
    worker: join(web, "src/worker.ts"),
    demo: join(web, "demo/demo.ts"),
    agent: join(web, "demo/agent.ts"),
    ...Object.fromEntries(adapters.map((name) => [`adapters/${name}`, join(web, `src/adapters/${name}.ts`)])),
  },
  external: Object.keys(manifest.peerDependencies), // whoever imports an adapter has its library
  define: { __VERSION__: JSON.stringify(manifest.version) },
  outdir: dist,
  bundle: true,
  format: "esm",
  splitting: true, // page and worker share what both need; the counter and the host load only where they run
  chunkNames: "[name]-[hash]", // beside their entries: index.ts finds the folder by its own address
  target: "es2022",
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: "linked",
  logLevel: "warning",
});

for (const name of ["index.html", "agent.html", "demo.css", "icon.svg"]) cpSync(join(web, "demo", name), join(dist, name));

const tsc = join(web, "node_modules/.bin/tsc");
const types = spawnSync(tsc, ["-p", join(web, "tsconfig.types.json"), "--outDir", join(dist, "types")], { stdio: "inherit" });
process.exit(types.status ?? 1);
