"""The notebook of web/jupyterlite: natively, and in a JupyterLite site that is built here and fetches nothing from elsewhere."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from once import serving
from playwright.sync_api import Browser, Page, expect
from pyodide_folder import make_folder

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
NOTEBOOK = ROOT / "web" / "jupyterlite" / "caveman.ipynb"
START = 180_000  # ms: a kernel starts Pyodide and installs IPython

# JupyterLite writes scripts and styles into its pages; but all of it must come from the site itself.
CSP = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"


def run(*command: str | Path, seconds: int = 300, cwd: Path | None = None) -> None:
    ended = subprocess.run(
        command, cwd=cwd, timeout=seconds, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert ended.returncode == 0, ended.stdout.decode()[-3000:]


def made_for(folder: Path, *lists: Path) -> bool:
    """Whether ``folder`` was made from just these lists; if not, it is emptied."""
    stamp, now = folder / "made-for", hashlib.sha256(b"".join(path.read_bytes() for path in lists)).hexdigest()
    if stamp.exists() and stamp.read_text() == now:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def stamp(folder: Path, *lists: Path) -> None:
    (folder / "made-for").write_text(hashlib.sha256(b"".join(path.read_bytes() for path in lists)).hexdigest())


@pytest.fixture(scope="module")
def jupyter() -> Path:
    """The folder of `jupyter` in an environment of its own, from the pinned list with its hashes."""
    venv, pins = BUILD / "jupyterlite-venv", HERE / "requirements-jupyterlite.txt"
    if not made_for(venv, pins):
        run(sys.executable, "-m", "venv", venv)
        run(venv / "bin" / "pip", "install", "-qq", "--require-hashes", "-r", pins, seconds=600)
        stamp(venv, pins)
    return venv / "bin"


@pytest.fixture(scope="module")
def wheels() -> list[Path]:
    """What the kernel installs, and our own wheel."""
    folder, pins = BUILD / "jupyterlite-wheels", HERE / "jupyterlite-wheels.txt"
    if not made_for(folder, pins):
        pip = [sys.executable, "-m", "pip", "download", "-qq", "--require-hashes", "--no-deps"]
        run(*pip, "--only-binary=:all:", "--python-version", "3.14", "--dest", folder, "-r", pins)
        stamp(folder, pins)
    ours = sorted((BUILD / "wheel").glob("*.whl"))
    assert len(ours) == 1, "the wheel is not built: run ./build_wasm.sh build"
    return [*sorted(folder.glob("*.whl")), *ours]


@pytest.fixture(scope="module")
def lite(jupyter: Path, wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a site as the README builds it."""
    lite_dir = tmp_path_factory.mktemp("lite")
    make_folder(
        lite_dir / "static" / "pyodide", sorted((BUILD / "page-wheels").glob("*.whl"))
    )  # not ours: pip brings it
    settings = {"@jupyterlite/pyodide-kernel-extension:kernel": {"pyodideUrl": "./static/pyodide/pyodide.js"}}
    config = {"jupyter-lite-schema-version": 0, "jupyter-config-data": {"litePluginSettings": settings}}
    (lite_dir / "jupyter-lite.json").write_text(json.dumps(config))
    options = [option for wheel in wheels for option in ("--piplite-wheels", str(wheel))]
    command = [jupyter / "jupyter", "lite", "build", "--contents", NOTEBOOK.parent, "--output-dir", lite_dir / "site"]
    run(*command, *options, cwd=lite_dir)
    with serving(str(lite_dir / "site"), CSP) as url:
        yield url


@pytest.fixture
def notebook(chromium: Browser, lite: str) -> Iterator[Page]:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(START)
    page.goto(f"{lite}notebooks/index.html?path={NOTEBOOK.name}")
    yield page
    context.close()


def says_what_it_should(shown: str) -> None:
    assert '"_caveman_elided":' in shown
    assert "<<ccr:ccr_" in shown
    assert "exact: True" in shown
    assert '{"id":4077,"state":"failed","amount":"10.50","region":"eu"}' in shown
    assert 'its amount: "10.50"' in shown
    assert "kept: True" in shown
    assert "Error" not in shown


def test_its_cells_run_natively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_bytes())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    install, *code = ("".join(cell["source"]) for cell in cells)
    assert install == "%pip install -q caveman-wasm"
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in code:
        exec(cell, names)
    says_what_it_should(capsys.readouterr().out)


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_installs_the_wheel_compresses_and_retrieves(notebook: Page) -> None:
    kernel = notebook.locator(".jp-Notebook-ExecutionIndicator")
    expect(kernel).to_have_attribute("data-status", "idle", timeout=START)  # before it is there, cells are not run
    notebook.get_by_role("menuitem", name="Run", exact=True).click()
    notebook.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    outputs = notebook.locator(".jp-OutputArea-output")
    expect(outputs.filter(has_text="kept: True")).to_be_visible(timeout=START)
    shown = "\n".join(outputs.all_inner_texts())
    print(shown)
    says_what_it_should(shown)
