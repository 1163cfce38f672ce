"""Rows in memory, in files or on a cluster ► what a fit by sums needs of them, by one way to go through them.

A fit asks twice. One pass surveys the rows: how often labels occur together, a sample from which scaling, bandwidth and landmarks are
chosen, and a sample by which candidates are judged. Then one pass for each representation sums up moments. Both are sums over parts of
the rows, formed where the parts are, and both samples depend on the rows alone: it does not matter in which parts they come.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from skcamel import correlation
from skcamel.arrays import Array, to_numpy
from skcamel.rows import dense
from skcamel.selection.stream import Stream, Streaming
from skcamel.solve import sampling
from skcamel.solve.landmark import Moments, label_sums
from skcamel.solve.sampling import Sample

PREPARED_ROWS = 20_000  # from which scaling, bandwidth and landmarks are chosen; as many as landmarks, if these are more


class Batch(NamedTuple):
    """Some rows, not yet scaled, and their labels."""

    X: Array  # (b, d) floats, numpy or CSR
    Y: Array  # (b, q) int8 in {-1, +1}, or CSR with 1 where a label is present
    weights: np.ndarray | None = None  # (b,) positive


class Survey(NamedTuple):
    """What one pass over rows finds out; that of two sets of rows adds up to that of both."""

    prepared: Sample
    judged: Sample
    labels: Array  # (q + 1, q + 1) Σ w (y, 1)(y, 1)ᵀ, as in :class:`skcamel.solve.landmark.Moments`
    n_rows: int

    def plus(self, other: Survey) -> Survey:
        """Of the rows of both."""
        rows = self.n_rows + other.n_rows
        return Survey(self.prepared + other.prepared, self.judged + other.judged, self.labels + other.labels, rows)


def surveyed(batch: Batch, asked: tuple[int, int]) -> Survey:
    """What a batch tells, for a seed and a number of rows to prepare from."""
    seed, count = asked
    prepared, judged = (sample.add(*batch) for sample in (Sample(seed, count, by_label=False), Sample(seed)))
    return Survey(prepared, judged, (label_sums if sparse.issparse(batch.Y) else _sums)(batch.Y, batch.weights), batch.Y.shape[0])


def _sums(Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Σ w (y, 1)(y, 1)ᵀ of labels in {-1, +1}, (q + 1, q + 1)."""
    q, size = Y.shape[1], 2**14
    labels = np.zeros((q + 1, q + 1))
    for i in range(0, len(Y), size):  # a float for each label of a million rows would be too many
        signs = np.concatenate([Y[i : i + size], np.ones((len(Y[i : i + size]), 1))], axis=1)
        labels += signs.T @ (signs if weights is None else signs * weights[i : i + size, None])
    return labels


def summed(batch: Batch, stream: Stream) -> Moments:
    """Moments of a batch."""
    found = stream.add(*batch).moments
    if found is None:
        raise ValueError("A batch without rows has no sums.")
    return found


class Source(ABC):
    """Rows in parts, wherever they are, and how to sum them up."""

    def __init__(self, by: Streaming) -> None:
        self.by = by

    @abstractmethod
    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """Sum of a function of each part and of a constant, over all parts that have rows, in a fixed order."""

    @cached_property
    def survey(self) -> Survey:
        """What one pass over the rows finds out."""
        return self.total(surveyed, (self.by.seed, max(self.by.count, PREPARED_ROWS)))

    @property
    def n_rows(self) -> int:
        """Number of rows that have weight."""
        return self.survey.n_rows

    @property
    def counts(self) -> tuple[Array, float]:
        """Weight of the rows that have both labels (q, q), and of all rows."""
        return counts_of(self.survey.labels)

    @cached_property
    def sample(self) -> sampling.Rows:
        """Rows by which candidates are judged."""
        return self.survey.judged.rows()

    @property
    def prepared(self) -> tuple[Array, np.ndarray | None]:
        """Rows from which scaling, bandwidth and landmarks are chosen, and their weights, None where all are 1."""
        found = self.survey.prepared.rows()
        return found.X, None if (found.weights == 1).all() else found.weights

    def streamed(self, started: Stream) -> Stream:
        """A stream with the sums over all rows."""
        lean = replace(started, features=started.features.to_sum())
        return replace(started, moments=self.total(summed, lean))


class Named(Source):
    """Rows that are not here, with what must be known of them before they are read."""

    feature_names: Sequence[str] | None  # None: columns have no names
    label_names: Sequence[str]
    n_features: int

    def under(self, by: Streaming) -> Self:
        """The same rows, to be summed up in this way."""
        found = copy(self)
        found.__dict__.pop("survey", None)  # of another seed
        found.__dict__.pop("sample", None)
        found.by = by
        return found


class InMemory(Source):
    """Rows that are here."""

    def __init__(self, batch: Batch, by: Streaming) -> None:
        super().__init__(by)
        self.batch = batch

    @cached_property
    def sample(self) -> sampling.Rows:
        """Rows by which candidates are judged: all of them in their order if none would be left out, as with the exact solver."""
        n, q = self.batch.Y.shape
        if 4 * n <= 3 * sampling.rows_for(q):
            return sampling.all_rows(*self.batch)
        return super().sample

    @property
    def prepared(self) -> tuple[Array, np.ndarray | None]:
        """The same; in the order of a sample also where no row is left out, so that landmarks do not depend on where rows are."""
        X, Y, weights = self.batch
        if Y.shape[0] > max(self.by.count, PREPARED_ROWS):
            return super().prepared
        order = np.argsort(sampling.digests(X, Y, self.by.seed), kind="stable")
        return X[order], None if weights is None else weights[order]

    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """The function of all rows at once: it works in blocks by itself."""
        return function(self.batch, constant)


def added(batches: Iterable[Any], function: Callable[[Any, Any], Any], constant: Any, before: Any = None) -> Any:
    """Sum of a function over batches, in their order, after what came before; None where there are none."""
    for batch in batches:
        found = function(batch, constant)
        before = found if before is None else before.plus(found)
    return before


def counts_of(labels: Array) -> tuple[Array, float]:
    """Weight of the rows that have both labels (q, q), CSR for more than `MANY` labels, and of all rows, from sums of (y, 1)(y, 1)ᵀ.

    >>> Y = np.array([[1.0, 1], [1, 0], [0, 0]])
    >>> counts_of(label_sums(sparse.csr_array(Y), None))
    (array([[2., 1.],
           [1., 1.]]), 3.0)
    """
    total = float(labels[-1, -1])
    if sparse.issparse(labels):  # of labels in {0, 1}
        together = sparse.csr_array(labels[:-1, :-1])
    else:
        sums = to_numpy(labels)
        together = (sums[:-1, :-1] + sums[:-1, -1:] + sums[-1:, :-1] + total) / 4
    if together.shape[0] > correlation.MANY:
        return sparse.csr_array(together), total
    return dense(together), total
