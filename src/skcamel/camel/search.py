"""Grid ► a table of candidates, scored by leave-one-out or folds, and the best ones solved.

No decomposition is stored: the best candidate of a representation is solved before the next one is
decomposed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from scipy.stats import rankdata

from skcamel.arrays import (
    Array,
    MaybeArray,
    Params,
    divisor,
    is_tensor,
    namespace,
    to_match,
    to_numpy,
)
from skcamel.camel.representation import (
    Data,
    Grid,
    Model,
    Problem,
    label_bases,
    represent,
)
from skcamel.camel.spectral import Bases
from skcamel.camel.thresholds import METRICS, is_tuned, thresholds
from skcamel.metrics.seven import (
    LOSSES,
    NAMES,
    RANKING,
    count,
    decision_metrics,
    ranking_metrics,
)

DIGITS = 12  # of metrics: candidates that agree so far are equal, and the first of them is the best
LARGEST_ALPHA = 0.5  # of a candidate that is combined
STACK_BYTES = 2**28  # scores that a GPU judges at a time
ROUNDING = 1e-20  # of squares
SAME = 1e-10  # members that are equal share their weight
Scores = dict[str, float]


class Found(NamedTuple):
    """What a pass found out."""

    params: list[Params]  # of every candidate
    metrics: list[Scores]
    models: list[Model]  # one, or one for each representation that may be combined


def larger_is_better(name: str, value: float) -> float:
    """A metric as a score, rounded, for the order of rows decides the last digits; -inf for NaN."""
    if math.isnan(value):
        return -math.inf
    return round(-value if name in LOSSES else value, DIGITS)


def usable(criterion: str, Y: Array, weights: MaybeArray = None) -> str:
    """The criterion, or Hamming loss in place of a ranking metric that no row defines.

    Such rows have all labels or none.

    >>> usable("coverage", np.array([[1.0], [-1.0]])), usable("coverage", np.array([[1.0, -1.0]]))
    ('hamming_loss', 'coverage')
    """
    is_mixed = (Y > 0).any(axis=1) & (Y < 0).any(axis=1)
    if weights is not None:
        is_mixed &= weights > 0
    if criterion in RANKING and not is_mixed.any():
        return "hamming_loss"
    return criterion


def search(
    problems: Iterable[Problem],
    grid: Grid,
    S: Array,
    criterion: str | None = None,
    *,
    device: Any = None,
    threshold: Any = "zero",
    combine: bool = False,
    progress: Callable[[list[Scores]], None] | None = None,
) -> Found:
    """Score every candidate; among equal ones the first in the order of the grid is the best.

    Parameters
    ----------
    problems : iterable of Problem
        From :func:`skcamel.camel.representation.represent`.
    grid : Grid
    S : array of shape (q, q)
        Label correlation.
    criterion : str, default=None
        One of the seven metrics; None: the squared error of the scores.
    device : str, default=None
        Where problems live.
    threshold : see :func:`skcamel.camel.thresholds.thresholds`
        Tuned for every candidate if the criterion is a metric of decisions; else decisions in the
        table are those at 0.
    combine : bool, default=False
        Whether to solve, for each representation, the candidate of least squared error and α ≤ ½ in
        place of the best one.
    progress : callable, default=None
        Is called with the metrics so far after each representation.

    Examples
    --------
    >>> from skcamel.camel.representation import represent
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    >>> data = Data(X, np.where(X[:, :2] + 0.5 * noise > 0, 1.0, -1.0), np.ones(40))
    >>> grid = Grid((0.0, 0.5), (1.0,), (0.1, 1.0))
    >>> found = search(represent(data, grid, None), grid, np.zeros((2, 2)), "one_error")
    >>> len(found.params), found.models[0].params["alpha"]
    (4, 0.0)
    """
    found = Found([], [], [])
    if criterion not in METRICS and is_tuned(threshold):
        threshold = "zero"
    bases = label_bases(S, grid.alphas, device)
    best = -math.inf
    for problem in problems:
        allowed = [True] * len(problem.params)
        if combine:
            allowed = _combinable(problem)
            criterion = None
        metrics, leader = _judged(problem, bases, criterion, threshold, allowed)
        if leader is not None and (combine or not found.models or leader.value > best):
            if not combine:
                found.models.clear()
            found.models.append(problem.solve(bases, leader.index, leader.scores))
            best = leader.value
        found.params.extend(problem.params)
        found.metrics.extend(metrics)
        if progress is not None:
            progress(found.metrics)
        del problem, leader  # before the next kernel matrix is made
    return found


def _combinable(problem: Problem) -> list[bool]:
    """Which candidates of a representation may be combined.

    None may if columns of sparse rows are standardised and others are not.

    With few rows, leave-one-out is slightly optimistic for two reasons. A row that is left out has
    helped to learn S, so a label of few rows is known through S, the more so the larger α is. It
    has also helped to scale the columns, so a word of two rows weighs half of what it weighs for a
    new row.
    """
    is_standard = problem.representation.scaling.name == "standard"
    others = any(scaling != "standard" for scaling, _, _ in problem.grid.places)
    most = max(LARGEST_ALPHA, min(problem.grid.alphas))
    if is_standard and others and sparse.issparse(problem.data.X):
        most = -1.0
    return [params["alpha"] <= most for params in problem.params]


class _Leader(NamedTuple):
    """The best candidate of a representation."""

    index: int
    value: float  # larger is better
    scores: Array  # (n, q)


def _judged(
    problem: Problem,
    bases: Bases,
    criterion: str | None,
    threshold: Any,
    allowed: Sequence[bool],
) -> tuple[list[Scores], _Leader | None]:
    """Metrics of the candidates by leave-one-out, and the best of those that are `allowed`."""
    like = problem.spectrum.values
    xp = namespace(like)
    Y = to_match(problem.data.Y, like)
    relevant, weights = problem.data.truth(like)
    metrics: list[Scores] = []
    leader: _Leader | None = None
    waiting = problem.leave_one_out(bases)
    for first in waiting:
        stack = first[None]
        if is_tensor(first):  # many at a time: a GPU is slow to start
            size = STACK_BYTES // (8 * math.prod(first.shape))
            stack = xp.stack([first, *islice(waiting, size)])
        tuned = stack[: None if is_tuned(threshold) else 1]
        at = xp.stack([thresholds(threshold, relevant, scores, weights)[None] for scores in tuned])
        results = candidate_metrics(relevant, stack, at, weights)
        for scores, result in zip(stack, results, strict=True):
            if criterion is None:
                errors = xp.where(weights > 0, weights * (scores - Y) ** 2, 0.0)
                value = -float(xp.sum(errors))
            else:
                value = larger_is_better(criterion, result[criterion])
            if allowed[len(metrics)] and (leader is None or value > leader.value):
                leader = _Leader(len(metrics), value, scores + 0.0)
            metrics.append(result)
    return metrics, leader


def score_fold(
    train: Data, test: Data, grid: Grid, S: Array, threshold: Any, device: Any
) -> Iterator[list[Scores]]:
    """Metrics of all candidates on the test part, as refits would give them, by representation.

    A tuned threshold comes from the leave-one-out scores of the training part.
    """
    bases = label_bases(S, grid.alphas, device)
    for problem in represent(train, grid, device):
        like = problem.spectrum.values
        known, weights = problem.data.truth(like)
        relevant, counts = test.truth(like)
        left_out: Iterator[Array] = repeat(0.0 * known)
        if is_tuned(threshold):
            left_out = problem.leave_one_out(bases)
        results: list[Scores] = []
        held_out = problem.held_out(bases, test.X, device)
        for scores, of_training in zip(held_out, left_out, strict=False):
            at = thresholds(threshold, known, of_training, weights)
            results += candidate_metrics(relevant, scores[None], at, counts)
        yield results
        del problem, left_out, held_out  # before the next kernel matrix is made


def candidate_metrics(
    relevant: Array, scores: Array, at: Array, weights: MaybeArray
) -> list[Scores]:
    """The seven metrics of c candidates with scores (c, n, q) and relevance bool (n, q).

    Thresholds are (q,) or (c, 1, q).

    Weights are (n,) or None, or those of entries (n, q), 0 where labels are unknown; then all
    metrics are those of known entries.
    """
    xp = namespace(scores)
    known = None
    if weights is not None and weights.ndim == 2:
        known = weights > 0
        weights = xp.amax(weights, axis=1)
        relevant = relevant & known
        if bool(known.all()):
            known = None
    values = ranking_metrics(relevant, scores, weights=weights, known=known)
    values |= decision_metrics(count(relevant, scores > at, weights, known))
    # one transfer from a device
    columns = to_numpy(xp.stack([values[name] for name in NAMES])).T.tolist()
    return [dict(zip(NAMES, column, strict=True)) for column in columns]


class Results(NamedTuple):
    """What a search reports."""

    table: Params  # as `cv_results_`
    best_index: int
    best_score: float


def tabulate(
    candidates: Sequence[Mapping[str, Any]],
    folds: Sequence[Sequence[Scores]],
    criterion: str,
    *,
    split_scores: bool = True,
) -> Results:
    """Table of all candidates from their parameters, and the seven metrics of each in each fold.

    The first of equal ones is the best.

    `split_scores` adds the score of every fold to the table; leave-one-out has none.

    >>> fold = [dict.fromkeys(NAMES, 0.5), dict.fromkeys(NAMES, 0.7)]
    >>> found = tabulate([{"alpha": 1.0}, {"alpha": 2.0}], [fold, fold], "micro_f1")
    >>> found.best_index, found.table["rank_test_score"].tolist()
    (1, [2, 1])
    >>> found.table["mean_test_one_error"].tolist()
    [-0.5, -0.7]
    """
    table: Params = {"params": [dict(candidate) for candidate in candidates]}
    for key in candidates[0]:
        values = [candidate[key] for candidate in candidates]
        are_numbers = all(isinstance(value, int | float) for value in values)
        table[f"param_{key}"] = np.array(values, dtype=float if are_numbers else object)
    # scores of the folds that define each metric
    scores = {
        name: np.ma.masked_invalid(
            [[larger_is_better(name, result[name]) for result in fold] for fold in folds]
        )
        for name in NAMES
    }
    by_fold = scores[criterion]
    mean = by_fold.mean(axis=0)
    ranks = rankdata(-mean.filled(-np.inf), method="min").astype(np.int32)
    table["mean_test_score"] = mean.filled(np.nan)
    table["rank_test_score"] = ranks
    if split_scores:
        for k, fold in enumerate(by_fold):
            table[f"split{k}_test_score"] = fold.filled(np.nan)
        table["std_test_score"] = by_fold.std(axis=0).filled(np.nan)
    for name in NAMES:
        table[f"mean_test_{name}"] = scores[name].mean(axis=0).filled(np.nan)
    best = int(ranks.argmin())
    return Results(table, best, float(table["mean_test_score"][best]))


class Combination(NamedTuple):
    """Weights (R,) of members, what is added to the sum (q,), and its leave-one-out scores."""

    weights: Array
    constant: Array
    scores: Array


def weights_of(gram: Array, target: Array, energy: float = 0.0) -> Array:
    """Weights w ≥ 0 that minimise wᵀ gram w - 2 wᵀ target, (R,).

    They are equal if `gram` is rounding beside the squared labels, `energy`.

    >>> weights_of(np.eye(2), np.array([0.5, -1.0]))
    array([0.5, 0. ])
    """
    scale = float(np.trace(gram)) / len(gram)
    if scale <= ROUNDING * energy:
        return np.full(len(gram), 1 / len(gram))
    root = np.linalg.cholesky(gram + SAME * scale * np.eye(len(gram)))
    return nnls(root.T, solve_triangular(root, target, lower=True))[0]


def combine(data: Data, members: Sequence[Array]) -> Combination:
    """Combine members by leave-one-out scores, (n, q) each; the best one if all weights are 0."""
    like = members[0]
    xp = namespace(like)
    relevant, w = data.truth(like)
    Y = xp.where(w > 0, xp.where(relevant, 1.0, -1.0), 0.0)
    total = xp.sum(w * Y, axis=0)
    size = xp.sum(w, axis=0)
    left_weight, left_sum = leaving(xp.stack([xp.ones_like(Y), Y]), w, data.groups)
    left = size - left_weight
    means = (total - left_sum) / xp.where(left > 0, left, xp.inf)  # (n, q) of the other rows
    share = xp.sqrt(w)
    rows = xp.stack([xp.reshape(share * (F - means), (-1,)) for F in members])  # (R, n q)
    labels = xp.reshape(share * (Y - means), (-1,))
    gram = to_numpy(rows @ rows.T)
    target = to_numpy(rows @ labels)
    weights = weights_of(gram, target, float(labels @ labels))
    if not weights.any():
        weights[int(np.argmin(np.diag(gram) - 2 * target))] = 1.0
    scores = means
    for weight, F in zip(weights.tolist(), members, strict=True):
        if weight:
            scores = scores + weight * (F - means)
    constant = to_numpy(total / divisor(size)) * (1 - weights.sum())
    return Combination(weights, constant, scores)


def leaving(values: Array, w: Array, groups: MaybeArray) -> Array:
    """What leaves with each row, of values (…, n, q) for each unit of its weights w (n, q).

    That is at most one unit, or all of its group.

    >>> leaving(np.ones((3, 1)), np.array([[3.0], [1.0], [2.0]]), np.array([1, 0, 1])).tolist()
    [[5.0], [1.0], [5.0]]
    """
    if groups is None:
        return namespace(w).clip(w, None, 1.0) * values
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(groups.max() + 1))
    sums = np.add.reduceat(to_numpy(w * values)[..., order, :], starts, axis=-2)
    return to_match(sums[..., groups, :], w)
