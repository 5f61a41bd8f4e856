"""Words are what people ask for, and both rankers say the same to the bit."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, Recovery, open_memory, ranking
from caveman_wasm.ranking import rank, scores, words

MADE = Path(__file__).parent / "corpus"
# A folder of real tool outputs; beside the repository, where there is one.
CORPUS = Path(os.environ.get("CAVEMAN_CORPUS") or Path(__file__).parents[2] / "shared" / "corpus")
SOURCE = str(Path(ranking.__file__).parents[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" … — !", []),
        ("Failed REFUNDS", ["failed", "refunds"]),
        ("the the", ["the", "the"]),
        ("parseHTTPResponse", ["parsehttpresponse", "parse", "http", "response"]),
        ("user_id", ["user_id", "user", "id"]),
        ("ord-1001.", ["ord-1001", "ord", "1001"]),
        ("(src/a.py:12)", ["src/a.py:12", "src", "a", "py", "12"]),
        ("10.0.0.7", ["10.0.0.7", "10", "0", "0", "7"]),
        ("std::fs", ["std::fs", "std", "fs"]),
        ("a@b.example", ["a@b.example", "a", "b", "example"]),
        ("-x- /y/ :z", ["x", "y", "z"]),
        ("__init__", ["init"]),
        ("status=ok,n=17", ["status", "ok", "n", "17"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Ünï-cödé", ["ünï-cödé", "ünï", "cödé"]),
        ("camelCase é", ["camelcase", "é", "camel", "case"]),
        ("日本語", ["日本", "本語"]),
        ("字", ["字"]),
        ("第3章を読む", ["3", "第", "章を", "を読", "読む"]),
        ("한국어 말", ["한국", "국어", "말"]),
        ("हिन्दी में।", ["हिन्दी", "में"]),
        ("مرحبا، عالم", ["مرحبا", "عالم"]),
        ("ＡＢＣ！", ["ａｂｃ"]),
        ("\x00\ufeffa\u00a0b\u3000c\ufffd", ["a", "b", "c"]),
    ],
)
def test_text_has_these_words(text: str, expected: list[str]) -> None:
    assert sorted(words(text)) == sorted(expected)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_no_word_is_empty_or_holds_a_blank(text: str) -> None:
    assert all(word and not set(word) & set(" \t\n") for word in words(text))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_ascii_text_has_the_same_words_beside_other_scripts(text: str) -> None:
    assert sorted([*words(text), "日"]) == sorted(words(text + " 日"))


@pytest.mark.parametrize("unit", ["a", "_", "-", "a/", "aB", "A", "字", "é-", "é", " "])
def test_words_take_time_in_proportion(unit: str) -> None:
    start = time.process_time()
    words(unit * 300_000)
    assert time.process_time() - start < 2.0  # 0.1 s here


UNITS = [words(line) for line in ("refund failed for ord-1001", "payment ok", "payment ok again", "refund ok")]


def test_units_are_ranked_by_what_they_share_with_the_query() -> None:
    assert [index for index, _ in rank(UNITS, words("refund failed"))] == [0, 3]
    assert rank(UNITS, words("ord-1001"))[0][0] == 0


def test_equal_scores_keep_their_order() -> None:
    assert [index for index, _ in rank([["b"], ["a"], ["a"], ["a"]], ["a"])] == [1, 2, 3]


def test_a_word_in_half_or_all_of_the_units_still_counts() -> None:
    assert all(score > 0 for _, score in rank([["a"], ["a"]], ["a"]))
    assert len(rank([["a"], ["b"]], ["a"])) == 1


def test_a_word_asked_twice_counts_twice() -> None:
    once, twice = scores(UNITS, ["refund"]), scores(UNITS, ["refund", "refund"])
    assert twice == [2 * score for score in once]


def test_the_formula_is_bm25() -> None:
    assert scores([["a", "b"], ["c"]], ["a"])[0] == pytest.approx(
        math.log(1 + (2 - 1 + 0.5) / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / 1.5)), rel=1e-15
    )


@pytest.mark.parametrize("units", [[], [[]], [[], []]])
def test_units_without_words_score_nothing(units: list[list[str]]) -> None:
    assert scores(units, ["a"]) == [0.0] * len(units)
    assert rank(units, ["a"]) == []


def test_a_query_without_a_hit_ranks_nothing() -> None:
    assert rank(UNITS, ["absent"]) == rank(UNITS, []) == []


LETTERS = st.sampled_from("abcdefg")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(LETTERS, max_size=30), min_size=1, max_size=40), st.lists(LETTERS | st.just("z"), max_size=6))
def test_both_rankers_agree_to_the_bit(units: list[list[str]], query: list[str]) -> None:
    pytest.importorskip("rank_bm25")
    if any(units):
        assert ranking._plain_scores(units, query) == ranking._okapi()(units, query)


def agreeing(file: Path) -> int:
    """How many of the file's units, as narrowing ranks them, had a score by both rankers that was equal to the bit."""
    scored = []

    def both(units: ranking.Units, query: Sequence[str]) -> list[float]:
        if not units or not any(units):
            return [0.0] * len(units)
        plain = ranking._plain_scores(units, query)
        assert plain == ranking._okapi()(units, query), file.name
        scored.append(len(units))
        return plain

    store = open_memory()
    data = file.read_bytes()
    name = store.put(Recovery("text", "text/1", 9, 3, data))
    middle = data[len(data) // 2 :][:80].decode("utf-8", "replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "scores", both)
        Engine(store).retrieve_query(name, f"error of the name {middle}")
    return sum(scored)


@pytest.mark.parametrize("file", sorted(MADE.glob("*/*.in")), ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_both_rankers_agree_to_the_bit_on_the_units_of_every_format(file: Path) -> None:
    pytest.importorskip("rank_bm25")
    agreeing(file)


@pytest.mark.skipif(
    not CORPUS.is_dir(), reason=f"there is no folder {CORPUS.name} of real tool outputs; set CAVEMAN_CORPUS"
)
def test_both_rankers_agree_to_the_bit_on_all_units_of_real_files() -> None:
    pytest.importorskip("rank_bm25")
    counts = [agreeing(file) for file in sorted(CORPUS.iterdir())]
    print(f"{sum(counts)} units of {len(counts)} files: every score equal to the bit")
    assert sum(map(bool, counts)) > len(counts) / 2


def test_rank_bm25_ranks_where_numpy_is() -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("rank_bm25")
    assert ranking._ranker() is not ranking._plain_scores


def test_the_ranker_is_imported_only_when_asked_and_not_missed_without_numpy() -> None:
    code = """
import sys
from caveman_wasm.ranking import rank, words
words("a b")
assert not {"numpy", "rank_bm25"} & set(sys.modules)
sys.modules["numpy"] = None
assert [index for index, _ in rank([["a"], ["b"], ["b", "a"]], ["b"])] == [1, 2]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={**os.environ, "PYTHONPATH": SOURCE})
