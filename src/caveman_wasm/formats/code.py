"""Source code: imports, signatures, types, constants and the heads of doc comments stay; bodies give way.

A statement is rails with blocks between (code_lines.py): rails are literal, blocks are groups of units. In a type or a
namespace, and at the top, statements are units, the ones with blocks to be entered; in a body lines are, but for
definitions and long blocks in it.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from caveman_wasm.formats.code_lines import COMMENT, COPY, STRING, Item, Source, items_of
from caveman_wasm.formats.code_names import TUPLE, Names, Tuples
from caveman_wasm.formats.languages import guess
from caveman_wasm.model import Document, Group, Rewritten, plain

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
_WORDY: Final = re.compile(r"[A-Za-z0-9\x80-\xff]")
_TELLING: Final = re.compile(  # a class comes first: the search skips what cannot begin a match
    r"[TFXHBrtpEeadgfRS](?:(?<=\b.)(?:ODO(?<=TODO)\b|IXME(?<=FIXME)\b|XX(?<=XXX)\b|ACK(?<=HACK)\b|UG(?<=BUG)\b"
    r"|aise(?<=raise)\b|hrow(?<=throw)\b|anic(?<=panic)!?\(|eturn (?<=return )(?:nil, |-1\b|-E[A-Z]+|[\w(&{]*[Ee]rr)"
    r"|rr\((?<=Err\()|rrors\.New(?<=errors\.New)|rrorf\((?<=Errorf\()|bort\((?<=abort\()|ie[ (](?<=die.)"
    r"|oto (?<=goto )\w*(?:fail|err|bad|out)|xit(?<=exit)\(?\s*-?[1-9]|ail\((?<=fail\())"
    r"|AISE EXCEPTION(?<=RAISE EXCEPTION)|IGNAL SQLSTATE(?<=SIGNAL SQLSTATE))",
    re.ASCII,
)
_PIECES: Final = re.compile(rf"[^\n]{{{PIECE}}}(?:[^\n;}},]{{0,{PIECE}}}(?:[;}},][)}}\];,]*+|(?![;}},])))|[^\n]+")
_DOC: Final = re.compile(r"[rRuUbB]{0,2}(?:\"|')")
_LICENCE: Final = re.compile(r"(?i)copyright|licen[cs]e|spdx|all rights reserved")
_CLOSES_COMMENT: Final = re.compile(r"[ \t]*(?:\*+/|-->|\"\"\"|'''|=end)[ \t]*$")
_INSERT: Final = re.compile(r"\s*insert\s+into\s+([\w.\"`\[\]]+)\s*(?:\(([^()]*)\))?", re.ASCII | re.IGNORECASE)


# ---------------------------------------------------------------- groups


class _Cutter:
    """Makes groups of a source's statements."""

    def __init__(self, source: Source) -> None:
        self.source, self.language = source, source.language

    # ---- the top, namespaces, types

    def members(self, first: int, last: int, heading: str, depth: int, noun: str) -> list[Group]:
        """Statements as units: those with blocks are entered, declarations are pinned."""
        source, items = self.source, items_of(self.source, first, last)
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
        group.reader = Names([self._defining(item) for item in items])
        return [_with_rows(group, rows, source.text)] if rows else [group]

    def _kind(self, item: Item, declares: bool, size: int) -> Literal["", "imports", "definition", "constants"]:
        if item.code == item.last:
            return ""
        said = self.source.words[self._head(item)]
        if self.language.imports.match(said):
            return "imports"
        if self.language.definition.match(said):
            return "definition" if size <= SIGNATURE else ""
        return "constants" if (declares or self.language.constant.match(said)) and size <= CONSTANT else ""

    def _defining(self, item: Item) -> str:
        """The line that defines something, '' where a statement does not."""
        said = self.source.words[self._head(item)] if item.rails else ""
        defines = self.language.definition.match(said) or self.language.constant.match(said)
        return said if defines and not self.language.imports.match(said) else ""

    def _head(self, item: Item) -> int:
        """The line that says what a statement is: its first one below the decorators."""
        for rail in item.rails:
            said = self.source.words[rail]
            if not self.language.decorator.match(said) and said[:1] not in ")]}":
                return rail
        return item.rails[0]

    # ---- one statement

    def parts(self, item: Item, heading: str, depth: int) -> list[Group]:
        """The groups inside a statement: the rest of its comment, its blocks; none when it is too small to cut."""
        source, groups = self.source, self.comment(item.first, item.code, heading)
        if item.code == item.last:
            return groups
        head = self._head(item)
        said = _joined(source, item, head)
        named = f"{heading} › {_named(said)}" if heading else _named(said)
        if self.language.name == "sql" and (rows := self._rows(item, said)):
            return [*groups, rows]
        if source.masked[item.code][:1] == STRING and self.language.doc_inside:
            return [*groups, *self.comment(item.code, item.last, heading)]
        for rail in item.rails:
            if len(source.lines[rail]) > LONG_LINE:
                groups += self.pieces(rail, named)
        if depth >= DEPTH:
            return groups
        for rail, first, last in item.blocks():
            groups += self.block(item, rail, first, last, said, named, depth)
        return sorted(groups, key=lambda g: g.starts[0])

    def block(self, item: Item, rail: int, first: int, last: int, said: str, heading: str, depth: int) -> list[Group]:
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
        if first >= last or not _DOC.match(source.words[first]):
            return [], first
        if source.masked[first].strip("rRuUbB " + STRING + COMMENT):
            return [], first  # a string that something is done with
        stop = first + 1
        while stop < last and source.inside[stop]:
            stop += 1
        return self.comment(first, stop, heading), source.next(stop)

    def comment(self, first: int, last: int, heading: str) -> list[Group]:
        """What follows the first line with words in it, less the closing line: paragraphs; a licence is one unit."""
        source = self.source
        if first >= last:
            return []
        head = first
        while head < last and not _WORDY.search(source.lines[head]):
            head += 1
        stop = last - 1 if _CLOSES_COMMENT.match(source.lines[last - 1]) else last
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
        mixed = False
        children: dict[int, list[Group]] = {}
        size = source.size(first, last)
        worth = WORTH if size and _TELLING.search(source.text, *source.span(first, last)) else 0
        for item in items_of(source, first, last) if size > NESTED else [Item(first, first, last, [])]:
            inside = self.parts(item, heading, depth) if size > NESTED and self._enters(item) else []
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
                line = source.lines[i]
                if len(line) > LONG_LINE:
                    children[len(starts)] = self.pieces(i, heading)
                elif worth and _TELLING.search(line):
                    children[len(starts)] = _later(*source.span(i, i + 1), "lines", 2)
                    worth -= 1
                starts.append(source.at[i])
                stops.append(source.at[i] + len(line))
        noun = "parts" if mixed else "lines"
        group = Group(starts, stops, "outline", noun, heading=heading, children=children)
        return [group] if starts else []

    def _enters(self, item: Item) -> bool:
        size = self.source.size(item.first, item.last)
        if size <= NESTED or item.code == item.last:
            return False
        return size > LONG_BLOCK or self.language.definition.match(self.source.words[self._head(item)]) is not None

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

    def _rows(self, item: Item, said: str) -> Group | None:
        """The rows of one INSERT with many, or of a COPY, as records."""
        source, copied = self.source, COPY.match(said)
        named = _INSERT.match(said)
        if not named and not copied:
            return None
        if copied:
            rows = [i for i in range(item.code + 1, item.last - 1) if not source.blank[i]]
        else:
            lines = range(item.code, item.last)
            rows = [i for i in lines if source.words[i][:1] == "(" and TUPLE.match(source.lines[i])]
            if rows and rows[-1] - rows[0] + 1 != len(rows):
                return None  # something else stands between
        if len(rows) < ROWS or max(len(source.lines[i]) for i in rows) > 8 * LONG_LINE:
            return None
        group = Group([source.at[i] for i in rows], [source.span(i, i + 1)[1] for i in rows], "records", "rows")
        group.heading = _named(said)
        group.reader = None if copied else Tuples(source.text, group.starts, group.stops, (named and named[2]) or "")
        return group

    def _inserts(self, items: list[Item]) -> list[tuple[int, int, str]]:
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

    def _single_insert(self, item: Item) -> tuple[str, str] | None:
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
            rows.reader = Tuples(text, rows.starts, rows.stops, columns)
            children[len(starts)] = [rows]
            starts.append(group.starts[first])
            stops.append(group.stops[last - 1])
        at = last
    return Group(starts, stops, group.mode, group.noun, heading=group.heading, children=children, pinned=pinned)


def _joined(source: Source, item: Item, head: int) -> str:
    """The header from line ``head`` through the rails that belong to it, as one line."""
    said = source.words[head]
    for rail in item.rails:
        if rail > head and len(said) < 300 and rail < head + 12:
            if source.masked[rail][:1] in "}{" or source.language.goes_on.match(source.words[rail]):
                break
            said += " " + source.words[rail]
            if source.opens[rail] == "{":
                break
    return said


def _named(said: str) -> str:
    """A header as a heading: without what opens its block, 80 characters at most."""
    return plain(said).partition("{")[0].rstrip(" :(=[")[:80].strip() or plain(said)[:80].strip()


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
        groups = _Cutter(Source(text, newline, language)).members(0, text.count(newline) + 1, "", 0, "parts")
        return Document(text, self.name, groups, len(text), newline=newline, target=_target(text)) if groups else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """A bare line, also where it stands within one."""
        return f"\n{sentence}\n" if group.noun == "pieces" else sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:4096] else document.newline
        return ("" if document.text.endswith(("\n", "\r")) else newline) + sentence + newline


CODE: Final = Code()
