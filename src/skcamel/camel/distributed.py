"""Dask arrays and frames ► sums where the rows are, and answers partition by partition.

A fit maps over partitions on whatever cluster Dask is set to use, and the model comes back small:
sums of a few thousand numbers squared,
and a sample of rows. Partitions are taken in chains of a few, each of which adds to one sum, and
the chains in a fixed tree. So results
repeat to the last bit for the same partitions, however many workers there are, and few sums are
alive at a time. What a lost worker
held, Dask computes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.camel.landmark import Block
from skcamel.camel.stream import Source, Streaming
from skcamel.checks import names_compared
from skcamel.rows import is_lazy

CHAIN = 8  # partitions that add to one sum, at the most;
CHAINS = 32  # fewer where there are few, so that many workers have something to do


class Partitions(Source):
    """Rows in partitions of Dask collections X (n, d), Y (n, q) and weights (n,), of known size or not.

    `check` makes a :class:`skcamel.camel.landmark.Block` of what a partition holds, and labels; it
    runs where the partition is.
    """

    def __init__(
        self, X: Any, Y: Any, weights: Any, by: Streaming, check: Callable[..., tuple[Block, Any]]
    ) -> None:
        import dask

        named = {"X": X, "y": Y, "sample_weight": weights}
        columns = [
            parts_of(collection, name)
            for name, collection in named.items()
            if collection is not None
        ]
        lengths = list(map(len, columns))
        if len(set(lengths)) > 1:
            raise ValueError(
                f"X, y and sample_weight have {', '.join(map(str, lengths))} partitions; each one"
                " of X needs one of the others, with the same rows: rechunk or repartition them"
                " alike."
            )
        counts = dask.compute(*map(dask.delayed(_rows_with_weight, pure=True), *columns))
        if not sum(counts):
            raise ValueError("X has no rows in any of its partitions.")
        first_rows = np.cumsum(counts) - counts  # numbers among all rows that have weight
        self.parts = list(zip(first_rows.tolist(), *columns, strict=True))
        self.by = replace(by, threads=1)  # a cluster has a thread for each task
        self.check = check

    def total(self, method: Callable[..., Any], of: Any) -> Any:
        """Sum over all partitions, on the cluster."""
        import dask

        step = dask.delayed(_step, pure=True)
        plus = dask.delayed(_plus, pure=True)
        given = dask.delayed((self.check, method, of), pure=True, traverse=False)
        length = max(1, min(CHAIN, len(self.parts) // CHAINS))
        sums: list[Any] = []
        for number, part in enumerate(self.parts):
            # of the same chain
            if number % length:
                before = sums.pop()
            else:
                before = None
            sums.append(step(given, before, number, *part))
        while len(sums) > 1:
            sums = [plus(*sums[k : k + 2]) for k in range(0, len(sums), 2)]
        return sums[0].compute()


def _rows_with_weight(X: Any, Y: Any, weights: Any = None) -> Any:
    """Rows of a partition that count."""
    if weights is None:
        return X.shape[0]
    return np.count_nonzero(weights)


def _step(
    given: Any, before: Any, number: int, first: int, X: Any, Y: Any, weights: Any = None
) -> Any:
    """What came before plus what a partition adds; nothing where no row of it has weight."""
    check, method, of = given
    if not X.shape[0]:
        return before
    try:
        rows, _ = check(X, Y, weights)
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error
    if not len(rows.Y):
        return before
    aligned = rows._replace(X=_aligned(rows.X), weights=_aligned(rows.weights), first=first)
    return _plus(before, method(of, aligned))


def _plus(first: Any, second: Any = None) -> Any:
    """The sum of two parts, each None where it has no rows."""
    if first is None:
        return second
    if second is None:
        return first
    return first.plus(second)


def _aligned(part: Any) -> Any:
    """Arrays as numpy makes them: those that a network delivers may lie askew, and sum up differently in the last bit."""
    if isinstance(part, np.ndarray):
        return np.require(part, requirements=["A", "C"])
    return part


def parts_of(collection: Any, name: str) -> list[Any]:
    """Partitions of a Dask array or frame, each with all columns."""
    if not is_lazy(collection) or not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{name} is a {type(collection).__name__}; where X is a Dask array or frame, give a"
            " Dask array or frame."
        )
    if not hasattr(collection, "numblocks"):
        return list(collection.to_delayed())
    if collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    return collection.to_delayed().ravel().tolist()


def by_partition(method: Callable[..., Array]) -> Callable[..., Array]:
    """Let a method of a fitted model answer lazily for a Dask array or frame: nothing is computed before the answer is asked for."""

    @wraps(method)
    def answered(self: Any, X: Array, *args: Any, **options: Any) -> Array:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        return _mapped(getattr(self, method.__name__), X, *args, **options)

    return answered


def _mapped(method: Callable[..., Array], X: Any, *args: Any, **options: Any) -> Any:
    """A Dask array with the answers for each partition; those for one row of zeros show their shape and type."""
    import dask
    import dask.array as da

    with names_compared():
        like = method(np.zeros((1, X.shape[1])), *args, **options)[:0]
    given = dask.delayed((method, args, options, like), pure=True, traverse=False)
    if hasattr(X, "numblocks"):
        X = X.rechunk({1: -1})
        if like.ndim == 1:
            shape = {"drop_axis": 1}
        else:
            shape = {"chunks": (X.chunks[0], like.shape[1:])}
        return X.map_blocks(_answer, given=given, meta=like, **shape)
    answer = dask.delayed(_answer, pure=True)
    shape = (np.nan, *like.shape[1:])
    return da.concatenate(
        [da.from_delayed(answer(part, given), shape, meta=like) for part in X.to_delayed()]
    )


def _answer(X: Any, given: Any) -> np.ndarray:
    """What a method answers for the rows of one partition, none if it has none."""
    method, args, options, like = given
    if X.shape[0]:
        return method(X, *args, **options).astype(like.dtype, copy=False)
    return like
