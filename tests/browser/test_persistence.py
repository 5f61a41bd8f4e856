"""Durable records: one conformance suite for hooks, over IndexedDB, a hook of the test's own on OPFS, and that of
the VS Code extension on a fake of VS Code's files (test_workbench.py runs it on the real ones)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from page_engine import Engine, bare
from payloads import HARD, log
from playwright.sync_api import Browser, BrowserContext
from vscode_parts import OPFS_FS, parts

from caveman_wasm.references import handle

pytestmark = pytest.mark.browser

# An embedder's hook: a file a record in the Origin Private File System, the head as one line before the bytes.
OPFS = """
const opfs = (async () => {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle("caveman", { create: true });
  const read = async (name) => (await (await folder.getFileHandle(name)).getFile()).arrayBuffer();
  const write = async (name, ...parts) => {
    const out = await (await folder.getFileHandle(name, { create: true })).createWritable();
    await out.write(new Blob(parts));
    await out.close();
  };
  const heads = async () => {
    const found = [];
    for await (const name of folder.keys()) {
      if (name.endsWith(".json")) found.push(JSON.parse(new TextDecoder().decode(await read(name))));
    }
    return found;
  };
  let budget = 0;
  let line = Promise.resolve();
  const inTurn = (work) => (line = line.then(work, work));
  return {
    open: async ({ maxBytes }) => {
      budget = maxBytes;
      let epoch;
      try {
        epoch = new TextDecoder().decode(await read("epoch"));
      } catch {
        await write("epoch", (epoch = crypto.randomUUID()));
      }
      return { epoch, index: (await heads()).map((h) => [h.id, h.bytes, h.tokensBefore, h.tokensAfter, h.sessionId, h.createdAt]) };
    },
    put: ({ data, metadata, ...head }) => inTurn(async () => {
      const others = (await heads()).filter(({ id }) => id !== head.id);
      const old = (await heads()).find(({ id }) => id === head.id);
      const sum = others.reduce((sum, { bytes }) => sum + bytes, 0);
      if (sum + head.bytes > budget) throw new DOMException("full", "QuotaExceededError");
      if (!old) await write(`${head.id}.data`, data);
      if (metadata) await write(`${head.id}.metadata`, metadata);
      await write(`${head.id}.json`, JSON.stringify({ ...head, createdAt: old?.createdAt ?? head.createdAt }));
    }),
    get: (id) => inTurn(async () => {
      const head = (await heads()).find((head) => head.id === id);
      if (!head) return undefined;
      const metadata = await read(`${id}.metadata`).catch(() => null);
      return { ...head, data: new Uint8Array(await read(`${id}.data`)), metadata: metadata && new Uint8Array(metadata) };
    }),
    delete: (ids) => inTurn(async () => {
      for (const { id } of await heads()) {
        if (ids !== "all" && !ids.includes(id)) continue;
        for (const end of ["json", "data", "metadata"]) await folder.removeEntry(`${id}.${end}`).catch(() => {});
      }
    }),
  };
})();
"""
HOOKS = {"indexeddb": '"indexeddb"', "opfs": "await opfs", "folder": "await folder"}
Tab = Callable[..., Engine]


@pytest.fixture(params=HOOKS)
def persistence(request: pytest.FixtureRequest) -> str:
    return HOOKS[request.param]


@pytest.fixture
def tab(context: BrowserContext, site: str) -> Tab:
    """Opens a page of one profile with a caveman of these options."""

    def opened(options: str = 'persistence: "indexeddb"') -> Engine:
        page = context.new_page()
        engine = bare(page, site)
        needed = OPFS if "opfs" in options else parts() + OPFS_FS if "folder" in options else ""
        engine.start = f"{needed} globalThis.caveman ??= await createCaveman({{ {options} }});"
        return engine

    return opened


COMPRESS = """const r = await caveman.compress(bytes(payload));
    return { handle: r.recoveryHandle, persisted: r.persisted, reason: r.reason, error: r.error, same: base64(r.output) === payload };"""
BACK = "return base64(await caveman.retrieve(reference));"


def compress(tab: Engine, payload: bytes) -> dict[str, Any]:
    made: dict[str, Any] = tab.run(COMPRESS, payload=payload)
    return made


def retrieve(tab: Engine, reference: str) -> bytes:
    return base64.b64decode(tab.run(BACK, reference=reference))


def code(tab: Engine, reference: str) -> str | None:
    found: str | None = tab.outcome("(await caveman.retrieve(reference)).length", reference=reference).get("code")
    return found


UNKNOWN = "ccr_" + "0" * 32
REFUSED = {"handle": None, "persisted": False, "reason": "store_failed", "same": True}

# ---------------------------------------------------------------- the hook's conformance suite


def test_a_later_page_gets_the_exact_bytes(tab: Tab, persistence: str) -> None:
    first = tab(f"persistence: {persistence}")
    made = [compress(first, payload) for payload in HARD.values()]
    assert all(result["persisted"] for result in made)
    first.page.close()
    later = tab(f"persistence: {persistence}")
    assert [retrieve(later, result["handle"]) for result in made] == list(HARD.values())
    assert code(later, UNKNOWN) == "cave_unknown_handle"


def test_a_hook_holds_what_was_put(tab: Tab, persistence: str) -> None:
    first = tab(f"persistence: {persistence}")
    before = first.run(
        """await caveman.compress(bytes(payload));
        await caveman.compress(bytes(payload), { query: "cart" });
        return caveman.stats();""",
        payload=log(),
    )
    assert (before["records"], before["objects"], before["refused"]) == (1, 0, 0)
    assert before["storageBytes"] > len(log())
    assert 0 < before["tokensAfter"] < before["tokensBefore"]
    first.page.close()
    assert tab(f"persistence: {persistence}").run("return caveman.stats();") == before


def test_the_budget_holds_and_says_so(tab: Tab, persistence: str) -> None:
    page = tab(f"persistence: {persistence}, maxBytes: {len(log()) * 2}")
    kept, refused = compress(page, log()), compress(page, log(b"other"))
    assert kept["persisted"]
    assert refused == REFUSED | {"error": "cave_ccr_budget_exceeded"}
    assert code(page, handle(log(b"other"))) == "cave_unknown_handle"
    assert retrieve(page, kept["handle"]) == log()
    stats = page.run("return caveman.stats();")
    assert (stats["records"], stats["refused"]) == (1, 1)


def test_many_calls_at_once_are_each_durable(tab: Tab, persistence: str) -> None:
    page = tab(f"persistence: {persistence}")
    handles = page.run(
        """const texts = Array.from({ length: 12 }, (_, n) => new TextDecoder().decode(bytes(payload)) + "\\n" + n % 6);
        return (await Promise.all(texts.map((text) => caveman.compress(text)))).map((r) => r.recoveryHandle);""",
        payload=log(),
    )
    page.page.close()
    expected = [log() + b"\n%d" % (n % 6) for n in range(12)]
    assert handles == [handle(payload) for payload in expected]
    later = tab(f"persistence: {persistence}")
    assert [retrieve(later, name) for name in handles] == expected


def test_clear_leaves_nothing(tab: Tab, persistence: str) -> None:
    page = tab(f"persistence: {persistence}")
    name = compress(page, log())["handle"]
    page.run("await caveman.clear();")
    assert code(page, name) == "cave_forgotten"
    assert page.run("return (await caveman.stats()).storageBytes;") == 0
    assert compress(page, log())["persisted"]
    assert retrieve(page, name) == log()


def test_health_says_where_records_are(tab: Tab, persistence: str) -> None:
    kind = "indexeddb" if "indexeddb" in persistence else "hook"
    first = tab(f"persistence: {persistence}").run("return caveman.health();")
    again = tab(f"persistence: {persistence}").run("return caveman.health();")
    assert first["persistence"] == kind
    assert first["epoch"] == again["epoch"]
    assert first["durability"] == {"indexeddb": "strict", "hook": "hook"}[kind]
    assert first["quota"] > first["usage"] >= 0
    assert first["pyodide"].startswith("314.")


def test_health_without_persistence_names_no_place(engine: Engine) -> None:
    said = engine.run("return caveman.health();")
    nothing = {"persistence": "none", "durability": None, "epoch": None, "persistGranted": None}
    assert {name: said[name] for name in nothing} == nothing
    assert said["quota"] > said["usage"] >= 0


@pytest.mark.parametrize(("setting", "granted"), [("granted", True), ("denied", False)])
def test_health_tells_what_the_browser_answered_to_not_evicting(
    tab: Tab, context: BrowserContext, setting: str, granted: bool
) -> None:
    page = tab()
    devtools = context.new_cdp_session(page.page)
    devtools.send(
        "Browser.setPermission",
        {
            "permission": {"name": "persistent-storage"},
            "setting": setting,
            "origin": page.page.evaluate("location.origin"),
            "browserContextId": devtools.send("Target.getTargetInfo")["targetInfo"]["browserContextId"],
        },
    )
    said = page.run(
        """for (;;) {  // nobody waits for the answer: a person may have to give it
          const { persistGranted } = await caveman.health();
          if (persistGranted !== null) return [persistGranted, await navigator.storage.persisted()];
        }"""
    )
    assert said == [granted, granted]


def test_inline_it_is_as_durable(tab: Tab, persistence: str) -> None:
    name = compress(tab(f"persistence: {persistence}, inline: true"), log())["handle"]
    assert retrieve(tab(f"persistence: {persistence}"), name) == log()


def test_what_a_hook_gave_stays_the_embedders(tab: Tab) -> None:
    """On the page's own thread nothing comes between the two but a copy."""
    page = tab("inline: true")
    exact = page.run(
        """const rows = new Map();
        const persistence = {
          open: async () => ({ epoch: "of this page", index: [...rows.values()].map(({ id, bytes }) => [id, bytes]) }),
          put: async (record) => void rows.set(record.id, record),
          get: async (id) => rows.get(id),
          delete: async () => rows.clear(),
        };
        const open = () => createCaveman({ persistence, inline: true });
        const { recoveryHandle } = await (await open()).compress(bytes(payload));
        (await (await open()).retrieve(recoveryHandle)).fill(0);
        return base64(await (await open()).retrieve(recoveryHandle)) === payload;""",
        payload=log(),
    )
    assert exact


