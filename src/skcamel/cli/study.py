"""``skcamel study``: methods x data sets x folds into a folder of records; calls ``skcamel.experiment.run_study``."""

from __future__ import annotations

import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.datasets import as_json, data_home, is_catalogue_name, label_columns, label_file, open_dataset
from skcamel.cli.options import Number, OutputFolder, need
from skcamel.cli.output import note, say, say_json
from skcamel.cli.root import Stopped, examples
from skcamel.presets import PRESETS
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset
    from skcamel.experiment.outcome import Method

LONGEST_ERROR = 300  # letters of an error that are shown; its file has them all


def _names(_: click.Context, __: click.Parameter, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("name at least one, several with commas between them.")
    return names


def _workers(_: click.Context, __: click.Parameter, number: int) -> int:
    if number == 0 or number < -1:
        raise click.BadParameter(f"{number} is nobody; give how many units to do at the same time, or -1 for one on each core.")
    return number


@click.command(
    epilog=examples(
        "skcamel study --datasets yeast,emotions --methods camel,br --preset quick --out DIR",
        "skcamel study --datasets yeast --methods camel,extra-trees --n-jobs 4 --out DIR",
        "skcamel study --datasets mine.arff --methods sklearn.neighbors:KNeighborsClassifier --out DIR",
        "skcamel study --datasets yeast --methods camel --dask tcp://127.0.0.1:8786 --out DIR",
    )
)
@click.option("--datasets", required=True, callback=_names, metavar="A,B,…", help="Catalogue names, or files of any known format.")
@click.option(
    "--methods",
    required=True,
    callback=_names,
    metavar="A,B,…",
    help="camel, br, ecc, rakel, llsf, jfsc, extra-trees, random-forest, logistic, svc, or package.module:Class.",
)
@click.option("--out", required=True, type=OutputFolder(), help="The study folder. Run again: does what is missing.")
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    default="paper",
    show_default=True,
    help="As in fit. quick: 3 folds, a few representations, tuned cuts. paper: 10 folds, features, cuts and grids of the paper. best: "
    "10 folds, all representations, tuned cuts.",
)
@click.option("--per-metric", is_flag=True, help="CAMEL selects a model for each metric; else one, by average precision.")
@click.option(
    "--folds", type=click.Choice(["plain", "stratified"]), default="plain", show_default=True, help="Shuffled, or labels spread evenly."
)
@click.option("--n-folds", type=click.IntRange(min=2), help="Outer folds; default: 3 for quick, else 10.")
@click.option("--seed", type=click.IntRange(min=0, max=2**32 - 1), default=0, show_default=True, help="Of folds and methods.")
@click.option("--n-jobs", type=int, default=1, show_default=True, callback=_workers, help="Units at the same time; -1: one on each core.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster that does the work, as tcp://host:8786.")
@click.option(
    "--time-limit",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="A unit that takes longer fails, and its process is killed; default: no limit.",
)
@click.option("--device", metavar="NAME", help="cuda: CAMEL computes on a GPU.")
@label_columns
@label_file
@data_home
@click.option("--quiet", is_flag=True, help="No progress.")
@as_json
@click.pass_context
def study(
    ctx: click.Context, /, datasets: Sequence[str], methods: Sequence[str], out: str, *, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Compare methods on data sets: seven metrics in each of several folds, kept in a folder.

    The study can be stopped at any moment (Ctrl-C, power loss) and is resumed by the same command; several commands may
    share the work of one folder. A unit that fails is noted, the others go on, and the exit code is 1. With --n-jobs, --dask or
    --time-limit that holds for a method that crashes its process, too.
    """
    from skcamel.experiment.methods import FOLDS
    from skcamel.experiment.runner import UnitsFailed, run_study

    if options["dask"] is not None:
        need("distributed", "distributed", "Dask clusters")
    device = options.pop("device")
    per_metric = options.pop("per_metric")
    chosen = [_method(spec, options["preset"], per_metric, device) for spec in methods]
    opened = _opened(datasets, labels=options.pop("labels"), xml=options.pop("xml"), data_home=options.pop("data_home"))
    options["n_folds"] = options["n_folds"] or FOLDS[options["preset"]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnitsFailed)  # told below, and by the exit code
            records = run_study(opened, chosen, out=out, progress="quiet" if quiet else "auto", **options)
    except KeyboardInterrupt as signal:
        kept = f"Finished units are kept in {one_line(out)}; run the same command again to do the rest."
        raise Stopped(f"\nStopped. {kept}") from signal
    asked = _keys([name if isinstance(name, str) else name.name for name in opened], chosen, options)
    finished, failures = ([unit for unit in units if _key(unit) in asked] for units in (records, records.failures))
    _note_other_settings(records, finished)
    shown = summary(finished)
    if as_json:
        say_json({"out": out, "finished": len(finished), "failures": failures, "summary": shown})
    else:
        say("\n".join(_lines(shown)))
        folder = one_line(out)
        say(f"\nMore: skcamel tables {folder} --significance, or skcamel report {folder} -o page.html")
    if failures:
        say(one_line(_failed(failures, out)), err=True)
        ctx.exit(1)


def _note_other_settings(records: Iterable[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> None:
    """Say that the folder holds records of the same folds under other settings."""

    def place(record: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(record[key] for key in ("dataset", "method", "preset", "n_folds", "folds", "seed"))

    places, keys = {place(record) for record in shown}, {_key(record) for record in shown}
    others = Counter(record["method"] for record in records if place(record) in places and _key(record) not in keys)
    for method, number in others.items():
        note(f"{method}: {number} record{'s' * (number > 1)} of other settings {'are' if number > 1 else 'is'} left out.")


def _opened(datasets: Sequence[str], *, labels: str | None, xml: str | None, data_home: str | None) -> list[str | Dataset]:
    """Names of the catalogue as it spells them, and files as data; --labels is for the tables among these, --xml for ARFF."""
    from skcamel.data.formats import format_of

    kinds = ["name" if _is_name(name) else "set" if is_catalogue_name(name) else format_of(name) for name in datasets]
    if labels is not None and "table" not in kinds:
        raise click.UsageError("--labels names columns of a CSV, TSV or Parquet file, and --datasets has none; leave it out.")
    if xml is not None and "arff" not in kinds:
        raise click.UsageError("--xml is the label file of an ARFF file, and --datasets has none; leave it out.")
    return [
        name.lower()
        if kind == "name" and data_home is None
        else open_dataset(name, labels=labels if kind == "table" else None, xml=xml if kind == "arff" else None, data_home=data_home)
        for name, kind in zip(datasets, kinds, strict=True)
    ]


def _method(spec: str, preset: str, per_metric: bool, device: str | None) -> Method:
    """The method of that name; one of the user's own may lie in this folder."""
    from skcamel.experiment.methods import get_method

    here = str(Path.cwd())
    if ":" in spec and here not in sys.path:
        sys.path.append(here)
    try:
        return get_method(spec, preset, per_metric=per_metric, device=device)
    except (ImportError, TypeError, ValueError) as error:
        raise click.UsageError(str(error)) from error


def _keys(datasets: Sequence[str], methods: Sequence[Method], options: Mapping[str, Any]) -> set[str]:
    """Keys of the units of this study; the folder may hold others."""
    from skcamel.experiment.identity import settings_of
    from skcamel.experiment.units import Unit

    how = {key: options[key] for key in ("preset", "n_folds", "folds", "seed")}
    settings = {method.name: settings_of(method) for method in methods}
    return {
        Unit(name, method, fold=fold, settings=told, **how).key
        for name in datasets
        for method, told in settings.items()
        for fold in range(options["n_folds"])
    }


def _key(unit: Mapping[str, Any]) -> str:
    from skcamel.experiment.units import Unit

    return Unit.of(unit).key


def _is_name(text: str) -> bool:
    """Whether the text names a set of the catalogue rather than a file."""
    path = Path(text)
    return not (path.is_file() or path.suffix or len(path.parts) > 1)


def summary(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over the folds, for each data set and method.

    Parameters
    ----------
    records : iterable of mappings

    Returns
    -------
    list of dict
        dataset, method, folds, and for each metric its mean and ``<metric>_std`` (n - 1); None where it is undefined.
    """
    from skcamel.experiment.summary import summarise
    from skcamel.metrics.conventions import NAMES

    records = list(records)
    folds = Counter((record["dataset"], record["method"]) for record in records)
    figures = summarise(records).figures
    rows = []
    for (dataset, method), count in folds.items():
        row: dict[str, Any] = {"dataset": dataset, "method": method, "folds": count}
        for name in NAMES:
            mean, std, _ = figures[dataset, name, method]
            row |= {name: None if math.isnan(mean) else mean, f"{name}_std": None if math.isnan(std) else std}
        rows.append(row)
    return rows


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One block for each data set: a line for each method, mean ± std in thousandths."""
    from skcamel.metrics.conventions import NAMES

    rows = [{**row, "dataset": one_line(row["dataset"]), "method": one_line(row["method"])} for row in rows]
    heads = [name.replace("_", " ") for name in NAMES]
    lines: list[str] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        block = [row for row in rows if row["dataset"] == dataset]
        width = max(len(row["method"]) for row in block)
        widths = [max(9, len(head)) for head in heads]
        lines += ["", f"{dataset} (mean ± std of {max(row['folds'] for row in block)} folds)"]
        lines.append("  ".join([" " * width, *(head.rjust(w) for head, w in zip(heads, widths, strict=True))]))
        for row in block:
            cells = (_cell(row[name], row[f"{name}_std"]).rjust(w) for name, w in zip(NAMES, widths, strict=True))
            lines.append("  ".join([row["method"].ljust(width), *cells]))
    return lines


def _cell(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "undefined"
    from skcamel.experiment.paper import mean_and_std

    text = mean_and_std(mean, math.nan if std is None else std)
    return "±".join(part.removeprefix("0") for part in text.split("±"))


def _failed(failures: Sequence[Mapping[str, Any]], out: str) -> str:
    """One sentence: equal errors of a method on a data set are told once."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for failure in failures:
        folds.setdefault((failure["dataset"], failure["method"], failure["error"]), []).append(str(failure["fold"] + 1))
    told = [
        f"{dataset}, {method}, fold{'s' * (len(which) > 1)} {', '.join(which)} ({_shortened(error)})"
        for (dataset, method, error), which in folds.items()
    ]
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    units = "1 unit" if len(failures) == 1 else f"{len(failures)} units"
    first = "; ".join(told[:3])
    return f"Error: {units} failed: {first}{more}. Tracebacks are in {Path(out) / 'failures'}; the same command tries them again."


def _shortened(error: str) -> str:
    text = " ".join(error.split())
    return text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"
