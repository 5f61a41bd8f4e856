"""Tables: CSV, TSV, ``;`` and ``|`` separated, Markdown pipe tables, columns of fixed width (`ps`, `dpkg -l`), and
records with a line a column (tabular_vertical.py).

A unit is a row: its line, or its lines where a quoted cell holds line ends. Title lines, the header and the
rule under it are literal. A marker is a row of the same number of cells whose first holds the text; among
columns of fixed width it is a bare line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Final

from caveman_wasm.formats.tabular_rows import BAR, TITLES, Rows, Shape, is_rule, pipe_rows, row_group, row_spans
from caveman_wasm.formats.tabular_vertical import vertical
from caveman_wasm.model import Document, Group, Rewritten, plain

__all__ = ["TABULAR", "Tabular"]

SAMPLE: Final = 65_536  # bytes looked at to tell a table and its dialect
SAMPLE_ROWS: Final = 200
STEADY: Final = 0.9  # share of the rows that must have the header's number of cells
BLOCKS: Final = 200  # tables of fixed-width columns in one text; more is no listing

_DELIMITERS: Final = "\t,;|"
_NUMBER: Final = re.compile(r"[-+$€£]?[\d.,]*\d[\d.,]*(?:[eE][-+]?\d+)?[%a-zA-Z]{0,3}", re.ASCII)
_DATED: Final = re.compile(r"\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d", re.ASCII)


def _pipes(text: str, newline: str, start: int) -> list[Group] | None:
    """A Markdown or boxed table: title lines, a row of names, a rule, rows that begin with a pipe."""
    head = text[start : start + SAMPLE].split(newline)[: TITLES + 3]
    rule = next((i for i, line in enumerate(head) if i and is_rule(line) and BAR.match(head[i - 1])), 0)
    if not rule:
        return None
    starts, stops = row_spans(text, newline, start=start + sum(map(len, head[: rule + 1])) + (rule + 1) * len(newline))
    rows = [i for i, a in enumerate(starts) if text[a] in "|+ \xe2" and BAR.match(text, a, stops[i])]
    if not rows:
        return None
    inner = [i for i in range(rows[0], rows[-1] + 1) if text[starts[i]] in "+ \xe2"]  # rules between the rows of a grid
    between = [i for i in inner if not BAR.match(text, starts[i]) and is_rule(text[starts[i] : stops[i]])]
    if len(rows) < STEADY * (len(starts) - len(between)) - 3 or rows[-1] - rows[0] + 1 != len(rows) + len(between):
        return None
    starts, stops = array("q", [starts[i] for i in rows]), array("q", [stops[i] for i in rows])
    reader = pipe_rows(text, starts, stops, head[rule - 1])
    return [Group(starts, stops, "records", "rows", reader=reader)] if reader.shape.width > 1 else None


def _delimited(text: str, newline: str, start: int) -> list[Group] | None:
    """Cells between delimiters, with a header row or without."""
    best: tuple[float, str, int] = (0, "", 0)
    best_rows: list[str] = []
    for delimiter in _DELIMITERS:
        if delimiter in text[start : start + SAMPLE]:
            rows = _sample(text, newline, delimiter, start)
            width, share = _steadiness(rows, delimiter)
            if width > 1 and share >= STEADY and (found := (width * share, delimiter, width)) > best:
                best, best_rows = found, rows
    _, delimiter, width = best
    if not delimiter:
        return None
    shape = Shape("delimited", width, delimiter)
    read = shape.cells(best_rows)
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
    group = row_group(text, starts[skipped:], stops[skipped:], shape, names if headed else [""] * width)
    return [group] if len(group) else None


def _sample(text: str, newline: str, delimiter: str, start: int) -> list[str]:
    """The first rows: a sample of the text, a larger one where its cells are so large that it holds only a few."""
    size = SAMPLE // 4  # enough where rows are short and none goes on behind it
    while True:
        piece = text[start : start + size]
        if len(text) > start + size:
            piece = piece[: max(0, piece.rfind(newline))]
        starts, stops = row_spans(piece, newline, delimiter)
        found = len(starts) > SAMPLE_ROWS and piece.count('"') % 2 == 0
        if found or len(text) <= start + size or (len(starts) > 8 and size >= SAMPLE):
            break
        size *= 4
    return [plain(piece[a:b]) for a, b in islice(zip(starts, stops, strict=True), SAMPLE_ROWS)]


def _steadiness(rows: list[str], delimiter: str) -> tuple[int, float]:
    """The commonest number of cells and the share of rows that have it."""
    read = Shape("delimited", 0, delimiter).delimited(rows)
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
    group = row_group(text, starts[:-1], stops[:-1], shape, [plain(head[0]).strip()])
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
    return row_group(text, starts, stops, shape, names) if len(starts) > 1 else None


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
        readings: tuple[Callable[[str, str, int], list[Group] | None], ...] = (
            vertical,
            _pipes,
            _one_column,
            _fixed,
            _delimited,
        )
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
