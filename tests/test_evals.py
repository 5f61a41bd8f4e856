"""Evals judge by what stands in texts and views; needles are fair questions, and the same ones every time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus.make import log_lines

from caveman_wasm import evals
from caveman_wasm.errors import InvalidArguments
from caveman_wasm.registry import registry

LOG = "\n".join(log_lines(300, 7))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs-a.log").write_text(
        LOG + "\n2026-03-01 09:00:00,000 INFO  [x] gateway: zebrafish token qx81-zt handled quietly\n"
    )
    (tmp_path / "small.txt").write_text("tiny")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "inner").mkdir()
    rows = ", ".join(json.dumps({"id": i, "city": f"town{i}", "who": f"person-{i * 7919}"}) for i in range(200))
    (tmp_path / "inner" / "json-b.json").write_text(f"[{rows}]")
    return tmp_path


def run(folder: Path, *probes: evals.Probe) -> tuple[dict[str, evals.Row], list[evals.Miss]]:
    by_file: dict[str, list[evals.Probe]] = {}
    for probe in probes:
        by_file.setdefault(probe.file, []).append(probe)
    done = list(evals.evaluate(evals.files(folder), by_file))
    return {row.file: row for row, _ in done}, [miss for _, misses in done for miss in misses]


def test_files_are_those_below_the_folder_without_hidden_ones(folder: Path) -> None:
    assert [p.name for p in evals.files(folder)] == ["json-b.json", "logs-a.log", "small.txt"]
    with pytest.raises(InvalidArguments):
        evals.files(folder / "nowhere")


def test_figures_are_of_the_files_own_text(folder: Path) -> None:
    rows, _ = run(folder)
    log, small = rows["logs-a.log"], rows["small.txt"]
    assert (log.kind, log.type, log.exact) == ("logs", "log", True)
    assert 0.3 < log.reduction < 1
    assert (small.kind, small.reason, small.reduction) == ("txt", "too_small", 0)


def test_a_probe_is_found_in_the_text_or_in_the_view_and_a_false_one_is_missed(folder: Path) -> None:
    rows, missed = run(
        folder,
        evals.Probe("logs-a.log", "?", "zebrafish", "visible"),
        evals.Probe("logs-a.log", "?", "a word that is not there", "visible"),
        evals.Probe("json-b.json", "?", "person-791900", "retrieve", "town100 who"),
        evals.Probe("json-b.json", "?", "person-791900", "retrieve", "town9 who"),
    )
    assert rows["logs-a.log"].visible == (1, 2)
    assert rows["json-b.json"].retrieve == (1, 2)
    assert rows["json-b.json"].views
    assert [(m.needs, m.wanted) for m in missed if m.needs != "needle"] == [
        ("retrieve", "person-791900"),
        ("visible", "a word that is not there"),
    ]


def test_needles_stand_once_and_are_asked_for_by_other_words_of_their_unit() -> None:
    found = evals.needles(
        LOG.encode() + b"\n2026-03-01 09:00:00,000 INFO  [x] gateway: zebrafish token qx81-zt ran\n", "log"
    )
    assert found == evals.needles(
        LOG.encode() + b"\n2026-03-01 09:00:00,000 INFO  [x] gateway: zebrafish token qx81-zt ran\n", "log"
    )
    assert any("zebrafish" in (n.token, *n.query.split()) for n in found)
    for needle in found:
        assert needle.token not in needle.query
        assert len(needle.query.split()) >= 2


def test_needles_are_no_more_than_asked_and_spread_over_the_file() -> None:
    text = json.dumps(
        [{"id": f"k{i:05d}x", "word": f"w{chr(97 + i % 26)}{chr(97 + i // 26)}", "rest": "same"} for i in range(600)]
    )
    found = evals.needles(text.encode(), "json", most=10)
    assert len(found) == 10
    places = [text.index(n.token) for n in found]
    assert places == sorted(places)
    assert places[-1] > len(text) * 0.8


def test_a_question_that_fits_many_units_is_not_asked() -> None:
    text = "\n".join(f"2026-03-01 09:00:{i % 60:02d} INFO worker done with job-{i}-{i}" for i in range(200))
    assert evals.needles(text.encode(), "log") == []


def test_tables_and_json_say_the_same(folder: Path) -> None:
    rows, missed = run(folder)
    said = evals.as_json(list(rows.values()), missed, "a counter")
    assert said["all"]["files"] == 3
    assert sum(f["tokens_after"] for f in said["files"]) == said["all"]["tokens_after"]
    assert json.loads(json.dumps(said))["by_type"] == said["by_type"]
    lines = list(evals.table(list(rows.values())))
    assert lines[-1].startswith("all")
    assert "3/3" in lines[-1]


def test_a_line_that_is_no_probe_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"file": "a", "question": "q", "answer": "1", "needs": "visible", "kind": "k"}\n\n{"file": "a"}\n')
    with pytest.raises(InvalidArguments, match="line 3"):
        evals.read_probes(path)
    path.write_text('{"file": "a", "question": "q", "answer": 1, "needs": "visible"}\n')
    assert evals.read_probes(path)["a"][0].answer == "1"


def test_the_registry_says_how_each_format_is_undone() -> None:
    rows = {row.type: row for row in registry()}
    assert rows["log"].safety == "S4"
    assert rows["toon"].chosen == "forced"
    assert all(row.units != "units of its own" for row in rows.values()), "a new format has no words for its units"
    assert {row.safety for row in rows.values()} <= {"S0", "S1", "S2", "S3", "S4"}
