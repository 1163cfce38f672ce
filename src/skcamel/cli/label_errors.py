"""``skcamel label-errors``: the labels of a file that are most likely wrong."""

from __future__ import annotations

from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import TABLES, groups_of, ids_at, open_labelled, say, say_json, write_records
from skcamel.text import count, one_line

EMPTY = "correct"  # the column that is left to be filled in


@click.command("label-errors")
@click.argument("data", metavar="FILE")
@options.labels
@options.columns
@options.groups
@options.preset
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    help="How many to show and write, the first.",
)
@options.output_file("Table to write, with an empty column 'correct' to be filled in.", *TABLES)
@options.text_encoder
@options.as_json
@options.examples(
    "skcamel label-errors mine.csv --labels 'topic_*'",
    "skcamel label-errors tickets.xlsx --labels tags --limit 100 -o to_check.csv",
)
def label_errors(
    data: str,
    output: str | None,
    limit: int,
    preset: str,
    groups: str | None,
    *,
    as_json: bool,
    **choices: Any,
) -> None:
    """List the labels of FILE that are most likely wrong.

    Every label of every row is scored by a model of all other rows. A score that contradicts the
    label makes it suspicious. The chance beside it is the probability that the label is right all
    the same; the smallest come first.
    """
    options.keep_apart(output, data)
    from skcamel.camel.classifier_cv import CamelClassifierCV
    from skcamel.camel.label_errors import as_table, find_label_errors

    source = open_labelled(data, choices, groups)
    X, prepared = source.prepared()
    model = CamelClassifierCV.from_preset(preset, prepared=prepared)
    found = find_label_errors(X, source.Y, model, limit=limit, groups=groups_of(source, groups))
    ids = source.ids()
    records = []
    for record in found.records():
        row = record.pop("row")
        named = ids_at(row, ids, "row", *record, EMPTY)
        records.append({"row": row + 1, **named, **record})
    if output is not None:
        write_records([record | {EMPTY: None} for record in records], output)
    n, q = source.Y.shape
    if as_json:
        say_json({"data": data, "rows": n, "labels": q, "label_errors": records})
        return
    sizes = f"{count(n, 'row')}, {count(q, 'label')}"
    say(f"{one_line(data)}: {sizes}; labels that are most likely wrong:")
    for line in as_table(records):
        say(f"  {line}")
    if output is not None:
        say(f"\nWrote {one_line(output)}; write 1 or 0 into its column {EMPTY!r}.")
