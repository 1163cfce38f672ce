"""Records of a study ► its page: ranks, results, the comparison with the paper, costs, failures."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from skcamel.experiment import Records, compare_with_paper, costs, result_tables, summarise
from skcamel.experiment.published import PAPER_METHODS
from skcamel.experiment.significance import (
    LEVEL,
    Significance,
    compare_by_metric,
    what_tests_can_tell,
)
from skcamel.experiment.summary import Summary, base_of, title_of
from skcamel.experiment.tables import best_methods, significance_tables
from skcamel.metrics.seven import NAMES, TITLES
from skcamel.plots.canvas import heat_map, map_size
from skcamel.plots.studies import draw_ranks, ranks_size
from skcamel.report.page import (
    Choice,
    Column,
    Details,
    Drawing,
    Facts,
    Option,
    Page,
    Section,
    Table,
    Text,
    some,
    svg_of,
    write,
)
from skcamel.text import count, listed

EMPTY = "This study has no finished unit yet; run skcamel study, then make the page again."
FIRST = "average_precision"  # the metric shown first
LIMIT = 3.0  # standard deviations that have the full colour
COSTS = (
    Column("Data set"),
    Column("Method"),
    Column("Device"),
    Column("Training rows", 0),
    Column("Fit, s", 3, "with the selection of hyper-parameters"),
    Column("Predict, s", 3),
    Column("Peak memory, MB", 1, "beyond what the process needed before"),
)
VERSIONS = ("preset", "version_skcamel", "version_scikit_learn", "version_numpy", "version_python")
Record = Mapping[str, Any]


def build_report(
    records: Iterable[Record] | str | os.PathLike[str], path: str | os.PathLike[str]
) -> None:
    """Write the page of a study: ranks, results, comparison with the paper, costs and failures.

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
    >>> data = Dataset(X, Y, name="made")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = run_study([data], ["br", "camel"], preset="quick", out=folder)
    ...     build_report(records, f"{folder}/page.html")
    ...     Path(folder, "page.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if isinstance(records, (str, os.PathLike)):
        records = Records(records)
    elif not isinstance(records, Records):
        records = list(records)
    write(study_page(records), path)


def study_page(records: Sequence[Record]) -> Page:
    """Assemble the page of a study."""
    failures = getattr(records, "failures", ())
    if not len(records):
        sections = [_failures(records, failures)] if failures else []
        return Page("An empty study", EMPTY, [], sections)
    summary = summarise(records)
    compared = _one_preset(records)
    tests = compare_by_metric(compared.figures, compared.measures, compared.methods)
    sections = [
        _ranks(compared, tests),
        _results(summary),
        *_against_paper(summary),
        *_costs(records),
        _failures(records, failures),
        _protocol(records, summary),
    ]
    methods = count(len({base_of(method) for method in summary.methods}), "method")
    title = f"{methods} on {some(summary.datasets, 'data set')}"
    answer = _best_ranks(tests) if tests else _best_means(summary)
    return Page(title, answer, [], sections)


def _one_preset(records: Sequence[Record]) -> Summary:
    """Figures of the preset that has most methods; methods of different ones are not compared."""
    methods: dict[str, set[str]] = {}
    for record in records:
        methods.setdefault(record["preset"], set()).add(record["method"])
    return summarise(records, preset=max(methods, key=lambda preset: len(methods[preset])))


def _best_ranks(tests: Mapping[str, Significance]) -> str:
    """Who leads, and whether tests see a difference."""
    leaders: Counter[str] = Counter()
    different = 0
    for one in tests.values():
        leaders[min(one.ranks, key=lambda name: one.ranks[name])] += 1
        different += one.friedman.f_p < LEVEL
    ((leader, wins),) = leaders.most_common(1)
    largest = max(tests.values(), key=lambda one: len(one.datasets))
    methods = count(len(largest.methods), "method")
    datasets = count(len(largest.datasets), "data set")
    return (
        f"{title_of(leader)} has the best average rank in {wins} of {count(len(tests), 'metric')},"
        f" of {methods} on {datasets}; Friedman's test sees a difference between the methods in"
        f" {different} of them."
    )


def _best_means(summary: Summary) -> str:
    """Who has most of the best means, where there is too little for tests."""
    wins = dict.fromkeys(summary.methods, 0)
    for dataset in summary.datasets:
        for metric in summary.measures:
            for method in best_methods(summary, dataset, metric):
                wins[method] += 1
    most = max(wins.values())
    leaders = [title_of(method) for method, number in wins.items() if number == most]
    cells = count(len(summary.datasets) * len(summary.measures), "cell")
    if not most:
        return f"{leaders[0]} has results in {cells}, and no other method has."
    verb = "has" if len(leaders) == 1 else "have"
    return f"{listed(leaders)} {verb} the best mean in {most} of {cells}."


def _shown(table: Any, place: int = 0, title: str = "") -> Table:
    """A part of a table of `skcamel.experiment` on a page."""
    best = set()
    rows = []
    for row, (name, cells) in enumerate(table.sections[place].rows):
        rows.append([name, *(cell.text for cell in cells)])
        best.update((row, column) for column, cell in enumerate(cells, 1) if cell.bold)
    columns = [Column(table.corner.capitalize())]
    columns += [Column(heading, numeric=True) for heading in table.head]
    return Table(title or table.title, columns, rows, " ".join(table.notes[:1]), best)


def _first_in_front(metrics: Iterable[str]) -> list[str]:
    return sorted(metrics, key=lambda metric: metric != FIRST)


def _ranks(compared: Summary, tests: Mapping[str, Significance]) -> Section:
    """A diagram of ranks for each metric, and the tables of the tests."""
    title = "Which methods differ?"
    if not tests:
        text = (
            "Tests compare at least two methods on at least two data sets that all of them have;"
            f" this study has {count(len(compared.methods), 'method')} and"
            f" {count(len(compared.datasets), 'data set')} to compare."
        )
        return Section("ranks", title, "Ranks", [Text(text)])
    fewest = min(len(one.datasets) for one in tests.values())
    texts = [
        "Each data set ranks the methods of one preset, 1 is best. Methods joined by a bar do not"
        f" differ by Nemenyi's test at level {LEVEL:g}.",
        *what_tests_can_tell(len(compared.methods), fewest),
    ]
    options = []
    for metric in _first_in_front(tests):
        heading = compared.measures[metric].heading
        drawing = _diagram(tests[metric], heading)
        options.append(Option(f"ranks-{metric}", heading, [drawing]))
    tables = significance_tables(compared, compared.methods[0])
    blocks = [*map(Text, texts), Choice("Metric", options), *map(_shown, tables)]
    return Section("ranks", title, "Ranks", blocks)


def _diagram(one: Significance, heading: str) -> Drawing:
    """The critical-difference diagram of a metric."""
    ranks = {title_of(method): rank for method, rank in one.ranks.items()}
    averages = ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())
    name = f"ranks-{one.metric}"
    alt = f"Average ranks: {averages}; critical difference {one.nemenyi:.2f}."
    draw = partial(draw_ranks, ranks, one.nemenyi)
    svg = svg_of(draw, ranks_size(ranks), name=name, alt=alt)
    verdict = "differ" if one.friedman.f_p < LEVEL else "do not differ"
    caption = f"By Friedman's test the methods {verdict} at level {LEVEL:g}."
    return Drawing(f"{heading} on {len(one.datasets)} data sets", svg, caption)


