"""The rows of a logistic problem as a matrix A: a column of ones, then the columns that vary, standardised.

Rows with few entries stay sparse: A is then never made, its products are those of the raw rows plus a correction of rank one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from skcamel.arrays import Array

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
            raw = np.zeros((X.shape[1], coef.shape[1]))
            raw[self.kept] = coef / self.spread[:, None]
            return X @ raw + (intercept - self.mean @ raw[self.kept])
        return self.standardised(X) @ coef + intercept


def varying_columns(X: Array, weights: np.ndarray | None = None) -> Columns:
    """Columns that are not constant over the rows with a positive weight.

    Examples
    --------
    >>> varying_columns(np.array([[1.0, 5.0], [3.0, 5.0]])).kept
    array([0])
    >>> varying_columns(sparse.csr_array([[0.0, 5.0], [3.0, 5.0]])).mean
    array([1.5])
    """
    w = np.ones(X.shape[0]) if weights is None else weights
    total = w.sum()
    mean, scatter = (_sparse_moments if sparse.issparse(X) else _dense_moments)(X, w)
    spread = np.sqrt(scatter / max(total - 1, 1))
    kept = np.flatnonzero(varies(X if w.all() else X[w > 0]) & (spread > 0))  # not those that vary by less than rounding
    return Columns(kept, mean[kept], spread[kept])


def varies(X: Array) -> np.ndarray:
    """Which columns are not constant, (d,) bool.

    Examples
    --------
    >>> varies(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([ True, False])
    """
    if sparse.issparse(X):
        return X.max(axis=0).toarray().ravel() > X.min(axis=0).toarray().ravel()
    return (X[:1] != X).any(axis=0)


def _dense_moments(X: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and weighted sum of squared deviations, (d,) each."""
    mean = w @ X / w.sum()
    return mean, w @ (X - mean) ** 2


def _sparse_moments(X: sparse.csr_array, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same from the entries: deviations are summed, never squares subtracted."""
    d, of_entry = X.shape[1], np.repeat(w, np.diff(X.indptr))
    mean = np.asarray(w @ X) / w.sum()
    entry_scatter = np.bincount(X.indices, of_entry * (X.data - mean[X.indices]) ** 2, minlength=d)
    absent = w.sum() - np.bincount(X.indices, of_entry, minlength=d)
    return mean, entry_scatter + np.clip(absent, 0, None) * mean**2


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
        scale = sparse.diags_array(1 / columns.spread)
        self.X = sparse.csr_array(X[:, columns.kept] @ scale)
        self.X_transposed = sparse.csr_array(self.X.T)
        self.mean = columns.mean / columns.spread
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
    return DenseDesign(columns.standardised(X.toarray() if is_sparse else X))
