"""What a fit by sums over rows does with what is given: rows in memory, in batches, or in Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skcamel import memory
from skcamel.arrays import Array
from skcamel.camel.distributed import Partitions
from skcamel.camel.landmark import JUDGED_ROWS
from skcamel.camel.representation import Data, judged_by
from skcamel.camel.source import Batch, Batches, InMemory, Source
from skcamel.camel.stream import Streaming, check_landmarks
from skcamel.checks import Labels, check_labels, check_rows, check_weights, seed_of, warn_of_constant_labels
from skcamel.rows import column_names, default_names


def streaming(estimator: Any, d: int) -> Streaming:
    """How to sum up rows of d columns, as the parameters have it."""
    how = estimator.landmarks if isinstance(estimator.landmarks, str) else check_landmarks(estimator.landmarks, d)
    budget = None if estimator.max_memory is None else memory.as_bytes(estimator.max_memory)
    count = estimator.n_landmarks if isinstance(how, str) else len(how)
    return Streaming(estimator.solver == "primal", count, how, seed_of(estimator.random_state), budget, estimator.device)


def in_memory(estimator: Any, data: Data, labels: Labels) -> tuple[Data, Labels, Source]:
    """Rows that are here, those of weight 0 left out, as a source of sums; labels take a byte each."""
    n, q = data.Y.shape
    if data.groups is not None and n > JUDGED_ROWS:
        raise ValueError(
            f"groups leave together where all rows are judged; solver={estimator.solver!r} judges {JUDGED_ROWS:,} of these {n:,} rows. "
            "Give fewer rows, or solver='spectral'."
        )
    memory.check_memory(data.X, q, estimator.device, memory.BY_SUMS)
    data = data._replace(Y=data.Y.astype(np.int8))
    own, _ = data.with_weight(pairwise=False)
    by = replace(streaming(estimator, data.X.shape[1]), tell=estimator._tell_rows)
    source = InMemory(Batch(own.X, own.Y, own.weights), by)
    estimator.cooccurrence_, estimator.total_weight_ = source.survey.counts
    return data, labels._replace(Y=data.Y), source


def batch(
    estimator: Any, X: Array, y: Array, classes: Array | None, sample_weight: Array | None, known: Labels | None
) -> tuple[Batch, Labels]:
    """A batch of rows, those of weight 0 left out, with labels as in the batches before, if these are `known`."""
    rows = check_rows(estimator, X, reset=known is None, pairwise=False)
    labels = check_labels(y, rows.shape[0], unknown=True, known=known, classes=classes)
    if np.isnan(labels.Y).any():
        raise ValueError("partial_fit takes complete labels, and some of Y are unknown (NaN); use fit with solver='spectral'.")
    weights = check_weights(sample_weight, rows.shape[0], may_vanish=True)
    data, _ = Data(rows, labels.Y.astype(np.int8), weights).with_weight(pairwise=False)
    return Batch(data.X, data.Y, data.weights), labels


def elsewhere(estimator: Any, X: Any, Y: Any, sample_weight: Any, groups: Any) -> tuple[Data, Labels, Source]:
    """Rows of Dask collections or of batches: a sample of them, labels without rows, and the source of sums over all rows."""
    if groups is not None:
        raise ValueError("groups leave together where all rows are judged, which those of Dask or of files are not; give arrays.")
    if estimator._is_pairwise():
        raise ValueError("A kernel matrix has no features to sum up, so it cannot be a Dask collection; use solver='spectral'.")
    if estimator.solver in ("spectral", "alternating"):
        raise ValueError(
            f"solver={estimator.solver!r} takes a matrix of all rows, not Dask collections; use solver='landmark' or 'primal'."
        )
    if isinstance(X, Batches):
        d, columns, known = X.n_features, None, _without_rows(X.label_names)
        source: Source = X.under(streaming(estimator, d))
    else:
        if len(getattr(Y, "shape", (0, 0))) != 2:
            raise ValueError("A 1-d y of a Dask collection may lack classes in some partitions; give a label matrix.")
        d, columns, known = int(X.shape[1]), column_names(X), _without_rows(column_names(Y) or default_names("label", int(Y.shape[1])))
        checking = type(estimator)(solver=estimator.solver, device=estimator.device)  # without callbacks, which may not travel
        checking.n_features_in_ = d
        if columns is not None:
            checking.feature_names_in_ = np.array(columns, dtype=object)
        source = Partitions(X, Y, sample_weight, streaming(estimator, d), partial(_of_partition, checking, known))
    estimator.n_features_in_ = d
    if columns is not None:
        estimator.feature_names_in_ = np.array(columns, dtype=object)
    estimator.cooccurrence_, estimator.total_weight_ = source.survey.counts
    data = judged_by(source.survey.judged)
    warn_of_constant_labels(known._replace(Y=data.Y))
    return data, known._replace(Y=data.Y[:0]), source


def _of_partition(estimator: Any, known: Labels, X: Any, Y: Any, weights: Any) -> Batch:
    """What a partition holds, checked where it is."""
    return batch(estimator, X, Y, None, weights, known)[0]


def _without_rows(names: Sequence[str]) -> Labels:
    """Labels of these names."""
    return Labels(np.empty((0, len(names))), np.array(names, dtype=object), np.arange(len(names)), "matrix")
