"""Prose in any script: Markdown, reStructuredText, plain text.

The text is cut into sections (a heading and what follows up to the next one), these into blocks, and blocks into
what they are made of: sentences of a paragraph, items of a list, rows of a table, lines of a code fence. What
stays is an outline: preamble, headings, the first sentence of each paragraph, the heads of lists and tables, the
first and last lines of code. Bytes need not be UTF-8; signs of other scripts are looked for in their UTF-8 form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Literal

from caveman_wasm.formats.tabular import Rows, is_rule, pipe_rows
from caveman_wasm.model import Document, Group, Rewritten, plain, source

__all__ = ["TEXT", "Text", "pieces"]

SMALL: Final = 90  # bytes; a paragraph up to this is never cut
PREAMBLE: Final = 1_500  # bytes of front matter, header fields or the opening that always stay
OPENING: Final = 3  # blocks that are no headings and open a text
NESTED: Final = 400  # bytes; list items above this are cut again
LONG: Final = 2_000  # bytes; a sentence above this (a line without an end) is cut at blanks
PIECE: Final = 1_000  # bytes of such a cut
TITLE: Final = 160  # bytes a heading may have when only a rule under it or its letters tell
_SPACE: Final = " \t\r\n\f\v"  # white space of source text: 0x85 and 0xA0 are none

Kind = Literal["heading", "prose", "list", "table", "fence", "lines", "fields"]


def _bytes(*characters: str) -> str:
    """An alternation of characters in their UTF-8 form."""
    return "|".join(re.escape(source(c.encode())) for c in characters)


def _tails(characters: str) -> str:
    """The same alternation for a position behind each character's first byte."""
    return "|".join(f"(?<={c[0]}){c[1:]}" for c in characters.split("|"))


# Full stops of scripts that write no blank after them, and of those that do; a class of bytes comes first in each
# pattern, since only then the search skips what cannot begin a match.
_FULL: Final = _bytes(*"。！？．｡")
_STOPS: Final = _bytes(*"؟۔।॥։።။។…")
_CLOSE: Final = rf"""(?:[)\]"'*_`>]|{_bytes(*"」』）】》”’»")}){{0,6}}+"""
_CLOSE_FULL: Final = rf"(?:[)\]\"]|{_bytes(*'」』）】》”’')}){{0,6}}+(?:[*_`]{{1,3}}(?=[ \t\r\n]))?"
_LATIN: Final = rf"(?<![.!?][.!?])[.!?]*+{_CLOSE}(?=[ \t\r\n])[ \t\r\n]++(?![a-z,;)])"
_SENTENCE_ASCII: Final = re.compile(rf"[.!?]{_LATIN}")
_SENTENCE: Final = re.compile(
    rf"[.!?\xd6\xd8\xdb\xe0-\xe3\xef](?:(?<=[.!?]){_LATIN}"
    rf"|(?<=[\xd6-\xef])(?:{_tails(_STOPS)}){_CLOSE}[ \t\r\n]++"
    rf"|(?<=[\xe3\xef])(?:{_tails(_FULL)}){_CLOSE_FULL}(?!{_FULL}|{_STOPS})[ \t\r\n]*+)"
)
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|e\.g|i\.e|cf|vs|etc|approx|[Nn]o|[Ff]ig|[Ss]ec|[Ee]q|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|al|pp?|z\.B|bzw|M"
    r"|\d{1,3})\.\s*\Z",
    re.ASCII,
)
# A run without a blank is cut too, never within a character: continuation bytes go with the bytes before them.
_PIECES: Final = re.compile(rf"(?s).{{{PIECE}}}[^ \t\r\n]{{0,1000}}+[\x80-\xbf]{{0,3}}+[ \t\r\n]*+|.+")

