"""Conversations: what is shortened in them, what never is, and that a replay gives the same bytes."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from conversations.make import CALLS, EXEMPT, LOG, ORDERS, SHAPES, TOOLS, written
from hypothesis import given
from hypothesis import strategies as st

from caveman_wasm import Engine, open_memory
from caveman_wasm.errors import InvalidArguments
from caveman_wasm.messages import compress_messages, wrap_tool

FILES = Path(__file__).parent / "conversations"
shapes = pytest.mark.parametrize("shape", SHAPES)


def new_engine(max_bytes: int | None = None) -> Engine:
    return Engine(open_memory(max_bytes=max_bytes))


def compressed(engine: Engine, messages: list[Any], tools: Any = TOOLS, **options: Any) -> list[Any]:
    return compress_messages(engine, messages, tools, **{"exempt": EXEMPT, **options})


def prefix(messages: list[Any]) -> list[str]:
    """The hash of what a provider has seen after each message."""
    seen, hashes = hashlib.sha256(), []
    for message in messages:
        seen.update(json.dumps(message).encode())
        hashes.append(seen.hexdigest())
    return hashes


def pair(gave: Any, tool: str = "read_log") -> list[dict[str, Any]]:
    called = {"id": "1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    return [{"role": "assistant", "tool_calls": [called]}, {"role": "tool", "tool_call_id": "1", "content": gave}]


@shapes
def test_golden_conversation(shape: str) -> None:
    assert (FILES / f"{shape}.json").read_text("utf-8") == written(shape)


@shapes
def test_golden_conversation_under_other_options(shape: str) -> None:
    golden = json.loads((FILES / f"{shape}.json").read_text("utf-8"))
    messages, whole = golden["messages"], golden["compressed"]
    assert [case["changed"] for case in golden["cases"]][::3] == [[], []]  # without the retrieve tool; all sent already
    for case in golden["cases"]:
        after = compressed(new_engine(), messages, **{"tools": golden["tools"], **case["options"]})
        for at, message in enumerate(after):
            assert message == whole[at] if at in case["changed"] else message is messages[at]


@pytest.mark.parametrize("id", ["c2", "c4", "c5", "c7"])
def test_what_stays_in_the_golden_conversations_stays_by_the_rules_alone(id: str) -> None:
    """Of another tool, or of no reference that stands at its end, each would be shortened."""
    ((tool, gave),) = ((tool, gave) for known, tool, gave in CALLS if known == id)
    assert compressed(new_engine(), pair(gave, tool))[1]["content"] == gave
    assert compressed(new_engine(), pair(gave + "\n.\n", "read_log"))[1]["content"] != gave + "\n.\n"


@shapes
def test_results_of_tools_are_shortened_and_nothing_else_is_touched(shape: str) -> None:
    engine, messages = new_engine(), SHAPES[shape]()
    before, told = copy.deepcopy(messages), []
    after = compressed(engine, messages, on_result=lambda tool, result: told.append((tool, result)))
    assert messages == before
    changed = [index for index, (old, new) in enumerate(zip(messages, after, strict=True)) if old is not new]
    assert len(changed) == 3  # the log twice, the orders: not exempt, ours, small, shortened before, or of no call
    assert [tool for tool, result in told if result.recovery_handle] == ["read_log", "list_orders", "read_log"]
    for tool, result in told:
        if result.recovery_handle:
            original = engine.retrieve(result.recovery_handle).decode()
            assert (json.loads(original) == ORDERS) if tool == "list_orders" else original == LOG
    assert [result.reason for _, result in told if not result.recovery_handle] == ["too_small"] * (
        2 if shape == "openai" else 1
    )


@shapes
def test_turn_by_turn_the_prefix_stays_however_the_host_keeps_its_history(shape: str) -> None:
    messages = SHAPES[shape]()
    engine, kept, sent = new_engine(), [], []
    for turn in range(1, len(messages) + 1):
        replayed = compressed(new_engine(), messages[:turn])  # another process, from the raw history
        again = compressed(engine, messages[:turn])  # this one
        kept = compressed(engine, [*kept, messages[turn - 1]])  # of what went out before
        assert json.dumps(replayed) == json.dumps(again) == json.dumps(kept)
        assert prefix(replayed)[: len(sent)] == sent
        sent = prefix(replayed)


@shapes
def test_what_was_retrieved_since_changes_nothing(shape: str) -> None:
    engine, messages = new_engine(), SHAPES[shape]()
    handles: list[str] = []
    first = compressed(engine, messages, on_result=lambda _, result: handles.append(result.recovery_handle or ""))
    for handle in filter(None, handles):
        engine.retrieve(handle)
        engine.retrieve_query(handle, "order 4071")
    assert compressed(engine, messages) == first


@shapes
def test_never_twice_not_even_by_a_store_that_does_not_know_the_reference(shape: str) -> None:
    once = compressed(new_engine(), SHAPES[shape]())
    twice = compressed(new_engine(), once)
    assert all(old is new for old, new in zip(once, twice, strict=True))


@pytest.mark.parametrize("tools", [[], ["read_log"], {"caveman_stats": {}}, [{"name": "not_caveman_retrieve_it"}]])
def test_without_the_retrieve_tool_nothing_happens(tools: Any) -> None:
    messages = pair(LOG)
    assert all(old is new for old, new in zip(messages, compressed(new_engine(), messages, tools), strict=True))


@pytest.mark.parametrize(
    "tools",
    [
        ["caveman_retrieve"],
        ["mcp__caveman__caveman_retrieve"],
        {"caveman_retrieve": object()},
        [{"type": "function", "function": {"name": "caveman_retrieve"}}],
        [{"name": "caveman_retrieve", "input_schema": {}}],
        [type("Tool", (), {"name": "caveman_retrieve"})()],
    ],
)
def test_the_retrieve_tool_is_known_in_every_shape(tools: Any) -> None:
    assert compressed(new_engine(), pair(LOG), tools)[1]["content"] != LOG


def test_messages_that_have_gone_out_stay() -> None:
    messages = pair(LOG) + pair(LOG)
    after = compressed(new_engine(), messages, sent=2)
    assert after[:2] == messages[:2]
    assert after[3]["content"] != LOG


def test_a_store_that_is_full_leaves_the_text() -> None:
    told: list[Any] = []
    after = compressed(new_engine(10), pair(LOG), on_result=lambda _, result: told.append(result))
    assert after == pair(LOG)
    assert (told[0].reason, told[0].error) == ("store_failed", "cave_ccr_budget_exceeded")


@pytest.mark.parametrize(
    ("messages", "options"),
    [
        ("text", {}),
        (None, {}),
        ([], {"exempt": "read_file"}),
        ([], {"sent": -1}),
        ([], {"sent": True}),
        ([], {"tools": 7}),
    ],
)
def test_wrong_arguments_are_refused(messages: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArguments):
        compressed(new_engine(), messages, **options)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(["tool", "tool_result", LOG]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["role", "type", "content", "tool_calls", "id", "output", "value", "tool_call_id", "name"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(st.lists(anything, max_size=5))
def test_any_messages_survive_and_a_second_pass_changes_nothing(messages: list[Any]) -> None:
    engine = new_engine()
    once = compressed(engine, messages)
    assert len(once) == len(messages)
    assert compressed(engine, once) == once


@given(st.lists(st.sampled_from(CALLS), max_size=6), st.sets(st.sampled_from(["read_log", "list_orders"])))
def test_exempt_tools_and_ours_come_through_untouched(calls: list[Any], exempt: set[str]) -> None:
    messages = [
        message
        for _, tool, gave in calls
        for message in pair(gave if isinstance(gave, str) else json.dumps(gave), tool)
    ]
    for call in range(0, len(messages), 2):  # ids of their own
        messages[call]["tool_calls"][0]["id"] = messages[call + 1]["tool_call_id"] = str(call)
    after = compressed(new_engine(), messages, exempt=exempt)
    for at, (_, tool, _gave) in enumerate(calls):
        if tool in exempt or "caveman_" in tool:
            assert after[2 * at + 1] is messages[2 * at + 1]


# ---------------------------------------------------------------- wrap_tool


def test_a_wrapped_tool_gives_the_shorter_text() -> None:
    engine, tools = new_engine(), ["caveman_retrieve"]

    @wrap_tool(engine, tools)
    def read_log(lines: int) -> str:
        """Reads."""
        return LOG[:lines]

    assert (read_log.__name__, read_log.__doc__) == ("read_log", "Reads.")
    assert read_log(10**6) == engine.compress(LOG).text
    assert read_log(lines=40) == LOG[:40]
    assert wrap_tool(engine, tools)(lambda: LOG.encode())() == engine.compress(LOG.encode()).output
    assert wrap_tool(engine, tools)(lambda: 7)() == 7
    assert isinstance(wrap_tool(engine, tools)(lambda: ORDERS)(), str)
    small = {"a": 1}
    assert wrap_tool(engine, tools)(lambda: small)() is small


def test_a_wrapped_tool_gives_what_the_golden_conversation_has() -> None:
    golden = json.loads((FILES / "openai.json").read_text("utf-8"))
    engine = new_engine()
    for (_, name, _gave), old, new in zip(CALLS, golden["messages"][3::2], golden["compressed"][3::2], strict=False):
        if isinstance(old["content"], str):
            tool = wrap_tool(engine, golden["tools"], name=name, exempt=golden["exempt"])(
                lambda gave=old: gave["content"]
            )
            assert tool() == new["content"]


def test_a_wrapped_coroutine_is_awaited() -> None:
    async def read_log() -> str:
        return LOG

    engine = new_engine()
    assert asyncio.run(wrap_tool(engine, ["caveman_retrieve"])(read_log)()) == engine.compress(LOG).text


def test_a_wrapped_tool_keeps_the_rules() -> None:
    engine, tools = new_engine(), list[str]()

    def tool(name: str, **options: Any) -> Any:
        return wrap_tool(engine, tools, name=name, **options)(lambda: LOG)()

    assert tool("read_log") == LOG
    tools.append("caveman_retrieve")  # the list is looked at with every call
    assert tool("read_log") != LOG
    assert tool("read_log", exempt=["read_log"]) == LOG
    assert tool("caveman_retrieve") == LOG
    shortened = engine.compress(LOG).text
    assert wrap_tool(new_engine(), tools)(lambda: shortened)() == shortened
