"""doctor on stores that are really broken: what it says, what it says to do, and that it leaves them as they were.

Every case is asked for as JSON and as text for people, which must say the same; `pytest -rP` shows the texts.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from caveman_wasm import Recovery, open_store
from caveman_wasm.doors.cli import caveman_main, engine_main

PAYLOAD = b"2026-03-14 ERROR out of paper\n" * 40
POSIX = pytest.mark.skipif(os.name != "posix", reason="mode bits and owners are POSIX's")


class Home:
    """A folder with a store that holds one record; ``doctor`` runs the command on it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        self.file = folder / "ccr.db"
        folder.mkdir(mode=0o700)
        with open_store(self.file) as store:
            self.handle = store.put(Recovery("log", "log/1", 400, 20, PAYLOAD))

    def sql(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.file)) as db, db:
            db.execute(statement, values)

    def doctor(self, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """The exit status, and the findings by the name of their check."""
        self.capsys.readouterr()
        status = engine_main(["doctor", "--json", *arguments])
        said = json.loads(self.capsys.readouterr().out)
        assert said["ok"] is (status == 0)
        assert all(it["do"] for it in said["checks"] if it["level"] != "ok")
        assert engine_main(["doctor", *arguments]) == status
        text = self.capsys.readouterr().out
        self.says_the_same(said["checks"], text.splitlines())
        print(text)
        return status, {it["check"]: it for it in said["checks"]}

    def says_the_same(self, checks: list[dict[str, Any]], lines: list[str]) -> None:
        """A line a check with what to do below it, and a last line that counts what is wrong."""
        signs = {"ok": "ok", "warning": "WARNING", "wrong": "WRONG"}
        for it in checks:
            at = next(i for i, line in enumerate(lines) if line.split()[:2] == [signs[it["level"]], it["check"]])
            # What is free changes meanwhile, and reading leaves SQLite's sidecars, with nothing in them.
            assert lines[at].endswith(it["found"]) or it["check"] in ("disk", "sizes")
            assert not it["do"] or lines[at + 1].strip() == f"-> {it['do']}"
        shown = [line.split()[1] for line in lines if line.startswith("WRONG")]
        wrong = [it["check"] for it in checks if it["level"] == "wrong"]
        assert [name for name in shown if name in wrong or not name.startswith("-")] == wrong
        assert lines[-1].startswith(f"{len(shown)} of " if shown else "Nothing is wrong.")

    def wrong(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """What is wrong, where something must be."""
        status, found = self.doctor(*arguments)
        assert status == 1
        return {name: it for name, it in found.items() if it["level"] == "wrong"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Home:
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home", capsys)


def test_a_sound_store_passes_every_check_and_the_exit_status_is_0(home: Home) -> None:
    status, found = home.doctor(home.handle)
    assert status == 0
    assert {it["level"] for it in found.values()} == {"ok"}
    checks = "store folder file sizes disk opens wal schema budget totals database records counter reference held"
    assert set(checks.split()) <= found.keys()
    assert str(home.file) in found["store"]["found"]
    assert f"{len(PAYLOAD):,} bytes" in found["held"]["found"]


def test_the_text_for_people_says_the_same_with_what_to_do_below(home: Home) -> None:
    home.file.unlink()
    assert caveman_main(["tools", "doctor"]) == 1
    lines = home.capsys.readouterr().out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("WRONG"))
    assert str(home.file) in lines[at]
    assert "CAVEMAN_HOME" in lines[at + 1]
    assert lines[-1].startswith("1 of ")


def test_a_missing_file_is_said_and_not_made(home: Home) -> None:
    home.file.unlink()
    assert "not there" in home.wrong()["file"]["found"]
    assert list(home.folder.iterdir()) == []


def test_a_missing_folder_is_said_and_not_made(home: Home) -> None:
    shutil.rmtree(home.folder)
    assert home.wrong().keys() == {"folder"}
    assert not home.folder.exists()


@POSIX
def test_a_file_that_others_may_read_is_said_and_stays_so(home: Home) -> None:
    home.file.chmod(0o644)
    assert home.wrong()["file"]["do"] == f"chmod 600 {home.file}*"
    assert home.file.stat().st_mode & 0o777 == 0o644


@POSIX
def test_a_folder_that_others_may_write_to_is_said(home: Home) -> None:
    home.folder.chmod(0o777)
    wrong = home.wrong()
    assert "0777" in wrong["folder"]["found"]
    assert "others may write" in wrong["opens"]["found"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_said(home: Home) -> None:
    os.chown(home.file, 12345, -1)
    assert "12345" in home.wrong()["file"]["found"]


@POSIX
def test_a_link_in_the_files_place_is_said(home: Home, tmp_path: Path) -> None:
    home.file.rename(tmp_path / "elsewhere.db")
    home.file.symlink_to(tmp_path / "elsewhere.db")
    assert "symbolic link" in home.wrong()["file"]["found"]


def test_a_handle_cut_short_is_said_with_how_many_digits_are_missing(home: Home) -> None:
    wrong = home.wrong(home.handle[:-5])
    assert wrong.keys() == {"reference"}
    assert "5 of its 32 digits" in wrong["reference"]["found"]


def test_an_unknown_handle_is_complete_but_not_held(home: Home) -> None:
    status, found = home.doctor("ccr_" + "0" * 32)
    assert (status, found["reference"]["level"], found["held"]["level"]) == (1, "ok", "wrong")


def test_a_forgotten_handle_is_told_from_an_unknown_one(home: Home) -> None:
    with open_store(home.file) as store:
        store.forget([home.handle])
    assert "cave_forgotten" in home.wrong(home.handle)["held"]["found"]


def test_a_record_put_under_another_home_is_found_there(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    default = Path(os.environ["HOME"], ".caveman")
    default.mkdir(mode=0o700)
    with open_store(default / "ccr.db") as store:
        handle = store.put(Recovery("log", "log/1", 400, 20, PAYLOAD + b"there"))
    status, found = home.doctor(handle)
    assert status == 1
    assert str(default) in found["store"]["found"]
    assert f"{default / 'ccr.db'} holds it" in found["held"]["found"]
    assert found["held"]["do"].startswith(f"Set CAVEMAN_HOME to {default}")
    monkeypatch.delenv("CAVEMAN_HOME")
    assert home.doctor(handle)[0] == 0


def test_a_changed_row_is_named_and_stays(home: Home) -> None:
    home.sql("UPDATE recoveries SET original = ? WHERE handle = ?", b"x" * len(PAYLOAD), home.handle)
    wrong = home.wrong(home.handle)
    assert wrong.keys() == {"records", "held"}
    assert home.handle in wrong["records"]["found"]
    assert "x" * 20 not in json.dumps(wrong)
    assert home.wrong().keys() == {"records"}


def test_of_many_changed_rows_twenty_are_named_and_all_are_counted(home: Home) -> None:
    with open_store(home.file) as store:
        for i in range(40):
            store.put(Recovery("log", "log/1", 4, 2, b"%d" % i))
    home.sql("UPDATE recoveries SET original = 'x'")
    found = home.wrong()["records"]["found"]
    assert found.startswith("41 ")
    assert found.count("ccr_") == 20


def test_a_kept_total_that_is_off_is_said(home: Home) -> None:
    home.sql("UPDATE caveman_totals SET bytes = bytes + 7 WHERE name = 'recoveries'")
    assert f"{len(PAYLOAD) + 7:,} bytes" in home.wrong()["totals"]["found"]


def test_a_full_budget_is_wrong_and_four_fifths_are_a_warning(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", str(len(PAYLOAD)))
    wrong = home.wrong()["budget"]
    assert "100% full" in wrong["found"]
    assert "forget" in wrong["do"]
    monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", str(len(PAYLOAD) * 10 // 8))
    status, found = home.doctor()
    assert (status, found["budget"]["level"]) == (0, "warning")


def test_a_put_that_was_refused_is_said_with_its_time(home: Home) -> None:
    with open_store(home.file, max_bytes=len(PAYLOAD) + 9) as store, pytest.raises(Exception, match="budget"):
        store.put(Recovery("log", "log/1", 400, 20, PAYLOAD + b"more"))
    _, found = home.doctor()
    assert "refused 1 times, last at 20" in found["budget"]["found"]


def test_a_budget_that_is_no_number_is_said(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_CCR_MAX_BYTES", "lots")
    assert "CAVEMAN_CCR_MAX_BYTES" in home.wrong()["opens"]["found"]


def test_a_wal_that_a_crash_left_days_ago_is_a_warning_and_its_record_is_held(home: Home) -> None:
    crashed = home.folder.parent / "crashed"
    with open_store(home.file) as store:
        handle = store.put(Recovery("log", "log/1", 400, 20, PAYLOAD + b"in the wal"))
        shutil.copytree(home.folder, crashed)
    shutil.rmtree(home.folder)
    crashed.rename(home.folder)
    (home.folder / "ccr.db-shm").unlink()
    wal = home.folder / "ccr.db-wal"
    before = home.file.read_bytes(), wal.read_bytes()
    os.utime(wal, (1.7e9, 1.7e9))
    status, found = home.doctor(handle)
    assert (status, found["sizes"]["level"], found["held"]["level"]) == (0, "warning", "ok")
    assert f"-wal {len(before[1]):,}" in found["sizes"]["found"]
    assert (home.file.read_bytes(), wal.read_bytes()) == before


def test_a_wal_of_another_database_is_said(home: Home, tmp_path: Path) -> None:
    with open_store(tmp_path / "other.db") as other:
        other.put(Recovery("log", "log/1", 400, 20, PAYLOAD * 200))
        shutil.copy(tmp_path / "other.db-wal", home.folder / "ccr.db-wal")
    (home.folder / "ccr.db-wal").chmod(0o600)
    assert any("belongs to another database" in it["found"] for it in home.wrong().values())


def test_a_file_that_is_no_database_is_said_and_stays(home: Home) -> None:
    home.file.write_bytes(b"Dear diary, " * 500)
    assert "no SQLite database" in home.wrong(home.handle)["opens"]["found"]
    assert home.file.read_bytes() == b"Dear diary, " * 500


def test_a_file_cut_short_is_said(home: Home) -> None:
    with open_store(home.file) as store:
        for i in range(50):
            store.put(Recovery("log", "log/1", 400, 20, PAYLOAD + b"%d" % i))
    with home.file.open("r+b") as file:
        file.truncate(home.file.stat().st_size // 2)
    wrong = home.wrong()
    assert wrong.keys() & {"opens", "database"}
    assert not any("run doctor" in it["do"].lower() for it in wrong.values())


def test_a_store_of_a_newer_version_is_said(home: Home) -> None:
    home.sql("UPDATE caveman_notes SET value = '99' WHERE key = 'schema_version'")
    wrong = home.wrong()["opens"]
    assert "cave_unsupported_version" in wrong["found"]
    assert "pdate the package" in wrong["do"]


def test_a_sound_store_is_the_same_bytes_afterwards(home: Home) -> None:
    before = home.file.read_bytes()
    home.doctor()
    assert home.file.read_bytes() == before
