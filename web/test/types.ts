/** That the adapters' results are what the libraries' types want: checked by tsc, never run. */

import type Anthropic from "@anthropic-ai/sdk";
import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import type { ChatCompletionMessageParam, ChatCompletionTool } from "@mlc-ai/web-llm";
import type { Transport } from "@modelcontextprotocol/client";
import type { ToolSet } from "ai";
import type OpenAI from "openai";
import { aiSDKTools } from "../src/adapters/ai-sdk.js";
import { anthropicToolResults, anthropicTools } from "../src/adapters/anthropic.js";
import { langChainTools } from "../src/adapters/langchain.js";
import { MessagePortTransport } from "../src/adapters/mcp.js";
import { openAIResponsesOutputs, openAIResponsesTools, openAIToolMessages, openAITools } from "../src/adapters/openai.js";
import { webLLMToolMessages, webLLMTools } from "../src/adapters/web-llm.js";
import type { Caveman } from "../src/index.js";

export async function check(
  caveman: Caveman,
  port: MessagePort,
  chat: OpenAI.ChatCompletionMessage,
  response: OpenAI.Responses.Response,
  claude: Anthropic.Message,
): Promise<unknown[]> {
  const ai: ToolSet = aiSDKTools(caveman);
  const chain: BindToolsInput[] = langChainTools(caveman);
  const openai: OpenAI.ChatCompletionTool[] = openAITools(caveman);
  const messages: OpenAI.ChatCompletionMessageParam[] = await openAIToolMessages(caveman, chat);
  const responses: OpenAI.Responses.Tool[] = openAIResponsesTools(caveman);
  const outputs: OpenAI.Responses.ResponseInput = await openAIResponsesOutputs(caveman, response.output);
  const anthropic: Anthropic.Tool[] = anthropicTools(caveman);
  const results: Anthropic.ToolResultBlockParam[] = await anthropicToolResults(caveman, claude);
  const webLLM: ChatCompletionTool[] = webLLMTools(caveman);
  const local: ChatCompletionMessageParam[] = await webLLMToolMessages(caveman, chat);
  const transport: Transport = new MessagePortTransport(port);
  return [ai, chain, openai, messages, responses, outputs, anthropic, results, webLLM, local, transport];
}
