"""Figure 1: how results depend on α, λ1 and λ2, and how Algorithm 1 converges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skcamel.display.convergence import ConvergenceDisplay
from skcamel.display.sensitivity import SYMBOLS, SensitivityDisplay
from skcamel.experiment.paper import METRIC_TITLES, metric_title
from skcamel.metrics.conventions import NAMES
from skcamel.report.page import Section, significant
from skcamel.report.study_facts import StudyFacts


def sensitivity_section(facts: StudyFacts) -> Section | None:
    """Curves of every data set that has them; None without any."""
    if not facts.curves:
        return None
    context = {"datasets": [result["dataset"] for result in facts.curves], "metrics": [METRIC_TITLES[name] for name in NAMES]}
    data = {
        "metrics": [{"name": name, "title": metric_title(name)} for name in NAMES],
        "parameters": [{"name": name, "symbol": symbol, "log": name != "alpha"} for name, symbol in SYMBOLS.items()],
        "sets": [_curves(result) for result in facts.curves],
        "first": NAMES.index("coverage"),  # what the paper draws
    }
    return Section("sensitivity", "Sensitivity", context, data, ("sensitivity.js",))


def _curves(result: Mapping[str, Any]) -> dict[str, Any]:
    setting = ", ".join(f"{symbol} = {significant(result['base'][name])}" for name, symbol in SYMBOLS.items())
    displays = [[SensitivityDisplay.from_result(result, parameter, metric=metric) for metric in NAMES] for parameter in SYMBOLS]
    return {
        "name": result["dataset"],
        "note": f"Mean ± one standard deviation over {result['folds']} folds; the other parameters stay at {setting} "
        f"({result.get('base_found_by', 'given')}).",
        "values": [row[0].values for row in displays],
        "settings": [result["base"][parameter] for parameter in SYMBOLS],
        "means": [[one.means.tolist() for one in row] for row in displays],
        "stds": [[one.stds.tolist() for one in row] for row in displays],
        "delta": ConvergenceDisplay.from_result(result).delta.tolist(),
    }
