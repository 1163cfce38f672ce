"""Batched ADMM against scikit-learn's coordinate descent per label, to the same KKT violation."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from sklearn.linear_model import enet_path

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.camel import correlation


def make_labels(q: int) -> np.ndarray:
    """Labels in {-1, +1} of 2 000 rows that share 40 causes."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(2000, 40)) @ rng.normal(size=(40, q))
    noise = 2 * rng.normal(size=(2000, q))
    return np.where(causes + noise > 8, 1.0, -1.0)


def one_by_one(
    Y: np.ndarray, C: np.ndarray, penalty: np.ndarray, columns: np.ndarray, tol: float
) -> np.ndarray:
    """Coordinate descent from the Gram matrix for some columns."""
    S = np.zeros((len(C), len(columns)))
    for k, j in enumerate(columns):
        others = np.arange(len(C)) != j
        gram = np.ascontiguousarray(C[np.ix_(others, others)])
        rows = np.asfortranarray(Y[:, others])
        _, path, _ = enet_path(
            rows,
            Y[:, j],
            l1_ratio=1.0,
            alphas=[penalty[j] / len(Y)],
            precompute=gram,
            Xy=C[others, j],
            tol=tol,
            max_iter=100_000,
            check_input=False,
        )
        S[others, k] = path[:, 0]
    return S


def coordinate_descent_seconds(Y: np.ndarray, share: int) -> float:
    """Time of coordinate descent for all labels, from one of `share` labels.

    Its tolerance is the loosest that reaches 1e-6 of the penalty.
    """
    C = correlation.gram(Y)
    penalty = correlation.learn(Y).penalty
    columns = np.arange(0, len(C), share)
    for tol in (1e-6, 1e-8, 1e-9):
        start = time.perf_counter()
        S = one_by_one(Y, C, penalty, columns, tol)
        took = time.perf_counter() - start
        violation = correlation.kkt_violation(C, S, penalty[columns], columns)
        if (violation <= 1e-6 * penalty[columns]).all():
            break
    return took * share


def run() -> list[Row]:
    rows = []
    for q, share in ((101, 1), (400, 10)):  # all of 400 would take minutes
        Y = make_labels(q)
        ours = seconds(partial(correlation.learn, Y), 3)
        ratio = coordinate_descent_seconds(Y, share) / ours
        violation = float(correlation.learn(Y).violation.max())
        against = f"enet_path(precompute=Gram) label by label / ours, q = {q}"
        rows.append(at_least(against, ratio, 5))
        what = f"our KKT violation in units of the penalty, q = {q}"
        rows.append(at_most(what, violation, 1e-6, ""))
    return rows
