"""What a page takes that opens a large database: `python tests/benchmarks/memory.py [--megabytes N] [--read N]` (Linux only).

Fills an IndexedDB with records of 20 KB to 4 MB over the built web/dist; starts Chromium anew, opens the database with
the engine and reads records from all over it, dropping each, which is the browser's to collect. Megabytes (10^6), of

- the page's process: what it shares with no other, and with its share of what it does (PSS). "blank" is that very page
  before the engine: the browser's own;
- the page itself: Python's WebAssembly memory, JavaScript's heaps and the buffers that hang on them, of page and worker.

Sampled every 50 ms and after each record. "collected": after both heaps' garbage was.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("web", "tests", "tests/browser")]

from large_database import OPEN, READ, Page, filled, page_of  # noqa: E402
from once import serving  # noqa: E402

MB = 1_000_000


def process(page: Page) -> tuple[int, int]:
    """Bytes of the page's process: private, PSS."""
    text = Path(f"/proc/{page.process}/smaps_rollup").read_text()
    private, pss = (sum(map(int, re.findall(rf"^{name}:\s+(\d+) kB", text, re.M))) for name in (r"Private_\w+", "Pss"))
    return private * 1024, pss * 1024


class Peak(threading.Thread):
    """The most that the page's process takes while the block runs."""

    def __init__(self, page: Page) -> None:
        super().__init__(daemon=True)
        self._page = page
        self._over = threading.Event()
        self.most = (0, 0)

    def run(self) -> None:
        """Sample."""
        while not self._over.wait(0.05):
            private, pss = process(self._page)
            self.most = max(self.most[0], private), max(self.most[1], pss)

    def __enter__(self) -> Peak:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=400)
    parser.add_argument("--read", type=int, default=100)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(str(ROOT / "web" / "dist")) as site:
        profile = Path(folder)
        rows = filled(profile, site, wanted.megabytes * MB)
        print(f"{len(rows)} records of {sum(size for _, size in rows) / MB:.0f} MB")
        with page_of(profile, f"{site}icon.svg") as page:
            measure(page, site, random.Random(7).sample(rows, len(rows)), wanted.read * MB)


def measure(page: Page, site: str, rows: list[tuple[str, int]], most: int) -> None:
    """Of a page that is blank still, and reads these until it has read ``most`` bytes."""
    print(f"{'':<22}{'private':>9}{'PSS':>6}{'WebAssembly':>13}{'JavaScript':>12}{'both':>6}{'private - blank':>17}")
    blank, _ = process(page)

    def line(name: str, taken: tuple[int, int], own: tuple[int, int]) -> None:
        figures = [*taken, *own, sum(own), taken[0] - blank]
        widths = (9, 6, 13, 12, 6, 17)
        print(f"{name:<22}" + "".join(f"{f / MB:>{w}.0f}" for f, w in zip(figures, widths, strict=True)))

    line("blank", process(page), page.own())
    with Peak(page) as peak:
        page.run(OPEN, site, "indexeddb")
    line("while opening, most", peak.most, page.own())
    line("opened", process(page), page.own())
    read, own = 0, page.own()
    with Peak(page) as peak:
        for id, _ in rows:
            read += page.run(READ, id)
            own = max(own, page.own(), key=sum)
            if read >= most:
                break
    line(f"while reading {read / MB:.0f} MB, most", peak.most, own)
    time.sleep(5)
    line("5 s later", process(page), page.own())
    page.collect()
    line("collected", process(page), page.own())


if __name__ == "__main__":
    main()
