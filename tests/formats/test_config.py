"""Configuration: blocks go, key paths stay, and what is left still parses as what it was."""

from __future__ import annotations

import configparser
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import Shortened, cut, shorten

from caveman_wasm.formats.config import CONFIG
from caveman_wasm.model import Document, Group, plain, raw
from caveman_wasm.narrow import narrow

NAMES = ["auth", "billing", "cart", "courier", "gate", "ledger", "mailer", "notes", "orders", "pricing", "quota", "tax"]


def said(made: Shortened) -> str:
    return plain(made.text)


def services(count: int = 60, odd: int = 31) -> str:
    return "services:\n" + "".join(
        f"  svc-{i}:\n    image: app:1.0\n    replicas: {900 if i == odd else 2}\n    memory: {i}Mi\n"
        for i in range(count)
    )


def toml(count: int = 60) -> str:
    return "version = 4\n" + "".join(
        f'\n[[package]]\nname = "crate-{i}"\nversion = "1.{i}.0"\nchecksum = "{i:064x}"\n'
        f'dependencies = [\n "crate-0",  # always\n "crate-1",\n]\n'
        for i in range(count)
    )


def ini(count: int = 30) -> str:
    return "# Settings.\n" + "".join(
        f"\n[{name}-{i}]\n# The port.\nport = {8000 + i}\nhosts =\n    a{i}.invalid\n    b{i}.invalid\nmode = {'ab'[i % 2]}\n"
        for i in range(count)
        for name in ("web", "db")
    )


def xml(count: int = 60) -> str:
    rows = "".join(
        f'  <dependency scope="test">\n    <groupId>org.x</groupId>\n    <artifactId>art-{i}</artifactId>\n'
        f"    <version>2.{i}</version>\n  </dependency>\n"
        for i in range(count)
    )
    return f'<?xml version="1.0"?>\n<!-- Built by hand. -->\n<project name="p">\n  <modelVersion>4</modelVersion>\n{rows}</project>\n'


def hcl(count: int = 40) -> str:
    return "".join(
        f'# Bucket {i}.\nresource "bucket" "b{i}" {{\n  name = "shop-{i}"\n  size = {i}\n  policy = <<EOT\n{{ not a block\nEOT\n'
        f'  tags = {{\n    owner = "team-{i}"\n  }}\n}}\n'
        for i in range(count)
    )


def documents(count: int = 24) -> str:
    return "".join(
        f"---\napiVersion: v1\nkind: {'Deployment' if i % 2 else 'Service'}\nmetadata:\n  labels:\n    app: shop\n"
        f"  name: thing-{i}\nspec:\n  replicas: {2 if i != 9 else 900}\n  ports:\n"
        + "".join(f"  - name: p{k}\n    port: {k}\n" for k in range(8))
        for i in range(count)
    )


def schema() -> str:
    return "properties:\n" + "".join(
        f"  field{i}:\n    description: |-\n      Tells the number {i} of it.\n"
        + "".join(f"      More words in line {k} that nobody needs at once.\n" for k in range(6))
        + f"    type: {'string' if i % 2 else 'integer'}\n    nested:\n      default: {i}\n      minimum: 0\n      examples: [{i}, {i}]\n"
        for i in range(5)
    )


def parsed_yaml(text: bytes) -> Any:
    return list(pytest.importorskip("yaml").safe_load_all(text))


def parsed_ini(text: bytes) -> Any:
    read = configparser.RawConfigParser(strict=False, allow_no_value=True)
    read.read_string(text.decode())
    return {name: dict(read[name]) for name in read.sections()}


def parsed_toml(text: bytes) -> Any:
    return tomllib.loads(text.decode())


def parsed_xml(text: bytes) -> Any:
    def value(element: ET.Element) -> Any:
        return [value(e) for e in element] if len(element) else (element.text or "").strip()

    return value(ET.fromstring(text))


SYNTAXES: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    "services": (services(), parsed_yaml),
    "documents": (documents(), parsed_yaml),
    "schema": (schema(), parsed_yaml),
    "toml": (toml(), parsed_toml),
    "ini": (ini(), parsed_ini),
    "xml": (xml(), parsed_xml),
}


def leaves(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {leaf for key, inner in value.items() for leaf in {f"key {key}", *leaves(inner)}}
    if isinstance(value, list):
        return {leaf for inner in value for leaf in leaves(inner)}
    return {line.strip() for line in str(value).splitlines()} - {""}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("text", "parse"), SYNTAXES.values(), ids=SYNTAXES.keys())
