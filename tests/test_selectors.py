"""A selector gives exactly the slice it names, or nothing at all."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, Recovery, TypedObject, open_memory
from caveman_wasm.errors import InvalidReference, NotFound
from caveman_wasm.model import raw, source
from caveman_wasm.references import Reference, handle, parse_reference
from caveman_wasm.selectors import select

ID = "ccr_" + "0" * 32

# RFC 6901, section 5 and 6.
RFC_6901 = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8}

# RFC 7111, section 2.
RFC_7111 = (
    b"date,temperature,place\r\n2011-01-01,1,Galway\r\n2011-01-02,-1,Galway\r\n2011-01-03,0,Galway\r\n"
    b"2011-01-01,6,Berkeley\r\n2011-01-02,8,Berkeley\r\n2011-01-03,5,Berkeley\r\n"
)
LINES = b"".join(b"line %d\n" % n for n in range(1, 16))


def pick(payload: bytes, selector: str) -> bytes:
    return raw(select(source(payload), Reference(ID, selector)))


def refusal(payload: bytes, selector: str) -> str:
    with pytest.raises(InvalidReference) as caught:
        pick(payload, selector)
    assert caught.value.reference == ID
    return str(caught.value)


# ---------------------------------------------------------------- JSON Pointer


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%25d", 2), ("/e%5Ef", 3), ("/e^f", 3),
        ("/g%7Ch", 4), ("/i%5Cj", 5), ("/k%22l", 6), ("/%20", 7), ("/m~0n", 8), ("/m%7E0n", 8), ("/foo%2F1", "baz"),
    ],
)  # fmt: skip
def test_the_rfcs_own_pointers_resolve(pointer: str, value: object) -> None:
    assert json.loads(pick(json.dumps(RFC_6901).encode(), pointer)) == value


def test_the_slice_is_spelled_as_it_came() -> None:
    payload = b'\xef\xbb\xbf { "a" : [ 1.50 , {"x":1e3,  "x2" : "caf\xc3\xa9 \\u00e9\\/"} ],\r\n"b":"\xff" }\n'
    assert pick(payload, "") == payload
    assert pick(payload, "/a/0") == b"1.50"
    assert pick(payload, "/a/1") == b'{"x":1e3,  "x2" : "caf\xc3\xa9 \\u00e9\\/"}'
    assert pick(payload, "/a/1/x2") == b'"caf\xc3\xa9 \\u00e9\\/"'
    assert pick(payload, "/b") == b'"\xff"'


def test_keys_are_told_by_what_they_say_not_by_how_they_are_spelled() -> None:
    payload = '{"caf\\u00e9":1,"naïve":2,"\\ud83d\\ude00":3,"\\ud800":4,"tab\\t":5,"back\\\\u0041":6}'.encode() + b"\n"
    for pointer, value in [
        ("/café", b"1"), ("/caf%C3%A9", b"1"), ("/na%C3%AFve", b"2"), ("/😀", b"3"), ("/\ud800", b"4"), ("/tab%09", b"5"),
        ("/back\\u0041", b"6"),
    ]:  # fmt: skip
        assert pick(payload, pointer) == value
    assert pick(b'{"\xff":1}', "/%FF") == b"1"


keys = st.text(max_size=4) | st.sampled_from(["", "a", "b", "/", "~", "~1", "%", "%41", "0", "01", "-", "é", '"', "\\"])
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


def escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1").replace("%", "%25")


def pointers(value: Any, path: str = "") -> list[tuple[str, Any]]:
    found = [(path, value)]
    if isinstance(value, dict):
        found += [p for k, v in value.items() for p in pointers(v, f"{path}/{escaped(k)}")]
    elif isinstance(value, list):
        found += [p for i, v in enumerate(value) for p in pointers(v, f"{path}/{i}")]
    return found


@given(document=documents, indent=st.sampled_from([None, 0, 3]), plain_ascii=st.booleans())
@settings(deadline=None)
def test_every_pointer_of_a_document_leads_to_the_slice_that_reads_as_its_value(
    document: Any, indent: int | None, plain_ascii: bool
) -> None:
    payload = json.dumps(document, indent=indent, ensure_ascii=plain_ascii).encode("utf-8", "surrogatepass")
    for pointer, value in pointers(document):
        found = pick(payload, pointer)
        assert found in payload
        assert json.loads(found) == value


@given(document=documents, step=keys | st.integers(0, 9).map(str))
@settings(deadline=None)
def test_every_other_pointer_fails_and_shows_nothing(document: Any, step: str) -> None:
    payload = json.dumps(document).encode()
    known = dict(pointers(document))
    for pointer in list(known):
        if (other := f"{pointer}/{escaped(step)}") not in known:
            said = refusal(payload, other)
            assert said.startswith(ID)


@pytest.mark.parametrize(
    ("pointer", "hint"),
    [
        ("/items/40", r"#/items has 40 elements, 0 to 39"),
        ("/items/-", r"#/items has 40 elements, 0 to 39: what comes next is no such number"),
        ("/items/007", r"#/items has 40 elements"),
        ("/items/7/0", r"#/items/7 is a number, which has nothing inside"),
        ("/Items", r"# is an object of 6 members, none of them by the name that comes next"),
        ("/empty/0", r"#/empty is an empty array"),
        ("/hollow/a", r"#/hollow is an object of 0 members"),
        ("/a~1b%25/x/0/1", r"#/a~1b%25/x is a string"),
        ("/twice", r"# has the key that comes next twice"),
        ("/twice/a", r"# has the key that comes next twice"),
        ("/50%", r"write %25"),
        ("/50%zz", r"write %25"),
        ("/a%7E2", r"write ~0"),
    ],
)
def test_a_pointer_that_does_not_fit_names_the_nearest_step_that_does(pointer: str, hint: str) -> None:
    fields = {"items": list(range(40)), "empty": [], "hollow": {}, "a/b%": {"x": "hush"}, "twice": {"a": 1}, "tw": 2}
    said = refusal(json.dumps(fields).replace('"tw"', '"tw\\u0069ce"').encode(), pointer)
    assert hint in said
    assert "hush" not in said


def test_a_key_twice_beside_the_pointers_way_is_no_matter() -> None:
    assert pick(b'{"a":{"x":1,"x":2},"b":[3]}', "/b/0") == b"3"
    assert pick(b'{"a":{"x":1,"x":2},"b":[3]}', "/a") == b'{"x":1,"x":2}'


@pytest.mark.parametrize(
    "payload", [b'{"a":1}\n{"a":2}\n', b'{"a":1}{"a":2}', b'{"b":1}\n{"a":2}\n', b'[{"a":1}] tail']
)
@pytest.mark.parametrize("pointer", ["/a", "/b", "/0/a"])
def test_a_pointer_into_json_lines_is_refused_with_a_way_to_read_them(payload: bytes, pointer: str) -> None:
    assert "#line=" in refusal(payload, pointer)


@pytest.mark.parametrize(
    "payload",
    [b"", b" ", b"plain text", b'{"a":1,}', b'{"a" 1}', b"{'a':1}", b'{"a":[1,]}', b'{"a":1', b'{"a":"x', b"[1,2", b"\xff\xfe",
     b'{"a":1]', b'{"b":[}],"a":1}', b'{1:2,"a":1}'],
)  # fmt: skip
def test_what_is_no_json_has_no_pointers(payload: bytes) -> None:
    said = refusal(payload, "/a")
    assert "JSON" in said
    assert "#line=" in said


def test_depth_is_refused_and_kills_nothing() -> None:
    assert pick(b"[" * 128 + b"7" + b"]" * 128, "/0" * 128) == b"7"
    assert "deeper than 128" in refusal(b"[" * 129 + b"]" * 129, "/0")
    assert "deeper than 128" in refusal(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "/a")


def test_a_pointer_costs_one_pass_however_deep_it_leads() -> None:
    inner = b'{"pad":"' + b"x" * 4_000_000 + b'","end":[1,2,3]}'
    deep = b'{"a":' * 120 + inner + b"}" * 120
    began = time.process_time()
    assert pick(deep, "/a" * 120 + "/end/2") == b"3"
    assert time.process_time() - began < 3  # 120 passes take some ten times that


def test_large_neighbours_are_walked_and_still_checked() -> None:
    rows = [{"id": i, "text": "word " * 20} for i in range(3000)]
    payload = json.dumps({"skipped": {"rows": rows}, "wanted": rows}).encode()
    assert json.loads(pick(payload, "/wanted/2999")) == rows[-1]
    assert "no JSON" in refusal(payload.replace(b'"id": 2000,', b'"id": 2000 ', 1), "/wanted/0")


# ---------------------------------------------------------------- lines and characters


@pytest.mark.parametrize(
    ("selector", "first", "last"),
    [
        ("line=10,15", 11, 15),
        ("line=0,1", 1, 1),
        ("line=,3", 1, 3),
        ("line=13,", 14, 15),
        ("line=0,15", 1, 15),
        ("line=0,", 1, 15),
    ],
)
def test_lines_are_what_stands_between_two_positions(selector: str, first: int, last: int) -> None:
    assert pick(LINES, selector) == b"".join(b"line %d\n" % n for n in range(first, last + 1))


def test_lines_keep_their_ends_and_bytes() -> None:
    payload = b"\xef\xbb\xbfa\r\n\xff\x00\r\nb\rc\r\nlast"
    assert pick(payload, "line=0,1") == b"\xef\xbb\xbfa\r\n"
    assert pick(payload, "line=1,2") == b"\xff\x00\r\n"
    assert pick(payload, "line=2,3") == b"b\rc\r\n"  # as markers and grep -n count
    assert pick(payload, "line=3,") == b"last"
    assert pick(b"a\rb\rc", "line=1,2") == b"b\r"  # no LF at all: CR ends lines


@given(
    data=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xc3\xa9", b"\xff", b" "]), max_size=300).map(b"".join),
    cut=st.data(),
)
@settings(deadline=None)
def test_lines_cut_anywhere_join_to_the_payload(data: bytes, cut: st.DataObject) -> None:
    lines = data.splitlines(keepends=True) if b"\r" not in data.replace(b"\r\n", b"") else []
    if len(lines) < 2:
        return
    at = cut.draw(st.integers(1, len(lines) - 1))
    assert pick(data, f"line=,{at}") == b"".join(lines[:at])
    assert pick(data, f"line={at},") == b"".join(lines[at:])
    assert pick(data, f"line={at - 1},{at}") == lines[at - 1]


@given(
    data=st.binary(min_size=2, max_size=60)
    | st.text(min_size=2, max_size=40).map(lambda t: t.encode("utf-8", "surrogatepass")),
    cut=st.data(),
)
@settings(deadline=None)
def test_characters_are_slices_of_the_decoded_text(data: bytes, cut: st.DataObject) -> None:
    text = data.decode("utf-8", "surrogateescape")
    start = cut.draw(st.integers(0, len(text) - 1))
    stop = cut.draw(st.integers(start + 1, len(text)))
    assert pick(data, f"char={start},{stop}") == text[start:stop].encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("line=10,16", "has 15 lines, the last is #line=14,15"),
        ("line=15,", "has 15 lines"),
        ("line=15,15", "has 15 lines"),
        ("line=99", "has 15 lines"),
        ("line=99999999999999999999999,", "has 15 lines"),
        ("line=4", "a place between two lines; what follows it is #line=4,5"),
        ("line=4,4", "what follows it is #line=4,5"),
        ("line=,0", "what follows it is #line=0,1"),
        ("line=5,2", "the other way round it is #line=2,5"),
        ("char=0,9999", f"has {len(LINES)} characters"),
        ("char=7", "#char=7,8"),
    ],
)
def test_positions_that_do_not_fit_name_those_that_do(selector: str, hint: str) -> None:
    assert hint in refusal(LINES, selector)


def test_an_empty_payload_has_no_lines() -> None:
    assert "it is empty" in refusal(b"", "line=0,")
    assert "it is empty" in refusal(b"", "char=0,1")


def test_lines_of_a_large_payload_are_found_in_no_time() -> None:
    payload = source(b"\n" * 20_000_000)
    began = time.process_time()
    assert select(payload, Reference(ID, "line=19999998,")) == "\n\n"
    assert time.process_time() - began < 1


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("selector", "answer"),
    [
        ("row=4", b"2011-01-03,0,Galway\r\n"),
        ("row=5-7", b"2011-01-01,6,Berkeley\r\n2011-01-02,8,Berkeley\r\n2011-01-03,5,Berkeley\r\n"),
        ("row=6-*", b"2011-01-02,8,Berkeley\r\n2011-01-03,5,Berkeley\r\n"),
        ("row=*", b"2011-01-03,5,Berkeley\r\n"),
        ("row=1;5", b"date,temperature,place\r\n2011-01-01,6,Berkeley\r\n"),
        ("row=5;1;4-5", b"date,temperature,place\r\n2011-01-03,0,Galway\r\n2011-01-01,6,Berkeley\r\n"),
        ("col=2", b"temperature\r\n1\r\n-1\r\n0\r\n6\r\n8\r\n5\r\n"),
        ("col=*", b"place\r\nGalway\r\nGalway\r\nGalway\r\nBerkeley\r\nBerkeley\r\nBerkeley\r\n"),
        ("col=1;3", b"date,place\r\n2011-01-01,Galway\r\n2011-01-02,Galway\r\n2011-01-03,Galway\r\n"
                    b"2011-01-01,Berkeley\r\n2011-01-02,Berkeley\r\n2011-01-03,Berkeley\r\n"),
        ("cell=4,1", b"2011-01-03"),
        ("cell=4,*", b"Galway"),
        ("cell=4,1-6,2", b"2011-01-03,0\r\n2011-01-01,6\r\n2011-01-02,8"),
        ("cell=1,1;4,2", b"date\r\n0"),
    ],
)  # fmt: skip
def test_the_rfcs_own_table_is_read_by_row_column_and_cell(selector: str, answer: bytes) -> None:
    assert pick(RFC_7111, selector) == answer


TABLE = b'\xef\xbb\xbfid;note;n\n1;"two\nlines; ""quoted""";7\n\n2;pl"ain;8\n3;;9'


