"""A sample of the rows of a stream, the same in whatever order and in whatever batches the rows come.

Every row has a number between 0 and 1 by a seeded digest of its features and labels. The sample holds the rows of the least numbers:
some of all rows, and some of those that have each label, and of those that lack it, so that rare labels are there. A row is in it if its
number is below the bound of one of these groups, that is with a probability π of the largest bound. Sums weighted by 1/π are then
unbiased estimates of sums over all rows.

Equal rows have equal numbers. They enter as one, with the sum of their weights, and with what leave-one-out takes away from each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from skcamel import correlation
from skcamel.arrays import Array
from skcamel.rows import alike

ROWS = 10_000  # of a sample: three quarters of them from all rows, the others shared among the labels
BLOCK_ROWS = 2**16  # that are looked at together, so that a file that is mapped into memory is not read whole
OF_A_LABEL = 100  # rows that have a label, and as many that lack it, if a quarter of the rows allows
MOST_ENTRIES, LEAST_ROWS = 2**24, 2_000  # labels of a sample in all its rows, and rows that it has nevertheless
MIXERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # of splitmix64


def rows_for(q: int) -> int:
    """Rows of a sample with q labels.

    >>> rows_for(1_000), rows_for(4_000), rows_for(30_000)
    (10000, 4194, 2000)
    """
    return min(ROWS, max(LEAST_ROWS, MOST_ENTRIES // q))


class Units(NamedTuple):
    """Different rows, and how much each counts."""

    X: Array  # (s, d) array or CSR
    Y: Array  # (s, q) int8 in {-1, +1}, or CSR with 1 where a label is present
    weights: np.ndarray  # (s,) of all their copies
    taken: np.ndarray  # (s,) sum over all copies of their weight times what leave-one-out takes of it: 1, or all of it if it is less
    numbers: np.ndarray  # (s,) ascending, in (0, 1)

    def take(self, index: np.ndarray) -> Units:
        """Some of them."""
        return Units(*(part[index] for part in self))


@dataclass(frozen=True)
class Sample:
    """What is kept of the rows seen so far; :meth:`add` gives another.

    Examples
    --------
    >>> X, Y = np.arange(6.0)[:, None], np.array([[1], [1], [-1], [1], [-1], [-1]])
    >>> there = Sample(0).add(X, Y).add(X[:2], Y[:2])
    >>> back = Sample(0).add(X[:2], Y[:2]).add(X[::-1], Y[::-1])
    >>> bool((there.rows().X == back.rows().X).all()), sorted(there.rows().weights.tolist())
    (True, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0])
    """

    seed: int
    size: int = ROWS
    by_label: bool = True  # whether rare labels have rows of their own
    units: Units | None = None

    def add(self, X: Array, Y: Array, weights: np.ndarray | None = None) -> Self:
        """With more rows X (n, d), labels Y (n, q) in {-1, +1} or the entries of a CSR matrix, and positive weights (n,)."""
        found = self
        for i in range(0, Y.shape[0], BLOCK_ROWS):
            rows = slice(i, i + BLOCK_ROWS)
            found = found._with(X[rows], Y[rows], np.ones(Y[rows].shape[0]) if weights is None else weights[rows])
        return found

    def _with(self, X: Array, Y: Array, w: np.ndarray) -> Self:
        numbers = digests(X, Y, self.seed)
        below = np.inf if self.units is None else self._bounds(self.units, Y)
        at = np.flatnonzero(numbers <= below)  # others cannot come in
        new = self._kept(Units(at, Y[at].astype(np.int8), w[at], (w * np.minimum(w, 1.0))[at], numbers[at]))
        return self._joined(new._replace(X=X[new.X]))  # positions stood for rows until few were left

    def _joined(self, new: Units) -> Self:
        return replace(self, units=self._kept(new if self.units is None else _stacked(self.units, new)))

    def _kept(self, units: Units) -> Units:
        """Those that are below one of their bounds, or set one; equal rows become one."""
        merged = _merged(units)
        return merged.take(np.flatnonzero(merged.numbers <= self._bounds(merged, merged.Y)))

    def __add__(self, other: Sample) -> Sample:
        """The sample of the rows of both, which have the same seed."""
        return self if other.units is None else self._joined(other.units)

    def rows(self) -> Rows:
        """The sample, as estimates want it."""
        if self.units is None:
            raise ValueError("No row has been seen yet.")
        chance = np.minimum(1.0, self._bounds(self.units, self.units.Y))
        inside = np.flatnonzero((self.units.numbers < chance) | (chance == 1))  # the first row beyond each bound sets it alone
        X, Y, weights, taken, _ = self.units.take(inside)
        return Rows(X, Y, weights, taken / weights, chance[inside])

    def _bounds(self, units: Units, Y: Array) -> np.ndarray:
        """Largest bound among those of the groups that rows with labels Y (n, q) belong to, (n,); infinite where a group has too few."""
        n, q = Y.shape
        size = min(self.size, rows_for(q)) if self.by_label else self.size  # others are not judged, and their labels stay sparse
        if not self.by_label or q > correlation.MANY:  # one row for each of many labels would be more than there are
            return np.full(n, _bound(units.numbers, size))
        quota = min(OF_A_LABEL, max(1, size // (8 * q)))
        of_all = _bound(units.numbers, size - min(size // 4, 2 * quota * q))
        present = _present(Y)
        having, lacking = _label_bounds(units, quota)
        filled = np.flatnonzero(np.diff(present.indptr))  # rows that have labels
        bounds = np.full(n, of_all)
        if len(filled):
            bounds[filled] = np.maximum(of_all, np.maximum.reduceat(having[present.indices], present.indptr[filled]))
        for j in np.flatnonzero(lacking > of_all):  # labels that most rows have
            lacks = np.ones(n, dtype=bool)
            lacks[present[:, [j]].nonzero()[0]] = False
            np.maximum(bounds, lacking[j], out=bounds, where=lacks)
        return bounds


class Rows(NamedTuple):
    """A sample of rows."""

    X: Array  # (s, d) array or CSR
    Y: Array  # (s, q) as in `Units`
    weights: np.ndarray  # (s,) of the row in the fit
    units: np.ndarray  # (s,) what leave-one-out takes of the weight: 1, or all of it if it is less; of several copies the mean
    chance: np.ndarray  # (s,) of being in the sample


def all_rows(X: Array, Y: Array, weights: np.ndarray | None) -> Rows:
    """All rows as they are, in their order; the arguments are those of :meth:`Sample.add`."""
    w = np.ones(Y.shape[0]) if weights is None else weights
    return Rows(X, Y, w, np.minimum(w, 1.0), np.ones(len(w)))


def digests(X: Array, Y: Array, seed: int) -> np.ndarray:
    """A number in (0, 1) for each row, (n,): the same for equal rows, dense or sparse, and else as if drawn at random.

    Entries are mixed with themselves, multiplied by a random number of their column, and summed modulo 2^64; 0 counts nothing,
    and a random number is added, lest a row of zeros come first whatever the seed.
    """
    factors = np.random.default_rng(seed).integers(1, 2**63, X.shape[1] + Y.shape[1] + 1, dtype=np.uint64) * 2 + 1
    of_columns, of_labels = factors[: X.shape[1]], factors[X.shape[1] : -1]
    if sparse.issparse(X):
        total = _row_sums(_spread(X.data) * of_columns[X.indices], X.indptr)
    else:
        total = np.empty(len(X), dtype=np.uint64)
        for i in range(0, len(X), 4096):  # blocks that stay near the processor
            total[i : i + 4096] = (_spread(X[i : i + 4096]) * of_columns).sum(axis=1, dtype=np.uint64)
    total += _row_sums(of_labels[Y.indices], Y.indptr) if sparse.issparse(Y) else (Y > 0).astype(np.uint64) @ of_labels
    total += factors[-1]
    for shift, mixer in zip((30, 27), MIXERS, strict=True):
        total = (total ^ (total >> np.uint64(shift))) * np.uint64(mixer)
    return ((total ^ (total >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def _row_sums(terms: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Sums modulo 2^64 of the entries of each row of a CSR matrix, whose differences are sums, too."""
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    return sums[ends[1:]] - sums[ends[:-1]]


