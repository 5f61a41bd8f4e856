// Tools for models, each through the real library. The models are fakes: they say what they are told to say.
import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { HumanMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { functionCallingModelIds, ModelType, postInitAndCheckFieldsChatCompletion } from "@mlc-ai/web-llm";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import OpenAI from "openai";
import { aiSDKTools } from "caveman-wasm/adapters/ai-sdk";
import { anthropicToolResults, anthropicTools } from "caveman-wasm/adapters/anthropic";
import { langChainTools } from "caveman-wasm/adapters/langchain";
import {
  openAIResponsesOutputs,
  openAIResponsesTools,
  openAIToolMessages,
  openAITools,
} from "caveman-wasm/adapters/openai";
import { promptAPIToolResponses, promptAPITools } from "caveman-wasm/adapters/prompt-api";
import { webLLMToolMessages, webLLMTools } from "caveman-wasm/adapters/web-llm";
import { LOG, UNKNOWN, caveman, stored } from "./caveman.mjs";

const handle = await stored();
const [row] = caveman.tools;
const ALL = caveman.tools.map(({ name }) => name);
const session = () => ({ session: crypto.randomUUID() });

test("models get retrieve alone, and all only when asked", () => {
  const names = {
    "AI SDK": (options) => Object.keys(aiSDKTools(caveman, options)),
    LangChain: (options) => langChainTools(caveman, options).map(({ name }) => name),
    "OpenAI": (options) => openAITools(caveman, options).map((tool) => tool.function.name),
    "OpenAI Responses": (options) => openAIResponsesTools(caveman, options).map(({ name }) => name),
    Anthropic: (options) => anthropicTools(caveman, options).map(({ name }) => name),
    WebLLM: (options) => webLLMTools(caveman, options).map((tool) => tool.function.name),
    "Prompt API": (options) => promptAPITools(caveman, options).map(({ name }) => name),
  };
  for (const [library, of] of Object.entries(names)) {
    assert.deepEqual(of(undefined), ["caveman_retrieve"], library);
    assert.deepEqual(of({ all: true }), ALL, library);
  }
});

test("AI SDK: a model that asks is answered within generateText", async () => {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const call = { type: "tool-call", toolCallId: "1", toolName: "caveman_retrieve", input: JSON.stringify({ reference: handle }) };
  const turns = [
    { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] },
    { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
  ];
  const model = new MockLanguageModelV4({ doGenerate: async () => turns.shift() });
  const { text, steps } = await generateText({
    model,
    tools: aiSDKTools(caveman, session()),
    prompt: "what happened?",
    stopWhen: isStepCount(2),
  });
  assert.equal(text, "done");
  assert.equal(steps[0].toolResults[0].output, LOG);
  const [offer] = model.doGenerateCalls[0].tools;
  assert.deepEqual([offer.name, offer.description, offer.inputSchema], [row.name, row.description, row.inputSchema]);
  const sent = model.doGenerateCalls[1].prompt.at(-1).content[0];
  assert.deepEqual(sent.output, { type: "text", value: LOG });
});

test("LangChain: a tool call becomes a tool message", async () => {
  const [tool] = langChainTools(caveman, session());
  const asked = { type: "tool_call", id: "c1", name: "caveman_retrieve", args: { reference: handle } };
  const message = await tool.invoke(asked);
  assert.deepEqual([message.getType(), message.tool_call_id, message.content], ["tool", "c1", LOG]);
  const unknown = await tool.invoke({ ...asked, args: { reference: UNKNOWN } });
  assert.match(unknown.content, /^cave_unknown_handle: /);
  assert.deepEqual(convertToOpenAITool(tool).function.parameters, row.inputSchema);
  const model = new FakeListChatModel({ responses: ["done"] });
  assert.equal((await model.invoke([new HumanMessage("and?"), message])).content, "done");
});

/** A fake service: gives these bodies one after the other and keeps what it was sent. */
function fakeFetch(...bodies) {
  const sent = [];
  const fetch = async (_, { body }) => {
    sent.push(JSON.parse(body));
    return Response.json(bodies.shift());
  };
  return { sent, client: { apiKey: "none", fetch, maxRetries: 0, dangerouslyAllowBrowser: true } };
}
const asking = (id, name, args) => ({ id, type: "function", function: { name, arguments: args } });

test("OpenAI: tool calls of ours are answered, others left", async () => {
  const tool_calls = [
    asking("a", "caveman_retrieve", JSON.stringify({ reference: handle })),
    asking("b", "read_file", "{}"),
    asking("c", "caveman_retrieve", "{broken"),
    asking("d", "caveman_stats", "{}"),
  ];
  const { sent, client } = fakeFetch(
    { choices: [{ message: { role: "assistant", content: null, tool_calls } }] },
    { choices: [{ message: { role: "assistant", content: "done" } }] },
  );
  const openai = new OpenAI(client);
  const messages = [{ role: "user", content: "what happened?" }];
  const first = await openai.chat.completions.create({ model: "fake", messages, tools: openAITools(caveman) });
  messages.push(first.choices[0].message, ...(await openAIToolMessages(caveman, first.choices[0].message, session())));
  const second = await openai.chat.completions.create({ model: "fake", messages });
  assert.equal(second.choices[0].message.content, "done");
  assert.deepEqual(sent[0].tools[0].function, { name: row.name, description: row.description, parameters: row.inputSchema });
  const [, , a, c, d] = sent[1].messages;
  assert.deepEqual(a, { role: "tool", tool_call_id: "a", content: LOG });
  assert.equal(c.tool_call_id, "c");
  assert.match(c.content, /^cave_invalid_arguments: /);
  assert.match(d.content, /^cave_invalid_arguments: caveman_stats is not offered here/);
  assert.equal(sent[1].messages.length, 5);
});

test("OpenAI Responses: function calls of ours are answered", async () => {
  const call = { type: "function_call", call_id: "a", name: "caveman_retrieve", arguments: JSON.stringify({ reference: handle }) };
  const { sent, client } = fakeFetch({ output: [{ type: "reasoning", summary: [] }, call] }, { output: [] });
  const openai = new OpenAI(client);
  const first = await openai.responses.create({ model: "fake", input: "what?", tools: openAIResponsesTools(caveman) });
  const outputs = await openAIResponsesOutputs(caveman, first.output, session());
  await openai.responses.create({ model: "fake", input: outputs });
  assert.deepEqual(sent[0].tools[0].parameters, row.inputSchema);
  assert.deepEqual(sent[1].input, [{ type: "function_call_output", call_id: "a", output: LOG }]);
});

test("Anthropic: tool uses of ours become result blocks", async () => {
  const content = [
    { type: "text", text: "let me look" },
    { type: "tool_use", id: "a", name: "caveman_retrieve", input: { reference: handle } },
    { type: "tool_use", id: "b", name: "bash", input: {} },
    { type: "tool_use", id: "c", name: "caveman_retrieve", input: { reference: UNKNOWN } },
  ];
  const { sent, client } = fakeFetch({ role: "assistant", content }, { role: "assistant", content: [] });
  const anthropic = new Anthropic(client);
  const base = { model: "fake", max_tokens: 100 };
  const question = { role: "user", content: "what happened?" };
  const first = await anthropic.messages.create({ ...base, messages: [question], tools: anthropicTools(caveman) });
  const results = await anthropicToolResults(caveman, first, session());
  await anthropic.messages.create({ ...base, messages: [question, { role: "assistant", content: first.content }, { role: "user", content: results }] });
  assert.deepEqual(sent[0].tools, [{ name: row.name, description: row.description, input_schema: row.inputSchema }]);
  const [a, c] = sent[1].messages[2].content;
  assert.deepEqual(a, { type: "tool_result", tool_use_id: "a", content: LOG });
  assert.deepEqual([c.tool_use_id, c.is_error], ["c", true]);
  assert.match(c.content, /^cave_unknown_handle: /);
});

// WebLLM's models need a GPU and their weights: the engine is a fake, the check of what it is sent the library's own.
test("WebLLM (faked engine): OpenAI's shapes, as the library checks them", async () => {
  const create = async (request) => {
    const checked = { ...request, messages: [...request.messages] };
    postInitAndCheckFieldsChatCompletion(checked, functionCallingModelIds[0], ModelType.LLM);
    assert.ok(checked.messages[0].content.includes(JSON.stringify(request.tools))); // they went into its system prompt
    if (request.messages.length > 1) return { content: "done" };
    return { role: "assistant", content: null, tool_calls: [asking("0", request.tools[0].function.name, JSON.stringify({ reference: handle }))] };
  };
  const tools = webLLMTools(caveman);
  const messages = [{ role: "user", content: "what happened?" }];
  messages.push(await create({ messages, tools }));
  messages.push(...(await webLLMToolMessages(caveman, messages[1], session())));
  assert.deepEqual(messages[2], { role: "tool", tool_call_id: "0", content: LOG });
  assert.equal((await create({ messages, tools })).content, "done");
});

// The model and its classes are fakes; test_prompt_api.py has Chromium's own classes.
test("Prompt API (faked LanguageModel): calls of ours are answered, others left", async () => {
  for (const name of ["LanguageModelToolSuccess", "LanguageModelToolError"]) {
    globalThis[name] = class { constructor(given) { Object.assign(this, given, { kind: name }); } };
  }
  const asking = (callID, name, args) => ({ type: "tool-call", value: { callID, name, arguments: args } });
  const reply = [
    { type: "text", value: "let me look" },
    asking("a", "caveman_retrieve", { reference: handle }),
    asking("b", "read_file", {}),
    asking("c", "caveman_retrieve", { reference: UNKNOWN }),
    asking("d", "caveman_retrieve", null),
  ];
  const [a, c, d, ...more] = await promptAPIToolResponses(caveman, reply, session());
  assert.deepEqual([a.type, { ...a.value }], ["tool-response", { kind: "LanguageModelToolSuccess", callID: "a", name: "caveman_retrieve", result: [{ type: "text", value: LOG }] }]);
  assert.deepEqual([c.value.kind, c.value.callID], ["LanguageModelToolError", "c"]);
  assert.match(c.value.errorMessage, /^cave_unknown_handle: /);
  assert.match(d.value.errorMessage, /^cave_invalid_arguments: /);
  assert.deepEqual(more, []);
  assert.deepEqual(await promptAPIToolResponses(caveman, "done"), []);
});

test("Prompt API (faked LanguageModel of its first draft): the session calls the tool by itself", async () => {
  const FakeLanguageModel = {
    create: async ({ tools: [tool] }) => ({ prompt: async (text) => tool.execute({ reference: text }) }),
  };
  const model = await FakeLanguageModel.create({ tools: promptAPITools(caveman, session()) });
  assert.equal(await model.prompt(handle), LOG);
  assert.match(await model.prompt(UNKNOWN), /^cave_unknown_handle: /);
});

test("each conversation has questions of its own", async () => {
  const ask = async (options) => (await openAIToolMessages(caveman, { tool_calls: [asking("a", "caveman_retrieve", JSON.stringify({ reference: handle }))] }, options))[0].content;
  const [one, other] = [session(), session()];
  assert.equal(await ask(one), LOG);
  assert.match(await ask(one), /\[caveman: This was asked before/);
  assert.equal(await ask(other), LOG);
});
