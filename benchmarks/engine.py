"""Preset best, combined, against the bare `eigh` calls of its kernel matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import linalg

from benchmarks.machine import Row, at_most, seconds
from skcamel import CamelClassifierCV
from skcamel.camel.representation import Data, Grid, kernel_matrices
from skcamel.presets import PRESETS

STRONG = PRESETS["best"]["representations"]
# Rows, features, labels: the most that `best` may take, in bare eigh calls.
SIZES = {(2200, 103, 14): 3.0, (1100, 50, 227): 6.0}


def make_data(n: int, d: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows and related labels, from frequent to rare."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    factors = X @ rng.normal(size=(d, 5)) / np.sqrt(d) + 0.5 * rng.normal(size=(n, 5))
    return X, (factors @ rng.normal(size=(5, q)) > np.linspace(0.5, 3, q)).astype(int)


def matrices(X: np.ndarray) -> Iterator[np.ndarray]:
    """The kernel matrix of each representation of the preset: the time of `eigh` depends on it."""
    for place in STRONG:
        grid = Grid((0.0,), (1.0,), (1.0,), (place,))
        ((_, K),) = kernel_matrices(Data(X, X, np.ones(len(X))), grid, None)
        yield K


def eigh(K: np.ndarray) -> None:
    linalg.eigh(K, driver="evd", check_finite=False)


def run() -> list[Row]:
    rows = []
    for (n, d, q), most in SIZES.items():
        X, Y = make_data(n, d, q)
        bare = sum(seconds(partial(eigh, K), 3) for K in matrices(X))
        fit = seconds(partial(CamelClassifierCV.from_preset("best").fit, X, Y), 1)
        what = f"best, combined, n = {n}, q = {q} / its bare eigh calls"
        rows.append(at_most(what, fit / bare, most))
    return rows
