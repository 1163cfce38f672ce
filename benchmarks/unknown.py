"""Entries of training labels hidden at random: learned as unknown, taken for absent, and with a model for each label of its known rows.

``python -m benchmarks.unknown`` prints the whole table.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel import CamelClassifier, CamelClassifierCV
from skcamel.data import load_dataset
from skcamel.metrics import average_precision, hamming_loss, macro_f1

SETS = ("emotions", "image", "cal500", "scene", "yeast")
SHARES = (0.1, 0.3, 0.6)
METRICS = (average_precision, hamming_loss, macro_f1)
Scores = tuple[float, ...]  # one for each of METRICS


def search(X: np.ndarray, Y: np.ndarray, new: np.ndarray, **options: Any) -> np.ndarray:
    """Scores of new rows, hyper-parameters from the paper's grid."""
    return CamelClassifierCV(scalings=("standard",), **options).fit(X, Y).decision_function(new)


def taken_for_absent(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Unknown means no."""
    return search(X, np.nan_to_num(Y), new)


def one_by_one(X: np.ndarray, Y: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Kernel ridge regression of each label on the rows that know it."""
    scores = np.empty((len(new), Y.shape[1]))
    for j, y in enumerate(Y.T):
        known = ~np.isnan(y)
        scores[:, j] = search(X[known], y[known, None], new, alphas=(0.0,))[:, 0]
    return scores


WAYS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "unknown": search,
    "taken for absent": taken_for_absent,
    "label by label": one_by_one,
}


def measured(name: str, seed: int = 0) -> Iterator[tuple[float, str, Scores]]:
    """Share of hidden labels, what was made of them, and the metrics on a third of the rows, whose labels are complete."""
    data = load_dataset(name)
    X, Y = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X), np.asarray(data.Y, dtype=float)
    X, new, Y, truth = train_test_split(X, Y, test_size=1 / 3, random_state=seed)
    draws = np.random.default_rng(seed).random(Y.shape)  # what is hidden at 10 % is hidden at 30 %

    def judged(scores: np.ndarray) -> Scores:
        return tuple(metric(truth, scores if metric is average_precision else scores > 0) for metric in METRICS)

    yield 0.0, "all known", judged(search(X, Y, new))
    for share in SHARES:
        for way, scored in WAYS.items():
            yield share, way, judged(scored(X, np.where(draws < share, np.nan, Y), new))


def time_ratio() -> float:
    """Fit on yeast with half of the labels hidden, in fits with all of them."""
    data = load_dataset("yeast")
    Y = np.asarray(data.Y, dtype=float)
    hidden = np.where(np.random.default_rng(0).random(Y.shape) < 0.5, np.nan, Y)
    pairs = [[seconds(lambda labels=labels: CamelClassifier().fit(data.X, labels), 1) for labels in (hidden, Y)] for _ in range(5)]
    return median(own / complete for own, complete in pairs)  # in turn: others may use the machine


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: unknown labels not measured", float("nan"), "")]
    warnings.simplefilter("ignore")  # defects of the public files, and labels that are constant where they are known
    rows = [at_most("fit on yeast with half of the labels hidden / with all", time_ratio(), 1.5)]
    for name in SETS:
        found = {(share, way): scores[0] for share, way, scores in measured(name)}
        for share in SHARES:
            what = f"{name}, {share:.0%} hidden: average precision (all known {found[0.0, 'all known']:.3f})"
            rows.append(at_least(what, found[share, "unknown"], round(found[share, "taken for absent"], 3), ""))
    return rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print("| set | hidden | hidden labels are | average precision | Hamming loss | macro-F1 |\n|---|---|---|---|---|---|")
    for name in SETS:
        for share, way, scores in measured(name):
            print(f"| {name} | {share:.0%} | {way} | {' | '.join(f'{value:.3f}' for value in scores)} |", flush=True)
