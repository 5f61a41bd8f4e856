"""Serves a folder on 127.0.0.1 as a host should: `python web/serve.py FOLDER [--port N] [--open]`

Right MIME types, a strict Content-Security-Policy on every response (a worker goes by its own), nothing from
elsewhere. Loopback only, and only for a Host header that says so.
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PORT = 8377  # nobody else's, as far as is known
CSP = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types caveman-wasm",
    ]
)

MODEL_ENDPOINTS = "; connect-src 'self' https: http://127.0.0.1:* http://localhost:*"


class Handler(SimpleHTTPRequestHandler):
    """GET and HEAD of files, each with ``csp``."""

    protocol_version = "HTTP/1.1"
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
        ".whl": "application/zip",
        ".log": "text/plain; charset=utf-8",
    }

    def __init__(self, *args: object, csp: str = CSP, **kwargs: object) -> None:
        self.csp = csp
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]

    def parse_request(self) -> bool:
        """Refuse a request that came by another name: a page elsewhere must not reach in by DNS."""
        if not super().parse_request():
            return False
        if self.headers.get("Host", "").rpartition(":")[0] in ("127.0.0.1", "localhost"):
            return True
        self.send_error(421, "This server answers to 127.0.0.1 only")
        return False

    def end_headers(self) -> None:
        """Add what every response carries."""
        self.send_header("Content-Security-Policy", self.csp + self.wider())
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def wider(self) -> str:
        """The agent's page alone may call an endpoint that the person names."""
        return MODEL_ENDPOINTS if urlsplit(self.path).path.endswith("/agent.html") else ""

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet: stderr is for what went wrong."""


class Server(ThreadingHTTPServer):
    """Ends with its process, whoever is still connected."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up in the middle of a file is nothing to report."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def make_server(folder: str, port: int = 0, csp: str = CSP) -> Server:
    """A server of ``folder`` on 127.0.0.1; port 0 takes a free one (``server.server_port``)."""
    return Server(("127.0.0.1", port), partial(Handler, directory=folder, csp=csp))


def server_near(folder: str, port: int) -> Server:
    """A server at this port, so that the page keeps its origin, or at any free one."""
    try:
        return make_server(folder, port)
    except OSError:
        return make_server(folder)


def has_display() -> bool:
    """Whether a browser window could be seen here."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a folder on 127.0.0.1.")
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=PORT, help="any free one where it is taken")
    parser.add_argument("--open", action="store_true", help="open it in a browser where there is a display")
    options = parser.parse_args()
    with server_near(options.folder, options.port) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        print(f"The demo is at {url} (Ctrl-C ends it)", flush=True)
        if options.open and has_display():
            webbrowser.open(url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("bye", file=sys.stderr)


if __name__ == "__main__":
    main()
