"""The lines of a program, their levels, and the statements they make.

Every line gets a level: the depth of its brackets, or its indentation, as the table of languages says. What
follows a line on deeper levels is its block; lines on its own level that close the block or go on after it
(``} else {``, ``end``) are its further *rails*. So a statement is rails with blocks between, whatever the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from caveman_wasm.formats.languages import Language
from caveman_wasm.model import line_starts, raw

__all__ = ["COMMENT", "COPY", "SPACE", "STRING", "Item", "Source", "items_of"]

SPACE: Final = " \t\r\n\f\v"
COMMENT: Final = "\x01"  # stands for a comment's characters where structure is looked for
STRING: Final = "\x02"  # … and for a string's
_GAP: Final = COMMENT + SPACE
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"()[]{}\n"))
_JOINS: Final = re.compile(r"(?:where|throws|noexcept|const|override|->|=>|[.:?&|+=)])", re.ASCII)
_OPEN_END: Final = re.compile(r"[\w*&>=]$", re.ASCII)
_BRANCH: Final = re.compile(r"[ \t]*#[ \t]*(?:(if)|(el)|(endif))", re.ASCII)
COPY: Final = re.compile(r"copy\s+[^;]*from\s+stdin\b[^;]*;", re.ASCII | re.IGNORECASE)


# ---------------------------------------------------------------- lines and their levels


class Source:
    """The lines of a text. ``levels[i]`` is line i's depth in blocks, ``opens[i]`` the
    bracket it leaves open ('' for none), ``lows[i]`` the least depth of brackets in it, ``words[i]`` what it says."""

    def __init__(self, text: str, newline: str, language: Language) -> None:
        self.text, self.language = text, language
        lines = text.split(newline)
        self.at = line_starts(lines)
        self.lines = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        masked, self.inside = _mask(text if newline == "\n" else text.replace(newline, "\n"), language)
        self.masked = [line.strip(SPACE) for line in masked.split("\n")]
        self.words = [line.strip(SPACE)[:400] for line in self.lines]
        self.blank = [not said for said in self.words]
        self.comment = [m[:1] == COMMENT and not m.strip(_GAP) for m in self.masked]
        wide = [line.expandtabs() for line in self.lines] if "\t" in text else self.lines
        self.indents = [len(line) - len(line.lstrip(" \t")) for line in wide]
        known = _Effects()
        effects = [known[brackets] for brackets in raw(masked).translate(None, _NO_BRACKETS).decode().split("\n")]
        self.opens = [effect[2] for effect in effects]
        before = accumulate([effect[1] for effect in effects], initial=0)
        self.lows = [depth + low for depth, (low, _, _) in zip(before, effects, strict=False)]
        self.levels = _levels(self, effects)
        self.following = self._following()

    def _following(self) -> list[int]:
        """For each line, and behind the last one, the first from it on that is not blank."""
        after = len(self.blank)
        following = [after] * (after + 1)
        for i in range(after - 1, -1, -1):
            if not self.blank[i]:
                after = i
            following[i] = after
        return following

    def next(self, i: int) -> int:
        return self.following[min(i, len(self.blank))]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Start of line ``first`` and end of line ``last - 1`` without its line end."""
        return self.at[first], self.at[last - 1] + len(self.lines[last - 1])

    def size(self, first: int, last: int) -> int:
        return self.at[last - 1] + len(self.lines[last - 1]) - self.at[first] if last > first else 0


def _mask(text: str, language: Language) -> tuple[str, list[bool]]:
    """The text with comments and strings blotted out, and for each line whether it begins inside of one."""
    inside = [False] * (text.count("\n") + 1)
    line = counted = 0  # newlines before ``counted``

    def blotted(found: re.Match[str]) -> str:
        nonlocal line, counted
        piece = found[0]
        sign = COMMENT if piece.startswith(language.comments) else STRING
        if "\n" not in piece:
            return sign * len(piece)
        line += text.count("\n", counted, found.start())
        lines, counted = piece.count("\n"), found.end()
        whole = lines - piece.endswith("\n")
        inside[line + 1 : line + 1 + whole] = [True] * whole
        line += lines
        return "\n".join([sign * len(part) for part in piece.split("\n")])

    return language.skip.sub(blotted, text), inside


class _Effects(dict[str, tuple[int, int, str]]):
    """Of a line's brackets the least depth, the depth after them (both relative), and the last one left open."""

    def __missing__(self, brackets: str) -> tuple[int, int, str]:
        found = self[brackets] = _effect(brackets)
        return found


