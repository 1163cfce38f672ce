"""IMCC, kernel ridge regression that also learns from cluster centres (Shu et al., 2022).

A study takes it as ``imcc=studies/alternatives/imcc.py:IMCCCV``.

k-means divides the rows into m clusters; the centre c_j of cluster j has the mean v_j of the labels
of its rows as its own. f(x) =
W'φ(x) + b minimises

    ½ Σ_i ||f(x_i) - y_i||² + (α/2) Σ_j ||f(c_j) - v_j||² + (β/2) Σ_i ||f(x_i) - f(c_j(i))||² +
    (λ/2) ||W||²

where j(i) is the cluster of row i and φ belongs to the RBF kernel whose bandwidth is the mean
distance between rows.
This is our reading of "Incorporating Multiple Cluster Centers for Multi-Label Learning" (arXiv
2004.08113): we had no code of
the authors to compare with. Ours are the start of k-means (one run of k-means++), that the
intercept is not penalised, the ranges of
the grid, and scaling as an option. One threshold of the scores is the best for micro-F1 on
the scores of the inner folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, product
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import KFold
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skcamel.metrics import average_precision

Params = dict[str, Any]


class Kernel(NamedTuple):
    """The RBF kernel, of rows as they are or with columns of unit variance."""

    scaler: Any
    sigma: float

    @classmethod
    def fitted(cls, scaling: str, X: Any) -> Kernel:
        """Scaling and bandwidth of training rows."""
        scaler = (
            StandardScaler(with_mean=False)
            if scaling == "standard"
            else FunctionTransformer(accept_sparse=True)
        ).fit(X)
        n = X.shape[0]
        return cls(scaler, euclidean_distances(scaler.transform(X)).sum() / (n * (n - 1)))

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Kernel matrix of scaled rows."""
        return np.exp(-euclidean_distances(X, Z, squared=True) / (2 * self.sigma**2))


class Rows:
    """Training rows, and their kernel in its eigenbasis, which serves all other parameters."""

    def __init__(self, scaling: str, X: Any, Y: np.ndarray) -> None:
        self.kernel, self.Y = Kernel.fitted(scaling, X), Y
        self.X = self.kernel.scaler.transform(X)
        self.values, self.vectors = linalg.eigh(self.kernel(self.X, self.X))


class Model(NamedTuple):
    """F(x) = k(x, X) A + k(x, C) B + b."""

    kernel: Kernel
    X: Any
    C: Any
    V: np.ndarray  # (m, q) labels of the centres
    A: np.ndarray
    B: np.ndarray
    b: np.ndarray

    def scores(self, new: Any) -> np.ndarray:
        """F of rows as they were given."""
        new = self.kernel.scaler.transform(new)
        return self.kernel(new, self.X) @ self.A + self.kernel(new, self.C) @ self.B + self.b


class Clusters:
    """The same rows with m centres: a symmetric system of 2m + 1 unknowns for each α, β and λ."""

    def __init__(self, rows: Rows, count: int, seed: int) -> None:
        self.rows = rows
        means = KMeans(min(count, len(rows.Y)), n_init=1, random_state=seed)
        self.of_row = np.unique(means.fit(rows.X).labels_, return_inverse=True)[
            1
        ]  # fewer clusters where rows are equal
        members = np.equal.outer(self.of_row, np.arange(self.of_row.max() + 1)).astype(
            float
        )  # (n, m)
        self.sizes = members.sum(axis=0)
        self.C, self.V = (members / self.sizes).T @ rows.X, (members / self.sizes).T @ rows.Y
        self.K_centres = rows.kernel(self.C, self.C)
        turned = rows.vectors.T
        self.K_rows, self.members = turned @ rows.kernel(rows.X, self.C), turned @ members
        self.ones, self.Y = turned.sum(axis=1, keepdims=True), turned @ rows.Y

    def solve(self, alpha: float, beta: float, ridge: float) -> Model:
        """The minimum, in closed form.

        With w = β / (1 + β), U = (K_XC, w M, 1) and P = (K + λ/(1 + β) I)⁻¹ the unknowns of the
        centres B, their errors E = V - F(C)
        and b solve (S - U'PU) (B; E; b) = (V; 0; 0) - U'P T, and A = P (T - U (B; E; b)), where T =
        (1 - w) Y + w M V and
        S = ((K_CC, I, 1), (I, -Γ/λ, 0), (1', 0, 0)) with Γ = diag(α + w sizes).
        """
        m, w = len(self.V), beta / (1 + beta)
        P = (
            1 / (np.clip(self.rows.values, 0, None) + ridge / (1 + beta))[:, None]
        )  # round-off can fall below 0
        U = np.hstack([self.K_rows, w * self.members, self.ones])
        T = (1 - w) * self.Y + w * self.members @ self.V
        ones, zeros, identity = np.ones((m, 1)), np.zeros((m, 1)), np.eye(m)
        errors = np.diag(-(alpha + w * self.sizes) / ridge)
        S = np.block(
            [
                [self.K_centres, identity, ones],
                [identity, errors, zeros],
                [ones.T, zeros.T, np.zeros((1, 1))],
            ]
        )
        right = -U.T @ (P * T)
        right[:m] += self.V
        found = linalg.solve(S - U.T @ (P * U), right, assume_a="sym")
        A = self.rows.vectors @ (P * (T - U @ found))
        return Model(self.rows.kernel, self.rows.X, self.C, self.V, A, found[:m], found[-1])


