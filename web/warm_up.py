"""What the memory snapshot holds besides Pyodide: run by snapshot.mjs in the Pyodide that the snapshot is made of."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Final

import caveman_wasm
from caveman_wasm.doors.browser import BrowserDoor

# What is imported late, by the package's own functions or by the standard library's that they call.
_LATE: Final = [
    *("_strptime", "calendar", "csv", "datetime", "decimal", "fractions", "gzip", "importlib.resources"),
    *("random", "unicodedata", "urllib.parse", "pyodide.webloop"),
]
_NATIVE: Final = ("caveman_wasm.__main__", "caveman_wasm.store.sqlite", "caveman_wasm.doors.")


class _Estimate:
    """Stands for the page's counter."""

    name = "warm-up"

    def count(self, data: bytes) -> int:
        return len(data) // 4


class _Given(bytes):
    """Bytes as they come from JavaScript."""

    def to_bytes(self) -> bytes:  # type: ignore[override]
        return bytes(self)


def import_all() -> None:
    """Import everything that a call may need: a page then fetches no file for it."""
    for name in _LATE:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(caveman_wasm.__path__, "caveman_wasm."):
        if not module.name.startswith(_NATIVE):
            importlib.import_module(module.name)


def try_out(folder: str) -> None:
    """Compress and retrieve each file: tables are made, patterns compiled, code specialised; keep no other trace."""
    door = BrowserDoor(_Estimate())
    door.begin("open")()
    for sample in filter(Path.is_file, sorted(Path(folder).iterdir())):
        answer, _ = door.begin("compress", _Given(sample.read_bytes()), None, None, None, None)()
        handle = json.loads(answer)["value"]["recoveryHandle"]
        if handle is None:
            raise SystemExit(f"{sample} was not shortened: {answer}")
        door.begin("retrieve", handle, "failed order error timeout")()
    del door
    for cached in gc.get_objects():
        # What is bounded remembers payloads; the others remember tables.
        if isinstance(cached, functools._lru_cache_wrapper) and cached.cache_parameters()["maxsize"] is not None:
            cached.cache_clear()


def wipe() -> None:
    """Fill what is free with zeros, once memory cannot grow: what was there packs badly, and was of the samples."""
    gc.collect()
    held: tuple[object, ...] = ()
    for size in (1 << 20, 1 << 16, *range(4104, 0, -16)):
        try:
            while True:
                held = held, bytes(size)
        except MemoryError:  # `suppress` would want memory
            continue
