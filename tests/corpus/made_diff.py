"""Golden inputs for diffs: a library's history, invented."""

from __future__ import annotations

from collections.abc import Iterator

NAMES = ["Ada", "Brook", "Chen", "Dario", "Elif", "Farid", "Grace", "Hana"]


def hunk(start: int, shift: int, word: str, n: int, added: int = 1) -> str:
    """A hunk that changes line ``start`` + 3 into ``added`` lines, with three lines of context around it."""
    before = [f" {word}_{n}_{i} = load({i})\n" for i in range(3)]
    after = [f" {word}_{n}_{i} = store({i})\n" for i in range(3, 6)]
    new = [f"+{word}_{n} = retry(load, {n + i})\n" for i in range(added)]
    head = f"@@ -{start},7 +{start + shift},{6 + added} @@ def {word}_{n}():\n"
    return "".join([head, *before, f"-{word}_{n} = load({n})\n", *new, *after])


def file(path: str, hunks: int, word: str, added: int = 1) -> str:
    head = f"diff --git a/{path} b/{path}\nindex 1a2b3c4..5d6e7f8 100644\n--- a/{path}\n+++ b/{path}\n"
    return head + "".join(hunk(10 + 40 * i, i * (added - 1), word, i, added) for i in range(hunks))


def fresh(path: str, lines: int) -> str:
    body = "".join(f"+    step_{i} = queue.take({i * 7 % 13})\n" for i in range(lines))
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000000..9f8e7d6\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{lines} @@\n{body}"


def lock(entries: int) -> str:
    path = "package-lock.json"
    lines = [f"diff --git a/{path} b/{path}\nindex 1111111..2222222 100644\n--- a/{path}\n+++ b/{path}\n"]
    for i in range(entries):
        at = 20 + 12 * i
        lines.append(f'@@ -{at},3 +{at},3 @@\n     "node_modules/pack-{i}": {{\n')
        lines.append(f'-      "version": "1.{i}.0",\n+      "version": "1.{i}.1",\n       "license": "MIT",\n')
    return "".join(lines)


def commit(n: int, subject: str, body: str, diff: str) -> str:
    who = NAMES[n % len(NAMES)]
    head = f"commit {n * 0x1234567 % 2**32:08x}{'c0ffee' * 5}{n:02x}\nAuthor: {who} <{who.lower()}@example.org>\nDate:   Mon Mar {1 + n} 09:00:00 2026 +0100\n"
    return f"{head}\n    {subject}\n\n    {body}\n\n{diff}\n"


def log() -> str:
    return "".join(
        [
            commit(1, "Retry loads", "A load is tried again.", file("src/load.py", 3, "load")),
            commit(2, "Take from queues", "BREAKING: step() is gone, use take().", fresh("src/take.py", 40)),
            commit(3, "Update packages", "By the weekly job.", lock(30)),
            commit(4, "Retry stores", "A store is tried again.", file("src/store.py", 2, "store", 4)),
        ]
    )


def inputs() -> Iterator[tuple[str, str, bytes, dict[str, object]]]:
    yield "diff", "git_log", log().encode(), {}
    yield "diff", "git_log_query", log().encode(), {"query": "step_23 queue"}
    yield "diff", "git_log_ceiling", log().encode(), {"max_tokens": 350}
    yield "diff", "lock", lock(60).encode(), {}
    crlf = (file("Köln.txt", 6, "läden") + "\\ No newline at end of file").replace("\n", "\r\n")
    yield "diff", "crlf_without_end", crlf.encode(), {}
    inner = "".join("+" + line + "\n" for line in file("inner.py", 2, "inner").splitlines())
    outer = f"--- /dev/null\n+++ b/fix.patch\n@@ -0,0 +1,{inner.count(chr(10))} @@\n{inner}"
    yield "diff", "diff_of_a_diff", (outer + file("src/outer.py", 4, "outer")).encode(), {}
