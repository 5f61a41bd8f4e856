"""A page over a large database, in a Chromium of its own that is asked for figures only.

The devtools protocol is spoken here, not by Playwright: that watches the network, for which the page's process keeps a
copy of all that it loads.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import websocket  # selenium's
from test_kill import running

# Raw rows, as persistence.ts lays them out: compress would take minutes for as much.
FILL = """async (first, sizes) => {
  const line = "2026-03-01 04:26:12,811 INFO [worker-2] payment: order 4266 was verified in 121 ms\\n";
  const texts = sizes.map((size, n) => (`${first + n} ` + line.repeat(size / line.length + 1)).slice(0, size));
  const rows = await Promise.all(texts.map(async (text) => {
    const data = new TextEncoder().encode(text);
    return { id: await handleOf(data), data };
  }));
  const database = await new Promise((done) => (indexedDB.open("caveman-wasm").onsuccess = (e) => done(e.target.result)));
  const stores = database.transaction(["index", "details", "data"], "readwrite");
  for (const { id, data } of rows) {
    const counts = { bytes: data.length, tokensBefore: 9000, tokensAfter: 900, sessionId: null };
    stores.objectStore("index").put({ id, ...counts, createdAt: "2026-03-01T00:00:00Z" });
    stores.objectStore("details").put({ id, fields: { content_type: "log", compressor: "log/1" }, metadata: null });
    stores.objectStore("data").put(data, id);
  }
  await new Promise((resolve, reject) => Object.assign(stores, { oncomplete: resolve, onabort: reject }));
  database.close();
  return rows.map(({ id, data }) => [id, data.length]);
}"""
HELPERS = """globalThis.handleOf = async (data) => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return "ccr_" + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 32);
};"""
OPEN = """async (base, persistence) => {
  const { createCaveman } = await import(`${base}caveman.js`);
  globalThis.caveman = await createCaveman({ persistence });
}"""
READ = """async (id) => {
  const data = await caveman.retrieve(id);
  if ((await handleOf(data)) !== id) throw new Error(`${id} is not exact`);
  return data.length;
}"""
# The worker has no way to be asked for the engine's memory: it remembers.
REMEMBER = """globalThis.memories = [];
for (const how of ["instantiate", "instantiateStreaming"]) {
  const real = WebAssembly[how];
  WebAssembly[how] = async (...given) => {
    const made = await real.apply(WebAssembly, given);
    const all = Object.values((made.instance ?? made).exports);
    memories.push(...all.filter((value) => value instanceof WebAssembly.Memory));
    return made;
  };
}"""
PYTHON = "Math.max(0, ...memories.map(({ buffer }) => buffer.byteLength))"


class Page:
    """A page and, once it has one, its worker. ``process`` is the id of its renderer."""

    def __init__(self, socket: websocket.WebSocket, url: str) -> None:
        self._socket = socket
        self._asked = 0
        self._worker: str | None = None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._page = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Target.setAutoAttach", self._page, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        self._ask("Page.navigate", self._page, url=url)
        time.sleep(1)
        self._evaluate(self._page, HELPERS)
        self.process = self._busiest()

    def run(self, function: str, *arguments: Any) -> Any:
        """What an asynchronous function gives in the page."""
        return self._evaluate(self._page, f"({function})(...{json.dumps(arguments)})")

    def own(self) -> tuple[int, int]:
        """Bytes of Python's memory, and of JavaScript's heaps with the buffers that hang on them, garbage included."""
        python = self._evaluate(self._worker, PYTHON) if self._worker else 0
        usage = [self._ask("Runtime.getHeapUsage", session) for session in self._sessions()]
        return python, sum(round(used["totalSize"] + used["backingStorageSize"]) for used in usage)

    def collect(self) -> None:
        """Collect the garbage."""
        for session in self._sessions():
            self._ask("HeapProfiler.collectGarbage", session)
        time.sleep(1)

    def _sessions(self) -> list[str]:
        return [session for session in (self._page, self._worker) if session]

    def _busiest(self) -> int:
        """The process that works when the page does."""

        def worked() -> dict[int, float]:
            processes = self._ask("SystemInfo.getProcessInfo")["processInfo"]
            return {process["id"]: process["cpuTime"] for process in processes if process["type"] == "renderer"}

        before = worked()
        self.run("async () => { for (const end = Date.now() + 500; Date.now() < end; ); }")
        return max((time - before.get(id, 0), id) for id, time in worked().items())[1]

    def _evaluate(self, session: str, expression: str) -> Any:
        said = self._ask("Runtime.evaluate", session, expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in said:
            raise RuntimeError(said["exceptionDetails"]["exception"].get("description"))
        return said["result"].get("value")

    def _send(self, method: str, session: str | None, **params: Any) -> int:
        self._asked += 1
        to = {} if session is None else {"sessionId": session}
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": params, **to}))
        return self._asked

    def _ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        asked = self._send(method, session, **params)
        while True:
            message = json.loads(self._socket.recv())
            if message.get("method") == "Target.attachedToTarget" and message["params"]["waitingForDebugger"]:
                self._worker = message["params"]["sessionId"]
                self._send("Runtime.evaluate", self._worker, expression=REMEMBER)
                self._send("Runtime.runIfWaitingForDebugger", self._worker)
            if message.get("id") == asked:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])


@contextmanager
def page_of(profile: Path, url: str) -> Iterator[Page]:
    """A page in a Chromium that is started for it."""
    with running(profile) as (_, address):
        socket = websocket.create_connection(address, suppress_origin=True, timeout=120)
        yield Page(socket, url)
        socket.close()


def filled(profile: Path, site: str, total: int, seed: int = 6) -> list[tuple[str, int]]:
    """Handles and sizes of records that are put there: as many bytes as ``total`` and a little more, in 20 KB to 4 MB."""
    rng = random.Random(seed)
    sizes: list[int] = []
    while sum(sizes) < total:
        sizes.append(round(20_000 * 200 ** rng.random()))
    rows = []
    with page_of(profile, f"{site}icon.svg") as page:
        page.run(OPEN, site, "indexeddb")
        page.run("async () => caveman.close()")  # it has made the database
        for first in range(0, len(sizes), 50):
            rows += page.run(FILL, first, sizes[first : first + 50])
    return [(id, size) for id, size in rows]
