"""Logs: syslog, journald, nginx, logfmt, application and build logs. Units are entries with their continuation
lines (stack traces). Where more than a quarter of the lines begin with a time, a line without one continues the
entry before it; elsewhere indentation does, unless most lines are indented.

Level, failure and kind are decided once for each *distinct* line without its digits, and mapped back (SPEED).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, pairwise, repeat
from typing import Final

from caveman_wasm.facts import is_secret
from caveman_wasm.formats.base import LastRead
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Document, Group, Rewritten, Value, line_starts, plain

__all__ = ["LOG"]

LONG_ENTRY: Final = 1200  # bytes from which an entry's continuation lines are units of their own
CHUNK: Final = 2048  # entries whose numbers are compared at a time
LIKE: Final = 8  # entries of one kind in one stretch from which their numbers are compared
SAMPLE: Final = 256  # of them that say what is usual
FAR: Final = 30  # distances of quartiles above the upper one
FAR_ONES: Final = 8
INTEGER: Final = 19  # digits of what is a number for sure
FIELDS: Final = 48  # name=value columns read of one stretch of entries
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME: Final = (
    r"[12]\d{3}[-/.]\d\d[-/.]\d\d[T ,_]*\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?"
    rf"|{_MONTH} {{1,2}}\d{{1,2}} (?:\d{{4}} )?\d\d:\d\d:\d\d"
    rf"|\d{{1,2}}/{_MONTH}/\d{{4}}:\d\d:\d\d:\d\d(?: [+-]\d{{4}})?"
    rf"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:{_MONTH} \d{{1,2}}|\d{{1,2}} {_MONTH}),?"
    r" (?:\d{4} )?\d\d:\d\d:\d\d(?: \d{4})?"
    r"|(?:\d\d-\d\d )?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
    r"|\d{10}(?:\.\d{1,9}|\d{3})?(?![\d-])|\d{6} \d{6}(?= )"
)
_STAMP: Final = re.compile(rf"(?<!\d)(?:{_TIME})", re.ASCII)
_STARTS: Final = re.compile(
    r"\[ *\d+[.,]\d{3,6}s?\]|"
    rf"[\[(<{{\"']*(?:{_TIME})|[IWEF]\d{{4}} \d\d:|<\d{{1,3}}>|(?:time|ts|timestamp|t)=|\{{\""
    rf"|-?\d{{1,3}}(?:\.\d{{1,3}}){{3}} [^ ]+ [^ ]+ \["
    r"|(?:\[)?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b",
    re.ASCII,
)
_COMMIT: Final = re.compile(r"commit [0-9a-f]{40}\b", re.ASCII)  # git log
_DIGITS: Final = b"0123456789"
_ONLY_DIGITS: Final = bytes(c if chr(c) in "0123456789\r\n" else 32 for c in range(256))
_REQUEST: Final = re.compile(r"\"[A-Z]{3,7} [^\"\n]{1,2000}\" ([1-5][0-9][0-9])(?= )", re.ASCII)  # NCSA access logs
_CONTINUES: Final = re.compile(r"[ \t]|Caused by:|\.\.\. \d+ more|at [\w$.<>]+\(|\)|\}|\]|$", re.ASCII)
_TELLING: Final = re.compile(r"Caused by|[Ee]rror|[Ee]xception|panic|FAIL|undefined reference")

_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|ALERT|EMERG|PANIC)\b"
    r"|\b(?:level|lvl|severity)\"?[=:] ?\"?([a-zA-Z]+)"
    r"|[\[<(](trace|debug|info|notice|warn|warning|error|err|crit|critical|fatal|alert|emerg) *(?:[\])>]|:)"
    r"|(?:^|[\s:])(warning|error|fatal)(?: [A-Z]+[0-9]+)?: ",
    re.ASCII,
)
_KLOG: Final = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
_BAD_LEVELS: Final = frozenset(["ERROR", "ERR", "CRITICAL", "CRIT", "FATAL", "SEVERE", "ALERT", "EMERG", "PANIC"])
_WARNINGS: Final = frozenset(("WARN", "WARNING"))
_BAD: Final = re.compile(
    r"(?i)(?<![\w/.-])(?:\w{0,40}(?:error|exception)s?|fatal|traceback|panic(?:ked)?|segfault"
    r"|segmentation fault|fail(?:s|ed|ure|ures)?"
    r"|refused|denied|timed out|timeout|unreachable|abort(?:ed)?|crash(?:ed)?|cannot|can't|could not|unable to|severe"
    r"|rejected|corrupt(?:ed|ion)?|out of memory|oom-kill\w*|undefined reference|no such file)(?![\w/.-]*[\w/])",
)
_GOOD: Final = re.compile(
    r"(?i)\b(?:no|0|zero|without(?: any)?|ignor\w+) (?:\w+ )?(?:errors?|failures?|failed|exceptions?|fatal)\b"
    r"|\b\w*(?:errors?|failures?|failed|fail|exceptions?|err)\"?\s?[=:]\s?"
    r"(?:\"?(?:0|null|none|nil|false|<nil>|-)\"?(?![\w.])|\"\"|\"?no\"?(?=\s*(?:[,;)\]}]|$|[\w.]+=))|(?=[,;)\]}]|\s*$|\s[\w.]+=))"
)
_VERDICT: Final = re.compile(r"\bBUILD FAIL(?:ED|URE)\b")  # of a whole run, which Maven says at level INFO
_QUIET: Final = frozenset(["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING"])
_LEVELS: Final = _BAD_LEVELS | _QUIET
_VARIABLE: Final = re.compile(
    r"(?i)\"[^\"]{0,200}\"|'[^']{0,200}'|\b(?:0x)?(?=[a-z]*[0-9])[0-9a-f-]{4,}\b|[0-9]+", re.ASCII
)
# name=value; a value ends where a blank, a bracket or the next name follows, else it says nothing: `total=1,200`.
# The value is looked at, not taken: a name inside it is found too.
_FIELD: Final = re.compile(
    r"(?<![\w.-])([A-Za-z_][\w.-]*+)[\"']?(?:[ \t]*+(:)|[ \t]++=[ \t]?|=)"
    r"(?:(?=(?:\"([^\"\\]*+)\"|([^\s,;&|()\[\]{}<>\"'=]++))"
    r"[)\]}>]*+(?:[,;&|]*+(?:\s|\Z)|[,;&|][ \t]?[A-Za-z_][\w.-]*=))|)",
    re.ASCII,
)
# Words of which each match of `_LEVEL`, of `_BAD` and of `is_secret` holds one, in lower case.
_LEVEL_WORDS: Final = (
    "trace", "debug", "info", "notice", "warn", "err", "crit", "fatal", "severe", "alert", "emerg", "panic",
    "level", "lvl", "severity",
)  # fmt: skip
_BAD_WORDS: Final = (
    "error", "exception", "fatal", "traceback", "panic", "segfault", "segmentation", "fail", "refused", "denied",
    "timed out", "timeout", "unreachable", "abort", "crash", "cannot", "can't", "could not", "unable to", "severe",
    "rejected", "corrupt", "out of memory", "oom-kill", "undefined reference", "no such file",
)  # fmt: skip
_SECRET_WORDS: Final = (
    "passw", "passphrase", "pwd", "secret", "token", "api", "cookie", "session", "credential", "authoriz", "auth",
    "bearer", "private", "signature", "jwt",
)  # fmt: skip
_LEVEL_FIELD: Final = re.compile(r"(?i)(?<![\w.-])level[\"']?\s*[=:]\s*[\"']?([a-z]*)", re.ASCII)
_SECRET_VALUE: Final = re.compile(
    r"(?<![\w.-])([\w.-]{1,60})([\"']?\s*[=:]\s*)(?:(?:Bearer|Basic) )?(?:\"[^\"]*\"|\S+)", re.ASCII | re.IGNORECASE
)


class Log:
    name = "log"
    keep = 0.20
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        newline = "\n" if "\n" in text or "\r" not in text else "\r"
        lines = text.split(newline)
        if not lines[-1]:
            lines.pop()
        if not lines:
            return None
        starts = line_starts(lines)
        bare = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        ends = [start + len(line) for start, line in zip(starts, bare, strict=False)]  # starts has one more
        heads = _entries(lines)
        bounds = [*heads, len(lines)]
        stops = [ends[b - 1] for b in bounds[1:]]
        begins = [starts[h] for h in heads]
        group = Group(begins, stops, "records", "entries", reader=_Reader(text, begins, stops, newline))
        for i, (first, last) in enumerate(pairwise(bounds) if len(heads) < len(lines) else ()):
            if last - first > 6 and stops[i] - begins[i] > LONG_ENTRY:
                group.children[i] = [_trace(lines, starts, first + 1, last)]
        return Document(text, self.name, [group], len(text), newline=newline)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:4096] else document.newline
        return ("" if document.text.endswith(("\n", "\r")) else newline) + sentence + newline


def _entries(lines: list[str]) -> list[int]:
    """Numbers of the lines that begin an entry, the first line always among them."""
    if _COMMIT.match(lines[0]):
        commits = [i for i, line in enumerate(lines) if _COMMIT.match(line)]
        if len(commits) > 1:
            return commits
    stamped = [i for i, line in enumerate(lines) if line and _STARTS.match(line)]
    if 4 * len(stamped) > len(lines):
        return stamped if stamped[0] == 0 else [0, *stamped]
    indented = [i for i, found in enumerate(map(_CONTINUES.match, lines)) if found]
    if 10 * len(indented) > 4 * len(lines):
        return [i for i, line in enumerate(lines) if line not in ("", "\r") or not i]
    rest = set(indented)
    rest.discard(0)
    return [i for i in range(len(lines)) if i not in rest]


def _trace(lines: list[str], starts: list[int], first: int, last: int) -> Group:
    """The continuation lines of a long entry: its first, its last and what names a cause stay longest."""
    inside = range(first, last)
    telling = [i - first for i in inside if _TELLING.search(lines[i])]
    said = next((i - first for i in inside if lines[i].startswith("    ")), 0) if _COMMIT.match(lines[first - 1]) else 0
    pinned = sorted({0, 1, said, last - first - 1, *telling[:3], *telling[-2:]})
    stops = [starts[i] + len(lines[i].rstrip("\r")) for i in inside]
    return Group([starts[i] for i in inside], stops, "outline", "lines", pinned=pinned)


class _Hints:
    """What lines must hold for a pattern to have a chance: finding a word is many times as fast as a search for it."""

    def __init__(self, text: str) -> None:
        low = text.lower()
        self.levels, self.bad, self.secrets = (
            [word for word in words if word in low] for words in (_LEVEL_WORDS, _BAD_WORDS, _SECRET_WORDS)
        )
        self.timed = _may_be_timed(text.encode("latin-1"))


def _may_be_timed(data: bytes) -> bool:
    """Whether `_STAMP` may match: all its forms have a colon between digits or ten digits in a row, or six and six."""
    masked = data.translate(_MASK)
    return b"00:00" in masked or b"000000 000000" in masked or b"0000000000" in masked


_MASK: Final = bytes(48 if byte in b"123456789" else byte for byte in range(256))


class _Kind:
    """What is known of all lines that are equal without their digits."""

    __slots__ = ("doubtful", "label", "level", "levels")

    def __init__(self, line: str, hints: _Hints) -> None:
        low = line.lower()
        self.level, rest = _level(line, any(map(low.__contains__, hints.levels)))
        said = plain(_untimed(rest) if hints.timed else rest)
        if any(map(low.__contains__, hints.secrets)):
            said = _SECRET_VALUE.sub(_unsaid, said)
        said = " ".join(_VARIABLE.sub("0", said).split())
        bad = self.level in _BAD_LEVELS or (
            any(map(low.__contains__, hints.bad))
            and (_VERDICT if self.level in _QUIET else _BAD).search(line) is not None
        )
        words = [w for w in said.split() if w.isalpha() or (w.upper() != w.lower() if w.isascii() else _has_letter(w))]
        level, begin = self.level, " ".join(words[:2])
        self.label = " ".join([*level.split(), *words[:12]])[:100] if bad else ""
        self.doubtful = bad and level not in _BAD_LEVELS
        coarse = f"{level} {' '.join(words[:5])}" if level in _WARNINGS else level
        more, most = (" ".join(words[:4]), " ".join(words[:8])) if len(words) > 2 else (begin, begin)
        self.levels = (coarse, f"{level} {begin}", f"{level} {more}", f"{level} {most}", f"{level} {said}")


def _untimed(line: str) -> str:
    begins = _STAMP.match(line)
    if begins:
        return line[begins.end() :]
    return _STAMP.sub("", line, 1) if _may_be_timed(line.encode("latin-1")) else line


def _has_letter(word: str) -> bool:
    return any(map(str.isalpha, word))


def _unsaid(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}0" if is_secret(found[1]) else found[0]


def _level(line: str, may_be: bool) -> tuple[str, str]:
    """The level in capitals ('' for none), and the line without it. ``may_be``: whether a level's word is in it."""
    found = _LEVEL.search(line[:400]) if may_be else None
    if found is None:
        klog = line[:1] in _KLOG and re.match(r"[IWEF](?=\d{4} )", line)
        return (_KLOG[line[0]], line[1:]) if klog else ("", line)
    rest = line if found[4] else line[: found.start()] + line[found.end() :]
    word = found[1] or found[2] or found[3] or found[4]
    return (word.upper() if word.upper() in _LEVELS else word), rest


