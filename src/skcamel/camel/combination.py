"""Representations combined: scores ȳ + Σ w_r (f_r(x) - ȳ), with weights w ≥ 0 by least squares on leave-one-out scores.

The means ȳ of the labels are what a model without features predicts: weights that do not add up to
1 then shrink or stretch what
the features say, and not how frequent a label is. ``benchmarks/combination.md`` compares the result
with single models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from skcamel.arrays import Array, namespace, to_match, to_numpy
from skcamel.camel.representation import Data
from skcamel.camel.thresholds import of_entries

ROUNDING = 1e-20  # of squares
SAME = 1e-10  # members that are equal share their weight


class Combination(NamedTuple):
    """Weights of the members (R,), what is added to their weighted scores (q,), and leave-one-out scores (n, q) of the combination."""

    weights: np.ndarray
    constant: np.ndarray
    scores: Array


def weights_of(gram: np.ndarray, target: np.ndarray, energy: float = 0.0) -> np.ndarray:
    """Weights w ≥ 0 that minimise wᵀ gram w - 2 wᵀ target, (R,); equal ones if `gram` is rounding beside the squared labels, `energy`.

    >>> weights_of(np.eye(2), np.array([0.5, -1.0]))
    array([0.5, 0. ])
    """
    scale = float(np.trace(gram)) / len(gram)
    if scale <= ROUNDING * energy:
        return np.full(len(gram), 1 / len(gram))
    root = np.linalg.cholesky(gram + SAME * scale * np.eye(len(gram)))
    return nnls(root.T, solve_triangular(root, target, lower=True))[0]


def combine(data: Data, members: Sequence[Array]) -> Combination:
    """Combine members by their leave-one-out scores, (n, q) each; the best one alone where no weight is above 0."""
    like = members[0]
    xp = namespace(like)
    relevant, counts = data.truth(like)
    w = of_entries(counts, like)
    Y = xp.where(w > 0, xp.where(relevant, 1.0, -1.0), 0.0)
    total = xp.sum(w * Y, axis=0)
    size = xp.sum(w, axis=0)
    mean = total / xp.where(size > 0, size, 1.0)  # (q,)
    left_weight, left_sum = _leaving(w, Y, data.groups)
    left = size - left_weight
    # (n, q) of the other rows
    means = xp.where(left > 0, (total - left_sum) / xp.where(left > 0, left, 1.0), 0.0)
    share = xp.sqrt(w)
    rows = xp.stack([xp.reshape(share * (F - means), (-1,)) for F in members])  # (R, n q)
    labels = xp.reshape(share * (Y - means), (-1,))
    gram = to_numpy(rows @ rows.T)
    target = to_numpy(rows @ labels)
    weights = weights_of(gram, target, float(labels @ labels))
    if not weights.any():
        weights[int(np.argmin(np.diag(gram) - 2 * target))] = 1.0
    live = [(weight, F) for weight, F in zip(weights.tolist(), members, strict=True) if weight]
    scores = means + sum(weight * (F - means) for weight, F in live)
    return Combination(weights, to_numpy(mean) * (1 - weights.sum()), scores)


def _leaving(w: Array, Y: Array, groups: np.ndarray | None) -> tuple[Array, Array]:
    """Weight, and weighted labels, that leave with each row: at most one unit of a row, or all of a group."""
    if groups is None:
        unit = namespace(Y).clip(w, None, 1.0)
        return unit, unit * Y
    # (n, number of groups)
    member = sparse.csr_array((np.ones(len(groups)), (np.arange(len(groups)), groups)))
    of_groups = [member @ (member.T @ to_numpy(part)) for part in (w, w * Y)]
    return to_match(of_groups[0], Y), to_match(of_groups[1], Y)
