"""The memory snapshot: it holds what calls need, nothing of what was tried out in it, and the rest comes when asked for."""

from __future__ import annotations

import ast
import gzip
import json
import shutil
import subprocess
import sys
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from once import serving
from page_engine import Engine, bare
from payloads import log
from playwright.sync_api import BrowserContext, Request, Worker

from caveman_wasm.references import handle

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
ARCHIVE = "python_stdlib.zip"
# A worker's Python is nobody's business but its own: this Pyodide leaves itself where a test can reach it.
TAPPED = """import { loadPyodide as load, version } from "./pyodide.mjs?";
const loadPyodide = async (options) => (globalThis.tapped = await load(options));
export { loadPyodide, version };"""


@pytest.fixture
def asked(context: BrowserContext) -> list[str]:
    """The files that were asked for, as they are asked for."""
    files: list[str] = []

    def note(request: Request) -> None:
        files.append(request.url.rpartition("/")[2])

    context.on("request", note)
    return files


@pytest.fixture
def started(context: BrowserContext, site: str, asked: list[str]) -> Iterator[Engine]:
    """A page whose worker started from the snapshot and can be asked for its Python by `python`."""
    engine = tapped(context, site)
    assert engine.run("return (await caveman.health()).snapshot;") is True
    yield engine
    engine.page.close()


def tapped(context: BrowserContext, site: str) -> Engine:
    context.route("**/pyodide.mjs", lambda route: route.fulfill(body=TAPPED, content_type="text/javascript"))
    return bare(context.new_page(), site)


def python(engine: Engine, code: str) -> Any:
    """What a program prints in the engine's worker, as JSON."""
    worker: Worker = engine.page.workers[0]
    return json.loads(worker.evaluate("(code) => tapped.runPython(code)", code))


# Less the two that do something visible by being imported.
IMPORT_ALL = """
import importlib, json, zipfile
names = {name.split("/")[0].removesuffix(".py") for name in NAMES} - {"antigravity", "this"}
def outcome(name):
    try:
        importlib.import_module(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "imported"
json.dumps({name: outcome(name) for name in sorted(names)})
"""


def import_all(dist: Path) -> str:
    with zipfile.ZipFile(dist / "pyodide" / ARCHIVE) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
    return IMPORT_ALL.replace("NAMES", repr(names))


def test_every_module_of_the_standard_library_can_still_be_imported(
    started: Engine, context: BrowserContext, site: str, dist: Path, asked: list[str]
) -> None:
    assert ARCHIVE not in asked
    outcomes = python(started, import_all(dist))
    assert asked.count(ARCHIVE) == 1
    context.route("**/snapshot.json", lambda route: route.abort())
    plain = tapped(context, site)
    assert plain.run("return (await caveman.health()).snapshot;") is False
    assert outcomes == python(plain, import_all(dist))
    assert list(outcomes.values()).count("imported") > 150


def test_without_a_network_a_late_import_fails_and_the_next_one_works(
    started: Engine, context: BrowserContext, asked: list[str]
) -> None:
    late = """
import json
try:
    import wave
    said = "imported"
except OSError:
    said = "failed"
json.dumps(said)"""
    context.route(f"**/{ARCHIVE}", lambda route: route.abort())
    assert python(started, late) == "failed"
    assert started.run("return (await caveman.compress(bytes(payload))).recoveryHandle;", payload=log()) == handle(
        log()
    )
    context.unroute(f"**/{ARCHIVE}")
    assert python(started, late) == "imported"


def test_no_call_needs_a_module_that_the_snapshot_lacks(started: Engine, asked: list[str]) -> None:
    samples = [
        min(folder.glob("*.in"), key=lambda file: file.stat().st_size) for folder in CORPUS.iterdir() if folder.is_dir()
    ]
    assert len(samples) >= 14
    for sample in samples:
        started.run(
            """const r = await caveman.compress(bytes(payload), { query: "error in order 7" });
            await caveman.simulate(bytes(payload), { maxTokens: 200 });
            if (r.recoveryHandle) await caveman.retrieveText(r.recoveryHandle, { query: "failed 12" });""",
            payload=sample.read_bytes(),
        )
    started.run(
        """const payload = new TextEncoder().encode("data");
        await caveman.putObject({ type: "CommandResult", sessionId: "s", source: "x" }, payload);
        await caveman.importBundle(await caveman.exportBundle());
        await outcome(() => caveman.retrieve("ccr_0"));
        await outcome(() => caveman.compress(payload, { type: "none" }));
        await caveman.records();
        await caveman.stats();
        await caveman.clear();"""
    )
    assert ARCHIVE not in asked


