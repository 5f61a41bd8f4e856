"""What `npm pack` gives: installed where nothing else is, with its types and its assets; and the README's snippets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from once import serving
from page_engine import Engine
from payloads import log
from playwright.sync_api import BrowserContext, expect

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
NEEDED = [
    "README.md",
    "LICENSE",
    "dist/caveman.js",
    "dist/worker.js",
    "dist/pyodide/pyodide.asm.wasm",
    "dist/pyodide/snapshot.bin",
    "dist/types/index.d.ts",
    "dist/adapters/mcp.js",
    "dist/types/adapters/mcp.d.ts",
]
TRY = """import { createCaveman, CavemanError, type CompressResult } from "caveman-wasm";
import { openAITools } from "caveman-wasm/adapters/openai";

const text = Array.from({ length: 400 }, (_, at) => `2026-03-01 04:00:00 INFO order ${at} was verified\n`).join("");
export async function tried(options: Parameters<typeof createCaveman>[0]): Promise<[boolean, string[], boolean]> {
  const caveman = await createCaveman(options);
  const r: CompressResult = await caveman.compress(text);
  const back = await caveman.retrieveText(r.recoveryHandle ?? "");
  const names = openAITools(caveman).map((tool) => tool.function.name);
  const failed = await caveman.retrieve("ccr_" + "0".repeat(32)).catch((e: unknown) => e);
  return [back === text && r.text.length < text.length, names, failed instanceof CavemanError];
}
"""
TRIED = [True, ["caveman_retrieve"], True]


def run(folder: Path, *command: str, seconds: int = 120) -> str:
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return ended.stdout


@pytest.fixture(scope="module")
def packed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("packed")
    (said,) = json.loads(run(WEB, "npm", "pack", "--json", "--loglevel=error", "--pack-destination", str(folder)))
    print(f"npm package: {said['size']:,} bytes packed, {said['unpackedSize']:,} unpacked")
    for file in sorted(said["files"], key=lambda file: -file["size"])[:8]:
        print(f"  {file['size']:>10,} {file['path']}")
    return {"tarball": str(folder / said["filename"]), "files": {file["path"] for file in said["files"]}}


@pytest.fixture(scope="module")
def project(packed: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project with the package in it and nothing else."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"name": "empty", "private": true, "type": "module"}')
    run(folder, "npm", "install", "--no-audit", "--no-fund", "--offline", packed["tarball"])
    assert [path.name for path in (folder / "node_modules").iterdir() if path.name[0] != "."] == ["caveman-wasm"]
    (folder / "try.ts").write_text(TRY)
    return folder


def test_the_package_has_all_it_needs_and_no_demo(packed: dict[str, Any]) -> None:
    assert not set(NEEDED) - packed["files"]
    assert not [name for name in packed["files"] if re.search(r"samples/|demo|agent\.|index\.html|\.map$", name)]


@pytest.mark.parametrize("resolution", ["bundler", "nodenext"])
def test_its_types_hold(project: Path, resolution: str) -> None:
    module = "nodenext" if resolution == "nodenext" else "esnext"
    options = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2024,dom", "--types", ""]
    tsc = str(WEB / "node_modules" / ".bin" / "tsc")
    run(project, tsc, *options, "--module", module, "--moduleResolution", resolution, "try.ts")
    (project / "wrong.ts").write_text('import { createCaveman } from "caveman-wasm"; createCaveman({ inline: 7 });')
    command = [tsc, *options, "--module", module, "--moduleResolution", resolution, "wrong.ts"]
    assert (
        "'number' is not assignable"
        in subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120).stdout
    )


def test_it_runs_in_plain_node(project: Path) -> None:
    run(project, str(WEB / "node_modules" / ".bin" / "esbuild"), "try.ts", "--format=esm", "--outfile=try.mjs")
    (project / "main.mjs").write_text(
        'import { tried } from "./try.mjs"; console.log(JSON.stringify(await tried({ inline: true })));'
    )
    assert json.loads(run(project, "node", "main.mjs")) == TRIED


@pytest.mark.browser
def test_it_builds_and_runs_with_vite(project: Path, context: BrowserContext) -> None:
    run(project, "npm", "install", "--no-audit", "--no-fund", "--save-exact", "vite@8.4.0", seconds=300)
    shutil.copytree(project / "node_modules" / "caveman-wasm" / "dist", project / "public" / "caveman")
    (project / "index.html").write_text('<!doctype html><script type="module" src="/main.ts"></script>')
    (project / "main.ts").write_text(
        """import { tried } from "./try.js";
        tried({ baseURL: "/caveman/" }).then((said) => (document.title = JSON.stringify(said)), (e) => (document.title = String(e)));"""
    )
    run(project, "node_modules/.bin/vite", "build", seconds=200)
    with serving(str(project / "dist")) as url:
        page = context.new_page()
        page.goto(url)
        expect(page).to_have_title(json.dumps(TRIED, separators=(",", ":")), timeout=60_000)


# ---------------------------------------------------------------- README


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path))
    (code,) = snippets("python")
    names: dict[str, Any] = {"tool_output": log().decode(), "print": lambda *words: None}
    exec(code, names)  # it asserts by itself
    assert names["result"].recovery_handle


FAKE_COMMAND = """#!{python}
import sys
from caveman_wasm.doors.cli import engine_main as main
sys.exit(main())
"""


def test_the_readmes_shell_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a fake of kubectl, and the command as it is installed."""
    pods = [{"name": f"pod-{at}", "status": "restarted 41 times" if at == 77 else "running"} for at in range(200)]
    given = json.dumps({"items": pods}).encode()
    (tmp_path / "pods.json").write_bytes(given)
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\nexec cat "{tmp_path}/pods.json"\n')
    (tmp_path / "caveman-engine").write_text(FAKE_COMMAND.format(python=sys.executable))
    for command in ("kubectl", "caveman-engine"):
        (tmp_path / command).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("CAVEMAN_HOME", str(tmp_path / "home"))
    (block,) = (block for block in snippets("console") if "kubectl" in block)
    compress, *retrieves = (line.removeprefix("$ ") for line in block.splitlines())

    def shell(line: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=120, check=True)

    report = json.loads(shell(compress).stderr)
    short = (tmp_path / "short.json").read_bytes()
    assert len(short) < len(given) / 4
    assert report["recovery_handle"].encode() in short
    whole, part = (shell(re.sub("ccr_[0-9a-f]{32}", report["recovery_handle"], line)).stdout for line in retrieves)
    assert whole == given
    assert b"pod-77" in part
    assert len(part) < len(whole) / 2


