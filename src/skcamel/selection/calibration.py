"""Leave-one-out scores ► probabilities: a logistic link per label, p = sigmoid(a_j · score) with a_j > 0.

The slope is fitted on leave-one-out scores with Platt's smoothed targets. The cuts have no say: a cut that maximises F1 lies where
the label is improbable, and a link that called that place ½ would not be calibrated.
"""

from __future__ import annotations

import numpy as np

from skcamel.arrays import Array, cast, namespace

STEEPEST = 30.0  # largest |a · score| on the training rows: sigmoid(±30) is still well inside (0, 1)
FLATTEST = 1e-3  # of the steepest; a label whose scores say nothing still keeps its order
NEWTON_STEPS = 30


def slopes(relevant: Array, scores: Array, weights: Array | None = None) -> Array:
    """Slope a_j of every label, (q,) or (c, q): the minimum of the cross-entropy with Platt's targets.

    Parameters
    ----------
    relevant : bool array of shape (n, q)
    scores : float array of shape (n, q), or (c, n, q) for c models at once
        Leave-one-out scores.
    weights : array of shape (n,), default=None

    Notes
    -----
    The derivative rises with a, so Newton's step is kept inside a bracket that shrinks to its zero.
    """
    xp = namespace(scores)
    w = 1.0 if weights is None else weights[:, None]
    positives, negatives = (xp.sum(w * cast(x, "float64"), axis=0) for x in (relevant, ~relevant))
    targets = xp.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    high = STEEPEST / xp.clip(xp.amax(xp.abs(scores), axis=-2), 1e-100, None)
    low = FLATTEST * high
    a = xp.sqrt(low * high)
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + xp.exp(-a[..., None, :] * scores))
        slope, curvature = xp.sum(w * (p - targets) * scores, axis=-2), xp.sum(w * p * (1 - p) * scores * scores, axis=-2)
        low, high = xp.where(slope < 0, a, low), xp.where(slope >= 0, a, high)
        step = a - slope / xp.where(curvature > 0, curvature, 1.0)
        following = xp.where((step >= low) & (step <= high), step, xp.sqrt(low * high))
        settled = bool((xp.abs(following - a) <= 1e-12 * a).all())
        a = following
        if settled:
            break
    return a


def probabilities(scores: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Probability of every label, (n, q), strictly inside (0, 1) and above ½ exactly where score > 0."""
    kind = scores.dtype.type
    half, above_half, below_one = kind(0.5), np.nextafter(kind(0.5), kind(1)), np.nextafter(kind(1), kind(0))
    with np.errstate(over="ignore"):
        p = (1 / (1 + np.exp(-slopes * scores.astype(np.float64)))).astype(kind)
    inside = np.clip(p, np.finfo(kind).tiny, below_one)
    return np.where(scores > 0, np.maximum(inside, above_half), np.minimum(inside, half))
