"""``skcamel evaluate``: predictions against the truth."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.inputs import is_catalogue_name, note_training_rows, open_model, rows_for, told_unknown
from skcamel.cli.options import as_json, complete_source, data_home, examples
from skcamel.cli.output import note, say, say_json
from skcamel.data import DataError

if TYPE_CHECKING:
    import numpy as np

    Found = tuple[tuple[str, ...], np.ndarray, np.ndarray | None, np.ndarray]  # label names, truth, scores if there are any, decisions

EDGE_CASES = {
    "rows_without_labels": "rows have no label: left out of the ranking metrics",
    "rows_with_all_labels": "rows have all labels: left out of the ranking metrics",
    "labels_absent": "labels are neither true nor predicted: their F1 counts as 1",
    "labels_never_true": "labels are never true",
    "labels_never_predicted": "labels are never predicted",
}


@click.command(
    epilog=examples(
        "skcamel evaluate mine.skcamel labelled.csv --per-label",
        "skcamel evaluate --truth labelled.csv --predictions predictions.csv --json",
    )
)
@click.argument("model", required=False, type=click.Path(exists=True, dir_okay=False))
@click.argument("file", metavar="[FILE]", required=False, shell_complete=complete_source)
@click.option(
    "--truth", metavar="FILE", help="Labelled file; label columns go by the names in the predictions.", shell_complete=complete_source
)
@click.option("--predictions", type=click.Path(exists=True, dir_okay=False), help="File that 'skcamel predict' wrote, instead of a model.")
@click.option("--per-label", is_flag=True, help="Also precision, recall and F1 of every label.")
@data_home
@as_json
def evaluate(
    model: str | None,
    file: str | None,
    truth: str | None,
    predictions: str | None,
    data_home: str | None,
    *,
    per_label: bool,
    as_json: bool,
) -> None:
    """Compare with the truth: a MODEL on a labelled FILE, or --predictions with --truth.

    Do not evaluate a model on the rows that it was fitted on. Empty cells and ? among the labels are unknown: they count in no figure.
    """
    if model is not None and file is not None and truth is None and predictions is None:
        found = _of_model(model, file, data_home)
    elif truth is not None and predictions is not None and model is None and file is None:
        found = _of_files(truth, predictions, data_home)
    else:
        raise click.UsageError("Give MODEL and FILE, or --truth and --predictions.")
    _tell(*found, per_label=per_label, as_json=as_json)


def _of_model(model: str, file: str, data_home: str | None) -> Found:
    fitted = open_model(model)
    rows = rows_for(fitted, file, data_home=data_home, truth=True)
    assert rows.Y is not None  # noqa: S101 asked for
    note_training_rows(fitted, rows.X)
    from skcamel.checks import names_compared
    from skcamel.pipeline import final

    with names_compared():
        outputs = final(fitted).outputs(rows.X)
    return tuple(map(str, final(fitted).label_names_)), rows.Y, outputs.scores, outputs.decisions


def _of_files(truth: str, predictions: str, data_home: str | None) -> Found:
    import numpy as np

    from skcamel.cli.predict import read_predictions
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.formats import match_labels, read_labels

    names, values = read_predictions(predictions)
    if "decisions" not in values:
        raise DataError("has no decision:NAME columns; write it again without --no-decisions.", path=predictions)
    if not np.isin(values["decisions"], (0, 1)).all():
        raise DataError("decisions are 0 or 1; are these scores? Name such columns score:NAME.", path=predictions)
    Y = match_labels(load_dataset(truth, data_home), names) if is_catalogue_name(truth) else read_labels(truth, names)
    if len(Y) != len(values["decisions"]):
        raise DataError(f"has {len(values['decisions'])} rows, {truth} has {len(Y)}; both must hold the same rows.", path=predictions)
    return names, Y, values.get("scores", values.get("probabilities")), values["decisions"].astype(np.int64)


def _tell(names: tuple[str, ...], Y: np.ndarray, scores: np.ndarray | None, P: np.ndarray, *, per_label: bool, as_json: bool) -> None:
    from skcamel import metrics
    from skcamel.data.dataset import known_share

    known = known_share(Y)
    figures: dict[str, Any] = metrics.evaluate(Y, P if scores is None else scores, P)
    if scores is None:
        note("the predictions hold no scores, so the four ranking metrics are left out.")
        figures = {name: value for name, value in figures.items() if name not in metrics.RANKING}
    cases = asdict(metrics.edge_cases(Y, P))
    report = metrics.report(Y, P, label_names=names)
    if as_json:
        found: dict[str, Any] = {"rows": len(Y), "labels": len(names), "metrics": figures, "edge_cases": cases}
        found |= {"known": known} if known < 1 else {}
        say_json(found | ({"per_label": list(report)} if per_label else {}))
        return
    say(f"{len(Y):,} rows, {len(names):,} labels{f'; {told_unknown(known)}' if known < 1 else ''}\n")
    print_metrics({"value": figures})
    if lines := [f"  {number:6,}  {EDGE_CASES[name]}" for name, number in cases.items() if number]:
        say("\n".join(["", *lines]))
    if per_label:
        say(f"\n{report}")


def print_metrics(columns: dict[str, dict[str, float]]) -> None:
    """Write the seven metrics, one to a line, with one column of figures for each of `columns`."""
    from skcamel.metrics import LOSSES

    say(f"  {'':18}  {'better':6}" + "".join(f"  {head:>{max(9, len(head))}}" for head in columns))
    for name in next(iter(columns.values())):
        cells = [f"{values[name]:.4f}" if values[name] == values[name] else "undefined" for values in columns.values()]
        direction = "lower" if name in LOSSES else "higher"
        say(f"  {name:18}  {direction:6}" + "".join(f"  {cell:>{max(9, len(head))}}" for cell, head in zip(cells, columns, strict=True)))
