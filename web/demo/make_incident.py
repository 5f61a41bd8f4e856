"""The recorded incident of the agent's page: what five tools said, the same bytes every time.

Refunds fail from 09:41:07 on. A deploy of payments a few minutes before lowered a timeout below what one issuer takes.
"""

from __future__ import annotations

import json

from dice import Dice

SERVICES = ("cart", "catalog", "mail", "payments", "search", "sessions", "shipping", "stock")
PEOPLE = ("a.silva", "b.tamm", "c.moreau", "d.gruber", "e.berg")
ISSUERS = ("eastcard", "northbank", "plusbank", "unionpay")
DAY = "2026-03-14"
FIRST = 9 * 3600 + 41 * 60 + 7  # seconds after midnight
BAD_DEPLOY = 9 * 3600 + 38 * 60 + 12
OLD, NEW = 12_000, 3_000  # ms


def clock(second: int) -> str:
    """ISO 8601 time on the day."""
    return f"{DAY}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


def refunds_log() -> str:
    """Two and a half hours of the refund service."""
    dice = Dice(11)
    lines = []
    for second in range(8 * 3600, 10 * 3600 + 1800, 7):
        number = 70_000 + second
        issuer = dice.one(ISSUERS)
        took = 180 + dice.below(900)
        if second >= FIRST and issuer == "northbank" and dice.below(3):
            lines += [
                f"{clock(second)} ERROR refunds.worker refund ref-{number} failed: issuer northbank did not answer "
                f"within {NEW} ms order=ord-{number * 7 % 99991}",
                "Traceback (most recent call last):",
                '  File "/srv/refunds/worker.py", line 212, in settle',
                "    answer = self.issuer.refund(order, timeout=self.config.issuer_timeout_ms)",
                '  File "/srv/refunds/issuer.py", line 88, in refund',
                "    raise IssuerTimeout(self.name, timeout)",
                "refunds.issuer.IssuerTimeout: northbank",
            ]
            continue
        lines.append(f"{clock(second)} INFO  refunds.worker refund ref-{number} settled by {issuer} in {took} ms")
        if dice.below(40) == 0:
            lines.append(f"{clock(second)} WARN  refunds.queue {20 + dice.below(60)} refunds are waiting")
    return "\n".join(lines) + "\n"


def deploys() -> str:
    """All deploys of four days, the newest first."""
    dice = Dice(12)
    rows = []
    second = 0
    for _ in range(180):
        second += 900 + dice.below(2200)
        day, rest = divmod(second, 86_400)
        stamp = f"2026-03-{11 + day:02d}{clock(rest)[10:]}"
        service = dice.one(SERVICES)
        if stamp[:13] == f"{DAY}T09" or (service == "payments" and stamp[:10] == DAY):
            service = "catalog"
        rows.append(_deploy(dice, stamp, service))
    rows.append(_deploy(dice, clock(BAD_DEPLOY), "payments") | {"commit": "9f3c1ab"})
    rows.sort(key=lambda row: row["at"], reverse=True)
    return json.dumps({"deploys": rows, "total": len(rows)}, indent=2)


def _deploy(dice: Dice, stamp: str, service: str) -> dict[str, str]:
    commit = f"{dice.below(16**7):07x}"
    version = f"{4 + dice.below(3)}.{dice.below(30)}.{dice.below(9)}"
    return {
        "at": stamp,
        "service": service,
        "version": version,
        "commit": commit,
        "by": dice.one(PEOPLE),
        "status": "done",
    }


def commit_diff() -> str:
    """The commit behind the deploy: a lock file, a client made anew, and one line of configuration."""
    dice = Dice(13)
    packages = [f"{name}-{kind}" for name in SERVICES for kind in ("client", "core", "http", "types", "utils")]
    lock = []
    for name in packages:
        low, high = dice.below(9), 9 + dice.below(9)
        lock += [
            f' "{name}" = [',
            f'-  "{name}=={low}.{dice.below(20)}"',
            f'+  "{name}=={high}.{dice.below(20)}"',
            " ]",
        ]
    renamed = []
    for number in range(70):
        renamed += [
            f"-    client.call_{number}(order, retry=True)",
            f"+    client.send_{number}(order, retry=True)",
            "",
        ]
    return "\n".join(
        [
            "commit 9f3c1ab",
            "Author: b.tamm",
            f"Date:   {clock(BAD_DEPLOY - 1900)}",
            "",
            "    Tune the issuer client",
            "",
            "diff --git a/payments/config.yaml b/payments/config.yaml",
            "--- a/payments/config.yaml",
            "+++ b/payments/config.yaml",
            "@@ -14,7 +14,7 @@ issuers:",
            "   retries: 2",
            "   backoff_ms: 200",
            "   # how long an issuer may take to answer",
            f"-  issuer_timeout_ms: {OLD}",
            f"+  issuer_timeout_ms: {NEW}",
            "   pool_size: 40",
            "   keep_alive: true",
            " ledger:",
            "diff --git a/payments/calls.py b/payments/calls.py",
            "--- a/payments/calls.py",
            "+++ b/payments/calls.py",
            f"@@ -1,{len(renamed) // 3 * 2} +1,{len(renamed) // 3 * 2} @@",
            *(line or " " for line in renamed),
            "diff --git a/uv.lock b/uv.lock",
            "--- a/uv.lock",
            "+++ b/uv.lock",
            f"@@ -1,{len(packages) * 3} +1,{len(packages) * 3} @@",
            *lock,
            "",
        ]
    )


def latency() -> str:
    """What each issuer took, minute by minute, as CSV."""
    dice = Dice(14)
    lines = ["time,issuer,calls,p50_ms,p99_ms"]
    for minute in range(8 * 60, 10 * 60 + 30):
        for issuer in ISSUERS:
            p50, p99 = 240 + dice.below(120), 700 + dice.below(500)
            if issuer == "northbank":
                p50, p99 = 2100 + dice.below(700), 4200 + dice.below(900)
            if issuer == "northbank" and minute == 9 * 60 + 52:
                p99 = 6137
            lines.append(f"{clock(minute * 60)[:16]},{issuer},{8 + dice.below(30)},{p50},{p99}")
    return "\r\n".join(lines) + "\r\n"


def failed_refunds() -> str:
    """The refunds that failed, as the payments API lists them."""
    dice = Dice(15)
    rows = []
    for number in range(214):
        cents = 900 + dice.below(30_000)
        rows.append(
            {
                "refund": f"ref-{104_000 + number * 7}",
                "issuer": "northbank",
                "amount": f"{cents // 100}.{cents % 100:02d}",
                "currency": "EUR",
                "state": "failed",
                "reason": "issuer_timeout",
                "retry_at": None,
            }
        )
    return json.dumps({"state": "failed", "failed_total": len(rows), "refunds": rows})


RECORDED = {
    "refunds.log": refunds_log,
    "deploys.json": deploys,
    "9f3c1ab.diff": commit_diff,
    "latency.csv": latency,
    "failed.json": failed_refunds,
}
