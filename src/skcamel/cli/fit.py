"""``skcamel fit``: a labelled file ► a model file, with settings chosen by leave-one-out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from skcamel.cli import datasets, evaluate, options
from skcamel.cli.io import (
    Labelled,
    groups_of,
    missing_share,
    note,
    open_batches,
    open_labelled,
    progress_bar,
    say,
    say_json,
)
from skcamel.files import check_writable, is_stream
from skcamel.text import count, one_line, sampled_words

SHOWN_COLUMNS = 20


@click.command()
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@options.labels
@options.columns
@options.groups
@options.preset
@click.option(
    "--metric",
    type=click.Choice(options.METRICS),
    default="average_precision",
    metavar="METRIC",
    help=f"What decides: {', '.join(options.METRICS)}.",
)
@click.option(
    "--threshold",
    metavar="RULE",
    help="zero, micro_f1, macro_f1, hamming_loss (tuned for it) or a number.",
)
@click.option(
    "--miss-cost",
    type=click.FloatRange(0, min_open=True),
    metavar="COST",
    help="How many times as bad a miss is as a false alarm, in place of --threshold.",
)
@options.landmarks
@options.max_memory
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Share of rows to keep out of the fit and evaluate on.",
)
@options.text_encoder
@options.seed
@options.output_file("Model file to write.  [default: NAME.skcamel in this folder]")
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@options.as_json
@options.examples(
    "skcamel fit tickets.csv --labels tags --test-size 0.25",
    "skcamel fit mine.csv --labels 'topic_*' --preset best --column paid=number",
    "skcamel fit 2024.parquet 2025.parquet --labels 'topic_*' --max-memory 2GiB -o topics.skcamel",
)
def fit(
    data: tuple[str, ...],
    preset: str,
    groups: str | None,
    test_size: float | None,
    output: str | None,
    *,
    force: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Learn from labelled DATA and write a model file.

    DATA is a table (CSV, TSV, Excel, Parquet, JSON lines, - for standard input), another labelled
    file (ARFF, svmlight, Matlab), or the name of a benchmark set. 'skcamel datasets check DATA'
    shows what becomes of each column. Missing labels are legal: the fit learns from the others.

    CAMEL chooses its settings by exact leave-one-out, which also estimates how good the model is.
    With --test-size the model is fitted on the other rows alone.

    Several Parquet files with the same columns are one table. They are read in batches, as is a
    single one with --max-memory; their labels must be complete.
    """
    from skcamel.model_file import save

    if output is not None:
        _check_free(output, force=force)
    model = _estimator(preset, choices)
    with progress_bar("candidates") as bar:
        source = open_batches(data, choices) or open_labelled(data[0], choices, groups)
        path = output or f"{source.name or 'model'}.skcamel"
        _check_free(path, force=force)
        train, test = _parts(source, test_size, groups, choices["seed"])
        if not as_json:
            model.callback = bar
        started = time.perf_counter()
        whole = _fitted(model, source, preset, train, groups_of(source, groups, train))
        seconds = time.perf_counter() - started
    model.callback = None
    save(whole, path)
    facts = _facts(model, source, len(train)) | {"model": path, "fit_seconds": seconds}
    if test is not None:
        facts |= _tested(whole, source, test)
    if groups is None:
        _note_copies(source)
    if as_json:
        say_json(facts)
    else:
        _print(facts, source)


def _check_free(path: str, *, force: bool) -> None:
    """Before anything is learned: a fit can take long."""
    check_writable(path)
    if Path(path).exists() and not force and not is_stream(path):
        raise click.UsageError(f"{path} exists already; choose another name by -o, or add --force.")


def _estimator(preset: str, choices: Mapping[str, Any]) -> Any:
    """An estimator, of which wrong parameters are refused before the data is read."""
    from skcamel.camel.classifier_cv import CamelClassifierCV

    same = ("miss_cost", "max_memory")
    parameters = {name: choices[name] for name in same}
    parameters |= {"scoring": choices["metric"], "random_state": choices["seed"]}
    if choices["landmarks"] is not None:
        parameters |= {"solver": "landmark", "landmarks": "kmeans"}
        parameters["n_landmarks"] = choices["landmarks"]
    threshold = choices["threshold"]
    if threshold is not None:
        with suppress(ValueError):
            threshold = float(threshold)
        parameters["threshold"] = threshold
    return CamelClassifierCV.from_preset(preset, **parameters)


def _parts(source: Labelled, test_size: float | None, groups: str | None, seed: int) -> Any:
    """Rows to fit on, and rows to keep out of the fit; groups stay on one side."""
    import numpy as np
    from sklearn.model_selection import GroupShuffleSplit

    from skcamel.data import MultilabelStratifiedShuffleSplit

    if test_size is None:
        return np.arange(source.Y.shape[0]), None
    if source.files is not None:
        raise click.UsageError(
            "--test-size needs all rows in memory; leave a file out, and use 'skcamel evaluate'."
        )
    kind = MultilabelStratifiedShuffleSplit if groups is None else GroupShuffleSplit
    splitter = kind(1, test_size=test_size, random_state=seed)
    return next(splitter.split(source.Y, np.asarray(source.Y), groups_of(source, groups)))


