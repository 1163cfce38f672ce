"""Figures ► the paper's Tables 1 to 3 and the tables of tests and counts ► text for a terminal, Markdown, LaTeX, CSV or JSON."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from skcamel.experiment.comparison import CRITERIA, CellComparison, Comparison, compare_cell, recount_claims
from skcamel.experiment.paper import (
    LARGE,
    REGULAR,
    PaperFigure,
    gain,
    mean_and_std,
    metric_title,
    paper_figures,
    paper_table1,
    rounded,
    thousandths,
    title_of,
)
from skcamel.experiment.records import csv_text, finite
from skcamel.experiment.significance import LEVEL, Significance, compare_methods
from skcamel.experiment.summary import Figure, Summary, base_of
from skcamel.metrics.conventions import NAMES, choice
from skcamel.text import one_line

MISSING = "–"
UNIT = {"paper": "the paper's", "larger": "the larger of both"}  # of a difference
FORMS = ("terminal", "markdown", "latex", "csv", "json")
# What means something to LaTeX, and letters that its usual fonts lack
LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "±": r"$\pm$"}
LATEX |= {"↓": r"$\downarrow$", "↑": r"$\uparrow$", "χ": r"$\chi$", "²": "$^2$", "Δ": r"$\Delta$", "α": r"$\alpha$"}
LATEX |= {"λ": r"$\lambda$", "·": r"$\cdot$", "–": "--", "−": "$-$"}


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
    notes: list[str] = field(default_factory=list)  # what a reader must know: folds, seeds, selection criterion
    data: list[dict[str, Any]] = field(default_factory=list)  # the same figures unrounded, one mapping for each, for CSV and JSON

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
        [TableSection(title, [_size_row(name, cards[name]) for name in group]) for title, group in groups.items() if group],
        [note for name in printed if name in cards for note in _size_notes(name, cards[name])],
        [
            {"dataset": name}
            | {key: cards[name][key] for key in keys}
            | {f"paper_{key}": getattr(printed[name], key) if name in printed else None for key in keys[:4]}
            for group in groups.values()
            for name in group
        ],
    )


def _size_row(name: str, card: Mapping[str, Any]) -> Row:
    return name, [*(Cell(str(card[key])) for key in ("n", "d", "q")), Cell(rounded(card["cardinality"], 2)), Cell(rounded(card["density"]))]


def _size_notes(name: str, card: Mapping[str, Any]) -> list[str]:
    printed = paper_table1()[name]
    words = {"n": "rows", "d": "features", "q": "labels"}
    differ = [f"{getattr(printed, key)} {word}" for key, word in words.items() if getattr(printed, key) != card[key]]
    if abs(printed.cardinality - card["cardinality"]) > 0.0051:  # more than rounding to two decimals
        differ.append(f"a cardinality of {printed.cardinality:.2f}")
    return [f"{name}: the paper prints {figure}." for figure in differ]


def result_tables(summary: Summary, *, against_paper: bool = False, std: str = "paper") -> dict[str, Table]:
    """Tables 2 and 3 and, where there are sets that the paper lacks, a table of those: "2", "3", "other".

    Tables without any result are left out.

    Parameters
    ----------
    summary : Summary
    against_paper : bool, default=False
        Under each method the paper's figures and the difference in std, positive where ours are better.
    std : "paper" or "larger", default="paper"
        Unit of the difference: the paper's std, or the larger of both.
    """
    others = [name for name in summary.datasets if name not in REGULAR + LARGE]
    parts = {
        "2": (REGULAR, "Table 2: results on the regular-size data sets"),
        "3": (LARGE, "Table 3: results on the large-size data sets"),
        "other": (others, "Results on data sets that the paper does not have"),
    }
    return {
        name: results_table(summary, datasets, title, against_paper=against_paper, std=std)
        for name, (datasets, title) in parts.items()
        if set(datasets) & set(summary.datasets)
    }


def results_table(summary: Summary, datasets: Sequence[str], title: str, *, against_paper: bool = False, std: str = "paper") -> Table:
    """Results in the form of Tables 2 and 3: for each metric methods by data sets, mean ± std, best in bold.

    Columns are the data sets that have results, in the order given; for the rest see :func:`result_tables`.
    """
    columns = [name for name in datasets if name in summary.datasets]
    best = {(dataset, metric): best_methods(summary, dataset, metric) for dataset in columns for metric in NAMES}
    sections = []
    for metric in NAMES:
        rows: list[Row] = []
        for method in summary.methods:
            figures = {dataset: summary.figures.get((dataset, metric, method)) for dataset in columns}
            if all(figure is None for figure in figures.values()):
                continue
            rows.append((title_of(method), [_cell(figure, method in best[dataset, metric]) for dataset, figure in figures.items()]))
            if against_paper and any((dataset, metric, base_of(method)) in paper_figures() for dataset in columns):
                papers = [_against_paper(dataset, metric, base_of(method), figure, std) for dataset, figure in figures.items()]
                rows.append(("· paper", [_cell(paper, paper is not None and paper.bold) for paper, _ in papers]))
                rows.append(("· Δ / std", [Cell(MISSING if difference is None else signed(difference)) for _, difference in papers]))
        sections.append(TableSection(metric_title(metric), rows))
    notes = [*summary.notes(columns), "Bold: best mean at three decimals."]
    if against_paper:
        notes.append("In the paper's rows, bold is what it prints in bold.")
        notes.append(f"Δ: ours less the paper's in std ({UNIT[std]}), signed so that + is better.")
    data = []
    for (dataset, metric, method), figure in summary.figures.items():
        if dataset in columns:
            row = {"dataset": dataset, "metric": metric, "method": method} | figure._asdict()
            row |= {"selected_by": summary.criteria[dataset, method], "best": method in best[dataset, metric]}
            row["chosen_afterwards"] = (dataset, method) in summary.afterwards
            if against_paper:
                paper, difference = _against_paper(dataset, metric, base_of(method), figure, std)
                row |= {f"paper_{name}": getattr(paper, name, None) for name in PaperFigure._fields} | {"difference_in_std": difference}
            data.append(row)
    return Table(title, "method", columns, sections, notes, data)


def _cell(figure: Figure | PaperFigure | None, bold: bool = False) -> Cell:
    if figure is None or math.isnan(figure.mean):
        return Cell(MISSING)
    return Cell(mean_and_std(figure.mean, figure.std), bold)


def _against_paper(dataset: str, metric: str, method: str, ours: Figure | None, std: str) -> tuple[PaperFigure | None, float | None]:
    """The paper's figure, and the difference of ours in std; None where there is none."""
    paper = paper_figures().get((dataset, metric, method))
    if paper is None or ours is None or math.isnan(ours.mean):
        return paper, None
    return paper, compare_cell(dataset, metric, ours, method, std).difference


