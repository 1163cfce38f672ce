"""Whatever a method does to its process, its unit fails, the others are done, and the guilty one is named."""

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from importlib import util
from pathlib import Path

import joblib
import numpy as np
import pytest

import skcamel
from hostile_methods import Harm, large
from skcamel import memory
from skcamel.data import Dataset
from skcamel.experiment import execute, run_study
from skcamel.experiment.compute import failure
from skcamel.experiment.execute import Worker, environment, share_of_cores
from study_methods import Broken, Mean, comparable, made

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals"),
    pytest.mark.filterwarnings("ignore:.* units failed:UserWarning"),
]
CAUSES = {
    "exits": "ProcessEndedError: its process ended (EXIT(3))",
    "segfault": "ProcessEndedError: its process ended (SIGSEGV(-11))",
    "kills itself": "ProcessEndedError: its process ended (SIGKILL(-9))",
    "no memory": "MemoryError: ",
}
SPOKEN = {
    "unspeakable": "UnspeakableError: (its text cannot be shown: __str__ raises)",
    "unpicklable": "UnpicklableError: has a lock",
    "beyond": "Beyond: ",
    "leaves": "SystemExit: enough",
}


def errors(records):
    return {failure["method"]: failure["error"] for failure in records.failures}


def test_a_method_that_ends_its_process_fails_with_its_cause_and_no_other():
    records = run_study(
        [made()], [Mean("before"), *map(Harm, CAUSES), Mean("after")], n_folds=2, n_jobs=2
    )
    assert [(r["method"], r["fold"]) for r in records] == [
        ("after", 0),
        ("after", 1),
        ("before", 0),
        ("before", 1),
    ]
    assert len(records.failures) == 2 * len(CAUSES)
    assert errors(records) == CAUSES
    assert all(
        CAUSES[failure["method"]].rstrip(": ") in failure["traceback"]
        for failure in records.failures
    )


def test_a_unit_over_the_time_limit_is_killed():
    records = run_study([made()], [Harm("hangs"), Harm("holds"), Mean()], n_folds=2, time_limit=2)
    assert [record["method"] for record in records] == ["mean", "mean"]
    assert errors(records) == dict.fromkeys(
        ("hangs", "holds"), "TimeoutError: took longer than 2 s"
    )


def test_what_a_method_raises_is_noted_whatever_it_is():
    records = run_study(
        [made()], [*map(Harm, SPOKEN), Harm("interrupts"), Mean()], n_folds=2, n_jobs=2
    )
    assert errors(records) == SPOKEN | {"interrupts": "KeyboardInterrupt: "}
    assert len(records) == 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_what_a_method_raises_does_not_end_a_study_in_this_process(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2 if backend == "threading" else 1):
        records = run_study([made()], [*map(Harm, SPOKEN), Mean()], n_folds=2)
    assert errors(records) == SPOKEN
    assert len(records) == 2


def test_what_a_method_changes_disturbs_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = run_study([made()], [Harm("changes"), Mean(), "br"], n_folds=2, out="study", n_jobs=2)
    assert (len(records), records.failures) == (6, [])
    assert os.listdir() == ["study"]


def test_what_a_method_changes_is_put_back_in_this_process(tmp_path):
    script = (
        "import os, signal, numpy as np\nfrom hostile_methods import Harm\nfrom skcamel.experiment"
        " import run_study\nfrom study_methods import Mean, made\ndef state(): return os.getcwd(),"
        " np.geterr(), [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]\nbefore ="
        " state()\nrecords = run_study([made()], [Harm('changes'), Mean()], n_folds=2,"
        " out='study')\nassert (len(records), records.failures) == (4, [])\nassert state() =="
        " before\nprint('and it ended well')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=with_our_paths(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "and it ended well\n"), done.stderr


def test_only_a_fresh_process_convicts(tmp_path):
    flag = str(tmp_path / "flag")
    records = run_study(
        [made()], [Harm("bomb", flag=flag), Harm("meets", flag=flag)], n_folds=2, time_limit=600
    )
    assert (len(records), records.failures) == (4, [])
    assert Path(flag).exists()


def test_a_unit_that_was_killed_from_outside_is_done_again_alone(tmp_path):
    records = run_study(
        [made()], [Harm("killed once", flag=str(tmp_path / "flag")), Mean()], n_folds=2, n_jobs=2
    )
    assert (len(records), records.failures) == (4, [])


def test_a_method_that_cannot_travel_fails_with_a_cure():
    method = Mean("stuck")
    method.lock = joblib.parallel.threading.Lock()
    records = run_study([made()], [method, Mean()], n_folds=2, n_jobs=2)
    assert len(records) == 2
    assert (
        "'stuck' cannot be sent to a worker process (cannot pickle '_thread.lock' object); give it"
        " a form" in errors(records)["stuck"]
    )


def test_data_sets_travel_to_each_worker_once(tmp_path, monkeypatch):
    monkeypatch.setenv("UNPACKED", str(tmp_path))
    records = run_study([large("a"), large("b")], [Mean("m"), Mean("n")], n_folds=4, n_jobs=2)
    assert (len(records), records.failures) == (16, [])
    times = [tuple(path.name.split()[:2]) for path in tmp_path.iterdir()]
    assert {name for name, _ in times} == {"a", "b"}
    assert len(times) == len(set(times)) <= 4


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


def test_fewer_threads_that_a_user_asked_for_stay(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("MKL_NUM_THREADS", "64")
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    given = environment(8)
    assert [given[f"{name}_NUM_THREADS"] for name in ("OPENBLAS", "MKL", "OMP", "BLIS")] == [
        "2",
        "8",
        "8",
        "8",
    ]


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), True, "60"])
def test_a_wrong_limit_is_told_at_once(limit):
    with pytest.raises(
        ValueError,
        match=f"time_limit must be a number of seconds > 0, or None for no limit, got {limit!r}",
    ):
        run_study([made()], [Mean()], n_folds=2, time_limit=limit)


