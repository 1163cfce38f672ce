"""The root of the command: which subcommands there are, and how every error becomes one sentence on stderr.

A new subcommand is one line in `COMMANDS`; its module is imported only when it is called, so ``skcamel --help`` stays fast.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import skcamel

DEBUG = "SKCAMEL_DEBUG"  # set: errors show their traceback
COMPLETE = "_SKCAMEL_COMPLETE"  # set by the shell while the tab key is pressed
# name ► (module:command, the line that `skcamel --help` shows)
COMMANDS = {
    "completion": ("skcamel.cli.completion:completion", "Print the script that teaches your shell the tab key."),
    "datasets": ("skcamel.cli.datasets:datasets", "List, describe, fetch, convert and check data sets."),
    "evaluate": ("skcamel.cli.evaluate:evaluate", "Compare predictions with the truth: seven metrics, label by label."),
    "explain": ("skcamel.cli.explain:explain", "Take the scores of one row apart: own part and pushes of other labels."),
    "fit": ("skcamel.cli.fit:fit", "Learn from a labelled file, choose hyper-parameters, and write a model file."),
    "predict": ("skcamel.cli.predict:predict", "Predict the labels of a file with a model file."),
    "records": ("skcamel.cli.records:records", "Count the records of a study folder, and export them."),
    "report": ("skcamel.cli.report:report", "Write the page of a model file or of a study folder."),
    "sensitivity": ("skcamel.cli.sensitivity:sensitivity", "Results over α, λ1 and λ2, and how Algorithm 1 converges."),
    "study": ("skcamel.cli.study:study", "Compare methods on data sets, in a folder that can be resumed."),
    "tables": ("skcamel.cli.tables:tables", "Tables of a study, tests, and the paper's figures beside ours."),
}


def examples(*lines: str) -> str:
    """Write an epilog with one example per line, kept as it is."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it is called."""

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, imported or not."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find the command of that name, and import it now if need be."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        return getattr(import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands into the help text, without importing the lazy ones."""
        own = {name: command.get_short_help_str(limit=80) for name, command in self.commands.items()}
        rows = sorted([*own.items(), *((name, line) for name, (_, line) in self.lazy.items())])
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Root(LazyGroup):
    """The outermost group: warnings become notes, and errors one sentence, both on stderr."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_as_note
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
                raise
            except Exception as error:
                if os.environ.get(DEBUG):
                    raise
                raise click.ClickException(_sentence(error)) from error


def note(text: str) -> None:
    """Tell something on stderr that is not part of the result."""
    click.echo(f"Note: {text}", err=True)


def check_folder_of(path: str | os.PathLike[str]) -> None:
    """Refuse a file to be written where there is no folder; to be called before anything is computed."""
    if not Path(path).resolve().parent.is_dir():
        raise click.UsageError(f"{path}: there is no such folder; make it first.")


def one_line(name: str) -> str:
    """Write a name as a terminal can show it: control characters as their escapes."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)


def _show_as_note(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))


def _sentence(error: Exception) -> str:
    """Say what the library says about the cause; for an error nobody foresaw, its kind and how to see more."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, OSError | ValueError | ImportError | MemoryError) and text:
        return text
    return f"{type(error).__name__}: {text or 'no detail'}; this is a fault of skcamel, run again with {DEBUG}=1 to see where."


@click.group(
    cls=Root,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "skcamel datasets card yeast",
        "skcamel fit mine.csv --labels 'topic_*' -o mine.skcamel",
        "skcamel predict mine.skcamel new.csv -o predictions.csv",
    ),
)
@click.version_option(skcamel.__version__, prog_name="skcamel", message="%(prog)s %(version)s")
def root() -> None:
    """CAMEL: collaboration based multi-label learning."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code, for every ending but an unforeseen one under ``SKCAMEL_DEBUG``."""
    try:
        root.main(args=None if arguments is None else list(arguments), prog_name="skcamel", standalone_mode=True)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0  # pragma: no cover - click always ends by SystemExit in standalone mode
