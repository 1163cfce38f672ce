"""The same problem in m features instead of n rows: sums over rows, then one decomposition.

Features of a row are its kernel with m landmarks Z, φ(x) = k(x, Z) V s^-½ with K_ZZ = V diag(s) Vᵀ
(Nyström), or for the linear kernel the row itself, which is no approximation. With sums over all
rows, additive over blocks, batches and machines,

    C = Σ w (φ - μ)(φ - μ)ᵀ = Q diag(ω) Qᵀ,     M = Σ w (φ - μ)(y - ȳ)ᵀ,

the coefficients of component c are Q diag(1/(ω + ρ_c)) Qᵀ M r_c, as in
:mod:`skcamel.camel.spectral`, whose formulas serve here as they are. Leave-one-out of any row, with
the landmarks held, takes its features alone: Qᵀ(φ(x) - μ) / √ω is the row in an orthonormal basis
of all rows (:class:`skcamel.camel.spectral.Smoother`). So a sample of the rows, kept from the one
pass, scores every candidate, and the cost of that does not grow with n.

The sample holds the rows whose random numbers are smallest. Row i of all rows has the i-th number
of a seeded generator, so samples of blocks, batches and partitions add up to the sample of all
rows.

Sums are taken of k(x, Z) - k₀ as it is, for to whiten every block would cost more than the rest: V
s^-½ is applied at the end. Where that would lose too many digits, blocks are whitened first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from scipy import sparse

from skcamel.arrays import (
    EPS,
    Array,
    MaybeArray,
    alike,
    as_floats,
    eigh_in_place,
    namespace,
    one_thread,
    overflow_allowed,
    slices,
)
from skcamel.camel import spectral
from skcamel.camel.kernel import Kernel

SMALLEST = 1e-12  # eigenvalues of K_ZZ below this share of the largest are rounding
# largest loss by sums of kernels that are not whitened, relative to the ridge; results then err by
# 1e-10
DIGITS = 1e-3
BLOCK_ROWS = 2048  # enough for products to be fast
# features; fewer are decomposed by one thread: two gain half the time, or lose tenfold beside other
# work
ALONE = 3000
SAMPLE_ROWS = 20_000  # of a sample; more where there are more landmarks
JUDGED_ROWS = 10_000  # of a sample, whose leave-one-out scores judge candidates and set thresholds


@dataclass(frozen=True)
class Features:
    """x ► k(x, Z) - k₀, and what makes features of it; without landmarks the row itself."""

    kernel: Kernel
    landmarks: MaybeArray  # (m, d)
    origin: Array  # (m,) k₀
    whitening: Array = None  # (m, r) V s^-½; None: the identity
    of_blocks: bool = False  # whether blocks are whitened, or their sums

    def kernels(self, X: Array) -> Array:
        """Rows (b, d) ► their kernels with the landmarks, (b, m), as a new array."""
        if self.landmarks is None:
            return X + 0.0
        return self.kernel(X, self.landmarks)

    @property
    def width(self) -> int:
        """Length of what is summed up."""
        if self.of_blocks:
            return self.whitening.shape[1]
        return len(self.origin)


class Moments(NamedTuple):
    """Sums over rows, of p numbers each; those of two sets of rows add up to those of both."""

    gram: Array  # (p, p) Σ w k kᵀ
    cross: Array  # (p, q + 1) Σ w k (y, 1)ᵀ
    kernel: Array  # (m,) Σ w (k - k₀), never whitened
    labels: Array  # (q + 1,) Σ w (y, 1)

    def plus(self, other: Moments) -> Moments:
        """Of the rows of both."""
        return Moments(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Block(NamedTuple):
    """Some rows with their labels."""

    X: Array  # (b, d)
    Y: Array  # (b, q) in {-1, +1}, int8, or floats where sums are formed
    weights: Array  # (b,) positive
    first: int = 0  # number of the first row among all rows


class Summary(NamedTuple):
    """Eigenbasis of the features of all rows, and a sample of rows in it.

    `vectors` (m, r) lead from kernels with the landmarks to the eigenbasis, `kernel_mean` (m,) is
    the kernel of the average row.
    """

    values: Array  # (r,) ω, ascending
    vectors: Array
    kernel_mean: Array
    weight: float  # Σ w
    targets: spectral.Targets  # labels of the sample, means of all, and M in the eigenbasis
    rows: Array  # (s, r) u of the sample
    judged_weights: Array  # (s,) of the sample
    weights: Array  # (m,) ones, for those of rows are in the sums


@overflow_allowed
def features(kernel: Kernel, Z: Array, *, n_rows: float, lambda2: float) -> Features:
    """Features by landmarks Z (m, d), for sums over so many rows, and ridges from `lambda2` on.

    For the linear kernel the ridge may be in its unit.
    """
    K = kernel(Z, Z)
    size = spectral.finite_size(K)
    xp = namespace(K)
    m = len(K)
    origin = xp.mean(K, axis=0)
    ridge = lambda2
    if kernel.name == "linear":  # a search measures λ2 in the mean eigenvalue, a plain fit does not
        unit = float(xp.mean(xp.diagonal(K)) - xp.mean(origin))
        ridge *= min(1.0, unit) if unit > 0 else 1.0
    values, vectors = _decomposed(K)
    spectral.check_definite(float(values[0]), size)
    if float(values[-1]) <= 0:  # all landmarks at the origin of the linear kernel
        values = xp.ones_like(values)
    live = values > SMALLEST * values[-1]
    s = values[live]
    # squared norm of K_ZZ - k₀; rows may differ more than landmarks do
    of_landmarks = float(xp.sum(s**2)) - m * float(origin @ origin)
    spread = max(of_landmarks, float(xp.sum(s)) ** 2 / m)
    loss = EPS * max(1.0, n_rows / m) * spread / (float(s[0]) * ridge)
    return Features(kernel, Z, origin, vectors[:, live] / xp.sqrt(s), loss > DIGITS)


def _decomposed(K: Array) -> tuple[Array, Array]:
    with one_thread(len(K), ALONE):
        return eigh_in_place(K)


def moments(
    of: Features, blocks: Sequence[Callable[[], Block]], q: int, *, threads: int = 1
) -> Moments:
    """Sums over all blocks; on the CPU by several threads, each with separate sums.

    Which thread takes which block is fixed, so that results repeat to the last bit.
    """
    threads = max(1, min(threads, len(blocks)))
    if threads == 1:
        return _sums(of, q, blocks)
    with one_thread(), ThreadPoolExecutor(threads) as pool:
        parts = pool.map(partial(_sums, of, q), [blocks[k::threads] for k in range(threads)])
        return reduce(Moments.plus, parts)


@overflow_allowed
def _sums(of: Features, q: int, blocks: Sequence[Callable[[], Block]]) -> Moments:
    """Sums that grow in place, by one thread."""
    xp = namespace(of.origin)
    p = of.width
    shapes = (p, p), (p, q + 1), len(of.origin), q + 1
    found = Moments(*(as_floats(np.zeros(shape), of.origin) for shape in shapes))
    gram, cross, kernel, labels = found
    product = xp.empty_like(gram)
    for make in blocks:
        block = make()
        K = of.kernels(block.X)
        K -= of.origin
        targets = xp.concatenate([block.Y, xp.ones_like(K[:, :1])], axis=1)
        labels += block.weights @ targets  # whole numbers, without rounding
        roots = xp.sqrt(block.weights)[:, None]
        K *= roots
        targets *= roots
        kernel += targets[:, -1] @ K
        if of.of_blocks:
            K = K @ of.whitening
        xp.matmul(K.T, K, out=product)  # numpy forms AᵀA in half the time
        gram += product
        cross += (targets.T @ K).T  # a third faster than Kᵀ times the targets
    return found


def summarise(of: Features, found: Moments, sample: Block) -> Summary:
    """The eigenbasis of the features, and the sample in it."""
    xp = namespace(of.origin)
    W = of.whitening
    spectral.finite_size(found.gram)
    total = float(found.labels[-1])
    mean = found.cross[:, -1] / total
    label_mean = found.labels[:-1] / total
    gram = found.gram - total * mean[:, None] * mean
    cross = found.cross[:, :-1] - total * mean[:, None] * label_mean
    if W is not None and not of.of_blocks:
        gram = W.T @ gram @ W
        cross = W.T @ cross
    values, vectors = _decomposed(gram)
    projected = vectors.T @ cross
    if W is not None:
        vectors = W @ vectors
    kernel_mean = of.origin + found.kernel / total
    kernels = (of.kernels(sample.X[some]) for some in slices(sample.X.shape[0], BLOCK_ROWS))
    rows = xp.concatenate([(K - kernel_mean) @ vectors for K in kernels])
    return Summary(
        values=xp.clip(values, 0, None),
        vectors=vectors,
        kernel_mean=kernel_mean,
        weight=total,
        targets=spectral.Targets(sample.Y, label_mean, projected),
        rows=rows,
        judged_weights=sample.weights,
        weights=xp.ones_like(kernel_mean),
    )


def leave_one_out(
    spectrum: Summary,
    targets: spectral.Targets,
    bases: spectral.Bases,
    penalties: spectral.Penalties,
    groups: MaybeArray = None,
) -> Iterator[Array]:
    """As :func:`skcamel.camel.spectral.leave_one_out`, for the rows of the sample.

    Groups are those of the rows of the sample, which must hold all rows of a group.
    """
    xp = namespace(targets.Y)
    weights = spectrum.judged_weights
    live = spectrum.values > len(spectrum.values) * EPS * spectrum.values[-1]
    values = spectrum.values[live]
    roots = xp.sqrt(values)
    rows = spectrum.rows[:, live]  # a copy
    rows /= roots
    rows *= xp.sqrt(weights)[:, None]
    of_features = targets._replace(projected=targets.projected[live] / roots[:, None])
    of_sample = spectral.Spectrum(values, rows, spectrum.kernel_mean, weights, spectrum.weight)
    return spectral.leave_one_out(of_sample, of_features, bases, penalties, groups)


# coefficients of the landmarks; Z would have a row for each training row
solve_in = partial(spectral.solve_in, embed=False)
held_out = spectral.held_out  # with the kernel between other rows and the landmarks


class Sample(NamedTuple):
    """Rows of a sample in their order, with their labels.

    Examples
    --------
    >>> X, Y, w = np.arange(8.0)[:, None], np.ones((8, 1), dtype=np.int8), np.ones(8)
    >>> whole = drawn(Block(X, Y, w), size=3, seed=0)
    >>> halves = Block(X[:5], Y[:5], w[:5]), Block(X[5:], Y[5:], w[5:], first=5)
    >>> parts = [drawn(rows, size=3, seed=0) for rows in halves]
    >>> bool((whole.X == parts[0].plus(parts[1]).X).all()), whole.X.ravel().tolist()
    (True, [1.0, 2.0, 3.0])
    """

    X: Array  # (s, d) array or CSR
    Y: Array  # (s, q) int8 in {-1, +1}
    weights: Array  # (s,)
    numbers: Array  # (s,) in [0, 1)
    size: int

    def smallest(self, count: int) -> Sample:
        """The sample of at most `count` rows that is part of this one, copied."""
        X, Y, weights, numbers, _ = self
        chosen = np.sort(np.argsort(numbers)[:count])
        return Sample(X[chosen], Y[chosen], weights[chosen], numbers[chosen], count)

    def plus(self, other: Sample) -> Sample:
        """The sample of the rows of both; those of the other come after these."""
        stack = np.concatenate
        if sparse.issparse(self.X):
            stack = partial(sparse.vstack, format="csr")
        X = stack([self.X, alike(other.X, self.X)])
        parts = zip(self[1:4], other[1:4], strict=True)
        Y, weights, numbers = map(np.concatenate, parts)
        return Sample(X, Y, weights, numbers, self.size).smallest(self.size)


def drawn(rows: Block, *, size: int, seed: int) -> Sample:
    """A sample of some rows."""
    X, Y, weights, first = rows
    numbers = np.random.Generator(np.random.PCG64(seed).advance(first)).random(len(Y))
    return Sample(X, Y, weights, numbers, size).smallest(size)
