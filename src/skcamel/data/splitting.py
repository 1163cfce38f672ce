"""Splitters with scikit-learn's interface whose folds keep the frequency of every label.

scikit-learn's own `StratifiedKFold` refuses label matrices, and `cv=5` there means unshuffled, unstratified folds. These
classes go wherever scikit-learn takes a ``cv``: `cross_validate`, `GridSearchCV`, `CamelClassifierCV`.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.data.balance import FoldQuality, fold_quality
from skcamel.data.indicators import as_indicators
from skcamel.data.stratification import stratify, stratify_groups

__all__ = [
    "FoldQuality",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
    "RepeatedMultilabelStratifiedKFold",
    "fold_quality",
]

Split = tuple[np.ndarray, np.ndarray]


class MultilabelStratifiedKFold(BaseCrossValidator):
    """k folds with each label spread evenly over them, by iterative stratification.

    Every row is tested once; fold sizes are those of `sklearn.model_selection.KFold`, which differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Shuffle the rows first. Without it the same labels always give the same folds.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling; only with ``shuffle=True``.
    order : {1, 2}, default=1
        1 spreads labels, 2 spreads pairs of labels too, at some cost in time and in the spread of single labels.

    Notes
    -----
    With `groups`, all rows of a group are in one fold, and fold sizes are as near to each other as a greedy choice gets:
    none exceeds ``ceil(n / n_splits)`` by a whole largest group.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> for train, test in MultilabelStratifiedKFold(n_splits=2).split(Y, Y):
    ...     print(train, test, Y[test].sum(axis=0))
    [1 3 5] [0 2 4] [2 2]
    [0 2 4] [1 3 5] [2 2]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, order: int = 1) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order

    def get_n_splits(self, X: Array | None = None, y: Array | None = None, groups: Array | None = None) -> int:
        """Return the number of folds; the arguments are ignored."""
        return self.n_splits

    def split(self, X: Array, y: Array | None = None, groups: Array | None = None) -> Iterator[Split]:
        """Row numbers for training and for testing, fold by fold.

        Parameters
        ----------
        X : array-like or sparse matrix with n rows
            Only its number of rows is used.
        y : array-like, sparse matrix or frame of shape (n, q), or (n,) of classes
            Labels in {0, 1}, {-1, +1} or bool.
        groups : array-like of shape (n,), default=None
            Rows with the same group stay together.

        Yields
        ------
        train, test : int arrays, ascending
        """
        if self.random_state is not None and not self.shuffle:
            raise ValueError(f"random_state={self.random_state!r} has no effect with shuffle=False; set shuffle=True or leave it out.")
        Y = _labels(X, y, self.order)
        rng = check_random_state(self.random_state) if self.shuffle else None
        yield from _folds(Y, self.n_splits, groups, self.order, rng)


class RepeatedMultilabelStratifiedKFold(BaseCrossValidator):
    """:class:`MultilabelStratifiedKFold`, shuffled anew for every repeat.

    Parameters
    ----------
    n_splits : int, default=5
    n_repeats : int, default=10
    random_state : int, RandomState or None, default=None
    order : {1, 2}, default=1

    Examples
    --------
    >>> Y = np.eye(6, 3, dtype=int)
    >>> splitter = RepeatedMultilabelStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    >>> splitter.get_n_splits(), sorted(test.tolist() for _, test in splitter.split(Y, Y))
    (6, [[0, 4], [0, 4], [1, 3], [1, 5], [2, 3], [2, 5]])
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(self, n_splits: int = 5, *, n_repeats: int = 10, random_state: Any = None, order: int = 1) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.order = order

    def get_n_splits(self, X: Array | None = None, y: Array | None = None, groups: Array | None = None) -> int:
        """Return folds times repeats; the arguments are ignored."""
        return self.n_splits * self.n_repeats

    def split(self, X: Array, y: Array | None = None, groups: Array | None = None) -> Iterator[Split]:
        """Row numbers for training and for testing, repeat by repeat; see :meth:`MultilabelStratifiedKFold.split`."""
        _check_count(self.n_repeats, "n_repeats", least=1)
        Y = _labels(X, y, self.order)
        rng = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            yield from _folds(Y, self.n_splits, groups, self.order, rng)


class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    """Random training and test parts of given sizes with each label spread evenly over them.

    Parameters
    ----------
    n_splits : int, default=10
    test_size, train_size : float in (0, 1), int or None, default=None
        Share or number of rows. What is not given is the rest; a tenth is tested if neither is.
    random_state : int, RandomState or None, default=None
    order : {1, 2}, default=1

    Notes
    -----
    With `groups`, groups stay whole, so sizes are only near those asked for.

    Examples
    --------
    >>> Y = np.tile([[1, 0], [0, 1]], (10, 1))
    >>> splitter = MultilabelStratifiedShuffleSplit(n_splits=1, test_size=0.2, random_state=0)
    >>> [Y[part].sum(axis=0).tolist() for part in next(splitter.split(Y, Y))]
    [[8, 8], [2, 2]]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: Any = None,
        order: int = 1,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state
        self.order = order

    def split(self, X: Array, y: Array | None = None, groups: Array | None = None) -> Iterator[Split]:
        """Row numbers for training and for testing; the arguments are those of :meth:`MultilabelStratifiedKFold.split`."""
        _check_count(self.n_splits, "n_splits", least=1)
        Y = _labels(X, y, self.order)
        n_train, n_test = _part_sizes(Y.shape[0], self.train_size, self.test_size)
        sizes = np.array([n_test, n_train, Y.shape[0] - n_train - n_test])
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            parts = _assigned(Y, sizes, groups, self.order, rng)
            yield np.flatnonzero(parts == 1), np.flatnonzero(parts == 0)


