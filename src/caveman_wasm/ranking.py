"""Words and BM25: which units answer a query best (SPEC 7).

Two rankers with one result, equal to the bit: rank-bm25 wherever numpy is, the same formula in pure Python
elsewhere, in the same order of operations.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from operator import add
from typing import Final

__all__ = ["rank", "scores", "words"]

K1: Final = 1.5
B: Final = 0.75

Units = Sequence[Sequence[str]]


# ---------------------------------------------------------------- words

# What parts words, by ranges and not by \w, which changes with Python's Unicode tables: controls, blanks,
# punctuation, symbols. And scripts that write words without blanks: Thai to Khmer, kana, Han, Hangul.
_GAPS: Final = (
    r"\x00-/:-@\[-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7\u055a-\u055f\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d"
    r"\u06d4\u0964\u0965\u1680\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe10-\ufe6f\ufeff"
    r"\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufff0-\uffff"
)
_DENSE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u302f\u3031-\u30fa\u30fc-\u30ff\u3130-\u318f"
    r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)


_NO_WORD: Final = rf"[{_GAPS}{_DENSE}]"
_JOINTS: Final = "-.:/@_"
_JOINT: Final = re.compile(r"[-.:/@_]")
_JOINED: Final = re.compile(r"(?<![0-9a-z])[0-9a-z]++(?:[-.:/@_]++[0-9a-z]++)++")  # ASCII words of several parts
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Blanks(dict[int, str]):
    """A table for str.translate that turns what parts words into blanks; it learns characters as they come."""

    def __init__(self, kept: str) -> None:
        super().__init__({ord(character): character for character in kept})
        self.parts_words = re.compile(_NO_WORD).match

    def __missing__(self, code: int) -> str:
        self[code] = " " if self.parts_words(chr(code)) else chr(code)
        return self[code]


@cache
def _tables() -> tuple[_Blanks, _Blanks, Callable[[str], list[str]]]:
    return _Blanks(""), _Blanks(_JOINTS), re.compile(rf"[{_DENSE}]+").findall


def _table(keep: Callable[[str], str]) -> bytes:
    return "".join(map(keep, map(chr, range(128)))).encode() + bytes(128)


_TO_PARTS: Final = _table(lambda c: c if c.isalnum() else " ")
_TO_SHAPE: Final = _table(lambda c: " " if not c.isalnum() else "A" if c.isupper() else "a")


# No stems: by the kept library (snowballstemmer) hardly an answer more was found than lost, in longer views
# (tests/benchmarks/questions.py --stem), and a page would have one more thing to load.
def words(text: str) -> list[str]:
    """The words of plain text, case-folded, with repeats, in no particular order.

    Identifiers (``ord-1001``, ``src/a.py:12``, ``10.0.0.7``, ``snake_case``, ``camelCase``) stand whole and in
    parts; scripts without blanks between words stand in bigrams.
    """
    if not text.isascii():
        return _words_in_any_script(text)
    data = text.encode()  # bytes.translate is several times faster
    parts = data.translate(_TO_PARTS).decode()
    shape = data.translate(_TO_SHAPE)
    found = parts.lower().split()
    found += _JOINED.findall(text.lower())
    return found + _humps(parts) if b"aA" in shape or b"AAa" in shape else found


def _words_in_any_script(text: str) -> list[str]:
    to_parts, to_tokens, dense_runs_of = _tables()
    parts = text.translate(to_parts)
    found = parts.casefold().split()
    found += _joined(text.translate(to_tokens).casefold())
    for run in dense_runs_of(text):
        found += map(add, run, run[1:]) if len(run) > 1 else run
    return found + _humps(parts)


def _joined(tokens: str) -> list[str]:
    """Of tokens between blanks those that are made of several parts."""
    stripped = [token.strip(_JOINTS) for token in tokens.split() if not token.isalnum()]
    return [token for token in stripped if not token.isalnum() and _JOINT.search(token)]


def _humps(parts: str) -> list[str]:
    """The parts of camelCase words (ASCII humps) among words between blanks."""
    humped = [part for part in parts.split() if _HUMP.search(part)]
    return _HUMP.sub(" ", " ".join(humped)).casefold().split()


# ---------------------------------------------------------------- BM25


def rank(units: Units, query: Sequence[str]) -> list[tuple[int, float]]:
    """(index of the unit, score) of every unit that scores above 0, best first, equals by position."""
    hits = [(index, score) for index, score in enumerate(scores(units, query)) if score > 0]
    return sorted(hits, key=lambda hit: -hit[1])  # stable


def scores(units: Units, query: Sequence[str]) -> list[float]:
    """BM25 of every unit for the query's words; a word asked twice counts twice.

    Robertson and Zaragoza (2009) with k1 = 1.5, b = 0.75 and idf = ln(1 + (N − n + 0.5) / (n + 0.5)), which is
    above 0 even for a word that stands in most units.
    """
    if not any(units):
        return [0.0] * len(units)
    return _ranker()(units, query)


@cache
def _ranker() -> Callable[[Units, Sequence[str]], list[float]]:
    try:
        return _okapi()
    except ImportError:
        return _plain_scores


def _idf(count: int, holding: int) -> float:
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))


def _plain_scores(units: Units, query: Sequence[str]) -> list[float]:
    """rank_bm25.BM25Okapi.get_scores, operation by operation, so that no bit differs."""
    lengths = list(map(len, units))
    mean = sum(lengths) / len(units)
    norms = [K1 * (1 - B + B * length / mean) for length in lengths]
    totals = [0.0] * len(units)
    for word in query:
        counts = [unit.count(word) for unit in units]
        idf = _idf(len(units), len(units) - counts.count(0))
        for index, count in enumerate(counts):
            if count:
                totals[index] += idf * (count * (K1 + 1) / (count + norms[index]))
    return totals


def _okapi() -> Callable[[Units, Sequence[str]], list[float]]:
    from rank_bm25 import BM25Okapi  # imports numpy, 80 ms: only when a query is asked

    class Okapi(BM25Okapi):  # type: ignore[misc]
        """rank-bm25 with SPEC 7's idf; its own is 0 for a word in half of the units and below in more."""

        def _calc_idf(self, nd: dict[str, int]) -> None:
            self.idf = {word: _idf(self.corpus_size, holding) for word, holding in nd.items()}

    def ranked(units: Units, query: Sequence[str]) -> list[float]:
        scored: list[float] = Okapi(units, k1=K1, b=B).get_scores(query).tolist()
        return scored

    return ranked
