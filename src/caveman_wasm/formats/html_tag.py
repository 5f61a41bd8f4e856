"""What a web page's tags say, worked out once for each spelling, and which elements are no content: told by elements,
roles, names of classes, density of links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

__all__ = [
    "ALERTING",
    "BLOCKS",
    "CLOSE",
    "HEADS",
    "LINKED",
    "LINKS",
    "MAINS",
    "NAME",
    "OPEN",
    "OTHER",
    "ROWS",
    "SIZE",
    "TABLES",
    "TERMS",
    "VOID",
    "Tag",
    "Tags",
    "attributes_of",
    "target_of",
]

DENSE: Final = 0.5  # share of link text from which a part that is named like navigation is navigation
OPEN, CLOSE, OTHER = range(3)  # a start tag, an end tag, a start tag that needs a look at what is open or follows
SIZE, LINKED, LINKS, HEADS, TABLES, ROWS, TERMS, MAINS = range(8)  # what is counted in an element: bytes of text, of
# links' text, links, h1 and h2, other blocks that no table of data holds, rows, terms, main elements

NAME: Final = r"[A-Za-z][A-Za-z0-9:-]*+"
_READ: Final = re.compile(rf"<(/?)({NAME})")
_ATTRIBUTE: Final = re.compile(
    r"([^\s\"'<>/=]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++)))?", re.ASCII
)  # fmt: skip
_HREF: Final = re.compile(r"<a\s++href\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')", re.ASCII | re.IGNORECASE)
VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
BLOCKS: Final = frozenset([
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header",
    "hgroup", "html", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "section",
    "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "ul",
])  # fmt: skip
_CLOSES: Final = {  # an element opened right inside one of these closes it first
    **dict.fromkeys(BLOCKS, frozenset(["p"])),
    "li": frozenset(["p", "li"]),
    "dt": frozenset(["p", "dt", "dd"]),
    "dd": frozenset(["p", "dt", "dd"]),
    "option": frozenset(["p", "option"]),
    "tr": frozenset(["p", "td", "th", "tr"]),
    "td": frozenset(["p", "td", "th"]),
    "th": frozenset(["p", "td", "th"]),
    "tbody": frozenset(["p", "td", "th", "tr", "thead", "tbody"]),
    "tfoot": frozenset(["p", "td", "th", "tr", "thead", "tbody"]),
}
_COUNTED: Final = {
    "a": LINKS,
    **dict.fromkeys(("h1", "h2"), HEADS),
    **dict.fromkeys(("table", "pre", "ul", "ol", "dl", "h3", "h4", "form"), TABLES),
    "tr": ROWS,
    "dt": TERMS,
}
_NEVER: Final = ("html", "head", "body", "main")
_WRITTEN: Final = BLOCKS | {"a", "br", "img", "meta", "script", "style"}  # what changes the text
_MEASURED: Final = frozenset(["table", "pre", "dl", "dt", "header", "footer", "aside"])

# ---------------------------------------------------------------- what is no content

_ROLE_MAIN: Final = re.compile(r"role\s*=\s*[\"']?main\b", re.ASCII)
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
_NAMED: Final = frozenset([
    "div", "section", "aside", "ul", "ol", "table", "td", "form", "header", "footer", "p", "span", "a", "nav", "center",
    "details", "dl",
])  # fmt: skip


# What may be told by attributes of an element that names tell of, in small letters.
_NAMES: Final = re.compile(r"[\s\"'/=](?:class|id|hidden|style)|role", re.ASCII)


class Tag:
    """``name`` in small letters. ``room``: which elements it closes first; ``counted``: what it counts as. ``part``:
    the kind of part its element is if it is no content, by what is written; `aside` has the rest."""

    __slots__ = (
        "alert", "asks", "closing", "counted", "kind", "main", "measured", "name", "navigates", "noted", "part", "room",
        "said", "special", "void",
    )  # fmt: skip

    def __init__(self, name: str, kind: int, closing: bool, told: Told | None) -> None:
        self.name, self.kind, self.closing = name, kind, closing
        self.room = _CLOSES.get(name)
        self.counted = _COUNTED.get(name, 0)
        self.void = name in VOID
        self.main = name == "main"
        self.part, self.alert, self.navigates = "" if name == "select" else _ASIDES.get(name, ""), "", False
        self.asks = bool(self.part) or name in ("header", "footer", "aside", "select")
        if told:
            self._read(*told)
        self.measured = name in _MEASURED or self.asks or bool(self.alert)
        self.noted = bool(self.counted) or self.measured or self.main
        self.special = self.asks or self.main or bool(self.alert)
        self.said = name in _WRITTEN or self.asks or self.main

    def _read(self, main: bool, hidden: bool, role: str, classes: str, identity: str) -> None:
        """What the attributes tell."""
        name, names = self.name, f"{classes} {identity}"
        self.main = self.main or main
        alerting = ALERTING.search(f"{classes} {role} {identity}") if name in _NAMED else None
        if alerting and name not in ("a", "span"):
            self.alert = alerting[1].capitalize()
        if name in _NEVER or self.part:
            return
        if role == "alert" or (alerting and ALERTING.search(names)):
            self.asks = name == "select"
            return
        self.part = "hidden part" if hidden else _ROLES.get(role, "")
        self.navigates = name in _NAMED and _NAVIGATION.search(names) is not None
        self.asks = self.asks or bool(self.part) or self.navigates

    def aside(self, held: Sequence[int], inside: bool, most: int) -> str:
        """What kind of part an element is that is no content; '' for content. ``held``: the counts of what is in it;
        ``inside``: in the main element; what holds more than ``most`` bytes of text is content."""
        if held[MAINS] or held[SIZE] > most:
            return ""
        name = self.name
        if self.part or (name == "select" and not inside):
            return "control" if name == "select" and not inside else self.part
        dense = name == "a" or held[LINKED] >= DENSE * held[SIZE]
        if name in ("header", "footer", "aside") and not inside:
            few = held[SIZE] < 1_500 and (name == "footer" or not held[HEADS])
            return ("sidebar" if name == "aside" else name) if dense or few else ""
        return "navigation" if self.navigates and dense and (held[LINKS] or name == "a") else ""


class Tags(dict[str, Tag]):
    """Tags by their spelling. Those whose attributes tell the same share one."""

    def __init__(self) -> None:
        self.open: dict[str, int] = {"svg": 0}  # name → how many elements of it are open
        self._tag = lru_cache(1024)(Tag)  # the page's own: what its attributes say goes with it

    def __missing__(self, written: str) -> Tag:
        found = _READ.match(written)
        assert found is not None
        name, closing = found[2].lower(), found[1] != ""
        if written[-1] != ">":
            kind = OTHER
        elif closing:
            kind = CLOSE
        else:
            kind = OTHER if name in VOID or written[-2] == "/" else OPEN
        small, tells = written.lower(), False
        if not closing and name in _NAMED:
            tells = _NAMES.search(small, found.end()) is not None
        elif not closing:  # by no pattern, which takes long on a drawing's tags
            tells = "hidden" in small or "display" in small or "role" in small
        tag = self[written] = self._tag(name, kind, closing, _told(written, name) if tells else None)
        self.open.setdefault(name, 0)
        return tag


# Whether a tag is the main element's by its role; whether it is hidden; its role, its classes, its id.
Told = tuple[bool, bool, str, str, str]


def _told(written: str, name: str) -> Told:
    attributes = attributes_of(written, name)
    get = attributes.get
    hidden = "hidden" in attributes or _HIDDEN.search(get("style", "")) is not None
    main = _ROLE_MAIN.search(written) is not None
    return main, hidden, get("role", "").lower(), get("class", ""), get("id", "")


def attributes_of(written: str, name: str) -> dict[str, str]:
    """Names in small letters and values as they are spelt; of one that stands twice the first."""
    found: dict[str, str] = {}
    for key, double, single, bare in _ATTRIBUTE.findall(written, len(name) + 1):
        found.setdefault(key.lower(), double or single or bare)
    return found


def target_of(written: str) -> str:
    """Where a link leads."""
    first = _HREF.match(written)
    return (first[1] or first[2] or "") if first else attributes_of(written, "a").get("href", "")
