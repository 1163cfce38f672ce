"""Metrics that read the ranking of labels within a row, all four by one sort."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skcamel.arrays import Array, as_floats, cast, is_tensor, namespace, take_along_rows, to_numpy
from skcamel.metrics.conventions import RANKING, as_scores, as_truth, as_weights, check_conventions

BLOCK = 2**17  # scores sorted at a time; larger arrays are returned to the system after each use, at twice the cost


def one_error(Y: Array, scores: Array, *, ties: str = "worst", rows: str = "skip", sample_weight: Array | None = None) -> float:
    """Share of rows whose highest score belongs to an irrelevant label; smaller is better.

    Under ties="worst" the lowest index among equal highest scores is the top label, under "index" the highest.

    Parameters
    ----------
    Y : array of shape (n, q)
        Relevance in {0, 1} or {-1, +1}; NaN where unknown, and a row is ranked by its known labels alone.
    scores : array of shape (n, q)
        Higher means more relevant.
    ties, rows : str
        See :mod:`skcamel.metrics.conventions`.
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


def coverage(Y: Array, scores: Array, *, ties: str = "worst", rows: str = "skip", sample_weight: Array | None = None) -> float:
    """How far down the ranking the last relevant label stands, (rank - 1) / q; smaller is better.

    Parameters and conventions as in :func:`one_error`. scikit-learn's `coverage_error` counts the rank itself.

    Examples
    --------
    >>> round(coverage([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]]), 4)
    0.3333
    """
    return _mean_of("coverage", Y, scores, ties, rows, sample_weight)


def ranking_loss(Y: Array, scores: Array, *, ties: str = "worst", rows: str = "skip", sample_weight: Array | None = None) -> float:
    """Share of (relevant, irrelevant) pairs in the wrong order; smaller is better.

    Parameters and conventions as in :func:`one_error`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    0.25
    """
    return _mean_of("ranking_loss", Y, scores, ties, rows, sample_weight)


def average_precision(Y: Array, scores: Array, *, ties: str = "worst", rows: str = "skip", sample_weight: Array | None = None) -> float:
    """Mean over relevant labels of the share of relevant ones ranked at least as high; larger is better.

    Parameters and conventions as in :func:`one_error`. It is scikit-learn's label ranking average precision.

    Examples
    --------
    >>> average_precision([[1, 0, 1], [0, 1, 0]], [[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    0.75
    """
    return _mean_of("average_precision", Y, scores, ties, rows, sample_weight)


