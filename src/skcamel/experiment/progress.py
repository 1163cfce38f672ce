"""How a run shows what becomes of its units: bars in a terminal, else lines, or whatever a listener does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from skcamel.experiment.units import Unit
from skcamel.metrics.conventions import choice
from skcamel.text import one_line

PROGRESS = ("auto", "bars", "lines", "quiet")


class Event(NamedTuple):
    """Something became of a unit."""

    unit: Unit
    state: str  # "done" or "failed"
    seconds: float  # of the work
    finished: int  # units that need no more work in this run
    total: int


Listener = Callable[[Event], None]


@contextmanager
def listener(
    progress: str | Listener | None, units: dict[str, int], finished: dict[str, int], stream: IO[str] | None = None
) -> Iterator[Listener]:
    """The function to call with each event, from the units of each data set and how many of them were finished before."""
    stream = sys.stderr if stream is None else stream
    if callable(progress):
        yield progress
        return
    kind = choice(progress or "quiet", PROGRESS, "progress")
    if kind == "auto":
        kind = "bars" if stream.isatty() else "lines"
    if kind == "quiet":
        yield lambda _: None
    elif kind == "lines":
        yield _lines(stream, sum(units.values()), sum(finished.values()))
    else:
        with _bars(stream, units, finished) as tell:
            yield tell


def _lines(stream: IO[str], total: int, before: int) -> Listener:
    start = time.monotonic()
    if before:
        stream.write(f"{before} of {total} units are done already\n")

    def tell(event: Event) -> None:
        here = event.finished - before
        left = (time.monotonic() - start) / max(1, here) * (event.total - event.finished)
        what = {"done": f"{event.seconds:.1f} s", "failed": "FAILED"}[event.state]
        stream.write(f"{event.finished}/{event.total}  {one_line(str(event.unit))}: {what}, {duration(left)} left\n")
        stream.flush()

    return tell


@contextmanager
def _bars(stream: IO[str], units: dict[str, int], finished: dict[str, int]) -> Iterator[Listener]:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    except ImportError as error:
        raise ImportError("Progress bars need: pip install 'skcamel[cli]'; or choose progress='lines'.") from error

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(TextColumn("{task.description}", markup=False), *columns, console=Console(file=stream)) as bars:
        tasks = {name: bars.add_task(one_line(name), total=count, completed=finished.get(name, 0)) for name, count in units.items()}
        whole = bars.add_task("all", total=sum(units.values()), completed=sum(finished.values()))

        def tell(event: Event) -> None:
            bars.advance(tasks[event.unit.dataset])
            bars.advance(whole)
            if event.state == "failed":
                bars.console.print(f"{one_line(str(event.unit))}: FAILED", highlight=False, markup=False, emoji=False)

        yield tell


def duration(seconds: float) -> str:
    """A time span to read at a glance.

    >>> duration(7.2), duration(75), duration(7500)
    ('7 s', '1 min 15 s', '2 h 05 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02d} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02d} min"
