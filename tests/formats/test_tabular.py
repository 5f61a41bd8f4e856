"""Tables are cut at rows, whatever is in the cells, and what stands for rows is a row."""

from __future__ import annotations

import csv
import io
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import rows, table

from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.formats.tabular_rows import Rows
from caveman_wasm.model import OPAQUE, Document, Group, plain, source


def reader(document: Document) -> Rows:
    found = document.groups[0].reader
    assert isinstance(found, Rows)
    return found


def without(document: Document, group: Group, first: int, last: int, sentence: str) -> str:
    marker = TABULAR.marker(source(sentence.encode()), last - first, "", group, document)
    return plain(document.text[: group.starts[first]] + marker + document.text[group.stops[last - 1] :])


CSV = "id,name,note\n" + "".join(f"{i},Ann,n{i % 3}\n" for i in range(20))


def test_each_line_is_a_row_and_the_header_is_literal() -> None:
    document = table(CSV)
    assert rows(document) == CSV.splitlines()[1:]
    assert document.text[: document.groups[0].starts[0]] == "id,name,note\n"


def test_a_quoted_line_end_stays_inside_its_row() -> None:
    text = 'id,note\n1,"two\nlines"\n2,"say ""hi""\nthere"\n3,x\n'
    assert rows(table(text)) == ['1,"two\nlines"', '2,"say ""hi""\nthere"', "3,x"]


def test_one_quote_that_is_never_closed_costs_one_row_only() -> None:
    text = "a,b,c\n" + "1,2,3\n" * 5 + '1,"2,3\n' + "1,2,3\n" * 2000
    assert len(rows(table(text))) == 2006


def test_quotes_inside_of_bare_cells_open_nothing() -> None:
    text = "size,what\n" + '5" pipe,x\n7",y\n' + '"8, wide","z\nz"\n' + "9,w\n" * 3
    assert rows(table(text))[:3] == ['5" pipe,x', '7",y', '"8, wide","z\nz"']


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_every_kind_stay_outside_of_rows(end: str, last: bool) -> None:
    lines = ["id,name,ok"] + [f"{i},n{i},yes" for i in range(8)]
    text = end.join(lines) + end * last
    document = table(text)
    assert rows(document) == lines[1:]
    closed = TABULAR.reference("[ref]", document)
    out = document.text[: document.close_at] + closed + document.text[document.close_at :]
    assert out.startswith(end.join(lines) + end + "[ref],,")


def test_a_byte_order_mark_and_empty_lines_stay_as_they_are() -> None:
    text = "\ufeffid,name\n1,a\n\n2,b\n3,c\n"
    document = table(text)
    assert rows(document) == ["1,a", "2,b", "3,c"]
    assert reader(document).columns(0, 3)["id"] == ("1", "2", "3")


def test_a_field_beyond_the_csv_modules_limit_is_no_trap() -> None:
    big = "x" * 200_000
    document = table(f'id,note\n1,"{big}"\n2,y\n3,z\n')
    assert len(rows(document)) == 3
    assert reader(document).columns(0, 3)["id"] == ("1", "2", "3")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_marker_is_a_row_of_as_many_cells(mark: str) -> None:
    text = mark.join(["id", "first name", "state"]) + "\n" + "".join(f"{i}{mark}A{mark}on\n" for i in range(9))
    document = table(text)
    out = without(document, document.groups[0], 2, 7, f'… 5 rows elided: name: "a{mark}b"; x …')
    read = list(csv.reader(io.StringIO(out), delimiter=mark))
    assert {len(row) for row in read} == {3}
    assert read[3][0] == f'… 5 rows elided: name: "a{mark}b"; x …'


def test_columns_are_decoded_cells_in_source_spelling() -> None:
    document = table('price;"who"\n"1,50";Zoë\n"2,75";"a ""b"""\n9;c\n')
    assert reader(document).columns(0, 3) == {"price": ("1,50", "2,75", "9"), "who": ("Zoë", 'a "b"', "c")}


