// compressMessages and wrapTool: the golden conversations of tests/conversations, and what only JavaScript has.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { createCaveman } from "caveman-wasm";
import { aiSDKTools } from "caveman-wasm/adapters/ai-sdk";
import { jsonSchema, tool } from "ai";
import { LOG, caveman } from "./caveman.mjs";

const FOLDER = new URL("../../tests/conversations/", import.meta.url);
const TOOLS = ["caveman_retrieve"];
const pair = (gave, name = "read_log") => [
  { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name, arguments: "{}" } }] },
  { role: "tool", tool_call_id: "1", content: gave },
];

const golden = (file) => JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith(".json"))) {
  test(`golden conversation ${file}`, async () => {
    const { messages, tools, exempt, compressed } = golden(file);
    const before = JSON.stringify(messages);
    const after = await caveman.compressMessages(messages, { tools, exempt });
    assert.deepEqual(after, compressed);
    assert.equal(JSON.stringify(after), JSON.stringify(compressed)); // the order of keys too
    assert.equal(JSON.stringify(messages), before);
    const again = await caveman.compressMessages(after, { tools, exempt });
    assert.ok(again.every((message, at) => message === after[at]));
  });

  test(`golden conversation ${file} under other options`, async () => {
    const { messages, tools, exempt, compressed, cases } = golden(file);
    assert.deepEqual([cases[0].changed, cases.at(-1).changed], [[], []]); // without the retrieve tool; all sent already
    for (const { options, changed } of cases) {
      const after = await caveman.compressMessages(messages, { tools, exempt, ...options });
      after.forEach((message, at) =>
        changed.includes(at) ? assert.deepEqual(message, compressed[at]) : assert.equal(message, messages[at]),
      );
    }
  });

  test(`golden conversation ${file} turn by turn: what has gone out stays, byte for byte, whatever was retrieved`, async () => {
    const { messages, tools, exempt, compressed } = golden(file);
    const handles = [];
    const onResult = (_, { recoveryHandle }) => recoveryHandle && handles.push(recoveryHandle);
    let kept = [];
    for (let turn = 1; turn <= messages.length; turn++) {
      const replayed = await caveman.compressMessages(messages.slice(0, turn), { tools, exempt, onResult });
      kept = await caveman.compressMessages([...kept, messages[turn - 1]], { tools, exempt });
      const expected = JSON.stringify(compressed.slice(0, turn));
      assert.equal(JSON.stringify(replayed), expected);
      assert.equal(JSON.stringify(kept), expected);
      for (const handle of handles.splice(0)) await caveman.retrieve(handle);
    }
  });
}

test("wrapTool gives what the golden conversation has", async () => {
  const { messages, tools, exempt, compressed } = golden("openai.json");
  let wrapped = 0;
  for (const [at, { role, content }] of messages.entries()) {
    const name = messages[at - 1]?.tool_calls?.[0].function.name;
    if (role !== "tool" || !name || typeof content !== "string") continue;
    assert.equal(await caveman.wrapTool(() => content, { name, tools, exempt })(), compressed[at].content, name);
    wrapped++;
  }
  assert.equal(wrapped, 7);
});

test("what is not shortened is the same object, whatever is in it", async () => {
  const user = { role: "user", content: [{ type: "image", image: new Uint8Array(9), at: new URL("https://a.example/"), big: 10n }] };
  const [call, result] = pair(LOG);
  const after = await caveman.compressMessages([user, call, result], { tools: TOOLS });
  assert.equal(after[0], user);
  assert.equal(after[1], call);
  assert.match(after[2].content, /entries elided/);
  assert.equal(result.content, LOG);
});

test("each option has its effect", async () => {
  const run = async (options) => (await caveman.compressMessages(pair(LOG), { tools: TOOLS, ...options }))[1].content;
  assert.notEqual(await run({}), LOG);
  assert.notEqual(await run({ tools: aiSDKTools(caveman) }), LOG);
  assert.equal(await run({ tools: [] }), LOG);
  assert.equal(await run({ exempt: ["read_log"] }), LOG);
  assert.equal(await run({ sent: 2 }), LOG);
  const told = [];
  await run({ onResult: (tool, report) => told.push([tool, report.reason, report.persisted]) });
  assert.deepEqual(told, [["read_log", null, false]]);
});

