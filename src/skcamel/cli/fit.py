"""``skcamel fit``: a labelled file ► a model file, with its hyper-parameters chosen inside the training rows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skcamel.cli.datasets import as_json, complete_source, data_home, label_columns, label_file, open_dataset, plain, sizes
from skcamel.cli.models import check_complete, remember
from skcamel.cli.options import Number, OutputFile, Values, words_beside
from skcamel.cli.output import say, say_json
from skcamel.cli.root import examples
from skcamel.presets import PRESETS
from skcamel.text import one_line

if TYPE_CHECKING:
    from skcamel.data.dataset import Dataset

METRICS = ("one_error", "hamming_loss", "coverage", "ranking_loss", "average_precision", "macro_f1", "micro_f1")
METHODS = ("camel", "br", "ecc", "rakel", "llsf", "jfsc")
TAKES = {  # options that a method understands beside the common ones
    "camel": {"preset", "scoring", "threshold", "alphas", "lambda2s", "scalings", "kernels", "bandwidths"},
    "br": {"threshold"},
    "ecc": {"threshold"},
    "rakel": {"threshold"},
    "llsf": {"scoring", "threshold"},
    "jfsc": {"scoring", "threshold"},
}


@click.command(
    epilog=examples(
        "skcamel fit yeast -o yeast.skcamel",
        "skcamel fit mine.csv --labels 'topic_*' --preset best --scoring macro_f1 --test-size 0.25",
        "skcamel fit mine.arff --method ecc -o ecc.skcamel",
        "skcamel fit mine.csv --labels sea,sun --scalings none,standard --kernels rbf,laplacian --threshold label",
    )
)
@click.argument("data", shell_complete=complete_source)
@click.option("-o", "--output", type=OutputFile(), help="Model file to write.  [default: NAME.skcamel in this folder]")
@label_columns
@label_file
@data_home
@click.option("--method", type=click.Choice(METHODS), default="camel", show_default=True, help="CAMEL, or what it is compared with.")
@click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    help="How much CAMEL tries: quick (3 representations, tuned cuts), paper (as printed), best (12 representations combined, tuned "
    "cuts; about 12 times as long as paper).  [default: quick]",
)
@click.option(
    "--scoring",
    type=click.Choice(METRICS),
    metavar="METRIC",
    help=f"Metric that decides (camel, llsf, jfsc): {', '.join(METRICS)}.  [default: average_precision]",
)
@click.option("--threshold", metavar="RULE", help="Cuts of the scores: zero, common, label, auto or a number; of llsf and jfsc also tuned.")
@click.option("--alphas", "--alpha", type=Values(), metavar="A,…", help="Strengths of collaboration to try, from 0 to 1 (camel).")
@click.option("--lambda2s", "--lambda2", type=Values(), metavar="L,…", help="Penalties to try, above 0 (camel).")
@click.option(
    "--scalings",
    "--scaling",
    type=Values(("none", "standard", "minmax", "unit", "rank")),
    metavar="S,…",
    help="none, standard, minmax, unit, rank (camel).",
)
@click.option(
    "--kernels",
    "--kernel",
    type=Values(("rbf", "laplacian", "exponential", "linear")),
    metavar="K,…",
    help="rbf, laplacian, exponential, linear (camel).",
)
@click.option("--bandwidths", "--bandwidth", type=Values(), metavar="B,…", help="Multiples of the mean distance (camel).")
@click.option(
    "--test-size",
    type=Number(0, 1, min_open=True, max_open=True),
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
@click.option("--random-state", type=click.IntRange(min=0, max=2**32 - 1), default=0, show_default=True, help="Seed of whatever is drawn.")
@click.option("--force", is_flag=True, help="Write over an existing model file.")
@as_json
def fit(
    data: str,
    output: str | None,
    labels: str | None,
    xml: str | None,
    data_home: str | None,
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
    given = {key: value for key, value in choices.items() if value is not None}
    if unfit := sorted(set(given) - TAKES[method]):
        raise click.UsageError(f"--{unfit[0]} does not apply to --method {method}; leave it out.")
    if output is not None:
        _check_output(Path(output), force=force)
    model = _estimator(method, given, random_state)
    dataset = open_dataset(data, labels=labels, xml=xml, data_home=data_home, nominal=nominal)
    _check_dataset(dataset, data)
    path = Path(output or f"{dataset.name or 'model'}.skcamel")
    _check_output(path, force=force)
    with _progress(quiet=as_json) as callback:
        if method == "camel":
            model.callback = callback
        facts = _fitted(model, dataset, test_size, random_state)
    from skcamel.persistence import save

    if method == "camel":
        model.callback = None
    remember(model, dataset, nominal, facts.pop("fitted_rows"))
    save(model, path)
    facts = {"model": str(path), "method": method, "class": type(model).__name__, **facts, "model_bytes": path.stat().st_size}
    with words_beside(str(path)):
        say_json(plain(facts)) if as_json else _print(facts, dataset, data)


def _check_output(path: Path, *, force: bool) -> None:
    """Before anything is learned: a fit can take long."""
    from skcamel.files import check_writable, is_stream

    check_writable(path)
    if path.exists() and not force and not is_stream(path):
        raise click.UsageError(f"{path} exists already; choose another name by -o, or add --force.")


def _check_dataset(dataset: Dataset, source: str) -> None:
    from skcamel.data.errors import DataError

    if both := set(dataset.feature_names) & set(dataset.label_names):
        raise DataError(f"{min(both)!r} is the name of a feature and of a label; rename one.", path=source)
    often = Counter(dataset.feature_names)
    if twice := [name for name in dataset.categories if often[name] > 1]:
        raise DataError(f"two columns are called {twice[0]!r}, one of them holds text; rename one.", path=source)
    check_complete(dataset.X, dataset.feature_names, source)


def _estimator(method: str, given: dict[str, Any], random_state: int) -> Any:
    """An estimator whose parameters are checked now: reading the data can take long."""
    model = _unchecked(method, given, random_state)
    try:
        (model._checked_grid if method == "camel" else model._check_parameters)()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return model


def _unchecked(method: str, given: dict[str, Any], random_state: int) -> Any:
    from skcamel import baselines
    from skcamel.classifier_cv import CamelClassifierCV

    given = dict(given)
    if isinstance(threshold := given.get("threshold"), str):
        given["threshold"] = _number_or_word(threshold)
    if method == "camel":
        return CamelClassifierCV.from_preset(given.pop("preset", "quick"), **_product(given))
    kinds: dict[str, Callable[..., Any]] = {
        "br": baselines.BinaryRelevance,
        "ecc": baselines.EnsembleOfClassifierChains,
        "rakel": baselines.RAkEL,
        "llsf": baselines.LLSFCV,
        "jfsc": baselines.JFSCCV,
    }
    return kinds[method](**given, **({} if method == "br" else {"random_state": random_state}))


def _product(given: dict[str, Any]) -> dict[str, Any]:
    """Scalings, kernels or bandwidths of one's own take the place of a preset's representations."""
    own: dict[str, Any] = {"representations": None, "combine": False} if {"scalings", "kernels", "bandwidths"} & set(given) else {}
    return given | own


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _fitted(model: Any, dataset: Dataset, test_size: float | None, random_state: int) -> dict[str, Any]:
    """Fit, and tell what came of it."""
    import numpy as np

    from skcamel.data.splitting import MultilabelStratifiedShuffleSplit
    from skcamel.metrics import LOSSES, NAMES, evaluate

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
        best = model.best_index_
        signs = {name: -1 if name in LOSSES else 1 for name in NAMES}
        figures = {name: sign * float(model.cv_results_[f"mean_test_{name}"][best]) + 0.0 for name, sign in signs.items()}  # 0, not -0
        figures = getattr(model, "estimate_", figures)
        facts |= {
            "scoring": model.scoring_,
            "candidates": len(model.cv_results_["params"]),
            "params": model.best_params_,
            "threshold": getattr(model, "threshold_rule_", model.threshold),
            "estimated_by": "leave-one-out" if isinstance(model.cv, str) else f"{model.cv} folds",
            "estimate": figures,
        }
        if hasattr(model, "members_"):
            keys = ("scaling", "kernel", "alpha", "lambda2", "bandwidth_")
            told = zip(model.weights_.tolist(), model.members_, strict=True)
            facts["members"] = [{"weight": weight} | {key.rstrip("_"): getattr(own, key) for key in keys} for weight, own in told]
    if test is not None:
        outputs = model.outputs(dataset.X[test])
        facts |= {"test_rows": len(test), "test": evaluate(dataset.Y[test], outputs.scores, outputs.decisions)}
    return facts


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """A bar on stderr, where that is a terminal; yields the callback of the search, or None."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("fitting", total=None)

        def update(step: Any) -> None:
            bars.update(task, completed=step.done, total=step.total, description=f"{step.done} of {step.total} candidates")

        yield update


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def _print(facts: dict[str, Any], dataset: Dataset, source: str) -> None:
    from skcamel.cli.evaluate import print_metrics

    say(f"{one_line(source)}: {sizes(dataset)}")
    columns = {}
    if "params" in facts:
        chosen = "  ".join(
            f"{key}={value:g}" if isinstance(value, float | int) else f"{key}={value}" for key, value in facts["params"].items()
        )
        cuts = f"threshold={facts['threshold']}"
        if "members" in facts:
            say(f"Combined by leave-one-out, of {facts['candidates']} candidates:")
            for own in facts["members"]:
                say(f"  {own['weight']:.2f} x {own['scaling']} {own['kernel']}  alpha={own['alpha']:g}  lambda2={own['lambda2']:g}")
            say(f"  {cuts}")
            say(f"The best single candidate by {facts['scoring']}:\n  {chosen}")
        else:
            say(f"Chosen of {facts['candidates']} candidates by {facts['scoring']} ({facts['estimated_by']}):")
            say(f"  {chosen}  {cuts}")
        columns[facts["estimated_by"]] = facts["estimate"]
    if "test" in facts:
        columns[f"{facts['test_rows']:,} test rows"] = facts["test"]
    if columns:
        say()
        print_metrics(columns)
        if "estimate" in facts and "test" not in facts:
            say(f"  Chosen and estimated by the same rows, which flatters {facts['estimated_by']} a little; --test-size does not.")
    else:
        say("This method estimates nothing by itself; to see how good it is, add --test-size 0.25.")
    model = one_line(facts["model"])
    on = f" on {facts['rows']:,} rows" if "test" in facts else ""
    say(f"\nFitted{on} in {facts['fit_seconds']:.1f} s; wrote {model} ({_megabytes(facts['model_bytes'])})")
    say(f"Next:  skcamel predict {model} NEW.csv -o predictions.csv")
    if facts["method"] == "camel":
        say(f"       skcamel explain {model} NEW.csv --row 1")
    say(f"       skcamel evaluate {model} LABELLED.csv")
