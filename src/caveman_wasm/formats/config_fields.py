"""Fields of configuration: key paths of like-shaped blocks with their values; of different settings, their keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Final

from caveman_wasm.facts import is_secret
from caveman_wasm.formats.config_tree import ITEM, Node
from caveman_wasm.formats.config_xml import attributes
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Value, plain

__all__ = ["Fields"]

FIELDS: Final = 48  # columns read of one group
SAMPLED: Final = 512  # units whose fields tell which are read
PATH: Final = 6  # keys in a column's name
_CREDENTIALS: Final = re.compile(r"://[^/\s:@]{0,200}:[^/\s@]{1,200}@")
_TELLS: Final = re.compile(r"[ =:]")


class Fields:
    """Key paths of like-shaped blocks with their values; of different settings, their keys alone."""

    typed = False

    def __init__(self, text: str, nodes: Sequence[Node], records: bool, xml: bool) -> None:
        self.text, self.nodes, self.records, self.xml = text, nodes, records, xml
        self._names: list[str] | None = None
        self._rows: dict[int, dict[str, Value]] = {}  # of the first units, which are asked for again and again
        self._naming = _Naming()
        self._paths = _Prefixes()

    @property
    def names(self) -> list[str]:
        """The fields that a fair part of the first units has: the others are not read."""
        if self._names is None:
            rows = self.rows(0, min(SAMPLED, len(self.nodes)))
            counts = Counter(chain.from_iterable(rows))
            self._names = [name for name, n in counts.items() if n * 3 >= len(rows)][:FIELDS]
        return self._names

    def columns(self, first: int, last: int) -> Columns:
        rows, names = self.rows(first, last), self.names
        if any("<<" in row for row in rows):
            return {name: [row.get(name, OPAQUE if "<<" in row else ABSENT) for row in rows] for name in names}
        return {name: [row.get(name) for row in rows] for name in names}

    def rows(self, first: int, last: int) -> list[dict[str, Value]]:
        known = self._rows
        for i in range(first, min(last, SAMPLED)):
            if i not in known:
                known[i] = self.row(self.nodes[i])
        kept = [known[i] for i in range(first, min(last, SAMPLED))]
        return kept + [self.row(node) for node in self.nodes[max(first, SAMPLED) : last]]

    def row(self, node: Node) -> dict[str, Value]:
        out: dict[str, Value] = {}
        if node.key and not self.xml:
            out["key"] = plain(node.key)
        if not self.records:
            return {k: self.sayable(v) for k, v in out.items()}
        if node.sort == ITEM and not node.kids:
            out["item"] = OPAQUE if node.value is None or _tells_secret(node.value) else plain(node.value)
        elif self.xml:
            self.element(node, "", out, 0)
        else:
            self.fields(node, "", out, 0)
        out = self.without_secrets(out)
        xml = self.xml
        for name in [k for k, v in out.items() if isinstance(v, str) and (xml or "://" in v)]:
            out[name] = self.sayable(out[name])
        return _packaged(out)

    def sayable(self, value: Value) -> Value:
        """In XML no comment may hold two hyphens; credentials in an address are not quoted anywhere."""
        if not isinstance(value, str):
            return value
        return OPAQUE if (self.xml and "--" in value) or _CREDENTIALS.search(value) else value

    def element(self, node: Node, prefix: str, out: dict[str, Value], depth: int) -> None:
        for name, value in attributes(self.text, node):
            _put(out, prefix + plain(name), value if "&" not in value else None)
        if not node.kids:
            _put(out, prefix + "text" if not prefix else prefix[:-1], node.value)
            return
        for kid in node.kids if depth < PATH else ():
            if kid.key and "--" not in kid.key:
                self.element(kid, f"{prefix}{plain(kid.key)}.", out, depth + 1)

    def fields(self, node: Node, prefix: str, out: dict[str, Value], depth: int) -> None:
        paths = self._paths[prefix]
        for kid in node.kids:
            if kid.sort == ITEM:
                _put(out, prefix[:-1] or "items", None)
                return
            if key := kid.key:
                path, value = paths[key], kid.value
                if value is None or path in out:
                    out[path] = OPAQUE
                else:
                    out[path] = value if value.isascii() else plain(value)
                if kid.kids and depth < PATH:
                    self.fields(kid, path + ".", out, depth + 1)

    def without_secrets(self, row: dict[str, Value]) -> dict[str, Value]:
        """Where a name is that of a secret, as in ``name: DB_PASSWORD``, the values beside it are not told."""
        naming = self._naming
        names = [k for k, v in row.items() if naming[k] and isinstance(v, str)]
        if not any(is_secret(str(row[k])) for k in names):
            return row
        return {k: v if k in names else OPAQUE for k, v in row.items()}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        """What says a kind, and what is far from its like; then the keys."""
        nodes = self.nodes[first:last]
        coarse = [_kind(n) + (f" {first + i}" if n.far else "") for i, n in enumerate(nodes)]
        fine = [" ".join(sorted({k.key for k in n.kids})) for n in nodes]
        return [coarse, [f"{a} {b}" for a, b in zip(coarse, fine, strict=True)]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


def _kind(node: Node) -> str:
    return next((k.value for k in node.kids if k.key in ("kind", "type", "Type") and k.value), "")


def _put(out: dict[str, Value], name: str, value: str | None) -> None:
    out[name] = plain(value) if value is not None and name not in out else OPAQUE


def _tells_secret(value: str) -> bool:
    """Whether a scalar such as ``NAME=value`` or ``--name value`` gives a secret away."""
    return _TELLS.search(value) is not None and is_secret(value)


_NAMING: Final = frozenset(
    [
        *("name", "key", "id", "property", "setting", "option", "variable", "var", "env", "attribute"),
        *("field", "param", "parameter", "arg", "label"),
    ]
)


class _Naming(dict[str, bool]):
    """Whether a column says how something is called."""

    def __missing__(self, name: str) -> bool:
        found = self[name] = name.rpartition(".")[2].lower() in _NAMING
        return found


class _Paths(dict[str, str]):
    """The column of a key inside of a column's blocks."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def __missing__(self, key: str) -> str:
        found = self[key] = self.prefix + plain(key)
        return found


class _Prefixes(dict[str, _Paths]):
    """The columns below each column."""

    def __missing__(self, prefix: str) -> _Paths:
        found = self[prefix] = _Paths(prefix)
        return found


_RANGE: Final = re.compile(r"(.[^,]*?)@")


def _packaged(row: dict[str, Value]) -> dict[str, Value]:
    """Name and version of a package in one column, so that both are told."""
    name, version = row.get("name", row.get("artifactId", row.get("key"))), row.get("version")
    if not isinstance(name, str) or not isinstance(version, str) or len(version) > 40:
        return row
    if "name" not in row and (ranged := _RANGE.match(name)):
        name = ranged[1]
    rest = {k: v for k, v in row.items() if k not in ("name", "groupId", "artifactId", "key", "version")}
    return {"package": f"{name}@{version}", **rest}
