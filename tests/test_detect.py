"""What a payload is: a table of short cases, the confusable ones first among equals."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caveman_wasm import cutting, detect_patterns
from caveman_wasm.detect import MAX_DEPTH, TESTS, candidates, detect, json_depth_ok
from caveman_wasm.detect_pattern import Pattern, either, flush
from caveman_wasm.detect_sample import Lines
from caveman_wasm.model import source

CORPUS = os.environ.get("CAVEMAN_CORPUS", "")  # a folder of real tool outputs …
CORPUS_TYPES = os.environ.get("CAVEMAN_CORPUS_TYPES", "")  # … and lines of: file, tab, type|type


def kind(payload: str | bytes) -> str:
    return detect(source(payload.encode() if isinstance(payload, str) else payload))


def rows(line: str, count: int = 8) -> str:
    """``line`` with {i} = 0, 1, … and {w} = a word that changes."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
    return "".join(line.replace("{i}", str(i)).replace("{w}", words[i % 7]) + "\n" for i in range(count))


STAMP = "2026-05-14 08:00:0{i}"
HUNK = "@@ -1,3 +1,3 @@\n import os\n-old = 1\n+new = 2\n x\n"
DIFF = f"diff --git a/x.py b/x.py\nindex 123..456 100644\n--- a/x.py\n+++ b/x.py\n{HUNK}"
PYTEST = """============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-8.3.5
collected 3 items

tests/test_a.py ..F                                                      [100%]

=================================== FAILURES ===================================
    def test_x():
>       assert 1 == 2
E       assert 1 == 2
=========================== short test summary info ============================
FAILED tests/test_a.py::test_x - assert 1 == 2
========================= 1 failed, 2 passed in 0.12s ==========================
"""
TOOL = {"name": "click", "description": "Clicks", "inputSchema": {"type": "object", "properties": {"uid": {}}}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
AX = {"nodes": [{"nodeId": "1", "ignored": False, "role": {"value": "RootWebArea"}}, {"nodeId": "2", "ignored": True}]}
PROSE = "The committee met on Tuesday, and most of its members were there when the vote was taken at noon.\n"
MANIFEST = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web-{i}\nspec:\n  type: ClusterIP\n  replicas: {i}\n---"
PAGE = "<!DOCTYPE html>\n<html><head><title>x</title></head><body><p>Hello</p></body></html>\n"
LD = '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article"}</script>'
GO = (
    "package main\n\n// Check says whether ok.\nfunc Check(x int) bool {\n\tif x > 3 {\n\t\treturn true\n\t}\n"
    "\treturn false\n}\n"
)
PYTHON = (
    'import os\nfrom sys import argv\n\n\ndef main(path: str) -> int:\n    """Print it."""\n'
    "    for name in os.listdir(path):\n"
    "        if name:\n            print(name)\n    return 0\n\n\nclass A(B):\n    x = 1\n"
)
JSX = (
    "import React from 'react';\nexport default function App() {\n  const [n, setN] = useState(0);\n"
    "  return (\n    <p>{n}</p>\n  );\n}\n"
)
RUST = (
    "use std::fmt;\n\n#[derive(Debug)]\npub struct P {\n    x: i32,\n}\n\nimpl P {\n"
    "    pub fn new() -> Self {\n        P { x: 1 }\n    }\n}\n"
)
JAVA = (
    "package a.b;\n\nimport java.util.List;\n\npublic class A {\n    private final int x = 1;\n"
    "    public int getX() {\n"
    "        return x;\n    }\n}\n"
)
KOTLIN = (
    "package a\n\nimport b.c.D\n\ndata class P(val x: Int)\n\nfun main(args: Array<String>) {\n"
    "    val p = P(1)\n    println(p)\n}\n"
)
C = (
    "#include <stdio.h>\n\nstatic int add(int a, int b)\n{\n\treturn a + b;\n}\n\nint main(void)\n{\n"
    '\tprintf("%d", add(1, 2));\n}\n'
)
HEADER = (
    "/* Copyright: a licence that goes on\n   for several lines of prose, as licences do,\n   and ends here.  */\n"
    "#ifndef _X_H\n#define _X_H 1\n\n#include <features.h>\n\n"
    "extern int klogctl (int __type, char *__bufp, int __len) __THROW;\n\n"
    "typedef unsigned int x_t;\n\nstruct point {\n  int x;\n  int y;\n};\n\n#endif\n"
)
CPP = (
    "#include <vector>\nnamespace a {\ntemplate <typename T>\nclass V : public B<T> {\n public:\n"
    "  V() = default;\n  int f() const;\n};\n}\n"
)
CSHARP = "using System;\n\nnamespace A.B\n{\n    public class C\n    {\n        public int X { get; set; }\n    }\n}\n"
PHP = "<?php\nnamespace A;\nclass B {\n    public function c($x) {\n        return $this->d($x);\n    }\n}\n"
RUBY = (
    "require 'json'\n\nmodule A\n  class B < C\n    attr_reader :x\n\n    def initialize(x)\n      @x = x\n"
    "    end\n  end\nend\n"
)
SHELL = '#!/bin/sh\nset -e\nfor f in *.txt; do\n  if [ -f "$f" ]; then\n    echo "$f"\n  fi\ndone\n'
SQL = (
    "CREATE TABLE t (\n  id INTEGER PRIMARY KEY,\n  name TEXT NOT NULL\n);\nINSERT INTO t (id, name) VALUES\n"
    "  (1, 'a'),\n  (2, 'b');\n"
)
TYPES = (
    "export interface A {\n  x: number;\n  y?: string;\n}\nexport type B = A | null;\n"
    "export declare function f(a: A): B;\n"
)
MINIFIED = (
    "(()=>{var e={1:(t,n)=>{t.exports=n(2)},2:function(r){return r.a?r.b:r.c}};var o=function(a){if(a){return e[a]}};"
    * 12
)
PS = (
    "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
    "root           1  0.0  0.1   4188  3356 ?        Ss   08:00   0:01 /sbin/init splash\n"
    "root          22  0.0  0.0   2580  1508 ?        S    08:00   0:00 sh -c import x; return y\n"
    "www-data     871  1.2  3.4 812345 91234 ?        Sl   08:01   1:22 nginx: worker process\n"
)
DPKG = (
    "Desired=Unknown/Install/Remove/Purge/Hold\n| Status=Not/Inst/Conf-files/Unpacked\n"
    "|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)\n"
    "||/ Name           Version      Architecture Description\n"
    "+++-==============-============-============-=================================\n"
    "ii  adduser        3.134        all          add and remove users and groups\n"
    "ii  apt            2.6.1        amd64        commandline package manager\n"
    "ii  base-files     12.4+deb12u5 amd64        Debian base system miscellaneous files\n"
)
KUBECTL = (
    "NAME                     READY   STATUS             RESTARTS   AGE\n"
    "web-7d4b9c6f5-abcde      1/1     Running            0          3d\n"
    "web-7d4b9c6f5-fghij      0/1     CrashLoopBackOff   17         3d\n"
    "db-0                     1/1     Running            0          12d\n"
)
DF = (
    "Filesystem     1K-blocks     Used Available Use% Mounted on\n"
    "/dev/sda1       51475068 31231234  17600000  64% /\n"
    "tmpfs            4018740        0   4018740   0% /dev/shm\n"
)
PIP = (
    "Package            Version\n------------------ ---------\nattrs              25.4.0\n"
    "hypothesis         6.170.17\nidna               3.20\n"
)
PSQL = " id | name  | n\n----+-------+---\n  1 | ann   | 3\n  2 | bob   | 4\n  3 | carol | 5\n"
MYSQL = "+----+------+\n| id | name |\n+----+------+\n|  1 | ann  |\n|  2 | bob  |\n+----+------+\n"
TRACE = (
    "java.io.IOException: Connection was lost\n\tat kafka.utils.Net.read(Net.scala:115)\n"
    "\tat kafka.utils.Net.call(Net.scala:98)\n"
    "Caused by: java.net.SocketException: reset\n\tat java.base/sun.nio.ch.Net.poll(Net.java:22)\n\t... 12 more\n"
)
PY_TRACE = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    main()\n'
    '  File "b.py", line 9, in main\n    raise ValueError("x")\nValueError: x\n'
)
LS = "total 340\n" + rows("-rw-r--r-- 1 root root   634 2026-12-01 04:48 file-{i}.rst")
PLAYWRIGHT = (
    '- generic [active] [ref=e1]:\n  - button "Skip" [ref=e3]\n  - link "Home" [ref=e4] [cursor=pointer]:\n'
    '    - /url: "#"\n  - text: Hello\n'
)
DEVTOOLS = (
    'uid=1_0 RootWebArea "Example"\n  uid=1_1 button "Skip To Content"\n'
    '  uid=1_2 link "Related" url="https://x.example/"\n'
)
JUNIT = (
    '<?xml version="1.0"?><testsuites><testsuite name="a" tests="1">'
    '<testcase name="t" time="0.1"/></testsuite></testsuites>\n'
)
JEST = (
    "PASS src/a.test.ts\nFAIL src/b.test.ts\n  ● adds\n    expected 1\n\n"
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total\n"
)
GO_TEST = (
    "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:7: got 1\n"
    "--- FAIL: TestB (0.01s)\nFAIL\nFAIL\tx/y\t0.012s\n"
)
CARGO_TEST = (
    "running 2 tests\ntest a::works ... ok\ntest b::fails ... FAILED\n\nfailures:\n    b::fails\n\n"
    "test result: FAILED. 1 passed; 1 failed; 0 ignored\n"
)
TAP = "TAP version 13\nok 1 - a\nnot ok 2 - b\n  ---\n  message: x\nok 3 - c\n1..3\n"
GO_JSON = rows('{"Time":"2026-05-14T08:00:00Z","Action":"run","Package":"x/y","Test":"TestA{i}"}')
REACT_README = (
    '<p align="center">\n  <img src="a.png">\n</p>\n\n# Title\n\nSome words about it.\n\n## Install\n\n```sh\n'
    "npm i x\n```\n"
)
FENCED = "# How to\n\nFirst write this:\n\n```python\n" + PYTHON * 3 + "```\n\nThen run it.\n"
RST = "PEP: 440\nTitle: Versions\nStatus: Final\n\nAbstract\n========\n\n" + PROSE * 4 + "\n::\n\n    [N!]N(.N)*\n"
FRONT = "---\ntitle: 'Effects'\n---\n\n<Intro>\n\n" + PROSE * 3 + "\n</Intro>\n"
PROGRAMS = [
    "addpart",
    "apt-get",
    "apt-key",
    "arch",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "bash",
    "c99-gcc",
    "chcon",
    "cpp",
    "dpkg",
    "x509",
    "y2k",
    "zip2",
]
GUTTERED = "".join(f"{i:6}\t{line}\n" for i, line in enumerate(rows(STAMP + " INFO poll ok", 9).splitlines(), 1))
CODE_GUTTER = "".join(f"{i:6}\t{line}\n" for i, line in enumerate(PYTHON.splitlines(), 40))

