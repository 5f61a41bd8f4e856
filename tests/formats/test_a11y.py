"""Snapshots of pages: what can be acted on stays with its ref, rows are records, decoration goes by marker."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, seconds, shorten
from test_test_report import inside

from caveman_wasm import Engine, open_memory
from caveman_wasm.detect import detect
from caveman_wasm.formats.a11y import A11Y
from caveman_wasm.model import raw


def playwright(rows: int = 60) -> str:
    out = ["- generic [ref=e1]:", '  - banner [ref=e2]:', '    - heading "Orders" [level=1] [ref=e3]', '    - button "New order" [ref=e4]',
           '    - textbox "Search" [ref=e5]', '  - alert [ref=e6]: Two orders need attention', '  - table "Orders" [ref=e7]:', "    - rowgroup [ref=e8]:",
           "      - row [ref=e9]:", '        - columnheader "Number" [ref=e10]', '        - columnheader "Status" [ref=e11]']  # fmt: skip
    out.append("    - rowgroup [ref=e12]:")
    for i in range(rows):
        out += [
            f"      - row [ref=r{i}]:",
            f'        - cell "ord-{1000 + i}" [ref=n{i}]',
            f'        - cell "{"late" if i == 31 else "paid"}" [ref=s{i}]',
        ]
    out += ['  - heading "Help" [level=2] [ref=e20]', "  - paragraph [ref=e21]:"]
    out += [f"    - text: Sentence {i} of a long paragraph that nobody acts on at all." for i in range(60)]
    out += [
        '  - heading "Contact" [level=2] [ref=e22]',
        '  - link "Write to us" [ref=e23]:',
        "    - /url: /contact",
        '  - checkbox "Remember me" [checked] [ref=e24]',
    ]
    return "\n".join(out) + "\n"


def devtools() -> str:
    out = ['uid=1_0 RootWebArea "Page" url="http://x/"', '  uid=1_1 heading "Top" level="1"']
    out += [f'  uid=1_{i} "words of running text, part {i}, that go on for a while"' for i in range(2, 120)]
    out += ['  uid=1_200 button "Send"', '  uid=1_201 "a name\nwith a line end"', '  uid=1_202 textbox "Mail" focused']
    return "\n".join(out) + "\n"


def tree(texts: int = 120) -> str:
    def node(identifier: int, role: str, name: str, **more: object) -> dict[str, object]:
        sources = [
            {"type": "attribute", "attribute": "aria-label"},
            {"type": "contents", "value": {"type": "computedString", "value": name}},
        ] * 3
        said = {"name": {"type": "computedString", "value": name, "sources": sources}} if name else {}
        return {"nodeId": str(identifier), "ignored": False, "role": {"type": "role", "value": role}, "chromeRole": {"type": "internalRole", "value": 9},
                **said, "properties": [], "childIds": [], "backendDOMNodeId": identifier, **more}  # fmt: skip

    nodes = [
        node(1, "RootWebArea", "Page", childIds=["2", "3"]),
        node(2, "button", "Send it"),
        node(3, "heading", "Top", childIds=["4"]),
    ]
    nodes.append(node(4, "StaticText", "Top"))
    for i in range(texts):
        nodes.append(node(100 + i, "InlineTextBox", f"piece {i}"))
        nodes.append(
            node(
                1000 + i,
                "none",
                "",
                ignored=True,
                ignoredReasons=[{"name": "uninteresting", "value": {"type": "boolean", "value": True}}],
            )
        )
    return json.dumps({"nodes": nodes})


def test_what_can_be_acted_on_stays_with_its_ref() -> None:
    text = shorten(A11Y, playwright()).text
    for kept in ('heading "Orders"', 'button "New order" [ref=e4]', 'textbox "Search"', "alert [ref=e6]: Two orders", 'columnheader "Status"',
                 'link "Write to us" [ref=e23]', "[checked]"):  # fmt: skip
        assert kept in text
    assert len(text) < 0.5 * len(playwright())


def test_rows_are_records_with_facts_under_their_headers() -> None:
    made = shorten(A11Y, playwright(200))
    rows = [m for m in made.markers if m.noun == "rows"]
    assert rows
    assert sum(m.count for m in rows) + made.text.count("- row [ref=r") == 200
    assert any("Number: " in fact for m in rows for fact in m.facts)
    assert '"late"' in made.text


def test_running_text_goes_by_marker_and_lines_that_stay_are_lines_of_the_page() -> None:
    made = shorten(A11Y, playwright())
    lines = set(playwright().split("\n"))
    for line in raw(made.text).decode().split("\n"):
        assert line in lines or line.startswith(("…", "[caveman: "))
    assert any(m.noun == "nodes" for m in made.markers)
    assert "Sentence 50 " not in made.text


def test_a_devtools_snapshot_keeps_buttons_and_names_over_two_lines() -> None:
    made = shorten(A11Y, devtools())
    for kept in ('RootWebArea "Page"', 'heading "Top"', 'button "Send"', 'textbox "Mail" focused'):
        assert kept in made.text
    assert "part 100" not in made.text
    document = cut(A11Y, devtools())
    assert document is not None
    units = [document.text[a:b] for g in document.groups for a, b in zip(g.starts, g.stops, strict=True)]
    assert any("a name\nwith a line end" in unit for unit in units)


@pytest.mark.parametrize("payload", [tree(), json.dumps(json.loads(tree()), indent=1)])
def test_a_cdp_tree_stays_json_and_keeps_what_tells_something(payload: str) -> None:
    made = shorten(A11Y, payload)
    nodes = json.loads(made.text)["nodes"]
    shown = {n["name"]["value"]: n for n in nodes if "name" in n}
    assert {"Page", "Send it", "Top"} <= shown.keys()
    assert shown["Send it"]["role"] == {"type": "role", "value": "button"}
    assert shown["Send it"]["backendDOMNodeId"] == 2
    assert len(made.text) < 0.5 * len(payload)
    assert sum(n.get("_caveman_elided", 0) for n in nodes if "nodeId" not in n) > 100


def test_trees_under_result_are_found_and_others_refused() -> None:
    assert cut(A11Y, json.dumps({"id": 1, "result": json.loads(tree())})) is not None
    for bad in ("{}", '{"nodes":[]}', '{"nodes":{}}', '{"nodes":[', "{" * 300, "plain text\nof two lines\n"):
        assert cut(A11Y, bad) is None


def test_the_query_s_row_is_kept_and_narrowing_finds_one() -> None:
    engine, payload = Engine(open_memory()), playwright(200).encode()
    result = engine.compress(payload, query="ord-1117")
    assert 'cell "ord-1117"' in result.text
    assert result.recovery_handle is not None
    assert b'cell "ord-1155" [ref=n155]' in engine.retrieve_query(result.recovery_handle, "ord-1155")
    assert engine.retrieve(result.recovery_handle) == payload


@pytest.mark.parametrize("payload", [playwright(150), tree()])
def test_a_larger_ceiling_never_shows_less(payload: str) -> None:
    engine = Engine(open_memory())
    lines: set[str] = set()
    for ceiling in (150, 300, 600, 1200, 3000):
        result = engine.compress(payload.encode(), max_tokens=ceiling)
        kept = {x for x in result.text.split("\n") if "- row" in x or "button" in x or "heading" in x}
        if payload.startswith("{"):
            json.loads(result.text)
        else:
            assert lines <= kept
        lines = kept
        assert result.tokens_after <= ceiling or result.reason == "over_budget"


PIECES = st.sampled_from(["- button \"x\" [ref=e1]\n", "  - row [ref=e2]:\n", "    - cell \"a\"\n", "uid=1_2 link \"b\"\n", "\n", "\r\n", " ", "- heading \"h\"\n",
                          "{\"nodes\":[", "{\"nodeId\":\"1\",\"role\":{\"value\":\"link\"}}", ",", "]}", "\xff", "- text: x\n"])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=60).map(lambda p: "".join(p).encode("latin-1"))))
def test_any_bytes_are_cut_into_units_in_order_or_not_at_all(payload: bytes) -> None:
    document = cut(A11Y, payload)
    if document is not None:
        inside(document, document.groups, 0, len(document.text))
        shorten(A11Y, payload, places=0)


GROWING: dict[str, Callable[[int], str]] = {
    "one long line": lambda n: '- link "a"\n- button "' + "x" * n,
    "deeper and deeper": lambda n: "\n".join(" " * i + "- row" for i in range(int((2 * n) ** 0.5))),
    "siblings": lambda n: "- row [ref=e1]:\n  - cell\n" * (n // 26),
    "four alike, again and again": lambda n: ("- row\n" * 4 + "- link\n") * (n // 31),
    "headings": lambda n: '- heading "h" [ref=e1]\n' * (n // 23),
    "empty lines": lambda n: '- link "a"\n- link "b"\n' + "\n" * n,
    "escapes": lambda n: '- link "' + '\\"' * (n // 2) + '\n- link "b"\n',
    "names over lines": lambda n: 'uid=1_1 link "a"\nuid=1_2 "' + "x\n" * (n // 2),
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    assert seconds(A11Y, make(400_000)) < 12 * seconds(A11Y, make(100_000)) + 0.3


def test_what_stands_above_a_snapshot_stays() -> None:
    said = "### Page state\n- Page URL: https://shop.example/orders\n- Page Title: Orders\n- Page Snapshot:\n"
    text = Engine(open_memory()).compress(f"{said}```yaml\n{playwright(80)}```\n").text
    assert text.startswith(said + "```yaml\n")


def test_a_long_text_in_a_node_keeps_its_head() -> None:
    words = " ".join(f"word{i}" for i in range(4_000))
    payload = f'- main [ref=e1]:\n  - generic [ref=e2]: "{words}"\n'
    text = Engine(open_memory()).compress(payload).text
    assert '- generic [ref=e2]: "word0 word1 word2' in text
    assert len(text) < len(payload) / 2
    assert "word3999" not in text


def test_a_snapshot_of_roles_that_few_pages_have_is_one() -> None:
    rows = "".join(
        f'- term:\n  - link "Chapter {i}":\n    - /url: chapter{i}.html\n    - code: part_{i}\n- definition: What it is.\n'
        for i in range(9)
    )
    assert detect(rows) == "a11y"
    assert detect("".join(f"- name: step {i}\n  link: build\n  code: {i}\n" for i in range(9))) == "config"
