"""The one table of cases for references, and what no reference is."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caveman_wasm.errors import InvalidArguments, InvalidReference
from caveman_wasm.references import Reference, content_hash, handle, object_id, parse_reference

H = "ccr_e3b0c44298fc1c149afbf4c8996fb924"
O = "ccr_obj_0123456789abcdef0123456789abcdef"  # noqa: E741

ACCEPTED = [
    # the forms
    (H, H, None),
    (O, O, None),
    (f"<<ccr:{H}>>", H, None),
    (f"<<ccr:{O}>>", O, None),
    (f"ccr:{H}", H, None),
    (f"ccr:{O}", O, None),
    (f"ccr://{H}", H, None),
    (f"ccr://{O}", O, None),
    # white space, the blanks of other scripts and invisible ones too
    (f"  {H}\r\n", H, None),
    (f"\u00a0\u3000{H}\u200b", H, None),
    (f"\ufeff<<ccr:{H}>>\n", H, None),
    (f"<< ccr:{H} >>", H, None),
    # upper case
    (H.upper(), H, None),
    (f"CCR://{O.upper()}", O, None),
    (f"<<CCR:{H.upper()}>>", H, None),
    (f"<<ccr:CCR_{H[4:].upper()}>>", H, None),
    # quotes, backticks, brackets, emphasis, in any mixture
    (f'"{H}"', H, None),
    (f"'{O}'", O, None),
    (f"`{H}`", H, None),
    (f"```\n{H}\n```", H, None),
    (f"“{H}”", H, None),
    (f"„{H}“", H, None),
    (f"”{H}”", H, None),
    (f"「{H}」。", H, None),
    (f"({H})", H, None),
    (f"[{H}]", H, None),
    (f"{{{H}}}", H, None),
    (f"<{H}>", H, None),
    (f"<ccr://{H}>", H, None),
    (f"**{H}**", H, None),
    (f"__`{H}`__", H, None),
    (f'(`"<<ccr:{H}>>"`)', H, None),
    (f'"{H}', H, None),  # copied one character short or long
    (f"{H}`", H, None),
    (f"[… with this reference: <<ccr:{H}>>]".removeprefix("[… with this reference: "), H, None),
    # trailing punctuation
    (f"{H}.", H, None),
    (f"{H},", H, None),
    (f"<<ccr:{H}>>).", H, None),
    (f'"{H}".', H, None),
    (f"{H}…", H, None),
    (f"{H}?!", H, None),
    (f"（{H}）。", H, None),
    # Markdown links
    (f"[the log]({H})", H, None),
    (f"[the log](ccr://{H}).", H, None),
    (f"[`{O}`](ccr://{H})", H, None),
    (f'[log](<ccr://{H}> "a title")', H, None),
    (f'[log](ccr://{H} "a title")', H, None),
    (f"([log](ccr://{H}))", H, None),
    (f"**[log #3](ccr://{H}#line=1,2)**", H, "line=1,2"),
    # selectors
    (f"{H}#", H, ""),
    (f"ccr://{H}#/orders/3/total", H, "/orders/3/total"),
    (f"{H}#/orders", H, "/orders"),
    (f"ccr:{O}#/a", O, "/a"),
    (f"<<ccr:{H}#/a>>", H, "/a"),
    (f"<<ccr:{H}>>#/a", H, "/a"),
    (f"`<<ccr:{H}>>#/a`", H, "/a"),
    (f"CCR://{H.upper()}#/Key", H, "/Key"),
    (f"CCR://{H.upper()}#LINE=10,20", H, "line=10,20"),
    (f"{H}#/", H, "/"),
    (f"{H}#/a//b", H, "/a//b"),
    (f"{H}#/~0~1", H, "/~0~1"),
    (f"{H}#/a%20b", H, "/a%20b"),
    (f"{H}#/a#b", H, "/a#b"),
    (f"{H}#/ключ/键", H, "/ключ/键"),
    (f"{H}#line=10,20", H, "line=10,20"),
    (f"{H}#line=10", H, "line=10"),
    (f"{H}#line=,20", H, "line=,20"),
    (f"{H}#line=10,", H, "line=10,"),
    (f"{H}#char=0,5", H, "char=0,5"),
    (f"{H}#row=5-7", H, "row=5-7"),
    (f"{H}#row=5", H, "row=5"),
    (f"{H}#row=5-*", H, "row=5-*"),
    (f"{H}#row=1;3-4", H, "row=1;3-4"),
    (f"{H}#col=2-3", H, "col=2-3"),
    (f"{H}#cell=4,1", H, "cell=4,1"),
    (f"{H}#cell=4,1-6,5", H, "cell=4,1-6,5"),
    # after a selector only enclosing pairs are taken off
    (f"{H}#/a/3.", H, "/a/3."),
    (f"{H}#/a)", H, "/a)"),
    (f'{H}#/a"', H, '/a"'),
    (f'"{H}#/a/3."', H, "/a/3."),
    (f'"{H}#/a/3".', H, "/a/3"),
    (f"(ccr://{H}#/a).", H, "/a"),
    (f"( ccr://{H}#/a ) ", H, "/a"),
    (f"`(ccr://{H}#/f(x))`", H, "/f(x)"),
    (f"“ccr://{H}#/a”", H, "/a"),
    (f"[x](ccr://{H}#/a.)", H, "/a."),
    (f" {H}#/a\n", H, "/a"),
]

REFUSED = [
    "",
    " ",
    "#",
    "ccr",
    "ccr_",
    "ccr:",
    "ccr://",
    "<<ccr:>>",
    "()",
    "[]()",
    "[x](",
    "[x]( )",
    f"[{H}](https://example.com)",
    f"[x](ccr://{H}) and more",
    "e3b0c44298fc1c149afbf4c8996fb924",
    "ccr_obj_",
    f"ccr-{H[4:]}",
    f"ccr_{'g' * 32}",
    f"ccr_{'０' * 32}",  # full-width digits are digits to some
    f"{H[:-1]}ſ",
    f"{H}0",
    f"{H[:-1]}",
    f"{H[:20]}…{H[-4:]}",
    f"{H} {H}",
    f"{H} please",
    f"see {H}",
    f"ccr:///{H}",
    f"ccr:ccr:{H}",
    f"http://{H}",
    f"ccr://{H}/orders",
    f"ccr://{H}?query=x",
    f"{H[:10]}\n{H[10:]}",
    f"{H}\0",
    f"{H}#orders",
    f"{H}#/a~",
    f"{H}#/a~2",
    f"{H}#line=",
    f"{H}#line=,",
    f"{H}#line=a",
    f"{H}#line=1,2;length=9",
    f"{H}#line=-1,2",
    f"{H}#line=１",
    f"{H}#row=",
    f"{H}#row=1-",
    f"{H}#row=1,2",
    f"{H}#cell=1",
    f"{H}#page=3",
    f"{H}#LINE",
    f"{H}#line=1,2.",  # after a selector nothing is taken off, and this is no line
    f'"{H}#/a',  # opens and does not close
    f"<<ccr:{H}#/a>",
    f"{H[:30]}#/a",
]


@pytest.mark.parametrize(("text", "id", "selector"), ACCEPTED)
def test_a_reference_is_read_however_it_was_copied(text: str, id: str, selector: str | None) -> None:
    assert parse_reference(text) == Reference(id, selector)
    assert parse_reference(text).is_object == id.startswith("ccr_obj_")


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(InvalidReference):
        parse_reference(text)


@pytest.mark.parametrize("value", [None, 3, H.encode(), [H], Reference(H)])
def test_a_reference_is_a_str(value: object) -> None:
    with pytest.raises(InvalidArguments):
        parse_reference(value)  # type: ignore[arg-type]


def test_a_handle_cut_short_says_how_many_digits_are_missing() -> None:
    with pytest.raises(InvalidReference, match=r"cut short: 5 of its 32 digits are missing"):
        parse_reference(H[:-5])
    with pytest.raises(InvalidReference, match="cut short: 30 of"):
        parse_reference("`<<ccr:CCR_AB…")
    with pytest.raises(InvalidReference, match="cut short: 1 of") as caught:
        parse_reference(O[:-1] + "#/a")
    assert caught.value.reference == O[:-1]


def test_a_handle_too_long_says_by_how_much() -> None:
    with pytest.raises(InvalidReference, match="too long: 3 digits more than 32") as caught:
        parse_reference(H + "abc")
    assert caught.value.reference == H


@pytest.mark.parametrize(
    "text", ["a secret of the payload", f"{H} a secret of the payload", f"{H}#a secret of the payload"]
)
def test_a_refusal_does_not_repeat_what_it_was_given(text: str) -> None:
    with pytest.raises(InvalidReference) as caught:
        parse_reference(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["x" * 10_000, "ccr_" + "a" * 4_000, "[" * 4_000, f"{H}#" + "x" * 4_000])
def test_a_refusal_stays_short(text: str) -> None:
    with pytest.raises(InvalidReference) as caught:
        parse_reference(text)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "piece", [" ", "(", '"', "<", ")", "a", "ccr_", "[](", "](", H, f"{H}#", "/", "~", "#", "/~0", "\ufeff"]
)
def test_a_huge_text_is_refused_at_once(piece: str) -> None:
    started = time.process_time()
    for text in (piece * (20_000_000 // len(piece)), piece * (4_000 // len(piece)), f"{H}#" + piece * 50):
        with suppress(InvalidReference):
            parse_reference(text)
    assert time.process_time() - started < 1


@given(st.binary())
def test_every_handle_is_read_back_in_every_form(payload: bytes) -> None:
    name = handle(payload)
    for form in (name, f"<<ccr:{name}>>", f"ccr:{name}", f"ccr://{name}", f" `{name.upper()}`. ", f"[a](ccr://{name})"):
        assert parse_reference(form) == Reference(name)


_KEY = st.text(st.characters(exclude_categories=["Cs", "Z", "Cc", "Cf"]), max_size=20)


@given(st.lists(_KEY, max_size=5), st.sampled_from(["{}", '"{}"', "`{}`", "({}).", "<{}>", " {}\n", "“{}”"]))
def test_every_json_pointer_is_kept_as_it_is(keys: list[str], frame: str) -> None:
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
    assert parse_reference(frame.format(f"ccr://{H}#{pointer}")) == Reference(H, pointer)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for candidate in (text, H + text, f"<<ccr:{text}>>", f"{H}#{text}", text + H):
        try:
            found = parse_reference(candidate)
        except InvalidReference:
            continue
        assert parse_reference(found.id) == Reference(found.id)


def test_the_handle_of_the_empty_payload_is_the_published_one() -> None:
    assert handle(b"") == "ccr_e3b0c44298fc1c149afbf4c8996fb924"


def test_a_content_hash_is_the_whole_digest() -> None:
    assert content_hash(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_an_object_id_hashes_the_five_fields_in_their_order_joined_by_nul() -> None:
    expected = "ccr_obj_" + handle(b"TestResult\0s1\0pytest\0abc\0sha256:00").removeprefix("ccr_")
    assert object_id("TestResult", "s1", "pytest", "abc", "sha256:00") == expected
    assert object_id("TestResult", "s1", "abc", "pytest", "sha256:00") != expected


def test_reading_references_imports_next_to_nothing() -> None:
    code = "import sys; sys.modules['caveman_wasm'] = type(sys)('caveman_wasm');"
    code += "sys.modules['caveman_wasm'].__path__ = [p + '/caveman_wasm' for p in sys.path];"
    code += "import caveman_wasm.references; print(*[m for m in ('json', 'sqlite3', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
