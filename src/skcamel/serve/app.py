"""The application, and a server of it on one address.

Paths, limits, counts, one JSON object for every error; and a server of uvicorn that stops without
losing a request that it has taken.
"""

import asyncio
import hmac
import json
import logging
import re
import socket
import time
from pathlib import Path
from typing import Any

try:
    import anyio
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import FileResponse, JSONResponse, Response
    from fastapi.staticfiles import StaticFiles
    from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram, generate_latest
    from starlette.exceptions import HTTPException
    from uvicorn.protocols.http.auto import AutoHTTPProtocol
except ImportError as error:
    raise ImportError("A server needs: pip install 'skcamel[serve]'") from error
try:
    import resource

    FILES, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
except ImportError:  # Windows
    FILES = 2000

import skcamel
from skcamel.serve.model import Limits as Limits
from skcamel.serve.model import Served

STATIC = Path(__file__).parent / "static"
OPEN = ("/", "/docs", "/health", "/ready", "/static/page.css", "/static/page.js")  # need no token
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'self'; img-src data:; frame-ancestors 'none'"),
]
FORM = '{"rows": [{"COLUMN": VALUE, ...}, ...]} with Content-Type: application/json'
ROWS = Counter("skcamel_rows", "Rows predicted.")
SECONDS = Histogram(
    "skcamel_request_seconds", "Time of requests until their answer.", ["path", "status"]
)
# seconds in which a stopping server still takes requests, and closes connections as it answers
DRAIN = 0.5
BACKLOG = 1024  # clients that wait for a connection
MOST_CONNECTIONS = min(1000, FILES // 2)
QUICK = 1_000_000  # numbers of training rows to compare with, which takes no thread
MOST_HEAD = 65_536  # bytes before the body
# Java's client offers HTTP/2 by this header, and httptools would leave out the body
OFFER = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
logger = logging.getLogger("skcamel.serve")


def create_app(served: Served, *, token: str | None = None) -> FastAPI:
    """Make an ASGI application of a model.

    Parameters
    ----------
    served : Served
    token : str, default=None
        What requests must send as ``Authorization: Bearer TOKEN``; None: anybody may ask.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> served = Served(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)), "tiny")
    >>> sorted(create_app(served).openapi()["paths"])
    ['/health', '/metrics', '/model', '/predict', '/ready']
    """
    app = FastAPI(
        title=served.name,
        version=skcamel.__version__,
        docs_url=None,  # FastAPI's page loads its scripts from elsewhere; ours does not
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: refuse, RequestValidationError: refuse},
    )
    app.state.stopping = False
    app.state.answered = 0
    _add_predict(app, served)
    app.add_middleware(Guard, most_bytes=served.limits.body, token=token)

    @app.get("/model")
    async def model() -> dict[str, Any]:
        """Columns with kinds and typical values, labels with thresholds, and an example row."""
        return served.facts()

    @app.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Counts for Prometheus."""
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the process answers."""
        return {"status": "alive"}

    @app.get("/ready")
    async def ready() -> dict[str, str]:
        """Whether it takes requests; 503 while it stops."""
        if app.state.stopping:
            raise HTTPException(503, "the server is stopping; ask another one.")
        return {"status": "ready", "model": served.name}

    @app.get("/", include_in_schema=False)
    @app.get("/docs", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "page.html")

    app.mount("/static", StaticFiles(directory=STATIC))
    return app


def _add_predict(app: FastAPI, served: Served) -> None:
    limits = served.limits
    threads = anyio.CapacityLimiter(limits.threads)

    @app.post("/predict")
    async def predict(
        request: served.Request,
    ) -> Response:
        """Predict the labels of rows."""

        def work() -> bytes:
            return json.dumps(served.answer(request), allow_nan=False).encode()

        with anyio.move_on_after(limits.seconds):  # what has begun is finished
            is_long = request.explain or len(request.rows) * served.n_compared > QUICK
            if is_long:
                content = await anyio.to_thread.run_sync(work, limiter=threads)
            else:  # a thread would double the time
                content = work()
            ROWS.inc(len(request.rows))
            return Response(content, media_type="application/json")
        raise HTTPException(503, f"no thread was free for {limits.seconds:g} s; try again later.")


