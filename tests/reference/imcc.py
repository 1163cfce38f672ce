"""IMCC word by word: its objective by loops, and its minimum by one dense system."""

import numpy as np

from reference import kernel as literal


def virtual_rows(X, Y, clusters):
    """Centre and mean label of each cluster."""
    names = sorted(set(clusters))
    members = [[i for i in range(len(X)) if clusters[i] == name] for name in names]
    return np.array([X[rows].mean(axis=0) for rows in members]), np.array(
        [Y[rows].mean(axis=0) for rows in members]
    )


def objective(F, F_centres, penalty, Y, V, clusters, alpha, beta, ridge):
    """Of outputs F (n, q) and F_centres (m, q), and the squared norm of the weights."""
    total = ridge * penalty
    for i, row in enumerate(F):
        total += ((row - Y[i]) ** 2).sum() + beta * ((row - F_centres[clusters[i]]) ** 2).sum()
    for j, row in enumerate(F_centres):
        total += alpha * ((row - V[j]) ** 2).sum()
    return total / 2


def minimum(X, Y, clusters, alpha, beta, ridge):
    """Points (n + m, d), coefficients, intercept: (H K + λ I) A + H 1 b' = D T, 1'A = 0."""
    C, V = virtual_rows(X, Y, clusters)
    points, sigma = np.vstack([X, C]), literal.mean_distance("rbf", X)
    n, N = len(X), len(points)
    D = np.diag([1.0] * n + [alpha] * len(C))
    H = D.copy()
    for i, j in enumerate(clusters):  # beta ||f(x_i) - f(c_j)||²
        for a, b, sign in ((i, i, 1), (n + j, n + j, 1), (i, n + j, -1), (n + j, i, -1)):
            H[a, b] += sign * beta
    K = literal.matrix("rbf", points, points, sigma)
    system = np.block(
        [[H @ K + ridge * np.eye(N), H.sum(axis=1)[:, None]], [np.ones((1, N)), np.zeros((1, 1))]]
    )
    found = np.linalg.solve(system, np.vstack([D @ np.vstack([Y, V]), np.zeros((1, Y.shape[1]))]))
    return points, sigma, found[:-1], found[-1]


def outputs(X, Y, clusters, alpha, beta, ridge, new):
    """F of new rows."""
    points, sigma, A, b = minimum(X, Y, clusters, alpha, beta, ridge)
    return literal.matrix("rbf", new, points, sigma) @ A + b
