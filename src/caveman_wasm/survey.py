"""What stands out among records: read once, chunk by chunk, and turned into the order of their worth.

The rules are those that measurably kept answers: the first and last failure of each kind; ends; the first of each
kind, from coarse to fine; numbers far from the others; values that occur once in a field of few values; units that
differ where nine of ten are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from math import isfinite
from operator import itemgetter
from typing import Any, Final, TypeVar

from caveman_wasm.facts import NUMBER, is_identifier, numeric
from caveman_wasm.model import ABSENT, Number, Reader, Value

__all__ = ["Survey", "survey"]

_K = TypeVar("_K", bound=Hashable)

CHUNK: Final = 2048  # units read at a time
RARE: Final = 32  # distinct values of a field that still counts as one of few values
STRANGE: Final = 8  # distinct values that are no numbers in a column that still counts as one of numbers
FAMILY: Final = 20  # units of one family before a different one among them is an exception
SMALL: Final = 40  # units up to which a group may stay whole when there is room
LONG: Final = 2  # quartiles' distances above the upper one from which a string is longer than the others
SCALARS: Final = "value"  # the field of units that have no fields
ENDS: Final = 5  # further units kept at each end, when there is room; fewer where several fields have facts


@dataclass(slots=True)
class Survey:
    """``failures``: indexes of the first and last failure of each kind. ``turns``: (tier, index), best first."""

    failures: list[int]
    turns: list[tuple[int, int]]


_Table = dict[_K, list[int]]  # value → [index of the first unit that has it, how many have it]


@dataclass(slots=True)
class _Field:
    """One field over all units: each table until it has too many values, the numbers until too much is no number."""

    numbers: list[float] | None = field(default_factory=list)
    where: list[int] = field(default_factory=list)
    few: _Table[Value] | None = field(default_factory=dict)
    strange: _Table[Value] = field(default_factory=dict)  # what is no number in a column of numbers
    masked: _Table[bytes] | None = field(default_factory=dict)  # values without their digits, where there are many
    lengths: list[int] = field(default_factory=list)  # of the strings, where the units are nothing else

    def feed(self, start: int, values: Sequence[Value], typed: bool) -> None:
        if self.few is not None:
            self.few = _counted(self.few, start, values, RARE)
        if self.numbers is not None:
            self._measure(start, values, typed)
        if self.few is None and self.numbers is None and self.masked is not None:
            bare = "\0".join([v if isinstance(v, str) else "" for v in values]).encode("utf-8", "surrogatepass")
            masks = bare.translate(None, b"0123456789").split(b"\0")
            self.masked = _counted(self.masked, start, masks, RARE) if len(masks) == len(values) else None

    def _measure(self, start: int, values: Sequence[Value], typed: bool) -> None:
        kind = Number if typed else str
        assert self.numbers is not None
        if values and set(map(type, values)) == {kind} and numeric(values):  # type: ignore[arg-type]
            self.numbers += map(float, values)  # type: ignore[arg-type]
            self.where += range(start, start + len(values))
            return
        distinct = set(values) - {ABSENT}
        measured: dict[Value, float] = {}
        strange: list[Value] = []
        for v in distinct:
            if isinstance(v, kind) and NUMBER.fullmatch(v):
                measured[v] = float(v)
            else:
                strange.append(v)
                if len(strange) + len(self.strange) > STRANGE:
                    self.numbers, self.strange = None, {}
                    return
        for v in strange:
            self.strange.setdefault(v, [start + values.index(v), 0])[1] += values.count(v)
        if measured:
            there = list(map(measured.__contains__, values))
            self.numbers += map(measured.__getitem__, compress(values, there))
            self.where += compress(range(start, start + len(values)), there)

    def rare(self, n: int) -> list[list[int]]:
        """(first index, count) of the values that occur once, or hardly ever, where others occur often."""
        table: _Table[Any] | None = self.few if self.few is not None else self.strange if self.numbers else self.masked
        if table is None or len(table) > max(2, n // 8) or (table is not self.strange and len(table) < 2):
            return []
        return [found for found in table.values() if found[1] == 1 or found[1] * 50 <= n]


def _counted(table: _Table[_K], start: int, values: Sequence[_K], most: int) -> _Table[_K] | None:
    """``table`` with ``values`` counted in; None when it has more than ``most``."""
    if len(values) > 2 * most and len(set(values[: 2 * most])) > most:
        return None
    counts = Counter(values)
    if len(counts) > most:
        return None
    new = [value for value in counts if value not in table] if table else counts
    firsts = _firsts(start, values) if len(new) > 4 else {value: start + values.index(value) for value in new}
    for value, n in counts.items():
        known = table.get(value)
        if known is None:
            table[value] = [firsts[value], n]
        else:
            known[1] += n
    return table if len(table) <= most else None


def survey(reader: Reader, n: int) -> Survey:
    """Reads all ``n`` units of a group once."""
    fields: dict[str, _Field] = {}
    kinds: list[_Table[str]] = []
    shapes: list[_Table[tuple[str, str]]] = []
    failures: dict[str, list[int]] = {}
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        if n > 2:  # else both are ends
            _read_fields(fields, reader, start, stop)
            _read_kinds(kinds, shapes if n >= FAMILY else None, reader, start, stop)
        labels = reader.failures(start, stop)
        for i, label in enumerate(labels, start) if any(labels) else ():
            if label:
                failures.setdefault(label, [i, i])[1] = i
    urgent = _failures(failures, n)
    return Survey(urgent, _turns(n, fields, kinds, shapes))


def _read_fields(fields: dict[str, _Field], reader: Reader, start: int, stop: int) -> None:
    for name, values in reader.columns(start, stop).items():
        if name not in fields:
            fields[name] = _Field()
        fields[name].feed(start, values, reader.typed)
        if name == SCALARS:
            fields[name].lengths += [len(v) if isinstance(v, str) else 0 for v in values]


def _read_kinds(
    kinds: list[_Table[str]],
    shapes: list[_Table[tuple[str, str]]] | None,
    reader: Reader,
    start: int,
    stop: int,
) -> None:
    levels = reader.kinds(start, stop)
    for some in (kinds, shapes):
        if some is not None:
            some += [{} for _ in levels[len(some) :]]
    for level, labels in enumerate(levels):
        _counted(kinds[level], start, labels, stop)
        if shapes is not None and level + 1 < len(levels):
            _counted(shapes[level], start, list(zip(labels, levels[-1], strict=True)), stop)


def _firsts(start: int, values: Sequence[_K]) -> dict[_K, int]:
    """Where each value stands first, in one pass: the last assignment wins, so the values go in backwards."""
    return dict(zip(reversed(values), range(start + len(values) - 1, start - 1, -1), strict=True))


def _failures(failures: dict[str, list[int]], n: int) -> list[int]:
    """First and last of each kind; kinds are made coarser until they are few enough to keep."""
    most = max(8, 2 * int(n**0.5))
    kinds = failures
    for words in (8, 5, 3, 2, 1):
        if len(kinds) <= most:
            break
        kinds = {}
        for label, (first, last) in failures.items():
            known = kinds.setdefault(" ".join(label.split()[:words]), [first, last])
            known[0], known[1] = min(known[0], first), max(known[1], last)
    firsts = sorted({first for first, _ in kinds.values()})
    return sorted({*firsts[:most], *sorted({last for _, last in kinds.values()})[:most]})


def _turns(
    n: int,
    fields: dict[str, _Field],
    kinds: list[_Table[str]],
    shapes: list[_Table[tuple[str, str]]],
) -> list[tuple[int, int]]:
    root = int(n**0.5)
    most = max(6, root)
    ends = min(ENDS, root // 4) if len(fields) > 1 else ENDS
    coarse = sorted(first for first, _ in kinds[0].values()) if kinds and len(kinds[0]) <= 2 * most else []
    essential = {0: 1, n - 1: 1} | dict.fromkeys(coarse, 1)
    rest = chain(
        _extremes(fields)[:most],
        _once(fields, n)[:most],
        _exceptions(kinds, shapes)[:most],
        range(1, min(ends + 1, n)),
        range(n - 2, max(n - 2 - ends, 0), -1),
        (first for level in kinds for first, _ in sorted(level.values(), key=itemgetter(1))[: 2 * most]),
        range(n if n <= SMALL else 0),
    )
    return [*((tier, i) for i, tier in essential.items()), *((2, i) for i in dict.fromkeys(rest) if i not in essential)]


def _extremes(fields: dict[str, _Field]) -> list[int]:
    """Ends of numeric fields that are no ids, farthest first, in interquartile ranges from the median half."""
    found: list[tuple[float, int]] = []
    for name, column in fields.items():
        if not column.numbers or len(column.numbers) < 4 or is_identifier(name):
            continue
        finite = sorted(filter(isfinite, column.numbers))
        if not finite:
            continue
        low, high = finite[len(finite) // 4], finite[-1 - len(finite) // 4]
        spread = (high - low) or abs(high) / 4 or 1.0
        for value, distance in ((finite[0], low - finite[0]), (finite[-1], finite[-1] - high)):
            if distance > 0:
                found.append((-distance / spread, column.where[column.numbers.index(value)]))
    if SCALARS in fields:
        found += _longest(fields[SCALARS].lengths)
    return [i for _, i in sorted(found)]


def _longest(lengths: list[int]) -> list[tuple[float, int]]:
    """Strings in a list of nothing else that are far longer than the others: distance below zero, index."""
    if not lengths:
        return []
    usual = sorted(lengths)
    low, high = usual[len(usual) // 4], usual[-1 - len(usual) // 4]
    spread = max(high - low, high // 4, 1)
    far = [((high - n) / spread, i) for i, n in enumerate(lengths) if n > high + LONG * spread]
    return sorted(far)[: int(len(lengths) ** 0.5)]


def _once(fields: dict[str, _Field], n: int) -> list[int]:
    """Units with a value that occurs once, or hardly ever, in a field of few values."""
    rare = [(count, first) for column in fields.values() for first, count in column.rare(n)]
    return [first for _, first in sorted(rare)]


def _exceptions(kinds: list[_Table[str]], shapes: list[_Table[tuple[str, str]]]) -> list[int]:
    """In a family of twenty or more of which nine of ten have one shape: the first of each other shape."""
    found: list[int] = []
    for sizes, level in zip(kinds, filter(None, shapes), strict=False):  # the finest kinds have no shapes
        families: dict[str, list[tuple[int, int]]] = {f: [] for f, (_, total) in sizes.items() if total >= FAMILY}
        for (family, _), (first, count) in level.items() if families else ():
            if family in families:
                families[family].append((count, first))
        for family, members in families.items():
            top = max(members)
            if top[0] >= 0.9 * sizes[family][1]:
                found += [first for _, first in members if first != top[1]]
    return sorted(set(found))