CASES: dict[str, tuple[str, str | bytes]] = {
    # --- binary
    "PNG bytes": ("binary", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4),
    "control characters": ("binary", b"\x01\x02\x03abc" * 50),
    "Latin-1 prose is text": (
        "text",
        "Candide fut chassé du château avec de grands coups de pied. ".encode("latin-1") * 20,
    ),
    "a few broken bytes in prose": ("text", PROSE.encode() * 5 + b"\xff\xfe\xc3\n"),
    # --- agents' own
    "a Playwright snapshot": ("a11y", PLAYWRIGHT),
    "a Playwright snapshot in a report": (
        "a11y",
        "### Page\n- Page URL: http://x\n### Snapshot\n```yaml\n" + PLAYWRIGHT + "```\n",
    ),
    "a devtools snapshot": ("a11y", "## Latest page snapshot\n" + DEVTOOLS),
    "a CDP tree": ("a11y", json.dumps(AX)),
    "a CDP tree in a result": ("a11y", json.dumps({"id": 1, "result": AX})),
    "nodes that are no tree": ("json", '{"nodes":[{"name":"a","role":"master"}]}'),
    "a tool list": ("toolschema", json.dumps({"tools": [TOOL, TOOL]})),
    "a tool list in a result": ("toolschema", json.dumps({"jsonrpc": "2.0", "result": {"tools": [TOOL]}}, indent=2)),
    "a bare array of tools": ("toolschema", json.dumps([TOOL])),
    "functions to call": ("toolschema", json.dumps([FUNCTION, FUNCTION])),
    "things with a name and a description": ("json", '[{"name":"a","description":"b"},{"name":"c","description":"d"}]'),
    "tools that are only names": ("json", '{"tools":["hammer","saw"]}'),
    "JUnit XML": ("test-report", JUNIT),
    "a pytest run": ("test-report", PYTEST),
    "pytest -v": ("test-report", rows("tests/test_a.py::test_{w} PASSED                   [ {i}%]")),
    "a jest run": ("test-report", JEST),
    "go test -v": ("test-report", GO_TEST),
    "go test -json": ("test-report", GO_JSON),
    "cargo test": ("test-report", CARGO_TEST),
    "TAP": ("test-report", TAP),
    "unittest -v": ("test-report", rows("test_{w} (tests.test_a.TestA) ... ok") + "\nRan 8 tests in 0.1s\n\nOK\n"),
    "a test run in colours": ("terminal", "\x1b[1m" + PYTEST.replace("passed", "\x1b[32mpassed\x1b[0m")),
    "a log that quotes a test run": ("log", "".join(f"2026-05-14T08:00:00Z {line}\n" for line in PYTEST.splitlines())),
    "a document that explains a test run": ("text", PROSE + "```\n" + PYTEST + "```\n" + PROSE),
    # --- JSON
    "an object": ("json", '{"a": [1, 2, {"b": null}]}'),
    "an array of records": ("json", json.dumps([{"id": i, "s": "ok", "error": None} for i in range(9)])),
    "JSON with a BOM": ("json", b'\xef\xbb\xbf{"a":1}'),
    "JSON with a key twice": ("json", '[{"s":"ok","s":"lost"}]'),
    "JSON lines": ("json", rows('{"id":{i},"name":"{w}"}')),
    "JSON lines with blank ones": ("json", rows('{"id":{i}}\n')),
    "JSON lines of arrays": ("json", rows('[{i},"{w}"]')),
    "JSON lines that are a log": ("log", rows('{"time":"2026-05-14T08:00:0{i}Z","level":"info","msg":"{w}"}')),
    "JSON lines with a time and no level": ("json", rows('{"ts":{i},"value":3}')),
    "a log of JSON with a stray line": ("log", rows('{"ts":"2026-05-14T08:00:0{i}Z","level":"info"}') + "panic\n"),
    "an MCP envelope": ("json", json.dumps({"content": [{"type": "text", "text": PYTHON}]})),
    "a shell envelope around HTML": ("json", json.dumps({"stdout": PAGE, "exit_code": 0})),
    "a big integer": ("json", "[" + "9" * 5000 + "]"),
    "NaN": ("json", '[NaN, Infinity, 1e5, {"a": -0.0}]'),
    "GeoJSON": ("json", '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{}}]}'),
    "JSON cut off": ("text", json.dumps([{"id": i, "name": "x"} for i in range(50)])[:-7]),
    "JSON with a trailing comma": ("text", '[{"id": 1, "name": "a"},\n {"id": 2, "name": "b"},\n]\n'),
    "JSON as deep as may be": ("json", "[" * MAX_DEPTH + "]" * MAX_DEPTH),
    "JSON far too deep": ("json", "[" * 40_000 + "]" * 40_000),
    "brackets never closed": ("text", "[" * 100_000),
    "a log that begins with a bracket": ("log", rows("[" + STAMP + ",918] WARN [Fetcher-0], Error in fetch {w}")),
    "JSON after a prompt": ("text", '$ curl -s https://x.example/api\n{"a": 1, "b": [1, 2, 3]}\n'),
    # --- terminal
    "colours": ("terminal", rows("\x1b[32mok\x1b[0m {w} {i}")),
    "a window title": ("terminal", "\x1b]0;title\x07done\nnext\nlast\n"),
    "a redrawn progress bar": ("terminal", "".join(f"\rfetching {i}%" for i in range(0, 101, 5)) + "\ndone\n"),
    "a progress bar that never ends its line": ("terminal", "\r".join(f"fetching {i}% [===>    ]" for i in range(20))),
    "coloured grep": ("terminal", rows("\x1b[35msrc/a.py\x1b[m:\x1b[32m{i}\x1b[m:import {w}")),
    "CRLF is no redrawing": ("log", rows(STAMP + " INFO {w}").replace("\n", "\r\n")),
    "CR CR LF is no redrawing": ("log", rows(STAMP + " INFO {w}").replace("\n", "\r\r\n")),
    "CR alone as line end": ("log", rows(STAMP + " ERROR disk {w}").replace("\n", "\r")),
    # --- diffs
    "git diff": ("diff", DIFF),
    "a bare hunk": ("diff", HUNK),
    "git log -p": (
        "diff",
        f"commit {'a' * 40}\nAuthor: A <a@x.example>\nDate:   Tue May 3 21:39:59 2016\n\n    Fix it\n\n{DIFF}",
    ),
    "a mailed patch with more message than change": (
        "diff",
        "From: A <a@x.example>\nSubject: Fix it\n\n" + "Why this has to be so.\n" * 40 + f"---\n x | 2 +-\n\n{DIFF}",
    ),
    "diff -ru": (
        "diff",
        f"diff -ru a/x b/x\n--- a/x\t2026-05-14 08:00:00\n+++ b/x\t2026-05-14 08:00:01\n{HUNK}Only in b: y\n",
    ),
    "plain diff": ("diff", "3c3\n< old line\n---\n> new line\n7a8,9\n> more\n> and more\n"),
    "a diff of a diff": (
        "diff",
        f"--- a.diff\n+++ b.diff\n@@ -1,4 +1,4 @@\n diff --git a/x b/x\n--- a/x\n-+++ b/x\n++++ b/y\n{HUNK}",
    ),
    "a diff of a table": ("diff", DIFF + rows("+{i},{w},ok")),
    "a format-patch mail": (
        "diff",
        f"From {'b' * 40} Mon Sep 17 00:00:00 2001\nFrom: A <a@x.example>\nSubject: [PATCH] x\n\n---\n{DIFF}",
    ),
    "prose around a fenced diff": ("text", PROSE * 3 + "\n```diff\n" + DIFF + "```\n" + PROSE * 3),
    # --- HTML
    "a page": ("html", PAGE),
    "a page with JSON-LD": ("html", PAGE.replace("</head>", LD + "</head>")),
    "a page after comments": ("html", "<!-- built -->\n<?xml version='1.0'?>\n" + PAGE),
    "a fragment": ("html", rows('<div class="row"><span>{w}</span></div>')),
    "Markdown with HTML at its head": ("text", REACT_README),
    "comments that never end": ("text", "<!--" * 2000),
    # --- tables
    "CSV": ("tabular", "id,name,note\n" + rows("{i},{w},ok")),
    "CSV with a BOM": ("tabular", b"\xef\xbb\xbfid,name,note\n" + rows("{i},{w},ok").encode()),
    "CSV with CRLF": ("tabular", ("id,name\n" + rows("{i},{w}")).replace("\n", "\r\n")),
    "CSV, all quoted": ("tabular", '"Code","Name","Region"\n' + rows('"00{i}","{w}","Africa"')),
    "CSV with quoted newlines": ("tabular", "a,b,why\n" + rows('{i},2,"First line,\nsecond {w}\n\nlast"')),
    "CSV with one column of prose": ("tabular", "c1,c2,c3,why\n" + rows('{i},2,3,"' + PROSE.strip() + '"')),
    "CSV in Arabic": ("tabular", '"Code","Name","Area"\n' + rows('"00{i}","العالم","أفريقيا الشمالية"')),
    "semicolons": ("tabular", "id;name;price\n" + rows("{i};{w};1,50")),
    "TSV": ("tabular", "id\trate\n" + rows("100{i}\t.09{i}")),
    "TSV without a header": ("tabular", rows("{i}\tAnn\t{i}\tok")),
    "CSV without a header": ("tabular", rows("{i},{w},ok,17")),
    "CSV cut off in a row": ("tabular", "id,name,note\n" + rows("{i},{w},ok", 40) + "41,al"),
    "CSV with our marker's words": ("tabular", "id,name,note\n" + rows("{i},{w},see 5 rows elided")),
    "a Markdown table": ("tabular", "| id | name |\n|----|:----:|\n" + rows("| {i} | {w} |")),
    "psql": ("tabular", PSQL),
    "mysql": ("tabular", MYSQL),
    "ps": ("tabular", PS),
    "dpkg -l": ("tabular", DPKG),
    "kubectl get": ("tabular", KUBECTL),
    "df": ("tabular", DF),
    "pip list": ("tabular", PIP),
    "prose with a comma a line": (
        "text",
        rows("The {w} committee met on Tuesday, and then everybody went home to rest."),
    ),
    "prose with short clauses": ("text", rows("We went to {w}, then home.\nIt rained, as ever.")),
    "a Markdown document with a table": (
        "text",
        "# Emoji\n\n" + PROSE + "\n| a | b |\n|---|---|\n" + rows("| {i} | :{w}: |", 30),
    ),
    # --- code
    "Python": ("code", PYTHON),
    "JavaScript": ("code", JSX),
    "TypeScript types": ("code", TYPES),
    "minified JavaScript": ("code", MINIFIED),
    "Go": ("code", GO),
    "Rust": ("code", RUST),
    "Java": ("code", JAVA),
    "Kotlin": ("code", KOTLIN),
    "C": ("code", C),
    "a C header": ("code", HEADER),
    "C++": ("code", CPP),
    "C#": ("code", CSHARP),
    "PHP": ("code", PHP),
    "Ruby": ("code", RUBY),
    "shell": ("code", SHELL),
    "SQL": ("code", SQL),
    "Python with a long docstring": ("code", '"""' + PROSE * 30 + '"""\n' + PYTHON),
    "Python as cat -n prints it": ("code", CODE_GUTTER),
    "code that holds a table": (
        "code",
        "package x\n\nvar t = []row{\n" + rows('\t{{i}, "{w}", 17},') + "}\n\n" + GO[14:],
    ),
    # --- logs
    "a log": ("log", rows(STAMP + " INFO batch {i} done failed=0")),
    "a log with a BOM": ("log", b"\xef\xbb\xbf" + rows(STAMP + " INFO step {i} ok").encode()),
    "a log as cat -n prints it": ("log", GUTTERED),
    "a log of epoch seconds": ("log", rows("171567360{i} INFO poll {w}")),
    "syslog": ("log", rows("Mar 29 10:36:4{i} host sshd[750]: Accepted publickey for {w} from 10.0.0.{i}")),
    "nginx": ("log", rows('10.0.0.{i} - - [14/May/2026:08:00:0{i} +0000] "GET /{w} HTTP/1.1" 200 612 "-" "curl"')),
    "logfmt": ("log", rows('ts=2026-05-14T08:00:0{i}.891Z caller=main.go:513 level=info msg="No {w}"')),
    "klog": ("log", rows("I0514 08:00:0{i}.123456       1 main.go:17] starting {w}")),
    "dmesg": ("log", rows("[    {i}.123456] usb 1-1: new {w} device")),
    "levels without times": ("log", rows('[INFO] plugin/ready: Still waiting on: "{w}"')),
    "Python's logging": ("log", rows("WARNING:root:{w} is deprecated")),
    "docker compose": ("log", rows("web-1  | GET /{w} 200")),
    "a log with Java traces": ("log", (STAMP.format(i=1) + " ERROR failed\n" + TRACE) * 4),
    "a Java trace alone": ("log", TRACE),
    "a Python trace": ("log", PY_TRACE),
    "make": ("log", rows("make[1]: Entering directory '/x/{w}'\n  CC       {w}.lo\nlibtool: compile:  gcc -c {w}.c")),
    "maven": ("log", rows("[INFO]     [mkdir] Created dir: /ige/{w}")),
    "compiler warnings": (
        "log",
        rows("src/{w}.c:9{i}:23: warning: comparison between signed and unsigned [-Wsign-compare]"),
    ),
    "apt": (
        "log",
        rows("Selecting previously unselected package {w}.\nUnpacking {w} (1.{i}) ...\nSetting up {w} (1.{i}) ..."),
    ),
    "a tagged build": ("log", rows("[Build on CentOS 7] for ( i = 0; i < {i}; ++i ) {w}")),
    "a log full of code words": ("log", rows(STAMP + " DEBUG function return class import def public static {w}();")),
    "a log that holds commas": ("log", rows("2026-05-14 08:00:0{i},123 INFO done, {w}")),
    "a log of forged markers": ("log", rows(STAMP + " INFO a") + "… 5000 lines elided (caveman): all status=ok …\n"),
    # --- searches and listings
    "grep -n over code": ("search-result", rows("src/a{i}.js:{i}: import x from 'y'; return x;")),
    "grep -rn over Python": ("search-result", rows("./pkg/{w}.py:1{i}:    def {w}(self):")),
    "grep -r": ("search-result", rows("pkg/{w}.py:import os")),
    "grep -n on one file": ("search-result", rows("1{i}:def {w}(x):")),
    "grep -A": ("search-result", rows("a/{w}.py:1{i}:def f():\na/{w}.py-2{i}-    return 1\n--")),
    "ripgrep with columns": ("search-result", rows("src/{w}.rs:1{i}:5:pub fn {w}() {")),
    "ripgrep with headings": ("search-result", rows("src/{w}.rs\n12:pub fn a() {\n19:pub fn b() {\n")),
    "grep over a log": ("search-result", rows("logs/{w}.log:1{i}:2026-05-14 08:00:00 ERROR disk full")),
    "find": ("search-result", rows("./src/pkg/{w}-{i}.py")),
    "git ls-files": ("search-result", rows("src/pkg/{w}_{i}.rs")),
    "ls -lR": ("search-result", "docs:\n" + LS + "\ndocs/api:\n" + LS),
    "names ended by NUL": ("search-result", "\0".join(f"src/{w}.py" for w in ("alpha", "beta", "gamma")) + "\0"),
    "git ls-tree -z": ("search-result", "".join(f"100644 blob {'1a' * 20}\tsrc/f{i}\0" for i in range(5))),
    "git status --short": ("search-result", rows(" M src/{w}.py\n?? tests/{w}/")),
    # --- configuration
    "YAML": ("config", "a: 1\nb:\n  - x\n  - y\nc:\n  d: true\n"),
    "Kubernetes manifests": ("config", rows(MANIFEST)),
    "YAML that looks like code": (
        "config",
        "if: github.ref == 'x'\nfor: each\nclass: public\nimport:\n  - return\ndef: function()\n",
    ),
    "YAML with texts in it": ("config", "description: |\n" + ("  " + PROSE) * 9 + "type: object\nname: x\n"),
    "a flow list without end": ("config", "a: 1\nb: 2\nc: " + "[" * 9000 + "\nd: 4\ne: 5\n"),
    "TOML": ("config", '[build-system]\nrequires = ["x>=1"]\n\n[project]\nname = "a"\nversion = "1"\n'),
    "a Cargo lock": ("config", "version = 3\n\n" + rows('[[package]]\nname = "{w}"\nversion = "1.{i}"\n')),
    "a yarn lock": (
        "config",
        '# yarn lockfile v1\n\n\n"@a/b@npm:^1":\n  version "1.0"\n  resolved "https://x.example/b.tgz"\n' * 3,
    ),
    "INI": ("config", "; comment\n[tox]\nrequires =\n    tox>=4\nenv_list =\n    lint\n    py311\n"),
    "dotenv": ("config", "# server\nDB_HOST=localhost\nDB_PORT=5432\nexport TOKEN=x\n"),
    "dotenv, all commented out": (
        "config",
        "# Address to listen on.\n# HOST=127.0.0.1\n#\n# Port to listen on.\n# PORT=80\n",
    ),
    "HCL": (
        "config",
        'resource "aws_s3_bucket" "b" {\n  bucket = "x"\n  acl    = "private"\n\n  tags = {\n    a = "b"\n  }\n}\n',
    ),
    "XML": ("config", '<?xml version="1.0"?>\n<project>\n  <id>x</id>\n</project>\n'),
    "SVG": ("config", '<svg xmlns="http://www.w3.org/2000/svg">\n<path d="M0 0"/>\n</svg>\n'),
    "properties": ("config", "# x\nserver.port=8080\nserver.name=a b c\nspring.x.y=z\n"),
    # --- text
    "nothing": ("text", ""),
    "a blank": ("text", " "),
    "prose": ("text", PROSE * 9),
    "Markdown": ("text", "# Title\n\n" + PROSE * 3 + "\n- one\n- two\n\n## More\n\n" + PROSE * 3),
    "Markdown with code words": (
        "text",
        "# Title\n\n" + "Import the module 0 and return the class. See { braces }.\n\n" * 9,
    ),
    "Markdown with a code fence": ("text", FENCED),
    "Markdown with front matter": ("text", FRONT),
    "reStructuredText": ("text", RST),
    "Japanese": ("text", "コンポーネントは、外部システムと同期を行う必要があります。\n" * 9),
    "Han without breaks": ("text", "中文字符测试" * 2000),
    "letters without end": ("text", "a" * 20_000),
    "newlines without end": ("text", "x" + "\n" * 20_000 + "x"),
    "a README of steps": ("text", "Install\n=======\n\n1. Download it.\n2. Run it, please.\n\n" + PROSE * 3),
    "a usage text": (
        "text",
        "usage: tool [-h] FILE\n\noptions:\n  -h, --help  show this help\n  -b     : issue warnings\n",
    ),
    "git log": (
        "text",
        f"commit {'c' * 40}\nAuthor: A <a@x.example>\nDate:   Tue May 3 21:39:59 2016\n\n    Fix the thing\n",
    ),
}


