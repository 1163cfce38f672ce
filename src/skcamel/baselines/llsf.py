""":class:`LLSF`: learning label-specific features by sparse linear regression (Huang et al., ICDM 2015)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines import presets, proximal
from skcamel.baselines.least_squares import LeastSquares, Penalties
from skcamel.baselines.linear import LinearBaseline, columns
from skcamel.checks import check_not_negative, check_positive


class BaseLLSF(LinearBaseline):
    """What LLSF learns from, with given or with chosen penalties."""

    def _problem(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> tuple[presets.Prepared, LeastSquares]:
        prepared = presets.prepare(self.preset, X, Y, weights, intercept=self.preset == "fair")
        self.label_distance_ = proximal.label_distance(Y, weights)
        rows, targets = (proximal.rooted(part, weights) for part in (prepared.X, prepared.Y))
        return prepared, LeastSquares(rows, targets, self.label_distance_)

    def _penalties(self, candidates: Sequence[Mapping[str, float]]) -> Penalties:
        return columns(Penalties, candidates)


class LLSF(BaseLLSF):
    """Label-specific features: sparse linear regression in which dissimilar labels are pushed to dissimilar weights.

    Parameters
    ----------
    alpha : float >= 0, default=2**-3
        Weight of the correlation term.
    beta : float >= 0, default=2**-3
        Weight of the l1 penalty.
    rho : float > 0, default=0.1
        Penalty of the ridge regression from which the sequence starts.
    preset : {"faithful", "fair"}, default="faithful"
        "faithful": rows of unit length, no intercept, as the authors do. "fair": columns mapped to [0, 1], intercept.
    threshold : {"zero", "common", "label", "tuned"} or float, default="zero"
        Cut between scores F - 1/2 and decisions: 0, one tuned cut, one tuned cut per label, or a number. "common" and "label" are
        tuned on the scores of 5 shuffled inner folds; cuts of rare labels are drawn towards the common cut. "tuned" is the rule
        of the authors' line: of 51 cuts between F = 0 and the largest F of the training rows the first with the best example-based F1
        there.
    threshold_metric : {"micro_f1", "macro_f1", "hamming_loss"}, default=None
        What "common" and "label" aim at; None: micro_f1 for "common", macro_f1 for "label".
    max_iter : int, default=100
        Iterations at most; 0 gives the ridge regression.
    tol : float, default=1e-4
        The sequence ends when the monitored value T changes by no more. (The authors use 1e-2 while tuning.)

    Attributes
    ----------
    coef_ : array of shape (q, d)
        Weights of the scaled features.
    intercept_ : array of shape (q,)
    label_distance_ : array of shape (q, q)
        R, the cosine distances of the label columns.
    thresholds_ : array of shape (q,)
        Cuts; a label is predicted where its score exceeds its cut.
    n_iter_ : int
    label_names_ : array of shape (q,)

    Notes
    -----
    J(W) = ½ ||XW - Y||² + (α/2) tr(R W'W) + β ||W||_1 has no minimum in general: R has negative eigenvalues, and J falls
    without bound unless λ_min(X'X) + α λ_min(R) >= 0. So the method *is* its early-stopped sequence; start, step
    L = sqrt(2 (||X'X||² + ||αR||²)), momentum and stop belong to it. The run ends after `max_iter` iterations, when
    T = ||XW - Y||² + α tr(R W'W) + β nnz(W) changes by at most `tol`, or when T <= 0; that is no failure, so nothing warns.
    Row weights weight the squares, the cosines of R and the means of the fair preset.

    On dense numeric features rows of unit length and no intercept cost much accuracy, so the faithful preset carries
    scikit-learn's tag `poor_score`; the fair preset does not.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = LLSF(preset="fair").fit(X, Y)
    >>> model.predict(X[:2]).shape, model.coef_.shape
    ((2, 4), (4, 20))
    """

    def __init__(
        self,
        alpha: float = 2**-3,
        beta: float = 2**-3,
        rho: float = 0.1,
        *,
        preset: str = "faithful",
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        max_iter: int = proximal.MAX_ITER,
        tol: float = proximal.TOL,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.rho = rho
        self.preset = preset
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative("alpha", self.alpha)
        check_not_negative("beta", self.beta)
        check_positive("rho", self.rho)

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        self._learn_with(X, Y, weights, {name: getattr(self, name) for name in Penalties._fields})
