"""Figures, sizes and tests ► tables ► Markdown or CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from skcamel.experiment.summary import (
    LARGE,
    REGULAR,
    Figure,
    Key,
    Record,
    Summary,
    mean_and_std,
    ordered,
    rounded,
    thousandths,
    title_of,
)
from skcamel.text import one_line, plain_cell

if TYPE_CHECKING:
    from skcamel.experiment.published import CellComparison, PaperFigure, Published
    from skcamel.experiment.significance import Pair, Significance

FORMS = ("markdown", "csv")
MISSING = "–"
SIZES = ("rows", "features", "labels", "cardinality", "density")


class Cell(NamedTuple):
    """Text of one cell, and whether it is best."""

    text: str
    bold: bool = False


Row = tuple[str, list[Cell]]  # name of the row, cells
_CellsOf = Callable[["Significance"], list[Cell]]


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
    data : list of dict
        The same figures unrounded, one mapping for each, for CSV.
    """

    title: str
    corner: str
    head: list[str]
    sections: list[TableSection]
    notes: list[str] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """Name for files and labels: small letters, digits and hyphens.

        >>> Table("Table 1: data sets", "", [], []).slug
        'table-1-data-sets'
        """
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "table"


def sizes_table(records: Sequence[Record]) -> Table:
    """Table 1: sizes of the data sets.

    >>> record = {"dataset": "scene", "n_train": 2166, "n_test": 241, "n_features": 294}
    >>> table = sizes_table([record | {"n_labels": 6, "cardinality": 1.074}])
    >>> [cell.text for cell in table.sections[0].rows[0][1]]
    ['2407', '294', '6', '1.07', '0.179']
    """
    found = {record["dataset"]: record for record in records}
    data = []
    rows: list[Row] = []
    for name in ordered(found, [*REGULAR, *LARGE]):
        one = found[name]
        sizes = [one["n_train"] + one["n_test"], one["n_features"], one["n_labels"]]
        shares = [one["cardinality"], one["cardinality"] / one["n_labels"]]
        texts = [*map(str, sizes), rounded(shares[0], 2), rounded(shares[1])]
        rows.append((name, [Cell(text) for text in texts]))
        data.append({"dataset": name} | dict(zip(SIZES, [*sizes, *shares], strict=True)))
    section = TableSection("", rows)
    return Table("Table 1: data sets", "data set", list(SIZES), [section], [], data)


