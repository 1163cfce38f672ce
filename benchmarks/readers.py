"""ARFF readers, side by side in one run: skcamel against liac-arff, on the public sets or on made ones of the same shape.

    python benchmarks/readers.py [FOLDER]

FOLDER, by default SKCAMEL_DATA, holds scene/scene.arff.gz and rcv1-s1/rcv1-s1.arff.gz. Without it both are made up.
"""

import gzip
import os
import platform
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import arff
import numpy as np
import scipy
from scipy import sparse

from skcamel.data import Dataset, read_mulan, write_mulan

REPEATS = 5
TARGETS = {"scene": 2.5, "rcv1-s1": 5.0}


def made(folder: Path) -> Path:
    """Write sets of the size and digits of scene and rcv1-s1."""
    rng = np.random.default_rng(0)
    scene = Dataset(rng.random((2407, 294)).round(6), rng.integers(0, 2, (2407, 6)))
    rcv1 = Dataset(sparse.csr_array((rng.random((6000, 944)) < 0.05).astype(float)), rng.random((6000, 101)) < 0.03)
    for name, data in (("scene", scene), ("rcv1-s1", rcv1)):
        (folder / name).mkdir()
        write_mulan(data, folder / name / f"{name}.arff.gz")
    return folder


def read_by_liac(path: Path, *, is_sparse: bool) -> object:
    with gzip.open(path, "rt") as file:
        return arff.load(file, return_type=arff.COO if is_sparse else arff.DENSE)


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_bytes(work) -> tuple[int, object]:
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


def compare(path: Path, name: str) -> bool:
    peak, data = peak_bytes(lambda: read_mulan(path))
    X = data.X
    held = data.Y.nbytes + (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes)
    own, liac = [], []
    for _ in range(REPEATS):  # in turn, so that both meet the same load of the machine
        own.append(seconds(lambda: read_mulan(path)))
        liac.append(seconds(lambda: read_by_liac(path, is_sparse=sparse.issparse(X))))
    ratio, limit = min(liac) / min(own), 3 * held + 20e6
    print(f"{name:8} {data.n} x {data.d} + {data.q}: skcamel {1e3 * min(own):.0f} ms, liac-arff {1e3 * min(liac):.0f} ms,", end=" ")
    print(f"ratio {ratio:.1f} (target {TARGETS[name]}); peak {peak / 1e6:.1f} MB, arrays {held / 1e6:.1f} MB (limit {limit / 1e6:.1f} MB)")
    return ratio >= TARGETS[name] and peak <= limit


def main(arguments: list[str]) -> int:
    home = arguments[0] if arguments else os.environ.get("SKCAMEL_DATA")
    machine = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, {platform.machine()}"
    print(f"{machine}, {os.cpu_count()} cores; best of {REPEATS}, {'public sets' if home else 'made-up sets'}, gzip-compressed")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(home) if home else made(Path(folder))
        kept = [compare(root / name / f"{name}.arff.gz", name) for name in TARGETS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
