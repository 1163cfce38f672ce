"""The seven metrics as scikit-learn scorers, for `cross_validate`, `GridSearchCV` and the like."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.metrics import decision, ranking
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING, choice


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
    known = {"hamming_loss": (), "macro_f1": ("absent",), "micro_f1": ("absent",)}.get(choice(name, NAMES, "name"), ("ties", "rows"))
    for convention in conventions:
        choice(convention, known, f"convention of {name}")
    return Scorer(name, conventions)


@dataclass(frozen=True)
class Scorer:
    """``scorer(estimator, X, Y)``, for any scikit-learn estimator that predicts label matrices.

    scikit-learn's own scorers take the probabilities of a two-label estimator for those of a binary one; this one reads
    `decision_function` first, stacks per-label probabilities, and knows labels that were constant in training.
    """

    name: str
    conventions: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Array, Y: Array, sample_weight: Array | None = None) -> float:
        """The metric of the estimator's predictions for X, negated where it is a loss."""
        Y = Y.toarray() if hasattr(Y, "toarray") else np.asarray(Y)
        Y = Y.reshape(len(Y), -1)
        prediction = _scores(estimator, X, Y.shape[1]) if self.name in RANKING else estimator.predict(X)
        prediction = prediction.toarray() if hasattr(prediction, "toarray") else np.asarray(prediction)
        metric = getattr(ranking if self.name in RANKING else decision, self.name)
        value = metric(Y, prediction.reshape(len(Y), -1), sample_weight=sample_weight, **self.conventions)
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
