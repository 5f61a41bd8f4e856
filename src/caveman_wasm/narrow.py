"""A question about a payload → the units that answer it, as exact slices (SPEC 7, Narrowing).

Units are those that the payload's format cuts for eliding too. Large ones are entered, so that what is ranked is
a record, a log entry, a section; literal text between units is ranked as well. The words of what heads a unit
(heading path, what stands around it) count as the unit's own. Where no unit holds all the words that the text has of
the question, the innermost one around several that does comes first. Rather too much than a fragment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from caveman_wasm.markers import NON_ADJACENT
from caveman_wasm.model import Document, Group, ShownUnit, plain, source
from caveman_wasm.ranking import rank, words

__all__ = ["narrow"]

# SELECTION, "Narrowing": measured; finer units parted ids from their titles.
ENTER: Final = (3_000, 12_000)  # bytes; a unit above size / 25, within these bounds, is entered
BEST: Final = 20  # units shown at most
WORTH: Final = 0.35  # of the best score: less is not shown
SHARE: Final = 4  # after the first unit a view stops at this part of the text
LEAST: Final = 3_000  # bytes that a view may have in any case
FLOW: Final = 1_000  # bytes up to which small neighbours in flowing text (outlines, lists) are one unit
HEAD: Final = 2_000  # bytes of literal text shown above its units; a longer head is not shown
LABEL: Final = 400  # bytes of the text around a unit that count as words of the unit
NEAR: Final = 24  # bytes; less than this between two slices is shown rather than marked

_WORDY: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_SOLID: Final = re.compile(r"[^ \t\r\n]")


class _Head(NamedTuple):
    """What heads the units of a group: its heading path, and ``text[start:stop]`` before its first unit (or '').

    ``around`` is the span of the unit that the group is in, or of the whole text.
    """

    heading: str
    start: int
    stop: int
    label: tuple[str, ...]
    around: tuple[int, int]


class _Unit(NamedTuple):
    """A unit to rank: its span in the text of its part, and its heads, outermost first."""

    start: int
    stop: int
    heads: tuple[_Head, ...]

    @property
    def size(self) -> int:
        return self.stop - self.start

    def holds(self, other: _Unit) -> bool:
        return self.start <= other.start and other.stop <= self.stop


@dataclass(frozen=True, slots=True)
class _Hit:
    """A unit that is shown of the part of this number, and how often it says which words of the question."""

    number: int
    unit: _Unit
    score: float
    terms: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Part:
    """A document, or an opened envelope's, and its units; ``label``: words of what stands around the envelope.

    ``original`` is the text that the document was cut from, before any rewriting.
    """

    document: Document
    original: str
    units: Sequence[_Unit]
    label: tuple[str, ...]

    def origin(self, start: int, stop: int) -> tuple[int, int]:
        """The span of the original, where rewriting took nothing but white space off; else the span as it is."""
        back = self.document.origin
        return (back.back(start), back.back(stop - 1) + 1) if back is not None and back.verbatim else (start, stop)

    def written(self, start: int, stop: int) -> str:
        """What is shown of a span: the original's exact slice, or the rewritten text's."""
        back = self.document.origin
        text = self.original if back is not None and back.verbatim else self.document.text
        return text[slice(*self.origin(start, stop))]


def narrow(
    document: Document, query: str, sentence: str, *, original: str | None = None, origin: str | None = None
) -> tuple[str, tuple[ShownUnit, ...]] | None:
    """The view of ``document`` that answers ``query``, as source text, closed by ``sentence`` (plain text), and the
    units that it shows.

    None when there are no units, no hit, or no smaller view: then the whole original is the answer. ``original`` is
    the text that the document was cut from, where that is another than its own: of a minified one. ``origin`` names
    the text where it is not the payload's own ("text of an HTML page"): the view says so.
    """
    asked = words(query)
    whole = document.text if original is None else original
    parts = _parts(document, whole) if asked else []
    shown = _best(parts, asked)
    if not any(shown):
        return None
    lines = [f"[caveman: {origin}]"] if origin else []
    for number, (part, hits) in enumerate(zip(parts, shown, strict=True)):
        if hits:
            lines += ["[caveman: decoded text of a JSON string]"] * (number > 0)
            lines += _view(part, [hit.unit for hit in hits])
    newline = "\r\n" if "\r\n" in whole[:65_536] else "\n"
    view = newline.join([*lines, _source(sentence)]) + newline
    if len(view) >= len(whole):
        return None
    return view, tuple(
        ShownUnit(*parts[number].origin(hit.unit.start, hit.unit.stop), hit.score, hit.terms, number)
        for number, hits in enumerate(shown)
        for hit in hits
    )


def _source(words_of_ours: str) -> str:
    return source(words_of_ours.encode("utf-8", "replace"))


# ---------------------------------------------------------------- the units


def _parts(document: Document, original: str) -> list[_Part]:
    """The document and those of its envelopes that no unit shows whole, theirs too, in order."""
    waiting: list[tuple[Document, str, tuple[str, ...]]] = [(document, original, ())]
    parts = []
    for inner, before, label in waiting:  # grows while it is walked
        floor, ceiling = ENTER
        enter = min(max(len(inner.text) // 25, floor), ceiling)
        units = list(_walk(inner.text, inner.groups, enter, (0, len(inner.text)), ()))
        units, opened = _without_envelopes(inner, units, enter)
        waiting += [(d, text, (*label, *around)) for d, text, around in opened]
        parts.append(_Part(inner, before, _with_gaps(inner, units, enter), label))
    return parts


def _walk(
    text: str, groups: Sequence[Group], enter: int, around: tuple[int, int], heads: tuple[_Head, ...]
) -> Iterator[_Unit]:
    """The units in order: one above ``enter`` bytes gives way to what it is made of; in flowing text small
    neighbours are one, so that a heading or a lead-in is not found without what it announces."""
    at = around[0]
    for group in groups:
        if not len(group):
            continue
        head = (*heads, _head(text, group, at, around))
        at = group.stops[-1]
        together = FLOW if group.mode in ("outline", "head") else 0
        begun = -1  # where the unit that is being put together starts, or -1
        end = at
        for i, (start, stop) in enumerate(zip(group.starts, group.stops, strict=True)):
            entered = i in group.children and stop - start > enter
            if begun >= 0 and (entered or stop - begun > together):
                yield _Unit(begun, end, head)
                begun = -1
            if entered:
                yield from _walk(text, group.children[i], enter, (start, stop), head)
            elif begun < 0:
                begun = start
            end = stop
        if begun >= 0:
            yield _Unit(begun, end, head)


def _head(text: str, group: Group, before: int, around: tuple[int, int]) -> _Head:
    """``before``: where the literal text above the group's first unit begins."""
    stop = group.starts[0]
    literal = text[max(before, stop - LABEL) : stop] if before else ""
    label = tuple(words(f"{group.heading} {plain(literal)}")) if group.heading or literal.strip() else ()
    if group.heading or stop - before > HEAD or not _WORDY.search(text, before, stop):
        return _Head(group.heading, stop, stop, label, around)
    return _Head("", before, stop, label, around)


