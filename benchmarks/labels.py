"""Many labels: S alone, a fit by sums with a small grid, and the quality of its k best labels beside simpler methods.

Data are synthetic, like tagged texts: sparse rows of words, few labels for each row, most labels rare. ``python -m benchmarks.labels
small`` runs everything in a small size.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

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
    Y.data[:] = 1.0
    words = rng.integers(0, d, (q, WORDS_OF_A_LABEL))
    background = 1 / (np.arange(d) + 10.0)
    chosen = row[np.sort(rng.integers(0, len(row), n * WORDS_OF_A_ROW // 2))]
    pick = rng.integers(0, len(row), len(chosen))
    ends = np.concatenate([[0], np.cumsum(count)])
    pick = ends[chosen] + (rng.random(len(chosen)) * count[chosen]).astype(int)
    told = words[label[pick], rng.integers(0, WORDS_OF_A_LABEL, len(chosen))]
    noise = rng.choice(d, n * WORDS_OF_A_ROW // 2, p=background / background.sum())
    rows = np.concatenate([chosen, np.repeat(np.arange(n), WORDS_OF_A_ROW // 2)])
    X = sparse.csr_array((np.ones(len(rows)), (rows, np.concatenate([told, noise]))), shape=(n, d))
    X.sum_duplicates()
    X.data = 1 + np.log(X.data)
    return X, Y