def _labels(X: Array, y: Array | None, order: int) -> sparse.csr_array:
    """Labels as CSR; a 1-d y of classes has one column for each class."""
    if y is None:
        raise ValueError("Stratified splitting needs the labels: call split(X, Y) with one row of labels for each row of X.")
    if order not in (1, 2):
        raise ValueError(f"order={order!r} is not known; choose 1 (labels) or 2 (labels and pairs of labels).")
    if not sparse.issparse(y) and np.ndim(y) == 1:
        classes, index = np.unique(np.asarray(y), return_inverse=True)
        y = index[:, None] == np.arange(len(classes))
    Y = as_indicators(y, "y")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if Y.shape[0] != n_rows:
        raise ValueError(f"y has {Y.shape[0]} rows but X has {n_rows}; each row of X needs one row of labels.")
    return Y


def _folds(Y: sparse.csr_array, n_splits: int, groups: Array | None, order: int, rng: np.random.RandomState | None) -> Iterator[Split]:
    """All splits of one repeat."""
    n = Y.shape[0]
    _check_count(n_splits, "n_splits", least=2)
    if n_splits > n:
        raise ValueError(f"n_splits={n_splits} folds cannot be made of {n} rows; choose at most {n} folds.")
    sizes = np.full(n_splits, n // n_splits)
    sizes[: n % n_splits] += 1
    folds = _assigned(Y, sizes, groups, order, rng)
    for fold in range(n_splits):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _assigned(Y: sparse.csr_array, sizes: np.ndarray, groups: Array | None, order: int, rng: np.random.RandomState | None) -> np.ndarray:
    """Fold of each row, groups kept together where given."""
    if groups is None:
        return stratify(Y, sizes, order=order, rng=rng)
    groups = np.asarray(groups)
    if groups.shape != (Y.shape[0],):
        raise ValueError(f"groups has shape {groups.shape}; one group for each of the {Y.shape[0]} rows is needed.")
    names, index = np.unique(groups, return_inverse=True)
    n_parts = int((sizes > 0).sum())
    if len(names) < n_parts:
        raise ValueError(f"{len(names)} groups cannot fill {n_parts} parts; choose fewer folds or finer groups.")
    return stratify_groups(Y, index, sizes, order=order, rng=rng)


def _part_sizes(n: int, train_size: float | None, test_size: float | None) -> tuple[int, int]:
    """Rows of the training and the test part; shares round as in scikit-learn, tests up and training down."""
    if train_size is None and test_size is None:
        test_size = 0.1
    n_test = None if test_size is None else _rows_of(test_size, n, "test_size", up=True)
    n_train = n - (n_test or 0) if train_size is None else _rows_of(train_size, n, "train_size", up=False)
    n_test = n - n_train if n_test is None else n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(
            f"train_size={train_size!r} and test_size={test_size!r} ask for {n_train} + {n_test} of {n} rows; "
            "both parts need at least one row and together at most all."
        )
    return n_train, n_test


def _rows_of(size: float, n: int, name: str, *, up: bool) -> int:
    if isinstance(size, Integral) and not isinstance(size, bool):
        return int(size)
    if not isinstance(size, Real) or not 0 < size < 1:
        raise ValueError(f"{name}={size!r} must be a share between 0 and 1, or a whole number of rows.")
    return int(np.ceil(size * n) if up else np.floor(size * n))


def _check_count(value: int, name: str, *, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")
