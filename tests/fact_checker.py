"""Checks what markers claim, by code of its own: it reads the facts' grammar from the text, recomputes each claim from
the units, and shares nothing with facts.py.

    complaints = check(facts, units, replaced)      # [] where every fact is true, and reads one way only

A *unit* is whatever answers ``values(name)``: every occurrence of a field in it, as tokens. So a field that stands
twice in one unit shows. `JsonUnit`, `LogUnit` and `RowUnit` read the three kinds of payload.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol

__all__ = ["Claim", "JsonUnit", "LogUnit", "RowUnit", "Token", "Unit", "check", "parse"]

# ---------------------------------------------------------------- what a unit says


@dataclass(frozen=True)
class Token:
    """One occurrence of a field: ``kind`` is "number" (JSON numbers and literals), "string", "word" (untyped text) or
    "opaque" (there, but not to be quoted)."""

    kind: str
    text: str


OPAQUE: Final = Token("opaque", "")


class Unit(Protocol):
    def values(self, name: str) -> Sequence[Token]:
        """Every occurrence of the field; empty where the unit lacks it."""

    def fails(self) -> bool:
        """Whether it plainly reports a failure (a lower bound; formats may see more)."""

    def may_fail_as(self, label: str) -> bool:
        """Whether the unit could be a failure of this kind."""


class _Spelling(str):
    """A JSON number in its source spelling."""


class JsonUnit:
    """An array's element or, as ``member``, ``"key": value`` of an object."""

    _BAD = frozenset(
        {
            "error",
            "err",
            "fatal",
            "critical",
            "failed",
            "failure",
            "exception",
            "declined",
            "rejected",
            "crashed",
            "panic",
        }
    )

    def __init__(self, text: str, *, member: bool = False) -> None:
        self.text = text
        self.found: dict[str, list[Token]] = {}
        pairs: Any = _json("{" + text + "}" if member else text)
        if member:
            ((key, pairs),) = pairs[1]
            self._add("key", Token("string", key))
        self._walk("", pairs)

    def _add(self, path: str, token: Token) -> None:
        self.found.setdefault(path, []).append(token)

    def _walk(self, path: str, value: Any) -> None:
        if isinstance(value, tuple):
            kind, items = value
            if path:
                self._add(path, OPAQUE if items else Token("number", kind))
            for i, (key, inner) in enumerate(items):  # a nameless key has no path
                name = key or '""'
                self._walk(f"{path}[{i}]" if kind == "[]" else f"{path}.{name}" if path else name, inner)
            if not path and kind == "[]":
                self._add("value", OPAQUE)
            return
        name = path or "value"
        if isinstance(value, _Spelling):
            self._add(name, Token("number", value))
        elif value is None or isinstance(value, bool):
            self._add(name, Token("number", json.dumps(value)))
        else:
            self._add(name, Token("string", value))

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name, ())

    def fails(self) -> bool:
        named = (
            t
            for path, tokens in self.found.items()
            if path.rpartition(".")[2].lower()
            in ("status", "level", "severity", "state", "result", "outcome", "conclusion")
            for t in tokens
        )
        return any(t.kind == "string" and t.text.strip().lower() in self._BAD for t in named)

    def may_fail_as(self, label: str) -> bool:
        name, _, said = label.partition("=")
        names = [p for p in self.found if p == name or (p.startswith(name) and not said)]
        masked = (_mask(t.text) for p in names for t in self.found[p])
        return bool(names) and (said in ("", "…") or any(" ".join(m.split()).startswith(said) for m in masked))


def _mask(text: str) -> str:
    return re.sub("[0-9a-fA-F]*[0-9][0-9a-fA-F]*", "0", text)


def _json(text: str) -> Any:
    """JSON as ("{}", pairs) and ("[]", (index, value) pairs), so that nothing is merged."""
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: ("{}", pairs),
        parse_int=_Spelling,
        parse_float=_Spelling,
        parse_constant=_Spelling,
        strict=False,
    )
    return _tagged(decoder.decode(text))


