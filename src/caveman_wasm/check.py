"""Checks a shortened text against its original: ``caveman-engine check``.

The text is made again from the original and the options in the record's metadata. Then, by code that shares nothing
with the join, the selection or facts.py: the markers' spans are whole units and exactly what is missing from the
text; what stays is what was there; counts, line ranges and the reference's numbers add up; JSON parses, rows keep
their cells; and every fact is recomputed from exactly the units its marker stands for (check_claims.py).

Where units begin and end is taken from the format's own cut; the elements of JSON and the rows of tables are counted
again from the original's bytes. What could not be checked stands in `Report.uncovered`.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from caveman_wasm import cutting, markers
from caveman_wasm.check_claims import examine, uncovered
from caveman_wasm.check_fields import JsonUnit, LogUnit, TagUnit, ToolUnit, Unit, said_unit
from caveman_wasm.check_places import Part, Stand, cuts_of
from caveman_wasm.check_tables import RECORD, Table, cells, record_head, table
from caveman_wasm.engine import Engine
from caveman_wasm.model import Document, Marker, Result, plain, raw, source
from caveman_wasm.store import open_memory
from caveman_wasm.store.base import Store

__all__ = ["Finding", "Options", "Report", "check_payload", "check_record", "check_result"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is off: the number of the marker (from 1; 0: the whole text), the fact or '' , and what was found."""

    marker: int
    fact: str
    found: str


@dataclass(slots=True)
class Report:
    """``remade`` False: the text cannot be made again by this version, ``findings`` say why."""

    content_type: str = ""
    markers: int = 0
    facts: int = 0
    remade: bool = True
    findings: list[Finding] = field(default_factory=list)
    uncovered: set[str] = field(default_factory=set)

    def add(self, marker: int, fact: str, found: str) -> None:
        self.findings.append(Finding(marker, fact, found))

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"uncovered": sorted(self.uncovered)}


@dataclass(frozen=True, slots=True)
class Options:
    """What a text was made with."""

    content_type: str | None = None
    query: str = ""
    max_tokens: int | None = None


def check_record(store: Store, handle: str, text: bytes | None = None) -> Report:
    """Checks the text of a record, and that ``text`` is that text. Raises what the store raises for the handle."""
    record = store.record(handle)
    form = cutting.FORMATS.get(record.content_type)
    if record.metadata is None or form is None:
        return _not_again(record.content_type, "it was stored without the options that made its text")
    said = json.loads(record.metadata)
    if said.get("v") != form.version:
        return _not_again(record.content_type, f"made by version {said.get('v')} of the format, this is {form.version}")
    options = Options(said.get("content_type"), said.get("query", ""), said.get("max_tokens"))
    engine = Engine(open_memory())
    report, made = _checked(engine, record.original, options, text)
    if made.content_type != record.content_type:
        return _not_again(record.content_type, f"this version takes it for {made.content_type}")
    if made.recovery_handle is None:
        report.add(0, "", f"a record was made, but the text made again is the original ({made.reason})")
    counts = (made.tokens_before, made.tokens_after)
    if engine.counter.name == said.get("counter") and counts != (record.tokens_before, record.tokens_after):
        report.add(
            0, "", f"the record counts {record.tokens_before} → {record.tokens_after} tokens; there are {counts}"
        )
    return report


def check_payload(payload: bytes, options: Options | None = None, text: bytes | None = None) -> Report:
    """Shortens ``payload`` in a store of its own and checks what came out, and that ``text`` is that text."""
    return _checked(Engine(open_memory()), payload, options or Options(), text)[0]


def _not_again(kind: str, why: str) -> Report:
    report = Report(kind, remade=False)
    report.add(0, "", f"the text cannot be made again by this version: {why}")
    return report


def _checked(engine: Engine, payload: bytes, options: Options, text: bytes | None) -> tuple[Report, Result]:
    made = engine.compress(
        payload, content_type=options.content_type, query=options.query, max_tokens=options.max_tokens
    )
    report = check_result(payload, made, options.query)
    if options.max_tokens is not None and made.tokens_after > options.max_tokens and made.reason is None:
        report.add(0, "", f"{made.tokens_after} tokens are over max_tokens, and it does not say so")
    if text is not None and text != made.output:
        at = _differ(text, made.output)
        report.add(0, "", f"the text given is not the one made again; they differ from byte {at} on")
    return report, made


