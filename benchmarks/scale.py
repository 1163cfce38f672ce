"""Fits by landmarks of hundreds of thousands of rows: the pass over the rows against its bare products, memory, and other software.

Writes benchmarks/scale.md with a table of methods on the same rows, and the picture
docs/images/scale.png.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.apart import METHODS, NEW, Result, fitted_apart, write_rows
from benchmarks.curves import Curve, Panel, draw
from benchmarks.machine import Row, at_least, at_most, facts
from skcamel.arrays import allowed_threads, one_thread
from skcamel.camel import landmark
from skcamel.camel.landmark import Block
from skcamel.camel.stream import Stream, Streaming, begin

PAGE = Path(__file__).with_name("scale.md")
COLUMNS, LABELS, COUNT = 100, 50, 2_000
SIZES = (10_000, 20_000, 50_000, 100_000, 200_000)  # rows of the pass
ROUNDS = 2
MILLION = (1_000_000, 50, 20, 1_000)  # rows, columns, labels, landmarks
PEERS = (50_000, COLUMNS, 20)  # rows, columns, labels
COUNTS = (250, 500, 1_000, 2_000, 3_000)  # landmarks of whole fits, in 1 GiB
OURS, THEIRS = "CamelClassifierCV, 77 candidates", "Nystroem + RidgeClassifier, one setting"
GIB = 2**30


def bare(X: np.ndarray, Z: np.ndarray) -> None:
    """The two products that the pass cannot do without, in the same blocks and threads."""
    size, threads = landmark.BLOCK_ROWS, allowed_threads()

    def work(k: int) -> None:
        K, gram = np.empty((size, len(Z))), np.empty((len(Z), len(Z)))
        for i in range(k * size, len(X), threads * size):
            block = X[i : i + size]
            P = np.dot(block, Z.T, out=K[: len(block)])
            np.dot(P.T, P, out=gram)

    with one_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def started(X: np.ndarray) -> Stream:
    """Bandwidth and landmarks of the rows; nothing is summed up yet."""
    rows = landmark.drawn(
        Block(X, np.zeros((len(X), 0), dtype=np.int8)), size=landmark.SAMPLE_ROWS, seed=0
    )
    return begin(
        "none", "rbf", rows, Streaming(primal=False, count=COUNT), n_rows=len(X), lambda2=1e-3
    )


def pass_times(folder: Path) -> dict[int, tuple[float, float]]:
    """Seconds of the pass and of its bare products by number of rows: the least of some rounds, in turn, for others use the machine too."""
    X, Y = (
        np.load(folder / "X.npy", mmap_mode="r"),
        np.load(folder / "Y.npy") * np.int8(2) - np.int8(1),
    )
    stream = started(X)
    Z = np.asarray(stream.landmarks)
    works: dict[int, tuple[Callable[[], object], Callable[[], object]]] = {
        n: (lambda n=n: stream.add(Block(X[:n], Y[:n])), lambda n=n: bare(X[:n], Z)) for n in SIZES
    }
    rounds = [
        {n: [_timed(work) for work in pair] for n, pair in works.items()} for _ in range(ROUNDS)
    ]
    return {
        n: (min(times[n][0] for times in rounds), min(times[n][1] for times in rounds))
        for n in SIZES
    }


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _pass_rows(times: dict[int, tuple[float, float]]) -> list[Row]:
    half, n = SIZES[-2:]
    growth = times[n][0] / times[half][0]
    return [
        at_least(
            f"pass over {n} rows: rate / rate of its bare products", times[n][1] / times[n][0], 0.7
        ),
        Row(f"pass over {n} rows / over {half}", growth, "x", "1.9–2.2", 1.9 <= growth <= 2.2),
    ]


def _fit_rows(large: dict[str, Result], million: Result, seconds_of_products: float) -> list[Row]:
    """Whole fits against others, and their memory."""
    ours, theirs = large[OURS], large[THEIRS]
    return [
        at_most(
            f"{SIZES[-1]} rows, max_memory='1GiB': memory at the peak beside the rows",
            ours.bytes / GIB,
            1,
            "GiB",
        ),
        at_most(f"{SIZES[-1]} rows: {OURS} / {THEIRS}", ours.seconds / theirs.seconds, 1),
        Row(f"{SIZES[-1]} rows: memory of these", ours.bytes / theirs.bytes, "x"),
        Row(
            f"{SIZES[-1]} rows: whole fit / bare products of the pass",
            ours.seconds / seconds_of_products,
            "x",
        ),
        at_most(
            f"{MILLION[0]} rows: memory at the peak beside the rows", million.bytes / GIB, 2, "GiB"
        ),
        Row(
            f"{MILLION[0]} rows, d = {MILLION[1]}, m = {MILLION[3]} / {SIZES[-1]} rows",
            million.seconds / ours.seconds,
            "x",
        ),
    ]


def peers(folder: Path) -> tuple[dict[str, Result], list[str]]:
    """All methods on the same rows, and why some are missing."""
    known = [name for name in METHODS if "himalaya" not in name or find_spec("himalaya")]
    missing = [f"{name}: himalaya is not installed." for name in METHODS if name not in known]
    return {name: fitted_apart(name, folder, COUNT) for name in known}, missing


def write_page(found: dict[str, Result], missing: list[str]) -> None:
    n, d, q = PEERS
    lines = [
        "# Many rows",
        "",
        (
            f"Written by `python -m benchmarks scale`. {n:,} rows of {d} made columns, {q} labels,"
            f" {COUNT:,} landmarks or components,"
        ),
        (
            f"{NEW:,} test rows. Each method has a process of its own. Time is that of the fit,"
            " relative to the first line; memory is what"
        ),
        (
            "is no file page, at the peak of the fit, beside the rows. All rbf kernels have the"
            " bandwidth of ours."
        ),
        "",
        *(f"- {key}: {value}" for key, value in facts().items()),
        "",
        "| method | time | memory | average precision |",
        "|---|---|---|---|",
    ]
    unit = found[OURS].seconds
    lines += [
        f"| {name} | {own.seconds / unit:.2f} x | {own.bytes / GIB:.2f} GiB | {own.precision:.3f} |"
        for name, own in found.items()
    ]
    lines += ["", *missing] if missing else []
    lines += ["", "![Time of the pass over rows, and of whole fits](../docs/images/scale.png)"]
    PAGE.write_text("\n".join(lines) + "\n")


def picture(times: dict[int, tuple[float, float]], fits: dict[int, Result]) -> None:
    machine = facts()
    title = f"{COLUMNS} columns, {COUNT:,} landmarks, {LABELS} labels"
    passes = [
        Curve(name, SIZES, [times[n][k] for n in SIZES])
        for k, name in enumerate(("pass over the rows", "its bare products"))
    ]
    whole = [Curve("whole fit, 77 candidates", COUNTS, [fits[m].seconds for m in COUNTS])]
    draw(
        "scale",
        [
            Panel(title, "rows", "seconds", passes),
            Panel(f"{PEERS[0]:,} rows, {PEERS[2]} labels", "landmarks", "seconds", whole),
        ],
        note=f"{machine['processor']}, {machine['cores']} cores",
    )


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        large = write_rows(Path(folder) / "large", SIZES[-1], COLUMNS, LABELS)
        times = pass_times(large)
        whole = {name: fitted_apart(name, large, COUNT) for name in (OURS, THEIRS)}
        million = fitted_apart(OURS, write_rows(Path(folder) / "million", *MILLION[:3]), MILLION[3])
        some = write_rows(Path(folder) / "peers", *PEERS)
        found, missing = peers(some)
        fits = {m: found[OURS] if m == COUNT else fitted_apart(OURS, some, m) for m in COUNTS}
    write_page(found, missing)
    picture(times, fits)
    return _pass_rows(times) + _fit_rows(whole, million, times[SIZES[-1]][1])
