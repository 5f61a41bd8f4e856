"""Searches and listings: grep, ripgrep, ag, ack, git grep; find, ls, tree, du, git ls-files; web hits.

What is found where is a matter of files: hits are grouped by file, the entries of a listing by directory. Files and
directories are chosen by worth, inside of one its first hits stay. What goes is counted, and named where names fit.

    files (grep)              the first hit is literal, so a file that stays names itself
      hits                    a hit with its context lines is one
    directories (find, ls -R)
      entries
    results (a web search)    title and address are literal
      lines                   of the snippet
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final

from caveman_wasm.model import ABSENT, OPAQUE, Columns, Document, Group, Rewritten, Value, plain

__all__ = ["SEARCH_RESULT"]

SAMPLE: Final = 400  # lines that say what kind of search or listing it is
MOST: Final = 0.6  # of them have to look like it
FEW_DIRECTORIES: Final = 8  # more are stated by their top directory (an enumeration has eight values at most)
PER_DIRECTORY: Final = 5  # entries a directory has on average, or the listing is grouped by the one above it
BEST: Final = 2  # hits of a file that are shown for what they define
DEEPEST: Final = 12  # directories above an entry that grouping looks at
SUMS: Final = 3  # lines that sum up what was found
DEPTH: Final = 7  # groups that nest in a tree's listing

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

_LS: Final = re.compile(
    r"(?:\s*\d+\s+\d+\s+)?([-dlbcpsD])[-rwxsStTl]{9}[.+@]?\s+(?:\d+\s+)?(\S+)\s+(\S+)\s+"
    r"(\d+,\s*\d+|[0-9.]+[KMGTPE]?)\s+"
    r"([12]\d{3}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?: [+-]\d{4})?"
    r"|[A-Z][a-z]{2}\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})|\d{1,2}\s+[A-Z][a-z]{2}\s+(?:\d\d:\d\d|\d{4}))\s(.+)\Z",
    re.ASCII,
)
_OBJECT: Final = re.compile(r"\d{6} (?:(blob|tree|commit) )?[0-9a-f]{7,64}(?: +(?:\d+|-))?(?: \d)?\t(.+)\Z", re.ASCII)
_SIZED: Final = re.compile(r"\s*([0-9][0-9.]*[KMGTPE]?i?B?)[ \t]+((?:\S.*)?\S)\Z", re.ASCII)
_STATUS: Final = re.compile(r"([ MADRCUT?!]{2}) (\S.*)\Z", re.ASCII)
_PACKAGE: Final = re.compile(
    r"([a-z0-9][\w.+:-]*)/([\w,.-]+) (\d\S*) ([a-z0-9-]+)(?: \[(.*)\])?\Z", re.ASCII
)  # apt list
_DIR: Final = re.compile(
    r"(\d\d[/.]\d\d[/.]\d{4})\s+\d\d:\d\d(?: [AP]M)?\s+(?:(<DIR>)|([\d,.]+))\s+(\S.*)\Z", re.ASCII
)  # Windows
_VERSIONED: Final = re.compile(r"([\w.-]+) \((?:default: )?(\d[\w.-]*)[\w., :-]*\)\Z", re.ASCII)  # gem list
_BRANCHED: Final = re.compile(r"[* ] ([\w.-]+(?:/[\w.-]+)*)\Z", re.ASCII)  # git branch
_DESCRIBED: Final = re.compile(r"([A-Za-z0-9][\w.+@/-]*)(?: \((\w+)\))? +- \S.*\Z", re.ASCII)  # apt search, man -k
_SUM: Final = re.compile(r"(?:[A-Z][\w ]{0,40}: )?[0-9][0-9,.]* [A-Za-z][^:/]{2,120}\Z", re.ASCII)
_HEADED: Final = re.compile(r"(\S.*):\Z", re.ASCII)
_BRANCH: Final = re.compile(
    r"((?:\xe2\x94[\x82\x83]|\|| |\xc2\xa0)*)"
    r"(?:\xe2\x94[\x94\x9c\x97\xa3\xb0\x80](?:\xe2\x94\x80)*|[|`\\+]--+)[ \xc2\xa0]*(.+)\Z",
    re.ASCII,
)
_PATHLIKE: Final = re.compile(r"[^\s:]*[./\\][^:]*\Z|[^\s:]+/?\Z", re.ASCII)
_RESULT: Final = re.compile(
    r"\s{0,3}(?:#{1,4} )?(?:\[\d{1,4}\]|\(?\d{1,4}[.):])[ \t]+\S|\s{0,3}(?:\*\*)?Title:[ \t]", re.ASCII
)
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"')]+", re.ASCII)


@dataclass(slots=True)
class _Text:
    """Lines without their ends, and the offset at which each starts; ``ends``: "\\n", or "\\0" in a list of names."""

    text: str
    ends: str
    lines: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split(self.ends)
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
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

    def group(self, spans: Sequence[tuple[int, int]], noun: str, reader: _Units | None = None) -> Group:
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


class _Units:
    """Reads units by a function that gives each one's fields; they are read late and only where somebody asks."""

    typed = False

    def __init__(self, read: Callable[[int], dict[str, Value]], kinds: Callable[[int], tuple[str, ...]]) -> None:
        self.read, self.kind = read, kinds
        self.failure: Callable[[int], str] = lambda i: ""

    def columns(self, first: int, last: int) -> Columns:
        rows = [self.read(i) for i in range(first, last)]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name, ABSENT) for row in rows] for name in names}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return list(zip(*map(self.kind, range(first, last)), strict=True))

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [self.failure(i) for i in range(first, last)]


