"""The ``skcamel`` command. This module imports nothing but the standard library, so that a missing extra gives one line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import util

NEEDED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 1 failed or something found, 2 wrong use or missing extra.

    130 where Ctrl-C stopped a study.

    Parameters
    ----------
    arguments : sequence of str, default=None
        None: those of the running program.
    """
    if any(util.find_spec(name) is None for name in NEEDED):
        sys.stderr.write("The skcamel command needs: pip install 'skcamel[cli]'\n")
        return 2
    from skcamel.cli.root import run

    return run(arguments)
