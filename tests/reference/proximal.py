"""LLSF and JFSC straight from their formulas, every matrix formed anew in every iteration."""

import numpy as np


def distance(Y):
    n, q = Y.shape
    R = np.zeros((q, q))
    for j in range(q):
        for k in range(q):
            a, b = Y[:, j] + np.finfo(float).eps, Y[:, k] + np.finfo(float).eps
            if j != k:
                R[j, k] = max(0.0, 1 - (a @ b) / np.sqrt((a @ a) * (b @ b)))
    return R


def soft(A, t):
    return np.sign(A) * np.maximum(np.abs(A) - t, 0)


def ridge(X, Y, rho):
    return np.linalg.solve(X.T @ X + rho * np.eye(X.shape[1]), X.T @ Y)


def llsf_gradient(X, Y, R, W, alpha):
    return X.T @ X @ W - X.T @ Y + alpha * W @ R


def llsf_step_constant(X, R, alpha):
    return np.sqrt(2 * (np.linalg.norm(X.T @ X, 2) ** 2 + np.linalg.norm(alpha * R, 2) ** 2))


def llsf(X, Y, R, alpha, beta, rho, max_iter=100, tol=1e-4, momentum=True):
    """All iterates W_0, W_1, ... (d, q)."""
    L = llsf_step_constant(X, R, alpha)
    W = [ridge(X, Y, rho)] * 2
    a, T = [1.0, 1.0], 0.0
    for _ in range(max_iter):
        m = (a[-2] - 1) / a[-1] if momentum else 0.0
        V = W[-1] + m * (W[-1] - W[-2])
        W.append(soft(V - llsf_gradient(X, Y, R, V, alpha) / L, beta / L))
        a.append((1 + np.sqrt(1 + 4 * a[-1] ** 2)) / 2)
        before, T = (
            T,
            np.sum((X @ W[-1] - Y) ** 2)
            + alpha * np.trace(R @ W[-1].T @ W[-1])
            + beta * np.count_nonzero(W[-1]),
        )
        if abs(T - before) <= tol or T <= 0:
            break
    return W[1:]


def fisher(X, Y):
    d, q = X.shape[1], Y.shape[1]
    s = np.zeros((d, q))
    for k in range(q):
        positive, negative = X[Y[:, k] == 1], X[Y[:, k] != 1]
        if len(positive) == 0 or len(negative) == 0:
            continue
        for j in range(d):
            p, m = positive[:, j], negative[:, j]
            s[j, k] = (
                sum((p - p.mean()) ** 2)
                + len(p) / len(m) * sum((m - m.mean()) ** 2)
                - len(p) * (p.mean() - m.mean()) ** 2
            )
    return s


def row_weights(X, Y, W):
    return np.array([1 / max(np.linalg.norm(x @ W - y), 1e-3) for x, y in zip(X, Y, strict=True)])


def jfsc_objective(X, Y, R, S, W, alpha, beta, gamma):
    rows = sum(np.linalg.norm(x @ W - y) for x, y in zip(X, Y, strict=True))
    return (
        rows
        + alpha / 2 * np.trace(R @ W.T @ W)
        + beta / 2 * np.sum(S * W * W)
        + gamma * np.abs(W).sum()
    )


def jfsc(X, Y, R, S, alpha, beta, gamma, eta, max_iter=100, tol=1e-4):
    """All iterates W_0, W_1, ... (d, q)."""
    W = [ridge(X, Y, eta)] * 2
    a, J = [1.0, 1.0], 0.0
    for _ in range(max_iter):
        D = np.diag(row_weights(X, Y, W[-1]))
        norms = np.linalg.norm(X.T @ D @ X, 2), np.linalg.norm(alpha * R, 2), beta * np.abs(S).max()
        L = np.sqrt(3 * sum(norm**2 for norm in norms))
        V = W[-1] + (a[-2] - 1) / a[-1] * (W[-1] - W[-2])
        G = X.T @ D @ (X @ V - Y) + alpha * V @ R + beta * S * V
        W.append(soft(V - G / L, gamma / L))
        a.append((1 + np.sqrt(1 + 4 * a[-1] ** 2)) / 2)
        before, J = J, jfsc_objective(X, Y, R, S, W[-1], alpha, beta, gamma)
        if abs(J - before) <= tol or J <= 0:
            break
    return W[1:]
