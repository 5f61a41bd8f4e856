"""Invented terminal output: a coloured test run, progress bars, a linter, a coloured diff, a screen that is redrawn."""

from __future__ import annotations

from collections.abc import Iterator

BOLD, RED, GREEN, YELLOW, OFF = "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"


def tests(count: int) -> str:
    out = [f"{BOLD}{'=' * 20} test session starts {'=' * 20}{OFF}", "platform linux -- Python 3.12.1, pytest-8.3.5"]
    out.append(f"{BOLD}collecting ... {OFF}\rcollecting 10 items    \rcollected {count} items")
    out.append("")
    for i in range(count):
        word = f"{RED}FAILED" if i == 33 else f"{GREEN}PASSED"
        out.append(f"tests/test_dock.py::test_berth[{i}] {word}{OFF}{GREEN}    [{100 * (i + 1) // count:3}%]{OFF}")
    out += ["", f"{'=' * 20} FAILURES {'=' * 20}", f"{RED}{BOLD}_____ test_berth[33] _____{OFF}", ""]
    out += [">       assert depth(33) > 4", f"{RED}E       AssertionError: berth 33 is 2 m deep{OFF}", ""]
    out += [f"{BOLD}{RED}tests/test_dock.py{OFF}:41: AssertionError"]
    out += [f"{RED}{'=' * 10} {BOLD}1 failed{OFF}, {GREEN}{count - 1} passed{OFF}{RED} in 2.31s {'=' * 10}{OFF}"]
    return "\r\n".join(out) + "\r\n"


def progress() -> str:
    out = []
    for i in range(24):
        out.append(f"Fetching layer-{i:02}\r\n\x1b[?25l")
        out += [f"\r{'#' * (p // 10):10}| {p:3}% of {20 + i} MB" for p in range(0, 101, 10)]
        out.append("\x1b[?25h\r\n")
        if i == 9:
            out.append(f"{RED}error{OFF}: layer-09 has the wrong digest\r\n\r\n\x1b[1A\x1b[2K")
    return "".join(out) + f"{BOLD}24 layers, 23 ok{OFF}\r\n"


def lint() -> str:
    out = []
    for f in range(14):
        out.append(f"\x1b]8;;file:///src/dock{f}.js\x1b\\\x1b[4msrc/dock{f}.js\x1b[24m\x1b]8;;\x1b\\")
        for k in range(12):
            level = f"{RED}error{OFF}" if (f, k) == (6, 5) else f"{YELLOW}warning{OFF}"
            said = "'tide' is not defined  no-undef" if (f, k) == (6, 5) else "Missing semicolon  semi"
            out.append(f"  {k + 3}:{(f * k) % 40 + 1}  {level}  {said}")
        out.append("")
    out.append(f"{BOLD}{RED}\u2716 168 problems (1 error, 167 warnings){OFF}")
    return "\n".join(out) + "\n"


def coloured_diff() -> str:
    out = []
    for f in range(6):
        out += [f"{BOLD}diff --git a/src/dock{f}.py b/src/dock{f}.py{OFF}", f"{BOLD}index 11aa..22b{f} 100644{OFF}"]
        out += [
            f"{BOLD}--- a/src/dock{f}.py{OFF}",
            f"{BOLD}+++ b/src/dock{f}.py{OFF}",
            "\x1b[36m@@ -10,7 +10,7 @@\x1b[m",
        ]
        out += [f" line {i} of the context" for i in range(3)]
        out += [f"{RED}-depth = {f}{OFF}", f"{GREEN}+depth = {f + 1}{OFF}"]
        out += [f" line {i} of the context" for i in range(3, 6)]
    return "\n".join(out) + "\n"


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "terminal", "tests", tests(80).encode(), {}
    yield "terminal", "progress", progress().encode(), {}
    yield "terminal", "lint", lint().encode(), {}
    yield "terminal", "lint_query", lint().encode(), {"query": "dock11 semicolon 14:1"}
    yield "terminal", "lint_ceiling", lint().encode(), {"max_tokens": 300}
    yield "terminal", "diff", coloured_diff().encode(), {}
