"""The day the store is full: every door says so early, what is held is listed, and only the operator deletes."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_cli import LOG, Shell, report

from caveman_wasm.model import Recovery, TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import open_store

BUDGET = 1_000_000
SIZES = {"json": 100_000, "log": 300_000, "text": 200_000, "diff": 250_000}  # in the order of their times


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A home whose store is 85 % full: one record of each type, one day apart."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with open_store(home / "ccr.db", max_bytes=BUDGET) as store:
        for day, (kind, size) in enumerate(SIZES.items(), 1):
            at = f"2026-02-0{day}T12:00:00.000000000Z"
            store.put(Recovery(kind, kind, 900, 90, payload(kind), created_at=at))
            assert size == len(payload(kind))
    return Shell(home, CAVEMAN_CCR_MAX_BYTES=str(BUDGET))


def payload(kind: str) -> bytes:
    return (kind.encode() * SIZES[kind])[: SIZES[kind]]


def name(kind: str) -> str:
    return handle(payload(kind))


def listed(shell: Shell, *options: str) -> list[str]:
    """The types, in the order in which they are listed."""
    run = shell("list", "--json", *options)
    assert run.returncode == 0, run.stderr
    return [json.loads(line)["content_type"] for line in run.stdout.splitlines()]


def bytes_on_disk(shell: Shell) -> int:
    return sum(file.stat().st_size for file in Path(shell.environment["CAVEMAN_HOME"]).iterdir())


# ---------------------------------------------------------------- said early


def test_stats_doctor_and_reports_warn_from_four_fifths_on(shell: Shell) -> None:
    assert b"nearly full" in shell("stats").stdout
    assert json.loads(shell("stats", "--json").stdout)["nearly_full"] is True
    (budget,) = (it for it in json.loads(shell("doctor", "--json").stdout)["checks"] if it["check"] == "budget")
    assert (budget["level"], budget["found"][:8]) == ("warning", "85% full")
    assert "`caveman-engine forget`" in budget["do"]
    for tool, words in (("engine_main", ["compress"]), ("caveman_main", ["tools", "compress"])):
        said = report(shell(*words, stdin=LOG, tool=tool))
        assert said["recovery_handle"]
        assert said["warning"].startswith(f"The store is {(850_000 + len(LOG)) / BUDGET:.0%} full.")
    assert json.loads(shell("tools", "stats", tool="caveman_main").stdout)["nearly_full"] is True


def test_below_four_fifths_nobody_warns(shell: Shell) -> None:
    assert shell("forget", name("diff"), "--yes").returncode == 0
    assert b"nearly full" not in shell("stats").stdout
    assert json.loads(shell("stats", "--json").stdout)["nearly_full"] is False
    assert "warning" not in report(shell("compress", stdin=LOG))
    assert b"WARNING" not in shell("doctor").stdout


def test_a_full_store_refuses_deletes_nothing_and_works_again_once_the_operator_has_deleted(shell: Shell) -> None:
    large = b"\n".join(b"2026-03-01 04:26:12 INFO order %d was verified" % n for n in range(5000))
    for _ in range(2):
        run = shell("compress", stdin=large)
        assert (run.stdout, report(run)["error"]) == (large, "cave_ccr_budget_exceeded")
    assert sorted(listed(shell)) == sorted(SIZES)
    assert b"2 times" in shell("stats").stdout
    assert shell("forget", name("log"), "--yes").returncode == 0
    assert report(shell("compress", stdin=large))["recovery_handle"] == handle(large)


# ---------------------------------------------------------------- list


def test_list_tells_newest_largest_and_by_type_first(shell: Shell) -> None:
    assert listed(shell, "--sort", "newest") == ["diff", "text", "log", "json"]
    assert listed(shell, "--sort", "largest") == ["log", "diff", "text", "json"]
    assert listed(shell, "--sort", "type") == ["diff", "json", "log", "text"]
    assert listed(shell, "--sort", "largest", "--limit", "2") == ["log", "diff"]
    by_handle = sorted(SIZES, key=name)
    assert listed(shell) == listed(shell, "--sort", "handle") == by_handle
    assert listed(shell, "--after", name(by_handle[1])) == by_handle[2:]
    line = shell("list", "--sort", "largest", "--limit", "1").stdout.decode()
    assert line.split() == [name("log"), "2026-02-02T12:00:00Z", "log", "300,000", "bytes"]


def test_list_refuses_what_makes_no_sense(shell: Shell) -> None:
    assert shell("list", "--sort", "oldest").returncode == 2
    run = shell("list", "--sort", "newest", "--after", name("log"))
    assert (run.returncode, report(run)["error"]) == (1, "cave_invalid_arguments")


# ---------------------------------------------------------------- forget


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ([name("log")], ["log"]),
        ([name("log"), f"<<ccr:{name('text')}>>", handle(b"not here")], ["log", "text"]),
        (["--before", "2026-02-03"], ["json", "log"]),
        (["--before", "2026-02-03T12:00:00.000000001Z"], ["json", "log", "text"]),
        (["--all"], list(SIZES)),
    ],
)
def test_forget_deletes_what_was_named_and_gives_its_room_back(shell: Shell, words: list[str], gone: list[str]) -> None:
    before = bytes_on_disk(shell)
    run = shell("forget", *words, "--yes")
    assert (run.returncode, run.stdout) == (0, b"%d records deleted\n" % len(gone))
    assert sorted(listed(shell)) == sorted(SIZES.keys() - set(gone))
    freed = sum(SIZES[kind] for kind in gone)
    assert before - bytes_on_disk(shell) > 0.9 * freed
    for kind in SIZES:
        run = shell("retrieve", name(kind))
        if kind in gone:  # a tombstone, not "unknown"
            assert (run.returncode, report(run)["error"]) == (1, "cave_forgotten")
        else:
            assert run.stdout == payload(kind)


def test_forget_takes_objects_too(shell: Shell) -> None:
    with open_store(Path(shell.environment["CAVEMAN_HOME"]) / "ccr.db") as store:
        obj = store.put_object(TypedObject("TestResult", "s1", b"data")).object_id
    assert shell("forget", obj, "--yes").stdout == b"1 records deleted\n"
    assert report(shell("objects", "get", obj))["error"] == "cave_forgotten"


def test_a_time_that_is_none_deletes_nothing(shell: Shell) -> None:
    run = shell("forget", "--before", "yesterday", "--yes")
    assert (run.returncode, report(run)["error"]) == (1, "cave_invalid_arguments")
    assert len(listed(shell)) == 4


def test_without_a_terminal_and_without_yes_nothing_is_deleted(shell: Shell) -> None:
    for answer in (b"", b"y\n"):  # a script's stdin is not an answer
        run = shell("forget", "--all", stdin=answer)
        assert (run.returncode, run.stdout) == (1, b"")
        assert b"--yes" in run.stderr
    assert len(listed(shell)) == 4


def on_a_terminal(shell: Shell, *words: str, answer: bytes) -> tuple[int, str]:
    """The exit status of `caveman-engine forget`, and all that its terminal shows."""
    code = "import sys; from caveman_wasm.doors.cli import engine_main as main; sys.exit(main())"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code, "forget", *words],
        stdin=theirs, stdout=theirs, stderr=theirs, env=shell.environment,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if select.select([ours], [], [], 1)[0]:
                shown += os.read(ours, 4096)
                if answer and b"[y/N]" in shown:
                    os.write(ours, answer)
                    answer = b""
        except OSError:  # it has ended
            break
    os.close(ours)
    return process.wait(60), shown.decode()


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"maybe\n", b"\x04"])
def test_on_a_terminal_it_asks_and_anything_but_yes_deletes_nothing(shell: Shell, answer: bytes) -> None:
    status, shown = on_a_terminal(shell, "--all", answer=answer)
    assert status == 1
    assert "Delete all 4 records and 0 objects, 850,000 bytes, for good?" in shown
    assert "Nothing was deleted" in shown
    assert len(listed(shell)) == 4


@pytest.mark.parametrize("answer", [b"y\n", b"Yes\n"])
def test_on_a_terminal_yes_deletes(shell: Shell, answer: bytes) -> None:
    status, shown = on_a_terminal(shell, name("log"), name("text"), answer=answer)
    assert status == 0
    assert "Delete 2 of the 4 records for good?" in shown
    assert "2 records deleted" in shown
    assert sorted(listed(shell)) == ["diff", "json"]


def test_on_a_terminal_yes_as_an_option_does_not_ask(shell: Shell) -> None:
    status, shown = on_a_terminal(shell, "--before", "2026-02-03", "--yes", answer=b"")
    assert (status, shown.strip()) == (0, "2 records deleted")
    assert "[y/N]" in on_a_terminal(shell, "--before", "2026-02-04", answer=b"n\n")[1]
