"""What tuned thresholds gain in macro-F1 over the threshold 0, for CAMEL and other methods.

A threshold moves no score, so one fit with tuned thresholds gives the decisions under both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_least
from skcamel import CamelClassifier
from skcamel.camel import thresholds
from skcamel.data import load_dataset
from skcamel.experiment import get_method
from skcamel.metrics import hamming_loss, macro_f1

SETS = ("genbase", "medical", "emotions", "cal500", "enron", "yeast", "scene", "image")
OTHER_PRIORS = (0.1, 50.0)  # beside the prior count of the library
METHODS = ("br", "ecc", "rakel", "llsf", "jfsc")


def run() -> list[Row]:
    """The prior count of the library; the methods with the searches of preset quick."""
    return rows((), "quick")


def run_all() -> list[Row]:
    """Other prior counts too; the methods with the searches of preset best."""
    return rows(OTHER_PRIORS, "best")


def rows(other_priors: tuple[float, ...], preset: str) -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: nothing measured", float("nan"), "")]
    of_camel = [row for name in SETS for row in camel_gains(name, other_priors)]
    return of_camel + [row for method in METHODS for row in method_gain("emotions", method, preset)]


def camel_gains(name: str, other_priors: tuple[float, ...]) -> Iterator[Row]:
    """Gain for each prior count of rare labels, absent labels counting 1."""
    data = load_dataset(name)
    chosen = thresholds.PRIOR_POSITIVES
    what = f"{name}: gain in macro-F1 over the threshold 0, prior"
    yield at_least(f"{what} {chosen:g}", camel_gain(data), 0, "")
    try:
        for prior in other_priors:
            thresholds.PRIOR_POSITIVES = prior
            yield Row(f"{what} {prior:g}", camel_gain(data), "")
    finally:
        thresholds.PRIOR_POSITIVES = chosen


def camel_gain(data: Any) -> float:
    """Mean gain over three folds."""
    gains = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
        model = CamelClassifier(0.5, lambda2=0.1, threshold="macro_f1")
        model.fit(data.X[train], data.Y[train])
        scores = model.decision_function(data.X[test])
        tuned = macro_f1(data.Y[test], scores > model.thresholds_)
        gains.append(tuned - macro_f1(data.Y[test], scores > 0))
    return float(np.mean(gains))


def method_gain(name: str, method: str, preset: str) -> Iterator[Row]:
    """Gain of a comparison method, and what it costs in Hamming loss; means over three folds."""
    data = load_dataset(name)
    at_zero, tuned = [], []
    for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
        fitted = get_method(method, preset).fit(data.X[train], data.Y[train], seed=0)[""]
        outcome = fitted.outcome(data.X[test])
        at_zero.append(figures(data.Y[test], outcome.scores > 0))
        tuned.append(figures(data.Y[test], outcome.decisions))
    f1, loss = np.mean(at_zero, axis=0)
    tuned_f1, tuned_loss = np.mean(tuned, axis=0)
    gain = f"{name}: gain in macro-F1 over the threshold 0 ({f1:.3f}), {method}"
    yield at_least(gain, float(tuned_f1 - f1), 0, "")
    cost = f"{name}: what it costs in Hamming loss ({loss:.3f}), {method}"
    yield Row(cost, float(tuned_loss - loss), "")


def figures(Y: np.ndarray, decisions: np.ndarray) -> tuple[float, float]:
    """Macro-F1 and Hamming loss."""
    return macro_f1(Y, decisions), hamming_loss(Y, decisions)
