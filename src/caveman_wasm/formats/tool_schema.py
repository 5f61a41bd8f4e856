"""Lists of tools (MCP, OpenAI, Anthropic): every tool and parameter with its type, enum, required and default stays.

What may go: sentences of a description, its first and those that state a constraint last of all; long examples and
other annotations; shared definitions and results that an earlier tool has word for word; all by their object's one
marker. A description is a text of its own: its marker stands at its end. `toolschema-annotations` (forced only) takes
the annotation keys off and leaves everything else as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from caveman_wasm.formats.json_records import JSON, depth_ok
from caveman_wasm.model import ABSENT, Columns, Document, Group, Rewritten, plain

__all__ = ["TOOL_SCHEMA", "TOOL_SCHEMA_ANNOTATIONS", "Span", "json_spans"]

MARKER_COST: Final = 80  # bytes a marker is reckoned at while planning (select.py)

_ANNOTATIONS: Final = frozenset(("title", "examples", "example", "$comment", "$schema"))
_SHARED: Final = frozenset(("$defs", "definitions", "outputSchema", "execution", "_meta"))  # no parameters: shown once
_TELLING: Final = _ANNOTATIONS | _SHARED | {"description"}
_MAPS: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))  # of schemas
_SCHEMAS: Final = frozenset(
    "items prefixItems additionalItems contains additionalProperties unevaluatedProperties unevaluatedItems"  # noqa: SIM905
    " propertyNames not if then else allOf anyOf oneOf contentSchema inputSchema outputSchema input_schema parameters"
    " function functions tools result annotations".split()
)
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_VALUES: Final = re.compile(  # a value, or a bracket, and the key before it
    rf'((?:{_STRING}\s*+:\s*+)?)({_STRING}|[{{}}\[\]]|[^\s"{{}}\[\],:]++)', re.DOTALL
)
# Ends of sentences in the text of a JSON string as it is spelled there; other escapes are passed over whole. Here and
# below a plain character or a class of them comes first, so that the search skips what cannot begin a match.
_CLOSED: Final = r"[)\]'\x60]{0,3}(?= (?![a-z]))"
_END: Final = re.compile(
    rf"\\(?:n(?:\\n)*+|.)|\.{_CLOSED}|!{_CLOSED}|\?{_CLOSED}|\xe3\x80\x82|\xef\xbc[\x81\x9f]", re.DOTALL
)
_CONSTRAINT: Final = re.compile(
    r"[MORALDFECNBUImoraldfecnbui](?<=\b.)(?i:ust(?<=must)|nly(?<=only)|equire(?<=require)d?s?|t (?<=at )(?:most|least)"
    r"|ax(?<=max)(?:imum)?|in(?<=min)(?:imum)?|imited to(?<=limited to)|efault(?<=default)s?|ormat(?<=format)s?"
    r"|\.g\.(?<=e\.g\.)|annot(?<=cannot)|ever(?<=never)|ne of(?<=one of)|llowed(?<=allowed)|etween(?<=between)"
    r"|p to(?<=up to)|eprecated(?<=deprecated)|so(?<=iso) ?\d+|estructive(?<=destructive)"
    r"|rreversibl(?<=irreversibl)[ey]|nsafe(?<=unsafe)|angerous(?<=dangerous)|aution(?<=caution))\b",
    re.ASCII,
)


@dataclass(slots=True)
class Span:
    """A JSON value: ``text[start:stop]``. Of a container ``items`` are its values and ``heads`` where each begins, the
    key of a member included; ``keys`` (source text, as spelled) for objects only, else None."""

    start: int
    stop: int
    items: list[Span]
    heads: list[int]
    keys: list[str] | None = None

    def member(self, name: str) -> Span | None:
        """The value of a key that stands once."""
        if self.keys is None or self.keys.count(name) != 1:
            return None
        return self.items[self.keys.index(name)]


def json_spans(text: str) -> Span | None:
    """The values of one JSON document; None where it is none. Linear; no recursion."""
    root = top = Span(0, 0, [], [])
    stack, stop = [root], 0
    none: Any = ()  # a value that holds nothing is never written to
    pieces = _VALUES.split(text)
    for gap, key, said in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=False):
        head = stop + len(gap)
        start = head + len(key)
        stop = start + len(said)
        if said == "}" or said == "]":
            if key or len(stack) == 1 or (top.keys is None) != (said == "]"):
                return None
            stack.pop().stop = stop
            top = stack[-1]
            continue
        if top.keys is not None:
            if not key:
                return None
            top.keys.append(key[1:-2] if key[-2] == '"' else key[1 : key.rindex('"')])
        elif key:
            return None
        top.heads.append(head)
        if said == "{" or said == "[":
            value = Span(start, stop, [], [], [] if said == "{" else None)
            stack.append(value)
            top.items.append(value)
            top = value
        else:
            top.items.append(Span(start, stop, none, none))
    return root.items[0] if len(stack) == 1 and len(root.items) == 1 else None


def _schemas(span: Span) -> Iterator[Span]:
    """The objects whose keys are a schema's, not names that a user gave, from the outside in."""
    waiting = [(span, False)]
    while waiting:
        at, named = waiting.pop()
        if at.keys is None:
            waiting += [(item, False) for item in reversed(at.items) if item.heads]
            continue
        if not named:
            yield at
        for key, item in zip(at.keys[::-1], at.items[::-1], strict=True):
            if item.heads and (named or key in _SCHEMAS or key in _MAPS):
                waiting.append((item, not named and key in _MAPS))


