"""Rows that are summed up: in memory, in batches, or in Dask collections; lazy predictions.

A fit on Dask collections maps over their partitions on whatever cluster Dask is set to use, and the
model comes back small: sums of a few thousand numbers squared, and a sample of rows. The sums of
partitions are added in a fixed tree, so results repeat to the last bit for the same partitions,
however many workers there are. Dask computes the part of a lost worker again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from skcamel import memory
from skcamel.arrays import (
    Array,
    MaybeArray,
    Params,
    column_names,
    default_names,
    dense,
    is_lazy,
    to_numpy,
)
from skcamel.camel.landmark import JUDGED_ROWS, Block
from skcamel.camel.representation import Data
from skcamel.camel.stream import Batches, Source, Streaming
from skcamel.checks import (
    Labels,
    check_labels,
    check_rows,
    check_weights,
    names_compared,
    seed_of,
    warn_of_constant_labels,
)


class Partitions(Source):
    """Rows in partitions of Dask collections X (n, d), Y (n, q) and weights (n,).

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
        task = dask.delayed((self.check, method, of), pure=True, traverse=False)
        sums = [step(task, number, *part) for number, part in enumerate(self.parts)]
        while len(sums) > 1:
            sums = [plus(*sums[k : k + 2]) for k in range(0, len(sums), 2)]
        return sums[0].compute()


def _rows_with_weight(X: Any, Y: Any, weights: Any = None) -> Any:
    """Rows of a partition that count."""
    if weights is None:
        return X.shape[0]
    return np.count_nonzero(weights)


def _step(task: Any, number: int, first: int, X: Any, Y: Any, weights: Any = None) -> Any:
    """What a partition adds; None where no row of it has weight."""
    check, method, of = task
    if not X.shape[0]:
        return None
    try:
        rows, _ = check(X, Y, weights)
    except ValueError as error:
        raise ValueError(f"Partition {number}: {error}") from error
    if not len(rows.Y):
        return None
    aligned = rows._replace(X=_aligned(rows.X), weights=_aligned(rows.weights), first=first)
    return method(of, aligned)


def _plus(first: Any, second: Any = None) -> Any:
    """The sum of two parts, each None where it has no rows."""
    if first is None:
        return second
    if second is None:
        return first
    return first.plus(second)


def _aligned(part: Any) -> Any:
    """Arrays aligned as numpy makes them: else sums may differ in the last bit."""
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
    """Let a method of a fitted model return a lazy Dask array for a Dask array or frame."""

    @wraps(method)
    def either(self: Any, X: Array, *args: Any, **options: Any) -> Array:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        return _mapped(getattr(self, method.__name__), X, *args, **options)

    return either


def _mapped(method: Callable[..., Array], X: Any, *args: Any, **options: Any) -> Any:
    """A Dask array of results for each partition; that of a row of zeros shows shape and type."""
    import dask
    import dask.array as da

    with names_compared():
        like = method(np.zeros((1, X.shape[1])), *args, **options)[:0]
    task = dask.delayed((method, args, options, like), pure=True, traverse=False)
    if hasattr(X, "numblocks"):
        X = X.rechunk({1: -1})
        if like.ndim == 1:
            shape = {"drop_axis": 1}
        else:
            shape = {"chunks": (X.chunks[0], like.shape[1:])}
        return X.map_blocks(_apply, task=task, meta=like, **shape)
    apply = dask.delayed(_apply, pure=True)
    shape = (np.nan, *like.shape[1:])
    return da.concatenate(
        [da.from_delayed(apply(part, task), shape, meta=like) for part in X.to_delayed()]
    )


def _apply(X: Any, task: Any) -> Array:
    """Results of a method for the rows of one partition, none if it has none."""
    method, args, options, like = task
    if X.shape[0]:
        return method(X, *args, **options).astype(like.dtype, copy=False)
    return like


def streaming(estimator: Any, d: int) -> Streaming:
    """How to sum up rows of d columns, as the parameters have it."""
    how = estimator.landmarks
    count = estimator.n_landmarks
    if not isinstance(how, str):
        how = np.asarray(to_numpy(dense(how)), dtype=np.float64)
        if how.ndim != 2 or how.shape[1] != d or not len(how) or not np.isfinite(how).all():
            raise ValueError(
                f"landmarks has shape {how.shape}; give finite rows of the {d} columns of X, at"
                " least one."
            )
        count = len(how)
    if estimator.max_memory is None:
        budget = None
    else:
        budget = memory.as_bytes(estimator.max_memory)
    return Streaming(
        estimator.solver == "primal",
        count,
        how,
        seed_of(estimator.random_state),
        budget,
        estimator.device,
    )


