"""Where it is put: inside workers, below paths, on other origins, in Node, in a Pyodide of the host's own, offline."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from once import serving
from page_engine import HELPERS, Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext
from serve import CSP, Handler, Server

from caveman_wasm.references import handle

pytestmark = pytest.mark.browser
STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"
ROUND_TRIP = """const r = await caveman.compress(bytes(payload));
    return [r.recoveryHandle, base64(await caveman.retrieve(r.recoveryHandle)) === payload];"""
DONE = [handle(log()), True]


def test_it_runs_under_the_strictest_policy_that_webassembly_allows(context: BrowserContext, site: str) -> None:
    engine = bare(context.new_page(), site, STRICT)
    assert engine.run(ROUND_TRIP, payload=log()) == DONE


def test_inline_in_a_worker_that_is_one_already(context: BrowserContext, dist: Path, tmp_path: Path) -> None:
    (tmp_path / "engine").symlink_to(dist)
    (tmp_path / "index.html").write_text("<!doctype html><title>a page</title>")
    (tmp_path / "their-worker.js").write_text(
        "const base = new URL('./engine/', self.location.href).href;"
        + HELPERS
        + """self.onmessage = async ({ data: payload }) => {
          const caveman = await createCaveman({ inline: true, persistence: "indexeddb" });
          const { recoveryHandle, persisted } = await caveman.compress(bytes(payload));
          const { snapshot } = await caveman.health();
          self.postMessage([recoveryHandle, base64(await caveman.retrieve(recoveryHandle)) === payload, persisted, snapshot]);
        };
        self.postMessage("listening");"""
    )
    with serving(str(tmp_path), csp=STRICT) as root:
        page = context.new_page()
        page.goto(f"{root}index.html")
        said = page.evaluate(
            """(payload) => new Promise((resolve, reject) => {
              const worker = new Worker("./their-worker.js", { type: "module" });
              worker.onerror = (event) => reject(new Error(event.message));
              worker.onmessage = ({ data }) => (data === "listening" ? worker.postMessage(payload) : resolve(data));
            })""",
            base64.b64encode(log()).decode(),
        )
    assert said == [*DONE, True, True]


def test_the_page_may_lie_anywhere_and_name_the_folder(context: BrowserContext, dist: Path, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "index.html").write_text("<!doctype html><title>a page</title>")
    (tmp_path / "a" / "b" / "engine").symlink_to(dist)
    with serving(str(tmp_path)) as root:
        page = context.new_page()
        page.goto(f"{root}index.html")
        engine = Engine(page, f"{root}a/b/engine/")
        engine.start = "globalThis.caveman ??= await createCaveman({ baseURL: './a/b/engine/' });"
        assert engine.run(ROUND_TRIP, payload=log()) == DONE


class Sharing(Handler):
    """A host of files for pages of any origin."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()