# ---------------------------------------------------------------- shortened


class ToolSchema:
    name = "toolschema"
    keep = 0.35
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return JSON.rewrite(text)

    def split(self, text: str) -> Document | None:
        root = json_spans(text) if depth_ok(text) else None
        tools = _tools(root) if root is not None else None
        if root is None or tools is None:
            return None
        starts, stops = [t.start for t in tools.items], [t.stop for t in tools.items]
        group = Group(starts, stops, "outline", "tools", reader=_Tools(text, tools), pinned=range(len(starts)))
        seen: set[str] = set()
        group.children = {i: [g] for i, tool in enumerate(tools.items) if len(g := _texts(text, tool, seen))}
        leaves = sum(g.extent for groups in group.children.values() for g in groups)
        target = len(text) - leaves + MARKER_COST * (len(group.children) + 1)
        return Document(text, self.name, [group], root.stop - 1, newline="", target=target)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        """In a tool the last member; in the list of tools an element."""
        comma = "," if group.markers == "apart" else ""
        return comma + JSON.marker(sentence, count, facts, group, document)

    def reference(self, sentence: str, document: Document) -> str:
        return JSON.reference(sentence, document)


def _tools(root: Span) -> Span | None:
    """The list of tools: the document, or what is found under the usual names."""
    at: Span | None = root.member("result") or root
    if at is not None and at.keys is not None:
        at = at.member("tools") or at.member("functions")
    if at is None or at.keys is not None or not at.items or any(tool.keys is None for tool in at.items):
        return None
    return at


def _texts(text: str, tool: Span, seen: set[str]) -> Group:
    """What a tool may give up, in order: descriptions of parameters, later sentences, annotations, what is ``seen``."""
    found: list[tuple[int, int]] = []
    gone: list[Span] = []  # what is inside of these goes with them
    for schema in _schemas(tool):
        keys = schema.keys or ()
        if _TELLING.isdisjoint(keys) or any(part.start <= schema.start < part.stop for part in gone):
            continue
        members: set[int] = set()
        for i, key in enumerate(keys):
            if key not in _TELLING:
                continue
            item = schema.items[i]
            if key in _SHARED:
                said = text[schema.heads[i] : item.stop]
                if said in seen:
                    members.add(i)
                    gone.append(item)
                seen.add(said)
            elif key in _ANNOTATIONS:
                members.add(i)
            elif text[item.start] == '"':
                sentences = _sentences(text, item.start + 1, item.stop - 1)
                of_tool = schema.member("name") is not None  # what a tool does stays
                if of_tool or not all(droppable for _, _, droppable in sentences):
                    found += [(a, b) for a, b, droppable in sentences[of_tool:] if droppable]
                else:
                    members.add(i)
        if members:
            found += _members(schema, members)
    found.sort()
    heading = f"tool {_name(text, tool)}"
    return Group(
        [a for a, _ in found], [b for _, b in found], "outline", "texts", "apart", heading, marker_at=tool.stop - 1
    )


