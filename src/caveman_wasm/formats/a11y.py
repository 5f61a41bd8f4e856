"""Pages as agents see them: Playwright's and chrome-devtools' indented snapshots, and CDP accessibility trees (JSON).

Units of a snapshot are its lines, in sections by heading; five or more siblings of one role are records, each with
what is nested in it. What can be acted on or announces itself stays before what only decorates or is running text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.text import pieces
from caveman_wasm.formats.tool_schema import Span, json_spans
from caveman_wasm.model import ABSENT, Columns, Document, Group, Rewritten, Value, plain

__all__ = ["A11Y"]

LEVELS: Final = 7  # sections and records inside of records
SIBLINGS: Final = 5  # of one role from which they are records
LONG_RECORD: Final = 1200  # bytes from which a record is entered
TREE: Final = 0.2  # share of a CDP tree that stays: its members cost more tokens a byte than a snapshot's lines
CELLS: Final = 24  # columns read of one record
PREAMBLE: Final = 60  # lines in which the fence around a snapshot begins
HEADERS: Final = 60  # nodes before and in the first record among which column headers are looked for

_ACTED_ON: Final = frozenset(
    "link button textbox searchbox combobox checkbox radio switch slider spinbutton menuitem menuitemcheckbox"  # noqa: SIM905
    " menuitemradio tab option listbox treeitem select input textarea disclosuretriangle popupbutton colorwell date"
    " datetime inputtime file scrollbar".split()
)
_ANNOUNCED: Final = frozenset(
    "heading alert alertdialog dialog status columnheader rowheader caption navigation main banner contentinfo search"  # noqa: SIM905
    " form complementary table grid treegrid tablist menu menubar toolbar tree progressbar rootwebarea iframe"
    " document region timer log meter radiogroup".split()
)
_TOLD: Final = _ACTED_ON | _ANNOUNCED
_FLOWING: Final = frozenset(("text", "generic", "paragraph", "heading"))  # however many, no list of records
_NODE: Final = re.compile(
    r"( *)(?:- '?(?P<role>/?[A-Za-z][\w-]*)|uid=(?P<uid>\w+)(?: (?P<role2>[A-Za-z][\w-]*+)(?=[ \r\n]|\Z))?)"
    r"(?: (?P<name>\"(?:[^\"\\\n]|\\[^\n])*+\"))?",
    re.ASCII,
)
_STATE: Final = re.compile(
    r"[\[ ](?:checked|selected|disabled|pressed|expanded|active|focused|invalid|required)\b", re.ASCII
)
_INLINE: Final = re.compile(r"\]?'?: (?P<text>[^\r\n]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Node:
    """A line of a snapshot (with the rest of a name that holds newlines). ``indent`` −1: no node, but text around."""

    start: int
    stop: int
    indent: int
    role: str
    name: str


class A11y:
    name = "a11y"
    keep = 0.25  # with 0.35 half of what stays is rows and boilerplate that facts and markers tell as well
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return JSON.rewrite(text) if _is_json(text) else None

    def split(self, text: str) -> Document | None:
        return _split_tree(text) if _is_json(text) else _split_snapshot(text)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        if not _is_json(document.text):
            return sentence
        return "," * (group.markers == "apart") + JSON.marker(sentence, count, facts, group, document)

    def reference(self, sentence: str, document: Document) -> str:
        if _is_json(document.text):
            return JSON.reference(sentence, document)
        newline = "\r\n" if "\r\n" in document.text[:4096] else "\n"
        return ("" if document.text.endswith("\n") else newline) + sentence + newline


def _is_json(text: str) -> bool:
    return text[:64].lstrip("\xef\xbb\xbf \t\r\n").startswith("{")


# ---------------------------------------------------------------- indented snapshots


def _split_snapshot(text: str) -> Document | None:
    nodes = list(_nodes(text))
    if sum(node.indent >= 0 for node in nodes) < 2:
        return None
    groups = _sections(text, nodes, _ends(nodes), 0, len(nodes), 1)
    return Document(text, A11y.name, groups, len(text))


def _nodes(text: str) -> Iterator[_Node]:
    """Lines as nodes; in a devtools snapshot a line that begins no node continues the name above it."""
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    above = _above(lines)
    devtools = re.search(r"^ *uid=\w", text, re.ASCII | re.MULTILINE) is not None
    open_node: _Node | None = None
    for number, (start, line) in enumerate(zip(starts, lines, strict=False)):
        stop = start + len(line.rstrip("\r"))
        found = _NODE.match(line[:2000]) if number > above else None
        if found is None or (devtools and found["uid"] is None):
            if devtools and open_node is not None and open_node.indent >= 0:
                open_node = _Node(open_node.start, stop, open_node.indent, open_node.role, open_node.name)
                continue
            if stop == start:
                continue
            role, indent, name = "", -1, ""
        else:
            role = (found["role"] or found["role2"] or "text").lower()
            indent, name = len(found[1]), _said(line, found)
        if open_node is not None:
            yield open_node
        open_node = _Node(start, stop, indent, role, name)
    if open_node is not None:
        yield open_node


def _above(lines: Sequence[str]) -> int:
    """The line of the fence that opens the snapshot: what stands above it (address, title) is no node; else -1."""
    fences = (i for i, line in enumerate(lines[:PREAMBLE]) if line.startswith("```"))
    return next((i for i in fences if lines[i + 1 : i + 2] and lines[i + 1].startswith(("- ", "uid="))), -1)


def _said(line: str, found: re.Match[str]) -> str:
    """A node's name, else the text behind its colon; plain."""
    if found["name"]:
        return plain(found["name"][1:-1])
    inline = _INLINE.search(line, found.end(), found.end() + 4000)
    return plain(inline["text"].strip().strip("\"'")) if inline else ""


