"""JSON stays JSON: valid, the same values in the same spelling, no key twice that was not; hard input passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, json_text, seconds

from caveman_wasm.formats.json_records import JSON, MAX_DEPTH, depth_ok
from caveman_wasm.markers import MARKER_KEY, REFERENCE_KEY
from caveman_wasm.model import raw, source


def rows(n: int = 300, extra: str = "") -> str:
    return ",".join(f'{{"id":{i},"name":"customer {i}","state":"paid"{extra}}}' for i in range(n))


def spelled(text: str) -> Any:
    """A document as nested tuples: pairs in order, none merged, numbers as they are spelled."""
    said = raw(text).decode("utf-8", "surrogatepass").removeprefix("\ufeff")
    return json.loads(said, object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str, strict=False)


def duplicates(value: Any, found: set[str]) -> set[str]:
    """Keys that stand twice in one object anywhere."""
    if isinstance(value, tuple):
        keys = [k for k, _ in value]
        found.update(k for k in keys if keys.count(k) > 1)
        for _, inner in value:
            duplicates(inner, found)
    elif isinstance(value, list):
        for inner in value:
            duplicates(inner, found)
    return found


SPELLING = [
    '"v":12345678901234567890,"e":1E+2,"z":1.50,"n":NaN,"i":-Infinity',
    '"a":1,"a":2',
    '"u":"\\u00e9\\ud800\\u0000\\/"',
    '"é":"日本😀"',
    '"s":"<b>&\\"[{,:"',
    '"":{"":[]}',
]


@pytest.mark.parametrize("field", SPELLING)
@pytest.mark.parametrize("indent", [False, True])
def test_kept_elements_keep_their_values_and_their_spelling(field: str, indent: bool) -> None:
    parted = ",".join(f'{{"id":{i},{field}}}' for i in range(300))
    payload = f"[ {parted} ]".replace(",", " ,\r\n\t") if indent and "," not in '<b>&"[{,:' else f"[{parted}]"
    made = json_text(payload)
    kept = [e for e in spelled(made.text) if e[0][0] == "id"]
    original = {e[0][1]: e for e in spelled(source(payload.encode()))}
    assert 2 <= len(kept) < 300
    for element in kept:
        assert repr(element) == repr(original[element[0][1]])


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        lambda inside: st.one_of(st.lists(inside), st.dictionaries(st.text(), inside)),
        max_leaves=40,
    ),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
    st.integers(0, 3000),
)
def test_any_document_comes_out_as_json_at_any_length(value: Any, indent: Any, ascii_only: bool, room: int) -> None:
    payload = json.dumps({"a": [value] * 5, "b": value}, indent=indent, ensure_ascii=ascii_only)
    text = source(payload.encode("utf-8", "surrogatepass"))
    document = cut(JSON, payload)
    assert document is not None
    assert repr(spelled(document.text)) == repr(spelled(text))
    made = json_text(payload, places=room % 60)
    assert duplicates(spelled(made.text), set()) == set()


@pytest.mark.parametrize("key", [MARKER_KEY, REFERENCE_KEY, f"{MARKER_KEY}_facts"])
@pytest.mark.parametrize("spelling", ["{}", "{}_", "\\u005fcaveman{}"])
def test_our_keys_avoid_the_payload_s_own(key: str, spelling: str) -> None:
    name = spelling.format(key if "u005f" not in spelling else key.removeprefix("_caveman"))
    document = (
        "{"
        + f'"{name}":"theirs","rows":[{rows()}],"map":{{'
        + ",".join(f'"k{i}":{{"{name}":{i},"pad":"{"x" * 40}"}}' for i in range(300))
        + "}}"
    )
    made = json_text(document)
    out = spelled(made.text)
    assert duplicates(out, set()) == set()
    assert dict(out)[json.loads(f'"{name}"')] == "theirs"
    assert made.text.count('"theirs"') == 1


def test_an_object_holds_one_marker_and_it_counts_all_that_is_gone() -> None:
    made = json_text("{" + ",".join(f'"k{i}":{{"name":"n{i}","v":{i}}}' for i in range(400)) + "}")
    out = json.loads(made.text)
    assert made.text.count(f'"{MARKER_KEY}":') == 1
    assert out[MARKER_KEY] + len([k for k in out if k.startswith("k")]) == 400


def test_an_array_s_markers_stand_where_the_elements_stood() -> None:
    out = json.loads(json_text(f"[{rows()}]").text)
    at = 0
    for element in out[:-1]:
        if MARKER_KEY in element:
            at += element[MARKER_KEY]
        else:
            assert element["id"] == at
            at += 1
    assert at == 300
    assert list(out[-1]) == [REFERENCE_KEY]


@pytest.mark.parametrize(
    "wrap", ["{}", '{{"data":{}}}', '{{"a":1,"b":{{"c":{},"d":2}}}}', "[[{}],[1]]", "{}\n", "\n {} \r\n"]
)
def test_the_reference_is_the_last_member_or_element(wrap: str) -> None:
    out = json.loads(json_text(wrap.format(f"[{rows()}]")).text)
    last = out[-1] if isinstance(out, list) else out
    assert list(last)[-1] == REFERENCE_KEY


def test_a_byte_order_mark_stays_at_the_head() -> None:
    made = json_text(b"\xef\xbb\xbf" + f"[{rows()}]".encode())
    assert made.text.startswith("\xef\xbb\xbf[")
    assert spelled(made.text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n\n", " \r\n \n"])
@pytest.mark.parametrize("last", ["", "\n"])
@pytest.mark.parametrize("spaced", [False, True])
def test_json_lines_stay_lines(newline: str, last: str, spaced: bool) -> None:
    lines = [
        json.dumps({"id": i, "deep": {"list": [f"x{i}"] * 60}}, separators=None if spaced else (",", ":"))
        for i in range(200)
    ]
    made = json_text(newline.join(lines) + last)
    out = [json.loads(x) for x in made.text.split("\n") if x.strip()]
    assert {next(iter(x)) for x in out} == {"id", MARKER_KEY, REFERENCE_KEY}
    assert list(out[-1]) == [REFERENCE_KEY]
    assert len(made.text) < len(made.document.text) / 2


def test_json_lines_say_which_lines_are_gone_in_the_payload() -> None:
    payload = "".join(f'{{"id": {i}, "name": "customer {i}"}}\n' for i in range(300)).encode()
    made = json_text(payload)
    for marker in made.markers:
        ((start, stop),) = marker.spans
        assert payload[start:stop].count(b"\n") == marker.count - 1
        assert payload[start:stop].startswith(b"{")
        assert payload[start:stop].endswith(b"}")


@pytest.mark.parametrize(
    "text",
    [
        "1", '"text"', "null", "true", "", " ", "[", "]", "{", "[1 2]", "[1,2", "[1,2]]", '{"a":1}}', "[1,]", "{,}",
        '{"a"}', '{"a" 1}', "{1:2}", "[tr ue]", "[1. 5]", "[1\x0b,2]", "[1,\xa02]", '["a" "b"]', "[1] [2]", '["\n',
        "[01]", "[+1]",
        "[1]\n[2", '{"a":1}\n{"b":}', '[{"a":1}{"b":2}]', "[1][2]", "NaN",
    ],
)  # fmt: skip
def test_what_is_no_json_document_is_not_cut(text: str) -> None:
    assert cut(JSON, text.encode("latin-1")) is None


@pytest.mark.parametrize(
    "deep", ["[" * 6000 + "]" * 6000, "[" * 8_000_000, '{"a":' * 6000 + "1" + "}" * 6000, "]" * 100_000]
)
def test_depth_never_kills(deep: str) -> None:
    assert cut(JSON, deep) is None


def test_the_cap_on_depth_is_exact() -> None:
    assert depth_ok("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert not depth_ok("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert cut(JSON, "[" * MAX_DEPTH + f"[]{',1' * 500}"[2 + 1 :] + "]" * MAX_DEPTH) is not None
    assert depth_ok('["' + "[" * 500 + '"]')
    assert not depth_ok("[}")


def test_integers_of_any_length_pass() -> None:
    made = json_text("[" + ",".join(f'{{"id":{i},"n":{"9" * 5000},"s":"paid"}}' for i in range(60)) + "]")
    assert "9" * 5000 in made.text


def test_bytes_that_are_no_utf8_stay_as_they_are() -> None:
    payload = b"[" + b",".join(b'{"id":%d,"v":"\xff\xfe %d"}' % (i, i) for i in range(300)) + b"]"
    assert b'{"id":0,"v":"\xff\xfe 0"}' in raw(json_text(payload).text)


# ---------------------------------------------------------------- envelopes

TEXT = st.text(st.characters(codec=None), min_size=2100, max_size=2300)


@settings(max_examples=25, deadline=None)
@given(st.text(), st.booleans(), st.lists(st.integers(0, 3000), max_size=5))
def test_envelopes_decode_exactly_and_encode_piece_by_piece(some: str, ascii_only: bool, cuts: list[int]) -> None:
    content = (some + 'line é 😀 \x00 "quoted" \\ \n') * 80
    document = cut(JSON, json.dumps({"stdout": content}, ensure_ascii=ascii_only))
    assert document is not None
    (envelope,) = document.envelopes
    assert raw(envelope.text) == content.encode("utf-8", "surrogatepass")
    chars = [0, *sorted(c for c in cuts if c < len(content)), len(content)]
    pieces = [source(content[a:b].encode("utf-8", "surrogatepass")) for a, b in pairwise(chars)]
    written = "".join(map(envelope.encode, pieces))
    whole = document.text[: envelope.start] + written + document.text[envelope.stop :]
    assert json.loads(raw(whole)) == {"stdout": content}


def test_a_big_string_that_is_no_utf8_is_no_envelope() -> None:
    document = cut(JSON, b'{"stdout":"' + b"line \xff\n".replace(b"\n", b"\\n") * 500 + b'"}')
    assert document is not None
    assert document.envelopes == []


# ---------------------------------------------------------------- what is read of units


def test_a_map_of_like_objects_is_a_list_of_records_however_large() -> None:
    for n in (50, 3000):
        document = cut(JSON, "{" + ",".join(f'"k{i}":{{"name":"n{i}","pad":"{"x" * 30}"}}' for i in range(n)) + "}")
        assert document is not None
        assert document.groups[0].mode == "records"


def test_an_object_of_unlike_members_is_a_tree() -> None:
    document = cut(JSON, f'{{"rows":[{rows()}],"total":300,"next":null}}')
    assert document is not None
    assert document.groups[0].mode == "tree"
    assert document.groups[0].children[0][0].mode == "records"


@pytest.mark.parametrize(
    ("field", "fails"),
    [
        ('"error":"disk full"', True), ('"error":{"code":5}', True), ('"error":null', False), ('"error":{}', False),
        ('"status":"failed"', True), ('"status":"ok"', False), ('"status":503', True), ('"status":200', False),
        ('"level":"ERROR"', True), ('"level":"info"', False), ('"ok":false', True), ('"ok":"false"', False),
        ('"exit_code":1', True), ('"exit_code":0', False), ('"note":"an error was avoided"', False),
        ('"status":"ok","status":"failed"', True), ('"error":null,"error":null', False), ('"errors":[]', False),
    ],
)  # fmt: skip
def test_failure_is_told_by_field_name_and_value(field: str, fails: bool) -> None:
    document = cut(JSON, "[" + ",".join(f'{{"id":{i},{field}}}' for i in range(5)) + "]")
    assert document is not None
    reader = document.groups[0].reader
    assert reader is not None
    assert [bool(x) for x in reader.failures(0, 5)] == [fails] * 5


# ---------------------------------------------------------------- growth

GROWING: dict[str, Callable[[int], str]] = {
    "rows": lambda n: f"[{rows(n // 60)}]",
    "numbers": lambda n: "[" + "7," * (n // 2) + "7]",
    "one object of many keys": lambda n: "{" + ",".join(f'"k{i}":{i}' for i in range(n // 12)) + "}",
    "keys that differ from row to row": lambda n: (
        "[" + ",".join(f'{{"a{i}":1,"b{i}":2,"c{i}":3}}' for i in range(n // 35)) + "]"
    ),
    "quotes": lambda n: "[" + '"' * n,
    "escaped quotes": lambda n: '["' + '\\"' * (n // 2),
    "white space": lambda n: "[ " + "1 , " * (n // 4) + "1 ]",
    "deep and wide": lambda n: "[" + ",".join(["[" * 100 + "1" + "]" * 100] * (n // 202)) + "]",
    "our own keys": lambda n: "[" + ",".join(f'{{"{MARKER_KEY}{"_" * (i % 700)}":{i}}}' for i in range(n // 380)) + "]",
    "one number": lambda n: f"[{'1' * n}]",
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    assert seconds(JSON, make(400_000)) < 12 * seconds(JSON, make(100_000)) + 0.3


@pytest.mark.parametrize("size", [0, 1, 2045, 2046, 2047, 2048, 2049, 4093, 6000])
@pytest.mark.parametrize("inside", ["\\\\", '\\"', " ", "é"])
@pytest.mark.parametrize("gap", [" ", "\n    ", " " * 3000])
def test_white_space_is_told_from_strings_wherever_a_window_ends(size: int, inside: str, gap: str) -> None:
    string = '"' + inside * (size // 2) + "x" * (size % 2) + '"'
    text = source(f"[{gap}{string},{gap}1,{gap}{{{string}:{gap}{string}}}{gap}]{gap}".encode())
    minified = JSON.rewrite(text)
    assert minified is not None
    assert minified.text == source(f"[{string},1,{{{string}:{string}}}]".encode())
    assert all(text[minified.back(i)] == c for i, c in enumerate(minified.text))
    assert minified.back(len(minified.text)) == len(text)
