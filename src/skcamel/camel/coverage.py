"""Leave-one-out scores ► answers yes, no or open with a stated coverage; and how well answers and probabilities keep their word.

A new score s of a label is compared with the leave-one-out scores F of the training rows. It agrees with a yes as far as the share of
positives with F ≤ s, and with a no as far as the share of negatives with F ≥ s; the new row itself counts among them. An answer
is possible where it agrees with a share above 1 - coverage. If one alone is possible it is given; if both or neither are, the answer is
open. If a row that was left out is scored like a new one, positives then get a no, and negatives a yes, with a probability of
1 - coverage at most, whatever the scores are like. No rows are set aside for this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skcamel.metrics.decision import Counts

YES, NO, OPEN = 1, 0, -1
BINS = 10  # of the probabilities


@dataclass(frozen=True)
class Reference:
    """Leave-one-out scores that new scores are compared with: for each label those of its negatives, then those of its positives.

    Labels may be unknown in some rows, so runs have different lengths and stand one after the other.

    Examples
    --------
    >>> held = reference(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([[-0.9], [-0.4], [0.3], [0.8]]))
    >>> held.agreement(np.array([[0.5]]))[1]  # with a yes: it is above one of two positives, and equal to itself
    array([[0.66666667]])
    >>> held.sets(np.array([[-1.0], [-0.1], [0.5]]), 0.6).tolist()
    [[0], [-1], [1]]
    """

    scores: np.ndarray  # (h,) ascending within each run
    ends: np.ndarray  # (q, 2) where the runs of each label end: negatives, positives
    weights: np.ndarray | None = None  # (h,) in the order of the scores; None where all are 1

    def agreement(self, scores: np.ndarray) -> np.ndarray:
        """Of every score (m, q) with a no and with a yes, (2, m, q): shares between 0 and 1, never 0."""
        q = len(self.ends)
        found = np.empty((2, len(scores), q))
        for j, runs in enumerate(self._runs()):
            new = scores[:, j].astype(np.float64)
            for side, (held, below) in enumerate(runs):  # below[k] is the weight of the k lowest
                weight = below[np.searchsorted(held, new, "right")] if side else below[-1] - below[np.searchsorted(held, new, "left")]
                found[side, :, j] = (1 + weight) / (1 + below[-1])
        return found

    def sets(self, scores: np.ndarray, coverage: float) -> np.ndarray:
        """Answers to every score (m, q), int8: 1 yes, 0 no, -1 open."""
        no, yes = self.agreement(scores) > _error(coverage)  # possible
        return np.where((no != yes) & ~self.always_open(coverage), yes, OPEN).astype(np.int8)

    def always_open(self, coverage: float) -> np.ndarray:
        """Labels with so few positives or negatives that no score is unusual among them, bool (q,)."""
        weights = [[below[-1] for _, below in runs] for runs in self._runs()]
        return 1 / (1 + np.min(weights, axis=1)) > _error(coverage)

    def counts(self, cuts: np.ndarray) -> Counts:
        """True positives, false positives and false negatives of the rows left out, by weight, if labels above their cuts (q,) are given.

        Examples
        --------
        >>> held = reference(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([[-0.9], [0.5], [0.3], [0.8]]))
        >>> held.counts(np.array([0.4]))[:3]
        (array([1.]), array([1.]), array([1.]))
        """
        found = np.empty((len(self.ends), 2, 2))  # label, negatives and positives, not above the cut and all
        for j, runs in enumerate(self._runs()):
            found[j] = [(below[np.searchsorted(held, cuts[j], "right")], below[-1]) for held, below in runs]
        (not_given, negatives), (missed, positives) = found.transpose(1, 2, 0)
        known = negatives + positives
        return Counts(positives - missed, negatives - not_given, missed, float(known.max()), known)

    def areas(self) -> np.ndarray:
        """How often a positive of each label is scored above a negative, (q,): the area under its ROC curve; NaN where either is missing.

        Examples
        --------
        >>> reference(np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([[-0.9], [0.3], [0.3], [0.8]])).areas()
        array([0.875])
        """
        found = np.full(len(self.ends), np.nan)
        for j, ((low, below), (high, above)) in enumerate(self._runs()):
            if below[-1] > 0 and above[-1] > 0:
                beaten = (below[np.searchsorted(low, high, "left")] + below[np.searchsorted(low, high, "right")]) / 2  # ties count half
                found[j] = np.diff(above) @ beaten / (below[-1] * above[-1])
        return found

    def _runs(self) -> list[list[tuple[np.ndarray, np.ndarray]]]:
        """For each label, and for its negatives and positives: scores (k,) and the weight of the lowest 0, 1, … of them (k+1,)."""
        cuts = self.ends.ravel()[:-1]
        if self.weights is None:
            pairs = [(run, np.arange(len(run) + 1.0)) for run in np.split(self.scores, cuts)]
        else:
            weights = np.split(self.weights, cuts)
            pairs = [(run, np.append(0.0, np.cumsum(own))) for run, own in zip(np.split(self.scores, cuts), weights, strict=True)]
        return [pairs[2 * j : 2 * j + 2] for j in range(len(self.ends))]


def _error(coverage: float) -> float:
    """1 - coverage without its rounding: 1 of 10 rows is enough for a coverage of 0.9."""
    return round(1 - coverage, 12)


def reference(Y: np.ndarray, scores: np.ndarray, weights: np.ndarray | None = None) -> Reference:
    """What new scores are compared with.

    Parameters
    ----------
    Y : array of shape (n, q)
        Labels in {-1, +1}; NaN where a label is unknown, which leaves the entry out.
    scores : array of shape (n, q)
        Leave-one-out scores.
    weights : array of shape (n,), default=None
        A row of weight 3 counts like three rows.
    """
    runs = [np.flatnonzero(chosen) for labels in Y.T for chosen in (labels < 0, labels > 0)]
    rows = [run[np.argsort(scores[run, k // 2], kind="stable")] for k, run in enumerate(runs)]
    held = np.concatenate([scores[run, k // 2] for k, run in enumerate(rows)])
    ends = np.cumsum([len(run) for run in rows]).reshape(-1, 2)
    return Reference(held, ends, None if weights is None else weights[np.concatenate(rows)])


class Measured(NamedTuple):
    """How often answers were right or open, as counts of each label; entries whose truth is unknown are left out."""

    positives: np.ndarray  # (q,)
    positives_kept: np.ndarray  # (q,) of them answered with yes or open
    negatives: np.ndarray  # (q,)
    negatives_kept: np.ndarray  # (q,) of them answered with no or open
    open: np.ndarray  # (q,) of both

    def shares(self) -> dict[str, np.ndarray]:
        """Of each label, (q,): positives and negatives that the answers allow, and open answers; NaN where there are none."""
        rows = self.positives + self.negatives
        parts = {"positives": (self.positives_kept, self.positives), "negatives": (self.negatives_kept, self.negatives)}
        return {key: _ratio(*pair) for key, pair in (parts | {"open": (self.open, rows)}).items()}

    def total(self) -> Measured:
        """All labels as one."""
        return Measured(*(column.sum(keepdims=True) for column in self))


def measured(Y: np.ndarray, answers: np.ndarray) -> Measured:
    """Compare answers with the truth.

    Parameters
    ----------
    Y : array of shape (m, q)
        Labels in {0, 1} or {-1, +1}, or booleans; NaN where a label is unknown.
    answers : int array of shape (m, q)
        1 yes, 0 no, -1 open.

    Examples
    --------
    >>> found = measured(np.array([[1, 0], [1, np.nan]]), np.array([[1, 1], [0, -1]]))
    >>> {key: share.round(2).tolist() for key, share in found.total().shares().items()}
    {'positives': [0.5], 'negatives': [0.0], 'open': [0.0]}
    """
    has, lacks = Y > 0, Y <= 0
    columns = has, has & (answers != NO), lacks, lacks & (answers != YES), (has | lacks) & (answers == OPEN)
    return Measured(*(column.sum(axis=0) for column in columns))


class Reliability(NamedTuple):
    """Probabilities by bins of equal width: how many, their mean, and the share of labels that were present."""

    counts: np.ndarray  # (b,)
    predicted: np.ndarray  # (b,) NaN where there are none
    observed: np.ndarray  # (b,)

    @property
    def error(self) -> float:
        """Expected calibration error: the mean of |predicted - observed| over all probabilities."""
        filled = self.counts > 0
        return float(np.average(abs(self.predicted - self.observed)[filled], weights=self.counts[filled])) if filled.any() else float("nan")


def reliability(Y: np.ndarray, probabilities: np.ndarray, bins: int = BINS) -> Reliability:
    """How often labels are present that have a given probability, over all labels.

    Parameters
    ----------
    Y : array of shape (m, q)
        Labels in {0, 1} or {-1, +1}, or booleans; NaN where a label is unknown.
    probabilities : array of shape (m, q)
    bins : int, default=10

    Examples
    --------
    >>> found = reliability(np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.1], [0.7, 0.3]]), bins=2)
    >>> found.predicted, found.observed, round(found.error, 3)
    (array([0.2, 0.8]), array([0., 1.]), 0.2)
    """
    known = (Y > 0) | (Y <= 0)
    p, has = probabilities[known].astype(np.float64), (Y > 0)[known]
    which = np.minimum((p * bins).astype(np.int64), bins - 1)
    counts, sums, present = (np.bincount(which, weights, bins) for weights in (None, p, has))
    return Reliability(counts, _ratio(sums, counts), _ratio(present, counts))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Quotients; NaN where there is nothing to divide by."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)
