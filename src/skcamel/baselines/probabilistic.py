"""Comparison methods whose F is a probability."""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if

from skcamel.arrays import Array
from skcamel.baselines.base import Baseline


def _offers_probabilities(estimator: Baseline) -> bool:
    """Not for three or more exclusive classes: their F does not add up to one."""
    return getattr(estimator, "_target", "matrix") != "multiclass"


class ProbabilisticBaseline(Baseline):
    """A method with `predict_proba`."""

    @available_if(_offers_probabilities)
    def predict_proba(self, X: Array) -> np.ndarray:
        """F itself: the probability of every label; a label is predicted where it is at least 1/2.

        Not offered after a fit on a 1-d y of three or more classes.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), or (m, 2) after a fit on a binary 1-d y
        """
        F = (self._checked_outputs(X) - 0.5) + 0.5  # without the digits that decision_function cannot show: both rank alike
        return np.column_stack([1 - F, F])[:, : len(self.classes_)] if self._target == "binary" else F
