"""Another program on the same file, with plain SQL of the shared schema, knowing nothing of this package."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_sqlite import OLD_FILE, insert, kept, record, recount

from caveman_wasm.errors import Conflict, CorruptRecord
from caveman_wasm.model import TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import Store, open_store


@pytest.fixture
def old_file(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(OLD_FILE)
        for original, at in ((b"old one", "2025-05-01T10:00:00.123456789Z"), (b"old two", "2025-05-01T10:00:00.5Z")):
            values = (handle(original), at, "log", "log", 50, 20, original)
            db.execute("INSERT INTO recoveries VALUES (?, ?, ?, ?, ?, ?, ?)", values)
    path.chmod(0o644)
    return path


def test_a_file_of_the_original_engine_is_read_extended_and_counted(old_file: Path) -> None:
    with open_store(old_file) as store:
        assert store.get(handle(b"old one")) == b"old one"
        assert store.metadata(handle(b"old two")) is None
        assert store.record(handle(b"old one")).created_at == "2025-05-01T10:00:00.123456789Z"
        stats = store.stats()
        assert (stats.records, stats.storage_bytes, stats.tokens_before, stats.tokens_after) == (2, 14, 100, 40)
        store.put(record(b"new", metadata=b"m"))
        store.put(record(b"old one", metadata=b"mm"))
        assert store.stats().storage_bytes == 20
        assert store.record(handle(b"old one")).created_at == "2025-05-01T10:00:00.123456789Z"
        assert store.forget(before="2025-05-01T10:00:00.2Z") == 1
    assert old_file.stat().st_mode & 0o777 == 0o600


def test_the_other_program_still_reads_and_writes_its_columns(old_file: Path) -> None:
    with open_store(old_file) as store, closing(sqlite3.connect(old_file)) as db:
        store.put(record(b"ours"))
        columns = "handle, created_at, content_type, compressor, tokens_before, tokens_after, original"
        theirs = (handle(b"theirs"), "2026-01-01T00:00:00Z", "t", "c", 5, 2, b"theirs")
        with db:
            db.execute(f"INSERT INTO recoveries ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", theirs)
        found = db.execute("SELECT original FROM recoveries WHERE handle = ?", (handle(b"ours"),)).fetchone()
        assert found == (b"ours",)
        assert store.get(handle(b"theirs")) == b"theirs"
        assert kept(store) == recount(db)


def test_after_we_have_closed_it_plain_sql_reads_and_writes_it_and_the_total_is_right(old_file: Path) -> None:
    with open_store(old_file) as store:
        ours = store.put(record(b"ours"))
    columns = "handle, created_at, content_type, compressor, tokens_before, tokens_after, original"
    with closing(sqlite3.connect(old_file)) as db, db:
        assert db.execute("SELECT original FROM recoveries WHERE handle = ?", (ours,)).fetchone() == (b"ours",)
        for how, original, tokens in (("INSERT", b"theirs", 5), ("INSERT OR REPLACE", b"theirs", 7)):
            values = (handle(original), "2026-01-01T00:00:00.000000009Z", "t", "c", tokens, 2, original)
            db.execute(f"{how} INTO recoveries ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        db.execute("DELETE FROM recoveries WHERE handle = ?", (handle(b"old one"),))
        counted = recount(db)
    with open_store(old_file) as store:
        assert kept(store) == counted == (3, len(b"old twoourstheirs"), 67, 26)
        assert store.get(handle(b"theirs")) == b"theirs"


def test_forgetting_in_a_file_of_the_original_engine_gives_room_back_too(old_file: Path) -> None:
    with open_store(old_file) as store:
        store.put(record(os.urandom(2_000_000)))
    assert old_file.stat().st_size > 2_000_000
    with open_store(old_file) as store:
        assert store.forget(everything=True) == 3
        assert store._row("PRAGMA auto_vacuum") == (2,)  # type: ignore[attr-defined]
    assert old_file.stat().st_size < 200_000


@pytest.mark.parametrize("recursive", [False, True])
def test_the_total_stays_right_whatever_plain_sql_does(
    sqlite_store: Store, stranger: sqlite3.Connection, recursive: bool
) -> None:
    stranger.execute(f"PRAGMA recursive_triggers = {recursive:d}")
    upsert = " ON CONFLICT (handle) DO UPDATE SET original = excluded.original, tokens_before = 9"
    steps: list[Any] = [
        lambda: insert(stranger, "INSERT", "a", b"x" * 10),
        lambda: insert(stranger, "INSERT", "b", b"x" * 20, b"meta"),
        lambda: insert(stranger, "INSERT OR REPLACE", "a", b"y" * 7, b"m", tokens=8),
        lambda: insert(stranger, "INSERT OR IGNORE", "a", b"z" * 500),
        lambda: stranger.execute("UPDATE recoveries SET tokens_after = 2 WHERE handle = 'b'"),
        lambda: insert(stranger, "INSERT OR IGNORE", "b", b"z" * 500),
        lambda: stranger.execute("DELETE FROM recoveries WHERE handle = 'a'"),
        lambda: insert(stranger, "REPLACE", "c", "text, not bytes: naïve"),
        lambda: stranger.execute("INSERT INTO recoveries VALUES ('c', '2026', 't', 'c', 1, 1, x'0102', NULL)" + upsert),
        lambda: stranger.execute("UPDATE recoveries SET original = x'00', metadata = 'text' WHERE handle = 'c'"),
        lambda: stranger.execute("UPDATE OR REPLACE recoveries SET handle = 'c' WHERE handle = 'b'"),
        lambda: sqlite_store.put(record(b"ours")),
        lambda: insert(stranger, "INSERT OR REPLACE", handle(b"ours"), b"ours", b"more"),
        lambda: stranger.execute("REPLACE INTO recoveries SELECT * FROM recoveries"),
        lambda: stranger.execute("DELETE FROM recoveries"),
    ]
    for number, step in enumerate(steps):
        step()
        assert kept(sqlite_store) == recount(stranger), f"after step {number}"


OBJECT = "'s', 'h', 'src', '2026', 'r', 'session', 'v', 'current', 'hot'"


@pytest.mark.parametrize("recursive", [False, True])
def test_the_total_of_objects_stays_right_whatever_plain_sql_does(
    sqlite_store: Store, stranger: sqlite3.Connection, recursive: bool
) -> None:
    stranger.execute(f"PRAGMA recursive_triggers = {recursive:d}")

    def put(how: str, name: str, data: str, dependencies: str = "[]") -> str:
        return f"{how} INTO typed_objects VALUES ('{name}', {OBJECT}, '{dependencies}', 1, 1, {data})"

    for statement in (
        put("INSERT", "a", "zeroblob(10)"),
        put("INSERT OR REPLACE", "a", "zeroblob(7)", '["b"]'),
        put("INSERT OR IGNORE", "a", "zeroblob(99)"),
        put("REPLACE", "b", "'naïve'", "null"),
        "UPDATE typed_objects SET data = zeroblob(3) WHERE object_id = 'b'",
        "UPDATE OR REPLACE typed_objects SET object_id = 'a' WHERE object_id = 'b'",
        put("INSERT", "c", "zeroblob(5)"),
        "DELETE FROM typed_objects WHERE object_id = 'a'",
        "DELETE FROM typed_objects",
    ):
        stranger.execute(statement)
        size = "length(CAST(data AS BLOB)) + length(CAST(dependencies_json AS BLOB))"
        counted = stranger.execute(f"SELECT count(*), coalesce(sum({size}), 0) FROM typed_objects").fetchone()
        assert (sqlite_store.stats().objects, sqlite_store.stats().storage_bytes) == counted, statement


def test_a_failed_statement_of_another_program_changes_no_total(
    sqlite_store: Store, stranger: sqlite3.Connection
) -> None:
    insert(stranger, "INSERT", "a", b"x" * 10)
    with pytest.raises(sqlite3.IntegrityError):
        insert(stranger, "INSERT", "a", b"y" * 99)
    with pytest.raises(sqlite3.IntegrityError):
        insert(stranger, "INSERT OR REPLACE", "a", None)
    stranger.execute("BEGIN")
    insert(stranger, "INSERT OR REPLACE", "a", b"z" * 1000)
    stranger.execute("ROLLBACK")
    assert kept(sqlite_store) == recount(stranger) == (1, 10, 3, 1)


_WAYS = st.sampled_from(["INSERT OR REPLACE", "INSERT OR IGNORE", "delete", "update", "rename", "put"])


@given(st.booleans(), st.lists(st.tuples(_WAYS, st.sampled_from("abc"), st.integers(0, 50)), max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_the_total_stays_right_after_any_mixture(
    sqlite_store: Store, stranger: sqlite3.Connection, recursive: bool, steps: list[tuple[str, str, int]]
) -> None:
    stranger.execute(f"PRAGMA recursive_triggers = {recursive:d}")
    for way, name, size in steps:
        if way == "put":
            sqlite_store.put(record(name.encode() * size, tokens_before=size))
        elif way == "delete":
            stranger.execute("DELETE FROM recoveries WHERE handle = ?", (name,))
        elif way == "update":
            stranger.execute("UPDATE recoveries SET original = ? WHERE handle = ?", (b"u" * size, name))
        elif way == "rename":
            stranger.execute("UPDATE OR REPLACE recoveries SET handle = 'a' WHERE handle = ?", (name,))
        else:
            insert(stranger, way, name, b"x" * size)
        assert kept(sqlite_store) == recount(stranger)


def test_objects_of_another_program_count_and_come_back(sqlite_store: Store, stranger: sqlite3.Connection) -> None:
    ours = sqlite_store.put_object(
        TypedObject("TestResult", "s1", b"data", created_at="2026-01-01T00:00:00.000000001Z")
    )
    copied = stranger.execute("SELECT * FROM typed_objects").fetchone()
    assert sqlite_store.stats().storage_bytes == 6
    stranger.execute("DELETE FROM typed_objects")
    assert (sqlite_store.stats().storage_bytes, sqlite_store.stats().objects) == (0, 0)
    row = list(copied)
    row[10] = "null"  # as an empty list is written by some
    stranger.execute(f"INSERT INTO typed_objects VALUES ({', '.join('?' * 14)})", row)
    assert (sqlite_store.stats().storage_bytes, sqlite_store.stats().objects) == (8, 1)
    assert sqlite_store.get_object(ours.object_id) == ours
    stranger.execute("UPDATE typed_objects SET dependencies_json = '{\"a\": 1}'")
    with pytest.raises(CorruptRecord):
        sqlite_store.get_object(ours.object_id)


def test_a_row_that_another_program_spoiled_is_noticed(sqlite_store: Store, stranger: sqlite3.Connection) -> None:
    name = sqlite_store.put(record(b"payload"))
    stranger.execute("UPDATE recoveries SET original = 'payload', content_type = CAST(x'ff' AS TEXT)")
    assert sqlite_store.get(name) == b"payload"  # text of the same bytes is the same bytes
    stranger.execute("UPDATE recoveries SET original = x'ff'")
    with pytest.raises(CorruptRecord):
        sqlite_store.get(name)
    with pytest.raises(Conflict):
        sqlite_store.put(record(b"payload"))


def test_while_another_program_writes_readers_read(sqlite_store: Store, stranger: sqlite3.Connection) -> None:
    name = sqlite_store.put(record(b"payload"))
    stranger.execute("BEGIN IMMEDIATE")
    insert(stranger, "INSERT", "a", b"x")
    assert sqlite_store.get(name) == b"payload"
    assert sqlite_store.stats().records == 1
    stranger.execute("COMMIT")
    assert sqlite_store.stats().records == 2


def test_a_writer_waits_for_another_program_and_then_writes(sqlite_store: Store, path: Path) -> None:
    taken, free = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            taken.set()
            free.wait(10)
            time.sleep(0.3)
            db.execute("COMMIT")

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    assert taken.wait(10)
    free.set()
    assert sqlite_store.get(sqlite_store.put(record(b"patient"))) == b"patient"
    holder.join(10)
