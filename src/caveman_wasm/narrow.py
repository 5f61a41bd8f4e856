"""A question about a payload → the units that answer it, as exact slices (SPEC 7, Narrowing).

Units are those that the payload's format cuts for eliding too. Large ones are entered, so that what is ranked is
a record, a log entry, a section; literal text between units is ranked as well. The words of what heads a unit
(heading path, what stands around it) count as the unit's own. Rather too much than a fragment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from caveman_wasm.markers import NON_ADJACENT
from caveman_wasm.model import Document, Group, plain, source
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


@dataclass(frozen=True, slots=True)
class _Head:
    """What heads the units of a group: its heading path, and ``text[start:stop]`` before its first unit (or '')."""

    heading: str
    start: int
    stop: int
    label: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit to rank: its span in the text of its part, and its heads, outermost first."""

    start: int
    stop: int
    heads: tuple[_Head, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A document, or an opened envelope's, and its units; ``label``: words of what stands around the envelope."""

    document: Document
    units: Sequence[_Unit]
    label: tuple[str, ...]


def narrow(document: Document, query: str, sentence: str, *, origin: str | None = None) -> str | None:
    """The view of ``document`` that answers ``query``, as source text, closed by ``sentence`` (plain text).

    None when there are no units, no hit, or no smaller view: then the whole original is the answer. ``origin``
    names the text where it is not the payload's own ("text of an HTML page"): the view says so.
    """
    asked = words(query)
    parts = _parts(document) if asked else []
    shown = _best(parts, asked)
    if not any(shown):
        return None
    lines = [f"[caveman: {origin}]"] if origin else []
    for number, (part, units) in enumerate(zip(parts, shown, strict=True)):
        if units:
            lines += ["[caveman: decoded text of a JSON string]"] * (number > 0)
            lines += _view(part.document.text, units)
    newline = "\r\n" if "\r\n" in document.text[:65_536] else "\n"
    view = newline.join([*lines, _source(sentence)]) + newline
    return view if len(view) < len(document.text) else None


def _source(words_of_ours: str) -> str:
    return source(words_of_ours.encode("utf-8", "replace"))


# ---------------------------------------------------------------- the units


def _parts(document: Document) -> list[_Part]:
    """The document and those of its envelopes that no unit shows whole, theirs too, in order."""
    waiting: list[tuple[Document, tuple[str, ...]]] = [(document, ())]
    parts = []
    for inner, label in waiting:  # grows while it is walked
        floor, ceiling = ENTER
        enter = min(max(len(inner.text) // 25, floor), ceiling)
        units = list(_walk(inner.text, inner.groups, enter, (0, len(inner.text)), ()))
        units, opened = _without_envelopes(inner, units, enter)
        waiting += [(d, (*label, *around)) for d, around in opened]
        parts.append(_Part(inner, _with_gaps(inner, units, enter), label))
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
        head = (*heads, _head(text, group, at))
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


def _head(text: str, group: Group, before: int) -> _Head:
    """``before``: where the literal text above the group's first unit begins."""
    stop = group.starts[0]
    literal = text[max(before, stop - LABEL) : stop] if before else ""
    label = tuple(words(f"{group.heading} {plain(literal)}")) if group.heading or literal.strip() else ()
    if group.heading or stop - before > HEAD or not _WORDY.search(text, before, stop):
        return _Head(group.heading, stop, stop, label)
    return _Head("", before, stop, label)


def _without_envelopes(
    document: Document, units: list[_Unit], enter: int
) -> tuple[list[_Unit], list[tuple[Document, tuple[str, ...]]]]:
    """Units without those too large to show the envelope in them, and these envelopes' documents with the words
    around them."""
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
        opened.append((envelope.document, tuple(words(plain(document.text[begin : envelope.start])))))
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


def _best(parts: Sequence[_Part], asked: Sequence[str]) -> list[list[_Unit]]:
    """The units to show of each part, in order."""
    flat = [(number, unit) for number, part in enumerate(parts) for unit in part.units]
    ranked = rank([_words(parts[number], unit) for number, unit in flat], asked)
    room = max(LEAST, sum(len(part.document.text) for part in parts) // SHARE)
    shown: list[list[_Unit]] = [[] for _ in parts]
    for index, score in ranked[:BEST]:
        number, unit = flat[index]
        room -= unit.stop - unit.start
        if score < WORTH * ranked[0][1] or (room < 0 and any(shown)):
            break
        shown[number].append(unit)
    return [sorted(units, key=lambda u: u.start) for units in shown]


def _words(part: _Part, unit: _Unit) -> list[str]:
    found = words(plain(part.document.text[unit.start : unit.stop]))
    found += part.label
    for head in unit.heads:
        found += head.label
    return found


# ---------------------------------------------------------------- the view


def _view(text: str, units: Sequence[_Unit]) -> Iterator[str]:
    """The lines of a view: slices with their heads, a gap's line wherever something was left out between."""
    at, heading = 0, ""
    for start, stop, named in _slices(units):
        if _SOLID.search(text, at, start):
            yield _source(NON_ADJACENT)
        if named and named != heading:
            yield _source(f"[caveman: in {named}]")
            heading = named
        yield text[start:stop].rstrip("\r\n") if stop < len(text) else text[start:stop].strip("\r\n")
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
