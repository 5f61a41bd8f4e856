"""Questions with known answers: how many views hold the answer, asked by keywords and in a person's words.

    questions.py [FOLDER PROBES] [--stem] [--verbose]

PROBES has a line of JSON for each question (evals.py), ``file`` a path below FOLDER; without both, the suite's own.
Needles are asked too: tokens that stand once in a file, by other words of their unit. --stem ranks by the stems of
English words, by snowballstemmer (pip install snowballstemmer): what stemming would find and cost.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from caveman_wasm import Engine, Recovery, evals, narrow, open_memory, ranking

MADE = Path(__file__).parents[1] / "corpus"


def stem() -> None:
    """Make narrowing's words their stems."""
    from functools import cache

    import snowballstemmer

    stemmed = cache(snowballstemmer.stemmer("english").stemWord)
    narrow.words = lambda text: [stemmed(w) if w.isascii() and w.isalpha() else w for w in ranking.words(text)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MADE)
    parser.add_argument("probes", nargs="?", type=Path, default=MADE / "questions.jsonl")
    parser.add_argument("--stem", action="store_true", help="rank by stems of English words")
    parser.add_argument("--verbose", action="store_true", help="print what was missed")
    arguments = parser.parse_args()
    if arguments.stem:
        stem()
    found: dict[str, list[bool]] = defaultdict(list)
    shares: dict[str, list[float]] = defaultdict(list)
    for file, probes in evals.read_probes(arguments.probes).items():
        data = (arguments.folder / file).read_bytes()
        engine = Engine(open_memory())
        assert engine.store is not None
        name = engine.store.put(Recovery("text", "text/1", 9, 3, data))
        asked = [(f"{p.needs} by {how}", getattr(p, how), p.answer) for p in probes for how in ("query", "question")]
        asked += [("needle", n.query, n.token) for n in evals.needles(data, engine.detect(data))]
        for kind, question, answer in asked:
            view = engine.retrieve_query(name, question)
            found[kind].append(answer in evals.decoded(view).replace("\r\n", "\n"))
            shares[kind].append(len(view) / len(data))
            if arguments.verbose and not found[kind][-1]:
                print(f"missed: {file}\t{kind}\t{question}\t{answer}", file=sys.stderr)
    for kind in sorted(found):
        share = f"view {median(shares[kind]):.1%} (median), {mean(shares[kind]):.1%} (mean)"
        print(f"{kind:22} {sum(found[kind]):5}/{len(found[kind]):<5} {share}")


if __name__ == "__main__":
    main()
