"""``skcamel report``: the page of a model file or of a study folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skcamel.cli.inputs import open_model, rows_for
from skcamel.cli.options import OutputFile, data_home, examples, need, output_file
from skcamel.cli.output import say, words_beside
from skcamel.text import one_line

STUDY = ("study.json", "records.jsonl")  # a folder with one of these is a study


@click.command(
    epilog=examples(
        "skcamel report model.skcamel --data yeast -o page.html",
        "skcamel report STUDY_FOLDER -o page.html",
    )
)
@click.argument("what", metavar="DIR_OR_MODEL", type=click.Path(exists=True))
@click.option(
    "--data",
    metavar="FILE_OR_NAME",
    help="Rows to judge a model by: a file, or a name from 'skcamel datasets list'.",
)
@output_file(OutputFile(), "HTML file to write.", required=True)
@data_home
def report(what: str, data: str | None, output: str, data_home: str | None) -> None:
    """Write the page of a model file or of a study folder.

    It is one HTML file that needs nothing else.

    With --data the page of a model shows how good it is on these rows, and why a row got its
    labels; it then holds cells, scores and labels of up to 50 rows. Columns and labels are found
    by their names, as at the fit.
    """
    need("jinja2", "report", "Pages")
    if Path(what).is_dir():
        if data is not None:
            raise click.UsageError(
                "--data is for model files; the page of a study is made from its records alone."
            )
        _study_page(what, output)
    else:
        _model_page(what, data, data_home, output)
    with words_beside(output):
        say(f"wrote {one_line(output)} ({Path(output).stat().st_size / 1e6:.1f} MB)")


def _model_page(what: str, data: str | None, data_home: str | None, output: str) -> None:
    import numpy as np

    from skcamel.data.dataset import Dataset, NamedLabels
    from skcamel.data.pipeline import final
    from skcamel.model_file import ModelFileError
    from skcamel.report import build_model_report

    try:
        model = open_model(what)
    except ModelFileError as error:
        raise click.ClickException(
            f"{what} is neither a study folder nor a model file: {error}"
        ) from error
    estimator = final(model)
    dataset: Any = None
    if data is not None:
        rows = rows_for(model, data, data_home=data_home, truth=True)
        labels = NamedLabels.of(np.asarray(rows.Y), estimator.label_names_)
        dataset = (
            Dataset(rows.X, labels, name=Path(data).stem)
            if rows.table is None
            else (rows.table, labels)
        )
    build_model_report(model, dataset, output)


def _study_page(what: str, output: str) -> None:
    from skcamel.experiment import RecordsError
    from skcamel.report import build_report

    if not any(Path(what, name).exists() for name in STUDY):
        missing = f"it has no {', '.join(STUDY[:-1])} or {STUDY[-1]}"
        raise click.ClickException(
            f"{what} is no study folder: {missing}; 'skcamel study' makes one."
        )
    try:
        build_report(what, output)
    except RecordsError as error:
        raise click.ClickException(str(error)) from error
