"""Searches and listings: hits by file, entries by directory, everything that goes counted."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpus.made_search_result import PARTS, context, grep, listing
from fact_checker import Token, check
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import Shortened, _rebuilt, cut, seconds, shorten, within

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.search_result import SEARCH_RESULT
from caveman_wasm.model import Document, Group, plain, source
from caveman_wasm.narrow import narrow

TYPES = {"d": "directory", "l": "link", "-": "file"}


class Listed:
    """A file's hits (``path:12:text``) or a listing's entry, read by code of its own."""

    def __init__(self, text: str, noun: str) -> None:
        self.text, self.found = text, dict[str, str]()
        first = text.split("\n")[0].rstrip("\r")
        if noun == "directories":
            self.found["path"] = first.removesuffix(":") if first.endswith(":") else first.rpartition("/")[0]
            entries = [x for x in text.splitlines() if x.strip() and not x.startswith("total ") and not x.endswith(":")]
            self.found["entries"] = str(len(entries))
            return
        path = re.match(r"(.*?)(?::\d+:|-\d+-|$)", first)
        assert path is not None
        found = path[1]
        if noun == "files":
            self.found["hits"] = str(sum(bool(re.match(r"[^:]+:\d+:", x)) for x in text.splitlines()))
        row = first.split(None, 7)
        if len(row) == 8 and row[0][0] in "dl-" and len(row[0]) == 10:
            found = row[7]
            self.found |= {"type": TYPES[row[0][0]], "owner": row[2], "size": row[4], "modified": f"{row[5]} {row[6]}"}
        folder, _, name = found.rpartition("/")
        self.found |= {
            "name": name,
            "path": found,
            "dir": folder or ".",
            "folder": folder.rpartition("/")[2],
            "top": "/".join(found.split("/")[:2]),
        }
        if "." in name[1:]:
            self.found["ext"] = "." + name.rpartition(".")[2]

    def values(self, name: str) -> list[Token]:
        return [Token("word", self.found[name])] if name in self.found else []

    def fails(self) -> bool:
        return False

    def may_fail_as(self, label: str) -> bool:
        return label in self.text


def checked(made: Shortened) -> Shortened:
    """What stays are slices, what went is counted, and each fact about files, directories and entries is true."""
    written = [made.text[m.start : m.stop] for m in made.markers]
    assert made.text == _rebuilt(made, written)
    for marker, run in zip(made.markers, sorted(made.runs, key=lambda r: r.group.starts[r.pieces[0][0]]), strict=True):
        assert str(marker.count) in made.text[marker.start : marker.stop]
        if marker.noun in ("files", "entries", "directories"):
            texts = [plain(made.document.text[run.group.starts[i] : run.group.stops[i]]) for i in run.indices()]
            size = run.group.stops[run.pieces[0][1] - 1] - run.group.starts[run.pieces[0][0]]
            assert not check(marker.facts, [Listed(t, marker.noun) for t in texts], size)
    return made


def shortened(payload: str, **options: object) -> Shortened:
    return checked(shorten(SEARCH_RESULT, payload, **options))  # type: ignore[arg-type]


def document(payload: str) -> Document:
    made = cut(SEARCH_RESULT, payload)
    assert made is not None
    return made


def leaves(text: str, groups: list[Group]) -> Iterator[str]:
    for group in groups:
        for i, (a, b) in enumerate(zip(group.starts, group.stops, strict=True)):
            if i in group.children:
                yield text[a : group.children[i][0].starts[0]].rstrip("\n-")
                yield from leaves(text, group.children[i])
            else:
                yield text[a:b]


def units(payload: str) -> list[str]:
    made = document(payload)
    return list(leaves(made.text, made.groups))


GREP = "\n".join(grep(600)) + "\n"
PATHS = [f"./src/{part}/mod_{i}.{'md' if i % 9 == 0 else 'py'}" for part in PARTS for i in range(40)]


# ---------------------------------------------------------------- what is a unit


def test_hits_are_grouped_by_file() -> None:
    made = document("a.py:1:x\na.py:9:y\nb/c.py:3:z\na.py:12:w\n")
    (files,) = made.groups
    assert files.noun == "files"
    assert [made.text[a:b] for a, b in zip(files.starts, files.stops, strict=True)] == [
        "a.py:1:x\na.py:9:y", "b/c.py:3:z", "a.py:12:w",
    ]  # fmt: skip


def test_context_lines_stay_with_their_hit() -> None:
    blocks = [
        "a-1.py-8-b\na-1.py:9:hit\na-1.py-10-c",
        "a-1.py-20-\na-1.py:21:hit\na-1.py:22:hit\na-1.py-23-",
        "b.py:1:x\nb.py-2-y",
    ]
    assert units("\n--\n".join(blocks)) == blocks


def test_headings_and_context_of_ripgrep_too() -> None:
    payload = "a.py\n3-before\n4:hit\n5-after\n--\n9:hit\n\nb.py\n1:hit\n7:hit\n"
    assert units(payload) == ["a.py\n3-before\n4:hit\n5-after", "9:hit", "b.py\n1:hit", "7:hit"]


def test_hits_of_one_file_and_hits_without_numbers() -> None:
    assert units("3:a\n4:b\n9:c\n") == ["3:a", "4:b", "9:c"]
    assert units("src/a.py:x = 1\nsrc/a.py:y: 2\nsrc/b.py:z\n") == ["src/a.py:x = 1", "src/a.py:y: 2", "src/b.py:z"]


def test_a_hit_that_looks_like_context_is_a_hit() -> None:
    lines = [f"web/x.js:{i}:  a-{i}-b: {i}:{i}" for i in range(1, 9)]
    assert units("\n".join(lines)) == lines


def test_a_listing_is_cut_by_directory_under_its_heading() -> None:
    made = document(listing())
    (directories,) = made.groups
    assert (directories.noun, len(directories)) == ("directories", 8)
    assert [len(directories.children[i][0]) for i in range(8)] == [19, 19, 19, 19, 19, 19, 20, 19]


def test_one_file_a_directory_is_no_reason_for_a_group_each() -> None:
    made = document("\n".join(f"./pack/p{i}/index.js" for i in range(200)))
    assert [(g.noun, len(g)) for g in made.groups] == [("entries", 200)]


@pytest.mark.skipif(shutil.which("find") is None, reason="needs find, ls and grep")
def test_real_commands_are_read(tmp_path: Path) -> None:
    for name in PATHS[:120]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\ntwo = charge(1)\nthree\n" * 3)
    commands = ["find .", "find . -ls", "ls -R", "ls -lR", "ls -la src/api", "grep -rn charge .",
                "grep -rnC1 charge .", "grep -rH charge .", "grep -rc charge .", "grep -rl charge .", "du -a", "find . -print0"]  # fmt: skip
    for command in commands:
        out = subprocess.run(command.split(), cwd=tmp_path, capture_output=True, check=True, timeout=30).stdout
        result = Engine(open_memory()).compress(out, content_type="search-result")
        assert result.markers, command
        assert result.ratio > 0.3, command


# ---------------------------------------------------------------- what stays, what is said


def test_hits_from_188_files_are_counted_by_file() -> None:
    lines = [
        f"src/{PARTS[i % 8]}/mod_{i}.py:{10 + k}:    charge(order_{i}_{k})"
        for i in range(188)
        for k in range(1 + i % 4)
    ]
    made = shortened("\n".join(lines))
    shown = {x.split(":")[0] for x in made.text.splitlines() if x in lines}
    gone = sum(m.count for m in made.markers if m.noun == "files")
    assert len(shown) + gone == 188
    hits = sum(m.count for m in made.markers if m.noun == "hits") + sum(x in lines for x in made.text.splitlines())
    hits += sum(int(n) for m in made.markers for f in m.facts for n in re.findall(r"sum hits=(\d+)", f))
    assert hits == len(lines) or any(m.noun == "files" and "sum hits" not in str(m.facts) for m in made.markers)
    assert len(made.text) < 0.5 * len("\n".join(lines))


def test_a_file_that_stays_shows_its_first_hit_and_counts_the_others() -> None:
    lines = [
        f"src/{name}.py:{i * 7}:    value = charge(order_{name}_{i}, retry=True)"
        for name in "abc"
        for i in range(1, 200)
    ]
    made = shortened("\n".join(lines))
    for name in "abc":
        assert f"src/{name}.py:7:" in made.text
    assert {m.noun for m in made.markers} == {"hits"}


def test_the_hit_that_defines_is_the_best_of_its_file() -> None:
    lines = [f"src/x.py:{i}:    total += charge(order_{i}, retry=True)" for i in range(1, 300)]
    lines[200] = "src/x.py:201:def charge(order, retry):"
    assert lines[200] in shortened("\n".join([*lines, *grep(90)])).text


def test_what_defines_is_named_where_all_hits_do() -> None:
    made = shortened(
        "".join(
            f"{i * 9}:    def step_{i}(self, queue, retries, timeout, callback, priority) -> None:\n" for i in range(90)
        )
    )
    assert any(f.startswith("name: step_") for m in made.markers for f in m.facts)


def test_extensions_of_what_went_are_enumerated() -> None:
    made = shortened("\n".join(PATHS))
    assert any(re.search(r"ext: \.py×\d+ \.md×\d+", f) for m in made.markers for f in m.facts)
    assert len(made.text) < 0.5 * len("\n".join(PATHS))


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    made = shortened(
        "\n".join(f"./apps/storefront/client/node_modules/pack-{i * 7919 % 1000}x/package.json" for i in range(200))
    )
    assert all(f"pack-{i * 7919 % 1000}x" in made.text for i in range(200))
    assert any("name=package.json" in f for m in made.markers for f in m.facts)


def test_directories_are_named_whether_they_stay_or_go() -> None:
    payload = "\n".join(f"./lib/dir_{d}/file_{i}.py" for d in range(300) for i in range(9))
    made = shortened(payload)
    named = set(re.findall(r"dir_\d+", made.text))
    gone = sum(m.count for m in made.markers if m.noun == "directories")
    assert len(named) >= 100 or gone + len(named) == 300
    entries = sum(int(n) for m in made.markers for f in m.facts for n in re.findall(r"sum entries=(\d+)", f))
    assert entries == 9 * gone or gone == 0


def test_the_largest_file_of_a_listing_stays() -> None:
    assert "99999999 2026-03-09 23:59 dump.bin" in shortened("\n".join([listing()] * 3)).text


def test_sizes_and_owners_are_facts() -> None:
    rows = "".join(f"-rw-r--r-- 1 ada engineering {700 + i * 13} 2026-03-01 10:00 mod_{i}.py\n" for i in range(200))
    said = "; ".join(f for m in shortened("total 900\n" + rows).markers for f in m.facts)
    assert "owner=ada" in said
    assert "sum size=" in said
    assert "name: mod_" in said


def test_errors_of_the_search_stay() -> None:
    payload = GREP + "grep: src/secret: Permission denied\n" + GREP.replace("src/", "src/lib_")
    assert "grep: src/secret: Permission denied" in shortened(payload).text


def test_a_list_parted_by_nul_stays_one() -> None:
    payload = "\0".join(PATHS) + "\0"
    made = shortened(payload)
    parts = made.text.split("\0")
    assert [p for p in parts if p in PATHS]
    assert all(p in PATHS or p.startswith(("\xe2\x80\xa6 ", "[caveman: ")) for p in parts)
    assert parts[-1].startswith("[caveman: ")
    engine = Engine(open_memory())
    result = engine.compress(payload, content_type="search-result")
    assert engine.compress(result.output).reason == "already_compressed"


def test_a_tree_keeps_its_total_and_counts_what_hangs_below() -> None:
    lines = ["src"]
    for part in PARTS:
        lines.append(f"├── {part}")
        lines += [f"│   ├── mod_{i}_of_{part}.py" for i in range(60)]
    payload = "\n".join([*lines, "└── end.py", "", "8 directories, 481 files"]) + "\n"
    made = shorten(SEARCH_RESULT, payload)
    text = plain(made.text)
    assert "8 directories, 481 files" in text
    assert all(f"├── {part}" in text for part in PARTS)
    assert "all name" not in text
    assert any("ext=.py" in f for m in made.markers for f in m.facts)
    assert len(made.text) < 0.5 * len(payload.encode())


WEB = [
    "\n".join(
        f"{i}. Result about queues {i}\n   URL: https://example.org/{i}\n   {'Some snippet words. ' * 20}\n"
        for i in range(1, 21)
    ),
    "\n\n".join(
        f"Result about queues {i}\nhttps://example.org/{i}\n{'Some snippet words. ' * 20}" for i in range(1, 21)
    ),
]


@pytest.mark.parametrize("payload", WEB)
def test_web_hits_keep_titles_and_addresses(payload: str) -> None:
    made = shorten(SEARCH_RESULT, payload)
    for i in range(1, 21):
        assert f"Result about queues {i}\n" in made.text
        assert f"https://example.org/{i}\n" in made.text
    assert len(made.text) < 0.55 * len(payload)


# ---------------------------------------------------------------- the shared promises


def test_the_query_s_hit_stays() -> None:
    assert "order_397," not in shortened(GREP).text
    assert "order_397," in shortened(GREP, query="order_397").text


def test_a_larger_ceiling_never_shows_less() -> None:
    for payload in (GREP, "\n".join([listing()] * 2)):
        shown = 0
        for ceiling in (150, 300, 600, 1200):
            result = Engine(open_memory()).compress(payload, max_tokens=ceiling)
            assert result.tokens_after <= ceiling or result.reason == "over_budget"
            lines = len([x for x in result.text.splitlines() if x in payload])
            assert lines >= shown
            shown = lines


def test_a_question_is_answered_by_its_hit() -> None:
    found = narrow(document(GREP), "order_397", "the end")
    assert found is not None
    assert "order_397," in found[0]
    assert len(found[0]) < 0.3 * len(GREP)


def test_a_small_search_stays_whole() -> None:
    made = shortened("\n".join(grep(9)) + "\n")
    assert not made.markers


def test_what_is_neither_is_not_parsed() -> None:
    prose = "This is a sentence of some length that ends here.\nAnd here is another one, with commas, after it.\n"
    for text in ("", "\n" * 40, prose * 9, "{" * 50, "a = 1\nb = call(2)\n" * 9):
        assert SEARCH_RESULT.split(text) is None


LINES = st.sampled_from(
    [b"a.py:1:x", b"a.py:2:y = 3", b"a.py-3-z", b"--", b"", b"b/c.py:9:w", b"12:t", b"13-u", b"a/b/c.txt", b"d/e.py", b"src:",
     b"total 4", b"-rw-r--r-- 1 a b 12 Dec  1 04:48 f.py", b"drwxr-xr-x 2 a b 4096 2026-01-01 10:00 g", b"Binary file x matches",
     b"grep: x: Permission denied", b"\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 x", b"|   |-- y.py", b"1. Title", b"https://a.b/c",
     b"\xff\x00\xfe", b"100644 blob 0123456789\tq.py", b"4.0K\t./z", b"x" * 200, b"\r", b"a.py:1:" + b"long " * 60]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    st.lists(LINES, max_size=60),
    st.lists(LINES, max_size=2).map(lambda lines: lines * 15),
    st.sampled_from([b"\n", b"\r\n", b"\0"]),
    st.integers(0, 40),
)
def test_any_lines_are_cut_into_slices_or_not_at_all(
    lines: list[bytes], many: list[bytes], newline: bytes, places: int
) -> None:
    payload = newline.join(many + lines)
    made = SEARCH_RESULT.split(source(payload))
    if made is None:
        return
    within(made.groups, 0, len(payload))
    short = shorten(SEARCH_RESULT, payload, places=places)
    assert short.text == _rebuilt(short, [short.text[m.start : m.stop] for m in short.markers])


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_no_reason_to_raise(payload: bytes) -> None:
    SEARCH_RESULT.split(source(payload))


GROWING: dict[str, Callable[[int], str]] = {
    "hits": lambda n: "\n".join(grep(n // 60)),
    "hits with context": lambda n: context(n // 120),
    "paths": lambda n: "".join(f"./a/b{i // 40}/c{i}.txt\n" for i in range(n // 20)),
    "one line of context signs": lambda n: "a.py:1:x\na.py:5:x\n" + "a.py-1-" * (n // 7),
    "lines of context signs": lambda n: "a.py:1:x\n" * 9 + ("a-1-" * 50 + "\n") * (n // 200),
    "one line": lambda n: "a/b\n" + "x/" * (n // 2),
    "empty lines": lambda n: "a/b\nc/d\n" + "\n" * n,
    "names between NULs": lambda n: "a/bcd.x\0" * (n // 8),
    "blanks": lambda n: "a.py:1:x\na.py:2:" + " " * n + "\n",
    "a deep tree": lambda n: "".join("    " * min(i, 200) + "|-- a\n" for i in range(n // 700)),
    "branches without a name": lambda n: ("|   " * (n // 40) + "\n") * 10 + "|-- a\n" * 40,
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    assert seconds(SEARCH_RESULT, make(400_000)) < 12 * seconds(SEARCH_RESULT, make(100_000)) + 0.3
