"""A SQLite store's file, the store, and a stranger to it. (``store`` of the whole suite is one of every backend.)"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from caveman_wasm.store import Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ccr.db"


@pytest.fixture
def sqlite_store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def stranger(sqlite_store: Store, path: Path) -> Iterator[sqlite3.Connection]:
    """Another program's connection to the store's file, knowing nothing of us."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as db:
        yield db
