"""Metrics of decisions: counted label by label (the three of the paper), and row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array, cast, namespace, to_numpy
from skcamel.metrics.conventions import as_decisions, as_weights, row_mean


class Counts(NamedTuple):
    """Weighted counts per label, (q,) each, or (c, q) for c candidates."""

    true_positive: Array
    false_positive: Array
    false_negative: Array
    total: float  # weight of all rows
    known: Array | None = None  # weight of the known entries, (q,); None: all are known


def hamming_loss(Y: Array, P: Array, *, sample_weight: Array | None = None) -> float:
    """Share of wrong entries of the decision matrix; smaller is better.

    Parameters
    ----------
    Y, P : array of shape (n, q)
        Truth and decisions in {0, 1} or {-1, +1}. NaN in Y marks unknown entries, which do not count.
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    return _metric("hamming_loss", Y, P, 1.0, sample_weight)


def macro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """Mean over labels of F1 = 2TP / (2TP + FP + FN); larger is better.

    Parameters
    ----------
    Y, P, sample_weight
        As in :func:`hamming_loss`.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted. 1 rewards a method that never predicts a rare label: report 0 beside it.
        A label without a known entry does not count.

    Examples
    --------
    >>> macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]]), macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]], absent=0.0)
    (1.0, 0.5)
    """
    return _metric("macro_f1", Y, P, absent, sample_weight)


def micro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """F1 of the counts summed over labels; larger is better.

    Parameters as in :func:`macro_f1`.

    Examples
    --------
    >>> round(micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]]), 2)
    0.8
    """
    return _metric("micro_f1", Y, P, absent, sample_weight)


def count(relevant: Array, predicted: Array, weights: Array | None = None, known: Array | None = None) -> Counts:
    """True positives, false positives and false negatives of each label.

    Truth is a bool array (n, q), False where not `known` (n, q), decisions are (n, q), or (c, n, q) for c candidates at once, weights
    (n,).
    """
    xp = namespace(relevant)

    def total(x: Array) -> Array:
        return cast(xp.sum(x, axis=-2), "float64") if weights is None else weights @ cast(x, "float64")

    both, positives, predictions = total(relevant & predicted), total(relevant), total(predicted if known is None else predicted & known)
    weight = float(len(relevant) if weights is None else xp.sum(weights))
    return Counts(both, predictions - both, positives - both, weight, None if known is None else total(known))


def f1_of(counts: Counts, absent: float = 1.0) -> Array:
    """F1 of every label, `absent` where it neither occurs nor is predicted, NaN where no entry is known."""
    xp = namespace(counts.true_positive)
    twice = 2 * counts.true_positive
    size = twice + counts.false_positive + counts.false_negative
    f1 = xp.where(size > 0, twice / xp.where(size > 0, size, 1.0), absent)
    return f1 if counts.known is None else xp.where(counts.known > 0, f1, xp.nan)


def decision_metrics(counts: Counts, absent: float = 1.0) -> dict[str, Array]:
    """Hamming loss, macro-F1 and micro-F1 from one count, arrays of shape () or (c,)."""
    *of_labels, total, known = counts
    xp = namespace(of_labels[0])
    both, extra, missed = (xp.sum(part, axis=-1) for part in of_labels)
    wrong, f1 = xp.sum(counts.false_positive + counts.false_negative, axis=-1), f1_of(counts, absent)
    entries, cells = None, total * of_labels[0].shape[-1]
    if known is not None:
        entries = xp.sum(known)
        f1, cells = f1[..., known > 0] if bool(entries > 0) else f1, float(entries)
    return {
        "hamming_loss": wrong / cells if cells > 0 else wrong * xp.nan,
        "macro_f1": xp.mean(f1, axis=-1),
        "micro_f1": f1_of(Counts(both, extra, missed, total, entries), absent),
    }


def _metric(name: str, Y: Array, P: Array, absent: float, sample_weight: Array | None) -> float:
    return float(decision_metrics(checked_counts(Y, P, sample_weight), absent)[name])


def checked_counts(Y: Array, P: Array, sample_weight: Array | None) -> Counts:
    """The counts of what a user gave."""
    relevant, predicted, known = as_decisions(Y, P)
    return count(relevant, predicted, as_weights(sample_weight, relevant), known)


def subset_accuracy(Y: Array, P: Array, *, sample_weight: Array | None = None) -> float:
    """Share of rows in which every decision is right; larger is better.

    Parameters as in :func:`hamming_loss`. A row counts by its known labels, and not at all where it has none.

    Examples
    --------
    >>> subset_accuracy([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.5
    """
    counts = _row_counts(Y, P)
    right = (counts.false_positive + counts.false_negative == 0).astype(np.float64)
    return _mean_over_rows(right, counts, sample_weight)


def example_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """Mean over rows of F1 = 2TP / (2TP + FP + FN); larger is better.

    Parameters as in :func:`macro_f1`; `absent` is the F1 of a row that has no label and is given none.

    Examples
    --------
    >>> round(example_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]]), 4)
    0.8333
    """
    counts = _row_counts(Y, P)
    return _mean_over_rows(f1_of(counts, absent), counts, sample_weight)


def jaccard(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """Mean over rows of TP / (TP + FP + FN), the labels in common among all that are true or predicted; larger is better.

    Parameters as in :func:`example_f1`.

    Examples
    --------
    >>> jaccard([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.75
    """
    counts = _row_counts(Y, P)
    size = counts.true_positive + counts.false_positive + counts.false_negative
    shares = np.where(size > 0, counts.true_positive / np.maximum(size, 1.0), absent)
    return _mean_over_rows(shares, counts, sample_weight)


def _row_counts(Y: Array, P: Array) -> Counts:
    """The counts of every row, (n,) each: those of the labels of the transposed matrices."""
    relevant, predicted, known = (None if part is None else to_numpy(part).T for part in as_decisions(Y, P))
    return count(relevant, predicted, None, known)


def _mean_over_rows(values: np.ndarray, counts: Counts, sample_weight: Array | None) -> float:
    """Weighted mean over the rows that have a known label."""
    counted = np.ones(len(values)) if counts.known is None else (counts.known > 0).astype(np.float64)
    weights = as_weights(sample_weight, values)
    return row_mean(np.where(counted > 0, values, 0.0), counted if weights is None else counted * weights)