# ---------------------------------------------------------------- one payload, several calls


def test_of_calls_of_one_payload_one_fails_and_the_others_keep_the_record(tab: Tab) -> None:
    page = tab(
        """persistence: { ...await opfs, put: (() => {
             let calls = 0;
             return async (record) => {
               const number = calls++;
               await new Promise((resolve) => setTimeout(resolve, [60, 20, 120][number]));
               if (number === 1) throw new Error("this one fails");
               return (await opfs).put(record);
             };
           })() }"""
    )
    results = page.run(
        """const calls = [0, 1, 2].map(() => caveman.compress(bytes(payload)));
        return (await Promise.all(calls)).map((r) => [r.recoveryHandle, r.error, r.output.length]);""",
        payload=log(),
    )
    assert [(made, error) for made, error, _ in results] == [
        (handle(log()), None),
        (None, "cave_ccr_unavailable"),
        (handle(log()), None),
    ]
    assert results[1][2] == len(log())
    assert retrieve(page, handle(log())) == log()


# ---------------------------------------------------------------- what goes wrong


def test_quota_gives_its_code_and_hangs_nothing(tab: Tab, context: BrowserContext) -> None:
    """The quota is set before the first write: Chromium asks for the room that is left now and then only."""
    page = tab()
    devtools = context.new_cdp_session(page.page)
    origin = page.page.evaluate("location.origin")
    devtools.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 600_000})
    kept, large = compress(page, log()), log(b"x", lines=30_000)
    assert kept["persisted"]
    assert compress(page, large) == REFUSED | {"error": "cave_ccr_budget_exceeded"}
    assert code(page, handle(large)) == "cave_unknown_handle"
    assert retrieve(page, kept["handle"]) == log()


