"""A real HTTP server on this machine for tests of downloads: it can be told to misbehave."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class LoopbackServer(ThreadingHTTPServer):
    """Serves `files`; `refuse` and `cut` hold what goes wrong, one entry per request, before all goes well."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.refuse: list[int] = []  # status codes to answer first
        self.cut: list[int] = []  # bytes after which the next answers end
        self.announce_length = True
        self.stall = 0.0  # seconds of silence before each answer
        self.requests: list[str] = []  # path of each request

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        server = self.server
        server.requests.append(self.path)
        time.sleep(server.stall)
        if server.refuse:
            self.send_error(server.refuse.pop(0))
            return
        content = server.files.get(unquote(self.path))
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if server.announce_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        with suppress(ConnectionError):  # whoever asked may have had enough
            self.wfile.write(content[: server.cut.pop(0)] if server.cut else content)

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""


@contextmanager
def loopback_server() -> Iterator[LoopbackServer]:
    """A running server, stopped at the end."""
    server = LoopbackServer()
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
