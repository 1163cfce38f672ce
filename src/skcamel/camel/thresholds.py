"""Leave-one-out scores ► thresholds, where a score becomes a decision.

The paper's threshold is 0. Leave-one-out scores allow one tuned for a metric without refitting, for
each label. A threshold tuned on three positives follows their noise, so that of a label is drawn
towards the one that is best for all labels together: with p positives it has the share p / (p + 10)
in the mean of both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array, MaybeArray, divisor, namespace, take_along_rows, to_match
from skcamel.checks import as_number
from skcamel.metrics.seven import f1_of
from skcamel.names import hint

METRICS = ("hamming_loss", "macro_f1", "micro_f1")
OTHER_NAMES = {"common": "micro_f1", "label": "macro_f1"}  # of earlier versions
WORDS = ("zero", *METRICS, *OTHER_NAMES)
PRIOR_POSITIVES = 10.0  # measured on eight sets by benchmarks/thresholds.py


def is_tuned(threshold: Any) -> bool:
    """Whether thresholds follow from leave-one-out scores."""
    return isinstance(threshold, str) and threshold != "zero"


def thresholds(threshold: Any, relevant: Array, scores: Array, weights: MaybeArray = None) -> Array:
    """Threshold of every label, (q,).

    Parameters
    ----------
    threshold : {"zero", "micro_f1", "macro_f1", "hamming_loss"}, number or array of shape (q,)
    relevant : bool array of shape (n, q)
    scores : array of shape (n, q)
        Leave-one-out scores of the training rows.
    weights : array of shape (n,) or (n, q), default=None
        Weights of rows, or of entries, 0 where labels are unknown.

    Examples
    --------
    >>> relevant = np.array([[True], [True], [False], [False]])
    >>> thresholds("micro_f1", relevant, np.array([[0.2], [-0.3], [-0.5], [-0.9]]))
    array([-0.4])
    """
    q = scores.shape[1]
    if not is_tuned(threshold):
        value = 0.0 if isinstance(threshold, str) else threshold
        return to_match(np.full(q, value, dtype=np.float64), scores)
    metric = OTHER_NAMES.get(threshold, threshold)
    xp = namespace(scores)
    if weights is None:
        weights = xp.ones_like(scores[:, 0])
    w = weights
    if w.ndim == 1:
        w = w[:, None] * xp.ones_like(scores)
    if not bool((w > 0).all()):
        # unknown entries go to the lowest known score of their label, where no threshold lies
        lowest = xp.amin(xp.where(w > 0, scores, xp.inf), axis=0)
        lowest = xp.where(xp.isfinite(lowest), lowest, xp.amin(lowest))
        scores = xp.where(w > 0, scores, lowest)
    curve = _curve(relevant, scores, w)
    together = _curve(*(xp.reshape(part, (-1, 1)) for part in (relevant, scores, w)))
    if metric == "hamming_loss":
        value = 2 * curve.hits - curve.predicted
        total = 2 * together.hits - together.predicted
    else:
        value = f1_of(*curve[2:])
        total = f1_of(*together[2:])
    if metric == "micro_f1":
        value = _micro_gain(curve)
    share = curve.positives / (curve.positives + PRIOR_POSITIVES)
    return share * _best(curve, value) + (1 - share) * _best(together, total)


class _Curve(NamedTuple):
    """Counts of each label as its threshold moves down past each score; row k predicts k rows."""

    thresholds: Array  # (n+1, q)
    possible: Array  # (n+1, q) False between equal scores
    hits: Array  # (n+1, q) weight of the true positives
    predicted: Array  # (n+1, q) weight of the predicted rows
    positives: Array  # (q,)


def _curve(relevant: Array, scores: Array, w: Array) -> _Curve:
    """The curve of labels with weights of their entries, (n, q)."""
    xp = namespace(scores)
    order = xp.argsort(-scores.T, axis=1)  # (q, n)
    ranked = take_along_rows(scores.T, order).T
    hits = xp.cumsum(take_along_rows((relevant * w).T, order), axis=1).T
    predicted = xp.cumsum(take_along_rows(w.T, order), axis=1).T
    highest = ranked[:1]
    lowest = ranked[-1:]
    upper = ranked[:-1]
    lower = ranked[1:]
    middle = upper / 2 + lower / 2
    # the middle of neighbouring numbers may round to the upper one
    between = xp.where(middle < upper, middle, lower)
    # one mean distance of scores
    distance = (highest - lowest) / divisor(predicted[-1:])
    beyond = xp.clip(distance, 1e-6, None) + 1e-15 * xp.abs(highest)
    ends = xp.ones_like(relevant[:1])
    zero = xp.zeros_like(hits[:1])
    return _Curve(
        thresholds=xp.concatenate([highest + beyond, between, lowest - beyond]),
        possible=xp.concatenate([ends, upper > lower, ends]),
        hits=xp.concatenate([zero, hits]),
        predicted=xp.concatenate([zero, predicted]),
        positives=hits[-1],
    )


def _best(curve: _Curve, value: Array, of: str = "thresholds") -> Array:
    """The highest threshold of the greatest value of each label, or another column `of` it."""
    xp = namespace(value)
    best = xp.argmax(xp.where(curve.possible, value, -xp.inf), axis=0)
    return take_along_rows(getattr(curve, of).T, best[:, None])[:, 0]


def _micro_gain(curve: _Curve) -> Array:
    """What is greatest, label by label, at the thresholds of the greatest micro-F1 of all labels.

    That is 2 hits - F1 predicted: for a fixed F1 the best thresholds have the greatest gain, and
    the F1 that they reach is the next one. It rises until it repeats.
    """
    f1 = 0.0
    last = -1.0
    gain = 2 * curve.hits
    while f1 > last:
        last = f1
        gain = 2 * curve.hits - f1 * curve.predicted
        hits, predicted = (float(_best(curve, gain, of).sum()) for of in ("hits", "predicted"))
        f1 = 2 * hits / (predicted + float(curve.positives.sum()) or 1.0)
    return gain


def check_threshold(threshold: Any, words: tuple[str, ...] = WORDS) -> None:
    """Refuse a threshold that is not one of `words`, a finite number, or a vector of such."""
    if isinstance(threshold, str):
        known = threshold in words
    elif np.ndim(threshold) == 1 and len(threshold):
        known = all(np.isfinite(as_number(value)) for value in np.asarray(threshold).tolist())
    else:
        known = bool(np.isfinite(as_number(threshold)))
    if not known:
        shown = [word for word in words if word not in OTHER_NAMES]
        unknown = (
            f"threshold={threshold!r} is not known; choose {', '.join(map(repr, shown))}, a number,"
            " or one for each label."
        )
        raise ValueError(hint(f"threshold={threshold!r}") or unknown)