# ---------------------------------------------------------------- paths


def _parts(path: str) -> tuple[str, str, str]:
    """Directory, name and extension of a path, plain text."""
    folder, _, name = path.rstrip("/").replace("\\", "/").rpartition("/")
    stem, dot, ext = name.rpartition(".")
    return folder, name, f".{ext}" if dot and stem and len(ext) <= 12 and " " not in ext else ""


class _Places:
    """What is said of paths: their names where these tell them apart, or the folder each is in (one package.json a
    folder), and their directory; where there are many directories, the top one stands for them."""

    def __init__(self, paths: Iterable[str]) -> None:
        parts = [_parts(p) for p in dict.fromkeys(paths)]
        names = [p[1] for p in parts]
        folders = list(dict.fromkeys(p[0] for p in parts))
        common = _common([f.split("/") for f in folders])
        self.deep, self.common = len(folders) > FEW_DIRECTORIES, common
        self.one = len(folders) == 1
        self.named = _differ(names)
        self.housed = not self.named and _differ([p[0].rpartition("/")[2] for p in parts])

    def of(self, path: str) -> dict[str, Value]:
        folder, name, ext = _parts(path)
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
        folder, _, ext = _parts(path)
        top = "/".join(folder.split("/")[: self.common + 1])
        return top, f"{top} {ext}", f"{folder} {ext}"


def _differ(names: Sequence[str]) -> bool:
    """Whether nearly all the names are different, so that they tell things apart."""
    return len(set(names)) >= 0.9 * len(names)


def _common(paths: Sequence[list[str]]) -> int:
    """How many leading parts all the paths share."""
    if not paths:
        return 0
    low, high = min(paths), max(paths)
    return next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))


# ---------------------------------------------------------------- hits by file


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


def _prefixed(text: _Text) -> list[Group] | None:
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


def _under_headings(text: _Text) -> list[Group] | None:
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
            if line != "--" and (_PATHLIKE.match(line) or _NOTICE.match(line)):
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


def _unnumbered(text: _Text) -> list[Group] | None:
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


def _count(text: _Text, file: _Found) -> str:
    return text.lines[file.begin][len(file.path) + 1 :].strip()


def _counted(text: _Text, files: list[_Found]) -> list[Group]:
    places = _Places(plain(f.path) for f in files)

    def read(i: int) -> dict[str, Value]:
        path = plain(files[i].path)
        return {"count": _count(text, files[i]), **places.of(path)}

    reader = _Units(read, lambda i: places.kinds(plain(files[i].path)))
    return [text.group([(f.begin, f.stop) for f in files], "files", reader)]


def _of_one(text: _Text) -> list[Group] | None:
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


