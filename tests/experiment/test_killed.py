"""A study folder survives SIGKILL at any moment.

As a script, ``python test_killed.py FOLDER KILLS``, it runs a study that is forked, killed and
resumed, in one thread, so that forking is safe, and prints the exit codes as JSON.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import skcamel
import study_methods
from skcamel.experiment import Records, run_study
from study_methods import Mean, made

KILLS = os.environ.get("KILLS", "6")  # make test-all: 50
METHODS, FOLDS = 5, 12

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")


def methods(pause):
    return [(f"mean{k}", Mean(f"mean{k}", pause)) for k in range(METHODS)]


def run(folder):
    """A whole study in a child process; its number."""
    child = os.fork()
    if child == 0:
        run_study([made()], methods(0.01), n_folds=FOLDS, out=folder)
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
        child = run(folder)
        time.sleep(rng.uniform(0.0, 0.05 + 0.004 * k))
        os.kill(child, signal.SIGKILL)  # a zombie until waited for: the number is still its own
        codes.append(ended(child))
    return [*codes, ended(run(folder))]


def test_a_study_killed_many_times_ends_with_the_records_of_one_run(tmp_path):
    paths = [str(Path(skcamel.__file__).parents[1]), str(Path(__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    environment[study_methods.LOG] = str(tmp_path / "log")
    command = [sys.executable, __file__, tmp_path / "study", KILLS]
    options = {"capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run(command, env=environment, check=False, **options)
    assert done.returncode == 0, done.stderr
    codes = json.loads(done.stdout)
    assert set(codes) == {0, -9}
    records = Records(tmp_path / "study")
    lines = (tmp_path / "study" / "records.jsonl").read_bytes().splitlines()
    assert len(records) == len(lines) == METHODS * FOLDS  # no line twice, none torn
    fits = Counter(study_methods.fits(tmp_path / "log"))
    assert len(fits) == METHODS * FOLDS
    in_flight = codes.count(-9)  # one unit for each kill, at most
    assert fits.total() - METHODS * FOLDS <= in_flight
    whole = run_study([made()], methods(0.01), n_folds=FOLDS)
    assert study_methods.comparable(records) == study_methods.comparable(whole)


if __name__ == "__main__":
    print(json.dumps(killed_many_times(Path(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201
