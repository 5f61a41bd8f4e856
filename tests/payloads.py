"""Payloads that the native, the Node and the Chromium suite share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Golden:
    """One golden case: ``options`` are compress's keyword arguments, ``expected`` its output, byte for byte."""

    name: str
    payload: bytes
    expected: bytes
    options: dict[str, Any]


def golden_cases() -> list[Golden]:
    """Every ``corpus/FORMAT/NAME.in`` with its ``.out`` and, where there are options, its ``.json``."""
    return [_golden(path) for path in sorted(CORPUS.glob("*/*.in"))]


def _golden(path: Path) -> Golden:
    options = path.with_suffix(".json")
    return Golden(
        name=f"{path.parent.name}/{path.stem}",
        payload=path.read_bytes(),
        expected=path.with_suffix(".out").read_bytes(),
        options=json.loads(options.read_bytes()) if options.exists() else {},
    )


def log(middle: bytes = b"", newline: bytes = b"\n", lines: int = 300) -> bytes:
    """A log that every compressor shortens, with ``middle`` in each third line."""
    return newline.join(
        b"2026-03-14T09:%02d:%02d INFO  http GET /cart 200 %s" % (i // 60, i % 60, b"" if i % 3 else middle)
        for i in range(lines)
    )


# What gets lost on the way through strings: each is shortened, so that the bytes come back from the store.
HARD = {
    "invalid UTF-8": log(b"\xff\xfe \xc3 \x80"),
    "a NUL": log(b"a\x00b"),
    "a BOM": b"\xef\xbb\xbf" + log(),
    "CRLF": log(newline=b"\r\n"),
    "lone surrogates": log("\ud800 and \udfff".encode("utf-8", "surrogatepass")),
    "characters beyond the BMP": log("😀 名前".encode()),
    "UTF-16 behind a BOM": b"\xff\xfe" + log("名前".encode()).decode().encode("utf-16-le"),
    "a special token": log(b"<|endoftext|>"),
}
