"""JSON: one document or JSON lines. Units are elements of arrays and members of objects.

White space between tokens comes off first (the only change to what stays). Spans are found with the C scanner:
an element is scanned whole, and only what is larger than `ENTER` is entered and scanned again, to a depth of
eight, so each byte is read a bounded number of times. Nothing is kept but offsets; values are read late, from the
slices of the units asked about. Strings over 2 KB are envelopes: payloads of their own.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, compress, repeat
from operator import sub
from typing import Any, Final

from caveman_wasm.facts import is_secret
from caveman_wasm.markers import MARKER_KEY, REFERENCE_KEY
from caveman_wasm.model import (
    ABSENT,
    OPAQUE,
    Columns,
    Document,
    Envelope,
    Group,
    Number,
    Opaque,
    Rewritten,
    Value,
    plain,
    source,
)

__all__ = ["JSON", "MAX_DEPTH", "depth_ok"]

MAX_DEPTH: Final = 128  # brackets; one cap for all platforms (Pyodide dies of some 6,000, CPython stops at 1,500)
ENTER: Final = 400  # bytes; a container below stays whole or goes whole
LEVELS: Final = 8  # nested groups (DESIGN)
BIG_STRING: Final = 2048  # bytes of an envelope's literal (SPEC 6)
LATE: Final = 65536  # bytes of text left from which a nested container is walked, not scanned whole
FIELDS: Final = 64  # columns read of one group
PATH: Final = 4  # names in a column's dotted path

_STRINGS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
_TOKENS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[^" \t\r\n]+', re.DOTALL)
_TOKENS_OF_LINES: Final = re.compile(_TOKENS.pattern.replace(r"\r\n", ""), re.DOTALL)
_BLANK: Final = re.compile(r"[ \t\r\n]")
_BLANK_IN_LINES: Final = re.compile(r"[ \t]")
_PARTED: Final = re.compile(r"[\w.+-][ \t\r\n]+[\w.+-]", re.ASCII)  # no JSON: without the blank it could become some
_PARTED_IN_LINES: Final = re.compile(r"[\w.+-][ \t]+[\w.+-]", re.ASCII)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_OPENING: Final = ("{", "[")
# The C scanner itself: (value, offset after it), StopIteration where there is no value.
_scan: Final[Callable[[str, int], tuple[Any, int]]] = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str
).scan_once  # type: ignore[attr-defined]


def depth_ok(text: str) -> bool:
    """Whether brackets outside of strings nest properly and no deeper than `MAX_DEPTH`. Linear, no recursion."""
    brackets = _STRINGS.sub("", text).encode("latin-1").translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return True
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(inner) == len(brackets):
            return False
        brackets = inner
    return not brackets


@lru_cache(maxsize=2)
def _stretches(tokens: re.Pattern[str]) -> re.Pattern[str]:
    """Some hundred tokens with the white space after them: bounds the memory of taking white space off, and what it
    takes to find one again."""
    return re.compile(rf"(?:(?:{tokens.pattern})[ \t\r\n]*+){{1,256}}+|[ \t\r\n]++", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Minified(Rewritten):
    """JSON without its white space: pairs for stretches only, tokens found again where somebody asks."""

    before: str
    tokens: re.Pattern[str]
    found: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict, compare=False)  # of the last stretch

    @property
    def verbatim(self) -> bool:
        return True

    def back(self, position: int) -> int:
        i = max(0, bisect_right(self.offsets, position) - 1)
        if i not in self.found:
            self.found.clear()
            self.found[i] = self._stretch(i)
        at, starts = self.found[i]
        k = bisect_right(at, position) - 1
        return starts[k] + position - at[k]

    def _stretch(self, i: int) -> tuple[list[int], list[int]]:
        """Where the tokens of stretch ``i`` begin, without white space and with it."""
        stop = self.origins[i + 1] if i + 1 < len(self.origins) else len(self.before)
        spans = [m.span() for m in self.tokens.finditer(self.before, self.origins[i], stop)]
        starts, stops = zip(*spans, strict=True) if spans else ((), ())
        return list(accumulate(map(sub, stops, starts), initial=self.offsets[i])), [*starts, stop]


class Json:
    name = "json"
    keep = 0.28
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """White space between tokens off; of JSON lines the line ends stay."""
        lines = _is_lines(text)
        tokens, blank, parted = (
            (_TOKENS_OF_LINES, _BLANK_IN_LINES, _PARTED_IN_LINES) if lines else (_TOKENS, _BLANK, _PARTED)
        )
        bare = _STRINGS.sub('"', text)
        if text[_bom(text) :].lstrip(" \t\r\n")[:1] not in _OPENING or not blank.search(bare) or parted.search(bare):
            return None
        pieces, offsets, origins, size = [], [], [], 0
        for stretch in _stretches(tokens).finditer(text):
            pieces.append("".join(tokens.findall(text, *stretch.span())))
            offsets.append(size)
            origins.append(stretch.start())
            size += len(pieces[-1])
        return _Minified("".join(pieces), offsets, origins, text, tokens)

    def split(self, text: str) -> Document | None:
        if not depth_ok(text):
            return None
        document = Document(text, self.name, [], len(text), newline="")
        start = _bom(text)
        try:
            lines = _is_lines(text)
            (_split_lines if lines else _split_one)(document, start)
        except (ValueError, StopIteration, IndexError, RecursionError):
            return None
        return document

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        key = _free_key(document.text, MARKER_KEY)
        if group.markers == "run":
            said = f',"facts":{_literal(facts)}' if facts else ""
            return f'{{"{key}":{count}{said}}}'
        said = f',"{key}_facts":{_literal(facts)}' if facts else ""
        return f'"{key}":{count}{said}'

    def reference(self, sentence: str, document: Document) -> str:
        text, at, key = document.text, document.close_at, _free_key(document.text, REFERENCE_KEY)
        _free_key.cache_clear()  # with the reference the text is done: no payload stays in memory
        member = f'"{key}":{_literal(sentence)}'
        if at == len(text) or text[at] not in "]}":  # JSON lines: a line of its own
            return ("" if text[at - 1 : at] in ("", "\n") else "\n") + f"{{{member}}}\n"
        comma = "" if text[at - 1] in "[{" else ","
        return f"{comma}{member}" if text[at] == "}" else f"{comma}{{{member}}}"


@lru_cache(maxsize=2)
def _free_key(text: str, key: str) -> str:
    """``key``, with as many ``_`` after it as it takes to be no key of the payload's, however that spells it."""
    text = _ESCAPED.sub(lambda m: chr(int(m[1], 16)), text) if "\\u00" in text else text
    taken = set(re.findall(rf'"{key}(_*)(?:_facts)?"', text))
    return key + next(tail for tail in accumulate(repeat("_"), initial="") if tail not in taken)


