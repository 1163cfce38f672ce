"""X and Y in one form: as matrices, dense or sparse, or a table of cells, with digests and names; no file access."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.arrays import (
    Array,
    canonical,
    column_names,
    default_names,
    dense,
    to_numpy,
    with_missing,
)
from skcamel.data.sources import counted, first_repeated

DIGEST_FORMAT = b"skcamel digest 1\n"


class NamedLabels(np.ndarray):
    """A label matrix that knows its column names; indexing keeps them with their columns, anything else drops them.

    Estimators read `columns` as they do from a frame, so that models keep the names of the labels.
    """

    columns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, Y: np.ndarray, names: Sequence[str]) -> NamedLabels:
        """Labels Y (n, q) with these names."""
        named = Y.view(cls)
        named.columns = tuple(names)
        return named

    def __array_finalize__(self, source: Any) -> None:
        self.columns = None

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        if isinstance(part, NamedLabels) and part.ndim == 2 and self.columns is not None:
            names = np.array(self.columns, dtype=object)
            if isinstance(key, tuple) and len(key) == 2 and key[1] is not Ellipsis:
                names = names[key[1]]
            if names.shape == part.shape[1:]:
                part.columns = tuple(names.tolist())
        return part


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Features, labels and names of a multi-label data set.

    Parameters
    ----------
    X : array, sparse matrix, frame of numbers, or pyarrow.Table, of shape (n, d)
        Features; kept as a float64 array, as a float64 ``scipy.sparse.csr_array``, or, where cells
        are no plain numbers, as the table: :class:`TablePreparer` makes numbers of it. NaN marks
        missing values.
    Y : array, sparse matrix or frame of shape (n, q)
        Labels, 0 or 1, and NaN, None or NA where unknown; kept as an int64 array, or as a float64
        array if some are unknown.
    feature_names : sequence of str, default=column names of a frame, else f1, f2, …
    label_names : sequence of str, default=column names of a frame, else label1, label2, …
        All different.
    name, source : str
        What it is called, and where it was read from.
    dropped : iterable of str
        Attributes of the file that identify rows and are no features.
    train, test : row numbers or masks, optional
        Parts, where a pair of files gives them.
    categories : mapping from feature name to tuple of str
        Values of nominal attributes, in the order of their numbers where these are positions.
    table : pyarrow.Table of n rows, optional
        The cells of the features, where words or missing values need a :class:`TablePreparer`: a
        study fits one in each fold, on its training rows alone.
    zero_based : (bool, bool), optional
        Whether features and labels of a svmlight file count from 0.

    Examples
    --------
    >>> data = Dataset([[0.5, 1.0], [2.0, 3.0]], [[1], [0]], name="tiny")
    >>> data
    Dataset(tiny: 2 rows, 2 features, 1 label)
    >>> data.feature_names, data.label_names
    (('f1', 'f2'), ('label1',))
    """

    X: Any
    Y: Any
    feature_names: Any = ()  # stored as tuples of str, whatever sequence was given
    label_names: Any = ()
    name: str = ""
    source: str = ""
    dropped: tuple[str, ...] = ()
    train: Any = None
    test: Any = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table: Any = None
    zero_based: tuple[bool, bool] | None = None

    def __post_init__(self) -> None:
        X = self.X if is_table(self.X) else as_features(self.X)
        Y = _labels(self.Y)
        check_same_rows(X, Y)
        label_names = _names(self.label_names, self.Y, "label", Y.shape[1])
        twice = first_repeated(label_names)
        if twice is not None:
            raise ValueError(
                f"label_names has {twice!r} twice; labels are told apart by name, rename one."
            )
        stored = {
            "X": X,
            "Y": Y,
            "feature_names": _names(self.feature_names, self.X, "f", X.shape[1]),
            "label_names": label_names,
            "dropped": tuple(self.dropped),
            "train": row_numbers(self.train, X.shape[0], "train"),
            "test": row_numbers(self.test, X.shape[0], "test"),
            "table": X if is_table(X) else self.table,
        }
        for name, value in stored.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        sizes = f"{counted(self.n, 'row')}, {counted(self.d, 'feature')}"
        storage = ", sparse" if sparse.issparse(self.X) else ""
        return f"Dataset({name}{sizes}, {counted(self.q, 'label')}{storage})"

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def q(self) -> int:
        """Number of labels."""
        return int(self.Y.shape[1])

    @property
    def labels(self) -> NamedLabels:
        """Y with the label names, for ``fit``: the model then answers in these names."""
        return NamedLabels.of(self.Y, self.label_names)

    @property
    def sha256(self) -> str:
        """Digest of all values: of X and Y, and of the cells of a table."""
        known = digest(as_features(self.X), self.Y)
        if self.table is None:
            return known
        return hashlib.sha256(f"{known} {self.table.to_pydict()}".encode()).hexdigest()

    def card(self) -> Any:
        """Sizes, label statistics of known entries, imbalance measures and oddities; see :func:`skcamel.data.statistics`."""
        from skcamel.data.statistics import card

        return card(self)

    def equals(self, other: Dataset) -> bool:
        """Whether both hold the same values, names and parts; storage, `name`, `source`, `dropped` and `categories` do not count.

        Examples
        --------
        >>> data = Dataset([[0.0, np.nan]], [[1]])
        >>> data.equals(Dataset(sparse.csr_array([[0.0, np.nan]]), [[1]]))
        True
        """
        if is_table(self.X) or is_table(other.X):
            same = is_table(self.X) and is_table(other.X) and self.X.equals(other.X)
        else:
            same = digest(self.X, self.Y) == digest(other.X, other.Y)
        return (
            same
            and np.array_equal(self.Y, other.Y, equal_nan=True)
            and self.feature_names == other.feature_names
            and self.label_names == other.label_names
            and np.array_equal(self.train, other.train)
            and np.array_equal(self.test, other.test)
        )


