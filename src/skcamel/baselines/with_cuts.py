"""A classifier of label matrices from elsewhere under the rule for cuts of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines.base_learner import class_one, clone_fitted
from skcamel.baselines.probabilistic import ProbabilisticBaseline


class WithCuts(ProbabilisticBaseline):
    """One classifier for all labels together, such as a forest, whose probabilities are cut as those of the other methods are.

    Parameters
    ----------
    estimator : classifier
        With a `predict_proba` for label matrices in any form of scikit-learn.
    threshold, threshold_metric
        As in :class:`BinaryRelevance`.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone.
    thresholds_ : array of shape (q,)
    label_names_ : array of shape (q,)

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> WithCuts(ExtraTreesClassifier(10, random_state=0), threshold="label").fit(X, Y).predict(X).shape
    (60, 3)
    """

    def __init__(self, estimator: Any, *, threshold: float | str = "zero", threshold_metric: str | None = None) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.threshold_metric = threshold_metric

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator must be a classifier with predict_proba, got {self.estimator!r}; pass an instance, as in "
                "ExtraTreesClassifier(500), or use BinaryRelevance, which needs no probabilities."
            )

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        self.estimator_ = clone_fitted(self.estimator, X, Y[:, 0] if Y.shape[1] == 1 else Y, weights)

    def _confidences(self, X: Array) -> np.ndarray:
        given = self.estimator_.predict_proba(X)
        if isinstance(given, list):
            return np.column_stack([class_one(P, classes) for P, classes in zip(given, self.estimator_.classes_, strict=True)])
        return class_one(given, self.estimator_.classes_)[:, None] if len(self.label_names_) == 1 else np.asarray(given)
