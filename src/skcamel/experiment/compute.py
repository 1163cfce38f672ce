"""One unit ► its record: fit, predict, evaluate. Runs in whatever process an executor chooses."""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TextIO, cast

import numpy as np
from sklearn.base import clone

import skcamel
from skcamel import memory
from skcamel.data.dataset import Dataset, known_share
from skcamel.data.preparer import TablePreparer
from skcamel.experiment.folds import Split
from skcamel.experiment.identity import jsonable
from skcamel.experiment.measures import Measure, measures_of
from skcamel.experiment.methods import Method, Outcome
from skcamel.experiment.units import Unit
from skcamel.metrics import edge_cases, evaluate
from skcamel.metrics.conventions import NAMES

EACH = "each"  # every metric is the outcome of the model selected for it


@dataclass(frozen=True, eq=False)
class Source:
    """A data set of a study with its folds."""

    dataset: Dataset
    folds: tuple[Split, ...]  # training and test rows of each
    division: str  # digest of groups or given folds; empty where there are none
    preparer: TablePreparer | None  # of a table with words or gaps; fitted in each fold

    @property
    def name(self) -> str:
        """By which its records are found."""
        return self.dataset.name


@dataclass(frozen=True)
class Task:
    """A unit with what is needed to do it elsewhere, beside its data."""

    unit: Unit
    method: Method
    measures: tuple[Measure, ...] = ()  # beside the seven
    allowance: int | None = None  # bytes, where several units share a machine


@dataclass(frozen=True)
class Result:
    """What became of a unit: a record, or a failure, which has an `error`."""

    unit: Unit
    record: dict[str, Any]
    ended: bool = False  # its process ended: in a fresh one, alone, the unit may succeed


def compute(task: Task, source: Source) -> Result:
    """Run a unit; an error becomes a failure, with its traceback as text, which any process can send.

    SystemExit and other kinds of BaseException end the unit only, except KeyboardInterrupt in the
    main thread, where Ctrl-C
    raises it.
    """
    process = os.getpid()
    try:
        with _put_back(), memory.allowance(task.allowance):
            return _done(task, source)
    except BaseException as error:
        if (
            os.getpid() != process
        ):  # a child that the method forked: it must not go on with the study
            os._exit(1)
        if isinstance(error, KeyboardInterrupt) and _is_main_thread():
            raise
        return failure(task.unit, error)


def failure(unit: Unit, error: BaseException) -> Result:
    """Turn an error into the failure of a unit; even to show it may raise."""
    try:
        text = str(error)
    except BaseException:
        text = "(its text cannot be shown: __str__ raises)"
    told = f"{type(error).__name__}: {text}"
    try:
        lines = "".join(traceback.format_exception(error))
    except BaseException:  # it looks at attributes of the error, which may be anything
        lines = told
    return Result(unit, unit.as_dict() | {"error": told, "traceback": lines})


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _done(task: Task, source: Source) -> Result:
    unit, method, data = task.unit, task.method, source.dataset
    start = time.perf_counter()
    train, test = source.folds[unit.fold]
    # threads share the memory of their process, so the peak of one cannot be told
    peak_is_ours = _is_main_thread() and memory.forget_peak()
    held = memory.resident()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        before_fit = time.perf_counter()
        rows, new = _rows(data, train, test, source.preparer)
        fitted = method.fit(rows, data.Y[train], seed=unit.seed)
        after_fit = time.perf_counter()
        outcomes = fitted.outcomes(new)
        after_predict = time.perf_counter()
        found = measured(data.Y[test], outcomes, task.measures)
    record = (
        unit.as_dict()
        | found
        | {
            "n_train": len(train),
            "n_test": len(test),
            "n_features": rows.shape[1],
            "n_labels": data.q,
        }
        | ({"known": known} if (known := known_share(data.Y)) < 1 else {})
        | {"device": str(getattr(method, "device", None) or "cpu")}
        | {
            "warnings": sorted(
                {f"{warning.category.__name__}: {warning.message}" for warning in caught}
            )
        }
        | {f"version_{name}": number for name, number in _versions().items()}
        | {"fit_seconds": after_fit - before_fit, "predict_seconds": after_predict - after_fit}
        | {"unit_seconds": time.perf_counter() - start}
        | {"peak_memory_bytes": max(0, memory.peak() - held) if peak_is_ours else None}
    )
    return Result(task.unit, record)


