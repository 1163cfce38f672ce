"""LLSF and JFSC as a study runs them: search by five folds, refit and scores, against the bare products of their sequences."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from benchmarks.baselines import load
from benchmarks.machine import Row, at_most
from skcamel.baselines import JFSCCV, LLSFCV

N_PRODUCTS = 10_000
RACE = 3.0


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Processor time of all threads: other work on the machine counts little."""
    start = time.process_time()
    work()
    return time.process_time() - start


def unit(search: Any, X: Any, Y: np.ndarray, fold: int = 0) -> float:
    """Processor time of one of ten folds."""
    train, test = list(KFold(10, shuffle=True, random_state=0).split(X))[fold]
    return cpu_seconds(lambda: search.fit(X[train], Y[train]).outputs(X[test]))


def races(n_folds: int = 3) -> list[tuple[float, float]]:
    """For each search of some sets: time with a race / without, and the score that its choice loses."""
    found = []
    for name, shape in {"emotions": (593, 72, 6), "image": (2000, 294, 5), "medical": (978, 1449, 45)}.items():
        X, _, Y = load(name, shape)
        for kind, fold in product((LLSFCV, JFSCCV), range(n_folds)):
            whole, raced = kind(random_state=0), kind(random_state=0, race=RACE)
            seconds = [unit(search, X, Y, fold) for search in (whole, raced)]
            found.append((seconds[1] / seconds[0], whole.best_score_ - raced.best_score_))
    return found


def bare(work: Callable[[], Any], sample: int) -> float:
    """Processor time of 10 000 calls, from some of them."""
    work()
    return cpu_seconds(lambda: [work() for _ in range(sample)]) * N_PRODUCTS / sample


def run(shape: tuple[int, int, int] = (6000, 944, 101), sample: int = 200) -> list[Row]:
    X, _, Y = load("rcv1-s1", shape)
    rng = np.random.default_rng(0)
    rows = X[: len(Y) * 18 // 25].astype(np.float32)  # an inner training part
    (n, d), q = rows.shape, Y.shape[1]
    W, residual, gram = (rng.normal(size=size).astype(np.float32) for size in ((q, d), (n, q), (d, d)))
    columns = np.ascontiguousarray(W.T)
    gram_products = bare(lambda: W @ gram, sample)
    pairs = bare(lambda: (rows @ columns, rows.T @ residual), sample)
    whole, raced = JFSCCV(random_state=0), JFSCCV(random_state=0, race=RACE)
    llsf, jfsc, race = (unit(search, X, Y) for search in (LLSFCV(random_state=0), whole, raced))
    left = np.isfinite(raced.cv_results_["mean_test_score"]).sum()
    ratios, losses = zip(*races(), (race / jfsc, whole.best_score_ - raced.best_score_), strict=True)
    return [
        Row("LLSF, a unit of rcv1-s1 (147 candidates, five folds), all cores together", llsf, "s"),
        at_most("LLSF, a unit / 10 000 products of weights with X'X in single precision", llsf / gram_products, 6),
        Row("JFSC, a unit of rcv1-s1 (125 candidates, five folds), all cores together", jfsc, "s"),
        at_most("JFSC, a unit / 10 000 pairs of products with X and X' in single precision", jfsc / pairs, 6.5),
        at_most(f"JFSC with race={RACE:g}, {left} of 125 candidates to the end / without", race / jfsc, 0.6),
        at_most(f"race={RACE:g} / without, the slowest of {len(ratios)} searches of LLSF and JFSC on four sets", max(ratios), 1.1),
        at_most(f"race={RACE:g}: average precision of the folds that a choice loses, the most of these", max(losses), 0.001, ""),
    ]
