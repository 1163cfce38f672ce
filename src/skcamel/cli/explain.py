"""``skcamel explain``: the parts of the scores of one row, by labels and by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import ids_at, label_names_of, note, open_model, rows_for, say, say_json
from skcamel.text import one_line

CELL = 40  # characters of a cell on the screen
BAR = 20  # characters of the longest bar


@click.command()
@options.model_file
@options.rows_file
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    help="Which row; the first one is 1, a header not counted.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="A label to explain, may be repeated.  [default: those predicted]",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    help="How many labels and columns to list.",
)
@options.text_encoder
@options.as_json
@options.examples(
    "skcamel explain mine.skcamel new.csv --row 3",
    "skcamel explain mine.skcamel new.csv --row 3 --label sea --top 10",
)
def explain(
    model: str,
    file: str,
    row: int,
    labels: tuple[str, ...],
    top: int,
    text_encoder: str | None,
    *,
    as_json: bool,
) -> None:
    """Explain the scores of one row of FILE.

    A score is that of the average training row, plus the label's own part, plus what every other
    label pushes up or down. A label is predicted where its score exceeds its threshold. The same
    score is also that where no column is known, plus what each column adds.
    """
    from skcamel.camel.explanation import LEARNED, LEGEND
    from skcamel.data.pipeline import explained, final, reasons, worth_showing

    pipeline = open_model(model, text_encoder)
    estimator: Any = final(pipeline)
    names = label_names_of(pipeline)
    for label in labels:
        if label not in names:
            raise click.UsageError(f"--label {label}: the model has no such label.")
    rows = rows_for(pipeline, file)
    n = rows.X.shape[0]
    if row > n:
        raise click.UsageError(f"--row {row}: {file} has {n} rows.")
    X = rows.X[row - 1 : row]
    explanation, why = explained(pipeline, X)
    if why:
        note(why)
    shown = [names.index(label) for label in labels] or worth_showing(explanation, 0)
    figures = [reasons(explanation, 0, j, top) for j in shown]
    predicted = explanation.label_names[explanation.predicted[0]].tolist()
    ids = ids_at(row - 1, rows.ids, "row", "labels", "correlation", "explanation")
    learned = LEARNED[estimator.correlation]
    if as_json:
        found = {"labels": predicted, "correlation": learned, "explanation": figures}
        say_json({"row": row, **ids, **found})
        return
    title = "".join(f", {one_line(name)} {one_line(value)}" for name, value in ids.items())
    how_many = f"{len(predicted)} of {len(names)} labels predicted"
    say(f"Row {row} of {one_line(file)}{title}: {how_many}")
    cells = {} if rows.table is None else rows.table.slice(row - 1, 1).to_pylist()[0]
    for figure in figures:
        _print_label(figure, cells)
    say(f"\nLabel correlation learned {learned}. {LEGEND}")


def _print_label(figure: Mapping[str, Any], cells: Mapping[str, object]) -> None:
    """Write why a row got the score of one label."""
    verdict = "predicted" if figure["predicted"] else "not predicted"
    scores = f"score {figure['score']:+.3f}, threshold {figure['threshold']:+.3f}"
    say(f"\n{one_line(figure['label'])}: {verdict} ({scores})")
    parts = [("average row", figure["base"], ""), ("own part", figure["own"], "")]
    for push in figure["pushes"]:
        seen = f"seen {push['seen']:g}, expected {push['expected']:.1f}"
        parts.append((f"push of {push['label']}", push["push"], seen))
    _print_parts([*parts, ("other labels", figure["other_pushes"], "")])
    if "columns" not in figure:
        return
    say("  The same score by column:")
    parts = [("no column known", figure["no_column"], "")]
    for part in figure["columns"]:
        cell = str(cells.get(part["column"], ""))
        parts.append((f"column {part['column']}", part["value"], cell[:CELL]))
    _print_parts([*parts, ("other columns", figure["other_columns"], "")])


def _print_parts(parts: Sequence[tuple[str, float, str]]) -> None:
    """Write names, values with a bar, and remarks."""
    names = [one_line(name) for name, _, _ in parts]
    width = max(map(len, names))
    largest = max(abs(value) for _, value, _ in parts) or 1.0
    for name, (_, value, remark) in zip(names, parts, strict=True):
        sign = "+" if value > 0 else "-"
        bar = sign * round(BAR * abs(value) / largest)
        say(f"  {name:<{width}}  {value:+8.3f}  {bar:<{BAR}}  {one_line(remark)}".rstrip())
