"""Do probabilities and answers keep their word: calibration error and log loss beside scikit-learn's calibrated SVC, and coverage."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC

from benchmarks.machine import Row, at_least, at_most
from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.selection.coverage import measured, reliability

SETS = ("emotions", "scene", "yeast", "image", "medical")
COVERAGES = (0.8, 0.9, 0.95)
FOLDS = 3  # of the rows, and of the calibration inside


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: nothing measured", float("nan"), "")]
    return [row for name in SETS for row in compare(name)]


def compare(name: str) -> Iterator[Row]:
    """A third of the rows, judged by models of the other two: our preset quick, and an SVC as scikit-learn has it."""
    data = load_dataset(name)
    truth = data.Y > 0
    train, test = next(KFold(FOLDS, shuffle=True, random_state=0).split(truth))
    outputs = CamelClassifierCV.from_preset("quick").fit(data.X[train], truth[train]).outputs(data.X[test])
    ours = quality(truth[test], outputs.probabilities)
    theirs = {
        method: quality(truth[test], calibrated_svc(data.X[train], truth[train], data.X[test], method))
        for method in ("sigmoid", "isotonic")
    }
    for what, mine, *others in zip(("calibration error", "log loss"), ours, *theirs.values(), strict=True):
        beside = ", ".join(f"{method} {value:.4f}" for method, value in zip(theirs, others, strict=True))
        told = f"{name}: {what} (calibrated SVC: {beside})"
        # Log loss judges probabilities as a whole; the calibration error is 0 for a model that always says how frequent a label is.
        yield at_most(told, mine, round(min(others), 4), "") if what == "log loss" else Row(told, mine, "")
    for coverage in COVERAGES:
        shares = measured(truth[test], outputs.sets(coverage)).total().shares()
        kept = {side: float(shares[side][0]) for side in ("positives", "negatives")}
        told = f"{name}: answers right or open at {coverage:g}, the smaller of positives and negatives ({shares['open'][0]:.0%} open)"
        yield at_least(told, min(kept.values()), round(coverage - 0.03, 2), "")


def quality(truth: np.ndarray, probabilities: np.ndarray) -> tuple[float, float]:
    """Expected calibration error and log loss over all labels."""
    return reliability(truth, probabilities).error, float(log_loss(truth.ravel(), probabilities.ravel(), labels=[False, True]))


def calibrated_svc(X: np.ndarray, Y: np.ndarray, new: np.ndarray, method: str) -> np.ndarray:
    """Probabilities by an SVC for each label; how frequent the label is where some fold would miss one of its classes."""
    found = np.empty((new.shape[0], Y.shape[1]))
    for j, y in enumerate(Y.T):
        if min(y.sum(), (~y).sum()) < FOLDS:
            found[:, j] = (y.sum() + 1) / (len(y) + 2)
            continue
        model = CalibratedClassifierCV(make_pipeline(MaxAbsScaler(), SVC()), method=method, cv=FOLDS, ensemble=False)
        found[:, j] = model.fit(X, y).predict_proba(new)[:, 1]
    return found
