"""``skcamel fit``: a labelled file ► a model file, with its hyper-parameters chosen inside the training rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options
from skcamel.cli.inputs import (
    LabelledTable,
    checked_labels,
    is_table,
    open_labelled,
    prepare,
    preparer_with,
    remember,
    told_unknown,
)
from skcamel.cli.options import examples
from skcamel.cli.output import bars, note, print_columns, say, say_json, words_beside
from skcamel.presets import PRESETS
from skcamel.text import count, file_size, one_line, sampled_words

if TYPE_CHECKING:
    import numpy as np

    from skcamel.camel.stream import Batches
    from skcamel.data.batches import ParquetFiles
    from skcamel.data.labels import Labels
    from skcamel.data.preparer import Differences, TablePreparer


@click.command(
    epilog=examples(
        "skcamel fit yeast -o yeast.skcamel",
        "skcamel fit mine.csv --labels 'topic_*' --preset best --scoring macro_f1 --test-size 0.25",
        "skcamel fit tickets.xlsx --labels tags --text subject,body --drop internal_note",
        "skcamel fit patients.csv --labels-file diagnoses.csv --id patient",
        "skcamel fit 2024.parquet 2025.parquet --labels 'topic_*' --max-memory 2GiB -o"
        " topics.skcamel",
        "skcamel fit large.parquet --labels 'topic_*' --landmarks 2000 --max-memory 4GiB",
    )
)
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@options.output_file(
    options.OutputFile(), "Model file to write.  [default: NAME.skcamel in this folder]"
)
@options.dataset_options
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    default="quick",
    show_default=True,
    help=(
        "How much is tried: quick (3 representations, tuned thresholds), paper (as printed), best"
        " (12 representations combined, tuned thresholds; about 12 times as long as paper)."
    ),
)
@click.option(
    "--scoring",
    type=click.Choice(options.METRICS),
    metavar="METRIC",
    help=f"Metric that decides: {', '.join(options.METRICS)}.  [default: average_precision]",
)
@click.option(
    "--threshold",
    metavar="RULE",
    help="Of the scores: zero, micro_f1, macro_f1, hamming_loss (tuned for it) or a number.",
)
@options.solver_options
@click.option(
    "--test-size",
    type=options.Number(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Share of rows to keep out of the fit and evaluate on.",
)
@options.table_options
@click.option(
    "--random-state",
    type=options.SEED,
    default=0,
    show_default=True,
    help="Seed of whatever is drawn.",
)
@options.force
@options.as_json
def fit(
    data: tuple[str, ...],
    output: str | None,
    preset: str,
    test_size: float | None,
    random_state: int,
    *,
    force: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Learn from labelled DATA and write a model file.

    DATA is a labelled file or the name of a benchmark set.

    CAMEL chooses its hyper-parameters by exact leave-one-out, which also estimates how good the
    model is. With --test-size
    the model is fitted on the other rows alone.

    DATA may be a table as people keep it (CSV, TSV, Excel, Parquet, JSON lines, - for standard
    input), with words, dates, text and
    gaps; 'skcamel datasets check DATA' tells what becomes of each column. Gaps among the labels are
    unknown labels: the fit learns from
    the others.

    Several Parquet files with the same columns are one table. They are read in batches, as is a
    single one with --max-memory: columns are
    prepared from a sample of the rows, and the fit sums up all rows (solver "landmark"). Their
    labels must be complete.
    """
    from skcamel.memory import as_bytes
    from skcamel.model_file import save

    how = {key: choices.pop(key) for key in options.HOW_READ}
    of_table = {key: choices.pop(key) for key in (*options.OF_TABLES, "labels_file")}
    given = {key: value for key, value in choices.items() if value is not None}
    if output is not None:
        _check_output(Path(output), force=force)
    model = _estimator(preset, given, random_state)
    max_memory = as_bytes(given["max_memory"]) if "max_memory" in given else None
    reason = _why_in_batches(data, max_memory)
    if reason:
        _check_batches(reason, test_size)
        model.set_params(solver="landmark")
    with bars() as bar:
        if reason:
            source, preparer = _open_files(data, of_table, how["labels"], random_state)
        else:
            source, preparer = open_labelled(data[0], how, of_table)
        path = Path(output or f"{source.name or 'model'}.skcamel")
        _check_output(path, force=force)
        train, test = _parts(source.Y, test_size, random_state)
        if not as_json:
            model.callback = _told_to(bar)
        started = time.perf_counter()
        whole = _fitted(model, source, preparer, train, preset)
        seconds = time.perf_counter() - started
    model.callback = None
    save(whole, path)
    rows = source.files.n_rows if isinstance(source, FiledTable) else len(train)
    facts: dict[str, Any] = {
        "model": str(path),
        "class": type(model).__name__,
        "rows": rows,
        "in_batches": bool(reason),
    }
    facts |= _facts(model, source, preparer, test)
    facts |= {"fit_seconds": seconds, "model_bytes": path.stat().st_size}
    with words_beside(str(path)):
        say_json(facts) if as_json else _print(facts, ", ".join(data))


