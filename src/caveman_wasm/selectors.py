"""A selector and a payload → the exact slice that it names, or a refusal (SPEC 7, Selectors).

- ``/a/0/b``, RFC 6901 in its fragment form: the value as it is spelled in the payload. Only one JSON document has
  pointers, JSON lines do not; a key that stands twice is refused wherever the pointer goes through it.
- ``line=10,20``, RFC 5147, positions between lines: lines 11 to 20 with their line ends. Either end may be left
  open. Lines end with LF (so with CRLF too), where there is no LF with CR: as markers, grep and cat -n count them,
  and so not at a bare CR beside LFs, as the RFC has it.
- ``char=10,20``: characters 11 to 20 of the text read as UTF-8. CR and LF are two of them, a byte that is no UTF-8
  is one.
- ``row=5-7``, RFC 7111: rows of a table from 1, inclusive, ``*`` the last, ``;`` between several; the header is row
  1 and an empty line is a row. Whole rows with their line ends, in the payload's order, each once: what lies apart
  is joined and nothing is put between.
- ``col=2-3``: of each row the slice of these cells and its line end; a row that is too short gives what it has.
  Columns that lie apart are joined by the table's own delimiter.
- ``cell=4,1`` the cell as it is spelled, quotes included; ``cell=4,1-6,2`` these rows' slices, a line end between.

The RFCs let a reader cut what points past the end; here it fails, because an agent would take a part for the whole.
A position (``line=10``) holds nothing and fails too, naming the line after it. No kept library gives byte offsets
for a JSON Pointer (they resolve it on parsed values), so the C scanner's end offsets are used, as the format does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from caveman_wasm.errors import InvalidReference
from caveman_wasm.formats.json_records import MAX_DEPTH, depth_ok
from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.formats.tabular_rows import Rows, row_spans
from caveman_wasm.model import source
from caveman_wasm.references import Reference

__all__ = ["select"]

SMALL: Final = 65_536  # bytes up to which a table too short to be detected as one is looked for
LATE: Final = 65_536  # bytes; a neighbour above this is walked, not scanned whole: scanning holds it all as objects
WALKED: Final = 3  # levels down to which neighbours are walked

_scan: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str).raw_decode
_BLANK: Final = re.compile(r"[ \t\r\n]*+")
_ESCAPES: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.", re.DOTALL)
_PERCENT: Final = re.compile(r"%(?:([0-9a-fA-F]{2})|)")
_INDEX: Final = re.compile(r"(?a)0|[1-9]\d*")
_AS_LINES: Final = "read it with #line="


class _Misfit(Exception):
    """What is wrong, worded to follow the id of the payload."""


def select(text: str, reference: Reference) -> str:
    """The slice of source text ``text`` that ``reference.selector`` names, as source text; all of it without one.

    Raises InvalidReference when the selector is malformed or does not fit the payload; the message names the
    nearest step that does, and nothing near is returned. Linear in the text.
    """
    selector = reference.selector
    if not selector:
        return text
    kind, _, value = selector.partition("=")
    try:
        return _pointed(text, selector) if selector.startswith("/") else _SELECTORS[kind](text, value)
    except _Misfit as misfit:
        message = f"{reference.id}{misfit}; nothing near it is returned"
        raise InvalidReference(message, reference=reference.id) from None


# ---------------------------------------------------------------- lines and characters


def _lines(text: str, value: str) -> str:
    newline = _newline(text)
    count = text.count(newline) + (not text.endswith(newline))
    start, stop = _range("line", value, count if text else 0)
    begin = _after(text, newline, start)
    return text[begin:] if stop == count else text[begin : _after(text, newline, stop)]


def _newline(text: str) -> str:
    return "\n" if "\n" in text else "\r"


def _after(text: str, mark: str, count: int) -> int:
    """The offset after the ``count``-th ``mark``, one character. Halving, so that no list of all is made: linear."""
    low, high = 0, len(text)
    while high - low > 64 and count:
        middle = (low + high) // 2
        before = text.count(mark, low, middle)
        if before < count:
            low, count = middle, count - before
        else:
            high = middle
    for _ in range(count):
        low = text.index(mark, low) + 1
    return low


def _characters(text: str, value: str) -> str:
    decoded = text if text.isascii() else text.encode("latin-1").decode("utf-8", "surrogateescape")
    start, stop = _range("char", value, len(decoded))
    return source(decoded[start:stop].encode("utf-8", "surrogateescape"))


def _range(kind: str, value: str, size: int) -> tuple[int, int]:
    """The two positions of RFC 5147, 0 to ``size``, with something between them."""
    what = "lines" if kind == "line" else "characters"
    first, comma, last = value.partition(",")
    start = int(first or 0)
    stop = int(last) if last else (size if comma else start)
    if max(start, stop) > size or start == size:
        there = f"the last is #{kind}={size - 1},{size}" if size else "it is empty"
        raise _Misfit(f" has {size} {what}, {there}")
    if start == stop:
        raise _Misfit(f"#{kind}={value} is a place between two {what}; what follows it is #{kind}={start},{start + 1}")
    if start > stop:
        raise _Misfit(f"#{kind}={value} ends before it begins; the other way round it is #{kind}={stop},{start}")
    return start, stop


# ---------------------------------------------------------------- rows, columns, cells


@dataclass(frozen=True, slots=True)
class _Table:
    """``bounds[i - 1]``..``bounds[i]`` is row *i* with its line end; ``delimiter`` '' where cells are not delimited."""

    text: str
    bounds: Sequence[int]
    delimiter: str
    width: int

    @property
    def rows(self) -> int:
        return len(self.bounds) - 1

    def row(self, number: int) -> tuple[list[str], str]:
        """The cells of row ``number`` as they are spelled, and its line end."""
        whole = self.text[self.bounds[number - 1] : self.bounds[number]]
        body = whole.removesuffix("\n").removesuffix("\r")
        return _cells(body, self.delimiter), whole[len(body) :]


def _cells(row: str, delimiter: str) -> list[str]:
    """Slices that joined by ``delimiter`` are the row again."""
    if '"' not in row:
        return row.split(delimiter)
    mark = re.escape(delimiter)
    cells = re.findall(rf'((?:"[^"]*+(?:""[^"]*+)*+")?+[^{mark}]*+)(?:{mark}|\Z)', row)
    return cells if row.endswith(delimiter) else cells[:-1]  # what can be empty is found once more at the end


def _table(text: str) -> _Table:
    newline, start = _newline(text), 3 if text.startswith("\xef\xbb\xbf") else 0
    document = TABULAR.split(text)
    if document is not None and isinstance(reader := document.groups[0].reader, Rows):
        delimiter, width = reader.shape.delimiter, reader.shape.width
        if reader.shape.kind == "vertical":  # a row is a record, and where the last one ends is known
            end = text.find(newline, reader.stops[-1]) + 1 or len(text)
            return _Table(text, [*reader.starts, end], "", width)
        return _Table(text, _bounds(text, newline, delimiter, start), delimiter, width)
    for delimiter in "\t,;|" if len(text) <= SMALL and text[start : start + 1] not in "{[" else "":
        found = _Table(text, _bounds(text, newline, delimiter, start), delimiter, 0)
        widths = [len(cells) for cells, _ in map(found.row, range(1, found.rows + 1)) if cells != [""]]
        if len(widths) > 1 and len(set(widths)) == 1 and widths[0] > 1:
            return _Table(text, found.bounds, delimiter, widths[0])
    raise _Misfit(f" is no table, it has no rows and columns; {_AS_LINES}")


def _bounds(text: str, newline: str, delimiter: str, start: int) -> list[int]:
    """Where each row begins, and the end of the text. Empty lines, which `row_spans` leaves out, are rows here."""
    bounds, at = [], start
    for first, last in zip(*row_spans(text, newline, delimiter, start), strict=True):
        while at < first:
            bounds.append(at)
            at = text.index(newline, at) + 1
        bounds.append(at)
        at = text.find(newline, last) + 1 or len(text)
    while at < len(text):
        bounds.append(at)
        at = text.find(newline, at) + 1 or len(text)
    return [*bounds, len(text)]


def _rows(text: str, value: str) -> str:
    table = _table(text)
    spans = _spans("row", value, table.rows)
    return "".join(text[table.bounds[first - 1] : table.bounds[last]] for first, last in spans)


def _columns(text: str, value: str) -> str:
    table = _delimited(text)
    spans = _spans("col", value, table.width)
    out = []
    for number in range(1, table.rows + 1):
        cells, end = table.row(number)
        out += [table.delimiter.join([cell for a, b in spans for cell in cells[a - 1 : b]]), end]
    return "".join(out)


def _regions(text: str, value: str) -> str:
    table = _delimited(text)
    end = "\r\n" if "\r\n" in text[:SMALL] else _newline(text)
    regions = [_corners(table, region) for region in value.split(";")]
    if sum(bottom - top for top, _, bottom, _ in regions) > table.rows:  # else the answer could outgrow the payload
        raise _Misfit(" has fewer rows than these regions together; read several columns with #col=1;3")
    return end.join([row for region in regions for row in _region(table, *region)])


def _corners(table: _Table, region: str) -> tuple[int, int, int, int]:
    """Top, left, bottom, right; 1-based, inclusive."""
    corners = [corner.split(",") for corner in region.split("-")]
    if len(corners) > 2:
        first = "-".join(region.split("-")[:2])
        raise _Misfit(f"#cell={region} has more than two corners; write #cell={first}")
    top, bottom = (_position("row", corner[0], table.rows) for corner in (corners[0], corners[-1]))
    left, right = (_number(corner[1], table.width) for corner in (corners[0], corners[-1]))
    if top > bottom or left > right:
        rows, columns = sorted((top, bottom)), sorted(max(1, min(column, table.width)) for column in (left, right))
        turned = f"#cell={rows[0]},{columns[0]}-{rows[1]},{columns[1]}"
        raise _Misfit(f"#cell={region} ends before it begins; with its upper left corner first it is {turned}")
    return top, left, bottom, right


def _region(table: _Table, top: int, left: int, bottom: int, right: int) -> list[str]:
    rows = []
    for number in range(top, bottom + 1):
        cells, _ = table.row(number)
        if not 1 <= left <= right <= len(cells):
            raise _Misfit(f" has {len(cells)} cells in row {number}, #cell={number},1 to #cell={number},{len(cells)}")
        rows.append(table.delimiter.join(cells[left - 1 : right]))
    return rows


def _delimited(text: str) -> _Table:
    table = _table(text)
    if not table.delimiter:
        raise _Misfit(" is a table whose cells no delimiter parts; read whole rows of it with #row=")
    return table


def _spans(kind: str, value: str, size: int) -> list[tuple[int, int]]:
    """RFC 7111's list of positions and ranges, 1-based and inclusive: in order, those that touch as one."""
    merged: list[tuple[int, int]] = []
    wanted = [part.partition("-") for part in value.split(";")]
    for first, last in sorted((_position(kind, a, size), _position(kind, b or a, size)) for a, _, b in wanted):
        if first > last:
            raise _Misfit(f"#{kind}={first}-{last} ends before it begins; write #{kind}={last}-{first}")
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _number(position: str, size: int) -> int:
    return size if position == "*" else int(position)