def _results(summary: Summary) -> Section:
    """The tables of each metric."""
    tables = result_tables(summary).values()
    places = {metric: place for place, metric in enumerate(summary.measures)}
    options = []
    for metric in _first_in_front(places):
        heading = summary.measures[metric].heading
        blocks = [_shown(table, places[metric]) for table in tables]
        options.append(Option(f"results-{metric}", heading, blocks))
    first, *others = summary.notes()
    blocks = [Text(first), Details("Notes", "\n".join(others)), Choice("Metric", options)]
    return Section("results", "How good is each method?", "Results", blocks)


def _against_paper(summary: Summary) -> list[Section]:
    """Heat maps of differences from the figures that the paper prints; none without such."""
    options = []
    for method in summary.methods:
        comparison = compare_with_paper(summary, method=method)
        if comparison.cells and base_of(method) in PAPER_METHODS:
            blocks = _heat_map(title_of(method), comparison)
            options.append(Option(f"paper-{method}", title_of(method), blocks))
    if not options:
        return []
    text = (
        "Each cell is the mean of this study less the paper's, in standard deviations that the"
        " paper prints. The sign is turned so that plus and blue are better."
    )
    blocks = [Text(text), Choice("Method", options)]
    return [Section("paper", "How do the results compare with the paper?", "Paper", blocks)]


