"""``skcamel serve``: a model file ► a server on this machine, with a page to try the model."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import click

from skcamel.cli.inputs import open_model
from skcamel.cli.options import Number, Size, examples, model_file, need
from skcamel.cli.output import Stopped, note, say
from skcamel.text import count, one_line

TOKEN = "SKCAMEL_TOKEN"  # noqa: S105 the name of a variable, not its value
SHORTEST = 16  # characters of a token
LOCAL = ("127.0.0.1", "localhost", "::1")


@click.command(
    epilog=examples(
        "skcamel serve mine.skcamel                        # then open http://127.0.0.1:8000",
        "curl http://127.0.0.1:8000/predict -H 'Content-Type: text/csv' --data-binary @new.csv",
        """curl http://127.0.0.1:8000/predict -H 'Content-Type: application/json' -d '{"rows": [{"price": 3}]}'""",
        "SKCAMEL_TOKEN=$(cat secret) skcamel serve mine.skcamel --host 0.0.0.0",
    )
)
@model_file
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 lets other machines in.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port; 0 takes a free one.",
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    help=(
        f"File with the token that requests must send. Default: the variable {TOKEN}; without both,"
        " none is asked for."
    ),
)
@click.option(
    "--max-body",
    type=Size(),
    default="16MiB",
    show_default=True,
    metavar="SIZE",
    help="Largest request (else 413).",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Most rows in a request (else 422).",
)
@click.option(
    "--max-requests",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Most predictions at once, waiting ones included (else 429).",
)
@click.option(
    "--timeout",
    type=Number(min=0.001),
    default=30.0,
    show_default=True,
    help="Seconds until an answer (else 503).",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Predictions computed at the same time.",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    help="Let columns that a request lacks count as gaps (models of tables).",
)
@click.option("--access-log", is_flag=True, help="Write a line for each request to standard error.")
def serve(
    model: str,
    host: str,
    port: int,
    token_file: str | None,
    *,
    max_body: str,
    max_rows: int,
    max_requests: int,
    timeout: float,
    threads: int,
    allow_missing: bool,
    access_log: bool,
) -> None:
    """Serve MODEL over HTTP, with a page to try it.

    \b
    GET  /              page: change values, watch the labels, see why; drop a table
    POST /predict       rows as JSON or CSV; labels, scores, probabilities as JSON
    GET  /model         columns, labels, version, limits, a typical row
    GET  /openapi.json  all of this, for programs
    GET  /health /ready for load balancers;  /metrics for Prometheus

    A JSON request is {"rows": [{"COLUMN": VALUE, ...}, ...]}, or lists of values in the order of
    /model; null is a gap, where the model
    takes gaps. Beside rows it may hold "probabilities", "scores", "decisions" (true or false),
    "confidence" (such as 0.9: also yes, no or
    open), "reasons" (true: what columns and other labels add), "labels" and "top" (which reasons,
    how many). For CSV they stand in the
    address: /predict?confidence=0.9&reasons=true.

    Only this machine is served unless --host says otherwise. With a token, requests send
    "Authorization: Bearer TOKEN"; the page asks
    for it. Ctrl-C or SIGTERM stops: what was taken is answered first. Answers are those of 'skcamel
    predict', to the last digit.
    """  # noqa: D301 click knows a paragraph that keeps its lines by this character
    for module in ("starlette", "uvicorn", "jinja2"):
        need(module, "serve", "Servers")
    from skcamel.memory import as_bytes
    from skcamel.serve import Limits, Served, create_app
    from skcamel.serve.server import address_of, run

    token = _token(token_file)
    limits = Limits(as_bytes(max_body), max_rows, timeout, max_requests, threads)
    served = Served(open_model(model), Path(model).stem, limits=limits, allow_missing=allow_missing)
    app = create_app(served, token=token)
    with _listening(host, port) as listening:
        address = address_of(listening)

        def tell() -> None:
            what = f"{count(len(served.columns), 'column')}, {count(len(served.labels), 'label')}"
            say(f"Serving {one_line(model)} ({what}) at {address}  (Ctrl-C stops)", err=True)
            if token is None and host not in LOCAL:
                note(
                    f"whoever reaches {address} can use the model; set {TOKEN} or --token-file to"
                    " ask for a token."
                )

        try:
            run(app, listening, access_log=access_log, patience=timeout, started=tell)
        except KeyboardInterrupt as signal:
            answered = sum(app.state.skcamel.counts.requests.values())
            raise Stopped(f"Stopped; {count(answered, 'request')} answered.") from signal


def _listening(host: str, port: int) -> socket.socket:
    from skcamel.serve.server import bound

    try:
        return bound(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise click.ClickException(
                f"port {port} of {host} is in use; choose another by --port, or 0 for a free one."
            ) from error
        raise click.ClickException(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; see --host and"
            " --port."
        ) from error


def _token(path: str | None) -> str | None:
    """The token, from a file or the environment; None where neither is given. An option would be seen by whoever lists processes."""
    where, token = (
        (path, Path(path).read_text(encoding="utf-8").strip())
        if path
        else (TOKEN, os.environ.get(TOKEN))
    )
    if token is None:
        return None
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        cure = "make one by: openssl rand -hex 32"
        raise click.UsageError(
            f"the token in {where} must be at least {SHORTEST} ASCII characters without blanks;"
            f" {cure}"
        )
    return token
