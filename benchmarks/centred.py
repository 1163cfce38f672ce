"""Label correlations learned as in the paper and from centred labels: signs that contradict the data, and average precision."""

from __future__ import annotations

import os

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.machine import Row
from skcamel import CamelClassifierCV
from skcamel.correlation import KINDS, learn
from skcamel.data import load_dataset
from skcamel.explanation import Evidence, cooccurrence
from skcamel.metrics import average_precision

SETS = ("yeast", "scene", "medical", "image")
STRONG = 0.05


def share_against(labels: np.ndarray, kind: str) -> float:
    """Share of the pushes above `STRONG` whose sign is opposite to that of the plain correlation of the two labels."""
    Y = np.where(labels > 0, 1.0, -1.0)
    S = learn(Y, centred=kind == "centred").S
    strong = abs(S) > STRONG
    return float(Evidence(S, *cooccurrence(Y, None)).contradicts[strong].mean())


def precision(X: np.ndarray, Y: np.ndarray, kind: str) -> float:
    """Mean average precision of three folds, hyper-parameters chosen inside each training part."""
    found = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        model = CamelClassifierCV(correlation=kind).fit(X[train], Y[train])
        found.append(average_precision(Y[test], model.decision_function(X[test])))
    return float(np.mean(found))


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: centred labels not measured", float("nan"), "")]
    rows = []
    for name in SETS:
        data = load_dataset(name)
        X, Y = data.X, data.Y
        rows += [Row(f"{name}, {kind}: pushes above {STRONG} against the data", 100 * share_against(Y, kind), "%") for kind in KINDS]
        paper, centred = (precision(X, Y, kind) for kind in KINDS)
        rows.append(Row(f"{name}, paper: average precision in 3 folds", paper, ""))
        worst = paper - 0.003
        rows.append(Row(f"{name}, centred: average precision in 3 folds", centred, "", f"≥ {worst:.3f}", centred >= worst))
    return rows
