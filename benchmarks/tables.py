"""A CSV file of 200 MB with mixed columns: time of ``read_columns`` against pyarrow, and memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv

from benchmarks.machine import Row, at_most, seconds
from skcamel.data import read_columns

SIZE = 200e6  # bytes
BLOCK = 20_000  # rows made at once, and repeated
PEAK = """
import sys
from skcamel import memory
from skcamel.data.tables import read_columns
before = memory.resident()
table = read_columns(sys.argv[1])
print(memory.peak() - before)
"""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder))
        ours = seconds(partial(read_columns, path), 3)
        bare = seconds(partial(pyarrow.csv.read_csv, path), 3)
        memory = peak(path) / path.stat().st_size
    return [
        at_most("200 MB of CSV: time / bare pyarrow", ours / bare, 2),
        at_most("200 MB of CSV: peak memory / size of the file", memory, 4),
    ]


def peak(path: Path) -> float:
    """Resident memory that reading takes in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def made(folder: Path) -> Path:
    """Write numbers, categories, dates, codes and short texts; some cells are missing."""
    rng = np.random.default_rng(0)
    words = np.array(["sea", "sun", "sand", "wind", "rain", "hill", "wood", "lake"])
    columns = {
        "count": rng.integers(0, 10**6, BLOCK).astype(str),
        **{f"x{k}": np.char.mod("%.6g", rng.normal(size=BLOCK)) for k in range(8)},
        "place": rng.choice(words, BLOCK),
        "kind": rng.choice(["a", "b", "c"], BLOCK),
        "day": (np.datetime64("2001-01-01") + rng.integers(0, 9000, BLOCK)).astype(str),
        "code": np.char.zfill(rng.integers(0, 10**5, BLOCK).astype(str), 5),
        "note": np.array([" ".join(rng.choice(words, 6)) for _ in range(BLOCK)]),
        "flag": rng.choice(["0", "1"], BLOCK),
    }
    columns["x0"][rng.random(BLOCK) < 0.05] = "NA"
    block = "".join(",".join(row) + "\n" for row in zip(*columns.values())).encode()
    path = folder / "mixed.csv"
    with path.open("wb") as file:
        file.write((",".join(columns) + "\n").encode())
        for _ in range(round(SIZE / len(block))):
            file.write(block)
    return path