def _ends(nodes: Sequence[_Node]) -> list[int]:
    """For each node the number of the first node behind that is not nested in it."""
    ends, waiting = [len(nodes)] * len(nodes), [-1]
    for i, node in enumerate(nodes):
        while len(waiting) > 1 and nodes[waiting[-1]].indent >= node.indent:
            ends[waiting.pop()] = i
        waiting.append(i)
    return ends


def _sections(text: str, nodes: Sequence[_Node], ends: Sequence[int], first: int, last: int, level: int) -> list[Group]:
    """The nodes from ``first`` to ``last`` as one outline of sections, each from a heading to the next."""
    units = list(_units(nodes, ends, first, last))
    heads = [k for k, (a, b) in enumerate(units) if b - a == 1 and nodes[a].role == "heading"]
    if len(heads) < 2 or level >= LEVELS - 1:
        return [_outline(text, nodes, ends, units, level, "")]
    known = set(heads)
    bounds = sorted({0, *heads, len(units)})
    group = Group([], [], "outline", "sections")
    starts, stops = [], []
    for i, (a, b) in enumerate(pairwise(bounds)):
        inside = units[a:b]
        starts.append(nodes[inside[0][0]].start)
        stops.append(nodes[inside[-1][1] - 1].stop)
        heading = nodes[inside[0][0]].name if a in known else ""
        group.children[i] = [_outline(text, nodes, ends, inside, level + 1, heading)]
    group.starts, group.stops, group.pinned = starts, stops, range(len(starts))
    return [group]


