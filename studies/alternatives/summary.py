"""Records of this folder ► summary.md and the table of docs/models.md.

A method that timed out on a fold of a data set has no figure there. Ranks put it behind all that
have one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from copy import copy
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skcamel.experiment import (
    LARGE,
    REGULAR,
    Records,
    costs,
    mean_and_std,
    metric_title,
    summarise,
    title_of,
)
from skcamel.metrics import LOSSES, NAMES

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "models.md"
BEGIN, END = "<!-- begin: studies/alternatives/summary.py -->", "<!-- end -->"
OURS = "camel[best]"
DEFAULT = "-default"  # ends the name of a method that keeps the decisions of its package
ALONE, CHOSEN = "camel-alone", "camel[quick]"
TOO_SLOW = "catboost"  # with tuned thresholds, six fits, it has figures for one set
PARTIAL = "catboost-default"  # ran on some sets only: shown apart, ranked on these
CAPTION = (
    "Thresholds of CAMEL, ML-MLM and XGBoost are tuned for micro-F1: those of CAMEL on"
    " leave-one-out scores, the others on five inner folds. Those of the other methods were tuned,"
    " on five inner folds, by the earlier rule: 0, one threshold for all labels, or one for each,"
    " whichever these folds preferred."
)
Row = list[str]


class Results:
    """Figures of all methods on all sets, but for sets where a method timed out on a fold."""

    def __init__(self, records: Records) -> None:
        self.summary = summarise(records)
        self.defaults = [name for name in self.summary.methods if name.endswith(DEFAULT)]
        apart = {*self.defaults, ALONE, TOO_SLOW, PARTIAL}
        self.methods = [name for name in self.summary.methods if name not in apart]
        late = [
            failure for failure in records.failures if failure["error"].startswith("TimeoutError")
        ]
        self.timed_out = {
            (f["dataset"], name)
            for f in late
            for name in (f["method"], f"{f['method']}[{f['preset']}]")
        }
        # a set that some method has not tried yet says nothing about ranks: whoever ran there would
        # win by default
        self.datasets = tuple(
            name
            for name in self.summary.datasets
            if all(self._tried(name, method) for method in self.methods)
        )
        self.costs = {(cost.dataset, cost.method): cost for cost in costs(records)}

    def _tried(self, dataset: str, method: str) -> bool:
        """Whether a method has all folds of a set, or timed out there."""
        return (dataset, method) in self.timed_out or self.finished(dataset, method)

    def finished(self, dataset: str, method: str) -> bool:
        """Whether a method has all folds of a set."""
        figures = [self.figure(dataset, metric, method) for metric in NAMES]
        expected = self.summary.expected_folds.get((dataset, method))
        return any(figure is not None and figure.folds == expected for figure in figures)

    def figure(self, dataset: str, metric: str, method: str) -> Any:
        """One cell; None where there is none."""
        return (
            None
            if (dataset, method) in self.timed_out
            else self.summary.figures.get((dataset, metric, method))
        )

    def means(self, dataset: str, metric: str) -> dict[str, float]:
        """Mean of each method, losses negated; -inf where it has no figure."""
        sign = -1 if metric in LOSSES else 1
        figures = {method: self.figure(dataset, metric, method) for method in self.methods}
        return {
            method: -math.inf if figure is None else sign * figure.mean
            for method, figure in figures.items()
        }

    def gains(self, dataset: str, metric: str) -> dict[str, float]:
        """The same in whole thousandths, as tables show them."""
        return {
            method: mean if math.isinf(mean) else int(f"{mean:.3f}".replace(".", ""))
            for method, mean in self.means(dataset, metric).items()
        }

    def ranks(self, metric: str) -> np.ndarray:
        """Average rank of each method over all sets, 1 is best; equal ones share theirs."""
        ranks = []
        for name in self.datasets:
            means = self.means(name, metric)
            ranks.append(rankdata([-mean for mean in means.values()]))
        return np.mean(ranks, axis=0)

    def with_method(self, method: str) -> Results:
        """The same results with one more method, on the sets that it finished."""
        found = copy(self)
        found.methods = [*self.methods, method]
        found.datasets = tuple(name for name in self.datasets if self._tried(name, method))
        return found

    def standing(self, dataset: str, metric: str, method: str) -> str:
        """first, near (within the larger std of both), behind, or none."""
        gains = self.gains(dataset, metric)
        best = max(gains, key=gains.__getitem__)
        if gains[method] == -math.inf:
            return "none"
        if gains[method] == gains[best]:
            return "first"
        spread = np.nanmax(
            [self.summary.figures[dataset, metric, one].std for one in (method, best)]
        )
        return "near" if gains[best] - gains[method] <= 1000 * spread else "behind"


def rank_table(results: Results) -> list[Row]:
    """Average rank of each method by each metric."""
    rows = [["metric", *map(title_of, results.methods)]]
    for metric in NAMES:
        texts = [f"{rank:.2f}" for rank in results.ranks(metric)]
        best = min(texts, key=float)
        rows.append(
            [metric_title(metric), *(f"**{text}**" if text == best else text for text in texts)]
        )
    return rows


def method_table(results: Results) -> list[Row]:
    """For each method: mean rank, cells first and near, median seconds of a fit, time-outs."""
    rows = [
        [
            "method",
            "mean rank",
            "first",
            "first or within one std",
            "fit, regular sets",
            "fit, large sets",
            "timed out on",
        ]
    ]
    overall = np.mean([results.ranks(metric) for metric in NAMES], axis=0)
    for place in np.argsort(overall, kind="stable"):
        method = results.methods[place]
        standings = Counter(
            results.standing(name, metric, method) for name in results.datasets for metric in NAMES
        )
        cells = standings.total()
        late = [name for name in results.datasets if (name, method) in results.timed_out]
        seconds = [_seconds(results, method, names) for names in (REGULAR, LARGE)]
        near = f"{standings['first'] + standings['near']} of {cells}"
        rows.append(
            [
                title_of(method),
                f"{overall[place]:.2f}",
                str(standings["first"]),
                near,
                *seconds,
                _listed(late),
            ]
        )
    return rows


def _seconds(results: Results, method: str, datasets: tuple[str, ...]) -> str:
    found = [
        results.costs[name, method]
        for name in datasets
        if (name, method) in results.costs and (name, method) not in results.timed_out
    ]
    if not found:
        return "–"
    seconds = median(cost.fit_seconds for cost in found)
    return f"{seconds:.1f} s" + " (GPU)" * any(cost.device != "cpu" for cost in found)


def _listed(names: list[str]) -> str:
    rcv1 = [name for name in names if name.startswith("rcv1")]
    return (
        ", ".join(
            [
                *(name for name in names if name not in rcv1),
                *(["all rcv1"] if len(rcv1) == 5 else rcv1),
            ]
        )
        or "–"
    )


def default_table(results: Results) -> list[Row]:
    """Means over all sets of the metrics of decisions: as the package decides, and tuned."""
    rows = [["metric", "method", "as the package decides", "tuned for micro-F1", "better on"]]
    for name in results.defaults:
        tuned = name.removesuffix(DEFAULT)
        for metric in ("hamming_loss", "macro_f1", "micro_f1"):
            pairs = [
                [results.figure(dataset, metric, one).mean for one in (name, tuned)]
                for dataset in results.datasets
                if results.finished(dataset, name) and results.finished(dataset, tuned)
            ]
            if not pairs:
                continue
            plain, better = np.mean(pairs, axis=0)
            sign = -1 if metric in LOSSES else 1
            gains = sum(sign * (ours - theirs) > 0 for theirs, ours in pairs)
            cells = [f"{plain:.3f}", f"{better:.3f}", f"{gains} of {len(pairs)} sets"]
            rows.append([metric_title(metric), title_of(tuned), *cells])
    return rows


def alone_table(results: Results) -> list[Row]:
    """Preset quick with α = 0 and with the α that it chooses, each with its own λ2."""
    rows = [["metric", "α = 0", "α chosen", "better with the chosen α", "worse"]]
    figures = results.summary.figures
    for metric in NAMES:
        pairs = [
            [f"{figures[dataset, metric, one].mean:.3f}" for one in (ALONE, CHOSEN)]
            for dataset in results.datasets
            if (dataset, metric, ALONE) in figures
        ]
        sign = -1 if metric in LOSSES else 1
        gains = [sign * (float(chosen) - float(alone)) for alone, chosen in pairs]
        means = np.mean(np.array(pairs, dtype=float), axis=0)
        counts = (sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))
        cells = [f"{count} of {len(pairs)} sets" for count in counts]
        rows.append([metric_title(metric), *(f"{mean:.3f}" for mean in means), *cells])
    return rows


def missed_table(results: Results) -> list[Row]:
    """Every cell in which CAMEL's `best` is more than one std behind the best method."""
    rows = [["data set", "metric", title_of(OURS), "best", "by"]]
    for dataset in results.datasets:
        for metric in NAMES:
            if results.standing(dataset, metric, OURS) not in ("first", "near"):
                gains = results.gains(dataset, metric)
                best = [method for method, gain in gains.items() if gain == max(gains.values())]
                figures = [results.figure(dataset, metric, method) for method in (OURS, best[0])]
                texts = [
                    "timed out" if figure is None else mean_and_std(figure.mean, figure.std)
                    for figure in figures
                ]
                rows.append([dataset, metric_title(metric), *texts, ", ".join(map(title_of, best))])
    return rows


