"""A resolved promise with a handle means: kill the browser now, and the handle still works tomorrow."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from once import FLAGS
from page_engine import HELPERS
from payloads import log
from playwright.sync_api import Browser, BrowserType

from caveman_wasm.references import handle

pytestmark = pytest.mark.browser

# Every resolved promise is told to the test at once, by a console message; calls run four at a time until the end.
COMPRESS_FOR_EVER = (
    "async ([base, round, payload]) => {"
    + HELPERS
    + """
  const caveman = await createCaveman({ persistence: "indexeddb" });
  const text = new TextDecoder().decode(bytes(payload));
  let n = 0;
  const worker = async () => {
    for (;;) {
      const id = `${round} ${n}`;
      const copies = 1 + (n++ % 5);
      const r = await caveman.compress(text.repeat(copies) + "\\n" + id);
      console.log(JSON.stringify({ id, copies, handle: r.recoveryHandle, persisted: r.persisted }));
    }
  };
  for (let k = 0; k < 4; k++) void worker();
}"""
)
READ_ALL = (
    "async ([base, handles]) => {"
    + HELPERS
    + """
  const caveman = await createCaveman({ persistence: "indexeddb" });
  const found = [];
  for (const handle of handles) {
    const { value, code } = await outcome(() => caveman.retrieve(handle));
    found.push(code ?? base64(value));
  }
  caveman.close();
  return found;
}"""
)


@contextmanager
def running(profile: Path) -> Iterator[tuple[int, str]]:
    """A Chromium with its profile on disk: its process id and where it can be driven. It is killed at the end."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.skip("no Chromium to start by hand: set CHROMIUM")
    command = [executable, *FLAGS, "--headless=new", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"ws://\S+", line):
                yield process.pid, found[0]
                break
        else:
            raise AssertionError("Chromium said no address")
    finally:
        kill(process.pid)
        process.wait(timeout=20)
        process.stderr.close()


def kill(pid: int) -> None:
    """All of this browser's processes, which are a group of their own, at once and without a warning."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def page_of(browser: Browser, site: str) -> Any:
    page = browser.contexts[0].new_page()
    page.goto(f"{site}icon.svg")
    return page


def a_round(kind: BrowserType, number: int, profile: Path, site: str, rng: random.Random) -> dict[str, bytes]:
    """Compress at full speed, kill at a random moment; what had been promised by then."""
    promised: dict[str, bytes] = {}

    def promise(text: str) -> None:
        said = json.loads(text)
        payload = log() * said["copies"] + b"\n" + said["id"].encode()
        assert (said["handle"], said["persisted"]) == (handle(payload), True)
        promised[said["handle"]] = payload

    with running(profile) as (pid, address):
        browser = kind.connect_over_cdp(address)
        page = page_of(browser, site)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text) if message.text.startswith("{") else None)
        page.evaluate(COMPRESS_FOR_EVER, [site, number, base64.b64encode(log()).decode()])
        until = time.monotonic() + 10
        while not said and time.monotonic() < until:
            page.wait_for_timeout(10)
        page.wait_for_timeout(rng.uniform(0, 800))
        kill(pid)
    for text in said:
        promise(text)
    return promised


def read_all(kind: BrowserType, profile: Path, site: str, handles: list[str]) -> list[str]:
    with running(profile) as (_, address):
        browser = kind.connect_over_cdp(address)
        found: list[str] = page_of(browser, site).evaluate(READ_ALL, [site, handles])
        return found


def campaign(kind: BrowserType, rounds: int, profile: Path, site: str) -> int:
    rng = random.Random(20261202)
    promised: dict[str, bytes] = {}
    for number in range(rounds):
        made = a_round(kind, number, profile, site, rng)
        assert made, "killed before anything had been promised"
        promised |= made
        found = read_all(kind, profile, site, list(made))
        lost = [name for name, text in zip(made, found, strict=True) if text != base64.b64encode(made[name]).decode()]
        assert lost == [], f"round {number}: {len(lost)} of {len(made)} are not there or not exact"
    found = read_all(kind, profile, site, list(promised))
    assert found == [base64.b64encode(payload).decode() for payload in promised.values()]
    return len(promised)


def test_what_was_promised_survives_a_kill(chromium: Browser, tmp_path: Path, site: str) -> None:
    assert campaign(chromium.browser_type, 3, tmp_path, site) >= 3


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_what_was_promised_survives_a_hundred_kills(
    chromium: Browser, tmp_path: Path, site: str, capsys: pytest.CaptureFixture[str]
) -> None:
    total = campaign(chromium.browser_type, 100, tmp_path, site)
    with capsys.disabled():
        print(f"\n100 kills, {total} promised handles, all of them there and exact")
