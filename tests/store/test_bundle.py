"""A bundle carries everything to another store, or says what is wrong with it."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_wasm.errors import (
    BudgetExceeded,
    Conflict,
    CorruptRecord,
    Forgotten,
    InvalidArguments,
    InvalidBundle,
    NotFound,
    UnsupportedVersion,
)
from caveman_wasm.model import MAX_PAYLOAD, Recovery, TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import Store, open_memory, open_store
from caveman_wasm.store.bundle import Counts, export_bundle, import_bundle

RECORDS = [
    Recovery("log", "log/1", 90, 20, b"plain\n", b'{"v":1}'),
    Recovery("text", "text/1", 0, 0, b""),
    Recovery("json", "json/1", 5, 5, bytes(range(256)) + b'\n{"kind":"end"}\n', b""),
    Recovery("naïve 日本", "x", 1, 1, b"\n" * 9, None),
]
OBJECTS = [
    TypedObject("TaskDecision", "s1", b'{"decision_id":"d1"}', source="agent", lifecycle="cold"),
    TypedObject("TestResult", "s2", b"\xff\x00", currentness="stale", dependencies=(handle(b"plain\n"), "not held")),
]


def filled(store: Store) -> Store:
    for record in RECORDS:
        store.put(record)
    for obj in OBJECTS:
        store.put_object(obj)
    return store


def exported(store: Store, *arguments: object, **options: object) -> bytes:
    out = io.BytesIO()
    export_bundle(store, out, *arguments, **options)  # type: ignore[arg-type]
    return out.getvalue()


def imported(bundle: bytes, store: Store | None = None) -> tuple[Store, Counts]:
    into = store or open_memory()
    return into, import_bundle(into, io.BytesIO(bundle))


def ids(store: Store) -> list[str]:
    return [info.handle for info in store.records()] + store.object_ids()


def test_everything_comes_back_as_it_was(store: Store) -> None:
    into, counts = imported(exported(filled(store)))
    for info in store.records():
        assert into.record(info.handle) == store.record(info.handle)
    for name in store.object_ids():
        assert into.get_object(name) == store.get_object(name)
    assert ids(into) == ids(store)
    assert (counts.records, counts.objects, counts.known) == (4, 2, 0)
    assert into.stats().storage_bytes == store.stats().storage_bytes


def test_the_file_is_the_same_whichever_backend_wrote_it(tmp_path: Path) -> None:
    first = exported(filled(open_memory()))
    with open_store(tmp_path / "ccr.db") as native:
        imported(first, native)
        assert exported(native) == first
        assert exported(imported(exported(native))[0]) == first


@given(payloads=st.dictionaries(st.binary(max_size=300), st.none() | st.binary(max_size=40), max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_any_bytes_survive_the_journey(payloads: dict[bytes, bytes | None]) -> None:
    store = open_memory()
    for original, metadata in payloads.items():
        store.put(Recovery("text", "text/1", 3, 1, original, metadata))
    bundle = exported(store)
    into, _ = imported(bundle)
    assert {into.get(name): into.metadata(name) for name in ids(into)} == payloads
    assert exported(into) == bundle


def test_chosen_handles_go_alone_and_in_their_order(store: Store) -> None:
    names = ids(filled(store))
    chosen = [names[-1], names[0], f"<<ccr:{names[0].upper()}>>"]
    assert ids(imported(exported(store, chosen))[0]) == [names[0], names[-1]]
    assert exported(store, chosen) == exported(store, chosen[:2][::-1])
    assert ids(imported(exported(store, []))[0]) == []
    assert exported(store, names[::-1]) == exported(store)


def test_a_handle_that_is_not_here_is_said_before_anything_is_written(store: Store) -> None:
    gone = filled(store).put(Recovery("text", "t", 1, 1, b"gone"))
    store.forget([gone])
    for missing, error in [(handle(b"never"), NotFound), (gone, Forgotten)]:
        out = io.BytesIO()
        with pytest.raises(error):
            export_bundle(store, out, [handle(b"plain\n"), missing])
        assert out.getvalue() == b""


def test_a_session_goes_with_all_it_depends_on(store: Store) -> None:
    filled(store)
    outer = store.put_object(
        TypedObject(
            "TaskContract", "s3", b"c", dependencies=(store.objects("s2")[0].object_id, "x", f"ccr://{handle(b'')}")
        )
    )
    into, _ = imported(exported(store, session="s3"))
    assert set(ids(into)) == {outer.object_id, *outer.dependencies[:1], handle(b"plain\n"), handle(b"")}
    assert ids(imported(exported(store, session="s1"))[0]) == [store.objects("s1")[0].object_id]
    with pytest.raises(InvalidArguments):
        exported(store, [handle(b"")], session="s1")


@pytest.mark.parametrize("session", [None, "s2"])
def test_damaged_items_are_left_out_and_named_and_the_rest_is_a_whole_bundle(rows, session: str | None) -> None:  # type: ignore[no-untyped-def]
    with rows.open() as store:
        filled(store)
        record, obj = handle(RECORDS[0].original), store.objects("s2")[0].object_id
        sound = set(ids(store)) - {record, obj} if session is None else set()
        rows.set_original(record, b"other")
        rows.set_object(obj, data=b"other")
        out = io.BytesIO()
        with pytest.raises(CorruptRecord, match=obj) as caught:
            export_bundle(store, out, session=session)
        named = {record, obj} if session is None else {obj}  # what it depends on is not known any more
        assert {name for name in (record, obj) if name in str(caught.value)} == named
        assert set(ids(imported(out.getvalue())[0])) == sound


def test_damaged_items_among_chosen_ones_are_left_out_too(rows) -> None:  # type: ignore[no-untyped-def]
    with rows.open() as store:
        first, second = [store.put(record) for record in RECORDS[:2]]
        rows.set_original(first, b"other")
        out = io.BytesIO()
        with pytest.raises(CorruptRecord, match="1 items") as caught:
            export_bundle(store, out, [first, second])
        assert caught.value.reference == first
        assert ids(imported(out.getvalue())[0]) == [second]


# ---------------------------------------------------------------- importing


def test_importing_twice_changes_nothing(store: Store) -> None:
    bundle = exported(filled(open_memory()))
    imported(bundle, store)
    before = exported(store)
    _, counts = imported(bundle, store)
    assert counts.known == 6
    assert exported(store) == before


def test_what_is_here_keeps_its_first_time(store: Store) -> None:
    bundle = exported(filled(open_memory()))
    name, obj = store.put(RECORDS[0]), store.put_object(OBJECTS[0])
    times = store.record(name).created_at, obj.created_at
    imported(bundle, store)
    assert (store.record(name).created_at, store.get_object(obj.object_id).created_at) == times


def test_objects_with_other_fields_stay_and_the_rest_comes_in(store: Store) -> None:
    bundle = exported(filled(open_memory()))
    mine = store.put_object(replace(OBJECTS[0], transform_version="mine"))
    with pytest.raises(Conflict, match="1 objects") as caught:
        imported(bundle, store)
    assert caught.value.reference == mine.object_id
    assert store.get_object(mine.object_id) == mine
    assert len(ids(store)) == 6


def test_a_bundle_cut_anywhere_leaves_whole_items_and_can_be_imported_again(store: Store) -> None:
    bundle = exported(filled(open_memory()))
    source, _ = imported(bundle)
    for length in range(len(bundle)):
        into = open_memory() if length % 50 else store
        with pytest.raises(InvalidBundle):
            imported(bundle[:length], into)
        for name in ids(into):
            there = into.get_object(name) if "obj" in name else into.record(name)
            assert there == (source.get_object(name) if "obj" in name else source.record(name))
    imported(bundle, store)
    assert exported(store) == bundle


@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
@settings(deadline=None, max_examples=300)
def test_any_bit_that_is_off_is_found(position: int, bit: int) -> None:
    bundle = bytearray(BUNDLE)
    bundle[position % len(bundle)] ^= 1 << bit
    into = open_memory()
    with pytest.raises((InvalidBundle, UnsupportedVersion)):
        imported(bytes(bundle), into)
    assert set(ids(into)) <= set(ids(SOURCE))
    for name in ids(into):
        if "obj" not in name:
            assert into.record(name) == SOURCE.record(name)


SOURCE = filled(open_memory())
BUNDLE = exported(SOURCE)


def sealed(lines: list[dict[str, object]], *, version: object = 1) -> bytes:
    """A bundle made by hand whose own hashes are right; an item's bytes stand under ``parts``."""
    out = json.dumps({"format": "caveman-bundle", "version": version}).encode() + b"\n"
    for line in lines:
        parts = line.pop("parts", b"")
        assert isinstance(parts, bytes)
        body = json.dumps(line).encode() + b"\n" + parts
        out += body + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n"
    kinds = [line["kind"] for line in lines]
    end = {
        "kind": "end",
        "records": kinds.count("record"),
        "objects": kinds.count("object"),
        "sha256": hashlib.sha256(out).hexdigest(),
    }
    return out + json.dumps(end).encode() + b"\n"


