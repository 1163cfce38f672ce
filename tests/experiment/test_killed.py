"""A study folder survives SIGKILL at any moment."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import skcamel
import study_methods
from skcamel.experiment import Records, run_study
from study_methods import Mean, made

HERE = Path(__file__).parent
KILLS = os.environ.get("KILLS", "6")  # make test-all: 50
UNITS = 60  # 5 methods x 12 folds, see nursery.py

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")


def test_killed_at_random_moments_and_resumed_a_study_has_the_records_of_an_uninterrupted_run(
    tmp_path,
):
    paths = os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(HERE.parent)])
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    environment[study_methods.LOG] = str(tmp_path / "log")
    command = [sys.executable, HERE / "nursery.py", tmp_path / "study", KILLS]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    codes = json.loads(done.stdout)
    assert set(codes) == {0, -9}
    records = Records(tmp_path / "study")
    lines = (tmp_path / "study" / "records.jsonl").read_bytes().splitlines()
    assert len(records) == len(lines) == UNITS  # no line twice, none torn
    fits = Counter(study_methods.fits(tmp_path / "log"))
    assert len(fits) == UNITS
    assert fits.total() - UNITS <= codes.count(-9)  # one unit in flight for each kill, at most
    methods = [(f"mean{k}", Mean(f"mean{k}", 0.01)) for k in range(5)]
    whole = run_study([made()], methods, n_folds=12)
    assert study_methods.comparable(records) == study_methods.comparable(whole)