def with_our_paths():
    paths = os.pathsep.join(
        [str(Path(skcamel.__file__).parents[1]), str(Path(__file__).parents[1])]
    )
    return os.environ | {"PYTHONPATH": paths}


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_study_that_is_ended(tmp_path, end):
    script = (
        "from hostile_methods import Harm\nfrom skcamel.experiment import run_study\nfrom"
        " study_methods import made\nrun_study([made()], [Harm('tells',"
        f" folder={str(tmp_path)!r})], n_folds=4, n_jobs=2)"
    )
    study = subprocess.Popen(
        [sys.executable, "-c", script], env=with_our_paths(), stderr=subprocess.DEVNULL
    )
    while len(list(tmp_path.iterdir())) < 2:
        assert study.poll() is None
        time.sleep(0.02)
    study.send_signal(end)
    assert study.wait(60) == -end
    deadline = time.monotonic() + 60
    while (
        any(is_running(int(path.name)) for path in tmp_path.iterdir())
        and time.monotonic() < deadline
    ):
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
        "from skcamel.experiment import run_study\nfrom study_methods import Mean, made\nhalf ="
        " lambda Y: Y[: len(Y) // 2]\nclass Half(Mean):\n    def fit(self, X, Y, *, seed):\n       "
        " return super().fit(X, half(Y), seed=seed)\nprint(len(run_study([made()], [Half()],"
        " n_folds=2, n_jobs=2)))"
    )
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        env=with_our_paths(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_the_backend_of_joblib_is_respected():
    with joblib.parallel_config(backend="threading", n_jobs=2):
        records = run_study([made()], [Mean(pause=0.05)], n_folds=4)
        with pytest.raises(
            ValueError,
            match=(
                r"time_limit=2 needs worker processes .* names another backend \(ThreadingBackend\)"
            ),
        ):
            run_study([made()], [Mean()], n_folds=2, time_limit=2)
    assert len(records) == 4
    assert {record["peak_memory_bytes"] for record in records} == {
        None
    }  # threads share the memory of their process


def test_units_spread_over_a_cluster_of_dask(tmp_path):
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'"
    )
    methods = ["br", Mean(), Broken()]
    data = [made(), Dataset(made(30).X, made(30).Y, name="other")]
    alone = run_study(data, methods, preset="quick")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        remote = run_study(data, methods, preset="quick", out=tmp_path)
    assert comparable(alone) == comparable(remote)
    assert len(remote.failures) == len(alone.failures) == 6


def test_units_at_the_same_time_share_what_is_free(monkeypatch):
    shares = []
    monkeypatch.setattr(memory, "available", lambda device=None: 8 * 10**6)
    monkeypatch.setattr(
        Worker,
        "run",
        lambda worker, task, path: (
            shares.append(task.allowance) or failure(task.unit, ValueError())
        ),
    )
    run_study([made()], [Mean()], n_folds=2, n_jobs=100)
    assert shares == [4 * 10**6] * 2


def test_without_loky_the_extra_is_named(monkeypatch):
    before = util.find_spec
    monkeypatch.setattr(execute, "find_spec", lambda name: None if name == "loky" else before(name))
    with pytest.raises(ImportError, match=r"pip install 'skcamel\[cli\]'"):
        run_study([made()], [Mean()], n_folds=2, n_jobs=2)


@pytest.mark.skipif(
    not os.access("/proc/self/clear_refs", os.W_OK), reason="only Linux can forget a peak"
)
@pytest.mark.parametrize("limit", [None, 600], ids=["in this process", "in another"])
def test_the_peak_of_memory_is_what_the_unit_added(limit):
    held = np.ones(2**24) if limit is None else nullcontext()  # 128 MB that are not the unit's
    records = run_study(
        [made()], [Harm("eats", megabytes=200), Mean()], n_folds=2, time_limit=limit
    )
    del held
    peaks = [record["peak_memory_bytes"] / 1e6 for record in records]
    assert all(200 <= peak < 260 for peak in peaks[:2])
    assert all(0 <= peak < 60 for peak in peaks[2:])
