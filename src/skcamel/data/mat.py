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
        raise DataError(
            "is a Matlab 7.3 (HDF5) file; save it in Matlab by save(…, '-v7').", path=path
        )
    with _damage_refused(path):
        matrices = {variable.name: variable for variable in variables(content)}
    chosen = _chosen(matrices, features, labels, path)
    for name in chosen:
        _check_size(matrices[name], path)
    with _damage_refused(path):
        loaded = {name: matrices[name].load() for name in chosen}
    parts = [
        _oriented(loaded[x], loaded[y], x, y, path) for x, y in zip(chosen[0::2], chosen[1::2])
    ]
    widths = {(X.shape[1], Y.shape[1]) for X, Y in parts}
    if len(widths) > 1:
        raise DataError(
            f"{', '.join(chosen)} have different numbers of columns; are they parts of one data"
            " set?",
            path=path,
        )
    n, q = sum(X.shape[0] for X, _ in parts), parts[0][1].shape[1]
    check_room_for_labels(n, q, path)
    stored = sum(int(X.nnz if sparse.issparse(X) else X.size) for X, _ in parts)
    check_plausible_width(parts[0][0].shape[1], stored, "features", path)
    Xs, Ys = (
        [X for X, _ in parts],
        [_indicator(Y, name, path) for (_, Y), name in zip(parts, chosen[1::2])],
    )
    X = (
        sparse.vstack([sparse.csr_array(X) for X in Xs], format="csr")
        if any(map(sparse.issparse, Xs))
        else np.vstack(Xs)
    )
    return Dataset(
        X, np.vstack(Ys), name=stem(path), source=str(path), **parts_of([len(Y) for Y in Ys])
    )


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


def _check_size(variable: Variable, path: Path_) -> None:
    """Refuse a matrix that does not fit into memory before it is unpacked: as stored, as float64, and again while parts are joined."""
    cells = 0 if variable.is_sparse else variable.shape[0] * variable.shape[1]
    check_claimed_size(
        2 * variable.n_bytes + 16 * cells,
        f"{variable.shape[0]} x {variable.shape[1]} values of {variable.name[:60]!r}",
        path,
    )


def _chosen(
    matrices: dict[str, Variable], features: str | None, labels: str | None, path: Path_
) -> tuple[str, ...]:
    """Variables to read: features and labels, for one or two parts."""
    if (features is None) != (labels is None):
        raise ValueError("Name both variables, features=… and labels=…, or neither.")
    own = {name.lower(): name for name in matrices}
    groups = (
        [(features, labels)]
        if features is not None and labels is not None
        else [*WHOLE, *PAIRS, *(pair[:2] for pair in PAIRS)]
    )
    for group in groups:
        if all(name in matrices for name in group):
            return group
        if all(name.lower() in own for name in group):
            return tuple(own[name.lower()] for name in group)
    wanted = (
        f"{features!r} and {labels!r}"
        if features is not None
        else "data and target, X and Y, train_data and train_target, …"
    )
    found = shortened(matrices, most=8) or "none"
    raise DataError(
        f"no matrices {wanted}; found {found}. Rename two of them so, or in Python: read_mat(path,"
        " features=…, labels=…).",
        path=path,
    )


def _oriented(X: Array, Y: Array, x: str, y: str, path: Path_) -> tuple[Array, Array]:
    """Both with instances in rows, transposed as little as possible."""
    for turned_x, turned_y in ((X, Y), (X, Y.T), (X.T, Y.T), (X.T, Y)):
        if turned_x.shape[0] == turned_y.shape[0]:
            if not (turned_x.shape[0] and turned_x.shape[1] and turned_y.shape[1]):
                raise DataError(
                    f"{x} is {X.shape} and {y} is {Y.shape}; they are empty.", path=path
                )
            return turned_x, turned_y
    raise DataError(
        f"{x} is {X.shape} and {y} is {Y.shape}; no common number of rows. "
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
        parts = list(_elements(body, self.order))[3:]
        return self._sparse(parts) if self.is_sparse else self._dense(parts)

    def _dense(self, parts: list[tuple[int, memoryview]]) -> np.ndarray:
        if not parts:
            raise ValueError(f"{self.name} has no values")
        values = _numbers(parts[0], self.order)
        if values.size != self.shape[0] * self.shape[1]:
            raise ValueError(f"{self.name} has {values.size} values for the shape {self.shape}")
        return values.reshape(self.shape, order="F")

    def _sparse(self, parts: list[tuple[int, memoryview]]) -> sparse.csc_array:
        if len(parts) < 3:
            raise ValueError(f"{self.name} lacks indices or values")
        rows, starts, values = (_numbers(part, self.order) for part in parts[:3])
        n_rows, n_columns = self.shape
        if (
            len(starts) != n_columns + 1
            or starts[0] != 0
            or (np.diff(starts.astype(np.int64)) < 0).any()
        ):
            raise ValueError(f"{self.name} has wrong column starts")
        stored = int(starts[-1])
        if stored > min(len(rows), len(values)):
            raise ValueError(f"{self.name} has {min(len(rows), len(values))} of {stored} values")
        rows = rows[:stored].astype(np.int64)
        if stored and not 0 <= int(rows.min()) <= int(rows.max()) < n_rows:
            raise ValueError(f"{self.name} has row indices outside its {n_rows} rows")
        return sparse.csc_array(
            (values[:stored].astype(np.float64), rows, starts.astype(np.int64)), shape=self.shape
        )


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


def _numbers(element: tuple[int, memoryview], order: str) -> np.ndarray:
    kind, data = element
    if kind not in NUMBER_TYPES:
        raise ValueError(f"an element of type {kind} where numbers are expected")
    dtype = np.dtype(order + NUMBER_TYPES[kind])
    if len(data) % dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for numbers of {dtype.itemsize}")
    return np.frombuffer(data, dtype=dtype)