def check_result(payload: bytes, result: Result, query: str = "") -> Report:
    """Checks a result of `Engine.compress` against its payload."""
    report = Report(result.content_type, len(result.markers), sum(len(m.facts) for m in result.markers))
    if result.recovery_handle is None or result.content_type not in cutting.FORMATS:
        if result.output != payload and result.reason != "no_store":
            report.add(0, "", "the output differs from the input and has no handle")
        return report
    utf16 = payload[:2] in (b"\xff\xfe", b"\xfe\xff") and result.output[:2] == payload[:2]
    before, after = (_utf8(payload), _utf8(result.output)) if utf16 else (source(payload), source(result.output))
    cut = cutting.cut(before, result.content_type, query)
    if cut is None:
        report.add(0, "", "the payload is not of its format")
        return report
    _Check(report, before, after, cut.document, result).run()
    return report


def _utf8(data: bytes) -> str:
    return source(data.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass"))


def _differ(a: bytes | str, b: bytes | str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


# ---------------------------------------------------------------- the checks


class _Check:
    """One result under examination. ``before`` and ``after`` are source text."""

    def __init__(self, report: Report, before: str, after: str, document: Document, result: Result) -> None:
        self.report, self.after, self.result = report, after, result
        self.outer = Part(document, before)
        self.inner: dict[tuple[int, int], Part] = {}

    def run(self) -> None:
        """Everything; findings go into the report."""
        placed = True
        by_part: dict[tuple[int, int] | None, list[tuple[int, Marker]]] = {}
        for number, marker in enumerate(self.result.markers, 1):
            by_part.setdefault(marker.within, []).append((number, marker))
        self._open({within for within in by_part if within is not None})
        for within, numbered in by_part.items():
            part = self.outer if within is None else self.inner.get(within)
            placed = part is not None and self._place(part, numbered) and placed
        for part in (self.outer, *self.inner.values()):
            for stand in part.found:
                self._count(part, stand)
                self._wording(part, stand)
                self._facts(part, stand)
        self._reference()
        if placed:
            self._rest()
        self._syntax()

    def _open(self, wanted: set[tuple[int, int]]) -> None:
        back = self.outer.back
        for envelope in self.outer.document.envelopes:
            within = (back(envelope.start), back(envelope.stop))
            if envelope.document is not None and within in wanted:
                text = _unescaped(self.outer.before[slice(*within)]) if self.outer.verbatim else envelope.text
                if text != envelope.text:
                    self.report.add(0, "", f"the string at byte {within[0]} was not decoded to what it says")
                self.inner[within] = Part(envelope.document, text)
        for within in wanted - self.inner.keys():
            self.report.add(0, "", f"markers stand within bytes {within}, where no payload of its own is")

    def _place(self, part: Part, numbered: Sequence[tuple[int, Marker]]) -> bool:
        """Finds the units each marker stands for; False where one has none."""
        places = part.places([m.spans for _, m in numbered], {m.noun for _, m in numbered})
        placed = True
        for number, marker in numbered:
            units = places.get(marker.spans[0][0], ()) if marker.spans else ()
            read = [(g, part.pieces(g, i, marker)) for g, i in units if g.noun == marker.noun]
            found = [(g, pieces) for g, pieces in read if pieces]
            found.sort(key=lambda f: sum(b - a for a, b in f[1]) != marker.count)
            written = self.after[marker.start : marker.stop]
            if found:
                written = written if part is self.outer else _unescaped(written)
                part.found.append(Stand(number, marker, *found[0], written))
            else:
                self.report.add(number, "", f"its spans are no whole {marker.noun}")
                placed = False
        return placed

    def _count(self, part: Part, stand: Stand) -> None:
        marker = stand.marker
        for n, what in _counted(part, stand):
            if n != marker.count:
                self.report.add(stand.number, "", f"it counts {marker.count} {marker.noun}; {what} has {n}")

    def _wording(self, part: Part, stand: Stand) -> None:
        """The marker's text says the marker's count, noun, lines and facts."""
        marker, facts = stand.marker, "; ".join(stand.marker.facts)
        if f'"{markers.MARKER_KEY}' in stand.written:
            said = _json_marker(stand.written)
            if said != (marker.count, facts):
                self.report.add(stand.number, facts, f"its text says {said} instead")
            return
        if stand.written.strip().startswith("[caveman: base64 elided, "):
            if f" {stand.replaced} characters" not in stand.written:
                self.report.add(stand.number, "", f"it replaces {stand.replaced} characters")
            return
        read = [m for said in _sayings(plain(stand.written)) if (m := _SENTENCE.search(said))]
        nouns = (marker.noun, marker.noun.removesuffix("s"), re.sub("ies$", "y", marker.noun))
        right = [
            m for m in read if int(m[1]) == marker.count and m[2] in nouns and _plainly(m[5] or "") == _plainly(facts)
        ]
        if not right:
            self.report.add(stand.number, facts, "its text says something else")
        elif right[0][3] and len(stand.pieces) == 1:
            self._lines(part, stand, int(right[0][3]), int(right[0][4] or right[0][3]))

    def _lines(self, part: Part, stand: Stand, first: int, last: int) -> None:
        ((start, stop),) = stand.marker.spans
        text = part.before
        end = "\n" if "\n" in text else "\r"
        above = part.document.first_line  # another than 1: lines of the file inside of a wrapper
        real = (text.count(end, 0, start) + above, text.count(end, 0, max(start, stop - 1)) + above)
        gutter = re.match(r"[ \t]*(\d+)(?:\t|\xe2\x86\x92|[ |:])", text[text.rfind(end, 0, start) + 1 : stop])
        if (first, last) != real and not (gutter and int(gutter[1]) == first and last - first == real[1] - real[0]):
            self.report.add(stand.number, "", f"it says L{first}–{last}; these are lines {real[0]}–{real[1]}")

    def _facts(self, part: Part, stand: Stand) -> None:
        if not stand.marker.facts:
            return
        units = _units(part, stand)
        for fact, found in examine(stand.marker.facts, units, stand.replaced):
            self.report.add(stand.number, fact, found)
        self.report.uncovered |= {f"{part.document.format}: {n}" for n in uncovered(stand.marker.facts, units)}

    def _reference(self) -> None:
        found = list(_REFERENCE.finditer(self.after))
        if not found or found[-1][4] != self.result.recovery_handle:
            self.report.add(0, "", "no reference to the original closes the text")
        elif found[-1][2]:
            said = (int(found[-1][2]), int(found[-1][3]))
            real = (len(self.result.markers), sum(m.count for m in self.result.markers))
            if said != real:
                self.report.add(0, "", f"the reference says {said[0]} markers for {said[1]} units; there are {real}")

    def _rest(self) -> None:
        """What stays is the document, with exactly the markers' units taken out."""
        document, handle = self.outer.document, self.result.recovery_handle
        assert handle is not None
        counts = len(self.result.markers), sum(m.count for m in self.result.markers)
        closing = cutting.FORMATS[document.format].reference(markers.reference(handle, *counts), document)
        expected = self._rebuilt(self.outer, closing)
        if expected != self.after:
            at = _differ(expected, self.after)
            self.report.add(0, "", f"from byte {at} on it is not the original with the markers' units taken out")
        for part in (self.outer, *self.inner.values()):
            if not part.verbatim and part.document.origin is None:
                self.report.add(0, "", "the text that was cut is not the original")
            elif not part.verbatim:
                self.report.uncovered.add(
                    f"{part.document.format}: what stays is compared with the rewritten text only"
                )

    def _rebuilt(self, part: Part, closing: str = "") -> str:
        """The document with every marker's units cut out and its text in their place."""
        document, text = part.document, part.document.text
        cuts = [(document.close_at, document.close_at, closing, 2)] if closing else []
        for stand in part.found:
            cuts += cuts_of(stand)
        for envelope in document.envelopes if part is self.outer else ():
            inner = self.inner.get((part.back(envelope.start), part.back(envelope.stop)))
            if inner is not None:
                cuts.append((envelope.start, envelope.stop, _escaped(self._rebuilt(inner)), 1))
        pieces, at = [], 0
        for start, stop, said, _ in sorted(cuts, key=lambda c: (c[0], c[3], -c[1])):
            if start >= at:
                pieces += [text[at:start], said]
                at = stop
        return "".join([*pieces, text[at:]])

    def _syntax(self) -> None:
        """JSON stays JSON, line by line where it was lines, and no key stands twice that did not."""
        if self.outer.document.format not in _JSON_FORMATS:
            return
        for whole in (True, False):
            twice = _twice(_documents(self.outer.before, whole))
            if twice is not None:
                now = _twice(_documents(self.after, whole))
                if now is None:
                    self.report.add(0, "", "it is no JSON any more")
                elif now - twice:
                    self.report.add(0, "", f"{len(now - twice)} keys stand twice that did not")
                return


def _documents(text: str, whole: bool) -> list[str]:
    return [text] if whole else [line for line in text.split("\n") if line.strip(" \t\r")]


# ---------------------------------------------------------------- what markers stand for, and say

_JSON_FORMATS: Final = frozenset({"json", "toolschema", "toolschema-annotations", "a11y", "test-report"})
_JSON_NOUNS: Final = frozenset({"elements", "members", "records", "events"})
_SENTENCE: Final = re.compile(
    r"… (\d+) ([a-z0-9 -]+?) elided(?: \(L(\d+)(?:–(\d+))?\))?(?:: (?!all equal to the line|equal to the line)"
    r"((?:\"(?:[^\"\\]|\\.)*+\"|[^\"])*?))?"
    r"(?:: (?:all )?equal to the line above)? …",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(
    r"\[caveman: shortened view, ((\d+) markers for (\d+) units|[^;\]]*); [^\]]{1,300}<<ccr:(ccr_[0-9a-f]{32})>>\]"
)


def _counted(part: Part, stand: Stand) -> Iterator[tuple[int, str]]:
    """Counts of the units, each with where it was found: by the cut, by the original's own syntax."""
    yield sum(b - a for a, b in stand.pieces), "the cut"
    slices = [part.before[a:b] for a, b in stand.marker.spans]
    if stand.marker.noun in ("rows", "lines") and "\n" in part.before:
        slices = [_BARE_CR.sub(" ", s) for s in slices]
    if stand.marker.noun in _JSON_NOUNS and part.document.format in _JSON_FORMATS:
        brackets = "{}" if stand.marker.noun == "members" else "[]"
        counts = [_elements(s, brackets) for s in slices]
        if all(counts) or part.document.format == "json":
            yield sum(counts), "the original"
    elif stand.marker.noun == "rows" and part.document.origin is None and (form := _table(part, stand)) is not None:
        if form == "lines":
            head = record_head(plain(slices[0]))
            blocks = [
                len(RECORD.findall(s)) or sum(line.startswith(head) for line in plain(s).split("\n")) for s in slices
            ]
            yield sum(blocks), "the original"
            return
        read = (
            csv.reader(re.split(r"(?<=[\r\n])", plain(s)), delimiter=form) if form != "pipes" else _full(s)
            for s in slices
        )
        yield sum(sum(map(bool, rows)) for rows in read), "the original"
    elif stand.marker.noun == "lines" and part.document.origin is None:
        full, every = sum(len(_full(s)) for s in slices), sum(len(re.split("\r\n|[\r\n]", s)) for s in slices)
        yield min(max(stand.marker.count, full), every), "the original"


_BARE_CR: Final = re.compile(r"\r(?!\n)")  # ends a line only where nothing else does


def _full(text: str) -> list[str]:
    """The lines that are not blank; where a gutter numbers them all, those that hold more than their number."""
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip(" \t")]
    numbers = [_GUTTER.match(line) for line in lines]
    if not lines or not all(numbers):
        return lines
    return [line for line, number in zip(lines, numbers, strict=True) if number and line[number.end() :].strip(" \t")]


_GUTTER: Final = re.compile(r"[ \t]*\d+(?:\t|\xe2\x86\x92|:(?=[ \t]|\Z)| ?(?:\||\xe2\x94\x82))")


def _elements(text: str, brackets: str) -> int:
    """How many elements or members stand in a slice of a container, or lines of JSON; 0 where it is neither."""
    try:
        return len(_DECODER.decode(f"{brackets[0]}{plain(text)}{brackets[1]}"))
    except (ValueError, RecursionError):
        return len(_full(text)) if _twice(_full(text)) is not None else 0


# Objects as their list of pairs, numbers as they are spelled.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=list, parse_int=str, parse_float=str, strict=False)


def _twice(documents: Iterable[str]) -> Counter[str] | None:
    """The keys that stand more than once in an object, with how often; None where one of the texts is no JSON."""
    found = Counter[str]()

    def seen(pairs: list[tuple[str, Any]]) -> None:
        if len(pairs) > 1:
            found.update({key: n - 1 for key, n in Counter(key for key, _ in pairs).items() if n > 1})

    decoder = json.JSONDecoder(object_pairs_hook=seen, parse_int=str, parse_float=str, strict=False)
    try:
        for text in documents:
            decoder.decode(plain(text).removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return found


def _table(part: Part, stand: Stand) -> str | None:
    found = _read_table(part, stand)
    return found.mark if found is not None else None


def _read_table(part: Part, stand: Stand) -> Table | None:
    """The table that the marker's rows are of; of one inside prose, by the lines right above it."""
    text, group = part.document.text, stand.group
    if part.document.format == "code":
        return None  # SQL: between parentheses, not between marks
    head = text[: group.starts[0]]
    if part.document.format != "tabular":
        head = re.split(r"\n[ \t\r]*\n", head[-4096:])[-1]
    first = stand.pieces[0][0]
    return table(plain(head), plain(text[group.starts[first] : group.stops[first]]))


def _units(part: Part, stand: Stand) -> list[Unit]:
    form, noun, group = part.document.format, stand.marker.noun, stand.group
    texts = [plain(part.document.text[group.starts[i] : group.stops[i]]) for i in stand.indices]
    if form in _JSON_FORMATS and (noun in _JSON_NOUNS or texts[0].startswith("{")):
        try:
            made = ToolUnit if form.startswith("toolschema") else JsonUnit
            return [made(t, member=noun == "members") for t in texts]
        except ValueError:
            pass
    if form in ("log", "terminal") and noun == "entries":
        return list(map(LogUnit, texts))
    if form == "test-report" and texts[0].startswith("<"):
        return list(map(TagUnit, texts))
    found = _read_table(part, stand) if noun == "rows" else None
    return list(map(found.unit, texts)) if found is not None else [said_unit(form, noun, t) for t in texts]


def _json_marker(written: str) -> tuple[int, str] | None:
    """Count and facts of a marker that is an element or a member."""
    text = plain(written).strip(" ,")
    try:
        said = json.loads(text if text.startswith("{") else f"{{{text}}}")
    except ValueError:
        return None
    facts = [v for k, v in said.items() if k.endswith("facts")]
    counts = [v for k, v in said.items() if not k.endswith("facts")]
    return (counts[0], "".join(facts)) if len(counts) == 1 and len(facts) < 2 else None


def _sayings(written: str) -> Iterator[str]:
    """What a marker may say: as it stands, as a cell of a Markdown row, as the first cell of a row."""
    yield written
    yield written.replace("\\|", "|")
    for mark in "\t,;|":
        yield next(iter(cells(written.strip("\r\n"), mark)), "")


def _plainly(facts: str) -> str:
    """Facts as an XML comment may have to write them."""
    return re.sub(r"-[ \u2011-]*-", "--", facts).strip()


def _unescaped(literal: str) -> str:
    """Source text between the quotes of a JSON string, decoded; as it is where it is no such thing."""
    try:
        said = json.loads(f'"{raw(literal).decode("utf-8")}"', strict=False)
    except ValueError:
        return literal
    return source(said.encode("utf-8", "surrogatepass"))


def _escaped(text: str) -> str:
    """Source text as it stands between the quotes of a JSON string; bytes that are no UTF-8 as U+FFFD."""
    try:
        decoded = raw(text).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        decoded = plain(text)
    said = json.dumps(decoded, ensure_ascii=False)[1:-1]
    return source(re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m[0]):04x}", said).encode("utf-8"))
