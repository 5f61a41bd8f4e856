"""Commands about what a store holds beside records: typed objects, and bundles of everything.

JSON in, JSON out, one object a line. A bundle goes to stdout or comes from stdin as it is; progress goes to stderr
where that is a terminal.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from caveman_wasm.errors import InputTooLarge, InvalidArguments
from caveman_wasm.model import MAX_PAYLOAD

if TYPE_CHECKING:
    from caveman_wasm.store.base import Store
    from caveman_wasm.store.bundle import Counts

__all__ = ["add_store_commands"]

_Commands = argparse._SubParsersAction  # the type that add_subparsers returns has no public name


def add_store_commands(commands: _Commands[argparse.ArgumentParser]) -> None:
    """Add ``objects``, ``export`` and ``import`` to a command line."""
    what = "typed working-memory objects, as JSON"
    objects = commands.add_parser("objects", help=what, description=what).add_subparsers(required=True, metavar="DO")
    _add(objects, "put", _put, "store the JSON object on stdin; prints it as stored")
    _add(objects, "get", _get, "print one object").add_argument("id", metavar="ID")
    listing = _add(objects, "list", _list, "print a session's objects, newest first, one a line")
    listing.add_argument("session", metavar="SESSION")
    listing.add_argument("--limit", type=int, default=100, help="how many at most (100)")
    listing.add_argument("--decision", metavar="ID", help="only the newest task decision of this decision_id")
    setting = _add(objects, "set", _set, "change what an object's state is; prints it as it is then")
    setting.add_argument("id", metavar="ID")
    setting.add_argument("--currentness", help="current, stale or archived")
    setting.add_argument("--lifecycle", help="hot, warm, cold or archived")
    export = _add(commands, "export", _export, "write a bundle to stdout: of everything, of some, or of a session")
    export.add_argument("handles", nargs="*", metavar="HANDLE", help="records and objects; none: all there are")
    export.add_argument("--session", metavar="S", help="its objects and what they depend on")
    _add(commands, "import", _import, "put what the bundle on stdin holds")


def _add(
    commands: _Commands[argparse.ArgumentParser], name: str, command: Callable[[argparse.Namespace], int], what: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=what, description=what)
    parser.set_defaults(command=command)
    return parser


def _store() -> Store:
    from caveman_wasm.store import open_store

    return open_store()


# ---------------------------------------------------------------- objects


def _put(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.object_json import from_json, to_json

    obj = from_json(_json_on_stdin())
    with _store() as store:
        _print(to_json(store.put_object(obj)))
    return 0


def _json_on_stdin() -> Any:
    from caveman_wasm.store.checks import DEEPEST, nesting

    most = 6 * MAX_PAYLOAD  # JSON may spell one byte of data in six
    written = sys.stdin.buffer.read(most + 1)
    if len(written) > most:
        raise InputTooLarge(f"an object's data has {MAX_PAYLOAD} bytes at most; nothing was stored")
    try:
        if nesting(written) <= DEEPEST:
            return json.loads(written)
    except ValueError:
        pass
    raise InvalidArguments("stdin holds no JSON object; nothing was stored")


def _get(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.object_json import to_json

    with _store() as store:
        _print(to_json(store.get_object(arguments.id)))
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.object_json import to_json

    with _store() as store:
        if arguments.decision is not None:
            _print(to_json(store.task_decision(arguments.session, arguments.decision)))
            return 0
        for obj in store.objects(arguments.session, arguments.limit):
            _print(to_json(obj))
    return 0


def _set(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.object_json import to_json

    if arguments.currentness is None and arguments.lifecycle is None:
        print("objects set takes --currentness, --lifecycle, or both", file=sys.stderr)
        return 2
    with _store() as store:
        if arguments.currentness is not None:
            store.set_currentness(arguments.id, arguments.currentness)
        if arguments.lifecycle is not None:
            store.set_lifecycle(arguments.id, arguments.lifecycle)
        _print(to_json(store.get_object(arguments.id)))
    return 0


def _print(said: dict[str, Any]) -> None:
    print(json.dumps(said))


# ---------------------------------------------------------------- bundles


def _export(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.bundle import export_bundle

    if sys.stdout.isatty() or (arguments.handles and arguments.session is not None):
        print("export takes handles or --session, and writes to a file: caveman-engine export > FILE", file=sys.stderr)
        return 2
    with _store() as store, _Shown("written") as shown:
        counts = export_bundle(
            store, sys.stdout.buffer, arguments.handles or None, arguments.session, progress=shown.progress
        )
    _report(counts)
    return 0


def _import(arguments: argparse.Namespace) -> int:
    from caveman_wasm.store.bundle import import_bundle

    if sys.stdin.isatty():
        print("import reads a file: caveman-engine import < FILE", file=sys.stderr)
        return 2
    with _store() as store, _Shown("read") as shown:
        counts = import_bundle(store, sys.stdin.buffer, progress=shown.progress)
    print(f"{counts.records} records and {counts.objects} objects imported, {counts.known} of them were here already")
    return 0


def _report(counts: Counts) -> None:
    said = {"records": counts.records, "objects": counts.objects, "bytes": counts.bytes}
    sys.stderr.write(json.dumps(said) + "\n")


class _Shown:
    """A line on the terminal that says how far it is, at every whole megabyte; nothing where stderr is no terminal."""

    def __init__(self, done: str) -> None:
        self.done = done
        self.megabytes = -1
        self.told = False

    @property
    def progress(self) -> Callable[[Counts], None] | None:
        """What export and import call, or None."""
        return self._tell if sys.stderr.isatty() else None

    def _tell(self, counts: Counts) -> None:
        if counts.bytes // 1_000_000 > self.megabytes:
            self.megabytes, self.told = counts.bytes // 1_000_000, True
            items = counts.records + counts.objects
            sys.stderr.write(f"\r{items:,} items, {self.megabytes:,} MB {self.done}")
            sys.stderr.flush()

    def __enter__(self) -> _Shown:
        return self

    def __exit__(self, *_: object) -> None:
        if self.told:
            sys.stderr.write("\n")
