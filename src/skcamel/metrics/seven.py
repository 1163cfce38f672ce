"""The seven metrics: four from one sort of the scores, three from one count of the decisions.

Published figures differ by conventions as much as by methods. Three are arguments of the metrics:

ties
    "worst": a tied label gets the worst rank of its group, and ties between relevant and irrelevant
    labels are errors (Zhang & Zhou, scikit-learn). "index": ranks are unique, the higher label
    index first (MULAN).
rows
    Rows with no or with all labels relevant, which have no ranking. "skip": left out. "mulan":
    one-error 1, coverage 0, ranking loss 0, not counted in average precision. "sklearn": as
    scikit-learn's functions give them, coverage -1/q among it, average precision 1.
absent
    F1 of a label with no positive and none predicted, 0/0: 1 (MULAN, and evidently the paper) or 0.

NaN in the truth marks an unknown label. A row is ranked as if it had its known labels alone: its
coverage is a share of these, and "no" and "all" labels above mean no and all known ones. Decisions
are compared where the truth is known. Rows without a known label enter no ranking metric under any
convention, and labels without a known entry do not enter macro-F1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skcamel.arrays import (
    Array,
    MaybeArray,
    as_floats,
    by_name,
    column_names,
    divisor,
    is_tensor,
    namespace,
    slices,
)
from skcamel.checks import as_array, as_truth, choice

TITLES = {  # as the paper writes them, in its order
    "one_error": "One-error",
    "hamming_loss": "Hamming loss",
    "coverage": "Coverage",
    "ranking_loss": "Ranking loss",
    "average_precision": "Average precision",
    "macro_f1": "Macro-averaging F1",
    "micro_f1": "Micro-averaging F1",
}
NAMES = tuple(TITLES)
RANKING = ("one_error", "coverage", "ranking_loss", "average_precision")
LOSSES = frozenset(("one_error", "hamming_loss", "coverage", "ranking_loss"))
TIES = ("worst", "index")
ROWS = ("skip", "mulan", "sklearn")
# scores sorted or compared at a time: larger arrays are returned to the system after each use, at
# twice the cost, but a GPU is slow to start
BLOCK = 2**17
BLOCK_ON_GPU = 2**23


def as_scores(scores: Array, Y: Array) -> Array:
    """Scores as float64 of the shape of Y; NaN is refused, infinities are legal."""
    scores = as_floats(as_array(scores))
    _check_shapes(Y, scores, "scores")
    if bool(namespace(scores).isnan(scores).any()):
        raise ValueError(
            "scores holds NaN, which has no rank; replace it by a number or by -inf for 'never'."
        )
    return scores


def as_decisions(Y: Array, P: Array) -> tuple[Array, Array, MaybeArray]:
    """Truth and decisions as boolean matrices (n, q), and which entries of the truth are known."""
    relevant, known = as_truth(Y)
    predicted, _ = as_truth(by_name(P, column_names(Y) or ()), "P", may_be_unknown=False)
    _check_shapes(relevant, predicted, "P")
    return relevant, predicted, known


def _check_shapes(Y: Array, other: Array, name: str) -> None:
    if tuple(Y.shape) != tuple(other.shape):
        raise ValueError(
            f"Y has shape {tuple(Y.shape)} but {name} has shape {tuple(other.shape)}; they must be"
            " equal."
        )


def as_weights(sample_weight: MaybeArray, like: Array) -> MaybeArray:
    """Weights of the rows as float64 (n,), or None."""
    if sample_weight is None:
        return None
    weights = as_floats(sample_weight, like)
    if weights.shape != (len(like),):
        raise ValueError(
            f"sample_weight has shape {tuple(weights.shape)}; one weight for each of the"
            f" {len(like)} rows is needed."
        )
    if not bool(((weights >= 0) & (weights < np.inf)).all()):
        raise ValueError("sample_weight must be finite and at least 0.")
    return weights


def one_error(
    Y: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    sample_weight: MaybeArray = None,
) -> float:
    """Share of rows whose highest score belongs to an irrelevant label; smaller is better.

    Under ties="worst" the lowest index among equal highest scores is the top label, under "index"
    the highest.

    Parameters
    ----------
    Y : array of shape (n, q)
        Relevance in {0, 1} or {-1, +1}; NaN where unknown, and a row is ranked by its known labels
        alone.
    scores : array of shape (n, q)
        Higher means more relevant.
    ties, rows : str
        See :mod:`skcamel.metrics.seven`.
    sample_weight : array of shape (n,), default=None

    Returns
    -------
    float
        NaN where no row counts.

    Examples
    --------
    >>> one_error([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    0.5
    """
    return _mean_of("one_error", Y, scores, ties, rows, sample_weight)


def coverage(
    Y: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    sample_weight: MaybeArray = None,
) -> float:
    """How far down the ranking the last relevant label stands, (rank - 1) / q; smaller is better.

    Parameters and conventions as in :func:`one_error`. scikit-learn's `coverage_error` counts the
    rank itself.

    Examples
    --------
    >>> round(coverage([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]]), 4)
    0.3333
    """
    return _mean_of("coverage", Y, scores, ties, rows, sample_weight)


def ranking_loss(
    Y: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    sample_weight: MaybeArray = None,
) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order; smaller is better.

    Parameters and conventions as in :func:`one_error`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    0.25
    """
    return _mean_of("ranking_loss", Y, scores, ties, rows, sample_weight)


def average_precision(
    Y: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    sample_weight: MaybeArray = None,
) -> float:
    """Mean over relevant labels of the share of relevant ones ranked at least as high.

    Larger is better.

    Parameters and conventions as in :func:`one_error`. It is scikit-learn's label ranking average
    precision.

    Examples
    --------
    >>> average_precision([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    0.75
    """
    return _mean_of("average_precision", Y, scores, ties, rows, sample_weight)


def best_labels(scores: Array, k: int) -> Array:
    """Positions of the `k` highest scores of every row: int64 (n, k).

    The highest comes first, and among equals the lower index.

    >>> best_labels(np.array([[0.1, 0.5, 0.5, 0.2]]), 3)
    array([[1, 2, 3]])
    """
    return np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int64)


