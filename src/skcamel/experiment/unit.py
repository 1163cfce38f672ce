"""A unit of a study, a method on a fold of a data set ► its record: fit, predict, evaluate."""

from __future__ import annotations

import inspect
import os
import platform
import re
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import joblib
from sklearn.base import clone

import skcamel
from skcamel import memory, metrics
from skcamel.arrays import Array, MaybeArray
from skcamel.data import Dataset, TablePreparer
from skcamel.experiment.methods import Method, Outcome, imported
from skcamel.experiment.records import PLAN, Record, jsonable

Split = tuple[Array, Array]  # training and test rows
WHERE = ("device", "n_jobs", "verbose")  # parameters that do not decide about results
BEST = ("largest", "smallest")
METRIC = re.compile(
    r"(?:(?P<name>\w+)=)?(?P<place>[^=]+:(?P<function>\w+)):(?P<best>largest|smallest)"
)


@dataclass(frozen=True, eq=False)
class Source:
    """A data set of a study with its folds.

    Attributes
    ----------
    dataset : Dataset
    splits : tuple of (train, test)
    groups : array of shape (n,), or None
    division : str
        Digest of groups or given folds; empty without them.
    preparer : TablePreparer, or None
        Of a table with words or missing values; fitted in each fold.
    """

    dataset: Dataset
    splits: tuple[Split, ...]
    groups: MaybeArray = None
    division: str = ""
    preparer: TablePreparer | None = None

    def parts(self, fold: int) -> tuple[Any, Any]:
        """Training and test rows as a method takes them."""
        train, test = self.splits[fold]
        if self.preparer is None:
            return self.dataset.X[train], self.dataset.X[test]
        known = self.dataset.table.take(train)
        new = self.dataset.table.take(test)
        preparer = clone(self.preparer).fit(known, self.dataset.Y[train])
        return preparer.transform(known), preparer.transform(new)


def is_recorded(unit: Record, record: Record) -> bool:
    """Whether a record is of the work of a unit.

    A parameter that only one of the two knows, because the library gained or lost it in between,
    must have had its default.
    """
    same = ("version", "data_sha256", "division")
    if PLAN(unit) != PLAN(record) or any(unit[name] != record.get(name) for name in same):
        return False
    return _agree(unit["settings"], record.get("settings"))


