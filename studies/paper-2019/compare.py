"""Records of this folder ► compare.md: the paper's counts, and cells behind the best figure.

``python studies/paper-2019/compare.py [FOLDER]``
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skcamel.experiment import (
    LARGE,
    REGULAR,
    Records,
    compare_with_paper,
    metric_title,
    paper_figures,
    summarise,
    title_of,
)
from skcamel.metrics import LOSSES, NAMES

HERE = Path(__file__).parent
METHODS = ("camel", "br", "ecc", "rakel", "llsf", "jfsc")
TRANSFORMING, CORRELATED = METHODS[1:4], METHODS[4:]
# What the discussion of the paper counts: kind, data sets, other methods, count and cases
CLAIMS = (
    ("first among", "regular", METHODS[1:], 45, 56),
    ("first among", "large", METHODS[1:], 39, 56),
    ("better than", "all", TRANSFORMING, 315, 336),
    ("better than", "all", CORRELATED, 180, 224),
)
SETS = {"regular": REGULAR, "large": LARGE, "all": REGULAR + LARGE}
CRITERIA = {
    "no_worse": "no worse than the printed CAMEL by more than 2 of its std",
    "as_good_as_best": "at least as good as the best figure printed for any method",
    "near_best": "no worse than that best figure by more than one std",
}
Mean = Mapping[tuple[str, str, str], float]  # data set, metric, method ► whole thousandths
Row = Sequence[str]


def printed_means() -> dict[tuple[str, str, str], float]:
    """The means of the paper's Tables 2 and 3."""
    return {
        (dataset, metric, method): round(1000 * paper_figures()[dataset, metric, method].mean)
        for dataset in SETS["all"]
        for metric in NAMES
        for method in METHODS
    }


def our_means(records: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], float]:
    """Means of the records, as they are printed."""
    figures = summarise(records, ties="index").figures
    return {key: float(f"{1000 * figure.mean:.0f}") for key, figure in figures.items()}


def counted(means: Mean, kind: str, sets: str, others: Sequence[str]) -> tuple[int, int]:
    """Cells, or pairs of a cell and a method, in which CAMEL is first or better; and all of them.

    Equal firsts count as first, equal pairs not as better; cells without all methods do not count.
    """
    hits = cases = 0
    for dataset in SETS[sets]:
        for metric in NAMES:
            cell = [means.get((dataset, metric, method)) for method in ("camel", *others)]
            if None in cell:
                continue
            sign = -1 if metric in LOSSES else 1
            gains = [sign * (cell[0] - other) for other in cell[1:]]
            cases += 1 if kind == "first among" else len(gains)
            hits += min(gains) >= 0 if kind == "first among" else sum(gain > 0 for gain in gains)
    return hits, cases


def claims_table(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The paper's counts: as printed, recounted from its own table, and from the records."""
    rows: list[Row] = [("claim", "printed", "from its table", "ours")]
    tables = printed_means(), our_means(records)
    for kind, sets, others, count, cases in CLAIMS:
        name = f"{kind} {', '.join(map(title_of, others))} ({sets} data sets)"
        found = [counted(means, kind, sets, others) for means in tables]
        rows.append((name, f"{count}/{cases}", *(f"{hits}/{all_}" for hits, all_ in found)))
    return rows


def counts_table(comparisons: Mapping[str, Any]) -> list[Row]:
    """How many cells of each selection meet each criterion."""
    rows: list[Row] = [("CAMEL", *CRITERIA.values())]
    for name, comparison in comparisons.items():
        counts = comparison.counts()
        rows.append((name, *(f"{counts[key]}/{counts['cells']}" for key in CRITERIA)))
    return rows


def missed_table(comparison: Any, criterion: str) -> list[Row]:
    """Every cell that misses a criterion, with by how much."""
    rows: list[Row] = [("data set", "metric", "ours", "printed", "best printed", "by", "Δ")]
    for cell in comparison.missed(criterion):
        figures = [f"{one.mean:.3f}±{one.std:.3f}" for one in (cell.ours, cell.printed, cell.best)]
        leaders = ", ".join(map(title_of, cell.best_methods))
        place = cell.dataset, metric_title(cell.metric)
        rows.append((*place, *figures, leaders, f"{cell.ahead_of_best:+.3f}"))
    return rows


def nearest(
    records: Iterable[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], dict[str, str]]:
    """Records of each set by the criterion nearest the paper's row, and which it is.

    Records of a model per metric hold all metrics of all seven models. The distance is the mean
    over the metrics in std of the paper.
    """
    by_set: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_set.setdefault(record["dataset"], []).append(record)
    found: list[Mapping[str, Any]] = []
    chosen = {}
    for dataset, rows in by_set.items():
        distances = {}
        for criterion in NAMES:
            parts = []
            for metric in NAMES:
                cell = paper_figures()[dataset, metric, "camel"]
                mean = np.mean([row[f"{metric}_by_{criterion}"] for row in rows])
                parts.append(abs(mean - cell.mean) / cell.std)
            distances[criterion] = float(np.mean(parts))
        best = min(distances, key=distances.__getitem__)
        chosen[dataset] = best
        found += [row | {name: row[f"{name}_by_{best}"] for name in NAMES} for row in rows]
    return found, chosen


def markdown(rows: Sequence[Row]) -> str:
    """A table whose first row is its head."""
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|:---" + "|---:" * (len(rows[0]) - 1) + "|", *others])


def text(folder: Path) -> str:
    """All of compare.md."""
    records = Records(folder)
    paper = [one for one in records if one["preset"] == "paper" and one["method"] in METHODS]
    selected = {
        f"{preset}, {words}": [
            one for one in records if one["preset"] == preset and one["method"] == method
        ]
        for preset in ("paper", "best")
        for method, words in (
            ("camel", "one model, by average precision"),
            ("camel-per-metric", "a model per metric"),
        )
    }
    near, criteria = nearest(selected["paper, a model per metric"])
    selected["paper, by the criterion nearest the paper's row"] = near
    comparisons = {
        name: compare_with_paper(rows, method=rows[0]["method"])
        for name, rows in selected.items()
        if rows
    }
    parts = [
        "# CAMEL against the paper",
        "Written by `python studies/paper-2019/compare.py` from the records beside it.",
        "## The paper's own counts",
        (
            "Ours: CAMEL of preset `paper`, one model selected by average precision. At three"
            " decimals; equal firsts count as first, equal pairs not as better. Ties of RAkEL are"
            " ranked by label index, as by the paper's software."
        ),
        markdown(claims_table(paper)),
        "## Cells that are as good",
        markdown(counts_table(comparisons)),
        (
            "The nearest criterion is a diagnosis made afterwards: the paper does not name its own."
            f" It is {', '.join(f'{criterion} on {name}' for name, criterion in criteria.items())}."
        ),
    ]
    for name, comparison in comparisons.items():
        criterion = "as_good_as_best" if name.startswith("best") else "no_worse"
        parts += [f"## Preset {name}: not {CRITERIA[criterion]}"]
        parts += [markdown(missed_table(comparison, criterion))]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    (target / "compare.md").write_text(text(target), encoding="utf-8")
