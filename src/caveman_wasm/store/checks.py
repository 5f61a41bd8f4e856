"""What may enter a store and what may leave it: types, sizes, hashes, times. No rows, no state."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from caveman_wasm.errors import Conflict, CorruptRecord, InputTooLarge, InvalidArguments, InvalidReference
from caveman_wasm.model import MAX_PAYLOAD, Recovery, TypedObject
from caveman_wasm.references import content_hash, handle, object_id, parse_reference

__all__ = [
    "DEEPEST",
    "MOST",
    "OBJECT_TYPES",
    "STATES",
    "checked_id",
    "checked_limit",
    "checked_names",
    "checked_object",
    "checked_recovery",
    "checked_state",
    "checked_text",
    "decision_id",
    "dependencies_from",
    "dependencies_json",
    "merged",
    "moment",
    "nesting",
    "now",
    "object_size",
    "record_size",
    "same_object",
    "verified",
    "verified_object",
]

OBJECT_TYPES: Final = (
    "BrowserSnapshot",
    "BuildResult",
    "CommandResult",
    "DiffSnapshot",
    "DocumentationExcerpt",
    "EvidenceBundle",
    "ExecutionState",
    "FileObservation",
    "RepositoryMap",
    "SearchResult",
    "TaskContract",
    "TaskDecision",
    "TestResult",
)
STATES: Final = {
    "currentness": ("current", "stale", "archived"),
    "lifecycle": ("hot", "warm", "cold", "archived"),
}
MOST: Final = 2**63 - 1  # what an INTEGER column holds
DEEPEST: Final = 200  # levels of a decision's JSON: the C scanner recurses, and in WebAssembly its stack is short

_PLAIN_ID = re.compile(r"ccr_(?:obj_)?[0-9a-f]{32}")
_TIME = re.compile(r"(?a)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z")
_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def now() -> str:
    """UTC as RFC 3339 with nanoseconds, ending in Z."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanoseconds:09d}Z"


def moment(text: str) -> str:
    """An ISO 8601 time (UTC unless it says otherwise) as what compares with a ``created_at`` less its Z.

    Trailing zeros go: of two spellings of one moment the shorter sorts first, so that nothing of that very
    moment counts as earlier, however many digits a writer gave it.
    """
    from datetime import UTC, datetime  # only who deletes by time pays for it

    try:
        when = datetime.fromisoformat(text)
        utc = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        message = "a time is written like 2026-12-01 or 2026-12-01T10:00:00Z; nothing was deleted"
        raise InvalidArguments(message) from None
    ours = _TIME.fullmatch(text)  # with nanoseconds, which datetime does not have
    exact = text[:-1] if ours else utc.replace(tzinfo=None).isoformat(timespec="microseconds")
    return exact.rstrip("0").rstrip(".") if "." in exact else exact


# ---------------------------------------------------------------- arguments


def checked_id(reference: object) -> str:
    """A handle or object id in its one spelling. A store knows whole payloads, so a selector is refused."""
    if isinstance(reference, str) and _PLAIN_ID.fullmatch(reference):
        return reference
    parsed = parse_reference(reference)  # type: ignore[arg-type]  # it refuses what is no str
    if parsed.selector is not None:
        raise InvalidReference(f"the store takes {parsed.id} without a selector", reference=parsed.id)
    return parsed.id


def checked_names(handles: Iterable[str]) -> list[str]:
    if isinstance(handles, str):
        raise InvalidArguments("handles is a list of handles, not one str")
    return [checked_id(name) for name in handles]


def checked_limit(limit: object) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST:
        raise InvalidArguments("limit is an int of at least 1")
    return limit


def checked_state(field: str, value: object) -> str:
    if not isinstance(value, str) or value not in STATES[field]:
        raise InvalidArguments(f"{field} is one of {', '.join(STATES[field])}")
    return value


