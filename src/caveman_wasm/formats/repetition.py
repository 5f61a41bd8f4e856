"""Repetition (forced only): a run of equal adjacent lines once, with how many more there were. Nothing else goes."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from caveman_wasm.model import Document, Group, Rewritten, line_starts

__all__ = ["REPETITION"]


class Repetition:
    name = "repetition"
    keep = 0.0  # every repeat goes (`target`)
    version = 1

    def rewrite(self, text: str) -> Rewritten | None:
        return None

    def split(self, text: str) -> Document | None:
        """One group a run, of the lines that equal the one above; None where no line does."""
        newline = "\n" if "\n" in text or "\r" not in text else "\r"
        lines = text.split(newline)
        starts = line_starts(lines)
        lines = lines[:-1] if not lines[-1] else lines  # behind the last line end there is no line
        groups: list[Group] = []
        for equal, same in groupby(range(len(lines)), lambda i: i > 0 and lines[i] == lines[i - 1]):
            if equal:
                run = list(same)
                begins = [starts[i] for i in run]
                ends = [starts[i] + len(lines[i].removesuffix("\r")) for i in run]
                groups.append(Group(begins, ends, "outline", "lines"))
        return Document(text, self.name, groups, len(text), newline=newline, target=0) if groups else None

    def marker(self, sentence: str, count: int, facts: str, group: Group, document: Document) -> str:
        said = "all equal to" if count > 1 else "equal to"
        return f"{sentence.removesuffix(_ELLIPSIS)}: {said} the line above{_ELLIPSIS}"

    def reference(self, sentence: str, document: Document) -> str:
        newline = "\r\n" if "\r\n" in document.text[:4096] else document.newline
        return ("" if document.text.endswith(("\n", "\r")) else newline) + sentence + newline


_ELLIPSIS: Final = " \xe2\x80\xa6"  # UTF-8 as source text


REPETITION: Final = Repetition()
