"""Rows of tables: where they begin and end, how their cells are read, and the reader of a group of them."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, repeat
from operator import contains, lt
from typing import Final, Literal

from caveman_wasm.formats.base import LastRead
from caveman_wasm.model import OPAQUE, Columns, Group, Value, line_starts, plain

__all__ = ["BAR", "RECORD_RULE", "TITLES", "Rows", "Shape", "is_rule", "pipe_rows", "row_group", "row_spans"]

TITLES: Final = 10  # lines a table may have before its header or first record (`top` has six)
LEVELS: Final = 3  # columns of few values that count as kinds of rows
SHAPES: Final = 6  # patterns of empty cells that count as kinds of rows
OPEN_LINES: Final = 500  # a quoted cell of more lines, among odd quotes, is one that was never closed

_REPORTS: Final = re.compile(
    r"status|state|level|severity|error|exception|result|outcome|exit|conclusion|phase|health|verdict|failure",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"fail|error|fatal|critical|severe|exception|refused|denied|reject|abort|crash|killed|panic|time[d-]? ?out"
    r"|unhealthy|evicted|backoff|declined|invalid|broken|offline|unreachable",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"(?:0+|none|null|nil|false|no|n/?a|ok|okay|success|passed|-+|)\.?", re.IGNORECASE)
_DENIED: Final = re.compile(r"\b(?:no|not|non|without|never|0)[ _-]", re.IGNORECASE)


RECORD_RULE: Final = re.compile(  # above a record of MySQL, of psql
    r"\*{20,} \d+\. row \*{20,}|-\[ RECORD \d+ \][-+]*", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How a row is written. ``edges`` are (start, stop) of fixed columns in characters, the last one open (-1);
    without edges, each word is a cell. A vertical record has ``names`` and ``delimiter`` on each line, the latter
    where the first edge starts."""

    kind: Literal["delimited", "pipes", "fixed", "vertical"]
    width: int
    delimiter: str = ""
    edges: tuple[tuple[int, int], ...] = ()
    names: tuple[str, ...] = ()

    def cells(self, rows: Sequence[str]) -> list[list[str] | None]:
        """The cells of each row (plain text); None for a row that cannot be read as ``width`` cells."""
        read = {"delimited": self.delimited, "pipes": _piped, "fixed": self._fixed, "vertical": self._vertical}[
            self.kind
        ]
        return [row if row is not None and len(row) == self.width else None for row in read(rows)]

    def columns(self, rows: Sequence[str]) -> list[Sequence[Value]]:
        """The same as columns; the cells of a row that cannot be read are opaque."""
        quoted = [i for i, row in enumerate(rows) if '"' in row] if self.kind == "delimited" else []
        bare = list(rows)
        for i in quoted:
            bare[i] = self.delimiter * (self.width - 1)
        if self.kind == "delimited" and set(map(str.count, bare, repeat(self.delimiter))) == {self.width - 1}:
            cells: list[Value] = [*self.delimiter.join(bare).split(self.delimiter)]  # cut once for all rows
            for i, row in zip(quoted, self.cells([rows[i] for i in quoted]), strict=True):
                cells[i * self.width : (i + 1) * self.width] = [OPAQUE] * self.width if row is None else row
            return [tuple(cells[i :: self.width]) for i in range(self.width)]
        unclear: list[Value] = [OPAQUE] * self.width
        read = [unclear if row is None else row for row in self.cells(rows)]
        return [*zip(*read, strict=True)] or [()] * self.width

    def delimited(self, rows: Sequence[str]) -> Iterable[list[str] | None]:
        if not any(map(contains, rows, repeat('"'))):
            return list(map(str.split, rows, repeat(self.delimiter)))
        try:
            read = list(csv.reader(rows, delimiter=self.delimiter))
        except csv.Error:  # a bare CR, or a field above the module's limit
            read = []
        if len(read) == len(rows):
            return read
        mark = re.escape(self.delimiter)
        cell = re.compile(rf'(?:"((?:[^"]|"")*+)"([^{mark}]*+)|(?!")([^{mark}]*+)){mark}')
        return [_alone(row + self.delimiter, cell) for row in rows]

    def _fixed(self, rows: Sequence[str]) -> Iterable[list[str] | None]:
        if not self.edges:
            yield from map(str.split, rows)
            return
        cuts = [start - 1 for start, _ in self.edges if start]
        for row in rows:  # a cell that runs over its column makes the whole row unclear
            if all(row[cut : cut + 1] in " |" for cut in cuts):
                yield [row[start : stop if stop >= 0 else None].strip(" |") for start, stop in self.edges]
            else:
                yield None

    def _vertical(self, rows: Sequence[str]) -> Iterable[list[str] | None]:
        at = self.edges[0][0]
        for row in rows:
            lines = row.replace("\r\n", "\n").split("\n")
            if RECORD_RULE.fullmatch(lines[0]):
                del lines[0]
            names: list[str] = []
            values: list[str] = []
            for line in lines:
                name = line[:at].strip(" ")
                if name and line[at : at + 1] == self.delimiter:
                    names.append(name)
                    values.append(line[at + 1 :].strip(" "))
                elif values:
                    values[-1] += "\n" + line
            yield values if tuple(names) == self.names else None

    def row(self, sentence: str) -> str:
        """``sentence`` (source text) as a row of this shape."""
        if self.kind in ("fixed", "vertical"):
            return sentence
        if self.kind == "pipes":
            bar = self.delimiter or "|"
            return f"{bar} {sentence.replace(bar, chr(92) + '|')} {bar}" + f" {bar}" * (self.width - 1)
        if any(c in sentence for c in (self.delimiter, '"', "\n", "\r")):
            sentence = f'"{sentence.replace(chr(34), chr(34) * 2)}"'
        return sentence + self.delimiter * (self.width - 1)


