"""Small training sets: 60, 110 and 220 rows drawn from public sets in SKCAMEL_DATA and from made ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold

from skcamel.data import load_dataset

SMALL = ("emotions", "yeast", "scene", "image", "cal500", "medical", "genbase", "enron", "arts", "business", "science")
MADE = ("easy", "wide", "one weak direction", "noise", "skewed features", "few features count")
SIZES = (60, 110, 220)


@cache
def load(name: str) -> tuple[Any, np.ndarray]:
    """Features and labels of a public or made set."""
    if name not in MADE:
        data = load_dataset(name)
        return data.X, data.Y
    if name in ("easy", "wide"):
        d, q = (20, 5) if name == "easy" else (100, 10)
        return make_multilabel_classification(1300, n_features=d, n_classes=q, n_labels=q // 3 + 1, random_state=2)
    rng = np.random.default_rng(2)
    X, noise = rng.normal(size=(1300, 30)), rng.normal(size=(1300, 6)) + np.linspace(-0.2, 1.0, 6)
    signal = {
        "noise": np.zeros((1300, 6)),
        "one weak direction": np.repeat(0.3 * X[:, :1], 6, axis=1),
        "skewed features": np.tanh(X[:, :5]) @ rng.normal(size=(5, 6)),
        "few features count": 2 * np.sin(2 * X[:, :3]) @ rng.normal(size=(3, 6)),
    }[name]
    return (np.exp(1.5 * X) if name == "skewed features" else X), (signal > noise).astype(int)


def jobs(large: Iterable[str], repeats: int, seeds: int) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Set, kind, training and test rows; three folds of the large sets first, for they take longest."""
    public = bool(os.environ.get("SKCAMEL_DATA"))
    for name in large if public else ():
        for seed in range(seeds):
            for train, test in KFold(3, shuffle=True, random_state=seed).split(load(name)[1]):
                yield name, f"3 folds, seed {seed}", train, test
    for name in (*(SMALL if public else ()), *MADE):
        for n in SIZES:
            for repeat in range(repeats):
                order = np.random.default_rng([2, repeat, n]).permutation(len(load(name)[1]))
                yield name, f"{n} rows", order[:n], order[n : n + 1000]
