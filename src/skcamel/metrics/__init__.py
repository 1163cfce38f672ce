"""The seven metrics of the paper with their conventions, per-label report, edge-case count and scorers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING, as_decisions, as_scores, as_weights, check_conventions, choice
from skcamel.metrics.decision import (
    EdgeCases,
    LabelReport,
    count,
    decision_metrics,
    edge_cases,
    hamming_loss,
    macro_f1,
    micro_f1,
    report,
)
from skcamel.metrics.ranking import average_precision, coverage, one_error, ranking_loss, ranking_metrics

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


def evaluate(
    Y: Array,
    scores: Array,
    P: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    absent: float = 1.0,
    sample_weight: Array | None = None,
) -> dict[str, float]:
    """The seven metrics of the paper.

    Parameters
    ----------
    Y : array of shape (n, q)
        Truth in {0, 1} or {-1, +1}.
    scores, P : arrays of shape (n, q)
        Scores for the four ranking metrics, decisions for the other three.
    ties, rows, absent
        Conventions, see :mod:`skcamel.metrics.conventions`.
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
    relevant, predicted = as_decisions(Y, P)
    scores = as_scores(scores, relevant)
    check_conventions(ties, rows)
    weights = as_weights(sample_weight, relevant)
    values = ranking_metrics(relevant, scores, ties=ties, rows=rows, weights=weights)
    values |= decision_metrics(count(relevant, predicted, weights), absent)
    return {name: float(values[name]) for name in NAMES}


def get_scorer(name: str, **conventions: Any) -> Scorer:
    """A scikit-learn scorer for one of the seven metrics; losses are negated, so that larger is always better.

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
    known = ("ties", "rows") if choice(name, NAMES, "name") in RANKING else () if name == "hamming_loss" else ("absent",)
    for convention in conventions:
        choice(convention, known, f"convention of {name}")
    return Scorer(name, conventions)


_FUNCTIONS = {
    metric.__name__: metric for metric in (one_error, hamming_loss, coverage, ranking_loss, average_precision, macro_f1, micro_f1)
}


@dataclass(frozen=True)
class Scorer:
    """``scorer(estimator, X, Y)``, for any scikit-learn estimator that predicts label matrices.

    scikit-learn's own scorers take the probabilities of a two-label estimator for those of a binary one; this one reads
    `decision_function` first, stacks per-label probabilities, and knows labels that were constant in training.
    """

    name: str
    conventions: dict[str, Any]

    def __call__(self, estimator: Any, X: Array, Y: Array, sample_weight: Array | None = None) -> float:
        """The metric of the estimator's predictions for X, negated where it is a loss."""
        Y = _as_matrix(Y)
        prediction = _as_matrix(_scores(estimator, X, Y.shape[1]) if self.name in RANKING else estimator.predict(X))
        value = _FUNCTIONS[self.name](Y, prediction, sample_weight=sample_weight, **self.conventions)
        return -value if self.name in LOSSES else value


def _scores(estimator: Any, X: Array, n_labels: int) -> np.ndarray:
    """One score per row and label, (n, q)."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):  # one (n, 2) for each label, or (n, 1) where training saw one class alone
        columns = zip(probabilities, estimator.classes_, strict=True)
        return np.column_stack([p[:, 1] if p.shape[1] == 2 else np.full(len(p), float(classes[0])) for p, classes in columns])
    return probabilities[:, -1] if n_labels == 1 else probabilities


def _as_matrix(x: Array) -> np.ndarray:
    """A dense array with one row per instance."""
    x = x.toarray() if hasattr(x, "toarray") else np.asarray(x)
    return x.reshape(len(x), -1)
