"""Step lengths for many convex problems at once, by the line search of Moré and Thuente.

It tries the lengths that MINPACK's ``dcsrch`` tries, which scipy's L-BFGS-B calls: the minimiser of
a cubic or a parabola, or the root of a secant, through the best and the latest trial.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy import ndarray

TRIALS = 50
DECREASE, CURVATURE = 1e-3, 0.9  # of the Wolfe conditions
NARROW = 0.1  # an interval as long as this share of its upper end is narrow enough
NEAREST, FARTHEST = 1.1, 4.0  # how much farther a search without an upper end goes
SHRINK = 0.66  # what two trials leave of an interval, at most

Along = Callable[[ndarray], tuple[ndarray, ndarray]]


def wolfe_steps(
    along: Along, objective_0: ndarray, slope_0: ndarray, lengths: ndarray
) -> tuple[ndarray, ndarray]:
    """Step lengths (B,) that meet the strong Wolfe conditions, and the objective there.

    `along` gives objective and slope at lengths, its last call is at those returned; `objective_0`
    and `slope_0` are those at 0, and `lengths` the first trial.

    >>> def square(t):
    ...     return (t - 3.0) ** 2, 2 * (t - 3.0)
    >>> wolfe_steps(square, *square(np.zeros(1)), np.array([0.1]))[0]
    array([0.5])
    """
    best, best_objective, best_slope = np.zeros_like(lengths), objective_0, slope_0
    other, low, high = best, best, (1 + FARTHEST) * lengths
    done = bracketed = np.zeros(len(lengths), dtype=bool)
    width = width_before = np.full(len(lengths), np.inf)
    for _ in range(TRIALS):
        objective, slope = along(lengths)
        lower = objective <= objective_0 + DECREASE * lengths * slope_0
        flatter = np.abs(slope) <= -CURVATURE * slope_0
        done = done | (lower & flatter) | (bracketed & (high - low <= NARROW * high))
        if done.all():
            return lengths, objective
        worse, turned = objective > best_objective, slope * best_slope < 0
        cubic, secant, parabola = minima(
            lengths - best, objective - best_objective, best_slope, slope
        )
        further = _onward(lengths - best, cubic, secant, low - lengths, high - lengths)
        shorter = _within(SHRINK * (other - lengths), cubic, secant)
        onward = np.where(bracketed, shorter, further)
        back = np.where(np.abs(cubic) > np.abs(parabola), cubic, (cubic + parabola) / 2)
        between = _farther(cubic, secant)
        trial = lengths + np.where(worse, back, np.where(turned, between, onward))
        other = np.where(worse, lengths, np.where(turned, best, other))
        best = np.where(worse, best, lengths)
        best_objective = np.where(worse, best_objective, objective)
        best_slope = np.where(worse, best_slope, slope)
        bracketed = bracketed | worse | turned
        span = np.abs(other - best)
        slow = bracketed & (span >= SHRINK * width_before)
        trial = np.where(slow, (best + other) / 2, trial)
        width_before = np.where(bracketed, width, width_before)
        width = np.where(bracketed, span, width)
        low = np.where(bracketed, np.minimum(best, other), trial + NEAREST * (trial - best))
        high = np.where(bracketed, np.maximum(best, other), trial + FARTHEST * (trial - best))
        outside = (trial <= low) | (trial >= high) | (high - low <= NARROW * high)
        trial = np.where(bracketed & outside, best, trial)
        lengths = np.where(done, lengths, trial)
    return lengths, along(lengths)[0]


def minima(
    ahead: ndarray, rise: ndarray, slope_behind: ndarray, slope: ndarray
) -> tuple[ndarray, ndarray, ndarray]:
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
    cubic = np.where(cubic * ahead > 0, cubic, np.where(ahead > 0, high, low))
    return np.clip(_farther(cubic, secant), low, high)


def _within(limit: ndarray, cubic: ndarray, secant: ndarray) -> ndarray:
    """The same up to a limit."""
    cubic = np.where(cubic * limit > 0, cubic, limit)
    nearer = np.where(np.abs(cubic) < np.abs(secant), cubic, secant)
    return np.where(np.abs(nearer) < np.abs(limit), nearer, limit)


def _farther(a: ndarray, b: ndarray) -> ndarray:
    return np.where(np.abs(a) > np.abs(b), a, b)
