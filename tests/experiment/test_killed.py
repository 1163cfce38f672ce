"""A study folder survives what happens to processes: SIGKILL at any moment, and several runs at once."""

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


@pytest.fixture
def nursery(tmp_path):
    """`nursery(plan)` ► exit codes of the runs, records, and the lines that fits have logged."""

    def follow(plan):
        paths = os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(HERE.parent)])
        environment = os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment[study_methods.LOG] = str(tmp_path / "log")
        command = [sys.executable, str(HERE / "nursery.py"), plan, str(tmp_path / "study")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["codes"], Records(tmp_path / "study"), study_methods.fits(tmp_path / "log")

    return follow


def is_clean(folder):
    """No half-written file, no failure."""
    return not list(folder.rglob(".*")) and not list((folder / "failures").iterdir())


def test_killed_at_random_moments_a_study_loses_only_what_was_in_flight(nursery):
    codes, records, fits = nursery("killed_many_times")
    assert codes.count(-9) >= 10  # else the moments are badly chosen
    assert set(codes) == {0, -9}
    assert len(records) == len({(r["method"], r["fold"]) for r in records}) == UNITS
    again = sum(Counter(fits).values()) - len(set(fits))
    assert len(set(fits)) == UNITS
    assert again <= codes.count(-9)  # one unit in flight for each kill, at most
    assert is_clean(records.folder)


def test_two_runs_share_the_work_and_do_no_unit_twice(nursery):
    codes, records, fits = nursery("two_at_once")
    assert codes == [0, 0]
    assert len(records) == len(fits) == len(set(fits)) == UNITS
    assert is_clean(records.folder)


def test_a_killed_run_blocks_nobody(nursery):
    codes, records, fits = nursery("one_of_two_killed")
    assert codes == [-9, 0]
    assert len(records) == len(set(fits)) == UNITS
    assert len(fits) <= UNITS + 1
    assert is_clean(records.folder)
