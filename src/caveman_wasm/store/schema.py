# ruff: noqa: S608 - what is put together here are names from the tables below
"""The schema of the SQLite file: the original engine's two tables, ours beside them, and the kept totals.

The totals are kept by triggers, so that they stay right when another program inserts, replaces or deletes rows
with plain SQL.
"""

from __future__ import annotations

from typing import Final

__all__ = ["COUNTS", "SHARED", "STAND_INS", "STEPS", "size"]

SHARED: Final = (
    """CREATE TABLE IF NOT EXISTS recoveries (
        handle TEXT PRIMARY KEY NOT NULL, created_at TEXT NOT NULL,
        content_type TEXT NOT NULL, compressor TEXT NOT NULL,
        tokens_before INTEGER NOT NULL, tokens_after INTEGER NOT NULL, original BLOB NOT NULL, metadata BLOB)""",
    """CREATE TABLE IF NOT EXISTS typed_objects (
        object_id TEXT PRIMARY KEY NOT NULL, object_type TEXT NOT NULL,
        content_hash TEXT NOT NULL, source TEXT NOT NULL, created_at TEXT NOT NULL,
        repository_state TEXT NOT NULL, session_id TEXT NOT NULL,
        transform_version TEXT NOT NULL, currentness TEXT NOT NULL, lifecycle TEXT NOT NULL,
        dependencies_json TEXT NOT NULL, original_byte_length INTEGER NOT NULL, stored_byte_length INTEGER NOT NULL,
        data BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS typed_objects_session_created ON typed_objects (session_id, created_at DESC)",
)
_TABLES: Final = (
    "CREATE TABLE caveman_notes (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE caveman_tombstones (id TEXT PRIMARY KEY NOT NULL, forgotten_at TEXT NOT NULL) WITHOUT ROWID",
    # was_…: what the row that is being written held before, or zeros
    """CREATE TABLE caveman_totals (name TEXT PRIMARY KEY NOT NULL,
        n INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
        tokens_before INTEGER NOT NULL DEFAULT 0, tokens_after INTEGER NOT NULL DEFAULT 0,
        was_n INTEGER NOT NULL DEFAULT 0, was_bytes INTEGER NOT NULL DEFAULT 0,
        was_before INTEGER NOT NULL DEFAULT 0, was_after INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID""",
)


def size(column: str) -> str:
    """Bytes of a value, whatever another program wrote. Of a blob they are known without reading it."""
    return f"CASE typeof({column}) WHEN 'blob' THEN length({column}) ELSE length(CAST({column} AS BLOB)) END"


# table: (its key, a row's share of n, bytes, tokens_before, tokens_after); {} is the row
_COUNTED: Final = {
    "recoveries": (
        "handle",
        (
            "1",
            f"({size('{0}.original')} + coalesce({size('{0}.metadata')}, 0))",
            "{0}.tokens_before",
            "{0}.tokens_after",
        ),
    ),
    "typed_objects": (
        "object_id",
        ("1", f"({size('{0}.data')} + {size('{0}.dependencies_json')})", "0", "0"),
    ),
}
_TOTALS: Final = ("n", "bytes", "tokens_before", "tokens_after")
_WAS: Final = ("was_n", "was_bytes", "was_before", "was_after")


def _counting(table: str) -> list[str]:
    """The triggers that keep one table's totals.

    INSERT OR REPLACE fires delete triggers only on connections with recursive_triggers on, which a stranger's is
    not or is. So BEFORE notes what the row in the way holds; a delete trigger, if it fires, counts it off and
    clears the note; AFTER counts off what is still noted. A BEFORE without an AFTER (INSERT OR IGNORE, or an
    upsert) leaves a note that the next BEFORE overwrites. (A conflict clause inside a trigger would be overridden
    by the outer statement's: there is none.)
    """
    key, shares = _COUNTED[table]
    where = f"WHERE name = '{table}'"
    summed = ", ".join(f"coalesce(sum({share.format(table)}), 0)" for share in shares)
    note = f"UPDATE caveman_totals SET ({', '.join(_WAS)}) = (SELECT {summed} FROM {table} WHERE {key} = NEW.{key}"

    def change(terms: str) -> str:
        """Add and subtract what ``terms`` name: {0} is what was noted, {1} and {2} the shares of NEW and OLD."""
        sums = (
            f"{total} = {total} {terms.format(was, share.format('NEW'), share.format('OLD'))}, {was} = 0"
            for total, was, share in zip(_TOTALS, _WAS, shares, strict=True)
        )
        return f"UPDATE caveman_totals SET {', '.join(sums)} {where}"

    body = {
        "BEFORE INSERT": f"{note}) {where}",
        "AFTER INSERT": change("- {0} + {1}"),
        "BEFORE UPDATE": f"{note} AND NEW.{key} IS NOT OLD.{key}) {where}",
        "AFTER UPDATE": change("- {0} + {1} - {2}"),
        "AFTER DELETE": change("- {2}"),
    }
    triggers = (
        f"CREATE TRIGGER caveman_{table}_{when.lower().replace(' ', '_')} {when} ON {table} BEGIN {statements}; END"
        for when, statements in body.items()
    )
    return list(triggers)


def _count(table: str) -> str:
    """The one count that a table's totals start from."""
    summed = ", ".join(f"coalesce(sum({share.format(table)}), 0)" for share in _COUNTED[table][1])
    return f"INSERT INTO caveman_totals (name, {', '.join(_TOTALS)}) SELECT '{table}', {summed} FROM {table}"


COUNTS: Final = tuple(map(_count, _COUNTED))
# What brings a file from each version to the next; after SHARED. A file of version n needs STEPS[n:].
STEPS: Final[tuple[tuple[str, ...], ...]] = (
    (*_TABLES, *COUNTS, *_counting("recoveries"), *_counting("typed_objects")),
)
# The same tables in memory, for a file of the original engine that may only be read; then COUNTS.
STAND_INS: Final = tuple(table.replace("CREATE TABLE", "CREATE TEMP TABLE") for table in _TABLES)
