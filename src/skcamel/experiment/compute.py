"""One unit ► its record: load, split, fit, predict, evaluate. Runs in whatever process a backend chooses."""

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
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

import skcamel
from skcamel import memory
from skcamel.data import DataError
from skcamel.data.catalogue import load_dataset
from skcamel.data.dataset import Dataset, known_share
from skcamel.data.formats import read_dataset
from skcamel.data.preparer import TablePreparer
from skcamel.data.text import stem
from skcamel.experiment.folds import Division, Split, paired, splits, with_groups, with_parts
from skcamel.experiment.identity import jsonable
from skcamel.experiment.measures import Measure, measures_of
from skcamel.experiment.methods import Method, Outcome
from skcamel.experiment.units import Unit
from skcamel.metrics import edge_cases, evaluate
from skcamel.metrics.conventions import NAMES

EACH = "each"  # every metric is the outcome of the model selected for it


@dataclass(frozen=True)
class Source:
    """A data set by where it comes from, and the digest of its values."""

    name: str
    origin: str | Path | Dataset | None  # catalogue name, file or data; None in another process, which is sent the data once
    sha256: str
    n: int  # rows
    division: Division = field(default_factory=Division, compare=False)  # groups or given folds
    preparer: TablePreparer | None = field(default=None, compare=False)  # of a table with words or gaps; fitted in each fold
    gaps: int = field(default=0, compare=False)  # NaN among the features that nothing prepares

    @property
    def identity(self) -> tuple[str, str]:
        """Name and digest: equal values under another name may be stored otherwise, dense or sparse."""
        return self.name, self.sha256


@dataclass(frozen=True)
class Task:
    """A unit with all that is needed to do it elsewhere."""

    unit: Unit
    method: Method
    source: Source
    measures: tuple[Measure, ...] = ()  # beside the seven
    threads: int | None = None  # of BLAS, at most; None leaves them as they are
    allowance: int | None = None  # bytes, where several units share a machine


@dataclass(frozen=True)
class Result:
    """What became of a unit: a record, or a failure."""

    unit: Unit
    record: dict[str, Any]
    failed: bool = False
    killed: bool = False  # from outside, most often for lack of memory: alone, the unit may succeed


def compute(task: Task) -> Result:
    """Run a unit; an error becomes a failure, with its traceback as text, which any process can send.

    SystemExit and other kinds of BaseException end the unit only, except KeyboardInterrupt in the main thread, where Ctrl-C
    raises it.
    """
    process = os.getpid()
    try:
        with _put_back(), _limited(task.threads), memory.allowance(task.allowance):
            return _done(task)
    except BaseException as error:
        if os.getpid() != process:  # a child that the method forked: it must not go on with the study
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
    return Result(unit, unit.as_dict() | {"error": told, "traceback": lines}, failed=True)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _limited(threads: int | None) -> AbstractContextManager[object]:
    """Limit the threads of BLAS; a lower limit, by the environment or by the caller, stays."""
    if threads is None:
        return nullcontext()
    return threadpool_limits({library["prefix"]: min(threads, library["num_threads"]) for library in threadpool_info()})


def _done(task: Task) -> Result:
    unit, method = task.unit, task.method
    start = time.perf_counter()
    data, (train, test) = load_split(task.source, unit)
    # threads share the memory of their process, so the peak of one cannot be told
    peak_is_ours = _is_main_thread() and memory.forget_peak()
    held = memory.resident()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        before_fit = time.perf_counter()
        rows, new = _rows(data, train, test, task.source.preparer)
        fitted = method.fit(rows, data.Y[train], seed=unit.seed)
        after_fit = time.perf_counter()
        outcomes = fitted.outcomes(new)
        after_predict = time.perf_counter()
        found = measured(data.Y[test], outcomes, task.measures)
    record = (
        unit.as_dict()
        | found
        | {"n_train": len(train), "n_test": len(test), "n_features": rows.shape[1], "n_labels": data.q}
        | ({"known": known} if (known := known_share(data.Y)) < 1 else {})
        | {"device": str(getattr(method, "device", None) or "cpu")}
        | {"warnings": sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})}
        | {f"version_{name}": number for name, number in _versions().items()}
        | {"fit_seconds": after_fit - before_fit, "predict_seconds": after_predict - after_fit}
        | {"unit_seconds": time.perf_counter() - start}
        | {"peak_memory_bytes": max(0, memory.peak() - held) if peak_is_ours else None}
    )
    return Result(task.unit, record)


def _rows(data: Dataset, train: np.ndarray, test: np.ndarray, preparer: TablePreparer | None) -> tuple[Any, Any]:
    """Training and test rows as a method takes them; a table is prepared by what its training rows alone say."""
    if preparer is None:
        return data.X[train], data.X[test]
    own = clone(preparer).fit(data.table.take(train), data.Y[train])
    return own.transform(data.table.take(train)), own.transform(data.table.take(test))


