"""The other sections of the page of a study: sensitivity, cost, data sets, failures, and how to do it again."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping
from typing import Any

from skcamel.data.catalogue import list_datasets
from skcamel.display.sensitivity import SYMBOLS, ConvergenceDisplay, SensitivityDisplay
from skcamel.experiment.paper import metric_title, title_of
from skcamel.experiment.summary import Cost
from skcamel.experiment.tables import sizes_table
from skcamel.experiment.units import Run, Unit, methods_from_python, study_command
from skcamel.metrics.conventions import NAMES, TITLES
from skcamel.report.facts import StudyFacts
from skcamel.report.page import Column, Section, significant
from skcamel.rows import default_names
from skcamel.text import count

MB = 1e6
QUANTITIES = (
    ("Fitting, with selection", "seconds", "fit_seconds", 1.0),
    ("Predicting", "seconds", "predict_seconds", 1.0),
    ("Peak memory", "MB", "peak_memory_bytes", MB),
)
COSTS = (
    Column("Data set"),
    Column("Method"),
    Column("Device", note="where the method computed"),
    Column("Training rows", 0),
    Column("Fit, s", 3, "median over the folds, with the selection of hyper-parameters"),
    Column("Predict, s", 3, "median over the folds"),
    Column("Peak memory, MB", 0, "median over the folds, on top of what the process held before: libraries and the data set"),
)
CARDS = (
    Column("Data set"),
    Column("Rows", 0),
    Column("Features", 0),
    Column("Labels", 0),
    Column("Cardinality", 2, "mean number of labels of a row"),
    Column("Density", 3, "the same over the number of labels"),
    Column("Label sets", 0, "different combinations of labels"),
    Column("Mean imbalance", 1, "how much rarer a label is than the commonest one, mean over the labels"),
    Column("Zeros", 2, "share of zeros among the features"),
    Column("Odd"),
)
ODDITIES = {
    "unlabelled_rows": ("row without labels", "rows without labels"),
    "zero_rows": ("row of zeros", "rows of zeros"),
    "duplicate_rows": ("repeated row", "repeated rows"),
    "constant_features": ("constant feature", "constant features"),
    "empty_labels": ("label without rows", "labels without rows"),
    "full_labels": ("label of all rows", "labels of all rows"),
    "missing_values": ("missing value", "missing values"),
}
WARNINGS = (Column("Warning"), Column("Data set"), Column("Method"), Column("Folds", 0, "folds in which it was given"))
PACKAGES = {"scikit_learn": "scikit-learn", "python": "Python"}


def sensitivity_section(facts: StudyFacts) -> Section | None:
    """Figure 1 of every data set that has curves; None without any."""
    if not facts.curves:
        return None
    context = {"datasets": [result["dataset"] for result in facts.curves], "metrics": [TITLES[name] for name in NAMES]}
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


def cost_section(facts: StudyFacts) -> Section | None:
    """What a fold takes: a dot for each data set, a line for each method; None where no record tells."""
    known = [cost for cost in facts.costs if not math.isnan(cost.fit_seconds)]
    if not known:
        return None
    methods = [method for method in facts.summary.methods if any(cost.method == method for cost in known)]
    quantities = [each for each in QUANTITIES if any(getattr(cost, each[2]) > 0 for cost in known)]
    devices = {method: ", ".join(sorted({cost.device for cost in known if cost.method == method})) for method in methods}
    data = {
        "quantities": [{"title": title, "unit": unit} for title, unit, _, _ in quantities],
        "methods": [{"title": title_of(method), "device": devices[method]} for method in methods],
        "dots": [
            {
                "dataset": cost.dataset,
                "method": methods.index(cost.method),
                "values": [getattr(cost, key) / scale for _, _, key, scale in quantities],
            }
            for cost in known
        ],
    }
    context = {
        "columns": COSTS,
        "rows": [
            (c.dataset, title_of(c.method), c.device, c.n_train, c.fit_seconds, c.predict_seconds, c.peak_memory_bytes / MB) for c in known
        ],
        "quantities": [title for title, *_ in quantities],
        "sentence": _devices(known),
    }
    return Section("cost", "Time and memory", context, data, ("cost.js",))


def _devices(costs: list[Cost]) -> str:
    """Say whether times can be compared at all."""
    titles: dict[str, dict[str, None]] = {}
    for cost in costs:
        titles.setdefault(cost.device, {})[title_of(cost.method)] = None
    if len(titles) == 1:
        return f"All methods computed on the same kind of device ({costs[0].device})."
    parts = [f"{', '.join(methods)} on {device}" for device, methods in sorted(titles.items())]
    return f"Methods computed on different devices: {'; '.join(parts)}. Across devices, times compare only roughly."


def cards_section(facts: StudyFacts) -> Section | None:
    """A table of the data sets, and the share of rows that have each label; None where the folder holds no card."""
    cards = {name: facts.cards[name] for name in facts.summary.datasets if name in facts.cards}
    if not cards:
        return None
    keys = ("n", "d", "q", "cardinality", "density", "label_sets", "mean_ir", "sparsity")
    context = {
        "columns": CARDS,
        "rows": [(name, *(card.get(key) for key in keys), _odd(card)) for name, card in cards.items()],
        "notes": sizes_table(cards).notes,
    }
    data = {"sets": [{"name": name, **_labels(card)} for name, card in cards.items()]}
    return Section("cards", "Data sets", context, data, ("cards.js",))


def _labels(card: Mapping[str, Any]) -> dict[str, Any]:
    """Labels from the commonest to the rarest, with the share of rows that have them."""
    counts = card["label_counts"]
    order = sorted(range(len(counts)), key=lambda j: -counts[j])
    names = card.get("label_names") or default_names("label", len(counts))
    return {"labels": [names[j] for j in order], "shares": [counts[j] / card["n"] for j in order]}


def _odd(card: Mapping[str, Any]) -> str:
    found = {key: value if isinstance(value := card.get(key, 0), int) else len(value) for key in ODDITIES}
    return ", ".join(count(number, *ODDITIES[key]) for key, number in found.items() if number) or "–"


def failures_section(facts: StudyFacts) -> Section:
    """Failed units with their tracebacks, and warnings with where they came from."""
    warned = Counter((text, record["dataset"], title_of(record["method"])) for record in facts.shown for text in record.get("warnings", ()))
    finished, n_warned = count(len(facts.shown), "unit"), sum(bool(record.get("warnings")) for record in facts.shown)
    sentence = f"Nothing failed: {finished} finished."
    if facts.failures:
        sentence = f"{count(len(facts.failures), 'unit')} failed and {finished} finished; the same command tries again those that failed."
    if facts.shown:
        sentence += f" {count(n_warned, 'unit') if n_warned else 'None'} gave a warning."
    context = {
        "sentence": sentence,
        "failures": [
            {"unit": str(Unit.of(failure)), "error": failure["error"], "traceback": failure["traceback"]} for failure in facts.failures
        ],
        "columns": WARNINGS,
        "warnings": [(*where, number) for where, number in sorted(warned.items())],
    }
    return Section("failures", "Failures", context)


def reproduce_section(facts: StudyFacts) -> Section | None:
    """Commands that can be pasted, what they leave out, and versions; None where nothing is known."""
    versions = _versions(facts)
    if not versions and not facts.runs:
        return None
    known = list_datasets()
    asked = [_of_the_command(run, known) for run in facts.runs]
    studies = [study_command(run, device=_device(facts, run)) for run in asked if run["datasets"] and run["methods"]]
    curves = [_sensitivity_command(result) for result in facts.curves if result["dataset"] in known]
    commands = [*dict.fromkeys(studies), *curves]  # each once, whatever the settings
    context = {
        "commands": [*commands, "skcamel report DIR -o page.html"] if commands else [],
        "notes": _left_out(facts, known),
        "versions": versions,
    }
    return Section("reproduce", "Reproduce", context)


def _of_the_command(run: Run, known: tuple[str, ...]) -> Run:
    """The part of a run that the command can do: sets of the catalogue, and methods that were not given in Python."""
    given = methods_from_python(run)
    return {
        **run,
        "datasets": [name for name in run["datasets"] if name in known],
        "methods": [method for method in run["methods"] if method["name"] not in given],
    }


def _sensitivity_command(result: Mapping[str, Any]) -> str:
    """The command that draws these curves; its setting is searched for again where it was found by leave-one-out."""
    metric = result.get("base_found_by", "given").removeprefix("leave-one-out, ")
    options = {"metric": metric} if metric in NAMES else result["base"]
    options = {**options, "folds": result["folds"], "seed": result.get("seed", 0)}
    words = [f"--{name} {value}" for name, value in options.items()]
    return " ".join(["skcamel sensitivity --dataset", shlex.quote(result["dataset"]), *words, "-o DIR"])


def _left_out(facts: StudyFacts, known: tuple[str, ...]) -> list[str]:
    """What the commands do not hold, and how to do it."""
    used = [name for run in facts.runs for name in run["datasets"]] + [result["dataset"] for result in facts.curves]
    files = sorted({name for name in used if name not in known})
    methods = sorted({name for run in facts.runs for name in methods_from_python(run)})
    notes = []
    if files:
        which = f"{count(len(files), 'data set')} ({', '.join(files)}) {'is' if len(files) == 1 else 'are'} not in the catalogue"
        notes.append(f"{which}; give the files: skcamel study --datasets FILE,… and skcamel sensitivity --dataset FILE.")
    if methods:
        which = f"{count(len(methods), 'method')} ({', '.join(methods)}) {'was' if len(methods) == 1 else 'were'} given in Python"
        notes.append(f"{which}; there, call skcamel.experiment.run_study with the same estimators.")
    return notes


def _versions(facts: StudyFacts) -> list[tuple[str, str]]:
    """Packages with their versions; with the number of units where there are several."""
    found: dict[str, Counter[str]] = {}
    for record in facts.shown:
        for key, value in record.items():
            if key.startswith("version_"):
                found.setdefault(key.removeprefix("version_"), Counter())[str(value)] += 1
    return [
        (
            PACKAGES.get(name, name),
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
