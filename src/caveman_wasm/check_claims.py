"""Checks what a marker claims: reads the facts' grammar from their text and recomputes each claim from the units.

    complaints = check(facts, units, replaced)      # [] where every fact is true, and reads one way only

Shares nothing with facts.py. Units that read no fields (`SaidUnit`) are asked for less: what is quoted must stand in
as many of them as the fact says; `uncovered` names the claims that could not be checked at all.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from caveman_wasm.check_fields import OPAQUE, LogUnit, SaidUnit, Token, Unit

__all__ = ["Claim", "check", "examine", "parse", "uncovered"]

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
    "failures": rf"failures: (?:{_TALLY}(?: {_TALLY})*|\d+)",
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
    return [f"{fact!r}: {found}" if fact else found for fact, found in examine(facts, units, replaced)]


def examine(facts: Sequence[str], units: Sequence[Unit], replaced: int) -> list[tuple[str, str]]:
    """Complaints as pairs: the fact ('' where it is all of them), and what was found."""
    text = "; ".join(facts)
    complaints = []
    if len(text.encode("utf-8", "replace")) > replaced / 4:
        complaints.append(("", f"facts take more than a quarter of the {replaced} bytes they stand for"))
    try:
        claims = parse(text)
    except ValueError as error:
        return [*complaints, ("", str(error))]
    if [c.text for c in claims] != list(facts):
        complaints.append((text, "joined facts read otherwise"))
    for claim in claims:
        complaints += [(claim.text, found) for found in _off(claim, units)]
        complaints += [
            (claim.text, f"quotes a secret: {name}")
            for name in _names(claim)
            if any(s in name.lower() for s in _SECRETS)
        ]
    if not any(c.form == "failures" for c in claims) and facts and any(u.fails() for u in units):
        complaints.append(("", "failures are not counted"))
    return complaints


def _off(claim: Claim, units: Sequence[Unit]) -> Iterable[str]:
    said = [u for u in units if isinstance(u, SaidUnit)]
    if claim.form != "failures" and not all(u.reads(name) for u in said for name in _names(claim)):
        return _WEAK[claim.form](claim, said, len(units))
    return _CHECKS[claim.form](claim, units)


def uncovered(facts: Sequence[str], units: Sequence[Unit]) -> set[str]:
    """The fields (and sums) claimed of these units that could not be checked."""
    try:
        claims = parse("; ".join(facts))
    except ValueError:
        return set()
    said = [u for u in units if isinstance(u, SaidUnit)]
    names = {(c, name) for c in claims for name in _names(c) if any(not u.reads(name) for u in said)}
    return {name for c, name in names if c.form == "sum" or any(name in u.hidden for u in said)}


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
        named = {t.text.upper() for t in unit.values("level") if t != OPAQUE}
        if len(named) > 1 and named & counts.keys():
            yield f"one unit says level={' and level='.join(sorted(named))}"


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
    measure: Callable[[str], Any] = Decimal if numeric else _moment
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


# ---------------------------------------------------------------- of units that read no fields


def _said_constants(claim: Claim, units: Sequence[SaidUnit], total: int) -> Iterable[str]:
    for m in re.finditer(rf"({_NAME})=({_VALUE})", claim.text.removeprefix("all "), re.ASCII):
        name, said = _unquoted(m[1]), m[2]
        without = sum(not _may_be(u, name, said) for u in units)
        if without:
            yield f"{said} does not stand in {without} of {total} units"


def _may_be(unit: SaidUnit, name: str, said: str) -> bool:
    if unit.reads(name):
        return any(_is(token, said) for token in unit.values(name))
    return name in unit.hidden or unit.says(_unquoted(said))


def _said_enumeration(claim: Claim, units: Sequence[SaidUnit], total: int) -> Iterable[str]:
    said = [(v, int(n)) for v, n in re.findall(rf"({_VALUE})×(\d+)", claim.text[_name_end(claim) :], re.ASCII)]
    if sum(n for _, n in said) != total or len({v for v, _ in said}) != len(said):
        yield f"counts do not add up to {total}"
    for value, n in said if _covered(claim.name, units) else ():
        there = sum(_may_be(u, claim.name, value) for u in units)
        if value != "absent" and there < n:
            yield f"{value} stands in {there} units only"


def _said_roster(claim: Claim, units: Sequence[SaidUnit], total: int) -> Iterable[str]:
    said = re.findall(rf"[:,] ({_VALUE})", claim.text[_name_end(claim) :], re.ASCII)
    if len(said) != total:
        yield f"{len(said)} values for {total} units"
    elif _covered(claim.name, units):
        off = [v for v, u in zip(said, units, strict=False) if not _may_be(u, claim.name, v)]
        if off:
            yield f"{off[0]} does not stand in its unit"


def _said_ends(claim: Claim, units: Sequence[SaidUnit], total: int) -> Iterable[str]:
    """Both ends of a range or of a coverage stand in some unit; no more values are distinct than there are units."""
    m = re.search(rf"({_VALUE})\.\.({_VALUE})", claim.text[_name_end(claim) :], re.ASCII)
    for end in (m[1], m[2]) if m and _covered(claim.name, units) else ():
        if not any(_may_be(u, claim.name, end) for u in units):
            yield f"{end} stands in no unit"
    counted = re.search(r": (\d+) distinct(?:.*, all (\d+) present)?", claim.text[_name_end(claim) :], re.ASCII)
    if counted and (int(counted[1]) > total or counted[2] not in (None, counted[1])):
        yield f"{counted[1]} cannot be distinct in {total} units"


def _covered(name: str, units: Sequence[SaidUnit]) -> bool:
    return not any(name in u.hidden for u in units)


_WEAK: Final[dict[str, Callable[[Claim, Sequence[SaidUnit], int], Iterable[str]]]] = {
    "constants": _said_constants,
    "sum": lambda claim, units, total: (),
    "range": _said_ends,
    "coverage": _said_ends,
    "enumeration": _said_enumeration,
    "roster": _said_roster,
}
