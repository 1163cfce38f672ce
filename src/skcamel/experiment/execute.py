"""Tasks ► records: in this process, in workers of loky, or by the backend that joblib is set to.

A worker process does one unit at a time. So whatever a method does to its process, the unit at
fault is known, and no other is lost.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import select
import signal
import sys
import threading
import warnings
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from joblib.parallel import LokyBackend, SequentialBackend, get_active_backend

from skcamel.experiment.records import Record
from skcamel.experiment.unit import Source, Task, compute, failure

Job = tuple[Task, Source]
START = 300.0  # seconds to start, import the method and take the data, before a time limit counts
FIRST_TO_GO = "500"  # without memory, Linux kills a worker rather than the study
THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")


class ProcessEndedError(ChildProcessError):
    """A worker process ended while it did a unit."""


def execute(
    jobs: Sequence[Job], n_jobs: int | None, time_limit: float | None
) -> Generator[Record, None, None]:
    """Records of the jobs as they finish; see :func:`skcamel.experiment.run_study`."""
    backend = get_active_backend()[0]
    if not isinstance(backend, LokyBackend | SequentialBackend):
        if time_limit is not None:
            raise ValueError(
                f"time_limit={time_limit:g} needs worker processes of the study, but"
                f" joblib.parallel_config names {type(backend).__name__}; leave out one of them."
            )
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
        with closing(parallel(joblib.delayed(compute)(*job) for job in jobs)) as records:
            yield from records
        return
    n_workers = min(joblib.effective_n_jobs(n_jobs), max(1, len(jobs)))
    if n_workers == 1 and time_limit is None:
        for job in jobs:
            yield compute(*job)
        return
    if find_spec("loky") is None:
        raise ImportError("Worker processes need: pip install 'skcamel[cli]'")
    yield from _by_workers(jobs, n_workers, time_limit)


def _by_workers(
    jobs: Sequence[Job], n_workers: int, time_limit: float | None
) -> Generator[Record, None, None]:
    """In worker processes, each with its share of the cores.

    A unit whose process ended runs once more after all others, alone and in a fresh process: an
    earlier unit may have left a thread behind, and without memory the system may kill another
    process than the one that used it up.
    """
    workers = [
        Worker(max(1, joblib.cpu_count() // n_workers), time_limit) for _ in range(n_workers)
    ]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def run(task: Task, path: str) -> Record | None:
        worker = idle.get()
        try:
            return worker.run(task, path)
        finally:
            idle.put(worker)

    with TemporaryDirectory() as folder:
        paths = {}
        for number, source in enumerate(dict.fromkeys(source for _, source in jobs)):
            paths[source] = os.path.join(folder, str(number))
            Path(paths[source]).write_bytes(pickle.dumps(source, protocol=5))
        drivers = ThreadPoolExecutor(n_workers)
        try:
            running = {drivers.submit(run, task, paths[one]): (task, one) for task, one in jobs}
            ended = []
            for future in as_completed(running):
                record = future.result()
                if record is None:
                    ended.append(running[future])
                else:
                    yield record
            for task, source in ended:
                for worker in workers:
                    worker.end()
                record = drivers.submit(run, task, paths[source]).result()
                what = "its process ended, alone and in a fresh process too"
                yield record or failure(task.unit, ProcessEndedError(what))
        finally:
            drivers.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end(for_good=True)
            drivers.shutdown(wait=True)


class Worker:
    """One process of loky, started anew when it was killed, whose libraries use few threads."""

    def __init__(self, threads: int, time_limit: float | None) -> None:
        self.threads = threads
        self.time_limit = time_limit
        self._pool: Any = None
        self._is_closed = False
        self._lock = threading.Lock()

    def run(self, task: Task, path: str) -> Record | None:
        """The record of a unit; a time-out is a failure; None where the process ended."""
        from cloudpickle import dumps
        from loky import BrokenProcessPool

        limit = self.time_limit
        try:
            packed = dumps(task)
            pool = self._started()
            start = None if limit is None else max(limit, START)
            pool.submit(_unpacked, packed, path).result(start)
            return pool.submit(_computed, packed, path).result(limit)
        except TimeoutError:
            self.end()
            return failure(task.unit, TimeoutError(f"took longer than {limit:.10g} s"))
        except BrokenProcessPool:
            self.end()
            return None
        except BaseException as error:  # importing the method's module may raise anything
            return failure(task.unit, error)

    def end(self, *, for_good: bool = False) -> None:
        """Kill the process with all that it started; a thread that waits for it gets an error."""
        with self._lock:
            self._is_closed = self._is_closed or for_good
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)

    def _started(self) -> Any:
        from loky import ProcessPoolExecutor

        with self._lock:
            if self._is_closed:
                raise RuntimeError("The study has ended.")
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    1, initializer=_begin, initargs=(os.getpid(),), env=environment(self.threads)
                )
            return self._pool


def environment(threads: int) -> dict[str, str]:
    """Variables that limit all libraries to so many threads; a smaller number that is set stays.

    >>> environment(1)["OMP_NUM_THREADS"]
    '1'
    """
    found = {}
    for name in (*(f"{name}_NUM_THREADS" for name in THREADS), "LOKY_MAX_CPU_COUNT"):
        given = os.environ.get(name, "")
        found[name] = str(min(threads, int(given)) if given.isdecimal() else threads)
    return found


_last: tuple[str, Source] | None = None  # the data set that this worker has read last


def _unpacked(packed: bytes, path: str) -> Job:
    """Task and data in a worker; the first call reads both, before a time limit counts."""
    global _last  # noqa: PLW0603 (a cache of one process)
    if _last is None or _last[0] != path:
        _last = path, pickle.loads(Path(path).read_bytes())  # noqa: S301 (from the study)
    return pickle.loads(packed), _last[1]  # noqa: S301 (from the study)


def _computed(packed: bytes, path: str) -> Record:
    """Run a unit in a worker."""
    task, source = _unpacked(packed, path)
    try:
        return compute(task, source)
    except KeyboardInterrupt as error:  # the method's own
        return failure(task.unit, error)


def _begin(parent: int) -> None:
    """Set up a worker: out of reach of Ctrl-C, and killed when the study ends, however it ends.

    For that it forks a process that kills the group of the worker when the worker or the study has
    ended. A thread could not: a method may hold the interpreter for ever. Where there are no file
    descriptors of processes, a worker of a killed study ends after its unit.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()  # the record of the unit names the cause
    if sys.platform == "win32":
        return
    os.setsid()
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)
    if not hasattr(os, "pidfd_open"):
        return
    worker = os.getpid()
    ends = [os.pidfd_open(parent), os.pidfd_open(worker)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forks beside a thread of loky
        if os.fork():
            return
    nothing: list[int] = []
    select.select(ends, nothing, nothing)
    os.killpg(worker, signal.SIGKILL)
