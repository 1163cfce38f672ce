"""Prediction for one row and for 1 000 rows against `KernelRidge` of scikit-learn with the same kernel and training rows.

Times depend on shapes alone, so models are fitted on a few rows and then given more. `KernelRidge`
has no exponential kernel; its rbf
stands beside ours. Both have one thread: work as short as that of one row measures little but the
start of several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_most, seconds
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.arrays import Array

KERNELS = {
    "rbf": "rbf",
    "laplacian": "laplacian",
    "exponential": "rbf",
    "linear": "linear",
}  # ours: KernelRidge's
SIZES = (500, 2_000, 10_000)
FITTED, NEW, LABELS = 200, 1_000, 10
METHODS = ("decision_function", "predict", "predict_proba")


def tables() -> dict[str, tuple[Array, Array]]:
    """Training rows and new rows by name: dense ones of three sizes, and sparse ones."""
    rng = np.random.default_rng(0)
    found: dict[str, tuple[Array, Array]] = {
        f"n = {n}": (rng.normal(size=(n, 50)), rng.normal(size=(NEW, 50))) for n in SIZES
    }
    thin = [
        sparse.random_array((n, 1_000), density=0.02, rng=rng, format="csr")
        for n in (SIZES[1], NEW)
    ]
    return found | {f"sparse, n = {SIZES[1]}": (thin[0], thin[1])}


def models(kernel: str, X: Array) -> tuple[Any, list[Any]]:
    """`KernelRidge`, and both of our estimators, as if they were fitted on all of X."""
    rng = np.random.default_rng(1)
    Y = rng.integers(2, size=(FITTED, LABELS))
    theirs = KernelRidge(kernel=KERNELS[kernel]).fit(X[:FITTED], Y)
    ours = [
        CamelClassifier(kernel=kernel),
        CamelClassifierCV(kernels=(kernel,), alphas=(0.3,), lambda2s=(0.1,)),
    ]
    for model in (theirs, *(own.fit(X[:FITTED], Y) for own in ours)):
        model.X_fit_, model.dual_coef_ = X, rng.normal(size=(X.shape[0], LABELS))
    return theirs, ours


@threadpool_limits.wrap(limits=1)
def run() -> list[Row]:
    one, many = [], []
    for name, (X, new) in tables().items():
        for kernel in KERNELS:
            theirs, ours = models(kernel, X)
            calls = [getattr(model, method) for model in ours for method in METHODS]
            slowest = max(seconds(lambda call=call, row=new[:1]: call(row), 101) for call in calls)
            reference = seconds(lambda model=theirs, row=new[:1]: model.predict(row), 101)
            one.append(
                at_most(
                    f"one row, {kernel}, {name}: slowest of three methods of two estimators",
                    slowest / reference,
                    2.0,
                )
            )
            batch = seconds(lambda model=ours[0], rows=new: model.decision_function(rows), 15)
            many.append(
                Row(
                    f"{NEW} rows, {kernel}, {name}",
                    batch / seconds(lambda model=theirs, rows=new: model.predict(rows), 15),
                    "x",
                )
            )
    return one + many
