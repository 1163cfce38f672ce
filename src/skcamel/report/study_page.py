"""A study folder ► its page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from statistics import median

from skcamel import memory
from skcamel.experiment.comparison import Comparison, compare_summary
from skcamel.experiment.paper import rounded, title_of
from skcamel.experiment.summary import Record, base_of
from skcamel.experiment.tables import best_methods
from skcamel.experiment.units import planned_units
from skcamel.metrics.conventions import NAMES, TITLES
from skcamel.report.comparison_sections import LEVEL, SEVEN_MODELS, paper_section, results_section, shared_figures, significance_section
from skcamel.report.facts import StudyFacts
from skcamel.report.page import Page, significant, write
from skcamel.report.study_sections import cards_section, cost_section, failures_section, reproduce_section, sensitivity_section
from skcamel.text import count, listed

EMPTY = "This study has no finished unit yet; run skcamel study, then make the page again."
LEAD = (
    "A study runs each method once on each outer fold of each data set. This page compares the methods by seven metrics; "
    "all its figures are computed from the records of the study, and a cell is one metric on one data set."
)
BYTES_OF_A_RECORD, BYTES_OF_A_LABEL = 20_000, 2_000  # at the peak, generously: figures under nine choices, tables and their text
NAMED = 3  # cells that a finding names one by one


def build_report(records: Iterable[Record] | str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Write the page of a study: findings, tables, comparison with the paper, tests, curves, costs, failures and commands.

    Parameters
    ----------
    records : Records, study folder, or iterable of records
        What :func:`skcamel.experiment.run_study` returned, or the folder that it filled.
    path : str or path
        One HTML file that needs nothing else; the same bytes for the same records.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skcamel.data import Dataset
    >>> from skcamel.experiment import run_study
    >>> X, Y = make_multilabel_classification(60, n_classes=3, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = run_study([Dataset(X, Y, name="made")], ["br", "camel"], preset="quick", out=folder)
    ...     build_report(records, f"{folder}/page.html")
    ...     Path(folder, "page.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    facts = StudyFacts.of(records)
    needed = BYTES_OF_A_RECORD * len(facts.records) + BYTES_OF_A_LABEL * sum(len(card["label_counts"]) for card in facts.cards.values())
    memory.require(needed, f"The page of {count(len(facts.records), 'record')}", "Make a page of a part of the study.")
    write(study_page(facts), path)


def study_page(facts: StudyFacts) -> Page:
    """Assemble the page of a study."""
    if not facts.records:
        sections = [failures_section(facts) if facts.failures else None, reproduce_section(facts)]
        return Page("An empty study", EMPTY, [], [section for section in sections if section is not None])
    sections = [
        paper_section(facts),
        results_section(facts),
        significance_section(facts),
        sensitivity_section(facts),
        cost_section(facts),
        cards_section(facts),
        failures_section(facts),
        reproduce_section(facts),
    ]
    methods, datasets = {base_of(method) for method in facts.summary.methods}, facts.summary.datasets
    return Page(
        f"{count(len(methods), 'method')} on {count(len(datasets), 'data set')}",
        LEAD,
        _pairs(facts),
        [section for section in sections if section is not None],
        shared_figures(facts),
        _findings(facts),
    )


def _pairs(facts: StudyFacts) -> list[tuple[str, str]]:
    methods = dict.fromkeys(base_of(method) for method in facts.summary.methods)
    planned = planned_units(facts.runs)
    finished = f"{len(facts.shown):,}" + (f" of {planned:,}" if planned > len(facts.shown) else "")
    devices = sorted({record["device"] for record in facts.shown if "device" in record})
    pairs = [
        ("Rows", _range(facts, "n")),
        ("Labels", _range(facts, "q")),
        ("Methods", ", ".join(map(title_of, methods))),
        ("Presets", ", ".join(facts.presets)),
        ("Protocol", facts.summary.protocol),
        ("Units finished", finished),
        ("Units failed", f"{len(facts.failures):,}"),
        ("Computed on", ", ".join(devices)),
        ("skcamel", ", ".join(sorted({str(record["version_skcamel"]) for record in facts.shown if "version_skcamel" in record}))),
    ]
    return [pair for pair in pairs if pair[1]]


def _range(facts: StudyFacts, key: str) -> str:
    """From the smallest to the largest of the data sets; empty without cards."""
    values = [facts.cards[name][key] for name in facts.summary.datasets if name in facts.cards]
    return "" if not values else f"{min(values):,}" + (f" to {max(values):,}" if min(values) < max(values) else "")


def _findings(facts: StudyFacts) -> list[str]:
    """What a reader should know first, in words."""
    return [*_against_paper(facts), *_ranks(facts), *_times(facts), *_failed(facts), *facts.summary.left_out_notes()]


def _against_paper(facts: StudyFacts) -> list[str]:
    """How CAMEL does against the paper, under each preset; other methods where the study lacks CAMEL."""
    found = []
    methods = [method for method in facts.summary.methods if base_of(method) == "camel"]
    for method in sorted(methods, key=lambda method: facts.preset_of(method) != "paper"):
        comparison = compare_summary(facts.summary, method)
        counts = comparison.counts()
        if counts["cells"]:
            own = {criterion for (_, name), criterion in facts.summary.criteria.items() if name == method}
            found.append(
                f"{title_of(method)} is no worse than the paper’s CAMEL by more than 2 std in {counts['no_worse']} of "
                f"{counts['cells']} cells{_behind(comparison)}; it is at least as good "
                f"as the best figure printed for any method in "
                f"{counts['as_good_as_best']} of them.{f' {SEVEN_MODELS}' if own == {'each'} else ''}"
            )
    return found


def _behind(comparison: Comparison) -> str:
    """Name the cells that do not keep up, or where there are many, their metrics."""
    cells = comparison.missed("no_worse")
    if not cells:
        return ""
    if len(cells) <= NAMED:
        where = listed([f"{TITLES[cell.metric]} on {cell.dataset}" for cell in cells])
        return f" (the other{'s are' if len(cells) > 1 else ' is'} {where})"
    metrics = Counter(TITLES[cell.metric] for cell in cells)
    return f" (of the other {len(cells)}, {listed([f'{number} in {name}' for name, number in metrics.most_common()])})"


def _ranks(facts: StudyFacts) -> list[str]:
    """Who leads, and whether tests see a difference."""
    if not facts.tests:
        return _firsts(facts)
    wins = {
        method: sum(rounded(one.ranks[method], 2) == rounded(min(one.ranks.values()), 2) for one in facts.tests.values())
        for method in facts.fair_methods
    }
    leader = max(wins, key=lambda method: wins[method])
    different = sum(one.friedman.f_p < LEVEL for one in facts.tests.values())
    sets = max(len(one.datasets) for one in facts.tests.values())
    return [
        f"Of {count(len(facts.fair_methods), 'method')} on {count(sets, 'data set')} that all of them have, "
        f"{facts.short_title(leader)} has the best average rank in {wins[leader]} of {count(len(facts.tests), 'metric')}; Friedman’s test "
        f"sees a difference between the methods in {different} of them."
    ]


def _firsts(facts: StudyFacts) -> list[str]:
    """Who has most of the best means, where there is too little for tests."""
    cells = [(dataset, metric) for dataset in facts.summary.datasets for metric in NAMES]
    best = [best_methods(facts.summary, *cell) for cell in cells]
    wins = Counter(method for methods in best for method in sorted(methods))
    if not wins:
        return []
    leader, number = wins.most_common(1)[0]
    return [f"{title_of(leader)} has the best mean in {number} of {count(sum(map(bool, best)), 'cell')}."]


def _times(facts: StudyFacts) -> list[str]:
    """The quickest and the slowest method over the data sets that all have."""
    seconds = {(cost.dataset, cost.method): cost.fit_seconds for cost in facts.costs if cost.fit_seconds > 0}
    methods = [method for method in facts.summary.methods if any(name == method for _, name in seconds)]
    shared = [dataset for dataset in facts.summary.datasets if all((dataset, method) in seconds for method in methods)]
    if len(methods) < 2 or not shared:
        return []
    typical = {method: median(seconds[dataset, method] for dataset in shared) for method in methods}
    devices = {cost.method: cost.device for cost in facts.costs}

    def takes(method: str) -> str:
        return f"{significant(typical[method], 2)} s" + (f" on {devices[method]}" if len(set(devices.values())) > 1 else "")

    quick, slow = (by(typical, key=lambda method: typical[method]) for by in (min, max))
    first = facts.fair_methods[0]
    more = f"; {title_of(first)} takes {takes(first)}" if first in typical and first not in (quick, slow) else ""
    return [
        f"Fitting a fold takes {takes(quick)} with {title_of(quick)} and {takes(slow)} with {title_of(slow)}, the quickest and the slowest "
        f"by the median over {count(len(shared), 'data set')} that all have{more}."
    ]


def _failed(facts: StudyFacts) -> list[str]:
    return [f"{count(len(facts.failures), 'unit')} failed; see Failures for the reasons."] if facts.failures else []
