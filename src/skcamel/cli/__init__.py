"""The ``skcamel`` command. This module imports neither click nor rich, so that a missing extra gives one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import util

from skcamel.cli import output

NEEDED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 done; 1 failed, or something found; 2 wrong use, or a missing extra; 141 where the reader of
    the output went away; 128 plus
    its number where a signal ended the command, so 130 for Ctrl-C and 143 for a polite kill.

    Parameters
    ----------
    arguments : sequence of str, default=None
        None: those of the running program, whose signals are then taken care of too.
    """
    if arguments is None:
        output.watch()
    try:
        if any(util.find_spec(name) is None for name in NEEDED):
            _tell("The skcamel command needs: pip install 'skcamel[cli]'")
            return 2
        from skcamel.cli.root import run

        return run(arguments)
    except KeyboardInterrupt:  # while the modules above were imported
        output.finish()
        _tell("Interrupted.")
        return output.exit_code() or output.INTERRUPTED


def _tell(text: str) -> None:
    with suppress(
        OSError, AttributeError
    ):  # standard error takes no more, or is None because it is closed
        sys.stderr.write(f"{text}\n")