def is_table(X: Any) -> bool:
    """Whether X is a table of pyarrow, found out without importing it."""
    return type(X).__module__.split(".", 1)[0] == "pyarrow"


def as_features(X: Array) -> Any:
    """X as a float64 array or canonical CSR matrix of shape (n, d) without stored zeros.

    In place of a table of pyarrow, numbers from 1 on that are equal where its cells are, NaN for
    missing ones: statistics compare them, and no model learns from them.
    """
    if is_table(X):
        return np.column_stack([_codes(column) for column in X.columns])
    if sparse.issparse(X):
        return canonical(X.astype(np.float64, copy=False))
    matrix = np.asarray(_as_array(X), dtype=np.float64)
    if matrix.ndim != 2:
        problem = f"X has {matrix.ndim} dimension(s)"
        raise ValueError(f"{problem}; features are a matrix with one row per instance.")
    return matrix


def _codes(column: Any) -> np.ndarray:
    """Numbers from 1 on for the different cells of a column, NaN for missing ones."""
    if hasattr(column.type, "value_field"):  # lists
        known: dict[str, float] = {"": np.nan, "None": np.nan}
        return np.array([known.setdefault(str(cell), len(known)) for cell in column.to_pylist()])
    coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    codes = np.array(coded.indices.fill_null(-1), dtype=np.float64) + 1
    empty = [k for k, cell in enumerate(coded.dictionary.to_pylist(), 1) if cell == ""]
    codes[np.isin(codes, [0, *empty])] = np.nan
    return codes


