"""Prediction by onnxruntime against our own `predict`, for one row and for 200 rows at once.

Times depend on shapes alone, so models are fitted on a few rows and then given more. Both have one
thread: work as short as that of one row measures little but the start of several. Combined models
are those of the preset "best", with all of its representations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import onnxruntime as ort
from threadpoolctl import threadpool_limits

from benchmarks.machine import Row, at_most, seconds
from skcamel import CamelClassifier, CamelClassifierCV, make_pipeline
from skcamel.arrays import Array
from skcamel.data import TablePreparer
from skcamel.export import to_onnx
from skcamel.presets import PRESETS

STRONG = PRESETS["best"]["representations"]
KERNELS = ("rbf", "laplacian", "exponential", "linear")
SHAPES = ((500, 50), (2_000, 50), (10_000, 50), (2_000, 500))
FITTED, NEW, LABELS = 200, 200, 10
ROUNDS = 9  # in turns, the fastest counts: other work on the machine slows one of both


class Case(NamedTuple):
    """A model, and the same rows as our `predict` and as onnxruntime take them."""

    what: str
    model: Any
    ours: Any
    theirs: dict[str, Array]
    dtype: str = "float64"


def enlarged(model: Any, n: int) -> Any:
    """A model as if it had been fitted on n rows."""
    rng = np.random.default_rng(1)
    shared: dict[int, Array] = {}  # members that share rows go on sharing them
    for _, own in model.weighted_members():
        rows = own.X_fit_
        if id(rows) not in shared:
            noise = rows.std(axis=0) * rng.normal(size=(n, rows.shape[1]))
            shared[id(rows)] = np.resize(rows, noise.shape) + noise
        own.X_fit_ = shared[id(rows)]
        own.dual_coef_ = rng.normal(size=(n, LABELS))
    return model


def session(model: Any, dtype: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(
        to_onnx(model, dtype=dtype).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def ratio(case: Case, repeats: int) -> float:
    """Time of onnxruntime, all outputs, as a share of that of our `predict`."""
    runtime = session(case.model, case.dtype)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        theirs.append(seconds(lambda: runtime.run(None, case.theirs), repeats))
        ours.append(seconds(lambda: case.model.predict(case.ours), repeats))
    return min(theirs) / min(ours)


def made(d: int) -> tuple[Array, Array, Array]:
    """Rows, their labels, and new rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(FITTED, d))
    Y = rng.integers(2, size=(FITTED, LABELS))
    return X, Y, rng.normal(size=(NEW, d))


def kernel_model(kernel: str, n: int, d: int) -> Any:
    X, Y, _ = made(d)
    return enlarged(CamelClassifier(kernel=kernel, scaling="standard").fit(X, Y), n)


def kernel_cases() -> Iterator[Case]:
    """One row for models of each kernel and shape."""
    for n, d in SHAPES:
        new = made(d)[2]
        for kernel in KERNELS:
            model = kernel_model(kernel, n, d)
            for dtype in ("float32", "float64"):
                row = new[:1].astype(dtype)
                what = f"one row, {kernel}, n = {n}, d = {d}, {dtype} / predict"
                yield Case(what, model, row, {"X": row}, dtype)


def many_rows_cases() -> Iterator[Case]:
    """Many rows for the same models."""
    for n, d in SHAPES:
        new = made(d)[2]
        for kernel in KERNELS:
            what = f"{NEW} rows, {kernel}, n = {n}, d = {d}, float64 / predict"
            yield Case(what, kernel_model(kernel, n, d), new, {"X": new})


def other_cases() -> Iterator[Case]:
    """One row for other scalings, combined models and a table."""
    X, Y, new = made(50)
    row = new[:1]
    for scaling in ("none", "unit", "minmax", "rank"):
        model = enlarged(CamelClassifier(scaling=scaling).fit(X, Y), 500)
        what = f"one row, rbf, scaling {scaling}, n = 500, d = 50, float64 / predict"
        yield Case(what, model, row, {"X": row})
    for n in (500, 2_000):
        what = f"one row, combined ({len(STRONG)} members), n = {n}, d = 50, float64 / predict"
        yield Case(what, enlarged(combined(X, Y), n), row, {"X": row})
    yield table_case()


def combined(X: Array, Y: Array) -> Any:
    """All representations of the preset "best", whatever weights a search would give them."""
    grid = {"alphas": (0.3,), "lambda2s": (0.1,), "representations": STRONG[:2]}
    model = CamelClassifierCV(**grid, combine=True).fit(X, Y)
    model.members_ = []
    for scaling, kernel, _ in STRONG:
        model.members_.append(CamelClassifier(scaling=scaling, kernel=kernel).fit(X, Y))
    model.weights_ = np.full(len(STRONG), 1 / len(STRONG))
    return model


def table_case() -> Case:
    """A prepared table, and a row of it."""
    rng = np.random.default_rng(0)
    n = 500
    table: dict[str, Any] = {f"n{k}": rng.normal(size=n) for k in range(10)}
    for k in range(5):
        table[f"c{k}"] = rng.choice(["red", "green", "blue"], n)
    Y = rng.integers(2, size=(n, LABELS))
    model = make_pipeline(TablePreparer(), CamelClassifier()).fit(table, Y)
    row = {name: values[:1] for name, values in table.items()}
    theirs = {}
    for name, value in row.items():
        theirs[name] = value[:, None].astype(object if name.startswith("c") else np.float64)
    what = "one row of a table, 10 numbers and 5 categories, n = 500 / predict"
    return Case(what, model, row, theirs)


@threadpool_limits.wrap(limits=1)
def run() -> list[Row]:
    one = [at_most(case.what, ratio(case, 15), 1) for case in chain(kernel_cases(), other_cases())]
    many = [Row(case.what, ratio(case, 1), "x") for case in many_rows_cases()]
    return one + many
