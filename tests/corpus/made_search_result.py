"""Golden inputs for searches and listings: an invented tree."""

from __future__ import annotations

from collections.abc import Iterator

PARTS = ["api", "auth", "cart", "core", "jobs", "mail", "pay", "ship"]


def grep(hits: int) -> list[str]:
    """One line a hit, over 8 directories; a definition in one of them."""
    lines = []
    for i in range(hits):
        path = f"src/{PARTS[i * 8 // hits]}/mod_{i // 3}.py"
        said = "def charge(order):" if i == hits // 2 else f"    total += charge(order_{i}, retry={i % 3})"
        lines.append(f"{path}:{10 + i % 3 * 20}:{said}")
    return lines


def context(hits: int) -> str:
    blocks = []
    for i in range(hits):
        path = f"src/{PARTS[i % 8]}/mod-{i // 2}b.py"
        at = 100 + i % 2 * 50
        lines = [
            f"{path}-{at}-    before_{i}()",
            f"{path}:{at + 1}:    charge(order_{i})",
            f"{path}-{at + 2}-    after_{i}()",
        ]
        blocks.append("\n".join(lines))
    return "\n--\n".join(blocks) + "\n"


def listing() -> str:
    blocks = []
    for p, part in enumerate(PARTS):
        rows = [
            f"-rw-r--r-- 1 ada staff {900 + 37 * i * p:>7} 2026-03-{1 + i:02d} 10:{p:02d} mod_{i}.{'md' if i == 5 else 'py'}"
            for i in range(18)
        ]
        rows.append(f"drwxr-xr-x 2 ada staff    4096 2026-03-01 10:{p:02d} tests")
        if part == "pay":
            rows.append("-rw------- 1 root root 99999999 2026-03-09 23:59 dump.bin")
        blocks.append(f"src/{part}:\ntotal {40 + p}\n" + "\n".join(rows) + "\n")
    return "\n".join(blocks)


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "search-result", "grep", ("\n".join(grep(150)) + "\n").encode(), {}
    yield "search-result", "grep_query", "\n".join(grep(150)).encode(), {"query": "order_97"}
    yield "search-result", "grep_ceiling", ("\n".join(grep(150)) + "\n").encode(), {"max_tokens": 300}
    yield "search-result", "grep_context", context(60).encode(), {}
    yield "search-result", "listing", listing().encode(), {}
    names = [f"src/{part}/mod_{i}.py" for part in PARTS for i in range(30)]
    yield "search-result", "names_nul", ("\0".join(names) + "\0").encode(), {"content_type": "search-result"}
    yield "search-result", "names_crlf", ("\r\n".join("./" + n for n in names) + "\r\n").encode(), {}
