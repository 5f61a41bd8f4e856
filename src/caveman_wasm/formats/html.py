"""Web pages: the page's text, as Markdown-like text that is cut the way prose is.

`rewrite` makes that text: title and description, headings (``# …``), paragraphs, lists, tables (``| a | b |``), alerts,
code blocks, links that matter. What is no content (navigation, footers, hidden parts, controls, scripts, styles,
drawings, metadata) comes last, one line a part, and is left out behind one marker that counts the parts by kind;
narrowing finds it. What is content is told by structure: elements, roles, names of classes, density of links.

The lexer is our own: offsets into the payload are needed, mark-up may be broken in any way, and the standard
library's parser changes between Python versions, so it may decide no byte. It is linear: each pattern is possessive,
and a search for an end that failed once is not made again. Elements are opened and closed as browsers do for
unclosed ``<p>``, ``<li>`` and cells; nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Final, NamedTuple

from caveman_wasm.formats.text import TEXT
from caveman_wasm.model import Columns, Document, Group, Rewritten, source

__all__ = ["HTML"]

ALERT: Final = 600  # bytes; an alert up to this is never cut
TELLING: Final = 12  # bytes of text from which a link within the site says where it leads
EXPLAINED: Final = 150  # bytes a term and its explanation have on average where terms are headings
ALMOST_ALL: Final = 0.7  # of a page's text: what holds more is its content, whatever it is called
PARAGRAPH: Final = 3_000  # bytes up to which a paragraph's first sentence stays with it
TABLE: Final = 300  # bytes; the same for a table
DATA: Final = 2_000  # bytes of a data script (JSON-LD, embedded state) that can be found by a question
LINKED: Final = 0.5  # share of link text from which a part that is named like navigation is navigation
SHELL: Final = 400  # bytes of content below which a page is a shell that a program fills
PARTS: Final = "[Other parts of the page]"  # the line above them; text of the page cannot be equal to it

# ---------------------------------------------------------------- the lexer

_TAG: Final = re.compile(r"<(?:(/)?([A-Za-z][A-Za-z0-9:-]*+)|!--|[!?])")
_ATTRIBUTES: Final = re.compile(r"(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+")
_ATTRIBUTE: Final = re.compile(
    r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++)))?", re.ASCII
)  # fmt: skip
_RAW: Final = ("script", "style", "textarea", "title", "template", "noscript", "iframe", "xmp")
_ENDS: Final = {name: re.compile(rf"</{name}(?![A-Za-z0-9-])", re.IGNORECASE | re.ASCII) for name in _RAW}
_VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_BLOCKS: Final = frozenset([
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header",
    "hgroup", "html", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul",
])  # fmt: skip
_CLOSES: Final = {  # an element opened right inside one of these closes it first
    "li": ("li",),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "option": ("option",),
    "tr": ("td", "th", "tr"),
    "td": ("td", "th"),
    "th": ("td", "th"),
    "tbody": ("td", "th", "tr", "thead", "tbody"),
    "tfoot": ("td", "th", "tr", "thead", "tbody"),
}
_SPACE: Final = " \t\r\n\f"


class _Event(NamedTuple):
    """``kind``: "<" an element opens, ">" it closes, "t" text, "r" raw content of ``name``; ``at`` is where in the
    payload it starts, ``stop`` its end; ``node`` the number of the element (of the one around, for text)."""

    kind: str
    name: str
    at: int
    stop: int
    node: int


@dataclass(slots=True)
class _Node:
    """An element: its attributes as written and what it holds, in bytes of text, of links' text, and counts."""

    name: str
    written: str
    parent: int
    text: int = 0
    linked: int = 0
    links: int = 0
    heads: int = 0
    blocks: int = 0
    rows: int = 0
    terms: int = 0
    main: bool = False

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTE.findall(self.written):
            found.setdefault(name.lower(), double or single or bare)
        return found


