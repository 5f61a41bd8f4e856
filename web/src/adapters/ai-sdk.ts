/** Tools for the AI SDK (peer dependency `ai`): `generateText({ tools: { ...mine, ...aiSDKTools(caveman) }, … })` */

import { jsonSchema, tool, type Tool, type ToolSet } from "ai";
import { offered, type AdapterOptions, type HasTools } from "../tools.js";

export const aiSDKTools = (caveman: HasTools, options: AdapterOptions = {}): Record<string, Tool<object, string>> & ToolSet =>
  Object.fromEntries(
    offered(caveman, options).map(({ name, title, description, inputSchema, execute }) => [
      name,
      tool({
        title,
        description,
        inputSchema: jsonSchema<object>(structuredClone(inputSchema) as never), // the SDK's type is mutable
        execute: (args: object) => execute(args, options),
      }),
    ]),
  );
