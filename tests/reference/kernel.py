"""Kernels and bandwidth by loops over pairs of rows."""

import numpy as np


def distance(name: str, x: np.ndarray, y: np.ndarray) -> float:
    return float(abs(x - y).sum() if name == "laplacian" else np.sqrt(((x - y) ** 2).sum()))


def mean_distance(name: str, X: np.ndarray) -> float:
    n = len(X)
    pairs = [distance(name, X[i], X[j]) for i in range(n) for j in range(n) if i != j]
    return sum(pairs) / len(pairs)


def matrix(name: str, X1: np.ndarray, X2: np.ndarray, sigma: float) -> np.ndarray:
    K = np.empty((len(X1), len(X2)))
    for i, x in enumerate(X1):
        for j, y in enumerate(X2):
            if name == "linear":
                K[i, j] = x @ y
            elif name == "rbf":
                K[i, j] = np.exp(-(distance(name, x, y) ** 2) / (2 * sigma**2))
            else:
                K[i, j] = np.exp(-distance(name, x, y) / sigma)
    return K
