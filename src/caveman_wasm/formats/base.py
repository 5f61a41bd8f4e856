"""The contract of a format, and the one join (join: see the end of this file).

A format knows how to cut a payload into whole units and how to write a marker and a reference in the payload's
own syntax. Choosing, counting, facts, budgets and narrowing are the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from caveman_wasm.facts import facts
from caveman_wasm.markers import elision
from caveman_wasm.model import Document, Group, Marker, Rewritten, Run, source

__all__ = ["Format", "Joined", "LastRead", "Reference", "join"]

_T = TypeVar("_T")

Facts = Callable[[Run, int], tuple[str, ...]]
Reference = Callable[[int, int], str]  # (markers, units left out) → what goes in at close_at


class Format(Protocol):
    """One kind of payload.

    ``name`` is the content type. ``keep`` is the share of the payload's bytes that the shortened text aims
    at (SELECTION). ``version`` goes into a record's metadata: bump it when the same input gives other bytes.
    """

    name: str
    keep: float
    version: int

    def rewrite(self, text: str) -> Rewritten | None:
        """The text to cut in place of the payload's, or None to cut the payload itself."""
        ...

    def split(self, text: str) -> Document | None:
        """Cut source text into units; None when the text is not of this format after all (not_parseable).

        Linear in the text, never recursing without a limit.
        """
        ...

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """Source text that takes the place of a run. ``sentence`` is the finished wording for text formats
        (``… 12 rows elided (L40–52): all status=ok …``); formats with a syntax of their own use count and facts.
        """
        ...

    def reference(self, sentence: str, document: Document) -> str:
        """Source text that goes in at ``document.close_at``, with whatever separator it needs."""
        ...


class LastRead(Generic[_T]):
    """What a reader read last: facts ask about some of the units that the survey has read."""

    def __init__(self) -> None:
        self._first = self._last = 0
        self._read: _T | None = None

    def of(self, first: int, last: int, read: Callable[[int, int], _T]) -> tuple[_T, slice]:
        """What ``read`` gave for units among which are ``first`` to ``last``, exclusive, and where these are in it."""
        if self._read is None or first < self._first or last > self._last:
            self._first, self._last, self._read = first, last, read(first, last)
        return self._read, slice(first - self._first, last - self._first)


@dataclass(slots=True)
class Joined:
    """A shortened text in pieces of source text, and its markers; their output spans count from its start."""

    pieces: list[str] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    size: int = 0

    def add(self, text: str) -> None:
        if text:
            self.pieces.append(text)
            self.size += len(text)


@dataclass(slots=True)
class _Edit:
    """``text[start:stop]`` gives way to a marker, to nothing (``run`` None), or to an envelope's new content."""

    start: int
    stop: int
    run: Run | None = None
    envelope: Joined | None = None
    inline: bool = False


def join(
    document: Document,
    runs: Sequence[Run],
    format_of: Callable[[str], Format],
    inner: Callable[[Document], Sequence[Run]],
    reference: Reference | None = None,
    say: Facts = facts,
) -> Joined:
    """The one join: kept slices, a marker for each run, envelopes with their own markers, and the reference.

    ``format_of`` finds a format by its name, ``inner`` the runs of an envelope's document. ``reference`` gives the
    source text for ``document.close_at`` from the numbers of markers and units; None: no reference (envelopes).
    ``say`` gives the facts of a run that replaces so many bytes.
    """
    form = format_of(document.format)
    # Of edits that start together, an empty one (a marker at a group's end) comes first, then what holds the others.
    edits = sorted(_edits(document, runs, format_of, inner, say), key=lambda e: (e.start, e.stop > e.start, -e.stop))
    out, at, lines = Joined(), 0, _Lines(document)
    for edit in edits:
        if edit.start < at:
            continue  # inside something that is gone already
        _copy(out, document, at, edit.start, reference)
        if edit.run is not None:
            _mark(out, document, edit, form, lines, say)
        elif edit.envelope is not None:
            _nest(out, document, edit)
        at = edit.stop
    _copy(out, document, at, len(document.text) + 1, reference)
    return out


def _copy(out: Joined, document: Document, start: int, stop: int, reference: Reference | None) -> None:
    """Copies a slice; the reference goes in when the slice passes ``close_at`` (``stop`` exclusive)."""
    at = document.close_at
    if reference is not None and start <= at < stop:
        out.add(document.text[start:at])
        out.add(reference(len(out.markers), sum(m.count for m in out.markers)))
        start = at
    out.add(document.text[start:stop])


