"""Hits of a search by file: grep, ripgrep with and without headings, of one file, with context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from caveman_wasm.formats.search_lines import MOST, PATHLIKE, Places, Text, Units, remembered_parts
from caveman_wasm.model import ABSENT, OPAQUE, Group, Value, plain

__all__ = ["read_of_one", "read_prefixed", "read_under_headings", "read_unnumbered"]

BEST: Final = 2  # hits of a file that are shown for what they define
_HIT: Final = re.compile(r"((?:[A-Za-z]:[\\/])?[^:\0\r\n]{1,400}):([0-9]{1,9}):", re.ASCII)
_CONTEXT: Final = re.compile(r"-([0-9]{1,9})-", re.ASCII)
_NUMBERED: Final = re.compile(r"([0-9]{1,9})([:-])", re.ASCII)
_NAMED: Final = re.compile(r"((?:[A-Za-z]:[\\/])?[^:\0\s][^:\0\r\n]{0,300}):(?!//)", re.ASCII)
_NOTICE: Final = re.compile(r"Binary file .{1,400} matches|(?:grep|rg|find|ls|ag|tree|du|fd): ", re.ASCII)
_FAILS: Final = re.compile(
    r"(?:grep|rg|find|ls|ag|tree|du|fd): .*: ([A-Z][A-Za-z ]{2,40})\s*(?:\(os error \d+\))?\Z", re.ASCII
)
_DEFINES: Final = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|pub(?:\([a-z]{1,9}\))?"
    r"|unsafe|override|inline|extern|data|sealed|open)\s+)*"
    r"(?:def|class|function\*?|func|fn|fun|interface|struct|enum|trait|type|module|namespace|record|object|impl)\s+"
    r"(?:\([^()]{0,60}\)\s*)?([A-Za-z_$][\w$]*)",
    re.ASCII,
)


@dataclass(slots=True)
class _Found:
    """One file's hits: lines ``begin`` to ``stop``; ``hits`` are the lines at which a unit begins, ``body`` where in a
    line the text found begins."""

    path: str
    begin: int
    stop: int
    hits: list[int]
    count: int = 0


class _Prefixed:
    """Reads ``path:12:text`` line by line, with context as ``path-12-text`` and ``--`` between."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.files, self.covered = lines, list[_Found](), 0
        self.path, self.number = "", -1  # of the last line that was understood
        self.context = False  # whether the unit that is being put together holds lines of context
        self.waiting = -1  # the first line of context whose hit is still to come
        self.apart = False  # after a line between hits

    def feed(self, i: int, line: str) -> None:
        found = _HIT.match(line)
        context = _CONTEXT.match(line, len(self.path)) if self.path and line.startswith(self.path) else None
        if context is not None and (found is None or found[1] == self.path):
            self._take(i, self.path, int(context[1]), hit=False)
        elif found is not None:
            self._take(i, found[1], int(found[2]), hit=True)
        elif _NOTICE.match(line):
            self._take(i, line, -9, hit=False)
        elif line in ("--", ""):
            self.waiting, self.apart = -1, True
        elif self.files and not self.apart and self.waiting < 0:  # a hit of several lines
            self.files[-1].stop = i + 1
        elif self.waiting < 0:
            self.waiting = i

    def _take(self, i: int, path: str, number: int, *, hit: bool) -> None:
        waited = self.waiting >= 0 and self.lines[self.waiting].startswith(path)
        begin = self.waiting if waited else i
        joined = number == self.number + 1 and not waited and (self.context or not hit)
        _add(self.files, path, begin, i, hit, joined)
        self.covered += i + 1 - begin
        self.context = (joined and self.context) or waited or not hit
        self.path, self.number, self.waiting, self.apart = path, number, -1, False


def read_prefixed(text: Text) -> list[Group] | None:
    sample = text.sample()
    matched = sum(bool(_HIT.match(s)) for s in sample)
    if matched < 2 or matched < 0.1 * len(sample):
        return None
    reading = _Prefixed(text.lines)
    for i, line in enumerate(text.lines):
        reading.feed(i, line)
    said = sum(bool(line) and line != "--" for line in text.lines)
    return _by_file(text, reading.files) if reading.covered >= MOST * said else None


def _add(files: list[_Found], path: str, begin: int, i: int, hit: bool, joined: bool) -> None:
    if not files or files[-1].path != path or _NOTICE.match(path):
        files.append(_Found(path, begin, i + 1, [begin], 0))
    elif not joined:
        files[-1].hits.append(begin)
    files[-1].stop = i + 1
    files[-1].count += hit


def read_under_headings(text: Text) -> list[Group] | None:
    """ripgrep's, ag's and ack's way for people: a path, its ``12:text`` lines, an empty line."""
    sample = text.sample()
    numbered = sum(bool(_NUMBERED.match(s)) for s in sample)
    if numbered < 0.4 * len(sample) or numbered == len(sample):
        return None
    files: list[_Found] = []
    number, context = -1, False
    for i, line in enumerate(text.lines):
        found = _NUMBERED.match(line)
        if found is None:
            number = -1
            if line != "--" and (PATHLIKE.match(line) or _NOTICE.match(line)):
                files.append(_Found(line, i, i + 1, [], 0))
            elif files and line.strip("-"):
                files[-1].stop = i + 1
            continue
        if not files:
            return None
        hit, at = found[2] == ":", int(found[1])
        joined = bool(files[-1].hits) and at == number + 1 and (context or not hit)
        if not joined:
            files[-1].hits.append(i)
        files[-1].count += hit
        files[-1].stop, number, context = i + 1, at, (joined and context) or not hit
    for file in files:
        file.hits = file.hits or [file.begin]
    return _by_file(text, files)


