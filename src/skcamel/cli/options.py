"""Values of options that click does not know; a wrong one is refused before any work, with exit code 2."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import util
from pathlib import Path
from typing import Any

import click

from skcamel.files import check_writable, is_stream


class OutputFile(click.Path):
    """A file to write, or a device or pipe to write into.

    Parameters
    ----------
    *suffixes : str
        What its name may end in; a device or pipe is taken as the first of them whatever it is called. None given: anything.
    """

    def __init__(self, *suffixes: str) -> None:
        super().__init__(dir_okay=False)
        self.suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check what can be known without writing."""
        path = os.fsdecode(super().convert(value, param, ctx))
        if not path:
            self.fail("is empty; give the name of a file.", param, ctx)
        try:
            check_writable(path)
            suffix = self.suffix(path)
        except OSError as error:
            self.fail(f"{error.filename}: {error.strerror}.", param, ctx)
        if self.suffixes and suffix not in self.suffixes:
            self.fail(f"{path} ends in {suffix!r}; it must be {', '.join(self.suffixes[:-1])} or {self.suffixes[-1]}.", param, ctx)
        if suffix == ".parquet":
            need("pyarrow", "parquet", "Parquet files")
        return path

    def suffix(self, path: str) -> str:
        """How the file is to be written."""
        suffix = Path(path).suffix.lower()
        return self.suffixes[0] if self.suffixes and suffix not in self.suffixes and is_stream(path) else suffix


def keep_apart(output: str | None, *inputs: str | None) -> None:
    """Refuse to write over what is read."""
    for given in inputs:
        if (
            output is not None
            and given is not None
            and os.path.isfile(given)
            and os.path.exists(output)
            and os.path.samefile(output, given)
        ):
            raise click.UsageError(f"-o {output} is the same file as {given}, which is read; choose another name.")


class OutputFolder(click.Path):
    """A folder to write into, made if it is not there."""

    def __init__(self) -> None:
        super().__init__(file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check what can be known without writing."""
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

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse NaN too, which is neither below nor above anything."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a finite number.", param, ctx)
        return number


class Values(click.ParamType):  # pyrefly: ignore[implicit-any-type-argument] (generic only in the newest click)
    """Words or finite numbers separated by commas."""

    name = "values"

    def __init__(self, choices: tuple[str, ...] = ()) -> None:
        self.choices = choices

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Split and check."""
        words = [word.strip() for word in str(value).split(",") if word.strip()]
        if not words:
            self.fail("is empty; give at least one value.", param, ctx)
        if self.choices:
            if wrong := [word for word in words if word not in self.choices]:
                self.fail(f"{wrong[0]!r} is not one of {', '.join(self.choices)}.", param, ctx)
            return tuple(words)
        try:
            numbers = tuple(float(word) for word in words)
        except ValueError:
            numbers = (math.nan,)
        if not all(map(math.isfinite, numbers)):
            self.fail(f"{value!r} is not a list of numbers, such as 0.5,1.", param, ctx)
        return numbers

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Offer the words, behind those already there."""
        from click.shell_completion import CompletionItem

        head, comma, word = incomplete.rpartition(",")
        return [CompletionItem(f"{head}{comma}{choice}") for choice in self.choices if choice.startswith(word)]


def need(module: str, extra: str, what: str) -> None:
    """Refuse at once what needs a package that is not installed."""
    if util.find_spec(module) is None:
        raise click.UsageError(f"{what} need {module}: pip install 'skcamel[{extra}]'")


@contextmanager
def words_beside(*outputs: str | None) -> Iterator[None]:
    """Say on stderr what is said on stdout, where an output is a device or pipe: it may be the same one."""
    import sys

    if any(output is not None and is_stream(output) for output in outputs):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield
