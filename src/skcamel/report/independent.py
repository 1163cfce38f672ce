"""What the same model would say with α = 0: the question that shows what collaboration did."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel.classifier import CamelClassifier
from skcamel.report.facts import ModelFacts, chosen

MOST_ROWS = 5000  # training rows; a refit beyond that takes minutes
RECOVERED = 1e-3  # labels are -1 or +1; what is further off was not recovered


class Independent(NamedTuple):
    """Scores without collaboration."""

    scores: np.ndarray  # (m, q)
    cuts: np.ndarray  # (q,)
    is_refit: bool
    sentence: str  # what these scores are


def without_collaboration(facts: ModelFacts, X: Any, own: np.ndarray) -> Independent:
    """Scores of the rows X without collaboration; `own` is f(x) - f̄ as it counts for a label itself, (m, q).

    The model is fitted again with α = 0 on its training rows and the labels recovered from its solution. Where that is
    impossible, the label's own part alone stands in, and the sentence says so.
    """
    model = facts.model
    if facts.alpha == 0:
        scores = model.base_scores_ + own
        return Independent(
            scores, model.thresholds_, True, "This model has α = 0: its labels do not collaborate, and nothing would change."
        )
    Y = None if facts.is_combined else training_labels(model)
    reason = "several models are combined" if facts.is_combined else _reason_against(model, Y)
    if Y is None or reason:
        scores = model.base_scores_ + (1 - facts.alpha) * own
        return Independent(
            scores,
            model.thresholds_,
            False,
            f"The scores without collaboration are the average plus the label's own part alone, not those of a model fitted with α = 0: "
            f"{reason}.",
        )
    alone = CamelClassifier(
        alpha=0.0,
        lambda1=chosen(model, "lambda1"),
        lambda2=chosen(model, "lambda2"),
        kernel=chosen(model, "kernel"),
        bandwidth=model.bandwidth_,
        threshold=model.threshold,
        threshold_metric=model.threshold_metric,
        sparsity=model.sparsity,
        max_iter=1,
        device=model.device,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # about S, which α = 0 does not use
        alone.fit(model.X_fit_, Y)
    return Independent(
        alone.outputs(model.scaled_rows(X)).scores,
        alone.thresholds_,
        True,
        "The scores with α = 0 are those of the same model fitted again with α = 0 on its training rows, everything else equal: "
        "kernel, bandwidth, λ1, λ2 and the rule for the cuts.",
    )


def training_labels(model: Any) -> np.ndarray | None:
    """Labels of the training rows in {-1, +1}, (n, q), from the solution; None where it does not hold them.

    Notes
    -----
    At the solution λ1 (ZG - Y) Gᵀ = -A, hence Y = ZG + A G⁻ᵀ / λ1. A singular G has lost the part of Y in its null
    space; row weights would divide A, and are not kept.
    """
    G, d = model.collaboration_, np.linalg.svd(model.collaboration_, compute_uv=False)
    if d[-1] <= len(G) * np.finfo(np.float64).eps * d[0]:
        return None
    Y = model.Z_ @ G + np.linalg.solve(G, model.A_.T).T / chosen(model, "lambda1")
    return np.where(Y > 0, 1.0, -1.0) if abs(abs(Y) - 1).max() < RECOVERED else None


def _reason_against(model: Any, Y: np.ndarray | None) -> str:
    """Why the model cannot be fitted again; empty where it can."""
    if model.X_fit_ is None:
        return "a model of a precomputed kernel does not hold its training rows"
    if len(model.dual_coef_) > MOST_ROWS:
        return f"a refit on {len(model.dual_coef_):,} training rows would take too long for a page"
    if Y is None:
        return (
            "the labels of its training rows cannot be recovered from the solution (row weights, a singular G, or an alternation that "
            "stopped early)"
        )
    return ""
