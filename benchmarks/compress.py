"""Models on 500 centres against the models that they replace: average precision on held-out rows, file sizes, time for one row.

A third of the rows is held out, three times. The preset "quick" gives a single model, "best" a combined one.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel import CamelClassifierCV, compress, save
from skcamel.data import load_dataset
from skcamel.metrics import evaluate

SETS, LANDMARKS, FOLDS = ("yeast", "scene"), 500, 3


def file_size(model: Any) -> int:
    """Bytes of the model file."""
    file = io.BytesIO()
    save(model, file)
    return len(file.getvalue())


@threadpool_limits.wrap(limits=1)
def compared(name: str, preset: str) -> list[Row]:
    data = load_dataset(name)
    lost, errors, sizes, times = [], [], [], []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(data.X):
        model = CamelClassifierCV.from_preset(preset).fit(data.X[train], data.Y[train])
        small = compress(model, LANDMARKS)
        X, Y = data.X[test], data.Y[test]
        large, less = (evaluate(Y, own.decision_function(X), own.predict(X))["average_precision"] for own in (model, small))
        lost.append(large - less)
        errors.append(np.abs(small.decision_function(X) - model.decision_function(X)).mean())
        sizes.append((file_size(model), file_size(small)))
        times.append(
            seconds(lambda own=model, row=X[:1]: own.predict(row), 31) / seconds(lambda own=small, row=X[:1]: own.predict(row), 31)
        )
    what = f"{name}, preset {preset}"
    before, after = np.mean(sizes, axis=0) / 1e6
    return [
        at_most(f"{what}: average precision lost with {LANDMARKS} centres, mean of {FOLDS} splits", float(np.mean(lost)), 0.01, ""),
        Row(f"{what}: the same, largest of the splits", float(np.max(lost)), ""),
        Row(f"{what}: mean absolute difference of scores of new rows", float(np.mean(errors)), ""),
        Row(f"{what}: model file before", before, "MB"),
        Row(f"{what}: model file after", after, "MB"),
        at_least(f"{what}: time to predict one row, before to after", float(np.median(times)), 1.0),
    ]


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: compressed models not measured", float("nan"), "")]
    return [row for name in SETS for preset in ("quick", "best") for row in compared(name, preset)]
