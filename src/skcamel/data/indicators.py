"""Labels in any form ► one sparse matrix of ones, which statistics, checks and splitters count on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import Array, to_numpy


def as_indicators(Y: Array, name: str = "Y") -> sparse.csr_array:
    """Labels as a CSR matrix (n, q) of int64 that stores the ones only, sorted by column within each row.

    Parameters
    ----------
    Y : array-like, sparse matrix, tensor or frame of shape (n, q)
        In {0, 1}, {-1, +1} or bool. A sparse matrix is not made dense.
    name : str, default="Y"
        What messages call it.

    Examples
    --------
    >>> as_indicators([[1, -1], [1, 1]]).toarray()
    array([[1, 0],
           [1, 1]])
    """
    if sparse.issparse(Y):
        return _of_sparse(sparse.csr_array(Y, copy=True), name)
    dense = _of_frame(Y) if hasattr(Y, "columns") or hasattr(Y, "column_names") else to_numpy(Y)
    if dense.ndim != 2:
        raise ValueError(f"{name} has {dense.ndim} dimension(s); labels are a matrix with one row per instance and one column per label.")
    if dense.dtype.kind == "O":
        dense = _as_numbers(dense, name)
    relevant = dense == 1
    if not (_all_of(dense, relevant, 0) or _all_of(dense, relevant, -1)):
        raise ValueError(f"{name} must hold only 0 and 1, or only -1 and +1; found {_found(dense)}.")
    rows, columns = np.nonzero(relevant)  # row by row, columns ascending
    return _ones(np.searchsorted(rows, np.arange(len(dense) + 1)), columns, dense.shape)


def _all_of(dense: np.ndarray, relevant: np.ndarray, other: int) -> bool:
    """Whether every entry is relevant or the other value."""
    return bool((relevant | (dense == other)).all())


def _of_frame(frame: Any) -> np.ndarray:
    return np.asarray(frame.to_numpy() if hasattr(frame, "to_numpy") else frame)


def _as_numbers(dense: np.ndarray, name: str) -> np.ndarray:
    try:
        return dense.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold only 0 and 1, or only -1 and +1; found {_found(dense.astype(str))}.") from error


def _of_sparse(Y: sparse.csr_array, name: str) -> sparse.csr_array:
    Y.sum_duplicates()
    values, cells = Y.data, int(np.prod(Y.shape))
    is_one = values == 1
    only_zeros = bool((values[~is_one] == 0).all())
    if not only_zeros and not (len(values) == cells and (values[~is_one] == -1).all()):
        raise ValueError(
            f"{name} is sparse and must hold only 0 and 1, or only -1 and +1 with every cell stored; it stores {_found(values)}."
        )
    kept = np.concatenate(([0], np.cumsum(is_one)))[Y.indptr]
    return _ones(kept, Y.indices[is_one], Y.shape)


def _ones(indptr: np.ndarray, indices: np.ndarray, shape: tuple[int, ...]) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=shape)


def _found(values: np.ndarray) -> str:
    found = [str(value) for value in np.unique(values).tolist()]
    return ", ".join([*found[:3], "…", *found[-3:]] if len(found) > 6 else found)
