"""The MCP door: the tools of tools.py and the resources ``ccr://ID``, on stdio or on HTTP for this machine alone.

It is the official SDK's `Server` rather than its `MCPServer`: that one makes schemas of Python signatures and lists
resources in one piece, where here the schemas are the table's and a store has pages. The SDK is an extra
(``caveman-wasm[mcp]``) and imported on use; what it is given are values in MCP's own JSON shape.
"""

from __future__ import annotations

import base64
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from caveman_wasm.errors import CavemanError, Forgotten, InvalidArguments, InvalidReference, NotFound, StoreReset
from caveman_wasm.model import MAX_PAYLOAD
from caveman_wasm.references import is_object_id
from caveman_wasm.tools import Guards, StormGuard, ToolAnswer, call, listing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from caveman_wasm.engine import Engine

__all__ = ["DEFAULT_PORT", "Door", "serve_http", "serve_stdio"]

DEFAULT_PORT: Final = 8377  # no registered service has it
LOOPBACK: Final = "127.0.0.1"
PAGE: Final = 100  # resources in one answer to resources/list
IDLE: Final = 3600  # seconds that a connection may be silent: agents think between two calls
# JSON needs up to three bytes for one of UTF-8 (é as \u00e9). Control characters need six, but make a payload binary.
MOST_BODY: Final = 3 * MAX_PAYLOAD
# JSON-RPC 2.0; a resource that is not there is an invalid parameter, by the protocol's revision 2026-07-28.
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
_THE_CALLERS: Final = frozenset(
    kind.code for kind in (NotFound, Forgotten, StoreReset, InvalidReference, InvalidArguments)
)

INSTRUCTIONS: Final = (
    "Texts that close with a line like [caveman: shortened view, … <<ccr:ccr_…>>] are shortened views; caveman_retrieve"
    " reads the exact source of one. Answer from the text and its markers where they suffice."
)


def serve_stdio(engine: Engine) -> None:
    """Serve one client on stdin and stdout until it closes them. Raises InvalidArguments without the SDK."""
    server = _server(Door(engine))
    import anyio
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    with suppress(KeyboardInterrupt):
        anyio.run(run)


def serve_http(engine: Engine, port: int = DEFAULT_PORT) -> None:
    """Serve streamable HTTP at ``http://127.0.0.1:PORT/mcp`` until stopped; the URL goes to stderr.

    A request whose Host or Origin is not this address is refused: a web page whose name was pointed here (DNS
    rebinding) sends its own. ``port`` 0 takes a free one. Raises InvalidArguments when the port cannot be had,
    or without the SDK.
    """
    server = _server(Door(engine))
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    with _listening(port) as listener:
        taken = listener.getsockname()[1]
        names = [f"{LOOPBACK}:{taken}", f"localhost:{taken}"]
        security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
        # Answers as plain JSON: the SDK's client takes no event of a stream that is over 1 MiB.
        options = {"json_response": True, "max_request_body_size": MOST_BODY}
        app = server.streamable_http_app(transport_security=security, **options)
        config = uvicorn.Config(app, log_level="warning", timeout_keep_alive=IDLE, timeout_graceful_shutdown=2)
        print(f"MCP server at http://{LOOPBACK}:{taken}/mcp", file=sys.stderr, flush=True)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    """A socket that only this machine reaches. It is bound here, so that port 0 is known before the first request."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or "no port number"
        raise InvalidArguments(f"port {port} cannot be had ({why}); give another with --port.") from None
    return listener


def _server(door: Door) -> Any:
    try:
        import mcp_types as types
        from mcp.server.lowlevel import Server
    except ImportError:
        message = "MCP needs the official SDK, which is not installed: pip install 'caveman-wasm[mcp]'."
        raise InvalidArguments(message) from None
    return Server(
        "caveman",
        version=_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=_typed(door.list_tools, types.ListToolsResult),
        on_call_tool=_typed(door.call_tool, types.CallToolResult),
        on_list_resources=_typed(door.list_resources, types.ListResourcesResult),
        on_list_resource_templates=_typed(door.list_templates, types.ListResourceTemplatesResult),
        on_read_resource=_typed(door.read_resource, types.ReadResourceResult),
    )


def _typed(handler: Callable[[Any, Any], Awaitable[dict[str, Any]]], model: Any) -> Callable[[Any, Any], Any]:
    """The handler with its answer as the SDK's model, which adds what the newer revisions of MCP want beside it."""

    async def answer(context: Any, params: Any) -> Any:
        return model.model_validate(await handler(context, params), by_name=False)

    return answer


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("caveman-wasm")
    except PackageNotFoundError:  # run from its source
        return ""


