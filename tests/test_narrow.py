"""A view holds whole units that answer the question, as exact slices, with gaps marked and the reference at its end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import cutting
from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.formats.text import TEXT
from caveman_wasm.markers import NON_ADJACENT
from caveman_wasm.model import Document, Envelope, Group, plain, source
from caveman_wasm.narrow import narrow

CLOSING = "[caveman: a part]"


def lined(text: str, **more: object) -> Document:
    """A document whose units are the lines of ``text``."""
    text = source(text.encode())
    starts, at = [], 0
    for line in text.splitlines(keepends=True):
        starts.append(at)
        at += len(line)
    stops = [b - 1 for b in [*starts[1:], at]]
    return Document(text, "log", [Group(starts, stops, "records", "entries", **more)], len(text))  # type: ignore[arg-type]


def view(document: Document, query: str) -> str | None:
    found = narrow(document, query, CLOSING)
    return None if found is None else plain(found[0])


LOG = "".join(f"entry {i:03} {word} happened at noon and nothing else is known of it\n" for i, word in enumerate(
    ["rain", "hail", "snow", "fog"] * 60
)).replace("entry 100 rain", "entry 100 thunder").replace("entry 200 rain", "entry 200 thunder")  # fmt: skip


def test_only_the_units_that_answer_are_shown_and_gaps_are_marked() -> None:
    shown = view(lined(LOG), "thunder")
    lines = LOG.splitlines()
    assert shown is not None
    assert shown.splitlines() == [NON_ADJACENT, lines[100], NON_ADJACENT, lines[200], NON_ADJACENT, CLOSING]


def test_a_view_that_starts_and_stops_with_the_payload_says_no_gap_there() -> None:
    text = "first unit is zebra\n" + "nothing here at all\n" * 50 + "last unit is zebra"
    shown = view(lined(text + "\n"), "zebra")
    assert shown == f"first unit is zebra\n{NON_ADJACENT}\nlast unit is zebra\n{CLOSING}\n"


def test_units_that_touched_touch_in_the_view() -> None:
    text = (
        "x y z and more of it here\n" * 40 + "zebra one of two\nzebra two of two\n" + "x y z and more of it here\n" * 40
    )
    shown = view(lined(text), "zebra")
    assert shown is not None
    assert "zebra one of two\nzebra two of two\n" in shown


@pytest.mark.parametrize("query", ["", "  ", "!?", "unicorn"])
def test_without_a_hit_the_whole_is_the_answer(query: str) -> None:
    assert view(lined(LOG), query) is None


def test_a_view_that_is_not_smaller_is_none() -> None:
    assert view(lined("thunder\nthunder again\n"), "thunder") is None


def test_a_text_without_units_is_none() -> None:
    assert view(Document("", "text", [], 0), "thunder") is None


def test_at_most_twenty_units_and_a_quarter_of_the_text() -> None:
    many = lined("".join(f"thunder number {i} " + "and " * 20 + "\n" + "calm\n" for i in range(400)))
    shown = view(many, "thunder")
    assert shown is not None
    assert shown.count("thunder") == 20
    big = lined("".join(f"thunder number {i} " + "and " * 1000 + "\n" for i in range(10)))
    shown = view(big, "thunder")
    assert shown is not None
    assert shown.count("thunder") == 2


def test_the_header_of_a_table_is_shown_once() -> None:
    rows = "".join(
        f"{i},name{i},{'gold' if i in (40, 80) else 'lead'},some filler text of the row\n" for i in range(200)
    )
    document = TABULAR.split("id,name,metal,filler\n" + rows)
    assert document is not None
    shown = view(document, "gold")
    assert shown is not None
    assert shown.splitlines()[:2] == ["id,name,metal,filler", NON_ADJACENT]
    assert shown.count("id,name,metal,filler") == 1
    assert shown.count("gold") == 2


def test_a_section_is_found_by_the_words_of_its_headings() -> None:
    parts = "".join(
        f"# Chapter {name}\n\n{'Some text. ' * 50}\n\n## Limits\n\nThe limit is {i} bytes.\n\n{'More. ' * 600}\n\n"
        for i, name in enumerate(["alpha", "beta", "gamma", "delta"] * 3, 100)
    )
    document = TEXT.split(parts.replace("gamma", "omega", 1))
    assert document is not None
    shown = view(document, "limits of omega")
    assert shown is not None
    assert "The limit is 102 bytes." in shown
    assert shown.count("Chapter") == 1


def test_the_heading_of_a_group_stands_once_above_its_units() -> None:
    shown = view(lined(LOG, heading="/var/log › today"), "thunder")
    assert shown is not None
    assert shown.splitlines()[:3] == [NON_ADJACENT, "[caveman: in /var/log › today]", LOG.splitlines()[100]]
    assert shown.count("/var/log") == 1


def enveloped(inner: Document) -> Document:
    """``{"name": "report", "text": "…"}`` around a document."""
    head, tail = '{"name": "report", "text": "', '"}'
    text = head + inner.text.replace("\n", "\\n") + tail
    envelope = Envelope(len(head), len(text) - len(tail), inner.text, lambda piece: piece, inner)
    return Document(text, "json", [Group([0], [len(text)], "tree", "members")], len(text), [envelope])


def test_an_envelope_is_shown_in_its_decoded_text_and_says_so() -> None:
    shown = view(enveloped(lined(LOG)), "thunder")
    assert shown is not None
    assert shown.splitlines()[:3] == ["[caveman: decoded text of a JSON string]", NON_ADJACENT, LOG.splitlines()[100]]


def test_what_stands_around_an_envelope_can_be_asked_for_too() -> None:
    shown = view(enveloped(lined(LOG)), "report")
    assert shown is not None
    assert '{"name": "report", "text": "' in shown


# ---------------------------------------------------------------- which unit


def nested(*children: str) -> Document:
    """Three chapters of lines, of which the second holds ``children``; chapters are large enough to be entered."""
    chapters = [
        [f"line {n} of the first\n" for n in range(400)],
        [*children],
        [f"line {n}, third\n" for n in range(900)],
    ]
    chapters[1][1:1] = [f"filler {n} of the second\n" for n in range(300)]
    text, at, starts, stops = "", 0, [], []
    inside: dict[int, list[Group]] = {}
    for number, lines in enumerate(chapters):
        begins = [at := at + len(line) for line in lines]
        begins = [start - len(line) for start, line in zip(begins, lines, strict=True)]
        ends = [start + len(line) - 1 for start, line in zip(begins, lines, strict=True)]
        inside[number] = [Group(begins, ends, "records", "lines")]
        starts.append(begins[0])
        stops.append(ends[-1])
        text += "".join(lines)
    group = Group(starts, stops, "tree", "chapters", children=inside)
    return Document(source(text.encode()), "log", [group], len(text))


def test_the_innermost_unit_that_holds_all_the_words_is_shown_alone() -> None:
    shown = view(nested("otter alone\n", "badger alone\n", "otter and badger\n"), "otter badger")
    assert shown is not None
    assert "otter and badger" in shown
    assert "filler" not in shown


def test_where_no_unit_holds_all_the_words_the_one_around_them_is_shown() -> None:
    document = nested("otter alone\n", "badger alone\n")
    shown = view(document, "otter badger")
    assert shown is not None
    start, stop = document.groups[0].starts[1], document.groups[0].stops[1]
    assert plain(document.text[start:stop]) in shown
    assert "of the first" not in shown


def test_the_unit_around_is_not_shown_when_it_is_more_than_a_view_may_have() -> None:
    document = nested(
        "otter alone\n", *(f"padding of this chapter, number {n}\n" for n in range(900)), "badger alone\n"
    )
    shown = view(document, "otter badger")
    assert shown is not None
    assert shown.splitlines()[1:4:2] == ["otter alone", "badger alone"]
    assert "padding" not in shown


def test_it_is_said_of_every_unit_shown_what_it_scored_and_which_words_hit() -> None:
    document = lined(LOG.replace("entry 100 thunder", "entry 100 thunder thunder"))
    shown = narrow(document, "thunder rain thunder unicorn", CLOSING)
    assert shown is not None
    first, second = shown[1]
    assert plain(document.text[first.start : first.stop]).startswith("entry 100 thunder")
    assert (first.terms, second.terms, first.part) == ({"thunder": 2}, {"thunder": 1}, 0)
    assert first.score > second.score > 0


def test_a_slice_of_json_is_the_payloads_own_spelling_white_space_and_all() -> None:
    text = json.dumps([{"id": n, "name": f"n{n}", "tags": ["a", "b"]} for n in range(200)], indent=2)
    shown = cutting.view(text, "n150", "ccr_" + "0" * 32)
    assert shown is not None
    written, (unit,) = shown
    assert text[unit.start : unit.stop] in written
    assert json.loads(text[unit.start : unit.stop])["id"] == 150
    numbered = "".join(f"{n:6}\t{line}\n" for n, line in enumerate(text.split("\n"), 1))  # a gutter stays where it is
    shown = cutting.view(numbered, "n150", "ccr_" + "0" * 32)
    assert shown is not None
    assert numbered[shown[1][0].start : shown[1][0].stop] in shown[0]


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.sampled_from(["zebra", "oak é", 7, None, [1, 2]])), max_size=40
    ),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_every_slice_of_json_is_of_the_payload_however_it_is_spaced(
    items: list[dict[str, object]], indent: int | None, enveloped: bool
) -> None:
    inner = json.dumps([*items, {"a": "zebra", "filler": "x" * 99}] * 20, indent=indent)
    text = json.dumps({"kind": "answer", "text": inner}) if enveloped else inner
    shown = cutting.view(source(text.encode()), "zebra", "ccr_" + "0" * 32)
    if shown is None:
        return
    written, units = shown
    for unit in units:
        slice = (inner if unit.part else text)[unit.start : unit.stop]
        assert slice in written
        assert unit.part == enveloped
        assert all("zebra" in json.dumps(item) for item in json.loads(f"[{slice}]"))


def test_a_unit_of_an_envelope_is_said_to_be_of_its_text() -> None:
    inner = lined(LOG)
    shown = narrow(enveloped(inner), "thunder", CLOSING)
    assert shown is not None
    assert [(unit.part, unit.start) for unit in shown[1]] == [(1, inner.groups[0].starts[n]) for n in (100, 200)]


def test_the_view_names_the_text_it_is_of() -> None:
    shown = narrow(lined(LOG), "thunder", CLOSING, origin="text of an HTML page")
    assert shown is not None
    assert shown[0].startswith("[caveman: text of an HTML page]\n")


def test_bytes_that_are_no_text_come_back_as_they_are() -> None:
    text = "calm \xff\xfe day for all of us\n" * 40 + "thunder \xff\xfe\x80 day\n" + "calm day for all of us\n" * 40
    starts = [i for i, c in enumerate("\n" + text[:-1]) if c == "\n"]
    stops = [i for i, c in enumerate(text) if c == "\n"]
    shown = narrow(Document(text, "log", [Group(starts, stops, "records", "entries")], len(text)), "thunder", CLOSING)
    assert shown is not None
    assert "\nthunder \xff\xfe\x80 day\n" in shown[0]


WORDS = st.lists(
    st.sampled_from(["zebra", "oak", "a.", "B", "tin", "# x\n", "\n", "\n\n", "- ", "|", ",", "| a | b |\n"])
)


@given(WORDS, st.sampled_from(["zebra", "zebra oak", "tin a"]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_view_is_made_of_slices_between_gap_lines(pieces: list[str], query: str, table: bool) -> None:
    text = " ".join(pieces * 30)
    document = (TABULAR if table else TEXT).split(text)
    shown = narrow(document, query, CLOSING) if document is not None else None
    if document is None or shown is None:
        return
    written, units = shown
    assert len(written) < len(text)
    assert written.endswith(f"\n{CLOSING}\n")
    assert all(text[unit.start : unit.stop].strip("\r\n") in written for unit in units)
    gap = source(NON_ADJACENT.encode())
    at = 0
    for run in written.removesuffix(f"{CLOSING}\n").split(gap):
        lines = [line for line in run.split("\n") if not line.startswith("[caveman: in ")]
        found = text.find("\n".join(lines).strip("\n"), at)
        assert found >= 0
        at = found
