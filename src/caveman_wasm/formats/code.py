"""Source code: imports, signatures, types, constants and the heads of doc comments stay; bodies give way.

Every line gets a level: the depth of its brackets, or its indentation, as the table of languages says. What
follows a line on deeper levels is its block; lines on its own level that close the block or go on after it
(``} else {``, ``end``) are its further *rails*. So a statement is rails with blocks between, whatever the
language: rails are literal, blocks are groups of units. In a type or a namespace, and at the top, statements are
units, the ones with blocks to be entered; in a body lines are, but for definitions and long blocks in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Final, Literal

from caveman_wasm.formats.languages import Language, guess
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Document, Group, Number, Rewritten, Value, plain

__all__ = ["CODE"]

SMALL: Final = 144  # bytes; a smaller block costs as much as its marker (select.SHORT_RUN)
NESTED: Final = 400  # bytes from which a definition in a body is entered
LONG_BLOCK: Final = 2_000  # … and any other block in a body
LONG_LINE: Final = 600  # bytes from which a line is cut into pieces
PIECE: Final = 300  # bytes of a piece
DEPTH: Final = 5  # blocks in blocks; the core takes 8, `_later` adds two
IMPORTS: Final = 1_500  # bytes of import lines that stay before others
FIELDS: Final = 2_000  # bytes of constants, and of fields of a type
CONSTANT: Final = 200  # bytes of one constant
SIGNATURE: Final = 1_000  # bytes of parameters that stay whole
WORTH: Final = 3  # lines with a failure or a TODO kept of one body
ROWS: Final = 6  # rows of data from which they are records
_SPACE: Final = " \t\r\n\f\v"
_COMMENT: Final = "\x01"  # stands for a comment's characters where structure is looked for
_STRING: Final = "\x02"  # … and for a string's
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"()[]{}\n"))
_NOT_NEWLINE: Final = re.compile(r"[^\n]")
_WORDY: Final = re.compile(r"[A-Za-z0-9\x80-\xff]")

_JOINS: Final = re.compile(r"(?:where|throws|noexcept|const|override|->|=>|[.:?&|+=)])", re.ASCII)
_OPEN_END: Final = re.compile(r"[\w*&>=]$", re.ASCII)
_BRANCH: Final = re.compile(r"[ \t]*#[ \t]*(?:(if)|(el)|(endif))", re.ASCII)
_TELLING: Final = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|BUG)\b|\braise\b|\bthrow\b|\bpanic!?\(|\breturn (?:nil, |-1\b|-E[A-Z]+|[\w(&{]*[Ee]rr)"
    r"|\bErr\(|\berrors\.New|\bErrorf\(|\babort\(|\bdie[ (]|\bgoto \w*(?:fail|err|bad|out)|\bexit\(?\s*-?[1-9]|\bfail\("
    r"|RAISE EXCEPTION|SIGNAL SQLSTATE",
    re.ASCII,
)
_PIECES: Final = re.compile(rf"[^\n]{{{PIECE}}}(?:[^\n;}},]{{0,{PIECE}}}(?:[;}},][)}}\];,]*+|(?![;}},])))|[^\n]+")
_DOC: Final = re.compile(r"[rRuUbB]{0,2}(?:\"|')")
_LICENCE: Final = re.compile(r"(?i)copyright|licen[cs]e|spdx|all rights reserved")
_CLOSES_COMMENT: Final = re.compile(r"[ \t]*(?:\*+/|-->|\"\"\"|'''|=end)[ \t]*$")
_INSERT: Final = re.compile(r"\s*insert\s+into\s+([\w.\"`\[\]]+)\s*(?:\(([^()]*)\))?", re.ASCII | re.IGNORECASE)
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
_COPY: Final = re.compile(r"copy\s+[^;]*from\s+stdin\b[^;]*;", re.ASCII | re.IGNORECASE)
_TUPLE: Final = re.compile(r"(?:insert\s.*?\bvalues)?\s*\((.*)\)[,;]?\s*$", re.ASCII | re.DOTALL | re.IGNORECASE)
_CELL: Final = re.compile(r"\s*(?:'((?:[^'\\]|'')*+)'|(-?[\w.]+))\s*(?:,|\Z)", re.ASCII)


# ---------------------------------------------------------------- lines and their levels


class _Source:
    """The lines of a text. ``levels[i]`` is line i's depth in blocks, ``opens[i]`` the
    bracket it leaves open ('' for none), ``lows[i]`` the least depth of brackets in it."""

    def __init__(self, text: str, newline: str, language: Language) -> None:
        self.text, self.language = text, language
        lines = text.split(newline)
        self.at = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self.lines = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        masked, self.inside = _mask(text if newline == "\n" else text.replace(newline, "\n"), language)
        self.masked = [line.strip(_SPACE) for line in masked.split("\n")]
        self.blank = [not line.strip(_SPACE) for line in self.lines]
        self.comment = [bool(m) and not m.strip(_COMMENT + _SPACE) for m in self.masked]
        self.indents = [len(line) - len(line.lstrip(" \t")) for line in map(str.expandtabs, self.lines)]
        effects = list(map(_effect, masked.translate(dict.fromkeys(_NO_BRACKETS)).split("\n")))
        self.opens = [effect[2] for effect in effects]
        before = accumulate((end for _, end, _ in effects), initial=0)
        self.lows = [depth + low for depth, (low, _, _) in zip(before, effects, strict=False)]
        self.levels = _levels(self, effects)
        self.following = self._following()

    def _following(self) -> list[int]:
        """For each line the first one from it on that is not blank."""
        following, after = [0] * len(self.blank), len(self.blank)
        for i in range(len(self.blank) - 1, -1, -1):
            after = after if self.blank[i] else i
            following[i] = after
        return following

    def next(self, i: int) -> int:
        return self.following[i] if i < len(self.following) else i

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Start of line ``first`` and end of line ``last - 1`` without its line end."""
        return self.at[first], self.at[last - 1] + len(self.lines[last - 1])

    def size(self, first: int, last: int) -> int:
        start, stop = self.span(first, last) if last > first else (0, 0)
        return stop - start

    def word(self, i: int) -> str:
        return self.lines[i].strip(_SPACE)[:400]


