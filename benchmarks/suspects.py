"""Wrong labels found: 5 % of all entries are flipped at random; how many of the first as many suspects are flipped ones.

Beside it the usual recipe: probabilities of 100 extra trees in five folds, entries ordered by the probability of the label as given.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from benchmarks.machine import Row
from skcamel import find_label_errors
from skcamel.arrays import Array
from skcamel.data import load_dataset

SETS = ("emotions", "yeast", "scene")
SHARE, SEEDS = 0.05, 5


class Quality(NamedTuple):
    """How well an order of the entries finds the flips."""

    found: float  # share of flips among the first as many entries
    auc: float
    right: float = np.nan  # share of right labels among these, as estimated


def flipped(Y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels (n, q) with some entries turned into their opposite, and which."""
    flips = np.zeros(Y.size, dtype=bool)
    flips[np.random.default_rng(seed).choice(Y.size, round(SHARE * Y.size), replace=False)] = True
    flips = flips.reshape(Y.shape)
    return np.where(flips, 1 - Y, Y), flips


def judged(flips: np.ndarray, agreement: np.ndarray, right: float = np.nan) -> Quality:
    """Quality of an order by agreement (n, q), the least first."""
    order = np.argsort(agreement, axis=None, kind="stable")
    return Quality(float(flips.ravel()[order[: flips.sum()]].mean()), float(roc_auc_score(flips.ravel(), -agreement.ravel())), right)


def ours(X: Array, Y: np.ndarray, flips: np.ndarray) -> Quality:
    found = find_label_errors(X, Y)
    agreement = np.empty(Y.shape)
    agreement[found.rows, found.labels] = found.scores
    k = int(flips.sum())
    return judged(flips, agreement, float(found.chance[:k].mean()))


def by_trees(X: Array, Y: np.ndarray, flips: np.ndarray, seed: int) -> Quality:
    given = np.empty(Y.shape)
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        trees = ExtraTreesClassifier(100, random_state=seed).fit(X[train], Y[train])
        for j, (shares, classes) in enumerate(zip(trees.predict_proba(X[test]), trees.classes_, strict=True)):
            present = shares[:, list(classes).index(1)] if 1 in classes else np.zeros(len(test))
            given[test, j] = np.where(Y[test, j] == 1, present, 1 - present)
    return judged(flips, given)


def run() -> list[Row]:
    if not os.environ.get("SKCAMEL_DATA"):
        return [Row("SKCAMEL_DATA is not set: suspects not measured", float("nan"), "")]
    rows = []
    for name in SETS:
        data = load_dataset(name)
        found, recipe = [], []
        for seed in range(SEEDS):
            Y, flips = flipped(np.asarray(data.Y), seed)
            found.append(ours(data.X, Y, flips))
            recipe.append(by_trees(data.X, Y, flips, seed))
        mean, trees = np.mean(found, axis=0), np.mean(recipe, axis=0)
        for what, own, theirs in zip((f"flips among the first, of {SHARE:.0%} flipped", "area under the ROC curve"), mean, trees):
            rows.append(Row(f"{name}: {what}; extra trees reach {theirs:.3f}", float(own), "", f"≥ {theirs:.3f}", bool(own >= theirs)))
        rows.append(Row(f"{name}: right labels among the first; chance expects {mean[2]:.2f}", float(1 - mean[0]), ""))
    return rows