_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|(?=[^#\s!]))(?=\S)", re.ASCII)
_RULER: Final = re.compile(r"([=\-~^\"'*+#`:._])\1{2,}[ \t]*", re.ASCII)
_ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\xe2\x80\xa2|\(?(?:\d{1,9}|#|[a-zA-Z])[.)])[ \t]+(?=\S)", re.ASCII)
_FENCE: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})", re.ASCII)
_FIELD: Final = re.compile(
    r"[A-Za-z][\w-]*(?: [\w-]+){0,3}:(?:[ \t]|$)|:[\w -]+:|- [A-Z][\w ]*: |\*\*[\w ]+:?\*\*", re.ASCII
)
_NUMBERED: Final = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,5}\.?|[IVXLC]{1,7}\."
    r"|(?i:chapter|part|section|appendix|chapitre|kapitel|art(?:icle|\.)?) [\w.]{1,8})"
    rf"[ \t]+[^.!?]*\Z|{_bytes('第')}.{{1,30}}(?:{_bytes(*'章节節回部')})",
    re.ASCII,
)
_LITERAL: Final = re.compile(
    r"^(?!\.\. ).*::\s*\Z|^\.\. (?:code|sourcecode|parsed-literal|math|raw|doctest|highlight)", re.ASCII
)

# Words of decisions and warnings, as they stand in source text after str.lower (which also turns some bytes).
_WEIGHTY: Final = tuple(
    source(word.encode()).lower()
    for word in [
        *("warning", "caution", "important", "deprecat", "breaking", "decided", "decision", "must", "never", "note:"),
        *("error", "incompatib", "security", "achtung", "wichtig", "attention", "obsolète", "atención", "obligatorio"),
        *(
            "внимание",
            "важно",
            "تحذير",
            "ملاحظة",
            "يجب",
            "مهم",
            "注意",
            "警告",
            "重要",
            "必須",
            "必须",
            "非推奨",
            "弃用",
        ),
    ]
)


@dataclass(slots=True)
class _Block:
    """Lines ``first`` to ``last`` (exclusive) of one kind; ``level`` of a heading, else 0."""

    kind: Kind
    first: int
    last: int
    level: int = 0


