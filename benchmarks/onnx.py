"""Prediction for one row by onnxruntime against our own `predict` for the same row, and for 200 rows at once.

Times depend on shapes alone, so models are fitted on a few rows and then given more. Both have one
thread: work as short as that of one
row measures little but the start of several. Combined models are those of the preset "best", with
all of its representations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_most, seconds
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.arrays import Array
from skcamel.data import TablePreparer
from skcamel.data.pipeline import LabelPipeline
from skcamel.export import to_onnx
from skcamel.presets import STRONG

KERNELS = ("rbf", "laplacian", "exponential", "linear")
SHAPES = ((500, 50), (2_000, 50), (10_000, 50), (2_000, 500))
FITTED, NEW, LABELS = 200, 200, 10
ROUNDS = 9  # in turns, the fastest counts: other work on the machine slows one of both


def enlarged(model: Any, n: int) -> Any:
    """A model as if it had been fitted on n rows."""
    rng = np.random.default_rng(1)
    shared: dict[int, Array] = {}  # members that share rows go on sharing them
    for _, own in model.weighted_members():
        times = -(-n // len(own.X_fit_))
        spread = own.X_fit_.std(axis=0)
        key = id(own.X_fit_)
        if key not in shared:
            shared[key] = np.tile(own.X_fit_, (times, 1))[:n] + spread * rng.normal(
                size=(n, own.X_fit_.shape[1])
            )
        own.X_fit_, own.dual_coef_ = shared[key], rng.normal(size=(n, LABELS))
    return model


def session(model: Any, dtype: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def compared(
    what: str,
    model: Any,
    ours: Any,
    theirs: dict[str, Array],
    dtype: str,
    n_rows: int,
    repeats: int = 15,
) -> Row:
    """Time of onnxruntime, all outputs, as a share of that of our `predict`."""
    runtime = session(model, dtype)
    times = [
        (
            seconds(lambda: runtime.run(None, theirs), repeats),
            seconds(lambda: model.predict(ours), repeats),
        )
        for _ in range(ROUNDS)
    ]
    ratio = min(first for first, _ in times) / min(second for _, second in times)
    return at_most(what, ratio, 1.0) if n_rows == 1 else Row(what, ratio, "x")


def combined(X: Array, Y: Array) -> Any:
    """All representations of the preset "best", whatever weights a search would give them."""
    model = CamelClassifierCV(
        alphas=(0.3,), lambda2s=(0.1,), representations=STRONG[:2], combine=True
    ).fit(X, Y)
    model.members_ = [
        CamelClassifier(scaling=scaling, kernel=kernel).fit(X, Y) for scaling, kernel, _ in STRONG
    ]
    model.weights_ = np.full(len(STRONG), 1 / len(STRONG))
    return model


def of_table() -> tuple[Any, Any, dict[str, Array]]:
    """A prepared table, a row of it for us and for onnxruntime."""
    rng = np.random.default_rng(0)
    n, names = 500, ("red", "green", "blue")
    table: dict[str, Any] = {f"n{k}": rng.normal(size=n) for k in range(10)} | {
        f"c{k}": rng.choice(names, n) for k in range(5)
    }
    Y = rng.integers(2, size=(n, LABELS))
    model = LabelPipeline([("prepare", TablePreparer()), ("classify", CamelClassifier())]).fit(
        table, Y
    )
    row = {name: own[:1] for name, own in table.items()}
    return (
        model,
        row,
        {
            name: own[:, None].astype(object if name[0] == "c" else np.float64)
            for name, own in row.items()
        },
    )


@threadpool_limits.wrap(limits=1)
def run() -> list[Row]:
    rng = np.random.default_rng(0)
    one, many = [], []
    for n, d in SHAPES:
        X, Y, new = (
            rng.normal(size=(FITTED, d)),
            rng.integers(2, size=(FITTED, LABELS)),
            rng.normal(size=(NEW, d)),
        )
        for kernel in KERNELS:
            model = enlarged(CamelClassifier(kernel=kernel, scaling="standard").fit(X, Y), n)
            name = f"{kernel}, n = {n}, d = {d}"
            for dtype in ("float32", "float64"):
                row = new[:1].astype(dtype)
                one.append(
                    compared(
                        f"one row, {name}, {dtype} / predict", model, row, {"X": row}, dtype, 1
                    )
                )
            many.append(
                compared(
                    f"{NEW} rows, {name}, float64 / predict",
                    model,
                    new,
                    {"X": new},
                    "float64",
                    NEW,
                    1,
                )
            )
    for scaling in ("none", "unit", "minmax", "rank"):
        X, Y, row = (
            rng.normal(size=(500, 50)),
            rng.integers(2, size=(500, LABELS)),
            rng.normal(size=(1, 50)),
        )
        model = CamelClassifier(scaling=scaling).fit(X, Y)
        one.append(
            compared(
                f"one row, rbf, scaling {scaling}, n = 500, d = 50, float64 / predict",
                model,
                row,
                {"X": row},
                "float64",
                1,
            )
        )
    for n in (500, 2_000):
        X, Y, row = (
            rng.normal(size=(FITTED, 50)),
            rng.integers(2, size=(FITTED, LABELS)),
            rng.normal(size=(1, 50)),
        )
        what = f"one row, combined ({len(STRONG)} members), n = {n}, d = 50, float64 / predict"
        one.append(compared(what, enlarged(combined(X, Y), n), row, {"X": row}, "float64", 1))
    model, ours, theirs = of_table()
    one.append(
        compared(
            "one row of a table, 10 numbers and 5 categories, n = 500 / predict",
            model,
            ours,
            theirs,
            "float64",
            1,
        )
    )
    return one + many
