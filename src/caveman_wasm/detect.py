"""What kind of payload is this? The ordered table of tests (SPEC 6) is `TESTS`, at the end of the file.

A test looks at a `_Sample`: some hundred lines from the head, the middle and the end. Only "is it all JSON?" and
"is it binary?" read the whole payload. Everything is linear; no test depends on a file's name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from caveman_wasm.detect_patterns import (
    ARIA,
    ASSIGNED,
    BARE_CR,
    BELOW,
    BLOCK,
    BLOCK_TEXT,
    BLOCKS,
    BOX_RULE,
    BOXED,
    BUILD,
    CODE_END,
    COLUMN_NAME,
    COLUMN_RULE,
    COMMENT,
    COMMIT,
    DATUM,
    DEVTOOLS,
    DIFF_BEGINS,
    DIFF_LINE,
    DIRECTIVE,
    DOCKER,
    DUMP,
    EXCHANGE,
    FENCE,
    FOLDER,
    FUNCTION,
    GUTTER,
    HEADING,
    HIT,
    HIT_BY_NAME,
    HIT_OF_ONE,
    HTML_BEGINS,
    HTML_LINE,
    JSON_BEGINS,
    JUNIT,
    LEVELLED,
    LINE_END,
    LISTED,
    LITERAL_NEXT,
    LOOSE_END,
    MAILED,
    NAME,
    NAMED,
    NO_CONFIG,
    NO_HEADER,
    NUMBER,
    NUMBERED,
    ONE_LINE_COMMIT,
    ONE_RULE,
    PATH,
    PINNED,
    PIPE_ROW,
    PLAIN_DIFF,
    PLAIN_DIFF_LINE,
    PLAYWRIGHT,
    PROSE,
    RECORDS,
    REDRAWING,
    REMARK,
    REMARKED,
    ROW_COUNT,
    ROW_OF_VALUES,
    RULE,
    RUNS,
    SECTION,
    SETTING,
    SEVERAL,
    SIZED,
    SLASHED,
    SPREAD,
    STAMPED,
    STATEMENT,
    STRONG,
    TAG,
    TEMPLATE,
    TIGHT,
    TIMED,
    TRACE,
    WEB_ADDRESS,
    WEB_HIT,
    WORDS,
    XML,
    YAML,
    YAML_ITEM,
    Pattern,
)
from caveman_wasm.model import raw

__all__ = ["MAX_DEPTH", "TESTS", "candidates", "detect", "json_depth_ok"]

MAX_DEPTH: Final = 128  # deeper JSON ends the interpreter in a browser; one cap, so that outputs agree everywhere


def detect(text: str) -> str:
    """The content type of source text: the name of the first test in `TESTS` that says yes."""
    return next(candidates(text))


def candidates(text: str) -> Iterator[str]:
    """What source text may be, likeliest first, for a caller whose format refuses it. "text" always holds, unless
    "binary" or "json" does: such a payload is nothing else.
    """
    sample = _Sample(_inside(text))
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
_NOTHING: Final = object()


class _Sample:
    """A payload and what several tests ask of it, each worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\xef\xbb\xbf")
        self.head = self.text[:16384]
        self._shares: dict[Pattern, float] = {}

    @cached_property
    def head_lines(self) -> list[str]:
        return _whole_lines(self.head, len(self.text) > len(self.head))

    @cached_property
    def csv_records(self) -> list[str]:
        """The first 200 records of the head as CSV sees them; one that the sample cuts off is not among them."""
        return _quoted_records(self.head_lines[:1000])[:200]

    @cached_property
    def all_lines(self) -> list[str]:
        """Lines without their ends, blank ones too, 300 characters each: 160 of the head, then some of later places."""
        return [line for section in self.sections for line in section]

    @cached_property
    def sections(self) -> list[list[str]]:
        """The stretches that the lines are of: what one opens (a comment, a string) ends with it."""
        found = [self.head_lines[:160]]
        if self.text[: len(self.head)].count("\n") < 160 and len(self.text) > len(self.head):
            found[0].append(self.head[self.head.rfind("\n") + 1 :])  # a long line that goes on behind the head
        size = len(self.text)
        if size // 2 > len(self.head):
            found.append(_whole_lines(self.text[size // 2 :][:6144], True)[1:41])
        if size - 6144 > len(self.head):
            found.append(_whole_lines(self.text[-6144:], False)[1:][-40:])
        return [[line[:300] for line in section] for section in found]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank."""
        return [line for line in self.all_lines if line.strip(" \t")]

    @cached_property
    def fenced(self) -> bool:
        """Whether Markdown code fences stand at line starts: then what is inside says nothing of the whole."""
        return sum(map(bool, map(FENCE.match, self.lines))) >= 2 or self._literal_blocks

    @cached_property
    def _literal_blocks(self) -> bool:
        """reStructuredText's way: ``like this::``, a blank line, and the block indented."""
        lines = self.head_lines[:160]
        return any(
            line[:1].strip() != "" and LITERAL_NEXT.match(line) and not blank.strip() and block[:1] in (" ", "\t")
            for line, blank, block in zip(lines, lines[1:], lines[2:], strict=False)
            if block
        )

    def share(self, pattern: Pattern) -> float:
        """The share of lines that the pattern matches from their start; 0 where there are no lines."""
        if pattern not in self._shares:
            hits = sum(map(bool, map(pattern.match, self.lines)))
            self._shares[pattern] = hits / len(self.lines) if self.lines else 0.0
        return self._shares[pattern]

    def count(self, pattern: Pattern) -> int:
        return round(self.share(pattern) * len(self.lines))

    @cached_property
    def json(self) -> Any:
        """The value of a payload that is one JSON document, a list of values for JSON lines, else `_NOTHING`."""
        body = self.text.strip(" \t\r\n")
        if not JSON_BEGINS.match(body) or body[-1] not in '}]"':
            return _NOTHING
        if not json_depth_ok(body):
            return _NOTHING if "\x1b[" in body else None  # JSON as far as one may look, unless colours add brackets
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
    lines = LINE_END.compiled.split(text)
    return lines[:-1] if cut and len(lines) > 1 else lines


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


def _nul_list(sample: _Sample) -> bool:
    """File names ended by NUL, as of ``find -print0``, ``git ls-files -z``, ``grep -Z``."""
    names = sample.head.split("\0")[:-1]
    return len(names) >= 3 and all(map(PATH.fullmatch, names))


def _a11y(sample: _Sample) -> bool:
    if any(sample.count(pattern) >= 2 and sample.share(pattern) >= 0.2 for pattern in (PLAYWRIGHT, DEVTOOLS)):
        return True
    if sample.count(NAMED) >= 3 and sample.share(ARIA) >= 0.6:
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


def _test_report(sample: _Sample) -> bool:
    if "<testcase" in sample.head and JUNIT.match(sample.head):
        return True
    if sample.records_with(frozenset({"Action"}), frozenset({"Test", "Package"})):  # go test -json
        return True
    if "\x1b" in sample.head or sample.fenced or sample.share(TIMED) > 0.3:
        return False  # colours make it terminal output; a log may quote a test run
    return any(sample.count(run) >= 2 and (sample.share(run) >= 0.2 or run in RUNS[:3]) for run in RUNS)


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


def _terminal(sample: _Sample) -> bool:
    text = sample.text
    if "\x1b[" in text or "\x1b]" in text:
        return True
    bare = 0
    at = text.find("\r")
    while at >= 0 and bare < 3:  # stops at once on CRLF files: their carriage returns all stand before a newline
        found = BARE_CR.match(text, at)
        bare += bool(found) and at + 1 < len(text)
        at = text.find("\r", found.end() if found else at + 1, at + 65536)
    if bare < 3:
        return False
    return (
        "\n" in text or len(REDRAWING.compiled.findall(sample.head)) >= 3
    )  # CR alone ends lines where nothing redraws


def _diff(sample: _Sample) -> bool:
    begins = DIFF_BEGINS.search(sample.head)
    if begins and not FENCE.match(sample.head) and "\n```" not in sample.head[: begins.start()]:
        if MAILED.match(sample.head):  # what stands above the first file is its message
            lines = [line for line in sample.head[begins.start() :].split("\n") if line.strip()]
            return not _not_by(DIFF_LINE, lines, 0.85)
        return sample.share(DIFF_LINE) >= 0.85
    return sample.count(PLAIN_DIFF) >= 1 and sample.share(PLAIN_DIFF_LINE) >= 0.9


def _html(sample: _Sample) -> bool:
    body = _after_comments(sample.head)
    if HTML_BEGINS.match(body):
        return True
    if not body.lstrip().startswith("<") and not sample.head.lstrip().startswith("{%"):
        return False
    if sample.fenced or sample.count(HEADING):
        return False  # Markdown may have HTML at its head
    return sample.share(HTML_LINE) >= 0.6 * (1 - min(sample.share(TEMPLATE), 0.5))


ENDS: Final = {"<!--": "-->", "<?xml": "?>", "{%": "%}", "{#": "#}", "{{": "}}", "<%": "%>"}


def _after_comments(head: str) -> str:
    """The head without XML declaration, leading comments and template tags."""
    while (body := head.lstrip()).startswith(tuple(ENDS)):
        end = next(end for begin, end in ENDS.items() if body.startswith(begin))
        at = body.find(end, 2)
        if at < 0:
            return body
        head = body[at + len(end) :]
    return head


# ---------------------------------------------------------------- tabular


def _tabular(sample: _Sample) -> bool:
    if _drawn_table(sample) or _fixed_width(sample.lines) or any(_separated(sample, mark) for mark in "\t,;|"):
        return True
    if not RECORDS.match(sample.text):
        return False
    from caveman_wasm.formats.tabular_vertical import vertical

    return vertical(sample.text, "\n", 0) is not None


def _drawn_table(sample: _Sample) -> bool:
    """Markdown and database shells: a rule under the head or around the rows, and nothing but rows."""
    lines = sample.lines
    if len(lines) < 3:
        return False
    if ONE_RULE.fullmatch(lines[1]) and ROW_COUNT.search(sample.text[-200:]):
        return True
    if BOXED.match(lines[0]):
        return sum(bool(BOXED.match(line)) for line in lines) >= 0.9 * len(lines)
    if RULE.fullmatch(lines[1]) and "|" in lines[0]:
        return sum("|" in line for line in lines) >= 0.9 * len(lines)
    ruled = any(BOX_RULE.fullmatch(line.strip()) for line in lines[:2])
    return ruled and sum("|" in line or "+-" in line or "-+" in line for line in lines) >= 0.8 * len(lines)


def _separated(sample: _Sample, mark: str) -> bool:
    """Whether records parted by ``mark`` have a header or typed columns, a steady number of cells, and short ones."""
    if mark == "\t" and sample.share(SIZED) >= 0.9:
        return False
    rows = [_cells(record, mark) for record in sample.csv_records]
    width = len(rows[0]) if rows else 0
    if len(rows) < 3 or width < 2:
        return False
    steady = [row for row in rows if len(row) == width]
    if mark == "," and sum(bool(ROW_OF_VALUES.match(record)) for record in sample.csv_records) >= 0.5 * len(rows):
        return False  # tuples of a program or a database's dump
    if len(steady) < 0.9 * len(rows) or (mark in ",;" and sample.share(CODE_END) > 0.2 and width < 4):
        return False
    if mark == "|" and PIPE_ROW.match(sample.lines[0]):
        return False  # rows of a table without its rule: prose or a log
    if sample.share(REMARK) > 0.5:
        return False  # semicolons or dashes that open comments
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
    entries = [line for row in rows[:3] if TIMED.match(line := mark.join(row))]
    if len(entries) == 3 and (mark != "\t" or all(map(LEVELLED.match, entries))):
        return False  # a log's punctuation
    if mark == "\t":
        return not all(STAMPED.match(row[-1]) for row in rows[:3])
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
    plain = sum(not cell.strip() or bool(NUMBER.fullmatch(cell.strip().strip('"'))) for cell in column)
    return plain >= 0.9 * len(column) or (len(set(column)) * 4 <= len(column) and max(map(len, column)) <= 24)


def _names(cells: Sequence[str]) -> bool:
    """Whether these could head columns: short, mostly different, no numbers, no sentence."""
    bare = [cell.strip().strip('"') for cell in cells]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in bare)
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


def _fixed_width(lines: list[str]) -> bool:
    """Columns as of ``ps``, ``dpkg -l``, ``kubectl get``: a header of names, and blanks that line up under it."""
    rules = [at for at, line in enumerate(lines[:8]) if COLUMN_RULE.fullmatch(line.strip())]
    if not rules:  # `top` has six lines above its header, `vmstat` one
        return any(_fixed_columns(lines[at:], False) for at in range(min(8, len(lines) // 3)))
    return _fixed_columns(
        [line for line in lines[max(rules[0] - 1, 0) :] if line not in {lines[at] for at in rules}], True
    )


def _fixed_columns(lines: list[str], ruled: bool) -> bool:
    rows = lines[:60]
    if len(rows) < 3 or "\t" in rows[0]:
        return False
    names = rows[0].split()
    if not ruled and len(names) >= 4 and _numbered_columns(names, rows[1:]):
        return True
    capital = sum(bool(COLUMN_NAME.match(name)) for name in names)
    if len(names) < (2 if ruled else 3) or capital < (0 if ruled else 0.7) * len(names) or NO_HEADER.search(rows[0]):
        return False
    full = sum(len(row.split()) >= min(3, len(names)) for row in rows)
    return full >= 0.6 * len(rows) and _aligned_columns(rows) >= (2 if ruled else 3)


def _numbered_columns(names: list[str], rows: list[str]) -> bool:
    """Rows of as many cells as there are names, nearly all of them numbers, as of ``vmstat`` or ``iostat``."""
    cells = [row.split() for row in rows]
    steady = [row for row in cells if len(row) == len(names)]
    numbers = sum(bool(NUMBER.fullmatch(cell)) for row in steady for cell in row)
    return (
        len(steady) >= 0.9 * len(cells)
        and numbers >= 0.8 * len(steady) * len(names)
        and not any(map(NUMBER.fullmatch, names))
        and len(set(names)) >= 0.9 * len(names)
    )


def _aligned_columns(rows: list[str]) -> int:
    """How many columns there are between places that are blank in nine of ten rows."""
    width = max(map(len, rows))
    counts = Counter(at for row in rows for at, character in enumerate(row.ljust(width)) if character == " ")
    full = [counts[at] >= 0.9 * len(rows) for at in range(min(width, len(rows[0])))]
    return sum(not blank and (at == 0 or full[at - 1]) for at, blank in enumerate(full))


# ---------------------------------------------------------------- code


def _code(sample: _Sample) -> bool:
    """Most lines that are no comment are statements or end like code, and some could be nothing else."""
    if sample.head.startswith(("#!/", "<?php")):
        return True
    if sample.fenced or XML.match(sample.head):
        return False
    if _minified(sample.head) or DUMP.search(sample.head):
        return True
    if max(sample.share(TIMED), sample.share(LEVELLED), sample.share(HIT)) > 0.3:
        return False
    own = _own_lines(sample)
    if len(own) < 0.5 * len(sample.lines) and sample.share(SLASHED) >= 0.5 and not _not_by(STRONG, own, 0.5):
        return True  # comments as only programs have them, and nothing that speaks against it
    strong = sum(map(bool, map(STRONG.match, own)))
    begins = any(map(STRONG.match, own[:3]))
    if not strong or (strong < 0.02 * len(own) and not begins):
        return False
    ends = LOOSE_END if strong >= 0.04 * len(own) or begins else CODE_END
    like = [bool(STATEMENT.match(line) or ends.match(line) or (begins and DATUM.match(line))) for line in own]
    if sum(like) < (0.35 if strong >= 0.08 * len(own) else 0.5) * len(own):
        return False
    rivals = [line for line, code in zip(own, like, strict=True) if not code and _is_setting(line)]
    return strong >= 0.15 * len(own) or sum(like) > len(rivals)


def _own_lines(sample: _Sample) -> list[str]:
    sections = [[line for line in section if line.strip(" \t")] for section in sample.sections]
    return _without_block_texts([line for section in sections for line in _without_comments(section)])


def _not_by(pattern: Pattern, lines: list[str], share: float) -> bool:
    """Whether fewer than ``share`` of some lines match; no lines say nothing."""
    return sum(map(bool, map(pattern.match, lines))) < share * len(lines)


def _is_setting(line: str) -> bool:
    return bool(YAML.match(line) or ASSIGNED.match(line))


def _minified(head: str) -> bool:
    """A program in a few very long lines."""
    if head.count("\n") * 400 > len(head) or len(head) < 400:
        return False
    marks = sum(map(head.count, "(){};=,"))
    return marks > 0.1 * len(head) and bool(FUNCTION.search(head))


def _without_comments(lines: list[str]) -> list[str]:
    """Lines less comments and the insides of doc strings and comment blocks."""
    own: list[str] = []
    closing = ""
    for line in lines:
        if closing:
            closing = "" if closing in line else closing
        elif COMMENT.match(line):
            closing = "*/" if line.lstrip().startswith("/*") and "*/" not in line else ""
        else:
            own.append(line)
            for mark in ('"""', "'''"):
                closing = mark if line.count(mark) == 1 else closing
    return own


# ---------------------------------------------------------------- logs


def _log(sample: _Sample) -> bool:
    """Entries with a time or a level, with what belongs to them; or the steps of a build."""
    if sample.fenced:
        return False
    timed, levelled, traces = sample.share(TIMED), sample.share(LEVELLED), sample.share(TRACE)
    entries = max(timed, levelled)
    if not timed and sample.share(SETTING) > 0.5 * (1 - sample.share(REMARK)):
        return False  # settings that name levels
    if entries * len(sample.lines) >= 2 and (entries >= 0.25 or (entries >= 0.02 and entries + traces >= 0.6)):
        return sample.share(HIT) < 0.6 or timed > 0.5
    if traces >= 0.5 and len(sample.lines) >= 3:
        return True
    if sample.count(COMMIT) >= 2 and COMMIT.match(sample.lines[0]):
        return True
    if sample.share(ONE_LINE_COMMIT) >= 0.9 or (sample.share(EXCHANGE) >= 0.8 and len(sample.lines) > 8):
        return True
    builds = sample.share(BUILD)
    below = sum(line[0] in " \t" for line in sample.lines) / max(1, len(sample.lines))  # what a step printed
    if (builds >= 0.4 or (builds >= 0.2 and builds + traces + below >= 0.9)) and sample.count(BUILD) >= 2:
        return True
    return _same_tag(sample.lines) >= 0.8


def _same_tag(lines: list[str]) -> float:
    """The share of lines that begin with one of a few bracketed tags, as of CI stages or containers."""
    tags = Counter(match[0] for line in lines if (match := TAG.match(line)))
    return sum(count for _, count in tags.most_common(4)) / len(lines) if len(lines) >= 5 else 0.0


# ---------------------------------------------------------------- searches and listings


def _search_result(sample: _Sample) -> bool:
    if "\0" in sample.head and _nul_list(sample):
        return True
    lines = sample.lines
    if len(lines) < 2:
        return False
    if max(sample.share(HIT), sample.share(LISTED)) >= 0.6 or _hits_by_name(lines):
        return True
    if _hits_under_headings(sample) or _web_hits(lines):
        return True
    names = [line for line in lines if NAME.match(line)]
    if sample.count(FOLDER) >= 2 and len(names) + sample.count(FOLDER) >= 0.95 * len(lines):
        return True  # ls -R
    if lines[0].startswith("total ") and sample.share(BLOCKS) >= 0.95:
        return True
    telling = sum("/" in line or "." in line[1:-1] for line in names)
    if len(names) >= 3 and telling + sample.count(LISTED) >= 0.85 * len(lines):
        return True
    if len(names) < max(10, 0.98 * len(lines)) or " " in "".join(names):
        return False
    return telling >= 0.15 * len(lines) or _sorted_names(names)


def _sorted_names(names: list[str]) -> bool:
    """A bare ``ls``: in order, as a locale sorts, and not words alone."""
    keys = ["".join(filter(str.isalnum, name)).lower() for name in names]
    ordered = sum(first <= second for first, second in pairwise(keys))
    return ordered >= 0.9 * len(names) and sum(not name.isalpha() for name in names) >= 0.2 * len(names)


def _web_hits(lines: list[str]) -> bool:
    """Numbered titles, each with its address on a line of its own soon below."""
    heads = [at for at, line in enumerate(lines) if WEB_HIT.match(line)]
    found = sum(any(map(WEB_ADDRESS.match, lines[at + 1 : at + 4])) for at in heads)
    return found >= 3 and found >= 0.6 * len(heads)


def _hits_by_name(lines: list[str]) -> bool:
    """``path:text``: grep without line numbers. Paths repeat, or there is a slash in them."""
    found = [match[1] for line in lines if (match := HIT_BY_NAME.match(line))]
    pathlike = sum("/" in name or "." in name for name in found)
    return len(found) >= 0.8 * len(lines) and pathlike >= 0.8 * len(found)


def _hits_under_headings(sample: _Sample) -> bool:
    """ripgrep's way for people: a path, then ``12:text`` lines."""
    lines = sample.lines
    heads = [line for line in lines if not NUMBERED.match(line) and line != "--"]
    paths = sum(bool(NAME.match(line)) and ("/" in line or "." in line) for line in heads)
    if sample.share(NUMBERED) >= 0.95:  # one file's hits
        numbers = [int(match[1]) for line in lines if (match := HIT_OF_ONE.match(line))]
        return len(numbers) >= 0.9 * len(lines) >= 2 and numbers == sorted(set(numbers))
    return sample.share(NUMBERED) >= 0.4 and 0 < len(heads) <= paths / 0.8


# ---------------------------------------------------------------- configuration


def _config(sample: _Sample) -> bool:
    body = sample.text.rstrip()[-1:]
    if (
        XML.match(_after_comments(sample.head) if sample.head.lstrip().startswith("<!--") else sample.head)
        and body == ">"
    ):
        return not sample.fenced and not sample.count(HEADING)
    own = _without_block_texts([line for line in sample.lines if not REMARK.match(line)])
    if not own:
        return sample.share(REMARKED) >= 0.1 or sample.count(REMARKED) >= 3  # settings that are all commented out
    if sample.count(REMARKED) >= max(3, len(own)) and all(len(line.split()) <= 6 for line in own):
        return not sample.fenced  # settings of which most are commented out
    if sample.fenced or NO_CONFIG.match(sample.head) or sum(map(bool, map(PROSE.match, own))) > 0.35 * len(own):
        return False
    worded = sum(map(bool, map(WORDS.match, own)))
    if sample.count(REMARK) >= 2 and REMARK.match(sample.lines[0]) and worded >= 0.9 * len(own):
        return True  # `Port 22` and `proc /proc proc defaults 0 0` below a comment
    return _keyed(own, sample)


def _without_block_texts(lines: list[str]) -> list[str]:
    """Lines less the texts that YAML sets below a ``key: |``."""
    own: list[str] = []
    below = None  # the key's indentation while its text lasts
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        if below is None or indent <= below:
            own.append(line)
            below = indent if BLOCK_TEXT.match(line) else None
    return own


def _keyed(own: list[str], sample: _Sample) -> bool:
    def share(*patterns: Pattern) -> float:
        return sum(any(pattern.match(line) for pattern in patterns) for line in own) / len(own)

    if share(SPREAD) > 0.5 or share(SEVERAL) >= 0.2 or sample.share(LISTED) >= 0.6:
        return False  # columns below a header, or numbered lines
    if share(PINNED) >= 0.7 or (sample.count(REMARK) and share(TIGHT) >= 0.9):
        return True  # requirements and checksums; ``key:value`` under headings
    if share(DOCKER) >= 0.5 and DOCKER.match(own[0]):
        return True
    yaml, assigned, sections = share(YAML), share(ASSIGNED), share(SECTION)
    continued = sum(line[0] in " \t" for line in own) / len(own)  # values that go on
    if sections and (
        assigned + sections >= 0.5 or (assigned + sections >= 0.2 and assigned + sections + continued >= 0.9)
    ):
        return True
    if (
        assigned >= 0.7
        or (assigned >= 0.3 and yaml + assigned >= 0.95)
        or (yaml >= 0.35 and share(YAML, YAML_ITEM) >= 0.65)
    ):
        return True
    return (share(BLOCK) >= 0.1 and share(BLOCK, ASSIGNED, DIRECTIVE, YAML) >= 0.75) or (
        (yaml >= 0.1 or (yaml > 0 and continued >= 0.75)) and continued >= 0.5 and share(YAML, DIRECTIVE, BELOW) >= 0.85
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
