/**
 * Starts Pyodide with this package in it: from a memory snapshot where there is a right one, else plainly.
 *
 * Snapshot, WebAssembly and script are fetched, checked, unpacked and compiled side by side. What does that is
 * private to Pyodide in part, so it is done for exactly the version that made the snapshot, and whatever goes wrong, a plain
 * start follows.
 */

import type { PyodideAPI } from "pyodide";
import type { PyCallable, PyProxy } from "pyodide/ffi";
import { CavemanError, invalidArguments } from "./errors.js";
import type { Tell } from "./events.js";
import {
  beginning,
  bytes,
  fetchMade,
  fetchSnapshot,
  quiet,
  restore,
  sha256,
  taking,
  text,
  type Made,
  type Snapshot,
} from "./snapshot.js";

export interface Booted {
  readonly pyodide: PyodideAPI;
  readonly snapshot: boolean;
}

type Runtime = typeof import("pyodide");

/** The wheel's file name, put in by build.mjs. */
declare const WHEEL: string;

/**
 * Pyodide from `baseURL`'s folder pyodide/, or `running` with the package in it. `sent`: the snapshot, where a page fetches it
 * for this worker; `tell` is told how much of it has arrived where none does. Rejects with `cave_start_failed`.
 */
export async function boot(
  baseURL: string,
  tell: Tell,
  running?: PyodideAPI,
  sent?: Promise<Snapshot | undefined>,
): Promise<Booted> {
  requireWebAssembly();
  const folder = new URL("pyodide/", baseURL);
  try {
    if (running) return { pyodide: await equipped(running, folder), snapshot: false };
    const compiled = compile(new URL("pyodide.asm.wasm", folder));
    const runtime = import(/* @vite-ignore */ new URL("pyodide.mjs", folder).href) as Promise<Runtime>;
    const restored = !inFiles(folder) && (await fromSnapshot(runtime, folder, compiled, tell, sent).catch(quiet));
    if (restored) return { pyodide: restored, snapshot: true };
    return { pyodide: await plain(await runtime, folder, compiled), snapshot: false };
  } catch (thrown) {
    const cause = String(thrown).trim().split("\n").at(-1); // of a Python traceback the line that tells
    throw new CavemanError("cave_start_failed", `Pyodide did not start from ${folder.href}: ${cause}`);
  }
}

/** Whether this is Node, which fetches no files. */
const inFiles = (url: URL): boolean => url.protocol === "file:";

/** Where Pyodide, which in Node reads files by their paths, finds it. */
const place = (url: URL): string => (inFiles(url) ? decodeURIComponent(url.pathname) : url.href);

/** The host's own, into which the wheel is loaded if the host has not installed the package itself. */
async function equipped(pyodide: PyodideAPI, folder: URL): Promise<PyodideAPI> {
  const find = pyodide.pyimport("importlib.util.find_spec") as PyCallable;
  const found = find("caveman_wasm") as PyProxy | undefined;
  if (!found) await pyodide.loadPackage(place(new URL(WHEEL, folder)), { messageCallback: quiet });
  found?.destroy();
  find.destroy();
  return pyodide;
}

/** Python's own allocations fail beyond `most` bytes, as they would at the platform's limit. */
export function limitMemory(pyodide: PyodideAPI, most: number): void {
  const { memory } = (pyodide as unknown as { _module: { memory: WebAssembly.Memory } })._module;
  const used = memory.buffer.byteLength;
  if (used > most) throw invalidArguments(`maxMemory is ${most} and the engine alone takes ${used} bytes.`);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65_536 > most) throw new RangeError("beyond maxMemory");
    return WebAssembly.Memory.prototype.grow.call(memory, pages);
  };
}

/** Pyodide's WebAssembly. Whoever holds the module while a plain start compiles the same bytes spares it that. */
function compile(wasm: URL): Promise<WebAssembly.Module> {
  const module = inFiles(wasm) ? fileBytes(wasm).then(WebAssembly.compile) : WebAssembly.compileStreaming(fetch(wasm));
  const compiled = module.catch((thrown: unknown) => {
    throw new Error(`${wasm.href}: ${String(thrown)}`);
  });
  compiled.catch(quiet); // it is awaited later
  return compiled;
}

async function fileBytes(file: URL): Promise<Uint8Array<ArrayBuffer>> {
  const name = "node:fs/promises"; // which bundlers for browsers would look for
  const { readFile } = (await import(/* @vite-ignore */ name)) as { readFile(file: URL): Promise<Uint8Array<ArrayBuffer>> };
  return readFile(file);
}

/**
 * With the wheel from the same folder, checked against the lock file. Pyodide waits for ever when its WebAssembly
 * fails: `compiled` tells.
 */
function plain(runtime: Runtime, folder: URL, compiled: Promise<unknown>): Promise<PyodideAPI> {
  const started = runtime.loadPyodide({ indexURL: place(folder), packages: ["caveman-wasm"], stdout: quiet });
  return Promise.race([started, compiled.then(() => started)]);
}

type LoadOptions = NonNullable<Parameters<Runtime["loadPyodide"]>[0]>;
type CreateModule = NonNullable<LoadOptions["createPyodideModule"]>;

/** What of Pyodide's module is not declared. */
interface Inside {
  readonly HEAP8: Int8Array<ArrayBuffer>;
  readonly HEAP32: Int32Array<ArrayBuffer>;
  readonly __PyRuntime: number;
  /** Where it is written how far into the runtime the number stands of the function that calls C functions of Python's. */
  readonly __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET: number;
  /** Copies what follows a snapshot's header into memory, and gives what the header says. */
  readonly API: { restoreSnapshot(snapshot: Uint8Array): unknown };
}

