/** The optional service worker: keeps the folder it lies in, so that the page starts without a network. */

/** Put in by build.mjs: what a start needs, and a name that changes when one of them does. */
declare const FILES: readonly string[];
declare const BUILD: string;

interface Scope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: Lifetime) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
}
interface Lifetime {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

const scope = self as unknown as Scope;
const PREFIX = `caveman-wasm ${scope.registration.scope} `;
const NAME = PREFIX + BUILD;

scope.addEventListener("install", (event) => event.waitUntil(keepAll()));
scope.addEventListener("activate", (event) => event.waitUntil(takeOver()));
scope.addEventListener("fetch", (event) => {
  if (event.request.method === "GET" && event.request.url.startsWith(scope.registration.scope)) {
    event.respondWith(answer(event.request));
  }
});

/** All of one build or nothing: the HTTP cache is asked whether what it has is still right. */
async function keepAll(): Promise<void> {
  const cache = await caches.open(NAME);
  await cache.addAll(["./", ...FILES].map((file) => new Request(file, { cache: "no-cache" })));
  await scope.skipWaiting();
}

async function takeOver(): Promise<void> {
  const old = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== NAME);
  await Promise.all(old.map((name) => caches.delete(name)));
  await scope.clients.claim();
}

/** What is kept, else what the network has, which is kept then. */
async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(NAME);
  const kept = await cache.match(request, { ignoreSearch: request.mode === "navigate" });
  if (kept) return kept;
  const response = await fetch(request);
  if (response.status === 200) await cache.put(request, response.clone());
  return response;
}
