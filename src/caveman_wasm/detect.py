"""What kind of payload is this? The ordered table of tests (SPEC 6) is `TESTS`, at the end of the file.

A test looks at a `_Sample`: some hundred lines from the head, the middle and the end. Only "is it all JSON?" and
"is it binary?" read the whole payload. Everything is linear; no test depends on a file's name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, NamedTuple

from caveman_wasm.model import raw

__all__ = ["MAX_DEPTH", "TESTS", "detect", "json_depth_ok"]

MAX_DEPTH: Final = 128  # deeper JSON ends the interpreter in a browser; one cap, so that outputs agree everywhere


def detect(text: str) -> str:
    """The content type of source text: the name of the first test in `TESTS` that says yes."""
    sample = _Sample(_inside(text))
    return next(test.name for test in TESTS if test.holds(sample))


def _inside(text: str) -> str:
    """What stands inside of wrapper tags; imported only where there may be some, since detection starts cold."""
    if "<" not in text[:64]:
        return text
    from caveman_wasm.formats.wrappers import tags_off

    start, stop = tags_off(text)
    return text if stop - start == len(text) else text[start:stop]


def json_depth_ok(text: str) -> bool:
    """Whether brackets outside of strings nest at most `MAX_DEPTH` deep. Linear; the text need not be valid."""
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    outside = "".join(text.split('"')[::2])
    brackets = raw(outside).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) <= MAX_DEPTH


_STEP: Final = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS: Final = bytes(set(range(256)) - set(_STEP))


# ---------------------------------------------------------------- what the tests look at

_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b") | {127})
_LINE_END: Final = re.compile(r"\r\n?|\n")
_GUTTER: Final = re.compile(r" *(\d+)(?:\t|→|\xe2\x86\x92|: | ?\| ?)(.*)", re.ASCII)
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_NOTHING: Final = object()


class _Line:
    """A pattern for the beginning of a line, compiled when first asked: most payloads need few of them."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        return re.compile(self.pattern, re.ASCII).match