class _Lines:
    """The lines of a text: ``at[i]`` is where line i starts; ``bare`` are the lines without their line ends."""

    def __init__(self, text: str, start: int, newline: str) -> None:
        self.text = text
        lines = text[start:].split(newline)
        self.at = list(accumulate(map(len, lines), lambda a, n: a + n + len(newline), initial=start))
        self.gap = len(newline)
        self.bare = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        self.blank = [not line.strip(_SPACE) for line in self.bare]
        self.unclosed: set[str] = set()  # fences that are never closed from here on

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Start of line ``first`` and end of line ``last - 1`` without its line end."""
        return self.at[first], self.at[last - 1] + len(self.bare[last - 1])

    def piece(self, first: int, last: int) -> str:
        start, stop = self.span(first, last)
        return self.text[start:stop]

    def indent(self, i: int) -> int:
        line = self.bare[i]
        return len(line) - len(line.lstrip(" \t"))


# ---------------------------------------------------------------- blocks


def _blocks(lines: _Lines) -> Iterator[_Block]:
    """The blocks of a text in order. Each reader takes the lines it knows; prose takes what is left."""
    i, total = 0, len(lines.bare)
    rules: dict[str, int] = {}
    literal = False  # the block before announces a literal one
    while i < total:
        if lines.blank[i]:
            i += 1
            continue
        block = _preamble(lines, i) if i == 0 else None
        block = block or _heading(lines, i, rules) or _fenced(lines, i)
        block = block or (None if literal and lines.indent(i) else _list(lines, i)) or _table(lines, i)
        block = block or _paragraph(lines, i, literal)
        if block.kind != "lines" or not literal:
            literal = _LITERAL.search(lines.bare[block.last - 1]) is not None
        yield block
        i = block.last


def _preamble(lines: _Lines, i: int) -> _Block | None:
    """Front matter between rules, or header fields, on the first lines."""
    if lines.bare[i] in ("---", "+++"):
        ends = (lines.bare[i], "...")
        close = next((k for k in range(1, min(300, len(lines.bare))) if lines.bare[k] in ends), 0)
        return _Block("fields", i, close + 1) if close else None
    last = _until_blank(lines, i)
    head = lines.bare[i:last]
    if len(head) > 1 and all(_FIELD.match(line) or line[:1] in (" ", "\t") for line in head):
        return _Block("fields", i, last)
    return None


def _until_blank(lines: _Lines, i: int) -> int:
    try:
        return lines.blank.index(True, i)
    except ValueError:
        return len(lines.bare)


def _heading(lines: _Lines, i: int, rules: dict[str, int]) -> _Block | None:
    line = lines.bare[i]
    atx = _ATX.match(line) if line.lstrip(" ").startswith("#") else None
    if atx and len(line) < 4 * TITLE:
        return _Block("heading", i, i + 1, len(atx[1]))
    total = len(lines.bare)
    framed = i + 2 < total and not lines.blank[i + 1] and _RULER.fullmatch(line)
    if framed and lines.bare[i + 2].rstrip(_SPACE) == line.rstrip(_SPACE):
        return _Block("heading", i, i + 3, _level(rules, line[0] * 2))
    under = i + 1 < total and len(line) <= TITLE and lines.bare[i + 1] and _RULER.fullmatch(lines.bare[i + 1])
    if under and len(lines.bare[i + 1]) * 2 >= len(plain(line)) and not _RULER.fullmatch(line):
        return _Block("heading", i, i + 2, _level(rules, lines.bare[i + 1][0]))
    alone = i + 1 >= total or lines.blank[i + 1] or lines.indent(i + 1) > lines.indent(i) == 0
    if alone and len(line) <= 80 and _is_title(line.strip(_SPACE)):
        return _Block("heading", i, i + 1, 4)
    return None


def _level(rules: dict[str, int], sign: str) -> int:
    """Rules under titles rank in the order in which they first appear."""
    return rules.setdefault(sign, min(len(rules) + 1, 6))


def _is_title(line: str) -> bool:
    """A line that stands alone and shouts, or is numbered as chapters are."""
    letters = [c for c in line if c.isascii() and c.isalpha()]
    shouts = len(letters) >= 3 and line[-1] not in ",;|" and sum(map(str.isupper, letters)) * 5 >= len(letters) * 4
    return shouts or _NUMBERED.match(line) is not None


def _fenced(lines: _Lines, i: int, stop: int = -1) -> _Block | None:
    """A fence and what it holds, up to line ``stop``; None where it is not closed before."""
    opened = _FENCE.match(lines.bare[i])
    if opened is None or opened[2] in lines.unclosed:
        return None
    sign = opened[2]
    for k in range(i + 1, len(lines.bare) if stop < 0 else stop):
        line = lines.bare[k].strip(_SPACE)
        if line.startswith(sign) and not line.strip(sign[0]):
            return _Block("fence", i, k + 1)
    if stop < 0:
        lines.unclosed.add(sign)
    return None


def _list(lines: _Lines, i: int) -> _Block | None:
    """Items and what is indented under them, empty lines between them included."""
    item = _ITEM.match(lines.bare[i])
    if item is None or (lines.bare[i][len(item[1])].isalnum() and len(item[1]) > 3):
        return None
    indent, k, last = len(item[1]), i + 1, i + 1
    while k < len(lines.bare):
        if not lines.blank[k]:
            again = _ITEM.match(lines.bare[k])
            inside = lines.indent(k) > indent or (again and len(again[1]) == indent)
            if not inside and (k > last or _breaks(lines, k)):
                break
            last = k + 1
        elif k - last > 3:
            break
        k += 1
    return _Block("list", i, last)


def _breaks(lines: _Lines, k: int) -> bool:
    """Whether a line that is not indented ends the list above it (else it goes on lazily)."""
    line = lines.bare[k]
    return line[:1] in "#|<" or line.startswith(("```", "~~~", ".. ")) or _RULER.fullmatch(line) is not None


def _table(lines: _Lines, i: int) -> _Block | None:
    if i + 1 >= len(lines.bare) or not is_rule(lines.bare[i + 1]) or "|" not in lines.bare[i]:
        return None
    last = i + 2
    while last < len(lines.bare) and "|" in lines.bare[last]:
        last += 1
    return _Block("table", i, last)


def _paragraph(lines: _Lines, i: int, literal: bool) -> _Block:
    """What is left: prose up to an empty line or to something else; lines where it is indented as code is."""
    indent = lines.indent(i)
    if indent and (literal or (indent >= 4 and _is_code(lines, i))):
        last = i + 1
        while last < len(lines.bare) and (lines.blank[last] or lines.indent(last) >= (1 if literal else 4)):
            last += 1
        while lines.blank[last - 1]:
            last -= 1
        return _Block("lines", i, last)
    last = i + 1
    while last < len(lines.bare) and not lines.blank[last] and not _starts(lines, last):
        last += 1
    return _Block("prose", i, last)


def _is_code(lines: _Lines, i: int) -> bool:
    """Whether an indented paragraph reads as code or as verse rather than as indented prose."""
    piece = lines.piece(i, min(_until_blank(lines, i), i + 20))
    return len(piece) < 60 * (piece.count("\n") + 1) or _SENTENCE.search(piece) is None


def _starts(lines: _Lines, k: int) -> bool:
    """Whether a line within a paragraph begins another block."""
    line = lines.bare[k]
    if line[:1] in "`~ ":
        opened = _FENCE.match(line)
        return opened is not None and opened[2] not in lines.unclosed
    if line[:1] == "#" and _ATX.match(line):
        return True
    if line[:1] in "-*+" and _ITEM.match(line):
        return True
    return "|" in line and k + 1 < len(lines.bare) and is_rule(lines.bare[k + 1])


# ---------------------------------------------------------------- what blocks are made of


def _sentences(text: str, start: int, stop: int) -> tuple[list[int], list[int]]:
    """Spans of the sentences in ``text[start:stop]``, white space between them left out."""
    ends, begins = [], [start]
    ascii_only = text[start:stop].isascii()
    for found in (_SENTENCE_ASCII if ascii_only else _SENTENCE).finditer(text, start, stop):
        at = found.start()
        if found.end() >= stop or (text[at] == "." and _ABBREVIATED.search(text[max(start, at - 9) : at + 1])):
            continue
        ends.append(at + len(found[0].rstrip(_SPACE)))
        begins.append(found.end())
    ends.append(stop)
    if max(b - a for a, b in zip(begins, ends, strict=True)) <= LONG:
        return begins, ends
    cut = [_pieces(text, a, b) for a, b in zip(begins, ends, strict=True)]
    return [a for starts, _ in cut for a in starts], [b for _, stops in cut for b in stops]


def _pieces(text: str, start: int, stop: int) -> tuple[list[int], list[int]]:
    """Spans of the pieces of a text without an end, cut at blanks."""
    spans = [m.span() for m in _PIECES.finditer(text, start, stop)]
    return [a for a, _ in spans], [max(a + 1, a + len(text[a:b].rstrip(_SPACE))) for a, b in spans]


def pieces(text: str, start: int, stop: int, heading: str = "") -> list[Group]:
    """A long text without an end as a group of which the first piece stays; none where it is not long."""
    if stop - start <= LONG:
        return []
    starts, stops = _pieces(text, start, stop)
    return [Group(starts, stops, "outline", "pieces", markers="end", heading=heading, pinned=(0,))]


def _weighty(text: str, starts: Sequence[int], stops: Sequence[int]) -> list[int]:
    """The first sentence, and the first one after it that decides or warns."""
    low = text[starts[0] : stops[-1]].lower()
    if not any(map(low.__contains__, _WEIGHTY)):
        return [0]
    for i in range(1, len(starts)):
        sentence = text[starts[i] : stops[i]].lower()
        if any(map(sentence.__contains__, _WEIGHTY)):
            return [0, i]
    return [0]


def _prose(lines: _Lines, block: _Block) -> list[Group]:
    start, stop = lines.span(block.first, block.last)
    if stop - start <= SMALL:
        return []
    starts, stops = _sentences(lines.text, start, stop)
    if len(starts) == 1 and block.last - block.first >= 6:
        return _line_group(lines, block.first, block.last, (0,))
    return [Group(starts, stops, "outline", "sentences", markers="end", pinned=_weighty(lines.text, starts, stops))]


def _line_group(lines: _Lines, first: int, last: int, pinned: Sequence[int]) -> list[Group]:
    """The lines that are not empty, the ones at ``pinned`` (-1: the last) kept."""
    full = [i for i in range(first, last) if not lines.blank[i]]
    if len(full) < 4:
        return [group for i in full for group in pieces(lines.text, *lines.span(i, i + 1))]
    starts, stops = [lines.at[i] for i in full], [lines.at[i] + len(lines.bare[i]) for i in full]
    return [Group(starts, stops, "outline", "lines", pinned=[i % len(full) for i in pinned])]


def _fence_lines(lines: _Lines, block: _Block) -> list[Group]:
    """The lines between the fences; the fences are literal."""
    return _line_group(lines, block.first + 1, block.last - 1, (0, -1)) if block.last - block.first > 2 else []


def _plain_lines(lines: _Lines, block: _Block) -> list[Group]:
    return _line_group(lines, block.first, block.last, (0, -1))


def _table_rows(lines: _Lines, block: _Block) -> list[Group]:
    rows = range(block.first + 2, block.last)
    if len(rows) < 3:
        return []
    starts, stops = [lines.at[i] for i in rows], [lines.at[i] + len(lines.bare[i]) for i in rows]
    reader = pipe_rows(lines.text, starts, stops, lines.bare[block.first])
    return [Group(starts, stops, "head", "rows", reader=reader)]


def _fields(lines: _Lines, block: _Block) -> list[Group]:
    """Front matter and header fields stay whole unless they are long."""
    start, stop = lines.span(block.first, block.last)
    return _line_group(lines, block.first, block.last, (0, -1)) if stop - start > PREAMBLE else []


def _items(lines: _Lines, block: _Block, depth: int = 0) -> list[Group]:
    """A list's items, nested ones with their item; long items are cut again."""
    indent = lines.indent(block.first)
    heads = [i for i in range(block.first, block.last) if not lines.blank[i] and _is_item(lines, i, indent)]
    if heads[0] != block.first:
        heads.insert(0, block.first)
    ends = [_trimmed(lines, b) for b in [*heads[1:], block.last]]
    spans = [lines.span(a, b) for a, b in zip(heads, ends, strict=True)]
    children = {}
    for i, (a, b) in enumerate(zip(heads, ends, strict=True)):
        inside = _inside_item(lines, a, b, depth) if spans[i][1] - spans[i][0] > NESTED else []
        if inside:
            children[i] = inside
    if len(heads) == 1 and 0 in children:
        return children[0]
    starts, stops = [a for a, _ in spans], [b for _, b in spans]
    return [Group(starts, stops, "head", "items", children=children)] if len(heads) > 1 else []


