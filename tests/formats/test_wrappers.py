"""Tags and line-number gutters around a payload: off before it is cut, and every kept line keeps its own number."""

from __future__ import annotations

import json

import pytest
from corpus.make import log_lines, orders
from hypothesis import given
from hypothesis import strategies as st
from payloads import Golden, golden_cases

from caveman_wasm import Engine, Result, open_memory
from caveman_wasm.check import check_result
from caveman_wasm.formats.wrappers import unwrapped
from caveman_wasm.model import source
from caveman_wasm.tokens import default_counter

LOG = list(log_lines(300, 2))
GUTTERS = {"cat -n": "{n:6d}\t{line}", "arrow": "{n:5d}→{line}", "bar": "{n:4d} | {line}", "colon": "{n}: {line}"}


def numbered(lines: list[str], gutter: str, first: int = 1) -> str:
    return "".join(gutter.format(n=first + i, line=line) + "\n" for i, line in enumerate(lines))


def compressed(payload: str) -> Result:
    engine = Engine(open_memory(), counter=default_counter())
    result = engine.compress(payload)
    if result.recovery_handle:
        assert engine.retrieve(result.recovery_handle) == payload.encode()
        assert engine.compress(result.output).reason == "already_compressed"
    return result


@pytest.mark.parametrize("gutter", GUTTERS.values(), ids=GUTTERS)
def test_every_kept_line_keeps_its_own_number_and_markers_state_the_true_ones(gutter: str) -> None:
    payload = numbered(LOG, gutter, first=501)
    result = compressed(payload)
    assert result.content_type == "log"
    assert result.ratio > 0.5
    kept = [line for line in result.text.splitlines() if not line.startswith(("…", "[caveman"))]
    assert set(kept) <= set(payload.splitlines())
    at = 501
    for line in result.text.splitlines():
        if line.startswith("…"):
            first, last = line.split("(L")[1].split(")")[0].split("–")
            assert int(first) == at
            at = int(last) + 1
        elif not line.startswith("[caveman"):
            at += 1
    assert at == 501 + len(LOG)


def test_a_gutter_that_skips_a_number_or_a_line_is_none() -> None:
    lines = numbered(LOG[:20], GUTTERS["arrow"]).splitlines()
    assert unwrapped(source("\n".join(lines).encode())) is not None
    assert unwrapped(source("\n".join(lines[:5] + lines[6:]).encode())) is None
    assert unwrapped(source("\n".join([*lines[:5], "no number", *lines[5:]]).encode())) is None


@pytest.mark.parametrize(
    "payload",
    [
        "".join(f"{1700000000 + i} poll ok\n" for i in range(50)),
        "".join(f"{i}\talpha\t{i * i}\n" for i in range(1, 50)),
        "".join(f"{i * 7}: hit\n" for i in range(1, 50)),
        "<project>\n<name>x</name>\n</project>\n",
        "<output>\nno end",
        "<output>\nanother end\n</stdout>\n",
    ],
    ids=["epoch seconds", "id column", "grep hits", "an XML document", "no closing tag", "another closing tag"],
)
def test_what_only_looks_like_a_wrapper_is_left_alone(payload: str) -> None:
    assert unwrapped(payload) is None


def test_enclosing_tags_stay_and_what_is_inside_is_cut_by_its_own_format() -> None:
    payload = "<function_results>\n<output>\n" + "\n".join(LOG) + "\n</output>\n</function_results>\n"
    result = compressed(payload)
    assert result.content_type == "log"
    assert result.text.startswith("<function_results>\n<output>\n2026-")
    assert result.text.endswith("\n</output>\n</function_results>\n")
    assert "(L6–" in result.text, "line numbers are those of the file inside"


def test_json_between_tags_loses_its_white_space_and_stays_json() -> None:
    rows = orders(120)
    payload = '<file path="orders.json">\n' + json.dumps(rows, indent=2) + "\n</file>"
    result = compressed(payload)
    assert result.content_type == "json"
    head, body = result.text.split("\n", 1)
    assert head == '<file path="orders.json">'
    kept = [r for r in json.loads(body.removesuffix("\n</file>")) if "order_id" in r]
    assert all(r in rows for r in kept)
    for marker in result.markers:
        for start, stop in marker.spans:
            said = json.loads("[" + payload.encode()[start:stop].decode().rstrip().rstrip(",") + "]")
            assert said


def test_a_question_is_answered_with_the_lines_own_numbers() -> None:
    payload = numbered(LOG, GUTTERS["cat -n"])
    engine = Engine(open_memory(), counter=default_counter())
    handle = str(engine.compress(payload).recovery_handle)
    view = engine.retrieve_query(handle, "REVERSED by operator").decode()
    line = next(line for line in payload.splitlines() if "REVERSED" in line)
    assert line in view.splitlines()


