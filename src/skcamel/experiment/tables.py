"""Figures, sizes and tests ► tables ► Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from skcamel.experiment.summary import (
    LARGE,
    REGULAR,
    Figure,
    Summary,
    mean_and_std,
    rounded,
    thousandths,
    title_of,
)
from skcamel.text import one_line, plain_cell

if TYPE_CHECKING:
    from skcamel.experiment.published import PaperFigure, Published
    from skcamel.experiment.significance import Pair, Significance

FORMS = ("markdown", "latex", "csv")
MISSING = "–"
LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "χ": r"$\chi$",
    "²": "$^2$",
    "Δ": r"$\Delta$",
    "·": r"$\cdot$",
    "–": "--",
    "−": "$-$",
    "[": "{[}",
    "*": "{*}",
    "|": r"$|$",
}


class Cell(NamedTuple):
    """Text of one cell, and whether it is best."""

    text: str
    bold: bool = False


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


def sizes_table(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table 1: sizes of the data sets, with a note where the paper prints another figure.

    >>> card = {"n": 2407, "d": 294, "q": 6, "cardinality": 1.074, "density": 0.179}
    >>> sizes_table({"scene": card}).notes
    ['scene: the paper prints 5 labels.']
    """
    from skcamel.experiment.published import paper_table1

    printed = paper_table1()
    notes: list[str] = []
    data = []
    rows: dict[str, list[Row]] = {}
    for name in [*printed, *sorted(set(cards) - set(printed))]:
        if name in cards:
            card = cards[name]
            cells = [str(card[key]) for key in ("n", "d", "q")]
            cells += [rounded(card["cardinality"], 2), rounded(card["density"])]
            rows.setdefault(_part(name), []).append((name, [Cell(text) for text in cells]))
            own = {key: card[key] for key in ("n", "d", "q", "cardinality", "density")}
            data.append({"dataset": name} | own)
            notes += _size_notes(name, card, printed[name]) if name in printed else []
    sections = [TableSection(title, part) for title, part in rows.items()]
    head = ["rows", "features", "labels", "cardinality", "density"]
    return Table("Table 1: data sets", "data set", head, sections, notes, data)


def _part(dataset: str) -> str:
    if dataset in REGULAR:
        return "Regular size"
    return "Large size" if dataset in LARGE else "Not in the paper"


def _size_notes(name: str, card: Mapping[str, Any], printed: Any) -> list[str]:
    words = {"n": "rows", "d": "features", "q": "labels"}
    differ = []
    for key, word in words.items():
        if getattr(printed, key) != card[key]:
            differ.append(f"{getattr(printed, key)} {word}")
    if abs(printed.cardinality - card["cardinality"]) > 0.0051:  # more than rounding
        differ.append(f"a cardinality of {printed.cardinality:.2f}")
    return [f"{name}: the paper prints {figure}." for figure in differ]


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
    sections = []
    data = []
    for metric, measure in summary.measures.items():
        rows: list[Row] = []
        best = {name: best_methods(summary, name, metric) for name in datasets}
        for method in summary.methods:
            figures = [summary.figures.get((name, metric, method)) for name in datasets]
            if not any(figures):
                continue
            bold = [method in best[name] for name in datasets]
            rows.append((title_of(method), list(map(figure_cell, figures, bold))))
            if against is not None:
                rows += _printed_rows(summary, datasets, metric, method, against)
            for name, figure in zip(datasets, figures, strict=True):
                if figure is not None:
                    place = {"dataset": name, "metric": metric, "method": method}
                    chosen = {"selected_by": summary.criteria[name, method]}
                    data.append(place | figure._asdict() | chosen)
        sections.append(TableSection(measure.heading, rows))
    notes = [*summary.notes(datasets), "Bold: best mean at three decimals."]
    if against is not None:
        notes.append(f"Rows named {against.name}: the printed figures, its best in bold.")
        notes.append("Δ: ours less the printed figure, in its std; + is better.")
    return Table(title, "method", [*datasets], sections, notes, data)


