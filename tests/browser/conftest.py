"""One Chromium and one running engine for the whole suite, over the built folder served as strictly as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from once import launch, serving
from page_engine import Engine, bare
from playwright.sync_api import Browser, BrowserContext, sync_playwright

DIST = Path(__file__).parents[2] / "web" / "dist"
START = 60_000  # ms; a cold Pyodide on a busy machine


@pytest.fixture(scope="session")
def dist() -> Path:
    assert (DIST / "caveman.js").exists(), "web/dist is not built: run ./build_wasm.sh build"
    return DIST


@pytest.fixture(scope="session")
def site(dist: Path) -> Iterator[str]:
    """The folder's URL: not the root of its server, since it must work below any path."""
    with serving(str(dist.parent)) as root:
        yield f"{root}dist/"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    context.set_default_timeout(START)
    yield context
    context.close()


@pytest.fixture(scope="session")
def engine(chromium: Browser, site: str) -> Iterator[Engine]:
    """One page with one running caveman, for all tests that leave it as it was."""
    page = chromium.new_page()
    yield bare(page, site)
    page.close()
