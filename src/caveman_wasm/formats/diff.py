"""Diffs: unified ones (git diff, log -p, show, format-patch; diff -ru), combined ones, and diff's normal form.

Headers, commits with their messages and changed lines stay. Context comes down to one line by `rewrite`: a hunk is cut
in two where more lies between its changes, and each ``@@`` line is made again with its own starts and counts, so the
shorter diff still applies. Of runs of over `RUN` changed lines the first and last few stay; hunks of lock files,
generated, minified and vendored files and binary patches go, and their lines are counted by what they are.

    commits (log, format-patch)   their message's lines, then
      files                       header lines are literal
        hunks                     what is short is whole
          changed lines           of a long run
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Final

from caveman_wasm.formats.diff_read import GENERATED, HUNK, SAYS_SO, File, Hunk, Patch, read_patch
from caveman_wasm.model import OPAQUE, Columns, Document, Group, Rewritten, Value, plain

__all__ = ["DIFF"]

RUN: Final = 16  # changed lines in a row that stay whole (SPEC 6)
FIRST: Final = 3  # of a longer run, these at its head and its tail stay (SELECTION)
LAST: Final = 2
WORTH: Final = 48  # bytes of context between two changes from which a second @@ line is cheaper
SMALL: Final = 2_500  # bytes below which a patch and its message are read rather than skimmed
SMALL_KEEP: Final = 0.8  # share that stays of such a one: less context, long runs by their ends, and all its hunks
LONG: Final = 1500  # bytes from which a hunk may be shown in part
FEW: Final = 8  # changed lines up to which a generated file's hunks, if short, are treated as any others
MINIFIED: Final = 500  # bytes a changed line has on average in a file that no one wrote
_CHANGE: Final = {"+": "added", "-": "removed", ">": "added", "<": "removed", "@": "hunk", "\\": "end", "": "context"}
# ---------------------------------------------------------------- one line of context


class _Writing:
    """A text made of slices of another and of lines of our own, with the way back."""

    def __init__(self, text: str) -> None:
        self.text, self.pieces, self.size, self.at = text, list[str](), 0, 0
        self.offsets, self.origins = array("q"), array("q")

    def copy(self, stop: int) -> None:
        self.put(self.text[self.at : stop], stop)

    def put(self, piece: str, stop: int) -> None:
        """``piece`` in the place of the text from where we are to ``stop``."""
        if piece:
            self.offsets.append(self.size)
            self.origins.append(self.at)
            self.pieces.append(piece)
            self.size += len(piece)
        self.at = stop


def _rewritten(text: str) -> Rewritten | None:
    patch = read_patch(text)
    out = _Writing(text)
    for file in patch.files:
        for hunk in file.hunks:
            kept = _kept(patch, hunk) if hunk.plainly else []
            if sum(b - a for a, b in kept) < len(hunk.signs) and kept:
                _write(out, patch, hunk, kept)
    if not out.pieces:
        return None
    out.copy(len(text))
    return Rewritten("".join(out.pieces), out.offsets, out.origins)


def _kept(patch: Patch, hunk: Hunk) -> list[tuple[int, int]]:
    """The stretches of a hunk's lines that stay: changes with a line of context on each side, those near together as
    one. Indexes into its signs; a remark about the end of a file goes with its line."""
    stretches: list[list[int]] = []
    signs, first = hunk.signs, hunk.head + 1
    for match in _CHANGED.finditer(signs):
        a, b = max(match.start() - 1, 0), match.end()
        if signs[a] == "\\":
            a -= 1
        if b < len(signs):
            b += 1 + (signs[b + 1 : b + 2] == "\\")
        start = patch.starts
        if stretches and start[first + a] - start[first + stretches[-1][1]] < WORTH:
            stretches[-1][1] = b
        else:
            stretches.append([a, b])
    return [(a, b) for a, b in stretches]


_CHANGED: Final = re.compile(r"[+-][+\\-]*")


def _write(out: _Writing, patch: Patch, hunk: Hunk, kept: list[tuple[int, int]]) -> None:
    """The hunk as one or more, each under an ``@@`` line of its own counts; the first one's keeps its end."""
    line = patch.lines[hunk.head]
    found = HUNK.match(line)
    assert found is not None
    counts = [int(c) if c is not None else 1 for c in found.group(2, 4)]
    old, new = (int(s) + (c == 0) for s, c in zip(found.group(1, 3), counts, strict=True))  # the next line's number
    end, done, starts = line[found.end() :], 0, patch.starts
    out.copy(starts[hunk.head])
    for a, b in kept:
        before, inside = hunk.signs[done:a], hunk.signs[a:b]
        old, new = old + _lines(before, " -"), new + _lines(before, " +")
        olds, news = _lines(inside, " -"), _lines(inside, " +")
        head = f"@@ -{_range(old, olds)} +{_range(new, news)} @@{end}\n"
        out.put(head, starts[hunk.head + 1 + a])
        out.copy(min(starts[hunk.head + 1 + b], len(out.text)))
        old, new, done, end = old + olds, new + news, b, "\r" if line.endswith("\r") else ""
    out.at = min(starts[hunk.stop], len(out.text))