def _agree(ours: Any, theirs: Any) -> bool:
    """Whether two descriptions of settings mean the same."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_agree, ours, theirs))
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return bool(ours == theirs)
    needed = ours.keys() | theirs.keys()
    if "params" in ours and "params" in theirs:
        if ours["class"] != theirs["class"]:
            return False
        needed = {*ours["changed"], *theirs["changed"]}
        ours, theirs = ours["params"], theirs["params"]
    shared = ours.keys() & theirs.keys()
    alone = ours.keys() ^ theirs.keys()
    return not alone & needed and all(_agree(ours[name], theirs[name]) for name in shared)


def described(value: Any) -> Any:
    """What decides about the results of an estimator, ready for JSON.

    That is its class, all parameters, and which of them are changed.

    >>> from sklearn.preprocessing import Binarizer
    >>> found = described(Binarizer(threshold=1.0))
    >>> found["class"], found["params"], found["changed"]
    ('sklearn.Binarizer', {'copy': True, 'threshold': 1.0}, ['threshold'])
    """
    return jsonable(value, _described)


def _described(value: Any) -> Any:
    """A class or a function by its name, an estimator as above, another object by its digest."""
    if isinstance(value, type) or inspect.isroutine(value):
        return _name(value)
    kind = type(value)
    if not hasattr(value, "fit"):
        return f"{_name(kind)}, {joblib.hash(value)}"
    found = value.get_params(deep=False) if hasattr(value, "get_params") else vars(value)
    known = inspect.signature(kind).parameters
    params = {}
    changed = []
    for name in sorted(found.keys() - {*WHERE}):
        params[name] = described(found[name])
        if name not in known or params[name] != described(known[name].default):
            changed.append(name)
    return {"class": _name(kind), "params": params, "changed": changed}


def _name(thing: Any) -> str:
    """Package and name: modules inside a package may move."""
    return f"{thing.__module__.partition('.')[0]}.{thing.__qualname__}"


class Task(NamedTuple):
    """A unit with what is needed to do it anywhere, beside its data."""

    unit: Record  # what identifies it: the fields of every record before its figures
    method: Method
    metrics: tuple[OwnMetric, ...] = ()


def compute(task: Task, source: Source) -> Record:
    """Run a unit; an error becomes a failure. Only Ctrl-C in the main thread is raised.

    What the method prints goes to standard error.
    """
    process = os.getpid()
    try:
        with redirect_stdout(sys.stderr):
            return _computed(task, source)
    except BaseException as error:
        if os.getpid() != process:  # forked by the method: the child must not go on with the study
            os._exit(1)
        if isinstance(error, KeyboardInterrupt) and _is_main_thread():
            raise
        return failure(task.unit, error)


def failure(unit: Record, error: BaseException) -> Record:
    """The failure of a unit, with the traceback as text."""
    try:
        text = f"{type(error).__name__}: {error}"
        lines = "".join(traceback.format_exception(error))
    except BaseException:  # an error of a method may not even have a text
        text = lines = f"{type(error).__name__}: (its text cannot be shown)"
    return unit | {"error": text, "traceback": lines}


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _computed(task: Task, source: Source) -> Record:
    unit = task.unit
    data = source.dataset
    train, test = source.splits[unit["fold"]]
    groups = None if source.groups is None else source.groups[train]
    measures_memory = _is_main_thread() and memory.forget_peak()
    before = memory.resident()
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        rows, new = source.parts(unit["fold"])
        prepared = time.perf_counter()
        fitted = task.method.fit(rows, data.Y[train], seed=unit["seed"], groups=groups)
        learned = time.perf_counter()
        outcomes = {name: model.outcome(new) for name, model in fitted.items()}
        predicted = time.perf_counter()
        record = unit | evaluated(data.Y[test], outcomes, task.metrics)
    record |= {
        "n_train": len(train),
        "n_test": len(test),
        "n_features": int(rows.shape[1]),
        "n_labels": data.q,
        "cardinality": float((data.Y == 1).sum() / data.n),
        "device": task.method.device or "cpu",
        "warnings": sorted({f"{one.category.__name__}: {one.message}" for one in caught}),
    }
    for name, number in _versions().items():
        record[f"version_{name}"] = number
    record["fit_seconds"] = learned - prepared
    record["predict_seconds"] = predicted - learned
    record["unit_seconds"] = time.perf_counter() - start
    record["peak_memory_bytes"] = max(0, memory.peak() - before) if measures_memory else None
    return record


def evaluated(Y: Array, outcomes: Mapping[str, Outcome], own: tuple[OwnMetric, ...] = ()) -> Record:
    """The seven metrics against the truth Y (m, q), ranking ones by both rules for ties; others.

    Where each metric has a model of its own, the figures of all models are recorded too, as
    ``coverage_by_micro_f1``.

    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 1]])
    >>> found = evaluated(Y, {"": Outcome(Y - 0.5, Y, {"alpha": 1}, "")})
    >>> found["params"], found["average_precision"], found["coverage_ties_by_index"]
    ({'alpha': 1}, 1.0, 0.0)
    """
    first = next(iter(outcomes.values()))
    record: Record = {"criterion": first.criterion, "params": first.params}
    if len(outcomes) > 1:
        record = {"criterion": "each", "params": {}}
    further: Record = {}
    for criterion, one in outcomes.items():
        values = metrics.evaluate(Y, one.scores, one.decisions)
        for name in metrics.NAMES:
            if criterion in ("", name):
                record[name] = float(values[name])
            if criterion:
                further[f"{name}_by_{criterion}"] = float(values[name])
        for name in metrics.RANKING:
            if criterion in ("", name):
                by_index = getattr(metrics, name)(Y, one.scores, ties="index")
                record[f"{name}_ties_by_index"] = float(by_index)
        if criterion:
            further[f"params_by_{criterion}"] = one.params
    if own:
        record["metrics"] = {metric.name: metric.best for metric in own}
    for metric in own:
        record[metric.name] = metric.value(Y, first)
    return record | further


class OwnMetric(NamedTuple):
    """A metric beside the seven: one number of truth, scores, decisions or probabilities.

    They are handed over by the names of its parameters, as scikit-learn's metrics have them:
    ``y_true``, ``y_score``, ``y_pred``, ``y_prob`` or ``y_proba``, each of shape (m, q).

    Examples
    --------
    >>> import numpy as np
    >>> Y = np.array([[1, 0], [0, 1]])
    >>> metric = own_metric("auc=sklearn.metrics:roc_auc_score:largest")
    >>> metric.name, metric.value(Y, Outcome(Y - 0.5, Y, {}, ""))
    ('auc', 1.0)
    """

    name: str
    function: Any
    best: str  # "largest" or "smallest"

    def value(self, Y: Array, outcome: Outcome) -> float:
        """The metric of an outcome; NaN if it needs probabilities that a method does not have."""
        given = {"y_true": Y, "y_score": outcome.scores, "y_pred": outcome.decisions}
        given |= dict.fromkeys(("y_prob", "y_proba"), outcome.probabilities)
        names = inspect.signature(self.function).parameters
        used = {name: values for name, values in given.items() if name in names}
        is_missing = any(values is None for values in used.values())
        return float("nan") if is_missing else float(self.function(**used))


def own_metric(spec: Any) -> OwnMetric:
    """The metric that a text or a tuple (name, function, best) names."""
    parsed = METRIC.fullmatch(spec) if isinstance(spec, str) else None
    if parsed is not None:
        spec = parsed["name"] or parsed["function"], imported(parsed["place"]), parsed["best"]
    if (
        not isinstance(spec, tuple)
        or len(spec) != 3
        or spec[2] not in BEST
        or spec[0] in metrics.NAMES
    ):
        raise ValueError(
            f"metrics has {spec!r}; write name=package.module:function:largest (or :smallest), or"
            " give (name, function, 'largest'), with a new name."
        )
    return OwnMetric(*spec)


@cache
def _versions() -> dict[str, str]:
    """Python and the packages that decide about numbers."""
    found = {"python": platform.python_version(), "skcamel": skcamel.__version__}
    for name in ("numpy", "scipy", "scikit-learn", "torch"):
        with suppress(PackageNotFoundError):
            found[name.replace("-", "_")] = version(name)
    return found
