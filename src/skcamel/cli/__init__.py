"""The ``skcamel`` command. This module imports neither click nor rich.

So a missing extra gives one line.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import util

NEEDED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 done; 1 failed, or something found, or the reader of the output went away; 2 wrong use, or a
    missing extra; 130 after Ctrl-C; 143 after SIGTERM.

    Parameters
    ----------
    arguments : sequence of str, default=None
        None: those of the running program.
    """
    if any(util.find_spec(name) is None for name in NEEDED):
        sys.stderr.write("The skcamel command needs: pip install 'skcamel[cli]'\n")
        return 2
    if arguments is None:  # the program itself: what is half-written is removed on the way out
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
    from skcamel.cli.app import run

    return run(arguments)
