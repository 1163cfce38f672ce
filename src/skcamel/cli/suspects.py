"""``skcamel suspects``: a labelled file ► the labels in it that are most likely wrong, and a table for whoever checks them."""

from __future__ import annotations

import csv
import io
import json
from typing import IO, Any

import click

from skcamel.cli import options
from skcamel.cli.inputs import open_labelled, prepare
from skcamel.cli.options import OutputFile, examples
from skcamel.cli.output import say, say_json, words_beside
from skcamel.files import whole_file
from skcamel.presets import PRESETS
from skcamel.text import count, one_line, plain_cell

OUTPUT = OutputFile(".csv", ".tsv", ".json", ".jsonl", ".parquet")
LONGEST = 30  # characters of a cell on the screen
EMPTY = "correct"  # the column that is left to be filled in


@click.command(
    epilog=examples(
        "skcamel suspects mine.csv --labels 'topic_*'",
        "skcamel suspects tickets.xlsx --labels tags --text subject,body --limit 100 -o"
        " to_check.csv",
        "skcamel suspects yeast --limit 50 --json",
    )
)
@click.argument("data", metavar="FILE")
@options.output_file(
    OUTPUT,
    f"Table to write, .csv, .tsv, .json, .jsonl or .parquet, with an empty column {EMPTY!r} to be"
    " filled in.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many to show and write, the first.",
)
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    default="quick",
    show_default=True,
    help="Which models are tried, as in fit.",
)
@options.solver_options
@options.dataset_options
@options.table_options
@options.as_json
def suspects(
    data: str, output: str | None, limit: int, preset: str, *, as_json: bool, **choices: Any
) -> None:
    """List the labels of FILE that are most likely wrong.

    FILE is a labelled table (- for standard input), an ARFF, svmlight or Matlab file, or the name
    of a benchmark set. Every label
    of every row is scored by a model of all other rows. A score below 0 contradicts the label as
    given. The chance beside it is the
    probability that the label is right all the same; the smallest come first.
    """
    options.keep_apart(output, data, choices["labels_file"])
    from skcamel.camel.classifier_cv import CamelClassifierCV
    from skcamel.camel.label_errors import find_label_errors
    from skcamel.data.matching import ids_of

    how, of_table = (
        {key: choices[key] for key in keys}
        for keys in (options.HOW_READ, (*options.OF_TABLES, "labels_file"))
    )
    opened: Any = open_labelled(data, how, of_table)
    source, preparer = opened
    X, has_words = (source.X, False) if preparer is None else prepare(preparer, source)
    Y = source.labels if preparer is None else source.Y
    found = find_label_errors(
        X,
        Y,
        CamelClassifierCV.from_preset(
            preset, prepared=has_words, **options.solver_parameters(choices)
        ),
        limit=limit,
    )
    ids = dict[str, list[str]]() if preparer is None else ids_of(preparer, source.columns)
    listed = found.records()
    ids = {
        f"id:{name}" if name in (*listed[0], EMPTY) else name: cells for name, cells in ids.items()
    }
    records = []
    for record in listed:  # rows count from 1
        row = record.pop("row")
        records.append(
            {"row": row + 1} | {name: cells[row] for name, cells in ids.items()} | record
        )
    if output is not None:
        _write([record | {EMPTY: None} for record in records], output, OUTPUT.suffix(output))
    with words_beside(output):
        if as_json:
            say_json({"data": data, "rows": Y.shape[0], "labels": Y.shape[1], "suspects": records})
            return
        say(
            f"{one_line(data)}: {count(Y.shape[0], 'row')}, {count(Y.shape[1], 'label')}; labels"
            " that are most likely wrong:"
        )
        _print(records)
        if output is not None:
            say(
                f"\nWrote {one_line(output)}; in its column {EMPTY!r} write 1 where the row has the"
                " label and 0 where it does not."
            )


def _print(records: list[dict[str, Any]]) -> None:
    from skcamel.camel.label_errors import as_table

    shown = [
        {
            name: _short(cell) if isinstance(cell, str) and name != "why" else cell
            for name, cell in record.items()
        }
        for record in records
    ]
    for line in as_table(shown):
        say(f"  {line}")


def _short(cell: str) -> str:
    return cell if len(cell) <= LONGEST else f"{cell[: LONGEST - 1]}…"


def _write(records: list[dict[str, Any]], path: str, suffix: str) -> None:
    """Write a file in the form that a suffix names; it appears whole or not at all."""
    with whole_file(path) as file:
        if suffix == ".parquet":
            _write_parquet(records, file)
            return
        text = io.TextIOWrapper(
            file, encoding="utf-8", errors="backslashreplace", newline=""
        )  # half a character
        if suffix == ".jsonl":
            text.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        elif suffix == ".json":
            text.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
        else:
            _write_separated(records, text, "\t" if suffix == ".tsv" else ",")
        text.flush()
        text.detach()


def _write_separated(records: list[dict[str, Any]], file: IO[str], separator: str) -> None:
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow([plain_cell(name) for name in records[0]])
    for record in records:
        cells = (
            "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
            for cell in record.values()
        )
        writer.writerow([plain_cell(cell) for cell in cells])


def _write_parquet(records: list[dict[str, Any]], file: Any) -> None:
    from skcamel.data.tables import pyarrow_module

    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module()
    columns = {name: arrow.array([record[name] for record in records]) for name in records[0]}
    parquet.write_table(arrow.table(columns | {EMPTY: columns[EMPTY].cast(arrow.int64())}), file)
