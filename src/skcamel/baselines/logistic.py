"""Unregularised logistic regression for many targets over the same rows: the base learner of BR, ECC and RAkEL.

For each target the sum over the rows of -log p(y | x), plus ridge · ||w||², is minimised over intercept and weights of the
standardised columns. ``lbfgs`` does the work for a batch of targets; this file makes the batches and keeps the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import expit
from threadpoolctl import threadpool_limits

from skcamel.arrays import Array
from skcamel.baselines.design import Columns, Design, SparseDesign, design, varying_columns
from skcamel.baselines.lbfgs import MEMORY, Batch, Ending, Metric, Solution, minimise
from skcamel.baselines.logistic_loss import probabilities
from skcamel.rows import varies

RIDGE = 1e-8
TOLERANCE = 1e-4
MAX_ITER = 1000
BUDGET = 2**30  # bytes for the arrays of one batch
SMALL = 2**28  # multiplications of the largest product up to which threads cost more than they bring: most products are far smaller


class NotConverged(UserWarning):
    """Some problems reached the limit of iterations; the estimators turn it into scikit-learn's warning."""


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

    def probabilities(self, X: Array) -> np.ndarray:
        """P(class | row), (m, B, K)."""
        return probabilities(self.columns.margins(X, self.coef, self.intercept), self.n_classes - 1)

    def most_probable(self, X: Array) -> np.ndarray:
        """The class of each row, (m, B); the lowest among equally probable ones."""
        margins = self.columns.margins(X, self.coef, self.intercept).reshape(X.shape[0], -1, self.n_classes - 1)
        best = margins.argmax(axis=2)
        return np.where(margins.max(axis=2) >= 0, best, self.n_classes - 1)


def fit_logistic(
    X: Array,
    Y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    memory: int = BUDGET,
) -> Logistic:
    """One binary model for each column of Y.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, B)
        Targets in {0, 1}. A target with one class gets that class with probability 1.
    weights : array of shape (n,), default=None
        Positive weights of the rows.
    tol, max_iter : float and int
        A problem ends when no entry of its gradient exceeds `tol` times the number of rows and, where the classes overlap,
        the objective has come to rest, to about 1e-7 of it. Separable targets end when their loss is below 0.01.
        :class:`NotConverged` is warned about once if a problem reaches `max_iter`.
    memory : int
        Bytes for the work arrays of a batch; targets are cut into batches that fit.

    Examples
    --------
    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> fit_logistic(X, Y).probabilities(X).sum().round(4)
    np.float64(2.0)
    """
    columns = varying_columns(X, weights)
    live = varies(Y)
    targets = Y[:, live]
    solution = solve(design(columns, X), targets, 1, _for_all(weights, targets), tol=tol, max_iter=max_iter, memory=memory)
    return _model(columns, solution, live, Y[0])


def fit_chains(
    X: Array,
    Y: np.ndarray,
    orders: np.ndarray,
    counts: np.ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    memory: int = BUDGET,
) -> list[Logistic]:
    """For each chain one binary model of every label, from X and the labels before it: all in one batch.

    Columns that are constant in the bag of a chain get no weight there.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    Y : array of shape (n, q)
        Targets in {0, 1}. A target with one class in a bag gets that class with probability 1.
    orders : array of shape (C, q)
        A permutation of the labels for each chain.
    counts : array of shape (n, C), default=None
        How often each row is in the bag of each chain, or its weight there; None: once.
    tol, max_iter, memory
        As in :func:`fit_logistic`.

    Returns
    -------
    list of Logistic
        Models over the columns of [X, Y].
    """
    width, n_chains = X.shape[1], len(orders)
    bags = np.ones((len(Y), n_chains)) if counts is None else counts
    seen = bags.any(axis=1)
    rows, Y, bags = beside(X, Y)[seen], Y[seen], bags[seen]
    columns = varying_columns(rows, bags.sum(axis=1))
    alive = np.array([varies(rows[bag > 0]) for bag in bags.T])  # (C, d + q)
    chain, target = np.nonzero(alive[:, width:])
    place = np.argsort(orders, axis=1)
    sees = alive[chain]
    sees[:, width:] &= place[chain] < place[chain, target][:, None]
    allowed = np.ones((1 + len(columns.kept), len(chain)), dtype=bool)
    allowed[1:] = sees[:, columns.kept].T
    weights = None if counts is None else bags.take(chain, axis=1)
    solution = solve(design(columns, rows), Y.take(target, axis=1), 1, weights, allowed, tol=tol, max_iter=max_iter, memory=memory)
    return [_model(columns, solution.part(chain == c), alive[c, width:], Y[bags[:, c].argmax()]) for c in range(n_chains)]


