"""The JavaScript API in Chromium: exact bytes, honest errors, nothing lost."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

import pytest
from page_engine import Engine
from payloads import HARD, Golden, golden_cases, log

from caveman_wasm import Engine as NativeEngine
from caveman_wasm import open_memory
from caveman_wasm.tokens import PureTiktoken, count_tokens

pytestmark = pytest.mark.browser
UNKNOWN = "ccr_" + "0" * 32
CAMEL = {"content_type": "contentType", "max_tokens": "maxTokens"}


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize("name", HARD)
def test_hard_bytes_come_back_exact(engine: Engine, name: str) -> None:
    payload = HARD[name]
    handle, back = engine.run(
        """const r = await caveman.compress(bytes(payload));
        return [r.recoveryHandle, base64(await caveman.retrieve(r.recoveryHandle))];""",
        payload=payload,
    )
    assert handle.startswith("ccr_")
    assert base64.b64decode(back) == payload


def test_a_string_with_lone_surrogates_comes_back_as_it_was(engine: Engine) -> None:
    text_back, small_back, back = engine.run(
        r"""const text = new TextDecoder().decode(bytes(payload)).replaceAll("HERE", "\ud83d \ude00 \ud83d\ude00");
        const r = await caveman.compress(text);
        const small = await caveman.compress("too small \udc00");
        return [(await caveman.retrieveText(r.recoveryHandle)) === text, small.text === "too small \udc00",
                base64(await caveman.retrieve(r.recoveryHandle))];""",
        payload=log(b"HERE"),
    )
    assert (text_back, small_back) == (True, True)
    assert base64.b64decode(back) == log("\ud83d \ude00 😀".encode("utf-8", "surrogatepass"))


def test_nothing_at_all_is_a_payload(engine: Engine) -> None:
    result = engine.run(
        """const r = await caveman.compress(new Uint8Array());
        return [r.output.length, r.text, r.reason, r.recoveryHandle, r.persisted, r.ratio];"""
    )
    assert result == [0, "", "too_small", None, False, 0]


@pytest.mark.parametrize(
    "form",
    [
        "new TextDecoder().decode(array)",
        "array",
        "array.buffer",
        "new Uint8Array([0, ...array, 0]).subarray(1, array.length + 1)",
        "new Blob([array])",
        "shared(array)",
        "shared(array).buffer.slice(0, array.length)",
        "shared(array).subarray(0)",
        'new File([array], "service.log")',
    ],
)
def test_every_form_of_a_payload_is_the_same_payload(engine: Engine, form: str) -> None:
    script = """const array = bytes(payload);
        const shared = (array) => {  // a page that is not cross-origin isolated can make none but this
          const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
          const view = new Uint8Array(buffer, 0, array.length);
          view.set(array);
          return view;
        };
        const r = await caveman.compress(%s);
        return [r.recoveryHandle, array.length];"""
    assert engine.run(script % form, payload=log()) == engine.run(script % "array.slice()", payload=log())


@pytest.mark.parametrize("form", ["array", "array.buffer", "array.subarray(0)"])
def test_what_the_caller_gives_away_is_not_copied_and_comes_back_exact(engine: Engine, form: str) -> None:
    script = """const [array, small] = [bytes(payload), new Uint8Array(100)];
        const r = await caveman.compress(%s, { transfer: true });
        const back = base64(await caveman.retrieve(r.recoveryHandle)) === payload;
        const passed = await caveman.compress(small, { transfer: true });
        return [back, array.length, small.length, passed.output.length];"""
    payload = log(form.encode())
    assert engine.run(script % form, payload=payload) == [True, 0, 0, 100]


def test_64_mib_come_back_exact(engine: Engine) -> None:
    """Each chunk is another: none of it could be had from a neighbour."""
    said = engine.run(
        """const own = await createCaveman();
        const large = new Uint8Array(64 * 1024 * 1024).fill(32);
        const line = new TextEncoder();
        for (let at = 0, n = 0; at < large.length; at += 4096) large.set(line.encode(`\n2026-03-14 INFO entry ${n++} done\n`), at);
        const r = await own.compress(large, { contentType: "log" });
        const back = r.recoveryHandle ? await own.retrieve(r.recoveryHandle) : r.output;
        own.close();
        return [r.recoveryHandle !== null, indexedDB.cmp(back, large) === 0, r.reason, r.error];"""
    )
    assert said == [True, True, None, None]


def test_simulate_says_what_compress_would_save_and_stores_nothing(engine: Engine) -> None:
    said, made = engine.run(
        """const own = await createCaveman();
        const said = await own.simulate(bytes(payload), { query: "cart" });
        const { records } = await own.stats();
        const made = await own.compress(bytes(payload), { query: "cart" });
        own.close();
        return [[said.tokensBefore, said.tokensAfter, said.recoveryHandle, records], [made.tokensBefore, made.tokensAfter]];""",
        payload=log(),
    )
    assert said == [*made, None, 0]


def test_the_text_is_the_output_read_as_utf8(engine: Engine) -> None:
    script = "const r = await caveman.compress(bytes(payload)); return [base64(r.output), r.text];"
    for name in ("invalid UTF-8", "a BOM", "lone surrogates"):
        output, text = engine.run(script, payload=HARD[name])
        assert text == base64.b64decode(output).decode("utf-8", "replace"), name


def test_markers_say_where_they_stand_and_what_for(engine: Engine) -> None:
    payload = log()
    output, markers = engine.run(
        "const r = await caveman.compress(bytes(payload)); return [base64(r.output), r.markers];", payload=payload
    )
    assert markers
    for marker in markers:
        shown = base64.b64decode(output)[marker["start"] : marker["stop"]].decode()
        assert f"{marker['count']} {marker['noun']} elided" in shown
        assert all(0 <= start < stop <= len(payload) for start, stop in marker["spans"])


# ---------------------------------------------------------------- the golden corpus, and counting


def test_there_is_a_golden_corpus() -> None:
    assert golden_cases()


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_chromium_makes_the_golden_bytes(engine: Engine, case: Golden) -> None:
    options = {CAMEL.get(name, name): value for name, value in case.options.items()}
    output = engine.run(
        "return base64((await caveman.compress(bytes(payload), options)).output);",
        payload=case.payload,
        options=options,
    )
    assert base64.b64decode(output) == case.expected


@pytest.mark.parametrize("name", HARD)
def test_the_page_counts_as_python_does(engine: Engine, name: str) -> None:
    basis, before = engine.run(
        """const r = await caveman.compress(bytes(payload), { mode: "record" });
        return [r.tokenCountBasis, r.tokensBefore];""",
        payload=HARD[name],
    )
    assert basis == "o200k_base"
    assert before == NativeEngine(open_memory()).compress(HARD[name], mode="record").tokens_before


def test_odd_characters_are_counted_as_python_does(engine: Engine) -> None:
    pieces = [
        "\ufeff",
        "\ufeffusing",
        "\ufeff\n",
        "\ufeff\ufeff//",
        "x\ufeff",
        "\x85",
        "a\x85b",
        "\xa0",
        "\u180e",
        "\u2028",
    ]
    pieces += ["\u200b", "\u3000", "\x1c", "\x1f", "\0"]
    assert_counted_as_python_does(
        engine, [a + middle + b for a in pieces for middle in ("", " ", "\n", "é") for b in pieces]
    )


def test_texts_of_ascii_are_counted_as_python_does(engine: Engine) -> None:
    random = Random(7)
    pieces = [
        r"don't",
        r"WE'LL",
        r"x'Ve",
        r"'s'S'T",
        r"'llx",
        r"XMLHttpRequest",
        r"foo_bar",
        r"aB",
        r"12345",
        r"0x7f",
        r".//",
        r"'''",
        r"{'a':",
        r"<|endoftext|>",
    ]
    pieces += [" ", "   ", "\n", "\r\n", "\n/", "\t", "\v\f", "\0", "\x1c", "\x7f"]

    def piece() -> str:
        return random.choice(pieces) if random.random() < 0.5 else "".join(map(chr, random.choices(range(128), k=6)))

    assert_counted_as_python_does(engine, ["".join(piece() for _ in range(random.randint(1, 12))) for _ in range(1000)])


def assert_counted_as_python_does(engine: Engine, texts: list[str]) -> None:
    counts = engine.run(
        """const count = async (text) => (await caveman.compress(text, { mode: "record" })).tokensBefore;
        return Promise.all(texts.map(count));""",
        texts=texts,
    )
    counter = PureTiktoken()
    assert counts == [count_tokens(counter, text.encode()) for text in texts]


# ---------------------------------------------------------------- reading


def test_a_question_gets_the_part_that_answers_it(engine: Engine) -> None:
    payload = log() + b"\n2026-03-14T10:00:00 ERROR db refund declined\n" + log()
    view, whole = engine.run(
        """const { recoveryHandle } = await caveman.compress(bytes(payload));
        return [await caveman.retrieveText(recoveryHandle, { query: "refund" }),
                await caveman.retrieveText(`<<ccr:${recoveryHandle}>>`)];""",
        payload=payload,
    )
    assert "ERROR db refund declined" in view
    assert len(view) < len(whole) / 2
    assert whole.encode() == payload


def test_select_gives_the_slice_of_a_record_and_of_an_object(engine: Engine) -> None:
    orders = b'{"orders": [' + b", ".join(b'{"id": %d, "total": "%d.00"}' % (n, n) for n in range(200)) + b"]}"
    made = engine.run(
        """const text = async (...given) => new TextDecoder().decode(await caveman.select(...given));
        const { recoveryHandle } = await caveman.compress(bytes(payload));
        const { objectId } = await caveman.putObject({ type: "CommandResult", sessionId: "select", source: "s" }, "one\\ntwo\\nthree");
        return [await text(recoveryHandle, "/orders/77/total"), await text(`<<ccr:${recoveryHandle}>>`, "/orders/3"),
                await text(objectId, "line=1,2"), await caveman.retrieveText(`ccr://${objectId}#line=1,2`)];""",
        payload=orders,
    )
    assert made == ['"77.00"', '{"id": 3, "total": "3.00"}', "two\n", "two\n"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("caveman.select(recoveryHandle, '/nothing')", "cave_invalid_reference"),
        ("caveman.select(recoveryHandle, 'page=2')", "cave_invalid_reference"),
        ("caveman.select(`ccr://${recoveryHandle}#line=0,1`, 'line=0,1')", "cave_invalid_reference"),
        ("caveman.select(recoveryHandle)", "cave_invalid_arguments"),
        ("caveman.select(null, 'line=0,1')", "cave_invalid_arguments"),
    ],
)
def test_a_selector_that_does_not_fit_gets_its_code(engine: Engine, call: str, code: str) -> None:
    making = "const { recoveryHandle } = await caveman.compress(bytes(payload));"
    ended = engine.run(f"{making} return outcome(async () => {call});", payload=log())
    assert ended["code"] == code


def test_stats_and_detect_answer(engine: Engine) -> None:
    stats, kind = engine.run("return [await caveman.stats(), await caveman.detect(bytes(payload))];", payload=log())
    assert kind == "log"
    assert stats["basis"] == "inferred"
    assert stats["maxStorageBytes"] == 512 * 1024 * 1024
    assert 0 < stats["storageBytes"] < stats["maxStorageBytes"]


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (f"caveman.retrieve('{UNKNOWN}')", "cave_unknown_handle"),
        ("caveman.retrieve('ccr_0123456789abcdef')", "cave_invalid_reference"),
        ("caveman.retrieve('not a reference')", "cave_invalid_reference"),
        ("caveman.retrieve(null)", "cave_invalid_arguments"),
        ("caveman.compress()", "cave_invalid_arguments"),
        ("caveman.compress(null)", "cave_invalid_arguments"),
        ("caveman.compress(42)", "cave_invalid_arguments"),
        ("caveman.compress(new Uint16Array(4))", "cave_invalid_arguments"),
        ("caveman.compress({ toString: () => 'text' })", "cave_invalid_arguments"),
        ("caveman.compress('text', { querry: 'x' })", "cave_invalid_arguments"),
        ("caveman.compress('text', { query: 7 })", "cave_invalid_arguments"),
        ("caveman.compress('text', { maxTokens: 0 })", "cave_invalid_arguments"),
        ("caveman.compress('text', { contentType: 'nonsense' })", "cave_invalid_arguments"),
        ("caveman.retrieveText('ccr_', { limit: 1 })", "cave_invalid_arguments"),
        ("caveman.detect(undefined)", "cave_invalid_arguments"),
        ("caveman.compress(new Uint8Array(64 * 1024 * 1024 + 1))", "cave_input_too_large"),
        ("caveman.compress('é'.repeat(33 * 1024 * 1024))", "cave_input_too_large"),
        ("createCaveman({ persistance: 'none' })", "cave_invalid_arguments"),
        ("createCaveman({ persistence: 'disk' })", "cave_invalid_arguments"),
        ("createCaveman({ maxBytes: -1 })", "cave_invalid_arguments"),
        ("createCaveman({ counter: { name: 'x', count: () => 1 } })", "cave_invalid_arguments"),
    ],
)
def test_bad_input_gets_its_code(engine: Engine, call: str, code: str) -> None:
    ended = engine.outcome(call)
    assert (ended["ours"], ended["name"], ended["code"]) == (True, "CavemanError", code)


def test_an_error_names_its_reference(engine: Engine) -> None:
    assert engine.outcome(f"caveman.retrieve('{UNKNOWN}')")["reference"] == UNKNOWN


def test_a_full_store_gives_the_input_back(engine: Engine) -> None:
    result: dict[str, Any] = engine.run(
        """const small = await createCaveman({ maxBytes: 1000 });
        const r = await small.compress(bytes(payload));
        small.close();
        return { ...r, output: base64(r.output) };""",
        payload=log(),
    )
    assert base64.b64decode(result["output"]) == log()
    assert (result["reason"], result["error"], result["recoveryHandle"]) == (
        "store_failed",
        "cave_ccr_budget_exceeded",
        None,
    )
