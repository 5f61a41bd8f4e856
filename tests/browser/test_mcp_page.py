"""The MCP server over a MessagePort in Chromium, asked by the official client, as an application bundles both."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import Browser, Frame

from caveman_wasm import tools
from caveman_wasm.references import handle

pytestmark = pytest.mark.browser
WEB = Path(__file__).parents[2] / "web"
FRAMEABLE = "script-src 'self' 'wasm-unsafe-eval'"  # and no eval: the client and the server must do without
UNKNOWN = "ccr_" + "0" * 32
APP = """
export { createCaveman } from "caveman-wasm";
export { MessagePortTransport, serveMCP } from "caveman-wasm/adapters/mcp";
export { Client } from "@modelcontextprotocol/client";
"""
# What the page does: a server for each frame that asks, on a port of its own.
HOST = """const { createCaveman: _, serveMCP } = await import(`${base}app.js`);
addEventListener("message", ({ data, source }) => {
  if (data !== "caveman, please") return;
  const { port1, port2 } = new MessageChannel();
  globalThis.servers = [...(globalThis.servers ?? []), serveMCP(caveman, port1)];
  source.postMessage("here", "*", [port2]);
});"""
# What an agent in a frame does.
AGENT = """async (base) => {
  const { Client, MessagePortTransport } = await import(`${base}app.js`);
  const port = await new Promise((resolve) => {
    addEventListener("message", ({ ports: [port] }) => resolve(port), { once: true });
    parent.postMessage("caveman, please", "*");
  });
  globalThis.client = new Client({ name: "agent", version: "0" });
  await client.connect(new MessagePortTransport(port));
}"""


@pytest.fixture(scope="module")
def app() -> str:
    """The package by its own name, its peer and the client, in one file."""
    command = [WEB / "node_modules/.bin/esbuild", "--bundle", "--format=esm", "--target=es2022", "--log-level=error"]
    ended = subprocess.run(command, cwd=WEB, input=APP, check=True, capture_output=True, text=True, timeout=60)
    return ended.stdout


@pytest.fixture(scope="module")
def page(chromium: Browser, site: str, app: str) -> Iterator[Engine]:
    """A page that serves whoever asks."""
    context = chromium.new_context()
    context.set_default_timeout(60_000)
    page = context.new_page()
    engine = bare(page, site, FRAMEABLE)
    page.route(f"{site}app.js", lambda route: route.fulfill(body=app, content_type="text/javascript"))
    engine.start = """globalThis.caveman ??= await (await import(`${base}app.js`)).createCaveman({ baseURL: base });"""
    engine.run(HOST)
    yield engine
    context.close()


@pytest.fixture
def agent(page: Engine) -> Frame:
    """A frame with a connected client."""
    page.page.evaluate(
        """(src) => new Promise((done) => {
          const frame = Object.assign(document.createElementNS("http://www.w3.org/1999/xhtml", "iframe"), { src });
          frame.onload = done; document.documentElement.append(frame); })""",
        f"{page.base}icon.svg",
    )
    frame = page.page.frames[-1]
    frame.evaluate(AGENT, page.base)
    return frame


def test_an_agent_in_a_frame_lists_calls_and_gets_errors(page: Engine, agent: Frame) -> None:
    listed = agent.evaluate("client.listTools().then(({ tools }) => tools)")
    rows = [{k: v for k, v in row.items() if k != "audience"} for row in tools.listing()]
    assert [{k: v for k, v in row.items() if k != "_meta"} for row in listed] == rows
    call = "([name, args]) => client.callTool({ name, arguments: args })"
    shorter = agent.evaluate(call, ["caveman_compress", {"input": log().decode()}])
    assert "entries elided" in shorter["content"][0]["text"]
    assert shorter["_meta"]["caveman/report"]["recovery_handle"] == handle(log())
    whole = agent.evaluate(call, ["caveman_retrieve", {"reference": handle(log())}])
    assert whole["content"] == [{"type": "text", "text": log().decode()}]
    failed = agent.evaluate(call, ["caveman_retrieve", {"reference": UNKNOWN}])
    assert failed["isError"] is True
    assert failed["_meta"]["caveman/error"] == {"code": "cave_unknown_handle", "reference": UNKNOWN}


def test_resources_are_the_exact_originals(page: Engine, agent: Frame) -> None:
    payload = log(b"resource") + b"\xff\x00\xfe"
    name = page.run("return (await caveman.compress(bytes(payload))).recoveryHandle;", payload=payload)
    assert name == handle(payload)
    uris = agent.evaluate("client.listResources().then(({ resources }) => resources.map(({ uri }) => uri))")
    assert f"ccr://{name}" in uris
    (template,) = agent.evaluate("client.listResourceTemplates().then((found) => found.resourceTemplates)")
    assert template["uriTemplate"] == "ccr://{id}"
    read = "(uri) => client.readResource({ uri }).then(({ contents: [only] }) => only, ({ code, message }) => [code, message])"
    found = agent.evaluate(read, f"ccr://{name}")
    assert (found["uri"], found["mimeType"]) == (f"ccr://{name}", "application/octet-stream")
    assert base64.b64decode(found["blob"]) == payload
    lines = agent.evaluate(read, f"ccr://{name}#line=1,3")
    assert lines["text"].encode() == b"".join(payload.splitlines(keepends=True)[1:3])
    code, message = agent.evaluate(read, f"ccr://{UNKNOWN}")
    assert (code, "cave_unknown_handle" in message) == (-32602, True)


def test_each_frame_has_questions_of_its_own_and_a_closed_server_is_noticed(page: Engine, agent: Frame) -> None:
    page.run("await caveman.compress(bytes(payload));", payload=log(b"each"))
    ask = "(reference) => client.callTool({ name: 'caveman_retrieve', arguments: { reference } }).then((r) => r.content.length)"
    assert [agent.evaluate(ask, handle(log(b"each"))) for _ in range(2)] == [1, 2]  # the second with a note
    agent.evaluate("() => { globalThis.closed = new Promise((resolve) => (client.onclose = resolve)); }")
    page.run("for (const server of servers) await (await server).close();")
    agent.evaluate("closed")
