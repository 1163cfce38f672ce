"""LLSF in numbers: squared error, cosine distance of labels and an l1 penalty, all candidates of a grid together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines import proximal


class Penalties(NamedTuple):
    """One entry per candidate, (C,) each."""

    alpha: np.ndarray
    beta: np.ndarray
    rho: np.ndarray

    def part(self, index: np.ndarray) -> Penalties:
        """Some of the candidates."""
        return Penalties(*(values[index] for values in self))


class LeastSquares:
    """What LLSF needs of training rows X (n, d) and targets Y (n, q), computed once for all candidates.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q)
        Targets of the regression; labels in {0, 1}, centred or not.
    R : array of shape (q, q)
        Cosine distances of the labels.
    """

    def __init__(self, X: Array, Y: np.ndarray, R: np.ndarray) -> None:
        self.X, self.R = X, R
        self.ridge = proximal.Ridge(X, Y)
        n, d = X.shape
        gram = self.ridge.gram
        self.gram = proximal.dense(X.T @ X) if gram is None and d <= 2 * n else gram  # wider: two thin products are cheaper
        self.targets = np.ascontiguousarray((X.T @ Y).T)  # (q, d)
        self.total = float(np.sum(Y * Y))
        self.label_norm = float(np.linalg.norm(R, 2))

    def lipschitz(self, alpha: np.ndarray) -> np.ndarray:
        """Step constants L = sqrt(2 (||X'X||² + ||αR||²)), (C,); 1 where all is zero."""
        L = np.sqrt(2 * (self.ridge.norm**2 + (alpha * self.label_norm) ** 2))
        return np.where(L > 0, L, 1.0)

    def curvature(self, W: np.ndarray) -> np.ndarray:
        """X'X W of all candidates, (q, C, d)."""
        rows = W.reshape(-1, W.shape[-1])
        product = (rows @ self.X.T) @ self.X if self.gram is None else rows @ self.gram
        return product.reshape(W.shape)

    def related(self, W: np.ndarray) -> np.ndarray:
        """W R of all candidates, (q, C, d)."""
        return (self.R @ W.reshape(len(W), -1)).reshape(W.shape)

    def solve(
        self, penalties: Penalties, *, max_iter: int = proximal.MAX_ITER, tol: float = proximal.TOL, accelerated: bool = True
    ) -> proximal.Run:
        """The sequences of all candidates, in one batch."""
        start = self.ridge.stacked(penalties.rho)
        return proximal.run(_State(self, penalties, start), max_iter=max_iter, tol=tol, accelerated=accelerated)

    def solve_batches(
        self, penalties: Penalties, *, max_iter: int, tol: float, budget: int = proximal.MEMORY_BUDGET
    ) -> Iterator[tuple[np.ndarray, proximal.Run]]:
        """The same in batches that keep the working arrays within `budget` bytes: indices of candidates, and their run."""
        for index in proximal.batches(len(penalties.alpha), 8 * _State.ARRAYS * self.targets.size, budget):
            yield index, self.solve(penalties.part(index), max_iter=max_iter, tol=tol)


class _State:
    """Iterates of LLSF.

    Only the gradient step P(W) = W - G(W) / L is remembered: G is affine, so the step from the extrapolated point is the
    extrapolated step, and one product with X'X serves the step and the monitored value.
    """

    ARRAYS = 9  # (q, C, d) arrays alive at the peak, with temporaries and the result of the batch before

    def __init__(self, problem: LeastSquares, penalties: Penalties, W: np.ndarray) -> None:
        self.problem, self.W = problem, W
        self.alpha, self.beta = penalties.alpha[:, None], penalties.beta
        self.L = problem.lipschitz(penalties.alpha)[:, None]
        self.moved = W - self._gradient() / self.L
        self.moved_before = self.moved

    def _gradient(self) -> np.ndarray:
        """G = X'X W - X'Y + α W R, (q, C, d)."""
        gradient = self.problem.related(self.W)
        gradient *= self.alpha
        gradient += self.problem.curvature(self.W)
        gradient -= self.problem.targets[:, None]
        return gradient

    def step(self, momentum: float) -> np.ndarray:
        U = self.moved
        if momentum:
            U = self.moved - self.moved_before
            U *= momentum
            U += self.moved
        self.W = proximal.soft(U, self.beta[:, None] / self.L)
        gradient = self._gradient()
        value = self._value(gradient)
        gradient /= -self.L
        gradient += self.W
        self.moved_before, self.moved = self.moved, gradient
        return value

    def _value(self, gradient: np.ndarray) -> np.ndarray:
        """T = ||XW - Y||² + α tr(R W'W) + β nnz(W), (C,)."""
        quadratic = np.einsum("qcd,qcd->c", self.W, gradient) - np.einsum("qcd,qd->c", self.W, self.problem.targets)
        return quadratic + self.problem.total + self.beta * np.count_nonzero(self.W, axis=(0, 2))

    def keep(self, kept: np.ndarray) -> None:
        self.alpha, self.beta, self.L = self.alpha[kept], self.beta[kept], self.L[kept]
        self.moved, self.moved_before = self.moved[:, kept], self.moved_before[:, kept]
        self.W = self.W[:, kept]
