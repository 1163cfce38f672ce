"""``skcamel evaluate``: a model against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import (
    label_names_of,
    missing_share,
    open_model,
    rows_for,
    say,
    say_json,
    sets_of,
)

RATES = {
    "right": "of the yes answers are right",
    "missed": "of the labels that rows have are answered no",
    "open": "of the answers are open",
}
EDGE_CASES = {
    "rows_without_labels": "rows without labels: left out of the ranking metrics",
    "rows_with_all_labels": "rows with all labels: left out of the ranking metrics",
    "labels_absent": "labels neither true nor predicted: F1 counts as 1",
    "labels_never_true": "labels never true",
    "labels_never_predicted": "labels never predicted",
}


@click.command()
@options.model_file
@options.rows_file
@click.option("--per-label", is_flag=True, help="Also precision, recall and F1 of every label.")
@options.confidence
@options.text_encoder
@options.as_json
@options.examples(
    "skcamel evaluate mine.skcamel labelled.csv --per-label",
    "skcamel evaluate mine.skcamel labelled.csv --sets 0.9",
)
def evaluate(
    model: str,
    file: str,
    sets: float | None,
    text_encoder: str | None,
    *,
    per_label: bool,
    as_json: bool,
) -> None:
    """Compare predictions with the labels of FILE.

    Seven metrics are shown. Do not evaluate a model on the rows that it was fitted on. Missing
    labels count in no figure.
    """
    from skcamel import metrics
    from skcamel.data.pipeline import final

    pipeline = open_model(model, text_encoder)
    rows = rows_for(pipeline, file, truth=True)
    outputs = final(pipeline).outputs(rows.X)
    Y: Any = rows.Y
    P = outputs.decisions
    names = label_names_of(pipeline)
    report = metrics.report(Y, P, label_names=names)
    found: dict[str, Any] = {"rows": len(Y), "labels": len(names), "missing": missing_share(Y)}
    found["metrics"] = metrics.evaluate(Y, outputs.scores, P)
    found["edge_cases"] = asdict(metrics.edge_cases(Y, P))
    if sets is not None:
        found["sets"] = _rates(Y, sets_of(outputs, sets), sets)
    if per_label:
        found["per_label"] = list(report)
    if as_json:
        say_json(found)
        return
    say(f"{len(Y):,} rows, {len(names):,} labels, {found['missing']:.2%} of the labels missing\n")
    print_metrics({"value": found["metrics"]})
    say()
    for name, number in found["edge_cases"].items():
        if number:
            say(f"  {number:6,}  {EDGE_CASES[name]}")
    if sets is not None:
        say(f"\nPrediction sets at a confidence of {sets:g}:")
        for key, what in RATES.items():
            shown = f"{found['sets'][key]:.1%}".replace("nan%", "undefined")
            say(f"  {shown:>9}  {what}")
    if per_label:
        say(f"\n{report}")


def _rates(Y: Any, answers: Any, confidence: float) -> dict[str, Any]:
    """How good prediction sets are: over all labels, and label by label."""
    from skcamel.camel.link import set_rates

    whole = set_rates(Y.reshape(-1, 1), answers.reshape(-1, 1))
    rates: dict[str, Any] = {name: float(rate[0]) for name, rate in whole.items()}
    return {"confidence": confidence, **rates, "per_label": set_rates(Y, answers)}


def print_metrics(columns: Mapping[str, Mapping[str, float]]) -> None:
    """Write the seven metrics, one to a line, with a column for each name of `columns`."""
    from skcamel import metrics

    heads = "".join(f"  {head:>13}" for head in columns)
    say(f"  {'':18}  {'better':6}{heads}")
    for name in options.METRICS:
        direction = "lower" if name in metrics.LOSSES else "higher"
        line = f"  {name:18}  {direction:6}"
        for values in columns.values():
            value = values[name]
            cell = f"{value:.4f}" if value == value else "undefined"
            line += f"  {cell:>13}"
        say(line)
