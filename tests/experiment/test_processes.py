"""Whatever a method does to its process, its unit fails, the others are done, and the guilty one is named."""

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import joblib
import numpy as np
import pytest

import skcamel
from hostile_methods import Harm, large
from skcamel.experiment import run_study
from skcamel.experiment.compute import Task, as_source
from skcamel.experiment.executors import share_of_cores
from skcamel.experiment.processes import environment, ordered
from skcamel.experiment.units import Unit
from study_methods import Mean, made

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals"),
    pytest.mark.filterwarnings("ignore:.* units failed:UserWarning"),
]
KILLED = "ProcessEndedError: its process was killed (SIGKILL), most often by the system for lack of memory"
CAUSES = {
    "exits": "ProcessEndedError: its process ended with exit code 3",
    "segfault": "ProcessEndedError: its process ended with signal 11 (SIGSEGV)",
    "aborts": "ProcessEndedError: its process ended with signal 6 (SIGABRT)",
    "kills itself": KILLED,
    "no memory": "MemoryError: ",
}
SPOKEN = {
    "unspeakable": "UnspeakableError: (its text cannot be shown: __str__ raises)",
    "unpicklable": "UnpicklableError: has a lock",
    "beyond": "Beyond: ",
    "leaves": "SystemExit: enough",
}


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["processes", "one with a limit", "threads with a limit", "dask"])
def how(request):
    """Options of `run_study` for each way that keeps a study from its methods."""
    if request.param == "dask":
        return {"dask": request.getfixturevalue("dask_client")}
    return {
        "processes": {"n_jobs": 2},
        "one with a limit": {"time_limit": 600},
        "threads with a limit": {"n_jobs": 2, "backend": "threading", "time_limit": 600},
    }[request.param]


def errors(records):
    return {failure["method"]: failure["error"] for failure in records.failures}


def test_a_method_that_ends_its_process_fails_and_no_other(how):
    records = run_study([made()], [Mean("before"), Harm("exits"), Mean("after")], n_folds=2, **how)
    assert [(r["method"], r["fold"]) for r in records] == [("after", 0), ("after", 1), ("before", 0), ("before", 1)]
    assert [(f["method"], f["fold"], f["error"]) for f in records.failures] == [("exits", fold, CAUSES["exits"]) for fold in range(2)]


def test_the_cause_of_an_end_is_told():
    records = run_study([made()], [Mean(), *map(Harm, CAUSES)], n_folds=2, n_jobs=2, backend="loky")
    assert len(records) == 2
    assert errors(records) == CAUSES
    assert all(CAUSES[failure["method"]].rstrip(": ") in failure["traceback"] for failure in records.failures)


def test_a_unit_over_the_time_limit_is_killed(how):
    records = run_study([made()], [Harm("hangs"), Harm("holds"), Mean()], n_folds=2, **how | {"time_limit": 5})
    assert [record["method"] for record in records] == ["mean", "mean"]
    assert errors(records) == dict.fromkeys(("hangs", "holds"), "TimeoutError: took longer than 5 s")


def test_what_a_method_raises_is_noted_whatever_it_is(how):
    records = run_study([made()], [*map(Harm, SPOKEN), Harm("interrupts"), Mean()], n_folds=2, **how)
    assert errors(records) == SPOKEN | {"interrupts": "KeyboardInterrupt: "}
    assert len(records) == 2


@pytest.mark.parametrize("backend", [None, "threading"])
def test_what_a_method_raises_does_not_end_a_study_in_this_process(backend):
    records = run_study([made()], [*map(Harm, SPOKEN), Mean()], n_folds=2, n_jobs=2 if backend else 1, backend=backend)
    assert errors(records) == SPOKEN
    assert len(records) == 2


