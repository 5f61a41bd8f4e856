"""The only registry: content type → format, imported when it is first asked for.

A type that is not in it passes through as ``unknown_type``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Final

from caveman_wasm.formats.base import Format

__all__ = ["FORMATS"]

_PLACES: Final = {  # name: (module, object)
    "a11y": ("a11y", "A11Y"),
    "base64": ("base64_string", "BASE64"),
    "code": ("code", "CODE"),
    "config": ("config", "CONFIG"),
    "diff": ("diff", "DIFF"),
    "html": ("html", "HTML"),
    "json": ("json_records", "JSON"),
    "log": ("log", "LOG"),
    "repetition": ("repetition", "REPETITION"),
    "search-result": ("search_result", "SEARCH_RESULT"),
    "tabular": ("tabular", "TABULAR"),
    "terminal": ("terminal", "TERMINAL"),
    "test-report": ("test_report", "TEST_REPORT"),
    "text": ("text", "TEXT"),
    "toolschema": ("tool_schema", "TOOL_SCHEMA"),
    "toolschema-annotations": ("tool_schema", "TOOL_SCHEMA_ANNOTATIONS"),
    "toon": ("toon", "TOON"),
}


@cache
def _loaded(name: str) -> Format:
    module, instance = _PLACES[name]
    form: Format = getattr(import_module(f"caveman_wasm.formats.{module}"), instance)
    return form


class _Registry(Mapping[str, Format]):
    """A format's patterns cost a cold start some ten milliseconds: most payloads need those of one or two."""

    def __getitem__(self, name: str) -> Format:
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)

    def __contains__(self, name: object) -> bool:
        return name in _PLACES


FORMATS: Final[Mapping[str, Format]] = _Registry()
