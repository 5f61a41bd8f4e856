"""Values that cross files. No behaviour beyond what a value knows of itself.

**Source text.** Inside the engine a payload is a ``str`` with one character a byte: the bytes decoded as
Latin-1. So every offset is a byte offset, any bytes are a text, a slice is exact, and ``raw(s)`` gives the
bytes back. ``plain(s)`` reads such a slice as the UTF-8 it is. Patterns over source text use ``re.ASCII``;
0x85 and 0xA0 are no white space there. Below, *text* of type ``str`` is source text unless it says *plain*.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal, Protocol

__all__ = [
    "ABSENT",
    "MAX_PAYLOAD",
    "OPAQUE",
    "Columns",
    "Document",
    "Envelope",
    "Group",
    "Marker",
    "Number",
    "Opaque",
    "Reader",
    "RecordInfo",
    "Recovery",
    "Result",
    "Rewritten",
    "Run",
    "Stats",
    "TypedObject",
    "Value",
    "line_starts",
    "plain",
    "raw",
    "source",
]

MAX_PAYLOAD: Final = 64 * 1024 * 1024  # bytes; SPEC: larger input is refused, never cut


def source(data: bytes) -> str:
    """Bytes as source text: one character a byte."""
    return data.decode("latin-1")


def raw(text: str) -> bytes:
    """Source text as the bytes it stands for. Inverse of `source`."""
    return text.encode("latin-1")


def plain(text: str) -> str:
    """A slice of source text read as UTF-8, undecodable bytes as U+FFFD: for words, facts and people."""
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")


def line_starts(lines: Sequence[str], newline: int = 1, start: int = 0) -> list[int]:
    """Where each line begins, and where one after them would; ``newline`` characters end each.

    A comprehension: in WebAssembly a chain of `map` over builtins takes twice as long.
    """
    return list(accumulate([len(line) + newline for line in lines], initial=start))


# ---------------------------------------------------------------- stored values


@dataclass(frozen=True, slots=True)
class Recovery:
    """One record to store. Sizes and counts are not negative; ``metadata`` is None or bytes.

    ``created_at`` is RFC 3339 UTC with nanoseconds ending in ``Z``; empty on the way in: the store fills it,
    and the first write's time stands.
    """

    content_type: str
    compressor: str
    tokens_before: int
    tokens_after: int
    original: bytes
    metadata: bytes | None = None
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class RecordInfo:
    """A record as it is listed: sizes in bytes in place of its original and metadata."""

    handle: str
    created_at: str
    content_type: str
    compressor: str
    tokens_before: int
    tokens_after: int
    original_bytes: int
    metadata_bytes: int


@dataclass(frozen=True, slots=True)
class TypedObject:
    """A working-memory object (SPEC 8). ``object_id`` and ``content_hash`` empty: computed; given: checked."""

    type: str
    session_id: str
    data: bytes
    source: str = ""
    repository_state: str = ""
    transform_version: str = ""
    dependencies: tuple[str, ...] = ()
    currentness: str = "current"
    lifecycle: str = "hot"
    object_id: str = ""
    content_hash: str = ""
    created_at: str = ""
    original_byte_length: int = 0
    stored_byte_length: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """What a store holds. ``ratio`` = (before − after) / before, 0 when empty; sizes in bytes of payload and
    metadata, no file overhead; ``refused`` = how often the budget was hit, ``refused_at`` when last ('' never)."""

    records: int
    objects: int
    tokens_before: int
    tokens_after: int
    ratio: float
    storage_bytes: int
    max_storage_bytes: int
    storage_full: bool
    refused: int
    refused_at: str
    basis: str = "inferred"

    @property
    def nearly_full(self) -> bool:
        """Are four fifths of the budget used up? From then on every door says so (SPEC 9)."""
        return self.storage_bytes * 5 >= self.max_storage_bytes * 4


# ---------------------------------------------------------------- what compress gives


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker in an output.

    ``start``/``stop``: its span in ``Result.output``, in bytes. ``spans``: the (start, stop) spans of the
    units it stands for, in bytes of the payload, or, when ``within`` is set, of the decoded text of the
    envelope that stands at ``within`` in the payload. (A UTF-16 payload counts in its UTF-8 form.)
    """

    start: int
    stop: int
    spans: tuple[tuple[int, int], ...]
    count: int
    noun: str
    facts: tuple[str, ...] = ()
    within: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What `Engine.compress` returns. A pass-through is a normal result: same bytes, ratio 0, a ``reason``.

    ``output`` is what to hand on, ``text`` the same as str (undecodable bytes as U+FFFD). Counts are local
    (``basis`` is always "inferred"), by the counter named ``token_count_basis``. ``error`` is the code of
    what made a safe pass-through necessary.
    """

    output: bytes
    text: str
    content_type: str
    method: str
    tokens_before: int
    tokens_after: int
    token_count_basis: str
    recovery_handle: str | None = None
    lossless_to_model: bool = True
    reason: str | None = None
    error: str | None = None
    markers: tuple[Marker, ...] = ()
    basis: str = "inferred"

    @property
    def ratio(self) -> float:
        """(before − after) / before; 0 for an empty payload."""
        return (self.tokens_before - self.tokens_after) / self.tokens_before if self.tokens_before else 0.0


# ---------------------------------------------------------------- what a question gets


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """A unit that a view shows: why it is there.

    ``start``/``stop``: its span in bytes of the text that was cut, which is the payload, or what its format made of
    it (a page's text, a terminal's last state; UTF-8 of a UTF-16 payload); ``part`` 1 and more: of the decoded text
    of that envelope. ``score`` is BM25's; a unit around several that were ranked has the best unit's. ``terms``: the
    words of the question that hit, in the unit or in what heads it, and how often they stand there.
    """

    start: int
    stop: int
    score: float
    terms: Mapping[str, int]
    part: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """What a question gets: ``output`` in the payload's own encoding, and the units shown in order; none where the
    whole original is the answer."""

    output: bytes
    units: tuple[ShownUnit, ...] = ()


# ---------------------------------------------------------------- how a payload is cut


class Number(str):
    """A JSON number or literal (true, false, null) in its source spelling, told apart from a string."""

    __slots__ = ()


class Opaque:
    """A field that is there but says nothing a fact could quote: an object, a list, a name that stands twice."""

    __slots__ = ()


ABSENT: Final = None
OPAQUE: Final = Opaque()
Value = str | Opaque | None
Columns = Mapping[str, Sequence[Value]]


class Reader(Protocol):
    """Reads the fields of a group's units, late and only for the neighbours asked about.

    Every method covers units ``first`` to ``last``, exclusive, and returns lists of that length. ``typed``:
    numbers and literals come as `Number`, so that a plain ``str`` is a string even where it looks like a number;
    else (a CSV cell, a word of a log) the spelling decides.
    """

    @property
    def typed(self) -> bool: ...

    def columns(self, first: int, last: int) -> Columns:
        """Field name → its values, plain text, source spelling; None where a unit lacks the field."""
        ...

    def kinds(self, first: int, last: int) -> Sequence[Sequence[str]]:
        """One list a level, coarse to fine: units with equal labels are of one kind at that level."""
        ...

    def failures(self, first: int, last: int) -> Sequence[str]:
        """'' for a unit that reports no failure, else the kind of failure in words (plain text)."""
        ...


Mode = Literal["records", "tree", "outline", "head", "pinned"]


@dataclass(slots=True)
class Group:
    """Neighbours of one kind, as columns of offsets: unit *i* is ``text[starts[i]:stops[i]]``.

    Units are in order and do not overlap; what lies between them is separator. ``mode`` is how they are
    chosen (select.py); ``noun`` is the plural that markers use. ``markers`` says where a marker stands:
    "run" one for each run, in its place; "one" one for the whole group, in the place of the first dropped
    unit (a JSON object must not hold a key twice); "end" one after the group's last unit (prose); "apart" one at
    ``marker_at``, for units that go one by one while what lies between them stays (descriptions in a schema).
    ``heading`` is what heads the units for a reader who sees only some (plain text, may be '').
    ``children[i]`` are the groups inside unit *i*; a unit with children can be kept *entered*: whatever is
    outside its children stays. ``pinned`` are indexes that stay as long as their parent does; the last ones go first.
    """

    starts: Sequence[int]
    stops: Sequence[int]
    mode: Mode
    noun: str
    markers: Literal["run", "one", "end", "apart"] = "run"
    heading: str = ""
    children: dict[int, list[Group]] = field(default_factory=dict)
    pinned: Sequence[int] = ()
    reader: Reader | None = None
    marker_at: int = -1

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def extent(self) -> int:
        """Bytes that are not its parent's: from the first unit to the last, or the units' alone where they go apart."""
        if self.markers == "apart":
            return sum(self.stops) - sum(self.starts)
        return self.stops[-1] - self.starts[0]


@dataclass(slots=True)
class Envelope:
    """A payload inside the payload: a big string literal at ``start``..``stop`` of the outer text, quotes excluded.

    ``text`` is its decoded content as source text; ``encode`` writes a piece of such text back as it stands
    between the quotes (the encoding of a concatenation is the concatenation of the encodings). ``document`` is
    the content cut by its own format, filled in by whoever detects (engine.py); None: the string stays as it is.
    """

    start: int
    stop: int
    text: str
    encode: Callable[[str], str]
    document: Document | None = None


@dataclass(slots=True)
class Document:
    """A payload cut into units. Text outside of groups and envelopes is literal and stays.

    ``close_at`` is the offset at which the reference goes in. ``newline`` is the line end that counts
    lines, or '' where line numbers say nothing. ``origin`` leads back to the payload when ``text`` is a
    rewritten one. ``first_line`` is the number of the text's first line: another than 1 where a gutter says so.
    ``keep`` is the share to keep where it is another than the format's.
    """

    text: str
    format: str
    groups: list[Group]
    close_at: int
    envelopes: list[Envelope] = field(default_factory=list)
    newline: str = "\n"
    origin: Rewritten | None = None
    first_line: int = 1
    keep: float | None = None
    target: int | None = None  # bytes that an outline's unpinned leaves fill up to; None: its share, as the rest


@dataclass(frozen=True, slots=True)
class Run:
    """Units of one group that are left out behind one marker: pieces of (first, last), last exclusive."""

    group: Group
    pieces: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return sum(last - first for first, last in self.pieces)

    def indices(self) -> list[int]:
        return [i for first, last in self.pieces for i in range(first, last)]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text that a format made of the payload before cutting it, and the way back.

    ``offsets`` (sorted) and ``origins`` are pairs: position ``offsets[i] + d`` of ``text`` comes from
    ``origins[i] + d`` of the payload, up to the next pair.
    """

    text: str
    offsets: Sequence[int]
    origins: Sequence[int]

    @property
    def verbatim(self) -> bool:
        """Was nothing changed but white space between units' tokens, so that a slice can be shown as it came?"""
        return False

    def back(self, position: int) -> int:
        """The payload's offset that ``position`` of the rewritten text comes from."""
        i = bisect_right(self.offsets, position) - 1
        return self.origins[i] + position - self.offsets[i] if i >= 0 else position
