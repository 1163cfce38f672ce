"""The root of the command: which subcommands there are, and how every error becomes one sentence on stderr.

A new subcommand is one line in `COMMANDS`; its module is imported only when it is called, so ``skcamel --help`` stays fast.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import get_completion_class

import skcamel
from skcamel.cli import output
from skcamel.cli.options import examples
from skcamel.cli.output import OutputLost, Stopped, hand_over, note, say, streams
from skcamel.gone import hint
from skcamel.text import one_line

DEBUG = "SKCAMEL_DEBUG"  # set: errors show their traceback
COMPLETE = "_SKCAMEL_COMPLETE"  # set by the shell while the tab key is pressed
LONGEST = 1000  # characters of a sentence; names may be of any length
READER_GONE = 141  # as shells have it: 128 + SIGPIPE
# name ► (module:command, the line that `skcamel --help` shows)
COMMANDS = {
    "datasets": ("skcamel.cli.datasets:datasets", "List, describe, fetch, convert and check data sets."),
    "evaluate": ("skcamel.cli.evaluate:evaluate", "Compare predictions with the truth: seven metrics, label by label."),
    "explain": ("skcamel.cli.explain:explain", "Take the scores of one row apart: own part, pushes of other labels, columns."),
    "export": ("skcamel.cli.export:export", "Write a model file as ONNX, which scores rows without Python."),
    "fit": ("skcamel.cli.fit:fit", "Learn from a labelled file, choose hyper-parameters, and write a model file."),
    "inspect": ("skcamel.cli.inspect:inspect", "Tell what a model file is, how good, and what it reveals; write its model card."),
    "predict": ("skcamel.cli.predict:predict", "Predict the labels of a file with a model file."),
    "report": ("skcamel.cli.report:report", "Write the page of a model file or of a study folder."),
    "serve": ("skcamel.cli.serve:serve", "Serve a model over HTTP, with a page to try it."),
    "study": ("skcamel.cli.study:study", "Compare methods on data sets, in a folder that can be resumed."),
    "suspects": ("skcamel.cli.suspects:suspects", "List the labels of a file that are most likely wrong."),
    "tables": ("skcamel.cli.tables:tables", "Tables of a study, tests, and the paper's figures beside ours."),
}


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
        if why := hint(f"{ctx.command_path} {cmd_name}"):
            raise click.UsageError(why, ctx)
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

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line and exit with its code; never in click's own way, whatever `standalone_mode` says."""
        if os.environ.get(COMPLETE):  # the shell asks, and gets bytes
            return super().main(*args, standalone_mode=standalone_mode, **extra)
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
        gone = hint(f"{error.ctx.command_path} {error.option_name}") if isinstance(error, click.NoSuchOption) and error.ctx else ""
        say(_usage(error) + _sentence(gone or error.format_message()), err=True)
        return error.exit_code
    except BrokenPipeError:  # of a pipe that -o names
        return READER_GONE
    except Exception as error:
        if output.exit_code() is not None:  # some libraries make other errors of a KeyboardInterrupt
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
    return "Error: " + (line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} … {line[-LONGEST // 2 :]}")


def _explained(error: Exception) -> str:
    """What the library says about the cause; for an unexpected error, its kind and how to see more."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        return "there is not enough memory; use fewer rows, columns or labels."
    if isinstance(error, OSError | ValueError | ImportError | MemoryError) and str(error):
        return str(error)
    return f"{type(error).__name__}: {str(error) or 'no detail'}; this is a bug in skcamel, run again with {DEBUG}=1 to see where."


def _show_as_note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if not issubclass(category, DeprecationWarning):  # those are for who writes the code, and some libraries insist on them
        note(" ".join(str(message).split()))


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


@root.command(
    short_help="Print the script that teaches your shell the tab key.",
    epilog=examples(
        'eval "$(skcamel completion bash)"        # in ~/.bashrc',
        'eval "$(skcamel completion zsh)"         # in ~/.zshrc',
        "skcamel completion fish > ~/.config/fish/completions/skcamel.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that teaches your shell to complete skcamel's commands, options, data set names and files."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 click knows all three
    script = kind(root, {}, "skcamel", COMPLETE)
    hand_over(script.source_template % script.source_vars() + "\n")  # without source(): it starts a shell to ask for its version


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        root.main(args=None if arguments is None else list(arguments), prog_name="skcamel")
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(bool(ending.code))
    return 0  # pragma: no cover - it always ends by SystemExit
