"""Diffs: one line of context under true headers, long runs by their ends, generated files by count."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from corpus.made_diff import commit, file, fresh, hunk, lock, log
from fact_checker import Token, check
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import Shortened, _rebuilt, cut, seconds, shorten, within

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.diff import DIFF
from caveman_wasm.model import Document, Group, plain, raw, source
from caveman_wasm.narrow import narrow

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class ChangedLine:
    """A line of a diff, read by code of its own."""

    def __init__(self, text: str) -> None:
        first = text[:2] if text[:2] == "@@" else text[:1]
        self.said = {"@@": "hunk", "+": "added", "-": "removed", "\\": "end"}.get(first, "context")

    def values(self, name: str) -> list[Token]:
        return [Token("word", self.said)] if name == "change" else []

    def fails(self) -> bool:
        return False

    def may_fail_as(self, label: str) -> bool:
        return False


class ChangedFile(ChangedLine):
    """A file of a git diff whose lines are not themselves diffs."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        body = lines[next((i for i, x in enumerate(lines) if x.startswith("@@")), len(lines)) :]
        self.found = {
            "file": re.findall(r"^\+\+\+ b/(.*)", text, re.MULTILINE),
            "added": [str(sum(x[:1] == "+" for x in body))],
            "removed": [str(sum(x[:1] == "-" for x in body))],
        }

    def values(self, name: str) -> list[Token]:
        return [Token("word", v) for v in self.found.get(name, ())]


def checked(made: Shortened, *, facts: bool = True) -> Shortened:
    """What stays are slices, what went is counted, and (where the lines are no diffs) each fact is true."""
    written = [made.text[m.start : m.stop] for m in made.markers]
    assert made.text == _rebuilt(made, written)
    for marker, run in zip(made.markers, sorted(made.runs, key=lambda r: r.group.starts[r.pieces[0][0]]), strict=True):
        assert str(marker.count) in made.text[marker.start : marker.stop]
        units = [plain(made.document.text[run.group.starts[i] : run.group.stops[i]]) for i in run.indices()]
        reads = ChangedFile if marker.noun == "files" else ChangedLine
        if facts and marker.noun != "commits":
            size = run.group.stops[run.pieces[0][1] - 1] - run.group.starts[run.pieces[0][0]]
            assert not check(marker.facts, [reads(u) for u in units], size)
    return made


def shortened(payload: str, **options: object) -> Shortened:
    return checked(shorten(DIFF, payload, **options))  # type: ignore[arg-type]


def view_of(payload: str, query: str) -> str:
    document = DIFF.split(source(payload.encode()))
    assert document is not None
    found = narrow(document, query, "the end")
    assert found is not None
    return found[0]


# ---------------------------------------------------------------- one line of context


def rewritten(payload: str) -> str:
    made = DIFF.rewrite(source(payload.encode()))
    return plain(made.text) if made else payload


def test_a_hunk_keeps_one_line_of_context_and_says_so_in_its_header() -> None:
    assert rewritten(file("a.py", 1, "x")).splitlines()[4:] == [
        "@@ -12,3 +12,3 @@ def x_0():",
        " x_0_2 = load(2)",
        "-x_0 = load(0)",
        "+x_0 = retry(load, 0)",
        " x_0_3 = store(3)",
    ]


def test_a_hunk_with_much_between_its_changes_becomes_two() -> None:
    between = [f" line {i} that nobody touched in this change" for i in range(6)]
    lines = ["--- a", "+++ b", "@@ -1,10 +1,9 @@ f()", " a", "-b", *between, "-c", "+d", " e"]
    assert rewritten("\n".join(lines) + "\n").splitlines()[2:] == [
        "@@ -1,3 +1,2 @@ f()", " a", "-b", between[0], "@@ -8,3 +7,3 @@", between[5], "-c", "+d", " e",
    ]  # fmt: skip


def test_counts_of_one_and_of_none_are_written_as_diffs_write_them() -> None:
    assert "@@ -1 +0,0 @@" in rewritten("--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n" + hunk(9, 0, "y", 1))
    assert "@@ -4,0 +5,2 @@" in rewritten("--- a\n+++ b\n@@ -4,0 +5,2 @@\n+x\n+y\n" + hunk(9, 2, "y", 1))


def test_a_hunk_whose_counts_are_wrong_stays_as_it_is() -> None:
    broken = "--- a\n+++ b\n@@ -1,90 +1,90 @@\n a\n b\n c\n-x\n+y\n d\n e\n f\n"
    assert DIFF.rewrite(broken) is None


