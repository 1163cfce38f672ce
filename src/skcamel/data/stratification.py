"""Rows ► folds by iterative stratification: every label spread evenly, the rarest first.

The rule of Sechidis, Tsoumakas and Vlahavas (On the stratification of multi-label data, ECML PKDD 2011): take the label
with the fewest rows not placed yet, give each of them to the fold that lacks the label most, and go on with the next
label. What the rule leaves open is decided here so that folds come out better and faster:

- rows with the same label set are alike, so as many of them as divide evenly are dealt out at once;
- which of the rows of the rarest label goes to which of the folds whose turn it is, is a matching that lets the folds
  have what they lack of the rows' other labels, those with many labels first;
- folds have fixed sizes, and a full fold takes no more.

Labels may be joined by pairs of labels (order 2: Szymański and Kajdanowicz, 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

UNPLACED = -1
SMALLEST_WINDOW = 8  # rows matched at a time where there are fewer folds than this
TIE_WEIGHT = 1e-3  # what decides between folds that lack an item equally, against a row that they lack


@dataclass(frozen=True)
class Deficits:
    """What the folds still lack; the arrays change while rows are placed."""

    items: np.ndarray  # (n_items, n_folds) rows with the label, or pair of labels; negative where a fold has too many
    room: np.ndarray  # (n_folds,) int64, rows

    def take(self, columns: np.ndarray, folds: np.ndarray) -> None:
        """Count off one row with item columns[e] in fold folds[e], for every e."""
        np.subtract.at(self.items.reshape(-1), columns.astype(np.int64) * self.items.shape[1] + folds, 1.0)


def stratify(Y: sparse.csr_array, sizes: np.ndarray, *, order: int = 1, rng: np.random.RandomState | None = None) -> np.ndarray:
    """Fold of every row, (n,).

    Parameters
    ----------
    Y : CSR matrix of ones, of shape (n, q)
    sizes : int array of shape (n_folds,)
        Rows of each fold; they add up to n.
    order : {1, 2}, default=1
        2 spreads pairs of labels as well.
    rng : RandomState, default=None
        Shuffles the rows first; without it they are taken in their order.

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> stratify(Y, np.array([3, 3]))
    array([0, 1, 0, 1, 0, 1])
    """
    n = Y.shape[0]
    shuffled = np.arange(n) if rng is None else rng.permutation(n)
    Y = Y[shuffled] if rng is None else _reordered(Y, shuffled, rng.permutation(Y.shape[1]))
    folds = np.full(n, UNPLACED)
    items = with_pairs(Y) if order == 2 else Y
    total = np.bincount(items.indices, minlength=items.shape[1])
    parts = _parts(sizes)
    lacking = Deficits(np.outer(total, parts / parts.sum()), sizes.astype(np.int64))
    _deal_equal_rows(Y, items, parts, lacking, folds)
    _place_by_rarest_item(items, Y.shape[1], lacking, folds)
    unlabelled = np.flatnonzero(folds == UNPLACED)
    folds[unlabelled] = np.repeat(np.arange(len(sizes)), lacking.room)
    placed = np.empty(n, dtype=np.int64)
    placed[shuffled] = folds
    return placed


def stratify_groups(
    Y: sparse.csr_array, groups: np.ndarray, sizes: np.ndarray, *, order: int = 1, rng: np.random.RandomState | None = None
) -> np.ndarray:
    """Fold of every row, (n,), all rows of a group in one fold.

    Groups with the rarest labels are placed first, large ones before small ones, each into the fold that lacks most of what
    its rows have. A fold takes a group only if it has room for it; where none has, the fold with most room does. No fold
    stays empty while there are groups.

    Parameters
    ----------
    Y, sizes, order, rng : as for :func:`stratify`
    groups : int array of shape (n,)
        Group of each row, numbered from 0 without gaps.

    Examples
    --------
    >>> Y = sparse.csr_array([[1], [0], [1], [0], [0], [0]])
    >>> stratify_groups(Y, np.array([0, 0, 1, 1, 2, 2]), np.array([3, 3]))
    array([0, 0, 1, 1, 0, 0])
    """
    n, n_groups = len(groups), int(groups.max()) + 1
    items = with_pairs(Y) if order == 2 else Y
    membership = sparse.csr_array((np.ones(n, dtype=np.int64), (groups, np.arange(n))), shape=(n_groups, n))
    counts = sparse.csr_array(membership @ items)  # (n_groups, n_items) rows of the group with the item
    group_sizes = np.bincount(groups)
    total = np.bincount(items.indices, minlength=items.shape[1])
    parts = _parts(sizes)
    lacking = Deficits(np.outer(total, parts / parts.sum()), sizes.astype(np.int64))
    folds = np.full(n_groups, UNPLACED)
    for placed, group in enumerate(_rarest_groups_first(counts, group_sizes, total, rng).tolist()):
        entries = slice(counts.indptr[group], counts.indptr[group + 1])
        columns, weights, size = counts.indices[entries], counts.data[entries], group_sizes[group]
        wanted = weights @ lacking.items[columns] + size * lacking.room  # (n_folds,)
        fold = int(np.where(_may_take(lacking.room, sizes, size, n_groups - placed), wanted, -np.inf).argmax())
        folds[group] = fold
        lacking.items[columns, fold] -= weights
        lacking.room[fold] -= size
    return folds[groups]


def with_pairs(Y: sparse.csr_array) -> sparse.csr_array:
    """Y with one more column for each pair of labels that occurs, (n, q + pairs).

    Examples
    --------
    >>> with_pairs(sparse.csr_array([[1, 1, 0], [1, 1, 1], [0, 0, 1]])).toarray()
    array([[1, 1, 0, 1, 0, 0],
           [1, 1, 1, 1, 1, 1],
           [0, 0, 1, 0, 0, 0]])
    """
    n, q = Y.shape
    rows = np.repeat(np.arange(n), np.diff(Y.indptr))
    after = Y.indptr[rows + 1] - np.arange(len(rows)) - 1  # entries that follow in the same row
    first = np.repeat(np.arange(len(rows)), after)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
    labels = Y.indices.astype(np.int64)
    codes, pairs = np.unique(labels[first] * q + labels[second], return_inverse=True)
    of_pairs = sparse.csr_array((np.ones(len(pairs), dtype=np.int64), (rows[first], pairs)), shape=(n, len(codes)))
    return sparse.csr_array(sparse.hstack([Y, of_pairs], format="csr"))


def _reordered(Y: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> sparse.csr_array:
    """Rows and columns in another order; the order of the labels decides between equally rare ones."""
    Y = sparse.csr_array(Y[rows])
    Y = sparse.csr_array((Y.data, columns[Y.indices], Y.indptr), shape=Y.shape)
    Y.sort_indices()
    return Y


def _parts(sizes: np.ndarray) -> np.ndarray:
    """Shares of the folds as whole numbers; sizes that differ by one count as equal, or the larger folds would draw every rare label."""
    return np.ones_like(sizes) if np.ptp(sizes) <= 1 and sizes.min() > 0 else sizes


def _deal_equal_rows(Y: sparse.csr_array, items: sparse.csr_array, parts: np.ndarray, lacking: Deficits, folds: np.ndarray) -> None:
    """Of the rows with one label set give each fold its share, rounded down."""
    kinds, counts = _kinds(Y)
    dealt = counts[:, None] * parts // parts.sum()  # (n_kinds, n_folds)
    rank = np.empty(len(kinds), dtype=np.int64)  # place of each row among its kind, in the order of the rows
    rank[np.argsort(kinds, kind="stable")] = np.arange(len(kinds)) - np.repeat(np.cumsum(counts) - counts, counts)
    ends = np.cumsum(dealt, axis=1)
    rows = np.flatnonzero(rank < ends[kinds, -1])
    folds[rows] = (rank[rows, None] >= ends[kinds[rows]]).sum(axis=1)
    lacking.room[:] -= dealt.sum(axis=0)
    entries = items[rows]
    lacking.take(entries.indices, np.repeat(folds[rows], np.diff(entries.indptr)))


def _kinds(Y: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that tell the label sets of rows apart, (n,), and how often each occurs; by random 64-bit sums, so all but surely."""
    codes = np.random.RandomState(0).randint(0, 2**63 - 1, size=Y.shape[1], dtype=np.int64)
    sums = np.concatenate(([0], np.cumsum(codes[Y.indices])))  # wraps around, which differences undo
    _, kinds, counts = np.unique(sums[Y.indptr[1:]] - sums[Y.indptr[:-1]], return_inverse=True, return_counts=True)
    return kinds, counts


