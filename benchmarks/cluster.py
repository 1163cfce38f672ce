"""Fits on Dask clusters of this machine: scaling with workers, memory, and a model of the cost.

Writes benchmarks/cluster.md. The cost of a fit on n rows is taken as a + b n, from three sizes, and
checked on a fourth.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.machine import Row, at_most, facts, seconds
from skcamel import CamelClassifier, memory

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("cluster.md")
COLUMNS, LABELS, LANDMARKS, PART = 50, 20, 500, 10_000
SIZES, CHECKED = (50_000, 100_000, 200_000), 400_000
MANY, FEW_ROWS = 1_000, 500  # partitions, and rows of each
LARGE, CORES = 10**9, 400  # of the worked estimate
GIB = 2**30


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Worker processes of one thread each."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=n_workers, **options) as local, Client(local) as client:
        yield client


def made(number: int, rows: int) -> np.ndarray:
    """Rows and labels of one partition, made where it is needed: (rows, columns + labels)."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(rows, COLUMNS))
    scores = X[:, :LABELS] + X[:, 1 : LABELS + 1] * X[:, 2 : LABELS + 2]
    return np.hstack([X, scores > 0.8])


def lazily(n: int, part: int = PART) -> tuple[Any, Any]:
    """X and Y as Dask arrays whose partitions are made on the workers."""
    import dask
    import dask.array as da

    shape = (part, COLUMNS + LABELS)
    tasks = [dask.delayed(made)(k, part) for k in range(n // part)]
    parts = [da.from_delayed(task, shape, dtype=float) for task in tasks]
    both = da.concatenate(parts)
    return both[:, :COLUMNS], both[:, COLUMNS:]


def fit(n: int, part: int = PART) -> CamelClassifier:
    """The fit that is measured."""
    model = CamelClassifier(solver="landmark", n_landmarks=LANDMARKS, bandwidth=10.0)
    return model.fit(*lazily(n, part))


def run() -> list[Row]:
    with cluster(1):
        fit(PART)  # wake the worker up
        times = {n: seconds(partial(fit, n), 1) for n in (*SIZES, CHECKED)}
        one = fit(SIZES[0])
    with cluster(2) as client:
        fit(2 * PART)
        two = seconds(partial(fit, SIZES[-1]), 1)
        same = bool((fit(SIZES[0]).dual_coef_ == one.dual_coef_).all())
        fit(MANY * FEW_ROWS, FEW_ROWS)
        workers = max(client.run(memory.peak).values()) / GIB
        scheduler = client.run_on_scheduler(memory.peak) / GIB
    slope, start = np.polyfit(SIZES, [times[n] for n in SIZES], 1)
    write_page(start, slope, times)
    error = abs((start + slope * CHECKED) / times[CHECKED] - 1)
    many = f"{MANY:,} partitions: peak memory of"
    return [
        Row(f"{SIZES[-1]:,} rows: one worker / two workers", times[SIZES[-1]] / two, "x"),
        at_most("coefficients of one and of two workers differ", float(not same), 0, ""),
        at_most(f"{many} a worker", workers, 1, "GiB"),
        at_most(f"{many} scheduler and client together", scheduler, 1, "GiB"),
        at_most(f"cost model at {CHECKED:,} rows: error", error, 0.2, ""),
    ]


def operations(m: int, d: int, q: int) -> int:
    """Floating-point operations that a row takes."""
    return 2 * m * d + m**2 + 2 * m * q


def write_page(start: float, slope: float, times: dict[int, float]) -> None:
    """What was measured, and what it says of a billion rows."""
    machine = facts()
    per_row = operations(LANDMARKS, COLUMNS, LABELS)
    rate = per_row / slope
    lines = [
        "# Fits on a cluster: a cost model",
        "",
        f"Written by `python -m benchmarks cluster` on {machine['cores']} cores"
        f" ({machine['processor']}):",
        f"one worker of one thread, rows made on the worker, {COLUMNS} columns, {LABELS} labels,",
        f"{LANDMARKS} landmarks, partitions of {PART:,} rows.",
        "",
        "| rows | seconds | a + b n |",
        "|---|---|---|",
    ]
    for n, took in times.items():
        name = f"{n:,} (not used to fit)" if n == CHECKED else f"{n:,}"
        lines.append(f"| {name} | {took:.1f} | {start + slope * n:.1f} |")
    lines += [
        "",
        f"a = {start:.2f} s, b = {slope * 1e6:.1f} s for a million rows: {rate / 1e9:.1f} Gflop/s",
        f"of the {per_row:,} operations that a row takes (2 m d for its kernels, m² for the sums,",
        "2 m q for the labels), with making the rows, two passes and everything that Dask does.",
        "",
        *estimate(rate),
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def estimate(rate: float) -> list[str]:
    """Lines about a larger fit, at so many operations per second and core."""
    m, d, q = 1_000, 100, 50
    total = LARGE * operations(m, d, q)
    core_seconds = total / rate
    wall = core_seconds / CORES
    read = 2 * LARGE * (d + 1) * 8
    chains = math.ceil(LARGE / 100_000 / 8)
    moved = chains * 8 * (m**2 + 30_000 * d)
    worker = 100_000 * d * 8 + 2048 * m * 16 + 3 * 8 * m**2
    model = 8 * m * (d + q) + 30_000 * 8 * d
    speed = f"{read / 50 / wall / 1e6:,.0f} MB/s"
    sums = f"sums of {chains:,} chains of 8 partitions, 8 m² each, samples"
    return [
        f"## A worked estimate: {LARGE:,} rows, {d} columns, {q} labels, {m:,} landmarks",
        "",
        "| what | how | |",
        "|---|---|---|",
        f"| operations | n (2 m d + m² + 2 m q) | {total:.1e} |",
        f"| core hours at the rate above | | {core_seconds / 3600:,.0f} |",
        f"| hours on {CORES} cores | if reading keeps up | {wall / 3600:.1f} |",
        f"| bytes read, twice (sample, sums) | 2 n (8 d + labels) | {read / 1e12:.1f} TB |",
        f"| to read them in that time | each of 50 machines | {speed} |",
        f"| bytes moved between machines | {sums} | {moved / 1e9:,.0f} GB at most |",
        "| memory of a worker | a partition, its kernels in blocks, two sums |"
        f" {worker / GIB:.2f} GiB |",
        f"| the model that comes back | m (d + q) numbers and a sample | {model / 1e6:.0f} MB |",
    ]
