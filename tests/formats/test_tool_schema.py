"""Tool lists: every tool and parameter name, type, enum, required, default and constraint stays; the output is JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, shorten

from caveman_wasm import Engine, open_memory
from caveman_wasm.check import check_result
from caveman_wasm.detect import detect
from caveman_wasm.formats import FORMATS
from caveman_wasm.formats.tool_schema import TOOL_SCHEMA, TOOL_SCHEMA_ANNOTATIONS, json_spans
from caveman_wasm.model import source

_KEPT = ("name", "type", "enum", "required", "default", "const", "minimum", "maximum", "pattern", "format")


def tools(count: int = 30) -> list[dict[str, Any]]:
    return [
        {
            "name": f"tool_{i}",
            "title": f"The {i}. tool",
            "description": f"Does the thing number {i}. It looks at things in their order, one after the other. The path must be absolute.",
            "inputSchema": {
                "type": "object",
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {
                    "title": {"type": "string", "description": "Words that stand above the thing, as people see it."},
                    "mode": {
                        "description": "How to go about it, gently or not.",
                        "enum": ["slow", "fast"],
                        "default": "slow",
                    },
                    "count": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "Number of things. At most 50 are looked at.",
                        "examples": [3, 7],
                    },
                    "description": {"type": "string"},
                },
                "required": ["title"],
            },
        }
        for i in range(count)
    ]


def skeleton(value: Any, names: bool = False) -> Any:
    """What of a schema must stay: names of tools and parameters with the keywords in ``_KEPT``."""
    if isinstance(value, list):
        return [skeleton(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if names or k in _KEPT or isinstance(v, dict)}
    return {k: skeleton(v, k == "properties") for k, v in kept.items()}


WRAPPED = {
    "mcp": lambda t: {"jsonrpc": "2.0", "id": 1, "result": {"tools": t}},
    "bare": lambda t: t,
    "snapshot": lambda t: {"tools": t},
    "openai": lambda t: [
        {
            "type": "function",
            "function": {**{k: v for k, v in x.items() if k != "inputSchema"}, "parameters": x["inputSchema"]},
        }
        for x in t
    ],
    "anthropic": lambda t: [
        {**{k: v for k, v in x.items() if k != "inputSchema"}, "input_schema": x["inputSchema"]} for x in t
    ],
}


def found(value: Any) -> list[Any]:
    inner = value.get("result", value) if isinstance(value, dict) else value
    rows: list[Any] = inner["tools"] if isinstance(inner, dict) else inner
    return [row for row in rows if {"name", "function"} & row.keys()]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("shape", WRAPPED)
def test_every_tool_and_parameter_stays_in_every_shape(shape: str, indent: int | None) -> None:
    value = WRAPPED[shape](tools())
    payload = json.dumps(value, indent=indent)
    assert detect(payload) == "toolschema"
    result = Engine(open_memory()).compress(payload)
    shown = json.loads(result.output)
    assert skeleton(found(shown)) == skeleton(found(value))
    text = result.text
    assert text.count("The path must be absolute.") == 30
    assert text.count("At most 50 are looked at.") == 30
    assert all(f"Does the thing number {i}." in text for i in range(30))
    if indent:
        assert len(text) < 0.75 * len(payload)


def test_a_ceiling_leaves_whole_tools_out_and_names_them() -> None:
    engine, payload, names = Engine(open_memory()), json.dumps(tools(60)), -1
    for ceiling in (300, 600, 1500, 3000, 9000):
        result = engine.compress(payload, max_tokens=ceiling)
        shown = [row["name"] for row in found(json.loads(result.output)) if "name" in row]
        assert len(shown) >= names
        names = len(shown)
    said = json.loads(engine.compress(payload, max_tokens=1500).output)
    assert any("tool_59" in row.get("facts", "") for row in said)


def test_narrowing_finds_a_tool_whole() -> None:
    engine, payload = Engine(open_memory()), json.dumps(tools(60), indent=1)
    result = engine.compress(payload, max_tokens=600)
    assert result.recovery_handle is not None
    view = engine.retrieve_query(result.recovery_handle, "thing number 41")
    assert b'"tool_41"' in view
    assert engine.retrieve(result.recovery_handle) == payload.encode()


@pytest.mark.parametrize(
    "bad",
    ["", "{}", "[]", "[1]", '{"tools":[]}', '{"tools":{}}', '{"tools":[1]}', "[" * 400, '{"a"', '[{"name":}', "[{]}"],
)
def test_what_is_no_list_of_tools_is_not_cut(bad: str) -> None:
    assert cut(TOOL_SCHEMA, bad) is None


def test_spans_are_the_values_of_a_document() -> None:
    text = source(b'{"a": [1, "x\\"]", {}], "b": {"c": null}, "a": 2}')
    root = json_spans(text)
    assert root is not None
    assert root.keys == ["a", "b", "a"]
    assert [text[i.start : i.stop] for i in root.items] == ['[1, "x\\"]", {}]', '{"c": null}', "2"]
    assert root.member("a") is None  # stands twice
    inner = root.member("b")
    assert inner is not None
    assert text[inner.heads[0] : inner.items[0].stop] == '"c": null'


# ---------------------------------------------------------------- without annotations


def test_annotation_keys_go_where_they_are_schema_and_stay_where_a_user_named_something() -> None:
    payload = json.dumps(tools(20), indent=2)
    result = Engine(open_memory()).compress(payload, content_type="toolschema-annotations")
    rows = [row for row in json.loads(result.output) if "name" in row]
    for row, tool in zip(rows, tools(20), strict=True):
        schema = tool["inputSchema"]
        del tool["title"], schema["$schema"], schema["properties"]["count"]["examples"]
        assert row == tool
        assert "title" in row["inputSchema"]["properties"]
    assert "60 annotation keys" in result.text
    assert result.recovery_handle is not None


def test_values_that_are_data_keep_their_keys() -> None:
    schema = {"type": "object", "title": "gone", "default": {"title": "kept"}, "enum": [{"title": "kept"}], "const": {"examples": 1},
              "properties": {"examples": {"type": "string", "title": "gone"}, "title": {"title": "gone"}},
              "$defs": {"title": {"anyOf": [{"title": "gone"}, {"type": "null"}]}}, "x-ui": {"title": "kept"}}  # fmt: skip
    payload = json.dumps([{"name": f"t{i}", "inputSchema": schema} for i in range(9)])
    made = shorten(TOOL_SCHEMA_ANNOTATIONS, payload)
    rows = [row for row in json.loads(made.text) if "name" in row]
    assert "gone" not in made.text
    assert made.text.count("kept") == 3 * 9
    assert rows[0]["inputSchema"]["properties"] == {"examples": {"type": "string"}, "title": {}}
    assert rows[0]["inputSchema"]["$defs"] == {"title": {"anyOf": [{}, {"type": "null"}]}}


KEYS = st.sampled_from(["title", "examples", "$comment", "properties", "items", "type", "default", "$defs", "anyOf"])
SCHEMAS = st.recursive(
    st.one_of(st.integers(), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)


def stripped(value: Any, named: bool = False) -> Any:
    if isinstance(value, list):
        return [stripped(v) for v in value]
    if not isinstance(value, dict):
        return value
    gone = {"title", "examples", "$comment"}
    entered = {"properties", "items", "$defs", "anyOf"}
    return {
        k: stripped(v, not named and k in ("properties", "$defs")) if named or k in entered else v
        for k, v in value.items()
        if named or k not in gone
    }


@settings(max_examples=200, deadline=None)
@given(st.lists(SCHEMAS, min_size=1, max_size=3), st.sampled_from([None, 1]))
def test_only_annotations_come_off_anything(value: list[Any], indent: int | None) -> None:
    document = cut(TOOL_SCHEMA_ANNOTATIONS, json.dumps(value, indent=indent))
    assert document is not None
    assert json.loads(document.text) == stripped(value)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(alphabet='[]{},:"\\ tools1\n', max_size=80).map(str.encode)))
def test_any_bytes_are_cut_or_refused(payload: bytes) -> None:
    cut(TOOL_SCHEMA, payload)
    cut(TOOL_SCHEMA_ANNOTATIONS, payload)


def test_forced_formats_are_known_and_never_detected() -> None:
    forced = {"toolschema-annotations", "toon", "repetition"}
    assert forced <= FORMATS.keys()
    samples = [json.dumps(tools()), "a\n" * 300, "key: 1\nother[2]: 1,2\n" * 40, "[3]{a,b}:\n  1,2\n" * 40]
    assert forced.isdisjoint(map(detect, samples))


# ---------------------------------------------------------------- what a tool gives up


def test_words_about_parameters_go_and_constraints_stay_with_one_count_a_tool() -> None:
    payload = json.dumps({"tools": tools(40)})
    result = Engine(open_memory()).compress(payload)
    shown = json.loads(result.output)["tools"]
    assert skeleton([{k: v for k, v in t.items() if k != "_caveman_elided"} for t in shown]) == skeleton(tools(40))
    assert all(t["_caveman_elided"] >= 4 for t in shown)
    for gone in ("It looks at things in their order", "Words that stand above", "gently or not", "$schema", "examples"):
        assert result.text.count(gone) <= 4  # a budget in bytes may have room for a few
    assert shown[-1]["description"] == "Does the thing number 39. The path must be absolute."
    assert shown[-1]["inputSchema"]["properties"]["count"]["description"] == " At most 50 are looked at."
    assert len(result.text) < 0.7 * len(payload)


def test_what_a_query_asks_for_stays() -> None:
    text = Engine(open_memory()).compress(json.dumps(tools(40)), query="gently or not").text
    assert "gently or not" in text


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(KEYS, SCHEMAS, max_size=5), min_size=1, max_size=3), st.integers(0, 3))
def test_any_subset_of_texts_may_go_and_json_remains(schemas: list[Any], places: int) -> None:
    value = [
        {"description": 'One. Two, three. "Four". \\n Five\n\nSix must.', "name": "t", "inputSchema": s}
        for s in schemas
    ]
    made = shorten(TOOL_SCHEMA, json.dumps(value), places=places)
    json.loads(made.text)


def test_definitions_and_results_that_an_earlier_tool_has_word_for_word_stand_once() -> None:
    given = tools(20)
    shared = {"richText": {"type": "object", "properties": {"content": {"type": "string", "enum": ["plain", "rich"]}}}}
    result = {"type": "object", "properties": {"written": {"type": "integer"}, "skipped": {"type": "integer"}}}
    for i, tool in enumerate(given):
        tool["inputSchema"]["$defs"] = shared
        tool["outputSchema"] = {**result, "title": "other"} if i == 7 else result
    payload = json.dumps({"tools": given}).encode()
    engine = Engine(open_memory())
    made = engine.compress(payload)
    assert check_result(payload, made).findings == []
    shown = json.loads(made.output)["tools"]
    assert shown[0]["inputSchema"]["$defs"] == shared
    assert shown[0]["outputSchema"] == result
    assert [i for i, tool in enumerate(shown) if "$defs" in tool.get("inputSchema", {})] == [0]
    assert [i for i, tool in enumerate(shown) if "outputSchema" in tool] == [0, 7], "another one stays"
    assert all("_caveman_elided" in tool for tool in shown[1:20] if "name" in tool)