def test_an_abort_gives_its_code_and_is_no_end(tab: Tab) -> None:
    """The transaction is aborted at its commit, as a failing disk does it: with strict, nothing but `abort` fires."""
    page = tab('persistence: "indexeddb", inline: true')
    made = page.run(
        """const real = IDBDatabase.prototype.transaction;
        let left = 0;
        IDBDatabase.prototype.transaction = function (...given) {
          const made = real.apply(this, given);
          if (given[1] === "readwrite" && left-- > 0) setTimeout(() => { try { made.abort(); } catch {} });
          return made;
        };
        left = 2;
        const lost = await caveman.compress(bytes(payload));
        left = 1;  // a connection that is lost once is opened again
        const kept = await caveman.compress(bytes(payload));
        return [lost.error, lost.reason, lost.recoveryHandle, kept.persisted];""",
        payload=log(b"y", lines=3000),
    )
    assert made == ["cave_ccr_unavailable", "store_failed", None, True]


def test_a_lost_connection_is_opened_again(tab: Tab) -> None:
    page = tab('persistence: "indexeddb", inline: true')
    name = compress(page, log())["handle"]
    page.run(
        """const real = IDBDatabase.prototype.transaction;
        IDBDatabase.prototype.transaction = function (...given) {
          IDBDatabase.prototype.transaction = real;
          this.close();
          return real.apply(this, given);
        };"""
    )
    assert compress(page, log(b"z"))["persisted"]
    assert retrieve(page, name) == log()


