"""Exact solution by two decompositions, and exact leave-one-out scores from the same two.

The training problem (equations 6 and 7) is

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||z_i G - y_i||² + λ2/2 ||W||²,
    f(x) = φ(x)W + b

with W = φ(X)ᵀA/λ2 and weights w_i of the rows. Scores of new rows are f(x)G. Other modules solve it
for labels of which some are unknown (`unknown`), by sums over rows (`landmark`), and by the paper's
Algorithm 1 (`alternating`).

With the SVD G = P diag(d) Rᵀ and the eigendecomposition U diag(ω) Uᵀ of the centred kernel matrix,
the problem separates, in the label basis R, into kernel ridge regressions of the targets Y r_c with
ridge

    ρ_c = λ2 (1 + 1 / (λ1 d_c²)),

so one decomposition of the kernel serves every α, λ1 and λ2. ``docs/theory.md`` has every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from skcamel.arrays import EPS, Array, MaybeArray, as_floats, eigh_in_place, namespace, slices

INDEFINITE = 1e-6  # an eigenvalue below -1e-6 of the matrix norm is more than rounding
EXACT_FIT = 1e-10  # what least squares leave of a row and of its labels is rounding below it
BLOCK_ROWS = 256  # whose squares are formed at a time
MOST = 2**24  # numbers that errors at nodes may take where n²/2 is less
Penalty = tuple[float, float]  # (λ1, λ2)
Penalties = Sequence[Penalty]
Candidates = Sequence[tuple[int, Array]]  # number of the label basis, and ridges of its components


class Solution(NamedTuple):
    """Coefficients of a trained model, in the paper's variables and ready for prediction.

    Scores of new rows are ``k(x) @ dual_coef + intercept``, predictions before collaboration ``k(x)
    @ A / lambda2 + b``, with ``dual_coef = A @ G / lambda2`` and ``intercept = b @ G``. There may
    be n landmarks in place of n rows.
    """

    dual_coef: Array  # (n, q) B
    intercept: Array  # (q,)   c₀
    A: Array  # (n, q) multipliers; columns sum to zero
    b: Array  # (q,)
    Z: MaybeArray  # (n, q) label-independent embedding
    kernel_mean: Array  # (n,) kernel column of the average training row
    weights: Array  # (n,) of the training rows, 1 for landmarks and columns
    n_iter: int = 1  # alternations, or rounds in which unknown labels were filled
    convergence: MaybeArray = None  # (n_iter,) ΔZ of each alternation


class Spectrum(NamedTuple):
    """Eigenbasis of the centred kernel matrix without its constant direction.

    It is all that the solver needs of X. With row weights w (D = diag(w), v = w / Σw) the
    decomposed matrix is D^½ (I - 1vᵀ) K (I - v1ᵀ) D^½.
    """

    values: Array  # (m,)   ω, m = n - 1, ascending
    vectors: Array  # (n, m) U
    kernel_mean: Array  # (n,)   K v
    weights: Array  # (n,)
    weight: float  # Σw


class Targets(NamedTuple):
    """Labels in the eigenbasis of the kernel: all that the solver needs of Y, computed once."""

    Y: Array  # (n, q)
    mean: Array  # (q,)   weighted mean ȳ
    projected: Array  # (m, q) Uᵀ D^½ (Y - 1ȳ)


class LabelBasis(NamedTuple):
    """Live part of the SVD of G: directions that no prediction can reach are left out."""

    P: Array  # (q, l)
    d: Array  # (l,)
    R: Array  # (q, l)
    G: Array  # (q, q) itself

    def ridges(self, lambda1: float, lambda2: float) -> Array:
        """ρ_c of each component, (l,)."""
        return lambda2 * (1 + 1 / (lambda1 * self.d**2))


Bases = Sequence[LabelBasis]


def decompose(K: Array, weights: MaybeArray = None) -> Spectrum:
    """Eigenbasis of the centred kernel: O(n³) once, shared by every alpha, lambda1, lambda2.

    The kernel matrix K (n, n) of the training rows is overwritten: at most 3 n² doubles are alive
    at a time. Weights (n,) are positive.

    The constant vector is an eigenvector with eigenvalue 0, lost among other null directions where
    rows repeat. It is moved to a negative eigenvalue of the size of the matrix, comes out first,
    and is left out.
    """
    xp = namespace(K)
    n = len(K)
    if weights is None:
        weights = xp.ones_like(K[:, 0])
    total = float(xp.sum(weights))
    mean = K @ weights / total
    roots = xp.sqrt(weights)
    K -= mean[:, None]
    K -= mean - weights @ mean / total
    K *= roots[:, None]
    K *= roots
    size = finite_size(K) or 1.0
    constant = roots / total**0.5
    for some in slices(n, 512):  # rank-one update without a second n²
        K[some] -= size * constant[some, None] * constant
    values, vectors = eigh_in_place(K)
    if n > 1:
        # what centring leaves of a large common part
        rounding = n * EPS * float(xp.abs(mean).max())
        check_definite(float(values[1]), size, rounding)
    return Spectrum(xp.clip(values[1:], 0, None), vectors[:, 1:], mean, weights, total)


def finite_size(K: Array) -> float:
    """The norm of a matrix, refused where it is not finite."""
    size = float(namespace(K).linalg.norm(K))
    if not np.isfinite(size):
        raise ValueError(
            "The kernel matrix holds NaN or infinity: features or weights are too large or too"
            " small for it; scale them."
        )
    return size


def check_definite(least: float, size: float, rounding: float = 0.0) -> None:
    """Refuse a least eigenvalue below 0, by more than `rounding` and a share of the norm."""
    if least < -INDEFINITE * size - rounding:
        raise ValueError(
            "The kernel matrix is not positive semi-definite: its smallest eigenvalue is"
            f" {least:.3g} and its norm {size:.3g}. CAMEL needs a valid kernel; for similarities"
            " try K @ K.T."
        )


def project(spectrum: Spectrum, Y: Array) -> Targets:
    """Labels Y (n, q) in the eigenbasis of the kernel."""
    w = spectrum.weights
    mean = w @ Y / spectrum.weight
    roots = namespace(Y).sqrt(w)[:, None]
    return Targets(Y, mean, spectrum.vectors.T @ (roots * (Y - mean)))


def label_basis(G: Array) -> LabelBasis:
    """Live components of G: those with d_c > q · eps · d_max.

    They come from the SVD of G itself: squaring G would hide the small ones. There is a jump at d_c
    = 0: a null component contributes nothing, a tiny one its mean.
    """
    xp = namespace(G)
    P, d, Rt = xp.linalg.svd(G)
    live = d > len(G) * EPS * d.max()
    return LabelBasis(P[:, live], d[live], Rt.T[:, live], G)


def solve_in(
    spectrum: Spectrum,
    targets: Targets,
    basis: LabelBasis,
    *,
    lambda1: float,
    lambda2: float,
    embed: bool = True,
) -> Solution:
    """The solution for one (G, λ1, λ2), from the label basis of G, in the paper's variables.

    Z, if wanted, has a row for each training row.

    >>> K, Y, G = np.eye(3), np.array([[1.0, 1], [1, -1], [-1, -1]]), np.eye(2)
    >>> spectrum = decompose(K.copy())
    >>> basis = label_basis(G)
    >>> solution = solve_in(spectrum, project(spectrum, Y), basis, lambda1=1.0, lambda2=0.5)
    >>> (K @ solution.dual_coef + solution.intercept).round(3).tolist()
    [[0.667, 0.333], [0.667, -0.667], [-0.333, -0.667]]
    """
    rho = basis.ridges(lambda1, lambda2)
    w = spectrum.weights[:, None]
    # D^½ U diag(1/(ω + ρ_c)) Uᵀ D^½ (Y - 1ȳ) r_c
    beta = spectrum.vectors @ (targets.projected @ basis.R / (spectrum.values[:, None] + rho))
    beta = namespace(w).sqrt(w) * beta
    offset = targets.mean @ basis.R - spectrum.kernel_mean @ beta  # (l,)
    to_paper = (basis.P / basis.d).T  # (l, q), G⁺ = R @ to_paper
    A = lambda2 * beta @ to_paper
    Z = None
    if embed:
        scores = targets.Y @ basis.R - rho * beta / w  # (n, l) of the training rows
        Z = scores @ to_paper + A / w
    return Solution(
        dual_coef=beta @ basis.R.T,
        intercept=offset @ basis.R.T,
        A=A,
        b=offset @ to_paper,
        Z=Z,
        kernel_mean=spectrum.kernel_mean,
        weights=spectrum.weights,
    )


def held_out(
    spectrum: Spectrum,
    targets: Targets,
    bases: Bases,
    penalties: Penalties,
    K: Array,
) -> Iterator[Array]:
    """Scores (m, q) of other rows for every (λ1, λ2) of every label basis.

    K (m, n) is the kernel between the other rows and the training rows.
    """
    rows = in_eigenbasis(spectrum, K)
    for basis in bases:
        rotated = targets.projected @ basis.R
        mean = targets.mean @ basis.R
        for penalty in penalties:
            shrunk = rotated / (spectrum.values[:, None] + basis.ridges(*penalty))
            yield (mean + rows @ shrunk) @ basis.R.T


def in_eigenbasis(spectrum: Spectrum, K: Array) -> Array:
    """Other rows in the eigenbasis, (m, n - 1), from their kernel K (m, n) with training rows."""
    roots = namespace(K).sqrt(spectrum.weights)
    return (K - spectrum.kernel_mean) * roots @ spectrum.vectors


class Diagonal:
    """g(ρ) = Σ_k U_ik² / (ω_k + ρ) for many ρ, (n, number of ρ), from ω (m,) and U (n, m).

    log g is analytic in log ρ, so interpolation gives it to rounding. A grid of 77 candidates and
    100 labels needs 7 700 values of ρ per row, the interpolation 100 nodes, which halves the cost
    of leave-one-out. Few values are computed directly.
    """

    def __init__(self, values: Array, vectors: Array, ridges: Sequence[Array]) -> None:
        xp = namespace(values)
        self.values = values
        self.vectors = vectors
        self.nodes: Nodes | None = None
        if ridges and len(values):
            nodes = nodes_for(xp.concatenate(list(ridges)))
            if nodes is not None:
                self.logarithms = xp.log(xp.clip(self(nodes.rho), 1e-300, None))  # (n, n_nodes)
                self.nodes = nodes

    def __call__(self, rho: Array) -> Array:
        """The sum for each ρ, (n, number of ρ)."""
        xp = namespace(rho)
        if self.nodes is not None:
            found = self.logarithms @ self.nodes.shares(rho)
            return xp.exp(found, out=found)
        shares = 1 / (self.values[:, None] + rho)
        blocks = slices(len(self.vectors), BLOCK_ROWS)
        return xp.concatenate([self.vectors[some] ** 2 @ shares for some in blocks])


class Nodes(NamedTuple):
    """Chebyshev nodes in log ρ, between which functions of ρ are interpolated to rounding.

    Sums over 1/(ω + ρ) have all their singularities at negative ρ, that is at Im log ρ = ±π.
    """

    rho: Array  # (n_nodes,)
    middle: float  # of the interval of log ρ
    half: float  # its half width
    places: Array  # (n_nodes,) in [-1, 1]
    weights: Array  # (n_nodes,) of the barycentric formula

    def shares(self, rho: Array) -> Array:
        """Shares (n_nodes, len(rho)) of the values at the nodes in the value at each ρ."""
        xp = namespace(rho)
        distances = (xp.log(rho) - self.middle) / self.half - self.places[:, None]
        # at a node its value outweighs all others
        distances = xp.where(xp.abs(distances) < 1e-15, 1e-15, distances)
        shares = self.weights[:, None] / distances
        return shares / xp.sum(shares, axis=0)


def nodes_for(rho: Array) -> Nodes | None:
    """Nodes for all these ρ; None where there are fewer ρ than nodes, or all are equal."""
    if len(rho) <= 10:
        return None
    xp = namespace(rho)
    logarithms = xp.log(rho)
    lowest = float(logarithms.min())
    highest = float(logarithms.max())
    middle = (highest + lowest) / 2
    half = (highest - lowest) / 2
    if half < 1e-6:
        return None
    # the error falls like exp(-n_nodes asinh(π / half))
    n_nodes = 10 + int(33 / np.arcsinh(np.pi / half))
    if len(rho) <= n_nodes:
        return None
    angles = np.pi * (np.arange(n_nodes) + 0.5) / n_nodes
    places = as_floats(np.cos(angles), rho)
    weights = as_floats(np.sin(angles) * (-1.0) ** np.arange(n_nodes), rho)
    return Nodes(xp.exp(middle + half * places), middle, half, places, weights)


class Smoother(NamedTuple):
    """Rows in an orthonormal basis of the weighted training rows, for leave-one-out.

    With H the hat matrix and s = √w, in units of the weighted rows,

        I - H = I - s sᵀ / Σw - V Vᵀ + ρ V diag(1/(ω + ρ)) Vᵀ,

    where the first three terms are what lies outside all directions of the basis. Nothing cancels
    in this sum, however small ρ is.
    """

    values: Array  # (r,) ω
    rows: Array  # (n, r) V
    projected: Array  # (r, q) labels in the basis
    truth: Array  # (n, q) labels in {-1, +1}
    roots: Array  # (n, 1) √w
    total: float  # Σw
    outside: Array  # (n, 1) part of rows outside the basis, the diagonal of the first three terms
    missed: Array  # (n, q) part of the labels, less their mean and times √w, outside the basis


def without_rounding(outside: Array, missed: Array) -> tuple[Array, Array]:
    """Parts of rows and labels outside the basis, 0 where least squares fit a row exactly."""
    xp = namespace(outside)
    exact = (outside < EXACT_FIT) & (xp.amax(xp.abs(missed), axis=-1)[..., None] < EXACT_FIT)
    return xp.where(exact, 0.0, outside), xp.where(exact, 0.0, missed)


def leave_one_out(
    spectrum: Spectrum,
    targets: Targets,
    bases: Bases,
    penalties: Penalties,
    groups: MaybeArray = None,
) -> Iterator[Array]:
    """Exact leave-one-out scores (n, q) of the rows for each (λ1, λ2) of each label basis.

    Row i is scored by the model of all rows but i, with S and σ fixed. Under weights, row i loses
    one unit of weight, or all of it if it has less. With `groups` (n,), integers from 0 on, it is
    scored by the model of all rows outside its group.

    Rows may be some of all: the spectrum holds them times √w in an orthonormal basis of all.
    """
    values, rows, _, weights, total = spectrum
    xp = namespace(rows)
    roots = xp.sqrt(weights)[:, None]
    outside = 1 - (weights / total)[:, None] - xp.einsum("ij,ij->i", rows, rows)[:, None]
    missed = roots * (targets.Y - targets.mean) - rows @ targets.projected
    outside, missed = without_rounding(outside, missed)
    smoother = Smoother(values, rows, targets.projected, targets.Y, roots, total, outside, missed)
    candidates = [
        (a, basis.ridges(*penalty)) for a, basis in enumerate(bases) for penalty in penalties
    ]
    if groups is None:
        errors = _errors_without_row(smoother, bases, candidates)
    else:
        errors = _errors_without_group(smoother, bases, candidates, blocks_of_groups(groups))
    for basis in bases:
        reached = targets.Y @ basis.R @ basis.R.T  # (n, q), the labels but for null components
        for error in islice(errors, len(penalties)):
            yield reached - error @ basis.R.T


def _errors_without_row(
    smoother: Smoother, bases: Bases, candidates: Candidates
) -> Iterator[Array]:
    """Errors (n, l) of the components of each candidate without one unit of weight of the row.

    Where nothing is left to learn from, the error is the whole label.
    """
    xp = namespace(smoother.rows)
    share = xp.clip(1 / smoother.roots**2, None, 1.0)  # of the weight of each row that is left out
    stays = 1 - share + share * smoother.outside
    diagonal = Diagonal(smoother.values, smoother.rows, [rho for _, rho in candidates])
    projected = [smoother.projected @ basis.R for basis in bases]
    missed = [smoother.missed @ basis.R for basis in bases]
    # enough for fat products, whose results take half the memory of the rows
    together = len(smoother.values) // (4 * smoother.truth.shape[1])
    for some in slices(len(candidates), together):
        block = candidates[some]
        rho = xp.concatenate([rho for _, rho in block])
        labels = xp.concatenate([projected[a] for a, _ in block], axis=1)
        inside = smoother.rows @ (labels / (smoother.values[:, None] + rho))
        g = diagonal(rho)
        end = 0
        for a, ridges in block:
            start = end
            end = end + len(ridges)
            rest = stays + share * ridges * g[:, start:end]
            is_left = rest > 0
            error = missed[a] + ridges * inside[:, start:end]
            error = error / (smoother.roots * xp.where(is_left, rest, 1.0))
            if not bool(is_left.all()):
                error = xp.where(is_left, error, smoother.truth @ bases[a].R)
            yield error


def blocks_of_groups(groups: Array) -> list[Array]:
    """Rows of groups (n,) as arrays (groups, rows of a group), by size, of about 512 rows each.

    Examples
    --------
    >>> [rows.tolist() for rows in blocks_of_groups(np.array([0, 1, 2, 1]))]
    [[[0], [2]], [[1, 3]]]
    """
    sizes = np.bincount(groups)
    if sizes.max() == len(groups):
        raise ValueError(
            f"All {len(groups)} rows are in one group, so without it no row is left to learn from;"
            " groups must have at least two values."
        )
    members = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    found: list[Array] = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        rows = np.stack([group for group in members if len(group) == size])
        found += [rows[some] for some in slices(len(rows), 512 // size)]
    return found


def _errors_without_group(
    smoother: Smoother,
    bases: Bases,
    candidates: Candidates,
    groups: Sequence[Array],
) -> Iterator[Array]:
    """Errors (n, l) of the components of each candidate, where all rows of the group are left out.

    Errors of all labels at few nodes give those of every candidate, for they are as smooth in log ρ
    as the diagonal.
    """
    xp = namespace(smoother.rows)
    n, q = smoother.truth.shape
    every = xp.concatenate([rho for _, rho in candidates])
    nodes = nodes_for(every)
    if nodes is not None:
        # in products of the rows with a column
        size = n / sum(map(len, groups))
        cost = len(nodes.rho) * (q + size)
        direct = len(every) + size * len(xp.unique(every))
        numbers = n * q * len(nodes.rho)
        if cost > direct or numbers > max(MOST, n * len(smoother.values) // 2):
            nodes = None
    if nodes is None:
        for a, rho in candidates:
            R = bases[a].R
            systems = [(value, R[:, rho == value]) for value in xp.unique(rho).tolist()]
            yield _errors_at(smoother, groups, systems)
        return
    labels = as_floats(np.eye(q), smoother.rows)
    at_nodes = _errors_at(smoother, groups, [(rho, labels) for rho in nodes.rho.tolist()])
    for a, rho in candidates:
        mixing = nodes.shares(rho)[:, None, :] * bases[a].R  # (n_nodes, q, l)
        yield at_nodes @ xp.reshape(mixing, (-1, len(rho)))


def _errors_at(
    smoother: Smoother, groups: Sequence[Array], systems: Sequence[tuple[float, Array]]
) -> Array:
    """Errors (I - H)⁻¹ (y - ŷ) without the group for mixtures of labels (q, c) under each ρ.

    They are solved for in the eigenbasis of what lies outside the basis of the rows, where neither
    part of I - H hides the other.
    """
    xp = namespace(smoother.rows)
    width = sum(labels.shape[1] for _, labels in systems)
    found = as_floats(np.empty((len(smoother.rows), width)), smoother.rows)
    for index in groups:
        rows = smoother.rows[index]  # (k, m, r)
        roots = smoother.roots[index]  # (k, m, 1)
        k, m, r = rows.shape
        identity = as_floats(np.eye(m), rows)
        outside = identity - roots @ roots.mT / smoother.total - rows @ rows.mT
        outside, turned = xp.linalg.eigh(outside)
        rows = turned.mT @ rows
        missed = turned.mT @ smoother.missed[index]
        outside, missed = without_rounding(outside[..., None], missed)
        outside = outside * identity
        end = 0
        for rho, labels in systems:
            start = end
            end = end + labels.shape[1]
            shrinkage = xp.sqrt(rho / (smoother.values + rho))  # (r,)
            shrunk = rows * shrinkage
            projected = shrinkage[:, None] * (smoother.projected @ labels)
            inside = xp.reshape(shrunk, (k * m, r)) @ projected
            residuals = missed @ labels + xp.reshape(inside, (k, m, -1))
            errors = xp.linalg.solve(outside + shrunk @ shrunk.mT, residuals)
            found[index, start:end] = turned @ errors / roots
    return found
