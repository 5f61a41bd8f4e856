"""Prose in any script: Markdown, reStructuredText, plain text.

The text is cut into sections (a heading and what follows up to the next one), these into blocks, and blocks into
what they are made of: sentences of a paragraph, items of a list, rows of a table, lines of a code fence. What
stays is an outline: preamble, headings, the first sentence of each paragraph, the heads of lists and tables, the
first and last lines of code. Bytes need not be UTF-8; signs of other scripts are looked for in their UTF-8 form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from caveman_wasm.formats.tabular_rows import Rows, pipe_rows
from caveman_wasm.formats.text_blocks import FENCE, ITEM, TITLE, Block, Kind, Lines, blocks, fenced
from caveman_wasm.formats.text_sentences import LONG, SPACE, cut, sentences
from caveman_wasm.model import Document, Group, Rewritten, plain, source

__all__ = ["TEXT", "Text", "pieces"]

SMALL: Final = 90  # bytes; a paragraph up to this is never cut
PREAMBLE: Final = 1_500  # bytes of front matter, header fields or the opening that always stay
OPENING: Final = 3  # blocks that are no headings and open a text
NESTED: Final = 400  # bytes; list items above this are cut again
TITLES: Final = 40  # items of a list whose titles always stay

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
_WEIGHTY_ASCII: Final = tuple(filter(str.isascii, _WEIGHTY))


# ---------------------------------------------------------------- what blocks are made of


def pieces(text: str, start: int, stop: int, heading: str = "") -> list[Group]:
    """A long text without an end as a group of which the first piece stays; none where it is not long."""
    if stop - start <= LONG:
        return []
    starts, stops = cut(text, start, stop)
    return [Group(starts, stops, "outline", "pieces", markers="end", heading=heading, pinned=(0,))]


def _weighty(text: str, starts: Sequence[int], stops: Sequence[int]) -> list[int]:
    """The first sentence, and the first one after it that decides or warns."""
    low = text[starts[0] : stops[-1]].lower()
    words = [word for word in (_WEIGHTY_ASCII if low.isascii() else _WEIGHTY) if word in low]
    for i in range(1, len(starts) if words else 1):
        if any(map(text[starts[i] : stops[i]].lower().__contains__, words)):
            return [0, i]
    return [0]


def _prose(lines: Lines, block: Block) -> list[Group]:
    start, stop = lines.span(block.first, block.last)
    if stop - start <= SMALL:
        return []
    starts, stops = sentences(lines.text, start, stop)
    if len(starts) == 1 and block.last - block.first >= 6:
        return _line_group(lines, block.first, block.last, (0,))
    return [Group(starts, stops, "outline", "sentences", markers="end", pinned=_weighty(lines.text, starts, stops))]


def _line_group(lines: Lines, first: int, last: int, pinned: Sequence[int]) -> list[Group]:
    """The lines that are not empty, the ones at ``pinned`` (-1: the last) kept."""
    full = [i for i in range(first, last) if not lines.blank[i]]
    if len(full) < 4:
        return [group for i in full for group in pieces(lines.text, *lines.span(i, i + 1))]
    starts, stops = [lines.at[i] for i in full], [lines.at[i] + len(lines.bare[i]) for i in full]
    return [Group(starts, stops, "outline", "lines", pinned=[i % len(full) for i in pinned])]


def _fence_lines(lines: Lines, block: Block) -> list[Group]:
    """The lines between the fences; the fences are literal."""
    return _line_group(lines, block.first + 1, block.last - 1, (0, -1)) if block.last - block.first > 2 else []


def _plain_lines(lines: Lines, block: Block) -> list[Group]:
    return _line_group(lines, block.first, block.last, (0, -1))


def _table_rows(lines: Lines, block: Block) -> list[Group]:
    rows = range(block.first + 2, block.last)
    if len(rows) < 3:
        return []
    starts, stops = [lines.at[i] for i in rows], [lines.at[i] + len(lines.bare[i]) for i in rows]
    reader = pipe_rows(lines.text, starts, stops, lines.bare[block.first])
    return [Group(starts, stops, "head", "rows", reader=reader)]


def _fields(lines: Lines, block: Block) -> list[Group]:
    """Front matter and header fields stay whole unless they are long."""
    start, stop = lines.span(block.first, block.last)
    return _line_group(lines, block.first, block.last, (0, -1)) if stop - start > PREAMBLE else []


def _items(lines: Lines, block: Block, depth: int = 0) -> list[Group]:
    """A list's items, nested ones with their item; long items are cut again."""
    first, last, at, bare, blank = block.first, block.last, lines.at, lines.bare, lines.blank
    indent = lines.indent(first)
    heads = [first, *(i for i in range(first + 1, last) if not blank[i] and _is_item(bare[i], indent))]
    ends = [b if not blank[b - 1] else _trimmed(lines, b) for b in (*heads[1:], last)]
    starts, stops = [at[a] for a in heads], [at[b - 1] + len(bare[b - 1]) for b in ends]
    titled = [i for i, a in enumerate(heads) if ends[i] > a + 1 and _is_titled(lines, a)]
    outlined = len(titled) * 2 > len(heads) > 2
    children = {}
    for i in titled if outlined else ():
        children[i] = _prose(lines, Block("prose", heads[i] + 1, ends[i]))
        for group in children[i]:
            group.pinned = ()  # all titles come first
    for i, start in enumerate(starts):
        if stops[i] - start > NESTED and i not in children:
            children[i] = _inside_item(lines, heads[i], ends[i], depth)
    children = {i: children[i] for i in sorted(children) if children[i]}
    if len(heads) == 1 and 0 in children:
        return children[0]
    if outlined:
        return [Group(starts, stops, "outline", "items", children=children, pinned=titled[:TITLES])]
    return [Group(starts, stops, "head", "items", children=children)] if len(heads) > 1 else []


