"""Programs keep imports, signatures, types and the heads of their comments; bodies give way to markers with lines."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from shorten import Shortened, shorten

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.code import CODE
from caveman_wasm.formats.languages import guess
from caveman_wasm.model import Document, Group, plain, raw, source
from caveman_wasm.narrow import narrow

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "larch",
    "maple",
    "north",
    "ocean",
    "pearl",
]
MARKER = re.compile(r"^… (\d+) (\w+) elided \(L(\d+)(?:–(\d+))?\)(: .*)? …$", re.MULTILINE)


def body(i: int, statement: str, indent: str, lines: int = 12) -> str:
    """Lines of a body, each different from all others of the file."""
    return "".join(f"{indent}{statement.replace('~', f'{WORDS[k]}_{i}_{k}')}\n" for k in range(lines))


def program(head: str, function: str, statement: str, indent: str, tail: str = "", count: int = 14) -> str:
    """``function``: the text of one, ~ for its number and BODY for its lines."""
    made = [function.replace("~", str(i)).replace("BODY\n", body(i, statement, indent)) for i in range(count)]
    return head + "\n".join(made) + tail


PROGRAMS = {
    "python": program(
        'import os\nfrom a.b import c\n\nLIMIT = 5\n\n\nclass Thing(Base):\n    """A thing that is stored."""\n\n    size: int\n\n',
        '    @property\n    def work~(self, first,\n               second=None) -> int:\n        """Work number ~ is done here."""\nBODY\n',
        "self.~ = compute(first)",
        "        ",
    ),
    "javascript": program(
        "import { a } from './a';\nconst LIMIT = 5;\n\nexport class Thing extends Base {\n  size = 1;\n\n",
        "  /**\n   * Work number ~ is done here.\n   */\n  async work~(first, second) {\nBODY\n  }\n",
        "this.~ = await compute(first);",
        "    ",
        "}\n",
    ),
    "go": program(
        'package thing\n\nimport (\n\t"fmt"\n)\n\nconst Limit = 5\n\ntype Thing struct {\n\tSize int\n}\n\n',
        "// Work~ is done here.\nfunc (t *Thing) Work~(first int) error {\nBODY\n}\n",
        "~ := compute(first)",
        "\t",
    ),
    "rust": program(
        "use std::fmt;\n\npub const LIMIT: usize = 5;\n\n#[derive(Debug)]\npub struct Thing<'a> {\n    size: &'a str,\n}\n\nimpl<'a> Thing<'a> {\n",
        "    /// Work number ~ is done here.\n    pub fn work~(&mut self, first: u8) -> Result<(), Error> {\nBODY\n    }\n",
        "let ~ = self.compute(first)?;",
        "        ",
        "}\n",
    ),
    "java": program(
        "package a.b;\n\nimport java.util.List;\n\npublic class Thing extends Base {\n    private static final int LIMIT = 5;\n\n",
        "    /** Work number ~ is done here. */\n    @Override\n    public int work~(int first) throws IOException {\nBODY\n    }\n",
        "String ~ = compute(first);",
        "        ",
        "}\n",
    ),
    "kotlin": program(
        "package a.b\n\nimport java.util.List\n\nclass Thing(private val size: Int) : Base() {\n    val limit = 5\n\n",
        "    /** Work number ~ is done here. */\n    override suspend fun work~(first: Int): Int {\nBODY\n    }\n",
        "val ~ = compute(first)",
        "        ",
        "}\n",
    ),
    "c": program(
        "#include <stdio.h>\n\n#define LIMIT 5\n\nstruct thing {\n    int size;\n};\n\n",
        "/* Work number ~ is done here. */\nstatic int\nwork~(int first)\n{\nBODY\n}\n",
        "int ~ = compute(first);",
        "    ",
    ),
    "c#": program(
        "using System;\n\nnamespace A.B\n{\n    public class Thing : Base\n    {\n        public int Size { get; set; }\n\n",
        "        /// <summary>Work number ~ is done here.</summary>\n        public string Work~(int first)\n        {\nBODY\n        }\n",
        "var ~ = Compute(first);",
        "            ",
        "    }\n}\n",
    ),
    "php": program(
        "<?php\nnamespace A\\B;\n\nuse C\\D;\n\nclass Thing extends Base\n{\n    const LIMIT = 5;\n\n",
        "    /**\n     * Work number ~ is done here.\n     */\n    public function work~($first)\n    {\nBODY\n    }\n",
        "$~ = $this->compute($first);",
        "        ",
        "}\n",
    ),
    "ruby": program(
        "require 'set'\n\nmodule A\n  class Thing < Base\n    LIMIT = 5\n    attr_reader :size\n\n",
        "    # Work number ~ is done here.\n    def work~(first)\nBODY\n    end\n",
        "@~ = compute(first)",
        "      ",
        "  end\nend\n",
    ),
    "shell": program(
        "#!/bin/sh\nset -e\n\nLIMIT=5\n\n",
        "# Work number ~ is done here.\nwork~() {\nBODY\n}\n",
        'local ~="$(compute "$1")"',
        "  ",
    ),
    "sql": program(
        "CREATE TABLE thing (\n  id integer PRIMARY KEY,\n  size integer NOT NULL\n);\n\n",
        "-- Work number ~ is done here.\nCREATE FUNCTION work~(first integer) RETURNS integer AS $$\nBEGIN\nBODY\nEND;\n$$ LANGUAGE plpgsql;\n",
        "UPDATE thing SET size = ~ WHERE id = first;",
        "  ",
    ),
}  # fmt: skip


def groups(document: Document) -> Iterator[Group]:
    waiting = list(document.groups)
    while waiting:
        group = waiting.pop(0)
        yield group
        waiting += [child for children in group.children.values() for child in children]


def shown(made: Shortened) -> str:
    return plain(made.text)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_language_is_told_by_its_lines(language: str) -> None:
    assert guess(source(PROGRAMS[language].encode())).name == language


@pytest.mark.parametrize("language", PROGRAMS)
def test_signatures_comments_types_and_imports_stay_and_bodies_give_way(language: str) -> None:
    text = PROGRAMS[language]
    made = shorten(CODE, text)
    output = shown(made)
    assert len(output) < 0.6 * len(text)
    for i in range(14):
        assert re.search(rf"[wW]ork{i}\b", output)
        assert f"ork number {i} is done here" in output or f"Work{i} is done here" in output
    assert output.startswith(text[:60])
    body_lines = [line for line in text.splitlines() if "maple_" in line or "pearl_" in line or "ember_" in line]
    assert sum(line in output for line in body_lines) < 0.5 * len(body_lines)


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_body_is_replaced_by_a_bare_line_that_names_its_lines(language: str) -> None:
    text = PROGRAMS[language]
    made = shorten(CODE, text)
    lines = text.split("\n")
    found = [m for m in MARKER.finditer(shown(made)) if m[2] == "lines"]
    assert len(found) >= 8
    for m in found:
        gone = lines[int(m[3]) - 1 : int(m[4] or m[3])]
        assert int(m[1]) == len([line for line in gone if line.strip()])
        assert not any(line in shown(made) for line in gone if "ompute" in line)


def test_the_closing_brace_stands_behind_the_marker_of_its_body() -> None:
    output = shown(shorten(CODE, PROGRAMS["go"]))
    assert re.search(r"func \(t \*Thing\) Work9\(first int\) error \{\n(?:\t.*\n)*… \d+ lines elided .*…\n\}\n", output)
    assert not re.search(r"\{\s*\}", output)


def test_a_signature_on_several_lines_stays_whole() -> None:
    assert "def work4(self, first,\n               second=None) -> int:\n" in shown(shorten(CODE, PROGRAMS["python"]))


def test_a_failure_is_kept_before_the_other_lines_of_its_body() -> None:
    lines = [f"    value_{k} = compute_something({k})" for k in range(40)]
    lines[25] = '    raise ValueError("pearls are gone")'
    text = "\n".join(["def first():", *lines, "", "", "def second():", *lines, ""]) * 3
    assert "pearls are gone" in shown(shorten(CODE, text))


def test_a_licence_keeps_its_first_line_only_and_a_comment_its_first() -> None:
    licence = "/*\n * Copyright 2026 Nobody.\n" + " * Words of a licence that go on and on and on.\n" * 40 + " */\n"
    note = "// Frobs the knobs.\n" + "".join(f"// More on knob {i}, which is rather long a story.\n" for i in range(60))
    text = licence + "\n#include <a.h>\n\n" + note + "int frob(int knob);\n" + PROGRAMS["c"]
    output = shown(shorten(CODE, text))
    assert output.startswith("/*\n * Copyright 2026 Nobody.\n… 1 notice elided (L3–42) …\n */\n")
    assert "// Frobs the knobs.\n" in output
    assert "int frob(int knob);" in output
    assert "knob 59" not in output


def test_members_that_do_not_fit_are_named() -> None:
    text = "class Big {\n" + "".join(
        f"    int {w}{7 * i}() {{\n{body(i, 'int ~ = 1;', '        ')}    }}\n" for i in range(60) for w in ["get"]
    )
    made = shorten(CODE, text + "}\n", places=24)
    found = [m for m in MARKER.finditer(shown(made)) if m[2] == "members"]
    assert found
    names = found[-1][5].rpartition("name: ")[2].split(", ")
    lines = text.split("\n")[int(found[-1][3]) - 1 : int(found[-1][4])]
    assert names == re.findall(r"get\d+", "\n".join(lines))


def test_rows_of_an_insert_are_records_with_facts() -> None:
    rows = ",\n".join(f"({10**9 + i}, 'u{i}', 'active')" for i in range(400))
    made = shorten(CODE, f"INSERT INTO users (id, name, state) VALUES\n{rows};\n")
    output = shown(made)
    assert "(1000000000, 'u0', 'active')," in output
    assert "(1000000399, 'u399', 'active');" in output
    assert re.search(r"… \d+ rows elided \(L\d+–\d+\): all state=active; id: \d+ distinct", output)


def test_rows_inserted_one_by_one_are_records_too() -> None:
    made = shorten(
        CODE,
        "".join(f"INSERT INTO t (id, state) VALUES ({i}, '{'odd' if i == 77 else 'even'}');\n" for i in range(400)),
    )
    assert "VALUES (77, 'odd')" in shown(made)
    assert "all state=even" in shown(made)


def test_a_row_that_is_more_than_plain_values_makes_no_fact() -> None:
    made = shorten(CODE, "INSERT INTO t (id, at) VALUES\n" + ",\n".join(f"({i}, now())" for i in range(400)) + ";\n")
    assert "rows elided" in shown(made)
    assert all(not marker.facts for marker in made.markers)


def test_minified_code_is_cut_at_ends_of_statements() -> None:
    text = (
        "!function(e){" + "".join(f"var a{i}=function(b){{return b*{i}+c{i}.d(e)}};" for i in range(400)) + "}(this);\n"
    )
    made = shorten(CODE, text)
    assert len(made.text) < 0.5 * len(text)
    assert re.search(r"[;}]\n… \d+ pieces elided \(L1\) …\n", shown(made))


def test_brackets_in_strings_and_comments_open_nothing() -> None:
    text = "int a(void)\n{\n    puts(\"{{{ it's\"); /* { */ char c = '{'; // {\n}\n\nint b(void)\n{\n    return 1;\n}\n"
    (root,) = CODE.split(text).groups  # type: ignore[union-attr]
    assert [text[a:b].split("\n")[0] for a, b in zip(root.starts, root.stops, strict=True)] == [
        "int a(void)",
        "int b(void)",
    ]


def test_branches_of_the_preprocessor_that_both_open_a_block_do_not_shift_what_follows() -> None:
    text = (
        "#ifdef A\nint f(int x) {\n#else\nint f(void) {\n#endif\n    return 1;\n}\n\nint g(void) {\n    return 2;\n}\n"
    )
    (root,) = CODE.split(text).groups  # type: ignore[union-attr]
    assert any(text[a:].startswith("int g(void)") for a in root.starts)


def test_a_query_keeps_the_line_it_asks_for() -> None:
    text = PROGRAMS["java"]
    asked = "pearl_9_15" if "pearl_9_15" in text else "larch_9_11"
    assert asked not in shown(shorten(CODE, text))
    assert asked in shown(shorten(CODE, text, query=f"work9 {asked}"))


def test_a_larger_ceiling_never_shows_less() -> None:
    engine, seen = Engine(open_memory()), -1
    for ceiling in (60, 120, 300, 600, 900, 1500):
        result = engine.compress(PROGRAMS["rust"], content_type="code", max_tokens=ceiling)
        assert result.tokens_after <= ceiling or result.reason == "over_budget"
        kept = len([line for line in result.text.splitlines() if line.strip() and not line.startswith(("…", "[cave"))])
        assert kept >= seen
        seen = kept


def test_a_question_finds_the_body_and_names_where_it_stands() -> None:
    text = PROGRAMS["python"] * 3
    view = narrow(CODE.split(source(text.encode())), "work7 flint_7_5", "[end]")  # type: ignore[arg-type]
    assert view is not None
    assert "flint_7_5" in view[0]
    assert len(view[0]) < 0.3 * len(text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_is_kept(end: str) -> None:
    text = PROGRAMS["c"].replace("\n", end)
    made = shorten(CODE, text)
    assert f"){end}{{{end}" in made.text
    assert shown(made).count("lines elided (L") >= 8
    assert made.text.endswith("]" + end)


def test_white_space_is_no_program() -> None:
    assert CODE.split(" \n\n\t\n") is None


def check(document: Document) -> None:
    """Units are in order, apart, and inside of their parents; no group lies deeper than 8."""
    waiting = [(document.groups, 0, len(document.text), 1)]
    while waiting:
        siblings, low, high, depth = waiting.pop()
        assert depth <= 8
        at = low
        for group in siblings:
            assert len(group)
            for i, (start, stop) in enumerate(zip(group.starts, group.stops, strict=True)):
                assert at <= start < stop <= high
                at = stop
                if i in group.children:
                    waiting.append((group.children[i], start, stop, depth + 1))
            assert all(0 <= i < len(group) for i in group.pinned)


LINES = st.sampled_from(
    [
        *("def f(", "    x):", "  return {", "}", "{", "class A:", "class A {", "  '''doc", "'''", '"""', "// c", "/* c", "*/"),
        *("#define A \\", "#if x", "#else", "#endif", "# c", "@deco", "@deco(", ")", "", "  ", "\t\tx = [", "]", "end", "do", "fi"),
        *("if x; then", "cat <<EOF", "EOF", "INSERT INTO t (a, b) VALUES", "(1, 'x'),", "(2, '''y');", "COPY t FROM stdin;", "\\."),
        *("insert into t values (1, 'a');",) * 4,
        *("fn main() {", "func x() {", "<?php", "$x = 1;", "} else {", "case 1:", "x" * 700, "a;b}c," * 300, "\x85\xa0", "`", "'"),
    ]
)  # fmt: skip