@pytest.mark.parametrize(
    ("selector", "answer"),
    [
        ("row=1", b"id;note;n\n"),
        ("row=2", b'1;"two\nlines; ""quoted""";7\n'),
        ("row=3", b"\n"),
        ("row=5", b"3;;9"),
        ("cell=2,2", b'"two\nlines; ""quoted"""'),
        ("cell=2,3", b"7"),
        ("cell=4,2", b'pl"ain'),
        ("cell=5,2", b""),
        ("cell=5,3", b"9"),
        ("col=3", b"n\n7\n\n8\n9"),
        ("col=2", b'note\n"two\nlines; ""quoted"""\n\npl"ain\n'),
    ],
)
def test_cells_are_sliced_as_they_are_spelled(selector: str, answer: bytes) -> None:
    assert pick(TABLE, selector) == answer


cell = st.text('ab,"\n é', max_size=5)


@given(table=st.lists(st.lists(cell, min_size=3, max_size=3), min_size=3, max_size=6))
@settings(deadline=None)
def test_any_well_formed_table_comes_apart_into_its_cells(table: list[list[str]]) -> None:
    spelled = [
        ['"' + c.replace('"', '""') + '"' if set(c) & set(',"\n') else c for c in row]
        for row in [["k1", "k2", "k3"], *table]
    ]
    payload = "".join(",".join(row) + "\n" for row in spelled).encode()
    for number, row in enumerate(spelled, 1):
        assert pick(payload, f"row={number}").decode() == ",".join(row) + "\n"
        for column, value in enumerate(row, 1):
            assert pick(payload, f"cell={number},{column}").decode() == value
    assert pick(payload, "row=1-*") == payload == pick(payload, "col=1-*")


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("row=0", "has 7 rows, counted from 1"),
        ("row=8", "has 7 rows, counted from 1: #row=1 to #row=7"),
        ("row=6-9", "has 7 rows"),
        ("row=5-4", "write #row=4-5"),
        ("col=4", "has 3 columns, counted from 1"),
        ("col=0", "has 3 columns"),
        ("cell=8,1", "has 7 rows"),
        ("cell=4,4", "has 3 cells in row 4, #cell=4,1 to #cell=4,3"),
        ("cell=4,0", "has 3 cells in row 4"),
        ("cell=4,2-3,1", "upper left corner first it is #cell=3,1-4,2"),
        ("cell=1,1-2,2-3,3", "more than two corners; write #cell=1,1-2,2"),
        ("cell=1,1-*,1;1,3-*,3", "#col="),
    ],
)
def test_rows_and_cells_that_do_not_fit_name_those_that_do(selector: str, hint: str) -> None:
    said = refusal(RFC_7111, selector)
    assert hint in said
    assert "Galway" not in said


