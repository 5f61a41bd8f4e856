"""A long base64 string inside JSON: says its size and media type in its own place. Never detected on its own."""

from __future__ import annotations

import re
from typing import Final

from caveman_wasm.model import Document, Group, Rewritten

__all__ = ["BASE64", "is_base64"]

_BODY: Final = re.compile(r"(?:data:([a-z]+/[a-z0-9.+-]+)[^,\s]{0,100},)?[A-Za-z0-9+/_=\-\r\n]+", re.ASCII)
# First characters of the encoded form of what carries a signature (RFC 2045 fixes the alphabet, so they are stable).
_SIGNATURES: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi0", "application/pdf"),
    ("UEsDB", "application/zip"),
    ("H4sI", "application/gzip"),
    ("MII", "application/pkix-cert"),
)


def is_base64(text: str) -> bool:
    """Whether all of ``text`` is base64 or a data URL: the alphabet alone, digits and both cases, no words."""
    head = text[:4096]
    mixed = any(c.isdigit() for c in head) and head.lower() != head and head.upper() != head
    return mixed and " " not in head and _BODY.fullmatch(text) is not None and _unbroken(text)


def _unbroken(text: str) -> bool:
    """Lines as long as encoders make them (76 or 64), not a list of names or paths."""
    return "\n" not in text[:60] and text[:300].count("/") + text[:300].count("-") < 30


class Base64:
    name = "base64"
    keep = 0.0
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        group = Group([0], [len(text)], "tree", "base64 strings", heading=self._media_type(text))
        return Document(text, self.name, [group], len(text), newline="")

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        return f"[caveman: base64 elided, {group.stops[-1] - group.starts[0]} characters, {group.heading}]"

    def reference(self, sentence: str, document: Document) -> str:
        return ""

    def _media_type(self, text: str) -> str:
        declared = re.match(r"data:([a-z]+/[a-z0-9.+-]+)", text)
        if declared:
            return declared[1]
        return next((kind for start, kind in _SIGNATURES if text.startswith(start)), "media type unknown")


BASE64 = Base64()
