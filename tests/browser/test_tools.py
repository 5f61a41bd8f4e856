"""`caveman.tools`: the Python table in JavaScript, with answers that lose nothing."""

from __future__ import annotations

import base64

import pytest
from page_engine import Engine
from payloads import log

from caveman_wasm import tools

pytestmark = pytest.mark.browser
UNKNOWN = "ccr_" + "0" * 32
CALL = "const call = (name, args, options) => caveman.tools.find((tool) => tool.name === name).%s(args, options);"
EXECUTE = CALL % "execute"


def test_the_list_is_the_python_table(engine: Engine) -> None:
    rows = engine.run(
        "return [JSON.parse(JSON.stringify(caveman.tools)), caveman.tools.every((t) => typeof t.execute === 'function')]"
    )
    assert rows == [tools.listing(), True]


def test_execute_gives_text(engine: Engine) -> None:
    shorter, whole, stats = engine.run(
        EXECUTE
        + """
        const input = new TextDecoder().decode(bytes(payload));
        const shorter = await call("caveman_compress", { input, query: "payment" });
        const handle = /<<ccr:(ccr_[0-9a-f]{32})>>/.exec(shorter)[1];
        return [shorter, await call("caveman_retrieve", { reference: handle }, { session: "text" }),
                JSON.parse(await call("caveman_stats"))];""",
        payload=log(b"of this test"),
    )
    assert "entries elided" in shorter
    assert whole == log(b"of this test").decode()
    assert stats["records"] >= 1


def test_what_goes_wrong_is_text_with_its_code(engine: Engine) -> None:
    said = engine.run(
        EXECUTE
        + """
        const ring = {}; ring.ring = ring;
        return [await call("caveman_retrieve", { reference: unknown }), await call("caveman_retrieve", {}),
                await call("caveman_retrieve", { reference: unknown, depth: 1 }), await call("caveman_retrieve", ring),
                await call("caveman_retrieve", { reference: 10n }), await call("caveman_retrieve", [])];""",
        unknown=UNKNOWN,
    )
    assert said[0].startswith(f"cave_unknown_handle: {UNKNOWN}")
    assert [text.partition(": ")[0] for text in said[1:]] == ["cave_invalid_arguments"] * 5


def test_a_dead_worker_is_an_answer_too(engine: Engine) -> None:
    text, code = engine.run(
        """const other = await createCaveman(); other.close();
        const [retrieve] = other.tools;
        return [await retrieve.execute({ reference: unknown }), (await retrieve.call({ reference: unknown })).error];""",
        unknown=UNKNOWN,
    )
    assert text.startswith("cave_worker_lost: ")
    assert code == "cave_worker_lost"


def test_notes_stand_beside_the_bytes_and_in_brackets_in_the_text(engine: Engine) -> None:
    output, notes, text, elsewhere, again = engine.run(
        CALL % "call"
        + """
        const { recoveryHandle: reference } = await caveman.compress(bytes(payload));
        await call("caveman_retrieve", { reference }, { session: "a" });
        const repeated = await call("caveman_retrieve", { reference }, { session: "a" });
        const elsewhere = await call("caveman_retrieve", { reference }, { session: "b" });
        const again = await caveman.compress(repeated.text);
        return [base64(repeated.output), repeated.notes, repeated.text, elsewhere.notes, again.reason];""",
        payload=log(b"asked twice"),
    )
    assert base64.b64decode(output) == log(b"asked twice")
    assert notes == [tools.AGAIN]
    assert text == log(b"asked twice").decode() + f"\n\n[caveman: {tools.AGAIN}]"
    assert elsewhere == []
    assert again == "retrieved"
