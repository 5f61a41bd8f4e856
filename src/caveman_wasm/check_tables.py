"""Rows of tables, read by code of the checker's own: by a mark between cells, between pipes, or a line a cell."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from caveman_wasm.check_fields import RowUnit

__all__ = ["RECORD", "Table", "cells", "record_head", "table"]


@dataclass(frozen=True)
class Table:
    """How rows are written: between ``mark``s, between pipes, or a line a cell; ``names`` by the header, or by
    position."""

    mark: str
    names: Sequence[str]

    def unit(self, row: str) -> RowUnit:
        if self.mark == "lines":
            return RowUnit(*_lines_of_record(row))
        return RowUnit(self.names, cells(row, self.mark))


def table(head: str, row: str) -> Table | None:
    """The table under ``head`` (all that stands before its first row) of which ``row`` is one; None for columns of
    fixed width."""
    if RECORD.match(row) or re.match(r"\s*[^\s=|,;][^=|,;\n]* = .*\n", row):
        return Table("lines", ())
    rule = r"[-=+|:\s\u2500-\u2570]*"
    lines = [line for line in re.split(r"[\r\n]+", head) if line.strip() and not re.fullmatch(rule, line)]
    if row.lstrip().startswith(("|", "\u2502", "\u2503", "\u2551")):
        return _named("pipes", lines[-1:], cells(row, "pipes"))
    widths = [(len(cells(row, mark)), mark) for mark in "\t,;|"]
    found = [(n, mark) for n, mark in widths if n > 1 and (not lines or len(_last_record(head, mark)) == n)]
    if not found:
        return None
    _, mark = max(found)
    return _named(mark, [head] if lines else [], cells(row, mark))


RECORD: Final = re.compile(r"(?m)^(?:\*+ \d+\. row \*+|-\[ RECORD \d+ \].*)\r?$")


def record_head(row: str) -> str:
    """What stands before the value on the first line of a record with a line a cell."""
    sign = "|" if row.startswith("-") else ":" if row.startswith("*") else "="
    first = next((line for line in row.split("\n") if not RECORD.fullmatch(line)), "")
    return first[: first.find(sign) + 1]


def _lines_of_record(row: str) -> tuple[list[str], list[str]]:
    """Names and values of a record with a line a cell; a value of several lines takes all of them."""
    head = record_head(row)
    names: list[str] = []
    values: list[str] = []
    for line in re.split("\r?\n", row):
        said = line[: len(head)].strip()
        if head and said[1:] and said[-1] == head[-1]:
            names.append(said[:-1].strip())
            values.append(line[len(head) :].strip(" "))
        elif values:
            values[-1] += "\n" + line
    return names, values


def _named(mark: str, header: Sequence[str], row: Sequence[str]) -> Table | None:
    said = (
        (cells(header[-1], mark) if mark == "pipes" else _last_record(header[-1], mark)) if header else [""] * len(row)
    )
    names = [name.strip() or f"column_{i + 1}" for i, name in enumerate(said)]
    return Table(mark, names) if len(names) == len(row) else None


def _last_record(head: str, mark: str) -> list[str]:
    records = [r for r in csv.reader(re.split(r"(?<=[\r\n])", head), delimiter=mark) if any(r)]
    return records[-1] if records else []


def cells(row: str, mark: str) -> list[str]:
    """The cells of one row, quoted line ends and all."""
    if mark == "pipes":
        row = re.sub("[\u2502\u2503\u2551]", "|", row)
        return [c.strip() for c in re.split(r"(?<!\\)\|", row.strip().removeprefix("|").removesuffix("|"))]
    read = list(csv.reader(re.split(r"(?<=[\r\n])", row), delimiter=mark))
    return read[0] if len(read) == 1 else []
