"""Fits on Dask clusters of this machine: scaling with workers, memory of many partitions, and a model of what larger ones cost.

Writes benchmarks/cluster.md. The cost of a fit on n rows is taken as a + b n, from three sizes, and
checked on a fourth.
"""

from __future__ import annotations

import math
import warnings
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


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Worker processes of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        yield client


def made(number: int, rows: int) -> np.ndarray:
    """Rows and labels of one partition, made where it is needed: (rows, columns + labels)."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(rows, COLUMNS))
    return np.hstack([X, X[:, :LABELS] + X[:, 1 : LABELS + 1] * X[:, 2 : LABELS + 2] > 0.8])


def lazily(n: int, part: int = PART) -> tuple[Any, Any]:
    """X and Y as Dask arrays whose partitions are made on the workers."""
    import dask
    import dask.array as da

    parts = [
        da.from_delayed(dask.delayed(made)(k, part), (part, COLUMNS + LABELS), dtype=float)
        for k in range(n // part)
    ]
    both = da.concatenate(parts)
    return both[:, :COLUMNS], both[:, COLUMNS:]


def fit(n: int, part: int = PART) -> CamelClassifier:
    """The fit that is measured."""
    return CamelClassifier(solver="landmark", n_landmarks=LANDMARKS, bandwidth=10.0).fit(
        *lazily(n, part)
    )


def run() -> list[Row]:
    warnings.simplefilter("ignore")
    with cluster(1):
        fit(PART)  # wake the worker up
        times = {n: seconds(partial(fit, n), 1) for n in (*SIZES, CHECKED)}
        one = fit(SIZES[0])
    with cluster(2) as client:
        fit(2 * PART)
        two = seconds(partial(fit, SIZES[-1]), 1)
        same = bool((fit(SIZES[0]).dual_coef_ == one.dual_coef_).all())
        fit(MANY * FEW_ROWS, FEW_ROWS)
        workers = max(client.run(memory.peak).values())
        scheduler = client.run_on_scheduler(memory.peak)
    slope, start = np.polyfit(SIZES, [times[n] for n in SIZES], 1)
    predicted = start + slope * CHECKED
    _write(start, slope, times, predicted)
    return [
        Row(f"{SIZES[-1]:,} rows: one worker / two workers", times[SIZES[-1]] / two, "x"),
        at_most("coefficients of one and of two workers differ", float(not same), 0, ""),
        at_most(f"{MANY:,} partitions: peak memory of a worker", workers / 2**30, 1, "GiB"),
        at_most(
            f"{MANY:,} partitions: peak memory of scheduler and client together",
            scheduler / 2**30,
            1,
            "GiB",
        ),
        at_most(
            f"cost model at {CHECKED:,} rows: error", abs(predicted / times[CHECKED] - 1), 0.2, ""
        ),
    ]


def _write(start: float, slope: float, times: dict[int, float], predicted: float) -> None:
    """The page: what was measured, and what it says of a billion rows."""
    flops = 2 * LANDMARKS * COLUMNS + LANDMARKS**2 + 2 * LANDMARKS * LABELS
    per_core = flops / slope
    m, d, q = 1_000, 100, 50
    work = 2 * m * d + m**2 + 2 * m * q  # of a row
    core_seconds = LARGE * work / per_core
    read = LARGE * (d + 1) * 8
    chains = math.ceil(LARGE / 100_000 / 8)
    moved, held = chains * 8 * (m**2 + 30_000 * d), 100_000 * d * 8 + 2048 * m * 16 + 3 * 8 * m**2
    lines = [
        "# Fits on a cluster: a cost model",
        "",
        (
            f"Written by `python -m benchmarks cluster` on {facts()['cores']} cores"
            f" ({facts()['processor']}); one worker of one thread,"
        ),
        (
            f"rows made on the worker, {COLUMNS} columns, {LABELS} labels, {LANDMARKS} landmarks,"
            f" partitions of {PART:,} rows."
        ),
        "",
        "| rows | seconds | a + b n |",
        "|---|---|---|",
        *(f"| {n:,} | {times[n]:.1f} | {start + slope * n:.1f} |" for n in SIZES),
        f"| {CHECKED:,} (not used to fit) | {times[CHECKED]:.1f} | {predicted:.1f} |",
        "",
        (
            f"a = {start:.2f} s, b = {slope * 1e6:.1f} s for a million rows: {per_core / 1e9:.1f}"
            f" Gflop/s of the {flops:,}"
        ),
        (
            "operations that a row takes (2 m d for its kernels, m² for the sums, 2 m q for the"
            " labels), with making the rows, two passes and"
        ),
        "everything that Dask does.",
        "",
        f"## A worked estimate: {LARGE:,} rows, {d} columns, {q} labels, {m:,} landmarks",
        "",
        "| what | how | |",
        "|---|---|---|",
        f"| operations | n (2 m d + m² + 2 m q) | {LARGE * work:.1e} |",
        f"| core hours at the rate above | | {core_seconds / 3600:,.0f} |",
        f"| hours on {CORES} cores | if reading keeps up | {core_seconds / 3600 / CORES:.1f} |",
        f"| bytes read, twice (survey, sums) | 2 n (8 d + labels) | {2 * read / 1e12:.1f} TB |",
        (
            "| to read them in that time | each of 50 machines |"
            f" {2 * read / 50 / (core_seconds / CORES) / 1e6:,.0f} MB/s |"
        ),
        (
            f"| bytes moved between machines | sums of {chains:,} chains of 8 partitions, 8 m²"
            f" each, samples | {moved / 1e9:,.0f} GB at most |"
        ),
        (
            "| memory of a worker | a partition, its kernels in blocks, two sums |"
            f" {held / 2**30:.2f} GiB |"
        ),
        (
            "| the model that comes back | m (d + q) numbers and a sample |"
            f" {(8 * m * (d + q) + 30_000 * 8 * d) / 1e6:.0f} MB |"
        ),
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
