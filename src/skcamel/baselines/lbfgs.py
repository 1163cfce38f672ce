"""Many logistic problems over the same rows, minimised together: every step is two matrix products for all of them.

Limited-memory quasi-Newton (L-BFGS) with its own step length for each problem. Finished problems leave the batch.
After a few steps, a problem that is clearly not separable continues in the metric of the Gram matrix AᵀA / 4, an upper
bound of every Hessian: its optimum is the same, and a fifth of the steps reach it. The few that last even longer continue
with their own Hessians. Separable problems stay in the plain metric on purpose. Apart from the ridge they have no optimum, the
direction in which their weights diverge depends on the metric, and that of the Gram matrix predicts new rows far worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrs
from scipy.special import expit

if TYPE_CHECKING:
    from skcamel.baselines.logistic import Design

MEMORY = 10  # pairs of step and gradient change that model the curvature
SEPARATED = 1e-2  # total loss; below ln 2 every row is on its right side, if none weighs less than 1
CLEAR, PATIENCE = 3, 150  # steps after which overlapping problems, and all others, change the metric
OVERLAP, NEARLY_SEPARABLE = 0.5, 0.1  # shares of the first objective: above the one classes overlap, below the other hardly
SETTLED = 1e-7  # share of its objective by which the last step of an overlapping problem may still lower it
NEGLIGIBLE = 1e-9
REFRESH = 10  # steps after which a Hessian is computed again
WINDOW = 10  # steps over which the decrease of the objective is judged
HALVINGS = 25
BLOCK = 1 << 15  # numbers of a block of rows whose loss is computed at a time: 256 KiB stay in the cache
PER_PROBLEM = ("index", "total", "separated", "objective", "first_objective", "past_objective", "gain", "scale", "curved", "alone", "stuck")


@dataclass(frozen=True)
class Ending:
    """How each problem ended."""

    objective: np.ndarray  # (B,)
    n_iter: np.ndarray  # (B,)
    converged: np.ndarray  # (B,) bool


class Metric:
    """Cholesky factor of AᵀA / 4 (weighted, on average over the problems), made when first needed.

    Columns that some problems may not use are taken as orthogonal to all others, so that one factor serves all problems.
    """

    def __init__(self, A: Design, weights: np.ndarray | None, optional: np.ndarray, memory: int) -> None:
        self.A, self.weights, self.optional, self.memory = A, weights, optional, memory
        self.factor: np.ndarray | None = None
        self.offered = A.shape[1] <= A.shape[0] and 16 * A.shape[1] ** 2 <= memory

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Gradient in the metric; entries of optional columns that are 0 stay 0."""
        if self.factor is None:
            gram = self.A.gram(self.weights)
            diagonal = np.diagonal(gram) + 1e-4 * gram[0, 0]
            gram[self.optional] = gram[:, self.optional] = 0
            np.fill_diagonal(gram, diagonal)
            self.factor = np.asfortranarray(np.linalg.cholesky(gram / 4))
        return dpotrs(self.factor, gradient, lower=True)[0]


