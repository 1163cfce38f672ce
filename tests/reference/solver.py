"""The training problem without the library's algebra: one dense linear system, and n refits."""

import numpy as np


def smoother(K: np.ndarray, lambda2: float, weights: np.ndarray | None = None) -> np.ndarray:
    """The matrix that takes Z to T, equation (9) and T = KA/λ2 + 1b, (n, n)."""
    n = len(K)
    w = np.ones(n) if weights is None else weights
    H_inverse = np.linalg.inv(K / lambda2 + np.diag(1 / w))
    of_b = np.ones(n) @ H_inverse / (np.ones(n) @ H_inverse @ np.ones(n))  # b = of_b @ Z
    of_A = H_inverse @ (np.eye(n) - np.outer(np.ones(n), of_b))
    return K @ of_A / lambda2 + np.outer(np.ones(n), of_b)


def fixed_point_scores(
    K: np.ndarray,
    Y: np.ndarray,
    G: np.ndarray,
    lambda1: float,
    lambda2: float,
    weights: np.ndarray | None = None,
    K_new: np.ndarray | None = None,
) -> np.ndarray:
    """Fixed point of Algorithm 1: Z = (T(Z) + λ1 Y Gᵀ) (I + λ1 G Gᵀ)⁻¹ as one system in vec(Z)."""
    n, q = Y.shape
    T = smoother(K, lambda2, weights)
    mixing = np.linalg.inv(np.eye(q) + lambda1 * G @ G.T)
    system = np.eye(n * q) - np.kron(T, mixing.T)  # acts on Z.ravel()
    Z = np.linalg.lstsq(system, (lambda1 * Y @ G.T @ mixing).ravel(), rcond=1e-15)[0].reshape(n, q)
    if K_new is None:
        return T @ Z @ G
    w = np.ones(n) if weights is None else weights
    H_inverse = np.linalg.inv(K / lambda2 + np.diag(1 / w))
    b = np.ones(n) @ H_inverse @ Z / (np.ones(n) @ H_inverse @ np.ones(n))
    return (K_new @ H_inverse @ (Z - b) / lambda2 + b) @ G


def known_entries_scores(
    K: np.ndarray,
    Y: np.ndarray,
    G: np.ndarray,
    lambda1: float,
    lambda2: float,
    weights: np.ndarray | None = None,
    K_new: np.ndarray | None = None,
) -> np.ndarray:
    """NaN in Y is unknown: Z - T(Z) + λ1 (M ∘ (ZG - Y)) Gᵀ = 0 as one system in vec(Z)."""
    n, q = Y.shape
    known = ~np.isnan(Y)
    system = np.kron(np.eye(n) - smoother(K, lambda2, weights), np.eye(q))  # acts on Z.ravel()
    for i in range(n):
        system[i * q : (i + 1) * q, i * q : (i + 1) * q] += lambda1 * G * known[i] @ G.T
    Z = np.linalg.lstsq(system, (lambda1 * np.where(known, Y, 0) @ G.T).ravel(), rcond=1e-13)[
        0
    ].reshape(n, q)
    w = np.ones(n) if weights is None else weights
    H_inverse = np.linalg.inv(K / lambda2 + np.diag(1 / w))
    b = np.ones(n) @ H_inverse @ Z / (np.ones(n) @ H_inverse @ np.ones(n))
    return ((K if K_new is None else K_new) @ H_inverse @ (Z - b) / lambda2 + b) @ G


def leave_one_out_scores(
    K: np.ndarray,
    Y: np.ndarray,
    G: np.ndarray,
    lambda1: float,
    lambda2: float,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Scores by refits without the row; of a row with a weight above 1, without one unit of it."""
    scores = np.empty(Y.shape)
    for i in range(len(Y)):
        w = np.ones(len(Y)) if weights is None else weights.copy()
        w[i] -= min(1.0, w[i])
        rest = w > 0
        scores[i] = fixed_point_scores(
            K[np.ix_(rest, rest)], Y[rest], G, lambda1, lambda2, w[rest], K[i : i + 1, rest]
        )[0]
    return scores


def objective(K, Y, G, A, b, Z, *, lambda1: float, lambda2: float) -> float:
    """Value of the training problem at (A, b, Z); NaN in Y does not count."""
    fit, collaborate = ((Z - K @ A / lambda2 - b) ** 2).sum(), np.nansum((Z @ G - Y) ** 2)
    return float(fit + lambda1 * collaborate + (A * (K @ A)).sum() / lambda2) / 2


def stationarity(
    K, Y, G, A, b, Z, *, lambda1: float, lambda2: float, weights: np.ndarray | None = None
) -> float:
    """Largest violation of the optimality conditions, 0 at the solution.

    They are A = D(Z - F) with F = KA/λ2 + 1b (equation 9), 1ᵀA = 0, and (Z - F) + λ1 (ZG - Y)Gᵀ = 0
    (equation 11).
    """
    w = np.ones(len(K)) if weights is None else weights
    residual = Z - K @ A / lambda2 - b  # (n, q)
    gaps = A - w[:, None] * residual, A.sum(axis=0), residual + lambda1 * (Z @ G - Y) @ G.T
    return max(float(abs(gap).max()) for gap in gaps)
