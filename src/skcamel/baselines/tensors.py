"""The sequences of LLSF and JFSC with torch tensors: a GPU iterates all candidates of a group in one stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skcamel.arrays import Array, to_device, to_numpy
from skcamel.baselines.proximal import POWER_STEPS, POWER_TOL, SMALLEST_RESIDUAL
from skcamel.rows import dense

if TYPE_CHECKING:
    from skcamel.baselines.jfsc import JFSCPenalties, RobustRegression
    from skcamel.baselines.llsf import LeastSquares, LLSFPenalties

SMALLEST_NORM = 1e-300  # of a direction, so that 0 / 0 is 0


class LeastSquaresOnDevice:
    """Iterates of LLSF for candidates of equal α, as :class:`skcamel.baselines.llsf._State` has them: arrays (q, C, d)."""

    def __init__(self, problem: LeastSquares, penalties: LLSFPenalties) -> None:
        alpha, self.problem = float(penalties.alpha[0]), problem
        self.L = problem.lipschitz(alpha)
        self.beta = to_device(penalties.beta, problem.device)[:, None]
        self.label_step = problem.tensor((-alpha / self.L) * problem.R)
        kept = problem.kept_part(self.L)
        self.kept_part = None if kept is None else problem.tensor(kept)
        self.rows = problem.tensor(dense(problem.rows))
        self.target_step = problem.tensor(problem.targets / self.L)[:, None]
        self.now = problem.tensor(problem.ridge.stacked(penalties.rho))
        self.moved = self.moved_before = self._moved()

    @property
    def W(self) -> np.ndarray:  # noqa: N802 (its name in the formulas)
        """The latest iterate, (q, C, d)."""
        return to_numpy(self.now)

    def _moved(self) -> Array:
        """P of the latest iterate."""
        shape, W = self.now.shape, self.now
        flat = W.reshape(-1, shape[2])
        kept = flat - (flat @ self.rows.T) @ self.rows / self.L if self.kept_part is None else flat @ self.kept_part
        return kept.reshape(shape) + (self.label_step @ W.reshape(shape[0], -1)).reshape(shape) + self.target_step

    def step(self, momentum: float) -> np.ndarray:
        """Move to the next iterate and return the monitored value of each candidate, (C,)."""
        U = self.moved + momentum * (self.moved - self.moved_before)
        threshold = (self.beta / self.L).to(U.dtype)
        self.now = U - U.clip(-threshold, threshold)  # soft thresholding
        self.moved_before, self.moved = self.moved, self._moved()
        inside = (self.now * (self.now - self.moved - self.target_step)).sum(dim=2).double().sum(dim=0)
        n_nonzero = (self.now != 0).sum(dim=(0, 2))
        return to_numpy(self.L * inside + self.problem.total + self.beta[:, 0] * n_nonzero)

    def keep(self, kept: np.ndarray) -> None:
        """Go on with these candidates alone."""
        own = np.flatnonzero(kept)
        self.beta = self.beta[own]
        self.now, self.moved, self.moved_before = (x[:, own] for x in (self.now, self.moved, self.moved_before))


class RobustRegressionOnDevice:
    """Iterates of JFSC, as :class:`skcamel.baselines.jfsc._State` has them: arrays (d, C, q)."""

    def __init__(self, problem: RobustRegression, penalties: JFSCPenalties) -> None:
        self.problem, tensor = problem, problem.tensor
        self.alpha, self.beta, self.gamma = (to_device(values, problem.device)[:, None] for values in penalties[:3])
        self.exact_rows = to_device(dense(problem.X), problem.device)
        self.rows, self.targets, self.S = tensor(dense(problem.X)), tensor(problem.targets), tensor(problem.S)
        self.label_distance, self.row_weights = tensor(problem.label_distance), to_device(problem.weights, problem.device)[:, None]
        self.now = self.before = tensor(problem.padded(problem.ridge.stacked(penalties.eta).transpose(2, 1, 0)))
        self.related = self.related_before = self._related()
        self.residual = self.residual_before = self._residual()
        self.lengths = self._lengths()
        start = np.random.default_rng(0).normal(size=(len(self.now), 1))
        self.direction = to_device(np.repeat(start, self.now.shape[1], axis=1), problem.device)  # of the power iteration

    @property
    def W(self) -> np.ndarray:  # noqa: N802 (its name in the formulas)
        """The latest iterate, (q, C, d)."""
        return to_numpy(self.now).transpose(2, 1, 0)[: len(self.problem.R)]

    def _related(self) -> Array:
        return (self.now.reshape(-1, self.now.shape[2]) @ self.label_distance).reshape(self.now.shape)

    def _residual(self) -> Array:
        return (self.rows @ self.now.reshape(len(self.now), -1)).reshape(-1, *self.now.shape[1:]) - self.targets

    def _lengths(self) -> Array:
        return (self.residual * self.residual).sum(dim=2).sqrt().double()

    def step(self, momentum: float) -> np.ndarray:
        """Move to the next iterate and return the monitored value of each candidate, (C,)."""
        weights = self.row_weights / self.lengths.clip(min=SMALLEST_RESIDUAL)
        L = self._lipschitz(weights)
        V, related, residual = (
            now + momentum * (now - before)
            for now, before in ((self.now, self.before), (self.related, self.related_before), (self.residual, self.residual_before))
        )
        shares = (self.alpha / L, self.beta / L, 1 / L, self.gamma / L)
        alpha, beta, whole, threshold = (share.to(V.dtype) for share in shares)
        residual *= weights.to(V.dtype)[:, :, None]
        gradient = (self.rows.T @ residual.reshape(len(residual), -1)).reshape(V.shape)
        V = V - (whole * gradient + alpha * related + beta * self.S * V)
        self.before, self.now = self.now, V - V.clip(-threshold, threshold)  # soft thresholding
        self.related_before, self.related = self.related, self._related()
        self.residual_before, self.residual = self.residual, self._residual()
        self.lengths = self._lengths()
        return self._objective()

    def _lipschitz(self, weights: Array) -> Array:
        """Step constants sqrt(3 (||X'DX||² + ||αR||² + β² max s²)), (C, 1); 1 where all is zero."""
        norm = self._norm(weights)
        others = (self.alpha * self.problem.label_norm) ** 2 + (self.beta * self.problem.fisher_norm) ** 2
        L = (3 * (norm[:, None] ** 2 + others)).sqrt()
        return L.where(L > 0, 1.0)

    def _norm(self, weights: Array) -> Array:
        """||X'DX||_2 of all candidates by power iteration, (C,)."""
        X, units = self.exact_rows, self.direction / self.direction.norm(dim=0).clip(min=SMALLEST_NORM)
        norm = units[0] * 0
        for _ in range(POWER_STEPS):
            images = X.T @ ((X @ units) * weights)
            norm = images.norm(dim=0)
            moving = norm - (units * images).sum(dim=0) > POWER_TOL * norm  # the angle between direction and image
            units = (images / norm.clip(min=SMALLEST_NORM)).where(norm > 0, units)
            if not bool(moving.any()):
                break
        self.direction = units
        return norm

    def _objective(self) -> np.ndarray:
        """J of all candidates, (C,)."""
        W = self.now
        parts = ((W * self.related).sum(dim=2) / 2, (W * self.S * W).sum(dim=2) / 2, W.abs().sum(dim=2))
        penalties = (self.alpha, self.beta, self.gamma)
        sums: Any = sum(penalty[:, 0] * part.double().sum(dim=0) for penalty, part in zip(penalties, parts, strict=True))
        return to_numpy((self.row_weights * self.lengths).sum(dim=0) + sums)

    def keep(self, kept: np.ndarray) -> None:
        """Go on with these candidates alone."""
        own = np.flatnonzero(kept)
        self.alpha, self.beta, self.gamma = (x[own] for x in (self.alpha, self.beta, self.gamma))
        names = ("lengths", "direction", "now", "before", "related", "related_before", "residual", "residual_before")
        self.__dict__ |= {name: getattr(self, name)[:, own] for name in names}
