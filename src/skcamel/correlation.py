"""Y ► S ► G: label correlations by sparse reconstruction (equations 1 to 5 of the paper, Appendix A).

Each label is reconstructed from the others by a lasso,

    min over s_j  ½ ||Y s_j - Y_j||² + λ_j ||s_j||₁,   s_jj = 0,   λ_j = strength · max_{i≠j} |Y_iᵀ Y_j|,

with labels in {-1, +1}. All q problems share the Gram matrix C = YᵀY, so that one matrix ADMM solves them together.
"""

from __future__ import annotations

from typing import NamedTuple

from skcamel.arrays import Array, namespace

OVER_RELAXATION = 1.6
STEP_SHARE = 0.1  # ADMM's ρ as a share of the mean diagonal of C
FIRST_CHECK, CHECK_GROWTH = 10, 1.5  # optimality is looked at after 10, 16, 25, 38 … iterations


class Correlation(NamedTuple):
    """Label correlation with its certificate."""

    S: Array  # (q, q), column j reconstructs label j; exact zeros, zero diagonal
    penalty: Array  # (q,) λ_j
    violation: Array  # (q,) KKT violation of each column, divided by λ_j
    n_iter: int


def learn(Y: Array, *, strength: float = 0.01, weights: Array | None = None, tol: float = 1e-6, max_iter: int = 10_000) -> Correlation:
    """Sparse reconstruction of every label from the others, problem (3) in its appendix form.

    Parameters
    ----------
    Y : array of shape (n, q)
        Labels in {-1, +1}.
    strength : float, default=0.01
        λ_j as a share of the value from which on S_j = 0; the paper takes 1/100.
    weights : array of shape (n,), default=None
        Weights of the rows.
    tol : float, default=1e-6
        Largest KKT violation, in units of λ_j.
    max_iter : int, default=10_000
        Most ADMM iterations; compare `violation` with `tol` to see whether they sufficed.

    Returns
    -------
    Correlation
        S, the penalties, the certificate and the number of ADMM iterations.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1.0, 1, -1], [1, 1, 1], [-1, -1, 1], [-1, -1, -1]])
    >>> learn(Y).S.round(2)  # the first two labels are equal, the third is unrelated
    array([[0.  , 0.99, 0.  ],
           [0.99, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    C = Y.T @ (Y if weights is None else Y * weights[:, None])  # (q, q)
    penalty = penalties(C, strength)
    S, n_iter = solve_lassos(C, penalty, tol=tol, max_iter=max_iter)
    violation = kkt_violation(C, S, penalty) / namespace(C).where(penalty > 0, penalty, 1.0)
    return Correlation(S, penalty, violation, n_iter)


def collaboration(S: Array, alpha: float) -> Array:
    """G = (1 - α) I + α S, equation (5)."""
    xp = namespace(S)
    return (1 - alpha) * xp.eye(len(S), dtype=S.dtype, device=S.device) + alpha * S


def penalties(C: Array, strength: float) -> Array:
    """λ_j = strength · max_{i≠j} |C_ij|; 0 where label j is orthogonal to all others."""
    xp = namespace(C)
    others = xp.abs(C)
    others[_diagonal(C)] = 0
    return strength * xp.amax(others, axis=0)


def kkt_violation(C: Array, S: Array, penalty: Array) -> Array:
    """Distance of each column of S from optimality; 0 iff S solves the problem.

    Where s_ij ≠ 0 the gradient must be -λ_j sign(s_ij), elsewhere at most λ_j in absolute value; s_jj is fixed at 0.
    """
    xp = namespace(C)
    gradient = C @ S - C  # (q, q)
    free = xp.clip(xp.abs(gradient) - penalty, 0, None)
    residual = xp.where(S != 0, xp.abs(gradient + penalty * xp.sign(S)), free)
    residual[_diagonal(C)] = 0
    return xp.amax(residual, axis=0)


def solve_lassos(C: Array, penalty: Array, *, tol: float, max_iter: int) -> tuple[Array, int]:
    """All columns by ADMM with one inverse of C + ρI; a column leaves as soon as its support gives the exact solution.

    The constraint s_jj = 0 is kept by a rank-one correction of each column. At growing intervals the zero pattern
    reached so far is tried: on a given support with given signs the lasso is a linear system, and if its solution keeps
    the signs and meets the KKT conditions, that column is solved to rounding. Columns whose support never settles
    (duplicate labels: no unique solution) leave when the ADMM iterate itself meets `tol`.

    Returns
    -------
    S : array of shape (q, q)
    n_iter : int
    """
    xp = namespace(C)
    q = len(C)
    rho = STEP_SHARE * float(xp.sum(xp.diagonal(C))) / q
    inverse = xp.linalg.inv(C + rho * xp.eye(q, dtype=C.dtype, device=C.device))
    S = xp.zeros_like(C)
    open_ = xp.arange(q, device=C.device)[penalty > 0]  # λ_j = 0 means Y_j orthogonal to all others: S_j = 0
    dual = xp.zeros_like(C)[:, open_]
    n_iter, check = 0, FIRST_CHECK
    while len(open_) and n_iter < max_iter:
        n_iter += 1
        own = (open_, xp.arange(len(open_), device=C.device))  # entries s_jj of the open columns
        sparse = S[:, open_]
        smooth = inverse @ (C[:, open_] + rho * (sparse - dual))
        smooth -= inverse[:, open_] * (smooth[own] / xp.diagonal(inverse)[open_])
        dual += OVER_RELAXATION * smooth + (1 - OVER_RELAXATION) * sparse
        sparse = xp.sign(dual) * xp.clip(xp.abs(dual) - penalty[open_] / rho, 0, None)
        sparse[own] = 0
        dual -= sparse
        S[:, open_] = sparse
        if n_iter == check or n_iter == max_iter:
            check = int(CHECK_GROWTH * check) + 1
            still = ~_finish(C, S, penalty, open_, tol)
            open_, dual = open_[still], dual[:, still]
    return S, max(n_iter, 1)


def _finish(C: Array, S: Array, penalty: Array, columns: Array, tol: float) -> Array:
    """Solve what can be solved exactly on its present support, in place; which of `columns` are done."""
    xp = namespace(C)
    done = kkt_violation(C, S, penalty)[columns] <= tol * penalty[columns]
    for k, j in enumerate(columns):
        support = S[:, j] != 0
        exact = _on_support(C, support, xp.sign(S[support, j]), C[support, j], penalty[j])
        if exact is None:
            continue
        gradient = C[:, support] @ exact - C[:, j]
        gradient[support] = gradient[support] + penalty[j] * xp.sign(exact)
        gradient[~support] = xp.clip(xp.abs(gradient[~support]) - penalty[j], 0, None)
        gradient[j] = 0
        if float(xp.amax(xp.abs(gradient), axis=0)) <= min(tol, 1e-8) * float(penalty[j]):
            S[support, j] = exact
            done[k] = True
    return done


def _on_support(C: Array, support: Array, signs: Array, target: Array, penalty: Array) -> Array | None:
    """Lasso solution with a given support and signs, or None where it does not keep the signs."""
    xp = namespace(C)
    try:
        exact = xp.linalg.solve(C[support][:, support], target - penalty * signs)
    except (xp.linalg.LinAlgError, RuntimeError):  # singular: duplicate labels; torch's error is a RuntimeError
        return None
    return exact if bool((exact * signs > 0).all()) else None


def _diagonal(C: Array) -> tuple[Array, Array]:
    index = namespace(C).arange(len(C), device=C.device)
    return index, index
