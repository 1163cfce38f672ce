""":func:`run_study`: methods x data sets x folds ► units, of which those that are missing are computed and written down."""

from __future__ import annotations

import math
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import skcamel
from skcamel.arrays import check_device
from skcamel.camel.outputs import MultiLabelClassifier
from skcamel.checks import as_number, check_number, choice
from skcamel.data import DataError
from skcamel.data.dataset import Dataset
from skcamel.data.preparer import TablePreparer
from skcamel.experiment.compute import Source, Task
from skcamel.experiment.execute import Job, executor
from skcamel.experiment.folds import GROUPED, Division, opened, splits
from skcamel.experiment.identity import described, jsonable, settings_of
from skcamel.experiment.measures import Measure, get_measures
from skcamel.experiment.methods import FOLDS, CamelMethod, Method, get_method
from skcamel.experiment.records import Records, StudyFolder
from skcamel.experiment.units import NAME, SEED, RecordsError, Unit, read_cards
from skcamel.gone import without

KINDS = ("plain", "stratified", "given")
CARD_FIGURES_TOO_LONG = (
    "scumble_rows",
    "cooccurrence",
    "phi",
)  # one value per row or per pair of labels


class Event(NamedTuple):
    """Something became of a unit."""

    unit: Unit
    state: str  # "done" or "failed"
    seconds: float  # of the work
    finished: int  # units that need no more work in this run
    total: int


class UnitsFailed(UserWarning):
    """Some units of a study failed; the others are done."""


