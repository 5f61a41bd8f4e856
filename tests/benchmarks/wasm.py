"""What compress and retrieve cost in WebAssembly, in Node and in headless Chromium, as ratios to a yardstick of the same run.

    python tests/benchmarks/wasm.py [--in node chromium] [--sizes 4,60,600] [--only json…] [--repeats 5]
                                    [--crowd] [--large] [--json OUT] [PATH…]

over the built web/dist (`./build_wasm.sh build`). Inputs are one made payload a format and size (8000 KB by `--sizes`), or the files
of PATH… (of a folder its `*.in`, else all its files). The yardstick: count the input's tokens once with gpt-tokenizer, its merge
cache emptied, hash it once (SHA-256), and `JSON.parse` it once if it is JSON. Ours, cold too: its counter's memory and the store emptied
before each run; code is warm. In Chromium calls go from the page to its worker; Node runs the engine on its own thread with the clocks
of stages.py in it. Each repeat runs everything in turn, a small input several times, and gives one ratio.

Columns: compress ÷ yardstick (median, least–most of the repeats); the same of `@llmtrim/js` (preset `agent`, the payload as a tool message); retrieve whole,
narrowed by a question, by a selector; tokens kept by us and by llmtrim, both by gpt-tokenizer; in Node the stages of compress.
`--crowd`: 1,000 payloads of 4 KB through the page's worker, and one behind five of 2 MB. `--large`: 32 MB of JSON, log and CSV in the page, exact and with the longest task of its main thread.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

HERE = Path(__file__).parent
WEB = HERE.parents[1] / "web"
sys.path[:0] = [str(HERE), str(WEB)]

from made import QUESTION, payloads, plain, selector  # noqa: E402
from once import launch  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from serve import Handler, Server  # noqa: E402
from stages import STAGES  # noqa: E402

from caveman_wasm import Engine, open_memory, tokens  # noqa: E402
from caveman_wasm.references import handle  # noqa: E402

Ask = Callable[[str, Any], Any]
RETRIEVALS = ("whole", "narrowed", "selected")
MOST_MS = 900_000  # for one answer of a browser


def prepare(folder: Path) -> None:
    """The built folder by links, and beside it the bundled benchmark and its worker."""
    dist = WEB / "dist"
    for name in dist.iterdir():
        (folder / name.name).symlink_to(name)
    (folder / "cold").mkdir()
    (folder / "cold" / "pyodide").symlink_to(dist / "pyodide")
    wheel = next((dist / "pyodide").glob("caveman_wasm-*.whl")).name
    subprocess.run(
        [
            WEB / "node_modules/.bin/esbuild",
            *(f"bench={HERE}/wasm.mjs", f"cold/worker={HERE}/cold_worker.mjs", f"--outdir={folder}"),
            *("--bundle", "--format=esm", "--target=es2022", "--minify", "--external:node:*", "--log-level=warning"),
            f"--define:WHEEL={json.dumps(wheel)}",
        ],
        env=os.environ | {"NODE_PATH": str(WEB / "node_modules")},
        check=True,
        timeout=60,
    )
    (folder / "bench.js").rename(folder / "bench.mjs")
    (folder / "bench.html").write_text("<!doctype html><title>benchmark</title>")
    shutil.copy(WEB / "node_modules/@llmtrim/js/llmtrim_wasm_bg.wasm", folder / "llmtrim.wasm")
    shutil.copy(HERE / "stages.py", folder)


class Isolated(Handler):
    """Answers as a host of cross-origin isolated pages: only those have a clock of microseconds."""

    def end_headers(self) -> None:
        """Add what isolates."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@contextmanager
