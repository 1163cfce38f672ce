"""(K, Y, G) ► Solution: the training problem (equations 6 and 7), its optimality conditions, and what every solver returns.

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||z_i G - y_i||² + λ2/2 ||W||²,     f(x) = φ(x)W + b

with W = φ(X)ᵀA/λ2. The weights w_i of the rows are 1 unless given. Scores of new rows are f(x)G. Two modules solve it:

spectral     exact, from two decompositions; all parameters and leave-one-out from one of them
alternating  the paper's Algorithm 1, kept literal
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skcamel.arrays import Array, namespace, to_numpy


@dataclass(frozen=True)
class Solution:
    """Coefficients of a trained model, in the paper's variables and ready for prediction.

    Scores of new rows are ``k(x) @ dual_coef + intercept``, the labels' own predictions before collaboration
    ``k(x) @ A / lambda2 + b``, with ``dual_coef = A @ G / lambda2`` and ``intercept = b @ G``.
    """

    dual_coef: Array  # (n, q) B
    intercept: Array  # (q,)   c₀
    A: Array  # (n, q) multipliers; columns sum to zero
    b: Array  # (q,)
    Z: Array  # (n, q) label-independent embedding
    kernel_mean: Array  # (n,) kernel column of the average training row
    n_iter: int = 1
    convergence: Array | None = None  # (n_iter,) ΔZ of each alternation

    def on_cpu(self) -> Solution:
        """The same in numpy arrays."""
        arrays = {key: to_numpy(value) for key, value in vars(self).items() if not isinstance(value, int | None)}
        return replace(self, **arrays)


def objective(
    K: Array, Y: Array, G: Array, A: Array, b: Array, Z: Array, *, lambda1: float, lambda2: float, weights: Array | None = None
) -> float:
    """Value of the training problem at (A, b, Z)."""
    xp = namespace(K)
    w = _weights(K, weights)[:, None]
    F = K @ A / lambda2 + b
    fit, collaborate = xp.sum(w * (Z - F) ** 2), xp.sum(w * (Z @ G - Y) ** 2)
    return float(fit + lambda1 * collaborate + xp.sum(A * (K @ A)) / lambda2) / 2


def stationarity(
    K: Array, Y: Array, G: Array, A: Array, b: Array, Z: Array, *, lambda1: float, lambda2: float, weights: Array | None = None
) -> float:
    """Largest violation of the optimality conditions, 0 at the solution.

    They are A = D(Z - F) with F = KA/λ2 + 1b (equation 9), 1ᵀA = 0, and (Z - F) + λ1 (ZG - Y)Gᵀ = 0 (equation 11).
    """
    xp = namespace(K)
    residual = Z - K @ A / lambda2 - b  # (n, q)
    gaps = (
        A - _weights(K, weights)[:, None] * residual,
        xp.sum(A, axis=0),
        residual + lambda1 * (Z @ G - Y) @ G.T,
    )
    return max(float(xp.abs(gap).max()) for gap in gaps)


def _weights(K: Array, weights: Array | None) -> Array:
    return namespace(K).ones_like(K[:, 0]) if weights is None else weights
