"""Records ► mean and std of every cell, and the names and the rounding that all tables share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skcamel.experiment.records import PLACE, RecordsError, version_of
from skcamel.metrics.seven import LOSSES, RANKING, TITLES
from skcamel.text import count

Record = Mapping[str, Any]
Key = tuple[str, str, str]  # data set, metric, method
PRESETS = ("quick", "paper", "best")
REGULAR = ("cal500", "emotions", "genbase", "medical", "enron", "image", "scene", "yeast")
RCV1 = ("rcv1-s1", "rcv1-s2", "rcv1-s3", "rcv1-s4", "rcv1-s5")
LARGE = ("science", "arts", *RCV1, "business")
METHOD_TITLES = {  # in the order of tables
    "camel": "CAMEL",
    "camel-per-metric": "CAMEL, a model per metric",
    "br": "BR",
    "ecc": "ECC",
    "rakel": "RAkEL",
    "llsf": "LLSF",
    "jfsc": "JFSC",
    "jfsc-tuned": "JFSC, tuned threshold",
    "imcc": "IMCC",
    "extra-trees": "extra-trees",
    "random-forest": "random-forest",
    "logistic": "logistic",
    "svc": "svc",
}
CRITERIA = TITLES | {"each": "each metric by itself"}
BY_INDEX = "_ties_by_index"  # ends the name of a ranking metric under the other rule for ties
TIES = {
    "worst": "Ranking metrics: a tie counts as an error.",
    "index": (
        "Ranking metrics: tied labels are ranked by their index, as in the paper's software; where"
        " records of methods that hardly tie hold no such figures, a tie is an error."
    ),
}


class Figure(NamedTuple):
    """Mean and standard deviation (n - 1; NaN for one fold) over the folds that define a metric."""

    mean: float
    std: float
    folds: int


class Metric(NamedTuple):
    """A metric as tables show it, and which of its values is best: "largest" or "smallest".

    >>> Metric("Coverage", "smallest").heading, Metric("Coverage", "smallest").gain(0.25, 0.5)
    ('Coverage ↓', 0.25)
    """

    title: str
    best: str

    @property
    def heading(self) -> str:
        """Title and direction."""
        arrow = "↓" if self.best == "smallest" else "↑"
        return f"{self.title} {arrow}"

    def gain(self, value: float, reference: float) -> float:
        """How much better `value` is than `reference`."""
        if self.best == "smallest":
            return reference - value
        return value - reference


SEVEN = {
    name: Metric(title, "smallest" if name in LOSSES else "largest")
    for name, title in TITLES.items()
}


def rounded(value: float, digits: int = 3) -> str:
    """A figure as tables, pages and commands print it: the nearest decimal, never minus zero.

    >>> rounded(0.0125), rounded(-0.0004), rounded(1.249, 2)
    ('0.013', '0.000', '1.25')
    """
    text = f"{value:.{digits}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def thousandths(value: float) -> int:
    """A figure in whole thousandths; two are equal exactly where :func:`rounded` prints them alike.

    >>> thousandths(0.3124), thousandths(0.0125), thousandths(0.1 + 0.2) == thousandths(0.3)
    (312, 13, True)
    """
    return int(rounded(value).replace(".", ""))


def mean_and_std(mean: float, std: float) -> str:
    """A cell of the tables; one fold has no standard deviation.

    >>> mean_and_std(0.3124, 0.01), mean_and_std(0.3124, float("nan"))
    ('0.312±0.010', '0.312')
    """
    return rounded(mean) if math.isnan(std) else f"{rounded(mean)}±{rounded(std)}"


def method_and_preset(method: str) -> tuple[str, str]:
    """Split what a summary calls a method: its name, and the preset where it has several.

    >>> method_and_preset("camel[best]"), method_and_preset("knn[5]")
    (('camel', 'best'), ('knn[5]', ''))
    """
    name, _, preset = method.removesuffix("]").rpartition("[")
    if method.endswith("]") and preset in PRESETS:
        return name, preset
    return method, ""


def base_of(method: str) -> str:
    """Name of a method without its preset."""
    return method_and_preset(method)[0]


def title_of(method: str) -> str:
    """Name to show for a method of a summary.

    >>> title_of("rakel"), title_of("camel[best]"), title_of("knn[5]")
    ('RAkEL', 'CAMEL (best)', 'knn[5]')
    """
    name, preset = method_and_preset(method)
    title = METHOD_TITLES.get(name, name)
    return f"{title} ({preset})" if preset else title


def metric_title(metric: str) -> str:
    """Name and direction of one of the seven metrics, as the paper prints them.

    >>> metric_title("coverage"), metric_title("micro_f1")
    ('Coverage ↓', 'Micro-averaging F1 ↑')
    """
    return SEVEN[metric].heading


@dataclass(frozen=True)
class Summary:
    """What tables are made of; a method with records of several presets appears once for each.

    Attributes
    ----------
    figures : mapping
        (data set, metric, method) ► `Figure`.
    measures : mapping
        Metrics to show: name ► `Metric`.
    criteria : mapping
        (data set, method) ► what selected the hyper-parameters: a metric, "each", or "".
    expected_folds : mapping
        (data set, method) ► number of folds over all seeds.
    protocol : str
        Folds and seeds, in words.
    remarks : tuple of str
        What else readers of the figures must know.
    """

    figures: Mapping[Key, Figure]
    measures: Mapping[str, Metric]
    criteria: Mapping[tuple[str, str], str]
    expected_folds: Mapping[tuple[str, str], int]
    protocol: str
    remarks: tuple[str, ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """In the paper's order, then others by name."""
        return ordered((method for *_, method in self.figures), [*METHOD_TITLES])

    @property
    def datasets(self) -> tuple[str, ...]:
        """In the paper's order, then others by name."""
        return ordered((dataset for dataset, *_ in self.figures), [*REGULAR, *LARGE])

    def notes(self, datasets: Sequence[str] | None = None) -> list[str]:
        """What readers of a table of these data sets must know; None: of all."""
        notes = [f"Mean ± std over {self.protocol}.", *self.remarks]
        selected: dict[str, dict[str, None]] = {}
        short = []
        for (dataset, method), criterion in self.criteria.items():
            if datasets is not None and dataset not in datasets:
                continue
            title = title_of(method)
            if criterion:
                selected.setdefault(criterion, {})[title] = None
            expected = self.expected_folds[dataset, method]
            finished = max(self.figures[dataset, name, method].folds for name in self.measures)
            if finished < expected:
                short.append(f"{dataset} {title} {finished} of {expected}")
        for criterion, titles in selected.items():
            words = CRITERIA.get(criterion, criterion)
            notes.append(f"{', '.join(titles)}: hyper-parameters selected by {words}.")
        if short:
            notes.append(f"Folds finished so far: {', '.join(short)}.")
        return notes