def checked_text(field: str, value: object) -> str:
    """A str that has a UTF-8 form."""
    if not isinstance(value, str):
        raise InvalidArguments(f"{field} is a str, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArguments(f"{field} holds a lone surrogate, which has no UTF-8 form") from None
    return value


def _count(field: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise InvalidArguments(f"{field} is an int, not negative and below 2**63")
    return value


def _bytes(field: str, value: object) -> bytes:
    """The caller's bytes, copied where they could still change."""
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidArguments(f"{field} is bytes, not {type(value).__name__}")
    data = bytes(value)
    if len(data) > MAX_PAYLOAD:
        raise InputTooLarge(f"{field} has {len(data)} bytes, {MAX_PAYLOAD} at most; nothing is cut, nothing was stored")
    return data


def _time_or_empty(value: object) -> str:
    if not isinstance(value, str) or (value and not _TIME.fullmatch(value)):
        raise InvalidArguments("created_at is RFC 3339 in UTC ending in Z, or '' for now")
    return value


# ---------------------------------------------------------------- records


def checked_recovery(record: Recovery) -> Recovery:
    """The record with bytes that are its own. Raises InvalidArguments, InputTooLarge."""
    if not isinstance(record, Recovery):
        raise InvalidArguments(f"put takes a Recovery, not {type(record).__name__}")
    return Recovery(
        checked_text("content_type", record.content_type),
        checked_text("compressor", record.compressor),
        _count("tokens_before", record.tokens_before),
        _count("tokens_after", record.tokens_after),
        _bytes("original", record.original),
        None if record.metadata is None else _bytes("metadata", record.metadata),
        _time_or_empty(record.created_at),
    )


def record_size(record: Recovery) -> int:
    """Bytes of budget."""
    return len(record.original) + len(record.metadata or b"")


def merged(old: Recovery, new: Recovery) -> Recovery:
    """What stands after the same payload was put again (SPEC 2)."""
    stays = old if new.tokens_before == 0 else new
    return replace(
        old,
        content_type=stays.content_type,
        compressor=stays.compressor,
        tokens_before=stays.tokens_before,
        tokens_after=stays.tokens_after,
        metadata=new.metadata or old.metadata,
    )


def verified(name: str, original: bytes) -> bytes:
    """The original, if it is what its handle names; else CorruptRecord."""
    if handle(original) != name:
        raise CorruptRecord(
            f"the bytes stored for {name} are not what was put; they are withheld: run the tool again", reference=name
        )
    return original


# ---------------------------------------------------------------- typed objects


def checked_object(obj: TypedObject) -> TypedObject:
    """The object with hash, id and lengths filled in or checked. Raises InvalidArguments, Conflict, InputTooLarge."""
    if not isinstance(obj, TypedObject):
        raise InvalidArguments(f"put_object takes a TypedObject, not {type(obj).__name__}")
    if not isinstance(obj.type, str) or obj.type not in OBJECT_TYPES:
        raise InvalidArguments(f"type is one of {', '.join(OBJECT_TYPES)}")
    if not checked_text("session_id", obj.session_id):
        raise InvalidArguments("session_id is required")
    data = _bytes("data", obj.data)
    return TypedObject(
        type=obj.type,
        session_id=obj.session_id,
        data=data,
        source=checked_text("source", obj.source),
        repository_state=checked_text("repository_state", obj.repository_state),
        transform_version=checked_text("transform_version", obj.transform_version),
        dependencies=_checked_dependencies(obj.dependencies),
        currentness=checked_state("currentness", obj.currentness),
        lifecycle=checked_state("lifecycle", obj.lifecycle),
        created_at=_time_or_empty(obj.created_at),
        original_byte_length=_count("original_byte_length", obj.original_byte_length) or len(data),
        stored_byte_length=_count("stored_byte_length", obj.stored_byte_length) or len(data),
        **_checked_names_of(obj, data),
    )


def _checked_names_of(obj: TypedObject, data: bytes) -> dict[str, str]:
    digest = content_hash(data)
    if obj.content_hash not in ("", digest):
        raise InvalidArguments("content_hash is not the SHA-256 of data; leave it empty to have it computed")
    name = object_id(obj.type, obj.session_id, obj.source, obj.repository_state, digest)
    if obj.object_id not in ("", name):
        message = "object_id belongs to other fields; leave it empty to have it computed"
        raise Conflict(message, reference=name)
    return {"content_hash": digest, "object_id": name}


def _checked_dependencies(dependencies: object) -> tuple[str, ...]:
    if not isinstance(dependencies, tuple | list):
        raise InvalidArguments("dependencies is a tuple of str")
    return tuple(checked_text("a dependency", item) for item in dependencies)


def verified_object(obj: TypedObject) -> TypedObject:
    """The object, if data and fields are what its hash and id name; else CorruptRecord."""
    fields = (obj.type, obj.session_id, obj.source, obj.repository_state, obj.content_hash)
    if content_hash(obj.data) != obj.content_hash or object_id(*fields) != obj.object_id:
        message = f"what is stored for {obj.object_id} is not what was put; it is withheld: make the object again"
        raise CorruptRecord(message, reference=obj.object_id)
    return obj


def same_object(old: TypedObject, new: TypedObject) -> bool:
    """Do they differ in nothing but currentness, lifecycle and a time that ``new`` does not give?"""
    created_at = new.created_at or old.created_at
    return replace(new, currentness=old.currentness, lifecycle=old.lifecycle, created_at=created_at) == old


def dependencies_json(obj: TypedObject) -> str:
    if not obj.dependencies:
        return "[]"
    import json  # objects are rare, start-up is not

    return json.dumps(obj.dependencies, ensure_ascii=False, separators=(",", ":"))


def dependencies_from(name: str, text: str) -> tuple[str, ...]:
    """What `dependencies_json` or another writer of the schema stored (``null`` for none). Raises CorruptRecord."""
    if text in ("[]", "null"):
        return ()
    import json

    try:
        items = json.loads(text) if nesting(text.encode("utf-8", "replace")) <= 1 else None
    except ValueError:
        items = None
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise CorruptRecord(f"the dependencies stored for {name} are no list of names", reference=name)
    return tuple(items)


def object_size(obj: TypedObject) -> int:
    """Bytes of budget."""
    return len(obj.data) + len(dependencies_json(obj).encode())


def decision_id(data: bytes) -> str | None:
    """The ``decision_id`` of a TaskDecision's data, None where the data is no JSON object with such a string."""
    import json

    try:
        decision = json.loads(data) if nesting(data) <= DEEPEST else None
    except ValueError:
        return None
    found = decision.get("decision_id") if isinstance(decision, dict) else None
    return found if isinstance(found, str) else None


def nesting(data: bytes) -> int:
    """How deep brackets stand in JSON, strings left out. Linear."""
    depth = deepest = 0
    for match in _NESTING.finditer(data):
        mark = match[0][0]
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
    return deepest
