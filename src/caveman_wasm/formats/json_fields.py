"""Reading the fields of JSON units, late: from the slices of the units asked about, the last stretch remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress, repeat
from operator import contains
from typing import Any, Final

from caveman_wasm.facts import is_secret
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Number, Opaque, Value, plain

__all__ = ["JsonReader"]

FIELDS: Final = 64  # columns read of one group
REMEMBERED: Final = 1 << 20  # bytes of units whose values are kept for who asks about some of them
PATH: Final = 4  # names in a column's dotted path

_LITERALS: Final = {True: Number("true"), False: Number("false"), None: Number("null")}
_TYPE_LIKE: Final = re.compile(
    r"(?:^|[._])(?:type|kind|event|level|severity|status|state|category|role|action|op|method)$", re.I
)
_FAILING_NAME: Final = re.compile(
    r"(?:^|[._])(?:errors?|err|exception|failures?|failed|fatal|panic|stderr_?error|error_?(?:code|message|type))$",
    re.I,
)
_VERDICT_NAME: Final = re.compile(
    r"(?:^|[._])(?:status|state|level|severity|lvl|result|outcome|conclusion|phase|reason|health)$", re.I
)
_EXIT_NAME: Final = re.compile(r"(?:^|[._])(?:exit_?code|exit_?status|return_?code)$", re.I)
_GOOD_NAME: Final = re.compile(r"(?:^|[._])(?:success|succeeded|ok|passed|healthy)$", re.I)
_STATUS_NAME: Final = re.compile(r"(?:^|[._])(?:status|status_?code|http_?status)$", re.I)
_BAD: Final = re.compile(
    r"(?i)(?:error|err|fatal|critical|crit|alert|emerg(?:ency)?|panic|fail(?:ed|ure|ing)?|exception|refused|rejected"
    r"|denied|timed?[ _-]?out"
    r"|crash(?:ed|loopbackoff)?|aborted|unhealthy|declined|reversed|oomkilled|severe)"
)
_NOTHING: Final = frozenset({"", "0", "null", "false", "none", "no", "nil", "n/a", "-", "[]", "{}", "ok"})
_DIGIT_RUNS: Final = re.compile(r"[0-9a-fA-F]*[0-9][0-9a-fA-F]*")


class JsonReader:
    """Fields of JSON units, read from their slices; the last stretch read is remembered."""

    typed = True

    def __init__(self, text: str, starts: Sequence[int], stops: Sequence[int], *, member: bool) -> None:
        self.text, self.starts, self.stops, self.member = text, starts, stops, member
        self._read: _Stretch | None = None
        self._last: _Stretch | None = None

    def columns(self, first: int, last: int) -> Columns:
        return self._stretch(first, last).columns

    def _stretch(self, first: int, last: int) -> _Stretch:
        """Facts ask about parts of what the survey has read: of these nothing is read again."""
        known = self._last
        if known is None or (known.first, known.last) != (first, last):
            whole = self._read
            if whole is None or first < whole.first or last > whole.last:
                whole = _Stretch(first, last, *self._rows(first, last))
                small = self.stops[last - 1] - self.starts[first] <= REMEMBERED if last > first else True
                self._read = whole if small else None
            self._last = known = whole if (whole.first, whole.last) == (first, last) else whole.part(first, last)
        return known

    def _rows(self, first: int, last: int) -> tuple[list[Any], list[Value]]:
        slices = [self.text[a:b] for a, b in zip(self.starts[first:last], self.stops[first:last], strict=True)]
        if self.member:
            slices = [f"{{{s}}}" for s in slices]
        rows = _decode(plain(f"[{','.join(slices)}]"))
        if not self.member:
            return rows, []
        return [next(iter(row.values())) for row in rows], [next(iter(row)) for row in rows]

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        columns = self.columns(first, last)
        types = [v for name, v in columns.items() if _TYPE_LIKE.search(name)]
        coarse = _named(lambda row: "\0".join(map(str, row)), zip(*types, strict=True)) or [""] * (last - first)
        if any(map(contains, columns.values(), repeat(ABSENT))):
            return [coarse, _named("\0\0".join, zip(coarse, _shapes(columns), strict=True))]
        shape = "\0".join(columns)
        return [coarse, list(map({kind: f"{kind}\0\0{shape}" for kind in set(coarse)}.__getitem__, coarse))]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return self._stretch(first, last).failures


class _Stretch:
    """Neighbouring units' values, for members their keys, and from when somebody asks their columns and failures."""

    def __init__(self, first: int, last: int, rows: list[Any], keys: list[Value]) -> None:
        self.first, self.last, self.rows, self.keys = first, last, rows, keys
        self.uniform = False  # whether a part has the same columns, only shorter

    def part(self, first: int, last: int) -> _Stretch:
        some = slice(first - self.first, last - self.first)
        part = _Stretch(first, last, self.rows[some], self.keys[some])
        if self.uniform:
            part.columns = {name: values[some] for name, values in self.columns.items()}
            part.failures = self.failures[some]
        return part

    @cached_property
    def columns(self) -> Columns:
        out: dict[str, list[Value]] = {"key": self.keys} if self.keys else {}
        self.uniform = _flatten(self.rows, "", PATH, out)
        return out

    @cached_property
    def failures(self) -> Sequence[str]:
        found = [""] * len(self.rows)
        for name, values in self.columns.items():
            test = next((t for pattern, t in _TESTS if pattern.search(name)), None)
            if test is None:
                continue
            bad = {v for v in set(values) if (any(map(test, v.values)) if isinstance(v, _Twice) else test(v))}
            if bad:
                found = [f or _label(name, v) if v in bad else f for f, v in zip(found, values, strict=True)]
        return found


