"""X and Y in one form: matrices, or a table of cells; with names, digests and statistics."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
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
from skcamel.data import DataError
from skcamel.data.sources import first_repeated
from skcamel.text import count, one_line

DIGEST_FORMAT = b"skcamel digest 1\n"


class NamedLabels(np.ndarray):
    """A label matrix that knows its column names.

    Indexing keeps them with their columns, anything else drops them.
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
            numbers = np.broadcast_to(np.arange(len(self.columns)), self.shape)[key]
            part.columns = tuple(self.columns[k] for k in numbers[:1].ravel()) or None
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
        Labels, 0 and 1 or -1 and +1, and NaN, None or NA where unknown; kept as 0 and 1 in an int64
        array, or in a float64 array if some are unknown.
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
    zero_based: Any = None

    def __post_init__(self) -> None:
        X = self.X if is_table(self.X) else as_features(self.X)
        Y = as_labels(self.Y)
        n, d = X.shape
        if n != Y.shape[0]:
            raise ValueError(
                f"Y has {Y.shape[0]} rows but X has {n}; each row of X needs one row of labels."
            )
        label_names = _names(self.label_names, self.Y, "label", Y.shape[1])
        twice = first_repeated(label_names)
        if twice is not None:
            raise ValueError(
                f"label_names has {twice!r} twice; labels are identified by name, rename one."
            )
        stored = {
            "X": X,
            "Y": Y if np.isnan(Y).any() else Y.astype(np.int64),
            "feature_names": _names(self.feature_names, self.X, "f", d),
            "label_names": label_names,
            "dropped": tuple(self.dropped),
            "train": row_numbers(self.train, n, "train"),
            "test": row_numbers(self.test, n, "test"),
            "table": X if is_table(X) else self.table,
        }
        for name, value in stored.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        rows = count(self.n, "row")
        sizes = [rows, count(self.d, "feature"), count(self.q, "label")]
        if self.name:
            sizes[0] = f"{self.name}: {rows}"
        if sparse.issparse(self.X):
            sizes.append("sparse")
        return f"Dataset({', '.join(sizes)})"

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
        if self.table is None:
            return digest(self.X, self.Y)
        values = f"{self.Y.tolist()} {self.table.to_pydict()}"
        return hashlib.sha256(values.encode()).hexdigest()

    def card(self) -> Card:
        """Sizes and label statistics; see :func:`skcamel.data.card`."""
        return card(self)


def joined(train: Dataset, test: Dataset) -> Dataset:
    """Rows of two data sets with the same names as one; `train` and `test` name their rows."""
    names = (train.feature_names, train.label_names, train.categories)
    if names != (test.feature_names, test.label_names, test.categories):
        raise DataError(
            "has other features or labels than the training file; are both of the same release?",
            path=test.source,
        )
    numbers = np.arange(train.n + test.n)
    return replace(
        train,
        X=stacked([train.X, test.X]),
        Y=stacked([train.Y, test.Y]),
        train=numbers[: train.n],
        test=numbers[train.n :],
    )


def stacked(parts: Sequence[Any], axis: int = 0) -> Any:
    """Matrices one below the other, or side by side; CSR where one is sparse."""
    if not any(sparse.issparse(part) for part in parts):
        return np.concatenate(parts, axis=axis)
    if axis:
        return sparse.hstack(parts, format="csr")
    return sparse.vstack(parts, format="csr")


# Forms


def is_table(X: Any) -> bool:
    """Whether X is a table of pyarrow, found out without importing it."""
    return type(X).__module__.split(".", 1)[0] == "pyarrow"


def as_features(X: Array) -> Any:
    """X as a float64 array or canonical CSR matrix of shape (n, d) without stored zeros.

    In place of a table of pyarrow, numbers that are equal where its cells are, NaN for missing
    ones: statistics compare them, and no model learns from them.
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


def _codes(column: Any) -> list[float]:
    """Numbers of the different cells of a column, NaN for missing ones."""
    known = {"": np.nan, "None": np.nan}
    return [known.setdefault(str(cell), len(known)) for cell in column.to_pylist()]


def as_labels(Y: Array, name: str = "Y") -> np.ndarray:
    """Labels as a float64 array (n, q): 1, 0, and NaN where unknown.

    They may come as array, sparse matrix, tensor or frame, in {0, 1}, {-1, +1} or bool; messages
    call them `name`.

    >>> as_labels([[1, -1], [1, 1]]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    labels = _as_array(dense(Y))
    if labels.dtype == object:
        labels = with_missing(labels)
    if labels.ndim != 2:
        raise ValueError(
            f"{name} has {labels.ndim} dimension(s); labels are a matrix with one row per instance"
            " and one column per label."
        )
    is_one = labels == 1
    is_known = labels == labels
    others = labels[is_known & ~is_one]
    if (others != 0).any() and (others != -1).any():
        found = np.unique(labels.astype(str))
        listed = ", ".join(found[:6])
        raise ValueError(f"{name} must hold only 0 and 1, or only -1 and +1; found {listed}.")
    return np.where(is_known, is_one, np.nan)


def _as_array(table: Any) -> np.ndarray:
    """An array, tensor, frame or list as an array."""
    return np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else to_numpy(table))


