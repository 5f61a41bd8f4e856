"""The asynchronous door over a hook: what is published is durable, what is not is withdrawn."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any

import pytest
from payloads import log

from caveman_wasm.doors import durable
from caveman_wasm.doors.browser import BrowserDoor, PageHook, interruptible
from caveman_wasm.references import handle
from caveman_wasm.store import checks


class Bytes:
    """A Uint8Array, as the door sees it."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def to_bytes(self) -> bytes:
        return self.data


class Hook:
    """A persistence hook of dictionaries, which does as `before_put` says first."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[dict[str, Any], bytes, bytes | None]] = {}
        self.epoch = "first"
        self.before_put: Callable[[], Awaitable[str | None]] | None = None
        self.before_get = lambda: None
        self.gets = 0

    async def open(self, max_bytes: int) -> list[Any]:
        index = [
            [name, head["bytes"], head["tokensBefore"], head["tokensAfter"]] for name, (head, *_) in self.rows.items()
        ]
        return [json.dumps({"value": {"epoch": self.epoch, "index": index}})]

    async def put(self, head: str, data: bytes, metadata: bytes | None) -> list[Any]:
        code = await self.before_put() if self.before_put else None
        if code:
            return [json.dumps({"error": {"code": code, "message": "no", "reference": None}})]
        self.rows[json.loads(head)["id"]] = (json.loads(head), data, metadata)
        return ['{"value": null}']

    async def get(self, id: str) -> list[Any]:
        self.gets += 1
        self.before_get()
        if id not in self.rows:
            return ['{"value": null}']
        head, data, metadata = self.rows[id]
        return [json.dumps({"value": head}), Bytes(data), None if metadata is None else Bytes(metadata)]

    async def delete(self, ids: str) -> list[Any]:
        chosen = json.loads(ids)
        for name in list(self.rows) if chosen == "all" else chosen:
            self.rows.pop(name, None)
        return ['{"value": null}']


async def opened(hook: Hook, **options: Any) -> BrowserDoor:
    door = BrowserDoor(hook=hook, **options)
    assert await answer(door, "open") == hook.epoch
    return door


async def answer(door: BrowserDoor, method: str, *arguments: Any) -> Any:
    """The value, or the error's code."""
    text, output = await door.call(method, *arguments)
    said = json.loads(text)
    if "error" in said:
        return said["error"]["code"]
    return said["value"] if output is None else (said["value"], output)


async def compress(door: BrowserDoor, data: bytes, **options: Any) -> tuple[dict[str, Any], bytes]:
    made = await answer(door, "compress", Bytes(data), None, None, options.get("query"), options.get("max_tokens"))
    return made if isinstance(made, tuple) else (made, data)  # no bytes: the input as it was, which the page has


async def retrieve(door: BrowserDoor, reference: str) -> Any:
    found = await answer(door, "retrieve", reference, None)
    if isinstance(found, str):
        return found
    return found[1].to_bytes() if isinstance(found[1], Bytes) else found[1]


