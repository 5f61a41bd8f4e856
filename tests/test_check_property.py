"""Whatever a payload of any format holds: the checker finds nothing off in what is made of it, and finds planted lies.

Payloads are written around the values that facts get wrong most easily: numbers in several spellings, separators and
markers of our own inside values, fields that some units lack or have twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, cutting, open_memory
from caveman_wasm.check import Options, Report, check_payload, check_result
from caveman_wasm.facts import facts as true_facts
from caveman_wasm.formats import FORMATS
from caveman_wasm.model import Run

Row = dict[str, str]

ODD = [
    *("ok", "failed", "1e3", "1000", "007", "-0.0", "NaN", "1,200", "a, b", "x=1; y=2", "paid×3", "… 3 rows elided …"),
    *(
        "naïve",
        "名前",
        "all",
        "absent",
        "null",
        "it's",
        'say "so"',
        "0..9",
        "2026-05-14",
        "2026-05-14 08:00:01",
        "",
        "#",
    ),
    *("error: no", "status=declined", "a|b", "<b>", "&amp;", "\\n", "ccr_0", "[1]", "{}", "v1.2", "10.0.0.1", "%"),
]
VALUES = st.sampled_from(ODD)
ROWS = st.lists(
    st.fixed_dictionaries({"state": VALUES, "size": VALUES}, optional={"note": VALUES, "host": VALUES}),
    min_size=3,
    max_size=14,
).flatmap(lambda rows: st.integers(8, 60).map(lambda n: [rows[i % len(rows)] | {"n": str(i)} for i in range(n)]))


def pairs(row: Row, sep: str = " ") -> str:
    return sep.join(f"{k}={json.dumps(v, ensure_ascii=False) if re.search('[ ,;=]', v) else v}" for k, v in row.items())


def delimited(rows: Sequence[Row], mark: str) -> str:
    names = ["n", "state", "size", "note", "host"]
    cells = [[row.get(name, "") for name in names] for row in rows]
    quoted = [['"' + c.replace('"', '""') + '"' if re.search(rf'["\n{mark}]', c) else c for c in row] for row in cells]
    return "\n".join(mark.join(row) for row in [names, *quoted]) + "\n"


def twice(row: Row) -> str:
    """A JSON object; every seventh says a field twice."""
    said = json.dumps({k: json.loads(v) if re.fullmatch(r"-?[1-9]\d*|1e3|null", v) else v for k, v in row.items()})
    return said[:-1] + ', "state": "twice"}' if int(row["n"]) % 7 == 3 else said


def functions(rows: Sequence[Row]) -> str:
    bodies = (
        f"    if n > {i}:\n        print({r['state']!r}, {r['size']!r})\n    return n\n" * 4 for i, r in enumerate(rows)
    )
    return "import os\n\n" + "\n\n".join(f'def step_{i}(n):\n    """Step {i}."""\n{b}' for i, b in enumerate(bodies))


def hunks(rows: Sequence[Row]) -> str:
    head = "diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n"
    return head + "".join(
        f"@@ -{20 * i + 1},8 +{20 * i + 1},8 @@\n a\n b\n c\n-{r['state']}\n+{r['size']}\n d\n e\n f\n g\n"
        for i, r in enumerate(rows)
    )


def cases(rows: Sequence[Row]) -> str:
    from xml.sax.saxutils import quoteattr

    def case(i: int, row: Row) -> str:
        inside = f"<failure message={quoteattr(row['size'])}>at x:{i}</failure>" if row["state"] == "failed" else ""
        return f'<testcase name={quoteattr("case " + row["n"] + row["state"])} classname="shop.S" time="0.{i}">{inside}</testcase>'

    return (
        f'<testsuite name="s" tests="{len(rows)}">\n'
        + "\n".join(case(i, r) for i, r in enumerate(rows))
        + "\n</testsuite>\n"
    )


def tools(rows: Sequence[Row]) -> str:
    schema = {"type": "object", "title": "T", "properties": {"n": {"type": "integer", "description": "How many. " * 9}}}
    return json.dumps(
        [
            {"name": f"t{r['n']}", "description": f"Does it. It is {r['state']}. " * 4, "inputSchema": schema}
            for r in rows
        ]
    )


MAKERS: dict[str, Callable[[list[Row]], str]] = {
    "a11y": lambda rows: '- main [ref=e0]:\n  - list [ref=e1]:\n' + "".join(
        f'    - listitem [ref=e{i + 2}]: {json.dumps(r["state"] + " and " + r["size"], ensure_ascii=False)}\n' for i, r in enumerate(rows)),
    "code": functions,
    "config": lambda rows: "".join(f"[s{r['n']}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in r.items()) + "\n" for r in rows),
    "diff": hunks,
    "html": lambda rows: "<html><body><h1>T</h1>" + "".join(
        f"<p>{r['state']} came first. Then {r['size']} followed it at some length.</p>\n" for r in rows) + "</body></html>",
    "json": lambda rows: "[" + ",\n".join(map(twice, rows)) + "]",
    "log": lambda rows: "".join(
        f"2026-05-14 08:00:{int(r['n']) % 60:02} {'ERROR' if r['state'] == 'failed' else 'INFO'} job {pairs(r)}\n" for r in rows),
    "repetition": lambda rows: "".join(f"{r['state']} is what it said at last, and then again\n" * 3 for r in rows),
    "search-result": lambda rows: "".join(f"src/m{int(r['n']) // 5}.py:{int(r['n']) + 1}:{r['state']} {r['size']}\n" for r in rows),
    "tabular": lambda rows: delimited(rows, ","),
    "terminal": lambda rows: "".join(f"\x1b[32m{r['state']}\x1b[0m step {r['n']} {pairs(r)}\n" for r in rows),
    "test-report": cases,
    "text": lambda rows: "# Notes\n\n" + "\n\n".join(
        f"Part {r['n']} says {r['state']} first. Then it goes on about {r['size']} for a while. And it ends there." for r in rows),
    "toolschema": tools,
    "toolschema-annotations": tools,
}  # fmt: skip
MORE: dict[str, list[Callable[[list[Row]], str]]] = {
    "json": [lambda rows: "\n".join(map(twice, rows)), lambda rows: json.dumps({"items": rows, "total": len(rows)}, indent=2),
             lambda rows: json.dumps({f"k{r['n']}": r for r in rows})],
    "tabular": [lambda rows: delimited(rows, "\t"), lambda rows: delimited(rows, ";"),
                lambda rows: "| n | state |\n|---|---|\n" + "".join(f"| {r['n']} | {r['state'].replace('|', '')} |\n" for r in rows),
                lambda rows: "┌───┬───┐\n│ n │ s │\n├───┼───┤\n" + "".join(f"│ {r['n']} │ {r['size']} │\n" for r in rows) + "└───┴───┘\n",
                lambda rows: " n   used  free\n" + "".join(f"{r['n']:>3} {int(r['n']) * 7:>5}   {len(r)}00\n" for r in rows)],
    "config": [lambda rows: "items:\n" + "".join(f"  - name: i{r['n']}\n    state: {json.dumps(r['state'])}\n    size: {json.dumps(r['size'])}\n" for r in rows),
               lambda rows: "".join(f'resource "box" "b{r["n"]}" {{\n  state = {json.dumps(r["state"])}\n  size  = {json.dumps(r["size"])}\n}}\n' for r in rows)],
    "search-result": [lambda rows: "".join(f"-rw-r--r-- 1 root root {int(r['n']) * 37} May {1 + int(r['n']) % 28:>2} 10:00 f{r['n']}.txt\n" for r in rows),
                      lambda rows: "".join(f"lib{r['n']}-dev/stable,now 1.{r['n']} amd64 [installed{',automatic' * (r['state'] == 'ok')}]\n" for r in rows)],
    "test-report": [lambda rows: "TAP version 13\n" + "".join(f"{'not ' * (r['state'] == 'failed')}ok {int(r['n']) + 1} {r['size']}\n" for r in rows)],
}  # fmt: skip
FAMILIES = [(kind, make) for kind, first in MAKERS.items() for make in (first, *MORE.get(kind, ()))]
IDS = [f"{kind}-{i}" for i, (kind, _) in enumerate(FAMILIES)]
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def off(report: Report) -> str:
    return "\n".join(f"{f.marker} {f.fact} {f.found}" for f in report.findings)


def test_every_format_of_the_registry_is_made_here() -> None:
    assert MAKERS.keys() | {"base64", "toon"} == set(FORMATS)


@pytest.mark.parametrize(("kind", "make"), FAMILIES, ids=IDS)
@settings(max_examples=20, deadline=None, suppress_health_check=SLOW)
@given(rows=ROWS, query=st.sampled_from(["", "failed", "step 17 7"]), ceiling=st.sampled_from([None, None, 300]))
def test_nothing_is_off(
    kind: str, make: Callable[[list[Row]], str], rows: list[Row], query: str, ceiling: int | None
) -> None:
    payload = make(rows).encode()
    for forced in (kind, None):
        report = check_payload(payload, Options(forced, query, ceiling))
        assert not report.findings, off(report)


def _more(fact: str) -> str:
    """The fact with one unit more of something. (What fails is a matter of words; test_check.py has lies about that.)"""
    return fact if fact.startswith("failures") else re.sub(r"×(\d+)", lambda m: f"×{int(m[1]) + 1}", fact, count=1)


@pytest.mark.parametrize(("kind", "make"), FAMILIES, ids=IDS)
@settings(max_examples=10, deadline=None, suppress_health_check=SLOW)
@given(rows=ROWS)
def test_planted_lies_are_found(kind: str, make: Callable[[list[Row]], str], rows: list[Row]) -> None:
    payload = make(rows).encode()
    made = Engine(open_memory()).compress(payload, content_type=kind)
    if not made.markers:
        return
    first = made.markers[0]
    counted = replace(made, markers=(replace(first, count=first.count + 1), *made.markers[1:]))
    assert check_result(payload, counted).findings
    fewer = replace(made, markers=made.markers[1:])
    assert check_result(payload, fewer).findings
    longer = replace(made, output=made.output[: first.start] + b"QQ" + made.output[first.start :])
    assert check_result(payload, longer).findings

    told = 0

    def lying(run: Run, replaced: int, most: int | None = None) -> tuple[str, ...]:
        nonlocal told
        said = true_facts(run, replaced, most)
        false = tuple(map(_more, said))
        told += said != false
        return false

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "facts", lying)
        report = check_payload(payload, Options(kind))
    assert report.findings or not told
