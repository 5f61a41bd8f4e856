"""The order of the steps, and nothing else: no regex, no SQL, no format.

compress:  size → known already? → detect → format → rewrite, split → choose, join → reference → count → put
retrieve:  parse reference → get (the store verifies) → narrow
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, overload

from caveman_wasm import markers
from caveman_wasm.errors import BudgetExceeded, CavemanError, InputTooLarge, InvalidArguments, StoreUnavailable
from caveman_wasm.model import MAX_PAYLOAD, Marker, Recovery, Result, Stats, View, raw, source
from caveman_wasm.references import handle as handle_of
from caveman_wasm.references import parse_reference
from caveman_wasm.store.base import Store
from caveman_wasm.tokens import Counter, count_tokens, default_counter

if TYPE_CHECKING:
    from caveman_wasm.cutting import Cut

__all__ = ["Engine"]

TOO_SMALL: Final = 512  # bytes (SPEC 4.3)
_UTF16: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass
class _Payload:
    """The caller's input: its exact bytes, and the source text to work on (UTF-16 as UTF-8, without its BOM)."""

    data: bytes
    text: str
    from_str: bool
    utf16: str | None = None

    @cached_property
    def handle(self) -> str:
        """The handle these bytes have or would have."""
        return handle_of(self.data)

    def written(self, text: str) -> bytes:
        """Source text back in the payload's own encoding."""
        if self.utf16 is None:
            return raw(text)
        bom = next(b for b, name in _UTF16.items() if name == self.utf16)
        return bom + raw(text).decode("utf-8", "surrogatepass").encode(self.utf16, "surrogatepass")

    def shown(self, output: bytes) -> str:
        """Output as str: undecodable bytes as U+FFFD, lone surrogates of a str payload as they came."""
        if self.utf16 is not None:
            return output[2:].decode(self.utf16, "replace")
        if self.from_str:
            return output.decode("utf-8", "surrogatepass")
        return output.decode("utf-8", "replace")


