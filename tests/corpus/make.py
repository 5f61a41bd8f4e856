"""Makes the golden inputs, and the outputs that the engine of this tree gives for them.

    python tests/corpus/make.py            writes every NAME.in and NAME.json (options), same bytes each time
    python tests/corpus/make.py --outputs  writes NAME.out too: read the diff before you commit it

The inputs are invented; nothing in them comes from anywhere. `NAME.json` holds keyword arguments for compress.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))


class Dice:
    """A linear congruential generator (Numerical Recipes' constants): the same numbers in every Python."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def roll(self, n: int) -> int:
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 8) % n

    def pick(self, *choices: str) -> str:
        return choices[self.roll(len(choices))]


NAMES = [
    "Ada",
    "Brook",
    "Chen",
    "Dario",
    "Elif",
    "Farid",
    "Grace",
    "Hana",
    "Ivo",
    "June",
    "Kofi",
    "Lena",
    "Mika",
    "Nils",
    "Olga",
    "Pia",
]


def orders(count: int, seed: int = 1) -> list[dict[str, object]]:
    dice = Dice(seed)
    made: list[dict[str, object]] = []
    for i in range(count):
        status = "paid" if dice.roll(12) else "open"
        row: dict[str, object] = {
            "order_id": f"ord-{1000 + i}",
            "customer": {"name": dice.pick(*NAMES), "country": dice.pick("NL", "DE", "FR")},
            "status": status,
            "amount": round(5 + dice.roll(9000) / 100, 2),
            "error": None,
        }
        if i == count // 2:
            row |= {"status": "failed", "error": {"code": "CARD_DECLINED", "message": "issuer said no"}}
        if i == count // 3:
            row["amount"] = 99999.5
        made.append(row)
    return made


def json_inputs() -> Iterator[tuple[str, str, dict[str, object]]]:
    rows = orders(240)
    yield "orders", json.dumps(rows), {}
    yield "orders_pretty_in_object", json.dumps({"total": 240, "page": 1, "items": rows[:80]}, indent=2), {}
    yield "orders_query", json.dumps(rows), {"query": "ord-1077"}
    yield "orders_ceiling", json.dumps(rows), {"max_tokens": 600}
    yield "lines", "".join(json.dumps(r) + "\n" for r in rows[:120]), {}
    services = {
        f"svc-{n.lower()}": {"replicas": 2, "image": f"reg/{n.lower()}:1.{i}", "healthy": True}
        for i, n in enumerate(NAMES)
    }
    services["svc-lena"]["replicas"] = 900
    yield "map_of_objects", json.dumps({"services": services}), {}
    odd = '{"id":9007199254740993,"id":9007199254740995,"x":1e400,"y":NaN,"html":"<a href=\\"#\\">&amp;</a>","z":-0.0}'
    yield "odd_values", "[" + ",".join([odd] * 3 + [f'{{"id":{i},"x":1.50}}' for i in range(60)]) + "]", {}
    yield (
        "marker_words",
        json.dumps([{"note": "… 3 rows elided …", "n": i, "_caveman_ref": "mine"} for i in range(90)]),
        {},
    )
    log = "\n".join(log_lines(120, 5))
    csv = "\n".join(csv_lines(90, 6, ","))
    yield (
        "envelope",
        json.dumps({"content": [{"type": "text", "text": log}, {"type": "text", "text": csv}], "isError": False}),
        {},
    )
    yield "shell", json.dumps({"stdout": log, "stderr": "", "exit_code": 1}, indent=1), {}
    blob = "iVBORw0KGgo" + "".join(Dice(9).pick(*"abcXYZ019+") + chr(65 + i % 26) for i in range(2000))
    yield "base64", json.dumps({"cells": [{"image/png": blob, "text/plain": ["<Figure>"]}], "nbformat": 4}), {}


def log_lines(count: int, seed: int) -> Iterator[str]:
    dice = Dice(seed)
    for i in range(count):
        stamp = f"2026-03-{1 + i // 1440:02d} {i // 60 % 24:02d}:{i % 60:02d}:{dice.roll(60):02d},{dice.roll(1000):03d}"
        if i == count * 2 // 3:
            yield f"{stamp} ERROR [worker-{dice.roll(8)}] payment: charge of order {4000 + i} failed"
            yield "Traceback (most recent call last):"
            yield f'  File "/srv/app/pay.py", line {100 + dice.roll(50)}, in charge'
            yield "    raise CardDeclined(code)"
            yield "CardDeclined: do_not_honour"
        elif i % 41 == 40:
            yield f"{stamp} WARN  [worker-{dice.roll(8)}] pool: {dice.roll(90)} of 100 connections in use"
        elif i == count // 2:
            yield f"{stamp} INFO  [worker-3] payment: order 4077 REVERSED by operator"
        else:
            yield f"{stamp} INFO  [worker-{dice.roll(8)}] payment: order {4000 + i} was verified in {dice.roll(300)} ms"


