"""Dataset: features, labels and their names as one frozen value; no file access."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skcamel.data.text import first_repeated
from skcamel.rows import canonical


class NamedLabels(np.ndarray):
    """A label matrix that knows its column names; indexing keeps them with their columns, anything else drops them.

    Estimators read `columns` as they do from a frame, so that models keep the names of the labels.
    """

    columns: tuple[str, ...] | None = None

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
    X : array or sparse matrix of shape (n, d)
        Features; kept as a float64 array, or as a float64 ``scipy.sparse.csr_array``. NaN marks missing values.
    Y : array or sparse matrix of shape (n, q)
        Labels, 0 or 1; kept as an int64 array.
    feature_names : iterable of str, default=f1, f2, …
    label_names : iterable of str, default=label1, label2, …
        All different.
    name, source : str
        What it is called, and where it was read from.
    dropped : iterable of str
        Attributes of the file that identify rows and are no features.
    train, test : array of row indices, optional
        Parts, where a pair of files gives them.
    categories : mapping from feature name to tuple of str
        Values of the features that were text, in the order of their numbers where these are positions.

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
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    name: str = ""
    source: str = ""
    dropped: tuple[str, ...] = ()
    train: Any = None
    test: Any = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X, Y = _features(self.X), _labels(self.Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"Y has {Y.shape[0]} rows but X has {X.shape[0]}; each row of X needs one row of labels.")
        label_names = _names(self.label_names, "label", Y.shape[1])
        twice = first_repeated(label_names)
        if twice is not None:
            raise ValueError(f"label_names has {twice!r} twice; labels are told apart by name, rename one.")
        stored = {
            "X": X,
            "Y": Y,
            "feature_names": _names(self.feature_names, "f", X.shape[1]),
            "label_names": label_names,
            "dropped": tuple(self.dropped),
            "train": _part(self.train, "train", X.shape[0]),
            "test": _part(self.test, "test", X.shape[0]),
        }
        for name, value in stored.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        sizes = ((self.n, "row"), (self.d, "feature"), (self.q, "label"))
        counts = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in sizes)
        return f"Dataset({self.name + ': ' if self.name else ''}{counts}{', sparse' if sparse.issparse(self.X) else ''})"

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
        """Y with the label names, for ``fit``: the model then answers in these names.

        Examples
        --------
        >>> data = Dataset([[0.5], [2.0]], [[1, 0], [0, 1]], label_names=("sea", "sun"))
        >>> data.labels[:1].columns
        ('sea', 'sun')
        """
        named = self.Y.view(NamedLabels)
        named.columns = self.label_names
        return named

    def card(self) -> Any:
        """Sizes, label statistics, imbalance measures and oddities; see :func:`skcamel.data.card`."""
        from skcamel.data.card import card

        return card(self)

    def equals(self, other: Dataset) -> bool:
        """Whether both hold the same values, names and parts; storage, `name`, `source`, `dropped` and `categories` do not.

        Examples
        --------
        >>> data = Dataset([[0.0, np.nan]], [[1]])
        >>> data.equals(Dataset(sparse.csr_array([[0.0, np.nan]]), [[1]]))
        True
        """
        return (
            self.X.shape == other.X.shape
            and np.array_equal(self.Y, other.Y)
            and self.feature_names == other.feature_names
            and self.label_names == other.label_names
            and _same_part(self.train, other.train)
            and _same_part(self.test, other.test)
            and _same_values(self.X, other.X)
        )


def default_names(prefix: str, count: int) -> tuple[str, ...]:
    """``prefix1 … prefixN`` for formats that hold no names.

    Examples
    --------
    >>> default_names("f", 2)
    ('f1', 'f2')
    """
    return tuple(f"{prefix}{index}" for index in range(1, count + 1))


def _features(X: Any) -> Any:
    if sparse.issparse(X):
        return canonical(X.astype(np.float64, copy=False))
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimension(s); features are a matrix with one row per instance.")
    return X


def _labels(Y: Any) -> np.ndarray:
    Y = np.asarray(Y.toarray() if sparse.issparse(Y) else Y)
    if Y.ndim != 2:
        raise ValueError(f"Y has {Y.ndim} dimension(s); labels are a matrix with one row per instance and one column per label.")
    odd = (Y != 0) & (Y != 1)
    if odd.any():
        row, label = np.argwhere(odd)[0]
        raise ValueError(
            f"Y holds {Y[row, label]} in row {row}, column {label}; labels are 0 or 1. Write (Y == 1) for labels in -1 and +1."
        )
    return Y.astype(np.int64, copy=False)


def _names(names: Iterable[str], prefix: str, count: int) -> tuple[str, ...]:
    names = tuple(str(name) for name in names) or default_names(prefix, count)
    if len(names) != count:
        raise ValueError(f"{len(names)} {'label' if prefix == 'label' else 'feature'} names for {count} columns; give one for each.")
    return names


def _part(rows: Any, which: str, n: int) -> np.ndarray | None:
    if rows is None:
        return None
    rows = np.asarray(rows, dtype=np.int64)
    if rows.ndim != 1 or (rows < 0).any() or (rows >= n).any():
        raise ValueError(f"{which} must hold row indices from 0 to {n - 1}, in one dimension.")
    return rows


def _same_part(mine: np.ndarray | None, theirs: np.ndarray | None) -> bool:
    if mine is None or theirs is None:
        return mine is theirs
    return np.array_equal(mine, theirs)


def _same_values(mine: Any, theirs: Any) -> bool:
    if not sparse.issparse(mine) and not sparse.issparse(theirs):
        return np.array_equal(mine, theirs, equal_nan=True)
    mine, theirs = (_without_zeros(X) for X in (mine, theirs))
    return (
        np.array_equal(mine.indptr, theirs.indptr)
        and np.array_equal(mine.indices, theirs.indices)
        and np.array_equal(mine.data, theirs.data, equal_nan=True)
    )


def _without_zeros(X: Any) -> Any:
    """Copy in CSR form with sorted indices and no stored zeros: equal matrices have equal arrays."""
    copy = sparse.csr_array(X, copy=True)
    copy.sum_duplicates()
    copy.eliminate_zeros()
    return copy
