"""A page becomes its text: content stays, what is no content is counted, and no mark-up is too broken to read."""

from __future__ import annotations

import itertools
import re
from time import process_time

import pytest
from corpus.made_html import CALLS, reference, scripts, status, unclosed
from hypothesis import given, settings
from hypothesis import strategies as st
from shorten import cut, shorten

from caveman_wasm import Engine, open_memory
from caveman_wasm.formats.html import HTML
from caveman_wasm.model import Document, Group, plain, source


def text_of(page: str) -> str:
    rewritten = HTML.rewrite(source(page.encode("utf-8", "surrogatepass")))
    assert rewritten is not None
    return plain(rewritten.text)


def content_of(page: str) -> str:
    return text_of(page).partition("[Other parts of the page]")[0].strip()


def groups(document: Document) -> list[Group]:
    found = list(document.groups)
    for group in found:  # grows while it is walked
        found += [child for children in group.children.values() for child in children]
    return found


def page(body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>T</title></head><body>{body}</body></html>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>One</h1><h3 id=x>Two <em>three</em></h3>", "# One\n\n### Two three"),
        ("<p>a\n   b<br>c<p>d", "a b\nc\n\nd"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<pre>x  &lt; y\n  z</pre>", "```\nx  < y\n  z\n```"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>x|y<td>2</table>", "| x\\|y | 2 |\n| --- | --- |"),
        ("<p>&eacute;&#233;&#xe9; &amp;lt; &nosuch; &#0; 1&nbsp;2</p>", "ééé &lt; &nosuch; \ufffd 1 2"),
        ('<p>See <a href="https://a.invalid/x">the rules</a> of it.</p>', "See the rules (https://a.invalid/x) of it."),
        ('<p>See <a href="#top">the whole top</a>.</p>', "See the whole top."),
        ('<h2>Name<a href="#n">¶</a></h2>', "## Name"),
        ('<p>A <img src=a.png alt="red ship"> sails', "A [image: red ship] sails"),
        ("<dl><dt>k</dt><dd>v</dd><dt>l</dt><dd>w</dd></dl>", "- k: v\n- l: w"),
        ('<div role="alert">Closed today.</div>', "Alert: Closed today."),
        ("<p>1 < 2 and 3 > 2</p>", "1 < 2 and 3 > 2"),
        ('<p>a</p><img src="x" style="display: none"><p>b</p>', "a\n\nb"),  # what holds nothing hides nothing
        ("<p>a<svg/></p><p>b</p>", "a\n\nb"),
        ('<p>a</p><p title="1 > 0 <!-- x --> <script>">b</p>', "a\n\nb"),
    ],
)
def test_content_reads_as_text(body: str, expected: str) -> None:
    assert content_of(page(body)) == f"Title: T\n\n{expected}"


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ('<nav><a href="/q">zebra</a></nav>', "navigation"),
        ('<div class="side-bar menu"><a href="/q">zebra</a></div>', "navigation"),
        ("<footer>zebra inc.</footer>", "footer"),
        ('<aside><a href="/q">zebra</a></aside>', "sidebar"),
        ('<div hidden="">zebra</div>', "hidden part"),
        ('<div style="display: none">zebra</div>', "hidden part"),
        ("<svg><text>zebra</text></svg>", "drawing"),
        ("<button>zebra</button>", "control"),
        ("<script>zebra()</script>", "script"),
        ("<style>.zebra{}</style>", "style"),
        ('<script type="application/ld+json">{"a": "zebra"}</script>', "data"),
    ],
)
def test_what_is_no_content_goes_below_it_under_its_kind(part: str, kind: str) -> None:
    made = page(f"<main><p>{'Words of the page itself. ' * 30}</p></main>{part}")
    assert "zebra" not in content_of(made)
    assert f"\n[{kind}]" in text_of(made)