_ESCAPED: Final = re.compile(r"\\u00([5-7][0-9a-fA-F])")  # a letter or _


def _literal(text: str) -> str:
    """Source text as a JSON string in source text."""
    return '"' + _encode(text) + '"'


def _encode(text: str) -> str:
    """Source text as it stands between the quotes of a JSON string; concatenative, since UTF-8 is never cut."""
    said = text.encode("latin-1").decode("utf-8", "surrogatepass")
    out = json.dumps(said, ensure_ascii=False)[1:-1]
    return source(_SURROGATES.sub(lambda m: f"\\u{ord(m[0]):04x}", out).encode("utf-8"))


_SURROGATES: Final = re.compile("[\ud800-\udfff]")


# ---------------------------------------------------------------- cutting


def _bom(text: str) -> int:
    return 3 if text.startswith("\xef\xbb\xbf") else 0


def _is_lines(text: str) -> bool:
    """Whether the first two non-empty lines are JSON documents each."""
    body = text[_bom(text) :].lstrip(" \t\r\n")
    first, newline, rest = body.partition("\n")
    second = rest.lstrip("\r\n \t")[:1]
    if not newline or second not in _OPENING or first[:1] not in _OPENING or not depth_ok(first):
        return False
    try:
        return not first[_scan(first, 0)[1] :].strip(" \t\r")
    except (ValueError, StopIteration):
        return False


def _split_lines(document: Document, start: int) -> None:
    text = document.text
    starts, stops = [], []
    at = start
    for line in text[start:].split("\n"):
        body = line.strip(" \t\r")
        if body:
            begin = at + len(line) - len(line.lstrip(" \t\r"))
            if _scan(text, begin)[1] != begin + len(body):
                raise ValueError("more than one value in a line")
            starts.append(begin)
            stops.append(begin + len(body))
        at += len(line) + 1
    group = Group(starts, stops, "records", "records", reader=_Reader(text, starts, stops, member=False))
    document.groups, document.newline = [group], "\n"
    _enter(document, group, False, 2)


