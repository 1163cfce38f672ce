"""Representations combined: scores ȳ + Σ w_r (f_r(x) - ȳ), with weights w ≥ 0 learned on leave-one-out scores; and made log-odds.

The means ȳ of the labels are what a model without features predicts: weights that do not add up to 1 then shrink or stretch what
the features say, and not how frequent a label is.

With few rows, leave-one-out is slightly optimistic for two reasons. A row that is left out has helped to learn S, so a label of few
rows is known through S, the more so the larger α is. It has also helped to scale the columns, so a word of two rows weighs half of
what it weighs for a new row. So members have α ≤ ½, and columns of sparse rows are not standardised. ``benchmarks/combination.md``
shows on small and large sets that the result is at least as good as the first representation alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from skcamel.arrays import Array, as_floats, cast, namespace, to_match, to_numpy
from skcamel.camel.representation import Data
from skcamel.camel.thresholds import log_odds
from skcamel.metrics.conventions import LOSSES, RANKING
from skcamel.metrics.ranking import ranking_rows

Member = TypeVar("Member")
LARGEST_ALPHA = 0.5  # of a member
GROUPS = 5  # of rows; weights that are judged come from the other groups
ROUNDING = 1e-20  # of squares
SAME = 1e-10  # members that are equal share their weight


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


def standard_errors(gain: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Mean gains of rows (..., n), each with its share (n,) of all, in standard errors (...,).

    >>> standard_errors(np.array([[1.0, 3.0], [1.0, 1.0], [0.0, 0.0]]), np.array([0.5, 0.5])).round(3)
    array([2.828,   inf, 0.   ])
    """
    mean = gain @ share
    error = np.sqrt((gain - mean[..., None]) ** 2 @ share**2)
    return np.divide(mean, error, out=np.where(mean == 0, 0.0, np.copysign(np.inf, mean)), where=error > 0)


class Judge:
    """Which of two models ranks the labels of the training rows better, by their leave-one-out scores, (n, q) each.

    Labels Y (n, q) are in {-1, +1}, rows have weights (n,). Where labels are NaN, weights are those of entries (n, q), 0 where unknown.
    What is learned on these scores is judged group by group of the rows, which `seed` deals, after learning it on the other groups.
    """

    def __init__(self, Y: Array, weights: Array | None = None, seed: int = 0) -> None:
        xp = namespace(Y)
        self.weights = as_floats(np.ones(len(Y)), Y) if weights is None else weights
        self.known: Array | None = None
        self.Y, self.of_rows = Y, self.weights
        if self.weights.ndim == 2:
            self.known, self.of_rows = self.weights > 0, xp.amax(self.weights, axis=1)
            self.Y = xp.where(self.known, Y, 0.0)
        self.relevant = self.Y > 0
        self.counted = xp.any(self.relevant, axis=1) & xp.any(self.Y < 0, axis=1)  # rows of which ranking metrics are defined
        self.links: dict[int, tuple[Array, ...]] = {}  # by the identity of the scores
        self.group = np.random.default_rng(seed).permutation(len(Y)) % GROUPS

    @classmethod
    def of(cls, data: Data, like: Array, seed: int) -> Judge:
        """Of the training rows, where the scores `like` live."""
        return cls(to_match(data.Y, like), None if data.counts is None else to_match(data.counts, like), seed)

    def groups(self) -> Iterator[tuple[int, Array]]:
        """Numbers of the groups, and which rows are in them, (n,) bool."""
        return ((g, to_match(self.group == g, self.Y)) for g in range(GROUPS))

    def lead(self, scores: Array, other: Array, criterion: str = "average_precision") -> float:
        """By how many standard errors scores are better than others, in a ranking metric; else in average precision.

        If no row defines the metric, squared errors of the rows are compared.
        """
        xp = namespace(self.Y)
        counted = self.counted
        if not bool(counted.any()):
            counted = ~counted
            values = [-xp.sum((1 if self.known is None else self.known) * (self.Y - F) ** 2, axis=1) for F in (scores, other)]
        else:
            name = criterion if criterion in RANKING else "average_precision"
            sign = -1.0 if name in LOSSES else 1.0
            values = [sign * cast(ranking_rows(self.relevant, F, known=self.known)[name], "float64") for F in (scores, other)]
        share = self.of_rows[counted] / xp.sum(self.of_rows[counted])
        return float(standard_errors(to_numpy((values[0] - values[1])[counted]), to_numpy(share)))

    def link(self, scores: Array, criterion: str = "average_precision") -> tuple[Array, Array] | None:
        """Slopes and offsets (q,) of :func:`skcamel.camel.thresholds.log_odds`, if log-odds rank labels better than the scores do.

        The caller keeps the scores alive.
        """
        if not bool(self.counted.any()):
            return None
        if id(scores) not in self.links:
            judged = 0.0 * scores
            for _, here in self.groups():
                slope, offset = log_odds(self.relevant[~here], scores[~here], self.weights[~here])
                judged[here] = slope * scores[here] + offset
            self.links[id(scores)] = judged, *log_odds(self.relevant, scores, self.weights)
        judged, slope, offset = self.links[id(scores)]
        return (slope, offset) if self.lead(judged, scores, criterion) > 0 else None


