"""What is true of all units left out: computed over exactly the units one marker stands for.

The grammar of a fact, each form reads one way only (values that hold a separator, or that could be taken for
another form, are quoted as JSON strings):

    all status=ok region=eu                     every unit has these values
    state: paid×310 open×28 absent×2            every value with its count; the counts add up
    amount=0.99..1200.00                        every unit has a number (or time) in this range, ends included
    sum amount=48210.33                         exact decimal sum over all units
    order_id: 340 distinct, ord-1001..ord-1340  identifiers; ", all 340 present" when none is missing between
    name: alice, bob, "carol, jr."              every value, in the units' order
    failures: "timeout after 0 s"×12            failures by kind; where that takes too much room, their number alone

A fact that does not fit its share is dropped whole.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, localcontext
from functools import cached_property, lru_cache
from typing import Final, TypeVar

from caveman_wasm.model import Number, Reader, Run, Value

__all__ = ["NUMBER", "facts", "is_identifier", "is_secret", "numeric", "rosterable"]

_T = TypeVar("_T")

CHUNK: Final = 2048  # units read at a time: bounds memory, costs nothing (SPEED)
FEW: Final = 8  # values an enumeration may have; larger ones are ranges, rosters or nothing
MANY: Final = 64  # distinct values after which a column is no enumeration and its counts are given up
LEAST_UNITS: Final = 3  # units and bytes below which a bare count says as much
LEAST_BYTES: Final = 240
DENSE: Final = 12  # values from which "all 12 present" is shorter than to list them
LONG: Final = 60  # characters a quoted value may have in a constant or an enumeration
IDS: Final = 100_000  # identifiers remembered for coverage; beyond, no claim

NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_NUMBERS: Final = re.compile(rf"(?:{NUMBER.pattern}\0)*+", re.ASCII)
_COUNTS: Final = re.compile(r"(?:(?:0|[1-9][0-9]{0,15}+)\0)*+", re.ASCII)
_BARE: Final = re.compile(r"[^\s\"'`;,:=×|\[\]{}()<>…\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_LITERAL: Final = re.compile(r"-?[0-9].*|-?Infinity|NaN")  # what a JSON number may look like
_SECRET: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|api[-_ ]?key|cookie|session|credential|authoriz|auth$"
    r"|bearer|private|signature|jwt",
    re.IGNORECASE,
)
_IDENTIFIER: Final = re.compile(
    r"(?:^|[^a-z])(?:id|ids|uuid|guid|key|hash|sha|sha1|sha256|pid|tid|port|zip|phone|year|version|code|index|seq|number|no"
    r"|line|row|ts|time|timestamp|epoch|lat|lon|latitude|longitude)$|[a-z](?:Id|ID|Uuid|Key|Hash|At|Time)$"
)
_ROSTER: Final = (
    re.compile(r"(?:^|[._-])(?:name|title|key|nodeid|test|case)$|Name$|Title$", re.IGNORECASE),
    re.compile(
        r"(?:^|[._-])(?:id|uuid|path|file|filename|login|email|subject|label|slug|url|place|host)$|Id$", re.IGNORECASE
    ),
)
_TELLING: Final = re.compile(
    r"status|state|level|type|kind|severity|result|outcome|method|conclusion|code|error|reason|category", re.I
)
_STAMP: Final = re.compile(
    r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
    r"(?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?(?:Z|[+-][0-9:]{5,6})?)?"
)
_STAMPS: Final = re.compile(rf"(?:{_STAMP.pattern}\0)*+")
_WHEN: Final = re.compile(r"(?:^|[._-])(?:time|ts|timestamp|date|at)$", re.IGNORECASE)
_DIGITS: Final = str.maketrans("123456789", "000000000")
_COUNTED: Final = re.compile(r"(.*?)(0|[1-9][0-9]{0,15})", re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LOST: Final = "\ufffd"  # stands for any undecodable byte: such values cannot be told apart, so none is quoted
_WORDS: Final = frozenset({"absent", "distinct", "all", "sum", "null", "true", "false"})


def numeric(values: Collection[str]) -> bool:
    """Whether each value is a `NUMBER`: one match over all of them, which is faster than one for each."""
    return _all(_NUMBERS, values)


def _all(pattern: re.Pattern[str], values: Collection[str]) -> bool:
    """Whether a pattern of values that end in NUL matches all of these."""
    together = "\0".join(values) + "\0"
    return together.count("\0") == len(values) and pattern.fullmatch(together) is not None


def is_secret(name: str) -> bool:
    """Whether a field of this name must never be quoted in a marker."""
    return _SECRET.search(name) is not None


def is_identifier(name: str) -> bool:
    """Whether a field of this name numbers things rather than measuring them: no sum, no outlier."""
    return _IDENTIFIER.search(name) is not None or name.lower() in ("id", "key", "index")


def rosterable(name: str) -> int:
    """0 for the names of things, 1 for their ids and paths, 2 for anything else."""
    return next((i for i, pattern in enumerate(_ROSTER) if pattern.search(name)), len(_ROSTER))


def quoted(value: str, typed: bool) -> str:
    """A value as it stands in a fact: bare where that reads one way only, else a JSON string."""
    if type(value) is Number:
        return value
    bare = _BARE.fullmatch(value) and ".." not in value and value not in _WORDS
    if bare and not (typed and _LITERAL.fullmatch(value)):
        return value
    return _string(value)


def _string(value: str) -> str:
    """A JSON string; lone surrogates, which no output can hold, as escapes."""
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(value, ensure_ascii=False))


def named(name: str) -> str:
    """A field's name as it stands in a fact."""
    bare = _BARE.fullmatch(name) and ".." not in name and name not in ("all", "sum", "failures")
    return name if bare else _string(name)


