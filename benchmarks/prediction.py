"""Prediction for one row and for 1 000 rows against `KernelRidge` of scikit-learn.

Both have the same kernel and training rows. Times depend on shapes alone, so models are fitted on
a few rows and then given more. `KernelRidge` has no exponential kernel; its rbf stands beside ours.
Both have one thread: work as short as that of one row measures little but the start of several.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_most, seconds
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.arrays import Array

# Of each of our kernels, that of KernelRidge.
KERNELS = {"rbf": "rbf", "laplacian": "laplacian", "exponential": "rbf", "linear": "linear"}
SIZES = (500, 2_000, 10_000)
FITTED, NEW, LABELS = 200, 1_000, 10
METHODS = ("decision_function", "predict", "predict_proba")


def tables() -> dict[str, tuple[Array, Array]]:
    """Training rows and new rows by name: dense ones of three sizes, and sparse ones."""
    rng = np.random.default_rng(0)
    found: dict[str, tuple[Array, Array]] = {}
    for n in SIZES:
        found[f"n = {n}"] = rng.normal(size=(n, 50)), rng.normal(size=(NEW, 50))
    n = SIZES[1]
    options = {"density": 0.02, "rng": rng, "format": "csr"}
    X = sparse.random_array((n, 1_000), **options)
    found[f"sparse, n = {n}"] = X, sparse.random_array((NEW, 1_000), **options)
    return found


def models(kernel: str, X: Array) -> tuple[Any, list[Any]]:
    """`KernelRidge`, and both of our estimators, as if they were fitted on all of X."""
    rng = np.random.default_rng(1)
    Y = rng.integers(2, size=(FITTED, LABELS))
    theirs = KernelRidge(kernel=KERNELS[kernel])
    ours = [
        CamelClassifier(kernel=kernel),
        CamelClassifierCV(kernels=(kernel,), alphas=(0.3,), lambda2s=(0.1,)),
    ]
    for model in (theirs, *ours):
        model.fit(X[:FITTED], Y)
        model.X_fit_ = X
        model.dual_coef_ = rng.normal(size=(X.shape[0], LABELS))
    return theirs, ours


@threadpool_limits.wrap(limits=1)
def run() -> list[Row]:
    one, many = [], []
    for name, (X, new) in tables().items():
        for kernel in KERNELS:
            theirs, ours = models(kernel, X)
            calls = [getattr(model, method) for model in ours for method in METHODS]
            slowest = max(seconds(partial(call, new[:1]), 101) for call in calls)
            reference = seconds(partial(theirs.predict, new[:1]), 101)
            what = f"one row, {kernel}, {name}: slowest of three methods of two estimators"
            one.append(at_most(what, slowest / reference, 2.0))
            batch = seconds(partial(ours[0].decision_function, new), 15)
            reference = seconds(partial(theirs.predict, new), 15)
            many.append(Row(f"{NEW} rows, {kernel}, {name}", batch / reference, "x"))
    return one + many
