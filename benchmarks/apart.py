"""Methods for many rows, each fitted in a process of its own: time, memory, average precision.

Rows lie in files that are mapped into memory, so that they count as file pages and not as memory of
the method.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import open_memmap
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from benchmarks.machine import anonymous
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.camel.kernel import mean_distance
from skcamel.metrics import average_precision

HIDDEN = 10  # columns that decide about labels and features
NEW = 5_000  # test rows
BLOCK = 20_000  # rows made at once
EVERY = 0.002  # seconds between two looks at the memory


class Result(NamedTuple):
    """What a fit took, and what came of it."""

    seconds: float
    bytes: int  # anonymous memory at the peak, beyond what was there before
    precision: float


def write_rows(folder: Path, n: int, d: int, q: int) -> Path:
    """Write n rows and `NEW` others, with labels that are waves in hidden columns, and noise.

    One in two to one in fifty rows has each label.
    """
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(HIDDEN, d))
    directions = rng.normal(size=(HIDDEN, 60))
    waves = rng.normal(size=(60, q)) / 5
    phases = rng.uniform(0, 6, size=60)
    shares = np.linspace(0.5, 0.98, q)
    limits = None
    folder.mkdir()
    for x_name, y_name, size in (("X", "Y", n), ("new", "truth", NEW)):
        X = open_memmap(folder / f"{x_name}.npy", "w+", np.float64, (size, d))
        Y = open_memmap(folder / f"{y_name}.npy", "w+", np.int8, (size, q))
        for i in range(0, size, BLOCK):
            U = rng.normal(size=(min(BLOCK, size - i), HIDDEN))
            X[i : i + BLOCK] = U @ mixing + rng.normal(size=(len(U), d))
            noise = 0.3 * rng.normal(size=(len(U), q))
            scores = np.sin(0.7 * U @ directions + phases) @ waves + noise
            if limits is None:
                limits = np.array(list(map(np.quantile, scores.T, shares)))
            Y[i : i + BLOCK] = scores > limits
    return folder


def fitted_apart(method: str, folder: Path, m: int) -> Result:
    """A method of `METHODS` with m landmarks, fitted to the rows in a folder."""
    words = ["-W", "ignore", "-m", "benchmarks.apart", method, str(folder), str(m)]
    done = subprocess.run(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    return Result(*json.loads(done.stdout))


def nystroem(X: np.ndarray, m: int) -> Nystroem:
    """The same kernel as ours, with its bandwidth."""
    gamma = 0.5 / mean_distance("rbf", X[: 2 * m]) ** 2
    return Nystroem(gamma=gamma, n_components=m, random_state=0)


def ours(X: np.ndarray, Y: np.ndarray, m: int) -> Any:
    model = CamelClassifierCV(solver="landmark", n_landmarks=m, max_memory="1GiB")
    return model.fit(X, Y).decision_function


def ours_once(X: np.ndarray, Y: np.ndarray, m: int) -> Any:
    model = CamelClassifier(solver="landmark", n_landmarks=m, max_memory="1GiB")
    return model.fit(X, Y).decision_function


def ridge(X: np.ndarray, Y: np.ndarray, m: int) -> Any:
    return make_pipeline(nystroem(X, m), RidgeClassifier()).fit(X, Y).decision_function


def descent(X: np.ndarray, Y: np.ndarray, m: int, *, features: bool) -> Any:
    each = OneVsRestClassifier(SGDClassifier(random_state=0), n_jobs=1)
    model = make_pipeline(nystroem(X, m), each) if features else each
    return model.fit(X, Y).decision_function


def himalaya_ridge(X: np.ndarray, Y: np.ndarray, m: int) -> Any:
    from himalaya.ridge import Ridge

    model = make_pipeline(nystroem(X, m), Ridge(alpha=1.0, fit_intercept=True))
    return model.fit(X, Y.astype(np.float64)).predict


def himalaya_kernel(X: np.ndarray, Y: np.ndarray, m: int) -> Any:
    from himalaya.kernel_ridge import KernelRidgeCV

    few = Y[:m].astype(np.float64)  # the matrix of all rows would not fit
    options = {"kernel": "rbf", "kernel_params": {"gamma": nystroem(X, m).gamma}, "cv": 5}
    model = KernelRidgeCV(alphas=np.logspace(-3, 3, 7), **options)
    model.fit(np.array(X[:m]), few - few.mean(axis=0))
    return lambda new: model.predict(new) + few.mean(axis=0)


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], Any]] = {
    "CamelClassifierCV, 77 candidates": ours,
    "CamelClassifier, one setting": ours_once,
    "Nystroem + RidgeClassifier, one setting": ridge,
    "SGDClassifier one-vs-rest, one setting": partial(descent, features=False),
    "Nystroem + SGDClassifier one-vs-rest, one setting": partial(descent, features=True),
    "Nystroem + himalaya Ridge, one setting": himalaya_ridge,
    "himalaya KernelRidgeCV on as many rows as landmarks, 7 settings": himalaya_kernel,
}


@contextmanager
def watched() -> Iterator[list[int]]:
    """A list with the anonymous memory at the peak of the body, beyond that before it."""
    process = os.getpid()
    before, over = anonymous(process), threading.Event()
    peak = [0]

    def watch() -> None:
        while not over.wait(EVERY):
            peak[0] = max(peak[0], anonymous(process) - before)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def main(method: str, folder: str, m: str) -> None:
    names = ("X", "Y", "new", "truth")
    X, Y, new, truth = (np.load(Path(folder, f"{name}.npy"), mmap_mode="r") for name in names)
    with watched() as peak:
        start = time.perf_counter()
        score = METHODS[method](X, Y, int(m))
        took = time.perf_counter() - start
    scores = np.asarray(score(np.array(new)))
    print(json.dumps(Result(took, peak[0], average_precision(np.array(truth), scores))))


if __name__ == "__main__":
    main(*sys.argv[1:])
