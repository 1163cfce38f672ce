"""LLSF and JFSC: a whole grid against separate fits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_most, seconds
from skcamel.baselines import JFSCCV, LLSF, LLSFCV
from skcamel.data import load_dataset

SAMPLE = 60  # separate fits that are timed, spread over the grid


def training_fold() -> tuple[np.ndarray, np.ndarray]:
    """The first training part of yeast in ten folds."""
    data = load_dataset("yeast")
    train, _ = next(KFold(10, shuffle=True, random_state=0).split(data.X))
    return np.asarray(data.X[train], dtype=np.float64), data.Y[train]


def whole_grid(search: Any, X: np.ndarray, Y: np.ndarray) -> int:
    """Weights of every candidate of the search's grid on these rows; how many there were."""
    _, problem = search._problem(X, Y.astype(np.float64), None)
    return len(list(problem.solve(candidates_of(search))))


def candidates_of(search: Any) -> list[dict[str, float]]:
    return [dict(zip(search.PROBLEM.PENALTIES, values, strict=True)) for values in product(*search._axes().values())]


def separate_fits(make: Callable[..., Any], search: Any, X: np.ndarray, Y: np.ndarray) -> float:
    """Seconds of one fit for each candidate, from a random sample of the grid; with the number of BLAS threads that suits them."""
    candidates = candidates_of(search)
    chosen = np.random.default_rng(0).choice(len(candidates), SAMPLE, replace=False)

    def fits(threads: int | None) -> None:
        with threadpool_limits(threads, user_api="blas"):
            for k in chosen:
                make(**candidates[k]).fit(X, Y)

    return min(seconds(lambda threads=threads: fits(threads), 3) for threads in (None, 1)) * len(candidates) / SAMPLE


def run() -> list[Row]:
    X, Y = training_fold()
    together = seconds(lambda: whole_grid(LLSFCV(grid="paper"), X, Y), 3)
    apart = separate_fits(LLSF, LLSFCV(grid="paper"), X, Y)
    coarse = seconds(lambda: whole_grid(JFSCCV(), X, Y), 1)
    return [
        Row("LLSF, 1 323 candidates on a training fold of yeast", together, "s"),
        at_most("LLSF, 1 323 candidates together / separate fits", together / apart, 0.1),
        Row("JFSC, 125 candidates on a training fold of yeast", coarse, "s"),
    ]
