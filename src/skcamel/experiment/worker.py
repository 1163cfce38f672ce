"""The worker's side of :mod:`skcamel.experiment.processes`: a process that does one unit after another until it is ended."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from skcamel.experiment.compute import Result, compute, failure
from skcamel.experiment.sources import Source, load_split
from skcamel.experiment.units import Unit

IDLE = 300.0  # seconds without work after which a worker ends: who started it may have forgotten it, as on a cluster
FIRST_TO_GO = "500"  # where memory runs out, Linux takes the worker rather than the process that holds the study


def serve(parent: int) -> None:
    """Do what comes through standard input and answer through standard output, until the parent process ends.

    Parameters
    ----------
    parent : int
        Number of the process that started this one.
    """
    orders, answers = _private_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that holds the study, which ends this one
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO)
    clock = _Clock()
    threading.Thread(target=_follow, args=(parent, clock), daemon=True).start()
    while True:
        try:
            order = pickle.load(orders)  # noqa: S301 (from the process that started this one)
        except EOFError:
            break
        clock.idle_since = None
        for answer in _answers(orders, *order):
            pickle.dump(answer, answers)
            answers.flush()
        clock.idle_since = time.monotonic()
    _end()


def _answers(orders: BinaryIO, unit: Unit, source: Source, packed: bytes) -> Iterator[Result | None]:
    """None when data and method are here, so that a time limit counts from then; then the result."""
    try:
        dataset = pickle.load(orders)  # noqa: S301 (None: it is here from an earlier unit)
        load_split(source, unit.folds, unit.n_folds, unit.seed, unit.fold, dataset)
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

    A process that a method forks and leaves behind must not hold them open: then nobody would see this one end.
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


class _Clock:
    """Since when this worker has had nothing to do; None while it works."""

    def __init__(self) -> None:
        self.idle_since: float | None = time.monotonic()


def _follow(parent: int, clock: _Clock) -> None:
    """End with the parent, however it ends, and after a long time without work."""
    while os.getppid() == parent:
        idle_since = clock.idle_since
        if idle_since is not None and time.monotonic() - idle_since > IDLE:
            break
        time.sleep(0.5)
    _end()


def _end() -> NoReturn:
    """End at once, with all processes that methods have left behind."""
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)  # this process leads its group
    os._exit(0)
