"""Unregularised logistic regression for many targets over the same rows, for BR, ECC and RAkEL.

For each target it minimises the sum over the rows of -log p(y | x), plus ridge · ||w||², over the
intercept and the weights of the standardised columns.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy import ndarray
from scipy import sparse
from scipy.special import expit

from skcamel.arrays import Array, allowed_threads, dense, one_thread
from skcamel.baselines.base import Training, beside
from skcamel.baselines.lbfgs import MEMORY, Problems, minimise
from skcamel.camel.scaling import is_filled, moments, shifted, varies

RIDGE = 1e-8
TOLERANCE = 1e-4
MAX_ITER = 1000
BUDGET = 2**30  # bytes for the arrays of the problems that are solved together
SMALL = 2**28  # multiplications of a product up to which threads cost more than they gain
SPARSE = 0.15  # share of entries up to which sparse products are the faster ones


class StandardisedRows:
    """A = [1, Z - 1 meanᵀ] (n, D), known by its products; Z is sparse, or a centred array."""

    def __init__(self, Z: Array, mean: ndarray) -> None:
        self.Z = Z
        self.mean = mean
        self.Z_transposed = Z.T
        self.shape = (Z.shape[0], 1 + Z.shape[1])

    def times(self, W: ndarray) -> ndarray:
        """A W."""
        product = self.Z @ W[1:]
        product += W[0] - self.mean @ W[1:]
        return product

    def back(self, R: ndarray) -> ndarray:
        """Aᵀ R."""
        answer = np.empty((self.shape[1], R.shape[1]))
        answer[0] = R.sum(axis=0)
        answer[1:] = self.Z_transposed @ R
        answer[1:] -= np.outer(self.mean, answer[0])
        return answer


class Columns(NamedTuple):
    """Columns that vary, with their mean and sample standard deviation."""

    kept: ndarray  # (d',) indices
    mean: ndarray  # (d',)
    spread: ndarray  # (d',)

    def rows(self, X: Array) -> StandardisedRows:
        """Standardised rows with a column of ones before them."""
        n, d = X.shape
        n_filled = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
        if n_filled > SPARSE * n * d:
            Z = (dense(X)[:, self.kept] - self.mean) / self.spread
            return StandardisedRows(Z, np.zeros(len(self.kept)))
        Z = sparse.csr_array(X)[:, self.kept]
        centred = is_filled(Z)  # such columns lose digits unless they are centred first
        Z = shifted(Z, np.where(centred, self.mean, 0.0))
        Z = sparse.csr_array((Z.data / self.spread[Z.indices], Z.indices, Z.indptr), shape=Z.shape)
        return StandardisedRows(Z, np.where(centred, 0.0, self.mean) / self.spread)


def varying_columns(X: Array, weights: ndarray | None = None) -> Columns:
    """Columns that are not constant over the rows with a positive weight.

    >>> varying_columns(np.array([[1.0, 5.0], [3.0, 5.0]])).kept
    array([0])
    >>> varying_columns(sparse.csr_array([[0.0, 5.0], [3.0, 5.0]])).mean
    array([1.5])
    """
    if weights is None:
        weights = np.ones(X.shape[0])
    seen = X[weights > 0]
    weights = weights[weights > 0]
    total = weights.sum()
    mean, deviation = moments(seen, weights)
    spread = deviation * np.sqrt(total / max(total - 1, 1))
    kept = np.flatnonzero(varies(seen) & (spread > 0))  # not those that vary by less than rounding
    return Columns(kept, mean[kept], spread[kept])


class Logistic(NamedTuple):
    """Binary models, one for each target; for a target with one class the intercept is infinite."""

    columns: Columns
    coef: ndarray  # (1 + d', B), the intercept first
    n_iter: ndarray  # steps of those that were solved

    def probabilities(self, X: Array) -> ndarray:
        """P(target = 1 | row), (m, B)."""
        return expit(self.columns.rows(X).times(self.coef))


class Chain(NamedTuple):
    """The links of a classifier chain: a model for each label, over the features and all labels."""

    order: ndarray  # (q,) label numbers
    columns: Columns
    coef: ndarray  # (1 + d', q), the intercept first
    n_iter: ndarray  # steps of those that were solved

    def probabilities(self, X: Array) -> ndarray:
        """P of each label, (m, q); along the order, earlier labels enter as hard predictions."""
        columns = self.columns
        q = len(self.order)
        split = int(np.searchsorted(columns.kept, X.shape[1]))
        features = Columns(columns.kept[:split], columns.mean[:split], columns.spread[:split])
        labels = columns.kept[split:] - X.shape[1]
        of_labels = np.zeros((q, q))  # (earlier label, label)
        of_labels[labels] = self.coef[1 + split :] / columns.spread[split:, None]
        margins = features.rows(X).times(self.coef[: 1 + split])
        margins -= columns.mean[split:] @ of_labels[labels]
        bits = np.zeros((X.shape[0], q))
        for label in self.order:
            margins[:, label] += bits @ of_labels[:, label]
            bits[:, label] = margins[:, label] >= 0
        return expit(margins)


class Softmax(NamedTuple):
    """Models of several classes each."""

    columns: Columns
    coef: ndarray  # (1 + d', K, B)
    n_iter: ndarray  # (B,)

    def most_probable(self, X: Array) -> ndarray:
        """The class of each row, (m, B); the lowest among equally probable ones."""
        _, n_classes, n_models = self.coef.shape
        margins = self.columns.rows(X).times(self.coef.reshape(len(self.coef), -1))
        return margins.reshape(X.shape[0], n_classes, n_models).argmax(axis=1)


SOLVED = (Logistic, Chain, Softmax)


def fit_logistic(data: Training, **limits: Any) -> Logistic:
    """One binary model for each column of Y (n, B) in {0, 1}; `limits` are those of :func:`solve`.

    A target with one class gets that class with probability 1.

    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> fit_logistic(Training(X, Y, None)).probabilities(X).sum().round(4)
    np.float64(2.0)
    """
    X, Y, weights, _ = data
    columns = varying_columns(X, weights)
    live = varies(Y)
    coef, n_iter = solve(columns.rows(X), Y[:, None, live], weights, **limits)
    return Logistic(columns, _with_constants(coef[:, 0], live, Y[0]), n_iter)


def fit_softmax(data: Training, n_classes: int, **limits: Any) -> Softmax:
    """One model for each column of Y (n, B), in which each of so many classes from 0 on occurs."""
    X, Y, weights, _ = data
    columns = varying_columns(X, weights)
    classes = np.arange(n_classes)[:, None]
    targets = (Y[:, None] == classes).astype(np.float64)
    return Softmax(columns, *solve(columns.rows(X), targets, weights, **limits))


def fit_chains(X: Array, Y: ndarray, orders: ndarray, bags: ndarray, **limits: Any) -> list[Chain]:
    """Classifier chains over the labels of Y (n, q), all links solved together.

    A chain has an order of the labels, `orders` (C, q), and weights of the rows, `bags` (n, C). The
    model of a label sees the features and the true values of the earlier labels; the models are
    over the columns of [X, Y]. Columns that are constant in a bag get no weight there, and a label
    with one class in a bag gets that class with probability 1.
    """
    n_features = X.shape[1]
    seen = bags.any(axis=1)
    rows = beside(X, Y)[seen]
    Y = Y[seen]
    bags = bags[seen]
    columns = varying_columns(rows, bags.sum(axis=1))
    positive = bags.T @ Y > 0  # (C, q)
    live = positive & (bags.T @ (1 - Y) > 0)
    chain, target = np.nonzero(live)
    sees = np.array([varies(rows[bag > 0]) for bag in bags.T])[chain]  # (B, d + q)
    place = np.argsort(orders, axis=1)
    sees[:, n_features:] &= place[chain] < place[chain, target][:, None]
    allowed = np.ones((1 + len(columns.kept), len(chain)), dtype=bool)
    allowed[1:] = sees[:, columns.kept].T
    targets = Y[:, None].take(target, axis=2)
    weights = bags.take(chain, axis=1)
    coef, n_iter = solve(columns.rows(rows), targets, weights, allowed, **limits)
    chains = []
    for c, order in enumerate(orders):
        own = chain == c
        of_chain = _with_constants(coef[:, 0, own], live[c], positive[c])
        chains.append(Chain(order, columns, of_chain, n_iter[own]))
    return chains


def solve(
    A: StandardisedRows,
    targets: ndarray,
    weights: ndarray | None,
    allowed: ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
) -> tuple[ndarray, ndarray]:
    """Weights of the columns of A for all problems, (D, K, B), and the steps that each took, (B,).

    Targets (n, K, B) are those of :class:`skcamel.baselines.lbfgs.Problems`. Weights are those of
    the rows in all problems (n,) or in each (n, B). `allowed` (D, B) says which columns each
    problem may use, always the first. As many problems are solved together as the budget of memory
    allows.
    """
    n, n_columns, n_problems = targets.shape
    n_weights = A.shape[1]
    if weights is None:
        weights = np.ones(n)
    if allowed is None:
        allowed = np.ones((n_weights, n_problems), dtype=bool)
    weights = np.broadcast_to(weights.reshape(n, -1), (n, n_problems))
    total = weights.sum(axis=0)
    problems = Problems(targets, weights / total, RIDGE / total, allowed)
    bytes_each = 8 * n_columns * (10 * n + (2 * MEMORY + 10) * n_weights)
    n_threads = 1
    if n * n_weights * n_columns * n_problems > SMALL:
        n_threads = allowed_threads()
    size = min(BUDGET // (bytes_each * n_threads), math.ceil(n_problems / n_threads))
    size = max(1, size)
    parts = [slice(first, first + size) for first in range(0, n_problems, size)]
    batches = [Problems(*(array[..., part] for array in problems)) for part in parts]
    with one_thread():
        solved = Parallel(n_jobs=n_threads, prefer="threads")(
            delayed(minimise)(A, batch, tol=tol, max_iter=max_iter) for batch in batches
        )
    coef = np.zeros((n_weights, n_columns, n_problems))
    n_iter = np.zeros(n_problems, dtype=int)
    for part, (weights_of_part, steps) in zip(parts, solved, strict=True):
        coef[..., part] = weights_of_part
        n_iter[part] = steps
    return coef, n_iter


def _with_constants(solved: ndarray, live: ndarray, values: ndarray) -> ndarray:
    """Weights (1 + d', B) of solved targets, and of constant ones with the values given."""
    coef = np.zeros((len(solved), len(live)))
    coef[:, live] = solved
    coef[0, ~live] = np.where(values[~live] > 0, np.inf, -np.inf)
    return coef