@without(
    backend="set it around the call, as in joblib.parallel_config(backend='threading')",
    dask="set it around the call: joblib.parallel_config(backend='dask')",
    keep="ask for all metrics= at the start",
    rerun="choose another folder for other metrics=",
    repeats="call it once for each seed=",
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
    groups: Any = None,
    split: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
    time_limit: float | None = None,
    metrics: Sequence[Any] = (),
    progress: Callable[[Event], None] | None = None,
) -> Records:
    """Run methods on data sets in outer folds, and keep a record of each unit: method, set and fold.

    Call it again with the same folder to run what is missing and to repeat what failed. One run at
    a time works in a folder.

    Parameters
    ----------
    datasets : sequence of str, path, Dataset or (name, any of these)
        Catalogue names, files of any known format, or data from Python, which need a name;
        ``("mine", any of these)`` and
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
        Shuffled folds, or those that spread each label evenly. "given": the training and test part
        that a data set brings, as a
        file ``mine-train.arff`` does that has a ``mine-test.arff`` beside it.
    groups : str, array of shape (n,) or mapping of these by data set, default=None
        Rows of one group stay in one fold: the groups, or the column that holds them, which then is
        no feature.
    split : path, sequence of (train, test) or mapping of these by data set, default=None
        Folds that are given: row numbers from 0 on, masks, or a file with one word for each row
        ("train" or "test", or the number of
        its fold) or JSON ``{"train": [...], "test": [...]}``, alone or in a list.
    n_jobs : int, default=None
        Units at the same time, each in a worker process; -1: one on each core. None: 1, or what
        ``joblib.parallel_config`` says.
        Another backend that ``joblib.parallel_config`` names, such as "dask" or "threading", runs
        the units in its own way.
    device : str, default=None
        "cuda": CAMEL computes on a GPU, and LLSF and JFSC search there.
    time_limit : float, default=None
        Seconds that a unit may take. One that takes longer fails, and its process is killed; so
        units run in worker
        processes, even one at a time.
    metrics : sequence of str, (name, function, best) or Measure, default=()
        Metrics to record beside the seven, under `more`; see
        :func:`skcamel.experiment.get_measure`. "all": those with a name.
    progress : callable, default=None
        Called with an `Event` after each unit.

    Returns
    -------
    Records
        All records of the folder, also those of earlier runs. Units that fail raise nothing: a
        warning counts them, and
        `Records.failures` says why. A method that crashes or is killed in a worker process fails
        like one that raises.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.data import Dataset
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> records = run_study([Dataset(X, Y, name="made")], ["br", "camel"], preset="quick")
    >>> [(record["method"], record["fold"], round(record["hamming_loss"], 2)) for record in records][::3]
    [('br', 0, 0.35), ('camel', 0, 0.32)]
    """
    if time_limit is not None and not 0 < as_number(time_limit) < math.inf:
        raise ValueError(
            f"time_limit must be a number of seconds > 0, or None for no limit, got {time_limit!r}."
        )
    if progress is not None and not callable(progress):
        raise TypeError(
            f"progress must be a function of an Event, got {progress!r}; the command skcamel study"
            " shows a bar."
        )
    protocol = Protocol(seed, n_folds, folds, groups, split)
    chosen = [
        get_method(spec, preset, per_metric=per_metric, device=device)
        for spec in _listed(methods, "methods")
    ]
    _refuse_twice("methods", [method.name for method in chosen])
    measures = get_measures(metrics)
    sources = protocol.sources(_listed(datasets, "datasets"), preset)
    for source in sources:
        _refuse_gaps(source, chosen)
    for name in {device, *(getattr(method, "device", None) for method in chosen)} - {None}:
        check_device(name)
    jobs = [
        job
        for source in sources
        for method in chosen
        for job in _jobs(source, method, protocol, preset, measures)
    ]
    execute = executor(n_jobs, time_limit, len(jobs))
    requests = _requests(sources, chosen, measures, protocol, preset)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary if out is None else out).absolute()  # methods may change directory
        with StudyFolder(path) as folder:
            before = Records(path)
            _refuse_other_data(before, sources)
            _refuse_other_metrics(before, jobs)
            folder.add_requests(requests, {measure.name: measure.entry() for measure in measures})
            _add_cards(folder, sources)
            known = {Unit.of(record).key for record in before}
            missing = [job for job in jobs if job[0].unit.key not in known]
            with closing(execute(missing)) as results:  # or workers would outlive an error
                for finished, result in enumerate(results, len(jobs) - len(missing) + 1):
                    folder.append(result.record)
                    if progress is not None:
                        state = "failed" if "error" in result.record else "done"
                        progress(
                            Event(
                                result.unit,
                                state,
                                result.record.get("unit_seconds", 0.0),
                                finished,
                                len(jobs),
                            )
                        )
            folder.sweep()
        records = Records(path)
    records.asked = frozenset(task.unit.key for task, _ in jobs)
    _warn_of_failures(records)
    return records


