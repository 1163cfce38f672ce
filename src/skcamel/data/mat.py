"""Matlab files (version 5 to 7): features and labels under the variable names that multi-label authors use.

``scipy.io.loadmat`` reads all of the format but trusts sizes and indices in the file: damaged files
can end the process. Here only
numeric matrices are read; every size is checked against the bytes that are there, and every index
against the matrix, before it is used.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset, ones_in, parts_of
from skcamel.data.text import (
    check_claimed_size,
    check_plausible_width,
    check_room_for_labels,
    shortened,
    stem,
)

WHOLE = (
    ("data", "target"),
    ("data", "targets"),
    ("X", "Y"),
    ("data", "labels"),
    ("data", "label"),
    ("features", "labels"),
    ("fea", "gnd"),
)
PAIRS = (
    ("train_data", "train_target", "test_data", "test_target"),
    ("X_train", "Y_train", "X_test", "Y_test"),
    ("Xtrain", "Ytrain", "Xtest", "Ytest"),
    ("trainX", "trainY", "testX", "testY"),
    ("train_X", "train_Y", "test_X", "test_Y"),
)
HEADER_BYTES = 128
PREFIX_BYTES = 2**12  # of a compressed variable: enough for its shape and name
LARGEST_RATIO = 1100  # of deflate; more than its packed size allows cannot come out of it
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
        target, X and Y, …, and the four
        of a split: train_data, train_target, test_data, test_target, X_train, ….

    Returns
    -------
    Dataset
        Labels in -1 and +1 become 0 and 1; NaN marks unknown ones. Matrices are turned where only
        that gives X and Y the same rows (many
        authors store labels x rows). Where the file has a training and a test part, `train` and
        `test` tell them apart.

    Examples
    --------
    >>> import tempfile, scipy.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/tiny.mat", {"data": [[0.5, 1], [1, 2], [3, 4]], "target": [[1, -1, -1], [-1, 1, 1]]})
    ...     read_mat(f"{folder}/tiny.mat").Y
    array([[1, 0],
           [0, 1],
           [0, 1]])
    """
    content = Path(path).read_bytes()
    if content.startswith(b"MATLAB 7.3"):
        problem = "is a Matlab 7.3 (HDF5) file; save it in Matlab by save(…, '-v7')."
        raise DataError(problem, path=path)
    with _damage_refused(path):
        found = {variable.name: variable for variable in variables(content)}
    names = _chosen(list(found), features, labels, path)
    for name in names:  # before it is unpacked: as stored, as float64, and again while joined
        shape = found[name].shape
        cells = 0 if found[name].is_sparse else 16 * shape[0] * shape[1]
        what = f"{shape[0]} x {shape[1]} values of {name[:60]!r}"
        check_claimed_size(2 * found[name].n_bytes + cells, what, path)
    with _damage_refused(path):
        loaded = [found[name].load() for name in names]
    Xs: list[Array] = []
    Ys: list[Array] = []
    for k in range(0, len(names), 2):
        X, Y = _oriented(loaded[k], loaded[k + 1], f"{names[k]} and {names[k + 1]}", path)
        Xs.append(X)
        Ys.append(Y)
    d, q = Xs[0].shape[1], Ys[0].shape[1]
    if any(X.shape[1] != d or Y.shape[1] != q for X, Y in zip(Xs, Ys)):
        raise DataError(
            f"{', '.join(names)} have different numbers of columns; are they parts of one data set?",
            path=path,
        )
    counts = [X.shape[0] for X in Xs]
    check_room_for_labels(sum(counts), q, path)
    is_sparse = any(map(sparse.issparse, Xs))
    stored = sum(int(X.nnz if sparse.issparse(X) else X.size) for X in Xs)
    check_plausible_width(d, stored, "features", path)
    X = sparse.vstack([sparse.csr_array(X) for X in Xs]) if is_sparse else np.vstack(Xs)
    Y = np.vstack([_indicator(Y, name, path) for Y, name in zip(Ys, names[1::2])])
    return Dataset(X, Y, name=stem(path), source=str(path), **parts_of(counts))


@contextmanager
def _damage_refused(path: Path_) -> Iterator[None]:
    """Within the body, what shows that the file is damaged becomes a DataError."""
    try:
        yield
    except (ValueError, zlib.error) as error:
        detail = (str(error).splitlines() or [""])[0][:120]
        raise DataError(
            f"is damaged or no Matlab file of version 5 to 7 ({detail}); copy or save it again.",
            path=path,
        ) from error


def _chosen(
    found: list[str], features: str | None, labels: str | None, path: Path_
) -> tuple[str, ...]:
    """Variables to read: features and labels, for one or two parts."""
    if (features is None) != (labels is None):
        raise ValueError("Name both variables, features=… and labels=…, or neither.")
    own = {name.lower(): name for name in found} | {name: name for name in found}
    groups: list[tuple[str, ...]] = [*WHOLE, *PAIRS, *(pair[:2] for pair in PAIRS)]
    wanted = "data and target, X and Y, train_data and train_target, …"
    if features is not None and labels is not None:
        groups = [(features, labels)]
        wanted = f"{features!r} and {labels!r}"
    for group in groups:
        names = tuple(own.get(name) or own.get(name.lower(), "") for name in group)
        if all(names):
            return names
    raise DataError(
        f"no matrices {wanted}; found {shortened(found, most=8) or 'none'}. Rename two of them so,"
        " or in Python: read_mat(path, features=…, labels=…).",
        path=path,
    )


