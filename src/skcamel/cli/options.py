"""Options that several commands share, and types that click lacks; wrong values are refused before any work, with exit code 2."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from importlib import util
from pathlib import Path
from typing import Any

import click

from skcamel.files import check_writable, is_stream
from skcamel.gone import hint

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


def examples(*lines: str) -> str:
    """Write an epilog with one example per line, kept as it is."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


class Group(click.Group):
    """Commands of which some that went say what to use instead."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find the command of that name."""
        if why := hint(f"{ctx.command_path} {cmd_name}"):
            raise click.UsageError(why, ctx)
        return super().get_command(ctx, cmd_name)


class OutputFile(click.Path):
    """A file to write, or a device or pipe to write into.

    Its name ends in one of `suffixes`, if any are given; a device or pipe of any name counts as the
    first of them.
    """

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check all that can be checked without writing."""
        path = os.fsdecode(super().convert(value, param, ctx))
        if not path:
            self.fail("is empty; give the name of a file.", param, ctx)
        try:
            check_writable(path)
            suffix = self.suffix(path)
        except OSError as error:
            self.fail(f"{error.filename}: {error.strerror}.", param, ctx)
        if self.suffixes and suffix not in self.suffixes:
            allowed = " or ".join(filter(None, [", ".join(self.suffixes[:-1]), self.suffixes[-1]]))
            self.fail(f"{path} ends in {suffix!r}; it must be {allowed}.", param, ctx)
        if suffix == ".parquet":
            need("pyarrow", "tables", "Parquet files")
        return path

    def suffix(self, path: str) -> str:
        """How the file is to be written."""
        suffix = Path(path).suffix.lower()
        return (
            self.suffixes[0]
            if self.suffixes and suffix not in self.suffixes and is_stream(path)
            else suffix
        )


class OutputFolder(click.Path):
    """A folder to write into, made if it is not there."""

    def __init__(self) -> None:
        super().__init__(file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check all that can be checked without writing."""
        path = os.fsdecode(super().convert(value, param, ctx))
        if not path:
            self.fail("is empty; give the name of a folder.", param, ctx)
        place = Path(path).resolve()
        try:
            while not place.exists():
                place = place.parent
            is_folder = place.is_dir()
        except OSError as error:
            self.fail(f"{path}: {error.strerror}.", param, ctx)
        if not is_folder:
            self.fail(f"{place} is a file; give the name of a folder.", param, ctx)
        if not os.access(place, os.W_OK | os.X_OK):
            self.fail(f"{place}: This place is read-only; choose another.", param, ctx)
        return path


class Number(click.FloatRange):
    """A finite number in a range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Refuse NaN too, which is neither below nor above anything."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number.", param, ctx)
        return number


class Size(click.ParamType):  # pyrefly: ignore[implicit-any-type-argument] (generic only in the newest click)
    """A number of bytes, in words or not, such as 1GiB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check it, and keep it as written."""
        from skcamel.memory import as_bytes

        try:
            as_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


SEED = click.IntRange(min=0, max=2**32 - 1)
SHARE = click.FloatRange(0, 1, min_open=True)
as_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write the result as JSON; standard output holds nothing else.",
)
data_home = click.option(
    "--data-home",
    type=click.Path(file_okay=False),
    help="Folder of benchmark sets; default: SKCAMEL_DATA.",
)
force = click.option("--force", is_flag=True, help="Overwrite what exists.")
model_file = click.argument("model", type=click.Path(exists=True, dir_okay=False))
rows_file = click.argument("file", metavar="FILE")
study_folder = click.argument(
    "folder", metavar="DIR", type=click.Path(exists=True, file_okay=False)
)
seed = click.option(
    "--seed",
    type=SEED,
    default=0,
    show_default=True,
    help="Seed of the folds, and of whatever a method draws.",
)
new_folder = click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    type=OutputFolder(),
    help="Study folder; made if it is not there.",
)


HOW_READ = ("labels", "xml", "data_home")


def dataset_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--labels``, ``--xml`` and ``--data-home``: how :func:`skcamel.cli.inputs.open_dataset` reads a data set."""
    columns = (
        "Label columns of a table: names (a,b), a pattern (topic_*), or how many of the last"
        " columns (6; -6: of the first). Names with a comma in double quotes. One column may hold"
        " lists (a|b)."
    )
    xml = "Mulan label file, if it is not NAME.xml beside NAME.arff."
    command = click.option("--xml", type=click.Path(dir_okay=False), help=xml)(data_home(command))
    return click.option("--labels", metavar="COLUMNS", help=columns)(command)


OF_TABLES = (
    "drop",
    "id",
    "text",
    "category",
    "number",
    "date",
)  # parameters of skcamel.data.TablePreparer


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--drop``, ``--id``, ``--text``, … overrule what the cells of a column say, and ``--labels-file`` brings labels from elsewhere."""
    meaning = {
        "drop": "Columns to leave out.",
        "id": "Columns that name the rows; predictions carry them.",
        "text": "Columns of free text.",
        "category": "Columns whose values are categories, whatever they look like.",
        "number": "Columns of numbers; other cells of theirs count as gaps.",
        "date": "Columns of dates; other cells of theirs count as gaps.",
    }
    for name in reversed(OF_TABLES):
        command = click.option(
            f"--{name}", multiple=True, metavar="COLUMNS", help=f"Of a table. {meaning[name]}"
        )(command)
    what = (
        "A second table that holds the labels, joined by the column that --id names; --labels then"
        " names columns of it."
    )
    return click.option(
        "--labels-file", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help=what
    )(command)


def solver_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--landmarks`` and ``--max-memory``: for private rows, and for more rows than a matrix of rows x rows allows."""
    landmarks = (
        "Fit on so many centres of clusters; the model then holds no training row. More are more"
        " accurate, and slower."
    )
    most = (
        "Memory for a fit by landmarks, such as 1GiB; Parquet is then read in batches.  [default:"
        " what is free]"
    )
    command = click.option("--max-memory", type=Size(), metavar="SIZE", help=most)(command)
    return click.option("--landmarks", type=click.IntRange(min=1), metavar="N", help=landmarks)(
        command
    )


def solver_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the estimators that ``--landmarks`` and ``--max-memory`` mean."""
    parameters: dict[str, Any] = {}
    if given.get("landmarks") is not None:
        parameters |= {
            "solver": "landmark",
            "landmarks": "kmeans",
            "n_landmarks": given["landmarks"],
        }
    if given.get("max_memory") is not None:
        parameters["max_memory"] = given["max_memory"]
    return parameters


def output_file(
    kind: OutputFile, what: str, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``-o``, spelled the same in every command."""
    return click.option("-o", "--output", type=kind, help=what, **more)


def need(module: str, extra: str, what: str) -> None:
    """Refuse at once if a package is not installed."""
    if util.find_spec(module) is None:
        raise click.UsageError(f"{what} need {module}: pip install 'skcamel[{extra}]'")


def keep_apart(output: str | None, *inputs: str | None) -> None:
    """Refuse to overwrite what is read."""
    for given in inputs:
        if (
            output
            and given
            and os.path.isfile(given)
            and os.path.exists(output)
            and os.path.samefile(output, given)
        ):
            raise click.UsageError(
                f"-o {output} is the same file as {given}, which is read; choose another name."
            )
