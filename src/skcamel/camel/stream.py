"""Rows in blocks ► sums ► the eigenbasis of features: a fit without a matrix of all rows.

A fit goes through the rows twice, wherever they are: in memory, in files or on a cluster. The first
pass surveys them: how often labels occur together, how many rows there are, and a sample of them,
which fixes scaling, bandwidth and landmarks. Then one pass for each representation adds up moments
(:mod:`skcamel.camel.landmark`), in blocks of a fixed number of rows. Both are sums over parts of
the rows, formed where the parts are, so what is added later, in whatever batches, counts as if it
had been there from the start.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.vq import kmeans2, vq
from scipy.spatial import KDTree

from skcamel import memory
from skcamel.arrays import (
    Array,
    MaybeArray,
    alike,
    allowed_threads,
    dense,
    overflow_allowed,
    slices,
    to_device,
)
from skcamel.camel import correlation, kernel, landmark, scaling, spectral
from skcamel.camel.landmark import Block, Moments, Sample

CHOICES = ("uniform", "kmeans")
# columns up to which the linear kernel takes the features themselves, however few landmarks are
# wanted
WIDE = 2_000
BANDWIDTH_ROWS = 4_000  # whose mean distance is the bandwidth
# rows for each centre of a cluster, and in all
CLUSTERED = 20
LEAST_CLUSTERED = 10_000
EQUAL = 1e-9  # a distance up to this share of its length makes a centre the same as a row
LABEL_BYTES = 17  # copies of a label
OTHER_BYTES = 2**27  # distances for the bandwidth, and what does not grow
DEVICE_BLOCK_BYTES = 2**31  # of kernels on a GPU
STREAM_ROWS = 10**7  # for which sums have enough digits, where the number of rows is not known


Place = tuple[str, Any, Any]  # scaling, kernel, multiple of the mean distance


@dataclass(frozen=True)
class Streaming:
    """How to get along without a matrix of rows."""

    primal: bool  # whether features must be the rows themselves
    count: int  # of landmarks
    how: str | np.ndarray = "uniform"  # one of `CHOICES`, or the landmarks (m, d) themselves
    seed: int = 0
    budget: int | None = None  # bytes that a fit may take beside the rows
    device: Any = None
    threads: int | None = None  # None: as many as BLAS has

    @property
    def sampled(self) -> int:
        """Rows of a sample."""
        return max(self.count, landmark.SAMPLE_ROWS)

    def survey(self, rows: Block) -> Survey:
        """What some rows contribute to the survey of all."""
        sample = landmark.drawn(rows, size=self.sampled, seed=self.seed)
        return Survey(sample, *correlation.cooccurrence(rows.Y, rows.weights), len(rows.Y))


class Survey(NamedTuple):
    """What one pass over rows finds out; that of two sets of rows adds up to that of both."""

    sample: Sample
    together: Array  # (q, q) weight of the rows that have both labels
    weight: float  # of all rows
    n_rows: int

    def plus(self, other: Survey) -> Survey:
        """Of the rows of both."""
        return Survey(
            self.sample.plus(other.sample),
            self.together + other.together,
            self.weight + other.weight,
            self.n_rows + other.n_rows,
        )

    @property
    def judged(self) -> Sample:
        """Rows by which candidates are judged."""
        return self.sample.smallest(landmark.JUDGED_ROWS)

    @property
    def counts(self) -> tuple[Array, float]:
        """Weight of the rows that have both labels (q, q), and of all rows."""
        return self.together, self.weight


@dataclass(frozen=True)
class Stream:
    """Sums over the rows seen so far, and what was fixed before the first of them."""

    scaling: scaling.Scaling
    landmarks: MaybeArray  # (m, d) scaled, numpy or CSR; None: the features themselves
    features: landmark.Features  # on the device
    by: Streaming
    moments: Any = None  # :class:`skcamel.camel.landmark.Moments`, None before the first row

    def add(self, rows: Block) -> Stream:
        """With more rows; this one stays as it is."""
        moments = self.sums(rows)
        if self.moments is not None:
            moments = self.moments.plus(moments)
        return replace(self, moments=moments)

    def sums(self, rows: Block) -> Moments:
        """Moments of these rows alone."""
        n, q = rows.Y.shape
        size, threads = self._plan(n, rows.X.shape[1], q)

        def block(some: slice) -> Block:
            return self.block(rows.X[some], rows.Y[some], rows.weights[some])

        blocks = [partial(block, some) for some in slices(n, size)]
        return landmark.moments(self.features, blocks, q, threads=threads)

    def block(self, X: Array, Y: Array, weights: Array) -> Block:
        """Rows scaled, and dense or sparse as the kernel takes them, where sums are formed."""
        device = self.by.device
        X = alike(self.scaling(X), self.landmarks)
        return Block(to_device(X, device), to_device(Y, device), to_device(weights, device))

    def summary(self, X: Array, Y: Array, weights: Array) -> landmark.Summary:
        """The eigenbasis of the features of all rows so far, with some rows in it."""
        return landmark.summarise(self.features, self.moments, self.block(X, Y, weights))

    def _plan(self, n: int, d: int, q: int) -> tuple[int, int]:
        """Rows of a block, and threads: as many as memory allows, each with separate sums.

        What is needed is the peak of the pass over n rows, or of the decomposition with the judged
        rows in its basis, beside labels and the sample.
        """
        device = self.by.device
        budget = self.by.budget
        m = len(self.features.origin)
        p = self.features.width
        size = landmark.BLOCK_ROWS
        if str(device) not in ("None", "cpu"):
            size = DEVICE_BLOCK_BYTES // (24 * (m + d))
        judged = min(n, landmark.JUDGED_ROWS)
        sample = 32 * (d + 2) * min(n, self.by.sampled)
        always = 8 * m * p + sample + LABEL_BYTES * n * q + OTHER_BYTES
        of_thread = 8 * (2 * p * p + p * q + 2 * min(n, size) * (m + d + q))
        # twice in a basis, and a quarter of that for the errors of several candidates
        of_judged = judged * (20 * m + 72 * q + landmark.BLOCK_ROWS)
        at_the_end = 32 * (m * m + p * q) + of_judged + 8 * landmark.BLOCK_ROWS * m
        threads = 1
        if device is None:
            threads = self.by.threads or allowed_threads()
        free = memory.available(device) if budget is None else budget
        if free is not None:
            threads = max(1, min(threads, (free - always) // of_thread))
        needed = always + max(threads * of_thread, at_the_end)
        what = f"A fit by {m} landmarks"
        advice = "Take fewer landmarks (n_landmarks)."
        if self.landmarks is None:
            what = f"A fit by {m} columns"
            advice = "Take solver='landmark' with fewer landmarks."
        if budget is not None and needed > budget:
            least = -(-needed // 2**20)
            raise MemoryError(
                f"{what} needs about {least} MiB and max_memory allows {budget // 2**20} MiB."
                f" {advice} Or give max_memory='{least}MiB'."
            )
        memory.require(needed, what, advice, device=device)
        return size, threads


class Source:
    """Rows in parts, none of them empty, that `read` gives anew for each pass, and how to sum."""

    def __init__(self, read: Callable[[], Iterable[Block]], by: Streaming) -> None:
        self.read = read
        self.by = by

    def total(self, method: Callable[..., Any], of: Any) -> Any:
        """Sum of what a method of some object makes of each part, in a fixed order."""
        return reduce(
            lambda total, found: total.plus(found), (method(of, part) for part in self.read())
        )

    @cached_property
    def survey(self) -> Survey:
        """What one pass over the rows finds out."""
        return self.total(Streaming.survey, self.by)

    def streamed(self, started: Stream) -> Stream:
        """A stream with the sums over all rows."""
        return replace(started, moments=self.total(Stream.sums, started))


class Batches(NamedTuple):
    """Rows that are read in batches, such as those of files, in place of X and Y of a fit."""

    read: Callable[[], Iterable[Block]]
    label_names: Sequence[str]
    n_features: int


@overflow_allowed
def begin(
    place: Place,
    sample: Sample,
    by: Streaming,
    *,
    bandwidth: float | None = None,
    n_rows: int = STREAM_ROWS,
    lambda2: float,
) -> Stream:
    """Scaling, bandwidth (or σ itself) and landmarks from a sample, for sums over `n_rows`."""
    scaling_name, kernel_name, multiple = place
    X = sample.X.astype(np.float64)
    d = X.shape[1]
    scaler = scaling.fitted(
        scaling_name, X, sample.weights, centred=kernel_name in kernel.BY_PRODUCT
    )
    scaled = sample._replace(X=scaler(X))
    is_narrow = kernel_name == "linear" and d <= max(by.count, WIDE)
    if by.primal or (is_narrow and isinstance(by.how, str)):
        origin = to_device(np.asarray(scaled.X.mean(axis=0)).ravel(), by.device)
        return Stream(scaler, None, landmark.Features(kernel.Kernel("linear"), None, origin), by)
    if kernel_name not in kernel.RADIAL:
        bandwidth = 1.0
    elif bandwidth is None:
        some = scaled.smallest(max(by.count, BANDWIDTH_ROWS))
        bandwidth = multiple * kernel.mean_distance(
            kernel_name,
            to_device(some.X, by.device),
            weights=to_device(some.weights, by.device),
        )
    if not isinstance(by.how, str):
        Z = alike(scaler(by.how), scaled.X)
    elif by.how == "uniform":
        Z = scaled.smallest(by.count).X
    else:
        some = scaled.smallest(max(LEAST_CLUSTERED, CLUSTERED * by.count))
        Z = centres(some.X, by.count, by.seed)
    features = landmark.features(
        kernel.Kernel(kernel_name, float(bandwidth)),
        to_device(Z, by.device),
        n_rows=n_rows,
        lambda2=lambda2,
    )
    return Stream(scaler, Z, features, by)


def centres(rows: Array, count: int, seed: int) -> Array:
    """At most `count` centres of clusters of rows (n, d), dense, none of which is a row.

    A cluster of one row gives way to the mean of that row and its nearest neighbour.

    Examples
    --------
    >>> centres(np.array([[0.0], [1.0], [9.0], [9.0]]), 2, seed=0).tolist()
    [[0.5], [5.0]]
    """
    n, d = rows.shape
    memory.require(
        5 * 8 * n * d, f"Clusters of {n} rows of {d} columns", "Take landmarks='uniform'."
    )
    points = np.unique(dense(rows), axis=0)
    if len(points) < 2:
        raise ValueError(
            "All rows are equal, and a centre would be one of them; take landmarks='uniform', or"
            " rows X that differ."
        )
    spectral.finite_size(2 * points)  # kmeans2 breaks down where a squared distance overflows
    with warnings.catch_warnings():
        # a cluster that has lost its rows retains its centre
        warnings.simplefilter("ignore", UserWarning)
        found, cluster = kmeans2(
            points,
            min(count, len(points)),
            iter=11,
            minit="points",
            rng=np.random.default_rng(seed),
        )
    sizes = np.bincount(cluster, minlength=len(found))
    alone = np.flatnonzero(sizes[cluster] == 1)
    _, pairs = KDTree(points).query(points[alone], k=2)  # each row and its nearest neighbour
    found[cluster[alone]] = points[pairs].mean(axis=1)
    found = np.unique(found[sizes > 0], axis=0)
    _, distances = vq(found, points)
    found = found[
        distances > EQUAL * np.linalg.norm(found, axis=1)
    ]  # none is a row but for rounding
    if not len(found):
        raise ValueError(
            "Every centre of the rows is one of them: they lie on a grid of few values; take"
            " landmarks='uniform'."
        )
    return found
