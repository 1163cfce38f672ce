"""Labels of which some are unknown: the same training problem with a data term that counts known entries alone.

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||m_i ∘ (z_i G - y_i)||² + λ2/2
    ||W||²,     m_ij = 1 where y_ij is known

Filling the unknown entries with those of ZG costs nothing, so this is the least value of the
complete problem over all fillings.
With Ỹ = D^½ Y the complete problem has the value λ1/2 <Ỹ, A Ỹ>, where

    A V = U diag(ν_c / (ω + ρ_c)) Uᵀ (V r_c) r_cᵀ, summed over c, + V (I - RRᵀ),     ν_c = ρ_c - λ2
    = λ2 / (λ1 d_c²),

is symmetric and A Ỹ is D^½ (Y - ZG). The filling is the minimum of a quadratic form, which
conjugate gradients find: each round takes
two products with U and lowers the objective by as much as all rounds so far can. Filling by ZG
again and again has the same limit,
but takes the square of the number of rounds.

A label without any known entry is out of the problem. Its S is 0, so nothing depends on it, and its
scores are 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcamel.arrays import Array, as_floats, namespace
from skcamel.camel import spectral
from skcamel.camel.spectral import LabelBasis, Solution, Spectrum

# least |Y - ZG| of unknown entries in units of that of known ones: of a fit, and to compare candidates
EXACT = 1e-10
ROUGH = 3e-3
ROUNDING = 1e-15  # in units of the labels
MOST_ROUNDS = 1000
Candidate = tuple[LabelBasis, tuple[float, float]]  # of G, with (λ1, λ2)


def fill(
    spectrum: Spectrum,
    Y: Array,
    candidates: Sequence[Candidate],
    *,
    start: Array | None = None,
    tol: float = EXACT,
) -> tuple[list[Array], int]:
    """Labels Y (n, q) with NaN filled by ZG of the solution, for several candidates at once, and the number of rounds.

    Products with U are faster if they are fat. Unknown entries start from those of `start` (n, q),
    or from the mean of their label.

    >>> import numpy as np
    >>> K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two rows are alike
    >>> Y = np.array([[1.0], [np.nan], [-1.0]])
    >>> (labels,), _ = fill(spectral.decompose(K), Y, [(spectral.label_basis(np.eye(1)), (1.0, 0.5))])
    >>> labels.round(2)
    array([[ 1.  ],
           [ 0.45],
           [-1.  ]])
    """
    xp = namespace(Y)
    operator = _operator(spectrum, candidates)
    missing = xp.isnan(Y)
    weights = _weights(spectrum, Y)
    roots = xp.sqrt(weights)
    if start is None:
        start = _ratio(weights @ xp.where(missing, 0.0, Y), weights @ as_floats(~missing))
    # (c, q, n), D^½ Y transposed
    X = xp.stack([roots * xp.where(missing, start, Y).T] * len(candidates))
    waiting = xp.arange(len(candidates), device=Y.device)
    n_rounds = 0
    image = operator(X, waiting)
    enough = xp.maximum(tol**2 * _dot(image, image), ROUNDING**2 * _dot(X, X))  # (c, 1, 1)
    residual = xp.where(missing.T, -image, 0.0)
    direction = residual
    squares = _dot(residual, residual)
    while n_rounds < MOST_ROUNDS:
        more = (squares > enough[waiting])[:, 0, 0]
        waiting = waiting[more]
        residual = residual[more]
        direction = direction[more]
        squares = squares[more]
        if not len(waiting):
            break
        n_rounds += 1
        image = xp.where(missing.T, operator(direction, waiting), 0.0)
        length = _ratio(squares, _dot(direction, image))
        X[waiting] += length * direction
        residual = residual - length * image
        before = squares
        squares = _dot(residual, residual)
        direction = residual + _ratio(squares, before) * direction
    return [xp.where(missing, (labels / roots).T, Y) for labels in X], n_rounds


def solve(
    spectrum: Spectrum, Y: Array, basis: LabelBasis, *, lambda1: float, lambda2: float
) -> tuple[Solution, Array]:
    """The solution for labels Y (n, q) with NaN where unknown, and the leave-one-out scores (n, q); `n_iter` counts rounds."""
    xp = namespace(Y)
    candidate = (basis, (lambda1, lambda2))
    (labels,), n_rounds = fill(spectrum, Y, [candidate])
    if n_rounds >= MOST_ROUNDS:
        warnings.warn(
            f"Unknown labels were still changing after {n_rounds} rounds: lambda2 is very small for"
            " so few known labels, or lambda1 very large. Scores may lack digits; raise lambda2.",
            ConvergenceWarning,
            stacklevel=4,
        )
    solution = spectral.solve_in(
        spectrum, spectral.project(spectrum, labels), basis, lambda1=lambda1, lambda2=lambda2
    )
    more = _ridges(spectrum, Y, candidate)
    scores = _left_out(
        spectrum,
        labels,
        candidate,
        more,
        spectral.Diagonal(spectrum.values, spectrum.vectors, [more]),
    )
    # rounding leaves traces of labels that nobody knows
    counts = as_floats(xp.any(~xp.isnan(Y), axis=0))
    of_labels = {
        key: getattr(solution, key) * counts for key in ("dual_coef", "intercept", "A", "b", "Z")
    }
    return solution._replace(**of_labels, n_iter=max(1, n_rounds)), scores * counts


def leave_one_out(
    spectrum: Spectrum,
    Y: Array,
    bases: Sequence[LabelBasis],
    penalties: Sequence[tuple[float, float]],
    groups: np.ndarray | None = None,
) -> Iterator[Array]:
    """As :func:`skcamel.camel.spectral.leave_one_out`, for labels Y (n, q) with NaN where unknown.

    Each candidate has its own filling, to two or three digits. That the filling of other rows
    depends on the row that is left out is
    accounted for on average: unknown entries, taken as spread at random over the rows of a label,
    act like more noise on all
    entries. What they add to the variance of label j is κ_j = (1 - p_j) / ḡ_j, where p_j is the
    known share and ḡ_j the mean over
    the rows of the diagonal of (A⁻¹ + κ)⁻¹. With nothing unknown κ is 0, and the scores are exact.
    Groups are refused.
    """
    if groups is not None:
        raise ValueError(
            f"groups has {len(groups)} entries, but Y has unknown labels, with which groups cannot"
            " leave together exactly; use cv=GroupKFold(5), which fits again without each fold."
        )
    candidates = list(product(bases, penalties))
    more = [_ridges(spectrum, Y, candidate) for candidate in candidates]
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, more)
    for candidate, own, labels in zip(
        candidates, more, _filled(spectrum, Y, candidates), strict=True
    ):
        yield _left_out(spectrum, labels, candidate, own, diagonal)


def held_out(
    spectrum: Spectrum,
    Y: Array,
    bases: Sequence[LabelBasis],
    penalties: Sequence[tuple[float, float]],
    K: Array,
) -> Iterator[Array]:
    """As :func:`skcamel.camel.spectral.held_out`, for labels Y (n, q) with NaN where unknown; fillings to two or three digits."""
    candidates = list(product(bases, penalties))
    for (basis, (lambda1, lambda2)), labels in zip(
        candidates, _filled(spectrum, Y, candidates), strict=True
    ):
        targets = spectral.project(spectrum, labels)
        solution = spectral.solve_in(
            spectrum, targets, basis, lambda1=lambda1, lambda2=lambda2, embed=False
        )
        yield K @ solution.dual_coef + solution.intercept


def _filled(spectrum: Spectrum, Y: Array, candidates: Sequence[Candidate]) -> Iterator[Array]:
    """Labels filled to two or three digits, for every candidate.

    As many candidates at a time as take n²/4 numbers. All start from the labels of one candidate,
    of the median λ2: without it, errors
    of candidates that are about as good differ more.
    """
    by_ridge = sorted(candidates, key=lambda candidate: candidate[1][1])
    (start,), _ = fill(spectrum, Y, [by_ridge[len(by_ridge) // 2]], tol=ROUGH)
    size = max(1, len(Y) // (4 * Y.shape[1]))
    for first in range(0, len(candidates), size):
        filled, _ = fill(spectrum, Y, candidates[first : first + size], start=start, tol=ROUGH)
        yield from filled


def _operator(
    spectrum: Spectrum, candidates: Sequence[Candidate]
) -> Callable[[Array, Array], Array]:
    """A function of V (c, q, n), labels transposed, and of numbers of candidates (c,): A V of each.

    All share products with U, read row by row.
    """
    values = spectrum.values
    U = spectrum.vectors
    q = len(candidates[0][0].R)
    bases = as_floats(np.zeros((len(candidates), q, q)), values)
    damping = as_floats(np.zeros((len(candidates), q, len(values))), values)
    for k, (basis, penalty) in enumerate(candidates):  # components that a basis lacks stay 0
        live = len(basis.d)
        bases[k, :, :live] = basis.R
        damping[k, :live] = (_noise(basis, *penalty) / (basis.ridges(*penalty) + values[:, None])).T

    def image(V: Array, which: Array) -> Array:
        xp = namespace(V)
        R = bases[which]
        rotated = xp.swapaxes(R, 1, 2) @ V
        damped = xp.tensordot(rotated, U, 1) * damping[which]
        return V + R @ (xp.tensordot(damped, U.T, 1) - rotated)

    return image


def _left_out(
    spectrum: Spectrum,
    labels: Array,
    candidate: Candidate,
    more: Array,
    diagonal: spectral.Diagonal,
) -> Array:
    """Leave-one-out scores (n, q) of a candidate, from its filled labels and its ridges with what unknown entries add to them."""
    xp = namespace(labels)
    (basis, penalty) = candidate
    rho = basis.ridges(*penalty)
    w = _weights(spectrum, labels)[:, None]
    beta = spectral.coefficients(
        spectrum, spectral.project(spectrum, labels).projected @ basis.R, rho
    )
    g = diagonal(more)
    spread = _ratio(1 - g * more, g)  # variance of the prediction by other rows, times the weight
    step = beta * rho * (rho + spread) / (w * rho + xp.clip(w - 1, 0, None) * spread)
    return (labels @ basis.R - step) @ basis.R.T


def _ridges(spectrum: Spectrum, Y: Array, candidate: Candidate) -> Array:
    """The ridge of each component with what unknown entries of labels Y (n, q) add to it, (l,)."""
    xp, (basis, penalty), n = namespace(Y), candidate, len(Y)
    weights = _weights(spectrum, Y)
    known = as_floats(~xp.isnan(Y))
    # of the rows, by weight; at least half a row
    shares = xp.clip(weights @ known / xp.sum(weights), 0.5 / n, None)
    noise = _noise(basis, *penalty)
    ridges = basis.ridges(*penalty)
    variances = (spectrum.values[:, None] + ridges) / noise  # (m, l), of A⁻¹
    squares = basis.R**2  # (q, l)
    dead = xp.clip(1 - xp.sum(squares, axis=1), 0, None)
    kappa = (1 - shares) / shares
    for _ in range(200):  # it rises to its limit, for the map is increasing and concave
        of_components = xp.sum(1 / (variances + kappa @ squares), axis=0) / n  # (l,)
        before = kappa
        kappa = (1 - shares) / (squares @ of_components + dead / (1 + kappa))
        if bool((kappa - before <= 1e-3 * kappa).all()):
            break
    return ridges + (kappa @ squares) * noise


def _weights(spectrum: Spectrum, Y: Array) -> Array:
    """Weights of the rows, (n,)."""
    if spectrum.weights is None:
        return namespace(Y).ones_like(Y[:, 0])
    return spectrum.weights


def _noise(basis: LabelBasis, lambda1: float, lambda2: float) -> Array:
    """ν_c of each component, (l,)."""
    return lambda2 / (lambda1 * basis.d**2)


def _dot(V: Array, W: Array) -> Array:
    """Inner products of matrices, (c, q, n) ► (c, 1, 1)."""
    return namespace(V).einsum("cqn,cqn->c", V, W)[:, None, None]


def _ratio(numerator: Array, denominator: Array) -> Array:
    """The ratio, 0 where the denominator is not positive."""
    xp = namespace(numerator)
    return xp.where(denominator > 0, numerator / xp.where(denominator > 0, denominator, 1.0), 0.0)
