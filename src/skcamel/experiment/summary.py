"""Records ► mean and std over folds of every cell, the selection criterion that they show, and what a fold costs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from skcamel.checks import choice
from skcamel.experiment.paper import (
    LARGE,
    REGULAR,
    SEVEN,
    TITLES_IN_ORDER,
    Key,
    Metric,
    PaperFigure,
    method_and_preset,
    paper_figures,
    title_of,
)
from skcamel.experiment.records import Records
from skcamel.experiment.units import PLACE, RecordsError, read_metrics
from skcamel.metrics.conventions import NAMES, TITLES

Record = Mapping[str, Any]
Place = tuple[str, str]  # data set, method
SELECTIONS = (*NAMES, "each", "nearest")
# ends the name of a metric under another rule for ties; shown only where it is asked for
BY_INDEX = "_ties_by_index"
AFTERWARDS = (
    "a diagnosis made afterwards: per set the criterion whose results lie nearest the paper's row"
)


class Figure(NamedTuple):
    """One cell: mean and standard deviation (n - 1, NaN for one fold) over the folds in which the metric is defined."""

    mean: float
    std: float
    folds: int


@dataclass(frozen=True)
class Summary:
    """What tables are made of; a method with results under several presets appears once for each, as "camel[best]"."""

    figures: Mapping[Key, Figure]  # of data set, metric and method
    criteria: Mapping[
        Place, str
    ]  # selection criterion shown: a metric, "each", or "" where nothing was selected
    expected_folds: Mapping[Place, int]  # that its study asks for, over all seeds
    protocol: str  # folds and seeds, in words
    afterwards: frozenset[
        Place
    ]  # whose criterion was chosen by looking at the paper's row, see `AFTERWARDS`
    left_out: Mapping[Place, int] = field(
        default_factory=dict
    )  # records of earlier settings, see :func:`newest`
    measures: Mapping[str, Metric] = field(
        default_factory=lambda: SEVEN
    )  # of the metrics that are shown, in their order
    hidden: Mapping[str, Metric] = field(
        default_factory=dict
    )  # of those that have figures and are not shown
    remarks: tuple[str, ...] = ()  # what else a reader of the figures must know

    @property
    def methods(self) -> tuple[str, ...]:
        """In the paper's order, then others by name."""
        return _in_order({method for *_, method in self.figures}, tuple(TITLES_IN_ORDER), base_of)

    @property
    def datasets(self) -> tuple[str, ...]:
        """In the paper's order, then others by name."""
        return _in_order({dataset for dataset, *_ in self.figures}, REGULAR + LARGE)

    def showing(self, metrics: Sequence[str]) -> Self:
        """The same figures, of which tables show these metrics in this order."""
        known = {**self.measures, **self.hidden}
        if unknown := [name for name in metrics if name not in known]:
            raise ValueError(
                f"The records hold no metric {', '.join(map(repr, unknown))}; there are"
                f" {', '.join(known)}."
            )
        shown = {name: known[name] for name in metrics}
        return replace(
            self, measures=shown, hidden={name: known[name] for name in known if name not in shown}
        )

    def notes(self, datasets: Sequence[str] | None = None) -> list[str]:
        """What a reader of a table of these data sets must know; None: of all."""
        shown = self.datasets if datasets is None else tuple(datasets)
        found: dict[str, list[str]] = {}
        for method in self.methods:
            found.setdefault(self._selected_by(method, shown), []).append(title_of(method))
        selected = [
            f"{', '.join(methods)}: hyper-parameters selected by {text}."
            for text, methods in found.items()
            if text
        ]
        notes = [f"Mean ± std over {self.protocol}.", *selected, *self.remarks]
        return [*notes, *self._missing_folds(shown), *self.left_out_notes(shown)]

    def left_out_notes(self, datasets: Sequence[str] | None = None) -> list[str]:
        """Say of which methods there are records of earlier settings, and that no figure shows them."""
        counts: Counter[str] = Counter()
        for (dataset, method), number in self.left_out.items():
            counts[method] += number if datasets is None or dataset in datasets else 0
        return [
            f"{title_of(method)}: {number} record{'s' * (number > 1)} of earlier settings"
            f" {'are' if number > 1 else 'is'} left out."
            for method, number in counts.items()
            if number
        ]

    def _selected_by(self, method: str, datasets: tuple[str, ...]) -> str:
        """Say by which criterion the hyper-parameters of a method were selected; nothing where none were."""
        criteria = {
            dataset: self.criteria[dataset, method]
            for dataset in datasets
            if (dataset, method) in self.criteria
        }
        kinds = dict.fromkeys(criteria.values())
        if not any(kinds):
            return ""
        words = {
            kind: "each metric by itself" if kind == "each" else TITLES.get(kind, kind or "nothing")
            for kind in kinds
        }
        several = ", ".join(
            f"{words[criterion]} on {dataset}" for dataset, criterion in criteria.items()
        )
        text = several if len(kinds) > 1 else words[next(iter(kinds))]
        afterwards = any((dataset, method) in self.afterwards for dataset in datasets)
        return f"{text}{f' ({AFTERWARDS})' if afterwards else ''}"

    def _missing_folds(self, datasets: tuple[str, ...]) -> list[str]:
        """Cells with fewer folds than asked for: an unfinished study."""
        most: dict[Place, int] = {}
        for (dataset, _, method), figure in self.figures.items():
            most[dataset, method] = max(figure.folds, most.get((dataset, method), 0))
        short = [
            f"{dataset} {title_of(method)} {folds} of {self.expected_folds[dataset, method]}"
            for (dataset, method), folds in most.items()
            if dataset in datasets and folds < self.expected_folds[dataset, method]
        ]
        return [f"Folds finished so far: {', '.join(short)}."] if short else []


