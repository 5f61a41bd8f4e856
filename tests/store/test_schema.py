"""Versions of the schema: kept, brought up to date in one transaction, and newer ones refused politely."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_sqlite import OLD_FILE, kept, record, recount

from caveman_wasm.errors import StoreUnavailable, UnsupportedVersion
from caveman_wasm.references import handle
from caveman_wasm.store import open_store, schema
from caveman_wasm.store.connection import ConnectedStore

ROWS = [b"row %d " % n * 50 for n in range(20)]
# A step of the future, to see how files get from one version to the next.
NEXT = (
    "CREATE TABLE caveman_future (x INTEGER)",
    "INSERT INTO caveman_future VALUES (1)",
    "INSERT INTO caveman_future VALUES (2)",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of the original engine."""
    path = tmp_path / "ccr.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(OLD_FILE)
        for row in ROWS:
            values = (handle(row), "2025-05-01T10:00:00.123456789Z", "log", "log", 50, 20, row)
            db.execute("INSERT INTO recoveries VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    path.chmod(0o600)
    return path


def shape(path: Path) -> tuple[list[Any], list[Any]]:
    """All that the file's schema says, and the notes, less those that differ from file to file."""
    with closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        ours = any(name == "caveman_notes" for _, name, _ in tables)
        notes = db.execute("SELECT * FROM caveman_notes WHERE key <> 'store_id'").fetchall() if ours else []
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return tables, notes


def assert_whole(path: Path) -> None:
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        assert {handle(store.get(handle(row))) for row in ROWS} == set(map(handle, ROWS))
        assert kept(store) == recount(db)
        assert store.get(store.put(record(b"new"))) == b"new"
        assert kept(store) == recount(db)
        store.forget([handle(b"new")])


def open_and_stop(path: Path, at: int, how: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Open the store in a process that is killed, or that fails, before its statement number ``at``; had it so many?"""
    run, count = ConnectedStore._run, 0

    def run_so_many(self: ConnectedStore, sql: str, values: Any = (), **waiting: bool) -> list[Any]:
        nonlocal count
        if (self._db.in_transaction and sql != "COMMIT") or how == "killed":
            count += 1
            if count > at:
                if how == "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise StoreUnavailable("the disk went away")
        return run(self, sql, values, **waiting)

    child = os.fork()
    if child == 0:
        try:
            monkeypatch.setattr(ConnectedStore, "_run", run_so_many)
            open_store(path).close()
            os._exit(0)
        except StoreUnavailable:
            os._exit(3)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, 3 if how == "failed" else -signal.SIGKILL)
    return ended != 0


@pytest.mark.parametrize("how", ["killed", "failed"])
@pytest.mark.parametrize("start", ["original engine's", "version 1"])
def test_a_migration_stopped_anywhere_leaves_the_old_file_or_the_new_one(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, how: str
) -> None:
    if start == "version 1":
        open_store(path).close()
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, NEXT))
    begun = path.read_bytes()
    old = shape(path)
    open_store(path).close()
    new = shape(path)
    assert new != old
    seen, at = [], 0
    while True:
        for file in tmp_path.iterdir():
            file.unlink()
        path.write_bytes(begun)
        path.chmod(0o600)
        stopped = open_and_stop(path, at, how, monkeypatch)
        found = shape(path)
        assert found in (old, new), f"before statement {at}"
        seen.append(found == new)
        if at % 4 == 0 or not stopped:
            assert_whole(path)
            assert shape(path) == new
        if not stopped:
            break
        at += 1
    assert seen == sorted(seen)  # first the old, then, from one statement on, the new
    assert len(seen) > len(NEXT)
    print(
        f"{at} processes {how} before a statement of a migration of the {start} file: {seen.count(False)} old, {seen.count(True)} new"
    )


def test_each_step_is_taken_once_and_the_version_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(path) as store:
        assert store._note("schema_version") == str(len(schema.STEPS))
        first = store._note("store_id")
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, NEXT))
    for _ in range(2):
        with open_store(path) as store:
            assert store._note("schema_version") == str(len(schema.STEPS))
            assert store._note("store_id") == first
            assert store._run("SELECT x FROM caveman_future") == [(1,), (2,)]  # type: ignore[attr-defined]
    assert_whole(path)


@pytest.mark.parametrize("name", ["{}", "file:{}?mode=ro"])
def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path, name: str) -> None:
    with open_store(path) as store:
        store._set_note("schema_version", str(len(schema.STEPS) + 1))
    before = path.read_bytes()
    with pytest.raises(UnsupportedVersion, match="newer version of this package; update the package"):
        open_store(name.format(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", ["", "one", "-1"])
def test_a_version_that_is_none_is_damage(path: Path, version: str) -> None:
    with open_store(path) as store:
        store._set_note("schema_version", version)
    with pytest.raises(StoreUnavailable, match="its version is none; run doctor"):
        open_store(path)
