"""``skcamel predict``: a model file and rows ► label sets, scores, decisions and probabilities."""

from __future__ import annotations

import click

from skcamel.cli.datasets import data_home
from skcamel.cli.models import model_file, nameless, open_model, rows_file, rows_for
from skcamel.cli.options import OutputFile, keep_apart
from skcamel.cli.output import StandardOutput, say
from skcamel.cli.root import examples
from skcamel.text import one_line

OUTPUT = OutputFile(".csv", ".tsv", ".json", ".jsonl", ".parquet")


@click.command(
    epilog=examples(
        "skcamel predict mine.skcamel new.csv",
        "skcamel predict mine.skcamel new.csv -o predictions.parquet --probabilities",
        "skcamel predict mine.skcamel new.csv --no-scores --no-decisions -o labels.jsonl",
    )
)
@model_file
@rows_file
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    help="File to write: .csv, .tsv, .json, .jsonl or .parquet. Default: CSV to the screen.",
)
@click.option("--scores/--no-scores", default=True, show_default=True, help="The score of every label; higher is more likely.")
@click.option("--decisions/--no-decisions", default=True, show_default=True, help="1 or 0 for every label.")
@click.option("--probabilities/--no-probabilities", default=False, show_default=True, help="The probability of every label.")
@data_home
def predict(
    model: str, file: str, output: str | None, data_home: str | None, *, scores: bool, decisions: bool, probabilities: bool
) -> None:
    """Predict the labels of every row of FILE.

    FILE is a table, an ARFF, svmlight or Matlab file, or the name of a benchmark set. Its columns are matched with the
    model's by name, in any order; label columns and unknown ones are left aside. A file that exists is written over.

    Output has one row for each row of FILE: its number from 1, the predicted labels (separated by semicolons), and for each label
    score:NAME and decision:NAME.
    """
    from skcamel.cli.predictions import Predictions, write_predictions, write_separated

    keep_apart(output, model, file)
    fitted = open_model(model)
    if probabilities and not hasattr(fitted, "predict_proba"):
        raise click.UsageError(f"{type(fitted).__name__} in {model} has scores but no probabilities; leave out --probabilities.")
    X = rows_for(fitted, file, data_home=data_home, truth=False).X
    with nameless():
        outputs = fitted.outputs(X)
    asked = {"scores": scores, "decisions": decisions, "probabilities": probabilities}
    values = {key: getattr(outputs, key) for key, wanted in asked.items() if wanted}
    found = Predictions(tuple(map(str, fitted.label_names_)), outputs.label_sets, values)
    if output is None:
        write_separated(found, StandardOutput())
        return
    write_predictions(found, output, OUTPUT.suffix(output))
    say(f"{len(found.label_sets):,} rows; wrote {one_line(output)}", err=True)
