"""``skcamel study``: compare methods on data sets, and keep the records in a folder."""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.inputs import is_catalogue_name, open_dataset
from skcamel.cli.options import (
    HOW_READ,
    METRICS,
    Number,
    as_json,
    dataset_options,
    examples,
    new_folder,
    seed,
)
from skcamel.cli.output import Stopped, bars, note, say, say_json
from skcamel.presets import PRESETS
from skcamel.text import count, one_line

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset
    from skcamel.experiment.measures import Measure
    from skcamel.experiment.methods import Method
    from skcamel.experiment.study import Event

LONGEST_ERROR = 300  # letters of an error that are shown; its file has them all


def _names(_: click.Context, __: click.Parameter, text: str | None) -> list[str]:
    if text is None:
        return []
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("name at least one; put commas between several.")
    return names


def _specs(ctx: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    from skcamel.experiment.methods import between_commas

    return between_commas(text) or _names(ctx, parameter, "")


def _workers(_: click.Context, __: click.Parameter, number: int) -> int:
    if number == 0 or number < -1:
        raise click.BadParameter(
            f"{number} units at the same time are impossible; give at least 1, or -1 for one on"
            " each core."
        )
    return number


@click.command(
    epilog=examples(
        "skcamel study --datasets yeast,emotions --methods camel,br --preset quick -o DIR",
        "skcamel study --datasets yeast --methods camel,extra-trees --n-jobs 4 -o DIR",
        "skcamel study --datasets mine.arff --methods"
        " 'camel,nn=sklearn.neighbors:KNeighborsClassifier(n_neighbors=9)' -o DIR",
        "skcamel study --datasets yeast --methods camel,br --metrics"
        " auc=sklearn.metrics:roc_auc_score:largest -o DIR",
        "skcamel study --datasets ward=patients.csv --labels 'label*' --groups patient --methods"
        " camel,br -o DIR",
        "skcamel study --datasets emotions-train.arff --folds given --methods camel,br -o DIR",
    )
)
@click.option(
    "--datasets",
    required=True,
    callback=_names,
    metavar="A,B,…",
    help="Catalogue names, or files of any known format; NAME=FILE gives another name.",
)
@click.option(
    "--methods",
    required=True,
    callback=_specs,
    metavar="A,B,…",
    help=(
        "camel, br, ecc, rakel, llsf, jfsc, extra-trees, random-forest, logistic, svc, or"
        " name=package.module:Class(arg=1) or name=file.py:function; one that learns a single label"
        " is fitted for each."
    ),
)
@new_folder
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    default="paper",
    show_default=True,
    help=(
        "As in fit. quick: 3 folds, a few representations, tuned thresholds. paper: 10 folds,"
        " features, thresholds and grids of the paper. best: 10 folds, all representations, tuned"
        " thresholds."
    ),
)
@click.option(
    "--per-metric",
    is_flag=True,
    help="CAMEL selects a model for each metric; else one, by average precision.",
)
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
@click.option(
    "--split",
    metavar="FILE|A=FILE,…",
    help=(
        "Given folds of the data set, or of A and others: one word for each row, train or test, or"
        " the number of its fold; or JSON of row numbers, {train: [0, …], test: […]}, alone or in a"
        " list."
    ),
)
@click.option(
    "--metrics",
    metavar="A,B,…",
    callback=_names,
    help=(
        "Beside the seven: functions of scikit-learn or of your own as"
        " name=package.module:function:largest (or :smallest), and one_error_ties_by_index (and the"
        " same of coverage, ranking_loss, average_precision)."
    ),
)
@seed
@click.option(
    "--n-jobs",
    type=int,
    default=1,
    show_default=True,
    callback=_workers,
    help="Units at the same time; -1: one on each core.",
)
@click.option(
    "--time-limit",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="A unit that takes longer is killed and fails; default: no limit.",
)
@click.option(
    "--device",
    metavar="NAME",
    help="cuda: CAMEL computes on a GPU, and LLSF and JFSC search there.",
)
@dataset_options
@click.option("--quiet", is_flag=True, help="No progress.")
@as_json
@click.pass_context
def study(
    ctx: click.Context,
    /,
    datasets: Sequence[str],
    methods: Sequence[str],
    folder: str,
    *,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare methods on data sets, in a folder to resume.

    The figures are seven metrics and those of --metrics.

    A study runs each method once on each outer fold of each data set. If it is interrupted, run the
    same command again.
    If a unit fails, the others go on, and the exit code is 1. With
    --n-jobs or --time-limit this also holds for a method that crashes its process.
    """
    from skcamel.experiment.study import UnitsFailed, run_study

    device, per_metric = options.pop("device"), options.pop("per_metric")
    chosen = [_method(spec, options["preset"], per_metric, device) for spec in methods]
    options["metrics"] = measures = _measures(options["metrics"])
    options["split"] = _by_name(options["split"])
    given = options["folds"] == "given" and options["split"] is None
    opened = _opened(datasets, pairs=given, **{key: options.pop(key) for key in HOW_READ})
    try:
        with warnings.catch_warnings(), _progress(quiet) as progress:
            warnings.simplefilter("ignore", UnitsFailed)  # told below, and by the exit code
            records = run_study(opened, chosen, out=folder, progress=progress, **options)
    except KeyboardInterrupt as signal:
        kept = (
            f"Finished units are kept in {one_line(folder)}; run the same command again to do the"
            " rest."
        )
        raise Stopped(f"\nStopped. {kept}") from signal
    finished, failures = (
        [unit for unit in units if _key(unit) in records.asked]
        for units in (records, records.failures)
    )
    _note_other_settings(records, finished)
    told = (
        warning.partition(": ")[2] for record in finished for warning in record.get("warnings", ())
    )
    for wrapped in dict.fromkeys(warning for warning in told if "learns a single label" in warning):
        note(wrapped)
    further = [measure.name for measure in measures]
    shown = summary(finished, further)
    if as_json:
        say_json({"out": folder, "finished": len(finished), "failures": failures, "summary": shown})
    elif finished:
        say("\n".join(_lines(shown, further)))
        place = one_line(folder)
        say(
            f"\nMore: skcamel tables {place} --significance, or skcamel report {place} -o page.html"
        )
    if failures:
        say(one_line(_failed(failures, folder)), err=True)
        ctx.exit(1)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[Event], None] | None]:
    """A bar on a terminal, else a line for each unit."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with bars() as bar:
            yield lambda event: bar("units", event.finished, event.total)
    else:
        yield _tell


def _tell(event: Event) -> None:
    what = "FAILED" if event.state == "failed" else f"{event.seconds:.1f} s"
    say(one_line(f"{event.finished}/{event.total}  {event.unit}: {what}"), err=True)
    sys.stderr.flush()


def _note_other_settings(
    records: Iterable[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]
) -> None:
    """Say which records of the same folds are left out because they have other settings."""

    def place(record: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            record[key] for key in ("dataset", "method", "preset", "n_folds", "folds", "seed")
        )

    places, keys = {place(record) for record in shown}, {_key(record) for record in shown}
    others = Counter(
        record["method"]
        for record in records
        if place(record) in places and _key(record) not in keys
    )
    for method, number in others.items():
        note(
            f"{method}: {count(number, 'record')} of other settings {'are' if number > 1 else 'is'}"
            " left out."
        )


def _by_name(split: str | None) -> str | dict[str, str] | None:
    """One file, or files by data set."""
    if split is None or "=" not in split or Path(split).exists():
        return split
    pairs = [part.partition("=") for part in split.split(",") if part.strip()]
    wrong = next((name for name, _, file in pairs if not file), None)
    if wrong is not None:
        raise click.UsageError(
            f"--split has {wrong!r} without a file; write NAME=FILE for each data set."
        )
    return {name.strip(): file.strip() for name, _, file in pairs}


def _opened(
    datasets: Sequence[str],
    *,
    pairs: bool,
    labels: str | None,
    xml: str | None,
    data_home: str | None,
) -> list[str | tuple[str, str | Dataset] | Dataset]:
    """Names of the catalogue in its spelling, and files as data; --labels is for tables, --xml for ARFF files."""
    from skcamel.data.formats import format_of

    named = [
        ("", name) if "=" not in name or Path(name).exists() else name.partition("=")[::2]
        for name in datasets
    ]
    kinds = ["set" if is_catalogue_name(name) else format_of(name) for _, name in named]
    if labels is not None and "table" not in kinds:
        raise click.UsageError(
            "--labels names columns of a CSV, TSV or Parquet file, and --datasets has none; leave"
            " it out."
        )
    if xml is not None and "arff" not in kinds:
        raise click.UsageError(
            "--xml is the label file of an ARFF file, and --datasets has none; leave it out."
        )
    opened: list[str | tuple[str, str | Dataset] | Dataset] = []
    for (own, name), kind in zip(named, kinds, strict=True):
        columns, beside = labels if kind == "table" else None, xml if kind == "arff" else None
        found = _opened_one(
            name, kind, pairs=pairs, labels=columns, xml=beside, data_home=data_home
        )
        opened.append((own.strip(), found) if own else found)
    return opened


def _opened_one(name: str, kind: str, *, pairs: bool, **how: Any) -> str | Dataset:
    from skcamel.data.catalogue import load_dataset
    from skcamel.data.formats import read_dataset
    from skcamel.experiment.folds import paired

    pair = paired(Path(name)) if pairs and kind in ("arff", "svmlight") else None
    if pair is not None:
        return replace(read_dataset(name, xml=how["xml"], test=pair[1]), name=pair[0])
    if kind == "set":
        in_its_place = (
            how["data_home"] is None and not Path(name).is_file()
        )  # else from elsewhere, or a file has that name too
        return name.lower() if in_its_place else load_dataset(name, how["data_home"])
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", ".*is numbered in the order"
        )  # in X, which a study of words leaves aside
        found = open_dataset(name, **how)
    if found.table is not None:
        note(
            f"{name} has words or gaps: each fold prepares it by its training rows, as 'skcamel"
            " fit' does."
        )
    return found


