"""JFSC in numbers: row residuals that are not squared, a Fisher term for every feature, all candidates of a grid together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.baselines import proximal
from skcamel.rows import middle, shifted

SMALLEST_RESIDUAL = 1e-3  # a shorter residual weighs as much as this one
POWER_TOL = 1e-8  # relative change of ||X'DX||_2 at which power iteration ends
POWER_STEPS = 200


class Penalties(NamedTuple):
    """One entry per candidate, (C,) each."""

    alpha: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    eta: np.ndarray

    def part(self, index: np.ndarray) -> Penalties:
        """Some of the candidates."""
        return Penalties(*(values[index] for values in self))


def fisher(X: Array, Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Spread within the classes minus gap between them, of every label and feature: (q, d).

    With P and N the rows with and without the label and m+, m- their means of the feature,
    s = Σ_P (x - m+)² + (|P| / |N|) Σ_N (x - m-)² - |P| (m+ - m-)²; 0 where P or N is empty.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q), in {0, 1}
    weights : array of shape (n,), default=None
        Of the rows, in all sums and counts.

    Examples
    --------
    >>> fisher(np.array([[1.0], [3.0], [0.0], [0.0], [3.0]]), np.array([[1.0], [1.0], [0.0], [0.0], [0.0]]))
    array([[4.]])
    """
    X = shifted(X, middle(X))  # changes nothing in s, and much in its rounding
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    w = np.ones(len(Y)) if weights is None else weights
    inside, outside = w * Y.T, w * (1 - Y.T)  # (q, n)
    n_inside, n_outside = inside.sum(axis=1)[:, None], outside.sum(axis=1)[:, None]
    mean_inside, spread_inside = _mean_and_spread(X, squares, inside, n_inside)
    mean_outside, spread_outside = _mean_and_spread(X, squares, outside, n_outside)
    share = n_inside / np.where(n_outside > 0, n_outside, 1)
    s = spread_inside + share * spread_outside - n_inside * (mean_inside - mean_outside) ** 2
    return np.where((n_inside > 0) & (n_outside > 0), s, 0.0)


def _mean_and_spread(X: Array, squares: Array, members: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean, and sum of squared distances from it, of the rows that are members: (q, d) each."""
    mean = (members @ X) / np.where(size > 0, size, 1)
    return mean, np.maximum(members @ squares - size * mean**2, 0)


def inverse_lengths(residual: np.ndarray) -> np.ndarray:
    """Weights D of the rows, (C, n), from residuals (q, C, n): one over their lengths, which count as 1e-3 at least."""
    return 1 / np.maximum(np.sqrt(np.einsum("qcn,qcn->cn", residual, residual)), SMALLEST_RESIDUAL)


class RobustRegression:
    """What JFSC needs of training rows X (n, d) and targets Y (n, q), computed once for all candidates.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q)
        Targets of the regression; labels in {0, 1}, centred or not.
    R : array of shape (q, q)
        Cosine distances of the labels.
    S : array of shape (q, d)
        Fisher term.
    row_weights : callable, default=inverse_lengths
        Residuals (q, C, n) ► D (C, n).
    weights : array of shape (n,), default=None
        Of the rows.
    """

    def __init__(
        self,
        X: Array,
        Y: np.ndarray,
        R: np.ndarray,
        S: np.ndarray,
        row_weights: Callable[[np.ndarray], np.ndarray] = inverse_lengths,
        weights: np.ndarray | None = None,
    ) -> None:
        self.X, self.R, self.S, self.row_weights = X, R, S[:, None], row_weights
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        self.targets = np.ascontiguousarray(Y.T)[:, None]  # (q, 1, n)
        self.ridge = proximal.Ridge(proximal.rooted(X, weights), proximal.rooted(Y, weights))
        self.label_norm = float(np.linalg.norm(R, 2))
        self.fisher_norm = float(np.abs(S).max())

    def residual(self, W: np.ndarray) -> np.ndarray:
        """XW - Y of all candidates, (q, C, n)."""
        product = W.reshape(-1, W.shape[-1]) @ self.X.T
        residual = product.reshape(*W.shape[:2], -1)
        residual -= self.targets
        return residual

    def pulled_back(self, residual: np.ndarray) -> np.ndarray:
        """X' of residuals (..., n), as (..., d)."""
        return (residual.reshape(-1, residual.shape[-1]) @ self.X).reshape(*residual.shape[:-1], -1)

    def related(self, W: np.ndarray) -> np.ndarray:
        """W R of all candidates, (q, C, d)."""
        return (self.R @ W.reshape(len(W), -1)).reshape(W.shape)

    def solve(self, penalties: Penalties, *, max_iter: int = proximal.MAX_ITER, tol: float = proximal.TOL) -> proximal.Run:
        """The sequences of all candidates, in one batch."""
        return proximal.run(_State(self, penalties), max_iter=max_iter, tol=tol)

    def solve_batches(
        self, penalties: Penalties, *, max_iter: int, tol: float, budget: int = proximal.MEMORY_BUDGET
    ) -> Iterator[tuple[np.ndarray, proximal.Run]]:
        """The same in batches that keep the working arrays within `budget` bytes: indices of candidates, and their run."""
        indices = proximal.batches(len(penalties.alpha), 8 * _State.ARRAYS * len(self.R) * sum(self.X.shape), budget)
        yield from proximal.run_batches(indices, lambda index: _State(self, penalties.part(index)), max_iter=max_iter, tol=tol)


