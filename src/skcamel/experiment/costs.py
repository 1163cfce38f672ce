"""Records ► what a fold takes: seconds and memory of every method on every data set."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

from skcamel.experiment.summary import Record, grouped


class Cost(NamedTuple):
    """Medians over the folds of one data set and method; NaN where no record tells.

    The peak of memory is what a unit needed on top of what its process held before; not every system can tell it.
    """

    dataset: str
    method: str
    device: str
    n_train: float
    fit_seconds: float
    predict_seconds: float
    peak_memory_bytes: float


def costs(records: Iterable[Record]) -> list[Cost]:
    """What each method takes on each data set.

    Examples
    --------
    >>> record = {"dataset": "yeast", "method": "br", "preset": "paper", "seed": 0, "device": "cpu", "predict_seconds": 0.5}
    >>> costs([record | {"fold": fold, "fit_seconds": seconds} for fold, seconds in enumerate([1.0, 9.0, 2.0])])[0][4:]
    (2.0, 0.5, nan)
    """
    return [
        Cost(
            dataset,
            method,
            " and ".join(sorted({row.get("device", "cpu") for row in rows})),
            *(_median([row.get(key) for row in rows]) for key in Cost._fields[3:]),
        )
        for (dataset, method), rows in grouped(list(records)).items()
    ]


def _median(values: Iterable[Any]) -> float:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else math.nan
