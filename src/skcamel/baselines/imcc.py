""":class:`IMCC` and :class:`IMCCCV`: kernel ridge regression with cluster centres as virtual rows (Shu et al., 2022)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from skcamel import kernel, memory, scaling
from skcamel.arrays import Array
from skcamel.baselines.base import Baseline, TrainingData
from skcamel.baselines.linear import filled
from skcamel.baselines.search import Candidate, GridSearch, Rated, powers
from skcamel.checks import check_count, check_not_negative, check_positive
from skcamel.metrics.conventions import choice

SCALINGS = ("none", "standard", "minmax", "unit")


class Rows:
    """Training rows X (n, d) with labels Y (n, q), and their kernel in its eigenbasis, which serves every choice of the rest.

    With weights ω the kernel is Ω^½ K Ω^½ and all that stands on a row is multiplied by ω^½: then each equation has the form that it
    has without weights.
    """

    def __init__(self, name: str, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        memory.require(
            8 * 4 * X.shape[0] ** 2,
            f"IMCC's kernel matrix of {X.shape[0]} rows with its eigenvectors",
            "Take fewer rows, or CamelClassifier.",
        )
        self.scale = scaling.fitted(name, X, weights).centred(X)
        self.X, self.Y, self.weights = self.scale(X), Y, weights
        self.root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
        self.kernel, K = kernel.fitted("rbf", self.X, weights=weights)
        K *= self.root
        K *= self.root[:, None]
        self.values, self.vectors = linalg.eigh(K, overwrite_a=True, check_finite=False)

    def turned(self, of_rows: Array) -> np.ndarray:
        """What stands on the rows, (n, k), in the eigenbasis."""
        return self.vectors.T @ (self.root[:, None] * of_rows)

    def turned_kernel(self, X: Array) -> np.ndarray:
        """Kernel (m, n) of scaled rows with the training rows, in the eigenbasis."""
        return (self.kernel(X, self.X) * self.root) @ self.vectors


class Solution(NamedTuple):
    """F(x) = k(x, X) A + k(x, C) B + b."""

    A: np.ndarray  # (n, q); in the eigenbasis as long as candidates are compared
    B: np.ndarray  # (m, q)
    b: np.ndarray  # (q,)


class Clustered:
    """The same rows with m centres: what is left to solve for each α, β and λ is a symmetric system of 2m + 1 unknowns."""

    def __init__(self, rows: Rows, count: int, seed: Any) -> None:
        self.rows = rows
        of = clusters(rows, count, seed)
        M = np.equal.outer(of, np.arange(of.max() + 1)).astype(np.float64)  # (n, m) which row is in which cluster
        weighted = M if rows.weights is None else rows.weights[:, None] * M
        self.sizes = weighted.sum(axis=0)
        shares = (weighted / self.sizes).T
        self.C, self.V = shares @ rows.X, shares @ rows.Y  # (m, d) centres, (m, q) their labels
        if sparse.issparse(rows.X):
            self.C = sparse.csr_array(self.C)
        self.M, self.ones, self.Y = (rows.turned(part) for part in (M, np.ones((len(M), 1)), rows.Y))
        self.K_rows, self.K_centres = rows.turned(rows.kernel(rows.X, self.C)), rows.kernel(self.C, self.C)

    def solve(self, alpha: float, beta: float, ridge: float) -> Solution:
        """Coefficients, those of the rows in the eigenbasis.

        With w = β / (1 + β), U = (K_XC, w M, 1) and P = (K + λ/(1 + β) I)⁻¹ the unknowns of the centres B, their errors E = V - F(C)
        and b solve (S - U'PU) (B; E; b) = (V; 0; 0) - U'P T, and A = P (T - U (B; E; b)), where T = (1 - w) Y + w M V and
        S = ((K_CC, I, 1), (I, -Γ/λ, 0), (1', 0, 0)) with Γ = diag(α + w sizes).
        """
        m, w = len(self.V), beta / (1 + beta)
        P = 1 / (np.clip(self.rows.values, 0, None) + ridge / (1 + beta))[:, None]  # round-off can fall below 0
        U = np.hstack([self.K_rows, w * self.M, self.ones])
        T = (1 - w) * self.Y + w * self.M @ self.V
        S = np.zeros((2 * m + 1, 2 * m + 1))
        S[:m, :m], S[:m, -1], S[-1, :m] = self.K_centres, 1, 1
        i = np.arange(m)
        S[i, m + i] = S[m + i, i] = 1
        S[m + i, m + i] = -(alpha + w * self.sizes) / ridge
        right = -U.T @ (P * T)
        right[:m] += self.V
        found = linalg.solve(S - U.T @ (P * U), right, assume_a="sym", check_finite=False)
        return Solution(P * (T - U @ found), found[:m], found[-1])


def clusters(rows: Rows, count: int, seed: Any) -> np.ndarray:
    """Cluster of each row (n,), from 0 on without gaps; fewer than asked for where there are fewer different rows."""
    means = KMeans(min(count, len(rows.Y)), n_init=1, random_state=0 if seed is None else seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        return np.unique(means.fit(rows.X, sample_weight=rows.weights).labels_, return_inverse=True)[1]


class BaseIMCC(Baseline):
    """What IMCC learns, with given or with chosen parameters."""

    random_state: Any

    def _chosen(self) -> Candidate:
        raise NotImplementedError

    def _learn(self, X: Array, Y: np.ndarray, weights: np.ndarray | None) -> None:
        chosen = self._chosen()
        rows = Rows(chosen["scaling"], X, filled(Y, weights), weights)
        clustered = Clustered(rows, chosen["cluster_count"], self.random_state)
        A, B, b = clustered.solve(chosen["alpha"], chosen["beta"], chosen["ridge"])
        known = ~np.isnan(Y).all(axis=0)  # other labels are never predicted
        self.scaling_, self.kernel_ = rows.scale, rows.kernel
        self.rows_, self.centres_, self.centre_labels_ = rows.X, clustered.C, clustered.V
        self.row_coef_, self.centre_coef_, self.intercept_ = rows.root[:, None] * (rows.vectors @ A) * known, B * known, b * known

    def _confidences(self, X: Array) -> np.ndarray:
        rows = self.scaling_(X)
        return self.kernel_(rows, self.rows_) @ self.row_coef_ + self.kernel_(rows, self.centres_) @ self.centre_coef_ + self.intercept_


@dataclass(eq=False, repr=False)
class IMCC(BaseIMCC):
    """Kernel ridge regression that also learns from cluster centres, and draws each row towards its centre.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the centres as virtual rows.
    beta : float >= 0, default=0.1
        Weight of the term that draws outputs of rows towards those of their centres.
    ridge : float > 0, default=0.1
        λ, the penalty of the weights.
    cluster_count : int >= 1, default=50
        m, the number of centres; fewer where there are fewer different rows.
    scaling : {"none", "standard", "minmax", "unit"}, default="none"
        Of the features, before anything else; "none" is the authors'.
    threshold, threshold_metric
        As in :class:`BinaryRelevance`.
    random_state : int or RandomState, default=None
        Of k-means; None is 0.

    Attributes
    ----------
    centres_ : array or CSR matrix of shape (m, d)
        Scaled.
    centre_labels_ : array of shape (m, q)
        Mean labels of each cluster.
    row_coef_, centre_coef_, intercept_ : arrays of shapes (n, q), (m, q) and (q,)

    All other attributes are those of :class:`BinaryRelevance`.

    Notes
    -----
    k-means divides the rows into m clusters; the centre c_j of cluster j has the mean v_j of the labels of its rows as its own. f(x) =
    W'φ(x) + b minimises

        ½ Σ_i ||f(x_i) - y_i||² + (α/2) Σ_j ||f(c_j) - v_j||² + (β/2) Σ_i ||f(x_i) - f(c_j(i))||² + (λ/2) ||W||²

    where j(i) is the cluster of row i and φ belongs to the RBF kernel whose bandwidth is the mean distance between rows. The
    minimum has a closed form, see `Clustered.solve`; with α = β = 0 it is kernel ridge regression with an intercept. Labels in
    {-1, +1} give twice these scores. This is our reading of "Incorporating Multiple Cluster Centers for Multi-Label
    Learning" (arXiv 2004.08113): virtual rows from k-means with the mean labels of their members, and a term that bridges the gap between
    rows and virtual rows. We had no code of the authors to compare with. Ours are the start of k-means (one run of k-means++), that
    the intercept is not penalised, the ranges of the grid, and scaling as an option.

    Row weights weight the squares of rows, the means of clusters and the bandwidth. Unknown labels (NaN) are replaced by the weighted
    mean of the known entries of their label. Memory is that of four kernel matrices. `skcamel.save` does not take these models: they
    are here to be compared with.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = IMCC(cluster_count=5).fit(X, Y)
    >>> model.predict(X[:2]).shape, model.centre_labels_.shape
    ((2, 4), (5, 4))
    """

    alpha: float = 1.0
    beta: float = 0.1
    ridge: float = 0.1
    cluster_count: int = 50
    scaling: str = "none"
    random_state: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check(self._chosen())

    def _chosen(self) -> Candidate:
        return {name: getattr(self, name) for name in IMCCCV.GRIDS["coarse"]}


@dataclass(eq=False, repr=False)
class IMCCCV(GridSearch, BaseIMCC):
    """IMCC with its parameters chosen by folds.

    Parameters
    ----------
    alphas, betas, ridges, cluster_counts, scalings : sequence, default=None
        Values of each parameter of :class:`IMCC`; None takes those of `grid`.
    grid : {"coarse", "raw"}, default="coarse"
        "coarse": α in 0.1, 1, 10, β in 0.01, 0.1, 1, λ in 0.001, 0.01, 0.1, 1, 10, m in 10, 50, 200, features unscaled and of unit
        variance: 270 candidates. "raw": the same with unscaled features, 135 candidates.
    cv, scoring, race, threshold, threshold_metric
        As in :class:`LLSFCV`.
    random_state : int or RandomState, default=None
        Of k-means, and of the folds of an int `cv`, which are shuffled where it is given.

    Attributes
    ----------
    alpha_, beta_, ridge_, cluster_count_, scaling_, best_score_, best_params_, best_index_, scoring_, cv_results_
        As in :class:`LLSFCV`; `scaling_` is the fitted scaling of the choice.

    All other attributes are those of :class:`IMCC`.

    Notes
    -----
    A fold needs one eigendecomposition of its kernel matrix for each scaling, and k-means once for each m; a candidate then costs
    products with m columns and a system of 2m + 1 unknowns.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> X, Y = make_multilabel_classification(100, n_classes=4, random_state=0)
    >>> model = IMCCCV(betas=[0.1], cluster_counts=[5, 10]).fit(X, Y)
    >>> len(model.cv_results_["params"]), model.cluster_count_ in (5, 10)
    (60, True)
    """

    GRIDS: ClassVar[dict[str, Any]] = {
        name: {"alpha": powers(10, (-1, 0, 1)), "beta": powers(10, (-2, -1, 0)), "ridge": powers(10, range(-3, 2))}
        | {"cluster_count": (10, 50, 200), "scaling": scalings}
        for name, scalings in {"coarse": ("none", "standard"), "raw": ("none",)}.items()
    }
    alphas: Sequence[float] | None = None
    betas: Sequence[float] | None = None
    ridges: Sequence[float] | None = None
    cluster_counts: Sequence[int] | None = None
    scalings: Sequence[str] | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name, values in self._axes().items():
            for value in values:
                _check({name.removesuffix("s"): value})

    def _chosen(self) -> Candidate:
        return self.best_params_

    def _rated(self, train: TrainingData, X_test: Array, candidates: Sequence[Candidate]) -> Rated:
        X, Y, weights = train
        for name, of_scaling in _grouped(candidates, "scaling"):
            rows = Rows(name, X, filled(Y, weights), weights)
            new = rows.scale(X_test)
            K = rows.turned_kernel(new)
            for count, numbers in _grouped(candidates, "cluster_count", of_scaling):
                clustered = Clustered(rows, count, self.random_state)
                K_centres = rows.kernel(new, clustered.C)
                for k in numbers:
                    A, B, b = clustered.solve(*(candidates[k][name] for name in ("alpha", "beta", "ridge")))
                    yield k, K @ A + K_centres @ B + b, None


def _grouped(candidates: Sequence[Candidate], name: str, numbers: Sequence[int] | None = None) -> Iterator[tuple[Any, list[int]]]:
    """Numbers of the candidates, or of some of them, by the value of one parameter."""
    groups: dict[Any, list[int]] = {}
    for k in range(len(candidates)) if numbers is None else numbers:
        groups.setdefault(candidates[k][name], []).append(k)
    yield from groups.items()


def _check(parameters: Candidate) -> None:
    for name, value in parameters.items():
        if name == "scaling":
            choice(value, SCALINGS, name)
        elif name == "cluster_count":
            check_count(name, value)
        else:
            (check_positive if name == "ridge" else check_not_negative)(name, value)
