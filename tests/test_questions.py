"""Questions about every format, as keywords and in a person's words: the view holds the answer and is a part."""

from __future__ import annotations

import pytest
from payloads import CORPUS

from caveman_wasm import Engine, Recovery, open_memory
from caveman_wasm.evals import Probe, read_probes
from caveman_wasm.formats import FORMATS

PROBES = [probe for probes in read_probes(CORPUS / "questions.jsonl").values() for probe in probes]
MOST = 0.5  # of the original


def test_every_format_is_asked_that_detection_may_choose() -> None:
    forced_only = {"repetition", "toolschema-annotations", "toon", "base64"}
    assert {probe.file.partition("/")[0] for probe in PROBES} == set(FORMATS) - forced_only


@pytest.mark.parametrize("words", ["question", "query"])
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: f"{probe.file} {probe.query}")
def test_the_view_holds_the_answer_and_is_a_part(probe: Probe, words: str) -> None:
    original = (CORPUS / probe.file).read_bytes()
    store = open_memory()
    handle = store.put(Recovery("text", "text/1", 9, 3, original))
    view = Engine(store).retrieve_query(handle, getattr(probe, words))
    assert probe.answer.encode() in view.replace(b"\r\n", b"\n")
    assert len(view) < MOST * len(original)
