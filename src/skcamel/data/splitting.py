"""Splits that keep the frequency of every label, by iterative stratification.

scikit-learn's own `StratifiedKFold` refuses label matrices, and `cv=5` there means unshuffled,
unstratified folds. These classes go wherever scikit-learn takes a ``cv``: `cross_validate`,
`GridSearchCV`, `CamelClassifierCV`.

The rule is that of Sechidis, Tsoumakas and Vlahavas (On the stratification of multi-label data,
ECML PKDD 2011): take the label with the fewest rows not placed yet, give each of them to the fold
that lacks the label most, and go on with the next label. Where the rule leaves a choice, these make
folds better and faster:

- rows with the same label set are alike, so as many of them as divide evenly are dealt out at once;
- rows of the rarest label, those with many labels first, are matched to the folds that are next so
  that each fold gets what it lacks of the rows' other labels;
- folds have fixed sizes, and a full fold takes no more.

Unknown labels (NaN) count neither as positive nor as negative: what is spread evenly are the known
positives.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.data.dataset import as_labels, check_same_rows, row_kinds

UNPLACED = -1
SMALLEST_WINDOW = 8  # rows matched at a time where there are fewer folds than this
TIE_WEIGHT = 1e-3  # of what decides between folds that lack equally many rows of a label, in rows

Split = tuple[np.ndarray, np.ndarray]
Rng = np.random.RandomState | None


class MultilabelStratifiedKFold(BaseCrossValidator):
    """k folds with each label spread evenly over them, by iterative stratification.

    Every row is tested once; fold sizes are those of `sklearn.model_selection.KFold`, which differ
    by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        Shuffle the rows first. Without it the same labels always give the same folds.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling; only with ``shuffle=True``.

    Notes
    -----
    With `groups`, all rows of a group are in one fold, and a greedy choice keeps fold sizes near
    each other: none exceeds ``ceil(n / n_splits)`` by a whole largest group.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> for train, test in MultilabelStratifiedKFold(n_splits=2).split(Y, Y):
    ...     print(train, test, Y[test].sum(axis=0))
    [1 3 5] [0 2 4] [2 2]
    [0 2 4] [1 3 5] [2 2]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(
        self, X: Array | None = None, y: Array | None = None, groups: Array | None = None
    ) -> int:
        """Return the number of folds; the arguments are ignored."""
        return self.n_splits

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
        """Row numbers for training and for testing, fold by fold.

        Parameters
        ----------
        X : array-like or sparse matrix with n rows
            Only its number of rows is used.
        y : array-like, sparse matrix or frame of shape (n, q), or (n,) of classes
            Labels in {0, 1}, {-1, +1} or bool; NaN where unknown.
        groups : array-like of shape (n,), default=None
            Rows with the same group stay together.

        Yields
        ------
        train, test : int arrays, ascending
        """
        if self.random_state is not None and not self.shuffle:
            raise ValueError(
                f"random_state={self.random_state!r} has no effect with shuffle=False; set"
                " shuffle=True or leave it out."
            )
        Y = _labels(X, y)
        n = Y.shape[0]
        _check_count(self.n_splits, least=2)
        if self.n_splits > n:
            raise ValueError(
                f"n_splits={self.n_splits} folds cannot be made of {n} rows; choose at most {n}"
                " folds."
            )
        sizes = np.full(self.n_splits, n // self.n_splits)
        sizes[: n % self.n_splits] += 1
        rng = check_random_state(self.random_state) if self.shuffle else None
        folds = _folds(Y, sizes, groups, rng)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


class MultilabelStratifiedShuffleSplit(BaseShuffleSplit):
    """Random training and test parts of given sizes with each label spread evenly over them.

    Parameters
    ----------
    n_splits : int, default=10
    test_size, train_size : float in (0, 1), int or None, default=None
        Share or number of rows. What is not given is the rest; a tenth is tested if neither is.
    random_state : int, RandomState or None, default=None

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
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
        """Row numbers for training and for testing; the arguments are those of :meth:`MultilabelStratifiedKFold.split`."""
        _check_count(self.n_splits, least=1)
        Y = _labels(X, y)
        n_train, n_test = _part_sizes(Y.shape[0], self.train_size, self.test_size)
        sizes = np.array([n_test, n_train, Y.shape[0] - n_train - n_test])
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            parts = _folds(Y, sizes, groups, rng)
            yield np.flatnonzero(parts == 1), np.flatnonzero(parts == 0)


def _labels(X: Array, y: Array | None) -> np.ndarray:
    """Labels in 0 and 1, (n, q); a 1-d y of classes has one column for each class."""
    if y is None:
        raise ValueError(
            "Stratified splitting needs the labels: call split(X, Y) with one row of labels for"
            " each row of X."
        )
    if not sparse.issparse(y) and np.ndim(y) == 1:
        classes, index = np.unique(np.asarray(y), return_inverse=True)
        y = index[:, None] == np.arange(len(classes))
    Y = (as_labels(y, "y") == 1).astype(np.int64)
    check_same_rows(X if hasattr(X, "shape") else np.empty(len(X)), Y, "y")  # X may be a list
    return Y


def _check_count(n_splits: Any, *, least: int) -> None:
    if not isinstance(n_splits, Integral) or isinstance(n_splits, bool) or n_splits < least:
        raise ValueError(f"n_splits={n_splits!r} must be a whole number of at least {least}.")


def _part_sizes(n: int, train_size: float | None, test_size: float | None) -> tuple[int, int]:
    """Rows of the training and the test part; shares round as in scikit-learn, tests up and training down."""
    if train_size is None and test_size is None:
        test_size = 0.1
    n_test = 0 if test_size is None else int(np.ceil(_rows(test_size, n, "test_size")))
    n_train = 0 if train_size is None else int(np.floor(_rows(train_size, n, "train_size")))
    if train_size is None:
        n_train = n - n_test
    if test_size is None:
        n_test = n - n_train
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(
            f"train_size={train_size!r} and test_size={test_size!r} ask for {n_train} + {n_test} of"
            f" {n} rows; both parts need at least one row and together at most all."
        )
    return n_train, n_test


def _rows(size: float, n: int, name: str) -> float:
    """Number of rows that a share or a number means, not rounded."""
    if isinstance(size, Integral) and not isinstance(size, bool):
        return size
    if not isinstance(size, Real) or not 0 < size < 1:
        raise ValueError(
            f"{name}={size!r} must be a share between 0 and 1, or a whole number of rows."
        )
    return size * n


def _folds(Y: np.ndarray, sizes: np.ndarray, groups: Array | None, rng: Rng) -> np.ndarray:
    """Fold of each row, (n,), groups kept together where given; `rng` shuffles the rows first."""
    n, q = Y.shape
    if groups is not None:
        return _folds_of_groups(Y, sizes, np.asarray(groups), rng)
    shuffled = np.arange(n)
    if rng is not None:  # the order of the labels decides between equally rare ones
        shuffled = rng.permutation(n)
        Y = Y[shuffled][:, np.argsort(rng.permutation(q))]
    placing = _Placing(Y, sizes)
    placing.deal_equal_rows()
    placing.place_by_rarest_label()
    unlabelled = placing.folds == UNPLACED
    placing.folds[unlabelled] = np.repeat(np.arange(len(sizes)), placing.room)
    folds = np.empty(n, dtype=np.int64)
    folds[shuffled] = placing.folds
    return folds


def _shares(sizes: np.ndarray) -> np.ndarray:
    """Shares of the folds as whole numbers; sizes that differ by one count as equal, or the larger folds would draw every rare label."""
    return np.ones_like(sizes) if np.ptp(sizes) <= 1 and sizes.min() > 0 else sizes


class _Placing:
    """Rows on their way into folds."""

    def __init__(self, Y: np.ndarray, sizes: np.ndarray) -> None:
        self.Y = Y
        self.shares = _shares(sizes)
        self.folds = np.full(len(Y), UNPLACED)
        self.room = sizes.astype(np.int64)  # (n_folds,) rows
        # rows with each label that each fold lacks, (q, n_folds); negative where it has too many
        self.lacking = np.outer(Y.sum(axis=0), self.shares / self.shares.sum())

    def place(self, rows: np.ndarray, folds: np.ndarray) -> None:
        """Put rows into folds."""
        placed, labels = np.nonzero(self.Y[rows])
        np.subtract.at(self.lacking, (labels, folds[placed]), 1.0)
        self.room -= np.bincount(folds, minlength=len(self.room))
        self.folds[rows] = folds

    def deal_equal_rows(self) -> None:
        """Give each fold its share, rounded down, of the rows with each label set."""
        kinds = row_kinds(self.Y)
        counts = np.bincount(kinds)
        before = np.repeat(np.cumsum(counts) - counts, counts)
        rank = np.empty(len(kinds), dtype=np.int64)  # of each row among its kind
        rank[np.argsort(kinds, kind="stable")] = np.arange(len(kinds)) - before
        dealt = counts[:, None] * self.shares // self.shares.sum()  # (n_kinds, n_folds)
        ends = np.cumsum(dealt, axis=1)[kinds]
        rows = np.flatnonzero(rank < ends[:, -1])
        self.place(rows, (rank[rows, None] >= ends[rows]).sum(axis=1))

    def place_by_rarest_label(self) -> None:
        """Place every row that has a label."""
        n_labels = self.Y.sum(axis=1)
        remaining = self.Y[self.folds == UNPLACED].sum(axis=0)
        window = max(len(self.room), SMALLEST_WINDOW)
        while remaining.any():
            label = int(np.where(remaining > 0, remaining, len(self.Y) + 1).argmin())
            rows = np.flatnonzero((self.Y[:, label] > 0) & (self.folds == UNPLACED))
            rows = rows[np.argsort(-n_labels[rows], kind="stable")]
            turns = self.turns(label, len(rows))
            for first in range(0, len(rows), window):
                some = slice(first, first + window)
                self.match(rows[some], turns[some])
            remaining -= self.Y[rows].sum(axis=0)

    def turns(self, label: int, n_rows: int) -> np.ndarray:
        """Folds in the order in which they take the rows of a label, (n_rows,): the one that lacks it most, among equals the one with most room."""
        depth = min(n_rows, int(self.room.max()))
        tie = TIE_WEIGHT * (self.room - self.room.min()) / max(np.ptp(self.room), 1e-9)
        levels = (self.lacking[label] + tie)[:, None] - np.arange(depth)  # (n_folds, depth)
        levels[np.arange(depth) >= self.room[:, None]] = -np.inf
        return np.argsort(-levels, axis=None, kind="stable")[:n_rows] // depth

    def match(self, rows: np.ndarray, turns: np.ndarray) -> None:
        """Give rows to the folds whose turn it is, so that the folds get most of what they lack."""
        which, labels = np.nonzero(self.Y[rows])
        starts = np.searchsorted(which, np.arange(len(rows)))
        wanted = np.add.reduceat(self.lacking[labels], starts, axis=0)
        _, chosen = linear_sum_assignment(wanted[:, turns], maximize=True)
        self.place(rows, turns[chosen])


def _folds_of_groups(Y: np.ndarray, sizes: np.ndarray, groups: np.ndarray, rng: Rng) -> np.ndarray:
    """Fold of each row, (n,), all rows of a group in one fold.

    Groups with the rarest labels are placed first, large ones before small ones, each into the fold
    that lacks most of what its rows have. A fold takes a group only if it has room for it; where
    none has, the fold with most room does. No fold stays empty while there are groups.
    """
    n = len(Y)
    if groups.shape != (n,):
        raise ValueError(
            f"groups has shape {groups.shape}; one group for each of the {n} rows is needed."
        )
    names, index = np.unique(groups, return_inverse=True)
    n_parts = int((sizes > 0).sum())
    if len(names) < n_parts:
        raise ValueError(
            f"{len(names)} groups cannot fill {n_parts} parts; choose fewer folds or finer groups."
        )
    cells = (np.ones(n, dtype=np.int64), (index, np.arange(n)))
    counts = sparse.csr_array(cells, shape=(len(names), n)) @ sparse.csr_array(Y)  # (n_groups, q)
    group_sizes = np.bincount(index)
    lacking = _Placing(Y, sizes).lacking
    room = sizes.astype(np.int64)
    folds = np.full(len(names), UNPLACED)
    order = _rarest_groups_first(counts, Y.sum(axis=0), group_sizes, rng)
    for placed, group in enumerate(order.tolist()):
        entries = slice(counts.indptr[group], counts.indptr[group + 1])
        labels, weights, size = counts.indices[entries], counts.data[entries], group_sizes[group]
        wanted = weights @ lacking[labels] + size * room  # (n_folds,)
        empty = (room == sizes) & (sizes > 0)
        fits = room >= size
        if len(names) - placed <= empty.sum():
            fits = empty
        elif not fits.any():
            fits = room == room.max()
        fold = int(np.where(fits, wanted, -np.inf).argmax())
        folds[group] = fold
        lacking[labels, fold] -= weights
        room[fold] -= size
    return folds[index]


def _rarest_groups_first(
    counts: sparse.csr_array, total: np.ndarray, group_sizes: np.ndarray, rng: Rng
) -> np.ndarray:
    """All groups, ordered by the frequency of their rarest label, then by size."""
    n_groups = len(group_sizes)
    none = np.iinfo(np.int64).max
    totals = np.where(counts.toarray() > 0, total, none)
    rarest = totals.min(axis=1, initial=none)
    order = np.arange(n_groups) if rng is None else rng.permutation(n_groups)
    return order[np.lexsort((-group_sizes[order], rarest[order]))]
