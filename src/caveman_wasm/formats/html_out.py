"""Text that is made of a page's text, with the way back: white space as one blank, character references decoded."""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import html5
from typing import Final

from caveman_wasm.formats.html_page import SPACE
from caveman_wasm.model import Rewritten, source

__all__ = ["DOT", "Out", "decoded", "on_one_line", "value_of"]

_ENTITY: Final = re.compile(r"&(?:#([0-9]{1,9}+)|#[xX]([0-9a-fA-F]{1,8}+)|([A-Za-z][A-Za-z0-9]{1,31}+))(;?)")
_CHANGES: Final = re.compile(rf"  +|{_ENTITY.pattern}")
DOT: Final = source("·".encode())


def decoded(found: re.Match[str]) -> str:
    """A character reference as source text; as it stands when it names nothing."""
    return _decoded(found[0])


@lru_cache(1024)
def _decoded(reference: str) -> str:
    found = _ENTITY.fullmatch(reference)
    assert found is not None
    decimal, hexadecimal, name, end = found.groups()
    if name:
        value = html5.get(name + end) or html5.get(name + ";" if end else name)
        if value is None:
            return reference
    else:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        value = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return source(value.replace("\xa0", " ").replace("\u200b", "").encode())


def value_of(written: str) -> str:
    """An attribute's value on one line, character references decoded."""
    return _ENTITY.sub(decoded, on_one_line(written).strip(" "))


def on_one_line(text: str) -> str:
    """Each white space as a blank. (`str.translate` is slow outside of ASCII.)"""
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ").replace("\f", " ")


class Out:
    """Text being made: pieces, and where in the payload each came from. Line ends and blanks wait until something
    follows them."""

    __slots__ = ("blank", "end", "indent", "lines", "origins", "pieces", "prefix")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.origins: list[int] = []
        self.end = 0  # where in the payload the last piece ended
        self.lines = 0  # line ends to write before what follows
        self.blank = False
        self.prefix = ""
        self.indent = ""

    def put(self, text: str, origin: int) -> None:
        if text:
            self.pieces.append(text)
            self.origins.append(origin)

    def add(self, text: str, origin: int, stop: int) -> None:
        """``text``, made of the payload's ``origin`` to ``stop``."""
        if not text:
            return
        pieces, origins = self.pieces, self.origins
        if self.lines or not pieces:
            if self.lines and pieces:
                pieces.append("\n" * self.lines)
                origins.append(self.end)
            if self.indent and not self.prefix:
                pieces.append(self.indent)
                origins.append(origin)
            self.lines = 0
        elif self.blank:
            pieces.append(" ")
            origins.append(self.end)
        if self.prefix:
            pieces.append(self.prefix)
            origins.append(origin)
            self.prefix = ""
        self.blank = False
        pieces.append(text)
        origins.append(origin)
        self.end = stop

    def flow(self, said: str, at: int, cell: bool) -> None:
        """Text of the payload with white space as one blank and character references decoded."""
        bare = said.strip(SPACE)
        if not bare:
            self.blank = self.blank or said != ""
            return
        if len(bare) < len(said) and said[0] in SPACE:
            at += len(said) - len(said.lstrip(SPACE))
            self.blank = True
        if not bare.isprintable():
            bare = on_one_line(bare)
        if "&" in bare or "  " in bare or (cell and "|" in bare):
            self._changed(bare, at, cell)
        else:
            self.add(bare, at, at + len(bare))
        if len(bare) < len(said) and said[-1] in SPACE:
            self.blank = True

    def _changed(self, bare: str, start: int, cell: bool) -> None:
        at = 0
        for found in _CHANGES.finditer(bare):
            first, stop = found.span()
            if at < first:
                self._slice(bare[at:first], start + at, cell)
            at = stop
            value = _decoded(found[0]) if bare[first] == "&" else " "
            if value.strip(" "):
                self.add(value.replace("|", "\\|") if cell else value, start + first, start + stop)
            else:
                self.blank = True
        if at < len(bare):
            self._slice(bare[at:], start + at, cell)

    def _slice(self, piece: str, at: int, cell: bool) -> None:
        """``piece`` is not empty, and no two blanks in it follow each other."""
        bare = piece.strip(" ")
        if piece[0] == " ":
            self.blank = True
            at += 1
        if not cell or "|" not in bare:
            self.add(bare, at, at + len(bare))
        else:
            first = at
            for part in bare.split("|"):
                if at > first:
                    self.add("\\|", at - 1, at)
                self.add(part, at, at + len(part))
                at += len(part) + 1
        if piece[-1] == " ":
            self.blank = True

    def verbatim(self, said: str, start: int) -> None:
        """Preformatted text: only character references change."""
        at = 0
        for found in _ENTITY.finditer(said):
            self.put(said[at : found.start()], start + at)
            self.put(decoded(found), start + found.start())
            at = found.end()
        self.put(said[at:], start + at)
        self.end = start + len(said)

    def break_line(self, lines: int) -> None:
        if lines > self.lines:
            self.lines = lines
        self.blank = False

    def rewritten(self) -> Rewritten:
        """The text and the way back; pieces that follow each other in the payload too share one pair."""
        text = "".join(self.pieces)
        offsets: list[int] = []
        origins: list[int] = []
        at = moved = 0
        for piece, origin in zip(self.pieces, self.origins, strict=True):
            if origin - at != moved or not offsets:
                moved = origin - at
                offsets.append(at)
                origins.append(origin)
            at += len(piece)
        return Rewritten(text + "\n" if text else "", offsets, origins)
