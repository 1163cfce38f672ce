"""What a fit by sums over rows does with what is given: rows in memory, in batches, or in Dask collections."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skcamel import memory
from skcamel.arrays import Array, to_numpy
from skcamel.camel.distributed import Partitions
from skcamel.camel.landmark import JUDGED_ROWS, Block
from skcamel.camel.representation import Data, judged_by
from skcamel.camel.stream import Batches, Source, Streaming
from skcamel.checks import (
    Labels,
    check_labels,
    check_rows,
    check_weights,
    seed_of,
    warn_of_constant_labels,
)
from skcamel.rows import column_names, default_names, dense


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


def in_memory(estimator: Any, data: Data, labels: Labels) -> tuple[Data, Labels, Source]:
    """Rows that are here, those of weight 0 left out, as a source of sums; labels take a byte each."""
    n, q = data.Y.shape
    if data.groups is not None and n > JUDGED_ROWS:
        raise ValueError(
            f"groups leave together where all rows are judged; solver={estimator.solver!r} judges"
            f" {JUDGED_ROWS:,} of these {n:,} rows. Give fewer rows, or solver='spectral'."
        )
    memory.check_memory(data.X, q, estimator.device, memory.BY_SUMS)
    data = data._replace(Y=data.Y.astype(np.int8))
    own = data.with_weight()
    by = replace(streaming(estimator, data.X.shape[1]), tell=estimator._tell_rows)
    source = Source(lambda: [Block(own.X, own.Y, own.weights)], by)
    estimator.cooccurrence_, estimator.total_weight_ = source.survey.counts
    return data, labels._replace(Y=data.Y), source


def batch(
    estimator: Any,
    known: Labels | None,
    X: Array,
    y: Array,
    sample_weight: Array | None,
    classes: Array | None = None,
) -> tuple[Block, Labels]:
    """A batch of rows, those of weight 0 left out, with labels as in the batches before, if these are `known`."""
    rows = check_rows(estimator, X, reset=known is None, pairwise=False)
    labels = check_labels(y, rows.shape[0], known=known, classes=classes)
    if np.isnan(labels.Y).any():
        raise ValueError(
            "partial_fit takes complete labels, and some of Y are unknown (NaN); use fit with"
            " solver='spectral'."
        )
    weights = check_weights(sample_weight, rows.shape[0], may_vanish=True)
    data = Data(rows, labels.Y.astype(np.int8), weights).with_weight()
    return Block(data.X, data.Y, data.weights), labels


def elsewhere(
    estimator: Any, X: Any, Y: Any, sample_weight: Any, groups: Any
) -> tuple[Data, Labels, Source]:
    """Rows of Dask collections or of batches: a sample of them, labels without rows, and the source of sums over all rows."""
    if groups is not None:
        raise ValueError(
            "groups leave together where all rows are judged, which those of Dask or of files are"
            " not; give arrays."
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
    in_batches = isinstance(X, Batches)
    if not in_batches and len(getattr(Y, "shape", (0, 0))) != 2:
        raise ValueError(
            "A 1-d y of a Dask collection may lack classes in some partitions; give a label matrix."
        )
    if in_batches:
        d = X.n_features
    else:
        d = int(X.shape[1])
    if in_batches:
        columns = None
    else:
        columns = column_names(X)
    if in_batches:
        names = X.label_names
    else:
        names = column_names(Y) or default_names("label", int(Y.shape[1]))
    known = Labels(
        np.empty((0, len(names))), np.array(names, dtype=object), np.arange(len(names)), "matrix"
    )
    seen: dict[str, Any] = {"n_features_in_": d}
    if columns is not None:
        seen["feature_names_in_"] = np.array(columns, dtype=object)
    vars(estimator).update(seen)
    by = streaming(estimator, d)
    if in_batches:
        source = Source(X.read, by)
    else:
        checking = type(estimator)()  # without callbacks, which may not travel
        vars(checking).update(seen)
        source = Partitions(X, Y, sample_weight, by, partial(batch, checking, known))
    estimator.cooccurrence_, estimator.total_weight_ = source.survey.counts
    data = judged_by(source.survey.judged)
    warn_of_constant_labels(known._replace(Y=data.Y))
    return data, known._replace(Y=data.Y[:0]), source
