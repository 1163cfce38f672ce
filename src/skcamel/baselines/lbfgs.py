"""Limited-memory quasi-Newton (L-BFGS) for many logistic problems over the same rows.

A step is two matrix products for all problems together. Start, line search and stop are those of
scikit-learn's ``LogisticRegression``. They matter where classes can be separated: then the weights
would grow for ever, and where the sequence stops decides how well it predicts new rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy import ndarray

from skcamel.baselines.line_search import wolfe_steps

MEMORY = 10  # pairs of step and change of the gradient that model the curvature
IDLE = 64 * np.finfo(np.float64).eps  # a step that lowers the objective by no more is the last one
BLOCK = 2**15  # margins whose losses are computed together, so that they stay in the cache


@dataclass
class Stacked:
    """Arrays of several problems, whose last axis runs over the problems."""

    def only(self, live: ndarray) -> Self:
        """The same for the problems of a mask."""
        arrays = (getattr(self, field.name) for field in fields(self))
        return type(self)(*(array.compress(live, axis=-1) for array in arrays))


@dataclass
class Problems(Stacked):
    """Each minimises Σ_i weights_i · (-log p_i) + penalty · ||w||², without the intercept w₀.

    With K = 1, targets are 0 or 1 and the other class has the margin 0. With several columns, one
    for each class, a target is 1 in the column of its class and 0 elsewhere.
    """

    targets: ndarray  # (n, K, B)
    weights: ndarray  # (n, B), of sum 1
    penalty: ndarray  # (B,)
    allowed: ndarray  # (D, B), 1 for the columns that a problem may use and 0 for others


@dataclass
class Point(Stacked):
    """Where the problems are."""

    coef: ndarray  # (D, K, B)
    margins: ndarray  # (n, K, B)
    objective: ndarray  # (B,)
    gradient: ndarray  # (D, K, B)


@dataclass
class Pair(Stacked):
    """A step and the change of the gradient along it, which model the curvature."""

    step: ndarray  # (D, K, B)
    change: ndarray  # (D, K, B)
    inverse: ndarray  # (B,), 1 / their product, 0 if that is not positive
    scale: ndarray  # (B,), of a direction without a model: from the latest positive product


def minimise(A: Any, problems: Problems, *, tol: float, max_iter: int) -> tuple[ndarray, ndarray]:
    """Run problems to their end: weights (D, K, B) and number of steps (B,).

    Rows A (n, D), whose first column is 1, are known by ``A.shape`` and the products ``A.times(W)``
    and ``A.back(R)``, Aᵀ R.

    A problem ends when no entry of its gradient exceeds `tol`, when a step no longer lowers its
    objective, or after `max_iter` steps.
    """
    point = _start(A, problems)
    coef, n_iter = point.coef.copy(), np.full(len(problems.penalty), max_iter)
    index = np.arange(len(n_iter))
    idle = np.zeros(len(n_iter), dtype=bool)
    pairs: list[Pair] = []
    for iteration in range(max_iter + 1):
        done = idle | (np.abs(point.gradient).max(axis=(0, 1)) <= tol) | (iteration == max_iter)
        if done.any():
            coef[:, :, index[done]] = point.coef[:, :, done]
            n_iter[index[done]] = iteration
            live = ~done
            index, problems, point = index[live], problems.only(live), point.only(live)
            pairs = [pair.only(live) for pair in pairs]
        if not len(index):
            break
        before = point
        point = _step(A, problems, before, pairs)
        pairs = [*pairs[-(MEMORY - 1) :], _pair(before, point, pairs)]
        idle = before.objective - point.objective <= IDLE * np.maximum(1, before.objective)
    return coef, n_iter


def _start(A: Any, problems: Problems) -> Point:
    """All weights 0."""
    margins = np.zeros_like(problems.targets)
    coef = np.zeros((A.shape[1], *margins.shape[1:]))
    objective, residual = loss_and_residual(problems, margins)
    return Point(coef, margins, objective, _gradient(A, problems, coef, residual))


def _step(A: Any, problems: Problems, point: Point, pairs: list[Pair]) -> Point:
    """The points after a quasi-Newton step; the line search needs no matrix product."""
    direction = _direction(point.gradient, pairs)
    ahead = _product(A.times, direction)
    coef, slope = point.coef[1:], direction[1:]
    constant, linear, square = _dot(coef, coef), 2 * _dot(coef, slope), _dot(slope, slope)
    residual = ahead

    def along(lengths: ndarray) -> tuple[ndarray, ndarray]:
        """Objective and slope at these lengths."""
        nonlocal residual
        loss, residual = loss_and_residual(problems, point.margins, ahead, lengths)
        penalty = constant + lengths * (linear + lengths * square)
        steepness = _dot(residual, ahead) + problems.penalty * (linear + 2 * lengths * square)
        return loss + problems.penalty * penalty, steepness

    size = np.sqrt(_dot(direction, direction))
    first = np.ones(len(size)) if pairs else 1 / np.where(size > 0, size, 1)
    start = _dot(point.gradient, direction)
    lengths, objective = wolfe_steps(along, point.objective, start, first)
    coef, margins = point.coef + lengths * direction, point.margins + lengths * ahead
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
    step, change = after.coef - before.coef, after.gradient - before.gradient
    bend = _dot(step, change)
    curved = bend > 0
    inverse = curved / np.where(curved, bend, 1)
    scale = pairs[-1].scale if pairs else np.ones(len(bend))
    length = np.where(curved, _dot(change, change), 1)
    return Pair(step, change, inverse, np.where(curved, bend / length, scale))


def loss_and_residual(
    problems: Problems,
    margins: ndarray,
    ahead: ndarray | None = None,
    lengths: ndarray | None = None,
) -> tuple[ndarray, ndarray]:
    """Weighted sum of -log p over the rows, (B,), and its derivative by the margins (n, K, B).

    With `ahead` and `lengths`, at the margins + lengths · ahead.
    """
    residual = np.empty_like(margins)
    loss = np.zeros(margins.shape[2])
    size = max(1, BLOCK // max(1, margins[0].size))
    for first in range(0, len(margins), size):
        rows = slice(first, first + size)
        here = margins[rows] if ahead is None else margins[rows] + lengths * ahead[rows]
        targets, weights = problems.targets[rows], problems.weights[rows]
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


def _product(product: Callable[[ndarray], ndarray], x: ndarray) -> ndarray:
    """A product with the columns of all problems, (..., K, B)."""
    return product(x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


def _dot(a: ndarray, b: ndarray) -> ndarray:
    """Inner product of each problem, (B,)."""
    return np.einsum("ikb,ikb->b", a, b)
