"""What passes through a server: limits on it, the requests at work, and counts for Prometheus."""

from __future__ import annotations

import asyncio
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from skcamel import memory

SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)  # bounds of the histogram
# times the largest body that is still read, and thrown away, so that whoever sends it gets to read
# the answer
DISCARDED = 4
AGAIN = "1"  # seconds after which another try makes sense


class RequestError(ValueError):
    """A request that is answered by a status and what to do about it."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and how many at once.

    Parameters
    ----------
    body : int, default=16 MiB
        Bytes of a request; more are answered by 413.
    rows : int, default=10 000
        Rows of a request; more are answered by 422.
    seconds : float, default=30
        From the last byte of a request to its answer, waiting included; afterwards it is answered
        by 503. A body has as long to arrive.
    requests : int, default=200
        Predictions at work or waiting; one more is answered by 429.
    threads : int, default=2
        Predictions computed at the same time.
    """

    body: int = 16 * 2**20
    rows: int = 10_000
    seconds: float = 30.0
    requests: int = 200
    threads: int = 2


class Gate:
    """Admits so many predictions at once and computes them in a few threads.

    A prediction that takes too long is answered without it, but keeps its place until its thread is
    done: there is never more at work
    than the limits say.

    Examples
    --------
    >>> gate = Gate(Limits(requests=1))
    >>> asyncio.run(gate.run(lambda: 3))
    3
    >>> gate.at_work
    0
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.at_work = 0
        self._counting = threading.Lock()
        self._pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="predict")

    async def run(self, work: Callable[[], Any]) -> Any:
        """What `work` returns; RequestError where it is one too many or takes too long."""
        if self.at_work >= self.limits.requests:
            raise RequestError(
                429,
                f"{self.at_work} predictions are at work or waiting, which is the limit; try again"
                " in a moment.",
            )
        self._count(1)
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._count(-1))
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            cure = "send fewer rows, ask for fewer reasons, or try again later."
            raise RequestError(503, f"no answer after {self.limits.seconds:g} s; {cure}") from None

    def _count(self, more: int) -> None:
        with self._counting:  # work ends in its thread
            self.at_work += more

    def close(self) -> None:
        """Let no more work begin."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def body_of(chunks: AsyncIterator[bytes], declared: str | None, limits: Limits) -> bytes:
    """The whole body; RequestError where it is too long or takes too long.

    Parameters
    ----------
    chunks : asynchronous iterator of bytes
    declared : str or None
        What the header says about its length.
    limits : Limits
    """
    parts: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in chunks:
                total += len(chunk)
                if total <= limits.body:
                    parts.append(chunk)
                else:
                    parts.clear()
                if total > DISCARDED * limits.body:
                    break
    except TimeoutError:
        raise RequestError(
            408,
            f"the body did not arrive within {limits.seconds:g} s; send it faster, or in smaller"
            " parts.",
        ) from None
    if total > limits.body:
        sent = (
            int(declared)
            if declared is not None and declared.isdecimal() and len(declared) < 20
            else total
        )
        raise RequestError(
            413,
            f"the body has {_size(max(sent, total))}, at most {_size(limits.body)} are taken; send"
            " fewer rows in each request.",
        )
    return b"".join(parts)


def _size(n_bytes: int) -> str:
    return f"{n_bytes:,} bytes" if n_bytes < 2**20 else memory.gib(n_bytes)


@dataclass
class Counts:
    """How many requests came, how they were answered and how long that took; rows predicted.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.add("/predict", 200, 0.02)
    >>> [line for line in counts.text(at_work=1).splitlines() if line.startswith("skcamel_requests_total")]
    ['skcamel_requests_total{path="/predict",status="200"} 1']
    """

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    buckets: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    seconds: float = 0.0
    rows: int = 0
    began: float = field(default_factory=time.time)

    def add(self, path: str, status: int, seconds: float) -> None:
        """One request more."""
        self.requests[path, status] += 1
        if path == "/predict":
            self.buckets[bisect_left(SECONDS, seconds)] += 1
            self.seconds += seconds

    def text(self, at_work: int) -> str:
        """In the text format of Prometheus."""
        lines: list[str] = []

        def told(name: str, kind: str, what: str, values: dict[str, float]) -> None:
            lines.extend([f"# HELP skcamel_{name} {what}", f"# TYPE skcamel_{name} {kind}"])
            lines.extend(f"skcamel_{key} {value!r}" for key, value in values.items())

        told(
            "requests_total",
            "counter",
            "Requests answered, by path and status.",
            {
                f'requests_total{{path="{path}",status="{status}"}}': count
                for (path, status), count in sorted(self.requests.items())
            },
        )
        total, series = 0, dict[str, float]()
        for bound, count in zip((*SECONDS, "+Inf"), self.buckets, strict=True):
            total += count
            series[f'predict_seconds_bucket{{le="{bound}"}}'] = total
        series |= {"predict_seconds_sum": self.seconds, "predict_seconds_count": total}
        told(
            "predict_seconds",
            "histogram",
            "Time of requests for predictions, reading and waiting included.",
            series,
        )
        told("rows_total", "counter", "Rows predicted.", {"rows_total": self.rows})
        told(
            "predictions_at_work",
            "gauge",
            "Predictions at work or waiting.",
            {"predictions_at_work": at_work},
        )
        told(
            "resident_bytes",
            "gauge",
            "Memory of this process.",
            {"resident_bytes": memory.resident()},
        )
        told(
            "start_time_seconds",
            "gauge",
            "When this process began to serve, in seconds from 1970.",
            {"start_time_seconds": self.began},
        )
        return "\n".join(lines) + "\n"
