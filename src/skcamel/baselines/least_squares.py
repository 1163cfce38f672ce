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

    def lipschitz(self, alpha: float) -> float:
        """Step constant L = sqrt(2 (||X'X||² + ||αR||²)); 1 where all is zero."""
        return float(np.sqrt(2 * (self.ridge.norm**2 + (alpha * self.label_norm) ** 2))) or 1.0

    def solve(
        self, penalties: Penalties, *, max_iter: int = proximal.MAX_ITER, tol: float = proximal.TOL, accelerated: bool = True
    ) -> proximal.Run:
        """The sequences of all candidates, those of equal α in one batch."""
        q, d = self.targets.shape
        n_candidates = len(penalties.alpha)
        whole = proximal.Run(np.empty((q, n_candidates, d)), np.zeros(n_candidates, dtype=np.int64), np.zeros(n_candidates))
        for alpha in np.unique(penalties.alpha):
            index = np.flatnonzero(penalties.alpha == alpha)
            state = _State(self, penalties.part(index))
            end = proximal.run(state, max_iter=max_iter, tol=tol, accelerated=accelerated)
            whole.W[:, index], whole.n_iter[index], whole.values[index] = end
        return whole

    def solve_batches(
        self, penalties: Penalties, *, max_iter: int, tol: float, budget: int = proximal.MEMORY_BUDGET
    ) -> Iterator[tuple[np.ndarray, proximal.Run]]:
        """The same in batches of equal α that keep the working arrays within `budget` bytes: indices of candidates, and their run."""
        bytes_each = 8 * _State.ARRAYS * self.targets.size
        groups = (np.flatnonzero(penalties.alpha == alpha) for alpha in dict.fromkeys(penalties.alpha.tolist()))
        indices = [equal[part] for equal in groups for part in proximal.batches(len(equal), bytes_each, budget)]
        yield from proximal.run_batches(indices, lambda index: _State(self, penalties.part(index)), max_iter=max_iter, tol=tol)


class _State:
    """Iterates of LLSF for candidates of equal α, and so of equal step constant.

    Only the gradient step P(W) = W - G(W) / L = W (I - X'X / L) - (α/L) W R + X'Y / L is remembered: G is affine, so the step
    from the extrapolated point is the extrapolated step, and one product with X'X serves the step and the monitored value.
    All passes write into arrays that exist already.
    """

    ARRAYS = 8  # (q, C, d) arrays alive at the peak, with temporaries and the result of the batch before

    def __init__(self, problem: LeastSquares, penalties: Penalties) -> None:
        self.problem = problem
        self.alpha, self.beta = float(penalties.alpha[0]), penalties.beta
        self.L = problem.lipschitz(self.alpha)
        self.label_step = (-self.alpha / self.L) * problem.R
        self.kept_part = None if problem.gram is None else np.eye(len(problem.gram)) - problem.gram / self.L
        self.W = problem.ridge.stacked(penalties.rho)
        self.moved, self.spare = np.empty(self.W.shape), np.empty(self.W.shape)
        self._move(self.moved)
        self.moved_before = self.moved.copy()

    def _move(self, out: np.ndarray) -> None:
        """P of the latest iterate; the spare array is overwritten."""
        q, d = self.problem.targets.shape
        rows, X = self.W.reshape(-1, d), self.problem.X
        if self.kept_part is None:
            np.subtract(rows, (rows @ X.T) @ X / self.L, out=out.reshape(-1, d))
        else:
            np.matmul(rows, self.kept_part, out=out.reshape(-1, d))
        np.matmul(self.label_step, self.W.reshape(q, -1), out=self.spare.reshape(q, -1))
        self.spare += (self.problem.targets / self.L)[:, None]
        out += self.spare

    def step(self, momentum: float) -> np.ndarray:
        U = np.subtract(self.moved, self.moved_before, out=self.moved_before)
        U *= momentum
        U += self.moved
        threshold = (self.beta / self.L)[:, None]
        np.minimum(U, threshold, out=self.spare)
        np.maximum(self.spare, -threshold, out=self.spare)
        np.subtract(U, self.spare, out=self.W)  # soft thresholding
        self.moved_before, self.moved = self.moved, U
        self._move(self.moved)
        return self._value()

    def _value(self) -> np.ndarray:
        """T = ||XW - Y||² + α tr(R W'W) + β nnz(W) = <W, G - X'Y> + ||Y||² + β nnz(W) with G = L (W - P), (C,)."""
        W, targets = self.W, self.problem.targets
        np.subtract(W, self.moved, out=self.spare)
        quadratic = self.L * np.einsum("qcd,qcd->c", W, self.spare) - np.einsum("qcd,qd->c", W, targets)
        small = np.uint8 if len(W) < 256 else np.uint32  # holds a count of labels
        n_nonzero = (W != 0).sum(axis=0, dtype=small).sum(axis=1)
        return quadratic + self.problem.total + self.beta * n_nonzero

    def keep(self, kept: np.ndarray) -> None:
        self.beta = self.beta[kept]
        self.W, self.moved, self.moved_before = (x.compress(kept, axis=1) for x in (self.W, self.moved, self.moved_before))  # contiguous
        self.spare = np.empty(self.W.shape)
