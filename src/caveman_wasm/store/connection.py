"""A store's connection to its SQLite file: opening, checking, limits, transactions, and what errors mean.

Rows are sqlite.py's business. One connection behind a lock; ``read_only`` opens create, change and tighten nothing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

from caveman_wasm.errors import BudgetExceeded, CavemanError, StoreUnavailable, UnsupportedVersion
from caveman_wasm.store import schema
from caveman_wasm.store.base import Store
from caveman_wasm.store.files import ClaimedFile, confirm, uri

__all__ = ["ConnectedStore"]

CACHE: Final = 8_000  # KiB: what lies above a million records, and the pages of the few hundred that are asked for
BUSY_TIMEOUT: Final = 5000  # ms that one statement waits; SPEC 9
# Seconds without a sign of life after which whoever holds the file hangs. Twice the timeout of 5 s that programs have
# by custom: so long a checkpoint may keep writers out in silence while it waits for readers.
PATIENCE: Final = 10.0
PAGE: Final = 4096  # bytes, SQLite's default
MEMORY: Final = ":memory:"


class ConnectedStore(Store):
    """The connection of a store. ``claimed`` is None for a database in memory."""

    def __init__(self, claimed: ClaimedFile | None, max_bytes: int, read_only: bool) -> None:
        super().__init__(max_bytes)
        self.location = claimed.path if claimed else MEMORY
        self.read_only = read_only
        self._lock = threading.RLock()  # guards _db: one statement or one transaction at a time
        self._process = os.getpid()
        self._claimed = claimed
        self._unwritable: CavemanError | None = None  # why what is there is read, and nothing can be written for now
        self._as_read = self._pulse()  # what it was like then
        self._open()

    def _open(self) -> None:
        self._connect(uri(self.location, "mode=ro") if self.read_only else self.location)
        try:
            self._confirm()  # before the first statement: nothing was read or written yet
            self._unwritable = None
            try:
                if self.read_only:
                    self._look()
                else:
                    self._set_up()
            except CavemanError as error:
                if _code(error) not in _UNWRITABLE:
                    raise
                self._confirm()
                self._unwritable, self._as_read = error, self._pulse()
                self._look_unchanging(error)
            if self.read_only or self._unwritable:
                self._stand_in()
            self._confirm()  # SQLite has made its sidecars by now
        except BaseException:
            self._db.close()
            raise

    def _open_again(self) -> None:
        self._db.close()
        self._open()

    def _confirm(self) -> None:
        if self._claimed:
            confirm(self._claimed)

    def close(self) -> None:
        with self._lock, suppress(sqlite3.Error):
            self._db.close()

    def _connect(self, where: str) -> None:
        self._db = self._connected(where)
        self._waits = True  # is its busy_timeout what SPEC says, or 0?

    def _connected(self, where: str) -> sqlite3.Connection:
        try:
            # Autocommit: transactions are begun and ended here, in so many words.
            db = sqlite3.connect(
                where,
                timeout=BUSY_TIMEOUT / 1000,
                uri=where.startswith("file:///"),
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.Error as error:
            raise self._translated(error) from error
        db.text_factory = _text
        return db

    # ------------------------------------------------------------ running statements

    def _run(self, sql: str, values: Sequence[object] = (), *, wait: bool = True) -> list[Any]:
        """All rows of one statement; ``wait``: BUSY_TIMEOUT at most, if others are in the way.

        A connection that came through fork() is not used: SQLite's locks do not.
        """
        with self._lock:
            if os.getpid() != self._process:
                raise StoreUnavailable(f"the store {self.location} was opened by another process; open it again here")
            if self._unwritable and self._as_read != self._pulse():
                self._open_again()  # another process has found room
            try:
                if wait is not self._waits and not self._db.in_transaction:  # in one, nobody is in the way
                    self._db.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT if wait else 0}")
                    self._waits = wait
                return self._db.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise self._translated(error) from error

    def _row(self, sql: str, *values: object) -> Any:
        """The first row, or None."""
        rows = self._run(sql, values)
        return rows[0] if rows else None

    def _value(self, sql: str) -> Any:
        """The one value that a statement gives."""
        return self._run(sql)[0][0]

    def _pour(self, table: str, **columns: bytes) -> None:
        """Write the last columns of the row just inserted, page by page: a bound value would be copied twice.

        They become zeros first, by an UPDATE: a row that ends in zeros is never made in memory, but for an INSERT
        that fires a trigger before it.
        """
        with self._lock:
            try:
                rowid = self._value("SELECT last_insert_rowid()")
                zeros = ", ".join(f"{column} = zeroblob({len(data)})" for column, data in columns.items())
                self._run(f"UPDATE {table} SET {zeros} WHERE rowid = {rowid}")  # noqa: S608 - names of ours
                for column, data in columns.items():
                    with self._db.blobopen(table, column, rowid) as blob:
                        blob.write(data)
            except sqlite3.Error as error:
                raise self._translated(error) from error

    @contextmanager
    def _blob(self, table: str, key: str, column: str, name: str) -> Iterator[sqlite3.Blob | None]:
        """One row's value, to be read page by page: a column's value would be copied twice. None without the row.

        In a transaction, so that the row found is the row read.
        """
        with self._lock:
            alone = not self._db.in_transaction
            try:
                if alone:
                    self._run("BEGIN")
                row = self._row(f"SELECT rowid FROM main.{table} WHERE {key} = ?", name)  # noqa: S608 - names of ours
                if row is None:
                    yield None
                else:
                    with self._db.blobopen(table, column, row[0], readonly=True) as blob:
                        yield blob
            except sqlite3.Error as error:
                raise self._translated(error) from error
            finally:
                if alone:
                    with suppress(sqlite3.Error):
                        self._db.rollback()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self.read_only:
            raise StoreUnavailable(f"the store {self.location} was opened for reading only; open it without mode=ro")
        for _ in self._tries():
            with self._lock:
                if self._unwritable:
                    self._open_again()  # there may be room by now
                if self._unwritable:
                    raise self._unwritable
                try:
                    if not self._went(self._begin):
                        continue
                    yield
                    self._run("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        self._db.rollback()
                    raise
                return

    def _begin(self) -> None:
        """IMMEDIATE: a transaction that reads first and is upgraded fails at once, whatever the busy timeout."""
        self._run("BEGIN IMMEDIATE", wait=False)

    def _went(self, step: Callable[[], None]) -> bool:
        """Run a step that does not wait; False while others hold the file."""
        try:
            step()
        except StoreUnavailable as error:
            if _code(error) not in _BUSY:
                raise
            return False
        return True

    def _tries(self) -> Iterator[None]:
        """Comes back to try again, until whoever holds the file has shown no sign of life for PATIENCE.

        Not by SQLite's own waiting: that sleeps ever longer, so that whoever came last is served first, and it ends
        after a fixed time, so that on a slow machine some wait in vain. Here everybody asks equally often, for as
        long as the others get on. What counts is the time slept, not the clock's: a process that the machine does not
        run loses no patience. Other threads use the connection meanwhile.
        """
        yield  # mostly the place is free: all else is for whoever has to wait
        left, seen = PATIENCE, self._pulse()
        while left > 0:
            pause = 0.002 + time.monotonic_ns() // 1000 % 7 / 1000  # uneven: those that came together come apart
            time.sleep(pause)
            now = self._pulse()
            left, seen = (left - pause if now == seen else PATIENCE), now
            yield
        raise StoreUnavailable(f"the store {self.location} cannot be used: {_HELD}")

    def _pulse(self) -> list[tuple[int, int]]:
        """What changes whenever anybody writes: sizes and times of the file and its -wal."""
        states = []
        for path in (self.location, self.location + "-wal"):
            with suppress(OSError):
                state = os.lstat(path)
                states.append((state.st_size, state.st_mtime_ns))
        return states

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

    def _set_up(self) -> None:
        self._refuse_a_strangers_wal()
        for _ in self._tries():
            if self._went(self._prepare):
                break
        self._set_limits()

    def _prepare(self) -> None:
        version = self._checked_version()
        if version == 0:
            self._run("PRAGMA auto_vacuum = INCREMENTAL")  # heeded by an empty file only; forget() gives room back
        self._run("PRAGMA journal_mode = WAL")  # which does not wait, whatever the timeout
        if version < len(schema.STEPS):
            self._migrate()

    def _checked_version(self) -> int:
        """The file's schema version; 0 for an empty file and for one of the original engine."""
        tables = {row[0] for row in self._run("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "caveman_notes" not in tables:
            if tables and "recoveries" not in tables:
                message = f"the file {self.location} is another program's database; give the store another path"
                raise StoreUnavailable(message)
            return 0
        version = self._note("schema_version")
        if not version.isdecimal():
            raise StoreUnavailable(f"the store {self.location} is damaged: its version is none; run doctor")
        if int(version) > len(schema.STEPS):
            message = f"the store {self.location} was written by a newer version of this package; update the package"
            raise UnsupportedVersion(message)
        return int(version)

    def _migrate(self) -> None:
        """Bring the file to this version's schema, in one transaction."""
        with self._writing():
            version = self._checked_version()  # another process may have been faster
            if version == 0:
                for statement in schema.SHARED:
                    self._run(statement)
                if not self._has_metadata():
                    self._run("ALTER TABLE recoveries ADD COLUMN metadata BLOB")
            for step in schema.STEPS[version:]:
                for statement in step:
                    self._run(statement)
            if version == 0:
                self._set_note("store_id", os.urandom(16).hex())
            self._set_note("schema_version", str(len(schema.STEPS)))

    def _has_metadata(self) -> bool:
        return "metadata" in [row[1] for row in self._run("PRAGMA table_info(recoveries)")]

    def _set_limits(self) -> None:
        """What belongs to a connection: durability, waiting, and physical limits in proportion to the budget."""
        self._run("PRAGMA synchronous = FULL")
        self._run(f"PRAGMA cache_size = {-CACHE}")
        mode, timeout = self._value("PRAGMA journal_mode"), self._value("PRAGMA busy_timeout")
        if timeout != BUSY_TIMEOUT or mode != ("memory" if self.location == MEMORY else "wal"):
            message = f"the store {self.location} does not take WAL and busy_timeout; give it another file system"
            raise StoreUnavailable(message)
        # Zeros over what was deleted would need as much room in the -wal: pages that fall free are given back instead.
        self._run("PRAGMA secure_delete = FAST")
        # Small records cost about as much again in row, index and half-filled pages.
        pages = (2 * self.max_bytes + 8 * 1024 * 1024) // PAGE
        self._run(f"PRAGMA max_page_count = {min(pages, 2**32 - 2)}")
        if self.location != MEMORY:
            self._run(f"PRAGMA wal_autocheckpoint = {min(max(self.max_bytes // 128 // PAGE, 100), 1000)}")
            self._run(f"PRAGMA journal_size_limit = {min(max(self.max_bytes // 8, 1024 * 1024), 64 * 1024 * 1024)}")

    def _give_back(self) -> None:
        with suppress(CavemanError):  # the rows are gone; a busy or full disk keeps the room a little longer
            if self._value("PRAGMA auto_vacuum") == 2:
                while self._value("PRAGMA freelist_count"):
                    self._empty_wal(tries=1)  # where little room is left, the next step takes the same
                    with self._writing():  # in steps: others may write in between
                        self._run("PRAGMA incremental_vacuum(2000)")
            else:  # a file that another program made; the set-up asked for INCREMENTAL, which VACUUM brings
                self._run("PRAGMA auto_vacuum = INCREMENTAL")
                self._run("VACUUM")
            self._empty_wal(tries=50)

    def _empty_wal(self, tries: int) -> None:
        """Take the -wal into the file, which gets shorter only by that. So many tries, 20 ms apart.

        SQLite's own waiting for readers would keep all writers out meanwhile.
        """
        for turn in range(tries):
            time.sleep(0.02 if turn else 0)
            ((busy, *_),) = self._run("PRAGMA wal_checkpoint(TRUNCATE)", wait=False)
            if not busy:  # else somebody reads, or writes
                return

    # ------------------------------------------------------------ a -wal of another database

    def _refuse_a_strangers_wal(self) -> None:
        """Raise if the ``-wal`` beside the file is not its own: SQLite would write its pages over ours.

        SQLite does not know either. So the store's id is read twice, without the -wal and through it, by
        connections that write nothing and cannot checkpoint.
        """
        try:
            if self.location == MEMORY or not os.lstat(self.location + "-wal").st_size:
                return
        except OSError:
            return
        own = self._store_id("mode=ro&immutable=1")
        if own and self._store_id("mode=ro") not in (own, None):
            raise StoreUnavailable(
                f"the file {self.location}-wal belongs to another database or is damaged; nothing was touched: move it"
                " away, then open the store again"
            )

    def _store_id(self, options: str) -> str | None:
        """'' where the file is damaged or has none, None where it could not be looked at for now."""
        try:
            with closing(self._connected(uri(self.location, options))) as db:
                row = db.execute("SELECT value FROM caveman_notes WHERE key = 'store_id'").fetchone()
                return str(row[0]) if row else ""
        except sqlite3.Error as error:
            damaged = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # ERROR: no such table
            return "" if error.sqlite_errorcode & 0xFF in damaged else None

    # ------------------------------------------------------------ reading only

    def _look(self) -> None:
        self._run("PRAGMA temp_store = MEMORY")
        # Nothing can be written; but with this SQLite reads a file that was cut short as far as it goes.
        self._run("PRAGMA writable_schema = ON")
        self._run("SELECT 1 FROM sqlite_master")

    def _look_unchanging(self, why: CavemanError) -> None:
        """Where no ``-shm`` can be made, the file alone is read, if the file alone is all there is."""
        try:
            pending = os.lstat(self.location + "-wal").st_size
        except OSError:
            pending = 0
        if pending:
            raise StoreUnavailable(
                f"the store {self.location} has changes in its -wal that cannot be read where nothing can be written;"
                " make room, or copy the folder to a place of your own and open that"
            ) from why
        self._db.close()
        self._connect(uri(self.location, "mode=ro&immutable=1"))
        self._look()

    def _stand_in(self) -> None:
        """Give a file of the original engine what it lacks, in memory."""
        if self._checked_version():
            return
        if not self._row("SELECT 1 FROM sqlite_master WHERE name = 'recoveries'"):
            if self._unwritable:
                raise self._unwritable
            raise StoreUnavailable(f"the file {self.location} holds no store; check the path")
        for statement in schema.STAND_INS:
            self._run(statement)
        if not self._has_metadata():
            self._run("CREATE TEMP VIEW recoveries AS SELECT *, NULL AS metadata FROM main.recoveries")
        for statement in schema.COUNTS:
            self._run(statement)


_HELD: Final = f"another process holds it and has not got on for {PATIENCE:.0f} seconds; try again when it is done"
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
# Nothing can be written: a full disk (which may show as an error in making the -shm), or rights.
_UNWRITABLE: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_REASONS: Final[dict[int, tuple[str, str]]] = {
    **dict.fromkeys(_BUSY, ("another process holds it", "try again when it is done")),
    sqlite3.SQLITE_NOTADB: ("the file is no SQLite database", "give the store another path"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged or cut short", "run doctor, and export what can still be read"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check that it is there and yours"),
    sqlite3.SQLITE_READONLY: ("it may only be read", "check the rights on file and folder"),
    sqlite3.SQLITE_IOERR: ("the disk is full, or reports an error", "make room, or check the disk"),
}


def _code(error: CavemanError) -> int:
    """SQLite's primary code behind one of our errors; 0 where there is none."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF


def _text(data: bytes) -> str:
    """TEXT as another program may have left it; ours is always UTF-8."""
    return data.decode("utf-8", "replace")
