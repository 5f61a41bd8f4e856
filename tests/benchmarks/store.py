"""What a put and a get of 4 KB cost as the store grows, against bare ``sqlite3``, and the memory that 64 MiB takes.

    python tests/benchmarks/store.py [--records 1000 100000 1000000] [--rounds 400]

Two files grow side by side: a store, and the shared schema alone in a file with the same pragmas. At each size new
records are put into both by turns, so that both meet the same disk, and random ones are read from both: at each size
out of so many different ones (else the memory of this machine is measured: random reads out of gigabytes cost bare
SQLite more, too, than out of a file that the processor's caches hold). A million records take about 11 GB of disk and some minutes; ``--folder`` says where. Times are means of the middle nine tenths,
so that neither a stall of the disk nor the checkpoint, which both files pay alike, decides. The process exits with 1
where a ratio is over its limit (issue: growth 1.3, put 1.5, get 1.3, memory 3).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from caveman_wasm.model import MAX_PAYLOAD, Recovery
from caveman_wasm.references import handle
from caveman_wasm.store import open_store, schema

BUDGET = 1 << 40
SIZE = 4096  # bytes a record
ASKED = 300  # different records that are read, at every size
BATCH = 5_000  # rows a transaction while filling
LIMITS = {"growth": 1.3, "put": 1.5, "get": 1.3, "memory": 3.0}
INSERT = "INSERT INTO recoveries VALUES (?, ?, 'log', 'log', 900, 200, ?, ?)"
SELECT = "SELECT original FROM recoveries WHERE handle = ?"
WHEN = "2026-01-01T00:00:00.000000000Z"
METADATA = b'{"format":"log","version":1}'
PRAGMAS = (
    "auto_vacuum",
    "journal_mode",
    "synchronous",
    "busy_timeout",
    "cache_size",
    "wal_autocheckpoint",
    "journal_size_limit",
)


def bare(path: Path, like: Any) -> sqlite3.Connection:
    """The shared schema in a file of its own, every pragma as the store has it."""
    db = sqlite3.connect(path, isolation_level=None)
    for name in PRAGMAS:
        db.execute(f"PRAGMA {name} = {like._row(f'PRAGMA {name}')[0]}")
    for statement in schema.SHARED:
        db.execute(statement)
    return db


def fill(paths: list[Path], have: int, want: int) -> list[str]:
    """Add records to both files, in large transactions; returns some of their handles."""
    files = [sqlite3.connect(path, isolation_level=None) for path in paths]
    for db in files:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -262144")
    some: list[str] = []
    for start in range(have, want, BATCH):
        originals = [os.urandom(SIZE) for _ in range(min(BATCH, want - start))]
        rows = [(handle(original), WHEN, original, METADATA) for original in originals]
        some += [row[0] for row in random.sample(rows, min(len(rows), 1000 if not start else 50))]
        for db in files:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(INSERT, rows)
            db.execute("COMMIT")
    for db in files:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
    os.sync()  # what filling left to write must not disturb the measuring
    return some


def alternating(first: Callable[[Any], object], second: Callable[[Any], object], inputs: list[Any]) -> list[float]:
    """Microseconds that each takes an input, in the middle nine tenths of them."""
    times: tuple[list[int], list[int]] = ([], [])
    for turn, value in enumerate(inputs):
        for which in (turn % 2, 1 - turn % 2):
            started = time.perf_counter_ns()
            (first, second)[which](value)
            times[which].append(time.perf_counter_ns() - started)
    cut = len(inputs) // 20
    return [sum(sorted(each)[cut : len(each) - cut]) / (len(each) - 2 * cut) / 1000 for each in times]


def measure(store: Any, db: sqlite3.Connection, rounds: int, handles: list[str]) -> list[float]:
    """put, bare INSERT, get, bare SELECT + SHA-256, in microseconds."""

    def insert(original: bytes) -> None:
        db.execute("BEGIN IMMEDIATE")
        db.execute(INSERT, (handle(original), WHEN, original, METADATA))
        db.execute("COMMIT")

    def select(name: str) -> None:
        hashlib.sha256(db.execute(SELECT, (name,)).fetchone()[0]).digest()

    def put(original: bytes) -> None:
        store.put(Recovery("log", "log", 900, 200, original, METADATA))

    puts = alternating(put, insert, [os.urandom(SIZE) for _ in range(rounds)])
    gets = alternating(store.get, select, random.choices(handles, k=rounds * 10))
    return puts + gets


# The payload is made inside, so that the peak counts it once; the base is what the process needed before.
PEAK = """
import os, sys
from caveman_wasm.model import Recovery
from caveman_wasm.store import open_store
store = open_store(sys.argv[1])
name = store.put(Recovery("t", "c", 2, 1, b"warm", b"m"))
store.get(name)
def most():  # Linux: unlike getrusage's, this one starts anew with the program
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
base = most()
if sys.argv[2] == "get":
    store.get(sys.argv[3])
else:
    print(store.put(Recovery("t", "c", 2, 1, os.urandom(int(sys.argv[3])), b"m")))
print((most() - base) * 1024)
"""


def peaks(path: Path, size: int = MAX_PAYLOAD) -> tuple[float, float]:
    """Peak memory above the base, ÷ payload, of a put (its payload included) and of a get."""

    def run(*arguments: str) -> list[str]:
        command = [sys.executable, "-c", PEAK, str(path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout.split()

    name, put = run("put", str(size))
    return int(put) / size, int(run("get", name)[0]) / size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--folder", type=Path, help="where the files lie while it runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        return table(Path(folder), sorted(arguments.records), arguments.rounds)


def table(folder: Path, sizes: list[int], rounds: int) -> int:
    paths, rows, handles, have = [folder / "ours.db", folder / "bare.db"], [], [], 0
    with open_store(paths[0], max_bytes=BUDGET) as store:
        bare(paths[1], store).close()
    print(
        "| records | put µs | INSERT µs | ratio | get µs | SELECT+SHA-256 µs | ratio |\n|---|---|---|---|---|---|---|"
    )
    for size in sizes:
        handles += fill(paths, have, size)
        with open_store(paths[0], max_bytes=BUDGET) as store:
            db = bare(paths[1], store)
            asked = random.sample(handles, ASKED)
            measure(store, db, 50, asked)  # both warm
            put, insert, get, select = measure(store, db, rounds, asked)
            db.close()
            have = store.stats().records
        rows.append((put, put / insert, get, get / select, insert, select))
        print(
            f"| {size:,} | {put:.0f} | {insert:.0f} | {put / insert:.2f} | {get:.1f} | {select:.1f} | {get / select:.2f} |"
        )
        sys.stdout.flush()
    memory = peaks(folder / "large.db")
    growth = (rows[-1][0] / rows[0][0], rows[-1][2] / rows[0][2])
    bare_growth = (rows[-1][4] / rows[0][4], rows[-1][5] / rows[0][5])
    print(f"\nlast ÷ first: put {growth[0]:.2f}, get {growth[1]:.2f} (limit {LIMITS['growth']})")
    print(f"of bare sqlite3: INSERT {bare_growth[0]:.2f}, SELECT + SHA-256 {bare_growth[1]:.2f}")
    print(f"64 MiB, peak memory ÷ payload: put {memory[0]:.2f}, get {memory[1]:.2f} (limit {LIMITS['memory']})")
    worst = {
        "growth": max(growth),
        "put": max(r[1] for r in rows),
        "get": max(r[3] for r in rows),
        "memory": max(memory),
    }
    over = [name for name, value in worst.items() if value > LIMITS[name]]
    print(f"over their limit: {', '.join(over)}" if over else "all within their limits")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
