""":func:`run_study`: methods x data sets x folds ► units; those without a record are computed."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from skcamel.arrays import check_device
from skcamel.checks import check_number
from skcamel.data import Dataset
from skcamel.experiment.execute import Job, execute
from skcamel.experiment.folds import GROUPED, source_of
from skcamel.experiment.methods import FOLDS, Method, get_method
from skcamel.experiment.records import PLAN, Record, Records, StudyFolder
from skcamel.experiment.unit import Source, Task, described, is_recorded, own_metric


class Event(NamedTuple):
    """A unit has ended; its record has an `error` where it failed."""

    record: Record
    finished: int  # units that need no more work in this run
    total: int


class UnitsFailed(UserWarning):
    """Some units of a study failed; the others are done."""


class RecordsOutOfDate(UserWarning):
    """A study folder holds records of other versions, settings or data than those given now."""


def run_study(
    datasets: Sequence[Any],
    methods: Sequence[Any],
    *,
    preset: str = "paper",
    out: str | os.PathLike[str] | None = None,
    n_folds: int | None = None,
    folds: Any = "plain",
    seed: int = 0,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    groups: Any = None,
    metrics: Sequence[Any] = (),
    device: str | None = None,
    progress: Callable[[Event], None] | None = None,
) -> Records:
    """Run methods on data sets in outer folds; keep a record of each unit: method, set and fold.

    Call it again with the same folder to run what is missing and to repeat what failed. One run at
    a time works in a folder.

    Parameters
    ----------
    datasets : sequence of str, path, Dataset or (name, any of these)
        Catalogue names, files of any known format, or data from Python, which need a name;
        ``("mine", any of these)`` and ``"mine=file.arff"`` give another one.
    methods : sequence of str, estimator, (name, estimator) or Method
        See :func:`skcamel.experiment.get_method`.
    preset : {"quick", "paper", "best"}, default="paper"
    out : str or path, default=None
        The study folder, made if it is not there. None: only the returned records are kept.
    n_folds : int, default=None
        Outer folds; None: 3 for "quick", else 10.
    folds : {"plain", "stratified", "given"} or sequence of (train, test), default="plain"
        Shuffled folds, or those that spread each label evenly. "given": the training and test part
        that a data set brings, as a file ``mine-train.arff`` does that has a ``mine-test.arff``
        beside it. Parts of one's own are row numbers or masks of all data sets named here; other
        sets go into other calls with the same folder.
    seed : int, default=0
        Of the folds, and of all that is random in a method.
    n_jobs : int, default=None
        Units at the same time, each in a worker process; -1: one on each core. None: 1, or what
        ``joblib.parallel_config`` says. Another backend that it names, such as "dask" or
        "threading", runs the units in its own way.
    time_limit : float, default=None
        Seconds that a unit may take. One that takes longer fails, and its process is killed; so
        units run in worker processes, even one at a time.
    groups : str or array of shape (n,), default=None
        Rows of one group stay in one fold, also in the inner folds of a search: the groups, or the
        column that holds them, which then is no feature.
    metrics : sequence of str or (name, function, "largest" or "smallest"), default=()
        Metrics to record beside the seven, as text ``name=package.module:function:largest``.
    device : str, default=None
        "cuda": CAMEL computes on a GPU, and LLSF and JFSC search there.
    progress : callable, default=None
        Called with an `Event` after each unit.

    Returns
    -------
    Records
        All records of the folder, also those of earlier runs. Units that fail raise nothing: a
        warning counts them, and `Records.failures` says why. A method that crashes or is killed in
        a worker process fails like one that raises.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.data import Dataset
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> data = Dataset(X, Y, name="made")
    >>> records = run_study([data], ["br", "camel"], preset="paper", n_folds=2)
    >>> [(record["method"], record["fold"]) for record in records]
    [('br', 0), ('br', 1), ('camel', 0), ('camel', 1)]
    """
    check_number("seed", seed, 0, 2**32 - 1, whole=True)
    if time_limit is not None:
        check_number("time_limit", time_limit, above=True)
    if device is not None:
        check_device(device)
    chosen = [get_method(spec, preset, device=device) for spec in _listed(methods, "methods")]
    own = tuple(map(own_metric, metrics))
    how: dict[str, Any] = {"n_folds": n_folds or FOLDS[preset], "folds": folds, "groups": groups}
    origins = _listed(datasets, "datasets")
    sources = [source_of(origin, seed=int(seed), **how) for origin in origins]
    _refuse_twice("methods", [method.name for method in chosen])
    _refuse_twice("datasets", [source.dataset.name for source in sources])
    kind = folds if isinstance(folds, str) else "given"
    if groups is not None:
        kind = GROUPED.get(kind, kind)
    plan = {"preset": preset, "folds": kind, "seed": int(seed)}
    jobs: list[Job] = []
    for source, one in product(sources, chosen):
        method, units = _units(source, one, plan)
        jobs += [(Task(unit, method, own), source) for unit in units]
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary if out is None else out).absolute()  # methods may change directory
        with StudyFolder(path) as folder:
            missing = _missing(jobs, Records(path))
            failed = []
            with closing(execute(missing, n_jobs, time_limit)) as records:
                for done, record in enumerate(records, len(jobs) - len(missing) + 1):
                    folder.append(record)
                    if "error" in record:
                        failed.append(record["error"])
                    if progress is not None:
                        progress(Event(record, done, len(jobs)))
        if failed:
            warnings.warn(
                f"{len(failed)} of {len(jobs)} units failed, the first with {failed[0]};"
                " see Records.failures. The same call tries them again.",
                UnitsFailed,
                stacklevel=2,
            )
        found = Records(path)
        found.planned = frozenset(PLAN(task.unit) for task, _ in jobs)
        return found


def _listed(given: Any, what: str) -> list[Any]:
    is_alone = isinstance(given, (str, os.PathLike, Dataset)) or not isinstance(given, Iterable)
    listed = [given] if is_alone else list(given)
    if not listed:
        raise ValueError(f"{what} is empty; name at least one.")
    return listed


def _refuse_twice(what: str, names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(
            f"{what} has {twice[0]!r} {len(twice)} times; records are identified by name, give each"
            " another one."
        )


def _units(source: Source, method: Method, plan: Record) -> tuple[Method, list[Record]]:
    """A unit for each fold of a data set, and the method as it takes such rows."""
    if source.preparer is not None and source.preparer.scaling == "rank" and method.on_words:
        method = replace(method, estimator=method.on_words)
    settings = described(method.estimator)
    if source.preparer is not None:
        settings = {"method": settings, "prepared": described(source.preparer)}
    n_folds = len(source.splits)
    unit = plan | {
        "dataset": source.dataset.name,
        "method": method.name,
        "n_folds": n_folds,
        "version": method.version(plan["preset"]),
        "settings": settings,
        "data_sha256": source.dataset.sha256,
        "division": source.division,
    }
    return method, [unit | {"fold": fold} for fold in range(n_folds)]


def _missing(jobs: Sequence[Job], before: Records) -> list[Job]:
    """Jobs without a record; a warning counts records of the same folds that are out of date."""
    known = {PLAN(record): record for record in before}
    missing = []
    old: Counter[str] = Counter()
    for task, source in jobs:
        there = known.get(PLAN(task.unit))
        names = {metric.name for metric in task.metrics}
        if there is None:
            missing.append((task, source))
        elif not is_recorded(task.unit, there) or not names <= there.keys():
            missing.append((task, source))
            old[task.unit["method"]] += 1
    for method, number in old.items():
        warnings.warn(
            f"{method}: {number} records of another version, other settings, data or metrics; these"
            " units are computed anew.",
            RecordsOutOfDate,
            stacklevel=3,
        )
    return missing
