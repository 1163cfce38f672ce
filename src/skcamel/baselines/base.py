"""What the five methods share as scikit-learn estimators: checks, names, scores F - 1/2, and cuts that may be tuned on inner folds."""

from __future__ import annotations

import warnings
from copy import copy
from typing import ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array
from skcamel.checks import check_labels, check_rows, check_threshold, check_weights, unchanged_on_error, warn_of_constant_labels
from skcamel.estimator import MultiLabelClassifier, Outputs
from skcamel.selection.engine import chosen_rule
from skcamel.selection.thresholds import AUTO, MODES

SMALLEST = float(np.finfo(np.float64).tiny)  # of the positive numbers that lose no digits
INNER_FOLDS = 5
TrainingData = tuple[Array, np.ndarray, np.ndarray | None]  # X (n, d), Y (n, q) in {0, 1}, weights (n,)


class Baseline(MultiLabelClassifier):
    """A method that rates labels by F (m, q); its scores are F - 1/2, and labels with a score above their cut are predicted.

    A subclass has the parameters `threshold` and `threshold_metric`, checks its others in `_check_parameters`, learns in
    `_learn(X, Y, weights)` from float64 rows (array or CSR), labels in {0, 1} and positive weights or None, and answers with F in
    `_confidences(X)`.
    """

    THRESHOLDS: ClassVar[tuple[str, ...]] = MODES
    threshold: float | str
    threshold_metric: str | None

    def _check_parameters(self) -> None:
        check_threshold(self.threshold, self.threshold_metric, self.THRESHOLDS)

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        raise NotImplementedError

    def _confidences(self, X: Array) -> np.ndarray:
        raise NotImplementedError

    def fit(self, X: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d)
        y : array, sparse matrix or frame of shape (n, q)
            Labels Y in {0, 1} or {-1, +1}; column names of a frame are kept. A 1-d y of classes is accepted too.
        sample_weight : array of shape (n,), default=None
            An integer weight equals that many copies of the row, but for what is drawn at random: bootstrap samples and folds.
            Penalties and tolerances count against these copies, so give numbers near 1.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            rows = check_rows(self, X, reset=True, pairwise=False)
            labels = check_labels(y, rows.shape[0])
            weights = check_weights(sample_weight, rows.shape[0])
            warn_of_constant_labels(labels, weights)
            self.classes_, self.label_names_, self._target = labels.classes, labels.names, labels.target
            self.thresholds_ = self._learn_all(rows.astype(np.float64), (labels.Y > 0).astype(np.float64), weights)
        return self

    def _learn_all(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Learn from the rows that have weight, and return the cuts, (q,)."""
        X, Y, weights = with_weight(X, Y, weights)
        self._learn(X, Y, weights)
        return self._cuts(X, Y, weights)

    def _cuts(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Cuts of the labels, (q,); tuned ones come from the scores of inner folds."""
        rule = self._rule()
        if not rule.is_tuned and rule.mode != AUTO:
            return rule.cuts(Y > 0, Y, weights)
        scores = self._held_out_scores(X, Y, weights)
        return chosen_rule(Y > 0, scores, rule, getattr(self, "scoring", ""), weights=weights).cuts(Y > 0, scores, weights)

    def _held_out_scores(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Score of every row by a model that learned without its fold, (n, q)."""
        if len(Y) < 2:
            raise ValueError(
                f"threshold={self.threshold!r} is tuned on inner folds, which need at least 2 rows, got n_samples = {len(Y)}; "
                "use threshold='zero'."
            )
        seed = getattr(self, "random_state", None)
        folds = KFold(min(INNER_FOLDS, len(Y)), shuffle=True, random_state=0 if seed is None else seed)
        scores = np.empty(Y.shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all rows has told
            for train, test in folds.split(Y):
                model = copy(self)
                model._learn(*some_rows(X, Y, weights, train))
                scores[test] = model._scores(X[test])
        return scores

    def _scores(self, X: Array) -> np.ndarray:
        return half_less(self._confidences(X))

    def outputs(self, X: Array) -> Outputs:
        """Scores F - 1/2, decisions, label sets and ranks from one evaluation of the model.

        Where F is 1/2 the smallest positive number stands: the methods predict a label then.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        Outputs
        """
        check_is_fitted(self)
        scores = self._scores(check_rows(self, X, reset=False, pairwise=False).astype(np.float64))
        link = _half_more if self._has_probabilities() else None
        return Outputs(scores, self.thresholds_, self.label_names_, self.classes_, self._target, link)


def half_less(F: np.ndarray) -> np.ndarray:
    """Scores F - 1/2; 0 becomes the smallest positive number.

    Examples
    --------
    >>> half_less(np.array([0.25, 0.5, 1.0])) > 0
    array([False,  True,  True])
    """
    scores = F - 0.5
    scores[scores == 0] = SMALLEST
    return scores


def _half_more(scores: np.ndarray) -> np.ndarray:
    """F, without the digits that the scores cannot show: both rank alike."""
    return scores + 0.5


def some_rows(X: Array, Y: np.ndarray, weights: np.ndarray | None, rows: np.ndarray) -> TrainingData:
    """A part of the training data."""
    return X[rows], Y[rows], None if weights is None else weights[rows]


def with_weight(X: Array, Y: np.ndarray, weights: np.ndarray | None) -> TrainingData:
    """The rows that have weight."""
    return (X, Y, weights) if weights is None or weights.all() else some_rows(X, Y, weights, np.flatnonzero(weights))
