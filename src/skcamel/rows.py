"""Rows of features, dense or sparse: one canonical form, moments of the columns, and a shift that sparse rows survive.

Sums of squares lose the digits of a column that lies far from 0, so whoever multiplies rows first
moves them to the middle.
Columns with zeros need not be moved, so sparse rows stay sparse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from skcamel.arrays import Array, to_device


def canonical(X: sparse.sparray) -> sparse.csr_array:
    """A copy as CSR with sorted indices, repeated entries summed and no stored zeros; what is no matrix is refused.

    Flags that scipy keeps with a matrix are not believed: they may be older than its entries.

    Examples
    --------
    >>> canonical(sparse.csr_array(([1.0, 1.0, 2.0], [1, 1, 0], [0, 3]), shape=(1, 2))).toarray()
    array([[2., 2.]])
    """
    X = X.tocsr()
    rows = sparse.csr_array((X.data.copy(), X.indices.copy(), X.indptr.copy()), shape=X.shape)
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is no valid sparse matrix ({error}); build it anew, as by"
            " scipy.sparse.csr_array(X.toarray())."
        ) from error
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def default_names(prefix: str, count: int) -> tuple[str, ...]:
    """``prefix1 … prefixN`` for what has no names."""
    return tuple(f"{prefix}{index}" for index in range(1, count + 1))


def column_names(table: Any) -> list[str] | None:
    """Names of the columns of a pandas, polars or pyarrow frame, or of labels that know theirs; None where there are none."""
    of_arrow = type(table).__module__.split(".", 1)[0] == "pyarrow"  # its columns are no names
    columns = getattr(table, "column_names" if of_arrow else "columns", None)
    if columns is None:
        return None
    return [str(name) for name in columns]


def dense(X: Array) -> np.ndarray:
    """X as an array, sparse or not."""
    if sparse.issparse(X):
        return X.toarray()
    return X


def with_gaps(values: np.ndarray) -> np.ndarray:
    """Objects as float64, NaN for None and pandas' NA; as they are where one is no number.

    >>> with_gaps(np.array([[1, None]], dtype=object))
    array([[ 1., nan]])
    """
    gaps = np.array(
        [str(value) in ("None", "<NA>", "nan", "NaT") for value in values.ravel()], dtype=bool
    ).reshape(values.shape)
    try:
        return np.where(gaps, np.nan, values).astype(np.float64)
    except (TypeError, ValueError):
        return values


def is_lazy(X: object) -> bool:
    """Whether X is a Dask array or frame, found out without importing Dask."""
    return type(X).__module__.split(".", 1)[0] in ("dask", "dask_expr")


def alike(X: Array, other: Array | None) -> Array:
    """Rows X, sparse if `other` is and else dense."""
    if sparse.issparse(other):
        return sparse.csr_array(X)
    return dense(X)


def on_device(X: Array, device: Any) -> Array:
    """Rows ready for the kernel: sparse ones stay sparse on the CPU and are made dense for a device."""
    if device is None:
        return X
    return to_device(dense(X), device)


def is_filled(X: Array) -> np.ndarray:
    """Which columns have entries in more than half of the rows, (d,) bool; all of an array."""
    if not sparse.issparse(X):
        return np.ones(X.shape[1], dtype=bool)
    return np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0] / 2


def varies(X: Array) -> np.ndarray:
    """Which columns are not constant, (d,) bool.

    Examples
    --------
    >>> varies(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([ True, False])
    """
    if sparse.issparse(X):
        low, high = bounds(X)
        return high > low
    return (X[:1] != X).any(axis=0)


def bounds(X: Array) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest entry of every column, (d,) float64 each."""
    low = X.min(axis=0)
    high = X.max(axis=0)
    return (
        np.asarray(dense(low), dtype=np.float64).ravel(),
        np.asarray(dense(high), dtype=np.float64).ravel(),
    )


def shifted(X: Array, shift: np.ndarray) -> Array:
    """X - 1 shiftᵀ; in sparse rows only the columns whose shift is not 0 are filled.

    Examples
    --------
    >>> shifted(sparse.csr_array([[0.0, 5.0], [3.0, 6.0]]), np.array([0.0, 5.0])).toarray()
    array([[0., 0.],
           [3., 1.]])
    """
    if not sparse.issparse(X):
        return X - shift
    n = X.shape[0]
    moved = np.flatnonzero(shift)
    if not len(moved):
        return X
    ends = len(moved) * np.arange(n + 1)
    shifts = sparse.csr_array((np.tile(shift[moved], n), np.tile(moved, n), ends), shape=X.shape)
    return sparse.csr_array(X - shifts)


def middle(X: Array) -> np.ndarray:
    """Where to move the origin, (d,): to the mean of the columns that become much smaller by it, else 0.

    A column whose entries all lie within a quarter of the largest around their mean is moved
    without any rounding, for the
    differences are exact. Where zeros or both signs occur this is never so; nothing would be
    gained, and sparse columns stay as they are.

    Examples
    --------
    >>> middle(np.array([[1e9, 1.0], [1e9 + 2, -1.0]])).tolist()
    [1000000001.0, 0.0]
    """
    mean, _ = moments(X)
    low, high = bounds(X)
    farthest = np.maximum(high - mean, mean - low)
    largest = np.maximum(high, -low)
    return np.where(farthest <= largest / 4, mean, 0.0)


def moments(X: Array, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of every column, (d,) each.

    Deviations are summed, never squares subtracted, in units of the largest: neither a large mean
    nor a large or small
    unit of the column costs digits.

    Parameters
    ----------
    X : array or canonical CSR matrix of shape (n, d)
    weights : array of shape (n,), default=None

    Examples
    --------
    >>> [part.tolist() for part in moments(np.array([[1e9 + 1, 1e200], [1e9 + 3, 3e200]]))]
    [[1000000002.0, 2e+200], [1.0, 1e+200]]
    """
    if weights is None:
        shares = np.full(X.shape[0], 1 / X.shape[0])
    else:
        shares = weights / weights.sum()
    if not sparse.issparse(X):
        deviations = X - X[0]  # sums of equal large numbers would round
        above_first = shares @ deviations
        deviations -= above_first
        largest = np.abs(deviations).max(axis=0)
        deviations /= np.where(largest > 0, largest, 1.0)
        return X[0] + above_first, largest * np.sqrt(shares @ deviations**2)
    largest = abs(X).max(axis=0).toarray().ravel()
    unit = np.where(largest > 0, largest, 1.0)
    scaled = sparse.csr_array((X.data / unit[X.indices], X.indices, X.indptr), shape=X.shape)
    # exact enough where a column has many zeros
    mean, variance = mean_variance_axis(scaled, axis=0, weights=shares)
    mean = unit * mean
    deviation = unit * np.sqrt(np.maximum(variance, 0))
    filled = is_filled(X)
    if filled.any():
        mean[filled], deviation[filled] = moments(X[:, filled].toarray(), weights)
    return mean, deviation
