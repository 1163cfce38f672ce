"""Rows in blocks ► sums ► the eigenbasis of features: how a fit gets along without a matrix of rows.

Scaling, bandwidth and landmarks are fixed first, from a sample of the rows. Then one pass over all rows adds up moments
(:mod:`skcamel.camel.landmark`), in blocks of a fixed number of rows. What is added later, in whatever batches, counts as if it had been
there from the start.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.vq import kmeans2, vq

from skcamel import memory
from skcamel.arrays import Array, allowed_threads, to_device, to_numpy
from skcamel.camel import kernel, landmark, scaling, spectral
from skcamel.camel.kernel import Kernel
from skcamel.camel.landmark import Sample
from skcamel.rows import alike, dense, on_device

CHOICES = ("uniform", "kmeans")
WIDE = 2_000  # columns up to which the linear kernel takes the features themselves, however few landmarks are wanted
BANDWIDTH_ROWS = 4_000  # whose mean distance is the bandwidth
CLUSTERED, LEAST_CLUSTERED = 20, 10_000  # rows for each centre of a cluster, and in all
EQUAL = 1e-9  # a distance up to this share of its length makes a centre the same as a row
LABEL_BYTES = 17  # copies of a label
OTHER_BYTES = 2**27  # distances for the bandwidth, and what does not grow
DEVICE_BLOCK_BYTES = 2**31  # of kernels on a GPU
STREAM_ROWS = 10**7  # that sums keep their digits for, where the number of rows is not known
log = logging.getLogger("skcamel")


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
    tell: Callable[[int, int], None] | None = None  # is called with how many rows are done, of how many

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
    moments: Any = None  # :class:`skcamel.camel.landmark.Moments`, None before the first row

    def add(self, X: Array, Y: Array, weights: np.ndarray | None) -> Stream:
        """With more rows X (n, d), labels Y (n, q) in {-1, +1}, and positive weights (n,); this one stays as it is."""
        n, q = Y.shape
        size = self._block_rows(X.shape[1])
        threads = self._threads(n, X.shape[1], q, min(n, size))
        log.info("sums over %d rows, %d at a time, %d threads", n, size, threads)

        started: list[int] = []

        def block(start: int) -> landmark.Block:
            rows = slice(start, start + size)
            started.append(start)  # in one step, whichever thread does it
            if self.by.tell is not None:
                self.by.tell(min(n, len(started) * size), n)
            return self.block(X[rows], Y[rows], None if weights is None else weights[rows])

        blocks = [partial(block, start) for start in range(0, n, size)]
        found = landmark.moments(self.features, blocks, q, threads=threads)
        return replace(self, moments=found if self.moments is None else self.moments.plus(found))

    def block(self, X: Array, Y: Array, weights: np.ndarray | None) -> landmark.Block:
        """Rows scaled, with their labels, where sums are formed."""
        device = self.by.device
        w = None if weights is None else to_device(weights, device)
        return landmark.Block(on_device(self.rows(X), device), to_device(Y, device), w)

    def rows(self, X: Array) -> Array:
        """New rows scaled, and dense or sparse as the kernel wants them."""
        return alike(self.scaling(X.astype(np.float64)), self.landmarks)

    def summary(self, judged: Sample) -> landmark.Summary:
        """The eigenbasis of the features of all rows so far, with a sample of them in it."""
        return landmark.summarise(self.features, self.moments, self.block(judged.X, judged.Y, judged.uneven))

    def _block_rows(self, d: int) -> int:
        """Rows of a block."""
        on_gpu = self.by.device is not None and str(self.by.device) != "cpu"
        return DEVICE_BLOCK_BYTES // (24 * (len(self.features.origin) + d)) if on_gpu else landmark.BLOCK_ROWS

    def _threads(self, n: int, d: int, q: int, size: int) -> int:
        """As many threads as fit into memory, each with sums of its own; refused where one does not fit."""
        threads = 1 if self.by.device is not None else self.by.threads or allowed_threads()
        free = memory.available(self.by.device) if self.by.budget is None else self.by.budget
        while threads > 1 and free is not None and self._bytes(threads, n, d, q, size) > free:
            threads -= 1
        self._require(self._bytes(threads, n, d, q, size))
        return threads

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

    def _bytes(self, threads: int, n: int, d: int, q: int, size: int) -> int:
        """At the peak of the pass over rows, or of the decomposition with the judged rows in its basis; with labels and the sample."""
        m, p = len(self.features.origin), self.features.width
        judged, sampled = min(n, landmark.JUDGED_ROWS), min(n, max(self.by.count, landmark.SAMPLE_ROWS))
        in_pass = m * p + threads * (2 * p * p + p * q + size * (2 * m + 2 * d + 2 * q))
        at_the_end = 5 * m * m + 4 * p * q + judged * (4 * m + 9 * q + landmark.BLOCK_ROWS // 8) + landmark.BLOCK_ROWS * m
        return 8 * (max(in_pass, at_the_end) + 4 * (d + 2) * sampled) + LABEL_BYTES * n * q + OTHER_BYTES


@np.errstate(over="ignore", invalid="ignore")  # kernels that are not finite are refused
def begin(
    scaling_name: str,
    kernel_name: Any,
    sample: Sample,
    by: Streaming,
    *,
    multiple: float = 1.0,
    bandwidth: float | None = None,
    n_rows: int = STREAM_ROWS,
    lambda2: float,
) -> Stream:
    """Scaling, bandwidth (or this `multiple` of the mean distance) and landmarks from a sample, for sums over `n_rows`."""
    X = sample.X.astype(np.float64)
    scaler = scaling.fitted(scaling_name, X, sample.uneven)
    if kernel_name in kernel.BY_PRODUCT:
        scaler = scaler.centred(X)
    if by.takes_rows_themselves(kernel_name, X.shape[1]):
        origin = np.asarray(scaler(X).mean(axis=0)).ravel()
        return Stream(scaler, None, landmark.Features(Kernel("linear"), None, to_device(origin, by.device)), by)
    scaled = sample._replace(X=scaler(X))
    if bandwidth is None and kernel_name in kernel.RADIAL:
        bandwidth = multiple * _mean_distance(kernel_name, scaled, by, scaler.rounding(X.shape[1]))
    fitted = Kernel(kernel_name, float(bandwidth)) if kernel_name in kernel.RADIAL and bandwidth else Kernel(kernel_name)
    Z = choose(by.how, scaled, by.count, by.seed) if isinstance(by.how, str) else alike(scaler(by.how), scaled.X)
    made = landmark.features(fitted, on_device(Z, by.device), n_rows=n_rows, lambda2=lambda2)
    return Stream(scaler, Z, made, by)


def choose(how: str, sample: Sample, count: int, seed: int) -> Array:
    """At most `count` landmarks for the scaled rows of a sample: some of them, or centres of clusters."""
    if how == "uniform":
        return sample.smallest(count).X
    return centres(sample.smallest(max(LEAST_CLUSTERED, CLUSTERED * count)).X, count, seed)


def centres(rows: Array, count: int, seed: int) -> np.ndarray:
    """At most `count` centres of clusters of rows (n, d), dense: each is the mean of at least two different rows, and none is a row.

    A cluster of one row gives way to the mean of that row and its nearest neighbour.

    Examples
    --------
    >>> centres(np.array([[0.0], [1.0], [9.0], [9.0]]), 2, seed=0).tolist()
    [[0.5], [5.0]]
    """
    n, d = rows.shape
    memory.require(5 * 8 * n * d, f"Clusters of {n} rows of {d} columns", "Take landmarks='uniform'.")
    points = np.unique(dense(rows), axis=0)
    if len(points) < 2:
        raise ValueError("All rows are equal, and a centre would be one of them; take landmarks='uniform', or rows X that differ.")
    spectral.finite_size(2 * points)  # kmeans2 breaks down where a squared distance overflows
    start = np.random.default_rng(seed).choice(len(points), min(count, len(points)), replace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a cluster that has lost its rows keeps its centre
        found, _ = kmeans2(points, points[np.sort(start)], iter=10, minit="matrix")
    nearest, _ = vq(points, found)
    found = np.unique([_mean_of_several(points, np.flatnonzero(nearest == k)) for k in np.unique(nearest)], axis=0)
    _, distances = vq(found, points)
    found = found[distances > EQUAL * np.linalg.norm(found, axis=1)]  # none is a row but for rounding
    if not len(found):
        raise ValueError("Every centre of the rows is one of them: they lie on a grid of few values; take landmarks='uniform'.")
    return found


def _mean_of_several(points: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Mean of the members of a cluster; of the only one and its nearest neighbour."""
    if len(members) == 1:
        distances = ((points - points[members]) ** 2).sum(axis=1)
        members = distances.argpartition(1)[:2]
    return points[members].mean(axis=0)


def _mean_distance(name: str, scaled: Sample, by: Streaming, rounding: float) -> float:
    """Mean distance of the rows of a sample."""
    some = scaled.smallest(max(by.count, BANDWIDTH_ROWS))
    weights = None if some.uneven is None else to_device(some.uneven, by.device)
    return kernel.mean_distance(name, on_device(some.X, by.device), weights=weights, rounding=rounding)


def check_landmarks(landmarks: Any, d: int) -> np.ndarray:
    """Landmarks given as rows, float64 (m, d)."""
    rows = np.asarray(dense(landmarks if sparse.issparse(landmarks) else to_numpy(landmarks)), dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != d or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f"landmarks has shape {rows.shape}; give finite rows of the {d} columns of X, at least one.")
    return rows
