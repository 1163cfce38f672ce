"""All metrics at once, label by label, and how often an edge case was met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skcamel.arrays import Array, to_numpy
from skcamel.metrics.conventions import NAMES, ROWS, TIES, as_relevance, as_scores, as_weights, check_shapes, choice
from skcamel.metrics.decision import count, decision_metrics, f1_of
from skcamel.metrics.ranking import ranking_metrics
from skcamel.text import one_line


def evaluate(
    Y: Array,
    scores: Array,
    P: Array,
    *,
    ties: str = "worst",
    rows: str = "skip",
    absent: float = 1.0,
    sample_weight: Array | None = None,
) -> dict[str, float]:
    """The seven metrics of the paper.

    Parameters
    ----------
    Y : array of shape (n, q)
        Truth in {0, 1} or {-1, +1}.
    scores : array of shape (n, q)
        Read by the four ranking metrics.
    P : array of shape (n, q)
        Decisions, read by the other three.
    ties, rows, absent
        Conventions, see :mod:`skcamel.metrics.conventions`.
    sample_weight : array of shape (n,), default=None

    Returns
    -------
    dict
        The seven names with their values.

    Examples
    --------
    >>> Y, F = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.9, 0.2, 0.6], [0.7, 0.6, 0.1]])
    >>> for name, value in evaluate(Y, F, F >= 0.5).items():
    ...     print(f"{name:18}{value:.3f}")
    one_error         0.500
    hamming_loss      0.167
    coverage          0.333
    ranking_loss      0.250
    average_precision 0.750
    macro_f1          0.889
    micro_f1          0.857
    """
    relevant, predicted = as_relevance(Y), as_relevance(P, "P")
    check_shapes(relevant, predicted, "P")
    scores = as_scores(scores, relevant)
    choice(ties, TIES, "ties"), choice(rows, ROWS, "rows")
    weights = as_weights(sample_weight, relevant)
    values = ranking_metrics(relevant, scores, ties=ties, rows=rows, weights=weights)
    values |= decision_metrics(count(relevant, predicted, weights), absent)
    return {name: float(values[name]) for name in NAMES}


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
    relevant, predicted = to_numpy(as_relevance(Y)), to_numpy(as_relevance(P, "P"))
    check_shapes(relevant, predicted, "P")
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
    Y: Array, P: Array, *, label_names: Sequence[str] | None = None, absent: float = 1.0, sample_weight: Array | None = None
) -> LabelReport:
    """Counts, precision, recall and F1 of every label.

    Parameters
    ----------
    Y, P : array of shape (n, q)
        Truth and decisions.
    label_names : sequence of str, default=None
        Names for the rows of the report; "label0", "label1" … if not given.
    absent : float, default=1.0
        F1 of a label that neither occurs nor is predicted; precision or recall of 0/0 is NaN.

    Examples
    --------
    >>> print(report([[1, 0], [1, 1]], [[1, 1], [0, 1]], label_names=["sea", "sun"]))
    label  positives  predicted  precision  recall     F1
    sea            2          1      1.000   0.500  0.667
    sun            1          2      0.500   1.000  0.667
    """
    relevant, predicted = as_relevance(Y), as_relevance(P, "P")
    check_shapes(relevant, predicted, "P")
    counts = count(relevant, predicted, as_weights(sample_weight, relevant))
    both, extra, missed = (to_numpy(part) for part in counts[:3])
    names = [f"label{j}" for j in range(len(both))] if label_names is None else [str(name) for name in label_names]
    if len(names) != len(both):
        raise ValueError(f"Got {len(names)} label_names for {len(both)} labels; give one name for each column of Y.")
    with np.errstate(invalid="ignore"):
        precision, recall = both / (both + extra), both / (both + missed)
    columns = zip(names, both + missed, both + extra, precision, recall, to_numpy(f1_of(counts, absent)), strict=True)
    keys = ("label", "positives", "predicted", "precision", "recall", "f1")
    return LabelReport(tuple(dict(zip(keys, (name, *map(float, values)), strict=True)) for name, *values in columns))
