"""A random sample of rows that depends on a seed and on the numbers of the rows alone, not on the blocks in which they come.

Row i of all rows has a random number, the i-th of a seeded generator. The sample holds the rows with the smallest numbers, so samples of
blocks, batches and partitions add up to the sample of all rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.rows import alike

ROWS = 20_000  # of a sample; more where there are more landmarks
JUDGED_ROWS = 10_000  # of a sample, whose leave-one-out scores judge candidates and set thresholds


class Sample(NamedTuple):
    """Rows of a sample in their order, with their labels.

    Examples
    --------
    >>> X, Y = np.arange(8.0)[:, None], np.ones((8, 1), dtype=np.int8)
    >>> whole = drawn(X, Y, None, first=0, size=3, seed=0)
    >>> parts = drawn(X[:5], Y[:5], None, first=0, size=3, seed=0).plus(drawn(X[5:], Y[5:], None, first=5, size=3, seed=0))
    >>> bool((whole.X == parts.X).all()), whole.X.ravel().tolist()
    (True, [1.0, 2.0, 3.0])
    """

    X: Array  # (s, d) array or CSR
    Y: Array  # (s, q) int8 in {-1, +1}
    weights: np.ndarray  # (s,)
    numbers: np.ndarray  # (s,) in [0, 1)
    size: int

    @property
    def units(self) -> np.ndarray:
        """Weight that leave-one-out takes from each row: one unit, or all that it has."""
        return np.minimum(self.weights, 1.0)

    def smallest(self, count: int) -> Sample:
        """The sample of at most `count` rows that is part of this one."""
        if len(self.numbers) <= count:
            return self._replace(size=count)
        kept = np.sort(np.argpartition(self.numbers, count)[:count])
        return Sample(self.X[kept], self.Y[kept], self.weights[kept], self.numbers[kept], count)

    def plus(self, other: Sample) -> Sample:
        """The sample of the rows of both; those of the other come after these."""
        X = _stacked(self.X, other.X)
        Y = np.concatenate([self.Y, other.Y])
        weights = np.concatenate([self.weights, other.weights])
        numbers = np.concatenate([self.numbers, other.numbers])
        return Sample(X, Y, weights, numbers, self.size).smallest(self.size)


def drawn(X: Array, Y: Array, weights: np.ndarray | None, *, first: int, size: int, seed: int) -> Sample:
    """Sample of rows X (n, d), the first of which has the number `first` among all rows, with labels Y (n, q) and positive weights (n,)."""
    n = X.shape[0]
    numbers = np.random.Generator(np.random.PCG64(seed).advance(first)).random(n)
    kept = np.arange(n) if n <= size else np.sort(np.argpartition(numbers, size)[:size])
    own = np.ones(len(kept)) if weights is None else weights[kept]
    return Sample(X[kept], Y[kept], own, numbers[kept], size)


def _stacked(first: Array, second: Array) -> Array:
    second = alike(second, first)
    return sparse.vstack([first, second], format="csr") if sparse.issparse(first) else np.concatenate([first, second])