async function fromSnapshot(
  runtime: Promise<Runtime>,
  folder: URL,
  compiled: Promise<WebAssembly.Module>,
  tell: Tell,
  sent?: Promise<Snapshot | undefined>,
): Promise<PyodideAPI> {
  const script = import(/* @vite-ignore */ new URL("pyodide.asm.mjs", folder).href) as Promise<{ default: CreateModule }>;
  const madeURL = new URL("snapshot.json", folder);
  const made = fetchMade(madeURL);
  const lock = bytes(new URL("pyodide-lock.json", folder));
  const snapshot = Promise.resolve(sent).then((there) => there ?? fetchSnapshot(folder, made, tell)); // a page may not be allowed to
  const ready = matching(snapshot, made, runtime, lock);
  const options: LoadOptions = {
    indexURL: folder.href,
    lockFileContents: lock.then(text),
    stdout: quiet,
    ...(inWorker && { stdLibURL: madeURL.href }), // fetched in any case, and this is small
    _loadSnapshot: new Uint8Array(), // that there is one; below it is restored
    createPyodideModule: async (settings) => {
      const about = await made;
      let first: Uint32Array | undefined;
      const instantiate = settings.instantiateWasm!;
      const instantiateWasm: typeof instantiate = (imports, receive) => {
        instantiateCompiled(compiled, imports);
        return instantiate(imports, (instance, module) => {
          first = beginning(instance.exports["memory"] as WebAssembly.Memory, about);
          receive(instance, module);
        });
      };
      const module = await (await script).default(Object.assign(settings, { instantiateWasm }));
      const pieces = await ready;
      const { API, HEAP8, HEAP32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET } = module as unknown as Inside;
      const { restoreSnapshot } = API;
      API.restoreSnapshot = () => {
        const take = taking(pieces.splice(0)); // Pyodide keeps hold of this function's surroundings: nothing large stays there
        const said = restoreSnapshot(take(new Uint8Array(about.head)));
        const trampoline = (__PyRuntime + HEAP32[__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4]!) / 4;
        const own = HEAP32[trampoline]!; // this engine's: that of the snapshot's may be another one, or none
        restore(take, first!, new Uint8Array(HEAP8.buffer, 0, about.memory));
        HEAP32[trampoline] = own;
        API.restoreSnapshot = restoreSnapshot;
        first = undefined;
        return said;
      };
      return module;
    },
  };
  const loading = runtime.then(({ loadPyodide }) => loadPyodide(options));
  const [pyodide] = await Promise.all([loading, ready, script, compiled]); // Pyodide itself might wait for ever
  if (inWorker) fetchLate(pyodide, new URL("python_stdlib.zip", folder));
  pyodide.runPython("import random\nrandom.seed()"); // it would be the same in every page
  return pyodide;
}

/** Pyodide would fetch and compile the same bytes once more: its next instantiation with `imports` gets `compiled`. */
function instantiateCompiled(compiled: Promise<WebAssembly.Module>, imports: WebAssembly.Imports): void {
  const streaming = WebAssembly.instantiateStreaming;
  const once: typeof streaming = async (response, given) => {
    if (given !== imports) return streaming(response, given);
    WebAssembly.instantiateStreaming = streaming;
    void Promise.resolve(response)
      .then(({ body }) => body?.cancel())
      .catch(quiet);
    const module = await compiled;
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
  WebAssembly.instantiateStreaming = once;
}

/** Only there may a request block, which a late import needs. */
const inWorker = "WorkerGlobalScope" in globalThis && "XMLHttpRequest" in globalThis;

/**
 * The snapshot has the modules that the package uses, and the list of all others: the standard library's archive is
 * fetched when one of those is imported.
 */
function fetchLate({ FS, ERRNO_CODES }: PyodideAPI, archive: URL): void {
  const { node } = FS.lookupPath("/lib/python314.zip");
  const { stream_ops } = node;
  const open = (): void => {
    const request = new XMLHttpRequest();
    request.open("GET", archive, false);
    request.responseType = "arraybuffer";
    try {
      request.send();
    } catch {
      // no network: its status is 0
    }
    if (request.status !== 200) throw new FS.ErrnoError(ERRNO_CODES["EIO"]);
    node.contents = new Uint8Array(request.response as ArrayBuffer);
    node.usedBytes = node.contents.length;
    node.stream_ops = stream_ops;
  };
  node.stream_ops = { ...stream_ops, open };
}

/** The snapshot's memory, if it was made by this very build. */
async function matching(
  snapshot: Promise<Snapshot>,
  said: Promise<Made>,
  runtime: Promise<Runtime>,
  lock: Promise<Uint8Array>,
): Promise<Uint8Array[]> {
  const [made, { version }, { sha256: sent, pieces }] = await Promise.all([said, runtime, snapshot]);
  if (made.pyodide !== version || made.lock !== (await sha256(await lock)) || made.sha256 !== sent) {
    pieces.length = 0; // whoever sent it may keep hold of it
    throw new Error("the snapshot is of another build");
  }
  return pieces;
}

/** Without 'wasm-unsafe-eval' Pyodide would never settle: ask the browser with the smallest module there is. */
function requireWebAssembly(): void {
  try {
    new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  } catch {
    throw new CavemanError(
      "cave_start_failed",
      "The Content-Security-Policy forbids WebAssembly. Add 'wasm-unsafe-eval' to script-src, in the response of " +
        "the page and of worker.js.",
    );
  }
}