def test_what_is_in_a_diff_of_a_diff_is_data() -> None:
    inner = file("in.py", 2, "inner")
    outer = "--- /dev/null\n+++ b/fix.patch\n@@ -0,0 +1,{} @@\n{}".format(
        inner.count("\n"), "".join("+" + x + "\n" for x in inner.splitlines())
    )
    assert rewritten(outer) == outer
    document = cut(DIFF, outer + file("out.py", 1, "o"))
    assert document is not None
    assert [u.split("\n")[0] for u in units(document, document.groups[0])] == [
        "--- /dev/null",
        "diff --git a/out.py b/out.py",
    ]


def units(document: Document, group: Group) -> list[str]:
    return [document.text[a:b] for a, b in zip(group.starts, group.stops, strict=True)]


def test_the_way_back_leads_to_the_same_characters() -> None:
    payload = log()
    made = DIFF.rewrite(payload)
    assert made is not None
    for k, (offset, _) in enumerate(zip(made.offsets, made.origins, strict=True)):
        stop = made.offsets[k + 1] if k + 1 < len(made.offsets) else len(made.text)
        if made.text.startswith("@@", offset):
            assert payload.startswith(("@@", " ", "-", "+"), made.back(offset))
        else:
            assert made.text[offset:stop] == payload[made.back(offset) : made.back(stop - 1) + 1]


@pytest.mark.skipif(shutil.which("git") is None or shutil.which("patch") is None, reason="needs git and patch")
@pytest.mark.parametrize("tool", [["git", "apply"], ["git", "apply", "--unidiff-zero"], ["patch", "-p1", "-s", "-i"]])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_shortened_diff_of_whole_hunks_still_applies(tool: list[str], newline: str, tmp_path: Path) -> None:
    old = {f"d/f{k}.txt": [f"line {i} of file {k} with some words" for i in range(80)] for k in range(6)}
    new = {k: list(v) for k, v in old.items()}
    for k, lines in enumerate(new.values()):
        lines[3] = "changed near the top"
        lines[40 + k : 41 + k] = ["one", "two", "three"][: k % 4]
        lines[44 + k] = "changed close to that"
        lines.insert(70, "added")
        if k % 2:
            lines[-1] = "changed at the very end"
            lines.pop(0)
    for name, files in (("a", old), ("b", new)):
        for path, lines in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            end = "" if path.endswith("5.txt") else newline
            (tmp_path / name / path).write_bytes((newline.join(lines) + end).encode())
    made = subprocess.run(
        ["git", "diff", "--no-index", "a", "b"], cwd=tmp_path, capture_output=True, check=False
    ).stdout
    made = made.replace(b"a/a/", b"a/").replace(b"b/b/", b"b/")
    short = checked(shorten(DIFF, made, places=10_000))
    assert not short.markers
    assert len(short.text) < 0.8 * len(made)
    (tmp_path / "short.patch").write_bytes(raw(short.text))
    subprocess.run([*tool, "../short.patch"], cwd=tmp_path / "a", check=True, capture_output=True, timeout=30)
    for path, lines in new.items():
        end = "" if path.endswith("5.txt") else newline
        assert (tmp_path / "a" / path).read_bytes() == (newline.join(lines) + end).encode()


# ---------------------------------------------------------------- what stays


def test_commit_headers_and_messages_stay() -> None:
    made = shortened(log())
    for line in log().splitlines():
        if re.match(r"commit |Author:|Date:|    \w", line):
            assert line in made.text


def test_sixteen_changed_lines_stay_and_of_more_the_first_three_and_last_two() -> None:
    whole = shortened(file("x.py", 6, "x") + fresh("y.py", 16), places=10_000)
    assert fresh("y.py", 16) in whole.text
    made = shortened(file("x.py", 6, "x") + fresh("y.py", 60))
    shown = [x for x in made.text.splitlines() if "step_" in x]
    assert [int(re.findall(r"step_(\d+)", x)[0]) for x in shown] == [0, 1, 2, 58, 59]
    (marker,) = made.markers
    assert (marker.count, marker.noun, marker.facts) == (55, "changed lines", ("all change=added",))


def test_where_lines_give_way_to_others_the_ends_of_both_are_seen() -> None:
    body = "".join(f"-old number {i} of them\n" for i in range(20)) + "".join(
        f"+new number {i} of them\n" for i in range(30)
    )
    made = shortened(f"--- a/x\n+++ b/x\n@@ -1,20 +1,30 @@\n{body}" + file("z.py", 6, "z"))
    shown = [x for x in made.text.splitlines() if " number " in x]
    assert [x.split(" of")[0] for x in shown] == [
        *(f"-old number {i}" for i in (0, 1, 2, 18, 19)), *(f"+new number {i}" for i in (0, 1, 2, 28, 29)),
    ]  # fmt: skip


