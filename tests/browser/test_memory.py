"""What a page takes: over a large database, and after very many calls."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import Browser, BrowserContext
from test_kill import running

from caveman_wasm.references import handle

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(1500)]
MB = 1_000_000
COUNT, SIZE = 20_000, 20_000  # records and bytes of each: 400 MB

# Raw rows, as persistence.ts lays them out: a few hundred records a second would come through compress.
FILL = """
    const text = new TextDecoder().decode(bytes(payload));
    const payloads = Array.from({ length: count }, (_, n) => new TextEncoder().encode(`${String(first + n).padStart(8, "0")} ${text}`));
    const hex = (digest) => Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const digests = await Promise.all(payloads.map((data) => crypto.subtle.digest("SHA-256", data)));
    const database = await new Promise((resolve) => { indexedDB.open("caveman-wasm").onsuccess = (e) => resolve(e.target.result); });
    const stores = database.transaction(["index", "details", "data", "notes"], "readwrite");
    payloads.forEach((data, n) => {
      const id = `ccr_${hex(digests[n]).slice(0, 32)}`;
      const counts = { bytes: data.length, tokensBefore: 9000, tokensAfter: 900, sessionId: null };
      stores.objectStore("index").put({ id, ...counts, createdAt: "2026-03-01T00:00:00Z" });
      stores.objectStore("details").put({ id, fields: { content_type: "log", compressor: "log/1" }, metadata: null });
      stores.objectStore("data").put(data, id);
    });
    stores.objectStore("notes").put((first + count) * payloads[0].length, "total");
    await new Promise((resolve, reject) => Object.assign(stores, { oncomplete: resolve, onabort: reject }));
    database.close();"""
BODY = log(lines=600)[: SIZE - 9]


def stored(number: int) -> bytes:
    return b"%08d " % number + BODY


def renderer_memory(browser: Browser) -> int:
    """Bytes of the browser's largest renderer, with its share of what is shared (PSS): Chromium's own included."""
    said = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
    sizes = []
    for process in said["processInfo"]:
        if process["type"] == "renderer":
            found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{process['id']}/smaps_rollup").read_text(), re.M)
            assert found
            sizes.append(int(found[1]) * 1024)
    return max(sizes)


def opened(browser: Browser, site: str, persistence: str = "indexeddb") -> Engine:
    engine = bare(browser.contexts[0].new_page(), site)
    engine.page.set_default_timeout(120_000)
    engine.start = f"globalThis.caveman ??= await createCaveman({{ persistence: '{persistence}' }});"
    return engine


def test_400_mb_are_opened_by_their_index_and_stay_reachable(
    chromium: Browser, tmp_path: Path, site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path) as (_, address):
        browser = chromium.browser_type.connect_over_cdp(address)
        engine = opened(browser, site)
        engine.run("caveman.close();")  # it has made the database
        engine.start = ""
        for first in range(0, COUNT, 500):
            engine.run(FILL, payload=BODY, first=first, count=500)
        browser.close()
    with running(tmp_path) as (_, address):
        browser = chromium.browser_type.connect_over_cdp(address)
        opened(browser, site, "none").run("await caveman.compress(bytes(payload));", payload=log())
        alone = renderer_memory(browser)
    with running(tmp_path) as (_, address):
        browser = chromium.browser_type.connect_over_cdp(address)
        engine = opened(browser, site)
        said = engine.run("return [await caveman.stats(), await caveman.health()];")
        just_opened = renderer_memory(browser)
        assert (said[0]["records"], said[0]["storageBytes"]) == (COUNT, COUNT * SIZE)
        rows = engine.run("return (await caveman.records()).map(({ id, bytes }) => [id, bytes]);")
        assert rows == sorted([handle(stored(n)), SIZE] for n in range(COUNT))
        chosen = random.Random(400).sample(range(COUNT), 3000)  # 60 MB, twice what stays in memory
        largest = 0
        for at in range(0, len(chosen), 500):
            part = chosen[at : at + 500]
            exact = engine.run(
                """const text = new TextDecoder().decode(bytes(payload));
                let exact = 0;
                for (const [name, start] of asked) exact += (await caveman.retrieveText(name)) === start + text;
                return exact;""",
                payload=BODY,
                asked=[[handle(stored(n)), f"{n:08d} "] for n in part],
            )
            assert exact == len(part)
            largest = max(largest, renderer_memory(browser))
        made = engine.run("return (await caveman.compress(bytes(payload))).persisted;", payload=log())
        assert made
    with capsys.disabled():
        print(
            f"\n{COUNT * SIZE / MB:.0f} MB in {COUNT} records: renderer {alone / MB:.0f} MB without a database, "
            f"{just_opened / MB:.0f} MB when opened, at most {largest / MB:.0f} MB while {len(chosen)} were read"
        )
    assert largest - alone < COUNT * SIZE / 2, "what the database adds is not its bytes"


# A page has no way to ask for the engine's memory: this one remembers it.
REMEMBER_MEMORY = """
globalThis.memories = [];
for (const how of ["instantiate", "instantiateStreaming"]) {
  const real = WebAssembly[how];
  WebAssembly[how] = async (...given) => {
    const made = await real.apply(WebAssembly, given);
    const all = Object.values((made.instance ?? made).exports);
    memories.push(...all.filter((value) => value instanceof WebAssembly.Memory));
    return made;
  };
}"""


def heaps(engine: Engine) -> tuple[int, int]:
    """Bytes of Python's memory and, after a collection, of JavaScript's."""
    devtools = engine.page.context.new_cdp_session(engine.page)
    for command in ("Performance.enable", "HeapProfiler.enable", "HeapProfiler.collectGarbage"):
        devtools.send(command)
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    python = engine.run("return Math.max(...memories.map(({ buffer }) => buffer.byteLength));")
    return python, int(metrics["JSHeapUsedSize"])


def test_ten_thousand_calls_leave_nothing_behind(
    context: BrowserContext, site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page's own thread, where both heaps can be read; records are forgotten, so that they do not count."""
    context.add_init_script(REMEMBER_MEMORY)
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
