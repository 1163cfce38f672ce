"""What landmarks lose in average precision against the exact solver, on public sets and made rows.

With ``--all`` also the picture docs/images/landmarks.png: the loss by the number of landmarks.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.curves import Curve, Panel, draw
from benchmarks.machine import Row, at_most
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import average_precision

SETS = ("arts", "business", "science", "rcv1-s1")
N_SPLITS = 5
COUNT = 2_000
GRID = {"alphas": (0.0, 0.5), "lambda2s": (0.01, 0.1, 0.3, 1.0)}  # for both solvers
PRIMAL_ROWS = 2_000
CHOICES = ("uniform", "kmeans")
MADE_ROWS, MADE_COUNT = 3_000, 100
SHOWN = ("arts", "rcv1-s1")  # in the picture
COUNTS = (125, 250, 500, 1_000, 2_000, 4_000)


class Split(NamedTuple):
    """Rows and labels to train on, and to test."""

    X: Any
    Y: np.ndarray
    new: Any
    truth: np.ndarray


def splits(name: str) -> list[Split]:
    """Five folds of a public set."""
    data = load_dataset(name)
    X, Y = data.X, np.asarray(data.Y)
    folds = KFold(N_SPLITS, shuffle=True, random_state=0).split(Y)
    return [Split(X[train], Y[train], X[test], Y[test]) for train, test in folds]


def precision(split: Split, **options: Any) -> float:
    """Average precision on the test rows, hyper-parameters chosen by leave-one-out."""
    model = CamelClassifierCV(**GRID, **options).fit(split.X, split.Y)
    return average_precision(split.truth, model.decision_function(split.new))


def loss(name: str, n_splits: int) -> Row:
    """Mean loss of average precision over some of five splits."""
    used = splits(name)[:n_splits]
    exact = np.mean([precision(split, solver="spectral") for split in used])
    ours = np.mean([precision(split, solver="landmark", n_landmarks=COUNT) for split in used])
    what = f"{name}, {COUNT} landmarks: loss of average precision (exact {exact:.3f})"
    return at_most(what, float(exact - ours), 0.008, "")


def primal_gap(name: str) -> Row:
    """Largest difference of scores between the two ways to the same linear model."""
    split = splits(name)[0]
    scores = []
    for solver in ("spectral", "primal"):
        model = CamelClassifier(kernel="linear", alpha=0.5, lambda2=1.0, solver=solver)
        model.fit(split.X[:PRIMAL_ROWS], split.Y[:PRIMAL_ROWS])
        scores.append(model.decision_function(split.new))
    exact, ours = scores
    gap = abs(ours - exact).max() / abs(exact).max()
    what = f"{name}, linear kernel: primal against exact scores"
    return at_most(what, float(gap), 1e-8, "of it")


def made(d: int) -> Split:
    """Labels by waves in the first three columns; rows crowd where these are small."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * MADE_ROWS, d))
    X[:, :3] *= rng.gamma(0.5, 2.0, size=(len(X), 1))
    angles = X[:, :3] @ rng.normal(size=(3, 12)) + rng.uniform(0, 6, size=12)
    waves = np.sin(angles) @ rng.normal(size=(12, 8)) / 3
    Y = (waves + 0.3 * rng.normal(size=waves.shape) > np.linspace(0, 1.2, 8)).astype(int)
    return Split(X[:MADE_ROWS], Y[:MADE_ROWS], X[MADE_ROWS:], Y[MADE_ROWS:])


def choices(d: int) -> list[Row]:
    """Average precision by each way to choose landmarks, on made rows of d columns."""
    split = made(d)
    exact = precision(split, solver="spectral")
    rows = []
    for how in CHOICES:
        options = {"solver": "landmark", "n_landmarks": MADE_COUNT, "landmarks": how}
        what = f"{d} columns, {MADE_COUNT} landmarks, {how}: average precision (exact {exact:.3f})"
        rows.append(Row(what, precision(split, **options), ""))
    return rows


def picture() -> None:
    """Average precision against the number of landmarks."""
    panels = []
    for name in SHOWN:
        split = splits(name)[0]
        n = len(split.Y)
        counts = [m for m in COUNTS if m <= n]
        ours = [precision(split, solver="landmark", n_landmarks=m) for m in counts]
        exact = precision(split, solver="spectral")
        curves = [
            Curve("landmarks", counts, ours),
            Curve("exact solver", counts, [exact] * len(counts), "--"),
        ]
        title = f"{name}: {n:,} training rows"
        panels.append(Panel(title, "landmarks", "average precision on test rows", curves, "x"))
    draw("landmarks", panels)


def run(n_splits: int = 1) -> list[Row]:
    rows = choices(3) + choices(200)
    if not os.environ.get("SKCAMEL_DATA"):
        missing = "SKCAMEL_DATA is not set: public sets not measured"
        return [*rows, Row(missing, float("nan"), "")]
    losses = [loss(name, n_splits) for name in SETS]
    return losses + [primal_gap(name) for name in SETS] + rows


def run_all() -> list[Row]:
    """All five splits, and the picture."""
    if os.environ.get("SKCAMEL_DATA"):
        picture()
    return run(N_SPLITS)
