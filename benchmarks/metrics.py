"""All seven metrics together against scikit-learn's time for the ones it has."""

from __future__ import annotations

import numpy as np
from sklearn import metrics as scikit

from benchmarks.machine import Row, at_most, seconds
from skcamel.metrics import evaluate


def run() -> list[Row]:
    rng = np.random.default_rng(0)
    Y = (rng.random((100_000, 100)) < 0.05).astype(int)
    Y[np.arange(len(Y)), rng.integers(0, 100, len(Y))] = 1
    scores = rng.normal(size=Y.shape) + Y
    P = (scores > 1.5).astype(int)

    def theirs() -> None:
        scikit.coverage_error(Y, scores)
        scikit.label_ranking_loss(Y, scores)
        scikit.label_ranking_average_precision_score(Y, scores)
        scikit.hamming_loss(Y, P)
        scikit.f1_score(Y, P, average="macro", zero_division=1.0)
        scikit.f1_score(Y, P, average="micro", zero_division=1.0)

    ours = seconds(lambda: evaluate(Y, scores, P), 3)
    what = "seven metrics, 100 000 rows, 100 labels / scikit-learn's six"
    return [at_most(what, ours / seconds(theirs, 1), 0.2)]
