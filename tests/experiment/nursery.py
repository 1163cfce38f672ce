"""Runs of a study that are forked, killed and resumed: ``python nursery.py FOLDER KILLS``.

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
        methods = [(f"mean{k}", Mean(f"mean{k}", pause)) for k in range(METHODS)]
        run_study([made()], methods, n_folds=FOLDS, out=folder)
        os._exit(0)
    return child


def ended(child):
    """Exit code; -9 for one that was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_many_times(folder, kills):
    """Kill run after run at random moments, then let one get to its end."""
    rng = np.random.default_rng(0)
    codes = []
    for k in range(kills):
        child = run(folder, 0.01)
        time.sleep(rng.uniform(0.0, 0.05 + 0.004 * k))
        os.kill(child, signal.SIGKILL)  # a zombie until waited for: the number is still its own
        codes.append(ended(child))
    return [*codes, ended(run(folder, 0.01))]


if __name__ == "__main__":
    print(json.dumps(killed_many_times(Path(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201
