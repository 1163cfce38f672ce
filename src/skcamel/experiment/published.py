"""Published tables to compare a study with: the paper's, or figures of one's own."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from skcamel.experiment.summary import (
    Figure,
    Key,
    Metric,
    Record,
    Summary,
    base_of,
    summarise,
    thousandths,
)

PAPER_METHODS = ("camel", "br", "ecc", "rakel", "llsf", "jfsc")
PRINTED_AS = {"camel-per-metric": "camel", "jfsc-tuned": "jfsc"}
CRITERIA = {
    "no_worse": "no worse than the figure printed for the same method by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure printed for any method",
    "near_best": "no worse than that best figure by more than one std (the larger of both)",
}


class PaperFigure(NamedTuple):
    """One cell of a published table."""

    mean: float
    std: float  # NaN where none is printed
    bold: bool  # as the paper prints it


@dataclass(frozen=True)
class Published:
    """Figures that somebody printed.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► mean, std and whether it is bold.
    name : str, default="paper"
        What tables call it.
    """

    figures: Mapping[Key, PaperFigure]
    name: str = "paper"

    def of(self, dataset: str, metric: str, method: str) -> PaperFigure | None:
        """The figure for a method of a summary: "camel[best]" and "camel-per-metric" are CAMEL."""
        name = base_of(method)
        return self.figures.get((dataset, metric, PRINTED_AS.get(name, name)))

    def best(
        self, dataset: str, metric: str, measure: Metric
    ) -> tuple[PaperFigure, tuple[str, ...]] | None:
        """The best figure of any method, the smallest std among equal means, and the methods that have it.

        >>> from skcamel.experiment.summary import SEVEN
        >>> paper_table().best("yeast", "one_error", SEVEN["one_error"])
        (PaperFigure(mean=0.218, std=0.027, bold=True), ('camel',))
        """
        cells: dict[str, tuple[float, float]] = {}
        for (name, other, method), cell in self.figures.items():
            if (name, other) == (dataset, metric):
                std = math.inf if math.isnan(cell.std) else cell.std
                cells[method] = measure.gain(cell.mean, 0.0), -std
        if not cells:
            return None
        surest = max(cells, key=lambda method: cells[method])
        leaders = tuple(method for method in cells if cells[method][0] == cells[surest][0])
        return self.figures[dataset, metric, surest], leaders


@cache
def printed() -> dict[str, Any]:
    """All of ``paper_tables.json``: "table1", the cells of "regular" and "large", and "claims"."""
    file = resources.files("skcamel.experiment").joinpath("paper_tables.json")
    return json.loads(file.read_text(encoding="utf-8"))


@cache
def paper_figures() -> Mapping[Key, PaperFigure]:
    """All cells of Tables 2 and 3: (data set, metric, method) ► mean, std and whether it is bold.

    >>> len(paper_figures()) == 16 * 7 * 6
    True
    """
    figures = {}
    for part in ("regular", "large"):
        for dataset, metrics in printed()[part].items():
            for metric, methods in metrics.items():
                for method, cell in methods.items():
                    figures[dataset, metric, method] = PaperFigure(*cell)
    return figures


@cache
def paper_table() -> Published:
    """Tables 2 and 3 of the paper."""
    return Published(paper_figures())


def paper_cell(dataset: str, metric: str, method: str) -> PaperFigure:
    """One cell of Table 2 or 3.

    Parameters
    ----------
    dataset : str
        One of the sixteen sets.
    metric : str
        One of `skcamel.metrics.NAMES`.
    method : str
        One of `PAPER_METHODS`.

    Examples
    --------
    >>> paper_cell("science", "macro_f1", "camel")
    PaperFigure(mean=0.31, std=0.038, bold=True)
    """
    if (dataset, metric, method) not in paper_figures():
        raise KeyError(f"The paper has no figure of {metric} on {dataset} for {method}.")
    return paper_figures()[dataset, metric, method]


@dataclass(frozen=True)
class CellComparison:
    """One cell of ours beside the published ones, all at three decimals."""

    dataset: str
    metric: str
    ours: Figure
    printed: PaperFigure | None  # of the same method
    best: PaperFigure  # of any method
    best_methods: tuple[str, ...]
    difference: float  # from the figure of the same method in its std; positive is better
    ahead_of_best: float  # negative where ours is worse
    no_worse: bool | None  # None where the same method has no figure
    as_good_as_best: bool
    near_best: bool


@dataclass(frozen=True)
class Comparison:
    """All cells of one method that both have."""

    cells: tuple[CellComparison, ...]
    notes: list[str]

    def counts(self) -> dict[str, int]:
        """Number of cells, and of cells that meet each of `CRITERIA`."""
        met = {name: sum(getattr(one, name) is True for one in self.cells) for name in CRITERIA}
        return {"cells": len(self.cells)} | met

    def missed(self, criterion: str) -> list[CellComparison]:
        """Cells that do not meet one of `CRITERIA`."""
        return [cell for cell in self.cells if getattr(cell, criterion) is False]


def compare_with_paper(
    records: Iterable[Record] | Summary,
    *,
    method: str = "camel",
    published: Published | None = None,
) -> Comparison:
    """Compare every cell of one method with published ones.

    Parameters
    ----------
    records : Records, iterable of mappings, or Summary
    method : str, default="camel"
        As the summary calls it: "camel[best]" where the records hold several presets.
    published : Published, default=None
        Figures to compare with. None: the paper's.

    Returns
    -------
    Comparison

    Notes
    -----
    Means and standard deviations are first rounded to three decimals, like the printed ones.
    Where a table prints no standard deviation, ours counts.

    Examples
    --------
    >>> from skcamel.metrics import NAMES
    >>> place = {"dataset": "yeast", "method": "camel", "preset": "paper", "seed": 0, "fold": 0}
    >>> record = dict.fromkeys(NAMES, 0.5) | place | {"n_folds": 1, "folds": "plain"}
    >>> comparison = compare_with_paper([record])
    >>> [cell.metric for cell in comparison.cells if cell.no_worse]
    ['macro_f1']
    """
    summary = records if isinstance(records, Summary) else summarise(records)
    if method not in summary.methods:
        known = ", ".join(summary.methods)
        raise ValueError(f"method={method!r} has no records; there are {known}.")
    published = published or paper_table()
    found: list[CellComparison] = []
    for dataset in summary.datasets:
        for metric in summary.measures:
            cell = _compared(summary, (dataset, metric, method), published)
            found += [] if cell is None else [cell]
    datasets = tuple(dict.fromkeys(cell.dataset for cell in found))
    return Comparison(tuple(found), summary.notes(datasets))


def _compared(summary: Summary, key: Key, published: Published) -> CellComparison | None:
    """One cell; None where one of both has no figure."""
    measure, ours = summary.measures[key[1]], summary.figures.get(key)
    found = published.best(key[0], key[1], measure)
    if ours is None or math.isnan(ours.mean) or found is None:
        return None
    best, own = found[0], published.of(*key)
    ahead = measure.gain(thousandths(ours.mean), thousandths(best.mean))
    stds = [thousandths(std) for std in (ours.std, best.std) if not math.isnan(std)]
    difference, no_worse = math.nan, None
    if own is not None:
        gain = measure.gain(thousandths(ours.mean), thousandths(own.mean))
        std = ours.std if math.isnan(own.std) else own.std
        difference = in_std(gain / 1000, std)
        no_worse = -gain <= 2 * (0 if math.isnan(std) else thousandths(std))
    return CellComparison(
        key[0],
        key[1],
        ours,
        own,
        best,
        found[1],
        difference,
        ahead / 1000,
        no_worse,
        as_good_as_best=ahead >= 0,
        near_best=-ahead <= max(stds, default=0),
    )


def in_std(gain: float, std: float) -> float:
    """A difference in standard deviations; NaN where that says nothing."""
    if std > 0:
        return gain / std
    return 0.0 if gain == 0 else math.nan