def _mask(text: str, language: Language) -> tuple[str, list[bool]]:
    """The text with comments and strings blotted out, and for each line whether it begins inside of one."""
    pieces, at, inside, line = [], 0, [False] * (text.count("\n") + 1), 0
    for found in language.skip.finditer(text):
        start, stop = found.span()
        piece, sign = found[0], _COMMENT if found.lastindex and found[1] is not None else _STRING
        pieces.append(text[at:start])
        lines = piece.count("\n")
        if lines:
            line += text.count("\n", at, start)
            whole = lines - piece.endswith("\n")
            inside[line + 1 : line + 1 + whole] = [True] * whole
            line += lines
            pieces.append(_NOT_NEWLINE.sub(sign, piece))
        else:
            line += text.count("\n", at, start)
            pieces.append(sign * len(piece))
        at = stop
    pieces.append(text[at:])
    return "".join(pieces), inside


@cache
def _effect(brackets: str) -> tuple[int, int, str]:
    """Least depth within a line, depth after it (both relative), and the last bracket left open."""
    depth = low = 0
    opened: list[str] = []
    for bracket in brackets[:400]:
        if bracket in "([{":
            depth += 1
            opened.append(bracket)
        else:
            depth -= 1
            low = min(low, depth)
            if opened:
                opened.pop()
    return low, depth, opened[-1] if opened else ""


def _levels(source: _Source, effects: list[tuple[int, int, str]]) -> list[int]:
    kind = source.language.blocks
    if kind == "brackets":
        for branches in (False, True):
            levels, end = _by_brackets(source, effects, branches)
            if levels is not None and (end == 0 or _plausible(source, levels)):
                return levels
    return _by_indents(source, effects if kind == "indentation" else None)


