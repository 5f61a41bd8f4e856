"""The tool table, what its tools answer, and the guard against storms of questions."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from corpus.make import log_lines

from caveman_wasm import Engine, Recovery, TypedObject, open_memory
from caveman_wasm.references import handle
from caveman_wasm.tools import TOOLS, StormGuard, ToolAnswer, call, listing

LOG = "\n".join(log_lines(400, 2)).encode() + b"\n\xff"
LONG = "\n".join(log_lines(4000, 2)).encode()
UNKNOWN = "ccr_" + "a" * 32


class Session:
    """One agent's session with an engine and a store of its own."""

    def __init__(self, original: bytes = LOG) -> None:
        self.engine = Engine(open_memory())
        self.guard = StormGuard()
        assert self.engine.store is not None
        self.name = self.engine.store.put(Recovery("log", "log/1", 9, 3, original))

    def __call__(self, tool: str, **arguments: Any) -> ToolAnswer:
        return call(self.engine, self.guard, f"caveman_{tool}", arguments)

    def ask(self, query: str = "", selector: str = "") -> ToolAnswer:
        return self("retrieve", reference=self.name + selector, **({"query": query} if query else {}))


@pytest.fixture
def session() -> Session:
    return Session()


# ---------------------------------------------------------------- the table


def test_the_table_is_five_tools_in_a_fixed_order_for_two_audiences() -> None:
    assert [(tool["name"], tool["audience"]) for tool in listing()] == [
        ("caveman_retrieve", "model"),
        ("caveman_compress", "host"),
        ("caveman_stats", "host"),
        ("caveman_toon_encode", "host"),
        ("caveman_toon_decode", "host"),
    ]
    assert [tool["name"] for tool in listing("model")] == ["caveman_retrieve"]


def test_the_listing_is_json_and_the_callers_own() -> None:
    said = listing()
    assert json.loads(json.dumps(said)) == said
    said[0]["inputSchema"]["properties"].clear()
    assert listing()[0]["inputSchema"]["properties"]


def test_every_tool_says_when_not_to_call_it_and_describes_its_arguments() -> None:
    for tool in listing():
        assert "Do not call" in tool["description"]
        assert tool["inputSchema"]["additionalProperties"] is False
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
        assert all(said["description"] for said in tool["inputSchema"]["properties"].values())


def test_reading_tools_are_marked_so_and_none_leaves_the_machine() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in listing()}
    assert hints["caveman_retrieve"]["readOnlyHint"] is hints["caveman_stats"]["readOnlyHint"] is True
    assert hints["caveman_compress"]["readOnlyHint"] is False
    assert not any(said["openWorldHint"] or said["destructiveHint"] for said in hints.values())


# ---------------------------------------------------------------- what they answer


def test_compress_then_retrieve_gives_the_exact_bytes(session: Session) -> None:
    made = session("compress", input=LOG, query="REVERSED")
    assert made.error is None
    assert made.report is not None
    assert made.report["tokens_after"] < made.report["tokens_before"]
    assert not {"output", "text", "markers"} & made.report.keys()
    assert made.report["recovery_handle"] in made.text
    back = session("retrieve", reference=made.report["recovery_handle"])
    assert back == ToolAnswer(LOG)


def test_compress_takes_its_options(session: Session) -> None:
    text = "\n".join(log_lines(400, 2))
    assert session("compress", input=text, type="text").report["content_type"] == "text"  # type: ignore[index]
    small, normal = (session("compress", input=text, **options).report for options in ({"max_tokens": 200}, {}))
    assert small is not None
    assert normal is not None
    assert small["tokens_after"] < normal["tokens_after"]


def test_a_question_gets_a_part_and_a_selector_a_slice(session: Session) -> None:
    assert len(session.ask("REVERSED operator").output) < len(LOG) / 2
    assert session.ask(selector="#line=2,3").output == LOG.split(b"\n")[2] + b"\n"


def test_an_objects_data_is_retrieved_too(session: Session) -> None:
    assert session.engine.store is not None
    put = session.engine.store.put_object(TypedObject("TestResult", "s", b'{"failed":[7]}'))
    assert session("retrieve", reference=f"ccr://{put.object_id}#/failed/0").output == b"7"


