"""One round trip in headless Chromium: `python web/once.py FOLDER`

Serves the built folder, compresses a sample on the page, retrieves it, prints one JSON line
``{"handle", "tokens_before", "tokens_after", "exact"}`` and exits 0 if the bytes came back exact.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright
from serve import CSP, make_server

# As root there is no sandbox, and nothing of Chromium's own business may go out or come in.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROUND_TRIP = """async () => {
  const { createCaveman } = await import("./caveman.js");
  const caveman = await createCaveman();
  const sample = new Uint8Array(await (await fetch("samples/service.log")).arrayBuffer());
  const r = await caveman.compress(sample);
  const back = r.recoveryHandle ? await caveman.retrieve(r.recoveryHandle) : new Uint8Array();
  caveman.close();
  return {
    handle: r.recoveryHandle,
    tokens_before: r.tokensBefore,
    tokens_after: r.tokensAfter,
    exact: back.length === sample.length && back.every((byte, at) => byte === sample[at]),
  };
}"""


@contextmanager
def serving(folder: str, csp: str = CSP) -> Iterator[str]:
    """The URL of a server of ``folder`` that lives as long as the block."""
    with make_server(folder, csp=csp) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def launch(playwright: Playwright) -> Browser:
    """Headless Chromium: the one that build_wasm.sh found, or Playwright's own."""
    return playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM") or None, args=FLAGS, timeout=60_000)


def launch_profile(playwright: Playwright, folder: str) -> BrowserContext:
    """The same with a profile on disk, which lasts beyond it."""
    executable = os.environ.get("CHROMIUM") or None
    return playwright.chromium.launch_persistent_context(folder, executable_path=executable, args=FLAGS, timeout=60_000)


def round_trip(folder: str) -> dict[str, object]:
    """Compress and retrieve a sample on the page that ``folder`` holds."""
    with serving(folder) as url, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.goto(url)
        result: dict[str, object] = page.evaluate(ROUND_TRIP)
        browser.close()
        return result


if __name__ == "__main__":
    report = round_trip(sys.argv[1])
    print(json.dumps(report))
    sys.exit(0 if report["exact"] else 1)