def _without_envelopes(
    document: Document, units: list[_Unit], enter: int
) -> tuple[list[_Unit], list[tuple[Document, str, tuple[str, ...]]]]:
    """Units without those too large to show the envelope in them, and these envelopes' documents with their text
    and the words around them."""
    starts = [unit.start for unit in units]
    given_up: set[int] = set()
    opened = []
    for envelope in document.envelopes:
        at = bisect_right(starts, envelope.start) - 1
        inside = at >= 0 and envelope.stop <= units[at].stop
        if envelope.document is None or (inside and units[at].stop - units[at].start <= enter):
            continue
        if inside:
            given_up.add(at)
        begin = max(units[at].start if inside else 0, envelope.start - LABEL)
        opened.append((envelope.document, envelope.text, tuple(words(plain(document.text[begin : envelope.start])))))
    return [unit for i, unit in enumerate(units) if i not in given_up], opened


def _with_gaps(document: Document, units: list[_Unit], enter: int) -> list[_Unit]:
    """The units and, as units too, the literal text between them where it says something."""
    opened = [(e.start, e.stop, None) for e in document.envelopes if e.document is not None]
    if not units and not opened:
        return [_Unit(0, len(document.text), ())]
    known: list[tuple[int, int, _Unit | None]] = [*((u.start, u.stop, u) for u in units), *opened]
    if opened:
        known.sort(key=lambda k: k[:2])
    found: list[_Unit] = []
    at = 0
    for start, stop, unit in [*known, (len(document.text), len(document.text), None)]:
        if NEAR <= start - at <= enter and _WORDY.search(document.text, at, start):
            found.append(_Unit(at, start, ()))
        if unit is not None:
            found.append(unit)
        at = max(at, stop)
    return found


