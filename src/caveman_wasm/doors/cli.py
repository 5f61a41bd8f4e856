"""The command line: ``caveman-engine`` and ``caveman``. Translates arguments to engine calls, nothing else.

Where there is a payload, stdout carries its bytes only and the report is one JSON line on stderr. Other commands
print text for people, ``--json`` for programs. Exit status: 0, also for a safe pass-through; 1 when a reference,
the store or the payload is at fault, with ``{"error": code, "message", "reference"}`` on stderr; 2 for wrong use.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from caveman_wasm.doors.cli_judge import add_judging_commands
from caveman_wasm.doors.cli_store import add_store_commands
from caveman_wasm.errors import CavemanError, InputTooLarge
from caveman_wasm.model import MAX_PAYLOAD, Result

if TYPE_CHECKING:
    from caveman_wasm.engine import Engine
    from caveman_wasm.store.base import Store
    from caveman_wasm.tools import ToolAnswer

__all__ = ["caveman_main", "engine_main"]


def engine_main(argv: Sequence[str] | None = None) -> int:
    """``caveman-engine``: the engine's commands. Returns the exit status."""
    return _run(_engine_parser(), argv)


def caveman_main(argv: Sequence[str] | None = None) -> int:
    """``caveman``: ``caveman tools …`` and ``caveman mcp`` for agents. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="caveman", description="Tools for agents.")
    groups = parser.add_subparsers(required=True, metavar="tools|mcp")
    tools = groups.add_parser("tools", help="the tools an agent may call")
    _add_mcp(groups)
    commands = tools.add_subparsers(required=True, metavar="TOOL")
    retrieve = _add_tool(commands, "retrieve")
    retrieve.add_argument("reference", metavar="REF")
    retrieve.add_argument("query", nargs="*", metavar="QUERY")
    _add_options(_add_tool(commands, "compress"))
    _add_tool(commands, "stats")
    _add_doctor(commands)
    return _run(parser, argv)


def _run(parser: argparse.ArgumentParser, argv: Sequence[str] | None) -> int:
    arguments = parser.parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        status = command(arguments)
        sys.stdout.flush()
    except CavemanError as error:
        _say({"error": error.code, "message": str(error), "reference": error.reference})
        return 1
    except BrokenPipeError:  # the reader has gone; Python would complain again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _engine_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="caveman-engine",
        description="Shortens tool output and gives the exact original back.",
        epilog="The store is ccr.db in the folder CAVEMAN_HOME or ~/.caveman.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_compress(commands)
    _add_retrieve(commands)
    simulate = _add(commands, "simulate", _simulate, "what compress would save; stores and changes nothing (stdin)")
    _add_options(simulate)
    _add(commands, "detect", _detect, "the content type of stdin")
    _add_stats(commands)
    listing = _add(commands, "list", _list, "the records held, what they are and their sizes", json_too=True)
    listing.add_argument("--after", default="", metavar="HANDLE", help="begin after this handle")
    listing.add_argument("--limit", type=int, default=100, help="how many at most (100)")
    listing.add_argument(
        "--sort",
        default="handle",
        choices=("handle", "newest", "largest", "type"),
        help="the first in this order; --after goes with handle alone",
    )
    forget = _add(commands, "forget", _forget, "delete records for good; their handles then answer cave_forgotten")
    forget.add_argument("handles", nargs="*", metavar="HANDLE")
    forget.add_argument("--before", metavar="TIME", help="all written before this time (RFC 3339, UTC)")
    forget.add_argument("--all", action="store_true", help="all there are")
    forget.add_argument("--yes", action="store_true", help="do not ask")
    _add_doctor(commands)
    toon = commands.add_parser("toon", help="JSON on stdin as TOON, and back").add_subparsers(
        required=True, metavar="encode|decode"
    )
    for name in ("encode", "decode"):
        _add_tool(toon, name, f"caveman_toon_{name}")
    add_store_commands(commands)
    add_judging_commands(commands)
    return parser


_Commands = argparse._SubParsersAction  # the type that add_subparsers returns has no public name


def _add(
    commands: _Commands[argparse.ArgumentParser],
    name: str,
    command: Callable[[argparse.Namespace], int],
    what: str,
    *,
    json_too: bool = False,
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=what, description=what)
    parser.set_defaults(command=command)
    if json_too:
        parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _add_tool(commands: _Commands[argparse.ArgumentParser], name: str, tool_name: str = "") -> argparse.ArgumentParser:
    from caveman_wasm.tools import TOOLS

    tool = TOOLS[tool_name or f"caveman_{name}"]
    does = _rewrite_by_tool if tool_name else _shorten_by_tool if name == "compress" else _call
    parser = commands.add_parser(name, help=tool.title, description=tool.description)
    parser.set_defaults(command=does, tool=tool.name)
    return parser


def _add_compress(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "compress", _compress, "shorten stdin; the report goes to stderr")
    _add_options(parser)
    parser.add_argument("--mode", default="compress", help="compress, or record: change and store nothing")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--type", metavar="T", help="force this content type")
    parser.add_argument("--query", default="", metavar="Q", help="keep what answers this")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="ceiling on the result")


def _add_retrieve(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "retrieve", _retrieve, "the exact original, or the part of it that answers QUERY")
    parser.add_argument("reference", metavar="REF")
    parser.add_argument("query", nargs="*", metavar="QUERY")
    parser.add_argument("--explain", action="store_true", help="with QUERY: why each unit is shown, as JSON on stderr")


def _add_stats(commands: _Commands[argparse.ArgumentParser]) -> None:
    _add(commands, "stats", _stats, "what the store holds", json_too=True)


def _add_mcp(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "mcp", _mcp, "serve the tools by MCP, on stdin and stdout unless told otherwise")
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP, for this machine alone")
    parser.add_argument("--port", type=int, metavar="N", help="with --http: the port (8377); 0 takes a free one")


def _add_doctor(commands: _Commands[argparse.ArgumentParser]) -> None:
    parser = _add(commands, "doctor", _doctor, "check the store, changing nothing; exit 1 when something is wrong")
    parser.add_argument("handle", nargs="?", metavar="HANDLE", help="also say where this reference stands")
    parser.add_argument("--json", action="store_true", help="print JSON")


# ---------------------------------------------------------------- commands


def _compress(arguments: argparse.Namespace) -> int:
    def shorten(engine: Engine, payload: bytes) -> tuple[bytes, Mapping[str, object]]:
        result = engine.compress(payload, mode=arguments.mode, **_options(arguments))
        return result.output, _report(result)

    return _shorten(shorten)


def _shorten_by_tool(arguments: argparse.Namespace) -> int:
    def shorten(engine: Engine, payload: bytes) -> tuple[bytes, Mapping[str, object]]:
        options = _options(arguments)
        given = {"input": payload, "type": options.pop("content_type"), **options}
        answer = _answer(engine, arguments.tool, given)
        return answer.output, answer.report or {}

    return _shorten(shorten)


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"content_type": arguments.type, "query": arguments.query, "max_tokens": arguments.max_tokens}


def _shorten(shorten: Callable[[Engine, bytes], tuple[bytes, Mapping[str, object]]]) -> int:
    """stdin to stdout through ``shorten``. Whatever fails, whoever is downstream gets the payload."""
    payload = _stdin()
    if payload is None:
        return 0
    try:
        store = _store()
    except CavemanError as error:
        sys.stdout.buffer.write(payload)
        _say({**_report(_without_store(payload, error.code)), "message": str(error)})
        return 0
    from caveman_wasm.tools import warning

    with store:
        try:
            output, report = shorten(_engine(store), payload)
        except CavemanError:  # a bad option
            sys.stdout.buffer.write(payload)
            raise
        sys.stdout.buffer.write(output)
        _say({**report, **warning(store)})
    return 0


def _rewrite_by_tool(arguments: argparse.Namespace) -> int:
    """stdin to stdout by a tool that needs no store; what it refuses goes nowhere."""
    payload = sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    sys.stdout.buffer.write(_answer(_engine(None), arguments.tool, {"input": payload}).output)
    return 0


def _call(arguments: argparse.Namespace) -> int:
    """A tool that only reads. What it says beside its answer goes to stderr."""
    given = {"reference": arguments.reference, "query": " ".join(arguments.query)} if "reference" in arguments else {}
    with _store() as store:
        answer = _answer(_engine(store), arguments.tool, given)
        sys.stdout.buffer.write(answer.output)
    for note in answer.notes:
        sys.stderr.write(f"{note}\n")
    return 0


def _answer(engine: Engine, tool: str, given: dict[str, Any]) -> ToolAnswer:
    """The tool's answer; its error as the exception that `_run` reports."""
    from caveman_wasm.tools import StormGuard, call

    answer = call(engine, StormGuard(), tool, given)
    if answer.error:
        error = CavemanError(answer.text, reference=answer.reference)
        error.code = answer.error
        raise error
    return answer


