"""What a terminal showed last is what is cut; what it showed before a redraw was never there to read."""

from __future__ import annotations

import itertools
import json
import re
from time import process_time

import pytest
from corpus.made_terminal import coloured_diff, lint, progress
from corpus.made_terminal import tests as coloured_run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shorten import cut

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.terminal import TERMINAL, redrawn
from caveman_wasm.model import Rewritten, plain, source


def seen(output: str) -> str:
    rewritten = TERMINAL.rewrite(source(output.encode("utf-8", "surrogatepass")))
    assert rewritten is not None
    return plain(rewritten.text)


def compressed(output: str, **options: object) -> str:
    return Engine(open_memory()).compress(output, **options).text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m plain\r\n", "red plain\n"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "alink\n"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("a long line\rshort\n", "shortg line\n"),
        ("a long line\r\x1b[Kshort\n", "short\n"),
        ("abc\x1b[2K\rx\n", "x\n"),
        ("abc\x08\x08X\n", "aXc\n"),
        ("━━━━\r──\n", "──━━\n"),
        ("one\ntwo\n\x1b[2Anew\n\n", "new\ntwo\n"),
        ("one\ntwo\nthree\n\x1b[3A\x1b[Jend\n", "end\n"),
        ("a\x1b[5Gb\n", "a   b\n"),
        ("kept\n\x1b[2J\x1b[Hscreen\n", "kept\n\nscreen\n"),
        ("\x1b7ab\x1b8X\n", "Xb\n"),
        ("\x1b[?25lx\x1b[?25h\n", "x\n"),
        ("padded    \x1b[0m  \r\n", "padded\n"),
        ("a\tb\x00\x07c\n", "a\tbc\n"),
        ("a\r\r\nb\r\n", "a\nb\n"),
        ("first\rsecond\rERROR third\r", "first\nsecond\nERROR third\n"),
    ],
)
def test_lines_come_in_their_last_state(output: str, expected: str) -> None:
    assert seen(output) == expected


def test_a_cut_off_escape_hides_nothing_after_it() -> None:
    assert seen("\x1b]0;never closed\nERROR here\n\x1b[31") == "\nERROR here\n"


def test_every_byte_shown_leads_back_to_where_it_came_from() -> None:
    for output in (coloured_run(40), progress(), lint()):
        payload = source(output.encode())
        rewritten = TERMINAL.rewrite(payload)
        assert rewritten is not None
        for i, shown in enumerate(rewritten.text):
            if shown not in " \n":
                assert payload[rewritten.back(i)] == shown


def test_two_rewritings_lead_back_through_both() -> None:
    outer = Rewritten("abcdef", [0, 3], [10, 20])
    inner = Rewritten("bcdeZ", [0, 4], [1, 6])
    both = redrawn(outer, inner)
    assert [both.back(i) for i in range(4)] == [11, 12, 20, 21]


@pytest.mark.parametrize(
    ("output", "method"),
    [(coloured_run(80), "test-report"), (coloured_diff(), "diff"), (lint(), "terminal"), (progress(), "terminal")],
    ids=["tests", "diff", "lint", "progress"],
)
def test_the_redrawn_text_is_cut_by_what_it_looks_like(output: str, method: str) -> None:
    made = Engine(open_memory()).compress(output)
    assert (made.content_type, made.method) == ("terminal", method)
    assert "\x1b" not in made.text


def test_failures_and_totals_of_a_coloured_test_run_stay() -> None:
    out = compressed(coloured_run(80))
    assert "test_berth[33] FAILED" in out
    assert "AssertionError: berth 33 is 2 m deep" in out
    assert "1 failed, 79 passed in 2.31s" in out


def test_the_only_error_among_progress_bars_and_the_total_stay() -> None:
    out = compressed(progress())
    assert "error: layer-09 has the wrong digest" in out
    assert "24 layers, 23 ok" in out
    assert "\r" not in out
    assert " 50%" not in out


def test_the_one_error_of_a_linter_and_its_total_stay() -> None:
    out = compressed(lint())
    assert "'tide' is not defined" in out
    assert "168 problems (1 error, 167 warnings)" in out


@pytest.mark.parametrize(
    "line",
    ["ModuleNotFoundError: No module named 'dock'", "  │   KeyError: 'none'", "error[E0425]: no such function `f`"],
)
def test_what_was_raised_is_a_failure_whatever_its_words(line: str) -> None:
    calm = [f"\x1b[2mstep {i}\x1b[0m of the build, which has nothing to say" for i in range(150)]
    assert line.strip(" │") in compressed("\n".join([*calm[:70], line, *calm[70:]]) + "\n")


def test_a_total_in_the_middle_stays() -> None:
    calm = [f"\x1b[2mstep {i}\x1b[0m of the build, which has nothing to say" for i in range(150)]
    assert "Found 12 problems" in compressed("\n".join([*calm[:70], "Found 12 problems in all", *calm[70:]]) + "\n")


def test_no_line_numbers_are_stated_since_lines_were_redrawn() -> None:
    for output in (coloured_run(80), progress(), lint()):
        assert not re.search(r"elided \(L", compressed(output))


def test_what_a_query_asks_for_stays() -> None:
    assert "src/dock11.js" not in compressed(lint())
    assert "src/dock11.js" in compressed(lint(), query="what about dock11")