class Combination:
    """R members by their leave-one-out scores, (n, q) each, for the labels of a judge."""

    def __init__(self, judge: Judge, scores: Sequence[Array]) -> None:
        self.judge, self.scores = judge, scores
        Y, w = judge.Y, judge.weights
        xp = namespace(Y)
        if w.ndim == 2:
            unit, size = xp.clip(w, None, 1.0), xp.sum(w, axis=0)
            total = xp.sum(w * Y, axis=0)
            self.mean = total / xp.where(size > 0, size, 1.0)  # (q,)
            left = size - unit
            self.means = xp.where(left > 0, (total - unit * Y) / xp.where(left > 0, left, 1.0), 0.0)
        else:
            total, unit = w @ Y, xp.clip(w, None, 1.0)[:, None]  # what leave-one-out takes away
            self.mean = total / xp.sum(w)  # (q,)
            self.means = (total - unit * Y) / (xp.sum(w) - unit)  # (n, q) of the other rows
        self.grams, self.targets = np.zeros((GROUPS, len(scores), len(scores))), np.zeros((GROUPS, len(scores)))
        self.energy = 0.0
        for g, here in judge.groups():
            share, means = xp.sqrt(w[here] if w.ndim == 2 else w[here][:, None]), self.means[here]
            rows = xp.stack([xp.reshape(share * (F[here] - means), (-1,)) for F in scores])  # (R, part of n x q)
            self.grams[g] = to_numpy(rows @ rows.T)
            labels = xp.reshape(share * (Y[here] - means), (-1,))
            self.targets[g] = to_numpy(rows @ labels)
            self.energy += float(labels @ labels)
        self.weights = self._weights(np.ones(GROUPS, dtype=bool))

    def _weights(self, groups: np.ndarray) -> np.ndarray:
        """Weights by the rows of some groups, a mask (GROUPS,)."""
        return weights_of(self.grams[groups].sum(axis=0), self.targets[groups].sum(axis=0), self.energy)

    @property
    def shift(self) -> Array:
        """What is added to the scores of each member so that Σ w_r f_r(x) is the combination, (q,)."""
        total = float(self.weights.sum())
        return self.mean * (1 - total) / total

    def live(self, members: Sequence[Member]) -> list[tuple[float, Member]]:
        """Weights and members, those with weight 0 left out."""
        return [(weight, member) for weight, member in zip(self.weights.tolist(), members, strict=True) if weight > 0]

    def combined(self, w: np.ndarray | None = None) -> Array:
        """Leave-one-out scores of the combination, (n, q)."""
        w = self.weights if w is None else w
        total = self.means + 0.0
        for weight, F in zip(w.tolist(), self.scores, strict=True):
            if weight:
                total = total + weight * (F - self.means)
        return total

    def is_worse_than(self, other: Array, criterion: str = "average_precision") -> bool:
        """Whether other scores (n, q) are better by more than a standard error, see :meth:`Judge.lead`.

        The weights of each fifth of the rows come from the other four. Members whose weights are all 0 are worse than anything.
        """
        if not self.weights.any():
            return True
        judged = 0.0 * self.judge.Y
        for g, here in self.judge.groups():
            others = np.arange(GROUPS) != g
            judged[here] = self.combined(self._weights(others))[here]
        return self.judge.lead(other, judged, criterion) > 1