def _alone(row: str, cell: re.Pattern[str]) -> list[str] | None:
    """The cells of one row, each ended by a delimiter, where `csv` gives up: a huge cell, a bare CR, an open quote
    (None for the row that has it)."""
    cells, at = [], 0
    while at < len(row):
        found = cell.match(row, at)
        if found is None:
            return None
        cells.append(found[3] if found[1] is None else found[1].replace('""', '"') + found[2])
        at = found.end()
    return cells


_BARS: Final = str.maketrans("\u2502\u2503\u2551", "|||")  # what a box is drawn with stands for a pipe
BAR: Final = re.compile(r" *(\||\xe2(?:\x94[\x82\x83]|\x95\x91))")


def _piped(rows: Sequence[str]) -> Iterable[list[str] | None]:
    for row in map(str.translate, rows, repeat(_BARS)):
        inner = row.strip().removeprefix("|").removesuffix("|")
        cells = inner.split("|") if "\\" not in inner else re.split(r"(?<!\\)\|", inner)
        yield [cell.strip() for cell in cells]


class Rows:
    """Reader of a group of rows. ``names`` are the header's cells; a name that stands twice tells nothing."""

    typed = False

    def __init__(
        self, text: str, starts: Sequence[int], stops: Sequence[int], shape: Shape, names: Sequence[str]
    ) -> None:
        self.text, self.starts, self.stops, self.shape = text, starts, stops, shape
        known = [name.strip() or f"column_{i + 1}" for i, name in enumerate(names)]
        self.names = [name if known.count(name) == 1 else "" for name in known] if len(known) < 1000 else known
        self._leveled: list[int] | None = None
        self._shaped = False
        self._last = LastRead[Sequence[Sequence[Value]]]()

    def columns(self, first: int, last: int) -> Columns:
        return {name: values for name, values in zip(self.names, self._table(first, last), strict=True) if name}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        """A level for each column of few values, the fewest first; then, where that tells kinds, the empty cells."""
        if self._leveled is None:
            self._leveled, self._shaped = self._levels()
        table = self._table(first, last)
        levels = [[v if isinstance(v, str) else "?" for v in table[i]] for i in self._leveled]
        return [*levels, _emptiness(table)] if self._shaped else levels

    def failures(self, first: int, last: int) -> Sequence[str]:
        said = [""] * (last - first)
        for name, values in self.columns(first, last).items():
            if _REPORTS.search(name):
                kinds = {v: kind for v in set(values) if isinstance(v, str) and (kind := _failure(name, v))}
                if kinds:
                    said = [s or kinds.get(v, "") for s, v in zip(said, values, strict=True)]  # type: ignore[arg-type]
        return said

    def _table(self, first: int, last: int) -> Sequence[Sequence[Value]]:
        """The columns of rows ``first`` to ``last``, exclusive."""
        table, part = self._last.of(
            first, last, lambda first, last: self.shape.columns(self._plain(range(first, last)))
        )
        return [column[part] for column in table]

    def _plain(self, picked: range) -> list[str]:
        cut = slice(picked.start, picked.stop, picked.step)
        rows = [self.text[a:b] for a, b in zip(self.starts[cut], self.stops[cut], strict=True)]
        together = "\0".join(rows)
        if together.isascii():
            return rows
        decoded = plain(together).split("\0")
        return decoded if len(decoded) == len(rows) else list(map(plain, rows))

    def _levels(self) -> tuple[list[int], bool]:
        """The columns that tell kinds of rows apart, and whether empty cells do: by 2,000 rows, spread evenly."""
        total = len(self.starts)
        if total < 4000:  # all of them, which are read in any case
            table = self._table(0, total)
            if table and OPAQUE in table[0]:  # a row that cannot be read is so in each column
                table = [*zip(*(row for row in zip(*table, strict=True) if row[0] is not OPAQUE), strict=True)]
        else:
            read = self.shape.cells(self._plain(range(0, total, total // 2000)))
            table = [*zip(*filter(None, read), strict=True)]
        count = len(table[0]) if table else 0
        few = max(2, min(12, count // 8))
        leveled = [i for n, i in sorted((len(set(column)), i) for i, column in enumerate(table)) if 2 <= n <= few]
        return leveled[:LEVELS], 2 <= len(set(_emptiness(table))) <= SHAPES


def _emptiness(table: Sequence[Sequence[Value]]) -> list[str]:
    """Of each row: which of its cells are empty."""
    marks = [[" " if cell == "" else "x" for cell in column] if "" in column else None for column in table]
    if not any(marks):
        return ["x" * len(table)] * (len(table[0]) if table else 0)
    return list(map("".join, zip(*(repeat("x") if mark is None else mark for mark in marks), strict=False)))


def _failure(name: str, value: str) -> str:
    """The kind of failure that ``value`` reports in a column called ``name``, or ''."""
    if _NOTHING.fullmatch(value.strip()) or _DENIED.search(value):
        return ""
    low = name.lower()
    if value.strip().lstrip("-").isdecimal():
        number = int(value.strip()[:6])
        failed = number != 0 if "exit" in low else 400 <= number <= 599 and "status" in low
    else:
        own = re.search(r"error|exception|failure", low) is not None
        failed = own or _FAILED.search(value) is not None
    return f"{name}={' '.join(value.split())[:80]}" if failed else ""


# ---------------------------------------------------------------- where rows begin and end


def row_spans(
    text: str, newline: str, delimiter: str = "", start: int = 0, stop: int | None = None
) -> tuple[array[int], array[int]]:
    """Starts and stops (without the line end) of the rows of ``text[start:stop]`` that are not empty.

    With a ``delimiter``, line ends inside quoted cells belong to their row. Linear.
    """
    piece = text[start:stop]
    lines = piece.split(newline)
    begins = line_starts(lines, len(newline), start)
    heads: Iterable[int] = range(len(lines) + 1)
    if delimiter and '"' in piece:
        counts = list(map(str.count, lines, repeat('"')))
        if sum(counts) % 2 == 0 and _tidy(piece, delimiter):
            heads = [i for i, before in enumerate(accumulate(counts, initial=0)) if not before & 1]
        else:
            heads = [*_row_heads(lines, counts, delimiter), len(lines)]
    starts = begins if isinstance(heads, range) else [begins[i] for i in heads]
    stops = [at - len(newline) for at in starts[1:]]
    if newline == "\n" and "\r" in piece:
        stops = [b - (b > a and text[b - 1] == "\r") for a, b in zip(starts, stops, strict=False)]
    full = list(map(lt, starts, stops))  # in C: a table may have a million short rows
    return array("q", compress(starts, full)), array("q", compress(stops, full))


def _tidy(text: str, delimiter: str) -> bool:
    """Whether each quote begins a cell, ends one, or is doubled, so that parity tells what is inside."""
    outside = text.split('"')[::2]
    edges = {"", delimiter, "\n", "\r"}
    return {p[:1] for p in outside[1:]} <= edges and {p[-1:] for p in outside[:-1]} <= edges


def _row_heads(lines: list[str], counts: list[int], delimiter: str) -> Iterable[int]:
    """Numbers of the lines that begin a row, where quotes also stand inside of bare cells or are never closed."""
    mark = re.escape(delimiter)
    cells = re.compile(rf'(?:(?:"(?:[^"]|"")*+"[^{mark}]*+|(?!")[^{mark}]*+)(?:{mark}|\Z))*+')
    closing = re.compile(r'(?:[^"]|"")*+"')
    opened, at = -1, 0  # the line whose last cell is still open, or -1
    while at < len(lines):
        if opened < 0:
            yield at
        rest = 0
        if opened >= 0 and counts[at]:
            closed = closing.match(lines[at])
            rest = closed.end() if closed else -1
        if opened >= 0 and (not counts[at] or rest < 0):
            if at - opened >= OPEN_LINES or at + 1 == len(lines):
                yield from range(opened + 1, at + 1)  # never closed: those are rows of their own
                opened = -1
        elif counts[at]:
            tail = cells.match(lines[at], lines[at].find(delimiter, rest) if rest else 0)
            still = tail is not None and lines[at].startswith('"', tail.end())
            opened = (at if opened < 0 or rest else opened) if still else -1
        at += 1


def is_rule(line: str) -> bool:
    """Whether a line is the rule of a table: drawn, or dashes or equal signs in two columns or between pipes."""
    if _DRAWN.match(line):
        return not _DRAWN.sub("", line).strip()
    return not line.strip("-=+| :\t\r") and any(sign in line for sign in ("--", "==", "|-", "-|", ":-", "- |"))


_DRAWN: Final = re.compile(
    r" *\xe2(?:\x94[\x80\x81\x84-\xbf]|\x95[\x90\x92-\xb0])| *[\u2500\u2501\u2504-\u2550\u2552-\u2570]"
)


def row_group(text: str, starts: Sequence[int], stops: Sequence[int], shape: Shape, names: Sequence[str]) -> Group:
    return Group(starts, stops, "records", "rows", reader=Rows(text, starts, stops, shape, names))


def pipe_rows(text: str, starts: Sequence[int], stops: Sequence[int], header: str) -> Rows:
    """Reader of Markdown rows; ``header`` is their header row (source text)."""
    names = next(iter(_piped([plain(header)]))) or []
    bar = BAR.match(header)
    return Rows(text, starts, stops, Shape("pipes", len(names), bar[1] if bar and bar[1] != "|" else ""), names)