def _spans(text: _Text, starts: Sequence[int], stop: int) -> list[tuple[int, int]]:
    """From each start to the next one, ``--`` lines left between."""
    spans = []
    for a, b in pairwise([*starts, stop]):
        while b > a + 1 and text.lines[b - 1] in ("--", ""):
            b -= 1
        spans.append((a, b))
    return spans


def _by_file(text: _Text, files: list[_Found]) -> list[Group]:
    """Files as records; in each all hits but the first, which is literal and so names the file wherever it stays."""
    places = _Places(plain(f.path) for f in files if not _NOTICE.match(f.path))

    def read(i: int) -> dict[str, Value]:
        if _NOTICE.match(files[i].path):
            return dict.fromkeys(("hits", "ext", "name", "path", "top", "dir"), OPAQUE)
        path = plain(files[i].path)
        return {"hits": str(files[i].count), **places.of(path)}

    def failure(i: int) -> str:
        found = _FAILS.match(files[i].path)
        return plain(found[1]) if found else ""

    reader = _Units(read, lambda i: places.kinds(plain(files[i].path)))
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


def _hits(text: _Text, lines: Sequence[int], skip: int) -> _Units:
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

    return _Units(read, kinds)


# ---------------------------------------------------------------- listings


def _entry(line: str) -> tuple[str, dict[str, Value]]:
    """A listing's line: its path (source text) and what else it says."""
    found = _LS.match(line)
    if found is not None:
        path, _, target = found[6].partition(" -> ")
        size: Value = OPAQUE if "," in found[4] else found[4]
        said: dict[str, Value] = {
            "type": _TYPES.get(found[1], found[1]),
            "size": size,
            "owner": plain(found[2]),
            "modified": found[5],
        }
        return path, said | ({"target": OPAQUE} if target else {})
    found = _OBJECT.match(line)
    if found is not None:
        return found[2], {"type": found[1] or ABSENT}
    found = _STATUS.match(line)
    if found is not None:
        return found[2], {"status": found[1].strip() or OPAQUE}
    found = _SIZED.match(line)
    if found is not None:
        return found[2], {"size": found[1]}
    found = _PACKAGE.match(line)
    if found is not None:
        return found[1], {"suite": found[2], "version": found[3], "arch": found[4], "state": found[5] or ABSENT}
    found = _DESCRIBED.match(line)
    if found is not None:
        return found[1], {"section": found[2] or ABSENT}
    found = _DIR.match(line)
    if found is not None:
        return found[4], {"type": "directory" if found[2] else "file", "size": OPAQUE, "modified": found[1]}
    found = _VERSIONED.match(line)
    if found is not None:
        return found[1], {"version": found[2]}
    found = _BRANCHED.match(line)
    if found is not None:
        return found[1], {}
    return line.strip(), {}


_TYPES: Final = {"-": "file", "d": "directory", "l": "link", "b": "block", "c": "character", "p": "pipe", "s": "socket"}


def _entries(text: _Text, lines: Sequence[int], noun: str = "entries") -> Group:
    """Entries as records, read by the columns of their listing."""
    paths: dict[int, str] = {}

    def path(i: int) -> str:
        if i not in paths:
            paths[i] = plain(_entry(text.lines[lines[i]])[0])
        return paths[i]

    places = _Places(path(i) for i in range(len(lines)))

    def read(i: int) -> dict[str, Value]:
        return {**places.of(path(i)), **_entry(text.lines[lines[i]])[1]}

    def kinds(i: int) -> tuple[str, ...]:
        what = str(_entry(text.lines[lines[i]])[1].get("type", ""))
        top, kind, fine = places.kinds(path(i))
        return what, f"{what} {top}", f"{what} {kind}", fine

    return text.group([(i, i + 1) for i in lines], noun, _Units(read, kinds))