def _by_brackets(source: _Source, effects: list[tuple[int, int, str]], branches: bool) -> tuple[list[int] | None, int]:
    """Levels by brackets and the depth at the end; None where more are closed than opened.

    ``branches``: of ``#if`` … ``#else`` … ``#endif`` only the first branch counts.
    """
    levels, depth, other, ifs = [], 0, 0, 0
    for i, (low, end, _) in enumerate(effects):
        if branches and source.lines[i][:1] in "# \t":
            found = _BRANCH.match(source.lines[i])
            if found and found[1]:
                ifs += 1
                other += other > 0
            elif found and found[2] and not other:
                other = 1
            elif found and found[3]:
                other -= other > 0
        if other:
            low = end = 0
        closes = source.masked[i][:1] in ")]}" if source.masked[i] else False
        levels.append(depth + (source.inside[i] or (low if closes else 0)))
        depth += end
        if depth < 0:
            return None, depth
    return levels, depth


def _plausible(source: _Source, levels: list[int]) -> bool:
    """Whether hardly any line that is not indented lies in a block, as after a bracket that was missed."""
    flush = [
        level for i, level in enumerate(levels)
        if not source.indents[i] and source.masked[i][:1].isalpha() and not source.inside[i]
    ]  # fmt: skip
    return 5 * sum(level > 0 for level in flush) <= len(flush)


def _by_indents(source: _Source, effects: list[tuple[int, int, str]] | None) -> list[int]:
    """Levels by indentation; with ``effects``, open brackets hold a statement together whatever the indentation."""
    levels, base, depth = [0] * len(source.lines), 0, 0
    for i, indent in enumerate(source.indents):
        low, end, _ = effects[i] if effects else (0, 0, "")
        if source.inside[i]:
            levels[i] = base + (source.language.ends != "never" or source.lines[i][:1] != "$")  # a body's closing $$
        elif depth > 0:
            levels[i] = base + (depth + low > 0 or source.masked[i][:1] not in ")]}")
        elif not source.blank[i]:
            base = levels[i] = indent
        depth = max(0, depth + end)
    below = 0
    for i in range(len(levels) - 1, -1, -1):  # a comment, or a #directive, belongs to what it stands above
        if source.blank[i] or source.inside[i]:
            continue
        if source.comment[i] or (source.language.blocks == "brackets" and source.masked[i][:1] == "#"):
            levels[i] = max(levels[i], below)
        below = levels[i]
    return levels


# ---------------------------------------------------------------- statements


@dataclass(slots=True)
class _Item:
    """A statement: lines ``first`` to ``last``; comments up to ``code``; the numbers of its rails from there."""

    first: int
    code: int
    last: int
    rails: list[int]

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """(rail, first line, last line exclusive) of each block."""
        for rail, after in zip(self.rails, [*self.rails[1:], self.last], strict=True):
            if after > rail + 1:
                yield rail, rail + 1, after


def _items(source: _Source, first: int, last: int) -> list[_Item]:
    items = []
    i = source.next(first)
    while i < last:
        code = i
        while code < last and source.comment[code]:
            code += 1
        if code == i + 1 and code < last and source.blank[code]:  # a line of comment titles what follows
            below = source.next(code)
            code = below if below < last and not source.comment[below] else code
        alone = code >= last or source.blank[code] or source.levels[code] < source.levels[i]
        if code > i and alone:
            items.append(_Item(i, code, code, []))
        else:
            items.append(_statement(source, i, code, last))
        i = source.next(items[-1].last)
    return items


