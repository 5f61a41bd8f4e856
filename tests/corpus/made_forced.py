"""Cases of the formats that are never detected. (`toon` is not among them: its library is not everywhere.)"""

from __future__ import annotations

import json
from collections.abc import Iterator

from corpus.made_tool_schema import tools


def repeated(end: str) -> str:
    lines = [
        x
        for i in range(12)
        for x in [f"step {i} of the migration begins now", *["waiting for the lock to be released"] * (4 * i)]
    ]
    return end.join(lines) + end


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield (
        "toolschema-annotations",
        "mcp_pretty",
        json.dumps({"tools": tools()}, indent=2).encode(),
        {"content_type": "toolschema-annotations"},
    )
    yield (
        "toolschema-annotations",
        "mcp_dense",
        json.dumps(tools()).encode(),
        {"content_type": "toolschema-annotations"},
    )
    yield "repetition", "waiting", repeated("\n").encode(), {"content_type": "repetition"}
    yield (
        "repetition",
        "waiting_crlf_ceiling",
        repeated("\r\n").encode(),
        {"content_type": "repetition", "max_tokens": 400},
    )
