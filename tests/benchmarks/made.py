"""Payloads for the benchmarks: one a format at any size, whose units differ as real ones do; and the pathological."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpus.make import NAMES, PARAGRAPH, Dice, csv_lines, log_lines, orders

WORDS = ("billing", "ledger", "shipment", "invoice", "cache", "session", "webhook", "quota", "cluster", "backup")


def grown(piece: Callable[[int], str], size: int) -> str:
    """Pieces of a generator, each with its line end, until ``size`` bytes."""
    out: list[str] = []
    total = i = 0
    while total < size:
        out.append(piece(i))
        total += len(out[-1])
        i += 1
    return "".join(out)


QUESTION = "which order was verified by worker-2"


def selector(payload: bytes, kind: str) -> str:
    """One that fits a payload of this type: an element or member of JSON, two rows of a table, else a line, each from
    the middle."""
    with suppress(ValueError):
        value = json.loads(payload)
        if isinstance(value, list) and value:
            return f"/{len(value) // 2}"
        if isinstance(value, dict) and value:
            return "/" + quote(list(value)[len(value) // 2].replace("~", "~0").replace("/", "~1"), safe="~")
    half = payload.count(b"\n") // 2
    return f"row={half + 1}-{half + 2}" if kind == "tabular" and half else f"line={half},{half + 1}"


def plain(size: int) -> dict[str, str]:
    """JSON, a log and CSV of about ``size`` bytes: quickly made, however large."""
    return {
        "json": json.dumps(orders(max(4, size // 150))),
        "log": "\n".join(log_lines(size // 85, 2)),
        "tabular": "\n".join(csv_lines(size // 30, 4, ",")),
    }


def payloads(size: int) -> dict[str, bytes]:
    """Format → a payload of about ``size`` bytes."""
    dice = Dice(size)

    def word() -> str:
        return dice.pick(*WORDS)

    made = plain(size)
    made |= {
        "envelope": json.dumps({"content": [{"type": "text", "text": made["log"][: size * 9 // 10]}]}),
        "text": grown(
            lambda i: (
                (f"# Chapter {i // 9}\n" if i % 9 == 0 else "")
                + PARAGRAPH.format(n=i).replace("queues", f"queues of {dice.pick(*NAMES)}")
                + "\n\n"
            ),
            size,
        ),
        "code": grown(
            lambda i: (
                f"def load_{word()}_{i}(path: str, limit: int = {i}) -> list[str]:\n"
                f'    """Reads the {word()} of one {word()}, newest first."""\n'
                f"    found = []\n    for line in open(path):\n        if line.startswith({word()!r}):\n"
                f"            found.append(line.strip() + str(limit * {i % 97}))\n    return found[:limit]\n\n\n"
            ),
            size,
        ),
        "diff": grown(
            lambda i: (
                (
                    f"diff --git a/src/{word()}_{i}.py b/src/{word()}_{i}.py\nindex 3f2a{i:06x}..9c1b{i:06x} 100644\n"
                    f"--- a/src/mod_{i}.py\n+++ b/src/mod_{i}.py\n"
                    if i % 4 == 0
                    else ""
                )
                + f"@@ -{i * 20 + 1},6 +{i * 20 + 1},7 @@ def {word()}_{i}():\n     total = 0\n     for row in rows:\n"
                f"-        total += row.{word()}\n+        total += row.{word()} * {i}\n+        seen.add(row.id)\n"
                f"     limit = {i}\n     return total\n \n"
            ),
            size,
        ),
        "search-result": grown(
            lambda i: (
                f"src/{word()}/{word()}_{i // 5}.py:{i % 400 + 1}:    self.{word()} = {word()}({i}, retry=True)\n"
            ),
            size,
        ),
        "html": "<!DOCTYPE html><html><head><title>Guide</title></head><body><main>\n"
        + grown(
            lambda i: (
                f"<h2 id=s{i}>Part {i}: {word()}</h2>\n<p>The {word()} of <a href='/d/{i}'>{word()} {i}</a> is kept by the"
                f" {word()} until the next {word()} runs.</p>\n<ul><li>{word()} one</li><li>{word()} &amp; two</li></ul>\n"
            ),
            size,
        )
        + "</main></body></html>\n",
        "config": grown(
            lambda i: (
                f"---\napiVersion: v1\nkind: Service\nmetadata:\n  name: {word()}-{i}\n  labels:\n    app: {word()}\n"
                f"    tier: {word()}\nspec:\n  ports:\n    - port: {8000 + i % 999}\n      targetPort: {i % 7000}\n"
                f"  replicas: {i % 9}\n"
            ),
            size,
        ),
        "terminal": grown(
            lambda i: (
                f"\x1b[32m✓\x1b[0m {word()}/{word()}_{i}.ts \x1b[2m({i % 97} tests)\x1b[22m {i % 300}ms\r\n"
                + ("Downloading 10%\rDownloading 60%\rDownloading 100%\r\n" if i % 11 == 0 else "")
            ),
            size,
        ),
        "a11y": "- document:\n"
        + grown(
            lambda i: (
                f'  - listitem [ref=e{4 * i}]:\n    - link "{word()} {i}" [ref=e{4 * i + 1}] [cursor=pointer]:\n'
                f'      - /url: /items/{i}\n    - button "Add {word()}" [ref=e{4 * i + 2}]\n'
            ),
            size,
        ),
        "test-report": '<?xml version="1.0"?>\n<testsuites><testsuite name="all">\n'
        + grown(
            lambda i: (
                f'<testcase classname="tests.{word()}" name="test_{word()}_{i}" time="0.{i % 900}">'
                + (f'<failure message="assert {i} == 0">E   assert {i} == 0</failure>' if i % 50 == 7 else "")
                + "</testcase>\n"
            ),
            size,
        )
        + "</testsuite></testsuites>\n",
        "toolschema": '{"tools":['
        + grown(
            lambda i: (
                ("," if i else "")
                + json.dumps(
                    {
                        "name": f"{word()}_{i}",
                        "description": f"Reads the {word()} of one {word()}. It never changes the {word()}. "
                        f"Ask for at most {i} of them. See the {word()} guide for examples of this.",
                        "inputSchema": {
                            "type": "object",
                            "properties": {
                                "id": {"type": "string", "description": f"The {word()}'s id. Looks like a-{i}."},
                                "limit": {"type": "integer", "default": i, "description": "How many at most."},
                            },
                            "required": ["id"],
                        },
                    }
                )
            ),
            size,
        )
        + "]}",
        "other-scripts": grown(
            lambda i: (
                f"Заказ {i} передан на склад {dice.pick(*NAMES)}, и его проверил worker-{i % 4}. Очередь растёт, когда"
                " ночная сверка длится дольше часа.\n\n"
                f"订单 {i} 已经送到仓库，由 worker-{i % 4} 核对了两次。夜间对账超过一小时的时候，{word()} 的队列会变长。\n\n"
            ),
            size // 2,  # characters, of two bytes and three
        ),
    }
    return {kind: text.encode() for kind, text in made.items()}


def pathological(size: int) -> dict[str, bytes]:
    """Name → what has made engines of this kind grow faster than their input, at about ``size`` bytes."""
    dice = Dice(7)
    letters = "".join(dice.pick(*"abcdefghijklmnopqrstuvwxyz") for _ in range(5003))
    lines = "\n".join(log_lines(size // 85, 2))
    nested = "[" * 100
    return {
        "one line": lines.replace("\n", " ").encode(),
        "one line of JSON": json.dumps([{"text": lines.replace("\n", " ")}]).encode(),
        "one unbroken run": (letters * (size // 5000))[:size].encode(),
        "one letter": b"a" * size,
        "blanks": b" " * size,
        "empty lines": b"\n" * size,
        "nested brackets": (b"[" * 10_000 + b"]" * 10_000) * (size // 20_000),
        "nested to the cap": ("[" + ",".join([nested + "]" * 100] * (size // 201)) + "]").encode(),
        "unclosed brackets": b"[{" * (size // 2),
        "unclosed quote": ('id,name,note\n1,"' + "\n".join(csv_lines(size // 30, 4, ","))).encode(),
        "odd quotes": ('id,"name\n' * (size // 9)).encode(),
        "all lines different": b"\n".join(b"%x request %x" % (i * 2654435761 % 2**32, i) for i in range(size // 18)),
        "all lines the same": b"2026-03-01 04:26:12,811 INFO payment: order was verified\n" * (size // 57),
        "all lines errors": "\n".join(
            f"2026-03-01 04:26:12,811 ERROR [{i}] could not {dice.pick(*WORDS)}: timeout {i}" for i in range(size // 70)
        ).encode(),
        "unclosed tags": b"<!doctype html><body>" + b"<div><p>a<b>" * (size // 12),
        "open comments": b"<!doctype html><body>" + b"<!-- a " * (size // 7),
        "carriage returns": b"\x1b[1mx\x1b[0m\n" + b"working 10%\r" * (size // 12),
        "escapes": b"\x1b[31ma\x1b[" * (size // 8),
        "emphasis": b"**a _b [c](" * (size // 11),
        "one key a member": json.dumps({f"k{i}": i for i in range(size // 16)}).encode(),
        "digits": b"1234567890" * (size // 10),
        "CJK": ("コンポーネントは外部" * (size // 30)).encode(),
        "emoji": ("🙂🚀" * (size // 8)).encode(),
    }
