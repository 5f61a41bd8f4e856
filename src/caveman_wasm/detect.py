"""What kind of payload is this? The ordered table of tests (SPEC 6) is `TESTS`, at the end of the file.

A test looks at a `Sample`: some hundred lines from the head, the middle and the end. Only "is it all JSON?" and
"is it binary?" read the whole payload. Everything is linear; no test depends on a file's name. Here are the tests that
a schema or a sign decides; of tables and of lines there are modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from caveman_wasm.detect_lines import after_comments, code, config, log, nul_list, search_result
from caveman_wasm.detect_patterns import (
    ARIA,
    BARE_CR,
    DEVTOOLS,
    DIFF_BEGINS,
    DIFF_LINE,
    FENCE,
    GUTTER,
    HEADING,
    HTML_BEGINS,
    HTML_LINE,
    JUNIT,
    MAILED,
    NAMED,
    PLAIN_DIFF,
    PLAIN_DIFF_LINE,
    PLAYWRIGHT,
    REDRAWING,
    RUNS,
    TEMPLATE,
    TIMED,
)
from caveman_wasm.detect_sample import MAX_DEPTH, NOTHING, Lines, Sample, json_depth_ok
from caveman_wasm.detect_tabular import tabular
from caveman_wasm.model import raw

__all__ = ["MAX_DEPTH", "TESTS", "candidates", "detect", "json_depth_ok"]


def detect(text: str) -> str:
    """The content type of source text: the name of the first test in `TESTS` that says yes."""
    return next(candidates(text))


def candidates(text: str) -> Iterator[str]:
    """What source text may be, likeliest first, for a caller whose format refuses it. "text" always holds, unless
    "binary" or "json" does: such a payload is nothing else.
    """
    sample = Sample(_inside(text))
    for test in TESTS:
        if test.holds(sample):
            yield test.name
            if test.name in ("binary", "json"):
                return


def _inside(text: str) -> str:
    """What stands inside of wrappers; imported only where there may be some, since detection starts cold."""
    lines = text[:4000].split("\n", 4)[:4]
    if "<" not in text[:64] and not any(map(GUTTER.match, lines)):
        return text
    from caveman_wasm.formats.wrappers import unwrapped

    wrapped = unwrapped(text)
    return wrapped.text if wrapped is not None else text


# ---------------------------------------------------------------- binary, agents' own, JSON

_CONTROLS: Final = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b") | {127})


def _binary(sample: Sample) -> bool:
    data = raw(sample.text)
    odd = len(data) - len(data.translate(None, _CONTROLS))
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            odd += len(data) - len(data.decode("utf-8", "ignore").encode())
    return odd * 10 > len(data) and not nul_list(sample)


def _a11y(sample: Sample) -> bool:
    lines = sample.lines
    if any(lines.count(pattern) >= 2 and lines.share(pattern) >= 0.2 for pattern in (PLAYWRIGHT, DEVTOOLS)):
        return True
    if lines.count(NAMED) >= 3 and lines.at_least(ARIA, 0.6):
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


def _test_report(sample: Sample) -> bool:
    if "<testcase" in sample.head and JUNIT.match(sample.head):
        return True
    if sample.records_with(frozenset({"Action"}), frozenset({"Test", "Package"})):  # go test -json
        return True
    lines = sample.lines
    if not any(lines.count(run) >= 2 and (lines.share(run) >= 0.2 or run in RUNS[:3]) for run in RUNS):
        return False
    # colours make it terminal output; a log may quote a test run
    return "\x1b" not in sample.head and not sample.fenced and not lines.above(TIMED, 0.3)


_SCHEMAS: Final = frozenset({"inputSchema", "input_schema", "parameters"})


def _tool_schema(sample: Sample) -> bool:
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


def _json_log(sample: Sample) -> bool:
    return sample.records_with(_TIME_FIELDS, _LEVEL_FIELDS)


def _json(sample: Sample) -> bool:
    return sample.json is not NOTHING


# ---------------------------------------------------------------- terminal, diff, html


def _terminal(sample: Sample) -> bool:
    text = sample.text
    if "\x1b" in text and ("\x1b[" in text or "\x1b]" in text):
        return True
    if "\r" not in text or text.count("\r") == text.count("\r\n"):
        return False
    bare = 0
    at = text.find("\r")
    while at >= 0 and bare < 3:
        found = BARE_CR.match(text, at)
        bare += bool(found) and at + 1 < len(text)
        at = text.find("\r", found.end() if found else at + 1, at + 65536)
    if bare < 3:
        return False
    return (
        "\n" in text or len(REDRAWING.compiled.findall(sample.head)) >= 3
    )  # CR alone ends lines where nothing redraws


_DIFF_SIGNS: Final = ("diff -", "Index: ", "+++ ", "@@ -")  # one of them is in what `DIFF_BEGINS` finds


def _diff(sample: Sample) -> bool:
    lines = sample.lines
    begins = DIFF_BEGINS.search(sample.head) if any(sign in sample.head for sign in _DIFF_SIGNS) else None
    if begins and not FENCE.match(sample.head) and "\n```" not in sample.head[: begins.start()]:
        if MAILED.match(sample.head):  # what stands above the first file is its message
            lines = Lines([line for line in sample.head[begins.start() :].split("\n") if line.strip()])
        return lines.at_least(DIFF_LINE, 0.85)
    return lines.count(PLAIN_DIFF) >= 1 and lines.at_least(PLAIN_DIFF_LINE, 0.9)


def _html(sample: Sample) -> bool:
    body = after_comments(sample.head)
    if HTML_BEGINS.match(body):
        return True
    if not body.lstrip().startswith("<") and not sample.head.lstrip().startswith("{%"):
        return False
    lines = sample.lines
    if sample.fenced or lines.count(HEADING):
        return False  # Markdown may have HTML at its head
    return lines.at_least(HTML_LINE, 0.6 * (1 - min(lines.share(TEMPLATE), 0.5)))


# ---------------------------------------------------------------- the table


class Test(NamedTuple):
    """One row: a content type, what holds for it, and why it stands where it stands."""

    name: str
    holds: Callable[[Sample], bool]
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
    Test("tabular", tabular, "header, steady columns and short cells: stricter than what follows"),
    Test("code", code, "statements on most lines; quoted code (logs, hits) has times or paths before it"),
    Test("log", log, "entries with time or level, and builds"),
    Test("search-result", search_result, "a path at every line's start, or a listing"),
    Test("config", config, "keys and values on most lines that are no comment"),
    Test("text", lambda sample: True, "whatever is left"),
)