class _Sample:
    """A payload and what several tests ask of it, each worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\xef\xbb\xbf")
        self.head = self.text[:16384]
        self._shares: dict[_Line, float] = {}

    @cached_property
    def head_lines(self) -> list[str]:
        return _without_gutter(_whole_lines(self.head, len(self.text) > len(self.head)))

    @cached_property
    def csv_records(self) -> list[str]:
        """The first 200 records of the head as CSV sees them; one that the sample cuts off is not among them."""
        return _quoted_records(self.head_lines[:1000])[:200]

    @cached_property
    def all_lines(self) -> list[str]:
        """Lines without their ends, blank ones too, 300 characters each: 160 of the head, then some of later places."""
        lines = self.head_lines[:160]
        for at in (len(self.text) // 2, len(self.text) - 6144):
            if at > len(self.head):
                lines += _without_gutter(_whole_lines(self.text[at : at + 6144], True)[1:])[:40]
        return [line[:300] for line in lines]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.all_lines if line.strip(" \t")]

    @cached_property
    def fenced(self) -> bool:
        """Whether Markdown code fences stand at line starts: then what is inside says nothing of the whole."""
        return sum(map(bool, map(_FENCE.match, self.lines))) >= 2

    def share(self, pattern: _Line) -> float:
        """The share of lines that the pattern matches from their start; 0 where there are no lines."""
        if pattern not in self._shares:
            hits = sum(map(bool, map(pattern.match, self.lines)))
            self._shares[pattern] = hits / len(self.lines) if self.lines else 0.0
        return self._shares[pattern]

    def count(self, pattern: _Line) -> int:
        return round(self.share(pattern) * len(self.lines))

    @cached_property
    def json(self) -> Any:
        """The value of a payload that is one JSON document, a list of values for JSON lines, else `_NOTHING`."""
        body = self.text.strip(" \t\r\n")
        if not _JSON_BEGINS.match(body) or body[-1] not in '}]"':
            return _NOTHING
        if not json_depth_ok(body):
            return None  # JSON as far as one may look
        whole = _load(body)
        return whole if whole is not _NOTHING else _load_lines(body)

    @cached_property
    def records(self) -> Sequence[dict[str, Any]]:
        """The first objects of JSON lines; none where it is one document or no JSON."""
        if not isinstance(self.json, _Lines):
            return ()
        return [value for value in self.json[:50] if isinstance(value, dict)]

    def records_with(self, *fields: frozenset[str]) -> bool:
        """Whether nearly all JSON lines have a field of each set."""
        having = sum(all(names & record.keys() for names in fields) for record in self.records)
        return bool(self.records) and having >= 0.8 * len(self.records)


class _Lines(list[Any]):
    """The values of JSON lines, told apart from a document that is an array."""


def _whole_lines(text: str, cut: bool) -> list[str]:
    lines = _LINE_END.split(text)
    return lines[:-1] if cut and len(lines) > 1 else lines


def _without_gutter(lines: list[str]) -> list[str]:
    """Line numbers as `cat -n` and read tools print them come off: they count up by one, on every line."""
    last = len(lines) - 1 if lines and not lines[-1] else len(lines)
    if last < 3 or not _GUTTER.match(lines[0]):
        return lines
    found = [match for line in lines[:last] if (match := _GUTTER.match(line))]
    first = int(found[0][1])
    if len(found) < last or any(int(match[1]) != first + at for at, match in enumerate(found)):
        return lines
    return [match[2] for match in found]


_JSON_BEGINS: Final = re.compile(
    r'\{\s*["}]|\[\s*(?:[\[{"\]]|-?\d[\d.eE+-]*+\s*[,\]]|(?:true|false|null|NaN|-?Infinity)\s*[,\]])|"', re.ASCII
)
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)  # no number is too long then


def _load(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except ValueError:
        return _NOTHING


def _load_lines(text: str) -> Any:
    lines = _Lines()
    for line in text.split("\n"):
        if line.strip(" \t\r"):
            value = _load(line) if line[0] in "{[" else _NOTHING
            if value is _NOTHING:
                return _NOTHING
            lines.append(value)
    return lines if len(lines) > 1 else _NOTHING


def _pattern(*alternatives: str) -> _Line:
    return _Line("|".join(alternatives))


# ---------------------------------------------------------------- binary, agents' own, JSON


def _binary(sample: _Sample) -> bool:
    data = raw(sample.text)
    odd = len(data) - len(data.translate(None, _CONTROLS))
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            odd += len(data) - len(data.decode("utf-8", "ignore").encode())
    return odd * 10 > len(data) and not _nul_list(sample)


_PATH: Final = re.compile(r"(?:\d{6} \w+ [0-9a-f]{40,64}\t)?(?![\s:])[^\x00-\x1f\x7f<>|\"*?]{1,255}", re.ASCII)


def _nul_list(sample: _Sample) -> bool:
    """File names ended by NUL, as of ``find -print0``, ``git ls-files -z``, ``grep -Z``."""
    names = sample.head.split("\0")[:-1]
    return len(names) >= 3 and all(map(_PATH.fullmatch, names))


_PLAYWRIGHT: Final = _pattern(r"\s*- ['\"]?[a-z]+\b.*\[ref=\w+\]")
_DEVTOOLS: Final = _pattern(r"\s*uid=\d+_\d+ \S")


def _a11y(sample: _Sample) -> bool:
    if any(sample.count(pattern) >= 2 and sample.share(pattern) >= 0.2 for pattern in (_PLAYWRIGHT, _DEVTOOLS)):
        return True
    nodes = _member(sample.json, "nodes") or _member(_member(sample.json, "result"), "nodes")
    return _all_have(nodes, frozenset({"nodeId"}), frozenset({"role", "ignored"}))


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _all_have(values: Any, *fields: frozenset[str]) -> bool:
    """Whether this is a list of objects that each have a field of each set."""
    return (
        isinstance(values, list)
        and bool(values)
        and all(isinstance(value, dict) and all(names & value.keys() for names in fields) for value in values)
    )


_JUNIT: Final = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*-->\s*)?<testsuites?\b", re.ASCII)
_RUNS: Final = tuple(
    _pattern(*alternatives)
    for alternatives in (
        # pytest, and its -v lines
        (r"=+ (?:test session starts|FAILURES|ERRORS|short test summary info|.*\d (?:passed|failed|error).*) =+$",),
        (r"\S+\.py::\S+ (?:PASSED|FAILED|SKIPPED|ERROR|XFAIL)", r"(?:FAILED|ERROR) \S+\.py(?:::\S+)?(?: - |$)"),
        # jest, vitest
        (
            r"(?:PASS|FAIL) +\S+\.[cm]?[jt]sx?\b",
            r" *Tests: +\d.* total",
            r" *(?:Test Files|Tests) +\d+ (?:passed|failed)",
        ),
        # go test, cargo test
        (r"=== (?:RUN|PAUSE|CONT) ", r" *--- (?:PASS|FAIL|SKIP): ", r"(?:ok|FAIL) +\t?\S+\t\d+\.\d+s"),
        (r"test \S.* \.\.\. (?:ok|FAILED|ignored)", r"test result: ", r"running \d+ tests?$"),
        # unittest, TAP, mocha
        (r"\w+ \([\w.]+\) \.\.\. (?:ok|FAIL|ERROR|skipped)", r"Ran \d+ tests? in [\d.]+s"),
        (r"(?:not )?ok \d+\b", r"1\.\.\d+$", r"TAP version \d+$"),
        (r"  +\d+ (?:passing|failing|pending)\b", r" +(?:✓|✔|\xe2\x9c[\x93\x94]) "),
    )
)


def _test_report(sample: _Sample) -> bool:
    if "<testcase" in sample.head and _JUNIT.match(sample.head):
        return True
    if sample.records_with(frozenset({"Action"}), frozenset({"Test", "Package"})):  # go test -json
        return True
    if "\x1b" in sample.head or sample.fenced or sample.share(_TIMED) > 0.3:
        return False  # colours make it terminal output; a log may quote a test run
    return any(sample.count(run) >= 2 and (sample.share(run) >= 0.2 or run is _RUNS[0]) for run in _RUNS)


_SCHEMAS: Final = frozenset({"inputSchema", "input_schema", "parameters"})


def _tool_schema(sample: _Sample) -> bool:
    value = sample.json
    inner = _member(value, "result") or value
    tools = inner if isinstance(inner, list) else _member(inner, "tools") or _member(inner, "functions")
    if _all_have(tools, frozenset({"function"}), frozenset({"type"})):
        tools = [tool["function"] for tool in tools]
    return _all_have(tools, frozenset({"name"}), _SCHEMAS | {"description"}) and any(
        isinstance(tool.get(name), dict) and {"type", "properties"} & tool[name].keys()
        for tool in tools
        for name in _SCHEMAS
    )


_TIME_FIELDS: Final = frozenset(
    {"time", "timestamp", "@timestamp", "ts", "t", "date", "datetime", "asctime", "eventTime"}
)
_LEVEL_FIELDS: Final = frozenset({"level", "lvl", "severity", "log.level", "levelname", "loglevel", "priority"})


def _json_log(sample: _Sample) -> bool:
    return sample.records_with(_TIME_FIELDS, _LEVEL_FIELDS)


def _json(sample: _Sample) -> bool:
    return sample.json is not _NOTHING


# ---------------------------------------------------------------- terminal, diff, html

_REDRAWING: Final = re.compile(r"\d ?%|\[[#=>.\- ]{4,}\]")
_BARE_CR: Final = re.compile(r"\r+(?![\r\n])")


def _terminal(sample: _Sample) -> bool:
    text = sample.text
    if "\x1b[" in text or "\x1b]" in text:
        return True
    bare = 0
    at = text.find("\r")
    while at >= 0 and bare < 3:  # stops at once on CRLF files: their carriage returns all stand before a newline
        found = _BARE_CR.match(text, at)
        bare += bool(found) and at + 1 < len(text)
        at = text.find("\r", found.end() if found else at + 1, at + 65536)
    if bare < 3:
        return False
    return "\n" in text or len(_REDRAWING.findall(sample.head)) >= 3  # CR alone ends lines where nothing redraws


_DIFF_BEGINS: Final = re.compile(
    r"^(?:diff --git |diff -\w|Index: \S|--- \S.*\r?\n\+\+\+ \S|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)",
    re.ASCII | re.MULTILINE,
)
_DIFF_LINE: Final = _pattern(
    r"[-+ @\\\t]",
    r"(?:diff|index|commit|Author|AuthorDate|Commit|CommitDate|Date|Merge|From|Subject|Index|Only in|Binary files)\b",
    r"(?:new file|deleted file|old|new) mode|(?:similarity|dissimilarity) index|(?:rename|copy) (?:from|to)|={50,}",
)
_PLAIN_DIFF: Final = _pattern(r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?$")
_PLAIN_DIFF_LINE: Final = _pattern(r"[<>] |[<>]$|---$|\d+(?:,\d+)?[acd]\d+|diff |Only in |\\ ")


def _diff(sample: _Sample) -> bool:
    begins = _DIFF_BEGINS.search(sample.head)
    if begins and not _FENCE.match(sample.head) and "\n```" not in sample.head[: begins.start()]:
        return sample.share(_DIFF_LINE) >= 0.85
    return sample.count(_PLAIN_DIFF) >= 1 and sample.share(_PLAIN_DIFF_LINE) >= 0.9


_HTML_BEGINS: Final = re.compile(r"\s*(?:<!doctype html|<html\b|<head\b|<body\b)", re.ASCII | re.IGNORECASE)
_HTML_LINE: Final = _pattern(
    r"(?i:\s*</?(?:div|p|span|a|ul|ol|li|table|thead|tbody|tr|t[dh]|h[1-6]|section|article|nav|main"
    r"|header|footer|form"
    r"|input|button|img|br|hr|pre|script|style|link|meta|title|label|select|option|strong|em|blockquote",
    r"figure)\b[^<>]*>)",
)
_HEADING: Final = _pattern(r"#{1,6} \S")


def _html(sample: _Sample) -> bool:
    body = _after_comments(sample.head)
    if _HTML_BEGINS.match(body):
        return True
    if not body.lstrip().startswith("<") or sample.fenced or sample.count(_HEADING):
        return False  # Markdown may have HTML at its head
    return sample.share(_HTML_LINE) >= 0.6


def _after_comments(head: str) -> str:
    """The head without XML declaration and leading comments."""
    while (body := head.lstrip()).startswith(("<!--", "<?xml")):
        end = "-->" if body.startswith("<!--") else "?>"
        at = body.find(end, 2)
        if at < 0:
            return body
        head = body[at + len(end) :]
    return head


# ---------------------------------------------------------------- tabular

_RULE: Final = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*", re.ASCII)  # under a Markdown table's head
_BOX_RULE: Final = re.compile(r"\+(?:[-=]+\+)+|-+(?:\+-+)+", re.ASCII)  # mysql's, psql's
_PIPE_ROW: Final = _pattern(r"\s*\|.*\|\s*$")
_NUMBER: Final = re.compile(r"[-+]?[$€£]?\d[\d.,:/%eE+-]*", re.ASCII)


def _tabular(sample: _Sample) -> bool:
    return _drawn_table(sample) or _fixed_width(sample.lines) or any(_separated(sample, mark) for mark in "\t,;|")


def _drawn_table(sample: _Sample) -> bool:
    """Markdown and database shells: a rule under the head or around the rows, and nothing but rows."""
    lines = sample.lines
    if len(lines) < 3:
        return False
    if _RULE.fullmatch(lines[1]) and "|" in lines[0]:
        return sum("|" in line for line in lines) >= 0.9 * len(lines)
    ruled = any(_BOX_RULE.fullmatch(line.strip()) for line in lines[:2])
    return ruled and sum("|" in line or "+-" in line or "-+" in line for line in lines) >= 0.8 * len(lines)


def _separated(sample: _Sample, mark: str) -> bool:
    """Whether records parted by ``mark`` have a header or typed columns, a steady number of cells, and short ones."""
    rows = [_cells(record, mark) for record in sample.csv_records]
    width = len(rows[0]) if rows else 0
    if len(rows) < 3 or width < 2:
        return False
    steady = [row for row in rows if len(row) == width]
    if len(steady) < 0.9 * len(rows) or (mark in ",;" and sample.share(_CODE_END) > 0.2 and width < 4):
        return False
    if mark == "|" and _PIPE_ROW.match(sample.lines[0]):
        return False  # rows of a table without its rule: prose or a log
    indented = sum(line[0] in " \t" for line in sample.lines)
    return indented < 0.2 * len(sample.lines) and _like_a_table(steady, mark)


def _like_a_table(rows: list[list[str]], mark: str) -> bool:
    header, body = rows[0], rows[1:]
    columns = list(zip(*body, strict=True))
    short = sum(
        sum(map(len, column)) <= 32 * len(column) or not any(" " in cell for cell in column) for column in columns
    )
    if short < len(columns) - max(1, len(columns) // 4):
        return False  # a column or two may hold prose
    entries = [line for row in rows[:3] if _TIMED.match(line := mark.join(row))]
    if len(entries) == 3 and (mark != "\t" or all(map(_LEVELLED.match, entries))):
        return False  # a log's punctuation
    if mark == "\t":
        return True
    if sum(cell.startswith(" ") for row in body for cell in row[1:]) > 0.5 * len(body) * (len(columns) - 1):
        words = max(len(cell.split()) for row in body for cell in row)  # commas with a blank behind are prose's
        return words == 1 or (len(columns) > 2 and _names(header) and not _names(body[0]))
    typed = sum(_is_typed(column) for column in columns)
    if len(columns) > 2 and len(body) > 1 and not any(" " in cell for row in rows for cell in row):
        return not any(cell.endswith(("{", ";", "(")) for row in rows for cell in row[-1:])
    if _names(header):
        return bool(typed) or len(columns) > 2 or all(len(cell.split()) <= 3 for row in body for cell in row)
    return 2 * typed >= len(columns) > 2


def _is_typed(column: Sequence[str]) -> bool:
    """Nearly all numbers, dates or empty; or few different short values."""
    plain = sum(not cell.strip() or bool(_NUMBER.fullmatch(cell.strip().strip('"'))) for cell in column)
    return plain >= 0.9 * len(column) or (len(set(column)) * 4 <= len(column) and max(map(len, column)) <= 24)


def _names(cells: Sequence[str]) -> bool:
    """Whether these could head columns: short, mostly different, no numbers, no sentence."""
    bare = [cell.strip().strip('"') for cell in cells]
    numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in bare)
    fit = all(
        len(cell) <= 60 and not cell.endswith((".", ":", ";", "{", "(")) and "://" not in cell for cell in bare[:-1]
    )
    return fit and not numbers and len(set(bare)) >= 0.8 * len(bare) and any(bare)


def _quoted_records(lines: list[str]) -> list[str]:
    """CSV records of lines: a line that leaves a quote open goes on, for 50 lines at most."""
    records: list[str] = []
    held: list[str] = []
    is_open = False
    for line in lines:
        held.append(line)
        is_open ^= line.count('"') % 2 == 1
        if not is_open or len(held) == 50:
            records.append("\n".join(held))
            held, is_open = [], False
    return [record for record in records if record]


def _cells(record: str, mark: str) -> list[str]:
    if '"' not in record:
        return record.split(mark)
    parts = record.split('"')
    parts[::2] = [part.replace(mark, "\0") for part in parts[::2]]
    return '"'.join(parts).split("\0")


_COLUMN_RULE: Final = re.compile(r"[-=+|/]{2,}(?: +[-=]{2,})+|[-=+|/]*\+[-=+]+", re.ASCII)
_COLUMN_NAME: Final = re.compile(r"[A-Z%#][\w%#/().@-]*", re.ASCII)


def _fixed_width(lines: list[str]) -> bool:
    """Columns as of ``ps``, ``dpkg -l``, ``kubectl get``: a header of names, and blanks that line up under it."""
    rules = [at for at, line in enumerate(lines[:8]) if _COLUMN_RULE.fullmatch(line.strip())]
    first = max(rules[0] - 1, 0) if rules else 0
    rows = [line for line in lines[first:] if line not in {lines[at] for at in rules}][:60]
    if len(rows) < 3 or "\t" in rows[0]:
        return False
    names = rows[0].split()
    capital = sum(bool(_COLUMN_NAME.match(name)) for name in names)
    if (
        len(names) < (2 if rules else 3)
        or capital < (0 if rules else 0.7) * len(names)
        or re.search(r"\d\d|[=;{]", rows[0])
    ):
        return False
    return _aligned_columns(rows) >= (2 if rules else 3)


def _aligned_columns(rows: list[str]) -> int:
    """How many columns there are between places that are blank in nine of ten rows."""
    width = max(map(len, rows))
    counts = Counter(at for row in rows for at, character in enumerate(row.ljust(width)) if character == " ")
    full = [counts[at] >= 0.9 * len(rows) for at in range(min(width, len(rows[0])))]
    return sum(not blank and (at == 0 or full[at - 1]) for at, blank in enumerate(full))


# ---------------------------------------------------------------- code

_COMMENT: Final = _pattern(
    r"\s*(?://|/\*|\*|#(?!\s*(?:include|define|if|ifn?def|endif|pragma|undef|else|elif)\b)|--\s|;;)"
)
_CODE_END: Final = _pattern(
    r".*(?:[;{]|[;{}]\s*(?://.*|/\*.*)?)$", r"\s*[)}\]]+[;,)]*$", r".*=>\s*$", r".*\)\s*(?:->.*)?:$"
)
_FUNCTION: Final = re.compile(r"\bfunction\b *\w*\(|\)?=>[{(\w]|\bvar \w+=", re.ASCII)
_LOOSE_END: Final = _pattern(_CODE_END.pattern, r"\s+\S.*[,(\[+|&\\]$", r"\s*['\"}\])]+[,;)]*$")
_STATEMENT: Final = _pattern(
    # Python
    r"\s*(?:async )?def \w+\(",
    r"\s*class \w+[^\n]*:$",
    r"\s*(?:from [\w.]+ )?import [\w.*(]+(?: as \w+)?(?:, ?[\w.]+(?: as \w+)?)*(?:,| \(|\\)?(?:\s*#.*)?$",
    r"\s*(?:if|elif|for|while|with|except|try|else|finally)\b[^\n]*:$",
    r"\s*(?:return|raise|yield|assert|del|pass|continue|break)\b(?:$|;|.*[()\[\]{};=.\"'])",
    r"\s*@\w[\w.]*(?:\(.*)?$",
    r"\s*(?:self|this|cls)\.\w+",
    # JavaScript, TypeScript
    r"\s*(?:export |declare )*(?:default )?(?:async )?(?:const|let|var|function\*?|class|interface|enum"
    r"|type|namespace) [\w${\[]",
    r"\s*(?:import|export) .*(?:from )?['\"].*['\"];?$|\s*export [*{]",
    r"\s*(?:module\.)?exports\b.*=|.*\brequire\(['\"]",
    r"\s*(?:if|for|while|switch|catch|else if|foreach)\s*\(.*|\s*\}\s*(?:else|catch|finally|while)\b",
    r"\s*(?:else|do|try)\s*\{",
    r"\s*case .*:$|\s*default:$",
    # Go, Rust, Swift-like
    r"\s*(?:package \w+$|import \($|func [\w(]|type \w+ (?:struct|interface|func)\b|(?:if|for"
    r"|switch) .*\{$|\w[\w, ]* := )",
    r"\s*(?:pub(?:\(\w+\))? |unsafe |async |const )*(?:fn|impl|struct|trait|mod|use|match|let|enum"
    r"|macro_rules!)\b.*[;{(,<]",
    r"\s*#!?\[\w",
    # Java, Kotlin, C#, PHP
    r"\s*(?:package|import|using|namespace) (?:static )?[\w.:\\*]+(?: = .*)?[;{]?$",
    r"\s*(?:public|private|protected|internal|static|final|abstract|override|sealed|open|data|virtual"
    r"|suspend|partial)\s+\w",
    r"\s*(?:fun|val|object|companion) [\w<]",
    r"<\?php|\s*\$\w+(?:->\w+|\[.*\])?(?:\(| [.+-]?= )|\s*(?:echo|print) .*;$",
    # C, C++
    r"\s*#\s*(?:include|define|ifn?def|if|endif|pragma|undef|else|elif)\b",
    r"\s*(?:typedef|struct|union|enum|extern|template|static|const|unsigned|signed|inline)\b.*[\w;{(,>*]$",
    r"(?:[\w:<>]+[ *&]+){1,5}\w[\w:~]*\s*\(.*[;{,)]$",
    r"\s*(?:int|void|char|bool|float|double|long|short|auto|size_t|u?int\d+_t|string|String)\b[ *&]+\w+.*[;,{(]$",
    r"\s*[A-Z_]+\(.*\)?[;,]?$",
    # Ruby, shell
    r"\s*(?:end|fi|done|esac|then|do|else|begin|ensure|rescue.*)$|\s*def [\w.?!]+",
    r"\s*(?:module|class) [A-Z]\w*|\s*require(?:_relative)? ['\"]",
    r"#!\s*/|\s*(?:if|elif|while) (?:\[|test |!|\w+ -)|\s*for \w+ in |\s*case .* in$|\s*\w+\(\)\s*\{?$",
    r"\s*.*\bdo \|.*\|$",
    r"\s*(?:local|export|echo|set|shift|exit|cd|source|readonly|unset|trap|eval|printf|attr_\w+|puts) [-\"'$\w:]",
    # SQL
    r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|DROP|FROM|WHERE|(?:LEFT "
    r"|INNER )?JOIN|GROUP BY|ORDER BY|VALUES|BEGIN|COMMIT|PRIMARY KEY|ON|AND|SET)\b",
    r"\s*(?:select|insert into|update|delete from|create (?:table|index|view|or replace)|alter table"
    r"|drop table)\b .*[,;(\w]$",
    r"\s*\(.*\)[,;]$",
    # any: an assignment or a call that stands alone
    r"\s*[\w.\[\]'\"$>-]+ (?:[-+*/|&.:?]?=) .*[;,({\[)\]'\"\w]$",
    r"\s*[\w.$:>-]+[.:>]\w+\(.*[;,({\[)]$|\s*\w+\(.*[;,({\[)]$",
)  # fmt: skip
_STRONG: Final = _pattern(
    r"\s*(?:async )?def \w+\(|from [\w.]+ import |import [\w.]+(?: as \w+)?$|\s*class \w+(?:\(.*\))?:$",
    r"\s*(?:export |async |default )*(?:function\b|const \w+ =|const [{\[]|let \w+|class \w+ .*\{"
    r"|interface \w+)|import .* from ['\"]",
    r"\s*module\.exports|.*\brequire\(['\"]|['\"]use strict['\"]|.*\bfunction ?\w*\(.*\{$|\s*return\b.*;$",
    r"\s*(?:\} )?(?:else )?(?:if|for|while|switch|catch) ?\(.*\)\s*\{$|\s*\}\s*else\b|\s*(?:var|let"
    r"|const) \w+.*[;,{(]$",
    r"package [\w.]+;?$|func [\w(]|type \w+ (?:struct|interface|func)\b|\s*(?:if|for) .*:= .*\{$",
    r"\s*(?:pub(?:\(\w+\))? |unsafe |async )*(?:fn \w+|impl\b.*\{|struct \w+|trait \w+|mod \w+[;{ ]"
    r"|use [\w:]+(?:::|;)|enum \w+ \{)|\s*#!?\[\w",
    r"import [\w.*]+;$|using [\w.]+;$|namespace [\w.\\:]+\s*[;{]?$",
    r"\s*(?:public|private|protected|internal) [\w<>\[\], ]+[({;=]",
    r"\s*(?:override |suspend |private |internal |data |open )*(?:fun [\w<.]+.*\(|class \w+)",
    r"<\?php|\s*\$this->|#!\s*/\S*(?:sh|python|perl|ruby|node|env)\b",
    r"\s*#\s*(?:include\s*[<\"]|define \w|ifn?def \w|endif)|\s*typedef\b",
    r"\s*(?:struct|enum|union) \w+\s*\{?;?$|extern \"C\"",
    r"(?:static |inline |const |unsigned |struct )*\w+[ *]+\w+\s*\(.*\)\s*[{;]?$",
    r"\s*(?:fi|done|esac)\b|\s*\w+\(\)\s*\{|\s*if \[.*(?:then)?$|\s*for \w+ in .*(?:do)?$|set -[eux]",
    r"\s*(?:module|class) [A-Z]\w*(?: < [\w:]+)?$|\s*require(?:_relative)? ['\"]|\s*attr_\w+ :|\s*end$",
    r"\s*def [\w.?!]+",
    r"\s*(?:SELECT\b.*|INSERT INTO \S+|(?:CREATE|ALTER|DROP) (?:OR REPLACE |UNIQUE |TEMP )*(?:TABLE|INDEX"
    r"|VIEW|FUNCTION|TRIGGER|OPERATOR|TYPE|AGGREGATE|EXTENSION)|DELETE FROM)\b",
    r"(?i:\s*(?:insert into \S+|create (?:or replace |unique |temp )*(?:table|index|view|function"
    r"|trigger)|alter table|drop table)\b)",
)  # fmt: skip


def _code(sample: _Sample) -> bool:
    """Most lines that are no comment are statements or end like code, and some could be nothing else."""
    if sample.head.startswith(("#!/", "<?php")):
        return True
    if sample.fenced or _XML.match(sample.head):
        return False
    if _minified(sample.head):
        return True
    if max(sample.share(_TIMED), sample.share(_LEVELLED), sample.share(_HIT)) > 0.3:
        return False
    own = _without_comments(sample.lines)
    strong = sum(map(bool, map(_STRONG.match, own)))
    if strong < max(1, 0.02 * len(own)):
        return False
    ends = _LOOSE_END if strong >= 0.04 * len(own) else _CODE_END
    like = [bool(_STATEMENT.match(line) or ends.match(line)) for line in own]
    if sum(like) < (0.35 if strong >= 0.08 * len(own) else 0.5) * len(own):
        return False
    rivals = [line for line, code in zip(own, like, strict=True) if not code and _is_setting(line)]
    return strong >= 0.15 * len(own) or sum(like) > len(rivals)


def _is_setting(line: str) -> bool:
    return bool(_YAML.match(line) or _ASSIGNED.match(line))


def _minified(head: str) -> bool:
    """A program in a few very long lines."""
    if head.count("\n") * 400 > len(head) or len(head) < 400:
        return False
    marks = sum(map(head.count, "(){};=,"))
    return marks > 0.1 * len(head) and bool(_FUNCTION.search(head))


def _without_comments(lines: list[str]) -> list[str]:
    """Lines less comments and the insides of doc strings and comment blocks."""
    own: list[str] = []
    closing = ""
    for line in lines:
        if closing:
            closing = "" if closing in line else closing
        elif _COMMENT.match(line):
            closing = "*/" if line.lstrip().startswith("/*") and "*/" not in line else ""
        else:
            own.append(line)
            for mark in ('"""', "'''"):
                closing = mark if line.count(mark) == 1 else closing
    return own