def _tagged(value: Any) -> Any:
    if isinstance(value, list):
        return "[]", [(i, _tagged(v)) for i, v in enumerate(value)]
    if isinstance(value, tuple):
        return "{}", [(k, _tagged(v)) for k, v in value[1]]
    return value


class RowUnit:
    """A table's row; a column name that stands twice in the header gives two occurrences."""

    def __init__(self, header: Sequence[str], cells: Sequence[str]) -> None:
        self.found: dict[str, list[Token]] = {}
        for name, cell in zip(header, cells, strict=False):
            self.found.setdefault(name, []).append(Token("word", cell))

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name, ())

    def fails(self) -> bool:
        return False

    def may_fail_as(self, label: str) -> bool:
        return True


class LogUnit:
    """A log entry, continuation lines and all. Every ``name=`` and ``name:`` counts as an occurrence, in any case of
    letters, inside quoted text too."""

    _BAD = ("ERROR", "ERR", "CRITICAL", "CRIT", "FATAL", "SEVERE", "ALERT", "EMERG", "PANIC")
    _LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", *_BAD)
    _KLOG: ClassVar = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
    _TIME = re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct"
        r"|Nov|Dec) +\d+ \d\d:\d\d:\d\d"
        r"|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?",
        re.ASCII,
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.head = re.split("[\r\n]", text, maxsplit=1)[0]

    def values(self, name: str) -> Sequence[Token]:
        if name == "time":
            found = self._TIME.search(self.head)
            named = re.findall(r"(?i)(?<![\w.-])time=([^\s,;]*)", self.text)
            return [Token("word", v) for v in dict.fromkeys([*([found[0]] if found else ()), *named])]
        if name == "http_status":
            found = re.search(r'"[A-Z]+ [^"]+" ([1-5]\d\d) ', self.text, re.ASCII)
            named = [t for t in self._named(name) if found is None or t.text != found[1]]
            return [*([Token("word", found[1])] if found else ()), *named]
        return self._named(name)

    def _named(self, name: str) -> Sequence[Token]:
        pattern = rf"(?i)(?<![\w.-]){re.escape(name)}[\"']?[ \t]{{0,8}}([=:])[ \t]?"
        return [self._value(m[1], m.end()) for m in re.finditer(pattern, self.text, re.ASCII)]

    def _value(self, sign: str, at: int) -> Token:
        if sign == ":":
            return OPAQUE
        string = re.compile(r'"([^"\\]*)"(?![^\s,;&|)\]}>])').match(self.text, at)
        if string:
            return Token("word", string[1])
        word = re.compile(r"""([^\s,;&|()\[\]{}<>"'=]*)(?:$|[)\]}>]*[\s,;&|]*(?=$|\s|[A-Za-z_][\w.-]*=))""").match(
            self.text, at
        )
        return Token("word", word[1]) if word else OPAQUE

    def levels(self) -> set[str]:
        """Every level word in the first line: which of them is *the* level is the format's to say."""
        words = set(re.findall(r"[A-Za-z]+", self.head)) | set(re.findall(r"[A-Z]+", self.head))
        klog = {self._KLOG[self.head[0]]} if re.match(r"[IWEF]\d{4} ", self.head) else set()
        named = set(re.findall(r"(?i)\b(?:level|lvl|severity)[\"']?\s*[=:]\s*[\"']?([a-z]+)", self.head))
        return {w.upper() for w in words} & set(self._LEVELS) | klog | named

    def sure_level(self) -> str | None:
        """The only level word in capitals, where it stands early."""
        found = re.findall(r"\b[A-Z]+\b", self.head[:60])
        levels = [w for w in found if w in self._LEVELS]
        return levels[0] if len(levels) == 1 else None

    def fails(self) -> bool:
        first = re.search(rf"\b({'|'.join(self._LEVELS)})\b", self.head[:300])
        return first is not None and first[1] in ("ERROR", "FATAL", "CRITICAL", "SEVERE")

    def may_fail_as(self, label: str) -> bool:
        """Whether all words of the label stand in the entry (its numbers and quoted strings are masked there)."""
        said = self.text.lower()
        if re.fullmatch(r"http_status=\d{3}", label):
            return label[-3:] in {t.text for t in self.values("http_status")}
        return all(word in said for word in re.split(r"[^a-z]+", label.lower()))


