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
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.data import DataError, Path_
from skcamel.data.dataset import Dataset, ones_in, parts_of
from skcamel.data.sources import (
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
        found = _variables(content, path)
    names = _chosen(list(found), features, labels, path)
    loaded: list[Array] = []
    for name in names:
        variable = found[name]
        if not variable.is_sparse:  # as float64, and again while joined
            n, width = variable.shape
            check_claimed_size(16 * n * width, f"{n} x {width} values of {name[:60]!r}", path)
        with _damage_refused(path):
            loaded.append(variable.load())
    Xs: list[Array] = []
    Ys: list[np.ndarray] = []
    for k in range(0, len(names), 2):
        X, Y = _oriented(loaded[k], loaded[k + 1], f"{names[k]} and {names[k + 1]}", path)
        check_room_for_labels(Y.shape[0], Y.shape[1], path)
        check_plausible_width(X.shape[1], X.size, "features", path)
        Xs.append(X)
        Ys.append(_indicator(Y, names[k + 1], path))
    try:
        Y = np.vstack(Ys)
        is_sparse = any(sparse.issparse(X) for X in Xs)
        X = sparse.vstack(Xs, format="csr") if is_sparse else np.vstack(Xs)
    except ValueError:
        raise DataError(
            f"{', '.join(names)} have different numbers of columns; are they parts of one data set?",
            path=path,
        ) from None
    return Dataset(X, Y, name=stem(path), source=str(path), **parts_of([X.shape[0] for X in Xs]))


@contextmanager
def _damage_refused(path: Path_) -> Iterator[None]:
    """Make errors that show damage a DataError."""
    try:
        yield
    except DataError:
        raise
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
    wanted = "data and target, X and Y, train_data and train_target, …"
    groups: list[tuple[str, ...]] = [*WHOLE, *PAIRS, *(pair[:2] for pair in PAIRS)]
    if features is not None and labels is not None:
        groups = [(features, labels)]
        wanted = f"{features!r} and {labels!r}"
    own = {name.lower(): name for name in found}
    own.update((name, name) for name in found)
    for group in groups:
        names = [own.get(name, own.get(name.lower())) for name in group]
        present = tuple(name for name in names if name is not None)
        if len(present) == len(group):
            return present
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
    unknown = np.isnan(Y)
    relevant = ones_in(Y)
    if relevant is None:
        found = shortened(np.unique(Y.ravel()[:10_000]))
        raise DataError(
            f"{name} holds {found}; labels are 0 and 1, or -1 and +1. Is it the right variable? (In"
            " Python, labels=… names another.)",
            path=path,
        )
    return np.where(unknown, np.nan, relevant) if unknown.any() else relevant.astype(np.int64)


class Variable(NamedTuple):
    """A matrix in a file: its description, and its content, unpacked."""

    name: str
    shape: tuple[int, int]
    is_sparse: bool
    elements: list[tuple[int, memoryview]]
    order: str

    def load(self) -> Array:
        """Read the matrix, as a Fortran-ordered or sparse array; ValueError where it is damaged."""
        parts = [_numbers(kind, data, self.order) for kind, data in self.elements]
        if len(parts) < (3 if self.is_sparse else 1):
            raise ValueError(f"{self.name} lacks indices or values")
        if not self.is_sparse:
            return parts[0].reshape(self.shape, order="F")
        rows = parts[0].astype(np.int64)
        starts = parts[1].astype(np.int64)
        values = parts[2].astype(np.float64)
        stored = int(starts[-1]) if starts.size else 0
        matrix = sparse.csc_array((values[:stored], rows[:stored], starts), shape=self.shape)
        matrix.check_format(full_check=True)
        return matrix


def _variables(content: bytes, path: Path_) -> dict[str, Variable]:
    """All real numeric matrices of two dimensions, by name."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER_BYTES])
    if order is None:
        raise ValueError("no version 5 header")
    found: dict[str, Variable] = {}
    unpacked = 0
    for kind, data in _elements(memoryview(content)[HEADER_BYTES:], order):
        if kind == COMPRESSED:
            n_bytes = _announced(data, order)
            unpacked += n_bytes
            check_claimed_size(2 * unpacked, "compressed variables", path)
            plain = zlib.decompressobj().decompress(data, n_bytes + 8)
            ((kind, data),) = _elements(memoryview(plain), order)
        if kind != MATRIX:
            continue
        elements = _elements(data, order)
        parts = [part for _, part in islice(elements, 3)]
        if len(parts) < 3:
            continue
        flags, dimensions, text = parts
        if len(flags) != 8 or len(dimensions) != 8:
            continue
        (flag, _) = struct.unpack(f"{order}II", flags)
        shape = struct.unpack(f"{order}ii", dimensions)
        matrix_class = flag & 0xFF
        if matrix_class in NUMERIC_CLASSES and not flag & COMPLEX and min(shape) >= 0:
            is_sparse = matrix_class == SPARSE_CLASS
            name = bytes(text).decode("latin-1")
            found[name] = Variable(name, shape, is_sparse, list(islice(elements, 3)), order)
    return found


def _announced(packed: memoryview, order: str) -> int:
    """Size of a compressed variable; ValueError where so much cannot come out of it."""
    tag = zlib.decompressobj().decompress(packed, 8)
    if len(tag) < 8:
        raise ValueError("a compressed variable is cut short")
    _, n_bytes = struct.unpack(f"{order}II", tag)
    if n_bytes > LARGEST_RATIO * (len(packed) + 1):
        raise ValueError(
            f"{n_bytes} bytes are announced, more than {len(packed)} compressed ones can hold"
        )
    return n_bytes


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of each data element."""
    position = 0
    while position + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, position)
        start, end = position + 8, position + 8 + size
        if kind >> 16:  # a short element keeps its bytes within the tag
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = position + 4, position + 4 + min(size, 4)
        if end > len(content):
            raise ValueError(f"{size} bytes are announced, {len(content) - start} are there")
        yield kind, content[start:end]
        position = max(end if kind == COMPRESSED else end + -(end - position) % 8, position + 8)


def _numbers(kind: int, data: memoryview, order: str) -> np.ndarray:
    if kind not in NUMBER_TYPES:
        raise ValueError(f"an element of type {kind} where numbers are expected")
    dtype = np.dtype(order + NUMBER_TYPES[kind])
    if len(data) % dtype.itemsize:
        raise ValueError(f"{len(data)} bytes for numbers of {dtype.itemsize}")
    return np.frombuffer(data, dtype=dtype)
