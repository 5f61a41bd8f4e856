"""A web page as Markdown-like text: its content, and every other part as a line below `PARTS`."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.formats.html_out import DOT, Out, on_one_line, value_of
from caveman_wasm.formats.html_page import SPACE, Page
from caveman_wasm.formats.html_tag import BLOCKS, HEADS, ROWS, SIZE, TABLES, TERMS, Tag, attributes_of, target_of
from caveman_wasm.model import Rewritten

__all__ = ["PARTS", "Writer"]

TELLING: Final = 12  # bytes of text from which a link within the site says where it leads
EXPLAINED: Final = 150  # bytes a term and its explanation have on average where terms are headings
ALMOST_ALL: Final = 0.7  # of a page's text: what holds more is its content, whatever it is called
DATA: Final = 2_000  # bytes of a data script (JSON-LD, embedded state) that can be found by a question
PARTS: Final = "[Other parts of the page]"  # the line above them; text of the page cannot be equal to it

_BARE: Final = frozenset(["table", "tr", "tbody", "ul", "ol", "dl", "select"])  # white space right in them is none
_INSIDE: Final = frozenset(["tbody", "thead", "tfoot"])  # blocks that begin no line
_NOTHING: Final = (0,) * 8  # is in an element that holds nothing
_SIGNS: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_SCHEME: Final = re.compile(r"[a-z]+:")
_GLYPH: Final = re.compile(  # the text of a link to the heading it stands in
    r"(?:\xc2[\xa7\xb6]|#|\xe2\x96[\xb2\xbc]|\xe2\x86[\x90-\x93]|\xf0\x9f\x94\x97|&(?:para|sect|#182|#167|#xb6);)+"
)


class Writer:
    """Goes through the events once and writes the content into ``main`` and every other part as a line of ``rest``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.most = max(int(ALMOST_ALL * page.counts[SIZE]), 400)
        self.main, self.rest = Out(), Out()
        self.aside = 0  # number of the element that is being written into ``rest``
        self.inside = 0  # main elements open
        self.lists: list[int] = []  # of each list open: the next number, or 0 for bullets
        self.terms: list[bool] = []  # of each list of definitions open: whether its terms are headings
        self.pre = 0
        self.tables: list[int] = []  # of each table open: rows written, or -1 for one that only lays out
        self.cells = -1  # cells written of the row; -1 outside of rows
        self.link: tuple[int, int, str] | None = (
            None  # where the open link's text begins among the pieces, its node and tag
        )
        self.program = ""  # the start tag of the script or style that was opened last
        self.linked: set[str] = set()
        self.fields: set[tuple[str, str]] = set()  # names and values of the preamble
        self.heading = False  # within a heading of the content

    @property
    def out(self) -> Out:
        return self.rest if self.aside else self.main

    def write(self) -> Rewritten:
        for kind, tag, said, at, node in self.page.events():
            if kind == "t":
                if self.pre or self.link is not None:
                    self._text(said, at, node)
                else:
                    (self.rest if self.aside else self.main).flow(said, at, self.cells >= 0)
            elif kind == " ":
                if self.pre and not self.aside:
                    self.main.verbatim(said, at)
                else:
                    (self.rest if self.aside else self.main).blank = tag.name not in _BARE
            elif kind == "r":
                self._raw(tag, said, at)
            elif self.aside or tag.special:
                (self._open if kind == "<" else self._close)(tag, said, at, node)
            elif writes := (_OPEN if kind == "<" else _CLOSE).get(tag.name):
                writes(self, tag, said, at, node)
        return self._whole()

    def _whole(self) -> Rewritten:
        main, rest = self.main, self.rest
        if rest.pieces:
            main.prefix, main.indent = "", ""
            main.break_line(2)
            main.add(PARTS, main.end, main.end)
            main.put("\n", main.end)
            main.pieces += rest.pieces
            main.origins += rest.origins
        return main.rewritten()

    # ------------------------------------------------------------ text

    def _text(self, said: str, at: int, node: int) -> None:
        if self.link is not None and node == self.link[1] and _GLYPH.fullmatch(said):
            return
        if self.pre and not self.aside:
            self.main.verbatim(said, at)
        else:
            self.out.flow(said, at, self.cells >= 0)

    def _raw(self, tag: Tag, said: str, at: int) -> None:
        content, stop = said.strip(SPACE), at + len(said)
        if tag.name == "title":
            self._field("Title", at, stop, said)
        elif tag.name in ("script", "style"):
            attributes = attributes_of(self.program, tag.name)
            data = "json" in attributes.get("type", "").lower()
            size = f"{len(content)} bytes" if content else attributes.get("src", "")
            self._part("data" if data else tag.name, size, at, stop)
            if data and content:
                self.rest.add(" " + on_one_line(content[:DATA]), at, at + DATA)
        elif tag.name in ("textarea", "xmp"):
            self.out.flow(said, at, self.cells >= 0)
        elif content:
            self._part("hidden part", f"{len(content)} bytes", at, stop)

    def _field(self, name: str, start: int, stop: int, said: str, value: str = "") -> None:
        """A line of the preamble: ``name`` and ``value``, or the payload's own text."""
        out = self.main
        out.break_line(1)
        out.prefix = f"{name}: "
        if said:
            out.flow(said, start, False)
        else:
            out.add(value, start, stop)
        out.prefix = ""
        out.break_line(1)

    def _part(self, label: str, said: str, start: int, stop: int) -> None:
        if not self.aside:
            self.rest.break_line(1)
            self.rest.add(f"[{label}]" + (f" {said}" if said else ""), start, stop)
            self.rest.blank = True

    # ------------------------------------------------------------ elements

    def _open(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.aside:
            self._open_aside(tag, written, at, node)
            return
        if tag.asks:
            held = self.page.held.get(node)
            kind = tag.aside(held or _NOTHING, self.inside > 0, self.most)
            if kind and held is None:
                return  # it holds nothing: there is no end to wait for
            if kind:
                self._part(kind, "", at, at)
                self.aside = node
                return
        if tag.main:
            self.inside += 1
        if opens := _OPEN.get(tag.name):
            opens(self, tag, written, at, node)
        if tag.alert:
            self._alert(tag, node)

    def _open_aside(self, tag: Tag, written: str, at: int, node: int) -> None:
        if tag.name == "a":
            self._anchor(tag, written, at, node)
        elif tag.name in ("script", "style"):
            self.program = written
        elif tag.name in BLOCKS or tag.name == "br":
            rest = self.rest
            rest.blank = False
            if not rest.pieces[-1].endswith(("]", DOT)):
                rest.add(" " + DOT, rest.end, rest.end)
            rest.blank = True

    def _close(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.aside:
            if tag.name == "a":
                self._end_anchor(tag, written, at, node)
            if node == self.aside:
                self.aside = 0
                self.rest.blank = False
            return
        if tag.main:
            self.inside -= 1
        if shuts := _CLOSE.get(tag.name):
            shuts(self, tag, written, at, node)

    def _block(self, tag: Tag, written: str, at: int, node: int) -> None:
        """A block begins or ends: a paragraph of its own, one blank in a cell, an indented line in a list."""
        out, lists = self.main, self.lists
        if self.cells >= 0:
            out.blank = True
        elif not out.prefix:
            out.lines = max(out.lines, 1 if lists else 2)
            out.blank = False
            out.indent = "  " * len(lists)

    def _alert(self, tag: Tag, node: int) -> None:
        held = self.page.held.get(node, _NOTHING)
        if 0 < held[SIZE] < 20_000 and not self.main.prefix and self.cells < 0 and not held[HEADS] + held[TABLES]:
            self.main.prefix = tag.alert + ": "

    def _meta(self, tag: Tag, written: str, at: int, node: int) -> None:
        attributes, stop = attributes_of(written, tag.name), at + len(written)
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = attributes.get("content", "")
        if name in _FIELDS and content:
            if (said := (_FIELDS[name], value_of(content))) in self.fields:
                return
            self.fields.add(said)
            self._field(said[0], max(self.page.text.find(content, at, stop), at), stop, "", said[1])
        elif name and content and name not in ("viewport", "generator"):
            self._part("metadata", f"{name}: {value_of(content)}", at, stop)

    def _program(self, tag: Tag, written: str, at: int, node: int) -> None:
        self.program = written

    def _image(self, tag: Tag, written: str, at: int, node: int) -> None:
        said = value_of(attributes_of(written, tag.name).get("alt", ""))
        if _SIGNS.search(said) and (" " in said or (len(said) > 3 and self.link is None)):
            self.main.add(f"[image: {said}]", at, at + len(written))

    def _heading(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells >= 0 or self.lists:
            self._block(tag, written, at, node)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(2)
            self.main.prefix = "#" * int(tag.name[1]) + " "
        self.heading = True

    def _end_heading(self, tag: Tag, written: str, at: int, node: int) -> None:
        self.heading = False
        if self.main.prefix.startswith("#"):
            self.main.prefix = ""  # nothing stood in it
        self._block(tag, written, at, node)

    def _definitions(self, tag: Tag, written: str, at: int, node: int) -> None:
        """Terms with long explanations, or such that can be linked to, head them; else each is an item of a list."""
        self._block(tag, written, at, node)
        held = self.page.held.get(node, _NOTHING)
        heads = not self.lists and held[SIZE] >= EXPLAINED * max(held[TERMS], 1)
        self.terms.append(heads)
        if not heads and self.cells < 0:
            self.lists.append(0)

    def _end_definitions(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.terms and not self.terms.pop() and self.cells < 0 and self.lists:
            self.lists.pop()
        self._block(tag, written, at, node)

    def _term(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.terms and not self.terms[-1]:
            self._item(tag, written, at, node)
        elif (
            self.cells < 0
            and not self.lists
            and (self.terms or "id=" in written)
            and self.page.held.get(node, _NOTHING)[SIZE] <= 4 * EXPLAINED
        ):
            self.main.break_line(2)
            self.main.prefix = "###### "
        else:
            self._block(tag, written, at, node)

    def _explanation(self, tag: Tag, written: str, at: int, node: int) -> None:
        self._block(tag, written, at, node)
        if self.terms and not self.terms[-1] and self.cells < 0 and not self.main.prefix:
            self.main.lines = 0
            self.main.add(":", self.main.end, self.main.end)
            self.main.blank = True

    def _list(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells >= 0:
            return
        self.main.prefix = ""
        self.main.break_line(1 if self.lists else 2)
        self.lists.append(1 if tag.name == "ol" else 0)

    def _end_list(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells < 0 and self.lists:
            self.lists.pop()
            self.main.prefix = ""
            self._block(tag, written, at, node)

    def _item(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells >= 0:
            self.main.blank = True
            return
        self.main.prefix = ""
        self.main.break_line(1)
        depth = min(len(self.lists), 12)
        number = self.lists[-1] if self.lists else 0
        if number:
            self.lists[-1] += 1
        self.main.prefix = "  " * (depth - 1) + (f"{number}. " if number else "- ")

    def _end_item(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells < 0:
            self.main.prefix = ""
            self.main.break_line(1)
            self.main.indent = "  " * len(self.lists)

    def _table(self, tag: Tag, written: str, at: int, node: int) -> None:
        held = self.page.held.get(node, _NOTHING)
        rows, blocks = held[ROWS], held[HEADS] + held[TABLES]
        most = max(2, rows // 4) if rows > 1 else 0  # blocks in a table that is one of data
        lays_out = blocks > most or rows < 1 or self.cells >= 0 or bool(self.lists)
        self.main.prefix = ""
        self._block(tag, written, at, node)
        self.tables.append(-1 if lays_out and self.cells < 0 else 0 if self.cells < 0 else -2)

    def _end_table(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.tables and self.tables.pop() >= 0:
            self.cells = -1
        self._block(tag, written, at, node)

    def _row(self, tag: Tag, written: str, at: int, node: int) -> None:
        if not self.tables or self.tables[-1] < 0:
            self._block(tag, written, at, node)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(1)
            self.cells = 0

    def _end_row(self, tag: Tag, written: str, at: int, node: int) -> None:
        if not self.tables or self.tables[-1] < 0:
            self._block(tag, written, at, node)
        elif self.cells >= 0:
            out = self.main
            if self.cells:
                out.blank = False
                out.add(" |", out.end, out.end)
                if not self.tables[-1]:
                    out.break_line(1)
                    out.add("|" + " --- |" * self.cells, out.end, out.end)
                self.tables[-1] += 1
            self.cells = -1
            out.break_line(1)

    def _cell(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.tables and self.tables[-1] >= 0 and self.cells >= 0:
            self.main.blank = False
            self.main.add(" |" if self.cells else "|", at, at)
            self.main.blank = True
            self.cells += 1
        else:
            self._block(tag, written, at, node)

    def _line(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.cells >= 0:
            self.main.blank = True
        elif self.pre:
            self.main.put("\n", at)
        else:
            self.main.break_line(1)

    def _pre(self, tag: Tag, written: str, at: int, node: int) -> None:
        self._block(tag, written, at, node)
        if self.cells >= 0 or not self.page.held.get(node, _NOTHING)[SIZE]:
            return
        self.main.prefix, self.main.indent = "", ""
        self.main.break_line(2)
        self.main.add("```", at, at + len(written))
        self.pre += 1
        if self.page.text[at + len(written) : at + len(written) + 1] not in ("\n", "\r"):
            self.main.put("\n", at + len(written))

    def _end_pre(self, tag: Tag, written: str, at: int, node: int) -> None:
        if self.pre:
            self.pre -= 1
            self.main.lines = 0 if self.main.pieces[-1].endswith("\n") else 1
            self.main.indent, self.main.blank = "", False
            self.main.add("```", self.main.end, self.main.end)
        self._block(tag, written, at, node)

    def _anchor(self, tag: Tag, written: str, at: int, node: int) -> None:
        self.link = (len(self.out.pieces), node, written)

    def _end_anchor(self, tag: Tag, written: str, at: int, node: int) -> None:
        """``[text](href)`` for a link that says more than its text; a link's sign alone (¶, §) goes."""
        if self.link is None or self.link[1] != node or self.pre:
            return
        out, (first, _, written), self.link = self.out, self.link, None
        said = "".join(out.pieces[first:]).strip()
        if said and said[-1] != "]" and self._matters(target := target_of(written).strip(), said):
            self.linked.add(target)
            blank, out.blank = out.blank, False
            out.add(f" <{target}>" if self.aside else f" ({target})", out.end, at)
            out.blank = blank

    def _matters(self, target: str, said: str) -> bool:
        if not target or target[0] == "#" or target in self.linked or len(target) > 300 or said in target:
            return False
        if ":" in target:
            if target.lower().startswith(("javascript:", "data:")):
                return False
            if _SCHEME.match(target):
                return True
        return len(said) >= TELLING and " " in said and not self.heading


_FIELDS: Final = {
    "description": "Description", "og:description": "Description", "author": "Author", "date": "Date",
    "article:published_time": "Published", "article:modified_time": "Modified",
}  # fmt: skip
_OPEN: Final = {
    **dict.fromkeys(BLOCKS - _INSIDE, Writer._block),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Writer._heading),
    **dict.fromkeys(("ul", "ol", "menu"), Writer._list),
    "li": Writer._item, "option": Writer._item, "dt": Writer._term, "dd": Writer._explanation,
    "dl": Writer._definitions, "table": Writer._table, "tr": Writer._row,
    "td": Writer._cell, "th": Writer._cell, "pre": Writer._pre, "a": Writer._anchor, "br": Writer._line,
    "script": Writer._program, "style": Writer._program, "meta": Writer._meta, "img": Writer._image,
}  # fmt: skip
_CLOSE: Final = {
    **dict.fromkeys(BLOCKS - _INSIDE, Writer._block),
    "dl": Writer._end_definitions,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Writer._end_heading),
    **dict.fromkeys(("ul", "ol", "menu"), Writer._end_list),
    "li": Writer._end_item, "option": Writer._end_item, "table": Writer._end_table, "tr": Writer._end_row,
    "pre": Writer._end_pre, "a": Writer._end_anchor,
}  # fmt: skip
