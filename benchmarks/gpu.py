"""The search on a CUDA GPU against numpy in the same run: same numbers, less time. Run by ``python -m benchmarks gpu``."""

from __future__ import annotations

import os
import warnings
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


def make_data(n: int, d: int, q: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows and related labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    factors = X @ rng.normal(size=(d, 5)) / np.sqrt(d) + 0.5 * rng.normal(size=(n, 5))
    return X, (factors @ rng.normal(size=(5, q)) > 1).astype(int)


def run() -> list[Row]:
    return [*synthetic(), *scale(), *(column() if os.environ.get("SKCAMEL_DATA") else [])]


def synthetic() -> list[Row]:
    """Agreement with numpy, and who is faster."""
    rows = []
    for n, kernels in ((3000, ("rbf", "laplacian")), (8000, ("rbf",))):
        X, Y = make_data(n + 500, 100, 30)
        here, there = (
            CamelClassifierCV(kernels=kernels, threshold="macro_f1", device=device)
            for device in (None, "cuda")
        )
        there.fit(X[:200], Y[:200])  # wake the device up
        train = X[:n], Y[:n]
        on_cpu, on_gpu = (seconds(partial(model.fit, *train), 1) for model in (here, there))
        gap = abs(here.decision_function(X[n:]) - there.decision_function(X[n:])).max()
        scores = max(
            abs(here.cv_results_[key] - there.cv_results_[key]).max()
            for key in here.cv_results_
            if key.startswith("mean_")
        )
        rows += [
            at_most(
                f"n = {n}, {' and '.join(kernels)}: largest difference of scores on new rows",
                float(gap),
                1e-8,
                "",
            ),
            at_most(
                f"n = {n}: largest difference of any metric of any candidate",
                float(scores),
                1e-6,
                "",
            ),
            at_least(f"n = {n}: time on the CPU / on the GPU", on_cpu / on_gpu, 1),
        ]
    return rows


def scale() -> list[Row]:
    """Sums over rows: agreement with numpy; a million rows and the largest exact fit, each with its whole grid."""
    rows = []
    X, Y = make_data(20_500, 100, 30)
    for name, options in {
        "landmark": {"n_landmarks": 1000},
        "primal": {"kernels": ["linear"]},
    }.items():
        here, there = (
            CamelClassifierCV(solver=name, threshold="macro_f1", device=device, **options)
            for device in (None, "cuda")
        )
        scores = [
            model.fit(X[:20_000], Y[:20_000]).decision_function(X[20_000:])
            for model in (here, there)
        ]
        gap = abs(scores[0] - scores[1]).max() / abs(scores[0]).max()
        rows.append(
            at_most(
                f"{name}, n = 20 000: largest relative difference of scores on new rows",
                float(gap),
                1e-8,
                "",
            )
        )
    X, Y = make_data(1_000_000, 100, 50)
    Y = Y.astype(np.int8)
    torch.cuda.reset_peak_memory_stats()
    landmark = CamelClassifierCV(solver="landmark", n_landmarks=10_000, device="cuda")
    rows.append(
        at_most(
            "10⁶ rows, d = 100, q = 50, m = 10 000, 77 candidates",
            seconds(partial(landmark.fit, X, Y), 1),
            20,
            "s",
        )
    )
    rows.append(
        at_most("memory on the GPU for it", torch.cuda.max_memory_allocated() / 2**30, 17, "GiB")
    )
    torch.cuda.reset_peak_memory_stats()
    new = torch.asarray(X[:10_000], device="cuda")
    many = seconds(partial(landmark.predict, X), 1)
    rows.append(
        at_most(
            "to predict all of them / one product of their kernels",
            many / (100 * seconds(partial(_product, new, landmark), 3)),
            10,
        )
    )
    rows.append(
        at_most("memory on the GPU for that", torch.cuda.max_memory_allocated() / 2**30, 2, "GiB")
    )
    exact = CamelClassifierCV(solver="spectral", device="cuda")
    rows.append(
        at_most(
            "exact, 40 000 rows, 77 candidates",
            seconds(partial(exact.fit, X[:40_000], Y[:40_000]), 1),
            60,
            "s",
        )
    )
    return rows


def _product(new: torch.Tensor, model: CamelClassifierCV) -> None:
    """The kernel's inner products and the scores, without anything else."""
    Z, B = (torch.asarray(part, device="cuda") for part in (model.X_fit_, model.dual_coef_))
    _ = (new @ Z.T) @ B
    torch.cuda.synchronize()


def column() -> list[Row]:
    """The CAMEL column of the paper's tables, one fold of each set, against its bare `eigh` calls; few rows against the CPU."""
    rows, units, bares = [], [], []
    for name in (*REGULAR, *LARGE):
        X, Y, new = training_part(name)
        units.append(seconds(partial(unit, "paper", X, Y, new), 3))
        K = torch.asarray(next(kernel.fitted_many("rbf", X))[1], device="cuda")
        bares.append(seconds(partial(_eigh, K)))
        if len(Y) < FEW_ROWS:
            on_cpu = seconds(partial(unit, "paper", X, Y, new, device=None))
            rows.append(
                at_most(
                    f"{name}, {len(Y)} rows: time on the GPU / on the CPU beside it",
                    units[-1] / on_cpu,
                    1,
                )
            )
    one = sum(units)
    rows.append(
        at_most(
            f"column of sixteen sets, {10 * one:.1f} s in ten folds / its bare eigh calls",
            one / sum(bares),
            2,
        )
    )
    fold = training_part("enron")
    unit("best", *fold)
    rows.append(
        at_most("a fold of `best` on enron", seconds(partial(unit, "best", *fold)), 1.5, "s")
    )
    return rows


def training_part(name: str) -> tuple[Any, np.ndarray, Any]:
    """Rows and labels of the first of ten folds to train on, and its rows to test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # known defects of the rcv1 sets
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
