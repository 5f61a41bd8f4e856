"""The contract of a format, and the one join (join: see the end of this file).

A format knows how to cut a payload into whole units and how to write a marker and a reference in the payload's
own syntax. Choosing, counting, facts, budgets and narrowing are the core's.
"""

from __future__ import annotations

from typing import Protocol

from caveman_wasm.model import Document, Group, Rewritten

__all__ = ["Format"]


class Format(Protocol):
    """One kind of payload.

    ``name`` is the content type. ``keep`` is the share of the payload's bytes that the shortened text aims
    at (SELECTION). ``version`` goes into a record's metadata: bump it when the same input gives other bytes.
    """

    name: str
    keep: float
    version: int

    def rewrite(self, text: str) -> Rewritten | None:
        """The text to cut in place of the payload's, or None to cut the payload itself."""
        ...

    def split(self, text: str) -> Document | None:
        """Cut source text into units; None when the text is not of this format after all (not_parseable).

        Linear in the text, never recursing without a limit.
        """
        ...

    def marker(self, sentence: str, count: int, facts: str, group: Group) -> str:
        """Source text that takes the place of a run. ``sentence`` is the finished wording for text formats
        (``… 12 rows elided (L40–52): all status=ok …``); formats with a syntax of their own use count and facts.
        """
        ...

    def reference(self, sentence: str, document: Document) -> str:
        """Source text that goes in at ``document.close_at``, with whatever separator it needs."""
        ...
