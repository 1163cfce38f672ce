"""Our figures against the paper's, cell by cell, and wins, ties and losses between methods, at the three decimals of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skcamel.experiment.paper import (
    LARGE,
    PAPER_METHODS,
    REGULAR,
    HasMean,
    Key,
    PaperFigure,
    gain,
    mean_and_std,
    metric_title,
    paper_figures,
    printed,
    thousandths,
)
from skcamel.experiment.summary import Figure, Record, Summary, base_of, summarise
from skcamel.metrics.conventions import NAMES, choice

STDS = ("paper", "larger")
GROUPS = {"regular": REGULAR, "large": LARGE, "all": REGULAR + LARGE}
CRITERIA = {
    "no_worse": "no worse than the paper's by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure printed for any method",
    "near_best": "no worse than that best figure by more than one std (the larger of both)",
}


@dataclass(frozen=True)
class CellComparison:
    """One cell of ours beside the paper's."""

    dataset: str
    metric: str
    ours: Figure
    paper: PaperFigure  # of the same method
    best: PaperFigure  # best mean of any method; the smallest std where several share it
    best_methods: tuple[str, ...]
    difference: float  # in std, positive is better
    no_worse: bool
    as_good_as_best: bool
    near_best: bool

    def __str__(self) -> str:
        return (
            f"{self.dataset}, {metric_title(self.metric)}: {mean_and_std(self.ours.mean, self.ours.std)}, "
            f"paper {mean_and_std(self.paper.mean, self.paper.std)}, "
            f"best {mean_and_std(self.best.mean, self.best.std)} ({', '.join(self.best_methods)})"
        )


@dataclass(frozen=True)
class Comparison:
    """All cells of one method that both have."""

    cells: tuple[CellComparison, ...]
    notes: list[str]  # folds, seeds and selection criterion of our figures

    def counts(self) -> dict[str, int]:
        """Number of cells, and of cells that meet each of `CRITERIA`."""
        return {"cells": len(self.cells)} | {name: sum(getattr(cell, name) for cell in self.cells) for name in CRITERIA}

    def missed(self, criterion: str) -> list[CellComparison]:
        """Cells that do not meet one of `CRITERIA`."""
        choice(criterion, tuple(CRITERIA), "criterion")
        return [cell for cell in self.cells if not getattr(cell, criterion)]

    def __str__(self) -> str:
        counts = self.counts()
        lines: list[str] = []
        for name, text in CRITERIA.items():
            lines.append(f"{counts[name]} of {counts['cells']} cells {text}")
            lines += [f"  missed: {cell}" for cell in self.missed(name)]
        return "\n".join(lines)


def compare_with_paper(
    records: Iterable[Record],
    *,
    method: str = "camel",
    preset: str | None = None,
    selected_by: str | None = None,
    std: str = "paper",
) -> Comparison:
    """Compare every cell of one method with the paper's.

    Parameters
    ----------
    records : iterable of mappings
    method : str, default="camel"
    preset : str, default=None
        Needed if the records hold the method under several.
    selected_by : str, default=None
        See :func:`skcamel.experiment.summary.summarise`.
    std : "paper" or "larger", default="paper"
        The unit of `difference`: the paper's std, or the larger of both.

    Returns
    -------
    Comparison

    Notes
    -----
    Our means and standard deviations are first rounded to three decimals, like the printed ones.

    Examples
    --------
    >>> records = [dict.fromkeys(NAMES, 0.5) | {"dataset": "yeast", "method": "camel", "preset": "paper", "fold": fold, "seed": 0,
    ...            "n_folds": 2, "folds": "plain", "criterion": "micro_f1"} for fold in range(2)]
    >>> comparison = compare_with_paper(records)
    >>> comparison.counts()["cells"], [cell.metric for cell in comparison.cells if cell.no_worse]
    (7, ['macro_f1'])
    """
    summary = summarise(records, selected_by=selected_by, preset=preset)
    presets = [name for name in summary.methods if base_of(name) == method and name != method]
    if presets:
        raise ValueError(f"The records hold {' and '.join(presets)}; choose one with preset=.")
    return compare_summary(summary, method, std=std)


def compare_summary(summary: Summary, method: str = "camel", *, std: str = "paper") -> Comparison:
    """Like :func:`compare_with_paper`, for figures that are summarised already; `method` may name a preset, "camel[best]"."""
    choice(std, STDS, "std")
    base = base_of(method)
    keys = [(dataset, metric) for dataset in summary.datasets for metric in NAMES if (dataset, metric, base) in paper_figures()]
    pairs = [(key, summary.figures.get((*key, method))) for key in keys]
    cells = (compare_cell(*key, ours, base, std) for key, ours in pairs if ours is not None and not math.isnan(ours.mean))
    return Comparison(tuple(cells), summary.notes(tuple(dict.fromkeys(dataset for dataset, _ in keys))))


