"""What only the SQLite store promises: its schema, its pragmas, other programs and other processes on its file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from caveman_wasm.errors import (
    BudgetExceeded,
    Forgotten,
    InvalidArguments,
    StoreUnavailable,
)
from caveman_wasm.model import Recovery, TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import Store, open_store

SOURCE = Path(__file__).parents[2] / "src"

# What the original engine leaves behind: no metadata column, nothing of ours.
OLD_FILE = """
CREATE TABLE recoveries (handle TEXT PRIMARY KEY NOT NULL, created_at TEXT NOT NULL, content_type TEXT NOT NULL,
    compressor TEXT NOT NULL, tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, original BLOB NOT NULL);
CREATE TABLE typed_objects (object_id TEXT PRIMARY KEY NOT NULL, object_type TEXT NOT NULL, content_hash TEXT NOT NULL,
    source TEXT NOT NULL, created_at TEXT NOT NULL, repository_state TEXT NOT NULL, session_id TEXT NOT NULL,
    transform_version TEXT NOT NULL, currentness TEXT NOT NULL, lifecycle TEXT NOT NULL,
    dependencies_json TEXT NOT NULL, original_byte_length INTEGER NOT NULL,
    stored_byte_length INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX typed_objects_session_created ON typed_objects (session_id, created_at DESC);
"""


def record(original: bytes, **fields: Any) -> Recovery:
    return Recovery(
        **{"content_type": "log", "compressor": "log", "tokens_before": 10, "tokens_after": 4} | fields,
        original=original,
    )


def recount(db: sqlite3.Connection) -> tuple[int, int, int, int]:
    size = "length(CAST(original AS BLOB)) + coalesce(length(CAST(metadata AS BLOB)), 0)"
    sums = f"count(*), coalesce(sum({size}), 0), coalesce(sum(tokens_before), 0), coalesce(sum(tokens_after), 0)"
    return db.execute(f"SELECT {sums} FROM recoveries").fetchone()  # type: ignore[no-any-return]


def kept(store: Store) -> tuple[int, int, int, int]:
    totals = store._totals()
    return totals.records, totals.used, totals.tokens_before, totals.tokens_after


def insert(
    db: sqlite3.Connection, how: str, name: str, original: object, metadata: object = None, tokens: int = 3
) -> None:
    values = (name, "2026-01-01T00:00:00.000000001Z", "t", "c", tokens, 1, original, metadata)
    db.execute(f"{how} INTO recoveries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


# ---------------------------------------------------------------- schema and pragmas


def test_the_schema_is_the_published_one(stranger: sqlite3.Connection) -> None:
    def columns(table: str) -> list[tuple[Any, ...]]:
        return [(*row[1:4], row[5]) for row in stranger.execute(f"PRAGMA table_info({table})")]

    assert columns("recoveries") == [
        ("handle", "TEXT", 1, 1),
        ("created_at", "TEXT", 1, 0),
        ("content_type", "TEXT", 1, 0),
        ("compressor", "TEXT", 1, 0),
        ("tokens_before", "INTEGER", 1, 0),
        ("tokens_after", "INTEGER", 1, 0),
        ("original", "BLOB", 1, 0),
        ("metadata", "BLOB", 0, 0),
    ]
    texts = (
        "object_type content_hash source created_at repository_state session_id transform_version currentness lifecycle"
    )
    assert columns("typed_objects") == [
        ("object_id", "TEXT", 1, 1),
        *[(name, "TEXT", 1, 0) for name in texts.split()],
        ("dependencies_json", "TEXT", 1, 0),
        ("original_byte_length", "INTEGER", 1, 0),
        ("stored_byte_length", "INTEGER", 1, 0),
        ("data", "BLOB", 1, 0),
    ]
    index = "SELECT sql FROM sqlite_master WHERE name = 'typed_objects_session_created'"
    assert "(session_id, created_at DESC)" in stranger.execute(index).fetchone()[0]


def test_the_pragmas_read_back_as_promised(sqlite_store: Any) -> None:
    def read(name: str) -> Any:
        return sqlite_store._row(f"PRAGMA {name}")[0]

    assert read("journal_mode") == "wal"
    assert read("busy_timeout") == 5000
    assert read("synchronous") == 2
    assert read("auto_vacuum") == 2


def test_physical_limits_follow_the_budget(tmp_path: Path) -> None:
    def limits(max_bytes: int) -> tuple[int, int, int]:
        with open_store(tmp_path / "ccr.db", max_bytes=max_bytes) as store:
            names = ("max_page_count", "wal_autocheckpoint", "journal_size_limit")
            return tuple(store._row(f"PRAGMA {name}")[0] for name in names)  # type: ignore[attr-defined]

    small, large = limits(1_000_000), limits(1_000_000_000)
    assert all(a < b for a, b in zip(small, large, strict=True))
    assert 1_000_000 <= small[0] * 4096 <= 12_000_000


def test_memory_is_a_path_too() -> None:
    with open_store(":memory:") as store:
        assert store.get(store.put(record(b"abc"))) == b"abc"
        store.forget(everything=True)
        assert store.stats().storage_bytes == 0


def test_a_store_is_found_again_with_everything_in_it(path: Path) -> None:
    with open_store(path, max_bytes=100) as store:
        name, gone = store.put(record(b"abc", metadata=b"m")), store.put(record(b"def"))
        obj = store.put_object(TypedObject("TestResult", "s1", b"data", dependencies=("a",)))
        store.forget([gone])
        with pytest.raises(BudgetExceeded):
            store.put(record(b"x" * 200))
        before = store.stats()
    with open_store(path, max_bytes=100) as store:
        assert store.get(name) == b"abc"
        assert store.get_object(obj.object_id) == obj
        with pytest.raises(Forgotten):
            store.get(gone)
        assert store.stats() == before


def test_small_payloads_fill_the_whole_budget_before_the_page_limit_does(tmp_path: Path) -> None:
    with open_store(tmp_path / "ccr.db", max_bytes=2_000_000) as store:
        with store._writing():
            for _ in range(3_900):
                original = os.urandom(512)
                store._insert(handle(original), record(original, created_at="2026-01-01T00:00:00.000000000Z"))
        assert store.stats().storage_bytes == 3_900 * 512
        with pytest.raises(BudgetExceeded, match=r"needs 3500 bytes and 3200 of 2000000 are free"):
            store.put(record(os.urandom(3_500)))


def test_a_full_file_is_over_budget_and_recovers(sqlite_store: Any) -> None:
    first = sqlite_store.put(record(b"a" * 100_000))
    sqlite_store._run(f"PRAGMA max_page_count = {sqlite_store._row('PRAGMA page_count')[0] + 2}")
    with pytest.raises(BudgetExceeded, match="no room"):
        sqlite_store.put(record(b"b" * 100_000))
    assert sqlite_store.get(first) == b"a" * 100_000
    assert sqlite_store.stats().refused == 1
    assert sqlite_store.stats().records == 1
    sqlite_store._run("PRAGMA max_page_count = 100000")
    assert sqlite_store.get(sqlite_store.put(record(b"b" * 100_000))) == b"b" * 100_000


def test_forgetting_gives_room_back_to_the_file_system(sqlite_store: Store, path: Path) -> None:
    names = [sqlite_store.put(record(os.urandom(300_000))) for _ in range(10)]
    assert path.stat().st_size + path.with_name("ccr.db-wal").stat().st_size > 3_000_000
    sqlite_store.forget(names)
    assert path.stat().st_size < 200_000
    assert path.with_name("ccr.db-wal").stat().st_size == 0


# ---------------------------------------------------------------- fork


def test_a_connection_that_came_through_fork_is_not_used(sqlite_store: Store, path: Path) -> None:
    name = sqlite_store.put(record(b"payload"))
    child = os.fork()
    if child == 0:
        try:
            sqlite_store.get(name)
        except StoreUnavailable as error:
            os._exit(7 if "another process" in str(error) else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert sqlite_store.get(name) == b"payload"


# ---------------------------------------------------------------- budget by the environment


def test_the_environment_overrides_the_budget(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", "1234")
    with open_store(path) as store:
        assert store.stats().max_storage_bytes == 1234
    with open_store(path, max_bytes=99) as store:
        assert store.stats().max_storage_bytes == 1234


@pytest.mark.parametrize("value", ["", "0", "-1", "1.5", "512MiB", "1_000", " 5", "１２", "9" * 40])
def test_a_budget_that_is_no_positive_integer_fails_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", value)
    with pytest.raises(InvalidArguments, match="CAVEMAN_CCR_MAX_BYTES"):
        open_store(path)
    assert not path.exists()


@pytest.mark.parametrize("value", [0, -1, 1.5, "100", True, 2**62])
def test_a_budget_argument_is_a_positive_int(path: Path, value: Any) -> None:
    with pytest.raises(InvalidArguments):
        open_store(path, max_bytes=value)


# ---------------------------------------------------------------- processes and start-up


def spawn(code: str, *arguments: str) -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


PUTTER = """
import sys
from caveman_wasm.model import Recovery
from caveman_wasm.store import open_store
with open_store(sys.argv[1]) as store:
    for i in range(50):
        payload = f"{sys.argv[2]}-{i}-".encode() * (1 + i * 40)
        name = store.put(Recovery("t", "c", 2, 1, payload))
        assert store.get(name) == payload
        shared = store.put(Recovery("t", "c", 2, 1, f"shared {i}".encode()))
        print(name, shared)
"""


def test_processes_put_and_get_on_a_file_that_did_not_exist(path: Path) -> None:
    workers = [spawn(PUTTER, str(path), str(n)) for n in range(4)]
    printed = [worker.communicate(timeout=120) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4, printed
    names = {name for out, _ in printed for name in out.split()}
    assert len(names) == 4 * 50 + 50
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        for name in names:
            store.get(name)
        assert kept(store) == recount(db)
        assert store.stats().records == len(names)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_killed_writer_loses_nothing_that_it_had_said(path: Path) -> None:
    names: list[str] = []
    for round in range(3):
        worker = spawn(PUTTER.replace("print(name, shared)", "print(name, flush=True)"), str(path), f"r{round}")
        assert worker.stdout is not None
        names += [worker.stdout.readline().strip() for _ in range(5 + round)]
        worker.kill()
        worker.communicate(timeout=60)
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        for name in names:
            store.get(name)
        assert kept(store) == recount(db)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_sqlite_is_imported_only_by_who_opens_a_file() -> None:
    code = "import sys, caveman_wasm.store as s; s.open_memory(); print('sqlite3' in sys.modules)"
    out, error = spawn(code).communicate(timeout=60)
    assert (out.strip(), error) == ("False", "")


def test_opening_an_existing_store_takes_little_work(path: Path) -> None:
    with open_store(path) as store:
        store.put(record(b"payload"))
    times = []
    for _ in range(7):
        started = time.process_time()
        open_store(path).close()
        times.append(time.process_time() - started)
    assert sorted(times)[3] < 0.1
