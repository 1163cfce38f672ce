"""(K, Y, G) ► Solution: the training problem (equations 6 and 7), and what every solver returns.

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||z_i G - y_i||² + λ2/2 ||W||²,     f(x) = φ(x)W + b

with W = φ(X)ᵀA/λ2. The weights w_i of the rows are 1 unless given. Scores of new rows are f(x)G. Four modules solve it:

spectral     exact, from two decompositions; all parameters and leave-one-out from one of them
unknown      the same for labels of which some are unknown
landmark     the same in features of landmarks, or in the features themselves: sums over rows in place of a matrix of rows
alternating  the paper's Algorithm 1, kept literal
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skcamel.arrays import Array, to_numpy


@dataclass(frozen=True)
class Solution:
    """Coefficients of a trained model, in the paper's variables and ready for prediction; n may count landmarks in place of rows.

    Scores of new rows are ``k(x) @ dual_coef + intercept``, the labels' own predictions before collaboration
    ``k(x) @ A / lambda2 + b``, with ``dual_coef = A @ G / lambda2`` and ``intercept = b @ G``.
    """

    dual_coef: Array  # (n, q) B
    intercept: Array  # (q,)   c₀
    A: Array  # (n, q) multipliers; columns sum to zero
    b: Array  # (q,)
    Z: Array | None  # (n, q) label-independent embedding
    kernel_mean: Array  # (n,) kernel column of the average training row
    n_iter: int = 1  # alternations, or rounds in which unknown labels were filled
    convergence: Array | None = None  # (n_iter,) ΔZ of each alternation

    def on_cpu(self) -> Solution:
        """The same in numpy arrays."""
        arrays = {key: to_numpy(value) for key, value in vars(self).items() if not isinstance(value, int | None)}
        return replace(self, **arrays)