CASES |= {
    # --- found on real files and commands
    "ls of programs": ("search-result", "".join(f"{n}\n" for n in PROGRAMS)),
    "ls -li": ("search-result", "total 8\n" + rows("  1310{i} -rw-r--r-- 1 root root  71 May 14 08:00 {w}.conf")),
    "find -ls": (
        "search-result",
        rows("   4210{i}      4 -rw-r--r--   1 root     root          12 May 14 08:00 ./a/{w}"),
    ),
    "wc -l": ("search-result", rows("    {i}7 src/{w}.py") + "   412 total\n"),
    "wc": ("search-result", rows("  1{i}  7{i} 90{i} src/{w}.py") + "  412  612 9000 total\n"),
    "ls -R": ("search-result", ".:\nbin\nlib\n\n./bin:\na.sh\nb.sh\n\n./lib:\nlibz.so.1\nlibq\nx\ny\n"),
    "ls -s": ("search-result", "total 70\n" + rows("  1{i} {w}")),
    "du -a": ("search-result", rows("{i}2\t./usr/{w}/x")),
    "du -ah": ("search-result", rows("{i}.0K\t./{w} of mine")),
    "git ls-tree -r": ("tabular", rows("100644 blob 5a0{i}c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8\tsrc/{w}.py")),
    "git diff --name-status": ("search-result", rows("M\tsrc/{w}.py")),
    "INI, all commented out": (
        "config",
        "; Example\n;port = 3306\n;socket = /x\n; What a comment says of it.\n;max = 3\n",
    ),
    "stat": (
        "text",
        rows(
            "  File: /usr/bin/{w}\n  Size: 14{i}  \tBlocks: 288        IO Block: 4096   regular file\n"
            "Device: 801h\tInode: 1{i}\tLinks: 1\nAccess: (0755/-rwxr-xr-x)  Uid: (    0/    root)\n"
            "Access: 2026-05-14 08:00:0{i}.1 +0000\nModify: 2026-05-14 08:00:0{i}.1 +0000"
        ),
    ),
    "free": (
        "text",
        "               total        used        free\nMem:            15Gi       3.1Gi       8.2Gi\n"
        "Swap:          2.0Gi          0B       2.0Gi\n",
    ),
    "tree": ("search-result", ".\n├── bin\n│   ├── a\n│   └── b\n└── lib\n    └── c.so\n\n2 directories, 3 files\n"),
    "md5sum": ("search-result", rows("d41d8cd98f00b204e9800998ecf8427{i}  usr/share/doc/{w}/copyright")),
    "find -printf": ("search-result", rows("2026-05-1{i} ./perl5/{w}.pm")),
    "dpkg -S": ("search-result", rows("lib{w}-perl, perl: /usr/bin/{w}")),
    "diff -rq": ("search-result", rows("Files a/{w}.py and b/{w}.py differ\nOnly in a: {w}{i}.py")),
    "web hits": ("search-result", rows("{i}. About {w}\n   https://x.example/{w}\n   It says what {w} means.\n")),
    "web hits as fields": ("search-result", rows("Title: {w}\nURL: https://x.example/{i}\nDescription: of {w}\n")),
    "a word list is no listing": (
        "text",
        "".join(f"{w}\n" for w in ["zebra", "apple", "mango", "kiwi", "fig", "date", "plum", "pear", "lime"] * 3),
    ),
    "strings of a program": (
        "text",
        "\n".join(["zlib", "%s", "PTE1", "u3UH", "ambig", "f9", "D$0", "main", "abc", "x2"] * 3),
    ),
    "rows to insert": ("code", rows("INSERT INTO t VALUES({i},'name {w}',1.5,NULL);")),
    "rows to insert, one statement": ("code", "INSERT INTO t (id, n) VALUES\n" + rows("({i},'{w}, it is',1.5,NULL),")),
    "a dump that copies": ("code", "SET x = 0;\n\nCOPY t (id, name) FROM stdin;\n" + rows("{i}\tname {w}") + "\\.\n"),
    "an extension script": (
        "code",
        '/* a--1.0.sql */\n\n\\echo Use "CREATE EXTENSION a" to load this file. \\quit\n\n'
        "CREATE FUNCTION f(x text,\n    y int)\nRETURNS VOID\nAS 'MODULE_PATHNAME'\nLANGUAGE C STRICT;\n",
    ),
    "a codec's table": (
        "code",
        '"""A codec."""\n\nimport codecs\n\nTABLE = (\n' + rows("    '\\x0{i}'     #  0x0{i} -> {w}", 40) + ")\n",
    ),
    "a dict of words": ("code", "from a import b\n\n\nNAMES = {\n" + rows("    'k{i}': '{w}/City',", 40) + "}\n"),
    "texts in JavaScript": (
        "code",
        '"use strict";\nconst texts = {\n' + rows('  k{i}: {\n    one: "{w}",\n  },') + "};\n",
    ),
    "exports": ("code", rows('export { default as {w} } from "./{w}.js";')),
    "Ruby's constants": (
        "code",
        "# Says what it is.\n\nrequire_relative 'a/b'\n\nmodule A\n" + rows("  KEY_{i}      = '{w}'", 30) + "end\n",
    ),
    "Rust, mostly its guide": ("code", rows("//! # Part {i}\n//!\n//! Says what {w} is for.", 30) + "\npub mod de;\n"),
    "Rust, a macro called": ("code", rows('replace!({w}, all, r"[0-9]", "age: 2{i}", t!("Z"), "age: Z");')),
    "a licence, then code": (
        "code",
        "/**\n" + " x is granted\n" * 2500 + "*/\n" + "var a = function (b) {\n  return b;\n};\n" * 900,
    ),
    "a rule in a comment": (
        "code",
        "use super::a::*;\n\n// PARSERS\n// -------\n\n/// Parse it.\npub fn f(x: u8) -> u8 {\n    x\n}\n",
    ),
    "YAML with a script in it": (
        "config",
        "name: x\non: [push]\njobs:\n  a:\n    runs-on: u\n    run: >\n      for i in x; do\n        if [ a ]; then\n          return 1;\n        fi\n      done\n",
    ),
    "desktop entry": ("config", "[Desktop Entry]\n" + rows("Name[{w}]=Réglages {i}\nComment[{w}@x]=Über {i}")),
    "pkg-config": (
        "config",
        "prefix=/usr\nlibdir=${prefix}/lib\nhost=x86\n\nName: libx\nDescription: A library\nVersion: 1.2\n",
    ),
    "levels in settings": ("config", "# Levels.\n.level=INFO\na.level = WARNING\nb.level = SEVERE\nc.handlers = d\n"),
    "sshd_config": (
        "config",
        "# The server's settings.\n#Port 22\n#AddressFamily any\n#StrictModes yes\nUsePAM yes\nX11Forwarding no\n",
    ),
    "a feed": (
        "config",
        '<?xml version="1.0"?>\n<rss version="2.0"><channel>\n'
        + rows("<item><title>{w}</title></item>")
        + "</channel></rss>\n",
    ),
    "JSON with comments": ("config", "// why\n{\n" + rows('  "k{i}": {i}, // {w}') + '  "z": [1, 2,]\n}\n'),
    "a page's template": (
        "html",
        '{% extends "a.html" %}\n{% block b %}\n<div>\n  {% if x %}\n  <p>{{ y }}</p>\n  {% endif %}\n</div>\n{% endblock %}\n',
    ),
    "numbers under names of capitals": ("text", "# DO NOT EDIT THIS\n" + "".join(f"{n}\n" for n in range(35, 250, 7))),
    "jest, verbose": (
        "test-report",
        "PASS src/a.test.js\n  Adder\n" + rows("    ✓ adds {i} (3 ms)") + "\nTests:       8 passed, 8 total\n",
    ),
    "mocha": ("test-report", "  Array\n" + rows("      ✔ returns {w}") + "\n  8 passing (12ms)\n"),
    "node --test": ("test-report", rows("✔ does {w} (0.{i}ms)") + "ℹ tests 8\n"),
    "unittest": (
        "test-report",
        rows(
            "=" * 70 + "\nFAIL: test_{i} (a.T.test_{i})\n" + "-" * 70 + "\nTraceback (most recent call last):\n"
            '  File "a.py", line {i}, in test_{i}\n    self.assertEqual({i}, 0)\nAssertionError: {i} != 0\n'
        )
        + "Ran 8 tests in 0.001s\n\nFAILED (failures=8)\n",
    ),
    "surefire": (
        "test-report",
        "[INFO]  T E S T S\n" + rows("[INFO] Running a.{w}Test\n[INFO] Tests run: 4, Failures: 0, Errors: 0"),
    ),
    "googletest": (
        "test-report",
        "[==========] Running 8 tests.\n" + rows("[ RUN      ] A.{w}\n[       OK ] A.{w} (0 ms)"),
    ),
    "ctest": (
        "test-report",
        "Test project /b\n" + rows("      Start {i}: {w}\n{i}/8 Test  #{i}: {w} .......   Passed    0.01 sec"),
    ),
    "phpunit": (
        "test-report",
        "PHPUnit 9.5\n\n..F  3 / 3 (100%)\n\nThere was 1 failure:\n\n1) A::b\nIt is not so.\n\nFAILURES!\nTests: 3, Assertions: 3\n",
    ),
    "journalctl": ("log", rows("May 14 08:00:0{i} host systemd[1]: Started Session {i} of user {w}.")),
    "apache errors": ("log", rows("[Mon May 04 08:00:0{i}.1234 2026] [php:error] [pid {i}] PHP Warning: {w}")),
    "nginx errors": ("log", rows("2026/05/04 08:00:0{i} [error] 12#12: *{i} open() failed, client: {w}")),
    "access by virtual host": (
        "log",
        rows('x.example:443 1.2.3.{i} - - [04/May/2026:08:00:0{i} +0000] "GET /{w} HTTP/1.1" 200 7'),
    ),
    "syslog as RFC 5424": ("log", rows("<34>1 2026-05-04T08:00:0{i}Z host app {i} ID47 - {w}")),
    "GitHub Actions": (
        "log",
        rows("2026-05-04T08:00:0{i}.1234567Z ##[group]Run {w}\n2026-05-04T08:00:0{i}.1234567Z npm ci"),
    ),
    "gh run view --log": ("log", rows("build\tRun tests\t2026-05-04T08:00:0{i}.1234567Z {w} is done")),
    "kubectl logs --prefix": ("log", rows("[pod/web-1/app] 2026-05-04T08:00:0{i}Z started {w}")),
    "Rails": (
        "log",
        rows('Started GET "/{w}" for 1.2.3.4 at 2026-05-04 08:00:0{i} +0000\nProcessing by A#b\nCompleted 200 OK'),
    ),
    "terraform apply": (
        "log",
        rows("aws_instance.web[{i}]: Creating...\naws_instance.web[{i}]: Creation complete after {i}s"),
    ),
    "apt's history": (
        "log",
        rows("\nStart-Date: 2026-05-14  08:00:0{i}\nInstall: {w}:amd64 (1.{i})\nEnd-Date: 2026-05-14  08:00:0{i}"),
    ),
    "an ARIA tree without references": (
        "a11y",
        rows('- link "{w}":\n  - /url: /x/{i}') + '- button "Go"\n- text: hello\n',
    ),
    "a mail": (
        "text",
        "From: A B <a@x.example>\nTo: c@y.example\nSubject: The plan\nDate: Mon, 04 May 2026 08:00:00 +0000\n\n"
        + PROSE * 5,
    ),
    "a shell session": ("text", rows("$ cat {w}.txt\nsome words that were in it\n$ echo $?\n0")),
    "LaTeX": ("text", "\\documentclass{article}\n\\begin{document}\n\\section{A}\n" + PROSE * 8 + "\\end{document}\n"),
    "AsciiDoc": (
        "text",
        "= Title\n:toc:\n\n== Intro\n\n" + (PROSE + "\n") * 4 + "[source,java]\n----\nint x = 1;\n----\n",
    ),
    "a man page": (
        "text",
        "LS(1)      User Commands      LS(1)\n\nNAME\n       ls - list contents\n\n"
        + "       -a, --all\n              do not hide any of them\n\n" * 6,
    ),
    "reStructuredText with code in it": (
        "text",
        "Sign a URL\n^^^^^^^^^^\n\nThis shows how it is done::\n\n    import a\n\n    def f(x):\n        return x\n"
        + "    y = f(x)\n" * 9,
    ),
}