class _Reader:
    """Fields of log entries: level, time, and ``name=value`` pairs where most entries have some."""

    typed = False

    def __init__(self, text: str, starts: Sequence[int], stops: Sequence[int], newline: str) -> None:
        self.text, self.starts, self.stops, self.newline = text, starts, stops, newline
        # One answer for all entries: a field that is not read is not absent.
        self.paired = text.count("=") >= len(starts) or "time=" in text or "http_status=" in text
        self.requests = _REQUEST.search(text, 0, 4096) is not None
        self._far: dict[int, str] | None = None
        self.known: dict[str, _Kind] = {}
        self._last = LastRead[_Stretch]()

    def _read(self, first: int, last: int) -> tuple[_Stretch, slice]:
        return self._last.of(first, last, self._stretch)

    def _stretch(self, first: int, last: int) -> _Stretch:
        units = [self.text[a:b] for a, b in zip(self.starts[first:last], self.stops[first:last], strict=True)]
        return _Stretch(units, *self._lines(units))

    def _lines(self, units: list[str]) -> tuple[list[str], list[_Kind], Sequence[re.Match[str] | None]]:
        """The first line of each, its kind, and the request in the entry."""
        heads, joined = units, self.newline.join(units)
        if joined.count(self.newline) >= len(units):
            heads = [u.partition(self.newline)[0] for u in units]
            joined = self.newline.join(heads)
        bare = joined.encode("latin-1").translate(None, _DIGITS).decode("latin-1").split(self.newline)
        firsts = dict(zip(reversed(bare), reversed(heads), strict=True))
        new = {key: head for key, head in firsts.items() if key not in self.known}
        if new:
            hints = _Hints(self.newline.join(new.values()))
            self.known |= {key: _Kind(new[key], hints) for key in reversed(new)}
        answers = list(map(_REQUEST.search, units)) if self.requests and '"' in joined else [None] * len(units)
        return heads, list(map(self.known.__getitem__, bare)), answers

    def numbers(self, first: int, last: int) -> tuple[list[_Kind], list[list[bytes]]]:
        """The kind and the runs of digits of each entry's first line."""
        read, part = self._read(first, last)
        digits = self.newline.join(read.heads[part]).encode("latin-1").translate(_ONLY_DIGITS)
        return read.kinds[part], list(map(bytes.split, digits.split(self.newline.encode())))

    def columns(self, first: int, last: int) -> Columns:
        read, part = self._read(first, last)
        if read.fields is None:
            levels: list[Value] = [k.level or ABSENT for k in read.kinds]
            if max(map(str.count, read.units, repeat("evel")), default=0) > 1:
                levels = [_said_level(u, k.level) for u, k in zip(read.units, read.kinds, strict=True)]
            read.fields = {"level": levels, "time": _times(read.units)}
            if self.requests:
                read.fields["http_status"] = [a[1] if a else ABSENT for a in read.answers]
            if self.paired:
                read.pairs = list(map(_FIELD.findall, read.units))
        out = {name: values[part] for name, values in read.fields.items()}
        if self.paired:
            _pairs(read.pairs[part], out)
        return out

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        """Level word, then 2, 4, 8 words, then all; a number far from those of its like makes a kind of its own."""
        if self._far is None:
            self._far = _far_numbers(self)
        read, part = self._read(first, last)
        levels = [list(level) for level in zip(*[k.levels for k in read.kinds[part]], strict=True)]
        for i in self._far:
            if first <= i < last:
                levels[0][i - first] = f"{read.kinds[part][i - first].level} {self._far[i]}"
        return levels

    def failures(self, first: int, last: int) -> Sequence[str]:
        read, part = self._read(first, last)
        if read.failures is None:
            failing = [
                k.label or r is not None or len(u) > len(h)
                for u, h, k, r in zip(read.units, read.heads, read.kinds, read.answers, strict=True)
            ]
            read.failures = [""] * len(failing)
            for i in compress(range(len(failing)), failing):
                read.failures[i] = _failure(read.units[i], read.kinds[i], read.answers[i], self.newline)
        return read.failures[part]


