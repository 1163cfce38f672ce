"""Commands for a model file: ``skcamel inspect``, ``export``, ``report`` and ``serve``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import label_names_of, note, open_model, rows_for, say, say_json
from skcamel.files import whole_file
from skcamel.text import count, file_size, one_line

TOKEN = "SKCAMEL_TOKEN"  # noqa: S105 the name of a variable, not its value


@click.command()
@options.model_file
@options.output_file("File to write a model card to, in Markdown.")
@options.as_json
@options.examples("skcamel inspect model.skcamel", "skcamel inspect model.skcamel -o CARD.md")
def inspect(model: str, output: str | None, *, as_json: bool) -> None:
    """Show what a model file is, how good, and what it reveals.

    Nothing of other libraries is built, so nothing has to be trusted. With -o a model card is
    written; what only a person can know is marked in it.
    """
    if as_json and output is not None:
        raise click.UsageError("-o writes Markdown, --json writes JSON; choose one.")
    options.keep_apart(output, model)
    from skcamel.model_file.inspection import inspect as inspected

    found = inspected(model)
    if as_json:
        say_json(found.to_dict())
    elif output is not None:
        _write(output, found.card().encode(errors="replace"))
        say("Fill in what is marked 'To be filled in by a person'.", err=True)
    else:
        say(str(found))


@click.command()
@options.model_file
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    help="Of the numbers that go in, and of scores and probabilities.",
)
@options.output_file("ONNX file to write.", ".onnx", required=True)
@options.examples("skcamel export model.skcamel -o model.onnx")
def export(model: str, dtype: str, output: str) -> None:
    """Write MODEL as ONNX, which scores rows without Python.

    The file gives the same scores, labels and probabilities. Its input is a matrix X; after a fit
    on a table it has an input for each column. Text cannot be exported.
    """
    options.keep_apart(output, model)
    options.need("onnx", "export", "ONNX files")
    from skcamel.export import to_onnx

    graph = to_onnx(open_model(model), dtype=dtype)
    _write(output, graph.SerializeToString())


def _write(path: str, content: bytes) -> None:
    with whole_file(path) as file:
        file.write(content)
    say(f"Wrote {one_line(path)} ({file_size(len(content))}).", err=True)


@click.command()
@click.argument("what", metavar="MODEL_OR_DIR", type=click.Path(exists=True))
@click.option("--data", metavar="FILE", help="Labelled rows to judge a model by.")
@options.output_file("HTML file to write.", required=True)
@options.text_encoder
@options.examples(
    "skcamel report model.skcamel --data labelled.csv -o page.html",
    "skcamel report STUDY_FOLDER -o page.html",
)
def report(what: str, data: str | None, output: str, text_encoder: str | None) -> None:
    """Write the page of a model file or of a study folder.

    It is one HTML file that needs nothing else. With --data the page of a model also shows how good
    each label is and why a row got its labels; it then holds cells, scores and labels of up to 50
    rows.
    """
    options.need("jinja2", "report", "Pages")
    if not Path(what).is_dir():
        _model_page(what, data, output, text_encoder)
    elif data is not None:
        raise click.UsageError("--data is for model files; the page of a study needs none.")
    else:
        _study_page(what, output)
    say(f"Wrote {one_line(output)} ({file_size(Path(output).stat().st_size)}).", err=True)


def _model_page(what: str, data: str | None, output: str, text_encoder: str | None) -> None:
    from skcamel.data.dataset import Dataset, NamedLabels
    from skcamel.report import build_model_report

    model = open_model(what, text_encoder)
    dataset: Any = None
    if data is not None:
        rows = rows_for(model, data, truth=True)
        truth: Any = rows.Y
        labels = NamedLabels.of(truth, label_names_of(model))
        dataset = (rows.table, labels)
        if rows.table is None:
            dataset = Dataset(rows.X, labels, name=Path(data).stem)
    build_model_report(model, dataset, output)


def _study_page(folder: str, output: str) -> None:
    from skcamel.experiment import Records
    from skcamel.report import build_report

    records = Records(folder)
    if not records:
        raise click.ClickException(f"{folder} holds no records of a study.")
    build_report(records, output)


@click.command()
@options.model_file
@click.option(
    "--host",
    default="127.0.0.1",
    help="Address to listen on; 0.0.0.0 lets other machines in.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    help="Port; 0 takes a free one.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.001),
    default=30.0,
    help="Seconds in which a request must arrive, and for which it may wait.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=2,
    help="Longer predictions computed at the same time.",
)
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
    from skcamel.serve import Limits, Served, app

    limits = Limits(seconds=timeout, threads=threads)
    served = Served(open_model(model, text_encoder), Path(model).stem, limits=limits)
    token = os.environ.get(TOKEN)
    application = app.create_app(served, token=token)
    try:
        listening = app.bound(host, port)
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}, port {port}: {error}; choose others by --host and --port."
        ) from error

    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{listening.getsockname()[1]}"
    say(f"Serving {one_line(model)} at {address}  (Ctrl-C stops)", err=True)
    if token is None and not host.startswith(("127.", "localhost", "::1")):
        note(f"whoever reaches {address} can use the model; set {TOKEN} to ask for a token.")
    with listening:
        try:
            app.run(application, listening, patience=timeout)
        finally:
            say(f"Stopped; {count(application.state.answered, 'request')} answered.", err=True)
