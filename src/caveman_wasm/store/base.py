"""What a store is: the rules, once for every backend. A backend keeps rows and knows no rule.

- The same payload has one row. Putting it again changes accounting (unless ``tokens_before`` is 0) and metadata
  (unless empty), never the original and never ``created_at``. Other bytes under the same handle: Conflict.
- Whatever is handed out was hashed again first. What does not match raises CorruptRecord and is never returned.
- Nothing expires and nothing is evicted. A put that would pass the budget raises BudgetExceeded and changes nothing.
- Deleting is the operator's: `forget` leaves a tombstone, so that the handle answers Forgotten.
- What goes in and what comes out are ``bytes``, which nobody can change afterwards.
- Any thread may call any method. A method that raises has changed nothing but the count of refusals.

Every method raises StoreUnavailable when the store cannot be read or written, or is closed; InvalidReference for
what is no handle or id; InvalidArguments for wrong types and values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, Self

from caveman_wasm.errors import (
    BudgetExceeded,
    CavemanError,
    Conflict,
    CorruptRecord,
    Forgotten,
    InvalidArguments,
    InvalidReference,
    NotFound,
    StoreReset,
    StoreUnavailable,
)
from caveman_wasm.model import RecordInfo, Recovery, Stats, TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import checks

__all__ = ["DEFAULT_BUDGET", "SORTS", "Store", "Totals"]

SORTS: Final = ("handle", "newest", "largest", "type")
DEFAULT_BUDGET: Final = 512 * 1024 * 1024  # bytes (SPEC 9)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a store holds in all; ``used`` in bytes: originals, metadata, objects' data and dependencies JSON."""

    records: int
    objects: int
    tokens_before: int
    tokens_after: int
    used: int


