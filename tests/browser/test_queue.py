"""Whose turn it is: small calls before large ones, none passed over for ever; and calls that are given up."""

from __future__ import annotations

from typing import Any

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.browser
LARGE, SMALL = log(lines=8000), log()

# Calls by name, and the order in which they were answered. What is aborted ends in the order too, by its reason.
ORDER = """
    const [large, small] = [bytes(LARGE), bytes(SMALL)];
    const payload = (of, n) => new TextEncoder().encode(`${new TextDecoder().decode(of)}\\n${n}`);
    const order = [];
    const noted = (name, call) => call.then(() => order.push(name), ({ name: kind }) => order.push(`${name} ${kind}`));
    const compress = (name, options) => noted(name, caveman.compress(payload(name[0] === "L" ? large : small, name), options));
    const pause = () => new Promise((resolve) => setTimeout(resolve));
"""


@pytest.fixture(params=["false", "true"], ids=["worker", "inline"])
def own(request: pytest.FixtureRequest, context: BrowserContext, site: str) -> Engine:
    """A page of one's own with an empty engine, in a worker or on the page's thread."""
    engine = bare(context.new_page(), site)
    engine.start = f"globalThis.caveman ??= await createCaveman({{ inline: {request.param} }});"
    return engine


def ordered(engine: Engine, body: str) -> Any:
    return engine.run(ORDER + body, LARGE=LARGE, SMALL=SMALL)


def test_small_calls_behind_five_large_ones_wait_for_one_at_most_and_each_size_keeps_its_order(own: Engine) -> None:
    order = ordered(
        own,
        """await Promise.all(["L1", "L2", "L3", "L4", "L5", "s1", "s2", "s3"].map((name) => compress(name)));
        return order;""",
    )
    assert order.index("s3") <= 3, order
    assert [name for name in order if name[0] == "L"] == ["L1", "L2", "L3", "L4", "L5"]
    assert [name for name in order if name[0] == "s"] == ["s1", "s2", "s3"]


def test_small_calls_that_never_end_do_not_keep_a_large_one_waiting(own: Engine) -> None:
    before = ordered(
        own,
        """let [n, done] = [0, false];
        const chain = async () => { while (!done && n < 300) await caveman.compress(payload(small, n++)); };
        const chains = [chain(), chain(), chain()];
        await Promise.all(["L1", "L2"].map((name) => compress(name)));
        done = true;
        const before = n;
        await Promise.all(chains);
        return before;""",
    )
    assert before < 30


def test_every_answer_comes_when_it_is_made(own: Engine) -> None:
    """Not with those of all that was asked together: the page hears of the first while others wait."""
    waiting = ordered(
        own,
        """const calls = ["L1", "L2", "L3", "L4"].map((name) => compress(name));
        await calls[0];
        const later = noted("stats", caveman.stats());
        await Promise.all([...calls, later]);
        return order;""",
    )
    assert waiting.index("stats") <= 2, waiting


def test_a_call_given_up_while_it_waits_rejects_at_once_and_never_begins(own: Engine) -> None:
    order, records, same = ordered(
        own,
        """const controller = new AbortController();
        const { signal } = controller;
        const calls = ["L1", "L2"].map((name) => compress(name));
        const given = ["L3", "s1"].map((name) => compress(name, { signal }));
        calls.push(noted("simulate", caveman.simulate(payload(small, "simulated"), { signal })));
        const reason = new DOMException("no longer wanted", "OperationError");
        const last = caveman.compress(payload(small, "s2"), { signal }).catch((thrown) => thrown === reason);
        controller.abort(reason);
        const same = await last;
        await Promise.all([...given, ...calls]);
        return [order, (await caveman.stats()).records, same];""",
    )
    assert sorted(order[:3]) == ["L3 OperationError", "s1 OperationError", "simulate OperationError"]
    assert order[3:] == ["L1", "L2"]
    assert (records, same) == (2, True)


def test_a_running_call_given_up_rejects_at_once_and_what_it_stored_stays(context: BrowserContext, site: str) -> None:
    own = bare(context.new_page(), site)
    at_once, order, records = ordered(
        own,
        """const controller = new AbortController();
        const text = new TextDecoder().decode(large);
        const call = noted("huge", caveman.compress(text.repeat(20), { signal: controller.signal }));
        await new Promise((resolve) => setTimeout(resolve, 300));  // of some seconds
        const stats = caveman.stats();
        const after = [noted("stats", stats), compress("s1")];
        controller.abort();
        await call;
        const atOnce = [...order];
        await Promise.all(after);
        return [atOnce, order, (await stats).records];""",
    )
    assert at_once == ["huge AbortError"]  # stats had to wait for Python, and the abort had not
    assert order == [*at_once, "stats", "s1"]
    assert records == 1, "it ran, to its end"


