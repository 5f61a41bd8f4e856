"""The wording of markers and of the reference: one way to say it, and one way to read it back."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_wasm.markers import closing_handle, elision, is_view, reference, view
from caveman_wasm.model import source

HANDLE = "ccr_" + "0123456789abcdef" * 2


def test_a_marker_says_how_many_of_what_is_missing_where_and_what_is_true_of_it() -> None:
    assert elision(13, "rows", (40, 52), ("all status=ok", "id=1..9")) == (
        "… 13 rows elided (L40–52): all status=ok; id=1..9 …"
    )


def test_a_marker_without_facts_or_lines_is_bare() -> None:
    assert elision(13, "rows", None, ()) == "… 13 rows elided …"


@pytest.mark.parametrize(
    ("noun", "one"), [("entries", "entry"), ("rows", "row"), ("lines", "line"), ("base64 strings", "base64 string")]
)
def test_one_unit_is_singular(noun: str, one: str) -> None:
    assert elision(1, noun, (7, 7), ()) == f"… 1 {one} elided (L7) …"


def test_the_reference_says_that_the_source_is_intact_and_how_to_read_it() -> None:
    assert reference(HANDLE, 3, 120) == (
        "[caveman: shortened view, 3 markers for 120 units; the source is intact. "
        f"To read it, ask once, broadly, with this reference: <<ccr:{HANDLE}>>]"
    )


ENDS = ["", "\n", "\r\n", '"}', '"}]', '"}\n', '",,,\n', " |\n", ";;;"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sentence", [reference(HANDLE, 3, 120), view(HANDLE)])
def test_the_closing_reference_is_found_in_whatever_syntax_it_stands(sentence: str, end: str) -> None:
    assert closing_handle("some text\n" + sentence + end) == HANDLE


def test_a_view_is_told_from_a_shortened_text() -> None:
    assert is_view("x\n" + view(HANDLE))
    assert not is_view("x\n" + reference(HANDLE, 1, 1))


@pytest.mark.parametrize(
    "text",
    [
        reference(HANDLE, 1, 1) + "\nand then more text",
        f"<<ccr:{HANDLE}>>",
        f"[caveman: shortened view <<ccr:{HANDLE[:-1]}>>]",
        f"[caveman: shortened view <<ccr:{HANDLE.upper()}>>]",
        "… 12 rows elided …",
        "",
    ],
)
def test_a_reference_that_does_not_close_the_text_or_is_not_whole_closes_nothing(text: str) -> None:
    assert closing_handle(text) is None


@given(st.text(max_size=200))
def test_any_text_before_the_reference_changes_nothing(before: str) -> None:
    text = source((before + reference(HANDLE, 2, 9)).encode("utf-8", "surrogatepass"))
    assert closing_handle(text) == HANDLE


def test_looking_for_the_reference_takes_time_in_proportion() -> None:
    assert closing_handle("[caveman: " * 400_000) is None
    assert closing_handle(reference(HANDLE, 1, 1) + "," * 4_000_000) is None


def test_a_reference_survives_a_json_string() -> None:
    document = json.dumps({"_caveman_ref": reference(HANDLE, 1, 2)})
    assert closing_handle(document) == HANDLE
    assert re.search(r"<<ccr:(ccr_[0-9a-f]{32})>>", json.loads(document)["_caveman_ref"])
