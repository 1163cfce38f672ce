"""Our figures against published ones, cell by cell, and wins, ties and losses between methods, at the three decimals of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from skcamel.checks import choice
from skcamel.experiment.paper import (
    LARGE,
    REGULAR,
    SEVEN,
    HasMean,
    Key,
    Metric,
    PaperFigure,
    printed,
    thousandths,
    title_of,
)
from skcamel.experiment.published import Published, paper_table
from skcamel.experiment.summary import BY_INDEX, Figure, Record, Summary, base_of, summarise
from skcamel.metrics.conventions import RANKING
from skcamel.text import listed

STDS = ("paper", "larger")
GROUPS = {"regular": REGULAR, "large": LARGE, "all": REGULAR + LARGE}
CRITERIA = {
    "no_worse": "no worse than the figure printed for the same method by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure printed for any method",
    "near_best": "no worse than that best figure by more than one std (the larger of both)",
}
VOTING = ("rakel",)  # methods of the paper whose scores are votes, which tie often


@dataclass(frozen=True)
class CellComparison:
    """One cell of ours beside the published ones."""

    dataset: str
    metric: str
    measure: Metric
    ours: Figure
    printed: PaperFigure | None  # of the same method
    best: PaperFigure  # best mean of any method; the smallest std where several share it
    best_methods: tuple[str, ...]
    # from the same method's, in std, positive is better; NaN without such a figure or any std
    difference: float
    ahead_of_best: float  # of the best figure, at three decimals; negative where ours is worse
    no_worse: bool | None  # None where the same method has no figure
    as_good_as_best: bool
    near_best: bool

    @property
    def ahead_in_std(self) -> float:
        """`ahead_of_best` in std, the larger of both; NaN without any."""
        return _in_std(self.ahead_of_best, _larger_std(self.ours, self.best))


@dataclass(frozen=True)
class Comparison:
    """All cells of one method that both have."""

    cells: tuple[CellComparison, ...]
    notes: list[str]  # folds, seeds and selection criterion of our figures

    def counts(self) -> dict[str, int]:
        """Number of cells, and of cells that meet each of `CRITERIA`."""
        return {"cells": len(self.cells)} | {
            name: sum(getattr(cell, name) is True for cell in self.cells) for name in CRITERIA
        }

    def cases(self, criterion: str) -> int:
        """Number of cells that can meet one of `CRITERIA`."""
        return sum(getattr(cell, criterion) is not None for cell in self.cells)

    def missed(self, criterion: str) -> list[CellComparison]:
        """Cells that do not meet one of `CRITERIA`."""
        choice(criterion, tuple(CRITERIA), "criterion")
        return [cell for cell in self.cells if getattr(cell, criterion) is False]


def compare_with_paper(
    records: Iterable[Record],
    *,
    method: str = "camel",
    preset: str | None = None,
    selected_by: str | None = None,
    std: str = "paper",
    published: Published | None = None,
) -> Comparison:
    """Compare every cell of one method with published ones.

    Parameters
    ----------
    records : iterable of mappings
    method : str, default="camel"
    preset : str, default=None
        Needed if the records hold the method under several.
    selected_by : str, default=None
        See :func:`skcamel.experiment.summary.summarise`.
    std : "paper" or "larger", default="paper"
        The unit of `difference`: the printed std, or the larger of both.
    published : Published, default=None
        Figures to compare with, see :func:`skcamel.experiment.read_published`. None: the paper's.

    Returns
    -------
    Comparison

    Notes
    -----
    Our means and standard deviations are first rounded to three decimals, like the printed ones.
    Where a table prints no std, ours counts.

    Examples
    --------
    >>> from skcamel.metrics import NAMES
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
    return compare_summary(summary, method, std=std, published=published)


def compare_summary(
    summary: Summary,
    method: str = "camel",
    *,
    std: str = "paper",
    published: Published | None = None,
) -> Comparison:
    """Like :func:`compare_with_paper`, for figures that are summarised already; `method` may name a preset, "camel[best]"."""
    choice(std, STDS, "std")
    published = published or paper_table()
    summary = under_its_ties(summary, published)
    cells = []
    for dataset in summary.datasets:
        for metric, measure in summary.measures.items():
            ours = summary.figures.get((dataset, metric, method))
            if ours is not None and not math.isnan(ours.mean):
                cells.append(
                    compare_cell(
                        dataset,
                        metric,
                        ours,
                        base_of(method),
                        std,
                        published=published,
                        measure=measure,
                    )
                )
    found = tuple(cell for cell in cells if cell is not None)
    return Comparison(found, summary.notes(tuple(dict.fromkeys(cell.dataset for cell in found))))


def under_its_ties(summary: Summary, published: Published) -> Summary:
    """Figures to hold against a table: the paper's ranking figures of methods that vote break ties by label order, so ours do too.

    Where the records do not hold such figures, ours stay; a remark says which of both it is.
    """
    if published.name != paper_table().name:
        return summary
    replaced: dict[Key, Figure] = {}
    remarks: list[str] = []
    for method in (name for name in summary.methods if base_of(name) in VOTING):
        keys = [(dataset, metric, method) for dataset in published.datasets for metric in RANKING]
        ours = {key: summary.figures[key] for key in keys if key in summary.figures}
        by_index = {key: summary.figures.get((key[0], key[1] + BY_INDEX, method)) for key in ours}
        found = {
            key: other
            for key, other in by_index.items()
            if other is not None and other.folds == ours[key].folds
        }
        replaced |= found
        remarks += _tie_remarks(
            title_of(method),
            {key[0] for key in found},
            {key[0] for key in ours if key not in found},
        )
    return replace(summary, figures={**summary.figures, **replaced}, remarks=tuple(remarks))


