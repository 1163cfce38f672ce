"""The root of the command: which subcommands there are, and how every error becomes one sentence on stderr."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import click

import skcamel
from skcamel.cli import output
from skcamel.cli.datasets import datasets
from skcamel.cli.evaluate import evaluate
from skcamel.cli.explain import explain
from skcamel.cli.export import export
from skcamel.cli.fit import fit
from skcamel.cli.inspect import inspect
from skcamel.cli.options import Group, examples
from skcamel.cli.output import OutputLost, Stopped, note, say, streams
from skcamel.cli.predict import predict
from skcamel.cli.report import report
from skcamel.cli.serve import serve
from skcamel.cli.study import study
from skcamel.cli.suspects import suspects
from skcamel.cli.tables import tables
from skcamel.gone import hint
from skcamel.text import one_line

COMPLETE = "_SKCAMEL_COMPLETE"  # set by the shell, as click has it
DEBUG = "SKCAMEL_DEBUG"  # set: errors show their traceback
LONGEST = 1000  # characters of a sentence; names may be of any length
READER_GONE = 141  # as shells have it: 128 + SIGPIPE
COMMANDS = (
    fit,
    predict,
    evaluate,
    explain,
    suspects,
    inspect,
    export,
    report,
    serve,
    study,
    tables,
    datasets,
)


class Root(Group):
    """The outermost group: warnings become notes, and errors one sentence, both on stderr."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line and exit with its code; in click's own way only where the shell asks for words that complete a command."""
        if COMPLETE in os.environ:
            return super().main(*args, **extra)
        sys.exit(_ended(lambda: super(Root, self).main(*args, standalone_mode=False, **extra)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show_as_note
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as signal:  # before click makes an Abort of it
                raise Stopped("Interrupted.") from signal


def _ended(command: Callable[[], int | None]) -> int:
    """Exit code of the command, after its last words."""
    try:
        with streams():
            code = _code_of(command)
    except OutputLost as error:
        code = READER_GONE if error.errno == errno.EPIPE else 1
        if code == 1:
            with streams():
                say(f"Error: {error}", err=True)
    output.finish()
    return output.exit_code() or code


def _code_of(command: Callable[[], int | None]) -> int:
    """Run the command and explain an error; click returns None, or the code that the command asked for."""
    try:
        return command() or 0
    except (Stopped, click.Abort, KeyboardInterrupt) as signal:
        output.finish()
        say(str(signal) or "Interrupted.", err=True)
        return output.INTERRUPTED
    except click.ClickException as error:
        gone = (
            hint(f"{error.ctx.command_path} {error.option_name}")
            if isinstance(error, click.NoSuchOption) and error.ctx
            else ""
        )
        say(_usage(error) + _sentence(gone or error.format_message()), err=True)
        return error.exit_code
    except BrokenPipeError:  # of a pipe that -o names
        return READER_GONE
    except Exception as error:
        if (
            output.exit_code() is not None
        ):  # some libraries make other errors of a KeyboardInterrupt
            say("Interrupted.", err=True)
        elif os.environ.get(DEBUG):
            say(traceback.format_exc(), err=True)
        else:
            say(_sentence(_explained(error)), err=True)
        return 1


def _usage(error: click.ClickException) -> str:
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return ""
    return f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help' for help.\n\n"


def _sentence(text: str) -> str:
    """One line, of limited length and safe for a terminal."""
    line = one_line(" ".join(text.split()))
    return "Error: " + (
        line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}"
    )


def _explained(error: Exception) -> str:
    """What the library says about the cause; for an unexpected error, its kind and how to see more."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory; use fewer rows, columns or labels."
    if isinstance(error, OSError | ValueError | ImportError | MemoryError) and str(error):
        return str(error)
    return (
        f"{type(error).__name__}: {str(error) or 'no detail'}; this is a bug in skcamel, run again"
        f" with {DEBUG}=1 to see where."
    )


def _show_as_note(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    if not issubclass(
        category, DeprecationWarning
    ):  # those are for who writes the code, and some libraries insist on them
        note(" ".join(str(message).split()))


@click.group(
    cls=Root,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "skcamel datasets list",
        "skcamel fit mine.csv --labels 'topic_*' -o mine.skcamel",
        "skcamel predict mine.skcamel new.csv -o predictions.csv",
    ),
)
@click.version_option(skcamel.__version__, prog_name="skcamel", message="%(prog)s %(version)s")
def root() -> None:
    """CAMEL: collaboration based multi-label learning."""


for command in COMMANDS:
    root.add_command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        root.main(args=None if arguments is None else list(arguments), prog_name="skcamel")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0  # pragma: no cover - it always ends by SystemExit