# ---------------------------------------------------------------- the grammar

_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_BARE: Final = r"(?:(?!\.\.)[^\s\"'`;,:=×|(){}<>…\\\[\]\x00-\x1f\x7f-\x9f\ud800-\udfff])+"
_VALUE: Final = rf"(?:{_QUOTED}|{_BARE}|\[\]|\{{\}})"
_NAME: Final = rf"(?:{_QUOTED}|(?!(?:all|sum|failures)(?![^\s=:])){_BARE})"
_NUMBER: Final = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_STAMP: Final = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-][\d:]{4,6})?)?"
_END: Final = rf'(?:{_STAMP}|{_NUMBER}|"{_STAMP}")'
_PAIR: Final = rf"{_NAME}={_VALUE}"
_TALLY: Final = rf"{_VALUE}×\d+"

_FORMS: Final = {
    "constants": rf"all {_PAIR}(?: {_PAIR})*",
    "sum": rf"sum {_NAME}=-?\d+(?:\.\d+)?",
    "failures": rf"failures: (?:\d+|{_TALLY}(?: {_TALLY})*)",
    "range": rf"{_NAME}={_END}\.\.{_END}",
    "coverage": rf"{_NAME}: \d+ distinct, {_VALUE}\.\.{_VALUE}(?:, all \d+ present)?",
    "enumeration": rf"{_NAME}: {_TALLY}(?: {_TALLY})*",
    "roster": rf"{_NAME}: {_VALUE}(?:, {_VALUE})+",
}
_READ: Final = {form: re.compile(pattern, re.ASCII) for form, pattern in _FORMS.items()}
_SECRETS: Final = (
    "token",
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "cookie",
    "session",
    "credential",
    "authoriz",
)


@dataclass(frozen=True)
class Claim:
    """One fact: its form, its field (empty for constants and failures), its text."""

    form: str
    name: str
    text: str


def parse(text: str) -> list[Claim]:
    """The claims in a marker's facts, as they stand joined by "; ". ValueError unless it reads in exactly one way."""
    claims, at = [], 0
    while at < len(text):
        found = [(form, m) for form, read in _READ.items() if (m := read.match(text, at)) and _ends(text, m.end())]
        if len(found) != 1:
            raise ValueError(f"reads in {len(found)} ways from {at}: {text[at : at + 80]!r}")
        form, match = found[0]
        name = re.match(rf"(?:sum )?({_NAME})", match[0], re.ASCII)
        claims.append(
            Claim(form, _unquoted(name[1]) if name and form not in ("constants", "failures") else "", match[0])
        )
        at = match.end() + 2
    return claims


def _ends(text: str, at: int) -> bool:
    return at == len(text) or text.startswith("; ", at)


def _unquoted(said: str) -> str:
    return json.loads(said) if said.startswith('"') else said


# ---------------------------------------------------------------- the checks