@pytest.mark.parametrize(
    "payload", [b"", b"prose without a table.\nAnd more, perhaps.\nEnd", b'{"a":1,"b":2}\n{"a":1,"b":2}\n', LINES]
)
@pytest.mark.parametrize("selector", ["row=1", "col=1", "cell=1,1"])
def test_what_is_no_table_has_no_rows(payload: bytes, selector: str) -> None:
    assert "#line=" in refusal(payload, selector)


def test_a_table_of_two_rows_is_one() -> None:
    assert pick(b"name,age\nAnn,40\n", "cell=2,2") == b"40"


def test_a_markdown_table_has_rows_and_no_cells() -> None:
    payload = b"| a | b |\n|---|---|\n" + b"".join(b"| %d | x |\n" % n for n in range(9))
    assert pick(payload, "row=3") == b"| 0 | x |\n"
    assert "#row=" in refusal(payload, "cell=3,1")


# ---------------------------------------------------------------- against a plain reading of the RFCs


def between(pieces: list[bytes], first: str, comma: str, last: str) -> bytes | None:
    """RFC 5147: the pieces between two positions; None for positions that are not there or hold nothing."""
    start = int(first) if first else 0
    stop = (int(last) if last else len(pieces)) if comma else start
    return b"".join(pieces[start:stop]) if start < stop <= len(pieces) else None


