/** Tools and answers for Anthropic's Messages. */

import { answerCall, offered, type AdapterOptions, type HasTools } from "../tools.js";

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error?: true;
}
interface Block {
  readonly type: string;
}
interface ToolUse extends Block {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** `tools` of a request. */
export const anthropicTools = (caveman: HasTools, options: AdapterOptions = {}): AnthropicTool[] =>
  offered(caveman, options).map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: structuredClone(inputSchema) as unknown as AnthropicTool["input_schema"],
  }));

/** Blocks for the next user message: the answers to those tool uses of a message that are for this package. */
export async function anthropicToolResults(
  caveman: HasTools,
  message: { readonly content: readonly Block[] },
  options: AdapterOptions = {},
): Promise<AnthropicToolResult[]> {
  const results: AnthropicToolResult[] = [];
  for (const { id, name, input } of message.content.filter(({ type }) => type === "tool_use") as ToolUse[]) {
    const answer = await answerCall(caveman, name, input as object | null, options);
    if (!answer) continue;
    results.push({ type: "tool_result", tool_use_id: id, content: answer.text, ...(answer.error && { is_error: true }) });
  }
  return results;
}