@given(st.one_of(st.binary(max_size=400).map(source), st.lists(LINES, max_size=60).map("\n".join)))
@example("class A {\n(2, '''y');\n@deco\n" + "x" * 700)  # a long line in a string that is never closed
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_cut_into_nested_slices(text: str) -> None:
    document = CODE.split(text)
    if document is not None:
        check(document)
        assert document.text == text


@given(st.lists(LINES, min_size=20, max_size=200).map("\n".join), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_what_stays_are_slices_and_every_marker_spans_what_is_gone(text: str, share: float) -> None:
    if not text.strip(" \t\n"):
        return
    data = raw(text)
    whole = shorten(CODE, data)
    made = shorten(CODE, data, places=int(share * len(whole.order.places)))
    output, at, rebuilt = made.text, 0, ""
    for marker in made.markers:
        rebuilt += output[at : marker.start] + text[marker.spans[0][0] : marker.spans[-1][1]]
        at = marker.stop
    assert (rebuilt + output[at:]).startswith(text)


@pytest.mark.parametrize(
    "piece",
    [
        *("(){\n", "{", "}", " ", "\n", "/*\n", '\\"', "'", "cat <<EOF\n", "#define A \\\n", "x", "a;", "def f(x):\n  y\n", "@a\n"),
        *("`", '"""', "insert into t values (1,'a');\n", "(1,'a'),", "class A {\n", "// a\n", "int\n", "public static ", "#if a\n#else\n"),
    ],
)  # fmt: skip
def test_time_grows_with_the_size_only(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        start = time.process_time()
        CODE.split(text)
        return time.process_time() - start

    seconds(20_000)
    assert seconds(240_000) < 60 * max(seconds(20_000), 0.02)