def test_the_marker_counts_the_other_parts_by_kind() -> None:
    links = "".join(f'<a href="/p{i}">Chapter number {i}</a>' for i in range(40))
    made = page(
        f"<main><p>{'Words of the page itself. ' * 90}</p></main><nav>{links}</nav>" + "<script>f()</script>" * 21
    )
    assert "22 parts elided: part: script×21 navigation×1" in plain(shorten(HTML, made, places=0).text)


def test_a_page_that_is_nearly_all_navigation_keeps_it() -> None:
    links = "".join(f'<li><a href="/p{i}">Chapter number {i}</a></li>' for i in range(60))
    assert "Chapter number 31" in content_of(page(f'<div class="toc"><ul>{links}</ul></div>'))


def test_alerts_and_small_tables_stay_in_the_shortened_text() -> None:
    filler = "".join(f"<p>Paragraph {i}. It goes on at length about nothing much. And on.</p>" for i in range(400))
    table = "<table><tr><td>total</td><td>4242</td></tr></table>"
    made = page(f'<div class="alert">Payments are DOWN. Ticket INC-4417.</div>{filler}{table}')
    out = Engine(open_memory()).compress(made).text
    assert "Payments are DOWN. Ticket INC-4417." in out
    assert "4242" in out
    assert len(out) < len(made) / 3


def test_title_description_and_headings_stay() -> None:
    made = plain(shorten(HTML, reference()).text)
    assert "Title: Calls – Harbour" in made
    assert "Description: Every call of the library." in made
    assert all(f"## harbour_{call}()\n" in made for call in CALLS)


def test_what_a_query_asks_for_stays() -> None:
    assert "EBERTH-9:" not in Engine(open_memory()).compress(reference(), max_tokens=450).text
    assert "EBERTH-9:" in Engine(open_memory()).compress(reference(), query="EBERTH-9", max_tokens=450).text


def test_a_larger_ceiling_never_shows_less() -> None:
    engine = Engine(open_memory())
    shown = [set(engine.compress(reference(), max_tokens=n).text.split("\n")) for n in (200, 400, 600, 900, 1200)]
    headings = [{line for line in lines if line.startswith("#")} for lines in shown]
    assert all(a <= b for a, b in itertools.pairwise(headings))


def test_narrowing_finds_a_section_and_parts_that_are_no_content() -> None:
    engine = Engine(open_memory())
    handle = engine.compress(reference()).recovery_handle
    assert handle is not None
    view = engine.retrieve_query(handle, "what does EBERTH-9 mean").decode()
    assert "There is no such berth." in view
    assert "text of an HTML page" in view
    assert "Terms of use" in engine.retrieve_query(handle, "terms privacy footer").decode()
    assert engine.retrieve(handle) == reference().encode()


def test_no_line_numbers_are_stated_since_the_text_is_not_the_payloads() -> None:
    assert not re.search(r"\(L\d", plain(shorten(HTML, reference(), places=3).text))


def test_every_word_leads_back_to_where_it_stands_in_the_payload() -> None:
    for made in (reference(), status(), unclosed()):
        payload = source(made.encode())
        rewritten = HTML.rewrite(payload)
        assert rewritten is not None
        content = re.sub(r"\(http\S+\)", lambda link: " " * len(link[0]), rewritten.text.partition("[Other")[0])
        for found in re.finditer(r"[A-Za-z]{6,}", content):
            at = rewritten.back(found.start())
            if found[0] not in ("Description",):
                assert payload[at : at + len(found[0])] == found[0]


def test_a_page_of_scripts_is_little_text() -> None:
    assert content_of(scripts()) == "Title: App – Harbour\n\nDescription: Loads later.\n\nPlease wait …"


def test_what_has_no_markup_is_not_of_this_format() -> None:
    assert cut(HTML, "No tags here, 1 < 2.\n" * 40) is None


