"""Fits by landmarks of many rows: the pass over them against its bare products, memory, peers.

``--all`` also writes benchmarks/scale.md, a table of methods on the same rows, and the picture
docs/images/scale.png.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.apart import METHODS, NEW, Result, fitted_apart, write_rows
from benchmarks.curves import Curve, Panel, draw
from benchmarks.machine import Row, at_least, at_most, facts, seconds
from skcamel import CamelClassifier

PAGE = Path(__file__).with_name("scale.md")
COLUMNS, LABELS, COUNT = 100, 50, 2_000  # the last: landmarks
SIZES = (100_000, 200_000)  # rows of the pass
ALL_SIZES = (10_000, 20_000, 50_000, 100_000, 200_000)
BLOCK = 4_096  # rows of the bare products
ROUNDS = 2
MILLION = (1_000_000, 50, 20, 1_000)  # rows, columns, labels, landmarks
PEERS = (50_000, COLUMNS, 20)  # rows, columns, labels
COUNTS = (250, 500, 1_000, 2_000, 3_000)  # landmarks of whole fits, in 1 GiB
OURS, THEIRS = "CamelClassifierCV, 77 candidates", "Nystroem + RidgeClassifier, one setting"
GIB = 2**30


class Pass(NamedTuple):
    """Seconds of a pass over some rows, and of its bare products."""

    ours: float
    bare: float


def bare(X: np.ndarray, Z: np.ndarray) -> None:
    """The two products that the pass cannot do without, block by block."""
    gram = np.empty((len(Z), len(Z)))
    for i in range(0, len(X), BLOCK):
        K = X[i : i + BLOCK] @ Z.T
        np.dot(K.T, K, out=gram)


def pass_times(folder: Path, sizes: Sequence[int]) -> dict[int, Pass]:
    """The least of some rounds, in turn, because other work slows the machine."""
    X = np.load(folder / "X.npy", mmap_mode="r")
    Y = np.load(folder / "Y.npy")
    Z = np.array(X[:COUNT])

    def ours_on(n: int) -> None:
        model = CamelClassifier(solver="landmark", landmarks=Z, bandwidth=10.0)
        model.partial_fit(X[:n], Y[:n], solve=False)

    rounds: dict[int, list[Pass]] = {n: [] for n in sizes}
    for _ in range(ROUNDS):
        for n, times in rounds.items():
            ours = seconds(lambda n=n: ours_on(n), 1)
            times.append(Pass(ours, seconds(lambda n=n: bare(X[:n], Z), 1)))
    return {
        n: Pass(min(one.ours for one in times), min(one.bare for one in times))
        for n, times in rounds.items()
    }


def pass_rows(times: dict[int, Pass]) -> list[Row]:
    half, n = list(times)[-2:]
    rate = times[n].bare / times[n].ours
    growth = times[n].ours / times[half].ours
    return [
        at_least(f"pass over {n} rows: rate / rate of its bare products", rate, 0.7),
        at_most(f"pass over {n} rows / over {half}", growth, 2.2),
    ]


def fit_rows(n: int, fits: dict[str, Result], million: Result, products: float) -> list[Row]:
    """Whole fits of n rows against others, the fit of a million, and their memory."""
    ours, theirs = fits[OURS], fits[THEIRS]
    peak = f"{n} rows, max_memory='1GiB': memory at the peak beside the rows"
    many, d, _, m = MILLION
    return [
        at_most(peak, ours.bytes / GIB, 1, "GiB"),
        at_most(f"{n} rows: {OURS} / {THEIRS}", ours.seconds / theirs.seconds, 1),
        Row(f"{n} rows: memory of these", ours.bytes / theirs.bytes, "x"),
        Row(f"{n} rows: whole fit / bare products of the pass", ours.seconds / products, "x"),
        at_most(f"{many} rows: memory at the peak beside the rows", million.bytes / GIB, 2, "GiB"),
        Row(f"{many} rows, d = {d}, m = {m} / {n} rows", million.seconds / ours.seconds, "x"),
    ]


def measure(folder: Path, sizes: Sequence[int]) -> tuple[list[Row], dict[int, Pass]]:
    """The figures of results.md, and the times of the passes."""
    n = sizes[-1]
    rows = write_rows(folder / "rows", n, COLUMNS, LABELS)
    times = pass_times(rows, sizes)
    fits = {name: fitted_apart(name, rows, COUNT) for name in (OURS, THEIRS)}
    million = fitted_apart(OURS, write_rows(folder / "million", *MILLION[:3]), MILLION[3])
    return pass_rows(times) + fit_rows(n, fits, million, times[n].bare), times


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), SIZES)[0]


def run_all() -> list[Row]:
    """More sizes of the pass; all methods on the same rows, for the page and the picture."""
    with tempfile.TemporaryDirectory() as folder:
        rows, times = measure(Path(folder), ALL_SIZES)
        some = write_rows(Path(folder) / "peers", *PEERS)
        known = [name for name in METHODS if "himalaya" not in name or find_spec("himalaya")]
        found = {name: fitted_apart(name, some, COUNT) for name in known}
        fits = {m: fitted_apart(OURS, some, m).seconds for m in COUNTS if m != COUNT}
    write_page(found)
    picture(times, fits | {COUNT: found[OURS].seconds})
    return rows


def write_page(found: dict[str, Result]) -> None:
    n, d, q = PEERS
    unit = found[OURS].seconds
    lines = [
        "# Many rows",
        "",
        f"Written by `python -m benchmarks scale --all`. {n:,} rows of {d} made columns,",
        f"{q} labels, {COUNT:,} landmarks or components, {NEW:,} test rows. Each method has a",
        "process of its own. Time is that of the fit, relative to the first line. Memory is what",
        "no file stands behind, at the peak of the fit, beside the rows. All rbf kernels have the",
        "bandwidth of ours.",
        "",
        *(f"- {key}: {value}" for key, value in facts().items()),
        "",
        "| method | time | memory | average precision |",
        "|---|---|---|---|",
    ]
    for name, own in found.items():
        memory = f"{own.bytes / GIB:.2f} GiB"
        lines.append(f"| {name} | {own.seconds / unit:.2f} x | {memory} | {own.precision:.3f} |")
    for name in METHODS:
        if name not in found:
            lines += ["", f"{name}: himalaya is not installed."]
    lines += ["", "![Time of the pass over rows, and of whole fits](../docs/images/scale.png)"]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def picture(times: dict[int, Pass], fits: dict[int, float]) -> None:
    """Seconds of the pass against rows, and of whole fits against landmarks."""
    machine = facts()
    sizes = list(times)
    passes = [
        Curve("pass over the rows", sizes, [times[n].ours for n in sizes]),
        Curve("its bare products", sizes, [times[n].bare for n in sizes]),
    ]
    whole = [Curve("whole fit, 77 candidates", COUNTS, [fits[m] for m in COUNTS])]
    title = f"{COLUMNS} columns, {COUNT:,} landmarks, {LABELS} labels"
    fit_title = f"{PEERS[0]:,} rows, {PEERS[2]} labels"
    panels = [
        Panel(title, "rows", "seconds", passes),
        Panel(fit_title, "landmarks", "seconds", whole),
    ]
    draw("scale", panels, note=f"{machine['processor']}, {machine['cores']} cores")
