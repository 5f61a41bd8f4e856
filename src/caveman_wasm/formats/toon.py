"""TOON (forced only): the same JSON value in Token-Oriented Object Notation, by the official library `toon_format`.

The library is optional (`pip install caveman-wasm[toon]`) and imported on use. What it writes is used only where
reading it gives the value back: types, numbers, key order. It has no units, so nothing is left out.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final

from caveman_wasm.formats.json_records import depth_ok
from caveman_wasm.markers import REFERENCE_KEY
from caveman_wasm.model import Document, Group, Rewritten, raw, source

__all__ = ["TOON", "encoded"]


class Toon:
    name = "toon"
    keep = 1.0
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        """None: the new text has no slices of the old one to lead back to, so `split` makes it."""
        return None

    def split(self, text: str) -> Document | None:
        """A document of the TOON text, without groups; None where there is no library or no exact way back."""
        toon = encoded(text)
        return Document(toon, self.name, [], len(toon), newline="") if toon else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return sentence

    def reference(self, sentence: str, document: Document) -> str:
        """A last key of the outermost object; a bare line below an array."""
        if document.text.startswith("["):
            return f"\n{sentence}\n"
        key = REFERENCE_KEY
        while key in document.text:
            key += "_"
        return f'\n{key}: "{sentence}"\n'


def encoded(text: str) -> str | None:
    """The JSON document ``text`` as TOON, both source text; None where TOON would not give its value back."""
    try:
        from toon_format import decode, encode
    except ImportError:
        return None
    if not depth_ok(text):
        return None
    try:
        value = json.loads(
            raw(text).decode("utf-8"), object_pairs_hook=_object, parse_float=_float, parse_constant=_none
        )
        toon = encode(value)
        same = isinstance(value, (dict, list)) and _spelled(decode(toon)) == _spelled(value)
        return source(toon.encode("utf-8")) if same else None
    except (ValueError, RecursionError, OverflowError):  # ToonDecodeError and UnicodeError are ValueErrors
        return None


def _spelled(value: Any) -> str:
    """A value as text in which 1 and 1.0, 0 and -0.0, and another order of keys differ."""
    return json.dumps(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _float(spelling: str) -> float:
    number = float(spelling)
    if Decimal(repr(number)) != Decimal(spelling):
        raise ValueError("no float has this value")
    return number


def _none(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


TOON: Final = Toon()
