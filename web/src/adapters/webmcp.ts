/** WebMCP: the page's tools for an agent in the browser, https://webmachinelearning.github.io/webmcp/ */

import { CavemanError } from "../errors.js";
import type { HasTools } from "../tools.js";

export interface WebMCPOptions {
  /** Takes the tools back. */
  readonly signal?: AbortSignal;
  /** Origins that may see them besides this page's own: of frames that are allowed the feature `tools`. */
  readonly exposedTo?: readonly string[];
}

/** As far as it is used here; TypeScript does not know it yet. */
interface ModelContext {
  registerTool(tool: object, options: { signal: AbortSignal; exposedTo?: readonly string[] }): Promise<void>;
}
type WithModelContext = { readonly modelContext?: ModelContext };

/** Whether this page can register tools. A worker cannot. */
export const hasWebMCP = (): boolean => modelContext() !== undefined;

const modelContext = (): ModelContext | undefined =>
  (globalThis.document as unknown as WithModelContext | undefined)?.modelContext;

/**
 * Registers all tools, or none. Rejects with `cave_not_available` where the browser has no WebMCP or the page's
 * permissions policy forbids it, and with the browser's own error where a name is taken.
 */
export async function registerWebMCP(caveman: HasTools, { signal, exposedTo }: WebMCPOptions = {}): Promise<void> {
  const context = modelContext();
  if (!context) throw notAvailable("this browser has no document.modelContext, or hides it from insecure pages");
  signal?.throwIfAborted();
  const failed = new AbortController();
  const registered = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const options = { signal: registered, ...(exposedTo && { exposedTo }) };
  try {
    for (const tool of caveman.tools) {
      const { name, title, description, inputSchema } = tool;
      const annotations = { ...tool.annotations, untrustedContentHint: true }; // tool outputs come from anywhere
      const execute = (args: object): Promise<string> => tool.execute(args);
      await context.registerTool({ name, title, description, inputSchema, annotations, execute }, options);
    }
  } catch (thrown) {
    failed.abort();
    if (thrown instanceof DOMException && ["SecurityError", "NotAllowedError"].includes(thrown.name)) {
      throw notAvailable(`the page's permissions policy does not allow "tools"`);
    }
    throw thrown;
  }
}

const notAvailable = (why: string): CavemanError =>
  new CavemanError("cave_not_available", `WebMCP is not available here: ${why}. Use another adapter.`);