class Store(ABC):
    """Records and typed objects by their ids. ``max_bytes`` is the budget, ``location`` a path, or ''."""

    location = ""

    # True where the store before this one was lost with all that it held: what is missing here may have been there.
    after_loss = False

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes

    # ------------------------------------------------------------ records

    def put(self, record: Recovery) -> str:
        """Store a payload and return its handle. When this returns, the payload outlives a crash (SQLite).

        Raises BudgetExceeded, Conflict, InputTooLarge over 64 MiB.
        """
        new = checks.checked_recovery(record)
        name = handle(new.original)
        with self._admitting():
            old = self._record(name, whole=False)
            if old is None:
                self._make_room(name, 0, checks.record_size(new))
                self._insert(name, replace(new, created_at=new.created_at or checks.now()))
                self._unbury(name)
            elif not self._same_bytes(name, new.original):
                message = f"{name} is taken by other bytes; the first stay: check the store, or forget that handle"
                raise Conflict(message, reference=name)
            elif (merged := checks.merged(old, new)) != old:
                self._make_room(name, len(old.metadata or b""), len(merged.metadata or b""))
                self._update(name, merged)
        return name

    def get(self, handle: str) -> bytes:
        """The exact original. Raises NotFound, Forgotten, CorruptRecord."""
        name = checks.checked_id(handle)
        original = self._original(name)
        if original is None:
            raise self._missing(name)
        return checks.verified(name, original)

    def record(self, handle: str) -> Recovery:
        """The whole record, verified. Raises as `get`."""
        name = checks.checked_id(handle)
        found = self._record(name)
        if found is None:
            raise self._missing(name)
        checks.verified(name, found.original)
        return found

    def metadata(self, handle: str) -> bytes | None:
        """The compressor's own bytes, None where there are none. Reads no payload. Raises NotFound, Forgotten."""
        name = checks.checked_id(handle)
        found = self._metadata(name)
        if found is None:
            raise self._missing(name)
        return found[0]

    def holds(self, reference: object) -> bool:
        """Is there a record or object of this id? Reads no payload, so does not verify; garbage is not held."""
        try:
            name = checks.checked_id(reference)
        except CavemanError:
            return False
        return self._held(name)

    def __contains__(self, reference: object) -> bool:
        return self.holds(reference)

    def records(self, after: str = "", limit: int = 100, sort: str = "handle") -> list[RecordInfo]:
        """A page of at most ``limit`` records in the order of their handles, ``after`` exclusive ('' from the start).

        Handles never change their place, so that paging misses nothing that was there before it began. ``sort`` gives
        the first in another order: "newest", "largest" (originals), or "type" (newest first in each); no ``after``.
        """
        if sort not in SORTS or (after and sort != "handle"):
            raise InvalidArguments(f"sort is one of {', '.join(SORTS)}; after goes with handle alone")
        return self._records_page(checks.checked_id(after) if after else "", checks.checked_limit(limit), sort)

    def record_ids(self, after: str = "", limit: int = 100) -> list[str]:
        """A page of handles as `records` orders them. Reads no row, so that a damaged one hides no other."""
        return self._record_ids_page(checks.checked_id(after) if after else "", checks.checked_limit(limit))

    def damaged(self) -> Iterator[CavemanError]:
        """Read every record and object; yield the error of each that cannot be had, its id as ``reference``."""
        for ids, read in ((self.record_ids, self.get), (self.object_ids, self.get_object)):
            after = ""
            while page := ids(after):
                after = page[-1]
                for name in page:
                    try:
                        read(name)
                    except NotFound:
                        continue  # forgotten since it was listed
                    except (CorruptRecord, StoreUnavailable, InvalidReference) as error:
                        error.reference = name
                        yield error

    def forget(
        self, handles: Iterable[str] | None = None, *, before: str | None = None, everything: bool = False
    ) -> int:
        """Delete by the operator's word and return how many went; each leaves a tombstone.

        Exactly one of: ``handles`` (object ids too; those not here count nothing), ``before`` (an ISO 8601 time,
        exclusive, UTC unless it says otherwise), ``everything``.
        """
        names = self._chosen(handles, before, everything)
        bound = None if before is None else checks.moment(before)
        at = checks.now()
        gone = 0
        with self._writing():
            for name in self._ids(bound) if names is None else names:
                if self._delete(name):
                    self._bury(name, at)
                    gone += 1
        if gone:
            self._give_back()
        return gone

    def withdraw(self, handle: str) -> bool:
        """Undo a put: remove the row, leave no tombstone; False if not here. Only for a door whose own put failed."""
        name = checks.checked_id(handle)
        with self._writing():
            return self._delete(name)

    # ------------------------------------------------------------ typed objects

    def put_object(self, obj: TypedObject) -> TypedObject:
        """Store an object and return it as stored, id, hash, time and lengths filled in.

        Lengths of 0 become that of the data. A second put of the same object changes nothing. Raises Conflict
        (other fields under the id; an id given that these fields do not have), BudgetExceeded, InputTooLarge.
        """
        new = checks.checked_object(obj)
        with self._admitting():
            old = self._object(new.object_id, whole=False)
            same = old is not None and self._same_bytes(new.object_id, new.data)
            if old is None:
                self._make_room(new.object_id, 0, checks.object_size(new))
                new = replace(new, created_at=new.created_at or checks.now())
                self._insert_object(new)
                self._unbury(new.object_id)
                return new
        old = replace(old, data=new.data)
        if not same or not checks.same_object(old, new):
            message = f"{new.object_id} is taken by an object with other fields; the first stays"
            raise Conflict(message, reference=new.object_id)
        return old

    def get_object(self, object_id: str) -> TypedObject:
        """The object, its data verified against ``content_hash`` and its fields against the id. Raises as `get`."""
        name = checks.checked_id(object_id)
        found = self._object(name)
        if found is None:
            raise self._missing(name)
        return checks.verified_object(found)

    def objects(self, session_id: str, limit: int = 100) -> list[TypedObject]:
        """A session's objects, newest first, each verified.

        One that is damaged does not hide the others: it is left out. `get_object` and `damaged` say so of it.
        """
        names = self._object_names(checks.checked_text("session_id", session_id), None, checks.checked_limit(limit))
        return list(self._sound_objects(names))

    def session_object_ids(self, session_id: str) -> list[str]:
        """The ids of a session's objects, newest first. Reads no data, so that a damaged object hides no other."""
        return self._object_names(checks.checked_text("session_id", session_id), None, checks.MOST)

    def _sound_objects(self, names: Iterable[str]) -> Iterator[TypedObject]:
        for name in names:
            with suppress(CorruptRecord, NotFound, InvalidReference):  # damaged; forgotten since; no id at all
                yield self.get_object(name)

    def object_ids(self, after: str = "", limit: int = 100) -> list[str]:
        """A page of at most ``limit`` object ids of all sessions in their order, ``after`` exclusive."""
        return self._object_ids_page(checks.checked_id(after) if after else "", checks.checked_limit(limit))

    def set_currentness(self, object_id: str, value: str) -> None:
        """Set it to current, stale or archived. Raises NotFound, Forgotten."""
        self._set_state(object_id, "currentness", value)

    def set_lifecycle(self, object_id: str, value: str) -> None:
        """Set it to hot, warm, cold or archived. Raises NotFound, Forgotten."""
        self._set_state(object_id, "lifecycle", value)

    def task_decision(self, session_id: str, decision_id: str) -> TypedObject:
        """The session's newest TaskDecision whose data is a JSON object with this ``decision_id``. Raises NotFound."""
        checks.checked_text("decision_id", decision_id)
        names = self._object_names(checks.checked_text("session_id", session_id), "TaskDecision", checks.MOST)
        for obj in self._sound_objects(names):
            if checks.decision_id(obj.data) == decision_id:
                return obj
        raise NotFound("this session holds no TaskDecision with that decision_id; do not retry, put it first")

    # ------------------------------------------------------------ the whole

    def stats(self) -> Stats:
        """Counts and sizes. ``storage_full``: the budget is used up, or as much is used as when a put was refused."""
        totals = self._totals()
        before, after = totals.tokens_before, totals.tokens_after
        return Stats(
            records=totals.records,
            objects=totals.objects,
            tokens_before=before,
            tokens_after=after,
            ratio=(before - after) / before if before else 0.0,
            storage_bytes=totals.used,
            max_storage_bytes=self.max_bytes,
            storage_full=totals.used >= min(self.max_bytes, self._number("full_from", self.max_bytes)),
            refused=self._number("refused", 0),
            refused_at=self._note("refused_at"),
        )

    @abstractmethod
    def close(self) -> None:
        """Let go of the file or the rows. Closing twice is fine; any other call afterwards raises StoreUnavailable."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ rules

    @contextmanager
    def _admitting(self) -> Iterator[None]:
        """A writing whose refusal for want of room is counted."""
        try:
            with self._writing():
                yield
        except BudgetExceeded:
            with suppress(CavemanError), self._writing():  # the count matters less than the answer
                self._count_refusal()
            raise

    def _make_room(self, name: str, held: int, needed: int) -> None:
        used = self._totals().used
        if used - held + needed > self.max_bytes:
            message = (
                f"{name} needs {needed - held} bytes and {max(0, self.max_bytes - used)} of {self.max_bytes} are free;"
                " nothing was stored and nothing deleted: raise the budget, or forget records, then put it again"
            )
            raise BudgetExceeded(message, reference=name)

    def _count_refusal(self) -> None:
        used = self._totals().used
        self._set_note("refused", str(self._number("refused", 0) + 1))
        self._set_note("refused_at", checks.now())
        # Below four fifths it was the payload that was large, not the store that was full.
        self._set_note("full_from", str(used if used * 5 >= self.max_bytes * 4 else self.max_bytes))

    def _number(self, key: str, default: int) -> int:
        value = self._note(key)
        return int(value) if value.isdecimal() else default

    def _missing(self, name: str) -> NotFound:
        if buried := self._buried(name):
            message = f"{name} was deleted by the operator on {buried[:10]}; do not retry, run the tool again"
            return Forgotten(message, reference=name)
        if self.after_loss:
            message = f"{name} is not in this store; the one before it was lost with its process: run the tool again"
            return StoreReset(message, reference=name)
        return NotFound(f"{name} is not in this store; do not retry, run the tool again", reference=name)

    def _chosen(self, handles: Iterable[str] | None, before: str | None, everything: bool) -> list[str] | None:
        if (handles is not None) + (before is not None) + (everything is True) != 1:
            raise InvalidArguments("forget takes exactly one of: a list of handles, before=time, everything=True")
        return None if handles is None else checks.checked_names(handles)

    def _set_state(self, object_id: str, field: str, value: str) -> None:
        name = checks.checked_id(object_id)
        checks.checked_state(field, value)
        with self._writing():
            if not self._set_object_field(name, field, value):
                raise self._missing(name)

    # ------------------------------------------------------------ raw operations, by the backend

    @abstractmethod
    def _writing(self) -> AbstractContextManager[None]:
        """All or nothing, and nobody else writes meanwhile. Not entered twice by one thread."""

    @abstractmethod
    def _record(self, name: str, whole: bool = True) -> Recovery | None:
        """``whole`` False: the original may be left empty, so that a large one is not read."""

    @abstractmethod
    def _same_bytes(self, name: str, data: bytes) -> bool:
        """Are these the original, or the data, of this id? Large ones are compared piece by piece."""

    @abstractmethod
    def _original(self, name: str) -> bytes | None: ...
    @abstractmethod
    def _metadata(self, name: str) -> tuple[bytes | None] | None:
        """None without such a record."""

    @abstractmethod
    def _held(self, name: str) -> bool:
        """Is there a record or object of this id? Reads no payload."""

    @abstractmethod
    def _insert(self, name: str, record: Recovery) -> None: ...
    @abstractmethod
    def _update(self, name: str, record: Recovery) -> None:
        """Write accounting and metadata; the original is the one that is there."""

    @abstractmethod
    def _records_page(self, after: str, limit: int, sort: str) -> list[RecordInfo]: ...
    @abstractmethod
    def _record_ids_page(self, after: str, limit: int) -> list[str]: ...
    @abstractmethod
    def _object(self, name: str, whole: bool = True) -> TypedObject | None:
        """``whole`` False: the data may be left empty."""

    @abstractmethod
    def _insert_object(self, obj: TypedObject) -> None: ...
    @abstractmethod
    def _object_names(self, session_id: str, type: str | None, limit: int) -> list[str]:
        """By ``created_at``, newest first; of one time, the last inserted first."""

    @abstractmethod
    def _object_ids_page(self, after: str, limit: int) -> list[str]: ...
    @abstractmethod
    def _set_object_field(self, name: str, field: str, value: str) -> bool:
        """False without such an object. ``field`` is currentness or lifecycle."""

    @abstractmethod
    def _delete(self, name: str) -> bool:
        """Delete a record or an object; False if there was none."""

    @abstractmethod
    def _ids(self, before: str | None) -> list[str]:
        """Ids of all records and objects, or of those whose ``created_at`` is before that time (without its Z)."""

    @abstractmethod
    def _totals(self) -> Totals:
        """Kept, not recounted."""

    @abstractmethod
    def _bury(self, name: str, at: str) -> None: ...
    @abstractmethod
    def _unbury(self, name: str) -> None: ...
    @abstractmethod
    def _buried(self, name: str) -> str:
        """When it was forgotten, or ''."""

    @abstractmethod
    def _note(self, key: str) -> str:
        """What `_set_note` wrote last, or ''."""

    @abstractmethod
    def _set_note(self, key: str, value: str) -> None: ...

    def _give_back(self) -> None:  # noqa: B027 - a backend without a file has nothing to give back
        """Return the room of deleted rows to the system, as far as nobody is in the way."""
