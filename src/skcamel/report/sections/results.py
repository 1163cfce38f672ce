"""Results in the form of the paper's Tables 2 and 3, with a choice of metric, data sets, preset and selection criterion."""

from __future__ import annotations

import math
from typing import Any

from skcamel.experiment.paper import LARGE, METRIC_TITLES, REGULAR, metric_title, rounded, title_of
from skcamel.experiment.summary import Figure, Summary
from skcamel.metrics.conventions import LOSSES, NAMES
from skcamel.report.page import Section
from skcamel.report.study_facts import CHOICES, StudyFacts


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
        "metrics": [(metric, METRIC_TITLES[metric]) for metric in NAMES],
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

    A method whose figures do not depend on the criterion has null there, save under the first.
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
