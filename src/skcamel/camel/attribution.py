"""Scores ► columns: exact Shapley values of groups of columns for scores Σ_i b_i k(x, x_i).

The rbf and the laplacian kernel are products over groups of columns, k(x, x_i) = Π_g k_g. Where a
group is absent its columns are drawn from the training rows by weight, together but apart from the
other groups, so its factor becomes the mean m_g over these rows. The Shapley value of a group is
what it adds to a score when it appears, averaged over all orders of appearance. Let groups appear
at random times in [0, 1]: at time t each of the others is there with probability t, so

    φ_g = ∫₀¹ Σ_i b_i (k_g - m_g) Π_{l≠g} (m_l + t (k_l - m_l)) dt.

The integrand is a polynomial in t of degree G - 1. Eight Gauss-Legendre nodes integrate it exactly
for up to 16 groups, and to the last digits for more, unless a row is far from all training rows in
nearly every column. There the rest of its score is shared among the groups in proportion to their
values, so that values always add up.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.legendre import leggauss

from skcamel import memory
from skcamel.arrays import Array, MaybeArray, default_names, dense, slices
from skcamel.camel.kernel import Kernel

EXPLAINED = ("rbf", "laplacian", "linear")  # kernels that are products or sums over columns
NODES = 8
# smaller factors count as this, which changes no score: products are divided by them
SMALLEST = 1e-30
# training rows; where there are more, groups of several columns are drawn from a sample
ALL_UP_TO = 4_000
SAMPLE = 2_000
LARGEST_DEGREE = 1_000  # of a series in place of a sum over all pairs
BLOCK_BYTES = 2**24  # factors of some rows at a time, small enough to stay near the processor


def column_groups(
    d: int, sources: Sequence[Hashable] | None = None, names: Sequence[str] | None = None
) -> tuple[Array, list[Array]]:
    """Names (G,) of groups of columns, and the columns of each: of one source, or one by one.

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
    >>> column_groups(3, ["colour", "size", "colour"])
    (array(['colour', 'size'], dtype=object), [array([0, 2]), array([1])])
    """
    if sources is None:
        if names is None:
            names = default_names("f", d)
        return np.array(names, dtype=object), list(np.arange(d)[:, None])
    if len(sources) != d:
        raise ValueError(
            f"sources has {len(sources)} names, and the rows have {d} columns; give one name for"
            " each column."
        )
    groups: dict[Hashable, list[int]] = {}
    for column, source in enumerate(sources):
        groups.setdefault(source, []).append(column)
    shown = np.array([str(source) for source in groups], dtype=object)
    return shown, [np.array(group) for group in groups.values()]


def check_kernels(kernels: Sequence[Kernel]) -> None:
    """Refuse kernels of a model, one for each member, whose scores cannot be shared by columns."""
    for position, kernel in enumerate(kernels, 1):
        if kernel.name not in EXPLAINED:
            whose = "this model"
            if len(kernels) > 1:
                whose = f"member {position} of the {len(kernels)} that this model combines"
            name = "a function" if callable(kernel.name) else repr(kernel.name)
            raise ValueError(
                "Reasons by column need a kernel that is a product or a sum over columns ('rbf',"
                f" 'laplacian', 'linear'); the kernel of {whose} is {name}. Explain without"
                " features=True."
            )


def shapley(
    kernel: Kernel,
    rows: Array,
    train: Any,
    coefficients: Array,
    columns: Sequence[Array],
    *,
    mean: Any = None,
    weights: MaybeArray = None,
) -> tuple[Array, Array]:
    """Shapley value of every group of columns for the scores k(x) @ coefficients.

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
    weights : array of shape (n,), default=None
        Of the training rows; None: all count the same.

    Returns
    -------
    values : array of shape (m, G, q)
    base : array of shape (q,)
        ``base + values.sum(axis=1)`` are the scores.

    Examples
    --------
    >>> train, coefficients = np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([[1.0], [2.0]])
    >>> groups = [np.array([0]), np.array([1])]
    >>> values, base = shapley(Kernel("rbf"), train[:1], train, coefficients, groups)
    >>> bool(np.isclose((base + values.sum(axis=1)).item(), 1 + 2 * np.exp(-0.5)))
    True
    >>> bool(abs(values[0, 0, 0]) < 1e-12)  # column 0 is constant
    True
    """
    (m, d), (n, q), G = rows.shape, coefficients.shape, len(columns)
    needed = 6 * BLOCK_BYTES + 16 * (m * (d + G * q) + d * q)
    if train is not None:
        needed += 8 * n * (10 * G + 3 * d)
    memory.require(
        needed,
        f"Explaining {m} rows of {G} columns and {q} labels",
        "Explain fewer rows at a time, or join columns by sources.",
    )
    if weights is None:
        weights = np.ones(n)
    shares = weights / weights.sum()
    if kernel.name == "linear":
        if train is not None:
            coefficients = train.T @ coefficients
            mean = shares @ train
        values = [(dense(rows[:, group]) - mean[group]) @ coefficients[group] for group in columns]
        return np.stack(values, axis=1), mean @ coefficients
    if d == G:  # each column is a group, so that factors are as large as dense rows
        rows = dense(rows)
        train = dense(train)
    parts = [train[:, group] for group in columns]
    means = np.maximum([_mean_factor(kernel, part, shares) for part in parts], SMALLEST)  # (G, n)
    values = np.empty((m, G, q))
    for some in slices(m, BLOCK_BYTES // (8 * n * G)):
        new = [rows[some][:, group] for group in columns]
        factors = np.stack(list(map(kernel, new, parts)))
        np.maximum(factors, SMALLEST, out=factors)
        values[some] = _integrated(factors, means, coefficients)
    return values, means.prod(axis=0) @ coefficients


def _integrated(factors: Array, means: Array, coefficients: Array) -> Array:
    """Values (b, G, q) from factors (G, b, n) of rows with the training rows, and their means."""
    scores = (factors.prod(axis=0) - means.prod(axis=0)) @ coefficients  # (b, q)
    factors -= means[:, None]  # steps from absent to present
    integral = np.zeros_like(factors)  # for each training row
    for point, weight in zip(*leggauss(NODES), strict=True):
        at_time = means[:, None] + (point + 1) / 2 * factors
        integral += weight / 2 * at_time.prod(axis=0) / at_time
    values = (factors * integral @ coefficients).transpose(1, 0, 2)
    sizes = abs(values)
    missing = scores - values.sum(axis=1)
    return values + sizes * (missing / np.maximum(sizes.sum(axis=1), SMALLEST))[:, None]


def _mean_factor(kernel: Kernel, part: Array, shares: Array) -> Array:
    """Mean kernel (n,) of each row of some columns (n, w) with all rows, or a sample if w > 1.

    `shares` (n,) of the weight of all rows sum to 1.
    """
    n, width = part.shape
    if width > 1:
        some = part
        if n > ALL_UP_TO:
            drawn = np.random.default_rng(0).choice(n, SAMPLE, replace=False)
            some = part[drawn]
            shares = shares[drawn] / shares[drawn].sum()
        return _mean_kernel(kernel, part, some, shares)
    column = dense(part)[:, 0] / kernel.bandwidth
    if kernel.name == "laplacian":
        # sums over the values on each side of each value, by logarithms lest they overflow
        order = np.argsort(column)
        values = column[order]
        logs = np.log(shares[order])
        below = np.exp(np.logaddexp.accumulate(logs + values) - values)
        above = np.exp(np.logaddexp.accumulate((logs - values)[::-1])[::-1] + values)
        return (below + above - shares[order])[np.searchsorted(values, column)]
    low = column.min() - 0.1
    high = column.max() + 0.1
    # what a mean of Gaussians needs for 16 digits as a Chebyshev series
    degree = int(24 + 5 * (high - low))
    if degree > LARGEST_DEGREE:
        return _mean_kernel(kernel, part, part, shares)

    def mean_at(points: Array) -> Array:
        return _mean_kernel(Kernel("rbf"), points[:, None], column[:, None], shares)

    return Chebyshev.interpolate(mean_at, degree, [low, high])(column)


def _mean_kernel(kernel: Kernel, points: Array, rows: Array, shares: Array) -> Array:
    """Mean kernel between each of some points (m, w) and rows (n, w), (m,), in blocks."""
    blocks = slices(points.shape[0], BLOCK_BYTES // (8 * rows.shape[0]))
    return np.concatenate([kernel(points[some], rows) @ shares for some in blocks])
