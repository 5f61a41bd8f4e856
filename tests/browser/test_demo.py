"""The demo page, as a person uses it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from payloads import log
from playwright.sync_api import Browser, BrowserContext, Page, expect

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
SAMPLES = {"Orders, JSON": "json", "Service log": "log", "Readings, CSV": "tabular", "Report, text": "text"}


@pytest.fixture(scope="module")
def demo(chromium: Browser, site: str) -> Iterator[Page]:
    page = chromium.new_page()
    page.goto(site)
    expect(page.get_by_role("status").first).to_have_text("Ready.", timeout=60_000)
    yield page
    page.close()


def shorten(page: Page) -> None:
    page.get_by_role("button", name="Shorten").click()
    expect(page.locator("#status")).to_have_text("Ready.", timeout=30_000)


@pytest.mark.parametrize(("label", "kind"), SAMPLES.items())
def test_a_sample_is_shortened_and_brought_back(demo: Page, label: str, kind: str) -> None:
    demo.reload()
    demo.get_by_role("button", name=label).click()
    expect(demo.get_by_label("Paste a tool’s output")).not_to_be_empty()
    expect(demo.get_by_role("button", name="Shorten")).to_be_enabled(timeout=60_000)
    shorten(demo)
    expect(demo.locator("#type")).to_have_text(kind)
    before, after = (int(demo.locator(which).inner_text().replace(",", "")) for which in ("#before", "#after"))
    assert 0 < after < before
    assert demo.locator("#text mark").count() > 0
    demo.get_by_role("button", name=re.compile("^ccr_[0-9a-f]{32}$")).last.click()
    expect(demo.locator("#proof")).to_have_text(re.compile(r"^All [\d,]+ bytes came back"))
    demo.get_by_label("Or ask the original a question").fill("error declined fault decision")
    demo.get_by_role("button", name="Ask").click()
    expect(demo.locator("#proof")).to_contain_text("narrowed to")


def test_the_page_says_what_it_counts(demo: Page) -> None:
    expect(demo.locator("#basis")).to_have_text("o200k_base")
    for words in ("other models count differently", "inferred"):
        assert words in demo.locator("main").inner_text()


def test_a_pasted_payload_can_hold_anything(demo: Page) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\n' * 40
    title = demo.title()
    demo.get_by_label("Paste a tool’s output").fill(hostile)
    shorten(demo)
    assert demo.locator("#text img, #text script").count() == 0
    assert demo.title() == title


def test_a_picked_file_keeps_its_bytes(demo: Page, tmp_path: Path) -> None:
    demo.reload()
    file = tmp_path / "odd.log"
    file.write_bytes(log(b"\xff\x00"))
    demo.get_by_label("Pick a file").set_input_files(file)
    expect(demo.locator("#payload-note")).to_contain_text("odd.log")
    expect(demo.get_by_role("button", name="Shorten")).to_be_enabled(timeout=60_000)
    shorten(demo)
    demo.get_by_role("button", name=re.compile("^ccr_")).last.click()
    expect(demo.locator("#proof")).to_contain_text(f"All {file.stat().st_size:,} bytes came back")


def test_it_fits_a_phone_and_needs_no_mouse(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(site)
    expect(page.locator("#status")).to_have_text("Ready.", timeout=60_000)
    page.get_by_role("button", name="Service log").press("Enter")
    expect(page.get_by_label("Paste a tool’s output")).not_to_be_empty()
    page.get_by_label("What is the reader after?").press("Enter")
    expect(page.locator("#handle")).to_be_visible()
    page.locator("#handle").press("Enter")
    expect(page.locator("#proof")).to_contain_text("bytes came back")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_everything_that_can_be_used_has_a_name(demo: Page) -> None:
    nameless = demo.evaluate(
        """() => [...document.querySelectorAll("button, input, textarea")]
        .filter((e) => e.checkVisibility())
        .filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute("aria-label")))
        .map((e) => e.outerHTML)"""
    )
    assert nameless == []


def test_the_policy_is_never_broken(context: BrowserContext, site: str) -> None:
    said: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.goto(site)
    expect(page.locator("#status")).to_have_text("Ready.", timeout=60_000)
    assert said == []


def test_once_prints_one_line_of_json() -> None:
    command = [sys.executable, str(ROOT / "web" / "once.py"), str(ROOT / "web" / "dist")]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    report = json.loads(done.stdout)
    assert (done.returncode, report["exact"]) == (0, True), done.stderr.decode()
    assert set(report) == {"handle", "tokens_before", "tokens_after", "exact"}
    assert report["tokens_after"] < report["tokens_before"]
