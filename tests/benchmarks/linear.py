"""Does anything grow faster than its input? Milliseconds of processor time per MB of compress and of one narrowed
retrieve, at several sizes, for each format and for the pathological inputs.

    python tests/benchmarks/linear.py [--sizes 0.1,1,8] [--only NAME…] [--limit SECONDS] [--json OUT]

A run that takes longer than ``--limit`` is stopped, and larger sizes of that input are left out. Exit status 1 where
the time per MB at the largest size is over `GROWTH` times the one at 1 MB (small inputs pay for what is done once).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from made import pathological, payloads

GROWTH = 1.6  # processor caches and noise; what is quadratic grows eightfold from 1 MB to 8
MB = 1_000_000


def forget_peak() -> None:
    """Linux: the highest memory of this process counts from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Bytes that this process has had at most."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def measured(payload: bytes, answer: Any) -> None:
    """In a process of its own: the peak is this run's."""
    from caveman_wasm import Engine, open_memory

    engine = Engine(open_memory())
    engine.compress(b"2026-03-01 04:26:12 INFO warm\n" * 40)
    forget_peak()
    before = peak_memory()
    start = time.process_time()
    result = engine.compress(payload)
    took = time.process_time() - start
    peak = (peak_memory() - before) / len(payload)
    narrowed = None
    if result.recovery_handle:
        start = time.process_time()
        engine.retrieve_query(result.recovery_handle, "order verified payment")
        narrowed = time.process_time() - start
    answer.send((took, narrowed, peak, result.content_type, result.reason, result.error))


def run(payload: bytes, limit: float) -> tuple[Any, ...] | None:
    """What `measured` found, or None when it took too long."""
    here, there = multiprocessing.Pipe(duplex=False)
    worker = multiprocessing.Process(target=measured, args=(payload, there))
    worker.start()
    found = here.recv() if here.poll(limit) else None
    worker.kill()
    worker.join()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="0.1,1,8", help="MB, comma-separated")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    sizes = [float(size) for size in arguments.sizes.split(",")]
    rows: dict[str, list[dict[str, Any]]] = {}
    stopped: set[str] = set()
    for size in sizes:
        made = payloads(int(size * MB)) | pathological(int(size * MB))
        for name, payload in made.items():
            if (arguments.only and name not in arguments.only) or name in stopped:
                continue
            found = run(payload, arguments.limit)
            if found is None:
                stopped.add(name)
                print(f"{name:22}{size:6} MB  stopped after {arguments.limit:.0f} s", flush=True)
                continue
            took, narrowed, peak, kind, reason, error = found
            per_mb = 1e9 * took / len(payload)
            first = next((row["ms_per_mb"] for row in rows.get(name, ()) if row["mb"] >= 1), None)
            growth = round(per_mb / first, 2) if first else None
            row = {"name": name, "mb": size, "ms_per_mb": round(per_mb, 1), "growth": growth, "memory": round(peak, 1)}
            row["narrowed_ms_per_mb"] = narrowed and round(1e9 * narrowed / len(payload), 1)
            rows.setdefault(name, []).append(row | {"type": kind, "reason": reason, "error": error})
            print(
                f"{name:22}{size:6} MB{per_mb:9.1f} ms/MB{growth or '':>7}  narrowed {row['narrowed_ms_per_mb'] or '–':>7}"
                f"  memory {peak:5.1f} ×  {kind} {reason or ''} {error or ''}",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    over = {name: found[-1]["growth"] for name, found in rows.items() if (found[-1]["growth"] or 0) > GROWTH}
    print(f"grew faster than the input: {over or 'nothing'}; stopped: {sorted(stopped) or 'none'}")
    return bool(over or stopped)


if __name__ == "__main__":
    sys.exit(main())