def _statement(source: _Source, first: int, code: int, last: int) -> _Item:
    language, base, rails = source.language, source.levels[code], [code]
    decorated = language.decorator.match(source.word(code)) is not None
    stop, k = code + 1, source.next(code + 1)
    if language.name == "sql" and _COPY.match(source.word(code)):
        while k < last and source.word(k) != "\\.":
            k += 1
        return _Item(first, code, min(k + 1, last), rails)
    while k < last:
        if source.levels[k] > base:
            if source.opens[rails[-1]] in ("(", "[") and source.lows[k] <= source.lows[rails[-1]]:
                rails.append(k)  # closes what a header has opened, after its last parameter
        elif source.levels[k] == base and (decorated or _goes_on(source, rails, k, blank=k > stop)):
            if decorated and not source.comment[k] and source.masked[k][:1] not in ")]}":
                decorated = language.decorator.match(source.word(k)) is not None
            rails.append(k)
        else:
            break
        stop, k = k + 1, source.next(k + 1)
    return _Item(first, code, stop, rails)


def _goes_on(source: _Source, rails: list[int], k: int, *, blank: bool) -> bool:
    """Whether line k, on the level of a statement, is a part of it. ``blank``: blank lines stand between."""
    language, said, before = source.language, source.masked[k], source.masked[rails[-1]]
    if said[:1] in ")]}":
        return True
    ended = before.rstrip(_COMMENT + _SPACE)[-1:]
    if said[:1] == "{" and language.blocks == "brackets":
        return ended not in ";}"
    closed = k > rails[-1] + 1 or len(rails) > 1 or language.ends == "never"
    if closed and language.goes_on.match(said) and not source.comment[k]:
        return True
    if language.ends == "never":
        return _still_open(source, rails[-1], k)
    if language.blocks != "brackets" or blank or source.comment[k] or source.comment[rails[-1]]:
        return False
    if ended in ";,{}:" or before[:1] == "#" or before[:1] == _STRING or said[:1] == "#":
        return ended == "," and source.indents[k] > source.indents[rails[0]] and len(rails) < 3
    if source.indents[k] > source.indents[rails[0]] or _JOINS.match(said):
        return True
    return language.ends == "semicolon" and ended != ")" and _OPEN_END.search(before) is not None


def _still_open(source: _Source, rail: int, k: int) -> bool:
    """Whether no line from ``rail`` to before ``k`` ends with a semicolon: the last one with code tells."""
    i = k - 1
    while i > rail and (source.blank[i] or source.comment[i]):
        i -= 1
    return not source.masked[i].rstrip(_COMMENT + _SPACE).endswith(";") and not source.comment[i]


# ---------------------------------------------------------------- groups


