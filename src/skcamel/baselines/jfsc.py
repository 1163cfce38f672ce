""":class:`JFSC` and :class:`JFSCCV`: joint feature selection and classification (Huang et al., IEEE Transactions on Cybernetics 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.baselines import proximal
from skcamel.baselines.linear import Axes, LinearBaseline, LinearSearch, Prepared, prepare
from skcamel.baselines.proximal import POWER_STEPS, POWER_TOL, SMALLEST_RESIDUAL
from skcamel.baselines.search import powers
from skcamel.baselines.tensors import RobustRegressionOnDevice
from skcamel.checks import check_flag
from skcamel.rows import middle, shifted

BLOCK = 2**17  # residuals of a block of rows, which stay in the cache between its passes


class JFSCPenalties(NamedTuple):
    """One entry per candidate, (C,) each."""

    alpha: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    eta: np.ndarray


def fisher(X: Array, Y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Spread within the classes minus gap between them, of every label and feature: (q, d).

    With P and N the rows of X (n, d) with and without a label of Y (n, q) in {0, 1}, and m+, m- their means of the feature,
    s = Σ_P (x - m+)² + (|P| / |N|) Σ_N (x - m-)² - |P| (m+ - m-)²; 0 where P or N is empty. Weights (n,) enter all sums and counts.

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


def inverse_lengths(lengths: np.ndarray) -> np.ndarray:
    """Weights D of the rows, (n, C), from the lengths of their residuals, which count as 1e-3 at least."""
    return 1 / np.maximum(lengths, SMALLEST_RESIDUAL)


class _State:
    """Iterates of JFSC as arrays (d, C, q), so that neither X (n, d) nor R (q, q) meets a transposed factor.

    The residuals and the products with R of the last two are kept: one product with X, one with X' and one with R make a step.
    """

    def __init__(self, problem: RobustRegression, penalties: JFSCPenalties) -> None:
        self.problem = problem
        self.alpha, self.beta, self.gamma = (values[:, None] for values in penalties[:3])
        self.now = self.before = problem.padded(problem.ridge.stacked(penalties.eta).transpose(2, 1, 0))
        self.related = self.related_before = problem.related(self.now)
        self.residual, self.residual_before = (np.empty((problem.X.shape[0], *self.now.shape[1:]), dtype=problem.dtype) for _ in range(2))
        self.lengths = problem.residual(self.now, self.residual)
        self.residual_before[:] = self.residual
        start = np.random.default_rng(0).normal(size=(len(self.now), 1))
        self.direction = np.repeat(start, self.now.shape[1], axis=1)  # of the power iteration

    @property
    def W(self) -> np.ndarray:  # noqa: N802 (its name in the formulas)
        return self.now.transpose(2, 1, 0)[: len(self.problem.R)]

    def step(self, momentum: float) -> np.ndarray:
        problem = self.problem
        weights = problem.weights[:, None] * problem.row_weights(self.lengths)
        L = self._lipschitz(weights)
        V, related = (now + momentum * (now - before) for now, before in ((self.now, self.before), (self.related, self.related_before)))
        gradient = problem.pulled_back(self.residual, self.residual_before, momentum, weights.astype(problem.dtype))
        shares = (self.alpha / L, self.beta / L, 1 / L, self.gamma / L)
        alpha, beta, whole, threshold = (share.astype(problem.dtype) for share in shares)
        gradient *= whole
        related *= alpha
        gradient += related
        gradient += beta * problem.S * V
        V -= gradient
        self.before, self.now = self.now, np.subtract(V, np.clip(V, -threshold, threshold, out=gradient), out=V)  # soft thresholding
        self.related_before, self.related = self.related, problem.related(self.now)
        self.residual_before, self.residual = self.residual, self.residual_before
        self.lengths = problem.residual(self.now, self.residual)
        return self._objective()

    def _lipschitz(self, weights: np.ndarray) -> np.ndarray:
        """Step constants sqrt(3 (||X'DX||² + ||αR||² + β² max s²)), (C, 1); 1 where all is zero."""
        norm, self.direction = weighted_norm(self.problem.X, weights, self.direction)
        others = (self.alpha * self.problem.label_norm) ** 2 + (self.beta * self.problem.fisher_norm) ** 2
        L = np.sqrt(3 * (norm[:, None] ** 2 + others))
        return np.where(L > 0, L, 1.0)

    def _objective(self) -> np.ndarray:
        """J of all candidates, (C,)."""
        W = self.now
        correlation, spread = (np.einsum("dcq,dcq->dc", W, x) for x in (self.related, self.problem.S * W))
        parts = (correlation / 2, spread / 2, np.abs(W).sum(axis=2))
        penalties = (self.alpha, self.beta, self.gamma)
        sums = (penalty[:, 0] * part.sum(axis=0, dtype=np.float64) for penalty, part in zip(penalties, parts, strict=True))
        return self.problem.weights @ self.lengths + sum(sums)

    def keep(self, kept: np.ndarray) -> None:
        self.alpha, self.beta, self.gamma = (x[kept] for x in (self.alpha, self.beta, self.gamma))
        self.lengths, self.direction = (x.compress(kept, axis=1) for x in (self.lengths, self.direction))
        self.now, self.before, self.related, self.related_before, self.residual, self.residual_before = (
            x.compress(kept, axis=1)
            for x in (self.now, self.before, self.related, self.related_before, self.residual, self.residual_before)
        )


class RobustRegression(proximal.Problem):
    """What JFSC needs of training rows X (n, d) and targets Y (n, q), computed once for all candidates.

    Targets are labels in {0, 1}, centred or not; R (q, q) holds the cosine distances of the labels, S (q, d) the Fisher term.
    `row_weights` turns the lengths of residuals (n, C) into D (n, C); `weights` (n,) are those of the training rows.
    """

    state: ClassVar[Any] = _State
    state_on_device: ClassVar[Any] = RobustRegressionOnDevice

    def __init__(
        self,
        X: Array,
        Y: np.ndarray,
        R: np.ndarray,
        S: np.ndarray,
        row_weights: Callable[[np.ndarray], np.ndarray] = inverse_lengths,
        weights: np.ndarray | None = None,
        arithmetic: proximal.Arithmetic = proximal.DOUBLE,
    ) -> None:
        super().__init__(X, R, arithmetic)
        self.fisher_norm, self.row_weights = float(np.abs(S).max()), row_weights
        self.S = self.padded(S.T)[:, None]  # (d, 1, q)
        self.label_distance = self.padded(self.padded(R).T)
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        self.targets = self.padded(Y)[:, None]  # (n, 1, q)
        self.ridge = proximal.Ridge(proximal.rooted(X, weights), proximal.rooted(Y, weights))
        n, d = X.shape
        size, rows = max(1, BLOCK // len(R)), X.astype(self.dtype)
        self.blocks = [(slice(first, first + size), rows[first : first + size]) for first in range(0, n, size)]
        self.bytes_each = self.dtype.itemsize * self.targets.shape[-1] * (4 * n + 12 * d)  # of arrays alive at the peak, with temporaries

    def padded(self, values: np.ndarray) -> np.ndarray:
        """The same with columns of zeros up to the next multiple of four, so that rows of labels start where vectors of the processor do.

        Such labels have no weights and keep none.
        """
        q = values.shape[-1]
        wide = np.zeros((*values.shape[:-1], q + -q % 4), dtype=self.dtype)
        wide[..., :q] = values
        return wide

    def residual(self, W: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Writes XW - Y of all candidates W (d, C, q) to `out` (n, C, q), and returns the lengths of the rows (n, C)."""
        lengths = np.empty(out.shape[:2])
        for rows, X in self.blocks:
            part = np.subtract((X @ W.reshape(len(W), -1)).reshape(-1, *W.shape[1:]), self.targets[rows], out=out[rows])
            lengths[rows] = np.sqrt(np.einsum("ncq,ncq->nc", part, part))
        return lengths

    def pulled_back(self, now: np.ndarray, before: np.ndarray, momentum: float, weights: np.ndarray) -> np.ndarray:
        """X'D of the residuals at the extrapolated point, (d, C, q), from those of the last two iterates, and D (n, C)."""
        total = np.zeros((self.X.shape[1], np.prod(now.shape[1:])), dtype=self.dtype)
        for rows, X in self.blocks:
            part = now[rows] - before[rows]
            part *= momentum
            part += now[rows]
            part *= weights[rows, :, None]
            total += X.T @ part.reshape(len(part), -1)
        return total.reshape(-1, *now.shape[1:])

    def related(self, W: np.ndarray) -> np.ndarray:
        """W R of all candidates, (d, C, q)."""
        return (W.reshape(-1, W.shape[-1]) @ self.label_distance).reshape(W.shape)


def weighted_norm(X: Array, weights: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """||X'DX||_2 of every candidate by power iteration, (C,), and the directions reached, (d, C), from which the next may start.

    `weights` (n, C) are the diagonals of D, positive; the iteration starts at `direction` (d, C).
    """
    norm, moving = np.zeros(weights.shape[1]), np.ones(weights.shape[1], dtype=bool)
    direction = direction / np.maximum(np.linalg.norm(direction, axis=0), np.finfo(np.float64).tiny)
    for _ in range(POWER_STEPS):
        units = direction[:, moving]
        images = X.T @ ((X @ units) * weights[:, moving])
        norm[moving] = reached = np.linalg.norm(images, axis=0)
        direction[:, moving] = np.where(reached > 0, images / np.where(reached > 0, reached, 1), units)
        moving[moving] = reached - np.einsum("dc,dc->c", units, images) > POWER_TOL * reached  # the angle between direction and image
        if not moving.any():
            break
    return norm, direction


@dataclass(eq=False, repr=False)
class BaseJFSC(LinearBaseline):
    """What JFSC learns from, with given or chosen penalties."""

    _: KW_ONLY
    intercept: bool = True
    PENALTIES: ClassVar[type[JFSCPenalties]] = JFSCPenalties

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("intercept", self.intercept)

    def _problem(
        self, X: Array, Y: np.ndarray, weights: np.ndarray | None, arithmetic: proximal.Arithmetic = proximal.DOUBLE
    ) -> tuple[Prepared, RobustRegression]:
        prepared = prepare(self.preset, X, Y, weights, intercept=self.intercept)
        self.label_distance_ = proximal.label_distance(Y, weights)
        S = fisher(prepared.X, Y, weights)
        self.fisher_ = prepared.placed(S)[:, : X.shape[1]]
        return prepared, RobustRegression(prepared.X, prepared.Y, self.label_distance_, S, weights=weights, arithmetic=arithmetic)


@dataclass(eq=False, repr=False)
class JFSC(BaseJFSC):
    """Joint feature selection and classification: sparse regression with robust residuals and a Fisher term.

    Parameters
    ----------
    alpha : float >= 0, default=4**-2
        Weight of the correlation term.
    beta : float >= 0, default=4**-2
        Weight of the Fisher term.
    gamma : float >= 0, default=4**-2
        Weight of the l1 penalty.
    eta : float > 0, default=0.1
        Penalty of the ridge regression from which the sequence starts.
    preset : {"faithful", "fair"}, default="faithful"
        "faithful": rows of unit length. "fair": columns mapped to [0, 1].
    intercept : bool, default=True
        "faithful": a constant column is appended, penalised like any other. "fair": X and Y are centred.
    threshold, threshold_metric, max_iter
        As in :class:`LLSF`.
    tol : float, default=1e-4
        The sequence ends when the objective changes by at most this.

    Attributes
    ----------
    fisher_ : array of shape (q, d)
        S, spread within minus gap between the rows with and without each label.

    All other attributes are those of :class:`LLSF`.

    Notes
    -----
    J(W) = ||XW - Y||_{2,1} + (α/2) tr(R W'W) + (β/2) Σ_k w_k' S_k w_k + γ ||W||_1 is not convex: R has negative
    eigenvalues, and S is negative for features that separate a label well. As for :class:`LLSF` the early-stopped sequence
    is the method. The authors published no code; this corrects a known reproduction. S has squares. The step constant
    L = sqrt(3 (||X'DX||² + ||αR||² + β² max s²)) follows the row weights D in every iteration. Residuals shorter than 1e-3
    weigh as much as one of that length. J itself is monitored, and the run ends after `max_iter` iterations, when J changes by
    at most `tol`, or when J <= 0. None of these is a failure, so nothing warns. Row weights enter the lengths of the
    residuals, the cosines of R, the sums of S and the means of the fair preset. On dense features "fair" is better, as for LLSF.
    Unknown labels (NaN) are filled as for LLSF; such an entry counts in S partly as inside and partly as outside its label.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = JFSC(threshold="tuned").fit(X, Y)
    >>> model.predict(X[:2]).shape, model.coef_.shape
    ((2, 4), (4, 20))
    """

    alpha: float = 4**-2
    beta: float = 4**-2
    gamma: float = 4**-2
    eta: float = 0.1


@dataclass(eq=False, repr=False)
class JFSCCV(LinearSearch, BaseJFSC):
    """JFSC with its penalties chosen by folds.

    Parameters
    ----------
    alphas, betas, gammas, etas : sequence of floats, default=None
        Values of each penalty; None takes those of `grid`.
    grid : {"coarse", "paper"}, default="coarse"
        "paper": α, β and γ in 4^-5, 4^-4, …, 4^5 and η in 0.1, 1, 10, together 3 993 candidates. "coarse": every second power
        from 4^-4 to 4^4 and η = 0.1, 125 candidates.
    preset, intercept, threshold, threshold_metric, max_iter, tol
        As in :class:`JFSC`, the tuning of cuts as in :class:`LLSFCV`.
    cv, scoring, precision, device, memory_budget, race, random_state
        As in :class:`LLSFCV`.

    Attributes
    ----------
    alpha_, beta_, gamma_, eta_ : float
        The choice.
    best_score_, best_params_, best_index_, scoring_, cv_results_
        As in :class:`LLSFCV`.

    All other attributes are those of :class:`JFSC`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = JFSCCV(alphas=[0.1], betas=[0.0, 0.1], gammas=[0.1, 1.0], cv=3).fit(X, Y)
    >>> model.cv_results_["mean_test_score"].shape, sorted(model.best_params_)
    ((4,), ['alpha', 'beta', 'eta', 'gamma'])
    """

    GRIDS: ClassVar[dict[str, Axes]] = {
        "coarse": {name: powers(4, range(-4, 5, 2)) for name in ("alpha", "beta", "gamma")} | {"eta": (0.1,)},
        "paper": {name: powers(4, range(-5, 6)) for name in ("alpha", "beta", "gamma")} | {"eta": (0.1, 1.0, 10.0)},
    }
    alphas: Sequence[float] | None = None
    betas: Sequence[float] | None = None
    gammas: Sequence[float] | None = None
    etas: Sequence[float] | None = None