def result_tables(summary: Summary, *, against: Published | None = None) -> dict[str, Table]:
    """Tables 2 and 3, and one of the sets that the paper lacks: "2", "3", "other"; empty ones are left out.

    Parameters
    ----------
    summary : Summary
    against : Published, default=None
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
            found[name] = results_table(summary, datasets, title, against=against)
    return found


def results_table(
    summary: Summary, datasets: Sequence[str], title: str, *, against: Published | None = None
) -> Table:
    """For each metric methods by data sets, mean ± std, best in bold; see :func:`result_tables`."""
    printed = _printed(summary, against)
    sections = []
    data = []
    for metric, measure in summary.measures.items():
        rows: list[Row] = []
        best = {name: best_methods(summary, name, metric) for name in datasets}
        for method in summary.methods:
            figures = {name: summary.figures.get((name, metric, method)) for name in datasets}
            cells = [figure_cell(one, method in best[name]) for name, one in figures.items()]
            if any(figures.values()):
                rows.append((title_of(method), cells))
            comparisons = [printed.get((name, metric, method)) for name in datasets]
            if against is not None and any(comparisons):
                rows += _printed_rows(comparisons, against.name)
            for name, figure in figures.items():
                if figure is not None:
                    place = {"dataset": name, "metric": metric, "method": method}
                    chosen = {"selected_by": summary.criteria[name, method]}
                    data.append(place | figure._asdict() | chosen)
        sections.append(TableSection(measure.heading, rows))
    notes = [*summary.notes(datasets), "Bold: best mean at three decimals."]
    if against is not None:
        notes.append(f"Rows named {against.name}: the printed figures, bold as printed.")
        notes.append("Δ: ours less the printed figure, in its std; + is better.")
    return Table(title, "method", [*datasets], sections, notes, data)


def _printed(summary: Summary, against: Published | None) -> dict[Key, CellComparison]:
    """Cells for which the same method has a printed figure."""
    from skcamel.experiment.published import compare_with_paper

    found: dict[Key, CellComparison] = {}
    for method in () if against is None else summary.methods:
        for cell in compare_with_paper(summary, method=method, published=against).cells:
            if cell.printed is not None:
                found[cell.dataset, cell.metric, method] = cell
    return found


def _printed_rows(cells: Sequence[CellComparison | None], name: str) -> list[Row]:
    """The printed figures of a method, and how far ours are from them."""
    printed = []
    differences = []
    for cell in cells:
        figure = None if cell is None else cell.printed
        printed.append(figure_cell(figure, figure is not None and figure.bold))
        difference = math.nan if cell is None else cell.difference
        differences.append(Cell(MISSING if math.isnan(difference) else signed(difference)))
    return [(f"· {name}", printed), ("· Δ / std", differences)]


def figure_cell(figure: Figure | PaperFigure | None, bold: bool = False) -> Cell:
    """Mean and std; a dash where there are none."""
    if figure is None or math.isnan(figure.mean):
        return Cell(MISSING)
    return Cell(mean_and_std(figure.mean, figure.std), bold)


def best_methods(summary: Summary, dataset: str, metric: str) -> frozenset[str]:
    """Methods with the best mean at three decimals; none where there is nothing to compare with."""
    gains = {}
    for method in summary.methods:
        figure = summary.figures.get((dataset, metric, method))
        if figure is not None and figure.folds:
            gains[method] = summary.measures[metric].gain(thousandths(figure.mean), 0)
    top = max(gains.values(), default=0)
    return frozenset(name for name, gain in gains.items() if gain == top and len(gains) > 1)


def significance_tables(summary: Summary, control: str, *, level: float = 0.05) -> list[Table]:
    """Average ranks, Friedman's test with critical differences, and Wilcoxon's tests of `control` against the others."""
    from skcamel.experiment.significance import compare_by_metric, what_tests_can_tell

    methods = (control, *(name for name in summary.methods if name != control))
    found = compare_by_metric(summary.figures, summary.measures, methods, alpha=level)
    if not found:
        raise ValueError(
            f"{len(methods)} method(s) share fewer than 2 data sets with results; tests need at"
            " least 2 of each."
        )
    sizes = sorted({len(one.datasets) for one in found.values()})
    over = f"Over {' or '.join(map(str, sizes))} data sets that all methods have"
    titles = [title_of(method) for method in methods]
    limits = [line for size in sizes for line in what_tests_can_tell(len(methods), size, level)]
    friedman = ["sets", "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"]
    parts: list[tuple[str, list[str], _CellsOf, list[str]]] = [
        (
            "Average ranks",
            [*titles, "CD"],
            _rank_cells,
            [
                f"{over}; 1 is best, bold the best rank; CD: Nemenyi's critical difference at level"
                f" {level:g}.",
                *summary.notes(),
            ],
        ),
        ("Friedman's test and critical differences", friedman, _friedman_cells, []),
        (
            f"Wilcoxon's signed-rank test of {titles[0]}: p-values corrected by Holm",
            titles[1:],
            lambda one: [Cell(p_text(pair.p_holm), pair.p_holm < level) for pair in one.wilcoxon],
            [f"Two-sided. {over}; bold: below {level:g}.", *summary.remarks, *limits],
        ),
        (
            f"How much {titles[0]} differs from the others",
            titles[1:],
            lambda one: [Cell(effect_text(pair)) for pair in one.wilcoxon],
            [
                f"{over}: matched-pairs rank-biserial correlation, 1 where {titles[0]} is better"
                " on all of them; in brackets data sets won, tied and lost."
            ],
        ),
    ]
    tables = []
    for title, head, cells, notes in parts:
        rows = [(summary.measures[name].heading, cells(one)) for name, one in found.items()]
        tables.append(Table(title, "metric", head, [TableSection("", rows)], notes))
    tables[0].data.extend({"metric": name} | one.ranks for name, one in found.items())
    for name, one in found.items():
        tables[2].data.extend({"metric": name} | pair._asdict() for pair in one.wilcoxon)
    return tables


def _rank_cells(one: Significance) -> list[Cell]:
    best = rounded(min(one.ranks.values()), 2)
    ranks = [rounded(one.ranks[method], 2) for method in one.methods]
    return [*(Cell(rank, rank == best) for rank in ranks), Cell(rounded(one.nemenyi, 2))]


def _friedman_cells(one: Significance) -> list[Cell]:
    texts = [str(len(one.datasets)), rounded(one.friedman.chi2, 2), rounded(one.friedman.f, 2)]
    texts += [p_text(one.friedman.f_p), rounded(one.nemenyi), rounded(one.bonferroni_dunn)]
    return [Cell(text) for text in texts]


def effect_text(pair: Pair) -> str:
    """Effect size of one comparison, with the data sets won, tied and lost: "+0.67 (2/0/1)"."""
    return f"{signed(pair.rank_biserial, 2)} ({pair.wins}/{pair.ties}/{pair.losses})"


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


def write_tables(tables: Sequence[Table], form: str) -> str:
    """Write tables one after the other.

    Parameters
    ----------
    tables : sequence of Table
    form : "markdown" or "csv"
        Markdown becomes LaTeX by ``pandoc -t latex``. CSV holds the unrounded figures, with a
        header for each table and an empty line between tables; see also :func:`csv_files`.

    Examples
    --------
    >>> section = TableSection("", [("F", [Cell("1.5", True)])])
    >>> print(write_tables([Table("Ranks", "metric", ["a_b"], [section])], "markdown"))
    **Ranks**
    <BLANKLINE>
    | metric |     a_b |
    |:-------|--------:|
    | F      | **1.5** |
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    if form == "csv":
        return "\n".join(csv_files(tables).values()).rstrip("\n")
    return "\n\n".join(map(to_markdown, tables))


def csv_files(tables: Iterable[Table]) -> dict[str, str]:
    r"""Names and texts of files, one for each table that holds figures; no text in them is a formula.

    >>> csv_files([Table("Ranks", "", [], [], data=[{"metric": "F1", "rank": 1.5}])])
    {'ranks.csv': 'metric,rank\nF1,1.5\n'}
    """
    found = {}
    for table in tables:
        names = list(dict.fromkeys(name for row in table.data for name in row))
        text = io.StringIO()
        for values in [names, *([row.get(name) for name in names] for row in table.data)]:
            cells = [plain_cell(one) if isinstance(one, str) else one for one in values]
            csv.writer(text, lineterminator="\n").writerow(cells)
        if names:
            found[f"{table.slug}.csv"] = text.getvalue()
    return found


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; titles of sections are rows of their own."""
    rows = [[_escaped(text) for text in (table.corner, *table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_escaped(section.title)}*", *[""] * len(table.head)])
        for name, cells in section.rows:
            marks = ["**" if cell.bold else "" for cell in cells]
            texts = [_escaped(cell.text) for cell in cells]
            shown = [f"{mark}{text}{mark}" for mark, text in zip(marks, texts, strict=True)]
            rows.append([_escaped(name), *shown])
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
