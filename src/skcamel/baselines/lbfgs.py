"""Limited-memory quasi-Newton (L-BFGS) for many logistic problems over the same rows.

A step is two matrix products for all problems together. Start, line search and stop are those of
scikit-learn's ``LogisticRegression``. They matter where classes can be separated: then the weights
would grow for ever, and where the sequence stops decides how well it predicts new rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray, where

MEMORY = 10  # pairs of step and change of the gradient that model the curvature
IDLE = 64 * np.finfo(np.float64).eps  # a step that lowers the objective by no more is the last one
BLOCK = 2**15  # margins whose losses are computed together, so that they stay in the cache
# Of the line search
TRIALS = 50
DECREASE, CURVATURE = 1e-3, 0.9  # of the Wolfe conditions
NARROW = 0.1  # an interval as long as this share of its upper end is narrow enough
NEAREST, FARTHEST = 1.1, 4.0  # how much farther a search without an upper end goes
SHRINK = 0.66  # what two trials leave of an interval, at most
Two = tuple[ndarray, ndarray]


class Problems(NamedTuple):
    """Each minimises Σ_i weights_i · (-log p_i) + penalty · ||w||², without the intercept w₀.

    With K = 1, targets are 0 or 1 and the other class has the margin 0. With several columns, one
    for each class, a target is 1 in the column of its class and 0 elsewhere.
    """

    targets: ndarray  # (n, K, B)
    weights: ndarray  # (n, B), of sum 1
    penalty: ndarray  # (B,)
    allowed: ndarray  # (D, B), 1 for the columns that a problem may use and 0 for others


class Point(NamedTuple):
    """Where the problems are."""

    coef: ndarray  # (D, K, B)
    margins: ndarray  # (n, K, B)
    objective: ndarray  # (B,)
    gradient: ndarray  # (D, K, B)


class Pair(NamedTuple):
    """A step and the change of the gradient along it, which model the curvature."""

    step: ndarray  # (D, K, B)
    change: ndarray  # (D, K, B)
    inverse: ndarray  # (B,), 1 / their product, 0 if that is not positive
    scale: ndarray  # (B,), of a direction without a model: from the latest positive product


def only(arrays: Any, live: ndarray) -> Any:
    """Problems, their points or their pairs for a mask of the problems, the last axis of all."""
    return type(arrays)(*(array.compress(live, axis=-1) for array in arrays))


def minimise(A: Any, problems: Problems, *, tol: float, max_iter: int) -> Two:
    """Run problems to their end: weights (D, K, B) and number of steps (B,).

    Rows A (n, D), whose first column is 1, are known by ``A.shape`` and the products ``A.times(W)``
    and ``A.back(R)``, Aᵀ R.

    A problem ends when no entry of its gradient exceeds `tol`, when a step no longer lowers its
    objective, or after `max_iter` steps.
    """
    margins = np.zeros_like(problems.targets)
    coef = np.zeros((A.shape[1], *margins.shape[1:]))
    objective, residual = loss_and_residual(problems, margins)
    point = Point(coef, margins, objective, _gradient(A, problems, coef, residual))
    found = coef.copy()
    n_iter = np.full(len(objective), max_iter)
    index = np.arange(len(n_iter))
    idle = np.zeros(len(n_iter), dtype=bool)
    pairs: list[Pair] = []
    for iteration in range(max_iter + 1):
        steepest = np.abs(point.gradient).max(axis=(0, 1))
        done = idle | (steepest <= tol) | (iteration == max_iter)
        if done.any():
            found[:, :, index[done]] = point.coef[:, :, done]
            n_iter[index[done]] = iteration
            live = ~done
            index = index[live]
            problems = only(problems, live)
            point = only(point, live)
            pairs = [only(pair, live) for pair in pairs]
        if not len(index):
            break
        before = point
        point = _step(A, problems, before, pairs)
        pairs = [*pairs[-(MEMORY - 1) :], _pair(before, point, pairs)]
        idle = before.objective - point.objective <= IDLE * np.maximum(1, before.objective)
    return found, n_iter


def _step(A: Any, problems: Problems, point: Point, pairs: list[Pair]) -> Point:
    """The points after a quasi-Newton step; the line search needs no matrix product."""
    direction = _direction(point.gradient, pairs)
    ahead = _product(A.times, direction)
    coef = point.coef[1:]
    slope = direction[1:]
    constant = _dot(coef, coef)
    linear = 2 * _dot(coef, slope)
    square = _dot(slope, slope)
    residual = ahead

    def along(lengths: ndarray) -> Two:
        """Objective and slope at these lengths."""
        nonlocal residual
        loss, residual = loss_and_residual(problems, point.margins, ahead, lengths)
        penalty = constant + lengths * (linear + lengths * square)
        steepness = _dot(residual, ahead) + problems.penalty * (linear + 2 * lengths * square)
        return loss + problems.penalty * penalty, steepness

    size = np.sqrt(_dot(direction, direction))
    first = np.ones(len(size))
    if not pairs:
        first = 1 / where(size > 0, size, 1)
    start = _dot(point.gradient, direction)
    lengths, objective = wolfe_steps(along, point.objective, start, first)
    coef = point.coef + lengths * direction
    margins = point.margins + lengths * ahead
    return Point(coef, margins, objective, _gradient(A, problems, coef, residual))


def _gradient(A: Any, problems: Problems, coef: ndarray, residual: ndarray) -> ndarray:
    gradient = _product(A.back, residual)
    gradient[1:] += 2 * problems.penalty * coef[1:]
    gradient *= problems.allowed[:, None]
    return gradient


def _direction(gradient: ndarray, pairs: list[Pair]) -> ndarray:
    """The two-loop recursion."""
    direction = -gradient
    shares = []
    for pair in reversed(pairs):
        share = pair.inverse * _dot(pair.step, direction)
        direction -= share * pair.change
        shares.append(share)
    if pairs:
        direction *= pairs[-1].scale
    for pair, share in zip(pairs, reversed(shares), strict=True):
        direction += (share - pair.inverse * _dot(pair.change, direction)) * pair.step
    return direction


def _pair(before: Point, after: Point, pairs: list[Pair]) -> Pair:
    step = after.coef - before.coef
    change = after.gradient - before.gradient
    bend = _dot(step, change)
    curved = bend > 0
    inverse = curved / where(curved, bend, 1)
    length = where(curved, _dot(change, change), 1)
    scale = pairs[-1].scale if pairs else np.ones(len(bend))
    return Pair(step, change, inverse, where(curved, bend / length, scale))


def loss_and_residual(
    problems: Problems,
    margins: ndarray,
    ahead: Any = None,
    lengths: Any = None,
) -> Two:
    """Weighted sum of -log p over the rows, (B,), and its derivative by the margins (n, K, B).

    With `ahead` and `lengths`, at the margins + lengths · ahead.
    """
    residual = np.empty_like(margins)
    loss = np.zeros(margins.shape[2])
    size = max(1, BLOCK // max(1, margins[0].size))
    for first in range(0, len(margins), size):
        rows = slice(first, first + size)
        here = margins[rows] if ahead is None else margins[rows] + lengths * ahead[rows]
        targets = problems.targets[rows]
        weights = problems.weights[rows]
        top = np.maximum(here.max(axis=1), 0)  # margins of several classes add up to 0
        odds = np.exp(here - top[:, None], out=residual[rows])
        total = odds.sum(axis=1)
        if here.shape[1] == 1:
            total += np.exp(-top)
        losses = np.log(total) + top - (targets * here).sum(axis=1)
        loss += np.einsum("nb,nb->b", weights, losses)
        odds /= total[:, None]
        odds -= targets
        odds *= weights[:, None]
    return loss, residual


def _product(product: Any, x: ndarray) -> ndarray:
    """A product with the columns of all problems, (..., K, B)."""
    return product(x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


def _dot(a: ndarray, b: ndarray) -> ndarray:
    """Inner product of each problem, (B,)."""
    return np.einsum("ikb,ikb->b", a, b)


def wolfe_steps(
    along: Callable[[ndarray], Two], objective_0: ndarray, slope_0: ndarray, lengths: ndarray
) -> Two:
    """Step lengths (B,) that meet the strong Wolfe conditions, and the objective there.

    The line search of Moré and Thuente tries the lengths that MINPACK's ``dcsrch`` tries, which
    scipy's L-BFGS-B calls: the minimiser of a cubic or a parabola, or the root of a secant, through
    the best and the latest trial.

    `along` gives objective and slope at lengths, its last call is at those returned; `objective_0`
    and `slope_0` are those at 0, and `lengths` the first trial.

    >>> def square(t):
    ...     return (t - 3.0) ** 2, 2 * (t - 3.0)
    >>> wolfe_steps(square, *square(np.zeros(1)), np.array([0.1]))[0]
    array([0.5])
    """
    best = other = low = np.zeros_like(lengths)
    best_objective = objective_0
    best_slope = slope_0
    high = (1 + FARTHEST) * lengths
    done = bracketed = np.zeros(len(lengths), dtype=bool)
    width = width_before = np.full(len(lengths), np.inf)
    for _ in range(TRIALS):
        objective, slope = along(lengths)
        lower = objective <= objective_0 + DECREASE * lengths * slope_0
        flatter = np.abs(slope) <= -CURVATURE * slope_0
        done = done | (lower & flatter) | (bracketed & (high - low <= NARROW * high))
        if done.all():
            return lengths, objective
        worse = objective > best_objective
        turned = slope * best_slope < 0
        ahead = lengths - best
        rise = objective - best_objective
        cubic, secant, parabola = minima(ahead, rise, best_slope, slope)
        further = _onward(ahead, cubic, secant, low - lengths, high - lengths)
        shorter = _within(SHRINK * (other - lengths), cubic, secant)
        onward = where(bracketed, shorter, further)
        back = where(np.abs(cubic) > np.abs(parabola), cubic, (cubic + parabola) / 2)
        step = where(turned, _farther(cubic, secant), onward)
        trial = lengths + where(worse, back, step)
        behind = where(turned, best, other)
        other = where(worse, lengths, behind)
        best = where(worse, best, lengths)
        best_objective = where(worse, best_objective, objective)
        best_slope = where(worse, best_slope, slope)
        bracketed = bracketed | worse | turned
        span = np.abs(other - best)
        slow = bracketed & (span >= SHRINK * width_before)
        trial = where(slow, (best + other) / 2, trial)
        width_before = where(bracketed, width, width_before)
        width = where(bracketed, span, width)
        low = where(bracketed, np.minimum(best, other), trial + NEAREST * (trial - best))
        high = where(bracketed, np.maximum(best, other), trial + FARTHEST * (trial - best))
        outside = (trial <= low) | (trial >= high) | (high - low <= NARROW * high)
        trial = where(bracketed & outside, best, trial)
        lengths = where(done, lengths, trial)
    return lengths, along(lengths)[0]


def minima(
    ahead: ndarray, rise: ndarray, slope_behind: ndarray, slope: ndarray
) -> tuple[ndarray, ...]:
    """Where a cubic, a secant and a parabola through two points have their minimum.

    All are measured from the latest point, which lies `ahead` of the other one and `rise` above it.

    >>> [float(x[0]) for x in minima(*np.array([[1.0], [1.0], [-1.0], [3.0]]))]
    [-0.75, -0.75, -0.75]
    """
    with np.errstate(all="ignore"):  # problems that are done may divide by 0
        mean = rise / ahead
        theta = slope_behind + slope - 3 * mean
        gamma = -np.sign(ahead) * np.sqrt(np.maximum(theta**2 - slope_behind * slope, 0))
        cubic = (gamma - slope + theta) / (slope - slope_behind - 2 * gamma) * ahead
        secant = slope / (slope_behind - slope) * ahead
        parabola = slope_behind / (slope_behind - mean) / 2 * ahead - ahead
    return cubic, secant, parabola


def _onward(
    ahead: ndarray, cubic: ndarray, secant: ndarray, low: ndarray, high: ndarray
) -> ndarray:
    """How far to go on from the latest point, which is better and has a smaller slope."""
    cubic = where(cubic * ahead > 0, cubic, where(ahead > 0, high, low))
    return np.clip(_farther(cubic, secant), low, high)


def _within(limit: ndarray, cubic: ndarray, secant: ndarray) -> ndarray:
    """The same up to a limit."""
    cubic = where(cubic * limit > 0, cubic, limit)
    nearer = where(np.abs(cubic) < np.abs(secant), cubic, secant)
    return where(np.abs(nearer) < np.abs(limit), nearer, limit)


def _farther(a: ndarray, b: ndarray) -> ndarray:
    return where(np.abs(a) > np.abs(b), a, b)