def best_labels(scores: np.ndarray, k: int) -> np.ndarray:
    """Positions of the `k` highest scores of every row, highest first and the lower index first among equals: int64 (n, k).

    >>> best_labels(np.array([[0.1, 0.5, 0.5, 0.2]]), 3)
    array([[1, 2, 3]])
    """
    if k == scores.shape[1]:
        return np.argsort(-scores, axis=1, kind="stable").astype(np.int64)
    found = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
    least = np.take_along_axis(scores, found, axis=1).min(axis=1, keepdims=True)
    doubtful = np.flatnonzero(np.count_nonzero(scores >= least, axis=1) > k)  # equal labels on both sides of the end
    found[doubtful] = np.sort(np.argsort(-scores[doubtful], axis=1, kind="stable")[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(scores, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1).astype(np.int64)


def ranking_metrics(
    relevant: Array,
    scores: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    weights: Array | None = None,
    known: Array | None = None,
) -> dict[str, Array]:
    """All four ranking metrics from one sort, arrays of shape () or (c,).

    Relevance is a bool array (n, q), scores are (n, q), or (c, n, q) for c candidates at once, weights (n,). `known` (n, q) says
    which entries of the relevance are known; None: all.
    """
    xp = namespace(scores)
    shape = (-1, scores.shape[-1])
    relevant, flat = xp.reshape(xp.broadcast_to(relevant, scores.shape), shape), xp.reshape(scores, shape)
    if known is not None:
        known = xp.reshape(xp.broadcast_to(known, scores.shape), shape)
    per_row = ranking_rows(relevant, flat, ties=ties, known=known)
    means = {}
    for name in RANKING:
        counted = xp.reshape(_counted(name, per_row, rows), scores.shape[:-1])
        means[name] = _mean(xp.reshape(per_row[name], scores.shape[:-1]), counted, weights)
    return means


def ranking_rows(relevant: Array, scores: Array, *, ties: str = "worst", known: Array | None = None) -> dict[str, Array]:
    """The four metrics of every row, (n,) each, with what MULAN gives rows that have no or all labels.

    Only the relevance of the labels in the order of their scores matters. Tied labels share the last position of their group.
    Labels that are not `known` (n, q) take no part.
    """
    if known is not None:
        return _known_rows(relevant, scores, known, ties)
    if is_tensor(scores):
        return _by_order(relevant, scores, ties)
    rows = max(1, BLOCK // max(1, scores.shape[1]))
    blocks = [_of_block(relevant[i : i + rows], scores[i : i + rows], ties) for i in range(0, max(1, len(scores)), rows)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _known_rows(relevant: Array, scores: Array, known: Array, ties: str) -> dict[str, Array]:
    """The same of rows that have their known labels alone: rows with equally many of them make one matrix."""
    xp = namespace(scores)
    sizes = xp.sum(known, axis=1)
    found: dict[str, Array] = {}
    for size in to_numpy(xp.unique(sizes)).tolist() or [0]:
        rows = sizes == size
        inside = known[rows]
        parts = (xp.reshape(matrix[rows][inside], (len(inside), size)) for matrix in (relevant, scores))
        for name, values in (ranking_rows(*parts, ties=ties) if size else _nothing_known(inside)).items():
            found.setdefault(name, xp.zeros_like(sizes, dtype=values.dtype))[rows] = values
    return found


def _nothing_known(known: Array) -> dict[str, Array]:
    """Of rows without a known label, none of which counts."""
    xp = namespace(known)
    total = xp.sum(known, axis=1)
    zero = cast(total, "float64")
    values = {"coverage": zero, "ranking_loss": zero, "average_precision": zero, "relevant": total, "labels": total}
    return {"one_error": xp.zeros_like(total, dtype=xp.bool)} | values


def _of_block(relevant: np.ndarray, scores: np.ndarray, ties: str) -> dict[str, np.ndarray]:
    found, doubtful = _by_marks(relevant, scores)
    if doubtful.any():
        exact = _by_order(relevant[doubtful], scores[doubtful], ties)
        for name, values in found.items():
            values[doubtful] = exact[name]
    return found


def _by_marks(relevant: np.ndarray, scores: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The metrics of rows without ties, and which rows (n,) may have some.

    Relevance is written into the last bit of each score, so that values are sorted instead of indices: four times as fast as
    :func:`_by_order`. Rows in which that bit could decide about a relevant label are told.
    """
    n, q = scores.shape
    if not np.isfinite(scores).all():
        scores = np.where(np.isfinite(scores).all(axis=1, keepdims=True), scores, 0.0)  # all tied, hence told as well
    marked = np.ascontiguousarray(scores, dtype=np.float64).view(np.int64) & ~1
    marked |= relevant
    marked.view(np.float64).sort(axis=1)
    ranked = (marked & 1) > 0  # relevance, the worst score first
    marked &= ~1
    values = marked.view(np.float64)
    tied = values[:, 1:] == values[:, :-1]
    if tied.any():  # as labels that never occur are; where only irrelevant labels tie, nothing depends on their order
        tied &= ranked[:, 1:] | ranked[:, :-1]
    doubtful = tied.any(axis=1)
    total = np.count_nonzero(relevant, axis=1)
    ends = np.cumsum(total)
    row = np.repeat(np.arange(n), total)  # of each relevant label
    position = (row + 1) * q - np.flatnonzero(ranked)  # 1 is the best
    hits = ends[row] - np.arange(len(row))  # relevant labels down to there
    last = np.zeros(n)
    last[total > 0] = position[(ends - total)[total > 0]]
    wrong, precision = (np.bincount(row, values, n) for values in (position - hits, hits / position))
    return _per_row(ranked[:, -1], last, wrong, precision, total, q), doubtful


def _by_order(relevant: Array, scores: Array, ties: str) -> dict[str, Array]:
    """The metrics of any rows.

    With ``position`` 1 … q and ``hits`` the number of relevant labels down to there, a relevant label has ``position - hits``
    irrelevant ones above it.
    """
    xp = namespace(scores)
    q = scores.shape[1]
    order = xp.argsort(-scores, axis=1) if ties == "worst" else xp.flip(xp.argsort(scores, axis=1, stable=True), (1,))
    ranked = take_along_rows(relevant, order)  # (n, q) relevance, best score first
    position = as_floats(range(1, q + 1), scores)  # float64: torch would divide integers in float32
    hits = xp.cumsum(ranked, axis=1)
    total, top = hits[:, -1], ranked[:, 0]
    if ties == "worst":
        position, hits = _shared_by_ties(position, hits, take_along_rows(scores, order))
        top = take_along_rows(relevant, xp.argmax(scores, axis=1)[:, None])[:, 0]  # the lowest index among equals
    last = xp.amax(ranked * position, axis=1)
    wrong = xp.sum(ranked * (position - hits), axis=1)
    precision = xp.sum(ranked * (hits / position), axis=1)
    return _per_row(top, last, wrong, precision, total, q)


def _per_row(top: Array, last: Array, wrong: Array, precision: Array, total: Array, q: int) -> dict[str, Array]:
    """The metrics from what the rankings say, (n,) each.

    That is: whether the top label is relevant, the position of the last relevant one, pairs in the wrong order, the sum of the
    precisions at relevant labels, and the number of these.
    """
    xp = namespace(last)
    pairs = total * (q - total)
    return {
        "one_error": ~top,
        "coverage": xp.clip(last - 1, 0, None) / q,
        "ranking_loss": wrong / xp.clip(pairs, 1, None),
        "average_precision": precision / xp.clip(total, 1, None),
        "relevant": total,
        "labels": xp.full_like(total, q),
    }


def _shared_by_ties(position: Array, hits: Array, ranked_scores: Array) -> tuple[Array, Array]:
    """`position` and `hits` at the end of each group of equal scores."""
    xp = namespace(hits)
    ends = ranked_scores[:, :-1] != ranked_scores[:, 1:]  # (n, q-1) whether a group ends here
    tied = ~xp.all(ends, axis=1)
    if not bool(tied.any()):
        return position, hits
    q = hits.shape[1]
    position = position + 0.0 * hits
    end = xp.where(ends[tied], xp.arange(q - 1, device=hits.device), q)  # q: not an end
    end = xp.concatenate([end, xp.full_like(end[:, :1], q - 1)], axis=1)
    for j in range(q - 2, -1, -1):  # nearest end at or after j
        end[:, j] = xp.where(end[:, j] == q, end[:, j + 1], end[:, j])
    position[tied] = cast(end + 1, "float64")
    hits[tied] = take_along_rows(hits[tied], end)
    return position, hits


def _counted(name: str, per_row: Mapping[str, Array], rows: str) -> Array:
    """Which rows enter the mean, after giving scikit-learn's values to rows without labels; none that knows no label does."""
    q, total = per_row["labels"], per_row["relevant"]
    judged, empty = q > 0, total == 0
    if rows == "skip":
        return ~empty & (total < q)
    if rows == "mulan":
        return ~empty if name == "average_precision" else judged
    if name == "average_precision":
        per_row[name][empty] = 1.0
    if name == "coverage":
        per_row[name][empty & judged] = -1 / cast(q[empty & judged], "float64")
    return judged


def _mean(values: Array, counted: Array, weights: Array | None) -> Array:
    """Weighted mean over the counted rows, the last axis; NaN if there are none."""
    xp = namespace(values)
    weights = cast(counted, "float64") if weights is None else counted * weights
    total = xp.sum(weights, axis=-1)
    return xp.where(total > 0, xp.sum(weights * values, axis=-1) / xp.where(total > 0, total, 1.0), xp.nan)


def _mean_of(name: str, Y: Array, scores: Array, ties: str, rows: str, sample_weight: Array | None) -> float:
    relevant, known = as_truth(Y)
    scores = as_scores(scores, relevant)
    check_conventions(ties, rows)
    weights = as_weights(sample_weight, relevant)
    return float(ranking_metrics(relevant, scores, ties=ties, rows=rows, weights=weights, known=known)[name])
