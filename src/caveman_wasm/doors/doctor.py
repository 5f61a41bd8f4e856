"""The operator's checklist as a command: is it the store that was meant, is it whole, is there room.

Nothing is repaired, changed or deleted: the store is opened for reading only (SQLite may leave its sidecars, with
nothing in them). Every finding says what to do.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from caveman_wasm.errors import CavemanError, Forgotten, NotFound
from caveman_wasm.references import is_object_id, parse_reference
from caveman_wasm.store.files import SIDECARS, default_folder

if TYPE_CHECKING:
    from caveman_wasm.store.sqlite import SQLiteStore

__all__ = ["Finding", "examine", "shown"]

LARGE_WAL: Final = 64 * 1024 * 1024  # bytes; the store's own limit on one that is at rest
OLD_WAL: Final = 24 * 3600  # seconds
LEAST_ROOM: Final = 16 * 1024 * 1024  # bytes of disk below which SQLite may fail in the middle of anything
NAMED: Final = 20  # damaged records that are named
POSIX: Final = os.name == "posix"  # elsewhere mode bits and owners say nothing


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the list. ``do`` is empty where nothing need be done."""

    check: str
    level: Literal["ok", "warning", "wrong"]
    found: str
    do: str = ""

    @property
    def fine(self) -> bool:
        return self.level != "wrong"


def examine(reference: str | None = None) -> list[Finding]:
    """Check the store that every command here would open, and where ``reference`` stands in it. Raises nothing."""
    path = os.path.join(default_folder(), "ccr.db")
    found = [_home(path), *_files(path)]
    store: SQLiteStore | None = None
    if os.path.lexists(path):
        found.append(_room_on_disk(path))
        store, opened = _opened(path)
        found.append(opened)
    try:
        if store is not None:
            found += _contents(store)
        found.append(_counter())
        if reference is not None:
            found += _reference(store, path, reference)
    finally:
        if store is not None:
            store.close()
    return found


def shown(found: list[Finding], *, as_json: bool = False) -> str:
    """The list as text for people, or as one JSON object."""
    if as_json:
        return json.dumps({"ok": all(it.fine for it in found), "checks": [asdict(it) for it in found]})
    signs = {"ok": "ok     ", "warning": "WARNING", "wrong": "WRONG  "}
    lines = []
    for it in found:
        lines.append(f"{signs[it.level]}  {it.check:<12} {it.found}")
        lines += [f"{'':<22} -> {it.do}"] if it.do else []
    wrong = sum(not it.fine for it in found)
    lines.append(f"{wrong} of {len(found)} checks found something wrong." if wrong else "Nothing is wrong.")
    return "\n".join(lines)


# ---------------------------------------------------------------- place and files


def _home(path: str) -> Finding:
    said = "CAVEMAN_HOME is set" if os.environ.get("CAVEMAN_HOME") else "CAVEMAN_HOME is not set"
    others = _other_stores(path)
    do = "If a reference is unknown here, whoever stored it may have used the other: set CAVEMAN_HOME alike for all."
    if others:
        return Finding("store", "ok", f"{path} ({said}); there is another: {', '.join(others)}", do)
    return Finding("store", "ok", f"{path} ({said})")