def record_line(**fields: object) -> dict[str, object]:
    said = {
        "kind": "record",
        "handle": handle(b"abc"),
        "created_at": "",
        "content_type": "log",
        "compressor": "log/1",
        "tokens_before": 2,
    }
    return said | {"tokens_after": 1, "original_bytes": 3, "metadata_bytes": None, "parts": b"abc"} | fields


def test_a_bundle_made_by_hand_to_the_description_is_read() -> None:
    assert ids(imported(sealed([record_line()]))[0]) == [handle(b"abc")]


@pytest.mark.parametrize(
    "bundle",
    [
        b"",
        b"\n",
        b"PK\x03\x04",
        b"{}\n",
        b'{"format":"caveman-bundle"}\n',
        b'{"format":"caveman-bundle","version":0}\n',
        b'{"format":"caveman-bundle","version":"1"}\n',
        b"[" * 100_000 + b"\n",
        b'{"format":"caveman-bundle","version":1}\n' + b"[" * 100_000 + b"\n",
        b'{"format":"caveman-bundle","version":1}\n{"kind":"other"}\n',
        b'{"format":"caveman-bundle","version":1}\n{"kind":"record","original_bytes":' + b"9" * 5000 + b"}\n",
        BUNDLE + b"\n",
        BUNDLE.replace(b'"records":4', b'"records":3'),
        sealed([record_line(handle=handle(b"abd"))]),
        sealed([record_line(original_bytes=-1)]),
        sealed([record_line(original_bytes=True, parts=b"a")]),
        sealed([record_line(original_bytes=2**40)]),
        sealed([record_line(original_bytes="3")]),
        sealed([record_line(tokens_before=-1)]),
        sealed([record_line(created_at="yesterday")]),
        sealed([{k: v for k, v in record_line().items() if k != "compressor"}]),
        sealed([{"kind": "object", "data_bytes": 1, "parts": b"x"}]),
    ],
)
def test_what_is_no_bundle_is_refused_and_nothing_of_it_kept(bundle: bytes) -> None:
    into = open_memory()
    with pytest.raises(InvalidBundle):
        imported(bundle, into)
    assert handle(b"abc") not in ids(into)


