"""Invented lists of tools, as an MCP server and as an API take them."""

from __future__ import annotations

import json
from collections.abc import Iterator

VERBS = "list get create update delete search export import watch approve reject archive".split()  # noqa: SIM905


def tools() -> list[dict[str, object]]:
    return [
        {
            "name": f"{verb}_{noun}",
            "title": f"{verb.title()} {noun}",
            "description": f"{verb.title()} {noun} of the shop. Works on one shop at a time, the one that is signed in.\nYou must pass a shop_id.",
            "inputSchema": {
                "type": "object",
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {
                    "shop_id": {"type": "string", "description": "Names the shop, as it stands in its address."},
                    "title": {"type": "string", "title": "Title", "description": "Only what contains these words."},
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 100,
                        "default": 20,
                        "description": "How many to return. At most 100.",
                    },
                    "order": {
                        "enum": ["newest", "oldest", "name"],
                        "description": "In which order the answers come.",
                        "examples": ["newest"],
                    },
                },
                "required": ["shop_id"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": verb in ("list", "get", "search")},
        }
        for noun in ("orders", "customers")
        for verb in VERBS
    ]


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield (
        "toolschema",
        "mcp_pretty",
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools()}}, indent=2).encode(),
        {},
    )
    calls = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["inputSchema"]},
        }
        for t in tools()
    ]
    yield "toolschema", "functions", json.dumps(calls).encode(), {}
    yield "toolschema", "mcp_ceiling", json.dumps({"tools": tools()}, indent=1).encode(), {"max_tokens": 900}
    yield (
        "toolschema",
        "mcp_query",
        json.dumps({"tools": tools()}).encode(),
        {"query": "approve orders", "max_tokens": 900},
    )
