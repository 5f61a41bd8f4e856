"""The tools behind the asynchronous door: the one table, durable before published, errors as answers."""

from __future__ import annotations

import json
from typing import Any

from payloads import log
from test_durable import Bytes, Hook, answer, opened, script

from caveman_wasm import Engine, open_memory
from caveman_wasm.doors.browser import BrowserDoor
from caveman_wasm.references import handle
from caveman_wasm.tools import AGAIN, StormGuard, call, listing

TEXT = log().decode()


async def plain() -> BrowserDoor:
    door = BrowserDoor()
    assert await answer(door, "open") is None
    return door


async def tool(door: BrowserDoor, name: str, *, session: str = "", **arguments: Any) -> tuple[dict[str, Any], str]:
    """What the tool says of its answer, and the answer as text."""
    sent = Bytes(json.dumps(arguments).encode())
    said, output = await answer(door, "call_tool", f"caveman_{name}", sent, session)
    return said, output.decode("utf-8", "surrogatepass")


@script
async def test_the_door_lists_the_one_table() -> None:
    door = await plain()
    assert await answer(door, "tools") == listing()
    assert await answer(door, "tools", "model") == listing("model")


@script
async def test_a_tool_answers_here_what_it_answers_anywhere() -> None:
    door, engine = await plain(), Engine(open_memory())
    said, shorter = await tool(door, "compress", input=TEXT, query="refund", max_tokens=900)
    elsewhere = call(engine, StormGuard(), "caveman_compress", {"input": TEXT, "query": "refund", "max_tokens": 900})
    assert elsewhere.report is not None
    assert (shorter, said["report"]) == (elsewhere.text, {**elsewhere.report, "persisted": False})
    assert (await tool(door, "retrieve", reference=handle(log())))[1] == TEXT
    assert json.loads((await tool(door, "stats"))[1])["records"] == 1


@script
async def test_errors_of_tools_are_answers_with_their_code_and_are_not_compressed() -> None:
    door = await plain()
    unknown = "ccr_" + "a" * 32
    said, text = await tool(door, "retrieve", reference=unknown)
    assert (said["error"], said["reference"]) == ("cave_unknown_handle", unknown)
    assert "do not retry" in text
    for name, arguments in (("retrieve", {}), ("retrieve", {"reference": unknown, "depth": 1}), ("burn", {})):
        assert (await tool(door, name, **arguments))[0]["error"] == "cave_invalid_arguments"
    for sent in (b"[]", b"{", b"\xff", b"[" * 100_000):
        said, output = await answer(door, "call_tool", "caveman_stats", Bytes(sent))
        assert said["error"] == "cave_invalid_arguments"
        report = await answer(door, "compress", Bytes(output), None, None, None, None)
        assert report["reason"] == "retrieved"


@script
async def test_each_session_has_a_guard_of_its_own() -> None:
    door = await plain()
    await tool(door, "compress", input=TEXT)
    question = {"reference": handle(log()), "query": "refund"}
    assert (await tool(door, "retrieve", session="a", **question))[0]["notes"] == []
    assert (await tool(door, "retrieve", session="b", **question))[0]["notes"] == []
    assert (await tool(door, "retrieve", session="a", **question))[0]["notes"] == [AGAIN]


@script
async def test_what_the_tool_shortened_is_durable() -> None:
    hook = Hook()
    said, _ = await tool(await opened(hook), "compress", input=TEXT)
    assert said["report"]["persisted"]
    assert hook.rows[said["report"]["recovery_handle"]][1] == log()
    later = await opened(hook)  # another page: nothing is in its dict yet
    assert (await tool(later, "retrieve", reference=f"<<ccr:{handle(log())}>>"))[1] == TEXT
    assert json.loads((await tool(later, "stats"))[1])["records"] == 1


@script
async def test_what_cannot_be_made_durable_is_given_back_whole() -> None:
    async def refuse() -> str:
        return "cave_ccr_budget_exceeded"

    hook = Hook()
    hook.before_put = refuse
    door = await opened(hook)
    said, text = await tool(door, "compress", input=TEXT)
    assert text == TEXT
    wanted = {"recovery_handle": None, "reason": "store_failed", "error": "cave_ccr_budget_exceeded", "ratio": 0.0}
    assert wanted.items() <= said["report"].items()
    assert said["report"]["tokens_after"] == said["report"]["tokens_before"]
    assert (await tool(door, "retrieve", reference=handle(log())))[0]["error"] == "cave_unknown_handle"


@script
async def test_a_shortened_text_of_another_page_is_known_as_ours() -> None:
    hook = Hook()
    _, shorter = await tool(await opened(hook), "compress", input=TEXT)
    said, text = await tool(await opened(hook), "compress", input=shorter)
    assert (said["report"]["reason"], text) == ("already_compressed", shorter)


@script
async def test_a_lone_surrogate_crosses_and_comes_back() -> None:
    door = await plain()
    text = TEXT + "\ud800 refund of 12\n"
    said, _ = await tool(door, "compress", input=text)
    stored = text.encode("utf-8", "surrogatepass")
    assert said["report"]["recovery_handle"] == handle(stored)
    _, output = await answer(door, "retrieve", handle(stored), None)
    assert output == stored


@script
async def test_a_question_is_explained_on_demand() -> None:
    door = await plain()
    await tool(door, "compress", input=TEXT)
    said, output = await answer(door, "retrieve", handle(log()), "cart 09:04:07", True)
    assert output != log()
    assert said[0]["terms"]
    assert said[0]["score"] > 0
    assert (await answer(door, "retrieve", handle(log()), "cart 09:04:07"))[0] is None
    assert (await answer(door, "retrieve", handle(log()), None, True)) == ([], log())


def conversation() -> Bytes:
    called = {"id": "1", "function": {"name": "read_log", "arguments": "{}"}}
    messages = [{"role": "assistant", "tool_calls": [called]}, {"role": "tool", "tool_call_id": "1", "content": TEXT}]
    return Bytes(json.dumps({"messages": messages, "tools": ["caveman_retrieve"]}).encode())


@script
async def test_a_conversation_gets_a_text_when_its_original_is_durable_and_keeps_its_own_when_it_is_not() -> None:
    hook = Hook()
    door = await opened(hook)

    async def full() -> str:
        return "cave_ccr_budget_exceeded"

    hook.before_put = full
    (said,) = await answer(door, "compress_messages", conversation())
    assert (said["text"], said["report"]["reason"], said["report"]["persisted"]) == (None, "store_failed", False)
    assert (said["report"]["error"], hook.rows) == ("cave_ccr_budget_exceeded", {})
    hook.before_put = None
    (said,) = await answer(door, "compress_messages", conversation())
    assert (said["path"], said["tool"]) == ([1, "content"], "read_log")
    assert said["text"] == Engine(open_memory()).compress(TEXT).text
    assert said["report"]["persisted"] is True
    assert list(hook.rows) == [handle(TEXT.encode())]


@script
async def test_a_conversation_nested_too_deep_is_refused() -> None:
    door = await plain()
    assert await answer(door, "compress_messages", Bytes(b"[" * 200_000)) == "cave_invalid_arguments"
