"""Figures ► the paper's Tables 1 to 3 and the tables of tests and counts, as rows of text; `forms` writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from skcamel.experiment.comparison import CRITERIA, CellComparison, Comparison, compare_cell
from skcamel.experiment.counts import recount_claims
from skcamel.experiment.paper import (
    LARGE,
    REGULAR,
    gain,
    mean_and_std,
    metric_title,
    paper_figures,
    paper_table1,
    rounded,
    thousandths,
    title_of,
)
from skcamel.experiment.significance import Significance, compare_methods
from skcamel.experiment.summary import Figure, Summary, base_of
from skcamel.metrics.conventions import NAMES

MISSING = "–"


class Cell(NamedTuple):
    """Text of one cell, and whether it is best."""

    text: str
    bold: bool = False


class Section(NamedTuple):
    """Rows under a heading of their own, as the seven metrics of Tables 2 and 3 have one each."""

    title: str
    rows: list[tuple[str, list[Cell]]]  # name of the row, cells


@dataclass(frozen=True)
class Table:
    """A table ready to be written.

    Attributes
    ----------
    title : str
    corner : str
        Heading of the first column.
    head : list of str
        Headings of the others.
    sections : list of Section
    notes : list of str
        What a reader must know: folds, seeds, selection criterion.
    data : list of dict
        The same figures unrounded, one mapping for each, for CSV and JSON.
    """

    title: str
    corner: str
    head: list[str]
    sections: list[Section]
    notes: list[str] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)


def sizes_table(cards: Mapping[str, Mapping[str, Any]]) -> Table:
    """Table 1: sizes of the data sets, with a note where the paper prints another figure.

    Parameters
    ----------
    cards : mapping
        Name ► n, d, q, cardinality and density, as `skcamel.data.card` gives them.

    Examples
    --------
    >>> table = sizes_table({"scene": {"n": 2407, "d": 294, "q": 6, "cardinality": 1.074, "density": 0.179}})
    >>> table.sections[0].rows[0][1][:3], table.notes
    ([Cell(text='2407', bold=False), Cell(text='294', bold=False), Cell(text='6', bold=False)], ['scene: the paper prints 5 labels.'])
    """
    printed = paper_table1()
    groups = {
        "Regular size": [name for name in printed if name in REGULAR],
        "Large size": [name for name in printed if name in LARGE],
        "Not in the paper": sorted(set(cards) - set(printed)),
    }
    sections = [Section(title, [_size_row(name, cards[name]) for name in names if name in cards]) for title, names in groups.items()]
    keys = ("n", "d", "q", "cardinality", "density")
    return Table(
        "Table 1: data sets",
        "data set",
        ["rows", "features", "labels", "cardinality", "density"],
        [section for section in sections if section.rows],
        [note for name in printed if name in cards for note in _size_notes(name, cards[name])],
        [
            {"dataset": name}
            | {key: cards[name][key] for key in keys}
            | {f"paper_{key}": getattr(printed[name], key) if name in printed else None for key in keys[:4]}
            for names in groups.values()
            for name in names
            if name in cards
        ],
    )


def results_table(summary: Summary, datasets: Sequence[str], title: str, *, against_paper: bool = False, std: str = "paper") -> Table:
    """Results in the form of Tables 2 and 3: for each metric methods by data sets, mean ± std, best in bold.

    Parameters
    ----------
    summary : Summary
    datasets : sequence of str
        Columns, in this order; those without results are left out.
    title : str
    against_paper : bool, default=False
        Under each method the paper's figures and the difference in std, positive where ours are better.
    std : "paper" or "larger", default="paper"
        Unit of the difference: the paper's std, or the larger of both.
    """
    columns = [name for name in datasets if name in summary.datasets]
    best = {(dataset, metric): best_methods(summary, dataset, metric) for dataset in columns for metric in NAMES}
    sections = []
    for metric in NAMES:
        rows: list[tuple[str, list[Cell]]] = []
        for method in summary.methods:
            figures = [summary.figures.get((dataset, metric, method)) for dataset in columns]
            if all(figure is None for figure in figures):
                continue
            rows.append((title_of(method), [_cell(f, method in best[d, metric]) for d, f in zip(columns, figures, strict=True)]))
            if against_paper and any((dataset, metric, base_of(method)) in paper_figures() for dataset in columns):
                rows += _paper_rows(figures, columns, metric, base_of(method), std)
        sections.append(Section(metric_title(metric), rows))
    notes = [*summary.notes(columns), "Bold: best mean at three decimals."]
    if against_paper:
        notes.append("In the paper's rows, bold is what it prints in bold.")
        notes.append(f"Δ: ours less the paper's in std ({_UNIT[std]}), signed so that + is better.")
    return Table(title, "method", columns, sections, notes, _long(summary, columns, best, std if against_paper else None))


def result_tables(summary: Summary, *, against_paper: bool = False, std: str = "paper") -> dict[str, Table]:
    """Tables 2 and 3 and, where there are sets that the paper lacks, a table of those: "2", "3", "other".

    Tables without any result are left out.
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


