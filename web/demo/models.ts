/** The same incident with a model of the person's own: an OpenAI-compatible endpoint, or the one in the browser. */

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

const parameters = (names: readonly string[]): object => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const described = (name: string, description: string, names: readonly string[]): object => ({
  type: "function",
  function: { name, description, parameters: parameters(names) },
});
const OFFERED = [
  ...TOOLS.map(({ name, description }) => described(name, description, [])),
  described("caveman_retrieve", "What a shortened output left out, narrowed to a question.", ["reference", "query"]),
];

const field = (id: string): string => element<HTMLInputElement>(id).value.trim();

/** The key stands in the form and in the request, and nowhere else. */
async function complete(messages: readonly Message[]): Promise<Completion> {
  const address = `${field("endpoint").replace(/\/+$/, "")}/chat/completions`;
  const key = field("key");
  const response = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) },
    body: JSON.stringify({ model: field("model"), messages, tools: OFFERED }),
  });
  if (!response.ok) throw new Error(`The endpoint answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  return (await response.json()) as Completion;
}

async function answered(caveman: Caveman, { name, arguments: given }: ToolCall["function"]): Promise<string> {
  try {
    const { reference = "", query = "" } = JSON.parse(given || "{}") as { reference?: string; query?: string };
    if (name === "caveman_retrieve") return await caveman.retrieveText(reference, query ? { query } : {});
    const output = await recorded(name);
    return element<HTMLInputElement>("with-caveman").checked ? (await shortened(caveman, output, REQUEST)).text : output;
  } catch (thrown) {
    return `error: ${String(thrown)}`;
  }
}

async function converse(caveman: Caveman): Promise<void> {
  const log = element("conversation");
  log.replaceChildren();
  const messages: Message[] = [
    { role: "system", content: SYSTEM },
    { role: "user", content: REQUEST },
  ];
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const { choices, usage } = await complete(messages);
    const message = choices[0]?.message;
    if (!message) throw new Error("The endpoint answered without a message.");
    messages.push(message);
    const size = usage?.prompt_tokens;
    if (size !== undefined) log.append(make("li", { class: "note" }, `the endpoint counted ${number(size)} tokens of context`));
    for (const { id, function: called } of message.tool_calls ?? []) {
      const content = await answered(caveman, called);
      messages.push({ role: "tool", tool_call_id: id, content });
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
  create(options: object): Promise<{ prompt(text: string): Promise<string>; destroy(): void }>;
}

/** A small model has a small context: it gets the shortened outputs, which fit, all at once. */
async function askBrowser(model: BrowserModel, caveman: Caveman): Promise<void> {
  const session = await model.create({ expectedOutputs: [{ type: "text", languages: ["en"] }] });
  try {
    const outputs = await Promise.all(STEPS.map(async ({ tool, question }) => shortened(caveman, await recorded(tool), question)));
    const said = await session.prompt([REQUEST, ...outputs.map(({ text }) => text)].join("\n\n"));
    element("conversation").replaceChildren(make("li", { class: "answer" }, said));
  } finally {
    session.destroy();
  }
}

export function listenToModels(caveman: Caveman): void {
  on("model-form", "submit", "The model is at work…", () => converse(caveman));
  element<HTMLButtonElement>("ask-model").disabled = false;
  const model = (globalThis as { LanguageModel?: BrowserModel }).LanguageModel;
  const button = element<HTMLButtonElement>("ask-browser");
  if (!model) return;
  button.hidden = false; // whether it can run it says when it is asked
  on("ask-browser", "click", "The browser’s model is at work…", () => askBrowser(model, caveman));
}