class Guard:
    """Checks the token and the size of every request, and counts its answer."""

    def __init__(self, app: Any, most_bytes: int, token: str | None) -> None:
        self.app = app
        self.most_bytes = most_bytes
        self.token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        state = scope["app"].state
        status = 0
        if scope["method"] == "HEAD":  # the server leaves out the body
            scope = scope | {"method": "GET"}

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] += HEADERS
                if state.stopping:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        request = Request(scope)
        try:
            self._check(request)
            await self.app(scope, receive, sending)
        except Exception as error:
            if status:
                raise
            response = await refuse(request, error)
            await response(scope, receive, sending)
        path = getattr(scope.get("route"), "path", "other")
        SECONDS.labels(path, str(status)).observe(time.perf_counter() - began)
        state.answered += 1

    def _check(self, request: Request) -> None:
        headers = request.headers
        if self.token is not None and request.scope["path"] not in OPEN:
            given = headers.get("authorization", "").encode(errors="replace")
            if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
                raise HTTPException(401, "a header 'Authorization: Bearer TOKEN' is needed.")
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or int(length) > self.most_bytes:
            what = f"a body must have a Content-Length of at most {self.most_bytes:,} bytes"
            raise HTTPException(413, f"{what}, got {length[:20]}; send fewer rows at a time.")


async def refuse(_: Request, error: Any) -> JSONResponse:
    """What is answered to a request that cannot be served."""
    status = 422  # errors of the library are about the rows
    text = str(error)
    if isinstance(error, HTTPException):
        status = error.status_code
        text = error.detail
    elif isinstance(error, RequestValidationError):
        text = _found(error.errors()[0])
    elif isinstance(error, MemoryError):
        status, text = 503, f"{text} Send fewer rows, or try again later."
    elif not isinstance(error, (ValueError, OverflowError)):
        logger.error("this is a bug in skcamel; please report it", exc_info=error)
        status, text = 500, "an error inside the server; its log says more."
    return JSONResponse({"error": text}, status)


def _found(error: dict[str, Any]) -> str:
    """A sentence on what pydantic found."""
    if error["type"] == "json_invalid":
        return f"the body is no JSON ({error['ctx']['error']}); send {FORM}."
    what = str(error["msg"])
    if error["type"] != "missing":
        what += f", got {error.get('input')!r:.60}"
    place = error["loc"]  # "body", "rows", the row, the column
    if len(place) < 3:
        return f"{place[-1]}: {what}; send {FORM}."
    column = "".join(f", column {name[:60]!r}" for name in place[3:4])
    return f"row {place[2] + 1}{column}: {what}; GET /model describes the columns."


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; 0 takes any free port.

    Examples
    --------
    >>> with bound("127.0.0.1", 0) as listening:
    ...     listening.getsockname()[0]
    '127.0.0.1'
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=BACKLOG)
    # answers go out in two pieces, and a client would wait 40 ms for the second
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


Protocol: Any = AutoHTTPProtocol  # by httptools where it is installed


class Connection(Protocol):
    """A connection that is closed where a request does not arrive in time, or too many are open."""

    seconds = 30.0
    timer: asyncio.TimerHandle | None = None
    head = 0  # bytes of a head that has not ended

    def connection_made(self, transport: Any) -> None:
        """Take it, and close the one that waits longest for its client where too many are open."""
        super().connection_made(transport)
        self._wait_for_client()
        if len(self.connections) <= MOST_CONNECTIONS:
            return
        waiting = [other for other in self.connections if other.timer is not None]
        longest = min(waiting, key=lambda other: other.timer.when())
        longest.timer = None
        longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes."""
        super().data_received(OFFER.sub(b"\r\nx-offer:", data, count=1))
        self._wait_for_client()
        self.head += len(data)
        if "method" in (self.scope or ()):
            self.head = 0
        if self.head > MOST_HEAD:
            self.send_400_response("The head of the request is too large.")

    def _wait_for_client(self) -> None:
        """Wait some seconds for the rest of a request."""
        cycle = self.cycle  # the last request whose head is there
        is_waiting = cycle is None or cycle.response_complete or cycle.more_body
        if is_waiting and self.timer is None:
            self.timer = self.loop.call_later(self.seconds, self.transport.abort)
        elif not is_waiting and self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Server(uvicorn.Server):
    """A server that goes on for a moment when it is stopped, and then finishes what it has.

    In that moment clients leave their connections.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more requests once the moment is over; answer all that were taken."""
        app: Any = self.config.app
        app.state.stopping = True
        await asyncio.sleep(DRAIN)
        await super().shutdown(sockets)


def run(app: Any, listening: socket.socket, *, patience: float = 30.0) -> None:
    """Serve until a signal comes, then finish what is at work.

    Parameters
    ----------
    app : FastAPI
        From :func:`skcamel.serve.create_app`.
    listening : socket
        From :func:`bound`.
    patience : float, default=30
        Seconds in which a request must arrive, and for which a server that is stopped waits for
        answers.
    """
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    Connection.seconds = patience
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=int(patience) + 1,
    )
    Server(config).run(sockets=[listening])