GENERATED = [
    "package-lock.json", "a/yarn.lock", "Cargo.lock", "go.sum", "pnpm-lock.yaml", "lib/x.min.js", "tests/a.snap",
    "img/a.svg", "dist/index.js", "a/vendor/b.go", "node_modules/x/i.js", "npm-shrinkwrap.json", "gen/x_pb2.py",
]  # fmt: skip


@pytest.mark.parametrize("path", GENERATED)
def test_hunks_of_generated_files_go_by_count(path: str) -> None:
    payload = lock(40).replace("package-lock.json", path)
    made = shortened(payload)
    assert len(made.text) < 0.1 * len(payload)
    assert f"+++ b/{path}" in made.text
    (marker,) = made.markers
    assert "removed×40" in marker.facts[0]
    assert "added×40" in marker.facts[0]


@pytest.mark.parametrize("path", ["src/lock.py", "docs/vendors.md", "distance.js", "snapshots.py", "blocks/clock.rs"])
def test_names_that_only_resemble_them_are_files_like_others(path: str) -> None:
    assert '"version": "1.7.1"' in shortened(lock(40).replace("package-lock.json", path)).text


def test_a_small_change_of_a_lock_file_stays() -> None:
    payload = file("src/a.py", 8, "a") + lock(2)
    assert '"version": "1.1.1"' in shortened(payload).text


def test_minified_lines_go_whatever_the_file_is_called() -> None:
    long = "var a=1;" * 200
    payload = f"--- a/x.js\n+++ b/x.js\n@@ -1,2 +1,2 @@\n /* x */\n-{long}\n+{long}b\n" + file("src/a.py", 2, "a")
    assert len(shortened(payload).text) < 0.4 * len(payload)


def test_binary_patches_go_by_count_and_their_headers_stay() -> None:
    lines = "".join("z" + chr(65 + i % 20) * 60 + "\n" for i in range(50))
    head = "diff --git a/i.png b/i.png\nindex 1..2 100644\nGIT binary patch\nliteral 3000\n"
    made = shortened(head + lines + "\nliteral 0\nHcmV?d00001\n\n" + file("src/a.py", 1, "a"))
    assert head in made.text
    assert [(m.count, m.noun) for m in made.markers] == [(50, "lines")]


def test_renames_and_modes_stay() -> None:
    said = "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nsimilarity index 95%\nrename from x\nrename to y\n"
    only = "Only in b/c: new.py\nBinary files a/i.png and b/i.png differ\n"
    assert said in shortened(said + file("z.py", 9, "z") + only).text
    assert only in shortened(said + file("z.py", 9, "z") + only).text


def test_combined_and_normal_diffs_are_cut_too() -> None:
    combined = "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,3 -1,3 +1,4 @@@\n  a\n- b\n -c\n++d\n++e\n  f\n"
    document = cut(DIFF, combined + file("z.py", 1, "z"))
    assert document is not None
    assert [len(g) for g in document.groups] == [2]
    normal = "".join(f"{9 * i}c{9 * i}\n< old {i}\n---\n> new {i}\n" for i in range(1, 60))
    document = cut(DIFF, "diff -r a/x b/x\n" + normal)
    assert document is not None
    assert len(document.groups[0].children[0][0]) == 59


def test_a_mailed_patch_keeps_its_head_and_its_tail() -> None:
    head = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: Ada <ada@example.org>\nSubject: [PATCH] x\n\nWhy.\n---\n a.py | 2 +-\n\n"
    made = shortened(head + file("a.py", 5, "a") + "-- \n2.39.5\n\n")
    assert head in made.text
    assert "-- \n2.39.5\n" in made.text


# ---------------------------------------------------------------- the shared promises


def test_the_query_s_line_stays_in_a_run_that_goes() -> None:
    payload = file("x.py", 4, "x") + fresh("y.py", 90).replace("step_44 =", "zebra_stripes =")
    assert "zebra_stripes" not in shortened(payload).text
    assert "zebra_stripes" in shortened(payload, query="where are the zebra stripes").text


def test_a_larger_ceiling_never_shows_less() -> None:
    payload, shown = log(), 0
    for ceiling in (150, 250, 400, 700, 1000):
        result = Engine(open_memory()).compress(payload, max_tokens=ceiling)
        assert result.tokens_after <= ceiling or result.reason == "over_budget"
        lines = len([x for x in result.text.splitlines() if x in payload])
        assert lines >= shown
        shown = lines


def test_under_a_tight_ceiling_messages_outlive_hunks() -> None:
    assert "BREAKING: step() is gone" in Engine(open_memory()).compress(log(), max_tokens=400).text


