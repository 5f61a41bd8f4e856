// What wasm.py asks of a JavaScript engine: the same code in Node and on a page in Chromium, bundled by wasm.py.
// `start` first; then any of `measure`, `crowd` and `large`. Times are milliseconds of the clock on the wall.
import * as gpt from "gpt-tokenizer/encoding/o200k_base";
import * as llmtrimParts from "../../web/node_modules/@llmtrim/js/llmtrim_wasm_bg.js";
import { forgetCounted, o200k } from "../../web/src/tokens.ts";

const inNode = typeof process === "object";
const ORDINARY = { disallowedSpecial: new Set() }; // <|endoftext|> in a payload is text
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
let base, caveman, forget, clock, sha256, llmtrim;

const tokens = (text) => gpt.countTokens(text, ORDINARY);

async function read(name) {
  const url = new URL(name, base);
  if (!inNode) return new Uint8Array(await (await fetch(url)).arrayBuffer());
  return new Uint8Array(await (await import("node:fs/promises")).readFile(url));
}

/** Our engine from the built folder at `url`: in Node on this thread, with clocks in it; on a page in its worker. */
export async function start(url) {
  base = url;
  llmtrim = await startLlmtrim();
  const { createCaveman } = await import(new URL("caveman.js", base).href);
  if (!inNode) {
    const channel = new BroadcastChannel("cold");
    forget = () => new Promise((done) => ((channel.onmessage = done), channel.postMessage("forget")));
    sha256 = (bytes) => crypto.subtle.digest("SHA-256", bytes);
    caveman = await createCaveman({ baseURL: new URL("cold/", base) });
    return { engine: navigator.userAgent, isolated: crossOriginIsolated };
  }
  const { createHash } = await import("node:crypto");
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", base).href);
  sha256 = (bytes) => createHash("sha256").update(bytes).digest();
  forget = forgetCounted;
  const pyodide = await loadPyodide({ indexURL: new URL("pyodide/", base).pathname });
  caveman = await createCaveman({ pyodide, counter: o200k });
  pyodide.runPython(`${utf8.decode(await read("stages.py"))}\nclock = instrument()\n`);
  clock = pyodide.globals.get("clock");
  return { engine: `Node ${process.version}` };
}

async function startLlmtrim() {
  const code = await read("llmtrim.wasm");
  const { instance } = await WebAssembly.instantiate(code, { "./llmtrim_wasm_bg.js": llmtrimParts });
  llmtrimParts.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start?.();
  return (body) => llmtrimParts.compress(body, "openai", "agent");
}

/** An agent's request whose one tool message is `text`. */
const request = (text) => ({
  model: "gpt-4o",
  messages: [
    { role: "user", content: "Look." },
    { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "run", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: text },
  ],
});
const contents = ({ messages }) => messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content ?? ""))).join("\n");

async function timed(work) {
  const began = performance.now();
  const made = await work();
  return [performance.now() - began, made];
}

const parses = (text) => {
  try {
    return [JSON.parse(text)].length === 1;
  } catch {
    return false;
  }
};

/**
 * Of the file `name` (and `name`.cut, its text with long runs cut, on which the yardstick's tokenizer is quadratic):
 * `repeats` samples, each the mean of `runs` cold runs of everything in turn. Code is warm, what was remembered of
 * texts is not: merge caches are emptied, the store too. Retrieval is timed after all else, beside yardsticks of its own:
 * what was retrieved is not shortened again.
 */
export async function measure({ name, repeats, runs, query, selector }) {
  const payload = await read(name);
  const text = utf8.decode(payload);
  const cut = utf8.decode(await read(`${name}.cut`));
  const isJSON = parses(text);
  const asked = request(text);
  const body = JSON.stringify(asked);
  const yardstick = async () => {
    tokens(cut);
    await sha256(payload);
    if (isJSON) JSON.parse(text);
  };
  let said, trimmed;
  const compressing = async (add) => {
    gpt.clearMergeCache();
    await add("yardstick", yardstick);
    await forget();
    await caveman.clear();
    clock?.start();
    said = await add("compress", () => caveman.compress(payload));
    for (const [stage, seconds] of stages()) add(stage, 1e3 * seconds);
    try {
      trimmed = await add("llmtrim", () => llmtrim(body));
    } catch (thrown) {
      trimmed = { failed: String(thrown) };
    }
  };
  const retrieving = async (add) => {
    gpt.clearMergeCache();
    await add("yardstick", yardstick);
    const back = await add("whole", () => caveman.retrieve(said.recoveryHandle));
    if (back.length !== payload.length || back.some((byte, at) => byte !== payload[at])) throw new Error(`${name}: not exact`);
    await add("narrowed", () => caveman.retrieveText(said.recoveryHandle, { query }));
    await add("selected", () => caveman.retrieve(`ccr://${said.recoveryHandle}#${selector}`));
  };
  const compress = await sampled(repeats, runs, compressing);
  const { contentType, reason, tokensBefore, tokensAfter } = said;
  const retrieve = said.recoveryHandle ? await sampled(repeats, runs, retrieving) : [];
  const theirs = trimmed.failed ? null : tokens(contents(JSON.parse(trimmed.request_json))) / tokens(contents(asked));
  const kept = { caveman: tokensAfter / tokensBefore, llmtrim: theirs };
  return { bytes: payload.length, contentType, reason, kept, llmtrimFailed: trimmed.failed ?? null, compress, retrieve };
}

