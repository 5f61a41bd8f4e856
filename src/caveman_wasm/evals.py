"""Judges the engine on a folder of files: reduction, exact recovery, probes, needles (``caveman-engine evals run``).

    reduction   1 - tokens(output) / tokens(input), by the engine's own counter
    exact       files whose handle gave back the very bytes (a pass-through counts as exact)
    probes      questions with a known answer: ``visible`` ones need it in the output, ``retrieve`` ones in the view
                that their query gets, or in the output
    needles     tokens that stand once in a file, asked for by other words of their unit: found in the output or view

A probe is one line of JSON: {"file", "kind", "question", "answer", "needs": "visible" | "retrieve", "query"}.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from caveman_wasm import cutting
from caveman_wasm.engine import Engine
from caveman_wasm.errors import InvalidArguments
from caveman_wasm.model import MAX_PAYLOAD, Document, plain, source
from caveman_wasm.store import open_memory
from caveman_wasm.tokens import Counter as TokenCounter
from caveman_wasm.tokens import count_tokens

__all__ = [
    "Miss",
    "Needle",
    "Probe",
    "Row",
    "as_json",
    "by",
    "decoded",
    "evaluate",
    "files",
    "needles",
    "read_probes",
    "summary",
    "table",
]

MOST_NEEDLES: Final = 25  # a file
ASKED: Final = 6  # other words of the unit in a question
COMMON: Final = 20  # times its rarest word may stand in the file: a view shows 20 units at most
LENGTH: Final = (6, 60)  # characters of a token
_TOKEN: Final = re.compile(r"[\w.:@/+-]*[^\W_]")
_WORD: Final = re.compile(r"[^\W_]{2,40}")


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about a file; ``needs`` is "visible" or "retrieve", ``query`` what a retrieve asks with."""

    file: str
    question: str
    answer: str
    needs: str
    query: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Needle:
    """A token that stands once in a file, and a question of other words of its unit."""

    token: str
    query: str


@dataclass(frozen=True, slots=True)
class Miss:
    """What was not found: ``needs`` is "visible", "retrieve" or "needle"."""

    file: str
    needs: str
    query: str
    wanted: str


@dataclass(slots=True)
class Row:
    """One file's figures; pairs are (found, asked); ``views`` are shares of the file's tokens."""

    file: str
    kind: str
    type: str
    method: str
    reason: str | None
    exact: bool
    tokens_before: int
    tokens_after: int
    visible: tuple[int, int] = (0, 0)
    retrieve: tuple[int, int] = (0, 0)
    needles: tuple[int, int] = (0, 0)
    views: list[float] = field(default_factory=list)

    @property
    def reduction(self) -> float:
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0


def files(folder: Path) -> list[Path]:
    """The files below a folder in order, hidden ones, links and those over the engine's limit left out."""
    if not folder.is_dir():
        raise InvalidArguments(f"{folder} is no folder.")
    found = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and p.stat().st_size <= MAX_PAYLOAD)
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(folder).parts))


def read_probes(path: Path) -> dict[str, list[Probe]]:
    """File name → its probes. Raises InvalidArguments with the number of a line that is no probe."""
    probes: dict[str, list[Probe]] = defaultdict(list)
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            try:
                said = json.loads(line)
                probe = Probe(**{name: str(said[name]) for name in Probe.__slots__ if name in said})
            except (ValueError, TypeError, KeyError) as error:
                raise InvalidArguments(f"{path}, line {number}: this is no probe ({type(error).__name__}).") from None
            probes[probe.file].append(probe)
    return probes


def evaluate(
    paths: Iterable[Path],
    probes: dict[str, list[Probe]] | None = None,
    *,
    with_needles: bool = True,
    counter: TokenCounter | None = None,
) -> Iterator[tuple[Row, list[Miss]]]:
    """Each file's figures and what was missed, in order. A store of its own for each file; nothing is kept."""
    for path in paths:
        yield _Trial(path, path.read_bytes(), Engine(open_memory(), counter=counter)).run(
            (probes or {}).get(path.name, ()), with_needles
        )


class _Trial:
    """One file under judgement."""

    def __init__(self, path: Path, data: bytes, engine: Engine) -> None:
        self.path, self.data, self.engine = path, data, engine
        self.made = engine.compress(data)
        self.text = self.made.text
        self.misses: list[Miss] = []
        self.views: list[float] = []

    def run(self, probes: Sequence[Probe], with_needles: bool) -> tuple[Row, list[Miss]]:
        made, handle = self.made, self.made.recovery_handle
        exact = self.engine.retrieve(handle) == self.data if handle else made.output == self.data
        visible = [self._shown(p) for p in probes if p.needs == "visible"]
        asked = [self._found(p.answer, p.query, "retrieve") for p in probes if p.needs != "visible"]
        hidden = needles(self.data, made.content_type) if with_needles and handle else []
        got = [self._found(n.token, n.query, "needle") for n in hidden]
        pairs = ((sum(visible), len(visible)), (sum(asked), len(asked)), (sum(got), len(got)))
        kind = next((p.kind for p in probes if p.kind), "") or _kind(self.path)
        counts = made.tokens_before, made.tokens_after
        row = Row(self.path.name, kind, made.content_type, made.method, made.reason, exact, *counts, *pairs, self.views)
        return row, self.misses

    def _shown(self, probe: Probe) -> bool:
        return probe.answer in self.text or self._missed("visible", probe.question, probe.answer)

    def _found(self, wanted: str, query: str, needs: str) -> bool:
        """Whether ``wanted`` is in the output, or else in the view that ``query`` gets."""
        if wanted in self.text:
            return True
        handle = self.made.recovery_handle
        if handle is None:
            return self._missed(needs, query, wanted)
        view = self.engine.retrieve_query(handle, query)
        tokens = count_tokens(self.engine.counter, view)
        self.views.append(tokens / max(self.made.tokens_before, 1))
        return wanted in decoded(view) or self._missed(needs, query, wanted)

    def _missed(self, needs: str, query: str, wanted: str) -> bool:
        self.misses.append(Miss(self.path.name, needs, query, wanted))
        return False


