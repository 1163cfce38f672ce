"""Fast methods for tests of studies: they log each fit, can wait and fail; importable anywhere."""

import os
import time
from pathlib import Path

import numpy as np

from skcamel.data import Dataset

LOG = "STUDY_LOG"  # file that gets a line for each fit


def made(n=24, name="made", q=3):
    """A small data set with related labels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    Y = (X @ rng.normal(size=(4, q)) + 0.3 * rng.normal(size=(n, q)) > 0).astype(int)
    Y[:2] = [[1] + [0] * (q - 1), [0] * (q - 1) + [1]]
    return Dataset(X, Y, name=name)


def fits(log):
    """What was fitted so far, in order."""
    return log.read_text().splitlines() if log.exists() else []


def comparable(records):
    """Records without what may differ between equal runs; NaN made equal to itself."""
    kept = []
    for record in records:
        same = {k: v for k, v in record.items() if "seconds" not in k and "memory" not in k}
        kept.append({key: "NaN" if value != value else value for key, value in same.items()})
    return kept


class Mean:
    """Predicts the share of each label in the training part; the least that a method needs."""

    def __init__(self, name="mean", pause=0.0):
        self.name = name
        self.pause = pause

    def fit(self, X, Y):
        if LOG in os.environ:
            with Path(os.environ[LOG]).open("a") as file:  # one short line: appended in one piece
                file.write(f"{self.name} {Y.sum()} {X.sum():.9f}\n")
        time.sleep(self.pause)
        self.mean = Y.mean(axis=0)
        return self

    def decision_function(self, X):
        return np.tile(self.mean - 0.5, (X.shape[0], 1)) + 1e-3 * X[:, :1]

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class FailsOnce(Mean):
    """Fails in the fold whose training part has this first value, as long as the file is there."""

    def __init__(self, flag):
        super().__init__("fails")
        self.flag = flag

    def fit(self, X, Y):
        if Path(self.flag).exists() and X[0, 0] == made().X[0, 0]:
            raise RuntimeError("no luck\ntoday")
        return super().fit(X, Y)
