"""Test runs: JUnit XML, `go test -json`, and what pytest, unittest, jest, vitest, go, cargo and TAP producers print.

Units are suites and cases; a failing one keeps its message and the first and last lines of its trace. Of plain
output, a case is its line with whatever it printed, a failure's report is a block of lines; totals and rules stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, repeat
from typing import Any, Final

from caveman_wasm.formats.json_records import JSON
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Document, Group, Reader, Rewritten, Value, plain

__all__ = ["TEST_REPORT"]

LEVELS: Final = 8  # nested groups (DESIGN)
LONG_BODY: Final = 600  # bytes of a trace or an output from which its lines are units
LONG_BLOCK: Final = 300  # the same for the report of a failure: it stands beside others
LINE: Final = 600  # characters of a line that say what it is
LABEL: Final = 120  # characters of a failure's kind


class TestReport:
    __test__ = False  # no test class, whatever pytest thinks of the name
    name = "test-report"
    keep = 0.25
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return JSON.rewrite(text) if _is_json(text) else None

    def split(self, text: str) -> Document | None:
        if _is_json(text):
            return _split_events(text)
        return _split_xml(text) if _is_xml(text) else _split_lines(text)

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        if _is_json(document.text):
            return JSON.marker(sentence, count, facts, group, document)
        return _comment(sentence) if _is_xml(document.text) else sentence

    def reference(self, sentence: str, document: Document) -> str:
        if _is_json(document.text):
            return JSON.reference(sentence, document)
        newline = "\r\n" if "\r\n" in document.text[:4096] else document.newline
        said = _comment(sentence) if _is_xml(document.text) else sentence
        return ("" if document.text.endswith(("\n", "\r")) else newline) + said + newline


def _is_json(text: str) -> bool:
    return text[:64].lstrip("\xef\xbb\xbf \t\r\n").startswith("{")


def _is_xml(text: str) -> bool:
    return text[:64].lstrip("\xef\xbb\xbf \t\r\n").startswith("<")


def _comment(sentence: str) -> str:
    """An XML comment, in which two hyphens must not meet."""
    return f"<!-- {sentence.replace('--', '-&#45;')} -->"


# ---------------------------------------------------------------- JUnit XML

# No alternative begins like another one, none gives back: a tag is read once.
_TAG: Final = re.compile(r"<(/?)([A-Za-z_][\w:.-]*+)((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+)>", re.ASCII)
_ATTRIBUTE: Final = re.compile(r"([A-Za-z_][\w:.-]*+)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')", re.ASCII)
_ENTITY: Final = re.compile(r"&(lt|gt|amp|quot|apos|#10|#xA);")
_ENTITIES: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#10": "\n", "#xA": "\n"}
_CLOSERS: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
_FAILING: Final = {"failure": "failed", "error": "error"}
_TEXTS: Final = frozenset(("failure", "error", "skipped", "system-out", "system-err", "rerunFailure", "flakyFailure",
                           "rerunError", "flakyError"))  # fmt: skip
_COUNTED: Final = ("failures", "errors")


class _Element:
    """An element: ``text[start:stop]`` with its tags, ``text[inner:outer]`` without."""

    __slots__ = ("attributes", "children", "inner", "name", "outer", "start", "stop")

    def __init__(self, name: str, start: int, inner: int, attributes: str) -> None:
        self.name, self.start, self.inner, self.attributes = name, start, inner, attributes
        self.stop = self.outer = inner
        self.children: list[_Element] = []


def _elements(text: str) -> _Element | None:
    """The tree of elements under a root of no name; None where tags do not match. No recursion."""
    root = _Element("", 0, 0, "")
    stack = [root]
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2] in ("!", "?"):
            closer = next(end for begin, end in _CLOSERS if text.startswith(begin, at))
            end = text.find(closer, at + 2)
            if end < 0:
                return None
            at = text.find("<", end + len(closer))
            continue
        tag = _TAG.match(text, at)
        if tag is None:
            return None
        if tag[1]:
            closed = stack.pop()
            if closed.name != tag[2] or not stack:
                return None
            closed.outer, closed.stop = at, tag.end()
        else:
            element = _Element(tag[2], at, tag.end(), tag[3])
            stack[-1].children.append(element)
            if not tag[3].endswith("/"):
                stack.append(element)
        at = text.find("<", tag.end())
    return root if len(stack) == 1 else None


def _split_xml(text: str) -> Document | None:
    root = _elements(text)
    if root is None or len(root.children) != 1:
        return None
    top = root.children[0]
    groups = _inside(text, top, 1)
    if top.name == "testsuite":  # its own head is the totals; it stays whatever becomes of its cases
        groups = _inside(text, top, 2)
    return Document(text, TestReport.name, groups, len(text))


def _inside(text: str, element: _Element, level: int) -> list[Group]:
    """The groups inside an element: neighbours of one name, texts by their lines."""
    groups: list[Group] = []
    for name, same in groupby(element.children, lambda e: e.name):
        children = list(same)
        if name in ("testcase", "testsuite"):
            groups.append(_units(text, children, level))
        elif name == "properties":
            groups += [_plain_group(child.children, "properties") for child in children if child.children]
        elif name in _TEXTS:
            groups += [g for child in children for g in _body(text, child)]
    return groups


def _units(text: str, elements: list[_Element], level: int) -> Group:
    noun = "cases" if elements[0].name == "testcase" else "suites"
    reader = _Elements(text, elements)
    group = _plain_group(elements, noun)
    group.mode, group.reader = "records", reader
    if level < LEVELS:
        inside = ((i, _inside(text, element, level + 1)) for i, element in enumerate(elements) if element.children)
        group.children = {i: groups for i, groups in inside if groups}
    return group


def _plain_group(elements: list[_Element], noun: str) -> Group:
    return Group([e.start for e in elements], [e.stop for e in elements], "outline", noun)


def _body(text: str, element: _Element) -> list[Group]:
    """The lines of a failure's or an output's text, where it is long and nothing but text."""
    start, stop = element.inner, element.outer
    opened = text.find("<![CDATA[", start, stop)
    if opened >= 0:
        start, stop = opened + 9, text.find("]]>", opened, stop)
        if text.find("<![CDATA[", stop, element.outer) >= 0:
            return []
    if stop - start <= LONG_BODY or (opened < 0 and "<" in text[start:stop]):
        return []
    return [_report(text, start, stop, "\n", element.name.endswith(("out", "err")))]


class _Elements:
    """Fields of suites or cases: their attributes, and of cases what became of them."""

    typed = False

    def __init__(self, text: str, elements: Sequence[_Element]) -> None:
        self.text, self.elements = text, elements
        self._last: tuple[int, int, Columns] = (0, 0, {})

    def columns(self, first: int, last: int) -> Columns:
        """The last ones read are remembered."""
        if self._last[:2] != (first, last):
            elements = self.elements[first:last]
            self._last = (first, last, self._alike(elements) or self._each(elements))
        return self._last[2]

    def _each(self, elements: Sequence[_Element]) -> Columns:
        rows = [self._row(element) for element in elements]
        return {name: [row.get(name, ABSENT) for row in rows] for name in dict.fromkeys(n for row in rows for n in row)}

    def _alike(self, elements: Sequence[_Element]) -> Columns | None:
        """The columns of cases that passed and of suites, where all have the same attributes: what most are like."""
        cases = elements[0].name == "testcase"
        if cases and any(e.children for e in elements):
            return None
        rows = list(map(_ATTRIBUTE.findall, (e.attributes for e in elements)))
        names = [name for name, _, _ in rows[0]]
        if len(set(names)) < len(names) or (cases and "result" in names) or set(map(len, rows)) != {len(names)}:
            return None
        columns: dict[str, Sequence[Value]] = {}
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            known, double, single = zip(*column, strict=True)
            if set(known) != {name}:
                return None
            values = [d or s for d, s in zip(double, single, strict=True)] if any(single) else double
            together = "\0".join(values)
            columns[name] = values if "&" not in together and together.isascii() else list(map(_unescaped, values))
        return {**columns, "result": ["passed"] * len(rows)} if cases else columns

    def _row(self, element: _Element) -> dict[str, Value]:
        row: dict[str, Value] = {}
        for name, double, single in _ATTRIBUTE.findall(element.attributes):
            row[name] = OPAQUE if name in row else _unescaped(double or single)
        if element.name == "testcase":
            row["result"] = OPAQUE if "result" in row else _result(element)
            skipped = [c for c in element.children if c.name == "skipped"]
            if skipped:
                row["reason"] = OPAQUE if len(skipped) > 1 or "reason" in row else self._reason(skipped[0])
        return row

    def _reason(self, skipped: _Element) -> Value:
        found = {n: d or s for n, d, s in _ATTRIBUTE.findall(skipped.attributes)}
        return _unescaped(found["message"]) if found.get("message") else ABSENT

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        columns = self.columns(first, last)
        results = list(map(str, columns.get("result", [""] * (last - first))))
        reasons = list(map(str, columns.get("reason", [""] * (last - first))))
        return [results, [f"{a} {b}" for a, b in zip(results, reasons, strict=True)]]

    def failures(self, first: int, last: int) -> Sequence[str]:
        return [self._failure(element) for element in self.elements[first:last]]

    def _failure(self, element: _Element) -> str:
        """A case's name and message: every failing case is a kind of its own until there are too many."""
        if element.name == "testcase" and not element.children:
            return ""
        found = {n: _unescaped(d or s) for n, d, s in _ATTRIBUTE.findall(element.attributes)}
        if element.name == "testsuite":
            bad = any(str(found.get(name, "0")).strip() not in ("", "0") for name in _COUNTED)
            return _words(f"{found.get('name', 'suite')}") if bad or _fails(element) else ""
        for child in element.children:
            if child.name in _FAILING:
                said = {n: d or s for n, d, s in _ATTRIBUTE.findall(child.attributes)}
                message = said.get("message") or plain(self.text[child.inner : child.outer]).strip()[:LABEL]
                return _words(f"{found.get('name', 'case')} {_unescaped(message) or said.get('type', '')}")
        return ""


