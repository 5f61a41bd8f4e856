"""The one join: kept text is slices, markers stand for exactly what is missing, envelopes and references fit in."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm.formats.base import Format, Joined, join
from caveman_wasm.formats.base64_string import BASE64, is_base64
from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.log import LOG
from caveman_wasm.model import Document, Envelope, Group, Mode, Rewritten, Run, raw, source


class Lines:
    """The smallest format: a unit is a line, a marker ``<sentence>``."""

    name = "lines"
    keep = 0.5
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        return Document(text, self.name, [_lines(text, 0, len(text))], len(text))

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return f"<{sentence}>"

    def reference(self, sentence: str, document: Document) -> str:
        return f"[{sentence}]"


FORMATS: dict[str, Format] = {f.name: f for f in (Lines(), JSON, LOG, BASE64)}


def _lines(text: str, start: int, stop: int, mode: Mode = "records") -> Group:
    starts, stops, at = [], [], start
    for line in text[start:stop].split("\n"):
        starts.append(at)
        stops.append(at + len(line))
        at += len(line) + 1
    return Group(starts, stops, mode, "lines")


def joined(document: Document, runs: Sequence[Run], reference: bool = True) -> Joined:
    def closing(markers: int, units: int) -> str:
        return f"[{markers} for {units}]"

    return join(document, runs, FORMATS.__getitem__, lambda _: (), closing if reference else None)


def text_of(made: Joined) -> str:
    return "".join(made.pieces)


@st.composite
def gaps(draw: st.DrawFn, n: int) -> tuple[tuple[int, int], ...]:
    """Pieces of neighbours, apart from one another."""
    gone = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    pieces, first = [], None
    for i, out in enumerate([*gone, False]):
        if out and first is None:
            first = i
        elif not out and first is not None:
            pieces.append((first, i))
            first = None
    return tuple(pieces)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("ab\xe9", max_size=4), min_size=1, max_size=12), st.data())
def test_runs_give_way_to_markers_and_everything_else_stays(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    document = Lines().split(text)
    assert document is not None
    pieces = data.draw(gaps(len(lines)))
    made = joined(document, [Run(document.groups[0], (p,)) for p in pieces])
    expected, i = [], 0
    for first, last in pieces:
        expected += [*lines[i:first], None]
        i = last
    expected += lines[i:]
    out, markers = text_of(made), iter(made.markers)
    at = 0
    for k, line in enumerate(expected):
        if line is None:
            marker = next(markers)
            assert (marker.start, out[marker.start]) == (at, "<")
            at = marker.stop
        else:
            assert out.startswith(line, at)
            at += len(line)
        at += k < len(expected) - 1
    assert out[at:] == f"[{len(pieces)} for {sum(b - a for a, b in pieces)}]"
    for marker, (first, last) in zip(made.markers, pieces, strict=True):
        ((start, stop),) = marker.spans
        assert text[start:stop] == "\n".join(lines[first:last])
        assert marker.count == last - first
        assert f"(L{first + 1}" in out[marker.start : marker.stop]


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 12), st.data())
def test_one_marker_for_a_whole_group_stands_where_its_first_gap_was(n: int, data: st.DataObject) -> None:
    text = "{" + ",".join(f'"k{i}":{i}' for i in range(n)) + "}"
    document = JSON.split(text)
    assert document is not None
    pieces = data.draw(gaps(n).filter(bool))
    made = joined(document, [Run(document.groups[0], pieces)], reference=False)
    out = json.loads(text_of(made))
    gone = [i for a, b in pieces for i in range(a, b)]
    assert out.pop("_caveman_elided") == len(gone)
    assert out == {f"k{i}": i for i in range(n) if i not in gone}
    assert list(json.loads(text_of(made))).index("_caveman_elided") == pieces[0][0]
    assert [text[a:b] for a, b in made.markers[0].spans] == [
        ",".join(f'"k{i}":{i}' for i in range(a, b)) for a, b in pieces
    ]


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 8), st.data())
def test_a_marker_at_the_end_comes_behind_the_last_sentence(n: int, data: st.DataObject) -> None:
    sentences = [f"Sentence {i}." for i in range(n)]
    text = " ".join(sentences) + "\n\nNext."
    starts = [text.index(s) for s in sentences]
    group = Group(starts, [a + len(s) for a, s in zip(starts, sentences, strict=True)], "outline", "sentences", "end")
    document = Document(text, "lines", [group], len(text))
    pieces = data.draw(gaps(n).filter(bool))
    made = joined(document, [Run(group, pieces)], reference=False)
    gone = {i for a, b in pieces for i in range(a, b)}
    kept = " ".join(s for i, s in enumerate(sentences) if i not in gone)
    marker = made.markers[0]
    out = text_of(made)
    assert out[: marker.start].strip() == kept
    assert out[marker.stop :] == "\n\nNext."
    assert marker.count == len(gone)


def test_a_run_inside_of_what_is_gone_anyway_is_not_counted_twice() -> None:
    text = "a\nb\nc\nd"
    outer, inner = _lines(text, 0, 7), Group([2], [3], "records", "lines")
    document = Document(text, "lines", [outer], 7)
    made = joined(document, [Run(outer, ((1, 3),)), Run(inner, ((0, 1),))])
    assert raw(text_of(made)).decode() == "a\n<… 2 lines elided (L2–3) …>\nd[1 for 2]"


@pytest.mark.parametrize("close_at", range(8))
def test_the_reference_goes_in_once_where_the_document_says(close_at: int) -> None:
    text = "a\nb\nc\nd"
    document = Document(text, "lines", [_lines(text, 0, 7)], close_at)
    assert text_of(joined(document, [])) == text[:close_at] + "[0 for 0]" + text[close_at:]


def test_without_a_reference_there_is_none() -> None:
    document = Lines().split("a\nb")
    assert document is not None
    assert text_of(joined(document, [], reference=False)) == "a\nb"


def test_markers_of_a_rewritten_text_lead_back_to_the_payload() -> None:
    payload = "[\n  " + ",\n  ".join(f'{{"id": {i}, "name": "customer {i}"}}' for i in range(30)) + "\n]\n"
    rewritten = JSON.rewrite(payload)
    assert rewritten is not None
    document = JSON.split(rewritten.text)
    assert document is not None
    document.origin = rewritten
    made = joined(document, [Run(document.groups[0], ((3, 20),)), Run(document.groups[0], ((22, 29),))])
    for marker, (first, last) in zip(made.markers, [(3, 20), (22, 29)], strict=True):
        ((start, stop),) = marker.spans
        assert json.loads(f"[{payload[start:stop]}]") == json.loads(payload)[first:last]
        assert json.loads(text_of(made)[marker.start : marker.stop])["_caveman_elided"] == last - first


# ---------------------------------------------------------------- envelopes


def enveloped(
    content: str, before: str = '{"é":"日本","stdout":"', after: str = '","exit_code":0}'
) -> tuple[str, Document, Envelope]:
    payload = source((before + json.dumps(content)[1:-1] + after).encode())
    document = JSON.split(payload)
    assert document is not None
    (envelope,) = document.envelopes
    return payload, document, envelope


def test_an_envelope_is_shortened_in_its_place_and_stays_one_string() -> None:
    entries = [f'2026-05-14 08:00:{i % 60:02d} INFO "é😀" entry {i}' for i in range(200)]
    payload, document, envelope = enveloped("\n".join(entries))
    envelope.document = LOG.split(envelope.text)
    assert envelope.document is not None
    run = Run(envelope.document.groups[0], ((5, 190),))

    def inner(inside: Document) -> Sequence[Run]:
        return [run] if inside is envelope.document else ()

    made = join(document, [], FORMATS.__getitem__, inner, lambda m, u: f',"ref":"{m} for {u}"')
    out = json.loads(raw(text_of(made)))
    lines = out["stdout"].split("\n")
    assert lines[:5] + lines[6:] == entries[:5] + entries[190:]
    assert lines[5].startswith("… 185 entries elided (L6–190)")
    assert (out["é"], out["exit_code"], out["ref"]) == ("日本", 0, "1 for 185")
    (marker,) = made.markers
    assert json.loads(b'"' + raw(text_of(made)[marker.start : marker.stop]) + b'"') == lines[5]
    assert marker.within == (envelope.start, envelope.stop)
    ((start, stop),) = marker.spans
    decoded = json.loads(f'"{payload[envelope.start : envelope.stop]}"').encode()
    assert decoded[start:stop].decode() == "\n".join(entries[5:190])


def test_an_envelope_of_which_nothing_goes_stays_as_it_is_spelled() -> None:
    payload, document, envelope = enveloped("\\/ é\n" * 800)
    envelope.document = LOG.split(envelope.text)
    assert text_of(joined(document, [], reference=False)) == payload


def test_an_envelope_inside_of_what_is_gone_is_gone() -> None:
    _, document, envelope = enveloped("a line\n" * 800)
    envelope.document = LOG.split(envelope.text)
    assert envelope.document is not None
    inside = Run(envelope.document.groups[0], ((5, 700),))
    made = join(document, [Run(document.groups[0], ((1, 2),))], FORMATS.__getitem__, lambda _: [inside])
    assert [m.count for m in made.markers] == [1]
    assert "stdout" not in json.loads(raw(text_of(made)))


def test_base64_says_its_size_and_its_type() -> None:
    content = "iVBORw0KGgoAAAANSUhEUgAAAB" + "mY2d3ZXJ0eXVpb3A5" * 200
    assert is_base64(content)
    _, document, envelope = enveloped(content)
    envelope.document = BASE64.split(envelope.text)
    assert envelope.document is not None
    run = Run(envelope.document.groups[0], ((0, 1),))
    made = join(document, [], FORMATS.__getitem__, lambda _: [run])
    said = json.loads(raw(text_of(made)))["stdout"]
    assert said == f"[caveman: base64 elided, {len(content)} characters, image/png]"


@pytest.mark.parametrize(
    "text", ["word " * 900, "a" * 4000, "0" * 4000, "src/a/b/c/File1.py\n" * 300, "x1Y=" * 10 + " " + "x1Y=" * 900, ""]
)
def test_words_paths_and_single_letters_are_no_base64(text: str) -> None:
    assert not is_base64(text)


def test_line_numbers_are_counted_once_for_all_markers() -> None:
    lines = 60_000
    document = Lines().split("line\n" * lines)
    assert document is not None
    made = joined(document, [Run(document.groups[0], ((i, i + 1),)) for i in range(0, lines, 2)])
    assert f"(L{lines - 1})" in text_of(made)
