"""Dask arrays and frames ► sums where the rows are, and answers partition by partition.

A fit maps over partitions on whatever cluster Dask is set to use, and the model comes back small: sums of a few thousand numbers squared,
and a sample of rows. Partitions are taken in chains of a few, each of which adds to one sum, and the chains in a fixed tree. So results
repeat to the last bit for the same partitions, however many workers there are, and few sums are alive at a time. What a lost worker
held, Dask computes again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any

import numpy as np

from skcamel.arrays import Array
from skcamel.camel.source import Batch, Source
from skcamel.camel.stream import Streaming
from skcamel.rows import dense, is_lazy

CHAIN = 8  # partitions that add to one sum, at the most;
CHAINS = 32  # fewer where there are few, so that many workers have something to do
METHODS = {"decision_function": "float64", "predict": "int64", "predict_proba": "float64", "predict_sets": "int8", "top_k": "int64"}


class Partitions(Source):
    """Rows in partitions of Dask collections X (n, d), Y (n, q) and weights (n,), of known size or not.

    `check` makes a :class:`skcamel.camel.source.Batch` of what a partition holds; it runs where the partition is.
    """

    def __init__(self, X: Any, Y: Any, weights: Any, by: Streaming, check: Callable[[Any, Any, Any], Batch]) -> None:
        super().__init__(replace(by, threads=1, tell=None))  # a cluster has a thread for each task
        named = {"X": X, "y": Y, "sample_weight": weights}
        columns = [parts_of(collection, name) for name, collection in named.items() if collection is not None]
        if len({len(parts) for parts in columns}) > 1:
            raise ValueError(
                f"X, y and sample_weight have {', '.join(str(len(parts)) for parts in columns)} partitions; each one of X needs one of "
                "the others, with the same rows: rechunk or repartition them alike."
            )
        self.parts = list(zip(*columns, strict=True))
        self.check = check

    @cached_property
    def first_rows(self) -> list[int]:
        """Number of the first row of each partition among all rows that have weight."""
        import dask

        count = dask.delayed(_rows_with_weight, pure=True)
        counts = dask.compute(*(count(*part) for part in self.parts))
        if not sum(counts):
            raise ValueError("X has no rows in any of its partitions.")
        return [0, *np.cumsum(counts)[:-1].tolist()]

    def total(self, function: Callable[[Batch, Any], Any], constant: Any) -> Any:
        """Sum of a function over all partitions, on the cluster."""
        import dask

        step, plus = dask.delayed(_step, pure=True), dask.delayed(_plus, pure=True)
        given = dask.delayed((self.check, function, constant), pure=True, traverse=False)
        length = max(1, min(CHAIN, len(self.parts) // CHAINS))
        numbered = list(enumerate(zip(self.first_rows, self.parts, strict=True)))
        sums = []
        for start in range(0, len(numbered), length):
            total = None
            for number, (first, part) in numbered[start : start + length]:
                total = step(given, total, number, first, *part)
            sums.append(total)
        while len(sums) > 1:
            pairs = [sums[k : k + 2] for k in range(0, len(sums), 2)]
            sums = [plus(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        (total,) = dask.compute(*sums)
        return total


def _rows_with_weight(X: Any, Y: Any, weights: Any = None) -> int:
    """Rows of a partition that count."""
    return int(X.shape[0]) if weights is None else int(np.count_nonzero(np.asarray(weights)))


def _step(given: tuple[Any, Any, Any], before: Any, number: int, first: int, X: Any, Y: Any, weights: Any = None) -> Any:
    """What came before plus what a partition adds; nothing where no row of it has weight."""
    check, function, constant = given
    if not X.shape[0]:
        return before
    try:
        batch = check(X, Y, weights)
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error
    if not batch.Y.shape[0]:
        return before
    aligned = Batch(_aligned(batch.X), _aligned(batch.Y), _aligned(batch.weights), first)
    return _plus(before, function(aligned, constant))


def _plus(first: Any, second: Any) -> Any:
    """The sum of two parts, each None where it has no rows."""
    if first is None or second is None:
        return second if first is None else first
    return first.plus(second)


def _aligned(part: Any) -> Any:
    """Arrays as numpy makes them: those that a network delivers may lie askew, and sum up differently in the last bit."""
    return np.require(part, requirements=["A", "C"]) if isinstance(part, np.ndarray) else part


def parts_of(collection: Any, name: str) -> list[Any]:
    """Partitions of a Dask array or frame, each with all columns."""
    if not is_lazy(collection) or not hasattr(collection, "to_delayed"):
        raise TypeError(f"{name} is a {type(collection).__name__}; where X is a Dask array or frame, give a Dask array or frame.")
    if hasattr(collection, "numblocks"):
        if collection.ndim == 2 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return list(collection.to_delayed().ravel())
    return list(collection.to_delayed())


def by_partition(method: Callable[..., Array]) -> Callable[..., Array]:
    """Let a method of a fitted model answer lazily for a Dask array or frame: nothing is computed before the answer is asked for."""

    @wraps(method)
    def answered(self: Any, X: Array, *args: Any, **options: Any) -> Array:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        return _mapped(self, method.__name__, X, *args, **options)

    return answered


def _mapped(model: Any, name: str, X: Any, *args: Any, **options: Any) -> Any:
    """A Dask array with the answers for each partition."""
    import dask
    import dask.array as da

    width, dtype = _width(model, name, *args, **options), METHODS[name]
    given = dask.delayed((model, name, width, args, options), pure=True, traverse=False)
    if hasattr(X, "numblocks"):
        X = X.rechunk({1: -1})
        shape = {"drop_axis": 1} if width is None else {"chunks": (X.chunks[0], (width,))}
        return X.map_blocks(_answer, given=given, dtype=dtype, meta=np.empty((0,) * (1 if width is None else 2), dtype), **shape)
    answer = dask.delayed(_answer, pure=True)
    shape = (np.nan,) if width is None else (np.nan, width)
    return da.concatenate([da.from_delayed(answer(part, given), shape, dtype=dtype) for part in parts_of(X, "X")])


def _answer(X: Any, given: tuple[Any, str, int | None, tuple[Any, ...], dict[str, Any]]) -> np.ndarray:
    """What a model answers for the rows of one partition, none if it has none."""
    model, name, width, args, options = given
    if not X.shape[0]:
        return np.zeros((0,) if width is None else (0, width), dtype=METHODS[name])
    return np.asarray(dense(getattr(model, name)(X, *args, **options)), dtype=METHODS[name])


def _width(model: Any, name: str, *args: Any, **options: Any) -> int | None:
    """Columns of an answer; None where it is 1-d."""
    if name == "top_k":
        return int(args[0] if args else options["k"])
    if model._target == "matrix" or (name != "predict" and model._target == "multiclass"):
        return len(model.label_names_)
    return len(model.classes_) if name == "predict_proba" else None
