"""The demo's pages, as a person uses them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from once import serving
from payloads import log
from playwright.sync_api import Browser, BrowserContext, Page, expect

from caveman_wasm import tools

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SAMPLES = {
    "orders.json": "json",
    "service.log": "log",
    "readings.csv": "tabular",
    "report.md": "text",
    "reference.html": "html",
    "select.py": "code",
    "README.md": "text",
    "package-lock.json": "json",
    "history.diff": "diff",
    "hits.txt": "search-result",
    "manifests.yaml": "config",
    "install.ansi": "terminal",
    "tests.txt": "test-report",
    "page.yaml": "a11y",
    "tools.json": "toolschema",
    "mcp.json": "json",
}
READY = 60_000  # ms


def ready(page: Page) -> None:
    expect(page.locator("#status")).to_have_text("Ready.", timeout=READY)


@pytest.fixture
def demo(context: BrowserContext, site: str) -> Page:
    """The playground with a store of its own."""
    page = context.new_page()
    page.goto(site)
    ready(page)
    return page


def shorten(page: Page, sample: str | None = None) -> None:
    if sample:
        page.get_by_label("Sample", exact=True).select_option(sample)
        expect(page.locator("#payload-note")).to_contain_text(sample)
    page.get_by_role("button", name="Shorten").click()
    ready(page)


def in_view(page: Page, which: str) -> str:
    """What a code view shows of its text: the lines in sight."""
    return page.locator(f"#{which} .cm-content").inner_text()


# ---------------------------------------------------------------- the playground


def test_every_sample_is_shortened_and_brought_back(demo: Page) -> None:
    for name, kind in SAMPLES.items():
        shorten(demo, name)
        expect(demo.locator("#type")).to_have_text(kind)
        before, after = (int(demo.locator(which).inner_text().replace(",", "")) for which in ("#before", "#after"))
        assert 0 < after < before, name
        assert demo.locator("#facts li").count() > 0, name
        demo.get_by_role("button", name=re.compile("^ccr_[0-9a-f]{32}$")).click()
        expect(demo.locator("#proof")).to_have_text(re.compile(r"^All [\d,]+ bytes came back"))


def test_markers_are_explained_and_lead_to_what_they_stand_for(demo: Page) -> None:
    shorten(demo, "orders.json")
    demo.locator("#text .marker").first.hover()
    tooltip = demo.locator("#text .cm-tooltip")
    expect(tooltip).to_contain_text(re.compile(r"stands for \d+ elements"))
    facts = demo.locator("#facts li").first.locator(".fact")
    assert facts.count() > 1
    expect(tooltip).to_contain_text(facts.first.text_content() or "no fact")
    demo.locator("#facts-title").click()
    demo.locator("#facts button").nth(1).click()
    expect(demo.locator("#text .marker.chosen").first).to_be_visible()
    expect(demo.locator("#original .gone.chosen").first).to_be_visible()
    stood = "".join(demo.locator("#original .gone.chosen").all_inner_texts())
    order = re.search(r"ord-\d+", stood)
    assert order
    assert f'"order_id":"{order[0]}"' not in in_view(demo, "text")


def test_a_question_and_selectors_cut_the_original(demo: Page) -> None:
    shorten(demo, "orders.json")
    demo.get_by_label("Ask the original a question").fill("issuer declined")
    demo.get_by_role("button", name="Ask").click()
    expect(demo.locator("#proof")).to_contain_text("narrowed to")
    expect(demo.locator("#returned")).to_contain_text("card expired")
    selector = demo.get_by_label("Or cut one piece out")
    selector.fill("#/orders/139/amount")
    expect(demo.locator("#returned")).to_have_text('"184200.00"')
    expect(demo.locator("#selector-note")).to_contain_text("exactly as they stand")
    selector.fill("#/orders/9999")
    expect(demo.locator("#selector-note")).to_contain_text("cave_")
    ready(demo)


def test_options_reach_the_engine(demo: Page) -> None:
    demo.get_by_label("What is the reader after?").fill("")
    shorten(demo, "orders.json")
    free = int(demo.locator("#after").inner_text().replace(",", ""))
    demo.reload()
    ready(demo)
    demo.get_by_label("At most").fill(str(free // 2))
    shorten(demo, "orders.json")
    assert int(demo.locator("#after").inner_text().replace(",", "")) <= free // 2
    demo.get_by_label("At most").fill("")
    demo.get_by_label("What is the reader after?").fill("ord-1234")
    shorten(demo)
    expect(demo.locator("#text")).to_contain_text("ord-1234")


def test_the_page_says_what_it_counts(demo: Page) -> None:
    expect(demo.locator("#basis")).to_have_text("o200k_base")
    for words in ("other models count differently", "inferred"):
        assert words in demo.locator("main").inner_text()


def test_a_pasted_payload_can_hold_anything(demo: Page) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>\n' * 40
    demo.get_by_label("Or paste a tool’s output").fill(hostile)
    shorten(demo)
    assert "<img src=x" in in_view(demo, "original")
    assert demo.locator("#text img, #original img, main script").count() == 0
    assert demo.title().startswith("caveman-wasm")


def test_a_picked_file_keeps_its_bytes(demo: Page, tmp_path: Path) -> None:
    payload = log().replace(b"\n", b"\r\n") + b"\xff\xfe no UTF-8\r\n"
    (tmp_path / "picked.log").write_bytes(payload)
    demo.get_by_label("Pick a file").set_input_files(tmp_path / "picked.log")
    expect(demo.locator("#payload-note")).to_contain_text(f"{len(payload):,} bytes")
    shorten(demo)
    demo.locator("#handle").click()
    expect(demo.locator("#proof")).to_have_text(f"All {len(payload):,} bytes came back, each the same as what went in.")


def test_a_dropped_file_keeps_its_bytes(demo: Page) -> None:
    payload = log().replace(b"\n", b"\r\n") + b"\xff"
    data = demo.evaluate_handle(
        """(bytes) => { const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], "dropped.log")); return data; }""",
        list(payload),
    )
    demo.locator("#input").dispatch_event("drop", {"dataTransfer": data})
    expect(demo.locator("#payload-note")).to_contain_text(f"dropped.log, {len(payload):,} bytes")
    shorten(demo)
    demo.locator("#handle").click()
    expect(demo.locator("#proof")).to_have_text(f"All {len(payload):,} bytes came back, each the same as what went in.")


def test_the_bars_are_as_long_as_the_tokens_say(demo: Page) -> None:
    shorten(demo, "orders.json")
    before, after = (int(demo.locator(which).inner_text().replace(",", "")) for which in ("#before", "#after"))
    long, short = (bar.bounding_box() for bar in demo.locator(".bar > span").all())
    assert long
    assert short
    assert short["width"] / long["width"] == pytest.approx(after / before, abs=0.02)


# ---------------------------------------------------------------- the store


def test_the_store_says_what_it_holds_and_lets_go_of_it(demo: Page) -> None:
    shorten(demo, "orders.json")
    shorten(demo, "service.log")
    expect(demo.locator("#held")).to_contain_text("2 records")
    budget = demo.get_by_role("meter", name=re.compile(r"KB of .* used"))
    assert 0 < budget.evaluate("(meter) => meter.value") < budget.evaluate("(meter) => meter.max")
    demo.get_by_text("What is held").click()
    assert demo.locator("#records tr").count() == 2
    demo.get_by_role("button", name=re.compile("^Forget ccr_")).first.click()
    expect(demo.locator("#store-note")).to_contain_text("was deleted")
    assert demo.locator("#records tr").count() == 1
    demo.get_by_text("Health", exact=True).click()
    expect(demo.locator("#health")).to_contain_text("as long as this page")
    demo.once("dialog", lambda dialog: dialog.dismiss())
    demo.get_by_role("button", name="Clear").click()
    expect(demo.locator("#held")).to_contain_text("1 record,")
    demo.once("dialog", lambda dialog: dialog.accept())
    demo.get_by_role("button", name="Clear").click()
    expect(demo.locator("#held")).to_contain_text("0 records")


def test_a_bundle_leaves_and_comes_back(demo: Page, tmp_path: Path) -> None:
    shorten(demo, "readings.csv")
    name = demo.locator("#handle").inner_text()
    with demo.expect_download() as download:
        demo.get_by_role("button", name="Export a bundle").click()
    download.value.save_as(tmp_path / "caveman.bundle")
    demo.reload()
    ready(demo)
    expect(demo.locator("#held")).to_contain_text("0 records")
    demo.get_by_label("Import a bundle").set_input_files(tmp_path / "caveman.bundle")
    expect(demo.locator("#store-note")).to_contain_text("1 item read")
    demo.get_by_text("What is held").click()
    assert demo.locator("#records th").all_inner_texts() == [name]


def test_what_is_kept_in_indexeddb_outlives_the_page(demo: Page) -> None:
    demo.get_by_role("switch", name="Keep originals in IndexedDB").check()
    ready(demo)
    shorten(demo, "orders.json")
    demo.reload()
    ready(demo)
    expect(demo.get_by_role("switch", name="Keep originals in IndexedDB")).to_be_checked()
    expect(demo.locator("#held")).to_contain_text("1 record,")
    expect(demo.locator("#health")).to_contain_text("before a result is shown")


# ---------------------------------------------------------------- the agent


@pytest.fixture
def agent(context: BrowserContext, site: str) -> Page:
    page = context.new_page()
    page.goto(f"{site}agent.html")
    ready(page)
    return page


def test_both_agents_answer_the_same_and_one_reads_far_less(agent: Page) -> None:
    agent.get_by_role("button", name="Run both").click()
    expect(agent.locator("#same")).to_have_text("Both agents gave the same answer, word for word.", timeout=READY)
    answer = agent.locator("#answer").inner_text()
    for fact in ("northbank", "9f3c1ab", "from 12000 to 3000", "6137 ms", "214 refunds", "ref-104777 is about"):
        assert fact in answer
    turns = agent.locator("#turns > li")
    assert turns.count() == 6
    assert "caveman_retrieve" in turns.nth(5).inner_text()
    without, with_it = (
        int(text.replace(",", ""))
        for text in re.findall(r"([\d,]+) (?:tokens )?with", agent.locator("#totals").inner_text())
    )
    assert with_it * 4 < without
    expect(agent.get_by_role("img", name=re.compile("^Context size in tokens"))).to_be_visible()


class FakeEndpoint(BaseHTTPRequestHandler):
    """A fake of an OpenAI-compatible endpoint: it calls one tool, asks for one refund, and repeats what it read."""

    seen: ClassVar[list[dict[str, Any]]] = []
    keys: ClassVar[list[str | None]] = []

    def _answer(self, body: bytes = b"") -> None:
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*, Authorization")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_OPTIONS(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(asked)
        self.keys.append(self.headers["Authorization"])
        read = [message["content"] for message in asked["messages"] if message["role"] == "tool"]
        if not read:
            message = self._call("list_failed_refunds", {})
        elif len(read) == 1:
            named = re.search(r"ccr_[0-9a-f]{32}", read[0])
            message = self._call("caveman_retrieve", {"reference": named and named[0], "query": "ref-104777"})
        else:
            message = {"role": "assistant", "content": f"read: {read[1]}"}
        self._answer(json.dumps({"choices": [{"message": message}], "usage": {"prompt_tokens": 321}}).encode())

    def _call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        called = {
            "id": f"call-{name}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        return {"role": "assistant", "content": None, "tool_calls": [called]}

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    FakeEndpoint.seen.clear()
    FakeEndpoint.keys.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), FakeEndpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/"
        server.shutdown()


def test_a_model_of_the_persons_own_reads_shortened_outputs(agent: Page, endpoint: str) -> None:
    agent.get_by_label("Address").fill(endpoint)
    agent.get_by_label("Model", exact=True).fill("fake")
    agent.get_by_label("Key").fill("sk-secret")
    agent.locator("#ask-model").click()
    expect(agent.locator("#conversation .answer")).to_contain_text("ref-104777", timeout=READY)
    assert FakeEndpoint.keys == ["Bearer sk-secret"] * 3
    tool = [message for message in FakeEndpoint.seen[1]["messages"] if message["role"] == "tool"]
    assert "_caveman_elided" in tool[0]["content"]
    offered = {tool["function"]["name"]: tool["function"] for tool in FakeEndpoint.seen[0]["tools"]}
    (ours,) = tools.listing("model")
    assert offered["caveman_retrieve"]["description"] == ours["description"]
    assert offered["caveman_retrieve"]["parameters"] == ours["inputSchema"]
    kept = agent.evaluate(
        "[...Object.values(localStorage), ...Object.values(sessionStorage), document.cookie, location.href]"
    )
    assert not any("sk-secret" in text for text in kept)
    expect(agent.locator("#conversation")).to_contain_text("the endpoint counted 321 tokens")


def test_without_the_switch_the_model_reads_it_all(agent: Page, endpoint: str) -> None:
    agent.get_by_label("Address").fill(endpoint)
    agent.get_by_label("Model", exact=True).fill("fake")
    agent.get_by_role("switch", name="Shorten tool outputs").uncheck()
    agent.locator("#ask-model").click()
    expect(agent.locator("#conversation .answer")).to_be_visible(timeout=READY)
    tool = [message for message in FakeEndpoint.seen[1]["messages"] if message["role"] == "tool"]
    assert len(tool[0]["content"]) > 30_000


def test_the_browsers_own_model_is_asked_where_there_is_one(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.add_init_script(
        """globalThis.LanguageModel = {  // a fake: this Chromium has no model
          create: async () => ({ prompt: async (text) => `fake model read ${text.length}`, destroy() {} }),
        };"""
    )
    page.goto(f"{site}agent.html")
    ready(page)
    page.get_by_role("button", name="Ask this browser’s own model").click()
    expect(page.locator("#conversation .answer")).to_contain_text("fake model read", timeout=READY)
    length = int(page.locator("#conversation .answer").inner_text().split()[-1])
    assert 2_000 < length < 60_000


def test_the_browsers_own_model_can_ask_for_what_was_left_out(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.add_init_script(
        """class Made { constructor(given) { Object.assign(this, given); } }  // fakes: this Chromium has no model
        Object.assign(globalThis, { LanguageModelToolCall: Made, LanguageModelToolSuccess: Made, LanguageModelToolError: Made });
        globalThis.LanguageModel = {
          create: async ({ tools: [{ name }], expectedOutputs }) => ({
            prompt: async (input) => typeof input === "string" && expectedOutputs.some(({ type }) => type === "tool-call")
              ? [{ type: "tool-call", value: new Made({ callID: "1", name, arguments: { reference: /ccr_[0-9a-f]{32}/.exec(input)[0] } }) }]
              : [{ type: "text", value: `fake model read ${input[0].content[0].value.result[0].value.length}` }],
            destroy() {} }),
        };"""
    )
    page.goto(f"{site}agent.html")
    ready(page)
    page.get_by_role("button", name="Ask this browser’s own model").click()
    answer = page.locator("#conversation .answer")
    expect(answer).to_contain_text("fake model read", timeout=READY)
    whole = (ROOT / "web" / "dist" / "samples" / "incident" / "refunds.log").read_text("utf-8")
    assert int(answer.inner_text().split()[-1]) == len(whole)  # the first reference is of the first tool's output


def test_no_model_no_button(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.add_init_script("delete globalThis.LanguageModel;")
    page.goto(f"{site}agent.html")
    ready(page)
    expect(page.locator("#ask-browser")).to_be_hidden()


# ---------------------------------------------------------------- for everybody


def problems(page: Page) -> list[str]:
    """What axe-core finds wrong, whatever it is."""
    page.evaluate(AXE.read_text())
    found = page.evaluate(
        "axe.run().then((r) => r.violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.html).join(' | ')))"
    )
    return [str(violation)[:300] for violation in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: Browser, site: str, scheme: Any) -> None:
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True)  # axe is no part of the page
    page = context.new_page()
    page.goto(site)
    ready(page)
    shorten(page, "orders.json")
    for summary in page.locator("summary").all():
        summary.click()
    assert problems(page) == []
    page.goto(f"{site}agent.html")
    ready(page)
    page.get_by_role("button", name="Run both").click()
    expect(page.locator("#outcome")).to_be_visible(timeout=READY)
    ready(page)
    assert problems(page) == []
    context.close()


@pytest.mark.parametrize("address", ["", "agent.html"])
def test_it_fits_a_phone(context: BrowserContext, site: str, address: str) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(site + address)
    ready(page)
    if address:
        page.get_by_role("button", name="Run both").click()
        expect(page.locator("#outcome")).to_be_visible(timeout=READY)
    else:
        shorten(page, "orders.json")
        for summary in page.locator("summary").all():
            summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    words = page.locator(".chart text").all()
    assert [word.bounding_box()["height"] > 10 for word in words] == [True] * len(words)  # type: ignore[index]


def tab_to(page: Page, test: str) -> None:
    """The Tab key, until ``test`` holds of the focused element `a`."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(f"(() => {{ const a = document.activeElement; return {test}; }})()"):
            return
    raise AssertionError(f"the Tab key never came to {test}")