class Engine:
    """Shortens payloads and gives them back. ``store`` None: nothing lossy happens. ``counter`` None: o200k_base
    by whatever counter loads (tokens.py)."""

    def __init__(self, store: Store | None = None, *, counter: Counter | None = None) -> None:
        self.store = store
        self.counter = counter if counter is not None else default_counter()
        self._handed_out: set[str] = set()

    # ------------------------------------------------------------ compress

    def compress(
        self,
        payload: bytes | str,
        *,
        mode: str = "compress",
        content_type: str | None = None,
        query: str = "",
        max_tokens: int | None = None,
        external_recovery: bool = False,
    ) -> Result:
        """Shorten ``payload``; its original is in the store before the result is returned, or the result is the input.

        ``content_type`` forces a format; ``query`` keeps what it asks for; ``max_tokens`` is a ceiling on the normal
        result, never a target; any ``mode`` but "compress" changes and stores nothing; ``external_recovery``: the
        host keeps the original itself, so no put and no reference.

        Raises InvalidArguments (types, options) and InputTooLarge; nothing else: whatever fails later, the result
        is the input with ``reason`` and, where something broke, ``error``.
        """
        _check(payload, mode, content_type, query, max_tokens)
        options = _Options(content_type, query, max_tokens, external_recovery)
        return self._guarded(_read(payload), mode, options, put=True)

    def simulate(
        self,
        payload: bytes | str,
        *,
        content_type: str | None = None,
        query: str = "",
        max_tokens: int | None = None,
    ) -> Result:
        """What compress would save: its counts, method and markers; the output is the input, nothing is put."""
        _check(payload, "compress", content_type, query, max_tokens)
        read = _read(payload)
        would = self._guarded(read, "compress", _Options(content_type, query, max_tokens, False), put=False)
        return replace(would, output=read.data, text=read.shown(read.data), recovery_handle=None)

    def detect(self, payload: bytes | str) -> str:
        """The content type of ``payload``: one of SPEC 6's names, or "binary"."""
        _check(payload, "compress", None, "", None)
        from caveman_wasm.detect import detect

        return detect(_read(payload).text)

    def _guarded(self, payload: _Payload, mode: str, options: _Options, *, put: bool) -> Result:
        try:
            return self._compress(payload, mode, options, put=put)
        except CavemanError as error:
            return self._passed(payload, "", "store_failed", error.code)
        except MemoryError:  # the platform's limit, or one that a page set
            return self._passed(payload, "", "store_failed", BudgetExceeded.code)
        except Exception:  # promise 1: whatever fails, the caller gets its own input back
            return self._passed(payload, "", "not_parseable", CavemanError.code)

    def _compress(self, payload: _Payload, mode: str, options: _Options, *, put: bool) -> Result:
        early = self._already(payload, mode, options)
        if early is not None:
            return early
        from caveman_wasm import cutting

        if options.content_type is None:
            kind, cut = cutting.detected(payload.text, options.query)
        else:
            kind, cut = options.content_type, cutting.cut(payload.text, options.content_type, options.query)
        if cut is None:
            known = "not_parseable" if kind in cutting.FORMATS else "unknown_type"
            return self._passed(payload, kind, "binary" if kind == "binary" else known)
        lossy = self.store is not None or options.external_recovery or not put
        if not lossy:
            return self._value_lossless(payload, kind, cut)
        return self._shortened(payload, kind, cut, options, put=put)

    def _already(self, payload: _Payload, mode: str, options: _Options) -> Result | None:
        """Pass-throughs that need no look at the content."""
        if mode != "compress":
            return self._passed(payload, "", "record_mode")
        if payload.handle in self._handed_out:
            return self._passed(payload, "", "retrieved")
        closing = markers.closing_handle(payload.text)
        if closing is None or self.store is None or not self.store.holds(closing):
            return self._passed(payload, "", "too_small") if len(payload.data) < TOO_SMALL else None
        if options.max_tokens is not None and not markers.is_view(payload.text):
            tokens = count_tokens(self.counter, payload.data)
            if tokens > options.max_tokens:
                return self._anew(payload, closing, tokens, options)
        return self._passed(payload, "", "already_compressed")

    def _anew(self, payload: _Payload, handle: str, tokens: int, options: _Options) -> Result:
        """A text of ours under a smaller ceiling than before: made again from the stored original."""
        assert self.store is not None
        made = self._compress(_read(self.store.get(handle)), "compress", options, put=True)
        if made.recovery_handle is None or made.tokens_after >= tokens:
            return self._passed(payload, made.content_type, "already_compressed")
        return replace(made, tokens_before=tokens)

    def _value_lossless(self, payload: _Payload, kind: str, cut: Cut) -> Result:
        """Without a store only what keeps the value is done: JSON loses its white space, nothing else happens."""
        if kind != "json" or cut.document.origin is None:
            return self._passed(payload, kind, "no_store")
        output = payload.written(cut.document.text)
        before, after = count_tokens(self.counter, payload.data), count_tokens(self.counter, output)
        if after >= before:
            return self._passed(payload, kind, "not_smaller")
        return self._result(payload, output, kind, kind, (before, after), reason="no_store")

    def _shortened(self, payload: _Payload, kind: str, cut: Cut, options: _Options, *, put: bool) -> Result:
        handle = None if options.external_recovery else payload.handle
        before = count_tokens(self.counter, _utf8(payload))
        output, found, after = self._fitted(payload, cut, handle, options.max_tokens)
        if after >= before:
            return self._passed(payload, kind, "not_smaller", tokens=before)
        if handle is not None and put:
            self._put(payload, kind, (before, after), options, handle)
        over = options.max_tokens is not None and after > options.max_tokens
        return self._result(
            payload,
            output,
            kind,
            cut.document.format,
            (before, after),
            handle,
            found,
            reason="over_budget" if over else None,
        )

    def _fitted(
        self, payload: _Payload, cut: Cut, handle: str | None, ceiling: int | None
    ) -> tuple[bytes, tuple[Marker, ...], int]:
        """The joined text: the normal one, or the longest prefix of the order that fits under ``ceiling`` tokens."""

        def made(share: float, most_facts: int | None = None) -> tuple[bytes, tuple[Marker, ...], int]:
            joined = cut.joined(share, handle, most_facts)
            text = "".join(joined.pieces)
            return payload.written(text), tuple(joined.markers), count_tokens(self.counter, raw(text))

        best = made(1.0)
        if ceiling is None or best[2] <= ceiling:
            return best
        best = made(0.0, 0)
        low, high = 0, STEPS + 1
        while high - low > 1:  # the same steps for every ceiling: a larger one never shows less
            middle = (low + high) // 2
            tried = made(middle / STEPS, SHORT_FACTS)
            if tried[2] <= ceiling:
                low, best = middle, tried
            else:
                high = middle
        return best

    def _put(self, payload: _Payload, kind: str, tokens: tuple[int, int], options: _Options, handle: str) -> None:
        assert self.store is not None
        from caveman_wasm.formats import FORMATS

        version = FORMATS[kind].version
        metadata = options.recorded(kind, version, self.counter.name)
        stored = self.store.put(Recovery(kind, f"{kind}/{version}", *tokens, payload.data, metadata))
        if stored != handle:
            raise StoreUnavailable("The store returned another handle than the text carries; nothing was shortened.")

    # ------------------------------------------------------------ results

    def _passed(
        self, payload: _Payload, kind: str, reason: str, error: str | None = None, *, tokens: int | None = None
    ) -> Result:
        try:
            count = count_tokens(self.counter, _utf8(payload)) if tokens is None else tokens
        except Exception:  # a host's counter may break; the input still goes back
            count = 0
        return self._result(
            payload, payload.data, kind or "unknown", "none", (count, count), reason=reason, error=error
        )

    def _result(
        self,
        payload: _Payload,
        output: bytes,
        kind: str,
        method: str,
        tokens: tuple[int, int],
        handle: str | None = None,
        found: tuple[Marker, ...] = (),
        *,
        reason: str | None = None,
        error: str | None = None,
    ) -> Result:
        text = payload.shown(output)
        lossless = output == payload.data or (not found and method in VALUE_KEPT)
        name = self.counter.name
        return Result(output, text, kind, method, *tokens, name, handle, lossless, reason, error, found)

    # ------------------------------------------------------------ retrieve

    def retrieve(self, reference: str) -> bytes:
        """The exact original bytes of a record, or an object's data, or the slice of them that a selector names.

        Raises NotFound, InvalidReference, CorruptRecord, StoreUnavailable.
        """
        parsed = parse_reference(reference)
        found = self._held(parsed.id, parsed.is_object)
        if parsed.selector:
            from caveman_wasm.selectors import select

            payload = _read(found)
            found = payload.written(select(payload.text, parsed))
        self.hand_out(found)
        return found

    def hand_out(self, output: bytes) -> None:
        """Note bytes that a door gives to an agent: this engine does not compress them again (`retrieved`)."""
        self._handed_out.add(handle_of(output))

    @overload
    def retrieve_query(self, reference: str, query: str, *, explain: Literal[False] = False) -> bytes: ...
    @overload
    def retrieve_query(self, reference: str, query: str, *, explain: Literal[True]) -> View: ...
    def retrieve_query(self, reference: str, query: str, *, explain: bool = False) -> bytes | View:
        """The part of the original that answers ``query``: whole units, gaps marked, closing with the reference.

        The whole original, and nothing else, when nothing matches or a part would not be smaller. With ``explain``
        a View: the same bytes, and of each unit shown its score and the words of the question that hit.
        """
        found = self._view(reference, query)
        return found if explain else found.output

    def _view(self, reference: str, query: str) -> View:
        if not isinstance(query, str):
            raise InvalidArguments(f"query must be a str, not {type(query).__name__}.")
        whole = self.retrieve(reference)
        if not query.strip():
            return View(whole)
        from caveman_wasm import cutting

        payload = _read(whole)
        handle = parse_reference(reference).id
        found = cutting.view(payload.text, query, handle)
        if found is None:
            return View(whole)
        output = payload.written(found[0])
        if len(output) >= len(whole):
            return View(whole)
        self.hand_out(output)
        return View(output, found[1])

    def retrieve_metadata(self, handle: str) -> bytes | None:
        """The options that made the record's text, as canonical JSON, or None."""
        return self._needed().metadata(parse_reference(handle).id)

    def stats(self) -> Stats:
        """What the store holds."""
        return self._needed().stats()

    def _held(self, identifier: str, is_object: bool) -> bytes:
        store = self._needed()
        return store.get_object(identifier).data if is_object else store.get(identifier)

    def _needed(self) -> Store:
        if self.store is None:
            raise StoreUnavailable("This engine was made without a store; make it with open_store() to retrieve.")
        return self.store