def _lines(signs: str, which: str) -> int:
    return sum(map(signs.count, which))


def _range(start: int, count: int) -> str:
    """``start,count`` as diffs write it: an empty range starts at the line before it, a count of one is left out."""
    return str(start) if count == 1 else f"{start - (count == 0)},{count}"


# ---------------------------------------------------------------- cutting


class _Changes:
    """Reads lines of a diff: all that is said of them is whether they were added or removed."""

    typed = False

    def __init__(self, text: str, starts: Sequence[int], signs: str) -> None:
        self.text, self.starts, self.signs = text, starts, signs

    def columns(self, first: int, last: int) -> Columns:
        said: list[Value] = [_CHANGE.get(sign, "context") for sign in self.signs[first:last]]
        return {"change": said}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return [self.signs[first:last]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


class _Rows:
    """Reads files and commits: what they are called, how much they change."""

    typed = False

    def __init__(self, rows: list[dict[str, Value]]) -> None:
        self.rows = rows

    def columns(self, first: int, last: int) -> Columns:
        return {name: [row[name] for row in self.rows[first:last]] for name in self.rows[first]}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return []

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


class _Cutter:
    """Turns what was read into groups. Lines are numbers here; units end before their line's end."""

    def __init__(self, text: str, patch: Patch) -> None:
        self.text, self.patch = text, patch
        begins = [f.head for f in patch.files] + patch.commits
        self.begins = [*sorted(begins), len(patch.lines)]

    def groups(self) -> list[Group]:
        patch = self.patch
        groups = [self._head_lines(0, self.begins[0])]
        if not patch.commits:
            groups.append(self._files(patch.files, len(patch.lines), ""))
            return [g for g in groups if g is not None and len(g)]
        if patch.files and patch.files[0].head < patch.commits[0]:
            before = [f for f in patch.files if f.head < patch.commits[0]]
            groups.append(self._files(before, patch.commits[0], ""))
        groups.append(self._commits())
        return [g for g in groups if g is not None and len(g)]

    def _commits(self) -> Group:
        patch, commits = self.patch, self.patch.commits
        stops = [*commits[1:], len(patch.lines)]
        children: dict[int, list[Group]] = {}
        rows: list[dict[str, Value]] = []
        files = iter(patch.files)
        file = next((f for f in files if f.head > commits[0]), None)
        for i, (begin, stop) in enumerate(zip(commits, stops, strict=True)):
            mine: list[File] = []
            while file is not None and file.head < stop:
                mine.append(file)
                file = next(files, None)
            head = self._head_lines(begin + 1, mine[0].head if mine else stop)
            named = self._named(begin, mine[0].head if mine else stop)
            rows.append({"subject": named.removeprefix("commit ")})
            inside = [head, self._files(mine, stop, named)]
            children[i] = [g for g in inside if g is not None and len(g)]
        group = self._group(list(zip(commits, stops, strict=True)), "commits")
        group.children, group.pinned = {i: gs for i, gs in children.items() if gs}, range(len(group))
        group.reader = _Rows(rows)
        return group

    def _named(self, begin: int, stop: int) -> str:
        """``commit 1a2b3c4d subject``: what heads a commit's files for a reader who sees only some."""
        lines = self.patch.lines[begin + 1 : min(stop, begin + 40)]
        mail = next((s for s in lines if s.startswith("Subject: ")), "")
        subject = mail or next((s for s in lines if s.startswith("    ") and s.strip()), "")
        return plain(f"commit {self.patch.lines[begin].split()[1][:10]} {subject.strip()[:80]}").strip()

    def _head_lines(self, begin: int, stop: int) -> Group | None:
        """Commit headers and messages, and what stands above the first file: all of it structure."""
        said = [i for i in range(begin, stop) if self.patch.lines[i].strip()]
        if not said:
            return None
        group = self._group([(i, i + 1) for i in range(said[0], said[-1] + 1)], "lines")
        group.pinned = range(len(group))
        return group

    def _files(self, files: list[File], stop: int, heading: str) -> Group | None:
        if not files:
            return None
        spans = [(f.head, after) for f, after in zip(files, [*(f.head for f in files[1:]), stop], strict=True)]
        group = self._group(spans, "files")
        group.heading, group.pinned = heading, range(len(group))
        group.reader = _Rows([_said(file) for file in files])
        for i, file in enumerate(files):
            inside = self._inside(file, plain(file.path))
            if inside:
                group.children[i] = inside
        return group

    def _inside(self, file: File, path: str) -> list[Group]:
        if file.binary:
            return [self._lines(a, b, " " * (b - a)) for a, b in file.binary]
        if not file.hunks:
            return []
        if self._is_generated(file):
            signs = "".join("@" + h.signs for h in file.hunks)
            numbers = [i for h in file.hunks for i in range(h.head, h.stop)]
            if numbers[-1] - numbers[0] + 1 == len(numbers):
                group = self._lines(numbers[0], numbers[-1] + 1, signs)
                group.heading = path
                return [group]
        group = self._group([(h.head, h.stop) for h in file.hunks], "hunks")
        group.heading = path
        for i, hunk in enumerate(file.hunks):
            runs = list(self._runs(hunk))
            if self.patch.starts[hunk.stop] - self.patch.starts[hunk.head] > LONG:
                runs = self._stretched(hunk, runs)
            if runs:
                group.children[i] = runs
        return [group]

    def _is_generated(self, file: File) -> bool:
        changed = sum(_lines(h.signs, "+-") for h in file.hunks)
        size = sum(self.patch.starts[h.stop] - self.patch.starts[h.head] for h in file.hunks)
        if changed <= FEW and size <= LONG:
            return False
        first = file.hunks[0]
        top = self.patch.lines[first.head + 1 : min(first.stop, first.head + 6)]
        return bool(
            GENERATED.search(file.path)
            or size > MINIFIED * sum(len(h.signs) for h in file.hunks)
            or (
                self.patch.lines[first.head].startswith(("@@ -0,0", "@@ -1,", "@@ -1 "))
                and SAYS_SO.search("".join(top))
            )
        )

    def _runs(self, hunk: Hunk) -> Iterator[Group]:
        """The runs of changed lines that are too long, each pinned at its ends; where lines give way to others, at
        the ends of both."""
        for match in _CHANGED.finditer(hunk.signs):
            if match.end() - match.start() <= RUN:
                continue
            signs = match[0]
            group = self._lines(hunk.head + 1 + match.start(), hunk.head + 1 + match.end(), signs)
            blocks = [len(list(same)) for _, same in groupby(signs.replace("\\", ""))]
            ends = list(accumulate(blocks, initial=0))
            if len(blocks) > 2:
                ends = [0, len(signs)]
            pinned = {i for a, b in pairwise(ends) for i in (*range(a, a + FIRST), *range(b - LAST, b))}
            group.pinned = sorted(i for i in pinned if 0 <= i < len(group))
            group.noun = "changed lines"
            yield group

    def _stretched(self, hunk: Hunk, runs: list[Group]) -> list[Group]:
        """The lines of a long hunk outside of its long runs as groups too: it may give up its later ones."""
        edges = [(0, 0)]
        for match in _CHANGED.finditer(hunk.signs):
            if match.end() - match.start() > RUN:
                edges.append(match.span())
        edges.append((len(hunk.signs), len(hunk.signs)))
        groups: list[Group] = []
        for (_, a), (b, _), run in zip(edges, edges[1:], [*runs, None], strict=False):
            if b > a:
                group = self._lines(hunk.head + 1 + a, hunk.head + 1 + b, hunk.signs[a:b])
                group.mode = "head"
                groups.append(group)
            if run is not None:
                groups.append(run)
        return groups

    def _lines(self, begin: int, stop: int, signs: str) -> Group:
        group = self._group([(i, i + 1) for i in range(begin, stop)], "lines")
        group.mode = "pinned"
        group.reader = _Changes(self.text, group.starts, signs)
        return group

    def _group(self, spans: Sequence[tuple[int, int]], noun: str) -> Group:
        """Units of whole lines, empty ones at their end left outside."""
        starts, lines = self.patch.starts, self.patch.lines
        stops = array("q")
        for begin, stop in spans:
            while stop > begin + 1 and not lines[stop - 1].strip("\r"):
                stop -= 1
            stops.append(starts[stop] - 1)
        return Group(array("q", [starts[a] for a, _ in spans]), stops, "outline", noun)


def _said(file: File) -> dict[str, Value]:
    """Names and counts of a file's changes; where it holds what is not counted by lines, nothing is claimed."""
    counts = {name: sum(_lines(h.signs, sign) for h in file.hunks) for name, sign in (("added", "+"), ("removed", "-"))}
    said: dict[str, Value] = {"file": plain(file.path) or OPAQUE}
    return said | {name: OPAQUE if file.binary else str(n) for name, n in counts.items()}


class Diff:
    """The format of diffs and of what holds them: logs with patches, mailed patches."""

    name = "diff"
    keep = 0.60
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """The diff with one line of context; None where there is no more than that."""
        return _rewritten(text)

    def split(self, text: str) -> Document | None:
        """Files with their hunks, in their commits; None when there is no hunk and no file's header."""
        patch = read_patch(text)
        if not patch.files:
            return None
        groups = _Cutter(text, patch).groups()
        keep = SMALL_KEEP if len(text) < SMALL else None
        return Document(text, self.name, groups, len(text), keep=keep) if groups else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """A bare line: what is no line of a hunk cannot be taken for one."""
        return sentence

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[: document.text.find("\n") + 1] else "\n"
        return sentence + newline if document.text.endswith("\n") else newline + sentence


DIFF: Final = Diff()
