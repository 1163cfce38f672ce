"""Our figures against the paper's: differences of all cells, counts, and every cell that misses a criterion."""

from __future__ import annotations

from typing import Any

from skcamel.experiment.comparison import CRITERIA, CellComparison, Comparison, best_printed, compare_summary
from skcamel.experiment.paper import METRIC_TITLES, PAPER_METHODS, mean_and_std, paper_figures, title_of
from skcamel.experiment.summary import AFTERWARDS, Summary, base_of
from skcamel.experiment.tables import MISSING, claims_table, signed
from skcamel.metrics.conventions import NAMES
from skcamel.report.page import Column, Section
from skcamel.report.study_facts import CHOICES, StudyFacts

LIMIT = 3  # std; farther cells have the colour of this one
SHORT = {
    "no_worse": "no worse than the paper’s figure by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure it prints for any method",
    "near_best": "no worse than that best figure by more than one std",
}
SEVEN_MODELS = "Each metric was selected by itself: seven models per set stand against one printed run."


def paper_section(facts: StudyFacts) -> Section | None:
    """The heat map and what belongs to it; None where the paper has nothing to compare with."""
    if not facts.is_in_paper:
        return None
    datasets = [name for name in facts.summary.datasets if (name, NAMES[0], "camel") in paper_figures()]
    methods = [method for method in facts.summary.methods if base_of(method) in PAPER_METHODS]
    methods.sort(key=lambda method: (methods_rank(method), facts.preset_of(method) != "paper"))
    comparisons = {(choice, method): compare_summary(one, method) for choice, one in facts.summaries.items() for method in methods}
    shown = {key: found for key, found in comparisons.items() if found.cells}
    methods = [method for method in methods if (next(iter(facts.summaries)), method) in shown]
    printed = [[_printed(dataset, metric) for metric in NAMES] for dataset in datasets]
    known = list(facts.summary.methods)
    data = {
        "limit": LIMIT,
        "datasets": [facts.summary.datasets.index(name) for name in datasets],
        "criteria": list(SHORT.values()),
        "printed": printed,
        "methods": [
            {
                "index": known.index(method),
                "paper": [[_text(paper_figures()[dataset, metric, base_of(method)]) for metric in NAMES] for dataset in datasets],
                "choices": [
                    _choice(facts.summaries[choice], shown[choice, method], choice, method, datasets) for choice in facts.summaries
                ],
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


def methods_rank(method: str) -> int:
    """Place of a method in the paper's order."""
    return PAPER_METHODS.index(base_of(method))


def selection_note(summary: Summary, choice: str, method: str) -> str:
    """What a reader must know about how the hyper-parameters behind a comparison were chosen."""
    criteria = {criterion for (_, name), criterion in summary.criteria.items() if name == method}
    if choice == "nearest" and any(name == method for _, name in summary.afterwards):
        return f"This is {AFTERWARDS}; it explains, and is no result."
    if criteria == {"each"}:
        return SEVEN_MODELS
    named = sorted(METRIC_TITLES.get(criterion, criterion).lower() for criterion in criteria if criterion)
    return (
        f"One model per set and fold, selected by {' or '.join(named)}." if named else "Nothing was selected: the method has one setting."
    )


def _choice(summary: Summary, found: Comparison, choice: str, method: str, datasets: list[str]) -> dict[str, Any]:
    counts = found.counts()
    cells: list[Any] = [[None] * len(NAMES) for _ in datasets]
    for cell in found.cells:
        cells[datasets.index(cell.dataset)][NAMES.index(cell.metric)] = [cell.difference, signed(cell.difference), *_misses(cell)]
    return {
        "n": counts["cells"],
        "counts": [counts[name] for name in CRITERIA],
        "note": selection_note(summary, choice, method),
        "cells": cells,
    }


def _misses(cell: CellComparison) -> list[int]:
    return [i for i, name in enumerate(CRITERIA) if not getattr(cell, name)]


def _printed(dataset: str, metric: str) -> list[str]:
    best, methods = best_printed(dataset, metric)
    return [_text(best), ", ".join(map(title_of, methods))]


def _text(cell: Any) -> str:
    return mean_and_std(cell.mean, cell.std)


def _claims(facts: StudyFacts) -> list[tuple[str, ...]]:
    """The paper's own counts beside ours, for the first method of the fair comparison."""
    control = facts.fair_methods[0]
    if base_of(control) != "camel" or len(facts.fair_methods) < 2:
        return []
    table = claims_table(facts.summary, control)
    return [(name, *(cell.text for cell in cells)) for name, cells in table.sections[0].rows if cells[-1].text != MISSING]
