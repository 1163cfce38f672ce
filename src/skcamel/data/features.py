"""What can be said of X, dense or sparse, without making it dense: equal rows, constant columns, non-finite cells."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, to_numpy


def as_features(X: Array) -> Any:
    """X as a float64 array or CSR matrix of shape (n, d), without stored zeros."""
    if sparse.issparse(X):
        kept = sparse.csr_array(X, dtype=np.float64, copy=True)
        kept.sum_duplicates()
        kept.eliminate_zeros()
        return kept
    dense = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else to_numpy(X), dtype=np.float64)
    if dense.ndim != 2:
        raise ValueError(f"X has {dense.ndim} dimension(s); features are a matrix with one row per instance.")
    return dense


def row_kinds(X: Any, Y: sparse.csr_array | None = None) -> np.ndarray:
    """Numbers (n,) that are equal exactly where rows of X, and of Y if given, are equal; NaN counts as equal to NaN.

    Rows are told apart by 128-bit digests.

    Examples
    --------
    >>> row_kinds(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])).tolist()
    [0, 1, 0]
    """
    known: dict[bytes, int] = {}
    kinds = np.empty(X.shape[0], dtype=np.int64)
    for i in range(len(kinds)):
        digest = blake2b(_row_bytes(X, i), digest_size=16)
        if Y is not None:
            digest.update(b"|" + _row_bytes(Y, i))
        kinds[i] = known.setdefault(digest.digest(), len(known))
    return kinds


def _row_bytes(X: Any, i: int) -> bytes:
    if not sparse.issparse(X):
        return (X[i] + 0.0).tobytes()  # -0.0 becomes 0.0
    entries = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[entries].astype(np.int64).tobytes() + X.data[entries].tobytes()


def constant_columns(X: Any) -> np.ndarray:
    """Columns with one value only, ascending; NaN counts as a value.

    Examples
    --------
    >>> constant_columns(sparse.csr_array([[0.0, 1.0, 2.0], [0.0, 1.0, 0.0]])).tolist()
    [0, 1]
    """
    n, d = X.shape
    if n == 0:
        return np.arange(d)
    if not sparse.issparse(X):
        return np.flatnonzero((X[:1] == X).all(axis=0) | np.isnan(X).all(axis=0))
    stored = np.bincount(X.indices, minlength=d)
    first = np.zeros(d)
    first[X.indices[::-1]] = X.data[::-1]
    same = (X.data == first[X.indices]) | (np.isnan(X.data) & np.isnan(first[X.indices]))
    return np.flatnonzero((stored == 0) | ((stored == n) & (np.bincount(X.indices, weights=~same, minlength=d) == 0)))


def bytes_of(X: Any) -> int:
    """Bytes that an array or a CSR or CSC matrix holds."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes


def values_of(X: Any) -> np.ndarray:
    """All values stored: cells of an array, the nonzero ones of a sparse matrix."""
    return X.data if sparse.issparse(X) else X


def non_finite_cells(X: Any) -> np.ndarray:
    """Row and column of every NaN or infinite cell, (cells, 2)."""
    bad = ~np.isfinite(values_of(X))
    if not sparse.issparse(X):
        return np.argwhere(bad)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.column_stack([rows[bad], X.indices[bad]])


def repeated(kinds: np.ndarray) -> int:
    """How many rows repeat an earlier one."""
    return len(kinds) - len(np.unique(kinds))