def test_whatever_is_left_out_the_rest_parses_to_values_that_were_there(
    text: str, parse: Callable[[bytes], Any], newline: str
) -> None:
    payload = text.replace("\n", newline).encode()
    known = leaves(parse(payload)) | {"None"}  # a key all of whose items are gone
    total = len(shorten(CONFIG, payload).order.places)
    for places in (*range(0, total, max(1, total // 40)), total):
        made = shorten(CONFIG, payload, places=places)
        assert leaves(parse(raw(made.text))) <= known, places


@pytest.mark.parametrize("text", [*(t for t, _ in SYNTAXES.values()), hcl()], ids=[*SYNTAXES, "hcl"])
def test_at_least_half_of_a_repetitive_file_goes_and_its_lines_stay_verbatim(text: str) -> None:
    made = shorten(CONFIG, text)
    assert len(made.text) < (0.62 if len(text) > 4000 else 0.75) * len(text)
    lines = set(text.split("\n"))
    ours = [line for line in map(str.rstrip, said(made).split("\n")) if line and line not in lines]
    assert all("elided" in line or "[caveman: " in line for line in ours)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (services(), r"^  # … \d+ blocks elided \(L\d+–\d+\)"),
        (toml(), r"^# … \d+ packages elided"),
        (ini().replace("#", ";"), r"^; … \d+ sections elided"),
        (xml(), r"^  <!-- … \d+ elements elided .* … -->$"),
        (hcl(), r"^# … \d+ blocks elided"),
        ("// Made.\n" + hcl().replace("# ", "// "), r"^// … \d+ blocks elided"),
        ("".join(f"# About {n}.\n{n.upper()}_{i}=some/value/{i}\n\n" for i in range(9) for n in NAMES), r"^# … \d+ settings elided"),
    ],
)  # fmt: skip
def test_a_marker_is_a_comment_of_the_file_s_own_at_the_place_s_indentation(text: str, pattern: str) -> None:
    made = shorten(CONFIG, text)
    assert made.markers
    assert re.search(pattern, said(made), re.MULTILINE), said(made)


def test_the_line_range_of_a_marker_is_what_is_missing() -> None:
    text = services()
    numbered = text.split("\n")
    for found in re.finditer(r"elided \(L(\d+)–(\d+)\)", said(shorten(CONFIG, text))):
        gone = numbered[int(found[1]) - 1 : int(found[2])]
        assert re.match(r"  svc-\d+:", gone[0])
        assert re.match(r"    memory: \d+Mi", gone[-1])


def test_the_extreme_of_a_repeated_key_is_seen_and_the_others_are_stated() -> None:
    """F19: replicas: 900 among replicas: 2."""
    made = shorten(CONFIG, services())
    assert "replicas: 900" in said(made)
    assert all("replicas=2" in " ".join(m.facts) for m in made.markers if m.count > 3)


def test_the_extreme_is_seen_deep_in_different_documents() -> None:
    assert "replicas: 900" in said(shorten(CONFIG, documents()))


def test_the_names_of_what_went_are_all_told() -> None:
    text = said(shorten(CONFIG, services()))
    assert all(f"svc-{i}" in text for i in range(60))


def test_a_lock_file_tells_name_and_version_of_every_package() -> None:
    text = said(shorten(CONFIG, toml()))
    assert all(f"crate-{i}@1.{i}.0" in text or f'name = "crate-{i}"\nversion = "1.{i}.0"' in text for i in range(60))
    yarn = "# yarn lockfile v1\n\n" + "".join(
        f'"@scope/pkg-{i}@^{i}.0.0", "@scope/pkg-{i}@^{i}.1.0":\n  version "{i}.2.3"\n  resolved "https://r.invalid/{i}.tgz#{i:040x}"\n'
        f"  integrity sha512-{i:086x}\n\n"
        for i in range(40)
    )
    text = said(shorten(CONFIG, yarn))
    assert all(f"@scope/pkg-{i}@{i}.2.3" in text or f'pkg-{i}@^{i}.0.0"' in text for i in range(40))


def test_other_lock_files_tell_their_packages_too() -> None:
    gems = "GEM\n  remote: https://gems.invalid/\n  specs:\n" + "".join(
        f"    gem-{i} (7.{i}.0)\n      concurrent (~> 1.0, >= 1.0.2)\n      i18n (>= 1.6)\n" for i in range(60)
    )
    sums = "".join(f"host.invalid/{NAMES[i % 12]}{i} v1.{i}.0 h1:{i:043x}=\n" for i in range(80))
    pins = "".join(f"pin-{i}==2.{i} \\\n    --hash=sha256:{i:064x} \\\n    --hash=sha256:{i:064x}\n" for i in range(60))
    for text, name in ((gems, "gem-{0}@7.{0}.0"), (pins, "pin-{0}@2.{0}")):
        made = shorten(CONFIG, text)
        assert len(made.text) < 0.5 * len(text)
        for i in range(60):
            shown = (name.format(i), f"gem-{i} (7", f"pin-{i}==")
            assert any(form in said(made) for form in shown)
    assert all(m.noun == "packages" for m in shorten(CONFIG, sums).markers)


def test_blocks_of_nginx_and_apache_are_entered_and_named() -> None:
    nginx = "user www;\nhttp {\n    log_format main '$a '\n                    '$b {';\n" + "".join(
        f"    upstream {n}-{i} {{\n        server 10.0.{i}.1;\n        keepalive {512 if i == 7 else 16};\n    }}\n"
        for i in range(20) for n in NAMES[:2]
    ) + "}\n"  # fmt: skip
    made = said(shorten(CONFIG, nginx))
    assert "keepalive 512;" in made
    assert "all keepalive=16" in made
    assert made.count("{") - made.count("'$b {'") == made.count("}")
    apache = "ServerRoot /etc\n" + "".join(
        f"<VirtualHost *:{8000 + i}>\n    ServerName {n}-{i}.invalid\n    <Directory /srv/{n}>\n        Options None\n"
        f"    </Directory>\n</VirtualHost>\n" for i in range(9) for n in NAMES
    )  # fmt: skip
    made = said(shorten(CONFIG, apache))
    assert "blocks elided" in made
    assert made.count("<VirtualHost") - made.count('"<VirtualHost') == made.count("</VirtualHost>")


def test_every_document_keeps_the_lines_that_name_it() -> None:
    text = documents().replace("port:", "port: &p" + "x" * 50 + "\n    number:")
    made = said(shorten(CONFIG, text))
    assert len(re.findall(r"^kind: ", made, re.MULTILINE)) == 24
    assert all(f"  name: thing-{i}\n" in made for i in range(24))


def test_of_many_short_documents_one_of_each_kind_is_seen_and_all_are_named() -> None:
    made = said(shorten(CONFIG, documents()))
    assert "kind: Deployment\n" in made
    assert "kind: Service\n" in made
    assert all(f"thing-{i}" in made for i in range(24))


def test_a_setting_that_is_a_block_keeps_the_first_line_of_its_description_and_its_type() -> None:
    made = shorten(CONFIG, schema())
    for i in range(5):
        assert f"Tells the number {i} of it." in said(made)
    assert said(made).count("    type: ") == 5
    assert "lines elided" in said(made)


def test_a_long_comment_keeps_its_first_line_and_stays_with_its_key() -> None:
    blocks = "".join(
        f"# What {n} does.\n" + "".join(f"# Line {k} of many about it, none of them needed.\n" for k in range(9)) + f"{n}={i}\n\n"
        for i, n in enumerate(NAMES)
    )  # fmt: skip
    made = said(shorten(CONFIG, blocks))
    assert all(f"# What {n} does.\n" in made and f"\n{n}={i}\n" in made for i, n in enumerate(NAMES))
    assert "1 comment elided" in made


def commented(comments: str) -> str:
    blocks = "".join(f"{comments.format(n)}<{n}>{i}</{n}>\n\n" for i, n in enumerate(NAMES))
    return f"<settings>\n{blocks}</settings>\n"


def test_comments_in_xml_keep_the_first_that_says_something_and_stay_with_their_element() -> None:
    lines = "".join(f"<!-- Line {k} of many about it, none needed. -->\n" for k in range(9))
    made = said(shorten(CONFIG, commented("<!-- =========== -->\n<!-- What {} does. -->\n" + lines)))
    assert all(f"<!-- What {n} does. -->\n" in made and f"\n<{n}>{i}<" in made for i, n in enumerate(NAMES))
    assert len(re.findall(r"does. -->\n<!-- … 1 comment elided \(.*\) … -->\n<", made)) > len(NAMES) / 2


def test_a_short_comment_in_xml_goes_with_its_element_over_an_empty_line() -> None:
    same = "".join(
        "<!-- about this -->\n\n" * (i % 5 == 0) + f'<allow from="host{i}" kind="name"/>\n' for i in range(60)
    )
    made = shorten(CONFIG, f"<policy>\n{same}</policy>\n")
    assert len(made.markers) < 4
    assert any("kind=name" in fact for m in made.markers for fact in m.facts)


def test_an_anchor_stays_for_the_aliases_that_point_at_it() -> None:
    yaml = pytest.importorskip("yaml")
    text = "defaults:\n  logging: &log\n    driver: json\n    size: 5m\n" + services()
    text = text.replace("    image: app:1.0\n", "    image: app:1.0\n    logging: *log\n")
    total = len(shorten(CONFIG, text).order.places)
    for places in range(0, total, max(1, total // 20)):
        yaml.safe_load(raw(shorten(CONFIG, text, places=places).text))


@pytest.mark.parametrize(
    "text",
    [
        "env:\n" + "".join(f"  - name: DB_PASSWORD_{i}\n    value: hunter{i}\n    scope: all\n" for i in range(60)),
        "env:\n" + "".join(f"  - DB_PASSWORD_{i}=hunter{i}-{'x' * 30}\n" for i in range(60)),
        "users:\n"
        + "".join(f"  u{i}:\n    shell: /bin/sh\n    password: hunter{i}\n    home: /home\n" for i in range(60)),
        "urls:\n" + "".join(f"  - postgres://app:hunter{i}@db{i}.invalid/shop/and/more\n" for i in range(60)),
        "<c>" + "".join(f'<add key="ApiToken{i}" value="hunter{i}" kind="s"/>\n' for i in range(90)) + "</c>",
    ],
)
def test_no_secret_is_quoted_in_a_marker(text: str) -> None:
    made = shorten(CONFIG, text)
    assert made.markers
    assert not any("hunter" in fact for m in made.markers for fact in m.facts)


def test_no_comment_in_xml_holds_two_hyphens() -> None:
    rows = "".join(f'<arg name="--flag-{i}" group="a--b"><value>--x{i}</value></arg>\n' for i in range(80))
    made = shorten(CONFIG, f"<args>\n{rows}</args>\n")
    assert made.markers
    for comment in re.findall(r"<!--(.*?)-->", said(made), re.DOTALL):
        assert "--" not in comment


def test_a_text_is_cut_from_its_end_even_where_the_query_hits_its_middle() -> None:
    yaml = pytest.importorskip("yaml")
    lines = [f"line {i} says {'walrus' if i == 40 else 'little'} and # no: comment" for i in range(90)]
    text = "a: 1\nscript: |\n" + "".join(f"    {line}\n" for line in lines) + "b: 2\n"
    made = shorten(CONFIG, text, query="walrus")
    kept = yaml.safe_load(raw(made.text))
    assert made.markers
    assert lines[40] in kept["script"]
    assert {line.rstrip() for line in kept["script"].splitlines()} <= {*lines, ""}
    assert kept["b"] == 2


def test_what_the_query_asks_for_is_kept() -> None:
    assert "svc-44:" not in said(shorten(CONFIG, services()))
    assert "  svc-44:\n" in said(shorten(CONFIG, services(), query="svc-44"))


@pytest.mark.parametrize("text", [*(t for t, _ in SYNTAXES.values()), hcl()], ids=[*SYNTAXES, "hcl"])
def test_more_places_never_show_less(text: str) -> None:
    shown: set[str] = set()
    total = len(shorten(CONFIG, text).order.places)
    for places in range(0, total + 1, max(1, total // 25)):
        made = said(shorten(CONFIG, text, places=places))
        lines = {line.rstrip() for line in made.split("\n") if line.rstrip() in text}
        assert shown <= lines
        shown = lines


def test_brackets_nine_thousand_deep_and_ten_thousand_nested_elements_do_no_harm() -> None:
    """F06."""
    for text in (
        "a: 1\nn: " + "[" * 9000 + "]" * 9000 + "\n",
        "<a>" * 10_000 + "</a>" * 10_000,
        "a {\n" * 9000 + "}\n" * 9000,
    ):
        document = cut(CONFIG, text)
        if document is not None:
            assert len(shorten(CONFIG, text).text) <= len(text) + 400


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "a: 1\n", "<a>", "<a></b>", "<a><!-- ", "<?xml ", "[[[[", "key", "<", "\xef\xbb\xbf", "- " * 5000],
)
def test_what_cannot_be_cut_is_no_document(text: str) -> None:
    assert cut(CONFIG, text) is None


def nested(group: Group, start: int, stop: int, depth: int = 1) -> None:
    assert depth <= 9
    at = start
    for i, (a, b) in enumerate(zip(group.starts, group.stops, strict=True)):
        assert at <= a < b <= stop
        at = b
        inside = a
        for child in group.children.get(i, ()):
            nested(child, inside, b, depth + 1)
            inside = child.stops[-1]
    assert all(0 <= i < len(group) for i in group.pinned)


def sound(document: Document | None) -> None:
    at = 0
    for group in document.groups if document is not None else ():
        nested(group, at, len(document.text) if document is not None else 0)
        at = group.stops[-1]


PIECES = st.sampled_from(
    [
        *("a: 1", "b:", "  c: |", "    text", "- x", "  - y: z", "- - a", "---", "...", "# note", "&a x: *a", "k: [1,", "2]", "q: \"x", "'"),
        *("[s]", "[[t]]", "k = v", "k = [", "  1,", "]", 'x = """', "; off", "#k=v", "  more", "a \\", "b {", "}", "c d;", "e = <<X", "X"),
        *("<a>", "</a>", "<b/>", "<!--", "-->", "<c d='e'>f</c>", "<V *>", "</V>", "? k", ": v", "", "\t", "\xff", "{", "/*", "*/"),
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "  ", "    ", "\t"]), PIECES), max_size=60),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_mixture_of_lines_is_cut_into_units_that_lie_inside_each_other(
    lines: list[tuple[str, str]], end: str
) -> None:
    payload = "".join(indent + line + end for indent, line in lines).encode("latin-1")
    sound(cut(CONFIG, payload))
    sound(cut(CONFIG, b"<r>" + payload + b"</r>"))


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=400),
    st.sampled_from([services(8), toml(6), xml(6), hcl(5), ini(5)]),
    st.integers(0, 4000),
    st.integers(0, 40),
)
def test_any_bytes_anywhere_are_no_trouble_and_what_stays_is_the_payload_s(
    junk: bytes, text: str, at: int, places: int
) -> None:
    payload = text.encode()[:at] + junk + text.encode()[at:]
    document = cut(CONFIG, payload)
    sound(document)
    if document is None:
        return
    made = shorten(CONFIG, payload, places=places)
    assert raw(document.text) == payload
    rest = made.text
    for marker in reversed(made.markers):
        rest = rest[: marker.start] + "\0" + rest[marker.stop :]
    rest = rest.replace(made.form.reference(_reference(made), document), "")
    position = 0
    for piece in rest.split("\0"):
        found = document.text.find(piece.rstrip(" "), position)
        assert found >= 0
        position = found


