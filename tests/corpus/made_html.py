"""Invented web pages: a status page, a reference, an article without its end tags, a page that is mostly scripts."""

from __future__ import annotations

from collections.abc import Iterator

CALLS = "open read write seek lock sync close stat list move copy drop".split()  # noqa: SIM905

HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} &ndash; Harbour</title>
<meta name="description" content="{about}"><meta property="og:image" content="/card.png">
<style>nav a {{ color: teal }} main {{ max-width: 60em }}</style>
<script>window.layer = window.layer || []; function push() {{ layer.push(arguments); }}</script>
<script type="application/ld+json">{{"@type": "WebPage", "name": "{title}", "dateModified": "2026-03-04"}}</script>
</head><body><header class="site-header"><a class="skip-link" href="#main">Skip to content</a>
<nav><ul><li><a href="/">Home</a></li><li><a href="/docs">Documentation of all things</a></li><li><a href="/shop">Shop</a></li></ul></nav>
</header>
"""
FOOT = """<aside class="sidebar"><h4>Related</h4><ul><li><a href="/a">Other pages of the kind</a></li></ul></aside>
<footer><p>&copy; 2026 Harbour Ltd. <a href="/terms">Terms of use</a> <a href="/privacy">Privacy</a></p></footer>
<svg viewBox="0 0 9 9"><title>anchor</title><path d="M0 0L9 9Z"/></svg></body></html>
"""


def status() -> str:
    rows = "".join(
        f"<tr><td>berth-{i}</td><td>{'closed' if i == 17 else 'open'}</td><td>{3 + i % 5}</td></tr>\n"
        for i in range(40)
    )
    return (
        HEAD.format(title="Status", about="What is open &amp; what is not.")
        + '<main id="main"><h1>Status</h1>\n<div class="alert alert-danger">Crane 4 is DOWN. Ticket INC-4417.</div>\n'
        + "<p>All berths are listed below. They are counted anew each morning. Ask the\n   office for more.</p>\n"
        + f"<table><thead><tr><th>Berth</th><th>State</th><th>Depth | m</th></tr></thead>\n<tbody>{rows}</tbody></table>\n"
        + "<h2>Totals</h2><table><tr><td>open</td><td>39</td></tr><tr><td>closed</td><td>1</td></tr></table></main>\n"
        + FOOT
    )


def reference() -> str:
    parts = []
    for i, call in enumerate(CALLS):
        parts.append(
            f'<section id="{call}"><h2>harbour_{call}()<a class="headerlink" href="#{call}">&para;</a></h2>\n'
            f"<pre><code>int harbour_{call}(int berth, size_t n);\n/* returns {i} &lt; 0 on failure */</code></pre>\n"
            f"<p>Does the work of <code>{call}</code> on a berth. It may wait up to {10 + i} seconds for the tide. "
            f"Callers must hold the mooring lock. See <a href='https://harbour.example/rfc/{i}'>RFC {i}</a> for the reasons.</p>\n"
            f"<dl><dt>EAGAIN-{i}</dt><dd>The tide is out.</dd><dt>EBERTH-{i}</dt><dd>There is no such berth.</dd></dl>\n"
            "<ol><li>Ask for the berth.<li>Wait until it is free.<li>Tie up.</ol></section>\n"
        )
    return HEAD.format(title="Calls", about="Every call of the library.") + "<main>" + "".join(parts) + "</main>" + FOOT


def unclosed() -> str:
    paragraphs = "".join(
        f"<p>Day {i} began with fog & ended with <b>rain<b>. Nobody < the pilot > saw the buoy. The log says {i * 7} ships passed.\n"
        for i in range(30)
    )
    return f"<html><body><h1>The log of a pilot</h1><!-- never closed in some\n copies -->{paragraphs}<div><table><tr><td>end"


def scripts() -> str:
    blocks = "".join(
        f"<script>var part{i} = [{', '.join(str(i * k) for k in range(60))}];</script>\n" for i in range(12)
    )
    return HEAD.format(title="App", about="Loads later.") + blocks + "<main><p>Please wait &#8230;</p></main>" + FOOT


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "html", "status", status().encode(), {}
    yield "html", "reference", reference().encode(), {}
    yield "html", "reference_query", reference().encode(), {"query": "harbour_sync tide seconds"}
    yield "html", "reference_ceiling", reference().encode(), {"max_tokens": 500}
    yield "html", "unclosed", unclosed().encode(), {}
    yield "html", "scripts", scripts().encode(), {}
