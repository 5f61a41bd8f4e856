/** Tools for LangChain and LangGraph (peer dependency `@langchain/core`): `model.bindTools(langChainTools(caveman))` */

import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { offered, type AdapterOptions, type HasTools } from "../tools.js";

export const langChainTools = (caveman: HasTools, options: AdapterOptions = {}): StructuredToolInterface[] =>
  offered(caveman, options).map(({ name, description, inputSchema, execute }) =>
    tool((args: unknown) => execute(args as object, options), {
      name,
      description,
      schema: structuredClone(inputSchema) as never, // JSON Schema, which its types know as a mutable one
    }),
  ) as StructuredToolInterface[];