def numbered(size: int, said: str) -> list[int] | None:
    """RFC 7111: the numbers, from 1, in a list of positions and ranges; None if one is not there."""
    chosen: set[int] = set()
    for part in said.split(";"):
        ends = [size if end == "*" else int(end) for end in part.split("-")]
        if not all(1 <= end <= size for end in ends) or ends[0] > ends[-1]:
            return None
        chosen.update(range(ends[0], ends[-1] + 1))
    return sorted(chosen)


def boxes(rows: list[list[bytes]], said: str) -> bytes | None:
    """RFC 7111: the cells of each box, row by row."""
    lines = []
    for box in said.split(";"):
        ends = [[len(axis) if n == "*" else int(n) for n, axis in zip(c.split(","), (rows, rows[0]), strict=True)]
                for c in box.split("-")]  # fmt: skip
        (top, left), (bottom, right) = ends[0], ends[-1]
        if len(ends) > 2 or not (1 <= top <= bottom <= len(rows) and 1 <= left <= right <= len(rows[0])):
            return None
        lines += [b",".join(row[left - 1 : right]) for row in rows[top - 1 : bottom]]
    return b"\n".join(lines)


def plainly(payload: bytes, selector: str) -> bytes | None:
    """What a selector names, None for a refusal. Tables are comma-separated here, without quotes, LF at each end."""
    kind, _, said = selector.partition("=")
    if kind in ("line", "char"):
        text = payload.decode("utf-8", "surrogateescape")
        characters = [c.encode("utf-8", "surrogateescape") for c in text]
        return between(payload.splitlines(keepends=True) if kind == "line" else characters, *said.partition(","))
    rows = [line.split(b",") for line in payload.splitlines()]
    if kind == "cell":
        return boxes(rows, said)
    chosen = numbered(len(rows) if kind == "row" else len(rows[0]), said)
    if chosen is None:
        return None
    if kind == "row":
        return b"".join(b",".join(rows[n - 1]) + b"\n" for n in chosen)
    return b"".join(b",".join(row[n - 1] for n in chosen) + b"\n" for row in rows)


