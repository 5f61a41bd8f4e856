"""Whatever tool output suffers on its way (torn characters, lost pieces, other output in between), nothing fails on it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from payloads import golden_cases

from caveman_wasm import Engine, open_memory

PAYLOADS = [case.payload for case in golden_cases()]
KINDS = sorted({case.name.partition("/")[0] for case in golden_cases()})
PIECES = [
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\t",
        b" ",
        b"\x00",
        b"\x1b",
        b"\x1b[2K",
        b"\x1b[1A",
        b"\x1b[5D",
        b"\x08",
        b"\x80",
        b"\xe2",
    ),
    *(b"\xff", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b'"', b"'", b"`", b"{", b"}", b"["),
    *(
        b"]",
        b"<",
        b">",
        b"</",
        b"<!--",
        b"-->",
        b"|",
        b",",
        b":",
        b"=",
        b"#",
        b"---\n",
        b"- ",
        b"@@",
        b"+",
        b"-",
        b"\\",
    ),
    *(b"```\n", b"/*", b'"""', b"NaN", b"1e309", b"007", b"ERROR", b"all x=1", b"1 line elided", b"ccr_" + b"0" * 32),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden input with up to twenty bytes, pieces or stretches lost, repeated, moved or put in."""
    text = bytearray(draw(st.sampled_from(PAYLOADS))[:12_000])
    for _ in range(draw(st.integers(1, 20))):
        at = draw(st.integers(0, len(text)))
        stop = min(len(text), at + draw(st.sampled_from([1, 3, 20, 200, 1500])))
        piece, times = draw(st.sampled_from(PIECES)), draw(st.sampled_from([1, 1, 3, 50]))
        other = draw(st.sampled_from(PAYLOADS))
        begin = draw(st.integers(0, len(other)))
        stretch = bytes(text[at:stop])
        match draw(st.integers(0, 4)):
            case 0:
                del text[at:stop]
            case 1:
                text[at:at] = stretch * times
            case 2:
                text[at:at] = piece * times
            case 3:
                text[at:at] = other[begin : begin + 40 * times]
            case _:
                del text[at:stop]
                text[begin:begin] = stretch
    return bytes(text[:40_000])


def nothing_fails(payload: bytes, kind: str | None, ceiling: int | None) -> None:
    engine = Engine(open_memory())
    made = engine.compress(payload, content_type=kind, max_tokens=ceiling, query="error of a user")
    assert made.error is None
    if made.recovery_handle is None:
        assert made.output == payload
        return
    assert engine.retrieve(made.recovery_handle) == payload
    assert engine.retrieve_query(made.recovery_handle, "error of a user")


@settings(max_examples=150, deadline=None)
@given(damaged(), st.none() | st.sampled_from(KINDS), st.none() | st.just(200))
def test_nothing_fails_on_damaged_output(payload: bytes, kind: str | None, ceiling: int | None) -> None:
    nothing_fails(payload, kind, ceiling)


@pytest.mark.long
@settings(max_examples=5_000, deadline=None)
@given(damaged(), st.none() | st.sampled_from(KINDS), st.none() | st.just(200))
def test_nothing_fails_on_much_damaged_output(payload: bytes, kind: str | None, ceiling: int | None) -> None:
    nothing_fails(payload, kind, ceiling)
