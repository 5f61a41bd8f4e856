"""What an operator does to the store behind the asynchronous door: list, forget, export, import."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from payloads import log
from test_durable import Bytes, Hook, answer, compress, opened, script

from caveman_wasm import open_memory
from caveman_wasm.doors.browser import BrowserDoor
from caveman_wasm.model import TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store.bundle import export_bundle, import_bundle

FIRST, SECOND = log(), log() + b"more\n"
UNKNOWN = "ccr_" + "a" * 32
OBJECT = TypedObject(type="CommandResult", session_id="s", source="pytest", repository_state="1a2b", data=b"42 passed")


async def filled(hook: Hook | None) -> BrowserDoor:
    door = await opened(hook) if hook else await plain()
    for payload in (FIRST, SECOND):
        await compress(door, payload)
    return door


async def plain() -> BrowserDoor:
    door = BrowserDoor()
    assert await answer(door, "open") is None
    return door


async def exported(door: BrowserDoor, names: list[str] | None = None) -> tuple[Any, bytes]:
    pieces: list[bytes] = []
    counts = await answer(door, "export", pieces.append, None if names is None else json.dumps(names))
    return counts, b"".join(pieces)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path))


either = pytest.mark.parametrize("hook", [None, Hook], ids=["dict", "hook"])


@either
@script
async def test_records_lists_all_that_is_held_by_id(hook: type[Hook] | None) -> None:
    door = await filled(hook and hook())
    rows = await answer(door, "records")
    assert [row[0] for row in rows] == sorted([handle(FIRST), handle(SECOND)])
    for name, size, before, after in rows:
        assert size >= len(FIRST if name == handle(FIRST) else SECOND)
        assert before > after > 0


@either
@script
async def test_forget_deletes_what_it_is_told_and_nothing_else(hook: type[Hook] | None) -> None:
    door = await filled(hook and hook())
    assert await answer(door, "forget", json.dumps([f"ccr://{handle(FIRST)}", UNKNOWN])) == 1
    assert await answer(door, "forget", json.dumps([handle(FIRST)])) == 0
    assert await answer(door, "retrieve", handle(FIRST), None) in ("cave_forgotten", "cave_unknown_handle")
    assert (await answer(door, "retrieve", handle(SECOND), None))[1] == SECOND
    for refused in ("ccr_cut", f"ccr://{handle(SECOND)}#line=0,1"):
        assert await answer(door, "forget", json.dumps([refused])) == "cave_invalid_reference"
    assert (await answer(door, "retrieve", handle(SECOND), None))[1] == SECOND


@either
@script
async def test_a_bundle_is_the_one_that_any_store_writes(hook: type[Hook] | None) -> None:
    door = await filled(hook and hook())
    counts, bundle = await exported(door)
    assert (counts["records"], counts["objects"]) == (2, 0)
    store, again = open_memory(), BytesIO()
    import_bundle(store, BytesIO(bundle))
    export_bundle(store, again)
    assert again.getvalue() == bundle
    assert store.get(handle(SECOND)) == SECOND
    counts, one = await exported(door, [handle(SECOND)])
    assert counts["records"] == 1
    assert len(one) < len(bundle)
    assert (await exported(door, [UNKNOWN]))[0] == "cave_unknown_handle"


@either
@script
async def test_import_makes_every_item_durable(hook: type[Hook] | None) -> None:
    store, bundle = open_memory(), BytesIO()
    _, records = await exported(await filled(None))
    import_bundle(store, BytesIO(records))
    made = store.put_object(OBJECT)
    export_bundle(store, bundle)
    made_hook = hook and hook()
    door = await opened(made_hook) if made_hook else await plain()
    counts = await answer(door, "import", Bytes(bundle.getvalue()))
    assert (counts["records"], counts["objects"]) == (2, 1)
    assert (await answer(door, "retrieve", handle(FIRST), None))[1] == FIRST
    if made_hook:
        assert set(made_hook.rows) == {handle(FIRST), handle(SECOND), made.object_id}
    assert await answer(door, "import", Bytes(bundle.getvalue()[:-9])) == "cave_invalid_bundle"


@script
async def test_what_a_hook_knows_of_an_object_outlives_an_import() -> None:
    store, bundle, hook = open_memory(), BytesIO(), Hook()
    made = store.put_object(OBJECT)
    export_bundle(store, bundle)
    door = await opened(hook)
    await answer(door, "import", Bytes(bundle.getvalue()))
    head, data, metadata = hook.rows[made.object_id]
    hook.rows[made.object_id] = (head | {"fields": head["fields"] | {"currentness": "outdated"}}, data, metadata)
    await answer(await opened(hook), "import", Bytes(bundle.getvalue()))
    assert hook.rows[made.object_id][0]["fields"]["currentness"] == "outdated"


@script
async def test_an_item_that_cannot_be_made_durable_is_withdrawn_and_said() -> None:
    _, bundle = await exported(await filled(None))
    hook = Hook()

    async def full() -> str:
        return "cave_ccr_budget_exceeded"

    hook.before_put = full
    door = await opened(hook)
    assert await answer(door, "import", Bytes(bundle)) == "cave_ccr_budget_exceeded"
    assert await answer(door, "retrieve", handle(FIRST), None) == "cave_unknown_handle"