def as_labels(Y: Array, name: str = "Y") -> np.ndarray:
    """Labels as a float64 array (n, q): 1, 0, and NaN where unknown.

    They may come as array, sparse matrix, tensor or frame, in {0, 1}, {-1, +1} or bool; messages
    call them `name`.

    >>> as_labels([[1, -1], [1, 1]]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    labels = _numbers(Y)
    _check_label_dimensions(labels, name)
    relevant = None if labels.dtype == object else ones_in(labels)
    if relevant is None:
        found = np.unique(labels.astype(str) if labels.dtype == object else labels).astype(str)
        listed = ", ".join(found[:6])
        raise ValueError(f"{name} must hold only 0 and 1, or only -1 and +1; found {listed}.")
    return np.where(labels == labels, relevant, np.nan)


def ones_in(labels: np.ndarray) -> np.ndarray | None:
    """Which labels are 1; None unless the others that are known, not NaN, are all 0 or all -1."""
    relevant = labels == 1
    others = labels[~relevant & (labels == labels)]
    return relevant if (others == 0).all() or (others == -1).all() else None


def _as_array(table: Any) -> np.ndarray:
    """An array, tensor, frame or list as an array."""
    return np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else to_numpy(table))


def _numbers(Y: Any) -> np.ndarray:
    """Labels as an array; objects as numbers with NaN for None and NA, if they are numbers."""
    labels = _as_array(dense(Y))
    return with_missing(labels) if labels.dtype == object else labels


def _labels(Y: Any) -> np.ndarray:
    """Labels in 0 and 1 as an int64 array, or as float64 with NaN where unknown; others are refused rather than guessed at."""
    Y = _numbers(Y)
    _check_label_dimensions(Y, "Y")
    unknown = np.isnan(Y) if Y.dtype.kind == "f" else np.zeros(Y.shape, dtype=bool)
    odd = np.argwhere((Y != 0) & (Y != 1) & ~unknown)
    if len(odd):
        row, label = odd[0]
        raise ValueError(
            f"Y holds {Y[row, label]} in row {row}, column {label}; labels are 0 or 1. Write (Y =="
            " 1) for labels in -1 and +1."
        )
    if unknown.any():  # every NaN of the same bits, for digests
        return np.where(unknown, np.nan, Y).astype(np.float64)
    return Y.astype(np.int64, copy=False)


def _check_label_dimensions(Y: np.ndarray, name: str) -> None:
    if Y.ndim != 2:
        raise ValueError(
            f"{name} has {Y.ndim} dimension(s); labels are a matrix with one row per instance and"
            " one column per label."
        )


def check_same_rows(X: Any, Y: Any, name: str = "Y") -> None:
    """Refuse labels of more or fewer rows than X has."""
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"{name} has {Y.shape[0]} rows but X has {X.shape[0]}; each row of X needs one row of"
            " labels."
        )


def row_numbers(rows: Array | None, n: int, name: str) -> np.ndarray | None:
    """Row numbers of a part, from row numbers or a mask."""
    if rows is None:
        return None
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (n,):
        return np.flatnonzero(given)
    numbers = given.ndim == 1 and (given.size == 0 or given.dtype.kind in "iu")
    if not numbers or ((given < 0) | (given >= n)).any():
        raise ValueError(
            f"{name} must hold row numbers from 0 to {n - 1}, or be a mask of {n} rows; got shape"
            f" {given.shape}, {given.dtype}."
        )
    return given.astype(np.int64)


def parts_of(counts: Sequence[int]) -> dict[str, Any]:
    """`train` and `test` of a Dataset whose rows come from two files of so many rows; nothing where there is one file."""
    if len(counts) < 2:
        return {}
    return {"train": np.arange(counts[0]), "test": np.arange(counts[0], sum(counts))}


def _names(names: Iterable[str], table: Any, prefix: str, count: int) -> tuple[str, ...]:
    """The names given, those that a frame brings, or numbers."""
    found = tuple(map(str, names)) or tuple(column_names(table) or ())
    found = found or default_names(prefix, count)
    if len(found) != count:
        noun = "label" if prefix == "label" else "feature"
        raise ValueError(f"{len(found)} {noun} names for {count} columns; give one for each.")
    return found


def digest(X: Any, Y: Any) -> str:
    """SHA-256 of the shapes and of all nonzero values of X (n, d) and Y (n, q), row by row: 64 hexadecimal digits.

    Names, storage (dense or sparse), the machine and the sign of zero do not count; one changed
    value does. NaN, for what is missing or unknown, is a value of its own.
    """
    hasher = hashlib.sha256(DIGEST_FORMAT)
    for matrix in (X, Y):
        rows = canonical(sparse.csr_array(matrix, dtype=np.float64))
        rows.data[np.isnan(rows.data)] = np.nan  # all of the same bits
        hasher.update(f"{matrix.shape[0]} {matrix.shape[1]} {rows.nnz}\n".encode())
        for part, kind in ((rows.indptr, "<i8"), (rows.indices, "<i8"), (rows.data, "<f8")):
            hasher.update(np.ascontiguousarray(part, dtype=kind).data)
    return hasher.hexdigest()


def row_kinds(X: Any, Y: Any = None) -> np.ndarray:
    """Numbers (n,) that are equal exactly where rows of X, and of Y if given, are equal; NaN counts as equal to NaN.

    X is a matrix or a table. Rows are told apart by 128-bit digests.
    """
    parts = [canonical(sparse.csr_array(as_features(part))) for part in (X, Y) if part is not None]
    known: dict[bytes, int] = {}
    kinds = np.empty(X.shape[0], dtype=np.int64)
    for row in range(len(kinds)):
        hasher = hashlib.blake2b(digest_size=16)
        for part in parts:
            cells = slice(part.indptr[row], part.indptr[row + 1])
            hasher.update(part.indices[cells].astype("<i8").tobytes() + b"|")
            hasher.update(part.data[cells].tobytes() + b"|")
        kinds[row] = known.setdefault(hasher.digest(), len(known))
    return kinds
