"""X ► X: scaling of the features, fitted on training rows and kept with the model.

A shift of the features changes no radial kernel, and the unpenalised intercept absorbs it in the linear one. So sparse
matrices are scaled without a shift and stay sparse; dense ones are shifted too, which is kinder to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skcamel.arrays import Array

NAMES = ("none", "standard", "minmax", "unit")


@dataclass(frozen=True)
class Scaling:
    """A fitted scaling: ``(X - shift) / scale`` per column, or rows of unit length for "unit".

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fitted("minmax", X)(X)  # a constant column is only shifted
    array([[0., 0.],
           [1., 0.]])
    """

    name: str
    shift: np.ndarray | None = None  # (d,); None for sparse training rows
    scale: Array = None  # (d,); None for "unit"

    def __call__(self, X: Array) -> Array:
        """X scaled; a new matrix unless the scaling is "none"."""
        if self.name == "none":
            return X
        if self.name == "unit":
            return _divide_rows(X, _row_lengths(X))
        if self.shift is not None:
            return ((X.toarray() if sparse.issparse(X) else X) - self.shift) / self.scale
        return sparse.csr_array(X.multiply(1 / self.scale)) if sparse.issparse(X) else X / self.scale


def fitted(name: str, X: Array, weights: np.ndarray | None = None) -> Scaling:
    """Scaling of that name with what it needs to know of the training rows X (n, d); constant columns keep scale 1."""
    if name in ("none", "unit"):
        return Scaling(name)
    if name == "standard":
        shift, scale = _mean_and_deviation(X, weights)
    else:
        shift, high = (_dense_row(bound) for bound in (X.min(axis=0), X.max(axis=0)))
        scale = high - shift
    scale = np.where(scale > 0, scale, 1.0)
    return Scaling(name, None if sparse.issparse(X) else shift, scale)


def _mean_and_deviation(X: Array, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    shares = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    mean = _dense_row(shares @ X)
    eps = np.finfo(np.float64).eps
    if sparse.issparse(X):
        squares = X.copy()
        squares.data = squares.data**2
        variance, rounding = _dense_row(shares @ squares) - mean**2, 16 * eps * mean**2
    else:
        variance, rounding = shares @ (X - mean) ** 2, (len(X) * eps * mean) ** 2
    return mean, np.sqrt(np.where(variance > rounding, variance, 0.0))  # a constant column comes out as rounding, not as 0


def _dense_row(row: Array) -> np.ndarray:
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).ravel()


def _row_lengths(X: Array) -> np.ndarray:
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else (X * X).sum(axis=1)
    lengths = np.sqrt(squares)
    return np.where(lengths > 0, lengths, 1.0)


def _divide_rows(X: Array, lengths: np.ndarray) -> Array:
    return sparse.csr_array(sparse.diags_array(1 / lengths) @ X) if sparse.issparse(X) else X / lengths[:, None]