# ---------------------------------------------------------------- logs

_CLOCK: Final = r"\d\d:\d\d:\d\d"
_TIMED: Final = _pattern(
    rf"[^\w\n]{{0,3}}(?:[\w-]{{1,24}}[: |]\s?)?\d{{4}}[-/.]\d\d[-/.]\d\d[T ,]?\s?\[?{_CLOCK}",
    rf"[^\w\n]{{0,3}}\d\d[-/.](?:\d\d|[A-Z][a-z]{{2}})[-/.]\d{{2,4}}[T :,]\s?{_CLOCK}",
    rf"[^\w\n]{{0,2}}(?:<\d+>)?(?:[A-Z][a-z]{{2}},? )?(?:[A-Z][a-z]{{2}} [ \d]\d"
    rf"|\d\d [A-Z][a-z]{{2}}),?(?: \d{{4}})? {_CLOCK}",
    rf"[^\w\n]{{0,2}}{_CLOCK}(?:[.,]\d+)?\b",
    rf"\S+ \S+ \S+ \[\d+/\w+/\d{{4}}:{_CLOCK}",
    rf"[IWEF]\d{{4}} {_CLOCK}|\[ *\d+\.\d{{3,6}}\] |[12]\d{{9}}(?:\.\d+|\d{{3}})?[ :\t]",
    r"(?:\S+ )?(?:time|ts|timestamp|t)=\"?\d{4}-\d\d-\d\dT|\{.*\"(?:time|timestamp|ts|@timestamp)\": ?[\"\d]",
    rf"\S+ +\| +\[?\d{{4}}-\d\d-\d\d[T ]{_CLOCK}|(?:start|end)ed at \d{{4}}",
)
_LEVELLED: Final = _pattern(
    r"\W{0,2}(?i:trace|debug|info|notice|warn|warning|error|err|fatal|critical|severe)\W{0,2}(?:[:\s|\]]|$)",
    r"(?:.{0,60}[\s\[|(])?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)[\s:\]|),]",
    r".*\b(?:level|lvl|severity)=\"?\w+",
)
_TRACE: Final = _pattern(
    r"\s+at [\w.$<>/@ ]+[(\[]|\s+at \S+:\d+|Caused by: |\s+\.\.\. \d+ more|Traceback \(most recent",
    r"  File \".*\", line \d+",
    r"(?:[\w$]+\.)*\w*(?:Exception|Error)\b(?::|$)|goroutine \d+ \[|panic: |thread '.*' panicked",
    r" +\d+: 0x[0-9a-f]+ - ",
)
_BUILD: Final = _pattern(
    r"(?:\[[^\]]{2,40}\] )?(?:g?make(?:\[\d+\])?: |libtool: |checking (?:for|whether|if) "
    r"|config\.status: |/bin/(?:ba)?sh )",
    r"\[(?:INFO|WARNING|ERROR|WARN|DEBUG)\]|\s+\[[a-z]\w*\] |npm (?:WARN|ERR!|warn|error|notice)|yarn \w+ v",
    r"> Task :|BUILD (?:SUCCESS|FAIL)",
    r"(?:\w*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|ar|cl|rustc|javac|tsc) -",
    r"\s+(?:CC|LD|AR|CXX|GEN|HOSTCC) +\S|\[ *\d+%\] |\[\d+/\d+\] ",
    r"(?:Get|Hit|Ign|Err|Fetched):?\d* ",
    r"(?:Setting up|Unpacking|Selecting previously|Preparing to unpack|Processing triggers|Reading) ",
    r"\s*(?:Compiling|Downloading|Downloaded|Building|Checking|Finished|Collecting|Installing"
    r"|Requirement already|Using cached|Fetching|Resolving|Linking|Generating) ",
    r"(?:Step \d+/\d+ :| ---> |#\d+ (?:\[|\d|DONE|CACHED|sha256))",
    r"\S+:\d+(?::\d+)?: (?:fatal )?(?:warning|error|note|info)\b|\S+: In (?:member )?function ",
    r"(?:copying|creating|adding|running|removing|writing|hard linking|byte-compiling|reading) \S|[+$] \w",
)  # fmt: skip


