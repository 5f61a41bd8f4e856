"""A web page as events and elements, and which of its elements are no content: told by structure, by elements, roles,
names of classes, density of links.

The lexer is our own: offsets into the payload are needed, mark-up may be broken in any way, and the standard
library's parser changes between Python versions, so it may decide no byte. It is linear: each pattern is possessive,
and a search for an end that failed once is not made again. Elements are opened and closed as browsers do for
unclosed ``<p>``, ``<li>`` and cells; nothing recurses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = ["ALERTING", "BLOCKS", "NAMED", "ROLE_MAIN", "SPACE", "Event", "Node", "Page", "aside"]

LINKED: Final = 0.5  # share of link text from which a part that is named like navigation is navigation

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
BLOCKS: Final = frozenset([
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
SPACE: Final = " \t\r\n\f"


class Event(NamedTuple):
    """``kind``: "<" an element opens, ">" it closes, "t" text, "r" raw content of ``name``; ``at`` is where in the
    payload it starts, ``stop`` its end; ``node`` the number of the element (of the one around, for text)."""

    kind: str
    name: str
    at: int
    stop: int
    node: int


@dataclass(slots=True)
class Node:
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


class Page:
    """The events of a page, well nested, and its elements; element 0 is the page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.events: list[Event] = []
        self.nodes = [Node("", "", 0)]
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
            self.events.append(Event("t", "", start, stop, node))
            self.nodes[node].text += len(self.text[start:stop].strip(SPACE))

    def _open(self, name: str, written: str, start: int, at: int) -> int:
        """Where to read on after a start tag."""
        if name in BLOCKS:
            self._make_room(name, start)
        if name in _VOID or (written.endswith("/") and (name in ("a", "script", "svg", "path") or "svg" in self.open)):
            self.nodes.append(Node(name, written, self.stack[-1]))
            self.events.append(Event("<", name, start, at, len(self.nodes) - 1))
            return at
        self.nodes.append(Node(name, written, self.stack[-1]))
        self.events.append(Event("<", name, start, at, len(self.nodes) - 1))
        self.stack.append(len(self.nodes) - 1)
        self.open[name] = self.open.get(name, 0) + 1
        if name not in _ENDS or (self.open.get("svg")):
            return at
        end = None if name in self._endless else _ENDS[name].search(self.text, at)
        if end is None:
            self._endless.add(name)
            return at  # never closed: what follows is read as usual
        self.events.append(Event("r", name, at, end.start(), len(self.nodes) - 1))
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
        self.events.append(Event(">", node.name, at, at, number))
        outer, a = self.nodes[self.stack[-1]], node.name == "a"
        outer.text += node.text
        outer.linked += node.text if a else node.linked
        outer.links += node.links + a
        outer.heads += node.heads + (node.name in ("h1", "h2"))
        outer.rows += node.rows + (node.name == "tr")
        outer.terms += node.terms + (node.name == "dt")
        outer.blocks += node.blocks + (node.name in ("table", "pre", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "form"))
        outer.main = outer.main or node.main or node.name == "main" or ROLE_MAIN.search(node.written) is not None


# ---------------------------------------------------------------- what is content

ROLE_MAIN: Final = re.compile(r"role\s*=\s*[\"']?main\b", re.ASCII)
_NAVIGATION: Final = re.compile(
    r"(?i)nav(?:bar|igation|header|footer|list|links?|menu)|(?<![a-z])(?:sub|top|bottom|side|main)?[-_]?nav(?![a-z])"
    r"|(?<![a-z])(?:sub|main|side|mobile|drop)?[-_]?menu(?![a-z])|side-?bar|bread-?crumb|(?<![a-z])(?:related|footer|toc"
    r"|pagination|pager|share|sharing|social|cookies?|toolbar|advert\w*|ads?|sponsor\w*|skip[-_ ]?(?:link|nav|to)?\w*"
    r"|table-?of-?contents|contents|newsletter|promo|language-?switch\w*|(?:site-?)?header|masthead|search\w*)(?![a-z])",
    re.ASCII,
)
ALERTING: Final = re.compile(
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
NAMED: Final = frozenset([
    "div", "section", "aside", "ul", "ol", "table", "td", "form", "header", "footer", "p", "span", "a", "nav", "center",
    "details", "dl",
])  # fmt: skip


def aside(node: Node, inside: bool, most: int) -> str:
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
    if role == "alert" or (ALERTING.search(names) and node.name in NAMED):
        return ""
    if "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")):
        return "hidden part"
    if role in _ROLES:
        return _ROLES[role]
    dense = node.name == "a" or node.linked >= LINKED * node.text
    if node.name in ("header", "footer", "aside") and not inside:
        few = node.text < 1_500 and (node.name == "footer" or not node.heads)
        return ("sidebar" if node.name == "aside" else node.name) if dense or few else ""
    if dense and (node.links or node.name == "a") and node.name in NAMED and _NAVIGATION.search(names):
        return "navigation"
    return ""
