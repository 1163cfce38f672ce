"""What tuned thresholds bring: held-out macro-F1 for several prior counts of rare labels, and for the methods of a study."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_least
from skcamel import CamelClassifier
from skcamel.camel import thresholds
from skcamel.data import load_dataset
from skcamel.experiment import Method, get_method
from skcamel.metrics import hamming_loss, macro_f1

SETS = ("genbase", "medical", "emotions", "cal500", "enron", "yeast", "scene", "image")
PRIORS = (0.1, 10.0, 50.0)


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: nothing measured", float("nan"), "")]
    return [row for name in SETS for row in compare(name)] + list(methods("emotions"))


def compare(name: str) -> Iterator[Row]:
    """Gain of tuned thresholds over the threshold 0, absent labels counting 1, for each prior; the library's must not lose."""
    data = load_dataset(name)
    zero = mean_macro_f1(data.X, data.Y, "zero")
    chosen = thresholds.PRIOR_POSITIVES
    for prior in PRIORS:
        thresholds.PRIOR_POSITIVES = prior
        gain = mean_macro_f1(data.X, data.Y, "macro_f1") - zero
        what = f"{name}: gain in macro-F1 over the threshold 0, prior {prior:g}"
        yield at_least(what, gain, 0, "") if prior == chosen else Row(what, gain, "")
    thresholds.PRIOR_POSITIVES = chosen


def mean_macro_f1(X: np.ndarray, Y: np.ndarray, mode: str) -> float:
    values = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        model = CamelClassifier(0.5, lambda2=0.1, threshold=mode).fit(X[train], Y[train])
        values.append(macro_f1(Y[test], model.predict(X[test])))
    return float(np.mean(values))


def methods(name: str) -> Iterator[Row]:
    """Gain of the comparison methods of preset best, whose thresholds are tuned, over the same methods with thresholds at 0."""
    data = load_dataset(name)
    for method in ("br", "ecc", "rakel", "llsf", "jfsc"):
        tuned = get_method(method, "best")
        zero = Method(method, clone(tuned.estimator).set_params(threshold="zero"))
        values = {"zero": [], "tuned": []}
        for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
            for key, one in (("zero", zero), ("tuned", tuned)):
                fitted = one.fit(data.X[train], data.Y[train], seed=0)[""]
                outcome = fitted.outcome(data.X[test])
                values[key].append(
                    [
                        macro_f1(data.Y[test], outcome.decisions),
                        hamming_loss(data.Y[test], outcome.decisions),
                    ]
                )
        (f1, loss), (tuned_f1, tuned_loss) = (
            np.mean(values[key], axis=0) for key in ("zero", "tuned")
        )
        yield at_least(
            f"{name}: gain in macro-F1 over the threshold 0 ({f1:.3f}), {method}",
            float(tuned_f1 - f1),
            0,
            "",
        )
        yield Row(
            f"{name}: what it costs in Hamming loss ({loss:.3f}), {method}",
            float(tuned_loss - loss),
            "",
        )
