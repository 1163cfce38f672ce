"""Batched ADMM with exact finish against scikit-learn's coordinate descent, label by label, to the same KKT violation."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.linear_model import enet_path

from benchmarks.machine import Row, at_least, at_most, seconds
from skcamel.camel import correlation


def make_labels(q: int) -> np.ndarray:
    """Labels in {-1, +1} of 2 000 rows that share 40 causes."""
    rng = np.random.default_rng(0)
    return np.where(
        rng.normal(size=(2000, 40)) @ rng.normal(size=(40, q)) + 2 * rng.normal(size=(2000, q)) > 8,
        1.0,
        -1.0,
    )


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


def run() -> list[Row]:
    rows = []
    for q, share in ((101, 1), (400, 10)):
        Y = make_labels(q)
        C = correlation.gram(Y)
        penalty = correlation.learn(Y).penalty
        ours = seconds(lambda Y=Y: correlation.learn(Y), 3)
        columns = np.arange(
            0, q, share
        )  # every tenth label of 400, scaled up: all of them would take minutes
        for tol in (1e-6, 1e-8, 1e-9):  # the loosest that reaches 1e-6 of the penalty
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                S = one_by_one(Y, C, penalty, columns, tol)
                theirs = (time.perf_counter() - start) * share
            violation = float(
                (
                    correlation.kkt_violation(C, S, penalty[columns], columns) / penalty[columns]
                ).max()
            )
            if violation <= 1e-6:
                break
        rows.append(
            at_least(f"enet_path(precompute=Gram) label by label / ours, q = {q}", theirs / ours, 5)
        )
        rows.append(
            at_most(
                f"our KKT violation in units of the penalty, q = {q}",
                float(correlation.learn(Y).violation.max()),
                1e-6,
                "",
            )
        )
    return rows
