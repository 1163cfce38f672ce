"""The label side of :mod:`skcamel.solve.landmark` for many labels: products with a sparse G in place of its decomposition.

In the eigenbasis of the features, row k of the coefficients is, with m_k row k of M there and c_k = λ2 / (λ1 (ω_k + λ2)),

    [m_k - c_k (GᵀG + c_k I)⁻¹ m_k] / (ω_k + λ2).

Conjugate gradients solve these systems, all rows of a block at once. For each row those of all (λ1, λ2) differ by a multiple of the
identity, so they share their products with G (multi-shift conjugate gradients). If the residual of a system is r, the row errs by at
most ||r|| / (ω_k + λ2), so the residual relative to m_k is a certificate, whatever the condition of G; in fact a row errs by far less.
Dozens of products are enough for α up to .3, and hundreds from α = .5 on, where G may be nearly singular. At α = 1 components in
the null space of G contribute nothing, not even the mean of their labels, and no residual tells them apart from small ones: that
takes the decomposition, so α < 1 is needed here.

**Leave-one-out is approximate.** A row that is left out has the score y - (y - f) φ(GᵀG), where φ(x) = 1 / (1 - h(x)), and h(x) is the
leverage of the row for a component with d² = x. Lanczos' method gives the product with φ(GᵀG), from products with G alone, to
`LOO_TOLERANCE` of the length of y - f in at most `MOST_LANCZOS` steps. It is exact at α = 0.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from skcamel import correlation
from skcamel.arrays import Array, to_match, to_numpy
from skcamel.solve import Solution, spectral
from skcamel.solve.landmark import Summary
from skcamel.solve.spectral import Targets

TOLERANCE = 1e-7  # of the residuals of a model
SELECTION_TOLERANCE = 1e-3  # of those of a candidate, whose leave-one-out scores are no more accurate
MOST_STEPS = 1_000
LOO_TOLERANCE, MOST_LANCZOS, CHECKED_EVERY = 1e-4, 40, 4
BLOCK_BYTES = 2**23  # of one vector for each row of a block: near the processor
log = logging.getLogger("skcamel")


@dataclass(frozen=True)
class LabelOperator:
    """G (q, q), CSR, in place of its decomposition."""

    G: sparse.csr_array

    @classmethod
    def of(cls, S: sparse.sparray, alpha: float) -> LabelOperator:
        """G = (1 - α) I + α S."""
        return cls(sparse.csr_array(correlation.collaboration(S, alpha)))

    @cached_property
    def transposed(self) -> sparse.csr_array:
        """Gᵀ."""
        return sparse.csr_array(self.G.T)

    def squared(self, V: np.ndarray) -> np.ndarray:
        """GᵀG V (q, b)."""
        return self.transposed @ (self.G @ V)

    def to_match(self, like: Array) -> LabelOperator:
        """Itself: products with a sparse matrix are formed on the CPU."""
        return self


@dataclass(frozen=True)
class Coefficients:
    """In the eigenbasis of the features, for each pair (λ1, λ2), with their certificate."""

    values: list[np.ndarray]  # (r, q) each
    residual: float  # the largest, relative to m_k
    n_iter: int  # the most that a block of rows took


def coefficients(
    spectrum: Summary, targets: Targets, basis: LabelOperator, penalties: Sequence[tuple[float, float]], tol: float = TOLERANCE
) -> Coefficients:
    """Coefficients for all penalties of one G."""
    omega, M = to_numpy(spectrum.values), to_numpy(targets.projected)
    size = max(1, BLOCK_BYTES // (8 * M.shape[1]))
    found = [np.empty_like(M) for _ in penalties]
    worst, n_iter = 0.0, 0
    for start in range(0, len(M), size):
        block = slice(start, start + size)
        a = np.array([omega[block] + lambda2 for _, lambda2 in penalties])  # (p, b)
        c = np.array([lambda2 / lambda1 for lambda1, lambda2 in penalties])[:, None] / a
        rhs = np.ascontiguousarray(M[block].T)
        X, steps = shifted_systems(basis, rhs, c, tol)
        lengths = np.linalg.norm(rhs, axis=0)
        for p, x in enumerate(X):
            residual = np.linalg.norm(rhs - basis.squared(x) - c[p] * x, axis=0) / np.where(lengths > 0, lengths, 1.0)
            worst = max(worst, float(residual.max()))
            found[p][block] = ((rhs - c[p] * x) / a[p]).T
        n_iter = max(n_iter, steps)
    log.info("conjugate gradients: %d steps, residual %.1e", n_iter, worst)
    return Coefficients(found, worst, n_iter)


def shifted_systems(basis: LabelOperator, rhs: np.ndarray, shifts: np.ndarray, tol: float) -> tuple[list[np.ndarray], int]:
    """Solutions X_p (q, b) of (GᵀG + c_pk I) x_k = rhs_k for every p and column k, and the steps taken; shifts c are (p, b), positive.

    The least shift of each column is solved by conjugate gradients; residuals of the others are ζ times as long and in the same
    direction, so their steps follow by scalars.
    """
    seed = shifts.min(axis=0)
    delta = shifts - seed
    X = [np.zeros_like(rhs) for _ in shifts]
    P = [rhs.copy() for _ in shifts]
    own, residual = rhs.copy(), rhs.copy()
    squares = (residual**2).sum(axis=0)
    goal = tol**2 * squares
    before = now = np.ones_like(shifts)  # ζ of the last step but one, and of the last
    last_step, last_ratio = np.ones_like(seed), np.zeros_like(seed)
    steps = 0
    while steps < MOST_STEPS and (squares > goal).any():
        steps += 1
        product = basis.squared(own) + seed * own
        step = _quotient(squares, (own * product).sum(axis=0))
        below = last_step * before * (1 + delta * step) + step * last_ratio * (before - now)
        following = _quotient(now * before * last_step, below)
        open_ = ((now**2) * squares > goal).any(axis=1)  # the others are solved
        for p in np.flatnonzero(open_):
            X[p] += step * _quotient(following[p], now[p]) * P[p]
        residual -= step * product
        new = (residual**2).sum(axis=0)
        ratio = _quotient(new, squares)
        own *= ratio
        own += residual
        for p in np.flatnonzero(open_):
            P[p] *= ratio * _quotient(following[p], now[p]) ** 2
            P[p] += following[p] * residual
        before, now, squares, last_step, last_ratio = now, following, new, step, ratio
    return X, steps


def _quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Quotients; 0 where there is nothing left to divide by."""
    return above / np.where(below == 0, np.inf, below)


