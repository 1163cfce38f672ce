"""Figures ► the paper's Tables 1 to 3; ``verdicts`` makes those of counts and tests, ``forms`` writes them all."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from skcamel.experiment.comparison import compare_cell, under_its_ties
from skcamel.experiment.paper import (
    LARGE,
    REGULAR,
    PaperFigure,
    mean_and_std,
    paper_table1,
    rounded,
    thousandths,
    title_of,
)
from skcamel.experiment.published import Published
from skcamel.experiment.summary import Figure, Summary, base_of

MISSING = "–"
UNIT = {"paper": "the printed one", "larger": "the larger of both"}  # of a difference


class Cell(NamedTuple):
    """Text of one cell, and whether it is best."""

    text: str
    bold: bool = False


Row = tuple[str, list[Cell]]  # name of the row, cells


class TableSection(NamedTuple):
    """Rows under a heading of their own, as the seven metrics of Tables 2 and 3 have one each."""

    title: str
    rows: list[Row]


@dataclass(frozen=True)
class Table:
    """A table ready to be written."""

    title: str
    corner: str  # heading of the first column
    head: list[str]  # headings of the others
    sections: list[TableSection]
    notes: list[str] = field(
        default_factory=list
    )  # what a reader must know: folds, seeds, selection criterion
    data: list[dict[str, Any]] = field(
        default_factory=list
    )  # the same figures unrounded, one mapping for each, for CSV
    name: str = ""  # of its file and of its label; default: from the title

    @property
    def slug(self) -> str:
        """Name for files and labels: small letters, digits and hyphens.

        >>> Table("Table 1: data sets", "", [], []).slug
        'table-1-data-sets'
        """
        return re.sub(r"[^a-z0-9]+", "-", (self.name or self.title).lower()).strip("-") or "table"

    @property
    def rows(self) -> list[Row]:
        """Rows of all sections."""
        return [row for section in self.sections for row in section.rows]


def sizes_table(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table 1: sizes of the data sets from their cards, by name, with a note where the paper prints another figure.

    >>> table = sizes_table({"scene": {"n": 2407, "d": 294, "q": 6, "cardinality": 1.074, "density": 0.179}})
    >>> table.sections[0].rows[0][1][:3], table.notes
    ([Cell(text='2407', bold=False), Cell(text='294', bold=False), Cell(text='6', bold=False)], ['scene: the paper prints 5 labels.'])
    """
    printed = paper_table1()
    groups = {
        "Regular size": [name for name in printed if name in REGULAR and name in cards],
        "Large size": [name for name in printed if name in LARGE and name in cards],
        "Not in the paper": sorted(set(cards) - set(printed)),
    }
    keys = ("n", "d", "q", "cardinality", "density")
    return Table(
        "Table 1: data sets",
        "data set",
        ["rows", "features", "labels", "cardinality", "density"],
        [
            TableSection(title, [_size_row(name, cards[name]) for name in group])
            for title, group in groups.items()
            if group
        ],
        [note for name in printed if name in cards for note in _size_notes(name, cards[name])],
        [
            {"dataset": name}
            | {key: cards[name][key] for key in keys}
            | {
                f"paper_{key}": getattr(printed[name], key) if name in printed else None
                for key in keys[:4]
            }
            for group in groups.values()
            for name in group
        ],
    )


def _size_row(name: str, card: Mapping[str, Any]) -> Row:
    return name, [
        *(Cell(str(card[key])) for key in ("n", "d", "q")),
        Cell(rounded(card["cardinality"], 2)),
        Cell(rounded(card["density"])),
    ]


def _size_notes(name: str, card: Mapping[str, Any]) -> list[str]:
    printed = paper_table1()[name]
    words = {"n": "rows", "d": "features", "q": "labels"}
    differ = [
        f"{getattr(printed, key)} {word}"
        for key, word in words.items()
        if getattr(printed, key) != card[key]
    ]
    if (
        abs(printed.cardinality - card["cardinality"]) > 0.0051
    ):  # more than rounding to two decimals
        differ.append(f"a cardinality of {printed.cardinality:.2f}")
    return [f"{name}: the paper prints {figure}." for figure in differ]


