"""The tree that every syntax of configuration is read into, and what the readers of lines share.

Nothing here recurses, and what is never closed (a quote, a bracket) is looked for once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from caveman_wasm.model import line_starts

__all__ = [
    "ITEM",
    "QUOTED",
    "Lines",
    "Node",
    "Plain",
    "Span",
    "Tree",
    "balance",
    "bare_value",
    "bracketed",
    "read_each",
    "unquoted",
    "walk",
]

ITEM: Final = "-"  # the sort of list items
Span = tuple[int, int]
# Of a plain line the depth and column of its key, the column of its dash or -1, the key (of an item '') and the value;
# None of any other line.
Plain = tuple[int, int, int, str, str | None] | None


_NONE: Final[list[Node]] = []  # the kids of a node without any; never added to


class Node:
    """A setting, a list item or a block: ``text[start:stop]``, the comments above it included.

    ``key`` and ``value`` are source text; ``value`` is None where it is no plain scalar. Nodes of one ``sort`` that
    follow each other repeat (list items, ``[[tables]]``, elements of a name); '' tells nothing. ``notes`` are comment
    lines that may go, ``texts`` lines of a text that may go from its end. A ``fixed`` node stays when its parent does.
    ``depth`` is what a reader opened it at; ``tag``: where its start tag or its section's header is. What few nodes
    have is kept in a dict only those have: a document is made of very many nodes.
    """

    __slots__ = ("__dict__", "depth", "fixed", "key", "kids", "pinned", "sort", "start", "stop", "value")

    notes: Sequence[Span] = ()
    texts: Sequence[Span] = ()
    disabled: bool = False  # commented out
    far: bool = False  # it, or something in it, differs from what is elsewhere of its name
    tag: Span | None = None

    def __init__(
        self, start: int, stop: int, key: str = "", value: str | None = None, sort: str = "", depth: int = 0
    ) -> None:
        self.start, self.stop = start, stop
        self.key, self.value, self.sort = key, value, sort
        self.kids, self.depth = _NONE, depth
        self.fixed = self.pinned = False

    def add(self, kid: Node) -> Node:
        if self.kids:
            self.kids.append(kid)
        else:
            self.kids = [kid]
        return kid


class Lines:
    """The lines of a text without their line ends; ``at[i]`` is where line i starts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\n" if "\n" in text or "\r" not in text else "\r"
        lines = text.split(self.newline)
        self.at = line_starts(lines)
        self.bare = [line.rstrip("\r") for line in lines] if "\r" in text else lines
        if text.startswith("\xef\xbb\xbf"):
            self.bare[0], self.at[0] = self.bare[0][3:], 3

    def span(self, i: int) -> Span:
        """Line ``i`` from its first sign that is no blank to its end."""
        line = self.bare[i]
        return self.at[i] + len(line) - len(line.lstrip(" \t")), self.at[i] + len(line)

    def end(self, i: int) -> int:
        return self.at[i] + len(self.bare[i].rstrip(" \t"))


class Tree:
    """A tree being built: open nodes, and comments that wait for their node."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.root = Node(0, len(lines.text), depth=-1)
        self.open = [self.root]
        self.waiting: list[int] = []
        self.end = 0  # of the last line that says something
        self.going = 0  # the depth of the node whose text goes on over deeper lines, or 0
        self.unclosed: set[str] = set()  # signs that are never closed from here on

    def comment(self, i: int) -> None:
        self.waiting.append(i)

    def close(self, depth: int) -> None:
        """Closes what was opened at ``depth`` or deeper."""
        while self.open[-1].depth >= depth:
            self.open.pop().stop = self.end

    def begin(self, i: int, depth: int, column: int, key: str, value: str | None, sort: str = "") -> Node:
        """Closes what is as deep and opens a node at ``column`` of line ``i``, with the comments that wait for it."""
        opened, end, lines = self.open, self.end, self.lines
        while opened[-1].depth >= depth:
            opened.pop().stop = end
        at = lines.at[i]
        stop = at + len(lines.bare[i].rstrip(" \t"))
        node = Node(at + column, stop, key, value, sort, depth)
        if self.waiting:
            self._head_comments()
            if self.waiting:
                node.start = self.lines.span(self.waiting[0])[0]
                node.notes = self._notes()
                self.waiting = []
        around = opened[-1]
        if around.kids:
            around.kids.append(node)
        else:
            around.kids = [node]
        opened.append(node)
        if stop > end:
            self.end = stop
        return node

    def item(self, i: int, column: int) -> Node:
        """Opens a list's item, one deeper than keys of its column: a dash may stand right below its list's key."""
        self.close(2 * column + 3)
        if self.open[-1].depth == 2 * column + 2 and self.open[-1].value is not None:
            self.close(2 * column + 2)
        return self.begin(i, 2 * column + 3, column, "", None, ITEM)

    def plain_lines(self, i: int, known: dict[str, Plain]) -> int:
        """Reads plain and empty lines below a plain one, as `begin` does, and gives the first that is neither: by far
        the most lines are read here. The node ``above`` is the last of ``kids``, and not among the open ones."""
        bare, starts, opened = self.lines.bare, self.lines.at, self.open
        above, end = opened.pop(), self.end
        kids, level = opened[-1].kids, above.depth
        for k in range(i, len(bare)):
            line = bare[k]
            plain = known[line]
            if plain is None:
                if line:
                    break
                continue
            i = k + 1
            depth, column, dash, key, value = plain
            if dash >= 0:
                opened.append(above)
                self.end = end
                above = self.item(k, dash)
                kids, level = opened[-2].kids, opened.pop().depth
                if not key:
                    above.value, end = value, self.end
                    continue
            if depth > level:
                opened.append(above)
                kids = above.kids = []
            elif depth < level:
                while opened[-1].depth >= depth:
                    opened.pop().stop = end
                kids = opened[-1].kids
            start, level = starts[k], depth
            end = start + len(line)
            above = Node(start + column, end, key, value, "", depth)
            kids.append(above)
            if dash >= 0:
                above.fixed = True
        opened.append(above)
        self.end = end
        return i

    def _head_comments(self) -> None:
        """The comment at the file's head stands alone where an empty line follows it."""
        if self.root.kids or len(self.open) > 1:
            return
        ends = [k for k, i in enumerate(self.waiting) if self.lines.bare[i + 1 : i + 2] in ([""], [" "])]
        if ends:
            rest = self.waiting[ends[-1] + 1 :]
            self.waiting = self.waiting[: ends[-1] + 1]
            self.alone()
            self.waiting = rest

    def go_on(self, i: int) -> None:
        """Line ``i``, and the comments before it, belong to what is open."""
        self.waiting = []
        self.end = self.lines.end(i)

    def alone(self) -> None:
        """The comments that wait are a node of their own."""
        start, stop = self.lines.span(self.waiting[0])[0], self.lines.end(self.waiting[-1])
        self.open[-1].add(Node(start, stop)).notes = self._notes()
        self.waiting = []

    def _notes(self) -> list[Span]:
        """All waiting lines but the first that says something."""
        first = next((k for k, i in enumerate(self.waiting) if _SAYS.search(self.lines.bare[i])), 0)
        return [self.lines.span(i) for i in self.waiting[first + 1 :]]

    def finish(self) -> Node:
        self.close(0)
        if self.waiting:
            self.alone()
        return self.root

    def until(self, i: int, sign: str, closed: Callable[[str], bool]) -> int:
        """The line after the first one from ``i`` on that is ``closed``; ``i`` where there is none."""
        if sign in self.unclosed:
            return i
        for k in range(i, len(self.lines.bare)):
            if closed(self.lines.bare[k]):
                self.end = self.lines.end(k)
                return k + 1
        self.unclosed.add(sign)
        return i


