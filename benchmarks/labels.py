"""Many labels: S alone, a fit by sums with a small grid, and the quality of its k best labels beside simpler methods.

Data are synthetic, like tagged texts: sparse rows of words, few labels for each row, most labels rare. ``python -m benchmarks.labels
small`` runs everything in a small size.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.machine import Row, at_most
from skcamel import CamelClassifierCV, active_set, correlation, memory
from skcamel.checks import ConstantLabelWarning
from skcamel.metrics import average_precision, precision_at_k
from skcamel.selection.representation import Data
from skcamel.selection.stream import Streaming, begin
from skcamel.solve import krylov, landmark, spectral

TOPIC = 20  # labels that occur together
WORDS_OF_A_LABEL, WORDS_OF_A_ROW = 12, 60


def made(n: int, d: int, q: int, seed: int = 0) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Rows of words (n, d) and labels (n, q): frequencies by a power law, two labels in three of the same topic."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (np.arange(q) + 3.0)
    topic = rng.permutation(q) // TOPIC
    by_topic = np.argsort(topic, kind="stable")
    count = 1 + rng.poisson(2.5, n)
    row = np.repeat(np.arange(n), count)
    first = np.repeat(rng.choice(q, n, p=frequency / frequency.sum()), count)
    near = by_topic[np.minimum(topic[first] * TOPIC + (TOPIC * rng.random(len(row)) ** 2).astype(int), q - 1)]
    other = rng.choice(q, len(row), p=frequency / frequency.sum())
    kind = rng.random(len(row))
    label = np.where(kind < 1 / 3, first, np.where(kind < 2 / 3, near, other))
    label[np.cumsum(count) - count] = first[np.cumsum(count) - count]
    Y = sparse.csr_array((np.ones(len(row)), (row, label)), shape=(n, q))
    Y.sum_duplicates()
    Y.data[:] = 1.0
    words = rng.integers(0, d, (q, WORDS_OF_A_LABEL))
    background = 1 / (np.arange(d) + 10.0)
    ends = np.cumsum(count)
    chosen = np.repeat(np.arange(n), WORDS_OF_A_ROW // 2)
    pick = (ends - count)[chosen] + (rng.random(len(chosen)) * count[chosen]).astype(int)  # one of the labels of the row
    told = words[label[pick], rng.integers(0, WORDS_OF_A_LABEL, len(chosen))]
    noise = rng.choice(d, len(chosen), p=background / background.sum())
    rows = np.concatenate([chosen, chosen])
    X = sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate([told, noise]))), shape=(n, d))
    X.sum_duplicates()
    X.data = 1 + np.log(X.data)
    return X, Y


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What comes of some work, its minutes, and GiB of memory at the peak."""
    memory.forget_peak()
    start = time.perf_counter()
    found = work()
    return found, (time.perf_counter() - start) / 60, memory.peak() / 2**30


def of_correlation(n: int, q: int) -> list[Row]:
    """S alone."""
    _, Y = made(n, 1000, q)

    def work() -> correlation.Correlation:
        return active_set.learn(active_set.gram_of_counts(sparse.csr_array(Y.T @ Y), float(n), centred=True), float(n))

    found, minutes, peak = measured(work)
    what = f"S of {q:,} labels, {n:,} rows"
    return [
        at_most(f"{what}: time", minutes, 3.0, "min"),
        at_most(f"{what}: memory", peak, 2.0, "GiB"),
        at_most(f"{what}: greatest KKT violation, in units of the penalty", float(found.violation.max()), 1e-8, ""),
        Row(f"{what}: coefficients of a label", found.S.nnz / q, ""),
    ]


def neighbours(X: sparse.csr_array, Y: sparse.csr_array, new: sparse.csr_array, k: int = 10) -> np.ndarray:
    """The five labels that most of the nearest rows have, weighted by cosines."""

    def unit(rows: sparse.csr_array) -> sparse.csr_array:
        return sparse.csr_array(sparse.diags_array(1 / np.sqrt(np.maximum((rows**2).sum(axis=1), 1e-300))) @ rows)

    X, new = unit(X), unit(new)
    found = []
    for i in range(0, new.shape[0], 500):
        near = (new[i : i + 500] @ X.T).toarray()
        least = np.partition(near, -k, axis=1)[:, -k][:, None]
        votes = sparse.csr_array(np.where(near >= least, near, 0.0)) @ Y
        found.append(np.argsort(-votes.toarray(), axis=1, kind="stable")[:, :5])
    return np.concatenate(found)