def log_inputs() -> Iterator[tuple[str, str, dict[str, object]]]:
    lines = list(log_lines(400, 2))
    yield "app", "\n".join(lines) + "\n", {}
    yield "app_crlf_without_end", "\r\n".join(lines[:150]), {}
    yield "app_cr_only", "\r".join(lines[:150]), {"content_type": "log"}
    yield "app_query", "\n".join(lines) + "\n", {"query": "order 4123"}
    yield "app_ceiling", "\n".join(lines) + "\n", {"max_tokens": 300}
    dice = Dice(3)
    logfmt = [
        f'ts=2026-03-01T00:{i // 60:02d}:{i % 60:02d}Z level={"error" if i == 77 else "info"} msg="scrape done" target=node-{dice.roll(9)} failed=0 '
        f"status=ok took={dice.roll(900) / 1000}s" + (" status=declined" if i == 50 else "")
        for i in range(180)
    ]
    yield "logfmt", "\n".join(logfmt) + "\n", {}


def csv_lines(count: int, seed: int, separator: str) -> Iterator[str]:
    dice = Dice(seed)
    yield separator.join(("id", "city", "status", "reading", "remark"))
    for i in range(count):
        reading = 9999999 if i == 47 else dice.roll(80) + 10
        remark = '"a ""quoted"" remark, over\ntwo lines"' if i % 30 == 29 and separator == "," else "steady"
        yield separator.join(
            (
                str(i + 1),
                dice.pick("Utrecht", "Gent", "Köln", "Lyon"),
                "fail" if i == 60 else "ok",
                str(reading),
                remark,
            )
        )


def tabular_inputs() -> Iterator[tuple[str, str, dict[str, object]]]:
    yield "readings", "\ufeff" + "\r\n".join(csv_lines(300, 4, ",")) + "\r\n", {}
    yield "readings_semicolons", "\n".join(csv_lines(150, 5, ";")), {}
    yield "readings_tabs", "\n".join(csv_lines(150, 7, "\t")) + "\n", {"query": "9999999"}
    rows = [line.split(",") for line in csv_lines(60, 8, ",") if line.count(",") == 4]
    rule = "|" + "|".join([" --- "] * 5) + "|"
    yield (
        "readings_markdown",
        "\n".join(["| " + " | ".join(rows[0]) + " |", rule, *("| " + " | ".join(r) + " |" for r in rows[1:])]) + "\n",
        {},
    )


PARAGRAPH = (
    "The scheduler keeps {n} queues, one for each tenant. It looks at them in turn and takes the oldest job. A job that "
    "fails is put back with a delay. The delay doubles each time, up to an hour. Operators can see the queues on the "
    "status page. You must drain a queue before you delete it."
)
JAPANESE = "キューは{n}個あります。ジョブは古い順に取り出されます。失敗したジョブは遅延付きで戻されます。遅延は毎回二倍になります。"
ARABIC = "يحتفظ المجدول بعدد {n} من الطوابير. ينظر إليها بالتناوب ويأخذ أقدم مهمة. المهمة الفاشلة تعاد مع تأخير؟ يتضاعف التأخير كل مرة."


def guide(paragraph: str, heading: str) -> str:
    parts = ["---\ntitle: The queue\nstatus: draft\n---\n"]
    for n in range(1, 9):
        parts.append(f"{'#' * (1 + n % 3)} {heading} {n}\n")
        parts += [paragraph.format(n=n) + "\n"] * 1 + [paragraph.format(n=n + 10) + "\n"]
        parts.append("".join(f"- item {i} of list {n}: see chapter {i}\n" for i in range(1, 12)))
        parts.append("```python\n" + "".join(f"step_{i}(queue, {i})\n" for i in range(14)) + "```\n")
    return "\n".join(parts)


def text_inputs() -> Iterator[tuple[str, str, dict[str, object]]]:
    yield "guide", guide(PARAGRAPH, "Chapter"), {}
    yield "guide_japanese", guide(JAPANESE, "第章"), {}
    yield "guide_arabic", guide(ARABIC, "فصل"), {}
    yield "guide_ceiling", guide(PARAGRAPH, "Chapter"), {"max_tokens": 400}
    yield "guide_query", guide(PARAGRAPH, "Chapter"), {"query": "queue 15 tenant"}


def raw_inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    """Bytes that are no UTF-8, and UTF-16 as PowerShell writes it."""
    lines = "\n".join(log_lines(200, 11)).encode()
    yield "log", "app_invalid_utf8", lines.replace(b"worker-3", b"worker-\xff\x00\xe9"), {}
    yield "log", "app_utf16", b"\xff\xfe" + "\r\n".join(log_lines(120, 12)).encode("utf-16-le"), {}


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    """(format, name, payload, options) of every golden case."""
    for kind, made in (
        ("json", json_inputs()),
        ("log", log_inputs()),
        ("tabular", tabular_inputs()),
        ("text", text_inputs()),
    ):
        for name, text, options in made:
            yield kind, name, text.encode("utf-8"), options
    yield from raw_inputs()
    for path in sorted(HERE.glob("made_*.py")):  # one file a format, each with its own inputs()
        yield from importlib.import_module(f"corpus.{path.stem}").inputs()


def main() -> None:
    for kind, name, payload, options in inputs():
        folder = HERE / kind
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.in").write_bytes(payload)
        if options:
            (folder / f"{name}.json").write_text(json.dumps(options) + "\n", encoding="utf-8")
        if "--outputs" in sys.argv:
            from caveman_wasm import Engine, open_memory

            result = Engine(open_memory()).compress(payload, **options)  # type: ignore[arg-type]
            (folder / f"{name}.out").write_bytes(result.output)
            sys.stdout.write(
                f"{kind}/{name}: {result.tokens_before} → {result.tokens_after} tokens, {result.reason or 'shortened'}\n"
            )


if __name__ == "__main__":
    main()
