"""What a unit says, read by code of the checker's own: it shares nothing with the formats' readers or facts.py.

A *unit* answers ``values(name)``: every occurrence of a field in it, as tokens, so that a field which stands twice
in one unit shows. `JsonUnit`, `LogUnit`, `RowUnit` and `TagUnit` read fields; `SaidUnit` knows the unit's words and
a few counts: what a fact quotes must at least stand there.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

__all__ = [
    "OPAQUE",
    "JsonUnit",
    "LogUnit",
    "RowUnit",
    "SaidUnit",
    "TagUnit",
    "Token",
    "Unit",
    "said_unit",
]


@dataclass(frozen=True)
class Token:
    """One occurrence of a field: ``kind`` is "number" (JSON numbers and literals), "string", "word" (untyped text) or
    "opaque" (there, but not to be quoted)."""

    kind: str
    text: str


OPAQUE: Final = Token("opaque", "")


class Unit(Protocol):
    def values(self, name: str) -> Sequence[Token]:
        """Every occurrence of the field; empty where the unit lacks it."""

    def fails(self) -> bool:
        """Whether it plainly reports a failure (a lower bound; formats may see more)."""

    def may_fail_as(self, label: str) -> bool:
        """Whether the unit could be a failure of this kind."""


class _Spelling(str):
    """A JSON number in its source spelling."""


class JsonUnit:
    """An array's element or, as ``member``, ``"key": value`` of an object."""

    _BAD = frozenset(
        {
            "error",
            "err",
            "fatal",
            "critical",
            "failed",
            "failure",
            "exception",
            "declined",
            "rejected",
            "crashed",
            "panic",
        }
    )

    def __init__(self, text: str, *, member: bool = False) -> None:
        self.text = text
        self.found: dict[str, list[Token]] = {}
        pairs: Any = _json("{" + text + "}" if member else text)
        if member:
            ((key, pairs),) = pairs[1]
            self._add("key", Token("string", key))
        self._walk("", pairs)

    def _add(self, path: str, token: Token) -> None:
        self.found.setdefault(path, []).append(token)

    def _walk(self, path: str, value: Any) -> None:
        if isinstance(value, tuple):
            kind, items = value
            if path:
                self._add(path, OPAQUE if items else Token("number", kind))
            for i, (key, inner) in enumerate(items):  # a nameless key has no path
                name = key or '""'
                self._walk(f"{path}[{i}]" if kind == "[]" else f"{path}.{name}" if path else name, inner)
            if not path and kind == "[]":
                self._add("value", OPAQUE)
            return
        name = path or "value"
        if isinstance(value, _Spelling):
            self._add(name, Token("number", value))
        elif value is None or isinstance(value, bool):
            self._add(name, Token("number", json.dumps(value)))
        else:
            self._add(name, Token("string", value))

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name, ())

    def fails(self) -> bool:
        named = (
            t
            for path, tokens in self.found.items()
            if path.rpartition(".")[2].lower()
            in ("status", "level", "severity", "state", "result", "outcome", "conclusion")
            for t in tokens
        )
        return any(t.kind == "string" and t.text.strip().lower() in self._BAD for t in named)

    def may_fail_as(self, label: str) -> bool:
        name, _, said = label.partition("=")
        names = [p for p in self.found if p == name or (p.startswith(name) and not said)]
        masked = (_mask(t.text) for p in names for t in self.found[p])
        return bool(names) and (said in ("", "…") or any(" ".join(m.split()).startswith(said) for m in masked))


class ToolUnit(JsonUnit):
    """A tool, which may stand inside of ``function``."""

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name) or self.found.get(f"function.{name}") or ()


def _mask(text: str) -> str:
    return re.sub("[0-9a-fA-F]*[0-9][0-9a-fA-F]*", "0", text)


def _json(text: str) -> Any:
    """JSON as ("{}", pairs) and ("[]", (index, value) pairs), so that nothing is merged."""
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: ("{}", pairs),
        parse_int=_Spelling,
        parse_float=_Spelling,
        parse_constant=_Spelling,
        strict=False,
    )
    return _tagged(decoder.decode(text))


def _tagged(value: Any) -> Any:
    if isinstance(value, list):
        return "[]", [(i, _tagged(v)) for i, v in enumerate(value)]
    if isinstance(value, tuple):
        return "{}", [(k, _tagged(v)) for k, v in value[1]]
    return value


