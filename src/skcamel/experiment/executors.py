"""Tasks ► results, in any order: in this process, in others, by joblib, or on a Dask cluster. Tasks are drawn as they can be started."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any
from uuid import uuid4

from skcamel import memory
from skcamel.data.dataset import Dataset
from skcamel.experiment.compute import Result, Task, compute, failure, load
from skcamel.experiment.processes import Order, Workers, ordered

Results = Generator[Result, None, None]
Executor = Callable[[Iterable[Task]], Results]
LOOK_UP = 1.0  # seconds after which the coordinator looks up: on Windows a wait without end cannot be interrupted


def executor(n_jobs: int | None, backend: str | None, dask: Any, time_limit: float | None, units: int) -> Executor:
    """Choose how tasks are run; :func:`skcamel.experiment.run_study` explains the parameters."""
    if dask is not None:
        return partial(alone_if_killed, partial(by_dask, cluster=dask, time_limit=time_limit))
    from joblib import effective_n_jobs, parallel_config
    from joblib.parallel import LokyBackend, MultiprocessingBackend, get_active_backend

    with nullcontext() if backend is None else parallel_config(backend=backend):
        kind, jobs = get_active_backend()[0], effective_n_jobs(n_jobs)
    if jobs > units:  # they share all cores
        n_jobs = jobs = max(1, units)
    if backend is None and jobs == 1:
        chosen = in_this_process if time_limit is None else partial(by_processes, n_jobs=1, time_limit=time_limit)
    elif isinstance(kind, (LokyBackend, MultiprocessingBackend)):
        chosen = partial(by_processes, n_jobs=jobs, time_limit=time_limit)
    else:
        in_threads = getattr(kind, "uses_threads", False) and time_limit is None
        chosen = partial(by_joblib, n_jobs=n_jobs, backend=backend, in_threads=in_threads, time_limit=time_limit)
    return partial(alone_if_killed, chosen)


def alone_if_killed(execute: Executor, tasks: Iterable[Task]) -> Results:
    """Run tasks; those whose process was killed run once more after all others, one by one.

    When memory runs out, the system may kill another process than the one that used it up. Alone, the former succeeds, and
    the latter is killed again.
    """
    drawn: dict[str, Task] = {}

    def noted() -> Iterator[Task]:
        for task in tasks:
            drawn[task.unit.key] = task
            yield task

    killed: list[Task] = []
    with closing(execute(noted())) as results:
        for result in results:
            task = drawn.pop(result.unit.key)
            if result.killed:
                killed.append(task)
            else:
                yield result
    for task in killed:
        with closing(execute([task])) as results:
            yield from results


def in_this_process(tasks: Iterable[Task]) -> Results:
    """One after the other."""
    for task in tasks:
        yield compute(task)


def by_processes(tasks: Iterable[Task], n_jobs: int, time_limit: float | None) -> Results:
    """In worker processes on this machine, each with its share of cores and memory."""
    waiting = map(_sharing(n_jobs), tasks)
    running: set[Future[Result]] = set()
    with ThreadPoolExecutor(n_jobs) as drivers, Workers() as workers:
        while True:
            more = islice(waiting, n_jobs - len(running))
            running |= {drivers.submit(workers.do, task, time_limit) for task in more}
            if not running:
                return
            done, running = wait(running, timeout=LOOK_UP, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


def by_joblib(tasks: Iterable[Task], n_jobs: int | None, backend: str | None, *, in_threads: bool, time_limit: float | None) -> Results:
    """By a backend of joblib: in threads of this process, or in worker processes that the processes of the backend start."""
    from joblib import Parallel, delayed, effective_n_jobs

    sharing, study = _sharing(max(1, effective_n_jobs(n_jobs))), uuid4().hex
    do = compute if in_threads else partial(_in_worker_of, study, time_limit=time_limit)
    work = Parallel(n_jobs=n_jobs, backend=backend, return_as="generator_unordered", batch_size=1)
    results = work(delayed(do)(sharing(task)) for task in tasks)
    try:
        yield from results
    finally:
        end_workers(study)
        results.close()


def by_dask(tasks: Iterable[Task], cluster: Any, time_limit: float | None) -> Results:
    """On a Dask cluster, given by the address of its scheduler or by a client; others repeat the units of a worker that dies.

    The Dask worker runs units in a process of their own, so that a method that crashes does not end the worker with its data and
    its other units. Data sets travel once, so that workers need no files. They are the result of a task that does nothing rather
    than scattered: if the only worker that has a data set dies, the scheduler can make it again.
    """
    try:
        import dask
        from distributed import Client, KilledWorker, as_completed
        from distributed.comm import get_address_host
    except ImportError as error:
        raise ImportError("A Dask cluster needs: pip install 'skcamel[distributed]'") from error
    client = Client(checked_address(cluster), set_as_default=False) if isinstance(cluster, str) else cluster
    study = uuid4().hex
    refused: list[Result] = []
    waiting = _packed(tasks, time_limit, refused)
    data: dict[str, Any] = {}  # name of a data set ► future
    running: dict[str, Order] = {}

    def start_some(count: int) -> list[Any]:
        """Futures of the next tasks; all are started before `as_completed` takes them, since it holds a lock that the client needs."""
        started: list[Any] = []
        slots = Counter[str]()  # threads of the workers on each machine
        for address, threads in client.nthreads().items():
            slots[get_address_host(address)] += threads
        for order, dataset in islice(waiting, count):
            name = order.source.name
            if name not in data or data[name].status not in ("pending", "finished"):  # it was lost with too many workers
                with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # sent once, on purpose
                    data[name] = client.submit(_as_it_is, dataset, pure=False)
            future = client.submit(_on_dask_worker, study, order, data[name], dict(slots), pure=False)
            running[future.key] = order
            started.append(future)
        return started

    try:
        done = as_completed(start_some(_wanted(client)), loop=client.loop)
        for future in done:
            order = running.pop(future.key)
            try:  # a finished result may be lost with its worker before it is here; then the unit runs again, and that may fail
                result = future.result()
            except (KilledWorker, CancelledError):
                lost = "every Dask worker that ran it was lost, most often for lack of memory; see the logs of the cluster"
                result = replace(failure(order.unit, ChildProcessError(lost)), killed=True)
            except Exception as error:
                result = failure(order.unit, error)
            yield result
            done.update(start_some(max(0, _wanted(client) - len(running))))
        yield from refused
    finally:
        with suppress(OSError, RuntimeError, CancelledError):  # the cluster is gone, and its processes with it
            client.run(end_workers, study, on_error="ignore")
        if client is not cluster:
            client.close()


def _sharing(units: int) -> Callable[[Task], Task]:
    """Give a task its share of cores and free memory if so many run at the same time.

    A unit that needs more memory fails before it allocates, and says so. On a Dask cluster a unit looks at what is free where it runs.
    """
    threads, free = share_of_cores(units), memory.available()
    return lambda task: replace(task, threads=threads, allowance=None if free is None else free // units)


def share_of_cores(units: int) -> int:
    """Cores for each of so many units at the same time, of those that this process may use (affinity, container)."""
    import joblib

    return max(1, joblib.cpu_count() // units)


def _packed(tasks: Iterable[Task], time_limit: float | None, refused: list[Result]) -> Iterator[tuple[Order, Dataset]]:
    """Orders with their data; what cannot travel is collected in `refused`."""
    for task in tasks:
        try:
            order, dataset = ordered(task, time_limit), load(task.source)
        except Exception as error:
            refused.append(failure(task.unit, error))
        else:
            yield order, dataset


_workers: dict[str, Workers] = {}  # of each study that this process works for, by a name that all its processes know


def _in_worker_of(study: str, task: Task, time_limit: float | None) -> Result:
    return _workers.setdefault(study, Workers()).do(task, time_limit)


def _on_dask_worker(study: str, order: Order, dataset: Dataset, slots: dict[str, int]) -> Result:
    from distributed import get_worker
    from distributed.comm import get_address_host

    worker = get_worker()
    threads = share_of_cores(slots.get(get_address_host(worker.address), worker.state.nthreads))
    return _workers.setdefault(study, Workers()).follow(replace(order, threads=threads), dataset)


def end_workers(study: str) -> None:
    """End the worker processes that this process has started for a study."""
    if study in _workers:
        _workers.pop(study).__exit__()


def checked_address(address: str) -> str:
    """Refuse what is not an address: the client would leave threads that delay the end by a minute."""
    from distributed.comm import get_address_host_port

    try:
        if not address.startswith(("inproc://", "ucx://")):  # these have no host and port, or need their own libraries to tell
            get_address_host_port(address)
    except ValueError as error:
        raise ValueError(f"dask={address!r}: {error}; give the address of a scheduler, as tcp://host:8786.") from error
    return address


def _wanted(client: Any) -> int:
    """Tasks in flight: two for each thread, so that none waits for the coordinator; some before the first worker comes."""
    return max(2, 2 * sum(client.nthreads().values()))


def _as_it_is(dataset: Dataset) -> Dataset:
    return dataset
