"""The batched logistic engine against loops over scikit-learn: binary relevance and ensembles of classifier chains."""

from __future__ import annotations

import os
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.baselines import BinaryRelevance, EnsembleOfClassifierChains
from skcamel.baselines.logistic import dense
from skcamel.data import load_dataset

MEMBERS = 30
LINKS = 5  # labels, and links of one chain, that are timed with scikit-learn and scaled up


def load(name: str, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A benchmark set where SKCAMEL_DATA names their folder, else random rows of its size, without constant labels."""
    if os.environ.get("SKCAMEL_DATA"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset = load_dataset(name)
        X, Y = dense(dataset.X), np.asarray(dataset.Y)
    else:
        n, d, q = shape
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.2)
        scores = X @ (rng.normal(size=(d, q)) * (rng.random((d, q)) < 0.1)) + rng.normal(size=(n, q))
        Y = (scores > np.quantile(scores, rng.uniform(0.8, 0.99, size=q), axis=0)).astype(int)
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), Y[:, (Y.mean(axis=0) > 0) & (Y.mean(axis=0) < 1)]


def logistic() -> LogisticRegression:
    return LogisticRegression(C=5e7, max_iter=1000)


def label_seconds(X: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> float:
    """Time of scikit-learn for all labels, from some of them spread over the range of frequencies."""
    return seconds(lambda: [logistic().fit(X, Y[:, j]) for j in labels], 1) * Y.shape[1] / len(labels)


def chain_seconds(X: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> float:
    """Time of scikit-learn for one chain on a bag, from some of its links."""
    rng = np.random.default_rng(0)
    bag = rng.integers(len(X), size=len(X))
    X, Y = X[bag], Y[bag]
    labels = [j for j in labels if 0 < Y[:, j].mean() < 1]
    return seconds(lambda: [logistic().fit(np.hstack([X, Y[:, :j]]), Y[:, j]) for j in labels], 1) * Y.shape[1] / len(labels)


def run() -> list[Row]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's limit of iterations
        return [*_rcv1(), *_yeast()]


def _rcv1() -> list[Row]:
    X, Y = load("rcv1-s1", (6000, 944, 101))
    labels = np.argsort(Y.sum(axis=0))[np.linspace(0, Y.shape[1] - 1, LINKS).astype(int)]
    br = seconds(lambda: BinaryRelevance().fit(X, Y), 1)
    member = seconds(lambda: EnsembleOfClassifierChains(1, random_state=0).fit(X, Y), 1)
    return [
        at_least("BR, 101 labels: LogisticRegression per label / ours", label_seconds(X, Y, labels) / br, 5),
        at_least("ECC, a member of 101 links: LogisticRegression per link / ours", chain_seconds(X, Y, labels) / member, 10),
    ]


def _yeast() -> list[Row]:
    X, Y = load("yeast", (2417, 103, 14))
    ours = seconds(lambda: EnsembleOfClassifierChains(MEMBERS, random_state=0).fit(X, Y), 1)
    chain = seconds(lambda: ClassifierChain(logistic(), order="random", random_state=0).fit(X, Y), 1)
    return [at_most("ECC on yeast: 30 members / 30 ClassifierChains", ours / (MEMBERS * chain), 0.2)]
