"""``skcamel fit``: a labelled file ► a model file, with its hyper-parameters chosen inside the training rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli import options
from skcamel.cli.inputs import check_complete, open_dataset, remember, sizes
from skcamel.cli.options import examples
from skcamel.cli.output import bars, say, say_json, words_beside
from skcamel.data import DataError
from skcamel.presets import PRESETS
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

# method ► class, and the options that it understands beside the common ones
METHODS = {
    "camel": ("CamelClassifierCV", {"preset", "scoring", "threshold", "alphas", "lambda2s", "scalings", "kernels", "bandwidths"}),
    "br": ("BinaryRelevance", {"threshold"}),
    "ecc": ("EnsembleOfClassifierChains", {"threshold"}),
    "rakel": ("RAkEL", {"threshold"}),
    "llsf": ("LLSFCV", {"scoring", "threshold"}),
    "jfsc": ("JFSCCV", {"scoring", "threshold"}),
}
SCALINGS = ("none", "standard", "minmax", "unit", "rank")
KERNELS = ("rbf", "laplacian", "exponential", "linear")


@click.command(
    epilog=examples(
        "skcamel fit yeast -o yeast.skcamel",
        "skcamel fit mine.csv --labels 'topic_*' --preset best --scoring macro_f1 --test-size 0.25",
        "skcamel fit mine.arff --method ecc -o ecc.skcamel",
        "skcamel fit mine.csv --labels sea,sun --scalings none,standard --kernels rbf,laplacian --threshold label",
    )
)
@click.argument("data", shell_complete=options.complete_source)
@options.output_file(options.OutputFile(), "Model file to write.  [default: NAME.skcamel in this folder]")
@options.dataset_options
@click.option("--method", type=click.Choice(tuple(METHODS)), default="camel", show_default=True, help="CAMEL, or what it is compared with.")
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    help="How much CAMEL tries: quick (3 representations, tuned cuts), paper (as printed), best (12 representations combined, tuned "
    "cuts; about 12 times as long as paper).  [default: quick]",
)
@click.option(
    "--scoring",
    type=click.Choice(options.METRICS),
    metavar="METRIC",
    help=f"Metric that decides (camel, llsf, jfsc): {', '.join(options.METRICS)}.  [default: average_precision]",
)
@click.option("--threshold", metavar="RULE", help="Cuts of the scores: zero, common, label, auto or a number; of llsf and jfsc also tuned.")
@click.option("--alphas", "--alpha", type=options.Values(), metavar="A,…", help="Strengths of collaboration to try, from 0 to 1 (camel).")
@click.option("--lambda2s", "--lambda2", type=options.Values(), metavar="L,…", help="Penalties to try, above 0 (camel).")
@click.option("--scalings", "--scaling", type=options.Values(SCALINGS), metavar="S,…", help=f"{', '.join(SCALINGS)} (camel).")
@click.option("--kernels", "--kernel", type=options.Values(KERNELS), metavar="K,…", help=f"{', '.join(KERNELS)} (camel).")
@click.option("--bandwidths", "--bandwidth", type=options.Values(), metavar="B,…", help="Multiples of the mean distance (camel).")
@click.option(
    "--test-size",
    type=options.Number(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Share of rows to keep out of the fit and evaluate on.",
)
@click.option(
    "--nominal",
    type=click.Choice(["index", "onehot"]),
    default="index",
    show_default=True,
    help="Text columns of a table: numbered in sorted order, or a 0/1 column for each value.",
)
@click.option("--random-state", type=options.SEED, default=0, show_default=True, help="Seed of whatever is drawn.")
@options.force
@options.as_json
def fit(
    data: str,
    output: str | None,
    method: str,
    test_size: float | None,
    nominal: str,
    random_state: int,
    *,
    force: bool,
    as_json: bool,
    **choices: Any,
) -> None:
    """Learn from DATA, a labelled file or the name of a benchmark set, and write a model file.

    CAMEL chooses its hyper-parameters by exact leave-one-out, which also estimates how good the model is. With --test-size
    the model is fitted on the other rows alone.
    """
    from skcamel.persistence import save

    how = {key: choices.pop(key) for key in options.HOW_READ}
    given = {key: value for key, value in choices.items() if value is not None}
    if unfit := sorted(set(given) - METHODS[method][1]):
        raise click.UsageError(f"--{unfit[0]} does not apply to --method {method}; leave it out.")
    if output is not None:
        _check_output(Path(output), force=force)
    model = _estimator(method, given, random_state)
    dataset = open_dataset(data, nominal=nominal, **how)
    _check_dataset(dataset, data)
    path = Path(output or f"{dataset.name or 'model'}.skcamel")
    _check_output(path, force=force)
    with bars() as bar:
        if method == "camel" and not as_json:
            model.callback = _told_to(bar)
        facts = _fitted(model, dataset, test_size, random_state)
    if method == "camel":
        model.callback = None
    remember(model, dataset, nominal, facts.pop("fitted_rows"))
    save(model, path)
    facts = {"model": str(path), "method": method, "class": type(model).__name__, **facts, "model_bytes": path.stat().st_size}
    with words_beside(str(path)):
        say_json(facts) if as_json else _print(facts, dataset, data)


def _told_to(bar: Callable[[str, int, int], None]) -> Callable[[Any], None]:
    return lambda step: bar("candidates", step.done, step.total)


def _check_output(path: Path, *, force: bool) -> None:
    """Before anything is learned: a fit can take long."""
    from skcamel.files import check_writable, is_stream

    check_writable(path)
    if path.exists() and not force and not is_stream(path):
        raise click.UsageError(f"{path} exists already; choose another name by -o, or add --force.")


def _check_dataset(dataset: Dataset, source: str) -> None:
    if both := set(dataset.feature_names) & set(dataset.label_names):
        raise DataError(f"{min(both)!r} is the name of a feature and of a label; rename one.", path=source)
    often = Counter(dataset.feature_names)
    if twice := [name for name in dataset.categories if often[name] > 1]:
        raise DataError(f"two columns are called {twice[0]!r}, one of them holds text; rename one.", path=source)
    check_complete(dataset.X, dataset.feature_names, source)


def _estimator(method: str, given: dict[str, Any], random_state: int) -> Any:
    """An estimator whose parameters are checked now: reading the data can take long."""
    from skcamel import baselines
    from skcamel.classifier_cv import CamelClassifierCV

    given = dict(given)
    if "threshold" in given:
        given["threshold"] = _number_or_word(given["threshold"])
    if method == "camel":
        if {"scalings", "kernels", "bandwidths"} & set(given):  # they take the place of a preset's representations
            given |= {"representations": None, "combine": False}
        model: Any = CamelClassifierCV.from_preset(given.pop("preset", "quick"), **given)
    else:
        if method != "br":
            given["random_state"] = random_state
        model = getattr(baselines, METHODS[method][0])(**given)
    try:
        (model._checked_grid if method == "camel" else model._check_parameters)()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return model


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _fitted(model: Any, dataset: Dataset, test_size: float | None, random_state: int) -> dict[str, Any]:
    """Fit, and tell what came of it."""
    import numpy as np

    from skcamel.data.splitting import MultilabelStratifiedShuffleSplit
    from skcamel.metrics import evaluate

    train, test = np.arange(dataset.n), None
    if test_size is not None:
        splitter = MultilabelStratifiedShuffleSplit(1, test_size=test_size, random_state=random_state)
        train, test = next(splitter.split(dataset.X, dataset.Y))
    started = time.perf_counter()
    model.fit(dataset.X[train], dataset.labels[train])
    facts: dict[str, Any] = {
        "rows": len(train),
        "features": dataset.d,
        "labels": dataset.q,
        "fit_seconds": time.perf_counter() - started,
        "dropped": list(dataset.dropped),
        "fitted_rows": train,
    }
    if hasattr(model, "cv_results_"):
        facts |= _searched(model)
    if test is not None:
        outputs = model.outputs(dataset.X[test])
        facts |= {"test_rows": len(test), "test": evaluate(dataset.Y[test], outputs.scores, outputs.decisions)}
    return facts


def _searched(model: Any) -> dict[str, Any]:
    """What a search chose, and how good it says that is."""
    from skcamel.metrics import LOSSES

    means = {name: float(model.cv_results_[f"mean_test_{name}"][model.best_index_]) for name in options.METRICS}
    facts = {
        "scoring": model.scoring_,
        "candidates": len(model.cv_results_["params"]),
        "params": model.best_params_,
        "threshold": getattr(model, "threshold_rule_", model.threshold),
        "estimated_by": "leave-one-out" if isinstance(model.cv, str) else f"{model.cv} folds",
        "estimate": getattr(model, "estimate_", {name: (-mean if name in LOSSES else mean) + 0.0 for name, mean in means.items()}),  # no -0
    }
    if hasattr(model, "members_"):
        keys = ("scaling", "kernel", "alpha", "lambda2", "bandwidth_")
        told = zip(model.weights_.tolist(), model.members_, strict=True)
        facts["members"] = [{"weight": weight} | {key.rstrip("_"): getattr(own, key) for key in keys} for weight, own in told]
    return facts


def _print(facts: dict[str, Any], dataset: Dataset, source: str) -> None:
    from skcamel.cli.evaluate import print_metrics

    say(f"{one_line(source)}: {sizes(dataset)}")
    columns = {}
    if "params" in facts:
        _print_choice(facts)
        columns[facts["estimated_by"]] = facts["estimate"]
    if "test" in facts:
        columns[f"{facts['test_rows']:,} test rows"] = facts["test"]
    if columns:
        say()
        print_metrics(columns)
        if "test" not in facts:
            say("  The same rows chose the model, so this estimate is slightly optimistic; --test-size gives one that is not.")
    else:
        say("This method estimates nothing by itself; to see how good it is, add --test-size 0.25.")
    model, size = one_line(facts["model"]), facts["model_bytes"]
    on = f" on {facts['rows']:,} rows" if "test" in facts else ""
    megabytes = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    say(f"\nFitted{on} in {facts['fit_seconds']:.1f} s; wrote {model} ({megabytes})")
    say(f"Next:  skcamel predict {model} NEW.csv -o predictions.csv")
    if facts["method"] == "camel":
        say(f"       skcamel explain {model} NEW.csv --row 1")
    say(f"       skcamel evaluate {model} LABELLED.csv")


def _print_choice(facts: dict[str, Any]) -> None:
    params = facts["params"].items()
    chosen = "  ".join(f"{key}={value:g}" if isinstance(value, float | int) else f"{key}={value}" for key, value in params)
    cuts = f"threshold={facts['threshold']}"
    if "members" not in facts:
        say(f"Chosen of {facts['candidates']} candidates by {facts['scoring']} ({facts['estimated_by']}):")
        say(f"  {chosen}  {cuts}")
        return
    say(f"Combined by leave-one-out, of {facts['candidates']} candidates:")
    for own in facts["members"]:
        say(f"  {own['weight']:.2f} x {own['scaling']} {own['kernel']}  alpha={own['alpha']:g}  lambda2={own['lambda2']:g}")
    say(f"  {cuts}")
    say(f"The best single candidate by {facts['scoring']}:\n  {chosen}")
