"""Tasks ► results, in any order: in this process, by joblib, or on a Dask cluster. Tasks are drawn only as they can be started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from skcamel import memory
from skcamel.experiment.compute import Result, Task, compute, failure
from skcamel.experiment.sources import load


def in_this_process(tasks: Iterable[Task]) -> Iterator[Result]:
    """One after the other."""
    for task in tasks:
        yield compute(task)


def by_joblib(tasks: Iterable[Task], n_jobs: int | None, backend: str | None) -> Iterator[Result]:
    """In parallel on this machine, or wherever the backend of ``joblib.parallel_config`` works.

    BLAS gets as many threads in each worker as there are cores for it, and each unit an equal share of the memory that is free
    here now: a unit that needs more fails before it allocates, and says so. (A Dask cluster has machines of its own: there a
    unit looks at what is free where it runs.)
    """
    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    threads = max(1, (os.cpu_count() or 1) // max(1, effective_n_jobs(n_jobs)))
    free = memory.available()
    share = None if free is None else free // max(1, effective_n_jobs(n_jobs))
    work = Parallel(n_jobs=n_jobs, backend=backend, return_as="generator_unordered", batch_size=1)
    results = work(delayed(compute)(replace(task, threads=threads, allowance=share)) for task in tasks)
    try:
        yield from results
    except TerminatedWorkerError as error:
        raise ChildProcessError("A worker process was killed, most often for want of memory; run again, with a smaller n_jobs.") from error
    finally:
        results.close()


def by_dask(tasks: Iterable[Task], cluster: Any) -> Iterator[Result]:
    """On a Dask cluster, given by the address of its scheduler or by a client; units of a worker that dies are done by others.

    Data sets travel there once, so that workers need no files. They are the result of a task that does nothing, not
    scattered: when the only worker that has a data set dies, the scheduler can make it again.
    """
    try:
        import dask
        from distributed import Client, as_completed
    except ImportError as error:
        raise ImportError("A Dask cluster needs: pip install 'skcamel[distributed]'") from error
    if isinstance(cluster, str):
        _check_address(cluster)
    client = Client(cluster, set_as_default=False) if isinstance(cluster, str) else cluster
    waiting = iter(tasks)
    data: dict[str, Any] = {}  # name of a data set ► future
    running: dict[str, Task] = {}

    def start_some(count: int) -> Iterator[Any]:
        for _, task in zip(range(count), waiting, strict=False):
            if task.source.name not in data:
                with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):  # sent once, on purpose
                    data[task.source.name] = client.submit(_as_it_is, load(task.source), pure=False)
            future = client.submit(compute, task, data[task.source.name], pure=False)
            running[future.key] = task
            yield future

    try:
        done = as_completed(start_some(_wanted(client)), loop=client.loop)
        for future in done:
            task = running.pop(future.key)
            error = future.exception()
            yield future.result() if error is None else failure(task.unit, error)
            done.update(start_some(max(0, _wanted(client) - len(running))))
    finally:
        if client is not cluster:
            client.close()


def _check_address(address: str) -> None:
    """Refuse what is no address: the client would leave threads behind that delay the end by a minute."""
    from distributed.comm import get_address_host_port

    try:
        if not address.startswith(("inproc://", "ucx://")):  # these have no host and port, or need their own libraries to tell
            get_address_host_port(address)
    except ValueError as error:
        raise ValueError(f"dask={address!r}: {error}; give the address of a scheduler, as tcp://host:8786.") from error


def _wanted(client: Any) -> int:
    """Tasks in flight: two for each thread, so that none waits for the coordinator; some before the first worker comes."""
    return max(2, 2 * sum(client.nthreads().values()))


def _as_it_is(dataset: Any) -> Any:
    return dataset