def test_an_object_that_lies_about_its_hash_or_id_is_refused() -> None:
    made = SOURCE.get_object(SOURCE.object_ids()[0])
    fields = {k: getattr(made, k) for k in made.__slots__ if k != "data"} | {
        "kind": "object",
        "data_bytes": len(made.data),
        "parts": made.data,
    }
    assert imported(sealed([dict(fields)]))[1].objects == 1
    for lie in (
        {"content_hash": "sha256:" + "0" * 64},
        {"object_id": "ccr_obj_" + "0" * 32},
        {"session_id": "other"},
        {"type": "Nonsense"},
        {"source": None},
    ):
        with pytest.raises(InvalidBundle):
            imported(sealed([fields | lie]))


def test_a_newer_bundle_says_that_the_package_is_old() -> None:
    with pytest.raises(UnsupportedVersion, match="update"):
        imported(sealed([record_line()], version=2))


def test_a_full_store_stops_the_import_and_keeps_what_fitted() -> None:
    into = open_memory(max_bytes=20)
    with pytest.raises(BudgetExceeded):
        imported(BUNDLE, into)
    assert set(ids(into)) < set(ids(SOURCE))


def test_progress_is_told_after_each_item() -> None:
    told: list[Counts] = []
    export_bundle(SOURCE, io.BytesIO(), progress=told.append)
    import_bundle(open_memory(), io.BytesIO(BUNDLE), progress=told.append)
    assert [c.records + c.objects for c in told] == [1, 2, 3, 4, 5, 6] * 2


class Trickle(io.RawIOBase):
    """A pipe that hands out seven bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        piece = self.data.read(min(7, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


def test_a_slow_pipe_is_read_to_its_end() -> None:
    into = open_memory()
    import_bundle(into, Trickle(BUNDLE))  # type: ignore[arg-type]
    assert exported(into) == BUNDLE


MEASURED = r"""
import re, sys
from caveman_wasm.model import Recovery, TypedObject
from caveman_wasm.store import open_store
from caveman_wasm.store.bundle import export_bundle, import_bundle

folder, megabytes, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open_store(folder + "/a.db", max_bytes=1 << 30) as store:
    for n in range(megabytes * 1_000_000 // size):
        store.put(Recovery("log", "log/1", 9, 3, n.to_bytes(8, "big") * (size // 8)))
    store.put_object(TypedObject("EvidenceBundle", "s", b"evidence" * (size // 8)))
    with open(folder + "/bundle", "wb") as out:
        export_bundle(store, out)
for known in (False, True):  # what is here already is compared, not read into memory
    with open_store(folder + "/b.db", max_bytes=1 << 30) as store, open(folder + "/bundle", "rb") as source:
        counts = import_bundle(store, source)
        assert (counts.known == counts.records + counts.objects) == known
        assert store.recounted() == store.kept() and not list(store.damaged())  # doctor reads it all too
print(int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) // 1024)  # ru_maxrss is the parent's too
"""


@pytest.mark.parametrize(
    ("megabytes", "size"),
    [(30, 1_000_000), (140, MAX_PAYLOAD), pytest.param(405, MAX_PAYLOAD, marks=pytest.mark.long)],
)
def test_a_large_store_goes_through_little_memory(tmp_path: Path, megabytes: int, size: int) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    run = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path), str(megabytes), str(size)],
        check=True, capture_output=True, timeout=300, env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )  # fmt: skip
    print(f"peak {int(run.stdout)} MB for {megabytes} MB in items of {size:,} bytes")
    assert int(run.stdout) < 100
