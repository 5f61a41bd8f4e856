"""Opening a store: the one place that asks for the platform.

``sqlite3`` is imported when a SQLite store is opened, not before: most pages and some commands need none.
"""

from __future__ import annotations

import os
import re
import sys

from caveman_wasm.errors import InvalidArguments
from caveman_wasm.store.base import DEFAULT_BUDGET, Store
from caveman_wasm.store.memory import MemoryStore

__all__ = ["Store", "open_memory", "open_store"]


def open_store(path: str | os.PathLike[str] | None = None, *, max_bytes: int | None = None) -> Store:
    """The platform's store: a SQLite file natively, dictionaries in the browser (``path`` says nothing there).

    ``path``: a file in a folder that exists, ``:memory:``, or None for ``ccr.db`` in the folder CAVEMAN_HOME or
    ``~/.caveman``. ``file:…?mode=ro``: a file that is only read; nothing is made or changed, so it may lie where
    nothing can be written, and puts raise StoreUnavailable. On a disk that is full or may only be read, any other
    ``path`` is read alike, until something can be written. ``max_bytes``: the budget in bytes, 512 MiB unless given;
    CAVEMAN_CCR_MAX_BYTES overrides both.
    Raises StoreUnavailable, UnsupportedVersion, InvalidArguments.
    """
    budget = _operators_budget(_checked_budget(max_bytes))
    if sys.platform == "emscripten":
        return MemoryStore(budget)
    from caveman_wasm.store.files import default_path
    from caveman_wasm.store.sqlite import SQLiteStore

    return SQLiteStore(default_path() if path is None else path, budget)


def open_memory(*, max_bytes: int | None = None) -> Store:
    """A store of dictionaries, on any platform, gone when it is closed. ``max_bytes`` as in `open_store`."""
    return MemoryStore(_checked_budget(max_bytes))


def _checked_budget(max_bytes: int | None) -> int:
    if max_bytes is None:
        return DEFAULT_BUDGET
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or not 0 < max_bytes < 2**62:
        raise InvalidArguments("max_bytes is an int above 0, in bytes")
    return max_bytes


def _operators_budget(budget: int) -> int:
    """What CAVEMAN_CCR_MAX_BYTES says, if it is set."""
    value = os.environ.get("CAVEMAN_CCR_MAX_BYTES")
    if value is None:
        return budget
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", value):
        raise InvalidArguments("CAVEMAN_CCR_MAX_BYTES is no positive number of bytes; correct it or unset it")
    return int(value)
