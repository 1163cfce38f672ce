"""The three metrics that read decisions: Hamming loss and the two F1 averages, from one count per label."""

from __future__ import annotations

from typing import NamedTuple

from skcamel.arrays import Array, cast, namespace
from skcamel.metrics.conventions import as_relevance, as_weights, check_shapes


class Counts(NamedTuple):
    """Weighted counts per label, (q,) each, or (c, q) for c candidates."""

    true_positive: Array
    false_positive: Array
    false_negative: Array
    total: float  # weight of all rows


def hamming_loss(Y: Array, P: Array, *, sample_weight: Array | None = None) -> float:
    """Share of wrong entries of the decision matrix; smaller is better.

    Parameters
    ----------
    Y, P : array of shape (n, q)
        Truth and decisions in {0, 1} or {-1, +1}.
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    return float(hamming_of(_checked_counts(Y, P, sample_weight)))


def macro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """Mean over labels of F1 = 2TP / (2TP + FP + FN); larger is better.

    Parameters
    ----------
    Y, P : array of shape (n, q)
        Truth and decisions in {0, 1} or {-1, +1}.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted. 1 rewards never predicting a rare label: report 0 beside it.
    sample_weight : array of shape (n,), default=None

    Examples
    --------
    >>> macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]]), macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]], absent=0.0)
    (1.0, 0.5)
    """
    f1 = f1_of(_checked_counts(Y, P, sample_weight), absent)
    return float(namespace(f1).mean(f1))


def micro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """F1 of the counts summed over labels; larger is better.

    Parameters as in :func:`macro_f1`.

    Examples
    --------
    >>> round(micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]]), 2)
    0.8
    """
    return float(f1_of(summed(_checked_counts(Y, P, sample_weight)), absent))


def count(relevant: Array, predicted: Array, weights: Array | None = None) -> Counts:
    """True positives, false positives and false negatives of each label.

    Parameters
    ----------
    relevant : bool array of shape (n, q)
    predicted : bool array of shape (n, q), or (c, n, q) for c candidates at once
    weights : array of shape (n,), default=None
    """
    xp = namespace(relevant)

    def total(x: Array) -> Array:
        return cast(xp.sum(x, axis=-2), "float64") if weights is None else weights @ cast(x, "float64")

    both, positives, predictions = total(relevant & predicted), total(relevant), total(predicted)
    return Counts(both, predictions - both, positives - both, float(len(relevant) if weights is None else xp.sum(weights)))


def hamming_of(counts: Counts) -> Array:
    """Hamming loss from the counts."""
    xp = namespace(counts.true_positive)
    wrong = xp.sum(counts.false_positive + counts.false_negative, axis=-1)
    cells = counts.total * counts.true_positive.shape[-1]
    return wrong / cells if cells > 0 else wrong * xp.nan


def f1_of(counts: Counts, absent: float = 1.0) -> Array:
    """F1 of every label, `absent` where it neither occurs nor is predicted."""
    xp = namespace(counts.true_positive)
    twice = 2 * counts.true_positive
    size = twice + counts.false_positive + counts.false_negative
    return xp.where(size > 0, twice / xp.where(size > 0, size, 1.0), absent)


def summed(counts: Counts) -> Counts:
    """Counts of all labels together."""
    xp = namespace(counts.true_positive)
    both, extra, missed, total = counts
    return Counts(xp.sum(both, axis=-1), xp.sum(extra, axis=-1), xp.sum(missed, axis=-1), total)


def decision_metrics(counts: Counts, absent: float = 1.0) -> dict[str, Array]:
    """Hamming loss, macro-F1 and micro-F1 from one count, arrays of shape () or (c,)."""
    f1 = f1_of(counts, absent)
    return {
        "hamming_loss": hamming_of(counts),
        "macro_f1": namespace(f1).mean(f1, axis=-1),
        "micro_f1": f1_of(summed(counts), absent),
    }


def _checked_counts(Y: Array, P: Array, sample_weight: Array | None) -> Counts:
    relevant, predicted = as_relevance(Y), as_relevance(P, "P")
    check_shapes(relevant, predicted, "P")
    return count(relevant, predicted, as_weights(sample_weight, relevant))
