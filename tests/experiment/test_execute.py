"""Worker processes: whatever a method does to its process, it costs its own unit alone."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

import skcamel
from hostile_methods import Harm
from skcamel.experiment import Records, run_study
from skcamel.experiment.study import UnitsFailed
from study_methods import Mean, comparable, made

pytest.importorskip("loky", reason="loky is not installed: pip install skcamel[cli]")
ONE_FOLD = [(range(12), range(12, 24))]
HARMS = {
    **dict.fromkeys(("exits", "segfault", "kills itself"), "its process ended"),
    **dict.fromkeys(("hangs", "holds"), "took longer than 2 s"),
    "unspeakable": "UnspeakableError",
    "unpicklable": "UnpicklableError: has a lock",
    "leaves": "SystemExit: enough",
    "interrupts": "KeyboardInterrupt",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study of every hostile method beside two that do no harm."""
    folder = tmp_path_factory.mktemp("hostile")
    methods = [("mean", Mean()), *((name, Harm(name)) for name in HARMS), "br"]
    methods.append(("killed once", Harm("killed once", str(folder / "flag"))))
    with pytest.warns(UnitsFailed, match=rf"{len(HARMS)} of {len(HARMS) + 3} units failed"):
        run_study([made()], methods, folds=ONE_FOLD, n_jobs=2, time_limit=2.0, out=folder / "study")
    return Records(folder / "study")


@pytest.mark.parametrize("name", HARMS)
def test_a_harmful_method_fails_with_its_cause(hostile, name):
    failed = [one for one in hostile.failures if one["method"] == name]
    assert len(failed) == 1
    assert all(HARMS[name] in one["error"] and one["traceback"] for one in failed)


def test_nothing_else_is_lost_and_figures_are_those_of_one_process(hostile):
    assert {record["method"] for record in hostile} == {"mean", "br", "killed once"}
    alone = run_study([made()], [("mean", Mean()), "br"], folds=ONE_FOLD)
    others = [record for record in hostile if record["method"] != "killed once"]
    assert comparable(others) == comparable(alone)


@pytest.mark.parametrize("harm", ["leaves", "unspeakable"])
def test_errors_of_a_method_in_this_process_cost_its_own_unit_only(harm):
    with pytest.warns(UnitsFailed, match="2 of 4 units failed"):
        records = run_study([made()], [("mean", Mean()), (harm, Harm(harm))], n_folds=2)
    assert len(records) == 2
    assert len(records.failures) == 2


def test_ctrl_c_ends_the_study_and_keeps_what_is_finished(tmp_path):
    methods = [("mean", Mean()), ("interrupts", Harm("interrupts"))]
    with pytest.raises(KeyboardInterrupt):
        run_study([made()], methods, n_folds=2, out=tmp_path)
    assert len(Records(tmp_path)) == 2


def is_running(number):
    """Whether a process lives; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize("harm", ["sleeps on", "holds on"])
def test_no_worker_outlives_a_killed_study_for_more_than_ten_seconds(harm, tmp_path):
    (tmp_path / "workers").mkdir()
    script = (
        "from hostile_methods import Harm; from study_methods import made;"
        " from skcamel.experiment import run_study;"
        f" run_study([made()], [('harm', Harm({harm!r}, {str(tmp_path / 'workers')!r}))],"
        " n_folds=2, n_jobs=2)"
    )
    paths = [str(Path(skcamel.__file__).parents[1]), str(Path(__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    study = subprocess.Popen([sys.executable, "-c", script], env=environment)
    give_up = time.monotonic() + 60
    while len(workers := list((tmp_path / "workers").iterdir())) < 2:
        assert time.monotonic() < give_up
        time.sleep(0.05)
    numbers = [int(path.name) for path in workers]
    assert all(map(is_running, numbers))
    study.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    while any(map(is_running, numbers)):
        assert time.monotonic() - killed < 10
        time.sleep(0.05)
    study.wait()


def test_another_backend_of_joblib_runs_the_units():
    methods = [("mean", Mean()), "br"]
    with joblib.parallel_config(backend="threading", n_jobs=2):
        records = run_study([made()], methods, n_folds=2)
        with pytest.raises(ValueError, match="parallel_config names ThreadingBackend"):
            run_study([made()], methods, n_folds=2, time_limit=1.0)
    assert comparable(records) == comparable(run_study([made()], methods, n_folds=2))


def test_a_cluster_of_dask_runs_the_units():
    distributed = pytest.importorskip("distributed")
    here = {"n_workers": 1, "processes": False, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**here)
    with cluster, distributed.Client(cluster), joblib.parallel_config(backend="dask"):
        records = run_study([made()], ["br"], n_folds=2)
    assert comparable(records) == comparable(run_study([made()], ["br"], n_folds=2))


def test_a_method_that_cannot_be_sent_fails_alone():
    class Unsendable(Mean):
        def __reduce__(self):
            raise TypeError("stays here")

    methods = [("mean", Mean()), ("unsendable", Unsendable())]
    with pytest.warns(UnitsFailed, match="2 of 4 units failed, the first with TypeError"):
        records = run_study([made()], methods, n_folds=2, n_jobs=2)
    assert np.all([record["method"] == "mean" for record in records])
