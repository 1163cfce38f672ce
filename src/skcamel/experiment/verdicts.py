"""Comparisons and tests ► tables: counts of cells that keep up, every miss, the paper's counts, ranks, p-values and effect sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skcamel.experiment.comparison import (
    CRITERIA,
    CellComparison,
    Comparison,
    recount_claims,
    under_its_ties,
)
from skcamel.experiment.paper import SEVEN, paper_figures, rounded, title_of
from skcamel.experiment.published import Published, paper_table
from skcamel.experiment.significance import (
    LEVEL,
    Pair,
    Significance,
    compare_by_metric,
    what_tests_can_tell,
)
from skcamel.experiment.summary import Summary
from skcamel.experiment.tables import MISSING, Cell, Row, Table, TableSection, figure_cell, signed

LETTERS = dict(zip(CRITERIA, "abc", strict=True))


def claims_table(summary: Summary, method: str = "camel") -> Table:
    """The paper's counts: as printed, recounted from its own table, and from our own columns."""
    summary = under_its_ties(summary, paper_table())
    rows: list[Row] = []
    data: list[dict[str, Any]] = []
    for stated, counted in zip(
        recount_claims(paper_figures()), recount_claims(summary.figures, method), strict=True
    ):
        verb = "first among" if stated.kind == "first" else "better than"
        name = f"{verb} {', '.join(map(title_of, stated.against))} ({stated.datasets} data sets)"
        triple = {
            "printed": stated.printed,
            "papers_table": stated.counted,
            "ours": counted.counted,
        }
        rows.append(
            (
                name,
                [
                    Cell(f"{count}/{cases}" if cases else MISSING)
                    for count, cases in triple.values()
                ],
            )
        )
        data.append({"claim": name})
        for key, (count, cases) in triple.items():
            data[-1] |= {f"{key}_count": count, f"{key}_cases": cases}
    notes = [
        "At three decimals; equal firsts count as first, equal pairs not as better.",
        *summary.remarks,
    ]
    if any(row["ours_cases"] < row["printed_cases"] for row in data):
        notes.append("Ours: only cells in which the records have all methods named.")
    return Table(
        f"Counts of {title_of(method)}",
        "claim",
        ["printed", "from its table", "ours"],
        [TableSection("", rows)],
        notes,
        data,
    )


def comparison_tables(
    comparison: Comparison, method: str = "camel", published: Published | None = None
) -> list[Table]:
    """How many cells keep up with a published table, and every one that misses a criterion, with by how much."""
    published = published or paper_table()
    title, counts = f"{title_of(method)} against the {published.name}", comparison.counts()
    criteria = {name: text for name, text in CRITERIA.items() if comparison.cases(name)}
    rows = [
        (f"({LETTERS[name]}) {text}", [Cell(f"{counts[name]}/{comparison.cases(name)}")])
        for name, text in criteria.items()
    ]
    missed = [
        cell for cell in comparison.cells if any(getattr(cell, name) is False for name in CRITERIA)
    ]
    headings = {cell.metric: cell.measure.heading for cell in comparison.cells}
    parts = {
        heading: [(cell.dataset, _missed_cells(cell)) for cell in missed if cell.metric == metric]
        for metric, heading in headings.items()
    }
    notes = [
        *(f"({LETTERS[name]}) {text}." for name, text in criteria.items()),
        (
            "Δ: ours less the best printed figure, and the same in std (the larger of both), signed"
            " so that + is better."
        ),
    ]
    return [
        Table(
            title,
            "criterion",
            ["cells"],
            [TableSection("", rows)],
            comparison.notes,
            [dict(counts)],
        ),
        Table(
            f"{title}: cells that miss a criterion",
            "data set",
            ["ours", published.short, "best printed", "by", "Δ", "Δ / std", "misses"],
            [TableSection(heading, cells) for heading, cells in parts.items() if cells]
            or [TableSection("None", [])],
            notes,
            [_comparison_row(cell) for cell in comparison.cells],
        ),
    ]


def _missed_cells(cell: CellComparison) -> list[Cell]:
    misses = " ".join(LETTERS[name] for name in CRITERIA if getattr(cell, name) is False)
    in_std = MISSING if math.isnan(cell.ahead_in_std) else signed(cell.ahead_in_std)
    figures = map(figure_cell, (cell.ours, cell.printed, cell.best))
    return [
        *figures,
        *map(
            Cell,
            (
                ", ".join(map(title_of, cell.best_methods)),
                signed(cell.ahead_of_best, 3),
                in_std,
                misses,
            ),
        ),
    ]


def _comparison_row(cell: CellComparison) -> dict[str, Any]:
    row: dict[str, Any] = {"dataset": cell.dataset, "metric": cell.metric}
    for start, figure in {"": cell.ours, "printed_": cell.printed, "best_": cell.best}.items():
        row |= {
            f"{start}mean": getattr(figure, "mean", None),
            f"{start}std": getattr(figure, "std", None),
        }
    row |= {"best_methods": " ".join(cell.best_methods), "difference_in_std": cell.difference}
    row |= {"ahead_of_best": cell.ahead_of_best, "ahead_of_best_in_std": cell.ahead_in_std}
    return row | {name: getattr(cell, name) for name in CRITERIA}


