"""Splits that keep the frequency of every label, by iterative stratification.

scikit-learn's own `StratifiedKFold` refuses label matrices, and `cv=5` there means unshuffled,
unstratified folds. These classes go wherever scikit-learn takes a ``cv``: `cross_validate`,
`GridSearchCV`, `CamelClassifierCV`.

The rule is that of Sechidis, Tsoumakas and Vlahavas (On the stratification of multi-label data,
ECML PKDD 2011), for all labels of a row at once: rows with the rarest labels are placed first, each
into the fold that lacks most of what the row has, where a label weighs as one over the square root
of its frequency. Folds have fixed sizes, and a full fold takes no more. Groups are placed as a
whole. Unknown labels (NaN) count neither as positive nor as negative: what is spread evenly are the
known positives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.utils import check_consistent_length, check_random_state

from skcamel.arrays import Array
from skcamel.checks import check_groups
from skcamel.data.dataset import as_labels

Split = tuple[np.ndarray, np.ndarray]
Rng = np.random.RandomState | None


class MultilabelStratifiedKFold(KFold):
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

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
        """Row numbers for training and for testing, fold by fold.

        Parameters
        ----------
        X : array-like or sparse matrix with n rows
            Only its number of rows is used.
        y : array-like, sparse matrix or frame of shape (n, q)
            Labels in {0, 1}, {-1, +1} or bool; NaN where unknown.
        groups : array-like of shape (n,), default=None
            Rows with the same group stay together.

        Yields
        ------
        train, test : int arrays, ascending
        """
        Y = _labels(X, y)
        sizes = [len(test) for _, test in super().split(Y)]
        rng = check_random_state(self.random_state) if self.shuffle else None
        folds = _folds(Y, np.array(sizes), groups, rng)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


class MultilabelStratifiedShuffleSplit(ShuffleSplit):
    """Random training and test parts of given sizes with each label spread evenly over them.

    Parameters
    ----------
    n_splits : int, default=10
    test_size, train_size : float in (0, 1), int or None, default=None
        Share or number of rows. What is not given is the rest; a tenth is tested if neither is.
    random_state : int, RandomState or None, default=None

    Notes
    -----
    With `groups`, groups stay whole, so sizes are only near the requested ones.

    Examples
    --------
    >>> Y = np.tile([[1, 0], [0, 1]], (10, 1))
    >>> splitter = MultilabelStratifiedShuffleSplit(n_splits=1, test_size=0.2, random_state=0)
    >>> [Y[part].sum(axis=0).tolist() for part in next(splitter.split(Y, Y))]
    [[8, 8], [2, 2]]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
        """Row numbers for training and for testing.

        The arguments are those of :meth:`MultilabelStratifiedKFold.split`.
        """
        Y = _labels(X, y)
        train, test = next(super().split(Y))
        sizes = np.array([len(test), len(train), len(Y) - len(train) - len(test)])
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            parts = _folds(Y, sizes, groups, rng)
            yield np.flatnonzero(parts == 1), np.flatnonzero(parts == 0)


def _labels(X: Array, y: Array | None) -> np.ndarray:
    """Labels in 0 and 1, (n, q)."""
    Y = (as_labels(y, "y") == 1).astype(np.int64)
    check_consistent_length(X, Y)
    return Y


def _folds(Y: np.ndarray, sizes: np.ndarray, groups: Array | None, rng: Rng) -> np.ndarray:
    """Fold of each row, (n,), groups kept together where given; `rng` shuffles them first."""
    index = np.arange(len(Y))
    if groups is not None:
        index = check_groups(groups, Y)
    n_groups = index.max() + 1
    n_parts = np.count_nonzero(sizes)
    if n_groups < n_parts:
        raise ValueError(
            f"{n_groups} groups cannot fill {n_parts} parts; choose fewer folds or finer groups."
        )
    ones = np.ones((len(Y), 1), dtype=np.int64)
    columns = np.hstack([Y, ones])  # each row counts, as labels do
    frequency = columns.sum(axis=0)
    counts = np.zeros((n_groups, columns.shape[1]), dtype=np.int64)  # of each group
    np.add.at(counts, index, columns)
    # sizes that differ by one count as equal, or the larger folds would draw every rare label
    shares = np.ones_like(sizes) if np.ptp(sizes) <= 1 else sizes
    lacking = np.outer(frequency, shares)  # of each fold, times the sum of the shares
    weights = 1 / np.sqrt(np.maximum(frequency, 1))
    room = sizes.copy()
    folds = np.empty(n_groups, dtype=np.int64)
    order = _rarest_first(counts, frequency, rng)
    for placed, group in enumerate(order):
        count = counts[group, :, None]
        # by how much the squared deviations fall, summed row by row: the same on every machine
        falls = count * (2 * lacking - count * shares.sum()) * weights[:, None]
        gain = falls.sum(axis=0) / np.maximum(shares, 1)
        fits = _fitting(room, sizes, counts[group, -1], len(order) - placed)
        fold = np.where(fits, gain, -np.inf).argmax()
        folds[group] = fold
        lacking[:, fold] -= counts[group] * shares.sum()
        room[fold] -= counts[group, -1]
    return folds[index]


def _rarest_first(counts: np.ndarray, frequency: np.ndarray, rng: Rng) -> np.ndarray:
    """Groups by the frequency of their rarest label; large ones first, equal ones together."""
    order = np.arange(len(counts)) if rng is None else rng.permutation(len(counts))
    large_first = -counts[order, -1]
    frequencies = np.where(counts > 0, frequency, frequency.max() + 1)
    rarest = frequencies.min(axis=1)[order]
    _, kinds = np.unique(counts, axis=0, return_inverse=True)
    equal_together = kinds.ravel()[order]
    return order[np.lexsort((equal_together, large_first, rarest))]


def _fitting(room: np.ndarray, sizes: np.ndarray, n_rows: int, n_left: int) -> np.ndarray:
    """Folds that may take a group of so many rows, the first of so many groups that are left."""
    is_empty = (room == sizes) & (sizes > 0)
    fits = room >= n_rows
    if n_left <= is_empty.sum():  # no fold stays empty
        fits = is_empty
    elif not fits.any():
        fits = room == room.max()
    return fits
