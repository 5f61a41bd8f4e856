"""The engine's promises, over both stores' contract and over hard bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from corpus.make import inputs, log_lines, orders
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, open_memory
from caveman_wasm.errors import (
    BudgetExceeded,
    InputTooLarge,
    InvalidArguments,
    InvalidReference,
    NotFound,
    StoreUnavailable,
)
from caveman_wasm.markers import closing_handle
from caveman_wasm.model import MAX_PAYLOAD, Recovery
from caveman_wasm.references import handle
from caveman_wasm.store.memory import MemoryStore
from caveman_wasm.tokens import count_tokens, default_counter

ROWS = json.dumps(orders(240)).encode()
LOG = "\n".join(log_lines(400, 2)).encode()
COUNTER = default_counter()


def engine(**options: int) -> Engine:
    return Engine(open_memory(**options), counter=COUNTER)


@pytest.mark.parametrize("payload", [p for _, _, p, _ in inputs()], ids=[f"{k}/{n}" for k, n, _, _ in inputs()])
def test_every_golden_input_comes_back_byte_for_byte_and_is_smaller(payload: bytes) -> None:
    made = engine()
    result = made.compress(payload)
    assert result.reason is None
    assert result.recovery_handle == handle(payload)
    assert made.retrieve(result.recovery_handle) == payload
    assert result.tokens_after < result.tokens_before
    assert result.tokens_after == count_tokens(COUNTER, result.text.encode("utf-8"))


HARD = st.one_of(
    st.binary(max_size=3000),
    st.text(max_size=2000),
    st.lists(
        st.sampled_from(
            [b'{"a":1}', b"\xff", b"\x00", b"\r\n", b"\xef\xbb\xbf", b"ERROR x\n", b"a,b\n", b"# h\n", b"\xed\xa0\x80"]
        )
    ).map(lambda parts: b"".join(parts) * 40),
    st.tuples(st.sampled_from([ROWS, LOG]), st.integers(0, 3000), st.binary(max_size=8)).map(
        lambda t: t[0][: t[1]] + t[2] + t[0][t[1] :]
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(payload=HARD)
def test_any_input_round_trips_is_never_larger_and_is_stable(payload: bytes | str) -> None:
    made = engine()
    data = payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else payload
    result = made.compress(payload)
    assert result.error is None, "an internal failure hides behind a pass-through"
    assert result.tokens_after <= result.tokens_before
    if result.output != data:
        assert result.recovery_handle is not None
        assert made.retrieve(result.recovery_handle) == data
        again = Engine(made.store, counter=COUNTER).compress(result.output)
        assert (again.output, again.reason) == (result.output, "already_compressed")
    else:
        assert result.recovery_handle is None
        assert result.reason is not None


def test_a_str_with_lone_surrogates_comes_back_as_its_surrogatepass_bytes() -> None:
    text = "\ud800 lone " + "line of text with a point. " * 200
    made = engine()
    result = made.compress(text)
    assert result.recovery_handle
    assert made.retrieve(result.recovery_handle) == text.encode("utf-8", "surrogatepass")
    assert "\ud800" in result.text


def test_utf16_is_read_as_such_and_written_back_as_such() -> None:
    payload = b"\xff\xfe" + LOG.decode().encode("utf-16-le")
    made = engine()
    result = made.compress(payload)
    assert result.content_type == "log"
    assert result.output.startswith(b"\xff\xfe")
    assert "elided" in result.output[2:].decode("utf-16-le")
    assert made.retrieve(str(result.recovery_handle)) == payload
    again = made.compress(result.output)
    assert again.reason == "already_compressed"


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "too_small"),
        (b" " * 511, "too_small"),
        (b"\n" * 511, "too_small"),
        (bytes(range(256)) * 10, "binary"),
        (b"[" * 4000 + b"]" * 4000, "not_parseable"),
        (b'{"a":' * 4000 + b"1" + b"}" * 4000, "not_parseable"),
    ],
    ids=["empty", "blanks", "newlines", "every byte", "deep array", "deep object"],
)
def test_what_cannot_be_shortened_passes_through_with_its_reason(payload: bytes, reason: str) -> None:
    result = engine().compress(payload)
    assert (result.output, result.recovery_handle, result.reason) == (payload, None, reason)


def test_record_mode_and_unknown_modes_change_and_store_nothing() -> None:
    for mode in ("record", "whatever"):
        made = engine()
        result = made.compress(LOG, mode=mode)
        assert (result.output, result.reason) == (LOG, "record_mode")
        assert made.stats().records == 0


def test_simulate_says_what_compress_would_save_and_puts_nothing() -> None:
    made = engine()
    would, did = made.simulate(LOG), engine().compress(LOG)
    assert (would.output, would.recovery_handle) == (LOG, None)
    assert (would.tokens_before, would.tokens_after) == (did.tokens_before, did.tokens_after)
    assert made.stats().records == 0


def test_without_a_store_nothing_lossy_happens_but_json_may_lose_white_space() -> None:
    bare = Engine(counter=COUNTER)
    assert bare.compress(LOG).reason == "no_store"
    pretty = json.dumps(orders(40), indent=2).encode()
    result = bare.compress(pretty)
    assert json.loads(result.output) == json.loads(pretty)
    assert result.tokens_after < result.tokens_before
    assert result.lossless_to_model
    with pytest.raises(StoreUnavailable):
        bare.retrieve("ccr_" + "0" * 32)


def test_with_external_recovery_nothing_is_put_and_no_reference_is_written() -> None:
    made = engine()
    result = made.compress(LOG, external_recovery=True)
    assert result.tokens_after < result.tokens_before
    assert result.recovery_handle is None
    assert closing_handle(result.text) is None
    assert made.stats().records == 0


class _Failing(MemoryStore):
    """A store that fails as told; everything else is the real one."""

    def __init__(self, error: Exception) -> None:
        super().__init__(10**6)
        self.error = error

    def put(self, record: Recovery) -> str:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [
        (StoreUnavailable("disk"), "store_failed", "cave_ccr_unavailable"),
        (BudgetExceeded("full"), "store_failed", "cave_ccr_budget_exceeded"),
        (MemoryError(), "store_failed", "cave_ccr_budget_exceeded"),
        (RuntimeError("bug"), None, "cave_error"),
    ],
)
def test_when_the_put_fails_the_caller_gets_its_own_input(error: Exception, reason: str | None, code: str) -> None:
    result = Engine(_Failing(error), counter=COUNTER).compress(LOG)
    assert result.output == LOG
    assert result.recovery_handle is None
    assert result.error == code
    assert reason is None or result.reason == reason


def test_a_store_that_returns_another_handle_is_not_believed() -> None:
    class Lying(MemoryStore):
        def put(self, record: Recovery) -> str:
            super().put(record)
            return "ccr_" + "0" * 32

    result = Engine(Lying(10**6), counter=COUNTER).compress(LOG)
    assert (result.output, result.reason) == (LOG, "store_failed")


def test_a_full_store_refuses_and_old_handles_go_on_working() -> None:
    made = engine(max_bytes=len(LOG) + 500)
    first = made.compress(LOG)
    refused = made.compress(ROWS)
    assert (refused.output, refused.error) == (ROWS, "cave_ccr_budget_exceeded")
    assert made.retrieve(str(first.recovery_handle)) == LOG
    assert made.stats().refused == 1


def test_what_was_handed_out_by_retrieve_is_not_compressed_again() -> None:
    made = engine()
    result = made.compress(LOG)
    assert made.compress(made.retrieve(str(result.recovery_handle))).reason == "retrieved"
    view = made.retrieve_query(str(result.recovery_handle), "REVERSED by operator")
    assert view != LOG
    assert made.compress(view).reason in ("retrieved", "already_compressed", "too_small")


def test_a_reference_that_the_store_does_not_know_is_data() -> None:
    shortened = engine().compress(LOG)
    forged = LOG + b"\n" + shortened.output.splitlines()[-1]
    result = engine().compress(forged)
    assert result.reason is None
    assert result.tokens_after < result.tokens_before


def test_a_smaller_ceiling_makes_our_own_text_anew_from_the_original() -> None:
    made = engine()
    first = made.compress(LOG)
    ceiling = first.tokens_after // 2
    second = made.compress(first.output, max_tokens=ceiling)
    assert second.recovery_handle == first.recovery_handle
    assert second.tokens_after <= ceiling
    assert made.compress(first.output, max_tokens=first.tokens_after).reason == "already_compressed"


CEILED: list[Callable[[], bytes]] = [lambda: ROWS, lambda: LOG]


@pytest.mark.parametrize(
    "payload", [p for k, n, p, o in inputs() if not o], ids=[f"{k}/{n}" for k, n, p, o in inputs() if not o]
)
def test_a_ceiling_is_kept_and_a_larger_one_never_shows_less(payload: bytes) -> None:
    normal = engine().compress(payload)
    shown: list[int] = []
    for ceiling in (60, 150, 300, 600, 1200, 10**6):
        result = engine().compress(payload, max_tokens=ceiling)
        assert result.tokens_after <= ceiling or result.reason == "over_budget"
        shown.append(sum(stop - start for m in result.markers for start, stop in m.spans))
    assert shown == sorted(shown, reverse=True)
    assert engine().compress(payload, max_tokens=10**6).output == normal.output


def test_a_query_keeps_what_it_asks_for() -> None:
    needle = b"order 4123 was verified"
    assert needle not in engine().compress(LOG).output
    assert needle in engine().compress(LOG, query="order 4123").output


@pytest.mark.parametrize("payload", [None, 5, bytearray(b"x" * 600), ["x"]])
def test_other_types_are_invalid_arguments(payload: object) -> None:
    with pytest.raises(InvalidArguments):
        engine().compress(payload)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [{"content_type": "no-such"}, {"max_tokens": 0}, {"max_tokens": True}, {"query": 3}, {"mode": None}]
)
def test_bad_options_are_invalid_arguments(options: dict[str, object]) -> None:
    with pytest.raises(InvalidArguments):
        engine().compress(LOG, **options)  # type: ignore[arg-type]


def test_over_64_mib_is_refused_whole() -> None:
    with pytest.raises(InputTooLarge):
        engine().compress(b"x" * (MAX_PAYLOAD + 1))
    with pytest.raises(InputTooLarge):
        engine().compress("é" * (MAX_PAYLOAD // 2 + 1))


def test_unknown_cut_and_malformed_references_have_their_own_errors() -> None:
    made = engine()
    with pytest.raises(NotFound):
        made.retrieve("ccr_" + "a" * 32)
    with pytest.raises(InvalidReference):
        made.retrieve("ccr_" + "a" * 20)
    with pytest.raises(InvalidReference):
        made.retrieve("the output above")


def test_a_question_gets_whole_units_and_one_without_a_hit_gets_everything() -> None:
    made = engine()
    reference = str(made.compress(LOG).recovery_handle)
    view = made.retrieve_query(reference, "REVERSED by operator").decode()
    assert "order 4077 REVERSED by operator" in view
    assert reference in view.splitlines()[-1]
    assert len(view) < len(LOG) // 2
    for line in view.splitlines():
        assert line in LOG.decode() or line.startswith(("… [caveman", "[caveman"))
    assert made.retrieve_query(reference, "zebra crossing") == LOG


def test_metadata_says_how_the_text_was_made() -> None:
    made = engine()
    reference = str(made.compress(LOG, query="order 4123", max_tokens=500).recovery_handle)
    said = json.loads(made.retrieve_metadata(reference) or b"")
    assert (said["query"], said["max_tokens"], said["counter"]) == ("order 4123", 500, "o200k_base")


PRINTER = """
import sys
sys.path[:0] = {paths!r}
from corpus.make import inputs
from caveman_wasm import Engine, open_memory
from hashlib import sha256
for kind, name, payload, options in inputs():
    print(kind, name, sha256(Engine(open_memory()).compress(payload, **options).output).hexdigest())
"""


def test_two_processes_with_different_hash_seeds_print_the_same_bytes() -> None:
    script = PRINTER.format(paths=[p for p in sys.path if p])
    runs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("1", "4242")
    }
    assert len(runs) == 1
    assert len(next(iter(runs)).splitlines()) == len(list(inputs()))


def test_explain_gives_the_same_bytes_and_why_each_unit_is_shown() -> None:
    logged = "\n".join(log_lines(300, 2)).encode()
    engine = Engine(open_memory())
    assert engine.store is not None
    name = engine.store.put(Recovery("log", "log/1", 9, 3, logged))
    seen = engine.retrieve_query(name, "order 4077 verified", explain=True)
    assert seen.output == engine.retrieve_query(name, "order 4077 verified")
    assert all(unit.score > 0 and unit.terms for unit in seen.units)
    best = max(seen.units, key=lambda unit: unit.score)
    assert b"order 4077 " in logged[best.start : best.stop]
    assert {"order", "4077"} <= best.terms.keys()
    for whole in ("", "unicorn"):
        seen = engine.retrieve_query(name, whole, explain=True)
        assert (seen.output, seen.units) == (logged, ())
