"""What searches and listings share: their lines, units made of lines, and where paths lie."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Final

from caveman_wasm.formats.base import LastRead
from caveman_wasm.model import ABSENT, Columns, Group, Value, line_starts

__all__ = [
    "MOST",
    "PATHLIKE",
    "REMEMBERED",
    "SAMPLE",
    "Parts",
    "Places",
    "Text",
    "Units",
    "after_empty_lines",
    "path_parts",
    "remembered_parts",
    "shared_depth",
]

SAMPLE: Final = 400  # lines that say what kind of search or listing it is
MOST: Final = 0.6  # of them have to look like it
FEW_DIRECTORIES: Final = 8  # more are stated by their top directory (an enumeration has eight values at most)
REMEMBERED: Final = 8192  # lines and paths that are kept while a listing is cut and told of
SUMS: Final = 3  # lines that sum up what was found
_SUM: Final = re.compile(r"(?:[A-Z][\w ]{0,40}: )?[0-9][0-9,.]* [A-Za-z][^:/]{2,120}\Z", re.ASCII)
PATHLIKE: Final = re.compile(r"[^\s:]*[./\\][^:]*\Z|[^\s:]+/?\Z", re.ASCII)


@dataclass(slots=True)
class Text:
    """Lines without their ends, and the offset at which each starts; ``ends``: "\\n", or "\\0" in a list of names."""

    text: str
    ends: str
    lines: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split(self.ends)
        self.starts = line_starts(self.lines)
        if not self.lines[-1]:
            self.lines.pop()
        if "\r" in self.text and self.ends == "\n":
            self.lines = [line[:-1] if line.endswith("\r") else line for line in self.lines]
        if self.ends == "\n":
            self._leave_sums()

    def _leave_sums(self) -> None:
        """What a command says at the end of all it found, after an empty line, stays outside: it is no hit."""
        last = len(self.lines)
        while last and not self.lines[last - 1].strip():
            last -= 1
        first = last
        while first and last - first < SUMS and _SUM.match(self.lines[first - 1]):
            first -= 1
        if 0 < first < last and not self.lines[first - 1].strip():
            self.lines = self.lines[: first - 1]

    def group(self, spans: Sequence[tuple[int, int]], noun: str, reader: Units | None = None) -> Group:
        """Units of whole lines, empty ones at their end left outside."""
        stops = array("q")
        for begin, stop in spans:
            while stop > begin + 1 and not self.lines[stop - 1].strip():
                stop -= 1
            stops.append(self.starts[stop - 1] + len(self.lines[stop - 1]))
        group = Group(array("q", [self.starts[a] for a, _ in spans]), stops, "records", noun)
        group.reader = reader
        return group

    def sample(self) -> list[str]:
        return [line for line in self.lines[:SAMPLE] if line.strip()]


class Units:
    """Reads units by a function that gives each one's fields; they are read late and only where somebody asks."""

    typed = False

    def __init__(self, read: Callable[[int], dict[str, Value]], kinds: Callable[[int], tuple[str, ...]]) -> None:
        self.read, self.kind = read, kinds
        self.failure: Callable[[int], str] | None = None
        self._last = LastRead[list[dict[str, Value]]]()

    def columns(self, first: int, last: int) -> Columns:
        read, part = self._last.of(first, last, lambda first, last: list(map(self.read, range(first, last))))
        rows = read[part]
        names = dict.fromkeys(chain.from_iterable(rows))
        return {name: [row.get(name, ABSENT) for row in rows] for name in names}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return list(zip(*map(self.kind, range(first, last)), strict=True))

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first) if self.failure is None else list(map(self.failure, range(first, last)))


def path_parts(path: str) -> tuple[str, str, str]:
    """Directory, name and extension of a path, plain text."""
    folder, _, name = path.rstrip("/").replace("\\", "/").rpartition("/")
    stem, dot, ext = name.rpartition(".")
    return folder, name, f".{ext}" if dot and stem and len(ext) <= 12 and " " not in ext else ""


Parts = Callable[[str], tuple[str, str, str]]


def remembered_parts() -> Parts:
    """`path_parts` that remembers: a path is told of when it is cut, chosen and left out."""
    return lru_cache(REMEMBERED)(path_parts)


class Places:
    """What is said of paths: their names where these tell them apart, or the folder each is in (one package.json a
    folder), and their directory; where there are many directories, the top one stands for them."""

    def __init__(self, paths: Iterable[str], parts_of: Parts) -> None:
        self.parts = parts_of
        parts = [self.parts(p) for p in dict.fromkeys(paths)]
        names = [p[1] for p in parts]
        folders = list(dict.fromkeys(p[0] for p in parts))
        common = shared_depth([f.split("/") for f in folders])
        self.deep, self.common = len(folders) > FEW_DIRECTORIES, common
        self.one = len(folders) == 1
        self.named = _differ(names)
        self.housed = not self.named and _differ([p[0].rpartition("/")[2] for p in parts])

    def of(self, path: str) -> dict[str, Value]:
        folder, name, ext = self.parts(path)
        said: dict[str, Value] = {"ext": ext or ABSENT}
        if self.named or self.housed:
            said["name"] = name
        else:
            said["path"] = path
        if self.housed:
            said["folder"] = folder.rpartition("/")[2] or "."
        if self.deep:
            said["top"] = "/".join(folder.split("/")[: self.common + 1]) or "."
        elif not self.one:
            said["dir"] = folder or "."
        return said

    def kinds(self, path: str) -> tuple[str, ...]:
        folder, _, ext = self.parts(path)
        top = "/".join(folder.split("/")[: self.common + 1])
        return top, f"{top} {ext}", f"{folder} {ext}"


def _differ(names: Sequence[str]) -> bool:
    """Whether nearly all the names are different, so that they tell things apart."""
    return len(set(names)) >= 0.9 * len(names)


def shared_depth(paths: Sequence[list[str]]) -> int:
    """How many leading parts all the paths share."""
    if not paths:
        return 0
    low, high = min(paths), max(paths)
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))


def after_empty_lines(text: Text) -> list[int]:
    """Lines that begin a block: the first one, and those after an empty one."""
    return [i for i, line in enumerate(text.lines) if line.strip() and (i == 0 or not text.lines[i - 1].strip())]
