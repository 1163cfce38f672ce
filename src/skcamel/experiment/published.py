"""The tables of the paper, and a study compared with them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import product
from typing import Any, NamedTuple

from skcamel.experiment.summary import (
    SEVEN,
    Figure,
    Key,
    Record,
    Summary,
    base_of,
    summarise,
    thousandths,
)

PAPER_METHODS = ("camel", "br", "ecc", "rakel", "llsf", "jfsc")
PRINTED_AS = {"camel-per-metric": "camel", "jfsc-tuned": "jfsc"}
CRITERIA = ("no_worse", "as_good_as_best", "near_best")


class PaperFigure(NamedTuple):
    """One cell of the paper's tables."""

    mean: float
    std: float
    bold: bool  # as the paper prints it


@cache
def printed() -> dict[str, Any]:
    """All of ``paper_tables.json``: "table1", the cells of "regular" and "large", and "claims"."""
    file = resources.files("skcamel.experiment").joinpath("paper_tables.json")
    return json.loads(file.read_text(encoding="utf-8"))


@cache
def paper_figures() -> Mapping[Key, PaperFigure]:
    """All cells of Tables 2 and 3: (data set, metric, method) ► mean, std and whether it is bold.

    >>> paper_figures()["science", "macro_f1", "camel"]
    PaperFigure(mean=0.31, std=0.038, bold=True)
    """
    figures = {}
    for part in ("regular", "large"):
        for dataset, metrics in printed()[part].items():
            for metric, methods in metrics.items():
                for method, cell in methods.items():
                    figures[dataset, metric, method] = PaperFigure(*cell)
    return figures


def printed_figure(dataset: str, metric: str, method: str) -> PaperFigure | None:
    """The printed figure of a method of a summary: "camel[best]" and "camel-per-metric" are CAMEL.

    >>> printed_figure("yeast", "coverage", "camel[best]").mean
    0.446
    """
    name = base_of(method)
    return paper_figures().get((dataset, metric, PRINTED_AS.get(name, name)))


def best_printed(dataset: str, metric: str) -> tuple[PaperFigure, tuple[str, ...]] | None:
    """The best figure of any method, and the methods that have it; of equal means the surest.

    >>> best_printed("yeast", "one_error")
    (PaperFigure(mean=0.218, std=0.027, bold=True), ('camel',))
    """
    cells = {}
    for method in PAPER_METHODS:
        cell = printed_figure(dataset, metric, method)
        if cell is not None:
            cells[method] = cell
    if not cells:
        return None
    gains = {method: SEVEN[metric].gain(cell.mean, 0.0) for method, cell in cells.items()}
    highest = max(gains.values())
    leaders = tuple(method for method, gain in gains.items() if gain == highest)
    surest = min(leaders, key=lambda method: cells[method].std)
    return cells[surest], leaders


@dataclass(frozen=True)
class CellComparison:
    """One cell of ours beside the printed ones, all at three decimals."""

    dataset: str
    metric: str
    ours: Figure
    printed: PaperFigure | None  # of the same method
    best: PaperFigure  # of any method
    best_methods: tuple[str, ...]
    difference: float  # from the figure of the same method in its std; positive is better
    ahead_of_best: float  # negative where ours is worse
    no_worse: bool | None  # by at most 2 of its std; None where the same method has no figure
    as_good_as_best: bool  # as the best figure of any method
    near_best: bool  # worse than that figure by at most one std, the larger of both


@dataclass(frozen=True)
class Comparison:
    """All cells of one method that both have."""

    cells: tuple[CellComparison, ...]

    def counts(self) -> dict[str, int]:
        """Number of cells, and of cells that meet each of `CRITERIA`."""
        counts = {"cells": len(self.cells)}
        for name in CRITERIA:
            counts[name] = sum(getattr(one, name) is True for one in self.cells)
        return counts

    def missed(self, criterion: str) -> list[CellComparison]:
        """Cells that do not meet one of `CRITERIA`."""
        return [cell for cell in self.cells if getattr(cell, criterion) is False]


def compare_with_paper(records: Iterable[Record] | Summary, *, method: str = "camel") -> Comparison:
    """Compare every cell of one method with those of the paper's Tables 2 and 3.

    Parameters
    ----------
    records : Records, iterable of mappings, or Summary
    method : str, default="camel"
        As the summary calls it: "camel[best]" where the records hold several presets.

    Returns
    -------
    Comparison

    Notes
    -----
    Means and standard deviations are first rounded to three decimals, like the printed ones.

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
    found = []
    for place in product(summary.datasets, summary.measures):
        cell = compared(summary, (*place, method))
        if cell is not None:
            found.append(cell)
    return Comparison(tuple(found))


def compared(summary: Summary, key: Key) -> CellComparison | None:
    """One cell; None where one of both has no figure."""
    dataset, metric, _ = key
    ours = summary.figures.get(key)
    found = best_printed(dataset, metric)
    if ours is None or math.isnan(ours.mean) or found is None:
        return None
    best, leaders = found
    measure = SEVEN[metric]
    mean = thousandths(ours.mean)
    ahead = measure.gain(mean, thousandths(best.mean))
    stds = [thousandths(std) for std in (ours.std, best.std) if not math.isnan(std)]
    own = printed_figure(*key)
    difference = math.nan
    no_worse = None
    if own is not None:
        gain = measure.gain(mean, thousandths(own.mean))
        if own.std > 0:
            difference = gain / 1000 / own.std
        elif gain == 0:
            difference = 0.0
        no_worse = -gain <= 2 * thousandths(own.std)
    return CellComparison(
        dataset,
        metric,
        ours,
        own,
        best,
        leaders,
        difference,
        ahead / 1000,
        no_worse,
        as_good_as_best=ahead >= 0,
        near_best=-ahead <= max(stds, default=0),
    )
