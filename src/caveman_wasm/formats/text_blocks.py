"""The blocks of a text: headings, paragraphs, lists, tables, fences, literal lines, header fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from caveman_wasm.formats.tabular_rows import is_rule
from caveman_wasm.formats.text_sentences import SENTENCE, SPACE, signs
from caveman_wasm.model import line_starts, plain, raw

__all__ = ["FENCE", "ITEM", "TITLE", "Block", "Kind", "Lines", "blocks", "fenced"]

Kind = Literal["heading", "prose", "list", "table", "fence", "lines", "fields"]

TITLE: Final = 160  # bytes a heading may have when only a rule under it or its letters tell
AHEAD: Final = 60  # lines in which the next item of a list is looked for
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|(?=[^#\s!]))(?=\S)", re.ASCII)
_RULES: Final = "=-~^\"'*+#`:._"
_RULER: Final = re.compile(rf"([{re.escape(_RULES)}])\1{{2,}}[ \t]*", re.ASCII)
ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\xe2\x80\xa2|\(?(?:\d{1,9}|#|[a-zA-Z])[.)])[ \t]+(?=\S)", re.ASCII)
_NUMBER: Final = re.compile(r"\d{1,9}", re.ASCII)
FENCE: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})", re.ASCII)
_FIELD: Final = re.compile(
    r"[A-Za-z][\w-]*(?: [\w-]+){0,3}:(?:[ \t]|$)|:[\w -]+:|- [A-Z][\w ]*: |\*\*[\w ]+:?\*\*", re.ASCII
)
_NUMBERED: Final = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,5}\.?|[IVXLC]{1,7}\."
    r"|(?i:chapter|part|section|appendix|chapitre|kapitel|art(?:icle|\.)?) [\w.]{1,8})"
    rf"[ \t]+[^.!?]*\Z|{signs('第')}.{{1,30}}(?:{signs(*'章节節回部')})",
    re.ASCII,
)
_LITERAL: Final = re.compile(
    r"^(?!\.\. ).*::\s*\Z|^\.\. (?:code|sourcecode|parsed-literal|math|raw|doctest|highlight)", re.ASCII
)
_SMALL: Final = b"abcdefghijklmnopqrstuvwxyz"
_NO_LETTERS: Final = bytes(set(range(256)) - set(_SMALL + _SMALL.upper()))


@dataclass(slots=True)
class Block:
    """Lines ``first`` to ``last`` (exclusive) of one kind; ``level`` of a heading, else 0."""

    kind: Kind
    first: int
    last: int
    level: int = 0


class Lines:
    """The lines of a text: ``at[i]`` is where line i starts; ``bare`` are the lines without their line ends."""

    def __init__(self, text: str, start: int, newline: str) -> None:
        self.text = text
        lines = text[start:].split(newline)
        self.at = line_starts(lines, len(newline), start)
        self.gap = len(newline)
        self.bare = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        self.blank = [not line.strip(SPACE) for line in self.bare]
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


def blocks(lines: Lines) -> Iterator[Block]:
    """The blocks of a text in order. Each reader takes the lines it knows; prose takes what is left."""
    i, total = 0, len(lines.bare)
    rules: dict[str, int] = {}
    literal = False  # the block before announces a literal one
    while i < total:
        if lines.blank[i]:
            i += 1
            continue
        block = _preamble(lines, i) if i == 0 else None
        block = block or _heading(lines, i, rules) or fenced(lines, i)
        block = block or (None if literal and lines.indent(i) else _list(lines, i)) or _table(lines, i)
        block = block or _paragraph(lines, i, literal)
        if block.kind != "lines" or not literal:
            end = lines.bare[block.last - 1]
            literal = ("::" in end or end[:1] == ".") and _LITERAL.search(end) is not None
        yield block
        i = block.last


def _preamble(lines: Lines, i: int) -> Block | None:
    """Front matter between rules, or header fields, on the first lines."""
    if lines.bare[i] in ("---", "+++"):
        ends = (lines.bare[i], "...")
        close = next((k for k in range(1, min(300, len(lines.bare))) if lines.bare[k] in ends), 0)
        return Block("fields", i, close + 1) if close else None
    last = _until_blank(lines, i)
    head = lines.bare[i:last]
    if len(head) > 1 and all(_FIELD.match(line) or line[:1] in (" ", "\t") for line in head):
        return Block("fields", i, last)
    return None


def _until_blank(lines: Lines, i: int) -> int:
    try:
        return lines.blank.index(True, i)
    except ValueError:
        return len(lines.bare)


def _heading(lines: Lines, i: int, rules: dict[str, int]) -> Block | None:
    line, total = lines.bare[i], len(lines.bare)
    below = lines.bare[i + 1] if i + 1 < total else ""
    if line[0] in " #" and len(line) < 4 * TITLE and (atx := _ATX.match(line)):
        return Block("heading", i, i + 1, len(atx[1]))
    ruled = line[0] in _RULES and _RULER.fullmatch(line) is not None
    if ruled and i + 2 < total and not lines.blank[i + 1] and lines.bare[i + 2].rstrip(SPACE) == line.rstrip(SPACE):
        return Block("heading", i, i + 3, _level(rules, line[0] * 2))
    under = not ruled and below[:1] in _RULES and len(line) <= TITLE and _RULER.fullmatch(below)
    if under and len(below) * 2 >= len(plain(line)):
        return Block("heading", i, i + 2, _level(rules, below[0]))
    if len(line) <= 80 and (i + 1 >= total or lines.blank[i + 1] or lines.indent(i + 1) > lines.indent(i) == 0):
        return Block("heading", i, i + 1, 4) if _is_title(line.strip(SPACE)) else None
    return None


def _level(rules: dict[str, int], sign: str) -> int:
    """Rules under titles rank in the order in which they first appear."""
    return rules.setdefault(sign, min(len(rules) + 1, 6))


def _is_title(line: str) -> bool:
    """A line that stands alone and shouts, or is numbered as chapters are."""
    letters = raw(line).translate(None, _NO_LETTERS)
    small = len(letters.translate(None, _SMALL.upper()))
    return (len(letters) >= max(3, 5 * small) and line[-1] not in ",;|") or _NUMBERED.match(line) is not None


def fenced(lines: Lines, i: int, stop: int = -1) -> Block | None:
    """A fence and what it holds, up to line ``stop``; None where it is not closed before."""
    opened = FENCE.match(lines.bare[i])
    if opened is None or opened[2] in lines.unclosed:
        return None
    sign = opened[2]
    for k in range(i + 1, len(lines.bare) if stop < 0 else stop):
        line = lines.bare[k].strip(SPACE)
        if line.startswith(sign) and not line.strip(sign[0]):
            return Block("fence", i, k + 1)
    if stop < 0:
        lines.unclosed.add(sign)
    return None


def _list(lines: Lines, i: int) -> Block | None:
    """Items and what is indented under them, empty lines between them included."""
    item = ITEM.match(lines.bare[i])
    if item is None or (lines.bare[i][len(item[1])].isalnum() and len(item[1]) > 3 and not _counts_on(lines, i, item)):
        return None
    indent, k, last = len(item[1]), i + 1, i + 1
    while k < len(lines.bare):
        if not lines.blank[k]:
            again = ITEM.match(lines.bare[k])
            inside = lines.indent(k) > indent or (again and (len(again[1]) == indent or again.end() == item.end()))
            if not inside and (k > last or _breaks(lines, k)):
                break
            last = k + 1
        elif k - last > 3:
            break
        k += 1
    return Block("list", i, last)


def _counts_on(lines: Lines, i: int, item: re.Match[str]) -> bool:
    """Whether the next number stands below a number that is indented as deep as code."""
    number = _NUMBER.search(item[0])
    for k in range(i + 1, min(i + AHEAD, len(lines.bare)) if number else 0):
        again = None if lines.blank[k] else ITEM.match(lines.bare[k])
        if again and again.end() == item.end():
            said = _NUMBER.search(again[0])
            return number is not None and said is not None and int(said[0]) == int(number[0]) + 1
    return False


def _breaks(lines: Lines, k: int) -> bool:
    """Whether a line that is not indented ends the list above it (else it goes on lazily)."""
    line = lines.bare[k]
    return line[:1] in "#|<" or line.startswith(("```", "~~~", ".. ")) or _RULER.fullmatch(line) is not None


def _table(lines: Lines, i: int) -> Block | None:
    if "|" not in lines.bare[i] or i + 1 >= len(lines.bare) or not is_rule(lines.bare[i + 1]):
        return None
    last = i + 2
    while last < len(lines.bare) and "|" in lines.bare[last]:
        last += 1
    return Block("table", i, last)


def _paragraph(lines: Lines, i: int, literal: bool) -> Block:
    """What is left: prose up to an empty line or to something else; lines where it is indented as code is."""
    indent = lines.indent(i)
    if indent and (literal or (indent >= 4 and _is_code(lines, i))):
        last = i + 1
        while last < len(lines.bare) and (lines.blank[last] or lines.indent(last) >= (1 if literal else 4)):
            last += 1
        while lines.blank[last - 1]:
            last -= 1
        return Block("lines", i, last)
    last = i + 1
    while last < len(lines.bare) and not lines.blank[last] and not _starts(lines, last):
        last += 1
    return Block("prose", i, last)


def _is_code(lines: Lines, i: int) -> bool:
    """Whether an indented paragraph reads as code or as verse rather than as indented prose."""
    piece = lines.piece(i, min(_until_blank(lines, i), i + 20))
    return len(piece) < 60 * (piece.count("\n") + 1) or SENTENCE.search(piece) is None


def _starts(lines: Lines, k: int) -> bool:
    """Whether a line within a paragraph begins another block."""
    line = lines.bare[k]
    if line[:1] in "`~ ":
        opened = FENCE.match(line)
        return opened is not None and opened[2] not in lines.unclosed
    if line[:1] == "#" and _ATX.match(line):
        return True
    if line[:1] in "-*+" and ITEM.match(line):
        return True
    return "|" in line and k + 1 < len(lines.bare) and is_rule(lines.bare[k + 1])
