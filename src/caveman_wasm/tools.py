"""The tools an agent or its host may call: one table for every door, and the guard against storms of questions.

A door lists `TOOLS` in its own protocol's shape and answers by `call`, which raises nothing: an error is an answer
with its code. ``notes`` are words of ours about an answer; a door hands them on as content of their own, never
mixed into the bytes. What a tool hands out, errors too, is not compressed again by that engine.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from caveman_wasm.errors import CavemanError, InputTooLarge, InvalidArguments
from caveman_wasm.model import MAX_PAYLOAD, Result, Stats, raw, source
from caveman_wasm.references import parse_reference

if TYPE_CHECKING:
    from caveman_wasm.engine import Engine
    from caveman_wasm.store.base import Store

__all__ = [
    "TOOLS",
    "Guards",
    "StormGuard",
    "Tool",
    "ToolAnswer",
    "call",
    "failed",
    "hand_out",
    "listing",
    "report",
    "stats_answer",
    "warning",
]

SESSIONS: Final = 1000  # whose questions are remembered; the one that was silent longest is forgotten first
QUESTIONS: Final = 5  # different queries to one reference that are answered without a word (SPEC 7)
DEEPEST: Final = 128  # levels of TOON, two blanks each; as many as of JSON (formats/json_records.py)
WHOLE: Final = 8_000  # tokens up to which the whole is given in place of one more part (SPEC 7)

AGAIN: Final = "This was asked before and is answered above, in the same words; read it there."
OFFERED: Final = (
    "{count} different questions were asked about this source. Do not ask on in parts: for the whole, {tokens} tokens,"
    " ask once with the reference {id} and no query, or answer from what stands above."
)
GIVEN: Final = (
    "{count} different questions were asked about this source, so here is the whole of it; answer from this and do"
    " not ask again."
)

_UNREPORTED: Final = frozenset({"output", "text", "markers"})


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gives. ``output`` is what to hand on, of an error its message; ``report`` the same or more as a
    value that JSON has; ``error`` a code or None, ``reference`` what the error is about."""

    output: bytes
    notes: tuple[str, ...] = ()
    report: Mapping[str, Any] | None = None
    error: str | None = None
    reference: str | None = None

    @property
    def text(self) -> str:
        """``output`` as str, undecodable bytes as U+FFFD."""
        return self.output.decode("utf-8", "replace")

    @property
    def frame(self) -> tuple[str, str]:
        """What stands before and after ``output`` where a door has one text for all of it: the code, the notes."""
        return f"{self.error}: " if self.error else "", "".join(f"\n\n[caveman: {note}]" for note in self.notes)


@dataclass(slots=True)
class StormGuard:
    """What one session asked of each reference. A door keeps one for each of its sessions."""

    asked: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def repeats(self, id: str, selector: str, query: str) -> bool:
        """Was this asked before? From now on it was."""
        known = self.asked.setdefault(id, set())
        question = (selector, " ".join(query.casefold().split()))
        repeated = question in known
        known.add(question)
        return repeated

    def queries(self, id: str) -> int:
        """How many different queries the reference has had."""
        return len({query for _, query in self.asked.get(id, ()) if query})