def _rows(
    data: Dataset, train: np.ndarray, test: np.ndarray, preparer: TablePreparer | None
) -> tuple[Any, Any]:
    """Training and test rows as a method takes them; a table is prepared by what its training rows alone say."""
    if preparer is None:
        return data.X[train], data.X[test]
    own = clone(preparer).fit(data.table.take(train), data.Y[train])
    return own.transform(data.table.take(train)), own.transform(data.table.take(test))


def measured(
    Y: np.ndarray, outcomes: Mapping[str, Outcome], measures: tuple[Measure, ...] = ()
) -> dict[str, Any]:
    """The seven metrics against the truth Y (m, q), and others, with parameters and edge cases.

    With several criteria, each metric is that of the model selected for it; all other figures are
    kept, too.

    >>> Y = np.array([[1, 0], [0, 1]])
    >>> found = measured(Y, {"": Outcome(Y - 0.5, Y, {"alpha": 1})})
    >>> found["criterion"], found["params"], found["average_precision"], found["edge_labels_absent"]
    ('', {'alpha': 1}, 1.0, 0)
    """
    values = {
        criterion: evaluate(Y, outcome.scores, outcome.decisions)
        for criterion, outcome in outcomes.items()
    }
    shown = next(iter(outcomes)) if len(outcomes) == 1 else EACH
    record: dict[str, Any] = {
        "criterion": shown,
        "params": {} if shown == EACH else jsonable(outcomes[shown].params),
    }
    record |= {name: float(values[name if shown == EACH else shown][name]) for name in NAMES}
    if len(outcomes) > 1:
        for criterion, outcome in outcomes.items():
            record |= {
                f"{name}_by_{criterion}": float(value) for name, value in values[criterion].items()
            }
            record[f"params_by_{criterion}"] = jsonable(outcome.params)
    if measures:
        record["more"] = measures_of(Y, outcomes, measures)
    # absent labels matter to macro-F1 most
    decisions = outcomes["macro_f1" if shown == EACH else shown].decisions
    return record | {
        f"edge_{name}": count for name, count in asdict(edge_cases(Y, decisions)).items()
    }


@cache
def _versions() -> dict[str, str]:
    """Python and the packages that decide about numbers."""
    found = {"python": platform.python_version(), "skcamel": skcamel.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[name.replace("-", "_")] = version(name)
    return found


@contextmanager
def _put_back() -> Iterator[None]:
    """Restore what a method changed for its whole process: working directory, signal handlers, streams, numpy's error state.

    In a thread, beside which others work, only numpy's state is restored.

    >>> here = os.getcwd()
    >>> with _put_back():
    ...     os.chdir("/")
    >>> os.getcwd() == here
    True
    """
    with ExitStack() as after, np.errstate():
        if _is_main_thread():
            with suppress(FileNotFoundError):  # it was deleted before; there is no way back
                after.callback(_change_directory, os.getcwd())
            after.callback(
                _restore_handlers,
                {number: signal.getsignal(number) for number in signal.valid_signals()},
            )
            for descriptor in (1, 2):
                with suppress(OSError):  # closed before
                    after.callback(_restore_output, os.dup(descriptor), descriptor)
            for redirect, stream in ((redirect_stdout, sys.stdout), (redirect_stderr, sys.stderr)):
                after.enter_context(
                    redirect(None if stream is None else cast(TextIO, _Unclosable(stream)))
                )
        yield


def _change_directory(path: str) -> None:
    with suppress(OSError):  # the method deleted it; all paths of a study are absolute
        os.chdir(path)


def _restore_handlers(before: Mapping[int, Any]) -> None:
    for number, handler in before.items():
        if handler is not None and signal.getsignal(number) != handler:  # None: not set from Python
            signal.signal(number, handler)


def _restore_output(kept: int, descriptor: int) -> None:
    os.dup2(kept, descriptor)
    os.close(kept)


class _Unclosable:
    """A stream that a method can write to and not close."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        pass
