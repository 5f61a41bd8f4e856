"""Files that were damaged: each kind says what it is, and never are wrong bytes handed out."""

from __future__ import annotations

import io
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from test_sqlite import record

from caveman_wasm.errors import CavemanError, CorruptRecord, StoreUnavailable
from caveman_wasm.model import TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import open_store
from caveman_wasm.store.bundle import export_bundle, import_bundle

PAYLOADS = [b"payload %d " % n + random.Random(n).randbytes(3000) for n in range(40)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed store of forty records and an object."""
    path = tmp_path / "ccr.db"
    with open_store(path) as store:
        for payload in PAYLOADS:
            store.put(record(payload, metadata=b"{}"))
        store.put_object(TypedObject("TestResult", "s1", b"data" * 300, dependencies=("a",)))
    return path


def read_all(path: Path) -> int:
    """How many of the payloads can be had. Fails where one comes back other than it was put."""
    found = 0
    with open_store(path) as store:
        for payload in PAYLOADS:
            try:
                assert store.get(handle(payload)) == payload
                found += 1
            except CavemanError:
                pass
    return found


def flip(path: Path, at: int, bits: int = 0x40) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def cut(path: Path, to: int) -> None:
    with path.open("r+b") as file:
        file.truncate(to)


# ---------------------------------------------------------------- each kind by its own words


def a_flipped_byte(path: Path) -> None:
    flip(path, path.read_bytes().index(PAYLOADS[7]) + 20)


def a_file_cut_short(path: Path) -> None:
    cut(path, path.stat().st_size // 2)


def a_wrong_magic(path: Path) -> None:
    flip(path, 3)


def a_wal_of_another_database(path: Path) -> None:
    other = path.with_name("other.db")
    with open_store(other) as store:
        store.put(record(b"theirs" * 30_000))
        shutil.copy(f"{other}-wal", f"{path}-wal")


def another_programs_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize(
    ("damage", "error", "words"),
    [
        (a_flipped_byte, CorruptRecord, "are not what was put"),
        (a_file_cut_short, StoreUnavailable, "damaged or cut short"),
        (a_wrong_magic, StoreUnavailable, "is no SQLite database"),
        (a_wal_of_another_database, StoreUnavailable, "-wal belongs to another database"),
        (another_programs_database, StoreUnavailable, "is another program's database"),
    ],
)
def test_every_kind_of_damage_is_its_own_error(
    path: Path, damage: Callable[[Path], None], error: type[CavemanError], words: str
) -> None:
    def read_every_one() -> None:
        with open_store(path) as store:
            for payload in PAYLOADS:
                assert store.get(handle(payload)) == payload

    damage(path)
    with pytest.raises(error, match=words):
        read_every_one()


def test_a_wal_of_another_database_is_left_where_it_is_and_the_file_is_whole_without_it(path: Path) -> None:
    a_wal_of_another_database(path)
    wal = path.with_name("ccr.db-wal")
    before = path.read_bytes(), wal.read_bytes()
    for name in (path, path):
        with pytest.raises(StoreUnavailable, match="nothing was touched"):
            open_store(name)
    assert (path.read_bytes(), wal.read_bytes()) == before
    wal.unlink()
    assert read_all(path) == len(PAYLOADS)


def test_a_flipped_byte_costs_the_one_record_and_the_others_are_saved(path: Path) -> None:
    a_flipped_byte(path)
    bad = handle(PAYLOADS[7])
    assert read_all(path) == len(PAYLOADS) - 1
    with open_store(path) as store:
        assert [error.reference for error in store.damaged()] == [bad]
        bundle = io.BytesIO()
        with pytest.raises(CorruptRecord, match=bad):  # it is named once all the others are written
            export_bundle(store, bundle)
    bundle.seek(0)
    with open_store(":memory:") as saved:
        import_bundle(saved, bundle)
        assert bad not in saved
        assert saved.stats().records == len(PAYLOADS) - 1


# ---------------------------------------------------------------- damage anywhere


@pytest.mark.parametrize("seed", range(4))
def test_wherever_a_byte_is_flipped_what_comes_back_is_exact_or_an_error(path: Path, seed: int) -> None:
    whole, chance = path.read_bytes(), random.Random(seed)
    places = [*range(seed, 100, 4), *(chance.randrange(len(whole)) for _ in range(60))]
    # The first bytes of pages say what the page is, and where everything on it lies.
    places += [page * 4096 + chance.randrange(0, 16) for page in range(1, len(whole) // 4096, 3)]
    for at in places:
        flip(path, at, 1 << chance.randrange(8))
        _attempt(path)
        _restore(path, whole)


@pytest.mark.parametrize("seed", range(2))
def test_wherever_a_file_is_cut_what_comes_back_is_exact_or_an_error(path: Path, seed: int) -> None:
    whole, chance = path.read_bytes(), random.Random(seed)
    for to in [seed, 99 + seed, *(chance.randrange(len(whole)) for _ in range(25))]:
        cut(path, to)
        _attempt(path)
        _restore(path, whole)


def test_wherever_a_wal_is_damaged_what_comes_back_is_exact_or_an_error(path: Path) -> None:
    late, chance = b"late" * 9000, random.Random(5)
    with open_store(path) as store:
        name = store.put(record(late))
        whole, wal = path.read_bytes(), path.with_name("ccr.db-wal").read_bytes()
    for turn in range(60):
        _restore(path, whole)
        at = chance.randrange(40 if turn % 3 == 0 else len(wal))
        spoiled = bytearray(wal)
        spoiled[at] ^= 1 << chance.randrange(8)
        path.with_name("ccr.db-wal").write_bytes(spoiled if turn % 2 else wal[:at])
        path.with_name("ccr.db-wal").chmod(0o600)
        assert _attempt(path) in (0, len(PAYLOADS))
        try:
            with open_store(path) as store:
                assert store.get(name) == late
        except CavemanError:
            pass


def _attempt(path: Path) -> int:
    """All payloads read, listed, looked over; nothing but exact bytes and errors of ours."""
    try:
        found = read_all(path)
        with open_store(f"file:{path}?mode=ro") as store:
            list(store.damaged())
            store.stats()
            store.records()
    except CavemanError:
        return 0
    return found


def _restore(path: Path, whole: bytes) -> None:
    for file in path.parent.iterdir():
        file.unlink()
    path.write_bytes(whole)
    path.chmod(0o600)
    assert os.listdir(path.parent) == ["ccr.db"]
