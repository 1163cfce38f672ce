"""The search on a CUDA GPU against numpy in the same run: same numbers, less time. Run by ``python -m benchmarks gpu``."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel import CamelClassifierCV


def make_data(n: int, d: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows and related labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    factors = X @ rng.normal(size=(d, 5)) / np.sqrt(d) + 0.5 * rng.normal(size=(n, 5))
    return X, (factors @ rng.normal(size=(5, q)) > 1).astype(int)


def run() -> list[Row]:
    rows = []
    for n, kernels in ((3000, ("rbf", "laplacian")), (8000, ("rbf",))):
        X, Y = make_data(n + 500, 100, 30)
        here, there = (CamelClassifierCV(kernels=kernels, threshold="label", device=device) for device in (None, "cuda"))
        there.fit(X[:200], Y[:200])  # wake the device up
        train = X[:n], Y[:n]
        on_cpu, on_gpu = (seconds(partial(model.fit, *train), 1) for model in (here, there))
        gap = abs(here.decision_function(X[n:]) - there.decision_function(X[n:])).max()
        scores = max(abs(here.cv_results_[key] - there.cv_results_[key]).max() for key in here.cv_results_ if key.startswith("mean_"))
        rows += [
            at_most(f"n = {n}, {' and '.join(kernels)}: largest difference of scores on new rows", float(gap), 1e-8, ""),
            at_most(f"n = {n}: largest difference of any metric of any candidate", float(scores), 1e-6, ""),
            at_least(f"n = {n}: time on the CPU / on the GPU", on_cpu / on_gpu, 1),
        ]
    return rows
