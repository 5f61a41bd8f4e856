"""The other line-based syntaxes: section headers (INI, TOML), brackets (HCL, nginx, Apache), and flat lists."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.formats.config_tree import (
    ITEM,
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

__all__ = ["braced", "flat", "sectioned"]

# ---------------------------------------------------------------- by section headers

_SECTION: Final = re.compile(r"\s*(\[\[?)[ \t]*([^\[\]]{1,200}|.{1,200}?)[ \t]*\]\]?[ \t]*(?:[#;].*)?", re.ASCII)
_DISABLED: Final = re.compile(r"\s*[#;]+ ?([A-Za-z_][\w.-]*)[ \t]?=(?!=)(.*)", re.ASCII)
# By far the most lines: a plain key at the line's beginning, and a plain or quoted value or none. It finds every line,
# and a key in those alone.
_PLAIN: Final = re.compile(
    r"^(?:([\w.-]++) ?=(?: ?(\"[^\"'\\\n]*+\"|[^\s\"'&*!|>\[{#%@`,;\\](?:[^\t#;\n]*[^\s,;#\\])?))?$|.*)",
    re.ASCII | re.MULTILINE,
)
_TOML_VALUE: Final = re.compile(r"[\"'\[{]|[+-]?[0-9]|true\b|false\b")


def _is_toml(lines: Lines) -> bool:
    values = [line.partition("=")[2].strip() for line in lines.bare[:2000] if "=" in line and line[:1] not in "#; \t"]
    return sum(map(bool, map(_TOML_VALUE.match, values))) >= 0.9 * len(values)


def _disabled(line: str) -> re.Match[str] | None:
    """A setting that is commented out."""
    return _DISABLED.fullmatch(line) if "#" in line or ";" in line else None


def _plain(lines: list[str]) -> dict[str, Plain]:
    """What each line says if it is plain."""
    return {line: (1, 0, -1, key, bare_value(said)) if key else None for line, (key, said) in read_each(_PLAIN, lines)}


def sectioned(lines: Lines) -> Node:
    """INI and TOML: sections, keys in them, and what their values are made of."""
    tree, i, toml = Tree(lines), 0, _is_toml(lines)
    key_indent, known = -1, _plain(lines.bare)
    while i < len(lines.bare):
        line = lines.bare[i]
        if plain := known[line]:
            tree.begin(i, 1, 0, *plain[3:])
            key_indent = 0
            i = tree.plain_lines(i + 1, known)
            continue
        said, disabled = line.strip(" \t"), _disabled(line)
        indent = len(line) - len(line.lstrip(" \t"))
        header = _SECTION.fullmatch(line) if said[:1] == "[" else None
        if not said:
            pass
        elif said[0] in "#;" and not disabled:
            tree.comment(i)
        elif header and (toml or indent == 0 or key_indent < 0 or indent <= key_indent):
            node = tree.begin(i, 0, indent, header[2], None, header[2] if header[1] == "[[" else "")
            node.tag = lines.span(i)
            key_indent = -1
        elif not toml and said[0] not in "#;" and 0 <= key_indent < indent:
            _continue(tree, i, indent, said)
        elif disabled:
            tree.begin(i, 1, indent, disabled[1], None).disabled = True
            key_indent = indent
        else:
            i = _assignment(tree, i, indent, line, toml) - 1
            key_indent = indent
        i += 1
    return tree.finish()


def _continue(tree: Tree, i: int, indent: int, said: str) -> None:
    """An indented line below a key of an INI file: an element of its value."""
    tree.close(2)
    key = tree.open[-1]
    if key.value:
        key.value = None
    tree.begin(i, 2, indent, "", unquoted(said), ITEM)


def _assignment(tree: Tree, i: int, indent: int, line: str, toml: bool) -> int:
    key, value = _pair(line.strip(" \t"), "=" if toml else "=:")
    node = tree.begin(i, 1, indent, key, unquoted(value))
    sign = value[:3]
    if toml and sign in ('"""', "'''"):
        node.value = None
        return i + 1 if value.count(sign) > 1 else tree.until(i + 1, sign, lambda text: sign in text)
    if value[:1] in ("[", "{") and (toml or value.rstrip(" \t")[-1:] in "[{,") and (depth := balance(value)) > 0:
        return bracketed(tree, i, depth, node)
    return _joined(tree, i, node)


def _joined(tree: Tree, i: int, node: Node) -> int:
    """The line after a logical line: a backslash at its end goes on."""
    bare, k = tree.lines.bare, i
    if not bare[i].endswith("\\"):
        return i + 1
    while bare[k].endswith("\\") and k + 1 < len(bare) and bare[k + 1].strip(" \t"):
        k += 1
    if k > i:
        node.value = None
        tree.end = node.stop = tree.lines.end(k)
    return k + 1


def _pair(said: str, signs: str) -> tuple[str, str]:
    at = said.find(signs[0])
    if signs[1:] and (other := said.find(signs[1], 0, at if at >= 0 else len(said))) >= 0:
        at = other
    return (said, "") if at < 0 else (said[:at].rstrip(" \t").strip("\"'"), said[at + 1 :].strip(" \t"))


# ---------------------------------------------------------------- by brackets

