"""The sections of the page of a study that compare methods: results, against the paper, and significance."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skcamel.display.canvas import new_figure
from skcamel.display.critical_difference import CriticalDifferenceDisplay
from skcamel.experiment.comparison import CRITERIA, best_printed, compare_summary
from skcamel.experiment.paper import (
    LARGE,
    PAPER_METHODS,
    REGULAR,
    PaperFigure,
    mean_and_std,
    metric_title,
    paper_figures,
    rounded,
    title_of,
)
from skcamel.experiment.significance import LEVEL, Significance
from skcamel.experiment.summary import AFTERWARDS, Figure, Summary, base_of
from skcamel.experiment.tables import MISSING, claims_table, signed
from skcamel.metrics.conventions import LOSSES, NAMES, TITLES
from skcamel.report.facts import CHOICES, StudyFacts, tests_of
from skcamel.report.page import Column, Section, svg_source
from skcamel.text import count, listed

LIMIT = 3  # std; farther cells have the colour of this one
SHORT = {
    "no_worse": "no worse than the paper’s figure by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure it prints for any method",
    "near_best": "no worse than that best figure by more than one std",
}
SEVEN_MODELS = "Each metric was selected by itself: seven models per set stand against one printed run."
WIDTH = 6.0  # inches of a diagram
SALT = {"svg.hashsalt": "skcamel", "svg.fonttype": "path"}  # ids of equal drawings are equal, and letters need no font


def results_section(facts: StudyFacts) -> Section:
    """Tables that the script fills from the shared figures."""
    groups = [
        ("Regular-size sets (the paper’s Table 2)", [name for name in facts.summary.datasets if name in REGULAR]),
        ("Large-size sets (the paper’s Table 3)", [name for name in facts.summary.datasets if name in LARGE]),
        ("Sets that the paper does not have", [name for name in facts.summary.datasets if name not in REGULAR + LARGE]),
    ]
    filled = [(title, names) for title, names in groups if names]
    if len(filled) == 1 and filled[0][0] == groups[2][0]:
        filled = [("All data sets", filled[0][1])]
    context = {
        "metrics": [(metric, TITLES[metric]) for metric in NAMES],
        "groups": [title for title, _ in filled],
        "datasets": facts.summary.datasets,
        "presets": facts.presets,
        "choices": [(name, CHOICES[name]) for name in facts.summaries],
    }
    position = {name: d for d, name in enumerate(facts.summary.datasets)}
    data = {"groups": [{"title": title, "datasets": [position[name] for name in names]} for title, names in filled]}
    return Section("results", "Results", context, data, ("tables.js", "results.js"))


def shared_figures(facts: StudyFacts) -> dict[str, Any]:
    """All figures, for the sections that show them: [criterion][method][data set] ► seven of [text, mean, std].

    A method whose figures do not depend on the criterion has null under all but the first.
    """
    first, *others = facts.summaries.values()
    methods, datasets = first.methods, first.datasets
    base = [_rows(first, method, datasets) for method in methods]
    varied = [
        [rows if (rows := _rows(one, method, datasets)) != of else None for method, of in zip(methods, base, strict=True)] for one in others
    ]
    return {
        "datasets": datasets,
        "metrics": [{"name": name, "title": metric_title(name), "loss": name in LOSSES} for name in NAMES],
        "methods": [{"title": title_of(method), "preset": facts.preset_of(method)} for method in methods],
        "choices": [{"name": name, "notes": one.notes()} for name, one in facts.summaries.items()],
        "figures": [base, *varied],
    }


def _rows(summary: Summary, method: str, datasets: tuple[str, ...]) -> list[Any]:
    return [
        [_cell(summary.figures[dataset, metric, method]) for metric in NAMES] if (dataset, method) in summary.criteria else None
        for dataset in datasets
    ]


def _cell(figure: Figure) -> list[Any] | None:
    if math.isnan(figure.mean):
        return None
    known = not math.isnan(figure.std)
    return [rounded(figure.mean), rounded(figure.std) if known else "", figure.mean, figure.std if known else None]


def paper_section(facts: StudyFacts) -> Section | None:
    """The heat map and what belongs to it; None if the paper has nothing to compare with."""
    if not facts.is_in_paper:
        return None
    datasets = [name for name in facts.summary.datasets if (name, NAMES[0], "camel") in paper_figures()]
    methods = [
        method for method in facts.summary.methods if base_of(method) in PAPER_METHODS and compare_summary(facts.summary, method).cells
    ]
    methods.sort(key=lambda method: (PAPER_METHODS.index(base_of(method)), facts.preset_of(method) != "paper"))
    known = list(facts.summary.methods)
    data = {
        "limit": LIMIT,
        "datasets": [facts.summary.datasets.index(name) for name in datasets],
        "criteria": list(SHORT.values()),
        "printed": [[_printed(dataset, metric) for metric in NAMES] for dataset in datasets],
        "methods": [
            {
                "index": known.index(method),
                "paper": [[_text(paper_figures()[dataset, metric, base_of(method)]) for metric in NAMES] for dataset in datasets],
                "choices": [_choice(summary, choice, method, datasets) for choice, summary in facts.summaries.items()],
            }
            for method in methods
        ],
    }
    context = {
        "methods": [(known.index(method), title_of(method)) for method in methods],
        "choices": [(name, CHOICES[name]) for name in facts.summaries],
        "claims": _claims(facts),
        "claim_columns": (Column("CAMEL is …"), Column("printed"), Column("from the printed table"), Column("ours")),
    }
    return Section("paper", "Against the paper", context, data, ("heatmap.js", "tables.js", "paper.js"))


def _selection_note(summary: Summary, choice: str, method: str) -> str:
    """What a reader must know about how the hyper-parameters behind a comparison were chosen."""
    criteria = {criterion for (_, name), criterion in summary.criteria.items() if name == method}
    if choice == "nearest" and any(name == method for _, name in summary.afterwards):
        return f"This is {AFTERWARDS}; it explains, but is not a result."
    if criteria == {"each"}:
        return SEVEN_MODELS
    named = sorted(TITLES.get(criterion, criterion).lower() for criterion in criteria if criterion)
    if not named:
        return "Nothing was selected: the method has one setting."
    return f"One model per set and fold, selected by {' or '.join(named)}."


def _choice(summary: Summary, choice: str, method: str, datasets: list[str]) -> dict[str, Any]:
    """A method under one selection criterion: counts, and each cell with its difference and the criteria that it misses."""
    found = compare_summary(summary, method)
    counts = found.counts()
    cells: list[Any] = [[None] * len(NAMES) for _ in datasets]
    for cell in found.cells:
        missed = [i for i, name in enumerate(CRITERIA) if not getattr(cell, name)]
        cells[datasets.index(cell.dataset)][NAMES.index(cell.metric)] = [cell.difference, signed(cell.difference), *missed]
    note = _selection_note(summary, choice, method)
    return {"n": counts["cells"], "counts": [counts[name] for name in CRITERIA], "note": note, "cells": cells}


def _printed(dataset: str, metric: str) -> list[str]:
    best, methods = best_printed(dataset, metric)
    return [_text(best), ", ".join(map(title_of, methods))]


def _text(cell: PaperFigure) -> str:
    return mean_and_std(cell.mean, cell.std)


def _claims(facts: StudyFacts) -> list[tuple[str, ...]]:
    """The paper's own counts beside ours, for the first method of the fair comparison."""
    control = facts.fair_methods[0]
    if base_of(control) != "camel" or len(facts.fair_methods) < 2:
        return []
    table = claims_table(facts.summary, control)
    return [(name, *(cell.text for cell in cells)) for name, cells in table.sections[0].rows if cells[-1].text != MISSING]


