"""Do the methods differ: average ranks, critical differences and tests, ours and of the paper's own table."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import Any

from skcamel.display.canvas import new_figure
from skcamel.display.critical_difference import BAR, ROW, CriticalDifferenceDisplay
from skcamel.experiment.paper import METRIC_TITLES, PAPER_METHODS, paper_figures, rounded, title_of
from skcamel.experiment.significance import Significance
from skcamel.report.page import Column, Section, count, listed, svg_source
from skcamel.report.study_facts import StudyFacts, tests_of

LEVEL = 0.05
WIDTH = 6.0  # inches
SALT = {"svg.hashsalt": "skcamel", "svg.fonttype": "path"}  # ids of equal drawings are equal, and letters need no font


class PValue(Column):
    """A column of p-values, which are never 0."""

    def text(self, value: Any) -> str:
        """Show a cell."""
        return "< 0.001" if value < 0.001 else super().text(value)


def significance_section(facts: StudyFacts) -> Section:
    """Diagrams, sentences and tables of all metrics; one sentence where there is nothing to test."""
    if not facts.tests:
        return Section("significance", "Significance", {"sentence": _why_not(facts), "metrics": []})
    theirs = tests_of(paper_figures(), PAPER_METHODS) if facts.is_in_paper else {}
    metrics = list(facts.tests)
    first = metrics.index("average_precision") if "average_precision" in metrics else 0
    ours = [_diagram(facts.tests[metric], facts.short_title) for metric in metrics]
    printed = [_diagram(theirs[metric], title_of) for metric in metrics] if theirs else []
    context = {
        "sentence": _which(facts),
        "metrics": [METRIC_TITLES[metric] for metric in metrics],
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
    figure = new_figure((WIDTH, 0.8 + 0.5 * (0.45 + BAR * len(display.groups_) + ROW * math.ceil(len(ranks) / 2))))
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
        "sentence": " ".join([_friedman(one), _beyond(one, title), _wilcoxon(one, title)]),
    }


def _svg(figure: Any) -> str:
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context(SALT):
        figure.savefig(text, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return text.getvalue()


def _friedman(one: Significance) -> str:
    p = one.friedman.f_p
    verdict = "the methods differ" if p < LEVEL else "no difference between the methods shows"
    return f"Friedman’s test over {len(one.datasets)} data sets: {verdict} (F = {_number(one.friedman.f)}, {p_text(p)})."


def _beyond(one: Significance, title: Callable[[str], str]) -> str:
    """Which methods are farther from the control than Nemenyi's and Bonferroni and Dunn's difference."""
    control, *others = one.methods
    ahead = {
        name: [title(other) for other in others if abs(one.ranks[other] - one.ranks[control]) >= difference]
        for name, difference in (("Nemenyi", one.nemenyi), ("Bonferroni–Dunn", one.bonferroni_dunn))
    }
    if ahead["Nemenyi"] == ahead["Bonferroni–Dunn"]:
        return f"{title(control)}’s average rank differs from {_others(ahead['Nemenyi'])}, by Nemenyi’s test and by Bonferroni and Dunn’s."
    return (
        f"{title(control)}’s average rank differs from {_others(ahead['Nemenyi'])} by Nemenyi’s test, "
        f"and from {_others(ahead['Bonferroni–Dunn'])} by Bonferroni and Dunn’s."
    )


def _wilcoxon(one: Significance, title: Callable[[str], str]) -> str:
    found = [title(pair.second) for pair in one.wilcoxon if pair.p_holm < LEVEL]
    return f"Wilcoxon’s signed-rank tests, corrected by Holm, tell {title(one.methods[0])} from {_others(found)}."


def _others(names: list[str]) -> str:
    return listed(names) or "no other method"


def _number(value: float) -> str:
    return rounded(value, 1) if math.isfinite(value) else "∞"


def p_text(p: float) -> str:
    """A p-value for a sentence.

    Examples
    --------
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
        rows.append((METRIC_TITLES[metric], *ranks, *tests))
    return {"columns": columns, "rows": rows, "bold": bold}


def _p_table(facts: StudyFacts) -> Mapping[str, Any]:
    columns = [Column("metric"), *(PValue(facts.short_title(method), 3) for method in facts.fair_methods[1:])]
    rows: list[tuple[Any, ...]] = [(METRIC_TITLES[metric], *(pair.p_holm for pair in one.wilcoxon)) for metric, one in facts.tests.items()]
    bold = {(r, c) for r, row in enumerate(rows) for c, p in enumerate(row) if c and p < LEVEL}
    return {"columns": columns, "rows": rows, "bold": bold, "control": facts.short_title(facts.fair_methods[0])}
