"""Units ► results: in this process, in worker processes of loky, or by the backend of joblib that the caller has set.

A worker process does one unit at a time. So whatever a method does to its process, the unit at
fault is known, and no other is lost.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

import joblib
from joblib.parallel import LokyBackend, SequentialBackend, get_active_backend

from skcamel import memory
from skcamel.experiment.compute import Result, Source, Task, compute, failure

Job = tuple[Task, Source]
Results = Generator[Result, None, None]
# when memory runs out, Linux kills the worker rather than the process that holds the study
FIRST_TO_GO = "500"
START = 300.0  # seconds to start, import the method and take the data, if there is a time limit
# variables that tell libraries how many threads to use; the last is what n_jobs=-1 means to joblib
THREADS = (
    *(
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    *("NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"),
)


def executor(
    n_jobs: int | None, time_limit: float | None, units: int
) -> Callable[[Sequence[Job]], Results]:
    """Choose how units are run; :func:`skcamel.experiment.run_study` explains the parameters."""
    backend = get_active_backend()[0]
    if not isinstance(backend, (LokyBackend, SequentialBackend)):
        if time_limit is not None:
            told = (
                f"time_limit={time_limit:g} needs worker processes of the study, and"
                " joblib.parallel_config names another backend"
            )
            raise ValueError(f"{told} ({type(backend).__name__}); leave out one of them.")
        return partial(by_joblib, n_jobs=n_jobs)
    workers = min(joblib.effective_n_jobs(n_jobs), max(1, units))
    if workers == 1 and time_limit is None:
        return in_this_process
    if find_spec("loky") is None:
        raise ImportError("Worker processes need: pip install 'skcamel[cli]'")
    return partial(by_processes, n_jobs=workers, time_limit=time_limit)


def in_this_process(jobs: Sequence[Job]) -> Results:
    """One after the other."""
    for job in jobs:
        yield compute(*job)


def by_joblib(jobs: Sequence[Job], n_jobs: int | None) -> Results:
    """By the backend that the caller has set: threads, or a cluster, to which data sets travel with their units."""
    results = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(
        joblib.delayed(compute)(*job) for job in jobs
    )
    try:
        yield from results
    finally:
        results.close()


def by_processes(jobs: Sequence[Job], n_jobs: int, time_limit: float | None) -> Results:
    """In worker processes on this machine, each with its share of cores and memory.

    A unit whose process ended runs once more after all others, alone and in a fresh process: an
    earlier unit may have left a thread
    behind, and when memory runs out, the system may kill another process than the one that used it
    up.
    """
    free = memory.available()
    share = None if free is None else free // n_jobs
    workers = [Worker(share_of_cores(n_jobs), time_limit) for _ in range(n_jobs)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def run(task: Task, path: str) -> Result:
        worker = idle.get()
        try:
            return worker.run(replace(task, allowance=share), path)
        finally:
            idle.put(worker)

    with TemporaryDirectory() as folder:
        sources = dict.fromkeys(source for _, source in jobs)
        paths = {
            source.name: _written(source, Path(folder, str(number)))
            for number, source in enumerate(sources)
        }
        drivers = ThreadPoolExecutor(n_jobs)
        try:
            running = {
                drivers.submit(run, task, paths[source.name]): (task, source)
                for task, source in jobs
            }
            ended = []
            for future in as_completed(running):
                if future.result().ended:
                    ended.append(running[future])
                else:
                    yield future.result()
            for task, source in ended:
                for worker in workers:
                    worker.end()
                yield drivers.submit(run, task, paths[source.name]).result()
        finally:
            drivers.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end(for_good=True)
            drivers.shutdown(wait=True)


def share_of_cores(units: int) -> int:
    """Cores for each of so many units at the same time, of those that this process may use (affinity, container)."""
    return max(1, joblib.cpu_count() // units)


def environment(threads: int) -> dict[str, str]:
    """Variables that limit all libraries to so many threads; a smaller number that is set stays.

    >>> environment(1)["OMP_NUM_THREADS"]
    '1'
    """
    given = {name: os.environ.get(name, "") for name in THREADS}
    return {
        name: str(min(threads, int(text)) if text.isdecimal() else threads)
        for name, text in given.items()
    }


class ProcessEndedError(ChildProcessError):
    """A worker process ended while it did a unit."""

    def __init__(self, told: str) -> None:
        codes = re.search(r"exit codes? of the workers are \{(.*)\}", told)
        super().__init__(
            f"its process ended ({codes[1]})" if codes else f"its process ended: {told}"
        )


class Worker:
    """One process of loky, started anew when it was killed; its libraries use so many threads at most."""

    def __init__(self, threads: int, time_limit: float | None) -> None:
        self.threads = threads
        self.time_limit = time_limit
        self._pool: Any = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, task: Task, path: str) -> Result:
        """Run a unit; a time-out, or the end of the process, becomes a failure."""
        from cloudpickle import dumps
        from loky import BrokenProcessPool

        limit = self.time_limit
        try:
            packed = dumps(task)
        except Exception as error:
            cure = "give it a form that pickle takes, or run it with n_jobs=1 and no time limit"
            told = (
                f"The method {task.method.name!r} cannot be sent to a worker process ({error});"
                f" {cure}."
            )
            return failure(task.unit, TypeError(told))
        try:
            pool = self._started()
            pool.submit(_unpacked, packed, path).result(
                None if limit is None else max(limit, START)
            )
            return pool.submit(_done, packed, path).result(limit)
        except TimeoutError:
            self.end()
            return failure(task.unit, TimeoutError(f"took longer than {limit:.10g} s"))
        except BrokenProcessPool as error:
            self.end()
            return replace(failure(task.unit, ProcessEndedError(str(error))), ended=True)
        except BaseException as error:  # importing the method's module may raise anything
            return failure(task.unit, error)

    def end(self, *, for_good: bool = False) -> None:
        """Kill the process with all that it has started; a thread that waits for it gets an error."""
        with self._lock:
            self._closed = self._closed or for_good
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)

    def _started(self) -> Any:
        from loky import ProcessPoolExecutor

        with self._lock:
            if self._closed:
                raise RuntimeError("The study has ended.")
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    1, initializer=_begin, initargs=(os.getpid(),), env=environment(self.threads)
                )
            return self._pool


def _written(source: Source, path: Path) -> str:
    """Write a data set for the workers; return the path as text."""
    with path.open("wb") as file:
        pickle.dump(source, file, protocol=5)
    return str(path)


_held: tuple[str, Source] | None = None  # the last data set that this worker has read


def _unpacked(packed: bytes, path: str) -> None:
    """Read data and method in a worker, before a time limit counts."""
    global _held  # noqa: PLW0603 (a cache of one process)
    if _held is None or _held[0] != path:
        _held = path, pickle.loads(Path(path).read_bytes())  # noqa: S301 (from the process that started this one)
    pickle.loads(packed)  # noqa: S301 (as above)


def _done(packed: bytes, path: str) -> Result:
    """Run a unit in a worker."""
    if _held is None or _held[0] != path:  # loky has restarted the worker
        _unpacked(packed, path)
    task = pickle.loads(packed)  # noqa: S301 (from the process that started this one)
    try:
        return compute(task, _held[1])  # pyrefly: ignore[unsupported-operation]
    except KeyboardInterrupt as error:  # the method's own
        return failure(task.unit, error)


def _begin(parent: int) -> None:
    """Set up a worker process: out of reach of Ctrl-C, with standard error as its output, and ended with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.disable()  # loky enables it; the record of the unit names the cause
    with suppress(OSError):
        os.dup2(2, 1)
    if sys.platform != "win32":
        os.setsid()
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Kill this process, and all that it has started, when its parent has ended, however that ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)
