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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, repeat
from operator import sub
from typing import Any, Final

from caveman_wasm.formats.json_fields import JsonReader
from caveman_wasm.markers import MARKER_KEY, REFERENCE_KEY
from caveman_wasm.model import (
    Document,
    Envelope,
    Group,
    Rewritten,
    plain,
    source,
)

__all__ = ["JSON", "MAX_DEPTH", "depth_ok"]

MAX_DEPTH: Final = 128  # brackets; one cap for all platforms (Pyodide dies of some 6,000, CPython stops at 1,500)
ENTER: Final = 400  # bytes; a container below stays whole or goes whole
LEVELS: Final = 8  # nested groups (DESIGN)
BIG_STRING: Final = 2048  # bytes of an envelope's literal (SPEC 6)
LATE: Final = 65536  # bytes of text left from which a nested container is walked, not scanned whole

_PARTED: Final = re.compile(r"[\w.+-][ \t\r\n]+[\w.+-]", re.ASCII)  # no JSON: without the blank it could become some
_PARTED_IN_LINES: Final = re.compile(r"[\w.+-][ \t]+[\w.+-]", re.ASCII)
_ESCAPES: Final = (("\\\\", "\u0100\u0100"), ('\\"', "\u0101\u0101"))  # and what source text cannot hold, of one length
_WINDOW: Final = 2048  # characters at whose white space is looked at a time: what it takes to find a token again
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_OPENING: Final = ("{", "[")
# The C scanner itself: (value, offset after it), StopIteration where there is no value.
_scan: Final[Callable[[str, int], tuple[Any, int]]] = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str
).scan_once  # type: ignore[attr-defined]


def depth_ok(text: str) -> bool:
    """Whether brackets outside of strings nest properly and no deeper than `MAX_DEPTH`. Linear, no recursion."""
    outside = "".join(["".join(parts[inside::2]) for _, parts, inside in _between_quotes(text, 1 << 16)])
    brackets = outside.encode("latin-1", "replace").translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return True
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(inner) == len(brackets):
            return False
        brackets = inner
    return not brackets


def _between_quotes(text: str, size: int) -> Iterator[tuple[int, list[str], bool]]:
    """Windows of about ``size`` characters: where each begins, what stands between its quotes, and whether the first
    of these stands in a string. Escaped backslashes and quotes are as `_ESCAPES` has them."""
    at, inside = 0, False
    while at < len(text):
        stop = at + size
        while text[stop - 1 : stop] == "\\":
            stop += 1
        parts = _parts(text[at:stop])
        yield at, parts, inside
        inside ^= len(parts) % 2 == 0
        at = stop


def _parts(window: str) -> list[str]:
    if "\\" in window:
        for escape, stand_in in _ESCAPES:
            window = window.replace(escape, stand_in)
    return window.split('"')


@dataclass(frozen=True, slots=True)
class _Minified(Rewritten):
    """JSON without its ``blanks``: a pair for each window; where its characters stood is found when somebody asks."""

    before: str
    blanks: str
    inside: Sequence[bool]  # of each window: whether it begins in a string
    found: dict[int, str] = field(default_factory=dict, compare=False)  # of the last window

    @property
    def verbatim(self) -> bool:
        return True

    def back(self, position: int) -> int:
        i = max(0, bisect_right(self.offsets, position) - 1)
        if i not in self.found:
            self.found.clear()
            self.found[i] = self._laid_out(i)
        window = self.found[i]
        solid = range(1, len(window) + 1)  # the first of which so many characters are not blank
        at = bisect_right(solid, position - self.offsets[i], key=lambda stop: stop - window.count(" ", 0, stop))
        return self.origins[i] + at

    def _laid_out(self, i: int) -> str:
        """Window ``i`` with a blank for each character that went, and only for these."""
        parts = _parts(self.before[self.origins[i] : self.origins[i + 1] if i + 1 < len(self.origins) else None])
        strings = slice(1 - self.inside[i], None, 2)
        if len(parts) > strings.start:
            said = '"'.join(parts[strings])
            for blank in self.blanks:
                said = said.replace(blank, "x")
            parts[strings] = said.split('"')
        window = '"'.join(parts)
        for blank in self.blanks:
            window = window.replace(blank, " ")
        return window


class Json:
    name = "json"
    keep = 0.28
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """White space between tokens off; of JSON lines the line ends stay."""
        if text[_bom(text) :].lstrip(" \t\r\n")[:1] not in _OPENING:
            return None
        blanks, parted = (" \t", _PARTED_IN_LINES) if _is_lines(text) else (" \t\r\n", _PARTED)
        pieces: list[str] = []
        offsets, origins, insides, bare, size = [], [], [], [], 0
        for at, parts, inside in _between_quotes(text, _WINDOW):
            outside = '"'.join(parts[inside::2])
            bare += [outside] if len(parts) % 2 != inside else [outside, '"']
            for blank in blanks:
                outside = outside.replace(blank, "")
            if len(parts) > inside:
                parts[inside::2] = outside.split('"')
            piece = '"'.join(parts)
            for escape, stand_in in _ESCAPES:
                piece = piece.replace(stand_in, escape)
            pieces.append(piece)
            offsets.append(size)
            origins.append(at)
            insides.append(inside)
            size += len(piece)
        if size == len(text) or parted.search("".join(bare)):
            return None
        return _Minified("".join(pieces), offsets, origins, text, blanks, insides)

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
    group = Group(starts, stops, "records", "records", reader=JsonReader(text, starts, stops, member=False))
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
    starts: list[int] = []
    stops: list[int] = []
    values: list[int] = [] if in_object else starts
    walked: dict[int, Group] = {}
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
            begin = at
            if big and level <= 3 and text[at] in "[{" and len(text) - at > LATE and (in_object or level == 1):
                name = f"{path}/{key}" if in_object else path
                inside, after = _container(document, at, level + 1, name)
                value = {_scan(text, s)[0]: 0 for s in inside.starts} if text[at] == "{" else []
                if after - begin > ENTER:
                    walked[len(values) - 1] = inside
                at = after
            else:
                value, at = _scan(text, at)
            if shapes is not None:
                shapes = _shape(shapes, value)
            big = at - begin > ENTER  # neighbours are alike: what follows a small one is scanned whole
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
    reader = JsonReader(text, starts, stops, member=in_object) if alike or not in_object else None
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
    if max(map(sub, group.stops, values), default=0) <= ENTER:
        return
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


JSON = Json()