def summarise(
    records: Iterable[Record],
    *,
    selected_by: str | None = None,
    preset: str | None = None,
    measures: Mapping[str, Metric] | None = None,
) -> Summary:
    """Mean and std of every metric, data set and method.

    Parameters
    ----------
    records : iterable of mappings
        One per finished unit.
    selected_by : str, default=None
        Which outcome to show of a method that keeps one per selection criterion. None: that of the
        record itself; a metric's
        name; "each": every metric by itself; "nearest": per set the one criterion whose seven means
        lie nearest the paper's row
        (mean distance in the paper's std), a diagnosis made afterwards. Methods with one outcome
        show that.
    preset : str, default=None
        Records of one preset alone. None: all.
    measures : mapping, default=None
        Metrics beside the seven, by name. None: those that ``study.json`` describes, if `records`
        is a :class:`Records`.

    Returns
    -------
    Summary

    Examples
    --------
    >>> records = [dict.fromkeys(NAMES, value) | {"dataset": "yeast", "method": "br", "preset": "paper", "fold": fold, "seed": 0,
    ...            "n_folds": 2, "folds": "plain", "criterion": ""} for fold, value in enumerate([0.25, 0.75])]
    >>> summarise(records).figures["yeast", "coverage", "br"]
    Figure(mean=0.5, std=0.3535533905932738, folds=2)
    """
    if selected_by is not None:
        choice(selected_by, SELECTIONS, "selected_by")
    further = further_measures(records) if measures is None else measures
    kept, earlier = newest(
        [record for record in records if preset is None or record["preset"] == preset]
    )
    groups = grouped(kept)
    figures: dict[Key, Figure] = {}
    criteria: dict[Place, str] = {}
    afterwards = set()
    for (dataset, method), rows in groups.items():
        wanted = selected_by
        if selected_by == "nearest":
            wanted = nearest_criterion(rows, dataset, base_of(method))
            if wanted is not None:
                afterwards.add((dataset, method))
        for metric in NAMES:
            figures[dataset, metric, method] = _figure(
                [outcome(row, metric, wanted) for row in rows]
            )
        for metric in further:
            if any(metric in row.get("more", ()) for row in rows):
                figures[dataset, metric, method] = _figure(
                    [further_outcome(row, metric, wanted) for row in rows]
                )
        criteria[dataset, method] = _criterion_shown(rows[0], wanted)
    expected = {
        key: rows[0]["n_folds"] * len({row["seed"] for row in rows}) for key, rows in groups.items()
    }
    names = _names([*kept, *earlier])
    left_out = Counter(
        (record["dataset"], names[record["method"], record["preset"]]) for record in earlier
    )
    recorded = {metric for _, metric, _ in figures}
    known = SEVEN | {name: measure for name, measure in further.items() if name in recorded}
    found = Summary(
        figures,
        criteria,
        expected,
        _protocol(groups),
        frozenset(afterwards),
        left_out,
        hidden=known,
    )
    return found.showing([name for name in known if not name.endswith(BY_INDEX)])


