"""A study folder ► its page: findings, costs, data sets, failures and commands; ``comparison_sections`` has the others."""

from __future__ import annotations

import math
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from skcamel import memory
from skcamel.arrays import default_names
from skcamel.data.catalogue import list_datasets
from skcamel.experiment.significance import LEVEL
from skcamel.experiment.summary import Cost, Record, base_of, out_of_date, rounded, title_of
from skcamel.experiment.tables import best_methods, sizes_table
from skcamel.report.comparison_sections import (
    paper_section,
    ranks_section,
    results_section,
    shared_figures,
    significance_section,
)
from skcamel.report.facts import StudyFacts
from skcamel.report.page import Column, Page, Section, significant, write
from skcamel.text import count, listed

EMPTY = "This study has no finished unit yet; run skcamel study, then make the page again."
LEAD = (
    "Every method ran once on every fold of every data set. All figures on this page come from the"
    " records of these runs."
)
BYTES_OF_A_RECORD, BYTES_OF_A_LABEL = (
    20_000,
    2_000,
)  # at the peak, generously: figures under nine choices, tables and their text
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
    Column(
        "Peak memory, MB",
        0,
        "median over the folds, on top of what the process held before: libraries and the data set",
    ),
)
CARDS = (
    Column("Data set"),
    Column("Rows", 0),
    Column("Features", 0),
    Column("Labels", 0),
    Column("Cardinality", 2, "mean number of labels of a row"),
    Column("Density", 3, "the same over the number of labels"),
    Column("Label sets", 0, "different combinations of labels"),
    Column(
        "Mean imbalance",
        1,
        "how much rarer a label is than the commonest one, mean over the labels",
    ),
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
WARNINGS = (
    Column("Warning"),
    Column("Data set"),
    Column("Method"),
    Column("Folds", 0, "folds in which it was given"),
)
PACKAGES = {"scikit_learn": "scikit-learn", "python": "Python"}


def build_report(
    records: Iterable[Record] | str | os.PathLike[str], path: str | os.PathLike[str]
) -> None:
    """Write the page of a study: findings, tables, comparison with the paper, tests, costs, failures and commands.

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
    needed = BYTES_OF_A_RECORD * len(facts.records) + BYTES_OF_A_LABEL * sum(
        len(card["label_counts"]) for card in facts.cards.values()
    )
    memory.require(
        needed,
        f"The page of {count(len(facts.records), 'record')}",
        "Make a page of a part of the study.",
    )
    write(study_page(facts), path)


def study_page(facts: StudyFacts) -> Page:
    """Assemble the page of a study."""
    if not facts.records:
        sections = [failures_section(facts) if facts.failures else None, reproduce_section(facts)]
        return Page(
            "An empty study", EMPTY, [], [section for section in sections if section is not None]
        )
    compared = [ranks_section(facts), results_section(facts), significance_section(facts)]
    about = [
        cost_section(facts),
        cards_section(facts),
        failures_section(facts),
        reproduce_section(facts),
    ]
    sections = [*compared, *about, paper_section(facts)]
    methods, datasets = (
        {base_of(method) for method in facts.summary.methods},
        facts.summary.datasets,
    )
    return Page(
        f"{count(len(methods), 'method')} on {count(len(datasets), 'data set')}",
        LEAD,
        [],
        [section for section in sections if section is not None],
        shared_figures(facts),
        _findings(facts),
    )


def _pairs(facts: StudyFacts) -> list[tuple[str, str]]:
    methods = dict.fromkeys(base_of(method) for method in facts.summary.methods)
    planned = _planned_units(facts.runs)
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
    ]
    return [pair for pair in pairs if pair[1]]


def _range(facts: StudyFacts, key: str) -> str:
    """From the smallest to the largest of the data sets; empty without cards."""
    values = [facts.cards[name][key] for name in facts.summary.datasets if name in facts.cards]
    return (
        ""
        if not values
        else f"{min(values):,}" + (f" to {max(values):,}" if min(values) < max(values) else "")
    )


def _findings(facts: StudyFacts) -> list[str]:
    """What a reader should know first, in sentences."""
    failed = (
        [f"{count(len(facts.failures), 'unit')} failed; see Failures for the reasons."]
        if facts.failures
        else []
    )
    return [*_ranks(facts), *_times(facts), *failed, *out_of_date(facts.records)]


def _ranks(facts: StudyFacts) -> list[str]:
    """Who leads, and whether tests see a difference."""
    if not facts.tests:
        return _firsts(facts)
    wins = {
        method: sum(
            rounded(one.ranks[method], 2) == rounded(min(one.ranks.values()), 2)
            for one in facts.tests.values()
        )
        for method in facts.fair_methods
    }
    leader = max(wins, key=lambda method: wins[method])
    different = sum(one.friedman.f_p < LEVEL for one in facts.tests.values())
    sets = max(len(one.datasets) for one in facts.tests.values())
    return [
        f"{facts.short_title(leader)} has the best average rank in {wins[leader]} of"
        f" {count(len(facts.tests), 'metric')}, of {count(len(facts.fair_methods), 'method')} on"
        f" {count(sets, 'data set')}. Friedman’s test sees a difference between the methods in"
        f" {different} of them."
    ]


def _firsts(facts: StudyFacts) -> list[str]:
    """Who has most of the best means, if there is too little for tests."""
    cells = [
        (dataset, metric) for dataset in facts.summary.datasets for metric in facts.summary.measures
    ]
    best = [best_methods(facts.summary, *cell) for cell in cells]
    wins = Counter(method for methods in best for method in sorted(methods))
    if not wins:
        return []
    number = max(wins.values())
    leaders = [title_of(method) for method in facts.summary.methods if wins[method] == number]
    return [
        f"{listed(leaders)} {'has' if len(leaders) == 1 else 'have'} the best mean in {number} of"
        f" {count(sum(map(bool, best)), 'cell')}."
    ]


def _times(facts: StudyFacts) -> list[str]:
    """The quickest and the slowest method over the data sets that all have."""
    seconds = {
        (cost.dataset, cost.method): cost.fit_seconds
        for cost in facts.costs
        if cost.fit_seconds > 0
    }
    methods = [
        method for method in facts.summary.methods if any(name == method for _, name in seconds)
    ]
    shared = [
        dataset
        for dataset in facts.summary.datasets
        if all((dataset, method) in seconds for method in methods)
    ]
    if len(methods) < 2 or not shared:
        return []
    typical = {method: median(seconds[dataset, method] for dataset in shared) for method in methods}
    devices = {cost.method: cost.device for cost in facts.costs}

    def takes(method: str) -> str:
        return f"{significant(typical[method], 2)} s" + (
            f" on {devices[method]}" if len(set(devices.values())) > 1 else ""
        )

    quick, slow = (by(typical, key=lambda method: typical[method]) for by in (min, max))
    first = facts.fair_methods[0]
    more = (
        f"; {title_of(first)} takes {takes(first)}"
        if first in typical and first not in (quick, slow)
        else ""
    )
    return [
        f"{title_of(quick)} is the quickest to fit, {takes(quick)} for a fold, and {title_of(slow)}"
        f" the slowest, {takes(slow)} (medians over {count(len(shared), 'data set')}){more}."
    ]


def cost_section(facts: StudyFacts) -> Section | None:
    """What a fold costs: a dot for each data set, a line for each method; None if no record says."""
    known = [cost for cost in facts.costs if not math.isnan(cost.fit_seconds)]
    if not known:
        return None
    methods = [
        method for method in facts.summary.methods if any(cost.method == method for cost in known)
    ]
    quantities = [each for each in QUANTITIES if any(getattr(cost, each[2]) > 0 for cost in known)]
    devices = {
        method: ", ".join(sorted({cost.device for cost in known if cost.method == method}))
        for method in methods
    }
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
            (
                c.dataset,
                title_of(c.method),
                c.device,
                c.n_train,
                c.fit_seconds,
                c.predict_seconds,
                c.peak_memory_bytes / MB,
            )
            for c in known
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
    return (
        f"Methods computed on different devices: {'; '.join(parts)}. Across devices, times compare"
        " only roughly."
    )


def cards_section(facts: StudyFacts) -> Section | None:
    """A table of the data sets, and the share of rows known to have each label; None where the folder holds no card."""
    cards = {name: facts.cards[name] for name in facts.summary.datasets if name in facts.cards}
    if not cards:
        return None
    keys = ("n", "d", "q", "cardinality", "density", "label_sets", "mean_ir", "sparsity")
    context = {
        "columns": CARDS,
        "rows": [
            (name, *(card.get(key) for key in keys), _odd(card)) for name, card in cards.items()
        ],
        "notes": sizes_table(cards).notes,
    }
    data = {"sets": [{"name": name, **_labels(card)} for name, card in cards.items()]}
    return Section("cards", "Data sets", context, data, ("cards.js",))


def _labels(card: Mapping[str, Any]) -> dict[str, Any]:
    """Labels from the commonest to the rarest, with the share that has them of the rows that know them; 0 where none does."""
    counts = card["label_counts"]
    known = card.get("label_known") or [card["n"]] * len(counts)
    shares = [count / max(rows, 1) for count, rows in zip(counts, known, strict=True)]
    order = sorted(range(len(counts)), key=lambda j: -shares[j])
    names = card.get("label_names") or default_names("label", len(counts))
    whole = "rows" if card.get("known", 1) == 1 else "rows that know it"
    return {"labels": [names[j] for j in order], "shares": [shares[j] for j in order], "of": whole}


def _odd(card: Mapping[str, Any]) -> str:
    found = {
        key: value if isinstance(value := card.get(key, 0), int) else len(value) for key in ODDITIES
    }
    told = [count(number, *ODDITIES[key]) for key, number in found.items() if number]
    unknown = 1 - card.get("known", 1)
    return (
        ", ".join([*told, *([f"{100 * unknown:.2g} % of the labels unknown"] if unknown else [])])
        or "–"
    )


def failures_section(facts: StudyFacts) -> Section:
    """Failed units with their tracebacks, and warnings with where they came from."""
    warned = Counter(
        (text, record["dataset"], title_of(record["method"]))
        for record in facts.shown
        for text in record.get("warnings", ())
    )
    finished, n_warned = (
        count(len(facts.shown), "unit"),
        sum(bool(record.get("warnings")) for record in facts.shown),
    )
    sentence = f"Nothing failed: {finished} finished."
    if facts.failures:
        sentence = (
            f"{count(len(facts.failures), 'unit')} failed and {finished} finished; the same command"
            " repeats those that failed."
        )
    if facts.shown:
        sentence += f" {count(n_warned, 'unit') if n_warned else 'None'} gave a warning."
    context = {
        "sentence": sentence,
        "failures": _by_error(facts.failures),
        "columns": WARNINGS,
        "warnings": [(*where, number) for where, number in sorted(warned.items())],
    }
    return Section("failures", "Failures", context)


def _by_error(failures: Sequence[Record]) -> list[dict[str, Any]]:
    """Failed units under what they failed of, the commonest error first, with the traceback of one of them."""
    groups: dict[str, list[Record]] = {}
    for failure in failures:
        groups.setdefault(failure["error"], []).append(failure)
    return [
        {
            "error": error,
            "units": [
                f"{one['dataset']}, {one['method']}, {one['preset']},"
                f" fold {one['fold'] + 1} of {one['n_folds']}"
                for one in group
            ],
            "traceback": group[0]["traceback"],
        }
        for error, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def reproduce_section(facts: StudyFacts) -> Section | None:
    """How the study was run, commands that can be pasted, what they leave out, and versions; None where nothing is known."""
    versions = _versions(facts)
    if not versions and not facts.runs:
        return None
    known = list_datasets()
    studies = [_study_command(run, known) for run in facts.runs]
    commands = [command for command in dict.fromkeys(studies) if command]
    context = {
        "commands": [*commands, "skcamel report DIR -o page.html"] if commands else [],
        "notes": _left_out(facts, known),
        "versions": [*(_pairs(facts) if facts.records else []), *versions],
    }
    return Section("reproduce", "How it was run", context)


def _planned_units(runs: Sequence[Mapping[str, Any]]) -> int:
    """How many units the runs ask for; one that several ask for counts once."""
    planned = {
        (dataset, method, run["preset"], run["seed"], run["folds"], run["n_folds"])
        for run in runs
        for dataset in run["datasets"]
        for method in run["methods"]
    }
    return sum(n_folds for *_, n_folds in planned)


def _study_command(run: Mapping[str, Any], known: Sequence[str]) -> str:
    """The command for the sets of the catalogue and the methods that it can name; empty without any."""
    datasets = [name for name in run["datasets"] if name in known]
    methods = [spec for spec in run["methods"].values() if spec]
    if not datasets or not methods:
        return ""
    options = {"datasets": ",".join(datasets), "methods": ",".join(methods)}
    options |= {"preset": run["preset"], "seed": str(run["seed"])}
    kind = run["folds"].removeprefix("grouped-")
    options["folds"] = "plain" if kind == "grouped" else kind
    options |= {} if kind == "given" else {"n-folds": str(run["n_folds"])}
    options |= {"groups": "COLUMN"} if "grouped" in run["folds"] else {}
    words = [f"--{name} {shlex.quote(value)}" for name, value in options.items()]
    return f"skcamel study {' '.join(words)} -o DIR"


def _left_out(facts: StudyFacts, known: tuple[str, ...]) -> list[str]:
    """What the commands do not hold, and how to do it."""
    used = [name for run in facts.runs for name in run["datasets"]]
    files = sorted({name for name in used if name not in known})
    given = [name for run in facts.runs for name, spec in run["methods"].items() if not spec]
    methods = sorted(set(given))
    notes = []
    if files:
        which = (
            f"{count(len(files), 'data set')} ({', '.join(files)})"
            f" {'is' if len(files) == 1 else 'are'} not in the catalogue"
        )
        notes.append(f"{which}; give the files: skcamel study --datasets FILE,….")
    if methods:
        which = (
            f"{count(len(methods), 'method')} ({', '.join(methods)})"
            f" {'was' if len(methods) == 1 else 'were'} given in Python"
        )
        notes.append(f"{which}; there, call skcamel.experiment.run_study with the same estimators.")
    return notes


def _versions(facts: StudyFacts) -> list[tuple[str, str]]:
    """Packages with their versions; if there are several, with the number of units of each."""
    found: dict[str, Counter[str]] = {}
    for record in facts.shown:
        for key, value in record.items():
            if key.startswith("version_"):
                found.setdefault(key.removeprefix("version_"), Counter())[str(value)] += 1

    def told(counts: Counter[str]) -> str:
        several = (f"{version} ({count(n, 'unit')})" for version, n in counts.most_common())
        return next(iter(counts)) if len(counts) == 1 else ", ".join(several)

    return [(PACKAGES.get(name, name), told(counts)) for name, counts in found.items()]