def _is_item(lines: _Lines, i: int, indent: int) -> bool:
    found = _ITEM.match(lines.bare[i])
    return found is not None and len(found[1]) <= indent


def _trimmed(lines: _Lines, last: int) -> int:
    while lines.blank[last - 1]:
        last -= 1
    return last


def _inside_item(lines: _Lines, first: int, last: int, depth: int) -> list[Group]:
    """Nested items and fences of an item; where it has none, its sentences."""
    fences: list[Group] = []
    i = first + 1
    while i < last:
        block = _fenced(lines, i, last) if _FENCE.match(lines.bare[i]) else None
        if block:
            fences += _fence_lines(lines, block)
        elif _FENCE.match(lines.bare[i]):
            break
        i = block.last if block else i + 1
    if fences:
        return fences
    nested = next((i for i in range(first + 1, last) if _ITEM.match(lines.bare[i])), 0)
    if nested and depth < 2:
        return _items(lines, _Block("list", nested, last), depth + 1)
    return _prose(lines, _Block("prose", first, last))


_PARTS: Final[dict[Kind, Callable[[_Lines, _Block], list[Group]]]] = {
    "heading": lambda lines, block: [],
    "prose": _prose,
    "list": _items,
    "table": _table_rows,
    "fence": _fence_lines,
    "lines": _plain_lines,
    "fields": _fields,
}