def test_a_name_that_stands_twice_says_nothing() -> None:
    assert set(reader(table("id,x,y,z,w,x\n" + "1,2,3,4,5,6\n" * 4)).columns(0, 4)) == {"id", "y", "z", "w"}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("| id | x | id | y |", {"x", "y"}),
        ("| id |  | x | y |", {"id", "column_2", "x", "y"}),
        ("| id |  | id | y |", {"column_2", "y"}),
    ],
)
def test_so_it_is_in_markdown(header: str, told: set[str]) -> None:
    assert set(reader(table(f"{header}\n|---|---|---|---|\n" + "| 1 | 2 | 3 | 4 |\n" * 4)).columns(0, 4)) == told


def test_a_row_with_too_many_cells_is_opaque() -> None:
    text = "id,name,n\n" + "1,a,2\n" * 20 + "1,a,2,3\n"
    assert reader(table(text)).columns(19, 21)["name"] == ("a", OPAQUE)


def test_rows_without_a_header_get_numbered_columns() -> None:
    document = table("".join(f"{i}\tAnn\t{i % 7}\tok\n" for i in range(30)))
    assert len(rows(document)) == 30
    assert reader(document).columns(0, 1)["column_4"] == ("ok",)


def test_failures_are_told_by_column_and_value() -> None:
    values = ["ok", "FAILED", "0", "none", "null", "", "not failed", "connection refused"]
    text = "id,status,error,exit_code\n" + "".join(f"{i},{v},,0\n" for i, v in enumerate(values)) + "8,ok,disk full,1\n"
    said = reader(table(text)).failures(0, 9)
    assert [bool(s) for s in said] == [False, True, False, False, False, False, False, True, True]


def test_few_valued_columns_are_kinds() -> None:
    document = table("id,level\n" + "".join(f"{i},{'warn' if i == 50 else 'info'}\n" for i in range(100)))
    (levels,) = reader(document).kinds(0, 100)
    assert levels.count("warn") == 1


PS = """USER       PID %CPU %MEM COMMAND
root         1  0.2  0.0 /sbin/init splash
root         2  0.0  0.0 [kthreadd]
www-data   911 12.5  1.3 nginx: worker
root      1204  0.0  0.1 sshd: a b  c
"""
KUBE = """NAME              READY   STATUS             RESTARTS      AGE
web-7b7dc8d6f5    1/1     Running            2 (30h ago)   31h
api-b96499967     0/1     CrashLoopBackOff   12            31h
db-668d979685     1/1     Running            0             31h
"""
DPKG = """Desired=Unknown/Install/Remove/Purge/Hold
| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend
|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)
||/ Name           Version      Architecture Description
+++-==============-============-============-=================================
ii  adduser        3.134        all          add and remove users and groups
rc  apt            2.6.1        amd64        commandline package manager
ii  zutty          0.14.0       amd64        Efficient full-featured X11 terminal
"""
PSQL = " id | name  \n----+-------\n  1 | Ann\n  2 | Bob\n  3 | Cy\n(3 rows)\n"


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        (PS, "COMMAND", ("/sbin/init splash", "[kthreadd]", "nginx: worker", "sshd: a b  c")),
        (PS, "%CPU", ("0.2", "0.0", "12.5", "0.0")),
        (KUBE, "STATUS", ("Running", "CrashLoopBackOff", "Running")),
        (KUBE, "RESTARTS", ("2 (30h ago)", "12", "0")),
        (DPKG, "Version", ("3.134", "2.6.1", "0.14.0")),
        (PSQL, "name", ("Ann", "Bob", "Cy")),
    ],
)
def test_columns_of_fixed_width_are_read_where_all_lines_leave_a_gap(
    text: str, name: str, values: tuple[str, ...]
) -> None:
    found = reader(table(text))
    assert found.columns(0, len(values))[name] == values


