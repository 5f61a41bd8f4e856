"""The MCP server as a host sees it: the SDK's own client, over a real pipe and over real HTTP.

Runs where the SDK is (tests/requirements-mcp.txt); without it there is nothing to test.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from payloads import log

from caveman_wasm import Recovery, open_store
from caveman_wasm.tools import AGAIN, TOOLS, listing

mcp = pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")

COMMAND = [
    sys.executable,
    "-c",
    "import sys; from caveman_wasm.doors.cli import caveman_main as main; sys.exit(main())",
]
NOT_UTF8 = log(b"\xff\xfe\x00 \xc3")
BIG = "".join(f"2026-03-14T09:00:00 INFO request {i} ok é\r\n" for i in range(480_000)).encode()  # 20 MB
Session = Callable[[Any], Awaitable[Any]]


class Server:
    """How to reach one server. ``talk`` runs a conversation with it, in a session of its own."""

    def __init__(self, home: Path, target: Any, mode: str) -> None:
        self.home, self.target, self.mode = home, target, mode

    def client(self) -> Any:
        return mcp.Client(self.target, mode=self.mode, read_timeout_seconds=120)

    def talk(self, conversation: Session) -> Any:
        async def run() -> Any:
            async with self.client() as client:
                return await conversation(client)

        return anyio.run(run)

    def put(self, payload: bytes) -> str:
        with open_store(self.home / "ccr.db") as store:
            return store.put(Recovery("log", "log/1", 400, 20, payload))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def http(home: Path) -> Iterator[str]:
    """A server on a free port: its URL."""
    process = subprocess.Popen(
        [*COMMAND, "mcp", "--http", "--port", "0"],
        env={**os.environ, "CAVEMAN_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
        assert found
        yield found[0]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stderr.close()


# Both revisions of the protocol: with a handshake and sessions, and that of 2026 without.
@pytest.fixture(params=["pipe legacy", "pipe auto", "http legacy", "http auto"])
def server(request: pytest.FixtureRequest, home: Path) -> Server:
    transport, mode = request.param.split()
    if transport == "http":
        return Server(home, request.getfixturevalue("http"), mode)
    from mcp.client.stdio import StdioServerParameters

    environment = {**os.environ, "CAVEMAN_HOME": str(home)}
    return Server(home, StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment), mode)


def texts(result: Any) -> list[str]:
    return [it.text for it in result.content if it.type == "text"]


def test_the_tools_are_those_of_the_table_in_its_order(server: Server) -> None:
    listed = server.talk(lambda client: client.list_tools()).tools
    said = [it.model_dump(by_alias=True, exclude_none=True) for it in listed]
    expected = [dict(it) for it in listing()]
    for it in expected:
        it["_meta"] = {"caveman/audience": it.pop("audience")}
    assert said == expected
    assert [it.name for it in listed] == list(TOOLS)


def test_what_compress_shortens_retrieve_gives_back_whole_and_in_part(server: Server) -> None:
    payload = log("é".encode()).decode() + "\n2026-03-14T10:00:00 ERROR out of paper in tray 7\n"

    async def talk(client: Any) -> None:
        short = await client.call_tool("caveman_compress", {"input": payload})
        report = short.meta["caveman/report"]
        assert not short.is_error
        assert report["recovery_handle"] in texts(short)[0]
        assert report["tokens_after"] < report["tokens_before"]
        whole = await client.call_tool("caveman_retrieve", {"reference": report["recovery_handle"]})
        assert texts(whole) == [payload]
        asked = {"reference": report["recovery_handle"], "query": "paper tray"}
        part = await client.call_tool("caveman_retrieve", asked)
        assert "tray 7" in texts(part)[0]
        assert len(texts(part)[0]) < len(payload)
        line = await client.call_tool("caveman_retrieve", {"reference": report["recovery_handle"] + "#line=300,301"})
        assert texts(line) == ["2026-03-14T10:00:00 ERROR out of paper in tray 7\n"]
        again = await client.call_tool("caveman_compress", {"input": texts(whole)[0]})
        assert again.meta["caveman/report"]["reason"] == "retrieved"  # one engine for all calls

    server.talk(talk)


def test_a_conversation_from_start_to_end_as_a_transcript(server: Server) -> None:
    """What a host sees in order; `pytest -rP` shows the transcript."""
    payload = log().decode() + "\n2026-03-14T10:00:00 ERROR out of paper in tray 7\n"
    lines: list[str] = []

    async def said(client: Any, tool: str, **arguments: Any) -> Any:
        answer = await client.call_tool(tool, arguments)
        given = ", ".join(f"{name}={_short(value)}" for name, value in arguments.items())
        lines.append(f"> {tool}({given})")
        lines.extend(f"{'!' if answer.is_error else '<'} {_short(text)}" for text in texts(answer))
        return answer

    async def talk(client: Any) -> None:
        lines.append(f"> tools/list\n< {', '.join(it.name for it in (await client.list_tools()).tools)}")
        short = await said(client, "caveman_compress", input=payload)
        handle = short.meta["caveman/report"]["recovery_handle"]
        part = await said(
            client, "caveman_retrieve", reference=f"<<ccr:{handle}>>", query="Which tray is out of paper?"
        )
        again = await said(client, "caveman_retrieve", reference=handle, query="which tray is out of paper?")
        assert "tray 7" in texts(part)[0]
        assert texts(again)[1:] == [AGAIN]
        slice = await said(client, "caveman_retrieve", reference=f"{handle}#line=300,301")
        assert texts(slice) == ["2026-03-14T10:00:00 ERROR out of paper in tray 7\n"]
        assert texts(await said(client, "caveman_retrieve", reference=handle)) == [payload]
        lost = await said(client, "caveman_retrieve", reference="ccr_" + "0" * 32)
        assert texts(lost)[0].startswith("cave_unknown_handle: ")
        stats = await said(client, "caveman_stats")
        assert json.loads(texts(stats)[0])["records"] == 1
        read = await client.read_resource(f"ccr://{handle}")
        lines.append(f"> resources/read ccr://{handle}\n< {_short(read.contents[0].text)}")
        assert read.contents[0].text == payload

    server.talk(talk)
    print("\n".join(lines))


def _short(value: str) -> str:
    text = value.replace("\n", "⏎")
    return text if len(text) <= 200 else f"{text[:120]} … {text[-70:]} ({len(text):,} characters)"


def test_toon_is_written_and_read_back(server: Server) -> None:
    async def talk(client: Any) -> None:
        written = await client.call_tool("caveman_toon_encode", {"input": '{"orders": [{"id": 1}, {"id": 2}]}'})
        assert texts(written) == ["orders[2]{id}:\n  1\n  2"]
        read = await client.call_tool("caveman_toon_decode", {"input": texts(written)[0]})
        assert json.loads(texts(read)[0]) == {"orders": [{"id": 1}, {"id": 2}]}
        refused = await client.call_tool("caveman_toon_encode", {"input": '{"a": 1.0}'})
        assert texts(refused)[0].startswith("cave_invalid_arguments: ")

    server.talk(talk)


def test_an_original_of_twenty_megabytes_comes_back_as_it_was(server: Server) -> None:
    handle = server.put(BIG)

    async def talk(client: Any) -> None:
        answer = await client.call_tool("caveman_retrieve", {"reference": handle})
        assert texts(answer)[0].encode() == BIG
        read = await client.read_resource(f"ccr://{handle}")
        assert read.contents[0].text.encode() == BIG

    server.talk(talk)


def test_more_than_the_sdks_four_megabytes_may_be_handed_in(server: Server) -> None:
    large = BIG[: 6 * 1024 * 1024]
    answer = server.talk(lambda client: client.call_tool("caveman_compress", {"input": large.decode()}))
    handle = answer.meta["caveman/report"]["recovery_handle"]
    with open_store(server.home / "ccr.db") as store:
        assert store.get(handle) == large


def test_bytes_that_are_not_utf8_come_as_a_blob_and_exact(server: Server) -> None:
    handle = server.put(NOT_UTF8)

    async def talk(client: Any) -> None:
        read = (await client.read_resource(f"ccr://{handle}")).contents[0]
        assert read.mime_type == "application/octet-stream"
        assert base64.b64decode(read.blob) == NOT_UTF8
        answer = await client.call_tool("caveman_retrieve", {"reference": handle})
        assert texts(answer) == [NOT_UTF8.decode("utf-8", "replace")]
        (blob,) = (it for it in answer.content if it.type == "resource")
        assert base64.b64decode(blob.resource.blob) == NOT_UTF8
        assert blob.annotations.audience == ["user"]

    server.talk(talk)


def test_errors_are_tool_errors_that_begin_with_their_code(server: Server) -> None:
    async def talk(client: Any) -> None:
        for tool, arguments, code in [
            ("caveman_retrieve", {"reference": "ccr_" + "0" * 32}, "cave_unknown_handle"),
            ("caveman_retrieve", {"reference": "ccr_12"}, "cave_invalid_reference"),
            ("caveman_retrieve", {"reference": "ccr_" + "0" * 32, "limit": 3}, "cave_invalid_arguments"),
            ("caveman_retrieve", {}, "cave_invalid_arguments"),
            ("caveman_compress", {"input": 7}, "cave_invalid_arguments"),
            ("caveman_forget", {}, "cave_invalid_arguments"),
        ]:
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error
            assert texts(answer)[0].startswith(f"{code}: ")
            assert answer.meta["caveman/error"]["code"] == code

    server.talk(talk)


def test_a_resource_that_is_not_there_is_an_error_with_its_code(server: Server) -> None:
    async def talk(client: Any) -> None:
        for uri, code in [("ccr://ccr_" + "0" * 32, "cave_unknown_handle"), ("ccr://x", "cave_invalid_reference")]:
            with pytest.raises(mcp.MCPError, match=code):
                await client.read_resource(uri)

    server.talk(talk)


def test_resources_are_listed_in_pages_and_as_a_template(server: Server) -> None:
    with open_store(server.home / "ccr.db") as store:
        handles = {store.put(Recovery("log", "log/1", 4, 2, b"%d" % i)) for i in range(205)}

    async def talk(client: Any) -> None:
        found: list[str] = []
        cursor = None
        for _ in range(3):
            page = await client.list_resources(cursor=cursor)
            found += [str(it.uri) for it in page.resources]
            cursor = page.next_cursor
        assert cursor is None
        assert len(found) == 205
        assert set(found) == {f"ccr://{handle}" for handle in handles}
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "ccr://{id}"

    server.talk(talk)


def test_a_selector_may_follow_in_a_resources_address(server: Server) -> None:
    handle = server.put(b'{"a": [1, {"b": "x"}]}')
    read = server.talk(lambda client: client.read_resource(f"ccr://{handle}#/a/1/b"))
    assert read.contents[0].text == '"x"'


def test_each_session_has_a_storm_guard_of_its_own(server: Server) -> None:
    handle = server.put(log())
    ask = {"reference": handle, "query": "cart"}

    async def notes(client: Any) -> int:
        return len(texts(await client.call_tool("caveman_retrieve", ask))) - 1

    async def twice(client: Any) -> list[int]:
        return [await notes(client), await notes(client)]

    async def side_by_side() -> list[int]:
        async with server.client() as one, server.client() as other:
            return [await notes(one), await notes(other), await notes(one), await notes(other)]

    assert server.talk(twice) == [0, 1]
    assert anyio.run(side_by_side) == [0, 0, 1, 1]


def test_the_client_may_leave_and_the_next_one_finds_what_was_stored(server: Server) -> None:
    payload = log().decode()
    short = server.talk(lambda client: client.call_tool("caveman_compress", {"input": payload}))
    reference = short.meta["caveman/report"]["recovery_handle"]
    answer = server.talk(lambda client: client.call_tool("caveman_retrieve", {"reference": reference}))
    assert texts(answer) == [payload]


def _status(url: str, **headers: str) -> int:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    plain = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), {**plain, **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("modern", [{}, {"MCP-Protocol-Version": "2026-07-28"}])
def test_requests_for_another_host_or_from_another_origin_are_refused(http: str, modern: dict[str, str]) -> None:
    port = http.split(":")[2].split("/")[0]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{port}.evil.example"):
        assert _status(http, Host=host, **modern) == 421
    for origin in ("http://evil.example", f"https://127.0.0.1:{port}", "http://localhost:1", "null"):
        assert _status(http, Origin=origin, **modern) == 403
    assert _status(http, Origin=f"http://localhost:{port}", **modern) not in (403, 421)


def test_the_server_listens_on_loopback_alone(http: str) -> None:
    port = int(http.split(":")[2].split("/")[0])
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not Path(table).exists():
            pytest.skip("needs Linux")
        rows = [line.split() for line in Path(table).read_text().splitlines()[1:]]
        listening = {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}
        assert listening <= {"0100007F"}


def test_a_port_that_is_taken_is_said(http: str, home: Path) -> None:
    port = http.split(":")[2].split("/")[0]
    environment = {**os.environ, "CAVEMAN_HOME": str(home)}
    command = [*COMMAND, "mcp", "--http", "--port", port]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert json.loads(run.stderr)["error"] == "cave_invalid_arguments"
    assert "--port" in run.stderr
