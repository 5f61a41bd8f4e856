"""Tool results on their way into a conversation: which of them are shortened, in whose message shape.

`compress_messages` reads OpenAI's messages (Chat Completions and Responses), Anthropic's and the AI SDK's. It
touches text inside tool results and nothing else. Each result is judged by what stands in the conversation alone,
never by what this process did before, so that the same history gives the same bytes and a provider's prompt cache
keeps working.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar

from caveman_wasm import markers
from caveman_wasm.engine import Engine
from caveman_wasm.errors import InputTooLarge, InvalidArguments
from caveman_wasm.model import Result, source

__all__ = ["ToolText", "compress_messages", "has_retrieve", "placed", "shorten", "tool_texts", "wrap_tool"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Hosts put a server's name before a tool's: mcp__caveman__caveman_retrieve.
_OURS: Final = re.compile(r"(?:^|[\W_])caveman_[a-z_]+\Z", re.ASCII)
_RETRIEVE: Final = re.compile(r"(?:^|[\W_])caveman_retrieve\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class ToolText:
    """One text inside a tool result: where it stands (keys and indices from the message list down), which tool gave
    it, and what the model would read. ``kind``: the type of the output that replaces one of JSON, else ''."""

    path: tuple[str | int, ...]
    tool: str
    text: str
    kind: str = ""


def compress_messages(
    engine: Engine,
    messages: Sequence[Mapping[str, Any]],
    tools: Any,
    *,
    exempt: Collection[str] = (),
    sent: int = 0,
    on_result: Callable[[str, Result], object] | None = None,
) -> list[Any]:
    """The conversation with its tool results shortened where that is smaller; every original is in the store.

    ``tools`` is what the model is offered: names, or tools in any of the shapes. Without a caveman_retrieve among
    them nothing is shortened. ``exempt`` names tools whose results stay (files read to be edited); ``sent`` is how
    many messages have gone out and stay as they are here. ``on_result`` is told of every judged text by its tool.

    What is not shortened is the same object as before. Nothing is shortened of a result whose call is not among the
    messages, of a caveman tool, or that closes with a reference of ours. Raises InvalidArguments; whatever else
    fails, the text stays.
    """
    replaced = {}
    for found in tool_texts(messages, tools, exempt=exempt, sent=sent):
        result = shorten(engine, found.text)
        if result is None:
            continue
        if on_result is not None:
            on_result(found.tool, result)
        if result.recovery_handle is not None:
            replaced[found] = result.text
    return placed(messages, replaced)


def wrap_tool(
    engine: Engine, tools: Any, *, name: str | None = None, exempt: Collection[str] = ()
) -> Callable[[Function], Function]:
    """A decorator for a tool: what it returns comes shortened, under the rules of `compress_messages`.

    str and bytes come back as such; a dict or list comes as the shortened text of its JSON, or as it is; anything
    else as it is. ``tools`` is looked at with every call, so it may be a list that is filled later. ``name`` is the
    function's own by default.
    """

    def decorate(function: Function) -> Function:
        called: str = name or str(getattr(function, "__name__", ""))

        def after(value: Any) -> Any:
            if not has_retrieve(tools) or _stays(called, exempt):
                return value
            text = _json(value) if isinstance(value, (dict, list)) else value
            if not isinstance(text, (str, bytes)) or _closes(text):
                return value
            result = shorten(engine, text)
            if result is None or result.recovery_handle is None:
                return value
            return result.output if isinstance(text, bytes) else result.text

        if iscoroutinefunction(function):

            @wraps(function)
            async def waiting(*args: Any, **kwargs: Any) -> Any:
                return after(await function(*args, **kwargs))

            return waiting  # type: ignore[return-value]

        @wraps(function)
        def plain(*args: Any, **kwargs: Any) -> Any:
            return after(function(*args, **kwargs))

        return plain  # type: ignore[return-value]

    return decorate


def shorten(engine: Engine, text: str | bytes) -> Result | None:
    """Compress for a conversation: not asking whether the same bytes were retrieved before (`retrieved`), which a
    replay would answer otherwise. None: over 64 MiB, it stays."""
    fresh = Engine(engine.store, counter=engine.counter)  # it has handed out nothing
    try:
        return fresh.compress(text)
    except InputTooLarge:
        return None


def has_retrieve(tools: Any) -> bool:
    """Whether the model can read what is left out."""
    return any(_RETRIEVE.search(name) for name in _names(tools))


# ---------------------------------------------------------------- which texts


def tool_texts(
    messages: Sequence[Mapping[str, Any]], tools: Any, *, exempt: Collection[str] = (), sent: int = 0
) -> list[ToolText]:
    """The texts that may be shortened, in order. Raises InvalidArguments."""
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence):
        raise InvalidArguments("messages are a list of messages, as the model's API takes them.")
    if isinstance(exempt, (str, bytes)) or not all(isinstance(name, str) for name in exempt):
        raise InvalidArguments("exempt is a list of names of tools.")
    if isinstance(sent, bool) or not isinstance(sent, int) or sent < 0:
        raise InvalidArguments("sent is how many messages have gone out: a whole number.")
    if not has_retrieve(tools):
        return []
    called: dict[str, str] = {}
    found: list[ToolText] = []
    for at, message in enumerate(messages):
        if not isinstance(message, Mapping):
            continue
        called.update(_calls(message))
        if at >= sent:
            texts = _texts(message, called)
            found += [
                ToolText((at, *path), name, text, kind)
                for path, name, text, kind in texts
                if name and not _stays(name, exempt) and not _closes(text)
            ]
    return found


def placed(messages: Sequence[Any], replaced: Mapping[ToolText, str]) -> list[Any]:
    """The messages with these texts in their places; copies are made along the paths and nowhere else."""
    given = list(messages)
    for found, text in replaced.items():
        *parents, last = found.path
        node: Any = given
        for key in parents:
            child = node[key]
            node[key] = child = dict(child) if isinstance(child, Mapping) else list(child)
            node = child
        node[last] = {**node[last], "type": found.kind, "value": text} if found.kind else text
    return given


def _stays(name: str, exempt: Collection[str]) -> bool:
    return name in exempt or _OURS.search(name) is not None


def _closes(text: str | bytes) -> bool:
    """Whether a text closes with a reference of ours: by its shape, since what the store knows may change."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return markers.closing_handle(source(data)) is not None


