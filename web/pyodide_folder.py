"""Makes a self-hosted Pyodide folder: `python web/pyodide_folder.py OUT WHEEL...`

Copies the runtime of the npm package and the wheels into OUT and writes OUT/pyodide-lock.json, which names these
wheels with their hashes and nothing else: the npm package's own lock file names hundreds that are not in it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from pyodide_lock import PyodideLockSpec
from pyodide_lock.utils import add_wheels_to_spec

RUNTIME = Path(__file__).parent / "node_modules" / "pyodide"
FILES = ("pyodide.mjs", "pyodide.js", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")


def make_folder(out: Path, wheels: list[Path]) -> None:
    """Fill ``out`` afresh with the runtime, the wheels and a lock file for exactly these."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for file in [*(RUNTIME / name for name in FILES), *wheels]:
        shutil.copy2(file, out)
    write_lock(out / "pyodide-lock.json", [out / wheel.name for wheel in wheels])


def write_lock(path: Path, wheels: list[Path]) -> None:
    """Write a lock file for the npm package's runtime and these wheels, which lie beside it."""
    info = json.loads((RUNTIME / "pyodide-lock.json").read_bytes())["info"]
    # pyodide-lock for Python 3.11 refuses fields it does not know (abi_version): those go round it.
    known = {name: info[name] for name in ("arch", "platform", "python")} | {"version": "0"}
    path.write_text(json.dumps({"info": known, "packages": {}}), encoding="utf-8")
    add_wheels_to_spec(PyodideLockSpec.from_json(path), wheels).to_json(path)
    lock = json.loads(path.read_bytes()) | {"info": info}
    path.write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make_folder(Path(sys.argv[1]), [Path(wheel) for wheel in sys.argv[2:]])
