"""What the five methods share as scikit-learn estimators: checks, names, scores relative to the cut, decisions."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcamel.arrays import Array
from skcamel.estimator import MultiLabelClassifier
from skcamel.inputs import check_labels, check_rows, unchanged_on_error, warn_of_constant_labels
from skcamel.outputs import Outputs

SMALLEST = float(np.finfo(np.float64).tiny)  # of the positive numbers that lose no digits


class Baseline(MultiLabelClassifier):
    """A method that scores labels by F (m, q) and predicts those with F at least as high as a cut.

    A subclass checks its parameters in `_check_parameters`, learns in `_learn(X, Y)` from float64 rows (array or CSR) and
    labels in {0, 1}, and answers with F in `_outputs(X)`; the cut is 1/2 unless `_cut` says otherwise.
    """

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
            warn_of_constant_labels(labels)
            self.classes_, self.label_names_, self._target = labels.classes, labels.names, labels.target
            self._learn(rows.astype(np.float64), (labels.Y > 0).astype(np.float64))
        return self

    def outputs(self, X: Array) -> Outputs:
        """Scores F - cut, decisions, label sets and ranks from one evaluation of the model.

        At the cut itself, where F - cut is 0 and the label is predicted, the smallest positive number stands.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        Outputs
        """
        check_is_fitted(self)
        F = self._outputs(check_rows(self, X, reset=False, pairwise=False).astype(np.float64))
        scores = F - self._cut()
        scores[scores == 0] = SMALLEST
        link = _plus_half if self._has_probabilities() else None
        return Outputs(scores, np.zeros(len(self.label_names_)), self.label_names_, self.classes_, self._target, link)


def _plus_half(scores: np.ndarray) -> np.ndarray:
    """F, without the digits that the scores cannot show: both rank alike."""
    return scores + 0.5