def _members(schema: Span, gone: set[int]) -> Iterator[tuple[int, int]]:
    """Spans of the members ``gone``, each with the comma beside it that is not needed without it. One member stays."""
    first = next((i for i in range(len(schema.items)) if i not in gone), 0)
    for i in sorted(gone - {first}):
        yield (schema.heads[i], schema.heads[i + 1]) if i < first else (schema.items[i - 1].stop, schema.items[i].stop)


def _sentences(text: str, start: int, stop: int) -> list[tuple[int, int, bool]]:
    """The sentences of a description, each with the blank before it, and whether it may go: it states no constraint."""
    found, at, begin = [], start, start
    for end in _END.finditer(text, start, stop):
        closed, after = end.span()
        if text[closed] != "\\":
            closed = after
        elif text[closed + 1] != "n":
            continue
        if closed > begin:
            found.append((at, closed, _CONSTRAINT.search(text, begin, closed) is None))
            at = closed
        begin = after + (text[after] == " ")
    if stop > begin:
        found.append((at, stop, _CONSTRAINT.search(text, begin, stop) is None))
    return found


def _name(text: str, tool: Span) -> str:
    name = (tool.member("function") or tool).member("name")
    return plain(text[name.start + 1 : name.stop - 1]) if name is not None and text[name.start] == '"' else ""


class _Tools:
    """The names of tools, for what a ceiling leaves out."""

    typed = True

    def __init__(self, text: str, tools: Span) -> None:
        self.names = [_name(text, tool) for tool in tools.items]

    def columns(self, first: int, last: int) -> Columns:
        return {"name": [name if name and "\\" not in name else ABSENT for name in self.names[first:last]]}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return [[""] * (last - first)]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [""] * (last - first)


# ---------------------------------------------------------------- without annotations (forced only)


@dataclass(frozen=True, slots=True)
class _Stripped(Rewritten):
    """``gone``: how many annotation keys came off."""

    gone: int = 0


class ToolSchemaAnnotations:
    name = "toolschema-annotations"
    keep = 1.0
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """The text without members that annotate a schema, each with one of the commas beside it."""
        root = json_spans(text) if depth_ok(text) else None
        cuts = sorted(_cuts(root)) if root is not None else []
        if not cuts:
            return None
        pieces, offsets, origins, at, size = [], [], [], 0, 0
        for start, stop in [*cuts, (len(text), len(text))]:
            offsets.append(size)
            origins.append(at)
            pieces.append(text[at:start])
            size += start - at
            at = stop
        return _Stripped("".join(pieces), offsets, origins, len(cuts))

    def split(self, text: str) -> Document | None:
        root = json_spans(text) if depth_ok(text) else None
        if root is None or text[root.start] not in "[{":
            return None
        return Document(text, self.name, [], root.stop - 1, newline="")

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return JSON.marker(sentence, count, facts, group, document)

    def reference(self, sentence: str, document: Document) -> str:
        """The reference names how many keys are gone: nothing marks their places."""
        gone = document.origin.gone if isinstance(document.origin, _Stripped) else 0
        told = sentence.replace("0 markers for 0 units", f"{gone} annotation keys of schemas taken off", 1)
        return JSON.reference(told, document)


def _cuts(root: Span) -> Iterator[tuple[int, int]]:
    """Spans to take off; of an object that holds nothing else all of it."""
    for schema in _schemas(root):
        gone = {i for i, key in enumerate(schema.keys or ()) if key in _ANNOTATIONS}
        if gone and len(gone) == len(schema.items):
            yield schema.heads[0], schema.items[-1].stop
        else:
            yield from _members(schema, gone)


TOOL_SCHEMA = ToolSchema()
TOOL_SCHEMA_ANNOTATIONS = ToolSchemaAnnotations()
