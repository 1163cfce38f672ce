"""ARFF readers against liac-arff, on the public sets in SKCAMEL_DATA or on made ones of the same shape."""

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
from skcamel.data import Dataset, read_mulan, write_mulan

TARGETS = {"scene": 2.5, "rcv1-s1": 5.0}


def run() -> list[Row]:
    home = os.environ.get("SKCAMEL_DATA")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(home) if home else made(Path(folder))
        return [row for name, target in TARGETS.items() for row in compare(root / name / f"{name}.arff.gz", name, target)]


def made(folder: Path) -> Path:
    """Write sets of the size and digits of scene and rcv1-s1."""
    rng = np.random.default_rng(0)
    scene = Dataset(rng.random((2407, 294)).round(6), rng.integers(0, 2, (2407, 6)))
    rcv1 = Dataset(sparse.csr_array((rng.random((6000, 944)) < 0.05).astype(float)), rng.random((6000, 101)) < 0.03)
    for name, data in (("scene", scene), ("rcv1-s1", rcv1)):
        (folder / name).mkdir()
        write_mulan(data, folder / name / f"{name}.arff.gz")
    return folder


def compare(path: Path, name: str, target: float) -> list[Row]:
    tracemalloc.start()
    data = read_mulan(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    X = data.X
    held = data.Y.nbytes + (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)
    ours, theirs = seconds(partial(read_mulan, path), 5), seconds(partial(read_by_liac, path, is_sparse=sparse.issparse(X)), 3)
    return [
        at_least(f"liac-arff / ours, {name}, gzipped", theirs / ours, target),
        at_most(f"peak memory / (3 x the arrays + 20 MB), {name}", peak / (3 * held + 20e6), 1),
    ]


def read_by_liac(path: Path, *, is_sparse: bool) -> object:
    with gzip.open(path, "rt") as file:
        return arff.load(file, return_type=arff.COO if is_sparse else arff.DENSE)
