"""A page with a running engine, driven from Python."""

from __future__ import annotations

import base64
from typing import Any

from playwright.sync_api import Page, Route, Worker

# What every test's JavaScript sees besides `caveman`: bytes as base64 both ways, and how a call ended, as data.
HELPERS = """
const { createCaveman, CavemanError } = await import(`${base}caveman.js`);
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const base64 = (array) => {
  let text = "";
  for (let at = 0; at < array.length; at += 32768) text += String.fromCharCode(...array.subarray(at, at + 32768));
  return btoa(text);
};
const outcome = async (call) => {
  try {
    return { value: await call() };
  } catch (e) {
    return { ours: e instanceof CavemanError, name: e.name, code: e.code, message: e.message, reference: e.reference };
  }
};
"""


class Engine:
    """JavaScript with a running caveman at hand, which ``start`` makes."""

    start = "globalThis.caveman ??= await createCaveman();"

    def __init__(self, page: Page, base: str, worker: Worker | None = None) -> None:
        self.page = page
        self.base = base
        self.where = worker or page  # the script runs in the page, or in this worker of it

    def run(self, body: str, **given: Any) -> Any:
        """What the body of an async function returns; ``given`` are its variables, bytes as base64."""
        given = {name: _sendable(value) for name, value in given.items()}
        names = ", ".join(given)
        script = (
            f"async ([base, {{ {names} }}]) => {{ {HELPERS} {self.start} const caveman = globalThis.caveman; {body} }}"
        )
        return self.where.evaluate(script, [self.base, given])

    def outcome(self, call: str, **given: Any) -> dict[str, Any]:
        """How a call ended: its value, or its error's fields."""
        ended: dict[str, Any] = self.run(f"return outcome(async () => {call});", **given)
        return ended


def _sendable(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def bare(page: Page, site: str, csp: str | None = None) -> Engine:
    """An empty page of the site's origin, under the site's policy, or with every response under another."""

    def under_it(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, headers=response.headers | {"content-security-policy": csp or ""})

    if csp is not None:
        page.route("**/*", under_it)
    page.goto(f"{site}icon.svg")
    return Engine(page, site)
