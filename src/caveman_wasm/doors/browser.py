"""The asynchronous door: the engine behind promises, for the page's worker (web/src/host.ts).

The methods are coroutines because a persistence hook may be awaited (durable.py): the engine puts into the dict →
the hook's put is awaited → the result is published, or the record is withdrawn and the caller gets its input; a
miss awaits the hook's get → verified → adopted by the dict.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache, partial
from io import BytesIO
from types import FrameType, coroutine
from typing import Any, Final

from caveman_wasm import markers
from caveman_wasm.doors.durable import Durable, Hook, JsBytes
from caveman_wasm.engine import Engine
from caveman_wasm.errors import BudgetExceeded, CavemanError, InvalidArguments, InvalidReference, NotFound
from caveman_wasm.messages import ToolText, shorten, tool_texts
from caveman_wasm.model import Result, ShownUnit, TypedObject, source
from caveman_wasm.references import is_object_id, parse_reference
from caveman_wasm.store import Store, open_memory, open_store
from caveman_wasm.store.bundle import BundleReader, BundleWriter, held_ids, item_id
from caveman_wasm.store.checks import checked_names, checked_object, object_size
from caveman_wasm.store.object_json import from_json
from caveman_wasm.tokens import Counter
from caveman_wasm.tools import Guards, ToolAnswer, call, failed, hand_out, listing, stats_answer

__all__ = ["BrowserDoor", "PageHook", "interruptible"]

Reply = tuple[str, bytes | JsBytes | None]


class PageHook:
    """A hook in JavaScript, for calls that were begun there: no event loop comes between its answer and the call."""

    def __init__(self, hook: Any) -> None:
        self._hook = hook

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        return lambda *arguments: _handed_out(getattr(self._hook, method)(*arguments))


@coroutine
def _handed_out(asked: Any) -> Generator[Any, Any, Any]:
    return (yield asked)


def _go_on(call: Coroutine[Any, Any, Reply], answer: Any = None) -> Any:
    try:
        return call.send(answer)
    except StopIteration as end:
        return end.value


# Where nothing is interrupted: what changes records (all locks are taken there), and what imports.
_WHOLE: Final = ("caveman_wasm.store", "importlib", "_frozen_importlib")


def interruptible() -> None:
    """From now on SIGINT, by which a page gives a running call up, ends it: in the engine, never in the store.

    Elsewhere it does nothing, and the page sends it again as long as the call runs.
    """
    signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_: int, frame: FrameType | None) -> None:
    engine = False
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_WHOLE):
            return
        engine = engine or name == Engine.__module__
        frame = frame.f_back
    if engine:
        raise KeyboardInterrupt


# The dict's own limit beside a hook: none, since the hook keeps the budget and the dict is kept small (durable.py).
_UNLIMITED: Final = 2**61


class BrowserDoor:
    """One engine over one store, for one page.

    ``counter`` counts for the engine (a JavaScript object will do), ``max_bytes`` is the store's budget; None
    means the package's own. With ``hook`` what compress returns is durable; ``epoch`` is the one that the host
    remembers of it. ``after_loss``: an earlier worker of this page died, and its dict with it.
    Nothing works before ``call("open")``, which says what is wrong with them.
    """

    def __init__(
        self,
        counter: Counter | None = None,
        max_bytes: int | None = None,
        hook: Hook | None = None,
        epoch: str | None = None,
        after_loss: bool = False,
    ) -> None:
        self._counter = counter
        self._max_bytes = max_bytes
        self._hook = hook
        self._epoch = epoch
        self._after_loss = after_loss
        self._store: Store
        self._durable: Durable | None = None
        self._guards = Guards()
        self._methods: dict[str, Callable[..., Awaitable[tuple[Any, bytes | JsBytes | None]]]] = {
            "open": self._open,
            "compress": self._compress,
            "simulate": self._simulate,
            "retrieve": self._retrieve,
            "detect": self._detect,
            "stats": self._stats,
            "epoch": self._read_epoch,
            "clear": self._clear,
            "records": self._records,
            "forget": self._forget,
            "export": self._export,
            "import": self._import,
            "deleted": self._deleted,
            "put_object": self._put_object,
            "get_object": self._get_object,
            "list_objects": self._list_objects,
            "set_object": self._set_object,
            "tools": self._tools,
            "call_tool": self._call_tool,
            "compress_messages": self._compress_messages,
        }

    def begin(self, method: str, *arguments: Any) -> Callable[..., Any]:
        """Begin a call for JavaScript: what is given back runs it until it waits for its PageHook, or to its end.

        It gives the hook's object that is waited for, and wants to be called again with its answer; or the reply.
        (Pyodide would hand a coroutine itself to its event loop.)
        """
        return partial(_go_on, self.call(method, *arguments))

    async def call(self, method: str, *arguments: Any) -> Reply:
        """Answer one call: a JSON document, and the bytes that go with it or None.

        The document is ``{"value": …}`` or ``{"error": {"code", "message", "reference"}}``: an exception would
        lose its code on the way to JavaScript. It is ASCII, because any other string crosses fifty times slower.
        """
        try:
            value, output = await self._methods[method](*arguments)
        except CavemanError as error:
            return _failure(error.code, str(error), error.reference), None
        except KeyboardInterrupt:  # nobody waits for the answer
            return _failure(CavemanError.code, "the call was given up; nothing is changed half.", None), None
        except MemoryError:
            message = "this takes more memory than there is, or than the page allows; nothing was stored: go on without"
            return _failure(BudgetExceeded.code, message, None), None
        except Exception as error:
            # Its message might quote the payload; the caller still has that, and the store is as it was.
            kind = type(error).__name__
            return _failure(CavemanError.code, f"Internal error ({kind}); go on with the input as it was.", None), None
        return json.dumps({"value": value}, default=_camel_fields), output

    async def _open(self) -> tuple[str | None, None]:
        """What is persistent has an epoch."""
        self._store = open_store(max_bytes=self._max_bytes)
        if self._hook is not None:
            budget, self._store = self._store.max_bytes, open_memory(max_bytes=_UNLIMITED)
            durable = Durable(self._hook, self._store, budget, self._epoch)
            await durable.open()
            self._durable = durable
        else:
            self._store.after_loss = self._after_loss
        self._engine = Engine(self._store, counter=self._counter)
        return self._durable.epoch if self._durable is not None else None, None

    async def _compress(
        self, payload: JsBytes, mode: str | None, content_type: str | None, query: str | None, max_tokens: int | None
    ) -> tuple[dict[str, Any], bytes | None]:
        """The report and the output; None for the input as it was, which the page still has."""
        try:
            return await self._compressed(payload.to_bytes(), mode, content_type, query, max_tokens)
        except MemoryError:
            refused = Result(b"", "", "unknown", "none", 0, 0, self._engine.counter.name)
            return _report(replace(refused, reason="store_failed", error=BudgetExceeded.code), persisted=False), None

    async def _compressed(
        self, data: bytes, mode: str | None, content_type: str | None, query: str | None, max_tokens: int | None
    ) -> tuple[dict[str, Any], bytes | None]:
        await self._recall_closing(data)
        result, persisted = await self._durably(
            self._engine.compress(
                data,
                mode=mode or "compress",
                content_type=content_type,
                query=query or "",
                max_tokens=max_tokens,
            )
        )
        return _report(result, persisted), None if result.recovery_handle is None else result.output

    async def _durably(self, result: Result) -> tuple[Result, bool]:
        """The result and whether its original is durable; without its handle where it could not be made so."""
        if self._durable is None or result.recovery_handle is None:
            return result, False
        try:
            await self._durable.keep(result.recovery_handle)
        except CavemanError as error:
            return replace(result, markers=(), **_not_kept(result.tokens_before, error.code)), False
        return result, True

    async def _simulate(
        self, payload: JsBytes, content_type: str | None, query: str | None, max_tokens: int | None
    ) -> tuple[dict[str, Any], None]:
        data = payload.to_bytes()
        await self._recall_closing(data)
        options: dict[str, Any] = {"content_type": content_type, "query": query or "", "max_tokens": max_tokens}
        return _report(self._engine.simulate(data, **options), persisted=False), None

    async def _recall_closing(self, data: bytes) -> None:
        """Whether a text is already ours depends on the record that it closes with: have that in the dict."""
        if self._durable is None:
            return
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        name = markers.closing_handle(source(data.decode("utf-16", "replace").encode() if wide else data))
        if name is not None:
            with suppress(CavemanError):  # what the store does not know is data
                await self._durable.recall(name)

    async def _retrieve(
        self, reference: str, query: str | None, explain: bool | None = None, selector: str | None = None
    ) -> tuple[tuple[ShownUnit, ...] | None, bytes | JsBytes]:
        """The bytes; with ``explain`` also the units that the view shows, none where it is the whole.

        What the hook was asked for, whole and verified, goes on as it gave it: without another copy.
        ``selector`` is what may stand behind the reference's ``#``, where nothing does.
        """
        parsed = parse_reference(reference)
        if selector is not None:
            if parsed.selector is not None:
                raise InvalidReference("name one selector, in the reference or beside it.", reference=parsed.id)
            reference = f"ccr://{parsed.id}#{selector}"
        given = await self._durable.recall(parsed.id) if self._durable is not None else None
        found = self._engine.retrieve_query(reference, query or "", explain=True)
        output = given[1] if given is not None and found.output is given[0] else found.output
        return found.units if explain else None, output

    async def _tools(self, audience: str | None = None) -> tuple[list[dict[str, Any]], None]:
        """The table of tools.py: of one audience, or all."""
        return listing(audience), None

    async def _call_tool(self, name: str, arguments: JsBytes, session: str = "") -> tuple[dict[str, Any], bytes]:
        """Answer a tool call; ``arguments`` is a JSON object in UTF-8, ``session`` names whose questions these are.

        The value is ``{"notes", "report", "error", "reference", "frame"}`` in the tools' own spelling, the bytes are
        the tool's output. An error of the tool is such an answer too, its message the bytes: models read them.
        """
        try:
            answer = await self._answered(name, _arguments(arguments.to_bytes()), session)
        except CavemanError as error:
            answer = failed(error)
            hand_out(self._engine, answer)
        said = {"notes": answer.notes, "report": answer.report, "error": answer.error, "reference": answer.reference}
        said |= {"frame": answer.frame}
        return said, answer.output

    async def _answered(self, name: str, arguments: Mapping[str, Any], session: str) -> ToolAnswer:
        """The tool's answer, with what it needs recalled before and what it stored kept after."""
        if self._durable is not None:
            await self._recall_for(name, arguments)
        answer = call(self._engine, self._guards.of(session), name, arguments)
        if answer.error:
            return answer
        if name == "caveman_stats" and self._durable is not None:
            answer = stats_answer(await self._durable.stats())
            self._engine.hand_out(answer.output)
        if name != "caveman_compress" or answer.report is None:
            return answer
        report, stored = dict(answer.report), answer.report["recovery_handle"]
        if self._durable is None or stored is None:
            return replace(answer, report=report | {"persisted": False})
        try:
            await self._durable.keep(stored)
        except CavemanError as error:
            report |= _not_kept(report["tokens_before"], error.code) | {"ratio": 0.0, "persisted": False}
            return ToolAnswer(arguments["input"].encode("utf-8", "surrogatepass"), report=report)
        return replace(answer, report=report | {"persisted": True})

    async def _recall_for(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Have in the dict what the call will look for. Arguments that are wrong are the tool's to refuse."""
        assert self._durable is not None
        if name == "caveman_retrieve" and isinstance(reference := arguments.get("reference"), str):
            await self._durable.recall(parse_reference(reference).id)
        if name == "caveman_compress" and isinstance(payload := arguments.get("input"), str):
            await self._recall_closing(payload.encode("utf-8", "surrogatepass"))

    async def _compress_messages(self, given: JsBytes) -> tuple[list[dict[str, Any]], None]:
        """What becomes of a conversation's tool results; ``given`` is a JSON object of `tool_texts`' arguments.

        Of each judged text ``{"path", "tool", "kind", "text", "report"}``, ``text`` None where it stays.
        """
        try:
            arguments = json.loads(given.to_bytes())
        except RecursionError:
            raise InvalidArguments("messages are nested too deep to be read.") from None
        return [said for found in tool_texts(**arguments) if (said := await self._judged(found))], None

    async def _judged(self, found: ToolText) -> dict[str, Any] | None:
        made = shorten(self._engine, found.text)
        if made is None:
            return None
        result, persisted = await self._durably(made)
        said = {"path": found.path, "tool": found.tool, "kind": found.kind, "report": _report(result, persisted)}
        return said | {"text": None if result.recovery_handle is None else result.text}

    async def _detect(self, payload: JsBytes) -> tuple[str, None]:
        return self._engine.detect(payload.to_bytes()), None

    async def _stats(self) -> tuple[Any, None]:
        return await self._durable.stats() if self._durable is not None else self._engine.stats(), None

    async def _read_epoch(self) -> tuple[str | None, None]:
        if self._durable is None:
            return None, None
        await self._durable.open()
        return self._durable.epoch, None

    async def _clear(self) -> tuple[None, None]:
        if self._durable is not None:
            await self._durable.clear()
        else:
            self._store.forget(everything=True)
        return None, None

    async def _records(self) -> tuple[list[list[Any]], None]:
        """All that is held, objects too, by id: ``[id, bytes, tokens before, tokens after]``."""
        if self._durable is not None:
            return [list(row) for row in await self._durable.listed()], None
        return [list(row) for row in self._listed()], None

    def _listed(self) -> Iterator[tuple[str, int, int, int]]:
        after = ""
        while page := self._store.records(after):
            for row in page:
                yield row.handle, row.original_bytes + row.metadata_bytes, row.tokens_before, row.tokens_after
            after = page[-1].handle
        for name in filter(is_object_id, held_ids(self._store)):
            yield name, object_size(self._store.get_object(name)), 0, 0

    async def _forget(self, names: str) -> tuple[int, None]:
        """Delete a JSON list of references; how many there were."""
        chosen = checked_names(json.loads(names))
        if self._durable is not None:
            return await self._durable.forget(chosen), None
        return self._store.forget(chosen), None

    async def _export(self, write: Callable[[bytes], object], names: str | None) -> tuple[dict[str, Any], None]:
        """A bundle, piece by piece into ``write``: of a JSON list of references, or of everything."""
        if names is not None:
            chosen = sorted(set(checked_names(json.loads(names))))
        elif self._durable is not None:
            chosen = [name for name, *_ in await self._durable.listed()]
        else:
            chosen = list(held_ids(self._store))
        writer = BundleWriter(self._store, write)
        for name in chosen:
            try:
                if self._durable is not None:
                    await self._durable.recall(name)
                writer.add(name)
            except NotFound:
                if names is not None:
                    raise
                # forgotten since it was listed
        return _camel_fields(writer.end()), None

    async def _import(self, bundle: JsBytes) -> tuple[dict[str, Any], None]:
        """Put every item of a bundle, each durable before the next."""
        reader = BundleReader(self._store, BytesIO(bundle.to_bytes()))
        while (item := reader.item()) is not None:
            if self._durable is not None and isinstance(name := item_id(item), str):
                with suppress(NotFound, InvalidReference):  # what is known of it stands
                    await self._durable.recall(name)
            put = reader.put(item)
            if self._durable is not None and put is not None:
                await self._durable.keep(put)
        reader.end()
        return _camel_fields(reader.counts), None

    # ------------------------------------------------------------ typed objects

    async def _put_object(self, said: str, data: JsBytes) -> tuple[dict[str, Any], None]:
        """Put an object, whose fields but its data are JSON in a page's spelling; what was stored, in the same form."""
        fields = {_snake(name): value for name, value in json.loads(said).items()}
        obj = checked_object(replace(from_json(fields | {"data": ""}), data=data.to_bytes()))
        if self._durable is not None:
            with suppress(NotFound):  # what is known of it stands
                await self._durable.recall(obj.object_id)
        stored = self._store.put_object(obj)
        if self._durable is not None:
            await self._durable.keep(stored.object_id)
        return _object_fields(stored), None

    async def _get_object(self, reference: str) -> tuple[dict[str, Any], bytes]:
        obj = await self._object(reference)
        return _object_fields(obj), obj.data

    async def _list_objects(self, session_id: str, limit: int | None) -> tuple[list[dict[str, Any]], None]:
        """A session's objects, newest first, less their data."""
        most = 100 if limit is None else limit
        if self._durable is not None:
            found = await self._durable.session_objects(session_id, most)
        else:
            found = self._store.objects(session_id, most)
        return [_object_fields(obj) for obj in found], None

    async def _set_object(self, reference: str, said: str) -> tuple[dict[str, Any], None]:
        """Change an object's state: a JSON object with currentness, lifecycle or both."""
        name = parse_reference(reference).id
        for field, value in json.loads(said).items():
            if self._durable is not None:
                await self._durable.set_state(name, field, value)
            elif field == "currentness":
                self._store.set_currentness(name, value)
            else:
                self._store.set_lifecycle(name, value)
        return _object_fields(await self._object(name)), None

    async def _object(self, reference: str) -> TypedObject:
        name = parse_reference(reference).id
        if self._durable is not None:
            await self._durable.recall(name)
        return self._store.get_object(name)

    async def _deleted(self, names: str) -> tuple[None, None]:
        if self._durable is not None:
            chosen = json.loads(names)
            self._durable.deleted(None if chosen == "all" else chosen)
        return None, None


def _report(result: Result, persisted: bool) -> dict[str, Any]:
    """Bytes cross as bytes, and the page reads its text from them."""
    report = _camel_fields(result) | {"ratio": result.ratio, "persisted": persisted}
    del report["output"], report["text"]
    return report


def _object_fields(obj: TypedObject) -> dict[str, Any]:
    said = _camel_fields(obj)
    del said["data"]
    return said


def _not_kept(tokens: int, code: str) -> dict[str, Any]:
    """What becomes of a report when the original could not be kept and the caller gets its input."""
    said: dict[str, Any] = {"method": "none", "tokens_after": tokens, "recovery_handle": None}
    return said | {"lossless_to_model": True, "reason": "store_failed", "error": code}


def _arguments(utf8: bytes) -> dict[str, Any]:
    try:
        arguments = json.loads(utf8)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise InvalidArguments("a tool's arguments are one JSON object.")
    return arguments


def _failure(code: str, message: str, reference: str | None) -> str:
    return json.dumps({"error": {"code": code, "message": message, "reference": reference}})


def _camel_fields(value: Any) -> dict[str, Any]:
    """A dataclass as a page knows it."""
    return {_camel(field.name): getattr(value, field.name) for field in fields(value)}


@cache
def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
