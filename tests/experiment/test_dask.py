"""A real Dask cluster of processes: same numbers as alone, and a worker that is killed half-way."""

import os
import signal
import sys
import time

import pytest

from skcamel.data import Dataset
from skcamel.experiment import run_study
from study_methods import Broken, Mean, comparable, made

distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'skcamel[distributed]'")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore:.* units failed:UserWarning")
def test_numbers_and_failures_are_those_of_a_run_alone(cluster, tmp_path):
    methods = ["br", "rakel", Mean(), Broken()]
    data = [made(), Dataset(made(30).X, made(30).Y, name="other")]
    alone = run_study(data, methods, preset="quick", out=tmp_path / "alone")
    remote = run_study(data, methods, preset="quick", out=tmp_path / "remote", dask=cluster.scheduler_address)
    assert len(remote) == 18
    assert comparable(alone) == comparable(remote)
    assert [(f["dataset"], f["fold"], f["error"]) for f in alone.failures] == [
        (f["dataset"], f["fold"], f["error"]) for f in remote.failures
    ]


@pytest.mark.parametrize("address", ["nonsense", "tcp://127.0.0.1", "ftp://127.0.0.1:1"])
def test_what_is_no_address_is_told_at_once(address):
    before = time.monotonic()
    with pytest.raises(ValueError, match=f"dask='{address}': .*; give the address of a scheduler, as tcp://host:8786"):
        run_study([made()], [Mean()], n_folds=2, dask=address)
    assert time.monotonic() - before < 5


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_units_of_a_killed_worker_are_done_by_others(cluster, tmp_path):
    client = distributed.Client(cluster, set_as_default=False)
    workers = client.run(os.getpid)
    events = []

    def kill_one(event):
        events.append(event)
        if len(events) == 4:
            os.kill(next(iter(workers.values())), signal.SIGKILL)

    records = run_study([made()], [Mean("a", 0.1), Mean("b", 0.1)], n_folds=10, out=tmp_path, dask=client, progress=kill_one)
    assert (len(records), records.failures) == (20, [])
    assert len(events) == 20
    assert client.status == "running"  # a client that was given stays open
    deadline = time.monotonic() + 20  # the nanny starts another worker
    while len(client.nthreads()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(client.run(os.getpid).values()) != set(workers.values())
    client.close()
