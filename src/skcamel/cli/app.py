"""The command ``skcamel``: its subcommands, and every error as one sentence on standard error."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

import skcamel
from skcamel.cli import (
    datasets,
    evaluate,
    explain,
    fit,
    io,
    label_errors,
    model,
    options,
    predict,
    study,
)
from skcamel.names import hint
from skcamel.text import one_line

DEBUG = "SKCAMEL_DEBUG"  # set: errors show their traceback
LONGEST = 1000  # characters of an error
INTERRUPTED = 128 + signal.SIGINT
COMMANDS = (
    fit.fit,
    predict.predict,
    evaluate.evaluate,
    explain.explain,
    label_errors.label_errors,
    model.inspect,
    model.export,
    model.report,
    model.serve,
    study.study,
    study.tables,
    datasets.datasets,
)


class Root(options.Group):
    """The outermost group: warnings become notes, and errors one sentence, both on stderr."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line and exit with its code."""
        try:
            code = super().main(*args, standalone_mode=False, **extra)
        except click.Abort:
            io.say("Interrupted.", err=True)
            code = INTERRUPTED
        except click.ClickException as error:
            what = _instead(error) or error.format_message()
            io.say(_usage(error) + _sentence(what), err=True)
            code = error.exit_code
        except Exception as error:
            explained = _sentence(_why(error))
            if os.environ.get(DEBUG):
                explained = traceback.format_exc()
            io.say(explained, err=True)
            _discard_output()
            code = 1
        sys.exit(code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_as_note
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # where click knows what a closed pipe means


def _discard_output() -> None:
    """Let what is buffered for a full standard output go."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> str:
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return ""
    return f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n\n"


def _instead(error: click.ClickException) -> str:
    """What to use in place of an option of an earlier version."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return ""
    return hint(f"{error.ctx.command_path} {error.option_name}")


def _sentence(text: str) -> str:
    """One line, of limited length and safe for a terminal."""
    line = one_line(" ".join(text.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    return f"Error: {line}"


def _why(error: Exception) -> str:
    """What the library says; for an unexpected error, its kind and how to see more."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory; use fewer rows, columns or labels."
    if isinstance(error, OSError | ValueError | ImportError | MemoryError) and str(error):
        return str(error)
    what = f"{type(error).__name__}: {str(error) or 'no detail'}"
    return f"{what}; this is a bug in skcamel, run again with {DEBUG}=1 to see where."


def _show_as_note(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    if not issubclass(category, DeprecationWarning):  # for those who write the code
        io.note(" ".join(str(message).split()))


@click.group(
    cls=Root,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="Each command has --help. Set SKCAMEL_DEBUG=1 to see the traceback of an error.",
)
@click.version_option(skcamel.__version__, prog_name="skcamel", message="%(prog)s %(version)s")
@options.examples(
    "skcamel fit tickets.csv --labels tags --test-size 0.25",
    "skcamel predict tickets.skcamel new.csv -o answers.csv",
    "skcamel explain tickets.skcamel new.csv --row 1",
)
@click.pass_context
def root(ctx: click.Context) -> None:
    """Give every row of a table the labels that fit it."""
    if ctx.invoked_subcommand is None:
        io.say(ctx.get_help())


for command in COMMANDS:
    root.add_command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        root.main(args=None if arguments is None else list(arguments), prog_name="skcamel")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0  # pragma: no cover - it always ends by SystemExit