# ---------------------------------------------------------------- sections


def _sections(lines: _Lines) -> Group | None:
    """The root: a unit for each heading with what follows it."""
    sections: list[list[_Block]] = [[]]
    for block in _blocks(lines):
        if block.kind == "heading" and sections[-1] and sections[-1][-1].kind != "heading":
            sections.append([])  # a heading right below another stays with it
        sections[-1].append(block)
    if not sections[-1]:
        return None
    path: list[tuple[int, str]] = []
    groups = []
    opening = _opening(lines, [block for section in sections for block in section])
    for section in sections:
        for block in section:
            if not block.level:
                break
            path = [entry for entry in path if entry[0] < block.level]
            path.append((block.level, _title(lines, block)))
        groups.append(_section(lines, section, " › ".join(title for _, title in path[-6:]), opening))
    if len(groups) == 1:
        return groups[0]
    starts, stops = [g.starts[0] for g in groups], [g.stops[-1] for g in groups]
    return Group(starts, stops, "outline", "sections", children={i: [g] for i, g in enumerate(groups)})


def _title(lines: _Lines, block: _Block) -> str:
    line = lines.bare[block.first + (block.last - block.first == 3)]
    return plain(line).strip().lstrip("#").rstrip("# ").strip()[:TITLE]


def _opening(lines: _Lines, blocks: Sequence[_Block]) -> set[int]:
    """First lines of the blocks that open the text: they stay whole, as long as there is room for them."""
    found: set[int] = set()
    room = PREAMBLE
    for block in [block for block in blocks[: 2 * OPENING] if block.kind != "heading"][:OPENING]:
        start, stop = lines.span(block.first, block.last)
        room -= stop - start
        if room < 0:
            break
        found.add(block.first)
    return found


