/** The tools as JavaScript calls them: the Python table (tools.py) with a function to each row. */

import { decodeText, encodeText } from "./bytes.js";
import { CavemanError, invalidArguments } from "./errors.js";
import type { Link, ToolInfo, ToolReport } from "./protocol.js";

export interface ToolCallOptions {
  /** Whose call it is: each conversation has questions of its own, which are not answered twice in full. */
  readonly session?: string;
}

/** An answer in parts, for protocols that have room for them. */
export interface ToolAnswer extends Omit<ToolReport, "frame"> {
  /** What the tool gives, of an error its message. */
  readonly output: Uint8Array;
  /** All of it as one text: the code before an error's message, notes in brackets behind the rest. */
  readonly text: string;
}

export interface Tool extends ToolInfo {
  /** The answer as text, errors too (with their code): never rejects, so that no boundary loses the message. */
  execute(args?: object | null, options?: ToolCallOptions): Promise<string>;
  /** The same in parts. Never rejects either. */
  call(args?: object | null, options?: ToolCallOptions): Promise<ToolAnswer>;
}

export const toolList = (link: Link, table: readonly ToolInfo[]): readonly Tool[] =>
  table.map((row) => {
    const call: Tool["call"] = (args = {}, { session = "" } = {}) => answer(link, row.name, args, session).catch(failed);
    return { ...row, call, execute: async (args, options) => (await call(args, options)).text };
  });

async function answer(link: Link, name: string, args: object | null, session: string): Promise<ToolAnswer> {
  const { output, said } = await link.call("callTool", { name, given: encodeText(written(args)), session });
  const { frame, ...rest } = said;
  return { ...rest, output, text: frame[0] + decodeText(output, true) + frame[1] };
}

function written(args: object | null): string {
  try {
    return JSON.stringify(args) ?? "null";
  } catch {
    throw invalidArguments("A tool's arguments are one JSON object.");
  }
}

/** A worker that died, or arguments that cannot travel. */
function failed(thrown: unknown): ToolAnswer {
  const { code, message, reference } = CavemanError.toData(thrown);
  const text = `${code}: ${message}`;
  return { output: encodeText(message), text, notes: [], report: null, error: code, reference };
}

/** What the adapters need of a caveman. */
export interface HasTools {
  readonly tools: readonly Tool[];
}

export interface AdapterOptions extends ToolCallOptions {
  /** The host's tools too: a model would have to write out what it wants shortened. By default the model's alone. */
  readonly all?: boolean;
}

export const offered = ({ tools }: HasTools, { all = false }: AdapterOptions): readonly Tool[] =>
  tools.filter((tool) => all || tool.audience === "model");

/** The answer to a model's call of an offered tool; undefined for a tool that is not of this package. */
export async function answerCall(
  caveman: HasTools,
  name: string,
  args: object | null,
  options: AdapterOptions,
): Promise<ToolAnswer | undefined> {
  if (!caveman.tools.some((tool) => tool.name === name)) return undefined;
  const tool = offered(caveman, options).find((candidate) => candidate.name === name);
  return tool ? tool.call(args, options) : failed(invalidArguments(`${name} is not offered here; go on without it.`));
}

/** Arguments as a model wrote them; what is no JSON object is for the tool to refuse. */
export function parsedArguments(json: string): object | null {
  try {
    return JSON.parse(json || "{}") as object | null;
  } catch {
    return null;
  }
}