def _listing(text: _Text) -> list[Group] | None:
    """``ls -R`` and its like under headings; else lines with a path in each, by directory."""
    headed = _headed(text)
    if headed is not None:
        return headed
    lines = [i for i, line in enumerate(text.lines) if line.strip() and not line.startswith("total ")]
    if len(lines) < 2:
        return None
    sample = [text.lines[i] for i in lines[:SAMPLE]]
    if text.ends == "\n" and sum(map(_is_entry, sample)) < 0.85 * len(sample):
        return None
    folders = [_parts(plain(_entry(text.lines[i])[0]))[0].split("/")[:DEEPEST] for i in lines]
    depth = _depth(folders)
    if not depth:
        return [_entries(text, lines)]
    cuts = [0, *(k for k in range(1, len(lines)) if folders[k][:depth] != folders[k - 1][:depth]), len(lines)]
    return [_by_directory(text, [("/".join(folders[a][:depth]), lines[a:b]) for a, b in pairwise(cuts)])]


def _is_entry(line: str) -> bool:
    return bool(
        _LS.match(line)
        or _OBJECT.match(line)
        or _PATHLIKE.match(line)
        or _SIZED.match(line)
        or _STATUS.match(line)
        or _PACKAGE.match(line)
        or _DESCRIBED.match(line)
        or _DIR.match(line)
        or _VERSIONED.match(line)
        or _BRANCHED.match(line)
    )


def _depth(folders: list[list[str]]) -> int:
    """How many directories deep to group so that a directory holds some entries; 0: not by directory at all."""
    shared = _common(folders)
    for depth in range(DEEPEST, shared, -1):
        groups = 1 + sum(a[:depth] != b[:depth] for a, b in pairwise(folders))
        if 1 < groups <= len(folders) / PER_DIRECTORY:
            return depth
    return 0


def _headed(text: _Text) -> list[Group] | None:
    """Directories as ``ls -R`` lists them: ``dir:``, perhaps ``total 12``, entries, an empty line."""
    heads = [i for i in _after_empty(text) if _HEADED.match(text.lines[i])]
    if not heads or (heads[0] > 0 and len(heads) < 2):
        return None
    found: list[tuple[str, list[int]]] = []
    for a, b in pairwise([*heads, len(text.lines)]):
        inside = [i for i in range(a + 1, b) if text.lines[i].strip() and not text.lines[i].startswith("total ")]
        found.append((plain(text.lines[a][:-1]), [a, *inside]))
    before = [i for i in range(heads[0]) if text.lines[i].strip() and not text.lines[i].startswith("total ")]
    groups = [_entries(text, before)] if before else []
    return [*groups, _by_directory(text, found)]


def _by_directory(text: _Text, found: Sequence[tuple[str, list[int]]]) -> Group:
    """``found``: for each directory its path and its lines; the first, heading or entry, is literal and so names it."""

    def read(i: int) -> dict[str, Value]:
        path, lines = found[i]
        return {"entries": str(len(lines) - text.lines[lines[0]].endswith(":")), "path": path or "."}

    def kinds(i: int) -> tuple[str, ...]:
        parts = found[i][0].split("/")
        return "/".join(parts[: shared + 1]), "/".join(parts[: shared + 2])

    shared = _common([f[0].split("/") for f in found])
    group = text.group([(lines[0], lines[-1] + 1) for _, lines in found], "directories", _Units(read, kinds))
    for i, (path, lines) in enumerate(found):
        if len(lines) > 1:
            inside = _entries(text, lines[1:])
            inside.heading = path
            group.children[i] = [inside]
    return group


