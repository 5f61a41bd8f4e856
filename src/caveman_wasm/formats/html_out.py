"""Text that is made of a page's text, with the way back: white space as one blank, character references decoded."""

from __future__ import annotations

import re
from html.entities import html5
from typing import Final

from caveman_wasm.formats.html_page import SPACE
from caveman_wasm.model import source

__all__ = ["BLANKS", "DOT", "Out", "decoded", "value_of"]

_ENTITY: Final = re.compile(r"&(?:#([0-9]{1,9}+)|#[xX]([0-9a-fA-F]{1,8}+)|([A-Za-z][A-Za-z0-9]{1,31}+))(;?)")
_CHANGES: Final = re.compile(rf"[{SPACE}]{{2,}}+|{_ENTITY.pattern}")
BLANKS: Final = str.maketrans("\t\r\n\f", "    ")
DOT: Final = source("·".encode())


def decoded(found: re.Match[str]) -> str:
    """A character reference as source text; as it stands when it names nothing."""
    decimal, hexadecimal, name, end = found.groups()
    if name:
        value = html5.get(name + end) or html5.get(name + ";" if end else name)
        if value is None:
            return found[0]
    else:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        value = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return source(value.replace("\xa0", " ").replace("\u200b", "").encode())


def value_of(written: str) -> str:
    """An attribute's value on one line, character references decoded."""
    return _ENTITY.sub(decoded, " ".join(written.translate(BLANKS).split(" ")).strip(" "))


class Out:
    """Text being made, with pairs back to the payload. Line ends and blanks wait until something follows them."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.offsets: list[int] = []
        self.origins: list[int] = []
        self.size = 0
        self.end = 0  # where in the payload the last piece ended
        self.lines = 0  # line ends to write before what follows
        self.blank = False
        self.prefix = ""
        self.indent = ""
        self.fresh = True  # nothing stands on this line yet

    def put(self, text: str, origin: int) -> None:
        if text:
            if not self.offsets or self.origins[-1] + self.size - self.offsets[-1] != origin:
                self.offsets.append(self.size)
                self.origins.append(origin)
            self.pieces.append(text)
            self.size += len(text)

    def add(self, text: str, origin: int, stop: int) -> None:
        """``text``, made of the payload's ``origin`` to ``stop``."""
        if not text:
            return
        if self.lines or not self.size:
            self.put("\n" * self.lines if self.size else "", self.end)
            self.put(self.indent if not self.prefix else "", origin)
            self.fresh, self.lines = True, 0
        elif self.blank and not self.fresh:
            self.put(" ", self.end)
        self.put(self.prefix, origin)
        self.prefix, self.blank, self.fresh = "", False, False
        self.put(text, origin)
        self.end = stop

    def flow(self, text: str, start: int, stop: int, cell: bool) -> None:
        """Text of the payload with white space as one blank and character references decoded."""
        at = start
        for found in _CHANGES.finditer(text, start, stop):
            self._slice(text, at, found.start(), cell)
            if found[0][0] == "&":
                value = decoded(found)
                if value.strip(" "):
                    self.add(value.replace("|", "\\|") if cell else value, found.start(), found.end())
                else:
                    self.blank = True
            else:
                self.blank = True
            at = found.end()
        self._slice(text, at, stop, cell)

    def _slice(self, text: str, start: int, stop: int, cell: bool) -> None:
        piece = text[start:stop].translate(BLANKS)
        bare = piece.strip(" ")
        if not bare:
            self.blank = self.blank or bool(piece)
            return
        lead = len(piece) - len(piece.lstrip(" "))
        self.blank = self.blank or lead > 0
        at, blank_behind = start + lead, len(piece) > lead + len(bare)
        for part in bare.split("|") if cell else (bare,):
            if at > start + lead:
                self.add("\\|", at - 1, at)
            self.add(part, at, at + len(part))
            at += len(part) + 1
        self.blank = blank_behind

    def verbatim(self, text: str, start: int, stop: int) -> None:
        """Preformatted text: only character references change."""
        at = start
        for found in _ENTITY.finditer(text, start, stop):
            self.put(text[at : found.start()], at)
            self.put(decoded(found), found.start())
            at = found.end()
        self.put(text[at:stop], at)
        self.end, self.fresh = stop, False

    def break_line(self, lines: int) -> None:
        self.lines = max(self.lines, lines)
        self.blank = False
