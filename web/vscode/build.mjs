// Bundles the extension into one file: node web/vscode/build.mjs
// With --vsix FILE it also packages it, with web/dist/pyodide inside: that needs `npm ci` in web/vscode.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "dist/extension.js");

await build({
  entryPoints: [join(here, "src/extension.ts")],
  outfile: bundle,
  bundle: true,
  format: "cjs", // what the extension host loads
  platform: "browser",
  external: ["vscode"],
  define: { "import.meta.url": '"vscode:"' }, // the folder is always given, never found by the module's own address
  target: "es2022",
  minify: true,
  charset: "utf8", // as in web/build.mjs
  legalComments: "eof",
  logLevel: "warning",
});

console.log(`vscode/dist/extension.js ${readFileSync(bundle).length.toLocaleString("en")} bytes`);
const at = process.argv.indexOf("--vsix");
if (at > 0) await pack(resolve(process.argv[at + 1]));

async function pack(vsix) {
  const { createVSIX } = await import("@vscode/vsce");
  const stage = join(here, "dist/package");
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(join(stage, "dist"), { recursive: true });
  const { scripts, devDependencies, private: _, ...manifest } = JSON.parse(readFileSync(join(here, "package.json")));
  writeFileSync(join(stage, "package.json"), JSON.stringify(manifest, null, 2));
  cpSync(join(here, "README.md"), join(stage, "README.md"));
  cpSync(join(here, "../../LICENSE"), join(stage, "LICENSE"));
  cpSync(bundle, join(stage, "dist/extension.js"));
  cpSync(join(here, "../dist/pyodide"), join(stage, "dist/pyodide"), { recursive: true });
  await createVSIX({ cwd: stage, packagePath: vsix, dependencies: false, allowMissingRepository: true });
}
