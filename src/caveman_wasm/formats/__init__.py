"""The only registry: content type → format. A type that is not in it passes through as ``unknown_type``."""

from __future__ import annotations

from typing import Final

from caveman_wasm.formats.base import Format
from caveman_wasm.formats.base64_string import BASE64
from caveman_wasm.formats.json_records import JSON
from caveman_wasm.formats.log import LOG
from caveman_wasm.formats.tabular import TABULAR
from caveman_wasm.formats.text import TEXT

__all__ = ["FORMATS"]

FORMATS: Final[dict[str, Format]] = {f.name: f for f in (JSON, LOG, TABULAR, TEXT, BASE64)}
