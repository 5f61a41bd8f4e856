"""Tables: CSV, TSV, ``;`` and ``|`` separated, Markdown pipe tables, columns of fixed width (`ps`, `dpkg -l`).

A unit is a row: its line, or its lines where a quoted cell holds line ends. Title lines, the header and the
rule under it are literal. A marker is a row of the same number of cells whose first holds the text; among
columns of fixed width it is a bare line.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, count, islice, pairwise, repeat
from operator import add, contains, lt
from typing import Final, Literal

from caveman_wasm.model import OPAQUE, Columns, Document, Group, Rewritten, Value, plain

__all__ = ["TABULAR", "Rows", "Shape", "Tabular", "is_rule", "pipe_rows"]

SAMPLE: Final = 65_536  # bytes looked at to tell a table and its dialect
SAMPLE_ROWS: Final = 200
TITLES: Final = 10  # lines a table may have before its header (`top` has six)
STEADY: Final = 0.9  # share of the rows that must have the header's number of cells
LEVELS: Final = 3  # columns of few values that count as kinds of rows
SHAPES: Final = 6  # patterns of empty cells that count as kinds of rows
OPEN_LINES: Final = 500  # a quoted cell of more lines, among odd quotes, is one that was never closed
BLOCKS: Final = 200  # tables of fixed-width columns in one text; more is no listing

_DELIMITERS: Final = "\t,;|"
_NUMBER: Final = re.compile(r"[-+$€£]?[\d.,]*\d[\d.,]*(?:[eE][-+]?\d+)?[%a-zA-Z]{0,3}", re.ASCII)
_DATED: Final = re.compile(r"\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d", re.ASCII)
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


@dataclass(frozen=True, slots=True)
class Shape:
    """How a row is written. ``edges`` are (start, stop) of fixed columns in characters, the last one open (-1);
    without edges, each word is a cell."""

    kind: Literal["delimited", "pipes", "fixed"]
    width: int
    delimiter: str = ""
    edges: tuple[tuple[int, int], ...] = ()

    def cells(self, rows: Sequence[str]) -> list[list[str] | None]:
        """The cells of each row (plain text); None for a row that cannot be read as ``width`` cells."""
        read = {"delimited": self._delimited, "pipes": _piped, "fixed": self._fixed}[self.kind]
        return [row if row is not None and len(row) == self.width else None for row in read(rows)]

    def _delimited(self, rows: Sequence[str]) -> Iterable[list[str] | None]:
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

    def row(self, sentence: str) -> str:
        """``sentence`` (source text) as a row of this shape."""
        if self.kind == "fixed":
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
_BAR: Final = re.compile(r" *(\||\xe2(?:\x94[\x82\x83]|\x95\x91))")


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
        self._last: tuple[int, int, Sequence[Sequence[Value]]] | None = None

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
                kinds = {v: _failure(name, v) for v in set(values) if isinstance(v, str)}
                said = [s or kinds.get(v, "") if isinstance(v, str) else s for s, v in zip(said, values, strict=True)]
        return said

    def _table(self, first: int, last: int) -> Sequence[Sequence[Value]]:
        """The columns of rows ``first`` to ``last``, exclusive; the last ones read are remembered."""
        if self._last is None or self._last[:2] != (first, last):
            unclear: list[Value] = [OPAQUE] * self.shape.width
            read = [unclear if row is None else row for row in self._cells(range(first, last))]
            table: list[Sequence[Value]] = [*zip(*read, strict=True)] or [()] * self.shape.width
            self._last = (first, last, table)
        return self._last[2]

    def _cells(self, picked: range) -> list[list[str] | None]:
        cut = slice(picked.start, picked.stop, picked.step)
        rows = [self.text[a:b] for a, b in zip(self.starts[cut], self.stops[cut], strict=True)]
        together = "\0".join(rows)
        if not together.isascii():
            decoded = plain(together).split("\0")
            rows = decoded if len(decoded) == len(rows) else list(map(plain, rows))
        return self.shape.cells(rows)

    def _levels(self) -> tuple[list[int], bool]:
        """The columns that tell kinds of rows apart, and whether empty cells do: by 2,000 rows, spread evenly."""
        total = len(self.starts)
        read = [row for row in self._cells(range(0, total, max(1, total // 2000))) if row is not None]
        table = list(zip(*read, strict=True))
        few = max(2, min(12, len(read) // 8))
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
    begins = list(map(add, accumulate(map(len, lines), initial=start), count(0, len(newline))))
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


# ---------------------------------------------------------------- what kind of table it is


def is_rule(line: str) -> bool:
    """Whether a line is the rule of a table: drawn, or dashes or equal signs in two columns or between pipes."""
    if _DRAWN.match(line):
        return not _DRAWN.sub("", line).strip()
    return not line.strip("-=+| :\t\r") and any(sign in line for sign in ("--", "==", "|-", "-|", ":-", "- |"))


_DRAWN: Final = re.compile(
    r" *\xe2(?:\x94[\x80\x81\x84-\xbf]|\x95[\x90\x92-\xb0])| *[\u2500\u2501\u2504-\u2550\u2552-\u2570]"
)


def pipe_rows(text: str, starts: Sequence[int], stops: Sequence[int], header: str) -> Rows:
    """Reader of Markdown rows; ``header`` is their header row (source text)."""
    names = next(iter(_piped([plain(header)]))) or []
    bar = _BAR.match(header)
    return Rows(text, starts, stops, Shape("pipes", len(names), bar[1] if bar and bar[1] != "|" else ""), names)


def _group(text: str, starts: Sequence[int], stops: Sequence[int], shape: Shape, names: Sequence[str]) -> Group:
    return Group(starts, stops, "records", "rows", reader=Rows(text, starts, stops, shape, names))


def _pipes(text: str, newline: str, start: int) -> list[Group] | None:
    """A Markdown or boxed table: title lines, a row of names, a rule, rows that begin with a pipe."""
    head = text[start : start + SAMPLE].split(newline)[: TITLES + 3]
    rule = next((i for i, line in enumerate(head) if i and is_rule(line) and _BAR.match(head[i - 1])), 0)
    if not rule:
        return None
    starts, stops = row_spans(text, newline, start=start + sum(map(len, head[: rule + 1])) + (rule + 1) * len(newline))
    rows = [i for i, a in enumerate(starts) if text[a] in "|+ \xe2" and _BAR.match(text, a, stops[i])]
    if not rows:
        return None
    inner = [i for i in range(rows[0], rows[-1] + 1) if text[starts[i]] in "+ \xe2"]  # rules between the rows of a grid
    between = [i for i in inner if not _BAR.match(text, starts[i]) and is_rule(text[starts[i] : stops[i]])]
    if len(rows) < STEADY * (len(starts) - len(between)) - 3 or rows[-1] - rows[0] + 1 != len(rows) + len(between):
        return None
    starts, stops = array("q", [starts[i] for i in rows]), array("q", [stops[i] for i in rows])
    reader = pipe_rows(text, starts, stops, head[rule - 1])
    return [_group(text, starts, stops, reader.shape, reader.names)] if reader.shape.width > 1 else None


def _delimited(text: str, newline: str, start: int) -> list[Group] | None:
    """Cells between delimiters, with a header row or without."""
    best: tuple[float, str, int] = (0, "", 0)
    for delimiter in _DELIMITERS:
        if delimiter in text[start : start + SAMPLE]:
            width, share = _steadiness(_sample(text, newline, delimiter, start), delimiter)
            if width > 1 and share >= STEADY:
                best = max(best, (width * share, delimiter, width))
    _, delimiter, width = best
    if not delimiter:
        return None
    shape = Shape("delimited", width, delimiter)
    read = shape.cells(_sample(text, newline, delimiter, start))
    sample = [(i, row) for i, row in enumerate(read) if row is not None]
    first = sample[0][0]
    names, body = sample[0][1], [row for _, row in sample[1:]]
    if len(body) < 2 or first > TITLES or _DATED.match(names[0]) or _is_prose(names, body, delimiter):
        return None
    headed = _is_header(names, body)
    if not headed and not _is_steady(names, body):
        return None
    starts, stops = row_spans(text, newline, delimiter, start)
    skipped = first + headed
    group = _group(text, starts[skipped:], stops[skipped:], shape, names if headed else [""] * width)
    return [group] if len(group) else None


def _sample(text: str, newline: str, delimiter: str, start: int) -> list[str]:
    """The first rows: a sample of the text, a larger one where its cells are so large that it holds only a few."""
    size = SAMPLE
    while True:
        piece = text[start : start + size]
        if len(text) > start + size:
            piece = piece[: max(0, piece.rfind(newline))]
        starts, stops = row_spans(piece, newline, delimiter)
        if len(starts) > 8 or len(text) <= start + size:
            break
        size *= 4
    return [plain(piece[a:b]) for a, b in islice(zip(starts, stops, strict=True), SAMPLE_ROWS)]


def _steadiness(rows: list[str], delimiter: str) -> tuple[int, float]:
    """The commonest number of cells and the share of rows that have it."""
    read = Shape("delimited", 0, delimiter)._delimited(rows)
    widths = [len(row) for row in read if row is not None]
    if len(widths) < 3:
        return 0, 0.0
    common = max(sorted(set(widths)), key=widths.count)
    return common, widths.count(common) / len(rows)


def _is_prose(names: list[str], body: list[list[str]], delimiter: str) -> bool:
    """Sentences with commas, or code: cells that go on after a blank, rows that end as statements do."""
    if delimiter == "\t":
        return not names[0].strip() and not any(row[0].strip() for row in body)
    going = sum(sum(c[:1] == " " and len(c.split()) > 2 for c in row[1:]) * 3 >= len(row) - 1 for row in body)
    ended = sum(row[-1].rstrip()[-1:] in ("{", "}", "(", ";", "\\", ".") for row in body)
    bare = sum(not row[-1].strip() for row in body) if delimiter == ";" else 0
    return going * 3 > len(body) or (ended * 2 > len(body) and len(names) < 4) or bare * 2 > len(body)


def _is_header(names: list[str], body: list[list[str]]) -> bool:
    """Whether the first row names the columns: short, distinct, wordlike cells that do not stand below them."""
    filled = [name.strip() for name in names if name.strip()]
    numeric = [name for name in filled if _NUMBER.fullmatch(name) and not re.fullmatch(r"[12]\d{3}", name)]
    if len(set(filled)) * 5 < len(names) * 4 or len(numeric) * 2 > len(filled) or max(map(len, filled)) > 80:
        return False
    if any(name[0] in "[{(<" or name[-1] in ".;{,:" or ": " in name or "=" in name for name in filled):
        return False
    if len(names) == 2 and not any(_is_short(column) for column in zip(*body, strict=True)):
        return False
    return not numeric and not any(n and n in column for n, column in zip(names, zip(*body, strict=True), strict=True))


def _is_short(column: Sequence[str]) -> bool:
    """Whether nearly all cells are numbers or one or two words."""
    return sum(len(cell.split()) <= 2 and len(cell) <= 40 for cell in column) >= STEADY * len(column)


def _is_steady(names: list[str], body: list[list[str]]) -> bool:
    """Whether rows without a header are a table all the same: a column of numbers, short cells, no code."""
    columns = list(zip(names, *body, strict=True))
    typed = [sum(map(bool, map(_NUMBER.fullmatch, column))) >= STEADY * len(column) for column in columns]
    plainly = all(cell[:1] not in tuple("([{<") and "=" not in cell for row in body for cell in row)
    return len(body) >= 4 and len(names) >= 3 and any(typed) and plainly and all(map(_is_short, columns[:1]))


# ---------------------------------------------------------------- columns of fixed width


def _fixed(text: str, newline: str, start: int) -> list[Group] | None:
    """One table or several, parted by empty lines, each with its header; other lines between them are literal."""
    blank = re.compile(rf"{newline}\r?{newline}")
    breaks = list(islice(blank.finditer(text, start), BLOCKS + 1))
    if len(breaks) > BLOCKS:
        return None
    groups: list[Group] = []
    covered = 0
    for a, b in zip([start, *(m.end() for m in breaks)], [*(m.start() for m in breaks), len(text)], strict=True):
        group = _fixed_block(text, newline, a, b) if b > a else None
        if group is not None:
            groups.append(group)
            covered += group.stops[-1] - a
    return groups if covered * 5 >= (len(text) - start) * 4 else None


_ONE_RULE: Final = re.compile(r"-{4,}\s*")
_ROW_COUNT: Final = re.compile(r"\n\(\d+ rows?\)\s*\Z")


def _one_column(text: str, newline: str, start: int) -> list[Group] | None:
    """A database shell's table of one column: a name, a rule as wide, the rows, their number (a query's plan)."""
    head = text[start : start + SAMPLE].split(newline)[:2]
    if len(head) < 2 or not _ONE_RULE.fullmatch(head[1]) or not _ROW_COUNT.search(text[-200:]):
        return None
    starts, stops = row_spans(text, newline, start=start + sum(map(len, head)) + 2 * len(newline))
    shape = Shape("fixed", 1, edges=((0, -1),))
    group = _group(text, starts[:-1], stops[:-1], shape, [plain(head[0]).strip()])
    return [group] if len(group) > 1 else None


def _fixed_block(text: str, newline: str, start: int, stop: int) -> Group | None:
    head = text[start : min(stop, start + SAMPLE)].split(newline)[: SAMPLE_ROWS + TITLES]
    lines = [plain(line.rstrip("\r")) for line in head]
    found = _ruled(lines) or _guttered(lines)
    if found is None:
        return None
    shape, names, body = found
    starts, stops = row_spans(text, newline, start=start + sum(map(len, head[:body])) + body * len(newline), stop=stop)
    for _ in range(2):  # a closing rule, a line such as "(3 rows)"
        last = plain(text[starts[-1] : stops[-1]]) if len(starts) else ""
        if is_rule(last) or shape.cells([last]) == [None]:
            starts, stops = starts[:-1], stops[:-1]
    return _group(text, starts, stops, shape, names) if len(starts) > 1 else None


def _ruled(lines: list[str]) -> tuple[Shape, list[str], int] | None:
    """Columns as a rule of dashes draws them: shape, names, number of the first row's line."""
    rules = [i for i, line in enumerate(lines[:TITLES]) if is_rule(line)]
    rules = [i for i in rules if i] or rules
    if not rules or rules[0] == 0:
        return None
    rule = rules[0]
    runs = [m.span() for m in re.finditer(r"==+" if "==" in lines[rule] else r"--+", lines[rule])]
    if runs and lines[rule][: runs[0][0]].strip("| +"):
        runs.insert(0, (0, runs[0][0]))
    elif runs and runs[0][0] > 2:
        runs.insert(0, (0, runs[0][0] - 1))
    edges = [*((a, b) for (a, _), (b, _) in pairwise(runs)), (runs[-1][0], -1)] if runs else []
    return _shaped(lines, rule - 1, edges, rule + 1)