def selection_table(
    comparisons: Mapping[str, Comparison], method: str, published: Published
) -> Table:
    """How many cells keep up under each selection criterion: one model per metric, or one model for all."""
    rows: list[Row] = []
    data: list[dict[str, Any]] = []
    criteria = [name for name in CRITERIA if any(one.cases(name) for one in comparisons.values())]
    for selected_by, one in comparisons.items():
        counts = one.counts()
        words = (
            "each metric: one model per metric"
            if selected_by == "each"
            else f"{SEVEN[selected_by].title}: one model"
        )
        rows.append((words, [Cell(f"{counts[name]}/{one.cases(name)}") for name in criteria]))
        data.append({"selected_by": selected_by} | counts)
    title = f"{title_of(method)} against the {published.name}, by what selects its hyper-parameters"
    notes = [f"({LETTERS[name]}) {CRITERIA[name]}." for name in criteria]
    return Table(
        title,
        "selected by",
        [f"({LETTERS[name]})" for name in criteria],
        [TableSection("", rows)],
        notes,
        data,
    )


def significance_tables(summary: Summary, control: str, *, level: float = LEVEL) -> list[Table]:
    """Average ranks, Friedman's test with critical differences, Wilcoxon's tests of `control` against the others, and effect sizes."""
    methods = (control, *(name for name in summary.methods if name != control))
    found = compare_by_metric(summary.figures, summary.measures, methods, alpha=level)
    if not found:
        raise ValueError(
            f"{len(methods)} method(s) share fewer than 2 data sets with results; tests need at"
            " least 2 of each."
        )
    sizes = sorted({len(one.datasets) for one in found.values()})
    over = f"{' or '.join(map(str, sizes))} data sets that all methods have"
    tests = list(found.values())

    def rows(cells: Callable[[Significance], list[Cell]]) -> list[TableSection]:
        return [
            TableSection("", [(summary.measures[one.metric].heading, cells(one)) for one in tests])
        ]

    limits = [
        sentence for size in sizes for sentence in what_tests_can_tell(len(methods), size, level)
    ]
    return [
        Table(
            "Average ranks",
            "metric",
            [*map(title_of, methods), "CD"],
            rows(_rank_cells),
            [
                (
                    f"Over {over}; 1 is best, bold the best rank; CD: Nemenyi's critical difference"
                    f" at level {level:g}."
                ),
                *summary.notes(),
            ],
            [
                {"metric": one.metric, "datasets": len(one.datasets)}
                | {f"rank_{method}": rank for method, rank in one.ranks.items()}
                for one in tests
            ],
        ),
        Table(
            "Friedman's test and critical differences",
            "metric",
            ["sets", "χ²", "F", "p of F", "CD Nemenyi", "CD Bonferroni–Dunn"],
            rows(_friedman_cells),
            [
                "χ² and F of Friedman's test, with the p-value of F; critical differences of"
                f" average ranks at level {level:g}."
            ],
            [
                {"metric": one.metric, "datasets": len(one.datasets)}
                | {f"friedman_{key}": value for key, value in one.friedman._asdict().items()}
                | {"nemenyi": one.nemenyi, "bonferroni_dunn": one.bonferroni_dunn}
                for one in tests
            ],
        ),
        *_pair_tables(methods, tests, rows, over, limits, level),
    ]


def _pair_tables(
    methods: Sequence[str],
    tests: Sequence[Significance],
    rows: Callable[[Callable[[Significance], list[Cell]]], list[TableSection]],
    over: str,
    limits: list[str],
    level: float,
) -> list[Table]:
    """Whether, and how much, the first method differs from each of the others; `rows` makes the rows of a table from cells of a test."""
    control, *others = map(title_of, methods)
    data = [{"metric": one.metric} | pair._asdict() for one in tests for pair in one.wilcoxon]

    def p_values(one: Significance) -> list[Cell]:
        return [Cell(_p_text(pair.p_holm), bold=pair.p_holm < level) for pair in one.wilcoxon]

    def effects(one: Significance) -> list[Cell]:
        return [Cell(effect_text(pair)) for pair in one.wilcoxon]

    return [
        Table(
            f"Wilcoxon's signed-rank test of {control}: p-values corrected by Holm",
            "metric",
            others,
            rows(p_values),
            [f"Two-sided, over {over}; bold: below {level:g}.", *limits],
            data,
        ),
        Table(
            f"How much {control} differs from the others",
            "metric",
            others,
            rows(effects),
            [
                f"Matched-pairs rank-biserial correlation over {over}: 1 where {control} is better"
                " on all of them, −1 where it is worse on all; in brackets data sets won, tied and"
                " lost."
            ],
            data,
        ),
    ]


def effect_text(pair: Pair) -> str:
    """Effect size of one comparison, with the data sets won, tied and lost.

    >>> effect_text(Pair("a", "b", 0.25, 0.5, 2 / 3, 2, 0, 1))
    '+0.67 (2/0/1)'
    """
    return f"{signed(pair.rank_biserial, 2)} ({pair.wins}/{pair.ties}/{pair.losses})"


def _rank_cells(one: Significance) -> list[Cell]:
    best = rounded(min(one.ranks.values()), 2)
    ranks = [Cell(text := rounded(one.ranks[method], 2), text == best) for method in one.methods]
    return [*ranks, Cell(rounded(one.nemenyi, 2))]


def _friedman_cells(one: Significance) -> list[Cell]:
    tests = [rounded(one.friedman.chi2, 2), rounded(one.friedman.f, 2), _p_text(one.friedman.f_p)]
    return [
        *map(
            Cell,
            (str(len(one.datasets)), *tests, rounded(one.nemenyi), rounded(one.bonferroni_dunn)),
        )
    ]


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else rounded(p)
