"""What a user asks for ► the units of a study: methods x data sets x folds x repeats, checked before any work."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

import skcamel
from skcamel.checks import check_count
from skcamel.data.dataset import Dataset
from skcamel.estimator import MultiLabelClassifier
from skcamel.experiment.compute import Source, Task, as_source
from skcamel.experiment.folds import GROUPED, repeat_seeds
from skcamel.experiment.identity import described, settings_of
from skcamel.experiment.measures import Measure, get_measures
from skcamel.experiment.methods import FOLDS, CamelMethod, Method, get_method
from skcamel.experiment.units import NAME, SEED, Unit
from skcamel.metrics.conventions import choice

KINDS = ("plain", "stratified", "given")


@dataclass(frozen=True)
class Protocol:
    """How data sets are divided; :func:`skcamel.experiment.run_study` explains the fields."""

    seed: Any = 0
    repeats: Any = 1
    n_folds: Any = None
    folds: str = "plain"
    groups: Any = None
    split: Any = None

    def __post_init__(self) -> None:
        choice(self.folds, KINDS, "folds")
        check_count("repeats", self.repeats)
        if not isinstance(self.seed, Integral) or not SEED.fits(int(self.seed)) or isinstance(self.seed, bool):
            raise ValueError(f"seed must be {SEED.words}, got {self.seed!r}; records are found again by it.")
        if self.split is not None and self.folds == "stratified":
            raise ValueError("folds='stratified' are made, and split= gives them; leave one of them out.")
        clash = [name for name, value in (("n_folds", self.n_folds), ("groups", self.groups)) if value is not None]
        clash += ["repeats"] * (self.repeats > 1)
        if self.given and clash:
            raise ValueError(f"{clash[0]}={getattr(self, clash[0])!r} decides about folds that are made; these are given. Leave it out.")

    @property
    def given(self) -> bool:
        """Whether folds are given, not made."""
        return self.folds == "given" or self.split is not None

    @property
    def kind(self) -> str:
        """Of the folds, as units have it."""
        return "given" if self.given else self.folds if self.groups is None else GROUPED[self.folds]

    def sources(self, datasets: Sequence[Any]) -> list[Source]:
        """The data sets with their groups or given folds."""
        for name, value, alone in (("groups", self.groups, isinstance(self.groups, str)), ("split", self.split, False)):
            if value is not None and not isinstance(value, Mapping) and not alone and len(datasets) > 1:
                raise ValueError(f"{name} is for one data set, and there are {len(datasets)}; give {{name of a data set: its {name}}}.")
        sources = [as_source(origin, groups=self.groups, given=self.given, split=self.split) for origin in datasets]
        names = [source.name for source in sources]
        for what, value in (("groups", self.groups), ("split", self.split)):
            unknown = [name for name in value if name not in names] if isinstance(value, Mapping) else []
            if unknown:
                raise ValueError(f"{what} has {unknown[0]!r}, which is no data set of this study; these are {', '.join(names)}.")
        return sources

    def count(self, source: Source, preset: str) -> int:
        """Folds of a data set."""
        if self.given:
            return len(source.division.given)
        count = FOLDS[preset] if self.n_folds is None else self.n_folds
        check_count("n_folds", count, least=2)
        if source.n < count:
            raise ValueError(f"{source.name} has {source.n} rows, too few for n_folds={count}.")
        groups = count if source.division.groups is None else len(np.unique(source.division.groups))
        if groups < count:
            raise ValueError(f"{source.name} has {groups} groups, too few for n_folds={count}.")
        return int(count)  # records and keys take no integers of numpy

    def told(self) -> dict[str, str]:
        """What a command needs beside kind, number and seed."""
        return {name: os.fspath(value) for name in ("groups", "split") if isinstance(value := getattr(self, name), (str, os.PathLike))}


@dataclass(frozen=True)
class Plan:
    """The units of a run, and how ``study.json`` states them."""

    tasks: list[Task]
    sources: list[Source]
    methods: list[Method]
    measures: tuple[Measure, ...]
    requests: list[dict[str, Any]]


def planned(
    datasets: Any,
    methods: Any,
    protocol: Protocol,
    *,
    preset: str,
    per_metric: bool,
    device: str | None,
    metrics: Sequence[Any],
) -> Plan:
    """All units that are asked for; :func:`skcamel.experiment.run_study` explains the parameters."""
    chosen = [get_method(spec, preset, per_metric=per_metric, device=device) for spec in _listed(methods, "methods")]
    measures = get_measures(metrics)
    sources = protocol.sources(_listed(datasets, "datasets"))
    _refuse_twice("methods", [method.name for method in chosen])
    _refuse_twice("datasets", [source.name for source in sources])
    for source in sources:
        _refuse_gaps(source, chosen)
    counts = {source.name: protocol.count(source, preset) for source in sources}
    on = {source.name: [(own, settings_of(own) | _of_source(source)) for own in (_on(source, one) for one in chosen)] for source in sources}
    seeds = repeat_seeds(int(protocol.seed), int(protocol.repeats))
    tasks = [
        Task(
            Unit(
                source.name,
                method.name,
                preset,
                fold,
                counts[source.name],
                protocol.kind,
                seed,
                settings,
                source.sha256,
            ),
            method,
            source,
            measures,
        )
        for source in sources
        for seed in seeds
        for method, settings in on[source.name]
        for fold in range(counts[source.name])
    ]
    told = {"methods": [{"name": one.name, "settings": settings_of(one)} | _spec(one) for one in chosen], "preset": preset}
    told |= {"folds": protocol.kind, "version_skcamel": skcamel.__version__} | protocol.told()
    told |= {"metrics": [measure.spec for measure in measures]} if measures else {}
    requests = [
        {"datasets": [name for name, own in counts.items() if own == count], "seed": seed, "n_folds": count} | told
        for seed in seeds
        for count in dict.fromkeys(counts.values())
    ]
    return Plan(tasks, sources, chosen, measures, requests)


def _on(source: Source, method: Method) -> Method:
    """The method for the rows of a source."""
    has_words = source.preparer is not None and source.preparer.scaling == "rank"
    return method.on_words() if has_words and isinstance(method, CamelMethod) else method


def _refuse_gaps(source: Source, methods: Sequence[Method]) -> None:
    """Our methods refuse gaps, so all units would fail; others may take them."""
    refusing = [method.name for method in methods if isinstance(getattr(method, "estimator", None), MultiLabelClassifier)]
    if source.gaps and refusing:
        raise ValueError(
            f"{source.name} has {source.gaps} gaps (NaN) among its features, which {refusing[0]} does not take; fill them in, or write it "
            "as a table ('skcamel datasets convert mine.arff mine.csv', then --labels), which each fold prepares by its training rows."
        )


def _of_source(source: Source) -> dict[str, Any]:
    """What decides about a unit beside its method: groups, given folds, and how a table is prepared."""
    split = {"split": source.division.sha256} if source.division.sha256 else {}
    return split if source.preparer is None else split | {"prepared": described(source.preparer)}


def _spec(method: Method) -> dict[str, str]:
    spec = getattr(method, "spec", None)  # of those that a text named
    return {} if spec is None else {"spec": str(spec)}


def _listed(given: Any, what: str) -> list[Any]:
    alone = isinstance(given, (str, os.PathLike, Dataset)) or not isinstance(given, Iterable)
    listed = [given] if alone else list(given)
    if not listed:
        raise ValueError(f"{what} is empty; name at least one.")
    return listed


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if not NAME.fits(name):
            raise ValueError(f"{what} has the name {name!r}; records are told apart by name, give one of whole characters.")
        if count > 1:
            raise ValueError(f"{what} has {name!r} {count} times; records are told apart by name, give each another one.")
