"""Metrics of probabilities, entry by entry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skcamel.arrays import Array, to_numpy
from skcamel.metrics.conventions import as_scores, as_truth, as_weights, row_mean


def log_loss(Y: Array, probabilities: Array, *, sample_weight: Array | None = None) -> float:
    """Mean over known entries of -log of the probability that was given to the truth; smaller is better.

    Probabilities are kept off 0 and 1 by the precision of float64, 2.2e-16, as scikit-learn does.

    Parameters
    ----------
    Y : array of shape (n, q)
        Truth in {0, 1} or {-1, +1}; NaN where unknown.
    probabilities : array of shape (n, q)
        Of every label, each between 0 and 1.
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> round(log_loss([[1, 0]], [[0.5, 0.5]]), 4)
    0.6931
    """
    least = np.finfo(np.float64).eps
    return _mean_of_entries(Y, probabilities, lambda truth: -np.log(np.clip(truth, least, 1 - least)), sample_weight)


def brier(Y: Array, probabilities: Array, *, sample_weight: Array | None = None) -> float:
    """Mean over known entries of the squared distance between probability and truth; smaller is better.

    Parameters as in :func:`log_loss`.

    Examples
    --------
    >>> brier([[1, 0]], [[0.5, 1.0]])
    0.625
    """
    return _mean_of_entries(Y, probabilities, lambda truth: (1 - truth) ** 2, sample_weight)


def _mean_of_entries(Y: Array, probabilities: Array, loss: Callable[[np.ndarray], np.ndarray], sample_weight: Array | None) -> float:
    """Mean of the loss of the probability (n, q) that each known entry gives to its truth."""
    relevant, known = as_truth(Y)
    P, relevant = to_numpy(as_scores(probabilities, relevant)), to_numpy(relevant)
    if ((P < 0) | (P > 1)).any():
        raise ValueError(f"probabilities must lie between 0 and 1; found {P.min():g} to {P.max():g}; scores are no probabilities.")
    weights = as_weights(sample_weight, P)
    entries = np.ones_like(P) if known is None else to_numpy(known).astype(np.float64)
    return row_mean(loss(np.where(relevant, P, 1 - P)).ravel(), (entries if weights is None else entries * weights[:, None]).ravel())
