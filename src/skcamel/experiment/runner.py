""":func:`run_study`: plan the units, compute those that are missing, write their records, and show progress."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from skcamel.arrays import check_device
from skcamel.checks import as_number
from skcamel.data.dataset import Dataset
from skcamel.experiment.compute import Source, Task, load
from skcamel.experiment.executors import Executor, executor
from skcamel.experiment.identity import jsonable
from skcamel.experiment.planning import Protocol, planned
from skcamel.experiment.progress import Event, Listener, listener
from skcamel.experiment.records import Records, StudyFolder
from skcamel.experiment.units import RecordsError, Unit, read_cards
from skcamel.gone import without

CARD_FIGURES_TOO_LONG = ("scumble_rows", "cooccurrence", "phi")  # one value per row or per pair of labels


@without(
    keep="ask for all metrics= at the start",
    rerun="choose another folder for other metrics=",
)
def run_study(
    datasets: Sequence[str | os.PathLike[str] | Dataset | tuple[str, Any]],
    methods: Sequence[Any],
    *,
    preset: str = "paper",
    per_metric: bool = False,
    out: str | os.PathLike[str] | None = None,
    seed: int = 0,
    n_folds: int | None = None,
    folds: str = "plain",
    repeats: int = 1,
    groups: Any = None,
    split: Any = None,
    n_jobs: int | None = None,
    backend: str | None = None,
    dask: Any = None,
    device: str | None = None,
    time_limit: float | None = None,
    metrics: Sequence[Any] = (),
    progress: str | Listener | None = None,
) -> Records:
    """Run methods on data sets in outer folds, and keep a record of each unit: method, set and fold.

    Call it again with the same folder to run what is missing and to repeat what failed. One run at a time works in a folder.

    Parameters
    ----------
    datasets : sequence of str, path, Dataset or (name, any of these)
        Catalogue names, files of any known format, or data from Python, which need a name; ``("mine", any of these)`` and
        ``"mine=file.arff"`` give another one.
    methods : sequence of str, estimator, (name, estimator) or Method
    preset : {"quick", "paper", "best"}, default="paper"
    per_metric : bool, default=False
        See :func:`skcamel.experiment.get_method`.
    out : str or path, default=None
        The study folder, made if it is not there. None: only the returned records are kept.
    seed : int, default=0
        Of the folds, and of all that is random in a method.
    n_folds : int, default=None
        Outer folds; None: 3 for "quick", else 10.
    folds : {"plain", "stratified", "given"}, default="plain"
        Shuffled folds, or those that spread each label evenly. "given": the training and test part that a data set brings, as a
        file ``mine-train.arff`` does that has a ``mine-test.arff`` beside it.
    repeats : int, default=1
        How often the folds are made anew: first by the seed, then by seeds that follow from it.
    groups : str, array of shape (n,) or mapping of these by data set, default=None
        Rows of one group stay in one fold: the groups, or the column that holds them, which then is no feature.
    split : path, sequence of (train, test) or mapping of these by data set, default=None
        Folds that are given: row numbers from 0 on, masks, or a file with one word for each row ("train" or "test", or the number of
        its fold) or JSON ``{"train": [...], "test": [...]}``, alone or in a list.
    n_jobs : int, default=None
        Units at the same time; -1: one on each core. None: 1, or what ``joblib.parallel_config`` says.
    backend : str, default=None
        Of joblib; None: what ``joblib.parallel_config`` says, else processes. Instead of joblib's processes ("loky",
        "multiprocessing") a study has its own, so that it survives a method that crashes. "threading" keeps all units in this
        process, where such a method ends the study.
    dask : str or distributed.Client, default=None
        Address of a Dask scheduler, in place of `n_jobs`.
    device : str, default=None
        "cuda": CAMEL computes on a GPU, and LLSF and JFSC search there.
    time_limit : float, default=None
        Seconds that a unit may take. One that takes longer fails, and its process is killed; so units run in worker
        processes, even one at a time.
    metrics : sequence of str, (name, function, best) or Measure, default=()
        Metrics to record beside the seven, under `more`; see :func:`skcamel.experiment.get_measure`. "all": those with a name.
    progress : {"auto", "bars", "lines", "quiet"} or callable, default=None
        "auto": bars if stderr is a terminal, else lines. A callable is given each `Event`. None is quiet.

    Returns
    -------
    Records
        All records of the folder, also those of earlier runs. Units that fail raise nothing: a warning counts them, and
        `Records.failures` says why. A method that crashes or is killed in a worker process fails like one that raises.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.data import Dataset
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> records = run_study([Dataset(X, Y, name="made")], ["br", "camel"], preset="quick")
    >>> [(record["method"], record["fold"], round(record["hamming_loss"], 2)) for record in records][::3]
    [('br', 0, 0.33), ('camel', 0, 0.28)]
    """
    if time_limit is not None and not 0 < as_number(time_limit) < math.inf:
        raise ValueError(f"time_limit must be a number of seconds > 0, or None for no limit, got {time_limit!r}.")
    protocol = Protocol(seed, repeats, n_folds, folds, groups, split)
    plan = planned(datasets, methods, protocol, preset=preset, per_metric=per_metric, device=device, metrics=metrics)
    tasks, sources = plan.tasks, plan.sources
    if dask is None:  # workers of a cluster may have a GPU that this machine lacks
        for name in (device, *(getattr(method, "device", None) for method in plan.methods)):
            check_device(name)
    execute = executor(n_jobs, backend, dask, time_limit, len(tasks))
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary if out is None else out).absolute()  # methods may change directory
        with StudyFolder(path) as folder:
            before = Records(path)
            _refuse_other_data(before, sources)
            _refuse_other_metrics(before, tasks)
            folder.add_requests(plan.requests, {measure.name: measure.entry() for measure in plan.measures})
            _add_cards(folder, sources)
            _run(folder, tasks, {Unit.of(record).key for record in before}, execute, progress)
            folder.sweep()
        records = Records(path)
    records.asked = frozenset(task.unit.key for task in tasks)
    _warn_of_failures(records)
    return records


class UnitsFailed(UserWarning):
    """Some units of a study failed; the others are done."""


def _warn_of_failures(records: Records) -> None:
    failed = [failure for failure in records.failures if Unit.of(failure).key in records.asked]
    if failed:
        counted = f"{len(failed)} of {len(records.asked)} units failed, the first with {failed[0]['error']}"
        warnings.warn(f"{counted}; see Records.failures. The same call tries them again.", UnitsFailed, stacklevel=3)


def _run(folder: StudyFolder, tasks: Sequence[Task], done: set[str], execute: Executor, progress: str | Listener | None) -> None:
    """Run the units that are not done, and write down what becomes of them."""
    missing = [task for task in tasks if task.unit.key not in done]
    units, left = (Counter(task.unit.dataset for task in some) for some in (tasks, missing))
    with listener(progress, dict(units), dict(units - left)) as tell, closing(execute(missing)) as results:
        for finished, result in enumerate(results, len(tasks) - len(missing) + 1):
            folder.append(result.record)
            seconds = result.record.get("unit_seconds", 0.0)
            tell(Event(result.unit, "failed" if result.failed else "done", seconds, finished, len(tasks)))


def _refuse_other_data(records: Records, sources: Sequence[Source]) -> None:
    """A folder holds one version of a data set, or its means would mix two."""
    now = {source.name: source.sha256 for source in sources}
    for record in records:
        known = record.get("data_sha256")
        if known is not None and now.get(record["dataset"], known) != known:
            raise RecordsError(
                f"{records.folder} holds records of {record['dataset']} with other values than those given now; "
                "choose another folder, or give the data set another name."
            )


def _refuse_other_metrics(records: Records, tasks: Sequence[Task]) -> None:
    """A folder whose units were recorded without one of the metrics."""
    known = {Unit.of(record).key: record for record in records}
    lost: dict[str, int] = {}
    for task in tasks:
        record = known.get(task.unit.key, {"more": [measure.name for measure in task.measures]})
        for measure in task.measures:
            if measure.name not in record.get("more", ()):
                lost[measure.name] = lost.get(measure.name, 0) + 1
    if lost:
        raise RecordsError(
            f"{records.folder} holds {max(lost.values())} of the {len(tasks)} units without {', '.join(lost)}; choose another folder."
        )


def _add_cards(folder: StudyFolder, sources: Sequence[Source]) -> None:
    known = read_cards(folder.path)
    for source in sources:
        if source.name not in known:
            figures = {key: value for key, value in load(source).card().as_dict().items() if key not in CARD_FIGURES_TOO_LONG}
            folder.add_card(source.name, jsonable(figures, infinite=lambda _: None))