def measured(Y: np.ndarray, outcomes: Mapping[str, Outcome], measures: tuple[Measure, ...] = ()) -> dict[str, Any]:
    """The seven metrics against the truth Y (m, q), and others, with parameters and edge cases.

    With several criteria, each metric is that of the model selected for it; all other figures are kept, too.

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
    if measures:
        record["more"] = measures_of(Y, outcomes, measures)
    # absent labels matter to macro-F1 most
    decisions = outcomes["macro_f1" if shown == EACH else shown].decisions
    return record | {f"edge_{name}": count for name, count in asdict(edge_cases(Y, decisions)).items()}


@cache
def _versions() -> dict[str, str]:
    """Python and the packages that decide about numbers."""
    found = {"python": platform.python_version(), "skcamel": skcamel.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[name.replace("-", "_")] = version(name)
    return found


# the last data set of this process, and the last folds: each a pair that threads swap in one step
_last_data: tuple[tuple[str, str], Dataset] | None = None
_last_folds: tuple[tuple[str, str, int, int, str] | None, list[Split]] = (None, [])
_one_reads = threading.Lock()  # threads that ask for the same data at once read them once


def as_source(origin: Any, *, groups: Any = None, given: bool = False, split: Any = None) -> Source:
    """The source that a user named; its data are loaded now, so that a wrong name fails before any work.

    Parameters
    ----------
    origin : str, path, Dataset or (name, any of these)
        Catalogue name, file or data; ``name=file`` and a pair give a name of one's own.
    groups : str, array of shape (n,) or mapping of these by data set, default=None
        Groups of the rows that no fold divides, or the column that holds them.
    given : bool, default=False
        Whether folds are given: by `split`, or by the data themselves.
    split : path, (train, test) pairs or mapping of these by data set, default=None
        See :func:`skcamel.experiment.folds.with_parts`.
    """
    global _last_data  # noqa: PLW0603 (a cache of one process)
    name, origin = _named(origin)
    own = name or (origin.name if isinstance(origin, Dataset) else stem(origin) if isinstance(origin, Path) else origin)
    groups, split = (value.get(own) if isinstance(value, Mapping) else value for value in (groups, split))
    if given and split is None and isinstance(origin, Path) and (pair := paired(origin)):
        name, origin = name or pair[0], read_dataset(origin, test=pair[1])
    dataset = _read(origin) if name is None else replace(_read(origin), name=name)
    if not dataset.name:
        raise ValueError("A Dataset of a study needs a name, by which its records are found; make it with Dataset(..., name='mine').")
    division = Division()
    if groups is not None:
        dataset, division = with_groups(dataset, groups)
    elif given:
        division = with_parts(dataset, split)
    changed = name is not None or isinstance(groups, str)
    gaps = 0 if dataset.table is not None else int(np.isnan(dataset.X.data if sparse.issparse(dataset.X) else dataset.X).sum())
    source = Source(dataset.name, dataset if changed else origin, dataset.sha256, dataset.n, division, _preparer(dataset), gaps)
    _last_data = (source.identity, dataset)
    return source


def _preparer(dataset: Dataset) -> TablePreparer | None:
    """What prepares a table in each fold. All rows say which columns name the rows, as a fold may not, and whether there are words."""
    if dataset.table is None:
        return None
    found = TablePreparer()
    try:
        found.fit_for_search(dataset.table, dataset.Y)
    except ValueError as error:
        raise DataError(str(error), path=dataset.source) from error
    return TablePreparer(id=found.id_columns_, scaling=found.scaling)


def _named(origin: Any) -> tuple[str | None, str | Path | Dataset]:
    """A name of one's own, where there is one, and a catalogue name, a path or data."""
    name = None
    if isinstance(origin, tuple) and len(origin) == 2 and isinstance(origin[0], str):
        name, origin = origin
    elif isinstance(origin, str) and "=" in origin and not Path(origin).exists():
        name, _, origin = origin.partition("=")
    if isinstance(origin, (str, os.PathLike)):
        path = Path(origin)
        looks_like_a_file = not isinstance(origin, str) or path.is_file() or bool(path.suffix) or len(path.parts) > 1
        return name, path.resolve() if looks_like_a_file else str(origin)
    if not isinstance(origin, Dataset):
        raise TypeError(f"A data set is a catalogue name, a file or a skcamel.data.Dataset, got {type(origin).__name__}.")
    return name, origin


def load(source: Source, dataset: Dataset | None = None) -> Dataset:
    """The data of a source, or `dataset` if it came by other means, checked against the digest; the last data are kept."""
    global _last_data  # noqa: PLW0603 (a cache of one process)
    with _one_reads:
        if _last_data is not None and _last_data[0] == source.identity:
            return _last_data[1]
        dataset = _read(source.origin) if dataset is None else dataset
        found = dataset.sha256
        if found != source.sha256:
            raise DataError(
                f"the data set {source.name} has other values here (digest {found[:12]}…) than where the study was started "
                f"({source.sha256[:12]}…); give all machines the same file.",
                path=source.origin if isinstance(source.origin, (str, Path)) else "this process",
            )
        _last_data = (source.identity, dataset)
        return dataset


def load_split(source: Source, unit: Unit, dataset: Dataset | None = None) -> tuple[Dataset, Split]:
    """Data and fold of a unit; the last folds are kept, too."""
    global _last_folds  # noqa: PLW0603 (a cache of one process)
    dataset = load(source, dataset)
    asked = (source.sha256, unit.folds, unit.n_folds, unit.seed, source.division.sha256)
    known, folds = _last_folds
    if known != asked:
        folds = splits(dataset.Y, unit.folds, unit.n_folds, unit.seed, source.division)
        _last_folds = (asked, folds)
    return dataset, folds[unit.fold]


def _read(origin: str | Path | Dataset | None) -> Dataset:
    if origin is None:
        raise LookupError("The data of this unit are missing.")
    if isinstance(origin, Dataset):
        return origin
    if isinstance(origin, Path):
        if not origin.is_file():
            raise FileNotFoundError(f"{origin}: there is no such file; 'skcamel datasets list' shows the sets that have a name.")
        return read_dataset(origin)
    return load_dataset(origin)


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
            after.callback(_restore_handlers, {number: signal.getsignal(number) for number in signal.valid_signals()})
            for descriptor in (1, 2):
                with suppress(OSError):  # closed before
                    after.callback(_restore_output, os.dup(descriptor), descriptor)
            for redirect, stream in ((redirect_stdout, sys.stdout), (redirect_stderr, sys.stderr)):
                after.enter_context(redirect(None if stream is None else cast(TextIO, _Unclosable(stream))))
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
