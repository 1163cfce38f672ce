"""Ten million rows of Parquet and a million of CSV: the time of ``skcamel fit`` and ``predict`` against bare reading, and their memory."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.machine import Row, at_most, seconds

ROWS = {".parquet": 10_000_000, ".csv": 1_000_000}
BLOCK = 200_000  # rows made at once
D, Q = 20, 5
DISK = 6e9  # bytes: the files, and predictions for them
LIMIT = 2.0  # GiB
FIT = ("--labels", "topic_*", "--max-memory", "1GiB", "--force")


class Run(NamedTuple):
    """How long a command took, and how much memory of its own it had at the peak."""

    seconds: float
    gib: float


def run(most: int = max(ROWS.values())) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 2 * DISK:
            raise OSError(f"{folder} has {free / 1e9:.0f} GB free, and {2 * DISK / 1e9:.0f} GB are wanted; set TMPDIR.")
        return [row for suffix, n in ROWS.items() for row in measured(Path(folder), suffix, min(n, most))]


def measured(folder: Path, suffix: str, n: int) -> list[Row]:
    """Fit and predict one file, which takes a process each, against going through its rows once."""
    path = made(folder / f"rows{suffix}", n)
    bare = seconds(partial(read, path), 1)
    model, out = folder / "model.skcamel", folder / f"predictions{suffix}"
    fitted = command("fit", path, *FIT, "-o", model)
    predicted = command("predict", model, path, "--no-decisions", "-o", out)
    what = f"{n:,} rows of {D} columns, {suffix}"
    return [
        Row(f"{what}: time of fit / of bare reading by pyarrow", fitted.seconds / bare, "x"),
        Row(f"{what}: time of predict / of bare reading by pyarrow", predicted.seconds / bare, "x"),
        at_most(f"{what}: anonymous memory at the peak, fit", fitted.gib, LIMIT, "GiB"),
        at_most(f"{what}: anonymous memory at the peak, predict", predicted.gib, LIMIT, "GiB"),
    ]


def made(path: Path, n: int) -> Path:
    """Write rows block by block: normal features, and labels that depend on them."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(D, Q))
    names = [*(f"x{k}" for k in range(D)), *(f"topic_{k}" for k in range(Q))]
    schema = pa.schema([(name, pa.float64() if name[0] == "x" else pa.int8()) for name in names])
    kind = pa.parquet.ParquetWriter if path.suffix == ".parquet" else pa.csv.CSVWriter
    with kind(path, schema) as writer:
        for start in range(0, n, BLOCK):
            X = rng.normal(size=(min(BLOCK, n - start), D))
            Y = (X @ weights + rng.normal(size=(len(X), Q)) > 1).astype(np.int8)
            writer.write_table(pa.table([*X.T, *Y.T], schema=schema))
    return path


def read(path: Path) -> int:
    """Go through the rows once, in batches."""
    if path.suffix == ".parquet":
        with pa.parquet.ParquetFile(path) as file:
            return sum(len(batch) for batch in file.iter_batches(2**16))
    with pa.csv.open_csv(path) as batches:
        return sum(len(batch) for batch in batches)


def command(*arguments: object) -> Run:
    """Run ``skcamel`` in a process of its own, and look at its memory ten times a second."""
    start, peak = time.perf_counter(), 0
    with subprocess.Popen([sys.executable, "-m", "skcamel", *map(str, arguments)], stdout=subprocess.DEVNULL) as process:  # noqa: S603
        while process.poll() is None:
            peak = max(peak, anonymous(process.pid))
            time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"skcamel {arguments[0]} failed")
    return Run(time.perf_counter() - start, peak / 2**30)


def anonymous(process: int) -> int:
    """Bytes of memory that no file stands behind; 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)
