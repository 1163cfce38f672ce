"""The seven metrics as scikit-learn scorers, for `cross_validate`, `GridSearchCV` and the like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer

from skcamel.arrays import Array
from skcamel.metrics import decision, ranking
from skcamel.metrics.conventions import LOSSES, NAMES, RANKING, choice

_FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(ranking if name in RANKING else decision, name) for name in NAMES
}


def get_scorer(name: str, **conventions: Any) -> Callable[..., float]:
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
    metric = _FUNCTIONS[choice(name, NAMES, "name")]
    if name not in RANKING:
        return make_scorer(_on_matrix(metric), response_method="predict", greater_is_better=name not in LOSSES, **conventions)
    # decision_function first: with two labels scikit-learn takes predict_proba for that of a binary problem.
    return make_scorer(
        _on_matrix(metric), response_method=("decision_function", "predict_proba"), greater_is_better=name not in LOSSES, **conventions
    )


class _on_matrix:  # noqa: N801 - a function with a name, so that scorers can be pickled
    """The metric with lists of per-label (n, 2) probabilities stacked and single columns made two-dimensional."""

    def __init__(self, metric: Callable[..., float]) -> None:
        self.metric, self.__name__ = metric, metric.__name__

    def __call__(self, Y: Array, prediction: Array, **options: Any) -> float:
        if isinstance(prediction, list):
            prediction = np.column_stack([column[:, 1] for column in prediction])
        if not hasattr(Y, "toarray"):
            Y = np.asarray(Y)
        if Y.ndim == 1:
            Y, prediction = Y[:, None], np.reshape(prediction, (len(Y), -1))
        return self.metric(Y, prediction, **options)