def fit_softmax(
    X: Array,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None = None,
    *,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    memory: int = BUDGET,
) -> Softmax:
    """One model of `n_classes` classes for each column of `codes`.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    codes : array of shape (n, B)
        Classes 0 ... n_classes - 1, all of which occur in every column.
    n_classes : int
        At least 2.
    weights, tol, max_iter, memory
        As in :func:`fit_logistic`.
    """
    columns = varying_columns(X, weights)
    targets = 1 - codes if n_classes == 2 else codes  # class 0 has the margin, the last class none
    of_problems = _for_all(weights, targets)
    solution = solve(design(columns, X), targets, n_classes - 1, of_problems, tol=tol, max_iter=max_iter, memory=memory)
    return Softmax(columns, solution.coef[1:], solution.coef[0], n_classes, solution.ending)


def _for_all(weights: np.ndarray | None, targets: np.ndarray) -> np.ndarray | None:
    """The same weights for every problem, (n, B), without a copy."""
    return None if weights is None else np.broadcast_to(weights[:, None], targets.shape)


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
    ridge: float = RIDGE,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITER,
    memory: int = BUDGET,
) -> Solution:
    """Solve all problems in batches that keep to the budget.

    Parameters
    ----------
    A : Design of shape (n, D)
        Column 0 is 1, the others are standardised.
    targets : array of shape (n, B)
        {0, 1} where n_free is 1, else class numbers 0 ... n_free.
    n_free : int
        Number of classes minus one.
    weights : array of shape (n, B), default=None
        Weight of each row in each problem.
    allowed : bool array of shape (D, B), default=None
        Which columns each problem may use, always the first.
    ridge, tol, max_iter, memory
        As in :func:`fit_logistic`.
    """
    optional = np.flatnonzero([] if allowed is None else ~allowed.all(axis=1))
    metric = Metric(A, None if weights is None else weights.sum(axis=1) / max(1, weights.shape[1]), optional, memory)
    penalty = np.full((A.shape[1], 1), ridge)
    penalty[0] = 0
    parts = []
    is_small = isinstance(A, SparseDesign) or A.shape[0] * A.shape[1] * n_free * targets.shape[1] <= SMALL
    with threadpool_limits(1 if is_small else None, user_api="blas"):
        for part in batches(A.shape, targets.shape[1], n_free, memory):
            y = targets[:, part]
            if n_free > 1:
                y = (y[:, :, None] == np.arange(n_free)).reshape(len(y), -1)
            w, may_use = (None if matrix is None else matrix[:, part] for matrix in (weights, allowed))
            parts.append(minimise(Batch(metric, y.astype(np.float64, order="C"), w, may_use, n_free, penalty), tol=tol, max_iter=max_iter))
    return _joined(parts, A.shape[1], max_iter)


def batches(shape: tuple[int, int], n_problems: int, n_free: int, memory: int) -> Iterator[slice]:
    """Slices of problems whose work arrays keep to `memory` bytes, at least one problem each.

    Examples
    --------
    >>> [s.stop - s.start for s in batches((1000, 10), 5, 1, memory=200_000)]
    [2, 2, 1]
    """
    n, n_columns = shape
    per_problem = 8 * n_free * (10 * n + (2 * MEMORY + 10) * n_columns)
    size = max(1, memory // per_problem)
    return (slice(start, min(start + size, n_problems)) for start in range(0, n_problems, size))


def _model(columns: Columns, solution: Solution, live: np.ndarray, values: np.ndarray) -> Logistic:
    """Solved targets, and constant ones with the values given."""
    coef = np.zeros((1 + len(columns.kept), len(live)))
    coef[:, live] = solution.coef
    coef[0, ~live] = np.where(values[~live] > 0, np.inf, -np.inf)
    return Logistic(columns, coef[1:], coef[0], solution.ending)


def _joined(parts: list[Solution], n_columns: int, max_iter: int) -> Solution:
    if not parts:
        return Solution(np.zeros((n_columns, 0)), Ending(np.zeros(0), np.zeros(0, dtype=int), np.zeros(0, dtype=bool)))
    coef = np.hstack([part.coef for part in parts])
    objective, n_iter, converged = (
        np.concatenate([getattr(part.ending, name) for part in parts]) for name in ("objective", "n_iter", "converged")
    )
    if not converged.all():
        warnings.warn(
            f"{(~converged).sum()} of {len(converged)} logistic problems did not reach their tolerance in {max_iter} steps; their "
            "weights may still grow (rows that are nearly separable). Predictions are usable; raise max_iter or tol to silence this.",
            NotConverged,
            stacklevel=2,
        )
    return Solution(coef, Ending(objective, n_iter, converged))
