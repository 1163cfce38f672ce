""":class:`LLSF` and :class:`LLSFCV`: learning label-specific features by sparse linear regression (Huang et al., ICDM 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import Array
from skcamel.baselines import proximal
from skcamel.baselines.linear import Axes, LinearBaseline, LinearSearch, Prepared, prepare
from skcamel.baselines.search import powers
from skcamel.baselines.tensors import LeastSquaresOnDevice

SPARSE = 0.1  # share of weights other than 0 below which a product with them alone is faster


class LLSFPenalties(NamedTuple):
    """One entry per candidate, (C,) each."""

    alpha: np.ndarray
    beta: np.ndarray
    rho: np.ndarray


class _State:
    """Iterates of LLSF for candidates of equal α.

    Only the gradient step P(W) = W - G(W) / L = W (I - X'X / L) - (α/L) W R + X'Y / L is remembered: G is affine, so the step
    from the extrapolated point is the extrapolated step, and one product with X'X serves the step and the monitored value.
    All passes write into arrays that exist already.
    """

    ARRAYS = 8  # (q, C, d) arrays alive at the peak, with temporaries and the result of the batch before

    def __init__(self, problem: LeastSquares, penalties: LLSFPenalties) -> None:
        self.problem = problem
        self.alpha, self.beta = float(penalties.alpha[0]), penalties.beta
        self.L = problem.lipschitz(self.alpha)
        self.label_step = ((-self.alpha / self.L) * problem.R).astype(problem.dtype)
        self.kept_part = problem.kept_part(self.L)
        self.target_step = (problem.targets / self.L)[:, None].astype(problem.dtype)
        self.W = problem.ridge.stacked(penalties.rho).astype(problem.dtype, copy=False)
        self.moved, self.spare = np.empty_like(self.W), np.empty_like(self.W)
        self._move(self.moved)
        self.moved_before = self.moved.copy()

    def _move(self, out: np.ndarray) -> None:
        """P of the latest iterate; the spare array is overwritten."""
        q, d = self.problem.targets.shape
        rows, X = self.W.reshape(-1, d), self.problem.rows
        if self.kept_part is None:
            np.subtract(rows, (rows @ X.T) @ X / self.L, out=out.reshape(-1, d))
        elif len(places := np.flatnonzero(rows != 0)) < SPARSE * rows.size:
            out.reshape(-1, d)[:] = _sparse(rows, places) @ self.kept_part
        else:
            np.matmul(rows, self.kept_part, out=out.reshape(-1, d))
        np.matmul(self.label_step, self.W.reshape(q, -1), out=self.spare.reshape(q, -1))
        self.spare += self.target_step
        out += self.spare

    def step(self, momentum: float) -> np.ndarray:
        U = np.subtract(self.moved, self.moved_before, out=self.moved_before)
        U *= momentum
        U += self.moved
        threshold = (self.beta / self.L)[:, None].astype(U.dtype)
        np.minimum(U, threshold, out=self.spare)
        np.maximum(self.spare, -threshold, out=self.spare)
        np.subtract(U, self.spare, out=self.W)  # soft thresholding
        self.moved_before, self.moved = self.moved, U
        self._move(self.moved)
        return self._value()

    def _value(self) -> np.ndarray:
        """T = ||XW - Y||² + α tr(R W'W) + β nnz(W) = <W, G - X'Y> + ||Y||² + β nnz(W) with G = L (W - P), (C,)."""
        W = self.W
        np.subtract(W, self.moved, out=self.spare)
        self.spare -= self.target_step
        quadratic = self.L * np.einsum("qcd,qcd->qc", W, self.spare).sum(axis=0, dtype=np.float64)
        small = np.uint8 if len(W) < 256 else np.uint32  # holds a count of labels
        n_nonzero = (W != 0).sum(axis=0, dtype=small).sum(axis=1)
        return quadratic + self.problem.total + self.beta * n_nonzero

    def keep(self, kept: np.ndarray) -> None:
        self.beta = self.beta[kept]
        self.W, self.moved, self.moved_before = (x.compress(kept, axis=1) for x in (self.W, self.moved, self.moved_before))  # contiguous
        self.spare = np.empty_like(self.W)


def _sparse(rows: np.ndarray, places: np.ndarray) -> sparse.csr_array:
    """Rows as a sparse matrix, from the places of all entries that are not 0 (SciPy's own search for them takes longer than a product)."""
    starts = np.searchsorted(places, np.arange(len(rows) + 1) * rows.shape[1])
    return sparse.csr_array((rows.ravel()[places], places % rows.shape[1], starts), shape=rows.shape)


class LeastSquares(proximal.Problem):
    """What LLSF needs of training rows X (n, d) and targets Y (n, q), computed once for all candidates.

    Targets are labels in {0, 1}, centred or not; R (q, q) holds the cosine distances of the labels.
    """

    state: ClassVar[Any] = _State
    state_on_device: ClassVar[Any] = LeastSquaresOnDevice

    def __init__(self, X: Array, Y: np.ndarray, R: np.ndarray, arithmetic: proximal.Arithmetic = proximal.DOUBLE) -> None:
        super().__init__(X, R, arithmetic)
        self.ridge, self.rows = proximal.Ridge(X, Y), X.astype(self.dtype)
        n, d = X.shape
        gram = self.ridge.gram
        self.gram = proximal.dense(X.T @ X) if gram is None and d <= 2 * n else gram  # wider: two thin products are cheaper
        self.targets = np.ascontiguousarray((X.T @ Y).T)  # (q, d)
        self.total = float(np.sum(Y * Y))
        self.bytes_each = self.dtype.itemsize * self.state.ARRAYS * self.targets.size

    def kept_part(self, L: float) -> np.ndarray | None:
        """I - X'X / L, (d, d); None where two thin products are cheaper."""
        return None if self.gram is None else (np.eye(len(self.gram)) - self.gram / L).astype(self.dtype)

    def lipschitz(self, alpha: float) -> float:
        """Step constant L = sqrt(2 (||X'X||² + ||αR||²)); 1 where all is zero."""
        return float(np.sqrt(2 * (self.ridge.norm**2 + (alpha * self.label_norm) ** 2))) or 1.0

    def groups(self, penalties: LLSFPenalties) -> list[np.ndarray]:
        """Candidates of equal α, and so of equal step constant."""
        return [np.flatnonzero(penalties.alpha == alpha) for alpha in np.unique(penalties.alpha)]


class BaseLLSF(LinearBaseline):
    """What LLSF learns from, with given or with chosen penalties."""

    PENALTIES: ClassVar[type[LLSFPenalties]] = LLSFPenalties

    def _problem(
        self, X: Array, Y: np.ndarray, weights: np.ndarray | None, arithmetic: proximal.Arithmetic = proximal.DOUBLE
    ) -> tuple[Prepared, LeastSquares]:
        prepared = prepare(self.preset, X, Y, weights, intercept=self.preset == "fair")
        self.label_distance_ = proximal.label_distance(Y, weights)
        rows, targets = (proximal.rooted(part, weights) for part in (prepared.X, prepared.Y))
        return prepared, LeastSquares(rows, targets, self.label_distance_, arithmetic)


@dataclass(eq=False, repr=False)
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
        As in :class:`BinaryRelevance`; "tuned" is the authors' rule: of 51 cuts between F = 0 and the largest F of the training rows
        the first with the best example-based F1 there.
    threshold_metric
        As in :class:`BinaryRelevance`.
    max_iter : int, default=100
        Iterations at most; 0 gives the ridge regression.
    tol : float, default=1e-4
        The sequence ends when the monitored value T changes by at most this. (The authors use 1e-2 while tuning.)

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
    J(W) = ½ ||XW - Y||² + (α/2) tr(R W'W) + β ||W||_1 has no minimum in general: R has negative eigenvalues, and J falls
    without bound unless λ_min(X'X) + α λ_min(R) >= 0. So the method *is* its early-stopped sequence; start, step
    L = sqrt(2 (||X'X||² + ||αR||²)), momentum and stop belong to it. The run ends after `max_iter` iterations, when
    T = ||XW - Y||² + α tr(R W'W) + β nnz(W) changes by at most `tol`, or when T <= 0; that is no failure, so nothing warns.
    Row weights weight the squares, the cosines of R and the means of the fair preset.

    Unknown labels (NaN) are replaced by the weighted mean of the known entries of their label, in the targets and in R. To leave them
    out of the loss instead, each label would need a Gram matrix of its own. Cuts are tuned, and penalties chosen, on known entries.

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
        "paper": α and β in 2^-10, 2^-9, …, 2^10 and ρ in 0.1, 1, 10, together 1 323 candidates. "coarse": every third power
        from 2^-9 to 2^9 and the same ρ, 147 candidates.
    preset, threshold, threshold_metric, max_iter, tol
        As in :class:`LLSF`, but "common" and "label" are tuned on the scores that the search has of its test parts. Candidates are
        compared with the cuts that they would be deployed with. (The authors stop earlier, at tol=1e-2, while tuning.)
    cv : int, splitter or iterable of (train, test), default=5
        An int means that many folds as in scikit-learn: in the order of the rows, or shuffled where `random_state` is given.
    scoring : str, default="average_precision"
        One of the seven metrics, see `skcamel.metrics.NAMES`. If it is undefined on every row (a ranking metric with one label),
        the Hamming loss takes its place, and `scoring_` says so.
    precision : {"single", "double"}, default="single"
        Arithmetic of the sequences that are compared, with starts and step constants in double precision. "single" takes half the
        time and changes scores in about the sixth digit. The model is learned in double precision in any case.
    device : str, default=None
        "cuda" iterates the sequences that are compared on a GPU, all candidates together; the model itself is learned on the CPU.
    memory_budget : int, default=2**25
        Bytes for the working arrays of the candidates that are iterated together; one candidate at least.
    race : float, default=None
        Before each fold but the first, candidates leave the search that trail the leader by more standard errors than this, over the
        rows judged so far; None: nobody leaves. `cv_results_` holds NaN for them. `scoring` must be one of the four ranking
        metrics. `benchmarks/linear.py` measures what 3 saves, and what it loses.
    random_state : int or RandomState, default=None
        Shuffles the folds of an int `cv`.

    Attributes
    ----------
    alpha_, beta_, rho_ : float
        The choice.
    best_score_, best_params_, best_index_, scoring_
        As in `GridSearchCV`; losses are negated. Equal scores: the first in the order of the grid.
    cv_results_ : dict
        params, param_*, mean_test_score, rank_test_score and mean_test_<each of the seven metrics>, losses negated; with more
        than one fold also std_test_score and split<k>_test_score.

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
        "coarse": {"alpha": powers(2, range(-9, 10, 3)), "beta": powers(2, range(-9, 10, 3)), "rho": (0.1, 1.0, 10.0)},
        "paper": {"alpha": powers(2, range(-10, 11)), "beta": powers(2, range(-10, 11)), "rho": (0.1, 1.0, 10.0)},
    }
    alphas: Sequence[float] | None = None
    betas: Sequence[float] | None = None
    rhos: Sequence[float] | None = None
