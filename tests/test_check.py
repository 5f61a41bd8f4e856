"""The checker finds what is off: planted lies in every kind of fact, in markers, in texts; and nothing where all is true."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from corpus.make import log_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, Recovery, cutting, open_memory
from caveman_wasm.check import Options, Report, check_payload, check_record, check_result
from caveman_wasm.check_fields import LogUnit, RowUnit, SaidUnit, TagUnit, said_unit
from caveman_wasm.check_tables import table
from caveman_wasm.facts import facts as true_facts
from caveman_wasm.model import Run

Lie = Callable[[str], str]


def orders(n: int = 300) -> list[dict[str, object]]:
    return [
        {
            "order_id": f"ord-{1000 + i}",
            "name": f"customer {i * 7919 % 10007}",
            "currency": "EUR",
            "state": ("paid", "open", "paid", "sent")[i % 4],
            "amount": i * 37 % 900 + 1,
            "result": "failed" if i % 11 == 5 else "done",
            **({"note": "late"} if i % 3 else {}),
        }
        for i in range(n)
    ]


ORDERS = json.dumps(orders()).encode()
PRETTY = json.dumps(orders(), indent=2).encode()
SUMS = json.dumps(
    [{"id": 10**15 + i * 2, "weight": i * 37 % 900 + 0.5, "day": f"2026-01-{i % 28 + 1:02d}"} for i in range(300)]
).encode()
LINES = "\n".join(map(json.dumps, orders())).encode()
LOG = "\n".join(log_lines(400, 3)).encode()
CSV = "\n".join(
    ["id,name,state,amount", *(f'{i},"n, {i * 31 % 997}",{"on" if i % 3 else "off"},{i % 50}.25' for i in range(300))]
).encode()
ENVELOPE = json.dumps({"content": [{"type": "text", "text": LOG.decode()}], "exit_code": 0}).encode()
PROSE = "\n\n".join(
    ["# Notes"] + [f"Paragraph {i} says this first. " + f"Then it goes on for the {i}th time. " * 9 for i in range(60)]
).encode()
PAYLOADS = {
    "json": ORDERS,
    "pretty": PRETTY,
    "lines": LINES,
    "log": LOG,
    "sums": SUMS,
    "csv": CSV,
    "envelope": ENVELOPE,
    "prose": PROSE,
}


def found(report: Report) -> str:
    return "\n".join(f"{f.marker} {f.fact} {f.found}" for f in report.findings)


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("options", [Options(), Options(query="ord-1107 customer"), Options(max_tokens=700)])
def test_nothing_is_off_where_all_is_true(name: str, options: Options) -> None:
    report = check_payload(PAYLOADS[name], options)
    assert not report.findings, found(report)
    assert report.markers
    assert report.content_type == {"csv": "tabular", "log": "log", "prose": "text"}.get(name, "json")


@pytest.mark.parametrize("payload", [b"", b"short", bytes(range(256)) * 20, b"\xff\xfea\x00", b"x\n" * 3])
def test_what_passes_through_is_in_order(payload: bytes) -> None:
    assert not check_payload(payload).findings


def test_utf16_is_checked_in_its_own_encoding() -> None:
    report = check_payload(b"\xff\xfe" + LOG.decode().encode("utf-16-le"))
    assert report.markers
    assert not report.findings, found(report)


# ---------------------------------------------------------------- lies in facts


def swap(old: str, new: str) -> Lie:
    return lambda fact: re.sub(old, new, fact, count=1)


# What is said → what is said instead. Each pattern must occur in the true facts, or the test says nothing.
LIES: dict[str, tuple[str, Lie]] = {
    "a constant that is another value": ("json", swap("currency=EUR", "currency=USD")),
    "a constant that only some have": ("json", swap("all currency=EUR", "all currency=EUR note=late")),
    "a count of an enumeration": ("json", lambda f: re.sub(r"(state: paid×)(\d+)( \w+×)(\d+)", _shifted, f)),
    "counts that do not add up": ("json", lambda f: re.sub(r"(state: paid×)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", f)),
    "absent ones that are there": ("json", swap(r"note: late×(\d+) absent", r"note: late×\1 early")),
    "the end of a range": ("json", lambda f: re.sub(r"(amount=)(\d+)\.\.", lambda m: f"{m[1]}{int(m[2]) + 30}..", f)),
    "an end that is no value": ("json", lambda f: re.sub(r"(amount=)(\d+)\.\.", lambda m: f"{m[1]}-7..", f)),
    "a sum": ("sums", lambda f: re.sub(r"(sum weight=)(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}", f)),
    "a roster in another order": ("json", swap(r'name: ("[^"]*"), ("[^"]*")', r"name: \2, \1")),
    "a roster that leaves one out": ("json", swap(r'name: ("[^"]*"), ', "name: ")),
    "how many are distinct": ("json", lambda f: re.sub(r": (\d+) distinct", lambda m: f": {int(m[1]) - 1} distinct", f)),
    "all present where one is not": ("sums", swap(r"(id: (\d+) distinct, \d+\.\.\d+)$", r"\1, all \2 present")),
    "an end of coverage": ("csv", swap(r"(id: \d+ distinct, )\d+", r"\g<1>0")),
    "how many failed": ("json", lambda f: re.sub(r"(failures: .*×)(\d+)", lambda m: f"{m[1]}{int(m[2]) - 1}", f)),
    "failures that are not said": ("json", lambda f: "" if f.startswith("failures") else f),
    "a kind of failure that there is not": ("json", swap("result=failed", "result=crashed")),
    "a level": ("log", swap("level: INFO", "level: FATAL")),
    "a time range": ("log", lambda f: re.sub(r"time=(.*)\.\.", lambda m: f"time={m[1].replace('2026', '2027', 1)}..", f)),
    "a row's constant": ("csv", swap("state: on×", "state: off×")),
    "a fact within an envelope": ("envelope", swap("level: INFO", "level: WARN")),
    "a fact that reads two ways": ("json", swap("currency=EUR", "currency=EUR; state")),
    "a secret": ("json", lambda f: f"{f} api_token=x" if f.startswith("all ") else f),
}  # fmt: skip


def _shifted(m: re.Match[str]) -> str:
    return f"{m[1]}{int(m[2]) + 1}{m[3]}{int(m[4]) - 1}"


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_in_a_fact_is_found(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, tell = LIES[lie]
    told = 0

    def lying(run: Run, replaced: int, most: int | None = None) -> tuple[str, ...]:
        nonlocal told
        said = true_facts(run, replaced, most)
        false = tuple(filter(None, map(tell, said)))
        told += false != said
        return false

    monkeypatch.setattr(cutting, "facts", lying)
    report = check_payload(PAYLOADS[name])
    assert told, "no such fact was there to be told otherwise"
    assert report.findings, lie


# ---------------------------------------------------------------- lies in markers and texts


def edited(name: str, edit: Callable[[bytes], bytes], **changes: object) -> Report:
    """The report on a true result whose text, or first marker, was changed."""
    made = Engine(open_memory()).compress(PAYLOADS[name])
    markers = (replace(made.markers[0], **changes), *made.markers[1:])  # type: ignore[arg-type]
    return check_result(PAYLOADS[name], replace(made, output=edit(made.output), markers=markers))


def unchanged(output: bytes) -> bytes:
    return output


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_marker_for_other_units_is_found(name: str) -> None:
    first = Engine(open_memory()).compress(PAYLOADS[name]).markers[0]
    (start, stop), *rest = first.spans
    for wrong in ((start + 1, stop), (start, stop - 1)):
        assert "no whole" in found(edited(name, unchanged, spans=(wrong, *rest)))
    assert "counts" in found(edited(name, unchanged, count=first.count + 1))


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_text_that_counts_otherwise_is_found(name: str) -> None:
    first = Engine(open_memory()).compress(PAYLOADS[name]).markers[0]
    number = str(first.count).encode()
    report = edited(name, lambda out: out[: first.start] + out[first.start :].replace(number, number[::-1] + b"0", 1))
    assert "its text says" in found(report)


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_kept_slice_that_was_changed_is_found(name: str) -> None:
    made = Engine(open_memory()).compress(PAYLOADS[name])
    at = next(m.start() for m in re.finditer(rb"[a-z]", made.output) if not _in_a_marker(made.markers, m.start()))
    report = edited(name, lambda out: out[:at] + b"Q" + out[at + 1 :])
    assert "not the original with the markers' units taken out" in found(report)


def _in_a_marker(markers: tuple, at: int) -> bool:  # type: ignore[type-arg]
    return any(m.start <= at < m.stop for m in markers)


def test_other_numbers_in_the_reference_are_found() -> None:
    report = edited(
        "log", lambda out: re.sub(rb"(\d+) markers for", lambda m: b"%d markers for" % (int(m[1]) + 1), out)
    )
    assert "the reference says" in found(report)
    assert "no reference" in found(edited("log", lambda out: out.replace(b"<<ccr:ccr_", b"<<ccr:ccr_0")))


def test_other_lines_are_found() -> None:
    assert "these are lines" in found(edited("log", lambda out: re.sub(rb"\(L\d+", b"(L1", out, count=1)))


def test_json_that_is_none_any_more_or_says_a_key_twice_is_found() -> None:
    assert "no JSON" in found(edited("json", lambda out: out[:-1]))
    assert "twice" in found(edited("json", lambda out: out.replace(b'"currency"', b'"amount"', 1)))


def test_a_number_inside_a_marker_of_its_own_is_found() -> None:
    made = Engine(open_memory()).compress(ORDERS)
    report = check_result(ORDERS, replace(made, markers=made.markers[1:]))
    assert "not the original" in found(report)


# ---------------------------------------------------------------- records


def test_a_record_is_made_again_with_its_own_options() -> None:
    store = open_memory()
    made = Engine(store).compress(ORDERS, query="ord-1107", max_tokens=900)
    assert made.recovery_handle
    assert not check_record(store, made.recovery_handle, made.output).findings
    other = Engine(open_memory()).compress(ORDERS).output
    assert "not the one made again" in found(check_record(store, made.recovery_handle, other))


def test_a_record_of_another_version_cannot_be_made_again() -> None:
    store = open_memory()
    handle = store.put(Recovery("json", "json/99", 9, 5, ORDERS, b'{"counter":"o200k_base","v":99}'))
    report = check_record(store, handle)
    assert not report.remade
    assert "cannot be made again by this version" in found(report)


def test_a_record_without_options_cannot_be_made_again() -> None:
    store = open_memory()
    report = check_record(store, store.put(Recovery("json", "other", 9, 5, ORDERS, None)))
    assert not report.remade


def test_a_record_that_counts_otherwise_is_found() -> None:
    store = open_memory()
    made = Engine(store).compress(LOG)
    assert made.recovery_handle
    record = store.record(made.recovery_handle)
    store.put(replace(record, tokens_after=record.tokens_after + 5))
    assert "the record counts" in found(check_record(store, made.recovery_handle))


# ---------------------------------------------------------------- readers


def test_rows_are_read_by_the_header_above_them() -> None:
    read = table("title\na;b;a\n", '1;"x;\n""y";3')
    assert read is not None
    row = read.unit('1;"x;\n""y";3')
    assert [t.text for t in row.values("a")] == ["1", "3"]
    assert [t.text for t in row.values("b")] == ['x;\n"y']
    piped = table("| k | v |\n|---|---|\n", "| x\\|y | 2 |")
    assert piped is not None
    assert [t.text for t in piped.unit("| x\\|y | 2 |").values("v")] == ["2"]
    assert table("PID TTY  CMD\n", "  1 pts/0 sh") is None


def test_a_row_fails_by_its_verdict_only() -> None:
    assert RowUnit(["status"], ["failed"]).fails()
    assert not RowUnit(["status", "note"], ["ok", "failed"]).fails()
    assert RowUnit(["status"], ["failed"]).may_fail_as("status=failed")
    assert not RowUnit(["status"], ["ok"]).may_fail_as("status=failed")


def test_a_case_in_xml_says_what_became_of_it() -> None:
    case = TagUnit(
        '<testcase name="a &lt;b" time="0.1"><failure message="no"><![CDATA[<error/>]]></failure></testcase>'
    )
    assert [t.text for t in case.values("name")] == ["a <b"]
    assert [t.text for t in case.values("result")] == ["failed"]
    assert case.fails()
    assert [t.text for t in TagUnit('<testcase name="b"/>').values("result")] == ["passed"]


def test_lines_of_a_diff_are_counted_within_hunks_only() -> None:
    unit = said_unit("diff", "files", "--- a\n+++ b\n@@ -1,2 +1,3 @@\n x\n-y\n+--- z\n+w\n")
    assert [t.text for t in unit.values("added")] == ["2"]
    assert [t.text for t in unit.values("removed")] == ["1"]


def test_words_stand_behind_escapes() -> None:
    assert SaidUnit('name: "a \\"b\\""').says('a "b"')
    assert SaidUnit("<p name='x &amp; y'/>").says("x & y")
    assert not SaidUnit("nothing").says("something")


def test_a_field_twice_in_an_entry_shows() -> None:
    assert len(LogUnit("INFO status=ok then status=declined").values("status")) == 2


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(PAYLOADS)), st.integers(50, 3000), st.text("abcdefg 0123", max_size=12))
def test_every_ceiling_and_query_gives_a_text_with_nothing_off(name: str, ceiling: int, query: str) -> None:
    report = check_payload(PAYLOADS[name], Options(query=query, max_tokens=ceiling))
    assert not report.findings, found(report)


GUTTERED = "".join(f"{i:6d}\t{line}\n" for i, line in enumerate(PROSE.decode().split("\n"), 1)).encode()
TAGGED = b'<file path="notes.md">\n' + PROSE + b"\n</file>\n"
DUMP = "\n".join(
    ["CREATE TABLE parts (id int, name text, note text, grade int);"]
    + [f"INSERT INTO parts VALUES ('{i}', 'part; number {i}', NULL, {i % 4}, 'kept, as it was');" for i in range(60)]
).encode()


@pytest.mark.parametrize("payload", [GUTTERED, TAGGED, DUMP], ids=["gutter", "tags", "rows of SQL"])
def test_nothing_is_off_where_lines_have_numbers_tags_or_parentheses(payload: bytes) -> None:
    result = Engine(open_memory()).compress(payload)
    assert result.markers
    assert check_result(payload, result).findings == []


def test_a_lie_about_rows_of_sql_is_found() -> None:
    result = Engine(open_memory()).compress(DUMP)
    marker = next(m for m in result.markers if any("column" in fact for fact in m.facts))
    told = next(fact for fact in marker.facts if fact.startswith("all ") and "NULL" in fact)
    lie = told.replace("NULL", "1")
    false = replace(
        result,
        output=result.output.replace(told.encode(), lie.encode()),
        text=result.text.replace(told, lie),
        markers=tuple(replace(m, facts=tuple(lie if f == told else f for f in m.facts)) for m in result.markers),
    )
    assert check_result(DUMP, false).findings


def test_names_of_tools_inside_of_functions_are_read() -> None:
    verbs = ("status", "diff", "commit", "add", "reset", "log", "branch", "checkout", "show", "init")
    parameters = {"type": "object", "properties": {"path": {"type": "string", "description": "Where it lies. " * 3}}}
    tools = [
        {"type": "function", "function": {"name": f"git_{v}", "description": "Does it. " * 9, "parameters": parameters}}
        for v in verbs
    ]
    payload = json.dumps(tools).encode()
    made = Engine(open_memory()).compress(payload, max_tokens=180)
    assert any(fact.startswith("name: git_") for marker in made.markers for fact in marker.facts)
    assert not check_payload(payload, Options(max_tokens=180)).findings