_PIECES = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<div",
        "class='nav'>",
        "</div>",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<!--",
        "-->",
        "<a",
        'href="x',
        'y">',
        "</a>",
        "<pre>",
        "</pre>",
        "<script>",
        "</script>",
        "<h2>",
        "</h2>",
        "<svg>",
        "</svg>",
        "<main>",
        "</main>",
        "<dl>",
        "<dt>",
        "<dd>",
        "</dl>",
        "<",
        ">",
        "&",
        "&amp;",
        "&#x1F600;",
        '"',
        "'",
        "=",
        "/",
        "word",
        "|",
        "<b",
        "<i/>",
        "</nothing>",
        "<nav>",
        "</nav>",
        "<title>",
        "</title>",
        "<br>",
        "<img",
        "alt='a",
        "b",
        "c",
        "d'>",
        "<button>",
        "<select>",
        "<option>",
        "#",
        "-",
        "é",
    ]
)


@settings(max_examples=250, deadline=None)
@given(st.lists(_PIECES, max_size=60).map(" ".join) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_any_soup_is_cut_into_units_in_order_inside_their_parents(soup: str) -> None:
    document = cut(HTML, source(soup.encode()).encode("latin-1"))
    if document is None:
        return
    for group in groups(document):
        spans = list(zip(group.starts, group.stops, strict=True))
        assert all(0 <= a < b <= len(document.text) for a, b in spans)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        for i, children in group.children.items():
            assert all(spans[i][0] <= c.starts[0] and c.stops[-1] <= spans[i][1] for c in children if len(c))
    assert document.origin is not None
    assert list(document.origin.offsets) == sorted(document.origin.offsets)


@settings(max_examples=60, deadline=None)
@given(st.lists(_PIECES, min_size=120, max_size=400).map(" ".join))
def test_the_output_is_never_larger_and_the_original_comes_back(soup: str) -> None:
    engine = Engine(open_memory())
    payload = soup.encode()
    made = engine.compress(payload, content_type="html")
    assert made.tokens_after <= made.tokens_before
    if made.recovery_handle:
        assert engine.retrieve(made.recovery_handle) == payload


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<",
        '<a href="',
        "<div>",
        "<p>a.",
        "<table><tr><td>",
        "<script>",
        "<h1>x",
        "&amp;",
        "</b>",
        "<li>a",
        "<nav>",
    ],
)
def test_floods_take_time_in_proportion(piece: str) -> None:
    def seconds(n: int) -> float:
        start = process_time()
        cut(HTML, "<p>" + piece * n)
        return process_time() - start

    assert min(seconds(20_000), seconds(20_000)) < max(8 * seconds(5_000), 2.0)


def test_what_is_no_content_is_counted_even_where_there_is_room_and_shown_when_asked_for() -> None:
    links = "".join(f'<li><a href="/shop/{i}">Department of goods number {i}</a></li>' for i in range(30))
    body = "".join(f"<p>Paragraph {i} tells what happened on day {i} of the voyage.</p>" for i in range(40))
    payload = page(f"<nav><ul>{links}</ul></nav><nav>More</nav><nav>Less</nav><main>{body}</main>")
    engine = Engine(open_memory())
    text = engine.compress(payload).text
    assert "Paragraph 0 tells" in text
    assert "Department" not in text
    assert "all part=navigation" in text, "the marker says what kind of part went"
    assert "Department of goods number 17" in engine.compress(payload, query="department of goods number 17").text


def test_a_shell_that_a_program_fills_shows_its_parts() -> None:
    scripts = "".join(f'<script src="/static/chunk-{i}.js"></script>' for i in range(20))
    payload = f'<!DOCTYPE html><html><head><title>App</title>{scripts}</head><body><div id="root"></div></body></html>'
    assert "/static/chunk-0.js" in Engine(open_memory()).compress(payload).text


def test_a_description_that_stands_in_several_tags_is_told_once() -> None:
    tags = ('name="description"', 'property="og:description"')
    metas = "".join(f'<meta {tag} content="All about whales.">' for tag in tags)
    text = text_of(f"<!DOCTYPE html><html><head>{metas}</head><body><p>Whales</p></body></html>")
    assert text.count("Description: All about whales.") == 1
