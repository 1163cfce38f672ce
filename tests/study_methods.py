"""Fast methods for tests of the runner: they write down each fit, can wait, and can fail; importable from any process."""

import os
import time
from pathlib import Path

import numpy as np

from skcamel.data import Dataset
from skcamel.experiment import Outcome

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
    return [
        {
            key: "NaN" if value != value else value
            for key, value in record.items()
            if "seconds" not in key and "memory" not in key and key != "finished_at"
        }
        for record in records
    ]


class Mean:
    """Predicts the share of each label in the training part."""

    def __init__(self, name="mean", pause=0.0, settings=None):
        self.name = name
        self.pause = pause
        self.settings = settings or {}

    def fit(self, X, Y, *, seed):
        if LOG in os.environ:
            with Path(os.environ[LOG]).open("a") as file:  # one short line: appended in one piece
                file.write(f"{self.name} {Y.sum()} {X.sum():.9f}\n")
        time.sleep(self.pause)
        return FittedMean(Y.mean(axis=0))


class FittedMean:
    def __init__(self, mean):
        self.mean = mean

    def outcomes(self, X):
        scores = np.tile(self.mean, (X.shape[0], 1)) + 1e-3 * X[:, :1]
        return {"": Outcome(scores, (scores > 0.5).astype(int), {"mean": self.mean.tolist()})}


class Slow(Mean):
    def __init__(self):
        super().__init__("slow", 0.3)


class FailsOnce(Mean):
    """Fails in the fold whose training part has this first value, as long as the file FAIL exists."""

    def __init__(self, flag):
        super().__init__("fails")
        self.flag = flag

    def fit(self, X, Y, *, seed):
        if Path(self.flag).exists() and X[0, 0] == made().X[0, 0]:
            raise RuntimeError("no luck\ntoday")
        return super().fit(X, Y, seed=seed)


class FitsNothing:
    """What scikit-learn could not clone."""


class Broken(Mean):
    def __init__(self):
        super().__init__("broken")

    def fit(self, X, Y, *, seed):
        raise RuntimeError("no luck\ntoday")
