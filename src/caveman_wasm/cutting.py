"""A payload cut by its format, its envelopes opened, everything in order: ready to be joined at any length.

Imported on first use: a command that only retrieves needs no format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from caveman_wasm import markers
from caveman_wasm.detect import candidates, detect
from caveman_wasm.facts import facts
from caveman_wasm.formats import FORMATS
from caveman_wasm.formats.base import Joined, join
from caveman_wasm.formats.base64_string import is_base64
from caveman_wasm.formats.wrappers import put_back, unwrapped
from caveman_wasm.model import Document, Rewritten, Run, ShownUnit
from caveman_wasm.narrow import narrow
from caveman_wasm.select import Order, budget, left_out, order

__all__ = ["FORMATS", "Cut", "cut", "detected", "view"]

_TEXT_OF = {"html": "text of an HTML page", "terminal": "text of terminal output"}  # views say what they are parts of


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A document, the order of its units, and how many places of it the normal result keeps."""

    document: Document
    order: Order
    places: int


@dataclass(frozen=True, slots=True)
class Cut:
    """``document`` and, in ``parts``, it and its envelopes' documents in order."""

    document: Document
    parts: list[_Ordered]

    def joined(self, share: float, handle: str | None, most_facts: int | None = None) -> Joined:
        """The text in which ``share`` (0 to 1) of each document's normal places stay, closing with ``handle``'s
        reference, or with none. A marker's facts take ``most_facts`` bytes at most."""
        runs = {id(p.document): left_out(p.order, int(p.places * share)) for p in self.parts}
        form = FORMATS[self.document.format]

        def reference(markers_made: int, units: int) -> str:
            assert handle is not None
            return form.reference(markers.reference(handle, markers_made, units), self.document)

        def inner(document: Document) -> Sequence[Run]:
            return runs.get(id(document), ())

        closing: Callable[[int, int], str] | None = reference if handle is not None else None
        return join(
            self.document, runs[id(self.document)], FORMATS.__getitem__, inner, closing, partial(facts, most=most_facts)
        )


def cut(text: str, kind: str, query: str) -> Cut | None:
    """Source text cut by the format ``kind``; None when it is not of this format after all."""
    document = _split(text, kind)
    return None if document is None else _cut(document, text, query)


def detected(text: str, query: str) -> tuple[str, Cut | None]:
    """Source text cut by the first format that holds for it and does not refuse it, and that format's name.

    Where none takes it (binary, JSON nested too deep), None and the name of the first that held.
    """
    kind, document = _taken(text)
    return kind, None if document is None else _cut(document, text, query)


def _cut(document: Document, text: str, query: str) -> Cut:
    _open(document)
    inner = [e for e in document.envelopes if e.document is not None]
    outside = len(text) - sum(e.stop - e.start for e in document.envelopes)
    parts = [_in_order(document, max(outside, 0), query)]
    parts += [_in_order(e.document, len(e.text), query) for e in inner if e.document is not None]
    return Cut(document, parts)


def view(text: str, query: str, handle: str) -> tuple[str, tuple[ShownUnit, ...]] | None:
    """The part of source text that answers ``query``, and its units; None when there is none, or none smaller."""
    kind, document = _taken(text, narrowing=True)
    if document is None:
        return None
    _open(document, narrowing=True)
    return narrow(document, query, markers.view(handle), original=text, origin=_TEXT_OF.get(kind))


def _open(document: Document, narrowing: bool = False) -> None:
    """Cut each envelope by what its content is; one that no format takes stays closed."""
    for envelope in document.envelopes:
        if is_base64(envelope.text):
            envelope.document = _split(envelope.text, "base64", narrowing)
        else:
            envelope.document = _taken(envelope.text, narrowing)[1]


def _taken(text: str, narrowing: bool = False) -> tuple[str, Document | None]:
    """The first type that holds and whose format takes the text; else the first that holds, and None."""
    kinds = []
    for kind in candidates(text):
        document = _split(text, kind, narrowing) if kind in FORMATS else None
        if document is not None:
            return kind, document
        kinds.append(kind)
    return kinds[0], None


def _split(text: str, kind: str, narrowing: bool = False) -> Document | None:
    wrapped = unwrapped(text)
    if wrapped is not None:
        document = _split(wrapped.text, kind, narrowing)
        return None if document is None else put_back(document, wrapped, text)
    form = FORMATS[kind]
    rewritten = None if narrowing and kind == "diff" else form.rewrite(text)
    if kind == "terminal" and rewritten is not None:
        return _as_it_looks(rewritten, narrowing)
    document = form.split(rewritten.text if rewritten else text)
    if document is not None and rewritten is not None:
        document.origin = rewritten
    return document


def _as_it_looks(shown: Rewritten, narrowing: bool) -> Document | None:
    """What a terminal showed, cut by the format it looks like, else by lines."""
    from caveman_wasm.formats.terminal import TERMINAL, redrawn

    kind = detect(shown.text)
    document = _split(shown.text, kind, narrowing) if kind in TERMINAL.inside and kind in FORMATS else None
    document = document or TERMINAL.split(shown.text)
    if document is not None:
        document.origin = redrawn(shown, document.origin)
        document.keep = None if document.format in TERMINAL.own else TERMINAL.keep
    return document


def _in_order(document: Document, size: int, query: str) -> _Ordered:
    ordered = order(document, query)
    keep = FORMATS[document.format].keep if document.keep is None else document.keep
    places = ordered.prefix(budget(size, keep))
    if document.target is not None:  # an outline whose leaves have less room than others'
        places = max(min(places, ordered.outlined), ordered.prefix(document.target))
    return _Ordered(document, ordered, places)
