/** Starts the engine in a worker or on this thread, and a new one for the next call when it was lost. */

import { CavemanError } from "./errors.js";
import { teller, type Tell } from "./events.js";
import type { PersistenceHook } from "./hook.js";
import {
  InlineLink,
  newLifeLock,
  WorkerLink,
  type Args,
  type Link,
  type Method,
  type ToolInfo,
  type Value,
} from "./protocol.js";
import type { CavemanOptions } from "./options.js";
import { fetchMade, fetchSnapshot } from "./snapshot.js";

/** What is known once it has started. */
export interface Started {
  readonly link: Link;
  readonly pyodide: string;
  readonly epoch: string | null;
  readonly tools: readonly ToolInfo[];
}

/** The first start; what is lost later starts anew by itself. Rejects as `createCaveman` does. */
export async function startLasting(options: CavemanOptions): Promise<Started> {
  const first = await startLink(options, false);
  const { signal: _, ...lasting } = first.epoch ? { epoch: first.epoch, ...options } : options;
  const again = async (): Promise<Link> => (await startLink(lasting, true)).link;
  return { ...first, link: new LastingLink(first.link, again) };
}

/** Calls go to a link that was lost at most once: the next call starts another. */
class LastingLink implements Link {
  #link: Link;
  #starting: Promise<Link> | undefined;
  readonly #again: () => Promise<Link>;
  ended: CavemanError | undefined;

  constructor(link: Link, again: () => Promise<Link>) {
    this.#link = link;
    this.#again = again;
  }