def _is_titled(lines: Lines, first: int) -> bool:
    """Whether the first line of an item of several is a title of the prose below it."""
    if lines.blank[first + 1] or len(lines.bare[first]) > TITLE // 2:
        return False
    title, below = lines.bare[first].rstrip(SPACE), lines.bare[first + 1].lstrip(SPACE)
    return title[-1] not in ".!?,;" and below[0].isupper() and not ITEM.match(lines.bare[first + 1])


def _is_item(line: str, indent: int) -> bool:
    found = ITEM.match(line)
    return found is not None and found.end(1) <= indent


def _trimmed(lines: Lines, last: int) -> int:
    while lines.blank[last - 1]:
        last -= 1
    return last


def _inside_item(lines: Lines, first: int, last: int, depth: int) -> list[Group]:
    """Nested items and fences of an item; where it has none, its sentences."""
    fences: list[Group] = []
    i = first + 1
    while i < last:
        block = fenced(lines, i, last) if FENCE.match(lines.bare[i]) else None
        if block:
            fences += _fence_lines(lines, block)
        elif FENCE.match(lines.bare[i]):
            break
        i = block.last if block else i + 1
    if fences:
        return fences
    nested = next((i for i in range(first + 1, last) if ITEM.match(lines.bare[i])), 0)
    if nested and depth < 2:
        return _items(lines, Block("list", nested, last), depth + 1)
    return _prose(lines, Block("prose", first, last))


_PARTS: Final[dict[Kind, Callable[[Lines, Block], list[Group]]]] = {
    "prose": _prose,
    "list": _items,
    "table": _table_rows,
    "fence": _fence_lines,
    "lines": _plain_lines,
    "fields": _fields,
}


# ---------------------------------------------------------------- sections


def _sections(lines: Lines) -> Group | None:
    """The root: a unit for each heading with what follows it."""
    sections: list[list[Block]] = [[]]
    for block in blocks(lines):
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
            while path and path[-1][0] >= block.level:
                path.pop()
            path.append((block.level, _title(lines, block)))
        groups.append(_section(lines, section, " › ".join([title for _, title in path[-6:]]), opening))
    if len(groups) == 1:
        return groups[0]
    starts, stops = [g.starts[0] for g in groups], [g.stops[-1] for g in groups]
    return Group(starts, stops, "outline", "sections", children={i: [g] for i, g in enumerate(groups)})


def _title(lines: Lines, block: Block) -> str:
    line = lines.bare[block.first + (block.last - block.first == 3)]
    return plain(line).strip().lstrip("#").rstrip("# ").strip()[:TITLE]


def _opening(lines: Lines, blocks: Sequence[Block]) -> set[int]:
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


def _section(lines: Lines, blocks: list[Block], heading: str, opening: set[int]) -> Group:
    starts = [lines.at[block.first] for block in blocks]
    stops = [lines.at[block.last - 1] + len(lines.bare[block.last - 1]) for block in blocks]
    children, pinned = {}, []
    for i, block in enumerate(blocks):
        inside = _PARTS[block.kind](lines, block) if block.kind in _PARTS else []
        opens = block.first in opening
        if inside:
            children[i] = inside
            if opens:
                _keep_whole(inside)
        if (
            opens
            or (not inside and block.kind in ("heading", "fields"))
            or (not inside and block.kind == "prose" and stops[i] - starts[i] <= SMALL)
            or (block.first == 0 and block.kind == "fields")
        ):
            pinned.append(i)
    return Group(starts, stops, "outline", "blocks", heading=heading, children=children, pinned=pinned)


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
        root = _sections(Lines(text, 3 if text.startswith("\xef\xbb\xbf") else 0, newline))
        return Document(text, self.name, [root] if root else [], len(text), newline=newline)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return group.reader.shape.row(sentence) if isinstance(group.reader, Rows) else sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:65_536] else document.newline
        return sentence + newline if document.text.endswith(document.newline) else newline + sentence


TEXT: Final = Text()
