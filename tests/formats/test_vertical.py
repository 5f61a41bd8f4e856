"""Records with a line a column, as database shells write them, are rows like any other."""

from __future__ import annotations

import pytest
from shorten import rows, table

from caveman_wasm.check import Options, check_payload
from caveman_wasm.detect import detect
from caveman_wasm.engine import Engine
from caveman_wasm.errors import InvalidReference
from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.formats.tabular_rows import Rows
from caveman_wasm.model import ABSENT, OPAQUE, source
from caveman_wasm.store import open_memory

STATES = ("active", "locked", "active")


def mysql(n: int = 30, note: str = "NULL") -> str:
    stars = "*" * 27
    rows = (
        f"{stars} {i}. row {stars}\n   id: {i}\n name: user{i}\nstate: {STATES[i % 3]}\n note: {note}\n quota: {i}\n"
        for i in range(1, n + 1)
    )
    return "".join(rows).replace(" quota", "quota") + f"{n} rows in set (0.00 sec)\n"


def psql(n: int = 30) -> str:
    return "".join(f"-[ RECORD {i} ]-\nid    | {i}\nstate | {STATES[i % 3]}\nnote  | \n" for i in range(1, n + 1))


def sqlite(n: int = 30) -> str:
    return "\n".join(f"   id = {i}\nstate = {STATES[i % 3]}\n note = \n" for i in range(1, n + 1))


@pytest.mark.parametrize("text", [mysql(), psql(), sqlite()], ids=["mysql", "psql", "sqlite"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_record_is_a_row_with_the_rule_above_it(text: str, end: str) -> None:
    document = table(text.replace("\n", end))
    found = rows(document)
    assert len(found) == 30
    assert all(f"{i}" in row.split(end)[1 if row[0] in "*-" else 0] for i, row in enumerate(found, 1))
    reader = document.groups[0].reader
    assert reader is not None
    columns = reader.columns(0, 30)
    assert columns["state"] == tuple(STATES[i % 3] for i in range(1, 31))
    assert columns["id"] == tuple(map(str, range(1, 31)))
    assert set(columns["note"]) <= {"", "NULL"}
    assert "rows in set" in document.text[document.groups[0].stops[-1] :] or text[0] != "*"


def test_a_value_of_several_lines_is_one_value_and_its_lines_are_no_columns() -> None:
    text = mysql().replace(" name: user3\n", " name: user3\nstate: lies\nx\n", 1)
    document = table(text)
    reader = document.groups[0].reader
    assert len(rows(document)) == 30
    assert reader is not None
    assert reader.columns(2, 3)["state"] == (OPAQUE,)
    assert reader.columns(3, 4)["state"] == ("locked",)
    assert reader.columns(2, 3).get("x", ABSENT) is ABSENT


def test_an_empty_line_inside_of_a_value_begins_no_record() -> None:
    text = sqlite().replace("   id = 4\nstate = locked\n", "   id = 4\nstate = locked\n\nagain = 1\n", 1)
    assert len(rows(table(text))) == 30


@pytest.mark.parametrize(
    "text",
    [mysql(), psql(), sqlite(), mysql(40, "the first\nthe second"), mysql().replace("user", "ü")],
    ids=["mysql", "psql", "sqlite", "lines", "umlauts"],
)
def test_what_is_said_of_rows_left_out_holds(text: str) -> None:
    engine = Engine(open_memory())
    made = engine.compress(text.encode(), content_type="tabular")
    assert made.recovery_handle
    assert engine.retrieve(made.recovery_handle) == text.encode()
    assert "rows elided" in made.text
    assert "all note=" in made.text or "first" in text
    report = check_payload(text.encode(), Options(content_type="tabular"))
    assert not report.findings


@pytest.mark.parametrize("text", [mysql(), psql(), sqlite()], ids=["mysql", "psql", "sqlite"])
def test_a_selected_row_is_a_record(text: str) -> None:
    engine = Engine(open_memory())
    made = engine.compress(text.encode())
    assert made.recovery_handle
    last = engine.retrieve(f"ccr://{made.recovery_handle}#row=30").decode()
    assert last in text
    assert "30" in last
    assert "29" not in last
    assert "in set" not in last
    with pytest.raises(InvalidReference, match="#row="):
        engine.retrieve(f"ccr://{made.recovery_handle}#cell=1,1")


@pytest.mark.parametrize("text", [mysql(2), psql(2), sqlite(2), "Expanded display is on.\n" + psql()])
def test_it_is_known_for_a_table(text: str) -> None:
    assert detect(source(text.encode())) == "tabular"


@pytest.mark.parametrize(
    "text",
    [
        "*" * 27 + " 1. row " + "*" * 27 + "\nid: 1\n",
        "key = 1\n\nkey = 2\n\nother\n",
        "left  = 1\nright = 2\n\nup    = 1\ndown  = 2\n",
        "",
        "-[ RECORD 1 ]-\n-[ RECORD 2 ]-\n",
    ],
)
def test_less_than_two_records_or_other_names_are_no_such_table(text: str) -> None:
    document = TABULAR.split(source(text.encode()))
    reader = document.groups[0].reader if document is not None else None
    assert not isinstance(reader, Rows) or reader.shape.kind != "vertical"
