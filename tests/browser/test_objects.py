"""Typed objects through the page's API, in memory and over every hook."""

from __future__ import annotations

import base64

import pytest
from page_engine import Engine
from test_persistence import HOOKS, Tab, tab

from caveman_wasm import TypedObject, open_memory
from caveman_wasm.store.checks import object_size

pytestmark = pytest.mark.browser
DATA = b"\x00\xff not UTF-8 \xed\xa0\x80"
PLACES = {"none": '"none"', **HOOKS}
__all__ = ["tab"]  # the fixture

PUT = """return caveman.putObject(
    { type: "CommandResult", sessionId: "s", source: "make", dependencies: ["a", "b"], ...more }, bytes(data));"""


@pytest.fixture(params=PLACES)
def persistence(request: pytest.FixtureRequest) -> str:
    return PLACES[request.param]


@pytest.fixture
def page(tab: Tab, persistence: str) -> Engine:
    return tab(f"persistence: {persistence}")


def test_an_object_comes_back_exact_with_all_its_fields(page: Engine) -> None:
    put = page.run(PUT, data=DATA, more={})
    native = open_memory().put_object(
        TypedObject("CommandResult", "s", DATA, source="make", dependencies=("a", "b"), created_at=put["createdAt"])
    )
    assert (put["objectId"], put["contentHash"]) == (native.object_id, native.content_hash)
    assert (put["originalByteLength"], put["storedByteLength"]) == (len(DATA), len(DATA))
    assert (put["currentness"], put["lifecycle"], put["dependencies"]) == ("current", "hot", ["a", "b"])
    got = page.run("const o = await caveman.getObject(id); return { ...o, data: base64(o.data) };", id=put["objectId"])
    assert got == put | {"data": base64.b64encode(DATA).decode()}
    whole = page.run("return base64(await caveman.retrieve(id));", id=put["objectId"])
    assert base64.b64decode(whole) == DATA
    assert page.run(PUT, data=DATA, more={}) == put, "the same object again changes nothing"
    stats = page.run("return caveman.stats();")
    assert (stats["objects"], stats["records"]) == (1, 0)
    assert stats["storageBytes"] == object_size(native)


def test_a_sessions_objects_are_listed_the_newest_first(page: Engine) -> None:
    names = [
        page.run(PUT, data=b"%d" % n, more={"createdAt": f"2026-03-0{n}T00:00:00Z", "sessionId": "one"})["objectId"]
        for n in (2, 3, 1)
    ]
    page.run(PUT, data=b"other", more={"sessionId": "other"})
    listed = page.run("return (await caveman.listObjects('one')).map((o) => o.objectId);")
    assert listed == [names[1], names[0], names[2]]
    assert page.run("return (await caveman.listObjects('one', { limit: 1 })).map((o) => o.objectId);") == [names[1]]
    assert page.run("return caveman.listObjects('nobody');") == []
    assert [row["id"] for row in page.run("return caveman.records();")] == sorted(
        [*names, page.run("return (await caveman.listObjects('other'))[0].objectId;")]
    )


def test_only_its_state_changes_and_only_by_its_own_call(page: Engine) -> None:
    name = page.run(PUT, data=DATA, more={})["objectId"]
    changed = page.run("return caveman.setObjectState(id, { currentness: 'stale', lifecycle: 'cold' });", id=name)
    assert (changed["currentness"], changed["lifecycle"]) == ("stale", "cold")
    assert page.run(PUT, data=DATA, more={})["currentness"] == "stale"
    other = page.outcome(
        "caveman.putObject({ type: 'CommandResult', sessionId: 's', source: 'make', transformVersion: '2' }, bytes(data))",
        data=DATA,
    )
    assert other["code"] == "cave_conflict"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("caveman.putObject({ type: 'Diary', sessionId: 's' }, 'x')", "cave_invalid_arguments"),
        ("caveman.putObject({ type: 'CommandResult' }, 'x')", "cave_invalid_arguments"),
        ("caveman.putObject({ type: 'CommandResult', sessionId: 's', colour: 'red' }, 'x')", "cave_invalid_arguments"),
        (
            "caveman.putObject({ type: 'CommandResult', sessionId: 's', contentHash: 'sha256:0' }, 'x')",
            "cave_invalid_arguments",
        ),
        ("caveman.putObject(null, 'x')", "cave_invalid_arguments"),
        ("caveman.getObject('ccr_obj_' + '0'.repeat(32))", "cave_unknown_handle"),
        ("caveman.getObject('ccr_obj_0')", "cave_invalid_reference"),
        ("caveman.setObjectState('ccr_obj_' + '0'.repeat(32), { lifecycle: 'cold' })", "cave_unknown_handle"),
        ("caveman.setObjectState('ccr_obj_' + '0'.repeat(32), { lifecycle: 'tepid' })", None),
        ("caveman.setObjectState('ccr_obj_' + '0'.repeat(32), { source: 'x' })", "cave_invalid_arguments"),
        ("caveman.listObjects(7)", "cave_invalid_arguments"),
        ("caveman.listObjects('s', { limit: 0 })", "cave_invalid_arguments"),
    ],
)
def test_what_is_wrong_has_its_code(engine: Engine, call: str, code: str | None) -> None:
    ended = engine.outcome(call)
    assert ended["ours"]
    assert ended["code"] in ([code] if code else ["cave_invalid_arguments", "cave_unknown_handle"])


@pytest.mark.parametrize("persistence", HOOKS)
def test_objects_outlive_the_page_and_other_pages_see_their_state(tab: Tab, persistence: str) -> None:
    options = f"persistence: {HOOKS[persistence]}"
    first, other = tab(options), tab(options)
    name = first.run(PUT, data=DATA, more={})["objectId"]
    assert other.run("return (await caveman.getObject(id)).currentness;", id=name) == "current"
    first.run("await caveman.setObjectState(id, { currentness: 'archived' });", id=name)
    assert other.run("return (await caveman.getObject(id)).currentness;", id=name) == "archived"
    first.page.close()
    other.page.close()
    later = tab(options)
    assert later.run("return (await caveman.stats()).objects;") == 1
    assert later.run("return (await caveman.listObjects('s')).map((o) => [o.objectId, o.currentness]);") == [
        [name, "archived"]
    ]
    assert base64.b64decode(later.run("return base64((await caveman.getObject(id)).data);", id=name)) == DATA
    bundle = later.run(
        """const all = await caveman.exportBundle();
        await caveman.forget([id]);
        const gone = await outcome(() => caveman.getObject(id));
        return [gone.code, (await caveman.importBundle(all)).objects, base64((await caveman.getObject(id)).data)];""",
        id=name,
    )
    assert bundle == ["cave_forgotten", 1, base64.b64encode(DATA).decode()]


@pytest.mark.parametrize("persistence", HOOKS)
def test_an_object_that_cannot_be_kept_is_refused_and_not_there(tab: Tab, persistence: str) -> None:
    page = tab(f"persistence: {HOOKS[persistence]}, maxBytes: 100")
    ended = page.outcome("caveman.putObject({ type: 'CommandResult', sessionId: 's' }, 'x'.repeat(200))")
    assert ended["code"] == "cave_ccr_budget_exceeded"
    assert page.run("return [(await caveman.stats()).objects, await caveman.listObjects('s')];") == [0, []]