def _position(kind: str, position: str, size: int) -> int:
    number = _number(position, size)
    if not 1 <= number <= size:
        what = "rows" if kind == "row" else "columns"
        raise _Misfit(f" has {size} {what}, counted from 1: #{kind}=1 to #{kind}={size}")
    return number


_SELECTORS: Final[dict[str, Callable[[str, str], str]]] = {
    "line": _lines,
    "char": _characters,
    "row": _rows,
    "col": _columns,
    "cell": _regions,
}


# ---------------------------------------------------------------- JSON Pointer


def _pointed(text: str, selector: str) -> str:
    steps = _steps(selector)
    if not depth_ok(text):
        raise _Misfit(f" is no JSON, or nests deeper than {MAX_DEPTH}: no pointer leads into it; {_AS_LINES}")
    walk = _Walk(text, steps)
    try:
        at = walk.blank(3 if text.startswith("\xef\xbb\xbf") else 0)
        at = walk.blank(walk.value(at, 0))
    except (ValueError, IndexError):
        raise _Misfit(f" is no JSON document: no pointer leads into it; {_AS_LINES}") from None
    if at != len(text):
        raise _Misfit(f" holds more than one JSON document, and a pointer leads into one only; {_AS_LINES}")
    if walk.miss:
        raise _Misfit(walk.miss)
    return text[walk.start : walk.stop]