def result_tables(
    summary: Summary, *, against: Published | None = None, std: str = "paper"
) -> dict[str, Table]:
    """Tables 2 and 3 and, where there are sets that the paper lacks, a table of those: "2", "3", "other".

    Tables without any result are left out.

    Parameters
    ----------
    summary : Summary
    against : Published, default=None
        Under each method the printed figures and the difference in std, positive where ours are
        better.
    std : "paper" or "larger", default="paper"
        Unit of the difference: the printed std, or the larger of both.
    """
    titles = {
        "2": "Table 2: results on the regular-size data sets",
        "3": "Table 3: results on the large-size data sets",
        "other": "Results on data sets that the paper does not have",
    }
    groups = {"2": REGULAR, "3": LARGE, "other": others_of(summary)}
    return {
        name: results_table(summary, datasets, titles[name], against=against, std=std)
        for name, datasets in groups.items()
        if set(datasets) & set(summary.datasets)
    }


def others_of(summary: Summary) -> tuple[str, ...]:
    """Data sets that the paper does not have."""
    return tuple(name for name in summary.datasets if name not in REGULAR + LARGE)


def results_table(
    summary: Summary,
    datasets: Sequence[str],
    title: str,
    *,
    against: Published | None = None,
    std: str = "paper",
) -> Table:
    """Results in the form of Tables 2 and 3: for each metric methods by data sets, mean ± std, best in bold.

    Columns are the data sets that have results, in the order given; for the rest see
    :func:`result_tables`.
    """
    results = _Results(summary, against, std)
    columns = [name for name in datasets if name in summary.datasets]
    sections = [
        TableSection(
            measure.heading,
            [
                row
                for method in summary.methods
                for row in results.rows(
                    title_of(method), [(dataset, metric, method) for dataset in columns]
                )
            ],
        )
        for metric, measure in summary.measures.items()
    ]
    return Table(
        title,
        "method",
        columns,
        sections,
        results.notes(columns),
        results.data(columns, summary.measures),
    )


def metric_tables(
    summary: Summary,
    datasets: Sequence[str],
    *,
    against: Published | None = None,
    std: str = "paper",
) -> list[Table]:
    """The same results with a table for each metric, data sets by methods: narrow enough for a printed page."""
    results = _Results(summary, against, std)
    groups = {"Regular size": REGULAR, "Large size": LARGE, "Not in the paper": others_of(summary)}
    groups = {
        title: [name for name in names if name in datasets and name in summary.datasets]
        for title, names in groups.items()
    }
    filled = {title: names for title, names in groups.items() if names}
    shown = [name for names in filled.values() for name in names]
    methods = [
        method
        for method in summary.methods
        if any((dataset, method) in summary.criteria for dataset in shown)
    ]
    tables = []
    for metric, measure in summary.measures.items():
        sections = [
            TableSection(
                title if len(filled) > 1 else "",
                [
                    row
                    for dataset in names
                    for row in results.rows(
                        dataset, [(dataset, metric, method) for method in methods]
                    )
                ],
            )
            for title, names in filled.items()
        ]
        titles = [*map(title_of, methods)]
        tables.append(
            Table(
                measure.heading,
                "data set",
                titles,
                sections,
                results.notes(shown),
                results.data(shown, [metric]),
                metric,
            )
        )
    return tables