VMSTAT = "procs ---memory--- --io-\n r  b   swpd   free   bi    bo\n" + rows(" {i}  0      0 {i}6210   {i}7   63")
TOP = "top - 08:47:01 up 3 days\nTasks: 3 total\n\n  PID USER      PR  S  %CPU COMMAND\n" + rows(
    " 10{i} root      20  R   {i}.0 {w}"
)
CASES |= {
    "a table drawn with lines": (
        "tabular",
        "┌────┬─────┐\n│ id │ who │\n├────┼─────┤\n" + rows("│ 1{i} │ {w} │") + "└────┴─────┘\n",
    ),
    "vmstat": ("tabular", VMSTAT),
    "top": ("tabular", TOP),
    "a query's plan": ("tabular", "   QUERY PLAN\n-------------------\n" + rows(" ->  Sort {w}: b.{i}") + "(8 rows)\n"),
    "apt list": ("search-result", "Listing...\n" + rows("{w}-{i}/stable,now 1.{i}-2 amd64 [installed]")),
    "apt search": ("search-result", rows("lib{w}-dev - reads and writes {w} files, and checks them")),
    "Java's unified log": ("log", rows("[0.{i}12s][info ][gc,heap] GC(0) Eden regions: {i}->0(9)")),
    "a compiler's snippets": (
        "log",
        "[ 50%] Building C object a.o\n"
        + rows("/src/a.c:{i}:3: warning: unused variable '{w}'\n    {i} | int {w} = 3;\n      |     ^~~"),
    ),
    "npm --dry-run": ("log", rows("add {w}-{i} 1.{i}.0") + "\nadded 8 packages in 3s\n"),
    "pip that fails": (
        "log",
        "Collecting alpha==1\n  Preparing metadata: finished with status 'error'\n  error: subprocess-exited-with-error\n"
        "  \n  × Preparing metadata did not run.\n  ╰─> [3 lines of output]\n      boom\n      [end of output]\n",
    ),
    "TAP with subtests": (
        "test-report",
        "TAP version 13\n"
        + rows("# Subtest: {w}\n    ok 1 - sub {i}\n      ---\n      ms: 0.{i}\n      ...\n    1..1\nok {i} - {w}"),
    ),
    "settings of words": (
        "config",
        "# The daemon's.\n# See its manual.\nPort 22\nPermitRootLogin no\n" + rows("AllowUsers {w}"),
    ),
    "ports and services": ("config", "# Services.\n# Updated.\n" + rows("{w}\t\t10{i}/tcp\t\t# the {w}")),
    "/proc/cpuinfo": ("config", rows("processor\t: {i}\nmodel name\t: Some CPU\ncpu MHz\t\t: 26{i}0.0\n")),
    "apt-cache policy": (
        "config",
        rows(
            "{w}:\n  Installed: 1.{i}\n  Version table:\n     1.{i} 500\n        500 http://x.example/debian main/amd64 Packages"
        ),
    ),
    "Ansible": ("log", "PLAY [all] ****\n\n" + rows("TASK [{w} : install] ****\nok: [web{i}]\nchanged: [db{i}]\n")),
    "containers' requests": (
        "log",
        rows('web-1  | 10.0.0.{i} - - [14/May/2026:08:00:0{i} +0000] "GET /{w} HTTP/1.1" 200 12'),
    ),
    "logcat": ("log", rows("05-14 08:00:0{i}.123  10{i}  11{i} I ActivityManager: {w} started")),
    "git log": ("log", rows("commit " + "3f2a{i}" * 8 + "\nAuthor: A <a@x.example>\nDate:   {i}\n\n    Fix {w}\n")),
    "git log --oneline": ("log", rows("3f2a{i}cd Fix {w} in the parser, and its test")),
    "curl -v": (
        "log",
        "*   Trying 10.0.0.1:443...\n" + rows("* {w}: handshake {i}") + "> GET / HTTP/1.1\n>\n< HTTP/1.1 200 OK\n<\n",
    ),
    "RSpec": (
        "test-report",
        "..F\n\nFailures:\n\n  1) A does\n     Failure/Error: expect(1).to eq(2)\n\n3 examples, 1 failure\n",
    ),
    "dotnet test": (
        "test-report",
        rows("  Passed Shop.Tests.{w} [1{i} ms]") + "\nPassed!  - Failed:     0, Passed:    8\n",
    ),
    "dir": ("search-result", " Directory of C:\\src\n\n" + rows("05/14/2026  08:0{i} AM             1,2{i}7 {w}.txt")),
    "gem list": ("search-result", rows("{w}-{i} ({i}.1.0, default: 1.{i})")),
    "git branch -a": ("search-result", rows("  remotes/origin/{w}-{i}")),
    "requirements": ("config", rows("{w}=={i}.1.0\n{w}x>={i}")),
    "go.sum": ("config", rows("example.org/x/{w} v1.{i}.0 h1:abcd{i}+/=\nexample.org/x/{w} v1.{i}.0/go.mod h1:ef{i}=")),
    "go.mod": (
        "config",
        "module example.org/x\n\ngo 1.21\n\nrequire (\n" + rows("\texample.org/x/{w} v1.{i}.0") + ")\n",
    ),
    "Gemfile.lock": (
        "config",
        "GEM\n  remote: https://x.example/\n  specs:\n" + rows("    {w} ({i}.1)\n      rack (>= 1.0)"),
    ),
    "a Dockerfile": ("config", "FROM node:20\nWORKDIR /app\n" + rows("RUN npm install {w}") + "EXPOSE 80\n"),
    "redis-cli info": ("config", "# Server\nredis_mode:standalone\n\n# Clients\n" + rows("client_{w}:{i}")),
    "HCL whose keys are words of a language": (
        "config",
        'resource "a" "b" {\n' + rows("  public   = true\n  port_{i} = 8{i}") + "}\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_is(name: str) -> None:
    expected, payload = CASES[name]
    assert kind(payload) == expected


def test_the_table_holds_enough_cases() -> None:
    assert len(CASES) >= 120
    assert {expected for expected, _ in CASES.values()} == {test.name for test in TESTS}


def test_every_row_of_the_table_says_why() -> None:
    assert all(test.name and test.why for test in TESTS)
    assert TESTS[-1].name == "text"


@pytest.mark.skipif(not (CORPUS and CORPUS_TYPES), reason="CAVEMAN_CORPUS and CAVEMAN_CORPUS_TYPES are not set")
def test_real_files_have_a_right_type() -> None:
    table = [line.split("\t") for line in Path(CORPUS_TYPES).read_text().splitlines() if not line.startswith("#")]
    wrong = {
        name: got for name, right in table if (got := kind((Path(CORPUS) / name).read_bytes())) not in right.split("|")
    }
    assert not wrong


# ---------------------------------------------------------------- what a format refuses


def test_candidates_begin_with_what_is_detected_and_end_with_text_once_each_kind() -> None:
    for _, payload in CASES.values():
        text = source(payload.encode() if isinstance(payload, str) else payload)
        found = list(candidates(text))
        assert found[0] == detect(text)
        assert found[-1] in ("text", "json", "binary")
        assert "text" not in found[:-1]


def test_what_one_format_refuses_is_cut_by_the_next_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    text = source(("Name,Age\n" + rows("{w},{i}", 60)).encode())
    assert cutting.detected(text, "")[0] == "tabular"
    monkeypatch.setattr(cutting.FORMATS["tabular"], "split", lambda text: None)
    kind, cut = cutting.detected(text, "")
    assert cut is not None
    assert kind == cut.document.format != "tabular"


def test_json_too_deep_is_json_that_no_format_takes_and_never_text() -> None:
    deep = "[" * (MAX_DEPTH + 1) + "1" + "]" * (MAX_DEPTH + 1)
    assert list(candidates(deep)) == ["json"]
    assert cutting.detected(deep, "") == ("json", None)


def test_binary_is_nothing_else() -> None:
    assert cutting.detected("\x00\x01" * 600, "") == ("binary", None)


def test_a_forced_format_that_refuses_is_not_replaced() -> None:
    assert cutting.cut("no JSON at all\n" * 60, "json", "") is None


# ---------------------------------------------------------------- depth


@pytest.mark.parametrize(
    ("text", "ok"),
    [
        ("", True),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, True),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), False),
        ('{"a":' * MAX_DEPTH + "1" + "}" * MAX_DEPTH, True),
        ('{"a":[' * MAX_DEPTH + "1" + "]}" * MAX_DEPTH, False),
        ("[]" * 10_000, True),
        (json.dumps(["[" * 500, '"' + "[" * 500, "\\" + "[" * 500, '\\"[[' * 200]), True),
        ('["\\\\",' + "[" * MAX_DEPTH + "]" * MAX_DEPTH + "]", False),
    ],
)
def test_depth_is_that_of_brackets_outside_of_strings(text: str, ok: bool) -> None:
    assert json_depth_ok(text) is ok