def test_listings_with_a_header_each_are_groups_of_their_own() -> None:
    document = table(KUBE + "\n" + KUBE.replace("NAME ", "KIND "))
    assert [len(group) for group in document.groups] == [3, 3]
    assert document.groups[0].reader is not None
    assert any(document.groups[0].reader.failures(0, 3))


def test_a_marker_among_fixed_columns_is_a_bare_line() -> None:
    document = table(PS)
    assert "\n… 2 rows elided …\n" in without(document, document.groups[0], 1, 3, "… 2 rows elided …")


def test_a_markdown_table_keeps_its_bars() -> None:
    document = table("| a | b |\n| --- | :-: |\n" + "| x \\| y | 2 |\n" * 6)
    assert reader(document).columns(0, 1) == {"a": ("x \\| y",), "b": ("2",)}
    out = without(document, document.groups[0], 1, 5, "… 4 rows elided: a|b …")
    assert "| … 4 rows elided: a\\|b … | |\n" in out
    assert TABULAR.reference("[ref]", document) == "\n| [ref] | |"


PROSE = "When the sun rose, they left.\nThe road was long, and it went up.\nThey had no water, so they sang.\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "one line",
        PROSE,
        "def f(a, b):\n    return g(a, b)\n\ndef h(a, b):\n    return f(a, b)\n",
        "int a = 1;\nint b = 2;\nint c = 3;\n",
        "2016-12-19 20:49:03,729 ERROR a\n2016-12-19 20:49:04,100 INFO b\n2016-12-19 20:49:05,1 INFO c\n",
    ],
)
def test_what_is_no_table_is_refused(text: str) -> None:
    assert TABULAR.split(source(text.encode())) is None


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=3, max_size=3), min_size=6))
@settings(max_examples=200, deadline=None)
def test_rows_written_by_the_csv_module_are_cut_as_it_reads_them(body: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["id", "some name", "state"], *body])
    document = TABULAR.split(source(out.getvalue().encode("utf-8", "surrogatepass")))
    if document is None or "\r" in out.getvalue() or "|" in out.getvalue():
        return
    group = document.groups[0]
    assert len(group) in (len(body), len(body) + 1)
    last = len(group)
    read = list(csv.reader(io.StringIO(without(document, group, 1, last - 1, "… ,x, …"), newline="")))
    assert {len(row) for row in read} == {3}
    assert ["… ,x, …", "", ""] in read


ALPHABET = st.sampled_from([*'ab1 ,;\t|"\n\r-=+', "a,b\n", '"x",', "| a | b |\n", "|-|-|\n", "NAME  AGE  X\n"])


@given(st.one_of(st.binary(max_size=400).map(source), st.lists(ALPHABET, max_size=120).map("".join)))
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_cut_into_ordered_slices_or_not_at_all(text: str) -> None:
    document = TABULAR.split(text)
    at = 0
    for group in document.groups if document else ():
        for start, stop in zip(group.starts, group.stops, strict=True):
            assert at <= start < stop <= len(text)
            at = stop
        assert group.reader is not None
        for column in group.reader.columns(0, len(group)).values():
            assert len(column) == len(group)
        assert all(len(level) == len(group) for level in group.reader.kinds(0, len(group)))
        assert len(group.reader.failures(0, len(group))) == len(group)
    if document:
        assert at <= document.close_at <= len(text)
        assert TABULAR.reference("[ref]", document).strip()


@pytest.mark.parametrize("line", ['1,"2,3\n', '1,2"\n', '1,""x\n', '"""\n', ",,,\n", "|-|-|\n", "\n"])
def test_time_grows_with_the_size_only(line: str) -> None:
    def seconds(size: int) -> float:
        text = "a,b,c\n" + line * (size // len(line))
        start = time.process_time()
        TABULAR.split(text)
        return time.process_time() - start

    seconds(100_000)
    assert seconds(800_000) < 40 * max(seconds(100_000), 0.02)
