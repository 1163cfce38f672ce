"""The CAMEL column of the paper's tables against the bare `eigh` calls of its training parts, one fold of each set in SKCAMEL_DATA."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from scipy import linalg

from benchmarks.machine import Row, at_most, seconds
from skcamel.data import load_dataset
from skcamel.experiment.folds import splits
from skcamel.experiment.methods import CamelMethod
from skcamel.experiment.paper import LARGE, REGULAR
from skcamel.kernel import fitted


def measure(name: str) -> tuple[float, float]:
    """Seconds of selection among 77 candidates, fits and predictions under seven criteria; and of `eigh` of the same kernel."""
    X, Y, new = training_part(name)
    unit = seconds(lambda: CamelMethod("paper", per_metric=True).fit(X, Y, seed=0).outcomes(new), 1)
    _, K = fitted("rbf", X, bandwidth="mean")
    K = np.asfortranarray(K)
    return unit, seconds(lambda: linalg.eigh(K, driver="evd", overwrite_a=True, check_finite=False), 1)


def training_part(name: str) -> tuple[Any, np.ndarray, Any]:
    """Rows and labels of the first of ten folds to train on, and its rows to test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # known defects of the rcv1 sets
        data = load_dataset(name)
    train, test = splits(data.Y, "plain", 10, seed=0)[0]
    return data.X[train], data.Y[train], data.X[test]


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: column not measured", float("nan"), "")]
    times = {name: measure(name) for name in (*REGULAR, *LARGE)}
    rows = [Row(f"{name}: unit {unit:.2f} s, bare eigh {bare:.2f} s", unit / bare, "x") for name, (unit, bare) in times.items()]
    units, bares = np.sum(list(times.values()), axis=0)
    return [*rows, at_most("whole column / bare eigh", float(units / bares), 2)]
