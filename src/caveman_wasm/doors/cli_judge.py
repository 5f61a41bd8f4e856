"""Commands that judge the engine: ``check`` of its texts, ``registry`` of its formats, ``evals run`` on a folder."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from caveman_wasm.errors import CavemanError, InvalidArguments, InvalidReference
from caveman_wasm.model import MAX_PAYLOAD

if TYPE_CHECKING:
    from caveman_wasm.check import Report
    from caveman_wasm.store.base import Store

__all__ = ["add_judging_commands"]

_Commands = argparse._SubParsersAction  # the type that add_subparsers returns has no public name

_CHECK = """Makes the text of each record again, from its original and the options in its metadata (of a FILE: shortens
it in a store that is thrown away), and recomputes every count, constant, enumeration, range, sum, roster, coverage and
failure count from exactly the units each marker stands for, by code that shares nothing with what wrote them. Checks
too that the text is the original with just these units taken out, that line ranges and the reference's numbers are
right, and that JSON and tables are still such. Says what it could not check. Exit status 1 if anything is off, or a
text cannot be made again by this version."""

_EVALS = """Shortens every file below a folder (hidden ones left out), each in a store that is thrown away, and prints,
by kind (file name up to the first dash, else its ending; or the probes' "kind") and by content type:

  reduction  of all tokens, by the engine's own counter; mean: of the files' reductions
  exact      files that came back byte for byte by their handle (a pass-through counts as exact)
  visible    probes whose answer stands in the shortened text
  retrieve   probes whose answer stands in the view that their query gets, or in the text
  needles    tokens that stand once in a file, asked for by other words of their unit, found in view or text
  view       tokens of a view as a share of the file's, median

A probe is one line of JSON:
  {"file": "a.log", "kind": "logs", "question": "Which node failed?", "answer": "n17",
   "needs": "visible" or "retrieve", "query": "failed node"}

Exit status 1 if a file did not come back exactly. Nothing leaves this machine."""


def add_judging_commands(commands: _Commands[argparse.ArgumentParser]) -> None:
    """Add ``check``, ``registry`` and ``evals run`` to a command line."""
    check = _add(commands, "check", _check, "check shortened texts against their originals, fact by fact", _CHECK)
    check.add_argument("what", nargs="*", metavar="HANDLE|FILE", help="none: all records of the store")
    check.add_argument("--text", type=Path, metavar="FILE", help="the text in this file must be the one made again")
    check.add_argument("--type", metavar="T", help="of a FILE: force this content type")
    check.add_argument("--query", default="", metavar="Q", help="of a FILE: keep what answers this")
    check.add_argument("--max-tokens", type=int, metavar="N", help="of a FILE: ceiling on the result")
    _add(commands, "registry", _registry, "the formats: type, safety class, recovery, version, units")
    evals = commands.add_parser("evals", help="judge the engine on your own files").add_subparsers(
        required=True, metavar="run"
    )
    run = _add(evals, "run", _evals, "reduction, exactness, probes and needles on a folder", _EVALS)
    run.add_argument("--fixtures", type=Path, default=Path(), metavar="DIR", help="the folder (default: this one)")
    run.add_argument("--probes", type=Path, metavar="FILE", help="questions with known answers, JSON lines")
    run.add_argument("--json", metavar="OUT", help="write all figures, file by file, as JSON to OUT (-: to stdout)")
    run.add_argument("--no-needles", action="store_true", help="do not ask for needles (faster)")
    run.add_argument("--verbose", action="store_true", help="print what was missed")


def _add(
    commands: _Commands[argparse.ArgumentParser],
    name: str,
    command: Callable[[argparse.Namespace], int],
    what: str,
    more: str = "",
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=what, description=more or what, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(command=command)
    if command is not _evals:
        parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


# ---------------------------------------------------------------- check


def _check(arguments: argparse.Namespace) -> int:
    if arguments.text is not None and len(arguments.what) != 1:
        print("--text goes with one HANDLE or FILE", file=sys.stderr)
        return 2
    text = _bytes(arguments.text) if arguments.text is not None else None
    said, off = [], 0
    for subject, report in _reports(arguments, text):
        off += bool(report.findings)
        if arguments.json:
            said.append({"subject": subject} | report.as_json())
        else:
            print("\n".join(_lines(subject, report)), flush=True)
    if arguments.json:
        print(json.dumps(said))
    elif not arguments.what:
        print("Nothing is off." if not off else f"{off} records are off.")
    return 1 if off else 0


def _reports(arguments: argparse.Namespace, text: bytes | None) -> Iterator[tuple[str, Report]]:
    from caveman_wasm.check import Options, check_payload

    options = Options(arguments.type, arguments.query, arguments.max_tokens)
    handles = []
    for what in arguments.what:
        if Path(what).is_file():
            yield what, check_payload(_bytes(Path(what)), options, text)
        else:
            handles.append(_handle(what))
    if handles or not arguments.what:
        with _store() as store:
            for handle in handles or _every(store):
                yield handle, _of_record(store, handle, text, asked=bool(handles))


def _of_record(store: Store, handle: str, text: bytes | None, *, asked: bool) -> Report:
    from caveman_wasm.check import Report, check_record

    try:
        return check_record(store, handle, text)
    except CavemanError as error:  # among all records, one that is damaged does not hide the others
        if asked:
            raise
        report = Report(remade=False)
        report.add(0, "", f"{error.code}: {error}")
        return report


def _every(store: Store) -> Iterator[str]:
    after = ""
    while page := store.records(after, 100):
        yield from (info.handle for info in page)
        after = page[-1].handle


def _handle(what: str) -> str:
    from caveman_wasm.references import parse_reference

    parsed = parse_reference(what)
    if parsed.is_object or parsed.selector:
        raise InvalidReference("Only records are checked; give the handle alone.", reference=parsed.id)
    return parsed.id


def _lines(subject: str, report: Report) -> Iterator[str]:
    counted = f"{report.markers} markers, {report.facts} facts"
    if not report.markers and report.remade:
        counted = "passed through, or nothing was left out"
    yield f"{subject}: {report.content_type or 'unknown'}, {counted}{': nothing is off' * (not report.findings)}"
    for finding in report.findings:
        where = f"marker {finding.marker}" if finding.marker else "text"
        yield f"  {where}: {f'{finding.fact!r}: ' if finding.fact else ''}{finding.found}"
    if report.uncovered:
        yield f"  not checked: {'; '.join(sorted(report.uncovered))}"


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.stat().st_size <= MAX_PAYLOAD + 1 else b"\0" * (MAX_PAYLOAD + 1)
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}.") from None


def _store() -> Store:
    from caveman_wasm.store import open_store

    return open_store()


# ---------------------------------------------------------------- registry


def _registry(arguments: argparse.Namespace) -> int:
    from caveman_wasm.registry import registry

    rows = [asdict(row) for row in registry()]
    if arguments.json:
        print(json.dumps(rows))
        return 0
    print(f"{'type':24}{'class':7}{'recovery':19}{'version':9}{'chosen':10}units")
    for row in rows:
        print("{type:24}{safety:7}{recovery:19}{version:<9}{chosen:10}{units}".format(**row))
    print("S2: value kept. S4: lossy, runs only with a store; the handle gives the exact original back.")
    return 0


# ---------------------------------------------------------------- evals


def _evals(arguments: argparse.Namespace) -> int:
    from caveman_wasm import evals
    from caveman_wasm.tokens import default_counter

    probes = evals.read_probes(arguments.probes) if arguments.probes else None
    counter = default_counter()
    rows: list[evals.Row] = []
    missed: list[evals.Miss] = []
    found = evals.files(arguments.fixtures)
    for number, (row, misses) in enumerate(
        evals.evaluate(found, probes, with_needles=not arguments.no_needles, counter=counter), 1
    ):
        rows.append(row)
        missed += misses
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{number} of {len(found)} files{'' if number < len(found) else chr(10)}")
    figures = json.dumps(evals.as_json(rows, missed, counter.name), indent=1)
    if arguments.json == "-":
        print(figures)
    else:
        print(f"tokens by {counter.name}; figures are inferred, not measured on a model")
        print("\n".join(evals.table(rows)))
        for miss in missed if arguments.verbose else ():
            print(f"missed {miss.needs}: {miss.file}: {miss.query!r}: {miss.wanted}")
    if arguments.json and arguments.json != "-":
        Path(arguments.json).write_text(figures + "\n", encoding="utf-8")
    return 0 if all(row.exact for row in rows) else 1
