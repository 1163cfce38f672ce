"""What the metrics agree on before they count: labels in {0, 1}, shapes, and names.

Published figures differ by conventions as much as by methods. Three are arguments of the metrics:

ties    "worst": a tied label gets the worst rank of its group, and ties between relevant and
irrelevant labels are
        errors (Zhang & Zhou, scikit-learn). "index": ranks are unique, the higher label index first
        (MULAN).
rows    rows with no or with all labels relevant, which have no ranking. "skip": left out.
"mulan": one-error 1,
        coverage 0, ranking loss 0, not counted in average precision. "sklearn": as scikit-learn's
        functions give them, coverage -1/q among it, average precision 1.
absent  F1 of a label with no positive and none predicted, 0/0: 1 (MULAN, and evidently the paper)
or 0.

NaN in the truth marks an unknown label. A row is ranked as if it had its known labels alone: its
coverage is a share of these, and "no" and "all" labels above mean no and all known ones. Decisions
are compared where the truth is known. Rows without a known label enter no ranking metric under any
convention, and labels without a known entry do not enter macro-F1.
"""

from __future__ import annotations

import numpy as np

from skcamel.arrays import Array, MaybeArray, as_floats, namespace
from skcamel.checks import as_array, as_truth

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
    predicted, _ = as_truth(P, "P", may_be_unknown=False)
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