def best_methods(summary: Summary, dataset: str, metric: str) -> frozenset[str]:
    """Methods with the best mean at three decimals; none where there is nothing to compare with."""
    cells = {method: summary.figures.get((dataset, metric, method)) for method in summary.methods}
    scores = {method: gain(metric, thousandths(f.mean), 0) for method, f in cells.items() if f is not None and not math.isnan(f.mean)}
    top = max(scores.values(), default=0)
    return frozenset(method for method, score in scores.items() if score == top) if len(scores) > 1 else frozenset()


def signed(difference: float) -> str:
    """With a sign and one decimal; the minus is as long as the plus.

    >>> signed(0.25), signed(-1.0), signed(-0.01)
    ('+0.2', '−1.0', '0.0')
    """
    text = rounded(difference, 1)
    return text if text == "0.0" else text.replace("-", "−") if difference < 0 else f"+{text}"


def claims_table(summary: Summary, method: str = "camel") -> Table:
    """The paper's counts: as printed, recounted from its own table, and from ours."""
    rows: list[Row] = []
    data: list[dict[str, Any]] = []
    for stated, counted in zip(recount_claims(paper_figures()), recount_claims(summary.figures, method), strict=True):
        verb = "first among" if stated.kind == "first" else "better than"
        name = f"{verb} {', '.join(map(title_of, stated.against))} ({stated.datasets} data sets)"
        triple = {"printed": stated.printed, "papers_table": stated.counted, "ours": counted.counted}
        rows.append((name, [Cell(f"{count}/{cases}" if cases else MISSING) for count, cases in triple.values()]))
        data.append({"claim": name})
        for key, (count, cases) in triple.items():
            data[-1] |= {f"{key}_count": count, f"{key}_cases": cases}
    notes = ["At three decimals; equal firsts count as first, equal pairs not as better."]
    return Table(f"Counts of {title_of(method)}", "claim", ["printed", "from its table", "ours"], [TableSection("", rows)], notes, data)


def comparison_tables(comparison: Comparison, method: str = "camel") -> list[Table]:
    """How many cells keep up with the paper, and every one that misses the best printed figure or falls behind the paper's own."""
    title, counts = f"{title_of(method)} against the paper", comparison.counts()
    rows = [(text, [Cell(f"{counts[name]}/{counts['cells']}")]) for name, text in CRITERIA.items()]
    missed = [cell for cell in comparison.cells if not all(getattr(cell, name) for name in CRITERIA)]
    return [
        Table(title, "criterion", ["cells"], [TableSection("", rows)], comparison.notes, [dict(counts)]),
        Table(
            f"{title}: cells that miss a criterion",
            "cell",
            ["ours", "paper", "best printed", "by", "misses"],
            [TableSection("", [(f"{cell.dataset}, {metric_title(cell.metric)}", _missed_cells(cell)) for cell in missed])],
            [f"{name.replace('_', ' ')}: {text}." for name, text in CRITERIA.items()],
            [_comparison_row(cell) for cell in comparison.cells],
        ),
    ]


