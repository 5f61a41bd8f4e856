"""Invented page snapshots: Playwright's, chrome-devtools', and a CDP tree."""

from __future__ import annotations

import json
from collections.abc import Iterator

CITIES = "Utrecht Gent Köln Lyon Porto Graz Brno Turku Malmö Bergen Basel Cork".split()  # noqa: SIM905


def playwright(rows: int) -> str:
    out = [
        "### Page",
        "- Page URL: http://shop.example/orders",
        "- Page Title: Orders",
        "### Snapshot",
        "```yaml",
        "- generic [active] [ref=e1]:",
    ]
    out += ['  - navigation "Main" [ref=e2]:', "    - list [ref=e3]:"]
    for i, name in enumerate(("Orders", "Stock", "Customers", "Reports")):
        out += [
            f"      - listitem [ref=e{10 + i}]:",
            f'        - link "{name}" [ref=e{20 + i}] [cursor=pointer]:',
            f"          - /url: /{name.lower()}",
        ]
    out += [
        "  - main [ref=e30]:",
        '    - heading "Orders" [level=1] [ref=e31]',
        "    - alert [ref=e32]: 1 order could not be charged",
    ]
    out += ['    - table "Orders" [ref=e33]:', "      - rowgroup [ref=e34]:", "        - row [ref=e35]:"]
    out += [
        f'          - columnheader "{name}" [ref=e{36 + i}]'
        for i, name in enumerate(("Order", "City", "Status", "Amount"))
    ]
    out.append("      - rowgroup [ref=e40]:")
    for i in range(rows):
        out += [
            f"        - row [ref=r{i}]:",
            f'          - cell "ord-{1000 + i}" [ref=o{i}]',
            f'          - cell "{CITIES[i * 7 % 12]}" [ref=c{i}]',
        ]
        out += [
            f'          - cell "{"declined" if i == 23 else "paid"}" [ref=s{i}]',
            f'          - cell "€ {5 + i * 13 % 97}.00" [ref=a{i}]',
        ]
    out += ['    - heading "How orders work" [level=2] [ref=e50]', "    - paragraph [ref=e51]:"]
    out += [
        f"      - text: An order passes {i} stations before it is sent; nobody can act on this sentence."
        for i in range(2, 30)
    ]
    out += [
        "  - contentinfo [ref=e60]:",
        '    - checkbox "Show archived" [checked] [ref=e61]',
        '    - button "Export" [disabled] [ref=e62]',
        "```",
    ]
    return "\n".join(out) + "\n"


def devtools() -> str:
    out = [
        "## Latest page snapshot",
        'uid=1_0 RootWebArea "Orders" url="http://shop.example/orders"',
        '  uid=1_1 heading "Orders" level="1"',
    ]
    out += [f'  uid=1_{i} "station {i} of the way of an order, told at some length"' for i in range(2, 70)]
    out += [
        '  uid=1_70 heading "Contact" level="2"',
        '  uid=1_71 textbox "Your mail" focused required',
        '  uid=1_72 "a text\nover two lines"',
    ]
    out += ['  uid=1_73 combobox "City" expandable'] + [
        f'    uid=1_{80 + i} option "{city}"' for i, city in enumerate(CITIES)
    ]
    return "\n".join([*out, '  uid=1_99 button "Send"']) + "\n"


def tree() -> str:
    nodes: list[dict[str, object]] = []

    def add(identifier: int, role: str, name: str, parent: int | None, **more: object) -> None:
        sources = [
            {"type": "attribute", "attribute": "aria-label"},
            {"type": "contents", "value": {"type": "computedString", "value": name}},
        ]
        node: dict[str, object] = {
            "nodeId": str(identifier),
            "ignored": role == "none",
            "role": {"type": "role", "value": role},
        }
        node["chromeRole"] = {"type": "internalRole", "value": len(role)}
        if name:
            node["name"] = {"type": "computedString", "value": name, "sources": sources}
        nodes.append(
            {
                **node,
                **({"parentId": str(parent)} if parent else {}),
                "childIds": [],
                **more,
                "backendDOMNodeId": identifier,
            }
        )

    add(1, "RootWebArea", "Orders", None, childIds=["2", "3", "4"])
    add(2, "heading", "Orders", 1, childIds=["20"])
    add(20, "StaticText", "Orders", 2)
    add(3, "button", "Export", 1)
    add(4, "alert", "1 order could not be charged", 1)
    for i, city in enumerate(CITIES):
        add(
            100 + i,
            "link",
            city,
            1,
            childIds=[str(200 + i)],
            properties=[{"name": "url", "value": {"type": "string", "value": f"/city/{i}"}}],
        )
        add(200 + i, "StaticText", city, 100 + i, childIds=[str(-300 - i)])
        add(-300 - i, "InlineTextBox", city, 200 + i)
        add(
            400 + i,
            "none",
            "",
            1,
            ignoredReasons=[{"name": "uninteresting", "value": {"type": "boolean", "value": True}}],
        )
    return json.dumps({"nodes": nodes}, separators=(",", ":"), ensure_ascii=False)


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "a11y", "playwright", playwright(60).encode(), {}
    yield "a11y", "playwright_query", playwright(60).encode(), {"query": "ord-1041"}
    yield "a11y", "playwright_ceiling", playwright(60).encode(), {"max_tokens": 500}
    yield "a11y", "devtools", devtools().encode(), {}
    yield "a11y", "cdp", tree().encode(), {}