def _log(sample: _Sample) -> bool:
    """Entries with a time or a level, with what belongs to them; or the steps of a build."""
    if sample.fenced:
        return False
    timed, levelled, traces = sample.share(_TIMED), sample.share(_LEVELLED), sample.share(_TRACE)
    entries = max(timed, levelled)
    if entries * len(sample.lines) >= 2 and (entries >= 0.25 or (entries >= 0.02 and entries + traces >= 0.6)):
        return sample.share(_HIT) < 0.6 or timed > 0.5
    if traces >= 0.5 and len(sample.lines) >= 3:
        return True
    return (sample.share(_BUILD) >= 0.4 and sample.count(_BUILD) >= 2) or _same_tag(sample.lines) >= 0.8


def _same_tag(lines: list[str]) -> float:
    """The share of lines that begin with one of a few bracketed tags, as of CI stages or containers."""
    tags = Counter(match[0] for line in lines if (match := _TAG.match(line)))
    return sum(count for _, count in tags.most_common(4)) / len(lines) if len(lines) >= 5 else 0.0


_TAG: Final = _pattern(r"\[[^\]]{2,60}\] ", r"[\w.-]{2,40} +\| ")


# ---------------------------------------------------------------- searches and listings

_HIT: Final = _pattern(
    r"(?!\d\d:\d\d"
    r"|https?:)(?:[A-Za-z]:)?[^\s:()\[\]{}=\"'][^:\n=(){}\"']{0,200}:\d+(?::\d+)?[:]",
    r"[^\s:()=\"',]*[./][^\s:()=\"',]*-\d+-",
)
_HIT_BY_NAME: Final = re.compile(r"((?:[\w@.+-]*/)*[\w@+-][\w@.+-]*\.\w{1,8}|(?:[\w@.+-]*/)+[\w@.+-]+):", re.ASCII)
_HIT_OF_ONE: Final = re.compile(r"(\d{1,7})[:-](?!\d\d:)", re.ASCII)
_NUMBERED: Final = _pattern(r"\d+[:-]")
_NAME: Final = _pattern(r"(?:\.{0,2}/)?(?:[\w@.+~%#()\[\]&$-]+(?: [\w@.+~%#()&-]+){0,3}/)*[\w@.+~%#()\[\]&$-]*[*/@|]?$")
_LISTED: Final = _pattern(
    r"[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+|total \d",
    r"(?:\xe2\x94[\x80-\xbf]|\xc2\xa0|[|`\\ ])+(?:\xe2\x94\x80|--)[\xe2\x94\x80-]*\s?\S",
    r"\d{6} (?:blob|tree|commit|\d+) [0-9a-f]{7,64}\b|[ MADRCU?!]{2} [\w./\"]\S*$",
    r"[0-9.]+[KMGT]?\t\.{0,2}/?\S+$|\S+/?:$",
)  # fmt: skip