def _missed_cells(cell: CellComparison) -> list[Cell]:
    misses = ", ".join(name.replace("_", " ") for name in CRITERIA if not getattr(cell, name))
    return [*map(_cell, (cell.ours, cell.paper, cell.best)), Cell(", ".join(map(title_of, cell.best_methods))), Cell(misses)]


def _comparison_row(cell: CellComparison) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": cell.dataset, "metric": cell.metric}
    for start, figure in {"": cell.ours, "paper_": cell.paper, "best_": cell.best}.items():
        row |= {f"{start}mean": figure.mean, f"{start}std": figure.std}
    row |= {"best_methods": " ".join(cell.best_methods), "difference_in_std": cell.difference}
    return row | {name: getattr(cell, name) for name in CRITERIA}


def significance_tables(summary: Summary, control: str) -> list[Table]:
    """Average ranks with Friedman's test and critical differences, and Wilcoxon's tests of `control` against the others."""
    found = [compare_methods(summary.figures, metric, methods=summary.methods, control=control, alpha=LEVEL) for metric in NAMES]
    over = f"{' or '.join(map(str, sorted({len(one.datasets) for one in found})))} data sets"
    wilcoxon = [
        (metric_title(one.metric), [Cell(_p_text(pair.p_holm), bold=pair.p_holm < LEVEL) for pair in one.wilcoxon]) for one in found
    ]
    return [
        Table(
            "Average ranks",
            "metric",
            [*map(title_of, summary.methods), "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"],
            [TableSection("", [(metric_title(one.metric), _rank_cells(one)) for one in found])],
            [
                f"Over {over} that all methods have; 1 is best, bold the best rank; χ² and F of Friedman's test, with the "
                f"p-value of F; CD: critical differences at level {LEVEL:g}.",
                *summary.notes(),
            ],
            [
                {"metric": one.metric, "datasets": len(one.datasets)}
                | {f"rank_{method}": rank for method, rank in one.ranks.items()}
                | {f"friedman_{key}": value for key, value in one.friedman._asdict().items()}
                | {"nemenyi": one.nemenyi, "bonferroni_dunn": one.bonferroni_dunn}
                for one in found
            ],
        ),
        Table(
            f"Wilcoxon's signed-rank test of {title_of(control)}: p-values corrected by Holm",
            "metric",
            [title_of(method) for method in summary.methods if method != control],
            [TableSection("", wilcoxon)],
            [f"Two-sided, over {over}; bold: below {LEVEL:g}."],
            [{"metric": one.metric} | pair._asdict() for one in found for pair in one.wilcoxon],
        ),
    ]


def _rank_cells(one: Significance) -> list[Cell]:
    best = rounded(min(one.ranks.values()), 2)
    ranks = [Cell(text := rounded(one.ranks[method], 2), text == best) for method in one.methods]
    tests = [rounded(one.friedman.chi2, 2), rounded(one.friedman.f, 2), _p_text(one.friedman.f_p)]
    return [*ranks, *map(Cell, (*tests, rounded(one.nemenyi), rounded(one.bonferroni_dunn)))]


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else rounded(p)


def write_tables(tables: Sequence[Table], form: str, *, width: int | None = None) -> str:
    """Write tables one after the other.

    Parameters
    ----------
    tables : sequence of Table
    form : "terminal", "markdown", "latex" (booktabs), "csv" or "json"
        The last two hold the unrounded figures, one row or mapping for each. CSV has one header for each table, with an empty
        line between them.
    width : int, default=None
        Columns of the terminal: wider tables are split between data sets. None: never.

    Examples
    --------
    >>> print(write_tables([Table("Ranks", "metric", ["a_b"], [TableSection("", [("F", [Cell("1.5", True)])])])], "markdown"))
    **Ranks**
    <BLANKLINE>
    | metric |     a_b |
    |:-------|--------:|
    | F      | **1.5** |
    """
    choice(form, FORMS, "form")
    if form == "json":
        return json.dumps([{"title": t.title, "notes": t.notes, "rows": [finite(row) for row in t.data]} for t in tables], indent=1)
    if form == "csv":
        return "\n\n".join(csv_text([finite(row) for row in table.data]).rstrip("\n") for table in tables)
    tables = [_shown(table) for table in tables]
    if form == "terminal":
        return "\n".join(to_terminal(table, width) for table in tables)
    return "\n\n".join(map(to_markdown if form == "markdown" else to_latex, tables))


