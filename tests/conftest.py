"""Fixtures of the whole suite: a store of every backend, with raw access to its rows beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caveman_wasm.store import Store, open_memory, open_store
from caveman_wasm.store.checks import object_size, record_size


@pytest.fixture(autouse=True)
def _no_store_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the store of whoever runs it."""
    monkeypatch.delenv("CAVEMAN_CCR_MAX_BYTES", raising=False)
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path_factory.getbasetemp() / "home"))


class MemoryRows:
    """The dictionaries of a memory store, reached past its rules."""

    def open(self, **options: Any) -> Store:
        self.store: Any = open_memory(**options)
        return self.store  # type: ignore[no-any-return]

    def set_original(self, handle: str, original: bytes) -> None:
        records = self.store._rows.records
        records[handle] = replace(records[handle], original=original)

    def set_object(self, object_id: str, **fields: Any) -> None:
        objects = self.store._rows.objects
        objects[object_id] = replace(objects[object_id], **fields)

    def used(self) -> int:
        rows = self.store._rows
        return sum(map(record_size, rows.records.values())) + sum(map(object_size, rows.objects.values()))


class SQLiteRows:
    """A SQLite store's file, reached by plain SQL on a connection of its own, as a stranger would."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self, **options: Any) -> Store:
        return open_store(self.path, **options)

    def sql(self, statement: str, *values: object) -> list[Any]:
        with closing(sqlite3.connect(self.path)) as db, db:
            return db.execute(statement, values).fetchall()

    def set_original(self, handle: str, original: bytes) -> None:
        self.sql("UPDATE recoveries SET original = ? WHERE handle = ?", original, handle)

    def set_object(self, object_id: str, **fields: Any) -> None:
        for name, value in fields.items():
            self.sql(f"UPDATE typed_objects SET {name} = ? WHERE object_id = ?", value, object_id)

    def used(self) -> int:
        return self.sql(
            "SELECT (SELECT coalesce(sum(length(original) + coalesce(length(metadata), 0)), 0) FROM recoveries)"
            " + (SELECT coalesce(sum(length(data) + length(CAST(dependencies_json AS BLOB))), 0) FROM typed_objects)"
        )[0][0]


@pytest.fixture(params=["memory", "sqlite"])
def rows(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryRows | SQLiteRows:
    """The raw side of one backend; ``rows.open(max_bytes=…)`` opens its store."""
    return MemoryRows() if request.param == "memory" else SQLiteRows(tmp_path / "ccr.db")


@pytest.fixture
def store(rows: MemoryRows | SQLiteRows) -> Iterator[Store]:
    """An empty store of every backend."""
    with rows.open() as opened:
        yield opened
