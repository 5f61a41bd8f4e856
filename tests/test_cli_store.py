"""Objects and bundles on the command line, and `caveman tools`: real processes, a real file."""

from __future__ import annotations

import base64
import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_cli import LOG, Shell, report

from caveman_wasm.references import handle

OBJECT: dict[str, Any] = {
    "type": "TaskDecision",
    "session_id": "s1",
    "data": '{"decision_id":"d1","why":"é"}',
    "source": "agent",
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Shell(home)


def put(shell: Shell, **fields: Any) -> dict[str, Any]:
    run = shell("objects", "put", stdin=json.dumps(OBJECT | fields).encode())
    assert run.returncode == 0, run.stderr
    said: dict[str, Any] = json.loads(run.stdout)
    return said


def test_an_object_goes_in_and_comes_out_as_json(shell: Shell) -> None:
    stored = put(shell, dependencies=["a", "b"], lifecycle="warm")
    assert stored["content_hash"].startswith("sha256:")
    assert {k: stored[k] for k in OBJECT} == OBJECT
    assert (stored["dependencies"], stored["stored_byte_length"]) == (["a", "b"], len(OBJECT["data"].encode()))
    got = shell("objects", "get", f"ccr://{stored['object_id']}")
    assert json.loads(got.stdout) == stored
    again = shell("objects", "put", stdin=got.stdout)
    assert (again.returncode, json.loads(again.stdout)) == (0, stored)
    assert shell("retrieve", f"{stored['object_id']}#/why").stdout == '"é"'.encode()


def test_data_that_is_no_text_goes_in_and_out_as_base64(shell: Shell) -> None:
    coded = base64.b64encode(b"\xff\x00").decode()
    fields = {"type": "CommandResult", "session_id": "s", "data_base64": coded}
    stored = json.loads(shell("objects", "put", stdin=json.dumps(fields).encode()).stdout)
    assert stored["data_base64"] == coded
    assert "data" not in stored
    assert shell("retrieve", stored["object_id"]).stdout == b"\xff\x00"


def test_a_sessions_objects_are_listed_newest_first_and_decisions_found(shell: Shell) -> None:
    first, second = put(shell), put(shell, data='{"decision_id":"d2"}')
    put(shell, session_id="other")
    listed = [json.loads(line) for line in shell("objects", "list", "s1").stdout.splitlines()]
    assert listed == [second, first]
    assert len(shell("objects", "list", "s1", "--limit", "1").stdout.splitlines()) == 1
    assert json.loads(shell("objects", "list", "s1", "--decision", "d1").stdout) == first
    missing = shell("objects", "list", "s1", "--decision", "d3")
    assert (missing.returncode, report(missing)["error"]) == (1, "cave_unknown_handle")


def test_currentness_and_lifecycle_are_set(shell: Shell) -> None:
    stored = put(shell)
    run = shell("objects", "set", stored["object_id"], "--currentness", "stale", "--lifecycle", "cold")
    assert json.loads(run.stdout) == stored | {"currentness": "stale", "lifecycle": "cold"}
    assert (
        report(shell("objects", "set", stored["object_id"], "--lifecycle", "lukewarm"))["error"]
        == "cave_invalid_arguments"
    )
    assert shell("objects", "set", stored["object_id"]).returncode == 2


@pytest.mark.parametrize(
    ("stdin", "code"),
    [
        (b"", "cave_invalid_arguments"),
        (b"[1]", "cave_invalid_arguments"),
        (b"\xff", "cave_invalid_arguments"),
        (b"[" * 100_000, "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"type": "Nonsense"}).encode(), "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"colour": 1}).encode(), "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"data_base64": "YQ=="}).encode(), "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"data": 7}).encode(), "cave_invalid_arguments"),
        (json.dumps({"type": "TestResult", "session_id": "s"}).encode(), "cave_invalid_arguments"),
        (json.dumps({"type": "TestResult", "session_id": "s", "data_base64": "?"}).encode(), "cave_invalid_arguments"),
        (json.dumps({"type": "TestResult", "data": ""}).encode(), "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"dependencies": "a"}).encode(), "cave_invalid_arguments"),
        (json.dumps(OBJECT | {"object_id": "ccr_obj_" + "0" * 32}).encode(), "cave_conflict"),
    ],
)
def test_what_is_no_object_is_refused_with_its_code(shell: Shell, stdin: bytes, code: str) -> None:
    run = shell("objects", "put", stdin=stdin)
    assert (run.returncode, run.stdout, report(run)["error"]) == (1, b"", code)


# ---------------------------------------------------------------- bundles


def test_a_bundle_moves_a_store_to_another_home(shell: Shell, tmp_path: Path) -> None:
    name = report(shell("compress", stdin=LOG))["recovery_handle"]
    stored = put(shell)
    exported = shell("export")
    assert report(exported) == {
        "records": 1,
        "objects": 1,
        "bytes": len(LOG) + stored["stored_byte_length"] + len(_metadata(shell, name)),
    }
    (tmp_path / "other").mkdir(mode=0o700)
    other = Shell(tmp_path / "other")
    assert b"1 records and 1 objects imported, 0 of them" in other("import", stdin=exported.stdout).stdout
    assert other("retrieve", name).stdout == LOG
    assert json.loads(other("objects", "get", stored["object_id"]).stdout) == stored
    assert other("export").stdout == exported.stdout
    assert b"2 of them were here already" in other("import", stdin=exported.stdout).stdout


