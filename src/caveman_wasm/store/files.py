"""Who may read the file: its folder, its kind, its mode; and that the file SQLite opened is the one checked.

Files are looked at by ``lstat`` and never opened here once they exist: closing any descriptor of a file drops all
POSIX locks that this process holds on it, SQLite's among them.
"""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import dataclass
from typing import Final

from caveman_wasm.errors import InvalidArguments, StoreUnavailable

__all__ = ["ClaimedFile", "claim", "confirm", "default_folder", "default_path", "look", "read_only_path", "uri"]

SIDECARS: Final = ("-journal", "-wal", "-shm")
_POSIX: Final = os.name == "posix"  # elsewhere mode bits and owners say nothing
# Guards creation: see above, and another thread's SQLite must not lock the file before our descriptor is closed.
_creating = threading.Lock()

_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ClaimedFile:
    """A checked database file: its resolved path, which folder and file it was, and whether it is only read."""

    path: str
    folder: _Identity
    file: _Identity
    read_only: bool = False


def default_folder() -> str:
    """The folder CAVEMAN_HOME, or ``~/.caveman``; it need not be there."""
    return os.environ.get("CAVEMAN_HOME") or os.path.expanduser(os.path.join("~", ".caveman"))


def default_path() -> str:
    """``ccr.db`` in the folder CAVEMAN_HOME, or in ``~/.caveman``; the folder is made, mode 0700, if it is missing."""
    folder = default_folder()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except (OSError, ValueError) as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made: {_why(error)}; set CAVEMAN_HOME") from None
    return os.path.join(folder, "ccr.db")


def read_only_path(path: object) -> str | None:
    """The path in ``file:…?mode=ro``, SQLite's way to ask for reading only (``%3f`` for a ``?`` in the name).

    None for everything else: other names that begin with ``file:`` are names.
    """
    if not isinstance(path, str) or not path.startswith("file:") or not path.endswith("?mode=ro"):
        return None
    from urllib.parse import unquote  # only who asks for it pays for it

    name = unquote(path[len("file:") : -len("?mode=ro")])
    return name[2:] if name.startswith("///") else name


def uri(path: str, options: str) -> str:
    """An absolute path as SQLite's URI."""
    from urllib.parse import quote

    return f"file://{quote(path)}?{options}"


def claim(path: str | os.PathLike[str]) -> ClaimedFile:
    """Check folder and files, make the file if it is missing, take others' rights off. Raises StoreUnavailable."""
    return _checked(path, read_only=False)


def look(path: str) -> ClaimedFile:
    """Check as `claim` does, but make and change nothing. Raises StoreUnavailable."""
    return _checked(path, read_only=True)


def _checked(path: str | os.PathLike[str], read_only: bool) -> ClaimedFile:
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else b""
    if not isinstance(name, str) or not os.path.basename(name) or "\0" in name:
        raise InvalidArguments("path is the path of a file, as str or PathLike")
    try:
        # The file's own links are refused below, its folder's are followed once, here.
        folder = os.path.realpath(os.path.dirname(os.path.abspath(name)), strict=True)
        full = os.path.join(folder, os.path.basename(name))
        home = _checked_folder(folder)
        if not read_only:
            _create(full)
        claimed = ClaimedFile(full, home, _checked_file(full, read_only), read_only)
        _check_sidecars(full, read_only)
    except OSError as error:
        raise StoreUnavailable(f"the store {name} cannot be opened: {_why(error)}") from None
    return claimed


def confirm(claimed: ClaimedFile) -> None:
    """Is what stands at the path still what was checked, and are the sidecars fit? Raises StoreUnavailable."""
    path = claimed.path
    try:
        folder, file = _identity(os.stat(os.path.dirname(path))), _checked_file(path, claimed.read_only)
        if (folder, file) != (claimed.folder, claimed.file):
            raise StoreUnavailable(f"the store {path} was replaced while it was opened; it was not touched")
        _check_sidecars(path, claimed.read_only)
    except OSError as error:
        raise StoreUnavailable(f"the store {path} cannot be opened: {_why(error)}") from None


def _checked_folder(folder: str) -> _Identity:
    found = os.stat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise StoreUnavailable(f"{folder} is no folder; give the store another path")
    if _POSIX and found.st_uid != os.geteuid():
        raise StoreUnavailable(f"the folder {folder} belongs to another user; give the store a folder of your own")
    if _POSIX and found.st_mode & 0o022:
        raise StoreUnavailable(f"others may write to the folder {folder}; chmod go-w it, or give the store another")
    return _identity(found)


def _create(path: str) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with _creating:
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            return
        try:
            if _POSIX:
                os.fchmod(descriptor, 0o600)  # whatever the umask
        finally:
            os.close(descriptor)


def _checked_file(path: str, read_only: bool) -> _Identity:
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        raise StoreUnavailable(f"{path} is a symbolic link; give the store the file itself")
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnavailable(f"{path} is no regular file; give the store another path")
    if found.st_nlink > 1:
        raise StoreUnavailable(f"{path} has {found.st_nlink} names (hard links); a store has one: remove the others")
    if _POSIX and found.st_uid != os.geteuid():
        raise StoreUnavailable(f"{path} belongs to another user; give the store a file of your own")
    if _POSIX and read_only and found.st_mode & 0o022:
        raise StoreUnavailable(f"others may write to {path}; chmod go-w it, then open it again")
    if _POSIX and not read_only and found.st_mode & 0o077:
        os.chmod(path, 0o600)
    return _identity(found)


def _check_sidecars(path: str, read_only: bool) -> None:
    for suffix in SIDECARS:
        try:
            _checked_file(path + suffix, read_only)
        except FileNotFoundError:
            continue  # or it went between two looks: the last connection of another process takes it along


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
