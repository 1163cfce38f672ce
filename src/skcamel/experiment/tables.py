"""Figures, sizes and tests ► tables ► Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from skcamel.experiment.published import PaperFigure, compared
from skcamel.experiment.summary import (
    LARGE,
    REGULAR,
    Figure,
    Record,
    Summary,
    mean_and_std,
    ordered,
    rounded,
    thousandths,
    title_of,
)
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.experiment.significance import Significance

SIZES = ("rows", "features", "labels", "cardinality", "density")


class Cell(NamedTuple):
    """Text of one cell, and whether it is best."""

    text: str
    bold: bool = False


MISSING = Cell("–")
Row = tuple[str, list[Cell]]  # name of the row, cells


class TableSection(NamedTuple):
    """Rows under a heading of their own."""

    title: str
    rows: list[Row]


@dataclass(frozen=True)
class Table:
    """A table ready to be written.

    Attributes
    ----------
    title, corner : str
        Title, and heading of the first column.
    head : list of str
        Headings of the other columns.
    sections : list of TableSection
    notes : list of str
        What readers must know.
    """

    title: str
    corner: str
    head: list[str]
    sections: list[TableSection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def sizes_table(records: Sequence[Record]) -> Table:
    """Table 1: sizes of the data sets.

    >>> record = {"dataset": "scene", "n_train": 2166, "n_test": 241, "n_features": 294}
    >>> table = sizes_table([record | {"n_labels": 6, "cardinality": 1.074}])
    >>> [cell.text for cell in table.sections[0].rows[0][1]]
    ['2407', '294', '6', '1.07', '0.179']
    """
    found = {record["dataset"]: record for record in records}
    rows: list[Row] = []
    for name in ordered(found, [*REGULAR, *LARGE]):
        one = found[name]
        cardinality = one["cardinality"]
        sizes = [one["n_train"] + one["n_test"], one["n_features"], one["n_labels"]]
        density = cardinality / one["n_labels"]
        texts = [*map(str, sizes), rounded(cardinality, 2), rounded(density)]
        rows.append((name, list(map(Cell, texts))))
    section = TableSection("", rows)
    return Table("Table 1: data sets", "data set", list(SIZES), [section])


def result_tables(summary: Summary, *, with_paper: bool = False) -> dict[str, Table]:
    """Tables 2 and 3, and one of the sets that the paper lacks: "2", "3", "other", if not empty.

    Parameters
    ----------
    summary : Summary
    with_paper : bool, default=False
        Under each method the printed figures, and the difference in the printed standard deviation,
        positive where ours are better.
    """
    others = tuple(name for name in summary.datasets if name not in REGULAR + LARGE)
    parts = {
        "2": ("Table 2: results on the regular-size data sets", REGULAR),
        "3": ("Table 3: results on the large-size data sets", LARGE),
        "other": ("Results on data sets that the paper does not have", others),
    }
    found = {}
    for name, (title, known) in parts.items():
        datasets = [one for one in known if one in summary.datasets]
        if datasets:
            found[name] = results_table(summary, datasets, title, with_paper=with_paper)
    return found


def results_table(
    summary: Summary, datasets: Sequence[str], title: str, *, with_paper: bool = False
) -> Table:
    """For each metric methods by data sets, mean ± std, best in bold; see :func:`result_tables`."""
    sections = []
    for metric, measure in summary.measures.items():
        rows: list[Row] = []
        best = {name: best_methods(summary, name, metric) for name in datasets}
        for method in summary.methods:
            cells = []
            figures = [summary.figures.get((name, metric, method)) for name in datasets]
            for name, figure in zip(datasets, figures, strict=True):
                cells.append(figure_cell(figure, method in best[name]))
            if any(figures):
                rows.append((title_of(method), cells))
            if with_paper:
                rows += _printed_rows(summary, metric, method, datasets)
        sections.append(TableSection(measure.heading, rows))
    notes = [*summary.notes(datasets), "Bold: best mean at three decimals."]
    if with_paper:
        notes.append("Rows named paper: the printed figures, bold as printed.")
        notes.append("Δ: ours less the printed figure, in its std; + is better.")
    return Table(title, "method", [*datasets], sections, notes)


def _printed_rows(summary: Summary, metric: str, method: str, datasets: Sequence[str]) -> list[Row]:
    """The printed figures of a method, and how far ours are from them; none without any."""
    printed = []
    differences = []
    for name in datasets:
        cell = compared(summary, (name, metric, method))
        figure = None if cell is None else cell.printed
        printed.append(figure_cell(figure, figure is not None and figure.bold))
        text = MISSING.text
        if cell is not None and not math.isnan(cell.difference):
            text = signed(cell.difference)
        differences.append(Cell(text))
    if all(cell == MISSING for cell in printed):
        return []
    return [("· paper", printed), ("· Δ / std", differences)]


def figure_cell(figure: Figure | PaperFigure | None, bold: bool = False) -> Cell:
    """Mean and std; a dash where there are none."""
    if figure is None or math.isnan(figure.mean):
        return MISSING
    return Cell(mean_and_std(figure.mean, figure.std), bold)


def best_methods(summary: Summary, dataset: str, metric: str) -> list[str]:
    """Methods with the best mean at three decimals; none where there is nothing to compare with."""
    gains = {}
    for method in summary.methods:
        figure = summary.figures.get((dataset, metric, method))
        if figure is not None and figure.folds:
            gains[method] = summary.measures[metric].gain(thousandths(figure.mean), 0)
    if len(gains) < 2:
        return []
    top = max(gains.values())
    return [name for name, gain in gains.items() if gain == top]


def significance_tables(summary: Summary, control: str) -> list[Table]:
    """Average ranks, Friedman's test, and Wilcoxon's tests of `control` against the others."""
    from skcamel.experiment.significance import LEVEL, compare_by_metric, what_tests_can_tell

    methods = (control, *(name for name in summary.methods if name != control))
    found = compare_by_metric(summary.figures, summary.measures, methods)
    if not found:
        raise ValueError(
            f"{len(methods)} method(s) share fewer than 2 data sets with results; tests need at"
            " least 2 of each."
        )
    sizes = sorted({len(one.datasets) for one in found.values()})
    over = f"Over {' or '.join(map(str, sizes))} data sets that all methods have"
    first, *others = (title_of(method) for method in methods)
    limits = [line for size in sizes for line in what_tests_can_tell(len(methods), size)]
    ranks = Table(
        "Average ranks",
        "metric",
        [first, *others, "CD"],
        notes=[
            f"{over}; 1 is best, bold the best rank; CD: Nemenyi's critical difference at level"
            f" {LEVEL:g}.",
            *summary.notes(),
        ],
    )
    friedman = Table(
        "Friedman's test and critical differences",
        "metric",
        ["sets", "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"],
    )
    wilcoxon = Table(
        f"Wilcoxon's signed-rank test of {first}: p-values corrected by Holm",
        "metric",
        others,
        notes=[f"Two-sided. {over}; bold: below {LEVEL:g}.", *summary.remarks, *limits],
    )
    effects = Table(
        f"How much {first} differs from the others",
        "metric",
        others,
        notes=[
            f"{over}: matched-pairs rank-biserial correlation, 1 where {first} is better on all of"
            " them; in brackets data sets won, tied and lost."
        ],
    )
    tables = [ranks, friedman, wilcoxon, effects]
    for table in tables:
        table.sections.append(TableSection("", []))
    for metric, one in found.items():
        p_values = [Cell(p_text(pair.p_holm), pair.p_holm < LEVEL) for pair in one.wilcoxon]
        effects_of = [
            Cell(f"{signed(pair.rank_biserial, 2)} ({pair.wins}/{pair.ties}/{pair.losses})")
            for pair in one.wilcoxon
        ]
        heading = summary.measures[metric].heading
        parts = [_rank_cells(one), _friedman_cells(one), p_values, effects_of]
        for table, cells in zip(tables, parts, strict=True):
            table.sections[0].rows.append((heading, cells))
    return tables


def _rank_cells(one: Significance) -> list[Cell]:
    ranks = [rounded(rank, 2) for rank in one.ranks.values()]
    best = rounded(min(one.ranks.values()), 2)
    return [*(Cell(rank, rank == best) for rank in ranks), Cell(rounded(one.nemenyi, 2))]


def _friedman_cells(one: Significance) -> list[Cell]:
    texts = [str(len(one.datasets)), rounded(one.friedman.chi2, 2), rounded(one.friedman.f, 2)]
    texts += [p_text(one.friedman.f_p), rounded(one.nemenyi), rounded(one.bonferroni_dunn)]
    return list(map(Cell, texts))


def p_text(p: float) -> str:
    """A p-value, which is never 0."""
    return "< 0.001" if p < 0.001 else rounded(p)


def signed(difference: float, digits: int = 1) -> str:
    """With a sign; the minus is as long as the plus.

    >>> signed(0.25), signed(-1.0), signed(-0.01), signed(-0.0123, 3)
    ('+0.2', '−1.0', '0.0', '−0.012')
    """
    text = rounded(difference, digits)
    if not text.strip("0."):
        return text
    return text.replace("-", "−") if difference < 0 else f"+{text}"


def write_tables(tables: Sequence[Table]) -> str:
    """Write tables one after the other, in Markdown; ``pandoc -t latex`` makes LaTeX of it.

    Parameters
    ----------
    tables : sequence of Table

    Examples
    --------
    >>> section = TableSection("", [("F", [Cell("1.5", True)])])
    >>> print(write_tables([Table("Ranks", "metric", ["a_b"], [section])]))
    **Ranks**
    <BLANKLINE>
    | metric |     a_b |
    |:-------|--------:|
    | F      | **1.5** |
    """
    return "\n\n".join(map(to_markdown, tables))


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; titles of sections are rows of their own."""
    rows = [[_escaped(text) for text in (table.corner, *table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_escaped(section.title)}*", *[""] * len(table.head)])
        for name, cells in section.rows:
            row = [_escaped(name)]
            for cell in cells:
                mark = "**" if cell.bold else ""
                row.append(f"{mark}{_escaped(cell.text)}{mark}")
            rows.append(row)
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *texts in rows:
        padded = [text.rjust(width) for text, width in zip(texts, widths, strict=True)]
        lines.append(f"| {' | '.join([name.ljust(first), *padded])} |")
    rules = [":" + "-" * (first + 1), *("-" * (width + 1) + ":" for width in widths)]
    lines.insert(1, f"|{'|'.join(rules)}|")
    notes = [f"\n{_escaped(note)}" for note in table.notes]
    return "\n".join([f"**{_escaped(table.title)}**", "", *lines, *notes])


def _escaped(text: str) -> str:
    """Text on one line, with a backslash before what Markdown would read as markup."""
    return re.sub(r"([\\|*`<>\[\]])", r"\\\1", one_line(text))