def test_what_a_method_changes_disturbs_no_other(how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = run_study([made()], [Harm("changes"), Mean(), "br"], n_folds=2, out="study", **how)
    assert (len(records), records.failures) == (6, [])
    assert os.listdir() == ["study"]


def test_what_a_method_changes_is_put_back_in_this_process(tmp_path):
    script = (
        "import os, signal, numpy as np\nfrom hostile_methods import Harm\nfrom skcamel.experiment import run_study\n"
        "from study_methods import Mean, made\n"
        "def state(): return os.getcwd(), np.geterr(), [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]\n"
        "before = state()\n"
        "records = run_study([made()], [Harm('changes'), Mean()], n_folds=2, out='study', progress='lines')\n"
        "assert (len(records), records.failures) == (4, [])\nassert state() == before\nprint('and it ended well')"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], cwd=tmp_path, env=with_our_paths(), capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "and it ended well\n"), done.stderr
    assert done.stderr.count("mean, paper, fold") == 2


def test_only_a_fresh_process_convicts(tmp_path):
    flag = str(tmp_path / "flag")
    records = run_study([made()], [Harm("bomb", flag=flag), Harm("meets", flag=flag)], n_folds=2, time_limit=600)
    assert (len(records), records.failures) == (4, [])
    assert Path(flag).exists()


def test_a_unit_that_was_killed_from_outside_is_done_again_alone(how, tmp_path):
    records = run_study([made()], [Harm("killed once", flag=str(tmp_path / "flag")), Mean()], n_folds=2, **how)
    assert (len(records), records.failures) == (4, [])


def test_a_method_that_cannot_travel_fails_with_a_cure(how):
    method = Mean("stuck")
    method.lock = joblib.parallel.threading.Lock()
    records = run_study([made()], [method, Mean()], n_folds=2, **how)
    assert len(records) == 2
    assert "'stuck' cannot be sent to a worker process (cannot pickle '_thread.lock' object); give it a form" in errors(records)["stuck"]


def test_a_failed_unit_is_tried_again_by_the_same_call(tmp_path):
    run_study([made()], [Harm("exits"), Mean()], n_folds=2, n_jobs=2, out=tmp_path)
    innocent = Mean("exits")
    records = run_study([made()], [innocent, Mean()], n_folds=2, n_jobs=2, out=tmp_path)
    assert (len(records), records.failures) == (4, [])


def test_data_sets_travel_to_each_worker_once(how, tmp_path, monkeypatch):
    if "dask" in how:
        pytest.skip("the workers of the cluster do not know the folder; that tasks are small is shown below")
    monkeypatch.setenv("UNPACKED", str(tmp_path))
    records = run_study([large("a"), large("b")], [Mean("m"), Mean("n")], n_folds=4, **how)
    assert (len(records), records.failures) == (16, [])
    times = [tuple(path.name.split()[:2]) for path in tmp_path.iterdir()]
    assert {name for name, _ in times} == {"a", "b"}
    assert len(times) == len(set(times)) <= 2 * how.get("n_jobs", 1)


def test_a_task_travels_without_its_data():
    task = Task(Unit("a", "mean", "paper", 0, 2, "plain", 0), Mean(), as_source(large("a")))
    assert len(ordered(task, None).packed) < 2000


@pytest.fixture
def sixteen_cores(monkeypatch):
    """Of which this process may use 6."""
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 6)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("sixteen_cores")
def test_workers_share_the_cores_that_this_process_may_use(tmp_path):
    run_study([made()], [Harm("threads", folder=str(tmp_path))], n_folds=2, n_jobs=2)
    assert os.listdir(tmp_path) == ["3 3"]
    assert [share_of_cores(units) for units in (1, 4, 6, 20)] == [6, 1, 1, 1]


@pytest.mark.usefixtures("sixteen_cores")
def test_workers_of_dask_share_the_cores_of_their_machine(tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        run_study([made()], [Harm("threads", folder=str(tmp_path))], n_folds=2, dask=client)
    assert os.listdir(tmp_path) == ["2 2"]


def test_fewer_threads_that_a_user_asked_for_stay(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("MKL_NUM_THREADS", "64")
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    given = environment(8)
    assert [given[f"{name}_NUM_THREADS"] for name in ("OPENBLAS", "MKL", "OMP", "BLIS")] == ["2", "8", "8", "8"]
    assert environment(None) == dict(os.environ)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), True, "60"])
