"""Who may read the native store's file, and which paths are refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from caveman_wasm.errors import Forgotten, InvalidArguments, StoreUnavailable
from caveman_wasm.model import Recovery
from caveman_wasm.store import files, open_store

RECORD = Recovery("t", "c", 2, 1, b"payload")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="mode bits and owners are POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o377])
def test_files_are_private_whatever_the_umask(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with open_store(path) as store:
            store.put(RECORD)
            assert {file.name: mode(file) for file in path.parent.iterdir()} == {
                "ccr.db": 0o600,
                "ccr.db-wal": 0o600,
                "ccr.db-shm": 0o600,
            }
    finally:
        os.umask(before)


def test_files_that_others_could_read_are_tightened(path: Path) -> None:
    keeper = open_store(path)
    keeper.put(RECORD)
    for name in ("ccr.db", "ccr.db-wal", "ccr.db-shm"):
        path.with_name(name).chmod(0o666)
    with open_store(path):
        assert {mode(file) for file in path.parent.iterdir()} == {0o600}
    keeper.close()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("dangling", [False, True])
def test_symbolic_links_are_refused_at_every_position(path: Path, suffix: str, dangling: bool) -> None:
    target = path.with_name("elsewhere")
    if not dangling:
        target.touch(0o600)
    path.with_name(path.name + suffix).symlink_to(target)
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        open_store(path)
    assert not target.exists() or target.read_bytes() == b""


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device"])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_what_is_no_regular_file_is_refused_without_waiting(path: Path, suffix: str, kind: str) -> None:
    odd = path.with_name(path.name + suffix)
    if kind == "pipe":
        os.mkfifo(odd, 0o600)
    elif kind == "folder":
        odd.mkdir()
    elif kind == "socket":
        os.mknod(odd, stat.S_IFSOCK | 0o600)
    else:
        try:
            os.mknod(odd, stat.S_IFCHR | 0o600, os.makedev(1, 3))  # as /dev/null
        except PermissionError:
            pytest.skip("only root can make devices")
    for name in (path, f"file:{path}?mode=ro"):
        if suffix and name is not path:
            path.touch(0o600)
        with pytest.raises(StoreUnavailable, match="no regular file"):
            open_store(name)


def test_devices_of_the_system_are_refused() -> None:
    with pytest.raises(StoreUnavailable):
        open_store("/dev/null")


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_file_with_a_second_name_is_refused(path: Path, suffix: str) -> None:
    path.with_name("other").touch(0o600)
    os.link(path.with_name("other"), path.with_name(path.name + suffix))
    with pytest.raises(StoreUnavailable, match="hard links"):
        open_store(path)


@pytest.mark.parametrize("rights", [0o777, 0o770, 0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write_is_refused(path: Path, rights: int) -> None:
    path.parent.chmod(rights)
    with pytest.raises(StoreUnavailable, match="others may write"):
        open_store(path)
    path.parent.chmod(0o755)
    assert not path.exists()
    open_store(path).close()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_and_files_of_other_users_are_refused(path: Path) -> None:
    open_store(path).close()
    os.chown(path, 12345, 12345)
    with pytest.raises(StoreUnavailable, match="another user"):
        open_store(path)
    os.chown(path, 0, 0)
    os.chown(path.parent, 12345, 12345)
    with pytest.raises(StoreUnavailable, match="another user"):
        open_store(path)


def test_a_folder_reached_by_a_link_is_resolved_once(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with open_store(tmp_path / "link" / "ccr.db") as store:
        assert store.location == str((tmp_path / "real").resolve() / "ccr.db")


def between_check_and_opening(monkeypatch: pytest.MonkeyPatch, swap: Callable[[], object]) -> None:
    def claim_and_lose(name: Any) -> files.ClaimedFile:
        claimed = files.claim(name)
        swap()
        return claimed

    monkeypatch.setattr("caveman_wasm.store.sqlite.claim", claim_and_lose)


@pytest.mark.parametrize("swapped", ["file gone", "file", "folder", "folder by a link"])
def test_what_is_swapped_between_check_and_opening_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    path = home / "ccr.db"
    for folder in (home, other):
        folder.mkdir(mode=0o700)
        open_store(folder / "ccr.db").close()
    theirs = (other / "ccr.db").read_bytes()

    def swap() -> None:
        if swapped == "file gone":
            path.rename(path.with_name("was"))
        elif swapped == "file":
            (other / "ccr.db").replace(path)
        else:
            home.rename(tmp_path / "was")
            other.rename(home) if swapped == "folder" else home.symlink_to(other)

    between_check_and_opening(monkeypatch, swap)
    with pytest.raises(StoreUnavailable, match="was replaced while it was opened"):
        open_store(path)
    if swapped != "file gone":
        assert path.read_bytes() == theirs


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_link_put_there_between_check_and_opening_is_refused_and_its_target_untouched(
    path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    target = path.with_name("elsewhere")
    target.touch(0o600)

    def swap() -> None:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.with_name(path.name + suffix).symlink_to(target)

    between_check_and_opening(monkeypatch, swap)
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        open_store(path)
    assert target.read_bytes() == b""


# ---------------------------------------------------------------- opened for reading, on purpose


def test_a_store_opened_for_reading_retrieves_and_changes_nothing(path: Path) -> None:
    with open_store(path) as store:
        handle = store.put(RECORD)
        gone = store.put(Recovery("t", "c", 2, 1, b"gone"))
        store.forget([gone])
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with open_store(f"file:{path}?mode=ro") as store:
        assert store.get(handle) == b"payload"
        assert store.stats().records == 1
        assert [info.handle for info in store.records()] == [handle]
        with pytest.raises(Forgotten):
            store.get(gone)
        for change in (lambda: store.put(RECORD), lambda: store.forget([handle]), lambda: store.withdraw(handle)):
            with pytest.raises(StoreUnavailable, match="opened for reading only"):
                change()
    assert path.read_bytes() == before["ccr.db"]


def test_a_store_opened_for_reading_sees_what_a_writer_puts_beside_it(path: Path) -> None:
    with open_store(path) as writer, open_store(f"file:{path}?mode=ro") as reader:
        assert reader.get(writer.put(RECORD)) == b"payload"


def test_opening_for_reading_makes_no_file_and_loosens_no_check(path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_store(f"file:{path}?mode=ro")
    assert not path.exists()
    open_store(path).close()
    path.chmod(0o622)
    with pytest.raises(StoreUnavailable, match="others may write"):
        open_store(f"file:{path}?mode=ro")
    assert mode(path) == 0o622
    path.chmod(0o600)
    path.rename(path.with_name("real"))
    path.symlink_to(path.with_name("real"))
    with pytest.raises(StoreUnavailable, match="symbolic link"):
        open_store(f"file:{path}?mode=ro")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose parents every user may pass, unlike those of ``tmp_path``."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("name", ["{}", "file:{}?mode=ro"])
def test_where_nothing_may_be_written_a_store_is_read(open_folder: Path, name: str) -> None:
    """As a user without root's rights, in a folder and on a file that even its owner may only read."""
    path = open_folder / "ccr.db"
    with open_store(path) as store:
        handle = store.put(RECORD)
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
        os.chown(open_folder, 12345, 12345)
    path.chmod(0o400)
    open_folder.chmod(0o500)
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(12345)
                os.setuid(12345)
            with open_store(name.format(path)) as store:
                read = store.get(handle) == b"payload"
                try:
                    store.put(RECORD)
                except StoreUnavailable:
                    os._exit(7 if read else 1)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    open_folder.chmod(0o700)
    assert ended == 7


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="missing"):
        open_store(tmp_path / "missing" / "ccr.db")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable):
        open_store(tmp_path / "file" / "ccr.db")


