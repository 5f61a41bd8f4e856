/** Chrome's Prompt API, which calls the tools by itself: `LanguageModel.create({ tools: promptAPITools(caveman), … })` */

import { offered, type AdapterOptions, type HasTools, type Tool } from "../tools.js";

export interface PromptAPITool extends Pick<Tool, "name" | "description" | "inputSchema"> {
  execute(args: object): Promise<string>;
}

export const promptAPITools = (caveman: HasTools, options: AdapterOptions = {}): PromptAPITool[] =>
  offered(caveman, options).map(({ name, description, inputSchema, execute }) => ({
    ...{ name, description, inputSchema },
    execute: (args) => execute(args, options),
  }));
