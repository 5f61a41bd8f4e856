"""What a terminal showed: escapes go, redrawn lines come in their last state.

`rewrite` follows the cursor: carriage returns, backspaces, cursor movements and erasures (ECMA-48) are carried out on
lines of payload spans, so that a progress bar leaves its last state and every byte that is shown knows where it comes
from. A cleared screen stays above what follows: what scrolled out of sight may hold the error. The redrawn text is
then cut by the format it looks like (cutting.py asks); what looks like nothing else is cut by lines, as a log is.

Linear: what a sequence may move, pad or add is paid from one purse that grows with the payload; when it is empty,
movements are line ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from caveman_wasm.formats.log import LOG
from caveman_wasm.model import Columns, Document, Group, Reader, Rewritten, line_starts

__all__ = ["TERMINAL", "redrawn"]

_LINES: Final = re.compile(  # that go on from left to right: text, colours, nothing to erase behind them
    r"(?:(?:[^\x00-\x08\n-\x1f\x7f]++|\x1b\[[0-9;:]*+m|\x1b\[0?K)*+\r*+\n)++"
)
_STYLE: Final = re.compile(r"(\x1b\[[0-9;:]*+[mK])")
_TOKEN: Final = re.compile(
    r"(?P<text>[^\x00-\x08\n-\x1f\x7f]++)"
    r"|(?P<end>\r*\n)|(?P<back>\r+)|(?P<erase>\x08)"
    r"|\x1b\[(?P<numbers>[0-?]*+)[ -/]*+(?P<act>[@-~])?"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)?"  # OSC and other strings
    r"|\x1b(?P<escape>[78MDE])|\x1b[ -/]*+[0-~]?|[\x00-\x1f\x7f]"
)
_REDRAWING: Final = re.compile(r"\d ?%|\[[#=>.\- ]{4,}\]")
_CONTINUED: Final = re.compile(r"[\x80-\xbf]")
_RAISED: Final = re.compile(  # behind signs that draw a frame; a tool's own "error:", or an exception's name
    r"(?:[ \t|>]|\xe2[\x94-\x97][\x80-\xbf]){0,40}((?i:error|fatal)(?:\[\w{1,12}\])?(?=: )"
    r"|(?:\w{1,40}\.){0,8}+[A-Z]\w{0,60}(?:Error|Exception)(?=:|[ \t]*\Z))",
    re.ASCII,
)
_TOTAL: Final = re.compile(
    r"\b\d+ (?:[a-z]+ )?(problem|error|fail(?:ed|ing|ure)|pass(?:ed|ing)|warning|vulnerabilit|skipped|total|tests? )",
    re.ASCII,
)
WIDE: Final = 500  # columns and rows that a movement may name
SCREEN: Final = 2_000  # what the purse holds at first

Span = tuple[int, int]  # of the payload; (-n, 0): n blanks


class _Row:
    """A line with a cursor in it: spans before it in ``left``, behind it in ``right``, the nearest one last."""

    __slots__ = ("at", "left", "right")

    def __init__(self, spans: list[Span]) -> None:
        self.left: list[Span] = []
        self.right = spans[::-1]
        self.at = 0  # characters in left


class _Screen:
    """Lines and a cursor. A line that nothing was done to is a span, with its colours; an empty one is None."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows: list[_Row | Span | None] = [None]
        self.row = self.column = self.top = 0
        self.saved = (0, 0)
        self.purse = SCREEN + len(text)

    # ------------------------------------------------------------ reading

    def read(self) -> None:
        text, at = self.text, 0
        while at < len(text):
            if not self.column and self.row == len(self.rows) - 1 and self.rows[self.row] is None:
                lines = _LINES.match(text, at)
                if lines:
                    self._take_lines(at, lines[0])
                    at = lines.end()
                    continue
            found = _TOKEN.match(text, at)
            if found is None:  # cannot be: every character begins a token
                break
            at = found.end()
            self._take(found)

    def _take_lines(self, at: int, text: str) -> None:
        lines = text.split("\n")[:-1]
        bare = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        self.rows.pop()
        self.rows += [
            (a, a + len(line)) if line else None for a, line in zip(line_starts(lines, 1, at), bare, strict=False)
        ]
        self.rows.append(None)
        self.row = len(self.rows) - 1

    def _take(self, found: re.Match[str]) -> None:
        kind = found.lastgroup
        if kind == "text":
            self._write(found.start(), found.end())
        elif kind == "end":
            self._down(1)
            self.column = 0
        elif kind == "back":
            self.column = 0
        elif kind == "erase":
            self.column = max(self.column - 1, 0)
        elif kind == "act":
            self._act(found["act"], found["numbers"])
        elif kind == "escape":
            self._escape(found["escape"])

    def _escape(self, sign: str) -> None:
        if sign == "7":
            self.saved = (self.row, self.column)
        elif sign == "8":
            self._restore()
        elif sign == "M":
            self.row = max(self.row - 1, self.top)
        else:
            self._down(1)
            self.column = 0 if sign == "E" else self.column

    def _act(self, act: str, numbers: str) -> None:
        if act == "m" or numbers[:1] in ("?", ">", "=", "<"):
            return
        first, _, rest = numbers.partition(";")
        n = int(first[-4:]) if first.isdigit() else 0
        step = min(max(n, 1), WIDE)
        if act in "AF":
            self.row = max(self.row - step, self.top)
        elif act in "BE":
            self.row = min(self.row + step, len(self.rows) - 1)
        elif act == "C":
            self.column = min(self.column + step, 2 * WIDE)
        elif act == "D":
            self.column = max(self.column - step, 0)
        elif act in "G`":
            self.column = step - 1
        elif act in "Hf":
            self._place(step - 1, min(int(rest[-4:]) if rest.isdigit() else 1, WIDE))
        elif act == "K":
            self._erase_line(n)
        elif act == "J":
            self._erase_screen(n)
        elif act == "s":
            self.saved = (self.row, self.column)
        elif act == "u":
            self._restore()
        if act in "EF":
            self.column = 0

    # ------------------------------------------------------------ moving and erasing

    def _down(self, n: int) -> None:
        self.row += n
        while self.row >= len(self.rows):
            self.rows.append(None)

    def _restore(self) -> None:
        """Back to the saved place; what was cleared from the screen since is out of reach."""
        self.row, self.column = max(self.top, min(self.saved[0], len(self.rows) - 1)), self.saved[1]

    def _place(self, row: int, column: int) -> None:
        target = self.top + row
        if self._pays(target - len(self.rows)):
            self.row = target
            self._down(0)
        else:
            self._down(1)
        self.column = max(column - 1, 0)

    def _pays(self, cost: int) -> bool:
        self.purse -= max(cost, 0)
        return self.purse >= 0

    def _erase_line(self, how: int) -> None:
        if self.rows[self.row] is None:
            return
        row = self._here()
        if how == 0:
            row.right.clear()
        elif how == 2:
            self.rows[self.row] = None
        elif how == 1 and row.at:
            row.left[:] = [(-row.at, 0)]

    def _erase_screen(self, how: int) -> None:
        if how == 0:
            self._erase_line(0)
            del self.rows[self.row + 1 :]
        elif how in (2, 3) and any(row is not None for row in self.rows[self.top : self.top + WIDE]):
            self.rows.append(None)
            self.top = self.row = len(self.rows) - 1

    def _here(self) -> _Row:
        """The line of the cursor, parted there; a cursor beyond its end has blanks to its left."""
        row = self.rows[self.row]
        if not isinstance(row, _Row):
            row = self.rows[self.row] = _Row(self._spans(row) if row else [])
        if row.at != self.column:
            self._seek(row)
        return row

    def _seek(self, row: _Row) -> None:
        if self.column == 0:
            moved = len(row.left)
            row.right += reversed(row.left)
            row.left.clear()
            row.at = 0
            self.purse -= moved
        while row.at > self.column and row.left:
            kept, rest = self._cut(row.left.pop(), self.column - row.at)
            row.right.append(rest)
            row.at -= self._width(rest)
            row.left += [kept] if kept[0] != kept[1] else []
            self.purse -= 1
        while row.at < self.column and row.right:
            taken, rest = self._cut(row.right.pop(), self.column - row.at)
            row.left.append(taken)
            row.at += self._width(taken)
            row.right += [rest] if rest[0] != rest[1] else []
            self.purse -= 1
        gap = self.column - row.at
        if gap > 0 and self._pays(gap):
            row.left.append((-gap, 0))
            row.at = self.column
        self.column = row.at

    def _width(self, span: Span) -> int:
        """Characters of a span: bytes that do not continue one."""
        start, stop = span
        if start < 0:
            return -start
        piece = self.text[start:stop]
        return len(piece) if piece.isascii() else len(piece) - len(_CONTINUED.findall(piece))

    def _cut(self, span: Span, n: int) -> tuple[Span, Span]:
        """A span in two: behind its first ``n`` characters, or before its last ``-n``."""
        start, stop = span
        width = self._width(span)
        self.purse -= width // 16
        if n < 0:
            n = width + n
            if n <= 0:  # also of bytes without width, which a cursor that moves left must leave behind
                return (start, start), span
        if n >= width:
            return span, (stop, stop)
        if start < 0:
            return (-n, 0) if n else (0, 0), (start + n, 0)
        if width == stop - start:
            return (start, start + n), (start + n, stop)
        at = start
        for _ in range(n):
            at += 1
            while at < stop and "\x80" <= self.text[at] <= "\xbf":
                at += 1
        return (start, at), (at, stop)

    # ------------------------------------------------------------ writing

    def _write(self, start: int, stop: int) -> None:
        if self.purse < 0 and (self.row < len(self.rows) - 1 or self.rows[self.row] is not None):
            row = self.rows[self.row]
            if self.row < len(self.rows) - 1 or not isinstance(row, _Row) or row.at != self.column or row.right:
                self.row = len(self.rows) - 1
                self._down(1)
                self.column = 0
        row = self._here()
        if row.left and row.left[-1][1] == start:
            row.left[-1] = (row.left[-1][0], stop)
        else:
            row.left.append((start, stop))
        width = self._width((start, stop))
        row.at += width
        self.column = row.at
        while width > 0 and row.right:  # what stood there is written over
            span = row.right.pop()
            gone, rest = self._cut(span, width)
            width -= self._width(gone)
            if rest[0] != rest[1]:
                row.right.append(rest)

    # ------------------------------------------------------------ what is seen

    def shown(self) -> Rewritten:
        pieces: list[str] = []
        offsets = [0]
        origins = [0]
        shift = size = end = 0
        for row in self.rows:
            spans = self._spans(row) if isinstance(row, tuple) else [*row.left, *reversed(row.right)] if row else []
            for start, stop in self._stripped(spans):
                origin = end if start < 0 else start
                if origin - size != shift:
                    shift = origin - size
                    offsets.append(size)
                    origins.append(origin)
                pieces.append(" " * -start if start < 0 else self.text[start:stop])
                size += len(pieces[-1])
                end = end if start < 0 else stop
            if end - size != shift:
                shift = end - size
                offsets.append(size)
                origins.append(end)
            pieces.append("\n")
            size += 1
        text = "".join(pieces)
        return Rewritten(text[: len(text.rstrip("\n")) + 1] if text.strip("\n") else "", offsets, origins)

    def _spans(self, line: Span) -> list[Span]:
        """What is text in a line that nothing was done to."""
        at, stop = line
        piece = self.text[at:stop]
        if "\x1b" not in piece:
            return [line]
        spans = []
        for part in _STYLE.split(piece):
            if part and part[0] != "\x1b":
                spans.append((at, at + len(part)))
            at += len(part)
        return spans

    def _stripped(self, spans: list[Span]) -> list[Span]:
        """Blanks at a line's end say nothing: they were padding, or wiped what stood there."""
        while spans:
            start, stop = spans[-1]
            kept = len(self.text[start:stop].rstrip(" \t")) if start >= 0 else 0
            if kept:
                spans[-1] = (start, start + kept)
                break
            spans.pop()
        return spans