def chromium(folder: Path) -> Iterator[Ask]:
    """A page that runs the benchmark."""
    server = Server(("127.0.0.1", 0), partial(Isolated, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/"
    with sync_playwright() as playwright:
        page = launch(playwright).new_page()
        page.set_default_timeout(MOST_MS)
        page.goto(f"{base}bench.html")

        def ask(call: str, argument: Any) -> Any:
            script = "async ([base, call, argument]) => (await import(`${base}bench.mjs`))[call](argument)"
            return page.evaluate(script, [base, call, argument])

        ask("start", base)
        yield ask
    server.shutdown()


@contextmanager
def node(folder: Path) -> Iterator[Ask]:
    """A Node process that runs the benchmark."""
    pipe = subprocess.PIPE
    with subprocess.Popen(["node", folder / "bench.mjs"], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sending, receiving = process.stdin, process.stdout

        def ask(call: str, argument: Any) -> Any:
            sending.write(json.dumps([call, argument]) + "\n")
            sending.flush()
            return json.loads(receiving.readline())

        ask("start", folder.as_uri() + "/")
        yield ask
        sending.close()


WHERE = {"node": node, "chromium": chromium}


def inputs(arguments: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    for path in arguments.paths:
        found = sorted(path.rglob("*.in")) or sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from ((f"{file.parent.name}/{file.name}", file.read_bytes()) for file in found if file.is_file())
    for size in () if arguments.paths else map(int, filter(None, arguments.sizes.split(","))):
        for kind, payload in payloads(size * 1000).items():
            if not arguments.only or kind in arguments.only:
                yield kind, payload


def measured(ask: Ask, folder: Path, name: str, payload: bytes, repeats: int) -> dict[str, Any]:
    """One row: medians and spreads of ratios."""
    file = handle(payload)  # a name of its own: the browser caches
    (folder / file).write_bytes(payload)
    (folder / f"{file}.cut").write_bytes(tokens._cut_runs(tokens._valid(payload)))
    runs = max(1, 30_000 // max(len(payload), 1000))
    chosen = selector(payload, Engine(open_memory()).detect(payload))
    job = {"name": file, "repeats": repeats, "runs": runs, "query": QUESTION, "selector": chosen}
    said = ask("measure", job)
    compressing, retrieving = said.pop("compress"), said.pop("retrieve")

    def ratios(samples: list[dict[str, float]], what: str) -> dict[str, float] | None:
        found = [s[what] / s["yardstick"] for s in samples if what in s]
        return {"median": median(found), "least": min(found), "most": max(found)} if found else None

    row = {"name": name, **said, "yardstick_ms": median(s["yardstick"] for s in compressing)}
    row |= {what: ratios(compressing, what) for what in ("compress", "llmtrim")}
    row |= {what: ratios(retrieving, what) for what in RETRIEVALS}
    if STAGES[0] in compressing[0]:
        row["stages"] = {stage: median(s[stage] / s["yardstick"] for s in compressing) for stage in STAGES}
    return row


def line(row: dict[str, Any]) -> str:
    def ratio(what: str) -> str:
        return f"{row[what]['median']:.2f}" if row[what] else "–"

    def spread(what: str) -> str:
        return f"{row[what]['least']:.2f}–{row[what]['most']:.2f}" if row[what] else ""

    theirs = row["kept"]["llmtrim"]
    kept = f"{row['kept']['caveman']:>6.0%} {theirs if theirs is None else format(theirs, '.0%'):>7}"
    spent = " ".join(f"{row['stages'][stage]:6.2f}" for stage in STAGES) if "stages" in row else ""
    return (
        f"{row['name'][-30:]:31}{row['bytes'] // 1000:5}{row['yardstick_ms']:9.2f}"
        f"{ratio('compress'):>9}{spread('compress'):>13}{ratio('llmtrim'):>9}{spread('llmtrim'):>13}"
        f"{''.join(f'{ratio(what):>9}' for what in RETRIEVALS)}  {kept}  {spent} {row['contentType']} {row['reason'] or ''}"
    )


def summary(where: str, rows: list[dict[str, Any]]) -> None:
    for what in ("compress", "llmtrim", *RETRIEVALS):
        found = [(row[what]["median"], row["bytes"]) for row in rows if row[what]]
        if found:
            large = [ratio for ratio, size in found if size >= 55_000]
            most = f", largest from 60 KB up {max(large):.2f}" if large else ""
            print(
                f"{where}: {what} ÷ yardstick: median {median(r for r, _ in found):.2f}{most}, largest {max(found)[0]:.2f}"
            )


def crowded(ask: Ask, folder: Path) -> dict[str, Any]:
    """A thousand payloads of every format."""
    made = [p.decode() for i in range(70) for p in payloads(4000 + i).values()][:1000]
    (folder / "crowd.json").write_text(json.dumps(made))
    report = {}
    for how, said in ask("crowd", {"name": "crowd.json"}).items():
        cuts = quantiles(said["latencies"], n=100)
        rate = 1e3 * len(made) / said["total"]
        print(
            f"1,000 of 4 KB {how}: {rate:.0f} a second, latency p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms;"
            f" longest task of the page {said['longestTask']:.0f} ms"
        )
        report[how] = {
            "per_second": rate,
            "p50_ms": cuts[49],
            "p99_ms": cuts[98],
            "longest_task_ms": said["longestTask"],
        }
    return report


def queued(ask: Ask, folder: Path) -> dict[str, float]:
    """A payload of 4 KB behind five of 2 MB that were posted before it; and calls that are given up."""
    texts = [payloads(2_000_000 + i)["log"].decode() for i in range(5)] + [payloads(4000)["log"].decode()]
    (folder / "turns.json").write_text(json.dumps(texts))
    samples = ask("turns", {"name": "turns.json", "repeats": 5})
    said = {what: median(sample[what] for sample in samples) for what in samples[0]}
    print(
        f"4 KB behind five of 2 MB: {said['behind']:.0f} ms, alone {said['alone']:.0f} ms; one of 2 MB {said['large']:.0f} ms, all"
        f" {said['all']:.0f} ms. Given up: a running call rejects after {said['running']:.2f} ms, a waiting one after"
        f" {said['waiting']:.2f} ms; the engine is free {said['after running']:.0f} ms after the running one"
    )
    return said


def big(ask: Ask, folder: Path) -> dict[str, Any]:
    """What is large must come back exact, and leave the page's own thread alone."""
    report = {}
    for kind, text in plain(32_000_000).items():
        (folder / f"large-{kind}").write_text(text)
        said = report[kind] = ask("large", {"name": f"large-{kind}"})
        print(
            f"{said['bytes'] / 1e6:.0f} MB of {kind}: {said['took'] / 1e3:.1f} s, {'exact' if said['exact'] else 'NOT EXACT'},"
            f" {said['kept']:.1%} of the bytes kept; longest task of the page {said['longest']['compress']:.0f} ms in compress,"
            f" {said['longest']['retrieve']:.0f} ms in retrieve"
        )
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--in", dest="where", nargs="+", choices=list(WHERE), default=list(WHERE))
    parser.add_argument("--sizes", default="4,60,600", help="KB, comma-separated; none leaves the table out")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--crowd", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        prepare(folder)
        for where in arguments.where:
            with WHERE[where](folder) as ask:
                report[where] = {"rows": table(where, ask, folder, arguments)}
                if where == "chromium" and arguments.crowd:
                    report[where]["crowd"] = crowded(ask, folder)
                    report[where]["queued"] = queued(ask, folder)
                if where == "chromium" and arguments.large:
                    report[where]["large"] = big(ask, folder)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    exact = all(said["exact"] for said in report.get("chromium", {}).get("large", {}).values())
    return 0 if exact else 1


def table(where: str, ask: Ask, folder: Path, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    heads = "".join(f"{what:>9}" for what in RETRIEVALS)
    stages = " ".join(f"{stage:>6}" for stage in STAGES) if where == "node" else ""
    print(
        f"{where:31}{'KB':>5}{'yard. ms':>9}{'compress':>9}{'':13}{'llmtrim':>9}{'':13}{heads}   kept  llmtr.  {stages}"
    )
    rows: list[dict[str, Any]] = []
    seen: set[bytes] = set()  # what was retrieved is not shortened again
    for name, payload in inputs(arguments):
        if payload in seen:
            continue
        seen.add(payload)
        rows.append(measured(ask, folder, name, payload, arguments.repeats))
        print(line(rows[-1]), flush=True)
    summary(where, rows)
    for stage in STAGES if rows and "stages" in rows[0] else ():
        print(f"  {stage:8} median {median(row['stages'][stage] for row in rows):.3f}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
