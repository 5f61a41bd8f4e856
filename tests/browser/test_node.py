"""The built package in Node, by its own name and exports: each file of web/test is a suite of node:test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
SUITES = sorted(path.name for path in (WEB / "test").glob("*.test.mjs"))


def test_there_are_suites() -> None:
    assert SUITES


@pytest.mark.parametrize("suite", SUITES)
def test_in_node(suite: str, dist: Path) -> None:
    command = ["node", "--test", "--test-reporter=tap", f"test/{suite}"]
    ended = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    assert "# pass 0" not in ended.stdout
