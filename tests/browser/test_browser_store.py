"""What a page's operator does to the store: list, forget, export, import."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext

from caveman_wasm.references import handle

pytestmark = pytest.mark.browser
FIRST, SECOND = log(), log() + b"more\n"
UNKNOWN = "ccr_" + "a" * 32


@pytest.fixture(params=["none", "indexeddb"])
def held(request: pytest.FixtureRequest, context: BrowserContext, site: str) -> Iterator[Engine]:
    """A page that holds two records."""
    engine = bare(context.new_page(), site)
    engine.start = f"globalThis.caveman ??= await createCaveman({{ persistence: '{request.param}' }});"
    for payload in (FIRST, SECOND):
        engine.run("await caveman.compress(bytes(payload));", payload=payload)
    yield engine
    engine.run("caveman.close();")


def test_records_are_listed_and_forgotten_by_name(held: Engine) -> None:
    rows = held.run("return caveman.records();")
    assert [row["id"] for row in rows] == sorted([handle(FIRST), handle(SECOND)])
    assert all(row["bytes"] > 5_000 and row["tokensBefore"] > row["tokensAfter"] > 0 for row in rows)
    assert held.run("return caveman.forget([reference, unknown]);", reference=handle(FIRST), unknown=UNKNOWN) == 1
    assert held.outcome("caveman.retrieve(name)", name=handle(FIRST))["code"] == "cave_forgotten"
    assert [row["id"] for row in held.run("return caveman.records();")] == [handle(SECOND)]
    assert held.outcome("caveman.forget('ccr_')")["code"] == "cave_invalid_arguments"
    assert held.outcome("caveman.forget(['ccr_'])")["code"] == "cave_invalid_reference"


def test_all_that_reads_the_store_may_be_asked_at_once(held: Engine) -> None:
    answers = held.run(
        """
        const all = () => Promise.all([caveman.stats(), caveman.health(), caveman.records()]);
        return (await Promise.all(Array.from({ length: 20 }, all))).map(([stats, health, rows]) =>
          [stats.records, health.epoch, rows.length]);
        """
    )
    assert len({tuple(answer) for answer in answers}) == 1
    assert (answers[0][0], answers[0][2]) == (2, 2)


def test_a_bundle_brings_back_what_was_cleared(held: Engine) -> None:
    counts = held.run(
        """
        const all = await caveman.exportBundle();
        const one = await caveman.exportBundle([name]);
        await caveman.clear();
        globalThis.sizes = [all.size, one.size];
        return caveman.importBundle(all);
        """,
        name=handle(SECOND),
    )
    assert (counts["records"], counts["objects"], counts["known"]) == (2, 0, 0)
    assert counts["bytes"] >= len(FIRST) + len(SECOND)
    large, small = held.run("return globalThis.sizes;")
    assert large > small > len(SECOND)
    for payload in (FIRST, SECOND):
        back = held.run(
            "return base64(await caveman.retrieve(name)) === payload;", name=handle(payload), payload=payload
        )
        assert back is True
    cut = held.outcome("caveman.exportBundle().then((all) => caveman.importBundle(all.slice(0, all.size - 9)))")
    assert cut["code"] == "cave_invalid_bundle"
    assert held.outcome("caveman.exportBundle([name])", name=UNKNOWN)["code"] == "cave_unknown_handle"