@dataclass(slots=True)
class _Stretch:
    """Neighbouring entries, their first lines, what is known of these, and the requests in them; and, from when
    somebody asks, what their lines' form and the names in them say, and the failures."""

    units: list[str]
    heads: list[str]
    kinds: list[_Kind]
    answers: Sequence[re.Match[str] | None]
    fields: dict[str, list[Value]] | None = None
    pairs: Sequence[list[tuple[str, ...]]] = ()
    failures: list[str] | None = None


def _times(units: list[str]) -> list[Value]:
    """The time in each entry's first 80 characters."""
    begins = [u[:120] for u in units]
    if not _may_be_timed("\n".join(begins).encode("latin-1")):
        return [ABSENT] * len(units)
    times = [_STAMP.match(u) or (_STAMP.search(u) if _may_be_timed(u.encode("latin-1")) else None) for u in begins]
    return [t[0] if t and t.start() < 80 else ABSENT for t in times]


def _said_level(unit: str, level: str) -> Value:
    """The level, unless the entry names another one as its ``level=``."""
    if unit.count("evel") > 1:
        said = {found.upper() for found in _LEVEL_FIELD.findall(unit)}
        if len(said | {level.upper()}) > 1 and said:
            return OPAQUE
    return level or ABSENT


def _failure(unit: str, kind: _Kind, request: re.Match[str] | None, newline: str) -> str:
    head, _, rest = unit.partition(newline)
    if kind.label and (not kind.doubtful or _BAD.search(_GOOD.sub("", head))):
        return kind.label
    if request is not None and request[1] >= "500":
        return f"http_status={request[1]}"
    if rest and ("Traceback" in rest or "Exception" in rest or "Error:" in rest or "panic:" in rest):
        return kind.levels[3] or "trace"
    return ""