def _reference(made: Shortened) -> str:
    from caveman_wasm.markers import reference

    return reference("ccr_" + "0" * 32, len(made.markers), sum(m.count for m in made.markers))


@pytest.mark.parametrize(
    ("text", "query", "answer"),
    [
        (documents(), "thing-17 replicas", "name: thing-17"),
        (toml(), "checksum of crate-33", f"{33:064x}"),
        (ini(), "port of web-21", "8021"),
        (xml(), "version of art-44", "2.44"),
        (hcl(), "who owns bucket b31", "team-31"),
    ],
)
def test_a_question_finds_its_block_with_the_path_to_it(text: str, query: str, answer: str) -> None:
    document = cut(CONFIG, text)
    assert document is not None
    view = narrow(document, query, "[caveman: a part]")
    assert view is not None
    assert answer in plain(view[0])
    assert len(view[0]) < 0.5 * len(text)


def test_a_view_names_the_key_path_of_what_it_shows() -> None:
    document = cut(
        CONFIG, "root:\n" + services(120).replace("\n", "\n  ")[:-2].replace("services", "  services") + "\n"
    )
    assert document is not None
    view = narrow(document, "svc-77 memory", "[caveman: a part]")
    assert view is not None
    assert "[caveman: in root.services]" in plain(view[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "a: [\n" * n,
        lambda n: "a: 'x\nb: \"y\n" * n,
        lambda n: "- " * n,
        lambda n: "\n" * n,
        lambda n: "<a>" + "<!--" * n,
        lambda n: "x = <<EOT\ny {\n" * n,
        lambda n: "a = [\n[s]\n" * n,
        lambda n: "a" * n,
    ],
)
def test_what_is_never_closed_takes_time_in_proportion(make: Callable[[int], str]) -> None:
    def seconds(n: int) -> float:
        begun = process_time()
        cut(CONFIG, make(n))
        return process_time() - begun

    small = min(seconds(4_000) for _ in range(2))
    assert seconds(32_000) < 8 * 4 * small + 1.0