  async call<M extends Method>(method: M, args: Args<M>, signal?: AbortSignal): Promise<Value<M>> {
    if (this.ended) throw this.ended;
    return (this.#link.ended ? await this.#anew() : this.#link).call(method, args, signal);
  }

  close(reason: CavemanError): void {
    this.ended ??= reason;
    this.#link.close(reason);
  }

  /** One start for all calls that wait for it; when it fails the next call tries again. */
  #anew(): Promise<Link> {
    this.#starting ??= this.#again()
      .then((link) => {
        if (this.ended) link.close(this.ended);
        return (this.#link = link);
      })
      .finally(() => (this.#starting = undefined));
    return this.#starting;
  }
}

async function startLink(options: CavemanOptions, afterLoss: boolean): Promise<Started> {
  const baseURL = new URL(options.baseURL ?? "./", options.baseURL ? globalThis.location?.href : import.meta.url).href;
  const { maxBytes, maxMemory, epoch, pyodide: running, inline = !!running, persistence: wanted = "none" } = options;
  const hook = typeof wanted === "object" ? wanted : undefined;
  const persistence = typeof wanted === "object" ? "hook" : wanted;
  const tell = teller(options.on);
  const link = inline ? await inlineLink(options, tell, hook) : workerLink(baseURL, tell, hook);
  const lifeLock = inline ? undefined : newLifeLock();
  const interrupts = link instanceof WorkerLink ? link.interrupts : undefined;
  const started = link.call("start", { baseURL, maxBytes, maxMemory, persistence, epoch, afterLoss, interrupts, lifeLock });
  const said = await withinLimits(started, link, options, baseURL);
  if (lifeLock) (link as WorkerLink).watchLife(lifeLock, lost("it was ended"));
  tell("ready", { pyodide: said.pyodide, epoch: said.epoch });
  if (afterLoss && persistence === "none") tell("reset", { epoch: null });
  return { link, ...said };
}

const lost = (detail: string): CavemanError =>
  new CavemanError(
    "cave_worker_lost",
    `The worker died (${detail}); what only its memory held is gone. The next call starts a new one: run the tool again.`,
  );

async function inlineLink({ counter, pyodide }: CavemanOptions, tell: Tell, hook: PersistenceHook | undefined): Promise<Link> {
  const { createHost } = await import("./host.js");
  return new InlineLink(createHost(async () => counter ?? (await import("./tokens.js")).o200k, tell, { hook, running: pyodide }));
}

function workerLink(baseURL: string, tell: Tell, hook: PersistenceHook | undefined): Link {
  const url = new URL("worker.js", baseURL).href;
  const folder = new URL("pyodide/", baseURL);
  const snapshot = fetchSnapshot(folder, fetchMade(new URL("snapshot.json", folder)), tell).catch(() => undefined);
  try {
    const link = new WorkerLink(new Worker(scriptURL(url), { type: "module" }), lost, tell, hook);
    void snapshot.then((fetched) => link.hand(fetched));
    return link;
  } catch (thrown) {
    throw startFailed(`The worker ${url} could not be started (${String(thrown)}).`);
  }
}

/** A worker's script must be of the page's own origin: for another's, one line of this origin imports it. */
function scriptURL(url: string): string {
  if (new URL(url).origin === globalThis.location?.origin) return trusted(url);
  const line = new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" });
  return trusted(URL.createObjectURL(line));
}

interface ScriptURLPolicy {
  createScriptURL(url: string): string;
}
interface TrustedTypes {
  createPolicy(name: string, rules: ScriptURLPolicy): ScriptURLPolicy;
}
let policy: ScriptURLPolicy | undefined;

/** A page that requires Trusted Types takes a script's URL from a named policy only; ours knows these files. */
export function trusted(url: string): string {
  const factory = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  policy ??= factory?.createPolicy("caveman-wasm", {
    createScriptURL: (candidate) => {
      if (candidate.startsWith("blob:") || /\/(worker|offline)\.js$/.test(new URL(candidate).pathname)) return candidate;
      throw new TypeError("not a script of caveman-wasm");
    },
  });
  return policy ? policy.createScriptURL(url) : url;
}

/**
 * Keeps the folder for visits without a network, by the service worker that lies in it: resolves when all is there.
 * It serves pages below its own folder. A later build takes its place by itself.
 */
export async function keepOffline(baseURL: string | URL = new URL("./", import.meta.url)): Promise<void> {
  const url = new URL("offline.js", new URL(baseURL, globalThis.location?.href));
  const { installing, waiting, active } = await navigator.serviceWorker.register(trusted(url.href));
  const worker = installing ?? waiting ?? active!;
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      if (worker.state === "activated") resolve();
      if (worker.state === "redundant") reject(new CavemanError("cave_start_failed", `${url.href} could not keep the folder.`));
    };
    worker.addEventListener("statechange", look);
    look();
  });
}

const startFailed = (what: string): CavemanError =>
  new CavemanError(
    "cave_start_failed",
    `${what} Check that the folder is served whole, and that the Content-Security-Policy of the page and of ` +
      "worker.js allows script-src 'self' 'wasm-unsafe-eval' and, with Trusted Types, the policy caveman-wasm; for a " +
      "folder of another origin also blob: in worker-src, that origin there and in script-src and connect-src, and CORS there.",
  );

/** Python may never answer (a forbidden compile does not even fail): the start races the clock and the caller. */
async function withinLimits<T>(started: Promise<T>, link: Link, options: CavemanOptions, baseURL: string): Promise<T> {
  const { signal, startTimeout = 60_000 } = options;
  let stop!: () => void;
  const limits = new Promise<never>((_, reject) => {
    const late = (): void => reject(startFailed(`Python from ${baseURL} was not ready within ${startTimeout} ms.`));
    const timer = setTimeout(late, startTimeout);
    const aborted = (): void => reject(signal?.reason);
    signal?.addEventListener("abort", aborted, { once: true });
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", aborted);
    };
  });
  try {
    return await Promise.race([started, limits]);
  } catch (thrown) {
    link.close(lost("it did not start"));
    const died = thrown instanceof CavemanError && thrown.code === "cave_worker_lost";
    throw died ? startFailed(`The worker from ${baseURL} did not start: ${thrown.message}`) : thrown;
  } finally {
    stop();
  }
}
