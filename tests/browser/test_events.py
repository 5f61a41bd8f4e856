"""What the option `on` is told: that it is ready, how much has arrived, what could not be kept, what is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser

# A page that notes what it is told, and can end its worker.
NOTE = """
    globalThis.Worker = class extends Worker { constructor(...given) { super(...given); globalThis.last = this; } };
    globalThis.told = [];
    const note = (name) => (event) => told.push([name, event?.code ?? event]);
    globalThis.on = Object.fromEntries(["ready", "progress", "persisterror", "reset"].map((name) => [name, note(name)]));
    globalThis.names = () => [...new Set(told.map(([name]) => name))];
    globalThis.drop = () => new Promise((resolve) => { indexedDB.deleteDatabase("caveman-wasm").onsuccess = resolve; });
"""
Start = Callable[[str], Engine]


@pytest.fixture
def noting(context: BrowserContext, site: str) -> Start:
    context.add_init_script(NOTE)

    def start(options: str = "") -> Engine:
        engine = bare(context.new_page(), site)
        engine.start = f"globalThis.caveman ??= await createCaveman({{ on, {options} }});"
        return engine

    return start


where = pytest.mark.parametrize("inline", ["", "inline: true,"], ids=["worker", "inline"])


@where
def test_a_start_tells_how_much_has_arrived_and_that_it_is_ready(noting: Start, inline: str) -> None:
    told, pyodide = noting(inline).run("return [told, caveman.pyodideVersion];")
    *progress, (last, ready) = told
    assert (last, ready) == ("ready", {"pyodide": pyodide, "epoch": None})
    loaded = [said["loaded"] for name, said in progress if name == "progress"]
    assert len(loaded) == len(progress) > 1
    assert loaded == sorted(loaded)
    assert {said["total"] for _, said in progress} == {loaded[-1]}


def test_a_plain_start_tells_that_it_is_ready(noting: Start, context: BrowserContext) -> None:
    context.route("**/snapshot.json", lambda route: route.abort())
    assert noting("").run("return names();") == ["ready"]


def test_a_worker_that_is_replaced_is_ready_anew_and_what_only_it_held_is_lost(noting: Start) -> None:
    lose = """told.length = 0;
        const pending = outcome(() => caveman.compress(bytes(payload)));
        last.terminate();
        await pending;
        await caveman.stats();
        return told.filter(([name]) => name !== "progress").map(([name, { epoch }]) => [name, epoch]);"""
    assert noting("").run(lose, payload=log(lines=6000)) == [["ready", None], ["reset", None]]
    kept = noting('persistence: "indexeddb"')
    epoch = kept.run("return (await caveman.health()).epoch;")
    assert kept.run(lose, payload=log(lines=6000)) == [["ready", epoch]]


@where
def test_what_could_not_be_kept_is_told_by_its_code(noting: Start, inline: str) -> None:
    ended, told = noting(f'{inline} persistence: "indexeddb", maxBytes: 5000').run(
        """told.length = 0;
        const { error } = await caveman.compress(bytes(payload));
        return [error, told];""",
        payload=log(),
    )
    assert (ended, told) == ("cave_ccr_budget_exceeded", [["persisterror", "cave_ccr_budget_exceeded"]])


@where
def test_a_hook_that_fails_is_told(noting: Start, inline: str) -> None:
    fails = "async () => { throw new Error('no disk'); }"
    hook = f"{{ open: async () => ({{ epoch: 'one', index: [] }}), put: {fails}, get: {fails}, delete: {fails} }}"
    told = noting(f"{inline} persistence: {hook}").run(
        """told.length = 0;
        await caveman.compress(bytes(payload));
        await outcome(() => caveman.retrieve("ccr_" + "0".repeat(32)));
        return told;""",
        payload=log(),
    )
    assert told == [["persisterror", "cave_ccr_unavailable"]] * 2


@where
def test_a_database_that_was_dropped_is_told_once(noting: Start, inline: str) -> None:
    page = noting(f'{inline} persistence: "indexeddb"')
    told, epoch = page.run(
        """const before = (await caveman.health()).epoch;
        told.length = 0;
        await drop();
        await caveman.compress(bytes(payload));
        await caveman.stats();
        const { epoch } = await caveman.health();
        return [told, epoch === before ? "the same" : epoch];""",
        payload=log(),
    )
    assert told == [["reset", {"epoch": epoch}]]


def test_a_database_that_is_not_the_one_that_the_host_remembers_is_told_at_the_start(noting: Start) -> None:
    told, epoch = noting('persistence: "indexeddb", epoch: "another"').run(
        "return [told.filter(([name]) => name === 'reset'), (await caveman.health()).epoch];"
    )
    assert told == [["reset", {"epoch": epoch}]]
    same = noting(f'persistence: "indexeddb", epoch: "{epoch}"')
    assert same.run("return told.filter(([name]) => name === 'reset');") == []


def test_what_a_listener_throws_is_the_pages(noting: Start) -> None:
    page = noting("on: { ...on, ready: () => { throw new Error('theirs'); } }")
    thrown: list[str] = []
    page.page.on("pageerror", lambda error: thrown.append(error.message))
    assert page.run("return (await caveman.compress(bytes(payload))).recoveryHandle !== null;", payload=log())
    assert thrown == ["theirs"]


@pytest.mark.parametrize("on", ["{ redy: () => {} }", "{ ready: 1 }", "null"])
def test_listeners_are_functions_by_known_names(engine: Engine, on: str) -> None:
    assert engine.outcome(f"createCaveman({{ on: {on} }})")["code"] == "cave_invalid_arguments"
