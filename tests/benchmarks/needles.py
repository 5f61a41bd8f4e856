"""Needles in any folder: tokens that stand once in a file, asked for by other words of their unit.

    needles.py FOLDER… [--verbose]

Prints, for each content type, how many were found in the shortened text or in the view that the question gets.
Files that pass through are not asked (nothing was left out). Exit status 1 below 97 % over all.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from caveman_wasm import evals

BAR = 0.97  # issue 3, point 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--verbose", action="store_true", help="print every needle that was missed")
    arguments = parser.parse_args()
    rows: list[evals.Row] = []
    for path in [p for folder in arguments.folders for p in evals.files(folder)]:
        for row, misses in evals.evaluate([path]):
            rows.append(row)
            for miss in misses if arguments.verbose else ():
                print(f"missed: {path}\t{miss.wanted}\t{miss.query}")
    for kind, said in evals.by(rows, "type").items():
        _print(kind, said["needles"], said["view"])
    every = evals.summary(rows)
    _print("all", every["needles"], every["view"])
    found, asked = every["needles"]
    return 0 if not asked or found >= BAR * asked else 1


def _print(label: str, pair: list[int], view: float | None) -> None:
    if pair[1]:
        said = "" if view is None else f"  view {view:.1%}"
        print(f"{label:16} {pair[0]:5}/{pair[1]:<5} {pair[0] / pair[1]:6.1%}{said}")


if __name__ == "__main__":
    sys.exit(main())
