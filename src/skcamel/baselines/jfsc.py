""":class:`JFSC`: joint feature selection and classification (Huang et al., IEEE Transactions on Cybernetics 2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skcamel.arrays import Array
from skcamel.baselines import presets, proximal
from skcamel.baselines.linear import LinearBaseline, columns
from skcamel.baselines.robust import Penalties, RobustRegression, fisher
from skcamel.checks import check_flag, check_not_negative, check_positive


class BaseJFSC(LinearBaseline):
    """What JFSC learns from, with given or with chosen penalties."""

    intercept: bool

    def _problem(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> tuple[presets.Prepared, RobustRegression]:
        prepared = presets.prepare(self.preset, X, Y, weights, intercept=self.intercept)
        self.label_distance_ = proximal.label_distance(Y, weights)
        S = fisher(prepared.X, Y, weights)
        self.fisher_ = S[:, : X.shape[1]]
        return prepared, RobustRegression(prepared.X, prepared.Y, self.label_distance_, S, weights=weights)

    def _penalties(self, candidates: Sequence[Mapping[str, float]]) -> Penalties:
        return columns(Penalties, candidates)


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
        The sequence ends when the objective changes by no more.

    Attributes
    ----------
    coef_ : array of shape (q, d)
        Weights of the scaled features.
    intercept_ : array of shape (q,)
    label_distance_ : array of shape (q, q)
        R, the cosine distances of the label columns.
    fisher_ : array of shape (q, d)
        S, spread within minus gap between the rows with and without each label.
    thresholds_ : array of shape (q,)
        Cuts; a label is predicted where its score exceeds its cut.
    n_iter_ : int
    label_names_ : array of shape (q,)

    Notes
    -----
    J(W) = ||XW - Y||_{2,1} + (α/2) tr(R W'W) + (β/2) Σ_k w_k' S_k w_k + γ ||W||_1 is not convex: R has negative
    eigenvalues, and S is negative for features that separate a label well. As for :class:`LLSF` the early-stopped sequence
    is the method. No code of the authors is known; this is a known reproduction with its errors put right: squares in S;
    the step constant L = sqrt(3 (||X'DX||² + ||αR||² + β² max s²)) follows the row weights D in every iteration;
    residuals shorter than 1e-3 weigh as that one; J itself is monitored, and the run ends after `max_iter` iterations,
    when J changes by at most `tol`, or when J <= 0. That is no failure, so nothing warns. Row weights weight the lengths of the
    residuals, the cosines of R, the sums of S and the means of the fair preset.

    On dense numeric features rows of unit length cost much accuracy, so the faithful preset carries scikit-learn's tag
    `poor_score`; the fair preset does not.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = JFSC(threshold="tuned").fit(X, Y)
    >>> model.predict(X[:2]).shape, model.coef_.shape
    ((2, 4), (4, 20))
    """

    def __init__(
        self,
        alpha: float = 4**-2,
        beta: float = 4**-2,
        gamma: float = 4**-2,
        eta: float = 0.1,
        *,
        preset: str = "faithful",
        intercept: bool = True,
        threshold: float | str = "zero",
        threshold_metric: str | None = None,
        max_iter: int = proximal.MAX_ITER,
        tol: float = proximal.TOL,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.eta = eta
        self.preset = preset
        self.intercept = intercept
        self.threshold = threshold
        self.threshold_metric = threshold_metric
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("alpha", "beta", "gamma"):
            check_not_negative(name, getattr(self, name))
        check_positive("eta", self.eta)
        check_flag("intercept", self.intercept)

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        self._learn_with(X, Y, weights, {name: getattr(self, name) for name in Penalties._fields})