def _kind(path: Path) -> str:
    """What the file is called before the first dash, else its ending."""
    head, dash, _ = path.name.partition("-")
    return head if dash else path.suffix.removeprefix(".") or "other"


def decoded(data: bytes) -> str:
    """The text of a file or a view: UTF-16 behind its BOM, else UTF-8, the undecodable as U+FFFD."""
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")


# ---------------------------------------------------------------- needles


def needles(data: bytes, content_type: str, most: int = MOST_NEEDLES) -> list[Needle]:
    """Up to ``most`` tokens that stand once in the file, spread evenly over it, each with a question made of the
    rarest other words of the innermost unit that holds it. Tokens whose unit says nothing else that is rare are not
    asked for."""
    text = decoded(data)
    cut = cutting.cut(source(text.encode("utf-8", "replace")), content_type, "")
    if cut is None:
        return []
    tokens = Counter(token for token in _TOKEN.findall(text) if LENGTH[0] <= len(token) <= LENGTH[1])
    units = list(_leaves(cut.document))
    words = Counter(word.lower() for unit in units for word in _WORD.findall(unit))
    found: dict[str, Needle] = {}
    for unit in units:
        for token in _TOKEN.findall(unit):
            if tokens[token] == 1 and token not in found and text.count(token) == 1:
                query = _question(unit, token, words)
                if query:
                    found[token] = Needle(token, query)
                    break  # one a unit
    every = list(found.values())
    return [every[i * len(every) // most] for i in range(most)] if len(every) > most else every


def _leaves(document: Document) -> Iterator[str]:
    """The innermost units, plain text, in order; those of envelopes behind those around them."""
    waiting = [*reversed(document.groups)]
    while waiting:
        group = waiting.pop()
        inside = []
        for i, (start, stop) in enumerate(zip(group.starts, group.stops, strict=True)):
            if i in group.children:
                inside += group.children[i]
            elif stop - start < 8_192:  # a larger one is no unit that can be read alone
                yield plain(document.text[start:stop])
        waiting += reversed(inside)
    for envelope in document.envelopes:
        if envelope.document is not None:
            yield from _leaves(envelope.document)


def _question(unit: str, token: str, words: Counter[str]) -> str:
    """The rarest other words of the unit, in its order; '' where none tells this unit from most others."""
    mine = {word.lower() for word in _WORD.findall(token)}
    others = dict.fromkeys(word.lower() for word in _WORD.findall(unit.replace(token, " ")))
    others = {word: None for word in others if word not in mine and not word.isdigit()}
    rare = sorted(others, key=lambda word: (words[word], list(others).index(word)))[:ASKED]
    if len(rare) < 2 or words[rare[0]] > COMMON:
        return ""
    return " ".join(word for word in others if word in rare)


# ---------------------------------------------------------------- figures


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Figures over files; ``reduction`` of all their tokens, ``mean`` of the files' reductions."""
    before, after = sum(r.tokens_before for r in rows), sum(r.tokens_after for r in rows)
    views = [v for r in rows for v in r.views]
    return {
        "files": len(rows),
        "tokens_before": before,
        "tokens_after": after,
        "reduction": 1 - after / before if before else 0.0,
        "mean": mean(r.reduction for r in rows) if rows else 0.0,
        "exact": sum(r.exact for r in rows),
        **{
            name: [sum(getattr(r, name)[i] for r in rows) for i in (0, 1)]
            for name in ("visible", "retrieve", "needles")
        },
        "view": median(views) if views else None,
    }


def by(rows: Sequence[Row], name: str) -> dict[str, dict[str, Any]]:
    """Summaries by a field of the rows, in order of its values."""
    values = sorted({getattr(r, name) for r in rows})
    return {value: summary([r for r in rows if getattr(r, name) == value]) for value in values}


def as_json(rows: Sequence[Row], misses: Sequence[Miss], counter: str) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "counter": counter,
        "basis": "inferred",
        "all": summary(rows),
        "by_kind": by(rows, "kind"),
        "by_type": by(rows, "type"),
        "files": [asdict(r) | {"reduction": r.reduction} for r in rows],
        "missed": [asdict(m) for m in misses],
    }


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Lines for people: by kind, by type, all."""
    heads = ("visible", "retrieve", "needles")
    yield f"{'':18} files reduction   mean     exact{''.join(f' {h:>9}' for h in heads)}   view"
    for title, groups in (("kind", by(rows, "kind")), ("type", by(rows, "type"))):
        for value, said in groups.items():
            yield _line(f"{title} {value}", said)
    yield _line("all", summary(rows))


def _line(label: str, said: dict[str, Any]) -> str:
    pairs = "".join(f" {f'{a}/{b}' if b else '-':>9}" for a, b in (said["visible"], said["retrieve"], said["needles"]))
    view = "-" if said["view"] is None else f"{said['view']:.1%}"
    exact = f"{said['exact']}/{said['files']}"
    return (
        f"{label[:18]:18} {said['files']:>5} {said['reduction']:>9.1%} {said['mean']:>6.1%} {exact:>9}{pairs} {view:>6}"
    )
