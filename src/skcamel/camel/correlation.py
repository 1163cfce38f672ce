"""Y ► S ► G: label correlations by sparse reconstruction (equations 1 to 5, Appendix A).

Each label is reconstructed from the others by a lasso,

    min over s_j  ½ ||Y s_j - Y_j||² + λ_j ||s_j||₁,   s_jj = 0,   λ_j = strength · max_{i≠j} |Y_iᵀ
    Y_j|,

with labels in {-1, +1} as in the paper, or with these centred (docs/deviations.md says why). All q
problems share the Gram matrix C = YᵀY, so that one matrix ADMM solves them together. Labels that
are equal or opposite (in the paper's form empty labels among them) enter once and share what they
get: S would not be unique. A constant label is 0 when centred: its row and its column of S are 0.

Where entries are unknown, C_ij is n times the mean of y_i y_j over the rows that know both labels,
0 where no row does. Such a matrix has noise in its eigenvalues, of about √q times that of its
entries, whose variance is 1 by the rows that know both labels less 1 by those that know each. Some
eigenvalues may be negative, and lassos wild. So all correlations are shrunk by one factor, until no
eigenvalue is below the noise. A label that no row knows has S = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skcamel.arrays import EPS, Array, MaybeArray, divisor, namespace, one_thread, to_numpy

KINDS = ("paper", "centred")  # labels in {-1, +1}, or these minus their means
OVER_RELAXATION = 1.6
STEP_SHARE = 0.1  # ADMM's first ρ as a share of the squared length of the labels
# factors by which ρ adapts
LEAST_CHANGE = 1.5
GREATEST_CHANGE = 3.0
TINY = 1e-300  # residuals may vanish
# optimality is looked at after 10, 16, 25, 38 … iterations
FIRST_CHECK = 10
CHECK_GROWTH = 1.5


class Correlation(NamedTuple):
    """Label correlation with its certificate."""

    S: Array  # (q, q), column j reconstructs label j; exact zeros, zero diagonal
    penalty: Array  # (q,) λ_j
    violation: Array  # (q,) KKT violation of each column, divided by λ_j
    n_iter: int


def learn(
    Y: Array | tuple[Array, float],
    *,
    centred: bool = False,
    strength: float = 0.01,
    weights: MaybeArray = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Correlation:
    """Sparse reconstruction of every label from the others, problem (3) in its appendix form.

    Parameters
    ----------
    Y : array of shape (n, q), or what :func:`cooccurrence` gives
        Labels in {-1, +1}, NaN where unknown.
    centred : bool, default=False
        Whether each label is taken minus its (weighted) mean, which is the lasso with an intercept.
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

    Notes
    -----
    Labels that are equal or opposite, with |C_ij|² = C_ii C_jj, are solved as one, and share its
    coefficients evenly, which costs the same. A label that has equals needs nothing but them: 1 -
    λ_j / C_jj of their mean leaves the residual (λ_j / C_jj) Y_j, and no other label has more than
    C_jj in common with Y_j, so the KKT conditions hold. That is so for centred labels of any
    frequency, too: C_ij / C_jj is half the difference between the means of label i where label j is
    present and where it is not.

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1.0, 1, -1], [1, 1, 1], [-1, -1, 1], [-1, -1, -1]])
    >>> learn(Y).S.round(2)  # the first two labels are equal, the third is unrelated
    array([[0.  , 0.99, 0.  ],
           [0.99, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    C = gram(Y, weights, centred=centred)
    is_complete = isinstance(Y, tuple) or not np.isnan(to_numpy(Y)).any()
    squares = np.diag(C)
    equals = np.eye(len(C))  # +1 where two labels are equal, -1 where they are opposite
    if is_complete:  # what is equal where both are known may differ elsewhere
        lengths = np.sqrt(np.outer(squares, squares))  # the most that |C_ij| can be
        is_same = (lengths > 0) & (np.abs(C) >= (1 - 1e-12) * lengths)
        equals = np.where(is_same, np.sign(C), equals)
    penalty = strength * np.abs(C - np.diag(squares)).max(axis=0)  # 0 for orthogonal labels
    size = np.abs(equals).sum(axis=0)
    # one label of each group
    first = np.flatnonzero(np.abs(equals).argmax(axis=0) == np.arange(len(C)))
    of_first = np.where(size == 1, penalty, 0.0)[first]
    with one_thread(len(first)):
        S, n_iter = solve_lassos(C[np.ix_(first, first)], of_first, tol=tol, max_iter=max_iter)
    if len(first) < len(C):
        S = (equals[:, first] / size[:, None]) @ S @ equals[first]
        from_equals = 1 - penalty / divisor(squares)
        shares = np.maximum(from_equals, 0) / np.maximum(size - 1, 1)
        S += (equals - np.diag(np.diag(equals))) * shares
    unit = divisor(penalty)
    return Correlation(S, penalty, kkt_violation(C, S, penalty) / unit, n_iter)


def gram(
    Y: Array | tuple[Array, float], weights: MaybeArray = None, *, centred: bool = False
) -> Array:
    """C = YᵀDY (q, q), with exact zeros where labels are orthogonal or constant up to rounding.

    Y (n, q) are labels, or what :func:`cooccurrence` makes of them.

    >>> Y = np.array([[1.0, 1, np.nan], [-1, -1, np.nan], [1, np.nan, 1], [-1, np.nan, 1]])
    >>> gram(Y).round(2)
    array([[4.  , 2.77, 0.  ],
           [2.77, 4.  , 0.  ],
           [0.  , 0.  , 4.  ]])
    """
    if not isinstance(Y, tuple):
        Y = to_numpy(Y)
        if np.isnan(Y).any():
            return _gram_of_known(Y, weights, centred)
        Y = cooccurrence(Y, weights)
    both, total = Y
    counts = np.diag(both)[:, None]
    one = counts - both
    one[one <= 1e-12 * counts] = 0.0  # what rounding leaves is nothing
    neither = total - both - one - one.T
    neither[neither <= 1e-12 * total] = 0.0
    return _products(both, one, neither, total, centred)


def _gram_of_known(Y: Array, weights: MaybeArray, centred: bool) -> Array:
    """The same for labels of which some are NaN, shrunk until no eigenvalue is below the noise."""
    w = np.ones((len(Y), 1))
    if weights is not None:
        w = to_numpy(weights)[:, None]
    present = (Y > 0).astype(np.float64)
    absent = (Y < 0).astype(np.float64)
    both = present.T @ (w * present)
    one = present.T @ (w * absent)
    neither = absent.T @ (w * absent)
    known = both + one + one.T + neither  # weight of the rows that know both
    inverse = np.divide(1.0, known, out=np.zeros_like(known), where=known > 0)
    C = w.sum() * inverse * _products(both, one, neither, len(Y), centred)
    lengths = np.sqrt(np.diag(C))
    lengths[lengths == 0] = 1.0
    least = float(np.linalg.eigvalsh(C / np.outer(lengths, lengths))[0])
    alone = np.sqrt(np.diag(inverse))
    noise = inverse - np.outer(alone, alone) * (known > 0)
    shrink = max(0.0, (len(C) * max(0.0, float(noise.mean()))) ** 0.5 - least)
    return (C + shrink * np.diag(np.diag(C))) / (1 + shrink)


def _products(both: Array, one: Array, neither: Array, n: float, centred: bool) -> Array:
    """C from the weights of rows with both labels, the first alone, and neither, (q, q) each."""
    # how far the mean lies above -1, as a share of the distance to 1
    below = np.full(len(both), 0.5)
    above = below
    if centred:
        present = np.diag(both)
        absent = np.diag(neither)
        known = divisor(present + absent)
        below = present / known
        above = absent / known
    mixed = np.outer(above, below) * one
    C = 4 * (np.outer(above, above) * both + np.outer(below, below) * neither - (mixed + mixed.T))
    lengths = np.sqrt(np.diag(C))
    C[np.abs(C) <= n * EPS * np.outer(lengths, lengths)] = 0.0
    return C


def collaboration(S: Array, alpha: float) -> Array:
    """G = (1 - α) I + α S, equation (5)."""
    xp = namespace(S)
    return (1 - alpha) * xp.eye(len(S), dtype=S.dtype, device=S.device) + alpha * S


def kkt_violation(C: Array, S: Array, penalty: Array, columns: MaybeArray = None) -> Array:
    """Distance of each column of S from optimality; 0 iff S solves the problem.

    Where s_ij ≠ 0 the gradient must be -λ_j sign(s_ij), elsewhere at most λ_j in absolute value;
    s_jj is fixed at 0. `S` and `penalty` may be those of some `columns` alone.
    """
    if columns is None:
        columns = np.arange(len(C))
    gradient = C @ S - C[:, columns]  # (q, number of columns)
    residual = np.where(S != 0, np.abs(gradient + penalty * np.sign(S)), np.abs(gradient) - penalty)
    residual[columns, np.arange(len(columns))] = 0
    return residual.max(axis=0)


def solve_lassos(C: Array, penalty: Array, *, tol: float, max_iter: int) -> tuple[Array, int]:
    """All columns by ADMM; a column leaves when its support gives the exact solution.

    Labels are brought to one length first: where they vary differently, steps that suit one would
    be far too short for another. The constraint s_jj = 0 is kept by a rank-one correction of each
    column. At growing intervals the zero pattern reached so far is tried: on a fixed support with
    fixed signs the lasso is a linear system, and if its solution keeps the signs and meets the KKT
    conditions, that column is solved to rounding. Columns whose support never settles (more labels
    than rows can separate) leave when the ADMM iterate itself meets `tol`.

    Returns
    -------
    S : array of shape (q, q)
    n_iter : int
    """
    lengths = np.sqrt(divisor(np.diag(C)))
    R = C / np.outer(lengths, lengths)  # of labels of length 1, with the solution S · ratios
    ratios = lengths[:, None] / lengths
    # coefficients are of order 1, so is λ/ρ
    rho = max(STEP_SHARE, float((penalty / lengths**2).max()))
    identity = np.eye(len(R))
    inverse = np.linalg.inv(R + rho * identity)
    norm = np.linalg.norm
    S = np.zeros_like(C)
    active = np.flatnonzero(penalty > 0)  # λ_j = 0 means Y_j orthogonal to all others: S_j = 0
    before = S[:, active]
    dual = before
    n_iter = 0
    check = FIRST_CHECK
    while len(active) and n_iter < max_iter:
        n_iter += 1
        diagonal = (active, np.arange(len(active)))  # entries s_jj
        smooth = inverse @ (R[:, active] + rho * (before - dual))
        smooth -= inverse[:, active] * (smooth[diagonal] / np.diag(inverse)[active])
        dual = dual + OVER_RELAXATION * smooth + (1 - OVER_RELAXATION) * before
        threshold = (penalty / lengths)[active] / (lengths[:, None] * rho)
        after = np.sign(dual) * np.clip(np.abs(dual) - threshold, 0, None)
        after[diagonal] = 0
        dual -= after
        if n_iter in (check, max_iter):
            check = int(CHECK_GROWTH * check) + 1
            S[:, active] = after / ratios[:, active]
            rest = ~_finish(C, S, penalty, active, tol)
            active = active[rest]
            after = after[:, rest]
            dual = dual[:, rest]
            primal = norm(smooth[:, rest] - after) * norm(dual) + TINY
            change = norm(after - before[:, rest]) * norm(after) + TINY
            # shares of both residuals fall together by it
            factor = np.clip((primal / change) ** 0.5, 1 / GREATEST_CHANGE, GREATEST_CHANGE)
            # a new inverse costs about as much as one iteration
            if not 1 / LEAST_CHANGE < factor < LEAST_CHANGE:
                rho = rho * factor
                dual = dual / factor
                inverse = np.linalg.inv(R + rho * identity)
        before = after
    return S, max(n_iter, 1)


def _finish(C: Array, S: Array, penalty: Array, columns: Array, tol: float) -> Array:
    """Solve columns exactly, in place, where support and signs are right, and return which are."""
    penalty = penalty[columns]
    exact = S[:, columns]
    done = kkt_violation(C, exact, penalty, columns) <= tol * penalty
    for k, j in enumerate(columns):
        support = np.flatnonzero(exact[:, k])
        signs = np.sign(exact[support, k])
        try:
            solution = np.linalg.solve(
                C[np.ix_(support, support)], C[support, j] - penalty[k] * signs
            )
        except np.linalg.LinAlgError:  # labels that depend on each other
            continue
        if (solution * signs > 0).all():
            exact[support, k] = solution
    solved = kkt_violation(C, exact, penalty, columns) <= min(tol, 1e-8) * penalty
    S[:, columns[solved]] = exact[:, solved]
    return done | solved


def cooccurrence(Y: Array, weights: MaybeArray) -> tuple[Array, float]:
    """Weight of the rows that have both labels (q, q), and of all rows; labels are in {-1, +1}.

    Examples
    --------
    >>> cooccurrence(np.array([[1, 1], [1, -1], [-1, -1]]), np.array([1.0, 2.0, 0.5]))
    (array([[3., 1.],
           [1., 1.]]), 3.5)
    """
    present = (Y > 0).astype(np.float64)
    if weights is None:
        return present.T @ present, float(len(Y))
    weights = to_numpy(weights)
    return present.T @ (present * weights[:, None]), float(weights.sum())
