"""How good each label is, and how its F1 depends on the cut."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score

from skcamel.experiment.paper import rounded
from skcamel.metrics import LOSSES, evaluate, report
from skcamel.report.facts import Evaluated, ModelFacts
from skcamel.report.page import Column, Section, count
from skcamel.selection.thresholds import f1_curves

POINTS, MOST_POINTS = 100, 20_000  # of a threshold curve and of all; the best point of each is always among them
METRIC_TITLES = {
    "one_error": "One-error",
    "hamming_loss": "Hamming loss",
    "coverage": "Coverage",
    "ranking_loss": "Ranking loss",
    "average_precision": "Average precision",
    "macro_f1": "Macro-F1",
    "micro_f1": "Micro-F1",
}
COLUMNS = (
    Column("Label"),
    Column("Positives", 0, "rows that have the label"),
    Column("Predicted", 0, "rows for which it is predicted"),
    Column("Precision", 3, "share of the predicted that are right"),
    Column("Recall", 3, "share of the positives that are found"),
    Column("F1", 3, "harmonic mean of precision and recall; 1 where the label is neither present nor predicted"),
    Column("Average precision", 3, "area under the precision-recall curve; does not depend on the cut"),
    Column("Cut", 3, "a score above it is a decision for the label"),
    Column("Best F1", 3, "the most that any cut would reach on these rows"),
)


def quality_section(facts: ModelFacts, found: Evaluated) -> Section:
    """The seven metrics, a table of labels, and threshold curves."""
    Y, P = found.relevant.astype(np.int64), found.predicted
    curves = f1_curves(found.relevant, found.scores)
    cuts = facts.model.thresholds_
    rows = [
        (
            row["label"],
            row["positives"],
            row["predicted"],
            row["precision"],
            row["recall"],
            row["f1"],
            _precision(found, j),
            cuts[j],
            f1.max(),
        )
        for j, (row, (_, f1)) in enumerate(zip(report(Y, P, label_names=facts.names), curves, strict=True))
    ]
    points = min(POINTS, max(10, MOST_POINTS // len(curves)))
    seven = evaluate(Y, found.scores, P)
    context = {
        "rows": count(len(Y), "row"),
        "note": f"{_note(found)} {found.note}".strip(),
        "metrics": [(METRIC_TITLES[name], rounded(value), "↓" if name in LOSSES else "↑") for name, value in seven.items()],
        "columns": COLUMNS,
        "table": rows,
    }
    data = {"cuts": cuts, "curves": [_thinned(*curve, points) for curve in curves], "f1": [float(row[5]) for row in rows]}
    return Section("quality", "Quality by label", context, data, ("quality.js",))


def _precision(found: Evaluated, j: int) -> float:
    relevant = found.relevant[:, j]
    return float(average_precision_score(relevant, found.scores[:, j])) if relevant.any() else float("nan")


def _thinned(cuts: np.ndarray, f1: np.ndarray, points: int) -> np.ndarray:
    """At most `points` + 1 of the points of a curve, evenly along the rows, with its best one; (2, k)."""
    kept = np.unique([*np.linspace(0, len(cuts) - 1, min(points, len(cuts))).astype(int), int(f1.argmax())])
    return np.array([cuts[kept], f1[kept]])


def _note(found: Evaluated) -> str:
    seen, m = found.n_seen, len(found.scores)
    if not seen:
        return "None of these rows was seen in training."
    which = "All of these rows were" if seen == m else f"{seen:,} of these rows {'was' if seen == 1 else 'were'}"
    return f"{which} seen in training: the figures are better than they would be on new rows."