def _keep_whole(groups: list[Group]) -> None:
    """Pins all units of all groups, and of those inside of them."""
    waiting = list(groups)
    for group in waiting:  # grows while it is walked
        group.pinned = range(len(group))
        waiting += [inner for inside in group.children.values() for inner in inside]


def _section(lines: _Lines, blocks: list[_Block], heading: str, opening: set[int]) -> Group:
    spans = [lines.span(block.first, block.last) for block in blocks]
    children, pinned = {}, []
    for i, block in enumerate(blocks):
        inside = _PARTS[block.kind](lines, block)
        if block.first in opening:
            _keep_whole(inside)
        if inside:
            children[i] = inside
        elif block.kind in ("heading", "fields") or (block.kind == "prose" and spans[i][1] - spans[i][0] <= SMALL):
            pinned.append(i)
        if (block.first in opening or (block.first == 0 and block.kind == "fields")) and i not in pinned:
            pinned.append(i)
    return Group(
        [a for a, _ in spans], [b for _, b in spans], "outline", "blocks",
        heading=heading, children=children, pinned=pinned,
    )  # fmt: skip


class Text:
    """The format of whatever is left when no other format fits."""

    name = "text"
    keep = 0.58
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """Sections, blocks, sentences. A text of white space only has no units."""
        newline = "\n" if "\n" in text else "\r" if "\r" in text else "\n"
        root = _sections(_Lines(text, 3 if text.startswith("\xef\xbb\xbf") else 0, newline))
        return Document(text, self.name, [root] if root else [], len(text), newline=newline)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return group.reader.shape.row(sentence) if isinstance(group.reader, Rows) else sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:65_536] else document.newline
        return sentence + newline if document.text.endswith(document.newline) else newline + sentence


TEXT: Final = Text()