class _Cutter:
    """Makes groups of a source's statements."""

    def __init__(self, source: _Source) -> None:
        self.source, self.language = source, source.language

    # ---- the top, namespaces, types

    def members(self, first: int, last: int, heading: str, depth: int, noun: str) -> list[Group]:
        """Statements as units: those with blocks are entered, declarations are pinned."""
        source, items = self.source, _items(self.source, first, last)
        if not items:
            return []
        rows = self._inserts(items) if self.language.name == "sql" else []
        children: dict[int, list[Group]] = {}
        pinned, room = [], {"imports": IMPORTS, "constants": max(FIELDS // 4, min(FIELDS, len(source.text) // 15))}
        for i, item in enumerate(items):
            inside = self.parts(item, heading, depth)
            size = source.size(item.code, item.last)
            if inside:
                children[i] = inside
                continue
            kind = self._kind(item, depth > 0 or self.language.declares, size)
            room[kind] = room.get(kind, 0) - size
            if kind == "definition":
                children[i] = _later(*source.span(item.first, item.last), noun, 1)
            elif kind and room[kind] >= 0:
                pinned.append(i)
        spans = [source.span(item.first, item.last) for item in items]
        group = Group([a for a, _ in spans], [b for _, b in spans], "outline", noun, heading=heading)
        group.children, group.pinned = children, pinned
        group.reader = _Names([self._defining(item) for item in items])
        return [_with_rows(group, rows, source.text)] if rows else [group]

    def _kind(self, item: _Item, declares: bool, size: int) -> Literal["", "imports", "definition", "constants"]:
        if item.code == item.last:
            return ""
        said = self.source.word(self._head(item))
        if self.language.imports.match(said):
            return "imports"
        if self.language.definition.match(said):
            return "definition" if size <= SIGNATURE else ""
        return "constants" if (declares or self.language.constant.match(said)) and size <= CONSTANT else ""

    def _defining(self, item: _Item) -> str:
        """The line that defines something, '' where a statement does not."""
        said = self.source.word(self._head(item)) if item.rails else ""
        defines = self.language.definition.match(said) or self.language.constant.match(said)
        return said if defines and not self.language.imports.match(said) else ""

    def _head(self, item: _Item) -> int:
        """The line that says what a statement is: its first one below the decorators."""
        for rail in item.rails:
            said = self.source.word(rail)
            if not self.language.decorator.match(said) and said[:1] not in ")]}":
                return rail
        return item.rails[0]

    # ---- one statement

    def parts(self, item: _Item, heading: str, depth: int) -> list[Group]:
        """The groups inside a statement: the rest of its comment, its blocks; none when it is too small to cut."""
        source, groups = self.source, self.comment(item.first, item.code, heading)
        if item.code == item.last:
            return groups
        head = self._head(item)
        said = _joined(source, item, head)
        named = f"{heading} › {_named(said)}" if heading else _named(said)
        if self.language.name == "sql" and (rows := self._rows(item, said)):
            return [*groups, rows]
        for rail in item.rails:
            if len(source.lines[rail]) > LONG_LINE:
                groups += self.pieces(rail, named)
        if source.masked[item.code][:1] == _STRING and self.language.doc_inside:
            return [*groups, *self.comment(item.code, item.last, heading)]
        if depth >= DEPTH:
            return groups
        for rail, first, last in item.blocks():
            groups += self.block(item, rail, first, last, said, named, depth)
        return sorted(groups, key=lambda g: g.starts[0])

    def block(self, item: _Item, rail: int, first: int, last: int, said: str, heading: str, depth: int) -> list[Group]:
        source, language = self.source, self.language
        size = source.size(first, last)
        if size <= SMALL:
            return []
        opened, more = source.opens[rail], any(i > rail for i in item.rails if source.opens[i] == "{")
        if (opened in ("(", "[") and language.definition.match(said) and (more or not language.declares)) or (
            language.imports.match(said)
        ):
            return [] if size <= SIGNATURE else [self.lines(first, last, heading, pinned=4)]
        doc: list[Group] = []
        if language.doc_inside and language.definition.match(said):
            doc, first = self._doc(first, last, heading)
        if first >= last:
            return doc
        if language.container.match(said):
            return doc + self.members(first, last, heading, depth + 1, "members")
        return doc + self.body(first, last, heading, depth + 1)

    def _doc(self, first: int, last: int, heading: str) -> tuple[list[Group], int]:
        """The rest of a string that documents what it stands in, and the line after it."""
        source = self.source
        first = source.next(first)
        if first >= last or not _DOC.match(source.word(first)):
            return [], first
        if source.masked[first].strip("rRuUbB " + _STRING + _COMMENT):
            return [], first  # a string that something is done with
        stop = first + 1
        while stop < last and source.inside[stop]:
            stop += 1
        return self.comment(first, stop, heading), source.next(stop)

    def comment(self, first: int, last: int, heading: str) -> list[Group]:
        """What follows the first line with words in it, less the closing line: paragraphs; a licence is one unit."""
        source = self.source
        head = first
        while head < last and not _WORDY.search(source.lines[head]):
            head += 1
        stop = last - 1 if last > first and _CLOSES_COMMENT.match(source.lines[last - 1]) else last
        head = source.next(head + 1)
        if head >= stop or source.size(head, stop) <= SMALL:
            return []
        if not source.following[0] < first and _LICENCE.search(source.text, *source.span(first, stop)):
            start, end = source.span(head, stop)
            return [Group([start], [end], "outline", "notices", heading=heading)]
        return [self.paragraphs(head, stop, heading)]

    def paragraphs(self, first: int, last: int, heading: str) -> Group:
        """Stretches of lines with words, in comments; long ones by line."""
        source = self.source
        bounds: list[tuple[int, int]] = []
        for i in range(first, last):
            if not _WORDY.search(source.lines[i]):
                continue
            joins = bounds and bounds[-1][1] == i and source.size(bounds[-1][0], i + 1) <= LONG_LINE
            if joins:
                bounds[-1] = (bounds[-1][0], i + 1)
            else:
                bounds.append((i, i + 1))
        spans = [source.span(a, b) for a, b in bounds or [(first, last)]]
        return Group([a for a, _ in spans], [b for _, b in spans], "outline", "paragraphs", heading=heading)

    # ---- bodies

    def body(self, first: int, last: int, heading: str, depth: int) -> list[Group]:
        """Lines as units; definitions and long blocks among them are entered."""
        source = self.source
        starts: list[int] = []
        stops: list[int] = []
        telling = 0
        mixed = False
        children: dict[int, list[Group]] = {}
        for item in _items(source, first, last):
            inside = self.parts(item, heading, depth) if self._enters(item) else []
            if inside:
                children[len(starts)] = inside
                mixed = True
                start, stop = source.span(item.first, item.last)
                starts.append(start)
                stops.append(stop)
                continue
            for i in range(item.first, item.last):
                if source.blank[i]:
                    continue
                if len(source.lines[i]) > LONG_LINE:
                    children[len(starts)] = self.pieces(i, heading)
                elif telling < WORTH and _TELLING.search(source.lines[i]):
                    children[len(starts)] = _later(*source.span(i, i + 1), "lines", 2)
                    telling += 1
                starts.append(source.at[i])
                stops.append(source.at[i] + len(source.lines[i]))
        noun = "parts" if mixed else "lines"
        group = Group(starts, stops, "outline", noun, heading=heading, children=children)
        return [group] if starts else []

    def _enters(self, item: _Item) -> bool:
        size = self.source.size(item.first, item.last)
        if size <= NESTED or item.code == item.last:
            return False
        return size > LONG_BLOCK or self.language.definition.match(self.source.word(self._head(item))) is not None

    def lines(self, first: int, last: int, heading: str, pinned: int = 0) -> Group:
        source = self.source
        full = [i for i in range(first, last) if not source.blank[i]]
        spans = [source.span(i, i + 1) for i in full]
        group = Group([a for a, _ in spans], [b for _, b in spans], "outline", "lines", heading=heading)
        group.pinned = range(min(pinned, len(full)))
        group.children = {
            n: self.pieces(i, heading) for n, i in enumerate(full) if len(source.lines[i]) > LONG_LINE
        }  # fmt: skip
        return group

    def pieces(self, i: int, heading: str) -> list[Group]:
        """A long line in pieces that end where a statement, a block or an element does."""
        start, stop = self.source.span(i, i + 1)
        spans = [m.span() for m in _PIECES.finditer(self.source.text, start, stop)]
        return [Group([a for a, _ in spans], [b for _, b in spans], "head", "pieces", heading=heading)]

    # ---- rows of data in SQL

    def _rows(self, item: _Item, said: str) -> Group | None:
        """The rows of one INSERT with many, or of a COPY, as records."""
        source, copied = self.source, _COPY.match(said)
        named = _INSERT.match(said)
        if not named and not copied:
            return None
        if copied:
            rows = [i for i in range(item.code + 1, item.last - 1) if not source.blank[i]]
        else:
            lines = range(item.code, item.last)
            rows = [i for i in lines if source.word(i)[:1] == "(" and _TUPLE.match(source.lines[i])]
            if rows and rows[-1] - rows[0] + 1 != len(rows):
                return None  # something else stands between
        if len(rows) < ROWS or max(len(source.lines[i]) for i in rows) > 8 * LONG_LINE:
            return None
        group = Group([source.at[i] for i in rows], [source.span(i, i + 1)[1] for i in rows], "records", "rows")
        group.heading = _named(said)
        group.reader = None if copied else _Tuples(source.text, group.starts, group.stops, (named and named[2]) or "")
        return group

    def _inserts(self, items: list[_Item]) -> list[tuple[int, int, str]]:
        """Runs (first, last, columns) of statements that insert one row each into one table."""
        runs, i = [], 0
        tables = [self._single_insert(item) for item in items]
        while i < len(items):
            k, table = i + 1, tables[i]
            while table and k < len(items) and tables[k] == table:
                k += 1
            if table and k - i >= ROWS:
                runs.append((i, k, table[1]))
            i = k
        return runs

    def _single_insert(self, item: _Item) -> tuple[str, str] | None:
        source = self.source
        if item.code != item.first or item.last != item.code + 1:
            return None
        named = _INSERT.match(source.lines[item.code][:400])
        return (named[1], named[2] or "") if named else None


def _later(start: int, stop: int, noun: str, tiers: int) -> list[Group]:
    """A unit as what is inside of it: kept like a unit with blocks, with what stands ``tiers`` deeper than it."""
    group = Group([start], [stop], "outline", noun, pinned=(0,))
    return [group] if tiers == 1 else [Group([start], [stop], "outline", noun, children={0: [group]})]


def _with_rows(group: Group, runs: list[tuple[int, int, str]], text: str) -> Group:
    """``group`` with each run of rows as one unit that holds them."""
    starts: list[int] = []
    stops: list[int] = []
    children: dict[int, list[Group]] = {}
    pinned, at, known = [], 0, set(group.pinned)
    for first, last, columns in [*runs, (len(group), len(group), "")]:
        for i in range(at, first):
            if i in group.children:
                children[len(starts)] = group.children[i]
            if i in known:
                pinned.append(len(starts))
            starts.append(group.starts[i])
            stops.append(group.stops[i])
        if first < last:
            rows = Group(group.starts[first:last], group.stops[first:last], "records", "rows", heading=group.heading)
            rows.reader = _Tuples(text, rows.starts, rows.stops, columns)
            children[len(starts)] = [rows]
            starts.append(group.starts[first])
            stops.append(group.stops[last - 1])
        at = last
    return Group(starts, stops, group.mode, group.noun, heading=group.heading, children=children, pinned=pinned)


def _joined(source: _Source, item: _Item, head: int) -> str:
    """The header from line ``head`` through the rails that belong to it, as one line."""
    said = source.word(head)
    for rail in item.rails:
        if rail > head and len(said) < 300 and rail < head + 12:
            if source.masked[rail][:1] in "}{" or source.language.goes_on.match(source.word(rail)):
                break
            said += " " + source.word(rail)
            if source.opens[rail] == "{":
                break
    return said


def _named(said: str) -> str:
    """A header as a heading: without what opens its block, 80 characters at most."""
    return plain(said).partition("{")[0].rstrip(" :(=[")[:80].strip() or plain(said)[:80].strip()


class _Names:
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


class _Tuples:
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
    found = _TUPLE.match(row)
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


def _target(text: str) -> int | None:
    """Bytes to come down to. Where a body's head tells little more than its signature, small files give up more than
    others may (select.budget)."""
    size = len(text)
    return int(max(Code.keep * size, min(0.45 * size, 2700))) + 240 if size > 1024 else None


class Code:
    """The format of programs in any language."""

    name = "code"
    keep = 0.37
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """Statements, in those that are types their members, in functions their lines; None without any."""
        newline = "\n" if "\n" in text or "\r" not in text else "\r"
        language = guess(text)
        groups = _Cutter(_Source(text, newline, language)).members(0, text.count(newline) + 1, "", 0, "parts")
        return Document(text, self.name, groups, len(text), newline=newline, target=_target(text)) if groups else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """A bare line, also where it stands within one."""
        return f"\n{sentence}\n" if group.noun == "pieces" else sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:4096] else document.newline
        return ("" if document.text.endswith(("\n", "\r")) else newline) + sentence + newline


CODE: Final = Code()
