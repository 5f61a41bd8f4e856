"""What holds for every format of the registry: the query's hit is kept, ceilings are kept, failures and hits go last.

The payloads are the golden inputs', so that a new format has to bring some.
"""

from __future__ import annotations

import json
import re

import pytest
from corpus.make import inputs

from caveman_wasm import Engine, open_memory
from caveman_wasm.evals import needles
from caveman_wasm.formats import FORMATS
from caveman_wasm.model import Result

# Formats whose text holds every word of the payload, however it is shortened: a query has nothing to add.
WHOLE = {"repetition", "toon"}
# Not asked for here: `base64` is a string inside a document; a tool list gives up the same keywords whatever is asked.
UNASKED = {"base64", "toolschema-annotations"} | WHOLE

CASES = {
    f"{kind}/{name}": (kind, payload, options)
    for kind, name, payload, options in inputs()
    if not options.keys() - {"content_type"}
}


WORDS = [
    a + b + c for a in ("bra", "kel", "mon", "tur") for b in ("dis", "fen", "gol", "lar") for c in ("ka", "mi", "so")
]
PROSE = "The crew checked the pump again and found it in order. "
CASES |= {  # tokens that stand once, where the golden inputs have none that are left out
    "tabular/words": (
        "tabular",
        "\n".join(["id,word,state", *(f"{i},{WORDS[i % 48]}{i}x,on" for i in range(300)), ""]).encode(),
        {},
    ),
    "a11y/words": (
        "a11y",
        "\n".join(
            [
                "- main [ref=e1]:",
                *(f"  - paragraph [ref=e{i + 2}]: the step {WORDS[i % 48]}{i}x is done" for i in range(300)),
            ]
        ).encode(),
        {},
    ),
    "terminal/words": (
        "terminal",
        "\n".join([f"\x1b[32mok\x1b[0m the step {WORDS[i % 48]}{i}x is done" for i in range(300)]).encode(),
        {},
    ),
    "test-report/words": (
        "test-report",
        "\n".join(["TAP version 13", *(f"ok {i + 1} checks {WORDS[i % 48]}{i}x" for i in range(300)), ""]).encode(),
        {},
    ),
    "text/words": (
        "text",
        "\n\n".join(
            ["# Log of the crew", *(f"{PROSE * 3}Then came the {word} valve. {PROSE}" for word in WORDS)]
        ).encode(),
        {},
    ),
    "toolschema/words": (
        "toolschema",
        json.dumps(
            [
                {
                    "name": f"tool_{word}",
                    "description": f"Runs it. {PROSE * 4}It was made for ships of the {word}ian fleet. {PROSE}",
                    "inputSchema": {
                        "type": "object",
                        "properties": {"n": {"type": "integer", "description": PROSE * 2}},
                    },
                }
                for word in WORDS
            ]
        ).encode(),
        {},
    ),
}


def compress(name: str, **more: object) -> Result:
    _, payload, options = CASES[name]
    return Engine(open_memory()).compress(payload, **options, **more)  # type: ignore[arg-type]


def hidden(name: str) -> list[str]:
    """What stands once in the payload and not in its shortened text: words, where there are some."""
    normal = compress(name)
    found = [n.token for n in needles(CASES[name][1], normal.content_type, 200)]
    if name.endswith("/words"):
        found = re.findall(r"[a-z]{8}\d+x|[a-z]{8}(?= valve)|[a-z]{8}ian", CASES[name][1].decode())
    found = [token for token in found if token not in normal.text]
    return [token for token in found if token.isalnum()] or found


def test_every_format_of_the_registry_has_a_case() -> None:
    assert {kind for kind, _, _ in CASES.values()} | {"base64", "toon"} == set(FORMATS)


@pytest.mark.parametrize("kind", sorted(set(FORMATS) - UNASKED))
def test_a_query_keeps_its_hit(kind: str) -> None:
    """Some token that is left out otherwise stands in the text when somebody asks for it, also under a ceiling."""
    asked = [(name, token) for name in CASES if CASES[name][0] == kind for token in hidden(name)[::7][:4]]
    assert asked, "nothing is hidden: no case of this format is large enough"
    for name, token in asked:
        normal = compress(name)
        found = compress(name, query=token)
        assert token in found.text, (name, token)
        assert found.tokens_after < found.tokens_before
        ceiled = compress(name, query=token, max_tokens=max(300, normal.tokens_after // 2))
        assert token in ceiled.text or ceiled.reason == "over_budget", (name, token)


@pytest.mark.parametrize("name", CASES)
def test_a_ceiling_is_kept_and_a_larger_one_never_shows_less(name: str) -> None:
    normal = compress(name)
    shown = []
    for ceiling in (60, 150, 300, 600, 1200, 10**6):
        result = compress(name, max_tokens=ceiling)
        assert result.tokens_after <= ceiling or result.reason == "over_budget" or result.recovery_handle is None
        shown.append(sum(stop - start for m in result.markers for start, stop in m.spans))
    assert shown == sorted(shown, reverse=True)
    assert compress(name, max_tokens=10**6).output == normal.output


ROWS = [{"id": i, "name": f"job {i * 7919 % 9973}", "result": "done"} for i in range(300)]
LINES = [f"2026-05-14 08:{i // 60:02}:{i % 60:02} INFO job {i * 7919 % 9973} done" for i in range(420)]
BAD = "the disk of rack 17 is full"


def put_in(lines: list[str], line: str, at: int = 187) -> bytes:
    return "\n".join([*lines[:at], line, *lines[at:], ""]).encode()


FAILING = {
    "json": json.dumps([*ROWS[:187], ROWS[187] | {"result": "failed", "error": BAD}, *ROWS[187:]]).encode(),
    "log": put_in(LINES, f"2026-05-14 08:03:07 ERROR job 4711 failed: {BAD}"),
    "tabular": put_in(["id,name,result,error", *(f"{r['id']},{r['name']},done," for r in ROWS)], f"900,x,failed,{BAD}"),
    "terminal": put_in([f"\x1b[32mok\x1b[0m job {i * 7919 % 9973}" for i in range(300)], f"\x1b[31mERROR: {BAD}\x1b[0m"),
    "test-report": put_in(
        ["TAP version 13", *(f"ok {i + 1} job {i * 7919 % 9973}" for i in range(300))], f"not ok 900 {BAD}"
    ),
    "search-result": put_in([f"/srv/rack/{i % 9}/job{i * 7919 % 9973}.log" for i in range(300)],
                            "find: '/srv/rack/17': Permission denied"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAILING)
def test_failures_are_given_up_last(kind: str) -> None:
    """Under every ceiling that holds more than the smallest text, the only failure is in it."""
    engine = Engine(open_memory())
    normal = engine.compress(FAILING[kind])
    said = "Permission denied" if kind == "search-result" else BAD
    assert normal.content_type == kind
    assert said in normal.text
    for share in (0.8, 0.6, 0.45):
        ceiled = engine.compress(FAILING[kind], max_tokens=max(130, int(normal.tokens_after * share)))
        assert said in ceiled.text, share
