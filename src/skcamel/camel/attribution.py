"""Scores ► columns: exact Shapley values of columns, or of groups of columns, for scores Σ_i b_i k(x, x_i).

The rbf and the laplacian kernel are products over groups of columns, k(x, x_i) = Π_g k_g. Where a group is absent its columns are
drawn from the training rows, together but apart from the other groups, so its factor becomes the mean m_g over these rows. The
Shapley value of a group is what it adds to a score when it appears, averaged over all orders of appearance. Let groups appear at
random times in [0, 1]: at time t each of the others is there with probability t, so

    φ_g = ∫₀¹ Σ_i b_i (k_g - m_g) Π_{l≠g} (m_l + t (k_l - m_l)) dt.

The integrand is a polynomial in t of degree G - 1. Eight Gauss-Legendre nodes integrate it exactly for up to 16 groups, and to the last
digits for more, unless a row is far from all training rows in nearly every column. What they miss of its score there is shared among
the groups in proportion, so that values always add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.legendre import leggauss
from scipy import sparse

from skcamel import memory
from skcamel.arrays import Array
from skcamel.camel.kernel import Kernel
from skcamel.rows import default_names, dense

EXPLAINED = ("rbf", "laplacian", "linear")  # kernels that are products or sums over columns
NODES = 8
SMALLEST = 1e-30  # smaller factors count as this: no score notices, and products may be divided by them
ALL_UP_TO, SAMPLE = 4_000, 2_000  # training rows; where there are more, groups of several columns are drawn from a sample
LARGEST_DEGREE = 1_000  # of a series in place of a sum over all pairs
BLOCK_BYTES = 2**24  # factors of some rows at a time, small enough to stay near the processor


class Players(NamedTuple):
    """Who shares a score: names (G,) and the columns of each."""

    names: np.ndarray
    columns: list[np.ndarray]


def players(d: int, sources: Sequence[Hashable] | None = None, names: Sequence[str] | None = None) -> Players:
    """Columns of one source are one player; without sources every column is its own.

    Parameters
    ----------
    d : int
        Number of columns.
    sources : sequence of d names or ints, default=None
        Which source each column comes from.
    names : sequence of d names, default=None
        Names of the columns where there are no sources; None: f1, f2, …

    Examples
    --------
    >>> players(3, ["colour", "size", "colour"])
    Players(names=array(['colour', 'size'], dtype=object), columns=[array([0, 2]), array([1])])
    """
    if sources is None:
        return Players(np.array(default_names("f", d) if names is None else [*map(str, names)], dtype=object), [*np.arange(d)[:, None]])
    if isinstance(sources, str) or len(sources) != d:
        what = repr(sources) if isinstance(sources, str) else f"{len(sources)} names"
        raise ValueError(f"sources is {what}, and the rows have {d} columns; give a sequence with one name for each column.")
    found: dict[Hashable, list[int]] = {}
    for column, source in enumerate(sources):
        found.setdefault(source, []).append(column)
    return Players(np.array([*map(str, found)], dtype=object), [*map(np.array, found.values())])


def check_kernels(kernels: Sequence[Kernel]) -> None:
    """Raise ValueError where scores by one of the kernels of a model, one for each member, cannot be shared by columns."""
    for position, kernel in enumerate(kernels, 1):
        if kernel.name not in EXPLAINED:
            whose = "this model" if len(kernels) == 1 else f"member {position} of the {len(kernels)} that this model combines"
            name = "a function" if callable(kernel.name) else repr(kernel.name)
            raise ValueError(
                "Reasons by column need a kernel that is a product or a sum over columns ('rbf', 'laplacian', 'linear'); the kernel of "
                f"{whose} is {name}. Explain without features=True."
            )


def shapley(
    kernel: Kernel,
    rows: Array,
    train: Array | None,
    coefficients: np.ndarray,
    columns: Sequence[np.ndarray],
    *,
    mean: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Shapley value of every group of columns for the scores k(x) @ coefficients, and the scores where all are absent.

    Parameters
    ----------
    kernel : Kernel
        One of `EXPLAINED`.
    rows, train : arrays or CSR matrices of shape (m, d) and (n, d)
        Scaled. None for train: coefficients are those of the columns, the kernel is "linear".
    coefficients : array of shape (n, q), or (d, q)
    columns : sequence of G index arrays
        Columns of each group; every column is in one of them.
    mean : array of shape (d,), default=None
        The average row, needed where train is None.

    Returns
    -------
    values : array of shape (m, G, q)
    base : array of shape (q,)
        ``base + values.sum(axis=1)`` are the scores.

    Examples
    --------
    >>> train, coefficients = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [2.0]])
    >>> values, base = shapley(Kernel("rbf"), train[:1], train, coefficients, [np.array([0]), np.array([1])])
    >>> bool(np.isclose((base + values.sum(axis=1)).item(), 1 + 2 * np.exp(-0.5))), values[0, 0].tolist()  # column 0 is constant
    (True, [0.0])
    """
    (m, d), (n, q), G = rows.shape, coefficients.shape, len(columns)
    memory.require(
        8 * (2 * m * G * q + (2 * d * q if train is None or kernel.name == "linear" else 5 * G * n + 2 * train.size)) + 2 * BLOCK_BYTES,
        f"Explaining {m} rows of {G} columns and {q} labels by a model of {n} {'columns' if train is None else 'rows'}",
        "Explain fewer rows at a time, or join columns by sources.",
    )
    if train is None:
        return _linear(rows, coefficients, np.zeros(d) if mean is None else mean, columns)
    if kernel.name == "linear":
        return _linear(rows, train.T @ coefficients, np.asarray(train.mean(axis=0)).ravel(), columns)
    return _Product(kernel, train, coefficients, columns)(rows)


