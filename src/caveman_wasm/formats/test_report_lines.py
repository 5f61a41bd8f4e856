"""What test runners print: pytest, unittest, jest, vitest, go, cargo, gtest and producers of TAP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from caveman_wasm.model import ABSENT, Columns, Document, Group, plain

__all__ = ["LABEL", "LONG_BODY", "report", "split_lines", "words"]

LONG_BODY: Final = 600  # bytes of a trace or an output from which its lines are units
LONG_BLOCK: Final = 300  # the same for the report of a failure: it stands beside others
LINE: Final = 600  # characters of a line that say what it is
LABEL: Final = 120  # characters of a failure's kind

_GOOD: Final = r"\xe2\x9c[\x93\x94]|\xe2\x88\x9a"
_BAD: Final = r"\xe2\x9c[\x95\x97\x98]|\xc3\x97"
_CASES: Final = re.compile(
    r"(?P<py>\S+::.+?) (?P<py_r>PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)(?: \((?P<py_w>[^)]*)\))?(?: *\[ *\d+%\])?$"
    r"|(?P<short_r>FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?P<short>(?:\[\d+\] )?\S+\.py\S*)(?:[ :-]+(?P<short_w>.*))?$"
    r"|(?P<dots>\S+\.py) (?P<dots_r>[.FEsxX]+)(?: +\[ *\d+%\])?$"
    r"|(?:=== (?P<run_r>RUN|PAUSE|CONT|NAME) +|(?: {4})*--- (?P<go_r>PASS|FAIL|SKIP): )(?P<go>\S+)"
    r"(?: \((?P<go_s>[\d.]+)s\))?"
    r"|test (?P<rs>\S.*?) \.\.\. (?P<rs_r>ok|FAILED|ignored)(?:, (?P<rs_w>.*))?$"
    r"|(?P<un>\w+ \([\w.]+\)) \.\.\. (?P<un_r>ok|FAIL|ERROR|skipped|expected failure|unexpected success)"
    r"(?: (?P<un_w>.*))?$"
    r"|(?: {4})*(?P<tap_r>not ok|ok) (?P<tap>\d+\b.*?)"
    r"(?: # (?:time=(?P<tap_ms>[\d.]+)ms|(?P<tap_w>(?i:skip|todo).*)))?$"
    rf"|\s*(?P<js_r>{_GOOD}|{_BAD}|\xe2\x97\x8b) (?P<js>.*?)(?: \(?(?P<js_ms>[\d.]+) ?ms\)?)?$"
    r"|\s+(?P<net_r>Passed|Failed|Skipped) (?P<net>\S.*?) \[(?:< )?(?:(?P<net_ms>\d+) ms|(?P<net_s>[\d.]+) s)\]$"
    r"|(?P<file_r>PASS|FAIL) +(?P<file>\S+\.[cm]?[jt]sx?\b.*)$",
    re.ASCII,
)
_RESULTS: Final = {
    "PASSED": "passed", "PASS": "passed", "ok": "passed", "FAILED": "failed", "FAIL": "failed", "not ok": "failed",
    "ERROR": "error", "SKIPPED": "skipped", "SKIP": "skipped", "skipped": "skipped", "ignored": "skipped",
    "Passed": "passed", "Failed": "failed", "Skipped": "skipped",
    "\xe2\x97\x8b": "skipped", "unexpected success": "failed",
}  # fmt: skip
_HEADS: Final = re.compile(  # lines that begin the report of a failure
    r"_{3,} .* _{3,}$|(?:FAIL|ERROR): \S|---- \S.* ----$|\s*\xe2\x97\x8f \S|  +\d+\) \S"
    r"|panic: |\xe2\x8e\xaf* *FAIL  ?\S",
    re.ASCII,
)
_TOTALS: Final = re.compile(
    r"(?:Passed|Failed)!  - Failed: |\d+ examples?, \d+ failures?|"
    r"={3,}.*={3,}$|={20,}$|-{20,}$|test result: |running \d+ tests?$|Ran \d+ tests?\b|collected \d+ items?"
    r"|(?:OK|FAILED|PASSED)(?: \(.*\))?$"
    r"|(?:Test Suites|Tests|Snapshots|Time|Ran all|Test Files|Duration):? |\s+(?:Test Files|Tests|Duration) +\S"
    r"|(?:ok|FAIL|\?) +\t?\S+\t|(?:PASS|FAIL)$|exit status|coverage: |\s+\d+ (?:passing|failing|pending)\b"
    r"|# (?:tests|pass|fail|skip|todo|cancelled|suites|duration)|1\.\.\d+|TAP version|failures:$|error: test failed"
    r"|Summary of all failing|\d+ (?:passed|failed|error)|\s+Running (?:unittests|tests)|\s+Doc-tests",
    re.ASCII,
)
_TELLING: Final = re.compile(
    r"E  |\+ |- |\s*(?:Caused by|assert|Expected|Received|expected|actual|left|right|got|want"
    r"|Error Trace|Error:|Messages?:)"
    r"|.*(?:\b[\w.]*(?:Error|Exception)\b|panicked|[Aa]ssert(?:ion)? ?[Ff]ail|_test\.go:\d+|Caused by)",
    re.ASCII,
)


def words(label: str) -> str:
    return " ".join(label.split())[:LABEL] or "failure"


def split_lines(text: str) -> Document | None:
    newline = "\n" if "\n" in text or "\r" not in text else "\r"
    parts = list(_parts(text, newline))
    if not any(part.kind != "other" for part in parts):
        return None
    starts, stops = [p.start for p in parts], [p.stop for p in parts]
    group = Group(starts, stops, "outline", "parts", reader=_Blocks(text, parts))
    telling = [i for i, part in enumerate(parts) if part.kind != "other"]
    group.pinned = sorted(telling, key=lambda i: (parts[i].kind != "total", i))  # totals go last
    for i, part in enumerate(parts):
        if part.kind == "cases":
            group.children[i] = [_cases(text, part)]
        elif part.kind == "block" and part.stop - part.start > LONG_BLOCK:
            group.children[i] = [report(text, part.start, part.stop, newline, False)]
    return Document(text, "test-report", [group], len(text), newline=newline)


class _Part:
    """Lines that belong together: "cases" with the starts of each, "block" (a failure's report), "total" or "other"."""

    __slots__ = ("found", "kind", "start", "starts", "stop", "stops")

    def __init__(self, kind: str, start: int, stop: int) -> None:
        self.kind, self.start, self.stop = kind, start, stop
        self.starts: list[int] = []
        self.stops: list[int] = []
        self.found: list[re.Match[str]] = []

    def add(self, start: int, stop: int, found: re.Match[str]) -> None:
        self.starts.append(start)
        self.stops.append(stop)
        self.found.append(found)
        self.stop = stop


def _parts(text: str, newline: str) -> Iterator[_Part]:
    part: _Part | None = None
    for start, stop in _line_spans(text, 0, len(text), newline):
        line = text[start : min(stop, start + LINE)]
        found = _CASES.match(line)
        if found is not None:
            if part is None or part.kind != "cases":
                if part is not None:
                    yield part
                part = _Part("cases", start, stop)
            part.add(start, stop, found)
            continue
        kind = "block" if _HEADS.match(line) else "total" if _TOTALS.match(line) else "other"
        if kind == "other" and part is not None and part.kind in ("block", "cases"):
            if line:  # what a case printed, what a failure reports
                part.stop = stop
                if part.stops:
                    part.stops[-1] = stop
            continue
        if part is not None:
            yield part
        part = _Part(kind, start, stop)
        if kind == "other" and not line:
            part = None
    if part is not None:
        yield part


def _line_spans(text: str, start: int, stop: int, newline: str) -> Iterator[tuple[int, int]]:
    lines = text[start:stop].split(newline)
    for at, line in zip(accumulate((len(x) + 1 for x in lines), initial=start), lines, strict=False):
        yield at, at + len(line.rstrip("\r"))


def report(text: str, start: int, stop: int, newline: str, output: bool) -> Group:
    """The lines of a failure's report or of an output: head, end and what tells stay longest."""
    spans = [(a, b) for a, b in _line_spans(text, start, stop, newline) if b > a and text[a:b].strip()]
    telling = [i for i, (a, b) in enumerate(spans) if _TELLING.match(text, a, min(b, a + LINE))]
    few = (2, 2, 2) if output else (12, 4, 1)  # from the head, from the end, at the head
    ends = [*range(min(few[2], len(spans))), *range(max(0, len(spans) - 2), len(spans))]
    pinned = sorted({*ends, *telling[: few[0]], *telling[-few[1] :]})
    return Group([a for a, _ in spans], [b for _, b in spans], "outline", "lines", pinned=pinned)


class _Blocks:
    """Names the failures whose reports a ceiling leaves out."""

    typed = False

    def __init__(self, text: str, parts: Sequence[_Part]) -> None:
        self.text, self.parts = text, parts

    def columns(self, first: int, last: int) -> Columns:
        return {}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return [[part.kind for part in self.parts[first:last]]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [self._failure(part) if part.kind == "block" else "" for part in self.parts[first:last]]

    def _failure(self, part: _Part) -> str:
        line = self.text[part.start : min(part.stop, part.start + LINE)].partition("\n")[0]
        return words(plain(line).strip("_-\u25cf\u23af \r"))


def _cases(text: str, part: _Part) -> Group:
    reader = _Cases(text, part)
    noun = "lines" if any(row["result"] == "run" for row in reader.rows) else "cases"  # go -v: two lines a case
    group = Group(part.starts, part.stops, "records", noun, reader=reader)
    for i, (start, stop) in enumerate(zip(part.starts, part.stops, strict=True)):
        if stop - start > 2 * LONG_BODY:
            newline = "\n" if "\n" in text[start:stop] else "\r"
            group.children[i] = [report(text, start, stop, newline, reader.rows[i]["result"] != "failed")]
    return group


class _Cases:
    """Name, result, seconds or milliseconds, and reason of printed cases."""

    typed = False

    def __init__(self, text: str, part: _Part) -> None:
        self.rows: list[dict[str, Any]] = list(map(_case, part.found))
        failed = {row["name"] for row in self.rows if row.get("result") == "failed"}
        for row, start, stop in zip(self.rows, part.starts, part.stops, strict=True):
            if row["result"] == "run" and row["name"] in failed and "\n" in text[start:stop]:
                row["said"] = plain(text[start:stop]).partition("\n")[2].strip()[:LABEL]

    def columns(self, first: int, last: int) -> Columns:
        names = ("name", "result", "time_s", "time_ms", "reason")
        found = {name: [row.get(name, ABSENT) for row in self.rows[first:last]] for name in names}
        return {name: values for name, values in found.items() if any(v is not ABSENT for v in values)}

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        results = [str(row["result"]) for row in self.rows[first:last]]
        return [results, [f"{row['result']} {row.get('reason', '')}" for row in self.rows[first:last]]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [
            words(f"{row['name']} {row.get('reason') or row.get('said') or ''}")
            if row["result"] in ("failed", "error") or "said" in row
            else ""
            for row in self.rows[first:last]
        ]


def _case(found: re.Match[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for key, value in found.groupdict().items():
        if value is None:
            continue
        kind, _, what = key.partition("_")
        if what == "r":
            row["result"] = _dots(value) if kind == "dots" else "run" if kind == "run" else _result_of(value)
        elif what == "w":
            row["reason"] = plain(value)
            if kind == "tap":
                row["result"] = "skipped"
        elif what:
            row[f"time_{what}"] = value
        else:
            row["name"] = plain(value.strip())
    return row


def _dots(value: str) -> str:
    return "failed" if "F" in value or "E" in value else "passed" if set(value) == {"."} else "mixed"


def _result_of(value: str) -> str:
    if value in _RESULTS:
        return _RESULTS[value]
    return "failed" if re.match(_BAD, value) else "passed" if re.match(_GOOD, value) else value
