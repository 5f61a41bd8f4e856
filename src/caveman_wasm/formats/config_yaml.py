"""YAML, and lock files written like it: nesting comes from indentation."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.formats.config_tree import (
    QUOTED,
    Lines,
    Node,
    Plain,
    Tree,
    balance,
    bare_value,
    bracketed,
    read_each,
    unquoted,
)

__all__ = ["indented"]

# By far the most lines: a plain key, maybe an item's first, and a plain or quoted value or none; or an item that is
# such a value. It finds every line, and a key or an item in those alone.
_QUOTED: Final = r"\"[^\"'\\\n]*+\"|'[^\"'\\\n]*+'"
_PLAIN: Final = re.compile(
    r"^(?:( *+)(- ++)?(?:([A-Za-z0-9_./$@\x80-\xff][A-Za-z0-9_./$@\x80-\xff-]*+):"
    rf"(?: ++([^\s\"'&*!|>\[{{#%@`,;](?:[^\t#\n]*[^\s,;#])?|{_QUOTED}))?"
    rf"|(?<=- )([A-Za-z0-9_./$\x80-\xff](?:[^\t#:\n]*[^\s,;#:])?|{_QUOTED}))$|.*)",
    re.ASCII | re.MULTILINE,
)
DASHES: Final = 16  # list items that one line may open
_BLOCK: Final = re.compile(r"(?:[&!][^ \t]* +){0,2}[|>][-+0-9]{0,2}[ \t]*(?:#.*)?", re.ASCII)
_SPACED: Final = re.compile(r"([\"\w@/.!?-][^ ]*)(?: +(.*))?", re.ASCII)
_LOCKED: Final = re.compile(r"\(([\w.+-]+)\)", re.ASCII)  # as in `rails (7.1.2)`
_KEY: Final = re.compile(r"(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*+')[ ]*:(?=[ \t]|$)")


def _yaml_key(said: str) -> tuple[str, str] | None:
    """Key and what follows it, as source text."""
    if said[0] in "\"'":
        found = _KEY.match(said)
        if found:
            return found[0][:-1].rstrip(" ")[1:-1], said[found.end() :].strip(" \t")
        if said[-1] == ":" and ", " in said:  # "a@1", "b@2":
            return said[:-1].replace('"', ""), ""
        return None
    if said[0] in "[{#":
        return None
    at = said.find(": ")
    if at < 0:
        at = said.find(":\t")
    if at < 0:
        if not said.rstrip(" \t").endswith(":"):
            return None
        at = len(said.rstrip(" \t")) - 1
    return said[:at].rstrip(" "), said[at + 1 :].strip(" \t")


def _plain(lines: list[str]) -> dict[str, Plain]:
    """What each line says if it is plain."""
    known: dict[str, Plain] = {}
    for line, (blanks, dash, key, value, item) in read_each(_PLAIN, lines):
        column = len(blanks) + len(dash)
        said = (2 * column + 2, column, len(blanks) if dash else -1, key, bare_value(value or item))
        known[line] = said if key or item else None
    return known


def indented(lines: Lines, spaced: bool) -> Node:
    """YAML. ``spaced``: lines are ``key value`` too, as in lock files, rather than the rest of the value above."""
    tree, i, bare, known = Tree(lines), 0, lines.bare, _plain(lines.bare)
    several = bare[0].startswith("---") or lines.newline + "---" in lines.text
    while i < len(bare):
        line = bare[i]
        if not tree.going and (plain := known[line]):
            depth, column, dash, key, value = plain
            if dash >= 0:
                tree.item(i, dash).value = None if key else value
            if key:
                tree.begin(i, depth, column, key, value).fixed = dash >= 0
            i = tree.plain_lines(i + 1, known)
            continue
        said = line.lstrip(" \t")
        if not said:
            i += 1
        elif said[0] == "#":
            tree.comment(i)
            i += 1
        elif several and (line[:4] in ("---", "--- ") or (line == "..." and len(tree.open) > 1)):
            i = _document(tree, i)
        else:
            i = _yaml_line(tree, i, len(line) - len(said), said, spaced)
    return tree.finish()


def _document(tree: Tree, i: int) -> int:
    if tree.lines.bare[i] == "...":
        tree.close(0)
        tree.go_on(i)
    else:
        tree.waiting = []
        tree.begin(i, 0, 0, "", None, "---")
    return i + 1


def _yaml_line(tree: Tree, i: int, column: int, said: str, spaced: bool) -> int:
    """Reads an entry that begins on line ``i``; gives the line after it.

    Keys are opened at twice their column + 2, items one deeper: a dash may stand right below the key it belongs to.
    """
    node: Node | None = None
    locked: re.Match[str] | None = None
    opened = 0
    if tree.going and tree.going < 2 * column + 2:
        tree.go_on(i)
        return i + 1
    tree.going = 0
    if said.startswith("? "):
        tree.begin(i, 2 * column + 2, column, said[2:], None)
        return i + 1
    if said.startswith(": "):  # the value of such a key
        tree.close(2 * column + 3)
        column, said, opened = column + 2, said[2:].strip(" \t") or "#", 1
    while (said.startswith("- ") or said == "-") and opened < DASHES:
        node = tree.item(i, column)
        node.fixed = opened > 0
        opened += 1
        rest = said[1:].lstrip(" \t")
        column += len(said) - len(rest)
        said = rest
    pair = _yaml_key(said) if said else None
    if pair is None and spaced and not opened and (found := _SPACED.fullmatch(said)):
        pair = found[1].strip('"'), found[2] or ""
        locked = _LOCKED.fullmatch(pair[1])
    if pair is not None:
        node = tree.begin(i, 2 * column + 2, column, *pair)
        node.fixed = opened > 0
        if locked:
            node.key, node.sort = f"{pair[0]}@{locked[1]}", "package"
        said = pair[1]
    elif node is None:  # the value above goes on
        if len(tree.open) == 1 or tree.open[-1].sort == "---":
            tree.begin(i, 2 * column + 2, column, "", None)
        else:
            tree.open[-1].value = None
            tree.going = 0 if spaced else tree.open[-1].depth
            tree.go_on(i)
        return i + 1
    node.value = None if spaced and said == "" else unquoted(said)
    return _yaml_value(tree, i, tree.open[-1].depth // 2 - 1, said, node)


def _yaml_value(tree: Tree, i: int, column: int, said: str, node: Node) -> int:
    bare = tree.lines.bare
    if said[:1] in ("|", ">", "&", "!") and _BLOCK.fullmatch(said):
        node.value = None
        k = last = i + 1
        while k < len(bare):
            line = bare[k]
            if line.strip(" \t"):
                if len(line) - len(line.lstrip(" ")) <= column:
                    break
                last = k + 1
            k += 1
        body = [n for n in range(i + 1, last) if bare[n].strip(" \t")]
        node.texts = [tree.lines.span(n) for n in body[1:]]
        tree.end = tree.lines.end(last - 1)
        return last
    if said[:1] in ("'", '"') and not QUOTED.match(said):
        node.value = None
        sign = said[0]
        return tree.until(i + 1, sign, lambda line: line.replace("\\" + sign, "").count(sign) % 2 == 1)
    if said[:1] in ("[", "{") and (depth_now := balance(said)) > 0:
        return bracketed(tree, i, depth_now, node)
    return i + 1
