"""``python -m benchmarks.front_page``: write the measured tables of README.md.

They come from the records of studies/alternatives and from results.md. No figure of the README is
typed by hand; a test compares it with what this module makes of the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from skcamel.experiment import Records, summarise
from skcamel.experiment.summary import method_and_preset

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results.md"
STUDY = ROOT / "studies" / "alternatives"
BEGIN = "<!-- measured: written by `python -m benchmarks.front_page` -->\n"
END = "<!-- /measured -->"
METRIC = "average_precision"
SHOWN = ("emotions", "scene", "yeast", "medical", "enron")
# Titles of the methods shown, by name and preset; "" stands for any.
METHODS = {
    ("camel", "best"): "skcamel `best`",
    ("camel", "quick"): "skcamel `quick`",
    ("extra-trees", ""): "extra trees",
    ("lightgbm", ""): "boosting (LightGBM)",
    ("logistic", ""): "logistic",
}
SELECTION = {
    "GridSearchCV(KernelRidge), 7 candidates in 5 folds / ours": (
        "`GridSearchCV(KernelRidge)`, 7 candidates in 5 folds"
    ),
    "the paper's alternation over the same grid, estimated / ours": (
        "the paper's algorithm to 1e-6, 77 candidates in 5 folds (estimated; 51 rounds, as in a"
        " known port: about 365 times)"
    ),
}


def accuracy(records: Iterable[Mapping[str, Any]]) -> str:
    """Average precision of the shown methods on the shown sets; the best is bold.

    The last row is the mean over all sets that all of these methods finished.

    Parameters
    ----------
    records : iterable of mappings
        Of a study.

    Returns
    -------
    str
        A Markdown table and what was done; nothing without records.
    """
    records = [record for record in records if _is_shown(record)]
    if not records:
        return ""
    found = summarise(records)
    figures = {}
    for (dataset, metric, method), cell in found.figures.items():
        is_complete = cell.folds == found.expected_folds.get((dataset, method))
        if metric == METRIC and is_complete:
            figures[dataset, method] = cell.mean
    titles = {method: _title(method) for _, method in figures}
    order = list(METHODS.values())
    methods = sorted(titles, key=lambda method: order.index(titles[method]))
    sets = dict.fromkeys(name for name, _ in figures)
    whole = [name for name in sets if all((name, method) in figures for method in methods)]
    rows = {}
    for name in SHOWN:
        if name in whole:
            rows[name] = [figures[name, method] for method in methods]
    means = [fmean(figures[name, method] for name in whole) for method in methods]
    rows[f"mean of {len(whole)} sets"] = means
    lines = [
        f"| average precision | {' | '.join(titles[method] for method in methods)} |",
        "|---" * (len(methods) + 1) + "|",
    ]
    for name, values in rows.items():
        best = f"{max(values):.3f}"
        cells = [f"{value:.3f}" for value in values]
        cells = [f"**{cell}**" if cell == best else cell for cell in cells]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    note = (
        "Means over outer folds. Thresholds, and CAMEL's hyper-parameters, are selected inside the"
        " training parts; `best` was redefined after looking at these sets. All figures: `skcamel"
        " tables studies/alternatives`."
    )
    return "\n".join([*lines, "", note, ""])


def _is_shown(record: Mapping[str, Any]) -> bool:
    method = record["method"]
    return (method, record["preset"]) in METHODS or (method, "") in METHODS


def _title(method: str) -> str:
    """Of a method as summaries call it: with its preset where there are several."""
    name, preset = method_and_preset(method)
    return METHODS.get((name, preset)) or METHODS.get((name, "")) or METHODS[name, "best"]


def selection(results: str) -> str:
    """How long other searches take, in units of ours.

    >>> row = "| GridSearchCV(KernelRidge), 7 candidates in 5 folds / ours | 4.43 x | ≥ 4 | ok |"
    >>> selection(row).splitlines()[2]
    '| `GridSearchCV(KernelRidge)`, 7 candidates in 5 folds | 4.43 times as long |'
    """
    found = dict(re.findall(r"^\| ([^|]+) \| ([\d.e+]+) x \|", results, re.MULTILINE))
    rows = [
        f"| {title} | {found[what]} times as long |"
        for what, title in SELECTION.items()
        if what in found
    ]
    return "\n".join(
        [
            "| selecting hyper-parameters | compared with 77 candidates of `CamelClassifierCV` |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def block() -> str:
    """What stands between the two marks of the README."""
    parts = [
        accuracy(Records(STUDY)) if (STUDY / "records.jsonl").exists() else "",
        selection(RESULTS.read_text(encoding="utf-8")),
    ]
    return "\n".join(part for part in parts if part)


def written(readme: str) -> str:
    """The README with its measured tables made anew."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + block() + END + after


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
