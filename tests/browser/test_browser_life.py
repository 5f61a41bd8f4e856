"""Starting, dying, closing: a promise always settles, and says why."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from page_engine import Engine, bare
from payloads import Golden, golden_cases, log
from playwright.sync_api import BrowserContext, Route
from serve import CSP

from caveman_wasm import Engine as NativeEngine
from caveman_wasm import open_memory
from caveman_wasm.references import handle

pytestmark = pytest.mark.browser

# A page has no way to ask for its workers: this one remembers those it makes.
REMEMBER_WORKERS = """
globalThis.workers = [];
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    workers.push(this);
  }
};
"""


@pytest.fixture
def own(context: BrowserContext, site: str) -> Engine:
    """A page of one's own, to break."""
    context.add_init_script(REMEMBER_WORKERS)
    return bare(context.new_page(), site)


# ---------------------------------------------------------------- start


def test_a_policy_without_wasm_is_named_as_the_cause(context: BrowserContext, site: str) -> None:
    engine = bare(context.new_page(), site, CSP.replace(" 'wasm-unsafe-eval'", ""))
    ended = engine.page.evaluate(
        """async (base) => {
          const { createCaveman } = await import(`${base}caveman.js`);
          const since = performance.now();
          return createCaveman({ startTimeout: 20000 }).catch(({ code, message }) => {
            return { code, message, took: performance.now() - since };
          });
        }""",
        site,
    )
    assert ended["code"] == "cave_start_failed"
    assert "'wasm-unsafe-eval'" in ended["message"]
    assert ended["took"] < 20_000


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ("{ startTimeout: 1 }", "within 1 ms"),
        ("{ baseURL: './nowhere/' }", "nowhere"),
        ("{ baseURL: './nowhere/', inline: true }", "nowhere"),
    ],
)
def test_a_start_that_fails_says_so(engine: Engine, options: str, cause: str) -> None:
    ended = engine.outcome(f"createCaveman({options})")
    assert (ended["ours"], ended["code"]) == (True, "cave_start_failed")
    assert cause in ended["message"]


@pytest.mark.parametrize("inline", ["false", "true"], ids=["worker", "inline"])
@pytest.mark.parametrize("with_snapshot", [True, False], ids=["snapshot", "plain"])
@pytest.mark.parametrize("file", ["pyodide.asm.wasm", "pyodide.asm.mjs", "pyodide.mjs"])
def test_a_file_that_cannot_be_had_is_named_at_once(own: Engine, file: str, with_snapshot: bool, inline: str) -> None:
    """Without it the start can never end: nobody waits for the clock."""
    own.start = ""
    own.page.context.route(f"**/{file}", lambda route: route.abort())
    if not with_snapshot:
        own.page.context.route("**/snapshot.json", lambda route: route.abort())
    ended = own.outcome(f"createCaveman({{ inline: {inline} }})")
    assert (ended["ours"], ended["code"]) == (True, "cave_start_failed")
    assert file in ended["message"]


def test_a_start_can_be_given_up(engine: Engine) -> None:
    assert engine.outcome("createCaveman({ signal: AbortSignal.abort() })")["name"] == "AbortError"
    later = "createCaveman({ signal: AbortSignal.timeout(50) })"
    assert engine.outcome(later)["name"] == "TimeoutError"  # the signal's own reason


def test_nothing_comes_from_elsewhere(context: BrowserContext, site: str) -> None:
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    bare(page, site).run("return (await caveman.compress(bytes(payload))).recoveryHandle;", payload=log())
    assert [url for url in asked if not url.startswith(site)] == []


def test_inline_it_runs_on_this_thread_with_a_counter_of_ones_own(own: Engine) -> None:
    made = own.run(
        """const counter = { name: "bytes", count: (utf8) => utf8.length };
        const inline = await createCaveman({ inline: true, counter });
        const started = workers.length;
        const r = await inline.compress(bytes(payload));
        const back = base64(await inline.retrieve(r.recoveryHandle));
        const unknown = await outcome(() => inline.retrieve("ccr_1"));
        inline.close();
        return [started, r.tokenCountBasis, r.tokensBefore, back === payload, unknown.code];""",
        payload=log(),
    )
    assert made == [1, "bytes", len(log()), True, "cave_invalid_reference"]  # the 1 is the page's other caveman


