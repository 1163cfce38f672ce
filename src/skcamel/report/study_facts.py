"""A study folder ► what the sections of its page draw from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from skcamel.experiment.paper import METRIC_TITLES, paper_figures, title_of
from skcamel.experiment.records import Records
from skcamel.experiment.significance import Significance, compare_methods
from skcamel.experiment.summary import AFTERWARDS, Cost, Record, Summary, base_of, costs, newest, summarise
from skcamel.experiment.units import Run, read_cards, read_runs, read_sensitivity
from skcamel.metrics.conventions import NAMES

AS_RECORDED = ""
CHOICES = {
    AS_RECORDED: "as each preset defines it",
    "each": "each metric by itself",
    **{name: METRIC_TITLES[name] for name in NAMES},
    "nearest": f"nearest the paper’s row, {AFTERWARDS.partition(':')[0]}",
}


@dataclass(frozen=True)
class StudyFacts:
    """Records, and what lies beside them in their folder."""

    records: Sequence[Record]
    failures: Sequence[Record]
    runs: Sequence[Run]
    cards: Mapping[str, Mapping[str, Any]]
    curves: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, records: Iterable[Record] | str | os.PathLike[str]) -> StudyFacts:
        """Read a folder, or take records; those of no folder have neither cards nor curves."""
        if isinstance(records, (str, os.PathLike)):
            records = Records(records)
        if not isinstance(records, Records):
            return cls(list(records), [], [], {}, [])
        folder = Path(records.folder)
        return cls(list(records), records.failures, read_runs(folder), read_cards(folder), read_sensitivity(folder))

    @cached_property
    def shown(self) -> Sequence[Record]:
        """Records that the figures show: those of the newest settings."""
        return newest(self.records)[0]

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Figures under every selection criterion that can be chosen; `AS_RECORDED` always can."""
        kept = [name for name in NAMES if any(f"{name}_by_{name}" in record for record in self.records)]
        names = [AS_RECORDED, *(["each", *kept] if kept else []), *(["nearest"] if kept and self.is_in_paper else [])]
        return {name: summarise(self.records, selected_by=name or None) for name in CHOICES if name in names}

    @cached_property
    def summary(self) -> Summary:
        """Figures as recorded."""
        return summarise(self.records)

    @property
    def is_in_paper(self) -> bool:
        """Whether the paper has any of the data sets with any of the methods."""
        return any((dataset, NAMES[0], base_of(method)) in paper_figures() for dataset, _, method in self.summary.figures)

    @property
    def presets(self) -> list[str]:
        """All that occur."""
        return sorted({record["preset"] for record in self.records})

    def preset_of(self, method: str) -> str:
        """The preset of a method of the summary: in its name where it has several, else its only one."""
        own = next((record["preset"] for record in self.records if record["method"] == method), None)
        return own or method.removesuffix("]").rpartition("[")[2]

    @cached_property
    def fair_methods(self) -> tuple[str, ...]:
        """Methods to be tested against each other: those of the preset that has most of them, or all where none has two."""
        groups = [[method for method in self.summary.methods if self.preset_of(method) == preset] for preset in self.presets]
        largest = max(groups, key=len)
        return tuple(largest) if len(largest) > 1 else self.summary.methods

    @cached_property
    def tests(self) -> dict[str, Significance]:
        """Tests of every metric for which at least two methods share at least two data sets."""
        return tests_of(self.summary.figures, self.fair_methods)

    @cached_property
    def costs(self) -> list[Cost]:
        """What a fold of each data set and method takes, in the order of the summary."""
        order = {name: d for d, name in enumerate(self.summary.datasets)}, {name: m for m, name in enumerate(self.summary.methods)}
        return sorted(costs(self.records), key=lambda cost: (order[0][cost.dataset], order[1][cost.method]))

    def short_title(self, method: str) -> str:
        """Name of a method among `fair_methods`, without a preset that all of them share."""
        return title_of(method if self.preset_is_mixed else base_of(method))

    @property
    def preset_is_mixed(self) -> bool:
        """Whether `fair_methods` come from several presets."""
        return len({self.preset_of(method) for method in self.fair_methods}) > 1


def tests_of(figures: Mapping[Any, Any], methods: Sequence[str]) -> dict[str, Significance]:
    """Tests of every metric that allows them, with the first method as control."""
    found = {}
    for metric in NAMES:
        shared = [
            dataset
            for dataset in dict.fromkeys(dataset for dataset, *_ in figures)
            if all((figure := figures.get((dataset, metric, method))) and figure.mean == figure.mean for method in methods)
        ]
        if len(methods) > 1 and len(shared) > 1:
            found[metric] = compare_methods(figures, metric, methods=methods, control=methods[0])
    return found