class Batch:
    """Problems that are still running: weights, margins, gradients and curvature, one column (or n_free) each."""

    def __init__(
        self,
        metric: Metric,
        targets: np.ndarray,  # (n, B * n_free)
        weights: np.ndarray | None,  # (n, B)
        allowed: np.ndarray | None,  # (D, B * n_free) bool
        n_free: int,
        penalty: np.ndarray,
    ) -> None:
        self.metric, self.A, self.n_free, self.penalty = metric, metric.A, n_free, penalty
        self.targets, self.weights, self.allowed = targets, weights, allowed
        n_problems = targets.shape[1] // n_free
        self.index = np.arange(n_problems)
        self.coef = np.zeros((self.A.shape[1], targets.shape[1]))
        self.total = np.full(n_problems, float(len(targets))) if weights is None else weights.sum(axis=0)
        lightest = 1.0 if weights is None else np.where(weights > 0, weights, 1.0).min(axis=0, initial=1.0)
        self.separated = np.full(n_problems, SEPARATED) * lightest
        self.coef[0] = self._start()
        self.margins = np.tile(self.coef[0], (self.A.shape[0], 1))
        self.objective, residual = loss_and_residual(self.margins, targets, weights, n_free)
        self.first_objective = self.past_objective = self.objective
        self.gain = np.full(n_problems, np.inf)  # of the last step
        self.gradient = self._gradient(residual)
        self.scale = 4 / self.total
        self.curved = np.zeros(n_problems, dtype=bool)  # in the metric of the Gram matrix
        self.alone = np.zeros(n_problems, dtype=bool)  # in the metric of their own Hessian
        self.stuck = np.zeros(n_problems, dtype=bool)
        self.history: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.factors: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # of those: columns and Cholesky factor

    def overlapping(self, share: float = OVERLAP) -> np.ndarray:
        """Problems whose objective is still above that share of the first one, (B,)."""
        return self.objective > share * self.first_objective

    def settled(self) -> np.ndarray:
        """Problems near their optimum: a step lowers an overlapping one by next to nothing, (B,).

        Not asked of several classes, of which a rare one can nearly always be separated and then has no optimum.
        """
        return np.full(len(self.index), self.n_free > 1) | ~self.overlapping(NEARLY_SEPARABLE) | (self.gain <= SETTLED * self.objective)

    def idle(self, share: float) -> np.ndarray:
        """Problems whose objective fell by at most `share` of itself since the last call, (B,)."""
        idle = self.past_objective - self.objective <= share * self.objective
        self.past_objective = self.objective
        return idle

    def keep(self, problems: np.ndarray) -> None:
        """Leave out all other problems."""
        columns = np.repeat(problems, self.n_free)
        for name in ("targets", "coef", "margins", "gradient", "allowed"):
            setattr(self, name, _some(getattr(self, name), columns))
        self.weights = _some(self.weights, problems)
        self.factors = {problem: factor for problem, factor in self.factors.items() if problem in self.index[problems]}
        for name in PER_PROBLEM:
            setattr(self, name, getattr(self, name)[problems])
        self.history = [(_some(s, columns), _some(y, columns), rho[problems]) for s, y, rho in self.history]

    def change_metric(self, problems: np.ndarray) -> None:
        """Go on in the metric of the Gram matrix."""
        new = problems & ~self.curved & ~self.alone
        if new.any() and self.metric.offered:
            self.curved = self.curved | new
            self._forget(new)

    def use_hessians(self, problems: np.ndarray) -> None:
        """Go on in the metric of each problem's Hessian at its present weights: for the few that last long."""
        if self.n_free > 1 or not self.metric.offered:  # of several classes it would be large
            return
        room = max(1, self.metric.memory // (16 * len(self.coef) ** 2))
        chosen = np.flatnonzero(problems)[:room]
        for b in chosen:
            self.factors[int(self.index[b])] = self._hessian_factor(b)
        new = np.zeros_like(problems)
        new[chosen] = True
        self.curved, self.alone = self.curved & ~new, self.alone | new
        self._forget(new)

    def _forget(self, problems: np.ndarray) -> None:
        """Leave out the curvature seen so far."""
        self.scale = np.where(problems, 1.0, self.scale)
        self.history = [(s, y, np.where(problems, 0.0, rho)) for s, y, rho in self.history]

    def step(self) -> None:
        """One quasi-Newton step of every problem."""
        direction = self._direction()
        slope = self._dot(self.gradient, direction)
        ahead = self.A.times(direction)
        lengths, objective, self.margins, residual = self._search(direction, ahead, slope)
        direction *= self._spread(lengths)
        self.coef += direction
        gradient = self._gradient(residual)
        self._remember(direction, gradient - self.gradient)
        self.gain = self.objective - objective
        self.objective, self.gradient = objective, gradient

    def _start(self) -> np.ndarray:
        """Intercepts log((n_c + 1) / (n_K + 1)) from the class counts."""
        counts = self.targets.sum(axis=0) if self.weights is None else (self._spread(self.weights) * self.targets).sum(axis=0)
        last = self.total - counts.reshape(-1, self.n_free).sum(axis=1)
        return np.log((counts + 1) / (self._spread(last) + 1))

    def _gradient(self, residual: np.ndarray) -> np.ndarray:
        gradient = self.A.back(residual)
        gradient += 2 * self.penalty * self.coef
        if self.allowed is not None:
            gradient *= self.allowed
        return gradient

    def _direction(self) -> np.ndarray:
        """The two-loop recursion for all problems at once."""
        d = -self.gradient
        shares: list[np.ndarray] = []
        for s, y, rho in reversed(self.history):
            share = rho * self._dot(s, d)
            d -= self._spread(share) * y
            shares.append(share)
        d = self._in_metric(d)
        d *= self._spread(self.scale)
        for b in np.flatnonzero(self.alone):
            columns, factor = self.factors[int(self.index[b])]
            d[columns, b] = dpotrs(factor, d[columns, b], lower=True)[0]
        for (s, y, rho), share in zip(self.history, reversed(shares), strict=True):
            d += self._spread(share - rho * self._dot(y, d)) * s
        return d

    def _in_metric(self, gradient: np.ndarray) -> np.ndarray:
        """Gradients of the problems that have changed the metric in that metric, all others as they are."""
        if not self.curved.any():
            return gradient
        columns = np.repeat(self.curved, self.n_free)
        answer = gradient.copy()
        answer[:, columns] = self._coupled(self.metric.solve(gradient[:, columns]))
        return answer

    def _hessian_factor(self, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns of a binary problem and the Cholesky factor of its Hessian, from the rows that still count."""
        p = expit(self.margins[:, b])
        bend = p * (1 - p) if self.weights is None else self.weights[:, b] * p * (1 - p)
        rows = np.flatnonzero(bend > NEGLIGIBLE * bend.max())
        root = self.A.rows(rows)
        root *= np.sqrt(bend[rows])[:, None]
        hessian = root.T @ root
        columns = np.arange(len(self.coef)) if self.allowed is None else np.flatnonzero(self.allowed[:, b])
        hessian = hessian[np.ix_(columns, columns)]
        diagonal = np.diag_indices_from(hessian)
        hessian[diagonal] += NEGLIGIBLE * hessian[diagonal].max()
        return columns, np.asfortranarray(np.linalg.cholesky(hessian))

    def _coupled(self, solved: np.ndarray) -> np.ndarray:
        """Classes share the last one: the bound of their Hessian is (I - 11ᵀ/K) ⊗ AᵀA / 2, whose inverse adds the sum to each."""
        if self.n_free == 1:
            return solved
        by_class = solved.reshape(len(solved), -1, self.n_free)
        return (by_class + by_class.sum(axis=2, keepdims=True)).reshape(solved.shape)

    def _search(self, direction: np.ndarray, ahead: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, ...]:
        """Step lengths of sufficient decrease with objective, margins and residual there; only element-wise work."""
        lengths, short = np.ones(len(slope)), np.ones(len(slope), dtype=bool)
        margins = self.margins + ahead
        objective, residual = self._at(self.coef + direction, margins, short)
        for _ in range(HALVINGS):
            gain = self.objective - objective
            short = ~(gain >= -1e-4 * lengths * slope)
            if not short.any():
                break
            bend = -gain - lengths * slope  # above the tangent: the minimum of the parabola is the next guess
            guess = np.where(bend > 0, -slope * lengths / (2 * np.where(bend > 0, bend, 1)), 0.1)
            lengths = np.where(short, lengths * np.clip(guess, 0.1, 0.5), lengths)
            columns = np.repeat(short, self.n_free)
            long = self._spread(lengths)[columns]
            coef = _some(self.coef, columns) + long * _some(direction, columns)
            nearer = _some(self.margins, columns) + long * _some(ahead, columns)
            objective[short], residual[:, columns] = self._at(coef, nearer, short)
            margins[:, columns] = nearer
        self.stuck = ~(objective < self.objective)  # they end with their present weights
        return np.where(self.stuck, 0.0, lengths), np.where(self.stuck, self.objective, objective), margins, residual

    def _at(self, coef: np.ndarray, margins: np.ndarray, problems: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Objective and residual of some problems at given weights."""
        targets = _some(self.targets, np.repeat(problems, self.n_free))
        loss, residual = loss_and_residual(margins, targets, _some(self.weights, problems), self.n_free)
        return loss + (self.penalty * coef**2).sum(axis=0).reshape(-1, self.n_free).sum(axis=1), residual

    def _remember(self, step: np.ndarray, change: np.ndarray) -> None:
        """Keep a pair and the scale that it suggests; a pair without curvature is ignored."""
        bend = self._dot(step, change)
        told = bend > 0
        rho = np.where(told, 1 / np.where(told, bend, 1), 0.0)
        length = self._dot(change, self._in_metric(change))
        scaled = told & ~self.alone & (length > 0)  # a Hessian has the right scale
        self.scale = np.where(scaled, bend / np.where(scaled, length, 1), self.scale)
        self.history = [*self.history[-(MEMORY - 1) :], (step, change, rho)]

    def _dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        dots = np.einsum("ij,ij->j", a, b)
        return dots if self.n_free == 1 else dots.reshape(-1, self.n_free).sum(axis=1)

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """Values (..., B), one per problem ► (..., B * n_free), one per column."""
        return values if self.n_free == 1 else np.repeat(values, self.n_free, axis=-1)


def _some(matrix: Any, columns: np.ndarray) -> Any:
    """Chosen columns of a matrix, if there is one, row after row in memory: plain indexing would give column after column."""
    return matrix if matrix is None or columns.all() else np.compress(columns, matrix, axis=1)


def minimise(batch: Batch, *, tol: float, max_iter: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Run a batch to its end: weights (D, B * n_free), objective, number of steps and whether it converged, (B,) each.

    A problem ends when no entry of its gradient exceeds `tol` times the total weight of the rows and, if its classes overlap,
    the last step lowered its objective by at most a ten-millionth; when its loss is below 0.01 (of the lightest weight, if
    that is below 1), far below the ln 2 that proves its rows separable; when ten steps lower its objective by at most
    `tol` / 100 of it, because some weights diverge without effect; or after `max_iter` steps, which alone counts as not
    converged.
    """
    hessians_pay = min(PATIENCE, 10 + len(batch.coef) // 8)  # a Hessian costs as much as len(batch.coef) / 4 steps
    n_problems = len(batch.index)
    coef, objective = batch.coef.copy(), batch.objective.copy()
    n_iter, converged = np.zeros(n_problems, dtype=int), np.zeros(n_problems, dtype=bool)
    for iteration in range(max_iter + 1):
        steepest = np.abs(batch.gradient).max(axis=0).reshape(-1, batch.n_free).max(axis=1)
        done = (steepest <= tol * batch.total) & batch.settled() | (batch.objective <= batch.separated) | batch.stuck
        if iteration and iteration % WINDOW == 0:
            done |= batch.idle(0.01 * tol)
        leaving = done if iteration < max_iter else np.ones_like(done)
        if leaving.any():
            index = batch.index[leaving]
            columns = (index[:, None] * batch.n_free + np.arange(batch.n_free)).ravel()
            coef[:, columns] = batch.coef[:, np.repeat(leaving, batch.n_free)]
            objective[index], n_iter[index], converged[index] = batch.objective[leaving], iteration, done[leaving]
            batch.keep(~leaving)
        if not len(batch.index):
            break
        if iteration >= CLEAR:
            batch.change_metric(batch.overlapping() | (iteration >= PATIENCE))
        if iteration >= hessians_pay and (iteration - hessians_pay) % REFRESH == 0:
            batch.use_hessians(batch.overlapping(NEARLY_SEPARABLE) | (iteration >= PATIENCE))
        batch.step()
    return coef, objective, n_iter, converged


def loss_and_residual(margins: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, n_free: int) -> tuple[np.ndarray, np.ndarray]:
    """Sum of -log p over the rows for every problem, (B,), and its derivative by the margins, weighted p - y, (n, B * n_free).

    Columns b * n_free ... (b + 1) * n_free - 1 of margins and targets (n, B * n_free) belong to problem b. A target is 1 in the
    column of a row's class, else 0. The last class has no column and the margin 0. Weights are (n, B).

    >>> loss, residual = loss_and_residual(np.zeros((2, 1)), np.array([[1.0], [0.0]]), None, 1)
    >>> loss.round(4), residual[:, 0]
    (array([1.3863]), array([-0.5,  0.5]))
    """
    n, n_columns = margins.shape
    residual = np.empty_like(margins)
    loss = np.zeros(n_columns // n_free)
    step = max(1, BLOCK // max(1, n_columns))
    of_block = _binary if n_free == 1 else _softmax
    for start in range(0, n, step):
        rows = slice(start, start + step)
        loss += of_block(margins[rows], targets[rows], None if weights is None else weights[rows], residual[rows], n_free)
    return loss, residual


def _binary(z: np.ndarray, y: np.ndarray, w: np.ndarray | None, residual: np.ndarray, _: int) -> np.ndarray:
    """Two classes: log(1 + exp(z)) - y z, without overflow."""
    soft = np.abs(z)
    np.negative(soft, out=soft)
    np.exp(soft, out=soft)
    np.log1p(soft, out=soft)
    soft += np.maximum(z, 0)
    np.subtract(z, soft, out=residual)  # log p
    np.exp(residual, out=residual)
    residual -= y
    soft -= y * z
    if w is None:
        return soft.sum(axis=0)
    residual *= w
    return np.einsum("ij,ij->j", w, soft)


def _softmax(margins: np.ndarray, targets: np.ndarray, w: np.ndarray | None, residual: np.ndarray, n_free: int) -> np.ndarray:
    """More classes: log(1 + Σ exp(z_c)) - z_y, without overflow."""
    shape = (len(margins), -1, n_free)
    z, y = margins.reshape(shape), targets.reshape(shape)
    top = np.maximum(z.max(axis=2), 0)
    e = np.exp(z - top[:, :, None])
    total = e.sum(axis=2) + np.exp(-top)
    rows_loss = np.log(total) + top - (y * z).sum(axis=2)
    e /= total[:, :, None]
    e -= y
    if w is not None:
        e *= w[:, :, None]
        rows_loss *= w
    residual[:] = e.reshape(residual.shape)
    return rows_loss.sum(axis=0)