class _State:
    """Iterates of JFSC: the residuals of the last two are kept, so that one product with X and one with X' make a step."""

    ARRAYS = 7  # (q, C, n + d) arrays alive at the peak, with temporaries

    def __init__(self, problem: RobustRegression, penalties: Penalties) -> None:
        W = problem.ridge.stacked(penalties.eta)
        self.problem, self.W, self.W_before = problem, W, W
        self.alpha, self.beta, self.gamma = (values[:, None] for values in penalties[:3])
        self.residual = self.residual_before = problem.residual(W)
        self.direction = np.tile(np.random.default_rng(0).normal(size=W.shape[-1]), (W.shape[1], 1))  # start of the power iteration

    def step(self, momentum: float) -> np.ndarray:
        problem = self.problem
        weights = problem.weights * problem.row_weights(self.residual)
        L = self._lipschitz(weights)
        V = self.W + momentum * (self.W - self.W_before)
        residual = self.residual + momentum * (self.residual - self.residual_before)
        residual *= weights
        gradient = problem.pulled_back(residual)
        gradient += self.alpha * problem.related(V)
        gradient += self.beta * problem.S * V
        gradient /= L
        V -= gradient
        self.W_before, self.W = self.W, proximal.soft(V, self.gamma / L)
        self.residual_before, self.residual = self.residual, problem.residual(self.W)
        return self._objective()

    def _lipschitz(self, weights: np.ndarray) -> np.ndarray:
        """Step constants sqrt(3 (||X'DX||² + ||αR||² + β² max s²)), (C, 1); 1 where all is zero."""
        norm, self.direction = weighted_norm(self.problem.X, weights, self.direction)
        others = (self.alpha * self.problem.label_norm) ** 2 + (self.beta * self.problem.fisher_norm) ** 2
        L = np.sqrt(3 * (norm[:, None] ** 2 + others))
        return np.where(L > 0, L, 1.0)

    def _objective(self) -> np.ndarray:
        """J of all candidates, (C,)."""
        rows = np.sqrt(np.einsum("qcn,qcn->cn", self.residual, self.residual)) @ self.problem.weights
        correlation = np.einsum("qcd,qcd->c", self.W, self.problem.related(self.W))
        spread = np.einsum("qcd,qcd,qd->c", self.W, self.W, self.problem.S[:, 0])
        size = np.abs(self.W).sum(axis=(0, 2))
        return rows + self.alpha[:, 0] / 2 * correlation + self.beta[:, 0] / 2 * spread + self.gamma[:, 0] * size

    def keep(self, kept: np.ndarray) -> None:
        self.alpha, self.beta, self.gamma, self.direction = (x[kept] for x in (self.alpha, self.beta, self.gamma, self.direction))
        self.W, self.W_before = (x.compress(kept, axis=1) for x in (self.W, self.W_before))
        self.residual, self.residual_before = (x.compress(kept, axis=1) for x in (self.residual, self.residual_before))


def weighted_norm(X: Array, weights: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """||X'DX||_2 of every candidate by power iteration, (C,), and the directions reached, (C, d), from which the next may start.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    weights : array of shape (C, n)
        Diagonals of D, positive.
    direction : array of shape (C, d)
        Where to start.

    Examples
    --------
    >>> norm, _ = weighted_norm(np.array([[3.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 2.0]]), np.ones((1, 2)))
    >>> norm.round(6)
    array([9.])
    """
    norm, moving = np.zeros(len(weights)), np.ones(len(weights), dtype=bool)
    direction = direction.copy()
    for _ in range(POWER_STEPS):
        units = direction[moving] / np.maximum(np.linalg.norm(direction[moving], axis=1), np.finfo(np.float64).tiny)[:, None]
        images = ((units @ X.T) * weights[moving]) @ X
        reached, before = np.linalg.norm(images, axis=1), norm[moving]
        norm[moving] = reached
        direction[moving] = np.where(reached[:, None] > 0, images, units)
        moving[moving] = np.abs(reached - before) > POWER_TOL * reached
        if not moving.any():
            break
    return norm, direction