@dataclass(frozen=True)
class FiledTable(LabelledTable):
    """A table in Parquet files that are read in batches: its columns and labels are those of a sample."""

    files: ParquetFiles
    all_labels: Labels

    def batches(self, preparer: TablePreparer, differences: list[Differences]) -> Batches:
        """All rows, prepared, for a fit by sums; how the rows of the last pass differ from the sample goes into `differences`."""
        import numpy as np
        from scipy import sparse

        from skcamel.arrays import canonical
        from skcamel.camel.landmark import Block
        from skcamel.camel.stream import Batches

        signs = np.where(self.all_labels.Y > 0, 1, -1).astype(np.int8)

        def read() -> Iterator[Block]:
            differences.clear()
            for X, first, found in self.files.prepared(preparer, self.all_labels):
                differences.append(found)
                rows = canonical(X) if sparse.issparse(X) else X
                yield Block(rows, signs[first : first + rows.shape[0]], None, first)

        return Batches(read, self.all_labels.names, len(preparer.source_columns_))


def _why_in_batches(data: Sequence[str], max_memory: int | None) -> str:
    """Why files are to be read in batches; "" where one file is read as a whole."""
    from skcamel.data.batches import is_parquet

    if len(data) == 1:
        in_batches = max_memory is not None and is_parquet(data[0]) and is_table(data[0])
        return "--max-memory asks for it" if in_batches else ""
    for file in data:
        if not is_parquet(file):
            raise click.UsageError(
                f"{file} cannot be read in batches, and several files are one table; write them as"
                " Parquet."
            )
    return "several files are one table"


def _open_files(
    data: Sequence[str], of_table: Mapping[str, Any], labels: str | None, seed: int
) -> tuple[FiledTable, TablePreparer]:
    """Files as one table to be read in batches, and what will prepare it."""
    from skcamel.data.batches import opened
    from skcamel.data.labels import Labels, without

    of_table = dict(of_table)
    if of_table.pop("labels_file") is not None:
        raise click.UsageError(
            "--labels-file goes with one file that fits into memory; write the labels into the"
            " files."
        )
    preparer = preparer_with(of_table)
    files = opened(data)
    found = files.labels(checked_labels(labels, data[0]))
    sample, rows = files.sample(seed=seed)
    known = Labels(found.names, found.Y[rows], found.columns)
    return FiledTable(without(sample, found.columns), known, data[0], files, found), preparer


def _check_batches(reason: str, test_size: float | None) -> None:
    """Say that files are read in batches, and refuse what does not go together with it."""
    if test_size is not None:
        raise click.UsageError(
            f"--test-size needs all rows in memory, and {reason}; keep a file aside, and use"
            " 'skcamel evaluate'."
        )
    note(f"rows are read in batches and summed up by landmarks: {reason}.")