def solve_in(spectrum: Summary, targets: Targets, basis: LabelOperator, *, lambda1: float, lambda2: float) -> Solution:
    """As :func:`skcamel.solve.spectral.solve_in`, without the paper's variables A, b and Z, which a prediction does not need."""
    found = coefficients(spectrum, targets, basis, [(lambda1, lambda2)])
    dual = spectrum.vectors @ to_match(found.values[0], spectrum.values)
    offset = targets.mean - spectrum.kernel_mean @ dual
    return Solution(dual, offset, None, None, None, spectrum.kernel_mean, n_iter=found.n_iter, residual=found.residual)


def held_out(
    spectrum: Summary, targets: Targets, bases: Sequence[LabelOperator], penalties: Sequence[tuple[float, float]], K: Array
) -> Iterator[tuple[int, int, Array]]:
    """As :func:`skcamel.solve.spectral.held_out`."""
    rows = spectral.in_eigenbasis(spectrum, K)
    for a, basis in enumerate(bases):
        for p, values in enumerate(coefficients(spectrum, targets, basis, penalties, SELECTION_TOLERANCE).values):
            yield a, p, targets.mean + rows @ to_match(values, spectrum.values)


def leave_one_out(
    spectrum: Summary, targets: Targets, bases: Sequence[LabelOperator], penalties: Sequence[tuple[float, float]]
) -> Iterator[tuple[int, int, Array]]:
    """As :func:`skcamel.solve.landmark.leave_one_out`, to `LOO_TOLERANCE`."""
    Y, mean, rows = (to_numpy(part) for part in (targets.Y, targets.mean, spectrum.rows))
    units = np.broadcast_to(to_numpy(spectrum.units), len(Y))
    size = max(1, 8 * BLOCK_BYTES // (8 * Y.shape[1] * 8))
    for a, basis in enumerate(bases):
        for p, values in enumerate(coefficients(spectrum, targets, basis, penalties, SELECTION_TOLERANCE).values):
            scores = np.empty_like(Y)
            for start in range(0, len(Y), size):
                block = slice(start, start + size)
                rest = Leverage(to_numpy(spectrum.values), rows[block] ** 2, units[block], spectrum.weight, *penalties[p])
                wrong = Y[block] - mean - rows[block] @ values
                scores[block] = Y[block] - divided(basis, np.ascontiguousarray(wrong.T), rest)
            yield a, p, to_match(scores, spectrum.values)


@dataclass(frozen=True)
class Leverage:
    """1 - h(x) of some rows for components with d² = x."""

    omega: np.ndarray  # (r,)
    squares: np.ndarray  # (b, r) u²
    units: np.ndarray  # (b,)
    weight: float
    lambda1: float
    lambda2: float

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """φ(x) = 1 / (1 - h(x)) for x (b, t); 0 where nothing is left to learn from."""
        with np.errstate(divide="ignore"):
            rho = self.lambda2 * (1 + 1 / (self.lambda1 * np.clip(x, 0, None)))
        h = np.stack([(self.squares / (self.omega + column[:, None])).sum(axis=1) for column in rho.T], axis=1)
        rest = 1 - self.units[:, None] * (1 / self.weight + h)
        return np.where(rest > 0, 1 / np.where(rest > 0, rest, 1.0), 0.0)


def divided(basis: LabelOperator, wrong: np.ndarray, rest: Leverage) -> np.ndarray:
    """φ(GᵀG) e for every column e of `wrong` (q, b), each with its own φ, transposed: (b, q)."""
    lengths = np.linalg.norm(wrong, axis=0)
    V = [wrong / np.where(lengths > 0, lengths, 1.0)]
    diagonal: list[np.ndarray] = []
    beside: list[np.ndarray] = []
    shares = np.zeros((len(lengths), 0))
    while True:
        product = basis.squared(V[-1])
        if beside:
            product -= beside[-1] * V[-2]
        diagonal.append((product * V[-1]).sum(axis=0))
        product -= diagonal[-1] * V[-1]
        length = np.linalg.norm(product, axis=0)
        length[length <= 1e-12 * np.abs(diagonal[0])] = 0.0  # nothing new
        if len(V) % CHECKED_EVERY == 0 or len(V) == 1 or not length.any():
            before, shares = shares, _of_tridiagonal(np.array(diagonal).T, np.array(beside).T, rest)
            change = np.linalg.norm(shares - np.pad(before, ((0, 0), (0, len(V) - before.shape[1]))), axis=1)
            if len(V) >= MOST_LANCZOS or not length.any() or (len(V) > 1 and change.max() <= LOO_TOLERANCE):
                break
        beside.append(length)
        V.append(product / np.where(length > 0, length, 1.0))
    found = np.zeros_like(wrong)
    for share, v in zip(shares.T, V, strict=True):
        found += lengths * share * v
    return found.T


def _of_tridiagonal(diagonal: np.ndarray, beside: np.ndarray, rest: Leverage) -> np.ndarray:
    """φ(T) e₁ (b, t) for symmetric tridiagonal matrices T by their diagonals (b, t) and (b, t - 1)."""
    t = diagonal.shape[1]
    T = np.zeros((*diagonal.shape, t))
    index = np.arange(t)
    T[:, index, index] = diagonal
    if t > 1:
        T[:, index[:-1], index[1:]] = T[:, index[1:], index[:-1]] = beside
    values, vectors = np.linalg.eigh(T)
    return np.einsum("bij,bj,bj->bi", vectors, rest.inverse(values), vectors[:, 0])