def in_memory(estimator: Any, data: Data, labels: Labels) -> tuple[Data, Labels]:
    """Rows in memory that have weight, as a source of sums; labels take a byte each."""
    n, q = data.Y.shape
    if data.groups is not None and n > JUDGED_ROWS:
        raise ValueError(
            f"groups leave together where all rows are judged; solver={estimator.solver!r} judges"
            f" {JUDGED_ROWS:,} of these {n:,} rows. Give fewer rows, or solver='spectral'."
        )
    memory.check_memory(data.X, q, estimator.device, memory.BY_SUMS)
    short = data._replace(Y=data.Y.astype(np.int8))
    return short.summed(streaming(estimator, data.X.shape[1])), labels._replace(Y=short.Y)


def batch(
    estimator: Any,
    known: Labels | None,
    X: Array,
    y: Array,
    sample_weight: MaybeArray,
    classes: MaybeArray = None,
) -> tuple[Block, Labels]:
    """A batch of rows that have weight, with labels as in earlier batches, if there are some."""
    rows = check_rows(estimator, X, reset=known is None, pairwise=False)
    labels = check_labels(y, rows.shape[0], known=known, classes=classes)
    if np.isnan(labels.Y).any():
        raise ValueError(
            "partial_fit takes complete labels, and some of Y are unknown (NaN); use fit with"
            " solver='spectral'."
        )
    weights = check_weights(sample_weight, rows.shape[0], may_vanish=True)
    if weights is None:
        weights = np.ones(rows.shape[0])
    data = Data(rows, labels.Y.astype(np.int8), weights).with_weight()
    return Block(data.X, data.Y, data.weights), labels


def elsewhere(
    estimator: Any, X: Any, Y: Any, sample_weight: Any, groups: Any
) -> tuple[Data, Labels]:
    """A sample of rows of Dask collections or of batches, with the source of sums over all."""
    if groups is not None:
        raise ValueError(
            "groups leave together where all rows are judged, which those of Dask or of files are"
            " not; give arrays."
        )
    by_folds = not isinstance(getattr(estimator, "cv", "loo"), str)
    if by_folds:
        raise ValueError(
            "Candidates for Dask collections are judged by leave-one-out of a sample, not by folds;"
            " use cv='loo'."
        )
    if estimator._is_pairwise():
        raise ValueError(
            "A kernel matrix has no features to sum up, so it cannot be a Dask collection; use"
            " solver='spectral'."
        )
    if estimator.solver in ("spectral", "alternating"):
        raise ValueError(
            f"solver={estimator.solver!r} takes a matrix of all rows, not Dask collections; use"
            " solver='landmark' or 'primal'."
        )
    if not isinstance(X, Batches) and len(getattr(Y, "shape", (0, 0))) != 2:
        raise ValueError(
            "A 1-d y of a Dask collection may lack classes in some partitions; give a label matrix."
        )
    if isinstance(X, Batches):
        seen: Params = {"n_features_in_": X.n_features}
        names = X.label_names
    else:
        seen = {"n_features_in_": int(X.shape[1])}
        names = column_names(Y) or default_names("label", int(Y.shape[1]))
        if columns := column_names(X):
            seen["feature_names_in_"] = np.array(columns, dtype=object)
    vars(estimator).update(seen)
    q = len(names)
    known = Labels(np.empty((0, q)), np.array(names, dtype=object), np.arange(q), "matrix")
    by = streaming(estimator, seen["n_features_in_"])
    if isinstance(X, Batches):
        source = Source(X.read, by)
    else:
        checking = type(estimator)()  # without callbacks, which may not travel
        vars(checking).update(seen)
        source = Partitions(X, Y, sample_weight, by, partial(batch, checking, known))
    data = Data(X, known.Y, np.empty(0), source=source).judged
    warn_of_constant_labels(known._replace(Y=data.Y))
    return data._replace(source=source), known