def ordered(names: Iterable[str], known: list[str]) -> tuple[str, ...]:
    """Names that are known in their order, then others."""
    places = {name: place for place, name in enumerate(known)}
    return tuple(sorted({*names}, key=lambda name: (places.get(base_of(name), len(known)), name)))


def summarise(
    records: Iterable[Record],
    *,
    preset: str | None = None,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    ties: str = "worst",
) -> Summary:
    """Mean and standard deviation of every metric, data set and method.

    Parameters
    ----------
    records : Records, or iterable of mappings
        One per finished unit.
    preset : str, default=None
        Records of one preset alone.
    methods : sequence of str, default=None
        Records of these methods alone.
    metrics : sequence of str, default=None
        Metrics to show. None: the seven, then those that the study recorded beside them.
    ties : {"worst", "index"}, default="worst"
        Rule for tied labels in the ranking metrics: a tie is an error, or the higher label index
        comes first, where records hold such figures.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from skcamel.metrics import NAMES
    >>> place = {"dataset": "yeast", "method": "br", "preset": "paper", "seed": 0}
    >>> plan = {"n_folds": 2, "folds": "plain"}
    >>> records = [dict.fromkeys(NAMES, value) | place | plan | {"fold": fold}
    ...            for fold, value in enumerate([0.25, 0.75])]
    >>> summarise(records).figures["yeast", "coverage", "br"]
    Figure(mean=0.5, std=0.3535533905932738, folds=2)
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}, got {ties!r}.")
    if preset is not None:
        records = [one for one in records if one["preset"] == preset]
    if methods is not None:
        records = [one for one in records if one["method"] in methods]
    records = list(records)
    known = dict(SEVEN)
    for record in records:
        for name, best in record.get("metrics", {}).items():
            known[name] = Metric(name.replace("_", " "), best)
    figures: dict[Key, Figure] = {}
    criteria = {}
    expected = {}
    for place, rows in grouped(records).items():
        dataset, method = place
        criteria[place] = rows[0].get("criterion", "")
        expected[place] = rows[0]["n_folds"] * len({row["seed"] for row in rows})
        for metric in known:
            values = [_value(row, metric, ties) for row in rows if metric in row]
            if values:
                figures[dataset, metric, method] = figure_of(values)
    recorded = {metric for _, metric, _ in figures}
    if metrics is None:
        metrics = [name for name in known if name in recorded]
    for name in metrics:
        if name not in recorded:
            raise ValueError(f"The records hold no metric {name!r}; there are {', '.join(known)}.")
    measures = {name: known[name] for name in metrics}
    remarks = (TIES[ties], *out_of_date(records))
    return Summary(figures, measures, criteria, expected, _protocol(records), remarks)


def _value(record: Record, metric: str, ties: str) -> float:
    """A metric of a record, under a rule for ties where the record has it."""
    if ties == "index" and metric in RANKING:
        return record.get(f"{metric}{BY_INDEX}", record[metric])
    return record[metric]


def grouped(records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """Records of each data set and method; "camel[best]" where a method has several presets."""
    methods = [method for method, _ in {(one["method"], one["preset"]) for one in records}]
    groups: dict[tuple[str, str], list[Record]] = {}
    last = None
    for record in sorted(records, key=PLACE):
        place = PLACE(record)
        dataset, method, preset, seed, fold = place
        if place == last:
            raise RecordsError(
                f"The records hold {dataset}, {method}, preset {preset}, seed {seed}, fold {fold}"
                " more than once; a mean over different folds says nothing, so keep studies with"
                " different numbers of folds in different folders."
            )
        last = place
        if methods.count(method) > 1:
            method = f"{method}[{preset}]"
        groups.setdefault((dataset, method), []).append(record)
    return groups


def figure_of(values: Sequence[float]) -> Figure:
    """Mean and standard deviation of the values that are defined."""
    defined = np.array([value for value in values if value == value])
    mean = std = math.nan
    if len(defined):
        mean = float(defined.mean())
    if len(defined) > 1:
        std = float(defined.std(ddof=1))
    return Figure(mean, std, len(defined))


def _protocol(records: Sequence[Record]) -> str:
    folds = sorted({f"{row['n_folds']} {row['folds']}" for row in records})
    seeds = sorted({str(row["seed"]) for row in records})
    return f"{' or '.join(folds)} folds, seed{'s' * (len(seeds) > 1)} {', '.join(seeds)}"


def out_of_date(records: Sequence[Record]) -> list[str]:
    """Which records a new run would compute anew."""
    old: Counter[str] = Counter()
    for record in records:
        method = record["method"]
        now = version_of(method, record["preset"])
        if record.get("version", now) < now:
            old[method] += 1
    words = "of an earlier version; skcamel study computes them anew."
    return [
        f"{title_of(method)}: {count(number, 'record')} {words}" for method, number in old.items()
    ]


class Cost(NamedTuple):
    """Medians over the folds of one data set and method; NaN where no record says."""

    dataset: str
    method: str
    device: str
    n_train: float
    fit_seconds: float
    predict_seconds: float
    peak_memory_bytes: float


def costs(records: Iterable[Record]) -> list[Cost]:
    """What each method costs on each data set.

    >>> record = {"dataset": "yeast", "method": "br", "preset": "paper", "seed": 0, "device": "cpu"}
    >>> rows = [record | {"fold": fold, "fit_seconds": s} for fold, s in enumerate([1.0, 9.0, 2.0])]
    >>> costs(rows)[0].fit_seconds
    2.0
    """
    found = []
    for place, rows in grouped(list(records)).items():
        devices = {row.get("device", "cpu") for row in rows}
        values = [[row.get(name, math.nan) for name in Cost._fields[3:]] for row in rows]
        known = np.ma.masked_invalid(np.array(values, dtype=float))
        medians = np.ma.median(known, axis=0).filled(np.nan)
        found.append(Cost(*place, " and ".join(sorted(devices)), *medians.tolist()))
    return found