@dataclass(frozen=True, slots=True)
class _Name:
    """What a field's name says. ``rank`` as `rosterable` has it; ``said`` as it stands in a fact."""

    said: str
    secret: bool
    rank: int
    identifies: bool
    when: bool  # a time
    tells: bool  # what kind of thing a unit is


def _named(name: str) -> _Name:
    told = _TELLING.search(name) is not None
    when = _WHEN.search(name) is not None
    return _Name(named(name), is_secret(name), rosterable(name), is_identifier(name), when, told)


_short_name: Final = lru_cache(maxsize=1024)(_named)


_EXACT: Final = Context(prec=60, traps=[Inexact])


def _at(values: Sequence[str], near: Sequence[float], wanted: float) -> list[str]:
    if near.count(wanted) == 1:
        return [values[near.index(wanted)]]
    return [v for v, number in zip(values, near, strict=True) if number == wanted]


def _total(numbers: Sequence[str]) -> Decimal:
    """Their exact sum, in the context's precision; whole numbers are added as such, which is faster."""
    if any(sign in "\0".join(numbers) for sign in ".eE"):
        return sum(map(Decimal, numbers), Decimal(0))
    return Decimal(0) + sum(map(int, numbers))


class _Tally:
    """One field over the units of a run, fed chunk by chunk in bounded memory."""

    def __init__(self, name: str, says: _Name, typed: bool, room: int) -> None:
        self.name, self.says, self.typed, self.room = name, says, typed, room
        self.absent = self.total = 0
        self.dead = False  # opaque somewhere, of mixed types, or not read everywhere: nothing can be said
        self.kind: type | None = None
        self.counts: Counter[str] | None = Counter()
        self.listed: list[str] | None = []
        self.numeric = self.summed = True
        self.low = self.high = ""
        self.sum = Decimal(0)
        self.stamp: str | None = ""
        self.ids: set[str] | None = set()

    def feed(self, values: Sequence[Value]) -> None:
        self.total += len(values)
        if self.dead:
            return
        present = values if None not in values else [v for v in values if v is not None]
        self.absent += len(values) - len(present)
        kinds = set(map(type, present))
        if self.kind is None and len(kinds) == 1:
            self.kind = next(iter(kinds))
        if kinds - {self.kind} or self.kind not in (str, Number, None):
            self.dead = True
            return
        self._learn(present)  # type: ignore[arg-type]  # their kind has been looked at

    def _learn(self, present: Sequence[str]) -> None:
        distinct = set(present)
        if self.counts is not None:
            if len(distinct) <= MANY:
                self.counts.update(present)
            if len(distinct) > MANY or len(self.counts) > MANY:
                self.counts = None
        if self.listed is not None:
            self.room -= len("".join(present)) + 2 * len(present)
            if self.room >= 0:
                self.listed += present
            else:
                self.listed = None
        if self.ids is not None:
            self.ids |= distinct
            if len(self.ids) > IDS:
                self.ids = None
        if self.numeric:
            self._measure(present, distinct)
        if self.stamp is not None and distinct:
            self._date(distinct)

    def _measure(self, present: Sequence[str], distinct: set[str]) -> None:
        if (self.typed and self.kind is str) or not numeric(distinct):
            self.numeric = False
            return
        ends = [*(distinct | ({self.low, self.high} - {""}))]
        if ends:  # of equal numbers spelled differently the shorter, then the lesser spelling: no hash order
            near = list(map(float, ends))  # rounding keeps their order: only what it makes equal is compared exactly
            self.low = min(_at(ends, near, min(near)), key=lambda v: (Decimal(v), len(v), v))
            self.high = max(_at(ends, near, max(near)), key=lambda v: (Decimal(v), -len(v), v))
        if self.summed and not self.says.identifies:
            try:
                with localcontext(_EXACT):
                    self.sum += _total(present)
            except (ArithmeticError, ValueError):  # more digits than the context or `int` takes
                self.summed = False

    def _date(self, distinct: set[str]) -> None:
        """Times of one fixed-width spelling order as strings do."""
        if not _STAMP.fullmatch(next(iter(distinct))):
            self.stamp = None
            return
        masks = {*"\0".join(distinct).translate(_DIGITS).split("\0")} | ({self.stamp} - {""})
        if (
            len(masks) != 1
            or not _all(_STAMPS, distinct)
            or (max(map(len, distinct)) > 19 and len({v[19:].lstrip("0123456789.,") for v in distinct}) > 1)
        ):
            self.stamp = None
            return
        self.stamp = masks.pop()
        self.low, self.high = min(distinct | ({self.low} - {""})), max(distinct | {self.high})

    # ---- what it can say, or ''

    def constant(self) -> str:
        if not self.usable or self.absent or self.counts is None or len(self.counts) != 1:
            return ""
        value = next(iter(self.counts))
        if _LOST in value:
            return ""
        return f"{self.says.said}={quoted(value, self.typed)}" if len(value) <= LONG else ""

    def enumeration(self) -> str:
        if not self.usable or self.counts is None or not 2 <= len(self.counts) + bool(self.absent) <= FEW:
            return ""
        if (
            not self.counts
            or max(map(len, self.counts)) > LONG
            or _LOST in "".join(self.counts)
            or (not self.absent and len(self.counts) == self.total > 2)
        ):
            return ""
        said = [f"{quoted(v, self.typed)}×{n}" for v, n in self.counts.most_common()]
        return f"{self.says.said}: {' '.join(said)}{f' absent×{self.absent}' if self.absent else ''}"

    def span(self) -> str:
        if not self.usable or self.absent or not self.low or not (self.numeric or self.stamp):
            return ""
        low, high = (self.low, self.high) if self.numeric else (self._stamped(self.low), self._stamped(self.high))
        return f"{self.says.said}={low}..{high}" if low != high else ""

    def _stamped(self, value: str) -> str:
        return value if " " not in value else json.dumps(value)

    def total_of(self) -> str:
        if not self.usable or self.absent or not self.numeric or not self.summed or self.says.identifies:
            return ""
        return f"sum {self.says.said}={self.sum:f}"

    def roster(self) -> str:
        if not self.usable or self.absent or not self.listed or len(self.listed) != self.total or self.ids is None:
            return ""
        if len(self.ids) < 0.9 * self.total or _LOST in "".join(self.listed):
            return ""
        return f"{self.says.said}: {', '.join(quoted(v, self.typed) for v in self.listed)}"

    @cached_property
    def coverage(self) -> str:
        if not self.usable or self.absent or self.stamp or not self.ids or len(self.ids) < 3:
            return ""
        one = _COUNTED.fullmatch(next(iter(self.ids)))
        if one is None:
            return ""
        prefix, size = one[1], len(one[1])
        if prefix and (
            self.numeric or self.kind is Number or prefix[-1] in "0123456789.+" or prefix == "-" or _LOST in prefix
        ):
            return ""  # a leading zero, a fraction, a sign, an exponent: no counting number
        rest = [v[size:] for v in self.ids if v.startswith(prefix)] if prefix else [*self.ids]
        if len(rest) < len(self.ids) or not _all(_COUNTS, rest):
            return ""
        numbers = set(map(int, rest))
        low, high = min(numbers), max(numbers)
        dense = high - low + 1 == len(numbers)
        ends = [f"{prefix}{n}" if self.kind is Number else quoted(f"{prefix}{n}", self.typed) for n in (low, high)]
        said = f"{self.says.said}: {len(numbers)} distinct, {ends[0]}..{ends[1]}"
        return f"{said}, all {len(numbers)} present" if dense else said

    @property
    def usable(self) -> bool:
        return not self.dead and self.kind is not None