def _search_result(sample: _Sample) -> bool:
    if "\0" in sample.head and _nul_list(sample):
        return True
    lines = sample.lines
    if len(lines) < 2:
        return False
    if (
        sample.share(_HIT) >= 0.6
        or sample.share(_LISTED) >= 0.6
        or _hits_by_name(lines)
        or _hits_under_headings(sample)
    ):
        return True
    names = [line for line in lines if _NAME.match(line)]
    telling = sum("/" in line or "." in line[1:-1] for line in names)
    if len(names) >= 3 and telling >= 0.85 * len(lines):
        return True
    return len(names) >= max(10, 0.98 * len(lines)) and telling >= 0.15 * len(lines) and " " not in "".join(names)


def _hits_by_name(lines: list[str]) -> bool:
    """``path:text``: grep without line numbers. Paths repeat, or there is a slash in them."""
    found = [match[1] for line in lines if (match := _HIT_BY_NAME.match(line))]
    pathlike = sum("/" in name or "." in name for name in found)
    return len(found) >= 0.8 * len(lines) and pathlike >= 0.8 * len(found)


def _hits_under_headings(sample: _Sample) -> bool:
    """ripgrep's way for people: a path, then ``12:text`` lines."""
    lines = sample.lines
    heads = [line for line in lines if not _NUMBERED.match(line) and line != "--"]
    paths = sum(bool(_NAME.match(line)) and ("/" in line or "." in line) for line in heads)
    if sample.share(_NUMBERED) >= 0.95:  # one file's hits
        numbers = [int(match[1]) for line in lines if (match := _HIT_OF_ONE.match(line))]
        return len(numbers) >= 0.9 * len(lines) >= 2 and numbers == sorted(set(numbers))
    return sample.share(_NUMBERED) >= 0.4 and 0 < len(heads) <= paths / 0.8


