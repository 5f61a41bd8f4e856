"""XML read into the tree of config_tree.py by a tokeniser of its own: offsets, one pass, no entities, no recursion.

It takes what is well-formed enough to be cut: every tag closed by its own name. Anything else is no XML.
"""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.formats.config_tree import Node, Span

__all__ = ["attributes", "elements"]

LONG: Final = 200  # bytes; a longer comment stands alone, shorter ones belong to the element below them
_NAME: Final = r"[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]*+"
_START: Final = re.compile(  # a start tag, and the text and end tag of an element that holds nothing else
    rf"(<({_NAME})[^<>\"']*+(?:\"[^\"<]*+\"[^<>\"']*+|'[^'<]*+'[^<>\"']*+)*+>)(?:(?<!/>)([^<]*+)</\2[ \t\r\n]*+>)?",
    re.ASCII,
)
_END: Final = re.compile(rf"</({_NAME})[ \t\r\n]*+>", re.ASCII)
_ATTRIBUTE: Final = re.compile(rf"[ \t\r\n]({_NAME})[ \t\r\n]*+=[ \t\r\n]*+(?:\"([^\"]*+)\"|'([^']*+)')", re.ASCII)
_SAYS: Final = re.compile(r"[0-9A-Za-z\x80-\xff]")
_SUBSET_END: Final = re.compile(r"\][ \t\r\n]*+>")
_OTHERS: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))


def attributes(text: str, node: Node) -> list[tuple[str, str]]:
    """Names and values of an element's attributes, as they are spelt."""
    if node.tag is None:
        return []
    return [(m[1], m[2] if m[2] is not None else m[3]) for m in _ATTRIBUTE.finditer(text, *node.tag)]


def elements(text: str) -> Node | None:
    """The elements of an XML text below one root node, or None."""
    root = Node(0, len(text))
    open_nodes, at = [root], 0
    waiting: list[Span] = []  # comments that follow each other and wait for their element
    while (at := text.find("<", at)) >= 0:
        if text.startswith("</", at):
            found = _END.match(text, at)
            if found is None or len(open_nodes) == 1 or open_nodes[-1].key != found[1]:
                return None
            _alone(text, open_nodes[-1], waiting)
            _close(text, open_nodes.pop(), found.start(), found.end())
            at, waiting = found.end(), []
        elif text[at + 1 : at + 2] in ("!", "?"):
            stop = _other(text, at)
            if stop < 0:
                return None
            if text.startswith("<!--", at) and len(open_nodes) > 1:
                if waiting and not _belongs(text, waiting, at):
                    _alone(text, open_nodes[-1], waiting)
                    waiting = []
                waiting.append((at, stop))
            at = stop
        else:
            found = _START.match(text, at)
            if found is None:
                return None
            _open(text, open_nodes, found, waiting)
            at, waiting = found.end(), []
    return root if len(open_nodes) == 1 and len(root.kids) == 1 else None


def _other(text: str, at: int) -> int:
    """Where a comment, a CDATA section, an instruction or a document type ends; -1 where it does not."""
    for begin, end in _OTHERS:
        if text.startswith(begin, at):
            stop = text.find(end, at + len(begin))
            return stop + len(end) if stop >= 0 else -1
    stop = text.find(">", at)
    subset = text.find("[", at, stop)
    if subset >= 0:
        closed = _SUBSET_END.search(text, subset)
        return closed.end() if closed else -1
    return stop + 1 if stop >= 0 else -1


def _belongs(text: str, comments: list[Span], start: int) -> bool:
    """Whether comments are of what begins at ``start``: short ones, or several with no empty line below."""
    if start - comments[0][0] <= LONG:
        return True
    between = text[comments[-1][1] : start]
    close = not between.strip(" \t\r\n") and max(between.count("\n"), between.count("\r")) < 2
    return close and comments[0][1] - comments[0][0] <= LONG


def _alone(text: str, parent: Node, comments: list[Span]) -> None:
    if comments:
        parent.add(Node(comments[0][0], comments[-1][1])).notes = _notes(text, comments)


def _notes(text: str, comments: list[Span]) -> list[Span]:
    """All but the first that says something."""
    first = next((k for k, span in enumerate(comments) if _SAYS.search(text, *span)), 0)
    return comments[first + 1 :]


def _open(text: str, open_nodes: list[Node], found: re.Match[str], comments: list[Span]) -> None:
    start = found.start()
    if comments and _belongs(text, comments, start):
        start = comments[0][0]
    else:
        _alone(text, open_nodes[-1], comments)
    key, said = found[2], found[3]
    node = open_nodes[-1].add(Node(start, found.end(), key, None, key))
    node.tag = found.span(1)
    if start < found.start():
        node.notes = _notes(text, comments)
    if said is not None:
        node.value = _value(said)
    elif found[1][-2] != "/":
        open_nodes.append(node)


def _value(said: str) -> str | None:
    said = said.strip(" \t\r\n")
    return said if said and "<" not in said and "&" not in said else None


def _close(text: str, node: Node, end: int, stop: int) -> None:
    node.stop = stop
    assert node.tag is not None
    if not node.kids:
        node.value = _value(text[node.tag[1] : end])
    elif node.key == "dict":
        node.kids = _pairs(node.kids)


def _pairs(kids: list[Node]) -> list[Node]:
    """Property lists name a value by the ``<key>`` before it."""
    found: list[Node] = []
    for kid in kids:
        if found and found[-1].key == "key" and found[-1].tag is not None and found[-1].value is not None:
            kid.start, kid.key, kid.sort = found[-1].start, found[-1].value, ""
            found[-1] = kid
        else:
            found.append(kid)
    return found
