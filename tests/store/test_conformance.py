"""What every store does, whatever keeps its rows (SPEC 2, 8, 9)."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_wasm.errors import (
    BudgetExceeded,
    CavemanError,
    Conflict,
    CorruptRecord,
    Forgotten,
    InputTooLarge,
    InvalidArguments,
    InvalidReference,
    NotFound,
    StoreUnavailable,
)
from caveman_wasm.model import MAX_PAYLOAD, RecordInfo, Recovery, TypedObject
from caveman_wasm.references import content_hash, handle, object_id
from caveman_wasm.store import Store
from caveman_wasm.store.checks import OBJECT_TYPES

UNKNOWN = "ccr_" + "0" * 32
UNKNOWN_OBJECT = "ccr_obj_" + "0" * 32


def record(original: bytes = b"payload", **fields: Any) -> Recovery:
    return Recovery(
        **{"content_type": "log", "compressor": "log", "tokens_before": 10, "tokens_after": 4} | fields,
        original=original,
    )


def decision(data: bytes = b'{"decision_id": "d1"}', **fields: Any) -> TypedObject:
    return TypedObject(**{"type": "TaskDecision", "session_id": "s1", "source": "agent"} | fields, data=data)


# ---------------------------------------------------------------- records


@given(original=st.binary(max_size=2000), metadata=st.none() | st.binary(max_size=50))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_any_bytes_come_back_exactly(store: Store, original: bytes, metadata: bytes | None) -> None:
    name = store.put(record(original, metadata=metadata))
    assert name == handle(original)
    assert store.get(name) == original
    assert type(store.get(name)) is bytes


@pytest.mark.parametrize(
    "original", [b"", b"\0", b"\xff\xfe\x00", b"\xef\xbb\xbfa\r\n", b"\xed\xa0\x80", b"x" * 1_000_000]
)
def test_payloads_of_every_kind_come_back(store: Store, original: bytes) -> None:
    assert store.get(store.put(record(original))) == original


def test_a_record_comes_back_whole(store: Store) -> None:
    put = record(b"abc", content_type="naïve 日本", metadata=b'{"a":1}')
    found = store.record(store.put(put))
    assert replace(found, created_at="") == put


def test_metadata_is_read_by_its_own_call(store: Store) -> None:
    with_metadata, without = store.put(record(b"a", metadata=b"m")), store.put(record(b"b"))
    assert store.metadata(with_metadata) == b"m"
    assert store.metadata(without) is None


def test_a_record_is_dated_in_utc_with_nanoseconds(store: Store) -> None:
    before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    found = store.record(store.put(record())).created_at
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", found)
    assert before <= found[:19] <= time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())


def test_a_time_that_was_given_is_kept(store: Store) -> None:
    name = store.put(record(created_at="2026-01-02T03:04:05.000000006Z"))
    assert store.record(name).created_at == "2026-01-02T03:04:05.000000006Z"


def test_the_same_payload_has_one_row_and_the_first_time_stands(store: Store) -> None:
    name = store.put(record(created_at="2026-01-01T00:00:00Z"))
    assert store.put(record(created_at="2026-02-02T00:00:00Z")) == name
    assert store.stats().records == 1
    assert store.record(name).created_at == "2026-01-01T00:00:00Z"


def test_putting_again_updates_accounting_and_metadata(store: Store) -> None:
    name = store.put(record(metadata=b"old"))
    store.put(record(content_type="json", compressor="json", tokens_before=20, tokens_after=5, metadata=b"newer"))
    found = store.record(name)
    assert (found.content_type, found.compressor) == ("json", "json")
    assert (found.tokens_before, found.tokens_after) == (20, 5)
    assert found.metadata == b"newer"


def test_putting_again_without_accounting_leaves_what_is_there(store: Store) -> None:
    name = store.put(record(metadata=b"old"))
    before = store.record(name)
    for metadata in (None, b""):
        store.put(record(content_type="x", compressor="x", tokens_before=0, tokens_after=0, metadata=metadata))
        assert store.record(name) == before


def test_accounting_and_metadata_are_updated_each_by_itself(store: Store) -> None:
    name = store.put(record(metadata=b"old"))
    store.put(record(tokens_before=0, tokens_after=0, metadata=b"new"))
    assert (store.record(name).tokens_before, store.metadata(name)) == (10, b"new")
    store.put(record(tokens_before=30, tokens_after=3))
    assert (store.record(name).tokens_before, store.metadata(name)) == (30, b"new")


def test_other_bytes_under_a_handle_are_a_conflict_and_the_first_stay(store: Store, rows: Any) -> None:
    name = store.put(record(b"first"))
    rows.set_original(name, b"other")
    with pytest.raises(Conflict) as caught:
        store.put(record(b"first", tokens_before=99))
    assert caught.value.reference == name
    assert store.records()[0].original_bytes == len(b"other")
    assert store.records()[0].tokens_before == 10


@pytest.mark.parametrize("damaged", [b"payloaD", b"payload ", b"", b"\0" * 7])
def test_a_record_that_no_longer_matches_is_never_returned(store: Store, rows: Any, damaged: bytes) -> None:
    name = store.put(record(b"payload"))
    rows.set_original(name, damaged)
    for read in (store.get, store.record):
        with pytest.raises(CorruptRecord) as caught:
            read(name)
        assert caught.value.reference == name
        assert "payload" not in str(caught.value)


def test_what_was_put_cannot_be_changed_afterwards(store: Store) -> None:
    original, metadata = bytearray(b"abc"), bytearray(b"m")
    name = store.put(record(original, metadata=memoryview(metadata)))  # type: ignore[arg-type]
    original[:] = b"xyz"
    metadata[:] = b"x"
    assert store.get(name) == b"abc"
    assert store.metadata(name) == b"m"


@pytest.mark.parametrize(
    "wrong",
    [
        {"original": "text"},
        {"original": None},
        {"original": [1, 2]},
        {"metadata": "text"},
        {"tokens_before": -1},
        {"tokens_after": 1.5},
        {"tokens_before": True},
        {"tokens_before": 2**63},
        {"content_type": b"log"},
        {"compressor": None},
        {"content_type": "\ud800"},
        {"created_at": "yesterday"},
        {"created_at": "2026-01-01T00:00:00+01:00"},
        {"created_at": None},
    ],
)
def test_wrong_types_and_values_are_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        store.put(replace(record(), **wrong))
    assert store.stats().records == 0


def test_put_takes_nothing_but_a_recovery(store: Store) -> None:
    with pytest.raises(InvalidArguments):
        store.put(b"payload")  # type: ignore[arg-type]


def test_a_payload_over_the_limit_is_refused_whole(store: Store) -> None:
    with pytest.raises(InputTooLarge):
        store.put(record(bytes(MAX_PAYLOAD + 1)))
    assert store.stats().records == 0


# ---------------------------------------------------------------- what is not there


@pytest.mark.parametrize("method", ["get", "record", "metadata", "get_object"])
@pytest.mark.parametrize("name", [UNKNOWN, UNKNOWN_OBJECT])
def test_an_unknown_handle_says_do_not_retry(store: Store, method: str, name: str) -> None:
    with pytest.raises(NotFound, match="do not retry, run the tool again") as caught:
        getattr(store, method)(name)
    assert type(caught.value) is NotFound
    assert caught.value.reference == name


def test_a_handle_may_be_written_as_agents_write_it(store: Store) -> None:
    name = store.put(record())
    assert store.get(f"`<<ccr:{name.upper()}>>`.") == b"payload"
    assert store.get(f"ccr://{name}") == b"payload"


@pytest.mark.parametrize("method", ["get", "record", "metadata", "get_object", "withdraw"])
def test_what_is_no_handle_is_refused(store: Store, method: str) -> None:
    for bad in ("", "payload", UNKNOWN[:-1], UNKNOWN + "0", f"{UNKNOWN}#/a"):
        with pytest.raises(InvalidReference):
            getattr(store, method)(bad)
    for worse in (None, 1, UNKNOWN.encode()):
        with pytest.raises(InvalidArguments):
            getattr(store, method)(worse)


def test_a_store_says_what_it_holds(store: Store) -> None:
    name, obj = store.put(record()), store.put_object(decision()).object_id
    assert name in store
    assert store.holds(obj)
    assert store.holds(f"<<ccr:{name}>>")
    for other in (UNKNOWN, UNKNOWN_OBJECT, "garbage", "", None, 7, name[:-1]):
        assert other not in store


# ---------------------------------------------------------------- listing, forgetting, withdrawing


def test_records_are_listed_by_pages_that_miss_nothing(store: Store) -> None:
    names = sorted(store.put(record(bytes([i]) * i)) for i in range(25))
    seen: list[str] = []
    while page := store.records(after=seen[-1] if seen else "", limit=10):
        assert len(page) <= 10
        seen += [info.handle for info in page]
    assert seen == names


def test_a_listed_record_tells_sizes_and_no_payload(store: Store) -> None:
    name = store.put(record(b"abc", metadata=b"mm", created_at="2026-01-01T00:00:00Z"))
    assert store.records() == [RecordInfo(name, "2026-01-01T00:00:00Z", "log", "log", 10, 4, 3, 2)]


@pytest.mark.parametrize("limit", [0, -1, True, "3", None, 1.0])
def test_a_limit_is_a_positive_int(store: Store, limit: Any) -> None:
    for page in (store.records, store.object_ids):
        with pytest.raises(InvalidArguments):
            page(limit=limit)
    with pytest.raises(InvalidArguments):
        store.objects("s1", limit)


def test_a_forgotten_handle_says_so_and_on_which_day(store: Store) -> None:
    name, kept = store.put(record(b"a")), store.put(record(b"b"))
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert store.forget([name, UNKNOWN]) == 1
    for read in (store.get, store.record, store.metadata):
        with pytest.raises(Forgotten, match=rf"deleted by the operator on {today[:8]}\d\d; do not retry") as caught:
            read(name)
        assert caught.value.code == "cave_forgotten"
    assert name not in store
    assert store.get(kept) == b"b"
    with pytest.raises(NotFound) as unknown:
        store.get(UNKNOWN)
    assert not isinstance(unknown.value, Forgotten)


def test_a_forgotten_payload_can_be_put_again(store: Store) -> None:
    name = store.put(record())
    store.forget([name])
    assert store.put(record()) == name
    assert store.get(name) == b"payload"
    store.withdraw(name)
    with pytest.raises(NotFound) as caught:
        store.get(name)
    assert not isinstance(caught.value, Forgotten)


def test_forgetting_everything_gives_all_room_back(store: Store) -> None:
    names = [store.put(record(bytes([i]) * 100)) for i in range(5)]
    obj = store.put_object(decision()).object_id
    assert store.forget(everything=True) == 6
    stats = store.stats()
    assert (stats.records, stats.objects, stats.storage_bytes, stats.tokens_before) == (0, 0, 0, 0)
    for name in names:
        with pytest.raises(Forgotten):
            store.get(name)
    with pytest.raises(Forgotten):
        store.get_object(obj)
    assert store.forget(everything=True) == 0


@pytest.mark.parametrize(
    ("before", "gone"),
    [
        ("2026-03-01T00:00:00.000000001Z", 0),
        ("2026-03-01T00:00:00.000000002Z", 1),
        ("2026-03-01T00:00:00.5Z", 1),
        ("2026-03-01T00:00:00.500000001Z", 2),
        ("2026-03-01T00:00:01Z", 2),
        ("2026-03-01T00:00:01.0Z", 2),
        ("2026-03-01T00:00:01.000000001Z", 3),
        ("2026-03-02", 3),
        ("2026-03-01", 0),
        ("2026-03-01T01:30:00+01:00", 3),
        ("2026-03-01 00:00:01", 2),
    ],
)
def test_forget_before_a_time_is_exclusive_and_knows_every_spelling(store: Store, before: str, gone: int) -> None:
    for i, at in enumerate(["00.000000001Z", "00.5Z", "01Z"]):
        store.put(record(bytes([i]), created_at=f"2026-03-01T00:00:{at}"))
    assert store.forget(before=before) == gone
    assert store.stats().records == 3 - gone


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((), {}),
        (([UNKNOWN],), {"everything": True}),
        ((), {"before": "2026-01-01", "everything": True}),
        ((), {"before": "2026-99-99"}),
        ((), {"before": ""}),
        ((), {"before": "soon"}),
        ((), {"before": 2026}),
        ((UNKNOWN,), {}),
    ],
)
def test_forget_takes_exactly_one_clear_word(store: Store, args: Any, options: Any) -> None:
    store.put(record())
    with pytest.raises(InvalidArguments):
        store.forget(*args, **options)
    assert store.stats().records == 1


def test_one_malformed_handle_keeps_forget_from_deleting_any(store: Store) -> None:
    name = store.put(record())
    with pytest.raises(InvalidReference):
        store.forget([name, "garbage"])
    assert name in store
    assert store.forget([]) == 0


def test_a_withdrawn_record_was_never_there(store: Store) -> None:
    name = store.put(record())
    assert store.withdraw(name)
    assert not store.withdraw(name)
    with pytest.raises(NotFound) as caught:
        store.get(name)
    assert not isinstance(caught.value, Forgotten)
    assert store.stats().storage_bytes == 0


# ---------------------------------------------------------------- budget


def test_a_put_that_would_pass_the_budget_is_refused_and_nothing_is_evicted(rows: Any) -> None:
    with rows.open(max_bytes=100) as store:
        first = store.put(record(b"a" * 60, metadata=b"m" * 10))
        with pytest.raises(BudgetExceeded) as caught:
            store.put(record(b"b" * 31))
        assert caught.value.reference == handle(b"b" * 31)
        assert store.get(first) == b"a" * 60
        assert handle(b"b" * 31) not in store
        store.put(record(b"c" * 30))
        assert store.stats().storage_bytes == 100


def test_what_a_handle_holds_already_is_not_counted_twice(rows: Any) -> None:
    with rows.open(max_bytes=100) as store:
        name = store.put(record(b"a" * 80, metadata=b"m" * 20))
        store.put(record(b"a" * 80, metadata=b"n" * 20))
        assert store.metadata(name) == b"n" * 20
        with pytest.raises(BudgetExceeded):
            store.put(record(b"a" * 80, metadata=b"o" * 21))
        assert store.metadata(name) == b"n" * 20


def test_objects_share_the_budget_with_their_data_and_dependencies(rows: Any) -> None:
    with rows.open(max_bytes=40) as store:
        store.put_object(decision(b"x" * 10, dependencies=("é",)))
        assert store.stats().storage_bytes == 10 + len('["é"]'.encode())
        with pytest.raises(BudgetExceeded):
            store.put_object(decision(b"y" * 23))
        store.put_object(decision(b"y" * 22))
        with pytest.raises(BudgetExceeded):
            store.put(record(b"z"))


def test_forgetting_makes_room(rows: Any) -> None:
    with rows.open(max_bytes=10) as store:
        name = store.put(record(b"a" * 10))
        with pytest.raises(BudgetExceeded):
            store.put(record(b"b" * 10))
        store.forget([name])
        assert store.get(store.put(record(b"b" * 10))) == b"b" * 10


def test_stats_tell_how_often_and_when_the_budget_was_hit(rows: Any) -> None:
    with rows.open(max_bytes=100) as store:
        assert (store.stats().refused, store.stats().refused_at) == (0, "")
        for _ in range(3):
            with pytest.raises(BudgetExceeded):
                store.put(record(b"x" * 101))
        stats = store.stats()
        assert stats.refused == 3
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", stats.refused_at)


def test_a_store_is_full_once_it_refused_for_want_of_room_until_room_is_made(rows: Any) -> None:
    with rows.open(max_bytes=100) as store:
        name = store.put(record(b"a" * 90))
        assert not store.stats().storage_full
        with pytest.raises(BudgetExceeded):
            store.put(record(b"b" * 20))
        assert store.stats().storage_full
        store.forget([name])
        assert not store.stats().storage_full
        with pytest.raises(BudgetExceeded):  # it is the payload that is large
            store.put(record(b"c" * 101))
        assert not store.stats().storage_full
        store.put(record(b"d" * 100))
        assert store.stats().storage_full


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["put", "object", "forget", "withdraw"]), st.integers(0, 5), st.integers(0, 60)),
        max_size=25,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_the_kept_total_is_what_a_recount_gives(store: Store, rows: Any, steps: list[tuple[str, int, int]]) -> None:
    store.max_bytes = 300
    for step, which, size in steps:
        original = bytes([which]) * (10 * which)
        try:
            if step == "put":
                store.put(record(original, metadata=b"m" * size or None, tokens_before=size))
            elif step == "object":
                store.put_object(decision(original))
            elif step == "forget":
                store.forget([handle(original)])
            else:
                store.withdraw(handle(original))
        except (BudgetExceeded, Conflict):
            pass
        assert store.stats().storage_bytes == rows.used() <= 300
    infos = store.records(limit=1000)
    assert store.stats().records == len(infos)
    assert store.stats().tokens_before == sum(info.tokens_before for info in infos)
    store.forget(everything=True)
    assert store.stats().storage_bytes == 0


def test_stats_add_up(store: Store) -> None:
    assert (store.stats().ratio, store.stats().basis) == (0.0, "inferred")
    store.put(record(b"a", tokens_before=100, tokens_after=25))
    store.put(record(b"b", tokens_before=100, tokens_after=75, metadata=b"mm"))
    stats = store.stats()
    assert (stats.records, stats.objects, stats.tokens_before, stats.tokens_after) == (2, 0, 200, 100)
    assert stats.ratio == 0.5
    assert stats.storage_bytes == 4
    assert stats.max_storage_bytes == 512 * 1024 * 1024


# ---------------------------------------------------------------- typed objects


def test_an_object_comes_back_with_everything_filled_in(store: Store) -> None:
    put = store.put_object(decision(b"data", dependencies=("a", "b"), repository_state="abc", transform_version="1"))
    assert put.content_hash == content_hash(b"data")
    assert put.object_id == object_id("TaskDecision", "s1", "agent", "abc", put.content_hash)
    assert (put.original_byte_length, put.stored_byte_length) == (4, 4)
    assert (put.currentness, put.lifecycle, put.dependencies) == ("current", "hot", ("a", "b"))
    assert put.created_at.endswith("Z")
    assert store.get_object(put.object_id) == put


def test_the_list_of_types_is_closed(store: Store) -> None:
    assert len(OBJECT_TYPES) == 13
    for type in OBJECT_TYPES:
        store.put_object(decision(type=type))
    for wrong in ("taskdecision", "Other", "", None, ["TaskDecision"]):
        with pytest.raises(InvalidArguments):
            store.put_object(decision(type=wrong))
    assert store.stats().objects == 13


@pytest.mark.parametrize(
    "wrong",
    [
        {"session_id": ""},
        {"session_id": None},
        {"data": "text"},
        {"source": 3},
        {"source": "\udfff"},
        {"currentness": "fresh"},
        {"lifecycle": "tepid"},
        {"dependencies": "abc"},
        {"dependencies": (1,)},
        {"original_byte_length": -1},
        {"stored_byte_length": 0.5},
        {"content_hash": "sha256:" + "0" * 64},
        {"created_at": "now"},
    ],
)
def test_an_object_of_wrong_types_or_values_is_refused(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        store.put_object(replace(decision(), **wrong))
    assert store.stats().objects == 0


def test_hash_and_id_that_are_given_are_checked(store: Store) -> None:
    put = store.put_object(decision())
    assert store.put_object(decision(object_id=put.object_id, content_hash=put.content_hash)) == put
    with pytest.raises(Conflict):
        store.put_object(decision(object_id=UNKNOWN_OBJECT))


def test_a_second_put_of_the_same_object_changes_nothing(store: Store) -> None:
    put = store.put_object(decision())
    store.set_currentness(put.object_id, "stale")
    store.set_lifecycle(put.object_id, "cold")
    again = store.put_object(decision(lifecycle="warm"))
    assert again == replace(put, currentness="stale", lifecycle="cold")
    assert store.put_object(put) == again
    assert store.stats().objects == 1


@pytest.mark.parametrize(
    "other",
    [
        {"transform_version": "2"},
        {"dependencies": ("x",)},
        {"original_byte_length": 999},
        {"stored_byte_length": 999},
        {"created_at": "2020-01-01T00:00:00Z"},
    ],
)
def test_other_fields_under_the_same_id_are_a_conflict(store: Store, other: dict[str, Any]) -> None:
    put = store.put_object(decision())
    with pytest.raises(Conflict) as caught:
        store.put_object(replace(decision(), **other))
    assert caught.value.reference == put.object_id
    assert store.get_object(put.object_id) == put


def test_an_object_that_no_longer_matches_is_never_returned(store: Store, rows: Any) -> None:
    data, source = store.put_object(decision(b"one")), store.put_object(decision(b"two"))
    rows.set_object(data.object_id, data=b"One")
    rows.set_object(source.object_id, source="somebody else")
    for damaged in (data, source):
        with pytest.raises(CorruptRecord):
            store.get_object(damaged.object_id)
    assert store.objects("s1") == []


def test_one_damaged_object_hides_no_other(store: Store, rows: Any) -> None:
    first, damaged, last = (store.put_object(decision(b'{"decision_id": "%d"}' % n)) for n in range(3))
    rows.set_object(damaged.object_id, data=b'{"decision_id": "0"}')
    assert store.objects("s1") == [last, first]
    assert store.task_decision("s1", "0") == first
    assert [error.reference for error in store.damaged()] == [damaged.object_id]


def test_damaged_names_every_bad_record_and_no_good_one(store: Store, rows: Any) -> None:
    names = [store.put(record(b"payload %d" % n)) for n in range(250)]
    bad = {names[3], names[77], names[249]}
    for name in bad:
        rows.set_original(name, b"something else")
    errors = list(store.damaged())
    assert {error.reference for error in errors} == bad
    assert {type(error) for error in errors} == {CorruptRecord}


def test_records_are_listed_in_the_order_asked_for(store: Store) -> None:
    def put(name: str, size: int, day: int) -> str:
        return store.put(record(b"x" * size, content_type=name, created_at=f"2026-01-0{day}T00:00:00.000000000Z"))

    a, b, c = put("log", 10, 3), put("json", 30, 1), put("log", 20, 2)
    assert [info.handle for info in store.records(sort="newest")] == [a, c, b]
    assert [info.handle for info in store.records(sort="largest")] == [b, c, a]
    assert [info.handle for info in store.records(sort="type")] == [b, a, c]
    assert [info.handle for info in store.records(sort="largest", limit=1)] == [b]
    assert store.record_ids() == [info.handle for info in store.records()] == sorted([a, b, c])
    for wrong in ({"sort": "oldest"}, {"sort": "newest", "after": a}):
        with pytest.raises(InvalidArguments):
            store.records(**wrong)  # type: ignore[arg-type]


def test_currentness_and_lifecycle_change_by_their_own_calls_only(store: Store) -> None:
    name = store.put_object(decision()).object_id
    for value in ("stale", "archived", "current"):
        store.set_currentness(name, value)
        assert store.get_object(name).currentness == value
    for value in ("warm", "cold", "archived", "hot"):
        store.set_lifecycle(name, value)
        assert store.get_object(name).lifecycle == value
    for change, wrong in ((store.set_currentness, "hot"), (store.set_lifecycle, "stale"), (store.set_lifecycle, None)):
        with pytest.raises(InvalidArguments):
            change(name, wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        store.set_currentness(UNKNOWN_OBJECT, "stale")
    store.forget([name])
    with pytest.raises(Forgotten):
        store.set_lifecycle(name, "cold")


def test_a_session_lists_its_own_objects_newest_first(store: Store) -> None:
    ids = [
        store.put_object(decision(f"{i}".encode(), created_at=f"2026-01-0{i}T00:00:00Z")).object_id for i in (2, 1, 3)
    ]
    store.put_object(decision(b"other", session_id="s2"))
    assert [obj.object_id for obj in store.objects("s1")] == [ids[2], ids[0], ids[1]]
    assert [obj.object_id for obj in store.objects("s1", limit=2)] == [ids[2], ids[0]]
    assert store.objects("nobody") == []


def test_of_objects_of_one_time_the_last_put_comes_first(store: Store) -> None:
    at = "2026-01-01T00:00:00Z"
    ids = [store.put_object(decision(f"{i}".encode(), created_at=at)).object_id for i in range(8)]
    assert [obj.object_id for obj in store.objects("s1")] == ids[::-1]


def test_object_ids_of_all_sessions_are_listed_by_pages(store: Store) -> None:
    ids = sorted(store.put_object(decision(session_id=f"s{i}")).object_id for i in range(7))
    first = store.object_ids(limit=4)
    assert first + store.object_ids(after=first[-1], limit=4) == ids


def test_a_task_decision_is_found_by_its_decision_id(store: Store) -> None:
    store.put_object(decision(b'{"decision_id": "d1", "v": 1}', created_at="2026-01-01T00:00:00Z"))
    newer = store.put_object(decision(b'{"v": 2, "decision_id": "d\\u0031"}', created_at="2026-01-02T00:00:00Z"))
    store.put_object(decision(b'{"decision_id": "d1"}', type="TaskContract"))
    store.put_object(decision(b'{"decision_id": "d1"}', session_id="s2"))
    assert store.task_decision("s1", "d1") == newer
    with pytest.raises(NotFound):
        store.task_decision("s1", "d9")
    with pytest.raises(InvalidArguments):
        store.task_decision("s1", None)  # type: ignore[arg-type]


def test_a_decision_that_is_no_json_object_is_passed_over(store: Store) -> None:
    wanted = store.put_object(decision(created_at="2026-01-01T00:00:00Z"))
    odd = [b"", b"\xff", b"[]", b"3", b'{"decision_id": 1}', b"[" * 100_000, b'"\\"' * 50_000, b'{"a":' * 5000]
    for data in odd:
        store.put_object(decision(data))
    assert store.task_decision("s1", "d1") == wanted


@given(dependencies=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_dependencies_come_back_exactly(store: Store, dependencies: list[str]) -> None:
    put = store.put_object(decision(json.dumps(dependencies).encode(), dependencies=tuple(dependencies)))
    assert store.get_object(put.object_id).dependencies == tuple(dependencies)


# ---------------------------------------------------------------- life and threads


def test_a_closed_store_answers_that_it_is_closed(rows: Any) -> None:
    with rows.open() as store:
        name = store.put(record())
    store.close()
    for call in (
        store.stats,
        store.records,
        lambda: store.get(name),
        lambda: store.put(record()),
        lambda: store.objects("s1"),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            call()


def test_threads_share_one_store(store: Store) -> None:
    problems: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for i in range(40):
                payload = f"{worker % 2}-{i}".encode() * 50  # pairs of threads put the same payloads
                name = store.put(record(payload))
                assert store.get(name) == payload
                store.stats(), store.records(limit=5)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert store.stats().records == 80
    assert store.stats().storage_bytes == sum(info.original_bytes for info in store.records(limit=1000))


def test_a_refused_put_leaves_the_store_usable(store: Store) -> None:
    for bad in (replace(record(), tokens_before=-1), replace(record(), original=None)):  # type: ignore[arg-type]
        with pytest.raises(CavemanError):
            store.put(bad)
    assert store.get(store.put(record())) == b"payload"