def test_the_playground_and_the_store_need_no_mouse(demo: Page) -> None:
    tab_to(demo, "a.id === 'sample'")
    demo.keyboard.press("ArrowDown")
    expect(demo.locator("#payload-note")).to_contain_text("orders.json")
    tab_to(demo, "a.id === 'compress'")
    demo.keyboard.press("Enter")
    ready(demo)
    tab_to(demo, "a.id === 'facts-title'")
    demo.keyboard.press("Enter")
    tab_to(demo, "a.closest('#facts') !== null")
    demo.keyboard.press("Enter")
    expect(demo.locator("#original .gone.chosen").first).to_be_visible()
    tab_to(demo, "a.id === 'handle'")
    demo.keyboard.press("Enter")
    expect(demo.locator("#proof")).to_contain_text("bytes came back")
    tab_to(demo, "a.id === 'persist'")
    demo.keyboard.press("Space")
    expect(demo.locator("#health")).to_contain_text("in IndexedDB")
    demo.keyboard.press("Space")
    expect(demo.locator("#health")).to_contain_text("as long as this page")
    ready(demo)
    tab_to(demo, "a.textContent === 'What is held'")
    demo.keyboard.press("Enter")
    expect(demo.locator("#records-note")).to_have_text("Nothing yet.")


def test_the_agent_needs_no_mouse(agent: Page) -> None:
    tab_to(agent, "a.id === 'run'")
    agent.keyboard.press("Enter")
    expect(agent.locator("#outcome")).to_be_visible(timeout=READY)
    ready(agent)
    tab_to(agent, "a.matches('#turns summary')")
    agent.keyboard.press("Enter")
    tab_to(agent, "a.matches('#turns pre')")  # where the arrow keys scroll
    expect(agent.locator("#turns pre").first).to_be_focused()
    tab_to(agent, "a.id === 'endpoint'")


