"""Limited-memory quasi-Newton (L-BFGS) for many logistic problems over the same rows: a step is two matrix products for all of them.

Start, stop and line search are those of scikit-learn's ``LogisticRegression``. They matter where
classes can be separated: then the
weights would grow for ever, and where the sequence stops decides how well it predicts new rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

MEMORY = 10  # pairs of step and gradient change that model the curvature
TRIALS = 20  # step lengths that a line search tries at most
DECREASE, CURVATURE = 1e-3, 0.9  # of the Wolfe conditions
NOTHING = np.finfo(np.float64).eps  # share of its objective by which a step must lower it


class Design(Protocol):
    """Rows A (n, D) of all problems, known by their products; the first column is 1."""

    shape: tuple[int, int]

    def times(self, W: np.ndarray) -> np.ndarray:
        """A W."""
        ...

    def back(self, R: np.ndarray) -> np.ndarray:
        """Aᵀ R."""
        ...


class Problems:
    """Problems that are still running, the last axis of every array, with K columns each.

    A problem minimises the weighted mean of -log p over the rows plus ridge · ||w||² / total
    weight, the intercept w₀ left out.
    """

    def __init__(
        self,
        A: Design,
        targets: np.ndarray,
        weights: np.ndarray,
        allowed: np.ndarray | None,
        ridge: float,
    ) -> None:
        total = weights.sum(axis=0)
        self.A, self.targets, self.allowed = A, targets, allowed
        self.weights, self.penalty = weights / total, ridge / total
        self.index = np.arange(len(total))
        self.coef = np.zeros((A.shape[1], *targets.shape[1:]))
        self.margins = np.zeros_like(targets)
        self.objective, residual = loss_and_residual(self.margins, targets, self.weights)
        self.gradient = self._gradient(residual)
        self.scale = np.ones(len(total))
        self.history: list[
            tuple[np.ndarray, np.ndarray, np.ndarray]
        ] = []  # step, change of the gradient, 1 / their product
        self.idle = np.zeros(
            len(total), dtype=bool
        )  # the last step lowered the objective by nothing

    def keep(self, problems: np.ndarray) -> None:
        """Leave out all other problems."""
        for name in (
            "targets",
            "weights",
            "penalty",
            "index",
            "coef",
            "margins",
            "objective",
            "gradient",
            "scale",
            "idle",
        ):
            setattr(self, name, getattr(self, name).compress(problems, axis=-1))
        if self.allowed is not None:
            self.allowed = self.allowed.compress(problems, axis=-1)
        self.history = [
            (s.compress(problems, axis=-1), y.compress(problems, axis=-1), rho[problems])
            for s, y, rho in self.history
        ]

    def step(self) -> None:
        """One quasi-Newton step of every problem."""
        direction = self._direction()
        ahead = _product(self.A.times, direction)
        lengths, objective, residual = self._search(direction, ahead)
        step = lengths * direction
        self.coef += step
        self.margins += lengths * ahead
        gradient = self._gradient(residual)
        self._remember(step, gradient - self.gradient)
        self.idle = self.objective - objective <= NOTHING * self.objective
        self.objective, self.gradient = objective, gradient

    def _gradient(self, residual: np.ndarray) -> np.ndarray:
        gradient = _product(self.A.back, residual)
        gradient[1:] += 2 * self.penalty * self.coef[1:]
        if self.allowed is not None:
            gradient *= self.allowed[:, None]
        return gradient

    def _direction(self) -> np.ndarray:
        """The two-loop recursion."""
        direction = -self.gradient
        shares = []
        for step, change, rho in reversed(self.history):
            share = rho * _dot(step, direction)
            direction -= share * change
            shares.append(share)
        direction *= self.scale
        for (step, change, rho), share in zip(self.history, reversed(shares), strict=True):
            direction += (share - rho * _dot(change, direction)) * step
        return direction

    def _search(
        self, direction: np.ndarray, ahead: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Step lengths that meet the Wolfe conditions, with objective and residual there; no matrix product is needed.

        The slope along a line only rises, so a length is too short where it is still steep, and too
        long where the objective has hardly
        fallen. The next guess is where the line through the last two slopes is 0, within bounds.
        """
        start = _dot(self.gradient, direction)
        constant, linear, square = _penalty_along(self.coef[1:], direction[1:])
        lengths = (
            np.ones(len(start))
            if self.history
            else 1 / np.sqrt(np.maximum(_dot(direction, direction), NOTHING))
        )
        low, slope_low = np.zeros(len(start)), start
        high, slope_high = np.full(len(start), np.inf), np.zeros(len(start))
        for _ in range(TRIALS):
            objective, residual = loss_and_residual(
                self.margins + lengths * ahead, self.targets, self.weights
            )
            objective += self.penalty * (constant + lengths * (linear + lengths * square))
            slope = _dot(residual, ahead) + self.penalty * (linear + 2 * lengths * square)
            long = objective > self.objective + DECREASE * lengths * start
            short = ~long & (slope < CURVATURE * start)
            if not (long | short).any():
                break
            farther = lengths + (lengths - low) * _bounded(slope, slope_low - slope, 1.1, 4)
            high, slope_high = np.where(long, lengths, high), np.where(long, slope, slope_high)
            low, slope_low = np.where(short, lengths, low), np.where(short, slope, slope_low)
            between = low + np.where(np.isfinite(high), high - low, 0) * _bounded(
                slope_low, slope_low - slope_high, 0.1, 0.9
            )
            lengths = np.where(long | short, np.where(np.isfinite(high), between, farther), lengths)
        return lengths, objective, residual

    def _remember(self, step: np.ndarray, change: np.ndarray) -> None:
        """Keep a pair and the scale that it suggests; a pair without curvature is ignored."""
        bend = _dot(step, change)
        curved = bend > 0
        rho = np.where(curved, 1 / np.where(curved, bend, 1), 0)
        length = _dot(change, change)
        self.scale = np.where(curved, bend / np.where(curved, length, 1), self.scale)
        self.history = [*self.history[-(MEMORY - 1) :], (step, change, rho)]