def _linear(rows: Array, weights: np.ndarray, mean: np.ndarray, columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Scores are sums over columns, so each group has its own part whatever the others do."""
    ends = np.cumsum([0, *map(len, columns)])
    belongs = sparse.csr_array((np.ones(ends[-1]), np.concatenate(columns), ends), shape=(len(columns), rows.shape[1]))
    values = np.empty((rows.shape[0], len(columns), weights.shape[1]))
    for r, own in enumerate(values):
        own[:] = belongs @ ((dense(rows[r : r + 1])[0] - mean)[:, None] * weights)
    return values, mean @ weights


class _Product:
    """Scores by a kernel that is a product over groups of columns, as a game of these groups."""

    def __init__(self, kernel: Kernel, train: Array, coefficients: np.ndarray, columns: Sequence[np.ndarray]) -> None:
        self.kernel, self.coefficients, self.columns = kernel, coefficients, columns
        self.single = np.array([g for g, own in enumerate(columns) if len(own) == 1], dtype=np.intp)  # groups of one column
        self.their_columns = np.array([columns[g][0] for g in self.single], dtype=np.intp)
        self.values = np.ascontiguousarray(dense(train[:, self.their_columns]).T)  # (groups of one column, n)
        self.wide = {g: train[:, own] for g, own in enumerate(columns) if len(own) > 1}
        means = np.empty((len(columns), train.shape[0]))
        for g, values in zip(self.single, self.values, strict=True):
            means[g] = _mean_over_column(kernel, values)
        for g, block in self.wide.items():
            means[g] = _mean_over_rows(kernel, block)
        self.means = np.maximum(means, SMALLEST, out=means)

    def __call__(self, rows: Array) -> tuple[np.ndarray, np.ndarray]:
        G, n = self.means.shape
        nodes = min(NODES, (G + 1) // 2)
        at_once = max(1, BLOCK_BYTES // (8 * n * (G + 2 * nodes)))
        blocks = [self._integrated(rows[i : i + at_once], nodes) for i in range(0, rows.shape[0], at_once)]
        values = np.concatenate(blocks) if blocks else np.empty((0, G, self.coefficients.shape[1]))
        return values, self.means.prod(axis=0) @ self.coefficients

    def _integrated(self, rows: Array, nodes: int) -> np.ndarray:
        """Values of some rows, (b, G, q)."""
        factors = self._factors(rows)
        points, weights = leggauss(nodes)
        times, weights = (points + 1) / 2, weights / 2  # in [0, 1]
        score = (factors.prod(axis=0) - self.means.prod(axis=0)) @ self.coefficients  # (b, q)
        shape = (nodes, *factors.shape[1:])
        product, factor = np.ones(shape), np.empty(shape)

        def at_times(step: np.ndarray, mean: np.ndarray) -> np.ndarray:
            return np.add(np.multiply(times[:, None, None], step, out=factor), mean, out=factor)

        factors -= self.means[:, None]
        for step, mean in zip(factors, self.means, strict=True):
            product *= at_times(step, mean)
        for step, mean in zip(factors, self.means, strict=True):
            others = np.divide(product, at_times(step, mean), out=factor)
            step *= np.tensordot(weights, others, 1)  # now the integral for each training row
        values = (factors @ self.coefficients).transpose(1, 0, 2)
        sizes = abs(values)
        total = sizes.sum(axis=1)
        missing = (score - values.sum(axis=1)) / np.where(total > 0, total, 1.0)
        return values + sizes * missing[:, None]

    def _factors(self, rows: Array) -> np.ndarray:
        """Kernels of every group between some rows and the training rows, (G, b, n)."""
        factors = np.empty((len(self.means), rows.shape[0], self.means.shape[1]))
        apart = dense(rows[:, self.their_columns]).T[:, :, None] - self.values[:, None]
        factors[self.single] = self.kernel.of_distances(_distance(self.kernel, apart))
        for g, block in self.wide.items():
            factors[g] = self.kernel(rows[:, self.columns[g]], block)
        return np.maximum(factors, SMALLEST, out=factors)


def _distance(kernel: Kernel, apart: np.ndarray) -> np.ndarray:
    """The distance within one column that a kernel is a function of, in place."""
    return np.square(apart, out=apart) if kernel.name == "rbf" else np.abs(apart, out=apart)


def _mean_over_column(kernel: Kernel, column: np.ndarray) -> np.ndarray:
    """Mean kernel between each value of a column (n,) and all of them, (n,).

    The mean of the rbf kernel is a smooth function of the value, so a Chebyshev series gives it to the last digits. That of the
    laplacian kernel takes a running sum from each side over the sorted values, by logarithms lest it overflows.
    """
    values, at, counts = np.unique(column, return_inverse=True, return_counts=True)
    shares = counts / len(column)

    def mean(points: np.ndarray) -> np.ndarray:
        at_once = max(1, BLOCK_BYTES // (8 * len(values)))
        blocks = (points[i : i + at_once, None] - values for i in range(0, len(points), at_once))
        return np.concatenate([kernel.of_distances(_distance(kernel, apart)) @ shares for apart in blocks])

    if kernel.name == "laplacian":
        reach = values / kernel.bandwidth
        below = np.logaddexp.accumulate(np.log(shares) + reach) - reach
        above = np.logaddexp.accumulate((np.log(shares) - reach)[::-1])[::-1] + reach
        return (np.exp(below) + np.exp(above) - shares)[at]
    degree = 24 + 5 * (values[-1] - values[0]) / kernel.bandwidth  # what a Gaussian needs for 16 digits
    if degree < min(len(values), LARGEST_DEGREE):
        return Chebyshev.interpolate(mean, int(degree), domain=[values[0], values[-1]])(values)[at]
    return mean(values)[at]


def _mean_over_rows(kernel: Kernel, block: Array) -> np.ndarray:
    """Mean kernel between each row of some columns (n, w) and all of the rows, or a sample of them, (n,)."""
    n = block.shape[0]
    drawn = block if n <= ALL_UP_TO else block[np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))]
    at_once = max(1, BLOCK_BYTES // (8 * drawn.shape[0]))
    return np.concatenate([kernel(block[i : i + at_once], drawn).mean(axis=1) for i in range(0, n, at_once)])