def of_a_fit(n: int, d: int, q: int, n_landmarks: int) -> list[Row]:
    """A search over six candidates with tuned cuts, solver="landmark", and the best labels of rows that it has not seen."""
    X, Y = made(n + 2_000, d, q)
    X, new, Y, truth = X[:n], X[n:], Y[:n], Y[n:]
    search = CamelClassifierCV(
        (0.0, 0.2, 0.4),
        lambda2s=(0.01, 0.1),
        kernels=("linear",),
        scalings=("unit",),
        solver="landmark",
        n_landmarks=n_landmarks,
        threshold="common",
    )
    model, minutes, peak = measured(lambda: search.fit(X, Y))
    top, of_neighbours = model.top_k(new, 5), neighbours(X, Y, new)
    what = f"search with {n_landmarks:,} landmarks, {q:,} labels, {n:,} rows, {d:,} words"
    rows = [
        at_most(f"{what}: time", minutes, 20.0, "min"),
        at_most(f"{what}: memory", peak, 24.0, "GiB"),
        Row(f"{what}: chosen alpha", model.alpha_, ""),
        Row(f"{what}: steps of conjugate gradients", float(model.n_iter_), ""),
        at_most(f"{what}: residual", model.residual_, 1e-6, ""),
    ]
    for k in (1, 3, 5):
        rows += [Row(f"{what}: precision at {k}", precision_at_k(truth, ranked=top, k=k), "")]
        rows += [Row(f"ten nearest neighbours on the same rows: precision at {k}", precision_at_k(truth, ranked=of_neighbours, k=k), "")]
    return rows


def of_leave_one_out(n: int, d: int, q: int, n_landmarks: int) -> list[Row]:
    """Leave-one-out by Lanczos' method beside the exact one, for as many labels as can be decomposed."""
    X, Y = made(n, d, q)
    together = sparse.csr_array(Y.T @ Y)
    S = active_set.learn(active_set.gram_of_counts(together, float(n), centred=True), float(n)).S
    data = Data(X, sparse.csr_array(Y, dtype=np.int8), None)
    stream = begin("unit", "linear", X, None, Streaming(False, n_landmarks), n_rows=n, lambda2=0.01)
    summary = stream.add(data.X, data.Y, None).summary(data.sample)
    unit = float(summary.values.sum()) / summary.weight
    rows = []
    for alpha in (0.2, 0.5, 0.8):
        basis = spectral.label_basis(correlation.collaboration(S.toarray(), alpha))
        penalties = [(1.0, 0.01 * unit)]
        ((*_, exact),) = landmark.leave_one_out(summary, summary.targets, [basis], penalties)
        ((*_, found),) = krylov.leave_one_out(summary, summary.targets, [krylov.LabelOperator.of(S, alpha)], penalties)
        truth = summary.targets.Y
        error = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(truth - exact, axis=1)
        change = abs(average_precision(truth, found) - average_precision(truth, exact))
        what = f"leave-one-out of {q:,} labels, alpha = {alpha:g}"
        rows.append(at_most(f"{what}: greatest error of a row, relative to its residual", float(error.max()), 1e-2, ""))
        rows.append(at_most(f"{what}: change of average precision", change, 1e-3, ""))
    return rows


def run(*, small: bool = False) -> list[Row]:
    """All figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantLabelWarning)
        if small:
            return [*of_leave_one_out(1_000, 2_000, 300, 200), *of_correlation(5_000, 2_000), *of_a_fit(2_000, 3_000, 1_200, 300)]
        return [*of_leave_one_out(3_000, 5_000, 900, 800), *of_correlation(100_000, 30_000), *of_a_fit(15_000, 20_000, 4_000, 2_000)]


if __name__ == "__main__":
    for row in run(small="small" in sys.argv[1:]):
        print(*row, sep=" | ")