def row_numbers(rows: Array | None, n: int, name: str) -> np.ndarray | None:
    """Row numbers of a part, from row numbers or a mask."""
    if rows is None:
        return None
    given = np.ravel(rows)
    try:
        if given.size and given.min() < 0:
            raise IndexError
        return np.arange(n)[given if given.size else []]
    except IndexError:
        raise ValueError(
            f"{name} must hold row numbers from 0 to {n - 1}, or be a mask of {n} rows; got shape"
            f" {given.shape}, {given.dtype}."
        ) from None


def _names(names: Iterable[str], table: Any, prefix: str, n: int) -> tuple[str, ...]:
    """The names given, those that a frame brings, or numbers."""
    found = tuple(map(str, names))
    if not found:
        found = tuple(column_names(table) or default_names(prefix, n))
    if len(found) != n:
        shown = ", ".join(default_names(prefix, 2))
        raise ValueError(f"{len(found)} names for {n} columns ({shown}, …); give one for each.")
    return found


# Digests


def digest(X: Any, Y: Any) -> str:
    """SHA-256 of the shapes and of all nonzero values of X (n, d) and Y (n, q), row by row.

    Names, storage (dense or sparse), the machine and the sign of zero do not count; one changed
    value does. NaN, for what is missing or unknown, is a value of its own.
    """
    hasher = hashlib.sha256(DIGEST_FORMAT)
    for matrix in (X, Y):
        rows = canonical(sparse.csr_array(matrix, dtype=np.float64))
        rows.data[np.isnan(rows.data)] = np.nan  # all of the same bits
        hasher.update(f"{matrix.shape[0]} {matrix.shape[1]} {rows.nnz}\n".encode())
        for indices in (rows.indptr, rows.indices):
            hasher.update(indices.astype("<i8").tobytes())
        hasher.update(rows.data.astype("<f8").tobytes())
    return hasher.hexdigest()


def row_kinds(X: Any) -> np.ndarray:
    """Numbers (n,) that are equal exactly where rows of a matrix or table are equal.

    NaN counts as equal to NaN.
    """
    rows = canonical(sparse.csr_array(as_features(X)))
    known: dict[bytes, int] = {}
    kinds: list[int] = []
    for start, stop in pairwise(rows.indptr.tolist()):
        row = rows.indices[start:stop].tobytes() + rows.data[start:stop].tobytes()
        kinds.append(known.setdefault(row, len(known)))
    return np.array(kinds, dtype=np.int64)


# Statistics


@dataclass(frozen=True, eq=False)
class Card:
    """Statistics of a data set, as :func:`card` computes them; ``print(card)`` shows a table.

    Unknown labels (NaN) are left out: a row has the labels that are known to be relevant.

    Attributes
    ----------
    n, d, q : int
        Rows, features, labels.
    cardinality, density : float
        Mean number of labels of a row; share of ones among the known entries.
    label_sets : int
        Different label sets of rows whose labels are all known.
    mean_ir : float
        Mean of the imbalance ratios of labels that occur: rows of the commonest label over rows of
        each.
    known : float
        Share of the label entries that are known.
    label_counts : array of shape (q,)
        Rows of each label.
    """

    name: str
    n: int
    d: int
    q: int
    cardinality: float
    density: float
    label_sets: int
    mean_ir: float
    known: float
    label_counts: np.ndarray
    label_names: tuple[str, ...]

    def __str__(self) -> str:
        lines = [one_line(self.name) or "data set"]
        for name, value in vars(self).items():
            if isinstance(value, int | float):
                lines.append(f"  {name:<12}{round(value, 4):>10,}")
        return "\n".join(lines)


def card(dataset: Dataset | tuple[Array, Array]) -> Card:
    """Sizes and label statistics of a data set.

    Parameters
    ----------
    dataset : Dataset, or pair (X, Y)
        X dense or sparse of shape (n, d), Y of shape (n, q) in {0, 1}, {-1, +1} or bool, NaN where
        unknown.

    Returns
    -------
    Card

    Examples
    --------
    >>> figures = card((np.eye(4), [[1, 0], [1, 1], [1, 0], [0, 0]]))
    >>> figures.cardinality, figures.density, figures.label_sets, figures.mean_ir
    (1.0, 0.5, 3, 2.0)
    """
    if isinstance(dataset, tuple):
        dataset = Dataset(*dataset)
    Y = dataset.Y
    known = Y == Y
    n_known = float(known.sum())
    counts = (Y == 1).sum(axis=0)
    total = float(counts.sum())
    complete = Y[known.all(axis=1)]
    label_sets = np.unique(complete, axis=0)
    occurring = counts[counts > 0]
    ratios = occurring.max(initial=0) / occurring
    return Card(
        name=dataset.name,
        n=dataset.n,
        d=dataset.d,
        q=dataset.q,
        cardinality=total / max(dataset.n, 1),
        density=total / max(n_known, 1),
        label_sets=len(label_sets),
        mean_ir=float(ratios.sum()) / max(len(ratios), 1),
        known=n_known / max(known.size, 1),
        label_counts=counts,
        label_names=dataset.label_names,
    )
