"""Listings by directory: find, ls, tree, du, git ls-files, packages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from caveman_wasm.formats.search_lines import (
    MOST,
    PATHLIKE,
    REMEMBERED,
    SAMPLE,
    Parts,
    Places,
    Text,
    Units,
    after_empty_lines,
    remembered_parts,
    shared_depth,
)
from caveman_wasm.model import ABSENT, OPAQUE, Group, Value, plain

__all__ = ["read_listing", "read_tree"]

PER_DIRECTORY: Final = 5  # entries a directory has on average, or the listing is grouped by the one above it
DEEPEST: Final = 12  # directories above an entry that grouping looks at
DEPTH: Final = 7  # groups that nest in a tree's listing
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
_HEADED: Final = re.compile(r"(\S.*):\Z", re.ASCII)
_BRANCH: Final = re.compile(
    r"((?:\xe2\x94[\x82\x83]|\|| |\xc2\xa0)*)"
    r"(?:\xe2\x94[\x94\x9c\x97\xa3\xb0\x80](?:\xe2\x94\x80)*|[|`\\+]--+)[ \xc2\xa0]*(.+)\Z",
    re.ASCII,
)


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


class _Known:
    """Entries and the parts of paths; some thousands are remembered while a listing is cut and told of."""

    def __init__(self) -> None:
        self.entry: Callable[[str], tuple[str, dict[str, Value]]] = lru_cache(REMEMBERED)(_entry)
        self.parts = remembered_parts()


def _entries(text: Text, lines: Sequence[int], known: _Known, noun: str = "entries") -> Group:
    """Entries as records, read by the columns of their listing."""
    paths = [plain(known.entry(text.lines[i])[0]) for i in lines]
    places = Places(paths, known.parts)

    def read(i: int) -> dict[str, Value]:
        return {**places.of(paths[i]), **known.entry(text.lines[lines[i]])[1]}

    def kinds(i: int) -> tuple[str, ...]:
        what = str(known.entry(text.lines[lines[i]])[1].get("type", ""))
        top, kind, fine = places.kinds(paths[i])
        return what, f"{what} {top}", f"{what} {kind}", fine

    return text.group([(i, i + 1) for i in lines], noun, Units(read, kinds))


def read_listing(text: Text) -> list[Group] | None:
    """``ls -R`` and its like under headings; else lines with a path in each, by directory."""
    known = _Known()
    headed = _headed(text, known)
    if headed is not None:
        return headed
    lines = [i for i, line in enumerate(text.lines) if line.strip() and not line.startswith("total ")]
    if len(lines) < 2:
        return None
    sample = [text.lines[i] for i in lines[:SAMPLE]]
    if text.ends == "\n" and sum(map(_is_entry, sample)) < 0.85 * len(sample):
        return None
    folders = [known.parts(plain(known.entry(text.lines[i])[0]))[0].split("/")[:DEEPEST] for i in lines]
    depth = _depth(folders)
    if not depth:
        return [_entries(text, lines, known)]
    cuts = [0, *(k for k in range(1, len(lines)) if folders[k][:depth] != folders[k - 1][:depth]), len(lines)]
    return [_by_directory(text, [("/".join(folders[a][:depth]), lines[a:b]) for a, b in pairwise(cuts)], known)]


def _is_entry(line: str) -> bool:
    return bool(
        _LS.match(line)
        or _OBJECT.match(line)
        or PATHLIKE.match(line)
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
    shared = shared_depth(folders)
    for depth in range(DEEPEST, shared, -1):
        groups = 1 + sum(a[:depth] != b[:depth] for a, b in pairwise(folders))
        if 1 < groups <= len(folders) / PER_DIRECTORY:
            return depth
    return 0


def _headed(text: Text, known: _Known) -> list[Group] | None:
    """Directories as ``ls -R`` lists them: ``dir:``, perhaps ``total 12``, entries, an empty line."""
    heads = [i for i in after_empty_lines(text) if _HEADED.match(text.lines[i])]
    if not heads or (heads[0] > 0 and len(heads) < 2):
        return None
    found: list[tuple[str, list[int]]] = []
    for a, b in pairwise([*heads, len(text.lines)]):
        inside = [i for i in range(a + 1, b) if text.lines[i].strip() and not text.lines[i].startswith("total ")]
        found.append((plain(text.lines[a][:-1]), [a, *inside]))
    before = [i for i in range(heads[0]) if text.lines[i].strip() and not text.lines[i].startswith("total ")]
    groups = [_entries(text, before, known)] if before else []
    return [*groups, _by_directory(text, found, known)]


def _by_directory(text: Text, found: Sequence[tuple[str, list[int]]], known: _Known) -> Group:
    """``found``: for each directory its path and its lines; the first, heading or entry, is literal and so names it."""

    def read(i: int) -> dict[str, Value]:
        path, lines = found[i]
        return {"entries": str(len(lines) - text.lines[lines[0]].endswith(":")), "path": path or "."}

    def kinds(i: int) -> tuple[str, ...]:
        parts = found[i][0].split("/")
        return "/".join(parts[: shared + 1]), "/".join(parts[: shared + 2])

    shared = shared_depth([f[0].split("/") for f in found])
    group = text.group([(lines[0], lines[-1] + 1) for _, lines in found], "directories", Units(read, kinds))
    for i, (path, lines) in enumerate(found):
        if len(lines) > 1:
            inside = _entries(text, lines[1:], known)
            inside.heading = path
            group.children[i] = [inside]
    return group


def read_tree(text: Text) -> list[Group] | None:
    """``tree``: branches drawn with lines; an entry holds what hangs below it."""
    sample = text.sample()
    if sum(bool(_BRANCH.match(s)) for s in sample) < MOST * len(sample):
        return None
    rows: list[tuple[int, int, str]] = []
    for i, line in enumerate(text.lines):
        found = _BRANCH.match(line)
        if found is not None:
            rows.append((i, len(plain(found[1])) // 4, plain(found[2])))
    return _branches(text, rows, 0, remembered_parts())


def _branches(text: Text, rows: Sequence[tuple[int, int, str]], level: int, parts: Parts) -> list[Group]:
    """Siblings as one group (recursion ends at `DEPTH`)."""
    depth = min(row[1] for row in rows)
    heads = [k for k, row in enumerate(rows) if row[1] == depth or k == 0]
    names = [rows[k][2] for k in heads]
    cuts = [*heads, len(rows)]

    def read(i: int) -> dict[str, Value]:
        _, name, ext = parts(names[i])
        return {"name": name, "ext": ext or ABSENT, "type": "directory" if cuts[i + 1] - cuts[i] > 1 else ABSENT}

    def kinds(i: int) -> tuple[str, ...]:
        return ("directory" if cuts[i + 1] - cuts[i] > 1 else "file", parts(names[i])[2])

    spans = [(rows[a][0], rows[b - 1][0] + 1) for a, b in pairwise(cuts)]
    group = text.group(spans, "entries", Units(read, kinds))
    for i, (a, b) in enumerate(pairwise(cuts)):
        if b - a > 1 and level < DEPTH - 1:
            group.children[i] = _branches(text, rows[a + 1 : b], level + 1, parts)
            group.children[i][0].heading = names[i]
    return [group]
