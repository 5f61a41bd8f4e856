"""What stays: one fixed order, of which more room shows more; what stands out is in it, wherever it stands."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, json_text, log_text, shorten

from caveman_wasm.formats.base import Format
from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.log import LOG
from caveman_wasm.model import Document, Group
from caveman_wasm.select import Order, budget, left_out, order

FAULTS = Path(__file__).parents[2] / "shared" / "faults"  # beside the repository, where there is one
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.integers(-5, 10**6), st.text(max_size=300), st.booleans()),
    lambda inside: st.one_of(st.lists(inside, max_size=30), st.dictionaries(st.text(max_size=8), inside, max_size=12)),
    max_leaves=120,
)


# ---------------------------------------------------------------- more room never shows less


def shown(document: Document, ordered: Order, places: int) -> set[int]:
    """The offsets of the text that are neither in a left-out run nor in the separators that go with it."""
    gone: set[int] = set()
    for run in left_out(ordered, places):
        group = run.group
        for k, (first, last) in enumerate(run.pieces):
            start = group.stops[first - 1] if k and first else group.starts[first]
            gone.update(range(start, group.stops[last - 1]))
    return set(range(len(document.text))) - gone


@settings(max_examples=60, deadline=None)
@given(JSON_VALUES, st.data())
def test_a_longer_prefix_of_the_order_never_shows_less_of_nested_json(value: object, data: st.DataObject) -> None:
    document = cut(JSON, json.dumps({"items": [value] * 3, "more": value}))
    assert document is not None
    _never_less(document, data)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["INFO a", "ERROR b failed", "\tat x", "WARN c " + "x" * 90]), min_size=5, max_size=60),
    st.data(),
)
def test_a_longer_prefix_of_the_order_never_shows_less_of_a_log(kinds: list[str], data: st.DataObject) -> None:
    lines = [k if k[0] == "\t" else f"2026-05-14 08:00:{i % 60:02d} {k} {i}" for i, k in enumerate(kinds)]
    document = cut(LOG, "\n".join(lines))
    assert document is not None
    _never_less(document, data)


def _never_less(document: Document, data: st.DataObject) -> None:
    ordered = order(document)
    before = shown(document, ordered, 0)
    steps = data.draw(st.lists(st.integers(0, len(ordered.places)), max_size=12))
    for places in [*sorted(steps), len(ordered.places)]:
        now = shown(document, ordered, places)
        assert before <= now
        before = now


def test_more_bytes_never_mean_fewer_places() -> None:
    document = cut(JSON, json.dumps([{"id": i, "name": f"customer {i}"} for i in range(500)]))
    assert document is not None
    ordered = order(document)
    places = [ordered.prefix(limit) for limit in range(0, 40_000, 500)]
    assert places == sorted(places)


def test_failures_and_the_query_s_hits_stay_whatever_the_room() -> None:
    rows = [{"id": i, "status": "ok", "note": f"parcel {i}"} for i in range(800)]
    rows[311]["status"] = "failed"
    document = cut(JSON, json.dumps(rows))
    assert document is not None
    ordered = order(document, "parcel 777")
    urgent = shorten(JSON, json.dumps(rows), query="parcel 777", places=ordered.prefix(0)).text
    assert '"id":311,' in urgent
    assert '"id":777,' in urgent
    assert '"id":500,' not in urgent


@settings(max_examples=25, deadline=None)
@given(JSON_VALUES, st.integers(0, 10_000))
def test_spans_of_nested_json_are_exactly_what_is_missing(value: object, room: int) -> None:
    payload = json.dumps({"items": [value, value, value, value], "x": value}, indent=1)
    document = cut(JSON, payload)
    assert document is not None
    places = order(document).prefix(room)
    json.loads(json_text(payload, places=places).text.encode("latin-1"))


def test_small_texts_keep_a_larger_share() -> None:
    assert budget(1_000, 0.2) > 600
    assert budget(1_000_000, 0.2) == 200_240


# ---------------------------------------------------------------- the odd one is seen, wherever it stands

Row = Callable[[random.Random, int], str]


def at(i: int) -> str:
    return f"2026-05-14 08:{i // 60 % 60:02d}:{i % 60:02d}"


PAYMENT = "INFO payment for order {i} from card holder settled through north gateway status {s}"
ACCESS = '10.0.0.{a} - - [14/May/2026:08:00:{b:02d} +0000] "GET /p/{c} HTTP/1.1" {s} {d} "-" "curl"'

LOGS: dict[str, tuple[Row, Row, str]] = {
    "one reversed payment": (
        lambda r, i: f"{at(i)} {PAYMENT.format(i=i, s='captured')}",
        lambda r, i: f"{at(i)} {PAYMENT.format(i=i, s='REVERSED')}",
        "REVERSED",
    ),
    "one verified user": (
        lambda r, i: f"{at(i)} INFO user {i} was not verified by the gateway",
        lambda r, i: f"{at(i)} INFO user {i} was verified by the gateway",
        "was verified",
    ),
    "one huge transfer": (
        lambda r, i: f"{at(i)} INFO transfer {i} of {r.randint(1, 9)}0 dollars done in {r.randint(1, 90)} ms",
        lambda r, i: f"{at(i)} INFO transfer {i} of 9999999 dollars done in 5 ms",
        "9999999",
    ),
    "one huge transfer with separators": (
        lambda r, i: f"{at(i)} INFO transfer of {r.randint(1, 9)}0 dollars done",
        lambda r, i: f"{at(i)} INFO transfer of 9,999,999 dollars done",
        "9,999,999",
    ),
    "one huge amount in a field": (
        lambda r, i: f"{at(i)} INFO order={i} amount={r.randint(10, 99)} status=ok",
        lambda r, i: f"{at(i)} INFO order={i} amount=9999999 status=ok",
        "9999999",
    ),
    "one declined": (
        lambda r, i: f"{at(i)} INFO order={i} amount={r.randint(10, 99)} status=ok user=u{i % 97}",
        lambda r, i: f"{at(i)} INFO order={i} amount=15 status=declined user=u5",
        "declined",
    ),
    "one failed batch": (
        lambda r, i: f"{at(i)} INFO batch {i} done processed=100 failed=0",
        lambda r, i: f"{at(i)} INFO batch {i} done processed=100 failed=3",
        "failed=3",
    ),
    "one server error": (
        lambda r, i: ACCESS.format(a=i % 50, b=i % 60, c=i % 300, s=200, d=r.randint(100, 900)),
        lambda r, i: ACCESS.format(a=7, b=0, c=77, s=503, d=17),
        " 503 ",
    ),
    "one error": (
        lambda r, i: f"{at(i)} INFO request {i} served in {r.randint(1, 90)} ms",
        lambda r, i: f"{at(i)} ERROR request {i} timed out",
        "ERROR",
    ),
    "one strange word among many": (
        lambda r, i: (
            f"{at(i)} INFO [{r.choice('abcd')}] {r.choice(['started', 'stopped', 'asked'])} peer {r.randint(1, 10**6)}"
        ),
        lambda r, i: f"{at(i)} INFO [a] evicted peer 77",
        "evicted",
    ),
}


def row(**fields: object) -> str:
    return json.dumps(fields, separators=(",", ":"))


ARRAYS: dict[str, tuple[Row, Row, str]] = {
    "one reversed payment": (
        lambda r, i: row(id=i, amount=r.randint(10, 99), status="paid", name=f"customer {i}"),
        lambda r, i: row(id=i, amount=15, status="REVERSED", name=f"customer {i}"),
        "REVERSED",
    ),
    "one huge amount": (
        lambda r, i: row(id=i, amount=r.randint(10, 99), email=f"c{i}@x.org"),
        lambda r, i: row(id=i, amount=9999999, email=f"c{i}@x.org"),
        "9999999",
    ),
    "one field more": (
        lambda r, i: row(id=i, v=r.random()),
        lambda r, i: row(id=i, v=r.random(), chargeback=True),
        "chargeback",
    ),
    "one error": (
        lambda r, i: row(id=i, status="ok", error=None),
        lambda r, i: row(id=i, status="ok", error="disk full"),
        "disk full",
    ),
    "one string among numbers": (lambda r, i: row(id=i, v=i), lambda r, i: row(id=i, v="seven"), "seven"),
    "one null among numbers": (lambda r, i: row(id=i, v=r.random()), lambda r, i: row(id=i, v=None), "null"),
    "one number among strings": (lambda r, i: row(id=i, v=f"{r.random():.9f}x"), lambda r, i: row(id=i, v=5), '"v":5}'),
    "one nested state": (
        lambda r, i: row(id=i, meta={"state": "up", "host": f"h{i}"}),
        lambda r, i: row(id=i, meta={"state": "drained", "host": f"h{i}"}),
        "drained",
    ),
    "one word of a sentence": (
        lambda r, i: row(id=i, msg=f"payment {i} of customer {i * 7} was settled"),
        lambda r, i: row(id=i, msg=f"payment {i} of customer {i * 7} was reversed"),
        "reversed",
    ),
    "one bare number": (lambda r, i: str(r.randint(10, 99)), lambda r, i: "9999999", "9999999"),
    "one value of a tuple": (
        lambda r, i: f'[{i},{r.randint(1, 50)},"ok"]',
        lambda r, i: f'[{i},3,"lost"]',
        "lost",
    ),
}


def _with_one(rows: tuple[Row, Row, str], n: int, place: int) -> list[str]:
    r = random.Random(n)
    usual, odd, _ = rows
    return [(odd if i == place else usual)(r, i) for i in range(n)]


SIZES = st.sampled_from([500, 1100, 2048, 5000])


@settings(max_examples=6, deadline=None)
@pytest.mark.parametrize("rows", LOGS.values(), ids=LOGS.keys())
@given(SIZES, st.floats(0, 0.9999))
def test_the_odd_entry_of_a_log_is_seen(rows: tuple[Row, Row, str], n: int, where: float) -> None:
    made = log_text("\n".join(_with_one(rows, n, int(where * n))))
    assert rows[2] in made.text
    assert len(made.text) < 0.3 * len(made.document.text)


@settings(max_examples=6, deadline=None)
@pytest.mark.parametrize("rows", ARRAYS.values(), ids=ARRAYS.keys())
@given(SIZES, st.floats(0, 0.9999))
def test_the_odd_element_of_an_array_is_seen(rows: tuple[Row, Row, str], n: int, where: float) -> None:
    made = json_text(f"[{','.join(_with_one(rows, n, int(where * n)))}]")
    assert rows[2] in made.text
    assert len(made.text) < 0.5 * len(made.document.text)


@pytest.mark.parametrize(
    ("form", "payload", "seen"),
    [
        (LOG, "F16.log", "status=declined"),
        (LOG, "F18a.log", "REVERSED"),
        (LOG, "F18c.log", "9999999"),
        (LOG, "F15.log", ""),
        (JSON, "F20.json", ""),
        (LOG, "F21.log", ""),
        (LOG, "F23.log", ""),
        (JSON, "F22a.json", ""),
        (JSON, "F27.json", "lost"),
    ],
)
def test_files_that_others_stumble_over(form: Format, payload: str, seen: str) -> None:
    if not FAULTS.exists():
        pytest.skip("no collection of faults beside the repository")
    data = (FAULTS / payload).read_bytes()
    made = json_text(data) if form is JSON else log_text(data)
    assert seen.replace("9999999", "9,999,999") in made.text or seen in made.text
    assert len(made.text) < len(data)


def test_what_says_that_nothing_failed_is_no_failure() -> None:
    quiet = [
        '"error":null',
        '"error":""',
        '"failed":0',
        '"errors":[]',
        '"success":true',
        '"exit_code":0',
        '"error":"none"',
    ]
    for field in quiet:
        ordered = order(cut(JSON, "[" + ",".join(f'{{"id":{i},{field}}}' for i in range(200)) + "]"))  # type: ignore[arg-type]
        assert ordered.urgent == 0, field
    for words in ["failed=0", "errors: 0", "error=null", "no errors", "0 failures", "without error", 'err="" done']:
        ordered = order(cut(LOG, "\n".join(f"{at(i)} job {i} {words}" for i in range(200))))  # type: ignore[arg-type]
        assert ordered.urgent == 0, words


def test_each_kind_of_failure_is_seen_first_and_last() -> None:
    kinds = ["disk full", "connection refused by peer", "timeout after 30 s", "out of memory"]
    lines = [f"{at(i)} {'ERROR ' + kinds[i // 37 % 4] if i % 37 == 0 else 'INFO fine'} #{i}" for i in range(3000)]
    text = log_text("\n".join(lines)).text
    for kind in kinds:
        mine = [x for x in lines if kind in x]
        assert mine[0] in text
        assert mine[-1] in text


def test_groups_that_are_empty_or_of_one_unit_are_no_trouble() -> None:
    for groups in ([], [Group([], [], "records", "rows")], [Group([0], [2], "tree", "rows")]):
        document = Document("xx", "json", list(groups), 2)
        ordered = order(document)
        assert left_out(ordered, 0) == []
