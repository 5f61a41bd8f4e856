"""Golden files: the same bytes natively as in Pyodide and in the browser, whose suites read the same folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus.make import inputs

from caveman_wasm import Engine, open_memory

CORPUS = Path(__file__).parent / "corpus"
CASES = sorted(CORPUS.glob("*/*.in"))


def test_the_corpus_is_what_its_script_makes() -> None:
    made = {f"{kind}/{name}": payload for kind, name, payload, _ in inputs()}
    assert {f"{c.parent.name}/{c.stem}": c.read_bytes() for c in CASES} == made


@pytest.mark.parametrize("case", CASES, ids=[f"{c.parent.name}/{c.stem}" for c in CASES])
def test_golden_output(case: Path) -> None:
    options_file = case.with_suffix(".json")
    options = json.loads(options_file.read_text()) if options_file.exists() else {}
    result = Engine(open_memory()).compress(case.read_bytes(), **options)
    assert result.output == case.with_suffix(".out").read_bytes()
