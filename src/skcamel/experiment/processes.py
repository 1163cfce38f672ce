"""Units in worker processes: whatever a method does to its process, the study goes on and knows which unit it was.

A worker is reached through its standard input and output. Unlike the processes of `multiprocessing`, it can be started anywhere,
even in the daemons of a Dask cluster, and does not import the caller's script. Units travel by cloudpickle, so methods may be
defined in a notebook. The worker's own side begins at :func:`serve`.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import IO, BinaryIO, NoReturn, Self, cast

from skcamel.data.dataset import Dataset
from skcamel.experiment.compute import Result, Source, Task, compute, failure, load, load_split
from skcamel.experiment.units import Unit

IDLE = 300.0  # seconds without work after which a worker ends: on a cluster, its starter may have forgotten it
FIRST_TO_GO = "500"  # when memory runs out, Linux kills the worker rather than the process that holds the study
START = 300.0  # seconds to start, import the method and take the data, if there is a time limit
BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from skcamel.experiment.processes import serve; serve(int(sys.argv[2]))"
THREADS = (  # variables that tell libraries how many threads to use; the last is what n_jobs=-1 means to joblib
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT"),
)


@dataclass(frozen=True)
class Order:
    """A task as it travels: without its data, and with a method that only a worker unpacks."""

    unit: Unit
    source: Source
    packed: bytes
    threads: int | None
    time_limit: float | None


def ordered(task: Task, time_limit: float | None) -> Order:
    """Pack a task; TypeError where its method cannot travel."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    source = replace(task.source, origin=None)
    try:
        packed = dumps(replace(task, source=source, threads=None))
    except Exception as error:
        cure = "give it a form that pickle takes, or run it with n_jobs=1 and no time limit"
        raise TypeError(f"The method {task.method.name!r} cannot be sent to a worker process ({error}); {cure}.") from error
    return Order(task.unit, source, packed, task.threads, time_limit)


class ProcessEndedError(ChildProcessError):
    """A worker process ended while it did a unit."""

    def __init__(self, code: int | None) -> None:
        self.killed = code == -9  # from outside, for lack of memory that others may have used up
        if code is None:
            cause = "closed the connection to the study"
        elif self.killed:
            cause = "was killed (SIGKILL), most often by the system for lack of memory"
        elif code < 0:
            cause = f"ended with signal {-code} ({signal.Signals(-code).name})"
        else:
            cause = f"ended with exit code {code}"
        super().__init__(f"its process {cause}")


class Worker:
    """A worker process, seen from the process that started it; its libraries use `threads` at most, None: what they like."""

    def __init__(self, threads: int | None) -> None:
        paths = json.dumps([os.path.abspath(entry) for entry in sys.path])
        self._process = subprocess.Popen(  # noqa: S603 (our own text)
            [get_executable(), "-P", "-c", BOOT, paths, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(threads),
            start_new_session=True,  # Ctrl-C does not reach it, and all that a method starts can be ended with it
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
        )
        self._pipes = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        self._holds: tuple[str, str] | None = None  # identity of the data set that it has
        self._late = False

    def do(self, order: Order, dataset: Dataset) -> Result:
        """Run a unit there; TimeoutError if it takes too long, `ProcessEndedError` if the process ends."""
        from joblib.externals.loky.backend.reduction import dump

        held, self._holds, self._late = self._holds == order.source.identity, None, False
        limit = order.time_limit
        orders, answers = self._pipes
        try:
            with self._killed_after(None if limit is None else max(limit, START)):
                pickle.dump((order.unit, order.source, order.packed), orders)
                dump(None if held else dataset, orders, protocol=5)  # straight into the pipe: no second copy in memory
                orders.flush()
                answer = pickle.load(answers)  # noqa: S301
            if answer is None:
                self._holds = order.source.identity
                with self._killed_after(limit):
                    answer = pickle.load(answers)  # noqa: S301
        except (OSError, EOFError, pickle.UnpicklingError):
            code = self.end(wait=5)
            if self._late:
                raise TimeoutError(f"took longer than {limit:.10g} s") from None
            raise ProcessEndedError(code) from None
        except BaseException:  # the pipes may hold half an order
            self.end()
            raise
        return answer

    def end(self, wait: float = 0) -> int | None:
        """Kill it with all that it has started; return its exit code, None if it did not end by itself within `wait` seconds."""
        code = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(wait)
        self.kill()
        self._process.wait()
        for pipe in self._pipes:
            with suppress(OSError):  # what it did not read any more
                pipe.close()
        return code

    @property
    def alive(self) -> bool:
        """Whether it can do another unit."""
        return self._process.returncode is None

    def kill(self) -> None:
        """Kill it; a thread that waits for its answer gets an error."""
        with suppress(ProcessLookupError, PermissionError):  # it has ended
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    @contextmanager
    def _killed_after(self, seconds: float | None) -> Iterator[None]:
        if seconds is None:
            yield
            return

        def end_late() -> None:
            self._late = True
            self.kill()

        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end_late)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # or it might kill the process during the next unit