@dataclass(frozen=True)
class Protocol:
    """How data sets are divided; :func:`run_study` explains the fields."""

    seed: Any = 0
    n_folds: Any = None
    folds: str = "plain"
    groups: Any = None
    split: Any = None

    def __post_init__(self) -> None:
        choice(self.folds, KINDS, "folds")
        if (
            not isinstance(self.seed, Integral)
            or not SEED.fits(int(self.seed))
            or isinstance(self.seed, bool)
        ):
            raise ValueError(
                f"seed must be {SEED.words}, got {self.seed!r}; records are found again by it."
            )
        if self.split is not None and self.folds == "stratified":
            raise ValueError(
                "folds='stratified' are made, and split= gives them; leave one of them out."
            )
        for name in ("n_folds", "groups") if self.given else ():
            if (value := getattr(self, name)) is not None:
                raise ValueError(
                    f"{name}={value!r} decides about folds that are made; these are given. Leave it"
                    " out."
                )

    @property
    def given(self) -> bool:
        """Whether folds are given, not made."""
        return self.folds == "given" or self.split is not None

    @property
    def kind(self) -> str:
        """Of the folds, as units have it."""
        return "given" if self.given else self.folds if self.groups is None else GROUPED[self.folds]

    def sources(self, datasets: Sequence[Any], preset: str) -> list[Source]:
        """The data sets with their folds."""
        for name, value, alone in (
            ("groups", self.groups, isinstance(self.groups, str)),
            ("split", self.split, False),
        ):
            if (
                value is not None
                and not isinstance(value, Mapping)
                and not alone
                and len(datasets) > 1
            ):
                raise ValueError(
                    f"{name} is for one data set, and there are {len(datasets)}; give {{name of a"
                    f" data set: its {name}}}."
                )
        found = [
            opened(origin, groups=self.groups, given=self.given, split=self.split)
            for origin in datasets
        ]
        names = [dataset.name for dataset, _ in found]
        _refuse_twice("datasets", names)
        for what, value in (("groups", self.groups), ("split", self.split)):
            unknown = (
                [name for name in value if name not in names] if isinstance(value, Mapping) else []
            )
            if unknown:
                raise ValueError(
                    f"{what} has {unknown[0]!r}, which is no data set of this study; these are"
                    f" {', '.join(names)}."
                )
        return [self._source(dataset, division, preset) for dataset, division in found]

    def _source(self, dataset: Dataset, division: Division, preset: str) -> Source:
        folds = splits(
            dataset.Y, self.kind, self._count(dataset, division, preset), int(self.seed), division
        )
        return Source(dataset, tuple(folds), division.sha256, _preparer(dataset))

    def _count(self, dataset: Dataset, division: Division, preset: str) -> int:
        """Folds of a data set."""
        if self.given:
            return len(division.given)
        count = FOLDS[preset] if self.n_folds is None else self.n_folds
        check_number("n_folds", count, 2, whole=True)
        if dataset.n < count:
            raise ValueError(f"{dataset.name} has {dataset.n} rows, too few for n_folds={count}.")
        groups = count if division.groups is None else len(np.unique(division.groups))
        if groups < count:
            raise ValueError(f"{dataset.name} has {groups} groups, too few for n_folds={count}.")
        return int(count)  # records and keys take no integers of numpy


def _preparer(dataset: Dataset) -> TablePreparer | None:
    """What prepares a table in each fold. All rows say which columns name the rows, as a fold may not, and whether there are words."""
    if dataset.table is None:
        return None
    found = TablePreparer(scaling="auto")
    try:
        found.fit(dataset.table, dataset.Y)
    except ValueError as error:
        raise DataError(str(error), path=dataset.source) from error
    return TablePreparer(id=found.id_columns_, scaling=found.scaling_)


def _jobs(
    source: Source, method: Method, protocol: Protocol, preset: str, measures: tuple[Measure, ...]
) -> list[Job]:
    """A unit for each fold of a data set."""
    if (
        isinstance(method, CamelMethod)
        and source.preparer is not None
        and source.preparer.scaling == "rank"
    ):
        method = method.on_words()
    settings = settings_of(method)
    if source.division:
        settings["split"] = source.division
    if source.preparer is not None:
        settings["prepared"] = described(source.preparer)
    digest, n_folds, seed = source.dataset.sha256, len(source.folds), int(protocol.seed)
    units = [
        Unit(source.name, method.name, preset, fold, n_folds, protocol.kind, seed, settings, digest)
        for fold in range(n_folds)
    ]
    return [(Task(unit, method, measures), source) for unit in units]


def _requests(
    sources: Sequence[Source],
    methods: Sequence[Method],
    measures: Sequence[Measure],
    protocol: Protocol,
    preset: str,
) -> list[dict[str, Any]]:
    """What ``study.json`` says of a run: one entry for each number of folds."""
    told: dict[str, Any] = {
        "methods": [
            {"name": one.name, "settings": settings_of(one)} | _spec(one) for one in methods
        ]
    }
    told |= {"preset": preset, "folds": protocol.kind, "version_skcamel": skcamel.__version__}
    for name in ("groups", "split"):
        if isinstance(value := getattr(protocol, name), (str, os.PathLike)):
            told[name] = os.fspath(value)
    if measures:
        told["metrics"] = [measure.spec for measure in measures]
    by_count: dict[int, list[str]] = {}
    for source in sources:
        by_count.setdefault(len(source.folds), []).append(source.name)
    return [
        {"datasets": names, "seed": int(protocol.seed), "n_folds": count} | told
        for count, names in by_count.items()
    ]