small = st.integers(0, 7).map(str)
place = small | st.just("*")
span = st.tuples(place, place).map("-".join) | place
corner = st.tuples(place, place).map(",".join)
box = st.tuples(corner, corner).map("-".join) | corner
selectors = (
    st.builds("{}={}".format, st.sampled_from(["line", "char"]), st.tuples(small | st.just(""), small).map(",".join))
    | st.builds("{}={}".format, st.sampled_from(["line", "char"]), small | small.map("{},".format))
    | st.builds("{}={}".format, st.sampled_from(["row", "col"]), st.lists(span, min_size=1, max_size=3).map(";".join))
    | st.builds("cell={}".format, box)
)
tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.sampled_from([b"a", b"bb", b"7", b"\xc3\xa9", b"x y"]), min_size=width, max_size=width),
        min_size=2,
        max_size=6,
    )
)


@given(table=tables, selector=selectors)
@settings(deadline=None, max_examples=1000)
def test_a_selector_gives_what_a_plain_reading_gives_or_names_one_that_would(
    table: list[list[bytes]], selector: str
) -> None:
    payload = b"".join(b",".join(row) + b"\n" for row in table)
    wanted = plainly(payload, selector)
    if wanted is not None:
        assert pick(payload, selector) == wanted
        return
    said = refusal(payload, selector)
    named = [name.rstrip(",;") for name in re.findall(r"#((?:line|char|row|col|cell)=[\d,;*-]+)", said)]
    assert any(plainly(payload, name) is not None for name in named), said


