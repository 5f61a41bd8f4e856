"""A web page as events: what opens, what closes, and the text between.

The lexer is our own: offsets into the payload are needed, mark-up may be broken in any way, and the standard
library's parser changes between Python versions, so it may decide no byte. It is linear: each pattern is possessive,
and a search for an end that failed once is not made again. Elements are opened and closed as browsers do for
unclosed ``<p>``, ``<li>`` and cells; nothing recurses.

What lies between comments, declarations and raw content is cut into tags by one ``split``, a window at a time; what
an element holds is the difference of running counts, kept only of those that somebody asks about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from caveman_wasm.formats.html_tag import LINKED, LINKS, MAINS, NAME, OPEN, OTHER, SIZE, Tag, Tags

__all__ = ["SPACE", "Event", "Page"]

WINDOW: Final = 1 << 18  # bytes of mark-up cut into tags at a time: bounds memory
SPACE: Final = " \t\r\n\f"

_TAGS: Final = re.compile(rf"(</?{NAME}(?:>|[^<>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^<>\"']*+)*+>?))")
_RAW: Final = ("script", "style", "textarea", "title", "template", "noscript", "iframe", "xmp")
_ENDS: Final = {name: re.compile(rf"</{name}(?![A-Za-z0-9-])", re.IGNORECASE | re.ASCII) for name in _RAW}
_SPECIAL: Final = re.compile(  # where a comment, a declaration or an element with raw content begins
    rf"<(?:[!?]|(?=[instxINSTX])(?i:{'|'.join(_RAW)})(?![A-Za-z0-9:-]))", re.ASCII
)
_CUT: Final = re.compile(r"<[A-Za-z]")
_SLASHED: Final = frozenset(["a", "script", "svg", "path"])  # with a slash at the end they hold nothing


# What stands at an offset: "t" text, " " white space, "r" raw content, "<" an element opens, ">" it closes; the
# element's tag (of the one around, for text), the text (of a start tag too), the offset, and the element's number (0 is
# the page).
Event = tuple[str, Tag, str, int, int]


class Page:
    """A page: its `events` are well nested. ``elements``: how many there are; ``held``: of each that somebody may ask
    about, the counts of what is in it; ``counts``: of the whole page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._flat: list[Any] = []  # events without tuples around them, which would be work for the garbage collector
        self.elements = 0
        self.held: dict[int, list[int]] = {}
        self.counts = [0] * 8
        self._tags = Tags()
        self._open = self._tags.open
        self._stack, self._outer = [0], [Tag("", OPEN, False, None)]
        self._links: list[tuple[int, int]] = []  # of each link open: the counts of text and of links' text before it
        self._endless: set[str] = set()
        self._read()

    def events(self) -> Iterator[Event]:
        fields = iter(self._flat)
        return zip(fields, fields, fields, fields, fields, strict=True)

    def _read(self) -> None:
        text, at = self.text, 0
        while at < len(text):
            found = _SPECIAL.search(text, at)
            stop = found.start() if found else len(text)
            while at < stop:
                cut = _CUT.search(text, at + WINDOW, stop) if stop - at > WINDOW else None
                at = self._markup(at, cut.start() if cut else stop)
            if found and at == stop:
                at = self._special(at)
        while len(self._stack) > 1:
            self._pop(len(text))

    def _markup(self, start: int, stop: int) -> int:
        """Reads tags and the text between them; gives where it ended: behind ``stop`` where a tag goes on over it."""
        parts = _TAGS.split(self.text[start:stop])
        parts.append("")
        at, flat, counts, tags, outer, stack = start, self._flat, self.counts, self._tags, self._outer, self._stack
        opened = self._open
        for said, written in zip(parts[::2], parts[1::2], strict=True):
            if said:
                size = len(said.strip(SPACE))
                counts[SIZE] += size
                flat += ("t" if size else " ", outer[-1], said, at, stack[-1])
                at += len(said)
            if not written:
                break
            tag, holds = tags[written], True
            if tag.kind == OTHER:
                written, tag, holds = self._looked_at(written, tag, at)
            if tag.closing:
                if outer[-1].name == tag.name:
                    self._pop(at)
                elif opened[tag.name]:
                    while self._pop(at).name != tag.name:
                        pass
            else:
                if tag.room is not None and outer[-1].name in tag.room:
                    self._make_room(tag, at)
                self.elements = number = self.elements + 1
                if tag.said:
                    flat += ("<", tag, written, at, number)
                if holds:
                    outer.append(tag)
                    stack.append(number)
                    opened[tag.name] += 1
                    if tag.noted:
                        self._note(tag, number)
            at += len(written)
            if at > stop:
                break
        return at

    def _pop(self, at: int) -> Tag:
        tag, number = self._outer.pop(), self._stack.pop()
        self._open[tag.name] -= 1
        if tag.said:
            self._flat += (">", tag, "", at, number)
        if tag.measured:
            self.held[number] = [now - before for now, before in zip(self.counts, self.held[number], strict=True)]
        if tag.counted == LINKS:
            size, linked = self._links.pop()
            self.counts[LINKED] = linked + self.counts[SIZE] - size
        return tag

    def _note(self, tag: Tag, number: int) -> None:
        """Counts an element, and remembers what was counted before it."""
        counts = self.counts
        if tag.counted:
            counts[tag.counted] += 1
            if tag.counted == LINKS:
                self._links.append((counts[SIZE], counts[LINKED]))
        counts[MAINS] += tag.main
        if tag.measured:
            self.held[number] = counts.copy()

    def _make_room(self, tag: Tag, at: int) -> None:
        """Closes what ends where ``tag`` begins: one paragraph, and what may not be around, up to its own name."""
        outer = self._outer
        if outer[-1].name == "p":
            self._pop(at)
        while tag.room and outer[-1].name in tag.room and outer[-1].name != "p":
            if self._pop(at).name == tag.name:
                break

    def _looked_at(self, written: str, tag: Tag, at: int) -> tuple[str, Tag, bool]:
        """A tag that may go on where the mark-up was cut, or hold nothing, as it is, and whether it holds something."""
        if written[-1] != ">" and self.text[at + len(written) : at + len(written) + 1] in ('"', "'"):
            written = self._whole(at)
            tag = self._tags[written]
        slashed = written.endswith(("/>", "/")) and (tag.name in _SLASHED or self._open["svg"] > 0)
        return written, tag, not (tag.void or slashed)

    def _whole(self, at: int) -> str:
        found = _TAGS.match(self.text, at)
        assert found is not None
        return found[0]

    def _special(self, at: int) -> int:
        """Reads a comment, a declaration, or an element and its raw content; gives the end."""
        if self.text[at + 1] in "!?":
            return self._declaration(at)
        start = self._markup(at, at + len(self._whole(at)))
        tag = self._outer[-1]
        if self._stack[-1] != self.elements or self._open["svg"]:
            return start  # it holds nothing
        end = None if tag.name in self._endless else _ENDS[tag.name].search(self.text, start)
        if end is None:
            self._endless.add(tag.name)
            return start  # never closed: what follows is read as usual
        # The number is the start tag's: nothing has been opened since.
        self._flat += ("r", tag, self.text[start : end.start()], start, self.elements)
        return end.start()

    def _declaration(self, at: int) -> int:
        """Where a comment, declaration or processing instruction ends; an unclosed one ends at the next ``>``."""
        comment = self.text.startswith("<!--", at)
        for sign in ("-->", ">") if comment else (">",):
            stop = self.text.find(sign, at + (4 if comment else 2)) if sign not in self._endless else -1
            if stop >= 0:
                return stop + len(sign)
            self._endless.add(sign)
        return len(self.text)