def further_measures(records: Iterable[Record]) -> dict[str, Metric]:
    """Metrics beside the seven that the folder of some records describes; records of no folder have none."""
    described = read_metrics(records.folder) if isinstance(records, Records) else {}
    return {name: Metric(metric["title"], metric["best"]) for name, metric in described.items()}


def further_outcome(record: Record, metric: str, selected_by: str | None) -> float:
    """One metric beside the seven; of several outcomes it is that of the model selected by average precision, undefined for others."""
    several = f"{NAMES[0]}_by_{NAMES[0]}" in record
    value = (
        None
        if several and selected_by not in (None, "each", "average_precision")
        else record.get("more", {}).get(metric)
    )
    return math.nan if value is None else value


def outcome(record: Record, metric: str, selected_by: str | None) -> float:
    """One metric of one unit, under the criterion asked for where the record keeps it, else its own."""
    criterion = metric if selected_by == "each" else selected_by
    return record.get(f"{metric}_by_{criterion}", record[metric])


def nearest_criterion(rows: list[Record], dataset: str, method: str) -> str | None:
    """The criterion whose seven means lie nearest the paper's row; None without such outcomes or such a row."""
    printed = paper_figures()
    kept = [name for name in NAMES if f"{name}_by_{name}" in rows[0]]
    if not kept or (dataset, NAMES[0], method) not in printed:
        return None
    return min(
        kept,
        key=lambda criterion: _distance(
            rows, criterion, [printed[dataset, metric, method] for metric in NAMES]
        ),
    )


def base_of(method: str) -> str:
    """Name of a method without its preset.

    >>> base_of("camel[best]"), base_of("br")
    ('camel', 'br')
    """
    return method_and_preset(method)[0]