def _shown(table: Table) -> Table:
    """With every text on one line, safe for a terminal."""

    def row(name: str, cells: Sequence[Cell]) -> Row:
        return one_line(name), [Cell(one_line(cell.text), cell.bold) for cell in cells]

    sections = [TableSection(one_line(title), [row(*each) for each in rows]) for title, rows in table.sections]
    head, notes = ([one_line(text) for text in texts] for texts in (table.head, table.notes))
    return replace(table, title=one_line(table.title), corner=one_line(table.corner), head=head, sections=sections, notes=notes)


def to_markdown(table: Table) -> str:
    """Pipes, aligned also as plain text; sections become rows of their own."""
    rows = [[_markdown(table.corner), *map(_markdown, table.head)]]
    for section in table.sections:
        if section.title:
            rows.append([f"*{_markdown(section.title)}*", *[""] * len(table.head)])
        for name, cells in section.rows:
            rows.append([_markdown(name), *(f"**{_markdown(cell.text)}**" if cell.bold else _markdown(cell.text) for cell in cells)])
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [
        f"| {' | '.join([f'{name:<{first}}', *(f'{text:>{width}}' for text, width in zip(texts, others, strict=True))])} |"
        for name, *texts in rows
    ]
    rule = "|" + "|".join([":" + "-" * (first + 1), *("-" * (width + 1) + ":" for width in others)]) + "|"
    return "\n".join([f"**{_markdown(table.title)}**", "", lines[0], rule, *lines[1:], *(f"\n{_markdown(note)}" for note in table.notes)])


def _markdown(text: str) -> str:
    """Text with a backslash before what Markdown would read as markup; an underscore inside a word is harmless."""
    return re.sub(r"([\\|*`<>\[\]])", r"\\\1", text)


def to_latex(table: Table) -> str:
    r"""A table environment for the package booktabs: ``\usepackage{booktabs}``."""
    width = len(table.head) + 1
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_latex(table.title)}}}", f"\\begin{{tabular}}{{l{'r' * len(table.head)}}}"]
    lines += [r"\toprule", _ampersands(table.corner, [Cell(name) for name in table.head])]
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines += [f"\\multicolumn{{{width}}}{{c}}{{{_latex(section.title)}}} \\\\", f"\\cmidrule{{1-{width}}}"]
        lines += [_ampersands(name, cells) for name, cells in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}", *(f"\\par\\footnotesize {_latex(note)}" for note in table.notes), r"\end{table}"]
    return "\n".join(lines)


def _latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _ampersands(name: str, cells: Sequence[Cell]) -> str:
    texts = (f"\\textbf{{{_latex(cell.text)}}}" if cell.bold else _latex(cell.text) for cell in cells)
    return " & ".join([_latex(name), *texts]) + r" \\"


def to_terminal(table: Table, width: int | None = None) -> str:
    """Draw a table with rich: bold figures for a terminal of `width` columns, else a star beside them."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawing
    from rich.text import Text

    styled = width is not None
    starred = not styled and any(cell.bold for _, cells in table.rows for cell in cells)
    text = io.StringIO()
    console = Console(file=text, width=width or 10_000, highlight=False, force_terminal=styled, color_system="standard" if styled else None)

    def drawn(cell: Cell) -> Text:
        return Text(cell.text + " *"[cell.bold] * starred, style="bold" if cell.bold else "")

    console.print(Text(table.title, style="bold"))
    for part in _parts(table, width):
        drawing = Drawing(box=box.SIMPLE_HEAD, pad_edge=False)
        drawing.add_column(Text(table.corner), no_wrap=width is None)
        for name in table.head[part]:
            drawing.add_column(Text(name), justify="right", no_wrap=True)
        for section in table.sections:
            if section.title:
                drawing.add_row(Text(section.title, style="italic"))
            for name, cells in section.rows:
                drawing.add_row(Text(name), *map(drawn, cells[part]))
            drawing.add_section()
        console.print(drawing)
    for note in [*table.notes, *(["* marks what is bold."] if starred else [])]:
        console.print(Text(note))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _parts(table: Table, width: int | None) -> list[slice]:
    """Columns that fit beside each other."""
    if width is None:
        return [slice(None)]
    names = [table.corner, *(name for name, _ in table.rows), *(section.title for section in table.sections)]
    first = min(max(map(len, names)), width // 2)
    starts, used = [0], first + 2
    for i, name in enumerate(table.head):
        needed = max([len(name), *(len(cells[i].text) for _, cells in table.rows)]) + 3
        if i and used + needed > width:
            starts.append(i)
            used = first + 2
        used += needed
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]
