"""The command line as a user's shell sees it: real processes, a real file, exit status and both streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from corpus.make import log_lines

LOG = "\n".join(log_lines(300, 2)).encode() + b"\n\xff\x00"


class Shell:
    """Runs the commands in a home of their own."""

    def __init__(self, home: Path, **environment: str) -> None:
        self.environment = {**os.environ, "CAVEMAN_HOME": str(home), **environment}

    def __call__(
        self, *arguments: str, stdin: bytes = b"", tool: str = "engine_main"
    ) -> subprocess.CompletedProcess[bytes]:
        code = f"import sys; from caveman_wasm.doors.cli import {tool} as main; sys.exit(main())"
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input=stdin,
            capture_output=True,
            env=self.environment,
            timeout=120,
            check=False,
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Shell(home)


def report(run: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    lines = run.stderr.decode().splitlines()
    assert len(lines) == 1, run.stderr.decode()
    said: dict[str, Any] = json.loads(lines[0])
    return said


def test_compress_writes_the_text_to_stdout_and_one_report_line_to_stderr(shell: Shell) -> None:
    run = shell("compress", stdin=LOG)
    said = report(run)
    assert run.returncode == 0
    assert said["recovery_handle"].encode() in run.stdout
    assert said["tokens_after"] < said["tokens_before"]
    assert (said["basis"], said["content_type"], said["error"]) == ("inferred", "log", None)
    assert not {"output", "text", "markers"} & said.keys()


def test_retrieve_gives_the_exact_bytes_in_another_process_by_either_command(shell: Shell) -> None:
    reference = report(shell("compress", stdin=LOG))["recovery_handle"]
    assert shell("retrieve", reference).stdout == LOG
    assert shell("retrieve", f"<<ccr:{reference}>>").stdout == LOG
    assert shell("tools", "retrieve", reference, tool="caveman_main").stdout == LOG


def test_retrieve_with_a_question_gives_a_part(shell: Shell) -> None:
    reference = report(shell("compress", stdin=LOG))["recovery_handle"]
    view = shell("retrieve", reference, "REVERSED", "by", "operator").stdout
    assert b"REVERSED by operator" in view
    assert len(view) < len(LOG) / 2


def test_explain_says_on_stderr_why_each_unit_is_shown(shell: Shell) -> None:
    name = report(shell("compress", stdin=LOG))["recovery_handle"]
    plain, explained = (shell("retrieve", name, "order", "4077", *more) for more in ((), ("--explain",)))
    assert explained.stdout == plain.stdout
    assert plain.stderr == b""
    said = report(explained)
    assert said["whole"] is False
    assert "4077" in said["units"][0]["terms"]
    assert LOG[said["units"][0]["start"] : said["units"][0]["stop"]] in plain.stdout
    assert report(shell("retrieve", name, "--explain")) == {"whole": True, "units": []}


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("ccr_" + "a" * 32, "cave_unknown_handle"),
        ("ccr_abc", "cave_invalid_reference"),
        ("nonsense", "cave_invalid_reference"),
    ],
)
def test_an_unknown_or_malformed_reference_exits_1_with_its_code(shell: Shell, reference: str, code: str) -> None:
    run = shell("retrieve", reference)
    assert (run.returncode, run.stdout, report(run)["error"]) == (1, b"", code)


def test_wrong_use_exits_2(shell: Shell) -> None:
    assert shell("compress", "--no-such-option").returncode == 2
    assert shell("no-such-command").returncode == 2
    assert shell().returncode == 2


def test_options_have_an_effect(shell: Shell) -> None:
    assert report(shell("compress", "--type", "text", stdin=LOG))["content_type"] == "text"
    assert b"order 4123 was verified" in shell("compress", "--query", "order 4123", stdin=LOG).stdout
    assert report(shell("compress", "--max-tokens", "300", stdin=LOG))["tokens_after"] <= 300
    assert report(shell("compress", "--mode", "record", stdin=LOG))["reason"] == "record_mode"


def test_a_bad_option_value_gives_its_code_and_status_1(shell: Shell) -> None:
    run = shell("compress", "--type", "nope", stdin=LOG)
    assert (run.returncode, report(run)["error"]) == (1, "cave_invalid_arguments")
    assert run.stdout == LOG


def test_when_the_store_cannot_be_opened_the_input_goes_through(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    run = Shell(tmp_path / "file")("compress", stdin=LOG)
    assert (run.returncode, run.stdout) == (0, LOG)
    assert (report(run)["reason"], report(run)["error"]) == ("store_failed", "cave_ccr_unavailable")


def test_what_is_over_64_mib_goes_through_untouched_with_its_code(shell: Shell) -> None:
    big = b"0123456789abcdef" * (4 * 1024 * 1024) + b"tail"
    run = shell("compress", stdin=big)
    assert run.stdout == big
    assert (run.returncode, report(run)["error"]) == (0, "cave_input_too_large")


def test_detect_and_simulate_store_nothing(shell: Shell) -> None:
    assert shell("detect", stdin=LOG).stdout == b"log\n"
    run = shell("simulate", stdin=LOG)
    assert run.stdout == LOG
    assert report(run)["tokens_after"] < report(run)["tokens_before"]
    assert json.loads(shell("stats", "--json").stdout)["records"] == 0


def test_list_stats_and_forget(shell: Shell) -> None:
    reference = report(shell("compress", stdin=LOG))["recovery_handle"]
    assert reference in shell("list").stdout.decode()
    assert json.loads(shell("list", "--json").stdout)["original_bytes"] == len(LOG)
    assert json.loads(shell("stats", "--json").stdout)["records"] == 1
    assert b"1 records" in shell("stats").stdout
    refused = shell("forget", reference)
    assert refused.returncode == 1
    assert shell("retrieve", reference).stdout == LOG
    assert shell("forget", reference, "--yes").returncode == 0
    run = shell("retrieve", reference)
    assert (run.returncode, report(run)["error"]) == (1, "cave_forgotten")


def test_forget_wants_to_know_what(shell: Shell) -> None:
    assert shell("forget", "--yes").returncode == 2
    assert shell("forget", "--all", "--before", "2030-01-01T00:00:00Z", "--yes").returncode == 2


def test_a_full_store_is_told_early_and_passes_through_late(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shell = Shell(home, CAVEMAN_CCR_MAX_BYTES=str(len(LOG) + 900))
    assert "full" in report(shell("compress", stdin=LOG))["warning"]
    other = LOG.replace(b"verified", b"approved")
    run = shell("compress", stdin=other)
    assert (run.returncode, run.stdout, report(run)["error"]) == (0, other, "cave_ccr_budget_exceeded")


def test_a_bad_budget_in_the_environment_is_said_and_loses_nothing(tmp_path: Path) -> None:
    run = Shell(tmp_path, CAVEMAN_CCR_MAX_BYTES="lots")("compress", stdin=LOG)
    assert (run.stdout, report(run)["error"]) == (LOG, "cave_invalid_arguments")


def test_a_reader_that_goes_away_is_no_traceback(shell: Shell) -> None:
    reference = report(shell("compress", stdin=LOG))["recovery_handle"]
    code = "import sys; from caveman_wasm.doors.cli import engine_main as main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "retrieve", reference],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell.environment,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.wait(60)
    assert b"Traceback" not in said


# ---------------------------------------------------------------- judging


def test_check_says_that_nothing_is_off_or_what_is(shell: Shell, tmp_path: Path) -> None:
    made = shell("compress", "--query", "order", stdin=LOG)
    handle = report(made)["recovery_handle"]
    text = tmp_path / "text"
    text.write_bytes(made.stdout)
    run = shell("check", f"<<ccr:{handle}>>", "--text", str(text))
    assert (run.returncode, b"nothing is off" in run.stdout) == (0, True), run.stdout
    text.write_bytes(made.stdout.replace(b"elided", b"left out", 1))
    run = shell("check", handle, "--text", str(text), "--json")
    assert run.returncode == 1
    assert "not the one made again" in json.loads(run.stdout)[0]["findings"][0]["found"]
    assert shell("check").stdout.endswith(b"Nothing is off.\n")


def test_check_reads_files_and_stores_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    run = shell("check", str(tmp_path / "a.log"), "--json", "--max-tokens", "300")
    (said,) = json.loads(run.stdout)
    assert (run.returncode, said["content_type"], said["findings"]) == (0, "log", [])
    assert said["facts"] > 0
    assert json.loads(shell("stats", "--json").stdout)["records"] == 0


def test_check_of_what_is_not_there_is_an_error_and_two_texts_wrong_use(shell: Shell) -> None:
    unknown = "ccr_" + "0" * 32
    run = shell("check", unknown)
    assert (run.returncode, report(run)["error"]) == (1, "cave_unknown_handle")
    assert report(shell("check", "nothing"))["error"] == "cave_invalid_reference"
    assert shell("check", unknown, unknown, "--text", "x").returncode == 2


def test_registry_lists_every_format(shell: Shell) -> None:
    said = {row["type"]: row for row in json.loads(shell("registry", "--json").stdout)}
    assert said["log"] == {
        "type": "log", "safety": "S4", "recovery": "handle", "version": said["log"]["version"], "chosen": "detected",
        "units": "entries with their continuation lines",
    }  # fmt: skip
    printed = shell("registry").stdout.decode()
    assert all(f"\n{name} " in printed for name in said)


def test_evals_judge_a_folder(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "fixtures"
    folder.mkdir()
    (folder / "logs-a.log").write_bytes(LOG)
    probes = tmp_path / "probes.jsonl"
    probes.write_text(
        '{"file": "logs-a.log", "kind": "logs", "question": "?", "answer": "2026", "needs": "visible", "query": ""}\n'
        '{"file": "logs-a.log", "kind": "logs", "question": "?", "answer": "not there", "needs": "retrieve", "query": "x"}\n'
    )
    out = tmp_path / "out.json"
    run = shell("evals", "run", "--fixtures", str(folder), "--probes", str(probes), "--json", str(out), "--verbose")
    assert run.returncode == 0, run.stderr
    assert b"missed retrieve: logs-a.log" in run.stdout
    said = json.loads(out.read_text())
    assert (said["all"]["visible"], said["all"]["retrieve"]) == ([1, 1], [0, 1])
    assert said["files"][0]["reduction"] > 0.3
    assert report(shell("evals", "run", "--fixtures", "nowhere"))["error"] == "cave_invalid_arguments"
