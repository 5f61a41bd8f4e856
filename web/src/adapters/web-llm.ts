/** WebLLM speaks OpenAI's Chat Completions: `engine.chat.completions.create({ tools: webLLMTools(caveman), … })` */

export { openAIToolMessages as webLLMToolMessages, openAITools as webLLMTools } from "./openai.js";
