"""The seven metrics of the paper, reports of labels, edge cases and scorers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skcamel.arrays import Array, MaybeArray, Params, by_name, default_names, to_numpy
from skcamel.checks import as_array, choice
from skcamel.metrics.seven import (
    LOSSES,
    NAMES,
    RANKING,
    as_decisions,
    as_scores,
    as_weights,
    average_precision,
    count,
    counted,
    coverage,
    decision_metrics,
    f1_of,
    hamming_loss,
    macro_f1,
    micro_f1,
    one_error,
    ranking_loss,
    ranking_metrics,
)
from skcamel.names import lazily
from skcamel.text import one_line

__all__ = [
    "LOSSES",
    "NAMES",
    "RANKING",
    "EdgeCases",
    "LabelReport",
    "average_precision",
    "coverage",
    "edge_cases",
    "evaluate",
    "get_scorer",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "one_error",
    "ranking_loss",
    "report",
]

__getattr__, _ = lazily(__name__, {})  # of names that went
COLUMNS = {
    "known": "7g",
    "positives": "9g",
    "predicted": "9g",
    "precision": "9.3f",
    "recall": "6.3f",
    "f1": "5.3f",
}  # of a report


def evaluate(
    Y: Array,
    scores: Array,
    P: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    absent: float = 1.0,
    sample_weight: MaybeArray = None,
) -> dict[str, float]:
    """The seven metrics of the paper.

    Parameters
    ----------
    Y : array of shape (n, q)
        Truth in {0, 1} or {-1, +1}; NaN where unknown, see :mod:`skcamel.metrics.seven`.
    scores, P : arrays of shape (n, q)
        Scores for the four ranking metrics, decisions for the other three.
    ties, rows, absent
        Conventions, see :mod:`skcamel.metrics.seven`.
    sample_weight : array of shape (n,), default=None

    Returns
    -------
    dict
        The seven names with their values.

    Examples
    --------
    >>> Y, F = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> for name, value in evaluate(Y, F, F >= 0.5).items():
    ...     print(f"{name:18}{value:.3f}")
    one_error         0.500
    hamming_loss      0.167
    coverage          0.333
    ranking_loss      0.250
    average_precision 0.750
    macro_f1          0.889
    micro_f1          0.857
    """
    relevant, predicted, known = as_decisions(Y, P)
    scores = as_scores(scores, relevant)
    weights = as_weights(sample_weight, relevant)
    values = ranking_metrics(relevant, scores, ties=ties, rows=rows, weights=weights, known=known)
    values |= decision_metrics(count(relevant, predicted, weights, known), absent)
    return {name: float(values[name]) for name in NAMES}


@dataclass(frozen=True)
class EdgeCases:
    """How many rows and labels meet a case in which conventions differ."""

    rows_without_labels: int
    rows_with_all_labels: int
    labels_absent: int  # neither true nor predicted anywhere: F1 is 0/0
    labels_never_true: int
    labels_never_predicted: int


def edge_cases(Y: Array, P: Array) -> EdgeCases:
    """Count the edge cases of truth Y and decisions P, both (n, q).

    Unknown entries of Y, which are NaN, do not count: neither their truth nor their decisions. Rows
    and labels of which nothing is known are no edge case.

    Examples
    --------
    >>> edge_cases([[0, 0], [1, 0]], [[1, 0], [1, 0]])  # doctest: +NORMALIZE_WHITESPACE
    EdgeCases(rows_without_labels=1, rows_with_all_labels=0, labels_absent=1, labels_never_true=1,
              labels_never_predicted=1)
    """
    relevant, predicted, known = as_decisions(Y, P)
    if known is None:
        known = relevant | True
    relevant, predicted, known = map(to_numpy, (relevant, predicted & known, known))
    rows = known.any(axis=1)
    labels = known.any(axis=0)
    without = rows & ~relevant.any(axis=1)
    with_all = rows & ~(known & ~relevant).any(axis=1)
    never_true = labels & ~relevant.any(axis=0)
    never_predicted = labels & ~predicted.any(axis=0)
    cases = (without, with_all, never_true & never_predicted, never_true, never_predicted)
    return EdgeCases(*(int(case.sum()) for case in cases))


@dataclass(frozen=True)
class LabelReport:
    """Per-label results: iterates over one mapping per label and prints as a table."""

    rows: tuple[Mapping[str, Any], ...]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        columns = [column for column in COLUMNS if column in self.rows[0]]
        names = [one_line(row["label"]) for row in self.rows]
        width = max(5, *map(len, names))
        titles = [column.replace("f1", "F1").rjust(int(COLUMNS[column][0])) for column in columns]
        lines = ["  ".join(["label".ljust(width), *titles])]
        for name, row in zip(names, self.rows, strict=True):
            cells = [format(row[column], COLUMNS[column]) for column in columns]
            lines.append("  ".join([name.ljust(width), *cells]))
        return "\n".join(lines)


def report(
    Y: Array,
    P: Array,
    *,
    label_names: Sequence[str] | MaybeArray = None,
    absent: float = 1.0,
    sample_weight: MaybeArray = None,
) -> LabelReport:
    """Counts, precision, recall and F1 of every label.

    Parameters
    ----------
    Y, P, sample_weight
        As in :func:`hamming_loss`.
    label_names : sequence of str, default=None
        Names for the rows of the report; "label1", "label2" … by default.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted; precision or recall of 0/0 is NaN.

    Returns
    -------
    LabelReport
        If some entries of Y are unknown (NaN), with the number of known ones of each label; all
        other figures count these alone, and F1 is NaN where there are none.

    Examples
    --------
    >>> print(report([[1, 0], [1, 1]], [[1, 1], [0, 1]], label_names=["sea", "sun"]))
    label  positives  predicted  precision  recall     F1
    sea            2          1      1.000   0.500  0.667
    sun            1          2      0.500   1.000  0.667
    >>> print(report([[1, 0], [1, np.nan]], [[1, 1], [0, 1]], label_names=["sea", "sun"]))
    label    known  positives  predicted  precision  recall     F1
    sea          2          2          1      1.000   0.500  0.667
    sun          1          0          1      0.000     nan  0.000
    """
    counts = counted(Y, P, sample_weight)
    hits, predicted, positives = (to_numpy(part) for part in counts[:3])
    if label_names is None:
        names = default_names("label", len(hits))
    else:
        names = [str(name) for name in label_names]
    if len(names) != len(hits):
        raise ValueError(
            f"Got {len(names)} label_names for {len(hits)} labels; give one name for each column"
            " of Y."
        )
    figures = {"positives": positives, "predicted": predicted}
    with np.errstate(invalid="ignore"):
        figures |= {"precision": hits / predicted, "recall": hits / positives}
    figures["f1"] = f1_of(hits, predicted, positives, absent)
    if counts.known is not None:
        figures["known"] = to_numpy(counts.known)
        figures["f1"] = np.where(figures["known"] > 0, figures["f1"], np.nan)
    rows: list[Params] = []
    for j, name in enumerate(names):
        row = {key: float(values[j]) for key, values in figures.items()}
        rows.append({"label": name} | row)
    return LabelReport(tuple(rows))


def get_scorer(name: str, **conventions: Any) -> Scorer:
    """A scikit-learn scorer for one of the seven metrics; losses are negated.

    Parameters
    ----------
    name : str
        One of `skcamel.metrics.NAMES`.
    **conventions
        Passed on to the metric: ties, rows, absent.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.model_selection import cross_val_score
    >>> from skcamel import CamelClassifier
    >>> X, Y = make_multilabel_classification(60, random_state=0)
    >>> cross_val_score(CamelClassifier(), X, Y, scoring=get_scorer("ranking_loss"), cv=3).shape
    (3,)
    """
    choice(name, NAMES, "name")
    if name in RANKING:
        known = ("ties", "rows")
    else:
        known = ("absent",)
    for convention in conventions:
        choice(convention, () if name == "hamming_loss" else known, f"convention of {name}")
    return Scorer(name, conventions)


@dataclass(frozen=True)
class Scorer:
    """``scorer(estimator, X, Y)``, for any scikit-learn estimator that predicts label matrices.

    scikit-learn's scorers take the probabilities of a two-label estimator for those of a binary
    one; this one reads `decision_function` first, stacks per-label probabilities, and knows labels
    that were constant in training.
    """

    name: str
    conventions: Params

    def __call__(
        self, estimator: Any, X: Array, Y: Array, sample_weight: MaybeArray = None
    ) -> float:
        """The metric of the estimator's predictions for X, negated if it is a loss."""
        Y = _as_matrix(by_name(Y, getattr(estimator, "label_names_", ())))
        if self.name in RANKING:
            prediction = _scores(estimator, X, Y.shape[1])
        else:
            prediction = estimator.predict(X)
        metric = globals()[self.name]
        value = metric(Y, _as_matrix(prediction), sample_weight=sample_weight, **self.conventions)
        if self.name in LOSSES:
            return -value
        return value


def _scores(estimator: Any, X: Array, n_labels: int) -> Array:
    """One score per row and label, (n, q)."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        # one (n, 2) for each label, or (n, 1) where training saw one class alone
        of_labels = zip(probabilities, estimator.classes_, strict=True)
        return np.column_stack([p @ classes for p, classes in of_labels])
    if n_labels == 1:
        return probabilities[:, -1]
    return probabilities


def _as_matrix(x: Array) -> Array:
    x = as_array(x)
    return x.reshape(len(x), -1)
