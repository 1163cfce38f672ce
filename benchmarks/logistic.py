"""Binary relevance against one LogisticRegression of scikit-learn per label, on the benchmark sets in SKCAMEL_DATA."""

from __future__ import annotations

import os
import sys
import time
import warnings
from itertools import islice
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_most
from skcamel.arrays import dense
from skcamel.baselines import BinaryRelevance
from skcamel.data import load_dataset
from skcamel.experiment.summary import LARGE, REGULAR
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.conventions import TITLES

N_FOLDS = 10
LIMITS = dict.fromkeys(NAMES, 0.005) | {
    "one_error": 0.02,
    "macro_f1": 0.02,
}  # these two hang on single rows and on rare labels


class Compared(NamedTuple):
    """Means over the folds, and the time of all fits."""

    ours: dict[str, float]
    theirs: dict[str, float]
    our_seconds: float
    their_seconds: float


def label_by_label(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """P of new rows from a model for each label, on columns that vary, standardised by the training rows."""
    varies = X.max(axis=0) > X.min(axis=0)
    mean, spread = X[:, varies].mean(axis=0), X[:, varies].std(axis=0, ddof=1)
    Z, new = (X[:, varies] - mean) / spread, (new[:, varies] - mean) / spread
    P = np.tile(Y[0].astype(float), (len(new), 1))
    for j in np.flatnonzero(Y.max(axis=0) > Y.min(axis=0)):
        P[:, j] = LogisticRegression(C=5e7, max_iter=1000).fit(Z, Y[:, j]).predict_proba(new)[:, 1]
    return P


def compared(name: str, n_folds: int) -> Compared:
    """Both on the same ones of ten folds of a set."""
    data = load_dataset(name)
    ours, theirs, times = [], [], np.zeros(2)
    folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(data.X)
    for train, test in islice(folds, n_folds):
        rows, new = dense(data.X[train]), dense(data.X[test])
        start = time.perf_counter()
        model = BinaryRelevance().fit(data.X[train], data.Y[train])
        middle = time.perf_counter()
        P = label_by_label(rows, data.Y[train], new)
        times += (middle - start, time.perf_counter() - middle)
        ours.append(
            evaluate(
                data.Y[test], model.decision_function(data.X[test]), model.predict(data.X[test])
            )
        )
        theirs.append(evaluate(data.Y[test], P, P >= 0.5))
    return Compared(mean_of(ours), mean_of(theirs), *times)


def mean_of(folds: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([fold[name] for fold in folds])) for name in NAMES}


def rows_of(name: str, found: Compared) -> list[Row]:
    rows = []
    for metric in NAMES:
        ours, theirs = found.ours[metric], found.theirs[metric]
        what = f"BR {name}, {TITLES[metric]}: {ours:.3f}, scikit-learn {theirs:.3f}, apart"
        rows.append(at_most(what, abs(ours - theirs), LIMITS[metric], ""))
    return rows


def run(datasets: tuple[str, ...] = REGULAR + LARGE, n_folds: int | None = None) -> list[Row]:
    """All ten folds of the regular sets and one of the large ones, unless a number is given: ten of all take hours."""
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: binary relevance not compared", float("nan"), "")]
    rows, times = [], np.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # limits of iterations, labels that are constant in a fold
        for name in datasets:
            found = compared(name, n_folds or (N_FOLDS if name in REGULAR else 1))
            rows += rows_of(name, found)
            times += found.our_seconds, found.their_seconds
    return [
        *rows,
        Row("one LogisticRegression per label / BR, time on all sets", times[1] / times[0], "x"),
    ]


if __name__ == "__main__":  # python -m benchmarks.logistic 3 emotions enron
    for row in run(tuple(sys.argv[2:]), int(sys.argv[1])):
        print(f"{row.what} {row.value:.4f} {row.target} {row.ok}", flush=True)
