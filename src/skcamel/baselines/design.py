"""The rows of a logistic problem as a matrix A: a column of ones, then the columns that vary, standardised.

Rows with few entries stay sparse: A is then never made, its products are those of the raw rows plus a correction of rank one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.rows import dense, is_filled, moments, shifted, varies

SPARSE = 0.15  # share of entries up to which sparse products are the faster ones


@dataclass(frozen=True)
class Columns:
    """Columns that vary, with their mean and sample standard deviation."""

    kept: np.ndarray  # (d',) indices
    mean: np.ndarray  # (d',)
    spread: np.ndarray  # (d',)

    def standardised(self, X: np.ndarray) -> np.ndarray:
        """Rows as the solver wants them: (m, d')."""
        Z = X[:, self.kept]
        Z -= self.mean
        Z /= self.spread
        return Z

    def margins(self, X: Array, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Standardised rows times weights, plus intercept; sparse rows stay sparse."""
        if sparse.issparse(X):
            rows, mean = self.split(X)
            return rows @ coef + (intercept - mean @ coef)
        return self.standardised(X) @ coef + intercept

    def split(self, X: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
        """Standardised rows as Z - 1 meanᵀ with Z (m, d') sparse: filled columns are centred in Z, the others by the mean."""
        Z = X[:, self.kept]
        centred = is_filled(Z)
        Z = shifted(Z, np.where(centred, self.mean, 0.0))
        scaled = sparse.csr_array((Z.data / self.spread[Z.indices], Z.indices, Z.indptr), shape=Z.shape)
        return scaled, np.where(centred, 0.0, self.mean) / self.spread


def varying_columns(X: Array, weights: np.ndarray | None = None) -> Columns:
    """Columns that are not constant over the rows with a positive weight.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 5.0], [3.0, 5.0]])).kept
    array([0])
    >>> varying_columns(sparse.csr_array([[0.0, 5.0], [3.0, 5.0]])).mean
    array([1.5])
    """
    seen = X if weights is None else X[weights > 0]
    w = np.ones(X.shape[0]) if weights is None else weights[weights > 0]
    mean, deviation = moments(seen, w)
    spread = deviation * np.sqrt(w.sum() / max(w.sum() - 1, 1))
    kept = np.flatnonzero(varies(seen) & (spread > 0))  # not those that vary by less than rounding
    return Columns(kept, mean[kept], spread[kept])


class DenseDesign:
    """A as an array."""

    def __init__(self, Z: np.ndarray) -> None:
        self.A = np.ones((len(Z), 1 + Z.shape[1]))
        self.A[:, 1:] = Z
        self.shape = self.A.shape

    def times(self, W: np.ndarray) -> np.ndarray:
        """A W, (n, B)."""
        return self.A @ W

    def back(self, R: np.ndarray) -> np.ndarray:
        """Aᵀ R, (D, B)."""
        return self.A.T @ R

    def gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Aᵀ diag(weights) A, (D, D)."""
        return self.A.T @ (self.A if weights is None else self.A * weights[:, None])

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Some rows of A as a new array."""
        return self.A[rows]


class SparseDesign:
    """A = [1, (X - 1 meanᵀ) / spread] with X sparse."""

    def __init__(self, columns: Columns, X: sparse.csr_array) -> None:
        self.X, self.mean = columns.split(X)
        self.X_transposed = sparse.csr_array(self.X.T)
        self.shape = (X.shape[0], 1 + len(columns.kept))

    def times(self, W: np.ndarray) -> np.ndarray:
        """A W, (n, B)."""
        product = self.X @ W[1:]
        product += W[0] - self.mean @ W[1:]
        return product

    def back(self, R: np.ndarray) -> np.ndarray:
        """Aᵀ R, (D, B)."""
        answer = np.empty((self.shape[1], R.shape[1]))
        answer[0] = R.sum(axis=0)
        answer[1:] = self.X_transposed @ R
        answer[1:] -= np.outer(self.mean, answer[0])
        return answer

    def gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Aᵀ diag(weights) A, (D, D)."""
        n, d = self.X.shape
        w = np.ones(n) if weights is None else weights
        sums = self.X_transposed @ w
        square = np.outer(self.mean, sums)
        gram = np.zeros((1 + d, 1 + d))
        gram[0, 0] = w.sum()
        gram[0, 1:] = gram[1:, 0] = sums - gram[0, 0] * self.mean
        gram[1:, 1:] = (self.X_transposed @ (sparse.diags_array(w) @ self.X)).toarray()
        gram[1:, 1:] += gram[0, 0] * np.outer(self.mean, self.mean) - square - square.T
        return gram

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Some rows of A as a new array."""
        A = np.ones((len(rows), self.shape[1]))
        A[:, 1:] = self.X[rows].toarray()
        A[:, 1:] -= self.mean
        return A


Design = DenseDesign | SparseDesign


def design(columns: Columns, X: Array) -> Design:
    """A (n, D) by its products: rows that are mostly zero stay or become sparse, others an array.

    Examples
    --------
    >>> X = np.eye(10)
    >>> type(design(varying_columns(X), X)).__name__, type(design(varying_columns(X + 1), X + 1)).__name__
    ('SparseDesign', 'DenseDesign')
    """
    is_sparse = sparse.issparse(X)
    if (X.nnz if is_sparse else np.count_nonzero(X)) <= SPARSE * X.shape[0] * X.shape[1]:
        return SparseDesign(columns, sparse.csr_array(X))
    return DenseDesign(columns.standardised(dense(X)))