class _Page:
    """The events of a page, well nested, and its elements; element 0 is the page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.events: list[_Event] = []
        self.nodes = [_Node("", "", 0)]
        self.stack = [0]
        self.open: dict[str, int] = {}  # how many elements of a name are open
        self._endless: set[str] = set()
        self._read()

    def _read(self) -> None:
        text, at = self.text, 0
        while found := _TAG.search(text, at):
            self._text(at, found.start())
            closing, name = found.groups()
            if name is None:
                at = self._declaration(found)
                continue
            stop = _ATTRIBUTES.match(text, found.end()).end()  # type: ignore[union-attr]
            written, name = text[found.end() : stop], name.lower()
            at = stop + (text[stop : stop + 1] == ">")
            if closing:
                self._close(name, found.start())
            else:
                at = self._open(name, written, found.start(), at)
        self._text(at, len(text))
        while len(self.stack) > 1:
            self._pop(len(text))

    def _declaration(self, found: re.Match[str]) -> int:
        """Where a comment, declaration or processing instruction ends; an unclosed one ends at the next ``>``."""
        for sign in ("-->", ">") if found[0] == "<!--" else (">",):
            stop = self.text.find(sign, found.end()) if sign not in self._endless else -1
            if stop >= 0:
                return stop + len(sign)
            self._endless.add(sign)
        return len(self.text)

    def _text(self, start: int, stop: int) -> None:
        if start < stop:
            node = self.stack[-1]
            self.events.append(_Event("t", "", start, stop, node))
            self.nodes[node].text += len(self.text[start:stop].strip(_SPACE))

    def _open(self, name: str, written: str, start: int, at: int) -> int:
        """Where to read on after a start tag."""
        if name in _BLOCKS:
            self._make_room(name, start)
        if name in _VOID or (written.endswith("/") and (name in ("a", "script", "svg", "path") or "svg" in self.open)):
            self.nodes.append(_Node(name, written, self.stack[-1]))
            self.events.append(_Event("<", name, start, at, len(self.nodes) - 1))
            return at
        self.nodes.append(_Node(name, written, self.stack[-1]))
        self.events.append(_Event("<", name, start, at, len(self.nodes) - 1))
        self.stack.append(len(self.nodes) - 1)
        self.open[name] = self.open.get(name, 0) + 1
        if name not in _ENDS or (self.open.get("svg")):
            return at
        end = None if name in self._endless else _ENDS[name].search(self.text, at)
        if end is None:
            self._endless.add(name)
            return at  # never closed: what follows is read as usual
        self.events.append(_Event("r", name, at, end.start(), len(self.nodes) - 1))
        return end.start()

    def _make_room(self, name: str, start: int) -> None:
        if self.nodes[self.stack[-1]].name == "p":
            self._pop(start)
        while self.nodes[self.stack[-1]].name in _CLOSES.get(name, ()):
            last = self.nodes[self.stack[-1]].name
            self._pop(start)
            if last == name:
                break

    def _close(self, name: str, start: int) -> None:
        if self.open.get(name):
            while self.nodes[self.stack[-1]].name != name:
                self._pop(start)
            self._pop(start)

    def _pop(self, at: int) -> None:
        number = self.stack.pop()
        node = self.nodes[number]
        self.open[node.name] -= 1
        self.events.append(_Event(">", node.name, at, at, number))
        outer, a = self.nodes[self.stack[-1]], node.name == "a"
        outer.text += node.text
        outer.linked += node.text if a else node.linked
        outer.links += node.links + a
        outer.heads += node.heads + (node.name in ("h1", "h2"))
        outer.rows += node.rows + (node.name == "tr")
        outer.terms += node.terms + (node.name == "dt")
        outer.blocks += node.blocks + (node.name in ("table", "pre", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "form"))
        outer.main = outer.main or node.main or node.name == "main" or _ROLE_MAIN.search(node.written) is not None


# ---------------------------------------------------------------- what is content

_ROLE_MAIN: Final = re.compile(r"role\s*=\s*[\"']?main\b", re.ASCII)
_NAVIGATION: Final = re.compile(
    r"(?i)nav(?:bar|igation|header|footer|list|links?|menu)|(?<![a-z])(?:sub|top|bottom|side|main)?[-_]?nav(?![a-z])"
    r"|(?<![a-z])(?:sub|main|side|mobile|drop)?[-_]?menu(?![a-z])|side-?bar|bread-?crumb|(?<![a-z])(?:related|footer|toc"
    r"|pagination|pager|share|sharing|social|cookies?|toolbar|advert\w*|ads?|sponsor\w*|skip[-_ ]?(?:link|nav|to)?\w*"
    r"|table-?of-?contents|contents|newsletter|promo|language-?switch\w*|(?:site-?)?header|masthead|search\w*)(?![a-z])",
    re.ASCII,
)
_ALERT: Final = re.compile(
    r"(?i)(?<![a-z])(alert|warning|danger|caution|important|deprecat(?:ed|ion)|notice|error|critical|attention"
    r"|outage|incident)(?![a-z])",
    re.ASCII,
)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.ASCII | re.IGNORECASE)
_ROLES: Final = {"navigation": "navigation", "search": "navigation", "contentinfo": "footer", "dialog": "dialog"}
_ASIDES: Final = {
    "nav": "navigation", "svg": "drawing", "math": "", "button": "control", "select": "control", "dialog": "dialog",
    "canvas": "", "object": "", "video": "", "audio": "",
}  # fmt: skip
_NAMED: Final = frozenset([
    "div", "section", "aside", "ul", "ol", "table", "td", "form", "header", "footer", "p", "span", "a", "nav", "center",
    "details", "dl",
])  # fmt: skip


def _aside(node: _Node, inside: bool, most: int) -> str:
    """What kind of part an element is that is no content; '' for content. ``inside``: in the main element; what
    holds more than ``most`` bytes of text is content."""
    if node.name in ("", "html", "head", "body", "main") or node.main or node.text > most:
        return ""
    kind = _ASIDES.get(node.name, "")
    if kind and (kind != "control" or node.name == "button" or not inside):
        return kind
    attributes = node.attributes() if node.written else {}
    role = attributes.get("role", "").lower()
    names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    if role == "alert" or (_ALERT.search(names) and node.name in _NAMED):
        return ""
    if "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")):
        return "hidden part"
    if role in _ROLES:
        return _ROLES[role]
    dense = node.name == "a" or node.linked >= LINKED * node.text
    if node.name in ("header", "footer", "aside") and not inside:
        few = node.text < 1_500 and (node.name == "footer" or not node.heads)
        return ("sidebar" if node.name == "aside" else node.name) if dense or few else ""
    if dense and (node.links or node.name == "a") and node.name in _NAMED and _NAVIGATION.search(names):
        return "navigation"
    return ""


# ---------------------------------------------------------------- the text

_ENTITY: Final = re.compile(r"&(?:#([0-9]{1,9}+)|#[xX]([0-9a-fA-F]{1,8}+)|([A-Za-z][A-Za-z0-9]{1,31}+))(;?)")
_CHANGES: Final = re.compile(rf"[{_SPACE}]{{2,}}+|{_ENTITY.pattern}")
_BLANKS: Final = str.maketrans("\t\r\n\f", "    ")
_SIGNS: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_WORD: Final = re.compile(r"[^ ]+")
_DOT: Final = source("·".encode())
_GLYPH: Final = re.compile(  # the text of a link to the heading it stands in
    r"(?:\xc2[\xa7\xb6]|#|\xe2\x96[\xb2\xbc]|\xe2\x86[\x90-\x93]|\xf0\x9f\x94\x97|&(?:para|sect|#182|#167|#xb6);)+"
)


def _decoded(found: re.Match[str]) -> str:
    """A character reference as source text; as it stands when it names nothing."""
    decimal, hexadecimal, name, end = found.groups()
    if name:
        value = html5.get(name + end) or html5.get(name + ";" if end else name)
        if value is None:
            return found[0]
    else:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        value = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return source(value.replace("\xa0", " ").replace("\u200b", "").encode())


def _value(written: str) -> str:
    """An attribute's value on one line, character references decoded."""
    return _ENTITY.sub(_decoded, " ".join(written.translate(_BLANKS).split(" ")).strip(" "))