def _split_one(document: Document, start: int) -> None:
    text = document.text
    start += len(text) - start - len(text[start:].lstrip(" \t\r\n"))
    if text[start] in "[{":
        group, stop = _container(document, start, 1, "")
        document.close_at = stop - 1
        document.groups = [group] if len(group) else []
    else:
        raise ValueError("a bare value has no units")
    if text[stop:].strip(" \t\r\n"):
        raise ValueError("more than one value")


def _container(document: Document, start: int, level: int, path: str) -> tuple[Group, int]:
    """The group of the container that opens at ``start``, and the offset after its close."""
    text, in_object = document.text, document.text[start] == "{"
    starts, stops, values, walked = [], [], [], {}
    shapes: set[tuple[str, ...]] | None = set() if in_object else None
    at, close, big = start + 1, "}" if in_object else "]", True
    if text[at] != close:
        while True:
            starts.append(at)
            if in_object:
                quote = text[at]
                key, at = _scan(text, at)
                if quote != '"' or text[at] != ":":
                    raise ValueError("no key")
                at += 1
            values.append(at)
            if big and level <= 3 and text[at] in "[{" and len(text) - at > LATE and (in_object or level == 1):
                name = f"{path}/{key}" if in_object else path
                inside, after = _container(document, at, level + 1, name)
                value = {_scan(text, s)[0]: 0 for s in inside.starts} if text[at] == "{" else []
                if after - at > ENTER:
                    walked[len(values) - 1] = inside
                at = after
            else:
                value, at = _scan(text, at)
            if shapes is not None:
                shapes = _shape(shapes, value)
            big = at - values[-1] > ENTER  # neighbours are alike: what follows a small one is scanned whole
            stops.append(at)
            if text[at] != ",":
                break
            at += 1
        if text[at] != close:
            raise ValueError("not closed")
    group = _group(document, starts, stops, in_object, shapes, path)
    group.children = {i: [g] for i, g in walked.items() if len(g)}
    if level < LEVELS:
        _enter(document, group, in_object, level + 1, values, walked)
    return group, at + 1


def _shape(shapes: set[tuple[str, ...]], value: Any) -> set[tuple[str, ...]] | None:
    """Key sets of the members so far; None as soon as one is no object or there are too many."""
    if type(value) is not dict or len(shapes) > 8:
        return None
    shapes.add(tuple(sorted(value)))
    return shapes


def _group(
    document: Document,
    starts: list[int],
    stops: list[int],
    in_object: bool,
    shapes: set[tuple[str, ...]] | None,
    path: str,
) -> Group:
    text = document.text
    alike = in_object and shapes is not None and len(starts) >= 3 and _alike(shapes)
    reader = _Reader(text, starts, stops, member=in_object) if alike or not in_object else None
    noun = "members" if in_object else "elements"
    mode: Any = "records" if alike or not in_object else "tree"
    return Group(starts, stops, mode, noun, "one" if in_object else "run", path, reader=reader)


def _alike(shapes: set[tuple[str, ...]]) -> bool:
    """Whether objects of these key sets are of one kind: they share at least half of all keys."""
    every, common = set(chain.from_iterable(shapes)), set.intersection(*map(set, shapes)) if shapes else set()
    return 2 * len(common) >= len(every)


def _enter(
    document: Document,
    group: Group,
    in_object: bool,
    level: int,
    values: Sequence[int] | None = None,
    walked: Iterable[int] = (),
) -> None:
    """Gives the large units of a group the groups inside them, and takes big strings as envelopes."""
    text, values, done = document.text, values or group.starts, set(walked)
    for i, (at, stop) in enumerate(zip(values, group.stops, strict=True)):
        if stop - at <= ENTER or i in done:
            continue
        if text[at] in "[{":
            name = group.heading + "/" + _key_of(text, group.starts[i], at) if in_object else f"{group.heading}/{i}"
            inside, _ = _container(document, at, level, name)
            if len(inside):
                group.children[i] = [inside]
        elif text[at] == '"' and stop - at > BIG_STRING:
            document.envelopes += _envelope(text, at, stop)


