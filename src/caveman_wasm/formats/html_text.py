"""A web page as Markdown-like text: its content, and every other part as a line below `PARTS`."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.formats.html_out import BLANKS, DOT, Out, value_of
from caveman_wasm.formats.html_page import ALERTING, BLOCKS, NAMED, ROLE_MAIN, SPACE, Event, Node, Page, aside
from caveman_wasm.model import Rewritten

__all__ = ["PARTS", "Writer"]

TELLING: Final = 12  # bytes of text from which a link within the site says where it leads
EXPLAINED: Final = 150  # bytes a term and its explanation have on average where terms are headings
ALMOST_ALL: Final = 0.7  # of a page's text: what holds more is its content, whatever it is called
DATA: Final = 2_000  # bytes of a data script (JSON-LD, embedded state) that can be found by a question
PARTS: Final = "[Other parts of the page]"  # the line above them; text of the page cannot be equal to it

_SIGNS: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_WORD: Final = re.compile(r"[^ ]+")
_GLYPH: Final = re.compile(  # the text of a link to the heading it stands in
    r"(?:\xc2[\xa7\xb6]|#|\xe2\x96[\xb2\xbc]|\xe2\x86[\x90-\x93]|\xf0\x9f\x94\x97|&(?:para|sect|#182|#167|#xb6);)+"
)


class Writer:
    """Goes through the events once and writes the content into ``main`` and every other part as a line of ``rest``."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.most = max(int(ALMOST_ALL * page.nodes[0].text), 400)
        self.main, self.rest = Out(), Out()
        self.aside = 0  # number of the element that is being written into ``rest``
        self.inside = 0  # main elements open
        self.lists: list[int] = []  # of each list open: the next number, or 0 for bullets
        self.terms: list[bool] = []  # of each list of definitions open: whether its terms are headings
        self.pre = 0
        self.tables: list[int] = []  # of each table open: rows written, or -1 for one that only lays out
        self.cells = -1  # cells written of the row; -1 outside of rows
        self.link: tuple[int, int] | None = None  # where the open link's text begins among the pieces, its node
        self.linked: set[str] = set()
        self.fields: set[tuple[str, str]] = set()  # names and values of the preamble
        self.heading = False  # within a heading of the content

    @property
    def out(self) -> Out:
        return self.rest if self.aside else self.main

    def write(self) -> Rewritten:
        for event in self.page.events:
            if event.kind == "t":
                self._text(event)
            elif event.kind == "<":
                self._open(event)
            elif event.kind == ">":
                self._close(event)
            else:
                self._raw(event)
        return self._whole()

    def _whole(self) -> Rewritten:
        main, rest = self.main, self.rest
        if rest.size:
            main.prefix, main.indent = "", ""
            main.break_line(2)
            main.add(PARTS, main.end, main.end)
            main.break_line(1)
            main.add(rest.pieces[0], rest.origins[0], rest.origins[0])
            shift = main.size - len(rest.pieces[0])
            main.offsets.extend(o + shift for o in rest.offsets)
            main.origins.extend(rest.origins)
            main.pieces.extend(rest.pieces[1:])
        text = "".join(main.pieces)
        return Rewritten(text + "\n" if text else "", main.offsets, main.origins)

    # ------------------------------------------------------------ text

    def _text(self, event: Event) -> None:
        text = self.page.text
        if self.link is not None and event.node == self.link[1] and _GLYPH.fullmatch(text, event.at, event.stop):
            return
        if self.pre and not self.aside:
            self.main.verbatim(text, event.at, event.stop)
        elif self.page.nodes[event.node].name in ("table", "tr", "tbody", "ul", "ol", "dl", "select") and not text[
            event.at : event.stop
        ].strip(SPACE):
            self.out.blank = False
        else:
            self.out.flow(text, event.at, event.stop, self.cells >= 0)

    def _raw(self, event: Event) -> None:
        content = self.page.text[event.at : event.stop].strip(SPACE)
        attributes = self.page.nodes[event.node].attributes()
        if event.name == "title":
            self._field("Title", event.at, event.stop)
        elif event.name in ("script", "style"):
            kind = attributes.get("type", "").lower()
            data = "json" in kind
            label = "data" if data else event.name
            size = f"{len(content)} bytes" if content else attributes.get("src", "")
            self._part(label, size, event.at, event.stop)
            if data and content:
                self.rest.add(" " + content[:DATA].translate(BLANKS), event.at, event.at + DATA)
        elif event.name in ("textarea", "xmp"):
            self.out.flow(self.page.text, event.at, event.stop, self.cells >= 0)
        elif content:
            self._part("hidden part", f"{len(content)} bytes", event.at, event.stop)

    def _field(self, name: str, start: int, stop: int, value: str | None = None) -> None:
        """A line of the preamble: ``name`` and ``value``, or the payload's own text."""
        out = self.main
        out.break_line(1)
        out.prefix = f"{name}: "
        if value is None:
            out.flow(self.page.text, start, stop, False)
        else:
            out.add(value_of(value), start, stop)
        out.prefix = ""
        out.break_line(1)

    def _part(self, label: str, said: str, start: int, stop: int) -> None:
        if not self.aside:
            self.rest.break_line(1)
            self.rest.add(f"[{label}]" + (f" {said}" if said else ""), start, stop)
            self.rest.blank = True

    # ------------------------------------------------------------ elements

    def _open(self, event: Event) -> None:
        node = self.page.nodes[event.node]
        name = event.name
        if self.aside:
            self._open_aside(event, node)
            return
        kind = aside(node, self.inside > 0, self.most)
        if kind:
            self._part(kind, "", event.at, event.at)
            self.aside = event.node
            return
        if name == "main" or (node.written and ROLE_MAIN.search(node.written)):
            self.inside += 1
        if name == "meta":
            self._meta(node, event)
        elif name == "img":
            self._image(node, event)
        elif name in _OPEN:
            _OPEN[name](self, event, node)
        elif name in BLOCKS:
            self._block(2)
        if name in NAMED and node.written and 0 < node.text < 20_000:
            self._alert(node)

    def _open_aside(self, event: Event, node: Node) -> None:
        if event.name == "a":
            self._anchor(event, node)
        elif event.name in BLOCKS or event.name == "br":
            rest = self.rest
            rest.blank = False
            if not rest.pieces[-1].endswith(("]", DOT)):
                rest.add(" " + DOT, rest.end, rest.end)
            rest.blank = True

    def _close(self, event: Event) -> None:
        if self.aside:
            if event.name == "a":
                self._end_anchor(event)
            if event.node == self.aside:
                self.aside = 0
                self.rest.blank = False
            return
        node = self.page.nodes[event.node]
        if event.name == "main" or (node.written and ROLE_MAIN.search(node.written)):
            self.inside -= 1
        if event.name in _CLOSE:
            _CLOSE[event.name](self, event)
        elif event.name in BLOCKS:
            self._block(2)

    def _block(self, lines: int) -> None:
        """A new block: a paragraph of its own, one blank in a cell, an indented line in a list."""
        out = self.main
        if self.cells >= 0:
            out.blank = True
        elif not out.prefix:
            out.break_line(1 if self.lists else lines)
            out.indent = "  " * len(self.lists)

    def _alert(self, node: Node) -> None:
        attributes = node.attributes()
        found = ALERTING.search(
            f"{attributes.get('class', '')} {attributes.get('role', '')} {attributes.get('id', '')}"
        )
        if found and not self.main.prefix and self.cells < 0 and node.name not in ("a", "span") and not node.blocks:
            self.main.prefix = found[1].capitalize() + ": "

    def _meta(self, node: Node, event: Event) -> None:
        attributes = node.attributes()
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = attributes.get("content", "")
        if name in _FIELDS and content:
            if (said := (_FIELDS[name], value_of(content))) in self.fields:
                return
            self.fields.add(said)
            at = max(self.page.text.find(content, event.at, event.stop), event.at)
            self._field(_FIELDS[name], at, event.stop, content)
        elif name and content and name not in ("viewport", "generator"):
            self._part("metadata", f"{name}: {value_of(content)}", event.at, event.stop)

    def _image(self, node: Node, event: Event) -> None:
        said = value_of(node.attributes().get("alt", ""))
        if _SIGNS.search(said) and (" " in said or (len(said) > 3 and self.link is None)):
            self.main.add(f"[image: {said}]", event.at, event.stop)

    def _heading(self, event: Event, node: Node) -> None:
        if self.cells >= 0 or self.lists:
            self._block(2)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(2)
            self.main.prefix = "#" * int(event.name[1]) + " "
        self.heading = True

    def _end_heading(self, event: Event) -> None:
        self.heading = False
        if self.main.prefix.startswith("#"):
            self.main.prefix = ""  # nothing stood in it
        self._block(2)

    def _definitions(self, event: Event, node: Node) -> None:
        """Terms with long explanations, or such that can be linked to, head them; else each is an item of a list."""
        self._block(2)
        heads = not self.lists and node.text >= EXPLAINED * max(node.terms, 1)
        self.terms.append(heads)
        if not heads and self.cells < 0:
            self.lists.append(0)

    def _end_definitions(self, event: Event) -> None:
        if self.terms and not self.terms.pop() and self.cells < 0 and self.lists:
            self.lists.pop()
        self._block(2)

    def _term(self, event: Event, node: Node) -> None:
        if self.terms and not self.terms[-1]:
            self._item(event, node)
        elif self.cells < 0 and not self.lists and (self.terms or "id=" in node.written) and node.text <= 4 * EXPLAINED:
            self.main.break_line(2)
            self.main.prefix = "###### "
        else:
            self._block(2)

    def _explanation(self, event: Event, node: Node) -> None:
        self._block(2)
        if self.terms and not self.terms[-1] and self.cells < 0 and not self.main.prefix:
            self.main.lines = 0
            self.main.add(":", self.main.end, self.main.end)
            self.main.blank = True

    def _list(self, event: Event, node: Node) -> None:
        if self.cells >= 0:
            return
        self.main.prefix = ""
        self.main.break_line(1 if self.lists else 2)
        self.lists.append(1 if event.name == "ol" else 0)

    def _end_list(self, event: Event) -> None:
        if self.cells < 0 and self.lists:
            self.lists.pop()
            self.main.prefix = ""
            self._block(2)

    def _item(self, event: Event, node: Node) -> None:
        if self.cells >= 0:
            self.main.blank = True
            return
        self.main.prefix = ""
        self.main.break_line(1)
        depth = min(len(self.lists), 12)
        number = self.lists[-1] if self.lists else 0
        if number:
            self.lists[-1] += 1
        self.main.prefix = "  " * max(depth - 1, 0) + (f"{number}. " if number else "- ")

    def _end_item(self, event: Event) -> None:
        if self.cells < 0:
            self.main.prefix = ""
            self.main.break_line(1)
            self.main.indent = "  " * len(self.lists)

    def _table(self, event: Event, node: Node) -> None:
        most = max(2, node.rows // 4) if node.rows > 1 else 0  # blocks in a table that is one of data
        lays_out = node.blocks > most or node.rows < 1 or self.cells >= 0 or bool(self.lists)
        self.main.prefix = ""
        self._block(2)
        self.tables.append(-1 if lays_out and self.cells < 0 else 0 if self.cells < 0 else -2)

    def _end_table(self, event: Event) -> None:
        if self.tables and self.tables.pop() >= 0:
            self.cells = -1
        self._block(2)

    def _row(self, event: Event, node: Node) -> None:
        if not self.tables or self.tables[-1] < 0:
            self._block(2)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(1)
            self.cells = 0

    def _end_row(self, event: Event) -> None:
        if not self.tables or self.tables[-1] < 0:
            self._block(2)
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

    def _cell(self, event: Event, node: Node) -> None:
        if self.tables and self.tables[-1] >= 0 and self.cells >= 0:
            self.main.blank = False
            self.main.add(" |" if self.cells else "|", event.at, event.at)
            self.main.blank = True
            self.cells += 1
        else:
            self._block(2)

    def _nothing(self, event: Event, node: Node | None = None) -> None:
        pass

    def _line(self, event: Event, node: Node) -> None:
        if self.cells >= 0:
            self.main.blank = True
        elif self.pre:
            self.main.put("\n", event.at)
        else:
            self.main.break_line(1)

    def _end_cell(self, event: Event) -> None:
        self._block(2)

    def _pre(self, event: Event, node: Node) -> None:
        self._block(2)
        if self.cells >= 0 or not node.text:
            return
        self.main.prefix, self.main.indent = "", ""
        self.main.break_line(2)
        self.main.add("```", event.at, event.stop)
        self.pre += 1
        if self.page.text[event.stop : event.stop + 1] not in ("\n", "\r"):
            self.main.put("\n", event.stop)

    def _end_pre(self, event: Event) -> None:
        if self.pre:
            self.pre -= 1
            self.main.lines = 0 if self.main.pieces[-1].endswith("\n") else 1
            self.main.indent, self.main.blank = "", False
            self.main.add("```", self.main.end, self.main.end)
        self._block(2)

    def _anchor(self, event: Event, node: Node) -> None:
        self.link = (len(self.out.pieces), event.node)

    def _end_anchor(self, event: Event) -> None:
        """``[text](href)`` for a link that says more than its text; a link's sign alone (¶, §) goes."""
        if self.link is None or self.link[1] != event.node or self.pre:
            return
        out, (first, _), self.link = self.out, self.link, None
        said = "".join(out.pieces[first:]).strip()
        target = self.page.nodes[event.node].attributes().get("href", "").strip()
        if said and not said.endswith("]") and self._matters(target, said, self.page.nodes[event.node]):
            self.linked.add(target)
            blank, out.blank = out.blank, False
            out.add(f" <{target}>" if self.aside else f" ({target})", out.end, event.stop)
            out.blank = blank

    def _matters(self, target: str, said: str, node: Node) -> bool:
        if not target or target[:1] == "#" or target in self.linked or len(target) > 300:
            return False
        if target.lower().startswith(("javascript:", "data:")) or said in target:
            return False
        elsewhere = re.match(r"[a-z]+:", target) is not None
        return elsewhere or (len(said) >= TELLING and len(_WORD.findall(said)) > 1 and not self.heading)


_FIELDS: Final = {
    "description": "Description", "og:description": "Description", "author": "Author", "date": "Date",
    "article:published_time": "Published", "article:modified_time": "Modified",
}  # fmt: skip
_OPEN: Final = {
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Writer._heading),
    **dict.fromkeys(("ul", "ol", "menu"), Writer._list),
    "li": Writer._item, "option": Writer._item, "dt": Writer._term, "dd": Writer._explanation,
    "dl": Writer._definitions, "table": Writer._table, "tr": Writer._row,
    "td": Writer._cell, "th": Writer._cell, "pre": Writer._pre, "a": Writer._anchor,
    **dict.fromkeys(("tbody", "thead", "tfoot"), Writer._nothing), "br": Writer._line,
}  # fmt: skip
_CLOSE: Final = {
    "dl": Writer._end_definitions,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Writer._end_heading),
    **dict.fromkeys(("ul", "ol", "menu"), Writer._end_list),
    "li": Writer._end_item, "option": Writer._end_item, "table": Writer._end_table, "tr": Writer._end_row,
    "td": Writer._end_cell, "th": Writer._end_cell, "pre": Writer._end_pre, "a": Writer._end_anchor,
    **dict.fromkeys(("tbody", "thead", "tfoot"), Writer._nothing),
}  # fmt: skip
