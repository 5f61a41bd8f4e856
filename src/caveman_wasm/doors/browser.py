"""The asynchronous door: the engine behind promises, for the page's worker (web/src/host.ts).

The methods are coroutines because a persistence hook will be awaited here, and nowhere else: the engine puts
into the dict → the hook's put is awaited → the result is published, or the record is withdrawn; a miss awaits
the hook's get → verified → adopted by the dict.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, Protocol

from caveman_wasm.engine import Engine
from caveman_wasm.errors import CavemanError
from caveman_wasm.store import open_store
from caveman_wasm.tokens import Counter

__all__ = ["BrowserDoor"]

Reply = tuple[str, bytes | None]


class JsBytes(Protocol):
    """A Uint8Array as Python sees it."""

    def to_bytes(self) -> bytes:
        """A copy of its bytes."""
        ...


class BrowserDoor:
    """One engine over one store, for one page.

    ``counter`` counts for the engine (a JavaScript object will do), ``max_bytes`` is the store's budget; None
    means the package's own. Nothing works before ``call("open")``, which says what is wrong with them.
    """

    def __init__(self, counter: Counter | None = None, max_bytes: int | None = None) -> None:
        self._counter = counter
        self._max_bytes = max_bytes
        self._methods: dict[str, Callable[..., Awaitable[tuple[Any, bytes | None]]]] = {
            "open": self._open,
            "compress": self._compress,
            "retrieve": self._retrieve,
            "detect": self._detect,
            "stats": self._stats,
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
        self._engine = Engine(open_store(max_bytes=self._max_bytes), counter=self._counter)
        return None, None

    async def _compress(
        self, payload: JsBytes, mode: str | None, content_type: str | None, query: str | None, max_tokens: int | None
    ) -> tuple[dict[str, Any], bytes]:
        result = self._engine.compress(
            payload.to_bytes(),
            mode=mode or "compress",
            content_type=content_type,
            query=query or "",
            max_tokens=max_tokens,
        )
        report = _camel_fields(result) | {"ratio": result.ratio, "persisted": False}
        del report["output"], report["text"]  # bytes cross as bytes, and the page reads its text from them
        return report, result.output

    async def _retrieve(self, reference: str, query: str | None) -> tuple[None, bytes]:
        return None, self._engine.retrieve_query(reference, query) if query else self._engine.retrieve(reference)

    async def _detect(self, payload: JsBytes) -> tuple[str, None]:
        return self._engine.detect(payload.to_bytes()), None

    async def _stats(self) -> tuple[Any, None]:
        return self._engine.stats(), None


def _failure(code: str, message: str, reference: str | None) -> str:
    return json.dumps({"error": {"code": code, "message": message, "reference": reference}})


def _camel_fields(value: Any) -> dict[str, Any]:
    """A dataclass as a page knows it."""
    return {_camel(field.name): getattr(value, field.name) for field in fields(value)}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(map(str.capitalize, tail))
