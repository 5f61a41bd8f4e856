/**
 * Tools and answers for Chrome's Prompt API, whose model asks and whose page answers:
 * `LanguageModel.create({ tools: promptAPITools(caveman), ...PROMPT_API_TOOL_USE })`
 */

import { answerCall, offered, type AdapterOptions, type HasTools, type Tool, type ToolAnswer } from "../tools.js";

export interface PromptAPITool extends Pick<Tool, "name" | "description" | "inputSchema"> {
  /** For browsers of the API's first draft, which call tools by themselves. */
  execute(args: object): Promise<string>;
}
/** A part of what `prompt()` gave, as far as it is read here. */
interface Part {
  readonly type: string;
  readonly value?: unknown;
}
interface ToolCall {
  readonly callID: string;
  readonly name: string;
  readonly arguments: object | null;
}
export interface PromptAPIToolResponse {
  type: "tool-response";
  /** The browser's LanguageModelToolSuccess or LanguageModelToolError. */
  value: object;
}

/** What a session must say beside its tools: that calls may come and answers go. */
export const PROMPT_API_TOOL_USE = {
  expectedInputs: [{ type: "text" }, { type: "tool-response" }],
  expectedOutputs: [{ type: "text" }, { type: "tool-call" }],
} as const;

/** `tools` of a session. */
export const promptAPITools = (caveman: HasTools, options: AdapterOptions = {}): PromptAPITool[] =>
  offered(caveman, options).map(({ name, description, inputSchema, execute }) => ({
    ...{ name, description, inputSchema },
    execute: (args) => execute(args, options),
  }));

/**
 * Answers to those tool calls in what `prompt()` gave that are for this package, as content of the next message:
 * `session.prompt([{ role: "user", content }])`. None where the model gave text.
 */
export async function promptAPIToolResponses(
  caveman: HasTools,
  reply: string | readonly Part[],
  options: AdapterOptions = {},
): Promise<PromptAPIToolResponse[]> {
  const responses: PromptAPIToolResponse[] = [];
  const calls = typeof reply === "string" ? [] : reply.filter(({ type }) => type === "tool-call");
  for (const { callID, name, arguments: args } of calls.map(({ value }) => value as ToolCall)) {
    const answer = await answerCall(caveman, name, args, options);
    if (answer) responses.push({ type: "tool-response", value: response({ callID, name }, answer) });
  }
  return responses;
}

type Made = new (given: object) => object;
/** Of the browser that gave the call: it takes no plain objects. */
const made = globalThis as unknown as { LanguageModelToolSuccess: Made; LanguageModelToolError: Made };

const response = (call: Pick<ToolCall, "callID" | "name">, { text, error }: ToolAnswer): object =>
  error
    ? new made.LanguageModelToolError({ ...call, errorMessage: text })
    : new made.LanguageModelToolSuccess({ ...call, result: [{ type: "text", value: text }] });
