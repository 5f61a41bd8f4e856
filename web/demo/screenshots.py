"""Takes the README's pictures of the demo: `python web/demo/screenshots.py DIST`"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from once import launch, serving
from playwright.sync_api import Page, expect, sync_playwright

OUT = Path(__file__).parent / "screenshots"


def ready(page: Page) -> None:
    """Wait until the page has done what it was told."""
    expect(page.locator("#status")).to_have_text("Ready.", timeout=60_000)


def playground(page: Page) -> None:
    """A sample shortened, one marker picked."""
    page.get_by_label("Sample", exact=True).select_option("orders.json")
    page.get_by_role("button", name="Shorten").click()
    ready(page)
    page.locator("#facts-title").click()
    page.locator("#facts button").first.click()


def agent(page: Page) -> None:
    """Both agents have run."""
    page.get_by_role("button", name="Run both").click()
    expect(page.locator("#outcome")).to_be_visible(timeout=60_000)
    ready(page)


SHOTS = {
    "playground": ("index.html", playground, "section[aria-labelledby=result-title]"),
    "agent": ("agent.html", agent, "section[aria-labelledby=script-title]"),
}


def main(dist: str) -> None:
    """The part of each page that says most."""
    OUT.mkdir(exist_ok=True)
    with serving(dist) as site, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        for name, (address, act, part) in SHOTS.items():
            page.goto(site + address)
            ready(page)
            act(page)
            page.locator(part).screenshot(path=OUT / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
