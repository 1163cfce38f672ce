"""``skcamel study`` and ``skcamel tables``: compare methods on data sets, and show the figures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from skcamel.cli import options
from skcamel.cli.io import hand_over, is_catalogue_name, is_table, note, say
from skcamel.text import one_line


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
@options.preset
@click.option(
    "--folds",
    type=click.Choice(["plain", "stratified", "given"]),
    default="plain",
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
    metrics: str | None,
    labels: str | None,
    **plan: Any,
) -> None:
    """Compare methods on data sets, in a folder to resume.

    A study runs each method once on each outer fold of each data set. If it is interrupted, run the
    same command again. If a unit fails, the others go on, and the exit code is 1. With --n-jobs or
    --time-limit this also holds for a method that crashes its process.
    """
    from skcamel.experiment import get_method, run_study, unit
    from skcamel.experiment.methods import between_commas

    sys.path.append(str(Path.cwd()))  # modules of the user's own
    preset = plan["preset"]
    device = plan.pop("device")
    try:
        chosen = [get_method(name, preset, device=device) for name in between_commas(methods)]
        plan["metrics"] = [unit.own_metric(spec) for spec in between_commas(metrics or "")]
    except (ImportError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    opened = [_opened(name, labels) for name in between_commas(datasets)]
    place = one_line(folder)
    try:
        records = run_study(opened, chosen, out=folder, progress=_print_unit, **plan)
    except KeyboardInterrupt:
        say(f"\nFinished units are in {place}; the same command does the rest.", err=True)
        raise
    finished, failures = records.of_run()
    if finished:
        _show(finished, place)
    if failures:
        note(f"tracebacks are in {folder}/records.jsonl.")
        ctx.exit(1)


def _opened(name: str, labels: str | None) -> Any:
    """A catalogue name in its spelling, or a table whose label columns are named; else as given."""
    from skcamel.data import read_dataset

    own, _, place = name.rpartition("=")
    if is_catalogue_name(place):
        return (own, place.lower()) if own else place.lower()
    if labels is None or not is_table(place):
        return name
    dataset = read_dataset(place, labels=labels)
    return (own, dataset) if own else dataset


def _print_unit(event: Any) -> None:
    """A line for each unit."""
    one = event.record
    place = f"{one['dataset']}, {one['method']}, {one['preset']}"
    what = f"FAILED ({one['error']:.300})" if "error" in one else f"{one['unit_seconds']:.1f} s"
    fold = f"fold {one['fold'] + 1} of {one['n_folds']}"
    text = f"{event.finished}/{event.total}  {place}, {fold}: {what}"
    say(one_line(text), err=True)


def _show(finished: Sequence[Mapping[str, Any]], folder: str) -> None:
    """Write the tables of this run."""
    from skcamel.experiment import result_tables, summarise, write_tables

    tables = result_tables(summarise(finished))
    say(write_tables([*tables.values()]))
    say(f"\nMore: skcamel tables {folder} --significance, or skcamel report {folder}")


@click.command()
@options.study_folder
@click.option(
    "--table",
    "which",
    type=click.Choice(["1", "2", "3", "other", "all"]),
    default="all",
    help="One table alone.",
)
@click.option("--methods", metavar="A,B,…", help="Records of these methods alone.")
@click.option("--preset", help="Records of one preset alone.")
@click.option(
    "--metrics",
    metavar="A,B,…",
    help="Metrics to show, of the seven and those that the study recorded. Default: all.",
)
@click.option(
    "--ties",
    type=click.Choice(["worst", "index"]),
    default="worst",
    help=(
        "Tied labels in the ranking metrics: an error, or ranked by their index, as in the software"
        " that the paper used."
    ),
)
@click.option(
    "--against",
    type=click.Choice(["paper"]),
    help="The figures that the paper prints, under ours.",
)
@click.option(
    "--significance",
    is_flag=True,
    help="Average ranks, Friedman, Nemenyi, Bonferroni–Dunn, Wilcoxon–Holm, effect sizes.",
)
@options.examples(
    "skcamel tables DIR --preset best --significance",
    "skcamel tables DIR --methods camel,br --against paper --ties index",
)
def tables(
    folder: str, which: str, against: str | None, *, significance: bool, **chosen: Any
) -> None:
    """Print the tables of a study folder, in Markdown.

    'skcamel study' fills such a folder. The tables have the form of the paper's; the first holds
    the sizes of the data sets. pandoc makes LaTeX of them.
    """
    from skcamel.experiment import Records, result_tables, summarise, write_tables
    from skcamel.experiment.tables import significance_tables, sizes_table

    records = Records(folder)
    for name in ("methods", "metrics"):
        if chosen[name] is not None:
            chosen[name] = chosen[name].replace(" ", "").split(",")
    try:
        summary = summarise(records, **chosen)
    except ValueError as error:  # an unknown metric
        raise click.UsageError(str(error)) from error
    if not summary.figures:
        raise click.ClickException(f"{folder} holds no finished unit of these methods and preset.")
    sized = [one for one in records if one["dataset"] in summary.datasets and "cardinality" in one]
    found = {"1": sizes_table(sized)} if sized else {}
    found |= result_tables(summary, with_paper=against is not None)
    shown = [table for name, table in found.items() if which in (name, "all")]
    if not shown:
        raise click.ClickException(f"{folder} holds nothing for Table {which}.")
    if significance:
        shown += significance_tables(summary, summary.methods[0])
    hand_over(write_tables(shown) + "\n")
