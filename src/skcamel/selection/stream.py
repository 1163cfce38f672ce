"""Rows in blocks ► sums ► the eigenbasis of features: how a fit gets along without a matrix of rows.

Scaling, bandwidth and landmarks are fixed first, from a sample of the rows. Then one pass over all rows adds up moments
(:mod:`skcamel.solve.landmark`), in blocks that keep within a stated amount of memory; rows may be sparse, or lie in a file that is
mapped into memory. What is added later, in whatever batches, counts as if it had been there from the start.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.vq import kmeans2, vq
from scipy.linalg import solve_triangular

from skcamel import kernel, memory, scaling
from skcamel.arrays import Array, allowed_threads, to_device
from skcamel.kernel import Kernel
from skcamel.rows import alike, dense, on_device, signed
from skcamel.solve import landmark, sampling, spectral

CHOICES = ("uniform", "pivoted", "kmeans")
WIDE = 2_000  # columns up to which the linear kernel takes the features themselves, however few landmarks are wanted
BANDWIDTH_ROWS = 4_000  # whose mean distance is the bandwidth
CANDIDATES, LEAST_CANDIDATES = 20, 10_000  # rows for each landmark that is chosen with care, and in all
PIVOTS, TURNS = 64, 16  # landmarks that are chosen at a time, at most, and in how many turns at least: those of one turn overlap
BLENDED, MOST_BLENDED = 2, 6  # different rows of which a centre without a cluster is the mean
EQUAL = 1e-9  # a distance up to this share of its length makes a centre the same as a row
LEAST_BLOCK = 128
LABEL_BYTES, ENTRY_BYTES = 17, 40  # copies of a label, and of an entry of sparse labels
DEVICE_BLOCK_BYTES = 2**31  # of kernels on a GPU
STREAM_ROWS = 10**7  # that sums keep their digits for, where the number of rows is not known
TOLD_EVERY = 2.0  # seconds
log = logging.getLogger("skcamel")


def _silent(_done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Streaming:
    """How to get along without a matrix of rows."""

    primal: bool  # whether features must be the rows themselves
    count: int  # of landmarks
    how: str | np.ndarray = "uniform"  # one of `CHOICES`, or the landmarks (m, d) themselves
    seed: int = 0
    budget: int | None = None  # bytes that a fit may take beside the rows given
    device: Any = None
    threads: int | None = None  # None: as many as BLAS has
    tell: Callable[[int, int], None] | None = None  # hears how many rows are done, of how many

    def takes_rows_themselves(self, name: Any, d: int) -> bool:
        """Whether features of the kernel of that name are the d columns."""
        return self.primal or (name == "linear" and isinstance(self.how, str) and d <= max(self.count, WIDE))


@dataclass(frozen=True)
class Stream:
    """Sums over the rows seen so far, and what was fixed before the first of them."""

    scaling: scaling.Scaling
    landmarks: Array | None  # (m, d) scaled, numpy or CSR; None: the features themselves
    features: landmark.Features  # on the device
    by: Streaming
    moments: landmark.Moments | None = None

    def add(self, X: Array, Y: Array, weights: np.ndarray | None) -> Stream:
        """With more rows X (n, d), labels Y (n, q) in {-1, +1} or CSR, and positive weights (n,); this one stays as it is."""
        n, q = Y.shape
        threads, size = self._plan(X.shape[1], Y)
        labels = landmark.label_sums(Y, weights) if sparse.issparse(Y) else None
        began, told = time.monotonic(), [time.monotonic()]

        def tell(done: int) -> None:
            now, rows = time.monotonic(), min(n, done * size)
            if now - told[0] >= TOLD_EVERY or rows == n:
                told[0] = now
                log.info("sums over rows: %d of %d, about %.0f s left", rows, n, (now - began) * (n - rows) / rows)
                if self.by.tell is not None:
                    self.by.tell(rows, n)

        def block(i: int) -> landmark.Block:
            rows = slice(i, i + size)
            return self.block(X[rows], Y[rows], None if weights is None else weights[rows])

        blocks = [partial(block, i) for i in range(0, n, size)]
        found = landmark.moments(self.features, blocks, q, threads=threads, tell=tell, labels=labels)
        return replace(self, moments=found if self.moments is None else self.moments.plus(found))

    def block(self, X: Array, Y: Array, weights: np.ndarray | None) -> landmark.Block:
        """Rows scaled, with their labels, where sums are formed."""
        device = self.by.device
        w = None if weights is None else to_device(weights, device)
        labels = Y if device is None and sparse.issparse(Y) else to_device(dense(Y), device)
        return landmark.Block(on_device(self.rows(X), device), labels, w)

    def rows(self, X: Array) -> Array:
        """New rows scaled, and dense or sparse as the kernel wants them."""
        return alike(self.scaling(X.astype(np.float64)), self.landmarks)

    def summary(self, sample: sampling.Rows) -> landmark.Summary:
        """The eigenbasis of the features of all rows so far, with a sample of them in it."""
        if self.moments is None:
            raise ValueError("No row has been added yet.")
        return landmark.summarise(self.features, self.moments, self.block(sample.X, signed(sample.Y), sample.units))

    def _plan(self, d: int, Y: Array) -> tuple[int, int]:
        """Threads and rows of a block that fit into the memory there is."""
        (n, q), m, p, device = Y.shape, len(self.features.origin), self.features.width, self.by.device
        held = ENTRY_BYTES * (Y.nnz + n) if sparse.issparse(Y) else LABEL_BYTES * n * q
        if device is not None and str(device) != "cpu":
            size = max(LEAST_BLOCK, DEVICE_BLOCK_BYTES // (24 * (m + d)))
            self._require(self._bytes(n, held, 1, min(n, size), m, p, d, q))
            return 1, size
        free = self.by.budget if self.by.budget is not None else memory.available()
        threads, size = (1 if device is not None else self.by.threads or allowed_threads()), landmark.BLOCK_ROWS
        while free is not None and (threads > 1 or size > LEAST_BLOCK) and self._bytes(n, held, threads, min(n, size), m, p, d, q) > free:
            threads, size = (threads - 1, size) if threads > 1 else (1, size // 2)
        self._require(self._bytes(n, held, threads, min(n, size), m, p, d, q))
        return threads, size

    def _require(self, needed: int) -> None:
        m, budget = len(self.features.origin), self.by.budget
        what = f"A fit by {m} {'columns' if self.landmarks is None else 'landmarks'}"
        cure = "Take solver='landmark' with fewer landmarks." if self.landmarks is None else "Take fewer landmarks (n_landmarks)."
        if budget is not None and needed > budget:
            least = -(-needed // 2**20)
            raise MemoryError(
                f"{what} needs about {least} MiB and max_memory allows {budget // 2**20} MiB. {cure} Or give max_memory='{least}MiB'."
            )
        memory.require(needed, what, cure, device=self.by.device)

    @staticmethod
    def _bytes(n: int, held: int, threads: int, size: int, m: int, p: int, d: int, q: int) -> int:
        """At the peak of the pass over rows, or of the decomposition with the sample in its basis; with labels `held`, and samples."""
        in_pass = m * p + threads * (2 * p * p + p * q + size * (2 * m + 2 * d + 2 * q))
        at_the_end = 5 * m * m + 4 * p * q + sampling.rows_for(q) * (m + landmark.BLOCK_ROWS // 8 + 8 * q)
        samples = 3 * d * min(n, 3 * sampling.ROWS)
        return 8 * (max(in_pass, at_the_end) + samples) + held + landmark.CANDIDATE_BYTES


@np.errstate(over="ignore", invalid="ignore")  # kernels that are not finite are refused
def begin(
    scaling_name: str,
    kernel_name: Any,
    X: Array,
    weights: np.ndarray | None,
    by: Streaming,
    *,
    multiple: float = 1.0,
    bandwidth: float | None = None,
    n_rows: int = STREAM_ROWS,
    lambda2: float,
) -> Stream:
    """Scaling, bandwidth (or this `multiple` of the mean distance) and landmarks from rows X (n, d) of a sample, for sums over `n_rows`."""
    rng = np.random.default_rng(by.seed)
    plain = scaling.fitted(scaling_name, X.astype(np.float64), weights)
    scaler = centred_for(kernel_name, plain, X)
    if by.takes_rows_themselves(kernel_name, X.shape[1]):
        origin = np.asarray(scaler(X.astype(np.float64)).mean(axis=0)).ravel()
        return Stream(scaler, None, landmark.Features(Kernel("linear"), None, to_device(origin, by.device)), by)
    rows = scaler(X.astype(np.float64))
    if bandwidth is None and kernel_name in kernel.RADIAL:
        bandwidth = multiple * _mean_distance(kernel_name, rows, weights, by, rng, scaler.rounding(X.shape[1]))
    fitted = Kernel(kernel_name, float(bandwidth)) if kernel_name in kernel.RADIAL and bandwidth else Kernel(kernel_name)
    Z = choose(by.how, rows, fitted, by.count, rng) if isinstance(by.how, str) else alike(scaler(by.how), rows)
    made = landmark.features(fitted, on_device(Z, by.device), n_rows=n_rows, lambda2=lambda2)
    return Stream(scaler, Z, made, by)


def centred_for(kernel_name: Any, plain: scaling.Scaling, X: Array) -> scaling.Scaling:
    """The scaling as the kernel of that name wants it: around the origin if it is made of inner products."""
    return plain.centred(X.astype(np.float64)) if kernel_name in kernel.BY_PRODUCT else plain


def choose(how: str, rows: Array, of: Kernel, count: int, rng: np.random.Generator) -> Array:
    """At most `count` landmarks for scaled rows (n, d): some of them, or centres of clusters.

    Examples
    --------
    >>> rows = np.repeat([[0.0], [5.0], [9.0]], 10, axis=0)
    >>> [choose(how, rows, Kernel("rbf"), 3, np.random.default_rng(0)).shape for how in CHOICES]
    [(3, 1), (3, 1), (3, 1)]
    """
    n = rows.shape[0]
    if how == "uniform":
        return rows[np.sort(rng.choice(n, min(count, n), replace=False))]
    rows, _ = _some(rows, None, max(LEAST_CANDIDATES, CANDIDATES * count), rng)
    if how == "pivoted":
        return rows[_pivots(rows, of, count, rng)]
    what = f"Clusters of {rows.shape[0]} rows of {rows.shape[1]} columns"
    memory.require(3 * 8 * rows.shape[0] * rows.shape[1], what, "Take landmarks='uniform' or 'pivoted'.")
    points = np.unique(dense(rows), axis=0)
    if len(points) <= count:
        return points
    spectral.finite_size(2 * points)  # kmeans2 breaks down where a squared distance overflows
    start = points[np.sort(rng.choice(len(points), count, replace=False))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a cluster that has lost its rows keeps its centre
        return kmeans2(dense(rows), start, iter=10, minit="matrix")[0]


def blended(rows: Array, count: int, rng: np.random.Generator) -> np.ndarray:
    """At most `count` centres of clusters of scaled rows (n, d), dense; each is the mean of several different rows, and none is a row.

    A cluster of one row gives way to the mean of that row and the nearest other one.

    Examples
    --------
    >>> blended(np.array([[0.0], [1.0], [9.0], [9.0]]), 2, np.random.default_rng(0)).tolist()
    [[0.5], [5.0]]
    """
    some, _ = _some(rows, None, max(LEAST_CANDIDATES, CANDIDATES * count), rng)
    memory.require(5 * 8 * some.shape[0] * some.shape[1], "Clusters of the rows", "Take fewer landmarks (n_landmarks), or fewer rows.")
    points = np.unique(dense(some), axis=0)
    if len(points) < BLENDED:
        raise ValueError("All rows are equal, and no centre of theirs differs from them; give rows X that differ.")
    centres = choose("kmeans", points, Kernel("linear"), count, rng)
    nearest, _ = vq(points, centres)
    sizes = np.bincount(nearest, minlength=len(centres))
    in_cluster = sparse.csr_array((np.ones(len(points)), (nearest, np.arange(len(points)))), shape=(len(centres), len(points)))
    centres = np.where(sizes[:, None] > 0, in_cluster @ points / np.maximum(sizes, 1)[:, None], centres)
    wrong = sizes < BLENDED
    for size in range(BLENDED, MOST_BLENDED + 1):
        for k in np.flatnonzero(wrong):
            centres[k] = points[np.argsort(kernel.distances("rbf", centres[k : k + 1], points)[0], kind="stable")[:size]].mean(axis=0)
        wrong = _is_a_row(centres, rows)
        if not wrong.any():
            break
    if wrong.all():
        raise ValueError("Every centre of the rows is one of them: they lie on a grid of few values; give other rows X.")
    return np.unique(centres[~wrong], axis=0)


def _is_a_row(centres: np.ndarray, rows: Array) -> np.ndarray:
    """Which centres (m, d) equal one of the rows (n, d) but for rounding."""
    least = np.full(len(centres), np.inf)
    for i in range(0, rows.shape[0], landmark.BLOCK_ROWS):
        least = np.minimum(least, kernel.distances("rbf", centres, dense(rows[i : i + landmark.BLOCK_ROWS])).min(axis=1))
    return least <= EQUAL**2 * (centres**2).sum(axis=1)


def _pivots(rows: Array, of: Kernel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Rows drawn in turn with probabilities as what the others do not explain of them (Cholesky with random pivots)."""
    n = rows.shape[0]
    left = np.concatenate([of(rows[i : i + PIVOTS], rows[i : i + PIVOTS]).diagonal() for i in range(0, n, PIVOTS)]).astype(np.float64)
    least, factors, chosen = 1e-12 * left.max(), np.zeros((n, min(count, n))), np.zeros(0, dtype=np.intp)
    most = max(1, min(PIVOTS, count // TURNS))
    while len(chosen) < min(count, n) and (left > least).any():
        k, size = len(chosen), min(most, min(count, n) - len(chosen), int((left > least).sum()))
        new = rng.choice(n, size, replace=False, p=np.where(left > least, left, 0.0) / left[left > least].sum())
        rest = of(rows, rows[new]) - factors[:, :k] @ factors[new, :k].T
        root = np.linalg.cholesky(rest[new] + 1e-10 * np.trace(rest[new]) * np.eye(size))
        factors[:, k : k + size] = solve_triangular(root, rest.T, lower=True).T
        left = np.clip(left - (factors[:, k : k + size] ** 2).sum(axis=1), 0, None)
        left[new] = 0.0
        chosen = np.append(chosen, new)
    return np.sort(chosen) if len(chosen) else np.zeros(1, dtype=np.intp)  # all rows lie at the origin of the linear kernel


def _some(X: Array, weights: np.ndarray | None, count: int, rng: np.random.Generator) -> tuple[Array, np.ndarray | None]:
    """At most `count` rows, in their order, with their weights."""
    n = X.shape[0]
    if n <= count:
        return X, weights
    index = np.sort(rng.choice(n, count, replace=False))
    return X[index], None if weights is None else weights[index]


def _mean_distance(name: str, rows: Array, weights: np.ndarray | None, by: Streaming, rng: np.random.Generator, rounding: float) -> float:
    """Mean distance of a sample of the rows."""
    some, of_some = _some(rows, weights, max(by.count, BANDWIDTH_ROWS), rng)
    w = None if of_some is None else to_device(of_some, by.device)
    return kernel.mean_distance(name, on_device(some, by.device), weights=w, rounding=rounding)
