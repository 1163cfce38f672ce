""":class:`JFSC` and :class:`JFSCCV`: joint feature selection and classification.

Huang et al., IEEE Transactions on Cybernetics 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray
from scipy import sparse

from skcamel.arrays import Array, namespace, to_device
from skcamel.baselines import proximal
from skcamel.baselines.base import Training
from skcamel.baselines.linear import (
    Axes,
    LinearBaseline,
    LinearSearch,
    Prepared,
    Values,
    powers,
)
from skcamel.baselines.proximal import Products, State, inner, rooted
from skcamel.camel.scaling import middle, shifted
from skcamel.checks import choice

SMALLEST_RESIDUAL = 1e-3  # shorter residuals weigh as much as this one
POWER_TOL = 1e-8  # 1 - cos of a direction and its image under X'DX at which power iteration ends
POWER_STEPS = 200
SMALLEST_NORM = np.finfo(np.float64).tiny  # of a direction, so that 0 / 0 is 0


def fisher(X: Array, Y: ndarray, weights: ndarray | None = None) -> ndarray:
    """Spread within the classes minus gap between them, of every label and feature: (q, d).

    With P and N the rows of X (n, d) with and without a label of Y (n, q) in {0, 1}, and m+, m-
    their means of the feature,
    s = Σ_P (x - m+)² + (|P| / |N|) Σ_N (x - m-)² - |P| (m+ - m-)²; 0 where P or N is empty. Weights
    (n,) enter all sums and counts.

    >>> X, Y = np.array([1.0, 3.0, 0.0, 0.0, 3.0]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    >>> fisher(X[:, None], Y[:, None])
    array([[4.]])
    """
    X = shifted(X, middle(X))  # changes nothing in s, and much in its rounding
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    w = np.ones(len(Y)) if weights is None else weights
    sizes = []
    means = []
    spreads = []
    for members in (w * Y.T, w * (1 - Y.T)):  # (q, n), inside and outside
        size = members.sum(axis=1)[:, None]
        mean = (members @ X) / np.where(size > 0, size, 1)
        sizes.append(size)
        means.append(mean)
        spreads.append(np.maximum(members @ squares - size * mean**2, 0))
    inside, outside = sizes
    share = inside / np.where(outside > 0, outside, 1)
    gap = means[0] - means[1]
    s = spreads[0] + share * spreads[1] - inside * gap**2
    return np.where((inside > 0) & (outside > 0), s, 0.0)


def inverse_lengths(lengths: Array) -> Array:
    """Weights D of the rows from the lengths of their residuals, which count as 1e-3 at least."""
    return 1 / namespace(lengths).clip(lengths, SMALLEST_RESIDUAL, None)


class RobustRegression(proximal.Problem):
    """What JFSC needs of training rows X (n, d) and targets Y (n, q), for all candidates.

    S (q, d) is the Fisher term, and `weights` (n,) are those of the training rows.
    """

    PENALTIES = ("alpha", "beta", "gamma", "eta")

    def __init__(
        self,
        X: Array,
        Y: ndarray,
        R: ndarray,
        S: ndarray,
        weights: ndarray | None = None,
        device: Any = None,
    ) -> None:
        ridge = proximal.Ridge(rooted(X, weights), rooted(Y, weights))
        super().__init__(X, R, ridge, device, 5 * len(Y))
        self.fisher_norm = float(np.abs(S).max())
        self.S = to_device(S.T, device)[:, None]
        self.targets = to_device(Y, device)[:, None]
        weights = np.ones(len(Y)) if weights is None else weights
        self.weights = to_device(weights, device)[:, None]

    def state(self, candidates: Sequence[Any]) -> State:
        """Also the directions from which power iterations start."""
        direction = np.random.default_rng(0).normal(size=self.X.shape[1])
        directions = to_device(np.tile(direction, (len(candidates), 1)), self.device)
        return super().state(candidates) | {"direction": directions}

    def products(self, W: Array, state: State) -> Products:
        """W R and the residuals XW - Y."""
        residual = proximal.product(self.X, W)
        residual -= self.targets
        return proximal.related(W, self.R), residual

    def gradient(self, V: Array, at_V: Products, latest: Products, state: State) -> Products:
        """X'D(XV - Y) + αVR + βS∘V; row weights D, and so L, are those of the latest iterate."""
        related, residual = at_V
        D = self.weights * inverse_lengths(_lengths(latest[1]))
        slope = proximal.product(self.X.T, D[:, :, None] * residual)
        slope += state["alpha"] * related
        slope += state["beta"] * self.S * V
        return slope, self._step_constants(D, state)

    def value(self, W: Array, products: Products, state: State) -> Array:
        """The objective J."""
        xp = namespace(W)
        related, residual = products
        alpha, beta, gamma = (state[name][:, 0] for name in ("alpha", "beta", "gamma"))
        losses = xp.sum(self.weights * _lengths(residual), axis=0)
        smooth = (alpha * inner(W, related) + beta * inner(W, self.S * W)) / 2
        return losses + smooth + gamma * xp.sum(xp.abs(W), axis=(0, 2))

    def _step_constants(self, D: Array, state: State) -> Array:
        """L = sqrt(3 (||X'DX||² + ||αR||² + β² max s²)), (C, 1); 1 where all is zero."""
        xp = namespace(D)
        norm, directions = weighted_norm(self.X, D, state["direction"].T)
        state["direction"] = directions.T
        of_labels = state["alpha"] * self.label_norm
        of_fisher = state["beta"] * self.fisher_norm
        L = xp.sqrt(3 * (norm[:, None] ** 2 + of_labels**2 + of_fisher**2))
        return xp.where(L > 0, L, 1.0)


def _lengths(residual: Array) -> Array:
    """Lengths of the rows of residuals (n, C, q)."""
    xp = namespace(residual)
    return xp.sqrt(xp.einsum("ncq,ncq->nc", residual, residual))


def weighted_norm(X: Array, D: Array, directions: Array) -> tuple[Array, Array]:
    """||X'DX||_2 of every candidate by power iteration, (C,), and the directions reached, (d, C).

    D (n, C) are the positive weights of the rows. A candidate is done when its direction stays.
    """
    xp = namespace(D)
    norm = 0 * D[0]
    units = directions
    transposed = X.T
    moving = norm == 0
    for _ in range(POWER_STEPS):
        lengths = xp.sqrt(xp.sum(units**2, axis=0))
        units = units / xp.clip(lengths, SMALLEST_NORM, None)
        images = transposed @ (D * (X @ units))
        reached = xp.sqrt(xp.sum(images**2, axis=0))
        turned = reached - xp.sum(units * images, axis=0) > POWER_TOL * reached
        norm = xp.where(moving, reached, norm)
        units = xp.where(moving & (reached > 0), images, units)
        moving = moving & turned
        if not bool(moving.any()):
            break
    return norm, units


@dataclass(eq=False, repr=False)
class BaseJFSC(LinearBaseline):
    """What JFSC learns from, with given or chosen penalties."""

    _: KW_ONLY
    intercept: bool = True
    PROBLEM = RobustRegression

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choice(self.intercept, (True, False), "intercept")

    def _problem(self, prepared: Prepared, data: Training, device: Any) -> RobustRegression:
        S = fisher(prepared.X, data.Y, data.weights)
        self.fisher_ = S[:, : self.n_features_in_]
        R = self.label_distance_
        return RobustRegression(prepared.X, prepared.Y, R, S, data.weights, device)


@dataclass(eq=False, repr=False)
class JFSC(BaseJFSC):
    """Joint feature selection and classification: sparse robust regression with a Fisher term.

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
        "faithful": a constant column is appended, penalised like any other. "fair": X and Y are
        centred.
    threshold, max_iter
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
    J(W) = ||XW - Y||_{2,1} + (α/2) tr(R W'W) + (β/2) Σ_k w_k' S_k w_k + γ ||W||_1 is not convex: R
    has negative eigenvalues, and S is negative for features that separate a label well. As for
    :class:`LLSF` the early-stopped sequence is the method. The authors published no code; this
    corrects a known reproduction. S has squares. The step constant
    L = sqrt(3 (||X'DX||² + ||αR||² + β² max s²)) follows the row weights D in every iteration.
    Residuals shorter than 1e-3 weigh as much as one of that length. J itself is monitored, and the
    run ends after `max_iter` iterations, when J changes by at most `tol`, or when J <= 0. None of
    these is a failure, so nothing warns. Row weights enter the lengths of the residuals, the
    cosines of R, the sums of S and the means of the fair preset. On dense features "fair" is
    better, as for LLSF.

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
        "paper": α, β and γ in 4^-5, 4^-4, …, 4^5 and η in 0.1, 1, 10, together 3 993 candidates.
        "coarse": every second power from 4^-4 to 4^4 and η = 0.1, 125 candidates.
    preset, intercept, threshold, max_iter, tol
        As in :class:`JFSC`.
    cv, scoring, device, random_state
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
        "coarse": powers(4, range(-4, 5, 2), ("alpha", "beta", "gamma")) | {"eta": (0.1,)},
        "paper": powers(4, range(-5, 6), ("alpha", "beta", "gamma")) | {"eta": (0.1, 1.0, 10.0)},
    }
    alphas: Values = None
    betas: Values = None
    gammas: Values = None
    etas: Values = None
