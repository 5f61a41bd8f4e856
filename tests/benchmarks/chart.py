"""Draws what wasm.py measured: `python tests/benchmarks/chart.py RESULTS.json OUT.svg`

One row a format: the median of its sizes' ratios, and from the least to the most of their repeats, on a logarithmic axis.
"""

from __future__ import annotations

import json
import math
import sys
from html import escape
from pathlib import Path
from statistics import median
from typing import Any

# what of which table, its colour (told apart by the colour-blind too) and its shape
SERIES = (
    ("node", "compress", "caveman-wasm, Node", "#0072b2", "circle"),
    ("chromium", "compress", "caveman-wasm, Chromium, through the page's worker", "#e69f00", "square"),
    ("node", "llmtrim", "@llmtrim/js, Node", "#555555", "diamond"),
)
WIDTH, LEFT, RIGHT, TOP, ROW = 760, 120, 20, 88, 34
LEAST, MOST = 0.5, 200.0
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200)


def x(ratio: float) -> float:
    """Pixels from the left."""
    part = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + part * (WIDTH - LEFT - RIGHT), 1)


def mark(shape: str, at: float, y: float, colour: str) -> str:
    if shape == "circle":
        return f'<circle cx="{at}" cy="{y}" r="4" fill="{colour}"/>'
    turned = f' transform="rotate(45 {at} {y})"' if shape == "diamond" else ""
    return f'<rect x="{at - 3.5}" y="{y - 3.5}" width="7" height="7" fill="{colour}"{turned}/>'


def label(text: str, at: float, y: float, more: str = "") -> str:
    return f'<text x="{at}" y="{y}" {more}>{escape(text)}</text>'


def chart(report: dict[str, Any]) -> str:
    names = list(dict.fromkeys(row["name"] for table in report.values() for row in table["rows"]))
    sizes = sorted({round(row["bytes"], -3) // 1000 for table in report.values() for row in table["rows"]})
    bottom = TOP + ROW * len(names)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 44}" font-family="sans-serif" font-size="12">',
        "<title>Time of compress by format, as a ratio to counting, hashing and parsing the input once</title>",
        f'<rect width="{WIDTH}" height="{bottom + 44}" fill="#fff"/>',
        label(
            "Time of compress ÷ time to count the input's tokens, hash it and parse it, once each",
            12,
            22,
            'font-size="14"',
        ),
    ]
    for i, (_, _, name, colour, shape) in enumerate(SERIES):
        out += [mark(shape, 20, 38 + 16 * i, colour), label(name, 32, 42 + 16 * i)]
    for tick in TICKS:
        out.append(f'<path d="M{x(tick)} {TOP}V{bottom}" stroke="{"#000" if tick == 1 else "#ddd"}"/>')
        out.append(label(f"{tick:g} ×", x(tick), bottom + 16, 'text-anchor="middle"'))
    for i, name in enumerate(names):
        out.append(label(name, LEFT - 10, TOP + ROW * i + ROW / 2 + 4, 'text-anchor="end"'))
        for j, (where, what, _, colour, shape) in enumerate(SERIES):
            rows = report.get(where, {"rows": []})["rows"]
            found = [row[what] for row in rows if row["name"] == name and row[what]]
            if found:
                y = TOP + ROW * i + 8 + 9 * j
                ends = x(min(r["least"] for r in found)), x(max(r["most"] for r in found))
                out.append(
                    f'<path d="M{ends[0]} {y}H{ends[1]}" stroke="{colour}" stroke-opacity=".5" stroke-width="2"/>'
                )
                out.append(mark(shape, x(median(r["median"] for r in found)), y, colour))
    ends = f"{sizes[0]}–{sizes[-1]}" if sizes else "–"
    out.append(
        label(
            f"Marks: median of the files of {ends} KB; lines: least to most of all repeats. Cold caches, warm code.",
            12,
            bottom + 36,
        )
    )
    return "\n".join([*out, "</svg>\n"])


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(chart(json.loads(Path(sys.argv[1]).read_text())))
