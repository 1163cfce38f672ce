"""``skcamel evaluate``: predictions against the truth."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.inputs import is_catalogue_name, open_model, rows_for, told_unknown
from skcamel.cli.options import SHARE, as_json, data_home, examples
from skcamel.cli.output import note, say, say_json
from skcamel.data import DataError
from skcamel.text import one_line

if TYPE_CHECKING:
    import numpy as np

    from skcamel.camel.outputs import Outputs

    Found = tuple[
        tuple[str, ...], np.ndarray, np.ndarray | None, np.ndarray
    ]  # label names, truth, scores if there are any, decisions

RATES = {
    "right": "of the yes answers are right",
    "missed": "of the labels that rows have are answered no",
    "open": "of the answers are open",
}
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
        "skcamel evaluate mine.skcamel labelled.csv --sets 0.9",
        "skcamel evaluate --truth labelled.csv --predictions predictions.csv --json",
    )
)
@click.argument("model", required=False, type=click.Path(exists=True, dir_okay=False))
@click.argument("file", metavar="[FILE]", required=False)
@click.option(
    "--truth",
    metavar="FILE",
    help="Labelled file; label columns go by the names in the predictions.",
)
@click.option(
    "--predictions",
    type=click.Path(exists=True, dir_okay=False),
    help="File that 'skcamel predict' wrote, instead of a model.",
)
@click.option("--per-label", is_flag=True, help="Also precision, recall and F1 of every label.")
@click.option(
    "--sets",
    type=SHARE,
    help="Of a MODEL: also how good its prediction sets are at this confidence, such as 0.9.",
)
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
    sets: float | None,
    as_json: bool,
) -> None:
    """Compare predictions with the truth, by seven metrics.

    Give a MODEL and a labelled FILE, or --predictions and --truth.

    Do not evaluate a model on the rows that it was fitted on. Empty cells and ? among the labels
    are unknown: they count in no figure.
    """
    if model is not None and file is not None and truth is None and predictions is None:
        found, outputs = _of_model(model, file, data_home)
    elif truth is not None and predictions is not None and model is None and file is None:
        found, outputs = _of_files(truth, predictions, data_home), None
    else:
        raise click.UsageError("Give MODEL and FILE, or --truth and --predictions.")
    if sets is not None and outputs is None:
        raise click.UsageError("--sets needs the model itself; give MODEL and FILE.")
    answers = None if sets is None or outputs is None else _answers(found, outputs, sets)
    _tell(*found, answers, per_label=per_label, as_json=as_json)


def _of_model(model: str, file: str, data_home: str | None) -> tuple[Found, Outputs]:
    fitted = open_model(model)
    rows = rows_for(fitted, file, data_home=data_home, truth=True)
    assert rows.Y is not None  # noqa: S101 asked for
    from skcamel.checks import names_compared
    from skcamel.data.pipeline import final

    with names_compared():
        outputs = final(fitted).outputs(rows.X)
    return (
        tuple(map(str, final(fitted).label_names_)),
        rows.Y,
        outputs.scores,
        outputs.decisions,
    ), outputs


def _answers(found: Found, outputs: Outputs, confidence: float) -> dict[str, Any]:
    """How good prediction sets are: over all labels, and label by label."""
    from skcamel.camel.link import set_rates
    from skcamel.cli.predict import sets_of

    names, Y, *_ = found
    answers = sets_of(outputs, confidence)
    total = {
        key: float(rate[0])
        for key, rate in set_rates(Y.reshape(-1, 1), answers.reshape(-1, 1)).items()
    }
    rates = {key: rate.tolist() for key, rate in set_rates(Y, answers).items()}
    each = [
        {"label": name} | {key: rate[j] for key, rate in rates.items()}
        for j, name in enumerate(names)
    ]
    return {"confidence": confidence, **total, "per_label": each}


def _of_files(truth: str, predictions: str, data_home: str | None) -> Found:
    import numpy as np

    from skcamel.cli.predict import read_predictions
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.matching import labels_of, read_labels

    names, values = read_predictions(predictions)
    if "decisions" not in values:
        raise DataError(
            "has no decision:NAME columns; write it again without --no-decisions.", path=predictions
        )
    if not np.isin(values["decisions"], (0, 1)).all():
        raise DataError(
            "decisions are 0 or 1; are these scores? Name such columns score:NAME.",
            path=predictions,
        )
    Y = (
        labels_of(load_dataset(truth, data_home), names)
        if is_catalogue_name(truth)
        else read_labels(truth, names)
    )
    if len(Y) != len(values["decisions"]):
        raise DataError(
            f"has {len(values['decisions'])} rows, {truth} has {len(Y)}; both must hold the same"
            " rows.",
            path=predictions,
        )
    return (
        names,
        Y,
        values.get("scores", values.get("probabilities")),
        values["decisions"].astype(np.int64),
    )


def _tell(
    names: tuple[str, ...],
    Y: np.ndarray,
    scores: np.ndarray | None,
    P: np.ndarray,
    answers: dict[str, Any] | None,
    *,
    per_label: bool,
    as_json: bool,
) -> None:
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
        found: dict[str, Any] = {
            "rows": len(Y),
            "labels": len(names),
            "metrics": figures,
            "edge_cases": cases,
        }
        if answers is not None:
            found["sets"] = (
                answers
                if per_label
                else {key: value for key, value in answers.items() if key != "per_label"}
            )
        found |= {"known": known} if known < 1 else {}
        say_json(found | ({"per_label": list(report)} if per_label else {}))
        return
    say(
        f"{len(Y):,} rows, {len(names):,} labels{f'; {told_unknown(known)}' if known < 1 else ''}\n"
    )
    print_metrics({"value": figures})
    if lines := [f"  {number:6,}  {EDGE_CASES[name]}" for name, number in cases.items() if number]:
        say("\n".join(["", *lines]))
    if answers is not None:
        _tell_answers(answers, per_label=per_label)
    if per_label:
        say(f"\n{report}")


def _tell_answers(answers: dict[str, Any], *, per_label: bool) -> None:
    """Write how good prediction sets are."""
    say(f"\nPrediction sets at a confidence of {answers['confidence']:g}:")
    for key, what in RATES.items():
        say(f"  {_percent(answers[key])}  {what}")
    if per_label:
        say(f"\n  {'yes right':>9}  {'missed':>9}  {'open':>9}  label")
        for row in answers["per_label"]:
            say(
                "  "
                + "  ".join(f"{_percent(row[key]):>9}" for key in RATES)
                + f"  {one_line(row['label'])}"
            )


def _percent(share: float) -> str:
    """A share of what there is, if there is any."""
    return f"{share:8.1%}" if share == share else f"{'-':>8}"


def print_metrics(columns: dict[str, dict[str, float]]) -> None:
    """Write the seven metrics, one to a line, with one column of figures for each of `columns`."""
    from skcamel.metrics import LOSSES

    say(f"  {'':18}  {'better':6}" + "".join(f"  {head:>{max(9, len(head))}}" for head in columns))
    for name in next(iter(columns.values())):
        cells = [
            f"{values[name]:.4f}" if values[name] == values[name] else "undefined"
            for values in columns.values()
        ]
        direction = "lower" if name in LOSSES else "higher"
        say(
            f"  {name:18}  {direction:6}"
            + "".join(
                f"  {cell:>{max(9, len(head))}}" for cell, head in zip(cells, columns, strict=True)
            )
        )