class Door:
    """The handlers, one engine behind them all. ``context`` and ``params`` are the SDK's; answers are MCP's JSON."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._guards = Guards()
        self._turn: Any = None  # one engine call at a time, in a thread: pings are answered meanwhile

    async def list_tools(self, context: Any, params: Any) -> dict[str, Any]:
        """The whole table, in its order. MCP knows no audience, so it is under ``_meta``."""
        return {"tools": [_listed(said) for said in listing()]}

    async def call_tool(self, context: Any, params: Any) -> dict[str, Any]:
        """The answer of a tool, its errors too: ``isError``, and the text begins with the code."""
        guard = self._guard(context)
        answer = await self._run(lambda: call(self.engine, guard, params.name, params.arguments or {}))
        return self._failed(answer) if answer.error else _answered(answer)

    async def list_resources(self, context: Any, params: Any) -> dict[str, Any]:
        """A page of what the store holds, records before objects; the cursor is the last id of the page before."""
        cursor = (params.cursor if params else None) or ""
        try:
            found = await self._run(lambda: self._page(cursor))
        except CavemanError as error:
            raise _refused(error.code, str(error), error.reference) from None
        last = {"nextCursor": found[-1]["name"]} if len(found) == PAGE else {}
        return {"resources": found, **last}

    async def list_templates(self, context: Any, params: Any) -> dict[str, Any]:
        """The one form that resources' addresses have."""
        what = "The exact original behind a reference; a selector may follow, as ccr://ccr_…#line=10,20."
        template = {"uriTemplate": "ccr://{id}", "name": "original", "title": "A stored original", "description": what}
        return {"resourceTemplates": [template]}

    async def read_resource(self, context: Any, params: Any) -> dict[str, Any]:
        """The exact bytes: text where they are UTF-8, else a blob in base64."""
        uri = str(params.uri)
        # By the tool, which raises nothing, asked of nobody's guard: what was read as a resource was not asked.
        answer = await self._run(lambda: call(self.engine, StormGuard(), "caveman_retrieve", {"reference": uri}))
        if answer.error:
            raise _refused(answer.error, answer.text, answer.reference)
        return {"contents": [_contents(uri, answer.output)]}

    def _page(self, cursor: str) -> list[dict[str, Any]]:
        store = self.engine.store
        assert store is not None
        in_objects = is_object_id(cursor)
        records = [] if in_objects else store.records(cursor, PAGE)
        page = [
            {"uri": f"ccr://{it.handle}", "name": it.handle, "description": it.content_type, "size": it.original_bytes}
            for it in records
        ]
        if len(page) < PAGE:
            objects = store.object_ids(cursor if in_objects else "", PAGE - len(page))
            page += [{"uri": f"ccr://{name}", "name": name, "description": "typed object"} for name in objects]
        return page

    async def _run(self, work: Callable[[], Any]) -> Any:
        import anyio

        if self._turn is None:
            self._turn = anyio.CapacityLimiter(1)
        return await anyio.to_thread.run_sync(work, limiter=self._turn)

    def _guard(self, context: Any) -> StormGuard:
        """The session's. Since revision 2026-07-28 MCP has none over HTTP; there it is the client's connection: to
        tell another client that its question was answered above would be a lie."""
        request = context.request
        session = ""  # on stdio the process serves one client
        if request is not None:
            session = request.headers.get("mcp-session-id") or f"{request.client.host}:{request.client.port}"
        return self._guards.of(session)

    def _failed(self, answer: ToolAnswer) -> dict[str, Any]:
        text = f"{answer.error}: {answer.text}"
        self.engine.hand_out(text.encode("utf-8", "replace"))
        said = {"code": answer.error, "reference": answer.reference}
        return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {"caveman/error": said}}


def _listed(said: Mapping[str, Any]) -> dict[str, Any]:
    tool = dict(said)
    return {**tool, "_meta": {"caveman/audience": tool.pop("audience")}}


def _answered(answer: ToolAnswer) -> dict[str, Any]:
    """The text; the bytes beside it where it cannot show them all, for the host; and our notes, each by itself.

    The report is no ``structuredContent``: some hosts show a model that in place of the text.
    """
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}]
    if not _is_text(answer.output):
        blob = {"type": "resource", "resource": _contents("ccr://bytes", answer.output)}
        content.append(blob | {"annotations": {"audience": ["user"]}})
    content += [{"type": "text", "text": note} for note in answer.notes]
    return {"content": content} | ({"_meta": {"caveman/report": dict(answer.report)}} if answer.report else {})


def _contents(uri: str, data: bytes) -> dict[str, Any]:
    if _is_text(data):
        return {"uri": uri, "mimeType": "text/plain", "text": data.decode("utf-8")}
    blob = base64.b64encode(data).decode("ascii")
    return {"uri": uri, "mimeType": "application/octet-stream", "blob": blob}


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _refused(code: str, message: str, reference: str | None) -> Exception:
    """MCP has no error results for resources: the protocol's own error, our code in its message and its data."""
    from mcp.shared.exceptions import MCPError

    number = INVALID_PARAMS if code in _THE_CALLERS else INTERNAL_ERROR
    error: Exception = MCPError(code=number, message=f"{code}: {message}", data={"code": code, "reference": reference})
    return error
