"""``skcamel serve``: a model file ► a server on this machine, with a page to try the model."""

from __future__ import annotations

import os
from pathlib import Path

import click

from skcamel.cli import options
from skcamel.cli.inputs import open_model
from skcamel.cli.output import note, say
from skcamel.text import count, one_line

TOKEN = "SKCAMEL_TOKEN"  # noqa: S105 the name of a variable, not its value


@click.command()
@options.model_file
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
    "--timeout",
    type=click.FloatRange(0.001),
    default=30.0,
    show_default=True,
    help="Seconds in which a request must arrive, and for which it may wait.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Predictions computed at the same time.",
)
@click.option("--access-log", is_flag=True, help="Write a line for each request to standard error.")
@options.text_encoder
@options.examples(
    "skcamel serve mine.skcamel        # then open http://127.0.0.1:8000",
    "SKCAMEL_TOKEN=$(cat secret) skcamel serve mine.skcamel --host 0.0.0.0",
)
def serve(
    model: str,
    host: str,
    port: int,
    text_encoder: str | None,
    *,
    timeout: float,
    threads: int,
    access_log: bool,
) -> None:
    """Serve MODEL over HTTP, with a page to try it.

    \b
    GET  /              page: change values, see which labels are predicted and why
    POST /predict       rows in; labels, scores and probabilities out, as JSON
    GET  /model         columns, labels, thresholds, an example row
    GET  /openapi.json  all of this, for programs
    GET  /health /ready for load balancers;  /metrics for Prometheus

    A request is {"rows": [{"COLUMN": VALUE, ...}, ...]}; null is a missing value. Beside rows it
    may hold "confidence" (such as 0.9: also yes, no or open for every label) and "explain" (true:
    what each column and each other label adds to a score).

    Only this machine is served unless --host says otherwise. If the variable SKCAMEL_TOKEN is set,
    requests must send it as "Authorization: Bearer TOKEN". Ctrl-C or SIGTERM stops the server after
    it has answered the requests that it took.
    """  # noqa: D301 click knows a paragraph that keeps its lines by this character
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        options.need(module, "serve", "Servers")
    from skcamel.serve import Limits, Served, create_app
    from skcamel.serve.server import bound, run

    limits = Limits(seconds=timeout, threads=threads)
    served = Served(open_model(model, text_encoder), Path(model).stem, limits=limits)
    token = os.environ.get(TOKEN)
    app = create_app(served, token=token)
    try:
        listening = bound(host, port)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}, port {port}: {error}; choose others by --host and --port."
        ) from error

    def started() -> None:
        size = f"{count(len(served.columns), 'column')}, {count(len(served.labels), 'label')}"
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        say(f"Serving {one_line(model)} ({size}) at {address}  (Ctrl-C stops)", err=True)
        if token is None and not host.startswith(("127.", "localhost", "::1")):
            note(f"whoever reaches {address} can use the model; set {TOKEN} to ask for a token.")

    with listening:
        try:
            run(app, listening, access_log=access_log, patience=timeout, started=started)
        finally:
            say(f"Stopped; {count(app.state.answered, 'request')} answered.", err=True)