def _effect(brackets: str) -> tuple[int, int, str]:
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


def _levels(source: Source, effects: list[tuple[int, int, str]]) -> list[int]:
    kind = source.language.blocks
    if kind == "brackets":
        for branches in (False, True):
            levels, end = _by_brackets(source, effects, branches)
            if levels is not None and (end == 0 or _plausible(source, levels)):
                return levels
    return _by_indents(source, effects if kind == "indentation" else None)


def _by_brackets(source: Source, effects: list[tuple[int, int, str]], branches: bool) -> tuple[list[int] | None, int]:
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


def _plausible(source: Source, levels: list[int]) -> bool:
    """Whether hardly any line that is not indented lies in a block, as after a bracket that was missed."""
    flush = [
        level for i, level in enumerate(levels)
        if not source.indents[i] and source.masked[i][:1].isalpha() and not source.inside[i]
    ]  # fmt: skip
    return 5 * sum(level > 0 for level in flush) <= len(flush)


def _by_indents(source: Source, effects: list[tuple[int, int, str]] | None) -> list[int]:
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
class Item:
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


def items_of(source: Source, first: int, last: int) -> list[Item]:
    items = []
    following, comment = source.following, source.comment
    i = following[first]
    while i < last:
        code = i
        while code < last and comment[code]:
            code += 1
        if code == i + 1 and code < last and source.blank[code]:  # a line of comment titles what follows
            below = following[code]
            code = below if below < last and not comment[below] else code
        if code > i and (code >= last or source.blank[code] or source.levels[code] < source.levels[i]):
            items.append(Item(i, code, code, []))
        else:
            items.append(_statement(source, i, code, last))
        i = following[items[-1].last]
    return items


def _statement(source: Source, first: int, code: int, last: int) -> Item:
    language, levels, following, base, rails = (
        source.language,
        source.levels,
        source.following,
        source.levels[code],
        [code],
    )
    decorated = language.decorator.match(source.words[code]) is not None
    stop, k = code + 1, following[code + 1]
    if language.name == "sql" and COPY.match(source.words[code]):
        while k < last and source.words[k] != "\\.":
            k += 1
        return Item(first, code, min(k + 1, last), rails)
    while k < last:
        level = levels[k]
        if level > base:
            if source.opens[rails[-1]] in ("(", "[") and source.lows[k] <= source.lows[rails[-1]]:
                rails.append(k)  # closes what a header has opened, after its last parameter
        elif level == base and (decorated or _goes_on(source, rails, k, blank=k > stop)):
            if decorated and not source.comment[k] and source.masked[k][:1] not in ")]}":
                decorated = language.decorator.match(source.words[k]) is not None
            rails.append(k)
        else:
            break
        stop = k + 1
        k = following[stop]
    return Item(first, code, stop, rails)


def _goes_on(source: Source, rails: list[int], k: int, *, blank: bool) -> bool:
    """Whether line k, on the level of a statement, is a part of it. ``blank``: blank lines stand between."""
    language, said, before = source.language, source.masked[k], source.masked[rails[-1]]
    if said[:1] in ")]}":
        return True
    ended = before.rstrip(_GAP)[-1:]
    if said[:1] == "{" and language.blocks == "brackets":
        return ended not in ";}"
    closed = k > rails[-1] + 1 or len(rails) > 1 or language.ends == "never"
    if closed and language.goes_on.match(said) and not source.comment[k]:
        return True
    if language.ends == "never":
        return _still_open(source, rails[-1], k)
    if language.blocks != "brackets" or blank or source.comment[k] or source.comment[rails[-1]]:
        return False
    if ended in ";,{}:" or before[:1] == "#" or before[:1] == STRING or said[:1] == "#":
        return ended == "," and source.indents[k] > source.indents[rails[0]] and len(rails) < 3
    if source.indents[k] > source.indents[rails[0]] or _JOINS.match(said):
        return True
    return language.ends == "semicolon" and ended != ")" and _OPEN_END.match(before[-1:]) is not None


def _still_open(source: Source, rail: int, k: int) -> bool:
    """Whether no line from ``rail`` to before ``k`` ends with a semicolon: the last one with code tells."""
    i = k - 1
    while i > rail and (source.blank[i] or source.comment[i]):
        i -= 1
    return not source.masked[i].rstrip(_GAP).endswith(";") and not source.comment[i]