def _units(nodes: Sequence[_Node], ends: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Single lines, and runs of siblings that are records, as (first node, behind its last)."""
    i = first
    while i < last:
        at, count = i, 0
        if nodes[i].role not in _FLOWING:
            while at < last and nodes[at].role == nodes[i].role and nodes[at].indent == nodes[i].indent >= 0:
                at, count = ends[at], count + 1
        stop = at if count >= SIBLINGS else i + 1
        yield i, stop
        i = stop


def _outline(
    text: str, nodes: Sequence[_Node], ends: Sequence[int], units: Sequence[tuple[int, int]], level: int, heading: str
) -> Group:
    starts, stops = [nodes[a].start for a, _ in units], [nodes[b - 1].stop for _, b in units]
    group = Group(starts, stops, "outline", "nodes", heading=heading)
    group.pinned = [i for i, (a, b) in enumerate(units) if b - a > 1 or _stays(text, nodes[a])]
    if level < LEVELS:
        for i, (a, b) in enumerate(units):
            inside = [_records(text, nodes, ends, a, b, level + 1)] if b - a > 1 else pieces(text, starts[i], stops[i])
            if inside:
                group.children[i] = inside
    return group


def _stays(text: str, node: _Node) -> bool:
    """Whether a line is more than decoration or running text."""
    if node.indent < 0 or node.role in _TOLD:
        return True
    return _STATE.search(text, node.start, min(node.stop, node.start + 2000)) is not None


def _records(text: str, nodes: Sequence[_Node], ends: Sequence[int], first: int, last: int, level: int) -> Group:
    heads = []
    at = first
    while at < last:
        heads.append(at)
        at = ends[at]
    bounds = [*heads[1:], last]
    starts, stops = [nodes[a].start for a in heads], [nodes[b - 1].stop for b in bounds]
    role = nodes[first].role
    noun = f"{role}s" if role.isalpha() and not role.endswith("s") else "records"
    names = _column_names(nodes, ends, first)
    group = Group(
        starts, stops, "records", noun, reader=_Reader(nodes, ends, list(zip(heads, bounds, strict=True)), names)
    )
    if level < LEVELS:
        for i, (a, b) in enumerate(zip(heads, bounds, strict=True)):
            if stops[i] - starts[i] > LONG_RECORD and b - a > 3:
                group.children[i] = _sections(text, nodes, ends, a + 1, b, level + 1)
    return group


def _column_names(nodes: Sequence[_Node], ends: Sequence[int], first: int) -> list[str]:
    """The texts of the column headers in the first row, or shortly before it."""
    around = range(max(0, first - HEADERS), min(ends[first], first + HEADERS))
    heads = [i for i in around if nodes[i].role == "columnheader"]
    last = [i for i in heads if nodes[i].indent == nodes[heads[-1]].indent]
    return [_cell(nodes, ends, i) for i in last]


def _cell(nodes: Sequence[_Node], ends: Sequence[int], i: int) -> str:
    """What a node says: its name, else the names of what is nested in it."""
    if nodes[i].name:
        return nodes[i].name
    return " ".join(n.name for n in nodes[i + 1 : ends[i]] if n.name and not n.role.startswith("/"))[:200]


class _Reader:
    """Columns of records: the record's own name, and its cells under their headers or by number."""

    typed = False

    def __init__(
        self, nodes: Sequence[_Node], ends: Sequence[int], spans: Sequence[tuple[int, int]], names: list[str]
    ) -> None:
        self.nodes, self.ends, self.spans = nodes, ends, spans
        self.names = names if all(names) and len(set(names)) == len(names) else []

    def columns(self, first: int, last: int) -> Columns:
        rows = [self._row(*span) for span in self.spans[first:last]]
        return {name: [row.get(name, ABSENT) for row in rows] for name in dict.fromkeys(n for row in rows for n in row)}

    def _row(self, first: int, last: int) -> dict[str, Value]:
        cells = [i for i in self._children(first, last) if self.nodes[i].role.endswith("cell")]
        if not cells:
            said = _cell(self.nodes, self.ends, first)
            return {"name": said} if said else {}
        named = len(cells) == len(self.names)
        labels = self.names if named else [f"cell {k}" for k in range(1, len(cells) + 1)]
        return {label: _cell(self.nodes, self.ends, i) for label, i in zip(labels[:CELLS], cells, strict=False)}

    def _children(self, first: int, last: int) -> Iterator[int]:
        at = first + 1
        while at < last:
            yield at
            at = self.ends[at]

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        roles = [" ".join(n.role for n in self.nodes[a : min(b, a + 60)]) for a, b in self.spans[first:last]]
        return [roles]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return ["alert" if any(n.role in ("alert", "alertdialog") for n in self.nodes[a:b]) else ""
                for a, b in self.spans[first:last]]  # fmt: skip


# ---------------------------------------------------------------- CDP trees

_BOILERPLATE: Final = frozenset(("sources", "ignoredReasons", "chromeRole", "chromeRoles", "frameId"))


def _split_tree(text: str) -> Document | None:
    """The JSON document cut as JSON, but for its nodes: an outline in which those that tell something are pinned,
    texts of their own are entered next, and what is ignored, generic or said twice comes last."""
    document = JSON.split(text)
    root = json_spans(text) if document is not None else None
    if document is None or root is None:
        return None
    nodes = root.member("nodes") or (root.member("result") or root).member("nodes")
    if nodes is None or not nodes.items:
        return None
    document.format, document.keep = A11y.name, TREE
    group = _find(document.groups, nodes.items[0].start)
    if group is None:
        return None
    read = [_read(text, item) for item in nodes.items]
    parents = {child: name for _, name, _, children in read for child in children}
    group.mode, group.noun, group.heading = "outline", "nodes", ""
    group.pinned = [i for i, node in enumerate(read) if _tells(node, parents)]
    texts = [i for i, (identifier, name, role, _) in enumerate(read) if role == "statictext" and name.strip()
             and parents.get(identifier) != name]  # fmt: skip
    group.children = {i: [g] for i in sorted({*group.pinned, *texts}) if len(g := _members(nodes.items[i]))}
    return document


def _find(groups: Sequence[Group], start: int) -> Group | None:
    """The group whose first unit begins at ``start``: on the way down from the root, eight levels at most."""
    while groups:
        group = next((g for g in groups if len(g) and g.starts[0] <= start < g.stops[-1]), None)
        if group is None or group.starts[0] == start:
            return group
        groups = next((inside for i, inside in group.children.items() if group.starts[i] <= start < group.stops[i]), [])
    return None


_Read = tuple[str, str, str, list[str]]  # id, name, role ('' when ignored), children's ids


def _read(text: str, node: Span) -> _Read:
    def said(name: str) -> str:
        member = node.member(name)
        value = member.member("value") if member is not None and member.keys is not None else member
        return text[value.start : value.stop].strip('"') if value is not None and not value.items else ""

    children = node.member("childIds")
    ids = [text[c.start : c.stop].strip('"') for c in children.items] if children is not None else []
    role = "" if said("ignored") == "true" else said("role").lower()
    return said("nodeId"), said("name"), role, ids


def _tells(node: _Read, parents: dict[str, str]) -> bool:
    """Whether a node is to be acted on, announces something, or has a name of its own and no parent of that name."""
    identifier, name, role, _ = node
    if role in _TOLD:
        return True
    return (
        bool(name.strip())
        and role not in ("", "statictext", "inlinetextbox", "listmarker")
        and (parents.get(identifier) != name)
    )


def _members(node: Span) -> Group:
    """What a node may give up: what repeats its name or role, or says why it is ignored."""
    found = list(_boilerplate(node))
    for key, item in zip(node.keys or (), node.items, strict=False):
        if key == "name":
            found += _boilerplate(item)
    found.sort()
    return Group([a for a, _ in found], [b for _, b in found], "outline", "members", "apart", marker_at=node.stop - 1)


def _boilerplate(span: Span) -> Iterator[tuple[int, int]]:
    """Members with the comma before them; the first one stays, so that each of the others has one."""
    for i, key in enumerate(span.keys or ()):
        if i and key in _BOILERPLATE:
            yield span.items[i - 1].stop, span.items[i].stop


A11Y = A11y()
