"""A disk that fills up in the middle of a put: real small file systems, limits on files, limits on pages.

Whatever is full, the caller has its input, what was stored before can be had, and puts work again once there is room.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from test_sqlite import OLD_FILE, kept, record, recount

from caveman_wasm import Engine
from caveman_wasm.errors import BudgetExceeded, CavemanError, StoreUnavailable
from caveman_wasm.references import handle
from caveman_wasm.store import Store, open_store

SIZE = 1024 * 1024  # bytes of the small disk
LOG = "\n".join(f"2026-01-01T00:00:{n % 60:02d}Z INFO worker 1 step {n} of {n * 7919} done" for n in range(3000))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "caveman-test", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no small file system can be mounted here: that takes root's rights")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True, timeout=30)


def fill_up(disk: Path) -> Path:
    """Leave not one byte free."""
    filler = disk / "filler"
    descriptor = os.open(filler, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    with suppress(OSError):
        while True:
            os.write(descriptor, bytes(4096))
    os.close(descriptor)
    assert os.statvfs(disk).f_bavail == 0
    return filler


def put_until_refused(store: Store, size: int = 30_000) -> tuple[list[str], CavemanError]:
    names = []
    for _ in range(1000):
        try:
            names.append(store.put(record(os.urandom(size))))
        except (BudgetExceeded, StoreUnavailable) as refused:
            return names, refused
    pytest.fail("it never filled up")


def assert_sound(store: Any, names: list[str]) -> None:
    for name in names:
        assert handle(store.get(name)) == name
    assert kept(store) == recount(store._db)
    assert store.flaws() == []
    assert list(store.damaged()) == []


# ---------------------------------------------------------------- a small file system


def test_a_disk_that_fills_up_in_mid_put_refuses_and_recovers(disk: Path) -> None:
    filler = disk / "filler"
    filler.write_bytes(bytes(SIZE // 3))
    with open_store(disk / "ccr.db") as store:
        names, refused = put_until_refused(store)
        assert isinstance(refused, BudgetExceeded)
        assert "no room for it, on the disk" in str(refused)
        with pytest.raises(BudgetExceeded):  # in the middle of many pages
            store.put(record(os.urandom(5_000_000)))
        assert len(names) > 3
        assert_sound(store, names)
        filler.unlink()
        names += [store.put(record(os.urandom(30_000))) for _ in range(5)]
        assert store.stats().refused >= 1
        assert_sound(store, names)
    with open_store(disk / "ccr.db") as store:
        assert_sound(store, names)


def test_on_a_full_disk_the_engine_gives_the_caller_its_input(disk: Path) -> None:
    with open_store(disk / "ccr.db") as store:
        engine = Engine(store)
        before = engine.compress(LOG)
        fill_up(disk)
        put_until_refused(store)
        other = LOG.replace("worker", "runner")
        full = engine.compress(other)
        assert (full.text, full.recovery_handle, full.reason) == (other, None, "store_failed")
        assert full.error == "cave_ccr_budget_exceeded"
        assert engine.retrieve(before.recovery_handle) == LOG.encode()
        (disk / "filler").unlink()
        assert engine.compress(other).recovery_handle == handle(other.encode())


def test_a_store_opened_on_a_full_disk_reads_what_is_there_and_writes_once_there_is_room(disk: Path) -> None:
    path = disk / "ccr.db"
    with open_store(path) as store:
        names = [store.put(record(os.urandom(30_000))) for _ in range(5)]
    assert sorted(file.name for file in disk.iterdir()) == ["ccr.db"]
    filler = fill_up(disk)
    with open_store(path) as store:
        assert_sound(store, names)
        assert store.stats().records == 5
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="disk is full"):
                store.put(record(b"payload"))
        with pytest.raises(StoreUnavailable):
            store.forget(names)
        assert_sound(store, names)
        filler.unlink()
        assert store.forget(names[:2]) == 2
        assert_sound(store, [*names[2:], store.put(record(b"payload"))])
    with open_store(f"file:{path}?mode=ro") as store:
        assert_sound(store, names[2:])


def test_a_store_opened_on_a_full_disk_sees_what_another_process_puts_once_there_is_room(disk: Path) -> None:
    path = disk / "ccr.db"
    with open_store(path) as store:
        name = store.put(record(b"before"))
    filler = fill_up(disk)
    with open_store(path) as early:
        assert early.get(name) == b"before"
        filler.unlink()
        with open_store(path) as late:
            assert early.get(late.put(record(b"after"))) == b"after"
        assert_sound(early, [name, early.put(record(b"last"))])


def test_a_file_of_the_original_engine_on_a_full_disk_is_read(disk: Path) -> None:
    path = disk / "ccr.db"
    code = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.commit()"
    values = f"'{handle(b'old')}', '2025-05-01T10:00:00.123456789Z', 'log', 'log', 50, 20, CAST('old' AS BLOB)"
    script = f"{OLD_FILE}; INSERT INTO recoveries VALUES ({values})"
    subprocess.run([sys.executable, "-c", code, str(path), script], check=True, timeout=60)
    filler = fill_up(disk)
    with open_store(path) as store:
        assert store.get(handle(b"old")) == b"old"
        filler.unlink()
        assert_sound(store, [store.put(record(b"new")), handle(b"old")])


def test_a_new_store_on_a_full_disk_is_an_error_and_not_half_a_store(disk: Path) -> None:
    filler = fill_up(disk)
    with pytest.raises((StoreUnavailable, BudgetExceeded)):
        open_store(disk / "ccr.db")
    filler.unlink()
    with open_store(disk / "ccr.db") as store:
        assert_sound(store, [store.put(record(b"payload"))])


def test_forgetting_on_a_disk_filled_by_others_gives_its_room_back_to_the_disk(disk: Path) -> None:
    with open_store(disk / "ccr.db") as store:
        names = [store.put(record(os.urandom(30_000))) for _ in range(10)]
    (disk / "filler").write_bytes(bytes(os.statvfs(disk).f_bavail * 4096 - 200_000))
    free = os.statvfs(disk).f_bavail
    with open_store(disk / "ccr.db") as store:
        assert store.forget(names) == 10
    assert (os.statvfs(disk).f_bavail - free) * 4096 > 250_000


def test_a_disk_that_may_only_be_read_is_read(disk: Path) -> None:
    with open_store(disk / "ccr.db") as store:
        names = [store.put(record(os.urandom(30_000))) for _ in range(5)]
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True, timeout=30)
    for name in (disk / "ccr.db", f"file:{disk}/ccr.db?mode=ro"):
        with open_store(name) as store:
            assert_sound(store, names)
            with pytest.raises(StoreUnavailable):
                store.put(record(b"payload"))


# ---------------------------------------------------------------- limits that need no rights

LIMITED = """
import os, resource, sys
from caveman_wasm import Engine
from caveman_wasm.errors import CavemanError
from caveman_wasm.model import Recovery
from caveman_wasm.store import open_store
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
with open_store(sys.argv[1]) as store:
    names = []
    try:
        while True:
            names.append(store.put(Recovery("log", "log", 10, 4, os.urandom(30_000))))
    except CavemanError as error:
        print(error.code)
    for name in names:
        store.get(name)
    text = "\\n".join(f"2026-01-01T00:00:{n % 60:02d}Z INFO step {n} of {n * 7919} done" for n in range(9000))
    result = Engine(store).compress(text)
    print(result.error, result.reason, result.text == text)
    print(*names)
"""


def test_a_limit_on_the_size_of_files_refuses_and_a_process_without_it_goes_on(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "ccr.db"), "400000"],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert run.stderr == ""
    code, result, said = run.stdout.splitlines()
    assert code in ("cave_ccr_unavailable", "cave_ccr_budget_exceeded")
    assert result == f"{code} store_failed True"
    names = said.split()
    assert len(names) > 3
    with open_store(tmp_path / "ccr.db") as store:
        assert_sound(store, [*names, store.put(record(os.urandom(600_000)))])


def test_a_file_at_its_page_limit_refuses_and_recovers_when_records_are_forgotten(tmp_path: Path) -> None:
    with open_store(tmp_path / "ccr.db") as store:
        any_store: Any = store
        any_store._run(f"PRAGMA max_page_count = {any_store._value('PRAGMA page_count') + 60}")
        names, refused = put_until_refused(store)
        assert isinstance(refused, BudgetExceeded)
        result = Engine(store).compress(LOG)
        assert (result.text, result.error) == (LOG, "cave_ccr_budget_exceeded")
        assert_sound(store, names)
        assert store.forget(names[:4]) == 4
        assert_sound(store, [*names[4:], store.put(record(os.urandom(30_000)))])
