"""The whole grid against one eigendecomposition, scikit-learn's search, and the alternation."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
from scipy import linalg
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel import PAPER_LAMBDA2S, CamelClassifier, CamelClassifierCV
from skcamel.camel import alternating, correlation, kernel

N, D, Q = 2175, 103, 14  # the training part of yeast in ten folds
ALTERNATION = "the paper's alternation over the same grid, estimated / ours"


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Random rows and labels of the size of yeast, with related labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) / np.sqrt(D)
    factors = X @ rng.normal(size=(D, 5)) + 0.5 * rng.normal(size=(N, 5))
    return X, (factors @ rng.normal(size=(5, Q)) > 0.8).astype(int)


def run() -> list[Row]:
    X, Y = make_data()
    fitted, K = next(kernel.fitted_many("rbf", X))
    eigh = seconds(lambda: linalg.eigh(K, driver="evd"), 5)
    search = seconds(lambda: CamelClassifierCV().fit(X, Y), 5)
    gamma = 1 / (2 * fitted.bandwidth**2)
    ridge = KernelRidge(kernel="rbf", gamma=gamma)
    grid = GridSearchCV(ridge, {"alpha": list(PAPER_LAMBDA2S)}, cv=5)
    scikit = seconds(lambda: grid.fit(X, Y), 1)
    alternation = alternation_seconds(K, Y)
    in_matrices = peak(X, Y) / (8 * N**2)
    return [
        at_most("77 candidates by leave-one-out / one bare eigh", search / eigh, 1.5),
        at_least("GridSearchCV(KernelRidge), 7 candidates in 5 folds / ours", scikit / search, 4),
        at_least(ALTERNATION, alternation / search, 100),
        *prediction(X, Y, ridge),
        at_most("peak memory of the search, in n x n doubles", in_matrices, 5, "n²"),
    ]


def prediction(X: np.ndarray, Y: np.ndarray, ridge: KernelRidge) -> list[Row]:
    """Scores of new rows against `KernelRidge`."""
    model = CamelClassifier().fit(X, Y)
    ridge.fit(X, Y)
    rows = []
    for what, new in (("1 row", X[:1]), ("2 175 rows", X)):
        ours = seconds(lambda new=new: model.decision_function(new), 15)
        theirs = seconds(lambda new=new: ridge.predict(new), 15)
        rows.append(at_most(f"predict, {what} / KernelRidge.predict", ours / theirs, 1))
    return rows


def alternation_seconds(K: np.ndarray, Y: np.ndarray) -> float:
    """Time of Algorithm 1 for all 77 candidates in 5 folds, estimated from a few of them.

    Each fold has 4/5 of the rows. One candidate is timed for each of three α, for 20 alternations,
    and scaled to the number that it needs to reach 1e-6, at most 10 000; the inverse is timed once
    for each candidate.
    """
    signs = 2.0 * Y - 1
    part = slice(0, 4 * len(K) // 5)
    S = correlation.learn(signs).S
    total = 0.0
    for alpha in (0.0, 0.5, 1.0):
        G = correlation.collaboration(S, alpha)

        def few(limit: int, G: np.ndarray = G) -> None:
            options = {"lambda1": 1.0, "lambda2": 0.02, "tol": 1e-300, "max_iter": limit}
            alternating.solve(K[part, part], signs[part], G, **options)

        once = seconds(partial(few, 1), 1)
        some = seconds(partial(few, 21), 1)
        needed = alternations_needed(S, alpha)
        total += once + needed * (some - once) / 20
    return total / 3 * 77 * 5


def alternations_needed(S: np.ndarray, alpha: float) -> float:
    """About ln(1e6) / (λ1 d_min²) alternations until 1e-6, at most 10 000 (skcamel's limit)."""
    smallest = np.linalg.svd(correlation.collaboration(S, alpha), compute_uv=False).min()
    return float(min(10_000, max(10.0, np.log(1e6) / np.log1p(smallest**2))))


def peak(X: np.ndarray, Y: np.ndarray) -> int:
    """Bytes alive at the peak of a search."""
    tracemalloc.start()
    CamelClassifierCV().fit(X, Y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most
