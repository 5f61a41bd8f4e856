"""What a persistence hook holds, as one page knows it: the rules between the dict and the hook.

The dict is the engine's store and is synchronous; the hook (IndexedDB, or an embedder's own) is awaited here, and
nowhere else. A record that the hook holds may leave the dict, which then keeps the page's memory small: that is no
eviction, since a miss asks the hook. What the hook does not hold never leaves it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from caveman_wasm.errors import (
    BudgetExceeded,
    CavemanError,
    Conflict,
    CorruptRecord,
    Forgotten,
    NotFound,
    StoreReset,
    StoreUnavailable,
)
from caveman_wasm.model import Recovery, Stats, TypedObject
from caveman_wasm.references import is_object_id
from caveman_wasm.store.base import Store
from caveman_wasm.store.checks import (
    checked_limit,
    checked_text,
    now,
    object_size,
    record_size,
    verified,
    verified_object,
)

__all__ = ["Durable", "Hook", "JsBytes"]

CACHE: Final = 4 * 1024 * 1024  # bytes of durable payload that stay in the dict; the hook has the others within ms


class JsBytes(Protocol):
    """A Uint8Array as Python sees it."""

    def to_bytes(self) -> bytes:
        """A copy of its bytes."""
        ...


class Hook(Protocol):
    """A persistence hook behind web/src/hook.ts. It never raises.

    Every answer begins with JSON: ``{"value": …}`` or ``{"error": {"code", "message", "reference"}}``; that of
    ``get`` goes on with data and metadata.
    """

    def open(self, max_bytes: int) -> Awaitable[Sequence[Any]]:
        """``{"epoch", "index": [[id, bytes, tokens before, tokens after, session id, created at], …]}``."""
        ...

    def put(self, head: str, data: bytes, metadata: bytes | None) -> Awaitable[Sequence[Any]]:
        """Store a record, ``head`` being JSON of all but its bytes. Answers when it would survive a crash."""
        ...

    def get(self, id: str) -> Awaitable[Sequence[Any]]:
        """The head that was put (an object) or null; data and metadata follow."""
        ...

    def delete(self, ids: str) -> Awaitable[Sequence[Any]]:
        """Delete a JSON list of ids, or ``"all"``."""
        ...


@dataclass(frozen=True, slots=True)
class _Row:
    """What is known of a durable record without its bytes."""

    size: int
    tokens_before: int = 0
    tokens_after: int = 0
    session_id: str | None = None  # of an object
    created_at: str = ""


class Durable:
    """The records of ``hook``, some of them also in ``store``.

    ``max_bytes`` is the budget of all that the hook holds, kept by the hook, since other pages share it.
    ``host_epoch`` is the epoch that the host remembers: where the hook's is another one, what is not found was lost.
    """

    def __init__(self, hook: Hook, store: Store, max_bytes: int, host_epoch: str | None = None) -> None:
        self.epoch = ""
        self._hook = hook
        self._store = store
        self._max_bytes = max_bytes
        self._host_epoch = host_epoch
        self._index: dict[str, _Row] = {}
        self._resident: dict[str, None] = {}  # durable and in the dict, the least recently used first
        self._pending: Counter[str] = Counter()  # id → puts under way
        self._seen: set[str] = set()  # every id that this page minted or saw
        self._was_reset = False
        self._refused = 0
        self._refused_at = ""
        self._full_from = max_bytes

    async def open(self) -> None:
        """Read epoch and index, never the bytes. Another epoch than before: the database was dropped meanwhile."""
        answer, *_ = await self._answer("open", self._max_bytes)
        if self.epoch and answer["epoch"] != self.epoch:
            self._was_reset = True
            self._resident.clear()  # what is in the dict is all there is of it: it stays
        self.epoch = answer["epoch"]
        self._index = {name: _Row(*rest) for name, *rest in answer["index"]}
        self._seen.update(self._index)

    async def keep(self, name: str) -> None:
        """Make durable what the dict holds under ``name``, or withdraw it and raise.

        It is withdrawn only when no other call's pending or durable put holds it. Raises BudgetExceeded, Conflict,
        StoreUnavailable.
        """
        self._seen.add(name)
        self._pending[name] += 1
        try:
            row = await self._put(name)
        except BaseException as error:
            self._let_go(name)
            if name not in self._pending and name not in self._index:
                self._store.withdraw(name)
            if isinstance(error, BudgetExceeded):
                await self._refused_by_budget()
            raise self._refusal(name, error) from error
        self._let_go(name)
        self._index[name] = row
        self._use(name)

    async def recall(self, name: str) -> tuple[bytes, JsBytes] | None:
        """Have ``name`` in the dict, as the hook has it: another page may have changed the state of an object.

        If the hook was asked: its data as the dict now has it, and as the hook gave it, for who sends it on to
        JavaScript. Raises NotFound, StoreReset, Forgotten, CorruptRecord, StoreUnavailable.
        """
        given = None
        if not self._store.holds(name) or (is_object_id(name) and name in self._index):
            if name in self._index:
                self._shrink(CACHE - self._index[name].size)  # before it comes, twice
            head, *parts = await self._ask("get", name)
            if head is not None:
                data, *rest = (part.to_bytes() for part in parts if part is not None)
                self._adopt(name, head, data, *rest)
                given = data, parts[0]
            else:
                self._index.pop(name, None)
                if not self._store.holds(name):
                    raise self._missing(name)
        if name in self._index:
            self._use(name)
        return given

    async def set_state(self, name: str, field: str, value: str) -> None:
        """Change an object's currentness or lifecycle, durably or not at all. Raises as `recall` and `keep` do."""
        await self.recall(name)
        before = getattr(self._store.get_object(name), field)
        change = getattr(self._store, f"set_{field}")
        change(name, value)
        try:
            await self.keep(name)
        except CavemanError:
            if self._store.holds(name):
                change(name, before)
            raise

    async def session_objects(self, session_id: str, limit: int) -> list[TypedObject]:
        """A session's objects, newest first, other pages' included; of which one is damaged or gone it says nothing."""
        checked_text("session_id", session_id)
        await self.open()
        rows = [(row.created_at, name) for name, row in self._index.items() if row.session_id == session_id]
        found = []
        for _, name in sorted(rows, reverse=True)[: checked_limit(limit)]:
            with suppress(CorruptRecord, NotFound):
                await self.recall(name)
                found.append(self._store.get_object(name))
        return found

    async def listed(self) -> list[tuple[str, int, int, int]]:
        """All that the hook holds, other pages' records included: id, bytes, tokens before and after."""
        await self.open()
        return [(name, row.size, row.tokens_before, row.tokens_after) for name, row in sorted(self._index.items())]

    async def forget(self, names: Sequence[str]) -> int:
        """Delete these, here and in the hook, by the operator's word; how many there were."""
        await self.open()
        held = [name for name in dict.fromkeys(names) if name in self._index]
        if held:
            await self._ask("delete", json.dumps(held))
            self._store.forget([name for name in held if self._store.holds(name)])
            self.deleted(held)
        return len(held)

    async def clear(self) -> None:
        """Delete all, here and in the hook, by the operator's word."""
        await self._ask("delete", json.dumps("all"))
        self._store.forget(everything=True)
        self.deleted(None)

    def deleted(self, names: Sequence[str] | None) -> None:
        """Another page deleted these (None: all): they leave the dict too, but for puts under way."""
        for name in list(self._index) if names is None else names:
            self._index.pop(name, None)
            self._resident.pop(name, None)
            if name not in self._pending:
                self._store.withdraw(name)

    async def stats(self) -> Stats:
        """What the hook holds in all, other pages' records included; refusals are this page's."""
        await self.open()
        rows = self._index.values()
        before, after = sum(row.tokens_before for row in rows), sum(row.tokens_after for row in rows)
        used = self._used()
        objects = sum(is_object_id(name) for name in self._index)
        return Stats(
            records=len(self._index) - objects,
            objects=objects,
            tokens_before=before,
            tokens_after=after,
            ratio=(before - after) / before if before else 0.0,
            storage_bytes=used,
            max_storage_bytes=self._max_bytes,
            storage_full=used >= min(self._max_bytes, self._full_from),
            refused=self._refused,
            refused_at=self._refused_at,
        )

    # ------------------------------------------------------------ the hook

    async def _answer(self, method: str, *arguments: Any) -> tuple[Any, ...]:
        json_text, *rest = await getattr(self._hook, method)(*arguments)
        answer = json.loads(json_text)
        if error := answer.get("error"):
            raise _error(**error)
        return answer["value"], *rest

    async def _ask(self, method: str, *arguments: Any) -> tuple[Any, ...]:
        """An answer; a database that is another one by now is opened anew, once."""
        try:
            return await self._answer(method, *arguments)
        except StoreReset:
            await self.open()
            return await self._answer(method, *arguments)

    async def _put(self, name: str) -> _Row:
        head, data, metadata = self._packed(name)
        await self._ask("put", json.dumps(head), data, metadata)
        return _row(head)

    def _packed(self, name: str) -> tuple[dict[str, Any], bytes, bytes | None]:
        if is_object_id(name):
            obj = self._store.get_object(name)
            fields = asdict(obj)
            return _head(name, obj.created_at, object_size(obj), 0, 0, fields), fields.pop("data"), None
        record = self._store.record(name)
        fields = {"content_type": record.content_type, "compressor": record.compressor}
        tokens = record.tokens_before, record.tokens_after
        return _head(name, record.created_at, record_size(record), *tokens, fields), record.original, record.metadata

    def _adopt(self, name: str, head: dict[str, Any], data: bytes, metadata: bytes | None = None) -> None:
        """Into the dict with what the hook gave, if it is what ``name`` names."""
        fields, created_at = head["fields"], head["createdAt"]
        if is_object_id(name):
            fields["dependencies"] = tuple(fields["dependencies"])
            self._store.put_object(verified_object(TypedObject(**fields, data=data)))
            self._store.set_currentness(name, fields["currentness"])
            self._store.set_lifecycle(name, fields["lifecycle"])
        else:
            tokens = head["tokensBefore"], head["tokensAfter"]
            kinds = fields["content_type"], fields["compressor"]
            self._store.put(Recovery(*kinds, *tokens, verified(name, data), metadata, created_at))
        self._index[name] = _row(head)
        self._seen.add(name)

    # ------------------------------------------------------------ the dict

    def _use(self, name: str) -> None:
        """``name`` is durable and was used last: the others make room for it."""
        self._resident.pop(name, None)
        self._shrink(CACHE)
        self._resident[name] = None

    def _shrink(self, most: int) -> None:
        """Those that were used longest ago leave the dict, until it has ``most`` bytes or the rest is under way."""
        for oldest in list(self._resident):
            if self._store.stats().storage_bytes <= most:
                return
            if oldest not in self._pending:
                del self._resident[oldest]
                self._store.withdraw(oldest)

    def _let_go(self, name: str) -> None:
        self._pending[name] -= 1
        if not self._pending[name]:
            del self._pending[name]

    # ------------------------------------------------------------ what went wrong

    async def _refused_by_budget(self) -> None:
        """Below four fifths it was the payload that was large, not the store that was full."""
        self._refused += 1
        self._refused_at = now()
        if self._used() * 5 < self._max_bytes * 4:
            with suppress(CavemanError):
                await self.open()  # other pages may have filled it
        used = self._used()
        self._full_from = used if used * 5 >= self._max_bytes * 4 else self._max_bytes

    def _used(self) -> int:
        return sum(row.size for row in self._index.values())

    def _refusal(self, name: str, error: BaseException) -> BaseException:
        """What a failed put is called: its budget, its conflict, else that it cannot be written."""
        if not isinstance(error, Exception) or isinstance(error, BudgetExceeded | Conflict):
            return error
        message = f"{name} could not be made durable ({error}); nothing was stored: go on with the input"
        return StoreUnavailable(message, reference=name)

    def _missing(self, name: str) -> NotFound:
        if (self._was_reset and name in self._seen) or self._host_epoch not in (None, self.epoch):
            message = f"{name} was in a database that the browser has dropped since; do not retry, run the tool again"
            return StoreReset(message, reference=name)
        message = f"{name} is not in this store, which is of {self.epoch}; do not retry, run the tool again"
        try:
            self._store.get(name)
        except Forgotten as deleted:
            return deleted
        except NotFound:
            pass
        return NotFound(message, reference=name)


def _head(name: str, at: str, size: int, before: int, after: int, fields: dict[str, Any]) -> dict[str, Any]:
    head = {"id": name, "createdAt": at, "bytes": size, "tokensBefore": before, "tokensAfter": after}
    return head | {"sessionId": fields.get("session_id"), "fields": fields}


def _row(head: dict[str, Any]) -> _Row:
    return _Row(head["bytes"], head["tokensBefore"], head["tokensAfter"], head.get("sessionId"), head["createdAt"])


def _error(code: str, message: str, reference: str | None) -> CavemanError:
    """The error of this code, as the tree has it."""
    leaves = [CavemanError]
    for leaf in leaves:
        if leaf.code == code:
            return leaf(message, reference=reference)
        leaves.extend(leaf.__subclasses__())
    return StoreUnavailable(message, reference=reference)