def _simulate(arguments: argparse.Namespace) -> int:
    payload = _stdin()
    if payload is None:
        return 0
    result = _engine(None).simulate(payload, **_options(arguments))
    sys.stdout.buffer.write(result.output)
    _say(_report(result))
    return 0


def _retrieve(arguments: argparse.Namespace) -> int:
    with _store() as store:
        engine = _engine(store)
        found = engine.retrieve_query(arguments.reference, " ".join(arguments.query), explain=True)
        sys.stdout.buffer.write(found.output)
    if arguments.explain:
        _say({"whole": not found.units, "units": [asdict(unit) for unit in found.units]})
    return 0


def _detect(arguments: argparse.Namespace) -> int:
    data = sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    print(_engine(None).detect(data))
    return 0


def _stats(arguments: argparse.Namespace) -> int:
    with _store() as store:
        stats = store.stats()
    if arguments.json:
        from caveman_wasm.tools import stats_answer

        print(stats_answer(stats).output.decode())
        return 0
    room = f"{stats.storage_bytes:,} of {stats.max_storage_bytes:,} bytes"
    print(f"{stats.records} records and {stats.objects} objects, {room}")
    saved = f"{stats.ratio:.0%} less; counts are {stats.basis}"
    print(f"{stats.tokens_before:,} tokens became {stats.tokens_after:,} ({saved})")
    if stats.refused:
        print(f"the budget was hit {stats.refused} times, last at {stats.refused_at}")
    if stats.nearly_full:
        print("The store is nearly full: `caveman-engine list`, then `caveman-engine forget` what is no longer needed.")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    with _store() as store:
        for info in store.records(arguments.after, arguments.limit, arguments.sort):
            if arguments.json:
                print(json.dumps({name: getattr(info, name) for name in info.__slots__}))
            else:
                print(
                    f"{info.handle}  {info.created_at[:19]}Z  {info.content_type:<12} {info.original_bytes:>12,} bytes"
                )
    return 0


