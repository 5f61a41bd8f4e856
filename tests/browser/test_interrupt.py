"""A cross-origin isolated page: what runs and is given up is interrupted, and the store is never left half written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext
from serve import Handler, Server

pytestmark = pytest.mark.browser


class Isolated(Handler):
    """A host of cross-origin isolated pages."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@pytest.fixture
def isolated(context: BrowserContext, dist: Path) -> Iterator[Engine]:
    with Server(("127.0.0.1", 0), partial(Isolated, directory=str(dist))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield bare(context.new_page(), f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()


def test_a_running_call_that_is_given_up_is_interrupted_before_it_stores_anything(isolated: Engine) -> None:
    alone, name, records, after = isolated.run(
        """const text = new TextDecoder().decode(bytes(payload)).repeat(20);
        const controller = new AbortController();
        const call = outcome(() => caveman.compress(text, { signal: controller.signal }));
        await new Promise((resolve) => setTimeout(resolve, 300));  // of some seconds
        const stats = caveman.stats();
        controller.abort();
        const { name } = await call;
        const { records } = await stats;
        const r = await caveman.compress(bytes(payload));
        return [crossOriginIsolated, name, records, base64(await caveman.retrieve(r.recoveryHandle)) === payload];""",
        payload=log(lines=8000),
    )
    assert (alone, name, records, after) == (True, "AbortError", 0, True)


@pytest.mark.parametrize("persistence", ["none", "indexeddb"])
def test_interrupted_at_any_moment_nothing_is_half_done_and_no_other_call_is_meant(
    isolated: Engine, persistence: str
) -> None:
    isolated.start = f"globalThis.caveman ??= await createCaveman({{ persistence: '{persistence}' }});"
    aborted, damaged, kept, lost = isolated.run(
        """const text = new TextDecoder().decode(bytes(payload));
        const payloadOf = (n) => `${text}\\n${n}`;
        let [aborted, lost] = [0, 0];
        for (let n = 0; n < 120; n++) {
          const controller = new AbortController();
          const given = outcome(() => caveman.compress(payloadOf(n), { signal: controller.signal }));
          const other = outcome(() => caveman.compress(payloadOf(-n)));
          setTimeout(() => controller.abort(), (n * 7) % 60);
          aborted += (await given).name === "AbortError";
          lost += !(await other).value?.recoveryHandle;
        }
        let [damaged, kept] = [0, 0];
        for (const { id } of await caveman.records()) {
          const { value } = await outcome(() => caveman.retrieveText(id));
          if (value === undefined || !value.startsWith(text)) damaged++;
          else kept++;
        }
        const { records } = await caveman.stats();
        return [aborted, damaged, kept === records, lost];""",
        payload=log(lines=1500),
    )
    assert aborted > 20
    assert (damaged, kept, lost) == (0, True, 0)
