/** The same incident with a model of the person's own: an OpenAI-compatible endpoint, or the one in the browser. */

import { openAIToolMessages, openAITools, type OpenAITool } from "../src/adapters/openai.js";
import { promptAPITools, promptAPIToolResponses, PROMPT_API_TOOL_USE } from "../src/adapters/prompt-api.js";
import { type Caveman } from "../src/index.js";
import { element, make, number, on } from "./dom.js";
import { recorded, REQUEST, shortened, STEPS, SYSTEM, TOOLS } from "./incident.js";

/** A model that calls tools for ever is stopped. */
const MOST_ROUNDS = 12;

interface ToolCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
  readonly tool_call_id?: string;
}
interface Completion {
  readonly choices: readonly { readonly message: Message }[];
  readonly usage?: { readonly prompt_tokens?: number };
}

const OFFERED = TOOLS.map(
  ({ name, description }): OpenAITool => ({
    type: "function",
    function: { name, description, parameters: { type: "object", properties: {} } },
  }),
);

const field = (id: string): string => element<HTMLInputElement>(id).value.trim();

/** The key stands in the form and in the request, and nowhere else. */
async function complete(messages: readonly Message[], tools: readonly OpenAITool[]): Promise<Completion> {
  const address = `${field("endpoint").replace(/\/+$/, "")}/chat/completions`;
  const key = field("key");
  const response = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model: field("model"), messages, tools }),
  });
  if (!response.ok) throw new Error(`The endpoint answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  return (await response.json()) as Completion;
}

/** What a recorded tool says, as the model gets it. */
async function said(caveman: Caveman, tool: string): Promise<string> {
  try {
    const output = await recorded(tool);
    return element<HTMLInputElement>("with-caveman").checked ? (await shortened(caveman, output, REQUEST)).text : output;
  } catch (thrown) {
    return `error: ${String(thrown)}`;
  }
}

async function converse(caveman: Caveman): Promise<void> {
  const log = element("conversation");
  log.replaceChildren();
  const session = crypto.randomUUID();
  const tools = [...OFFERED, ...openAITools(caveman)];
  const messages: Message[] = [
    { role: "system", content: SYSTEM },
    { role: "user", content: REQUEST },
  ];
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const { choices, usage } = await complete(messages, tools);
    const message = choices[0]?.message;
    if (!message) throw new Error("The endpoint answered without a message.");
    messages.push(message);
    const size = usage?.prompt_tokens;
    if (size !== undefined) log.append(make("li", { class: "note" }, `the endpoint counted ${number(size)} tokens of context`));
    const ours = new Map((await openAIToolMessages(caveman, message, { session })).map((answer) => [answer.tool_call_id, answer]));
    for (const { id, function: called } of message.tool_calls ?? []) {
      const answer = ours.get(id) ?? { role: "tool", tool_call_id: id, content: await said(caveman, called.name) };
      const { content } = answer;
      messages.push(answer);
      log.append(make("li", {}, make("code", {}, `${called.name}(${called.arguments})`), ` ${number(content.length)} characters`));
    }
    if (!message.tool_calls?.length) {
      log.append(make("li", { class: "answer" }, message.content ?? ""));
      return;
    }
  }
  throw new Error(`No answer after ${MOST_ROUNDS} rounds.`);
}

/** Chrome's Prompt API, where there is one. */
interface BrowserModel {
  create(options: object): Promise<{ prompt(input: string | object[]): Promise<Reply>; destroy(): void }>;
}
type Reply = string | readonly { readonly type: string; readonly value: unknown }[];

/** Not every browser's model can call tools. */
const options = (caveman: Caveman): object =>
  "LanguageModelToolCall" in globalThis
    ? { tools: promptAPITools(caveman), ...PROMPT_API_TOOL_USE }
    : { expectedOutputs: [{ type: "text", languages: ["en"] }] };

/** A small model has a small context: it gets the shortened outputs, which fit, all at once. */
async function askBrowser(model: BrowserModel, caveman: Caveman): Promise<void> {
  const log = element("conversation");
  log.replaceChildren();
  const session = await model.create(options(caveman));
  try {
    const outputs = await Promise.all(STEPS.map(async ({ tool, question }) => shortened(caveman, await recorded(tool), question)));
    let reply = await session.prompt([REQUEST, ...outputs.map(({ text }) => text)].join("\n\n"));
    for (let round = 1; round <= MOST_ROUNDS; round++) {
      const content = await promptAPIToolResponses(caveman, reply);
      if (content.length === 0) break;
      log.append(make("li", {}, make("code", {}, "caveman_retrieve"), ` asked ${content.length}×`));
      reply = await session.prompt([{ role: "user", content }]);
    }
    log.append(make("li", { class: "answer" }, written(reply)));
  } finally {
    session.destroy();
  }
}

const written = (reply: Reply): string =>
  typeof reply === "string" ? reply : reply.flatMap(({ type, value }) => (type === "text" ? [String(value)] : [])).join("");

export function listenToModels(caveman: Caveman): void {
  on("model-form", "submit", "The model is at work…", () => converse(caveman));
  element<HTMLButtonElement>("ask-model").disabled = false;
  const model = (globalThis as { LanguageModel?: BrowserModel }).LanguageModel;
  const button = element<HTMLButtonElement>("ask-browser");
  if (!model) return;
  button.hidden = false; // whether it can run it says when it is asked
  on("ask-browser", "click", "The browser’s model is at work…", () => askBrowser(model, caveman));
}
