"""Records with a line a column: ``\\G`` of MySQL, ``\\x`` of psql, ``.mode line`` of SQLite.

A unit is a record with the rule above it. A line belongs to a column where the sign behind the name stands below that
of the first line; every other line goes on the value before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from caveman_wasm.formats.tabular_rows import RECORD_RULE, TITLES, Shape, row_group
from caveman_wasm.model import Group, plain

__all__ = ["vertical"]

_STARS: Final = "*" * 20
_RULE: Final = re.compile(rf"(?:{RECORD_RULE.pattern})\r?$", re.ASCII | re.MULTILINE)
_COUNTED: Final = re.compile(r"\d+ rows? in set\b", re.ASCII)
_BLANK: Final = re.compile(r"\n\r?\n(?:\r?\n)*")
_PAIR: Final = re.compile(r" *\S(?:[^=\n]*[^=\s])? =")  # names stand to the right


def vertical(text: str, newline: str, start: int) -> list[Group] | None:
    """One group of records; None where the text is anything else."""
    if newline != "\n":
        return None
    ruled = [m.start() for m in _RULE.finditer(text, start)] if _STARS in text or "-[ RECORD " in text else []
    if ruled:
        starts, stops = _parted(text, ruled)
        at = text.find("\n", ruled[0]) + 1
    else:
        first = _PAIR.match(text, start)
        if first is None:
            return None
        starts = [start, *(m.end() for m in _BLANK.finditer(text, start) if text.startswith(first[0], m.end()))]
        stops = [len(text[a:b].rstrip("\r\n")) + a for a, b in pairwise([*starts, len(text)])]
        at = start
    shape = _shape(text, at, stops[0], "" if ruled else "=") if len(starts) > 1 else None
    if shape is None or text.count("\n", start, starts[0]) > TITLES:
        return None
    sample = shape.cells([plain(text[a:b]) for a, b in zip(starts[:64], stops[:64], strict=True)])
    if sum(row is not None for row in sample) * 10 < 9 * len(sample):
        return None
    return [row_group(text, starts, stops, shape, shape.names)]


def _parted(text: str, starts: list[int]) -> tuple[list[int], list[int]]:
    """Where the records end that begin at rules; behind an empty line the last one is over."""
    end = _BLANK.search(text, starts[-1])
    tail = text[starts[-1] : end.start() if end else len(text)].rstrip("\r\n")
    if _COUNTED.match(tail, tail.rfind("\n") + 1):
        tail = tail[: tail.rfind("\n")].rstrip("\r")
    stops = [len(text[a:b].rstrip("\r\n")) + a for a, b in pairwise(starts)]
    return starts, [*stops, starts[-1] + len(tail)]


def _shape(text: str, start: int, stop: int, sign: str) -> Shape | None:
    """The names that the first record has, and where the sign behind them stands."""
    lines: Sequence[str] = [plain(line.rstrip("\r")) for line in text[start:stop].split("\n")]
    if sign:
        found = _PAIR.match(lines[0])
        at = found.end() - 1 if found else -1
    else:
        signs = [(at, mark) for mark in "|:" if (at := lines[0].find(mark)) > 0]
        at, sign = min(signs, default=(-1, ""))
    if at < 0:
        return None
    names = [line[:at].strip(" ") for line in lines if line[at : at + 1] == sign and line[:at].strip(" ")]
    if len(names) * 2 < len(lines) or (sign == "=" and (len(names) < len(lines) or len(names) < 2)):
        return None
    return Shape("vertical", len(names), sign, ((at, -1),), tuple(names))