def _tree(text: _Text) -> list[Group] | None:
    """``tree``: branches drawn with lines; an entry holds what hangs below it."""
    sample = text.sample()
    if sum(bool(_BRANCH.match(s)) for s in sample) < MOST * len(sample):
        return None
    rows: list[tuple[int, int, str]] = []
    for i, line in enumerate(text.lines):
        found = _BRANCH.match(line)
        if found is not None:
            rows.append((i, len(plain(found[1])) // 4, plain(found[2])))
    return _branches(text, rows, 0)


def _branches(text: _Text, rows: Sequence[tuple[int, int, str]], level: int) -> list[Group]:
    """Siblings as one group (recursion ends at `DEPTH`)."""
    depth = min(row[1] for row in rows)
    heads = [k for k, row in enumerate(rows) if row[1] == depth or k == 0]
    names = [rows[k][2] for k in heads]
    cuts = [*heads, len(rows)]

    def read(i: int) -> dict[str, Value]:
        _, name, ext = _parts(names[i])
        return {"name": name, "ext": ext or ABSENT, "type": "directory" if cuts[i + 1] - cuts[i] > 1 else ABSENT}

    def kinds(i: int) -> tuple[str, ...]:
        return ("directory" if cuts[i + 1] - cuts[i] > 1 else "file", _parts(names[i])[2])

    spans = [(rows[a][0], rows[b - 1][0] + 1) for a, b in pairwise(cuts)]
    group = text.group(spans, "entries", _Units(read, kinds))
    for i, (a, b) in enumerate(pairwise(cuts)):
        if b - a > 1 and level < DEPTH - 1:
            group.children[i] = _branches(text, rows[a + 1 : b], level + 1)
            group.children[i][0].heading = names[i]
    return [group]


# ---------------------------------------------------------------- web hits


def _web(text: _Text) -> list[Group] | None:
    """Results of a web search: a title, an address, a snippet; numbered, or parted by empty lines."""
    numbered = [i for i, line in enumerate(text.lines) if _RESULT.match(line)]
    for heads in (numbered, _after_empty(text)):
        cuts = [*heads, len(text.lines)]
        at = [_address(text, a, min(b, a + 4)) for a, b in pairwise(cuts)]
        if len(heads) >= 2 and sum(k >= 0 for k in at) >= 0.8 * len(heads):
            return [_results(text, cuts, at)]
    return None


def _address(text: _Text, begin: int, stop: int) -> int:
    """The first line that holds an address, or -1."""
    return next((k for k in range(begin, stop) if _ADDRESS.search(text.lines[k])), -1)


def _after_empty(text: _Text) -> list[int]:
    """Lines that begin a block: the first one, and those after an empty one."""
    return [i for i, line in enumerate(text.lines) if line.strip() and (i == 0 or not text.lines[i - 1].strip())]


def _results(text: _Text, cuts: Sequence[int], at: Sequence[int]) -> Group:
    def read(i: int) -> dict[str, Value]:
        found = _ADDRESS.search(text.lines[at[i]]) if at[i] >= 0 else None
        return {"url": plain(found[0]) if found else OPAQUE, "site": plain(found[0].split("/")[2]) if found else OPAQUE}

    group = text.group(list(pairwise(cuts)), "results", _Units(read, lambda i: (str(read(i)["site"]),)))
    group.mode, group.pinned = "head", range(len(group))
    for i, (a, b) in enumerate(pairwise(cuts)):
        snippet = [k for k in range(max(at[i], a) + 1, b) if text.lines[k].strip()]
        if snippet:
            inside = text.group([(k, k + 1) for k in snippet], "lines")
            inside.mode, inside.heading = "outline", plain(text.lines[a].strip()[:100])
            group.children[i] = [inside]
    return group


# ---------------------------------------------------------------- the format

_READINGS: Final = (_tree, _web, _prefixed, _under_headings, _of_one, _unnumbered, _listing)


class SearchResult:
    """The format of what searches find and listings list."""

    name = "search-result"
    keep = 0.35
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """Hits by file, entries by directory, results; None when the lines are none of these."""
        ends = "\0" if "\0" in text and "\0" in text[: text.find("\n") + 1 or len(text)] else "\n"
        read = _Text(text, ends)
        if not read.sample():
            return None
        readings = (_listing,) if ends == "\0" else _READINGS
        groups = next(filter(None, (reading(read) for reading in readings)), None)
        if not groups:
            return None
        return Document(text, self.name, groups, len(text), newline="\n" if ends == "\n" else "")

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """A line of its own; in a list of names between NULs, an element."""
        return sentence

    def reference(self, sentence: str, document: Document) -> str:
        if not document.newline:
            return sentence if document.text.endswith("\0") else "\0" + sentence
        newline = "\r\n" if "\r\n" in document.text[: document.text.find("\n") + 1] else "\n"
        return sentence + newline if document.text.endswith("\n") else newline + sentence


SEARCH_RESULT: Final = SearchResult()