def test_a_larger_ceiling_never_shows_less_and_the_error_goes_last() -> None:
    shown = [set(compressed(lint(), max_tokens=n).split("\n")[:-2]) for n in (130, 180, 220, 300)]
    kept = [{line for line in lines if "elided" not in line} for lines in shown]
    assert all(a <= b for a, b in itertools.pairwise(kept))
    assert any("'tide' is not defined" in line for line in kept[0])


def test_narrowing_shows_redrawn_lines_and_says_so() -> None:
    engine = Engine(open_memory())
    handle = engine.compress(coloured_run(300)).recovery_handle
    assert handle is not None
    view = engine.retrieve_query(handle, "test_berth[217]").decode()
    assert "test_berth[217] PASSED" in view
    assert "text of terminal output" in view
    assert "\x1b" not in view
    assert engine.retrieve(handle) == coloured_run(300).encode()


_PIECES = st.sampled_from(
    [
        "\x1b[A",
        "\x1b[3B",
        "\x1b[2C",
        "\x1b[D",
        "\x1b[K",
        "\x1b[1K",
        "\x1b[2K",
        "\x1b[J",
        "\x1b[2J",
        "\x1b[H",
        "\x1b[4;9H",
        "\x1b[7G",
        "\x1b7",
        "\x1b8",
        "\x1bM",
        "\x1b[s",
        "\x1b[u",
        "\r",
        "\n",
        "\r\n",
        "\x08",
        "\t",
        "word",
        "é",
        "━━",
        " ",
        "\x1b[1;31m",
        "\x1b]0;t\x07",
        "\x1b",
        "\x1b[",
        "\x1b[9999999999A",
        "\x1b[;H",
        "\x1b[?1049h",
        "\x00",
        "\x7f",
        "a long text",
    ]
)
_OUTPUT = st.lists(_PIECES, max_size=80).map("".join).map(str.encode)
_TORN = st.lists(
    _PIECES.map(str.encode) | st.binary(max_size=4) | st.sampled_from([b"\x80", b"\xe2", b"\x1b[2D", b"\x1b[3G"])
).map(b"".join)


def test_markers_in_coloured_json_stand_for_spans_of_the_payload() -> None:
    rows = [{"id": i, "state": "paid" if i % 3 else "open", "note": "nothing to add"} for i in range(60)]
    payload = re.sub(r'("\w+"):', "\x1b[34;1m\\1\x1b[0m:", json.dumps(rows, indent=2)).encode()
    made = Engine(open_memory()).compress(payload)
    assert made.markers
    for marker in made.markers:
        (start, stop), *_ = marker.spans
        left_out = re.sub(rb"\x1b\[[0-9;]*m", b"", payload[start:stop])
        assert len(json.loads(b"[" + left_out + b"]")) == marker.count


def test_a_cursor_goes_back_over_bytes_that_are_no_character() -> None:
    torn = b"ab\x1b[m\x80\x08x"  # the rest of a character stands alone behind an escape
    rewritten = TERMINAL.rewrite(source(torn))
    assert rewritten is not None
    assert rewritten.text == "ax\x80\n"


@settings(max_examples=300, deadline=None)
@example(b"\t\x1b[2J\x1b[u\x1b[J\x1b[A\t")  # the saved place is above the screen
@given(_OUTPUT | _TORN)
def test_any_bytes_are_redrawn_into_slices_of_them(payload: bytes) -> None:
    text = source(payload)
    rewritten = TERMINAL.rewrite(text)
    assert rewritten is not None
    assert list(rewritten.offsets) == sorted(rewritten.offsets)
    assert "\x1b" not in rewritten.text
    assert "\r" not in rewritten.text
    for i, shown in enumerate(rewritten.text):
        if shown not in " \n":
            assert text[rewritten.back(i)] == shown
    document = cut(TERMINAL, payload)
    if document is not None:
        for group in document.groups:
            spans = list(zip(group.starts, group.stops, strict=True))
            assert all(a <= b <= len(document.text) for a, b in spans)
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


@settings(max_examples=60, deadline=None)
@given(st.lists(_PIECES, min_size=150, max_size=400).map("".join).map(str.encode))
def test_the_output_is_never_larger_and_the_original_comes_back(payload: bytes) -> None:
    engine = Engine(open_memory())
    made = engine.compress(payload, content_type="terminal")
    assert made.tokens_after <= made.tokens_before
    if made.recovery_handle:
        assert engine.retrieve(made.recovery_handle) == payload


@pytest.mark.parametrize(
    "piece",
    [
        "\rab",
        "a\n\x1b[1Ab",
        "ab\x1b[1mc\x1b[999C\r",
        "\x1b[500;500Hx\x1b[2J",
        "ab\x08",
        "\x1b]8;;http",
        "\x1b[",
        "\x1b[9D\x1b[9Cx",
        "\n",
    ],
)
def test_floods_take_time_in_proportion(piece: str) -> None:
    def seconds(n: int) -> float:
        start = process_time()
        cut(TERMINAL, "\x1b[0m" + piece * n)
        return process_time() - start

    assert min(seconds(40_000), seconds(40_000)) < max(8 * seconds(10_000), 2.0)
