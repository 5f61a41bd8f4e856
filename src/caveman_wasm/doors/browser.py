"""The asynchronous door: the engine behind promises, for the page's worker (web/src/host.ts).

The methods are coroutines because a persistence hook may be awaited (durable.py): the engine puts into the dict →
the hook's put is awaited → the result is published, or the record is withdrawn and the caller gets its input; a
miss awaits the hook's get → verified → adopted by the dict.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, Final

from caveman_wasm import markers
from caveman_wasm.doors.durable import Durable, Hook, JsBytes
from caveman_wasm.engine import Engine
from caveman_wasm.errors import CavemanError
from caveman_wasm.model import Result, source
from caveman_wasm.references import parse_reference
from caveman_wasm.store import Store, open_memory, open_store
from caveman_wasm.tokens import Counter

__all__ = ["BrowserDoor"]

Reply = tuple[str, bytes | None]


# The dict's own limit beside a hook: none, since the hook keeps the budget and the dict is kept small (durable.py).
_UNLIMITED: Final = 2**61


class BrowserDoor:
    """One engine over one store, for one page.

    ``counter`` counts for the engine (a JavaScript object will do), ``max_bytes`` is the store's budget; None
    means the package's own. With ``hook`` what compress returns is durable; ``epoch`` is the one that the host
    remembers of it. Nothing works before ``call("open")``, which says what is wrong with them.
    """

    def __init__(
        self,
        counter: Counter | None = None,
        max_bytes: int | None = None,
        hook: Hook | None = None,
        epoch: str | None = None,
    ) -> None:
        self._counter = counter
        self._max_bytes = max_bytes
        self._hook = hook
        self._epoch = epoch
        self._store: Store
        self._durable: Durable | None = None
        self._methods: dict[str, Callable[..., Awaitable[tuple[Any, bytes | None]]]] = {
            "open": self._open,
            "compress": self._compress,
            "retrieve": self._retrieve,
            "detect": self._detect,
            "stats": self._stats,
            "epoch": self._read_epoch,
            "clear": self._clear,
            "deleted": self._deleted,
        }

    async def call(self, method: str, *arguments: Any) -> Reply:
        """Answer one call: a JSON document, and the bytes that go with it or None.

        The document is ``{"value": …}`` or ``{"error": {"code", "message", "reference"}}``: an exception would
        lose its code on the way to JavaScript. It is ASCII, because any other string crosses fifty times slower.
        """
        try:
            value, output = await self._methods[method](*arguments)
        except CavemanError as error:
            return _failure(error.code, str(error), error.reference), None
        except Exception as error:
            # Its message might quote the payload; the caller still has that, and the store is as it was.
            kind = type(error).__name__
            return _failure(CavemanError.code, f"Internal error ({kind}); go on with the input as it was.", None), None
        return json.dumps({"value": value}, default=_camel_fields), output

    async def _open(self) -> tuple[None, None]:
        self._store = open_store(max_bytes=self._max_bytes)
        if self._hook is not None:
            budget, self._store = self._store.max_bytes, open_memory(max_bytes=_UNLIMITED)
            durable = Durable(self._hook, self._store, budget, self._epoch)
            await durable.open()
            self._durable = durable
        self._engine = Engine(self._store, counter=self._counter)
        return None, None

    async def _compress(
        self, payload: JsBytes, mode: str | None, content_type: str | None, query: str | None, max_tokens: int | None
    ) -> tuple[dict[str, Any], bytes]:
        data = payload.to_bytes()
        await self._recall_closing(data)
        result = self._engine.compress(
            data,
            mode=mode or "compress",
            content_type=content_type,
            query=query or "",
            max_tokens=max_tokens,
        )
        persisted = False
        if self._durable is not None and result.recovery_handle is not None:
            try:
                await self._durable.keep(result.recovery_handle)
                persisted = True
            except CavemanError as error:
                result = _given_back(result, data, error.code)
        report = _camel_fields(result) | {"ratio": result.ratio, "persisted": persisted}
        del report["output"], report["text"]  # bytes cross as bytes, and the page reads its text from them
        return report, result.output

    async def _recall_closing(self, data: bytes) -> None:
        """Whether a text is already ours depends on the record that it closes with: have that in the dict."""
        if self._durable is None:
            return
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        name = markers.closing_handle(source(data.decode("utf-16", "replace").encode() if wide else data))
        if name is not None:
            with suppress(CavemanError):  # what the store does not know is data
                await self._durable.recall(name)

    async def _retrieve(self, reference: str, query: str | None) -> tuple[None, bytes]:
        if self._durable is not None:
            await self._durable.recall(parse_reference(reference).id)
        return None, self._engine.retrieve_query(reference, query) if query else self._engine.retrieve(reference)

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

    async def _deleted(self, names: str) -> tuple[None, None]:
        if self._durable is not None:
            chosen = json.loads(names)
            self._durable.deleted(None if chosen == "all" else chosen)
        return None, None


def _given_back(result: Result, data: bytes, code: str) -> Result:
    """The caller's input in place of a text whose original could not be kept."""
    return replace(
        result,
        output=data,
        method="none",
        tokens_after=result.tokens_before,
        recovery_handle=None,
        lossless_to_model=True,
        reason="store_failed",
        error=code,
        markers=(),
    )


def _failure(code: str, message: str, reference: str | None) -> str:
    return json.dumps({"error": {"code": code, "message": message, "reference": reference}})


def _camel_fields(value: Any) -> dict[str, Any]:
    """A dataclass as a page knows it."""
    return {_camel(field.name): getattr(value, field.name) for field in fields(value)}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))
