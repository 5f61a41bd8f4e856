"""Records and objects as one file, to move a session between browser and native, or to another machine.

    {"format":"caveman-bundle","version":1}                            first line
    {"kind":"record","handle":…,"original_bytes":N,"metadata_bytes":M,…}   one line for each record; M null: none
    <N + M bytes><LF><64 hex digits><LF>                              … its bytes, SHA-256 of its line and bytes
    {"kind":"object","object_id":…,"data_bytes":N,…}                     one line for each object
    <N bytes><LF><64 hex digits><LF>
    {"kind":"end","objects":…,"records":…,"sha256":…}                    SHA-256 of everything before this line

The lines are ASCII JSON with sorted keys and no white space, items stand in the order of their ids (records, then
objects), so the same content gives the same file whichever backend wrote it. One item is in memory at a time, and
once: 64 MiB are the most a payload may have. An item is written when its bytes match their handle or hash, and put
when its own hash, its handle or its content hash and id were right: an import that stops half-way has left whole
records and no parts, and can be run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, BinaryIO, Final

from caveman_wasm.errors import (
    Conflict,
    CorruptRecord,
    InvalidArguments,
    InvalidBundle,
    InvalidReference,
    NotFound,
    StoreUnavailable,
    UnsupportedVersion,
)
from caveman_wasm.model import MAX_PAYLOAD, Recovery, TypedObject
from caveman_wasm.references import content_hash, handle, is_object_id, object_id
from caveman_wasm.store.base import Store
from caveman_wasm.store.checks import checked_names, checked_text, nesting

__all__ = [
    "BundleReader",
    "BundleWriter",
    "Counts",
    "Progress",
    "export_bundle",
    "held_ids",
    "import_bundle",
    "item_id",
]

FORMAT: Final = "caveman-bundle"
VERSION: Final = 1
FIRST_LINE: Final = 256  # bytes; what is longer is no bundle's first line
LONGEST_LINE: Final = MAX_PAYLOAD  # bytes; an object's dependencies stand in its line
PAGE: Final = 500  # ids asked for at a time

_RECORD: Final = ("content_type", "compressor", "tokens_before", "tokens_after", "created_at")
_OBJECT: Final = tuple(field.name for field in fields(TypedObject) if field.name != "data")


@dataclass(frozen=True, slots=True)
class Counts:
    """What has gone through: items, bytes of payload, and of an import the items that were here before."""

    records: int = 0
    objects: int = 0
    bytes: int = 0
    known: int = 0


Progress = Callable[[Counts], None]
Item = tuple[dict[str, Any], list[bytes]]  # what its line says, and its bytes


def export_bundle(
    store: Store,
    out: BinaryIO,
    handles: Iterable[str] | None = None,
    session: str | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Write a bundle of everything, of ``handles`` (object ids too), or of one session.

    A session is its objects and, as far as they are held, the records and objects that these depend on. Raises
    NotFound and Forgotten for a handle that is not here, before anything is written; CorruptRecord, after all the
    rest was written and the bundle is whole, when there are items that cannot be had: the message names them all.
    """
    names = _chosen(store, handles, session)
    writer = BundleWriter(store, out.write)
    for name in names:
        try:
            writer.add(name)
        except NotFound:  # forgotten since it was listed
            if handles is None:
                continue
            raise
        if progress:
            progress(writer.counts)
    return writer.end()


class BundleWriter:
    """Writes a bundle item by item, for a door that must fetch each before it can be read."""

    def __init__(self, store: Store, write: Callable[[bytes], object]) -> None:
        self.counts = Counts()
        self._store = store
        self._out = write
        self._whole = hashlib.sha256()
        self._damaged: list[str] = []
        self._write(_line({"format": FORMAT, "version": VERSION}))

    def add(self, name: str) -> None:
        """Write what is held under ``name``; what is damaged is remembered for the end. Raises NotFound."""
        store = self._store
        try:
            item = (
                _object_item(store.get_object(name)) if is_object_id(name) else _record_item(name, store.record(name))
            )
        except (CorruptRecord, StoreUnavailable, InvalidReference):
            self._damaged.append(name)
            return
        self.counts = _write_item(item, self._write, self.counts)

    def end(self) -> Counts:
        """Write the last line. Raises CorruptRecord when items were left out; the bundle is whole then too."""
        counts = self.counts
        end = {"kind": "end", "records": counts.records, "objects": counts.objects, "sha256": self._whole.hexdigest()}
        self._out(_line(end))
        if self._damaged:
            message = f"{len(self._damaged)} items do not match what was put and were left out; all else is written: "
            raise CorruptRecord(message + ", ".join(self._damaged), reference=self._damaged[0])
        return counts

    def _write(self, data: bytes) -> None:
        self._whole.update(data)
        self._out(data)


