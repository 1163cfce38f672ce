"""The paper's Algorithm 1, kept literal: the reference that the closed form is held against, and Figure 1(d).

It converges to the closed form, slowly where G has a small singular value: about ln(1/ε) / (λ1
d_min²) alternations.
Where G is singular, parts of Z that no score depends on go on changing at the pace of ω / (ω + λ2).
"""

from __future__ import annotations

from skcamel.arrays import Array, as_floats, namespace
from skcamel.camel.spectral import Solution


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
) -> Solution:
    """Alternate between (b, A), T and Z until ||ΔZ|| ≤ tol ||Z|| (Frobenius), at most `max_iter` times.

    K (n, n) is the kernel matrix of the training rows, Y (n, q) holds labels in {-1, +1}, G is (q,
    q). The solution keeps
    ||ΔZ|| of every alternation in `convergence`; the last one tells whether `tol` was met.
    """
    xp = namespace(K)
    if not bool(xp.isfinite(xp.sum(K))):
        raise ValueError(
            "The kernel matrix holds NaN or infinity: features are too large or too small for it;"
            " scale them."
        )
    if weights is None:
        w = xp.ones_like(K[:, 0])
    else:
        w = weights
    H_inverse = xp.linalg.inv(K / lambda2 + xp.diag(1 / w))  # (n, n)
    of_ones = xp.sum(H_inverse, axis=0)  # 1ᵀH⁻¹
    # (q, q)
    mixing = xp.linalg.inv(xp.eye(len(G), dtype=G.dtype, device=G.device) + lambda1 * G @ G.T)
    pull = lambda1 * Y @ G.T  # (n, q)

    Z = Y
    changes: list[float] = []
    while not changes or (changes[-1] > tol * float(xp.linalg.norm(Z)) and len(changes) < max_iter):
        b = of_ones @ Z / xp.sum(of_ones)  # equation (9)
        A = H_inverse @ (Z - b)
        T = K @ A / lambda2 + b
        Z, before = (T + pull) @ mixing, Z  # equation (11)
        changes.append(float(xp.linalg.norm(Z - before)))
    return Solution(
        dual_coef=A @ G / lambda2,
        intercept=b @ G,
        A=A,
        b=b,
        Z=Z,
        kernel_mean=K @ w / xp.sum(w),
        n_iter=len(changes),
        convergence=as_floats(changes, K),
    )
