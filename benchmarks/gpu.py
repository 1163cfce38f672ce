"""``python -m benchmarks gpu``: the search on a CUDA GPU against numpy: same numbers, less time."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel import CamelClassifierCV
from skcamel.camel import kernel
from skcamel.data import load_dataset
from skcamel.experiment.folds import splits
from skcamel.experiment.methods import get_method
from skcamel.experiment.summary import LARGE, REGULAR

FEW_ROWS = 600
GIB = 2**30


def make_data(n: int, d: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows and related labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    factors = X @ rng.normal(size=(d, 5)) / np.sqrt(d) + 0.5 * rng.normal(size=(n, 5))
    return X, (factors @ rng.normal(size=(5, q)) > 1).astype(int)


def run() -> list[Row]:
    public = column() if os.environ.get("SKCAMEL_DATA") else []
    return [*synthetic(), *agreement(), *million(), *largest(), *public]


def synthetic() -> list[Row]:
    """Agreement of exact searches with numpy, and who is faster."""
    rows = []
    for n, kernels in ((3000, ("rbf", "laplacian")), (8000, ("rbf",))):
        X, Y = make_data(n + 500, 100, 30)
        here = CamelClassifierCV(kernels=kernels, threshold="macro_f1")
        there = CamelClassifierCV(kernels=kernels, threshold="macro_f1", device="cuda")
        there.fit(X[:200], Y[:200])  # wake the device up
        on_cpu = seconds(partial(here.fit, X[:n], Y[:n]), 1)
        on_gpu = seconds(partial(there.fit, X[:n], Y[:n]), 1)
        gap = abs(here.decision_function(X[n:]) - there.decision_function(X[n:])).max()
        scores = largest_difference(here.cv_results_, there.cv_results_)
        named = f"n = {n}, {' and '.join(kernels)}: largest difference of scores on new rows"
        metrics = f"n = {n}: largest difference of any metric of any candidate"
        rows += [
            at_most(named, float(gap), 1e-8, ""),
            at_most(metrics, scores, 1e-6, ""),
            at_least(f"n = {n}: time on the CPU / on the GPU", on_cpu / on_gpu, 1),
        ]
    return rows


def largest_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> float:
    """Of any metric of any candidate."""
    metrics = [key for key in ours if key.startswith("mean_")]
    return max(float(abs(ours[key] - theirs[key]).max()) for key in metrics)


def agreement() -> list[Row]:
    """Sums over rows against numpy."""
    rows = []
    X, Y = make_data(20_500, 100, 30)
    solvers = {"landmark": {"n_landmarks": 1000}, "primal": {"kernels": ["linear"]}}
    for name, options in solvers.items():
        scores = []
        for device in (None, "cuda"):
            model = CamelClassifierCV(solver=name, threshold="macro_f1", device=device, **options)
            model.fit(X[:20_000], Y[:20_000])
            scores.append(model.decision_function(X[20_000:]))
        gap = abs(scores[0] - scores[1]).max() / abs(scores[0]).max()
        what = f"{name}, n = 20 000: largest relative difference of scores on new rows"
        rows.append(at_most(what, float(gap), 1e-8, ""))
    return rows


def million() -> list[Row]:
    """A million rows with the whole grid, and their prediction."""
    X, Y = make_data(1_000_000, 100, 50)
    torch.cuda.reset_peak_memory_stats()
    model = CamelClassifierCV(solver="landmark", n_landmarks=10_000, device="cuda")
    fit = seconds(partial(model.fit, X, Y.astype(np.int8)), 1)
    fit_memory = torch.cuda.max_memory_allocated() / GIB
    torch.cuda.reset_peak_memory_stats()
    predict = seconds(partial(model.predict, X), 1)
    new = torch.asarray(X[:10_000], device="cuda")
    product = 100 * seconds(partial(_product, new, model), 3)
    predict_memory = torch.cuda.max_memory_allocated() / GIB
    return [
        at_most("10⁶ rows, d = 100, q = 50, m = 10 000, 77 candidates", fit, 20, "s"),
        at_most("memory on the GPU for it", fit_memory, 17, "GiB"),
        at_most("to predict all of them / one product of their kernels", predict / product, 10),
        at_most("memory on the GPU for that", predict_memory, 2, "GiB"),
    ]


def largest() -> list[Row]:
    """The largest exact fit, with its whole grid."""
    X, Y = make_data(40_000, 100, 50)
    exact = CamelClassifierCV(solver="spectral", device="cuda")
    took = seconds(partial(exact.fit, X, Y), 1)
    return [at_most("exact, 40 000 rows, 77 candidates", took, 60, "s")]


def _product(new: torch.Tensor, model: CamelClassifierCV) -> None:
    """The kernel's inner products and the scores, without anything else."""
    Z = torch.asarray(model.X_fit_, device="cuda")
    B = torch.asarray(model.dual_coef_, device="cuda")
    _ = (new @ Z.T) @ B
    torch.cuda.synchronize()


def column() -> list[Row]:
    """A fold of CAMEL on each set of the paper against bare `eigh` calls; few rows on the CPU."""
    rows, units, bares = [], [], []
    for name in (*REGULAR, *LARGE):
        X, Y, new = training_part(name)
        units.append(seconds(partial(unit, "paper", X, Y, new), 3))
        K = torch.asarray(next(kernel.fitted_many("rbf", X))[1], device="cuda")
        bares.append(seconds(partial(_eigh, K)))
        if len(Y) < FEW_ROWS:
            on_cpu = seconds(partial(unit, "paper", X, Y, new, device=None))
            what = f"{name}, {len(Y)} rows: time on the GPU / on the CPU beside it"
            rows.append(at_most(what, units[-1] / on_cpu, 1))
    one = sum(units)
    what = f"column of sixteen sets, {10 * one:.1f} s in ten folds / its bare eigh calls"
    rows.append(at_most(what, one / sum(bares), 2))
    fold = training_part("enron")
    unit("best", *fold)
    took = seconds(partial(unit, "best", *fold))
    rows.append(at_most("a fold of `best` on enron", took, 1.5, "s"))
    return rows


def training_part(name: str) -> tuple[Any, np.ndarray, Any]:
    """Rows and labels of the first of ten folds to train on, and its rows to test."""
    data = load_dataset(name)
    train, test = splits(data.Y, "plain", 10, seed=0)[0]
    return data.X[train], data.Y[train], data.X[test]


def unit(
    preset: str, X: np.ndarray, Y: np.ndarray, new: np.ndarray, *, device: str | None = "cuda"
) -> None:
    """Selection, fits and predictions of one unit of a study."""
    method = get_method("camel", preset, device=device)
    method.fit(X, Y, seed=0)[""].outcome(new)


def _eigh(K: torch.Tensor) -> None:
    torch.linalg.eigh(K)
    torch.cuda.synchronize()