def _present(Y: Array) -> sparse.csr_array:
    """Labels as CSR with an entry where a label is present."""
    return Y if sparse.issparse(Y) else sparse.csr_array(Y > 0)


def _label_bounds(units: Units, quota: int) -> tuple[np.ndarray, np.ndarray]:
    """For each label the bound of the rows that have it and of those that lack it, (q,) each, by one pass over the labels."""
    order = np.argsort(units.numbers, kind="stable")
    numbers = np.append(units.numbers[order], np.inf)
    n, columns = len(order), _present(units.Y)[order].tocsc()
    columns.sort_indices()
    ends, counts = columns.indptr, np.diff(columns.indptr)
    place = np.minimum(ends[:-1] + quota, max(0, len(columns.indices) - 1))
    having = numbers[np.where(counts > quota, columns.indices[place] if len(columns.indices) else n, n)]
    # before the row in place r that is the k-th without a label there are r - k with it
    skipped = [np.searchsorted(columns.indices[a:b] - np.arange(b - a), quota, "right") for a, b in pairwise(ends)]
    lacking = numbers[np.where(n - counts > quota, np.minimum(quota + np.array(skipped), n), n)]
    return having, lacking


def _spread(values: np.ndarray) -> np.ndarray:
    """The bits of numbers, the upper half also in the lower: those of small whole numbers are all in the upper half."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)  # 0 and -0 are one number
    return bits ^ (bits >> np.uint64(32))


def _bound(numbers: np.ndarray, count: int) -> float:
    """The least number that is not among the first `count`; infinite where there are no more."""
    return float(np.partition(numbers, count)[count]) if len(numbers) > count else np.inf


def _stacked(first: Units, second: Units) -> Units:
    if sparse.issparse(first.Y) != sparse.issparse(second.Y):
        raise ValueError("y is sparse in some batches and not in others; give all as scipy sparse matrices of 0 and 1, or none.")
    pairs = zip(first, second._replace(X=alike(second.X, first.X)), strict=True)
    return Units(*(sparse.vstack(pair, format="csr") if sparse.issparse(pair[0]) else np.concatenate(pair) for pair in pairs))


def _merged(units: Units) -> Units:
    """Ascending by number; equal rows become one."""
    _, first, which = np.unique(units.numbers, return_index=True, return_inverse=True)
    return units.take(first)._replace(weights=np.bincount(which, units.weights), taken=np.bincount(which, units.taken))
