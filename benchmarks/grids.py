"""The grid of preset best against a finer one: average precision in three folds of the sets that SKCAMEL_GRIDS names.

Run by ``python -m benchmarks grids``; not among those that `make benchmark` runs.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_least
from skcamel import PAPER_ALPHAS, CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import average_precision

SETS = "emotions,scene,yeast,image,medical,enron,cal500,genbase,arts"  # minutes on a GPU (SKCAMEL_DEVICE=cuda), hours on two cores
FINER = {"alphas": PAPER_ALPHAS, "lambda2s": (0.001, 0.002, 0.01, 0.02, 0.1, 0.2, 1.0, 10.0)}


def precision(name: str, **grid: object) -> float:
    """Mean average precision of preset best, with its own grid or another."""
    data, found = load_dataset(name), []
    for train, test in KFold(3, shuffle=True, random_state=0).split(data.Y):
        model = CamelClassifierCV.from_preset("best", device=os.environ.get("SKCAMEL_DEVICE"), random_state=0, **grid)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # labels that a part lacks
            model.fit(data.X[train], data.Y[train])
        found.append(average_precision(data.Y[test], model.decision_function(data.X[test])))
    return float(np.mean(found))


def run() -> list[Row]:
    rows = []
    for name in os.environ.get("SKCAMEL_GRIDS", SETS).split(","):
        own, finer = precision(name), precision(name, **FINER)
        what = f"{name}: average precision {own:.4f}, with 88 candidates of each {finer:.4f}; difference"
        rows.append(at_least(what, own - finer, -0.002, ""))
    return rows
