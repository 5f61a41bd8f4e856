"""Golden conversations, one a message shape: `python tests/conversations/make.py` writes them.

Each file has ``messages``, ``tools``, ``exempt`` and ``compressed``, what becomes of the messages; and under ``cases``
other options, with the indices of the messages that change then, to what they are in ``compressed``. The native, the
Node and the Chromium suite read the same files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from caveman_wasm import Engine, open_memory
from caveman_wasm.messages import compress_messages

HERE = Path(__file__).parent
TOOLS = ["read_log", "list_orders", "read_file", "caveman_retrieve"]
EXEMPT = ["read_file"]


def log(lines: int) -> str:
    return "".join(
        f"2026-03-01 04:{10 + at // 6:02}:{at % 6}0 {'ERROR' if at == 71 else 'INFO'} payment: order {4000 + at} "
        f"{'failed' if at == 71 else 'was verified'} in {90 + at % 17} ms\n"
        for at in range(lines)
    )


LOG = log(120)
ORDERS = [{"id": 4000 + at, "state": "open" if at % 9 == 4 else "paid", "total": 10.5 + at} for at in range(60)]
SOURCE = "".join(f"value_{at} = compute(value_{at - 1})  # step {at}\n" for at in range(1, 90))
SHORTENED = Engine(open_memory()).compress(log(480) + "of an earlier run\n").text
# As long as what is shortened of other tools.
UNKNOWN = "cave_unknown_handle: ccr_00000000000000000000000000000000 is not here; do not retry. Seen so far:\n" + LOG

# (id, tool, what it gave): a str, or a value that JSON has
CALLS: list[tuple[str, str, Any]] = [
    ("c1", "read_log", LOG),
    ("c2", "read_file", SOURCE),
    ("c3", "list_orders", ORDERS),
    ("c4", "caveman_retrieve", LOG),
    ("c5", "mcp__caveman__caveman_retrieve", UNKNOWN),  # an error
    ("c6", "read_log", "no entries"),
    ("c7", "read_log", SHORTENED),
    ("c8", "read_log", LOG),
]
ASKED = "Why did a payment fail? This is what I saw:\n" + LOG


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def openai() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": LOG}, {"role": "user", "content": ASKED}]
    for id, tool, gave in CALLS:
        called = {"id": id, "type": "function", "function": {"name": tool, "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [called]})
        parts = [{"type": "text", "text": _text(gave)}, {"type": "text", "text": "(end)"}]
        messages.append({"role": "tool", "tool_call_id": id, "content": parts if id == "c8" else _text(gave)})
    messages.append({"role": "tool", "tool_call_id": "of a call that was cut off", "content": LOG})
    return [*messages, {"role": "assistant", "content": LOG}]


def responses() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "input_text", "text": ASKED}]}]
    for id, tool, gave in CALLS:
        items.append({"type": "function_call", "call_id": id, "name": tool, "arguments": "{}"})
        items.append({"type": "function_call_output", "call_id": id, "output": _text(gave)})
    return items


def anthropic() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": ASKED}]
    for id, tool, gave in CALLS:
        messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool, "input": {}}]})
        content = [{"type": "text", "text": _text(gave)}] if id in ("c1", "c4") else _text(gave)
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": content}
        result |= {"is_error": True} if id in ("c5", "c8") else {}
        cached = {"cache_control": {"type": "ephemeral"}}
        messages.append({"role": "user", "content": [result | cached, {"type": "text", "text": "go on"}]})
    return messages


def ai_sdk() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    for id, tool, gave in CALLS:
        call = {"type": "tool-call", "toolCallId": id, "toolName": tool, "input": {}}
        messages.append({"role": "assistant", "content": [call]})
        output: dict[str, Any] = {"type": "text" if isinstance(gave, str) else "json", "value": gave}
        if id in ("c1", "c5"):
            output = {"type": "error-text", "value": gave}
        if id == "c8":
            output = {"type": "content", "value": [{"type": "text", "text": gave}]}
        result = {"type": "tool-result", "toolCallId": id, "toolName": tool, "output": output}
        messages.append({"role": "tool", "content": [result | {"providerOptions": {"any": {"kept": True}}}]})
    return messages


SHAPES = {"openai": openai, "responses": responses, "anthropic": anthropic, "ai-sdk": ai_sdk}


def written(shape: str) -> str:
    """The file of one shape."""
    messages = SHAPES[shape]()

    def compressed(**options: Any) -> list[Any]:
        return compress_messages(Engine(open_memory()), messages, **{"tools": TOOLS, "exempt": EXEMPT} | options)

    whole = compressed()
    cases = []
    for options in (
        {"tools": TOOLS[:-1]},  # no caveman_retrieve
        {"exempt": [*EXEMPT, "read_log"]},
        {"sent": len(messages) // 2},
        {"sent": len(messages)},
    ):
        changed = [
            at for at, (old, new) in enumerate(zip(messages, compressed(**options), strict=True)) if old is not new
        ]
        cases.append({"options": options, "changed": changed})
    given = {"tools": TOOLS, "exempt": EXEMPT, "messages": messages, "compressed": whole, "cases": cases}
    return json.dumps(given, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for shape in SHAPES:
        (HERE / f"{shape}.json").write_text(written(shape), encoding="utf-8")
