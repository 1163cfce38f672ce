"""X ► X: scaling of the features, fitted on training rows and kept with the model.

A shift of the features changes no radial kernel, and the unpenalised intercept absorbs it in the
linear one. So sparse
matrices are shifted only in columns that are filled anyway, and stay sparse; a centred scaling
moves the rows to their
middle, which changes no result and saves its digits. Ranks alone need dense rows: they turn every
zero into a level of its column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.checks import SMALLEST_DIVISOR, check_at_least
from skcamel.rows import bounds, dense, is_filled, middle, moments, shifted

FOR_SPARSE = ("none", "standard", "minmax", "unit")
NAMES = (*FOR_SPARSE, "rank")
FREE = ("none", "unit", "rank")  # without a scale of the columns


class Ranks(NamedTuple):
    """Mid-distribution function of every column: the weight below a value plus half of the weight at it, as a share of all.

    It lies on [0, 1], ties share their average rank, and it is linear between the different values
    ("knots") of a column.
    Columns have different numbers of knots, so those of all columns stand one after the other.

    Examples
    --------
    >>> ranked(np.array([[1.0], [1.0], [5.0], [9.0]]))(np.array([[1.0], [3.0], [100.0]])).ravel()
    array([0.25  , 0.4375, 0.875 ])
    """

    knots: np.ndarray  # (k,) increasing within each column
    levels: np.ndarray  # (k,) in [0, 1]
    ends: np.ndarray  # (d,) where the knots of each column end
    stored = {"knots": ("k",), "levels": ("k",), "ends": ("d", int)}

    def check_stored(self) -> None:
        """Refuse knots that do not increase and levels that fall within a column, and columns without any."""
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
        parts = zip(
            np.split(self.knots, self.ends[:-1]), np.split(self.levels, self.ends[:-1]), strict=True
        )
        for j, (knots, values) in enumerate(parts):
            # slopes may overflow
            levels[:, j] = np.clip(np.interp(X[:, j], knots, values), values[0], values[-1])
        return levels


class Scaling(NamedTuple):
    """A fitted scaling: ``(X - shift) / scale`` per column; for "unit" and "rank" their rows, then minus `shift`.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [4.0, 5.0]])
    >>> fitted("minmax", X)(X)  # a constant column is only shifted
    array([[0., 0.],
           [1., 0.]])
    """

    name: str
    shift: np.ndarray | None = (
        None  # (d,); of sparse training rows 0 in columns that are not filled
    )
    scale: np.ndarray | None = None  # (d,); None for "none", "unit" and "rank"
    ranks: Ranks | None = None  # for "rank" alone
    stored = {"name": str, "shift": ("d", None), "scale": ("d", None), "ranks": Ranks | None}

    def check_stored(self) -> None:
        """Refuse what no fit gives."""
        if self.name not in NAMES:
            raise ValueError(f"name must be one of {', '.join(NAMES)}, got {self.name!r}")
        if (self.name in ("standard", "minmax")) != (self.scale is not None) or (
            self.name == "rank"
        ) != (self.ranks is not None):
            raise ValueError(f"{self.name!r} does not fit its scale and ranks")
        check_at_least(self, scale=SMALLEST_DIVISOR)

    def __call__(self, X: Array) -> Array:
        """X scaled; a new matrix unless nothing is to be done. Sparse rows stay sparse, but for ranks."""
        if self.ranks is not None:
            X = self.ranks(X)
        if self.name == "unit":
            X = _of_unit_length(X)
        if self.shift is not None:
            X = shifted(X, self.shift)
        if self.scale is None:
            return X
        if sparse.issparse(X):
            return sparse.csr_array(
                (X.data / self.scale[X.indices], X.indices, X.indptr), shape=X.shape
            )
        return X / self.scale


def fitted(
    name: str, X: Array, weights: np.ndarray | None = None, *, centred: bool = False
) -> Scaling:
    """Scaling of that name with what it needs to know of the training rows X (n, d); constant columns keep scale 1.

    `centred` shifts the rows further, so that they lie around the origin.
    """
    if name in FREE:
        plain = Scaling(name, ranks=ranked(X, weights) if name == "rank" else None)
        if centred:
            return plain._replace(shift=middle(plain(X.astype(np.float64))))
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
    else:
        shift = np.where(is_filled(X), shift, 0.0)
    return Scaling(name, shift, np.where(scale > 0, scale, 1.0))


def ranked(X: Array, weights: np.ndarray | None = None) -> Ranks:
    """Ranks of the training rows X (n, d); a row of weight 3 counts like three rows."""
    if sparse.issparse(X):
        raise ValueError(
            "scaling='rank' would fill every zero of sparse rows; use 'standard', 'minmax' or"
            " 'unit', or X.toarray() where it fits."
        )
    # summed as they are: integers add up without rounding
    if weights is None:
        counts = np.ones(len(X))
    else:
        counts = weights
    knots: list[np.ndarray] = []
    levels: list[np.ndarray] = []
    for column in X.T:
        values, at = np.unique(column, return_inverse=True)
        here = np.bincount(at, counts, minlength=len(values))
        to_here = np.cumsum(here)
        knots.append(values)
        levels.append((to_here - here / 2) / to_here[-1])
    return Ranks(
        np.concatenate(knots), np.concatenate(levels), np.cumsum([len(values) for values in knots])
    )


def _of_unit_length(X: Array) -> Array:
    """Rows divided by their length, in two steps: squares of very large or small numbers would overflow or vanish."""
    if sparse.issparse(X):
        norm = sparse.linalg.norm
    else:
        norm = np.linalg.norm
    for order in (np.inf, 2):
        lengths = norm(X, order, axis=1)
        factors = 1 / np.where(lengths > 0, lengths, 1.0)
        if sparse.issparse(X):
            X = sparse.diags_array(factors) @ X
        else:
            X = X * factors[:, None]
    return X