def _steps(selector: str) -> list[str]:
    """The pointer's reference tokens as source text: percent-decoded first, then cut, then unescaped (RFC 6901, 6)."""
    written = source(selector.encode("utf-8", "surrogatepass"))
    if any(m[1] is None for m in _PERCENT.finditer(written)):
        raise _Misfit("# is followed by a pointer with a bare % in it; write %25 for a percent sign")
    pointer = _PERCENT.sub(lambda m: chr(int(m[1], 16)), written)
    if re.search(r"~(?![01])", pointer):
        raise _Misfit("# is followed by a pointer with a bare ~ in it; write ~0 for a tilde and ~1 for a slash")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


@dataclass(slots=True)
class _Walk:
    """One pass over the document: each byte is scanned once, the containers that the pointer enters member by member.

    ``miss``: why the pointer does not fit, '' as long as it does. The pass goes on all the same: whether this is
    one document at all is known at its end. ``large``: the member before was, so this one may be.
    """

    text: str
    steps: list[str]
    start: int = 0
    stop: int = 0
    miss: str = ""
    large: bool = True

    def blank(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        assert found is not None
        return found.end()

    def value(self, at: int, level: int) -> int:
        """Follows the pointer from step ``level`` on into the value at ``at``; returns where the value stops."""
        opening = self.text[at]
        if level < len(self.steps) and opening in "[{":
            return self.members(at, level, self.steps[level])
        stop = _scan(self.text, at)[1]
        if level < len(self.steps):
            what = {'"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(opening, "number")
            self.miss = f"{self.path(level)} is a {what}, which has nothing inside"
        else:
            self.start, self.stop = at, stop
        return stop

    def members(self, at: int, level: int, step: str | None) -> int:
        """Walks the members of the container at ``at``, following the one that ``step`` names (None: none)."""
        text, in_object = self.text, self.text[at] == "{"
        close, count, met = "}" if in_object else "]", 0, 0
        at, self.large = self.blank(at + 1), True
        while text[at] != close or count:
            key, at = self.key(at) if in_object else (str(count), at)
            before, count = at, count + 1
            follow = self.value if key == step and not met else self.neighbour
            at = follow(at, level + 1)
            met += key == step
            at, self.large = self.blank(at), at - before > LATE
            if text[at] == close:
                break
            if text[at] != ",":
                raise ValueError("neither a comma nor the end")
            at = self.blank(at + 1)
        if step is not None and met != 1:
            self.miss = self.path(level) + _missed(step, in_object, count, met)
        return at + 1

    def neighbour(self, at: int, level: int) -> int:
        """Where a value stops that the pointer does not enter."""
        if self.large and level <= WALKED and self.text[at] in "[{" and len(self.text) - at > LATE:
            return self.members(at, level, None)
        return _scan(self.text, at)[1]

    def key(self, at: int) -> tuple[str, int]:
        """The key at ``at``, decoded, as source text, and where its value starts."""
        text = self.text
        if text[at] != '"':
            raise ValueError("no key")
        stop = _scan(text, at)[1]
        key, after = text[at + 1 : stop - 1], self.blank(stop)
        if text[after] != ":":
            raise ValueError("no colon")
        return (_ESCAPES.sub(_unescaped, key) if "\\" in key else key), self.blank(after + 1)

    def path(self, level: int) -> str:
        """The part of the pointer that leads to ``level``: key names that the caller gave and the payload has."""
        from urllib.parse import quote

        steps = [step.replace("~", "~0").replace("/", "~1").encode("latin-1") for step in self.steps[:level]]
        return "".join(["#", *("/" + quote(step, safe="~!$&'()*+,;=:@") for step in steps)])


def _unescaped(found: re.Match[str]) -> str:
    return source(json.loads(f'"{found[0]}"').encode("utf-8", "surrogatepass"))


def _missed(step: str, in_object: bool, count: int, met: int) -> str:
    if met:
        return " has the key that comes next twice, so a pointer cannot tell which; ask for the object around it"
    if in_object:
        return f" is an object of {count} members, none of them by the name that comes next; names are told by case"
    there = f" has {count} elements, 0 to {count - 1}" if count else " is an empty array"
    return there if _INDEX.fullmatch(step) else f"{there}: what comes next is no such number"