class PValue(Column):
    """A column of p-values, which are never 0."""

    def text(self, value: Any) -> str:
        """Show a cell."""
        return "< 0.001" if value < 0.001 else super().text(value)


def significance_section(facts: StudyFacts) -> Section:
    """Diagrams, sentences and tables of all metrics; one sentence if there is nothing to test."""
    if not facts.tests:
        return Section("significance", "Significance", {"sentence": _why_not(facts), "metrics": []})
    theirs = tests_of(paper_figures(), PAPER_METHODS) if facts.is_in_paper else {}
    metrics = list(facts.tests)
    first = metrics.index("average_precision") if "average_precision" in metrics else 0
    ours = [_diagram(facts.tests[metric], facts.short_title) for metric in metrics]
    printed = [_diagram(theirs[metric], title_of) for metric in metrics] if theirs else []
    context = {
        "sentence": _which(facts),
        "metrics": [TITLES[metric] for metric in metrics],
        "first": first,
        "ours": ours[first],
        "paper": printed[first] if printed else None,
        "ranks": _rank_table(facts),
        "p_values": _p_table(facts),
    }
    return Section("significance", "Significance", context, {"ours": ours, "paper": printed}, ("significance.js",))


def _why_not(facts: StudyFacts) -> str:
    methods, datasets = len(facts.fair_methods), len(facts.summary.datasets)
    few = min(methods, datasets) < 2
    return (
        "Tests compare at least two methods on at least two data sets that all of them have; this study has "
        f"{count(methods, 'method')} and {count(datasets, 'data set')}{'' if few else ', but not two sets that all methods have'}."
    )


def _which(facts: StudyFacts) -> str:
    sets = max((one.datasets for one in facts.tests.values()), key=len)
    presets = "several presets" if facts.preset_is_mixed else f"preset {facts.preset_of(facts.fair_methods[0])}"
    left_out = len(facts.summary.datasets) - len(sets)
    return (
        f"{count(len(facts.fair_methods), 'method')} of {presets} are ranked on the {count(len(sets), 'data set')} that all of them have"
        f"{f'; {left_out} others lack a method' if left_out else ''}. One data set is one observation: no test sees "
        f"the folds, and each metric is tested by itself, at level {LEVEL:g}."
    )