def test_a_newer_page_is_not_in_the_way_of_an_older_nor_the_other_way_round(tab: Tab) -> None:
    old, new = tab(), tab()
    name = compress(old, log())["handle"]
    upgraded = new.page.evaluate(
        """() => new Promise((resolve) => {
          const request = indexedDB.open("caveman-wasm", 99);
          request.onsuccess = () => (request.result.close(), resolve("upgraded"));
          request.onerror = request.onblocked = () => resolve("in the way");
        })"""
    )
    assert upgraded == "upgraded"
    assert compress(old, log(b"late")) == REFUSED | {"error": "cave_ccr_unavailable"}
    assert retrieve(old, name) == log()  # it is still in memory
    assert code(old, UNKNOWN) == "cave_unsupported_version"
    assert (
        new.page.evaluate(
            f"import('{new.base}caveman.js').then((m) => m.createCaveman({{persistence: 'indexeddb'}})).catch((e) => e.code)"
        )
        == "cave_unsupported_version"
    )


def test_a_blocked_upgrade_gives_its_code_within_seconds(tab: Tab) -> None:
    """A page that does not let go keeps a newer one waiting, and so everybody who comes after."""
    ours, stubborn, newer = tab(), tab(), tab()
    compress(ours, log())
    hold = "new Promise((resolve) => { indexedDB.open('caveman-wasm').onsuccess = (e) => resolve(!(globalThis.held = e.target.result)); })"
    assert stubborn.page.evaluate(hold) is False
    newer.page.evaluate(
        "new Promise((resolve) => { indexedDB.open('caveman-wasm', 99).onblocked = resolve; }).then(() => 1)"
    )
    ended = ours.run(
        """const since = performance.now();
        const r = await caveman.compress(bytes(payload));
        return [r.error, performance.now() - since < 15000];""",
        payload=log(b"late"),
    )
    assert ended == ["cave_ccr_unavailable", True]


def test_a_database_that_was_dropped_is_told_from_an_unknown_handle(tab: Tab) -> None:
    page = tab()
    name = compress(page, log())["handle"]
    epoch = page.run("return (await caveman.health()).epoch;")
    page.page.evaluate(
        "new Promise((resolve, reject) => Object.assign(indexedDB.deleteDatabase('caveman-wasm'), { onsuccess: () => resolve(1), onblocked: reject }))"
    )
    assert compress(page, log(b"new"))["persisted"]
    assert page.run("return (await caveman.health()).epoch;") != epoch
    assert retrieve(page, name) == log()  # memory has it: nothing is lost before it must be
    assert code(page, UNKNOWN) == "cave_unknown_handle"
    later = tab(f'persistence: "indexeddb", epoch: "{epoch}"')
    assert code(later, name) == "cave_store_reset"
    assert retrieve(later, handle(log(b"new"))) == log(b"new")


def test_what_a_page_saw_and_the_browser_dropped_is_a_reset(tab: Tab) -> None:
    name = compress(tab(), log())["handle"]
    later = tab()
    assert later.run("return (await caveman.stats()).records;") == 1  # it saw the handle, not the bytes
    later.page.evaluate(
        "new Promise((resolve) => { indexedDB.deleteDatabase('caveman-wasm').onsuccess = () => resolve(1); })"
    )
    assert code(later, name) == "cave_store_reset"
    assert code(later, UNKNOWN) == "cave_unknown_handle"


def test_without_indexeddb_it_does_not_start(tab: Tab) -> None:
    page = tab("")
    ended = page.outcome(
        """(async () => {
          IDBFactory.prototype.open = () => { throw new DOMException("private", "SecurityError"); };
          return createCaveman({ persistence: "indexeddb", inline: true });
        })()"""
    )
    assert ended["code"] == "cave_ccr_unavailable"