def _words(label: str) -> str:
    return " ".join(label.split())[:LABEL] or "failure"


def _unescaped(value: str) -> str:
    return plain(_ENTITY.sub(lambda m: _ENTITIES[m[1]], value) if "&" in value else value)


def _result(element: _Element) -> str:
    names = [child.name for child in element.children]
    return next((_FAILING[n] for n in names if n in _FAILING), "skipped" if "skipped" in names else "passed")


def _fails(suite: _Element) -> bool:
    return any(c.name == "testcase" and _result(c) in ("failed", "error") for c in suite.children)


# ---------------------------------------------------------------- go test -json


class _Events:
    """Fields of go's events; what a failing test said, and that it failed, are failures."""

    typed = True

    def __init__(self, reader: Reader, failing: frozenset[tuple[Value, Value]]) -> None:
        self.reader, self.failing = reader, failing

    def columns(self, first: int, last: int) -> Columns:
        return self.reader.columns(first, last)

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        return [self._column("Action", first, last), self._column("Package", first, last)]

    def _column(self, name: str, first: int, last: int) -> list[str]:
        return list(map(str, self.columns(first, last).get(name, [""] * (last - first))))

    def failures(self, first: int, last: int) -> Sequence[str]:
        columns = self.columns(first, last)
        rows = zip(*(columns.get(n, [ABSENT] * (last - first)) for n in ("Action", "Package", "Test", "Output")),
                   strict=True)  # fmt: skip
        return [self._failure(*row) for row in rows]

    def _failure(self, action: Value, package: Value, test: Value, output: Value) -> str:
        who = _words(str(test if isinstance(test, str) else package))
        if action == "fail":
            return who
        said = output.strip() if action == "output" and isinstance(output, str) else ""
        if not said or said.startswith(("=== ", "--- PASS", "ok ")):
            return ""
        return _words(f"{who}: {said}") if (package, test) in self.failing else ""