def test_two_on_one_page_do_not_share_a_store(own: Engine) -> None:
    ended = own.run(
        """const other = await createCaveman();
        const { recoveryHandle } = await caveman.compress(bytes(payload));
        return outcome(() => other.retrieve(recoveryHandle));""",
        payload=log(),
    )
    assert ended["code"] == "cave_unknown_handle"


# ---------------------------------------------------------------- the memory snapshot

SNAPSHOT = """const { snapshot } = await caveman.health();
    const r = await caveman.compress(bytes(payload));
    return [snapshot, base64(r.output), r.recoveryHandle];"""


def test_it_starts_from_the_snapshot_and_answers_as_from_a_plain_start(own: Engine) -> None:
    snapshot, *made = own.run(SNAPSHOT, payload=log())
    assert snapshot
    own.page.context.route("**/snapshot.json", lambda route: route.abort())
    own.page.reload()
    assert own.run(SNAPSHOT, payload=log()) == [False, *made]


OF_EACH_FORMAT = {  # the smallest
    case.name.partition("/")[0]: case for case in sorted(golden_cases(), key=lambda case: -len(case.payload))
}.values()
STARTS = {
    "snapshot": "await createCaveman()",
    "one hash seed": "await seeded('1')",
    "another": "await seeded('4242')",
}
SEEDED = """const seeded = async (PYTHONHASHSEED) => {
    const { loadPyodide } = await import(`${base}pyodide/pyodide.mjs`);
    globalThis.theirs = await loadPyodide({ indexURL: `${base}pyodide/`, env: { HOME: "/home", PYTHONHASHSEED } });
    return createCaveman({ pyodide: theirs });
};"""


def made_natively(cases: Iterable[Golden]) -> list[list[Any]]:
    native, made = NativeEngine(open_memory()), []
    for case in cases:
        r = native.compress(case.payload, query="failed order")
        view = native.retrieve_query(r.recovery_handle, "failed order") if r.recovery_handle else b""
        markers = [[*marker.facts] for marker in r.markers]
        made.append([base64.b64encode(r.output).decode(), r.tokens_after, markers, view.decode()])
    return made


def test_what_a_start_draws_by_chance_is_not_seen_in_results(context: BrowserContext, site: str) -> None:
    """A snapshot freezes `random` and the hash seed, which a plain start draws anew: results are the native ones."""
    hashes = set()
    for name, start in STARTS.items():
        page = bare(context.new_page(), site)
        page.start = f"{SEEDED} globalThis.caveman ??= {start};"
        made = page.run(
            """const made = [];
            for (const payload of payloads) {
              const r = await caveman.compress(bytes(payload), { query: "failed order" });
              const view = r.recoveryHandle ? await caveman.retrieveText(r.recoveryHandle, { query: "failed order" }) : "";
              made.push([base64(r.output), r.tokensAfter, r.markers.map((m) => m.facts), view]);
            }
            return made;""",
            payloads=[base64.b64encode(case.payload).decode() for case in OF_EACH_FORMAT],
        )
        assert made == made_natively(OF_EACH_FORMAT), name
        hashes.add(page.run("return globalThis.theirs?.runPython('hash(\"a text\")') ?? null;"))
        page.page.close()
    assert len(hashes) == 3, "the seeds had an effect"


def spoiled(body: bytes) -> bytes:
    return body[:100_000] + bytes([body[100_000] ^ 1]) + body[100_001:]


