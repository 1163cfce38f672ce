"""Leave-one-out scores ► cuts, where a score becomes a decision, and probabilities.

The paper cuts at 0. Leave-one-out scores allow a cut tuned without refitting, one for all labels or one for each. A cut
tuned on three positives follows their noise, so the cut of a label is drawn towards the common one: with p positives
it keeps p / (p + 10) of its own choice.

Probabilities are a logistic link per label, p = sigmoid(a_j · score) with a_j > 0, fitted with Platt's smoothed targets. They do not
depend on the cuts: a cut that maximises F1 lies where the label is improbable, so a link that is ½ there would not be calibrated.

Least squares fit the scores of every label by itself, so equal scores of two labels need not mean equal probabilities. A link with an
offset, a_j · score + b_j, makes them log-odds, by which labels can be ranked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array, as_floats, cast, namespace, put_along_rows, take_along_rows
from skcamel.metrics.conventions import choice

AUTO = "auto"  # the best of the other three, see chosen_rule
MODES = ("zero", "common", "label", AUTO)
METRICS = ("hamming_loss", "macro_f1", "micro_f1")
DEFAULT_METRIC = {"common": "micro_f1", "label": "macro_f1"}
PRIOR_POSITIVES = 10.0  # measured on eight sets by benchmarks/thresholds.py


@dataclass(frozen=True)
class Rule:
    """How cuts are found: "zero", "common", "label" or a number, and the metric that tuned cuts maximise.

    >>> import numpy as np
    >>> relevant = np.array([[True], [True], [False], [False]])
    >>> Rule("common").cuts(relevant, np.array([[0.2], [-0.3], [-0.5], [-0.9]]))
    array([-0.4])
    """

    mode: str | float
    metric: str | None = None

    @property
    def is_tuned(self) -> bool:
        """Whether the cuts follow from leave-one-out scores; those of "auto" are 0 until it is known what it stands for."""
        return self.mode in DEFAULT_METRIC

    def cuts(self, relevant: Array, scores: Array, weights: Array | None = None) -> Array:
        """Cut of every label, (q,), from relevance bool (n, q) and leave-one-out scores (n, q) of the training rows.

        Weights are those of rows (n,), or of entries (n, q), 0 where labels are unknown.
        """
        return self.of(Sorted(relevant, scores, weights))

    def of(self, ranked: Sorted) -> Array:
        """The same from scores that are sorted already."""
        q = ranked.relevant.shape[1]
        if not self.is_tuned:
            return as_floats([0.0 if self.mode in ("zero", AUTO) else float(self.mode)] * q, ranked.scores)
        metric = choice(self.metric or DEFAULT_METRIC[str(self.mode)], METRICS, "threshold_metric")
        if self.mode == "common":
            return as_floats([ranked.common_cut(metric)] * q, ranked.scores)
        return ranked.label_cuts(metric)


class Sorted:
    """Relevance bool (n, q), scores (n, q) and weights, sorted once for all rules, metrics and parts of the rows.

    Weights are those of rows (n,), or of entries (n, q). Unknown entries, of weight 0, get a score at which no cut comes to lie.
    """

    def __init__(self, relevant: Array, scores: Array, weights: Array | None = None) -> None:
        self.relevant, self.weights = relevant, weights
        self.scores = scores if weights is None or weights.ndim == 1 else _at_lowest(scores, weights > 0)

    @cached_property
    def order(self) -> Array:
        """Rows by decreasing score of each label, (q, n)."""
        return namespace(self.scores).argsort(-self.scores.T, axis=1)

    @cached_property
    def merged_order(self) -> Array:
        """Entries by decreasing score, as positions in the flattened matrix, (n q,)."""
        xp = namespace(self.scores)
        return xp.argsort(-xp.reshape(self.scores, (-1,)))

    def rows(self, kept: Array) -> Sorted:
        """Some of the rows, by a mask (n,); nothing is sorted again."""
        xp = namespace(self.scores)
        q = self.relevant.shape[1]
        part = Sorted(self.relevant[kept], self.scores[kept], None if self.weights is None else self.weights[kept])
        place = xp.cumsum(cast(kept, "int64"), axis=0) - 1  # of each kept row in the part
        part.order = xp.reshape(place[self.order[kept[self.order]]], (q, -1))
        row = self.merged_order // q
        inside = kept[row]
        part.merged_order = place[row[inside]] * q + self.merged_order[inside] % q
        return part

    def common_cut(self, metric: str) -> float:
        """The one cut for all labels that maximises `metric` on these scores."""
        merged = self._merged
        if metric != "macro_f1":
            return float(_best(merged, _f1(merged) if metric == "micro_f1" else _agreement(merged))[0])
        xp = namespace(self.scores)
        value = _f1(self._curve)
        # Lowering the common cut passes one score at a time and changes the F1 of its label alone.
        steps = put_along_rows(xp.zeros_like(self.scores.T), self.order, (value[1:] - value[:-1]).T).T  # (n, q)
        passed = xp.reshape(steps, (-1,))[self.merged_order][:, None]
        total = xp.concatenate([xp.zeros_like(passed[:1]), xp.cumsum(passed, axis=0)])
        return float(_best(merged, total)[0])

    def label_cuts(self, metric: str) -> Array:
        """One cut for each label, drawn towards the common cut where positives are few, (q,)."""
        curve = self._curve
        if metric == "micro_f1":
            own = _micro_f1_cuts(curve)
        else:  # these are sums over labels: each label is best by itself
            own = _best(curve, _f1(curve) if metric == "macro_f1" else _agreement(curve))
        share = curve.positives / (curve.positives + PRIOR_POSITIVES)
        return share * own + (1 - share) * self.common_cut("micro_f1" if metric == "macro_f1" else metric)

    @cached_property
    def _curve(self) -> _Curve:
        """Of each label."""
        return _curve(self.relevant, self.scores, self.weights, self.order)

    @cached_property
    def _merged(self) -> _Curve:
        """Of all entries, as if they were one label."""
        xp = namespace(self.scores)
        by_entry = self.weights if self.weights is None or self.weights.ndim == 2 else self.weights[:, None] + 0 * self.scores
        weights = None if by_entry is None else xp.reshape(by_entry, (-1,))
        return _curve(xp.reshape(self.relevant, (-1, 1)), xp.reshape(self.scores, (-1, 1)), weights, self.merged_order[None])


def lowered(scores: Array, known: Array) -> Array:
    """Scores (c, n, q) with unknown entries (n, q) below all others of their row, so that they take no part in its ranking."""
    xp = namespace(scores)
    lowest = xp.amin(scores, axis=-1)[..., None]
    return xp.where(known, scores, lowest - 1 - xp.abs(lowest))


def _at_lowest(scores: Array, known: Array) -> Array:
    """Scores (n, q) with unknown entries at the lowest known score of their label; of all labels where it has none."""
    xp = namespace(scores)
    lowest = xp.amin(xp.where(known, scores, xp.inf), axis=0)
    return xp.where(known, scores, xp.where(xp.isfinite(lowest), lowest, xp.amin(lowest)))


def f1_curves(relevant: Array, scores: Array) -> list[tuple[Array, Array]]:
    """F1 of each label against its cut: for every label the cuts that decide differently, highest first, and F1 at each.

    >>> import numpy as np
    >>> ((cuts, f1),) = f1_curves(np.array([[True], [False]]), np.array([[0.5], [-0.5]]))
    >>> cuts, f1.round(3)
    (array([ 1.,  0., -1.]), array([0.   , 1.   , 0.667]))
    """
    curve = Sorted(relevant, scores)._curve
    value = _f1(curve)
    return [(curve.cuts[possible, j], value[possible, j]) for j, possible in enumerate(curve.possible.T)]


class _Curve(NamedTuple):
    """What happens to each label as its cut moves down past one score after the other; row k predicts the k best."""

    cuts: Array  # (n+1, q)
    possible: Array  # (n+1, q) False between equal scores
    hits: Array  # (n+1, q) weight of the true positives
    predicted: Array  # (n+1, q) weight of the predicted rows
    positives: Array  # (q,)


def _curve(relevant: Array, scores: Array, weights: Array | None, order: Array) -> _Curve:
    """Of each label, from the order (q, n) of its scores."""
    xp = namespace(scores)
    ranked = take_along_rows(scores.T, order).T
    w = xp.ones_like(scores[:, 0]) if weights is None else weights
    by_entry = w.ndim == 2
    hits = xp.cumsum(take_along_rows((relevant * (w if by_entry else w[:, None])).T, order), axis=1).T
    predicted = xp.cumsum(take_along_rows(w.T, order) if by_entry else w[order], axis=1).T
    upper, lower = ranked[:-1], ranked[1:]
    middle = upper / 2 + lower / 2
    between = xp.where(middle < upper, middle, lower)  # the middle of neighbouring numbers may round to the upper one
    gap = (ranked[:1] - ranked[-1:]) / xp.where(
        predicted[-1:] > 0, predicted[-1:], 1.0
    )  # beyond the ends: one mean gap further, and never nothing
    gap = xp.clip(gap, 1e-6, None) + 1e-15 * xp.abs(ranked[:1])
    cuts = xp.concatenate([ranked[:1] + gap, between, ranked[-1:] - gap])
    ends = xp.ones_like(relevant[:1])
    zero = xp.zeros_like(hits[:1])
    return _Curve(
        cuts=cuts,
        possible=xp.concatenate([ends, upper > lower, ends]),
        hits=xp.concatenate([zero, hits]),
        predicted=xp.concatenate([zero, predicted]),
        positives=hits[-1],
    )


def _f1(curve: _Curve) -> Array:
    """F1 at every cut; 1 where nothing is true and nothing predicted."""
    xp = namespace(curve.hits)
    size = curve.predicted + curve.positives
    return xp.where(size > 0, 2 * curve.hits / xp.where(size > 0, size, 1.0), 1.0)


def _agreement(curve: _Curve) -> Array:
    """Minus the weight of the wrong decisions, up to a constant."""
    return 2 * curve.hits - curve.predicted


def _best(curve: _Curve, value: Array) -> Array:
    """The cut of the greatest value of each label, the highest such cut, (q,)."""
    xp = namespace(value)
    best = xp.argmax(xp.where(curve.possible, value, -xp.inf), axis=0)
    return take_along_rows(curve.cuts.T, best[:, None])[:, 0]


def _micro_f1_cuts(curve: _Curve) -> Array:
    """Cuts of all labels that together maximise micro-F1, by Dinkelbach's iteration for ratios.

    For a given ratio f the best cuts maximise 2 hits - f (predicted + positives), label by label; the ratio they reach
    is the next f. It rises until it repeats.
    """
    xp = namespace(curve.hits)
    ratio, last = 0.0, -1.0
    best = curve.positives * 0
    while ratio > last:
        last = ratio
        gain = xp.where(curve.possible, 2 * curve.hits - ratio * curve.predicted, -xp.inf)
        best = xp.argmax(gain, axis=0)[:, None]
        hits, predicted = (float(xp.sum(take_along_rows(part.T, best))) for part in (curve.hits, curve.predicted))
        size = predicted + float(xp.sum(curve.positives))
        ratio = 2 * hits / size if size > 0 else 0.0
    return take_along_rows(curve.cuts.T, best)[:, 0]


STEEPEST = 30.0  # largest |a · score| on the training rows: sigmoid(±30) is still well inside (0, 1)
FLATTEST = 1e-3  # of the steepest; a label whose scores say nothing still keeps its order
NEWTON_STEPS, HALVINGS = 30, 20
SETTLED, TINY = 1e-9, 1e-12


def slopes(relevant: Array, scores: Array, weights: Array | None = None) -> Array:
    """Slope a_j of every label, (q,) or (c, q): the minimum of the cross-entropy with Platt's targets.

    Relevance is a bool array (n, q), leave-one-out scores are (n, q), or (c, n, q) for c models at once, weights (n,), or (n, q) with
    0 where labels are unknown. The derivative rises with a, so Newton's step is kept inside a bracket that shrinks to its zero.
    """
    xp = namespace(scores)
    scores, targets, w = _smoothed(relevant, scores, weights)
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


def _smoothed(relevant: Array, scores: Array, weights: Array | None) -> tuple[Array, Array, Array]:
    """Scores, 0 where unknown, Platt's targets (n, q), which are less sure the fewer rows a label has, and weights of rows or entries."""
    xp = namespace(scores)
    w: Array = 1.0 if weights is None else weights[:, None] if weights.ndim == 1 else weights
    if weights is not None and weights.ndim == 2:
        scores = xp.where(weights > 0, scores, 0.0)
    positives, negatives = (xp.sum(w * cast(x, "float64"), axis=0) for x in (relevant, ~relevant))
    return scores, xp.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2)), w