def _edits(
    document: Document,
    runs: Sequence[Run],
    format_of: Callable[[str], Format],
    inner: Callable[[Document], Sequence[Run]],
    say: Facts,
) -> list[_Edit]:
    edits = [edit for run in runs for edit in _run_edits(run)]
    for envelope in document.envelopes:
        if envelope.document is not None:
            gone = inner(envelope.document)
            if gone or envelope.document.origin is not None:
                content = join(envelope.document, gone, format_of, inner, say=say)
                edits.append(_Edit(envelope.start, envelope.stop, envelope=_encoded(content, envelope.encode)))
    return edits


def _run_edits(run: Run) -> list[_Edit]:
    group, pieces = run.group, run.pieces
    starts, stops = group.starts, group.stops
    if group.markers == "apart":
        at = group.marker_at
        return [*(_Edit(starts[a], stops[b - 1]) for a, b in pieces), _Edit(at, at, run)]
    if group.markers != "end":
        first, last = pieces[0]
        head = _Edit(starts[first], stops[last - 1], run)
        return [head, *(_Edit(stops[a - 1], stops[b - 1]) for a, b in pieces[1:])]
    gone = [_Edit(stops[a - 1] if a else starts[0], stops[b - 1]) for a, b in pieces]
    end = stops[len(group) - 1]
    return [*gone, _Edit(end, end, run, inline=pieces != ((0, len(group)),))]


def _mark(out: Joined, document: Document, edit: _Edit, form: Format, lines: _Lines, say: Facts) -> None:
    assert edit.run is not None
    run, group = edit.run, edit.run.group
    spans = tuple((group.starts[a], group.stops[b - 1]) for a, b in run.pieces)
    count, said = run.count, say(run, sum(b - a for a, b in spans))
    where = lines.of(spans[0]) if len(spans) == 1 else None
    sentence = source(elision(count, group.noun, where, said).encode("utf-8", "replace"))
    text = form.marker(sentence, count, source("; ".join(said).encode("utf-8", "replace")), group, document)
    if edit.inline and text[:1] not in "\r\n":
        text = " " + text
    start = out.size
    out.add(text)
    back = document.origin.back if document.origin else int
    there = tuple((back(a), back(b)) for a, b in spans)
    out.markers.append(Marker(start, out.size, there, count, group.noun, said))


def _nest(out: Joined, document: Document, edit: _Edit) -> None:
    assert edit.envelope is not None
    back = document.origin.back if document.origin else int
    within = (back(edit.start), back(edit.stop))
    for m in edit.envelope.markers:
        moved = Marker(out.size + m.start, out.size + m.stop, m.spans, m.count, m.noun, m.facts, m.within or within)
        out.markers.append(moved)
    for piece in edit.envelope.pieces:
        out.add(piece)


def _encoded(content: Joined, encode: Callable[[str], str]) -> Joined:
    """The pieces as they stand between the literal's quotes, the markers' spans moved along."""
    out, cuts = Joined(), {m.start for m in content.markers} | {m.stop for m in content.markers}
    text, moved, at = "".join(content.pieces), {}, 0
    for cut in [*sorted(cuts), len(text)]:
        out.add(encode(text[at:cut]))
        moved[cut], at = out.size, cut
    out.markers = [
        Marker(moved[m.start], moved[m.stop], m.spans, m.count, m.noun, m.facts, m.within) for m in content.markers
    ]
    return out


class _Lines:
    """1-based line numbers of spans in the payload, asked for in order: every line end is counted once."""

    def __init__(self, document: Document) -> None:
        # A rewritten text's lines are not the payload's: none are stated.
        self.text, self.newline = document.text, document.newline if document.origin is None else ""
        self.first = document.first_line
        self.at, self.line = 0, self.first

    def of(self, span: tuple[int, int]) -> tuple[int, int] | None:
        if not self.newline:
            return None
        return self._line(span[0]), self._line(max(span[0], span[1] - 1))

    def _line(self, position: int) -> int:
        if position < self.at:
            self.at, self.line = 0, self.first
        self.line += self.text.count(self.newline, self.at, position)
        self.at = position
        return self.line