@contextmanager
def sharing(folder: Path) -> Iterator[str]:
    with Server(("127.0.0.1", 0), partial(Sharing, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("options", ["{ baseURL: elsewhere }", "{ baseURL: elsewhere, inline: true }"])
def test_its_files_may_lie_on_another_origin(context: BrowserContext, dist: Path, options: str) -> None:
    """With CORS there, and a policy here that names it."""
    with sharing(dist) as elsewhere:
        origin = elsewhere.rstrip("/")
        csp = (
            f"default-src 'self'; script-src 'self' {origin} 'wasm-unsafe-eval'; connect-src 'self' {origin};"
            f" worker-src 'self' blob: {origin}; require-trusted-types-for 'script'; trusted-types caveman-wasm"
        )
        with serving(str(dist), csp=csp) as root:
            engine = bare(context.new_page(), root)
            engine.start = (
                f"const elsewhere = {json.dumps(elsewhere)}; globalThis.caveman ??= await createCaveman({options});"
            )
            assert engine.run(ROUND_TRIP, payload=log()) == DONE


def test_another_origin_without_cors_is_a_start_that_fails(engine: Engine, dist: Path) -> None:
    with serving(str(dist)) as elsewhere:
        ended = engine.outcome("createCaveman({ baseURL: elsewhere })", elsewhere=elsewhere)
    assert ended["code"] == "cave_start_failed"
    assert "CORS" in ended["message"]


@pytest.mark.parametrize("installed", [True, False])
def test_a_pyodide_of_the_hosts_own_is_used(context: BrowserContext, site: str, installed: bool) -> None:
    engine = bare(context.new_page(), site)
    engine.start = f"""const {{ loadPyodide }} = await import(`${{base}}pyodide/pyodide.mjs`);
        globalThis.theirs ??= await loadPyodide({{ indexURL: `${{base}}pyodide/`, packages: {'["caveman-wasm"]' if installed else "[]"} }});
        globalThis.caveman ??= await createCaveman({{ pyodide: theirs }});"""
    assert engine.run(ROUND_TRIP, payload=log()) == DONE
    here = engine.run(
        """const { pyodide, snapshot } = await caveman.health();
        theirs.runPython("import caveman_wasm; marker = 1");
        caveman.close();
        return [pyodide === theirs.version, snapshot, theirs.runPython("marker"), performance.getEntriesByType("resource")
          .filter(({ name }) => name.endsWith("worker.js")).length];"""
    )
    assert here == [True, False, 1, 0]
    assert engine.outcome("createCaveman({ pyodide: {} })")["code"] == "cave_invalid_arguments"
    assert engine.outcome("createCaveman({ pyodide: theirs, inline: false })")["code"] == "cave_invalid_arguments"


# ---------------------------------------------------------------- offline


def test_after_a_first_visit_it_starts_without_a_network(context: BrowserContext, dist: Path) -> None:
    with serving(str(dist)) as root:
        engine = bare(context.new_page(), root)
        engine.start = ""
        engine.page.evaluate(
            """async (base) => {
              const { keepOffline } = await import(`${base}caveman.js`);
              await keepOffline();
            }""",
            root,
        )
    # the server is gone by now
    page = context.new_page()
    page.goto(root)
    offline = Engine(page, root)
    assert offline.run(ROUND_TRIP, payload=log()) == DONE
    assert offline.run("return (await caveman.health()).snapshot;") is True
    assert page.title()


def test_a_folder_that_is_not_whole_is_not_kept(context: BrowserContext, dist: Path) -> None:
    with serving(str(dist)) as root:
        context.route("**/snapshot.bin", lambda route: route.abort())
        engine = bare(context.new_page(), root)
        engine.start = ""
        ended = engine.page.evaluate(
            """async (base) => {
              const { keepOffline } = await import(`${base}caveman.js`);
              return keepOffline(base).then(() => "kept", (e) => e.code);
            }""",
            root,
        )
    assert ended == "cave_start_failed"


# ---------------------------------------------------------------- Node

IN_NODE = """
import { createCaveman, CavemanError } from %s;
const payload = new Uint8Array(%s);
const text = new TextDecoder().decode(payload);
const caveman = await createCaveman({ inline: true });
const made = [];
const shared = new Uint8Array(new SharedArrayBuffer(payload.length));
shared.set(payload);
for (const form of [payload, Buffer.from(payload), payload.buffer, shared, shared.buffer, new Blob([payload]), text]) {
  made.push((await caveman.compress(form)).recoveryHandle);
}
const exact = Buffer.compare(await caveman.retrieve(made[0]), payload) === 0;
const { code } = await caveman.retrieve("ccr_0").catch((e) => e);
const health = await caveman.health();
caveman.close();
const closed = await caveman.stats().catch((e) => e instanceof CavemanError && e.code);
console.log(JSON.stringify({ made, exact, code, health, closed }));
"""


def in_node(script: str) -> Any:
    """What the module's only line of output says."""
    node = shutil.which("node")
    assert node
    done = subprocess.run(
        [node, "--input-type=module", "-"], input=script, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_in_node_it_runs_inline(dist: Path) -> None:
    said = in_node(IN_NODE % (json.dumps((dist / "caveman.js").as_uri()), json.dumps(list(log()))))
    assert (said["made"], said["exact"]) == ([handle(log())] * 7, True)
    assert (said["code"], said["closed"]) == ("cave_invalid_reference", "cave_worker_lost")
    assert (said["health"]["persistence"], said["health"]["snapshot"]) == ("none", False)


@pytest.mark.parametrize("file", ["pyodide.asm.wasm", "pyodide.asm.mjs", "pyodide.mjs"])
def test_in_node_a_missing_file_is_told_before_the_time_is_up(dist: Path, tmp_path: Path, file: str) -> None:
    shutil.copytree(dist, tmp_path / "dist")
    (tmp_path / "dist" / "pyodide" / file).unlink()
    script = """
      import { createCaveman } from %s;
      const { code, message } = await createCaveman({ inline: true, startTimeout: 100_000 }).catch((e) => e);
      console.log(JSON.stringify([code, message]));
      process.exit();"""
    code, message = in_node(script % json.dumps((tmp_path / "dist" / "caveman.js").as_uri()))
    assert code == "cave_start_failed"
    assert file in message


def test_the_servers_policy_is_the_strict_one() -> None:
    assert all(rule in CSP for rule in STRICT.split("; "))