def test_an_incognito_window_works_as_long_as_it_lasts(chromium: Browser, site: str) -> None:
    with chromium.new_context() as private:  # Playwright's contexts are incognito profiles
        page = bare(private.new_page(), site)
        page.start = 'globalThis.caveman ??= await createCaveman({ persistence: "indexeddb" });'
        assert compress(page, log())["persisted"]


# ---------------------------------------------------------------- several tabs


def test_handles_of_one_tab_work_in_the_others(tab: Tab) -> None:
    tabs = [tab() for _ in range(4)]
    script = """const text = new TextDecoder().decode(bytes(payload));
        globalThis.made = Array.from({ length: 10 }, (_, n) => caveman.compress(`${text}\\n${mine} ${n}`));"""
    for mine, page in enumerate(tabs):  # all of them at work at once
        page.run(script, payload=log(), mine=mine)
    handles = [
        name for page in tabs for name in page.run("return (await Promise.all(made)).map((r) => r.recoveryHandle);")
    ]
    assert len(set(handles)) == 40
    for page in tabs:
        exact = page.run(
            """const { recoveryHandle } = await caveman.compress("");
            const found = await Promise.all(handles.map((handle) => caveman.retrieve(handle)));
            return [recoveryHandle, found.map(base64)];""",
            handles=handles,
        )[1]
        assert [handle(base64.b64decode(text)) for text in exact] == handles
    assert {page.run("return (await caveman.stats()).records;") for page in tabs} == {40}


# What the database holds at every moment: its own total, and the sum of what is there, as one transaction sees them.
WATCH = """globalThis.seen = [];
    const database = await new Promise((resolve) => { indexedDB.open("caveman-wasm").onsuccess = (e) => resolve(e.target.result); });
    globalThis.look = () => new Promise((resolve) => {
      const stores = database.transaction(["index", "data", "notes"]);
      const total = stores.objectStore("notes").get("total");
      const rows = stores.objectStore("index").getAll();
      const count = stores.objectStore("data").count();
      stores.oncomplete = () => resolve(
        seen.push([total.result, rows.result.reduce((sum, { bytes }) => sum + bytes, 0), rows.result.length, count.result]));
    });
    (async () => { while (!globalThis.enough) await look(); })();"""


def test_the_budget_holds_across_tabs_at_every_moment(tab: Tab) -> None:
    budget = len(log()) * 12
    tabs = [tab(f'persistence: "indexeddb", maxBytes: {budget}') for _ in range(4)]
    for page in tabs:
        page.run("await caveman.stats();")  # all of them have started
    tabs[0].run(WATCH)
    script = """const text = new TextDecoder().decode(bytes(payload));
        globalThis.made = Array.from({ length: 8 }, async (_, n) => {
          const payload = `${text}\\n${mine} ${n}`;
          const r = await caveman.compress(payload);
          const whole = r.recoveryHandle ? await caveman.retrieveText(r.recoveryHandle) : r.text;
          return [r.error, r.reason, r.persisted, whole === payload];
        });"""
    for mine, page in enumerate(tabs):
        page.run(script, payload=log(), mine=mine)
    by_page = [[tuple(end) for end in page.run("return Promise.all(made);")] for page in tabs]
    ends = [end for ends in by_page for end in ends]
    kept, refused = (None, None, True, True), ("cave_ccr_budget_exceeded", "store_failed", False, True)
    assert {end: ends.count(end) for end in set(ends)} == {kept: 11, refused: 21}
    seen = tabs[0].run("globalThis.enough = true; await look(); return seen;")
    assert all(total == held <= budget and rows == payloads for total, held, rows, payloads in seen)
    assert len({total for total, *_ in seen}) > 2, "it was watched while it filled"
    for page, ends in zip(tabs, by_page, strict=True):
        stats = page.run("return caveman.stats();")
        assert (stats["records"], stats["storageBytes"]) == (11, seen[-1][0])
        assert (stats["refused"], stats["storageFull"]) == (ends.count(refused), refused in ends)


def test_clear_in_one_tab_is_seen_by_all(tab: Tab) -> None:
    one, other = tab(), tab()
    name = compress(one, log())["handle"]
    assert retrieve(other, name) == log()  # in the memory of both
    other.run("await caveman.clear();")
    one.page.wait_for_timeout(200)
    assert [code(page, name) for page in (one, other)] == ["cave_forgotten"] * 2
    assert one.run("return (await caveman.stats()).records;") == 0
