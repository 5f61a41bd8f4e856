"""Many processes and many threads on one file at once: nothing fails, nothing is lost, the totals stay right."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from test_sqlite import insert, kept, record, recount, spawn

from caveman_wasm import Engine
from caveman_wasm.errors import StoreUnavailable
from caveman_wasm.model import Recovery
from caveman_wasm.references import handle
from caveman_wasm.store import Store, connection, open_store, schema

BUDGET = 4 << 30

WRITER = """
import random, sys, time
from caveman_wasm.model import Recovery
from caveman_wasm.store import open_store
path, count, seed, largest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
chance, mine, slowest = random.Random(seed), [], 0.0
with open_store(path, max_bytes=4 << 30) as store:
    for i in range(count):
        size = int(1024 * (largest / 1024) ** chance.random())  # evenly over the orders of magnitude
        payload = b"%d %d " % (seed, i) + chance.randbytes(size)
        started = time.monotonic()
        name = store.put(Recovery("log", "log", 9, 3, payload, b"m"))
        slowest = max(slowest, time.monotonic() - started)
        print(name, flush=True)
        mine.append(name)
        assert store.get(name) == payload
        store.get(chance.choice(mine))
        shared = b"shared %d" % (i % 50)
        assert store.get(store.put(Recovery("log", "log", 9, 3, shared))) == shared
print("slowest", slowest)
"""
READER = """
import sys, time
from caveman_wasm.store import open_store
with open_store(sys.argv[1], max_bytes=4 << 30) as store:
    seen, after = 0, ""
    while input() != "stop":
        for info in store.records(after, 100):
            assert len(store.get(info.handle)) == info.original_bytes
            after, seen = info.handle, seen + 1
        else:
            after = ""
        assert store.stats().storage_bytes >= 0
        print(seen, flush=True)
"""
DOCTOR = """
import os, sqlite3, sys
from caveman_wasm.doors.doctor import examine
os.environ |= {"CAVEMAN_HOME": os.path.dirname(sys.argv[1]), "CAVEMAN_CCR_MAX_BYTES": str(4 << 30)}
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
while input() != "stop":
    for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE"):
        db.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    print(*([it.found for it in examine() if not it.fine] or ["ok"]), flush=True)
"""
COMPRESSOR = """
import sys
from caveman_wasm import Engine
from caveman_wasm.store import open_store
with open_store(sys.argv[1], max_bytes=4 << 30) as store:
    engine, i = Engine(store), 0
    while input() != "stop":
        text = "\\n".join(f"2026-01-01T00:00:{n % 60:02d}Z INFO worker {i} step {n} done" for n in range(400))
        result = engine.compress(text)
        assert result.error is None and result.recovery_handle, (result.reason, result.error)
        assert engine.retrieve(result.recovery_handle) == text.encode()
        i += 1
        print(result.recovery_handle, flush=True)
"""


class Companion:
    """A process that does one round for each line it is sent, until it is told to stop."""

    def __init__(self, code: str, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.rounds: list[str] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._drive, daemon=True)
        self.thread.start()

    def _drive(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        while not self.stopping.is_set():
            try:
                self.process.stdin.write("go\n")
                self.process.stdin.flush()
            except OSError:
                return
            line = self.process.stdout.readline().strip()
            if not line:
                return
            self.rounds.append(line)

    def stop(self) -> list[str]:
        """Its rounds' answers. Fails where it failed."""
        self.stopping.set()
        self.thread.join(60)
        _, error = self.process.communicate("stop\n", timeout=60)
        assert (self.process.returncode, error) == (0, "")
        assert self.rounds
        return self.rounds


def crowd(path: Path, writers: int, puts: int, largest: int, seconds: int) -> None:
    """Writers, two readers, a compressor and a doctor that checkpoints, at once; prints the longest that a put waited."""
    open_store(path, max_bytes=BUDGET).close()
    companions = [Companion(code, path) for code in (READER, READER, DOCTOR, COMPRESSOR)]
    working = [spawn(WRITER, str(path), str(puts), str(n), str(largest)) for n in range(writers)]
    printed = [worker.communicate(timeout=seconds) for worker in working]
    rounds = [companion.stop() for companion in companions]
    assert [(worker.returncode, err) for worker, (_, err) in zip(working, printed, strict=True)] == [(0, "")] * writers
    assert set(rounds[2]) == {"ok"}
    names = {name for out, _ in printed for name in out.split()[:-2]} | set(rounds[3])
    assert len(names) >= writers * puts
    with open_store(path, max_bytes=BUDGET) as store, closing(sqlite3.connect(path)) as db:
        for name in names:
            store.get(name)
        assert kept(store) == recount(db)
        assert store.stats().records == len(names) + min(puts, 50)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    slowest = max(float(out.split()[-1]) for out, _ in printed)
    print(f"{writers} writers, {len(names)} puts, none failed or lost; the slowest took {slowest:.2f} s")