VALUES = st.recursive(
    st.none() | st.text(alphabet='[]{}"\\a', max_size=8), lambda inner: st.lists(inner, max_size=4), max_leaves=40
)


def _depth(value: object) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


@settings(deadline=None)
@given(VALUES, st.integers(0, 130))
def test_depth_is_counted_right_for_any_json(value: object, wrapped: int) -> None:
    text = "[" * wrapped + json.dumps(value) + "]" * wrapped
    assert json_depth_ok(text) is (_depth(value) + wrapped <= MAX_DEPTH)


# ---------------------------------------------------------------- any input, in time

HARD: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "blanks": lambda n: " " * n,
    "newlines": lambda n: "\n" * n,
    "carriage returns": lambda n: "\r" * n,
    "CR and a letter": lambda n: "\ra" * (n // 2),
    "quotes": lambda n: '"' * n,
    "escaped quotes": lambda n: '["' + '\\"' * (n // 2),
    "an unclosed quote": lambda n: 'a,b\n1,"' + "x,y\n" * (n // 4),
    "brackets": lambda n: "[" * n,
    "brackets, closed": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "comments": lambda n: "<!--" * (n // 4),
    "comments, closed": lambda n: "<!---->" * (n // 7),
    "rules": lambda n: "-=" * (n // 2),
    "rules and blanks": lambda n: ("--- === " * 30 + "x\n") * (n // 242),
    "slashes": lambda n: "/a" * (n // 2),
    "words": lambda n: ("a " * 140 + "\n") * (n // 281),
    "stars": lambda n: ("int *&" * 40 + "\n") * (n // 241),
    "NULs": lambda n: "a\0" * (n // 2),
    "JSON lines": lambda n: '{"a":[1,2]}\n' * (n // 12),
    "bytes that are no UTF-8": lambda n: "\xff\xfe" * (n // 2),
}


@pytest.mark.parametrize("name", HARD)
def test_takes_time_in_proportion_whatever_is_in_it(name: str) -> None:
    start = time.process_time()
    detect(HARD[name](1_000_000))
    assert time.process_time() - start < 1.5  # under 0.1 s here; the margin is for a loaded machine


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_have_a_type(data: bytes) -> None:
    assert kind(data) in {test.name for test in TESTS}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='{}[]",:-+=|<>/\\.\n\t aZ0é\r#;', max_size=300))
def test_any_text_of_telling_characters_has_a_type(text: str) -> None:
    assert kind(text) in {test.name for test in TESTS}


def test_what_lies_in_the_middle_of_a_big_payload_is_looked_at() -> None:
    rnd = random.Random(1)
    log = "".join(f"2026-05-14 08:00:00 INFO {rnd.random()}\n" for _ in range(20_000))
    assert kind("Starting up.\nReading settings.\n" + log) == "log"


# ---------------------------------------------------------------- what a pattern is asked of

PATTERNS = {name: value for name, value in vars(detect_patterns).items() if isinstance(value, Pattern)}
PATTERNS |= {f"RUNS {i}": run for i, run in enumerate(detect_patterns.RUNS)}
GOLDEN = sorted(Path(__file__).parent.glob("corpus/*/*.in"))


def golden_lines() -> list[str]:
    found: set[str] = set()
    for path in GOLDEN:
        lines = source(path.read_bytes()[:100_000]).replace("\r", "\n").split("\n")
        found |= {line[:300] for line in lines[:2000] if line[:300].strip(" \t")}
    return sorted(found)


def test_no_pattern_matches_a_line_that_it_says_it_cannot() -> None:
    lines = golden_lines()
    matched = {name: sum(bool(p.match(line)) for line in lines) for name, p in PATTERNS.items()}
    assert {name: Lines(lines).count(p) for name, p in PATTERNS.items()} == matched
    assert sum(count > 0 for count in matched.values()) > 60  # the corpus asks most of them


def test_counting_goes_on_where_a_decision_left_it() -> None:
    word = either(flush("a"), flush("b", needs=("b",)))
    lines = Lines(["a"] * 40 + ["b", "c"] * 60)
    assert lines.at_least(word, 0.2)
    assert not lines.above(word, 0.9)
    assert lines.count(word) == 100
    assert not lines.at_least(word, 0.63)
    assert lines.at_least(word, 0.625)
    assert not lines.above(word, 0.625)
    assert Lines([]).at_least(word, 0)
    assert not Lines([]).above(word, 0)