def _printed_rows(
    summary: Summary, datasets: Sequence[str], metric: str, method: str, against: Published
) -> list[Row]:
    """The printed figures of a method, and how far ours are from them; none where it has none."""
    from skcamel.experiment.published import in_std

    printed = [against.of(name, metric, method) for name in datasets]
    if not any(printed):
        return []
    differences = []
    for name, cell in zip(datasets, printed, strict=True):
        ours = summary.figures.get((name, metric, method))
        difference = math.nan
        if cell is not None and ours is not None and not math.isnan(ours.mean):
            gain = summary.measures[metric].gain(thousandths(ours.mean), thousandths(cell.mean))
            difference = in_std(gain / 1000, ours.std if math.isnan(cell.std) else cell.std)
        differences.append(Cell(MISSING if math.isnan(difference) else signed(difference)))
    bold = [cell is not None and cell.bold for cell in printed]
    cells = list(map(figure_cell, printed, bold))
    return [(f"· {against.name}", cells), ("· Δ / std", differences)]


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
        if figure is not None and not math.isnan(figure.mean):
            gains[method] = summary.measures[metric].gain(thousandths(figure.mean), 0)
    top = max(gains.values(), default=0)
    best = frozenset(method for method, gain in gains.items() if gain == top)
    return best if len(gains) > 1 else frozenset()


def comparison_table(summary: Summary, method: str, published: Published) -> Table:
    """How many cells of a method are as good as published ones, by each criterion."""
    from skcamel.experiment.published import CRITERIA, compare_with_paper

    comparison = compare_with_paper(summary, method=method, published=published)
    counts = comparison.counts()
    rows: list[Row] = []
    for name, text in CRITERIA.items():
        cases = sum(getattr(one, name) is not None for one in comparison.cells)
        rows.append((text, [Cell(f"{counts[name]}/{cases}")]))
    title = f"{title_of(method)} against the figures of {published.name}"
    sections = [TableSection("", rows)]
    return Table(title, "criterion", ["cells"], sections, comparison.notes, [dict(counts)])


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
    tests = list(found.values())

    def made(title: str, head: list[str], cells: _CellsOf, *notes: str) -> Table:
        rows = [(summary.measures[one.metric].heading, cells(one)) for one in tests]
        return Table(title, "metric", head, [TableSection("", rows)], list(notes))

    def p_values(one: Significance) -> list[Cell]:
        return [Cell(p_text(pair.p_holm), bold=pair.p_holm < level) for pair in one.wilcoxon]

    def effects(one: Significance) -> list[Cell]:
        return [Cell(effect_text(pair)) for pair in one.wilcoxon]

    limits = [line for size in sizes for line in what_tests_can_tell(len(methods), size, level)]
    difference = f"CD: Nemenyi's critical difference at level {level:g}."
    friedman = ["sets", "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"]
    ranks = made(
        "Average ranks",
        [*titles, "CD"],
        _rank_cells,
        f"{over}; 1 is best, bold the best rank. {difference}",
        *summary.notes(),
    )
    ranks.data.extend(_rank_data(tests))
    differences = made("Friedman's test and critical differences", friedman, _friedman_cells)
    wilcoxon = made(
        f"Wilcoxon's signed-rank test of {titles[0]}: p-values corrected by Holm",
        titles[1:],
        p_values,
        f"Two-sided. {over}; bold: below {level:g}.",
        *summary.remarks,
        *limits,
    )
    for one in tests:
        wilcoxon.data.extend({"metric": one.metric} | pair._asdict() for pair in one.wilcoxon)
    sizes_of_effects = made(
        f"How much {titles[0]} differs from the others",
        titles[1:],
        effects,
        f"{over}: matched-pairs rank-biserial correlation, 1 where {titles[0]} is better on all"
        " of them; in brackets data sets won, tied and lost.",
    )
    return [ranks, differences, wilcoxon, sizes_of_effects]


_CellsOf = Callable[["Significance"], list[Cell]]


