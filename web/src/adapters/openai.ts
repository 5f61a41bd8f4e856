/** Tools and answers for OpenAI's Chat Completions and Responses, and for whatever speaks them. */

import { answerCall, offered, parsedArguments, type AdapterOptions, type HasTools } from "../tools.js";

type Schema = Record<string, unknown>;

export interface OpenAITool {
  type: "function";
  function: { name: string; description: string; parameters: Schema };
}
export interface OpenAIToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}
/** An assistant's message, as far as it is read here. */
interface Asking {
  readonly tool_calls?: readonly object[] | null | undefined;
}
interface ToolCall {
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** `tools` of a Chat Completions request. */
export const openAITools = (caveman: HasTools, options: AdapterOptions = {}): OpenAITool[] =>
  offered(caveman, options).map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: structuredClone(inputSchema) as unknown as Schema },
  }));

/** The answers to those tool calls of an assistant's message that are for this package; the others are the caller's. */
export async function openAIToolMessages(
  caveman: HasTools,
  message: Asking,
  options: AdapterOptions = {},
): Promise<OpenAIToolMessage[]> {
  const calls = (message.tool_calls ?? []) as readonly ToolCall[];
  const messages: OpenAIToolMessage[] = [];
  for (const { id, function: called } of calls) {
    const answer = called && (await answerCall(caveman, called.name, parsedArguments(called.arguments), options));
    if (answer) messages.push({ role: "tool", tool_call_id: id, content: answer.text });
  }
  return messages;
}

export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Schema;
  strict: false;
}
export interface OpenAIResponsesOutput {
  type: "function_call_output";
  call_id: string;
  output: string;
}
interface Item {
  readonly type: string;
}
interface FunctionCall extends Item {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

/** `tools` of a Responses request. */
export const openAIResponsesTools = (caveman: HasTools, options: AdapterOptions = {}): OpenAIResponsesTool[] =>
  openAITools(caveman, options).map(({ type, function: said }) => ({ type, ...said, strict: false }));

/** The answers to those function calls in a response's output that are for this package. */
export async function openAIResponsesOutputs(
  caveman: HasTools,
  output: readonly Item[],
  options: AdapterOptions = {},
): Promise<OpenAIResponsesOutput[]> {
  const outputs: OpenAIResponsesOutput[] = [];
  for (const item of output.filter(({ type }) => type === "function_call") as FunctionCall[]) {
    const answer = await answerCall(caveman, item.name, parsedArguments(item.arguments), options);
    if (answer) outputs.push({ type: "function_call_output", call_id: item.call_id, output: answer.text });
  }
  return outputs;
}
