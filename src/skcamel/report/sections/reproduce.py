"""How to do the study again, and with which versions it was done."""

from __future__ import annotations

from collections import Counter

from skcamel.experiment.contents import Run, methods_from_python, study_command
from skcamel.report.page import Column, Section, count
from skcamel.report.study_facts import StudyFacts

NAMES = {"scikit_learn": "scikit-learn"}
VERSIONS = (Column("Package"), Column("Version"), Column("Units", 0, "finished units that were computed with it"))


def reproduce_section(facts: StudyFacts) -> Section | None:
    """Commands and versions; None where neither is known."""
    found = Counter(
        (key.removeprefix("version_"), str(value))
        for record in facts.records
        for key, value in record.items()
        if key.startswith("version_")
    )
    if not found and not facts.runs:
        return None
    context = {
        "commands": [study_command(run, device=_device(facts, run)) for run in facts.runs],
        "sensitivity": [result["dataset"] for result in facts.curves],
        "note": _note(facts),
        "columns": VERSIONS,
        "versions": [(NAMES.get(name, name), version, number) for (name, version), number in found.items()],
    }
    return Section("reproduce", "Reproduce", context)


def _device(facts: StudyFacts, run: Run) -> str:
    """Where CAMEL computed in a run, if it did so in one place."""
    names = {method["name"] for method in run["methods"]}
    devices = {
        record.get("device", "cpu")
        for record in facts.records
        if record["dataset"] in run["datasets"] and record["method"] in names and record["preset"] == run["preset"]
    }
    return devices.pop() if len(devices) == 1 else "cpu"


def _note(facts: StudyFacts) -> str:
    given = sorted({name for run in facts.runs for name in methods_from_python(run)})
    if not given:
        return ""
    verb = "was" if len(given) == 1 else "were"
    return (
        f"{count(len(given), 'method')} ({', '.join(given)}) {verb} given in Python; "
        "there, call skcamel.experiment.run_study with the same estimators."
    )
