"""The batched logistic engine against loops over scikit-learn: binary relevance and ensembles of classifier chains."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.baselines import BinaryRelevance, EnsembleOfClassifierChains
from skcamel.baselines.logistic import RIDGE
from skcamel.data import load_dataset

MEMBERS = 30
LINKS = 9  # labels, and links of one chain, that are timed with scikit-learn and scaled up


class Problem(NamedTuple):
    """A set as our engine takes it, its standardised columns as scikit-learn needs them, and labels that are not constant."""

    X: Any  # (n, d), sparse as the file is
    Z: np.ndarray  # (n, d') standardised
    Y: np.ndarray  # (n, q)


def load(name: str, shape: tuple[int, int, int]) -> Problem:
    """A benchmark set where SKCAMEL_DATA names their folder, else random rows of its size."""
    if os.environ.get("SKCAMEL_DATA"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset = load_dataset(name)
        X, Y = dataset.X, np.asarray(dataset.Y)
    else:
        n, d, q = shape
        rng = np.random.default_rng(0)
        X = sparse.csr_array(rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.05))
        scores = X @ (rng.normal(size=(d, q)) * (rng.random((d, q)) < 0.1)) + rng.normal(size=(n, q))
        Y = (scores > np.diagonal(np.quantile(scores, rng.uniform(0.8, 0.99, size=q), axis=0))).astype(int)
    Z = X.toarray() if sparse.issparse(X) else X
    Z = Z[:, Z.std(axis=0) > 0]
    return Problem(X, (Z - Z.mean(axis=0)) / Z.std(axis=0, ddof=1), Y[:, (Y.mean(axis=0) > 0) & (Y.mean(axis=0) < 1)])


def logistic() -> LogisticRegression:
    return LogisticRegression(C=5e7, max_iter=1000)


def label_seconds(Z: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> float:
    """Time of scikit-learn for all labels, from some of them spread over the range of frequencies."""
    return seconds(lambda: [logistic().fit(Z, Y[:, j]) for j in labels], 1) * Y.shape[1] / len(labels)


def chain_seconds(Z: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> float:
    """Time of scikit-learn for one chain on a bag, from some of its links."""
    bag = np.random.default_rng(0).integers(len(Z), size=len(Z))
    Z, Y = Z[bag], Y[bag]
    labels = np.array([j for j in labels if 0 < Y[:, j].mean() < 1])
    return seconds(lambda: [logistic().fit(np.hstack([Z, Y[:, :j]]), Y[:, j]) for j in labels], 1) * Y.shape[1] / len(labels)


def run() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's limit of iterations
        return [*_rcv1(), *_yeast()]


def _rcv1() -> list[Row]:
    X, Z, Y = load("rcv1-s1", (6000, 944, 101))
    labels = np.argsort(Y.sum(axis=0))[np.linspace(0, Y.shape[1] - 1, LINKS).astype(int)]
    br = seconds(lambda: BinaryRelevance().fit(X, Y), 3)
    ecc = seconds(lambda: EnsembleOfClassifierChains(MEMBERS, random_state=0).fit(X, Y), 1)
    return [
        at_least("BR, 101 labels: LogisticRegression per label / ours", label_seconds(Z, Y, labels) / br, 5),
        at_least("ECC, 30 members of 101 links: LogisticRegression per link / ours", MEMBERS * chain_seconds(Z, Y, labels) / ecc, 10),
    ]


def _yeast() -> list[Row]:
    X, Z, Y = load("yeast", (2417, 103, 14))
    ours = seconds(lambda: EnsembleOfClassifierChains(MEMBERS, random_state=0).fit(X, Y), 3)
    chains = [ClassifierChain(logistic(), order="random", random_state=k) for k in range(MEMBERS)]
    theirs = seconds(lambda: [chain.fit(Z, Y) for chain in chains], 1)
    best, ours_objective = _objectives(Z, Y)
    return [
        at_most("ECC on yeast: 30 members / 30 ClassifierChains", ours / theirs, 0.2),
        at_most("BR on yeast: objective above the optimum, worst label", float((ours_objective / best).max() - 1), 1e-6, "of it"),
    ]


def _objectives(Z: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Objectives, ridge included, of scikit-learn at its tightest and of ours with the settings timed above, (q,) each."""
    strict = [LogisticRegression(C=5e7, max_iter=100_000, tol=1e-10).fit(Z, y) for y in Y.T]
    margins = np.column_stack([model.decision_function(Z) for model in strict])
    ridge = RIDGE * np.array([(model.coef_**2).sum() for model in strict])
    return (np.logaddexp(0, margins) - Y * margins).sum(axis=0) + ridge, BinaryRelevance().fit(Z, Y).model_.ending.objective
