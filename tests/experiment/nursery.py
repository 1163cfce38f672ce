"""Runs of a study that are forked, killed and resumed, without paying for imports each time: ``python nursery.py PLAN FOLDER``.

Prints what happened as JSON. One thread only, so that forking is safe.
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
        time.sleep(rng.uniform(0.0, 0.06 + 0.003 * len(codes)))  # longer and longer, or a slow machine would never get on
        os.kill(child, signal.SIGKILL)  # it stays a zombie until waited for, so that the number is still its own
        codes.append(ended(child))
        if len(codes) > 300:
            sys.exit("no run came to its end")
    return {"codes": codes}


def two_at_once(folder):
    """Two runs share the folder."""
    children = [run(folder, 0.01) for _ in range(2)]
    return {"codes": [ended(child) for child in children]}


def one_of_two_killed(folder):
    """Two runs share the folder, and one is killed when part of the work is done."""
    children = [run(folder, 0.02) for _ in range(2)]
    while len(list((folder / "units").glob("*.json"))) < METHODS * FOLDS // 3:
        time.sleep(0.01)
    os.kill(children[0], signal.SIGKILL)
    return {"codes": [ended(child) for child in children]}


PLANS = {plan.__name__: plan for plan in (killed_many_times, two_at_once, one_of_two_killed)}

if __name__ == "__main__":
    print(json.dumps(PLANS[sys.argv[1]](Path(sys.argv[2]))))  # noqa: T201