def _metadata(shell: Shell, name: str) -> bytes:
    from caveman_wasm.store import open_store

    with open_store(Path(shell.environment["CAVEMAN_HOME"]) / "ccr.db") as store:
        return store.metadata(name) or b""


def test_export_takes_handles_or_a_session(shell: Shell) -> None:
    name = report(shell("compress", stdin=LOG))["recovery_handle"]
    put(shell, dependencies=[name])
    put(shell, session_id="s2")
    assert report(shell("export", name))["records"] == 1
    assert report(shell("export", "--session", "s1"))["objects"] == 1
    assert report(shell("export", "--session", "s1"))["records"] == 1
    assert shell("export", name, "--session", "s1").returncode == 2
    missing = shell("export", handle(b"never"))
    assert (missing.returncode, missing.stdout, report(missing)["error"]) == (1, b"", "cave_unknown_handle")


def test_what_is_no_bundle_is_refused(shell: Shell) -> None:
    run = shell("import", stdin=LOG)
    assert (run.returncode, report(run)["error"]) == (1, "cave_invalid_bundle")
    put(shell)
    cut = shell("export").stdout[:-10]
    run = shell("import", stdin=cut)
    assert (run.returncode, report(run)["error"]) == (1, "cave_invalid_bundle")


@pytest.mark.parametrize(("command", "done"), [("export", "written"), ("import", "read")])
def test_progress_is_shown_on_a_terminal_only(shell: Shell, tmp_path: Path, command: str, done: str) -> None:
    put(shell)
    given = shell("export").stdout if command == "import" else b""
    source, out = tmp_path / "source", tmp_path / "out"
    source.write_bytes(given)
    ours, theirs = pty.openpty()
    code = "import sys; from caveman_wasm.doors.cli import engine_main as main; sys.exit(main())"
    with source.open("rb") as stdin, out.open("wb") as stdout:
        subprocess.run(
            [sys.executable, "-c", code, command],
            stdin=stdin,
            stdout=stdout,
            stderr=theirs,
            env=shell.environment,
            timeout=60,
            check=True,
        )
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert f"\r1 items, 0 MB {done}\r\n" in shown
    assert b"items," not in shell(command, stdin=given).stderr


def test_export_saves_what_is_sound_names_what_is_not_and_exits_1(shell: Shell, tmp_path: Path) -> None:
    put(shell)
    bad = report(shell("compress", stdin=LOG))["recovery_handle"]
    with closing(sqlite3.connect(tmp_path / "home" / "ccr.db")) as db, db:
        db.execute("UPDATE recoveries SET original = x'00' WHERE handle = ?", (bad,))
    run = shell("export")
    assert (run.returncode, report(run)["error"], report(run)["reference"]) == (1, "cave_ccr_corrupt", bad)
    assert bad in report(run)["message"]
    (tmp_path / "other").mkdir(mode=0o700)
    other = Shell(tmp_path / "other")
    assert other("import", stdin=run.stdout).stdout.startswith(b"0 records and 1 objects imported")


# ---------------------------------------------------------------- caveman tools


def test_the_tools_command_speaks_as_the_engine_does(shell: Shell) -> None:
    run = shell("tools", "compress", "--query", "REVERSED", stdin=LOG, tool="caveman_main")
    said = report(run)
    assert said["recovery_handle"].encode() in run.stdout
    assert said == report(shell("compress", "--query", "REVERSED", stdin=LOG))
    assert (
        shell("tools", "retrieve", f"{said['recovery_handle']}#line=0,1", tool="caveman_main").stdout
        == LOG.split(b"\n")[0] + b"\n"
    )
    assert json.loads(shell("tools", "stats", tool="caveman_main").stdout)["records"] == 1


def test_the_tools_command_fails_as_the_engine_does(shell: Shell) -> None:
    unknown = handle(b"never")
    ours, theirs = shell("tools", "retrieve", unknown, tool="caveman_main"), shell("retrieve", unknown)
    assert (ours.returncode, ours.stdout, report(ours)) == (1, b"", report(theirs))
    bad = shell("tools", "compress", "--type", "nonsense", stdin=LOG, tool="caveman_main")
    assert (bad.returncode, bad.stdout, report(bad)["error"]) == (1, LOG, "cave_invalid_arguments")


def test_the_tools_command_teaches_when_not_to_call(shell: Shell) -> None:
    assert b"Do not call it" in shell("tools", "retrieve", "--help", tool="caveman_main").stdout.replace(b"\n ", b"")


def test_toon_is_written_and_read_back_by_the_tools_of_the_table(shell: Shell) -> None:
    pytest.importorskip("toon_format")
    written = shell("toon", "encode", stdin=b'{"orders": [{"id": 1}, {"id": 2}]}')
    assert written.stdout == b"orders[2]{id}:\n  1\n  2"
    assert json.loads(shell("toon", "decode", stdin=written.stdout).stdout) == {"orders": [{"id": 1}, {"id": 2}]}
    refused = shell("toon", "encode", stdin=b'{"a": 1.0}')
    assert (refused.returncode, refused.stdout, report(refused)["error"]) == (1, b"", "cave_invalid_arguments")
    assert shell("toon").returncode == 2