@given(document=documents, step=keys | st.integers(0, 9).map(str))
@settings(deadline=None)
def test_a_pointer_that_fails_names_the_longest_part_of_it_that_leads_somewhere(document: Any, step: str) -> None:
    payload = json.dumps(document).encode()
    known = dict(pointers(document))
    for pointer in known:
        if (other := f"{pointer}/{escaped(step)}") not in known:
            part = re.match(r"#(\S*) (?:is|has)", refusal(payload, other).removeprefix(ID))
            assert part is not None
            assert json.loads(pick(payload, part[1])) == known[pointer]


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("line=a", "#line=10,20"), ("line=", "#line=10,20"), ("line=1-2", "#line=10,20"), ("char=x", "#char=10,20"),
        ("row=1,2", "#row=5-7"), ("ROW=", "#row=5-7"), ("col=a", "#col=2-3"), ("cell=4", "#cell=4,1"), ("/a~2", "~0"),
        ("/a~", "~0"), ("orders/3", "write #/ before"), ("page=3", "#/a/0/b, or #line=10,20"), ("LINE", "write #/ before"),
        ("line=1,2;length=9", "#line=10,20"),
    ],
)  # fmt: skip
def test_a_malformed_selector_names_the_nearest_form(selector: str, hint: str) -> None:
    with pytest.raises(InvalidReference) as caught:
        parse_reference(f"ccr://{ID}#{selector}")
    assert hint in str(caught.value)
    assert (caught.value.code, caught.value.reference) == ("cave_invalid_reference", ID)


# ---------------------------------------------------------------- in the engine


def stored(payload: bytes) -> tuple[Engine, str]:
    engine = Engine(open_memory())
    assert engine.store is not None
    return engine, engine.store.put(Recovery("json", "json/1", 9, 3, payload))


def test_a_selector_is_taken_wherever_a_reference_is() -> None:
    engine, name = stored(b'{"orders":[{"total":3.50}]}')
    assert engine.retrieve(f"ccr://{name}#/orders/0/total") == b"3.50"
    assert engine.retrieve(f"<<ccr:{name.upper()}>>#/orders/0") == b'{"total":3.50}'
    assert engine.retrieve(f"{name}#") == engine.retrieve(name)
    with pytest.raises(InvalidReference):
        engine.retrieve(f"{name}#/orders/1")
    with pytest.raises(NotFound):
        engine.retrieve(f"{handle(b'other')}#/orders/1")


def test_an_objects_data_has_selectors_too() -> None:
    engine = Engine(open_memory())
    assert engine.store is not None
    put = engine.store.put_object(TypedObject("TaskDecision", "s", b'{"decision_id":"d1"}'))
    assert engine.retrieve(f"ccr://{put.object_id}#/decision_id") == b'"d1"'


def test_a_slice_that_was_handed_out_is_not_compressed_again() -> None:
    rows = [{"id": n, "state": "paid", "note": "nothing of note"} for n in range(200)]
    payload = json.dumps({"a": rows, "b": 1}).encode()
    engine, name = stored(payload)
    part = engine.retrieve(f"{name}#/a")
    assert engine.compress(part).reason == "retrieved"
    assert Engine(engine.store).compress(part).reason != "retrieved"


@pytest.mark.parametrize(("bom", "codec"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_utf_16_is_read_as_text_and_written_back_as_it_came(bom: bytes, codec: str) -> None:
    engine, name = stored(bom + '{"a":"日本",\r\n"b":[1]}'.encode(codec))
    assert engine.retrieve(f"{name}#/a") == bom + '"日本"'.encode(codec)
    assert engine.retrieve(f"{name}#line=1,2") == bom + '"b":[1]}'.encode(codec)
    assert engine.retrieve(f"{name}#char=6,8") == bom + "日本".encode(codec)
