"""The table of formats for people and programs (``caveman-engine registry``): what each is, and how it is undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from caveman_wasm.formats import FORMATS

__all__ = ["Row", "registry"]


@dataclass(frozen=True, slots=True)
class Row:
    """One format. ``safety`` is a class of SPEC 4: S2 keeps the value, S4 alters what the model sees and runs only
    with a store. ``chosen``: "detected", "forced" (only when asked for), or "inside" (only within another payload).
    ``recovery``: how the original comes back. ``version`` stands in the metadata of records it made."""

    type: str
    safety: str
    recovery: str
    version: int
    chosen: str
    units: str


# Classes other than S4, choices other than "detected", and what each format's units are in words.
_SAFETY: Final = {"toon": "S2", "repetition": "S2"}
_CHOSEN: Final = {"toolschema-annotations": "forced", "toon": "forced", "repetition": "forced", "base64": "inside"}
_UNITS: Final = {
    "a11y": "nodes of an accessibility tree, rows of its tables",
    "base64": "one string, by its size and media type",
    "code": "bodies of definitions, blocks, rows of SQL",
    "config": "blocks and values under their key paths",
    "diff": "hunks, lines of long ones, files of generated ones",
    "html": "blocks of the page's text, sentences, parts that are no content",
    "json": "elements of arrays, members of objects, records of JSON lines",
    "log": "entries with their continuation lines",
    "repetition": "lines equal to the one above",
    "search-result": "hits by file, entries by directory, results",
    "tabular": "rows",
    "terminal": "lines of the redrawn text, or what it looks like",
    "test-report": "cases and suites, lines of their output",
    "text": "sections, paragraphs, sentences, list items, lines of code fences",
    "toolschema": "descriptions of tools and parameters",
    "toolschema-annotations": "annotation keys (title, examples, $comment, $schema)",
    "toon": "none: the same value in another notation",
}


def registry() -> list[Row]:
    """The formats that exist, in the order of their names."""
    return [
        Row(
            name,
            _SAFETY.get(name, "S4"),
            "with its document" if _CHOSEN.get(name) == "inside" else "handle",
            form.version,
            _CHOSEN.get(name, "detected"),
            _UNITS.get(name, "units of its own"),
        )
        for name, form in sorted(FORMATS.items())
    ]
