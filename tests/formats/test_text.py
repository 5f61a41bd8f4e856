"""Prose is cut into sections, blocks and sentences in any script; what is pinned reads as an outline."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.tabular_rows import Rows
from caveman_wasm.formats.text import TEXT
from caveman_wasm.model import Document, Group, plain, source


def cut(text: str) -> Document:
    document = TEXT.split(source(text.encode("utf-8", "surrogatepass")))
    assert document is not None
    return document


def groups(document: Document) -> Iterator[Group]:
    waiting = list(document.groups)
    while waiting:
        group = waiting.pop(0)
        yield group
        waiting += [child for children in group.children.values() for child in children]


def units(document: Document, noun: str) -> list[list[str]]:
    return [_texts(document, group) for group in groups(document) if group.noun == noun]


def _texts(document: Document, group: Group) -> list[str]:
    return [plain(document.text[a:b]) for a, b in zip(group.starts, group.stops, strict=True)]


def pinned(document: Document) -> list[str]:
    return [_texts(document, group)[i] for group in groups(document) for i in group.pinned]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains today in the hills. Nobody minds that at all! Do you mind the rain up there? Well.", 4),
        ("See e.g. Dr. Smith (2001) vs. No. 5 of the list, i.e. the long one that was lost. It is here now.", 2),
        ("エフェクトとは何かを説明します。次に、書き方を学びます！必要でしょうか？はい、そう思います。", 4),
        ("我们今天学习如何写一个效果。“你好吗？”他问道。然后大家都回家了，没有人留下来。就这样结束了。", 5),
        ("هذا الدرس مقسم إلى عدة أقسام مهمة. هل تعرف ما هو React؟ نعم، أعرفه جيدا منذ وقت طويل.", 3),
        ("यह एक वाक्य है जो काफी लंबा है। यह दूसरा वाक्य है। और यह तीसरा वाक्य है।", 3),
        ("Version 1.2.3 of pkg.mod is out ... and nothing else has changed in it since. Then came 1.3.", 2),
    ],
)
def test_sentences_end_where_each_script_ends_them(text: str, sentences: int) -> None:
    (found,) = units(cut(text), "sentences")
    assert len(found) == sentences
    assert all(sentence in text for sentence in found)


def test_the_first_sentence_and_a_warning_are_pinned() -> None:
    opening = "The opening has two sentences which are longer than a short paragraph may be. Both of them stay.\n\n"
    text = "The cache is shared by all. It is fast. It holds strings. You must never store a token in it. It is small."
    found = pinned(cut(3 * opening + text))
    assert found[-2:] == ["The cache is shared by all.", "You must never store a token in it."]
    assert found.count("Both of them stay.") == 3, "what opens a text stays whole"


def test_headings_of_every_style_head_sections() -> None:
    text = (
        "# Top\n\nAlpha.\n\n## Part\n\nBeta.\n\nOver\n====\n\nGamma.\n\nUnder\n-----\n\nDelta.\n\n"
        "=====\nFramed\n=====\n\nEpsilon.\n\nSYNOPSIS\n\nZeta.\n\n3.1 Numbered things\n\nEta.\n"
    )
    document = cut(text)
    names = [group.heading.split(" › ")[-1] for group in groups(document) if group.noun == "blocks"]
    assert names == ["Top", "Part", "Over", "Under", "Framed", "SYNOPSIS", "3.1 Numbered things"]
    assert "## Part" in pinned(document)
    assert "Under\n-----" in pinned(document)


def test_a_section_carries_the_path_of_its_headings() -> None:
    document = cut("# A\n\nx.\n\n## B\n\ny.\n\n### C\n\nz.\n\n## D\n\nw.\n")
    assert [g.heading for g in groups(document) if g.noun == "blocks"] == ["A", "A › B", "A › B › C", "A › D"]


@pytest.mark.parametrize(
    "preamble",
    [
        "---\ntitle: X\ntags: [a, b]\n---",
        "PEP: 440\nTitle: Version\nAuthor: A <a@b>,\n        B",
        "- Feature Name: f\n- Start Date: d",
    ],
)
def test_front_matter_and_header_fields_stay(preamble: str) -> None:
    assert preamble in pinned(cut(preamble + "\n\nSome text follows here. " + "It goes on for long. " * 30))


def test_lists_are_cut_at_their_items_and_nested_ones_stay_with_theirs() -> None:
    text = "Intro:\n\n- one\n  - under one\n- two\n\n  still two\n- three\n1. other\n"
    found = units(cut(text), "items")
    assert found[0][:2] == ["- one\n  - under one", "- two\n\n  still two"]


def test_tables_are_cut_at_rows_below_their_head() -> None:
    document = cut("Text before.\n\n| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 9 + "\nText after.\n")
    (group,) = [g for g in groups(document) if g.noun == "rows"]
    assert len(group) == 9
    assert isinstance(group.reader, Rows)
    assert group.reader.columns(0, 1) == {"a": ("1",), "b": ("2",)}
    assert TEXT.marker("… 3 rows elided …", 3, "", group, document) == "| … 3 rows elided … | |"


def test_code_fences_keep_the_fences_and_their_first_and_last_lines() -> None:
    text = "```js\nfirst();\nsecond();\n# no heading\n\n- no item\nlast();\n```\n\nAfter.\n"
    document = cut(text)
    assert units(document, "lines") == [["first();", "second();", "# no heading", "- no item", "last();"]]
    assert {"first();", "last();"} <= set(pinned(document))


def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    document = cut("```js\nfoo();\n\n# Heading\n\nText.\n")
    assert "# Heading" in pinned(document)


def test_indentation_of_first_lines_stays_with_them() -> None:
    text = (
        "   CENTRED TITLE\n\n    indented verse one\n    and two\n\n  Prose that is indented. It has two sentences.\n"
    )
    document = cut(text)
    assert all(text[g.starts[0] - 1] == "\n" for g in groups(document) if g.starts[0])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_reference_is_a_line_of_its_own_with_any_line_end(end: str) -> None:
    text = f"# A{end}{end}b.{end}{end}c."
    assert TEXT.reference("[ref]", cut(text)) == f"{end}[ref]"
    assert TEXT.reference("[ref]", cut(text + end)) == f"[ref]{end}"
    assert [len(g) for g in groups(cut(text)) if g.noun == "blocks"] == [3]


def test_one_endless_line_is_cut_at_blanks_and_never_within_a_character() -> None:
    document = cut("слово " * 5_000)
    (found,) = units(document, "sentences")
    assert len(found) > 20
    assert not any("\ufffd" in piece for piece in found)
    assert max(map(len, found)) < 2_000


def test_white_space_has_no_units() -> None:
    assert cut(" \n\n\t\n").groups == []


def check(document: Document) -> None:
    """Units are in order, apart, and inside of their parents; no group lies deeper than 8."""
    waiting = [(group, 0, len(document.text), 1) for group in document.groups]
    while waiting:
        group, low, high, depth = waiting.pop()
        assert depth <= 8
        assert len(group)
        at = low
        for i, (start, stop) in enumerate(zip(group.starts, group.stops, strict=True)):
            assert at <= start < stop <= high
            at = stop
            waiting += [(child, start, stop, depth + 1) for child in group.children.get(i, ())]
        assert all(0 <= i < len(group) for i in group.pinned)


LINES = st.sampled_from(
    [
        *("# h", "a b. C d! e", "===", "---", "- x", "  - y", "1. z", "```", "~~~", "| a | b |", "|---|---|", "", ""),
        *("    code", "  > q", "NOTE", "t::", ".. note::", "key: v", source("。あ！い".encode()), "\t", "\xa0", "\x85"),
        *("+++", "x" * 300, "a. B. " * 80, "- item. B. " * 60),
    ]
)


@given(st.one_of(st.binary(max_size=400).map(source), st.lists(LINES, max_size=40).map("\n".join)))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_cut_into_nested_slices(text: str) -> None:
    document = TEXT.split(text)
    assert document is not None
    check(document)
    assert document.text == text


@pytest.mark.parametrize(
    "piece",
    [
        "\n",
        "a",
        "#",
        "# a\n",
        "```a\n",
        "- a\n  ```x\n",
        "(",
        ". ",
        ".",
        "a.",
        "|-|-|\n",
        "=\n",
        "    x\n\n",
        "a::\n\n b\n",
    ],
)
def test_time_grows_with_the_size_only(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        start = time.process_time()
        TEXT.split(text)
        return time.process_time() - start

    seconds(50_000)
    assert seconds(400_000) < 40 * max(seconds(50_000), 0.02)


def test_a_block_of_a_few_long_lines_keeps_its_head() -> None:
    words = " ".join(f"word{i}" for i in range(4_000))
    text = Engine(open_memory()).compress(f"# Notes\n\n```text\n{words}\n```\n\nThe end.\n").text
    assert "word0 word1 word2" in text
    assert "The end." in text
    assert "word3999" not in text


def clauses(indent: str) -> str:
    body = "The first sentence of it says little. The second one says no more than that. Nor does the third one here."
    return "".join(
        f"{indent[len(str(i)) - 1 :]}{i}. Clause of number {i}\n{indent}   {body} {body}\n" for i in range(1, 15)
    )


@pytest.mark.parametrize("indent", [" ", "    ", "      "])
def test_items_with_a_title_keep_all_titles_before_any_prose_below_them(indent: str) -> None:
    payload = f"Rules of the house\n\n{clauses(indent)}\nThat is all of it.\n".encode()
    made = Engine(open_memory()).compress(payload, content_type="text")
    assert all(f"{i}. Clause of number {i}\n" in made.text for i in range(1, 15))
    assert "sentences elided" in made.text
    assert made.ratio > 0.2


def test_numbers_indented_as_code_are_a_list_only_where_they_count_on() -> None:
    lines = "".join(f"    {7 * i % 11}. x = step(x, {i}) without an end\n" for i in range(12))
    assert not units(cut(f"Some code:\n\n{lines}\nThat was it.\n"), "items")
    assert len(units(cut(f"The terms:\n\n{clauses('    ')}\nThat was it.\n"), "items")[0]) == 14