def test_a_few_processes_write_read_compress_and_checkpoint_beside_a_doctor(tmp_path: Path) -> None:
    crowd(tmp_path / "ccr.db", writers=3, puts=25, largest=200_000, seconds=300)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_eight_processes_put_and_get_five_hundred_payloads_of_up_to_a_megabyte_each(tmp_path: Path) -> None:
    crowd(tmp_path / "ccr.db", writers=8, puts=500, largest=1 << 20, seconds=1500)


def test_twenty_processes_start_on_a_file_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "ccr.db"
    starters = [spawn(WRITER, str(path), "1", str(n), "2048") for n in range(20)]
    printed = [starter.communicate(timeout=120) for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 20, printed
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        assert store.stats().records == 21
        assert kept(store) == recount(db)


@contextmanager
def taken(path: Path, *, at_work_for: int = 0) -> Iterator[threading.Event]:
    """Another program has the writer's place until the event is set, or until it has written so many rows."""
    have, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA cache_size = 1")  # what it writes goes to the -wal at once
            db.execute("BEGIN IMMEDIATE")
            have.set()
            for number in range(at_work_for):
                insert(db, "INSERT", f"row {number}", b"x" * 50_000)
                time.sleep(0.05)
            if not at_work_for:
                let_go.wait(60)
            db.execute("COMMIT")

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    assert have.wait(60)
    try:
        yield let_go
    finally:
        let_go.set()
        holder.join(60)


def test_a_writer_waits_for_as_long_as_the_others_get_on(
    sqlite_store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 1.0)
    with taken(path, at_work_for=60):  # three times as long
        assert sqlite_store.get(sqlite_store.put(record(b"patient"))) == b"patient"
    assert sqlite_store.stats().records == 61


def test_a_holder_that_hangs_is_an_error_and_the_caller_has_his_input(
    sqlite_store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
    text = "\n".join(f"2026-01-01T00:00:{n % 60:02d}Z INFO worker 1 step {n} done" for n in range(400))
    with taken(path):
        with pytest.raises(StoreUnavailable, match="another process holds it and has not got on"):
            sqlite_store.put(record(b"payload"))
        result = Engine(sqlite_store).compress(text)
        assert (result.text, result.reason, result.error) == (text, "store_failed", "cave_ccr_unavailable")
    assert Engine(sqlite_store).compress(text).recovery_handle


def test_a_store_waits_with_opening_for_as_long_as_the_others_get_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in schema.SHARED:  # a file of the original engine, to be brought up to date
            db.execute(statement)
        db.execute("PRAGMA journal_mode = WAL")
    path.chmod(0o600)
    monkeypatch.setattr(connection, "PATIENCE", 1.0)
    with taken(path, at_work_for=40), open_store(path) as store:
        assert store.stats().records == 40


def test_while_one_thread_waits_to_write_another_reads(sqlite_store: Store, path: Path) -> None:
    name = sqlite_store.put(record(b"payload"))
    waiting = threading.Thread(target=sqlite_store.put, args=(record(b"later"),), daemon=True)
    with taken(path) as let_go:
        waiting.start()
        for _ in range(50):
            assert sqlite_store.get(name) == b"payload"
        assert waiting.is_alive()
        let_go.set()
        waiting.join(60)
    assert handle(b"later") in sqlite_store


def test_giving_room_back_beside_a_reader_keeps_no_writer_out(sqlite_store: Store, path: Path) -> None:
    names = [sqlite_store.put(record(os.urandom(50_000))) for _ in range(10)]
    with closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(path, timeout=4)) as writer:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM recoveries").fetchone()
        forgetting = threading.Thread(target=sqlite_store.forget, args=(names,), daemon=True)
        forgetting.start()
        turns = 0
        while forgetting.is_alive():
            with writer:
                writer.execute("BEGIN IMMEDIATE")
            turns += 1
        assert turns > 1
        reader.rollback()
    assert sqlite_store.forget([sqlite_store.put(record(b"last"))]) == 1
    assert path.with_name("ccr.db-wal").stat().st_size == 0
    assert path.stat().st_size < 200_000


@pytest.mark.parametrize("where", ["sqlite", "memory"])
def test_threads_share_one_store(tmp_path: Path, where: str) -> None:
    failures: list[BaseException] = []
    with open_store(tmp_path / "ccr.db" if where == "sqlite" else ":memory:") as store:

        def work(seed: int, store: Store) -> None:
            try:
                chance = random.Random(seed)
                for i in range(25):
                    payload = b"%d %d " % (seed, i) + chance.randbytes(chance.randrange(1, 60_000))
                    name = store.put(Recovery("log", "log", 9, 3, payload, b"m"))
                    assert store.get(name) == payload
                    store.put(record(b"shared %d" % i))
                    store.records(limit=5)
                    if i % 5 == 4:
                        assert store.forget([name]) == 1
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(n, store), daemon=True) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert not failures
        assert store.stats().records == 8 * 20 + 25
        assert not list(store.damaged())
        for i in range(25):
            assert handle(b"shared %d" % i) in store
        if where == "sqlite":
            with closing(sqlite3.connect(tmp_path / "ccr.db")) as db:
                assert kept(store) == recount(db)