class IMCCCV(ClassifierMixin, BaseEstimator):
    """IMCC with its parameters chosen by average precision over shuffled folds.

    Parameters
    ----------
    alphas, betas, ridges, cluster_counts, scalings : sequences
        Values of α, β, λ, m and of the scaling of the columns, "none" or "standard": 270
        candidates.
    cv : int, default=5
    random_state : int, default=None
        Of k-means and of the folds; None is 0.
    """

    def __init__(
        self,
        alphas: tuple[float, ...] = (0.1, 1.0, 10.0),
        betas: tuple[float, ...] = (0.01, 0.1, 1.0),
        ridges: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0),
        cluster_counts: tuple[int, ...] = (10, 50, 200),
        scalings: tuple[str, ...] = ("none", "standard"),
        cv: int = 5,
        random_state: int | None = None,
    ) -> None:
        self.alphas, self.betas, self.ridges = alphas, betas, ridges
        self.cluster_counts, self.scalings = cluster_counts, scalings
        self.cv, self.random_state = cv, random_state

    def fit(self, X: Any, Y: np.ndarray) -> IMCCCV:
        """Choose, and learn from all rows; Y (n, q) in {0, 1}."""
        Y = np.asarray(Y, dtype=float)
        candidates = self._candidates()
        folds = list(KFold(self.cv, shuffle=True, random_state=self.random_state or 0).split(X))
        values = np.zeros(len(candidates))
        for train, test in folds:
            values += [
                average_precision(Y[test], F) for F in self._scores(X, Y, candidates, train, test)
            ]
        self.best_params_, self.scoring_ = candidates[int(values.argmax())], "average_precision"
        held_out = np.empty(Y.shape)
        for train, test in folds:
            (held_out[test],) = self._scores(X, Y, [self.best_params_], train, test)
        self.threshold_ = best_threshold(Y, held_out)
        (self.model_,) = self._models(X, Y, [self.best_params_])
        self.classes_ = np.arange(Y.shape[1])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """F of the rows, (m, q)."""
        return self.model_.scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """1 where F reaches the threshold."""
        return (self.decision_function(X) >= self.threshold_).astype(int)

    def _candidates(self) -> list[Params]:
        """Those that share an eigendecomposition, and then a clustering, one after another."""
        names = ("scaling", "cluster_count", "alpha", "beta", "ridge")
        axes = (self.scalings, self.cluster_counts, self.alphas, self.betas, self.ridges)
        return [dict(zip(names, values, strict=True)) for values in product(*axes)]

    def _models(self, X: Any, Y: np.ndarray, candidates: list[Params]) -> Iterator[Model]:
        for scaling, scaled in groupby(candidates, lambda params: params["scaling"]):
            rows = Rows(scaling, X, Y)
            for count, same in groupby(scaled, lambda params: params["cluster_count"]):
                clusters = Clusters(rows, count, self.random_state or 0)
                for params in same:
                    yield clusters.solve(params["alpha"], params["beta"], params["ridge"])

    def _scores(
        self, X: Any, Y: np.ndarray, candidates: list[Params], train: np.ndarray, test: np.ndarray
    ) -> Iterator[np.ndarray]:
        """F of the test rows by each candidate, from the training rows."""
        return (model.scores(X[test]) for model in self._models(X[train], Y[train], candidates))


def best_threshold(Y: np.ndarray, scores: np.ndarray) -> float:
    """The threshold with the highest micro-F1 of what reaches it."""
    order = np.argsort(-scores, axis=None)
    ranked = scores.ravel()[order]
    hits = np.cumsum(Y.ravel()[order])
    f1 = 2 * hits / (Y.sum() + np.arange(1, len(ranked) + 1))
    best = int(f1.argmax())
    return float(ranked[best])
