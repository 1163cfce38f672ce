"""Time and balance of stratified folds, side by side with iterative-stratification and scikit-multilearn-ng.

    python benchmarks/splitting.py [--rows 10000] [--labels 50] [--folds 10] [--repeats 5]

Peers that are not installed are left out: pip install iterative-stratification; pip install --no-deps scikit-multilearn-ng.
scikit-multilearn-ng is run without its random_state: with it (0.0.8) the folds of the shuffled rows are not mapped back, and
come out no more even than plain ones.
Times are the best of the repeats, all in one run, taken in turns; ratios are to the time of this library.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.model_selection import KFold

from skcamel.data import MultilabelStratifiedKFold, fold_quality

Splitter = Callable[[int, int], Any]  # folds, seed


def label_matrices(n: int, q: int) -> Iterator[tuple[str, np.ndarray]]:
    """Labels from common to rare; equally rare; dependent; dense."""
    rng = np.random.default_rng(0)
    yield "skewed", (rng.random((n, q)) < np.geomspace(0.3, 0.002, q)).astype(int)
    yield "even", (rng.random((n, q)) < 0.06).astype(int)
    hidden = rng.normal(size=(n, 5)) @ rng.normal(size=(5, q)) + rng.normal(size=(n, q))
    yield "dependent", (hidden > np.quantile(hidden, 0.95)).astype(int)
    yield "dense", (rng.random((n, q)) < 0.5 * rng.random(q)).astype(int)


def splitters() -> dict[str, Splitter]:
    found: dict[str, Splitter] = {
        "skcamel": lambda k, seed: MultilabelStratifiedKFold(k, shuffle=True, random_state=seed),
        "skcamel order 2": lambda k, seed: MultilabelStratifiedKFold(k, shuffle=True, random_state=seed, order=2),
    }
    shuffled, ng = {"shuffle": True}, ("skmultilearn.model_selection", "IterativeStratification")
    for title, (module, name), options in (
        ("iterative-stratification", ("iterstrat.ml_stratifiers", "MultilabelStratifiedKFold"), shuffled),
        ("scikit-multilearn-ng", ng, {"order": 1}),
        ("scikit-multilearn-ng order 2", ng, {"order": 2}),
    ):
        try:
            peer = getattr(importlib.import_module(module), name)
        except ImportError:
            print(f"{title} is not installed and left out")
            continue
        found[title] = lambda k, seed, peer=peer, options=options, shuffled=shuffled: peer(
            n_splits=k, **options, **({"random_state": seed} if options is shuffled else {})
        )
    return found | {"scikit-learn KFold (plain)": lambda k, seed: KFold(k, shuffle=True, random_state=seed)}


def seconds_of(make: Splitter, Y: np.ndarray, k: int, seed: int) -> tuple[float, list[Any]]:
    start = time.perf_counter()
    splits = list(make(k, seed).split(Y, Y))
    return time.perf_counter() - start, splits


def compare(Y: np.ndarray, k: int, repeats: int, slow_after: float = 5.0) -> None:
    """Print one line for each splitter; one that takes long is run once."""
    best: dict[str, float] = {}
    quality: dict[str, list[Any]] = {}
    for seed in range(repeats):
        for title, make in splitters_found.items():
            if best.get(title, 0.0) > slow_after:
                continue
            seconds, splits = seconds_of(make, Y, k, seed)
            best[title] = min(best.get(title, np.inf), seconds)
            quality.setdefault(title, []).append(fold_quality(Y, splits))
    print(f"  {'':30}{'seconds':>9}{'ratio':>8}{'LD':>11}{'LPD':>11}{'ED':>7}{'sizes':>13}{'empty':>7}")
    for title, seconds in best.items():
        print(f"  {title:30}{seconds:9.4f}{seconds / best['skcamel']:8.2f}{described(quality[title])}")


def described(figures: list[Any]) -> str:
    """Means over the seeds."""
    names = ("label_distribution", "pair_distribution", "examples_distribution")
    ld, lpd, ed = (np.mean([getattr(quality, name) for quality in figures]) for name in names)
    sizes = f"{min(quality.sizes.min() for quality in figures)}-{max(quality.sizes.max() for quality in figures)}"
    empty = np.mean([quality.folds_without_positives.sum() for quality in figures])
    return f"{ld:11.6f}{lpd:11.6f}{ed:7.2f}{sizes:>13}{empty:7.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rows", 10_000), ("labels", 50), ("folds", 10), ("repeats", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {sys.version.split()[0]}", end=", ")
    print(f"numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}")
    splitters_found = splitters()
    for kind, labels in label_matrices(arguments.rows, arguments.labels):
        sets = len(np.unique(labels, axis=0))
        print(f"\n{kind}: {arguments.rows} x {arguments.labels}, {arguments.folds} folds", end=", ")
        print(f"cardinality {labels.sum() / len(labels):.2f}, {sets} label sets")
        compare(labels, arguments.folds, arguments.repeats)
    print("\nLD, LPD, ED: label, label pair and examples distribution, mean over seeds, 0 is best", end="; ")
    print("empty: folds without a positive, over labels")
