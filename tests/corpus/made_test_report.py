"""Invented test runs: JUnit XML, pytest, go's events, cargo."""

from __future__ import annotations

import json
from collections.abc import Iterator


def junit() -> str:
    out = ["<?xml version='1.0' encoding='utf-8'?>", '<testsuites tests="120" failures="2" skipped="4" time="31.5">']
    for s in range(6):
        out.append(f'<testsuite name="shop.Suite{s}" tests="20" failures="{int(s in (1, 4))}" errors="0" time="5.{s}">')
        for i in range(20):
            head = f'<testcase name="case{20 * s + i}" classname="shop.Suite{s}" time="{"9.75" if s == 3 and i == 9 else f"0.{10 + i}"}"'
            if s in (1, 4) and i == 7:
                trace = "\n".join(f"at shop.Deep.m{k}(Deep.java:{k}) &lt;init&gt;" for k in range(30))
                out.append(
                    f'{head}><failure message="expected {s} -- but was &quot;{s + 1}&quot;" type="AssertionError">boom {s}\n{trace}\nend</failure></testcase>'
                )
            else:
                out.append(
                    f'{head}><skipped message="needs a database"/></testcase>' if i == 3 and s < 4 else f"{head} />"
                )
        out.append("</testsuite>")
    return "\n".join([*out, "</testsuites>"]) + "\n"


def pytest_run() -> str:
    out = [
        "============ test session starts ============",
        "platform linux -- Python 3.12.0",
        "collected 121 items",
        "",
    ]
    out += [
        f"tests/test_shop.py::test_{i} {'FAILED' if i in (40, 77) else 'PASSED'} [{i * 100 // 121:3d}%]"
        for i in range(120)
    ]
    out += [
        "tests/test_shop.py::test_far SKIPPED (needs a network) [100%]",
        "",
        "=============== FAILURES ===============",
    ]
    for i in (40, 77):
        out += [f"________________ test_{i} ________________", "", f"    def test_{i}(shop):"] + [
            f"        shop.step({k})" for k in range(20)
        ]
        out += [
            f">       assert shop.total() == {i}",
            f"E       assert {i + 1} == {i}",
            "",
            f"tests/test_shop.py:{i}: AssertionError",
        ]
        out += ["----------- Captured log call -----------"] + [
            f"WARNING shop:shop.py:{k} step {k} took long" for k in range(12)
        ]
    out += [
        "======= short test summary info =======",
        "FAILED tests/test_shop.py::test_40 - assert 41 == 40",
        "FAILED tests/test_shop.py::test_77 - assert 78 == 77",
    ]
    return "\n".join([*out, "=== 2 failed, 118 passed, 1 skipped in 3.21s ==="]) + "\n"


def go_events() -> str:
    rows: list[dict[str, object]] = []
    for i in range(50):
        base = {"Time": f"2026-01-02T03:04:{i:02d}Z", "Package": "example.com/shop", "Test": f"TestThing{i}"}
        rows += [{**base, "Action": "run"}, {**base, "Action": "output", "Output": f"=== RUN   TestThing{i}\n"}]
        rows += [{**base, "Action": "output", "Output": f"    thing_test.go:12: got {i}, want {i + 1}\n"}] * (i == 31)
        rows.append({**base, "Action": "fail" if i == 31 else "pass", "Elapsed": 0.01 * i})
    rows.append({"Time": "2026-01-02T03:05:00Z", "Action": "fail", "Package": "example.com/shop", "Elapsed": 1.5})
    return "".join(json.dumps(row) + "\n" for row in rows)


def cargo() -> str:
    out = [
        "running 90 tests",
        *(f"test shop::case_{i} ... {'FAILED' if i == 60 else 'ok'}" for i in range(90)),
        "",
        "failures:",
        "",
    ]
    out += [
        "---- shop::case_60 stdout ----",
        "",
        "thread 'shop::case_60' panicked at src/shop.rs:60:1:",
        "  left: 60",
        " right: 61",
        "",
    ]
    return (
        "\n".join([*out, "failures:", "    shop::case_60", "", "test result: FAILED. 89 passed; 1 failed; 0 ignored"])
        + "\n"
    )


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "test-report", "junit", junit().encode(), {}
    yield "test-report", "junit_one_line", junit().replace("\n<", "<").encode(), {"query": "case66"}
    yield "test-report", "pytest", pytest_run().encode(), {}
    yield "test-report", "pytest_ceiling", pytest_run().encode(), {"max_tokens": 450}
    yield "test-report", "go_events", go_events().encode(), {}
    yield "test-report", "cargo_crlf", cargo().replace("\n", "\r\n").encode(), {}
