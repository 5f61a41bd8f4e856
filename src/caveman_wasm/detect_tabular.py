"""Is a payload a table? Drawn, of fixed width, or of separated cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from caveman_wasm.detect_patterns import (
    BOX_RULE,
    BOXED,
    CODE_END,
    COLUMN_RULE,
    LEVELLED,
    NO_HEADER,
    NUMBER,
    ONE_RULE,
    PIPE_ROW,
    RECORDS,
    REMARK,
    ROW_COUNT,
    ROW_OF_VALUES,
    RULE,
    SIZED,
    STAMPED,
    TIMED,
)
from caveman_wasm.detect_sample import Sample

__all__ = ["tabular"]

_CAPITALS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ%#")  # what a column's name in capitals begins with


def tabular(sample: Sample) -> bool:
    if _drawn_table(sample) or _fixed_width(sample.lines.all) or any(_separated(sample, mark) for mark in "\t,;|"):
        return True
    found = RECORDS.match(sample.text)
    if not found or (found[0][-1] == " " and f"\n{found[0][:-1]}" not in sample.text and "1. row *" not in sample.head):
        return False  # no second record that begins like the first
    from caveman_wasm.formats.tabular_vertical import vertical

    return vertical(sample.text, "\n", 0) is not None


def _drawn_table(sample: Sample) -> bool:
    """Markdown and database shells: a rule under the head or around the rows, and nothing but rows."""
    lines = sample.lines.all
    if len(lines) < 3:
        return False
    if ONE_RULE.fullmatch(lines[1]) and ROW_COUNT.search(sample.text[-200:]):
        return True
    if BOXED.match(lines[0]):
        return sample.lines.at_least(BOXED, 0.9)
    if RULE.fullmatch(lines[1]) and "|" in lines[0]:
        return sum("|" in line for line in lines) >= 0.9 * len(lines)
    ruled = any(BOX_RULE.fullmatch(line.strip()) for line in lines[:2])
    return ruled and sum("|" in line or "+-" in line or "-+" in line for line in lines) >= 0.8 * len(lines)


# ---------------------------------------------------------------- separated cells


def _separated(sample: Sample, mark: str) -> bool:
    """Whether records parted by ``mark`` have a header or typed columns, a steady number of cells, and short ones."""
    first = next(filter(None, sample.head_lines), "")
    if mark not in first and '"' not in first:  # a quote might go on
        return False
    records, lines = sample.csv_records, sample.lines
    width = len(_cells(records[0], mark)) if records else 0
    if len(records) < 3 or width < 2:
        return False
    if mark == "|" and any(map(PIPE_ROW.match, lines.all[:1])):
        return False  # rows of a table without its rule: prose or a log
    steady = [record for record in records if _width(record, mark) == width]
    if len(steady) < 0.9 * len(records) or lines.indented >= 0.2 * len(lines):
        return False
    entries = [record for record in steady[:3] if TIMED.match(record)]
    if len(entries) == 3 and (mark != "\t" or all(map(LEVELLED.match, entries))):
        return False  # a log's punctuation
    if not _like_a_table([_cells(record, mark) for record in steady], mark):
        return False
    if mark == "\t" and lines.at_least(SIZED, 0.9):
        return False
    if lines.above(REMARK, 0.5):
        return False  # semicolons or dashes that open comments
    if mark == "," and sum(map(bool, map(ROW_OF_VALUES.match, records))) >= 0.5 * len(records):
        return False  # tuples of a program or a database's dump
    return mark not in ",;" or width >= 4 or not lines.above(CODE_END, 0.2)


def _width(record: str, mark: str) -> int:
    return len(_cells(record, mark)) if '"' in record else record.count(mark) + 1


def _cells(record: str, mark: str) -> list[str]:
    if '"' not in record:
        return record.split(mark)
    parts = record.split('"')
    parts[::2] = [part.replace(mark, "\0") for part in parts[::2]]
    return '"'.join(parts).split("\0")


def _like_a_table(rows: list[list[str]], mark: str) -> bool:
    header, body = rows[0], rows[1:]
    columns = list(zip(*body, strict=True))
    joined = ["".join(column) for column in columns]
    short = sum(len(cells) <= 32 * len(body) or " " not in cells for cells in joined)
    if short < len(columns) - max(1, len(columns) // 4):
        return False  # a column or two may hold prose
    if mark == "\t":
        return not all(STAMPED.match(row[-1]) for row in rows[:3])
    blanks = sum(
        cell[:1] == " "
        for column, cells in zip(columns[1:], joined[1:], strict=True)
        if " " in cells
        for cell in column
    )
    if blanks > 0.5 * len(body) * (len(columns) - 1):
        if not any(len(cell.split()) > 1 for row in body for cell in row):  # commas with a blank behind are prose's
            return any(map(str.strip, joined)) or (len(columns) > 2 and _names(header) and not _names(body[0]))
        return len(columns) > 2 and _names(header) and not _names(body[0])
    if len(columns) > 2 and len(body) > 1 and not any(" " in cells for cells in [*joined, *header]):
        return not any(row[-1].endswith(("{", ";", "(")) for row in rows)
    if _names(header):
        if len(columns) > 2 or all(len(cell.split()) <= 3 for row in body for cell in row):
            return True
        return any(map(_is_typed, columns))
    return len(columns) > 2 and 2 * sum(map(_is_typed, columns)) >= len(columns)


def _is_typed(column: Sequence[str]) -> bool:
    """Nearly all numbers, dates or empty; or few different short values."""
    if len(set(column)) * 4 <= len(column) and max(map(len, column)) <= 24:
        return True
    plain = sum(not cell.strip() or bool(NUMBER.fullmatch(cell.strip().strip('"'))) for cell in column)
    return plain >= 0.9 * len(column)


def _names(cells: Sequence[str]) -> bool:
    """Whether these could head columns: short, mostly different, no numbers, no sentence."""
    bare = [cell.strip().strip('"') for cell in cells]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in bare)
    fit = all(
        len(cell) <= 60 and not cell.endswith((".", ":", ";", "{", "(")) and "://" not in cell for cell in bare[:-1]
    )
    return fit and not numbers and len(set(bare)) >= 0.8 * len(bare) and any(bare)


# ---------------------------------------------------------------- columns of fixed width


def _fixed_width(lines: list[str]) -> bool:
    """Columns as of ``ps``, ``dpkg -l``, ``kubectl get``: a header of names, and blanks that line up under it."""
    rules = [at for at, line in enumerate(lines[:8]) if COLUMN_RULE.fullmatch(line.strip())]
    if not rules:  # `top` has six lines above its header, `vmstat` one
        cells = [line.split() for line in lines[:67]]
        return any(_fixed_columns(lines, cells, at, False) for at in range(min(8, len(lines) // 3)))
    ruled = {lines[at] for at in rules}
    below = [line for line in lines[max(rules[0] - 1, 0) :] if line not in ruled][:60]
    return _fixed_columns(below, [line.split() for line in below], 0, True)


def _fixed_columns(lines: list[str], cells: list[list[str]], first: int, ruled: bool) -> bool:
    """Whether line ``first`` heads the 59 lines below it; ``cells`` are the words of each line."""
    rows = lines[first : first + 60]
    if len(rows) < 3 or "\t" in rows[0]:
        return False
    names = cells[first]
    if not ruled and len(names) >= 4 and _numbered_columns(names, cells[first + 1 : first + 60]):
        return True
    capital = sum(name[0] in _CAPITALS for name in names)
    if len(names) < (2 if ruled else 3) or capital < (0 if ruled else 0.7) * len(names) or NO_HEADER.search(rows[0]):
        return False
    full = sum(len(row) >= min(3, len(names)) for row in cells[first : first + 60])
    return full >= 0.6 * len(rows) and _aligned_columns(rows) >= (2 if ruled else 3)


def _numbered_columns(names: list[str], rows: list[list[str]]) -> bool:
    """Rows of as many cells as there are names, nearly all of them numbers, as of ``vmstat`` or ``iostat``."""
    steady = [row for row in rows if len(row) == len(names)]
    if len(steady) < 0.9 * len(rows) or any(map(NUMBER.fullmatch, names)) or len(set(names)) < 0.9 * len(names):
        return False
    numbers, least = len(steady) * len(names), 0.8 * len(steady) * len(names)
    for row in steady:
        numbers -= len(row) - sum(map(bool, map(NUMBER.fullmatch, row)))
        if numbers < least:
            return False
    return True


def _aligned_columns(rows: list[str]) -> int:
    """How many columns there are between places that are blank in nine of ten rows."""
    width = max(map(len, rows))
    padded = "".join(row.ljust(width) for row in rows)
    full = [padded[at::width].count(" ") >= 0.9 * len(rows) for at in range(min(width, len(rows[0])))]
    return sum(not blank and (at == 0 or full[at - 1]) for at, blank in enumerate(full))
