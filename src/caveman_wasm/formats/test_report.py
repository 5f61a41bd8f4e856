"""Test runs: JUnit XML, `go test -json`, and what pytest, unittest, jest, vitest, go, cargo and TAP producers print.

Units are suites and cases; a failing one keeps its message and the first and last lines of its trace. Of plain
output, a case is its line with whatever it printed, a failure's report is a block of lines; totals and rules stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, repeat
from typing import Final

from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.test_report_lines import LABEL, LONG_BODY, report, split_lines, words
from caveman_wasm.model import ABSENT, OPAQUE, Columns, Document, Group, Reader, Rewritten, Value, plain

__all__ = ["TEST_REPORT"]

LEVELS: Final = 8  # nested groups (DESIGN)


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
        return _split_xml(text) if _is_xml(text) else split_lines(text)

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
    return [report(text, start, stop, "\n", element.name.endswith(("out", "err")))]


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
            return words(f"{found.get('name', 'suite')}") if bad or _fails(element) else ""
        for child in element.children:
            if child.name in _FAILING:
                said = {n: d or s for n, d, s in _ATTRIBUTE.findall(child.attributes)}
                message = said.get("message") or plain(self.text[child.inner : child.outer]).strip()[:LABEL]
                return words(f"{found.get('name', 'case')} {_unescaped(message) or said.get('type', '')}")
        return ""


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
        who = words(str(test if isinstance(test, str) else package))
        if action == "fail":
            return who
        said = output.strip() if action == "output" and isinstance(output, str) else ""
        if not said or said.startswith(("=== ", "--- PASS", "ok ")):
            return ""
        return words(f"{who}: {said}") if (package, test) in self.failing else ""


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


TEST_REPORT = TestReport()