def _shapes(columns: Columns) -> list[str]:
    """Of each unit: the names of the fields that it has."""
    there = [
        [v is not ABSENT for v in values] if ABSENT in values else [True] * len(values) for values in columns.values()
    ]
    return _named(lambda row: "\0".join(compress(columns, row)), zip(*there, strict=True))


def _named(name: Callable[[Any], str], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """The name of each row, made once for those that are equal."""
    every = list(rows)
    return list(map({row: name(row) for row in set(every)}.__getitem__, every))


def _label(name: str, value: Value) -> str:
    said = _DIGIT_RUNS.sub("0", value)[:80] if isinstance(value, str) and not is_secret(name) else "…"
    return f"{name}={said}"


def _said(value: Value) -> bool:
    return value is not ABSENT and (isinstance(value, Opaque) or str(value).strip().lower() not in _NOTHING)


def _verdict(value: Value) -> bool:
    return isinstance(value, str) and _BAD.fullmatch(value.strip()) is not None


def _status(value: Value) -> bool:
    return isinstance(value, Number) and value[:1] in ("4", "5") and len(value) == 3


_TESTS: Final[Sequence[tuple[re.Pattern[str], Callable[[Value], bool]]]] = (
    (_FAILING_NAME, _said),
    (_EXIT_NAME, _said),
    (_GOOD_NAME, lambda v: v == "false" and isinstance(v, Number)),
    (_VERDICT_NAME, lambda v: _verdict(v) or _status(v)),
    (_STATUS_NAME, _status),
)


@dataclass(frozen=True)
class _Twice(Opaque):
    """The values of a key that stands more than once in one object: no claim about it, but none is overlooked."""

    values: tuple[Value, ...]


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        every: dict[str, list[Value]] = {}
        for key, value in pairs:
            every.setdefault(key, []).append(_scalar(value))
        row |= {key: _Twice(tuple(values)) for key, values in every.items() if len(values) > 1}
    return row


@lru_cache(maxsize=1)
def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_pairs, parse_int=Number, parse_float=Number, parse_constant=Number, strict=False
    )


def _decode(text: str) -> list[Any]:
    rows: list[Any] = _decoder().decode(text)
    return rows


def _flatten(rows: list[Any], prefix: str, depth: int, out: dict[str, list[Value]]) -> bool:
    """Columns of scalars by dotted path; an empty container is a value, another is `OPAQUE`. Gives whether some of the
    rows by themselves would have the same columns."""
    kinds = set(map(type, rows))
    uniform = len(kinds) == 1 or not kinds & {dict, list}
    if dict in kinds and depth:
        names = dict.fromkeys(chain.from_iterable([r for r in rows if type(r) is dict]))
        doubtful = _doubtful(names)
        same = kinds == {dict} and all(map(list(names).__eq__, map(list, rows)))
        uniform = same
        columns = zip(*map(dict.values, rows), strict=True) if same else repeat(())
        # Nothing is known, not even whether it is there, where the row's own key stands twice.
        beyond = [] if same else [OPAQUE if isinstance(r, Opaque) else ABSENT_MARK for r in rows]
        for name, column in zip(names, columns, strict=False):
            path = f"{prefix}.{name}" if prefix else name
            if not name:
                continue  # a nameless field has no path of its own
            if name in doubtful:
                _take(out, path, [OPAQUE] * len(rows))
            elif len(out) < FIELDS or path in out:
                inside = list(column)
                if not same:
                    inside = [r.get(name, b) if type(r) is dict else b for r, b in zip(rows, beyond, strict=True)]
                uniform &= _flatten(inside, path, depth - 1, out)
    elif list in kinds and depth and kinds <= {list}:
        uniform = len(set(map(len, rows))) == 1
        for i, column in enumerate(zip(*rows, strict=True) if uniform else ()):
            if len(out) < FIELDS:
                uniform &= _flatten(list(column), f"{prefix}[{i}]", depth - 1, out)
    if not (kinds <= {dict} and depth) or _FAILING_NAME.search(prefix):  # an error that is an object is one
        values = rows
        if kinds - {str, Number}:
            values = list(map(_scalar, rows) if kinds - _SCALARS else map(_SPELLED.get, rows, rows))
        _take(out, prefix or "value", values if prefix or not kinds & {dict, list} else [OPAQUE] * len(rows))
    return uniform


def _take(out: dict[str, list[Value]], name: str, values: list[Value]) -> None:
    """Adds a column; two of one path say nothing."""
    if name in out:
        out[name] = [OPAQUE] * len(values)
    elif len(out) < FIELDS:
        out[name] = values


def _doubtful(names: Iterable[str]) -> set[str]:
    """Names that read like the path to a field inside another of them (``a.b`` beside ``a``), and those others."""
    known, found = set(names), set()
    for name in known:
        inside = {name[: m.start()] for m in _JOINTS.finditer(name)} & known
        if inside:
            found |= {name} | inside
    return found


_JOINTS: Final = re.compile(r"[.\[]")


class _Mark:
    """Absent, told apart from null."""


ABSENT_MARK: Final = _Mark()


_SCALARS: Final = {str, Number, bool, type(None), _Mark}
_SPELLED: Final[dict[Any, Value]] = {**_LITERALS, ABSENT_MARK: ABSENT}


def _scalar(value: Any) -> Value:
    if type(value) is str or type(value) is Number:
        return value
    if value is ABSENT_MARK:
        return ABSENT
    if isinstance(value, Opaque):
        return value
    if value is None or value is True or value is False:
        return _LITERALS[value]
    if value == [] or value == {}:
        return Number("[]" if value == [] else "{}")
    return OPAQUE