def check(facts: Sequence[str], units: Sequence[Unit], replaced: int) -> list[str]:
    """Complaints about one marker's facts, which stand for exactly ``units``, ``replaced`` bytes of payload."""
    text = "; ".join(facts)
    complaints = []
    if len(text.encode("utf-8", "replace")) > replaced / 4:
        complaints.append(f"facts take more than a quarter of the {replaced} bytes they stand for")
    try:
        claims = parse(text)
    except ValueError as error:
        return [*complaints, str(error)]
    if [c.text for c in claims] != list(facts):
        complaints.append(f"joined facts read otherwise: {text!r}")
    for claim in claims:
        complaints += [f"{claim.text!r}: {c}" for c in _CHECKS[claim.form](claim, units)]
        complaints += [
            f"quotes a secret: {claim.name}" for name in _names(claim) if any(s in name.lower() for s in _SECRETS)
        ]
    if not any(c.form == "failures" for c in claims) and facts and any(u.fails() for u in units):
        complaints.append("failures are not counted")
    return complaints


def _names(claim: Claim) -> Iterator[str]:
    if claim.form == "constants":
        yield from (_unquoted(m[1]) for m in re.finditer(rf"({_NAME})={_VALUE}", claim.text.removeprefix("all ")))
    elif claim.name:
        yield claim.name


def _is(token: Token, said: str) -> bool:
    """Whether a value as it stands in a fact is this token: numbers bare, strings quoted where they look like one."""
    if token.kind == "number":
        return said == token.text
    if said.startswith('"'):
        return token.kind != "opaque" and _unquoted(said) == token.text
    literal = re.fullmatch(rf"{_NUMBER}|null|true|false|-?Infinity|NaN|\[\]|\{{\}}", said, re.ASCII)
    return (token.kind == "word" and said == token.text) or (
        token.kind == "string" and not literal and said == token.text
    )


def _single(units: Sequence[Unit], name: str) -> tuple[list[Token], list[str]]:
    """The one value of each unit, and a complaint where a unit has none, two, or one that cannot be quoted."""
    values = [u.values(name) for u in units]
    off = sum(len(v) != 1 or v[0] == OPAQUE for v in values)
    return [v[0] for v in values if v], [f"{off} units lack {name}, or say it twice"] if off else []