@pytest.mark.parametrize("wrong", ["", b"ccr.db", 3, "a\0b", "folder/"])
def test_a_path_is_the_path_of_a_file(wrong: Any) -> None:
    with pytest.raises(InvalidArguments):
        open_store(wrong)


@pytest.mark.parametrize("name", ["file:x?mode=memory", "a b%20c#d?e.db", "naïve 日本.db", "-x.db"])
def test_odd_names_are_names(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(name) as store:
        handle = store.put(RECORD)
    with open_store(tmp_path / name) as store:
        assert store.get(handle) == b"payload"


def test_the_default_store_lies_in_caveman_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path / "deep" / "home"))
    with open_store() as store:
        assert store.location == str((tmp_path / "deep" / "home" / "ccr.db").resolve())
    assert mode(tmp_path / "deep" / "home") == 0o700


def test_without_caveman_home_it_lies_in_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAVEMAN_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_store() as store:
        assert store.location == str((tmp_path / ".caveman" / "ccr.db").resolve())
    assert mode(tmp_path / ".caveman") == 0o700


def test_checking_a_file_drops_no_lock_of_this_process(path: Path) -> None:
    """Closing any descriptor of a file would drop SQLite's POSIX locks on it."""
    code = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"
    )
    with open_store(path) as store, store._writing():
        files.confirm(files.claim(path))
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60)
        assert "database is locked" in other.stderr