@pytest.mark.parametrize(
    ("file", "spoil"),
    [
        ("snapshot.bin", spoiled),
        ("snapshot.bin", lambda body: body[:-1]),
        ("snapshot.json", lambda body: body.replace(b"314.0", b"999.0")),
        ("snapshot.json", lambda body: body[:-1]),
    ],
    ids=["a bit is off", "cut short", "another Pyodide's", "no JSON"],
)
def test_a_spoiled_snapshot_is_not_used(own: Engine, file: str, spoil: Callable[[bytes], bytes]) -> None:
    def other(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=spoil(response.body()))

    own.page.context.route(f"**/{file}", other)
    snapshot, _, name = own.run(SNAPSHOT, payload=log())
    assert (snapshot, name) == (False, handle(log()))


def test_a_worker_fetches_what_its_page_could_not(own: Engine) -> None:
    """A page's own policy may forbid what the worker's, which comes with its response, allows."""
    asked: list[str] = []

    def refuse_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            route.continue_()

    own.page.context.route("**/snapshot.bin", refuse_first)
    snapshot, _, name = own.run(SNAPSHOT, payload=log())
    assert (snapshot, name) == (True, handle(log()))
    assert len(asked) == 2


# ---------------------------------------------------------------- death


@pytest.mark.parametrize(
    "killer", ["workers[0].terminate()", "workers[0].dispatchEvent(new MessageEvent('messageerror'))"]
)
def test_a_worker_that_dies_in_mid_call_rejects_it_and_the_next_call_starts_another(own: Engine, killer: str) -> None:
    pending, old, both, back = own.run(
        f"""const before = await caveman.compress(bytes(payload));
        const pending = [...[1, 2].map((n) => outcome(() => caveman.compress(bytes(payload).slice(n))))];
        await new Promise((resolve) => setTimeout(resolve, 30));
        {killer};
        const lost = await Promise.all(pending);
        const old = await outcome(() => caveman.retrieve(before.recoveryHandle));
        const next = [caveman.compress(bytes(payload)), caveman.stats()]; // at once: one start for both
        const [{{ recoveryHandle }}] = await Promise.all(next);
        const {{ records }} = await caveman.stats();
        const back = base64(await caveman.retrieve(recoveryHandle)) === payload;
        return [lost.map(({{ ours, code }}) => [ours, code]), old, [workers.length, records], back];""",
        payload=log(lines=6000),
    )
    assert pending == [[True, "cave_worker_lost"]] * 2
    assert (old["code"], old["reference"]) == ("cave_store_reset", handle(log(lines=6000)))
    assert (both, back) == ([2, 1], True)


def test_a_handle_of_a_dead_worker_and_one_that_never_was_are_a_reset_until_it_is_put_again(own: Engine) -> None:
    """A page cannot say which handles the dead one held: what is missing may have been there."""
    codes = own.run(
        """await caveman.compress(bytes(payload));
        workers[0].terminate();
        const codes = [];
        for (const call of [() => caveman.stats(), () => caveman.retrieve("ccr_" + "0".repeat(32)), () => caveman.retrieve("ccr_0")]) {
          const { code } = await outcome(call);
          if (code !== "cave_worker_lost") codes.push(code);
        }
        return codes.filter(Boolean);""",
        payload=log(),
    )
    assert codes == ["cave_store_reset", "cave_invalid_reference"]


def test_persisted_handles_outlive_their_worker(own: Engine) -> None:
    own.start = 'globalThis.caveman ??= await createCaveman({ persistence: "indexeddb" });'
    kept, unknown, later = own.run(
        """const { recoveryHandle } = await caveman.compress(bytes(payload));
        const pending = outcome(() => caveman.compress(bytes(payload).slice(9)));
        workers[0].terminate();
        await pending;
        const kept = base64(await caveman.retrieve(recoveryHandle)) === payload;
        const { code } = await outcome(() => caveman.retrieve("ccr_" + "0".repeat(32)));
        return [kept, code, (await caveman.compress(bytes(payload).slice(9))).persisted];""",
        payload=log(),
    )
    assert (kept, unknown, later) == (True, "cave_unknown_handle", True)