def _forget(arguments: argparse.Namespace) -> int:
    named = sum((bool(arguments.handles), arguments.before is not None, arguments.all))
    if named != 1:
        print("forget takes either handles, or --before TIME, or --all", file=sys.stderr)
        return 2
    with _store() as store:
        if not arguments.yes and not _agreed(_named(arguments, store)):
            print("Nothing was deleted; say --yes to delete without being asked.", file=sys.stderr)
            return 1
        count = store.forget(arguments.handles or None, before=arguments.before, everything=arguments.all)
    print(f"{count} records deleted")
    return 0


def _mcp(arguments: argparse.Namespace) -> int:
    from caveman_wasm.doors.mcp_server import DEFAULT_PORT, serve_http, serve_stdio

    if arguments.port is not None and not arguments.http:
        print("--port goes with --http", file=sys.stderr)
        return 2
    with _store() as store:
        if arguments.http:
            serve_http(_engine(store, long_lived=True), DEFAULT_PORT if arguments.port is None else arguments.port)
        else:
            serve_stdio(_engine(store, long_lived=True))
    return 0


def _doctor(arguments: argparse.Namespace) -> int:
    from caveman_wasm.doors.doctor import examine, shown

    found = examine(arguments.handle)
    print(shown(found, as_json=arguments.json))
    return 0 if all(line.fine for line in found) else 1


def _named(arguments: argparse.Namespace, store: Store) -> str:
    """What is to be deleted, in words."""
    if arguments.handles:
        return f"{len(arguments.handles)} of the {store.stats().records} records"
    if arguments.before is not None:
        return f"all that was written before {arguments.before}"
    stats = store.stats()
    return f"all {stats.records} records and {stats.objects} objects, {stats.storage_bytes:,} bytes,"


def _agreed(what: str) -> bool:
    if not sys.stdin.isatty():
        return False
    question = f"Delete {what} for good? Agents that hold the handles will not get the originals back. [y/N] "
    print(question, end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# ---------------------------------------------------------------- shared


def _stdin() -> bytes | None:
    """All of stdin; what is over the limit goes through untouched, with its code, and None comes back."""
    payload = sys.stdin.buffer.read(MAX_PAYLOAD + 1)
    if len(payload) <= MAX_PAYLOAD:
        return payload
    sys.stdout.buffer.write(payload)
    shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)
    message = f"The payload is over {MAX_PAYLOAD} bytes; it went through as it was."
    _say({"error": InputTooLarge.code, "message": message, "recovery_handle": None, "ratio": 0.0})
    return None


def _store() -> Store:
    from caveman_wasm.store import open_store

    return open_store()


def _engine(store: Store | None, *, long_lived: bool = False) -> Engine:
    from caveman_wasm.engine import Engine
    from caveman_wasm.tokens import default_counter

    return Engine(store, counter=default_counter(long_lived=long_lived))


def _without_store(payload: bytes, code: str) -> Result:
    return Result(payload, "", "unknown", "none", 0, 0, "none", reason="store_failed", error=code)


def _report(result: Result) -> dict[str, object]:
    from caveman_wasm.tools import report

    return report(result)


def _say(report: dict[str, object]) -> None:
    sys.stderr.write(json.dumps(report) + "\n")