def figure_table(results: Results, metric: str) -> list[Row]:
    """Mean ± std of one metric: sets by methods."""
    rows = [["data set", *map(title_of, results.methods)]]
    for dataset in results.datasets:
        texts = []
        for method in results.methods:
            figure, standing = (
                results.figure(dataset, metric, method),
                results.standing(dataset, metric, method),
            )
            missing = "timed out" if (dataset, method) in results.timed_out else "not run"
            text = missing if figure is None else mean_and_std(figure.mean, figure.std)
            texts.append(f"**{text}**" if standing == "first" else text)
        rows.append([dataset, *texts])
    return rows


def markdown(rows: list[Row]) -> str:
    """A table whose first row is its head."""
    head, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|:---" + "|---:" * (len(rows[0]) - 1) + "|", *others])


def summary_text(results: Results) -> str:
    """All of summary.md."""
    parts = [
        "# Summary",
        "Written by `python studies/alternatives/summary.py` from the records beside it.",
        *results.summary.notes()[:1],
    ]
    parts += [
        "## Average ranks",
        (
            f"{scope(results)} 1 is best. A method that timed out on a set ranks behind those that"
            f" did not. {CAPTION}"
        ),
        markdown(rank_table(results)),
    ]
    parts += [
        "## Methods",
        (
            "Cells: a metric on a set, of which there are seven times the sets; std: the larger of"
            " both methods."
        ),
        markdown(method_table(results)),
    ]
    missed = missed_table(results)
    count = (
        f"{title_of(OURS)} is more than one std behind the best method in {len(missed) - 1} of"
        f" {7 * len(results.datasets)} cells."
    )
    parts += ["## Where CAMEL is behind", count, *([markdown(missed)] if len(missed) > 1 else [])]
    some = results.with_method(PARTIAL)
    if some.datasets:
        text = (
            f"Ranks are over the sets on which it ran: {', '.join(some.datasets)}. It decides as"
            " the package does, without tuned thresholds, which Hamming loss and F1 depend on."
        )
        parts += [f"## {title_of(PARTIAL)}", text, markdown(rank_table(some))]
    if results.defaults:
        parts += ["## What tuned thresholds change", markdown(default_table(results))]
    if ALONE in results.summary.methods:
        text = (
            "Preset `quick` with α = 0, where no label learns from others, and with the α that it"
            " chooses by average precision. Both choose λ2 and the representation for themselves;"
            " columns 2 and 3 are means over the sets."
        )
        parts += ["## What collaboration gives", text, markdown(alone_table(results))]
    for metric in NAMES:
        parts += [f"## {metric_title(metric)}", markdown(figure_table(results, metric))]
    return "\n\n".join(parts) + "\n"


def scope(results: Results) -> str:
    """Which sets the ranks are over, and which are left."""
    left = len(REGULAR) + len(LARGE) - len(results.datasets)
    text = f"Ranks and cells are over {len(results.datasets)} sets: {', '.join(results.datasets)}."
    return text + f" The study is not finished: {left} sets are left." * (left > 0)


def filled(page: str, results: Results) -> str:
    """The page of the docs with its table written anew."""
    block = f"{BEGIN}\n\n{markdown(method_table(results))}\n\n{scope(results)}\n\n{END}"
    text, count = re.subn(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, page, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{PAGE} needs one block from {BEGIN} to {END}, and has {count}.")
    return text


if __name__ == "__main__":
    found = Results(Records(HERE))
    (HERE / "summary.md").write_text(summary_text(found), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
