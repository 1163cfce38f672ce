"""Stratified folds against iterative-stratification: time, and how evenly labels are spread (0 is best)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold as TheirKFold

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.data import MultilabelStratifiedKFold, fold_quality

N, Q, FOLDS, SEEDS = 10_000, 50, 10, 3


def label_matrices() -> Iterator[tuple[str, np.ndarray]]:
    """Labels from common to rare; equally rare; dependent; dense."""
    rng = np.random.default_rng(0)
    yield "skewed", (rng.random((N, Q)) < np.geomspace(0.3, 0.002, Q)).astype(int)
    yield "even", (rng.random((N, Q)) < 0.06).astype(int)
    hidden = rng.normal(size=(N, 5)) @ rng.normal(size=(5, Q)) + rng.normal(size=(N, Q))
    yield "dependent", (hidden > np.quantile(hidden, 0.95)).astype(int)
    yield "dense", (rng.random((N, Q)) < 0.5 * rng.random(Q)).astype(int)


def splits(splitter: Any, Y: np.ndarray, seed: int) -> list[Any]:
    return list(splitter(n_splits=FOLDS, shuffle=True, random_state=seed).split(Y, Y))


def spread(splitter: Any, Y: np.ndarray) -> float:
    """Label distribution measure, mean over seeds."""
    return float(np.mean([fold_quality(Y, splits(splitter, Y, seed)).label_distribution for seed in range(SEEDS)]))


def run() -> list[Row]:
    rows = []
    for kind, Y in label_matrices():
        ours, theirs = (seconds(lambda s=s, Y=Y: splits(s, Y, 0), 3) for s in (MultilabelStratifiedKFold, TheirKFold))
        rows.append(at_least(f"iterative-stratification / ours, time, {kind} labels", theirs / ours, 1))
        balance = spread(MultilabelStratifiedKFold, Y) / spread(TheirKFold, Y)
        rows.append(at_most(f"label distribution measure, ours / iterative-stratification, {kind} labels", balance, 1))
    return rows
