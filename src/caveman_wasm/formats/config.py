"""Configuration: YAML, TOML, INI, .properties, XML, HCL, nginx-like blocks, .env, lock files.

Each syntax is read into one tree (config_yaml.py, config_syntax.py, config_xml.py); the tree becomes groups here.
Different settings are an outline: headers first, then the settings themselves, fairly from all blocks. Like-shaped
neighbours (list items, ``[[tables]]``, services) are records: one of each kind is seen, the names of the others are
told. What tells what a block is (kind, name, type), and a number far from those of the same key elsewhere, stays
with its block.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from caveman_wasm.facts import NUMBER
from caveman_wasm.formats.config_fields import Fields
from caveman_wasm.formats.config_syntax import braced, flat, sectioned
from caveman_wasm.formats.config_tree import ITEM, Lines, Node, walk
from caveman_wasm.formats.config_xml import elements
from caveman_wasm.formats.config_yaml import indented
from caveman_wasm.model import Document, Group, Rewritten, plain, raw

__all__ = ["CONFIG", "Config"]

SMALL: Final = 300  # bytes; a smaller block is never entered
WIDE: Final = 120  # signs of indentation looked for
RUN: Final = 144  # bytes; less is no group, since no marker would pay
DEPTH: Final = 8  # groups within groups
NESTED: Final = 64  # blocks within blocks; what is deeper is text
ALIKE: Final = 6  # blocks from which likeness is asked for
REPEATED: Final = 4  # neighbours of one sort that are records
FACE: Final = 160  # bytes a setting may have that stays because it tells what its block is
ALIASES: Final = 200  # anchors whose blocks always stay, since what points at them may stay
ACTIVE: Final = 8  # settings from which it tells something that most are commented out
FAR: Final = 3  # distances of quartiles
FAR_ONES: Final = 40
SPOKEN: Final = 600  # bytes of a document below which its name alone is told
EXEMPLARS: Final = 6
EXEMPLAR: Final = 1500  # bytes a document may have that is seen whole
_TELLING: Final = frozenset(["apiVersion", "kind", "name", "id", "type", "title", "version", "ensure", "state"])
_START: Final = attrgetter("start")
_ALIAS: Final = re.compile(r"\*(?<=[ \[,]\*)([\w-]+)", re.ASCII)  # begins with the rare sign: looked for fast
_ANCHOR: Final = re.compile(r"[ ]&([\w-]+)", re.ASCII)


# ---------------------------------------------------------------- which syntax

_BLOCKS: Final = re.compile(r"[^#;\n]*[\[{(]\s*(?:#.*)?|\s*<[A-Z]\w*(?: [^<>]*)?>", re.ASCII)
_SHUT: Final = re.compile(r"\s*(?:[\]})]+[,;]?|</[A-Z]\w*>)\s*", re.ASCII)
_HEADER: Final = re.compile(r"\[\[?[^\[\]]{1,200}(?:\[[^\]]*\][^\]]*)?\]\]?\s*(?:[#;].*)?", re.ASCII)
_KEYED: Final = re.compile(r"\s*(?:- +)*(?:\"[^\"]*\"|'[^']*'|[^\s#=\[{\"'][^=#]{0,80}?):(?:\s.*)?", re.ASCII)
_ASSIGNED: Final = re.compile(r"\s*[#;]? ?[\w.\"'@/*:-]+(?: \w+)?\s*[+:?]?=.*", re.ASCII)
_NOTE: Final = re.compile(r"\s*(#|;|//|!|--)", re.ASCII)
SAMPLE: Final = 4000  # lines that tell the syntax
# A line's shape: to the patterns above letters are all alike, but for capitals, and so are digits.
_SHAPE: Final = bytes.maketrans(
    b"bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ123456789", b"a" * 25 + b"A" * 25 + b"0" * 9
)


def _tree(text: str) -> tuple[Node, str] | None:
    """The tree of a text, and the sign its comments begin with; '<' for XML."""
    start = text.lstrip("\xef\xbb\xbf \t\r\n")
    if start.startswith("<") and start[1:2] not in ("", " "):
        root = elements(text)
        if root is not None:
            root.kids[-1].fixed = True
            return root, "<"
        if not start[1].isalpha():
            return None
    lines = Lines(text)
    head = Counter(raw("\n".join(lines.bare[:SAMPLE])).translate(_SHAPE).decode("latin-1").split("\n"))
    signs, body = Counter[str](), Counter[str]()
    for shape, n in head.items():
        if noted := _NOTE.match(shape):
            signs[noted[1]] += n
        elif shape.strip(" \t"):
            body[shape] = n
    return _read(lines, body, max(signs, key=lambda s: (signs[s], s == "#"), default="#"))


def _read(lines: Lines, body: Counter[str], sign: str) -> tuple[Node, str]:
    """``body``: the shapes of lines that are no comments, and how many lines have each."""

    def like(pattern: re.Pattern[str], signs: str) -> int:
        """How many lines match ``pattern``, which none does without one of ``signs``."""
        likely = [shape for sign in signs for shape in body if sign in shape]
        return sum([body[shape] for shape in dict.fromkeys(likely) if pattern.fullmatch(shape)])

    total = body.total()
    headers, items = (
        like(_HEADER, "["),
        sum([n for shape, n in body.items() if "- " in shape and shape.lstrip(" ")[:2] == "- "]),
    )
    if headers and items <= headers:
        return sectioned(lines), ";" if sign == ";" else "#"
    assigned, keyed = like(_ASSIGNED, "="), like(_KEYED, ":")
    if headers and keyed <= assigned:
        return sectioned(lines), ";" if sign == ";" else "#"
    shut = like(_SHUT, "])}>")
    opened = like(_BLOCKS, "[{(<") if shut * 12 > total and keyed < 0.6 * total else 0
    if opened * 12 > total and opened * 2 > shut:
        return braced(lines), "//" if sign == "//" else "#"
    deep = sum(n for shape, n in body.items() if shape[0] in " \t")
    if (keyed + items >= assigned and keyed + items) or (deep * 4 > total and assigned * 2 < total):
        rest = [x for x in body.items() if not _KEYED.fullmatch(x[0]) and not x[0].lstrip(" ").startswith("- ")]
        pairs = sum(n for shape, n in rest if len(shape.split()) <= 3 or " (" in shape)
        others = sum(n for _, n in rest)
        return indented(lines, others * 3 > total and pairs * 5 >= 4 * others), "#"
    return flat(lines), sign if sign in (";", "!") else "#"


# ---------------------------------------------------------------- what stays with its block


def _mark(text: str, root: Node, xml: bool) -> None:
    """Pins what tells what a block is and what is far from its like; fixes what aliases point at."""
    nodes = walk(root)
    by_key: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.value is not None and node.key:
            by_key[node.key].append(node)
    for key in _TELLING & by_key.keys():
        for node in by_key[key]:
            node.pinned = node.stop - node.start <= FACE
    for kids in [root.kids, *[kid.kids for kid in root.kids]]:
        for node in [kid for kid in kids if kid.key == "metadata" and kid.value is None]:
            node.pinned = True
    _active(root)
    _exemplars(root)
    far = sorted((f for alike in by_key.values() if len(alike) >= 4 for f in _far(alike)), key=lambda f: f[0])
    for node in [] if xml else _aliased(text, nodes):
        _mark_down(root, node, "fixed")
    for _, node in far[:FAR_ONES]:
        _mark_down(root, node, "far")


def _aliased(text: str, nodes: list[Node]) -> list[Node]:
    """The nodes that begin with an anchor, or hold one near their beginning, which an alias points at."""
    used = set(_ALIAS.findall(text))
    anchors = [m.span() for m in _ANCHOR.finditer(text) if m[1] in used] if 0 < len(used) <= ALIASES else []
    found = []
    for node in nodes if anchors else ():
        first = bisect_left(anchors, (node.start, 0))
        if first < len(anchors) and anchors[first][1] <= min(node.stop, node.start + 400):
            found.append(node)
    return found


def _active(root: Node) -> None:
    """Where most settings are commented out, those that are not are what the file says."""
    for parent in [node for node in (root, *root.kids) if len(node.kids) >= ACTIVE]:
        settings = [kid for kid in parent.kids if kid.key]
        active = [kid for kid in settings if not kid.disabled and not kid.kids]
        if len(settings) >= ACTIVE and 2 * len(active) < len(settings):
            for kid in active:
                kid.pinned = kid.pinned or kid.stop - kid.start - _noted(kid) <= FACE


def _noted(node: Node) -> int:
    return node.notes[-1][1] - node.notes[0][0] if node.notes else 0


def _exemplars(root: Node) -> None:
    """Of short documents, the first of each kind is seen whole."""
    first = {_kind_of(node): node for node in root.kids[::-1] if node.sort == "---"}
    for document in list(first.values())[-EXEMPLARS:]:
        if document.stop - document.start <= EXEMPLAR:
            for node in walk(document):
                node.pinned = True


def _kind_of(document: Node) -> str:
    for kid in document.kids:
        if kid.key == "kind" and kid.value:
            return kid.value
    return ""


def _mark_down(root: Node, node: Node, mark: str) -> None:
    """Marks a node and those around it, out to the first that is marked already."""
    path = [root]
    while path[-1] is not node and path[-1].kids:
        kids = path[-1].kids
        path.append(kids[bisect_right(kids, node.start, key=_START) - 1])
    while path and not getattr(path[-1], mark):
        setattr(path.pop(), mark, True)


def _far(nodes: list[Node]) -> Iterable[tuple[float, Node]]:
    """The lowest and highest number of a key where they are far from the others, the value that occurs but once."""
    values = [n.value for n in nodes]
    distinct = set(values)
    known = {v: float(v) for v in distinct if v and NUMBER.fullmatch(v)}
    numbers = sorted([known[v] for v in values if v in known]) if known else []
    if len(numbers) >= 4 and len(numbers) * 2 > len(nodes):
        low, high = numbers[len(numbers) // 4], numbers[-1 - len(numbers) // 4]
        spread = (high - low) or abs(high) / 4 or 1.0
        for value, nth in ((numbers[0], 0), (numbers[-1], -1)):
            distance = max(low - value, value - high) / spread
            if distance > FAR:
                alike = [n for n, v in zip(nodes, values, strict=True) if v in known and known[v] == value]
                yield -distance, alike[nth]
    elif len(nodes) >= 8 and len(distinct) <= 3:
        counts = Counter(values)
        yield from ((0.0, n) for n in nodes if counts[n.value] == 1)


# ---------------------------------------------------------------- groups


class _Builder:
    def __init__(self, text: str, xml: bool) -> None:
        self.text, self.xml = text, xml

    def inside(self, node: Node, path: str, depth: int, nested: int) -> list[Group]:
        """The groups inside ``node``: its long comment, its text, and its kids, of which one that is most of the
        node gives way to what is in it."""
        if depth >= DEPTH or nested >= NESTED:
            return []
        groups = self.lines(node, path)
        run: list[Node] = []
        for kid in node.kids:
            if kid.fixed or self.is_most(kid, node):
                groups += self.siblings(run, path, depth, nested)
                groups += self.inside(kid, _joined(path, kid), depth, nested + 1)
                run = []
            else:
                run.append(kid)
        return groups + self.siblings(run, path, depth, nested)

    def is_most(self, kid: Node, node: Node) -> bool:
        size = kid.stop - kid.start
        return bool(kid.kids) and size * 2 > node.stop - node.start and self.weight(kid) > 2 * SMALL

    def weight(self, node: Node) -> int:
        """The size of a node without its indentation, which costs next to nothing."""
        line = self.text.rfind("\n", max(0, node.start - WIDE), node.start) + 1
        indent = node.start - line if line else 0
        return node.stop - node.start - indent * self.text.count("\n", node.start, node.stop)

    def lines(self, node: Node, path: str) -> list[Group]:
        groups = []
        if node.notes and node.notes[-1][1] - node.notes[0][0] >= RUN:
            groups.append(Group([node.notes[0][0]], [node.notes[-1][1]], "head", "comments", heading=path))
        if node.texts and node.texts[-1][1] - node.texts[0][0] >= RUN:
            starts, stops = zip(*node.texts, strict=True)
            groups.append(Group(starts, stops, "head", "lines", markers="end", heading=path))
        return groups

    def siblings(self, nodes: list[Node], path: str, depth: int, nested: int) -> list[Group]:
        groups, misc = [], list[Node]()
        for run in _runs(nodes):
            if len(run) >= REPEATED and run[0].sort not in ("", "---"):
                groups += self.misc(misc, path, depth, nested)
                groups += self.group(run, path, depth, nested, "records")
                misc = []
            else:
                misc += run
        return groups + self.misc(misc, path, depth, nested)

    def misc(self, nodes: list[Node], path: str, depth: int, nested: int) -> list[Group]:
        alike = bool(nodes) and _alike(nodes)
        if alike and nodes[0].sort == "---":  # documents name themselves, unless they say little more than that
            alike = len(nodes) * SPOKEN > nodes[-1].stop - nodes[0].start
        return self.group(nodes, path, depth, nested, "records" if alike else "outline")

    def group(self, nodes: list[Node], path: str, depth: int, nested: int, mode: str) -> list[Group]:
        if not nodes or nodes[-1].stop - nodes[0].start < RUN:
            return []
        children = {}
        for i, node in enumerate(nodes):
            if self.weight(node) > SMALL:
                inside = self.inside(node, _joined(path, node), depth + 1, nested + 1)
                if inside:
                    children[i] = inside
        records = mode == "records"
        return [
            Group(
                [n.start for n in nodes],
                [n.stop for n in nodes],
                "records" if records else "outline",
                self.noun(nodes, records),
                heading=path,
                children=children,
                pinned=[i for i, n in enumerate(nodes) if n.pinned or n.far or n.sort == "---"],
                reader=Fields(self.text, nodes, records, self.xml),
            )
        ]

    def noun(self, nodes: list[Node], records: bool) -> str:
        sort = nodes[0].sort
        if sort == "---":
            return "documents"
        if sort in (ITEM, "package"):
            return "items" if sort == ITEM else "packages"
        if self.xml:
            return "elements"
        if nodes[-1].tag is not None:
            return "tables" if sort else "sections"
        return "blocks" if records or len([1 for n in nodes if n.kids]) * 2 > len(nodes) else "settings"


def _joined(path: str, node: Node) -> str:
    key = plain(node.key)
    if node.sort == "---":
        names = [n.value for k in node.kids if k.key == "metadata" for n in k.kids if n.key == "name" and n.value]
        key = plain("/".join(filter(None, [_kind_of(node), *names[:1]])))
    elif not key:
        key = plain(next((k.value for k in node.kids[:3] if k.key in ("name", "id", "key") and k.value), ""))
    return f"{path}.{key}" if path and key else path or key


def _runs(nodes: list[Node]) -> list[list[Node]]:
    """Neighbours of one sort; those of none each by itself."""
    runs: list[list[Node]] = []
    for node in nodes:
        if runs and node.sort and runs[-1][-1].sort == node.sort:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def _alike(nodes: list[Node]) -> bool:
    """Whether nearly all are blocks and most of their keys are keys of most of them."""
    blocks = [n for n in nodes if n.kids]
    if len(blocks) < ALIKE or len(blocks) * 5 < len(nodes) * 4:
        return False
    keys = [{k.key for k in n.kids if k.key} for n in blocks]
    counts = Counter(k for own in keys for k in own)
    usual = sum(n for n in counts.values() if n * 2 >= len(blocks))
    return usual * 5 >= sum(counts.values()) * 3 and usual > 0


# ---------------------------------------------------------------- the format


class Config:
    """The format of settings, in whatever syntax they are written."""

    name = "config"
    keep = 0.38
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """Blocks and settings; None where there are too few of them to cut."""
        read = _tree(text)
        if read is None:
            return None
        root, sign = read
        xml = sign == "<"
        _mark(text, root, xml)
        groups = _Builder(text, xml).inside(root, "", 0, 0)
        if not groups or (len(groups) == 1 and len(groups[0]) == 1 and not groups[0].children):
            return None
        newline = "\n" if "\n" in text or "\r" not in text else "\r"
        return _Signed(text, self.name, groups, len(text), newline=newline, sign=sign)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """A comment in the payload's own syntax; below a text that goes on, a line of its own."""
        said = _comment(sentence, document)
        return _newline(document) + said if group.markers == "end" else said

    def reference(self, sentence: str, document: Document) -> str:
        newline = _newline(document)
        said = _comment(sentence, document)
        return said + newline if document.text.endswith(("\n", "\r")) else newline + said


@dataclass(slots=True)
class _Signed(Document):
    """A document whose comments begin with ``sign``; '<' for XML."""

    sign: str = "#"


def _newline(document: Document) -> str:
    return "\r\n" if "\r\n" in document.text[:65_536] else document.newline


def _comment(sentence: str, document: Document) -> str:
    sign = document.sign if isinstance(document, _Signed) else "#"
    return f"<!-- {sentence} -->" if sign == "<" else f"{sign} {sentence}"


CONFIG: Final = Config()
