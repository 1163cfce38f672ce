"""Runs of a study that are forked, killed and resumed, without paying for imports each time: ``python nursery.py FOLDER``.

Prints the exit codes as JSON. One thread only, so that forking is safe.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from skcamel.experiment import run_study
from study_methods import Mean, made

METHODS, FOLDS = 5, 12


def run(folder, pause):
    """A whole study in a child process; its number."""
    child = os.fork()
    if child == 0:
        methods = [Mean(f"mean{k}", pause) for k in range(METHODS)]
        run_study([made()], methods, n_folds=FOLDS, out=folder)
        os._exit(0)
    return child


def ended(child):
    """Exit code; -9 for one that was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_many_times(folder):
    """Kill run after run at random moments, until one gets to its end."""
    rng = np.random.default_rng(0)
    codes = []
    while not codes or codes[-1] != 0:
        child = run(folder, 0.012)  # 60 units: long enough for ten kills on any machine
        time.sleep(
            rng.uniform(0.0, 0.06 + 0.003 * len(codes))
        )  # longer and longer, or a slow machine would never get on
        os.kill(
            child, signal.SIGKILL
        )  # it stays a zombie until waited for, so that the number is still its own
        codes.append(ended(child))
        if len(codes) > 300:
            sys.exit("no run came to its end")
    return codes


if __name__ == "__main__":
    print(json.dumps(killed_many_times(Path(sys.argv[1]))))  # noqa: T201