def _split_events(text: str) -> Document | None:
    document = JSON.split(text)
    if document is None or len(document.groups) != 1 or document.groups[0].reader is None:
        return None
    document.format = TestReport.name
    group = document.groups[0]
    reader = document.groups[0].reader
    failing: set[tuple[Value, Value]] = set()
    for first in range(0, len(group), 2048):
        columns = reader.columns(first, min(first + 2048, len(group)))
        rows = zip(*(columns.get(n, repeat(ABSENT)) for n in ("Action", "Package", "Test")), strict=False)
        failing |= {(package, test) for action, package, test in rows if action == "fail"}
    group.noun, group.reader = "events", _Events(reader, frozenset(failing))
    return document


# ---------------------------------------------------------------- what runners print

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


def _split_lines(text: str) -> Document | None:
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
            group.children[i] = [_report(text, part.start, part.stop, newline, False)]
    return Document(text, TestReport.name, [group], len(text), newline=newline)


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


def _report(text: str, start: int, stop: int, newline: str, output: bool) -> Group:
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
        return _words(plain(line).strip("_-\u25cf\u23af \r"))


def _cases(text: str, part: _Part) -> Group:
    reader = _Cases(text, part)
    noun = "lines" if any(row["result"] == "run" for row in reader.rows) else "cases"  # go -v: two lines a case
    group = Group(part.starts, part.stops, "records", noun, reader=reader)
    for i, (start, stop) in enumerate(zip(part.starts, part.stops, strict=True)):
        if stop - start > 2 * LONG_BODY:
            newline = "\n" if "\n" in text[start:stop] else "\r"
            group.children[i] = [_report(text, start, stop, newline, reader.rows[i]["result"] != "failed")]
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
            _words(f"{row['name']} {row.get('reason') or row.get('said') or ''}")
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


TEST_REPORT = TestReport()
