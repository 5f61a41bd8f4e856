/** Tool results on their way into a conversation. What is shortened is Python's to say (messages.py): one logic. */

import { encodeText } from "./bytes.js";
import { invalidArguments } from "./errors.js";
import type { JudgedText, Link, Report } from "./protocol.js";

export interface MessagesOptions {
  /** What the model is offered: names, tools in any shape, or an object by name. Without caveman_retrieve nothing happens. */
  readonly tools: Iterable<unknown> | object;
  /** Names of tools whose results stay, such as files read to be edited. */
  readonly exempt?: readonly string[];
  /** How many messages have gone out already, and stay as they are here. */
  readonly sent?: number;
  /** Is told of every judged result, by its tool; its `reason` says why one stays. */
  readonly onResult?: (tool: string, report: Report) => void;
}

export interface WrapOptions extends Omit<MessagesOptions, "sent"> {
  /** The tool's name; by default its own. */
  readonly name?: string;
}

/** A tool as a function, or as an object that has one under `execute`. */
type Callable = (...args: never[]) => unknown;
export type Wrappable = Callable | { readonly execute?: Callable | undefined; readonly name?: string };

export interface Messages {
  /**
   * The conversation (OpenAI's, Anthropic's or the AI SDK's messages) with its tool results shortened. What is not
   * shortened is the same object as before; the same history gives the same bytes.
   */
  compressMessages<M>(messages: readonly M[], options: MessagesOptions): Promise<M[]>;
  /** The tool, its results shortened under the same rules: strings, and objects as the text of their JSON. */
  wrapTool<T extends Wrappable>(tool: T, options: WrapOptions): T;
}

export function messagesOver(link: Link): Messages {
  const compressMessages: Messages["compressMessages"] = async (messages, options) => {
    if (!Array.isArray(messages)) throw invalidArguments("messages are a list of messages, as the model's API takes them.");
    const { tools, exempt = [], sent = 0, onResult } = Object(options) as MessagesOptions;
    const { judged } = await link.call("compressMessages", { given: written({ messages, tools: names(tools), exempt, sent }) });
    for (const { tool, report } of judged) onResult?.(tool, report);
    return placed(messages, judged) as typeof messages;
  };
  /** What a tool's result becomes; whatever fails, it stays. */
  const shortened = async (name: string, value: unknown, options: WrapOptions): Promise<unknown> => {
    const text = typeof value === "string" ? value : jsonText(value);
    if (text === undefined) return value;
    const { name: _, ...rest } = options;
    const call = { type: "function_call", call_id: "", name };
    const result = { type: "function_call_output", call_id: "", output: text };
    const [, { output }] = (await compressMessages([call, result], rest).catch(() => [call, result])) as [unknown, typeof result];
    return output === text ? value : output;
  };
  return {
    compressMessages,
    wrapTool(tool, options) {
      const name = options.name ?? (tool as { name?: string }).name;
      if (!name) throw invalidArguments("wrapTool needs the tool's name: pass { name }.");
      names(options.tools); // wrong ones are told now
      const wrapped =
        (execute: Callable, self: unknown): Callable =>
        async (...args) =>
          shortened(name, await execute.apply(self, args), options);
      if (typeof tool === "function") return wrapped(tool, undefined) as typeof tool;
      if (typeof tool?.execute !== "function") throw invalidArguments("A tool is a function, or has one under execute.");
      return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute: wrapped(tool.execute, tool) });
    },
  };
}

/** JSON of what tools give as objects; bytes, class instances and whatever has no JSON stay as they are. */
function jsonText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && (Array.isArray(value) || isPlain(value)) ? stringified(value) : undefined;
}

function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Only texts are looked at: an image's bytes need not travel, and JSON travels as the text that a model would get. */
function written(given: object): Uint8Array {
  const light = (key: string, value: unknown): unknown => {
    if (typeof value === "bigint" || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return null;
    const { type, value: json } = Object(value) as { type?: unknown; value?: unknown };
    return key === "output" && (type === "json" || type === "error-json") ? { type, text: stringified(json) } : value;
  };
  try {
    return encodeText(JSON.stringify(given, light));
  } catch {
    throw invalidArguments("Messages are what JSON has.");
  }
}

function names(tools: unknown): string[] {
  if (typeof tools !== "object" || tools === null) throw invalidArguments("tools are those that the model is offered, or their names.");
  if (!(Symbol.iterator in tools)) return Object.keys(tools);
  return [...(tools as Iterable<unknown>)].flatMap((tool) => {
    if (typeof tool === "string") return [tool];
    const { name, function: said } = Object(tool) as { name?: unknown; function?: { name?: unknown } };
    return [name ?? said?.name].filter((found) => typeof found === "string");
  });
}

type Node = Record<string | number, unknown>;

/** Copies along the paths and nowhere else. */
function placed(messages: readonly unknown[], judged: readonly JudgedText[]): unknown[] {
  const given = [...messages];
  for (const { path, kind, text } of judged) {
    if (text === null) continue;
    let node = given as unknown as Node;
    for (const key of path.slice(0, -1)) {
      const child = node[key] as Node | unknown[];
      node = node[key] = (Array.isArray(child) ? [...child] : { ...child }) as unknown as Node;
    }
    const last = path.at(-1)!;
    node[last] = kind ? { ...(node[last] as object), type: kind, value: text } : text;
  }
  return given;
}
