"""Options that several commands share. Wrong values are refused before any work."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import util
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

from skcamel.files import check_writable
from skcamel.names import hint
from skcamel.presets import PRESETS

# As in skcamel.metrics, which is imported only on use; a test compares them
METRICS = (
    "one_error",
    "hamming_loss",
    "coverage",
    "ranking_loss",
    "average_precision",
    "macro_f1",
    "micro_f1",
)
KINDS = ("drop", "id", "number", "category", "date", "text")  # parameters of TablePreparer
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Group(click.Group):
    """Commands in the order of their use, of which some that went say what to use instead."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were added."""
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find the command of that name."""
        if why := hint(f"{ctx.command_path} {cmd_name}"):
            raise click.UsageError(why, ctx)
        return super().get_command(ctx, cmd_name)


def examples(*lines: str) -> Decorator:
    """Begin the help of a command with examples; it stands below the other decorators."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        shown = "\n".join(f"  {line}" for line in lines)
        summary, _, rest = cleandoc(command.__doc__ or "").partition("\n")
        command.__doc__ = f"{summary}\n\n\b\n{shown}\n\n{rest}"
        return command

    return decorated


def _writable(suffixes: Sequence[str]) -> Callable[..., str | None]:
    def check(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
        if path is None:
            return None
        try:
            check_writable(path)
        except OSError as error:
            raise click.BadParameter(f"{error.filename}: {error.strerror}.") from error
        suffix = Path(path).suffix.lower()
        if suffixes and suffix not in suffixes and not path.startswith("/dev/"):
            raise click.BadParameter(f"{path} must end in {', '.join(suffixes)}.")
        return path

    return check


def output_file(what: str, *suffixes: str, **more: Any) -> Decorator:
    """``-o``: a file to write, whose folder exists and whose suffix is one of these."""
    writable = _writable(suffixes)
    return click.option("-o", "--output", metavar="FILE", callback=writable, help=what, **more)


as_json = click.option("--json", "as_json", is_flag=True, help="Write the result as JSON.")
model_file = click.argument("model", type=click.Path(exists=True, dir_okay=False))
rows_file = click.argument("file", metavar="FILE")
seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    default=0,
    help="Seed of whatever is drawn.",
)
study_folder = click.argument(
    "folder", metavar="DIR", type=click.Path(exists=True, file_okay=False)
)
confidence = click.option(
    "--sets",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Prediction sets at this confidence, such as 0.9: yes, no or open.",
)
text_encoder = click.option(
    "--text-encoder",
    metavar="MODULE:FACTORY",
    help="What turns texts into numbers, in place of TF-IDF.",
)
preset = click.option(
    "--preset",
    type=click.Choice(tuple(PRESETS)),
    default="quick",
    help="quick: a coarse grid; best: 12 representations combined; paper: as printed.",
)
labels = click.option(
    "--labels",
    metavar="COLUMNS",
    help="Label columns of a table: a,b or 'topic_*', or one column of tags. "
    "A name with a comma stands in double quotes.",
)
columns = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=KIND",
    help=f"What a column of a table holds: {', '.join(KINDS)}. May be repeated.",
)
groups = click.option(
    "--groups",
    metavar="COLUMN",
    help="Rows with equal values of this column leave together in leave-one-out; "
    "'copies': rows that are equal.",
)
landmarks = click.option(
    "--landmarks",
    type=click.IntRange(min=1),
    metavar="N",
    help="Fit on so many cluster centres; the model then holds no training row.",
)
max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    help="Most memory for a fit, such as 1GiB; Parquet files are then read in batches.",
)


def kinds_of(given: Sequence[str]) -> dict[str, list[str]]:
    """``--column NAME=KIND``, as parameters of TablePreparer."""
    kinds: dict[str, list[str]] = {}
    for text in given:
        name, _, kind = text.rpartition("=")
        if kind not in KINDS or not name:
            allowed = ", ".join(KINDS)
            raise click.UsageError(f"--column {text}: write NAME=KIND, with a kind of {allowed}.")
        kinds.setdefault(kind, []).append(name)
    return kinds


def need(module: str, extra: str, what: str) -> None:
    """Refuse at once if a package is not installed."""
    if util.find_spec(module) is None:
        raise click.UsageError(f"{what} need {module}: pip install 'skcamel[{extra}]'")


def keep_apart(output: str | None, *inputs: str | None) -> None:
    """Refuse to overwrite what is read."""
    if output is None or not os.path.isfile(output):
        return
    for source in inputs:
        if source and os.path.isfile(source) and os.path.samefile(output, source):
            raise click.UsageError(f"-o {output} is {source}, which is read; choose another name.")