def ranking_metrics(
    relevant: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    weights: MaybeArray = None,
    known: MaybeArray = None,
) -> dict[str, Array]:
    """All four ranking metrics, arrays of shape () or (c,).

    Relevance is a bool array (n, q), scores are (n, q), or (c, n, q) for c candidates at once,
    weights (n,). `known` (n, q) marks which entries of the relevance are known; None: all. Labels
    that are not known take no part; their relevance is False.
    """
    choice(ties, TIES, "ties")
    choice(rows, ROWS, "rows")
    xp = namespace(scores)
    q = relevant.shape[1]
    if known is not None or is_tensor(scores):
        judge = _by_pairs
    else:
        judge = _by_marks
    relevant = xp.reshape(xp.broadcast_to(relevant, scores.shape), (-1, q))
    ranked = scores
    if known is not None:
        ranked = xp.where(known, scores, xp.nan)
    ranked = xp.reshape(ranked, (-1, q))
    size = BLOCK_ON_GPU if is_tensor(scores) else BLOCK
    blocks = slices(max(1, len(ranked)), size // q)
    found = [judge(relevant[some], ranked[some], ties) for some in blocks]
    found = xp.reshape(xp.concatenate(found, axis=1), (5, *scores.shape[:-1]))
    top, last, wrong, precision, total = found
    labels = xp.full_like(total, q)
    if known is not None:
        labels = as_floats(xp.sum(known, axis=1))
    values = {  # with what MULAN gives rows that have no or all labels
        "one_error": 1 - top,
        "coverage": xp.clip(last - 1, 0, None) / xp.clip(labels, 1, None),
        "ranking_loss": wrong / xp.clip(total * (labels - total), 1, None),
        "average_precision": precision / xp.clip(total, 1, None),
    }
    empty = total == 0
    if rows == "skip":
        judged = ~empty & (total < labels)
    else:
        judged = labels > 0
    counts = dict.fromkeys(RANKING, judged)
    if rows == "mulan":
        counts["average_precision"] = ~empty
    if rows == "sklearn":
        values["coverage"] = xp.where(empty, -1 / xp.clip(labels, 1, None), values["coverage"])
        values["average_precision"] = xp.where(empty, 1.0, values["average_precision"])
    means = {}
    for name in RANKING:
        w = as_floats(counts[name]) if weights is None else counts[name] * weights
        size = xp.sum(w, axis=-1)
        total = xp.sum(w * values[name], axis=-1)
        means[name] = total / xp.where(size > 0, size, xp.nan)
    return means


def _by_marks(relevant: Array, scores: Array, ties: str) -> Array:
    """Figures of the rankings, (5, n).

    That is: whether the top label is relevant, the position of the last relevant one, pairs in the
    wrong order, the sum of the precisions at relevant labels, and the number of these. A relevant
    label at `position` (1 is the best) with `hits` relevant labels down to there has ``position -
    hits`` irrelevant ones above it.

    Relevance is written into the last bit of each score, so that values are sorted instead of
    indices, which is four times as fast. Rows in which that bit could decide about a relevant label
    are left to :func:`_by_pairs`.
    """
    n, q = scores.shape
    finite = np.isfinite(scores)
    marked = np.where(finite, scores, 0.0).view(np.int64)
    marked &= ~1
    marked |= relevant
    values = marked.view(np.float64)
    values.sort(axis=1)
    ranked = (marked & 1) > 0  # relevance, the worst score first
    marked &= ~1
    tied = values[:, 1:] == values[:, :-1]
    # as labels that never occur are; where only irrelevant labels tie, nothing depends on their
    # order
    if tied.any():
        tied &= ranked[:, 1:] | ranked[:, :-1]
    total = np.count_nonzero(relevant, axis=1)
    ends = np.cumsum(total)
    row = np.repeat(np.arange(n), total)  # of each relevant label
    position = (row + 1) * q - np.flatnonzero(ranked)
    hits = ends[row] - np.arange(len(row))
    last = np.zeros(n)
    last[total > 0] = position[(ends - total)[total > 0]]
    wrong = np.bincount(row, position - hits, n)
    precision = np.bincount(row, hits / position, n)
    found = np.stack([ranked[:, -1], last, wrong, precision, total])
    doubtful = tied.any(axis=1) | ~finite.all(axis=1)
    if doubtful.any():
        found[:, doubtful] = _by_pairs(relevant[doubtful], scores[doubtful], ties)
    return found


def _by_pairs(relevant: Array, scores: Array, ties: str) -> Array:
    """The same for any rows: relevant labels are compared with all of their row, except NaN."""
    xp = namespace(scores)
    n, q = scores.shape
    columns = xp.arange(q, device=scores.device)
    row, label = xp.where(relevant)
    position = xp.zeros_like(scores)
    hits = xp.zeros_like(scores)
    size = BLOCK_ON_GPU if is_tensor(scores) else BLOCK
    for some in slices(len(row), size // q):
        i = row[some]
        j = label[some]
        others = scores[i]
        score = scores[i, j][:, None]
        down_to = others >= score
        if ties == "index":
            down_to &= (others > score) | (columns >= j[:, None])
        position[i, j] = as_floats(xp.count_nonzero(down_to, 1))
        hits[i, j] = as_floats(xp.count_nonzero(down_to & relevant[i], 1))
    highest = xp.amax(xp.where(xp.isnan(scores), -xp.inf, scores), axis=1)[:, None]
    preference = columns + 1
    if ties == "worst":
        preference = q - columns
    first = xp.argmax((scores == highest) * preference, axis=1)
    top = relevant[xp.arange(n, device=scores.device), first]
    last = xp.amax(position, axis=1)
    wrong = xp.sum(position - hits, axis=1)
    precision = xp.sum(hits / xp.clip(position, 1, None), axis=1)
    total = xp.count_nonzero(relevant, 1)
    return xp.stack([as_floats(part) for part in (top, last, wrong, precision, total)])


def _mean_of(
    name: str, Y: Array, scores: Array, ties: str, rows: str, sample_weight: MaybeArray
) -> float:
    relevant, known = as_truth(Y)
    scores = as_scores(scores, relevant)
    weights = as_weights(sample_weight, relevant)
    return float(
        ranking_metrics(relevant, scores, ties=ties, rows=rows, weights=weights, known=known)[name]
    )


class Counts(NamedTuple):
    """Weighted counts per label, (q,) each, or (c, q) for c candidates."""

    hits: Array  # true positives
    predicted: Array
    positives: Array
    total: float  # weight of all rows
    known: MaybeArray = None  # weight of the known entries, (q,); None: all are known


def hamming_loss(Y: Array, P: Array, *, sample_weight: MaybeArray = None) -> float:
    """Share of wrong entries of the decision matrix; smaller is better.

    Parameters
    ----------
    Y, P : array of shape (n, q)
        Truth and decisions in {0, 1} or {-1, +1}. NaN in Y marks unknown entries, which do not
        count.
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    return float(decision_metrics(counted(Y, P, sample_weight))["hamming_loss"])


def macro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: MaybeArray = None) -> float:
    """Mean over labels of F1 = 2TP / (2TP + FP + FN); larger is better.

    Parameters
    ----------
    Y, P, sample_weight
        As in :func:`hamming_loss`.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted. 1 rewards a method that never predicts a
        rare label: report 0 beside it. A label without a known entry does not count.

    Examples
    --------
    >>> Y = [[1, 0], [1, 0]]
    >>> macro_f1(Y, Y), macro_f1(Y, Y, absent=0.0)
    (1.0, 0.5)
    """
    return float(decision_metrics(counted(Y, P, sample_weight), absent)["macro_f1"])


def micro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: MaybeArray = None) -> float:
    """F1 of the counts summed over labels; larger is better.

    Parameters as in :func:`macro_f1`.

    Examples
    --------
    >>> round(micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]]), 2)
    0.8
    """
    return float(decision_metrics(counted(Y, P, sample_weight), absent)["micro_f1"])


def count(
    relevant: Array, predicted: Array, weights: MaybeArray = None, known: MaybeArray = None
) -> Counts:
    """True positives, predictions and positives of each label.

    Truth is a bool array (n, q), False where not `known` (n, q), decisions are (n, q), or (c, n, q)
    for c candidates at once, weights (n,).
    """
    if known is not None:
        predicted = predicted & known
    w = weights
    if w is None:
        w = as_floats(relevant[:, 0] | True)
    positives = w @ as_floats(relevant)
    predictions = w @ as_floats(predicted)
    both = w @ as_floats(relevant & predicted)
    of_known = None if known is None else w @ as_floats(known)
    return Counts(both, predictions, positives, float(w.sum()), of_known)


def f1_of(hits: Array, predicted: Array, positives: Array, absent: float = 1.0) -> Array:
    """F1 from the weights of true positives, predictions and positives; `absent` for 0/0."""
    xp = namespace(hits)
    size = predicted + positives
    return xp.where(size > 0, 2 * hits / divisor(size), absent)


def decision_metrics(counts: Counts, absent: float = 1.0) -> dict[str, Array]:
    """Hamming loss, macro-F1 and micro-F1 from one count, arrays of shape () or (c,)."""
    xp = namespace(counts.hits)
    f1 = f1_of(*counts[:3], absent)
    hits, predicted, positives = (xp.sum(part, axis=-1) for part in counts[:3])
    micro_f1 = f1_of(hits, predicted, positives, absent)
    cells = counts.total * counts.hits.shape[-1]
    if counts.known is not None:
        f1 = f1[..., counts.known > 0]
        cells = float(xp.sum(counts.known))
        if not cells:
            micro_f1 = xp.nan * micro_f1
    wrong = predicted + positives - 2 * hits
    return {
        "hamming_loss": wrong / (cells or xp.nan),
        "macro_f1": xp.sum(f1, axis=-1) / (f1.shape[-1] or xp.nan),
        "micro_f1": micro_f1,
    }


def counted(Y: Array, P: Array, sample_weight: MaybeArray) -> Counts:
    """The counts of what a user gave."""
    relevant, predicted, known = as_decisions(Y, P)
    return count(relevant, predicted, as_weights(sample_weight, relevant), known)
