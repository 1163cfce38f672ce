"""X ► X: scaling of the features, fitted on training rows and stored with the model.

A shift of the features changes no radial kernel, and the unpenalised intercept absorbs it in the
linear one. So sparse matrices are shifted only in columns that are filled anyway, and stay sparse;
a centred scaling moves the rows to their middle, which changes no result and saves its digits.
Ranks alone need dense rows: they turn every zero into a level of its column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from skcamel.arrays import Array, MaybeArray, dense, divisor, overflow_allowed
from skcamel.checks import SMALLEST_DIVISOR, check_at_least

FOR_SPARSE = ("none", "standard", "minmax", "unit")
NAMES = (*FOR_SPARSE, "rank")
FREE = ("none", "unit", "rank")  # without a scale of the columns


class Ranks(NamedTuple):
    """Mid-distribution function of every column: the share of weight below a value, half of ties.

    It lies on [0, 1], ties share their average rank, and it is linear between the different values
    ("knots") of a column. Columns have different numbers of knots, so those of all columns stand
    one after the other.

    Examples
    --------
    >>> ranked(np.array([[1.0], [1.0], [5.0], [9.0]]))(np.array([[1.0], [3.0], [100.0]])).ravel()
    array([0.25  , 0.4375, 0.875 ])
    """

    knots: Array  # (k,) increasing within each column
    levels: Array  # (k,) in [0, 1]
    ends: Array  # (d,) where the knots of each column end
    stored = {"knots": ("k",), "levels": ("k",), "ends": ("d", int)}

    def check_stored(self) -> None:
        """Refuse knots that do not increase, falling levels within a column, and empty columns."""
        if self.ends[0] < 1 or self.ends[-1] != len(self.knots) or (np.diff(self.ends) < 1).any():
            raise ValueError(
                f"must share {len(self.knots)} knots among its columns, none without any"
            )
        is_last = np.zeros(len(self.knots), dtype=bool)
        is_last[self.ends - 1] = True
        knots_rise = (np.diff(self.knots) > 0) | is_last[:-1]
        levels_rise = (np.diff(self.levels) >= 0) | is_last[:-1]
        if not (knots_rise & levels_rise).all() or self.levels.min() < 0 or self.levels.max() > 1:
            raise ValueError(
                "must have knots that increase, and levels from 0 to 1 that do not fall, within"
                " each column"
            )

    def __call__(self, X: Array) -> Array:
        """Levels of the rows X (m, d), dense; beyond the knots those of the outermost."""
        X = dense(X)
        levels = np.empty(X.shape)
        start = 0
        for j, end in enumerate(self.ends):
            values = self.levels[start:end]
            column = np.interp(X[:, j], self.knots[start:end], values)
            levels[:, j] = np.clip(column, values[0], values[-1])  # slopes may overflow
            start = end
        return levels


class Scaling(NamedTuple):
    """A fitted scaling, ``(X - shift) / scale`` per column, after "unit" or "rank".

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fitted("minmax", X)(X)  # a constant column is only shifted
    array([[0., 0.],
           [1., 0.]])
    """

    name: str
    shift: MaybeArray = None  # (d,); of sparse training rows 0 in columns that are not filled
    scale: MaybeArray = None  # (d,); None for "none", "unit" and "rank"
    ranks: Ranks | None = None  # for "rank" alone
    stored = {"name": str, "shift": ("d", None), "scale": ("d", None), "ranks": Ranks | None}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.name not in NAMES:
            raise ValueError(f"name must be one of {', '.join(NAMES)}, got {self.name!r}")
        has_scale = self.scale is not None
        has_ranks = self.ranks is not None
        if has_scale != (self.name not in FREE) or has_ranks != (self.name == "rank"):
            raise ValueError(f"{self.name!r} does not fit its scale and ranks")
        check_at_least(self, scale=SMALLEST_DIVISOR)

    @overflow_allowed
    def __call__(self, X: Array) -> Array:
        """X scaled, float64, a new matrix unless nothing changes; ranks make sparse rows dense."""
        if sparse.issparse(X):
            X = X.astype(np.float64)
        else:  # rows of a frame give the same last digits
            X = np.asarray(X, dtype=np.float64, order="C")
        if self.ranks is not None:
            X = self.ranks(X)
        if self.name == "unit":
            X = _of_unit_length(X)
        if self.shift is not None:
            X = shifted(X, self.shift)
        if self.scale is None:
            return X
        if sparse.issparse(X):
            return _divided(X, self.scale)
        return X / self.scale


def fitted(name: str, X: Array, weights: MaybeArray = None, *, centred: bool = False) -> Scaling:
    """Scaling with what it learns from the training rows X (n, d); constant columns have scale 1.

    `centred` shifts the rows further, so that they lie around the origin.
    """
    if name in FREE:
        plain = Scaling(name)
        if name == "rank":
            plain = Scaling(name, ranks=ranked(X, weights))
        if centred:
            return plain._replace(shift=middle(plain(X)))
        return plain
    if name == "standard":
        shift, scale = moments(X, weights)
    else:
        shift, high = bounds(X)
        with np.errstate(over="ignore"):
            scale = high - shift
    if not np.isfinite(scale).all():
        column = int(np.flatnonzero(~np.isfinite(scale))[0])
        raise ValueError(
            f"Column {column} of X spans more than the largest number; divide it by a constant"
            f" before scaling={name!r}."
        )
    if centred:
        shift = middle(X.astype(np.float64))
    elif sparse.issparse(X):
        shift = np.where(is_filled(X), shift, 0.0)
    return Scaling(name, shift, divisor(scale))


def ranked(X: Array, weights: MaybeArray = None) -> Ranks:
    """Ranks of the training rows X (n, d); a row of weight 3 counts like three rows."""
    if sparse.issparse(X):
        raise ValueError(
            "scaling='rank' would fill every zero of sparse rows; use 'standard', 'minmax' or"
            " 'unit', or X.toarray() where it fits."
        )
    if weights is None:
        weights = np.ones(len(X))
    knots: list[Array] = []
    levels: list[Array] = []
    for column in X.T:
        values, at = np.unique(column, return_inverse=True)
        here = np.bincount(at, weights)
        to_here = np.cumsum(here)
        knots.append(values)
        levels.append((to_here - here / 2) / to_here[-1])
    ends = np.cumsum([len(values) for values in knots])
    return Ranks(np.concatenate(knots), np.concatenate(levels), ends)


def _of_unit_length(X: Array) -> Array:
    """Rows divided by their length, in two steps lest squares overflow or vanish."""
    if sparse.issparse(X):
        norm = sparse.linalg.norm
    else:
        norm = np.linalg.norm
    for order in (np.inf, 2):
        lengths = norm(X, order, axis=1)
        factors = 1 / divisor(lengths)
        if sparse.issparse(X):
            X = sparse.diags_array(factors) @ X
        else:
            X = X * factors[:, None]
    return X


def _divided(X: Array, scale: Array) -> Array:
    """Sparse X with every column divided by its scale."""
    return sparse.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)


def is_filled(X: Array) -> Array:
    """Which columns have entries in more than half of the rows, (d,) bool; all of an array."""
    if not sparse.issparse(X):
        return np.ones(X.shape[1], dtype=bool)
    return np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0] / 2


def varies(X: Array) -> Array:
    """Which columns are not constant, (d,) bool.

    Examples
    --------
    >>> varies(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([ True, False])
    """
    if sparse.issparse(X):
        low, high = bounds(X)
        return high > low
    return (X[:1] != X).any(axis=0)


def bounds(X: Array) -> tuple[Array, Array]:
    """Least and greatest entry of every column, (d,) float64 each."""
    extremes = X.min(axis=0), X.max(axis=0)
    low, high = (np.asarray(dense(part), dtype=np.float64).ravel() for part in extremes)
    return low, high


def shifted(X: Array, shift: Array) -> Array:
    """X - 1 shiftᵀ; in sparse rows only the columns whose shift is not 0 are filled.

    Examples
    --------
    >>> shifted(sparse.csr_array([[0.0, 5.0], [3.0, 6.0]]), np.array([0.0, 5.0])).toarray()
    array([[0., 0.],
           [3., 1.]])
    """
    if not sparse.issparse(X):
        return X - shift
    n = X.shape[0]
    moved = np.flatnonzero(shift)
    if not len(moved):
        return X
    ends = len(moved) * np.arange(n + 1)
    shifts = sparse.csr_array((np.tile(shift[moved], n), np.tile(moved, n), ends), shape=X.shape)
    return sparse.csr_array(X - shifts)


def middle(X: Array) -> Array:
    """Where to move the origin, (d,): the mean of columns that become much smaller by it, else 0.

    A column whose entries all lie within a quarter of the largest around their mean is moved
    without any rounding, for the differences are exact. Where zeros or both signs occur this is
    never so; nothing would be gained, and sparse columns stay as they are.

    Examples
    --------
    >>> middle(np.array([[1e9, 1.0], [1e9 + 2, -1.0]])).tolist()
    [1000000001.0, 0.0]
    """
    mean, _ = moments(X)
    low, high = bounds(X)
    farthest = np.maximum(high - mean, mean - low)
    largest = np.maximum(high, -low)
    return np.where(farthest <= largest / 4, mean, 0.0)


def moments(X: Array, weights: MaybeArray = None) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of every column, (d,) each.

    Deviations are summed, never squares subtracted, in units of the largest: neither a large mean
    nor a large or small unit of the column costs digits.

    Parameters
    ----------
    X : array or canonical CSR matrix of shape (n, d)
    weights : array of shape (n,), default=None

    Examples
    --------
    >>> [part.tolist() for part in moments(np.array([[1e9 + 1, 1e200], [1e9 + 3, 3e200]]))]
    [[1000000002.0, 2e+200], [1.0, 1e+200]]
    """
    if weights is None:
        shares = np.full(X.shape[0], 1 / X.shape[0])
    else:
        shares = weights / weights.sum()
    if not sparse.issparse(X):
        deviations = X - X[0]  # sums of equal large numbers would round
        above_first = shares @ deviations
        deviations -= above_first
        largest = np.abs(deviations).max(axis=0)
        deviations /= divisor(largest)
        return X[0] + above_first, largest * np.sqrt(shares @ deviations**2)
    largest = abs(X).max(axis=0).toarray().ravel()
    unit = divisor(largest)
    # exact enough where a column has many zeros
    mean, variance = mean_variance_axis(_divided(X, unit), axis=0, weights=shares)
    mean = unit * mean
    deviation = unit * np.sqrt(np.maximum(variance, 0))
    filled = is_filled(X)
    if filled.any():
        mean[filled], deviation[filled] = moments(X[:, filled].toarray(), weights)
    return mean, deviation