def _spec(method: Method) -> dict[str, str]:
    spec = getattr(method, "spec", None)  # of those that a text named
    return {} if spec is None else {"spec": str(spec)}


def _refuse_gaps(source: Source, methods: Sequence[Method]) -> None:
    """Our methods refuse gaps, so all units would fail; others may take them."""
    refusing = [
        method.name
        for method in methods
        if isinstance(getattr(method, "estimator", None), MultiLabelClassifier)
    ]
    X = source.dataset.X
    gaps = (
        0
        if source.preparer is not None
        else int(np.isnan(X.data if sparse.issparse(X) else X).sum())
    )
    if gaps and refusing:
        raise ValueError(
            f"{source.name} has {gaps} gaps (NaN) among its features, which {refusing[0]} does not"
            " take; fill them in, or make a CSV file of it (skcamel.data.write_dataset) and name"
            " its --labels: each fold then prepares the table by its training rows."
        )


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if not NAME.fits(name):
            raise ValueError(
                f"{what} has the name {name!r}; records are told apart by name, give one of whole"
                " characters."
            )
        if count > 1:
            raise ValueError(
                f"{what} has {name!r} {count} times; records are told apart by name, give each"
                " another one."
            )


def _listed(given: Any, what: str) -> list[Any]:
    alone = isinstance(given, (str, os.PathLike, Dataset)) or not isinstance(given, Iterable)
    listed = [given] if alone else list(given)
    if not listed:
        raise ValueError(f"{what} is empty; name at least one.")
    return listed


def _refuse_other_data(records: Records, sources: Sequence[Source]) -> None:
    """A folder holds one version of a data set, or its means would mix two."""
    now = {source.name: source.dataset.sha256 for source in sources}
    for record in records:
        known = record.get("data_sha256")
        if known is not None and now.get(record["dataset"], known) != known:
            raise RecordsError(
                f"{records.folder} holds records of {record['dataset']} with other values than"
                " those given now; choose another folder, or give the data set another name."
            )


def _refuse_other_metrics(records: Records, jobs: Sequence[Job]) -> None:
    """A folder whose units were recorded without one of the metrics."""
    known = {Unit.of(record).key: record.get("more", {}) for record in records}
    lost: Counter[str] = Counter()
    for task, _ in jobs:
        if task.unit.key in known:
            lost.update(
                measure.name
                for measure in task.measures
                if measure.name not in known[task.unit.key]
            )
    if lost:
        number = max(lost.values())
        raise RecordsError(
            f"{records.folder} holds {number} of the {len(jobs)} units without {', '.join(lost)};"
            " choose another folder."
        )


def _add_cards(folder: StudyFolder, sources: Sequence[Source]) -> None:
    known = read_cards(folder.path)
    for source in sources:
        if source.name not in known:
            card = source.dataset.card().as_dict()
            figures = {
                key: value for key, value in card.items() if key not in CARD_FIGURES_TOO_LONG
            }
            folder.add_card(source.name, jsonable(figures, infinite=lambda _: None))


def _warn_of_failures(records: Records) -> None:
    failed = [failure for failure in records.failures if Unit.of(failure).key in records.asked]
    if failed:
        counted = (
            f"{len(failed)} of {len(records.asked)} units failed, the first with"
            f" {failed[0]['error']}"
        )
        warnings.warn(
            f"{counted}; see Records.failures. The same call tries them again.",
            UnitsFailed,
            stacklevel=4,
        )