def test_a_wrong_limit_is_told_at_once(limit):
    with pytest.raises(ValueError, match=f"time_limit must be a number of seconds > 0, or None for no limit, got {limit!r}"):
        run_study([made()], [Mean()], n_folds=2, time_limit=limit)


def with_our_paths():
    paths = os.pathsep.join([str(Path(skcamel.__file__).parents[1]), str(Path(__file__).parents[1])])
    return os.environ | {"PYTHONPATH": paths}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_study_that_is_ended(tmp_path, end):
    script = (
        "from hostile_methods import Harm\nfrom skcamel.experiment import run_study\nfrom study_methods import made\n"
        f"run_study([made()], [Harm('tells', folder={str(tmp_path)!r})], n_folds=4, n_jobs=2)"
    )
    study = subprocess.Popen([sys.executable, "-c", script], env=with_our_paths(), stderr=subprocess.DEVNULL)  # noqa: S603
    while len(list(tmp_path.iterdir())) < 2:
        assert study.poll() is None
        time.sleep(0.02)
    study.send_signal(end)
    assert study.wait(60) == -end
    deadline = time.monotonic() + 60
    while any(is_running(int(path.name)) for path in tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(int(path.name)) for path in tmp_path.iterdir())


def is_running(number):
    """Whether there is a process of this number that is more than an entry in the table of its parent."""
    if Path("/proc/self/stat").exists():
        try:
            return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_methods_of_a_script_without_a_guard_will_do(tmp_path):
    (tmp_path / "script.py").write_text(
        "from skcamel.experiment import run_study\nfrom study_methods import Mean, made\n"
        "half = lambda Y: Y[: len(Y) // 2]\n"
        "class Half(Mean):\n    def fit(self, X, Y, *, seed):\n        return super().fit(X, half(Y), seed=seed)\n"
        "print(len(run_study([made()], [Half()], n_folds=2, n_jobs=2)))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(tmp_path / "script.py")], env=with_our_paths(), capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_workers_of_a_cluster_may_be_lost():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
    ):
        records = run_study([made()], [Mean("a"), Harm("kills its parent"), Mean("b")], n_folds=2, dask=cluster.scheduler_address)
    assert [record["method"] for record in records] == ["a", "a", "b", "b"]
    assert set(errors(records)) == {"kills its parent"}
    assert "every Dask worker that ran it was lost" in errors(records)["kills its parent"]


def test_a_result_that_is_lost_with_its_worker_is_computed_again(monkeypatch):
    """Dask says that a unit is finished, runs it again because its result is gone, and loses that worker, too."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")
    of_dask, lost = distributed.Future.result, []

    def result(future, timeout=None):
        if not lost:
            lost.append(future.key)
            raise distributed.KilledWorker(future.key, None, 0)
        return of_dask(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", result)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        records = run_study([made()], [Mean()], n_folds=2, dask=cluster.scheduler_address)
    assert len(lost) == 1
    assert errors(records) == {}
    assert len(records) == 2


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux can forget a peak")
@pytest.mark.parametrize("limit", [None, 600], ids=["in this process", "in another"])
def test_the_peak_of_memory_is_what_the_unit_added(limit):
    held = np.ones(2**24) if limit is None else nullcontext()  # 128 MB that are not the unit's
    records = run_study([made()], [Harm("eats", megabytes=200), Mean()], n_folds=2, time_limit=limit)
    del held
    peaks = [record["peak_memory_bytes"] / 1e6 for record in records]
    assert all(200 <= peak < 260 for peak in peaks[:2])
    assert all(0 <= peak < 60 for peak in peaks[2:])
