"""The ASGI application: paths, the token, and one JSON object for every error. Predictions run in the threads of a gate."""

from __future__ import annotations

import hmac
import json
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from skcamel.serve.limits import AGAIN, Counts, Gate, RequestError, body_of
from skcamel.serve.model import Served
from skcamel.serve.openapi import GETS, OPEN, description

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import Message, Receive, Scope, Send
except ImportError as error:
    raise ImportError("A server needs: pip install 'skcamel[serve]'") from error

FORMS = {"application/json": "json", "text/csv": "csv"}
GONE = 499  # what is counted where nobody is there any more to be answered
STATIC = Path(__file__).parent / "static"
logger = logging.getLogger("skcamel.serve")


class State:
    """What requests share: the model, the gate, the counts, and whether the server is about to stop."""

    def __init__(self, served: Served, token: str | None) -> None:
        self.served, self.token = served, token
        self.gate, self.counts = Gate(served.limits), Counts()
        self.stopping = False
        self.fixed = {
            "/": page().encode(errors="replace"),
            "/model": _json(served.facts()),
            "/openapi.json": _json(description(served, token=token is not None)),
        }

    def knows(self, header: str | None) -> bool:
        """Whether a request may pass; the comparison takes the same time whatever is wrong."""
        return self.token is None or hmac.compare_digest(
            (header or "").encode(errors="replace"), f"Bearer {self.token}".encode()
        )


def create_app(served: Served, *, token: str | None = None) -> Starlette:
    """Make an ASGI application of a model.

    Parameters
    ----------
    served : Served
    token : str, default=None
        What requests must send as ``Authorization: Bearer TOKEN``; None: nobody is asked for one.

    Examples
    --------
    >>> import numpy as np
    >>> from skcamel import CamelClassifier
    >>> served = Served(CamelClassifier().fit(np.eye(4), np.eye(4, 2, dtype=int)), "tiny")
    >>> [route.path for route in create_app(served).routes]
    ['/predict', '/metrics', '/health', '/ready', '/', '/model', '/openapi.json']
    """
    state = State(served, token)

    async def predict(request: Request) -> Response:
        form = FORMS.get(request.headers.get("content-type", "").partition(";")[0].strip().lower())
        encoding = request.headers.get("content-encoding", "identity")
        body = await body_of(request.stream(), request.headers.get("content-length"), served.limits)
        if form is None or encoding != "identity":
            raise RequestError(
                415,
                f"the body must be {' or '.join(FORMS)}, as Content-Type says, and not compressed.",
            )
        options = dict(request.query_params)

        def answer() -> tuple[bytes, int]:
            told = served.answer(body, form, options)
            return _json(told), len(told["predictions"])

        content, rows = await state.gate.run(answer)
        state.counts.rows += rows
        return _answer(content)

    async def metrics(_: Request) -> Response:
        return Response(
            state.counts.text(state.gate.at_work),
            media_type="text/plain; version=0.0.4; charset=utf-8",
        )

    async def health(_: Request) -> Response:
        return _answer(_json({"status": "alive"}))

    async def ready(_: Request) -> Response:
        if state.stopping:
            raise RequestError(503, "the server is stopping; ask another one.")
        return _answer(_json({"status": "ready", "model": served.name}))

    async def fixed(request: Request) -> Response:
        path = request.scope["path"]
        return Response(state.fixed[path], media_type=GETS[path][1])

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        yield
        state.gate.close()

    routes = [
        Route("/predict", predict, methods=["POST"]),
        Route("/metrics", metrics),
        Route("/health", health),
        Route("/ready", ready),
    ]
    app = Starlette(
        routes=[*routes, *(Route(path, fixed) for path in state.fixed)], lifespan=lifespan
    )
    app.router.redirect_slashes = False
    app.state.skcamel = state
    app.add_middleware(
        Guard, state=state
    )  # outermost but for Starlette's own handler, which is never reached
    app.add_exception_handler(HTTPException, _http_error)
    return app


class Guard:
    """Asks for the token, counts, closes connections while the server stops, and turns every error into one JSON object."""

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], state: State
    ) -> None:
        self.app, self.state = app, state
        self.paths = {"/predict", *GETS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, path = time.perf_counter(), 0, scope["path"]

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message["headers"],
                    *SAFE,
                    *([(b"connection", b"close")] if self.state.stopping else []),
                ]
            await send(message)

        try:
            header = next(
                (
                    value.decode("latin-1")
                    for name, value in scope["headers"]
                    if name == b"authorization"
                ),
                None,
            )
            if path not in OPEN and not self.state.knows(header):
                raise RequestError(
                    401, "this server wants a token; send the header 'Authorization: Bearer TOKEN'."
                )
            await self.app(scope, receive, sending)
        except ClientDisconnect:
            status = status or GONE
        except Exception as error:
            if status:
                raise
            await _refusal(error)(scope, receive, sending)
        finally:
            self.state.counts.add(
                path if path in self.paths else "other", status, time.perf_counter() - began
            )


SAFE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
]


def _refusal(error: Exception) -> Response:
    """What is said of an error: its own words where it is about the request, else that it is a bug."""
    if isinstance(error, RequestError):
        headers = {
            401: {"www-authenticate": "Bearer"},
            429: {"retry-after": AGAIN},
            503: {"retry-after": AGAIN},
        }.get(error.status, {})
        return _answer(_json({"error": str(error)}), error.status, headers)
    if isinstance(error, MemoryError):
        said = str(error) or "there is not enough memory now"
        return _answer(
            _json({"error": f"{said} Send fewer rows, or try again later."}),
            503,
            {"retry-after": AGAIN},
        )
    if isinstance(error, ValueError):  # of the library, about what came; it names rows and columns
        return _answer(_json({"error": str(error)}), 422)
    logger.exception("this is a bug in skcamel; please report it")
    return _answer(
        _json(
            {"error": "an error inside the server, which its log tells; the request may be right."}
        ),
        500,
    )


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = f"there are POST /predict and GET {', '.join(GETS)}"
    said = {
        404: f"there is no {request.url.path[:60]!r}; {known}.",
        405: f"{request.method[:20]} {request.url.path[:60]} is not possible; {known}.",
    }
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return _answer(_json({"error": said.get(status, str(error))}), status, headers)


def _answer(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(content, status, headers, media_type="application/json")


def _json(value: Any) -> bytes:
    """JSON in ASCII: floats with all their digits, and names that are half a character as escapes."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def page() -> str:
    """The page, the same for every model: it asks for the columns of this one, with the token if there is one."""
    from skcamel.report.page import Page, Section, render

    sections = [
        Section("try", "Try it", scripts=["server.js", "try.js"]),
        Section(
            "table",
            "A whole table",
            scripts=["whole_table.js"],
            short="Table",
            template="whole_table.html",
        ),
        Section("program", "From a program", scripts=["program.js"], short="Program"),
    ]
    lead = (
        "Change a value and watch the labels move; choose a label to see why. Or drop a whole"
        " table."
    )
    return render(
        Page(
            "A model to try",
            lead,
            [],
            sections,
            folder=STATIC,
            footer=(
                "Values go to the server that sent this page, and nowhere else; it keeps none of"
                " them."
            ),
        )
    )
