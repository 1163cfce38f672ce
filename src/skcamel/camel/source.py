"""Rows in memory, in files or on a cluster ► what a fit by sums needs of them.

A fit goes through the rows twice. The first pass surveys them: how often labels occur together, how many rows there are, and a sample of
them. Then one pass for each representation sums up moments. Both are sums over parts of the rows, formed where the parts are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from skcamel.arrays import Array
from skcamel.camel import landmark
from skcamel.camel.correlation import cooccurrence
from skcamel.camel.landmark import Moments, Sample
from skcamel.camel.stream import Stream, Streaming


class Batch(NamedTuple):
    """Some rows, not yet scaled, and their labels."""

    X: Array  # (b, d) floats, numpy or CSR
    Y: Array  # (b, q) int8 in {-1, +1}
    weights: np.ndarray | None = None  # (b,) positive
    first: int = 0  # number of the first row among all rows


class Survey(NamedTuple):
    """What one pass over rows finds out; that of two sets of rows adds up to that of both."""

    sample: Sample
    together: np.ndarray  # (q, q) weight of the rows that have both labels
    weight: float  # of all rows
    n_rows: int

    def plus(self, other: Survey) -> Survey:
        """Of the rows of both."""
        sample = self.sample.plus(other.sample)
        return Survey(sample, self.together + other.together, self.weight + other.weight, self.n_rows + other.n_rows)

    @property
    def judged(self) -> Sample:
        """Rows by which candidates are judged."""
        return self.sample.smallest(landmark.JUDGED_ROWS)

    @property
    def counts(self) -> tuple[np.ndarray, float]:
        """Weight of the rows that have both labels (q, q), and of all rows."""
        return self.together, self.weight


def surveyed(batch: Batch, by: Streaming) -> Survey:
    """What a batch contributes to the survey."""
    X, Y, weights, first = batch
    sample = landmark.drawn(X, Y, weights, first=first, size=max(by.count, landmark.SAMPLE_ROWS), seed=by.seed)
    return Survey(sample, *cooccurrence(Y, weights), Y.shape[0])


def summed(batch: Batch, stream: Stream) -> Moments:
    """Moments of a batch."""
    return stream.add(batch.X, batch.Y, batch.weights).moments


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
        return self.total(surveyed, self.by)

    def streamed(self, started: Stream) -> Stream:
        """A stream with the sums over all rows."""
        return replace(started, moments=self.total(summed, started))


class InMemory(Source):
    """Rows that are here."""

    def __init__(self, batch: Batch, by: Streaming) -> None:
        super().__init__(by)
        self.batch = batch

    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """The function of all rows at once: it works in blocks by itself."""
        return function(self.batch, constant)


class Batches(Source):
    """Rows that are read anew for each pass, such as those of files; `read` returns an iterator over batches, none of them empty."""

    def __init__(self, read: Callable[[], Iterator[Batch]], label_names: Sequence[str], n_features: int) -> None:
        super().__init__(Streaming(primal=False, count=0))
        self.read, self.label_names, self.n_features = read, label_names, n_features

    def under(self, by: Streaming) -> Batches:
        """The same rows, to be summed up in this way."""
        found = Batches(self.read, self.label_names, self.n_features)
        found.by = replace(by, tell=None)
        return found

    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """The sum, one batch at a time."""
        total = None
        for batch in self.read():
            found = function(batch, constant)
            total = found if total is None else total.plus(found)
        return total