def _key_of(text: str, start: int, value: int) -> str:
    return plain(text[start + 1 : value - 2])


def _envelope(text: str, start: int, stop: int) -> list[Envelope]:
    """The string as an envelope; none where it holds bytes that are no UTF-8, which could not be written back."""
    try:
        said = json.loads(text[start:stop].encode("latin-1").decode("utf-8"), strict=False)
    except UnicodeDecodeError:
        return []
    return [Envelope(start + 1, stop - 1, source(said.encode("utf-8", "surrogatepass")), _encode)]


# ---------------------------------------------------------------- reading fields

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


class _Reader:
    """Fields of JSON units, read from their slices; the last stretch read is remembered."""

    typed = True

    def __init__(self, text: str, starts: Sequence[int], stops: Sequence[int], *, member: bool) -> None:
        self.text, self.starts, self.stops, self.member = text, starts, stops, member
        self._last: tuple[int, int, Columns] | None = None

    def columns(self, first: int, last: int) -> Columns:
        if self._last is None or self._last[:2] != (first, last):
            self._last = (first, last, self._read(first, last))
        return self._last[2]

    def _read(self, first: int, last: int) -> Columns:
        slices = [self.text[a:b] for a, b in zip(self.starts[first:last], self.stops[first:last], strict=True)]
        if self.member:
            slices = [f"{{{s}}}" for s in slices]
        rows = _decode(plain(f"[{','.join(slices)}]"))
        out: dict[str, list[Value]] = {}
        if self.member:
            out["key"] = [next(iter(row)) for row in rows]
            rows = [next(iter(row.values())) for row in rows]
        _flatten(rows, "", PATH, out)
        return out

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        columns = self.columns(first, last)
        types = [v for name, v in columns.items() if _TYPE_LIKE.search(name)]
        coarse = ["\0".join(map(str, row)) for row in zip(*types, strict=True)] if types else [""] * (last - first)
        shape = _shapes(columns) or [""] * (last - first)
        return [coarse, [f"{a}\0\0{b}" for a, b in zip(coarse, shape, strict=True)]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        found = [""] * (last - first)
        for name, values in self.columns(first, last).items():
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
    having = list(zip(*there, strict=True))
    named = {row: "\0".join(compress(columns, row)) for row in set(having)}
    return [named[row] for row in having]


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


def _flatten(rows: list[Any], prefix: str, depth: int, out: dict[str, list[Value]]) -> None:
    """Columns of scalars by dotted path; an empty container is a value, another is `OPAQUE`."""
    kinds = set(map(type, rows))
    if dict in kinds and depth:
        names = dict.fromkeys(chain.from_iterable([r for r in rows if type(r) is dict]))
        doubtful = _doubtful(names)
        same = kinds == {dict} and all(map(list(names).__eq__, map(list, rows)))
        columns = zip(*map(dict.values, rows), strict=True) if same else repeat(())
        for name, column in zip(names, columns, strict=False):
            path = f"{prefix}.{name}" if prefix else name
            if not name:
                continue  # a nameless field has no path of its own
            if name in doubtful:
                _take(out, path, [OPAQUE] * len(rows))
            elif len(out) < FIELDS or path in out:
                _flatten(list(column) if same else [_member(r, name) for r in rows], path, depth - 1, out)
    elif list in kinds and depth and kinds <= {list} and len(set(map(len, rows))) == 1:
        for i, column in enumerate(zip(*rows, strict=True)):
            if len(out) < FIELDS:
                _flatten(list(column), f"{prefix}[{i}]", depth - 1, out)
    if not (kinds <= {dict} and depth) or _FAILING_NAME.search(prefix):  # an error that is an object is one
        values = list(map(_scalar, rows)) if kinds - {str, Number} else rows
        _take(out, prefix or "value", values if prefix or not kinds & {dict, list} else [OPAQUE] * len(rows))


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


def _member(row: Any, name: str) -> Any:
    """What is known of a field: nothing, not even whether it is there, where the object's own key stands twice."""
    if type(row) is dict:
        return row.get(name, ABSENT_MARK)
    return OPAQUE if isinstance(row, Opaque) else ABSENT_MARK


class _Mark:
    """Absent, told apart from null."""


ABSENT_MARK: Final = _Mark()


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


JSON = Json()
