"""Logs: an entry is one unit with its stack trace; errors are seen or counted; any line end will do."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, log_text, seconds

from caveman_wasm.formats import log
from caveman_wasm.formats.log import LOG
from caveman_wasm.model import Document, Group, Reader, raw

TRACES = {
    "Python": (
        "Traceback (most recent call last):\n"
        '  File "/srv/app.py", line 3, in <module>\n    main()\n'
        "ZeroDivisionError: division by zero\n\nDuring handling of the above exception, another exception occurred:\n"
        "RuntimeError: gave up"
    ),
    "Java": (
        "java.lang.IllegalStateException: boom\n\tat com.foo.Bar.baz(Bar.java:12)\n\tat com.foo.Main.main(M.java:3)\n"
        "Caused by: java.io.IOException: disk full\n\t... 12 more"
    ),
    "Go": (
        "panic: runtime error: index out of range [5]\n\ngoroutine 1 [running]:\n"
        "main.main()\n\t/srv/main.go:12 +0x1d\nexit status 2"
    ),
    "Node": "TypeError: x is not a function\n    at f (/srv/a.js:1:7) {\n  code: 'E'\n}",
    "Rust": "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run it\n   0: std\n             at ./a.rs",
    "C#": "System.InvalidOperationException: boom\n   at Foo.Bar()\n--- End of inner trace ---\n   at X.Y()",
}


def at(i: int) -> str:
    return f"2026-05-14 08:{i // 60 % 60:02d}:{i % 60:02d}"


def units(document: Document | None) -> list[str]:
    assert document is not None
    group = document.groups[0]
    return [document.text[a:b] for a, b in zip(group.starts, group.stops, strict=True)]


def reader(document: Document | None) -> tuple[Group, Reader]:
    assert document is not None
    group = document.groups[0]
    assert group.reader is not None
    return group, group.reader


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES.keys())
def test_a_stack_trace_stays_with_its_entry(trace: str, newline: str) -> None:
    entries = [f"{at(i)} INFO request {i} served" for i in range(40)]
    entries[20] = f"{at(20)} ERROR request failed\n{trace}"
    payload = "\n".join(entries).replace("\n", newline)
    assert units(cut(LOG, payload)) == [e.replace("\n", newline) for e in entries]


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES.keys())
def test_an_entry_with_a_trace_is_a_failure_and_seen_whole(trace: str) -> None:
    entries = [f"{at(i)} INFO request {i} served" for i in range(400)]
    entries[200] = f"{at(200)} ERROR request 200 gave up\n{trace}"
    assert trace in log_text("\n".join(entries)).text


def test_without_times_indented_lines_continue_what_is_above_them() -> None:
    lines = ["building a", "  compiling", "building b", "\tat x", "Caused by: y", "done"] * 3
    found = units(cut(LOG, "\n".join([*lines, *["plain line"] * 20])))
    assert found[:3] == ["building a\n  compiling", "building b\n\tat x\nCaused by: y", "done"]


def test_where_most_lines_are_indented_each_is_an_entry() -> None:
    assert len(units(cut(LOG, "\n".join(["head"] + [f"   {i} row" for i in range(50)])))) == 51


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.binary(max_size=60), min_size=1, max_size=40), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans()
)
def test_entries_and_what_lies_between_them_are_the_payload(lines: list[bytes], newline: bytes, closed: bool) -> None:
    payload = newline.join(lines) + newline * closed
    document = cut(LOG, payload)
    if document is None:
        return
    group = document.groups[0]
    assert raw(document.text) == payload
    between = [document.text[a:b] for a, b in zip([0, *group.stops], [*group.starts, len(document.text)], strict=True)]
    assert set("".join(between)) <= set("\r\n")
    log_text(payload, places=1)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_marker_is_a_line_of_its_own_and_names_the_payload_s_lines(newline: str) -> None:
    lines = [f"{at(i)} INFO request {i} served" + (f"{newline}\tmore" if i == 3 else "") for i in range(300)]
    payload = newline.join(lines) + newline
    made = log_text(payload)
    numbered = payload.split(newline)
    shown = made.text.encode("latin-1").decode().split(newline)
    assert shown[-1] == ""
    assert shown[-2].startswith("[caveman: shortened view")
    for said in shown[:-2]:
        found = re.match(r"… (\d+) entr(?:y|ies) elided \(L(\d+)–(\d+)\).* …$", said)
        if found is None:
            assert said in numbered
        else:
            first, last = int(found[2]), int(found[3])
            gone = [x for x in numbered[first - 1 : last] if not x.startswith("\t")]
            assert len(gone) == int(found[1])
            assert gone[0] not in shown


def test_the_first_and_last_failure_of_a_kind_are_seen_and_the_others_counted_by_kind() -> None:
    lines = [
        f"{at(i)} {'ERROR disk /dev/sd' + 'ab'[i % 2] + ' is full' if i % 5 == 0 else 'INFO fine'} #{i}"
        for i in range(1000)
    ]
    made = log_text("\n".join(lines))
    failing = [x for x in lines if "ERROR" in x]
    assert failing[0] in made.text
    assert failing[-1] in made.text
    counted = sum(
        int(n) for m in made.markers for f in m.facts if f.startswith("failures") for n in re.findall(r"×(\d+)", f)
    )
    assert counted + sum(x in made.text for x in failing) == len(failing)
    assert "disk" in "".join(f for m in made.markers for f in m.facts if f.startswith("failures"))


def test_a_log_of_nothing_but_errors_still_shrinks_and_says_so() -> None:
    made = log_text("\n".join(f"{at(i)} ERROR request {i} refused by peer {i % 9}" for i in range(600)))
    assert len(made.text) < 0.3 * len(made.document.text)
    assert all(any(f.startswith("failures: ") for f in m.facts) for m in made.markers if m.count > 8)


def test_errors_that_are_all_different_still_shrink() -> None:
    words = [
        f"{a}{b}"
        for a in "bcdfghjklmnpqrstvwxz"
        for b in ["al", "er", "in", "os", "um", "yt", "ack", "ish", "orm", "ent"]
    ]
    lines = [f"{at(i)} ERROR {words[i % 200]} {words[i * 7 % 200]} {words[i * 13 % 199]} broke" for i in range(1500)]
    made = log_text("\n".join(lines))
    assert len(made.text) < 0.4 * len(made.document.text)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("2026-05-14 08:00:00 INFO a", "INFO"), ("2026-05-14T08:00:00Z [error] b", "ERROR"),
        ("level=warn msg=x", "WARN"),
        ("E0514 08:00:00.123 1 a.go:1] boom", "ERROR"), ("src/a.c:3:5: error: no such thing", "ERROR"), ("plain", None),
        ("2026-05-14 08:00:00 INFO level=error after all", "opaque"), ('{"level":"info","msg":"x"}', "INFO"),
    ],
)  # fmt: skip
def test_the_level_is_the_one_the_entry_names(line: str, level: str | None) -> None:
    group, read = reader(cut(LOG, "\n".join([line] * 5)))
    for said in read.columns(0, len(group))["level"]:
        assert said == level or (level == "opaque" and not isinstance(said, str) and said is not None)


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ("ERROR x", True), ("job failed", True), ("failed=0", False), ("failed=3", True), ("errors: 0", False),
        ("error=null", False), ("0 errors", False), ("no errors found", False), ("connection refused", True),
        ("INFO the word failed in a quiet line", False), ("[INFO] BUILD FAILURE", True), ("exception in thread", True), ("error.log rotated", False),
        ('"GET /x HTTP/1.1" 500 12', True), ('"GET /x HTTP/1.1" 404 12', False), ("panic: boom", True),
    ],
)  # fmt: skip
def test_failure_is_told_by_level_and_by_word_with_its_negations(line: str, fails: bool) -> None:
    group, read = reader(cut(LOG, "\n".join([f"{at(1)} {line} "] * 5)))
    assert [bool(x) for x in read.failures(0, len(group))] == [fails] * 5


def test_a_number_far_out_makes_a_kind_of_its_own_but_ids_dates_and_addresses_do_not() -> None:
    def kinds(odd: str) -> set[str]:
        lines = [
            f"{at(i)} INFO took {i % 50} ms from 10.0.0.{i % 9} for {i:08x}-b at 2026-01-{i % 28 + 1:02d}"
            for i in range(300)
        ]
        group, read = reader(cut(LOG, "\n".join([*lines, odd])))
        return set(read.kinds(0, len(group))[0])

    assert len(kinds(f"{at(1)} INFO took 98765 ms from 10.0.0.1 for 00000001-b at 2026-01-01")) == 2
    assert len(kinds(f"{at(1)} INFO took 5 ms from 10.0.0.1 for 98765432-b at 2026-01-01")) == 1


def test_a_cut_time_is_no_time() -> None:
    pad = "x" * 70
    group, read = reader(cut(LOG, "\n".join([f"{pad} 2026-05-14T08:00:00.123Z INFO a"] * 5)))
    assert set(read.columns(0, len(group))["time"]) == {"2026-05-14T08:00:00.123Z"}


def test_long_entries_may_give_up_the_middle_of_their_trace() -> None:
    trace = [f"\tat com.foo.Bar.m{i}(Bar.java:{i})" for i in range(400)]
    entries = [f"{at(i)} INFO request {i} served" for i in range(60)]
    entries[30] = "\n".join([f"{at(30)} ERROR boom", *trace, "Caused by: disk full", *trace])
    made = log_text("\n".join(entries))
    assert "Caused by: disk full" in made.text
    assert trace[0] in made.text
    assert len(made.text) < len(made.document.text)


# ---------------------------------------------------------------- growth

LINE = "2026-05-14 08:00:00 INFO request served status=ok took=15ms\n"
GROWING: dict[str, Callable[[int], str]] = {
    "equal lines": lambda n: LINE * (n // len(LINE)),
    "all lines different": lambda n: "".join(
        f"{at(i)} INFO {i:x} {chr(97 + i % 26) * (i % 40)} x{i * 7919 % 10007}y\n" for i in range(n // 70)
    ),
    "empty lines": lambda n: "\n" * n,
    "one line": lambda n: "x" * n,
    "long lines of letters": lambda n: (LINE[:30] + "x=1 " + "a" * (n // 8) + "\n") * 8,
    "long lines of names": lambda n: (LINE[:30] + "a.b-" * (n // 32) + "\n") * 8,
    "long lines of signs": lambda n: (LINE[:30] + "a=" * (n // 16) + "\n") * 8,
    "open quotes": lambda n: (LINE[:30] + 'a="' * (n // 24) + "\n") * 8,
    "quotes": lambda n: (LINE[:30] + "x=" + '"' * (n // 8) + "\n") * 8,
    "blanks": lambda n: (LINE[:30] + "x" + " " * (n // 8) + "\n") * 8,
    "error words": lambda n: (LINE[:20] + "Error" * (n // 40) + "\n") * 8,
    "slashes": lambda n: (LINE[:20] + "error/" * (n // 48) + "\n") * 8,
    "a request that never ends": lambda n: (LINE[:30] + '"GET ' * (n // 40) + "\n") * 8,
    "one long trace": lambda n: LINE + "\tat com.foo.Bar(Bar.java:12)\n" * (n // 30),
    "traces": lambda n: (LINE + "\tat com.foo.Bar(Bar.java:12)\n" * 9) * (n // 330),
    "secrets": lambda n: (LINE[:20] + "ERROR " + "token" * (n // 40) + "=\n") * 8,
}


@pytest.mark.parametrize("make", GROWING.values(), ids=GROWING.keys())
def test_time_grows_with_the_payload(make: Callable[[int], str]) -> None:
    assert seconds(LOG, make(400_000)) < 12 * seconds(LOG, make(100_000)) + 0.3


def test_each_match_of_a_pattern_holds_a_word_that_is_looked_for_first() -> None:
    """`_Hints` may only spare searches that would find nothing."""
    lines = [
        *[
            "TRACE",
            "DEBUG",
            "INFO",
            "NOTICE",
            "WARN",
            "WARNING",
            "ERROR",
            "ERR",
            "CRITICAL",
            "CRIT",
            "FATAL",
            "SEVERE",
            "ALERT",
            "EMERG",
            "PANIC",
        ],
        *("level=odd", 'lvl: "x"', "severity=5", "[crit]", "<emerg>", "(alert:", "a: warning: b", "x error C2065: y"),
        *(
            "IOException",
            "Traceback",
            "panicked",
            "segmentation fault",
            "failures",
            "connection refused",
            "permission denied",
        ),
        *("timed out", "unreachable", "aborted", "crashed", "cannot", "can't", "could not", "unable to", "rejected"),
        *("corruption", "out of memory", "oom-killer", "undefined reference", "no such file", "timeout", "segfault"),
        *("2026-03-01 04:26", "Mar  1 04:26:12", "01/Mar/2026:04:26:12", "04:26:12,8", "1772339172", "081109 203615 x"),
        *("password=1", "pwd: 2", "api-key=3", "Authorization: x", "auth=4", "jwt=5", "Session=6", "X-Signature: 7"),
    ]
    for line in lines:
        low = line.lower()
        assert not log._LEVEL.search(line) or any(word in low for word in log._LEVEL_WORDS), line
        assert not log._BAD.search(line) or any(word in low for word in log._BAD_WORDS), line
        assert not log._STAMP.search(line) or log._may_be_timed(line.encode()), line
        for name, _ in log._SECRET_VALUE.findall(line):
            assert not log.is_secret(name) or any(word in low for word in log._SECRET_WORDS), line
    for pattern, at_least in ((log._LEVEL, 20), (log._BAD, 20), (log._STAMP, 6)):
        assert sum(pattern.search(line) is not None for line in lines) >= at_least