# ---------------------------------------------------------------- configuration

_REMARK: Final = _pattern(r"\s*(?:#|;|//|/\*|\*|--\s)")
_YAML: Final = _pattern(r"\s*(?:- +)*(?:[\w.$/@*<-][\w./$@ *<>()-]{0,80}|\"[^\"]+\"|'[^']+'):(?:\s+\S.*)?\s*$")
_YAML_ITEM: Final = _pattern(r"\s*- \S|---$|\.\.\.$")
_ASSIGNED: Final = _pattern(r"\s*(?:export )?[\w.\"'@/*:-]+(?: \w+)?\s*[+:?]?=(?!=)")
_SECTION: Final = _pattern(r"\s*\[\[?[^\]\[]{1,100}\]\]?\s*(?:[#;].*)?$")
_BLOCK: Final = _pattern(r"\s*[\w.-]+(?: +\"[^\"]*\"| +[\w./*~^$-]+)* \{$|\s*[}\])],?$")
_DIRECTIVE: Final = _pattern(r"\s*(?:[\w-]+ .*;|\"?[@\w][^\s:]*@\S+:|\"?[\w@/.-]+\"?,? \"[^\"]+\"|\s+[\w-]+ \S+)$")
_REMARKED: Final = _pattern(r"[#;] ?[\w.-]+ ?=")
_XML: Final = re.compile(
    r"\s*<(?:\?xml\b|!DOCTYPE (?!html)|[A-Za-z][\w:.-]*(?:\s+[\w:.-]+\s*=\s*[\"'][^\"'<>]*[\"'])*\s*/?>)", re.ASCII
)
_NO_CONFIG: Final = re.compile(r"\s*(?:usage: |commit [0-9a-f]{40}\b)", re.ASCII | re.IGNORECASE)
_PROSE: Final = _pattern(r"\s*(?:[^\s:=]+ ){7,}\S+")