class _Out:
    """Text being made, with pairs back to the payload. Line ends and blanks wait until something follows them."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.offsets: list[int] = []
        self.origins: list[int] = []
        self.size = 0
        self.end = 0  # where in the payload the last piece ended
        self.lines = 0  # line ends to write before what follows
        self.blank = False
        self.prefix = ""
        self.indent = ""
        self.fresh = True  # nothing stands on this line yet

    def put(self, text: str, origin: int) -> None:
        if text:
            if not self.offsets or self.origins[-1] + self.size - self.offsets[-1] != origin:
                self.offsets.append(self.size)
                self.origins.append(origin)
            self.pieces.append(text)
            self.size += len(text)

    def add(self, text: str, origin: int, stop: int) -> None:
        """``text``, made of the payload's ``origin`` to ``stop``."""
        if not text:
            return
        if self.lines or not self.size:
            self.put("\n" * self.lines if self.size else "", self.end)
            self.put(self.indent if not self.prefix else "", origin)
            self.fresh, self.lines = True, 0
        elif self.blank and not self.fresh:
            self.put(" ", self.end)
        self.put(self.prefix, origin)
        self.prefix, self.blank, self.fresh = "", False, False
        self.put(text, origin)
        self.end = stop

    def flow(self, text: str, start: int, stop: int, cell: bool) -> None:
        """Text of the payload with white space as one blank and character references decoded."""
        at = start
        for found in _CHANGES.finditer(text, start, stop):
            self._slice(text, at, found.start(), cell)
            if found[0][0] == "&":
                value = _decoded(found)
                if value.strip(" "):
                    self.add(value.replace("|", "\\|") if cell else value, found.start(), found.end())
                else:
                    self.blank = True
            else:
                self.blank = True
            at = found.end()
        self._slice(text, at, stop, cell)

    def _slice(self, text: str, start: int, stop: int, cell: bool) -> None:
        piece = text[start:stop].translate(_BLANKS)
        bare = piece.strip(" ")
        if not bare:
            self.blank = self.blank or bool(piece)
            return
        lead = len(piece) - len(piece.lstrip(" "))
        self.blank = self.blank or lead > 0
        at, blank_behind = start + lead, len(piece) > lead + len(bare)
        for part in bare.split("|") if cell else (bare,):
            if at > start + lead:
                self.add("\\|", at - 1, at)
            self.add(part, at, at + len(part))
            at += len(part) + 1
        self.blank = blank_behind

    def verbatim(self, text: str, start: int, stop: int) -> None:
        """Preformatted text: only character references change."""
        at = start
        for found in _ENTITY.finditer(text, start, stop):
            self.put(text[at : found.start()], at)
            self.put(_decoded(found), found.start())
            at = found.end()
        self.put(text[at:stop], at)
        self.end, self.fresh = stop, False

    def break_line(self, lines: int) -> None:
        self.lines = max(self.lines, lines)
        self.blank = False


