"""What statements are called, and the fields of SQL rows: what markers in code can tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from caveman_wasm.model import ABSENT, OPAQUE, Columns, Number, Value, plain

__all__ = ["TUPLE", "Names", "Tuples"]

_NAME: Final = re.compile(
    r"(?:[\w()]+\s+){0,5}?(?:(?:def|class|fn|func|function\*?|fun|interface|trait|type|mod|module|namespace|object|record|var)\s+"
    r"(?:\([^)]*\)\s*)?(?:<[^>]*>\s*)?(?!if\b|operator\b)|(?:struct|enum|union)\s+(?=\w+\s*(?:[{:;<(]|where\b|$))"
    r"|(?:const|let|val|static)\s+(?=\w+\s*(?:=|:(?!:)))|#\s*define\s+"
    r"|(?i:(?<=create )|(?<=alter )|(?<=replace )|(?<=unique )|(?<=drop ))(?i:table|view|function|index|trigger|type"
    r"|operator class|aggregate|sequence|procedure)\s+(?i:if (?:not )?exists\s+)?)"
    r"([\w$.:\x80-\xff]*[\w$\x80-\xff][!?]?)",
    re.ASCII,
)
_NAME_BEFORE: Final = re.compile(
    r"(?!(?:if|for|while|switch|else|try|with|return|public|private|protected|export|default|impl|template|using)\b(?!\s+\w))"
    r"[^(=;{\"']*?([\w$:~\x80-\xff]*[\w$\x80-\xff])\s*(?:\[[^\]]*\]\s*)?(?:\(|:(?!:)|=|;|,$)",
    re.ASCII,
)
TUPLE: Final = re.compile(r"(?:insert\s.*?\bvalues)?\s*\((.*)\)[,;]?\s*$", re.ASCII | re.DOTALL | re.IGNORECASE)
_CELL: Final = re.compile(r"\s*(?:'((?:[^'\\]|'')*+)'|(-?[\w.]+))\s*(?:,|\Z)", re.ASCII)


class Names:
    """What each statement defines, or ABSENT; ``heads`` are the lines that define it, '' for none."""

    typed = False

    def __init__(self, heads: Sequence[str]) -> None:
        self.heads = heads

    def columns(self, first: int, last: int) -> Columns:
        return {"name": [_name(head) for head in self.heads[first:last]]}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return ()

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


def _name(head: str) -> Value:
    found = _NAME.match(head) or _NAME_BEFORE.match(head)
    return plain(found[1]) if found else ABSENT


class Tuples:
    """Fields of SQL rows: the values between the parentheses, named as the statement names them."""

    typed = True

    def __init__(self, text: str, starts: Sequence[int], stops: Sequence[int], names: str) -> None:
        self.text, self.starts, self.stops = text, starts, stops
        self.names = [plain(name).strip(' "`[]\r\n\t') for name in names.split(",")] if names else []

    def columns(self, first: int, last: int) -> Columns:
        rows = [_cells(self.text[a:b]) for a, b in zip(self.starts[first:last], self.stops[first:last], strict=True)]
        width = len(self.names) or len(rows[0] or ())
        if len(set(self.names)) != len(self.names) or any(row is None or len(row) != width for row in rows):
            return {}
        names = self.names or [f"column {i + 1}" for i in range(width)]
        return {name: [row[i] for row in rows if row] for i, name in enumerate(names)}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return ()

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


def _cells(row: str) -> list[Value] | None:
    """The values of one row; None where it is more than strings and plain words."""
    found = TUPLE.match(row)
    if not found:
        return None
    cells: list[Value] = []
    at = 0
    while at < len(found[1]):
        cell = _CELL.match(found[1], at)
        if cell is None or cell.end() == at:
            return None
        cells.append(Number(cell[2]) if cell[2] else OPAQUE if "''" in cell[1] else plain(cell[1]))
        at = cell.end()
    return cells