class Guards:
    """The guards of a door that serves many sessions, by whatever name it knows a session."""

    def __init__(self) -> None:
        self._guards: OrderedDict[str, StormGuard] = OrderedDict()

    def of(self, session: str) -> StormGuard:
        """The session's guard, a new one where it has none."""
        guard = self._guards.setdefault(session, StormGuard())
        self._guards.move_to_end(session)
        if len(self._guards) > SESSIONS:
            self._guards.popitem(last=False)
        return guard


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``audience``: model, for whoever reads shortened texts; host, for whoever hands them to a model.

    ``parameters`` are JSON Schema by name, ``required`` those that must be given, ``run`` takes engine, guard and
    the arguments by name. ``reads``: it changes nothing.
    """

    name: str
    title: str
    audience: Literal["model", "host"]
    description: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    reads: bool
    run: Callable[..., ToolAnswer]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        properties = {name: dict(said) for name, said in self.parameters.items()}
        said = {"type": "object", "properties": properties, "required": list(self.required)}
        return said | {"additionalProperties": False}

    @property
    def annotations(self) -> dict[str, bool]:
        """MCP's hints: nothing is destroyed, calling twice does no more than once, no outside world is involved."""
        return {"readOnlyHint": self.reads, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def listing(audience: str | None = None) -> list[dict[str, Any]]:
    """The table as values that JSON has, in its order; of one audience, or all."""
    return [
        {"name": tool.name, "title": tool.title, "description": tool.description, "inputSchema": tool.schema}
        | {"annotations": tool.annotations, "audience": tool.audience}
        for tool in TOOLS.values()
        if audience in (None, tool.audience)
    ]


def call(engine: Engine, guard: StormGuard, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Answer one call. Raises nothing: whatever goes wrong is an answer with ``error`` set.

    An optional argument that is None counts as not given. A door inside the process may give bytes for a string.
    """
    try:
        tool = _tool(name)
        answer = tool.run(engine, guard, **_checked(tool, arguments))
    except CavemanError as error:
        answer = failed(error)
    except Exception as error:  # its message might quote a payload
        said = f"Internal error ({type(error).__name__}); nothing was changed. Go on without this tool."
        answer = ToolAnswer(said.encode(), error=CavemanError.code)
    if answer.error or name != "caveman_compress":
        hand_out(engine, answer)
    return answer


def hand_out(engine: Engine, answer: ToolAnswer) -> None:
    """Note the answer, in one text or in parts, as what that engine does not compress again."""
    before, after = answer.frame
    for given in (answer.output, before.encode() + answer.output + after.encode(), *map(str.encode, answer.notes)):
        engine.hand_out(given)


def failed(error: CavemanError) -> ToolAnswer:
    """The error as an answer."""
    return ToolAnswer(str(error).encode("utf-8", "replace"), error=error.code, reference=error.reference)


def report(result: Result) -> dict[str, Any]:
    """What a result says of itself, its output, text and markers left out (SPEC 10)."""
    said = {name: getattr(result, name) for name in result.__slots__ if name not in _UNREPORTED}
    return said | {"ratio": result.ratio}


def warning(store: Store | None) -> dict[str, Any]:
    """What a report says beside, once the store is nearly full: nothing is ever deleted to make room."""
    try:
        stats = store.stats() if store else None
    except CavemanError:  # the report says what became of the payload, come what may
        return {}
    if stats is None or not stats.nearly_full:
        return {}
    share = stats.storage_bytes / stats.max_storage_bytes
    return {"warning": f"The store is {share:.0%} full. `caveman-engine list` says of what, `forget` makes room."}


# ---------------------------------------------------------------- arguments

_TYPES: Final[dict[str, tuple[type, ...]]] = {"string": (str, bytes), "integer": (int,)}


def _tool(name: str) -> Tool:
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise InvalidArguments(f"There is no such tool; there are {', '.join(TOOLS)}.")
    return tool


def _checked(tool: Tool, arguments: object) -> dict[str, Any]:
    if not isinstance(arguments, Mapping):
        raise InvalidArguments(f"{tool.name} takes its arguments by name.")
    if arguments.keys() - tool.parameters.keys():
        known = ", ".join(tool.parameters) or "none"
        raise InvalidArguments(f"{tool.name} was given an argument that it does not have; it has {known}.")
    given = {name: value for name, value in arguments.items() if value is not None}
    if missing := [name for name in tool.required if name not in given]:
        raise InvalidArguments(f"{tool.name} needs {' and '.join(missing)}.")
    for name, value in given.items():
        kind = tool.parameters[name]["type"]
        if isinstance(value, bool) or not isinstance(value, _TYPES[kind]):
            raise InvalidArguments(f"{name} of {tool.name} is of type {kind}, not {type(value).__name__}.")
    return given


# ---------------------------------------------------------------- what they do


def _compress(
    engine: Engine,
    guard: StormGuard,
    input: bytes | str,
    type: str | None = None,
    query: str = "",
    max_tokens: int | None = None,
) -> ToolAnswer:
    result = engine.compress(input, content_type=type, query=query, max_tokens=max_tokens)
    if result.method != "none":  # a pass-through may be shortened later, with another store, say
        engine.hand_out(result.output)
    return ToolAnswer(result.output, report=report(result) | warning(engine.store))


def _retrieve(engine: Engine, guard: StormGuard, reference: str, query: str = "") -> ToolAnswer:
    output = engine.retrieve_query(reference, query)
    parsed = parse_reference(reference)
    if guard.repeats(parsed.id, parsed.selector or "", query):
        return ToolAnswer(output, (AGAIN,))
    count = guard.queries(parsed.id)
    if count <= QUESTIONS or not query.strip():
        return ToolAnswer(output)
    whole = engine.retrieve(parsed.id)
    if parsed.id not in guard.tokens:
        from caveman_wasm.tokens import count_tokens

        guard.tokens[parsed.id] = count_tokens(engine.counter, whole)
    tokens = guard.tokens[parsed.id]
    if tokens <= WHOLE:
        return ToolAnswer(whole, (GIVEN.format(count=count),))
    return ToolAnswer(output, (OFFERED.format(count=count, tokens=f"{tokens:,}", id=parsed.id),))


def _stats(engine: Engine, guard: StormGuard) -> ToolAnswer:
    return stats_answer(engine.stats())


def stats_answer(stats: Stats) -> ToolAnswer:
    """What ``caveman_stats`` answers with these counts."""
    said = {name: getattr(stats, name) for name in stats.__slots__} | {"nearly_full": stats.nearly_full}
    return ToolAnswer(json.dumps(said).encode(), report=said)


def _toon_encode(engine: Engine, guard: StormGuard, input: bytes | str) -> ToolAnswer:
    from caveman_wasm.formats.toon import encoded

    _toon()
    toon = encoded(source(_text(input).encode("utf-8", "surrogatepass")))
    if toon is None:
        raise InvalidArguments("input is no JSON document that TOON gives back as it is (1.0 becomes 1); use it so.")
    return ToolAnswer(raw(toon))


def _toon_decode(engine: Engine, guard: StormGuard, input: bytes | str) -> ToolAnswer:
    toon, text = _toon(), _text(input)
    try:
        if "\n" + " " * 2 * DEEPEST in text:
            raise ValueError("nested deeper than JSON is read here")
        said = json.dumps(toon.decode(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        raise InvalidArguments("input is no TOON document; use it as it is.") from None
    return ToolAnswer(said.encode("utf-8", "surrogatepass"))


def _toon() -> Any:
    try:
        import toon_format
    except ImportError:
        message = "TOON needs a library that is not installed: pip install 'caveman-wasm[toon]'."
        raise InvalidArguments(message) from None
    return toon_format


def _text(input: bytes | str) -> str:
    if len(input) > MAX_PAYLOAD:
        raise InputTooLarge(f"input is over {MAX_PAYLOAD} bytes; hand it in as smaller parts.")
    try:
        return input if isinstance(input, str) else input.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArguments("input is not UTF-8; use it as it is.") from None


# ---------------------------------------------------------------- the table

_INPUT: Final = {"type": "string", "description": "The text, exactly as it came."}

TOOLS: Final[dict[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            "caveman_retrieve",
            "Read the source behind a shortened view",
            "model",
            "Reads the exact source of a text that closes with a line like [caveman: shortened view, … <<ccr:ccr_…>>]."
            " Do not call it when the text and its markers answer already: what a marker states (counts, sums, ranges,"
            " lists of values) is complete and exact for everything that it stands for. Do not call it to check that"
            " nothing was lost, for a reference that you have not seen, or again for what is answered above. If you"
            " must, ask once and broadly: with query, in plain words, come the whole records, entries or sections"
            " that it is about; without it comes the whole source. One part exactly: end the reference in a selector,"
            " ccr_…#/orders/3/total (JSON Pointer), #line=10,20 (lines 11 to 20), #row=5-7 (rows of a table, the"
            " header is row 1), #cell=4,2. On cave_unknown_handle or cave_forgotten do not retry: run the tool that"
            " made the text again.",
            {
                "reference": {
                    "type": "string",
                    "description": "The reference as it stands in the text, with a selector if you like.",
                },
                "query": {
                    "type": "string",
                    "description": "What you want to know, in words. Leave it out for the whole, or with a selector.",
                },
            },
            ("reference",),
            True,
            _retrieve,
        ),
        Tool(
            "caveman_compress",
            "Shorten a tool output, reversibly",
            "host",
            "For hosts, before a tool output is put into a model's context: gives a shorter text that says what it"
            " leaves out and stores the exact original behind the reference that closes it. Do not call it as a model:"
            " you would have to write the whole text out again. Do not call it for what is to be edited or quoted word"
            " for word, for text under 512 bytes, or for what a caveman tool gave out. What would not get smaller"
            " comes back as it was.",
            {
                "input": _INPUT,
                "type": {
                    "type": "string",
                    "description": "Forces a content type, such as json, log, code, diff, tabular or text.",
                },
                "query": {"type": "string", "description": "What the reader wants to know: what answers it is kept."},
                "max_tokens": {"type": "integer", "minimum": 1, "description": "A ceiling on the result, no target."},
            },
            ("input",),
            False,
            _compress,
        ),
        Tool(
            "caveman_stats",
            "What the store holds",
            "host",
            "Counts and sizes of what is stored, as JSON; token counts are local estimates of this session's counter."
            " Do not call it to find a reference or to answer a question about a source.",
            {},
            (),
            True,
            _stats,
        ),
        Tool(
            "caveman_toon_encode",
            "Write JSON as TOON",
            "host",
            "Writes a JSON document as TOON, the same value in fewer tokens, and refuses where it would not come back"
            " as it was. Nothing is stored. Do not call it for JSON that is to be edited, or for anything but JSON.",
            {"input": _INPUT},
            ("input",),
            True,
            _toon_encode,
        ),
        Tool(
            "caveman_toon_decode",
            "Read TOON as JSON",
            "host",
            "Gives the JSON value of a TOON document. Do not call it for a shortened view: that has its own tool.",
            {"input": _INPUT},
            ("input",),
            True,
            _toon_decode,
        ),
    )
}