def _oriented(X: Array, Y: Array, names: str, path: Path_) -> tuple[Array, Array]:
    """Both with instances in rows, transposed as little as possible."""
    for turned_x, turned_y in ((X, Y), (X, Y.T), (X.T, Y.T), (X.T, Y)):
        if turned_x.shape[0] == turned_y.shape[0] and min(turned_x.shape + turned_y.shape) > 0:
            return turned_x, turned_y
    raise DataError(
        f"{names} are {X.shape} and {Y.shape}; they are empty, or have no common number of rows. "
        "Are these the right variables? (In Python, features=… and labels=… name others.)",
        path=path,
    )


def _indicator(Y: Array, name: str, path: Path_) -> np.ndarray:
    """Labels as 0 and 1, and NaN where unknown."""
    Y = Y.toarray() if sparse.issparse(Y) else Y
    relevant = ones_in(Y)
    if relevant is None:
        found = shortened(np.unique(Y.ravel()[:10_000]))
        raise DataError(
            f"{name} holds {found}; labels are 0 and 1, or -1 and +1. Is it the right variable? (In"
            " Python, labels=… names another.)",
            path=path,
        )
    return (
        np.where(np.isnan(Y), np.nan, relevant) if np.isnan(Y).any() else relevant.astype(np.int64)
    )


@dataclass(frozen=True)
class Variable:
    """A matrix in a file: its description, and where its content is."""

    name: str
    shape: tuple[int, ...]
    is_sparse: bool
    packed: memoryview | None  # compressed content, or
    body: memoryview  # plain content
    n_bytes: int  # of the content, unpacked
    order: str

    def load(self) -> Array:
        """Read the matrix, as a Fortran-ordered array or a sparse array in CSC form; ValueError where it is damaged."""
        body = self.body if self.packed is None else _unpacked(self.packed, self.n_bytes)
        parts = [
            _numbers(*element, self.order) for element in list(_elements(body, self.order))[3:6]
        ]
        if len(parts) < (3 if self.is_sparse else 1):
            raise ValueError(f"{self.name} lacks indices or values")
        if not self.is_sparse:
            return parts[0].reshape(self.shape, order="F")
        rows, starts, values = parts
        stored = int(starts[-1]) if starts.size else 0
        content = (values[:stored].astype(np.float64), rows[:stored].astype(np.int64))
        matrix = sparse.csc_array((*content, starts.astype(np.int64)), shape=self.shape)
        matrix.check_format(full_check=True)
        return matrix


def variables(content: bytes) -> list[Variable]:
    """All real numeric matrices of two dimensions; ValueError or zlib.error where the file is damaged."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER_BYTES])
    if order is None:
        raise ValueError("no version 5 header")
    found = (
        _variable(*element, order)
        for element in _elements(memoryview(content)[HEADER_BYTES:], order)
    )
    return [variable for variable in found if variable is not None]


def _variable(kind: int, data: memoryview, order: str) -> Variable | None:
    packed, n_bytes = (data if kind == COMPRESSED else None), len(data)
    if packed is not None:
        begin = memoryview(zlib.decompressobj().decompress(packed, PREFIX_BYTES))
        if len(begin) < 8:
            raise ValueError("a compressed variable is cut short")
        (kind, n_bytes), data = struct.unpack_from(f"{order}II", begin), begin[8:]
        if n_bytes > LARGEST_RATIO * (len(packed) + 1):
            raise ValueError(
                f"{n_bytes} bytes are announced, more than {len(packed)} compressed ones can hold"
            )
    if kind != MATRIX:
        return None
    described = _elements(data, order, whole=False)
    flags, dimensions, name = (next(described, (0, memoryview(b"")))[1] for _ in range(3))
    if len(flags) != 8 or len(dimensions) % 4:
        return None
    (flag,) = struct.unpack_from(f"{order}I", flags)
    shape = struct.unpack(f"{order}{len(dimensions) // 4}i", dimensions)
    if flag & 0xFF not in NUMERIC_CLASSES or flag & COMPLEX or len(shape) != 2 or min(shape) < 0:
        return None
    return Variable(
        bytes(name).decode("latin-1"),
        shape,
        flag & 0xFF == SPARSE_CLASS,
        packed,
        data,
        n_bytes,
        order,
    )


def _elements(
    content: memoryview, order: str, *, whole: bool = True
) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of each data element; a beginning (`whole` false) may stop within one."""
    position = 0
    while position + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, position)
        start, end = position + 8, position + 8 + size
        if kind >> 16:  # a short element keeps its bytes within the tag
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = position + 4, position + 4 + min(size, 4)
        if end > len(content):
            if not whole:
                return
            raise ValueError(f"{size} bytes are announced, {len(content) - start} are there")
        yield kind, content[start:end]
        position = max(end if kind == COMPRESSED else end + -(end - position) % 8, position + 8)


def _unpacked(packed: memoryview, size: int) -> memoryview:
    """Content of a compressed variable, without its tag."""
    unpacker = zlib.decompressobj()
    unpacker.decompress(packed, 8)
    content = unpacker.decompress(unpacker.unconsumed_tail, max(size, 1))
    if len(content) < size:
        raise ValueError(f"{size} bytes are announced, {len(content)} are there")
    return memoryview(content)


def _numbers(kind: int, data: memoryview, order: str) -> np.ndarray:
    if kind not in NUMBER_TYPES:
        raise ValueError(f"an element of type {kind} where numbers are expected")
    dtype = np.dtype(order + NUMBER_TYPES[kind])
    if len(data) % dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for numbers of {dtype.itemsize}")
    return np.frombuffer(data, dtype=dtype)
