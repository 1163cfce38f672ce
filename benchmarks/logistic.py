"""Binary relevance and chains against those of scikit-learn, on public sets.

Both have one thread: with several, the small products of scikit-learn wait for each other.
``python -m benchmarks.logistic`` measures the times alone, on one set.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_least, at_most
from skcamel.arrays import dense
from skcamel.baselines import BinaryRelevance, EnsembleOfClassifierChains
from skcamel.data import load_dataset
from skcamel.experiment.summary import LARGE, REGULAR
from skcamel.metrics import NAMES, evaluate
from skcamel.metrics.seven import TITLES

N_FOLDS = 10
TIMED, N_CHAINS = "rcv1-s1", 2  # chains take equally long, so that two stand for thirty
# One-error hangs on single rows, macro-F1 on rare labels.
LIMITS = dict.fromkeys(NAMES, 0.005) | {"one_error": 0.02, "macro_f1": 0.02}


class Compared(NamedTuple):
    """Means over the folds, and the time of all fits."""

    ours: dict[str, float]
    theirs: dict[str, float]
    our_seconds: float
    their_seconds: float


def label_by_label(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """P of new rows from a model for each label, on standardised columns that vary."""
    varies = X.max(axis=0) > X.min(axis=0)
    mean = X[:, varies].mean(axis=0)
    spread = X[:, varies].std(axis=0, ddof=1)
    Z = (X[:, varies] - mean) / spread
    Z_new = (new[:, varies] - mean) / spread
    P = np.tile(Y[0].astype(float), (len(new), 1))
    for j in np.flatnonzero(Y.max(axis=0) > Y.min(axis=0)):
        model = LogisticRegression(C=5e7, max_iter=1000).fit(Z, Y[:, j])
        P[:, j] = model.predict_proba(Z_new)[:, 1]
    return P


def compared(name: str, n_folds: int) -> Compared:
    """Both on the same ones of ten folds of a set."""
    data = load_dataset(name)
    ours, theirs = [], []
    our_seconds = their_seconds = 0.0
    folds = KFold(N_FOLDS, shuffle=True, random_state=0).split(data.X)
    for train, test in islice(folds, n_folds):
        rows, new = dense(data.X[train]), dense(data.X[test])
        start = time.perf_counter()
        model = BinaryRelevance().fit(data.X[train], data.Y[train])
        middle = time.perf_counter()
        P = label_by_label(rows, data.Y[train], new)
        our_seconds += middle - start
        their_seconds += time.perf_counter() - middle
        scores, decisions = model.decision_function(data.X[test]), model.predict(data.X[test])
        ours.append(evaluate(data.Y[test], scores, decisions))
        theirs.append(evaluate(data.Y[test], P, P >= 0.5))
    return Compared(mean_of(ours), mean_of(theirs), our_seconds, their_seconds)


def mean_of(folds: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([fold[name] for fold in folds])) for name in NAMES}


def chains(X: np.ndarray, Y: np.ndarray) -> None:
    """Chains of scikit-learn on bootstrap samples, on standardised columns that vary."""
    random = np.random.default_rng(0)
    for _ in range(N_CHAINS):
        bag = random.integers(len(X), size=len(X))
        rows = X[bag]
        labels = Y[bag]
        rows = rows[:, rows.max(axis=0) > rows.min(axis=0)]
        labels = labels[:, labels.max(axis=0) > labels.min(axis=0)]
        Z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
        order = random.permutation(labels.shape[1])
        ClassifierChain(LogisticRegression(C=5e7, max_iter=1000), order=order).fit(Z, labels)


@threadpool_limits.wrap(limits=1)
def times() -> list[Row]:
    """Processor time of a fit of each method on the training part of a fold, as ratios."""
    data = load_dataset(TIMED)
    train, test = next(KFold(N_FOLDS, shuffle=True, random_state=0).split(data.X))
    X, Y = data.X[train], data.Y[train]
    rows, new = dense(X), dense(data.X[test])
    ensemble = EnsembleOfClassifierChains(N_CHAINS, random_state=0)
    pairs = {
        "BR": (lambda: BinaryRelevance().fit(X, Y), lambda: label_by_label(rows, Y, new)),
        f"ECC of {N_CHAINS} chains": (lambda: ensemble.fit(X, Y), lambda: chains(rows, Y)),
    }
    found = []
    for name, (ours, theirs) in pairs.items():
        own = processor_seconds(ours)
        other = processor_seconds(theirs)
        what = f"{name} {TIMED}: {own:.2f} s, scikit-learn {other:.1f} s, times as long"
        found.append(at_least(what, other / own, 10))
    return found


def processor_seconds(work: Callable[[], Any]) -> float:
    """Processor time of `work`, other processes left out."""
    start = time.process_time()
    work()
    return time.process_time() - start


def rows_of(name: str, found: Compared) -> list[Row]:
    rows = []
    for metric in NAMES:
        ours, theirs = found.ours[metric], found.theirs[metric]
        what = f"BR {name}, {TITLES[metric]}: {ours:.3f}, scikit-learn {theirs:.3f}, apart"
        rows.append(at_most(what, abs(ours - theirs), LIMITS[metric], ""))
    return rows


def run() -> list[Row]:
    """All ten folds of the regular sets, and one of each large set."""
    return compare_sets(dict.fromkeys(REGULAR, N_FOLDS) | dict.fromkeys(LARGE, 1))


def run_all() -> list[Row]:
    """All ten folds of all sets."""
    return compare_sets(dict.fromkeys(REGULAR + LARGE, N_FOLDS))


@threadpool_limits.wrap(limits=1)
def compare_sets(n_folds: dict[str, int]) -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: binary relevance not compared", float("nan"), "")]
    found = {name: compared(name, n) for name, n in n_folds.items()}
    rows = [row for name, one in found.items() for row in rows_of(name, one)]
    ratio = sum(one.their_seconds for one in found.values())
    ratio /= sum(one.our_seconds for one in found.values())
    rows.append(Row("one LogisticRegression per label / BR, time on all sets", ratio, "x"))
    return [*rows, *times()]


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in times():
            print(f"{row.what}: {row.value:.3g}")