def import_bundle(store: Store, source: BinaryIO, progress: Progress | None = None) -> Counts:
    """Put every item of a bundle. What is here already stays, with the time of its first write.

    Raises InvalidBundle (no bundle, cut short, a hash is off), UnsupportedVersion, BudgetExceeded; what was put
    before that stays. Conflict, after all the rest, when objects are here with other fields: those stay.
    """
    reader = BundleReader(store, source)
    while (item := reader.item()) is not None:
        reader.put(item)
        del item  # before the next one is read
        if progress:
            progress(reader.counts)
    reader.end()
    return reader.counts


class BundleReader:
    """Reads a bundle item by item, for a door that must fetch what is known of an id before it is put."""

    def __init__(self, store: Store, source: BinaryIO) -> None:
        self.counts = Counts()
        self._store = store
        self._source = _Reader(source)
        self._source.first_line()
        self._conflicts: list[str | None] = []

    def item(self) -> Item | None:
        """The next item, its line's fields and its bytes; None at the end. Raises InvalidBundle."""
        return self._source.item()

    def put(self, item: Item) -> str | None:
        """Put it and return its id; None for an object that is here with other fields: that stays."""
        try:
            name, self.counts = _put(self._store, item, self.counts)
        except Conflict as conflict:
            self._conflicts.append(conflict.reference)
            return None
        return name

    def end(self) -> None:
        """Raise Conflict when objects were here with other fields."""
        if conflicts := self._conflicts:
            message = (
                f"{len(conflicts)} objects are here with other fields and stay, {conflicts[0]} first; all else is in"
            )
            raise Conflict(message, reference=conflicts[0])


def item_id(item: Item) -> object:
    """The id that an item of a bundle claims; it is checked when the item is put."""
    said = item[0]
    return said.get("object_id" if said["kind"] == "object" else "handle")


# ---------------------------------------------------------------- writing


def _chosen(store: Store, handles: Iterable[str] | None, session: str | None) -> Iterable[str]:
    """The ids to write, in their order."""
    if handles is not None and session is not None:
        raise InvalidArguments("export takes handles or a session, not both")
    if handles is None:
        return held_ids(store) if session is None else _of_session(store, checked_text("session", session))
    names = sorted(set(checked_names(handles)))
    for name in names:
        if not store.holds(name):
            store.get(name)  # raises what is right for it
    return names


def held_ids(store: Store) -> Iterator[str]:
    """All ids that are held: records, then objects. Reads no row."""
    for ids in (store.record_ids, store.object_ids):
        after = ""
        while page := ids(after, PAGE):
            yield from page
            after = page[-1]


def _of_session(store: Store, session: str) -> list[str]:
    """The session's objects and all that they depend on. Objects are read one by one, so that none is held."""
    waiting = store.session_object_ids(session)
    known = set(waiting)
    for name in waiting:  # grows while it is walked
        for needed in _dependencies(store, name):
            if store.holds(needed) and (found := checked_names([needed])[0]) not in known:
                known.add(found)
                waiting += [found] if is_object_id(found) else []
    return sorted(known)


def _dependencies(store: Store, name: str) -> tuple[str, ...]:
    try:
        return store.get_object(name).dependencies
    except (CorruptRecord, StoreUnavailable):  # said when it is its turn to be written
        return ()


def _write_item(item: Item, write: Callable[[bytes], None], counts: Counts) -> Counts:
    said, parts = item
    line = _line(said)
    for part in (line, *parts, _seal(line, parts)):
        write(part)
    return _counted(counts, said["kind"] == "object", sum(map(len, parts)))


def _counted(counts: Counts, is_object: bool, size: int, known: bool = False) -> Counts:
    return Counts(
        counts.records + (not is_object), counts.objects + is_object, counts.bytes + size, counts.known + known
    )


def _record_item(name: str, record: Recovery) -> Item:
    said = {field: getattr(record, field) for field in _RECORD} | {"kind": "record", "handle": name}
    sizes = {"original_bytes": len(record.original), "metadata_bytes": None}
    if record.metadata is None:
        return said | sizes, [record.original]
    return said | sizes | {"metadata_bytes": len(record.metadata)}, [record.original, record.metadata]


def _object_item(obj: TypedObject) -> Item:
    said = {field: getattr(obj, field) for field in _OBJECT} | {"kind": "object", "data_bytes": len(obj.data)}
    return said, [obj.data]


def _seal(line: bytes, parts: Iterable[bytes]) -> bytes:
    """What closes an item: the hash of its line and its bytes, between line ends."""
    own = hashlib.sha256(line)
    for part in parts:
        own.update(part)
    return b"\n" + own.hexdigest().encode() + b"\n"