def _method(spec: str, preset: str, per_metric: bool, device: str | None) -> Method:
    from skcamel.experiment.methods import get_method

    with _own_code():
        return get_method(spec, preset, per_metric=per_metric, device=device)


def _measures(specs: Sequence[str]) -> tuple[Measure, ...]:
    from skcamel.experiment.measures import get_measures

    with _own_code():
        return get_measures(specs)


@contextmanager
def _own_code() -> Iterator[None]:
    """A module of the user's own may lie in this folder; what is wrong with it is wrong use."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        yield
    except (ImportError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error


def _key(unit: Mapping[str, Any]) -> str:
    from skcamel.experiment.units import Unit

    return Unit.of(unit).key


def summary(
    records: Iterable[Mapping[str, Any]], further: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """For each data set and method: folds, and for each metric its mean and ``<metric>_std`` (n - 1), NaN where it is undefined."""
    from skcamel.experiment.summary import summarise

    records = list(records)
    folds = Counter((record["dataset"], record["method"]) for record in records)
    figures = summarise(records).figures
    rows = []
    for (dataset, method), n_folds in folds.items():
        row: dict[str, Any] = {"dataset": dataset, "method": method, "folds": n_folds}
        for name in METRICS:
            mean, std, _ = figures[dataset, name, method]
            row |= {name: mean, f"{name}_std": std}
        own = [
            record["more"]
            for record in records
            if (record["dataset"], record["method"]) == (dataset, method) and further
        ]
        for name in further:
            values = [float(more[name]) for more in own if not math.isnan(more[name])]
            row |= {
                name: fmean(values) if values else math.nan,
                f"{name}_std": stdev(values) if len(values) > 1 else math.nan,
            }
        rows.append(row)
    return rows


def _lines(rows: Sequence[Mapping[str, Any]], further: Sequence[str] = ()) -> list[str]:
    """Blocks for each data set, of the seven metrics and of the others: a line for each method, mean ± std to three decimals."""
    rows = [
        {**row, "dataset": one_line(row["dataset"]), "method": one_line(row["method"])}
        for row in rows
    ]
    lines: list[str] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        block = [row for row in rows if row["dataset"] == dataset]
        lines += [
            "",
            f"{dataset} (mean ± std of {count(max(row['folds'] for row in block), 'fold')})",
        ]
        for start in range(0, len(METRICS) + len(further), len(METRICS)):
            lines += _block(block, [*METRICS, *further][start : start + len(METRICS)])
    return lines


def _block(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    width = max(len(row["method"]) for row in rows)
    heads = [name.replace("_", " ") for name in names]
    table = [heads, *([_cell(row[name], row[f"{name}_std"]) for name in names] for row in rows)]
    widths = [max(9, *map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            [first.ljust(width), *(cell.rjust(w) for cell, w in zip(cells, widths, strict=True))]
        )
        for first, cells in zip(["", *(row["method"] for row in rows)], table, strict=True)
    ]


def _cell(mean: float, std: float) -> str:
    from skcamel.experiment.paper import mean_and_std

    if math.isnan(mean):
        return "undefined"
    return "±".join(part.removeprefix("0") for part in mean_and_std(mean, std).split("±"))


def _failed(failures: Sequence[Mapping[str, Any]], folder: str) -> str:
    """One sentence; equal errors of a method on a data set are named once."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        folds.setdefault((failure["dataset"], failure["method"], failure["error"]), []).append(
            str(failure["fold"] + 1)
        )
    told = [
        f"{dataset}, {method}, fold{'s' * (len(which) > 1)} {', '.join(which)}"
        f" ({_shortened(error)})"
        for (dataset, method, error), which in folds.items()
    ]
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    failed = f"Error: {count(len(failures), 'unit')} failed: {'; '.join(told[:3])}{more}."
    return (
        f"{failed} Tracebacks are in {Path(folder) / 'records.jsonl'}; the same command tries them"
        " again."
    )


def _shortened(error: str) -> str:
    text = " ".join(error.split())
    return text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"