def _rank_data(tests: Sequence[Significance]) -> list[dict[str, Any]]:
    rows = []
    for one in tests:
        ranks = {f"rank_{method}": rank for method, rank in one.ranks.items()}
        friedman = {f"friedman_{name}": value for name, value in one.friedman._asdict().items()}
        sizes = {"datasets": len(one.datasets), "nemenyi": one.nemenyi}
        rows.append({"metric": one.metric} | sizes | ranks | friedman)
    return rows


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
    form : "markdown", "latex" (packages booktabs and adjustbox) or "csv"
        CSV holds the unrounded figures, with a header for each table and an empty line between
        tables; see also :func:`csv_files`.

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
    if form == "markdown":
        return "\n\n".join(map(to_markdown, tables))
    return "% \\usepackage{booktabs,adjustbox}\n" + "\n\n".join(map(to_latex, tables))


def csv_files(tables: Sequence[Table]) -> dict[str, str]:
    r"""Names and texts of files, one for each table that holds figures.

    >>> csv_files([Table("Ranks", "", [], [], data=[{"metric": "F1", "rank": 1.5}])])
    {'ranks.csv': 'metric,rank\nF1,1.5\n'}
    """
    found = {}
    for table in tables:
        if table.data:
            names = list(dict.fromkeys(name for row in table.data for name in row))
            text = io.StringIO()
            lines = csv.DictWriter(text, names, lineterminator="\n")
            lines.writerow({name: _csv_cell(name) for name in names})
            for row in table.data:
                lines.writerow({name: _csv_cell(value) for name, value in row.items()})
            found[f"{table.slug}.csv"] = text.getvalue()
    return found


def _csv_cell(value: Any) -> Any:
    """Text that no spreadsheet takes for a formula; nothing for NaN."""
    if isinstance(value, str):
        return plain_cell(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; sections become rows of their own."""
    rows = [[_markdown(text) for text in (table.corner, *table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_markdown(section.title)}*", *[""] * len(table.head)])
        for name, cells in section.rows:
            texts = [(_markdown(cell.text), cell.bold) for cell in cells]
            shown = [f"**{text}**" if bold else text for text, bold in texts]
            rows.append([_markdown(name), *shown])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        padded = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        lines.append(f"| {' | '.join([first.ljust(widths[0]), *padded])} |")
    rules = [":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:])]
    lines.insert(1, f"|{'|'.join(rules)}|")
    notes = [f"\n{_markdown(note)}" for note in table.notes]
    return "\n".join([f"**{_markdown(table.title)}**", "", *lines, *notes])


def _markdown(text: str) -> str:
    """Text on one line, with a backslash before what Markdown would read as markup."""
    return re.sub(r"([\\|*`<>\[\]])", r"\\\1", one_line(text))


def to_latex(table: Table) -> str:
    r"""A table environment for booktabs, shrunk to ``\textwidth`` where it is wider."""
    title = re.sub(r"^Table \d+: ", "", table.title)  # LaTeX numbers its tables itself
    label = re.sub(r"^table-\d+-", "", table.slug)
    lines = [
        r"\begin{table}[tbp]",
        r"\centering\footnotesize",
        f"\\caption{{{_latex(title[:1].upper() + title[1:])}}}",
        f"\\label{{tab:{label}}}",
        r"\begin{adjustbox}{max width=\textwidth,max totalheight=0.8\textheight}",
        f"\\begin{{tabular}}{{@{{}}l{'r' * len(table.head)}@{{}}}}",
        r"\toprule",
        " & ".join(_latex(text) for text in (table.corner, *table.head)) + r" \\",
    ]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            title = f"\\emph{{{_latex(section.title)}}}"
            lines.append(f"\\multicolumn{{{len(table.head) + 1}}}{{@{{}}l}}{{{title}}} \\\\")
        for name, cells in section.rows:
            lines.append(" & ".join([_latex(name), *map(_latex_cell, cells)]) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{adjustbox}"]
    if table.notes:
        notes = " ".join(map(_latex, table.notes))
        lines.append(f"\\par\\smallskip\\parbox{{\\textwidth}}{{\\scriptsize {notes}}}")
    return "\n".join([*lines, r"\end{table}"])


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in one_line(text))


def _latex_cell(cell: Cell) -> str:
    """The mean in bold where it is best, the std after it smaller."""
    mean, _, std = cell.text.partition("±")
    text = f"\\textbf{{{_latex(mean)}}}" if cell.bold else _latex(mean)
    return f"{text}{{\\scriptsize $\\pm${_latex(std)}}}" if std else text
