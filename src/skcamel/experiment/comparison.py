"""Our figures against the paper's, cell by cell, at three decimals as it prints them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from skcamel.experiment.paper import PAPER_METHODS, PaperFigure, gain, mean_and_std, metric_title, paper_figures, thousandths
from skcamel.experiment.summary import Figure, Record, Summary, base_of, summarise
from skcamel.metrics.conventions import NAMES, choice

STDS = ("paper", "larger")
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
    """All cells of one method that both have.

    Attributes
    ----------
    cells : tuple of CellComparison
    notes : list of str
        Folds, seeds and selection criterion of our figures.
    """

    cells: tuple[CellComparison, ...]
    notes: list[str]

    def counts(self) -> dict[str, int]:
        """Number of cells, and of those that meet each of `CRITERIA`."""
        return {"cells": len(self.cells)} | {name: sum(getattr(cell, name) for cell in self.cells) for name in CRITERIA}

    def missed(self, criterion: str) -> list[CellComparison]:
        """Cells that do not meet one of `CRITERIA`."""
        choice(criterion, tuple(CRITERIA), "criterion")
        return [cell for cell in self.cells if not getattr(cell, criterion)]

    def __str__(self) -> str:
        """Return counts, each with the cells that miss it."""
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
        Needed where the records hold the method under several.
    selected_by : str, default=None
        See :func:`skcamel.experiment.summary.summarise`.
    std : "paper" or "larger", default="paper"
        The unit of `difference`: the paper's std, or the larger of both.

    Returns
    -------
    Comparison

    Notes
    -----
    Means and standard deviations of ours are rounded to three decimals first, as the printed ones are.

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
        raise ValueError(f"The records hold {' and '.join(presets)}; say which with preset=.")
    return compare_summary(summary, method, std=std)


def compare_summary(summary: Summary, method: str = "camel", *, std: str = "paper") -> Comparison:
    """As :func:`compare_with_paper`, from figures that are summarised already; `method` may name a preset, "camel[best]"."""
    choice(std, STDS, "std")
    printed = paper_figures()
    keys = [(dataset, metric) for dataset in summary.datasets for metric in NAMES if (dataset, metric, base_of(method)) in printed]
    pairs = [(key, summary.figures.get((*key, method))) for key in keys]
    cells = (compare_cell(*key, ours, base_of(method), std) for key, ours in pairs if ours is not None and not math.isnan(ours.mean))
    return Comparison(tuple(cells), summary.notes(tuple(dict.fromkeys(dataset for dataset, _ in keys))))


def best_printed(dataset: str, metric: str) -> tuple[PaperFigure, tuple[str, ...]]:
    """The best figure that the paper prints for any method, with the smallest std where several share its mean, and who has it.

    Examples
    --------
    >>> best_printed("yeast", "coverage")
    (PaperFigure(mean=0.446, std=0.01, bold=True), ('camel',))
    """
    printed = {name: paper_figures()[dataset, metric, name] for name in PAPER_METHODS}
    top = max(gain(metric, cell.mean, 0.0) for cell in printed.values())
    leaders = {name: cell for name, cell in printed.items() if gain(metric, cell.mean, 0.0) == top}
    return min(leaders.values(), key=lambda cell: cell.std), tuple(leaders)


def compare_cell(dataset: str, metric: str, ours: Figure, method: str, std: str = "paper") -> CellComparison:
    """Compare one cell."""
    paper = paper_figures()[dataset, metric, method]
    best, leaders = best_printed(dataset, metric)
    behind_paper, behind_best = (-gain(metric, thousandths(ours.mean), thousandths(cell.mean)) for cell in (paper, best))
    unit = paper.std if std == "paper" else larger_std(ours, paper)
    return CellComparison(
        dataset=dataset,
        metric=metric,
        ours=ours,
        paper=paper,
        best=best,
        best_methods=leaders,
        difference=-behind_paper / 1000 / unit,
        no_worse=behind_paper <= 2 * thousandths(paper.std),
        as_good_as_best=behind_best <= 0,
        near_best=behind_best <= thousandths(larger_std(ours, best)),
    )


def larger_std(*cells: Any) -> float:
    """The largest std that is defined: one fold has none."""
    return max(cell.std for cell in cells if not math.isnan(cell.std))