def claims_table(summary: Summary, method: str = "camel") -> Table:
    """The paper's counts: as printed, recounted from its own table, and from ours."""
    theirs, ours = recount_claims(paper_figures()), recount_claims(summary.figures, method)
    rows: list[tuple[str, list[Cell]]] = []
    data: list[dict[str, Any]] = []
    for stated, counted in zip(theirs, ours, strict=True):
        against = ", ".join(map(title_of, stated.against))
        verb = "first among" if stated.kind == "first" else "better than"
        name = f"{verb} {against} ({stated.datasets} data sets)"
        triple = {"printed": stated.printed, "papers_table": stated.counted, "ours": counted.counted}
        rows.append((name, [Cell(f"{count}/{cases}" if cases else MISSING) for count, cases in triple.values()]))
        data.append(
            {"claim": name} | {f"{key}_{part}": pair[i] for key, pair in triple.items() for i, part in enumerate(("count", "cases"))}
        )
    notes = ["At three decimals; equal firsts count as first, equal pairs not as better."]
    return Table(f"Counts of {title_of(method)}", "claim", ["printed", "from its table", "ours"], [Section("", rows)], notes, data)


def comparison_tables(comparison: Comparison, method: str = "camel") -> list[Table]:
    """How many cells keep up with the paper, and every one that misses the best printed figure or falls behind the paper's own."""
    counts = comparison.counts()
    rows = [(text, [Cell(f"{counts[name]}/{counts['cells']}")]) for name, text in CRITERIA.items()]
    data = [{name: counts[name] for name in ("cells", *CRITERIA)}]
    missed = [cell for cell in comparison.cells if not all(getattr(cell, name) for name in CRITERIA)]
    return [
        Table(f"{title_of(method)} against the paper", "criterion", ["cells"], [Section("", rows)], comparison.notes, data),
        Table(
            f"{title_of(method)} against the paper: cells that miss a criterion",
            "cell",
            ["ours", "paper", "best printed", "by", "misses"],
            [Section("", [(f"{cell.dataset}, {metric_title(cell.metric)}", _missed_cells(cell)) for cell in missed])],
            [f"{name.replace('_', ' ')}: {text}." for name, text in CRITERIA.items()],
            [_comparison_row(cell) for cell in comparison.cells],
        ),
    ]


def _missed_cells(cell: CellComparison) -> list[Cell]:
    misses = ", ".join(name.replace("_", " ") for name in CRITERIA if not getattr(cell, name))
    figures = (Cell(mean_and_std(figure.mean, figure.std)) for figure in (cell.paper, cell.best))
    return [_cell(cell.ours, bold=False), *figures, Cell(", ".join(map(title_of, cell.best_methods))), Cell(misses)]


def _comparison_row(cell: CellComparison) -> dict[str, Any]:
    return {
        "dataset": cell.dataset,
        "metric": cell.metric,
        "mean": cell.ours.mean,
        "std": cell.ours.std,
        "paper_mean": cell.paper.mean,
        "paper_std": cell.paper.std,
        "best_mean": cell.best.mean,
        "best_std": cell.best.std,
        "best_methods": " ".join(cell.best_methods),
        "difference_in_std": cell.difference,
    } | {name: getattr(cell, name) for name in CRITERIA}


def significance_tables(summary: Summary, control: str, *, alpha: float = 0.05) -> list[Table]:
    """Average ranks with Friedman's test and critical differences, and Wilcoxon's tests of `control` against the others."""
    found = [compare_methods(summary.figures, metric, methods=summary.methods, control=control, alpha=alpha) for metric in NAMES]
    methods = list(summary.methods)
    others = [method for method in methods if method != control]
    sets = sorted({len(one.datasets) for one in found})
    n_sets = " or ".join(map(str, sets))
    data = [_significance_row(one) for one in found]
    ranks = [(metric_title(one.metric), _rank_cells(one)) for one in found]
    wilcoxon = [
        (metric_title(one.metric), [Cell(_p_text(pair.p_holm), bold=pair.p_holm < alpha) for pair in one.wilcoxon]) for one in found
    ]
    return [
        Table(
            "Average ranks",
            "metric",
            [*map(title_of, methods), "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"],
            [Section("", ranks)],
            [
                f"Over {n_sets} data sets that all methods have; 1 is best, bold the best rank; χ² and F of Friedman's test, with the "
                f"p-value of F; CD: critical differences at level {alpha:g}.",
                *summary.notes(),
            ],
            data,
        ),
        Table(
            f"Wilcoxon's signed-rank test of {title_of(control)}: p-values corrected by Holm",
            "metric",
            [title_of(method) for method in others],
            [Section("", wilcoxon)],
            [f"Two-sided, over {n_sets} data sets; bold: below {alpha:g}."],
            [{"metric": one.metric} | pair._asdict() for one in found for pair in one.wilcoxon],
        ),
    ]