def script(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test that is a coroutine."""

    @wraps(test)
    def run(*arguments: Any, **named: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **named), 60))

    return run


@script
async def test_what_is_published_is_in_the_hook_with_all_that_belongs_to_it() -> None:
    hook = Hook()
    report, _ = await compress(await opened(hook), log(), query="refund")
    head, data, metadata = hook.rows[report["recoveryHandle"]]
    assert (report["persisted"], data) == (True, log())
    assert metadata is not None
    assert json.loads(metadata)["query"] == "refund"
    assert (head["tokensBefore"], head["tokensAfter"]) == (report["tokensBefore"], report["tokensAfter"])
    assert head["bytes"] == len(data) + len(metadata)


@script
async def test_nothing_is_published_before_the_hook_has_it() -> None:
    hook, release = Hook(), asyncio.Event()

    async def wait() -> None:
        await release.wait()

    hook.before_put = wait
    call = asyncio.create_task(compress(await opened(hook), log()))
    await asyncio.sleep(0.05)
    assert not call.done()
    release.set()
    assert (await call)[0]["persisted"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("cave_ccr_budget_exceeded", "cave_ccr_budget_exceeded"),
        ("cave_ccr_unavailable", "cave_ccr_unavailable"),
        ("cave_unsupported_version", "cave_ccr_unavailable"),
        ("whatever", "cave_ccr_unavailable"),
    ],
)
def test_a_failed_put_gives_the_input_back_and_leaves_nothing(said: str, code: str) -> None:
    @script
    async def test() -> None:
        hook = Hook()

        async def fail() -> str:
            return said

        hook.before_put = fail
        door = await opened(hook)
        report, output = await compress(door, log())
        assert (report["reason"], report["error"], report["recoveryHandle"]) == ("store_failed", code, None)
        assert (report["persisted"], report["tokensAfter"]) == (False, report["tokensBefore"])
        assert (output, report["markers"]) == (log(), [])
        assert await retrieve(door, handle(log())) == "cave_unknown_handle"

    test()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_calls_of_one_payload_one_fails_and_the_other_keeps_the_record(order: tuple[int, int]) -> None:
    @script
    async def test() -> None:
        hook = Hook()
        gates: list[asyncio.Future[str | None]] = []

        async def gate() -> str | None:
            gates.append(asyncio.get_running_loop().create_future())
            return await gates[-1]

        hook.before_put = gate
        door = await opened(hook)
        calls = [asyncio.create_task(compress(door, log())) for _ in range(2)]
        while len(gates) < 2:
            await asyncio.sleep(0)
        ends = {0: "cave_ccr_unavailable", 1: None}
        for which in order:
            gates[which].set_result(ends[which])
            await asyncio.sleep(0.01)
            assert await retrieve(door, handle(log())) == log()
        (failed, output), (kept, _) = await asyncio.gather(*calls)
        assert (failed["error"], output, kept["persisted"]) == ("cave_ccr_unavailable", log(), True)
        assert kept["recoveryHandle"] == handle(log())

    test()


@script
async def test_when_both_fail_the_record_goes() -> None:
    hook = Hook()

    async def fail() -> str:
        await asyncio.sleep(0.01)
        return "cave_ccr_unavailable"

    hook.before_put = fail
    door = await opened(hook)
    made = await asyncio.gather(compress(door, log()), compress(door, log()))
    assert [report["recoveryHandle"] for report, _ in made] == [None, None]
    assert await retrieve(door, handle(log())) == "cave_unknown_handle"


@script
async def test_a_miss_asks_the_hook_and_only_once() -> None:
    hook = Hook()
    report, _ = await compress(await opened(hook), log())
    later = await opened(hook)
    assert hook.gets == 0  # the index, never the bytes
    assert [await retrieve(later, report["recoveryHandle"]) for _ in range(2)] == [log()] * 2
    assert hook.gets == 1


@script
async def test_only_the_whole_goes_on_as_the_hook_gave_it() -> None:
    hook = Hook()
    report, _ = await compress(await opened(hook), log())
    name = report["recoveryHandle"]
    for query, selector, as_given in (
        (None, None, True),
        ("no such word", None, True),
        ("cart 09:04:07", None, False),
        (None, "line=1,3", False),
    ):
        _, output = await answer(await opened(hook), "retrieve", name, query, False, selector)
        assert isinstance(output, Bytes) is as_given
        assert not as_given or output.data == log()


@script
async def test_a_text_of_an_earlier_page_is_known_as_ours() -> None:
    hook = Hook()
    _, output = await compress(await opened(hook), log())
    report, again = await compress(await opened(hook), output)
    assert (report["reason"], again) == ("already_compressed", output)
    tighter, _ = await compress(await opened(hook), output, max_tokens=report["tokensBefore"] // 2)
    assert tighter["recoveryHandle"] == handle(log())
    assert list(hook.rows) == [handle(log())]


@script
async def test_bytes_that_do_not_match_their_handle_are_never_returned() -> None:
    hook = Hook()
    report, _ = await compress(await opened(hook), log())
    name = report["recoveryHandle"]
    hook.rows[name] = (hook.rows[name][0], log() + b"x", None)
    assert await retrieve(await opened(hook), name) == "cave_ccr_corrupt"


@script
async def test_what_the_hook_holds_leaves_the_dict_and_is_still_reachable() -> None:
    hook = Hook()
    door = await opened(hook)
    payloads = [log(str(n).encode(), lines=12_000) for n in range(8)]
    limit, durable.CACHE = durable.CACHE, 2 * len(payloads[0])  # type: ignore[misc]
    try:
        names = [(await compress(door, payload))[0]["recoveryHandle"] for payload in payloads]
        assert door._store.stats().storage_bytes <= durable.CACHE
        beside = []
        hook.before_get = lambda: beside.append(door._store.stats().storage_bytes)
        assert [await retrieve(door, name) for name in names] == payloads
        assert max(beside) <= durable.CACHE - len(payloads[0])  # there is room before it comes
        assert door._store.stats().storage_bytes <= durable.CACHE
    finally:
        durable.CACHE = limit  # type: ignore[misc]
    stats = await answer(door, "stats")
    assert (stats["records"], stats["storageBytes"] > sum(map(len, payloads))) == (8, True)


@script
async def test_a_dropped_database_is_told_from_an_unknown_handle() -> None:
    hook = Hook()
    first = await opened(hook)
    name = (await compress(first, log()))[0]["recoveryHandle"]
    hook.rows.clear()
    hook.epoch = "second"
    other = "ccr_" + "0" * 32
    for door, known, unknown in [
        (await opened(hook, epoch="first"), "cave_store_reset", "cave_store_reset"),
        (await opened(hook, epoch="second"), "cave_unknown_handle", "cave_unknown_handle"),
    ]:
        assert [await retrieve(door, name), await retrieve(door, other)] == [known, unknown]
    await answer(first, "stats")  # notices
    assert await retrieve(first, name) == log()  # it is still in memory: nothing is lost before it must be
    first._store.withdraw(name)
    assert [await retrieve(first, name), await retrieve(first, other)] == ["cave_store_reset", "cave_unknown_handle"]


@script
async def test_clear_deletes_in_both_places() -> None:
    hook = Hook()
    door = await opened(hook)
    name = (await compress(door, log()))[0]["recoveryHandle"]
    await answer(door, "clear")
    assert hook.rows == {}
    assert await retrieve(door, name) == "cave_forgotten"
    assert (await answer(door, "stats"))["records"] == 0


@script
async def test_what_another_page_deleted_leaves_the_dict_too() -> None:
    hook = Hook()
    door = await opened(hook)
    name = (await compress(door, log()))[0]["recoveryHandle"]
    hook.rows.clear()
    await answer(door, "deleted", json.dumps([name]))
    assert await retrieve(door, name) == "cave_unknown_handle"


@script
async def test_a_page_whose_first_put_is_refused_learns_that_others_have_filled_the_store() -> None:
    hook, budget = Hook(), len(log()) * 12 // 5  # two records are four fifths of it
    page, other = await opened(hook, max_bytes=budget), await opened(hook, max_bytes=budget)
    for n in (b"1", b"2"):
        await compress(other, log() + n)
    hook.before_put = full
    report, output = await compress(page, log())
    assert (report["error"], output) == ("cave_ccr_budget_exceeded", log())
    stats = await answer(page, "stats")
    assert (stats["refused"], stats["storageFull"]) == (1, True)
    await answer(other, "clear")
    assert (await answer(page, "stats"))["storageFull"] is False


async def full() -> str:
    return "cave_ccr_budget_exceeded"


# ---------------------------------------------------------------- calls begun by JavaScript


def test_a_begun_call_hands_out_what_it_waits_for_and_goes_on_with_the_answer() -> None:
    hook = Hook()

    class Page:
        """As web/src/hook.ts: each method gives an object that stands for the answer to come."""

        def __getattr__(self, method: str) -> Callable[..., Any]:
            return lambda *arguments: (method, arguments)

    def run(method: str, *arguments: Any) -> tuple[list[str], Any]:
        asked, go_on = [], door.begin(method, *arguments)
        said = go_on()
        while said[0] in ("open", "put", "get", "delete"):
            asked.append(said[0])
            said = go_on(asyncio.run(getattr(hook, said[0])(*said[1])))
        return asked, json.loads(said[0])["value"]

    door = BrowserDoor(hook=PageHook(Page()))
    assert run("open") == (["open"], "first")
    asked, report = run("compress", Bytes(log()), None, None, None, None)
    assert (asked, report["persisted"]) == (["put"], True)
    assert report["recoveryHandle"] in hook.rows


@pytest.fixture
def _signals() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    interruptible()
    yield
    signal.signal(signal.SIGINT, before)


class Counts:
    """A counter under which the page gives the call up."""

    name = "here"

    def count(self, data: bytes) -> int:
        signal.raise_signal(signal.SIGINT)
        return len(data)


@pytest.mark.usefixtures("_signals")
@script
async def test_a_call_given_up_in_the_engine_ends_and_nothing_is_stored() -> None:
    hook = Hook()
    signal.raise_signal(signal.SIGINT)  # where nothing runs it does nothing
    door = await opened(hook, counter=Counts())
    assert await answer(door, "compress", Bytes(log()), None, None, None, None) == "cave_error"
    assert (hook.rows, door._store.stats().records) == ({}, 0)


@pytest.mark.usefixtures("_signals")
@script
async def test_a_call_given_up_while_the_store_changes_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    hook, real, seen = Hook(), checks.now, []

    def now() -> str:
        seen.append(signal.raise_signal(signal.SIGINT))
        return real()

    monkeypatch.setattr(checks, "now", now)
    report, _ = await compress(await opened(hook), log())
    assert seen
    assert (report["persisted"], list(hook.rows)) == (True, [report["recoveryHandle"]])
