"""ARFF readers against liac-arff, and wide files against narrow ones.

The sets are those in SKCAMEL_DATA, or made ones of that shape.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import tracemalloc
from functools import partial
from pathlib import Path

import arff
import numpy as np
from scipy import sparse

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.data import Dataset, read_dataset, read_mulan, write_dataset, write_mulan

TARGETS = {"scene": 2.5, "rcv1-s1": 5.0}


def run() -> list[Row]:
    home = os.environ.get("SKCAMEL_DATA")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(home) if home else made(Path(folder))
        for name, target in TARGETS.items():
            rows += compare(root / name / f"{name}.arff.gz", name, target)
        return rows + [wide(Path(folder), kind) for kind in ("csv", "parquet", "arff", "svm")]


def wide(folder: Path, kind: str) -> Row:
    """Time for 40 000 columns of three rows against 10 000: four times as long is ideal."""
    rng = np.random.default_rng(0)
    times = []
    for d in (10_000, 40_000):
        path = folder / f"wide{d}.{kind}"
        data = Dataset(rng.random((3, d)).round(3), np.eye(3, 2, dtype=np.int64))
        write_dataset(data, path)
        times.append(seconds(partial(read_dataset, path, labels=2), 5))
    return at_most(f"{kind}: time for 40 000 columns / time for 10 000", times[1] / times[0], 6)


def made(folder: Path) -> Path:
    """Write sets of the size and digits of scene and rcv1-s1."""
    rng = np.random.default_rng(0)
    scene = Dataset(rng.random((2407, 294)).round(6), rng.integers(0, 2, (2407, 6)))
    rcv1 = Dataset(
        sparse.csr_array((rng.random((6000, 944)) < 0.05).astype(float)),
        rng.random((6000, 101)) < 0.03,
    )
    for name, data in (("scene", scene), ("rcv1-s1", rcv1)):
        (folder / name).mkdir()
        write_mulan(data, folder / name / f"{name}.arff.gz")
    return folder


def compare(path: Path, name: str, target: float) -> list[Row]:
    read_mulan(path)  # imports what it needs, which is no memory of the file
    tracemalloc.start()
    data = read_mulan(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    is_sparse = sparse.issparse(data.X)
    parts = [data.X.data, data.X.indices, data.X.indptr] if is_sparse else [data.X]
    allowed = 3 * sum(part.nbytes for part in (data.Y, *parts)) + 20e6
    ours = seconds(partial(read_mulan, path), 5)
    theirs = seconds(partial(read_by_liac, path, is_sparse=is_sparse), 3)
    return [
        at_least(f"liac-arff / ours, {name}, gzipped", theirs / ours, target),
        at_most(f"peak memory / (3 x the arrays + 20 MB), {name}", peak / allowed, 1),
    ]


def read_by_liac(path: Path, *, is_sparse: bool) -> object:
    with gzip.open(path, "rt") as file:
        return arff.load(file, return_type=arff.COO if is_sparse else arff.DENSE)