class RowUnit:
    """A table's row; a column name that stands twice in the header gives two occurrences."""

    _REPORTS = re.compile(r"(?i)(?:status|state|result|outcome|level|severity)")
    _BAD = re.compile(r"(?i)(?:error|fatal|critical|failed|failure|exception|rejected|crashed|panic)")

    def __init__(self, header: Sequence[str], cells: Sequence[str]) -> None:
        self.found: dict[str, list[Token]] = {}
        even = len(header) == len(cells)
        for name, cell in zip(header, cells, strict=False):
            self.found.setdefault(name, []).append(Token("word", cell) if even else OPAQUE)

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name, ())

    def fails(self) -> bool:
        said = [t for name, tokens in self.found.items() if self._REPORTS.fullmatch(name) for t in tokens]
        return len(said) == 1 and self._BAD.fullmatch(said[0].text.strip()) is not None

    def may_fail_as(self, label: str) -> bool:
        """Labels are ``column=value``, or the first words of that."""
        said = (f"{name}={' '.join(t.text.split())}" for name, tokens in self.found.items() for t in tokens)
        return any(" ".join(s.split()).startswith(label) for s in said)


class LogUnit:
    """A log entry, continuation lines and all. Every ``name=`` and ``name:`` counts as an occurrence, in any case of
    letters, inside quoted text too."""

    _BAD = ("ERROR", "ERR", "CRITICAL", "CRIT", "FATAL", "SEVERE", "ALERT", "EMERG", "PANIC")
    _LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", *_BAD)
    _KLOG: ClassVar = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
    _TIME = re.compile(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct"
        r"|Nov|Dec) +\d+ \d\d:\d\d:\d\d"
        r"|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?",
        re.ASCII,
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.head = re.split("[\r\n]", text, maxsplit=1)[0]

    def values(self, name: str) -> Sequence[Token]:
        if name == "time":
            found = self._TIME.search(self.head)
            named = re.findall(r"(?i)(?<![\w.-])time=([^\s,;]*)", self.text)
            return [Token("word", v) for v in dict.fromkeys([*([found[0]] if found else ()), *named])]
        if name == "http_status":
            found = re.search(r'"[A-Z]+ [^"]+" ([1-5]\d\d) ', self.text, re.ASCII)
            named = [t for t in self._named(name) if found is None or t.text != found[1]]
            return [*([Token("word", found[1])] if found else ()), *named]
        return self._named(name)

    def _named(self, name: str) -> Sequence[Token]:
        pattern = rf"(?i)(?<![\w.-]){re.escape(name)}[\"']?[ \t]{{0,80}}([=:])[ \t]?"
        return [self._value(m[1], m.end()) for m in re.finditer(pattern, self.text, re.ASCII)]

    def _value(self, sign: str, at: int) -> Token:
        if sign == ":":
            return OPAQUE
        string = re.compile(r'"([^"\\]*)"(?![^\s,;&|)\]}>])').match(self.text, at)
        if string:
            return Token("word", string[1])
        word = re.compile(r"""([^\s,;&|()\[\]{}<>"'=]*)(?:$|[)\]}>]*[\s,;&|]*(?=$|\s|[A-Za-z_][\w.-]*=))""").match(
            self.text, at
        )
        return Token("word", word[1]) if word else OPAQUE

    def levels(self) -> set[str]:
        """Every level word in the first line: which of them is *the* level is the format's to say."""
        words = set(re.findall(r"[A-Za-z]+", self.head)) | set(re.findall(r"[A-Z]+", self.head))
        klog = {self._KLOG[self.head[0]]} if re.match(r"[IWEF]\d{4} ", self.head) else set()
        named = set(re.findall(r"(?i)\b(?:level|lvl|severity)[\"']?\s*[=:]\s*[\"']?([a-z]+)", self.head))
        return {w.upper() for w in words} & set(self._LEVELS) | klog | named

    def sure_level(self) -> str | None:
        """The only level word in capitals, where it stands early."""
        found = re.findall(r"\b[A-Z]+\b", self.head[:60])
        levels = [w for w in found if w in self._LEVELS]
        return levels[0] if len(levels) == 1 else None

    def fails(self) -> bool:
        first = re.search(rf"\b({'|'.join(self._LEVELS)})\b", self.head[:300])
        return first is not None and first[1] in ("ERROR", "FATAL", "CRITICAL", "SEVERE")

    def may_fail_as(self, label: str) -> bool:
        """Whether all words of the label stand in the entry (its numbers and quoted strings are masked there)."""
        said = self.text.lower()
        if re.fullmatch(r"http_status=\d{3}", label):
            return label[-3:] in {t.text for t in self.values("http_status")}
        return all(word in said for word in re.split(r"[^a-z]+", label.lower()))


_TAG: Final = re.compile(r"<([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*+)\s*/?>")
_ATTRIBUTE: Final = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class TagUnit:
    """A test suite or case in XML: its attributes, and of a case its ``result`` and, where skipped, its ``reason``."""

    _RESULTS: ClassVar = {"failure": "failed", "error": "error", "rerunFailure": "failed", "skipped": "skipped"}

    def __init__(self, text: str) -> None:
        self.text = text
        tags = [(m[1], _attributes(m[2])) for m in _TAG.finditer(re.sub(r"(?s)<!\[CDATA\[.*?\]\]>", "", text))]
        self.tag, attributes = tags[0] if tags else ("", [])
        self.found: dict[str, list[Token]] = {}
        for name, value in attributes:
            self.found.setdefault(name, []).append(Token("word", value))
        if self.tag == "testcase":
            self._outcome([t for t in tags[1:] if t[0] in self._RESULTS])

    def _outcome(self, inside: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        names = {self._RESULTS[tag] for tag, _ in inside}
        result = next((r for r in ("failed", "error", "skipped") if r in names), "passed")
        both = {"failed", "error"} <= names
        self.found.setdefault("result", []).append(OPAQUE if both else Token("word", result))
        reasons = [value for tag, said in inside if tag == "skipped" for name, value in said if name == "message"]
        self.found.setdefault("reason", []).extend(Token("word", r) for r in reasons)

    def values(self, name: str) -> Sequence[Token]:
        return self.found.get(name, ())

    def fails(self) -> bool:
        return any(t.text in ("failed", "error") for t in self.found.get("result", ())) or (
            self.tag == "testsuite" and any(t.text.strip("0 ") for n in ("failures", "errors") for t in self.values(n))
        )

    def may_fail_as(self, label: str) -> bool:
        return _stands(label.split()[0], self.text) if label.split() else True


def _attributes(text: str) -> list[tuple[str, str]]:
    return [(name, html.unescape(double or single)) for name, double, single in _ATTRIBUTE.findall(text)]


# ---------------------------------------------------------------- units of which only the words are known

Values = Mapping[str, Sequence[Token]]


@dataclass(frozen=True)
class SaidUnit:
    """``known``: fields that are read after all; ``hidden``: fields that are derived in ways only the format knows;
    ``scattered``: a value is made of words that stand apart (a cell's, of the nodes in it)."""

    text: str
    known: Values = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    scattered: bool = False

    def values(self, name: str) -> Sequence[Token]:
        return self.known.get(name, ())

    def reads(self, name: str) -> bool:
        return name in self.known

    def says(self, value: str) -> bool:
        """Whether the value stands in the unit, as it is or behind escapes."""
        name, at, version = value.rpartition("@")  # packages are named so whatever their lock file looks like
        whole = value in ("", ".") or _stands(value, self.text)
        if not whole and "." in value:  # `resource "bucket" "logs" {` is known as resource.bucket.logs
            whole = re.search(r'"?\s+"?'.join(map(re.escape, value.split("."))), self.text) is not None
        parts = value.split() if self.scattered else [name, version] if at else []
        return whole or (bool(parts) and all(_stands(part, self.text) for part in parts))

    def fails(self) -> bool:
        return False

    def may_fail_as(self, label: str) -> bool:
        return all(self.says(word) for word in re.findall(r"[A-Za-z]{3,}", label)[:3])


def _stands(value: str, text: str) -> bool:
    if value in text:
        return True
    plainly = html.unescape(text) if "&" in text else text
    if "\\" in plainly:
        plainly += re.sub(r"\\u([0-9a-fA-F]{4})|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2], plainly)
    return " ".join(value.split()).lower() in " ".join(plainly.split()).lower()


def _word(value: object) -> Sequence[Token]:
    return (Token("word", str(value)),)


_CHANGES: Final = {"+": "added", "-": "removed", ">": "added", "<": "removed", "@": "hunk", "\\": "end"}


def _changed_line(text: str) -> Values:
    return {"change": _word(_CHANGES.get(text[:1], "context"))}


def _changed_file(text: str) -> Values:
    """Lines added and removed, counted inside the hunks only."""
    counts, left = Counter[str](), [0, 0]
    for line in text.split("\n"):
        head = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
        if head:
            left = [1 if n is None else int(n) for n in head.groups()]
        elif max(left) > 0 and line[:1] != "\\":
            counts[line[:1]] += 1
            left = [left[0] - (line[:1] != "+"), left[1] - (line[:1] != "-")]
    if "@@ " not in text or "@@@" in text or "GIT binary patch" in text:
        return {}
    return {"added": _word(counts["+"]), "removed": _word(counts["-"])}


def _hits(text: str) -> Values:
    """Hits as ``path:12:text``, else as ``12:text`` below the path, else as ``path:text``."""
    first, _, rest = text.partition("\n")
    numbered = re.match(r"(.*?):\d+:", first) or re.match(r"(.*?)-\d+-", first)
    if numbered:
        found = re.findall(rf"(?m)^{re.escape(numbered[1])}:\d+:", text)
    elif re.search(r"(?m)^\d+[:-]", rest):
        found = re.findall(r"(?m)^\d+:", rest)
    else:
        found = re.findall(rf"(?m)^{re.escape(first.partition(':')[0])}:", text)
    return {"hits": _word(len(found))}


def _directory(text: str) -> Values:
    """Lines below a directory's heading, if it has one, without ``total 12``."""
    lines = [line for line in re.split("[\n\0]", text) if line.strip() and not line.startswith("total ")]
    return {"entries": _word(len(lines) - lines[0].rstrip().endswith(":"))} if lines else {}


_SORTS: Final = {"-": "file", "d": "directory", "l": "link", "b": "block", "c": "character", "p": "pipe", "s": "socket"}
_LISTED: Final = re.compile(
    r"\s*(?:\d+\s+\d+\s+)?([-dlbcps])[rwxsStT-]{9}[.+@]?\s+(?:\d+\s+)?(\S+)\s+\S+\s+([0-9.]+[KMGTPE]?)\s+"
    r"(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2}\s+\d{1,2}|\d{1,2}\s+[A-Z][a-z]{2})\s",
    re.ASCII,
)


def _listed(text: str) -> Values:
    """An entry as ``ls -l`` or ``git ls-tree`` prints it."""
    found = _LISTED.match(text)
    if found:
        return {"type": _word(_SORTS[found[1]]), "owner": _word(found[2]), "size": _word(found[3])}
    object_ = re.match(r"\d{6} (blob|tree|commit) [0-9a-f]{7,64}\s", text)
    return {"type": _word(object_[1])} if object_ else {}


_VERDICTS: Final = {
    **dict.fromkeys(("PASSED", "PASS", "ok", "✓", "✔", "√"), "passed"),
    **dict.fromkeys(("FAILED", "FAIL", "not ok", "✗", "✘", "✕", "×"), "failed"),
    **dict.fromkeys(("SKIPPED", "SKIP", "ignored"), "skipped"),
    **{word: word for word in ("XFAIL", "XPASS")},
    "ERROR": "error",
}
_VERDICT: Final = re.compile(r"(?<!\S)(?:not ok|\w+|[✓✔√✗✘✕×])(?![^\s:,])")


def _case(text: str) -> Values:
    """A printed test case whose first line holds one verdict only."""
    words = {m[0] for m in _VERDICT.finditer(text.partition("\n")[0])} & _VERDICTS.keys()
    return {"result": _word(_VERDICTS[words.pop()])} if len(words) == 1 else {}


def _row_of_values(text: str) -> Values:
    """An SQL row: the values between its last parentheses, by the names in front of them, else by position."""
    found = re.fullmatch(r"(?is)\s*(?:insert\s+into\s+\S+?\s*(?:\(([^()]*)\))?\s*values)?\s*\((.*)\)[,;]?\s*", text)
    read = re.findall(r"\s*(?:('(?:[^']|'')*')|([\w.-]+))\s*(,|\Z)", found[2]) if found else []
    if (
        not read
        or not found
        or sum(len(a) + len(b) for a, b, _ in read) < len(re.sub(r"\s+", "", found[2])) - len(read)
    ):
        return {}
    names = [n.strip(' "`') for n in found[1].split(",")] if found[1] else [f"column {i + 1}" for i in range(len(read))]
    tokens = [Token("number", bare) if bare else Token("string", said[1:-1]) for said, bare, _ in read]
    return {name: (token,) for name, token in zip(names, tokens, strict=False)}


_KNOWN: Final[Mapping[tuple[str, str], Callable[[str], Values]]] = {
    ("code", "rows"): _row_of_values,
    ("diff", "lines"): _changed_line,
    ("diff", "changed lines"): _changed_line,
    ("diff", "files"): _changed_file,
    ("search-result", "files"): _hits,
    ("search-result", "directories"): _directory,
    ("search-result", "entries"): _listed,
    ("test-report", "cases"): _case,
}
_HIDDEN: Final[Mapping[str, frozenset[str]]] = {
    "search-result": frozenset({"type"}),
    "test-report": frozenset({"result"}),
    "html": frozenset({"part"}),
    "diff": frozenset({"added", "removed"}),
}


def said_unit(form: str, noun: str, text: str) -> SaidUnit:
    """The unit of a format that no reader of ours knows the fields of."""
    known = _KNOWN.get((form, noun))
    return SaidUnit(text, known(text) if known else {}, _HIDDEN.get(form, frozenset()), form == "a11y")
