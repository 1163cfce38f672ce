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
from skcamel.experiment import Records

HERE = Path(__file__).parent
UNITS = 60  # 5 methods x 12 folds, see nursery.py

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")


def test_killed_at_random_moments_a_study_loses_only_what_was_in_flight(tmp_path):
    paths = os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(HERE.parent)])
    environment = os.environ | {
        "PYTHONPATH": paths,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    environment[study_methods.LOG] = str(tmp_path / "log")
    command = [sys.executable, str(HERE / "nursery.py"), str(tmp_path / "study")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    codes, records, fits = (
        json.loads(done.stdout),
        Records(tmp_path / "study"),
        study_methods.fits(tmp_path / "log"),
    )
    assert codes.count(-9) >= 10  # else the moments are badly chosen
    assert set(codes) == {0, -9}
    assert len(records) == len({(r["method"], r["fold"]) for r in records}) == UNITS
    assert (
        len((tmp_path / "study" / "records.jsonl").read_bytes().splitlines()) == UNITS
    )  # no line twice, none torn
    again = sum(Counter(fits).values()) - len(set(fits))
    assert len(set(fits)) == UNITS
    assert again <= codes.count(-9)  # one unit in flight for each kill, at most
    assert not list(records.folder.rglob(".*"))