def _other_stores(path: str) -> list[str]:
    """Stores that a process with another environment would have used: by HOME, and by the password file."""
    homes = [os.path.expanduser("~")]
    if POSIX:
        import pwd

        with suppress(KeyError):  # a user without an entry, as in containers
            homes.append(pwd.getpwuid(os.geteuid()).pw_dir)
    found = dict.fromkeys(os.path.join(home, ".caveman", "ccr.db") for home in homes)
    return [other for other in found if os.path.isfile(other) and not _same(other, path)]


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _files(path: str) -> Iterator[Finding]:
    """Folder, file, sidecars: there, of the right kind, whose, who else may; then their sizes."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        do = "Any command that stores something makes it. If there should be one, set CAVEMAN_HOME to its folder."
        yield Finding("folder", "wrong", f"{folder} is not there", do)
        return
    yield _rights("folder", folder, os.stat(folder), 0o022)
    if not os.path.lexists(path):
        do = "Nothing was stored here yet, or it was deleted or moved. If it should be there, check CAVEMAN_HOME."
        yield Finding("file", "wrong", f"{path} is not there", do)
        return
    yield _rights("file", path, os.lstat(path), 0o077)
    sizes = {"": os.lstat(path).st_size}
    for suffix in SIDECARS:
        try:
            state = os.lstat(path + suffix)
        except FileNotFoundError:
            continue
        sizes[suffix] = state.st_size
        yield _rights(suffix, path + suffix, state, 0o077)
    yield _sizes(path, sizes)


def _rights(check: str, path: str, state: os.stat_result, forbidden: int) -> Finding:
    mode = f"{stat.S_IMODE(state.st_mode):04o}"
    of_kind = stat.S_ISDIR if check == "folder" else stat.S_ISREG
    if not of_kind(state.st_mode):
        kind = "a symbolic link" if stat.S_ISLNK(state.st_mode) else "of another kind"
        return Finding(check, "wrong", f"{path} is {kind}", "Put the store's own file there; it is refused like this.")
    if check != "folder" and state.st_nlink > 1:
        do = "Remove the other names (hard links); it is refused like this."
        return Finding(check, "wrong", f"{path} has {state.st_nlink} names", do)
    if POSIX and state.st_uid != os.geteuid():
        do = "Run this as that user, or chown it to yours; it is refused like this."
        return Finding(check, "wrong", f"{path} belongs to user {state.st_uid}, you are {os.geteuid()}", do)
    if POSIX and state.st_mode & forbidden:
        do = f"chmod go-w {path}" if check == "folder" else f"chmod 600 {path}{'*' if check == 'file' else ''}"
        return Finding(check, "wrong", f"{path} has mode {mode}: others have rights to it", do)
    if not os.access(path, os.R_OK | os.W_OK):
        return Finding(check, "wrong", f"{path} has mode {mode}: you may not read and write it", f"chmod u+rw {path}")
    return Finding(check, "ok", f"{path}, mode {mode}")


def _sizes(path: str, sizes: dict[str, int]) -> Finding:
    parts = ", ".join(f"{suffix or 'file'} {size:,}" for suffix, size in sizes.items())
    said = f"{sum(sizes.values()):,} bytes in all: {parts}"
    waiting = sizes.get("-wal", 0)
    if not waiting:
        return Finding("sizes", "ok", said)
    age = max(0, time.time() - os.lstat(path + "-wal").st_mtime)
    if waiting > LARGE_WAL or age > OLD_WAL:
        why = f"the -wal has waited for {age / 3600:.0f} hours to be taken in"
        do = "End processes that hang with the store open, then run `caveman-engine stats`. Never delete a -wal."
        return Finding("sizes", "warning", f"{said}; {why}", do)
    return Finding("sizes", "ok", f"{said}; what is in the -wal is stored, and belongs to the file")


def _room_on_disk(path: str) -> Finding:
    free = shutil.disk_usage(os.path.dirname(path)).free
    said = f"{free:,} bytes free on the disk"
    if free < LEAST_ROOM:
        return Finding("disk", "wrong", said, "Make room: nothing more can be stored, and deleting needs room too.")
    return Finding("disk", "ok", said)


# ---------------------------------------------------------------- what is in it


def _opened(path: str) -> tuple[SQLiteStore | None, Finding]:
    from caveman_wasm.store import open_store
    from caveman_wasm.store.sqlite import SQLiteStore

    try:
        store = open_store(_to_read(path))
    except CavemanError as error:
        said, _, then = str(error).partition("; ")
        then = then.removeprefix("run doctor").removeprefix(", and ")  # this is doctor
        do = f"{then[:1].upper()}{then[1:]}." if then else "Correct this first; the other checks need the store open."
        return None, Finding("opens", "wrong", f"{error.code}: {said}", do)
    assert isinstance(store, SQLiteStore)
    return store, Finding("opens", "ok", "for reading")


def _to_read(path: str) -> str:
    from urllib.parse import quote

    return f"file:{quote(os.path.abspath(path))}?mode=ro"


def _contents(store: SQLiteStore) -> Iterator[Finding]:
    checks = (_wal, _kept, _budget, _totals, _database, _records)
    for check in checks:
        try:
            yield check(store)
        except CavemanError as error:
            do = "Export what can still be read (`caveman-engine export > FILE`), then import it into a new store."
            yield Finding(check.__name__.strip("_"), "wrong", f"{error.code}: {error}", do)


def _wal(store: SQLiteStore) -> Finding:
    store.check_wal()
    return Finding("wal", "ok", "none of another database")


def _kept(store: SQLiteStore) -> Finding:
    pragmas = store.pragmas()
    said = ", ".join(f"{name} {value}" for name, value in pragmas.items())
    if pragmas["schema_version"] == 0:
        return Finding("schema", "ok", f"{said}; a file of the original engine", "The next put brings it up to date.")
    if pragmas["journal_mode"] != "wal":
        do = (
            "Run `caveman-engine stats`, which sets WAL; if it stays, the file system does not take it: move the store."
        )
        return Finding("schema", "wrong", f"{said}: others wait for every write", do)
    return Finding("schema", "ok", said)


def _budget(store: SQLiteStore) -> Finding:
    stats = store.stats()
    share = stats.storage_bytes / stats.max_storage_bytes
    said = f"{share:.0%} full: {stats.storage_bytes:,} of {stats.max_storage_bytes:,} bytes"
    said += f"; refused {stats.refused} times, last at {stats.refused_at}" if stats.refused else "; never refused"
    do = "`caveman-engine list`, then `caveman-engine forget` what is no longer needed; or raise CAVEMAN_CCR_MAX_BYTES."
    if stats.storage_full:
        return Finding("budget", "wrong", f"{said}. Nothing is shortened any more", do)
    if stats.nearly_full or stats.refused:
        return Finding("budget", "warning", said, do)
    return Finding("budget", "ok", said)


def _totals(store: SQLiteStore) -> Finding:
    kept, counted = store.kept(), store.recounted()
    said = f"{counted.records:,} records and {counted.objects:,} objects, {counted.used:,} bytes"
    if kept != counted and kept == (kept := store.kept()):  # else somebody wrote between the two
        do = "Export everything (`caveman-engine export > FILE`) and import it into a new store, which counts anew."
        return Finding("totals", "wrong", f"{kept.used:,} bytes are kept as used, counted are {said}", do)
    return Finding("totals", "ok", f"{said}, as kept")


def _database(store: SQLiteStore) -> Finding:
    flaws = store.flaws()
    if not flaws:
        return Finding("database", "ok", "SQLite's integrity check finds nothing")
    do = "Check the disk. Copy the folder; export what can be read (`caveman-engine export > FILE`) into a new store."
    first = " ".join(flaws[0].split())[:200]
    return Finding(
        "database", "wrong", f"SQLite's integrity check finds {len(flaws)} flaws or more; first: {first}", do
    )


def _records(store: SQLiteStore) -> Finding:
    damaged = store.damaged()
    names = [str(error.reference) for error in islice(damaged, NAMED)]
    if not names:
        return Finding("records", "ok", "every record and object matches its hash")
    count = len(names) + sum(1 for _ in damaged)
    do = (
        "They are never handed out. Run the tools that made them again; `caveman-engine forget` them to be rid of them."
    )
    return Finding("records", "wrong", f"{count} do not match their hash: {', '.join(names)}", do)


def _counter() -> Finding:
    from caveman_wasm.tokens import default_counter

    return Finding("counter", "ok", f"tokens are counted by {default_counter().name}")


# ---------------------------------------------------------------- one reference


def _reference(store: SQLiteStore | None, path: str, reference: str) -> Iterator[Finding]:
    try:
        name = parse_reference(reference).id
    except CavemanError as error:
        do = "Copy the whole reference, ccr_ and 32 digits, from the text that closes with it."
        yield Finding("reference", "wrong", f"{error.code}: {error}", do)
        return
    yield Finding("reference", "ok", f"{name} is complete")
    if store is None:
        yield _elsewhere(path, name, "the store cannot be read")
        return
    try:
        size = len(store.get_object(name).data if is_object_id(name) else store.get(name))
    except Forgotten as error:
        yield Finding("held", "wrong", f"{error.code}: {error}", "Run the tool that made it again.")
    except NotFound as error:
        yield _elsewhere(path, name, f"{error.code}: it is not in this store")
    except CavemanError as error:
        yield Finding("held", "wrong", f"{error.code}: {error}", "Run the tool that made it again.")
    else:
        yield Finding("held", "ok", f"{size:,} bytes, as they were put")


def _elsewhere(path: str, name: str, said: str) -> Finding:
    from caveman_wasm.store import open_store

    for other in _other_stores(path):
        try:
            with open_store(_to_read(other)) as store:
                if store.holds(name):
                    do = f"Set CAVEMAN_HOME to {os.path.dirname(other)} wherever it is asked for."
                    return Finding("held", "wrong", f"{said}, but {other} holds it", do)
        except CavemanError:
            continue
    do = "Check that whoever stored it has the same CAVEMAN_HOME and HOME; else run the tool that made it again."
    return Finding("held", "wrong", said, do)