def _constants(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    for m in re.finditer(rf"({_NAME})=({_VALUE})", claim.text.removeprefix("all "), re.ASCII):
        name, said = _unquoted(m[1]), m[2]
        if name == "level" and isinstance(units[0], LogUnit):
            yield from _levels({said: len(units)}, 0, units)
            continue
        values, off = _single(units, name)
        yield from off
        if not all(_is(v, said) for v in values):
            yield f"not all are {said}"


def _enumeration(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    said = [(v, int(n)) for v, n in re.findall(rf"({_VALUE})×(\d+)", claim.text[_name_end(claim) :], re.ASCII)]
    absent = sum(n for v, n in said if v == "absent")
    counts = {v: n for v, n in said if v != "absent"}
    if sum(n for _, n in said) != len(units) or len(said) != len(counts) + ("absent" in dict(said)):
        yield f"counts do not add up to {len(units)}"
    if claim.name == "level" and units and isinstance(units[0], LogUnit):
        yield from _levels(counts, absent, units)
        return
    values = [u.values(claim.name) for u in units]
    if any(len(v) > 1 or OPAQUE in v for v in values):
        yield "a unit says it twice, or has no value to quote"
    if absent != sum(not v for v in values):
        yield f"{sum(not v for v in values)} are absent"
    for value, n in counts.items():
        real = sum(_is(v[0], value) for v in values if v)
        if real != n:
            yield f"{value} is there {real} times"


def _levels(counts: dict[str, int], absent: int, units: Sequence[Unit]) -> Iterable[str]:
    """A log's level is one of the level words in the head: each count must be possible."""
    there = [u.levels() for u in units if isinstance(u, LogUnit)]
    sure = Counter(u.sure_level() for u in units if isinstance(u, LogUnit))
    for said, n in counts.items():
        value = _unquoted(said)
        if not sure[value] <= n <= sum(value in t for t in there):
            yield f"{value} cannot be the level of {n} units"
    if absent > sure[None]:
        yield f"no {absent} units lack a level"
    for unit in units:
        said = {t.text.upper() for t in unit.values("level") if t != OPAQUE}
        if len(said) > 1 and said & counts.keys():
            yield f"one unit says level={' and level='.join(sorted(said))}"


def _name_end(claim: Claim) -> int:
    found = re.match(_NAME, claim.text)
    assert found
    return found.end()


def _range(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    values, off = _single(units, claim.name)
    yield from off
    low, high = claim.text[_name_end(claim) + 1 :].split("..")
    low, high = _unquoted(low), _unquoted(high)
    numeric = re.fullmatch(_NUMBER, low) is not None
    measure = Decimal if numeric else _moment
    for v in values:
        if (numeric and v.kind == "string") or not re.fullmatch(_NUMBER if numeric else _STAMP, v.text, re.ASCII):
            yield f"{v.text!r} is no number"
            return
    if not all(measure(low) <= measure(v.text) <= measure(high) for v in values):
        yield "a value lies outside"
    if not {low, high} <= {v.text for v in values}:
        yield "an end is no value"


def _moment(stamp: str) -> datetime:
    return datetime.fromisoformat(re.sub(r"([.,])(\d{1,6})\d*", r".\2", stamp).replace("Z", "+00:00"))


def _sum(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    values, off = _single(units, claim.name)
    yield from off
    if not all(v.kind != "string" and re.fullmatch(_NUMBER, v.text, re.ASCII) for v in values):
        yield "a value is no number"
    elif sum((Fraction(v.text) for v in values), Fraction()) != Fraction(claim.text.rpartition("=")[2]):
        yield "the sum is off"


def _roster(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    said = re.findall(rf"[:,] ({_VALUE})", claim.text[_name_end(claim) :], re.ASCII)
    if claim.name == "level" and isinstance(units[0], LogUnit):
        yield from _levels(Counter(said), 0, units)
        return
    values, off = _single(units, claim.name)
    yield from off
    if len(said) != len(values) or not all(map(_is, values, said)):
        yield "it is not every value in order"


def _coverage(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    values, off = _single(units, claim.name)
    yield from off
    m = re.fullmatch(
        rf": (\d+) distinct, ({_VALUE})\.\.({_VALUE})(?:, all (\d+) present)?", claim.text[_name_end(claim) :], re.ASCII
    )
    assert m
    distinct = {v.text for v in values}
    prefix = re.match(r"(.*?)\d+$", _unquoted(m[2]), re.DOTALL)
    if prefix is None:
        yield "no number at its end"
        return
    numbers = sorted(
        int(v[len(prefix[1]) :]) for v in distinct if re.fullmatch(re.escape(prefix[1]) + r"\d+", v, re.ASCII)
    )
    if len(numbers) != len(distinct) or len(distinct) != int(m[1]):
        yield f"{len(distinct)} are distinct, {len(numbers)} of them counted"
        return
    for said, n in ((m[2], numbers[0]), (m[3], numbers[-1])):
        if not any(_is(v, said) for v in values) or _unquoted(said) != f"{prefix[1]}{n}":
            yield f"{said} is no end"
    if m[4] and (int(m[4]) != len(numbers) or numbers[-1] - numbers[0] + 1 != len(numbers)):
        yield "not all are present"


def _failures(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    said = Counter({v: int(n) for v, n in re.findall(rf"({_VALUE})×(\d+)", claim.text)})
    total = sum(said.values()) or int(claim.text.rpartition(" ")[2])
    if not sum(u.fails() for u in units) <= total <= len(units):
        yield f"{sum(u.fails() for u in units)} of {len(units)} units fail"
    for label, n in said.items():
        if sum(u.may_fail_as(_unquoted(label)) for u in units) < n:
            yield f"fewer than {n} units fail as {label}"


_CHECKS: Final = {
    "constants": _constants,
    "sum": _sum,
    "failures": _failures,
    "range": _range,
    "coverage": _coverage,
    "enumeration": _enumeration,
    "roster": _roster,
}