def test_a_question_about_a_line_of_context_is_answered_with_it() -> None:
    view = view_of(log() * 3, "load_1_1")
    assert " load_1_1 = load(1)\n" in view
    engine = Engine(open_memory())
    handle = engine.compress(log()).recovery_handle
    assert handle is not None
    assert b" load_1_0 = load(0)" in engine.retrieve_query(handle, "load_1_0")


def test_a_view_names_the_file_of_its_hunk() -> None:
    assert "[caveman: in src/store.py]" in view_of(
        file("src/load.py", 40, "load") + file("src/store.py", 40, "store"), "store_31"
    )


def test_what_is_no_diff_is_not_parsed() -> None:
    for text in ("", "\n" * 50, "hello\nworld\n", "- a\n- b\n", "@@@@\n" * 9):
        assert DIFF.split(text) is None


LINES = st.sampled_from(
    [b"diff --git a/x b/x", b"--- a/x", b"+++ b/x", b"@@ -1,4 +1,5 @@ f", b"@@ -1 +1 @@", b"@@@ -1,2 -1,2 +1,3 @@@", b" c",
     b"+new", b"-old", b"\\ No newline at end of file", b"", b"commit 0123456789", b"GIT binary patch", b"literal 9", b"zAAAA",
     b"3c3", b"< a", b"> b", b"\xff\x00", b"Only in a: b", b"Index: x", b"+" + b"long " * 40, b" " + b"long " * 40, b"\r"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=60), st.sampled_from([b"\n", b"\r\n"]), st.integers(0, 40))
def test_any_lines_are_cut_into_slices_or_not_at_all(lines: list[bytes], newline: bytes, places: int) -> None:
    payload = newline.join(lines)
    made = DIFF.rewrite(source(payload))
    assert made is None or len(made.text) <= len(payload) + 4
    for text in (source(payload), made.text if made else ""):
        document = DIFF.split(text)
        if document is not None:
            within(document.groups, 0, len(text))
    if cut(DIFF, payload) is not None:
        checked(shorten(DIFF, payload, places=places), facts=False)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_no_reason_to_raise(payload: bytes) -> None:
    DIFF.split(source(payload))
    made = DIFF.rewrite(source(payload))
    assert made is None or raw(made.text)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=60),
    st.lists(st.sampled_from("abcdefgh"), max_size=60),
    st.integers(0, 6),
)
def test_rewritten_hunks_turn_the_old_lines_into_the_new_ones(old: list[str], new: list[str], context: int) -> None:
    import difflib

    old, new = ([x + " is a line of some length\n" for x in side] for side in (old, new))
    made = rewritten("".join(difflib.unified_diff(old, new, "a", "b", n=context)))
    assert applied(old, made) == new


def applied(old: list[str], patch: str) -> list[str]:
    """``old`` after ``patch``, by the numbers of its headers alone; every line of context is looked at."""
    out: list[str] = []
    at = 0
    for line in patch.splitlines(keepends=True)[2:]:
        found = HUNK.match(line)
        if found:
            start = int(found[1]) - (found[2] != "0")
            out += old[at:start]
            at = start
            assert len(out) == int(found[3]) - (found[4] != "0")
        elif line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if not found and line[0] in " +":
            out.append(line[1:])
    return out + old[at:]


GROWING: dict[str, Callable[[int], str]] = {
    "many hunks": lambda n: file("x.py", n // 160, "x"),
    "one long run": lambda n: fresh("x.py", n // 30),
    "one line": lambda n: "--- a\n+++ b\n@@ -1 +1 @@\n-" + "x" * n,
    "empty lines": lambda n: file("x", 1, "x") + "\n" * n,
    "headers": lambda n: "--- a\n+++ b\n" * (n // 12),
    "hunks without lines": lambda n: "@@ -1,9 +1,9 @@\n" * (n // 16),
    "commits": lambda n: commit(1, "s", "b", file("x.py", 1, "x")) * (n // 400),
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    assert seconds(DIFF, make(400_000)) < 12 * seconds(DIFF, make(100_000)) + 0.3


def test_a_small_patch_keeps_its_hunks_beside_a_long_message() -> None:
    message = (
        "From: A <a@x.example>\nSubject: Fix the overflow\n\n" + "Why this had to be so, told at length here.\n" * 24
    )
    hunks = "".join(
        f"@@ -{k},7 +{k},8 @@ int part_{k}(void)\n one\n two\n three\n+    return error({k});\n four\n five\n six\n seven\n"
        for k in (10, 90)
    )
    payload = f"{message}---\ndiff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n{hunks}"
    text = Engine(open_memory()).compress(payload).text
    assert "+    return error(10);" in text
    assert "+    return error(90);" in text
