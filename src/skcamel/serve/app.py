"""The application: paths, limits, counts, and one JSON object for every error."""

import hmac
import json
import logging
import time
from pathlib import Path
from typing import Any

try:
    import anyio
    from fastapi import FastAPI, HTTPException, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import FileResponse, JSONResponse, Response
    from fastapi.staticfiles import StaticFiles
    from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram, generate_latest
    from starlette.exceptions import HTTPException as PathError
except ImportError as error:
    raise ImportError("A server needs: pip install 'skcamel[serve]'") from error

import skcamel
from skcamel.serve.model import Served

STATIC = Path(__file__).parent / "static"
OPEN = ("/", "/docs", "/health", "/ready", "/static/page.css", "/static/page.js")  # need no token
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'self'; img-src data:; frame-ancestors 'none'"),
]
FORM = '{"rows": [{"COLUMN": VALUE, ...}, ...]} with Content-Type: application/json'
ROWS = Counter("skcamel_rows", "Rows predicted.")
SECONDS = Histogram(
    "skcamel_request_seconds", "Time of requests until their answer.", ["path", "status"]
)
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
        exception_handlers={PathError: refuse, RequestValidationError: refuse},
    )
    app.state.stopping, app.state.answered = False, 0
    _add_predict(app, served)
    app.add_middleware(Guard, state=app.state, most_bytes=served.limits.body, token=token)

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
    example = {"content": {"application/json": {"example": served.example_answer}}}

    @app.post("/predict", responses={200: example})
    async def predict(
        request: served.Request,
    ) -> Response:
        """Predict the labels of rows."""

        def work() -> bytes:
            return json.dumps(served.answer(request), allow_nan=False).encode()

        with anyio.move_on_after(limits.seconds):  # what has begun is finished
            content = await anyio.to_thread.run_sync(work, limiter=threads)
            ROWS.inc(len(request.rows))
            return Response(content, media_type="application/json")
        raise HTTPException(503, f"no thread was free for {limits.seconds:g} s; try again later.")


class Guard:
    """Checks the token and the size of every request, and counts its answer."""

    def __init__(self, app: Any, state: Any, most_bytes: int, token: str | None) -> None:
        self.app, self.state, self.most_bytes, self.token = app, state, most_bytes, token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0
        if scope["method"] == "HEAD":  # the server leaves out the body
            scope = scope | {"method": "GET"}

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] += HEADERS
                if self.state.stopping:
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
        self.state.answered += 1

    def _check(self, request: Request) -> None:
        headers = request.headers
        if self.token is not None and request.url.path not in OPEN:
            given = headers.get("authorization", "").encode(errors="replace")
            if not hmac.compare_digest(given, f"Bearer {self.token}".encode()):
                raise HTTPException(401, "a header 'Authorization: Bearer TOKEN' is needed.")
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or int(length) > self.most_bytes:
            what = f"a body must have a Content-Length of at most {self.most_bytes:,} bytes"
            raise HTTPException(413, f"{what}, got {length[:20]}; send fewer rows at a time.")


async def refuse(_: Request, error: Any) -> JSONResponse:
    """What is answered to a request that cannot be served."""
    status, text = 422, str(error)  # errors of the library are about the rows
    if isinstance(error, PathError):
        status, text = error.status_code, error.detail
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
    what = str(error["msg"])
    if error["type"] != "missing":
        what += f", got {error.get('input')!r:.60}"
    place = error["loc"][1:]  # behind "body"
    if len(place) < 2:
        return f"{place[0] if place else 'body'}: {what}; send {FORM}."
    column = "".join(f", column {name[:60]!r}" for name in place[2:3])
    return f"row {place[1] + 1}{column}: {what}; GET /model describes the columns."
