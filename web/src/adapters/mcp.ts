/** An MCP server over a MessagePort, by the official SDK (peer dependency `@modelcontextprotocol/server`). */

import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { CavemanError } from "../errors.js";
import type { Caveman } from "../index.js";
import type { ToolAnswer } from "../tools.js";

declare const __VERSION__: string; // web/build.mjs

const INSTRUCTIONS =
  "Texts that close with a line like [caveman: shortened view, … <<ccr:ccr_…>>] are shortened views; caveman_retrieve" +
  " reads the exact source of one. Answer from the text and its markers where they suffice.";

/** JSON-RPC messages as they are, one a message. Either end of a MessageChannel can have one. */
export class MessagePortTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  async start(): Promise<void> {
    this.#port.onmessage = ({ data }: MessageEvent<JSONRPCMessage>) => this.onmessage?.(data);
    this.#port.onmessageerror = () => this.onerror?.(new Error("A message could not be read."));
    this.#port.addEventListener("close", () => this.onclose?.()); // the other end's; not in every browser yet
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#port.postMessage(message);
  }

  async close(): Promise<void> {
    this.#port.onmessage = null;
    this.#port.close();
    this.onclose?.();
  }
}

/** Serves one client on `port` until either end closes. All tools, and `ccr://{id}` as resources. */
export async function serveMCP(caveman: Caveman, port: MessagePort): Promise<Server> {
  const server = createMCPServer(caveman);
  await server.connect(new MessagePortTransport(port));
  return server;
}

/** The server without a transport: connect it to any. One serves one client: its questions are a session of their own. */
export function createMCPServer(caveman: Caveman): Server {
  const session = crypto.randomUUID();
  const server = new Server(
    { name: "caveman", version: __VERSION__ },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler("tools/list", async () => ({
    tools: caveman.tools.map(({ name, title, description, inputSchema, annotations, audience }) => ({
      ...{ name, title, description, annotations },
      inputSchema: structuredClone(inputSchema) as never, // the SDK's type is mutable
      _meta: { "caveman/audience": audience },
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = caveman.tools.find(({ name }) => name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such tool.");
    return result(await tool.call(params.arguments ?? {}, { session }));
  });
  server.setRequestHandler("resources/list", async () => ({
    resources: (await caveman.records()).map(({ id, bytes }) => ({ uri: `ccr://${id}`, name: id, size: bytes })),
  }));
  server.setRequestHandler("resources/templates/list", async () => ({
    resourceTemplates: [
      {
        uriTemplate: "ccr://{id}",
        name: "original",
        description: "The exact original behind a reference; a selector may follow, as ccr://ccr_…#line=10,20.",
      },
    ],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => ({
    contents: [contents(uri, await caveman.retrieve(uri).catch(refused))],
  }));
  return server;
}

/** Text; the bytes beside it where it cannot show them all; and each note by itself. */
function result({ output, text, notes, error, reference, report }: ToolAnswer): CallToolResult {
  if (error) {
    return { isError: true, content: [{ type: "text", text }], _meta: { "caveman/error": { code: error, reference } } };
  }
  const resource = contents("ccr://bytes", output);
  const shown = "text" in resource ? resource.text : new TextDecoder().decode(output);
  const content: CallToolResult["content"] = [{ type: "text", text: shown }];
  if ("blob" in resource) content.push({ type: "resource", resource, annotations: { audience: ["user"] } });
  content.push(...notes.map((note) => ({ type: "text" as const, text: note })));
  return { content, ...(report && { _meta: { "caveman/report": report } }) };
}

function contents(uri: string, data: Uint8Array): { uri: string; mimeType: string } & ({ text: string } | { blob: string }) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    return { uri, mimeType: "text/plain", text };
  } catch {
    let binary = "";
    for (let at = 0; at < data.length; at += 32768) binary += String.fromCharCode(...data.subarray(at, at + 32768));
    return { uri, mimeType: "application/octet-stream", blob: btoa(binary) };
  }
}

/** MCP has no error results for resources: the protocol's own error, our code in its message and its data. */
function refused(thrown: unknown): never {
  const { code, message, reference } = CavemanError.toData(thrown);
  const theirs = /unknown_handle|forgotten|store_reset|invalid/.test(code);
  const number = theirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
  throw new ProtocolError(number, `${code}: ${message}`, { code, reference });
}