_PARTS = ("count", "cases")
_UNIT = {"paper": "the paper's", "larger": "the larger of both"}


def _size_row(name: str, card: Mapping[str, Any]) -> tuple[str, list[Cell]]:
    return name, [*(Cell(str(card[key])) for key in ("n", "d", "q")), Cell(rounded(card["cardinality"], 2)), Cell(rounded(card["density"]))]


def _size_notes(name: str, card: Mapping[str, Any]) -> list[str]:
    printed = paper_table1()[name]
    words = {"n": "rows", "d": "features", "q": "labels"}
    notes = [
        f"{name}: the paper prints {getattr(printed, key)} {word}." for key, word in words.items() if getattr(printed, key) != card[key]
    ]
    if abs(printed.cardinality - card["cardinality"]) > 0.0051:  # more than rounding to two decimals
        notes.append(f"{name}: the paper prints a cardinality of {printed.cardinality:.2f}.")
    return notes


def best_methods(summary: Summary, dataset: str, metric: str) -> frozenset[str]:
    """Methods with the best mean at three decimals; none where there is nothing to compare with."""
    cells = {method: summary.figures.get((dataset, metric, method)) for method in summary.methods}
    scores = {method: gain(metric, thousandths(f.mean), 0) for method, f in cells.items() if f is not None and not math.isnan(f.mean)}
    top = max(scores.values(), default=0)
    return frozenset(method for method, score in scores.items() if score == top) if len(scores) > 1 else frozenset()


def _cell(figure: Figure | None, bold: bool) -> Cell:
    if figure is None or math.isnan(figure.mean):
        return Cell(MISSING)
    return Cell(mean_and_std(figure.mean, figure.std), bold)


def _paper_rows(
    figures: Sequence[Figure | None], columns: Sequence[str], metric: str, method: str, std: str
) -> list[tuple[str, list[Cell]]]:
    printed = [paper_figures().get((dataset, metric, method)) for dataset in columns]
    differences = [
        Cell(MISSING)
        if ours is None or paper is None or math.isnan(ours.mean)
        else Cell(signed(compare_cell(dataset, metric, ours, method, std).difference))
        for dataset, ours, paper in zip(columns, figures, printed, strict=True)
    ]
    cells = [Cell(MISSING) if p is None else Cell(mean_and_std(p.mean, p.std), p.bold) for p in printed]
    return [("· paper", cells), ("· Δ / std", differences)]


def signed(difference: float) -> str:
    """With a sign and one decimal, and a minus as long as the plus.

    Examples
    --------
    >>> signed(0.25), signed(-1.0), signed(-0.01)
    ('+0.2', '−1.0', '0.0')
    """
    text = rounded(difference, 1)
    return text if text == "0.0" else text.replace("-", "−") if difference < 0 else f"+{text}"


def _long(
    summary: Summary, columns: Sequence[str], best: Mapping[tuple[str, str], frozenset[str]], std: str | None
) -> list[dict[str, Any]]:
    """One mapping per cell."""
    rows = []
    for (dataset, metric, method), figure in summary.figures.items():
        if dataset not in columns:
            continue
        row = {"dataset": dataset, "metric": metric, "method": method} | figure._asdict()
        row |= {"selected_by": summary.criteria[dataset, method], "best": method in best[dataset, metric]}
        row["chosen_afterwards"] = (dataset, method) in summary.afterwards
        if std is not None:
            row |= _paper_fields(dataset, metric, base_of(method), figure, std)
        rows.append(row)
    return rows


def _paper_fields(dataset: str, metric: str, method: str, figure: Figure, std: str) -> dict[str, Any]:
    paper = paper_figures().get((dataset, metric, method))
    if paper is None:
        return dict.fromkeys(("paper_mean", "paper_std", "paper_bold", "difference_in_std"))
    difference = None if math.isnan(figure.mean) else compare_cell(dataset, metric, figure, method, std).difference
    return {"paper_mean": paper.mean, "paper_std": paper.std, "paper_bold": paper.bold, "difference_in_std": difference}


def _rank_cells(one: Significance) -> list[Cell]:
    best = rounded(min(one.ranks.values()), 2)
    ranks = [Cell(text := rounded(one.ranks[method], 2), text == best) for method in one.methods]
    figures = [
        rounded(one.friedman.chi2, 2),
        rounded(one.friedman.f, 2),
        _p_text(one.friedman.f_p),
        rounded(one.nemenyi),
        rounded(one.bonferroni_dunn),
    ]
    return [*ranks, *map(Cell, figures)]


def _significance_row(one: Significance) -> dict[str, Any]:
    row: dict[str, Any] = {"metric": one.metric, "datasets": len(one.datasets)}
    row |= {f"rank_{method}": rank for method, rank in one.ranks.items()}
    row |= {f"friedman_{key}": value for key, value in one.friedman._asdict().items()}
    return row | {"nemenyi": one.nemenyi, "bonferroni_dunn": one.bonferroni_dunn}


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else rounded(p)
