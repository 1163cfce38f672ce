"""Tables as people keep them: average precision in five folds behind TablePreparer, a preparation by hand, and skrub's if it is there.

All stand in front of the same estimator, which does not scale again. The tables are those of tests/messy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from benchmarks.machine import Row, at_least
from skcamel import CamelClassifierCV
from skcamel.metrics import average_precision
from skcamel.presets import PRESETS

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the tables are made there

from messy import TABLES, Messy

Prepare = Callable[[Messy], Any]
FOLDS = 5
UNSCALED = tuple(place for place in PRESETS["quick"]["representations"] if place[0] == "none")
AS_GOOD, MEDIAN_AS_GOOD = 0.05, 0.01  # how far below the preparation by hand a table, and the median table, may lie


def preparations() -> dict[str, Prepare | None]:
    """What is installed: name ► an unfitted transformer for a table; None where scores are the frequencies of the labels."""
    found: dict[str, Prepare | None] = {"label frequencies": None, "by hand": lambda table: table.hand()}
    if find_spec("skcamel.data.preparer"):
        from skcamel.data import TablePreparer

        found["prepared"] = lambda table: TablePreparer()
    if find_spec("skrub"):
        from skrub import TableVectorizer

        found["skrub"] = lambda table: make_pipeline(TableVectorizer(), SimpleImputer())
    return found


def precision(table: Messy, prepare: Prepare | None) -> float:
    """Mean average precision of the folds; without a preparation, of the frequencies of the labels."""
    frame, Y, found = table.frame(), table.Y, []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(Y):
        if prepare is None:
            scores = np.tile(Y[train].mean(axis=0), (len(test), 1))
        else:
            model = make_pipeline(prepare(table), CamelClassifierCV.from_preset("quick", representations=UNSCALED))
            scores = model.fit(frame.iloc[train], Y[train]).decision_function(frame.iloc[test])
        found.append(average_precision(Y[test], scores))
    return float(np.mean(found))


def run() -> list[Row]:
    ways = preparations()
    ours = "prepared" if "prepared" in ways else "by hand"
    figures = {table.name: {way: precision(table, prepare) for way, prepare in ways.items()} for table in TABLES}
    rows = [Row(f"median of {len(TABLES)} tables, {way}", median(found[way] for found in figures.values()), "") for way in ways]
    for way in list(ways)[2:]:
        difference = median(found[way] - found["by hand"] for found in figures.values())
        what = f"median difference, {way} - by hand"
        rows.append(at_least(what, difference, -MEDIAN_AS_GOOD, "") if way == ours else Row(what, difference, ""))
    for name, found in figures.items():
        what = f"{name}, {ours} ({', '.join(f'{way} {value:.3f}' for way, value in found.items() if way != ours)})"
        worst = round(found["by hand"] - AS_GOOD, 3)
        rows.append(Row(what, found[ours], "") if ours == "by hand" else at_least(what, found[ours], worst, ""))
    return rows
