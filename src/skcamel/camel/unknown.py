"""Labels of which some are unknown: the training problem with a data term of known entries alone.

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||m_i ∘ (z_i G - y_i)||² + λ2/2 ||W||²

with m_ij = 1 where y_ij is known. Filling the unknown entries with those of ZG costs nothing, so
this is the least value of the complete problem over all fillings. With Ỹ = D^½ Y the complete
problem has the value λ1/2 <Ỹ, A Ỹ>, where

    A V = Σ_c U diag(ν_c / (ω + ρ_c)) Uᵀ (V r_c) r_cᵀ + V (I - RRᵀ),     ν_c = ρ_c - λ2,

is symmetric and A Ỹ is D^½ (Y - ZG). The filling is the minimum of a quadratic form, which
conjugate gradients find: each round takes two products with U and lowers the objective by as much
as all rounds so far can. Filling by ZG again and again has the same limit, but takes the square of
the number of rounds.

A label without any known entry is out of the problem. Its S is 0, so nothing depends on it, and its
scores are 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from sklearn.exceptions import ConvergenceWarning

from skcamel.arrays import Array, MaybeArray, as_floats, divisor, namespace
from skcamel.camel import spectral
from skcamel.camel.spectral import Bases, LabelBasis, Penalties, Penalty, Solution, Spectrum

# least |Y - ZG| of unknown entries in units of that of known ones: of a fit, and to compare
# candidates
EXACT = 1e-10
ROUGH = 3e-3
ROUNDING = 1e-15  # in units of the labels
MOST_ROUNDS = 1000


class Filled(NamedTuple):
    """Labels without gaps."""

    labels: Array  # (n, q)
    errors: Array  # (n, q) Y - ZG, about 0 where Y is unknown
    n_rounds: int


def fill(
    spectrum: Spectrum,
    Y: Array,
    basis: LabelBasis,
    penalty: Penalty,
    *,
    start: MaybeArray = None,
    tol: float = EXACT,
) -> Filled:
    """Labels Y (n, q) with NaN filled by ZG of the solution.

    Unknown entries start from those of `start` (n, q), or from the mean of their label.

    >>> import numpy as np
    >>> K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])  # two rows are alike
    >>> Y = np.array([[1.0], [np.nan], [-1.0]])
    >>> filled = fill(spectral.decompose(K), Y, spectral.label_basis(np.eye(1)), (1.0, 0.5))
    >>> filled.labels.round(2)
    array([[ 1.  ],
           [ 0.45],
           [-1.  ]])
    """
    xp = namespace(Y)
    U = spectrum.vectors
    R = basis.R
    rho = basis.ridges(*penalty)
    damping = (rho - penalty[1]) / (rho + spectrum.values[:, None])  # (m, l)

    def image(V: Array) -> Array:  # A V
        rotated = V @ R
        damped = U @ (damping * (U.T @ rotated))
        return V + (damped - rotated) @ R.T

    missing = xp.isnan(Y)
    weights = spectrum.weights
    if start is None:
        total = weights @ xp.where(missing, 0.0, Y)
        start = total / divisor(weights @ as_floats(~missing))
    roots = xp.sqrt(weights)[:, None]
    V = roots * xp.where(missing, start, Y)
    errors = image(V)
    enough = max(tol**2 * _squares(errors), ROUNDING**2 * _squares(V))
    residual = xp.where(missing, -errors, 0.0)
    direction = residual
    squares = _squares(residual)
    n_rounds = 0
    while squares > enough and n_rounds < MOST_ROUNDS:
        n_rounds += 1
        change = image(direction)
        length = squares / float(xp.sum(direction * change))
        V = V + length * direction
        errors = errors + length * change
        residual = xp.where(missing, -errors, 0.0)
        before = squares
        squares = _squares(residual)
        direction = residual + squares / before * direction
    return Filled(xp.where(missing, V / roots, Y), errors / roots, n_rounds)


def solve_in(
    spectrum: Spectrum, Y: Array, basis: LabelBasis, *, lambda1: float, lambda2: float
) -> tuple[Solution, Array]:
    """The solution for labels Y (n, q), NaN where unknown, and the leave-one-out scores (n, q).

    `n_iter` of the solution counts rounds.
    """
    penalty = (lambda1, lambda2)
    filled = fill(spectrum, Y, basis, penalty)
    n_rounds = filled.n_rounds
    if n_rounds >= MOST_ROUNDS:
        warnings.warn(
            f"Unknown labels were still changing after {n_rounds} rounds: lambda2 is very small for"
            " so few known labels, or lambda1 very large. Scores may lack digits; raise lambda2.",
            ConvergenceWarning,
            stacklevel=4,
        )
    solution = _solved(spectrum, filled, basis, penalty, embed=True)
    ridges = _ridges(spectrum, Y, basis, penalty)
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, [ridges])
    scores = _left_out(spectrum, filled, basis, penalty, ridges, diagonal)
    # rounding leaves traces of labels that nobody knows
    xp = namespace(Y)
    counts = as_floats(xp.any(~xp.isnan(Y), axis=0))
    of_labels = ("dual_coef", "intercept", "A", "b", "Z")
    exact = {key: getattr(solution, key) * counts for key in of_labels}
    return solution._replace(**exact, n_iter=max(1, n_rounds)), scores * counts


def leave_one_out(
    spectrum: Spectrum,
    Y: Array,
    bases: Bases,
    penalties: Penalties,
    groups: MaybeArray = None,
) -> Iterator[Array]:
    """As :func:`skcamel.camel.spectral.leave_one_out`, for labels Y (n, q) with NaN where unknown.

    Each candidate fills them anew, to two or three digits. That the filling of other rows depends
    on the row that is left out is accounted for on average: unknown entries, taken as spread at
    random over the rows of a label, act like more noise on all entries. What they add to the
    variance of label j is κ_j = (1 - p_j) / ḡ_j, where p_j is the known share and ḡ_j the mean over
    the rows of the diagonal of (A⁻¹ + κ)⁻¹. With nothing unknown κ is 0, and the scores are exact.
    Groups are refused.
    """
    if groups is not None:
        raise ValueError(
            f"groups has {len(groups)} entries, but Y has unknown labels, with which groups cannot"
            " leave together exactly; use cv=GroupKFold(5), which fits again without each fold."
        )
    every = [_ridges(spectrum, Y, basis, penalty) for basis, penalty in product(bases, penalties)]
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, every)
    candidates = _filled(spectrum, Y, bases, penalties)
    for ridges, (basis, penalty, filled) in zip(every, candidates, strict=True):
        yield _left_out(spectrum, filled, basis, penalty, ridges, diagonal)


def held_out(
    spectrum: Spectrum,
    Y: Array,
    bases: Bases,
    penalties: Penalties,
    K: Array,
) -> Iterator[Array]:
    """As :func:`skcamel.camel.spectral.held_out`, for labels Y (n, q) with NaN where unknown.

    Unknown labels are filled to two or three digits.
    """
    for basis, penalty, filled in _filled(spectrum, Y, bases, penalties):
        solution = _solved(spectrum, filled, basis, penalty)
        yield K @ solution.dual_coef + solution.intercept


def _solved(
    spectrum: Spectrum, filled: Filled, basis: LabelBasis, penalty: Penalty, *, embed: bool = False
) -> Solution:
    """The solution for filled labels."""
    lambda1, lambda2 = penalty
    targets = spectral.project(spectrum, filled.labels)
    return spectral.solve_in(
        spectrum, targets, basis, lambda1=lambda1, lambda2=lambda2, embed=embed
    )


def _filled(
    spectrum: Spectrum, Y: Array, bases: Bases, penalties: Penalties
) -> Iterator[tuple[LabelBasis, Penalty, Filled]]:
    """Every candidate with its labels, filled to two or three digits.

    All start from the labels of one candidate, of the median λ2: without it, errors of candidates
    that are about as good differ more.
    """
    candidates = list(product(bases, penalties))
    by_ridge = sorted(candidates, key=lambda candidate: candidate[1][1])
    start = fill(spectrum, Y, *by_ridge[len(by_ridge) // 2], tol=ROUGH).labels
    for basis, penalty in candidates:
        yield basis, penalty, fill(spectrum, Y, basis, penalty, start=start, tol=ROUGH)


def _left_out(
    spectrum: Spectrum,
    filled: Filled,
    basis: LabelBasis,
    penalty: Penalty,
    ridges: Array,
    diagonal: spectral.Diagonal,
) -> Array:
    """Leave-one-out scores (n, q) from filled labels, and `ridges` with the noise of these."""
    rho = basis.ridges(*penalty)
    beta = filled.errors @ basis.R / (rho - penalty[1])  # (n, l), for each unit of weight
    # one unit of weight leaves, and copies differ in directions with the eigenvalue 0
    units = namespace(beta).clip(spectrum.weights, 1.0, None)[:, None]
    g = (diagonal(ridges) + (units - 1) / ridges) / units
    # variance of the prediction by other rows
    spread = (1 - g * ridges) / g
    return (filled.labels @ basis.R - (rho + spread) * beta) @ basis.R.T


def _ridges(spectrum: Spectrum, Y: Array, basis: LabelBasis, penalty: Penalty) -> Array:
    """The ridge of each component with what unknown entries of labels Y (n, q) add to it, (l,)."""
    xp = namespace(Y)
    w = spectrum.weights
    n = float(xp.sum(xp.clip(w, 1.0, None)))  # a weight of 3 is three rows
    copies = n - len(w)
    # known share of each label, by weight
    shares = w @ as_floats(~xp.isnan(Y)) / spectrum.weight
    shares = xp.clip(shares, 0.5 / n, None)
    ridges = basis.ridges(*penalty)
    noise = ridges - penalty[1]
    variances = (spectrum.values[:, None] + ridges) / noise  # (m, l), of A⁻¹
    squares = basis.R**2  # (q, l)
    dead = xp.clip(1 - xp.sum(squares, axis=1), 0, None)
    kappa = (1 - shares) / shares
    for _ in range(200):  # it rises to its limit, for the map is increasing and concave
        noises = kappa @ squares
        of_rows = xp.sum(1 / (variances + noises), axis=0)
        of_components = (of_rows + copies / (ridges / noise + noises)) / n  # (l,)
        before = kappa
        kappa = (1 - shares) / (squares @ of_components + dead / (1 + kappa))
        if bool((kappa - before <= 1e-3 * kappa).all()):
            break
    return ridges + (kappa @ squares) * noise


def _squares(V: Array) -> float:
    """The sum of all squares."""
    return float(namespace(V).sum(V**2))
