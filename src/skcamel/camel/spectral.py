"""Exact solution by two decompositions, and exact leave-one-out scores from the same two.

The training problem (equations 6 and 7) is

    min over W, b, Z   ½ Σ w_i ||z_i - f(x_i)||² + λ1/2 Σ w_i ||z_i G - y_i||² + λ2/2 ||W||²,     f(x) = φ(x)W + b

with W = φ(X)ᵀA/λ2. The weights w_i of the rows are 1 unless given. Scores of new rows are f(x)G. Other modules solve it for labels of
which some are unknown (`unknown`), by sums over rows (`landmark`), and by the paper's Algorithm 1 (`alternating`).

With the SVD G = P diag(d) Rᵀ and the eigendecomposition U diag(ω) Uᵀ of the centred kernel matrix, the problem falls
apart, in the label basis R, into kernel ridge regressions of the targets Y r_c with ridge

    ρ_c = λ2 (1 + 1 / (λ1 d_c²)),

so one decomposition of the kernel serves every α, λ1 and λ2. ``docs/derivation.md`` has every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skcamel.arrays import Array, as_floats, eigh_in_place, namespace, to_match, to_numpy

INDEFINITE = 1e-6  # an eigenvalue below -1e-6 of the matrix norm is more than rounding


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


@dataclass(frozen=True)
class Spectrum:
    """Eigenbasis of the centred kernel matrix without its constant direction: all that the solver needs of X.

    With row weights w (D = diag(w), v = w / Σw) the decomposed matrix is D^½ (I - 1vᵀ) K (I - v1ᵀ) D^½.
    """

    values: Array  # (m,)   ω, m = n - 1, ascending
    vectors: Array  # (n, m) U
    kernel_mean: Array  # (n,)   K v
    weights: Array | None  # (n,)


@dataclass(frozen=True)
class Targets:
    """Labels in the eigenbasis of the kernel: the only thing the solver needs of Y, computed once."""

    Y: Array  # (n, q)
    mean: Array  # (q,)   weighted mean ȳ
    projected: Array  # (m, q) Uᵀ D^½ (Y - 1ȳ)


@dataclass(frozen=True)
class LabelBasis:
    """Live part of the SVD of G: directions that no prediction can reach are left out."""

    P: Array  # (q, l)
    d: Array  # (l,)
    R: Array  # (q, l)

    def to_match(self, like: Array) -> LabelBasis:
        """The same in the library and on the device of `like`."""
        return LabelBasis(*(to_match(part, like) for part in (self.P, self.d, self.R)))

    def ridges(self, lambda1: float, lambda2: float) -> Array:
        """ρ_c of each component, (l,)."""
        return lambda2 * (1 + 1 / (lambda1 * self.d**2))


def decompose(K: Array, weights: Array | None = None) -> Spectrum:
    """Eigenbasis of the centred kernel: O(n³) once, shared by every alpha, lambda1, lambda2.

    The kernel matrix K (n, n) of the training rows is overwritten: at most 3 n² doubles are alive at a time. Weights (n,) are
    positive.

    The constant vector is an eigenvector with eigenvalue 0, lost among other null directions where rows repeat. It is
    moved to a negative eigenvalue of the size of the matrix, comes out first, and is cut off.
    """
    xp = namespace(K)
    n = len(K)
    mean = xp.mean(K, axis=1) if weights is None else K @ weights / xp.sum(weights)
    grand = xp.mean(mean) if weights is None else weights @ mean / xp.sum(weights)
    K -= mean[:, None]
    K -= mean - grand
    if weights is not None:
        K *= xp.sqrt(weights)[:, None]
        K *= xp.sqrt(weights)
    size = finite_size(K) or 1.0
    constant = xp.ones_like(mean) / n**0.5 if weights is None else xp.sqrt(weights / xp.sum(weights))
    for i in range(0, n, 512):  # rank-one update without a second n²
        K[i : i + 512] -= size * constant[i : i + 512, None] * constant
    values, vectors = eigh_in_place(K)
    values, vectors = values[1:], vectors[:, 1:]
    rounding = n * np.finfo(np.float64).eps * float(xp.abs(mean).max())  # what centring leaves of a large common part
    if n > 1:
        check_definite(float(values[0]), size, rounding)
    return Spectrum(xp.clip(values, 0, None), vectors, mean, weights)


def finite_size(K: Array) -> float:
    """The norm of a matrix, refused where it is not finite."""
    size = float(namespace(K).linalg.norm(K))
    if not np.isfinite(size):
        raise ValueError("The kernel matrix holds NaN or infinity: features or weights are too large or too small for it; scale them.")
    return size


def check_definite(least: float, size: float, rounding: float = 0.0) -> None:
    """Refuse a kernel matrix whose least eigenvalue is below 0, by more than `rounding` and a share of its norm."""
    if least < -INDEFINITE * size - rounding:
        raise ValueError(
            f"The kernel matrix is not positive semi-definite: its smallest eigenvalue is {least:.3g} and its norm "
            f"{size:.3g}. CAMEL needs a valid kernel; for similarities try K @ K.T."
        )


def greatest(spectrum: Spectrum) -> float:
    """The greatest eigenvalue; 0 where there is one row."""
    return float(spectrum.values[-1]) if len(spectrum.values) else 0.0


def project(spectrum: Spectrum, Y: Array) -> Targets:
    """Labels Y (n, q) in the eigenbasis of the kernel."""
    xp = namespace(Y)
    w = spectrum.weights
    if w is None:
        mean = xp.mean(Y, axis=0)
        return Targets(Y, mean, spectrum.vectors.T @ (Y - mean))
    mean = w @ Y / xp.sum(w)
    return Targets(Y, mean, spectrum.vectors.T @ (xp.sqrt(w)[:, None] * (Y - mean)))


def label_basis(G: Array) -> LabelBasis:
    """Live components of G: those with d_c > q · eps · d_max.

    They come from the SVD of G itself: squaring G would hide the small ones. There is a jump at d_c = 0: a null
    component contributes nothing, a tiny one its mean.
    """
    xp = namespace(G)
    P, d, Rt = xp.linalg.svd(G)
    live = d > len(G) * np.finfo(np.float64).eps * d.max()
    return LabelBasis(P[:, live], d[live], Rt.T[:, live])


def solve_in(spectrum: Spectrum, targets: Targets, basis: LabelBasis, *, lambda1: float, lambda2: float, embed: bool = True) -> Solution:
    """The solution for one (G, λ1, λ2), from the label basis of G, in the paper's variables; Z, if wanted, has a row for each training row.

    >>> K, Y, G = np.eye(3), np.array([[1.0, 1], [1, -1], [-1, -1]]), np.eye(2)
    >>> spectrum = decompose(K.copy())
    >>> solution = solve_in(spectrum, project(spectrum, Y), label_basis(G), lambda1=1.0, lambda2=0.5)
    >>> (K @ solution.dual_coef + solution.intercept).round(3)
    array([[ 0.667,  0.333],
           [ 0.667, -0.667],
           [-0.333, -0.667]])
    """
    rho, w = basis.ridges(lambda1, lambda2), spectrum.weights
    beta = coefficients(spectrum, targets.projected @ basis.R, rho)
    offset = targets.mean @ basis.R - spectrum.kernel_mean @ beta  # (l,)
    to_paper = (basis.P / basis.d).T  # (l, q), G⁺ = R @ to_paper
    A = lambda2 * beta @ to_paper
    Z = None
    if embed:
        per_row = 1.0 if w is None else 1 / w[:, None]
        scores = targets.Y @ basis.R - rho * beta * per_row  # (n, l) of the training rows
        Z = scores @ to_paper + A * per_row
    return Solution(
        dual_coef=beta @ basis.R.T,
        intercept=offset @ basis.R.T,
        A=A,
        b=offset @ to_paper,
        Z=Z,
        kernel_mean=spectrum.kernel_mean,
    )


def leave_one_out(
    spectrum: Spectrum, targets: Targets, bases: Sequence[LabelBasis], penalties: Sequence[tuple[float, float]]
) -> Iterator[tuple[int, int, Array]]:
    """Exact leave-one-out scores of the training rows for every label basis and every (λ1, λ2).

    Yields the number of the basis, that of the penalties, and scores (n, q). Row i is scored by the model of all rows but i, with
    S and σ held. Under weights, row i loses one unit of weight, or all of it if it has less.

    With the constant direction out of U, ``g_i = Σ_k U_ik² / (ω_k + ρ)`` is (1 - h_i) / ρ of the hat matrix, so
    ``loo_i = t_i - β_i / g_i``; with weight w_i > 1, ``loo_i = t_i - ρ β_i / (w_i - 1 + ρ g_i)``.
    """
    xp = namespace(targets.Y)
    candidates = [(a, p, basis.ridges(*penalty)) for a, basis in enumerate(bases) for p, penalty in enumerate(penalties)]
    diagonal = Diagonal(spectrum.values, spectrum.vectors, [rho for _, _, rho in candidates])
    rotated = [(targets.projected @ basis.R, targets.Y @ basis.R) for basis in bases]  # (m, l) and (n, l) for each α
    for block in blocks(candidates, len(targets.Y)):
        rho = xp.concatenate([rho for _, _, rho in block])
        beta = coefficients(spectrum, xp.concatenate([rotated[a][0] for a, _, _ in block], axis=1), rho)
        g = diagonal(rho)  # (n, all components of the block)
        end = 0
        for a, p, own in block:
            start, end = end, end + len(own)
            left_out = _left_out(rotated[a][1], beta[:, start:end], g[:, start:end], own, spectrum.weights)
            yield a, p, left_out @ bases[a].R.T


def held_out(
    spectrum: Spectrum, targets: Targets, bases: Sequence[LabelBasis], penalties: Sequence[tuple[float, float]], K: Array
) -> Iterator[tuple[int, int, Array]]:
    """Number of the basis, that of the penalties, and scores (m, q) of other rows, for every label basis and every (λ1, λ2).

    K (m, n) is the kernel between the other rows and the training rows.
    """
    rows = in_eigenbasis(spectrum, K)
    for a, basis in enumerate(bases):
        rotated, mean = targets.projected @ basis.R, targets.mean @ basis.R
        for p, penalty in enumerate(penalties):
            shrunk = rotated / (spectrum.values[:, None] + basis.ridges(*penalty))
            yield a, p, (mean + rows @ shrunk) @ basis.R.T


def in_eigenbasis(spectrum: Spectrum, K: Array) -> Array:
    """Other rows in the eigenbasis of the kernel, (m, n - 1), from their kernel K (m, n) with the training rows."""
    centred = K - spectrum.kernel_mean
    return (centred if spectrum.weights is None else centred * namespace(K).sqrt(spectrum.weights)) @ spectrum.vectors


def coefficients(spectrum: Spectrum, rotated: Array, rho: Array) -> Array:
    """β_c = D^½ U diag(1/(ω + ρ_c)) Uᵀ D^½ (Y - 1ȳ) r_c for each column c of `rotated` (m, l)."""
    beta = spectrum.vectors @ (rotated / (spectrum.values[:, None] + rho))
    return beta if spectrum.weights is None else namespace(beta).sqrt(spectrum.weights)[:, None] * beta


def _left_out(truth: Array, beta: Array, g: Array, rho: Array, weights: Array | None) -> Array:
    """Leave-one-out predictions (n, l); 0 where nothing is left to learn from (one row)."""
    xp = namespace(beta)
    if weights is None:
        left = g
    else:
        w = weights[:, None]
        beta = rho * beta
        left = xp.clip(w - 1, 0, None) + xp.clip(w, None, 1) * rho * g
    return xp.where(left == 0, 0.0, truth - beta / xp.where(left == 0, 1.0, left))


def blocks(candidates: Sequence[tuple[int, int, Array]], n_rows: int) -> Iterator[Sequence[tuple[int, int, Array]]]:
    """Candidates taken together: enough for a fat matrix product, few enough for n²/2 doubles."""
    width = max((len(rho) for _, _, rho in candidates), default=1)
    size = max(1, n_rows // (2 * max(1, width)))
    return (candidates[i : i + size] for i in range(0, len(candidates), size))


class Diagonal:
    """g(ρ) = Σ_k U_ik² / (ω_k + ρ) for many ρ, (n, number of ρ), from ω (m,) and U (n, m).

    log g is analytic in log ρ (all its singularities lie at Im log ρ = ±π), so interpolation at Chebyshev nodes gives
    it to rounding. A grid of 77 candidates and 100 labels needs 7 700 values of ρ per row, the interpolation 100 nodes, which
    halves the cost of leave-one-out. Few values are computed directly.
    """

    def __init__(self, values: Array, vectors: Array, ridges: Sequence[Array]) -> None:
        xp = namespace(values)
        self.values, self.vectors, self.nodes = values, vectors, None
        rho = xp.log(xp.concatenate(list(ridges))) if ridges else values[:0]
        if len(rho) == 0 or len(values) == 0:
            return
        self.middle, self.half = float(rho.max() + rho.min()) / 2, float(rho.max() - rho.min()) / 2
        if self.half < 1e-6:  # all equal, as for α = 0
            return
        # The nearest singularity is iπ, so the error falls like exp(-n_nodes asinh(π / half)).
        n_nodes = 10 + int(33 / np.arcsinh(np.pi / self.half))
        if len(rho) <= n_nodes:
            return
        angles = np.pi * (np.arange(n_nodes) + 0.5) / n_nodes
        self.nodes = as_floats(np.cos(angles), values)
        self.barycentric = as_floats(np.sin(angles) * (-1.0) ** np.arange(n_nodes), values)
        self.logarithms = xp.log(xp.clip(self._direct(xp.exp(self.middle + self.half * self.nodes)), 1e-300, None))  # (n, n_nodes)

    def __call__(self, rho: Array) -> Array:
        """The sum for each ρ, (n, number of ρ)."""
        if self.nodes is None:
            return self._direct(rho)
        xp = namespace(rho)
        gaps = (xp.log(rho) - self.middle) / self.half - self.nodes[:, None]  # (n_nodes, len(rho))
        gaps = xp.where(xp.abs(gaps) < 1e-15, 1e-15, gaps)  # at a node its own value outweighs all others
        shares = self.barycentric[:, None] / gaps
        return xp.exp(self.logarithms @ (shares / xp.sum(shares, axis=0)))

    def _direct(self, rho: Array) -> Array:
        return self.vectors**2 @ (1 / (self.values[:, None] + rho))
