"""Sentences of prose in any script, as spans of source text."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.model import source

__all__ = ["LONG", "SENTENCE", "SPACE", "cut", "sentences", "signs"]

LONG: Final = 2_000  # bytes; a sentence above this (a line without an end) is cut at blanks
PIECE: Final = 1_000  # bytes of such a cut
SPACE: Final = " \t\r\n\f\v"  # white space of source text: 0x85 and 0xA0 are none


def signs(*characters: str) -> str:
    """An alternation of characters in their UTF-8 form."""
    return "|".join(re.escape(source(c.encode())) for c in characters)


def _tails(characters: str) -> str:
    """The same alternation for a position behind each character's first byte."""
    return "|".join(f"(?<={c[0]}){c[1:]}" for c in characters.split("|"))


# Full stops of scripts that write no blank after them, and of those that do; a class of bytes comes first in each
# pattern, since only then the search skips what cannot begin a match.
_FULL: Final = signs(*"。！？．｡")
_STOPS: Final = signs(*"؟۔।॥։።။។…")
_CLOSE: Final = rf"""(?:[)\]"'*_`>]|{signs(*"」』）】》”’»")}){{0,6}}+"""
_CLOSE_FULL: Final = rf"(?:[)\]\"]|{signs(*'」』）】》”’')}){{0,6}}+(?:[*_`]{{1,3}}(?=[ \t\r\n]))?"
_LATIN: Final = rf"(?<![.!?][.!?])[.!?]*+{_CLOSE}(?=[ \t\r\n])[ \t\r\n]++(?![a-z,;)])"
_SENTENCE_ASCII: Final = re.compile(rf"[.!?]{_LATIN}")
SENTENCE: Final = re.compile(
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


def sentences(text: str, start: int, stop: int) -> tuple[list[int], list[int]]:
    """Spans of the sentences in ``text[start:stop]``, white space between them left out."""
    ends, begins = [], [start]
    ascii_only = text[start:stop].isascii()
    for found in (_SENTENCE_ASCII if ascii_only else SENTENCE).finditer(text, start, stop):
        at = found.start()
        if found.end() >= stop or (text[at] == "." and _ABBREVIATED.search(text[max(start, at - 9) : at + 1])):
            continue
        ends.append(at + len(found[0].rstrip(SPACE)))
        begins.append(found.end())
    ends.append(stop)
    if max([b - a for a, b in zip(begins, ends, strict=True)]) <= LONG:
        return begins, ends
    parts = [cut(text, a, b) for a, b in zip(begins, ends, strict=True)]
    return [a for starts, _ in parts for a in starts], [b for _, stops in parts for b in stops]


def cut(text: str, start: int, stop: int) -> tuple[list[int], list[int]]:
    """Spans of the pieces of a text without an end, cut at blanks."""
    spans = [m.span() for m in _PIECES.finditer(text, start, stop)]
    return [a for a, _ in spans], [max(a + 1, a + len(text[a:b].rstrip(SPACE))) for a, b in spans]
