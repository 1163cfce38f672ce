"""ML-MLM, the minimal learning machine for many labels (Hämäläinen et al., 2023).

It learns a linear map from the distances between a row and the training rows to the distances
between their labels, and predicts by weighted votes: with the predicted distance d_i to the labels
y_i of training row i, the score of a label is

    Σ_i d_i^-p y_i / Σ_i d_i^-p

The map interpolates: B = D_x⁻¹ D_y with the distances of all training rows. Without row i it would
predict the row's own distances as D_y - (D_x⁻¹ D_y)_i / (D_x⁻¹)_ii, so the power p with the least
ranking loss is found without refitting. This is our reading of arXiv 2305.05518; we had no code of
the authors to compare with. Ours are the candidates for p, the Euclidean distances of the labels,
a diagonal of -1e-6 times the mean distance, which makes equal rows harmless, and distances of at
least 1e-6.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skcamel.metrics import ranking_loss

POWERS = (1, 2, 4, 8, 16, 32, 64)
SHIFT = 1e-6  # of the diagonal, as a share of the mean distance
NEAREST = 1e-6  # shorter predicted distances count as this one


class MinimalLearningMachine(ClassifierMixin, BaseEstimator):
    """Votes of all training rows, weighted by predicted distances between label vectors.

    Parameters
    ----------
    powers : sequence of int, default=POWERS
        Candidates for p.

    Attributes
    ----------
    power_ : int
        The candidate with the least ranking loss when each training row is left out.
    """

    def __init__(self, powers: tuple[int, ...] = POWERS) -> None:
        self.powers = powers

    def fit(self, X: np.ndarray, Y: np.ndarray) -> Self:
        """Learn from dense rows X (n, d) and labels Y (n, q) in {0, 1}."""
        self.rows_, self.labels_ = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        self.classes_ = np.arange(self.labels_.shape[1])
        D = cdist(self.rows_, self.rows_)
        np.fill_diagonal(D, -SHIFT * max(D.mean(), np.finfo(float).tiny))
        inverse = linalg.inv(D, overwrite_a=True, check_finite=False)
        of_labels = cdist(self.labels_, self.labels_)
        self.map_ = inverse @ of_labels
        left_out = of_labels - self.map_ / np.diag(inverse)[:, None]
        np.fill_diagonal(left_out, np.inf)  # no vote of its own
        losses = [
            ranking_loss(self.labels_, votes(left_out, self.labels_, power))
            for power in self.powers
        ]
        self.power_ = self.powers[int(np.nanargmin(losses))]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Share of the votes for each label, (m, q)."""
        check_is_fitted(self)
        distances = cdist(np.asarray(X, dtype=float), self.rows_) @ self.map_
        return votes(distances, self.labels_, self.power_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Labels with at least half of the votes, (m, q)."""
        return (self.predict_proba(X) >= 0.5).astype(int)


def votes(distances: np.ndarray, labels: np.ndarray, power: int) -> np.ndarray:
    """Weighted means of the labels (n, q), with weights distance^-power, (m, q).

    >>> votes(np.array([[1.0, 2.0]]), np.array([[1.0], [0.0]]), 2).tolist()
    [[0.8]]
    """
    distances = np.maximum(distances, NEAREST)
    nearest = distances.min(axis=1, keepdims=True)  # so that no power overflows
    weights = (nearest / distances) ** power
    return (weights @ labels) / weights.sum(axis=1, keepdims=True)