def _place_by_rarest_item(items: sparse.csr_array, q: int, lacking: Deficits, folds: np.ndarray) -> None:
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
            _match(items, rows[start : start + window], turns[start : start + window], lacking, folds)
        remaining -= np.bincount(columns, minlength=len(remaining))


def _turns(lacking: np.ndarray, preference: np.ndarray, room: np.ndarray, n_rows: int) -> np.ndarray:
    """Folds in the order in which they take the rows of one item, (n_rows,): the one that lacks it most, among equals the preferred."""
    depth = min(n_rows, int(room.max()))
    tie = TIE_WEIGHT * (preference - preference.min()) / max(np.ptp(preference), 1e-9)
    levels = (lacking + tie)[:, None] - np.arange(depth)  # (n_folds, depth)
    levels[np.arange(depth) >= room[:, None]] = -np.inf
    return np.argsort(-levels, axis=None, kind="stable")[:n_rows] // depth


def _match(items: sparse.csr_array, rows: np.ndarray, turns: np.ndarray, lacking: Deficits, folds: np.ndarray) -> None:
    """Give the rows to the folds whose turn it is, so that the folds get most of what they lack."""
    lengths = items.indptr[rows + 1] - items.indptr[rows]
    starts = np.cumsum(lengths) - lengths
    columns = items.indices[np.repeat(items.indptr[rows] - starts, lengths) + np.arange(lengths.sum())]
    wanted = np.add.reduceat(lacking.items[columns], starts, axis=0)[:, turns]  # (rows, turns)
    _, chosen = linear_sum_assignment(wanted, maximize=True)
    folds[rows] = turns[chosen]
    lacking.take(columns, np.repeat(folds[rows], lengths))
    np.subtract.at(lacking.room, turns, 1)


def _rarest_groups_first(
    counts: sparse.csr_array, group_sizes: np.ndarray, total: np.ndarray, rng: np.random.RandomState | None
) -> np.ndarray:
    """All groups, ordered by the frequency of their rarest item, then by size."""
    n_groups = len(group_sizes)
    rarest = np.full(n_groups, np.iinfo(np.int64).max)
    np.minimum.at(rarest, np.repeat(np.arange(n_groups), np.diff(counts.indptr)), total[counts.indices])
    order = np.arange(n_groups) if rng is None else rng.permutation(n_groups)
    return order[np.lexsort((-group_sizes[order], rarest[order]))]


def _may_take(room: np.ndarray, sizes: np.ndarray, size: int, n_left: int) -> np.ndarray:
    """Folds that may take a group of this size when n_left groups are left, this one among them."""
    empty = (room == sizes) & (sizes > 0)
    if n_left <= empty.sum():
        return empty
    fits = room >= size
    return fits if fits.any() else room == room.max()
