"""The paper's Algorithm 1, literally: the reference for the closed form, and Figure 1(d).

It converges to the closed form, slowly where G has a small singular value: about ln(1/ε) / (λ1
d_min²) alternations. Where G is singular, parts of Z that no score depends on go on changing at the
pace of ω / (ω + λ2).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel.arrays import Array, as_floats, namespace, to_device, to_match, to_numpy
from skcamel.camel import correlation, spectral
from skcamel.camel.representation import Data, Model, kernel_matrices


def fit(estimator: Any, data: Data, S: Array) -> Model:
    """A model without leave-one-out scores; warns where the algorithm stops early."""
    device = estimator.device
    representation, K = next(kernel_matrices(data, estimator._grid(), device))
    G = correlation.collaboration(S, estimator.alpha)
    params = {"lambda1": estimator.lambda1, "lambda2": estimator.lambda2}
    solution = solve(
        K,
        to_match(data.Y, K),
        to_match(G, K),
        weights=to_device(data.weights, device),
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        **params,
    )
    size = float(np.linalg.norm(to_numpy(solution.Z)))
    relative = float(to_numpy(solution.convergence)[-1]) / max(size, 1e-300)
    if relative > estimator.tol:
        warnings.warn(
            f"Algorithm 1 stopped after {solution.n_iter} alternations with ||ΔZ|| / ||Z|| ="
            f" {relative:.1e}, above tol={estimator.tol:.1e}; raise max_iter or use"
            " solver='spectral', which is exact.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Model(params, representation, G, solution, data.Y, "alternating")


def solve(
    K: Array,
    Y: Array,
    G: Array,
    *,
    lambda1: float,
    lambda2: float,
    weights: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> spectral.Solution:
    """Alternate between (b, A), T and Z until ||ΔZ|| ≤ tol ||Z||, at most `max_iter` times.

    K (n, n) is the kernel matrix of the training rows, Y (n, q) holds labels in {-1, +1}, G is (q,
    q). The solution keeps ||ΔZ|| of every alternation in `convergence`; the last one tells whether
    `tol` was met.
    """
    xp = namespace(K)
    spectral.finite_size(K)
    w: Array = xp.ones_like(K[:, 0]) if weights is None else weights
    H_inverse = xp.linalg.inv(K / lambda2 + xp.diag(1 / w))  # (n, n)
    of_ones = xp.sum(H_inverse, axis=0)  # 1ᵀH⁻¹
    identity = as_floats(np.eye(len(G)), G)
    mixing = xp.linalg.inv(identity + lambda1 * G @ G.T)  # (q, q)
    pull = lambda1 * Y @ G.T  # (n, q)

    Z = Y
    changes: list[float] = []
    for _ in range(max_iter):
        before = Z
        b = of_ones @ Z / xp.sum(of_ones)  # equation (9)
        A = H_inverse @ (Z - b)
        T = K @ A / lambda2 + b
        Z = (T + pull) @ mixing  # equation (11)
        changes.append(float(xp.linalg.norm(Z - before)))
        if changes[-1] <= tol * float(xp.linalg.norm(Z)):
            break
    mean = K @ w / xp.sum(w)
    convergence = as_floats(changes, K)
    return spectral.Solution(A @ G / lambda2, b @ G, A, b, Z, mean, w, len(changes), convergence)