def _config(sample: _Sample) -> bool:
    body = sample.text.rstrip()[-1:]
    if (
        _XML.match(_after_comments(sample.head) if sample.head.lstrip().startswith("<!--") else sample.head)
        and body == ">"
    ):
        return not sample.fenced and not sample.count(_HEADING)
    own = _without_block_texts([line for line in sample.lines if not _REMARK.match(line)])
    if not own:
        return sample.share(_REMARKED) >= 0.1  # settings that are all commented out
    if sample.fenced or _NO_CONFIG.match(sample.head) or sum(map(bool, map(_PROSE.match, own))) > 0.35 * len(own):
        return False
    return _keyed(own, sample)


def _without_block_texts(lines: list[str]) -> list[str]:
    """Lines less the texts that YAML sets below a ``key: |``."""
    own: list[str] = []
    below = None  # the key's indentation while its text lasts
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if below is None or indent <= below:
            own.append(line)
            below = indent if _BLOCK_TEXT.match(line) else None
    return own


_BLOCK_TEXT: Final = _pattern(r".*[:-] +[|>][-+]?\d?$")


def _keyed(own: list[str], sample: _Sample) -> bool:
    def share(*patterns: _Line) -> float:
        return sum(any(pattern.match(line) for pattern in patterns) for line in own) / len(own)

    yaml, assigned, sections = share(_YAML), share(_ASSIGNED), share(_SECTION)
    continued = sum(line[0] in " \t" for line in own) / len(own)  # values that go on
    if sections and (
        assigned + sections >= 0.5 or (assigned + sections >= 0.2 and assigned + sections + continued >= 0.9)
    ):
        return True
    if assigned >= 0.7 or (yaml >= 0.35 and share(_YAML, _YAML_ITEM) >= 0.65):
        return True
    return (share(_BLOCK) >= 0.1 and share(_BLOCK, _ASSIGNED, _DIRECTIVE, _YAML) >= 0.75) or (
        yaml >= 0.1 and continued >= 0.5 and share(_YAML, _DIRECTIVE) >= 0.85
    )