def _fitted(model: Any, source: Labelled, preset: str, train: Any, groups: Any) -> Any:
    """Fit on some rows; a table is prepared first, and words have representations of their own."""
    from skcamel.data import matching, pipeline
    from skcamel.presets import PREPARED

    if source.preparer is None:
        model.fit(source.rows(train), source.Y[train], groups=groups)
        matching.remember(model, source.dataset)
        return model
    X, has_words = source.prepared(train)
    if has_words:
        model.set_params(representations=PREPARED[preset])
    if source.files is None:
        model.fit(X, source.Y[train], groups=groups)
    else:
        model.set_params(solver="landmark")
        _fit_in_batches(model, source, source.files, source.preparer)
    setattr(model, matching.LABEL_COLUMNS, source.label_columns)
    return pipeline.LabelPipeline([("prepare", source.preparer), ("classify", model)])


def _fit_in_batches(model: Any, source: Labelled, files: Any, preparer: Any) -> None:
    """Fit on all rows of files, and say how they differ from the sample."""
    from skcamel.data import batches
    from skcamel.data.preparer import notes_on

    differences = batches.fit_batches(model, files, source.all_labels, preparer)
    for remark in notes_on(differences, "sample"):
        note(f"{remark}.")


def _tested(whole: Any, source: Labelled, test: Any) -> dict[str, Any]:
    """The seven metrics of rows that the fit has not seen."""
    from skcamel import metrics
    from skcamel.data import pipeline

    found = pipeline.outputs(whole, source.rows(test))
    figures = metrics.evaluate(source.Y[test], found.scores, found.decisions)
    return {"test_rows": len(test), "test": figures}


def _facts(model: Any, source: Labelled, n_fitted: int) -> dict[str, Any]:
    """What was fitted on, what a search chose, and how good it says that is."""
    return {
        "class": type(model).__name__,
        "rows": n_fitted if source.files is None else source.files.n_rows,
        "features": int(model.n_features_in_),
        "labels": source.Y.shape[1],
        "missing": missing_share(source.Y),
        "in_batches": source.files is not None,
        "columns": source.columns(),
        "scoring": model.scoring_,
        "candidates": len(model.cv_results_["params"]),
        "params": model.best_params_,
        "threshold": model.threshold,
        "miss_cost": model.miss_cost,
        "estimate": model.estimate_,
        "solver": model.weighted_members()[0][1].solver_,
    }


def _print(facts: Mapping[str, Any], source: Labelled) -> None:
    rows = facts["rows"] + facts.get("test_rows", 0)
    width = len(facts["columns"]) or facts["features"]
    name = one_line(source.source)
    say(f"{name}: {rows:,} rows, {count(width, 'column')}, {count(facts['labels'], 'label')}")
    if facts["missing"]:
        share = f"{facts['missing']:.2%}"
        say(f"{share} of the label entries are missing; the fit and the figures use the others.")
    n = source.Y.shape[0]
    if source.files is not None and n < source.files.n_rows:
        say(sampled_words(n, source.files.n_rows))
    datasets.print_columns(facts["columns"], most=SHOWN_COLUMNS)
    _print_choice(facts)
    figures = {"leave-one-out": facts["estimate"]}
    if "test" in facts:
        figures[f"{facts['test_rows']:,} test rows"] = facts["test"]
    say()
    evaluate.print_metrics(figures)
    if "test" not in facts:
        say("  The same rows chose the model, so this is slightly optimistic; see --test-size.")
    model = one_line(facts["model"])
    how = f"{facts['fit_seconds']:.1f} s (solver {facts['solver']})"
    say(f"\nFitted on {facts['rows']:,} rows in {how}; wrote {model}")
    say(f"Next:  skcamel predict {model} NEW.csv -o predictions.csv")
    say(f"       skcamel explain {model} NEW.csv --row 1")
    say(f"       skcamel evaluate {model} LABELLED.csv")


def _note_copies(source: Labelled) -> None:
    """Copies of rows flatter every estimate."""
    import numpy as np

    kinds = source.copies()
    copies = len(kinds) - len(np.unique(kinds))
    if copies:
        what = count(copies, "row is a copy", "rows are copies")
        note(f"{what} of another row, which flatters every estimate; see --groups copies.")


def _print_choice(facts: Mapping[str, Any]) -> None:
    params = facts["params"]
    say(f"Of {facts['candidates']} candidates, by {facts['scoring']} (leave-one-out):")
    members = params.get("members", [params])
    for weight, member in zip(params.get("weights", [1.0]), members, strict=True):
        setting = f"alpha={member['alpha']:g}  lambda2={member['lambda2']:g}"
        bandwidth = f"bandwidth={member['bandwidth']:g}"
        say(f"  {weight:.2f} x {member['scaling']} {member['kernel']}  {bandwidth}  {setting}")
    rule = "threshold" if facts["miss_cost"] is None else "miss_cost"
    say(f"  {rule}={facts[rule]}")
