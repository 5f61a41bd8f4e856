"""What a page takes: over a large database, and after very many calls."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from large_database import OPEN, READ, REMEMBER, filled, page_of
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser
MB = 1_000_000


def test_400_mb_are_opened_by_their_index_and_stay_reachable(
    tmp_path: Path, site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python's memory and JavaScript's, garbage included, and not the browser's own; tests/benchmarks/memory.py has that."""
    rows = filled(tmp_path, site, 400 * MB)
    with page_of(tmp_path, f"{site}icon.svg") as page:
        page.run(OPEN, site, "indexeddb")
        opened = sum(page.own())
        stats = page.run("async () => caveman.stats()")
        assert (stats["records"], stats["storageBytes"]) == (len(rows), sum(size for _, size in rows))
        listed = page.run("async () => (await caveman.records()).map(({ id, bytes }) => [id, bytes])")
        assert [(id, size) for id, size in listed] == sorted(rows)
        read = most = 0
        for id, size in random.Random(400).sample(rows, len(rows)):
            assert page.run(READ, id) == size
            most = max(most, sum(page.own()))
            read += size
            if read > 100 * MB:
                break
        page.collect()
        after = sum(page.own())
        kept = page.run("async (text) => (await caveman.compress(text)).persisted", log().decode())
    with capsys.disabled():
        print(
            f"\n{sum(size for _, size in rows) / MB:.0f} MB in {len(rows)} records: the page has {opened / MB:.0f} MB when opened, "
            f"at most {most / MB:.0f} MB while {read / MB:.0f} MB are read, {after / MB:.0f} MB when those are collected"
        )
    assert most < 200 * MB
    assert after < 80 * MB
    assert kept


SIZE = 20_000  # bytes of a call's payload
BODY = log(lines=600)[: SIZE - 9]


def heaps(engine: Engine) -> tuple[int, int]:
    """Bytes of Python's memory and, after a collection, of JavaScript's."""
    devtools = engine.page.context.new_cdp_session(engine.page)
    for command in ("Performance.enable", "HeapProfiler.enable", "HeapProfiler.collectGarbage"):
        devtools.send(command)
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    python = engine.run("return Math.max(...memories.map(({ buffer }) => buffer.byteLength));")
    return python, int(metrics["JSHeapUsedSize"])


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_ten_thousand_calls_leave_nothing_behind(
    context: BrowserContext, site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page's own thread, where both heaps can be read; records are forgotten, so that they do not count."""
    context.add_init_script(REMEMBER)
    engine = bare(context.new_page(), site)
    engine.page.set_default_timeout(120_000)
    engine.start = "globalThis.caveman ??= await createCaveman({ inline: true });"
    measured = {}
    for done in range(0, 10_000, 500):
        kept = engine.run(
            """const text = new TextDecoder().decode(bytes(payload));
            let kept = 0;
            for (let n = first; n < first + 500; n++) {
              kept += (await caveman.compress(`${String(n).padStart(8, "0")} ${text}`)).recoveryHandle !== null;
              if (n % 100 === 99) await caveman.clear();
            }
            return kept;""",
            payload=BODY,
            first=done,
        )
        assert kept == 500
        measured[done + 500] = heaps(engine)
    (python, script), (python_after, script_after) = measured[2_000], measured[10_000]
    with capsys.disabled():
        print(
            f"\ncompress calls of 20 KB: Python {python / MB:.1f} MB and JavaScript {script / MB:.1f} MB after 2,000, "
            f"{python_after / MB:.1f} and {script_after / MB:.1f} MB after 10,000"
        )
    # One step by which Python's memory grows, for 8,000 tombstones; in JavaScript, the words whose counts are remembered.
    assert python_after - python < 16 * MB
    assert script_after - script < 2 * MB
