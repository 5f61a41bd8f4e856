"""Who may read the native store's file, and which paths are refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from caveman_wasm.errors import InvalidArguments, StoreUnavailable
from caveman_wasm.model import Recovery
from caveman_wasm.store import files, open_store

RECORD = Recovery("t", "c", 2, 1, b"payload")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="mode bits and owners are POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ccr.db"


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


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_pipes_and_folders_are_refused_without_waiting(path: Path, suffix: str) -> None:
    odd = path.with_name(path.name + suffix)
    os.mkfifo(odd, 0o600)
    with pytest.raises(StoreUnavailable, match="no regular file"):
        open_store(path)
    odd.unlink()
    odd.mkdir()
    with pytest.raises(StoreUnavailable, match="no regular file"):
        open_store(path)


def test_devices_are_refused() -> None:
    with pytest.raises(StoreUnavailable):
        open_store("/dev/null")


@pytest.mark.parametrize("suffix", ["", "-wal"])
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


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_what_is_swapped_between_check_and_opening_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    path = home / "ccr.db"

    def claim_and_lose(name: Any) -> files.ClaimedFile:
        claimed = files.claim(name)
        if swapped == "folder":
            home.rename(tmp_path / "was")
            home.mkdir(mode=0o700)
        else:
            path.rename(path.with_name("was"))
        return claimed

    monkeypatch.setattr("caveman_wasm.store.sqlite.claim", claim_and_lose)
    with pytest.raises(StoreUnavailable, match="was replaced while it was opened"):
        open_store(path)


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
