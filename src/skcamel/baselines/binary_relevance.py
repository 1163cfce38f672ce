"""Binary relevance: one model for each label, from the features alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines.base import LogisticBaseline, convergence_warning, fit_one, positive_probability
from skcamel.baselines.logistic import fit_logistic


@dataclass(eq=False, repr=False)
class BinaryRelevance(LogisticBaseline):
    """One unregularised logistic regression for each label (BR).

    Parameters
    ----------
    base_estimator : classifier, default=None
        Any scikit-learn classifier, cloned for each label. None: logistic regression with ridge 1e-8 on standardised
        columns, all labels solved together. A classifier without `predict_proba` is asked for its `decision_function` s, and
        1 / (1 + exp(-s)) stands for the probability.
    threshold : {"zero", "common", "label"} or float, default="zero"
        Cut between scores F - 1/2 and decisions: 0, one tuned cut, one tuned cut per label, or a number. Tuned on the scores of
        5 shuffled inner folds; cuts of rare labels are drawn towards the common cut.
    threshold_metric : {"micro_f1", "macro_f1", "hamming_loss"}, default=None
        What tuned cuts aim at; None: micro_f1 for "common", macro_f1 for "label".
    max_iter : int, default=1000
        Limit of the steps of the logistic solver.
    tol : float, default=1e-4
        A logistic model is done when no entry of its gradient exceeds `tol` times the number of rows.

    Attributes
    ----------
    thresholds_ : array of shape (q,)
        Cuts; a label is predicted where its score exceeds its cut.
    n_iter_ : int
        Steps of the slowest label; 1 with a `base_estimator`.
    label_names_ : array of shape (q,)
    classes_ : array
        Label numbers, or the classes of a 1-d y.
    n_features_in_ : int
    feature_names_in_ : array of shape (d,)

    Notes
    -----
    A label with one class in training gets that class with probability 1. Where a label can be separated by the features
    its weights would grow for ever; they stop when the loss of all rows together is below 0.01.

    Examples
    --------
    >>> from skcamel.baselines import BinaryRelevance
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [1, 1], [0, 1], [1, 1]]
    >>> BinaryRelevance().fit(X, Y).predict_proba(X).round(2)
    array([[0.2 , 1.  ],
           [0.39, 1.  ],
           [0.61, 1.  ],
           [0.8 , 1.  ]])
    """

    base_estimator: Any = None
    PROBABILISTIC: ClassVar[bool] = True

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        self.n_iter_ = 1
        self.model_: Any = None
        self.estimators_: list[Any] | None = None
        if self.base_estimator is not None:
            self.estimators_ = [fit_one(self.base_estimator, X, y, weights=weights) for y in Y.T]
            return
        with convergence_warning():
            self.model_ = fit_logistic(X, Y, weights, tol=self.tol, max_iter=self.max_iter)
        self.n_iter_ = max(1, int(self.model_.ending.n_iter.max(initial=0)))

    def _confidences(self, X: Array) -> np.ndarray:
        if self.estimators_ is not None:
            return np.column_stack([positive_probability(model, X) for model in self.estimators_])
        return self.model_.probabilities(X)
