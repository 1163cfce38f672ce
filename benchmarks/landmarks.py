"""What is lost by landmarks: average precision against the exact solver, for each number of them and each way to choose them.

The picture docs/images/landmarks.png shows the loss on two of the public sets.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.curves import Curve, Panel, draw
from benchmarks.machine import Row, at_most
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel.stream import CHOICES
from skcamel.data import load_dataset
from skcamel.metrics import average_precision

SETS = ("arts", "business", "science", "rcv1-s1")
SHOWN = ("arts", "rcv1-s1")
COUNT = 2_000
COUNTS = (125, 250, 500, 1_000, 2_000, 4_000)
GRID = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1, 0.3, 1.0)}  # for both
MADE_ROWS, MADE_COUNT = 3_000, 100
Split = tuple[Any, np.ndarray, Any, np.ndarray]  # training rows and labels, test rows and labels


def splits(name: str) -> list[Split]:
    """Five folds of a public set."""
    data = load_dataset(name)
    X, Y = data.X, np.asarray(data.Y)
    return [
        (X[train], Y[train], X[test], Y[test])
        for train, test in KFold(5, shuffle=True, random_state=0).split(Y)
    ]


def precision(split: Split, **options: Any) -> float:
    """Average precision on the test rows, hyper-parameters chosen by leave-one-out."""
    X, Y, new, truth = split
    return average_precision(
        truth, CamelClassifierCV(**GRID, **options).fit(X, Y).decision_function(new)
    )


def loss(name: str) -> Row:
    """Mean loss of average precision over five splits."""
    exact, ours = (
        np.mean([precision(split, **options) for split in splits(name)])
        for options in ({"solver": "spectral"}, {"solver": "landmark", "n_landmarks": COUNT})
    )
    return at_most(
        f"{name}, {COUNT} landmarks: loss of average precision (exact {exact:.3f})",
        float(exact - ours),
        0.008,
        "",
    )


def primal_gap(name: str) -> Row:
    """Largest difference of scores between the two ways to the same linear model."""
    X, Y, new, _ = splits(name)[0]
    exact, ours = (
        CamelClassifier(kernel="linear", alpha=0.5, lambda2=1.0, solver=solver)
        .fit(X, Y)
        .decision_function(new)
        for solver in ("spectral", "primal")
    )
    return at_most(
        f"{name}, linear kernel: primal against exact scores",
        float(abs(ours - exact).max() / abs(exact).max()),
        1e-8,
        "of it",
    )


def made(d: int) -> Split:
    """Labels by waves in the first three columns; rows crowd where these are small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * MADE_ROWS, d))
    X[:, :3] *= rng.gamma(0.5, 2.0, size=(len(X), 1))
    waves = (
        np.sin(X[:, :3] @ rng.normal(size=(3, 12)) + rng.uniform(0, 6, size=12))
        @ rng.normal(size=(12, 8))
        / 3
    )
    Y = (waves + 0.3 * rng.normal(size=waves.shape) > np.linspace(0, 1.2, 8)).astype(int)
    return X[:MADE_ROWS], Y[:MADE_ROWS], X[MADE_ROWS:], Y[MADE_ROWS:]


def choices(what: str, d: int) -> list[Row]:
    """Average precision by each way to choose landmarks."""
    split = made(d)
    exact = precision(split, solver="spectral")
    found = {
        how: precision(split, solver="landmark", n_landmarks=MADE_COUNT, landmarks=how)
        for how in CHOICES
    }
    return [
        Row(
            f"{what}, {MADE_COUNT} landmarks, {how}: average precision (exact {exact:.3f})", own, ""
        )
        for how, own in found.items()
    ]


def picture() -> None:
    """Average precision against the number of landmarks."""
    panels = []
    for name in SHOWN:
        split = splits(name)[0]
        counts = [m for m in COUNTS if m <= len(split[1])]
        ours = [precision(split, solver="landmark", n_landmarks=m) for m in counts]
        exact = precision(split, solver="spectral")
        title = f"{name}: {len(split[1]):,} training rows"
        curves = [
            Curve("landmarks", counts, ours),
            Curve("exact solver", counts, [exact] * len(counts), "--"),
        ]
        panels.append(
            Panel(title, "landmarks", "average precision on test rows", curves, logarithmic="x")
        )
    draw("landmarks", panels)


def run() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # defects of the public files
        rows = [*choices("3 columns", 3), *choices("200 columns", 200)]
        if not os.environ.get("SKCAMEL_DATA"):
            return [
                *rows,
                Row("SKCAMEL_DATA is not set: public sets not measured", float("nan"), ""),
            ]
        picture()
        return [*map(loss, SETS), *map(primal_gap, SETS), *rows]