def _heat_map(title: str, comparison: Any) -> list[Any]:
    """How many figures keep up with the paper, and all differences."""
    datasets = list(dict.fromkeys(cell.dataset for cell in comparison.cells))
    values = np.full((len(datasets), len(NAMES)), np.nan)
    for cell in comparison.cells:
        if cell.metric in NAMES:
            values[datasets.index(cell.dataset), NAMES.index(cell.metric)] = cell.difference
    counts = comparison.counts()
    text = (
        f"{title} is at most 2 std worse than the printed figure in {counts['no_worse']} of"
        f" {counts['cells']} cells, and at least as good as the best figure printed for any method"
        f" in {counts['as_good_as_best']}."
    )
    metrics = [TITLES[name] for name in NAMES]
    svg = svg_of(
        lambda ax: heat_map(values, rows=datasets, columns=metrics, limit=LIMIT, ax=ax),
        map_size(datasets, metrics),
        name=f"paper-{title}",
        alt=text,
    )
    caption = "Colours are full at 3 std. Empty cells were not run, or have no std."
    return [Text(text), Drawing(title, svg, caption)]


def _costs(records: Sequence[Record]) -> list[Section]:
    """Time and memory of a fold; nothing if no record says."""
    known = [cost for cost in costs(records) if cost.fit_seconds > 0]
    if not known:
        return []
    rows = []
    for one in known:
        memory = one.peak_memory_bytes / 1e6 or math.nan
        rows.append([one.dataset, title_of(one.method), *one[2:6], memory])
    devices = sorted({name for one in known for name in one.device.split(" and ")})
    text = "Medians over the folds, on the machine of the study."
    if len(devices) > 1:
        text = f"{text} Methods computed on {listed(devices)}: their times compare only roughly."
    table = Table("Costs", COSTS, rows)
    return [Section("costs", "What does it cost?", "Costs", [Text(text), table])]


def _failures(records: Sequence[Record], failures: Sequence[Record]) -> Section:
    """Failed units under their errors, with a traceback of each, and how many warnings came."""
    finished = count(len(records), "unit")
    text = f"{count(len(failures), 'unit')} failed, {finished} finished."
    kinds: Counter[str] = Counter()
    for record in records:
        kinds.update(warning.partition(":")[0] for warning in record.get("warnings", ()))
    if kinds:
        named = listed([f"{name} ({number:,})" for name, number in kinds.most_common()])
        text = f"{text} Warnings: {named}."
    blocks: list[Any] = [Text(text)]
    by_error: dict[str, list[str]] = {}
    for one in failures:
        unit = f"{one['dataset']}, {one['method']}, {one['preset']}, fold {one['fold'] + 1}"
        by_error.setdefault(one["error"], [one["traceback"]]).append(unit)
    for error, lines in sorted(by_error.items(), key=lambda item: -len(item[1])):
        title = f"{error} ({count(len(lines) - 1, 'unit')})"
        blocks.append(Details(title, "\n".join(lines)))
    return Section("failures", "What failed?", "Failures", blocks)


def _protocol(records: Sequence[Record], summary: Summary) -> Section:
    """Folds, presets and versions."""
    pairs = [("Protocol", summary.protocol)]
    for key in VERSIONS:
        values = {str(record[key]) for record in records if key in record}
        pairs.append((key.removeprefix("version_"), listed(sorted(values))))
    return Section("protocol", "How was it run?", "Protocol", [Facts(pairs)])