def _fit_in_batches(model: Any, source: FiledTable, preparer: TablePreparer) -> None:
    """Fit on all rows of files, and say how they differ from the sample."""
    differences: list[Differences] = []
    model.fit(source.batches(preparer, differences), None)
    n, n_rows = len(source.columns), source.files.n_rows
    if n < n_rows:
        preparer.sampled_ = (n, n_rows)
    for said in reduce(lambda first, second: first.plus(second), differences).notes("sample"):
        note(f"{said}.")


def _parts(
    Y: np.ndarray, test_size: float | None, random_state: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rows to fit on, and rows to keep out of the fit."""
    import numpy as np

    from skcamel.data.splitting import MultilabelStratifiedShuffleSplit

    if test_size is None:
        return np.arange(len(Y)), None
    splitter = MultilabelStratifiedShuffleSplit(1, test_size=test_size, random_state=random_state)
    return next(splitter.split(Y, np.asarray(Y)))


def _fitted(
    model: Any, source: Any, preparer: TablePreparer | None, train: np.ndarray, preset: str
) -> Any:
    """Fit on some rows; a table is prepared first, and a preset has representations of its own for prepared words."""
    if preparer is None:
        model.fit(source.X[train], source.labels[train])
        remember(model, source)
        return model
    from skcamel.data.matching import LABEL_COLUMNS
    from skcamel.data.pipeline import LabelPipeline
    from skcamel.presets import PREPARED

    X, has_words = prepare(preparer, source, train)
    if has_words:
        model.set_params(representations=PREPARED[preset])
    if isinstance(source, FiledTable):
        _fit_in_batches(model, source, preparer)
    else:
        model.fit(X, source.Y[train])
    setattr(model, LABEL_COLUMNS, source.labels.columns)
    return LabelPipeline([("prepare", preparer), ("classify", model)])


def _told_to(bar: Callable[[str, int, int], None]) -> Callable[[Any], None]:
    def tell(step: Any) -> None:
        bar("candidates", step.done, step.total)

    return tell


def _check_output(path: Path, *, force: bool) -> None:
    """Before anything is learned: a fit can take long."""
    from skcamel.files import check_writable, is_stream

    check_writable(path)
    if path.exists() and not force and not is_stream(path):
        raise click.UsageError(f"{path} exists already; choose another name by -o, or add --force.")


def _estimator(preset: str, given: dict[str, Any], random_state: int) -> Any:
    """An estimator whose parameters are checked now: reading the data can take long."""
    from skcamel.camel.classifier_cv import CamelClassifierCV

    parameters = options.solver_parameters(given)
    if "threshold" in given:
        parameters["threshold"] = _number_or_word(given["threshold"])
    if "scoring" in given:
        parameters["scoring"] = given["scoring"]
    model = CamelClassifierCV.from_preset(preset, random_state=random_state, **parameters)
    try:
        model._checked_grid()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return model


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _facts(
    model: Any, source: Any, preparer: TablePreparer | None, test: np.ndarray | None
) -> dict[str, Any]:
    """What came of a fit."""
    from skcamel.data.dataset import known_share
    from skcamel.data.matching import LEFT_OUT
    from skcamel.metrics import evaluate

    facts: dict[str, Any] = {"features": int(model.n_features_in_), "labels": source.Y.shape[1]}
    known = known_share(source.Y)
    facts |= {"known": known} if known < 1 else {}
    if preparer is None:
        facts["dropped"] = list(source.dropped)
    else:
        facts["dropped"] = [name for name, kind in preparer.kinds_.items() if kind in LEFT_OUT]
        facts |= {"sampled": list(preparer.sampled_)} if hasattr(preparer, "sampled_") else {}
        facts["columns"] = [
            dict(zip(("column", "kind", "detail"), told, strict=True))
            for told in preparer.describe()
        ]
    facts |= _searched(model)
    if test is not None:
        outputs = model.outputs(
            source.X[test] if preparer is None else preparer.transform(source.columns.take(test))
        )
        facts |= {
            "test_rows": len(test),
            "test": evaluate(source.Y[test], outputs.scores, outputs.decisions),
        }
    return facts


def _searched(model: Any) -> dict[str, Any]:
    """What a search chose, and how good it says that is."""
    from skcamel.camel.explanation import training_size

    facts = {
        "scoring": model.scoring_,
        "candidates": len(model.cv_results_["params"]),
        "params": model.best_params_,
        "threshold": model.threshold,
        "estimated_by": "leave-one-out" if isinstance(model.cv, str) else f"{model.cv} folds",
        "estimate": model.estimate_ if hasattr(model, "estimate_") else _mean_of_folds(model),
    }
    if summed := training_size(model)[1] if hasattr(model, "weighted_members") else "":
        facts |= {"solved_by": summed, "judged_rows": model.n_judged_}
    return facts


def _mean_of_folds(model: Any) -> dict[str, float]:
    """The seven metrics of the chosen candidate."""
    from skcamel.metrics import LOSSES

    means = {
        name: float(model.cv_results_[f"mean_test_{name}"][model.best_index_])
        for name in options.METRICS
    }
    return {
        name: (-mean if name in LOSSES else mean) + 0.0 for name, mean in means.items()
    }  # no -0


def _print(facts: dict[str, Any], source: str) -> None:
    from skcamel.cli.evaluate import print_metrics

    rows = facts["rows"] + facts.get("test_rows", 0)
    columns = facts.get("columns")
    width = f"{len(columns)} columns" if columns else f"{facts['features']} features"
    say(f"{one_line(source)}: {rows} rows, {width}, {facts['labels']} labels")
    if "known" in facts:
        say(f"{told_unknown(facts['known'])}; the fit and the figures use the others.")
    if "sampled" in facts:
        say(sampled_words(*facts["sampled"]))
    if columns:
        print_columns([tuple(told.values()) for told in columns], most=20)
    _print_choice(facts)
    if "solved_by" in facts:
        say(
            f"Solved by sums over rows, with {facts['solved_by']}; thresholds and estimates come"
            f" from {count(facts['judged_rows'], 'row')}."
        )
    figures = {facts["estimated_by"]: facts["estimate"]}
    if "test" in facts:
        figures[f"{facts['test_rows']:,} test rows"] = facts["test"]
    say()
    print_metrics(figures)
    if "test" not in facts:
        cure = (
            "other rows by 'skcamel evaluate' give" if facts["in_batches"] else "--test-size gives"
        )
        say(
            f"  The same rows chose the model, so this estimate is slightly optimistic; {cure} one"
            " that is not."
        )
    model = one_line(facts["model"])
    on = f" on {facts['rows']:,} rows" if "test" in facts else ""
    say(
        f"\nFitted{on} in {facts['fit_seconds']:.1f} s; wrote {model}"
        f" ({file_size(facts['model_bytes'])})"
    )
    say(f"Next:  skcamel predict {model} NEW.csv -o predictions.csv")
    say(f"       skcamel explain {model} NEW.csv --row 1")
    say(f"       skcamel evaluate {model} LABELLED.csv")


def _print_choice(facts: dict[str, Any]) -> None:
    params = facts["params"]
    if "members" in params:
        say(f"Combined by leave-one-out, of {facts['candidates']} candidates:")
        for weight, own in zip(params["weights"], params["members"], strict=True):
            say(
                f"  {weight:.2f} x {own['scaling']} {own['kernel']}  alpha={own['alpha']:g} "
                f" lambda2={own['lambda2']:g}"
            )
        say(f"  threshold={facts['threshold']}")
        return
    chosen = "  ".join(
        f"{key}={value:g}" if isinstance(value, float | int) else f"{key}={value}"
        for key, value in params.items()
    )
    say(
        f"Chosen of {facts['candidates']} candidates by {facts['scoring']}"
        f" ({facts['estimated_by']}):"
    )
    say(f"  {chosen}  threshold={facts['threshold']}")
