"""Labels of which some are unknown: the same training problem with a data term that counts known entries alone.

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||m_i ∘ (z_i G - y_i)||² + λ2/2 ||W||²,     m_ij = 1 where y_ij is known

Filling the unknown entries with those of ZG costs nothing, so this is the least value of the complete problem over all fillings.
With Ỹ = D^½ Y the complete problem has the value λ1/2 <Ỹ, A Ỹ>, where

    A V = U diag(ν_c / (ω + ρ_c)) Uᵀ (V r_c) r_cᵀ, summed over c, + V (I - RRᵀ),     ν_c = ρ_c - λ2 = λ2 / (λ1 d_c²),

is symmetric and A Ỹ is D^½ (Y - ZG). The filling is the minimum of a quadratic form, which conjugate gradients find: each round takes
two products with U and lowers the objective by as much as all rounds so far can. Filling by ZG again and again has the same limit,
but takes the square of the number of rounds.

A label without any known entry is out of the problem. Its S is 0, so nothing depends on it, and its scores are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skcamel.arrays import Array, cast, namespace
from skcamel.camel import spectral
from skcamel.camel.spectral import LabelBasis, Solution, Spectrum

EXACT, ROUGH = 1e-10, 3e-3  # least |Y - ZG| of unknown entries in units of that of known ones: of a fit, and to compare candidates
ROUNDING = 1e-15  # in units of the labels
MOST_ROUNDS = 1000
Candidate = tuple[LabelBasis, tuple[float, float]]  # of G, with (λ1, λ2)


class Filled(NamedTuple):
    """Labels with their unknown entries filled, for each candidate."""

    labels: list[Array]  # (n, q) each
    n_rounds: int


def fill(spectrum: Spectrum, Y: Array, candidates: Sequence[Candidate], *, start: Array | None = None, tol: float = EXACT) -> Filled:
    """Fill NaN in labels Y (n, q) with ZG of the solution, for several candidates at once: products with U are faster if they are fat.

    Unknown entries start from those of `start` (n, q), or from the mean of their label.

    >>> import numpy as np
    >>> K = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two rows are alike
    >>> Y = np.array([[1.0], [np.nan], [-1.0]])
    >>> fill(spectral.decompose(K), Y, [(spectral.label_basis(np.eye(1)), (1.0, 0.5))]).labels[0].round(2)
    array([[ 1.  ],
           [ 0.45],
           [-1.  ]])
    """
    xp = namespace(Y)
    known, operator = ~xp.isnan(Y), _Operator(spectrum, candidates)
    root = 1.0 if spectrum.weights is None else xp.sqrt(spectrum.weights)[:, None]
    X = xp.stack([root * xp.where(known, Y, means(Y, spectrum.weights) if start is None else start)] * len(candidates))  # (c, n, q), D^½ Y
    image = operator(X)
    enough = xp.maximum(tol**2 * _dot(image, image), ROUNDING**2 * _dot(X, X))  # (c, 1, 1)
    residual = xp.where(known, 0.0, -image)
    direction, squares = residual, _dot(residual, residual)
    found: dict[int, Array] = {}
    waiting, n_rounds = list(range(len(candidates))), 0
    while True:
        still = squares > enough if n_rounds < MOST_ROUNDS else squares < 0
        if not bool(still.all()):  # candidates that are done leave
            rest = [k for k, more in enumerate(still[:, 0, 0].tolist()) if more]
            found |= {waiting[k]: X[k] for k in range(len(waiting)) if k not in rest}
            waiting = [waiting[k] for k in rest]
            if not waiting:
                return Filled([xp.where(known, Y, found[k] / root) for k in range(len(candidates))], n_rounds)
            X, residual, direction, squares, enough = (part[rest] for part in (X, residual, direction, squares, enough))
            operator = _Operator(spectrum, [candidates[k] for k in waiting])
        n_rounds += 1
        image = xp.where(known, 0.0, operator(direction))
        length = _ratio(squares, _dot(direction, image))
        X = X + length * direction
        residual = residual - length * image
        squares, before = _dot(residual, residual), squares
        direction = residual + _ratio(squares, before) * direction


def solve(spectrum: Spectrum, Y: Array, basis: LabelBasis, *, lambda1: float, lambda2: float) -> tuple[Solution, Array]:
    """The solution for labels Y (n, q) with NaN where unknown, and the leave-one-out scores (n, q); `n_iter` counts rounds."""
    candidate = (basis, (lambda1, lambda2))
    (labels,), n_rounds = fill(spectrum, Y, [candidate])
    solution = spectral.solve_in(spectrum, spectral.project(spectrum, labels), basis, lambda1=lambda1, lambda2=lambda2)
    extra = _extra_ridges(spectrum, basis, lambda1, lambda2, _shares(Y, spectrum.weights))
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, [basis.ridges(lambda1, lambda2) + extra])
    (scores,) = _left_out(spectrum, [labels], [candidate], [extra], diagonal)
    counts = cast(namespace(Y).any(~namespace(Y).isnan(Y), axis=0), "float64")  # rounding leaves traces of labels that nobody knows
    of_labels = {key: getattr(solution, key) * counts for key in ("dual_coef", "intercept", "A", "b", "Z")}
    return replace(solution, **of_labels, n_iter=max(1, n_rounds)), scores * counts


def leave_one_out(
    spectrum: Spectrum,
    Y: Array,
    bases: Sequence[LabelBasis],
    penalties: Sequence[tuple[float, float]],
    groups: np.ndarray | None = None,
) -> Iterator[tuple[int, int, Array]]:
    """As :func:`skcamel.camel.spectral.leave_one_out`, for labels Y (n, q) with NaN where unknown.

    Each candidate has its own filling, to two or three digits. That the filling of other rows depends on the row that is left out is
    accounted for on average: unknown entries, taken as spread at random over the rows of a label, act like more noise on all
    entries. What they add to the variance of label j is κ_j = (1 - p_j) / ḡ_j, where p_j is the known share and ḡ_j the mean over
    the rows of the diagonal of (A⁻¹ + κ)⁻¹. With nothing unknown κ is 0, and the scores are exact. Groups are refused.
    """
    if groups is not None:
        raise ValueError(
            f"groups has {len(groups)} entries, but Y has unknown labels, with which groups cannot leave together exactly; "
            "use cv=GroupKFold(5), which fits again without each fold."
        )
    shares = _shares(Y, spectrum.weights)
    candidates = [(a, p, basis.ridges(*penalty)) for a, basis in enumerate(bases) for p, penalty in enumerate(penalties)]
    extra = {(a, p): _extra_ridges(spectrum, bases[a], *penalties[p], shares) for a, p, _ in candidates}
    diagonal = spectral.Diagonal(spectrum.values, spectrum.vectors, [rho + extra[a, p] for a, p, rho in candidates])
    start = _middle(spectrum, Y, bases, penalties)
    for block in spectral.blocks(candidates, len(Y) // 2):
        pairs = [(bases[a], penalties[p]) for a, p, _ in block]
        labels = fill(spectrum, Y, pairs, start=start, tol=ROUGH).labels
        for (a, p, _), scores in zip(block, _left_out(spectrum, labels, pairs, [extra[a, p] for a, p, _ in block], diagonal), strict=True):
            yield a, p, scores


def held_out(
    spectrum: Spectrum, Y: Array, bases: Sequence[LabelBasis], penalties: Sequence[tuple[float, float]], K: Array
) -> Iterator[tuple[int, int, Array]]:
    """As :func:`skcamel.camel.spectral.held_out`, for labels Y (n, q) with NaN where unknown; fillings to two or three digits."""
    rows = spectral.in_eigenbasis(spectrum, K)
    candidates = [(a, p, basis.d) for a, basis in enumerate(bases) for p in range(len(penalties))]
    start = _middle(spectrum, Y, bases, penalties)
    for block in spectral.blocks(candidates, len(Y) // 2):
        filled = fill(spectrum, Y, [(bases[a], penalties[p]) for a, p, _ in block], start=start, tol=ROUGH)
        for (a, p, _), labels in zip(block, filled.labels, strict=True):
            basis, targets = bases[a], spectral.project(spectrum, labels)
            shrunk = targets.projected @ basis.R / (spectrum.values[:, None] + basis.ridges(*penalties[p]))
            yield a, p, (targets.mean @ basis.R + rows @ shrunk) @ basis.R.T


def means(Y: Array, weights: Array | None) -> Array:
    """Weighted means of labels over known entries, (q,); 0 for a label without any.

    >>> import numpy as np
    >>> means(np.array([[1.0, np.nan], [-1, np.nan], [np.nan, np.nan]]), np.array([3.0, 1, 1]))
    array([0.5, 0. ])
    """
    xp = namespace(Y)
    known = ~xp.isnan(Y)
    w = cast(known, "float64") if weights is None else known * weights[:, None]
    return _ratio(xp.sum(w * xp.where(known, Y, 0.0), axis=0), xp.sum(w, axis=0))


def _middle(spectrum: Spectrum, Y: Array, bases: Sequence[LabelBasis], penalties: Sequence[tuple[float, float]]) -> Array:
    """The filling (n, q) of a candidate from the middle of the grid, from which the others start."""
    middle = bases[len(bases) // 2], sorted(penalties, key=lambda penalty: penalty[1])[len(penalties) // 2]
    return fill(spectrum, Y, [middle], tol=ROUGH).labels[0]


class _Operator:
    """A of several candidates, (c, n, q) ► (c, n, q)."""

    def __init__(self, spectrum: Spectrum, candidates: Sequence[Candidate]) -> None:
        xp = namespace(spectrum.values)
        self.spectrum, self.bases = spectrum, [basis for basis, _ in candidates]
        noise = xp.concatenate([_noise(basis, *penalty) for basis, penalty in candidates])
        rho = xp.concatenate([basis.ridges(*penalty) for basis, penalty in candidates])
        self.damping = (noise / (rho + spectrum.values[:, None])).T  # (all components, m)

    def __call__(self, V: Array) -> Array:
        xp, U = namespace(V), self.spectrum.vectors
        rotated = xp.concatenate([basis.R.T @ part.T for part, basis in zip(V, self.bases, strict=True)])  # this way U is read fastest
        change = (self.damping * (rotated @ U)) @ U.T - rotated  # (all components, n)
        return V + xp.stack([part @ basis.R.T for part, basis in zip(_parts(change.T, self.bases), self.bases, strict=True)])


def _left_out(
    spectrum: Spectrum, labels: Sequence[Array], candidates: Sequence[Candidate], extra: Sequence[Array], diagonal: spectral.Diagonal
) -> list[Array]:
    """Leave-one-out scores (n, q) of each candidate, from its filled labels and what unknown entries add to its ridges."""
    xp = namespace(spectrum.values)
    bases = [basis for basis, _ in candidates]
    rho = xp.concatenate([basis.ridges(*penalty) for basis, penalty in candidates])
    projected = [spectral.project(spectrum, own).projected @ basis.R for own, basis in zip(labels, bases, strict=True)]
    beta = spectral.coefficients(spectrum, xp.concatenate(projected, axis=1), rho)
    more = rho + xp.concatenate(list(extra))
    g = diagonal(more)
    spread = xp.where(g > 0, 1 / xp.where(g > 0, g, 1.0) - more, 0.0)  # variance of the prediction by other rows, times the weight
    if spectrum.weights is None:
        step = beta * (rho + spread)
    else:
        w = spectrum.weights[:, None]
        step = rho * beta * (rho + spread) / (w * rho + xp.clip(w - 1, 0, None) * spread)
    return [(own @ basis.R - part) @ basis.R.T for own, basis, part in zip(labels, bases, _parts(step, bases), strict=True)]


def _extra_ridges(spectrum: Spectrum, basis: LabelBasis, lambda1: float, lambda2: float, shares: Array) -> Array:
    """What unknown entries add to the ridge of each component, (l,), where labels are known in these shares (q,) of the rows."""
    xp = namespace(shares)
    noise, n = _noise(basis, lambda1, lambda2), len(spectrum.vectors)
    variances = (spectrum.values[:, None] + basis.ridges(lambda1, lambda2)) / noise  # (m, l), of A⁻¹
    squares = basis.R**2  # (q, l)
    dead = xp.clip(1 - xp.sum(squares, axis=1), 0, None)
    kappa = (1 - shares) / shares
    for _ in range(200):  # it rises to its limit, for the map is increasing and concave
        before = kappa
        of_components = xp.sum(1 / (variances + kappa @ squares), axis=0) / n  # (l,)
        kappa = xp.maximum(kappa, (1 - shares) / (squares @ of_components + dead / (1 + kappa)))
        if bool((kappa - before <= 1e-3 * kappa).all()):
            break
    return (kappa @ squares) * noise


def _shares(Y: Array, weights: Array | None) -> Array:
    """Share of the rows, by weight, in which each label is known, (q,); at least half a row."""
    xp = namespace(Y)
    known = cast(~xp.isnan(Y), "float64")
    return xp.clip(xp.mean(known, axis=0) if weights is None else weights @ known / xp.sum(weights), 0.5 / len(Y), None)


def _noise(basis: LabelBasis, lambda1: float, lambda2: float) -> Array:
    """ν_c of each component, (l,)."""
    return lambda2 / (lambda1 * basis.d**2)


def _parts(columns: Array, bases: Sequence[LabelBasis]) -> Iterator[Array]:
    """The columns that belong to each basis."""
    end = 0
    for basis in bases:
        start, end = end, end + len(basis.d)
        yield columns[:, start:end]


def _dot(V: Array, W: Array) -> Array:
    """Inner products of matrices, (c, n, q) ► (c, 1, 1)."""
    xp = namespace(V)
    return xp.sum(xp.sum(V * W, axis=2), axis=1)[:, None, None]


def _ratio(numerator: Array, denominator: Array) -> Array:
    """The ratio, 0 where the denominator is not positive."""
    xp = namespace(numerator)
    return xp.where(denominator > 0, numerator / xp.where(denominator > 0, denominator, 1.0), 0.0)