def _pairs(found: Sequence[list[tuple[str, ...]]], out: dict[str, list[Value]]) -> None:
    """Adds a column for each name that stands before an ``=``; a name twice in an entry says nothing of it.

    ``found``: what `_FIELD` finds in each entry.
    Names are told apart without case, and ``name: value`` counts as an occurrence, so that no claim is made about
    an entry that says something else elsewhere.
    """
    names: dict[str, str] = {}
    for fields in found:
        for name, colon, _, _ in fields:
            if not colon:
                names.setdefault(name.lower(), name)
    columns: dict[str, list[Value]] = {low: [ABSENT] * len(found) for low in list(names)[:FIELDS]}
    columns |= {low: [ABSENT] * len(found) for low in out}
    spelled = {name: columns.get(name.lower()) for name in {f[0] for fields in found for f in fields}}
    for i, fields in enumerate(found):
        for name, _, string, word in fields:
            column = spelled[name]
            if column is not None:
                said = string or word
                column[i] = (said if said.isascii() else plain(said)) if said and column[i] is ABSENT else OPAQUE
    for low, values in columns.items():
        if low not in out:
            out[names[low]] = values
        else:  # what the line's form says holds where no field of that name says otherwise
            out[low] = [a if b is ABSENT or _same(a, b) else OPAQUE for a, b in zip(out[low], values, strict=True)]


