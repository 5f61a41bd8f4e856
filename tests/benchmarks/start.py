"""How long a page waits: `python tests/benchmarks/start.py [--rounds N]` over the built web/dist, in headless Chromium.

For a cold and a warm HTTP cache, with the memory snapshot and without: milliseconds from navigation to ready and to
the first compressed result of a 50 KB payload, megabytes (10^6) sent, and megabytes of memory that the page's process
then holds by itself (Linux only). Medians of the rounds, which take turns. A cold visit is a new profile's first, a warm
one that of the browser started anew over the same profile. The server gzips what it sends and lets it be cached, as a
host's would. Below the table: what a first visit is sent, file by file.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
import threading
from collections import Counter
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "web"), str(ROOT / "tests")]

from once import launch_profile  # noqa: E402
from payloads import log  # noqa: E402
from playwright.sync_api import BrowserContext, Playwright, sync_playwright  # noqa: E402
from serve import Handler, Server  # noqa: E402

DIST = ROOT / "web" / "dist"
START = """async ([base, payload]) => {
  const { createCaveman } = await import(`${base}caveman.js`);
  const caveman = await createCaveman();
  const ready = performance.now();
  const { recoveryHandle } = await caveman.compress(payload);
  const first = performance.now();
  const { snapshot } = await caveman.health();
  return { ready, first, snapshot, handle: recoveryHandle };
}"""


@cache
def packed(path: str) -> bytes:
    """A file as it goes over the wire: gzipped unless it is already."""
    return gzip.compress(Path(path).read_bytes(), 6)


class Counting(Handler):
    """Counts the bytes of the bodies it sends; files may be cached for a day."""

    sent: ClassVar[Counter[str]] = Counter()
    with_snapshot = True

    def do_GET(self) -> None:  # noqa: N802 - http.server's name
        """A file gzipped, or as it is when it does not get smaller."""
        path = Path(self.translate_path(self.path))
        if not path.is_file() or (path.name == "snapshot.json" and not Counting.with_snapshot):
            self.send_error(404)
            return
        body, plain = packed(str(path)), path.read_bytes()
        small = len(body) < len(plain)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if small:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(min(len(body), len(plain))))
        self.end_headers()
        self.wfile.write(body if small else plain)
        Counting.sent[str(path.relative_to(DIST))] += min(len(body), len(plain))

    def send_header(self, keyword: str, value: str) -> None:
        """As a real host does: what is cached is not asked for again."""
        super().send_header(keyword, "max-age=86400" if keyword == "Cache-Control" else value)


def visits(playwright: Playwright, base: str, *, snapshot: bool) -> list[dict[str, float]]:
    """A cold and then a warm visit of one new profile."""
    Counting.with_snapshot = snapshot
    figures = []
    with tempfile.TemporaryDirectory() as profile:
        for _ in range(2):
            context = launch_profile(playwright, profile)
            figures.append(visit(context, base, snapshot=snapshot))
            context.close()
    return figures


def visit(context: BrowserContext, base: str, *, snapshot: bool) -> dict[str, float]:
    """The figures of one page's life."""
    Counting.sent.clear()
    page = context.new_page()
    page.goto(f"{base}icon.svg")
    made = page.evaluate(START, [base, log(lines=1300).decode()])
    if made["snapshot"] is not snapshot:
        raise SystemExit("the snapshot was not used as asked; build web/dist anew")
    page.wait_for_timeout(500)  # the last body's count, and what the browser writes into its cache
    figures = {"ready": made["ready"], "first": made["first"], "memory": memory(context)}
    return figures | {f"sent {name}": float(size) for name, size in Counting.sent.items()}


def memory(context: BrowserContext) -> float:
    """Private bytes of the largest renderer, which is the page's; its worker is a thread of it."""
    browser = context.browser
    assert browser is not None
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    pids = [process["id"] for process in processes if process["type"] == "renderer"]
    rollups = [Path(f"/proc/{pid}/smaps_rollup") for pid in pids]
    return max((private(rollup.read_text()) for rollup in rollups if rollup.exists()), default=0.0)


def private(rollup: str) -> float:
    """Of a process, what is shared with no other."""
    lines = [line.split() for line in rollup.splitlines() if line.startswith("Private")]
    return sum(float(kilobytes) * 1024 for _, kilobytes, *_ in lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    server = Server(("127.0.0.1", 0), partial(Counting, directory=str(DIST)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    runs: dict[tuple[bool, int], list[dict[str, float]]] = {}
    with sync_playwright() as playwright:
        for _ in range(rounds):
            for snapshot in (False, True):
                for cache_state, figures in enumerate(visits(playwright, base, snapshot=snapshot)):
                    runs.setdefault((snapshot, cache_state), []).append(figures)
    server.shutdown()
    report(runs)


def report(runs: dict[tuple[bool, int], list[dict[str, float]]]) -> None:
    """Medians, and the ratios that the aims are about."""
    print(f"{'start':<12}{'cache':<8}{'ready ms':>10}{'first result ms':>18}{'MB sent':>10}{'MB memory':>12}")
    median = {
        key: {name: statistics.median(run.get(name, 0.0) for run in figures) for name in figures[0]}
        for key, figures in runs.items()
    }
    for (snapshot, warm), figures in median.items():
        names = f"{'snapshot' if snapshot else 'plain':<12}{'warm' if warm else 'cold':<8}"
        sent = sum(size for name, size in figures.items() if name.startswith("sent "))
        waits = f"{figures['ready']:>10.0f}{figures['first']:>18.0f}"
        print(f"{names}{waits}{sent / 1e6:>10.1f}{figures['memory'] / 1e6:>12.0f}")
    for warm, name in enumerate(("cold", "warm")):
        with_it, without = median[True, warm], median[False, warm]
        print(f"{name}: snapshot ÷ plain, ready {with_it['ready'] / without['ready']:.2f} (aim 0.25)", end="; ")
        print(f"first result ÷ ready {with_it['first'] / with_it['ready']:.2f} (aim 1.2)")
    first_visit = {
        name.removeprefix("sent "): size for name, size in median[True, 0].items() if name.startswith("sent ")
    }
    for name, size in sorted(first_visit.items(), key=lambda item: -item[1]):
        print(f"{size / 1e6:>8.3f} MB  {name}")


if __name__ == "__main__":
    main()