def _tie_remarks(title: str, by_index: set[str], others: set[str]) -> list[str]:
    """Say which rule for ties the ranking figures of a method follow."""
    where = [
        f" on {listed(sorted(sets))}" if by_index and others else "" for sets in (by_index, others)
    ]
    first = (
        f"{title}: ranking figures{where[0]} break ties by label order, as the software does that"
        " the paper used."
    )
    second = (
        f"{title}: ranking figures{where[1]} count ties as errors; the software that the paper used"
        " breaks them by label order, and these records do not hold such figures."
    )
    return [text for text, sets in ((first, by_index), (second, others)) if sets]


def compare_cell(
    dataset: str,
    metric: str,
    ours: Figure,
    method: str,
    std: str = "paper",
    *,
    published: Published | None = None,
    measure: Metric | None = None,
) -> CellComparison | None:
    """One cell of ours, of one method, beside the published ones; None where the table has no figure for it.

    >>> compare_cell("yeast", "one_error", Figure(0.2, 0.03, 10), "camel").difference
    0.6666666666666666
    """
    published, measure = published or paper_table(), measure or SEVEN[metric]
    found = published.best(dataset, metric, measure)
    if found is None:
        return None
    best, leaders = found
    mean, printed = thousandths(ours.mean), published.figures.get((dataset, metric, method))
    ahead = measure.gain(mean, thousandths(best.mean))
    near = -ahead <= thousandths(_or_zero(_larger_std(ours, best)))
    difference, no_worse = math.nan, None
    if printed is not None:
        gain = measure.gain(mean, thousandths(printed.mean))
        own = ours.std if math.isnan(printed.std) else printed.std
        difference = _in_std(gain / 1000, own if std == "paper" else _larger_std(ours, printed))
        no_worse = -gain <= 2 * thousandths(_or_zero(own))
    return CellComparison(
        dataset,
        metric,
        measure,
        ours,
        printed,
        best,
        leaders,
        difference,
        ahead / 1000,
        no_worse,
        ahead >= 0,
        near,
    )


def _larger_std(ours: Figure, theirs: PaperFigure) -> float:
    """The larger of both that are known; one fold has none, and not every table prints it."""
    return max((std for std in (ours.std, theirs.std) if not math.isnan(std)), default=math.nan)


def _or_zero(std: float) -> float:
    return 0.0 if math.isnan(std) else std


def _in_std(difference: float, std: float) -> float:
    """A difference in std; NaN where that says nothing."""
    return difference / std if std > 0 else 0.0 if difference == 0 else math.nan


class PaperCounts(NamedTuple):
    """Pairs of cells in which a method is better, equal or worse."""

    wins: int
    ties: int
    losses: int


class Claim(NamedTuple):
    """A count that the paper states, beside the same count from a table."""

    # "first": no method is better; "superior": strictly better, one case for each cell and method
    kind: str
    datasets: str  # "regular", "large" or "all"
    against: tuple[str, ...]
    printed: tuple[int, int]  # count and cases
    counted: tuple[int, int]


def win_tie_loss(
    figures: Mapping[Key, HasMean],
    method: str,
    against: Sequence[str],
    datasets: Sequence[str] | None = None,
) -> PaperCounts:
    """Count the pairs (cell, other method) in which `method` wins, ties and loses; a pair with a missing cell does not count.

    >>> from skcamel.experiment.paper import paper_figures
    >>> win_tie_loss(paper_figures(), "camel", ["br", "ecc", "rakel"])
    PaperCounts(wins=315, ties=2, losses=19)
    """
    results = [result for row in _results(figures, method, against, datasets) for result in row]
    return PaperCounts(results.count(1), results.count(0), results.count(-1))


def ranks_first(
    figures: Mapping[Key, HasMean],
    method: str,
    against: Sequence[str],
    datasets: Sequence[str] | None = None,
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
        (data set, metric, method) ► something with a mean; the paper's own or ours. Incomplete ones
        give fewer cases.
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
        claims.append(
            Claim(
                stated["claim"],
                stated["datasets"],
                against,
                (stated["count"], stated["cases"]),
                counted,
            )
        )
    return claims


def _results(
    figures: Mapping[Key, HasMean],
    method: str,
    against: Sequence[str],
    datasets: Sequence[str] | None,
) -> Iterator[list[int | None]]:
    """Of each cell, for each other method: 1 where `method` is better, 0 where equal, -1 where worse; None where one is missing."""
    for dataset, metric in dict.fromkeys(
        (dataset, metric) for dataset, metric, _ in figures if metric in SEVEN
    ):
        if datasets is None or dataset in datasets:
            ours, *theirs = (figures.get((dataset, metric, name)) for name in (method, *against))
            yield [_sign(metric, ours, other) for other in theirs]


def _sign(metric: str, ours: HasMean | None, other: HasMean | None) -> int | None:
    if ours is None or other is None or math.isnan(ours.mean) or math.isnan(other.mean):
        return None
    difference = SEVEN[metric].gain(thousandths(ours.mean), thousandths(other.mean))
    return (difference > 0) - (difference < 0)