@given(st.text(), st.sampled_from(sorted(GUTTERS)), st.integers(0, 10**5))
def test_taking_a_gutter_off_loses_nothing(text: str, kind: str, first: int) -> None:
    lines = ["a", "b", "c", *text.replace("\r", "").split("\n")]
    payload = source(numbered(lines, GUTTERS[kind], first).encode("utf-8", "surrogatepass"))
    wrapped = unwrapped(payload)
    assert wrapped is not None
    assert wrapped.text == source(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))
    for i in range(len(wrapped.text)):
        assert payload[wrapped.position(i)] == wrapped.text[i]


PROGRAM = "\n".join(
    f"def step_{i}(value):\n    # Step {i} of the run.\n\n    total = value * {i}\n"
    f"    for part in range(total):\n        value += part // {i + 1}\n    return value\n"
    for i in range(40)
)
ABOVE = {
    "nothing": "",
    "a sentence": "Here's the result of running `cat -n` on /repo/steps.py:\n",
    "two lines": "steps.py\n(first 400 lines)\n",
}
BELOW = {
    "nothing": "",
    "a remark": "\n(End of file - total 320 lines)\n",
    "a reminder": "\n<reminder>\nThe file may have changed since.\n</reminder>\n",
}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW)
@pytest.mark.parametrize("gutter", GUTTERS.values(), ids=GUTTERS)
def test_a_gutter_may_have_a_line_above_it_and_a_remark_below(gutter: str, above: str, below: str) -> None:
    payload = above + numbered(PROGRAM.split("\n"), gutter) + below
    engine = Engine(open_memory(), counter=default_counter())
    result = engine.compress(payload)
    assert result.content_type == "code"
    assert result.ratio > 0.3
    assert check_result(payload.encode(), result).findings == []
    assert result.text.startswith(above)
    assert below.strip() in result.text
    kept = [line for line in result.text.splitlines() if not line.startswith(("…", "[caveman"))]
    assert set(kept) <= set(payload.splitlines())
    assert engine.compress(result.output).reason == "already_compressed"
    handle = str(result.recovery_handle)
    assert engine.retrieve(handle) == payload.encode()
    assert "Step 31 of the run" in engine.retrieve_query(handle, "step_31").decode()


def test_lines_without_a_number_are_few_and_outside() -> None:
    gutter = GUTTERS["arrow"]
    lines = numbered(LOG[:40], gutter)
    assert unwrapped(source(("head\n" + lines + "tail\n").encode())) is not None
    assert unwrapped(source(("head\n" * 5 + lines).encode())) is None
    assert unwrapped(source((lines + "tail\n" * 40).encode())) is None
    assert unwrapped(source(("head\n" + numbered(LOG[:5], gutter)).encode())) is None, "five numbers may be anything"
    assert unwrapped(source((lines + "between\n" + numbered(LOG[:40], gutter)).encode())) is None, "two files"


BESIDE = {
    "before": "<returncode>0</returncode>\n<output>\n{}\n</output>\n",
    "after": "<stdout>\n{}\n</stdout>\n<stderr>\nwarning: slow\n</stderr>\n",
    "named": "<function_results>\n<result>\n<tool_name>read_file</tool_name>\n<stdout>\n{}\n</stdout>\n</result>\n</function_results>\n",
}


@pytest.mark.parametrize("frame", BESIDE.values(), ids=BESIDE)
@pytest.mark.parametrize("kind", ["log", "json", "code"])
def test_short_elements_beside_a_wrapper_stay(frame: str, kind: str) -> None:
    inside = {"log": "\n".join(LOG), "json": json.dumps(orders(120), indent=2), "code": PROGRAM}[kind]
    payload = frame.format(inside)
    result = compressed(payload)
    assert result.content_type == kind
    assert result.ratio > 0.3
    assert check_result(payload.encode(), result).findings == []
    head, tail = frame.split("{}")
    assert result.text.startswith(head)
    assert tail in result.text


def test_two_wrappers_of_a_kind_in_a_row_are_none() -> None:
    one = "<file>\n" + "\n".join(LOG[:20]) + "\n</file>\n"
    assert unwrapped(one + one) is None


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_every_format_is_cut_inside_of_wrappers_too(case: Golden) -> None:
    """What fails inside is handed back with a code; nothing here may fail."""
    text = case.payload.decode("utf-8", "replace").replace("\r\n", "\n")
    for payload in (numbered(text.splitlines(), GUTTERS["cat -n"]), f"<file>\n{text}\n</file>\n"):
        for kind in (None, case.name.partition("/")[0]):
            result = Engine(open_memory()).compress(payload, content_type=kind)
            assert result.error is None
