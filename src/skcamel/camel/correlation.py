"""Y ► S ► G: label correlations by sparse reconstruction (equations 1 to 5 of the paper, Appendix A).

Each label is reconstructed from the others by a lasso,

    min over s_j  ½ ||Y s_j - Y_j||² + λ_j ||s_j||₁,   s_jj = 0,   λ_j = strength · max_{i≠j} |Y_iᵀ
    Y_j|,

with labels in {-1, +1} as in the paper, or with these centred (docs/deviations.md says why). All q
problems share the Gram
matrix C = YᵀY, so that one matrix ADMM solves them together. Labels that are equal or opposite (in
the paper's form empty
labels among them) enter once and share what they get: S would not be unique. A constant label is 0
when centred: its row and
its column of S are 0.

Where entries are unknown, C_ij is n times the mean of y_i y_j over the rows that know both labels,
0 where no row does. Such a matrix
has noise in its eigenvalues, of about √q times that of its entries, whose variance is 1 by the rows
that know both labels less 1 by
those that know each. Some eigenvalues may be negative, and lassos wild. So all correlations are
shrunk by one factor, until no
eigenvalue is below the noise. A label that no row knows has S = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array, namespace, one_thread, to_numpy

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

    S: np.ndarray  # (q, q), column j reconstructs label j; exact zeros, zero diagonal
    penalty: np.ndarray  # (q,) λ_j
    violation: np.ndarray  # (q,) KKT violation of each column, divided by λ_j
    n_iter: int


def learn(
    Y: Array,
    *,
    centred: bool = False,
    strength: float = 0.01,
    weights: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Correlation:
    """Sparse reconstruction of every label from the others, problem (3) in its appendix form.

    Parameters
    ----------
    Y : array of shape (n, q)
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
    return of_gram(
        C,
        complete=not bool(namespace(Y).isnan(Y).any()),
        strength=strength,
        tol=tol,
        max_iter=max_iter,
    )


