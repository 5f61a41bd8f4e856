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

export interface Booted {
  readonly pyodide: PyodideAPI;
  readonly snapshot: boolean;
}

type Runtime = typeof import("pyodide");

/** What web/snapshot.mjs wrote beside the snapshot: what it was made with, and its own hash. */
interface Made {
  readonly pyodide: string;
  /** SHA-256 of pyodide-lock.json, which names the wheel by its hash. */
  readonly lock: string;
  readonly sha256: string;
  /** How many bytes are sent, and how many of Pyodide's own come before the memory. */
  readonly packed: number;
  readonly head: number;
  /** How many bytes of memory it makes, and after how many of those all is zero when the WebAssembly begins. */
  readonly memory: number;
  readonly data: number;
}

/** Is told how much of the snapshot has arrived. */
type Progress = (loaded: number, total: number) => void;

const quiet = (): void => {};

/** The wheel's file name, put in by build.mjs. */
declare const WHEEL: string;

/** Pyodide from `baseURL`'s folder pyodide/, or `running` with the package in it. Rejects with `cave_start_failed`. */
export async function boot(baseURL: string, progress: Progress, running?: PyodideAPI): Promise<Booted> {
  requireWebAssembly();
  const folder = new URL("pyodide/", baseURL);
  try {
    if (running) return { pyodide: await equipped(running, folder), snapshot: false };
    const compiled = compile(new URL("pyodide.asm.wasm", folder));
    const runtime = import(/* @vite-ignore */ new URL("pyodide.mjs", folder).href) as Promise<Runtime>;
    const restored = !inFiles(folder) && (await fromSnapshot(runtime, folder, compiled, progress).catch(quiet));
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
  progress: Progress,
): Promise<PyodideAPI> {
  const script = import(/* @vite-ignore */ new URL("pyodide.asm.mjs", folder).href) as Promise<{ default: CreateModule }>;
  const madeURL = new URL("snapshot.json", folder);
  const made = bytes(madeURL).then((json) => JSON.parse(text(json)) as Made);
  const lock = bytes(new URL("pyodide-lock.json", folder));
  const gunzip = new DecompressionStream("gzip");
  const packed = arriving(fetched(new URL("snapshot.bin", folder)), made, gunzip.writable.getWriter(), progress);
  const unpacked = all(gunzip.readable);
  const ready = Promise.all([unpacked, requireMatch(made, runtime, lock, packed)]); // used only if both succeed
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
      const [snapshot] = await ready;
      const { API, HEAP8, HEAP32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET } = module as unknown as Inside;
      const { restoreSnapshot } = API;
      API.restoreSnapshot = () => {
        const take = taking(snapshot.splice(0)); // Pyodide keeps hold of this function's surroundings: nothing large stays there
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

/** Makes the memory as large as the snapshot's, and tells what it begins with; what follows is zero. */
function beginning(own: WebAssembly.Memory, { memory, data }: Made): Uint32Array {
  const more = memory - own.buffer.byteLength;
  if (more > 0) own.grow(more / 65_536);
  return new Uint32Array(own.buffer.slice(0, data));
}

const PAGE = 1024;

/**
 * Makes `memory` the snapshot's, which is written as its difference from what was `first` there, of those pages that have
 * one (see snapshot.mjs). What is zero already is left alone: it takes no memory before it is written to.
 */
function restore(take: Take, first: Uint32Array, memory: Uint8Array<ArrayBuffer>): void {
  const differs = take(new Uint8Array(memory.length / PAGE));
  for (let page = 0, end; page < differs.length; page = end) {
    for (end = page + 1; differs[end] === differs[page]; ) end++;
    const run = memory.subarray(page * PAGE, end * PAGE);
    if (differs[page]) take(run);
    else clear(new Uint32Array(run.buffer, run.byteOffset, run.length / 4));
  }
  const begun = new Uint32Array(memory.buffer, 0, first.length);
  for (let at = 0; at < first.length; at++) begun[at]! ^= first[at]!;
}

function clear(words: Uint32Array): void {
  for (let at = 0; at < words.length; at++) if (words[at] !== 0) words[at] = 0;
}

/** Fills `room` with what comes next. */
type Take = (room: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;

function taking(pieces: readonly Uint8Array[]): Take {
  let number = 0;
  let from = 0;
  return (room) => {
    for (let at = 0; at < room.length; ) {
      const part = pieces[number]!.subarray(from, from + room.length - at);
      room.set(part, at);
      at += part.length;
      from += part.length;
      if (from === pieces[number]!.length) [number, from] = [number + 1, 0];
    }
    return room;
  };
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

async function requireMatch(
  said: Promise<Made>,
  runtime: Promise<Runtime>,
  lock: Promise<Uint8Array>,
  packed: Promise<Uint8Array>,
): Promise<void> {
  const [made, { version }] = await Promise.all([said, runtime]);
  const right =
    made.pyodide === version && made.lock === (await sha256(await lock)) && made.sha256 === (await sha256(await packed));
  if (!right) throw new Error("the snapshot is of another build");
}

async function fetched(url: URL): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: ${response.status}`);
  return response;
}

const bytes = async (url: URL): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await (await fetched(url)).arrayBuffer());

/** What was sent, whole; each piece goes on to `unpacking` as it arrives. */
async function arriving(
  sent: Promise<Response>,
  made: Promise<Made>,
  unpacking: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
  progress: Progress,
): Promise<Uint8Array<ArrayBuffer>> {
  const [{ body }, { packed: total }] = await Promise.all([sent, made]);
  let loaded = 0;
  const pieces = await all(body!, (piece) => {
    unpacking.write(piece).catch(quiet); // who reads there is told
    progress((loaded += piece.length), total);
  });
  unpacking.close().catch(quiet);
  return taking(pieces)(new Uint8Array(total));
}

/** All of a stream; `took` is told of each piece. */
async function all(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  took = quiet as (piece: Uint8Array<ArrayBuffer>) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    took(next.value);
  }
  return pieces;
}

const text = (utf8: Uint8Array): string => new TextDecoder().decode(utf8);

async function sha256(data: Uint8Array<ArrayBufferLike>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
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