test("wrong arguments are refused, and what fails leaves the text", async () => {
  const refused = (call) => assert.rejects(call, { name: "CavemanError", code: "cave_invalid_arguments" });
  await refused(caveman.compressMessages("text", { tools: TOOLS }));
  await refused(caveman.compressMessages([]));
  await refused(caveman.compressMessages([], { tools: "caveman_retrieve" }));
  await refused(caveman.compressMessages([], { tools: TOOLS, sent: -1 }));
  await refused(caveman.compressMessages([], { tools: TOOLS, exempt: "read_log" }));
  const full = await createCaveman({ inline: true, maxBytes: 10 });
  const told = [];
  const messages = pair(LOG);
  const after = await full.compressMessages(messages, { tools: TOOLS, onResult: (_, report) => told.push(report.error) });
  assert.equal(after[1], messages[1]);
  assert.deepEqual(told, ["cave_ccr_budget_exceeded"]);
});

test("JSON is kept as JavaScript writes it, by either way", async () => {
  const value = Array.from({ length: 200 }, (_, id) => ({ id, share: 0.00001 * (id + 1), big: 1e21, text: "\ud800 ü" }));
  const result = { type: "tool-result", toolCallId: "1", toolName: "list", output: { type: "json", value } };
  const [{ content: [{ output }] }] = await caveman.compressMessages([{ role: "tool", content: [result] }], { tools: TOOLS });
  assert.equal(output.type, "text");
  assert.equal(output.value, await caveman.wrapTool(() => value, { name: "list", tools: TOOLS })());
  const [, handle] = /<<ccr:(ccr_[0-9a-f]{32})>>/.exec(output.value);
  assert.equal(await caveman.retrieveText(handle), JSON.stringify(value));
});

test("wrapTool: a function", async () => {
  const readLog = caveman.wrapTool(async function read_log(lines) { return LOG.slice(0, lines); }, { tools: TOOLS });
  assert.match(await readLog(LOG.length), /entries elided/);
  assert.equal(await readLog(40), LOG.slice(0, 40));
  const exempt = caveman.wrapTool(() => LOG, { name: "read_file", tools: TOOLS, exempt: ["read_file"] });
  assert.equal(await exempt(), LOG);
  assert.equal(await caveman.wrapTool(() => LOG, { name: "caveman_retrieve", tools: TOOLS })(), LOG);
  const later = [];
  const filled = caveman.wrapTool(() => LOG, { name: "read_log", tools: later });
  assert.equal(await filled(), LOG);
  later.push("caveman_retrieve");
  assert.notEqual(await filled(), LOG);
  assert.throws(() => caveman.wrapTool(() => LOG, { tools: TOOLS }), { code: "cave_invalid_arguments" });
  const bytes = new Uint8Array(9);
  assert.equal(await caveman.wrapTool(() => bytes, { name: "t", tools: TOOLS })(), bytes);
  await assert.rejects(caveman.wrapTool(() => { throw new RangeError("its own"); }, { name: "t", tools: TOOLS })(), RangeError);
});

test("wrapTool: the AI SDK's tool, objects as the text of their JSON", async () => {
  const orders = Array.from({ length: 300 }, (_, id) => ({ id, state: id % 9 ? "paid" : "open" }));
  const mine = tool({ description: "d", inputSchema: jsonSchema({ type: "object", properties: {} }), execute: async () => orders });
  const wrapped = caveman.wrapTool(mine, { name: "list_orders", tools: TOOLS });
  assert.equal(wrapped.description, "d");
  const text = await wrapped.execute({}, { toolCallId: "1", messages: [] });
  const [, handle] = /<<ccr:(ccr_[0-9a-f]{32})>>/.exec(text);
  assert.equal(await caveman.retrieveText(handle), JSON.stringify(orders));
});
