"""What a question costs: seconds per query over 1,000 and 100,000 units, and as a ratio to a yardstick of the same run.

    narrow.py [--units 1000 100000] [--repeats 5]

The yardstick is one count of the words of the same text by `str.split` and `collections.Counter`: what no ranking can
do without. Both rankers are timed, rank-bm25 (if installed) and the formula in Python; whole is all that
`retrieve_query` does: verify, detect, cut, rank, write the view. Medians.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from corpus.make import log_lines

from caveman_wasm import Engine, Recovery, open_memory, ranking

QUESTION = "Which worker verified order 4077, and how long did it take?"


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The median of the processor's time."""
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return median(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", nargs="+", type=int, default=[1_000, 100_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'':10} {'yardstick':>12} {'whole':>12} {'rank-bm25':>12} {'in Python':>12}   (ratios to the yardstick)")
    for count in arguments.units:
        lines = list(log_lines(count, 2))
        text = "\n".join(lines)
        store = open_memory()
        name = store.put(Recovery("log", "log/1", 9, 3, text.encode()))
        engine = Engine(store)
        assert b"order 4077" in engine.retrieve_query(name, QUESTION)  # imports, too, are done by now
        units, asked = [ranking.words(line) for line in lines], ranking.words(QUESTION)
        works: list[Callable[[], object]] = [
            lambda text=text: Counter(text.split()),
            lambda engine=engine, name=name: engine.retrieve_query(name, QUESTION),
            lambda units=units, asked=asked: ranking._okapi()(units, asked),
            lambda units=units, asked=asked: ranking._plain_scores(units, asked),
        ]
        took = [seconds(work, arguments.repeats) for work in works]
        print(f"{count:>10,}" + "".join(f" {t * 1000:>9.1f} ms" for t in took))
        print(f"{'':10}" + "".join(f" {t / took[0]:>12.1f}" for t in took))


if __name__ == "__main__":
    main()