def minimise(problems: Problems, *, tol: float, max_iter: int) -> tuple[np.ndarray, np.ndarray]:
    """Run problems to their end: weights (D, K, B) and number of steps (B,).

    A problem ends when no entry of its gradient exceeds `tol`, when a step no longer lowers its
    objective, or after `max_iter` steps.
    """
    coef, n_iter = problems.coef.copy(), np.zeros(len(problems.index), dtype=int)
    for iteration in range(max_iter + 1):
        done = (np.abs(problems.gradient).max(axis=(0, 1)) <= tol) | problems.idle
        if iteration == max_iter:
            done[:] = True
        if done.any():
            coef[:, :, problems.index[done]] = problems.coef[:, :, done]
            n_iter[problems.index[done]] = iteration
            problems.keep(~done)
        if not len(problems.index):
            break
        problems.step()
    return coef, n_iter


def loss_and_residual(
    margins: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted sum of -log p over the rows, (B,), and its derivative by the margins (n, K, B).

    With one column, targets are 0 or 1 and the other class has the margin 0. With several, one for
    each class, a target is 1 in the
    column of its class and 0 elsewhere. Weights are (n, B).

    >>> loss, residual = loss_and_residual(np.zeros((2, 1, 1)), np.array([[[1.0]], [[0.0]]]), np.ones((2, 1)))
    >>> loss.round(4), residual[:, 0, 0]
    (array([1.3863]), array([-0.5,  0.5]))
    """
    top = np.maximum(margins.max(axis=1), 0)  # margins of several classes add up to 0
    odds = np.exp(margins - top[:, None])
    total = odds.sum(axis=1)
    if margins.shape[1] == 1:
        total += np.exp(-top)
    losses = np.log(total) + top - (targets * margins).sum(axis=1)
    residual = odds
    residual /= total[:, None]
    residual -= targets
    residual *= weights[:, None]
    return np.einsum("nb,nb->b", weights, losses), residual


def _product(product: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """A product with the columns of all problems, (..., K, B)."""
    return product(x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Inner product of each problem, (B,)."""
    return np.einsum("ikb,ikb->b", a, b)


def _penalty_along(
    coef: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """||coef + t direction||² as a polynomial in t."""
    return _dot(coef, coef), 2 * _dot(coef, direction), _dot(direction, direction)


def _bounded(above: np.ndarray, below: np.ndarray, least: float, most: float) -> np.ndarray:
    """A quotient within bounds; the upper one where it is not defined."""
    quotient = above / np.where(below == 0, 1, below)
    return np.where(below == 0, most, np.clip(quotient, least, most))
