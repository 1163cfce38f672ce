"""X ► X: scaling of the features, fitted on training rows and kept with the model.

A shift of the features changes no radial kernel, and the unpenalised intercept absorbs it in the linear one. So sparse
matrices are shifted only in columns that are filled anyway, and stay sparse; :meth:`Scaling.centred` moves the rows to their
middle, which changes no result and saves its digits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.rows import dense, is_filled, middle, moments, shifted, varies

NAMES = ("none", "standard", "minmax", "unit")


@dataclass(frozen=True)
class Scaling:
    """A fitted scaling: ``(X - shift) / scale`` per column; for "unit" rows of unit length, then minus `shift`.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fitted("minmax", X)(X)  # a constant column is only shifted
    array([[0., 0.],
           [1., 0.]])
    """

    name: str
    shift: np.ndarray | None = None  # (d,); of sparse training rows 0 in columns that are not filled
    scale: np.ndarray | None = None  # (d,); None for "none" and "unit"

    def __call__(self, X: Array) -> Array:
        """X scaled; a new matrix unless nothing is to be done. Sparse rows stay sparse."""
        rows = _of_unit_length(X) if self.name == "unit" else X
        if self.shift is not None:
            rows = shifted(rows, self.shift)
        if self.scale is None:
            return rows
        if not sparse.issparse(rows):
            return rows / self.scale
        return sparse.csr_array((rows.data / self.scale[rows.indices], rows.indices, rows.indptr), shape=rows.shape)

    def centred(self, X: Array) -> Scaling:
        """The same scaling, shifted further so that the training rows X (n, d) lie around the origin."""
        if self.scale is None:
            return replace(self, shift=middle(self(X)))
        return replace(self, shift=middle(X))

    def rounding(self, d: int) -> float:
        """How far apart, as a sum over d columns, rows may come out that differ in length alone."""
        return 16 * np.finfo(np.float64).eps * d**0.5 if self.name == "unit" else 0.0


def fitted(name: str, X: Array, weights: np.ndarray | None = None) -> Scaling:
    """Scaling of that name with what it needs to know of the training rows X (n, d); constant columns keep scale 1."""
    if name in ("none", "unit"):
        return Scaling(name)
    if name == "standard":
        shift, scale = moments(X, weights)
    else:
        shift, high = (np.asarray(dense(bound), dtype=np.float64).ravel() for bound in (X.min(axis=0), X.max(axis=0)))
        with np.errstate(over="ignore"):
            scale = high - shift
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(f"Column {column} of X spans more than the largest number; divide it by a constant before scaling={name!r}.")
    return Scaling(name, np.where(is_filled(X), shift, 0.0), np.where(varies(X) & (scale > 0), scale, 1.0))


def _of_unit_length(X: Array) -> Array:
    """Rows divided by their length, in two steps: squares of very large or small numbers would overflow or vanish."""
    largest = np.asarray(dense(abs(X).max(axis=1))).ravel()
    rows = _divided(X, np.where(largest > 0, largest, 1.0))
    squares = np.asarray((rows.multiply(rows) if sparse.issparse(rows) else rows * rows).sum(axis=1)).ravel()
    return _divided(rows, np.sqrt(np.where(squares > 0, squares, 1.0)))


def _divided(X: Array, by: np.ndarray) -> Array:
    if not sparse.issparse(X):
        return X / by[:, None]
    return sparse.csr_array((X.data / np.repeat(by, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)
