"""The store of the browser: dictionaries behind a lock, for as long as the session lives."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from caveman_wasm.errors import CavemanError, StoreUnavailable
from caveman_wasm.model import RecordInfo, Recovery, TypedObject
from caveman_wasm.store.base import Store, Totals
from caveman_wasm.store.checks import object_size, record_size

__all__ = ["MemoryStore"]


@dataclass(slots=True)
class _Rows:
    records: dict[str, Recovery] = field(default_factory=dict)
    objects: dict[str, TypedObject] = field(default_factory=dict)
    tombstones: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    tokens_before: int = 0
    tokens_after: int = 0
    used: int = 0
    sorted_names: list[str] | None = None  # of records, for paging; None: to be made anew

    def page(self, after: str, limit: int) -> list[str]:
        """Names of records after ``after``, in order."""
        if self.sorted_names is None:
            self.sorted_names = sorted(self.records)
        start = bisect_right(self.sorted_names, after)
        return self.sorted_names[start : start + limit]

    def count(self, record: Recovery, sign: int) -> None:
        self.tokens_before += sign * record.tokens_before
        self.tokens_after += sign * record.tokens_after
        self.used += sign * record_size(record)

    def recount(self) -> None:
        self.tokens_before = self.tokens_after = 0
        self.used = sum(map(object_size, self.objects.values()))
        for record in self.records.values():
            self.count(record, 1)


class MemoryStore(Store):
    """Rows are frozen and bytes immutable, so that handing out a row is handing out a copy."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._kept: _Rows | None = _Rows()
        # Guards _kept. Re-entrant: in WebAssembly a second acquire of a plain Lock would hang for ever.
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            self._kept = None

    @property
    def _rows(self) -> _Rows:
        if self._kept is None:
            raise StoreUnavailable("this store is closed; open another")
        return self._kept

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            rows = self._rows
            try:
                yield
            except CavemanError:
                raise
            except BaseException:  # an interrupt may have come between a row and its count
                rows.sorted_names = None
                rows.recount()
                raise

    def _record(self, name: str, whole: bool = True) -> Recovery | None:
        return self._rows.records.get(name)

    def _same_bytes(self, name: str, data: bytes) -> bool:
        rows = self._rows
        return (rows.records[name].original if name in rows.records else rows.objects[name].data) == data

    def _original(self, name: str) -> bytes | None:
        found = self._rows.records.get(name)
        return None if found is None else found.original

    def _metadata(self, name: str) -> tuple[bytes | None] | None:
        found = self._rows.records.get(name)
        return None if found is None else (found.metadata,)

    def _held(self, name: str) -> bool:
        rows = self._rows
        return name in rows.records or name in rows.objects

    def _insert(self, name: str, record: Recovery) -> None:
        rows = self._rows
        rows.records[name] = record
        rows.sorted_names = None
        rows.count(record, 1)

    def _update(self, name: str, record: Recovery) -> None:
        rows = self._rows
        rows.count(rows.records[name], -1)
        rows.records[name] = record
        rows.count(record, 1)

    def _records_page(self, after: str, limit: int, sort: str) -> list[RecordInfo]:
        with self._lock:
            rows = self._rows
            if sort == "handle":
                return [_info(name, rows.records[name]) for name in rows.page(after, limit)]
            listed = [_info(name, rows.records[name]) for name in sorted(rows.records)]
        if sort != "largest":
            listed.sort(key=lambda info: info.created_at, reverse=True)
        if sort != "newest":
            listed.sort(key=_ORDERS[sort])
        return listed[:limit]

    def _record_ids_page(self, after: str, limit: int) -> list[str]:
        with self._lock:
            return self._rows.page(after, limit)

    def _object(self, name: str, whole: bool = True) -> TypedObject | None:
        return self._rows.objects.get(name)

    def _insert_object(self, obj: TypedObject) -> None:
        rows = self._rows
        rows.objects[obj.object_id] = obj
        rows.used += object_size(obj)

    def _object_names(self, session_id: str, type: str | None, limit: int) -> list[str]:
        with self._lock:
            newest = [obj for obj in reversed(self._rows.objects.values()) if obj.session_id == session_id]
        chosen = [obj for obj in newest if type in (None, obj.type)]
        return [obj.object_id for obj in sorted(chosen, key=lambda obj: obj.created_at, reverse=True)[:limit]]

    def _object_ids_page(self, after: str, limit: int) -> list[str]:
        with self._lock:
            names = sorted(self._rows.objects)
        start = bisect_right(names, after)
        return names[start : start + limit]

    def _set_object_field(self, name: str, field: str, value: str) -> bool:
        objects = self._rows.objects
        if name not in objects:
            return False
        objects[name] = replace(objects[name], **{field: value})  # type: ignore[arg-type]
        return True

    def _delete(self, name: str) -> bool:
        rows = self._rows
        if (record := rows.records.pop(name, None)) is not None:
            rows.sorted_names = None
            rows.count(record, -1)
            return True
        if (obj := rows.objects.pop(name, None)) is not None:
            rows.used -= object_size(obj)
            return True
        return False

    def _ids(self, before: str | None) -> list[str]:
        rows = self._rows
        records = [(name, record.created_at) for name, record in rows.records.items()]
        objects = [(name, obj.created_at) for name, obj in rows.objects.items()]
        return [name for name, at in records + objects if before is None or at.rstrip("Z") < before]

    def _totals(self) -> Totals:
        with self._lock:
            rows = self._rows
            return Totals(len(rows.records), len(rows.objects), rows.tokens_before, rows.tokens_after, rows.used)

    def _bury(self, name: str, at: str) -> None:
        self._rows.tombstones[name] = at

    def _unbury(self, name: str) -> None:
        self._rows.tombstones.pop(name, None)

    def _buried(self, name: str) -> str:
        return self._rows.tombstones.get(name, "")

    def _note(self, key: str) -> str:
        return self._rows.notes.get(key, "")

    def _set_note(self, key: str, value: str) -> None:
        self._rows.notes[key] = value


_ORDERS: Final[dict[str, Callable[[RecordInfo], Any]]] = {
    "largest": lambda info: -info.original_bytes,
    "type": lambda info: info.content_type,
}


def _info(name: str, record: Recovery) -> RecordInfo:
    return RecordInfo(
        name,
        record.created_at,
        record.content_type,
        record.compressor,
        record.tokens_before,
        record.tokens_after,
        len(record.original),
        len(record.metadata or b""),
    )
