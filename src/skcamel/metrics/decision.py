"""What decisions tell: Hamming loss and the two F1 averages, the same label by label, and how often an edge case was met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array, cast, namespace, to_numpy
from skcamel.metrics.conventions import as_decisions, as_weights
from skcamel.rows import default_names
from skcamel.text import one_line


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
    return _metric("hamming_loss", Y, P, 1.0, sample_weight)


def macro_f1(Y: Array, P: Array, *, absent: float = 1.0, sample_weight: Array | None = None) -> float:
    """Mean over labels of F1 = 2TP / (2TP + FP + FN); larger is better.

    Parameters
    ----------
    Y, P, sample_weight
        As in :func:`hamming_loss`.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted. 1 rewards never predicting a rare label: report 0 beside it.

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


def count(relevant: Array, predicted: Array, weights: Array | None = None) -> Counts:
    """True positives, false positives and false negatives of each label.

    Truth is a bool array (n, q), decisions are (n, q), or (c, n, q) for c candidates at once, weights (n,).
    """
    xp = namespace(relevant)

    def total(x: Array) -> Array:
        return cast(xp.sum(x, axis=-2), "float64") if weights is None else weights @ cast(x, "float64")

    both, positives, predictions = total(relevant & predicted), total(relevant), total(predicted)
    return Counts(both, predictions - both, positives - both, float(len(relevant) if weights is None else xp.sum(weights)))


def f1_of(counts: Counts, absent: float = 1.0) -> Array:
    """F1 of every label, `absent` where it neither occurs nor is predicted."""
    xp = namespace(counts.true_positive)
    twice = 2 * counts.true_positive
    size = twice + counts.false_positive + counts.false_negative
    return xp.where(size > 0, twice / xp.where(size > 0, size, 1.0), absent)


def decision_metrics(counts: Counts, absent: float = 1.0) -> dict[str, Array]:
    """Hamming loss, macro-F1 and micro-F1 from one count, arrays of shape () or (c,)."""
    *of_labels, total = counts
    xp = namespace(of_labels[0])
    both, extra, missed = (xp.sum(part, axis=-1) for part in of_labels)
    wrong, cells = xp.sum(counts.false_positive + counts.false_negative, axis=-1), total * of_labels[0].shape[-1]
    return {
        "hamming_loss": wrong / cells if cells > 0 else wrong * xp.nan,
        "macro_f1": xp.mean(f1_of(counts, absent), axis=-1),
        "micro_f1": f1_of(Counts(both, extra, missed, total), absent),
    }


def _metric(name: str, Y: Array, P: Array, absent: float, sample_weight: Array | None) -> float:
    return float(decision_metrics(_checked_counts(Y, P, sample_weight), absent)[name])


def _checked_counts(Y: Array, P: Array, sample_weight: Array | None) -> Counts:
    relevant, predicted = as_decisions(Y, P)
    return count(relevant, predicted, as_weights(sample_weight, relevant))


@dataclass(frozen=True)
class EdgeCases:
    """How many rows and labels met a case in which conventions differ."""

    rows_without_labels: int
    rows_with_all_labels: int
    labels_absent: int  # neither true nor predicted anywhere: F1 is 0/0
    labels_never_true: int
    labels_never_predicted: int


def edge_cases(Y: Array, P: Array) -> EdgeCases:
    """Count the edge cases of truth Y and decisions P, both (n, q).

    Examples
    --------
    >>> edge_cases([[0, 0], [1, 0]], [[1, 0], [1, 0]])  # doctest: +NORMALIZE_WHITESPACE
    EdgeCases(rows_without_labels=1, rows_with_all_labels=0, labels_absent=1, labels_never_true=1,
              labels_never_predicted=1)
    """
    relevant, predicted = map(to_numpy, as_decisions(Y, P))
    true, found = relevant.any(axis=0), predicted.any(axis=0)
    return EdgeCases(
        rows_without_labels=int((~relevant.any(axis=1)).sum()),
        rows_with_all_labels=int(relevant.all(axis=1).sum()),
        labels_absent=int((~true & ~found).sum()),
        labels_never_true=int((~true).sum()),
        labels_never_predicted=int((~found).sum()),
    )


@dataclass(frozen=True)
class LabelReport:
    """Per-label results: iterates over one mapping per label and prints as a table."""

    rows: tuple[Mapping[str, Any], ...]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        names = [one_line(row["label"]) for row in self.rows]
        width = max([5, *map(len, names)])
        lines = [f"{'label':{width}}  positives  predicted  precision  recall     F1"]
        line = "{label:{width}}  {positives:9g}  {predicted:9g}  {precision:9.3f}  {recall:6.3f}  {f1:5.3f}"
        lines += [line.format(width=width, **{**row, "label": name}) for row, name in zip(self.rows, names, strict=True)]
        return "\n".join(lines)


def report(
    Y: Array, P: Array, *, label_names: Sequence[str] | np.ndarray | None = None, absent: float = 1.0, sample_weight: Array | None = None
) -> LabelReport:
    """Counts, precision, recall and F1 of every label.

    Parameters
    ----------
    Y, P, sample_weight
        As in :func:`hamming_loss`.
    label_names : sequence of str, default=None
        Names for the rows of the report; "label1", "label2" … if not given.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted; precision or recall of 0/0 is NaN.

    Examples
    --------
    >>> print(report([[1, 0], [1, 1]], [[1, 1], [0, 1]], label_names=["sea", "sun"]))
    label  positives  predicted  precision  recall     F1
    sea            2          1      1.000   0.500  0.667
    sun            1          2      0.500   1.000  0.667
    """
    counts = _checked_counts(Y, P, sample_weight)
    both, extra, missed = (to_numpy(part) for part in counts[:3])
    names = default_names("label", len(both)) if label_names is None else [str(name) for name in label_names]
    if len(names) != len(both):
        raise ValueError(f"Got {len(names)} label_names for {len(both)} labels; give one name for each column of Y.")
    with np.errstate(invalid="ignore"):
        precision, recall = both / (both + extra), both / (both + missed)
    columns = zip(names, both + missed, both + extra, precision, recall, to_numpy(f1_of(counts, absent)), strict=True)
    keys = ("label", "positives", "predicted", "precision", "recall", "f1")
    return LabelReport(tuple(dict(zip(keys, (name, *map(float, values)), strict=True)) for name, *values in columns))
