"""Test runs: totals and every failure are seen, passed cases are counted; XML stays well-formed, JSON lines JSON."""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import Shortened, cut, shorten

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.test_report import TEST_REPORT
from caveman_wasm.model import Document, Group, raw

TRACE = "\n".join(f"  at org.acme.Deep.m{i}(Deep.java:{i})" for i in range(60))


def junit(cases: int = 300, failing: tuple[int, ...] = (7, 200), *, one_line: bool = False, suites: int = 6) -> str:
    out = [f'<testsuites tests="{cases}" failures="{len(failing)}">']
    for s in range(suites):
        out.append(f'<testsuite name="org.acme.Suite{s}" tests="{cases // suites}">')
        for i in range(s * cases // suites, (s + 1) * cases // suites):
            head = f'<testcase classname="org.acme.Suite{s}" name="case{i}" time="0.{i:03d}"'
            if i in failing:
                out.append(
                    f'{head}><failure message="expected {i} but was {i + 1}">boom {i}\n{TRACE}\nend {i}</failure></testcase>'
                )
            elif i % 50 == 3:
                out.append(f'{head}><skipped message="needs a database"/></testcase>')
            else:
                out.append(f"{head}/>")
        out.append("</testsuite>")
    return ("" if one_line else "\n").join([*out, "</testsuites>"])


def made(payload: str | bytes, **options: object) -> Shortened:
    return shorten(TEST_REPORT, payload, **options)  # type: ignore[arg-type]


def groups(found: list[Group]) -> Iterator[Group]:
    for group in found:
        yield group
        for inside in group.children.values():
            yield from groups(inside)


@pytest.mark.parametrize("one_line", [False, True])
def test_xml_stays_well_formed_and_its_cases_add_up(one_line: bool) -> None:
    payload = junit(one_line=one_line)
    shown = made(payload)
    root = ET.fromstring(raw(shown.text))
    gone = sum(m.count for m in shown.markers if m.noun == "cases")
    assert len(root.findall(".//testcase")) + gone == 300
    assert len(shown.text) < 0.5 * len(payload)
    assert 'tests="300" failures="2"' in shown.text


def test_a_failure_shows_its_message_and_both_ends_of_its_trace() -> None:
    text = made(junit()).text
    for i in (7, 200):
        assert f'message="expected {i} but was {i + 1}"' in text
        assert f"boom {i}" in text
        assert f"end {i}<" in text
    assert "elided" in text.partition("boom 7")[2].partition("end 7")[0]


def test_a_comment_never_holds_two_hyphens() -> None:
    payload = junit().replace('name="case', 'name="case--').replace("needs a", "needs--a")
    text = made(payload).text
    ET.fromstring(raw(text))
    assert all("--" not in comment.partition("-->")[0] for comment in text.split("<!--")[1:])


def test_reasons_for_skipping_are_enumerated_and_constants_told() -> None:
    payload = junit(600, (), suites=1)
    said = "; ".join(fact for m in made(payload).markers for fact in m.facts)
    assert "needs a database" in made(payload).text
    assert "classname=org.acme.Suite0" in said
    assert "passed" in said


def test_names_of_failing_cases_are_told_even_where_hundreds_fail() -> None:
    payload = junit(600, tuple(range(0, 600, 2)), suites=1)
    shown = made(payload)
    counted = [fact for m in shown.markers for fact in m.facts if fact.startswith("failures")]
    assert counted
    assert shown.text.count("<failure") >= 8
    assert len(shown.text) < 0.6 * len(payload)


@pytest.mark.parametrize(
    "bad", ["<testsuites><testcase>", "<a></b>", "<testsuite", "<!-- open", "<a x='1></a>", "</a>", "<a/><b/>"]
)
def test_what_is_not_well_formed_is_not_cut(bad: str) -> None:
    assert cut(TEST_REPORT, bad) is None


def test_output_in_cdata_keeps_head_and_end() -> None:
    lines = "\n".join(f"line {i} <of> output & more" for i in range(200))
    payload = junit().replace("</testsuites>", f"<system-out><![CDATA[{lines}]]></system-out></testsuites>")
    text = made(payload).text
    ET.fromstring(raw(text))
    assert "line 0 " in text
    assert "line 199 " in text
    assert "line 100 " not in text


# ---------------------------------------------------------------- plain output


def pytest_run() -> str:
    head = "============ test session starts ============\ncollected 203 items\n\n"
    cases = [f"tests/test_a.py::test_{i} {'FAILED' if i in (50, 90) else 'PASSED'} [ {i // 2}%]" for i in range(200)]
    cases.insert(10, "tests/test_a.py::test_slow SKIPPED (needs a database) [  5%]")
    body = "\n".join(f"    step_{k} = prepare({k})" for k in range(40))
    fails = "".join(
        f"________________ test_{i} ________________\n\n    def test_{i}():\n{body}\n>       assert {i} == 0\nE       assert {i} == 0\n\ntests/test_a.py:{i}: AssertionError\n"
        for i in (50, 90)
    )
    end = "=== short test summary info ===\nFAILED tests/test_a.py::test_50 - assert 50 == 0\nFAILED tests/test_a.py::test_90 - assert 90 == 0\n"
    return (
        f"{head}"
        + "\n".join(cases)
        + f"\n\n=============== FAILURES ===============\n{fails}{end}==== 2 failed, 200 passed, 1 skipped in 3.21s ====\n"
    )


def unittest_run() -> str:
    cases = [f"test_{i} (m.T.test_{i}) ... {'FAIL' if i == 70 else 'ok'}" for i in range(150)]
    rule, thin = "=" * 70, "-" * 70
    return "\n".join([*cases, "", rule, "FAIL: test_70 (m.T.test_70)", thin, "Traceback (most recent call last):",
                      '  File "m.py", line 3, in test_70', "AssertionError: 70 is odd", "", thin, "Ran 150 tests in 0.5s", "",
                      "FAILED (failures=1)", ""])  # fmt: skip


def go_run() -> str:
    out = []
    for i in range(120):
        out.append(f"=== RUN   TestThing{i}")
        if i == 60:
            out.append("    thing_test.go:12: got 60, want 61")
        out.append(f"--- {'FAIL' if i == 60 else 'PASS'}: TestThing{i} (0.01s)")
    return "\n".join([*out, "FAIL", "FAIL\texample.com/thing\t0.52s", ""])


def cargo_run() -> str:
    cases = [f"test tests::case_{i} ... {'FAILED' if i == 60 else 'ok'}" for i in range(120)]
    return "\n".join(["running 120 tests", *cases, "", "failures:", "", "---- tests::case_60 stdout ----", "",
                      "thread 'tests::case_60' panicked at src/lib.rs:60:1:", "  left: 60", " right: 61", "", "failures:", "    tests::case_60", "",
                      "test result: FAILED. 119 passed; 1 failed; 0 ignored", ""])  # fmt: skip


def tap_run() -> str:
    out = ["TAP version 13"]
    for i in range(1, 121):
        out.append(f"{'not ok' if i == 60 else 'ok'} {i} - adds {i}")
        if i == 60:
            out += ["  ---", "  message: off by one at 60", "  ..."]
    return "\n".join([*out, "1..120", "# tests 120", "# pass 119", "# fail 1", ""])


def jest_run() -> str:
    out = []
    for f in range(30):
        out += [f"{'FAIL' if f == 7 else 'PASS'} src/mod{f}/thing.test.ts", f"  Thing {f}"]
        out += [f"    {'✕' if f == 7 and k == 3 else '✓'} does {k} in mod{f} ({k + 1} ms)" for k in range(6)]
        if f == 7:
            out += [
                "",
                "  ● Thing 7 › does 3",
                "",
                "    Expected: 7",
                "    Received: 8",
                "",
                "      at src/mod7/thing.test.ts:11:21",
                "",
            ]
    return "\n".join(
        [*out, "Test Suites: 1 failed, 29 passed, 30 total", "Tests:       1 failed, 179 passed, 180 total", ""]
    )


RUNS = {
    "pytest": (pytest_run, ["test_50 FAILED", "E       assert 50 == 0", "E       assert 90 == 0", "2 failed, 200 passed, 1 skipped", "needs a database"]),
    "unittest": (unittest_run, ["test_70 (m.T.test_70) ... FAIL", "AssertionError: 70 is odd", "Ran 150 tests", "FAILED (failures=1)"]),
    "go": (go_run, ["--- FAIL: TestThing60", "got 60, want 61", "FAIL\texample.com/thing"]),
    "cargo": (cargo_run, ["tests::case_60 ... FAILED", "  left: 60", " right: 61", "119 passed; 1 failed"]),
    "tap": (tap_run, ["not ok 60 - adds 60", "off by one at 60", "# tests 120", "# fail 1"]),
    "jest": (jest_run, ["✕ does 3 in mod7", "Expected: 7", "Received: 8", "1 failed, 179 passed"]),
}  # fmt: skip


@pytest.mark.parametrize("runner", RUNS)
def test_totals_and_failures_of_a_runner_are_seen_and_passed_cases_counted(runner: str) -> None:
    run, expected = RUNS[runner]
    payload = run()
    shown = made(payload)
    text = raw(shown.text).decode()
    assert [x for x in expected if x not in text] == []
    assert len(text) < 0.75 * len(payload)
    lines = set(payload.split("\n"))
    assert all(line in lines or line.startswith(("…", "[caveman: ")) for line in text.split("\n"))


@pytest.mark.parametrize("runner", RUNS)
def test_each_run_is_detected_and_comes_back_exactly(runner: str) -> None:
    engine, payload = Engine(open_memory()), RUNS[runner][0]().encode()
    result = engine.compress(payload)
    assert result.content_type == "test-report"
    assert result.recovery_handle is not None
    assert engine.retrieve(result.recovery_handle) == payload


def test_the_query_s_case_is_kept_and_narrowing_finds_one() -> None:
    engine, payload = Engine(open_memory()), pytest_run().encode()
    assert "test_123 PASSED" not in engine.compress(payload).text
    asked = engine.compress(payload, query="test_123")
    assert "test_123 PASSED" in asked.text
    assert asked.recovery_handle is not None
    assert b"test_a.py::test_77 PASSED" in engine.retrieve_query(asked.recovery_handle, "test_77")


def test_a_larger_ceiling_never_shows_less() -> None:
    engine, seen = Engine(open_memory()), -1
    for ceiling in (120, 200, 300, 450, 600, 900, 2000):
        kept = len(engine.compress(junit().encode(), max_tokens=ceiling).output)
        assert kept >= seen - 400  # facts and markers differ, units do not
        seen = max(seen, kept)


def test_go_s_events_stay_json_and_failing_tests_keep_their_output() -> None:
    events = []
    for i in range(200):
        base = {"Time": "2026-01-02T03:04:05Z", "Package": "example.com/p", "Test": f"Test{i}"}
        said = [f"=== RUN   Test{i}\n"] + ([f"    a_test.go:9: got {i}\n"] if i == 77 else [])
        events += [{**base, "Action": "run"}, *({**base, "Action": "output", "Output": x} for x in said)]
        events.append({**base, "Action": "fail" if i == 77 else "pass", "Elapsed": 0.01})
    payload = "".join(json.dumps(e) + "\n" for e in events)
    shown = made(payload)
    rows = [json.loads(line) for line in raw(shown.text).decode().splitlines()]
    assert any(r.get("Output", "").endswith("got 77\n") for r in rows)
    assert any(r.get("Action") == "fail" for r in rows)
    assert len(shown.text) < 0.3 * len(payload)


# ---------------------------------------------------------------- anything at all

PIECES = st.sampled_from(
    ["<testsuite name='a'>", "</testsuite>", "<testcase name='x'/>", "<testcase>", "<failure>", "</failure>", "</testcase>", "<![CDATA[", "]]>", "<!--",
     "-->", "\n", "\r\n", "ok 1 x\n", "not ok 2\n", "=== RUN T\n", "--- FAIL: T (0.1s)\n", "____ t ____\n", "E  x\n", "test a ... ok\n", "{", "}", '"',
     "x" * 700, "\xff", "=====", " \xe2\x97\x8f a\n"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.lists(PIECES, max_size=40).map(lambda p: "".join(p).encode("latin-1"))))
def test_any_bytes_are_cut_into_units_in_order_or_not_at_all(payload: bytes) -> None:
    document = cut(TEST_REPORT, payload)
    if document is not None:
        inside(document, document.groups, 0, len(document.text))
        made(payload, places=0)


def inside(document: Document, found: list[Group], start: int, stop: int) -> None:
    """Units are in order, within what holds them."""
    for group in found:
        at = start
        for i, (a, b) in enumerate(zip(group.starts, group.stops, strict=True)):
            assert at <= a <= b <= stop
            at = b
            inside(document, group.children.get(i, []), a, b)


GROWING: dict[str, Callable[[int], str]] = {
    "one long line": lambda n: "ok 1 " + "x" * n,
    "colons": lambda n: "a::" * (n // 3),
    "empty lines": lambda n: "ok 1\n" + "\n" * n,
    "open tags": lambda n: "<testsuite>" * (n // 11),
    "cases": lambda n: "<testsuite>" + "<testcase name='a'/>" * (n // 20) + "</testsuite>",
    "an open quote": lambda n: '<a x="' + "y" * n,
    "open quotes": lambda n: "<a " + "x='" * (n // 3),
    "nested suites": lambda n: "<testsuite>" * (n // 24) + "</testsuite>" * (n // 24),
    "blocks": lambda n: "____ t ____\nE  x\n" * (n // 17),
    "blanks": lambda n: "test " + " " * n + "\n",
    "entities": lambda n: "<testsuite><testcase name='" + "&amp;" * (n // 5) + "'/></testsuite>",
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    def seconds(payload: str) -> float:
        best = 1e9
        for _ in range(3):
            begun = time.process_time()
            if cut(TEST_REPORT, payload) is not None:
                made(payload)
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(make(400_000)) < 12 * seconds(make(100_000)) + 0.3
