# ruff: noqa: S608 - what is put together here are columns named in this file; values are always bound
"""The native store: one SQLite file of the original engine's schema, for many threads and processes at once.

Every line of SQL about rows is here; the schema and the connection are beside it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from caveman_wasm.errors import StoreUnavailable
from caveman_wasm.model import RecordInfo, Recovery, TypedObject
from caveman_wasm.references import is_object_id
from caveman_wasm.store.base import Totals
from caveman_wasm.store.checks import dependencies_from, dependencies_json
from caveman_wasm.store.connection import MEMORY, ConnectedStore
from caveman_wasm.store.files import ClaimedFile, claim, look, read_only_path
from caveman_wasm.store.schema import size

__all__ = ["SQLiteStore"]

LARGE: Final = 4 * 1024 * 1024  # bytes from which a payload goes in and comes out page by page: slower, not copied
PIECE: Final = 1024 * 1024  # bytes compared at a time


class SQLiteStore(ConnectedStore):
    """``path`` is a file's path, ``:memory:``, or ``file:…?mode=ro`` for a file that is only read."""

    def __init__(self, path: str | os.PathLike[str], max_bytes: int) -> None:
        read_only = read_only_path(path)
        claimed: ClaimedFile | None = None
        if read_only is not None:
            claimed = look(read_only)
        elif path != MEMORY:
            claimed = claim(path)
        super().__init__(claimed, max_bytes, read_only is not None)

    # ------------------------------------------------------------ rows

    def _record(self, name: str, whole: bool = True) -> Recovery | None:
        row = self._completed(name, self._row(_RECOVERY[whole], name), 4)
        return None if row is None else Recovery(*row)

    def _original(self, name: str) -> bytes | None:
        row = self._completed(name, self._row(_ORIGINAL, name), 0)
        return None if row is None else row[0]

    def _completed(self, name: str, row: Sequence[Any] | None, at: int) -> Sequence[Any] | None:
        """The row with its payload, which `_column` leaves out if it is large; None if it has gone meanwhile."""
        if row is None or row[at] is not None:
            return row
        with self._payload(name) as blob:
            return None if blob is None else (*row[:at], blob.read(), *row[at + 1 :])

    def _same_bytes(self, name: str, data: bytes) -> bool:
        with self._payload(name) as blob:
            if blob is None or len(blob) != len(data):
                return False
            return all(blob.read(PIECE) == data[at : at + PIECE] for at in range(0, len(data), PIECE))

    def _payload(self, name: str) -> AbstractContextManager[sqlite3.Blob | None]:
        return self._blob(*_PAYLOADS[is_object_id(name)], name)

    def _metadata(self, name: str) -> tuple[bytes | None] | None:
        row: tuple[bytes | None] | None = self._row(
            "SELECT CAST(metadata AS BLOB) FROM recoveries WHERE handle = ?", name
        )
        return row

    def _held(self, name: str) -> bool:
        sql = "SELECT 1 FROM recoveries WHERE handle = ? UNION ALL SELECT 1 FROM typed_objects WHERE object_id = ?"
        return self._row(sql, name, name) is not None

    def _insert(self, name: str, record: Recovery) -> None:
        large = len(record.original) >= LARGE
        self._run(
            "INSERT INTO recoveries (content_type, compressor, tokens_before, tokens_after, original, metadata,"
            " created_at, handle) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.content_type,
                record.compressor,
                record.tokens_before,
                record.tokens_after,
                b"" if large else record.original,
                b"" if large and record.metadata is not None else record.metadata,
                record.created_at,
                name,
            ),
        )
        if large:
            metadata = {} if record.metadata is None else {"metadata": record.metadata}
            self._pour("recoveries", original=record.original, **metadata)

    def _update(self, name: str, record: Recovery) -> None:
        self._run(
            "UPDATE recoveries SET content_type = ?, compressor = ?, tokens_before = ?, tokens_after = ?, metadata = ?"
            " WHERE handle = ?",
            (
                record.content_type,
                record.compressor,
                record.tokens_before,
                record.tokens_after,
                record.metadata,
                name,
            ),
        )

    def _records_page(self, after: str, limit: int, sort: str) -> list[RecordInfo]:
        rows = self._run(
            "SELECT handle, created_at, content_type, compressor, tokens_before, tokens_after, length(original),"
            f" coalesce(length(metadata), 0) FROM recoveries WHERE handle > ? ORDER BY {_ORDERS[sort]} LIMIT ?",
            (after, limit),
        )
        return [RecordInfo(*row) for row in rows]

    def _record_ids_page(self, after: str, limit: int) -> list[str]:
        # From the index alone, so that a damaged row hides no other.
        sql = "SELECT handle FROM recoveries WHERE handle > ? ORDER BY handle LIMIT ?"
        return [row[0] for row in self._run(sql, (after, limit))]

    def _object(self, name: str, whole: bool = True) -> TypedObject | None:
        row = self._completed(name, self._row(_OBJECT[whole], name), 2)
        return None if row is None else _object_from(row)

    def _insert_object(self, obj: TypedObject) -> None:
        large = len(obj.data) >= LARGE
        self._run(
            "INSERT INTO typed_objects (object_id, object_type, content_hash, source, created_at, repository_state,"
            " session_id, transform_version, currentness, lifecycle, dependencies_json, original_byte_length,"
            " stored_byte_length, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                obj.object_id,
                obj.type,
                obj.content_hash,
                obj.source,
                obj.created_at,
                obj.repository_state,
                obj.session_id,
                obj.transform_version,
                obj.currentness,
                obj.lifecycle,
                dependencies_json(obj),
                obj.original_byte_length,
                obj.stored_byte_length,
                b"" if large else obj.data,
            ),
        )
        if large:
            self._pour("typed_objects", data=obj.data)

    def _object_names(self, session_id: str, type: str | None, limit: int) -> list[str]:
        rows = self._run(
            "SELECT object_id FROM typed_objects WHERE session_id = ? AND (?2 IS NULL OR object_type = ?2)"
            " ORDER BY created_at DESC, rowid DESC LIMIT ?3",
            (session_id, type, limit),
        )
        return [row[0] for row in rows]

    def _object_ids_page(self, after: str, limit: int) -> list[str]:
        sql = "SELECT object_id FROM typed_objects WHERE object_id > ? ORDER BY object_id LIMIT ?"
        return [row[0] for row in self._run(sql, (after, limit))]

    def _set_object_field(self, name: str, field: str, value: str) -> bool:
        if self._row("SELECT 1 FROM typed_objects WHERE object_id = ?", name) is None:
            return False
        self._run(f"UPDATE typed_objects SET {field} = ? WHERE object_id = ?", (value, name))
        return True

    def _delete(self, name: str) -> bool:
        if not self._held(name):
            return False
        self._run("DELETE FROM recoveries WHERE handle = ?", (name,))
        self._run("DELETE FROM typed_objects WHERE object_id = ?", (name,))
        return True

    def _ids(self, before: str | None) -> list[str]:
        rows = self._run(
            "SELECT handle FROM recoveries WHERE ?1 IS NULL OR rtrim(created_at, 'Z') < ?1 UNION ALL"
            " SELECT object_id FROM typed_objects WHERE ?1 IS NULL OR rtrim(created_at, 'Z') < ?1",
            (before,),
        )
        return [row[0] for row in rows]

    def _totals(self) -> Totals:
        rows = self._run("SELECT n, bytes, tokens_before, tokens_after FROM caveman_totals ORDER BY name")
        if len(rows) != 2 or not all(isinstance(value, int) for row in rows for value in row):
            raise StoreUnavailable(f"the store {self.location} is damaged: its totals are none; run doctor")
        records, objects = rows
        return Totals(records[0], objects[0], records[2], records[3], records[1] + objects[1])

    def _bury(self, name: str, at: str) -> None:
        self._run("INSERT OR REPLACE INTO caveman_tombstones VALUES (?, ?)", (name, at))

    def _unbury(self, name: str) -> None:
        self._run("DELETE FROM caveman_tombstones WHERE id = ?", (name,))

    def _buried(self, name: str) -> str:
        row = self._row("SELECT forgotten_at FROM caveman_tombstones WHERE id = ?", name)
        return row[0] if row else ""

    def _note(self, key: str) -> str:
        row = self._row("SELECT value FROM caveman_notes WHERE key = ?", key)
        return row[0] if row else ""

    def _set_note(self, key: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO caveman_notes VALUES (?, ?)", (key, value))

    # ------------------------------------------------------------ for doctor, which only reads

    def flaws(self, most: int = 20) -> list[str]:
        """What SQLite's own check finds, in its words; at most so many. Reads the whole file."""
        return [text for (text,) in self._run(f"PRAGMA integrity_check({int(most)})") if text != "ok"]

    def pragmas(self) -> dict[str, object]:
        """How the file is kept (schema version of this package, journal_mode, page size, vacuum) and what waits."""
        names = ("journal_mode", "page_size", "page_count", "freelist_count", "auto_vacuum", "busy_timeout")
        said: dict[str, object] = {name: self._value(f"PRAGMA {name}") for name in names}
        return {"schema_version": self._checked_version(), **said}

    def recounted(self) -> Totals:
        """The totals counted anew, row by row; to compare with those that are kept."""
        records = self._run(
            "SELECT count(*), coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0),"
            f" coalesce(sum({size('original')} + coalesce({size('metadata')}, 0)), 0)"
            " FROM recoveries"
        )[0]
        objects = self._run(
            f"SELECT count(*), coalesce(sum({size('data')} + {size('dependencies_json')}), 0) FROM typed_objects"
        )[0]
        return Totals(records[0], objects[0], records[1], records[2], records[3] + objects[1])

    def kept(self) -> Totals:
        """The totals as they are kept."""
        return self._totals()

    def check_wal(self) -> None:
        """Raise StoreUnavailable if the ``-wal`` beside the file belongs to another database."""
        self._refuse_a_strangers_wal()


_PAYLOADS: Final = {False: ("recoveries", "handle", "original"), True: ("typed_objects", "object_id", "data")}
_ORDERS: Final = {
    "handle": "handle",
    "newest": "created_at DESC, handle",
    "largest": "length(original) DESC, handle",
    "type": "content_type, created_at DESC, handle",
}


def _column(name: str) -> str:
    """A payload's column: NULL where it is large (a blob's length stands in the row's head)."""
    large = f"typeof({name}) = 'blob' AND length({name}) >= {LARGE}"
    return f"CASE WHEN {large} THEN NULL ELSE CAST({name} AS BLOB) END"


# With the payload, and with '' in its place. In the order of the fields of Recovery and TypedObject. CAST: another
# program may have written text.
_RECOVERY: Final = {
    whole: f"SELECT content_type, compressor, tokens_before, tokens_after, {original}, CAST(metadata AS BLOB),"
    " created_at FROM recoveries WHERE handle = ?"
    for whole, original in ((True, _column("original")), (False, "x''"))
}
_ORIGINAL: Final = f"SELECT {_column('original')} FROM recoveries WHERE handle = ?"
_OBJECT: Final = {
    whole: f"SELECT object_type, session_id, {data}, source, repository_state, transform_version, dependencies_json,"
    " currentness, lifecycle, object_id, content_hash, created_at, original_byte_length, stored_byte_length"
    " FROM typed_objects WHERE object_id = ?"
    for whole, data in ((True, _column("data")), (False, "x''"))
}


def _object_from(row: Sequence[Any]) -> TypedObject:
    fields = list(row)
    fields[6] = dependencies_from(fields[9], fields[6])
    return TypedObject(*fields)