class _Writer:
    """Goes through the events once and writes the content into ``main`` and every other part as a line of ``rest``."""

    def __init__(self, page: _Page) -> None:
        self.page = page
        self.most = max(int(ALMOST_ALL * page.nodes[0].text), 400)
        self.main, self.rest = _Out(), _Out()
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
    def out(self) -> _Out:
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

    def _text(self, event: _Event) -> None:
        text = self.page.text
        if self.link is not None and event.node == self.link[1] and _GLYPH.fullmatch(text, event.at, event.stop):
            return
        if self.pre and not self.aside:
            self.main.verbatim(text, event.at, event.stop)
        elif self.page.nodes[event.node].name in ("table", "tr", "tbody", "ul", "ol", "dl", "select") and not text[
            event.at : event.stop
        ].strip(_SPACE):
            self.out.blank = False
        else:
            self.out.flow(text, event.at, event.stop, self.cells >= 0)

    def _raw(self, event: _Event) -> None:
        content = self.page.text[event.at : event.stop].strip(_SPACE)
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
                self.rest.add(" " + content[:DATA].translate(_BLANKS), event.at, event.at + DATA)
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
            out.add(_value(value), start, stop)
        out.prefix = ""
        out.break_line(1)

    def _part(self, label: str, said: str, start: int, stop: int) -> None:
        if not self.aside:
            self.rest.break_line(1)
            self.rest.add(f"[{label}]" + (f" {said}" if said else ""), start, stop)
            self.rest.blank = True

    # ------------------------------------------------------------ elements

    def _open(self, event: _Event) -> None:
        node = self.page.nodes[event.node]
        name = event.name
        if self.aside:
            self._open_aside(event, node)
            return
        kind = _aside(node, self.inside > 0, self.most)
        if kind:
            self._part(kind, "", event.at, event.at)
            self.aside = event.node
            return
        if name == "main" or (node.written and _ROLE_MAIN.search(node.written)):
            self.inside += 1
        if name == "meta":
            self._meta(node, event)
        elif name == "img":
            self._image(node, event)
        elif name in _OPEN:
            _OPEN[name](self, event, node)
        elif name in _BLOCKS:
            self._block(2)
        if name in _NAMED and node.written and 0 < node.text < 20_000:
            self._alert(node)

    def _open_aside(self, event: _Event, node: _Node) -> None:
        if event.name == "a":
            self._anchor(event, node)
        elif event.name in _BLOCKS or event.name == "br":
            rest = self.rest
            rest.blank = False
            if not rest.pieces[-1].endswith(("]", _DOT)):
                rest.add(" " + _DOT, rest.end, rest.end)
            rest.blank = True

    def _close(self, event: _Event) -> None:
        if self.aside:
            if event.name == "a":
                self._end_anchor(event)
            if event.node == self.aside:
                self.aside = 0
                self.rest.blank = False
            return
        node = self.page.nodes[event.node]
        if event.name == "main" or (node.written and _ROLE_MAIN.search(node.written)):
            self.inside -= 1
        if event.name in _CLOSE:
            _CLOSE[event.name](self, event)
        elif event.name in _BLOCKS:
            self._block(2)

    def _block(self, lines: int) -> None:
        """A new block: a paragraph of its own, one blank in a cell, an indented line in a list."""
        out = self.main
        if self.cells >= 0:
            out.blank = True
        elif not out.prefix:
            out.break_line(1 if self.lists else lines)
            out.indent = "  " * len(self.lists)

    def _alert(self, node: _Node) -> None:
        attributes = node.attributes()
        found = _ALERT.search(f"{attributes.get('class', '')} {attributes.get('role', '')} {attributes.get('id', '')}")
        if found and not self.main.prefix and self.cells < 0 and node.name not in ("a", "span") and not node.blocks:
            self.main.prefix = found[1].capitalize() + ": "

    def _meta(self, node: _Node, event: _Event) -> None:
        attributes = node.attributes()
        name = (attributes.get("name") or attributes.get("property") or "").lower()
        content = attributes.get("content", "")
        if name in _FIELDS and content:
            if (said := (_FIELDS[name], _value(content))) in self.fields:
                return
            self.fields.add(said)
            at = max(self.page.text.find(content, event.at, event.stop), event.at)
            self._field(_FIELDS[name], at, event.stop, content)
        elif name and content and name not in ("viewport", "generator"):
            self._part("metadata", f"{name}: {_value(content)}", event.at, event.stop)

    def _image(self, node: _Node, event: _Event) -> None:
        said = _value(node.attributes().get("alt", ""))
        if _SIGNS.search(said) and (" " in said or (len(said) > 3 and self.link is None)):
            self.main.add(f"[image: {said}]", event.at, event.stop)

    def _heading(self, event: _Event, node: _Node) -> None:
        if self.cells >= 0 or self.lists:
            self._block(2)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(2)
            self.main.prefix = "#" * int(event.name[1]) + " "
        self.heading = True

    def _end_heading(self, event: _Event) -> None:
        self.heading = False
        if self.main.prefix.startswith("#"):
            self.main.prefix = ""  # nothing stood in it
        self._block(2)

    def _definitions(self, event: _Event, node: _Node) -> None:
        """Terms with long explanations, or such that can be linked to, head them; else each is an item of a list."""
        self._block(2)
        heads = not self.lists and node.text >= EXPLAINED * max(node.terms, 1)
        self.terms.append(heads)
        if not heads and self.cells < 0:
            self.lists.append(0)

    def _end_definitions(self, event: _Event) -> None:
        if self.terms and not self.terms.pop() and self.cells < 0 and self.lists:
            self.lists.pop()
        self._block(2)

    def _term(self, event: _Event, node: _Node) -> None:
        if self.terms and not self.terms[-1]:
            self._item(event, node)
        elif self.cells < 0 and not self.lists and (self.terms or "id=" in node.written) and node.text <= 4 * EXPLAINED:
            self.main.break_line(2)
            self.main.prefix = "###### "
        else:
            self._block(2)

    def _explanation(self, event: _Event, node: _Node) -> None:
        self._block(2)
        if self.terms and not self.terms[-1] and self.cells < 0 and not self.main.prefix:
            self.main.lines = 0
            self.main.add(":", self.main.end, self.main.end)
            self.main.blank = True

    def _list(self, event: _Event, node: _Node) -> None:
        if self.cells >= 0:
            return
        self.main.prefix = ""
        self.main.break_line(1 if self.lists else 2)
        self.lists.append(1 if event.name == "ol" else 0)

    def _end_list(self, event: _Event) -> None:
        if self.cells < 0 and self.lists:
            self.lists.pop()
            self.main.prefix = ""
            self._block(2)

    def _item(self, event: _Event, node: _Node) -> None:
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

    def _end_item(self, event: _Event) -> None:
        if self.cells < 0:
            self.main.prefix = ""
            self.main.break_line(1)
            self.main.indent = "  " * len(self.lists)

    def _table(self, event: _Event, node: _Node) -> None:
        most = max(2, node.rows // 4) if node.rows > 1 else 0  # blocks in a table that is one of data
        lays_out = node.blocks > most or node.rows < 1 or self.cells >= 0 or bool(self.lists)
        self.main.prefix = ""
        self._block(2)
        self.tables.append(-1 if lays_out and self.cells < 0 else 0 if self.cells < 0 else -2)

    def _end_table(self, event: _Event) -> None:
        if self.tables and self.tables.pop() >= 0:
            self.cells = -1
        self._block(2)

    def _row(self, event: _Event, node: _Node) -> None:
        if not self.tables or self.tables[-1] < 0:
            self._block(2)
        else:
            self.main.prefix, self.main.indent = "", ""
            self.main.break_line(1)
            self.cells = 0

    def _end_row(self, event: _Event) -> None:
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

    def _cell(self, event: _Event, node: _Node) -> None:
        if self.tables and self.tables[-1] >= 0 and self.cells >= 0:
            self.main.blank = False
            self.main.add(" |" if self.cells else "|", event.at, event.at)
            self.main.blank = True
            self.cells += 1
        else:
            self._block(2)

    def _nothing(self, event: _Event, node: _Node | None = None) -> None:
        pass

    def _line(self, event: _Event, node: _Node) -> None:
        if self.cells >= 0:
            self.main.blank = True
        elif self.pre:
            self.main.put("\n", event.at)
        else:
            self.main.break_line(1)

    def _end_cell(self, event: _Event) -> None:
        self._block(2)

    def _pre(self, event: _Event, node: _Node) -> None:
        self._block(2)
        if self.cells >= 0 or not node.text:
            return
        self.main.prefix, self.main.indent = "", ""
        self.main.break_line(2)
        self.main.add("```", event.at, event.stop)
        self.pre += 1
        if self.page.text[event.stop : event.stop + 1] not in ("\n", "\r"):
            self.main.put("\n", event.stop)

    def _end_pre(self, event: _Event) -> None:
        if self.pre:
            self.pre -= 1
            self.main.lines = 0 if self.main.pieces[-1].endswith("\n") else 1
            self.main.indent, self.main.blank = "", False
            self.main.add("```", self.main.end, self.main.end)
        self._block(2)

    def _anchor(self, event: _Event, node: _Node) -> None:
        self.link = (len(self.out.pieces), event.node)

    def _end_anchor(self, event: _Event) -> None:
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

    def _matters(self, target: str, said: str, node: _Node) -> bool:
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
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _Writer._heading),
    **dict.fromkeys(("ul", "ol", "menu"), _Writer._list),
    "li": _Writer._item, "option": _Writer._item, "dt": _Writer._term, "dd": _Writer._explanation,
    "dl": _Writer._definitions, "table": _Writer._table, "tr": _Writer._row,
    "td": _Writer._cell, "th": _Writer._cell, "pre": _Writer._pre, "a": _Writer._anchor,
    **dict.fromkeys(("tbody", "thead", "tfoot"), _Writer._nothing), "br": _Writer._line,
}  # fmt: skip
_CLOSE: Final = {
    "dl": _Writer._end_definitions,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _Writer._end_heading),
    **dict.fromkeys(("ul", "ol", "menu"), _Writer._end_list),
    "li": _Writer._end_item, "option": _Writer._end_item, "table": _Writer._end_table, "tr": _Writer._end_row,
    "td": _Writer._end_cell, "th": _Writer._end_cell, "pre": _Writer._end_pre, "a": _Writer._end_anchor,
    **dict.fromkeys(("tbody", "thead", "tfoot"), _Writer._nothing),
}  # fmt: skip


