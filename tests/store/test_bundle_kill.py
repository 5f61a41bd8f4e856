"""An import killed at any moment leaves whole items and no parts, and can be run again."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from caveman_wasm.model import Recovery, TypedObject
from caveman_wasm.store import Store, open_memory, open_store
from caveman_wasm.store.bundle import export_bundle, import_bundle
from caveman_wasm.store.sqlite import SQLiteStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="importers are forked")
ROUNDS = 30


def source() -> Store:
    """Items of every size, some poured into their row page by page."""
    chance, store = random.Random(1), open_memory()
    for n in range(60):
        size = 5_000_000 if n % 20 == 0 else chance.randrange(200_000)
        store.put(Recovery("log", "log/1", 9, 3, chance.randbytes(size), b"metadata" if n % 2 else None))
        store.put_object(TypedObject("TestResult", "s", chance.randbytes(size // 50), source=str(n)))
    return store


def killed(path: Path, bundle: Path, after: float) -> bool:
    """Import in a process of its own and kill it; False if it was done before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with open_store(path) as store, bundle.open("rb") as stream:
                import_bundle(store, stream)
            status = 0
        finally:
            os._exit(status)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    end = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(end) or os.waitstatus_to_exitcode(end) == 0
    return os.WIFSIGNALED(end)


def ids(store: Store) -> set[str]:
    return {*store.record_ids("", 1000), *store.object_ids("", 1000)}


def test_an_import_killed_at_any_moment_leaves_whole_items_or_nothing(tmp_path: Path) -> None:
    wanted, bundle, chance = source(), tmp_path / "bundle", random.Random(2)
    with bundle.open("wb") as out:
        export_bundle(wanted, out)
    began = time.monotonic()
    with open_store(tmp_path / "whole.db") as store, bundle.open("rb") as stream:
        import_bundle(store, stream)  # only to know how long one takes here
    whole, kills, partial = time.monotonic() - began, 0, 0
    for number in range(ROUNDS):
        path = tmp_path / f"{number // 3}.db"  # three times into each
        kills += killed(path, bundle, chance.random() * whole)
        with open_store(path) as store, closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert isinstance(store, SQLiteStore)
            assert store.kept() == store.recounted()
            there = ids(store)
            partial += 0 < len(there) < 120
            for name in there:
                if name.startswith("ccr_obj_"):
                    assert store.get_object(name) == wanted.get_object(name)
                else:
                    assert store.record(name) == wanted.record(name)
    with open_store(path) as store, bundle.open("rb") as stream:
        import_bundle(store, stream)
        assert ids(store) == ids(wanted)
    assert kills
    assert partial