@dataclass(frozen=True, slots=True)
class _Twice(Rewritten):
    """``outer``'s text rewritten once more, led back through both steps."""

    outer: Rewritten
    inner: Rewritten

    def back(self, position: int) -> int:
        return self.outer.back(self.inner.back(position))


def redrawn(outer: Rewritten, inner: Rewritten | None) -> Rewritten:
    """The way back from ``inner``, a rewriting of ``outer``'s text, to what ``outer`` was made of."""
    return outer if inner is None else _Twice(inner.text, (), (), outer, inner)


class _Lines:
    """Lines as a log's reader sees them, and besides: what was raised is a failure, a total is a kind of its own."""

    typed = False

    def __init__(self, log: Reader, text: str, group: Group) -> None:
        self._log, self._text, self._group = log, text, group

    def _units(self, first: int, last: int) -> list[str]:
        bounds = zip(self._group.starts[first:last], self._group.stops[first:last], strict=True)
        return [self._text[start:stop] for start, stop in bounds]

    def columns(self, first: int, last: int) -> Columns:
        return self._log.columns(first, last)

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        levels = self._log.kinds(first, last)
        totals = [_TOTAL.search(unit, 0, 400) for unit in self._units(first, last)]
        coarse = [f"total {total[1]}" if total else kind for total, kind in zip(totals, levels[0], strict=True)]
        return [coarse, *levels[1:]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        known = self._log.failures(first, last)
        raised = [_RAISED.match(unit) for unit in self._units(first, last)]
        return [label or (found[1] if found else "") for label, found in zip(known, raised, strict=True)]


class Terminal:
    """Terminal output. ``inside``: the formats its redrawn text may be cut by; ``own``: those that keep their own
    share, since only colours make them a terminal's; the others keep the terminal's."""

    name = "terminal"
    keep = 0.20
    version = 1
    own: Final = frozenset({"diff", "code", "config", "json", "a11y", "toolschema", "html"})
    inside: Final = own | {"test-report", "search-result", "tabular"}  # a log is cut by lines here too

    def rewrite(self, text: str) -> Rewritten | None:
        """The lines as they were seen last, ending in ``\\n`` each."""
        if "\x1b" not in text and "\n" not in text and len(_REDRAWING.findall(text, 0, 65_536)) < 3:
            text = text.replace("\r", "\n")  # nothing redraws: line ends of old
        screen = _Screen(text)
        screen.read()
        return screen.shown()

    def split(self, text: str) -> Document | None:
        """Lines that `rewrite` made, as entries of a log."""
        document = LOG.split(text) if text else None
        if document is None:
            return None
        document.format = self.name
        for group in document.groups:
            if group.reader is not None:
                group.reader = _Lines(group.reader, text, group)
        return document

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return LOG.marker(sentence, count, facts, group, document)

    def reference(self, sentence: str, document: Document) -> str:
        return LOG.reference(sentence, document)


TERMINAL: Final = Terminal()