def test_a_database_dropped_while_there_was_no_worker_is_a_reset(own: Engine) -> None:
    own.start = 'globalThis.caveman ??= await createCaveman({ persistence: "indexeddb" });'
    ended = own.run(
        """const { recoveryHandle } = await caveman.compress(bytes(payload));
        const pending = outcome(() => caveman.compress(bytes(payload).slice(9)));
        workers[0].terminate();
        await pending;
        await new Promise((resolve) => { indexedDB.deleteDatabase("caveman-wasm").onsuccess = resolve; });
        return outcome(() => caveman.retrieve(recoveryHandle));""",
        payload=log(),
    )
    assert ended["code"] == "cave_store_reset"


def test_a_worker_that_cannot_start_again_says_so_and_the_next_call_tries_again(own: Engine) -> None:
    own.run("await caveman.stats();")
    own.page.context.route("**/pyodide.asm.wasm", lambda route: route.abort())
    failed = own.run(
        """const pending = outcome(() => caveman.compress(bytes(payload)));
        workers[0].terminate();
        await pending;
        return outcome(() => caveman.stats());""",
        payload=log(lines=6000),
    )
    assert failed["code"] == "cave_start_failed"
    own.page.context.unroute("**/pyodide.asm.wasm")
    assert own.run("return (await caveman.stats()).records;") == 0


@pytest.mark.parametrize("megabytes", [40, 64, 100])
@pytest.mark.parametrize(
    "payload", [log(), b"[" + b'{"a": 1, "b": "some words"},' * 400 + b"0]\n"], ids=["log", "json"]
)
def test_beyond_the_hosts_memory_limit_the_caller_gets_its_input_and_small_calls_go_on(
    own: Engine, megabytes: int, payload: bytes
) -> None:
    own.start = f"globalThis.caveman ??= await createCaveman({{ maxMemory: {megabytes} * 1024 * 1024 }});"
    said = own.run(
        """const large = new TextEncoder().encode(new TextDecoder().decode(bytes(payload)).repeat(3000));
        const r = await caveman.compress(large);
        const same = r.output.length === large.length && indexedDB.cmp(r.output, large) === 0;
        const small = await caveman.compress(bytes(payload));
        const back = base64(await caveman.retrieve(small.recoveryHandle)) === payload;
        return [r.reason, r.error, r.recoveryHandle, same, back, workers.length];""",
        payload=payload,
    )
    assert said == ["store_failed", "cave_ccr_budget_exceeded", None, True, True, 1]  # the limit, not a crash


def test_a_memory_limit_below_the_engine_itself_is_refused(engine: Engine) -> None:
    assert engine.outcome("createCaveman({ maxMemory: 1e6 })")["code"] == "cave_invalid_arguments"


def test_close_rejects_what_is_pending(own: Engine) -> None:
    codes = own.run(
        """const calls = [caveman.compress(bytes(payload)), caveman.stats()].map((call) => outcome(() => call));
        caveman.close();
        caveman.close();
        return (await Promise.all([...calls, outcome(() => caveman.stats())])).map(({ code }) => code);""",
        payload=log(),
    )
    assert codes == ["cave_worker_lost"] * 3
    own.page.wait_for_timeout(300)
    assert own.page.workers == []


def test_close_lets_go_of_the_database_on_this_thread_too(own: Engine) -> None:
    codes = own.run(
        """const inline = await createCaveman({ inline: true, persistence: "indexeddb" });
        await inline.compress(bytes(payload));
        inline.close();
        const { code } = await outcome(() => inline.stats());
        return new Promise((resolve) => {
          const said = (what) => () => resolve([code, what]);
          Object.assign(indexedDB.deleteDatabase("caveman-wasm"), { onsuccess: said("free"), onblocked: said("held") });
        });""",
        payload=log(),
    )
    assert codes == ["cave_worker_lost", "free"]


def test_the_lost_payload_is_still_the_callers(own: Engine) -> None:
    lengths = own.run(
        """const array = bytes(payload);
        const pending = outcome(() => caveman.compress(array));
        caveman.close();
        await pending;
        return [array.length, array.buffer.byteLength];""",
        payload=log(),
    )
    assert lengths == [len(log())] * 2
