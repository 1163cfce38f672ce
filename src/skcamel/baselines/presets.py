"""How LLSF and JFSC see the features: as their authors prepared them ("faithful"), or so that dense sets are not spoiled ("fair")."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel import scaling
from skcamel.arrays import Array

NAMES = ("faithful", "fair")


class Prepared(NamedTuple):
    """Training data as the sequence sees it, and what is needed to score new rows."""

    scale: scaling.Scaling
    X: Array  # (n, d), with a last column of ones where that is the intercept
    Y: np.ndarray  # (n, q)
    x_mean: np.ndarray | None  # (d,) where X was centred
    y_mean: np.ndarray | None  # (q,) where Y was centred
    extended: bool = False  # whether the last column is the constant

    def weights(self, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (..., q, d) and intercepts (..., q) for scaled but neither centred nor extended rows."""
        if self.x_mean is not None and self.y_mean is not None:
            return W, self.y_mean - W @ self.x_mean
        if self.extended:
            return W[..., :-1], W[..., -1]
        return W, np.zeros(W.shape[:-1])


def prepare(preset: str, X: Array, Y: np.ndarray, weights: np.ndarray | None = None, *, intercept: bool) -> Prepared:
    """Training rows under a preset.

    "faithful": rows of unit length, the intercept a column of ones that is penalised like any other. "fair": columns
    mapped to [0, 1], for which sparse rows become dense, the intercept unpenalised by centring X and Y.

    Parameters
    ----------
    preset : {"faithful", "fair"}
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q), in {0, 1}
    weights : array of shape (n,), default=None
        Of the rows, in the means.
    intercept : bool
    """
    if preset == "fair" and sparse.issparse(X):
        X = X.toarray()  # so that columns are shifted to start at 0, as dense ones are
    scale = scaling.fitted("unit" if preset == "faithful" else "minmax", X)
    rows = scaled(scale, X)
    if not intercept:
        return Prepared(scale, rows, Y, None, None)
    if preset == "faithful":
        ones = np.ones((X.shape[0], 1))
        extended = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(ones)])) if sparse.issparse(rows) else np.hstack([rows, ones])
        return Prepared(scale, extended, Y, None, None, extended=True)
    x_mean, y_mean = (np.average(part, axis=0, weights=weights) for part in (rows, Y))
    return Prepared(scale, rows - x_mean, Y - y_mean, x_mean, y_mean)


def scaled(scale: scaling.Scaling, X: Array) -> Array:
    """Rows under a fitted scaling.

    The authors of LLSF add machine epsilon to the whole matrix if any row is zero: after scaling to unit length such a
    row holds equal entries, and the others are what they were up to rounding. So only zero rows are touched here.

    Examples
    --------
    >>> scaled(scaling.Scaling("unit"), np.array([[3.0, 4.0], [0.0, 0.0]])).round(3)
    array([[0.6  , 0.8  ],
           [0.707, 0.707]])
    """
    rows = scale(X)
    if scale.name != "unit":
        return rows
    empty = np.asarray(abs(rows).sum(axis=1)).ravel() == 0
    if not empty.any():
        return rows
    entry = 1 / np.sqrt(X.shape[1])
    if sparse.issparse(rows):
        filled = sparse.csr_array(np.where(empty, entry, 0.0)[:, None]) @ sparse.csr_array(np.ones((1, X.shape[1])))
        return sparse.csr_array(rows + filled)
    return np.where(empty[:, None], entry, rows)