# ---------------------------------------------------------------- which answer


def _best(parts: Sequence[_Part], asked: Sequence[str]) -> list[list[_Hit]]:
    """What to show of each part, in order."""
    flat = [(number, unit) for number, part in enumerate(parts) for unit in part.units]
    spoken = [_words(parts[number], unit) for number, unit in flat]
    ranked = rank(spoken, asked)
    wanted = dict.fromkeys(asked)

    def hit(number: int, unit: _Unit, said: Sequence[str], score: float) -> _Hit:
        return _Hit(number, unit, score, {word: said.count(word) for word in wanted if word in said})

    room = max(LEAST, sum(len(part.document.text) for part in parts) // SHARE)
    chosen: list[_Hit] = []
    held: list[set[str]] = [set() for _ in flat]
    for index, _ in ranked:  # the others score nothing, so they hold none
        held[index] = wanted.keys() & spoken[index]
    if around := _around_all(flat, held, room):
        chosen.append(hit(*around, _words(parts[around[0]], around[1]), ranked[0][1]))
        room -= around[1].size
    for index, score in ranked[:BEST]:
        number, unit = flat[index]
        if around and around[0] == number and around[1].holds(unit):
            continue
        room -= unit.size
        if score < WORTH * ranked[0][1] or (room < 0 and chosen):
            break
        chosen.append(hit(number, unit, spoken[index], score))
    chosen.sort(key=lambda it: it.unit.start)
    return [[it for it in chosen if it.number == number] for number in range(len(parts))]


def _around_all(flat: Sequence[tuple[int, _Unit]], held: Sequence[set[str]], room: int) -> tuple[int, _Unit] | None:
    """The innermost unit around others that holds all the words asked for that are there at all, where none of the
    others does; with the number of its part. None if there is no such unit of at most ``room`` bytes."""
    matched = set().union(*held)
    if matched in held:
        return None
    inside: dict[tuple[int, _Unit], set[str]] = {}
    for (number, unit), some in zip(flat, held, strict=True):
        for depth in range(1, len(unit.heads) if some else 0):
            start, stop = unit.heads[depth].around
            if stop - start <= room:
                inside.setdefault((number, _Unit(start, stop, unit.heads[:depth])), set()).update(some)
    whole = [found for found, some in inside.items() if some == matched]
    return min(whole, key=lambda found: found[1].size, default=None)


def _words(part: _Part, unit: _Unit) -> list[str]:
    found = words(plain(part.document.text[unit.start : unit.stop]))
    found += part.label
    for head in unit.heads:
        found += head.label
    return found


# ---------------------------------------------------------------- the view


def _view(part: _Part, units: Sequence[_Unit]) -> Iterator[str]:
    """The lines of a view: slices with their heads, a gap's line wherever something was left out between."""
    text, at, heading = part.document.text, 0, ""
    for start, stop, named in _slices(units):
        if _SOLID.search(text, at, start):
            yield _source(NON_ADJACENT)
        if named and named != heading:
            yield _source(f"[caveman: in {named}]")
            heading = named
        written = part.written(start, stop)
        yield written.rstrip("\r\n") if stop < len(text) else written.strip("\r\n")
        at = stop
    if _SOLID.search(text, at):
        yield _source(NON_ADJACENT)


def _slices(units: Sequence[_Unit]) -> list[tuple[int, int, str]]:
    """Spans to show, heads included, in order; those (nearly) touching are one. With the heading of each."""
    spans: set[tuple[int, int, str]] = set()
    for unit in units:
        named = next((head.heading for head in reversed(unit.heads) if head.heading), "")
        spans.add((unit.start, unit.stop, named))
        spans.update((head.start, head.stop, named) for head in unit.heads if head.stop > head.start)
    merged: list[tuple[int, int, str]] = []
    for start, stop, named in sorted(spans):
        if merged and start - merged[-1][1] < NEAR:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, stop, named))
    return merged
