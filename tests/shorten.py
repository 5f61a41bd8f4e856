"""Shortens a payload by one format, without engine, store or counter, and checks what came out against the payload.

What `verified` holds: the markers' spans are exactly what is missing, what stays are slices, counts add up, and every
fact is true by `fact_checker`, which shares nothing with facts.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fact_checker import JsonUnit, LogUnit, Unit, check

from caveman_wasm.formats.base import Format, Joined, join
from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.log import LOG
from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.markers import reference
from caveman_wasm.model import Document, Group, Marker, Run, plain, source
from caveman_wasm.select import Order, budget, left_out, order

__all__ = [
    "Shortened",
    "cut",
    "json_text",
    "log_text",
    "rows",
    "seconds",
    "shorten",
    "table",
    "verified",
    "within",
]

HANDLE = "ccr_" + "0" * 32


@dataclass
class Shortened:
    """``text`` is source text; ``document`` what it was made of; ``runs`` what was left out."""

    document: Document
    order: Order
    runs: Sequence[Run]
    joined: Joined
    form: Format

    @property
    def text(self) -> str:
        return "".join(self.joined.pieces)

    @property
    def markers(self) -> list[Marker]:
        return self.joined.markers


def cut(form: Format, payload: bytes | str) -> Document | None:
    text = source(payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else payload)
    rewritten = form.rewrite(text)
    document = form.split(rewritten.text if rewritten else text)
    if document is not None:
        document.origin = rewritten
    return document


def table(text: str) -> Document:
    document = cut(TABULAR, text)
    assert document is not None
    return document


def rows(document: Document) -> list[str]:
    return [plain(document.text[a:b]) for g in document.groups for a, b in zip(g.starts, g.stops, strict=True)]


def shorten(form: Format, payload: bytes | str, *, query: str = "", places: int | None = None) -> Shortened:
    """``places``: how many of the order stay; None: as many as the normal budget holds."""
    document = cut(form, payload)
    assert document is not None, "not of this format"
    ordered = order(document, query)
    kept = ordered.prefix(budget(len(document.text), form.keep)) if places is None else places
    runs = left_out(ordered, kept)

    def closing(markers: int, units: int) -> str:
        return form.reference(reference(HANDLE, markers, units), document)

    joined = join(document, runs, {form.name: form}.__getitem__, lambda _: (), closing)
    return Shortened(document, ordered, runs, joined, form)


def verified(made: Shortened) -> Shortened:
    """``made``, after all of it was checked."""
    document, text = made.document, made.text
    runs = {(r.group.starts[r.pieces[0][0]], r.group.stops[r.pieces[-1][1] - 1]): r for r in made.runs}
    assert len(runs) == len(made.markers)
    back = document.origin.back if document.origin else int
    slices = []
    for marker in made.markers:
        run = next(r for r in runs.values() if r.group.noun == marker.noun and _spans(r, back) == marker.spans)
        assert marker.count == sum(b - a for a, b in run.pieces) > 0
        replaced = sum(run.group.stops[b - 1] - run.group.starts[a] for a, b in run.pieces)
        units = [_unit(made.form, run.group, document.text, i) for a, b in run.pieces for i in range(a, b)]
        complaints = check(marker.facts, units, replaced)
        assert not complaints, (complaints, [u.text[:200] for u in units[:5]])
        written = text[marker.start : marker.stop]
        assert str(marker.count) in written
        slices.append(written)
    assert text == _rebuilt(made, slices)
    return made


def _spans(run: Run, back: Callable[[int], int]) -> tuple[tuple[int, int], ...]:
    group = run.group
    return tuple((back(group.starts[a]), back(group.stops[b - 1])) for a, b in run.pieces)


def _unit(form: Format, group: Group, text: str, i: int) -> Unit:
    said = plain(text[group.starts[i] : group.stops[i]])
    if form is JSON:
        return JsonUnit(said, member=group.noun == "members")
    return LogUnit(said)


def _rebuilt(made: Shortened, written: Sequence[str]) -> str:
    """The document with every run cut out of it and ``written`` in its place, made piece by piece from its end."""
    document = made.document
    text = document.text
    close = made.form.reference(reference(HANDLE, len(written), sum(m.count for m in made.markers)), document)
    cuts = [(document.close_at, document.close_at, close)]
    ordered = sorted(made.runs, key=_place)
    for run, said in zip(ordered, written, strict=True):
        group = run.group
        for k, (first, last) in enumerate(run.pieces):
            if group.markers == "apart":
                cuts.append((group.starts[first], group.stops[last - 1], ""))
            elif group.markers == "end":
                start = group.stops[first - 1] if first else group.starts[0]
                cuts.append((start, group.stops[last - 1], ""))
            elif k == 0:
                cuts.append((group.starts[first], group.stops[last - 1], said))
            else:
                cuts.append((group.stops[first - 1], group.stops[last - 1], ""))
        if group.markers == "end":
            cuts.append((group.stops[-1], group.stops[-1], said))
        if group.markers == "apart":
            cuts.append((group.marker_at, group.marker_at, said))
    for start, stop, said in sorted(cuts, key=lambda c: (c[0], c[1]), reverse=True):
        text = text[:start] + said + text[stop:]
    return text


def _place(run: Run) -> tuple[int, int]:
    if run.group.markers == "apart":
        return run.group.marker_at, 1
    if run.group.markers == "end":
        return run.group.stops[-1], 1
    return run.group.starts[run.pieces[0][0]], 0


def within(groups: Sequence[Group], start: int, stop: int) -> None:
    """Units are in order, apart, and inside of ``start`` to ``stop``; their children inside of them."""
    at = start
    for group in groups:
        for i, (a, b) in enumerate(zip(group.starts, group.stops, strict=True)):
            assert at <= a <= b <= stop
            within(group.children.get(i, []), a, b)
            at = b


def json_text(payload: bytes | str, **options: object) -> Shortened:
    return verified(shorten(JSON, payload, **options))  # type: ignore[arg-type]


def log_text(payload: bytes | str, **options: object) -> Shortened:
    return verified(shorten(LOG, payload, **options))  # type: ignore[arg-type]


def seconds(form: Format, payload: str) -> float:
    """Processor time of cutting and shortening ``payload`` by ``form``, the best of three."""
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        if cut(form, payload) is not None:
            assert shorten(form, payload).joined.size
        best = min(best, time.process_time() - begun)
    return best