def _line(said: dict[str, Any]) -> bytes:
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


# ---------------------------------------------------------------- reading


class _Reader:
    """Items of a bundle, each checked against its own hash, the last line against all of them."""

    def __init__(self, source: BinaryIO) -> None:
        self.source = source
        self.whole = hashlib.sha256()
        self.counts = {"record": 0, "object": 0}

    def first_line(self) -> None:
        line = self.source.readline(FIRST_LINE)
        try:
            said = _parsed(line)
        except InvalidBundle:
            said = {}
        if said.get("format") != FORMAT:
            raise InvalidBundle("this is no bundle; nothing was imported: pass what export wrote")
        version = said.get("version")
        if isinstance(version, int) and version > VERSION:
            raise UnsupportedVersion("the bundle was written by a newer version of this package; update the package")
        if version != VERSION:
            raise self.invalid("its version is none")
        self.whole.update(line)

    def item(self) -> Item | None:
        """The next item, its line's fields and its bytes; None at the end."""
        line = self.source.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise self.invalid("it is cut short" if len(line) < LONGEST_LINE else "a line in it is too long")
        said = _parsed(line)
        kind = said.get("kind")
        if kind == "end":
            self.end(said)
            return None
        if kind not in self.counts:
            raise self.invalid("an item in it is of no known kind")
        sizes = (
            [said.get("original_bytes"), said.get("metadata_bytes")] if kind == "record" else [said.get("data_bytes")]
        )
        parts = [self.exactly(size) for size in (sizes if sizes[-1] is not None else sizes[:1])]
        seal = _seal(line, parts)
        if self.exactly(len(seal)) != seal:
            raise self.invalid("the hash of its next item is off")
        for part in (line, *parts, seal):
            self.whole.update(part)
        self.counts[kind] += 1
        return said, parts

    def end(self, said: dict[str, Any]) -> None:
        counts = (said.get("records"), said.get("objects"))
        if counts != tuple(self.counts.values()) or said.get("sha256") != self.whole.hexdigest():
            raise self.invalid("its count or the hash of the whole is off")
        if self.source.read(1):
            raise self.invalid("something follows its last line")

    def exactly(self, size: object) -> bytes:
        """That many bytes, however small the pieces that the source hands out."""
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MAX_PAYLOAD:
            raise self.invalid("the size of its next item is none")
        pieces = [self.source.read(size)]
        missing = size - len(pieces[0])
        while missing:
            pieces.append(self.source.read(missing))
            if not pieces[-1]:
                raise self.invalid("it is cut short")
            missing -= len(pieces[-1])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def invalid(self, what: str) -> InvalidBundle:
        done = sum(self.counts.values())
        return InvalidBundle(
            f"the bundle cannot be read on: {what}; {done} items before it were whole. Export it again"
        )


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line) if nesting(line) <= 2 else None
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise InvalidBundle("the bundle cannot be read on: a line in it is no JSON object. Export it again")
    return said


def _put(store: Store, item: Item, counts: Counts) -> tuple[str, Counts]:
    """Put one item whose bytes are as they were written; what its fields say of them is checked here."""
    said, parts = item
    is_object = said["kind"] == "object"
    try:
        made, name = _object(said, parts) if is_object else _record(said, parts)
        known = store.holds(name)
        if isinstance(made, Recovery):
            store.put(made)
        else:  # of an object that is here the first time stands
            store.put_object(replace(made, created_at="") if known else made)
    except (KeyError, TypeError, InvalidArguments):
        raise InvalidBundle("an item of the bundle lacks a field, or one is of a wrong kind. Export it again") from None
    return name, _counted(counts, is_object, sum(map(len, parts)), known)


def _record(said: dict[str, Any], parts: list[bytes]) -> tuple[Recovery, str]:
    name = handle(parts[0])
    if name != said["handle"]:
        raise InvalidBundle(f"the bundle holds other bytes under {name}'s place than were put. Export it again")
    original, metadata = parts[0], parts[1] if len(parts) > 1 else None
    return Recovery(original=original, metadata=metadata, **{field: said[field] for field in _RECORD}), name


def _object(said: dict[str, Any], parts: list[bytes]) -> tuple[TypedObject, str]:
    made = TypedObject(data=parts[0], **{field: said[field] for field in _OBJECT})
    name = object_id(made.type, made.session_id, made.source, made.repository_state, content_hash(made.data))
    if (name, content_hash(made.data)) != (made.object_id, made.content_hash):
        raise InvalidBundle(f"the bundle holds an object whose fields are not those of {name}. Export it again")
    return made, name