class _Results:
    """Cells of a table of results, and what a reader must know of them."""

    def __init__(self, summary: Summary, against: Published | None, std: str) -> None:
        self.summary = summary if against is None else under_its_ties(summary, against)
        self.against, self.std = against, std
        keys = dict.fromkeys(
            (dataset, metric)
            for dataset, metric, _ in summary.figures
            if metric in summary.measures
        )
        self.best = {key: best_methods(self.summary, *key) for key in keys}

    def rows(self, name: str, keys: list[tuple[str, str, str]]) -> list[Row]:
        """Our figures in one row, and where there are printed ones, these and the differences below it; none without any of ours."""
        ours = [self.summary.figures.get(key) for key in keys]
        if all(figure is None for figure in ours):
            return []
        best = (method in self.best.get((dataset, metric), ()) for dataset, metric, method in keys)
        rows: list[Row] = [
            (name, [figure_cell(figure, bold) for figure, bold in zip(ours, best, strict=True)])
        ]
        printed = [self.printed(*key) for key in keys]
        if self.against is not None and any(printed):
            differences = (self.difference(*key) for key in keys)
            rows.append(
                (
                    f"· {self.against.short}",
                    [figure_cell(cell, cell is not None and cell.bold) for cell in printed],
                )
            )
            rows.append(
                (
                    "· Δ / std",
                    [
                        Cell(MISSING if math.isnan(difference) else signed(difference))
                        for difference in differences
                    ],
                )
            )
        return rows

    def printed(self, dataset: str, metric: str, method: str) -> PaperFigure | None:
        """The figure that the table prints for the method."""
        return (
            None
            if self.against is None
            else self.against.figures.get((dataset, metric, base_of(method)))
        )

    def difference(self, dataset: str, metric: str, method: str) -> float:
        """Ours less the printed figure, in std; NaN where one is missing."""
        ours = self.summary.figures.get((dataset, metric, method))
        if ours is None or math.isnan(ours.mean) or self.printed(dataset, metric, method) is None:
            return math.nan
        measure = self.summary.measures[metric]
        cell = compare_cell(
            dataset,
            metric,
            ours,
            base_of(method),
            self.std,
            published=self.against,
            measure=measure,
        )
        return math.nan if cell is None else cell.difference

    def notes(self, datasets: Sequence[str]) -> list[str]:
        notes = [*self.summary.notes(datasets), "Bold: best mean at three decimals."]
        if self.against is not None:
            bold = (
                "what it prints in bold"
                if self.against.name == "paper"
                else "its best mean at three decimals"
            )
            notes.append(f"In the rows of the {self.against.name}, bold is {bold}.")
            notes.append(
                f"Δ: ours less the printed figure in std ({UNIT[self.std]}), signed so that + is"
                " better."
            )
        return notes

    def data(self, datasets: Sequence[str], metrics: Iterable[str]) -> list[dict[str, Any]]:
        """The figures unrounded."""
        found: list[dict[str, Any]] = []
        metrics = set(metrics)
        for key, figure in self.summary.figures.items():
            dataset, metric, method = key
            if dataset in datasets and metric in metrics:
                row = {"dataset": dataset, "metric": metric, "method": method} | figure._asdict()
                row |= {
                    "selected_by": self.summary.criteria[dataset, method],
                    "best": method in self.best[dataset, metric],
                }
                row["chosen_afterwards"] = (dataset, method) in self.summary.afterwards
                if self.against is not None:
                    printed = self.printed(*key)
                    row |= {
                        f"printed_{name}": getattr(printed, name, None)
                        for name in PaperFigure._fields
                    }
                    row["difference_in_std"] = self.difference(*key)
                found.append(row)
        return found


def figure_cell(figure: Figure | PaperFigure | None, bold: bool = False) -> Cell:
    """Mean and std; a dash where there are none."""
    if figure is None or math.isnan(figure.mean):
        return Cell(MISSING)
    return Cell(mean_and_std(figure.mean, figure.std), bold)


def best_methods(summary: Summary, dataset: str, metric: str) -> frozenset[str]:
    """Methods with the best mean at three decimals; none where there is nothing to compare with."""
    measure = summary.measures[metric]
    cells = {method: summary.figures.get((dataset, metric, method)) for method in summary.methods}
    scores = {
        method: measure.gain(thousandths(f.mean), 0)
        for method, f in cells.items()
        if f is not None and not math.isnan(f.mean)
    }
    top = max(scores.values(), default=0)
    return (
        frozenset(method for method, score in scores.items() if score == top)
        if len(scores) > 1
        else frozenset()
    )


def signed(difference: float, digits: int = 1) -> str:
    """With a sign and one decimal; the minus is as long as the plus.

    >>> signed(0.25), signed(-1.0), signed(-0.01), signed(-0.0123, 3)
    ('+0.2', '−1.0', '0.0', '−0.012')
    """
    text = rounded(difference, digits)
    return (
        text if not text.strip("0.") else text.replace("-", "−") if difference < 0 else f"+{text}"
    )