def test_stats_are_json_as_text_and_as_a_report(session: Session) -> None:
    answer = session("stats")
    assert json.loads(answer.output) == answer.report
    assert answer.report is not None
    assert (answer.report["records"], answer.report["basis"]) == (1, "inferred")


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("retrieve", {"reference": UNKNOWN}, "cave_unknown_handle"),
        ("retrieve", {"reference": "ccr_12"}, "cave_invalid_reference"),
        ("retrieve", {}, "cave_invalid_arguments"),
        ("retrieve", {"reference": None}, "cave_invalid_arguments"),
        ("retrieve", {"reference": 7}, "cave_invalid_arguments"),
        ("retrieve", {"reference": b"ccr_"}, "cave_invalid_arguments"),
        ("retrieve", {"reference": UNKNOWN, "limit": 3}, "cave_invalid_arguments"),
        ("retrieve", {"reference": UNKNOWN, "query": ["a"]}, "cave_invalid_arguments"),
        ("compress", {"input": {"a": 1}}, "cave_invalid_arguments"),
        ("compress", {"input": "x" * 600, "max_tokens": True}, "cave_invalid_arguments"),
        ("compress", {"input": "x" * 600, "max_tokens": 1.5}, "cave_invalid_arguments"),
        ("compress", {"input": "x" * 600, "max_tokens": 0}, "cave_invalid_arguments"),
        ("compress", {"input": "x" * 600, "type": "nonsense"}, "cave_invalid_arguments"),
        ("compress", {"input": "x" * (64 * 2**20 + 1)}, "cave_input_too_large"),
        ("stats", {"verbose": True}, "cave_invalid_arguments"),
        ("forget", {}, "cave_invalid_arguments"),
    ],
)
def test_what_goes_wrong_is_an_answer_with_its_code(
    session: Session, tool: str, arguments: dict[str, Any], code: str
) -> None:
    answer = session(tool, **arguments)
    assert answer.error == code
    assert answer.text
    assert answer.notes == ()


@pytest.mark.parametrize(("name", "arguments"), [("caveman_stats", ["a"]), (None, {}), ("caveman_retrieve", "ccr_")])
def test_a_call_that_is_none_is_an_error_too(session: Session, name: Any, arguments: Any) -> None:
    assert call(session.engine, session.guard, name, arguments).error == "cave_invalid_arguments"


def test_an_optional_argument_that_is_null_counts_as_left_out(session: Session) -> None:
    assert session("retrieve", reference=session.name, query=None).output == LOG


def test_an_error_names_its_reference_and_echoes_no_argument(session: Session) -> None:
    answer = session("retrieve", reference=UNKNOWN)
    assert answer.reference == UNKNOWN
    assert "do not retry" in answer.text
    assert "hush" not in session("stats", hush="hush").text
    assert "hush" not in session("retrieve", reference="hush").text


def test_a_counter_that_breaks_is_an_error_without_its_words() -> None:
    class Broken:
        name = "broken"

        def count(self, text: str) -> int:
            raise RuntimeError("hush")

    session = Session(LONG)
    session.engine.counter = Broken()
    for query in ("a b", "c", "d", "e", "f"):
        session.ask(query)
    answer = session.ask("checkout")
    assert answer.error == "cave_error"
    assert "hush" not in answer.text


# ---------------------------------------------------------------- storms


QUESTIONS = ["checkout", "payment", "REVERSED", "operator", "timeout"]


def test_the_same_question_again_is_answered_with_a_note_beside_it(session: Session) -> None:
    first, again = session.ask("REVERSED  operator"), session.ask("reversed operator ")
    assert first.notes == ()
    assert again.output == session.engine.retrieve_query(session.name, "reversed operator")
    assert len(again.notes) == 1
    assert "answered above" in again.notes[0]
    assert again.notes[0].encode() not in again.output


def test_asking_for_the_whole_or_a_slice_twice_gets_the_note_too(session: Session) -> None:
    assert [session.ask().notes != () for _ in range(3)] == [False, True, True]
    assert [session.ask(selector="#line=0,1").notes != () for _ in range(2)] == [False, True]
    assert session.ask(selector="#line=1,2").notes == ()


def test_after_five_different_questions_a_small_source_comes_whole(session: Session) -> None:
    assert [session.ask(query).notes for query in QUESTIONS] == [()] * 5
    sixth = session.ask("cart")
    assert sixth.output == LOG
    assert "6 different questions" in sixth.notes[0]
    assert "whole" in sixth.notes[0]


