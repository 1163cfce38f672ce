"""What the five methods share as scikit-learn estimators: checks, names, scores relative to the cut, decisions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array
from skcamel.inputs import check_labels, check_rows, unchanged_on_error


class Baseline(MultiOutputMixin, ClassifierMixin, BaseEstimator):
    """A method that scores labels by F (m, q) and predicts those with F at least as high as a cut.

    A subclass checks its parameters in `_check_parameters`, learns in `_learn(X, Y)` from float64 rows (array or CSR) and
    labels in {0, 1}, and answers with F in `_outputs(X)`; the cut is 1/2 unless `_cut` says otherwise.
    """

    def __sklearn_tags__(self) -> Any:
        """Multi-label, also single-label; sparse rows."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _learn(self, X: Array, Y: np.ndarray) -> None:
        raise NotImplementedError

    def _outputs(self, X: Array) -> np.ndarray:
        raise NotImplementedError

    def _cut(self) -> float:
        return 0.5

    def fit(self, X: Array, y: Array) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : array, CSR matrix or frame of shape (n, d)
        y : array, sparse matrix or frame of shape (n, q)
            Labels Y in {0, 1} or {-1, +1}; column names of a frame are kept. A 1-d y of classes is accepted too.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            rows = check_rows(self, X, reset=True, pairwise=False)
            labels = check_labels(y, rows.shape[0])
            self.classes_, self.label_names_, self._target = labels.classes, labels.names, labels.target
            self._learn(rows.astype(np.float64), (labels.Y > 0).astype(np.float64))
        return self

    def decision_function(self, X: Array) -> np.ndarray:
        """F minus the cut: positive exactly where a label is predicted.

        At the cut itself, where F - cut is 0 and the label is predicted, the smallest positive number stands.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), or (m,) after a fit on a binary 1-d y
        """
        F = self._checked_outputs(X)
        scores = F - self._cut()
        if self._target == "multiclass":
            return scores
        scores = np.where(scores == 0, np.finfo(np.float64).tiny, scores)
        return scores[:, 0] if self._target == "binary" else scores

    def predict(self, X: Array) -> np.ndarray:
        """Decisions: int64 {0, 1} of shape (m, q), or classes of shape (m,) after a fit on a 1-d y.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        F = self._checked_outputs(X)
        if self._target == "multiclass":
            return self.classes_[F.argmax(axis=1)]
        positive = (self._cut() <= F).astype(np.int64)
        if self._target == "binary":  # y may have held one class only
            return self.classes_[np.minimum(positive[:, 0], len(self.classes_) - 1)]
        return positive

    def label_sets(self, X: Array) -> list[tuple[str, ...]]:
        """Names of the predicted labels of every row.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)
        """
        return [tuple(self.label_names_[row]) for row in self._cut() <= self._checked_outputs(X)]

    def _checked_outputs(self, X: Array) -> np.ndarray:
        check_is_fitted(self)
        return self._outputs(check_rows(self, X, reset=False, pairwise=False).astype(np.float64))
