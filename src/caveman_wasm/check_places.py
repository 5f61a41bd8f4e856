"""Where the markers of a shortened text stand: from spans in the payload back to units of the format's cut."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from caveman_wasm.model import Document, Group, Marker

__all__ = ["Part", "Stand", "cuts_of"]

_Pieces = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Stand:
    """A marker (its number from 1) in its place: pieces (first, last) of a group, and its text as the document's own
    syntax has it (of an envelope's: decoded)."""

    number: int
    marker: Marker
    group: Group
    pieces: _Pieces
    written: str

    @property
    def indices(self) -> list[int]:
        return [i for first, last in self.pieces for i in range(first, last)]

    @property
    def replaced(self) -> int:
        """Bytes from the first unit of each piece to its last."""
        return sum(self.group.stops[b - 1] - self.group.starts[a] for a, b in self.pieces)


class Part:
    """A document, the text it was made from, the way back to that, and the markers in it."""

    def __init__(self, document: Document, before: str) -> None:
        self.document, self.before = document, before
        self.found: list[Stand] = []
        self.back, self.verbatim = _way_back(document, before)

    def places(
        self, spans: Sequence[tuple[tuple[int, int], ...]], nouns: set[str]
    ) -> dict[int, list[tuple[Group, int]]]:
        """Payload offset at which one of ``spans`` begins → the units (group, index) that begin there."""
        wanted = {span[0][0] for span in spans if span}
        found: dict[int, list[tuple[Group, int]]] = {}
        for group in _groups(self.document):
            if group.noun in nouns:
                for i, start in enumerate(map(self.back, group.starts)):
                    if start in wanted:
                        found.setdefault(start, []).append((group, i))
        return found

    def pieces(self, group: Group, first: int, marker: Marker) -> _Pieces | None:
        """The pieces of ``group`` that are exactly the marker's spans; None where these are no whole units."""
        pieces, k, back = [], first, self.back
        exact = first + marker.count - 1
        for start, stop in marker.spans:
            while k < len(group) and back(group.starts[k]) != start:
                k += 1
            begun = k
            if len(marker.spans) == 1 and k <= exact < len(group) and back(group.stops[exact]) == stop:
                k = exact
            while k < len(group) and back(group.stops[k]) != stop:
                k += 1
            if k >= len(group):
                return None
            k += 1
            pieces.append((begun, k))
        return tuple(pieces)


def _groups(document: Document) -> Iterator[Group]:
    waiting = list(document.groups)
    while waiting:
        group = waiting.pop()
        yield group
        for children in group.children.values():
            waiting += children


_BLANKS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[ \t\r\n]+', re.DOTALL)
_BLANKS_IN_LINES: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[ \t]+', re.DOTALL)


def _way_back(document: Document, before: str) -> tuple[Callable[[int], int], bool]:
    """The payload's offset for an offset of the document, and whether the document is the payload verbatim: as it is,
    or as JSON without its white space, taken off here once more."""
    if document.origin is None:
        return (lambda at: at), document.text == before
    for pattern in (_BLANKS, _BLANKS_IN_LINES) if document.text[:4].lstrip("\xef\xbb\xbf")[:1] in ("[", "{") else ():
        blanks = [m.span() for m in pattern.finditer(before) if m[0][0] != '"']
        edges = [0, *(edge for span in blanks for edge in span), len(before)]
        if "".join(before[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)) == document.text:
            return _past(blanks), True
    return document.origin.back, False


def _past(blanks: Sequence[tuple[int, int]]) -> Callable[[int], int]:
    """Offsets without the ``blanks`` → offsets with them; at a blank's place, behind it."""
    taken = [0, *accumulate(b - a for a, b in blanks)]
    kept = [stop - gone for (_, stop), gone in zip(blanks, taken[1:], strict=True)]
    return lambda at: at + taken[bisect_right(kept, at)]


def cuts_of(stand: Stand) -> Iterator[tuple[int, int, str, int]]:
    """(start, stop, text in its place, rank among those that start together) of a marker's pieces."""
    group, starts, stops = stand.group, stand.group.starts, stand.group.stops
    apart, at_end = group.markers == "apart", group.markers == "end"
    for k, (first, last) in enumerate(stand.pieces):
        if apart:
            yield starts[first], stops[last - 1], "", 1
        elif at_end:
            yield stops[first - 1] if first else starts[0], stops[last - 1], "", 1
        elif k == 0:
            yield starts[first], stops[last - 1], stand.written, 1
        else:
            yield stops[first - 1], stops[last - 1], "", 1
    if apart or at_end:
        at = group.marker_at if apart else stops[-1]
        yield at, at, stand.written, 0
