"""``skcamel study``: compare methods on data sets, and keep the records in a folder."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options, output
from skcamel.cli.inputs import is_catalogue_name
from skcamel.text import count, one_line

if TYPE_CHECKING:
    from skcamel.experiment.study import Event

TABLES = (".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz", ".xlsx", ".jsonl", ".ndjson")


@click.command()
@click.option(
    "--datasets",
    required=True,
    metavar="A,B,…",
    help="Catalogue names, or files of any known format; NAME=FILE gives another name.",
)
@click.option(
    "--methods",
    required=True,
    metavar="A,B,…",
    help=(
        "camel, camel-per-metric, br, ecc, rakel, llsf, jfsc, jfsc-tuned, extra-trees,"
        " random-forest, logistic, svc, catboost and xgboost where installed, or"
        " name=package.module:Class(arg=1) or name=file.py:function; one that learns a single label"
        " is fitted for each."
    ),
)
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    type=click.Path(file_okay=False, writable=True),
    help="Study folder; made if it is not there.",
)
@options.preset()
@click.option(
    "--folds",
    type=click.Choice(["plain", "stratified", "given"]),
    default="plain",
    show_default=True,
    help=(
        "Shuffled; labels spread evenly; or the parts of a data set, as mine-train.arff has them"
        " with mine-test.arff beside it."
    ),
)
@click.option(
    "--n-folds", type=click.IntRange(min=2), help="Outer folds; default: 3 for quick, else 10."
)
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Column whose equal values stay in one fold; it is no feature then.",
)
@options.labels
@click.option(
    "--metrics",
    default="",
    metavar="A,B,…",
    help=(
        "Metrics beside the seven: functions of scikit-learn or of your own, as"
        " name=package.module:function:largest (or :smallest)."
    ),
)
@options.seed
@click.option(
    "--n-jobs",
    type=click.IntRange(min=-1),
    default=1,
    show_default=True,
    help="Units at the same time; -1: one on each core.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="A unit that takes longer is killed and fails; default: no limit.",
)
@click.option(
    "--device",
    metavar="NAME",
    help="cuda: CAMEL computes on a GPU, and LLSF and JFSC search there.",
)
@options.as_json
@options.examples(
    "skcamel study --datasets yeast,emotions --methods camel,br --preset quick -o DIR",
    "skcamel study --datasets mine.csv --labels 'topic_*' --methods camel,my_module:Mine -o DIR",
)
@click.pass_context
def study(
    ctx: click.Context,
    /,
    datasets: str,
    methods: str,
    folder: str,
    metrics: str,
    labels: str | None,
    *,
    as_json: bool,
    **plan: Any,
) -> None:
    """Compare methods on data sets, in a folder to resume.

    A study runs each method once on each outer fold of each data set. If it is interrupted, run the
    same command again. If a unit fails, the others go on, and the exit code is 1. With --n-jobs or
    --time-limit this also holds for a method that crashes its process.
    """
    from skcamel.experiment import study
    from skcamel.experiment.methods import between_commas, get_method
    from skcamel.experiment.unit import own_metric

    sys.path.append(str(Path.cwd()))  # modules of the user's own
    preset, device = plan["preset"], plan.pop("device")
    try:
        chosen = [get_method(name, preset, device=device) for name in between_commas(methods)]
        own = [own_metric(text) for text in between_commas(metrics)]
    except (ImportError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    opened = [_opened(name, labels) for name in between_commas(datasets)]
    plan |= {"out": folder, "metrics": own, "progress": _tell}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", study.UnitsFailed)  # said below, and by the exit code
            records = study.run_study(opened, chosen, **plan)
    except KeyboardInterrupt:
        place = one_line(folder)
        output.say(f"\nFinished units are in {place}; the same command does the rest.", err=True)
        raise
    finished, failures = records.of_run()
    if as_json:
        shown = {"finished": len(finished), "failures": failures, "summary": _rows(finished)}
        output.say_json({"out": folder} | shown)
    elif finished:
        _show(finished, folder)
    if failures:
        output.say(one_line(_failed(failures, folder)), err=True)
        ctx.exit(1)


def _opened(name: str, labels: str | None) -> Any:
    """A catalogue name in its spelling, or a table whose label columns are named; else as given."""
    from skcamel.data import read_dataset

    own, _, place = name.rpartition("=")
    if is_catalogue_name(place):
        return (own, place.lower()) if own else place.lower()
    if labels is None or not place.lower().endswith(TABLES):
        return name
    dataset = read_dataset(place, labels=labels)
    return (own, dataset) if own else dataset


def _tell(event: Event) -> None:
    """A line for each unit."""
    one = event.record
    place = f"{one['dataset']}, {one['method']}, {one['preset']}"
    what = "FAILED" if "error" in one else f"{one['unit_seconds']:.1f} s"
    fold = f"fold {one['fold'] + 1} of {one['n_folds']}"
    text = f"{event.finished}/{event.total}  {place}, {fold}: {what}"
    output.say(one_line(text), err=True)


def _rows(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each data set and method: folds, and of each metric its mean and ``<metric>_std``."""
    from skcamel.experiment.summary import summarise

    summary = summarise(records)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (dataset, metric, method), figure in summary.figures.items():
        first = {"dataset": dataset, "method": method, "folds": figure.folds}
        row = rows.setdefault((dataset, method), first)
        row |= {metric: figure.mean, f"{metric}_std": figure.std}
    return list(rows.values())


def _show(finished: Sequence[Mapping[str, Any]], folder: str) -> None:
    """Tables of this run, and what singles out its units."""
    from skcamel.experiment.summary import summarise
    from skcamel.experiment.tables import result_tables, write_tables

    for text in dict.fromkeys(one for record in finished for one in record.get("warnings", ())):
        if "learns a single label" in text:
            output.note(text.partition(": ")[2])
    summary = summarise(finished)
    output.say(write_tables([*result_tables(summary).values()], "markdown"))
    place = one_line(folder)
    output.say(f"\nMore: skcamel tables {place} --significance, or skcamel report {place}")


def _failed(failures: Sequence[Mapping[str, Any]], folder: str) -> str:
    """One sentence; equal errors of a method on a data set are named once."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for one in failures:
        place = one["dataset"], one["method"], one["error"]
        folds.setdefault(place, []).append(str(one["fold"] + 1))
    named = [
        f"{dataset}, {method}, fold{'s' * (len(which) > 1)} {', '.join(which)} ({error[:300]})"
        for (dataset, method, error), which in folds.items()
    ]
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    return (
        f"Error: {count(len(failures), 'unit')} failed: {'; '.join(named[:3])}{more}. Tracebacks"
        f" are in {Path(folder) / 'records.jsonl'}; the same command tries them again."
    )
