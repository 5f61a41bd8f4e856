"""A pattern over lines that says what a line has that it matches, so that most lines need not be asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final

__all__ = ["BLANK", "DIGITS", "Pattern", "bare", "either", "flush", "pattern"]

BLANK: Final = " \t\f\v"  # what \s matches within a line


class Pattern:
    """A regular expression, compiled when first asked: most payloads need few of them.

    What a line has that the pattern matches, so that the others need not be asked: ``starts``, its first character
    behind the indentation; ``needs``, one of these strings; ``shapes``, one of these with 0 for each digit and A for
    each ASCII capital; ``ends``, its last character. '' and () say nothing. With ``parts`` the pattern matches what
    one of these does; a ``bare`` part sees lines without their indentation.
    """

    def __init__(
        self,
        pattern: str,
        flags: int = re.ASCII,
        starts: str = "",
        needs: tuple[str, ...] = (),
        shapes: tuple[str, ...] = (),
        ends: str = "",
        bare: bool = False,
        parts: tuple[Pattern, ...] = (),
    ) -> None:
        self.pattern, self.flags = pattern, flags
        self.starts, self.needs, self.shapes, self.ends = starts, needs, shapes, ends
        self.bare, self.parts = bare, parts

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        return self._match_of_any if self.parts else self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.fullmatch

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.search

    def _match_of_any(self, line: str) -> re.Match[str] | None:
        bare = line.lstrip(BLANK)
        for part in self.parts:
            if (not part.ends or line[-1:] in part.ends) and (found := part.match(bare if part.bare else line)):
                return found
        return None


def pattern(
    *alternatives: str,
    flags: int = re.ASCII,
    starts: str = "",
    needs: tuple[str, ...] = (),
    shapes: tuple[str, ...] = (),
) -> Pattern:
    """What any of the alternatives matches."""
    return Pattern("|".join(alternatives), flags, starts, needs, shapes)


def either(*parts: Pattern) -> Pattern:
    """What any of the parts matches: the ones that are cheap to ask, or match most, first."""
    return Pattern("", parts=tuple(inner for part in parts for inner in part.parts or (part,)))


def flush(*alternatives: str, needs: tuple[str, ...] = (), shapes: tuple[str, ...] = (), ends: str = "") -> Pattern:
    """A part that sees whole lines."""
    return Pattern("|".join(alternatives), needs=needs, shapes=shapes, ends=ends)


def bare(*alternatives: str, needs: tuple[str, ...] = (), ends: str = "") -> Pattern:
    """A part that sees lines without their indentation."""
    return Pattern("|".join(alternatives), needs=needs, ends=ends, bare=True)


DIGITS: Final = "0123456789"
