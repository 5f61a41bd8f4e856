"""What agents' tools put around a payload: enclosing tags (``<output>…</output>``) with short elements beside them
(``<returncode>0</returncode>``), and line-number gutters (``cat -n``, read tools) with a line or two above and a remark
below. They come off before the payload is cut; the units then go back to where they stand in the payload, so that
tags stay and every kept line keeps the number it came with.

A gutter counts up by one from its first number, on every line; an id column, a time or a grep hit does not, or is
not aligned. Only tags that no page or document format uses as its root are taken for wrappers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final

from caveman_wasm.markers import CLOSING_TAGS
from caveman_wasm.model import Document, Envelope, Group, Rewritten

__all__ = ["Wrapped", "put_back", "tags_off", "unwrapped"]

_NAMES: Final = (
    "output|stdout|stderr|file|file_content|file_contents|file-content|tool_result|tool_output|tool-output|command_output"
    "|bash_output|bash-stdout|bash-stderr|local-command-stdout|function_results|function_result|read_file|document_content"
)
_INNER: Final = (
    "|result|content|contents|response"  # what may stand inside of one of these; a document's root otherwise
)
_BESIDE: Final = r"(?:[ \t\r\n]*<([\w-]{1,40})(?:[ \t][^<>\n]{0,200})?>[^<]{0,1500}</\1>){0,4}"
_BEFORE: Final = re.compile(_BESIDE, re.ASCII)
_OPENING: Final = tuple(
    re.compile(rf"[ \t\r\n]*<({_NAMES}{inner})(?:[ \t][^<>\n]{{0,400}})?>[ \t]*\r?\n?", re.ASCII)
    for inner in ("", _INNER)
)
_CLOSING: Final = re.compile(rf"\r?\n?[ \t]*</({_NAMES}{_INNER})>(?=[ \t\r\n<])", re.ASCII)
_AFTER: Final = re.compile(rf"{_BESIDE}[ \t\r\n]*", re.ASCII)
_AROUND: Final = 4_000  # bytes in front of and behind the content in which tags are looked for
# cat -n pads to six columns; read tools print an arrow (U+2192) or a bar. What follows is the line itself.
_GUTTERS: Final = (
    re.compile(r" {0,5}([0-9]{1,9})\t(?<=[ 0-9]{6}\t)", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9})\xe2\x86\x92", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9}) ?(?:\||\xe2\x94\x82)(?: |(?=\r?\n|\r?\Z))", re.ASCII),
    re.compile(r" {0,8}([0-9]{1,9}):(?: |\t|(?=\r?\n|\r?\Z))", re.ASCII),
)
_LEAST: Final = 3  # lines from which numbers that count up are a gutter
_SURE: Final = 10  # … where lines without a number stand above or below
_ABOVE: Final = 3  # such lines above
_BELOW: Final = (15, 2_000)  # such lines, and bytes, below


@dataclass(frozen=True, slots=True)
class Wrapped:
    """``text`` without its wrappers. Line *i* of it begins at ``lines[i]``; in the payload its wrapper begins at
    ``begins[i]`` and its own first character stands at ``origins[i]``. ``number`` is the first line's number; it
    was taken from ``first`` to ``stop`` of the payload."""

    text: str
    lines: Sequence[int]
    begins: Sequence[int]
    origins: Sequence[int]
    number: int
    first: int
    stop: int

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
    for depth in range(3):  # <function_results><output>…
        found = _tags(text, start, stop, _OPENING[depth > 0])
        if found is None:
            break
        start, stop = found
    return start, stop


def _tags(text: str, start: int, stop: int, pattern: re.Pattern[str]) -> tuple[int, int] | None:
    """The span inside of one pair of tags around ``text[start:stop]``, short elements beside it allowed."""
    beside = _BEFORE.match(text, start, min(stop, start + _AROUND))
    opening = pattern.match(text, start, stop)
    if opening is None and beside is not None:
        opening = pattern.match(text, beside.end(), stop)
    if opening is None:
        return None
    end = text.rfind(f"</{opening[1]}>", max(opening.end(), stop - _AROUND), stop)
    after = end + len(opening[1]) + 3
    rest = _AFTER.match(text, after, stop) if end >= 0 else None
    if rest is None or rest.end() != stop:
        return None
    if any(text.find(f"\n<{opening[1]}{sign}", opening.end(), end) >= 0 for sign in "> "):
        return None  # several of a kind in a row
    end = start + len(text[start:end].rstrip(" \t"))
    for sign in ("\n", "\r"):
        end -= text[end - 1] == sign
    return opening.end(), max(opening.end(), end)


def unwrapped(text: str) -> Wrapped | None:
    """``text`` without wrappers; None when it has none."""
    start, stop = tags_off(text)
    numbered = _without_gutter(text[start:stop], start)
    if numbered is not None:
        return numbered
    return None if (start, stop) == (0, len(text)) else Wrapped(text[start:stop], [0], [start], [start], 1, start, stop)


def _without_gutter(inside: str, start: int) -> Wrapped | None:
    first, gutter = _begins(inside)
    if gutter is None:
        return None
    lines = inside.split("\n")
    total = len(lines) - (not lines[-1])
    found: list[re.Match[str]] = []
    for line in lines[first:total]:
        match = gutter.match(line)
        if match is None or (found and int(match[1]) != int(found[-1][1]) + 1):
            break
        found.append(match)
    last = first + len(found)
    below = lines[last:total]
    alone = not first and not below
    if len(found) < (_LEAST if alone else _SURE) or any(map(gutter.match, below)):
        return None
    if len(below) > _BELOW[0] or sum(map(len, below)) > _BELOW[1]:
        return None
    ends = [""] * (last < len(lines))  # what is behind the last numbered line begins on a line of its own
    begins = list(accumulate((len(line) + 1 for line in lines[:last]), initial=start))[first : last + len(ends)]
    widths = [m.end() for m in found] + [0] * len(ends)
    bare = [line[width:] for line, width in zip(lines[first:last], widths, strict=False)] + ends
    at = list(accumulate((len(line) + 1 for line in bare[:-1]), initial=0))
    origins = [begin + width for begin, width in zip(begins, widths, strict=True)]
    stop = begins[-1] if ends else start + len(inside)
    return Wrapped("\n".join(bare), at, begins, origins, int(found[0][1]), begins[0], stop)


def _begins(inside: str) -> tuple[int, re.Pattern[str] | None]:
    """The first line with a gutter, of the first few, and which gutter."""
    for first, line in enumerate(inside[:_AROUND].split("\n")[: _ABOVE + 1]):
        for gutter in _GUTTERS:
            if gutter.match(line):
                return first, gutter
    return 0, None


def put_back(document: Document, wrapped: Wrapped, payload: str) -> Document | None:
    """``document``, cut from ``wrapped.text``, as a document of the payload itself; None where its reference must stand
    inside and would not be seen there.

    A rewritten document keeps its text, and leads back through both; the tags around it stay, a gutter does not.
    """
    last = document.close_at == len(document.text)
    seen = CLOSING_TAGS.fullmatch(payload, wrapped.stop) is not None
    if not seen and not last:
        return None
    if document.origin is not None:
        made = _around(document, wrapped, payload)
    else:
        at, begin = wrapped.position, wrapped.start
        before = payload.count("\n", 0, wrapped.begins[0])
        made = replace(
            document,
            text=payload,
            groups=[_moved(g, begin, at) for g in document.groups],
            close_at=at(document.close_at),
            envelopes=[Envelope(at(e.start), at(e.stop), e.text, e.encode) for e in document.envelopes],
            first_line=wrapped.number - before,
        )
    return made if seen else replace(made, close_at=len(made.text))


def _moved(group: Group, begin: Callable[[int], int], at: Callable[[int], int]) -> Group:
    return replace(
        group,
        starts=[begin(a) for a in group.starts],
        stops=[at(b) for b in group.stops],
        children={i: [_moved(g, begin, at) for g in groups] for i, groups in group.children.items()},
        marker_at=at(group.marker_at) if group.marker_at >= 0 else -1,
    )


def _around(document: Document, wrapped: Wrapped, payload: str) -> Document:
    assert document.origin is not None
    start, stop = wrapped.first, wrapped.stop
    head, tail, shift = payload[:start], payload[stop:], start
    inner = document.origin

    def move(at: int) -> int:
        return at + shift

    back = _Through(head + inner.text + tail, (), (), inner, wrapped, start, stop)
    return replace(
        document,
        text=back.text,
        groups=[_moved(g, move, move) for g in document.groups],
        close_at=move(document.close_at),
        envelopes=[Envelope(move(e.start), move(e.stop), e.text, e.encode) for e in document.envelopes],
        origin=back,
    )


@dataclass(frozen=True, slots=True)
class _Through(Rewritten):
    """A rewritten text between its tags (``start`` to ``stop`` of the payload), led back through both steps."""

    inner: Rewritten
    wrapped: Wrapped
    start: int
    stop: int

    @property
    def verbatim(self) -> bool:
        return self.inner.verbatim

    def back(self, position: int) -> int:
        if position < self.start:
            return position
        over = position - self.start - len(self.inner.text)
        if over >= 0:
            return self.stop + over
        return self.wrapped.position(self.inner.back(position - self.start))