def test_after_five_different_questions_a_large_source_is_offered_whole() -> None:
    session = Session(LONG)
    for query in QUESTIONS:
        assert session.ask(query).notes == ()
    sixth = session.ask("REVERSED operator")
    assert len(sixth.output) < len(LONG)
    assert session.name in sixth.notes[0]
    assert "whole" in sixth.notes[0]
    assert session.ask().notes == ()  # which is what was offered


def test_the_same_question_five_times_is_no_storm(session: Session) -> None:
    for _ in range(6):
        session.ask("checkout")
    assert session.ask("payment").notes == ()


def test_storms_are_counted_by_reference_and_by_session(session: Session) -> None:
    assert session.engine.store is not None
    other = session.engine.store.put(Recovery("log", "log/1", 9, 3, LOG + b"x"))
    for query in QUESTIONS:
        session.ask(query)
    assert session("retrieve", reference=other, query="cart").notes == ()
    assert session("retrieve", reference=f"<<ccr:{session.name.upper()}>>", query="cart").notes != ()
    assert call(session.engine, StormGuard(), "caveman_retrieve", {"reference": session.name, "query": "x"}).notes == ()


def test_questions_that_failed_are_not_counted(session: Session) -> None:
    for query in (*QUESTIONS, "cart"):
        session("retrieve", reference=UNKNOWN, query=query)
    assert session.guard.queries(UNKNOWN) == 0


# ---------------------------------------------------------------- never compressed again


def test_what_a_tool_hands_out_is_not_compressed_again() -> None:
    session = Session(LONG)
    answers = [session.ask("REVERSED operator"), session.ask(), session.ask(selector="#line=0,500"), session("stats")]
    answers += [session("retrieve", reference=UNKNOWN), session("compress", input=LOG)]
    for answer in answers:
        assert session.engine.compress(answer.output).reason in ("retrieved", "already_compressed"), answer.text[:80]
    for note in session.ask().notes:
        assert session.engine.compress(note).reason == "retrieved"


def test_what_compress_let_through_may_be_compressed_later(session: Session) -> None:
    session.engine.store, store = None, session.engine.store
    assert session("compress", input=LOG).report["reason"] == "no_store"  # type: ignore[index]
    session.engine.store = store
    assert session("compress", input=LOG).report["recovery_handle"] == handle(LOG)  # type: ignore[index]


# ---------------------------------------------------------------- TOON


def test_toon_is_written_and_read_back(session: Session) -> None:
    pytest.importorskip("toon_format")
    document = '{"rows":[{"id":1,"name":"é"},{"id":2,"name":"b"}],"n":2}'
    written = session("toon_encode", input=document)
    assert written.error is None
    assert len(written.output) < len(document)
    assert json.loads(session("toon_decode", input=written.output).output) == json.loads(document)
    assert session("toon_decode", input=written.text).text == json.dumps(json.loads(document), ensure_ascii=False)


@pytest.mark.parametrize(
    "document",
    [
        "",
        "{",
        '{"a":1,"a":2}',
        '{"a":1.0}',
        "[NaN]",
        b"\xff",
        b'["\xff"]',
        "[" * 100_000,
        "[" * 200 + "]" * 200,
        "nothing",
    ],
)
def test_what_toon_would_change_is_refused(session: Session, document: str | bytes) -> None:
    pytest.importorskip("toon_format")
    answer = session("toon_encode", input=document)
    assert answer.error == "cave_invalid_arguments"
    assert "nothing" not in answer.text


DEEP = "\n".join("  " * level + "hush:" for level in range(300))


@pytest.mark.parametrize("text", ["a[2]: 1", "  a:\n b", b"\xff", 'a: "x', DEEP])
def test_what_is_no_toon_is_refused(session: Session, text: str | bytes) -> None:
    pytest.importorskip("toon_format")
    answer = session("toon_decode", input=text)
    assert answer.error == "cave_invalid_arguments"
    assert "hush" not in answer.text


def test_without_the_library_toon_says_how_to_get_it(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toon_format", None)
    for tool in ("toon_encode", "toon_decode"):
        answer = session(tool, input="{}")
        assert answer.error == "cave_invalid_arguments"
        assert "pip install 'caveman-wasm[toon]'" in answer.text


def test_the_table_is_what_call_knows() -> None:
    assert list(TOOLS) == [tool["name"] for tool in listing()]
