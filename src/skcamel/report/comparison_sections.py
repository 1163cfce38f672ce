"""The sections of the page of a study that compare methods: ranks, results, significance, and against the paper."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from skcamel.display.critical_difference import CriticalDifferenceDisplay
from skcamel.experiment.published import (
    CRITERIA,
    PAPER_METHODS,
    Comparison,
    PaperFigure,
    compare_with_paper,
    paper_figures,
    paper_table,
)
from skcamel.experiment.significance import (
    LEVEL,
    Significance,
    compare_by_metric,
    what_tests_can_tell,
)
from skcamel.experiment.summary import (
    LARGE,
    REGULAR,
    SEVEN,
    Figure,
    Summary,
    base_of,
    mean_and_std,
    rounded,
    title_of,
)
from skcamel.experiment.tables import effect_text, signed
from skcamel.metrics.conventions import NAMES, TITLES
from skcamel.report.facts import CHOICES, StudyFacts
from skcamel.report.page import Column, Section
from skcamel.text import count, listed

NAMED = 3  # cells that a finding names one by one
LIMIT = 3  # std; farther cells have the colour of this one
SHORT = {
    "no_worse": "no worse than the paper’s figure by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure it prints for any method",
    "near_best": "no worse than that best figure by more than one std",
}
SEVEN_MODELS = (
    "Each metric was selected by itself: seven models per set stand against one printed run."
)
FIRST = "average_precision"  # shown before another metric is chosen


def results_section(facts: StudyFacts) -> Section:
    """One table that the script fills from the shared figures."""
    groups = [
        ("Regular size", [name for name in facts.summary.datasets if name in REGULAR]),
        ("Large size", [name for name in facts.summary.datasets if name in LARGE]),
        (
            "Not in the paper",
            [name for name in facts.summary.datasets if name not in REGULAR + LARGE],
        ),
    ]
    filled = [(title, names) for title, names in groups if names]
    context = {
        "metrics": [(metric, measure.title) for metric, measure in facts.summary.measures.items()],
        "first": FIRST,
        "groups": [title for title, _ in filled] if len(filled) > 1 else [],
        "datasets": facts.summary.datasets,
        "presets": facts.presets,
        "choices": [(name, CHOICES[name]) for name in facts.summaries],
    }
    position = {name: d for d, name in enumerate(facts.summary.datasets)}
    data = {
        "groups": [
            {"title": title, "datasets": [position[name] for name in names]}
            for title, names in filled
        ]
    }
    return Section("results", "Results", context, data, ("tables.js", "results.js"))


def shared_figures(facts: StudyFacts) -> dict[str, Any]:
    """All figures, for the sections that show them: [criterion][method][data set] ► [text, mean, std] of each metric.

    A method whose figures do not depend on the criterion has null under all but the first.
    """
    first, *others = facts.summaries.values()
    methods, datasets = first.methods, first.datasets
    base = [_rows(first, method, datasets) for method in methods]
    varied = [
        [
            rows if (rows := _rows(one, method, datasets)) != of else None
            for method, of in zip(methods, base, strict=True)
        ]
        for one in others
    ]
    return {
        "datasets": datasets,
        "metrics": [
            {"name": name, "title": measure.heading, "loss": measure.best == "smallest"}
            for name, measure in first.measures.items()
        ],
        "methods": [
            {"title": title_of(method), "preset": facts.preset_of(method)} for method in methods
        ],
        "choices": [{"name": name, "notes": one.notes()} for name, one in facts.summaries.items()],
        "figures": [base, *varied],
    }


def _rows(summary: Summary, method: str, datasets: tuple[str, ...]) -> list[Any]:
    return [
        (
            [_cell(summary.figures.get((dataset, metric, method))) for metric in summary.measures]
            if (dataset, method) in summary.criteria
            else None
        )
        for dataset in datasets
    ]


def _cell(figure: Figure | None) -> list[Any] | None:
    if figure is None or math.isnan(figure.mean):
        return None
    known = not math.isnan(figure.std)
    return [
        rounded(figure.mean),
        rounded(figure.std) if known else "",
        figure.mean,
        figure.std if known else None,
    ]


def paper_section(facts: StudyFacts) -> Section | None:
    """The heat map and what belongs to it; None if the paper has nothing to compare with."""
    if not facts.is_in_paper:
        return None
    datasets = [
        name for name in facts.summary.datasets if (name, NAMES[0], "camel") in paper_figures()
    ]
    methods = [
        method
        for method in facts.summary.methods
        if base_of(method) in PAPER_METHODS
        and compare_with_paper(facts.against_paper, method=method).cells
    ]
    methods.sort(
        key=lambda method: (
            PAPER_METHODS.index(base_of(method)),
            facts.preset_of(method) != "paper",
        )
    )
    known = list(facts.summary.methods)
    printed = compare_by_metric(paper_figures(), SEVEN, PAPER_METHODS)
    data = {
        "diagram": _diagram(
            printed[FIRST], title_of
        ),  # the same picture from the figures that the paper prints
        "limit": LIMIT,
        "datasets": [facts.summary.datasets.index(name) for name in datasets],
        "criteria": list(SHORT.values()),
        "printed": [[_printed(dataset, metric) for metric in NAMES] for dataset in datasets],
        "methods": [
            {
                "index": known.index(method),
                "paper": [
                    [_text(paper_figures()[dataset, metric, base_of(method)]) for metric in NAMES]
                    for dataset in datasets
                ],
                "choices": [_choice(facts, method, datasets)],
            }
            for method in methods
        ],
    }
    context = {
        "methods": [(known.index(method), title_of(method)) for method in methods],
        "choices": [(name, CHOICES[name]) for name in facts.summaries],
        "findings": _findings(facts),
    }
    return Section(
        "paper",
        "Against the paper",
        context,
        data,
        ("heatmap.js", "diagram.js", "tables.js", "paper.js"),
    )


def _findings(facts: StudyFacts) -> list[str]:
    """How CAMEL compares with the paper, under each preset."""
    found = []
    methods = [method for method in facts.summary.methods if base_of(method) == "camel"]
    for method in sorted(methods, key=lambda method: facts.preset_of(method) != "paper"):
        comparison = compare_with_paper(facts.against_paper, method=method)
        counts = comparison.counts()
        if counts["cells"]:
            own = {
                criterion
                for (_, name), criterion in facts.summary.criteria.items()
                if name == method
            }
            found.append(
                f"{title_of(method)} keeps up with the paper’s CAMEL, to within 2 std, in"
                f" {counts['no_worse']} of {counts['cells']} figures{_behind(comparison)}. It is at"
                " least as good as the best figure printed for any method in"
                f" {counts['as_good_as_best']}.{f' {SEVEN_MODELS}' if own == {'each'} else ''}"
            )
    return found


def _behind(comparison: Comparison) -> str:
    """Name the cells that do not keep up, or their metrics if there are many."""
    cells = comparison.missed("no_worse")
    if not cells:
        return ""
    if len(cells) <= NAMED:
        where = listed([f"{TITLES[cell.metric]} on {cell.dataset}" for cell in cells])
        return f" (the other{'s are' if len(cells) > 1 else ' is'} {where})"
    metrics = Counter(TITLES[cell.metric] for cell in cells)
    return (
        f" (of the other {len(cells)},"
        f" {listed([f'{number} in {name}' for name, number in metrics.most_common()])})"
    )


def _selection_note(summary: Summary, method: str) -> str:
    """What a reader must know about how the hyper-parameters behind a comparison were chosen."""
    criteria = {criterion for (_, name), criterion in summary.criteria.items() if name == method}
    if criteria == {"each"}:
        return SEVEN_MODELS
    named = sorted(TITLES.get(criterion, criterion).lower() for criterion in criteria if criterion)
    if not named:
        return "Nothing was selected: the method has one setting."
    return f"One model per set and fold, selected by {' or '.join(named)}."


def _choice(facts: StudyFacts, method: str, datasets: list[str]) -> dict[str, Any]:
    """A method under one selection criterion: counts, and each cell with its difference and the criteria that it misses."""
    summary = facts.summary
    found = compare_with_paper(facts.against_paper, method=method)
    counts = found.counts()
    cells: list[Any] = [[None] * len(NAMES) for _ in datasets]
    replaced: dict[str, Any] = {}  # figures under the tie rule of the paper's software
    for cell in found.cells:
        missed = [i for i, name in enumerate(CRITERIA) if getattr(cell, name) is False]
        d, k = datasets.index(cell.dataset), NAMES.index(cell.metric)
        cells[d][k] = [cell.difference, signed(cell.difference), *missed]
        if cell.ours != summary.figures[cell.dataset, cell.metric, method]:
            replaced[f"{d} {k}"] = _cell(cell.ours)
    remarks = facts.against_paper.remarks[:1]
    return {
        "n": counts["cells"],
        "counts": [counts[name] for name in CRITERIA],
        "note": " ".join([_selection_note(summary, method), *remarks]),
        "cells": cells,
        "replaced": replaced,
    }


def _printed(dataset: str, metric: str) -> list[str]:
    found = paper_table().best(dataset, metric, SEVEN[metric])
    if found is None:
        raise KeyError(f"The paper has no figure of {metric} on {dataset}.")
    return [_text(found[0]), ", ".join(map(title_of, found[1]))]


def _text(cell: PaperFigure) -> str:
    return mean_and_std(cell.mean, cell.std)


class PValue(Column):
    """A column of p-values, which are never 0."""

    def text(self, value: Any) -> str:
        """Show a cell."""
        return "< 0.001" if value < 0.001 else super().text(value)


def ranks_section(facts: StudyFacts) -> Section | None:
    """Average ranks and the critical-difference diagram; None if there is nothing to rank."""
    if not facts.tests:
        return None
    metrics = list(facts.tests)
    context = {
        "sentence": _which(facts),
        "limits": what_tests_can_tell(
            len(facts.fair_methods), min(len(one.datasets) for one in facts.tests.values())
        ),
        "metrics": [facts.summary.measures[metric].title for metric in metrics],
        "first": metrics.index(FIRST) if FIRST in metrics else 0,
        "table": _rank_table(facts),
    }
    data = {"diagrams": [_diagram(one, facts.short_title) for one in facts.tests.values()]}
    return Section("ranks", "Ranks", context, data, ("diagram.js", "ranks.js"))


def significance_section(facts: StudyFacts) -> Section:
    """What the tests say of each metric, and their tables; one sentence if there is nothing to test."""
    if not facts.tests:
        return Section("significance", "Tests", {"sentence": _why_not(facts)})
    context = {
        "sentence": (
            "One data set is one observation: no test sees the folds. Each metric is tested by"
            f" itself, at level {LEVEL:g}."
        ),
        "friedman": _friedman_table(facts),
        "p_values": _p_table(facts),
        "effects": _effect_table(facts),
        "control": facts.short_title(facts.fair_methods[0]),
    }
    return Section("significance", "Tests", context)


def _why_not(facts: StudyFacts) -> str:
    methods, datasets = len(facts.fair_methods), len(facts.summary.datasets)
    few = min(methods, datasets) < 2
    return (
        "Tests compare at least two methods on at least two data sets that all of them have; this"
        " study has "
        f"{count(methods, 'method')} and"
        f" {count(datasets, 'data set')}{'' if few else ', but not two sets that all methods have'}."
    )


def _which(facts: StudyFacts) -> str:
    sets = max((one.datasets for one in facts.tests.values()), key=len)
    presets = (
        "of several presets"
        if facts.preset_is_mixed
        else f"of preset {facts.preset_of(facts.fair_methods[0])}"
    )
    left_out = len(facts.summary.datasets) - len(sets)
    return (
        f"{count(len(facts.fair_methods), 'method')} {presets} are ranked on the"
        f" {count(len(sets), 'data set')} that all of them"
        f" have{f'; {left_out} others lack a method' if left_out else ''}."
    )


def _diagram(one: Significance, title: Callable[[str], str]) -> dict[str, Any]:
    """What a critical-difference diagram shows, and the same in words."""
    ranks = {title(method): rank for method, rank in one.ranks.items()}
    ordered = sorted(ranks, key=lambda name: ranks[name])
    groups = CriticalDifferenceDisplay(ranks, one.nemenyi).groups_
    return {
        "ranks": [[name, ranks[name], rounded(ranks[name], 2)] for name in ordered],
        "groups": [[ranks[group[0]], ranks[group[-1]]] for group in groups],
        "difference": one.nemenyi,
        "datasets": len(one.datasets),
        "alt": (
            f"Average ranks: {', '.join(f'{name} {rounded(ranks[name], 2)}' for name in ordered)}; "
            f"critical difference {rounded(one.nemenyi, 2)}."
        ),
        "sentence": _verdicts(one, title),
    }


def _verdicts(one: Significance, title: Callable[[str], str]) -> str:
    """What Friedman's test says, then Nemenyi's and Bonferroni and Dunn's differences from the control, then Wilcoxon's tests."""
    control, *others = one.methods

    def named(methods: Iterable[str]) -> str:
        return listed([title(method) for method in methods]) or "no other method"

    verdict = (
        "the methods differ"
        if one.friedman.f_p < LEVEL
        else "no difference between the methods shows"
    )
    statistic = rounded(one.friedman.f, 1) if math.isfinite(one.friedman.f) else "∞"
    away = {other: abs(one.ranks[other] - one.ranks[control]) for other in others}
    nemenyi, dunn = (
        named(other for other in others if away[other] >= least)
        for least in (one.nemenyi, one.bonferroni_dunn)
    )
    by_rank = f" by Nemenyi’s test, and from {dunn} by Bonferroni and Dunn’s"
    if nemenyi == dunn:
        by_rank = ", by Nemenyi’s test and by Bonferroni and Dunn’s"
    return (
        f"Friedman’s test over {len(one.datasets)} data sets: {verdict} (F = {statistic},"
        f" {p_text(one.friedman.f_p)}). {title(control)}’s average rank differs from"
        f" {nemenyi}{by_rank}. Wilcoxon’s signed-rank tests, corrected by Holm, distinguish"
        f" {title(control)} from"
        f" {named(pair.second for pair in one.wilcoxon if pair.p_holm < LEVEL)}."
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
    ]
    rows: list[tuple[Any, ...]] = []
    bold: set[tuple[int, int]] = set()
    for r, (metric, one) in enumerate(facts.tests.items()):
        ranks = [one.ranks[method] for method in methods]
        bold |= {
            (r, c + 1) for c, rank in enumerate(ranks) if rounded(rank, 2) == rounded(min(ranks), 2)
        }
        rows.append((_heading(facts, metric), *ranks))
    return {"columns": columns, "rows": rows, "bold": bold}


def _friedman_table(facts: StudyFacts) -> Mapping[str, Any]:
    columns = [
        Column("metric"),
        Column("sets", 0),
        Column("χ²", 2, "Friedman’s statistic, corrected for ties"),
        Column("F", 2, "Iman and Davenport’s form of it"),
        PValue("p of F", 3),
        Column("CD (Nemenyi)", 2, f"critical difference of any two ranks at level {LEVEL:g}"),
        Column("CD (Bonf.–Dunn)", 2, "critical difference from the first method"),
    ]
    rows = [
        (
            _heading(facts, metric),
            len(one.datasets),
            *one.friedman[:1],
            *one.friedman[2:],
            one.nemenyi,
            one.bonferroni_dunn,
        )
        for metric, one in facts.tests.items()
    ]
    return {"columns": columns, "rows": rows}


def _p_table(facts: StudyFacts) -> Mapping[str, Any]:
    columns = [
        Column("metric"),
        *(PValue(facts.short_title(method), 3) for method in facts.fair_methods[1:]),
    ]
    rows: list[tuple[Any, ...]] = [
        (_heading(facts, metric), *(pair.p_holm for pair in one.wilcoxon))
        for metric, one in facts.tests.items()
    ]
    bold = {(r, c) for r, row in enumerate(rows) for c, p in enumerate(row) if c and p < LEVEL}
    return {"columns": columns, "rows": rows, "bold": bold}


def _effect_table(facts: StudyFacts) -> Mapping[str, Any]:
    columns = [
        Column("metric"),
        *(Column(facts.short_title(method)) for method in facts.fair_methods[1:]),
    ]
    rows = [
        (_heading(facts, metric), *map(effect_text, one.wilcoxon))
        for metric, one in facts.tests.items()
    ]
    return {"columns": columns, "rows": rows}


def _heading(facts: StudyFacts, metric: str) -> str:
    return facts.summary.measures[metric].heading
