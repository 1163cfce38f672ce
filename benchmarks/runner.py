"""What the runner adds to the work itself, on yeast: folds, locks, records on disk, progress."""

from __future__ import annotations

import io
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr
from typing import Any
from unittest.mock import patch

from benchmarks.machine import Row, at_most
from skcamel import CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.experiment import compute, get_method, run_study

N_FOLDS = 10


class Clock:
    """Sums the time of the calls that go through it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, by the clock."""

        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


class Timed:
    """A method whose fits and predictions go by a clock."""

    def __init__(self, spec: Any, clock: Clock) -> None:
        self.method, self.clock = get_method(spec), clock
        self.name, self.settings = self.method.name, self.method.settings

    def fit(self, X: Any, Y: Any, *, seed: int) -> Timed:
        """Fit, by the clock."""
        fitted = self.clock.around(self.method.fit)(X, Y, seed=seed)
        self.outcomes = self.clock.around(fitted.outcomes)
        return self


def run() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # defects of the public file are known
        dataset = load_dataset("yeast")
    work, beyond = split_times(dataset, ("camel", CamelClassifierCV()))
    _, beyond_br = split_times(dataset, "br")  # its fits take so little that nothing hides behind them
    return [
        at_most("runner on yeast, CAMEL in 10 folds: time beyond fit, predict and evaluate", 100 * beyond / work, 2, "%"),
        Row("the same for BR, by unit", 1000 * beyond_br / N_FOLDS, "ms"),
    ]


def split_times(dataset: Any, spec: Any) -> tuple[float, float]:
    """Seconds of a study that go to fitting, predicting and evaluating, and all others."""
    work, whole = Clock(), Clock()
    method = Timed(spec, work)
    with (
        tempfile.TemporaryDirectory() as folder,
        redirect_stderr(io.StringIO()),
        patch.object(compute, "evaluate", work.around(compute.evaluate)),
    ):
        whole.around(run_study)([dataset], [method], n_folds=N_FOLDS, out=folder)
    return work.seconds, whole.seconds - work.seconds
