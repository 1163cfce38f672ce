"""What failed and why, and what was warned of."""

from __future__ import annotations

from collections import Counter

from skcamel.experiment.paper import title_of
from skcamel.experiment.units import Unit
from skcamel.report.page import Column, Section, count
from skcamel.report.study_facts import StudyFacts

WARNINGS = (Column("Warning"), Column("Data set"), Column("Method"), Column("Folds", 0, "folds in which it was given"))


def failures_section(facts: StudyFacts) -> Section:
    """Failed units with their tracebacks, and warnings with where they came from."""
    warned = Counter((text, record["dataset"], title_of(record["method"])) for record in facts.shown for text in record.get("warnings", ()))
    context = {
        "sentence": _sentence(facts, sum(bool(record.get("warnings")) for record in facts.shown)),
        "failures": [
            {"unit": str(Unit.of(failure)), "error": failure["error"], "traceback": failure["traceback"]} for failure in facts.failures
        ],
        "columns": WARNINGS,
        "warnings": [(*where, number) for where, number in sorted(warned.items())],
    }
    return Section("failures", "Failures", context)


def _sentence(facts: StudyFacts, n_warned: int) -> str:
    finished = count(len(facts.shown), "unit")
    if facts.failures:
        text = f"{count(len(facts.failures), 'unit')} failed and {finished} finished; the same command tries again those that failed."
    else:
        text = f"Nothing failed: {finished} finished."
    return text + (f" {count(n_warned, 'unit')} gave a warning." if n_warned else " None gave a warning." if facts.shown else "")