@pytest.mark.parametrize("address", ["", "agent.html"])
def test_everything_that_can_be_used_has_a_name(context: BrowserContext, site: str, address: str) -> None:
    page = context.new_page()
    page.goto(site + address)
    ready(page)
    for role in ("button", "textbox", "combobox", "switch", "spinbutton", "link"):
        for found in page.get_by_role(role).all():  # type: ignore[arg-type]
            named = found.evaluate("(e) => e.ariaLabel || e.labels?.[0]?.textContent || e.textContent")
            assert named.strip(), found.evaluate("(e) => e.outerHTML")


@pytest.mark.parametrize("address", ["", "agent.html"])
def test_the_policy_is_never_broken_and_nobody_else_is_asked(context: BrowserContext, site: str, address: str) -> None:
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site + address)
    ready(page)
    if address:
        page.get_by_role("button", name="Run both").click()
        expect(page.locator("#outcome")).to_be_visible(timeout=READY)
    else:
        shorten(page, "service.log")
        page.locator("#text .marker").first.hover()
        expect(page.locator("#text .cm-tooltip")).to_be_visible()
    assert said == []
    origin = site.removesuffix("dist/")
    assert [url for url in asked if not url.startswith((origin, f"blob:{origin}"))] == []


def test_both_pages_work_without_a_network_once_they_are_kept(context: BrowserContext, dist: Path) -> None:
    page = context.new_page()
    with serving(str(dist)) as root:
        page.goto(root)
        ready(page)
        page.get_by_role("button", name="Keep this page").click()
        expect(page.locator("#keep")).to_have_text(re.compile("^Kept"), timeout=READY)
    # the server is gone by now
    page.goto(root)
    ready(page)
    expect(page.locator("#keep")).to_be_disabled()
    shorten(page, "orders.json")
    page.locator("#handle").click()
    expect(page.locator("#proof")).to_contain_text("bytes came back")
    page.get_by_role("link", name="Agent").click()
    ready(page)
    page.get_by_role("button", name="Run both").click()
    expect(page.locator("#same")).to_have_text("Both agents gave the same answer, word for word.", timeout=READY)


def test_once_prints_one_line_of_json() -> None:
    command = [sys.executable, str(ROOT / "web" / "once.py"), str(ROOT / "web" / "dist")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (line,) = done.stdout.splitlines()
    report = json.loads(line)
    assert list(report) == ["handle", "tokens_before", "tokens_after", "exact"]
    assert report["exact"] is True