# ---------------------------------------------------------------- the format

_PART: Final = re.compile(r"^\[([a-z ]+)\].*$", re.MULTILINE)
_FIELD: Final = re.compile(r"(?:Title|Description|Author|Date|Published|Modified): ")
_PINNED: Final = re.compile(rf"(?:- )?(?:{_ALERT.pattern[4:]}): ", re.ASCII | re.IGNORECASE)


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
        page = _Page(text)
        return _Writer(page).write() if any(event.kind == "<" for event in page.events) else Rewritten("", (), ())

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
        if group.noun == "blocks":
            known = set(group.pinned)
            group.pinned = [i for i in range(len(group)) if _is_pinned(text, group, i, i in known)]
            group.children = {i: inner for i, groups in group.children.items() if (inner := _behind_first(groups))}


def _behind_first(groups: list[Group]) -> list[Group]:
    """A paragraph that is entered keeps its first sentence, so that no paragraph is entered for nothing."""
    first = groups[0]
    if len(groups) > 1 or first.noun != "sentences" or first.stops[-1] - first.starts[0] > PARAGRAPH:
        return groups
    pinned = [i - 1 for i in first.pinned if i]
    rest = Group(first.starts[1:], first.stops[1:], first.mode, first.noun, first.markers, first.heading, pinned=pinned)
    return [rest] if len(rest) else []


def _is_pinned(text: str, group: Group, i: int, known: bool) -> bool:
    start, stop = group.starts[i], group.stops[i]
    if stop - start <= (TABLE if text[start] == "|" else ALERT if _PINNED.match(text, start) else 0):
        group.children.pop(i, None)
        return True
    return known and (text[start] == "#" or i < 2 or text[stop - 1] == ":" or bool(_FIELD.match(text, start)))


HTML: Final = Html()