_SAYS: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_TOKEN: Final = re.compile(
    r"\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|(?:^|(?<=[\s,\[{(]))(?:\#|//).*|(?P<open>[\[{(])|(?P<shut>[\]})])", re.ASCII
)
_BRACKET: Final = re.compile(r"[\[{(\]})]")
QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^']|'')*+'")


def balance(line: str) -> int:
    """Brackets that a line opens less those that it closes, outside of strings and comments."""
    if not _BRACKET.search(line):
        return 0
    kinds = [m.lastgroup for m in _TOKEN.finditer(line)]
    return kinds.count("open") - kinds.count("shut")


def read_each(pattern: re.Pattern[str], lines: list[str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Lines, each of those that are alike once, and what ``pattern``, which must find every line, has in its groups."""
    distinct = dict.fromkeys(lines)
    return zip(distinct, pattern.findall("\n".join(distinct)), strict=True)


def bare_value(said: str) -> str | None:
    """The value of a plain line, whose quotes hold neither quotes nor backslashes; None where there is none."""
    return said[1:-1] if said[:1] in ('"', "'") else said or None


def unquoted(value: str) -> str | None:
    """A scalar without its quotes, trailing comment and comma; None where it is more than that."""
    value = value.strip(" \t")
    if value[:1] in ("'", '"'):
        whole = value.removesuffix(",")
        if whole[-1] == whole[0] and whole.count(whole[0]) == 2 and "\\" not in whole and "''" not in whole[1:-1]:
            return whole[1:-1]
        found = QUOTED.match(value)
        rest = value[found.end() :].lstrip(" \t,;") if found else "?"
        inner = found[0][1:-1] if found else ""
        return None if (rest and rest[0] != "#") or "\\" in inner or "''" in inner else inner
    at = value.find(" #")
    value = (value[:at] if at >= 0 else value).rstrip(" \t,;")
    return None if not value or value[0] in "&*!|>[{#%@`" or "\t" in value else value


def bracketed(tree: Tree, i: int, depth: int, node: Node) -> int:
    """A value in brackets over several lines; its elements are nodes where each has lines of its own."""
    node.value = None
    first, levels = i + 1, [depth]

    def closed(line: str) -> bool:
        levels.append(levels[-1] + balance(line))
        return levels[-1] <= 0

    last = tree.until(first, "[", closed)
    if last == first:
        return first
    elements: list[Node] = []
    waiting: list[int] = []
    for k in range(first, last - 1):
        line = tree.lines.bare[k]
        said = line.strip(" \t")
        start, stop = tree.lines.span(k)
        if not said or (said[0] == "#" and levels[k - i - 1] == 1):
            waiting += [k] * bool(said)
        elif levels[k - i - 1] > 1 and elements:
            elements[-1].stop, elements[-1].value = stop, None
        else:
            begin = tree.lines.span(waiting[0])[0] if waiting else start
            waiting = []
            elements.append(Node(begin, stop, "", unquoted(said), ITEM))
    text = tree.lines.text
    if depth == 1 and all(_COMMA.search(text, e.start, e.stop) for e in elements[:-1]):
        for element in elements:
            node.add(element)
    return last


_COMMA: Final = re.compile(r",[ \t]*(?:#[^\r\n]*)?\Z")


def walk(root: Node) -> list[Node]:
    """``root`` and every node below it, parents first."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node.kids:
            waiting += node.kids[::-1]
    return found