_HEREDOC: Final = re.compile(r"<<[-~]?\"?([A-Za-z_]\w*)\"?[ \t]*\Z", re.ASCII)
_TAG: Final = re.compile(r"<(/?)[A-Za-z]\w*(?: [^<>]*)?>", re.ASCII)
_HEAD: Final = re.compile(r"(?<![\[{(])[\[{(]++\s*+(?:\#.*|//.*)?\Z", re.ASCII)


def braced(lines: Lines) -> Node:
    """HCL, nginx, Apache and the like: a line that leaves a bracket open begins a block."""
    tree, i, depth = Tree(lines), 0, 0
    body = [line.rstrip(" \t") for line in lines.bare if line.strip(" \t") and line.lstrip(" \t")[0] not in "#/"]
    ended = sum(line[-1] == ";" for line in body) * 3 > len(body)
    going = commented = False
    while i < len(lines.bare):
        said = lines.bare[i].strip(" \t")
        if commented or said.startswith("/*"):
            tree.comment(i)
            commented = "*/" not in said
        elif said[:1] == "#" or said.startswith("//"):
            tree.comment(i)
        elif said:
            i, depth = _braced_line(tree, i, depth, said, going)
            going = ended and depth >= 0 and said.split(" #")[0].rstrip()[-1:] not in tuple("{};[](),>")
        i += 1
    return tree.finish()


def _braced_line(tree: Tree, i: int, depth: int, said: str, going: bool) -> tuple[int, int]:
    """Reads line ``i``; gives the last line of what it says, and the depth after it."""
    tag = _TAG.fullmatch(said) if said[0] == "<" else None
    net = balance(said) if not tag else -1 if tag[1] else 1
    column = len(tree.lines.bare[i]) - len(tree.lines.bare[i].lstrip(" \t"))
    if net < 0:
        depth = max(0, depth + net)
        while tree.open[-1].depth > depth:
            tree.close(tree.open[-1].depth)
        if tree.waiting:
            tree.alone()
        tree.go_on(i)
        tree.close(depth)
        return i, depth
    if going and net == 0 and len(tree.open) > 1:
        tree.go_on(i)
        tree.open[-1].value = None
        return i, depth
    listed = said[0] in "\"'" and "=" not in said
    key, value = (said, None) if net > 0 else _directive(said)
    node = tree.begin(i, depth, column, key, value)
    if net > 0:
        node.key = _unassigned(_HEAD.sub("", said))
        words = node.key.split()
        node.sort = words[0] if len(words) > 1 else ""
        if '"' in node.key:  # resource "bucket" "logs" is known as resource.bucket.logs
            node.key = ".".join(word.strip('"') for word in words)
        return i, depth + net
    if listed:
        node.sort, node.key, node.value = ITEM, "", unquoted(said)
    node.fixed = said[0] in "}])"
    heredoc = _HEREDOC.search(said) if "<<" in said else None
    if heredoc:
        node.value = None
        i = tree.until(i + 1, heredoc[1], lambda line: line.strip(" \t") == heredoc[1]) - 1
    return i, depth


def _unassigned(key: str) -> str:
    key = key.rstrip()
    return key[:-1].strip() if key[-1:] in ("=", ":") else key.strip()


def _directive(said: str) -> tuple[str, str | None]:
    """``key = value``, ``key: value`` or ``key value;``."""
    key, value = _pair(said, "=")
    if not value or " " in key:
        key, _, value = said.partition(" ")
    return key.rstrip(":;,"), unquoted(value)


# ---------------------------------------------------------------- flat

_SUM: Final = re.compile(r"(\S+) v(\S+) h1:\S+", re.ASCII)
_PINNED: Final = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?[ ]*([=~><!]=)=?[ ]*([^\s;\\,]+).*", re.ASCII)


def flat(lines: Lines) -> Node:
    """One setting a line: .env, .properties, requirement lists and checksums, and settings that are commented out."""
    tree, i = Tree(lines), 0
    requirements = _is_requirements(lines)
    while i < len(lines.bare):
        line = lines.bare[i]
        said = line.strip(" \t")
        disabled = _disabled(line)
        if said and not disabled and said[0] in "#;!":
            tree.comment(i)
        elif said:
            column = len(line) - len(line.lstrip(" \t"))
            if requirements:
                node = _requirement(tree, i, column, said)
            elif disabled:
                node = tree.begin(i, 0, column, disabled[1], None)
                node.disabled = True
            else:
                key, value = _pair(said.removeprefix("export "), "=:")
                if not value and " " in key:
                    key, _, value = said.partition(" ")
                node = tree.begin(i, 0, column, key, unquoted(value))
            i = _joined(tree, i, node) - 1
        i += 1
    return tree.finish()


def _is_requirements(lines: Lines) -> bool:
    said = [line.strip(" \t") for line in lines.bare[:2000]]
    said = [line for line in said if line and line[0] not in "#-"]
    others, most = 0, len(said) // 10
    for line in said:
        others += not (_SUM.fullmatch(line) or _PINNED.fullmatch(line))
        if others > most:
            return False
    return bool(said)


def _requirement(tree: Tree, i: int, column: int, said: str) -> Node:
    found = _SUM.fullmatch(said)
    if found:
        name, version = found[1], found[2]
    else:
        pinned = _PINNED.fullmatch(said)
        name, version = (pinned[1], pinned[3]) if pinned and pinned[2] == "==" else (said.split()[0], "")
    return tree.begin(i, 0, column, f"{name}@{version}" if version else name, None, "package")
