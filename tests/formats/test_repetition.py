"""Repetition: equal neighbours once, with their count; every other line stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, seconds, shorten

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.repetition import REPETITION


def expanded(text: str) -> list[str]:
    """The lines again: a marker stands for as many of the line above it."""
    lines: list[str] = []
    for line in text.split("\n"):
        found = re.match(r"… (\d+) lines? elided \(L\d+(?:–\d+)?\): (?:all )?equal to the line above …\r?$", line)
        lines += [lines[-1]] * int(found[1]) if found else [line]
    return lines


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_runs_stand_once_with_their_count_and_can_be_written_out_again(end: str) -> None:
    lines = [
        x
        for i in range(30)
        for x in [f"step {i} begins and says what it is going to do"]
        + ["still waiting for the lock to be released"] * (3 * i)
    ]
    payload = end.join(lines) + end
    engine = Engine(open_memory())
    result = engine.compress(payload.encode(), content_type="repetition")
    assert result.tokens_after < 0.3 * result.tokens_before
    body = result.text.replace("\r\n", "\n").rstrip("\n").rpartition("\n")[0]
    assert expanded(body) == lines
    assert result.recovery_handle is not None
    assert engine.retrieve(result.recovery_handle) == payload.encode()


def test_lines_that_differ_stay_and_without_repeats_the_payload_passes_through() -> None:
    payload = "\n".join(f"line {i} is like no other" for i in range(200))
    result = Engine(open_memory()).compress(payload, content_type="repetition")
    assert (result.reason, result.text) == ("not_parseable", payload)


def test_two_lines_too_short_for_a_marker_stay() -> None:
    payload = "a\na\nb\n" * 400
    assert Engine(open_memory()).compress(payload, content_type="repetition").reason == "not_smaller"


def test_the_range_of_lines_is_that_of_the_payload() -> None:
    payload = "head\n" + "the same line, again and again, until it ends\n" * 500 + "tail\n"
    text = Engine(open_memory()).compress(payload, content_type="repetition").text
    found = re.search(r"… (\d+) lines elided \(L(\d+)–501\): all equal to the line above …\ntail\n", text)
    assert found is not None
    assert int(found[1]) == 501 - int(found[2]) + 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([b"a" * 200, b"b" * 300, b"", b"\r", b"\xff"]), max_size=40),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_units_equal_the_line_above_them(lines: list[bytes], end: bytes) -> None:
    document = cut(REPETITION, end.join(lines))
    for group in document.groups if document else []:
        said = {document.text[a:b] for a, b in zip(group.starts, group.stops, strict=True)}
        assert len(said) == 1
        (line,) = said
        assert (
            document.text[: group.starts[0]].rstrip(document.newline + "\r" if line else "").endswith(line.rstrip("\r"))
        )
        shorten(REPETITION, end.join(lines), places=0)


@pytest.mark.parametrize(
    "make", [lambda n: "\n" * n, lambda n: "a\na\nb\n" * (n // 6), lambda n: "x" * n, lambda n: "x\n" * (n // 2)]
)
def test_time_grows_with_the_payload(make: object) -> None:
    assert seconds(REPETITION, make(400_000)) < 12 * seconds(REPETITION, make(100_000)) + 0.3  # type: ignore[operator]
