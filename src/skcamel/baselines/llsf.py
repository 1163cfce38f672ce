""":class:`LLSF` and :class:`LLSFCV`: label-specific features by sparse linear regression.

Huang et al., ICDM 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy import ndarray

from skcamel.arrays import Array, dense, namespace, to_device
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
from skcamel.baselines.proximal import Products, State, inner


class LeastSquares(proximal.Problem):
    """What LLSF needs of training rows X (n, d) and targets Y (n, q), for all candidates.

    The gradient G(W) = X'XW - X'Y + αWR is affine, so one product with X'X serves the step and the
    monitored value.
    """

    PENALTIES = ("alpha", "beta", "rho")

    def __init__(self, X: Array, Y: ndarray, R: ndarray, device: Any = None) -> None:
        super().__init__(X, R, proximal.Ridge(X, Y), device, 0)
        self.gram: Array | None = None  # of many columns; two thin products are cheaper
        if X.shape[1] <= 2 * X.shape[0]:
            self.gram = to_device(np.asfortranarray(dense(X.T @ X)), device)
        self.targets = to_device(X.T @ Y, device)[:, None]
        self.total = float(np.sum(Y * Y))

    def products(self, W: Array, state: State) -> Products:
        """The gradient."""
        if self.gram is None:
            fitted = proximal.product(self.X.T, proximal.product(self.X, W))
        else:
            fitted = proximal.product(self.gram, W)
        related = proximal.related(W, self.R)
        related *= state["alpha"]
        fitted += related
        fitted -= self.targets
        return (fitted,)

    def gradient(self, V: Array, at_V: Products, latest: Products, state: State) -> Products:
        """With the step constants L = sqrt(2 (||X'X||² + ||αR||²)); 1 where all is zero."""
        xp = namespace(V)
        L = xp.sqrt(2 * (self.ridge.norm**2 + (state["alpha"] * self.label_norm) ** 2))
        return at_V[0], xp.where(L > 0, L, 1.0)

    def value(self, W: Array, products: Products, state: State) -> Array:
        """T = ||XW - Y||² + α tr(R W'W) + β nnz(W) = <W, G - X'Y> + ||Y||² + β nnz(W)."""
        n_nonzero = namespace(W).sum(W != 0, axis=(0, 2))
        squares = inner(W, products[0] - self.targets) + self.total
        return squares + state["beta"][:, 0] * n_nonzero


class BaseLLSF(LinearBaseline):
    """What LLSF learns from, with given or with chosen penalties."""

    PROBLEM = LeastSquares

    def _problem(self, prepared: Prepared, data: Training, device: Any) -> LeastSquares:
        rows = proximal.rooted(prepared.X, data.weights)
        targets = proximal.rooted(prepared.Y, data.weights)
        return LeastSquares(rows, targets, self.label_distance_, device)


@dataclass(eq=False, repr=False)
class LLSF(BaseLLSF):
    """Label-specific features: sparse regression that pushes dissimilar labels to unlike weights.

    Parameters
    ----------
    alpha : float >= 0, default=2**-3
        Weight of the correlation term.
    beta : float >= 0, default=2**-3
        Weight of the l1 penalty.
    rho : float > 0, default=0.1
        Penalty of the ridge regression from which the sequence starts.
    preset : {"faithful", "fair"}, default="faithful"
        "faithful": rows of unit length, no intercept, as the authors do. "fair": columns mapped to
        [0, 1], intercept.
    threshold : as in :class:`BinaryRelevance`, or "tuned", default="zero"
        "tuned" is the authors' rule: of 51 thresholds between F = 0 and the largest F of the
        training rows the first with the best example-based F1 there.
    max_iter : int, default=100
        Iterations at most; 0 gives the ridge regression.
    tol : float, default=1e-4
        The sequence ends when the monitored value T changes by at most this. (The authors use 1e-2
        while tuning.)

    Attributes
    ----------
    coef_ : array of shape (q, d)
        Weights of the scaled features.
    intercept_ : array of shape (q,)
    label_distance_ : array of shape (q, q)
        R, the cosine distances of the label columns.
    n_iter_ : int

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    J(W) = ½ ||XW - Y||² + (α/2) tr(R W'W) + β ||W||_1 has no minimum in general: R has negative
    eigenvalues, and J falls without bound unless λ_min(X'X) + α λ_min(R) >= 0. So the method *is*
    its early-stopped sequence; start, step L = sqrt(2 (||X'X||² + ||αR||²)), momentum and stop
    belong to it. The run ends after `max_iter` iterations, when
    T = ||XW - Y||² + α tr(R W'W) + β nnz(W) changes by at most `tol`, or when T <= 0; that is no
    failure, so nothing warns. Row weights weight the squares, the cosines of R and the means of the
    fair preset.

    On dense numeric features rows of unit length and no intercept cost much accuracy, so the
    faithful preset carries scikit-learn's tag `poor_score`; the fair preset does not.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = LLSF(preset="fair").fit(X, Y)
    >>> model.predict(X[:2]).shape, model.coef_.shape
    ((2, 4), (4, 20))
    """

    alpha: float = 2**-3
    beta: float = 2**-3
    rho: float = 0.1


@dataclass(eq=False, repr=False)
class LLSFCV(LinearSearch, BaseLLSF):
    """LLSF with its penalties chosen by folds.

    Parameters
    ----------
    alphas, betas, rhos : sequence of floats, default=None
        Values of each penalty; None takes those of `grid`.
    grid : {"coarse", "paper"}, default="coarse"
        "paper": α and β in 2^-10, 2^-9, …, 2^10 and ρ in 0.1, 1, 10, together 1 323 candidates.
        "coarse": every third power from 2^-9 to 2^9 and the same ρ, 147 candidates.
    preset, threshold, max_iter, tol
        As in :class:`LLSF`. Candidates are compared by decisions at F = 1/2, at given thresholds or
        at those of the authors' rule; other tuned thresholds are those of the choice. (The authors
        stop earlier, at tol=1e-2, while tuning.)
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many folds as in scikit-learn: in the order of the rows, or shuffled where
        `random_state` is given.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. If it is undefined on every row (a
        ranking metric with one label), the Hamming loss takes its place, and `scoring_` says so.
    device : str, default=None
        "cuda" iterates the sequences that are compared on a GPU, all candidates together; the model
        itself is learned on the CPU.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`.

    Attributes
    ----------
    alpha_, beta_, rho_ : float
        The choice.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated. Equal scores: the first in the order of the grid.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>,
        losses negated; with more than one fold also std_test_score and split<k>_test_score.

    All other attributes are those of :class:`LLSF`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = LLSFCV(betas=[0.1, 1.0], preset="fair").fit(X, Y)
    >>> len(model.cv_results_["params"]), sorted(model.best_params_)
    (42, ['alpha', 'beta', 'rho'])
    """

    GRIDS: ClassVar[dict[str, Axes]] = {
        "coarse": powers(2, range(-9, 10, 3), ("alpha", "beta")) | {"rho": (0.1, 1.0, 10.0)},
        "paper": powers(2, range(-10, 11), ("alpha", "beta")) | {"rho": (0.1, 1.0, 10.0)},
    }
    alphas: Values = None
    betas: Values = None
    rhos: Values = None
