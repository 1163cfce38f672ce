"""One unit ► its record: load, split, fit, predict, evaluate. Runs in whatever process a backend chooses."""

from __future__ import annotations

import os
import platform
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

import skcamel
from skcamel import memory
from skcamel.experiment.isolation import put_back
from skcamel.experiment.jsonable import jsonable
from skcamel.experiment.outcome import Method, Outcome
from skcamel.experiment.sources import Source, load_split
from skcamel.experiment.units import Unit
from skcamel.metrics import edge_cases, evaluate
from skcamel.metrics.conventions import NAMES

EACH = "each"  # every metric is the outcome of the model selected for it


@dataclass(frozen=True)
class Task:
    """A unit with all that is needed to do it elsewhere."""

    unit: Unit
    method: Method
    source: Source
    threads: int | None = None  # of BLAS, at most; None leaves them as they are
    allowance: int | None = None  # bytes, where several units share a machine


@dataclass(frozen=True)
class Result:
    """What became of a unit: a record, or a failure."""

    unit: Unit
    record: dict[str, Any]
    failed: bool = False
    killed: bool = False  # by someone outside, as the system does for want of memory: alone, it may be done


def compute(task: Task) -> Result:
    """Do a unit; an error becomes a failure, with its traceback as text, so that any process can send it home.

    What a method raises to end the whole process (SystemExit, its own kind of BaseException) ends the unit only. A
    KeyboardInterrupt goes through in the main thread, where Ctrl-C raises it.
    """
    process = os.getpid()
    try:
        with put_back(), _limited(task.threads), memory.allowance(task.allowance):
            return Result(task.unit, _record(task))
    except BaseException as error:
        if os.getpid() != process:  # a child that the method forked: it must not go on with the study
            os._exit(1)
        if isinstance(error, KeyboardInterrupt) and _is_main_thread():
            raise
        return failure(task.unit, error)


def failure(unit: Unit, error: BaseException) -> Result:
    """Turn an error into the failure of a unit."""
    told = f"{type(error).__name__}: {_text(error)}"
    try:
        lines = "".join(traceback.format_exception(error))
    except BaseException:  # it looks at attributes of the error, which may be anything
        lines = told
    return Result(unit, unit.as_dict() | {"error": told, "traceback": lines}, failed=True)


def _text(error: BaseException) -> str:
    """The text of an error of a method, whose ``__str__`` may raise in turn."""
    try:
        return str(error)
    except BaseException:
        return "(its text cannot be shown: __str__ raises)"


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _limited(threads: int | None) -> AbstractContextManager[Any]:
    """Never more threads than are set, by the environment or by the caller."""
    if threads is None:
        return nullcontext()
    return threadpool_limits({library["prefix"]: min(threads, library["num_threads"]) for library in threadpool_info()})


def _record(task: Task) -> dict[str, Any]:
    unit, method = task.unit, task.method
    start = time.perf_counter()
    data, (train, test) = load_split(task.source, unit.folds, unit.n_folds, unit.seed, unit.fold)
    # threads share the memory of their process: there the peak is nobody's
    peak_is_ours = _is_main_thread() and memory.forget_peak()
    held = memory.resident()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        before_fit = time.perf_counter()
        fitted = method.fit(data.X[train], data.Y[train], seed=unit.seed)
        after_fit = time.perf_counter()
        outcomes = fitted.outcomes(data.X[test])
        after_predict = time.perf_counter()
    return (
        unit.as_dict()
        | measured(data.Y[test], outcomes)
        | {"n_train": len(train), "n_test": len(test), "n_features": data.d, "n_labels": data.q}
        | {"data_sha256": task.source.sha256, "device": str(getattr(method, "device", None) or "cpu")}
        | {"warnings": sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})}
        | {f"version_{name}": number for name, number in versions().items()}
        | {"fit_seconds": after_fit - before_fit, "predict_seconds": after_predict - after_fit}
        | {"unit_seconds": time.perf_counter() - start}
        | {"peak_memory_bytes": max(0, memory.peak() - held) if peak_is_ours else None}
    )


def measured(Y: np.ndarray, outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """The seven metrics, under each criterion where there are several, with parameters and edge cases.

    Parameters
    ----------
    Y : array of shape (m, q)
        Truth.
    outcomes : mapping of criterion to Outcome
        Of several, each metric is that of the one selected for it.

    Examples
    --------
    >>> Y = np.array([[1, 0], [0, 1]])
    >>> found = measured(Y, {"": Outcome(Y - 0.5, Y, {"alpha": 1})})
    >>> found["criterion"], found["params"], found["average_precision"], found["edge_labels_absent"]
    ('', {'alpha': 1}, 1.0, 0)
    """
    values = {criterion: evaluate(Y, outcome.scores, outcome.decisions) for criterion, outcome in outcomes.items()}
    shown = next(iter(outcomes)) if len(outcomes) == 1 else EACH
    record: dict[str, Any] = {"criterion": shown, "params": {} if shown == EACH else jsonable(outcomes[shown].params)}
    record |= {name: float(values[name if shown == EACH else shown][name]) for name in NAMES}
    if len(outcomes) > 1:
        for criterion, outcome in outcomes.items():
            record |= {f"{name}_by_{criterion}": float(value) for name, value in values[criterion].items()}
            record[f"params_by_{criterion}"] = jsonable(outcome.params)
    # absent labels matter to macro-F1 most
    decisions = outcomes["macro_f1" if shown == EACH else shown].decisions
    return record | {f"edge_{name}": count for name, count in asdict(edge_cases(Y, decisions)).items()}


@cache
def versions() -> dict[str, str]:
    """Python and the packages that decide about numbers."""
    found = {"python": platform.python_version(), "skcamel": skcamel.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        try:
            found[name.replace("-", "_")] = version(name)
        except PackageNotFoundError:
            continue
    return found
