"""The parts of the VS Code extension that need no VS Code: its bundle, its manifest, its storage when writes break off."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from page_engine import Engine
from vscode_parts import FAKE_FS, parts

from caveman_wasm import tools

VSCODE = Path(__file__).parents[2] / "web" / "vscode"
MANIFEST = json.loads((VSCODE / "package.json").read_text("utf-8"))

# ---------------------------------------------------------------- bundle and manifest


@pytest.fixture(scope="module")
def bundle() -> Path:
    path = VSCODE / "dist" / "extension.js"
    assert path.exists(), "the extension is not built: run ./build_wasm.sh build"
    return path


def test_it_is_one_file_for_the_web_that_evaluates_no_text(bundle: Path) -> None:
    text = bundle.read_text("utf-8")
    print(f"extension.js: {len(text.encode()):,} bytes")
    assert MANIFEST["browser"] == "./dist/extension.js"
    assert "main" not in MANIFEST
    assert not re.search(r"\beval\s*\(|\bFunction\s*\(", text)
    assert set(re.findall(r'\brequire\("([^"]*)"\)', text)) == {"vscode"}
    assert {path.name for path in bundle.parent.glob("*.js")} == {"extension.js"}


# A fake of the API that `activate` touches, in Node: it only writes down what is registered.
ACTIVATE = """
const registered = { commands: [], tools: [], schemes: [] };
const disposable = { dispose() {} };
const anything = () => new Proxy(function () {}, {
  get: (_, name) => (name === "then" || name === Symbol.toPrimitive ? undefined : anything()),
  set: () => true, apply: () => anything(), construct: () => anything(),
});
const knowing = (known) => Object.setPrototypeOf(known, new Proxy({}, { get: anything }));
const vscode = knowing({
  commands: { registerCommand: (name) => (registered.commands.push(name), disposable) },
  lm: { registerTool: (name) => (registered.tools.push(name), disposable) },
  workspace: knowing({
    registerFileSystemProvider: (scheme, _, options) => (registered.schemes.push([scheme, options.isReadonly]), disposable),
  }),
  Uri: { joinPath: (base, ...names) => ({ path: [base.path, ...names].join("/"), toString: () => "http://localhost/ext/" }) },
});
const { Module } = require("node:module");
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
require(process.argv[1]).activate({
  subscriptions: [], extensionUri: { path: "/ext" }, globalStorageUri: { path: "/global" },
  extension: { packageJSON: JSON.parse(process.argv[2]) },
});
console.log(JSON.stringify(registered));
process.exit();
"""


def test_the_manifest_contributes_what_the_code_registers(bundle: Path) -> None:
    printed = subprocess.run(
        ["node", "-e", ACTIVATE, bundle, json.dumps(MANIFEST)], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    registered = json.loads(printed)
    said = MANIFEST["contributes"]
    assert registered["commands"] == [command["command"] for command in said["commands"]]
    assert registered["tools"] == [tool["name"] for tool in said["languageModelTools"]] == ["caveman_retrieve"]
    assert registered["schemes"] == [["ccr", True]]
    assert "onFileSystem:ccr" in MANIFEST["activationEvents"]
    menus = [entry["command"] for menu in said["menus"].values() for entry in menu]
    assert set(menus) <= set(registered["commands"])


def test_models_are_told_what_the_table_of_tools_says() -> None:
    contributed = MANIFEST["contributes"]["languageModelTools"]
    assert [(t["name"], t["displayName"], t["modelDescription"], t["inputSchema"]) for t in contributed] == [
        (t["name"], t["title"], t["description"], t["inputSchema"]) for t in tools.listing("model")
    ]


# ---------------------------------------------------------------- storage, when it breaks off
#
# A window that dies, or a disk that fails, between any two steps of VS Code's file system (a fake: vscode_parts.py).

STORAGE = """
const { Folder, FolderHook } = vscodeParts;
const hookOver = async (files, before) => {
  const hook = new FolderHook(new Folder(fakeFs(files, before), (name) => ({ name })));
  await hook.open({ maxBytes });
  return hook;
};
const id = "ccr_" + "1".repeat(32);
const text = (bytes) => bytes && new TextDecoder().decode(bytes);
const record = (tokensAfter = 1, data = "original", bytes = 100) => ({
  id, createdAt: `2026-01-0${tokensAfter}T00:00:00Z`, bytes, tokensBefore: 9, tokensAfter, fields: { kind: "log" },
  data: new TextEncoder().encode(data), metadata: Uint8Array.of(0, 255, tokensAfter),
});
const found = async (files) => {
  const hook = await hookOver(files);
  const held = await hook.get(id).catch((e) => e.code);
  return held?.data ? [text(held.data), held.createdAt, held.tokensAfter, Array.from(held.metadata)] : held ?? null;
};
const WHOLE = (tokensAfter, at = 1) => ["original", `2026-01-0${at}T00:00:00Z`, tokensAfter, [0, 255, tokensAfter]];
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
// Runs `work` again and again, each time ended at a later step: `died`, nothing is carried out from there on;
// else only that step fails. Gives what `found` says after each, and whether the work said that it was done.
const brokenOff = async (prepare, work, died) => {
  const ends = [];
  for (let at = 0; at < 60; at++) {
    const files = await prepare();
    let step = 0, dead = false, armed = false, struck = false;
    const hook = await hookOver(files, () => {
      if (!armed) return;
      if (dead || step++ === at) { dead = died; struck = true; throw new Error("broken off"); }
    });
    armed = true;
    const done = await work(hook).then(() => true, () => false);
    if (!struck) return ends;
    const index = (await (await hookOver(files)).open({ maxBytes })).index;
    ends.push({ at, done, found: await found(files), listed: index.length });
  }
  throw new Error("it never came to an end");
};
const empty = async () => new Map();
const withOne = async () => {
  const files = new Map();
  await (await hookOver(files)).put(record());
  return files;
};
"""


def storage(engine: Engine, body: str) -> Any:
    return engine.page.evaluate(
        f"async () => {{ {parts()} {FAKE_FS} const maxBytes = 1000; {STORAGE} {body} }}",
    )


@pytest.mark.browser
@pytest.mark.parametrize("died", ["true", "false"], ids=["the window dies", "one step fails"])
def test_a_put_that_breaks_off_leaves_nothing_or_a_whole_record(engine: Engine, died: str) -> None:
    ends = storage(engine, f"return brokenOff(empty, (hook) => hook.put(record()), {died});")
    assert len(ends) > 6
    whole = ["original", "2026-01-01T00:00:00Z", 1, [0, 255, 1]]
    for end in ends:
        assert end["found"] == whole if end["done"] else end["found"] in (None, whole), end
        assert end["listed"] == (end["found"] is not None), end
    assert any(end["found"] is None for end in ends)


@pytest.mark.browser
@pytest.mark.parametrize("died", ["true", "false"], ids=["the window dies", "one step fails"])
def test_an_update_that_breaks_off_leaves_the_old_or_the_new(engine: Engine, died: str) -> None:
    ends = storage(engine, f"return brokenOff(withOne, (hook) => hook.put(record(2)), {died});")
    old, new = (["original", "2026-01-01T00:00:00Z", after, [0, 255, after]] for after in (1, 2))
    for end in ends:
        assert end["found"] == new if end["done"] else end["found"] in (old, new), end
        assert end["listed"] == 1, end
    assert any(end["found"] == old for end in ends)


@pytest.mark.browser
def test_a_deletion_that_breaks_off_is_told_from_a_handle_that_never_was(engine: Engine) -> None:
    ends = storage(engine, 'return brokenOff(withOne, (hook) => hook.delete("all"), true);')
    whole = ["original", "2026-01-01T00:00:00Z", 1, [0, 255, 1]]
    for end in ends:
        assert end["found"] in (whole, "cave_forgotten"), end
    assert ends[-1]["found"] == "cave_forgotten"


@pytest.mark.browser
def test_what_a_hook_must_say(engine: Engine) -> None:
    said = storage(
        engine,
        """const files = await withOne();
        const hook = await hookOver(files);
        const code = (call) => call.then((value) => value ?? null, (e) => e.code ?? e.name);
        const other = { ...record(), id: "ccr_" + "2".repeat(32) };
        return {
          conflict: await code(hook.put(record(1, "other bytes"))),
          budget: await code(hook.put({ ...other, bytes: 901 })),
          fits: await code(hook.put({ ...other, bytes: 900 })),
          again: await code(hook.put(record(3, "original", 100))),
          kept: (await hook.get(id)).createdAt,
          count: hook.count,
          deleted: [await code(hook.delete([id, "ccr_" + "3".repeat(32)])), await code(hook.get(id)), hook.count],
          unknown: await code(hook.get("ccr_" + "3".repeat(32))),
          back: [await code(hook.put(record())), text((await hook.get(id)).data)],
          gone: [files.clear(), await code(hook.get(id)), await code(hook.put(record()))].slice(1),
        };""",
    )
    assert said == {
        "conflict": "cave_conflict",
        "budget": "cave_ccr_budget_exceeded",
        "fits": None,
        "again": None,
        "kept": "2026-01-01T00:00:00Z",
        "count": 2,
        "deleted": [None, "cave_forgotten", 1],
        "unknown": None,
        "back": [None, "original"],
        "gone": ["cave_store_reset", "cave_store_reset"],
    }


@pytest.mark.browser
def test_a_damaged_record_has_its_code_and_blocks_no_other(engine: Engine) -> None:
    said = storage(
        engine,
        """const files = await withOne();
        const other = { ...record(), id: "ccr_" + "2".repeat(32) };
        await (await hookOver(files)).put(other);
        files.set(id + ".json", files.get(id + ".json").slice(0, 20));
        const hook = await hookOver(files);
        return [await hook.get(id).catch((e) => e.code), hook.count, text((await hook.get(other.id)).data)];""",
    )
    assert said == ["cave_ccr_corrupt", 1, "original"]
