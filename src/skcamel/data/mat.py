"""Matlab files (version 5 to 7): features and labels under the variable names that authors use.

``scipy.io.loadmat`` reads all of the format but trusts sizes and indices in the file: damaged files
can end the process. Here only numeric matrices are read; every size is checked against the bytes
that are there, and every index against the matrix, before it is used.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset, joined
from skcamel.data.sources import (
    LABEL_BYTES,
    NAME_BYTES,
    check_claimed_size,
    shortened,
    stem,
    whole_content,
)

# features and labels, of the whole or of a training and a test part; capitals do not matter
USUAL = """\
data target
data targets
X Y
data labels
data label
features labels
fea gnd
train_data train_target test_data test_target
X_train Y_train X_test Y_test
Xtrain Ytrain Xtest Ytest
trainX trainY testX testY
train_X train_Y test_X test_Y
train_data train_target
"""
Element = tuple[int, memoryview]  # type and bytes
HEADER_BYTES = 128
MATRIX, COMPRESSED = 14, 15
SPARSE_CLASS, NUMERIC_CLASSES = 5, range(5, 16)
COMPLEX = 0x0800
NUMBER_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}


def read_mat(path: Path_, *, features: str | None = None, labels: str | None = None) -> Dataset:
    """Read a Matlab file of version 5 to 7 (not 7.3).

    Parameters
    ----------
    path : str or path
    features, labels : str, optional
        Variables to read. By default the usual names are tried, without regard to case: data and
        target, X and Y, …, and the four of a split: train_data, train_target, test_data,
        test_target, X_train, ….

    Returns
    -------
    Dataset
        Labels in -1 and +1 become 0 and 1; NaN marks unknown ones. Matrices are turned where only
        that gives X and Y the same rows (many authors store labels x rows). Where the file has a
        training and a test part, `train` and `test` name their rows.

    Examples
    --------
    >>> import tempfile, scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     content = {"data": [[0.5, 1], [1, 2], [3, 4]], "target": [[1, -1, -1], [-1, 1, 1]]}
    ...     scipy.io.savemat(f"{folder}/tiny.mat", content)
    ...     read_mat(f"{folder}/tiny.mat").Y
    array([[1, 0],
           [0, 1],
           [0, 1]])
    """
    if (features is None) != (labels is None):
        raise ValueError("Name both variables, features=… and labels=…, or neither.")
    content = whole_content(path)
    named = [f"{features} {labels}"] if features else USUAL.splitlines()
    try:
        found = dict(_variables(content, path))
        names = _chosen(list(found), [line.split() for line in named], path)
        loaded = [_matrix(name, found[name], path) for name in names]
    except DataError:
        raise
    except (ValueError, zlib.error) as error:
        raise DataError(
            f"is damaged or no Matlab file of version 5 to 7 ({str(error)[:120]}); copy or save it"
            " again, 7.3 by save(…, '-v7').",
            path=path,
        ) from error
    parts = [
        _dataset(loaded[k], loaded[k + 1], f"{names[k]} and {names[k + 1]}", path)
        for k in range(0, len(names), 2)
    ]
    return parts[0] if len(parts) == 1 else joined(*parts)


def _chosen(found: list[str], groups: list[list[str]], path: Path_) -> list[str]:
    """The variables of the first group that is there: features and labels, of one or two parts."""
    own = {name.lower(): name for name in found}
    own.update((name, name) for name in found)
    for group in groups:
        names = [own.get(name) or own.get(name.lower(), "") for name in group]
        if all(names):
            return names
    wanted = "data and target, X and Y, …" if groups[1:] else " and ".join(groups[0])
    raise DataError(
        f"no matrices {wanted}; found {shortened(found, most=8) or 'none'}. Rename two of them so,"
        " or in Python: read_mat(path, features=…, labels=…).",
        path=path,
    )


def _dataset(X: Array, Y: Array, names: str, path: Path_) -> Dataset:
    """Data set of two matrices with instances in rows, transposed as little as possible."""
    turned = ((X, Y), (X, Y.T), (X.T, Y.T), (X.T, Y))
    same_rows = [pair for pair in turned if pair[0].shape[0] == pair[1].shape[0]]
    if not same_rows or 0 in X.shape + Y.shape:
        raise DataError(
            f"{names} are {X.shape} and {Y.shape}; they are empty, or have no common number of"
            " rows. Are these the right variables? (In Python, features=… and labels=… name"
            " others.)",
            path=path,
        )
    X, Y = same_rows[0]
    n, q = Y.shape
    d = X.shape[1]
    what = f"{n} rows x {q} labels and {d} features"
    check_claimed_size(LABEL_BYTES * n * q + NAME_BYTES * d, what, path)
    try:
        return Dataset(X, Y, name=stem(path), source=str(path))
    except ValueError as error:
        raise DataError(f"{names}: {error} Are these the right variables?", path=path) from None


def _variables(content: bytes, path: Path_) -> Iterator[tuple[str, list[Element]]]:
    """Name and elements of each matrix: flags, shape, name, and its numbers."""
    if content[126:HEADER_BYTES] != b"IM":
        raise ValueError("no version 5 header of a little-endian machine")
    unpacked = 0
    for kind, data in _elements(memoryview(content)[HEADER_BYTES:]):
        if kind == COMPRESSED:
            packed = zlib.decompressobj()
            kind, n_bytes = np.frombuffer(packed.decompress(data, 8), dtype="<u4").tolist()
            unpacked += n_bytes
            check_claimed_size(2 * unpacked, "compressed variables", path, size=len(content))
            data = memoryview(packed.decompress(packed.unconsumed_tail, max(1, n_bytes)))
        elements = list(islice(_elements(data), 6)) if kind == MATRIX else []
        if len(elements) > 2:
            yield bytes(elements[2][1]).decode("latin-1"), elements


def _matrix(name: str, elements: list[Element], path: Path_) -> Array:
    """A matrix, Fortran-ordered or sparse; ValueError where it is damaged, or not of numbers."""
    flags, shape = (np.frombuffer(data, dtype="<i4").tolist() for _, data in elements[:2])
    is_matrix = len(flags) == len(shape) == 2 and min(shape) >= 0
    if not is_matrix or flags[0] & COMPLEX or flags[0] & 0xFF not in NUMERIC_CLASSES:
        raise ValueError(f"{name} is no matrix of real numbers")
    is_sparse = flags[0] & 0xFF == SPARSE_CLASS
    parts: list[np.ndarray] = []
    for kind, data in elements[3:]:
        if kind not in NUMBER_TYPES:
            raise ValueError(f"an element of type {kind} where numbers are expected")
        parts.append(np.frombuffer(data, dtype=f"<{NUMBER_TYPES[kind]}"))
    if len(parts) < (3 if is_sparse else 1):
        raise ValueError(f"{name} lacks indices or values")
    # as float64, and again while joined
    check_claimed_size(16 * parts[0].size, f"values of {name[:60]!r}", path)
    if not is_sparse:
        return parts[0].reshape(shape, order="F")
    rows, starts = parts[0].astype(np.int64), parts[1].astype(np.int64)
    n_stored = int(starts[-1]) if starts.size else 0
    values = parts[2].astype(np.float64)
    matrix = sparse.csc_array((values[:n_stored], rows[:n_stored], starts), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _elements(content: memoryview) -> Iterator[Element]:
    """Type and bytes of each data element."""
    position = 0
    while position + 8 <= len(content):
        kind, size = struct.unpack_from("<II", content, position)
        start = position + 8
        if kind >> 16:  # a short element keeps its bytes within the tag
            kind, size = kind & 0xFFFF, min(kind >> 16, 4)
            start = position + 4
        end = start + size
        if end > len(content):
            raise ValueError(f"{size} bytes are announced, {len(content) - start} are there")
        yield kind, content[start:end]
        position = end if kind == COMPRESSED else end + -(end - position) % 8
