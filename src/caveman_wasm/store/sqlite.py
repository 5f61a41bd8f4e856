# ruff: noqa: S608 - what is put together here are columns named in this file; values are always bound
"""The native store: one SQLite file of the original engine's schema, for many threads and processes at once.

Every line of SQL is here, but for the schema, which is beside it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from caveman_wasm.errors import BudgetExceeded, CavemanError, StoreUnavailable, UnsupportedVersion
from caveman_wasm.model import RecordInfo, Recovery, TypedObject
from caveman_wasm.store import schema
from caveman_wasm.store.base import Store, Totals
from caveman_wasm.store.checks import dependencies_from, dependencies_json
from caveman_wasm.store.files import ClaimedFile, claim, confirm

__all__ = ["SQLiteStore"]

BUSY_TIMEOUT: Final = 5000  # ms; SPEC 9. Also how long setting up may take in all
PAGE: Final = 4096  # bytes, SQLite's default


class SQLiteStore(Store):
    """One connection behind a lock. ``path`` is a file's path or ``:memory:``."""

    def __init__(self, path: str | os.PathLike[str], max_bytes: int) -> None:
        super().__init__(max_bytes)
        claimed = None if path == ":memory:" else claim(path)
        self.location = claimed.path if claimed else ":memory:"
        self._lock = threading.RLock()  # guards _db: one statement or one transaction at a time
        self._process = os.getpid()
        try:
            # Autocommit: transactions are begun and ended here, in so many words.
            self._db = sqlite3.connect(self.location, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._translated(error) from error
        try:
            self._set_up(claimed)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        with self._lock, suppress(sqlite3.Error):
            self._db.close()

    # ------------------------------------------------------------ running statements

    def _run(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of one statement. A connection that came through fork() is not used: SQLite's locks do not."""
        with self._lock:
            if os.getpid() != self._process:
                raise StoreUnavailable(f"the store {self.location} was opened by another process; open it again here")
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise self._translated(error) from error

    def _row(self, sql: str, *values: object) -> Any:
        """The first row, or None."""
        rows = self._run(sql, values)
        return rows[0] if rows else None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            # IMMEDIATE: a transaction that reads first and is upgraded fails at once, whatever the busy timeout.
            self._run("BEGIN IMMEDIATE")
            try:
                yield
                self._run("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.rollback()
                raise

    def _translated(self, error: sqlite3.Error) -> CavemanError:
        """What SQLite means, in our words; its own could quote a payload."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # the module's own error: no connection any more
            return StoreUnavailable(f"the store {self.location} is closed; open another")
        primary = code & 0xFF
        if primary == sqlite3.SQLITE_FULL:
            return BudgetExceeded(
                f"there is no room for it, on the disk or within the file's page limit ({self.location}); nothing was"
                " stored and nothing deleted: make room, or forget records, then put it again"
            )
        why, then = _REASONS.get(primary, (f"SQLite reports {error.sqlite_errorname}", "run doctor"))
        return StoreUnavailable(f"the store {self.location} cannot be used: {why}; {then}")

    # ------------------------------------------------------------ setting up

    def _set_up(self, claimed: ClaimedFile | None) -> None:
        if claimed:
            confirm(claimed)  # before the first statement: nothing was read or written yet
        self._db.text_factory = _text
        self._until_free(self._prepare)
        self._set_limits()
        if claimed:
            confirm(claimed)  # SQLite has made its sidecars by now

    def _until_free(self, step: Callable[[], None]) -> None:
        """Run a step of the set-up, again while others hold the file: changing to WAL does not wait by itself."""
        deadline = time.monotonic() + BUSY_TIMEOUT / 1000
        self._run("PRAGMA busy_timeout = 100")
        while True:
            try:
                return step()
            except StoreUnavailable as error:
                cause = error.__cause__
                busy = getattr(cause, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or time.monotonic() > deadline:
                    raise
            time.sleep(0.005 + os.getpid() % 40 / 1000)  # processes that started together come apart

    def _prepare(self) -> None:
        known = self._row("SELECT 1 FROM sqlite_master WHERE name = 'caveman_notes'")
        version = int(self._note("schema_version") or 0) if known else 0
        if version > schema.VERSION:
            message = f"the store {self.location} was written by a newer version of this package; update the package"
            raise UnsupportedVersion(message)
        if version == 0:
            self._run("PRAGMA auto_vacuum = INCREMENTAL")  # heeded by an empty file only; forget() gives room back
        self._run("PRAGMA journal_mode = WAL")
        if version == 0:
            self._create_schema()

    def _create_schema(self) -> None:
        with self._writing():
            if self._row("SELECT 1 FROM sqlite_master WHERE name = 'caveman_notes'"):
                return  # another process was faster
            for statement in schema.SHARED:
                self._run(statement)
            columns = [row[1] for row in self._run("PRAGMA table_info(recoveries)")]
            if "metadata" not in columns:
                self._run("ALTER TABLE recoveries ADD COLUMN metadata BLOB")
            for statement in schema.OWN:
                self._run(statement)
            self._set_note("schema_version", str(schema.VERSION))

    def _set_limits(self) -> None:
        """What belongs to a connection: durability, waiting, and physical limits in proportion to the budget."""
        self._run("PRAGMA synchronous = FULL")
        self._run(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
        mode = self._row("PRAGMA journal_mode")[0]
        timeout = self._row("PRAGMA busy_timeout")[0]
        if timeout != BUSY_TIMEOUT or mode != ("memory" if self.location == ":memory:" else "wal"):
            message = f"the store {self.location} does not take WAL and busy_timeout; give it another file system"
            raise StoreUnavailable(message)
        # Small records cost about as much again in row, index and half-filled pages.
        pages = (2 * self.max_bytes + 8 * 1024 * 1024) // PAGE
        self._run(f"PRAGMA max_page_count = {min(pages, 2**32 - 2)}")
        if self.location != ":memory:":
            self._run(f"PRAGMA wal_autocheckpoint = {min(max(self.max_bytes // 128 // PAGE, 100), 1000)}")
            self._run(f"PRAGMA journal_size_limit = {min(max(self.max_bytes // 8, 1024 * 1024), 64 * 1024 * 1024)}")

    def _give_back(self) -> None:
        with suppress(CavemanError):  # the rows are gone; a busy or full disk keeps the room a little longer
            if self._row("PRAGMA auto_vacuum")[0] == 2:
                while self._row("PRAGMA freelist_count")[0]:
                    self._run("PRAGMA incremental_vacuum(2000)")  # in steps: others may write in between
            else:  # a file that another program made
                self._run("VACUUM")
            self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    # ------------------------------------------------------------ rows

    def _record(self, name: str) -> Recovery | None:
        row = self._row(f"SELECT {_RECOVERY} FROM recoveries WHERE handle = ?", name)
        return None if row is None else Recovery(*row)

    def _original(self, name: str) -> bytes | None:
        row = self._row("SELECT CAST(original AS BLOB) FROM recoveries WHERE handle = ?", name)
        return None if row is None else row[0]

    def _metadata(self, name: str) -> tuple[bytes | None] | None:
        row: tuple[bytes | None] | None = self._row(
            "SELECT CAST(metadata AS BLOB) FROM recoveries WHERE handle = ?", name
        )
        return row

    def _held(self, name: str) -> bool:
        sql = "SELECT 1 FROM recoveries WHERE handle = ? UNION ALL SELECT 1 FROM typed_objects WHERE object_id = ?"
        return self._row(sql, name, name) is not None

    def _insert(self, name: str, record: Recovery) -> None:
        self._run(
            "INSERT INTO recoveries (content_type, compressor, tokens_before, tokens_after, original, metadata,"
            " created_at, handle) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.content_type,
                record.compressor,
                record.tokens_before,
                record.tokens_after,
                record.original,
                record.metadata,
                record.created_at,
                name,
            ),
        )

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

    def _records_page(self, after: str, limit: int) -> list[RecordInfo]:
        rows = self._run(
            "SELECT handle, created_at, content_type, compressor, tokens_before, tokens_after, length(original),"
            " coalesce(length(metadata), 0) FROM recoveries WHERE handle > ? ORDER BY handle LIMIT ?",
            (after, limit),
        )
        return [RecordInfo(*row) for row in rows]

    def _object(self, name: str) -> TypedObject | None:
        row = self._row(f"SELECT {_OBJECT} FROM typed_objects WHERE object_id = ?", name)
        return None if row is None else _object_from(row)

    def _insert_object(self, obj: TypedObject) -> None:
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
                obj.data,
            ),
        )

    def _objects_page(self, session_id: str, type: str | None, limit: int) -> list[TypedObject]:
        rows = self._run(
            f"SELECT {_OBJECT} FROM typed_objects WHERE session_id = ? AND (?2 IS NULL OR object_type = ?2)"
            " ORDER BY created_at DESC, rowid DESC LIMIT ?3",
            (session_id, type, limit),
        )
        return [_object_from(row) for row in rows]

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
        records, objects = self._run("SELECT n, bytes, tokens_before, tokens_after FROM caveman_totals ORDER BY name")
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


# In the order of the fields of Recovery and TypedObject. CAST: another program may have written text.
_RECOVERY: Final = (
    "content_type, compressor, tokens_before, tokens_after, CAST(original AS BLOB), CAST(metadata AS BLOB), created_at"
)
_OBJECT: Final = (
    "object_type, session_id, CAST(data AS BLOB), source, repository_state, transform_version, dependencies_json,"
    " currentness, lifecycle, object_id, content_hash, created_at, original_byte_length, stored_byte_length"
)
_REASONS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_BUSY: ("another process has been writing to it for 5 seconds", "try again when it is done"),
    sqlite3.SQLITE_LOCKED: ("another process has been writing to it for 5 seconds", "try again when it is done"),
    sqlite3.SQLITE_NOTADB: ("the file is no SQLite database", "give the store another path"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged or cut short", "run doctor, and export what can still be read"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that it is there and yours"),
    sqlite3.SQLITE_READONLY: ("it may only be read", "check the rights on file and folder"),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "check the disk"),
}


def _text(data: bytes) -> str:
    """TEXT as another program may have left it; ours is always UTF-8."""
    return data.decode("utf-8", "replace")


def _object_from(row: Sequence[Any]) -> TypedObject:
    fields = list(row)
    fields[6] = dependencies_from(fields[9], fields[6])
    return TypedObject(*fields)
