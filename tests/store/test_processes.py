"""Many processes and many threads on one file at once: nothing fails, nothing is lost, the totals stay right."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from test_sqlite import kept, record, recount, spawn

from caveman_wasm.model import Recovery
from caveman_wasm.references import handle
from caveman_wasm.store import Store, open_store

BUDGET = 4 << 30

WRITER = """
import os, random, sys, time
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
CHECKPOINTER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
while input() != "stop":
    for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE"):
        db.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
    print(db.execute("PRAGMA quick_check").fetchone()[0], flush=True)
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


def crowd(path: Path, writers: int, puts: int, largest: int, seconds: int) -> float:
    """Writers, two readers, a compressor and a checkpointer at once; returns the longest that a put waited."""
    open_store(path, max_bytes=BUDGET).close()
    companions = [Companion(code, path) for code in (READER, READER, CHECKPOINTER, COMPRESSOR)]
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
    return max(float(out.split()[-1]) for out, _ in printed)


def test_a_few_processes_write_read_compress_and_checkpoint_at_once(tmp_path: Path) -> None:
    assert crowd(tmp_path / "ccr.db", writers=3, puts=25, largest=200_000, seconds=120) < 5


@pytest.mark.long
def test_eight_processes_put_and_get_five_hundred_payloads_of_up_to_a_megabyte_each(tmp_path: Path) -> None:
    slowest = crowd(tmp_path / "ccr.db", writers=8, puts=500, largest=1 << 20, seconds=900)
    print(f"slowest put {slowest:.2f} s")
    assert slowest < 5  # where "database is locked" would have come


def test_twenty_processes_start_on_a_file_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "ccr.db"
    starters = [spawn(WRITER, str(path), "1", str(n), "2048") for n in range(20)]
    printed = [starter.communicate(timeout=120) for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 20, printed
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        assert store.stats().records == 21
        assert kept(store) == recount(db)


def test_processes_take_turns_so_that_none_waits_for_long(tmp_path: Path) -> None:
    """SQLite's own waiting lets the last to come overtake: here the longest wait stays near the work before it."""
    path = tmp_path / "ccr.db"
    open_store(path).close()
    started = time.monotonic()
    workers = [spawn(WRITER, str(path), "40", str(n), "4096") for n in range(6)]
    printed = [worker.communicate(timeout=120) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 6, printed
    took = time.monotonic() - started
    assert max(float(out.split()[-1]) for out, _ in printed) < max(1.0, took / 2)


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
