"""Y ► S ► G: label correlations by sparse reconstruction (equations 1 to 5 of the paper, Appendix A).

Each label is reconstructed from the others by a lasso,

    min over s_j  ½ ||Y s_j - Y_j||² + λ_j ||s_j||₁,   s_jj = 0,   λ_j = strength · max_{i≠j} |Y_iᵀ Y_j|,

with labels in {-1, +1} as in the paper, or with these centred (docs/deviations.md says why). All q problems share the Gram
matrix C = YᵀY, so that one matrix ADMM solves them together. Labels that are equal or opposite (in the paper's form empty
labels among them) enter once and share what they get: S would not be unique. A constant label is 0 when centred: its row and
its column of S are 0.

Where entries are unknown, C_ij is n times the mean of y_i y_j over the rows that know both labels, 0 where no row does. Such a matrix
has noise in its eigenvalues, of about √q times that of its entries, whose variance is 1 by the rows that know both labels less 1 by
those that know each. Some eigenvalues may be negative, and lassos wild. So all correlations are shrunk by one factor, until no
eigenvalue is below the noise. A label that no row knows has S = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array, cast, namespace, one_thread_for_small

KINDS = ("paper", "centred")  # labels in {-1, +1}, or these minus their means
OVER_RELAXATION = 1.6
STEP_SHARE = 0.1  # ADMM's first ρ as a share of the squared length of the labels
LEAST_CHANGE, GREATEST_CHANGE = 1.5, 3.0  # factors by which ρ adapts
FIRST_CHECK, CHECK_GROWTH = 10, 1.5  # optimality is looked at after 10, 16, 25, 38 … iterations


class Correlation(NamedTuple):
    """Label correlation with its certificate."""

    S: Array  # (q, q), column j reconstructs label j; exact zeros, zero diagonal
    penalty: Array  # (q,) λ_j
    violation: Array  # (q,) KKT violation of each column, divided by λ_j
    n_iter: int


def learn(
    Y: Array, *, centred: bool = False, strength: float = 0.01, weights: Array | None = None, tol: float = 1e-6, max_iter: int = 10_000
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
    complete = not bool(namespace(Y).isnan(Y).any())
    C = gram(Y, weights, centred=centred) if complete else known_gram(Y, weights, centred=centred)  # (q, q)
    return of_gram(C, complete=complete, strength=strength, tol=tol, max_iter=max_iter)


def of_gram(C: Array, *, complete: bool = True, strength: float = 0.01, tol: float = 1e-6, max_iter: int = 10_000) -> Correlation:
    """The same from C = YᵀY (q, q); labels may be known in part unless it is `complete`."""
    xp = namespace(C)
    penalty = penalties(C, strength)
    groups = equal_labels(C if complete else xp.diag(xp.diagonal(C)))  # what is equal where both are known may differ elsewhere
    one_each = C[groups.first][:, groups.first]
    alone = groups.size[groups.first] == 1
    with one_thread_for_small(len(one_each)):
        reduced, n_iter = solve_lassos(one_each, penalty[groups.first] * alone, tol=tol, max_iter=max_iter)
    S = expand(reduced, C, penalty, groups)
    violation = kkt_violation(C, S, penalty) / namespace(C).where(penalty > 0, penalty, 1.0)
    return Correlation(S, penalty, violation, n_iter)


class EqualLabels(NamedTuple):
    """Labels that are equal or opposite: row i of the label matrix says the same about both."""

    first: Array  # indices of the labels that stand for their group
    group: Array  # (q,) position in `first` of the one that stands for label j
    sign: Array  # (q,) +1 where label j equals it, -1 where it is its opposite
    size: Array  # (q,) number of labels in the group of label j


def gram(Y: Array, weights: Array | None = None, *, centred: bool = False) -> Array:
    """C = YᵀDY (q, q), with exact zeros where labels are orthogonal up to rounding, or constant and centred."""
    xp = namespace(Y)
    if centred:
        positive, negative = (_total(xp.clip(sign * Y, 0, None), weights) for sign in (1, -1))
        Y = Y - (positive - negative) / (positive + negative)  # the mean of a constant label is exact: ±1
    C = Y.T @ (Y if weights is None else Y * weights[:, None])
    return xp.where(xp.abs(C) <= len(Y) * np.finfo(np.float64).eps * _lengths(C), 0.0, C)


def gram_of_counts(together: np.ndarray, total: float, *, centred: bool = False) -> np.ndarray:
    """The same from the weight of the rows that have both labels (q, q), and of all rows.

    >>> Y = np.array([[1.0, 1], [1, -1], [-1, -1]])
    >>> present = (Y > 0) * 1.0
    >>> bool((gram_of_counts(present.T @ present, 3.0) == gram(Y)).all())
    True
    """
    present = np.diag(together)
    C = 4 * (together - present[:, None] * present / total) if centred else 4 * together - 2 * (present[:, None] + present) + total
    return np.where(np.abs(C) <= total * np.finfo(np.float64).eps * _lengths(C), 0.0, C)


def known_gram(Y: Array, weights: Array | None = None, *, centred: bool = False) -> Array:
    """The positive semi-definite C (q, q) of labels with NaN where unknown.

    >>> known_gram(np.array([[1.0, 1, np.nan], [-1, -1, np.nan], [1, np.nan, 1], [-1, np.nan, 1]])).round(2)
    array([[4.  , 2.77, 0.  ],
           [2.77, 4.  , 0.  ],
           [0.  , 0.  , 4.  ]])
    """
    xp = namespace(Y)
    known = ~xp.isnan(Y)
    w = xp.ones_like(Y[:, 0]) if weights is None else weights
    Y, M = xp.where(known, Y, 0.0), cast(known, "float64")
    if centred:
        positive, negative = (w @ xp.clip(sign * Y, 0, None) for sign in (1, -1))
        Y = M * (Y - (positive - negative) / xp.where(positive + negative > 0, positive + negative, 1.0))
    together = M.T @ (M * w[:, None])  # weight of the rows that know both
    C = xp.where(together > 0, xp.sum(w) * (Y.T @ (Y * w[:, None])) / xp.where(together > 0, together, 1.0), 0.0)
    C = xp.where(xp.abs(C) <= len(Y) * np.finfo(np.float64).eps * _lengths(C), 0.0, C)
    lengths = xp.where(xp.diagonal(C) > 0, xp.sqrt(xp.diagonal(C)), 1.0)
    least = float(xp.linalg.eigvalsh(C / (lengths[:, None] * lengths))[0])
    noise = xp.where(together > 0, 1 / xp.where(together > 0, together, 1.0) - 1 / xp.where(together > 0, _lengths(together), 1.0), 0.0)
    shrink = max(0.0, (len(C) * max(0.0, float(xp.mean(noise)))) ** 0.5 - least)
    return (C + shrink * xp.diag(xp.diagonal(C))) / (1 + shrink)


def equal_labels(C: Array) -> EqualLabels:
    """Groups of labels with |C_ij|² = C_ii C_jj, which for labels with two values means Y_i = ±Y_j; a label of length 0 is alone."""
    xp = namespace(C)
    index = xp.arange(len(C), device=C.device)
    lengths = _lengths(C)
    same = (lengths > 0) & (xp.abs(C) >= (1 - 1e-12) * lengths) | (index[:, None] == index)
    stands_for = xp.argmax(same * 1, axis=0)  # the first of each group
    first = index[stands_for == index]
    group = xp.argmax((first[:, None] == stands_for) * 1, axis=0)
    return EqualLabels(first, group, xp.sign(C[stands_for, index]), xp.sum(same * 1, axis=0))


def expand(reduced: Array, C: Array, penalty: Array, groups: EqualLabels) -> Array:
    """S of all labels from the S of one label of each group.

    A group shares the coefficient of the label that stands for it evenly, which costs the same. A label that has equals
    needs nothing but them: 1 - λ_j / C_jj of their mean leaves the residual (λ_j / C_jj) Y_j, and no other label has
    more than C_jj in common with Y_j, so the KKT conditions hold. That is so for centred labels of any frequency, too:
    C_ij / C_jj is half the difference between the means of label i where label j is present and where it is not.
    """
    xp = namespace(C)
    signs = groups.sign[:, None] * groups.sign
    S = signs * reduced[groups.group][:, groups.group] / groups.size[:, None]
    equals = (groups.group[:, None] == groups.group) * 1.0
    equals[_diagonal(C)] = 0
    has_equals = groups.size > 1
    total = xp.clip(1 - penalty / xp.where(has_equals, xp.diagonal(C), 1.0), 0, None)
    from_equals = total / xp.clip(groups.size - 1, 1, None)
    return xp.where(has_equals, signs * equals * from_equals, S)


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


def kkt_violation(C: Array, S: Array, penalty: Array, columns: Array | None = None) -> Array:
    """Distance of each column of S from optimality; 0 iff S solves the problem.

    Where s_ij ≠ 0 the gradient must be -λ_j sign(s_ij), elsewhere at most λ_j in absolute value; s_jj is fixed at 0.
    `S` and `penalty` may be those of some `columns` alone.
    """
    xp = namespace(C)
    columns = xp.arange(len(C), device=C.device) if columns is None else columns
    gradient = C @ S - C[:, columns]  # (q, number of columns)
    free = xp.clip(xp.abs(gradient) - penalty, 0, None)
    residual = xp.where(S != 0, xp.abs(gradient + penalty * xp.sign(S)), free)
    residual[columns, xp.arange(len(columns), device=C.device)] = 0
    return xp.amax(residual, axis=0)


def solve_lassos(C: Array, penalty: Array, *, tol: float, max_iter: int) -> tuple[Array, int]:
    """All columns by ADMM with one inverse; a column leaves as soon as its support gives the exact solution.

    Labels are brought to one length first: where they vary differently, steps that suit one would be far too short for another.
    The constraint s_jj = 0 is kept by a rank-one correction of each column. At growing intervals the zero pattern
    reached so far is tried: on a given support with given signs the lasso is a linear system, and if its solution keeps
    the signs and meets the KKT conditions, that column is solved to rounding. Columns whose support never settles
    (more labels than rows can tell apart) leave when the ADMM iterate itself meets `tol`.

    Returns
    -------
    S : array of shape (q, q)
    n_iter : int
    """
    xp = namespace(C)
    lengths = _relative_lengths(C)  # (q,), all 1 for labels in {-1, +1}
    products, ratios = lengths[:, None] * lengths, lengths[:, None] / lengths
    R, P = C / products, penalty / products  # the problem of labels of one length, whose solution is S · ratios
    identity = xp.eye(len(C), dtype=C.dtype, device=C.device)
    # coefficients are of order 1, so is λ/ρ; without any label that varies there is nothing to solve
    rho = max(STEP_SHARE * float(xp.amax(xp.diagonal(R))), float(xp.amax(penalty / lengths**2))) or 1.0
    inverse = xp.linalg.inv(R + rho * identity)
    S = xp.zeros_like(C)
    open_ = xp.arange(len(C), device=C.device)[penalty > 0]  # λ_j = 0 means Y_j orthogonal to all others: S_j = 0
    dual = xp.zeros_like(C)[:, open_]
    n_iter, check = 0, FIRST_CHECK
    while len(open_) and n_iter < max_iter:
        n_iter += 1
        own = (open_, xp.arange(len(open_), device=C.device))  # entries s_jj of the open columns
        before = S[:, open_] * ratios[:, open_]
        smooth = inverse @ (R[:, open_] + rho * (before - dual))
        smooth -= inverse[:, open_] * (smooth[own] / xp.diagonal(inverse)[open_])
        dual += OVER_RELAXATION * smooth + (1 - OVER_RELAXATION) * before
        shrunk = xp.sign(dual) * xp.clip(xp.abs(dual) - P[:, open_] / rho, 0, None)
        shrunk[own] = 0
        dual -= shrunk
        S[:, open_] = shrunk / ratios[:, open_]
        if n_iter in (check, max_iter):
            check = int(CHECK_GROWTH * check) + 1
            still = ~_finish(C, S, penalty, open_, tol)
            factor = _step_factor(smooth[:, still], shrunk[:, still], before[:, still], dual[:, still])
            open_, dual = open_[still], dual[:, still]
            if not 1 / LEAST_CHANGE < factor < LEAST_CHANGE:  # a new inverse costs about as much as one iteration
                rho, dual = rho * factor, dual / factor
                inverse = xp.linalg.inv(R + rho * identity)
    return S, max(n_iter, 1)


def _step_factor(smooth: Array, shrunk: Array, before: Array, dual: Array) -> float:
    """By how much ρ should grow so that the relative primal and dual residuals fall together."""
    norm = namespace(smooth).linalg.norm
    primal = float(norm(smooth - shrunk)) / max(float(norm(smooth)), float(norm(shrunk)), 1e-300)
    change = float(norm(shrunk - before)) / max(float(norm(dual)), 1e-300)
    if primal == change:  # both 0 where no column is left
        return 1.0
    wanted = (primal / change) ** 0.5 if change > 0 else GREATEST_CHANGE
    return min(max(wanted, 1 / GREATEST_CHANGE), GREATEST_CHANGE)


def _finish(C: Array, S: Array, penalty: Array, columns: Array, tol: float) -> Array:
    """Solve what can be solved exactly on its present support, in place; which of `columns` are done."""
    penalty, present = penalty[columns], S[:, columns]
    exact = _on_supports(C, present, penalty, columns)
    solved = kkt_violation(C, exact, penalty, columns) <= min(tol, 1e-8) * penalty
    S[:, columns[solved]] = exact[:, solved]
    return solved | (kkt_violation(C, present, penalty, columns) <= tol * penalty)


def _on_supports(C: Array, S: Array, penalty: Array, columns: Array) -> Array:
    """S with each column replaced by the lasso solution on its support with its signs, where that keeps the signs."""
    xp = namespace(C)
    index = xp.arange(len(C), device=C.device)
    exact = S + 0.0
    for k, j in enumerate(columns):
        support = index[S[:, k] != 0]
        signs = xp.sign(S[support, k])
        try:
            solution = xp.linalg.solve(C[support[:, None], support], C[support, j] - penalty[k] * signs)
        except (xp.linalg.LinAlgError, RuntimeError):  # singular: labels that depend on each other; torch raises RuntimeError
            continue
        if bool((solution * signs > 0).all()):
            exact[support, k] = solution
    return exact


def _total(Y: Array, weights: Array | None) -> Array:
    """Weighted sum over rows, (q,)."""
    return namespace(Y).sum(Y, axis=0) if weights is None else weights @ Y


def _lengths(C: Array) -> Array:
    """√(C_ii C_jj), (q, q): the most that |C_ij| can be."""
    lengths = namespace(C).sqrt(namespace(C).diagonal(C))
    return lengths[:, None] * lengths


def _relative_lengths(C: Array) -> Array:
    """√C_ii in units of their quadratic mean, (q,); labels of length 0 have 1."""
    xp = namespace(C)
    squares = xp.diagonal(C)
    mean = xp.sum(squares) / max(1, int(xp.sum((squares > 0) * 1)))
    return xp.sqrt(xp.where(squares > 0, squares, 1.0) / xp.where(squares > 0, mean, 1.0))


def _diagonal(C: Array) -> tuple[Array, Array]:
    index = namespace(C).arange(len(C), device=C.device)
    return index, index