def _diagram(one: Significance, title: Callable[[str], str]) -> dict[str, Any]:
    """A critical-difference diagram with its data, and what it says."""
    ranks = {title(method): rank for method, rank in one.ranks.items()}
    display = CriticalDifferenceDisplay(ranks, one.nemenyi)
    figure = new_figure((WIDTH, display.height()))
    display.plot(figure.add_subplot())
    ordered = sorted(ranks, key=lambda name: ranks[name])
    return {
        "source": svg_source(_svg(figure)),
        "csv": [
            ["method", "average_rank", "critical_difference_nemenyi", "datasets"],
            *([name, ranks[name], one.nemenyi, len(one.datasets)] for name in ordered),
        ],
        "alt": f"Average ranks: {', '.join(f'{name} {rounded(ranks[name], 2)}' for name in ordered)}; "
        f"critical difference {rounded(one.nemenyi, 2)}.",
        "sentence": _verdicts(one, title),
    }


def _svg(figure: Any) -> str:
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context(SALT):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return text.getvalue()


def _verdicts(one: Significance, title: Callable[[str], str]) -> str:
    """What Friedman's test says, then Nemenyi's and Bonferroni and Dunn's differences from the control, then Wilcoxon's tests."""
    control, *others = one.methods

    def named(methods: Iterable[str]) -> str:
        return listed([title(method) for method in methods]) or "no other method"

    verdict = "the methods differ" if one.friedman.f_p < LEVEL else "no difference between the methods shows"
    statistic = rounded(one.friedman.f, 1) if math.isfinite(one.friedman.f) else "∞"
    away = {other: abs(one.ranks[other] - one.ranks[control]) for other in others}
    nemenyi, dunn = (named(other for other in others if away[other] >= least) for least in (one.nemenyi, one.bonferroni_dunn))
    by_rank = f" by Nemenyi’s test, and from {dunn} by Bonferroni and Dunn’s"
    if nemenyi == dunn:
        by_rank = ", by Nemenyi’s test and by Bonferroni and Dunn’s"
    return (
        f"Friedman’s test over {len(one.datasets)} data sets: {verdict} (F = {statistic}, {p_text(one.friedman.f_p)}). "
        f"{title(control)}’s average rank differs from {nemenyi}{by_rank}. Wilcoxon’s signed-rank tests, corrected by Holm, distinguish "
        f"{title(control)} from {named(pair.second for pair in one.wilcoxon if pair.p_holm < LEVEL)}."
    )


def p_text(p: float) -> str:
    """A p-value for a sentence.

    >>> p_text(0.00001), p_text(0.0312)
    ('p < 0.001', 'p = 0.031')
    """
    return "p < 0.001" if p < 0.001 else f"p = {rounded(p)}"


def _rank_table(facts: StudyFacts) -> Mapping[str, Any]:
    methods = facts.fair_methods
    columns = [
        Column("metric"),
        *(Column(facts.short_title(method), 2, "average rank, 1 is best") for method in methods),
        Column("sets", 0),
        Column("χ²", 2, "Friedman’s statistic, corrected for ties"),
        Column("F", 2, "Iman and Davenport’s form of it"),
        PValue("p of F", 3),
        Column("CD (Nemenyi)", 2, f"critical difference of any two ranks at level {LEVEL:g}"),
        Column("CD (Bonf.–Dunn)", 2, "critical difference from the first method"),
    ]
    rows: list[tuple[Any, ...]] = []
    bold: set[tuple[int, int]] = set()
    for r, (metric, one) in enumerate(facts.tests.items()):
        ranks = [one.ranks[method] for method in methods]
        bold |= {(r, c + 1) for c, rank in enumerate(ranks) if rounded(rank, 2) == rounded(min(ranks), 2)}
        tests = (len(one.datasets), one.friedman.chi2, one.friedman.f, one.friedman.f_p, one.nemenyi, one.bonferroni_dunn)
        rows.append((TITLES[metric], *ranks, *tests))
    return {"columns": columns, "rows": rows, "bold": bold}


def _p_table(facts: StudyFacts) -> Mapping[str, Any]:
    columns = [Column("metric"), *(PValue(facts.short_title(method), 3) for method in facts.fair_methods[1:])]
    rows: list[tuple[Any, ...]] = [(TITLES[metric], *(pair.p_holm for pair in one.wilcoxon)) for metric, one in facts.tests.items()]
    bold = {(r, c) for r, row in enumerate(rows) for c, p in enumerate(row) if c and p < LEVEL}
    return {"columns": columns, "rows": rows, "bold": bold, "control": facts.short_title(facts.fair_methods[0])}