class Workers:
    """Worker processes, one for each unit at the same time; threads may share this object. All are killed on exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[Worker] = set()
        self._idle: list[Worker] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for worker in self._busy:
                worker.kill()  # the thread that waits for it does the rest
            while self._idle:
                self._idle.pop().end()

    def do(self, task: Task, time_limit: float | None) -> Result:
        """Run a task; an error becomes a failure."""
        try:
            return self.follow(ordered(task, time_limit), load(task.source))
        except Exception as error:
            return failure(task.unit, error)

    def follow(self, order: Order, dataset: Dataset) -> Result:
        """Run an order. A unit fails only if a fresh process ends in it: earlier units may have left threads or alarms behind."""
        while True:
            with self._lent(order.threads) as (worker, fresh):
                try:
                    return worker.do(order, dataset)
                except TimeoutError as error:
                    return failure(order.unit, error)
                except ProcessEndedError as error:
                    if fresh:
                        return replace(failure(order.unit, error), killed=error.killed)

    @contextmanager
    def _lent(self, threads: int | None) -> Iterator[tuple[Worker, bool]]:
        """A worker, and whether it is fresh; it is kept for later if it lives."""
        with self._lock:
            if self._closed:
                raise RuntimeError("The study has ended.")
            fresh = not self._idle
            worker = Worker(threads) if fresh else self._idle.pop()
            self._busy.add(worker)
        try:
            yield worker, fresh
        finally:
            with self._lock:
                self._busy.remove(worker)
                if self._closed:
                    worker.end()
                elif worker.alive:
                    self._idle.append(worker)


def environment(threads: int | None) -> dict[str, str]:
    """The variables of this process, with `threads` for all libraries that compute; a smaller number that is set stays.

    >>> environment(1)["OMP_NUM_THREADS"]
    '1'
    """
    given = dict(os.environ)
    if threads is None:
        return given
    return given | {name: str(min(threads, int(given[name]) if given.get(name, "").isdecimal() else threads)) for name in THREADS}


def serve(parent: int) -> None:
    """Run what comes through standard input and answer through standard output, until the process `parent` ends."""
    orders, answers = _private_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that holds the study, which ends this one
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)
    busy = threading.Event()
    threading.Thread(target=_follow, args=(parent, busy), daemon=True).start()
    while True:
        try:
            order = pickle.load(orders)  # noqa: S301 (from the process that started this one)
        except EOFError:
            break
        busy.set()
        for answer in _answers(orders, *order):
            pickle.dump(answer, answers)
            answers.flush()
        busy.clear()
    _end()


def _answers(orders: BinaryIO, unit: Unit, source: Source, packed: bytes) -> Iterator[Result | None]:
    """None when data and method are here, from when a time limit counts; then the result."""
    try:
        dataset = pickle.load(orders)  # noqa: S301 (None: it is here from an earlier unit)
        load_split(source, unit, dataset)
        task = pickle.loads(packed)  # noqa: S301
    except BaseException as error:  # importing the method's module may raise anything
        yield failure(unit, error)
        _end()  # there may be data left in the pipe
    yield None
    try:
        yield compute(task)
    except KeyboardInterrupt as error:  # the method's own
        yield failure(unit, error)


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes under numbers that no method knows; what a method prints goes to standard error.

    A process that a method forks and leaves behind must not hold them open, or nobody would see this one end.
    """
    ours = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error
        os.dup2(nowhere, 1)
    os.close(nowhere)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # this process ends by a kill, which would lose what is buffered
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: [os.close(number) for number in ours])
    return os.fdopen(ours[0], "rb"), os.fdopen(ours[1], "wb")


def _follow(parent: int, busy: threading.Event) -> None:
    """End with the parent, however it ends, and after a long time without work."""
    last_busy = time.monotonic()
    while os.getppid() == parent:
        if busy.is_set():
            last_busy = time.monotonic()
        elif time.monotonic() - last_busy > IDLE:
            break
        time.sleep(0.5)
    _end()


def _end() -> NoReturn:
    """End at once, with all processes that methods have left behind."""
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # this process leads its group
    os._exit(0)
