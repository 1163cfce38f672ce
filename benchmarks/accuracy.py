"""Ten folds of sets in SKCAMEL_DATA: the paper's protocol beside a reference, tuned thresholds.

A threshold moves no score, so one fit with tuned thresholds gives the decisions under both.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_least
from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import NAMES, evaluate, macro_f1

# Means of an independent implementation in the same protocol: one-error, Hamming loss, coverage,
# ranking loss, average precision, macro-F1, micro-F1; and the standard deviations that the paper
# prints for CAMEL.
REFERENCE = {
    "cal500": (
        (0.123, 0.137, 0.745, 0.176, 0.516, 0.182, 0.334),
        (0.053, 0.005, 0.019, 0.009, 0.018, 0.032, 0.017),
    ),
    "emotions": (
        (0.285, 0.202, 0.299, 0.170, 0.795, 0.616, 0.643),
        (0.052, 0.021, 0.031, 0.032, 0.035, 0.052, 0.041),
    ),
    "image": ((0.236, 0.144, 0.157, 0.129, 0.844, 0.668, 0.665), ()),
    "scene": ((0.170, 0.070, 0.062, 0.057, 0.899, 0.789, 0.783), ()),
    "yeast": ((0.215, 0.189, 0.441, 0.159, 0.776, 0.393, 0.656), ()),
}
RARE = ("medical", "genbase", "enron", "yeast")  # gains of tuned thresholds
ABSENT_0 = "macro_f1 (absent 0)"


class Folds(NamedTuple):
    """Metrics of each fold by threshold."""

    zero: list[dict[str, float]]
    tuned: list[dict[str, float]]


def ten_folds(name: str) -> Folds:
    """The seven metrics of each fold, and macro-F1 with absent labels counting 0."""
    data = load_dataset(name)
    found = Folds([], [])
    for train, test in KFold(10, shuffle=True, random_state=0).split(data.X):
        model = CamelClassifierCV(threshold="macro_f1").fit(data.X[train], data.Y[train])
        scores = model.decision_function(data.X[test])
        found.zero.append(figures(data.Y[test], scores, scores > 0))
        found.tuned.append(figures(data.Y[test], scores, scores > model.thresholds_))
    return found


def figures(Y: Any, scores: np.ndarray, decisions: np.ndarray) -> dict[str, float]:
    P = decisions.astype(int)
    return evaluate(Y, scores, P) | {ABSENT_0: macro_f1(Y, P, absent=0.0)}


def against_reference(name: str, folds: list[dict[str, float]]) -> list[Row]:
    """Distances from the reference, in standard deviations over the folds."""
    means, printed = REFERENCE[name]
    rows = []
    for k, metric in enumerate(NAMES):
        values = [fold[metric] for fold in folds]
        mean = float(np.mean(values))
        deviation = printed[k] if printed else float(np.std(values))
        apart = abs(mean - means[k]) / deviation
        what = f"{name} {metric}: {mean:.3f}, reference {means[k]:.3f}, apart"
        rows.append(Row(what, apart, "std", "≤ 1", apart <= 1))
    return rows


def gains(name: str, folds: Folds) -> list[Row]:
    """What tuned thresholds gain over 0."""
    rows = []
    for metric in ("macro_f1", ABSENT_0):
        tuned = np.mean([fold[metric] for fold in folds.tuned])
        zero = np.mean([fold[metric] for fold in folds.zero])
        what = f"{name} {metric}: gain of tuned thresholds over 0"
        rows.append(at_least(what, float(tuned - zero), 0, ""))
    return rows


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: accuracy not measured", float("nan"), "")]
    results = {name: ten_folds(name) for name in dict.fromkeys((*REFERENCE, *RARE))}
    reference = [row for name in REFERENCE for row in against_reference(name, results[name].zero)]
    return reference + [row for name in RARE for row in gains(name, results[name])]
