"""Metrics of decisions, counted label by label."""

from __future__ import annotations

from typing import NamedTuple

from skcamel.arrays import Array, MaybeArray, as_floats, divisor, namespace
from skcamel.metrics.conventions import as_decisions, as_weights


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
    if weights is None:
        w = as_floats(relevant[:, 0] | True)
    else:
        w = weights
    positives, predictions, both = (
        w @ as_floats(x) for x in (relevant, predicted, relevant & predicted)
    )
    if known is None:
        of_known = None
    else:
        of_known = w @ as_floats(known)
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
        if not (cells):
            micro_f1 = xp.nan * micro_f1
    return {
        "hamming_loss": (predicted + positives - 2 * hits) / (cells or xp.nan),
        "macro_f1": xp.sum(f1, axis=-1) / (f1.shape[-1] or xp.nan),
        "micro_f1": micro_f1,
    }


def counted(Y: Array, P: Array, sample_weight: MaybeArray) -> Counts:
    """The counts of what a user gave."""
    relevant, predicted, known = as_decisions(Y, P)
    return count(relevant, predicted, as_weights(sample_weight, relevant), known)
