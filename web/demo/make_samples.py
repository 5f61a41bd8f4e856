"""Puts the demo's payloads into a folder, those that are made with the same bytes every time.

python web/demo/make_samples.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dice import Dice
from make_incident import RECORDED

CITIES = ("Bergen", "Graz", "Lyon", "Porto", "Tartu", "Utrecht")
PATHS = ("/api/cart", "/api/orders", "/api/search", "/health", "/login")


def orders() -> str:
    """240 orders as a tool would print them: mostly paid, some open, two refunds that failed, one far too large."""
    dice = Dice(1)
    rows = []
    for number in range(1, 241):
        cents = 500 + dice.below(20_000)
        row = {
            "order_id": f"ord-{1000 + number}",
            "status": "paid" if dice.below(12) else "open",
            "city": dice.one(CITIES),
            "amount": f"{cents // 100}.{cents % 100:02d}",
            "currency": "EUR",
            "items": 1 + dice.below(6),
        }
        if number in (87, 191):
            row |= {"status": "refund_failed", "error": "issuer declined the refund: card expired"}
        if number == 140:
            row["amount"] = "184200.00"
        rows.append(row)
    return json.dumps({"page": 1, "total": len(rows), "orders": rows}, indent=1)


def service_log() -> str:
    """600 lines of a web service; a database that goes away for a moment, with its stack trace."""
    dice = Dice(2)
    lines = []
    for tick in range(600):
        stamp = f"2026-03-14T09:{tick // 60:02d}:{tick % 60:02d}.{dice.below(1000):03d}Z"
        lines.append(f"{stamp} INFO  http GET {dice.one(PATHS)} 200 {3 + dice.below(40)}ms")
        if tick in (233, 234, 402):
            lines += [
                f"{stamp} ERROR db connection lost: server closed the connection unexpectedly",
                "Traceback (most recent call last):",
                '  File "/srv/app/store.py", line 118, in fetch',
                "    return self.pool.get(timeout=5)",
                "OperationalError: server closed the connection unexpectedly",
            ]
        if tick % 97 == 50:
            lines.append(f"{stamp} WARN  cache miss ratio {60 + dice.below(30)} % over the last minute")
    return "\n".join(lines) + "\n"


def readings() -> str:
    """400 sensor readings as CSV; one sensor reports nonsense once."""
    dice = Dice(3)
    lines = ["time,sensor,city,celsius,state"]
    for index in range(400):
        celsius = f"{12 + dice.below(9)}.{dice.below(10)}" if index != 271 else "-127.0"
        state = "ok" if index != 271 else "fault: sensor disconnected"
        lines.append(
            f"2026-03-14 {index // 60:02d}:{index % 60:02d},s{index % 8 + 1},{CITIES[index % 6]},{celsius},{state}"
        )
    return "\r\n".join(lines) + "\r\n"


def report() -> str:
    """A page of prose with headings, a list and a decision."""
    sections = {
        "What happened": "At {t} the {s} stopped answering for {n} seconds. Requests queued behind it and the "
        "balancer gave up on {n} of them. The on-call engineer saw the alert after two minutes.",
        "What we looked at": "The graphs of the {s} show a slow rise from {t} on. Memory, disk and network were "
        "within their limits all the time. We compared {n} requests before and after and found no difference.",
        "What others said": "The team that runs the {s} had changed nothing since {t}. Support counted {n} calls, "
        "most of them about the same page. None of the callers had lost data.",
        "What comes next": "We will repeat the test against the {s} with {n} times the load. The alert at {t} came "
        "late and will be moved forward. A second pair of eyes reads the plan before it is carried out.",
    }
    dice = Dice(4)
    services = ("checkout service", "search index", "session store", "mail relay")
    lines = ["# Report on the outage of 14 March", "", "Status: final. Owner: platform team."]
    for heading, pattern in sections.items():
        lines += ["", f"## {heading}", ""]
        for _ in range(7):
            fill = {"t": f"09:{10 + dice.below(50)}", "s": dice.one(services), "n": str(2 + dice.below(90))}
            lines += [pattern.format(**fill), ""]
    lines += ["Decision: the connection pool is limited to 40 and the health check reads from the replica.", ""]
    return "\n".join(lines)


SAMPLES = {"orders.json": orders, "service.log": service_log, "readings.csv": readings, "report.md": report}

# Of the golden files, one for each other kind.
GOLDEN = {
    "reference.html": "html/reference",
    "history.diff": "diff/git_log",
    "hits.txt": "search-result/grep",
    "manifests.yaml": "config/documents",
    "install.ansi": "terminal/progress",
    "tests.txt": "test-report/pytest",
    "page.yaml": "a11y/playwright",
    "tools.json": "toolschema/mcp_pretty",
    "mcp.json": "json/envelope",
}
# Files of this project, as they are.
REAL = {
    "select.py": "src/caveman_wasm/select.py",
    "README.md": "README.md",
    "package-lock.json": "web/package-lock.json",
}
PROJECT = Path(__file__).parents[2]


def main(folder: Path) -> None:
    """Write every sample into the folder, and the recorded incident beside them."""
    (folder / "incident").mkdir(parents=True, exist_ok=True)
    for name, make in SAMPLES.items():
        (folder / name).write_bytes(make().encode())
    for name, golden in GOLDEN.items():
        (folder / name).write_bytes((PROJECT / "tests" / "corpus" / f"{golden}.in").read_bytes())
    for name, real in REAL.items():
        (folder / name).write_bytes((PROJECT / real).read_bytes())
    for name, record in RECORDED.items():
        (folder / "incident" / name).write_bytes(record().encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
