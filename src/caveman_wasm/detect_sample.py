"""What the tests of detection look at: some hundred lines of a payload, and how many of them a pattern matches.

Counting is what costs. So a pattern is asked only of lines that it could match, as it says itself (`Pattern`), and of
no more of them than decide whether there are enough.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from operator import ge, gt
from typing import Any, Final

from caveman_wasm.detect_pattern import BLANK, Pattern
from caveman_wasm.detect_patterns import (
    FENCE,
    JSON_BEGINS,
    LINE_END,
    LITERAL_NEXT,
)
from caveman_wasm.model import raw

__all__ = ["MAX_DEPTH", "NOTHING", "Lines", "Sample", "json_depth_ok"]

MAX_DEPTH: Final = 128  # deeper JSON ends the interpreter in a browser; one cap, so that outputs agree everywhere
NOTHING: Final = object()  # the value of what is no JSON
CHUNK: Final = 32  # lines between two looks at whether the answer is known
_SHAPES: Final = bytes.maketrans(b"123456789BCDEFGHIJKLMNOPQRSTUVWXYZ", b"0" * 9 + b"A" * 25)


class Lines:
    """Lines that are not blank, and how many of them a pattern matches from their start."""

    def __init__(self, lines: list[str]) -> None:
        self.all = lines
        self._counts: dict[Pattern, _Asked] = {}

    def __len__(self) -> int:
        return len(self.all)

    @cached_property
    def text(self) -> str:
        return "\n".join(self.all)

    @cached_property
    def bare(self) -> list[str]:
        """The lines without their indentation."""
        return [line.lstrip(BLANK) for line in self.all]

    @cached_property
    def indented(self) -> int:
        """How many lines begin with a blank."""
        return sum(line[0] in " \t" for line in self.all)

    @cached_property
    def _starts(self) -> dict[str, list[str]]:
        """The first character behind the indentation → lines."""
        lines: defaultdict[str, list[str]] = defaultdict(list)
        for bare, line in zip(self.bare, self.all, strict=True):
            lines[bare[:1]].append(line)
        return lines

    @cached_property
    def _shape(self) -> str:
        """The text with 0 for each digit and A for each ASCII capital."""
        return raw(self.text).translate(_SHAPES).decode("latin-1")

    @cached_property
    def _shapes(self) -> list[str]:
        return self._shape.split("\n")

    def share(self, pattern: Pattern) -> float:
        """The share of lines that match; 0 where there are no lines."""
        return self.count(pattern) / len(self.all) if self.all else 0.0

    def count(self, pattern: Pattern) -> int:
        asked = self._asked(pattern)
        asked.go_on(asked.size)
        return asked.found

    def at_least(self, pattern: Pattern, share: float) -> bool:
        """``share(pattern) >= share``, known as soon as it is sure."""
        return self._decide(pattern, share, ge)

    def above(self, pattern: Pattern, share: float) -> bool:
        """``share(pattern) > share``, known as soon as it is sure."""
        return self._decide(pattern, share, gt)

    def _decide(self, pattern: Pattern, share: float, enough: Callable[[float, float], bool]) -> bool:
        total = len(self.all)
        if not total:
            return enough(0.0, share)
        asked = self._asked(pattern)
        while not enough(asked.found / total, share):
            if not enough((asked.found + asked.size - asked.at) / total, share):
                return False
            asked.go_on(asked.at + CHUNK)
        return True

    def _asked(self, pattern: Pattern) -> _Asked:
        if pattern not in self._counts:
            self._counts[pattern] = _Asked(*self._question(pattern))
        return self._counts[pattern]

    def _question(self, pattern: Pattern) -> tuple[int, Callable[[int, int], int]]:
        """How many lines a pattern may match, and what counts those it does match from one to another of them."""
        if pattern.parts:
            parts = [part for part in pattern.parts if self._has(part)]
            return len(self.all) if parts else 0, lambda first, last: self._hits_of_any(parts, first, last)
        lines, match = self._may_match(pattern), pattern.match
        return len(lines), lambda first, last: len([*filter(None, map(match, lines[first:last]))])

    def _has(self, pattern: Pattern) -> bool:
        """Whether there is any of what the pattern needs."""
        return (not pattern.needs or any(need in self.text for need in pattern.needs)) and (
            not pattern.shapes or any(shape in self._shape for shape in pattern.shapes)
        )

    def _may_match(self, pattern: Pattern) -> list[str]:
        lines = self.all
        if pattern.starts:
            lines = [line for start in pattern.starts if start in self._starts for line in self._starts[start]]
        elif pattern.shapes:
            shapes = [shape for shape in pattern.shapes if shape in self._shape]
            lines = lines if shapes else []
            if len(shapes) == 1:
                lines = [line for line, shape in zip(lines, self._shapes, strict=True) if shapes[0] in shape]
        if pattern.needs and lines:
            needs = [need for need in pattern.needs if need in self.text]
            if len(needs) < 2:
                lines = [line for line in lines if needs[0] in line] if needs else []
        return lines

    def _hits_of_any(self, parts: Sequence[Pattern], first: int, last: int) -> int:
        rest: Sequence[int] = range(first, min(last, len(self.all)))
        size = len(rest)
        for part in parts:
            lines, match = self.bare if part.bare else self.all, part.match
            if part.ends:
                ends = part.ends
                rest = [i for i in rest if lines[i][-1:] not in ends or not match(lines[i])]
            elif len(part.needs) == 1:
                need = part.needs[0]
                rest = [i for i in rest if need not in lines[i] or not match(lines[i])]
            elif len(part.shapes) == 1:
                shape, shapes = part.shapes[0], self._shapes
                rest = [i for i in rest if shape not in shapes[i] or not match(lines[i])]
            else:
                rest = [i for i in rest if not match(lines[i])]
        return size - len(rest)

    def matched(self, pattern: Pattern) -> list[bool]:
        """For each line whether it matches."""
        return [bool(pattern.match(line)) for line in self.all]


class _Asked:
    """How far the lines that a pattern may match were asked (``at`` of ``size``), and how many match (``found``)."""

    __slots__ = ("at", "found", "hits", "size")

    def __init__(self, size: int, hits: Callable[[int, int], int]) -> None:
        self.size, self.hits = size, hits
        self.at = self.found = 0

    def go_on(self, to: int) -> None:
        if self.at < self.size:
            self.found += self.hits(self.at, to)
            self.at = min(to, self.size)


class Sample:
    """A payload and what several tests ask of it, each worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\xef\xbb\xbf")
        self.head = self.text[:16384]

    @cached_property
    def head_lines(self) -> list[str]:
        return _whole_lines(self.head, len(self.text) > len(self.head))

    @cached_property
    def csv_records(self) -> list[str]:
        """The first 200 records of the head as CSV sees them; one that the sample cuts off is not among them."""
        return _quoted_records(self.head_lines[:1000])[:200]

    @cached_property
    def sections(self) -> list[list[str]]:
        """Stretches of lines that are not blank, 300 characters each: 160 of the head, then some of later places.

        What one opens (a comment, a string) ends with it.
        """
        found = [self.head_lines[:160]]
        if len(self.text) > len(self.head) and self.head.count("\n") < 160:
            found[0].append(self.head[self.head.rfind("\n") + 1 :])  # a long line that goes on behind the head
        size = len(self.text)
        if size // 2 > len(self.head):
            found.append(_whole_lines(self.text[size // 2 :][:6144], True)[1:41])
        if size - 6144 > len(self.head):
            found.append(_whole_lines(self.text[-6144:], False)[1:][-40:])
        short = [[line[:300] for line in section] for section in found]
        return [[line for line in section if line[:1] > " " or line.strip(" \t")] for section in short]

    @cached_property
    def lines(self) -> Lines:
        """The lines of all sections."""
        return Lines([line for section in self.sections for line in section])

    @cached_property
    def fenced(self) -> bool:
        """Whether Markdown code fences stand at line starts: then what is inside says nothing of the whole."""
        return self.lines.count(FENCE) >= 2 or self._literal_blocks

    @cached_property
    def _literal_blocks(self) -> bool:
        """reStructuredText's way: ``like this::``, a blank line, and the block indented."""
        lines = self.head_lines[:160]
        return "::" in self.head and any(
            line[-2:] == "::"
            and line[:1].strip() != ""
            and LITERAL_NEXT.match(line)
            and not blank.strip()
            and block[:1] in (" ", "\t")
            for line, blank, block in zip(lines, lines[1:], lines[2:], strict=False)
            if block
        )

    # ---- as JSON

    @cached_property
    def json(self) -> Any:
        """The value of a payload that is one JSON document, a list of values for JSON lines, else `NOTHING`."""
        body = self.text.strip(" \t\r\n")
        if not JSON_BEGINS.match(body) or body[-1] not in '}]"':
            return NOTHING
        if not json_depth_ok(body):
            return NOTHING if "\x1b[" in body else None  # JSON as far as one may look, unless colours add brackets
        whole = _load(body)
        return whole if whole is not NOTHING else _load_lines(body)

    @cached_property
    def records(self) -> Sequence[dict[str, Any]]:
        """The first objects of JSON lines; none where it is one document or no JSON."""
        if not isinstance(self.json, _JsonLines):
            return ()
        return [value for value in self.json[:50] if isinstance(value, dict)]

    def records_with(self, *fields: frozenset[str]) -> bool:
        """Whether nearly all JSON lines have a field of each set."""
        having = sum(all(names & record.keys() for names in fields) for record in self.records)
        return bool(self.records) and having >= 0.8 * len(self.records)


def _whole_lines(text: str, cut: bool) -> list[str]:
    lines = LINE_END.compiled.split(text) if "\r" in text else text.split("\n")
    return lines[:-1] if cut and len(lines) > 1 else lines


def _quoted_records(lines: list[str]) -> list[str]:
    """CSV records of lines: a line that leaves a quote open goes on, for 50 lines at most."""
    records: list[str] = []
    held: list[str] = []
    is_open = False
    for line in lines:
        held.append(line)
        if '"' in line:
            is_open ^= line.count('"') % 2 == 1
        if not is_open or len(held) == 50:
            records.append("\n".join(held))
            held, is_open = [], False
    return [record for record in records if record]


# ---------------------------------------------------------------- JSON


class _JsonLines(list[Any]):
    """The values of JSON lines, told apart from a document that is an array."""


_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)  # no number is too long then
_STEP: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS: Final = bytes(set(range(256)) - set(_STEP))


def json_depth_ok(text: str) -> bool:
    """Whether brackets outside of strings nest at most `MAX_DEPTH` deep. Linear; the text need not be valid."""
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    outside = "".join(text.split('"')[::2])
    brackets = raw(outside).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) <= MAX_DEPTH


def _load(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except ValueError:
        return NOTHING


def _load_lines(text: str) -> Any:
    lines = _JsonLines()
    for line in text.split("\n"):
        if line.strip(" \t\r"):
            value = _load(line) if line[0] in "{[" else NOTHING
            if value is NOTHING:
                return NOTHING
            lines.append(value)
    return lines if len(lines) > 1 else NOTHING
