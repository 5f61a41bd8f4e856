"""What agents' tools put around a payload: enclosing tags (``<output>…</output>``) and line-number gutters (``cat -n``,
read tools). They come off before the payload is cut; the units then go back to where they stand in the payload, so
that tags stay and every kept line keeps the number it came with.

A gutter counts up by one from its first number, on every line; an id column, a time or a grep hit does not, or is
not aligned. Only tags that no page or document format uses as its root are taken for wrappers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from caveman_wasm.model import Document, Envelope, Group, Rewritten

__all__ = ["Wrapped", "put_back", "tags_off", "unwrapped"]

_NAMES: Final = (
    "output|stdout|stderr|file|file_content|file_contents|file-content|tool_result|tool_output|tool-output|command_output"
    "|bash_output|bash-stdout|bash-stderr|local-command-stdout|function_results|function_result|read_file|document_content"
)
_OPENING: Final = re.compile(rf"[ \t\r\n]*<({_NAMES})(?:[ \t][^<>\n]{{0,400}})?>[ \t]*\r?\n?", re.ASCII)
_CLOSING: Final = re.compile(rf"\r?\n?[ \t]*</({_NAMES})>[ \t\r\n]*\Z", re.ASCII)
# cat -n pads to six columns; read tools print an arrow (U+2192) or a bar. What follows is the line itself.
_GUTTERS: Final = (
    re.compile(r" {0,5}([0-9]{1,9})\t(?<=[ 0-9]{6}\t)", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9})\xe2\x86\x92", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9}) ?(?:\||\xe2\x94\x82)(?: |(?=\r?\n|\r?\Z))", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9}):(?: |\t|(?=\r?\n|\r?\Z))", re.ASCII),
)
_LEAST: Final = 3  # lines from which numbers that count up are a gutter


@dataclass(frozen=True, slots=True)
class Wrapped:
    """``text`` without its wrappers. Line *i* of it begins at ``lines[i]``; in the payload its wrapper begins at
    ``begins[i]`` and its own first character stands at ``origins[i]``. ``number`` is the first line's number."""

    text: str
    lines: Sequence[int]
    begins: Sequence[int]
    origins: Sequence[int]
    number: int

    def position(self, at: int) -> int:
        """Where a character of ``text`` stands in the payload."""
        i = bisect_right(self.lines, at) - 1
        return self.origins[i] + at - self.lines[i]

    def start(self, at: int) -> int:
        """Where a unit that begins at ``at`` begins in the payload: with its line's gutter, if it heads a line."""
        i = bisect_right(self.lines, at) - 1
        heads = not self.text[self.lines[i] : at].strip(" \t")
        return self.begins[i] if heads else self.position(at)


def tags_off(text: str) -> tuple[int, int]:
    """The span inside of enclosing wrapper tags; all of ``text`` when there are none."""
    start, stop = 0, len(text)
    for _ in range(3):  # <function_results><output>…
        opening = _OPENING.match(text, start, stop)
        closing = _CLOSING.search(text, max(start, stop - 600), stop)
        if not opening or not closing or opening[1] != closing[1] or opening.end() > closing.start():
            break
        start, stop = opening.end(), closing.start()
    return start, stop


def unwrapped(text: str) -> Wrapped | None:
    """``text`` without wrappers; None when it has none."""
    start, stop = tags_off(text)
    inside = text[start:stop]
    gutter = next((g for g in _GUTTERS if g.match(inside)), None)
    numbered = _without_gutter(inside, start, gutter) if gutter else None
    if numbered is not None:
        return numbered
    return None if (start, stop) == (0, len(text)) else Wrapped(inside, [0], [start], [start], 1)


def _without_gutter(inside: str, start: int, gutter: re.Pattern[str]) -> Wrapped | None:
    lines = inside.split("\n")
    last = len(lines) - (not lines[-1])
    found = [gutter.match(line) for line in lines[:last]]
    if last < _LEAST or not all(found):
        return None
    numbers = [int(m[1]) for m in found if m]
    if numbers != list(range(numbers[0], numbers[0] + last)):
        return None
    widths = [m.end() for m in found if m] + [0] * (len(lines) - last)
    begins = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=start))
    bare = [line[width:] for line, width in zip(lines, widths, strict=True)]
    at = list(accumulate((len(line) + 1 for line in bare[:-1]), initial=0))
    origins = [begin + width for begin, width in zip(begins, widths, strict=True)]
    return Wrapped("\n".join(bare), at, begins, origins, numbers[0])


def put_back(document: Document, wrapped: Wrapped, payload: str) -> Document:
    """``document``, cut from ``wrapped.text``, as a document of the payload itself.

    A rewritten document keeps its text, and leads back through both; the tags around it stay, a gutter does not.
    """
    if document.origin is not None:
        return _around(document, wrapped, payload)
    at, begin = wrapped.position, wrapped.start
    moved = [_moved(g, begin, at) for g in document.groups]
    envelopes = [Envelope(at(e.start), at(e.stop), e.text, e.encode) for e in document.envelopes]
    close = at(document.close_at)
    before = payload.count("\n", 0, wrapped.begins[0])
    return Document(
        payload, document.format, moved, close, envelopes, document.newline, first_line=wrapped.number - before
    )


def _moved(group: Group, begin: Callable[[int], int], at: Callable[[int], int]) -> Group:
    children = {i: [_moved(g, begin, at) for g in groups] for i, groups in group.children.items()}
    return Group(
        [begin(a) for a in group.starts],
        [at(b) for b in group.stops],
        group.mode,
        group.noun,
        group.markers,
        group.heading,
        children,
        group.pinned,
        group.reader,
    )


def _around(document: Document, wrapped: Wrapped, payload: str) -> Document:
    assert document.origin is not None
    start, stop = tags_off(payload)
    head, tail, shift = payload[:start], payload[stop:], start
    inner = document.origin

    def move(at: int) -> int:
        return at + shift

    back = _Through(head + inner.text + tail, (), (), inner, wrapped, start, stop)
    groups = [_moved(g, move, move) for g in document.groups]
    envelopes = [Envelope(move(e.start), move(e.stop), e.text, e.encode) for e in document.envelopes]
    return Document(back.text, document.format, groups, move(document.close_at), envelopes, document.newline, back)


@dataclass(frozen=True, slots=True)
class _Through(Rewritten):
    """A rewritten text between its tags (``start`` to ``stop`` of the payload), led back through both steps."""

    inner: Rewritten
    wrapped: Wrapped
    start: int
    stop: int

    def back(self, position: int) -> int:
        if position < self.start:
            return position
        over = position - self.start - len(self.inner.text)
        if over >= 0:
            return self.stop + over
        return self.wrapped.position(self.inner.back(position - self.start))
