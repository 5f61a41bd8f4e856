"""Web pages: the page's text, as Markdown-like text that is cut the way prose is.

`rewrite` makes that text: title and description, headings (``# …``), paragraphs, lists, tables (``| a | b |``), alerts,
code blocks, links that matter. What is no content (navigation, footers, hidden parts, controls, scripts, styles,
drawings, metadata) comes last, one line a part, and is left out behind one marker that counts the parts by kind;
narrowing finds it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from caveman_wasm.formats.html_page import Page
from caveman_wasm.formats.html_tag import ALERTING
from caveman_wasm.formats.html_text import PARTS, Writer
from caveman_wasm.formats.text import TEXT
from caveman_wasm.model import Columns, Document, Group, Rewritten

__all__ = ["HTML"]

ALERT: Final = 600  # bytes; an alert up to this is never cut
PARAGRAPH: Final = 3_000  # bytes up to which a paragraph's first sentence stays with it
TABLE: Final = 300  # bytes; the same for a table
SHELL: Final = 400  # bytes of content below which a page is a shell that a program fills

_PART: Final = re.compile(r"^\[([a-z ]+)\].*$", re.MULTILINE)
_FIELD: Final = re.compile(r"(?:Title|Description|Author|Date|Published|Modified): ")
_PINNED: Final = re.compile(rf"(?:- )?(?:{ALERTING.pattern[4:]}): ", re.ASCII | re.IGNORECASE)


class _Parts:
    """What kind of part each line below `PARTS` is."""

    typed = False

    def __init__(self, kinds: Sequence[str]) -> None:
        self._kinds = kinds

    def columns(self, first: int, last: int) -> Columns:
        return {"part": self._kinds[first:last]}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return [self._kinds[first:last]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


class Html:
    """Web pages. Line numbers are not stated: the text is a rewritten one."""

    name = "html"
    keep = 0.22
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """The page's text; empty where there is no mark-up at all."""
        page = Page(text)
        return Writer(page).write() if page.elements else Rewritten("", (), ())

    def split(self, text: str) -> Document | None:
        """Cuts the text that `rewrite` made: sections, blocks, sentences, and the parts that are no content."""
        at = text.rfind("\n" + PARTS + "\n")
        content = text if at < 0 else text[:at]
        document = TEXT.split(content)
        groups = document.groups if document is not None else []
        for group in groups:
            _pin(text, group)
        if at >= 0:
            groups = [*groups, _parts(text, at + len(PARTS) + 2, at)]
        return Document(text, self.name, groups, len(text), newline="") if groups else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return TEXT.marker(sentence, count, facts, group, document)

    def reference(self, sentence: str, document: Document) -> str:
        return sentence + "\n"


def _parts(text: str, start: int, content: int) -> Group:
    """What is no content: counted by kind, unless asked for. A page of hardly any content is made of such parts."""
    found = list(_PART.finditer(text, start))
    kinds = [match[1] for match in found]
    starts, stops = [m.start() for m in found], [m.end() for m in found]
    return Group(starts, stops, "outline" if content < SHELL else "pinned", "parts", reader=_Parts(kinds))


def _pin(text: str, root: Group) -> None:
    """What stays as long as its section does: headings, fields, alerts, small tables, the opening and lead-ins."""
    for group in [root, *(inner for groups in root.children.values() for inner in groups)]:
        if group.noun != "blocks":
            continue
        known, pinned, children = set(group.pinned), [], {}
        for i, (start, stop) in enumerate(zip(group.starts, group.stops, strict=True)):
            sign = text[start]
            if stop - start <= ALERT and (stop - start <= TABLE if sign == "|" else _PINNED.match(text, start)):
                pinned.append(i)
                continue
            if i in known and (sign == "#" or i < 2 or text[stop - 1] == ":" or _FIELD.match(text, start)):
                pinned.append(i)
            if i in group.children and (inner := _behind_first(group.children[i])):
                children[i] = inner
        group.pinned, group.children = pinned, children


def _behind_first(groups: list[Group]) -> list[Group]:
    """A paragraph that is entered keeps its first sentence, so that no paragraph is entered for nothing."""
    first = groups[0]
    if len(groups) > 1 or first.noun != "sentences" or first.stops[-1] - first.starts[0] > PARAGRAPH:
        return groups
    pinned = [i - 1 for i in first.pinned if i]
    rest = Group(first.starts[1:], first.stops[1:], first.mode, first.noun, first.markers, first.heading, pinned=pinned)
    return [rest] if len(rest) else []


HTML: Final = Html()
