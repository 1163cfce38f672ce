"""``skcamel predict``: a model file and rows ► labels and probabilities, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import (
    TABLES,
    ids_at,
    label_names_of,
    open_model,
    rows_in_batches,
    say,
    sets_of,
    write_records,
)
from skcamel.text import one_line

ANSWERS = ("no", "yes", "open")  # 0, 1 and -1


@click.command()
@options.model_file
@options.rows_file
@options.output_file("Table to write: .csv, .jsonl or .parquet.", *TABLES)
@click.option("--scores", is_flag=True, help="Also the score of every label.")
@options.confidence
@click.option(
    "--allow-missing", is_flag=True, help="Let columns that FILE lacks count as missing values."
)
@options.text_encoder
@options.examples(
    "skcamel predict mine.skcamel new.csv -o predictions.csv",
    "skcamel predict mine.skcamel new.csv --sets 0.9 -o answers.parquet",
)
def predict(
    model: str,
    file: str,
    output: str | None,
    text_encoder: str | None,
    *,
    scores: bool,
    sets: float | None,
    allow_missing: bool,
) -> None:
    """Predict the labels of every row of FILE.

    FILE is a table (- for standard input), an ARFF, svmlight or Matlab file, or the name of a
    benchmark set. Columns are matched by name, in any order; others are left out.

    The result has one row for each row of FILE: its number from 1, the columns that name the rows,
    the predicted labels (separated by semicolons), and probability:NAME for each label. With --sets
    0.9, set:NAME is yes, no or open: about 90 % of the yes answers are right, and of the labels
    that rows have at most about 10 % are answered no. Large Parquet files are read in batches.
    """
    options.keep_apart(output, model, file)
    pipeline = open_model(model, text_encoder)
    n = 0

    def records() -> Iterator[dict[str, Any]]:
        nonlocal n
        for rows in rows_in_batches(pipeline, file, allow_missing=allow_missing):
            for record in _answered(pipeline, rows, scores=scores, sets=sets):
                n += 1
                yield {"row": n, **record}

    write_records(records(), output)
    if output is not None:
        say(f"{n:,} rows; wrote {one_line(output)}", err=True)


def _answered(
    pipeline: Any, rows: Any, *, scores: bool, sets: float | None
) -> Iterator[dict[str, Any]]:
    """One record for each row."""
    import numpy as np

    from skcamel.data.pipeline import final

    outputs = final(pipeline).outputs(rows.X)
    columns: dict[str, Any] = {}
    if hasattr(outputs, "probabilities"):
        columns["probability"] = outputs.probabilities.round(4)
    if scores:
        columns["score"] = outputs.scores
    if sets is not None:
        columns["set"] = np.array(ANSWERS)[sets_of(outputs, sets)]
    heads = [f"{prefix}:{name}" for prefix in columns for name in label_names_of(pipeline)]
    for row, labels in enumerate(outputs.label_sets):
        record: dict[str, Any] = ids_at(row, rows.ids, "row", "labels")
        record["labels"] = list(labels)
        cells = [cell for matrix in columns.values() for cell in matrix[row].tolist()]
        yield record | dict(zip(heads, cells, strict=True))
