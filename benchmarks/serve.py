"""A server under 50 clients against calls in this process and a bare echo; memory; odd requests.

Clients are plain sockets in this process, the server has its own, and what both cost is measured.
Each request holds one row of yeast, 103 columns. Calls in this process and requests take
turns, because other work on the machine slows down both; BLAS has one thread.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import threadpoolctl
from fastapi import FastAPI, Request
from fastapi.responses import Response

from benchmarks.machine import Row, anonymous, at_least, at_most, cpu_seconds
from skcamel import CamelClassifier, save
from skcamel.data import load_dataset
from skcamel.serve import app as serving

CLIENTS, REQUESTS, LONG, ODD = 50, 10_000, 50_000, 10_000
TURNS, CALLS = 10, 500  # in which the requests are sent, and calls in this process in each


class Load(NamedTuple):
    """What clients saw."""

    answered: int  # by 200
    failed: int  # by anything else
    unanswered: int  # without an answer
    seconds: float
    times: list[float]

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answered / self.seconds

    @property
    def p99(self) -> float:
        """Seconds that one in a hundred exceeds."""
        return float(np.quantile(self.times, 0.99))


async def client(
    host: str, port: int, request: bytes, left: list[int], seen: dict[str, Any]
) -> None:
    """Send requests while any is left, over a new connection where the server closes one."""
    reader = writer = None
    while left[0] > 0:
        left[0] -= 1
        start = time.perf_counter()
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection(host, port)
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: (\d+)", head)[1])
            await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            seen["unanswered"] += 1
            return
        seen["times"].append(time.perf_counter() - start)
        seen["answered" if head.startswith(b"HTTP/1.1 200") else "failed"] += 1
        if b"connection: close" in head:
            writer.close()
            writer = None
    if writer is not None:
        writer.close()


async def clients(address: str, body: bytes, n: int) -> Load:
    """So many requests by 50 clients."""
    host, port = address.removeprefix("http://").split(":")
    head = [
        "POST /predict HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    request = "\r\n".join([*head, "", ""]).encode() + body
    seen: dict[str, Any] = {"answered": 0, "failed": 0, "unanswered": 0, "times": []}
    left, start = [n], time.perf_counter()
    sending = [client(host, int(port), request, left, seen) for _ in range(CLIENTS)]
    await asyncio.gather(*sending)
    return Load(**seen, seconds=time.perf_counter() - start)


def load(address: str, body: bytes, n: int) -> Load:
    return asyncio.run(clients(address, body, n))


@contextmanager
def process(*command: str) -> Any:
    """A server in a process of its own, and its address, which is in its first line."""
    with subprocess.Popen(
        [sys.executable, "-m", *command],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as running:
        try:
            found = re.search(r"at (http://\S+)", running.stderr.readline())
            yield running, found[1]
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGTERM)
                running.communicate()


def echo() -> None:
    """A server that sends back what it gets."""
    app = FastAPI()

    @app.post("/predict")
    async def answer(request: Request) -> Response:
        return Response(await request.body(), media_type="application/json")

    listening = serving.bound("127.0.0.1", 0)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    print(f"at {address}", file=sys.stderr, flush=True)
    serving.run(app, listening)


def run() -> list[Row]:
    yeast = load_dataset("yeast")
    model = CamelClassifier(scaling="standard", threshold="macro_f1")
    model.fit(yeast.X[:1500], yeast.labels[:1500])
    row = yeast.X[2000:2001]
    names = [f"x{j + 1}" for j in range(row.shape[1])]
    body = json.dumps({"rows": [dict(zip(names, row[0].tolist(), strict=True))]}).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "yeast.skcamel"))
        save(model, path)
        with process("benchmarks.serve") as (_, address):
            load(address, body, CLIENTS)
            bare = load(address, body, REQUESTS)
        with process("skcamel", "serve", path, "--port", "0") as (server, address):
            load(address, body, 2_000)
            with threadpoolctl.threadpool_limits(1):
                turns = [Turn.of(model, row, server.pid, address, body) for _ in range(TURNS)]
            rows = against(turns, bare)
            before = anonymous(server.pid)
            many = load(address, body, LONG)
            growth = anonymous(server.pid) / max(before, 1)
            what = f"{LONG:,} requests more: requests without a prediction"
            rows.append(at_most(what, many.failed + many.unanswered, 0, ""))
            rows.append(at_most("memory of the server after them / before", growth, 1.05))
        return [*rows, *stopping(path, body), odd_requests()]


class Turn(NamedTuple):
    """Calls in this process, and requests right after them."""

    calls: list[float]  # seconds of each
    served: Load
    cpu_calls: float  # seconds of CPU for each call
    cpu_server: float  # for each request
    cpu_clients: float

    @classmethod
    def of(cls, model: Any, row: Any, server: int, address: str, body: bytes) -> Turn:
        """Measure both."""
        n = REQUESTS // TURNS
        began = time.process_time()
        calls = [timed(lambda: model.outputs(row).probabilities) for _ in range(CALLS)]
        between, of_server = time.process_time(), cpu_seconds(server)
        served = load(address, body, n)
        of_server = cpu_seconds(server) - of_server
        of_clients = time.process_time() - between
        return cls(calls, served, (between - began) / CALLS, of_server / n, of_clients / n)

    @property
    def rate(self) -> float:
        """Of requests, as a share of the rate of calls."""
        return self.served.rate * float(np.mean(self.calls))


def timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def against(turns: list[Turn], bare: Load) -> list[Row]:
    """The server beside calls in this process and beside the echo."""
    what = f"{CLIENTS} clients, {REQUESTS:,} requests"
    failed = sum(turn.served.failed + turn.served.unanswered for turn in turns)
    rate = float(np.median([turn.rate for turn in turns]))
    server = sum(turn.cpu_server for turn in turns)
    cpu = sum(turn.cpu_calls for turn in turns) / server
    clients = sum(turn.cpu_clients for turn in turns) / server
    served_rate = float(np.median([turn.served.rate for turn in turns]))
    p99 = float(np.quantile(np.concatenate([turn.served.times for turn in turns]), 0.99))
    late = p99 / float(np.quantile(np.concatenate([turn.calls for turn in turns]), 0.99))
    return [
        at_most(f"{what}: requests without a prediction", failed, 0, ""),
        at_least(f"{what}: rate / rate of one thread that predicts in this process", rate, 0.4),
        at_least(f"{what}: CPU of a call in this process / of a request in the server", cpu, 0.4),
        Row(f"{what}: CPU of the clients / of the server", clients, "x"),
        Row(f"{what}: rate / rate of a bare FastAPI echo", served_rate / bare.rate, "x"),
        Row(f"{what}: p99 / p99 of the echo", p99 / bare.p99, "x"),
        Row(f"{what}: p99 / p99 of calls in this process, one at a time", late, "x"),
    ]


def stopping(path: str, body: bytes) -> list[Row]:
    """SIGTERM while 50 clients send: requests that the server took against answers that came."""

    async def stopped(server: Any, address: str) -> Load:
        work = asyncio.create_task(clients(address, body, 10**9))
        await asyncio.sleep(2)
        server.send_signal(signal.SIGTERM)
        return await work

    with process("skcamel", "serve", path, "--port", "0") as (server, address):
        seen = asyncio.run(stopped(server, address))
        _, said = server.communicate()
    taken = int(re.search(r"Stopped; ([\d,]+) request", said)[1].replace(",", ""))
    return [
        at_most(
            "SIGTERM under load: requests taken and not answered", taken - seen.answered, 0, ""
        ),
        Row("SIGTERM under load: requests answered before the end", seen.answered, ""),
    ]


def odd_requests() -> Row:
    """Requests of the fuzzer that end in 500, in a traceback or in no JSON."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from fuzzing.requests import attack

    wrong = 0
    for seed in range(ODD):
        try:
            attack(seed, Path())
        except AssertionError:
            wrong += 1
    return at_most(f"{ODD:,} odd requests: answered by 500, or with a traceback", wrong, 0, "")


if __name__ == "__main__":
    echo()