VALUE_KEPT: Final = frozenset({"json", "toolschema", "toon"})  # without a marker only white space or notation changed
STEPS: Final = 256  # shares of the normal result that a ceiling may bring it down to
SHORT_FACTS: Final = 260  # bytes of facts a marker may have under a ceiling: long rosters are given up first


@dataclass(frozen=True, slots=True)
class _Options:
    content_type: str | None
    query: str
    max_tokens: int | None
    external_recovery: bool

    def recorded(self, kind: str, version: int, counter: str) -> bytes:
        """Canonical JSON of what made the text, so that it can be made again and checked."""
        said: dict[str, object] = {"v": version, "counter": counter}
        said |= {"content_type": kind} if self.content_type else {}
        said |= {"query": self.query} if self.query else {}
        said |= {"max_tokens": self.max_tokens} if self.max_tokens is not None else {}
        return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _check(payload: object, mode: object, content_type: object, query: object, max_tokens: object) -> None:
    if not isinstance(payload, (bytes, str)):
        raise InvalidArguments(f"payload must be bytes or str, not {type(payload).__name__}.")
    if len(payload) > MAX_PAYLOAD or (
        isinstance(payload, str) and 4 * len(payload) > MAX_PAYLOAD and _size(payload) > MAX_PAYLOAD
    ):
        raise InputTooLarge(
            f"The payload is over {MAX_PAYLOAD} bytes; it was not touched. Hand it in as smaller parts."
        )
    if not isinstance(mode, str) or not isinstance(query, str):
        raise InvalidArguments("mode and query must be str.")
    if content_type is not None:
        _check_type(content_type)
    if max_tokens is not None and (not isinstance(max_tokens, int) or isinstance(max_tokens, bool) or max_tokens < 1):
        raise InvalidArguments("max_tokens must be a positive int or None.")


def _check_type(content_type: object) -> None:
    from caveman_wasm.formats import FORMATS

    if not isinstance(content_type, str) or content_type not in FORMATS:
        raise InvalidArguments(f"Unknown content_type; one of: {', '.join(sorted(FORMATS))}.")


def _size(payload: str) -> int:
    return len(payload.encode("utf-8", "surrogatepass"))


def _read(payload: bytes | str) -> _Payload:
    if isinstance(payload, str):
        data = payload.encode("utf-8", "surrogatepass")
        return _Payload(data, source(data), True)
    name = _UTF16.get(payload[:2])
    if name is not None and len(payload) % 2 == 0:
        try:
            text = payload[2:].decode(name)
            return _Payload(payload, source(text.encode("utf-8")), False, name)
        except UnicodeDecodeError:
            pass
    return _Payload(payload, source(payload), False)


def _utf8(payload: _Payload) -> bytes:
    return payload.data if payload.utf16 is None else raw(payload.text)