def _in_order(
    names: Iterable[str], known: tuple[str, ...], base: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Names whose base is known, in that order, then others by name."""
    return tuple(
        sorted(
            names,
            key=lambda name: (known.index(base(name)) if base(name) in known else len(known), name),
        )
    )


def _distance(rows: list[Record], criterion: str, printed: list[PaperFigure]) -> float:
    """Mean distance from the paper's row in its standard deviations, over the metrics that are defined."""
    means = [_figure([outcome(row, metric, criterion) for row in rows]).mean for metric in NAMES]
    distances = [
        abs(mean - cell.mean) / cell.std
        for mean, cell in zip(means, printed, strict=True)
        if not np.isnan(mean)
    ]
    return float(np.mean(distances)) if distances else np.inf


def _criterion_shown(record: Record, selected_by: str | None) -> str:
    if selected_by is None:
        return record["criterion"]
    kept = NAMES[0] if selected_by == "each" else selected_by
    return selected_by if f"{kept}_by_{kept}" in record else record["criterion"]


def newest(records: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Records to show, and those of earlier settings; RecordsError if no record says which settings are newer.

    A mean over two settings of a method says nothing. Of each data set, method and preset the
    settings of the record that was
    finished last are shown, with all their folds and seeds; records without a time are older than
    others.

    >>> old = {"dataset": "yeast", "method": "br", "preset": "paper", "seed": 0, "fold": 0, "settings": {"tol": 1}}
    >>> new = old | {"settings": {"tol": 2}, "finished_at": "2026-11-15T20:52:37.123456Z"}
    >>> newest([new, old]) == ([new], [old])
    True
    """
    groups: dict[tuple[str, ...], dict[str, list[Record]]] = {}
    for record in records:
        place = PLACE(record)[:3]
        groups.setdefault(place, {}).setdefault(
            json.dumps(record.get("settings", {}), sort_keys=True), []
        ).append(record)
    kept: list[Record] = []
    earlier: list[Record] = []
    for (dataset, method, preset), by_settings in groups.items():
        *others, last = sorted(by_settings.values(), key=_finished)
        if others and _finished(others[-1]) == _finished(last):
            raise RecordsError(
                f"The records hold {dataset}, {method}, preset {preset} under different settings,"
                " and do not say which finished last; a mean over both says nothing, so pass the"
                " records of one of them, or move the others to another folder."
            )
        kept += last
        earlier += [record for group in others for record in group]
    return kept, earlier


def _finished(records: Iterable[Record]) -> str:
    """When the last of some records was finished; empty, before all others, if none says."""
    return max(record.get("finished_at", "") for record in records)


def grouped(records: list[Record]) -> dict[Place, list[Record]]:
    """Records of each data set and method, in any order they came; presets apart where a method has several."""
    names = _names(records)
    groups: dict[Place, list[Record]] = {}
    seen: set[tuple[Any, ...]] = set()
    for record in sorted(records, key=PLACE):
        if PLACE(record) in seen:
            dataset, method, preset, seed, fold = PLACE(record)
            raise RecordsError(
                f"The records hold {dataset}, {method}, preset {preset}, seed {seed}, fold {fold}"
                " more than once, under different folds; a mean over both says nothing, so pass"
                " the records of one of them (command line: tables --folds, --n-folds)."
            )
        seen.add(PLACE(record))
        groups.setdefault(
            (record["dataset"], names[record["method"], record["preset"]]), []
        ).append(record)
    return groups


def _names(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """What a summary calls each method under each preset: by its name, with the preset where it has several."""
    pairs = dict.fromkeys((record["method"], record["preset"]) for record in records)
    several = Counter(method for method, _ in pairs)
    return {
        (method, preset): f"{method}[{preset}]" if several[method] > 1 else method
        for method, preset in pairs
    }


def _figure(values: list[float]) -> Figure:
    defined = np.array([value for value in values if value is not None and not np.isnan(value)])
    if not len(defined):
        return Figure(np.nan, np.nan, 0)
    return Figure(
        float(defined.mean()),
        float(defined.std(ddof=1)) if len(defined) > 1 else np.nan,
        len(defined),
    )


def _protocol(groups: Mapping[Place, list[Record]]) -> str:
    rows = [row for group in groups.values() for row in group]
    folds = sorted({f"{row['n_folds']} {row['folds']}" for row in rows})
    seeds = sorted({str(row["seed"]) for row in rows})
    return (
        f"{' or '.join(folds) or 'no'} folds, seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}"
        if rows
        else "no folds"
    )


class Cost(NamedTuple):
    """Medians over the folds of one data set and method; NaN if no record says.

    The peak of memory is what a unit needed on top of what its process held before; not every
    system knows it.
    """

    dataset: str
    method: str
    device: str
    n_train: float
    fit_seconds: float
    predict_seconds: float
    peak_memory_bytes: float


def costs(records: Iterable[Record]) -> list[Cost]:
    """What each method costs on each data set, from its newest settings.

    >>> record = {"dataset": "yeast", "method": "br", "preset": "paper", "seed": 0, "device": "cpu", "predict_seconds": 0.5}
    >>> costs([record | {"fold": fold, "fit_seconds": seconds} for fold, seconds in enumerate([1.0, 9.0, 2.0])])[0][4:]
    (2.0, 0.5, nan)
    """
    found = []
    for place, rows in grouped(newest(records)[0]).items():
        devices = " and ".join(sorted({row.get("device", "cpu") for row in rows}))
        known = ([row[key] for row in rows if row.get(key) is not None] for key in Cost._fields[3:])
        found.append(
            Cost(
                *place,
                devices,
                *(float(median(values)) if values else math.nan for values in known),
            )
        )
    return found
