"""``skcamel inspect``, ``export`` and ``report``: what a model file is, as ONNX, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.inputs import label_names_of, open_model, rows_for
from skcamel.cli.output import hand_over, say, say_json
from skcamel.files import whole_file
from skcamel.text import count, file_size, one_line


@click.command()
@options.model_file
@click.option("--card", is_flag=True, help="Write a model card in Markdown.")
@options.output_file("File to write the card to; default: standard output.")
@options.as_json
@options.examples(
    "skcamel inspect model.skcamel", "skcamel inspect model.skcamel --card -o CARD.md"
)
def inspect(model: str, card: bool, output: str | None, *, as_json: bool) -> None:
    """Show what a model file is, how good, and what it reveals.

    Nothing of other libraries is built, so nothing has to be trusted. What only a person can know
    is marked in the card.
    """
    if card and as_json:
        raise click.UsageError("--card writes Markdown, --json writes JSON; choose one.")
    if output is not None and not card:
        raise click.UsageError("-o is for the model card; add --card.")
    options.keep_apart(output, model)
    from skcamel.model_file.inspection import inspect as inspected

    found = inspected(model)
    if as_json:
        say_json(found.to_dict())
    elif output is not None:
        with whole_file(output) as file:
            file.write(found.card().encode(errors="replace"))
        say(f"wrote {one_line(output)}; fill in what is marked 'To be filled in by a person'")
    elif card:
        hand_over(found.card())
    else:
        say(str(found))


@click.command()
@options.model_file
@click.option(
    "--dtype",
    type=click.Choice(["float32", "float64"]),
    default="float32",
    show_default=True,
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
    content = graph.SerializeToString()
    with whole_file(output) as file:
        file.write(content)
    inputs = [one_line(each.name) for each in graph.graph.input]
    shown = inputs if len(inputs) <= 8 else [*inputs[:7], f"… {len(inputs) - 7} more"]
    say(f"wrote {one_line(output)} ({file_size(len(content))})", err=True)
    say(f"  inputs   {', '.join(shown)}", err=True)
    say(f"  outputs  {', '.join(each.name for each in graph.graph.output)}", err=True)


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
    each label is and why a row got its labels; it then holds cells, scores and labels of up to 50 rows.
    """
    options.need("jinja2", "report", "Pages")
    if not Path(what).is_dir():
        _model_page(what, data, output, text_encoder)
    elif data is not None:
        raise click.UsageError("--data is for model files; the page of a study needs none.")
    else:
        _study_page(what, output)
    say(f"wrote {one_line(output)} ({file_size(Path(output).stat().st_size)})", err=True)


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
    if not any(True for _ in records):
        raise click.ClickException(f"{folder} holds no records of a study.")
    build_report(records, output)
    say(f"{count(sum(1 for _ in records), 'record')} of {one_line(folder)}", err=True)
