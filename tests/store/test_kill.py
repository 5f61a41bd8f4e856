"""Writers killed at any moment: whatever they had said they stored is there and exact, and the file is sound.

Each round forks two writers (no interpreter to start: rounds are short, so that there can be hundreds), kills both
after a random while, in putting, updating, forgetting, opening, checkpointing or giving room back, and checks the file.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from test_sqlite import kept, recount

from caveman_wasm.errors import Forgotten
from caveman_wasm.model import Recovery, TypedObject
from caveman_wasm.references import handle
from caveman_wasm.store import open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")


def work(path: Path, seed: int, say: int) -> None:
    """Puts for ever; says ``+ handle`` when a put has returned, ``- handle`` before it forgets."""
    chance, mine = random.Random(seed), []
    while True:
        with open_store(path) as store:
            for _ in range(chance.randrange(1, 30)):
                large = chance.random() < 0.04
                payload = b"%d " % seed + chance.randbytes(4_300_000 if large else int(1024 * 300 ** chance.random()))
                mine.append(store.put(Recovery("log", "log", 9, 3, payload, b"m")))
                os.write(say, f"+ {mine[-1]}\n".encode())
                store.put(Recovery("log", "log", 8, 2, payload, b"changed"))
                obj = store.put_object(TypedObject("TestResult", "s", chance.randbytes(2000)))
                os.write(say, f"+ {obj.object_id}\n".encode())
                if len(mine) > 6 and chance.random() < 0.3:
                    gone = [mine.pop(0) for _ in range(3)]
                    os.write(say, "".join(f"- {name}\n" for name in gone).encode())
                    store.forget(gone)


def start(path: Path, seed: int) -> tuple[int, int]:
    """The writer's process id and the end of the pipe that it speaks into."""
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(hear)
            work(path, seed, say)
        finally:
            os._exit(1)  # it never ends by itself, unless it failed
    os.close(say)
    return child, hear


def heard(hear: int) -> list[str]:
    """All that a dead writer had said; a last line that it did not finish does not count."""
    said = b""
    while piece := os.read(hear, 65536):
        said += piece
    os.close(hear)
    return said.decode().rpartition("\n")[0].splitlines()


def killed_round(path: Path, seed: int, chance: random.Random) -> tuple[list[str], int]:
    """What two writers said before they were killed, and how many had to be."""
    writers = [start(path, 2 * seed + n) for n in range(2)]
    if chance.random() < 0.8:  # the others are killed in opening
        select.select([hear for _, hear in writers], [], [], 30)
    time.sleep(chance.random() * 0.06)
    # A pipe holds what was said; a writer that fills it would only wait.
    for child, _ in writers:
        os.kill(child, signal.SIGKILL)
    ends = [os.waitpid(child, 0)[1] for child, _ in writers]
    assert all(os.WIFSIGNALED(end) for end in ends), "a writer failed before it was killed"
    return [line for _, hear in writers for line in heard(hear)], len(ends)


def check(path: Path, lines: list[str]) -> list[str]:
    """Every handle said is there and exact, or forgotten on demand; the file is sound. Returns those there."""
    maybe_gone = {line[2:] for line in lines if line.startswith("-")}
    there = [line[2:] for line in lines if line.startswith("+")]
    with open_store(path) as store, closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        records, used, before, after = kept(store)
        objects = db.execute("SELECT count(*), coalesce(sum(length(data) + 2), 0) FROM typed_objects").fetchone()
        assert (records, used - objects[1], before, after) == recount(db)
        assert store.stats().objects == objects[0]
        for name in there:
            try:
                if name.startswith("ccr_obj_"):
                    store.get_object(name)
                else:
                    assert handle(store.get(name)) == name
            except Forgotten:
                assert name in maybe_gone
        assert not list(store.damaged())
        if store.stats().storage_bytes > 30_000_000:  # the file stays small, so that checking stays quick
            store.forget(everything=True)
            return []
    return there


def campaign(path: Path, rounds: int, seed: int) -> tuple[int, int]:
    """(kills, handles said)."""
    chance, kills, said = random.Random(seed), 0, 0
    lines: list[str] = []
    for round in range(rounds):
        more, killed = killed_round(path, seed * 1_000_000 + round, chance)
        kills, said = kills + killed, said + sum(line.startswith("+") for line in more)
        lines += more
        if not check(path, lines):
            lines = []
    print(f"{kills} kills survived; of {said} handles that had been said none was lost")
    return kills, said


def test_twenty_writers_are_killed_and_nothing_that_they_had_said_is_lost(tmp_path: Path) -> None:
    kills, said = campaign(tmp_path / "ccr.db", rounds=10, seed=1)
    assert kills == 20
    assert said > 20


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_hundreds_of_writers_are_killed_and_nothing_that_they_had_said_is_lost(tmp_path: Path, seed: int) -> None:
    kills, said = campaign(tmp_path / "ccr.db", rounds=100, seed=seed)
    assert kills == 200
    assert said > 200
