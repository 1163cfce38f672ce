"""Comparison methods whose F is a probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from skcamel.arrays import Array
from skcamel.baselines.base import Baseline

BELOW_HALF = np.nextafter(0.5, 0)


def _offers_probabilities(estimator: Any) -> bool:
    """Not for three or more exclusive classes, whose F does not add up to one, nor for shares of votes."""
    return getattr(estimator, "_target", "matrix") != "multiclass" and getattr(estimator, "combine", "confidence") != "vote"


class ProbabilisticBaseline(Baseline):
    """A method with `predict_proba`."""

    @available_if(_offers_probabilities)
    def predict_proba(self, X: Array) -> np.ndarray:
        """F itself: the probability of every label; a label is predicted where it is at least 1/2.

        Not offered after a fit on a 1-d y of three or more classes, nor for ``combine="vote"``: there F is
        ``decision_function`` plus 1/2, a share of votes.

        Parameters
        ----------
        X : array or CSR matrix of shape (m, d)

        Returns
        -------
        array of shape (m, q), or (m, 2) after a fit on a binary 1-d y
        """
        F = (self._checked_outputs(X) - 0.5) + 0.5  # without the digits that decision_function cannot show: both rank alike
        if self._target != "binary":
            return F
        against = np.where(F == 0.5, BELOW_HALF, 1 - F)  # at a tie the second class is predicted
        return np.column_stack([against, F])[:, : len(self.classes_)]
