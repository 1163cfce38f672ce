"""Unregularised logistic regression for many targets over the same rows: the base learner of BR, ECC and RAkEL.

For each target it minimises the sum over the rows of -log p(y | x), plus ridge · ||w||², over the intercept and the weights of
the standardised columns. ``lbfgs`` solves a batch of targets; this file makes the batches and keeps the model.

The rows of a problem are a matrix A: a column of ones, then the columns that vary, standardised. If rows have few entries, A is
never made: its products are those of the sparse rows plus a correction of rank one.
"""

from __future__ import annotations

import warnings
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from skcamel.arrays import Array
from skcamel.baselines.lbfgs import MEMORY, Batch, Ending, Metric, minimise
from skcamel.rows import dense, is_filled, moments, shifted, varies

RIDGE = 1e-8
TOLERANCE = 1e-4
MAX_ITER = 1000
BUDGET = 2**30  # bytes for the arrays of one batch
SMALL = 2**28  # multiplications of the largest product up to which threads cost more than they gain: most products are far smaller
SPARSE = 0.15  # share of entries up to which sparse products are the faster ones


class NotConverged(UserWarning):
    """Some problems reached the limit of iterations; the estimators turn it into scikit-learn's warning."""


@dataclass(frozen=True)
class Columns:
    """Columns that vary, with their mean and sample standard deviation."""

    kept: np.ndarray  # (d',) indices
    mean: np.ndarray  # (d',)
    spread: np.ndarray  # (d',)

    def standardised(self, X: np.ndarray) -> np.ndarray:
        """Rows as the solver wants them: (m, d')."""
        Z = X[:, self.kept]
        Z -= self.mean
        Z /= self.spread
        return Z

    def margins(self, X: Array, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Standardised rows times weights, plus intercept; sparse rows stay sparse."""
        if sparse.issparse(X):
            rows, mean = self.split(X)
            return rows @ coef + (intercept - mean @ coef)
        return self.standardised(X) @ coef + intercept

    def split(self, X: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
        """Standardised rows as Z - 1 meanᵀ with Z (m, d') sparse: filled columns are centred in Z, the others by the mean."""
        Z = X[:, self.kept]
        centred = is_filled(Z)
        Z = shifted(Z, np.where(centred, self.mean, 0.0))
        scaled = sparse.csr_array((Z.data / self.spread[Z.indices], Z.indices, Z.indptr), shape=Z.shape)
        return scaled, np.where(centred, 0.0, self.mean) / self.spread


def varying_columns(X: Array, weights: np.ndarray | None = None) -> Columns:
    """Columns that are not constant over the rows with a positive weight.

    >>> varying_columns(np.array([[1.0, 5.0], [3.0, 5.0]])).kept
    array([0])
    >>> varying_columns(sparse.csr_array([[0.0, 5.0], [3.0, 5.0]])).mean
    array([1.5])
    """
    seen = X if weights is None else X[weights > 0]
    w = np.ones(X.shape[0]) if weights is None else weights[weights > 0]
    mean, deviation = moments(seen, w)
    spread = deviation * np.sqrt(w.sum() / max(w.sum() - 1, 1))
    kept = np.flatnonzero(varies(seen) & (spread > 0))  # not those that vary by less than rounding
    return Columns(kept, mean[kept], spread[kept])


class DenseDesign:
    """A (n, D) as an array, known by its products."""

    def __init__(self, Z: np.ndarray) -> None:
        self.A = np.ones((len(Z), 1 + Z.shape[1]))
        self.A[:, 1:] = Z
        self.shape = self.A.shape

    def times(self, W: np.ndarray) -> np.ndarray:
        """A W, (n, B)."""
        return self.A @ W

    def back(self, R: np.ndarray) -> np.ndarray:
        """Aᵀ R, (D, B)."""
        return self.A.T @ R

    def gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Aᵀ diag(weights) A, (D, D)."""
        return self.A.T @ (self.A if weights is None else self.A * weights[:, None])

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Some rows of A as a new array."""
        return self.A[rows]


class SparseDesign:
    """The same for A = [1, (X - 1 meanᵀ) / spread] with X sparse."""

    def __init__(self, columns: Columns, X: sparse.csr_array) -> None:
        self.X, self.mean = columns.split(X)
        self.X_transposed = sparse.csr_array(self.X.T)
        self.shape = (X.shape[0], 1 + len(columns.kept))

    def times(self, W: np.ndarray) -> np.ndarray:
        """A W."""
        product = self.X @ W[1:]
        product += W[0] - self.mean @ W[1:]
        return product

    def back(self, R: np.ndarray) -> np.ndarray:
        """Aᵀ R."""
        answer = np.empty((self.shape[1], R.shape[1]))
        answer[0] = R.sum(axis=0)
        answer[1:] = self.X_transposed @ R
        answer[1:] -= np.outer(self.mean, answer[0])
        return answer

    def gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Aᵀ diag(weights) A."""
        n, d = self.X.shape
        w = np.ones(n) if weights is None else weights
        sums = self.X_transposed @ w
        square = np.outer(self.mean, sums)
        gram = np.zeros((1 + d, 1 + d))
        gram[0, 0] = w.sum()
        gram[0, 1:] = gram[1:, 0] = sums - gram[0, 0] * self.mean
        gram[1:, 1:] = (self.X_transposed @ (sparse.diags_array(w) @ self.X)).toarray()
        gram[1:, 1:] += gram[0, 0] * np.outer(self.mean, self.mean) - square - square.T
        return gram

    def rows(self, rows: np.ndarray) -> np.ndarray:
        """Some rows of A."""
        A = np.ones((len(rows), self.shape[1]))
        A[:, 1:] = self.X[rows].toarray()
        A[:, 1:] -= self.mean
        return A


Design = DenseDesign | SparseDesign


def design(columns: Columns, X: Array) -> Design:
    """A (n, D) by its products: rows that are mostly zero stay or become sparse, others an array."""
    if (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) <= SPARSE * X.shape[0] * X.shape[1]:
        return SparseDesign(columns, sparse.csr_array(X))
    return DenseDesign(columns.standardised(dense(X)))


@dataclass(frozen=True)
class Logistic:
    """Binary models, one for each target."""

    columns: Columns
    coef: np.ndarray  # (d', B)
    intercept: np.ndarray  # (B,), infinite for a target with one class
    ending: Ending

    def probabilities(self, X: Array) -> np.ndarray:
        """P(target = 1 | row), (m, B)."""
        return expit(self.columns.margins(X, self.coef, self.intercept))

    def over(self, columns: Columns) -> tuple[np.ndarray, np.ndarray]:
        """The same models for rows standardised by other columns, which hold those of this model: weights and intercepts."""
        places = np.searchsorted(columns.kept, self.columns.kept)
        raw = self.coef / self.columns.spread[:, None]
        coef = np.zeros((len(columns.kept), self.coef.shape[1]))
        coef[places] = raw * columns.spread[places, None]
        return coef, self.intercept + (columns.mean[places] - self.columns.mean) @ raw

    def chain_probabilities(self, X: Array, order: np.ndarray) -> np.ndarray:
        """P of each label, (m, B): in the given order, the labels so far enter as hard predictions."""
        split = int(np.searchsorted(self.columns.kept, X.shape[1]))
        features = Columns(self.columns.kept[:split], self.columns.mean[:split], self.columns.spread[:split])
        of_labels = np.zeros((len(order), len(order)))  # (earlier label, label)
        labels = self.columns.kept[split:] - X.shape[1]
        of_labels[labels] = self.coef[split:] / self.columns.spread[split:, None]
        margins = features.margins(X, self.coef[:split], self.intercept - self.columns.mean[split:] @ of_labels[labels])
        bits = np.zeros((X.shape[0], len(order)))
        for label in order:
            margins[:, label] += bits @ of_labels[:, label]
            bits[:, label] = margins[:, label] >= 0
        return expit(margins)


@dataclass(frozen=True)
class Softmax:
    """Models of several classes each, the last of them with margin 0."""

    columns: Columns
    coef: np.ndarray  # (d', B * (K - 1))
    intercept: np.ndarray  # (B * (K - 1),)
    n_classes: int
    ending: Ending

    def most_probable(self, X: Array) -> np.ndarray:
        """The class of each row, (m, B); the lowest among equally probable ones."""
        margins = self.columns.margins(X, self.coef, self.intercept).reshape(X.shape[0], -1, self.n_classes - 1)
        return np.where(margins.max(axis=2) >= 0, margins.argmax(axis=2), self.n_classes - 1)


def fit_logistic(X: Array, Y: np.ndarray, weights: np.ndarray | None = None, **limits: Any) -> Logistic:
    """One binary model for each column of Y (n, B) in {0, 1} from rows X (n, d), weighted by `weights` (n,); limits as in :func:`solve`.

    A target with one class gets that class with probability 1. One with unknown values (NaN) is learned from the other rows alone, as a
    fit on these would; one without a known value gets probability 0.

    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> fit_logistic(X, Y).probabilities(X).sum().round(4)
    np.float64(2.0)
    """
    if np.isnan(Y).any():
        return _fit_known(X, Y, weights, **limits)
    columns, live = varying_columns(X, weights), varies(Y)
    solved = solve(design(columns, X), Y[:, live], 1, weights, **limits)
    return _model(columns, *solved, live, Y[0])


def _fit_known(X: Array, Y: np.ndarray, weights: np.ndarray | None, **limits: Any) -> Logistic:
    """One fit for all targets that are known in the same rows."""
    columns = varying_columns(X, weights)
    coef, intercept = np.zeros((len(columns.kept), Y.shape[1])), np.full(Y.shape[1], -np.inf)
    endings = [Ending(np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=bool))]
    patterns, pattern = np.unique(~np.isnan(Y), axis=1, return_inverse=True)
    for p, known in enumerate(patterns.T):
        targets, rows = np.flatnonzero(pattern.ravel() == p), np.flatnonzero(known)
        if len(rows):
            own = fit_logistic(X[rows], Y[rows][:, targets], None if weights is None else weights[rows], **limits)
            coef[:, targets], intercept[targets] = own.over(columns)
            endings.append(own.ending)
    return Logistic(columns, coef, intercept, Ending(*(np.concatenate(parts) for parts in zip(*map(astuple, endings), strict=True))))


def fit_chains(
    X: Array, Y: np.ndarray, orders: np.ndarray, counts: np.ndarray | None = None, known: np.ndarray | None = None, **limits: Any
) -> list[Logistic]:
    """For each chain one binary model of every label, from X (n, d) and the labels before it: all in one batch.

    Each row of `orders` (C, q) is a permutation of the labels. `counts` (n, C) says how often each row of X and Y is in the bag of
    each chain, or its weight there; None: once. The models are over the columns of [X, Y]. Columns that are constant in a bag get
    no weight there, and a label with one class in a bag gets that class with probability 1. Limits as in :func:`solve`.

    `known` (n, q) says which entries of Y are true, the others being guesses; None: all. A guess stands for an earlier label, but no
    model learns from the rows in which its own label is one. A label without a known entry gets probability 0.
    """
    width, n_chains = X.shape[1], len(orders)
    bags = np.ones((len(Y), n_chains)) if counts is None else counts
    seen = bags.any(axis=1)
    rows, Y, bags, known = beside(X, Y)[seen], Y[seen], bags[seen], None if known is None else known[seen]
    columns = varying_columns(rows, bags.sum(axis=1))
    alive = np.array([varies(rows[bag > 0]) for bag in bags.T])  # (C, d + q)
    values = Y[bags.argmax(axis=0)]  # (C, q) of labels that are constant in a bag
    live = alive[:, width:]
    if known is not None:
        values = (bags.T @ (known * Y) > 0).astype(np.float64)
        live = (values > 0) & (bags.T @ (known * (1 - Y)) > 0)
    chain, target = np.nonzero(live)
    place = np.argsort(orders, axis=1)
    sees = alive[chain]
    if known is not None:
        for problem in np.flatnonzero(np.isin(target, np.nonzero(~known)[1])):
            sees[problem] = varies(rows[(bags[:, chain[problem]] > 0) & known[:, target[problem]]])
    sees[:, width:] &= place[chain] < place[chain, target][:, None]
    allowed = np.ones((1 + len(columns.kept), len(chain)), dtype=bool)
    allowed[1:] = sees[:, columns.kept].T
    weights = None if counts is None else bags.take(chain, axis=1)
    if known is not None:
        weights = bags.take(chain, axis=1) * known.take(target, axis=1)
    coef, ending = solve(design(columns, rows), Y.take(target, axis=1), 1, weights, allowed, **limits)
    models = []
    for c in range(n_chains):
        of_chain = Ending(**{name: values[chain == c] for name, values in vars(ending).items()})
        models.append(_model(columns, coef[:, chain == c], of_chain, live[c], values[c]))
    return models


def fit_softmax(X: Array, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None, **limits: Any) -> Softmax:
    """One model of several classes for each column of `codes` (n, B), in which each of them occurs; otherwise as :func:`fit_logistic`."""
    columns = varying_columns(X, weights)
    targets = 1 - codes if n_classes == 2 else codes  # class 0 has the margin, the last class none
    coef, ending = solve(design(columns, X), targets, n_classes - 1, weights, **limits)
    return Softmax(columns, coef[1:], coef[0], n_classes, ending)


def beside(X: Array, labels: np.ndarray) -> Array:
    """Rows with label columns appended; sparse rows stay sparse."""
    return sparse.hstack([X, sparse.csr_array(labels)], format="csr") if sparse.issparse(X) else np.hstack([X, labels])


def solve(
    A: Design,
    targets: np.ndarray,
    n_free: int,
    weights: np.ndarray | None = None,
    allowed: np.ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    memory: int = BUDGET,
) -> tuple[np.ndarray, Ending]:
    """Solve all problems in batches: weights of the columns of A, (D, B * n_free), and how each problem ended.

    Targets (n, B) are in {0, 1} where n_free, the number of classes minus one, is 1, else class numbers 0 ... n_free. Weights are
    those of the rows in all problems (n,) or in each (n, B). `allowed` (D, B) says which columns each problem may use, always the
    first. :func:`minimise` says when a problem ends; if one reaches `max_iter`, there is one warning, :class:`NotConverged`. The work
    arrays of a batch take at most `memory` bytes.
    """
    if weights is not None and weights.ndim == 1:
        weights = np.broadcast_to(weights[:, None], targets.shape)
    optional = np.flatnonzero([] if allowed is None else ~allowed.all(axis=1))
    metric = Metric(A, None if weights is None else weights.sum(axis=1) / max(1, weights.shape[1]), optional, memory)
    penalty = np.full((A.shape[1], 1), RIDGE)
    penalty[0] = 0
    n_problems = targets.shape[1]
    coef = np.zeros((A.shape[1], n_problems * n_free))
    objective, n_iter, converged = np.zeros(n_problems), np.zeros(n_problems, dtype=int), np.zeros(n_problems, dtype=bool)
    bytes_each = 8 * n_free * (10 * A.shape[0] + (2 * MEMORY + 10) * A.shape[1])
    size = max(1, memory // bytes_each)  # problems of a batch
    is_small = isinstance(A, SparseDesign) or A.shape[0] * coef.size <= SMALL
    with threadpool_limits(1 if is_small else None, user_api="blas"):
        for start in range(0, n_problems, size):
            part = slice(start, min(start + size, n_problems))
            y = targets[:, part]
            if n_free > 1:
                y = (y[:, :, None] == np.arange(n_free)).reshape(len(y), -1)
            w, may_use = (None if matrix is None else matrix[:, part] for matrix in (weights, allowed))
            batch = Batch(metric, y.astype(np.float64, order="C"), w, may_use, n_free, penalty)
            columns = slice(part.start * n_free, part.stop * n_free)
            coef[:, columns], objective[part], n_iter[part], converged[part] = minimise(batch, tol=tol, max_iter=max_iter)
    if not converged.all():
        warnings.warn(
            f"{(~converged).sum()} of {len(converged)} logistic problems did not reach their tolerance in {max_iter} steps: their "
            "rows are nearly separable, and weights may still grow. Predictions are usable; raise max_iter or tol to silence this.",
            NotConverged,
            stacklevel=2,
        )
    return coef, Ending(objective, n_iter, converged)


def _model(columns: Columns, solved: np.ndarray, ending: Ending, live: np.ndarray, values: np.ndarray) -> Logistic:
    """Solved targets, and constant ones with the values given."""
    coef = np.zeros((1 + len(columns.kept), len(live)))
    coef[:, live] = solved
    coef[0, ~live] = np.where(values[~live] > 0, np.inf, -np.inf)
    return Logistic(columns, coef[1:], coef[0], ending)