def _names(tools: Any) -> Iterator[str]:
    """The names of tools in any shape: names, a mapping by name, objects or mappings with a name."""
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise InvalidArguments("tools are those that the model is offered, or their names.")
    for tool in tools:  # of a mapping its keys
        if isinstance(tool, str):
            yield tool
        elif isinstance(tool, Mapping):
            function = tool.get("function")
            name = tool.get("name") or (function.get("name") if isinstance(function, Mapping) else None)
            if isinstance(name, str):
                yield name
        elif isinstance(name := getattr(tool, "name", getattr(tool, "__name__", None)), str):
            yield name


# ---------------------------------------------------------------- the shapes

_Text = tuple[tuple[str | int, ...], str, str, str]


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Ids of calls and the names of their tools, in any shape."""
    for call in _mappings(message.get("tool_calls")):  # Chat Completions
        yield from _named(call.get("id"), _mapping(call.get("function")).get("name"))
    if message.get("type") == "function_call":  # Responses
        yield from _named(message.get("call_id"), message.get("name"))
    if message.get("role") == "assistant":
        for block in _mappings(message.get("content")):  # Anthropic, AI SDK
            if block.get("type") == "tool_use":
                yield from _named(block.get("id"), block.get("name"))
            if block.get("type") == "tool-call":
                yield from _named(block.get("toolCallId"), block.get("toolName"))


def _texts(message: Mapping[str, Any], called: Mapping[str, str]) -> Iterator[_Text]:
    """The texts of a message's tool results: path in the message, tool ('' if unknown), text, `ToolText.kind`."""
    role, content = message.get("role"), message.get("content")
    if message.get("type") == "function_call_output":
        yield from _content(("output",), message.get("output"), _of(called, message.get("call_id")))
    elif role == "tool" and isinstance(message.get("tool_call_id"), str):
        yield from _content(("content",), content, _of(called, message["tool_call_id"]))
    elif role == "function":
        yield from _content(("content",), content, message["name"] if isinstance(message.get("name"), str) else "")
    elif role in ("tool", "user") and isinstance(content, (list, tuple)):
        for at, block in enumerate(content):
            kind = _mapping(block).get("type")
            if kind == "tool_result" and role == "user":
                yield from _content(
                    ("content", at, "content"), block.get("content"), _of(called, block.get("tool_use_id"))
                )
            elif kind == "tool-result" and role == "tool":
                name = block.get("toolName")
                yield from _output(
                    ("content", at, "output"), block.get("output"), name if isinstance(name, str) else ""
                )


def _content(path: tuple[str | int, ...], content: object, tool: str) -> Iterator[_Text]:
    """A string, or the text parts of a list."""
    if isinstance(content, str):
        yield path, tool, content, ""
    elif isinstance(content, (list, tuple)):
        for at, part in enumerate(content):
            known = _mapping(part)
            if known.get("type") in ("text", "input_text") and isinstance(known.get("text"), str):
                yield (*path, at, "text"), tool, known["text"], ""


def _output(path: tuple[str | int, ...], output: object, tool: str) -> Iterator[_Text]:
    """An AI SDK output: text, a list of parts, or JSON as its compact text (or as the ``text`` JavaScript wrote)."""
    known = _mapping(output)
    kind, value = known.get("type"), known.get("value")
    if kind in ("text", "error-text") and isinstance(value, str):
        yield (*path, "value"), tool, value, ""
    elif kind in ("json", "error-json"):
        text = _json(value) if "value" in known else known.get("text")
        if isinstance(text, str):
            yield path, tool, text, "text" if kind == "json" else "error-text"
    elif kind == "content":
        yield from _content((*path, "value"), value, tool)


def _json(value: object) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return None


def _named(id: object, name: object) -> Iterator[tuple[str, str]]:
    if isinstance(id, str) and isinstance(name, str):
        yield id, name


def _of(called: Mapping[str, str], id: object) -> str:
    return called.get(id, "") if isinstance(id, str) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, (list, tuple)) else iter(())