PRIOR_OF_SLOPES = 2.0  # precision of a Gaussian: a slope is that of a link without offset, give or take 70 %


def log_odds(relevant: Array, scores: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Slopes a_j > 0 and offsets b_j, (q,) each, that make a_j · score + b_j log-odds of label j.

    The minimum of the cross-entropy with Platt's targets, where slopes have a prior around those of `slopes`. Relevance is a bool
    array (n, q), leave-one-out scores are (n, q), weights (n,), or (n, q) with 0 where labels are unknown. Newton's steps are halved
    until they descend.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> score = rng.normal(size=(5000, 1))
    >>> a, b = log_odds(rng.random((5000, 1)) < 1 / (1 + np.exp(1 - 2 * score)), score)
    >>> a.round(1), b.round(1)
    (array([2.]), array([-1.]))
    """
    xp = namespace(scores)
    x, targets, w = _smoothed(relevant, scores, weights)
    centre = xp.where(xp.amax(xp.abs(x), axis=0) > 0, slopes(relevant, scores, weights), 1.0)
    x = centre * x

    def loss(a: Array, b: Array) -> Array:
        z = a * x + b
        entropy = xp.sum(w * (xp.clip(z, 0.0, None) + xp.log1p(xp.exp(-xp.abs(z))) - targets * z), axis=0)
        return entropy + PRIOR_OF_SLOPES / 2 * (a - 1) ** 2

    a, b = xp.ones_like(centre), xp.zeros_like(centre)  # a in units of the centre
    now = loss(a, b)
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + xp.exp(-xp.clip(a * x + b, -500.0, 500.0)))
        error, curvature = w * (p - targets), w * p * (1 - p)
        of_a, of_b = xp.sum(error * x, axis=0) + PRIOR_OF_SLOPES * (a - 1), xp.sum(error, axis=0)
        aa, ab = xp.sum(curvature * x * x, axis=0) + PRIOR_OF_SLOPES, xp.sum(curvature * x, axis=0)
        bb = xp.clip(xp.sum(curvature, axis=0), TINY, None)
        ends = (a <= FLATTEST) & (of_a > 0)  # a slope stays above 0: then only the offset moves
        whole = aa * bb - ab * ab
        step_a = xp.where(ends, 0.0, (bb * of_a - ab * of_b) / whole)
        step_b = xp.where(ends, of_b / bb, (aa * of_b - ab * of_a) / whole)
        for _ in range(HALVINGS):
            tried_a, tried_b = xp.clip(a - step_a, FLATTEST, None), b - step_b
            value = loss(tried_a, tried_b)
            rises = value > now * (1 + TINY)  # both are above 0
            if not bool(rises.any()):
                break
            step_a, step_b = xp.where(rises, step_a / 2, step_a), xp.where(rises, step_b / 2, step_b)
        moved = xp.where(rises, 0.0, xp.abs(tried_a - a) + xp.abs(tried_b - b))
        a, b, now = xp.where(rises, a, tried_a), xp.where(rises, b, tried_b), xp.where(rises, now, value)
        if bool((moved <= SETTLED).all()):
            break
    return centre * a, b


def probabilities(scores: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Probability of every label, (n, q), strictly inside (0, 1) and above ½ exactly where score > 0."""
    kind = scores.dtype.type
    half, above_half, below_one = kind(0.5), np.nextafter(kind(0.5), kind(1)), np.nextafter(kind(1), kind(0))
    with np.errstate(over="ignore"):
        p = (1 / (1 + np.exp(-slopes * scores.astype(np.float64)))).astype(kind)
    inside = np.clip(p, np.finfo(kind).tiny, below_one)
    return np.where(scores > 0, np.maximum(inside, above_half), np.minimum(inside, half))