# What stands around a snippet: `given` what it uses of its host's, `then` what must hold behind it.
GIVEN = [
    (
        "const toolOutput = LOG, conversation = [];",
        "ok = conversation[0].content === r.text && bytes.length === LOG.length && !!part;",
    ),
    (
        r"""const myTools = [{ type: "function", function: { name: "read_log", parameters: {} } }];
        const asked = { id: "1", type: "function", function: { name: "read_log", arguments: "{}" } };
        const messages = [{ role: "assistant", tool_calls: [asked] }, { role: "tool", tool_call_id: "1", content: LOG }];
        const askModel = async ([, { content }]) => ({ role: "assistant", tool_calls: [{ id: "2", type: "function", function: {
          name: "caveman_retrieve", arguments: JSON.stringify({ reference: /<<ccr:(\w+)>>/.exec(content)[1] }) } }] });""",
        "ok = messages.at(-1).content === LOG && tools.length === 2;",
    ),
    ("const toolOutput = LOG;", "ok = r.persisted && !!epoch; await caveman.clear();"),
]


@pytest.mark.browser
def test_the_readmes_javascript_runs(engine: Engine) -> None:
    blocks = snippets("js")
    assert len(blocks) == len(GIVEN)
    for code, (given, then) in zip(blocks, GIVEN, strict=True):
        said = re.sub(r'from "caveman-wasm/(.*?)"', r'from "./\1.js"', code)
        head = "" if "createCaveman }" in said else 'import { createCaveman } from "./caveman.js";'
        own = "" if "const caveman" in said else "const caveman = await createCaveman();"
        module = f"{head} let ok; const LOG = globalThis.log; {own} {given}\n{said}\n{then} caveman.close(); export {{ ok }};"
        url = f"{engine.base}readme.js?{blocks.index(code)}"
        engine.page.route(url, lambda route, _, body=module: route.fulfill(body=body, content_type="text/javascript"))
        assert engine.run(
            "globalThis.log = new TextDecoder().decode(bytes(payload)); return (await import(url)).ok;",
            payload=log(),
            url=url,
        ), code
