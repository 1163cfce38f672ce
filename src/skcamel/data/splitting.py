"""Splits that keep the frequency of every label, by iterative stratification.

scikit-learn's own `StratifiedKFold` refuses label matrices, and `cv=5` there means unshuffled,
unstratified folds. These
classes go wherever scikit-learn takes a ``cv``: `cross_validate`, `GridSearchCV`,
`CamelClassifierCV`.

The rule is that of Sechidis, Tsoumakas and Vlahavas (On the stratification of multi-label data,
ECML PKDD 2011): take the label
with the fewest rows not placed yet, give each of them to the fold that lacks the label most, and go
on with the next
label. Where the rule leaves a choice, these make folds better and faster:

- rows with the same label set are alike, so as many of them as divide evenly are dealt out at once;
- rows of the rarest label, those with many labels first, are matched to the folds that are next so
  that each fold gets what it
  lacks of the rows' other labels;
- folds have fixed sizes, and a full fold takes no more.

Labels may be joined by pairs of labels (order 2: Szymański and Kajdanowicz, 2017). Unknown labels
(NaN) count neither as positive nor
as negative: what is spread evenly are the known positives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state

from skcamel.arrays import Array
from skcamel.data.dataset import as_indicators, check_same_rows, row_kinds
from skcamel.data.statistics import label_counts, with_pairs

UNPLACED = -1
SMALLEST_WINDOW = 8  # rows matched at a time where there are fewer folds than this
TIE_WEIGHT = 1e-3  # of what decides between folds that lack equally many rows of an item, in rows

Split = tuple[np.ndarray, np.ndarray]


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
    order : {1, 2}, default=1
        1 spreads labels, 2 spreads pairs of labels too, at some cost in time and in the spread of
        single labels.

    Notes
    -----
    With `groups`, all rows of a group are in one fold, and a greedy choice keeps fold sizes near
    each other:
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

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, order: int = 1
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order

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

    def __init__(
        self, n_splits: int = 5, *, n_repeats: int = 10, random_state: Any = None, order: int = 1
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.order = order

    def get_n_splits(
        self, X: Array | None = None, y: Array | None = None, groups: Array | None = None
    ) -> int:
        """Return folds times repeats; the arguments are ignored."""
        return self.n_splits * self.n_repeats

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
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

    def split(
        self, X: Array, y: Array | None = None, groups: Array | None = None
    ) -> Iterator[Split]:
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
        raise ValueError(
            "Stratified splitting needs the labels: call split(X, Y) with one row of labels for"
            " each row of X."
        )
    if order not in (1, 2):
        raise ValueError(
            f"order={order!r} is not known; choose 1 (labels) or 2 (labels and pairs of labels)."
        )
    if not sparse.issparse(y) and np.ndim(y) == 1:
        classes, index = np.unique(np.asarray(y), return_inverse=True)
        y = index[:, None] == np.arange(len(classes))
    Y = as_indicators(y, "y")
    check_same_rows(X if hasattr(X, "shape") else np.empty(len(X)), Y, "y")  # X may be a list
    return Y


def _folds(
    Y: sparse.csr_array,
    n_splits: int,
    groups: Array | None,
    order: int,
    rng: np.random.RandomState | None,
) -> Iterator[Split]:
    """All splits of one repeat."""
    n = Y.shape[0]
    _check_count(n_splits, "n_splits", least=2)
    if n_splits > n:
        raise ValueError(
            f"n_splits={n_splits} folds cannot be made of {n} rows; choose at most {n} folds."
        )
    sizes = np.full(n_splits, n // n_splits)
    sizes[: n % n_splits] += 1
    folds = _assigned(Y, sizes, groups, order, rng)
    for fold in range(n_splits):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _assigned(
    Y: sparse.csr_array,
    sizes: np.ndarray,
    groups: Array | None,
    order: int,
    rng: np.random.RandomState | None,
) -> np.ndarray:
    """Fold of each row, groups kept together where given."""
    if groups is None:
        return _stratified(Y, sizes, order, rng)
    groups = np.asarray(groups)
    if groups.shape != (Y.shape[0],):
        raise ValueError(
            f"groups has shape {groups.shape}; one group for each of the {Y.shape[0]} rows is"
            " needed."
        )
    names, index = np.unique(groups, return_inverse=True)
    n_parts = int((sizes > 0).sum())
    if len(names) < n_parts:
        raise ValueError(
            f"{len(names)} groups cannot fill {n_parts} parts; choose fewer folds or finer groups."
        )
    return _stratified_groups(Y, index, sizes, order, rng)


def _part_sizes(n: int, train_size: float | None, test_size: float | None) -> tuple[int, int]:
    """Rows of the training and the test part; shares round as in scikit-learn, tests up and training down."""
    if train_size is None and test_size is None:
        test_size = 0.1
    n_test = None if test_size is None else _rows_of(test_size, n, "test_size", up=True)
    n_train = (
        n - (n_test or 0) if train_size is None else _rows_of(train_size, n, "train_size", up=False)
    )
    n_test = n - n_train if n_test is None else n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise ValueError(
            f"train_size={train_size!r} and test_size={test_size!r} ask for {n_train} + {n_test} of"
            f" {n} rows; both parts need at least one row and together at most all."
        )
    return n_train, n_test


def _rows_of(size: float, n: int, name: str, *, up: bool) -> int:
    if isinstance(size, Integral) and not isinstance(size, bool):
        return int(size)
    if not isinstance(size, Real) or not 0 < size < 1:
        raise ValueError(
            f"{name}={size!r} must be a share between 0 and 1, or a whole number of rows."
        )
    return int(np.ceil(size * n) if up else np.floor(size * n))


def _check_count(value: int, name: str, *, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


@dataclass(frozen=True)
class _Deficits:
    """What the folds still lack; the arrays change while rows are placed."""

    # (n_items, n_folds) rows with the label, or pair of labels; negative where a fold has too many
    items: np.ndarray
    room: np.ndarray  # (n_folds,) int64, rows

    @classmethod
    def of(cls, total: np.ndarray, sizes: np.ndarray) -> _Deficits:
        """All that folds of these sizes get of items that so many rows have."""
        parts = _parts(sizes)
        return cls(np.outer(total, parts / parts.sum()), sizes.astype(np.int64))

    def take(self, columns: np.ndarray, folds: np.ndarray) -> None:
        """Count off one row with item columns[e] in fold folds[e], for every e."""
        np.subtract.at(
            self.items.reshape(-1), columns.astype(np.int64) * self.items.shape[1] + folds, 1.0
        )


def _stratified(
    Y: sparse.csr_array, sizes: np.ndarray, order: int, rng: np.random.RandomState | None
) -> np.ndarray:
    """Fold of every row, (n,); `sizes` are the rows of each fold, `rng` shuffles the rows first."""
    n = Y.shape[0]
    shuffled = np.arange(n) if rng is None else rng.permutation(n)
    Y = Y[shuffled] if rng is None else _reordered(Y, shuffled, rng.permutation(Y.shape[1]))
    folds = np.full(n, UNPLACED)
    items = with_pairs(Y) if order == 2 else Y
    lacking = _Deficits.of(label_counts(items), sizes)
    _deal_equal_rows(Y, items, _parts(sizes), lacking, folds)
    _place_by_rarest_item(items, Y.shape[1], lacking, folds)
    unlabelled = np.flatnonzero(folds == UNPLACED)
    folds[unlabelled] = np.repeat(np.arange(len(sizes)), lacking.room)
    placed = np.empty(n, dtype=np.int64)
    placed[shuffled] = folds
    return placed


def _stratified_groups(
    Y: sparse.csr_array,
    groups: np.ndarray,
    sizes: np.ndarray,
    order: int,
    rng: np.random.RandomState | None,
) -> np.ndarray:
    """Fold of every row, (n,), all rows of a group in one fold; groups are numbered from 0 without gaps.

    Groups with the rarest labels are placed first, large ones before small ones, each into the fold
    that lacks most of what
    its rows have. A fold takes a group only if it has room for it; where none has, the fold with
    most room does. No fold
    stays empty while there are groups.
    """
    n, n_groups = len(groups), int(groups.max()) + 1
    items = with_pairs(Y) if order == 2 else Y
    membership = sparse.csr_array(
        (np.ones(n, dtype=np.int64), (groups, np.arange(n))), shape=(n_groups, n)
    )
    counts = sparse.csr_array(
        membership @ items
    )  # (n_groups, n_items) rows of the group with the item
    group_sizes, total = np.bincount(groups), label_counts(items)
    lacking = _Deficits.of(total, sizes)
    folds = np.full(n_groups, UNPLACED)
    for placed, group in enumerate(_rarest_groups_first(counts, group_sizes, total, rng).tolist()):
        entries = slice(counts.indptr[group], counts.indptr[group + 1])
        columns, weights, size = counts.indices[entries], counts.data[entries], group_sizes[group]
        wanted = weights @ lacking.items[columns] + size * lacking.room  # (n_folds,)
        fold = int(
            np.where(
                _may_take(lacking.room, sizes, size, n_groups - placed), wanted, -np.inf
            ).argmax()
        )
        folds[group] = fold
        lacking.items[columns, fold] -= weights
        lacking.room[fold] -= size
    return folds[groups]


def _reordered(Y: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
    """Rows and columns in another order; the order of the labels decides between equally rare ones."""
    Y = sparse.csr_array(Y[rows])
    Y = sparse.csr_array((Y.data, columns[Y.indices], Y.indptr), shape=Y.shape)
    Y.sort_indices()
    return Y


def _parts(sizes: np.ndarray) -> np.ndarray:
    """Shares of the folds as whole numbers; sizes that differ by one count as equal, or the larger folds would draw every rare label."""
    return np.ones_like(sizes) if np.ptp(sizes) <= 1 and sizes.min() > 0 else sizes


def _deal_equal_rows(
    Y: sparse.csr_array,
    items: sparse.csr_array,
    parts: np.ndarray,
    lacking: _Deficits,
    folds: np.ndarray,
) -> None:
    """Give each fold its share, rounded down, of the rows with each label set."""
    kinds = row_kinds(Y)
    counts = np.bincount(kinds)
    dealt = counts[:, None] * parts // parts.sum()  # (n_kinds, n_folds)
    rank = np.empty(
        len(kinds), dtype=np.int64
    )  # place of each row among its kind, in the order of the rows
    rank[np.argsort(kinds, kind="stable")] = np.arange(len(kinds)) - np.repeat(
        np.cumsum(counts) - counts, counts
    )
    ends = np.cumsum(dealt, axis=1)
    rows = np.flatnonzero(rank < ends[kinds, -1])
    folds[rows] = (rank[rows, None] >= ends[kinds[rows]]).sum(axis=1)
    lacking.room[:] -= dealt.sum(axis=0)
    entries = items[rows]
    lacking.take(entries.indices, np.repeat(folds[rows], np.diff(entries.indptr)))


def _place_by_rarest_item(
    items: sparse.csr_array, q: int, lacking: _Deficits, folds: np.ndarray
) -> None:
    """Place every row that has an item; the first q items are labels, the others pairs."""
    n_labels_of_row = np.diff(items.indptr)
    rows_of_item = items.tocsc()
    waiting = items[folds == UNPLACED]
    remaining = np.bincount(waiting.indices, minlength=items.shape[1])
    while remaining.any():
        item = int(np.where(remaining > 0, remaining, len(folds) + 1).argmin())
        rows = rows_of_item.indices[rows_of_item.indptr[item] : rows_of_item.indptr[item + 1]]
        rows = rows[folds[rows] == UNPLACED]
        rows = rows[np.argsort(-n_labels_of_row[rows], kind="stable")]
        columns = items[rows].indices
        preference = lacking.room if item < q else lacking.items[columns[columns < q]].sum(axis=0)
        turns = _turns(lacking.items[item], preference, lacking.room, len(rows))
        window = max(len(lacking.room), SMALLEST_WINDOW)
        for start in range(0, len(rows), window):
            _match(
                items, rows[start : start + window], turns[start : start + window], lacking, folds
            )
        remaining -= np.bincount(columns, minlength=len(remaining))


def _turns(
    lacking: np.ndarray, preference: np.ndarray, room: np.ndarray, n_rows: int
) -> np.ndarray:
    """Folds in the order in which they take the rows of one item, (n_rows,): the one that lacks it most, among equals the preferred."""
    depth = min(n_rows, int(room.max()))
    tie = TIE_WEIGHT * (preference - preference.min()) / max(np.ptp(preference), 1e-9)
    levels = (lacking + tie)[:, None] - np.arange(depth)  # (n_folds, depth)
    levels[np.arange(depth) >= room[:, None]] = -np.inf
    return np.argsort(-levels, axis=None, kind="stable")[:n_rows] // depth


def _match(
    items: sparse.csr_array,
    rows: np.ndarray,
    turns: np.ndarray,
    lacking: _Deficits,
    folds: np.ndarray,
) -> None:
    """Give the rows to the folds whose turn it is, so that the folds get most of what they lack."""
    lengths = items.indptr[rows + 1] - items.indptr[rows]
    starts = np.cumsum(lengths) - lengths
    columns = items.indices[
        np.repeat(items.indptr[rows] - starts, lengths) + np.arange(lengths.sum())
    ]
    wanted = np.add.reduceat(lacking.items[columns], starts, axis=0)[:, turns]  # (rows, turns)
    _, chosen = linear_sum_assignment(wanted, maximize=True)
    folds[rows] = turns[chosen]
    lacking.take(columns, np.repeat(folds[rows], lengths))
    np.subtract.at(lacking.room, turns, 1)


def _rarest_groups_first(
    counts: sparse.csr_array,
    group_sizes: np.ndarray,
    total: np.ndarray,
    rng: np.random.RandomState | None,
) -> np.ndarray:
    """All groups, ordered by the frequency of their rarest item, then by size."""
    n_groups = len(group_sizes)
    rarest = np.full(n_groups, np.iinfo(np.int64).max)
    np.minimum.at(
        rarest, np.repeat(np.arange(n_groups), np.diff(counts.indptr)), total[counts.indices]
    )
    order = np.arange(n_groups) if rng is None else rng.permutation(n_groups)
    return order[np.lexsort((-group_sizes[order], rarest[order]))]


def _may_take(room: np.ndarray, sizes: np.ndarray, size: int, n_left: int) -> np.ndarray:
    """Folds that may take a group of this size when n_left groups are left, this one among them."""
    empty = (room == sizes) & (sizes > 0)
    if n_left <= empty.sum():
        return empty
    fits = room >= size
    return fits if fits.any() else room == room.max()