# A hook on the page whose puts wait until they are let go, and that knows how many do.
HELD = """
    const rows = new Map();
    let [waiting, most] = [[], 0];
    const hook = {
      open: async () => ({ epoch: "one", index: [...rows.values()].map(({ id, bytes }) => [id, bytes]) }),
      get: async (id) => rows.get(id),
      delete: async () => {},
      put: (record) => new Promise((resolve) => {
        waiting.push(() => (rows.set(record.id, record), resolve()));
        most = Math.max(most, waiting.length);
      }),
    };
    const held = async (count) => { while (waiting.length < count) await pause(); };
    const own = await createCaveman({ persistence: hook, inline });"""


@pytest.mark.parametrize("inline", [False, True], ids=["worker", "inline"])
def test_who_waits_for_the_hook_keeps_nobody_waiting(engine: Engine, inline: bool) -> None:
    small, puts, persisted = engine.run(
        ORDER
        + HELD
        + """const calls = ["L1", "L2", "s1", "s2"].map((name) => own.compress(payload(name[0] === "L" ? large : small, name)));
        await held(4);
        const { reason } = await own.compress("small");
        for (const letGo of waiting) letGo();
        const persisted = (await Promise.all(calls)).map((r) => r.persisted);
        own.close();
        return [reason, most, persisted];""",
        LARGE=LARGE,
        SMALL=SMALL,
        inline=inline,
    )
    assert (small, puts, persisted) == ("too_small", 4, [True] * 4)


@pytest.mark.parametrize("inline", [False, True], ids=["worker", "inline"])
def test_given_up_while_the_hook_stores_it_the_record_stays(engine: Engine, inline: bool) -> None:
    ended, back = engine.run(
        ORDER
        + HELD
        + """const controller = new AbortController();
        const made = payload(small, "kept");
        const call = outcome(() => own.compress(made, { signal: controller.signal }));
        await held(1);
        controller.abort();
        const { name } = await call;
        waiting[0]();
        const again = own.compress(made);
        await held(2);
        waiting[1]();
        const { recoveryHandle } = await again;
        const back = await own.retrieve(recoveryHandle);
        own.close();
        return [[name, rows.size], indexedDB.cmp(back, made) === 0];""",
        LARGE=LARGE,
        SMALL=SMALL,
        inline=inline,
    )
    assert (ended, back) == (["AbortError", 1], True)


def test_each_call_that_may_be_given_up_can_be(engine: Engine) -> None:
    names = engine.run(
        """const { recoveryHandle } = await caveman.compress(bytes(payload));
        const signal = AbortSignal.abort();
        const calls = [
          () => caveman.compress(bytes(payload), { signal }),
          () => caveman.compress(new Blob(["text"]), { signal }),
          () => caveman.simulate(bytes(payload), { signal }),
          () => caveman.retrieve(recoveryHandle, { signal }),
          () => caveman.retrieveText(recoveryHandle, { signal }),
          () => caveman.select(recoveryHandle, "line=0,1", { signal }),
        ];
        return (await Promise.all(calls.map(outcome))).map(({ name }) => name);""",
        payload=log(),
    )
    assert names == ["AbortError"] * 6
    assert engine.outcome("caveman.compress('text', { signal: {} })")["code"] == "cave_invalid_arguments"
    assert engine.outcome("caveman.retrieve('ccr_0', { query: 'text' })")["code"] == "cave_invalid_arguments"


def test_a_signal_that_serves_many_calls_is_not_listened_to_after_them(engine: Engine) -> None:
    listening = engine.run(
        """const { signal } = new AbortController();
        let listening = 0;
        for (const [method, change] of [["addEventListener", 1], ["removeEventListener", -1]]) {
          const real = signal[method];
          signal[method] = (...given) => ((listening += change), real.apply(signal, given));
        }
        const calls = Array.from({ length: 20 }, () => caveman.compress("text", { signal }));
        const during = listening;
        await Promise.all(calls);
        return [during > 0, listening];"""
    )
    assert listening == [True, 0]


def test_a_call_that_waits_for_a_new_worker_can_be_given_up(context: BrowserContext, site: str) -> None:
    context.add_init_script(
        "globalThis.Worker = class extends Worker { constructor(...given) { super(...given); globalThis.last = this; } };"
    )
    own = bare(context.new_page(), site)
    own.run("await caveman.stats();")
    own.page.context.route("**/pyodide.asm.wasm", lambda route: None)  # never answered
    name = own.run(
        """const pending = outcome(() => caveman.compress(bytes(payload)));
        last.terminate();
        await pending;
        return (await outcome(() => caveman.compress(bytes(payload), { signal: AbortSignal.timeout(50) }))).name;""",
        payload=log(lines=6000),
    )
    assert name == "TimeoutError"
