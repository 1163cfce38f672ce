"""``skcamel explain``: the parts of the scores of one row, by labels and by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.inputs import open_model, rows_for
from skcamel.cli.options import as_json, data_home, examples, model_file, rows_file
from skcamel.cli.output import note, say, say_json
from skcamel.predictions import explained, reasons, worth_showing
from skcamel.text import count, one_line

if TYPE_CHECKING:
    from skcamel.camel.explanation import Explanation


@click.command(
    epilog=examples(
        "skcamel explain mine.skcamel new.csv --row 3",
        "skcamel explain mine.skcamel new.csv --row 3 --label sea --label sun --top 10",
        "skcamel explain mine.skcamel new.csv --row 3 --no-features",
        "skcamel explain yeast.skcamel yeast --row 1 --json",
    )
)
@model_file
@rows_file
@click.option(
    "--row",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Which row; the first one is 1, a header not counted.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME",
    help="A label to explain, may be repeated. Default: those predicted.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many pushes of other labels, and columns, to list.",
)
@click.option(
    "--features/--no-features",
    default=None,
    help="Whether to list what each column of FILE adds. Default: unless it takes long.",
)
@data_home
@as_json
def explain(
    model: str,
    file: str,
    row: int,
    labels: tuple[str, ...],
    top: int,
    data_home: str | None,
    *,
    features: bool | None,
    as_json: bool,
) -> None:
    """Explain the scores of one row, by labels and by columns.

    A score is that of the average training row, plus the label's own part, plus what every other
    label pushes up or down; a
    label is predicted where its score exceeds its threshold. The same score is also that where no
    column is known, plus what each
    column adds.
    """
    from skcamel.camel.explanation import LEARNED, LEGEND
    from skcamel.data.pipeline import final, source_names
    from skcamel.data.text import shortened

    whole = open_model(model)
    fitted: Any = final(whole)
    names = [str(name) for name in fitted.label_names_]
    places = {name: j for j, name in reversed([*enumerate(names)])}  # of equal names the first
    if unknown := [label for label in labels if label not in places]:
        raise click.UsageError(
            f"--label {unknown[0]}: the model has no such label; it has {shortened(names, 12)}."
        )
    rows = rows_for(whole, file, data_home=data_home, truth=False)
    if row > rows.X.shape[0]:
        raise click.UsageError(f"--row {row}: {file} has {rows.X.shape[0]} rows.")
    from skcamel.checks import names_compared

    with names_compared():
        shown = rows.X[row - 1 : row]
        sources = None if whole is fitted else source_names(whole, shown)
        explanation, why = explained(fitted, shown, sources, features=features)
    if why:
        note(f"{why}; --features lists it." if features is None and not why.endswith(".") else why)
    figures = [
        reasons(explanation, 0, j, top)
        for j in [places[label] for label in labels] or worth_showing(explanation, 0)
    ]
    learned = LEARNED[fitted.correlation]
    if as_json:
        predicted = [
            name
            for name, score, cut in zip(names, explanation.scores[0], explanation.thresholds)
            if score > cut
        ]
        say_json({"row": row, "labels": predicted, "correlation": learned, "explanation": figures})
        return
    if getattr(fitted, "alpha_", getattr(fitted, "alpha", None)) == 0:
        note("alpha is 0 in this model, so labels do not push each other.")
    cells = {} if rows.table is None else rows.table.slice(row - 1, 1).to_pylist()[0]
    _print(row, file, figures, explanation, cells)
    say(f"\nLabel correlation learned {learned}. {LEGEND}")


def _print(
    row: int,
    file: str,
    figures: list[dict[str, Any]],
    explanation: Explanation,
    cells: Mapping[str, object],
) -> None:
    from skcamel.camel.explanation import seen_and_expected

    predicted = int((explanation.scores[0] > explanation.thresholds).sum())
    say(f"Row {row} of {one_line(file)}: {predicted} of {len(explanation.base)} labels predicted")
    for figure in figures:
        lines = [("average row", figure["base"], ""), ("own part", figure["own"], "")]
        for push in figure["pushes"]:
            shown = seen_and_expected(
                push["seen"], push["expected"], contradicts=push["against_the_data"]
            )
            lines.append((f"push of {push['label']}", push["push"], shown))
        if figure["number_of_other_pushes"]:
            lines.append(
                (f"push of {figure['number_of_other_pushes']} more", figure["other_pushes"], "")
            )
        verdict = "predicted" if figure["predicted"] else "not predicted"
        sign = ">" if figure["predicted"] else "<="
        say(
            f"\n{one_line(figure['label'])}: {verdict}, as score {figure['score']:+.3f} {sign}"
            f" threshold {figure['cut']:+.3f}"
        )
        _print_parts([*lines, ("= score", figure["score"], None)])
        if "columns" in figure:
            lines = [("no column known", figure["no_column"], "")]
            lines += [
                (f"column {part['column']}", part["value"], _cell(cells, part["column"]))
                for part in figure["columns"]
            ]
            if figure["number_of_other_columns"]:
                lines.append(
                    (
                        count(figure["number_of_other_columns"], "more column"),
                        figure["other_columns"],
                        "",
                    )
                )
            say("  The same score by column:")
            _print_parts(lines)


def _cell(cells: Mapping[str, object], name: str) -> str:
    """What a cell of a table holds, in one short line; nothing for rows of other files."""
    if name not in cells:
        return ""
    text = "a gap" if cells[name] in (None, "") else one_line(str(cells[name]))
    return text if len(text) <= 40 else f"{text[:39]}…"


def _print_parts(lines: Sequence[tuple[str, float, str | None]]) -> None:
    """Names, values with a bar, and remarks; a total, whose remark is None, has no bar."""
    width = max([16, *(len(one_line(name)) for name, _, _ in lines)])
    largest = max([1e-300, *(abs(value) for _, value, shown in lines if shown is not None)])
    for name, value, shown in lines:
        bar = (
            "" if shown is None else ("+" if value > 0 else "-") * round(20 * abs(value) / largest)
        )
        say(f"  {one_line(name):<{width}}  {value:+8.3f}  {bar:<20} {shown or ''}".rstrip())
