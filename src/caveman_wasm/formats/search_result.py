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
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from caveman_wasm.formats.search_hits import read_of_one, read_prefixed, read_under_headings, read_unnumbered
from caveman_wasm.formats.search_lines import Text, Units, after_empty_lines
from caveman_wasm.formats.search_listing import read_listing, read_tree
from caveman_wasm.model import OPAQUE, Document, Group, Rewritten, Value, plain

__all__ = ["SEARCH_RESULT"]

_RESULT: Final = re.compile(
    r"\s{0,3}(?:#{1,4} )?(?:\[\d{1,4}\]|\(?\d{1,4}[.):])[ \t]+\S|\s{0,3}(?:\*\*)?Title:[ \t]", re.ASCII
)
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"')]+", re.ASCII)


def _web(text: Text) -> list[Group] | None:
    """Results of a web search: a title, an address, a snippet; numbered, or parted by empty lines."""
    numbered = [i for i, line in enumerate(text.lines) if _RESULT.match(line)]
    for heads in (numbered, after_empty_lines(text)):
        cuts = [*heads, len(text.lines)]
        at = [_address(text, a, min(b, a + 4)) for a, b in pairwise(cuts)]
        if len(heads) >= 2 and sum(k >= 0 for k in at) >= 0.8 * len(heads):
            return [_results(text, cuts, at)]
    return None


def _address(text: Text, begin: int, stop: int) -> int:
    """The first line that holds an address, or -1."""
    return next((k for k in range(begin, stop) if _ADDRESS.search(text.lines[k])), -1)


def _results(text: Text, cuts: Sequence[int], at: Sequence[int]) -> Group:
    def read(i: int) -> dict[str, Value]:
        found = _ADDRESS.search(text.lines[at[i]]) if at[i] >= 0 else None
        return {"url": plain(found[0]) if found else OPAQUE, "site": plain(found[0].split("/")[2]) if found else OPAQUE}

    group = text.group(list(pairwise(cuts)), "results", Units(read, lambda i: (str(read(i)["site"]),)))
    group.mode, group.pinned = "head", range(len(group))
    for i, (a, b) in enumerate(pairwise(cuts)):
        snippet = [k for k in range(max(at[i], a) + 1, b) if text.lines[k].strip()]
        if snippet:
            inside = text.group([(k, k + 1) for k in snippet], "lines")
            inside.mode, inside.heading = "outline", plain(text.lines[a].strip()[:100])
            group.children[i] = [inside]
    return group


_READINGS: Final = (read_tree, _web, read_prefixed, read_under_headings, read_of_one, read_unnumbered, read_listing)


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
        read = Text(text, ends)
        if not read.sample():
            return None
        readings = (read_listing,) if ends == "\0" else _READINGS
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