/** Milliseconds by name, means over `runs`; of `repeats` samples and one before them that is thrown away. */
async function sampled(repeats, runs, work) {
  const samples = [];
  for (let repeat = -1; repeat < repeats; repeat++) {
    const sample = {};
    const add = async (what, given) => {
      const [took, made] = typeof given === "number" ? [given] : await timed(given);
      sample[what] = (sample[what] ?? 0) + took / runs;
      return made;
    };
    for (let run = 0; run < runs; run++) await work(add);
    if (repeat >= 0) samples.push(sample);
  }
  return samples;
}

function stages() {
  const spent = clock?.stop();
  const found = spent?.toJs({ dict_converter: Object.fromEntries }) ?? {};
  spent?.destroy();
  return Object.entries(found);
}

const longTasks = async (work) => {
  const seen = [0];
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: "longtask" });
  const made = await work();
  await new Promise((done) => setTimeout(done, 300)); // entries come after their task
  observer.disconnect();
  return { ...made, longestTask: Math.max(...seen) };
};

/** Many small payloads (a JSON list of texts in the file `name`), one after another and all at once: milliseconds of each. */
export async function crowd({ name }) {
  const payloads = JSON.parse(utf8.decode(await read(name))).map((text) => new TextEncoder().encode(text));
  const each = async (payload) => (await timed(() => caveman.compress(payload)))[0];
  for (const payload of payloads.slice(0, 50)) await each(payload); // warm code
  const inTurn = async () => {
    const took = [];
    for (const payload of payloads) took.push(await each(payload));
    return took;
  };
  const out = {};
  for (const [how, work] of [["in turn", inTurn], ["at once", () => Promise.all(payloads.map(each))]]) {
    await forget();
    await caveman.clear();
    out[how] = await longTasks(async () => {
      const [total, latencies] = await timed(work);
      return { total, latencies };
    });
  }
  return out;
}

/**
 * What a small payload waits behind five large ones (a JSON list of six texts in the file `name`, the small one last), and how long a call
 * that waits and one that runs still take when they are given up: milliseconds, each time `repeats` times.
 */
export async function turns({ name, repeats }) {
  const [small, ...large] = JSON.parse(utf8.decode(await read(name))).map((text) => new TextEncoder().encode(text)).reverse();
  const each = async (payload, options) => (await timed(() => caveman.compress(payload, options).catch(() => {})))[0];
  const samples = [];
  for (let repeat = -1; repeat < repeats; repeat++) {
    const sample = { large: 0 };
    await caveman.clear();
    for (const payload of large) sample.large += (await each(payload)) / large.length;
    await caveman.clear();
    sample.alone = await each(small);
    await caveman.clear();
    const before = large.map((payload) => each(payload));
    sample.behind = await each(small);
    sample.all = await timed(() => Promise.all(before)).then(([took]) => sample.behind + took);
    for (const [how, ahead] of [["running", []], ["waiting", large]]) {
      const controller = new AbortController();
      const calls = [...ahead, large[0]].map((payload, at) => caveman.compress(payload, at === ahead.length ? { signal: controller.signal } : {}));
      await new Promise((done) => setTimeout(done, 5));
      [sample[how]] = await timed(() => (controller.abort(), calls.at(-1).catch(() => {})));
      [sample[`after ${how}`]] = await timed(() => Promise.allSettled([...calls, caveman.detect(small)]));
    }
    if (repeat >= 0) samples.push(sample);
  }
  return samples;
}

/** One large file through the page's worker and back, and the longest task of the page's own thread in either call. */
export async function large({ name }) {
  const payload = await read(name);
  const compress = await longTasks(async () => {
    const [took, said] = await timed(() => caveman.compress(payload));
    return { took, said };
  });
  const { recoveryHandle, contentType, reason, output } = compress.said;
  const retrieve = await longTasks(async () => ({ back: recoveryHandle ? await caveman.retrieve(recoveryHandle) : output }));
  await caveman.clear();
  const hex = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join();
  const exact = (await hex(payload)) === (await hex(retrieve.back));
  const longest = { compress: compress.longestTask, retrieve: retrieve.longestTask };
  return { bytes: payload.length, took: compress.took, contentType, reason, exact, kept: output.length / payload.length, longest };
}

const calls = { start, measure, crowd, turns, large };
if (inNode) {
  // A line of JSON in, [name, argument]; a line of JSON out.
  const { createInterface } = await import("node:readline");
  for await (const line of createInterface({ input: process.stdin })) {
    const [call, argument] = JSON.parse(line);
    process.stdout.write(`${JSON.stringify(await calls[call](argument))}\n`);
  }
}