def facts(run: Run, replaced: int, most: int | None = None) -> tuple[str, ...]:
    """The facts that hold for every unit of ``run``, which replaces ``replaced`` bytes: at most a quarter of that,
    and at most ``most`` bytes.

    Plain text, in the order they are printed. Empty where nothing true is worth its room.
    """
    reader = run.group.reader
    if reader is None or run.count < LEAST_UNITS or replaced < LEAST_BYTES:
        return ()
    if most is not None:
        replaced = min(replaced, 4 * most)
    tallies, failures = _tally(run, reader, replaced)
    chosen = _Room(replaced)
    counted = _failures(failures, replaced // 4)
    chosen.add("failures", counted, always=True)
    ordered = sorted(tallies, key=lambda t: not t.says.tells)
    for tally in ordered:
        if tally.says.rank == 2 and not tally.says.when:
            chosen.add("enumerations", tally.enumeration())
    _constants(chosen, ordered)
    listed = _rosters(chosen, tallies)
    for tally in tallies:
        if (tally.says.identifies or tally.says.rank < 2) and tally.name not in listed:
            chosen.add("coverage", tally.coverage)
    for tally in tallies:
        if not tally.says.identifies or tally.stamp:
            chosen.add("ranges", tally.span())
    for tally in tallies:
        chosen.add("sums", tally.total_of())
    return chosen.said()


def _tally(run: Run, reader: Reader, replaced: int) -> tuple[list[_Tally], Counter[str]]:
    """Readers may leave columns out: a field that a stretch of units has no column for is not known to be absent."""
    tallies: dict[str, _Tally] = {}
    failures: Counter[str] = Counter()
    for k, units in enumerate(_stretches(run.pieces)):
        first, last = units[0], units[-1] + 1
        columns = reader.columns(first, last)
        if k == 0:
            for name in columns:
                says = _short_name(name) if len(name) <= LONG else _named(name)
                if not says.secret:
                    tallies[name] = _Tally(name, says, reader.typed, replaced // 5)
        tallies = {name: tally for name, tally in tallies.items() if name in columns}
        for name, tally in tallies.items():
            tally.feed(_of(units, columns[name]))
        failures.update(filter(None, _of(units, reader.failures(first, last))))
    return list(tallies.values()), failures


def _stretches(pieces: Sequence[tuple[int, int]]) -> Iterable[Sequence[int]]:
    """The units of a run in stretches of at most `CHUNK`: ranges, or lists where kept units stand between."""
    if len(pieces) == 1:
        units: Sequence[int] = range(*pieces[0])
    else:
        units = [i for first, last in pieces for i in range(first, last)]
    return (units[k : k + CHUNK] for k in range(0, len(units), CHUNK))


def _of(units: Sequence[int], values: Sequence[_T]) -> Sequence[_T]:
    """The values of ``units`` out of those of all neighbours from the first of them to the last."""
    return values if len(values) == len(units) else [values[i - units[0]] for i in units]


def _failures(failures: Counter[str], room: int) -> str:
    """Failures by kind, in coarser kinds when the fine ones take too much room; at least their number."""
    if not failures:
        return ""
    said = ""
    for words in (99, 6, 3, 1):
        kinds: Counter[str] = Counter()
        for label, n in failures.items():
            kinds[" ".join(label.split()[:words])] += n
        said = "failures: " + " ".join(f"{quoted(k, False)}×{n}" for k, n in kinds.most_common())
        if len(said.encode("utf-8", "replace")) <= room:
            return said
    return f"failures: {sum(failures.values())}"


def _constants(chosen: _Room, tallies: Sequence[_Tally]) -> None:
    for tally in tallies:
        constant = tally.constant()
        if constant:
            chosen.add("constants", constant)


def _rosters(chosen: _Room, tallies: Sequence[_Tally]) -> set[str]:
    """The names of what went; their ids too where there is room; any identifying field where nothing is a name.
    Gives the fields that are listed: their coverage would say no more. Numbers of which none is missing between the
    ends are not listed: their coverage says as much."""
    listed: set[str] = set()
    for tally in sorted(tallies, key=lambda t: t.says.rank):
        if len(chosen.parts["rosters"]) < 2 and (tally.says.rank < 2 or not chosen.parts["rosters"]):
            if tally.stamp or (tally.says.rank == 2 and (tally.numeric or tally.says.when)):
                continue
            if tally.numeric and tally.total >= DENSE and tally.coverage.endswith(" present"):
                continue
            if chosen.add("rosters", tally.roster()):
                listed.add(tally.name)
    return listed


class _Room:
    """How much may still be said: rosters a fifth, the others an eighth and 260 bytes, all a quarter (SELECTION)."""

    def __init__(self, replaced: int) -> None:
        self.all, self.short, self.roster = replaced // 4 - len("all "), min(260, replaced // 8), replaced // 5
        kinds = ("constants", "enumerations", "failures", "ranges", "sums", "coverage", "rosters")
        self.parts: dict[str, list[str]] = {kind: [] for kind in kinds}

    def add(self, kind: str, fact: str, always: bool = False) -> bool:
        if not fact:
            return False
        size = len(fact.encode("utf-8", "replace")) + 2
        room = self.roster if kind == "rosters" else self.short
        if not always and size > min(room, self.all):
            return False
        self.all -= size
        if kind == "rosters":
            self.roster -= size
        else:
            self.short -= size
        self.parts[kind].append(fact)
        return True

    def said(self) -> tuple[str, ...]:
        constants = self.parts.pop("constants")
        return ("all " + " ".join(constants),) * bool(constants) + tuple(f for p in self.parts.values() for f in p)
