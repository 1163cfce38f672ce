"""Labels in the wrong place: among the features, or shifted by some columns in a block of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

FEWEST_POSITIVES = 5  # of a label and as many negatives, before its equality with a feature is more than chance
FEWEST_ROWS = 50  # of a block whose label frequencies are compared
FEWEST_COLUMNS = 8  # compared at a shift
AGREES, DISAGREES = 0.95, 0.5  # correlations of label frequencies
BOUNDARIES = 8  # blocks may start at multiples of n / 8
FEWEST_OCCURRENCES = 8  # of a feature, before the rows it stands in say anything
NEARLY_ALL = 0.9


@dataclass(frozen=True)
class Shift:
    """A block of rows whose labels stand some columns away from those of the other rows."""

    start: int
    stop: int
    columns: int  # column j of the block is column j + columns of the other rows
    agreement: float  # correlation of label frequencies at that shift
    in_place: float  # and without a shift


def features_like_labels(X: Any, Y: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Pairs (feature, label) where a two-valued feature is equal or opposite to a label in the given rows, (pairs, 2).

    Labels with fewer than 5 positives or 5 negatives there are left out: equality would be chance.
    """
    labels = Y[rows]
    n = len(rows)
    positives = np.bincount(labels.indices, minlength=Y.shape[1])
    indicators, columns = _two_valued(X, rows)
    marked = np.bincount(indicators.indices, minlength=len(columns))
    shared = sparse.csr_array(indicators.T @ labels).tocoo()  # (two-valued features, q)
    f, j, both = shared.row, shared.col, shared.data
    telling = np.minimum(positives, n - positives) >= FEWEST_POSITIVES
    equal = telling[j] & (both == marked[f]) & (both == positives[j])
    pairs = {(int(columns[a]), int(b)) for a, b in zip(f[equal], j[equal], strict=True)}
    meeting = set(zip(f.tolist(), j.tolist(), strict=True))
    with_count: dict[int, list[int]] = {}
    for b in np.flatnonzero(telling).tolist():
        with_count.setdefault(int(positives[b]), []).append(b)
    for a, count in enumerate(marked.tolist()):
        pairs |= {(int(columns[a]), b) for b in with_count.get(n - count, ()) if (a, b) not in meeting}
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def features_like_labels_only_in(X: Any, Y: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Pairs (feature, label) that are equal or opposite in the given rows and hardly related in the others, (pairs, 2).

    A feature that tells a label everywhere, with a few exceptions, is a good feature and not meant.
    """
    pairs = features_like_labels(X, Y, rows)
    others = np.setdiff1d(np.arange(Y.shape[0]), rows)
    features, labels = X[others][:, pairs[:, 0]], Y[others][:, pairs[:, 1]]
    dense = [part.toarray() if sparse.issparse(part) else part for part in (features, labels)]
    related = [
        abs(_correlation(feature, label.astype(np.float64), constant=0.0)) for feature, label in zip(dense[0].T, dense[1].T, strict=True)
    ]
    return pairs[np.array(related, dtype=np.float64) <= DISAGREES]


def shifted_block(Y: sparse.csr_array, boundaries: Sequence[int] = ()) -> Shift | None:
    """Find the block of rows, from the start or to the end, whose labels are shifted against the others', if there is one.

    Frequencies of the labels before and after a boundary are correlated at every shift that leaves half of the columns to
    compare. They must agree at a shift (0.95) and not in place (0.5). Boundaries are the given ones and the multiples of
    n / 8.
    """
    n, q = Y.shape
    cumulated = np.concatenate([np.zeros((1, q)), _cumulated_counts(Y, _boundaries(n, boundaries))])
    edges = [0, *_boundaries(n, boundaries), n]
    found = [
        candidate
        for edge, before in zip(edges[1:-1], cumulated[1:-1], strict=True)
        if (candidate := _shift_at(before / edge, (cumulated[-1] - before) / (n - edge), edge, n)) is not None
    ]
    return max(found, key=lambda shift: shift.agreement, default=None)


def features_of_rows(X: Any, rows: np.ndarray) -> np.ndarray:
    """Features whose nonzero values stand almost only in the given rows, ascending."""
    total, inside = _nonzeros(X), _nonzeros(X[rows])
    return np.flatnonzero((total >= FEWEST_OCCURRENCES) & (inside >= NEARLY_ALL * total))


def _two_valued(X: Any, rows: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Ones where a two-valued feature has its greater value, and the columns of X they come from."""
    part = X[rows]
    if sparse.issparse(part):
        if not len(rows):
            return sparse.csr_array((0, 0)), np.arange(0)
        low, high = np.asarray(part.min(axis=0).toarray()).ravel(), np.asarray(part.max(axis=0).toarray()).ravel()
        stored = sparse.csr_array(part)
        between = (stored.data != low[stored.indices]) & (stored.data != high[stored.indices])
        odd = np.bincount(stored.indices, weights=between, minlength=part.shape[1]) > 0
        odd |= (low != 0) & (high != 0) & (_nonzeros(part) < len(rows))
    else:
        low, high = part.min(axis=0, initial=np.inf), part.max(axis=0, initial=-np.inf)
        odd = ~((part == low) | (part == high)).all(axis=0)
    columns = np.flatnonzero(~odd & (low < high))
    if not sparse.issparse(part):
        return sparse.csr_array((part[:, columns] == high[columns]).astype(np.int64)), columns
    return _greater_value(sparse.csr_array(part[:, columns]), high[columns]), columns


def _greater_value(part: sparse.csr_array, high: np.ndarray) -> sparse.csr_array:
    """Ones where sparse two-valued columns have their greater value, which may be the zero that is not stored."""
    greater = part.copy()
    greater.data = (part.data == high[part.indices]).astype(np.float64)
    zero_is_greater = np.flatnonzero(high == 0)
    if len(zero_is_greater):
        dense = greater.tolil()
        dense[:, zero_is_greater] = part[:, zero_is_greater].toarray() == 0
        greater = sparse.csr_array(dense)
    greater.eliminate_zeros()
    return greater.astype(np.int64)


def _nonzeros(X: Any) -> np.ndarray:
    return np.bincount(X.indices, minlength=X.shape[1]) if sparse.issparse(X) else np.count_nonzero(X, axis=0)


def _boundaries(n: int, given: Sequence[int]) -> list[int]:
    regular = [n * k // BOUNDARIES for k in range(1, BOUNDARIES)]
    return sorted({edge for edge in [*regular, *given] if FEWEST_ROWS <= edge <= n - FEWEST_ROWS})


def _cumulated_counts(Y: sparse.csr_array, boundaries: list[int]) -> np.ndarray:
    """Rows of each label before every boundary and in all, (boundaries + 1, q)."""
    return np.array(
        [np.bincount(Y.indices[: Y.indptr[edge]], minlength=Y.shape[1]) for edge in [*boundaries, Y.shape[0]]], dtype=np.float64
    )


def _shift_at(before: np.ndarray, after: np.ndarray, edge: int, n: int) -> Shift | None:
    """Find the best shift between the label frequencies on both sides of a boundary, if it explains them."""
    q = len(before)
    in_place = _correlation(before, after)
    widest = q - max(FEWEST_COLUMNS, -(-q // 2))
    if widest < 1 or not in_place <= DISAGREES:
        return None
    shifts = [s for s in range(-widest, widest + 1) if s != 0]
    agreement = [_correlation(before[max(s, 0) : q + min(s, 0)], after[max(-s, 0) : q - max(s, 0)]) for s in shifts]
    best = int(np.argmax(agreement))
    if agreement[best] < AGREES:
        return None
    return _named_block(shifts[best], agreement[best], in_place, (before, after), (edge, n))


def _named_block(s: int, agreement: float, in_place: float, sides: tuple[np.ndarray, np.ndarray], rows: tuple[int, int]) -> Shift:
    """Say which block is off: the one whose columns at the far end are empty, for its labels moved away from there."""
    before, after = sides
    edge, n = rows
    emptied_after = after[-s:] if s > 0 else after[:-s]
    emptied_before = before[:s] if s > 0 else before[s:]
    if emptied_after.sum() <= emptied_before.sum():
        return Shift(edge, n, s, agreement, in_place)
    return Shift(0, edge, -s, agreement, in_place)


def _correlation(a: np.ndarray, b: np.ndarray, *, constant: float = -1.0) -> float:
    """Pearson's correlation, or a given value where one side is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return constant
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))
