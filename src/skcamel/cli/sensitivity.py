"""``skcamel sensitivity``: the data of Figure 1, written into a study folder, and the figure itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from skcamel.cli.datasets import data_home, label_columns, label_file, open_dataset
from skcamel.cli.options import Number, OutputFile, OutputFolder, need, words_beside
from skcamel.cli.output import say
from skcamel.cli.root import examples
from skcamel.cli.tables import SELECTIONS
from skcamel.text import one_line

METRICS = SELECTIONS[:7]
FIGURE = OutputFile(".png", ".svg", ".pdf")


@click.command(
    epilog=examples(
        "skcamel sensitivity --dataset enron --out DIR",
        "skcamel sensitivity --dataset yeast --out DIR --metric micro_f1 --figure yeast.png",
    )
)
@click.option("--dataset", "name_or_file", required=True, metavar="NAME_OR_FILE", help="A benchmark set by name, or a file.")
@click.option("--out", "folder", required=True, type=OutputFolder(), help="Study folder; made if it is not there.")
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default="coverage",
    show_default=True,
    help="Finds the setting that is kept, and is drawn; the file holds all seven.",
)
@click.option("--alpha", type=Number(0, 1), help="Setting kept while others vary; give all three, or none: the best by leave-one-out.")
@click.option("--lambda1", type=Number(0, min_open=True), help="See --alpha.")
@click.option("--lambda2", type=Number(0, min_open=True), help="See --alpha.")
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True)
@click.option("--seed", type=click.IntRange(min=0, max=2**32 - 1), default=0, show_default=True)
@click.option("--figure", type=FIGURE, help="Draw Figure 1 into this file: .png, .svg or .pdf.")
@label_columns
@label_file
@data_home
def sensitivity(
    name_or_file: str,
    folder: str,
    metric: str,
    alpha: float | None,
    lambda1: float | None,
    lambda2: float | None,
    folds: int,
    seed: int,
    figure: str | None,
    labels: str | None,
    xml: str | None,
    data_home: str | None,
) -> None:
    """Vary α, λ1 and λ2 one at a time, and follow Algorithm 1: Figure 1 of the paper."""
    base = {"alpha": alpha, "lambda1": lambda1, "lambda2": lambda2}
    given = {name: value for name, value in base.items() if value is not None}
    missing = [f"--{name}" for name in base if name not in given]
    if given and missing:
        raise click.UsageError(f"{' and '.join(missing)} missing; give all three, or none to have the best found.")
    if figure is not None:
        need("matplotlib", "report", "Figures")
    from skcamel.experiment.sensitivity import run_sensitivity, save_sensitivity

    dataset = open_dataset(name_or_file, labels=labels, xml=xml, data_home=data_home)
    if dataset.n < folds:
        raise click.UsageError(f"{name_or_file} has {dataset.n:,} rows, too few for --folds {folds}.")
    with _progress() as progress:
        result = run_sensitivity(dataset, metric=metric, base=given or None, n_folds=folds, seed=seed, progress=progress)
    setting = ", ".join(f"{name} {value:g}" for name, value in result["base"].items())
    written = save_sensitivity(result, folder)
    if figure is not None:
        _draw(result, metric, figure)
    with words_beside(figure):
        say(f"{one_line(dataset.name)}: setting {setting} ({result['base_found_by']}); wrote {one_line(str(written))}")
        if figure is not None:
            say(f"Drew {one_line(figure)}")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """One bar over the folds on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("folds", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


def _draw(result: Mapping[str, Any], metric: str, path: str) -> None:
    from skcamel.display.sensitivity import plot_figure1
    from skcamel.files import whole_file

    drawn = plot_figure1(result, metric=metric)
    with whole_file(path) as file:
        drawn.savefig(file, format=FIGURE.suffix(path)[1:])