def read_unnumbered(text: Text) -> list[Group] | None:
    """``path:text``, or ``path:12`` as counts."""
    sample = text.sample()
    found = [m for m in map(_NAMED.match, sample) if m is not None]
    names = {m[1] for m in found}
    pathlike = sum("/" in n or "." in n for n in names)
    if len(found) < 0.8 * len(sample) or len(found) < 2 or pathlike < 0.8 * len(names):
        return None
    if any(" " in n.strip() and "/" not in n for n in names):
        return None
    files: list[_Found] = []
    for i, line in enumerate(text.lines):
        match = _NAMED.match(line)
        if _NOTICE.match(line):
            _add(files, line, i, i, hit=False, joined=False)
        elif match is not None:
            _add(files, match[1], i, i, hit=True, joined=False)
        elif files and line:
            files[-1].stop = i + 1
    if all(len(f.hits) == 1 and _count(text, f).isdigit() for f in files):
        return _counted(text, files)
    return _by_file(text, files)


def _count(text: Text, file: _Found) -> str:
    return text.lines[file.begin][len(file.path) + 1 :].strip()


def _counted(text: Text, files: list[_Found]) -> list[Group]:
    places = Places((plain(f.path) for f in files), remembered_parts())

    def read(i: int) -> dict[str, Value]:
        path = plain(files[i].path)
        return {"count": _count(text, files[i]), **places.of(path)}

    reader = Units(read, lambda i: places.kinds(plain(files[i].path)))
    return [text.group([(f.begin, f.stop) for f in files], "files", reader)]


def read_of_one(text: Text) -> list[Group] | None:
    """The hits in a single file: ``12:text``."""
    sample = text.sample()
    if sum(bool(_NUMBERED.match(s)) for s in sample) < 0.95 * len(sample):
        return None
    starts: list[int] = []
    number, context = -1, False
    for i, line in enumerate(text.lines):
        found = _NUMBERED.match(line)
        if found is None:
            continue
        hit, at = found[2] == ":", int(found[1])
        joined = at == number + 1 and (context or not hit)
        if not joined:
            starts.append(i)
        number, context = at, (joined and context) or not hit
    spans = _spans(text, starts, len(text.lines))
    return [text.group(spans, "hits", _hits(text, [a for a, _ in spans], 0))] if spans else None


def _spans(text: Text, starts: Sequence[int], stop: int) -> list[tuple[int, int]]:
    """From each start to the next one, ``--`` lines left between."""
    spans = []
    for a, b in pairwise([*starts, stop]):
        while b > a + 1 and text.lines[b - 1] in ("--", ""):
            b -= 1
        spans.append((a, b))
    return spans


def _by_file(text: Text, files: list[_Found]) -> list[Group]:
    """Files as records; in each all hits but the first, which is literal and so names the file wherever it stays."""
    places = Places((plain(f.path) for f in files if not _NOTICE.match(f.path)), remembered_parts())

    def read(i: int) -> dict[str, Value]:
        if _NOTICE.match(files[i].path):
            return dict.fromkeys(("hits", "ext", "name", "path", "top", "dir"), OPAQUE)
        path = plain(files[i].path)
        return {"hits": str(files[i].count), **places.of(path)}

    def failure(i: int) -> str:
        found = _FAILS.match(files[i].path)
        return plain(found[1]) if found else ""

    reader = Units(read, lambda i: places.kinds(plain(files[i].path)))
    reader.failure = failure
    group = text.group([(f.begin, f.stop) for f in files], "files", reader)
    for i, file in enumerate(files):
        spans = _spans(text, file.hits, file.stop)[1:]
        if spans:
            skip = len(file.path) + 1 if text.lines[file.hits[0]].startswith(file.path) else 0
            hits = text.group(spans, "hits", _hits(text, [a for a, _ in spans], skip))
            hits.mode, hits.heading = "head", plain(file.path)
            defining = [k for k, (a, _) in enumerate(spans) if _defines(text.lines[a], skip)]
            if len(defining) * 2 < len(spans):  # where all hits define something, none is better
                hits.pinned = defining[:BEST]
            group.children[i] = [hits]
    return [group]


def _defines(line: str, skip: int) -> bool:
    """Whether a hit is where the thing is defined: the best hit of a file."""
    number = _NUMBERED.match(line, skip)
    return _DEFINES.match(line, number.end() if number else skip) is not None


def _hits(text: Text, lines: Sequence[int], skip: int) -> Units:
    """Hits: what they define, else what they say where all say the same."""

    def body(i: int) -> str:
        line = text.lines[lines[i]][skip:]
        found = _NUMBERED.match(line)
        return plain(line[found.end() :] if found else line)

    def read(i: int) -> dict[str, Value]:
        said = body(i)
        found = _DEFINES.match(said)
        return {"name": found[1] if found else ABSENT, "text": said.strip() if len(said) <= 200 else OPAQUE}

    def kinds(i: int) -> tuple[str, ...]:
        words = body(i).split(None, 3)[:2]
        return (words[0][:24] if words else "", " ".join(words)[:48])

    return Units(read, kinds)