def of_gram(
    C: np.ndarray,
    *,
    complete: bool = True,
    strength: float = 0.01,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Correlation:
    """The same from C = YᵀY (q, q); labels may be known in part unless it is `complete`.

    Labels that are equal or opposite, with |C_ij|² = C_ii C_jj, are solved as one, and share its
    coefficients evenly, which costs the
    same. A label that has equals needs nothing but them: 1 - λ_j / C_jj of their mean leaves the
    residual (λ_j / C_jj) Y_j, and no
    other label has more than C_jj in common with Y_j, so the KKT conditions hold. That is so for
    centred labels of any frequency,
    too: C_ij / C_jj is half the difference between the means of label i where label j is present
    and where it is not.
    """
    # 0 where a label is orthogonal to all others
    penalty = strength * np.abs(C - np.diag(np.diag(C))).max(axis=0)
    unit = np.where(penalty > 0, penalty, 1.0)
    squares = np.where(np.diag(C) > 0, np.diag(C), 1.0)
    equals = np.eye(len(C))  # +1 where two labels are equal, -1 where they are opposite
    if complete:  # what is equal where both are known may differ elsewhere
        lengths = np.sqrt(np.outer(np.diag(C), np.diag(C)))  # the most that |C_ij| can be
        equals = np.where((lengths > 0) & (np.abs(C) >= (1 - 1e-12) * lengths), np.sign(C), equals)
    size = np.abs(equals).sum(axis=0)
    # one label of each group
    first = np.flatnonzero(np.abs(equals).argmax(axis=0) == np.arange(len(C)))
    with one_thread(len(first)):
        S, n_iter = solve_lassos(
            C[np.ix_(first, first)],
            np.where(size == 1, penalty, 0.0)[first],
            tol=tol,
            max_iter=max_iter,
        )
    if len(first) < len(C):
        from_equals = np.maximum(1 - penalty / squares, 0) / np.maximum(size - 1, 1)
        S = (equals[:, first] / size[:, None]) @ S @ equals[first] + (
            equals - np.diag(np.diag(equals))
        ) * from_equals
    return Correlation(S, penalty, kkt_violation(C, S, penalty) / unit, n_iter)


def gram(Y: Array, weights: Array | None = None, *, centred: bool = False) -> np.ndarray:
    """C = YᵀDY (q, q), with exact zeros where labels are orthogonal up to rounding, or constant and centred.

    >>> gram(np.array([[1.0, 1, np.nan], [-1, -1, np.nan], [1, np.nan, 1], [-1, np.nan, 1]])).round(2)
    array([[4.  , 2.77, 0.  ],
           [2.77, 4.  , 0.  ],
           [0.  , 0.  , 4.  ]])
    """
    Y = to_numpy(Y)
    if not np.isnan(Y).any():
        return gram_of_counts(*cooccurrence(Y, weights), centred=centred)
    if weights is None:
        w = np.ones((len(Y), 1))
    else:
        w = to_numpy(weights)[:, None]
    present = (Y > 0).astype(np.float64)
    absent = (Y < 0).astype(np.float64)
    both = present.T @ (w * present)
    one = present.T @ (w * absent)
    neither = absent.T @ (w * absent)
    known = both + one + one.T + neither  # weight of the rows that know both
    inverse = np.divide(1.0, known, out=np.zeros_like(known), where=known > 0)
    C = w.sum() * inverse * _products(both, one, neither, len(Y), centred)
    lengths = np.sqrt(np.outer(np.diag(C), np.diag(C)))
    least = float(np.linalg.eigvalsh(C / np.where(lengths > 0, lengths, 1.0))[0])
    noise = inverse - np.where(
        known > 0, np.sqrt(np.outer(np.diag(inverse), np.diag(inverse))), 0.0
    )
    shrink = max(0.0, (len(C) * max(0.0, float(noise.mean()))) ** 0.5 - least)
    return (C + shrink * np.diag(np.diag(C))) / (1 + shrink)


def gram_of_counts(together: Array, total: float, *, centred: bool = False) -> np.ndarray:
    """The same from the weight of the rows that have both labels (q, q), and of all rows.

    >>> Y = np.array([[1.0, 1], [1, -1], [-1, -1]])
    >>> present = (Y > 0) * 1.0
    >>> bool((gram_of_counts(present.T @ present, 3.0) == gram(Y)).all())
    True
    """
    both = to_numpy(together)
    counts = np.diag(both)[:, None]
    # what rounding leaves is nothing
    one = np.where(counts - both > 1e-12 * counts, counts - both, 0.0)
    neither = total - both - one - one.T
    return _products(both, one, np.where(neither > 1e-12 * total, neither, 0.0), total, centred)


def _products(
    both: np.ndarray, one: np.ndarray, neither: np.ndarray, n: float, centred: bool
) -> np.ndarray:
    """C from the weights of the rows that have both labels, the first alone, and neither, (q, q) each; of n rows."""
    present = np.diag(both)
    absent = np.diag(neither)
    if not centred:
        present = absent = np.ones(len(both))
    known = np.where(present + absent > 0, present + absent, 1.0)
    # how far the mean lies from each end, as a share of their distance
    below = present / known
    above = absent / known
    mixed = np.outer(above, below) * one
    C = 4 * (np.outer(above, above) * both + np.outer(below, below) * neither - (mixed + mixed.T))
    return np.where(
        np.abs(C) <= n * np.finfo(np.float64).eps * np.sqrt(np.outer(np.diag(C), np.diag(C))),
        0.0,
        C,
    )


def collaboration(S: Array, alpha: float) -> Array:
    """G = (1 - α) I + α S, equation (5)."""
    xp = namespace(S)
    return (1 - alpha) * xp.eye(len(S), dtype=S.dtype, device=S.device) + alpha * S


def kkt_violation(
    C: np.ndarray, S: np.ndarray, penalty: np.ndarray, columns: np.ndarray | None = None
) -> np.ndarray:
    """Distance of each column of S from optimality; 0 iff S solves the problem.

    Where s_ij ≠ 0 the gradient must be -λ_j sign(s_ij), elsewhere at most λ_j in absolute value;
    s_jj is fixed at 0.
    `S` and `penalty` may be those of some `columns` alone.
    """
    if columns is None:
        columns = np.arange(len(C))
    gradient = C @ S - C[:, columns]  # (q, number of columns)
    residual = np.where(S != 0, np.abs(gradient + penalty * np.sign(S)), np.abs(gradient) - penalty)
    residual[columns, np.arange(len(columns))] = 0
    return residual.max(axis=0)


def solve_lassos(
    C: np.ndarray, penalty: np.ndarray, *, tol: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """All columns by ADMM with one inverse; a column leaves as soon as its support gives the exact solution.

    Labels are brought to one length first: where they vary differently, steps that suit one would
    be far too short for another.
    The constraint s_jj = 0 is kept by a rank-one correction of each column. At growing intervals
    the zero pattern
    reached so far is tried: on a given support with given signs the lasso is a linear system, and
    if its solution keeps
    the signs and meets the KKT conditions, that column is solved to rounding. Columns whose support
    never settles
    (more labels than rows can tell apart) leave when the ADMM iterate itself meets `tol`.

    Returns
    -------
    S : array of shape (q, q)
    n_iter : int
    """
    norm = np.linalg.norm
    identity = np.eye(len(C))
    lengths = np.sqrt(np.where(np.diag(C) > 0, np.diag(C), 1.0))
    units = np.outer(lengths, lengths)
    ratios = lengths[:, None] / lengths
    # of labels of length 1, with the solution S · ratios
    R = C / units
    P = penalty / units
    # coefficients are of order 1, so is λ/ρ
    rho = max(STEP_SHARE, float((penalty / lengths**2).max()))
    inverse = np.linalg.inv(R + rho * identity)
    S = np.zeros_like(C)
    active = np.flatnonzero(penalty > 0)  # λ_j = 0 means Y_j orthogonal to all others: S_j = 0
    before = dual = S[:, active]
    n_iter = 0
    check = FIRST_CHECK
    while len(active) and n_iter < max_iter:
        n_iter += 1
        own = (active, np.arange(len(active)))  # entries s_jj
        smooth = inverse @ (R[:, active] + rho * (before - dual))
        smooth -= inverse[:, active] * (smooth[own] / np.diag(inverse)[active])
        dual = dual + OVER_RELAXATION * smooth + (1 - OVER_RELAXATION) * before
        after = np.sign(dual) * np.clip(np.abs(dual) - P[:, active] / rho, 0, None)
        after[own] = 0
        dual -= after
        if n_iter in (check, max_iter):
            check = int(CHECK_GROWTH * check) + 1
            S[:, active] = after / ratios[:, active]
            rest = ~_finish(C, S, penalty, active, tol)
            active = active[rest]
            smooth = smooth[:, rest]
            after = after[:, rest]
            before = before[:, rest]
            dual = dual[:, rest]
            primal = norm(smooth - after) * norm(dual) + TINY
            change = norm(after - before) * norm(after) + TINY
            # their shares fall together by it
            factor = float(np.clip((primal / change) ** 0.5, 1 / GREATEST_CHANGE, GREATEST_CHANGE))
            if (
                not 1 / LEAST_CHANGE < factor < LEAST_CHANGE
            ):  # a new inverse costs about as much as one iteration
                rho = rho * factor
                dual = dual / factor
                inverse = np.linalg.inv(R + rho * identity)
        before = after
    return S, max(n_iter, 1)


def _finish(
    C: np.ndarray, S: np.ndarray, penalty: np.ndarray, columns: np.ndarray, tol: float
) -> np.ndarray:
    """Solve what can be solved exactly on its present support with its signs, in place; which of `columns` are done."""
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


def cooccurrence(Y: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Weight of the rows that have both labels (q, q), and of all rows; labels are in {-1, +1}.

    Examples
    --------
    >>> cooccurrence(np.array([[1, 1], [1, -1], [-1, -1]]), np.array([1.0, 2.0, 0.5]))
    (array([[3., 1.],
           [1., 1.]]), 3.5)
    """
    if weights is None:
        weights = np.ones(len(Y))
    else:
        weights = to_numpy(weights)
    present = (Y > 0).astype(np.float64)
    return present.T @ (present * weights[:, None]), float(weights.sum())
