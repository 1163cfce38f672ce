"""Leave-one-out scores ► log-odds, probabilities and prediction sets, by a link for each label.

Scores of all labels together give one slope a and one offset b by Platt's method. Then each label
minimises its own cross-entropy plus κa/2 (a_j / a - 1)² + κb/2 (b_j - b)², so that a rare label has
nearly the common link. ``z = a_j score + b_j`` are log-odds: labels can be ranked by them, and
their sigmoid is a probability. Fewer than 50 rows give no offsets.

Prediction sets make two promises over all labels together: of the labels with a yes about
`confidence` are present, and of the labels that are present at most about 1 - `confidence` are
answered no.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from skcamel.arrays import Array, MaybeArray, Params, overflow_allowed, to_numpy
from skcamel.camel import representation, search, thresholds
from skcamel.checks import Labels, as_number
from skcamel.text import listed

# κa and κb; figures hardly change between 1/2 and 8, and between 1/100 and 1/4
SLOPE_PRIOR = 2.0
OFFSET_PRIOR = 1 / 16
FEWEST_ROWS = 50  # with which links have offsets; fewer leave a probability of ½ at the score 0
FLATTEST = 0.05  # least slope, for scores of mean square 1: useless scores still have an order
NEWTON_STEPS = 100
SETTLED = 1e-9
LEVELS = 1000  # confidences that thresholds of prediction sets are stored for
NEVER = 2.0  # a threshold that no probability reaches
SAME = 1e-9  # probabilities as close as that, such as those of copies, are equal
SAFETY = 1.28  # standard errors: a promise holds with a probability of 90 %


class Link(NamedTuple):
    """Slopes and offsets, (q,) each."""

    slope: Array
    offset: Array

    @overflow_allowed
    def log_odds(self, scores: Array | float) -> Array:
        """Log-odds of scores (m, q)."""
        return self.slope * scores + self.offset


def fit_link(
    relevant: Array,
    scores: Array,
    weights: MaybeArray = None,
    *,
    offsets: bool = True,
    groups: MaybeArray = None,
) -> tuple[Link, Array]:
    """The link of every label from leave-one-out scores, and log-odds without the own row.

    Parameters
    ----------
    relevant : bool array of shape (n, q)
    scores : array of shape (n, q)
    weights : array of shape (n,) or (n, q), default=None
        Weights of rows, or of entries, 0 where labels are unknown.
    offsets : bool, default=True
        False: all offsets are 0, so that a probability is above ½ where the score is above 0.
    groups : array of shape (n,), default=None
        Whole numbers; rows of one group leave together.

    Returns
    -------
    link : Link
    log_odds : array of shape (n, q)
        Of each row by the links of the others: by one step of Newton's method from those of all.
        At most one unit of the weight of a row leaves, so that integer weights equal copies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(5000, 1))
    >>> link, _ = fit_link(rng.random((5000, 1)) < 1 / (1 + np.exp(1 - 2 * scores)), scores)
    >>> link.slope.round(1), link.offset.round(1)
    (array([2.]), array([-1.]))
    """
    w = np.ones_like(scores)
    if weights is not None:  # of rows, or of entries
        w = np.broadcast_to(weights.T, w.T.shape).T
    total = w.sum() or 1.0
    unit = float((w * scores**2).sum() / total) ** 0.5 or 1.0
    start = Link(np.array([1 / unit]), np.zeros(1))
    least = FLATTEST / unit
    # as if there were one label
    every, entries, weight = (part.reshape(-1, 1) for part in (relevant, scores, w))
    common, _ = _minimum(every, entries, weight, start, (0.0, 0.0), least, offsets=offsets)
    priors = (SLOPE_PRIOR, OFFSET_PRIOR)
    return _minimum(relevant, scores, w, common, priors, least, offsets=offsets, groups=groups)


def _minimum(
    relevant: Array,
    scores: Array,
    w: Array,
    centre: Link,
    priors: tuple[float, float],
    flattest: float,
    *,
    offsets: bool,
    groups: MaybeArray = None,
) -> tuple[Link, Array]:
    """Links of the labels by Newton's method; slopes are measured in that of the centre.

    The curvature of the logistic loss changes by at most the factor exp(r) where log-odds change by
    r, so a step of the share log(1 + r) / r of Newton's always descends.
    """
    slope_prior, offset_prior = priors
    least = flattest / centre.slope
    x = centre.slope * scores
    positives = (w * relevant).sum(axis=0)
    negatives = w.sum(axis=0) - positives
    # Platt's: less sure for few rows
    targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # of a label that nobody knows ½ at the score 0
    expected = np.where(positives + negatives > 0, centre.offset, 0.0)
    a = np.maximum(np.ones_like(positives), least)
    b = expected
    for _ in range(NEWTON_STEPS):
        p = expit(a * x + b)
        error = p - targets
        curvature = p * (1 - p)
        derivatives = (error * x, error, curvature * x * x, curvature * x, curvature)
        sums = [np.einsum("ij,ij->j", w, part) for part in derivatives]
        of_a, of_b, aa, ab, bb = sums
        of_a += slope_prior * (a - 1)
        of_b = (of_b + offset_prior * (b - expected)) * offsets
        is_free = (a > least) | (of_a < 0)
        aa += slope_prior + 1e-12
        bb += offset_prior + 1e-12
        step_a, step_b = _newton(of_a * is_free, of_b, aa, ab * is_free * offsets, bb)
        changes = np.where(w > 0, np.abs(step_a * x + step_b), 0.0)
        change = changes.max(axis=0) + SETTLED / 2
        share = np.log1p(change) / change
        a = np.maximum(a - share * step_a, least)
        b = b - share * step_b
        if change.max() <= SETTLED:
            break
    left = search.leaving(np.stack(derivatives), w, groups)
    without = (total - part for total, part in zip((0.0, 0.0, aa, ab, bb), left, strict=True))
    of_a, of_b, aa, ab, bb = without
    step_a, step_b = _newton(of_a * is_free, of_b * offsets, aa, ab * is_free * offsets, bb)
    log_odds = np.maximum(a - step_a, least) * x + b - step_b
    return Link(a * centre.slope, b), log_odds


def _newton(of_a: Array, of_b: Array, aa: Array, ab: Array, bb: Array) -> tuple[Array, Array]:
    """Steps of slopes and offsets from first and second derivatives."""
    determinant = aa * bb - ab * ab
    return (bb * of_a - ab * of_b) / determinant, (aa * of_b - ab * of_a) / determinant


def probabilities(log_odds: Array) -> Array:
    """Sigmoid (m, q) in (0, 1), above ½ exactly where log-odds are above 0, in their precision."""
    kind = log_odds.dtype.type
    half = kind(0.5)
    above_half = np.nextafter(half, kind(1))
    below_one = np.nextafter(kind(1), half)
    p = np.clip(expit(log_odds), np.finfo(kind).tiny, below_one)
    return np.where(log_odds > 0, np.maximum(p, above_half), np.minimum(p, half))


class SetThresholds(NamedTuple):
    """Thresholds on probabilities for prediction sets; entry k: a confidence of k / `LEVELS`."""

    yes: Array  # (LEVELS + 1,) ascending; a predicted label is a yes from there on
    # (LEVELS + 1,) descending; a label that is not predicted is a no below it
    no: Array
    stored = {"yes": ("k",), "no": ("k",)}

    def check_stored(self) -> None:
        """Refuse thresholds that do not move apart as the confidence rises."""
        rise = np.diff(self.yes, prepend=0.0, append=NEVER)
        fall = np.diff(self.no, prepend=NEVER, append=0.0)
        if len(self.yes) != LEVELS + 1 or rise.min() < 0 or fall.max() > 0:
            raise ValueError(
                f"must hold {LEVELS + 1} thresholds from 0 to {NEVER:g} that move apart"
            )

    def answers(self, p: Array, predicted: Array, confidence: float) -> Array:
        """1 yes, 0 no or -1 open for probabilities and decisions (m, q), int8."""
        if not 0 < as_number(confidence) <= 1:
            raise ValueError(
                "confidence must be a number above 0 and at most 1, such as 0.9, got"
                f" {confidence!r}."
            )
        level = int(np.ceil(round(LEVELS * confidence, 6)))
        found = np.full(p.shape, -1, dtype=np.int8)
        found[(predicted == 1) & (p >= self.yes[level])] = 1
        found[(predicted == 0) & (p < self.no[level])] = 0
        return found


def fit_sets(relevant: Array, p: Array, predicted: Array, w: Array) -> SetThresholds:
    """Thresholds that fulfil both promises on the training rows, `SAFETY` standard errors apart.

    Parameters
    ----------
    relevant, predicted : bool arrays of shape (n, q)
    p : array of shape (n, q)
        Probabilities by the links of the other rows.
    w : array of shape (n, q)
        Weights of entries.

    Examples
    --------
    >>> p = np.linspace(0.01, 0.99, 99)[:, None]
    >>> found = fit_sets(p > 0.4, p, p > 0.5, np.ones((99, 1)))
    >>> answers = found.answers(np.array([[0.9, 0.1, 0.45]]), np.array([[1, 0, 0]]), 0.9)
    >>> bool(found.yes[900] > 0.5), answers.tolist()
    (True, [[1, 0, -1]])
    """
    confidences = np.arange(LEVELS + 1) / LEVELS
    yes = predicted & (w > 0)
    order = np.argsort(-p[yes], kind="stable")
    found = p[yes][order]
    count = np.cumsum(w[yes][order])
    share = np.cumsum((w * relevant)[yes][order]) / (count + 1)
    lower = share - SAFETY * np.sqrt(share * (1 - share) / np.maximum(count, 1e-300))
    is_tied = found[:-1] - found[1:] < SAME  # no threshold lies between equal probabilities
    lower[:-1][is_tied] = -np.inf
    reached = np.maximum.accumulate(lower[::-1])[::-1]
    # how many of the highest fulfil the promise
    last = np.searchsorted(-reached, -confidences, side="right")
    yes_at = np.append(NEVER, found)[last]
    missed = relevant & ~predicted & (w > 0)
    order = np.argsort(p[missed], kind="stable")
    found = p[missed][order]
    present = float((w * relevant).sum()) or 1.0
    share = np.cumsum(w[missed][order]) / present
    upper = share + SAFETY * np.sqrt(np.clip(share * (1 - share), 0, None) / present)
    # the lowest that breaks it
    first = np.searchsorted(np.maximum.accumulate(upper), 1 - confidences + 1e-12, side="right")
    no_at = np.append(found, NEVER)[first]
    no_at[-1] = 0.0  # nothing is certain
    return SetThresholds(yes_at, no_at)


def set_rates(Y: Array, answers: Array) -> dict[str, Array]:
    """How good prediction sets are, label by label, (q,) each; NaN where nothing defines a rate.

    Parameters
    ----------
    Y : array of shape (m, q)
        Labels in {0, 1} or {-1, +1}; NaN where a label is unknown, which leaves the entry out.
    answers : int array of shape (m, q)
        1 yes, 0 no, -1 open.

    Returns
    -------
    dict
        ``right``: share of the yes answers that are right, ``missed``: of the present labels that
        have a no, ``open``: of the answers that are open. ``Y.reshape(-1, 1)`` and
        ``answers.reshape(-1, 1)`` give the rates of all labels together.

    Examples
    --------
    >>> rates = set_rates(np.array([[1, 0], [1, np.nan]]), np.array([[1, 1], [0, -1]]))
    >>> {key: share.tolist() for key, share in rates.items()}
    {'right': [1.0, 0.0], 'missed': [0.5, nan], 'open': [0.0, 0.0]}
    """
    known = ~np.isnan(Y)
    present = Y > 0
    yes = (answers == 1) & known
    is_open = (answers == -1) & known
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "right": (yes & present).sum(axis=0) / yes.sum(axis=0),
            "missed": ((answers == 0) & present).sum(axis=0) / present.sum(axis=0),
            "open": is_open.sum(axis=0) / known.sum(axis=0),
        }


class NeverPredictedWarning(UserWarning):
    """Labels that no training row gets when it is left out."""


def learn_decisions(
    estimator: Any, data: representation.Data, labels: Labels, scores: Array
) -> Params:
    """How predictions follow from scores, and how good they are, from leave-one-out scores (n, q).

    The result are attributes of the fitted estimator: thresholds, link, thresholds of prediction
    sets, and estimates. Exclusive classes have no link. All is computed on the CPU: there is little
    to do, in many steps, which a GPU is slow to start.
    """
    scores = to_numpy(scores)
    relevant, w = data.truth(scores)
    found: Params = {"n_judged_": len(data.Y)}
    link = None
    judged = log_odds = scores
    if labels.target != "multiclass":
        # of a 1-d y the most probable class is the predicted one
        offsets = bool(labels.target == "matrix" and data.weights.sum() >= FEWEST_ROWS)
        link, log_odds = fit_link(relevant, scores, w, offsets=offsets, groups=data.groups)
        found |= {"link_slopes_": link.slope, "link_offsets_": link.offset}
        found["scores_"] = estimator.scores
        if estimator.scores == "log_odds":
            scores = link.log_odds(scores)
            judged = log_odds
    at = thresholds.thresholds(estimator.threshold, relevant, scores, w)
    if thresholds.is_tuned(estimator.threshold):
        # labels that nobody knows have the score 0, and are not predicted
        at = np.where(np.isnan(data.Y).all(axis=0), np.maximum(at, 0.0), at)
    if estimator.miss_cost is not None:
        at = _of_costs(estimator, link, labels, at)
    predicted = judged > at
    _warn_of_labels_never_predicted(labels, data.Y, predicted)
    found["thresholds_"] = at
    (found["estimate_"],) = search.candidate_metrics(relevant, judged[None], at, w)
    if link is None:
        return found
    found["set_thresholds_"] = fit_sets(relevant, probabilities(log_odds), predicted, w)
    hits = (w * (relevant & predicted)).sum(axis=0)
    positives = (w * relevant).sum(axis=0)
    predictions = (w * predicted).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found["label_estimates_"] = {
            "rows": w.sum(axis=0),
            "positives": positives,
            "precision": hits / predictions,
            "recall": hits / positives,
            "f1": 2 * hits / (positives + predictions),
        }
    return found


def _of_costs(estimator: Any, link: Link | None, labels: Labels, at: Array) -> Array:
    """Thresholds at the probability 1 / (1 + cost) in place of those in `at`, as scores."""
    if link is None or labels.target != "matrix":
        raise ValueError(
            "miss_cost needs calibrated probabilities, which a 1-d y has not; give a matrix with"
            " one column per label."
        )
    names = labels.names.tolist()
    costs = dict.fromkeys(names, estimator.miss_cost)
    if isinstance(estimator.miss_cost, Mapping):
        costs = {str(name): cost for name, cost in estimator.miss_cost.items()}
    if unknown_names := [name for name in costs if name not in names]:
        raise ValueError(
            f"miss_cost names {listed(unknown_names)}, and the labels are {listed(names)}; use"
            " their names."
        )
    places = [names.index(name) for name in costs]
    at = at.copy()
    at[places] = -np.log(list(costs.values()))
    if estimator.scores == "paper":
        at[places] = (at[places] - link.offset[places]) / link.slope[places]
    return at


def _warn_of_labels_never_predicted(labels: Labels, Y: Array, predicted: Array) -> None:
    """One warning for labels that occur and that no row gets when it is left out."""
    never = (Y > 0).any(axis=0) & (Y < 0).any(axis=0) & ~predicted.any(axis=0)
    if labels.target != "matrix" or not never.any():
        return
    names = labels.names[never].tolist()
    warnings.warn(
        f"{len(names)} of {len(labels.names)} labels are predicted for no training row when it is"
        f" left out ({listed(names, 5)}); new rows will hardly ever get them. threshold='macro_f1'"
        " or miss_cost predicts rare labels more often.",
        NeverPredictedWarning,
        stacklevel=4,
    )
