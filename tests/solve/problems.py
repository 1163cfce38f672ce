"""Small training problems, each with something that breaks careless solvers."""

from typing import NamedTuple

import numpy as np

from skcamel.arrays import to_numpy
from skcamel.camel import correlation, spectral


class Problem(NamedTuple):
    K: np.ndarray
    Y: np.ndarray
    S: np.ndarray


def _kernel(X: np.ndarray) -> np.ndarray:
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.exp(-squared / (2 * max(np.sqrt(squared).mean(), 1e-3) ** 2))


def _signs(rng: np.random.Generator, n: int, q: int) -> np.ndarray:
    return np.where(rng.normal(size=(n, q)) + rng.normal(size=(n, 1)) > 0.3, 1.0, -1.0)


def make(kind: str) -> Problem:
    rng = np.random.default_rng(0)
    n, q = {"few rows": (5, 9), "one label": (14, 1), "two rows": (2, 3)}.get(kind, (16, 4))
    X, Y = rng.normal(size=(n, 3)), _signs(rng, n, q)
    if kind == "repeated rows":
        X[8:] = X[:8]
    if kind == "equal rows":
        X[:] = X[0]
    if kind == "constant labels":
        Y[:, 0], Y[:, 1] = 1, -1
    if kind == "duplicate labels":
        Y[:, 1], Y[:, 2] = Y[:, 0], -Y[:, 0]
    S = correlation.learn(Y).S
    if kind == "singular G":  # rank 2 at α = 1, and nothing small about the rest
        S = np.outer([1.0, 0, 1, 0], [0, 0.5, 0, 0.5]) + np.outer([0, 1.0, 0, 1], [0.5, 0, 0.5, 0])
    return Problem(_kernel(X), Y, S)


KINDS = (
    *("plain", "few rows", "two rows", "one label", "repeated rows", "equal rows"),
    *("constant labels", "duplicate labels", "singular G"),
)


def solved(K, Y, G, lambda1, lambda2, weights=None, xp=np.array):
    """Decomposition, projected targets and solution of one problem with complete labels."""
    spectrum = spectral.decompose(xp(K) + 0.0, None if weights is None else xp(weights))
    targets = spectral.project(spectrum, xp(Y))
    basis = spectral.label_basis(xp(G))
    solution = spectral.solve_in(spectrum, targets, basis, lambda1=lambda1, lambda2=lambda2)
    return spectrum, targets, solution


def scores_of(solution, K):
    return K @ to_numpy(solution.dual_coef) + to_numpy(solution.intercept)
