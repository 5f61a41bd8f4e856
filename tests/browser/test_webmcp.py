"""WebMCP in the real thing: Chromium with its feature on, from the page and from frames."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from once import FLAGS, serving
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import Browser, BrowserContext, Frame

from caveman_wasm import tools
from caveman_wasm.references import handle

pytestmark = pytest.mark.browser
FRAMEABLE = "script-src 'self' 'wasm-unsafe-eval'"
REGISTER = """const { registerWebMCP } = await import(`${base}caveman.js`);
globalThis.control = new AbortController(); const { signal } = globalThis.control;"""
NAMES = "(await document.modelContext.getTools()).map((tool) => tool.name)"
# What a page or frame gets by the browser's own API for a tool's name and arguments.
EXECUTE = """async ([name, args, from]) => {
  const found = await document.modelContext.getTools(from ? { fromOrigins: [from] } : undefined);
  const tool = found.find((tool) => tool.name === name);
  return tool ? document.modelContext.executeTool(tool, args) : "no such tool";
}"""


@pytest.fixture(scope="module")
def featured(chromium: Browser) -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM") or None
    browser = chromium.browser_type.launch(executable_path=path, args=[*FLAGS, "--enable-features=WebMCP"])
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def context(featured: Browser) -> Iterator[BrowserContext]:
    context = featured.new_context()
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture(scope="module")
def elsewhere(dist: Path) -> Iterator[str]:
    """The same files from another origin."""
    with serving(str(dist.parent)) as root:
        yield f"{root}dist/"


@pytest.fixture(scope="module")
def provider(context: BrowserContext, site: str, elsewhere: str) -> Iterator[Engine]:
    """A page that has registered its tools, and shows them to the other origin."""
    engine = bare(context.new_page(), site, FRAMEABLE)
    origin = elsewhere.removesuffix("/dist/")
    engine.run(f"{REGISTER} await registerWebMCP(caveman, {{ signal, exposedTo: [origin] }});", origin=origin)
    engine.run("await caveman.compress(bytes(payload));", payload=log())
    yield engine
    engine.page.close()


def _frame(engine: Engine, url: str, allow: str) -> Frame:
    engine.page.evaluate(
        """([src, allow]) => new Promise((done) => {
        const frame = Object.assign(document.createElementNS("http://www.w3.org/1999/xhtml", "iframe"), { src, allow });
        frame.onload = done; document.documentElement.append(frame); })""",
        [url, allow],
    )
    return engine.page.frames[-1]


def _executed(where: Any, name: str, args: dict[str, Any], from_origin: str | None = None) -> str:
    text: str = where.evaluate(EXECUTE, [name, args, from_origin])
    return text


def test_the_page_has_the_whole_table(provider: Engine) -> None:
    listed = provider.run(
        """return (await document.modelContext.getTools()).map(({ name, title, description, inputSchema, annotations }) =>
            ({ name, title, description, inputSchema: typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema,
               readOnlyHint: annotations.readOnlyHint }))"""
    )
    rows = [
        {name: row[name] for name in ("name", "title", "description", "inputSchema")}
        | {"readOnlyHint": row["annotations"]["readOnlyHint"]}
        for row in tools.listing()
    ]
    assert listed == sorted(rows, key=lambda row: str(row["name"]))  # the browser's order


def test_the_page_calls_and_errors_arrive_as_text(provider: Engine) -> None:
    page = provider.page
    assert _executed(page, "caveman_retrieve", {"reference": handle(log())}) == log().decode()
    unknown = "ccr_" + "0" * 32
    assert _executed(page, "caveman_retrieve", {"reference": unknown}).startswith("cave_unknown_handle: ")
    assert _executed(page, "caveman_retrieve", {}).startswith("cave_invalid_arguments: ")


def test_a_frame_of_the_same_origin_calls(provider: Engine, site: str) -> None:
    frame = _frame(provider, f"{site}icon.svg", "tools")
    assert _executed(frame, "caveman_retrieve", {"reference": handle(log()), "query": "frame"}) == log().decode()


def test_a_frame_of_an_allowed_origin_calls(provider: Engine, site: str, elsewhere: str) -> None:
    frame = _frame(provider, f"{elsewhere}icon.svg", "tools")
    whole = {"reference": handle(log()), "query": "elsewhere"}
    assert _executed(frame, "caveman_retrieve", whole, site.removesuffix("/dist/")) == log().decode()


def test_all_tools_or_none(context: BrowserContext, site: str) -> None:
    engine = bare(context.new_page(), site)
    names, failed, left, back = engine.run(
        f"""{REGISTER}
        await document.modelContext.registerTool({{ name: "caveman_stats", description: "taken", execute: () => "" }});
        const failed = await outcome(() => registerWebMCP(caveman));
        const left = {NAMES};
        return [{NAMES}, failed.name, left, await outcome(() => registerWebMCP(caveman, {{ signal: AbortSignal.abort() }}))];"""
    )
    assert names == left == ["caveman_stats"]
    assert failed == "InvalidStateError"
    assert back["name"] == "AbortError"


def test_the_signal_takes_the_tools_back(context: BrowserContext, site: str) -> None:
    engine = bare(context.new_page(), site)
    before, after = engine.run(
        f"{REGISTER} await registerWebMCP(caveman, {{ signal }}); const before = {NAMES}; control.abort(); return [before, {NAMES}];"
    )
    assert (before, after) == (sorted(tools.TOOLS), [])


def test_without_the_feature_it_says_so(engine: Engine) -> None:
    has, ended = engine.run(
        """const { hasWebMCP, registerWebMCP } = await import(`${base}caveman.js`);
        return [hasWebMCP(), await outcome(() => registerWebMCP(caveman))];"""
    )
    assert has is False
    assert (ended["ours"], ended["code"]) == (True, "cave_not_available")
    assert "WebMCP is not available here" in ended["message"]


def test_where_the_policy_forbids_it_it_says_so(provider: Engine, site: str) -> None:
    frame = _frame(provider, f"{site}icon.svg", "tools 'none'")
    ended = frame.evaluate(
        """async (base) => {
        const { registerWebMCP } = await import(`${base}caveman.js`);
        return registerWebMCP({ tools: [{ name: "t", description: "d" }] }).catch((e) => [e.code, e.message]); }""",
        site,
    )
    assert ended[0] == "cave_not_available"
    assert "permissions policy" in ended[1]
