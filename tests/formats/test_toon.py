"""TOON: the same value by the official library, or nothing."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.toon import TOON, encoded
from caveman_wasm.model import raw, source

toon_format = pytest.importorskip("toon_format")

ROWS = [{"id": i, "name": f"näme {i}", "ok": i % 2 == 0, "note": None} for i in range(60)]


@pytest.mark.parametrize("value", [ROWS, {"rows": ROWS, "total": 60}])
def test_a_table_of_objects_comes_out_shorter_and_reads_back_as_the_same_value(value: Any) -> None:
    payload = json.dumps(value, ensure_ascii=False, indent=1)
    engine = Engine(open_memory())
    result = engine.compress(payload, content_type="toon")
    assert result.tokens_after < 0.7 * result.tokens_before
    assert result.lossless_to_model
    assert result.recovery_handle is not None
    assert engine.retrieve(result.recovery_handle) == payload.encode()
    body, _, closing = result.text.rstrip("\n").rpartition("\n")
    assert toon_format.decode(body) == value
    assert result.recovery_handle in closing


def test_the_reference_is_a_last_key_of_an_object_and_the_text_still_toon() -> None:
    payload = json.dumps({"rows": ROWS, "_caveman_ref": "mine"})
    read = toon_format.decode(Engine(open_memory()).compress(payload, content_type="toon").text)
    assert list(read) == ["rows", "_caveman_ref", "_caveman_ref_"]
    assert read["rows"] == ROWS


def test_a_text_with_a_reference_is_not_compressed_again() -> None:
    engine = Engine(open_memory())
    for value in (ROWS, {"rows": ROWS}):
        again = engine.compress(engine.compress(json.dumps(value), content_type="toon").output)
        assert again.reason == "already_compressed"


@pytest.mark.parametrize(
    "text",
    ['{"a":1.0}', '{"a":-0.0}', '{"a":1e400}', '{"a":NaN}', '{"a":1,"a":2}', '{"a":0.10000000000000000001}', "1", '"x"', "", "a: 1", "[" * 300,
     '{"a":"\\ud800"}', '{"a":1} x', '{"a":"\xff"}'],
)  # fmt: skip
def test_what_toon_would_not_give_back_passes_through(text: str) -> None:
    assert encoded(text) is None
    assert TOON.split(text) is None


def test_without_the_library_the_payload_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toon_format", None)
    result = Engine(open_memory()).compress(json.dumps(ROWS), content_type="toon")
    assert result.reason == "not_parseable"
    assert result.output == json.dumps(ROWS).encode()


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_whatever_is_written_reads_back_exactly(value: Any) -> None:
    try:
        text = source(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return
    toon = encoded(text)
    if toon is not None:
        assert json.dumps(toon_format.decode(raw(toon).decode())) == json.dumps(value)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_encoded_or_refused(payload: bytes) -> None:
    encoded(source(payload))