def _same(a: Value, b: Value) -> bool:
    return isinstance(a, str) and isinstance(b, str) and a.lower() == b.lower()


def _far_numbers(reader: _Reader) -> dict[int, str]:
    """Entries with a number far above those in the same place of entries that are equal but for their digits.

    Index → the number; at most `FAR_ONES`. "Far" is `FAR` times the distance of the quartiles among the first
    `SAMPLE` of its like.
    """
    samples: dict[tuple[_Kind, int], list[list[bytes]]] = {}
    longest: dict[tuple[_Kind, int, int], tuple[bytes, int]] = {}
    n = len(reader.starts)
    for start in range(0, n, CHUNK):
        kinds, numbers = reader.numbers(start, min(start + CHUNK, n))
        forms = list(zip(kinds, map(len, numbers), strict=True))
        sizes = Counter(forms)
        rank = dict(zip(sizes, range(len(sizes)), strict=True))
        alike = sorted(range(len(forms)), key=list(map(rank.__getitem__, forms)).__getitem__)
        for (like, size), stop in zip(sizes.items(), accumulate(sizes.values()), strict=True):
            if like[1] and (like in samples or size >= LIKE):
                members = alike[stop - size : stop]
                rows = list(map(numbers.__getitem__, members))
                samples.setdefault(like, rows[:SAMPLE])
                for place, column in enumerate(zip(*rows, strict=True)):
                    digits = max(map(len, column))
                    if digits < 2:  # not far, whatever is usual
                        continue
                    best = max([run for run in column if len(run) == digits])
                    known = longest.setdefault((*like, place), (b"", 0))[0]
                    if (len(best), best) > (len(known), known):
                        longest[*like, place] = best, start + members[column.index(best)]
    found = []
    for (kind, width, place), (best, i) in longest.items():
        usual = sorted(map(int, [row[place] for row in samples[kind, width] if len(row[place]) < INTEGER]))
        if usual and len(best) < INTEGER:
            low, high = usual[len(usual) // 4], usual[-1 - len(usual) // 4]
            spread = max(high - low, high // 4, 1)
            if int(best) - high > FAR * spread and _stands_free(reader, i, best.decode()):
                found.append((-(int(best) - high) / spread, i, best.decode()))
    return {i: number for _, i, number in sorted(found)[:FAR_ONES]}


def _stands_free(reader: _Reader, i: int, number: str) -> bool:
    """Whether it is a number of its own, not a part of a name, an address or a date."""
    unit = reader.text[reader.starts[i] : reader.stops[i]]
    return re.search(rf"(?<![\w.:/-]){number}(?![-:/]|[A-Za-z_]*[0-9]|\.[0-9]+\.)", unit, re.ASCII) is not None


LOG = Log()
