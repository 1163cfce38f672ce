"""Rows whose labels cannot be separated: the unregularised optimum exists."""

import numpy as np


def make(n=150, d=6, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 20, size=d) + rng.normal(size=d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    factors = (
        Z @ rng.normal(size=(d, q)) / np.sqrt(d)
        + 1.5 * rng.normal(size=(n, q))
        + rng.normal(size=(n, 1))
    )
    return X, (factors > 0.3).astype(float)
