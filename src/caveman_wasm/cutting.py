"""A payload cut by its format, its envelopes opened, everything in order: ready to be joined at any length.

Imported on first use: a command that only retrieves needs no format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from caveman_wasm import markers
from caveman_wasm.detect import detect
from caveman_wasm.facts import facts
from caveman_wasm.formats import FORMATS
from caveman_wasm.formats.base import Joined, join
from caveman_wasm.formats.base64_string import is_base64
from caveman_wasm.formats.wrappers import put_back, unwrapped
from caveman_wasm.model import Document, Rewritten, Run
from caveman_wasm.narrow import narrow
from caveman_wasm.select import Order, budget, left_out, order

__all__ = ["FORMATS", "Cut", "cut", "view"]

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
    document = _opened(text, kind)
    if document is None:
        return None
    inner = [e for e in document.envelopes if e.document is not None]
    outside = len(text) - sum(e.stop - e.start for e in document.envelopes)
    parts = [_in_order(document, max(outside, 0), query)]
    parts += [_in_order(e.document, len(e.text), query) for e in inner if e.document is not None]
    return Cut(document, parts)


def view(text: str, query: str, handle: str) -> str | None:
    """The part of source text that answers ``query``; None when there is none, or none that is smaller."""
    kind = detect(text)
    document = _opened(text, kind, narrowing=True) if kind in FORMATS else None
    return None if document is None else narrow(document, query, markers.view(handle), origin=_TEXT_OF.get(kind))


def _opened(text: str, kind: str, narrowing: bool = False) -> Document | None:
    """The document, each envelope in it cut by what its content is; one that is of no known format stays closed."""
    document = _split(text, kind, narrowing)
    for envelope in document.envelopes if document is not None else ():
        inside = "base64" if is_base64(envelope.text) else detect(envelope.text)
        envelope.document = _split(envelope.text, inside, narrowing) if inside in FORMATS else None
    return document


def _split(text: str, kind: str, narrowing: bool = False) -> Document | None:
    wrapped = unwrapped(text)
    if wrapped is not None:
        document = _split(wrapped.text, kind, narrowing)
        return None if document is None else put_back(document, wrapped, text)
    form = FORMATS[kind]
    rewritten = None if narrowing and kind == "diff" else form.rewrite(text)
    if kind == "terminal" and rewritten is not None:
        return _as_it_looks(rewritten)
    document = form.split(rewritten.text if rewritten else text)
    if document is not None and rewritten is not None:
        document.origin = rewritten
    return document


def _as_it_looks(shown: Rewritten) -> Document | None:
    """What a terminal showed, cut by the format it looks like, else by lines."""
    from caveman_wasm.formats.terminal import TERMINAL, redrawn

    kind = detect(shown.text)
    document = _split(shown.text, kind) if kind in TERMINAL.inside and kind in FORMATS else None
    document = document or TERMINAL.split(shown.text)
    if document is not None:
        document.origin = redrawn(shown, document.origin)
        document.keep = None if document.format in TERMINAL.own else TERMINAL.keep
    return document


def _in_order(document: Document, size: int, query: str) -> _Ordered:
    ordered = order(document, query)
    keep = FORMATS[document.format].keep if document.keep is None else document.keep
    return _Ordered(
        document, ordered, ordered.prefix(budget(size, keep) if document.target is None else document.target)
    )
