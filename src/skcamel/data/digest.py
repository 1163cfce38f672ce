"""X, Y ► one short text that is equal exactly where all values are equal, dense or sparse, on every machine."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.rows import canonical

FORMAT = b"skcamel digest 1\n"


def digest(X: Any, Y: Any) -> str:
    """SHA-256 of the shapes and of all nonzero values of X and Y, row by row.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    Y : array or sparse matrix of shape (n, q)

    Returns
    -------
    str
        64 hexadecimal digits. Names, storage (dense or sparse) and the sign of zero do not count; one changed value does.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> X, Y = np.array([[0.0, 1.5]]), np.array([[1, 0]])
    >>> digest(X, Y) == digest(sparse.csr_array(X), Y)
    True
    >>> digest(X, Y) == digest(X, 1 - Y)
    False
    """
    hasher = hashlib.sha256(FORMAT)
    for matrix in (X, Y):
        rows = canonical(sparse.csr_array(matrix, dtype=np.float64))
        hasher.update(f"{matrix.shape[0]} {matrix.shape[1]} {rows.nnz}\n".encode())
        for part, kind in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, "<f8")):
            hasher.update(np.ascontiguousarray(part, dtype=kind).data)
    return hasher.hexdigest()


def row_digests(X: Any) -> np.ndarray:
    """A 64-bit digest of the nonzero values of each row, (n,) uint64; equal rows have equal ones, dense or sparse.

    Examples
    --------
    >>> X = np.array([[0.0, 1.5], [1.5, 0.0], [-0.0, 1.5]])
    >>> a, b, c = row_digests(X)
    >>> bool(a == c), bool(a == b), bool((row_digests(sparse.csr_array(X)) == [a, b, c]).all())
    (True, False, True)
    """
    rows = canonical(sparse.csr_array(X, dtype=np.float64))
    indices, data = rows.indices.astype("<i8"), rows.data.astype("<f8")
    parts = (slice(start, end) for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True))
    digests = [hashlib.blake2b(indices[part].tobytes() + data[part].tobytes(), digest_size=8).digest() for part in parts]
    return np.frombuffer(b"".join(digests), dtype="<u8")