def _guttered(lines: list[str]) -> tuple[Shape, list[str], int] | None:
    """Columns as the blanks that all lines share draw them, under a header of names without digits."""
    for at, line in enumerate(lines[:TITLES]):
        words = line.split()
        if len(words) < 3 or any(w[0] not in "%#" and not w[0].isalpha() for w in words):
            continue
        if (line.upper() == line or line.strip().count("  ") > 1) and not any(c.isdigit() for c in line):
            rows = lines[at + 1 : at + 1 + SAMPLE_ROWS]
            found = _worded(words, rows, at) if len(rows) > 1 else None
            found = found or (_shaped(lines, at, _gutters(line, rows), at + 1) if len(rows) > 1 else None)
            if found is not None and found[0].width > 2:
                return found
    return None


def _worded(names: list[str], rows: list[str], header: int) -> tuple[Shape, list[str], int] | None:
    """Where nearly all rows have as many words as there are names, the words are the cells, wherever they stand."""
    cells = [row.split() for row in rows if row.strip()]
    steady = sum(len(row) == len(names) for row in cells)
    return (Shape("fixed", len(names)), names, header + 1) if cells and steady >= STEADY * len(cells) else None


def _gutters(header: str, rows: list[str]) -> list[tuple[int, int]]:
    """Edges between positions that are blank in the header and in 19 of 20 rows; of a gap, its blankest position."""
    width = min(400, max(len(header), *map(len, rows)))
    named = header[:width].ljust(width)
    blanks = [column.count(" ") for column in zip(*(row[:width].ljust(width) for row in rows), strict=True)]
    gap = [c == " " and n * 20 >= 19 * len(rows) for c, n in zip(named, blanks, strict=True)]
    starts = []
    for found in re.finditer("1+(?=0)", "".join("01"[is_gap] for is_gap in gap)):
        starts.append(1 + max(range(*found.span()), key=lambda i: (blanks[i], i)))
    starts = [0, *starts] if not gap[0] or not starts else starts
    starts = [a for a, b in zip(starts, [*starts[1:], width], strict=True) if header[a:b].strip() or a == starts[0]]
    return [*pairwise(starts), (starts[-1], -1)]


