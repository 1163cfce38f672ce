"""How to do the study again, and with which versions it was done."""

from __future__ import annotations

import shlex
from collections import Counter

from skcamel.experiment.units import Run, methods_from_python, study_command
from skcamel.report.page import Section, count
from skcamel.report.study_facts import StudyFacts

NAMES = {"scikit_learn": "scikit-learn", "python": "Python"}


def reproduce_section(facts: StudyFacts) -> Section | None:
    """Commands and versions; None where neither is known."""
    versions = _versions(facts)
    if not versions and not facts.runs:
        return None
    studies = list(dict.fromkeys(study_command(run, device=_device(facts, run)) for run in facts.runs))  # once, whatever the settings
    curves = [f"skcamel sensitivity --dataset {shlex.quote(result['dataset'])} --out DIR" for result in facts.curves]
    commands = [*studies, *curves, "skcamel report DIR -o page.html"] if studies else []
    return Section("reproduce", "Reproduce", {"commands": commands, "note": _note(facts), "versions": versions})


def _versions(facts: StudyFacts) -> list[tuple[str, str]]:
    """Packages with their versions; with the number of units where there are several."""
    found: dict[str, Counter[str]] = {}
    for record in facts.shown:
        for key, value in record.items():
            if key.startswith("version_"):
                found.setdefault(key.removeprefix("version_"), Counter())[str(value)] += 1
    return [
        (
            NAMES.get(name, name),
            next(iter(counts)) if len(counts) == 1 else ", ".join(f"{version} ({count(n, 'unit')})" for version, n in counts.most_common()),
        )
        for name, counts in found.items()
    ]


def _device(facts: StudyFacts, run: Run) -> str:
    """Where CAMEL computed in a run, if it did so in one place."""
    names = {method["name"] for method in run["methods"]}
    devices = {
        record.get("device", "cpu")
        for record in facts.shown
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