# ---------------------------------------------------------------- the table


class Test(NamedTuple):
    """One row: a content type, what holds for it, and why it stands where it stands."""

    name: str
    holds: Callable[[_Sample], bool]
    why: str


TESTS: Final = (
    Test("binary", _binary, "no text at all: nothing below applies"),
    Test("a11y", _a11y, "reads as YAML or JSON, but its schema is an agent's page snapshot"),
    Test("test-report", _test_report, "reads as XML, JSON lines or a log, but its cases and totals are known"),
    Test("toolschema", _tool_schema, "JSON whose schema is a list of tools"),
    Test("log", _json_log, "JSON lines with time and level are entries, not records"),
    Test("json", _json, "the whole text parses; what is cut short or wrong is no JSON"),
    Test("terminal", _terminal, "escapes and redrawn lines hide every other form"),
    Test("diff", _diff, "hunks hold code, tables and logs, with a sign before each line"),
    Test("html", _html, "scripts and tables inside are parts of a page"),
    Test("tabular", _tabular, "header, steady columns and short cells: stricter than what follows"),
    Test("code", _code, "statements on most lines; quoted code (logs, hits) has times or paths before it"),
    Test("log", _log, "entries with time or level, and builds"),
    Test("search-result", _search_result, "a path at every line's start, or a listing"),
    Test("config", _config, "keys and values on most lines that are no comment"),
    Test("text", lambda sample: True, "whatever is left"),
)