def _shaped(
    lines: list[str], header: int, edges: list[tuple[int, int]], body: int
) -> tuple[Shape, list[str], int] | None:
    if len(edges) < 2:
        return None
    shape = Shape("fixed", len(edges), edges=tuple(edges))
    rows = [line for line in lines[body:] if line and not is_rule(line)]
    clean = sum(row is not None for row in shape.cells(rows))
    if not rows or clean < min(STEADY * len(rows), len(rows) - 1):
        return None
    start_to_stop = [(a, b if b >= 0 else None) for a, b in edges]
    return shape, [lines[header][a:b].strip(" |") for a, b in start_to_stop], body


class Tabular:
    """The format of whole documents that are a table."""

    name = "tabular"
    keep = 0.20
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """Rows in one group (fixed-width listings: one a table); None when the text is no table."""
        newline = "\n" if "\n" in text else "\r"
        start = 3 if text.startswith("\xef\xbb\xbf") else 0
        readings: tuple[Callable[[str, str, int], list[Group] | None], ...] = (_pipes, _one_column, _fixed, _delimited)
        groups = next(filter(None, (read(text, newline, start) for read in readings)), None)
        if not groups:
            return None
        last = groups[-1].stops[-1]
        return Document(text, self.name, groups, last if not text[last:].strip() else len(text), newline=newline)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return group.reader.shape.row(sentence) if isinstance(group.reader, Rows) else sentence

    def reference(self, sentence: str, document: Document) -> str:
        """A last row after the last row; a bare line where other text follows the table."""
        newline = "\r\n" if "\r\n" in document.text[:SAMPLE] else document.newline
        if document.close_at == document.groups[-1].stops[-1]:
            return newline + self.marker(sentence, 0, "", document.groups[-1], document)
        return sentence + newline if document.text.endswith(document.newline) else newline + sentence


TABULAR: Final = Tabular()