def test_what_the_package_imports_is_in_the_snapshot(started: Engine) -> None:
    loaded = set(python(started, "import json, sys; json.dumps(list(sys.modules))"))
    wanted = {
        name for file in sources(loaded) for name in imported(file) if name.partition(".")[0] in sys.stdlib_module_names
    }
    assert len(wanted) > 20
    assert wanted <= loaded


def sources(loaded: set[str]) -> Iterator[Path]:
    for name in filter(lambda name: name.partition(".")[0] == "caveman_wasm", loaded):
        path = ROOT / "src" / name.replace(".", "/")
        yield path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


# ---------------------------------------------------------------- what was tried out


def test_nothing_of_the_samples_is_left(started: Engine, dist: Path) -> None:
    """Neither in the store, nor as objects, nor in the memory that was freed."""
    stats = started.run("return caveman.stats();")
    assert (stats["records"], stats["objects"], stats["tokensBefore"], stats["refused"]) == (0, 0, 0, 0)
    assert started.run("return caveman.records();") == []
    kinds = python(
        started,
        """import collections, gc, json
json.dumps(collections.Counter(type(o).__name__ for o in gc.get_objects() if type(o).__module__.startswith("caveman_wasm")))""",
    )
    assert kinds["BrowserDoor"] == kinds["Engine"] == kinds["MemoryStore"] == 1
    memory = gzip.decompress((dist / "pyodide" / "snapshot.bin").read_bytes())
    assert b"caveman_wasm" in memory
    for sample in filter(Path.is_file, (dist / "samples").iterdir()):
        if sample.name in ("select.py", "README.md"):  # the engine has the one imported and words of the other
            continue
        text = sample.read_bytes()
        assert not [at for at in range(0, len(text) - 64, 64) if text[at : at + 64] in memory], sample.name
        assert handle(text).encode() not in memory


def test_a_sample_gives_the_same_as_after_a_plain_start(started: Engine, site: str, dist: Path) -> None:
    context = started.page.context
    samples = sorted(filter(Path.is_file, (dist / "samples").iterdir()))
    script = "const r = await caveman.compress(bytes(payload)); return [base64(r.output), r.reason, r.tokensAfter];"
    made = [started.run(script, payload=sample.read_bytes()) for sample in samples]
    context.route("**/snapshot.json", lambda route: route.abort())
    plain = bare(context.new_page(), site)
    assert made == [plain.run(script, payload=sample.read_bytes()) for sample in samples]


def test_c_functions_are_called_as_after_a_plain_start(started: Engine, context: BrowserContext, site: str) -> None:
    """By this browser's own function for it, where the engine that made the snapshot may have another one, or none."""
    called = """() => {
        const { HEAP32, __PyRuntime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET } = tapped._module;
        return HEAP32[(__PyRuntime + HEAP32[__PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET / 4]) / 4];
    }"""
    restored = started.page.workers[0].evaluate(called)
    context.route("**/snapshot.json", lambda route: route.abort())
    plain = tapped(context, site)
    assert plain.run("return (await caveman.health()).snapshot;") is False
    assert restored == plain.page.workers[0].evaluate(called) > 0


def test_random_numbers_are_not_those_of_another_page(started: Engine, context: BrowserContext, site: str) -> None:
    drawn = "import json, random, uuid; json.dumps([random.random(), str(uuid.uuid4())])"
    other = bare(context.new_page(), site)
    other.run("")
    assert not set(python(started, drawn)) & set(python(other, drawn))


def test_memory_that_had_grown_when_the_snapshot_was_made_is_there_again(
    context: BrowserContext, dist: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "dist"
    shutil.copytree(dist, folder)
    begun = json.loads((dist / "pyodide" / "snapshot.json").read_bytes())["memory"]
    (folder / "samples" / "large.log").write_bytes(log(lines=60_000))  # the engine takes more for it than there is
    script = ["node", str(ROOT / "web" / "snapshot.mjs"), str(folder / "pyodide"), str(folder / "samples")]
    subprocess.run(script, check=True, timeout=120, stdin=subprocess.DEVNULL)
    grown = json.loads((folder / "pyodide" / "snapshot.json").read_bytes())["memory"]
    assert grown > begun
    with serving(str(folder)) as site:
        engine = tapped(context, site)
        assert engine.run("return (await caveman.health()).snapshot;") is True
        memory = "() => tapped._module.HEAP8.length"
        assert engine.page.workers[0].evaluate(memory) == grown
        made = engine.run("return (await caveman.compress(bytes(payload))).recoveryHandle;", payload=log())
        assert made == handle(log())
        assert engine.run("return base64(await caveman.retrieve(made));", made=made) == b64encode(log()).decode()