def best_printed(dataset: str, metric: str) -> tuple[PaperFigure, tuple[str, ...]]:
    """The best figure that the paper prints for any method, the smallest std among equal means, and the methods that have it.

    >>> best_printed("yeast", "coverage")
    (PaperFigure(mean=0.446, std=0.01, bold=True), ('camel',))
    """
    cells = {name: paper_figures()[dataset, metric, name] for name in PAPER_METHODS}
    top = max(gain(metric, cell.mean, 0.0) for cell in cells.values())
    leaders = {name: cell for name, cell in cells.items() if gain(metric, cell.mean, 0.0) == top}
    return min(leaders.values(), key=lambda cell: cell.std), tuple(leaders)


def compare_cell(dataset: str, metric: str, ours: Figure, method: str, std: str = "paper") -> CellComparison:
    """Compare one cell with the paper's and with the best printed one."""
    paper = paper_figures()[dataset, metric, method]
    best, leaders = best_printed(dataset, metric)
    behind_paper, behind_best = (-gain(metric, thousandths(ours.mean), thousandths(cell.mean)) for cell in (paper, best))
    unit = paper.std if std == "paper" else _larger_std(ours, paper)
    difference = -behind_paper / 1000 / unit
    no_worse = behind_paper <= 2 * thousandths(paper.std)
    near_best = behind_best <= thousandths(_larger_std(ours, best))
    return CellComparison(dataset, metric, ours, paper, best, leaders, difference, no_worse, behind_best <= 0, near_best)


def _larger_std(ours: Figure, theirs: PaperFigure) -> float:
    return theirs.std if math.isnan(ours.std) else max(ours.std, theirs.std)  # one fold has none


class PaperCounts(NamedTuple):
    """Pairs of cells in which a method is better, equal or worse."""

    wins: int
    ties: int
    losses: int


class Claim(NamedTuple):
    """A count that the paper states, beside the same count from a table."""

    kind: str  # "first": no method is better; "superior": strictly better, one case for each cell and method
    datasets: str  # "regular", "large" or "all"
    against: tuple[str, ...]
    printed: tuple[int, int]  # count and cases
    counted: tuple[int, int]


def win_tie_loss(figures: Mapping[Key, HasMean], method: str, against: Sequence[str], datasets: Sequence[str] | None = None) -> PaperCounts:
    """Count the pairs (cell, other method) in which `method` wins, ties and loses; a pair with a missing cell does not count.

    >>> from skcamel.experiment.paper import paper_figures
    >>> win_tie_loss(paper_figures(), "camel", ["br", "ecc", "rakel"])
    PaperCounts(wins=315, ties=2, losses=19)
    """
    results = [result for row in _results(figures, method, against, datasets) for result in row]
    return PaperCounts(results.count(1), results.count(0), results.count(-1))


def ranks_first(
    figures: Mapping[Key, HasMean], method: str, against: Sequence[str], datasets: Sequence[str] | None = None
) -> tuple[int, int]:
    """Number of cells in which no other method is better, and of cells that hold all methods; equal firsts both count.

    >>> from skcamel.experiment.paper import REGULAR, paper_figures
    >>> ranks_first(paper_figures(), "camel", ["br", "ecc", "rakel", "llsf", "jfsc"], REGULAR)
    (45, 56)
    """
    complete = [row for row in _results(figures, method, against, datasets) if None not in row]
    return sum(-1 not in row for row in complete), len(complete)


def recount_claims(figures: Mapping[Key, HasMean], method: str = "camel") -> list[Claim]:
    """The four counts of the paper's discussion, recounted from a table of means.

    Parameters
    ----------
    figures : mapping
        (data set, metric, method) ► something with a mean; the paper's own or ours. Incomplete ones give fewer cases.
    method : str, default="camel"
        The method in CAMEL's place.

    Examples
    --------
    >>> from skcamel.experiment.paper import paper_figures
    >>> [(claim.printed[0], claim.counted[0]) for claim in recount_claims(paper_figures())]
    [(45, 45), (39, 38), (315, 315), (180, 179)]
    """
    claims = []
    for stated in printed()["claims"]:
        against, datasets = tuple(stated["against"]), GROUPS[stated["datasets"]]
        if stated["claim"] == "first":
            counted = ranks_first(figures, method, against, datasets)
        else:
            pairs = win_tie_loss(figures, method, against, datasets)
            counted = pairs.wins, sum(pairs)
        claims.append(Claim(stated["claim"], stated["datasets"], against, (stated["count"], stated["cases"]), counted))
    return claims


def _results(
    figures: Mapping[Key, HasMean], method: str, against: Sequence[str], datasets: Sequence[str] | None
) -> Iterator[list[int | None]]:
    """Of each cell, for each other method: 1 where `method` is better, 0 where equal, -1 where worse; None where one is missing."""
    for dataset, metric in dict.fromkeys((dataset, metric) for dataset, metric, _ in figures):
        if datasets is None or dataset in datasets:
            ours, *theirs = (figures.get((dataset, metric, name)) for name in (method, *against))
            yield [_sign(metric, ours, other) for other in theirs]


def _sign(metric: str, ours: HasMean | None, other: HasMean | None) -> int | None:
    if ours is None or other is None or math.isnan(ours.mean) or math.isnan(other.mean):
        return None
    difference = gain(metric, thousandths(ours.mean), thousandths(other.mean))
    return (difference > 0) - (difference < 0)
