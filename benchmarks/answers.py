"""Probabilities and prediction sets of presets quick and best on new rows, over the sets in SKCAMEL_DATA.

Run by ``python -m benchmarks answers``, on a GPU where there is one: eight minutes there, hours on
two cores.

Three folds of every set. Log loss and expected calibration error (ten bins of equal width) are
those of all entries of a test part; the
rates of prediction sets at confidence .9 are pooled over folds and sets.
"""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import KFold

from benchmarks.machine import Row, at_least, at_most
from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import average_precision

SETS = ("cal500", "emotions", "genbase", "medical", "enron", "image", "scene", "yeast")
SETS += ("science", "arts", "business", "rcv1-s1", "rcv1-s2", "rcv1-s3", "rcv1-s4", "rcv1-s5")
PRESETS = ("quick", "best")
CONFIDENCES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
CONFIDENCE = 0.9
# Means over sets and folds at commit f112b78, whose probabilities had a slope for each label and no
# offset.
BEFORE = {
    "quick": {"log_loss": 0.15846, "calibration_error": 0.00890, "average_precision": 0.74184},
    "best": {"log_loss": 0.15453, "calibration_error": 0.00787, "average_precision": 0.74931},
}


def log_loss(Y: np.ndarray, p: np.ndarray) -> float:
    """Mean over the entries."""
    return float(-np.mean(np.where(Y == 1, np.log(p), np.log1p(-p))))


def calibration_error(Y: np.ndarray, p: np.ndarray) -> float:
    """Mean distance between the probability and the share of present labels, over ten bins of equal width."""
    bins = np.minimum((10 * p).astype(int), 9).ravel()
    excess = np.bincount(bins, (p - Y).ravel(), minlength=10)
    return float(np.abs(excess).sum() / Y.size)


def figures(Y: np.ndarray, model: Any, X: Any) -> dict[str, float]:
    """How good the probabilities of a model are on new rows."""
    p = model.predict_proba(X)
    return {
        "log_loss": log_loss(Y, p),
        "calibration_error": calibration_error(Y, p),
        "average_precision": average_precision(Y, model.decision_function(X)),
    }


def counts(Y: np.ndarray, model: Any, X: Any) -> dict[str, float]:
    """What prediction sets answer, as numbers of entries."""
    predicted = model.predict(X) == 1
    found: dict[str, float] = {}
    before = np.zeros(Y.shape, dtype=bool)
    for confidence in CONFIDENCES:
        answers = model.predict_sets(X, confidence=confidence)
        is_open = answers == -1
        found["closed again"] = found.get("closed again", 0) + (before & ~is_open).sum()
        found["contradictions"] = (
            found.get("contradictions", 0)
            + ((answers == 1) & ~predicted).sum()
            + ((answers == 0) & predicted).sum()
        )
        before = is_open
        if confidence == CONFIDENCE:
            found |= {
                "yes": (answers == 1).sum(),
                "right": ((answers == 1) & (Y == 1)).sum(),
                "open": is_open.sum(),
            }
            found |= {
                "present": (Y == 1).sum(),
                "missed": ((answers == 0) & (Y == 1)).sum(),
                "entries": Y.size,
            }
    return {key: float(count) for key, count in found.items()}


def device() -> str | None:
    """A GPU, where there is one."""
    if find_spec("torch") is None:
        return None
    return "cuda" if import_module("torch").cuda.is_available() else None


def fold_results(name: str, preset: str, *, with_sets: bool = True) -> list[dict[str, float]]:
    """Figures of the three folds of a set."""
    data = load_dataset(name)
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # labels that are constant in a fold
        for train, test in KFold(3, shuffle=True, random_state=0).split(data.X):
            model = CamelClassifierCV.from_preset(preset, device=device()).fit(
                data.X[train], data.Y[train]
            )
            found = figures(data.Y[test], model, data.X[test])
            if with_sets:
                found |= counts(data.Y[test], model, data.X[test])
            results.append(found)
    return results


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: answers not measured", float("nan"), "")]
    rows = []
    parallel = Parallel(n_jobs=1 if device() is None else 4)
    for preset in PRESETS:
        results = [
            fold
            for folds in parallel(delayed(fold_results)(name, preset) for name in SETS)
            for fold in folds
        ]
        mean = {key: float(np.mean([result[key] for result in results])) for key in BEFORE[preset]}
        total = {key: sum(result[key] for result in results) for key in results[0]}
        rows += [
            at_most(f"{preset}: log loss", mean["log_loss"], BEFORE[preset]["log_loss"], ""),
            at_most(
                f"{preset}: expected calibration error",
                mean["calibration_error"],
                BEFORE[preset]["calibration_error"],
                "",
            ),
            at_least(
                f"{preset}: average precision",
                mean["average_precision"],
                BEFORE[preset]["average_precision"],
                "",
            ),
            at_least(
                f"{preset}: right among the yes answers at confidence .9",
                total["right"] / total["yes"],
                0.88,
                "",
            ),
            at_most(
                f"{preset}: present labels answered no at confidence .9",
                total["missed"] / total["present"],
                0.12,
                "",
            ),
            Row(f"{preset}: open answers at confidence .9", total["open"] / total["entries"], ""),
            at_most(f"{preset}: answers that contradict predict", total["contradictions"], 0, ""),
            at_most(
                f"{preset}: open answers that a higher confidence closes",
                total["closed again"],
                0,
                "",
            ),
        ]
    return rows
